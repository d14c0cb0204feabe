"""Parts that many policies need. Most of them are tested with the policies that use them."""

import attrs
import pytest
from harness import serve

from sched_core import InputError, RequestView, SchedulerView, hookimpl, toolbox
from sched_core.policy.stack import Policy


def test_weights() -> None:
    assert toolbox.parse_weights("") == {}
    assert toolbox.parse_weights("gold@4/free@0.5") == {"gold": 4.0, "free": 0.5}
    assert toolbox.parse_weights("a@b@2") == {"a@b": 2.0}


@pytest.mark.parametrize(
    "text", ["gold", "gold@", "@2", "gold@0", "gold@-1", "gold@nan", "gold@inf", "a@1/a@2"]
)
def test_bad_weights_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"field 'weights'.*tenant@number above 0"):
        toolbox.parse_weights(text)


@attrs.define(eq=False)
class Witness(toolbox.OwnHistory):
    """Notes what the toolbox says of those that run and wait."""

    expendable: list[list[str]] = attrs.field(init=False, factory=list)
    remaining_of: dict[str, list[float]] = attrs.field(init=False, factory=dict)

    @hookimpl
    def step_budget(self, view: SchedulerView) -> None:
        if view.running:
            self.expendable.append([request.id for request in toolbox.expendable(view)])

    @hookimpl
    def tokens_computed(self, request: RequestView) -> None:
        self.remaining_of.setdefault(request.id, []).append(self.remaining(request))


def test_the_oldest_is_not_expendable_unless_it_is_alone() -> None:
    witness = Witness()
    serve("R0(4,4,@0) R1(4,2,@0) R2(4,2,@0)", Policy([("it", witness)]))
    assert witness.expendable == [["R2", "R1"], ["R0"], ["R0"]]


def test_what_remains_is_the_mean_of_those_that_finished_less_what_was_emitted() -> None:
    witness = Witness(prior=9.0)
    serve("R0(4,3,@0) R1(4,5,@3)", Policy([("it", witness)]))
    assert witness.remaining_of == {"R0": [8.0, 7.0, 6.0], "R1": [2.0, 1.0, 1.0, 1.0, 1.0]}
