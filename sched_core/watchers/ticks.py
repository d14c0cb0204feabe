"""What every request did in every step: a run to be read line by line."""

import attrs

from sched_core.config import EngineConfig
from sched_core.execution.executor import Costs
from sched_core.execution.plan import NOBODY
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.limits import NANOSECONDS

LEGEND = (
    "p8 prefills 8 tokens, d decodes one, + joined in this step, * finished with it, - runs but "
    "got nothing, w waits, s waits with its KV on the host, x lost its place"
)


@attrs.frozen
class Tick:
    """One step."""

    step: int
    time: float
    """When it started, in seconds."""
    budget_left: int
    free_blocks: int
    """Of the device, after the step."""
    cells: dict[str, str]
    """Request id -> what it did, in the signs of LEGEND; absent before arrival and after the
    end."""
    events: list[str]
    """Who was preempted for whom, who was rejected, and which component decided; "default" is
    the engine's own rule."""


class Ticks(Watcher):
    """Keeps a Tick of each step."""

    single_steps = True
    queues = True

    def __init__(self) -> None:
        self.ticks: list[Tick] = []
        self._budget = 0
        self._emitters: set[str] = set()
        self._on_host: set[str] = set()

    def started(self, config: EngineConfig, costs: Costs) -> None:
        self._budget = config.max_num_batched_tokens

    def stepped(self, record: StepRecord) -> None:
        plan = record.plan
        self._on_host |= {swap.id for swap in plan.swapped_out}
        self._on_host -= {swap.id for swap in plan.swapped_in}
        joined = {*plan.admitted, *plan.resumed_req_ids}
        cells = dict.fromkeys(record.running or (), "-")
        cells |= {name: "s" if name in self._on_host else "w" for name in record.waiting or ()}
        for share in plan.scheduled:
            decodes = share.num_tokens == 1 and share.id in self._emitters
            did = "d" if decodes else f"p{share.num_tokens}"
            ends = share.id in record.finished
            cells[share.id] = "+" * (share.id in joined) + did + "*" * ends
            if share.samples:
                self._emitters.add(share.id)
        cells |= dict.fromkeys(plan.preempted_req_ids, "x")
        self.ticks.append(
            Tick(
                plan.step,
                plan.time_ns / NANOSECONDS,
                self._budget - plan.total_num_scheduled_tokens,
                record.free_blocks,
                cells,
                _events(record),
            )
        )


def _events(record: StepRecord) -> list[str]:
    plan = record.plan
    events = [f"{name} rejected: {reason}" for name, reason in record.rejected.items()]
    for taken in plan.preemptions:
        whom = "itself" if taken.victim == taken.beneficiary else taken.beneficiary
        out = "out" if whom is None else f"out for {whom}"
        mode = taken.mode.value + (f" ({taken.mode_by})" if taken.mode_by != NOBODY else "")
        events.append(f"{taken.victim} {out}: {taken.chosen_by}, {mode}")
    joined = [*plan.admitted, *plan.resumed_req_ids]
    if plan.admitted_by != NOBODY and joined:
        events.append(f"{', '.join(joined)} in: {plan.admitted_by}")
    return events
