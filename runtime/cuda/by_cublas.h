/* SPDX-License-Identifier: MIT-0 */
/*
 * Products of matrices by cuBLAS, for a text that has some (EIN_PRODUCTS): a handle for each context, which goes with it, in its stream, with a piece of
 * memory of its own to work in. Numbers are those of the program: f32 is f32 and not tf32, halves are summed up in f32 and rounded once.
 */
#ifndef EIN_CUDA_BY_CUBLAS_H
#define EIN_CUDA_BY_CUBLAS_H

#if !defined(EIN_PRODUCTS)
static int ein_gpu_products(ein_ctx *ctx, ein_gpu *g) { return (void)ctx, (void)g, 1; }
static void ein_gpu_products_end(ein_gpu *g) { (void)g; }
#else

static int ein_gpu_blas_ok(ein_ctx *ctx, ein_gpu *g, int status, const char *what) {
  if (!status) return 1;
  if (!ein_gpu_ok(ctx, g, g->cu.stream_wait(g->stream), what)) return 0; /* a kernel before it has failed, which says more */
  ein_error_set(&ctx->inside->error, status == EIN_BLAS_NO_MEMORY ? EIN_ERR_MEMORY : EIN_ERR_IO, "cuBLAS: %s: %s; EIN_CUBLAS=off does without", what,
                ein_libcublas_word(status));
  return 0;
}

/* As much as NVIDIA asks for. The stream first: with another one a handle forgets where it works. */
static int ein_gpu_products(ein_ctx *ctx, ein_gpu *g) {
  const char *why;
  int major = 0;
  if (!ein_libcublas_open(&g->blas, &why)) return 1;
  if (!ein_gpu_ok(ctx, g, g->cu.device_attribute(&major, EIN_CU_MAJOR, g->device), "the device")) return 0;
  size_t bytes = (size_t)(major >= 9 ? 32 : 4) << 20;
  g->old = major < 8;
  g->tf32 = ein_libcublas_tf32();
  if (!ein_gpu_blas_ok(ctx, g, g->blas.create(&g->handle), "it does not begin")) return g->handle = NULL, 0;
  g->room = ein_gpu_take(ctx, g, bytes, "what cuBLAS works in takes");
  return g->room && ein_gpu_blas_ok(ctx, g, g->blas.set_stream(g->handle, g->stream), "the stream") &&
         ein_gpu_blas_ok(ctx, g, g->blas.set_workspace(g->handle, g->room, bytes), "memory") &&
         ein_gpu_blas_ok(ctx, g, g->blas.set_math(g->handle, EIN_BLAS_NO_SHORT_SUMS), "the mode");
}

static void ein_gpu_products_end(ein_gpu *g) {
  if (g->handle) g->blas.destroy(g->handle);
  if (g->room) g->cu.memory_drop((uint64_t)(uintptr_t)g->room);
}

/* The result, the side with its rows, the side with its lanes; steps by loop, the last three along rows, lanes and the sum. */
typedef struct ein_gpu_matrices {
  const char *name;
  int n;
  const int64_t *size, *step[3];
  char *at[3];
  int64_t bytes[3];            /* of an element */
  ein_dtype dtype[3];
  double scale;
} ein_gpu_matrices;

static int ein_gpu_blas_type(ein_dtype t) {
  return t == EIN_F64 ? EIN_BLAS_F64 : t == EIN_F32 ? EIN_BLAS_F32 : t == EIN_F16 ? EIN_BLAS_F16 : EIN_BLAS_BF16;
}

/* How far rows are from each other that lie in order, of so many elements; 0: that is no matrix, or none that it takes. */
static int ein_gpu_lead(int64_t rows, int64_t row_step, int64_t width, int64_t step) {
  int64_t lead = rows == 1 && row_step < width ? width : row_step;
  return (width == 1 || step == 1) && lead >= width && lead <= 2147483647 ? (int)lead : 0;
}

/* One call, for all pairs along the last loop ahead of rows; row by row is column by column of what is turned, so the sides change places. */
static int ein_gpu_gemm(ein_gpu *g, const ein_gpu_matrices *m, const int *lead, const int *turned, char *const *at) {
  const int64_t *size = m->size + m->n - 3;
  int wide = m->dtype[1] == EIN_F64, sum = wide ? EIN_BLAS_BY_F64 : EIN_BLAS_BY_F32, in = ein_gpu_blas_type(m->dtype[1]), out = ein_gpu_blas_type(m->dtype[0]);
  float one = (float)m->scale, zero = 0;
  double one_64 = m->scale, zero_64 = 0;
  const void *alpha = wide ? (const void *)&one_64 : &one, *beta = wide ? (const void *)&zero_64 : &zero;
  int rows = (int)size[0], lanes = (int)size[1], deep = (int)size[2], b = m->n - 4;
  if (b < 0 || size[-1] == 1)
    return g->blas.product(g->handle, turned[2], turned[1], lanes, rows, deep, alpha, at[2], in, lead[2], at[1], in, lead[1], beta, at[0], out, lead[0], sum,
                           EIN_BLAS_ANY_WAY);
  return g->blas.products(g->handle, turned[2], turned[1], lanes, rows, deep, alpha, at[2], in, lead[2], m->step[2][b], at[1], in, lead[1], m->step[1][b], beta,
                          at[0], out, lead[0], m->step[0][b], (int)size[-1], sum, EIN_BLAS_ANY_WAY);
}

/* The way in which each lies, as it is or turned; 0: one of them in none. */
static int ein_gpu_lie(const ein_gpu_matrices *m, int *lead, int *turned) {
  int row = m->n - 3, lane = row + 1, deep = row + 2;
  const int64_t *n = m->size, *c = m->step[0], *a = m->step[1], *b = m->step[2];
  lead[0] = ein_gpu_lead(n[row], c[row], n[lane], c[lane]);
  lead[1] = ein_gpu_lead(n[row], a[row], n[deep], a[deep]);
  turned[1] = !lead[1];
  if (turned[1]) lead[1] = ein_gpu_lead(n[deep], a[deep], n[row], a[row]);
  lead[2] = ein_gpu_lead(n[deep], b[deep], n[lane], b[lane]);
  turned[2] = !lead[2];
  if (turned[2]) lead[2] = ein_gpu_lead(n[lane], b[lane], n[deep], b[deep]);
  return lead[0] && lead[1] && lead[2];
}

/* 0: it is for our kernels: there is no cuBLAS, or it has no such product. 1: it is made, or that has failed. */
static int ein_gpu_multiply(ein_ctx *ctx, ein_gpu *g, const ein_gpu_matrices *m) {
  int lead[3], turned[3], e = 0, outer = m->n > 4 ? m->n - 4 : 0;
  int64_t index[EIN_MAX_AXES] = {0}, calls = 1;
  char *at[3] = {m->at[0], m->at[1], m->at[2]};
  if (!g->handle || (g->old && m->dtype[1] == EIN_BF16) || (g->tf32 && m->dtype[1] == EIN_F32) || !ein_gpu_lie(m, lead, turned)) return 0;
  for (int k = 0; k < m->n; k++) {
    if (m->size[k] < 1 || m->size[k] > 2147483647) return 0;
    if (k < outer) calls *= m->size[k];
  }
  for (; calls > 0 && !e; calls--) {
    e = ein_gpu_gemm(g, m, lead, turned, at);
    if ((e == EIN_BLAS_NOT_SO || e == EIN_BLAS_NOT_HERE) && at[0] == m->at[0]) return 0;
    for (int k = outer - 1; k >= 0; k--) { /* on to the next pair */
      int more = ++index[k] < m->size[k];
      for (int i = 0; i < 3; i++) at[i] += m->bytes[i] * m->step[i][k] * (more ? 1 : 1 - m->size[k]);
      if (more) break;
      index[k] = 0;
    }
  }
  g->last = m->name;
  ein_gpu_blas_ok(ctx, g, e, m->name);
  return 1;
}
#endif

#endif
