#!/bin/sh
# suite: ci
# Compares programs as CUDA on an emulated device with the evaluator: every CUDA_EVERY-th program of the tests (default 12; 1: all), starting at one that
# EIN_TURN selects; those named here, and those of tests/cuda, of which it selects every other. Skips programs with so many points that they would
# take minutes.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
command -v g++ >/dev/null || { echo 'skipped: there is no g++'; exit 77; }
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

at=0 all=0
for file in "$root"/tests/run/*.ein "$root"/tests/cuda/*.ein; do
  name=${file##*/}
  at=$((at + 1)) all=$((all + 1))
  grep -qE '^extern def| extern "' "$file" && continue # a device calls no C functions
  case $name in *streamed* | scan_ends.ein | attention_masks.ein) continue ;; esac
  case " argmax_of_many.ein attention_chains.ein borders_in_lanes.ein gather_out_of_range.ein long_sums.ein matmul.ein nested_repeat.ein product_predicates.ein row_softmax_shapes.ein scans_long.ein tropical_product.ein " in
  *" $name "*) always=y ;;
  *) always= ;;
  esac
  case $file in "$root"/tests/cuda/*) always=y ;; esac
  { [ -n "$always" ] && mine $at 2; } || [ $(((at + ${EIN_TURN:-0}) % ${CUDA_EVERY:-12})) = 0 ] || continue
  cd "${file%/*}" || exit 1
  args=$(sed -n '1,3s/^# args: //p' "$file")
  # shellcheck disable=SC2086
  "$EIN" verify --target=cuda --cc="$root/tests/cuda/cc" --flags=-O0 $args "$name" >"$work/out" 2>&1 || wrong "$(grep -v '  equal$\|  abs ' "$work/out")"
done
[ $all -ge 240 ] || wrong "only $all programs"

# A compiler that is named takes a program for one device.
cd "$work" || exit 1
echo 'output z = sum[i:40] i * i' >z.ein
want 2 "$EIN" run z.ein -n 2 --target=cuda --cc="$root/tests/cuda/cc"
says 'error: --cc compiles all of a program for one device; without it, NVRTC compiles the kernels of a plan for several sites'
finish
