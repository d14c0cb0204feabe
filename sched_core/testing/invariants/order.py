"""D: who goes first, and who yields."""

from collections.abc import Iterator
from itertools import pairwise

from sched_core.request import Request
from sched_core.testing.invariants.observe import Observed, Progress
from sched_core.testing.invariants.registry import invariant


def age(request: Request) -> tuple[int, int]:
    """Sorts by arrival, then submission."""
    return request.arrival_ns, request.submitted_seq


@invariant("D1 the queue is served in order", "step")
def queue_is_served_in_order(seen: Observed) -> Iterator[str]:
    """Nobody joins before a waiting request with a better key, unless the policy says who joins."""
    if seen.uses("select_admissions", "chunk_size"):
        return
    for request in seen.waiting:
        if seen.after[request].by_passed:
            yield f"{request.id} waits while one behind it was admitted"


@invariant("D1 nobody younger runs", "step", fcfs=True)
def nobody_younger_runs(seen: Observed) -> Iterator[str]:
    """Everyone running arrived before everyone waiting."""
    if seen.running and seen.waiting:
        youngest, head = max(seen.running, key=age), min(seen.waiting, key=age)
        if age(youngest) > age(head):
            yield f"{youngest.id} runs while {head.id}, which arrived earlier, waits"


@invariant("D2 running is in order of arrival", "step", fcfs=True)
def running_in_order(seen: Observed) -> Iterator[str]:
    """Also after recomputed and swapped victims came back."""
    for elder, younger in pairwise(seen.running):
        if age(elder) > age(younger):
            yield f"{elder.id} runs before {younger.id}, which arrived earlier"


@invariant("D3 the last in order yields", "step")
def the_last_yields(seen: Observed) -> Iterator[str]:
    """The default victim's key is worse than that of everyone else who ran; and it yields to
    running requests only. (A key that moves is not the same any more after the step.)"""
    if seen.state.policy.moves != "static":
        return
    others = seen.ran
    for preemption in reversed(seen.yielded):
        victim = preemption.victim
        if preemption.chosen_by == "default":
            for other in others:
                if seen.before[other].key > seen.before[victim].key:
                    yield f"{victim.id} yielded, and {other.id} is behind it in order"
            gains = preemption.beneficiary
            if gains is None:
                yield f"{victim.id} yielded to nobody, by the engine's own rule"
            elif not seen.before.get(gains, Progress()).running:
                yield f"{victim.id} yielded to {gains.id}, which was waiting"
        others.append(victim)


@invariant("D5 by-passes are bounded", "step")
def by_passes_are_bounded(seen: Observed) -> Iterator[str]:
    """A component with a field `max_bypasses` keeps to it."""
    if seen.uses("chunk_size"):  # whoever is told to compute nothing lets others pass
        return
    parts = (part for _, part in seen.state.policy.components)
    bounds = [part.max_bypasses for part in parts if hasattr(part, "max_bypasses")]
    for request in seen.waiting:
        if bounds and seen.after[request].by_passed > min(bounds):
            yield f"{request.id} was passed {seen.after[request].by_passed} times"


@invariant("C4 nobody yields to a younger one", "step", fcfs=True)
def nobody_yields_to_a_younger_one(seen: Observed) -> Iterator[str]:
    """Who gains by a preemption is as old as the victim, or older."""
    for preemption in seen.yielded:
        gains = preemption.beneficiary
        if gains is not None and age(gains) > age(preemption.victim):
            yield f"{preemption.victim.id} yielded to {gains.id}"
