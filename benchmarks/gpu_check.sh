#!/usr/bin/env bash
# What only a CUDA device can show, in under 8 minutes: run from the repository's root, with
# schedfw[torch] installed. Prints one line per check and stops at the first that fails.
set -euo pipefail
out=${OUT:-.}
say() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

say "device"
python - <<'PY'
import torch

assert torch.cuda.is_available(), "no CUDA device"
print(torch.__version__, torch.cuda.get_device_name(), torch.cuda.mem_get_info())
PY

say "tokens in float64 equal those on the CPU, under preemption, swap and prefix sharing"
timeout 90 python benchmarks/gpu_tokens.py

say "speed beside transformers' continuous batching"
timeout 90 python benchmarks/torch_executor.py --device cuda

say "calibrate, then validate"
timeout 120 schedfw hardware calibrate --executor torch:device=cuda --model llama-22m \
    --out "$out/gpu.toml"
timeout 150 schedfw hardware validate "$out/gpu.toml" --executor torch:device=cuda \
    --model llama-22m | tee "$out/gpu_validate.txt"

say "done"
