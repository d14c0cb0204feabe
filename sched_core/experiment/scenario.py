"""A run as its user describes it: options, or a JSON or TOML file with the same keys."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs.validators import optional

from sched_core import files
from sched_core.catalogue.configure import configure
from sched_core.catalogue.specs import PolicySpec, policy_spec
from sched_core.config import EngineConfig
from sched_core.errors import InputError, UsageError
from sched_core.experiment.beside import beside
from sched_core.limits import NANOSECONDS, SECONDS, SEEDS, flag, refuse, text
from sched_core.metrics.goodput import check_goodput
from sched_core.metrics.window import Window
from sched_core.workload import listed as listed_requests
from sched_core.workload.source import Workload

DEFAULT_POLICY = "schedfw/fcfs"
DEFAULT_HARDWARE = "schedfw/a100"
DEFAULT_MODEL = "llama-3.1-8b"
DEFAULT_WORKLOAD = "schedfw/poisson"
"""The generator's own defaults, so that naming one of its parameters changes that one. The
distribution is named, so that nothing that is installed can make a default ambiguous."""
ONE_STEP_A_SECOND = "schedfw/constant:step=1"
"""The hardware of a file that counts arrivals in steps."""


_HORIZON = attrs.evolve(SECONDS, low=1 / NANOSECONDS)


def _requests(instance: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, Workload):
        text(instance, field, value)


def _stack(instance: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if isinstance(value, str):
        text(instance, field, value)


def _engine(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, EngineConfig):
        refuse(value, field.name, "an EngineConfig")


@attrs.frozen(kw_only=True)
class Scenario:
    """What to run on what. Names are looked up when it runs, by `simulate` or `compare`."""

    policy: PolicySpec = attrs.field(
        default=DEFAULT_POLICY, converter=policy_spec, validator=_stack
    )
    """A stack such as `priority+adaptive`; or a class, an instance or a tuple of parts."""
    hardware: str = attrs.field(default=DEFAULT_HARDWARE, validator=text)
    model: str | None = attrs.field(
        default=DEFAULT_MODEL,
        validator=optional(text),  # type: ignore[arg-type] # attrs takes the default for the type
    )
    workload: str | Workload = attrs.field(default=DEFAULT_WORKLOAD, validator=_requests)
    """A spec such as `poisson:request_rate=4`, or the requests themselves."""
    config: EngineConfig = attrs.field(factory=EngineConfig, validator=_engine)
    seed: int = attrs.field(default=0, validator=SEEDS)
    horizon: float | None = attrs.field(default=None, validator=optional(_HORIZON))
    """Seconds after which the run is cut off; requests may then be unfinished."""
    goodput: Mapping[str, float] = attrs.field(
        factory=dict, validator=lambda _self, _field, limits: check_goodput(limits)
    )
    """Limits in milliseconds by metric (`ttft`, `tpot`, `e2el`), as vLLM's `--goodput`; `ttft@0` or
    `ttft@gold` is one for a priority or a tenant."""
    warmup: float = attrs.field(default=0.0, validator=SECONDS)
    """Seconds after the first arrival whose requests are served and left out of the figures."""
    drain: bool = attrs.field(default=False, validator=flag)
    """Is what happens after the last arrival left out of the rates? See `metrics.window`."""

    @property
    def window(self) -> Window:
        """Which part of the run its figures are about."""
        return Window(warmup=self.warmup, drain=self.drain)


@attrs.frozen(kw_only=True)
class FileKeys:
    """The keys of a scenario file."""

    config: dict[str, Any] = attrs.field(factory=dict)
    policy: str | None = None
    hardware: str | None = None
    model: str | None = DEFAULT_MODEL
    requests: Any = attrs.field(factory=lambda: {"workload": DEFAULT_WORKLOAD})
    seed: int = 0
    horizon: float | None = None
    goodput: dict[str, float] = attrs.field(factory=dict)
    warmup: float = 0.0
    drain: bool = False


def load(path: Path | None, options: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario in the file `path`, or the default one, with `options` laid over its keys.

    Raises UnknownName or InputError naming the file, the key, the value and what would be right.
    """
    raw = beside(path.parent, read(path)) if path else {}
    where = str(path) if path else "options"
    config = raw.get("config", {})
    if isinstance(config, Mapping):
        raw["config"] = {**config, **(options or {}).get("config", {})}
    raw |= {key: value for key, value in (options or {}).items() if key != "config"}
    return from_keys(raw, where)


def read(path: Path) -> dict[str, Any]:
    """The keys and values of a JSON file, or of a TOML one where the name ends in `.toml`."""
    form = files.read_toml if path.suffix == ".toml" else files.read_json
    keys = form(path, expected="a scenario; a trace is named by a workload")
    if not isinstance(keys, dict):
        raise InputError("is not a scenario", file=path, expected="an object of keys")
    return keys


def from_keys(raw: Mapping[str, Any], where: str) -> Scenario:
    """The scenario that keys and values describe; `where` they stand is for the messages."""
    file: FileKeys = configure(FileKeys, raw, where=where)
    config = dict(file.config)
    in_steps = isinstance(file.requests, list) and listed_requests.counts_steps(file.requests)
    usual_hardware = ONE_STEP_A_SECOND if in_steps else DEFAULT_HARDWARE
    usual_policy = config.pop("policy", DEFAULT_POLICY)  # as in the golden traces of vLLM
    try:
        return Scenario(
            policy=usual_policy if file.policy is None else file.policy,
            hardware=usual_hardware if file.hardware is None else file.hardware,
            model=file.model,
            workload=_workload(file.requests, where),
            config=configure(EngineConfig, config, where="config"),
            seed=file.seed,
            horizon=file.horizon,
            goodput=file.goodput,
            warmup=file.warmup,
            drain=file.drain,
        )
    except UsageError as error:
        raise InputError(f"{where}: {error}") from None


def _workload(requests: Any, where: str) -> str | Workload:
    """`{"workload": SPEC}`, or a list of requests."""
    if isinstance(requests, Mapping) and set(requests) == {"workload"}:
        return str(requests["workload"])
    if not isinstance(requests, list):
        raise InputError(
            "neither a list nor a workload",
            field="requests",
            value=requests,
            expected='a list of requests, or {"workload": "NAME:key=value"}',
        )
    specs = listed_requests.parse(requests, "requests")
    return Workload(specs, description={"kind": "listed", "path": where}).with_chains()
