#!/bin/sh
# suite: long
# NVRTC compiles the kernels of all programs for two architectures: see cuda-nvrtc.sh.
here=$(cd "$(dirname "$0")" && pwd)
for arch in sm_80 sm_90; do
  CUDA_EVERY=1 NVRTC_ARCH=$arch sh "$here/cuda-nvrtc.sh" "$@" || exit
done
