"""What a request carries: fields, each written once, and further columns."""

import pickle
from typing import Any

import attrs
import pytest
from harness import serve

from sched_core import (
    InputError,
    Policy,
    RequestSpec,
    RequestView,
    UnknownName,
    further_columns,
    hookimpl,
)
from sched_core.experiment.scenario_text import listed_request
from sched_core.scheduler.views import EngineRequestView
from sched_core.workload.listed import parse
from sched_core.workload.spec import SEEN

FULL = {
    "id": "a",
    "arrival": 1.5,
    "prompt_len": 3,
    "output_len": 4,
    "priority": 2,
    "tenant": "gold",
    "abort": 9.0,
    "ttft_slo": 0.5,
    "tpot_slo": 0.05,
    "e2el_slo": 10.0,
    "deadline": 30.0,
    "weight": 2.0,
    "session": "s",
    "turn": 1,
    "think_time": 3.0,
    "ends_by": "stop",
    "user_score": 7,
    "region": "eu",
}


def test_a_listed_request_comes_back_as_it_was_given() -> None:
    (spec,) = parse([FULL], "requests")
    assert listed_request(spec) == FULL
    assert spec.extra == {"user_score": 7, "region": "eu"}
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert hash(spec) == hash(attrs.evolve(spec))


def test_what_policies_see_is_named_in_their_contract() -> None:
    for name in SEEN:
        assert name in vars(RequestView), f"RequestView lacks {name}"
        assert hasattr(EngineRequestView, name), f"EngineRequestView lacks {name}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ttft_slo": -1}, "request 'a', field 'ttft_slo': out of range (found -1)"),
        ({"tpot_slo": float("nan")}, "field 'tpot_slo'"),
        ({"weight": 0.0}, "field 'weight': out of range (found 0.0)"),
        ({"weight": True}, "field 'weight'"),
        ({"ends_by": "eos"}, "field 'ends_by': does not fit (found 'eos'); expected max_tokens or"),
        ({"turn": 1}, "field 'turn': does not fit (found 1); expected a session"),
        ({"session": 3}, "field 'session': does not fit (found 3); expected a text"),
        ({"extra": {"x": [1]}}, "field 'x': does not fit (found [1])"),
        ({"extra": {"x": float("inf")}}, "field 'x'"),
        ({"extra": {"tenant": "b"}}, "found 'tenant'); expected names that are no field"),
        ({"extra": {3: "b"}}, "found 3); expected names that are no field"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        RequestSpec(**{"id": "a", "arrival": 0, "prompt_len": 1, "output_len": 1} | change)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("prioritty", "priority"), ("prompt_length", "prompt_len"), ("TTFT_SLO", "ttft_slo")],
)
def test_a_slip_is_no_further_column(slip: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=rf"here: unknown column '{slip}'.*{meant}"):
        further_columns({slip: 1}, ["priority", "prompt_len", "ttft_slo"], where="here")


def test_further_columns_are_plain() -> None:
    row = {"arrival": 1, "tags": ["x"], "user": {"id": 3}, "note": None}
    kept = {"tags": '["x"]', "user": '{"id": 3}', "note": None}
    assert further_columns(row, ["arrival"], where="here") == kept
    assert further_columns({"arrival": 1}, ["arrival"], where="here") is None


def test_policies_see_further_columns_and_cannot_change_them() -> None:
    seen: list[object] = []

    @attrs.define(eq=False)
    class Reads:
        @hookimpl
        def request_arrived(self, request: RequestView) -> None:
            seen.extend((request.extra["region"], request.ttft_slo, request.weight))
            with pytest.raises(TypeError):
                request.extra["region"] = "us"  # type: ignore[index] # that is the point

    (spec,) = parse([FULL], "requests")
    serve([spec], Policy([("reads", Reads())]))
    assert seen == ["eu", 0.5, 2.0]
