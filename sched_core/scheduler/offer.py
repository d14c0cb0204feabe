"""What a request could be given in this step, and would a waiting one be admitted?"""

from collections.abc import Sequence
from typing import NamedTuple

from sched_core.request import WAITING_STATES, Request
from sched_core.scheduler.batching import is_prefill
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState


class Offer(NamedTuple):
    """What a waiting request would begin with."""

    start: int
    """First position to compute."""
    tokens: int
    """0 where a policy leaves it out of this step."""
    hits: Sequence[int]
    """Device blocks that it would share."""


def is_open(state: SchedulerState, builder: PlanBuilder) -> bool:
    """Is there a token left for anybody who waits, and a seat, or somebody who may yield one?"""
    if builder.budget_left <= 0 or not (state.seats_yield or has_seat(state)):
        return False
    return state.static_batch is None or state.static_batch.takes_in(state.running)


def has_seat(state: SchedulerState) -> bool:
    """Is there a seat left?"""
    return len(state.running) < state.seats


def offered(state: SchedulerState, builder: PlanBuilder, request: Request) -> Offer | None:
    """What a waiting request is offered, memory aside; None if it may not join in this step."""
    if request.preempted_step == state.step:
        return None
    kv = state.kv
    hits = kv.hits(request)
    start = kv.start_of(request, hits)
    if limit(state, builder, request, start) <= 0:
        return None
    if not state.policy.can_admit(state.view, request.view):
        return None
    return Offer(start, chunk(state, builder, request, start), hits)


def offered_less(state: SchedulerState, request: Request, offer: Offer) -> Offer:
    """The same offer after a preemption, if the victim was to compute one of the hits."""
    hits = state.kv.hits(request)
    return Offer(state.kv.start_of(request, hits), offer.tokens, hits)


def has_room(state: SchedulerState, request: Request, offer: Offer) -> bool:
    """Is there memory for it?"""
    kv = state.kv
    free, first = kv.free_blocks, kv.blocks_taken(offer.start + offer.tokens, offer.hits)
    if first > free:
        return False
    demanded = state.policy.reserve_blocks(state.view, request.view)
    if demanded is None:
        whole = state.config.scheduler_reserve_full_isl
        demanded = kv.blocks_taken(request.known, offer.hits) if whole else first
        demanded += state.watermark_blocks if state.running else 0
    return demanded <= free


def fits(state: SchedulerState, builder: PlanBuilder, request: Request) -> bool:
    """Would a waiting request be admitted now, without taking anyone's place?"""
    if request.state not in WAITING_STATES or not is_open(state, builder) or not has_seat(state):
        return False
    offer = offered(state, builder, request)
    return offer is not None and offer.tokens > 0 and has_room(state, request, offer)


def limit(state: SchedulerState, builder: PlanBuilder, request: Request, computed: int) -> int:
    """The most tokens that a request may compute now, from position `computed`.

    0 where chunking is off and the prompt does not fit the rest of the budget.
    """
    lack, left = request.prompt_len + request.emitted - computed, builder.budget_left
    config = state.config
    if not config.enable_chunked_prefill:
        return lack if lack <= left else 0
    threshold = config.long_prefill_token_threshold
    if threshold and len(state.running) + state.waiting.size > 1 and lack > threshold:
        lack = threshold
    return lack if lack < left else left


def chunk(state: SchedulerState, builder: PlanBuilder, request: Request, computed: int) -> int:
    """Tokens for this step; 0 if it cannot, or by its policy shall not, run now."""
    tokens = limit(state, builder, request, computed)
    if tokens > 0 and state.config.enable_chunked_prefill and is_prefill(request, computed):
        tokens = state.policy.chunk_size(state.view, request.view, tokens)
    return tokens
