"""schedfw: a laboratory for LLM-serving schedulers. The names in `__all__` are the public API."""

from sched_core import files, limits, tables
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
from sched_core.execution.executor import (
    CacheKeeper,
    Capacity,
    Costs,
    Executor,
    Modelled,
    Padding,
    RecordableCosts,
    SeriesCosts,
)
from sched_core.execution.hardware import Calibrated, Described, Hardware, Measurable
from sched_core.execution.load import EMPTY_LOAD, StepLoad
from sched_core.execution.plan import (
    NewRequest,
    Preemption,
    PreemptMode,
    ScheduledRequest,
    StepOutcome,
    StepPlan,
    Swap,
)
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.experiment.experiment import compare, simulate
from sched_core.experiment.scenario import Scenario
from sched_core.policy import toolbox
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE, SWAP, hookimpl
from sched_core.policy.stack import Policy
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.reports.differences import Difference
from sched_core.reports.report import Report, Result
from sched_core.request import RequestState
from sched_core.workload.further import further_columns
from sched_core.workload.source import Workload, WorkloadSource
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix

__all__ = [
    "EMPTY_LOAD",
    "NO_VICTIM",
    "RECOMPUTE",
    "SWAP",
    "CacheKeeper",
    "Calibrated",
    "Capacity",
    "Costs",
    "Described",
    "Difference",
    "Engine",
    "EngineConfig",
    "Executor",
    "Hardware",
    "HashedPrefix",
    "InputError",
    "Measurable",
    "Modelled",
    "NewRequest",
    "NoProgress",
    "Padding",
    "PluginLoadError",
    "Policy",
    "PolicyError",
    "PreemptMode",
    "Preemption",
    "RecordableCosts",
    "Report",
    "RequestSpec",
    "RequestState",
    "RequestView",
    "Result",
    "Scenario",
    "SchedfwError",
    "ScheduledRequest",
    "SchedulerView",
    "SeriesCosts",
    "SharedPrefix",
    "StepLoad",
    "StepOutcome",
    "StepPlan",
    "StepRecord",
    "Swap",
    "UnknownName",
    "UsageError",
    "Watcher",
    "Workload",
    "WorkloadSource",
    "compare",
    "configure",
    "files",
    "further_columns",
    "hookimpl",
    "limits",
    "simulate",
    "tables",
    "toolbox",
]
