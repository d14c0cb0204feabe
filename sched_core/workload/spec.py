"""A row of a workload: what a client asks for."""

from typing import Any

import attrs

from sched_core.errors import InputError
from sched_core.limits import (
    COUNTS,
    MAX_SECONDS,
    PRIORITIES,
    SECONDS,
    TOKENS,
    Numbers,
    plain,
    refuse,
)


def _group(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not (isinstance(value, str) or type(value) is int):
        refuse(value, field.name, "a name or an integer")


@attrs.frozen(slots=True)
class SharedPrefix:
    """The first `len` prompt tokens equal those of every other request of the same `group`."""

    group: int | str = attrs.field(converter=plain, validator=_group)
    len: int = attrs.field(converter=plain, validator=TOKENS)


def _ids(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not (isinstance(value, tuple) and all(type(item) is int for item in value)):
        refuse(value, field.name, "a tuple of integers")


def _plain_ids(ids: Any) -> Any:
    """Nearly all are plain, and a trace holds millions."""
    if isinstance(ids, tuple) and not all(type(item) is int for item in ids):
        return tuple(map(plain, ids))
    return ids


@attrs.frozen(slots=True)
class HashedPrefix:
    """Mooncake's description of a prompt: one id per block of `block_size` tokens.

    Ids are chained: the same id means the same block after the same prefix.
    """

    ids: tuple[int, ...] = attrs.field(converter=_plain_ids, validator=_ids)
    block_size: int = attrs.field(converter=plain, validator=COUNTS)

    def refuse_misfit(self, prompt_len: int, where: str) -> None:
        """Raises InputError unless there is one id per block of so many tokens."""
        blocks = -(-prompt_len // self.block_size)
        if len(self.ids) != blocks:
            raise InputError(
                f"{len(self.ids)} ids",
                file=where,
                field="hash_ids",
                expected=f"{blocks}: prompt_len {prompt_len} in blocks of {self.block_size} tokens",
            )


@attrs.frozen(slots=True)
class RequestSpec:
    """One row of a workload. Lengths in tokens, `arrival` in seconds from the start of the run.

    `output_len` is what the simulated model will produce; no policy sees it. `priority` is
    vLLM's: smaller is served first.
    """

    id: str
    arrival: float
    prompt_len: int
    output_len: int
    priority: int = 0
    tenant: str = "default"
    prefix: SharedPrefix | HashedPrefix | None = None
    abort: float | None = None
    """When the client gives up, in seconds from the start of the run; None is never."""

    def __attrs_post_init__(self) -> None:
        # Nearly all are plain, and there may be a million: validators would double the cost.
        # Integers or-ed stay below 2**31 where each of them does, and none is negative.
        try:
            bits = self.prompt_len | self.output_len | self.priority
            if (
                type(bits) is int
                and bits >> 31 == 0
                and 0.0 <= self.arrival <= MAX_SECONDS
                and type(self.id) is type(self.tenant) is str
                and self.abort is None
                and (self.prefix is None or type(self.prefix) is SharedPrefix)
            ):
                return
        except TypeError:
            pass
        _check(self)


_RANGES: dict[str, Numbers] = {
    "arrival": SECONDS,
    "prompt_len": TOKENS,
    "output_len": TOKENS,
    "priority": PRIORITIES,
}


def _check(spec: RequestSpec) -> None:
    """Raises InputError with the first field that does not fit; numpy's numbers become Python's."""
    for name in (*_RANGES, "abort"):
        object.__setattr__(spec, name, plain(getattr(spec, name)))
    where = f"request {spec.id!r}"
    for name in ("id", "tenant"):
        if not isinstance(getattr(spec, name), str):
            refuse(getattr(spec, name), name, "a text", file=where)
    for name, limit in _RANGES.items():
        limit.require(getattr(spec, name), name, file=where)
    if spec.abort is not None:
        SECONDS.require(spec.abort, "abort", file=where)
    if isinstance(spec.prefix, HashedPrefix):
        spec.prefix.refuse_misfit(spec.prompt_len, where)
    elif not isinstance(spec.prefix, SharedPrefix | None):
        refuse(spec.prefix, "prefix", "a SharedPrefix or a HashedPrefix", file=where)
