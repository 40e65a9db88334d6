#!/bin/sh
# suite: ci
# NVRTC compiles the kernels that ein emits for the test programs: every CUDA_EVERY-th (default 4; 1: all), and those of tests/cuda and bench/gpu that
# use matrix units, have the form of attention, or fill the registers of a thread. Kernels that state how many blocks share a multiprocessor spill no registers. Skipped without NVRTC.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
command -v python3 >/dev/null || { echo 'skipped: there is no python3'; exit 77; }

"$EIN" build "$root/tests/run/matmul.ein" --emit=runtime -o ein_run.h || exit 1
at=0
for file in "$root"/tests/run/*.ein "$root"/tests/cuda/*.ein "$root"/bench/gpu/*attention*.ein "$root"/bench/gpu/matmul*.ein "$root"/bench/gpu/max_plus*.ein; do
  at=$((at + 1))
  case $file in "$root"/tests/run/*) [ $((at % ${CUDA_EVERY:-4})) = 0 ] || continue ;; esac
  name=${file##*/}
  grep -qE '^extern def| extern "' "$file" && continue # a device calls no C functions
  args=$(sed -n '1,3s/^# args: //p' "$file" | grep -o -e '-D [^ ]*' | tr '\n' ' ') # and no inputs
  # shellcheck disable=SC2086
  (cd "${file%/*}" && "$EIN" build $args "$name" --emit=cuda -o "$work/${name%.ein}.cu") 2>err || {
    grep -q 'error\[E' err || wrong "$name: $(cat err)"
  }
done
python3 "$root/tests/cuda/nvrtc.py" ein_run.h *.cu
got=$?
[ $got = 77 ] && exit 77
[ $got = 0 ] || failed=1
finish
