"""How much of a prompt runs in one step."""

import attrs
from attrs.validators import ge

from sched_core import RequestView, SchedulerView, hookimpl


@attrs.define(eq=False)
class Chunk:
    """Prompts in chunks of a fixed size.

    Rule: at most `size` prompt tokens of each request in a step, so that decodes beside them stay
    fast.
    Parameters: `size`, tokens.
    Source: Sarathi-Serve (Agrawal et al., OSDI 2024) caps the step instead, which here is
    `max_num_batched_tokens`; the cap per request is vLLM's `long_prefill_token_threshold`, without
    its exception for a request that is alone.
    Fails by: every chunk reads the weights and the earlier context again, so a small size raises
    TTFT. And a prompt holds blocks for its computed part only: where memory is short more prompts
    are let in than fit together, and they evict each other.
    """

    admission_moves = "event"

    size: int = attrs.field(default=512, validator=ge(1))

    @hookimpl
    def chunk_size(self, limit: int) -> int:
        return min(limit, self.size)


@attrs.define(eq=False)
class FillTile:
    """Chunks that end the step on a full matrix tile.

    Step time is a staircase: the linear layers of Llama-3-8B on an A100 take 13.2 ms for 128 tokens
    and 18.1 for 136, 34.6 for 512 and 38.8 for 520. Tokens beyond a multiple of the tile pay for a
    whole tile.
    Rule: where the step, with all granted before, would end inside a tile that this chunk opens,
    the chunk stops at that tile's start, and its last tokens ride in the next step. So a chunk that
    ends inside a tile already begun stays whole, and none is cut to 0. A chunk that the budget does
    not bind also stays whole if the request runs alone (a further step costs more than a tile) or
    if the head of the queue has room to fill the tile.
    Parameters: `tile`, tokens.
    Source: tile quantisation, Sarathi-Serve section 4.3; the times are vidur's profile.
    Fails by: the end of a prompt comes up to one step later, for one tile's time saved in this one.
    """

    tile: int = attrs.field(default=128, validator=ge(1))

    @hookimpl
    def chunk_size(self, view: SchedulerView, request: RequestView, limit: int) -> int:
        beyond = (view.granted_tokens + limit) % self.tile
        if beyond >= limit or (limit < view.budget_left and not _cut_pays(view, request)):
            return limit
        return limit - beyond


def _cut_pays(view: SchedulerView, request: RequestView) -> bool:
    """Is there a next step for others anyway, and nobody who could fill this one's last tile?"""
    if len(view.running) == request.is_running:
        return False
    follower = next((other for other in view.waiting if other is not request), None)
    if follower is None or view.seats_left <= (not request.is_running):
        return True
    return view.blocks_needed(request) + view.blocks_needed(follower) > view.free_blocks
