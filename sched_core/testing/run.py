"""One run of a scenario, and what can be compared of it."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import attrs

from sched_core.catalogue import specs
from sched_core.engine.engine import Engine
from sched_core.execution.executor import Executor
from sched_core.execution.step_record import Watcher
from sched_core.experiment.scenario import Scenario
from sched_core.metrics.summary import request_records
from sched_core.policy.stack import Policy
from sched_core.testing.hook_counts import HookCounts
from sched_core.testing.invariants import GENERAL
from sched_core.testing.invariants.ledger import Ledger
from sched_core.testing.invariants.registry import Invariant
from sched_core.watchers.decision_trace import DecisionTrace
from sched_core.workload.source import Workload

Decision = dict[str, Any]


@attrs.frozen
class Run:
    """What a run came to."""

    decisions: list[Decision]
    """One per step, as in a decision trace."""
    requests: dict[str, dict[str, Any]]
    """Their records by id; none if the run broke off."""
    error: Exception | None
    """What broke it off."""
    policy: Policy = attrs.field(repr=False)

    @property
    def unfinished(self) -> list[str]:
        """Who was still in the system, or had not come, at the end."""
        over = ("finished", "rejected", "aborted")
        return [name for name, record in self.requests.items() if record["state"] not in over]

    def as_json(self) -> str:
        """All that the same inputs must give again, byte for byte."""
        ended = type(self.error).__name__ if self.error else None
        return json.dumps([self.decisions, self.requests, ended])


def run_scenario(
    scenario: Scenario,
    policy: Policy,
    ledger: Ledger | None = None,
    *,
    in_leaps: bool = False,
    watcher: Watcher | None = None,
) -> Run:
    """Run to the end or the horizon. Whatever the run raises is part of what it came to.

    `in_leaps`: let the engine take many steps at once where it can; there are no decisions then.
    `watcher` is told of every step, `ledger` by itself.
    """
    assert isinstance(scenario.workload, Workload)
    decisions: list[Decision] = []
    watchers: list[Watcher] = [] if in_leaps else [DecisionTrace(decisions.append)]
    watchers += [each for each in (ledger, watcher) if each is not None]
    executor = _executor(scenario.hardware, scenario.config.block_size)
    if ledger is not None:
        executor = ledger.shadowed(executor, scenario)
    engine = Engine(
        scenario.config,
        policy,
        executor,
        scenario.workload,
        seed=scenario.seed,
        horizon=scenario.horizon,
        watchers=watchers,
    )
    if ledger is not None:
        ledger.follow(engine)
    try:
        engine.run()
        if ledger is not None:
            ledger.close()
    except Exception as error:  # for the checks to judge
        return Run(decisions, {}, error, policy)
    records = {record["id"]: record for record in request_records(engine.recorder)}
    return Run(decisions, records, None, policy)


def run_watched(
    scenario: Scenario,
    policy: Policy,
    checks: Sequence[Invariant] = GENERAL,
    counts: HookCounts | None = None,
) -> Run:
    """The same, held against invariants; `error` is an InvariantError where one is broken.

    `counts` counts what the hooks do.
    """
    ledger = Ledger(checks)
    policy = Policy([*policy.components, ("ledger", ledger)])
    if counts is not None:
        counts.follow(policy)
    return run_scenario(scenario, policy, ledger)


@lru_cache
def _executor(hardware: str, block_size: int) -> Executor:
    executor: Executor = specs.build("hardware", hardware).executor(None, block_size=block_size)
    return executor
