"""How many tokens will a request emit: from history, from the truth blurred, from the truth."""

from collections.abc import Callable
from random import Random

import attrs
from attrs.validators import ge, le

from sched_core import RequestView, hookimpl, toolbox

TrueOutput = Callable[[RequestView], int] | None


@attrs.define(eq=False)
class PredictHistory(toolbox.OutputHistory):
    """Predicts the tenant's mean output so far.

    Rule: the running mean over the tenant's finished requests; over everyone's while the tenant
    has none; `prior` while nobody has.
    Parameters: `prior`, tokens.
    Source: the history mean of vLLM RFC 29406; no model, no prompt text.
    Fails by: telling nothing apart within a tenant, and lagging when lengths drift. Short outputs
    finish first, so early means are too low.
    """

    @hookimpl
    def predict_output(self, request: RequestView) -> float:
        return self.mean_output(request)


@attrs.define(eq=False)
class PredictNoisy:
    """Predicts the truth with lognormal noise.

    Rule: truth * exp(sigma * z) with z standard normal, so the median prediction is the truth.
    z depends on `seed` and the request's id only: asked again, in any run or policy, the
    prediction is the same.
    Parameters: `sigma`, the noise's standard deviation in ln(tokens): 0 is the oracle, 0.5 a good
    predictor, above 1 close to none, at most 10; `seed`, a whole number.
    Fails by: it needs the truth (an oracle). Real predictors err more on long outputs. Generated
    requests have the same ids under every seed of a run, and so the same noise: intervals over
    seeds leave it out.
    """

    oracle = True

    sigma: float = attrs.field(default=0.5, validator=[ge(0), le(10)])
    seed: int = 0
    _factor: dict[str, float] = attrs.field(init=False, factory=dict)

    @hookimpl
    def predict_output(self, request: RequestView, true_output_len: TrueOutput) -> float:
        assert true_output_len is not None, "given to every oracle"
        factor = self._factor.get(request.id)
        if factor is None:
            # Random hashes a text with SHA-512, so this is the same number in every process.
            noise = Random(f"{self.seed}:{request.id}")
            factor = self._factor[request.id] = noise.lognormvariate(0.0, self.sigma)
        return true_output_len(request) * factor

    @hookimpl
    def request_finished(self, request: RequestView) -> None:
        self._factor.pop(request.id, None)


@attrs.define(eq=False)
class PredictOracle:
    """Predicts the truth: the most one can hope for.

    Rule: the truth.
    Fails by: nobody has it (an oracle).
    """

    oracle = True

    @hookimpl
    def predict_output(self, request: RequestView, true_output_len: TrueOutput) -> float:
        assert true_output_len is not None, "given to every oracle"
        return true_output_len(request)
