"""Conversations: a later turn comes when the answer before has ended, and finds its blocks."""

from typing import Any

import attrs
import pytest
from harness import everything, records, servable, serve, summary
from hypothesis import assume, given
from hypothesis import strategies as st

from hwmodels.roofline.gpus import A100
from sched_core import Engine, EngineConfig, HashedPrefix, InputError, Policy, RequestSpec, Workload
from sched_core.testing.random_policies import policies
from sched_core.testing.run import run_watched
from sched_core.testing.strategies import configs, in_sessions, scenario, workloads


def turn(number: int, prompt: int, output: int, **more: Any) -> RequestSpec:
    asked = {"session": "s", "turn": number, "arrival": 0.0} | more
    return RequestSpec(f"t{number}", prompt_len=prompt, output_len=output, **asked)


THREE = [
    turn(0, 16, 4, arrival=1.0),
    turn(1, 32, 4, think_time=2.5),
    turn(2, 48, 4, think_time=0.0, arrival=20.0),
]


def test_a_turn_comes_when_the_answer_has_ended_and_been_thought_about() -> None:
    rows = records(serve(THREE))
    assert [rows[name]["arrival"] for name in rows] == [1.0, 7.5, 20.0]
    assert [rows[name]["finish"] for name in rows] == [5.0, 11.5, 24.0]
    assert rows["t1"]["ttft"] == 1.0, "counted from when it was sent"


def test_it_finds_the_blocks_of_the_turn_before_and_of_its_answer() -> None:
    specs = [turn(0, 20, 13), turn(1, 40, 9)]
    rows = records(serve(specs, enable_prefix_caching=True))
    assert rows["t1"]["cached_tokens"] == 32, "two blocks of 16; of 33 tokens one was not computed"
    apart = [attrs.evolve(spec, session=spec.id, turn=0) for spec in specs]
    assert records(serve(apart, enable_prefix_caching=True))["t1"]["cached_tokens"] == 0


def test_a_prompt_too_short_for_the_answer_is_another_text() -> None:
    rows = records(serve([turn(0, 20, 13), turn(1, 32, 9)], enable_prefix_caching=True))
    assert rows["t1"]["cached_tokens"] == 0


def test_hash_ids_of_the_next_turn_name_the_answer_before() -> None:
    first = turn(0, 20, 13, prefix=HashedPrefix((7, 8), 16))
    second = turn(1, 40, 9, prefix=HashedPrefix((7, 9, 4), 16))
    rows = records(serve([first, second], enable_prefix_caching=True))
    assert rows["t1"]["cached_tokens"] == 32
    other = attrs.evolve(second, prefix=HashedPrefix((6, 9, 4), 16))
    assert records(serve([first, other], enable_prefix_caching=True))["t1"]["cached_tokens"] == 0


def test_who_is_refused_asks_the_next_thing() -> None:
    specs = [turn(0, 500, 4, arrival=1.0), turn(1, 16, 4, think_time=2.0)]
    rows = records(serve(specs, num_gpu_blocks=4))
    assert (rows["t0"]["state"], rows["t1"]["arrival"]) == ("rejected", 3.0)


def test_who_gives_up_asks_the_next_thing() -> None:
    specs = [turn(0, 16, 9, abort=3.0), turn(1, 16, 4, think_time=2.0)]
    assert records(serve(specs))["t1"]["arrival"] == 5.0


def test_in_a_closed_loop_a_turn_waits_for_a_slot_too() -> None:
    specs = [turn(0, 16, 4), RequestSpec("x", 0.0, 16, 8), turn(1, 16, 4)]
    rows = records(serve(specs, max_concurrency=1))
    assert [rows[name]["arrival"] for name in ("t0", "x", "t1")] == [0.0, 4.0, 12.0]


def test_turns_that_have_not_come_by_the_horizon_are_pending() -> None:
    served = serve(THREE, horizon=6.0)
    rows = records(served)
    assert [rows[name]["state"] for name in rows] == ["finished", "pending", "pending"]
    assert [rows[name]["arrival"] for name in rows] == [1.0, 7.5, 20.0]
    assert summary(served)["unfinished"] == 2


def test_one_turn_twice_is_refused() -> None:
    twice = [turn(0, 16, 4), attrs.evolve(turn(0, 16, 4), id="again")]
    with pytest.raises(InputError, match=r"'turn': session 's' has it twice, as 't0' and 'again'"):
        serve(twice)


def test_a_real_model_does_not_share_answers_that_it_has_yet_to_give() -> None:
    class Real:
        """Holds K and V, as a real model does."""

        costs = A100().executor("llama-3-8b", block_size=16).costs

        def initialize_cache(self, num_gpu_blocks: int, num_cpu_blocks: int) -> None:
            raise AssertionError("not to be reached")

    config = EngineConfig(num_gpu_blocks=100, enable_prefix_caching=True)
    with pytest.raises(InputError, match="'enable_prefix_caching': the prompts of a real model"):
        Engine(config, Policy([]), Real(), Workload(THREE))  # type: ignore[arg-type] # in short


@given(workloads().flatmap(in_sessions), configs(), policies())
def test_nothing_is_lost_under_any_policy(
    specs: list[RequestSpec], config: EngineConfig, component: object
) -> None:
    assume(servable(specs, config))
    run = run_watched(scenario(specs, config), Policy([("random", component)]))
    if run.error:
        raise run.error


@given(workloads().flatmap(in_sessions), configs(batching="continuous"), st.booleans())
def test_leaps_change_nothing(specs: list[RequestSpec], config: EngineConfig, closed: bool) -> None:
    executor = A100().executor("llama-3-8b", block_size=config.block_size)

    def run(leaps: bool) -> dict[str, object]:
        workload = Workload(specs, max_concurrency=2 if closed else None)
        engine = Engine(config, Policy.from_spec("fcfs"), executor, workload, leaps=leaps)
        return everything(engine.run())

    assume(servable(specs, config))
    assert run(leaps=True) == run(leaps=False)
