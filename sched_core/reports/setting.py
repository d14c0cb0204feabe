"""The setting of a report in words: enough to run it again."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from sched_core.config import EngineConfig


def setting_texts(setting: Mapping[str, Any]) -> dict[str, str]:
    """Name and text of every fact in `Report.setting`."""
    config = dict(setting["config"])
    config["batching"] = "/".join(setting["batching"])
    blocks, on_host = config.pop("num_gpu_blocks"), config.pop("num_cpu_blocks")
    facts = {
        "schedfw": setting["schedfw"],
        "workload": _workload(setting["workload"]),
        "dropped": _dropped(setting["workload"]["dropped"]),
        "hardware": _hardware(setting["hardware"]),
        "model": setting["model"] or "none",
        "block pool": f"{blocks:,} blocks of {config['block_size']} tokens; host {on_host:,}",
        "engine": _pairs(config),
        "seed": _seeds(setting["seed"], setting["seeds"]),
        "horizon": "" if setting["horizon"] is None else f"{setting['horizon']:g} s",
        "policy file": ", ".join(
            f"{path} (sha256 {(digest or 'unknown')[:12]})"
            for path, digest in setting["policy_files"].items()
        ),
        "window": _window(setting),
        "goodput": ", ".join(f"{name} <= {ms:g} ms" for name, ms in setting["goodput"].items()),
    }
    return {name: text for name, text in facts.items() if text}


def short_texts(setting: Mapping[str, Any]) -> dict[str, str]:
    """The same in four lines: all that was asked for, and what of the rest matters most."""
    workload, config = setting["workload"], setting["config"]
    told = [f"{workload['spec'] or 'listed'}: {workload['requests']:,} requests"]
    if workload["dropped"]:
        told.append(f"dropped {_dropped(workload['dropped'])}")
    run = {"seed": _seeds(setting["seed"], setting["seeds"])}
    whole = setting_texts(setting)
    run |= {name: whole[name] for name in _ASKED if name in whole}
    return {
        "workload": ", ".join(told),
        "hardware": f"{setting['hardware']['spec']}, model {setting['model'] or 'none'}",
        "engine": _pairs(_telling(config, setting["batching"])),
        "run": ", ".join([f"schedfw {setting['schedfw']}", *(f"{k} {v}" for k, v in run.items())]),
    }


_ASKED = ("horizon", "goodput", "window", "policy file")
"""Facts that stand in the setting only where somebody asked for them."""

_ALWAYS = ("max_num_batched_tokens", "max_num_seqs", "num_gpu_blocks")


def _telling(config: Mapping[str, Any], modes: Sequence[str]) -> dict[str, Any]:
    """What is always told of the engine, and all that is not as usual."""
    usual = attrs.asdict(EngineConfig())
    filled = ("max_model_len", "batching")
    changed = {k: v for k, v in config.items() if v != usual[k] and k not in filled}
    batching = {} if list(modes) == [usual["batching"]] else {"batching": "/".join(modes)}
    return {name: config[name] for name in _ALWAYS} | changed | batching


def _window(setting: Mapping[str, Any]) -> str:
    warmup = f"without the first {setting['warmup']:g} s" if setting["warmup"] else ""
    drain = "without what is behind the last arrival" if setting["drain"] else ""
    return ", ".join(filter(None, (warmup, drain)))


def _workload(workload: Mapping[str, Any]) -> str:
    about = {k: v for k, v in workload.items() if k not in ("spec", "requests", "dropped", "seed")}
    return f"{workload['spec'] or 'listed'}: {workload['requests']:,} requests ({_pairs(about)})"


def _dropped(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} rows {why}" for why, count in dropped.items()) or "no row"


def _hardware(hardware: Mapping[str, Any]) -> str:
    """The spec says which constants are not the defaults; what it stands for is added."""
    known = [str(hardware[key]) for key in ("hardware", "efficiencies") if hardware.get(key)]
    return f"{hardware['spec']} ({'; '.join(known)})"


def _seeds(first: int, count: int) -> str:
    return f"{first}" if count == 1 else f"{first} to {first + count - 1}"


def _pairs(values: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={_plain(value)}" for key, value in values.items() if value is not None)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
