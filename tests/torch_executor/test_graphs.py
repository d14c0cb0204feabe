"""Decodes replayed from a record: the same tokens, padded, in whatever company."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch_runs import assert_generated, executor, model
from torch_storms import STORM, storm
from torch_tape import Tape, on_tape

from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.hardware import Torch
from hwmodels.torch_executor.measure import chunk, decode, prepare
from hwmodels.torch_executor.setup import check_device
from hwmodels.torch_executor.step import graphs
from hwmodels.torch_executor.step.forward import logits
from hwmodels.torch_executor.step.graphs import DecodeGraph, DecodeGraphs
from hwmodels.torch_executor.step.packing import Group
from hwmodels.torch_executor.step.sampling import sample
from sched_core import InputError, ScheduledRequest

DENSE = ("tiny-llama", "tiny-qwen3", "tiny-mistral", "tiny-gemma")


class Taped(StepRunner):
    """Runs decodes from tapes."""

    def __init__(self, loaded: Any, pool: Any, **how: Any) -> None:
        tapes = DecodeGraphs(loaded.model, pool, loaded.device, on_tape)
        super().__init__(loaded, pool, graphs=tapes, **how)


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests each replayed step had."""
    seen: list[int] = []
    compute = DecodeGraph.logits

    def counted(self: DecodeGraph, shares: Any, known: Any) -> Any:
        seen.append(len(shares))
        return compute(self, shares, known)

    monkeypatch.setattr(DecodeGraph, "logits", counted)
    return seen


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("mode", ["recompute", "swap"])
def test_tokens_are_those_of_generate(name: str, mode: str, replays: list[int]) -> None:
    """In a storm of preemptions, blocks shared, NaN in every slot that nobody owns."""
    real, engine = storm(name, f"youngest+{mode}", caching=True, block_size=4, runner=Taped)
    assert_generated(real, STORM)
    assert engine.recorder.preemptions > 0
    assert len(replays) > 20
    assert set(replays) >= {1, 2, 3}, "steps that are filled up, and steps that are not"


def step(*computed: int, new: int = 1) -> list[ScheduledRequest]:
    return [
        ScheduledRequest(str(number), new, done, (), samples=True)
        for number, done in enumerate(computed)
    ]


@pytest.mark.parametrize(
    ("shares", "bucket"),
    [
        (step(5), (1, 64)),
        (step(63, 3), (2, 64)),
        (step(63, 64, 3), (4, 128)),
        (step(*[10] * 33), (64, 64)),
        (step(*[1023] * 64), (64, 1024)),
        (step(*[1024] * 64), None),  # reads more than the largest
        (step(5, new=2), None),
        ([], None),
    ],
)
def test_steps_share_a_graph_by_powers_of_two(
    shares: list[ScheduledRequest], bucket: tuple[int, int] | None
) -> None:
    assert graphs._bucket(shares) == bucket


def test_a_graph_is_made_once_and_again_when_the_memory_moves() -> None:
    real = executor("tiny-llama", 4, runner=Taped)
    runner = real.runner
    assert runner.graphs is not None
    shares = prepare(runner, [decode(9), decode(17)])
    for share in shares:
        runner.tokens[share.id] = [1] * 40
    runner.pool.reserve(20, 0)
    first = runner.graphs.find(shares)
    assert runner.graphs.find(shares) is first
    assert runner.graphs.find(shares[:1]) is not first
    runner.pool.reserve(100, 0)
    assert runner.graphs.find(shares) is not first


def test_a_request_that_is_not_sampled_emits_nothing() -> None:
    runner = executor("tiny-llama", 4, runner=Taped).runner
    shares = [ScheduledRequest("a", 1, 0, (1,), samples=False),
              ScheduledRequest("b", 1, 0, (2,), samples=True)]  # fmt: skip
    runner.tokens |= {"a": [3, 4], "b": [5]}
    assert set(runner.run(shares).tokens or {}) == {"b"}
    assert len(runner.tokens["a"]) == 2


def stale_masks(patch: pytest.MonkeyPatch) -> None:
    """Masks made once, outside the record."""
    made: dict[Any, Any] = {}
    bias = Group.bias

    def kept(group: Group, *key: Any) -> Any:
        return made.setdefault((group.context.shape, *key), bias(group, *key))

    patch.setattr(Group, "bias", kept)


def numbers_of_the_first_step(patch: pytest.MonkeyPatch) -> None:
    packed: dict[int, Any] = {}
    pack = graphs.pack_decodes
    patch.setattr(
        graphs, "pack_decodes", lambda shares, *how: packed.setdefault(how[-1], pack(shares, *how))
    )


def memory_that_moved(patch: pytest.MonkeyPatch) -> None:
    """Graphs outlive the memory that they were made for."""
    find = DecodeGraphs.find

    def found(self: DecodeGraphs, shares: Any) -> Any:
        self._moves = self._pool.moves
        return find(self, shares)

    patch.setattr(DecodeGraphs, "find", found)


def filled_up_with_padding(patch: pytest.MonkeyPatch) -> None:
    """Block 0 is written by rows that nobody asked for."""
    unpack = graphs.unpack_decodes

    def unpacked(*how: Any) -> Any:
        batch = unpack(*how)
        batch.slots[-1] = 0
        return batch

    patch.setattr(graphs, "unpack_decodes", unpacked)


FAULTS = [stale_masks, numbers_of_the_first_step, memory_that_moved, filled_up_with_padding]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faults_are_caught(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    model("tiny-llama")
    fault(monkeypatch)
    with pytest.raises((AssertionError, RuntimeError, IndexError)):
        assert_generated(storm(runner=Taped, block_size=4)[0], STORM)


def test_nothing_is_caught_without_a_fault() -> None:
    assert_generated(storm(runner=Taped, block_size=4)[0], STORM)


@pytest.mark.parametrize("name", DENSE)
def test_no_step_waits_for_the_device_before_its_tokens_are_read(name: str) -> None:
    """A mixed step of decodes and chunks, on a tape that refuses to hold a wait."""
    runner = executor(name, 4).runner
    shares = prepare(runner, [decode(9), decode(70), chunk(0, 12), chunk(8, 5)])
    for share in shares:
        runner.tokens[share.id] = [1] * 80
    runner.pool.reserve(100, 0)
    batch = runner.pack(shares)
    with torch.inference_mode(), Tape() as tape:
        sample(logits(runner.loaded.model, runner.pool, batch), batch.sampled, 0.0, 0)
    assert len(tape.notes) > 100


def test_experts_wait_so_none_of_their_decodes_can_be_recorded() -> None:
    runner = executor("tiny-moe", 4).runner
    recorded = DecodeGraphs(runner.loaded.model, runner.pool, runner.loaded.device, on_tape)
    with pytest.raises(RuntimeError, match="waits for the device"):
        recorded.try_one()


def test_a_tape_refuses_what_waits() -> None:
    with pytest.raises(RuntimeError, match="waits for the device"), Tape():
        torch.ones(1).item()


def test_graphs_need_a_cuda_device() -> None:
    with pytest.raises(InputError, match=r"'cuda_graphs'.*recorded on a CUDA device"):
        Torch(device="cpu", cuda_graphs=True).executor("tiny-llama", block_size=16)


def test_cpu_time_is_not_what_a_cuda_device_takes() -> None:
    with pytest.raises(InputError, match=r"'clock'.*by its own events.*expected wall"):
        check_device(Torch(threads=1, clock="cpu"), torch.device("cuda", 0))
