"""One watched run: a policy on a small workload, every invariant checked on the way."""

from collections.abc import Sequence

from sched_core.config import EngineConfig
from sched_core.engine import Engine
from sched_core.executor import Executor
from sched_core.policy import Policy
from sched_core.request import RequestSpec
from sched_core.testing.invariants import GENERAL
from sched_core.testing.invariants.ledger import Ledger
from sched_core.testing.invariants.registry import Invariant
from sched_core.workload import Workload


def run_watched(
    specs: Sequence[RequestSpec],
    config: EngineConfig,
    policy: Policy,
    executor: Executor,
    *,
    seed: int = 0,
    checks: Sequence[Invariant] = GENERAL,
    max_steps: int = 3000,
) -> Engine:
    """Run to the end or `max_steps`; raises InvariantError at the first broken rule.

    A foolish policy may shuffle memory for very long; what it did until `max_steps` is checked.
    """
    ledger = Ledger(checks)
    watched = Policy([*policy.components, ("ledger", ledger)])
    engine = Engine(config, watched, executor, Workload(specs), seed=seed, watch=ledger)
    ledger.follow(engine)
    while ledger.steps < max_steps and engine.advance():
        pass
    engine.close()
    ledger.close()
    return engine
