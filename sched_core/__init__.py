"""schedfw: a laboratory for LLM-serving schedulers. The names in `__all__` are the public API."""

from sched_core import files, limits
from sched_core.catalogue.configure import configure
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.errors import (
    InputError,
    NoProgress,
    PluginLoadError,
    PolicyError,
    SchedfwError,
    UnknownName,
    UsageError,
)
from sched_core.execution.executor import Capacity, Costs, Executor
from sched_core.execution.hardware import Hardware
from sched_core.execution.plan import (
    EMPTY_LOAD,
    PreemptMode,
    ScheduledRequest,
    StepLoad,
    StepOutcome,
    StepPlan,
    Swap,
)
from sched_core.experiment.experiment import compare, simulate
from sched_core.experiment.scenario import Scenario
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE, SWAP, hookimpl
from sched_core.policy.stack import Policy
from sched_core.reports.differences import Difference
from sched_core.reports.report import Report, Result
from sched_core.request import RequestState
from sched_core.scheduler.views import RequestView, SchedulerView
from sched_core.workload.source import Workload, WorkloadSource
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix

__all__ = [
    "EMPTY_LOAD",
    "NO_VICTIM",
    "RECOMPUTE",
    "SWAP",
    "Capacity",
    "Costs",
    "Difference",
    "Engine",
    "EngineConfig",
    "Executor",
    "Hardware",
    "HashedPrefix",
    "InputError",
    "NoProgress",
    "PluginLoadError",
    "Policy",
    "PolicyError",
    "PreemptMode",
    "Report",
    "RequestSpec",
    "RequestState",
    "RequestView",
    "Result",
    "Scenario",
    "SchedfwError",
    "ScheduledRequest",
    "SchedulerView",
    "SharedPrefix",
    "StepLoad",
    "StepOutcome",
    "StepPlan",
    "Swap",
    "UnknownName",
    "UsageError",
    "Workload",
    "WorkloadSource",
    "compare",
    "configure",
    "files",
    "hookimpl",
    "limits",
    "simulate",
]
