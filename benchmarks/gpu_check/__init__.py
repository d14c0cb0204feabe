"""What only a CUDA device can show: `bash benchmarks/gpu_check.sh`."""
