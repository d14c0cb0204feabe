"""Can a workload be served at all? Asked before anything runs, of numbers only."""

from collections.abc import Sequence

from sched_core.config import EngineConfig
from sched_core.errors import InputError
from sched_core.execution.executor import CacheKeeper, Executor
from sched_core.request import Request
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec


def refuse_unservable(workload: Workload, config: EngineConfig) -> None:
    """Raise InputError where two requests share an id, or none can ever be served.

    A workload of which no request can be served is a mistake, not a run.
    """
    _refuse_duplicates(workload.requests)
    reason = None
    for spec in workload.requests:
        reason = refusal(spec, config)
        if reason is None:
            return
    if reason is None:
        raise InputError("the workload has no request", expected="at least one request")
    raise InputError(
        f"no request of the workload can ever be served; the last one: {reason}",
        expected="requests of at least one prompt and one output token that fit the pool, the "
        "budget and max_model_len",
    )


def refuse_unknown_answers(executor: Executor, workload: Workload, config: EngineConfig) -> None:
    """Raises InputError where a real model would share the blocks of answers it has yet to give."""
    if not config.enable_prefix_caching or not isinstance(executor, CacheKeeper):
        return
    if any(spec.session is not None for spec in workload.requests):
        raise InputError(
            "the prompts of a real model are made beforehand: a later turn does not hold the "
            "answer before and cannot share its blocks",
            field="enable_prefix_caching",
            value=True,
            expected="false for sessions, or a GPU that is modelled",
        )


def _refuse_duplicates(specs: Sequence[RequestSpec]) -> None:
    seen: set[str] = set()
    for row, spec in enumerate(specs):
        if spec.id in seen:
            raise InputError(
                f"request number {row + 1} has the id of an earlier one",
                field="id",
                value=spec.id,
                expected="unique ids",
            )
        seen.add(spec.id)


def refusal(spec: RequestSpec | Request, config: EngineConfig) -> str | None:
    """Why a request can never be served under `config`; None if it can.

    A request needs room for prompt + output - 1 tokens: the last one is never computed.
    """
    if spec.prompt_len < 1:
        return "empty prompt"
    if spec.output_len < 1:
        return "no output token asked for"
    total = spec.prompt_len + spec.output_len
    if config.max_model_len is not None and total > config.max_model_len:
        return f"prompt + output of {total} tokens > max_model_len {config.max_model_len}"
    need = -(-(total - 1) // config.block_size)
    if need > (config.num_gpu_blocks or 0):
        return f"needs {need} KV blocks > the pool's {config.num_gpu_blocks}"
    return _too_long_for_one_step(spec.prompt_len, total - 1, config)


def _too_long_for_one_step(prompt: int, whole: int, config: EngineConfig) -> str | None:
    budget = config.max_num_batched_tokens
    if config.enable_chunked_prefill or whole <= budget:
        return None
    if prompt > budget:
        return f"prompt of {prompt} tokens > max_num_batched_tokens {budget}, chunking is off"
    return f"a recompute of up to {whole} tokens > max_num_batched_tokens {budget}, chunking is off"
