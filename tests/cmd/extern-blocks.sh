#!/bin/sh
# suite: ci
# An equation with `extern` is computed by a C function on every target but the evaluator: in one process and in several, with labels of the result or
# the reduced label cut, in programs and in libraries. A wrong function gives other values than the evaluator, which shows that it is called.
. "$(dirname "$0")/common"

mkdir sub
cat >sub/gemm.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* z[i,j] = sum[k] a[i,k] * b[k,j] + OFF */
#ifndef OFF
#define OFF 0
#endif
void my_gemm(int64_t i, int64_t j, int64_t k, double *z, int64_t z_i, int64_t z_j, const double *a, int64_t a_i, int64_t a_k, const double *b, int64_t b_k,
             int64_t b_j) {
  if (getenv("EIN_TEST_SAYS")) fprintf(stderr, "called for %d by %d by %d\n", (int)i, (int)j, (int)k);
  for (int64_t x = 0; x < i; x++)
    for (int64_t y = 0; y < j; y++) {
      double sum = OFF;
      for (int64_t s = 0; s < k; s++) sum += a[x * a_i + s * a_k] * b[s * b_k + y * b_j];
      z[x * z_i + y * z_j] = sum;
    }
}
END
{ echo '#define OFF 1'; cat sub/gemm.c; } >sub/wrong.c
cat >gemm.ein <<'END'
dim I = 7, K = 10, J = 5
input X[i:I,k:K] : f64 = i + 2 * k
input Y[k:K,j:J] : f64 = k - j
output Z[i,j] = sum[k] X[i,k] * Y[k,j] extern "my_gemm" from "sub/gemm.c" cost 2
output S[j] = sum[i] Z[i,j]
END
sed 's/gemm\.c/wrong.c/' gemm.ein >wrong.ein

want 0 "$EIN" run gemm.ein -o all=eval/
alike() { # EIN'S WORDS
  rm -rf other
  # shellcheck disable=SC2086
  want 0 "$EIN" run gemm.ein $1 -o all=other/
  for x in Z S; do cmp -s eval/$x.npy other/$x.npy || wrong "$x is another with $1"; done
}
for how in --target=c --target=jit "--target=c --roundtrip" "--target=eval --roundtrip" "--target=c --threads 2" "--target=c --flags=-O0"; do alike "$how"; done
for cut in i j k; do
  for target in c jit eval; do alike "--target=$target -n 3 --pin Z:$cut=3"; done
  alike "--target=c -n 3 --pin Z:$cut=3 --roundtrip"
done
alike "--target=c -n 8"

# one process calls it once; several call it once per block
called() { # HOW OFTEN, EIN'S WORDS
  # shellcheck disable=SC2086
  want 0 env EIN_TEST_SAYS=1 "$EIN" run gemm.ein $2
  [ "$(grep -c '^called for' err)" = "$1" ] || wrong "it is called $(grep -c '^called for' err) times with $2"
}
called 1 --target=c
says "called for 7 by 5 by 10"
called 1 --target=jit
called 0 --target=eval
called 3 "--target=c -n 3 --pin Z:k=3"
says "called for 7 by 5 by 4"

# verify finds a wrong function; the evaluator works without any
want 0 "$EIN" verify gemm.ein
want 0 "$EIN" verify gemm.ein --flags=-O0
want 1 "$EIN" verify wrong.ein
shows "WRONG at 35 of 35"
sed 's/my_gemm/nobody/' gemm.ein >none.ein
want 0 "$EIN" run none.ein
for how in "run none.ein --target=c" "run none.ein --target=jit" "run none.ein --target=c -n 3" "build none.ein -o none" "build none.ein --lib -o none/"; do
  # shellcheck disable=SC2086
  want 1 "$EIN" $how
  says "none.ein:4:47: there is no function nobody in sub/gemm.c"
done
sed 's,sub/gemm.c,sub/none.c,' gemm.ein >none.ein
want 1 "$EIN" run none.ein --target=c
says "none.ein:4:47: there is no file sub/none.c"
sed 's/f64/f32/' gemm.ein >none.ein
want 1 "$EIN" run none.ein --target=c
says "the C function my_gemm does not compile as it is declared, void (my_gemm)(int64_t n0, int64_t n1, int64_t n2, float *z, int64_t z0, int64_t z1, const float *a"
want 1 "$EIN" run gemm.ein --deterministic --target=c
says "gemm.ein:4:8: the bits of what the C function my_gemm reduces depend on its order"
printf 'plan 1\nsites 2\npanels Z k=2\n' >x.plan
want 1 "$EIN" run gemm.ein -n 2 --plan x.plan
says "Z is made by a C function, which makes all of a block at once, in no panels"
want 1 "$EIN" build gemm.ein --target=cuda --emit=cuda
says "is a C function, and a device cannot call it"

# texts between the passes give the same values; altered texts are refused
for text in graph optimised task loop; do
  end=$text
  [ $text = optimised ] && end=graph
  want 0 "$EIN" build gemm.ein --stop=$text -o x.$end
  want 0 "$EIN" run x.$end --target=c -o all=other/
  cmp -s eval/Z.npy other/Z.npy || wrong "Z is another from $text"
done
for text in tra ia; do
  want 0 "$EIN" build gemm.ein -n 3 --stop=$text -o x.$text
  grep -q ' by my_gemm ' x.$text || wrong "the text of $text does not name the function"
done
want 0 "$EIN" run x.ia X=randn Y=randn
refused() { # FILE SED'S WORDS WHAT IS SAID
  sed "$2" "$1" >y."${1##*.}"
  cmp -s "$1" y."${1##*.}" && wrong "nothing is changed by $2"
  want 1 "$EIN" run y."${1##*.}" --target=c
  says "$3"
}
refused x.graph 's/f64 2, f64 2/f64 2, f64 1/' "declared for other labels or tensors"
refused x.graph 's/over 2 1/over 1 2/' "declared for other labels or tensors"
refused x.graph 's/ by my_gemm/ by other/' "no C function of blocks is called other"
refused x.graph 's/sum:f64\[k:10\]/sum:f64[k:10 where (k < 4)]/' "a predicate takes some out"
refused x.loop 's/call Z\[i, j\]/call Z[j, i]/' "is not the call of my_gemm"
refused x.loop 's/k < 10$/k < 11/' "is not the call of my_gemm"

# in a repeat, the function never writes a state's new value over the old one
cat >sub/turn.c <<'END'
#include <stdint.h>
void turn(int64_t i, float *z, int64_t z_i, const float *a, int64_t a_i, const float *b, int64_t b_i) {
  for (int64_t x = 0; x < i; x++) z[x * z_i] = -1;
  for (int64_t x = 0; x < i; x++) z[x * z_i] = a[x * a_i] + b[x * b_i];
}
END
cat >turn.ein <<'END'
input v[i:9] : f32 = i
repeat t < 4 {
  state x[i:9] : f32 = v[i]
  next x[i] = x[i] + v[i] extern "turn" from "sub/turn.c" cost 1
  H[t,i] = x[i] + v[i] extern "turn" from "sub/turn.c"
}
output x
output H
END
want 0 "$EIN" verify turn.ein
want 0 "$EIN" run turn.ein -o all=eval/
for how in --target=jit "--target=c -n 3" "--target=jit -n 2" "--target=c --roundtrip"; do
  # shellcheck disable=SC2086
  want 0 "$EIN" run turn.ein $how -o all=other/
  for x in x H; do cmp -s eval/$x.npy other/$x.npy || wrong "$x is another with $how"; done
done

# programs and libraries contain the source
want 0 "$EIN" build gemm.ein -o prog --flags=-O0
want 0 env EIN_TEST_SAYS=1 ./prog
says "called for 7 by 5 by 10"
want 0 "$EIN" build gemm.ein --lib -o lib/ --flags=-O0
[ -f lib/gemm_extern0_gemm.c ] || wrong "the source is not in the library"
cat >caller.c <<'END'
#include <stdio.h>
#include "gemm.h"
int main(void) {
  static double x[10][7], y[10][5], z[7][5], s[5];
  int64_t of_x[] = {7, 10}, steps[] = {1, 7}, of_y[] = {10, 5}, of_z[] = {7, 5}, of_s[] = {5};
  for (int k = 0; k < 10; k++) {
    for (int i = 0; i < 7; i++) x[k][i] = i + 2 * k; /* the other way round */
    for (int j = 0; j < 5; j++) y[k][j] = k - j;
  }
  gemm_inputs in = {.X = {.data = x, .device_type = 1, .ndim = 2, .dtype = EIN_F64, .shape = of_x, .strides = steps},
                    .Y = {.data = y, .device_type = 1, .ndim = 2, .dtype = EIN_F64, .shape = of_y}};
  gemm_outputs out = {.Z = {.data = z, .device_type = 1, .ndim = 2, .dtype = EIN_F64, .shape = of_z},
                      .S = {.data = s, .device_type = 1, .ndim = 1, .dtype = EIN_F64, .shape = of_s}};
  gemm_ctx *ctx;
  if (gemm_create(NULL, &ctx) || gemm_plan(ctx, NULL) || gemm_run(ctx, &in, &out)) return 1;
  printf("%g %g %g\n", z[0][0], z[6][4], s[0]);
  gemm_destroy(ctx);
  return 0;
}
END
# shellcheck disable=SC2046
want 0 ${CC:-cc} -Ilib -o caller caller.c lib/libgemm.a -fopenmp -lm
want 0 env EIN_TEST_SAYS=1 ./caller
shows "570 240 4935"
says "called for 7 by 5 by 10"

# at the prompt
printf 'input X[i:3] : f32 = i\nZ[i] = X[i] + X[i] extern "turn" from "sub/none.c"\nZ\n' >session
want 0 "$EIN" repl <session
shows "4.0"
finish
