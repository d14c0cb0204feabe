"""What becomes of a victim's KV cache."""

import attrs

from sched_core import RECOMPUTE, SWAP, PreemptMode, RequestView, SchedulerView, hookimpl


@attrs.define(eq=False)
class Recompute:
    """Victims compute their KV cache again; the default.

    Rule: always RECOMPUTE, the only mode of vLLM V1.
    Fails by: long victims, whose prompt and output are all computed twice.
    """

    @hookimpl
    def choose_preempt_mode(self) -> PreemptMode:
        return RECOMPUTE


@attrs.define(eq=False)
class Swap:
    """Victims' KV cache goes to the host and back.

    Rule: always SWAP; the engine falls back to recompute where the host pool (`num_cpu_blocks`)
    is full. The other mode of vLLM V0 (Kwon et al., SOSP 2023, section 4.5).
    Fails by: a slow host link, and short victims that a memory-bound step recomputes for nothing.
    """

    @hookimpl
    def choose_preempt_mode(self) -> PreemptMode:
        return SWAP


@attrs.define(eq=False)
class Adaptive:
    """The cheaper of recompute and swap for each victim.

    Rule: SWAP if copying the victim's blocks out and back takes less time than computing its
    tokens again beside the decodes that run now; RECOMPUTE otherwise, on a tie, and where the host
    pool has no room. It knows no token threshold: on a memory-bound step recomputing a few tokens
    costs nothing, and where the crossing lies depends on model and link.
    Source: the comparison in Kwon et al., SOSP 2023, section 7.3, taken per victim.
    Fails by: being as good as the hardware model's marginal costs.
    """

    @hookimpl
    def choose_preempt_mode(self, view: SchedulerView, victim: RequestView) -> PreemptMode:
        tokens = victim.num_computed_tokens
        blocks = -(-tokens // view.block_size)
        if not 0 < blocks <= view.free_host_blocks:
            return RECOMPUTE
        costs, beside = view.costs, view.load
        copies = costs.swap_out(blocks, beside) + costs.swap_in(blocks, beside)
        return SWAP if copies < costs.recompute(tokens, beside) else RECOMPUTE
