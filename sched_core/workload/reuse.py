"""How much of its prompts a workload has said before: what a prefix cache can save."""

from collections.abc import Hashable, Iterator, Sequence

from sched_core.workload.sessions import Turn, turns
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix

Part = tuple[Hashable, int, int]
"""Tokens that others may share: what they are called, with all before, and from where to where."""


def repeated_share(requests: Sequence[RequestSpec]) -> float | None:
    """Share of prompt tokens in a prefix that an earlier request held too.

    What a prefix cache that forgets nothing saves: parts up to the first one that is new, and
    never the last token, which is computed to get the next. None where there are no prompt tokens.
    """
    places = turns(requests)
    seen: dict[Hashable, int] = {}
    repeated = 0
    for row in _in_order(requests, places):
        request, turn = requests[row], places.get(row)
        repeated += _repeated(request, turn, seen)
        for name, _, end in (*_prompt(request, turn), *_answer(request, turn)):
            seen[name] = max(end, seen.get(name, 0))
    total = sum(request.prompt_len for request in requests)
    return repeated / total if total else None


def _in_order(requests: Sequence[RequestSpec], places: dict[int, Turn]) -> list[int]:
    """Rows by arrival, no turn before the one that it waits for."""
    by_turn = sorted(range(len(requests)), key=lambda row: requests[row].turn)
    times: dict[int, float] = {}
    for row in by_turn:
        before = places[row].after if row in places else None
        times[row] = max(requests[row].arrival, 0 if before is None else times[before])
    return sorted(by_turn, key=lambda row: times[row])


def _repeated(request: RequestSpec, turn: Turn | None, seen: dict[Hashable, int]) -> int:
    repeated = 0
    for name, start, end in _prompt(request, turn):
        known = seen.get(name, 0)
        repeated += max(0, min(known, end) - start)
        if known < end:
            break
    return max(0, min(repeated, request.prompt_len - 1))


def _prompt(request: RequestSpec, turn: Turn | None) -> Iterator[Part]:
    """The prompt's parts, as `memory.kv_cache` names its blocks."""
    prefix, named = request.prefix, 0
    if isinstance(prefix, HashedPrefix):
        yield from _blocks(prefix, 0, request.prompt_len)
        return
    if isinstance(prefix, SharedPrefix):
        named = min(prefix.len, request.prompt_len)
        yield (type(prefix.group), prefix.group), 0, named
    if turn is not None:
        yield turn.stream, named, request.prompt_len


def _answer(request: RequestSpec, turn: Turn | None) -> Iterator[Part]:
    """What is in memory behind the prompt once it is answered; the last token is not."""
    if turn is None:
        return
    held = request.prompt_len + max(0, request.output_len - 1)
    prefix, known = request.prefix, turn.answer
    if not isinstance(prefix, HashedPrefix):
        yield turn.stream, request.prompt_len, held
    elif known is not None:
        first, within = divmod(request.prompt_len, known.block_size)
        if not within or prefix.ids[first] == known.ids[first]:  # else its begin has another name
            yield from _blocks(known, first, held)


def _blocks(prefix: HashedPrefix, first: int, held: int) -> Iterator[Part]:
    """Blocks from the `first` on, as far as the first `held` tokens fill them."""
    for index in range(first, len(prefix.ids)):
        tokens = min(prefix.block_size, held - index * prefix.block_size)
        if tokens > 0:
            yield prefix.ids[index], 0, tokens
