"""A scenario as the keys of a scenario file, as short as it can be."""

import json
from collections.abc import Iterable
from typing import Any

import attrs

from sched_core.config import EngineConfig
from sched_core.experiment.scenario import Scenario
from sched_core.workload.source import Workload
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix


def document(scenario: Scenario, policy: str | None) -> dict[str, Any]:
    """What `schedfw run FILE` reads; whatever has its default is left out.

    The requests must be listed ones. Without a `policy` the option `--policy` must name it.
    """
    assert isinstance(scenario.workload, Workload)
    keys = {
        "policy": policy,
        "hardware": scenario.hardware,
        "seed": scenario.seed,
        "horizon": scenario.horizon,
        "warmup": scenario.warmup,
        "drain": scenario.drain,
        "config": _changed(scenario.config, attrs.fields(EngineConfig)),
        "requests": [listed_request(spec) for spec in scenario.workload.requests],
    }
    return {key: value for key, value in keys.items() if value or key == "requests"}


def as_text(keys: dict[str, Any]) -> str:
    """A scenario file, with a line for each key and for each request."""
    lines = [f"  {json.dumps(key)}: {json.dumps(keys[key])}" for key in keys if key != "requests"]
    requests = ",\n".join(f"    {json.dumps(request)}" for request in keys["requests"])
    lines.append(f'  "requests": [\n{requests}\n  ]')
    return "{\n" + ",\n".join(lines) + "\n}"


def _changed(thing: Any, fields: Iterable["attrs.Attribute[Any]"]) -> dict[str, Any]:
    values = {field.name: getattr(thing, field.name) for field in fields}
    return {f.name: values[f.name] for f in fields if values[f.name] != f.default}


def listed_request(spec: RequestSpec) -> dict[str, Any]:
    """A request as the keys under which a scenario file lists it."""
    keys = _changed(spec, attrs.fields(RequestSpec))
    keys |= keys.pop("extra", None) or {}
    prefix = keys.pop("prefix", None)
    if isinstance(prefix, SharedPrefix):
        keys["shared_prefix"] = attrs.asdict(prefix)
    if isinstance(prefix, HashedPrefix):
        keys |= {"hash_ids": list(prefix.ids), "hash_block_size": prefix.block_size}
    return keys
