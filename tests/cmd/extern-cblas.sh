#!/bin/sh
# suite: ci
# The TRA paper's three methods for a product, with cblas_dgemm as the kernel: broadcast, cross product, replication. Skipped if there is no CBLAS.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)

cat >dgemm.c <<'END'
#include <cblas.h>
#include <stdint.h>
/* z[i,j] = sum[k] a[i,k] * b[k,j]; rows of each lie next to each other */
void dgemm(int64_t i, int64_t j, int64_t k, double *z, int64_t z_i, int64_t z_j, const double *a, int64_t a_i, int64_t a_k, const double *b, int64_t b_k,
           int64_t b_j) {
  (void)z_j, (void)a_k, (void)b_j;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)i, (int)j, (int)k, 1, a, (int)a_i, b, (int)b_k, 0, z, (int)z_i);
}
END
for library in -lcblas -lblas -lopenblas none; do
  [ $library = none ] && { echo 'skipped: there is no CBLAS'; exit 77; }
  echo 'void dgemm(); int main(void) { dgemm(); return 0; }' >try.c
  ${CC:-cc} -w -o try try.c dgemm.c $library 2>/dev/null && break
done

cat >product.ein <<END
input A[i:60,k:48] : f64 = sin(i + 7 * k)
input B[k:48,j:36] : f64 = cos(k - 3 * j)
output C[i,j] = sum[k] A[i,k] * B[k,j] extern "dgemm" from "dgemm.c $library" cost 2
END
want 0 "$EIN" verify product.ein
want 0 "$EIN" run product.ein --target=jit -o C=one.npy
for pin in C:i=4 C:k=4 C:i=2,j=2; do
  want 0 "$EIN" run product.ein --target=c -n 4 --pin $pin
  shows "C[i:60, j:36] : f64"
done
want 0 "$EIN" build product.ein -o product --flags=-O0
want 0 ./product
want 0 "$EIN" build product.ein --lib -o lib/ --flags=-O0
grep -q -- "$library" lib/product.pc || wrong "the library is missing in the pkg-config file"

# the same as texts of the algebra, with the function as a join's kernel
for text in product_broadcast product_cross; do
  { sed '1,/^mesh/!d' "$root/samples/relations/$text.ia"
    echo "extern dgemm(f64 2, f64 2) : f64 over 2 1 = \"dgemm\" from \"dgemm.c $library\" cost 2"
    sed '1,/^mesh/d; s/f32/f64/g; s/\(&1\[k, j\])\)/\1 by dgemm/' "$root/samples/relations/$text.ia"; } >$text.ia
  grep -q 'by dgemm' $text.ia || wrong "$text names no function"
  want 0 "$EIN" run $text.ia A=iota B=iota -o C=eval.npy --target=eval
  want 0 "$EIN" run $text.ia A=iota B=iota -o C=c.npy --target=c
  cmp -s eval.npy c.npy || wrong "$text has a different result with dgemm"
done
finish
