"""schedfw: a laboratory for LLM-serving schedulers. The names in `__all__` are the public API."""

from sched_core import limits
from sched_core.catalogue import configure
from sched_core.config import EngineConfig
from sched_core.engine import Engine
from sched_core.errors import (
    InputError,
    NoProgress,
    PluginLoadError,
    PolicyError,
    SchedfwError,
    UnknownName,
    UsageError,
)
from sched_core.executor import Capacity, Costs, Executor, Hardware
from sched_core.experiment import compare, simulate
from sched_core.hookspecs import NO_VICTIM, RECOMPUTE, SWAP, hookimpl
from sched_core.pairing import Difference
from sched_core.plan import EMPTY_LOAD, ScheduledRequest, StepLoad, StepOutcome, StepPlan, Swap
from sched_core.policy import Policy
from sched_core.report import Report, Result
from sched_core.request import HashedPrefix, PreemptMode, RequestSpec, RequestState, SharedPrefix
from sched_core.scenario import Scenario
from sched_core.view import RequestView, SchedulerView
from sched_core.workload import Workload, WorkloadSource

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
    "hookimpl",
    "limits",
    "simulate",
]
