"""Shortest job first, by predicted output."""

import attrs

from sched_core import RequestView, hookimpl, toolbox


@attrs.define(eq=False)
class ShortestJobFirst(toolbox.OwnHistory):
    """Shortest predicted remaining output first.

    Rule: key = predicted output - tokens already emitted, at least 1, asked when the request
    enters the queue (SRPT's form: a preempted request counts what is left). The last in that
    order is the victim. The prediction is `predict_output`'s (`sjf+predict-noisy:sigma=0.4`);
    where no other component predicts, its own `predict-history` does, and before anything has
    finished everyone is predicted `prior` tokens, which is fcfs.
    Parameters: `prior`, tokens.
    Source: vLLM RFC 29406; SRPT minimises the mean wait of one server (Schrage 1968); with learned
    predictions "LTR" (Fu et al., NeurIPS 2024) and SSJF (Qiu et al., 2024).
    Fails by: starvation of long requests while short ones keep coming; a long request predicted
    short blocks the rest.
    """

    priority_moves = "static"
    starves = "requests predicted long, while shorter ones keep coming"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return self.remaining(request)
