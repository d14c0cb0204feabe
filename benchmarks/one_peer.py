"""Run one peer over rows in Mooncake's form, and print what came of it as JSON.

    PYTHON_WITH_THE_PEER benchmarks/one_peer.py sched-sim ROWS.jsonl

Needs nothing but the peer. `peers.py` calls it. A peer that is not installed is
`{"missing": "why"}`.
"""

import json
import sys
import time
from importlib.metadata import version
from typing import Any

BUDGET, SEATS, BLOCKS, BLOCK_SIZE = 2048, 256, 27_000, 16


def sched_sim(path: str) -> dict[str, Any]:
    """The chunked scheduler on the preset A100, with memory for `BLOCKS` blocks."""
    from sched_sim.core.event_engine import Simulator
    from sched_sim.core.request import Request
    from sched_sim.hardware.presets import get_hardware_profile
    from sched_sim.schedulers.factory import create_scheduler

    a100 = get_hardware_profile("a100")
    pool = BLOCKS * BLOCK_SIZE * a100.kv_bytes_per_token / 2**30
    device = a100.model_copy(update={"vram_gb": pool + a100.model_weights_gb + 0.5 + 1e-6})
    scheduler = create_scheduler("chunked", device, token_budget=BUDGET, max_batch_size=SEATS)
    assert scheduler.block_manager.total_gpu_blocks == BLOCKS
    simulator = Simulator(device, scheduler)
    with open(path, encoding="utf-8") as rows:
        requests = [
            Request(
                request_id=str(number),
                arrived_at=row["timestamp"] / 1000,
                prompt_tokens=row["input_length"],
                output_tokens=row["output_length"],
            )
            for number, row in enumerate(map(json.loads, rows))
        ]
    simulator.submit_workload(requests)
    start = time.perf_counter()
    metrics = simulator.run()
    return {
        "seconds": time.perf_counter() - start,
        "finished": metrics.completed_requests,
        "output_tokens": sum(request.decoded_tokens for request in requests),
        "steps": metrics.total_iterations,
        "simulated_seconds": metrics.simulation_duration_s,
        "version": version("sched-sim"),
    }


def dynamo(path: str, step_ms: float | None = None) -> dict[str, Any]:
    """The mocker's vLLM engine in offline replay; with `step_ms` a decode step takes so long."""
    from dynamo._core import _normalize_mocker_config, run_mocker_trace_replay

    timing: dict[str, Any] = {"type": "polynomial"}
    if step_ms is not None:
        timing = {"type": "fixed", "prefill_ms": 0.0, "decode_ms": step_ms}
    engine = {
        "backend": "vllm",
        "num_gpu_blocks": BLOCKS,
        "block_size": BLOCK_SIZE,
        "max_num_seqs": SEATS,
        "max_num_batched_tokens": BUDGET,
        "enable_prefix_caching": False,
        "enable_chunked_prefill": True,
        "timing_model": timing,
    }
    replay = run_mocker_trace_replay(
        [path],
        extra_engine_args=_normalize_mocker_config({"engine": engine}),
        trace_block_size=BLOCK_SIZE,
        capture_planner_details=False,
    )
    summary = replay.summary
    return {
        "seconds": summary["wall_time_ms"] / 1000,
        "finished": summary["completed_requests"],
        "output_tokens": summary["total_output_tokens"],
        "steps": None,
        "simulated_seconds": summary["duration_ms"] / 1000,
        "version": version("ai-dynamo-runtime"),
    }


PEERS = {"sched-sim": sched_sim, "dynamo": dynamo}


def main() -> None:
    """Arguments: the peer, the file of rows, and for Dynamo a step's milliseconds if wished."""
    peer, path, *step = sys.argv[1:]
    try:
        figures = PEERS[peer](path, *map(float, step))
    except ModuleNotFoundError as error:
        figures = {"missing": str(error)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
