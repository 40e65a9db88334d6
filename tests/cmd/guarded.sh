#!/bin/sh
# suite: ci
# A read under a condition on its index reads nothing where the condition excludes it: operands begin behind a page that nobody may
# touch, or end before one. gcc 12.2 with AVX-512VL blended elements of 8 bytes that it should not have read (see ein_nought).
. "$(dirname "$0")/common"

cat >g.ein <<'EIN'
input A[i:4,a:10,j:103] : f64
input B[k:530] : f64
input C[i:4,a:10,j:103] : i64
input D[k:530] : i64
output S[i] = sum[a,j] (B[103 * a + j - 500] ?? A[i,a,j])
output T[i] = sum[a,j] (D[103 * a + j - 500] ?? C[i,a,j])
output M[i] = max[a,j] (if 103 * a + j - 500 < 0 then A[i,a,j] else B[103 * a + j - 500])
EIN
cat >main.c <<'C'
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "g.h"

/* Memory whose first byte follows a page that nobody may touch (low), or whose last byte is before one. */
static void *between(size_t bytes, int low) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
  char *at = mmap(NULL, inside + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) || mprotect(at + page + inside, page, PROT_NONE)) return NULL;
  return at + page + (low ? 0 : inside - bytes);
}

int main(void) {
  int64_t of_a[] = {4, 10, 103}, of_b[] = {530}, of_s[] = {4};
  for (int low = 0; low < 2; low++) {
    double *a = between(sizeof(double) * 4 * 1030, low), *b = between(sizeof(double) * 530, low), s[4], m[4];
    int64_t *c = between(sizeof(int64_t) * 4 * 1030, low), *d = between(sizeof(int64_t) * 530, low), t[4];
    if (!a || !b || !c || !d) return 2;
    for (int k = 0; k < 4 * 1030; k++) a[k] = (double)(c[k] = k % 7);
    for (int k = 0; k < 530; k++) b[k] = (double)(d[k] = k % 5 + 3);
    g_inputs in = {.A = {.data = a, .device_type = 1, .ndim = 3, .dtype = EIN_F64, .shape = of_a},
        .B = {.data = b, .device_type = 1, .ndim = 1, .dtype = EIN_F64, .shape = of_b},
        .C = {.data = c, .device_type = 1, .ndim = 3, .dtype = EIN_I64, .shape = of_a},
        .D = {.data = d, .device_type = 1, .ndim = 1, .dtype = EIN_I64, .shape = of_b}};
    g_outputs out = {.S = {.data = s, .device_type = 1, .ndim = 1, .dtype = EIN_F64, .shape = of_s},
        .T = {.data = t, .device_type = 1, .ndim = 1, .dtype = EIN_I64, .shape = of_s},
        .M = {.data = m, .device_type = 1, .ndim = 1, .dtype = EIN_F64, .shape = of_s}};
    g_ctx *ctx = NULL;
    if (g_create(NULL, &ctx) || g_plan(ctx, NULL) || g_run(ctx, &in, &out)) return 3;
    for (int i = 0; i < 4; i++) {
      double sum = 0, most = 0;
      for (int k = 0; k < 1030; k++) {
        double x = k < 500 ? a[1030 * i + k] : b[k - 500];
        sum += x, most = x > most ? x : most;
      }
      if (s[i] != sum || t[i] != (int64_t)sum || m[i] != most) return 4;
    }
    g_destroy(ctx);
  }
  return 0;
}
C

want 0 "$EIN" build g.ein --emit=c -o lib/
for cc in gcc clang-19; do
  command -v $cc >/dev/null || continue
  for flags in "-O3 -march=native" -O1; do
    [ "$cc $flags" = "clang-19 -O1" ] && continue
    want 0 $cc $flags main.c lib/g.c -Ilib -lm -o main
    want 0 ./main
  done
done
finish
