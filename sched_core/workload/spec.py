"""A row of a workload: what a client asks for."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, Literal

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

Cell = str | int | float | bool | None
"""The value of a further column."""


def _group(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not (isinstance(value, str) or type(value) is int):
        refuse(value, field.name, "a name or an integer")


@attrs.frozen(slots=True)
class SharedPrefix:
    """The first `len` prompt tokens equal those of every other request of the same `group`."""

    group: int | str = attrs.field(converter=plain, validator=_group)
    len: int = attrs.field(converter=plain, validator=TOKENS)


def _ids(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not (isinstance(value, tuple) and set(map(type, value)) <= {int}):
        refuse(value, field.name, "a tuple of integers")


def _plain_ids(ids: Any) -> Any:
    """numpy's integers become Python's; nearly all are, and a trace holds millions."""
    plain_already = not isinstance(ids, tuple) or set(map(type, ids)) <= {int}
    return ids if plain_already else tuple(map(plain, ids))


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


WEIGHTS = Numbers(1e-9, 1e9)
EVEN: Final = 1.0
"""The weight of all that are given none."""
FIRST: Final = 0


def _name(value: object, field: str, *, file: object) -> None:
    if not isinstance(value, str):
        refuse(value, field, "a text", file=file)


def _way_to_end(value: object, field: str, *, file: object) -> None:
    if value not in ("max_tokens", "stop"):
        refuse(value, field, "max_tokens or stop", file=file)


def _shares(value: object, field: str, *, file: object) -> None:
    if not isinstance(value, SharedPrefix | HashedPrefix):
        refuse(value, field, "a SharedPrefix or a HashedPrefix", file=file)


def _further(value: object, field: str, *, file: object) -> None:
    if not isinstance(value, Mapping):
        refuse(value, field, "further columns by name", file=file)
    for name, cell in value.items():
        if not isinstance(name, str) or name in FIELDS:
            refuse(name, field, "names that are no field of a request", file=file)
        if not isinstance(cell, Cell) or (isinstance(cell, float) and not isfinite(cell)):
            refuse(cell, name, "a text, a finite number, true, false or null", file=file)


def _told(about: str, check: Any, *, seen: bool = True) -> dict[str, Any]:
    return {"about": about, "check": check, "seen": seen}


@attrs.frozen(slots=True)
class RequestSpec:
    """One row of a workload. Lengths in tokens, times in seconds.

    A field is written here alone, with what there is to know of it: what it is `about`, the
    `check` that refuses what does not fit, and whether policies see it (`seen`; then `RequestView`
    names it too). Scenario files, own traces, views and the reference follow.
    """

    id: str = attrs.field(metadata=_told("a name of its own", _name))
    arrival: float = attrs.field(
        metadata=_told("when it is sent, in seconds from the start of the run", SECONDS.require)
    )
    prompt_len: int = attrs.field(metadata=_told("prompt tokens", TOKENS.require))
    output_len: int = attrs.field(
        metadata=_told(
            "tokens that the model will emit; no policy sees it", TOKENS.require, seen=False
        )
    )
    priority: int = attrs.field(
        default=0, metadata=_told("smaller is more urgent, as in vLLM", PRIORITIES.require)
    )
    tenant: str = attrs.field(default="default", metadata=_told("whose it is", _name))
    prefix: SharedPrefix | HashedPrefix | None = attrs.field(
        default=None, metadata=_told("what its prompt shares with others", _shares, seen=False)
    )
    abort: float | None = attrs.field(
        default=None,
        metadata=_told(
            "when the client gives up, in seconds from the start of the run",
            SECONDS.require,
            seen=False,
        ),
    )
    ttft_slo: float | None = attrs.field(
        default=None,
        metadata=_told("seconds in which its first token is to come", SECONDS.require),
    )
    tpot_slo: float | None = attrs.field(
        default=None,
        metadata=_told("seconds that a further token is to take, on average", SECONDS.require),
    )
    e2el_slo: float | None = attrs.field(
        default=None, metadata=_told("seconds in which its last token is to come", SECONDS.require)
    )
    deadline: float | None = attrs.field(
        default=None,
        metadata=_told(
            "when its last token is to be there, in seconds from the start of the run",
            SECONDS.require,
        ),
    )
    weight: float = attrs.field(
        default=EVEN, metadata=_told("how much it counts, to policies that weigh", WEIGHTS.require)
    )
    session: str | None = attrs.field(
        default=None, metadata=_told("the conversation that it is a turn of", _name)
    )
    turn: int = attrs.field(
        default=FIRST, metadata=_told("which turn of its session, from 0", TOKENS.require)
    )
    think_time: float | None = attrs.field(
        default=None,
        metadata=_told(
            "seconds from the end of the turn before to the sending of this one", SECONDS.require
        ),
    )
    ends_by: Literal["max_tokens", "stop"] = attrs.field(
        default="max_tokens",
        metadata=_told(
            "what ends it: `max_tokens`, which the server knows, or `stop`, a token of the model",
            _way_to_end,
            seen=False,
        ),
    )
    extra: Mapping[str, Cell] | None = attrs.field(
        default=None, hash=False, metadata=_told("further columns, as given", _further)
    )

    def __attrs_post_init__(self) -> None:
        # Nearly all are plain, and there may be a million: checking each would double the cost.
        # Integers or-ed stay below 2**31 where each of them does, and none is negative.
        try:
            bits = self.prompt_len | self.output_len | self.priority
            if (
                type(bits) is int
                and bits >> 31 == 0
                and 0.0 <= self.arrival <= MAX_SECONDS
                and type(self.id) is type(self.tenant) is str
                and self.abort is self.ttft_slo is self.tpot_slo is self.e2el_slo is None
                and self.deadline is self.think_time is None
                and self.session is None
                and self.extra is None
                and self.weight is EVEN
                and self.turn is FIRST
                and self.ends_by is MAX_TOKENS
                and (self.prefix is None or type(self.prefix) is SharedPrefix)
            ):
                return
        except TypeError:
            pass
        _check(self)

    @property
    def has_slo(self) -> bool:
        """Is there a time that it is to keep?"""
        return not (self.ttft_slo is self.tpot_slo is self.e2el_slo is self.deadline is None)


FIELDS: Final = attrs.fields_dict(RequestSpec)
MAX_TOKENS: Final = FIELDS["ends_by"].default
SEEN: Final = tuple(name for name, field in FIELDS.items() if field.metadata["seen"])
"""The fields that policies see, under the same names."""


def _check(spec: RequestSpec) -> None:
    """Raises InputError with the first field that does not fit; numpy's numbers become Python's."""
    for name in FIELDS:
        object.__setattr__(spec, name, plain(getattr(spec, name)))
    where = f"request {spec.id!r}"
    for name, field in FIELDS.items():
        value = getattr(spec, name)
        if value is not None or field.default is not None:
            field.metadata["check"](value, name, file=where)
    if isinstance(spec.prefix, HashedPrefix):
        spec.prefix.refuse_misfit(spec.prompt_len, where)
    if spec.turn and spec.session is None:
        refuse(spec.turn, "turn", "a session that it is a turn of", file=where)
