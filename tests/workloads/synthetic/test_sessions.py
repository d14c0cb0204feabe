"""Generated conversations."""

from itertools import pairwise

from command_line import schedfw
from harness import records, serve
from sched_plugins.workloads.synthetic.sessions import Sessions

from sched_core import RequestSpec


def conversations(**given: object) -> list[list[RequestSpec]]:
    specs = Sessions(**given).build(0).requests
    names = dict.fromkeys(spec.session for spec in specs)
    return [[spec for spec in specs if spec.session == name] for name in names]


def test_a_prompt_is_all_that_was_said_and_a_little_more() -> None:
    found = conversations(n=50, prompt_len="5..9", prefix_len=16, num_prefixes=2)
    assert len(found) == 50
    assert {len(turns) for turns in found} == set(range(1, 9))
    for turns in found:
        assert [spec.turn for spec in turns] == list(range(len(turns)))
        assert len({(s.tenant, s.priority, s.prefix, s.arrival) for s in turns}) == 1
        assert 16 + 5 <= turns[0].prompt_len <= 16 + 9
        for before, behind in pairwise(turns):
            added = behind.prompt_len - before.prompt_len - before.output_len
            assert 5 <= added <= 9


def test_a_conversation_ends_before_it_is_too_long() -> None:
    found = conversations(n=50, turns="8", max_context=1500)
    whole = conversations(n=50, turns="8", max_context=10_000_000)
    assert [turns[: len(kept)] for kept, turns in zip(found, whole, strict=True)] == found
    for kept, turns in zip(found, whole, strict=True):
        assert all(s.prompt_len + s.output_len <= 1500 for s in kept[1:])
        if len(kept) < len(turns):
            behind = turns[len(kept)]
            assert behind.prompt_len + behind.output_len > 1500


def test_another_pace_changes_nothing_that_is_said() -> None:
    def said(**given: object) -> list[tuple[int, int]]:
        return [(s.prompt_len, s.output_len) for turns in conversations(**given) for s in turns]

    assert said(think_time=1.0, request_rate=3.0) == said()


def test_a_run_finds_what_was_said_in_its_cache() -> None:
    specs = Sessions(n=3, turns="4", prompt_len="40", output_len="20", think_time=0.0).build(0)
    rows = records(serve(list(specs.requests), enable_prefix_caching=True, num_gpu_blocks=1000))
    assert [rows[f"s0.{turn}"]["cached_tokens"] for turn in range(4)] == [0, 48, 112, 176]
    # of 60, 120 and 180 tokens, in blocks of 16; the last token of an answer is not computed


def test_it_is_a_workload_by_name() -> None:
    answer = schedfw("run", "--workload", "sessions:n=5", "--policy", "fcfs", "-v")
    assert answer.exit_code == 0
    assert "kind=sessions" in " ".join(answer.stdout.split())
