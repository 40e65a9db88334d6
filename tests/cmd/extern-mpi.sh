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
  want 0 "$EIN" build rows.ein --target=mpi -n 2 --pin z:$cut=2 -o rows
  want 0 ranks 2 ./rows
  cmp -s out by_eval || wrong "the program has a different result, cut along $cut"
done
says "called for 6 by 5"
finish
