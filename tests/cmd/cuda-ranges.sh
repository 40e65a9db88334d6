#!/bin/sh
# suite: ci
# A profiler is told what a run asks the device for: ranges by the names of equations, one for each row and copy, on a look-alike that counts kernels and
# copies in each. They are balanced in each thread, also where runs spill, fail, or have several sites; a run's numbers are the same.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
look_alikes
EIN_STANDIN_RANGES=$work/ranges
export EIN_STANDIN_RANGES
tool=$standin/libprofiler.so

traced() { # CODE COMMAND...: run with the profiler; each range has an end, none is in another one, and no kernel is outside of them
  rm -f ranges "$EIN_STANDIN_REPORT"
  NVTX_INJECTION64_PATH=$tool want "$@"
  ! grep -n '^wrong' ranges || wrong "ranges are not balanced: $line"
  ! grep -vE '^[0-9]+ 0: ' ranges || wrong "ranges are within each other: $line"
}
told() { # TEXT...: the ranges, each kernel's with one kernel at least, each copy's with one copy
  sed 's/^[0-9]* 0: [0-9]* kernels, [0-9]* copies: //' ranges >names
  for name in "$@"; do echo "$name"; done | cmp -s - names || wrong "other ranges: $line: $(cat ranges)"
  ! grep -vE ' 0 kernels, 1 copies: .* to the (device|host)$| [1-9][0-9]* kernels, 0 copies: ' ranges || wrong "in other ranges: $line"
}
every() { # the driver's kernels are all in ranges
  in=$(awk '{ n += $3 } END { print n }' ranges)
  all=$(sed -n 's/.* done: .* allocations, \([0-9]*\) launches, .* graphs: .* made, \([0-9]*\) launched, .*/\1 \2/p' "$EIN_STANDIN_REPORT")
  [ "$in" = "$((${all% *} + ${all#* }))" ] || wrong "$in kernels of $all (one by one, graphs) are in ranges: $line"
}

# Twins (A, B and C have one kernel), a repeat, an input that is computed.
cat >twins.ein <<'END2'
dim N = 48
input X[i:N, j:N] : f32
input W[i:N, j:N] : f32 = i - j
A[i, j] = sum[k] X[i, k] * W[k, j]
B[i, j] = sum[k] A[i, k] * W[k, j]
C[i, j] = sum[k] B[i, k] * W[k, j]
repeat t < 2 {
  state s[i:N] = 0.0
  next s[i] = s[i] * 0.5 + sum[k] C[i, k]
}
output Y[i, j] = C[i, j] / (1 + s[i])
END2
want 0 "$EIN" run twins.ein --target=cuda --flags=-O0 X=iota -v -o Y=plain.npy
! grep -q ranges err || wrong 'ranges without a profiler'
went=$(sed -n 's/.*; \([0-9]* bytes went there, .*\)/\1/p' err)
at() { echo "$1 (twins.ein:$2)"; }
rows="$(at A 4)|$(at B 5)|$(at C 6)|$(at 'a step' 7)|$(at s 8)|$(at s 9)|$(at s 9)|$(at Y 11)"
IFS='|'
for blas in on off; do
  EIN_CUBLAS=$blas traced 0 "$EIN" run twins.ein --target=cuda --flags=-O0 X=iota -v -o Y=traced.npy
  says '11 ranges for the profiler that NVTX_INJECTION64_PATH names'
  says "$went"
  cmp -s plain.npy traced.npy || [ $blas = off ] || wrong 'other numbers with a profiler'
  # shellcheck disable=SC2086
  told "$(at W 3)" "$(at X 2) to the device" $rows "$(at Y 11) to the host"
  [ $blas = on ] || every
done
traced 0 "$EIN" run twins.ein --target=cuda --flags=-O0 X=iota W=iota
# shellcheck disable=SC2086
told "$(at X 2) to the device" "$(at W 3) to the device" $rows "$(at Y 11) to the host"
unset IFS

# Graphs: a row's kernels may be one; a copy's range is of a copy in a run that spills too, where copies come ahead of their rows.
cat >long.ein <<'END2'
dim N = 64
input X[i:N, j:N] : f32
input V[i:N, j:N] : f32
repeat t < 30 {
  state s[i:N, j:N] = X[i, j]
  state r[i:N, j:N] = V[j, i]
  next s[i, j] = 0.5 * s[j, i] + r[i, j] / (1 + sum[k] abs(s[k, j]))
  next r[i, j] = max[k] (r[i, k] + V[k, j]) - t
}
output Y[i, j] = s[i, j] + r[i, j]
END2
want 0 "$EIN" plan long.ein --target=cuda --format=json -o plan.json
least=$(python3 -c 'import json; print(json.load(open("plan.json"))["device"]["least_bytes"])')
want 0 "$EIN" run long.ein --target=cuda --flags=-O0 X=iota V=randint:lo=0:hi=9:seed=1 -o Y=plain.npy
for memory in '' "$least"; do
  EIN_CUDA_MEMORY=$memory traced 0 "$EIN" run long.ein --target=cuda --flags=-O0 X=iota V=randint:lo=0:hi=9:seed=1 -v -o Y=traced.npy
  cmp -s plain.npy traced.npy || wrong "other numbers with a profiler: $line"
  every
  [ "$(grep -c '(long.ein:8)$' ranges)" -ge 30 ] || wrong "a repeat's row has fewer ranges than turns: $line"
  ! grep -E ' to the (device|host)$' ranges | grep -v ' 0 kernels, 1 copies: ' || wrong "a copy's range has something else: $line"
done
[ "$(grep -c ' to the device$' ranges)" -gt 9 ] || wrong "the run does not spill: $(cat err)"

# Sites: each is a thread, with ranges of its own.
traced 0 "$EIN" run twins.ein --target=cuda --flags=-O0 X=iota -n 3
[ "$(cut -d' ' -f1 ranges | sort -u | tr '\n' ' ')" = '1 2 3 ' ] || wrong "not three threads: $line"
for n in 1 2 3; do grep "^$n " ranges | grep -q ' [1-9][0-9]* kernels, 0 copies: C (twins.ein:6)$' || wrong "site $n does not tell of C: $line"; done
every

# Runs that fail, in a range and between ranges.
EIN_CUBLAS=off EIN_STANDIN=launch=2 traced 4 "$EIN" run twins.ein --target=cuda --flags=-O0 X=iota
[ -s ranges ] || wrong "a run that fails has no ranges: $line"
cat >out_of.ein <<'END2'
input p[i:4] : i64
input T[k:5] : f32
a[i] = T[p[i]]
output y[i] = a[i] * 2
END2
traced 1 "$EIN" run out_of.ein --target=cuda --flags=-O0 p=randint:lo=9:hi=10:seed=1 T=iota
[ -s ranges ] || wrong "a run that fails has no ranges: $line"

# A program of its own; a profiler that refuses, and one that is not there: the run is the same, and says so.
want 0 "$EIN" build twins.ein --target=cuda -o prog --flags=-O1
traced 0 ./prog X=iota
grep -q 'B (twins.ein:5)$' ranges || wrong 'a program has no ranges'
for path in "$work/none.so" "$standin/libcuda.so.1" "$tool"; do
  NVTX_INJECTION64_PATH=$path EIN_STANDIN=no-tool want 0 "$EIN" run twins.ein --target=cuda --flags=-O0 X=iota -v
  says '0 ranges for the profiler that NVTX_INJECTION64_PATH names, which cannot be used'
done
finish
