"""The generators: their statistics, their determinism, what they refuse."""

import os
import subprocess
import sys
from math import inf

import numpy as np
import numpy.typing as npt
import pytest
from sched_plugins.workloads.synthetic.arrivals import ramp
from sched_plugins.workloads.synthetic.generators import Gamma, Poisson
from scipy import stats

from sched_core import InputError, SharedPrefix, UnknownName, Workload

from ..conftest import Make

N = 20_000


def arrivals(workload: Workload) -> npt.NDArray[np.float64]:
    return np.array([request.arrival for request in workload.requests])


def gaps(workload: Workload) -> npt.NDArray[np.float64]:
    return np.diff(arrivals(workload), prepend=0.0)


def cv(values: npt.NDArray[np.float64]) -> float:
    return float(values.std() / values.mean())


def test_poisson_gaps_are_exponential_and_the_last_arrival_is_not_pinned(make: Make) -> None:
    drawn = gaps(make(f"poisson:request_rate=8:n={N}"))
    assert drawn.mean() == pytest.approx(1 / 8, rel=0.02)
    assert stats.kstest(drawn, stats.expon(scale=1 / 8).cdf).pvalue > 1e-3
    lasts = {make("poisson:n=50", seed).requests[-1].arrival for seed in range(5)}
    assert len(lasts) == 5  # vLLM's client would send the last at n / rate under every seed


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [("burstiness=0.25", 2.0), ("burstiness=4", 0.5), ("cv=3", 3.0), ("cv=0.5", 0.5)],
)
def test_gamma_has_the_rate_and_the_cv_it_is_asked_for(
    make: Make, parameter: str, expected: float
) -> None:
    drawn = gaps(make(f"gamma:request_rate=8:n=100000:{parameter}"))
    assert drawn.mean() == pytest.approx(1 / 8, rel=0.03)
    assert cv(drawn) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    "spec", ["gamma:burstiness=inf", "gamma:cv=0", "gamma:cv=1e-200", "constant"]
)
def test_endless_burstiness_and_no_variation_are_constant(make: Make, spec: str) -> None:
    assert arrivals(make(f"{spec}:request_rate=4:n=4")).tolist() == [0.25, 0.5, 0.75, 1.0]


def test_shape_one_is_poisson_to_the_bit(make: Make) -> None:
    poisson = make("poisson:n=200").requests
    assert make("gamma:n=200").requests == poisson
    assert make("gamma:n=200:cv=1").requests == poisson


@pytest.mark.parametrize("kind", ["poisson", "gamma", "constant", "closed"])
def test_an_infinite_rate_sends_all_at_once(make: Make, kind: str) -> None:
    workload = make(f"{kind}:request_rate=inf:n=5")
    assert arrivals(workload).tolist() == [0.0] * 5
    assert workload.description["request_rate"] == "inf"


def test_closed_loop_limits_concurrency_and_sends_at_zero_unless_told(make: Make) -> None:
    closed = make("closed:max_concurrency=3:n=10")
    assert (closed.max_concurrency, closed.requests[-1].arrival) == (3, 0.0)
    paced = make("closed:max_concurrency=3:n=10:request_rate=5")
    assert paced.requests == make("poisson:n=10").requests
    assert make("poisson:n=10").max_concurrency is None


def test_ramps_go_over_the_request_index_as_in_vllm() -> None:
    assert ramp("linear", 2, 10, 5).tolist() == [2, 4, 6, 8, 10]
    assert ramp("exponential", 1, 16, 5).tolist() == [1, 2, 4, 8, 16]
    assert ramp("linear", 2, 10, 1).tolist() == [2]


def test_a_ramp_sets_each_gap(make: Make) -> None:
    ends = "ramp_up_start_rps=1:ramp_up_end_rps=4"
    workload = make(f"constant:n=3:ramp_up_strategy=exponential:{ends}")
    assert arrivals(workload).tolist() == [1.0, 1.5, 1.75]


def test_the_bare_default_is_usable_as_it_stands(make: Make) -> None:
    workload = make("poisson")
    requests = workload.requests
    assert [request.id for request in requests] == [f"r{index}" for index in range(1000)]
    assert requests[0].arrival > 0
    assert all(50 <= request.prompt_len <= 3000 for request in requests)
    assert all(50 <= request.output_len <= 1000 for request in requests)
    assert {request.tenant for request in requests} == {"a", "b", "c"}
    assert {request.priority for request in requests} == {0, 1, 2}
    assert workload.dropped == {}
    assert workload.description["kind"] == "poisson"
    assert workload.description["request_rate"] == 5.0


def test_arrivals_are_whole_nanoseconds_in_order(make: Make) -> None:
    times = arrivals(make("gamma:cv=2:n=2000"))
    assert (np.diff(times) >= 0).all()
    assert all(round(time * 1e9) / 1e9 == time for time in times.tolist())


def test_lengths_do_not_move_when_the_rate_does(make: Make) -> None:
    slow, fast = make("poisson:request_rate=2").requests, make("gamma:cv=3").requests
    assert [(r.prompt_len, r.output_len, r.tenant, r.priority) for r in slow] == [
        (r.prompt_len, r.output_len, r.tenant, r.priority) for r in fast
    ]
    doubled = arrivals(make("poisson:request_rate=4"))
    np.testing.assert_allclose(doubled * 2, [r.arrival for r in slow], atol=3e-9)


def test_streams_are_not_copies_of_each_other(make: Make) -> None:
    requests = make("poisson:n=5000:prompt_len=1..1000:output_len=1..1000").requests
    pairs = np.array([(r.prompt_len, r.output_len, r.priority) for r in requests])
    correlation = np.corrcoef(pairs, rowvar=False)[np.triu_indices(3, 1)]
    assert (abs(correlation) < 0.05).all()


def test_seeds_matter(make: Make) -> None:
    assert make("poisson", 1).requests == make("poisson", 1).requests
    assert make("poisson", 1).requests != make("poisson", 2).requests


def test_prefixes_come_before_the_prompts_own_tokens(make: Make) -> None:
    requests = make("poisson:n=2000:prompt_len=100:num_prefixes=4:prefix_len=64").requests
    assert {request.prompt_len for request in requests} == {164}
    assert {request.prefix for request in requests} == {SharedPrefix(g, 64) for g in range(4)}
    plain = make("poisson:n=2000").requests
    assert {request.prefix for request in plain} == {None}


def test_the_same_bytes_in_any_process() -> None:
    program = (
        "from hashlib import sha256; from sched_core.catalogue.specs import build; "
        "spec = 'gamma:cv=2:n=500:prompt_len=lognormal,600,0.8:output_len=zipf,1,1..900'; "
        "print(sha256(repr(build('workloads', spec).build(7)).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    "spec",
    [
        "gamma:burstiness=2:cv=1",
        "gamma:burstiness=0",
        "gamma:burstiness=1e-320",
        "gamma:cv=-1",
        "gamma:cv=1e200",
        "poisson:n=0",
        "poisson:n=1.5",
        "poisson:request_rate=0",
        "poisson:request_rate=1e-300",
        "poisson:num_prefixes=1:prefix_len=1000000000000000000000000",
        "poisson:request_rate=nan",
        "poisson:prompt_len=0",
        "poisson:tenants=",
        "poisson:priorities=high",
        "poisson:num_prefixes=4",
        "poisson:prefix_len=64",
        "poisson:num_prefixes=-1:prefix_len=64",
        "closed:max_concurrency=0",
        "poisson:ramp_up_strategy=linear",
        "poisson:ramp_up_start_rps=1:ramp_up_end_rps=2",
        "poisson:ramp_up_strategy=linear:ramp_up_start_rps=0:ramp_up_end_rps=2",
        "poisson:ramp_up_strategy=cubic:ramp_up_start_rps=1:ramp_up_end_rps=2",
        "poisson:request_rate=5:ramp_up_strategy=linear:ramp_up_start_rps=1:ramp_up_end_rps=2",
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_drawn(make: Make, spec: str) -> None:
    with pytest.raises(InputError, match=r"^workload '\w+': .*(expected|must be)"):
        make(spec)


def test_a_slip_in_a_parameter_name_is_answered_with_the_right_one(make: Make) -> None:
    with pytest.raises(UnknownName, match="did you mean 'request_rate'"):
        make("poisson:reqest_rate=5")


def test_a_seed_below_zero_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match="seed"):
        make("poisson", -1)


def test_plain_python_works_without_spec_strings() -> None:
    assert Poisson(n=3, prompt_len=512).build(0).requests[0].prompt_len == 512  # type: ignore[arg-type]
    assert Gamma(burstiness=inf, request_rate=2.0, n=2).build(0).requests[-1].arrival == 1.0


def test_a_hundred_thousand_requests_keep_their_mean(make: Make) -> None:
    requests = make("poisson:n=100000:prompt_len=50..2000").requests
    assert np.mean([r.prompt_len for r in requests]) == pytest.approx(1025, rel=0.01)
    shares = np.array([[r.tenant == name for name in "abc"] for r in requests]).mean(axis=0)
    np.testing.assert_allclose(shares, [0.6, 0.3, 0.1], atol=0.01)
