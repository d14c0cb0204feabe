"""Paths in a scenario file are found from where the file lies; options' from where one stands."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from sched_core.catalogue.entries import find
from sched_core.catalogue.plugin import SINGULAR
from sched_core.catalogue.specs import parse_part, seen_from
from sched_core.errors import UsageError


def beside(folder: Path, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a file in `folder`, its relative paths led there."""
    found = _policy(folder, keys)
    if isinstance(config := found.get("config"), Mapping):  # where vLLM has its policy
        found["config"] = _policy(folder, config)
    if isinstance(hardware := found.get("hardware"), str):
        found["hardware"] = _part(folder, "hardware", hardware)
    if isinstance(model := found.get("model"), str) and (folder / model).exists():
        found["model"] = str(folder / model)
    requests = found.get("requests")
    if isinstance(requests, Mapping) and isinstance(spec := requests.get("workload"), str):
        found["requests"] = {**requests, "workload": _part(folder, "workloads", spec)}
    return found


def _policy(folder: Path, keys: Mapping[str, Any]) -> dict[str, Any]:
    spec = keys.get("policy")
    return {**keys, "policy": seen_from(str(folder), spec)} if isinstance(spec, str) else {**keys}


def _part(folder: Path, kind: str, part: str) -> str:
    """One part of a spec; left as it is where it names nothing, which is told when it is used."""
    try:
        name, parameters = parse_part(part, what=SINGULAR[kind])
        fields = {field.alias: field for field in attrs.fields(find(kind, name).cls)}
    except UsageError:
        return part
    for key, value in parameters.items():
        if key in fields and fields[key].metadata.get("file"):
            parameters[key] = _led(folder, value)
    return ":".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def _led(folder: Path, path: str) -> str:
    """`-`, the standard input, lies nowhere."""
    return path if path == "-" or os.path.isabs(path) else str(folder / path)
