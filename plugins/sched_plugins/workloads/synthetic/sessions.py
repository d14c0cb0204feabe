"""Conversations: turns that wait for the answer before, each with all that was said so far."""

from collections.abc import Iterator
from itertools import islice, repeat

import attrs

from sched_core import RequestSpec, Workload, limits
from sched_plugins.workloads.synthetic.generators import Synthetic
from sched_plugins.workloads.synthetic.lengths import MAX_LENGTH, parse_lengths
from sched_plugins.workloads.synthetic.streams import stream
from sched_plugins.workloads.validators import parsed_by


@attrs.frozen(kw_only=True)
class Sessions(Synthetic):
    """Conversations that begin at a constant mean rate (Poisson, 0.5 a second by default).

    A turn is sent when the answer before has ended and its user has thought about it; its prompt
    is the whole conversation so far and `prompt_len` tokens more. `n` counts conversations;
    tenant, priority and shared prefix belong to the whole of one.
    """

    kind = "sessions"
    default_rate = 0.5

    n: int = attrs.field(default=100, validator=limits.Integers(1, 1_000_000))
    """Number of conversations."""
    prompt_len: str = attrs.field(
        default="50..500", converter=str, validator=parsed_by(parse_lengths)
    )
    """What a user adds in each turn, in tokens."""
    turns: str = attrs.field(default="1..8", converter=str, validator=parsed_by(parse_lengths))
    """Turns of a conversation, written as a length."""
    think_time: float = attrs.field(default=10.0, validator=limits.Numbers(0, 1e6))
    """Mean seconds from an answer to the next question (exponential: a guess)."""
    max_context: int = attrs.field(default=8192, validator=limits.Integers(2, MAX_LENGTH))
    """A conversation ends before a turn whose prompt and answer would exceed it, in tokens."""

    def build(self, seed: int) -> Workload:
        """Conversations s0, s1, ... with the requests s0.0, s0.1, ..., drawn under `seed`."""
        counts = parse_lengths(self.turns).quantile(stream(seed, "turns").random(self.n)).tolist()
        said = self._said(seed, sum(counts))
        conversations = map(self._conversation, self._requests(seed), counts, repeat(said))
        return Workload(
            requests=[spec for conversation in conversations for spec in conversation],
            description=self._describe(seed),
        )

    def _said(self, seed: int, count: int) -> Iterator[tuple[int, int, float]]:
        """(tokens added, tokens answered, seconds thought) of each turn."""

        def lengths(name: str, text: str) -> list[int]:
            tokens = parse_lengths(text).quantile(stream(seed, name).random(count))
            return [int(length) for length in tokens]

        pauses = map(float, stream(seed, "think_time").exponential(self.think_time, count))
        asked, answered = lengths("asked", self.prompt_len), lengths("answered", self.output_len)
        return zip(asked, answered, pauses, strict=True)

    def _conversation(
        self, start: RequestSpec, turns: int, said: Iterator[tuple[int, int, float]]
    ) -> list[RequestSpec]:
        """Its turns; `start` says when it begins, and whose it is."""
        context, specs = self.prefix_len, []
        for turn, (asked, answered, pause) in enumerate(islice(said, turns)):
            prompt_len = context + asked
            context = prompt_len + answered
            if turn and context > self.max_context:
                continue  # nor do those behind it fit; what is drawn for them is used up
            specs.append(
                attrs.evolve(
                    start,
                    id=f"s{start.id[1:]}.{turn}",
                    prompt_len=prompt_len,
                    output_len=answered,
                    session=f"s{start.id[1:]}",
                    turn=turn,
                    think_time=pause if turn else None,
                )
            )
        return specs
