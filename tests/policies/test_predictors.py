"""Predictors: what they say, what they see, and what they keep."""

import subprocess
import sys
from collections.abc import Callable
from math import exp, log

import attrs
import numpy as np
import pytest
from harness import serve
from sched_plugins.policies.predictors import PredictHistory, PredictNoisy, PredictOracle

from sched_core import RequestSpec, RequestView, hookimpl
from sched_core.policy.stack import Policy


@attrs.define(eq=False)
class Listener:
    """Notes every request's prediction when it arrives."""

    heard: dict[str, float | None] = attrs.field(factory=dict)

    @hookimpl
    def request_arrived(self, request: RequestView) -> None:
        self.heard[request.id] = request.predicted_output


def predictions(component: object, specs: list[RequestSpec]) -> dict[str, float | None]:
    listener = Listener()
    serve(specs, Policy([("predictor", component), ("listener", listener)]))
    return listener.heard


def of(tenant: str, number: int, arrival: float, output: int, prompt: int = 4) -> RequestSpec:
    return RequestSpec(f"{tenant}{number}", arrival, prompt, output, tenant=tenant)


def test_history_is_the_tenant_s_mean_then_everyone_s_then_the_prior() -> None:
    specs = [
        of("a", 0, 0.0, 10),
        of("a", 1, 20.0, 20),
        of("b", 0, 20.0, 5),
        of("a", 2, 50.0, 1),
        of("b", 1, 50.0, 1),
        of("c", 0, 50.0, 1),
    ]
    assert predictions(PredictHistory(prior=77.0), specs) == {
        "a0": 77.0,
        "a1": 10.0,
        "b0": 10.0,
        "a2": 15.0,
        "b1": 5.0,
        "c0": 35 / 3,
    }


def test_history_leaves_out_who_was_never_served() -> None:
    specs = [of("a", 0, 0.0, 3, prompt=9999), of("a", 1, 1.0, 3), of("a", 2, 9.0, 1)]
    assert predictions(PredictHistory(prior=77.0), specs)["a1"] == 77.0
    assert predictions(PredictHistory(prior=77.0), specs)["a2"] == 3.0


def test_without_a_predictor_there_is_no_prediction() -> None:
    listener = Listener()
    serve("a(4,2,@0)", Policy([("listener", listener)]))
    assert listener.heard == {"a": None}


def test_the_oracle_tells_the_truth() -> None:
    assert predictions(PredictOracle(), [of("a", i, 0.0, i + 1) for i in range(5)]) == {
        f"a{i}": i + 1 for i in range(5)
    }


def test_noise_is_lognormal_around_the_truth() -> None:
    specs = [of("a", i, float(i), 4, prompt=1) for i in range(2000)]
    noise = [log(said / 4) for said in predictions(PredictNoisy(sigma=0.5), specs).values()]
    assert np.mean(noise) == pytest.approx(0.0, abs=0.04)
    assert np.std(noise) == pytest.approx(0.5, rel=0.05)


def test_noise_belongs_to_the_request_not_to_the_run() -> None:
    specs = [of("a", i, float(i), 8) for i in range(20)]
    said = predictions(PredictNoisy(), specs)
    assert predictions(PredictNoisy(), specs[::-1]) == said
    assert predictions(PredictNoisy(seed=1), specs) != said
    assert predictions(PredictNoisy(sigma=0.0), specs) == dict.fromkeys(said, 8.0)


def test_noise_is_the_same_in_every_process() -> None:
    told = """if True:
        from types import SimpleNamespace
        from sched_plugins.policies.predictors import PredictNoisy
        request = SimpleNamespace(id="r1")
        print(repr(PredictNoisy(seed=3).predict_output(request, lambda _: 100)))
    """
    answers = {
        subprocess.run(
            [sys.executable, "-c", told],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(answers) == 1
    assert 100 * exp(-3) < float(answers.pop()) < 100 * exp(3)


def test_nothing_is_kept_for_requests_that_ended() -> None:
    noisy = PredictNoisy()
    said = predictions(noisy, [of("a", 0, 0.0, 4), of("a", 1, 0.0, 4, prompt=9999)])
    assert len(said) == 2
    assert noisy._factor == {}


@attrs.define(eq=False)
class Curious:
    """Asks for the truth without declaring itself an oracle."""

    got: list[object] = attrs.field(factory=list)

    @hookimpl
    def predict_output(
        self, request: RequestView, true_output_len: Callable[[RequestView], int] | None
    ) -> None:
        self.got.append(true_output_len)


def test_only_oracles_see_the_truth() -> None:
    curious, listener = Curious(), Listener()
    stack = Policy([("curious", curious), ("oracle", PredictOracle()), ("listener", listener)])
    assert stack.oracle
    serve("a(4,7,@0)", stack)
    assert curious.got == [None]
    assert listener.heard == {"a": 7.0}
    assert not Policy([("curious", curious), ("history", PredictHistory())]).oracle
