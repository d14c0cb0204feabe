"""schedfw: a laboratory for LLM-serving schedulers. The names in `__all__` are the public API."""

from sched_core.config import EngineConfig
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
from sched_core.plan import ScheduledRequest, StepLoad, StepOutcome, StepPlan, Swap
from sched_core.request import HashedPrefix, RequestSpec, RequestState, SharedPrefix
from sched_core.workload import Workload, WorkloadSource

__all__ = [
    "Capacity",
    "Costs",
    "EngineConfig",
    "Executor",
    "Hardware",
    "HashedPrefix",
    "InputError",
    "NoProgress",
    "PluginLoadError",
    "PolicyError",
    "RequestSpec",
    "RequestState",
    "SchedfwError",
    "ScheduledRequest",
    "SharedPrefix",
    "StepLoad",
    "StepOutcome",
    "StepPlan",
    "Swap",
    "UnknownName",
    "UsageError",
    "Workload",
    "WorkloadSource",
]
