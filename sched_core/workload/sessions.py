"""Conversations: which request follows which, and which tokens they have in common.

A later turn is sent when the answer before has ended plus its `think_time`, and not before its own
`arrival`. Its prompt begins with the prompt and the answer before, where it is long enough for
both; a shorter one is taken for another text, as where a client cuts its history.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from sched_core.errors import InputError
from sched_core.workload.spec import HashedPrefix, RequestSpec


class Turn(NamedTuple):
    """A request's place in its session."""

    after: int | None
    """Row of the turn before."""
    stream: tuple[str, int]
    """Turns of one stream hold the same tokens at the same positions, answers included."""
    answer: HashedPrefix | None
    """What names the tokens of its answer, where the turn behind it has `hash_ids`."""


def turns(specs: Sequence[RequestSpec]) -> dict[int, Turn]:
    """Row -> its place, of all rows that belong to a session.

    Raises InputError where a session has one turn twice.
    """
    rows: dict[str, list[int]] = {}
    for row, spec in enumerate(specs):
        if spec.session is not None:
            rows.setdefault(spec.session, []).append(row)
    found: dict[int, Turn] = {}
    for name, members in rows.items():
        members.sort(key=lambda row: specs[row].turn)
        found |= _threaded(name, members, specs)
    return found


def _threaded(name: str, rows: list[int], specs: Sequence[RequestSpec]) -> dict[int, Turn]:
    found, before, stream = {}, None, 0
    for row in rows:
        if before is not None:
            _refuse_twice(specs[before], specs[row])
            stream += not _goes_on(specs[before], specs[row])
        found[row] = Turn(before, (name, stream), None)
        before = row
    for row, behind in pairwise(rows):
        if found[row].stream == found[behind].stream:
            prefix = specs[behind].prefix
            answer = prefix if isinstance(prefix, HashedPrefix) else None
            found[row] = found[row]._replace(answer=answer)
    return found


def _refuse_twice(one: RequestSpec, other: RequestSpec) -> None:
    if one.turn == other.turn:
        raise InputError(
            f"session {one.session!r} has it twice, as {one.id!r} and {other.id!r}",
            field="turn",
            value=one.turn,
            expected="turns of their own",
        )


def _goes_on(before: RequestSpec, behind: RequestSpec) -> bool:
    """Does the later prompt begin with the earlier one and its answer?"""
    if behind.prompt_len < before.prompt_len + before.output_len:
        return False
    one, other = before.prefix, behind.prefix
    if isinstance(one, HashedPrefix) and isinstance(other, HashedPrefix):
        whole = before.prompt_len // one.block_size
        return one.block_size == other.block_size and one.ids[:whole] == other.ids[:whole]
    return one == other
