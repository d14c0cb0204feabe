import attrs

from sched_core import RequestView, hookimpl


@attrs.define
class ShortestPrompt:
    """Shortest prompt first."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.prompt_len
