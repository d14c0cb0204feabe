"""A report's setting in words."""

import attrs

from sched_core import EngineConfig, Scenario, simulate
from sched_core.reports.setting import setting_texts


def test_every_fact_is_a_text_and_what_is_not_set_is_left_out() -> None:
    scenario = Scenario(
        hardware="constant:step=0.5",
        workload="poisson:n=3",
        config=EngineConfig(num_gpu_blocks=1000, max_num_seqs=8),
        seed=7,
    )
    texts = setting_texts(simulate(scenario).setting)
    assert list(texts) == [
        "schedfw", "workload", "dropped", "hardware", "model", "block pool", "engine", "seed"
    ]  # fmt: skip
    assert texts["workload"].startswith("poisson:n=3: 3 requests (kind=poisson ")
    assert (texts["dropped"], texts["seed"], texts["model"]) == ("no row", "7", "none")
    assert texts["hardware"] == "constant:step=0.5 (constant)"
    assert texts["block pool"] == "1,000 blocks of 16 tokens; host 0"
    assert "max_num_seqs=8 " in texts["engine"]
    limited = attrs.evolve(scenario, horizon=9.5, goodput={"ttft": 200})
    texts = setting_texts(simulate(limited).setting)
    assert (texts["horizon"], texts["goodput"]) == ("9.5 s", "ttft <= 200 ms")
