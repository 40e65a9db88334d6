/* bench/peers/calls.c - calls in a loop, for programs so small that Python could not call them without being most of
 * what is measured. */
#include <stdint.h>

typedef int run_f(void *ctx, const void *inputs, const void *outputs);
typedef int again_f(void *ctx);

void calls_ours(int64_t times, run_f *run, void *ctx, const void *inputs, const void *outputs) {
  for (int64_t t = 0; t < times; t++) run(ctx, inputs, outputs);
}

void calls_again(int64_t times, again_f *again, void *ctx) {
  for (int64_t t = 0; t < times; t++) again(ctx);
}

/* CBLAS with integers of 32 and of 64 bits. Products of row-major matrices, C = A B; `batch` of them lie one behind the
 * other. Layout 101 is row-major, transpose 111 none. */
typedef void sgemm32_f(int layout, int ta, int tb, int32_t m, int32_t n, int32_t k, float alpha, const float *a,
    int32_t lda, const float *b, int32_t ldb, float beta, float *c, int32_t ldc);
typedef void sgemm64_f(int layout, int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
    int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

void calls_sgemm32(int64_t times, sgemm32_f *f, int64_t batch, int32_t n, const float *a, const float *b, float *c) {
  for (int64_t t = 0; t < times; t++)
    for (int64_t p = 0; p < batch; p++)
      f(101, 111, 111, n, n, n, 1, a + p * n * n, n, b + p * n * n, n, 0, c + p * n * n, n);
}

void calls_sgemm64(int64_t times, sgemm64_f *f, int64_t batch, int64_t n, const float *a, const float *b, float *c) {
  for (int64_t t = 0; t < times; t++)
    for (int64_t p = 0; p < batch; p++)
      f(101, 111, 111, n, n, n, 1, a + p * n * n, n, b + p * n * n, n, 0, c + p * n * n, n);
}

void scale_f32(float *p, int64_t n, double factor, double plus) {
  for (int64_t i = 0; i < n; i++) p[i] = (float)(p[i] * factor + plus);
}

void scale_f64(double *p, int64_t n, double factor, double plus) {
  for (int64_t i = 0; i < n; i++) p[i] = p[i] * factor + plus;
}
