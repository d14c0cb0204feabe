"""An instance by itself: steps begin and end when it is told, and nothing is seen before its time.

One step a second.
"""

from math import inf

import pytest
from harness import config_of, requests

from hwmodels.constant import Constant
from sched_core.engine.instance import Instance
from sched_core.limits import NANOSECONDS
from sched_core.policy.stack import Policy
from sched_core.request import Request, RequestState


def instance_with(text: str, **settings: int) -> tuple[Instance, list[Request]]:
    """An instance that all of the requests have reached."""
    config = config_of(settings)
    executor = Constant(step=1.0).executor(None, block_size=config.block_size)
    instance = Instance(config, Policy.from_spec("fcfs"), executor)
    listed = [Request(spec, seq, 0) for seq, spec in enumerate(requests(text))]
    for request in listed:
        instance.add(request, None)
    return instance, listed


def seconds(count: float) -> int:
    return round(count * NANOSECONDS)


def test_what_a_step_brings_is_not_seen_before_it_ends() -> None:
    instance, (one,) = instance_with("A(4,1,@0)")
    state = instance.state
    assert instance.begin(0, inf) == seconds(1)
    assert (one.state, one.computed, one.emitted) == (RequestState.RUNNING, 0, 0)
    assert (one.first_token_ns, state.now_ns, state.step) == (None, 0, 0)
    assert instance.recorder.ids == []
    assert instance.end() == [one]
    assert (one.state, one.computed, one.emitted) == (RequestState.FINISHED, 4, 1)
    assert (one.first_token_ns, state.now_ns, state.step) == (seconds(1), seconds(1), 1)
    assert instance.recorder.ids == ["A"]


def test_nothing_to_do_is_no_step() -> None:
    instance, _ = instance_with("")
    assert instance.begin(seconds(3), inf) is None
    assert (instance.state.step, instance.recorder.steps) == (0, 0)


@pytest.mark.parametrize(
    ("until", "steps"), [(1.5, 1), (2.0, 1), (2.5, 2), (4.0, 3), (4.5, 4), (inf, 9)]
)
def test_the_last_step_of_a_leap_is_in_flight(until: float, steps: int) -> None:
    """It is the one that ends at `until` or later, or with a member's last token."""
    instance, (one,) = instance_with("A(4,10,@0)")
    instance.begin(0, inf)
    instance.end()
    state, begun = instance.state, seconds(1)

    end_ns = instance.begin(begun, until if until == inf else seconds(until))
    assert end_ns == begun + seconds(steps)
    assert (state.step, state.lockstep.tick) == (steps, steps - 1)
    assert (one.view.num_output_tokens, one.view.num_computed_tokens) == (steps, 4 + steps - 1)
    assert state.now_ns == end_ns - seconds(1)
    assert one.state is RequestState.RUNNING

    assert instance.end() == ([one] if steps == 9 else [])
    assert (state.step, state.lockstep.tick) == (steps + 1, steps)
    assert (one.view.num_output_tokens, one.view.num_computed_tokens) == (steps + 1, 4 + steps)
    assert state.now_ns == end_ns


def test_a_leap_ends_where_blocks_are_short() -> None:
    """The next step is then taken by itself, as somebody has to yield."""
    instance, (one, two) = instance_with("A(4,9,@0) B(4,9,@0)", block_size=4, num_gpu_blocks=5)
    instance.begin(0, inf)
    instance.end()
    # both take their second block at once, and one of them a third after four tokens more
    assert instance.begin(seconds(1), inf) == seconds(5)
    instance.end()
    assert instance.begin(seconds(5), inf) == seconds(6)
    assert (one.state, two.state) == (RequestState.RUNNING, RequestState.WAITING)
