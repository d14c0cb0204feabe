"""The JSON Schema of scenario files, made of the classes that read them."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from sched_core.config import EngineConfig
from sched_core.experiment.scenario import FileKeys, Scenario
from sched_core.limits import MAX_COUNT, MAX_SECONDS, Numbers
from sched_core.workload.listed import ListedKeys
from sched_core.workload.spec import FIELDS

Schema = dict[str, Any]

_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", dict: "object"}
_ABOUT = {
    "config": "the engine: names and defaults are vLLM's",
    "policy": "a stack such as priority:aging=30+adaptive, or a class in a file, ./edf.py:Edf",
    "hardware": "such as h100, or constant:step=0.03",
    "model": "a name, or a path to a Hugging Face config.json",
    "requests": "a workload by its spec, or the requests one by one",
    "seed": "of everything random",
    "horizon": "seconds after which the run is cut off",
    "goodput": "limits in milliseconds by metric, ttft@0 or ttft@gold for a class",
    "warmup": "seconds after the first arrival whose requests are left out of the figures",
    "drain": "is what happens after the last arrival left out of the rates?",
}


def schema() -> Schema:
    """What a scenario file may hold. What names mean, and whether it can run, is not in it."""
    keys = {field.name: _key(field) for field in attrs.fields(FileKeys)}
    config = _object(EngineConfig)
    config["properties"]["policy"] = {"type": "string"}
    keys["config"] |= config
    keys["goodput"]["additionalProperties"] = {"type": "number", "minimum": 0}
    keys["requests"]["oneOf"] = [_workload(), {"type": "array", "items": _request()}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of schedfw",
        "type": "object",
        "additionalProperties": False,
        "properties": keys,
    }


def _key(field: "attrs.Attribute[Any]") -> Schema:
    """A key of the file, whose limits are those of the scenario's field."""
    limits = attrs.fields_dict(Scenario).get(field.name)
    return {"description": _ABOUT[field.name], **_field(field, limits or field)}


def _workload() -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["workload"],
        "properties": {"workload": {"type": "string"}},
    }


def _request() -> Schema:
    """Further columns are kept, so all are allowed."""
    request = _object(ListedKeys)
    for name, about in request["properties"].items():
        if name in FIELDS:
            about["description"] = FIELDS[name].metadata["about"]
            about |= _range(getattr(FIELDS[name].metadata["check"], "__self__", None), about)
    arrivals = [{"required": ["arrival"]}, {"required": ["arrival_step"]}]
    return {**request, "additionalProperties": True, "oneOf": arrivals}


def _object(cls: Any) -> Schema:
    fields = attrs.fields(cls)
    required = [field.name for field in fields if field.default is attrs.NOTHING]
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": {field.name: _field(field, field) for field in fields},
    }


def _field(field: "attrs.Attribute[Any]", limited: "attrs.Attribute[Any]") -> Schema:
    found = _type(field.type)
    check = getattr(limited.validator, "validator", limited.validator)  # within `optional`
    plain = field.default is None or isinstance(field.default, str | int | float)
    return {**found, **_range(check, found), **({"default": field.default} if plain else {})}


def _range(check: object, found: Schema) -> Schema:
    """The limits of a number, but for those of its type: an integer has 32 bits."""
    if not isinstance(check, Numbers) or not {"integer", "number"} & set(_listed(found)):
        return {}
    high = {} if check.high in (MAX_COUNT, MAX_SECONDS) else {"maximum": check.high}
    return {"minimum": check.low, **high}


def _listed(found: Schema) -> list[str]:
    kind = found.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _type(kind: Any) -> Schema:
    if get_origin(kind) in (Union, UnionType):
        parts = [_type(part) for part in get_args(kind) if part is not NoneType]
        types = [name for part in parts for name in _listed(part)]
        return {**parts[0], "type": [*types, "null"]}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _type(get_args(kind)[0])}
    name = _TYPES.get(get_origin(kind) or kind)
    return {} if name is None else {"type": name}
