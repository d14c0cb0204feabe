"""The three batching modes: continuous, static, and static that pays for padding."""

from typing import ClassVar

import attrs
import pytest
from harness import aborting, requests, serve

from hwmodels.constant import Constant, ConstantCosts, ConstantExecutor
from sched_core import Engine, InputError, Policy, Workload
from sched_core.config import EngineConfig
from sched_core.errors import UnknownName
from sched_core.execution.plan import StepLoad
from sched_core.scheduler.batching import padded_load

THREE = "A(4,2,@0) B(4,4,@0) C(4,1,@0)"


def test_continuous_gives_a_seat_away_at_once() -> None:
    assert serve(THREE, max_num_seqs=2).finishes == {"A": 2.0, "B": 4.0, "C": 3.0}


@pytest.mark.parametrize("batching", ["static", "padded"])
def test_static_holds_every_seat_until_the_longest_ends(batching: str) -> None:
    served = serve(THREE, max_num_seqs=2, batching=batching)
    assert served.finishes == {"A": 2.0, "B": 4.0, "C": 5.0}
    assert [line["free_blocks"] for line in served.lines] == [98, 98, 98, 100, 100]


def test_static_prefills_the_whole_batch_before_it_decodes() -> None:
    served = serve("A(4,3,@0) B(4,3,@0) C(4,3,@0)", max_num_batched_tokens=5, batching="static")
    assert [line["scheduled"] for line in served.lines] == [
        {"A": 4, "B": 1},
        {"B": 3, "C": 2},
        {"C": 2},
        {"A": 1, "B": 1, "C": 1},
        {"A": 1, "B": 1, "C": 1},
    ]


def test_static_does_not_wait_for_requests_to_come() -> None:
    served = serve("A(4,2,@0) B(4,2,@1)", batching="static")
    assert served.finishes == {"A": 2.0, "B": 4.0}


def test_static_batch_is_over_when_its_last_client_gives_up() -> None:
    given_up = aborting("A(4,2,@0) B(4,40,@0) C(4,1,@0)", B=3.0)
    served = serve(given_up, max_num_seqs=2, batching="static")
    assert served.first_scheduled("C") == 3.0


def test_computed_tokens_do_not_count_padding() -> None:
    recorder = serve(THREE, max_num_seqs=2, batching="padded").engine.recorder
    assert recorder.computed_tokens == 4 + 1 + 4 + 3 + 4
    assert recorder.padding_tokens == 2  # A's row, while B's last two tokens are computed


def test_padded_load() -> None:
    assert padded_load([(0, 8), (0, 5)], []) == StepLoad(
        prefills=2, prefill_tokens=16, prefill_kv_tokens=16, prefill_pairs=72, sampled=2
    )
    assert padded_load([(8, 1), (5, 1)], [20]) == StepLoad(
        decodes=3, decode_kv_tokens=60, sampled=3
    )
    assert padded_load([], [20]) == StepLoad()


def test_padding_is_not_asked_of_what_computes_none() -> None:
    @attrs.frozen
    class Unpadded(ConstantExecutor):
        pads: ClassVar[bool] = False

    executor = Unpadded(ConstantCosts(Constant(step=1.0)))
    config = EngineConfig(num_gpu_blocks=100, batching="padded")
    with pytest.raises(InputError, match=r"'batching'.*no padding.*expected continuous or static"):
        Engine(config, Policy.from_spec("fcfs"), executor, Workload(requests(THREE)))


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"batching mode 'dynamic'.*continuous, padded, static"):
        EngineConfig(batching="dynamic")  # type: ignore[arg-type]
