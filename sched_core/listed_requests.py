"""The requests that a scenario file lists one by one."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from sched_core.catalogue import configure
from sched_core.errors import InputError
from sched_core.request import HashedPrefix, RequestSpec, SharedPrefix


def _time(_: Any, field: "attrs.Attribute[Any]", value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise InputError(
            "out of range", field=field.name, value=value, expected="a finite number >= 0"
        )


@attrs.frozen(kw_only=True)
class _Keys:
    """The keys of one listed request."""

    id: str
    prompt_len: int
    output_len: int
    arrival: float | None = attrs.field(default=None, validator=_time)
    arrival_step: float | None = attrs.field(default=None, validator=_time)
    abort: float | None = attrs.field(default=None, validator=_time)
    priority: int = 0
    tenant: str = "default"
    shared_prefix: dict[str, Any] | None = None
    hash_ids: tuple[int, ...] | None = None
    hash_block_size: int | None = None


@attrs.frozen(kw_only=True)
class _SharedKeys:
    group: Any
    len: int


def parse(rows: Sequence[Any], where: str) -> list[RequestSpec]:
    """The requests, in the order listed. `where` they stand is for the messages."""
    return [_request(row, f"{where}[{index}]") for index, row in enumerate(rows)]


def counts_steps(rows: Sequence[Any]) -> bool:
    """Do the rows say at which step a request arrives, not at which second?"""
    return any(isinstance(row, Mapping) and "arrival_step" in row for row in rows)


def _request(row: Any, where: str) -> RequestSpec:
    if not isinstance(row, Mapping):
        raise InputError("not a request", file=where, value=row, expected="an object of keys")
    keys: _Keys = configure(_Keys, row, where=where)
    arrivals = [time for time in (keys.arrival, keys.arrival_step) if time is not None]
    if len(arrivals) != 1:
        raise InputError(
            "two arrivals" if arrivals else "no arrival",
            file=where,
            expected="arrival (seconds) or arrival_step",
        )
    return RequestSpec(
        keys.id,
        arrivals[0],
        keys.prompt_len,
        keys.output_len,
        keys.priority,
        keys.tenant,
        _prefix(keys, where),
        keys.abort,
    )


def _prefix(keys: _Keys, where: str) -> SharedPrefix | HashedPrefix | None:
    if keys.hash_ids is not None and keys.shared_prefix is not None:
        raise InputError("two prefixes", file=where, expected="shared_prefix or hash_ids")
    if keys.hash_ids is not None:
        return _hashed(keys.hash_ids, keys.hash_block_size, keys.prompt_len, where)
    return None if keys.shared_prefix is None else _shared(keys, where)


def _shared(keys: _Keys, where: str) -> SharedPrefix:
    given: _SharedKeys = configure(
        _SharedKeys, keys.shared_prefix or {}, where=f"{where}.shared_prefix"
    )
    if not isinstance(given.group, int | str):
        raise InputError(
            "not a group",
            file=f"{where}.shared_prefix",
            field="group",
            value=given.group,
            expected="a name or an integer",
        )
    if given.len < 0:
        raise InputError(
            "out of range",
            file=f"{where}.shared_prefix",
            field="len",
            value=given.len,
            expected="tokens >= 0",
        )
    return SharedPrefix(given.group, given.len)


def _hashed(ids: tuple[int, ...], size: int | None, prompt_len: int, where: str) -> HashedPrefix:
    if size is None or size < 1:
        raise InputError(
            "hash_ids need their block size",
            file=where,
            field="hash_block_size",
            value=size,
            expected="tokens in one hashed block",
        )
    blocks = -(-prompt_len // size)
    if len(ids) != blocks:
        raise InputError(
            f"{len(ids)} ids",
            file=where,
            field="hash_ids",
            expected=f"{blocks}: prompt_len {prompt_len} in blocks of {size} tokens",
        )
    return HashedPrefix(ids, size)
