import pytest
from napkin import Napkin

from sched_core import StepLoad

COSTS = Napkin().executor(None, block_size=16).costs
LOAD = StepLoad(decodes=32, decode_kv_tokens=32 * 1000, sampled=32)


def test_a_step_by_hand():
    # 8 ms of weights, 2.1 ms of cache, 1.9 ms of tokens
    assert COSTS.step(LOAD) == pytest.approx(0.008 + 0.0021 + 0.0019, rel=0.01)


@pytest.mark.parametrize("field", StepLoad._fields)
def test_more_work_never_takes_less_time(field):
    assert COSTS.step(LOAD._replace(**{field: 1_000_000})) >= COSTS.step(LOAD)


def test_many_steps_cost_what_single_ones_cost():
    longer = (LOAD._replace(decode_kv_tokens=32 * (1000 + i)) for i in range(50))
    assert list(COSTS.steps(LOAD, 50)) == [COSTS.step(load) for load in longer]
