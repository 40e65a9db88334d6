#!/bin/sh
# suite: ci
# Under MPI, each process calls C functions for its own blocks, in `ein run --np` and in a built program, with a label of the result or the reduced label
# cut.
. "$(dirname "$0")/common"
mpi_builds

cat >rows.c <<'END'
#include <stdint.h>
#include <stdio.h>
void rows(int64_t i, int64_t k, double *z, int64_t z_i, const double *a, int64_t a_i, int64_t a_k, const double *b, int64_t b_k) {
  fprintf(stderr, "called for %d by %d\n", (int)i, (int)k);
  for (int64_t x = 0; x < i; x++) {
    double sum = 0;
    for (int64_t s = 0; s < k; s++) sum += a[x * a_i + s * a_k] * b[s * b_k];
    z[x * z_i] = sum;
  }
}
END
cat >rows.ein <<'END'
input X[i:6,k:10] : f64 = i + 2 * k
input v[k:10] : f64 = k
output z[i] = sum[k] X[i,k] * v[k] extern "rows" from "rows.c" cost 2
END
want 0 "$EIN" run rows.ein
cp out by_eval
for cut in i k; do
  want 0 "$EIN" run rows.ein --np 2 --pin z:$cut=2
  cmp -s out by_eval || wrong "ein run --np has a different result, cut along $cut"
  [ "$(grep -c '^called for' err)" = 2 ] || wrong "it is not called by each of two processes, cut along $cut"
  want 0 "$EIN" build rows.ein --target=mpi -n 2 --pin z:$cut=2 -o rows --flags=-O0
  want 0 ranks 2 ./rows
  cmp -s out by_eval || wrong "the program has a different result, cut along $cut"
done
says "called for 6 by 5"

# Defaults are computed by evaluators, at each process: no compiler is started for that once MPI is, which the shim forbids.
shim=$(dirname "$EIN")/tests/mpi/mpi_shim.so
echo 'double cube(double x) { return x * x * x; }' >cube.c
echo 'extern def cube(x : f64) : f64 = "cube" from "cube.c"' >plain.ein
cp plain.ein called.ein
cat >>plain.ein <<'END'
input X[i:20] : f64 = i
output y[i] = cube(X[i])
output S = sum[i] X[i]
END
cat >>called.ein <<'END'
input X[i:20] : f64 = 0.5 * cube(i)
input W[j:20] : f64 = 2 * cube(X[j])
input turns[j:3] : f64 = sum[i] cube(X[i] - j)
output y[i] = cube(X[i]) + W[i]
output S = sum[i] X[i]
output T[j] = turns[j]
END
for p in plain called; do
  want 0 "$EIN" run $p.ein
  cp out by_eval
  for again in '' again; do
    want 0 timeout 60 mpirun -n 2 -x LD_PRELOAD="$shim" "$EIN" run $p.ein --flags=-O0
    cmp -s out by_eval || wrong "$p.ein gives another result over MPI $again"
  done
done
want 0 timeout 60 mpirun -n 2 -x LD_PRELOAD="$shim" "$EIN" run $p.ein --flags=-O0 X=iota
finish
