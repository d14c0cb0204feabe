#!/usr/bin/env bash
# What only a CUDA device can show, in under 8 minutes:
#
#     bash benchmarks/gpu_check.sh [--out DIR] [--quick] [--device cuda|cpu]
#
# It writes gpu_check-DEVICE.json and .toml into DIR (here, if none is given) and prints tables.
# Exit status: 0 if all is well, 1 if a check failed, 2 if nothing could run.
#
# It needs Python 3.11 with torch and transformers: $PYTHON, or python3. Where schedfw is missing
# there, it is installed from this checkout. For a machine without a network, make wheels elsewhere
# and name their folder, for which what is there already is enough of the rest:
#
#     pip wheel --no-deps --wheel-dir wheels . attrs cattrs click rich-click
#     WHEELS=wheels bash benchmarks/gpu_check.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}

has() { "$python" -c "from importlib.metadata import version as v; [v(n) for n in '$1'.split()]" 2>/dev/null; }

if ! has "torch transformers"; then
    echo "$python has no torch and transformers: pip install torch transformers safetensors" >&2
    exit 2
fi
if ! has "schedfw cattrs rich-click"; then
    if [ -n "${WHEELS:-}" ]; then
        "$python" -m pip install --quiet --no-index --no-deps "$WHEELS"/*.whl
    else
        "$python" -m pip install --quiet "$here/.."
    fi || {
        echo "schedfw cannot be installed; without a network, see the head of $0" >&2
        exit 2
    }
fi
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m gpu_check "$@"
