"""What a StepPlan tells an executor agrees with what each step then does."""

import pickle
from collections import Counter

from harness import Seen, serve

from sched_core import StepPlan, StepRecord

SPECS = "A(10,9,@0) B(17,12,@1) C(5,20,@2) D(9,3,@6)"


def plans() -> list[StepPlan]:
    seen: list[StepPlan] = []

    def see(record: StepRecord) -> None:
        seen.append(record.plan)

    serve(
        SPECS,
        watcher=Seen(see),
        block_size=4,
        num_gpu_blocks=13,
        max_num_batched_tokens=8,
    )
    return seen


def test_shares_go_on_where_the_last_one_ended() -> None:
    """Computed tokens, blocks and emissions are exact, for members of the lockstep too."""
    reached: dict[str, int] = {}
    emitted: Counter[str] = Counter()
    for plan in plans():
        for name in plan.preempted_req_ids:
            reached[name] = 0
        for share in plan.scheduled:
            assert share.num_computed_tokens == reached.get(share.id, 0)
            reached[share.id] = share.num_computed_tokens + share.num_tokens
            assert len(share.block_ids) == -(-reached[share.id] // 4)
            emitted[share.id] += share.samples
    assert emitted == {"A": 9, "B": 12, "C": 20, "D": 3}


def test_a_plan_is_data() -> None:
    listed = plans()
    assert any(plan.preemptions for plan in listed)
    for plan in listed:
        assert pickle.loads(pickle.dumps(plan)) == plan
        assert plan.total_num_scheduled_tokens == sum(plan.num_scheduled_tokens.values())
        assert plan.load.new_tokens == plan.total_num_scheduled_tokens
    assert [new.id for plan in listed for new in plan.scheduled_new_reqs] == ["A", "B", "C", "D"]
