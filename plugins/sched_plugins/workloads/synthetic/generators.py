"""Synthetic workloads: an arrival process, and independent lengths, tenants and priorities.

Inside a value a comma separates, `..` is a range and `@` a weight; see `lengths` and `shares`.
"""

from math import inf
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import optional

from sched_core import InputError, RequestSpec, SharedPrefix, Workload, limits
from sched_plugins.workloads.synthetic.arrivals import (
    Floats,
    RampUp,
    arrival_times,
    ramp,
    unit_gaps,
)
from sched_plugins.workloads.synthetic.lengths import MAX_LENGTH, parse_lengths
from sched_plugins.workloads.synthetic.shares import parse_priorities, parse_tenants
from sched_plugins.workloads.synthetic.slos import METRICS, parse_slos, unknown_classes
from sched_plugins.workloads.synthetic.streams import stream
from sched_plugins.workloads.validators import parsed_by

MAX_REQUESTS = 10_000_000
"""A few gigabytes of requests; what draws them holds them all."""

_RATES = limits.Numbers(1e-6, 1e9)
_RATES_OR_AT_ONCE = limits.Numbers(1e-6, inf)
_SHAPES = limits.Numbers(1e-4, inf)


@attrs.frozen(kw_only=True)
class Synthetic:
    """What all synthetic workloads share: rate, lengths, tenants, priorities, shared prefixes.

    The defaults are one workload for all that name a generator. With the default hardware and model
    they make a queue, a full pool and preemptions; at 4 requests a second nearly nobody waits.
    """

    kind: ClassVar[str]
    default_rate: ClassVar[float] = 5.0

    request_rate: float | None = attrs.field(default=None, validator=optional(_RATES_OR_AT_ONCE))
    """Requests a second; `inf` sends all at 0. None is the class's default, or the ramp."""
    n: int = attrs.field(default=1000, validator=limits.Integers(1, MAX_REQUESTS))
    """Number of requests."""
    prompt_len: str = attrs.field(
        default="50..3000", converter=str, validator=parsed_by(parse_lengths)
    )
    """A prompt's own tokens, without its shared prefix."""
    output_len: str = attrs.field(
        default="50..1000", converter=str, validator=parsed_by(parse_lengths)
    )
    tenants: str = attrs.field(
        default="a@6,b@3,c@1", converter=str, validator=parsed_by(parse_tenants)
    )
    priorities: str = attrs.field(
        default="0@0.2,1@0.3,2@0.5", converter=str, validator=parsed_by(parse_priorities)
    )
    slo: str = attrs.field(default="", validator=parsed_by(parse_slos))
    """What requests ask for, in seconds, for all or by priority or tenant: `ttft:0.5@0/2@1`."""
    num_prefixes: int = attrs.field(default=0, validator=limits.Integers(0, MAX_REQUESTS))
    """Each request begins with one of this many prefixes, all alike likely; 0 is none."""
    prefix_len: int = attrs.field(default=0, validator=limits.Integers(0, MAX_LENGTH))
    """Tokens of a prefix; they come before, and add to, `prompt_len` (vLLM)."""
    ramp_up_strategy: RampUp | None = None
    ramp_up_start_rps: float | None = attrs.field(default=None, validator=optional(_RATES))
    ramp_up_end_rps: float | None = attrs.field(default=None, validator=optional(_RATES))

    def __attrs_post_init__(self) -> None:
        _check_ramp(self)
        unknown_classes(
            parse_slos(self.slo),
            set(map(int, parse_priorities(self.priorities).names)),
            set(parse_tenants(self.tenants).names),
        )
        if bool(self.num_prefixes) != bool(self.prefix_len):
            raise InputError(
                "num_prefixes and prefix_len need each other",
                value=f"{self.num_prefixes} and {self.prefix_len}",
                expected="both above 0, or neither",
            )

    @property
    def shape(self) -> float:
        """Shape of the gamma-distributed gaps (vLLM's `burstiness`)."""
        return 1.0

    @property
    def concurrency(self) -> int | None:
        """How many requests may be in the system at once; None is no limit."""
        return None

    def build(self, seed: int) -> Workload:
        """`n` requests r0, r1, ... in order of arrival, drawn under `seed`."""
        return Workload(
            requests=self._requests(seed),
            max_concurrency=self.concurrency,
            description=self._describe(seed),
        )

    def _requests(self, seed: int) -> list[RequestSpec]:
        def uniform(name: str) -> Floats:
            return stream(seed, name).random(self.n)

        prompts = parse_lengths(self.prompt_len).quantile(uniform("prompt_len"))
        outputs = parse_lengths(self.output_len).quantile(uniform("output_len"))
        priorities = [int(p) for p in parse_priorities(self.priorities).pick(uniform("priorities"))]
        tenants = parse_tenants(self.tenants).pick(uniform("tenants"))
        return list(
            map(
                RequestSpec,
                map("r{}".format, range(self.n)),
                self._arrivals(seed).tolist(),
                (prompts + self.prefix_len).tolist(),
                outputs.tolist(),
                priorities,
                tenants,
                self._prefixes(uniform("prefixes")),
                *self._slos(priorities, tenants),
            )
        )

    def _slos(self, priorities: list[int], tenants: list[str]) -> list[list[float | None]]:
        """The columns `abort`, `ttft_slo`, `tpot_slo` and `e2el_slo`, if there is an SLO at all."""
        slos = {slo.metric: slo for slo in parse_slos(self.slo)}
        asked = {
            metric: [slo.of(*whose) for whose in zip(priorities, tenants, strict=True)]
            for metric, slo in slos.items()
        }
        nothing: list[float | None] = [None] * self.n
        return [nothing, *(asked.get(metric, nothing) for metric in METRICS)] if asked else []

    def _arrivals(self, seed: int) -> Floats:
        gaps = unit_gaps(stream(seed, "gaps"), self.n, self.shape)
        arrivals = arrival_times(gaps, self._rates())
        if not limits.SECONDS.holds(float(arrivals[-1])):
            raise InputError(
                f"the last of {self.n} requests would arrive after {arrivals[-1]:g} s",
                file=f"workload {self.kind!r}",
                field="request_rate",
                value=self.request_rate,
                expected=f"a rate at which all come within {limits.MAX_SECONDS} s",
            )
        return arrivals

    def _rates(self) -> Floats | float:
        start, end = self.ramp_up_start_rps, self.ramp_up_end_rps
        if self.ramp_up_strategy and start and end:
            return ramp(self.ramp_up_strategy, start, end, self.n)
        return self.default_rate if self.request_rate is None else self.request_rate

    def _prefixes(self, u: Floats) -> list[SharedPrefix | None]:
        if not self.num_prefixes:
            return [None] * self.n
        shared = [SharedPrefix(group, self.prefix_len) for group in range(self.num_prefixes)]
        return [shared[group] for group in np.floor(u * self.num_prefixes).astype(int).tolist()]

    def _describe(self, seed: int) -> dict[str, object]:
        given = {key: _plain(value) for key, value in attrs.asdict(self).items()}
        if self.ramp_up_strategy is None:
            given["request_rate"] = _plain(self._rates())
        known = {key: value for key, value in given.items() if value not in (None, "")}
        return {"kind": self.kind, **known, "seed": seed}


@attrs.frozen(kw_only=True)
class Poisson(Synthetic):
    """Independent requests at a constant mean rate (5 a second by default)."""

    kind = "poisson"


@attrs.frozen(kw_only=True)
class Constant(Synthetic):
    """One request every 1 / request_rate seconds (5 a second by default)."""

    kind = "constant"

    @property
    def shape(self) -> float:
        return inf


@attrs.frozen(kw_only=True)
class Gamma(Synthetic):
    """Gamma-distributed gaps: smoother or burstier than Poisson, at the same mean rate.

    Give `burstiness` (vLLM: bigger is smoother, inf is constant) or `cv` (the coefficient of
    variation of the gaps: bigger is burstier, 0 is constant), never both. Neither is Poisson.
    """

    kind = "gamma"

    burstiness: float | None = attrs.field(default=None, validator=optional(_SHAPES))
    cv: float | None = attrs.field(default=None, validator=optional(limits.Numbers(0, 100)))

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.burstiness is not None and self.cv is not None:
            raise InputError(
                "burstiness and cv both given",
                value=f"{self.burstiness:g} and {self.cv:g}",
                expected="one of them (burstiness = 1 / cv**2)",
            )

    @property
    def shape(self) -> float:
        if self.cv is not None:
            square = self.cv**2
            return 1.0 / square if square else inf
        return 1.0 if self.burstiness is None else self.burstiness


@attrs.frozen(kw_only=True)
class Closed(Synthetic):
    """At most max_concurrency requests in the system: a new one is sent when one ends.

    As in vLLM a finite `request_rate` (here: Poisson) or a ramp still holds requests back; by
    default all are ready at 0.
    """

    kind = "closed"
    default_rate = inf

    max_concurrency: int = attrs.field(default=32, validator=limits.COUNTS)

    @property
    def concurrency(self) -> int | None:
        return self.max_concurrency


def _check_ramp(given: Synthetic) -> None:
    ends = (given.ramp_up_start_rps, given.ramp_up_end_rps)
    if given.ramp_up_strategy is None:
        complete = ends == (None, None)
    else:
        complete = None not in ends and given.request_rate is None
    if not complete:
        raise InputError(
            "incomplete or contradicting ramp",
            expected="ramp_up_strategy, ramp_up_start_rps and ramp_up_end_rps together, "
            "without request_rate",
        )


def _plain(value: object) -> object:
    """JSON has no infinity: `inf` is a string there, as in vLLM's results."""
    return "inf" if value == inf else value
