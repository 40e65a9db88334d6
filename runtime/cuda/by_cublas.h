/* SPDX-License-Identifier: MIT-0 */
/*
 * Matrix products by cuBLAS, for code that has some (EIN_PRODUCTS). Each context has a handle, in its stream
 * and with a workspace of its own. The arithmetic is the program's: f32 is not tf32, and halves are summed in
 * f32 and rounded once.
 */
#ifndef EIN_CUDA_BY_CUBLAS_H
#define EIN_CUDA_BY_CUBLAS_H

#if !defined(EIN_PRODUCTS)
static int ein_gpu_products(ein_ctx *ctx, ein_gpu *g) { return (void)ctx, (void)g, 1; }
static void ein_gpu_products_end(ein_gpu *g) { (void)g; }
static int ein_gpu_products_go(ein_gpu *g, void *stream) { return (void)g, (void)stream, 1; }
static int ein_gpu_products_back(ein_ctx *ctx, ein_gpu *g) { return (void)ctx, (void)g, 1; }
static int ein_gpu_product(ein_gpu *g, const uint64_t *w) { return (void)g, (void)w, 0; }
static int ein_gpu_product_ok(ein_ctx *ctx, ein_gpu *g, int status, const char *what) {
  return (void)ctx, (void)g, (void)status, (void)what, 1;
}
#else

static int ein_gpu_product_ok(ein_ctx *ctx, ein_gpu *g, int status, const char *what) {
  if (!status) return 1;
  if (!ein_gpu_ok(ctx, g, g->cu.stream_wait(g->stream), what)) return 0; /* an earlier kernel's error says more */
  ein_error_set(&ctx->inside->error, status == EIN_BLAS_NO_MEMORY ? EIN_ERR_MEMORY : EIN_ERR_IO,
      "cuBLAS: %s: %s; EIN_CUBLAS=off does without", what, ein_libcublas_word(status));
  return 0;
}

/* Sets the stream before the workspace, since a handle forgets its workspace when its stream changes. Returns
 * cuBLAS's status. */
static int ein_gpu_products_in(ein_gpu *g, void *stream) {
  int e = g->blas.set_stream(g->handle, stream);
  return e ? e : g->blas.set_workspace(g->handle, g->room, g->roomy);
}

/* Moves the handle to a stream that is being captured; undone by ein_gpu_products_back. */
static int ein_gpu_products_go(ein_gpu *g, void *stream) {
  if (!g->handle) return 1;
  g->away = 1;
  return !ein_gpu_products_in(g, stream);
}

static int ein_gpu_products_back(ein_ctx *ctx, ein_gpu *g) {
  if (!g->away) return 1;
  g->away = 0;
  return ein_gpu_product_ok(ctx, g, ein_gpu_products_in(g, g->stream), "the stream");
}

/* Sets up cuBLAS with a workspace of the size that NVIDIA recommends. */
static int ein_gpu_products(ein_ctx *ctx, ein_gpu *g) {
  const char *why;
  int major = 0;
  if (!ein_libcublas_open(&g->blas, &why)) return 1;
  if (!ein_gpu_ok(ctx, g, g->cu.device_attribute(&major, EIN_CU_MAJOR, g->device), "the device")) return 0;
  g->roomy = (size_t)(major >= 9 ? 32 : 4) << 20;
  g->old = major < 8;
  g->tf32 = ein_libcublas_tf32();
  if (!ein_gpu_product_ok(ctx, g, g->blas.create(&g->handle), "it does not start")) return g->handle = NULL, 0;
  g->room = ein_gpu_take(ctx, g, g->roomy, "the workspace of cuBLAS takes");
  return g->room && ein_gpu_product_ok(ctx, g, ein_gpu_products_in(g, g->stream), "the stream and memory") &&
         ein_gpu_product_ok(ctx, g, g->blas.set_math(g->handle, EIN_BLAS_NO_SHORT_SUMS), "the mode");
}

static void ein_gpu_products_end(ein_gpu *g) {
  if (g->handle) g->blas.destroy(g->handle);
  if (g->room) g->cu.memory_drop((uint64_t)(uintptr_t)g->room);
}

/* The result, the side with its rows, the side with its lanes. Steps are by loop; the last three loops are
 * rows, lanes and the sum. */
typedef struct ein_gpu_matrices {
  const char *name;
  int n;
  const int64_t *size, *step[3];
  char *at[3];
  int64_t bytes[3];            /* per element */
  ein_dtype dtype[3];
  double scale;
} ein_gpu_matrices;

static int ein_gpu_blas_type(ein_dtype t) {
  return t == EIN_F64 ? EIN_BLAS_F64 : t == EIN_F32 ? EIN_BLAS_F32 : t == EIN_F16 ? EIN_BLAS_F16 : EIN_BLAS_BF16;
}

/* Returns the leading dimension of a matrix stored row by row; 0: it is not stored like that, or cuBLAS does
 * not support it. */
static int ein_gpu_lead(int64_t rows, int64_t row_step, int64_t width, int64_t step) {
  int64_t lead = rows == 1 && row_step < width ? width : row_step;
  return (width == 1 || step == 1) && lead >= width && lead <= 2147483647 ? (int)lead : 0;
}

/* One call, for all pairs along the last loop before the rows. A row-major matrix is its transpose
 * column-major, so the sides are swapped. */
static int ein_gpu_gemm(ein_gpu *g, const ein_gpu_matrices *m, const int *lead, const int *across, char *const *at) {
  const int64_t *size = m->size + m->n - 3;
  int wide = m->dtype[1] == EIN_F64, sum = wide ? EIN_BLAS_BY_F64 : EIN_BLAS_BY_F32,
      in = ein_gpu_blas_type(m->dtype[1]), out = ein_gpu_blas_type(m->dtype[0]);
  float one = (float)m->scale, zero = 0;
  double one_64 = m->scale, zero_64 = 0;
  const void *alpha = wide ? (const void *)&one_64 : &one, *beta = wide ? (const void *)&zero_64 : &zero;
  int rows = (int)size[0], lanes = (int)size[1], deep = (int)size[2], b = m->n - 4;
  if (b < 0 || size[-1] == 1)
    return g->blas.product(g->handle, across[2], across[1], lanes, rows, deep, alpha, at[2], in, lead[2], at[1], in,
        lead[1], beta, at[0], out, lead[0], sum, EIN_BLAS_ANY_WAY);
  return g->blas.products(g->handle, across[2], across[1], lanes, rows, deep, alpha, at[2], in, lead[2], m->step[2][b],
      at[1], in, lead[1], m->step[1][b], beta, at[0], out, lead[0], m->step[0][b], (int)size[-1], sum,
      EIN_BLAS_ANY_WAY);
}

/* Finds each matrix's leading dimension, and whether it is transposed. Returns 0 if one of them has none. */
static int ein_gpu_lie(const ein_gpu_matrices *m, int *lead, int *across) {
  int row = m->n - 3, lane = row + 1, deep = row + 2;
  const int64_t *n = m->size, *c = m->step[0], *a = m->step[1], *b = m->step[2];
  lead[0] = ein_gpu_lead(n[row], c[row], n[lane], c[lane]);
  lead[1] = ein_gpu_lead(n[row], a[row], n[deep], a[deep]);
  across[1] = !lead[1];
  if (across[1]) lead[1] = ein_gpu_lead(n[deep], a[deep], n[row], a[row]);
  lead[2] = ein_gpu_lead(n[deep], b[deep], n[lane], b[lane]);
  across[2] = !lead[2];
  if (across[2]) lead[2] = ein_gpu_lead(n[lane], b[lane], n[deep], b[deep]);
  return lead[0] && lead[1] && lead[2];
}

/* One call for each pair along the other loops. Returns cuBLAS's status. */
static int ein_gpu_pairs(ein_gpu *g, const ein_gpu_matrices *m) {
  int lead[3], across[3], e = 0, outer = m->n > 4 ? m->n - 4 : 0;
  int64_t index[EIN_MAX_AXES] = {0}, calls = 1;
  char *at[3] = {m->at[0], m->at[1], m->at[2]};
  if (!ein_gpu_lie(m, lead, across)) return EIN_BLAS_NOT_SO;
  for (int k = 0; k < outer; k++) calls *= m->size[k];
  for (; calls > 0 && !e; calls--) {
    e = ein_gpu_gemm(g, m, lead, across, at);
    for (int k = outer - 1; k >= 0; k--) { /* advance to the next pair */
      int more = ++index[k] < m->size[k];
      for (int i = 0; i < 3; i++) at[i] += m->bytes[i] * m->step[i][k] * (more ? 1 : 1 - m->size[k]);
      if (more) break;
      index[k] = 0;
    }
  }
  return e;
}

/* ---- as a request: name, n, scale; for each matrix its dtype, bytes per element and address; sizes; steps of
 * each ---- */

enum { EIN_PRODUCT_HEAD = 12, EIN_PRODUCT_AT = 9 };
static size_t ein_gpu_product_words(const ein_gpu_matrices *m) { return EIN_PRODUCT_HEAD + 4 * (size_t)m->n; }

static void ein_gpu_product_put(uint64_t *w, const ein_gpu_matrices *m) {
  size_t n = (size_t)m->n;
  w[0] = (uint64_t)(uintptr_t)m->name, w[1] = n;
  memcpy(&w[2], &m->scale, sizeof m->scale);
  for (int k = 0; k < 3; k++) {
    w[3 + k] = (uint64_t)m->dtype[k], w[6 + k] = (uint64_t)m->bytes[k],
          w[EIN_PRODUCT_AT + k] = (uint64_t)(uintptr_t)m->at[k];
    memcpy(w + EIN_PRODUCT_HEAD + n * (size_t)(1 + k), m->step[k], n * sizeof *w);
  }
  memcpy(w + EIN_PRODUCT_HEAD, m->size, n * sizeof *w);
}

static int ein_gpu_product(ein_gpu *g, const uint64_t *w) {
  ein_gpu_matrices m = {.name = (const char *)(uintptr_t)w[0],
      .n = (int)w[1],
      .size = (const int64_t *)(const void *)(w + EIN_PRODUCT_HEAD)};
  memcpy(&m.scale, &w[2], sizeof m.scale);
  for (int k = 0; k < 3; k++) {
    m.dtype[k] = (ein_dtype)w[3 + k], m.bytes[k] = (int64_t)w[6 + k],
    m.at[k] = (char *)(uintptr_t)w[EIN_PRODUCT_AT + k];
    m.step[k] = m.size + m.n * (1 + k);
  }
  return ein_gpu_pairs(g, &m);
}

/* Hashes all that cuBLAS's choice may depend on: all words, but only the alignment of addresses. Never 0. */
static uint64_t ein_gpu_product_key(const uint64_t *w, size_t n) {
  uint64_t key = 0;
  for (size_t k = 0; k < n; k++)
    key = ein_asks_mix(key, k >= EIN_PRODUCT_AT && k < EIN_PRODUCT_HEAD ? w[k] % 256 : w[k]);
  return key ? key : 1;
}

/* Returns 0 if our kernels must compute it: there is no cuBLAS, or it does not support the product. Returns 1
 * if it was requested, computed, or has failed. The first time it is computed at once, because only then does
 * cuBLAS report whether it supports it. */
static int ein_gpu_multiply(ein_ctx *ctx, ein_gpu *g, const ein_gpu_matrices *m) {
  int lead[3], across[3], e;
  uint64_t word[EIN_PRODUCT_HEAD + 4 * EIN_MAX_AXES], key, *known;
  size_t words = ein_gpu_product_words(m);
  if (!g->handle || (g->old && m->dtype[1] == EIN_BF16) || (g->tf32 && m->dtype[1] == EIN_F32) ||
      !ein_gpu_lie(m, lead, across))
    return 0;
  if (m->n > EIN_MAX_AXES) return 0;
  for (int k = 0; k < m->n; k++)
    if (m->size[k] < 1 || m->size[k] > 2147483647) return 0;
  ein_gpu_product_put(word, m);
  key = ein_gpu_product_key(word, words), known = &g->known[key % 64];
  if (*known == key) {
    uint64_t *w = ein_gpu_ask(ctx, g, EIN_ASK_PRODUCT, words);
    if (w) memcpy(w, word, words * sizeof *w), ein_gpu_asked(ctx, g);
    return 1;
  }
  if (!ein_gpu_send(ctx, g)) return 1;
  e = ein_gpu_pairs(g, m);
  if (e == EIN_BLAS_NOT_SO || e == EIN_BLAS_NOT_HERE) return 0;
  g->last = m->name;
  if (ein_gpu_product_ok(ctx, g, e, m->name)) *known = key, g->counts->launches++;
  return 1;
}
#endif

#endif
