#!/bin/sh
# suite: ci
# gcc vectorizes loops over each function that is ours, of floats and of doubles, for AVX2 and for AVX-512.
. "$(dirname "$0")/common"
gcc=$(command -v gcc) || { echo 'skipped: there is no gcc'; exit 77; }
echo | "$gcc" -march=x86-64-v4 -E - >/dev/null 2>&1 || { echo 'skipped: gcc knows no x86-64-v4'; exit 77; }

one='exp log tanh erf exp2 expm1 log2 log10 log1p sinh cosh cbrt asin acos atan'
two='pow atan2 hypot'
printf '#define EIN_STATIC\n#define EIN_API static\n#include "ein_run.h"\n#define LOOP(n, T, f, call) \\\n' >lanes.c
printf '  void f##_##n(T *EIN_RESTRICT y, const T *EIN_RESTRICT x, const T *EIN_RESTRICT z, int n_) \\\n' >>lanes.c
printf '  { EIN_VECTOR for (int i = 0; i < n_; i++) y[i] = call; }\n' >>lanes.c
head=$(wc -l <lanes.c)
for t in 'f32 float' 'f64 double'; do
  set -- $t
  for f in $one; do echo "LOOP($1, $2, $f, ein_${f}_$1(x[i]))"; done
  for f in $two; do echo "LOOP($1, $2, $f, ein_${f}_$1(x[i], z[i]))"; done
  for n in 3 4 5 6 7 13 31 32; do echo "LOOP($1, $2, power_$n, ein_power_$1(x[i], $n))"; done
  echo "LOOP($1, $2, root, ein_pow_$1(x[i], ($2)1.5))"
  echo "LOOP($1, $2, power, ein_pow_$1(x[i], ($2)0.3))"
  echo "LOOP($1, $2, base, ein_pow_$1(($2)2, x[i]))"
done >>lanes.c
echo "LOOP(f32, float, mod, ein_mod_f32(x[i], z[i]))" >>lanes.c

for version in v3 v4; do
  rm -f said
  want 0 "$gcc" -std=gnu99 -O3 -march=x86-64-$version -fno-math-errno -fno-trapping-math -w -I "$here/../../runtime" -fopt-info-vec=said \
    -c lanes.c -o lanes.o
  line=$head
  tail -n +$((head + 1)) lanes.c >loops
  while read -r loop; do
    line=$((line + 1))
    grep -q "^lanes.c:$line:.*loop vectorized" said || wrong "not in lanes for x86-64-$version: $loop"
  done <loops
done
finish
