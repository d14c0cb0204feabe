"""In which order a policy is asked and told: what a small run shows, for the page of the hooks."""

from functools import partial
from typing import Any

import attrs

from hwmodels.constant import Constant
from sched_core import (
    Engine,
    EngineConfig,
    Policy,
    RequestSpec,
    RequestView,
    SchedulerView,
    StepRecord,
    Watcher,
    Workload,
    hookimpl,
)
from sched_core.policy.binding import HOOKS

REQUESTS = [
    RequestSpec("a", 0.0, prompt_len=28, output_len=7, priority=1),
    RequestSpec("b", 0.0, prompt_len=16, output_len=9, priority=2),
    RequestSpec("urgent", 0.5, prompt_len=16, output_len=2, priority=0),
    RequestSpec("late", 0.5, prompt_len=16, output_len=2, priority=3),
    RequestSpec("long", 0.6, prompt_len=900, output_len=2),
]
CONFIG = EngineConfig(
    max_num_batched_tokens=64, max_num_seqs=2, block_size=16, num_gpu_blocks=4, max_model_len=99
)
"""Two seats, and memory for two requests as long as none grows into a third block."""


@attrs.define(eq=False)
class Acts:
    """Urgent requests take seats, late ones are turned away, and `a` is taken out once."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.priority

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        if beneficiary.lacks == "seat" and beneficiary.priority == 0:
            return max(view.victims, key=lambda request: request.priority)
        return None

    @hookimpl
    def select_preemptions(self, view: SchedulerView) -> list[RequestView]:
        return [request for request in view.running if view.step == 3 and request.id == "a"]

    @hookimpl
    def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
        return "late" if view.now - request.arrival > 2 else None


class Listener(Watcher):
    """Hears whatever a policy is asked and told; a row for each step, and what came before it."""

    single_steps = True

    def __init__(self) -> None:
        self.rows: list[tuple[int, float, list[str]]] = []
        self.heard: list[str] = []
        """Since the last row."""

    def before(self, *parts: tuple[str, object]) -> Policy:
        """`parts`, behind a component that hears everything and has no opinion."""
        body = {hook: hookimpl(staticmethod(lambda: None)) for hook in HOOKS}
        ear = type("Ear", (), {"priority_moves": "static", **body})()
        policy = Policy([("ear", ear), *parts])
        for hook in policy.hooks.values():
            hook.calls[0].ask = partial(self._hear, hook.name)
        return policy

    def _hear(self, hook: str, *args: Any) -> None:
        about = [each.id for each in args if hasattr(each, "prompt_len")]
        self.heard.append(" ".join([hook, *about]))

    def stepped(self, record: StepRecord) -> None:
        self.rows.append((record.plan.step, record.plan.time_ns / 1e9, self.heard))
        self.heard = []


SHOWN = 7
"""Steps; the others bring nothing new."""


def heard() -> list[tuple[int, float, list[str]]]:
    """(step, seconds at its start, what was asked and told since the step before ended)."""
    listener = Listener()
    executor = Constant(step=1.0).executor(None, block_size=CONFIG.block_size)
    policy = listener.before(("acts", Acts()))
    Engine(CONFIG, policy, executor, Workload(REQUESTS), watchers=[listener]).run()
    return listener.rows[:SHOWN]
