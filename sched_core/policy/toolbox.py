"""Parts that many policies need: `from sched_core import toolbox`."""

from collections import defaultdict
from math import inf

import attrs
from attrs.validators import gt, lt

from sched_core.errors import InputError
from sched_core.limits import NANOSECONDS
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.request import RequestState

__all__ = ["OutputHistory", "OwnHistory", "aged", "by_arrival", "expendable", "parse_weights"]


def by_arrival(request: RequestView) -> tuple[float, int]:
    """A sort key: `min` finds the oldest, `max` the youngest; ties go by submission."""
    return request.arrival, request.submission


def aged(request: RequestView, period: float) -> float:
    """A static key with the order of `priority - wait / period` at any time; `period` in seconds.

    In whole nanoseconds, like the engine's clock, so that ties are ties.
    """
    return request.priority * round(period * NANOSECONDS) + round(request.arrival * NANOSECONDS)


def expendable(view: SchedulerView) -> list[RequestView]:
    """Running requests, youngest first, without the oldest: it always advances, so it ends.

    Youngest first makes `min` and `max` choose the youngest of those that tie. A request that
    runs alone is its own victim.
    """
    youngest_first = sorted(view.running, key=by_arrival, reverse=True)
    return youngest_first[:-1] or youngest_first


def parse_weights(text: str) -> dict[str, float]:
    """Shares of tenants: `gold@4/free@0.5` is {"gold": 4.0, "free": 0.5}.

    Raises InputError, for the field `weights`, on any other shape.
    """
    weights: dict[str, float] = {}
    for pair in filter(None, text.split("/")):
        tenant, at, number = pair.rpartition("@")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not (tenant and at and 0 < weight < inf) or tenant in weights:
            raise InputError(
                "not a weight",
                field="weights",
                value=pair,
                expected="tenant@number above 0, separated by slashes, each tenant once",
            )
        weights[tenant] = weight
    return weights


@attrs.define
class _Mean:
    total: int = 0
    count: int = 0

    def add(self, value: int) -> None:
        self.total += value
        self.count += 1


@attrs.define(eq=False)
class OutputHistory:
    """A component that remembers how many tokens those that finished emitted.

    Its parameter `prior` is what it expects, in tokens, while nobody has finished.
    """

    prior: float = attrs.field(default=256.0, validator=[gt(0), lt(inf)])
    _of_tenant: defaultdict[str, _Mean] = attrs.field(
        init=False, factory=lambda: defaultdict(_Mean)
    )
    _of_all: _Mean = attrs.field(init=False, factory=_Mean)

    @hookimpl
    def request_finished(self, request: RequestView) -> None:
        """Remember its output, if it came to its end."""
        if request.state is RequestState.FINISHED:
            self._of_tenant[request.tenant].add(request.num_output_tokens)
            self._of_all.add(request.num_output_tokens)

    def mean_output(self, request: RequestView) -> float:
        """Of its tenant in tokens; of everyone while the tenant has none."""
        mean = self._of_tenant.get(request.tenant, self._of_all)
        return mean.total / mean.count if mean.count else self.prior


@attrs.define(eq=False)
class OwnHistory(OutputHistory):
    """A component that needs predictions: any predictor of the stack, else a history of its own.

    A base class: `remaining` is then known of every request.
    """

    @hookimpl(trylast=True)
    def predict_output(self, request: RequestView) -> float:
        """Asked after everyone else."""
        return self.mean_output(request)

    @staticmethod
    def remaining(request: RequestView) -> float:
        """Predicted tokens still to come; one at least, also where the prediction is overrun."""
        predicted = request.predicted_output
        assert predicted is not None, "predict_output above answers where nobody else does"
        return max(1.0, predicted - request.num_output_tokens)
