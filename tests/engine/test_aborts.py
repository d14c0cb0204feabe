"""A client that gives up frees everything at once, whatever its request was doing."""

import attrs
import pytest
from harness import aborting, serve
from hypothesis import given
from hypothesis import strategies as st

from sched_core.errors import InputError
from sched_core.experiment.scenario import Scenario
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.stack import Policy
from sched_core.testing.random_policies import policies
from sched_core.testing.run import run_watched
from sched_core.testing.strategies import scenarios
from sched_core.workload.source import Workload


def test_while_it_decodes() -> None:
    served = serve(aborting("A(16,100,@0) B(16,4,@0)", A=10.0))
    row = served.rows["A"]
    assert (row["state"], row["reason"]) == ("aborted", "the client gave up")
    assert (row["output_tokens"], served.finish("A")) == (10, 10.0)
    assert served.engine.state.kv.free_blocks == 100


def test_while_it_prefills() -> None:
    served = serve(aborting("A(100,4,@0) B(16,4,@0)", A=1.5), max_num_batched_tokens=20)
    assert (served.rows["A"]["output_tokens"], served.finish("A")) == (0, 2.0)
    assert served.at(2.0)["scheduled"] == {"B": 16}


def test_while_it_waits() -> None:
    served = serve(aborting("A(96,20,@0) BIG(128,4,@1) S(16,1,@2)", BIG=5.0), num_gpu_blocks=10)
    assert (served.rows["BIG"]["first_scheduled_ns"], served.finish("BIG")) == (-1, 5.0)
    assert served.first_scheduled("S") == 5.0


def test_while_it_is_swapped_out() -> None:
    text = "R0(32,32,@0) R1(32,32,@0)"
    served = serve(aborting(text, R1=20.0), "fcfs+swap", num_gpu_blocks=6, num_cpu_blocks=3)
    assert served.at(17.0)["swapped_out"] == ["R1"]
    assert served.rows["R1"]["state"] == "aborted"
    assert served.rows["R1"]["preempted_ns"] == 3_000_000_000
    assert served.engine.state.kv.free_host_blocks == 3


def test_before_it_was_sent() -> None:
    specs = aborting("A(4,4,@0) B(4,4,@0)", B=1.0)
    served = serve(specs, max_concurrency=1)
    assert served.rows["B"]["state"] == "aborted"
    assert served.rows["B"]["arrival_ns"] == 4_000_000_000


def test_an_idle_engine_wakes_up_for_it() -> None:
    class Never:
        """A policy that admits nobody."""

        @hookimpl
        def can_admit(self) -> bool:
            return False

    served = serve(aborting("A(4,4,@0)", A=7.0), Policy([("never", Never())]))
    assert (served.lines, served.finish("A")) == ([], 7.0)


def test_a_broken_time_is_refused() -> None:
    with pytest.raises(InputError, match=r"'A', field 'abort'.*nan.*expected seconds"):
        serve(aborting("A(4,4,@0)", A=float("nan")))


@given(scenarios(), policies(), st.data())
def test_nothing_is_lost(scenario: Scenario, component: object, data: st.DataObject) -> None:
    times = st.one_of(st.none(), st.floats(0.0, 40.0))
    specs = scenario.workload.requests  # type: ignore[union-attr]
    given_up = [attrs.evolve(spec, abort=data.draw(times)) for spec in specs]
    scenario = attrs.evolve(scenario, workload=Workload(given_up))
    served = run_watched(scenario, Policy([("foolish", component)]))
    if served.error:
        raise served.error
