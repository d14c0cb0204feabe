"""What the names of a scenario stand for, each held to its contract."""

from typing import Any

from sched_core.catalogue import specs
from sched_core.errors import PluginLoadError
from sched_core.execution.hardware import Hardware
from sched_core.workload.source import WorkloadSource


def named_hardware(spec: str) -> Hardware:
    """The hardware that `spec` names; raises UsageError where it does not exist or fit."""
    found: Hardware = _component("hardware", spec, Hardware)
    return found


def named_source(spec: str) -> WorkloadSource:
    """What builds the workload that `spec` names; raises UsageError likewise."""
    found: WorkloadSource = _component("workloads", spec, WorkloadSource)
    return found


def _component(kind: str, spec: str, contract: type) -> Any:
    component = specs.build(kind, spec)
    if not isinstance(component, contract):
        raise PluginLoadError(
            f"{spec!r} of group schedfw.{kind} does not keep the contract {contract.__name__}"
        )
    return component
