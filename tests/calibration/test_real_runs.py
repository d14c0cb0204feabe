"""Real runs beside simulated ones, with a model of constant time in the place of the real one."""

from collections.abc import Sequence

import attrs
import pytest

from hwmodels.constant import Constant
from sched_core import InputError, UsageError
from sched_core.calibration.real_runs import LOADS, Ranking, validate
from sched_core.config import EngineConfig
from sched_core.execution.step_record import Watcher
from sched_core.experiment.cell import Cell
from sched_core.experiment.prepare import Prepared
from sched_core.experiment.scenario import Scenario
from sched_core.reports.report import Result

SCENARIO = Scenario(
    hardware="constant:step=0.02",
    model=None,
    workload="poisson:n=40:prompt_len=16..64:output_len=4..16",
    config=EngineConfig(num_gpu_blocks=400, max_num_seqs=4),
)


def test_equal_hardware_shows_no_error() -> None:
    found = validate(SCENARIO, SCENARIO.hardware, ["fcfs", "sjf+predict-oracle"])
    assert len(found.figures) == 2 * 2 * 4
    assert {row.error for row in found.figures} == {0.0}
    assert {(row.error, row.bias, row.total) for row in found.steps} == {(0.0, 0.0, 0.0)}
    assert not any(ranking.agrees is False for ranking in found.rankings)


def test_errors_have_the_sign_of_the_simulation() -> None:
    """Steps priced a tenth too slow: latencies above, throughput below what is measured."""
    found = validate(SCENARIO, "constant:step=0.022", ["fcfs"])
    for row in found.steps:
        assert (row.error, row.bias, row.total) == pytest.approx((0.1, 0.1, 0.1))
        assert row.steps > 40
    errors = {(row.load, row.figure): row.error for row in found.figures}
    assert errors["light", "tpot"] == pytest.approx(0.1)
    assert all(errors[load, "e2el"] > 0.05 for load in LOADS)
    assert errors["overload", "output_throughput"] < 0


def test_the_rate_follows_from_what_can_be_served() -> None:
    found = validate(SCENARIO, SCENARIO.hardware, ["fcfs"])
    by_load = {row.load: row.measured for row in found.figures if row.figure == "ttft"}
    assert by_load["overload"] > 5 * by_load["light"]
    assert found.saturation == pytest.approx(4 / (10 * 0.02), rel=0.3)  # 4 seats, some 10 steps


def test_a_workload_without_arrivals_is_refused() -> None:
    at_once = attrs.evolve(SCENARIO, workload="poisson:n=5:request_rate=inf")
    with pytest.raises(InputError, match="arrive at once"):
        validate(at_once, SCENARIO.hardware, ["fcfs"])


@pytest.mark.parametrize("policies", [["fcfs", "fcfs"], ["fcfs", "no-such"], []])
def test_what_cannot_be_compared_is_refused_before_anything_runs(
    policies: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Prepared, "execute", None)
    with pytest.raises(UsageError, match=r"given twice|unknown|no policy"):
        validate(SCENARIO, SCENARIO.hardware, policies)


def test_rounds_are_taken_in_turns_and_their_median_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine that gets a tenth slower with every run."""
    ran: list[str] = []

    usual = Prepared.execute

    def slower(prepared: Prepared, cell: Cell, watchers: Sequence[Watcher] = ()) -> Result:
        if watchers:
            ran.append(cell.scenario.policy)
            step = 0.02 * (1 + len(ran) / 10)
            executor = Constant(step).executor(None, block_size=16)
            prepared = attrs.evolve(prepared, executor=executor)
        return usual(prepared, cell, watchers)

    monkeypatch.setattr(Prepared, "execute", slower)
    found = validate(SCENARIO, SCENARIO.hardware, ["fcfs", "sjf+predict-oracle"], rounds=3)
    assert ran == ["fcfs", "sjf+predict-oracle"] * 6
    (row,) = (
        row
        for row in found.figures
        if (row.load, row.policy, row.figure) == ("light", "fcfs", "tpot")
    )
    assert row.lowest == pytest.approx(0.02 * 1.1)
    assert row.measured == pytest.approx(0.02 * 1.3)
    assert row.highest == pytest.approx(0.02 * 1.5)
    assert row.error == pytest.approx(0.02 / row.measured - 1)
    (steps,) = (row for row in found.steps if (row.load, row.policy) == ("light", "fcfs"))
    assert steps.total == pytest.approx(1 / 1.3 - 1, abs=0.01)


@pytest.mark.parametrize(
    ("measured", "simulated", "agrees"),
    [
        (([1.0], [2.0], [3.0]), (5.0, 6.0, 7.0), True),
        (([1.0], [2.0], [3.0]), (6.0, 5.0, 7.0), False),
        (([1.0], [1.04], [3.0]), (6.0, 5.0, 7.0), True),  # a tie
        (([1.0], [2.0], [3.0]), (5.0, 5.0, 7.0), False),  # a difference that is not seen
        (([1.0, 1.0], [2.0, 0.9], [3.0, 3.0]), (6.0, 5.0, 7.0), True),  # not in every round
        (([1.0, 1.9], [2.0, 2.1], [3.0, 3.0]), (6.0, 5.0, 7.0), False),  # slower rounds for all
        (([1.0], [1.04], [1.02]), (5.0, 6.0, 7.0), None),  # ties only
        (([1.0],), (5.0,), None),
        ((), (), None),
    ],
)
def test_rankings_agree_but_for_ties(
    measured: tuple[list[float], ...], simulated: tuple[float, ...], agrees: bool | None
) -> None:
    ranking = Ranking(
        "light",
        "ttft",
        dict(zip("abc", measured, strict=False)),
        dict(zip("abc", simulated, strict=False)),
    )
    assert ranking.agrees is agrees
