"""The example of every hook works as it stands in its documentation."""

import inspect
import textwrap
from typing import Any

import pytest
from harness import serve

import sched_core
from sched_core.policy.hookspecs import Decisions
from sched_core.policy.stack import Policy

DECISIONS = [name for name in vars(Decisions) if name[0] != "_"]
SQUEEZED = "R0(32,32,@0,1) R1(32,32,@0,2) R2(32,32,@1,3)"
"""Nothing of this fits together to the end, so that every question comes up."""


def component(hook: str) -> Any:
    """A component with the example of `hook` for a method."""
    doc = inspect.cleandoc(getattr(Decisions, hook).__doc__ or "")
    example = textwrap.indent(textwrap.dedent(doc.partition("\n\n    ")[2]), "    ")
    names: dict[str, Any] = {name: getattr(sched_core, name) for name in sched_core.__all__}
    exec(f"class Example:\n{textwrap.indent(inspect.cleandoc(example), '    ')}", names)
    return names["Example"]()


@pytest.mark.parametrize("hook", DECISIONS)
def test_example(hook: str) -> None:
    stack = [("example", component(hook))]
    if hook == "predict_output":
        stack.append(("reader", PredictedFirst()))
    policy = Policy(stack)
    rejects = hook == "reject_request"  # one after the other the third waits for more than 60 s
    seats = 1 if rejects else 256
    served = serve(SQUEEZED, policy, num_gpu_blocks=6, num_cpu_blocks=6, max_num_seqs=seats)
    assert policy.answered()[hook] == ["example"]
    states = [row["state"] for row in served.rows.values()]
    assert states == ["finished", "finished", "rejected" if rejects else "finished"]


class PredictedFirst:
    """Asks for predictions, which nobody else does."""

    @sched_core.hookimpl
    def effective_priority(self, request: sched_core.RequestView) -> float:
        assert request.predicted_output is not None
        return request.predicted_output
