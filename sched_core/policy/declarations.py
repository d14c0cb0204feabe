"""What components say about themselves, as class attributes: what the engine need not ask."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from sched_core.errors import PluginLoadError
from sched_core.policy.binding import Hook

MOVES = ("static", "clock", "event", "time")
"""How keys of the queue move, the calmest first."""

KEPT = ("static", "clock")
"""Under these the order of two requests never changes, so each is asked once."""

ADMISSION_MOVES = ("event", "time")
"""When answers about a waiting request change: with an arrival, an admission, a preemption or an
end, or with memory that comes free; or at any time."""

ADMISSION_HOOKS = (
    "select_admissions",
    "can_admit",
    "reserve_blocks",
    "chunk_size",
    "select_victim",
    "reject_request",
)

YIELDS_TO = ("running", "anyone")
"""For whom a component's `select_victim` may name somebody: requests that run, or waiting ones
too."""

PREEMPTION_MOVES = ("event", "time")
"""When the answer of `select_preemptions` changes: likewise."""

EVERY_STEP = ("order_running", "step_budget")
"""Hooks that are asked in every step, so that none can be leapt over."""


@attrs.frozen
class Declarations:
    """What a whole stack declares."""

    oracles: frozenset[str]
    """Components that see the true output length (`oracle = True`)."""
    moves: str
    """`priority_moves` of what orders the queue."""
    may_leap: bool
    """Is nobody asked or told in every step? (`coarse = True`: told of many steps at once.)"""
    may_leap_past_waiting: bool
    """And does a request that cannot be admitted stay so while others only decode?"""
    yields_to_waiting: bool
    """May a running request lose its place for one that waits?"""
    starves: Mapping[str, str]
    """Component -> whom it may leave waiting for ever (`starves = "long requests"`)."""

    @classmethod
    def of(cls, components: list[tuple[str, object]], hooks: Mapping[str, Hook]) -> "Declarations":
        """Raises PluginLoadError for a declaration that says nothing known."""
        parts = dict(components)
        moves = _restless(parts, hooks, ["effective_priority"], "priority_moves", MOVES)
        admission = _restless(parts, hooks, ADMISSION_HOOKS, "admission_moves", ADMISSION_MOVES)
        yields_to = _restless(parts, hooks, ["select_victim"], "yields_to", YIELDS_TO)
        preemption = _restless(
            parts, hooks, ["select_preemptions"], "preemption_moves", PREEMPTION_MOVES
        )
        told = (parts[name] for name in hooks["tokens_computed"].components)
        leaps = (
            not any(hooks[name] for name in EVERY_STEP)
            and preemption == "event"
            and all(getattr(part, "coarse", False) for part in told)
        )
        return cls(
            frozenset(name for name, part in components if getattr(part, "oracle", False)),
            moves,
            leaps,
            leaps and moves in KEPT and admission == "event",
            yields_to == "anyone",
            dict(_starving(components)),
        )


def _starving(components: list[tuple[str, object]]) -> Iterator[tuple[str, str]]:
    for name, part in components:
        whom = getattr(part, "starves", None)
        if whom is not None and not (isinstance(whom, str) and whom.strip()):
            raise PluginLoadError(
                f"component {name!r} does not keep the contract: starves is {whom!r}; it must say "
                "whom, as in 'long requests, while short ones keep coming'"
            )
        if whom is not None:
            yield name, whom


def _restless(
    parts: Mapping[str, object],
    hooks: Mapping[str, Hook],
    names: Iterable[str],
    attribute: str,
    known: tuple[str, ...],
) -> str:
    """The most restless declaration of those that implement one of the hooks; the last of `known`
    where one says nothing."""
    asked = dict.fromkeys(part for name in names for part in hooks[name].components)
    said: dict[str, Any] = {name: getattr(parts[name], attribute, known[-1]) for name in asked}
    for name, moves in said.items():
        if moves not in known:
            raise PluginLoadError(
                f"component {name!r} does not keep the contract: {attribute} is {moves!r}; "
                f"it must be one of {known}"
            )
    return max(said.values(), key=known.index, default=known[0])
