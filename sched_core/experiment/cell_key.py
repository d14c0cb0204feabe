"""The key of a run: equal where the result must be equal, in any process, on any machine."""

import hashlib
import json
import os
import pickle
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from sched_core.catalogue.specs import PolicySpec
from sched_core.errors import InputError
from sched_core.experiment import contents
from sched_core.experiment.contents import Part
from sched_core.experiment.scenario import Scenario
from sched_core.experiment.scenario_text import listed_request
from sched_core.reports.report import SCHEMA
from sched_core.workload.source import Workload


def key(scenario: Scenario, files: Mapping[str, str]) -> str:
    """The sha256 of all that the result depends on. `files` are the digests of those it names.

    No path and no date is part of it: a file counts by its bytes, a plugin by its distribution,
    version and source.
    """
    return _digest(
        {
            "schema": SCHEMA,
            "schedfw": version("schedfw"),
            "source": contents.of_source("sched_core"),
            "policy": _named("policies", scenario.policy, files),
            "hardware": _named("hardware", scenario.hardware, files),
            "model": _model(scenario.model, files),
            "workload": _workload(scenario.workload, files),
            "config": attrs.asdict(scenario.config),
            "seed": scenario.seed,
            "horizon": scenario.horizon,
            "goodput": dict(scenario.goodput),
            "warmup": scenario.warmup,
            "drain": scenario.drain,
        }
    )


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _named(kind: str, spec: PolicySpec, files: Mapping[str, str]) -> list[dict[str, Any]]:
    return [_component(part, files) for part in contents.parts(kind, spec)]


def _component(part: Part, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        **_source(part),
        "parameters": {name: _parameter(part, name, files) for name in part.parameters},
    }


def _source(part: Part) -> dict[str, Any]:
    """Where it comes from: files count by their bytes alone, a distribution by what it says too."""
    plugin, cls = part.plugin, part.plugin.cls
    if plugin.files:
        return {"name": cls.__qualname__, "source": sorted(plugin.files.values())}
    source = contents.of_class(cls)
    if source is None:
        raise InputError(
            f"the source of policy {plugin.name!r} cannot be read, so that no key can tell its "
            "runs apart",
            expected="a class in a file or in a notebook's cell",
        )
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "source": source,
    }


def _parameter(part: Part, name: str, files: Mapping[str, str]) -> object:
    """A file counts by its bytes alone where the plugin says that the value is one; where it only
    looks so (a file may be called `64`), by both."""
    value = part.parameters[name]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str) or value not in files:
        return _plain(value, part.plugin.name)
    return {"file": files[value]} if part.is_file(name) else {"value": value, "file": files[value]}


def _plain(value: Any, where: str) -> object:
    """A value of an instance as JSON, in an order that is the same in any process."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        pairs = ((_plain(key, where), _plain(value[key], where)) for key in value)
        return {"mapping": sorted(pairs, key=repr)}
    if isinstance(value, set | frozenset):
        return {"set": sorted((_plain(each, where) for each in value), key=repr)}
    if isinstance(value, list | tuple):
        return [_plain(each, where) for each in value]
    try:
        return {"pickle": hashlib.sha256(pickle.dumps(value)).hexdigest()}
    except Exception as error:  # a parameter is foreign code
        raise InputError(
            f"a parameter of policy {where!r} cannot be pickled, so that no key can tell its runs "
            f"apart: {error}",
            value=value,
        ) from error


def _model(model: str | None, files: Mapping[str, str]) -> object:
    """A folder is the model's name in results; where it stands changes nothing."""
    if model is None or model not in files:
        return model
    return {"name": Path(model).name, "file": files[model]}


def _workload(workload: str | Workload, files: Mapping[str, str]) -> object:
    if isinstance(workload, str):
        return _named("workloads", workload, files)
    rows = [listed_request(spec) for spec in workload.requests]
    return {"listed": _digest(rows), "max_concurrency": workload.max_concurrency}
