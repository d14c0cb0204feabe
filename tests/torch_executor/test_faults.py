"""Tests of the tests: each fault that a paged executor may have is caught by those of tokens.

The storms run with a fault put in, and must not end as they do without it.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import attrs
import pytest
import torch
from torch_runs import assert_generated, model
from torch_storms import STORM, storm

from hwmodels.torch_executor import executor
from hwmodels.torch_executor.executor import StepRunner, TorchExecutor
from hwmodels.torch_executor.model import self_check
from hwmodels.torch_executor.model.models import load
from hwmodels.torch_executor.prompts.prompts import SyntheticPrompts
from hwmodels.torch_executor.step import attention
from hwmodels.torch_executor.step.packing import Group, PackedBatch
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import InputError, ScheduledRequest, StepPlan

Patch = pytest.MonkeyPatch


def _around(patch: Patch, owner: Any, name: str, wrap: Callable[..., Any]) -> None:
    """Replace `owner.name` by `wrap(original, *arguments)`."""
    original = getattr(owner, name)
    patch.setattr(owner, name, lambda *args: wrap(original, *args))


def slot_off_by_one(patch: Patch) -> None:
    def write(original: Any, pool: KVPool, layer: int, slots: Any, *kv: Any) -> None:
        original(pool, layer, slots + 1, *kv)

    _around(patch, KVPool, "write", write)


def value_of_a_layer_not_swapped(patch: Patch) -> None:
    def copy(original: Any, pool: KVPool, sources: Any, a: Any, targets: Any, b: Any) -> None:
        original(pool, [*sources[:3], *sources[4:]], a, [*targets[:3], *targets[4:]], b)

    _around(patch, KVPool, "_copy", copy)


def swap_in_before_swap_out(patch: Patch) -> None:
    """Each copies what the other was to write, as when nothing waits for the copy-out's end."""
    late: list[Any] = []
    original_out, original_in = KVPool.swap_out, KVPool.swap_in
    patch.setattr(KVPool, "swap_out", lambda pool, swaps: late.append(swaps))

    def swap_in(pool: KVPool, swaps: Any) -> None:
        original_in(pool, swaps)
        original_out(pool, late.pop())

    patch.setattr(KVPool, "swap_in", swap_in)


def swap_out_after_the_step(patch: Patch) -> None:
    """A freed block is written before its copy-out ended."""
    late: list[Any] = []
    original = KVPool.swap_out
    patch.setattr(KVPool, "swap_out", lambda pool, swaps: late.append(swaps))

    def compute(compute: Any, runner: StepRunner, *step: Any) -> Any:
        emitted = compute(runner, *step)
        original(runner.pool, late.pop())
        return emitted

    _around(patch, StepRunner, "_compute", compute)


def blocks_come_back_in_another_order(patch: Patch) -> None:
    def swap_in(original: Any, pool: KVPool, swaps: Any) -> None:
        original(pool, [swap._replace(sources=swap.sources[::-1]) for swap in swaps])

    _around(patch, KVPool, "swap_in", swap_in)


def _with_shares(patch: Patch, change: Callable[[ScheduledRequest], ScheduledRequest]) -> None:
    def pack(original: Any, shares: Sequence[ScheduledRequest], *rest: Any) -> PackedBatch:
        return original(tuple(map(change, shares)), *rest)

    _around(patch, executor, "pack", pack)


def stale_block_ids(patch: Patch) -> None:
    """The table as it was when the request was first seen, longer where it has to be."""
    first: dict[str, tuple[int, ...]] = {}

    def stale(share: ScheduledRequest) -> ScheduledRequest:
        old = first.setdefault(share.id, share.block_ids)
        return share._replace(block_ids=old + share.block_ids[len(old) :])

    _with_shares(patch, stale)


def short_block_ids(patch: Patch) -> None:
    _with_shares(patch, lambda share: share._replace(block_ids=share.block_ids[:-1]))


def computed_off_by_one(patch: Patch) -> None:
    def behind(share: ScheduledRequest) -> ScheduledRequest:
        return share._replace(num_computed_tokens=max(share.num_computed_tokens - 1, 0))

    _with_shares(patch, behind)


def recompute_forgets_emitted_tokens(patch: Patch) -> None:
    prompts: dict[str, int] = {}

    def execute(original: Any, self: TorchExecutor, plan: StepPlan) -> Any:
        for new in plan.scheduled_new_reqs:
            prompts[new.id] = new.prompt_len
        for name in plan.preempted_req_ids:
            known = self.runner.tokens[name]
            known[prompts[name] :] = [0] * (len(known) - prompts[name])
        return original(self, plan)

    _around(patch, TorchExecutor, "execute", execute)


def recompute_emits_its_last_token_again(patch: Patch) -> None:
    def execute(original: Any, self: TorchExecutor, plan: StepPlan) -> Any:
        for name in plan.preempted_req_ids:
            self.runner.tokens[name].append(self.runner.tokens[name][-1])
        return original(self, plan)

    _around(patch, TorchExecutor, "execute", execute)


def _with_batch(patch: Patch, **changes: Callable[[PackedBatch], Any]) -> None:
    def pack(original: Any, *args: Any) -> PackedBatch:
        batch = original(*args)
        return attrs.evolve(batch, **{key: change(batch) for key, change in changes.items()})

    _around(patch, executor, "pack", pack)


def token_sampled_at_another_position(patch: Patch) -> None:
    _with_batch(patch, last=lambda batch: (batch.last - 1).clamp_min(0))


def tokens_sampled_for_each_other(patch: Patch) -> None:
    _with_batch(patch, sampled=lambda batch: batch.sampled[::-1])


def positions_counted_from_the_chunk(patch: Patch) -> None:
    _with_batch(patch, positions=lambda batch: batch.positions.clamp_max(30))


def _with_bias(patch: Patch, change: Callable[..., Any]) -> None:
    _around(patch, Group, "bias", lambda bias, group, *args: change(bias, group, *args))


def window_off_by_one(patch: Patch) -> None:
    _with_bias(patch, lambda bias, group, window, *rest: bias(group, window and window + 1, *rest))


def window_forgotten(patch: Patch) -> None:
    _with_bias(patch, lambda bias, group, window, *rest: bias(group, None, *rest))


def no_mask(patch: Patch) -> None:
    _with_bias(patch, lambda bias, *args: bias(*args).zero_())


def softcap_forgotten(patch: Patch) -> None:
    _around(
        patch,
        attention.PagedAttention,
        "attend",
        lambda attend, self, call: attend(self, attrs.evolve(call, softcap=None)),
    )


def reads_before_it_writes(patch: Patch) -> None:
    """K and V of the step's own tokens come too late for its attention."""

    def attend(attend: Any, self: Any, call: Any) -> Any:
        write, late = self.pool.write, []
        patch.setattr(self.pool, "write", lambda *args: late.append(args), raising=False)
        out = attend(self, call)
        patch.delattr(self.pool, "write")
        write(*late.pop())
        return out

    _around(patch, attention.PagedAttention, "attend", attend)


def heads_of_other_groups(patch: Patch) -> None:
    def attend(attend: Any, self: Any, call: Any) -> Any:
        return attend(self, attrs.evolve(call, query=call.query.flip(0))).flip(1)

    _around(patch, attention.PagedAttention, "attend", attend)


def prompts_that_differ_where_blocks_are_shared(patch: Patch) -> None:
    patch.setattr(SyntheticPrompts, "_shared", lambda self, request: iter(()))


def logits_of_the_step_before(patch: Patch) -> None:
    kept: list[Any] = []

    def logits(original: Any, *args: Any) -> Any:
        kept.append(original(*args))
        last = kept.pop(0) if len(kept) > 1 else kept[0]
        return last if len(last) == len(kept[-1]) else kept[-1]

    _around(patch, executor, "logits", logits)


FAULTS: dict[Callable[[Patch], None], dict[str, Any]] = {
    slot_off_by_one: {},
    value_of_a_layer_not_swapped: {"policy": "swap"},
    swap_in_before_swap_out: {"policy": "foolish"},
    swap_out_after_the_step: {"policy": "swap"},
    blocks_come_back_in_another_order: {"policy": "swap"},
    stale_block_ids: {"policy": "swap"},
    short_block_ids: {},
    computed_off_by_one: {},
    recompute_forgets_emitted_tokens: {},
    recompute_emits_its_last_token_again: {},
    token_sampled_at_another_position: {},
    tokens_sampled_for_each_other: {},
    positions_counted_from_the_chunk: {},
    window_off_by_one: {"model": "tiny-mistral"},
    window_forgotten: {"model": "tiny-gemma"},
    no_mask: {},
    softcap_forgotten: {"model": "tiny-gemma"},
    reads_before_it_writes: {},
    heads_of_other_groups: {},
    prompts_that_differ_where_blocks_are_shared: {"caching": True},
    logits_of_the_step_before: {},
}
"""Each fault, and the storm in which it shows."""


def run_checked(setting: dict[str, Any]) -> None:
    real, _ = storm(**setting)
    assert_generated(real, STORM)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_is_caught(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    """Tokens differ, or the run fails: NaN, a shape, an index that is not there."""
    model(FAULTS[fault].get("model", "tiny-llama"))  # or the gate refuses it: see below
    fault(monkeypatch)
    with pytest.raises((AssertionError, RuntimeError, IndexError, ValueError)):
        run_checked(FAULTS[fault])


@pytest.mark.parametrize("setting", [{}, *filter(None, FAULTS.values())], ids=str)
def test_passes_without_a_fault(setting: dict[str, Any]) -> None:
    """Nothing but the fault makes those runs fail."""
    run_checked(setting)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("fault", [window_off_by_one, softcap_forgotten, no_mask, slot_off_by_one])
def test_the_gate_catches_faults_of_attention_too(
    fault: Callable[[Patch], None], dtype: str, monkeypatch: Patch
) -> None:
    name = FAULTS[fault].get("model", "tiny-llama")
    fault(monkeypatch)
    with pytest.raises(InputError, match="cannot run"):
        load(name, dtype=dtype, device=torch.device("cpu"), seed=0)


def scores_scaled_a_little_more(patch: Patch) -> None:
    def attend(attend: Any, self: Any, call: Any) -> Any:
        return attend(self, attrs.evolve(call, scaling=1.03 * call.scaling))

    _around(patch, attention.PagedAttention, "attend", attend)


@pytest.mark.parametrize("in_float64", [True, False])
def test_in_16_bits_only_a_copy_in_float64_shows_small_faults(
    in_float64: bool, monkeypatch: Patch
) -> None:
    scores_scaled_a_little_more(monkeypatch)
    if not in_float64:
        monkeypatch.setattr(self_check, "_relative_error_in_float64", lambda loaded: 0.0)
    refused = pytest.raises(InputError, match="cannot run") if in_float64 else nullcontext()
    with refused:
        load("tiny-llama", dtype="bfloat16", device=torch.device("cpu"), seed=0)
