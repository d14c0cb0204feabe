"""A policy that runs everyone in an order of its own keeps the lockstep, and decides as without."""

import attrs
import pytest
from harness import serve

from sched_core import Policy, RequestView, SchedulerView, hookimpl

SPECS = "A(40,30,@0) B(9,40,@1) C(60,9,@2) D(5,30,@3) E(30,3,@9) F(7,12,@12) G(20,5,@12)"


@attrs.define(eq=False)
class DecodesFirst:
    """Decodes first, the youngest ahead; as a list, or one by one, which the engine checks so."""

    as_list: bool

    @hookimpl
    def order_running(self, view: SchedulerView) -> object:
        ordered = sorted(view.running, key=self._key)
        return ordered if self.as_list else iter(ordered)

    @staticmethod
    def _key(request: RequestView) -> tuple[bool, int]:
        return request.is_prefill, -request.submission


@pytest.mark.parametrize("blocks", [14, 100])
def test_joiners_and_victims_are_in_the_plan(blocks: int) -> None:
    settings = {"block_size": 8, "num_gpu_blocks": blocks, "max_num_batched_tokens": 16}
    whole = serve(SPECS, Policy([("it", DecodesFirst(True))]), **settings)
    checked = serve(SPECS, Policy([("it", DecodesFirst(False))]), **settings)
    assert whole.lines == checked.lines
    for line in whole.lines:
        assert {*line["admitted"], *line["resumed"]} <= {*line["scheduled"]}
    assert any(line["preempted"] for line in whole.lines) == (blocks == 14)
    assert sum(sum(line["scheduled"].values()) for line in whole.lines) >= 171 + 129 - 7
    mixed = [list(line["scheduled"]) for line in whole.lines if len(line["scheduled"]) > 2]
    assert any(names != sorted(names) for names in mixed)
