"""The requests that a scenario file lists one by one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
from attrs.validators import optional

from sched_core.catalogue.configure import configure
from sched_core.errors import InputError
from sched_core.limits import SECONDS
from sched_core.workload.further import further_columns
from sched_core.workload.spec import FIELDS, HashedPrefix, RequestSpec, SharedPrefix


@attrs.frozen(kw_only=True)
class _Forms:
    """Keys of a listed request that a RequestSpec has not, or requires."""

    arrival: float | None = None
    arrival_step: float | None = attrs.field(default=None, validator=optional(SECONDS))
    shared_prefix: dict[str, Any] | None = None
    hash_ids: tuple[int, ...] | None = None
    hash_block_size: int | None = None


_AS_THEY_ARE = [name for name in FIELDS if name not in ("arrival", "prefix", "extra")]
ListedKeys = attrs.make_class(
    "ListedKeys",
    {
        name: attrs.field(default=FIELDS[name].default, type=FIELDS[name].type)
        for name in _AS_THEY_ARE
    },
    bases=(_Forms,),
    frozen=True,
    kw_only=True,
)
LISTED = tuple(field.name for field in attrs.fields(ListedKeys))
"""The keys of one listed request."""


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
    extra = further_columns(row, LISTED, where=where)
    given = {name: value for name, value in row.items() if not (extra and name in extra)}
    keys = configure(ListedKeys, given, where=where)
    arrivals = [time for time in (keys.arrival, keys.arrival_step) if time is not None]
    if len(arrivals) != 1:
        raise InputError(
            "two arrivals" if arrivals else "no arrival",
            file=where,
            expected="arrival (seconds) or arrival_step",
        )
    values = {name: getattr(keys, name) for name in _AS_THEY_ARE}
    values |= {"arrival": arrivals[0], "prefix": _prefix(keys, where), "extra": extra}
    with _named(where):
        return RequestSpec(**values)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Say where it stands that the block refuses."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _prefix(keys: Any, where: str) -> SharedPrefix | HashedPrefix | None:
    if keys.hash_ids is not None and keys.shared_prefix is not None:
        raise InputError("two prefixes", file=where, expected="shared_prefix or hash_ids")
    if keys.hash_ids is not None:
        return _hashed(keys.hash_ids, keys.hash_block_size, where)
    return None if keys.shared_prefix is None else _shared(keys.shared_prefix, where)


def _shared(raw: dict[str, Any], where: str) -> SharedPrefix:
    where = f"{where}.shared_prefix"
    keys: _SharedKeys = configure(_SharedKeys, raw, where=where)
    with _named(where):
        return SharedPrefix(keys.group, keys.len)


def _hashed(ids: tuple[int, ...], size: int | None, where: str) -> HashedPrefix:
    if size is None:
        raise InputError(
            "hash_ids need their block size",
            file=where,
            field="hash_block_size",
            expected="tokens in one hashed block",
        )
    with _named(where):
        return HashedPrefix(ids, size)
