/* tests/runtime/run_model.h - a small model as a generated file would have it, for test_run.c and the programs of
 * tests/cmd/threads.sh. Each file that includes it has a model and a runtime of its own.
 *
 *     dim N, M
 *     input X[i:N, j:M] : f32
 *     param W[j:M] : f32 = 2
 *     input P[i:N] : i64
 *     T[i, j] = X[i, j] * W[j]
 *     S[i] = sum[j] T[i, j]
 *     output Z[i] = S[i], Y[i, j] = T[i, j] + 1, G[i] = S[P[i]]
 */
#ifndef RUN_MODEL_H
#define RUN_MODEL_H

#define EIN_STATIC
#include "ein_run.h"

enum { B_X, B_W, B_P, B_Z, B_Y, B_G, B_T, B_DEFAULT, B_SUM, B_N, BUFFERS };

static const char *const model_dim[] = {"N", "M"};
static const ein_argument model_input[] = {
  {"X", EIN_F32, 2, 0, 0}, {"W", EIN_F32, 1, 1, 1}, {"P", EIN_I64, 1, 0, 0}};
static const ein_argument model_output[] = {{"Z", EIN_F32, 1, 0, 0}, {"Y", EIN_F32, 2, 0, 0}, {"G", EIN_F32, 1, 0, 0}};
static const ein_buffer model_buffer[BUFFERS] = {
  {0, 0, EIN_F32, 2, 0, 0, 0, "X", "i, j", "model.ein", 2},
  {0, 1, EIN_F32, 1, 2, 0, 0, "W", "j", "model.ein", 3},
  {0, 2, EIN_I64, 1, 3, 0, 0, "P", NULL, "model.ein", 7},
  {1, 0, EIN_F32, 1, 4, 0, 0, "Z", "i", "model.ein", 5},
  {1, 1, EIN_F32, 2, 5, 0, 0, "Y", "i, j", "model.ein", 6},
  {1, 2, EIN_F32, 1, 7, 0, 0, "G", "i", "model.ein", 8},
  {2, 0, EIN_F32, 2, 8, 1, 3, "T", "i, j", "model.ein", 4},
  {2, 0, EIN_F32, 1, 10, 0, 3, NULL, "j", NULL, 0},
  {2, 0, EIN_F32, 1, 11, 1, 4, "S", "i", "model.ein", 5},
  {2, 0, EIN_I64, 0, 12, 0, 4, "n", NULL, NULL, 0},
};
static const ein_site model_site[] = {{"index 1 of S, label i", "model.ein", 8, 0}};

static void model_sizes(ein_plan *p, const int64_t *dim) {
  const int64_t N = dim[0], M = dim[1];
  const int64_t shape[] = {N, M, M, N, N, N, M, N, N, M, M, N};
  ein_plan_check(p, N != 13, "N is unlucky", "model.ein", 1);
  ein_plan_size(p, ein_plan_sub(p, N, 0), "the size of dimension 1 of X", "model.ein", 2);
  for (int k = 0; k < 12; k++) p->shape[k] = shape[k];
  p->size[0] = N;
  p->size[1] = M;
  p->size[2] = ein_plan_mul(p, N, M);
  p->scratch = ein_plan_mul(p, 4, M);
}

static void model_default(void *env, int64_t i, int worker) {
  ein_ctx *ctx = (ein_ctx *)env;
  (void)worker;
  ((float *)ctx->data[B_DEFAULT])[i] = 2;
}

/* A row of T, Z and Y by way of the worker's scratch; S too. */
static void model_row(void *env, int64_t i, int worker) {
  ein_ctx *ctx = (ein_ctx *)env;
  const int64_t M = ctx->size[1], *stride = ctx->stride;
  const float *X = (const float *)ctx->data[B_X], *W = (const float *)ctx->data[B_W];
  float *T = (float *)ctx->data[B_T], *row = (float *)(void *)(ctx->scratch + (size_t)worker * ctx->scratch_bytes);
  float sum = 0;
  for (int64_t j = 0; j < M; j++) row[j] = X[i * stride[0] + j * stride[1]] * W[j * stride[2]];
  for (int64_t j = 0; j < M; j++) {
    T[i * M + j] = row[j];
    ((float *)ctx->data[B_Y])[i * stride[5] + j * stride[6]] = row[j] + 1;
    sum += row[j];
  }
  ((float *)ctx->data[B_Z])[i * stride[4]] = sum;
  ((float *)ctx->data[B_SUM])[i] = sum;
}

static void model_gather(void *env, int64_t i, int worker) {
  ein_ctx *ctx = (ein_ctx *)env;
  const int64_t *P = (const int64_t *)ctx->data[B_P];
  const float *S = (const float *)ctx->data[B_SUM];
  (void)worker;
  ((float *)ctx->data[B_G])[i * ctx->stride[7]] =
    ctx->size[0] ? S[ein_within(P[i * ctx->stride[3]], ctx->size[0], 0)] : 0;
}

#ifdef RUN_HOOK /* a call from inside of the run */
static void RUN_HOOK(ein_ctx *ctx);
#endif

static ein_status model_body(ein_ctx *ctx) {
  const double many = 1e6; /* so that threads are worth it */
  if (!ein_given(ctx, B_W)) {
    ein_parallel(ctx, model_default, ctx->size[1], many);
    ein_default(ctx, B_W, B_DEFAULT);
  }
  ein_zero(ctx, B_SUM);
  ein_zero(ctx, B_Y);
#ifdef RUN_HOOK
  RUN_HOOK(ctx);
#endif
  if (ein_parallel(ctx, model_row, ctx->size[0], many)) return ein_state(ctx);
  ein_set_i64(ctx, B_N, ctx->size[0]);
  for (ctx->turn[0] = 0; ctx->turn[0] < ein_i64(ctx, B_N) && ctx->turn[0] < 2; ctx->turn[0]++)
    if (ein_cancelled(ctx)) return ein_state(ctx);
  return ein_parallel(ctx, model_gather, ctx->size[0], many);
}

static const ein_tables model_tables = {
  "model", "model.ein", 2, 3, 3, BUFFERS, 12, 3, 1, 1, 5,
  model_dim, model_input, model_output, model_buffer, model_site, model_sizes, model_body, 0, 0, NULL, NULL,
};

#endif
