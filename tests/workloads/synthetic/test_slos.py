"""SLOs that generators give, by priority or tenant."""

import pytest
from command_line import schedfw
from sched_plugins.workloads.synthetic.generators import Poisson

from sched_core import RequestSpec


def built(slo: str) -> list[RequestSpec]:
    return list(Poisson(n=200, slo=slo, tenants="gold,free").build(0).requests)


def test_each_class_gets_its_own_limit_and_the_others_everyones() -> None:
    for spec in built("ttft:0.5@0/2@1/9,tpot:0.05@gold"):
        assert spec.ttft_slo == {0: 0.5, 1: 2.0, 2: 9.0}[spec.priority]
        assert spec.tpot_slo == (0.05 if spec.tenant == "gold" else None)
        assert spec.e2el_slo is None


def test_the_smaller_of_priority_and_tenant_holds() -> None:
    for spec in built("ttft:3@0/1@gold"):
        gold, first = spec.tenant == "gold", spec.priority == 0
        assert spec.ttft_slo == (1.0 if gold else 3.0 if first else None)


def test_slos_change_nothing_else() -> None:
    plain = [(s.arrival, s.prompt_len, s.priority, s.tenant) for s in built("")]
    assert plain == [(s.arrival, s.prompt_len, s.priority, s.tenant) for s in built("e2el:1")]


@pytest.mark.parametrize(
    ("slo", "message"),
    [
        ("ttft:0.5@7", "slo ttft: unknown priority '7' (known: 0, 1, 2)"),
        ("ttft:0.5@gould", "slo ttft: unknown tenant 'gould' (known: a, b, c)"),
        ("itl:1", "slo 'itl:1': unknown metric 'itl'"),
        ("ttft:fast", "not a limit (found 'fast'); expected METRIC:SECONDS[@CLASS]/"),
        ("ttft:-1", "not a limit (found '-1')"),
        ("ttft:1/2", "no class, or one given twice (found 'ttft:1/2')"),
        ("ttft:1@0/2@0", "no class, or one given twice (found 'ttft:1@0/2@0')"),
        ("ttft:1,ttft:2", "a metric is given twice (found 'ttft:1,ttft:2')"),
    ],
)
def test_what_means_nothing_is_refused(slo: str, message: str) -> None:
    answer = schedfw("workloads", "describe", f"poisson:n=5:slo={slo}")
    assert answer.exit_code == 2
    assert message in answer.stderr


def test_attainment_is_in_the_table_by_class() -> None:
    workload = "poisson:n=60:slo=ttft:0.5@0/2@1"
    table = schedfw("run", "--workload", workload, "--policy", "priority", "--all").stdout
    assert "own SLO attainment, priority 0 (%)" in table
    assert "own SLO attainment, priority 1 (%)" in table
    assert "own SLO attainment, priority 2" not in table, "it asks for nothing"
