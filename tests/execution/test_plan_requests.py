"""What a StepPlan tells an executor agrees with what each step then does."""

from typing import Any

import attrs
from harness import play

from hwmodels.constant import Constant, ConstantCosts, ConstantExecutor


@attrs.frozen
class Listening(ConstantExecutor):
    """Keeps every step's shares, read while the step is executed, as an executor reads them."""

    shares: list[Any] = attrs.field(factory=list)

    def execute(self, plan: Any) -> Any:
        self.shares.append(list(plan.requests()))
        return super().execute(plan)


@attrs.frozen
class Heard(Constant):
    """Hardware whose one executor a test can look into."""

    listening: Listening = attrs.field(factory=lambda: Listening(ConstantCosts(Constant(step=1))))

    def executor(self, model: str | None, *, block_size: int) -> Listening:
        return self.listening


def test_shares_agree_with_the_engine_at_every_step() -> None:
    """Computed tokens, blocks and emissions are exact, for members of the lockstep too."""
    hardware, in_lockstep = Heard(), 0

    def watch(plan: Any, state: Any, *_: Any) -> None:
        nonlocal in_lockstep
        shares = hardware.listening.shares[-1]
        for (request, tokens), share in zip(plan.scheduled(), shares, strict=True):
            assert (share.id, share.num_tokens) == (request.id, tokens)
            reached = share.num_computed_tokens + tokens
            assert len(share.block_table) == -(-reached // 4)
            if request.state.value == "running":
                in_lockstep += request.joined >= 0
                assert state.lockstep.computed(request) == reached
                known = request.prompt_len + state.lockstep.emitted(request)
                assert share.samples == (known == reached + 1)

    played = play(
        "A(10,9,@0) B(17,12,@1) C(5,20,@2) D(9,3,@6)",
        watch=watch,
        hardware=hardware,
        block_size=4,
        num_gpu_blocks=13,
        max_num_batched_tokens=8,
    )
    assert in_lockstep > 20
    assert any(line["preempted"] for line in played.lines)
