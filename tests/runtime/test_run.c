/*
 * The runtime under emitted C, driven by the model of run_model.h: what is computed, and above all what is
 * refused, with which words; memory and its failures; cancelling; layouts of work memory.
 */
#define RUN_HOOK model_hook
#include "run_model.h"
#include "../tap.h"

#include <stdlib.h>

/* ---- a caller ---- */

typedef struct Memory { int calls, live, fail_at; size_t bytes; } Memory;

static void *memory_get(void *user, size_t bytes, size_t alignment) {
  Memory *m = user;
  if (++m->calls == m->fail_at) return NULL;
  m->live++;
  m->bytes += bytes;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void memory_drop(void *user, void *p, size_t bytes) {
  Memory *m = user;
  m->live--;
  m->bytes -= bytes;
  free(p);
}

static ein_config config_of(Memory *m, int threads) {
  return (ein_config){
      .size = sizeof(ein_config), .threads = threads, .alloc = memory_get, .release = memory_drop, .user = m};
}

enum { ROWS = 37, COLUMNS = 11 };
typedef struct Data {
  float x[ROWS][COLUMNS], w[COLUMNS], z[ROWS], y[ROWS][COLUMNS], g[ROWS];
  int64_t p[ROWS];
  int64_t xy[2], row[1], column[1];
  int64_t x_stride[2], z_stride[1], y_stride[2];
  ein_tensor in[3], out[3];
} Data;

static ein_tensor tensor(void *data, ein_dtype t, int ndim, const int64_t *shape) {
  return (ein_tensor){.data = data, .device_type = 1, .ndim = ndim, .dtype = t, .shape = shape};
}

static void data_start(Data *d, int64_t n, int64_t m) {
  memset(d, 0, sizeof *d);
  for (int i = 0; i < ROWS; i++) {
    d->p[i] = n ? (i * 7) % n : 0;
    for (int j = 0; j < COLUMNS; j++) d->x[i][j] = (float)(i - 2 * j) / 8;
  }
  for (int j = 0; j < COLUMNS; j++) d->w[j] = (float)(j + 1) / 4;
  d->xy[0] = d->row[0] = n, d->xy[1] = d->column[0] = m;
  d->in[0] = tensor(d->x, EIN_F32, 2, d->xy), d->in[1] = tensor(d->w, EIN_F32, 1, d->column);
  d->in[2] = tensor(d->p, EIN_I64, 1, d->row), d->out[0] = tensor(d->z, EIN_F32, 1, d->row);
  d->out[1] = tensor(d->y, EIN_F32, 2, d->xy), d->out[2] = tensor(d->g, EIN_F32, 1, d->row);
}

/* A context that is planned for all of Data. */
static ein_ctx *context(Memory *m, int threads, int64_t n, int64_t columns) {
  ein_config c = config_of(m, threads);
  void *ctx;
  if (ein_create(&model_tables, &c, &ctx) != EIN_OK) return NULL;
  ein_plan_run(ctx, (const int64_t[]){n, columns});
  return ctx;
}

/* Whether z, y and g hold what x, w and p give; w NULL: twos. */
static bool data_right(const Data *d, const float *w) {
  float s[ROWS];
  for (int i = 0; i < ROWS; i++) {
    s[i] = 0;
    for (int j = 0; j < COLUMNS; j++) {
      float t = d->x[i][j] * (w ? w[j] : 2);
      s[i] += t;
      if (d->y[i][j] != t + 1) return false;
    }
    if (d->z[i] != s[i]) return false;
  }
  for (int i = 0; i < ROWS; i++)
    if (d->g[i] != s[d->p[i]]) return false;
  return true;
}

static int hook_does; /* 1: cancels; 2: fails an assert */
static void model_hook(ein_ctx *ctx) {
  if (hook_does == 1) ein_cancel(ctx);
  if (hook_does == 2) ein_failed_assert(ctx, "X is small", "model.ein", 9);
}

/* ---- what is computed ---- */

static void test_results(void) {
  static const int threads[] = {1, 2, 7};
  Data first, d;
  for (int k = 0; k < 3; k++) {
    Memory m = {0};
    ein_ctx *ctx = context(&m, threads[k], ROWS, COLUMNS);
    data_start(&d, ROWS, COLUMNS);
    OK_INT(ein_run(ctx, d.in, d.out), EIN_OK, "%d threads run", threads[k]);
    OK(data_right(&d, d.w), "results are right");
    if (k == 0) first = d;
    OK(!memcmp(first.z, d.z, sizeof d.z) && !memcmp(first.y, d.y, sizeof d.y) && !memcmp(first.g, d.g, sizeof d.g),
       "with the same bits");
    d.in[1].data = NULL;
    OK(ein_run(ctx, d.in, d.out) == EIN_OK && data_right(&d, NULL), "an input that is left out takes its default");
    d.in[1].data = d.w;
    OK(ein_run(ctx, d.in, d.out) == EIN_OK && data_right(&d, d.w), "an input that is given again is used");
    ein_destroy(ctx);
    OK(m.live == 0 && m.bytes == 0, "all memory is given back");
  }
}

static void test_strides(void) {
  Memory m = {0};
  Data d;
  ein_ctx *ctx = context(&m, 1, ROWS, COLUMNS);
  static float x[COLUMNS][ROWS], zg[ROWS][2], y[2 * ROWS][COLUMNS][2];
  data_start(&d, ROWS, COLUMNS);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) x[j][ROWS - 1 - i] = d.x[i][j];
  d.in[0].data = x;
  d.in[0].byte_offset = sizeof(float) * (ROWS - 1);
  d.in[0].strides = (const int64_t[]){-1, ROWS}; /* transposed, backwards */
  d.out[0].data = &zg[0][0], d.out[2].data = &zg[0][1]; /* two columns of one matrix */
  d.out[0].strides = d.out[2].strides = (const int64_t[]){2};
  d.out[1].data = y;
  d.out[1].strides = (const int64_t[]){4 * COLUMNS, 2};
  y[0][0][1] = 5;
  OK_INT(ein_run(ctx, d.in, d.out), EIN_OK, "strides: transposed, backwards, interleaved");
  OK_STR(ein_last_error(ctx), "", "nothing is said");
  OK(!ein_dense(ctx, B_X) && ein_dense(ctx, B_W) && !ein_dense(ctx, B_Z) && ein_dense(ctx, B_T),
      "dense is what has no gaps");
  for (int i = 0; i < ROWS; i++) {
    d.z[i] = zg[i][0], d.g[i] = zg[i][1];
    for (int j = 0; j < COLUMNS; j++) d.y[i][j] = y[2 * i][j][0];
  }
  OK(data_right(&d, d.w) && y[0][0][1] == 5, "are right, and what is between is left alone");
  ein_destroy(ctx);
}

/* What a run compares with is the last one's views. */
static void test_views_change(void) {
  Memory m = {0};
  static Data d[3];
  static float wide[ROWS][2 * COLUMNS], other[ROWS][2 * COLUMNS];
  ein_ctx *ctx = context(&m, 1, ROWS, COLUMNS);
  for (int k = 0; k < 3; k++) {
    data_start(&d[k], ROWS, COLUMNS);
    d[k].x[0][0] = (float)k; /* so that no other's results will do */
  }
  static const int order[] = {0, 0, 0, 1, 0, 2, 1, 2, 2, 0};
  for (int k = 0; k < 10; k++) {
    Data *one = &d[order[k]];
    memset(one->y, 0, sizeof one->y);
    OK(ein_run(ctx, one->in, one->out) == EIN_OK && data_right(one, one->w), "run %d: the same, then elsewhere", k);
  }
  const int64_t gaps[] = {2 * COLUMNS, 1}, none[] = {COLUMNS, 1};
  memset(other, 0, sizeof other);
  for (int i = 0; i < ROWS; i++) memcpy(wide[i], d[0].x[i], sizeof d[0].x[i]);
  ein_tensor *x = &d[0].in[0];
  x->strides = none;
  OK(ein_run(ctx, d[0].in, d[0].out) == EIN_OK && data_right(&d[0], d[0].w) && ein_dense(ctx, B_X),
      "row-major strides");
  x->data = wide, x->strides = gaps;
  OK(ein_run(ctx, d[0].in, d[0].out) == EIN_OK && data_right(&d[0], d[0].w) && !ein_dense(ctx, B_X), "others");
  OK(ein_run(ctx, d[0].in, d[0].out) == EIN_OK && data_right(&d[0], d[0].w), "and again");
  x->data = other;
  OK(ein_run(ctx, d[0].in, d[0].out) == EIN_OK && d[0].z[1] == 0 && d[0].y[1][1] == 1, "other data at another address");
  x->data = d[0].x, x->strides = NULL;
  OK(ein_run(ctx, d[0].in, d[0].out) == EIN_OK && data_right(&d[0], d[0].w) && ein_dense(ctx, B_X),
      "none, as at first");
  OK(ein_again(ctx) == EIN_OK && data_right(&d[0], d[0].w), "again");
  d[0].xy[1]--; /* the same pointer to another shape */
  OK_INT(ein_run(ctx, d[0].in, d[0].out), EIN_ERR_SHAPE, "the shape that a view points to is another one");
  OK_INT(ein_again(ctx), EIN_ERR_PLAN, "nothing to do again");
  d[0].xy[1]++;
  for (int k = 0; k < 4; k++) {
    d[0].in[1].data = k % 2 ? d[0].w : NULL;
    for (int again = 0; again < 2; again++)
      OK(ein_run(ctx, d[0].in, d[0].out) == EIN_OK && data_right(&d[0], k % 2 ? d[0].w : NULL),
          "left out, given, left out, given");
  }
  ein_destroy(ctx);
}

static void test_sizes(void) {
  Memory m = {0};
  Data d;
  int64_t shape[2] = {-1, -1};
  ein_ctx *ctx = context(&m, 2, ROWS, COLUMNS);
  size_t large = ein_workspace_bytes(ctx);
  OK(large >= 2 * 64 + sizeof d.x && m.bytes >= large, "the workspace holds work and scratch");
  OK_INT(ein_plan_run(ctx, (const int64_t[]){0, 0}), EIN_OK, "plan again: nothing");
  data_start(&d, 0, 0);
  OK_INT(ein_run(ctx, d.in, d.out), EIN_OK, "runs over nothing");
  for (int b = 0; b < B_N; b++)
    if (!ctx->data[b]) OK(false, "buffer %d is NULL", b);
  d.in[0].data = d.in[2].data = d.out[0].data = d.out[1].data = d.out[2].data = NULL;
  OK_INT(ein_run(ctx, d.in, d.out), EIN_OK, "where nothing is wanted, data may be NULL");
  OK_INT(ein_plan_run(ctx, (const int64_t[]){ROWS, COLUMNS}), EIN_OK, "plan again: as before");
  OK(ein_workspace_bytes(ctx) == large, "takes the same");
  data_start(&d, ROWS, COLUMNS);
  OK(ein_run(ctx, d.in, d.out) == EIN_OK && data_right(&d, d.w), "the result is right");
  OK(ein_argument_shape(ctx, 1, 1, shape) == EIN_OK && shape[0] == ROWS && shape[1] == COLUMNS, "an argument's shape");
  OK_INT(ein_argument_shape(ctx, 1, 3, shape), EIN_ERR_ARG, "there is no fourth output");
  OK_INT(ein_argument_shape(ctx, 1, 1, NULL), EIN_ERR_ARG, "a shape has to go somewhere");
  ein_destroy(ctx);
}

/* ---- what is refused ---- */

static void plan_fails(ein_ctx *ctx, int64_t n, int64_t m, ein_status status, const char *text) {
  Data d;
  OK_INT(ein_plan_run(ctx, (const int64_t[]){n, m}), status, "planning %lld, %lld", (long long)n, (long long)m);
  OK_STR(ein_last_error(ctx), text, "says why");
  data_start(&d, ROWS, COLUMNS);
  OK_INT(ein_run(ctx, d.in, d.out), EIN_ERR_PLAN, "without a plan there is no run");
}

static void test_bad_sizes(void) {
  Memory m = {0};
  ein_ctx *ctx = context(&m, 3, 1, 1);
  plan_fails(ctx, -1, 2, EIN_ERR_SHAPE, "the size N is -1, which is less than 0");
  plan_fails(ctx, 13, 2, EIN_ERR_ASSERT, "N is unlucky (model.ein:1)");
  plan_fails(ctx, INT64_MAX, 2, EIN_ERR_SHAPE,
             "X would take more than 2^63 bytes: label i has the extent 9223372036854775807 (model.ein:2)");
  plan_fails(ctx, (int64_t)1 << 31, (int64_t)1 << 31, EIN_ERR_SHAPE,
             "X would take more than 2^63 bytes: label i has the extent 2147483648 (model.ein:2)");
  plan_fails(ctx, 1, (int64_t)1 << 60, EIN_ERR_SHAPE, "the work memory does not fit 64 bits");
  OK_INT(ein_plan_run(ctx, NULL), EIN_ERR_ARG, "no sizes at all");
  OK_INT(ein_plan_run(ctx, (const int64_t[]){2, 2}), EIN_OK, "it can still be planned");
  ein_destroy(ctx);
  OK(m.live == 0, "all memory is given back");
}

static void run_fails(ein_ctx *ctx, Data *d, ein_status status, const char *text) {
  OK_INT(ein_run(ctx, d->in, d->out), status, "%s", text);
  OK_STR(ein_last_error(ctx), text, "in these words");
  data_start(d, ROWS, COLUMNS);
}

/* By a context that has not run since the last refusal, and by one whose last run had views that were in order. */
static void refused(ein_ctx *ctx, Data *d, ein_status status, const char *text) {
  ein_tensor in[3], out[3];
  memcpy(in, d->in, sizeof in), memcpy(out, d->out, sizeof out);
  run_fails(ctx, d, status, text);
  OK(ein_run(ctx, d->in, d->out) == EIN_OK && data_right(d, d->w), "a run in order");
  memcpy(d->in, in, sizeof in), memcpy(d->out, out, sizeof out);
  run_fails(ctx, d, status, text);
}

static void test_bad_shapes(ein_ctx *ctx, Data *d) {
  const int64_t wrong[2] = {ROWS, COLUMNS - 1};
  d->in[0].data = NULL;
  refused(ctx, d, EIN_ERR_ARG, "input X: its data is NULL (model.ein:2)");
  d->out[1].data = NULL;
  refused(ctx, d, EIN_ERR_ARG, "output Y: its data is NULL (model.ein:6)");
  d->in[2].device_type = 2;
  refused(ctx, d, EIN_ERR_ARG, "input P: it is on a device of type 2, but 1, the CPU, is expected (model.ein:7)");
  d->in[1].dtype = EIN_F64;
  refused(ctx, d, EIN_ERR_DTYPE, "input W: its dtype is f64, but f32 is expected (model.ein:3)");
  d->in[1].dtype = (ein_dtype)77;
  refused(ctx, d, EIN_ERR_DTYPE, "input W: 77 is not a dtype; f32 is expected (model.ein:3)");
  d->in[0].ndim = 1;
  refused(ctx, d, EIN_ERR_SHAPE, "input X: it has 1 dimension, but 2 are expected (model.ein:2)");
  d->in[0].shape = wrong;
  refused(ctx, d, EIN_ERR_SHAPE, "input X: label j has the extent 10, but 11 is expected (model.ein:2)");
  d->in[2].shape = wrong + 1;
  refused(ctx, d, EIN_ERR_SHAPE, "input P: dimension 1 has the extent 10, but 37 is expected (model.ein:7)");
  d->in[0].shape = NULL;
  refused(ctx, d, EIN_ERR_ARG, "input X: its shape is NULL (model.ein:2)");
  d->in[0].byte_offset = 2;
  refused(ctx, d, EIN_ERR_ARG, "input X: its data is not aligned to the 4 bytes of f32 (model.ein:2)");
  d->in[0].data = (char *)d->x + 2;
  refused(ctx, d, EIN_ERR_ARG, "input X: its data is not aligned to the 4 bytes of f32 (model.ein:2)");
  d->in[0].data = (void *)(UINTPTR_MAX - 3);
  refused(ctx, d, EIN_ERR_ARG, "input X: its strides reach beyond the address space (model.ein:2)");
}

static void test_bad_strides(ein_ctx *ctx, Data *d) {
  static const int64_t wraps[] = {INT64_MAX, INT64_MIN, (int64_t)1 << 60, (int64_t)1 << 59, -((int64_t)1 << 58)};
  static float both[ROWS * COLUMNS * 2];
  for (int k = 0; k < 5; k++) {
    d->in[0].strides = (const int64_t[]){wraps[k], 1};
    refused(ctx, d, EIN_ERR_ARG, "input X: its strides reach beyond the address space (model.ein:2)");
  }
  d->in[0].byte_offset = UINT64_MAX - 3;
  refused(ctx, d, EIN_ERR_ARG, "input X: its strides reach beyond the address space (model.ein:2)");
  d->out[0].strides = (const int64_t[]){0};
  refused(ctx, d, EIN_ERR_ARG, "output Z: its elements overlap each other: label i has the stride 0 (model.ein:5)");
  d->out[1].strides = (const int64_t[]){COLUMNS - 1, 1};
  refused(ctx, d, EIN_ERR_ARG, "output Y: its elements overlap each other: label i has the stride 10 (model.ein:6)");
  d->out[1].strides = (const int64_t[]){1, 1};
  refused(ctx, d, EIN_ERR_ARG, "output Y: its elements overlap each other: label j has the stride 1 (model.ein:6)");
  d->in[0].strides = (const int64_t[]){0, 0};
  OK_INT(ein_run(ctx, d->in, d->out), EIN_OK, "an input may repeat its elements");
  data_start(d, ROWS, COLUMNS);
  d->out[1].data = d->x;
  refused(ctx, d, EIN_ERR_ARG, "output Y: it shares memory with input X (model.ein:6)");
  d->out[2].data = d->z + 1;
  refused(ctx, d, EIN_ERR_ARG, "output G: it shares memory with output Z (model.ein:8)");
  d->in[0].data = both, d->out[1].data = both + COLUMNS; /* every other row */
  d->in[0].strides = d->out[1].strides = (const int64_t[]){2 * COLUMNS, 1};
  OK_INT(ein_run(ctx, d->in, d->out), EIN_OK, "two halves of one matrix's rows");
  d->out[1].data = both + COLUMNS - 1;
  refused(ctx, d, EIN_ERR_ARG, "output Y: it shares memory with input X (model.ein:6)");
}

static void test_refused(void) {
  Memory m = {0};
  Data d;
  ein_ctx *ctx = context(&m, 1, ROWS, COLUMNS);
  data_start(&d, ROWS, COLUMNS);
  test_bad_shapes(ctx, &d);
  test_bad_strides(ctx, &d);
  OK_INT(ein_run(ctx, NULL, d.out), EIN_ERR_ARG, "no inputs");
  OK_STR(ein_last_error(ctx), "the inputs are NULL", "says so");
  OK(ein_run(ctx, d.in, d.out) == EIN_OK && data_right(&d, d.w), "after all of it, a run");
  ein_destroy(ctx);
}

static void test_faults(void) {
  for (int threads = 1; threads < 8; threads += 3) {
    Memory m = {0};
    Data d;
    ein_ctx *ctx = context(&m, threads, ROWS, COLUMNS);
    data_start(&d, ROWS, COLUMNS);
    d.p[20] = -1;
    run_fails(ctx, &d, EIN_ERR_INDEX, "index 1 of S, label i: -1 is out of range, its size is 37 (model.ein:8)");
    hook_does = 1;
    run_fails(ctx, &d, EIN_ERR_CANCEL, "cancelled");
    hook_does = 2;
    run_fails(ctx, &d, EIN_ERR_ASSERT, "X is small (model.ein:9)");
    hook_does = 0;
    ein_cancel(ctx);
    OK(ein_run(ctx, d.in, d.out) == EIN_OK && data_right(&d, d.w), "the next run is a new one");
    ein_destroy(ctx);
  }
}

/* Whether it comes before the first run or a later one. */
static void test_stop(void) {
  Memory m = {0};
  Data d;
  volatile int stop = 0;
  void *ctx;
  ein_config c = config_of(&m, 2);
  c.stop = &stop;
  data_start(&d, ROWS, COLUMNS);
  OK(ein_create(&model_tables, &c, &ctx) == EIN_OK && ein_plan_run(ctx, (const int64_t[]){ROWS, COLUMNS}) == EIN_OK,
      "a flag of the caller's");
  for (int k = 0; k < 3; k++) {
    stop = 1;
    ein_cancel(ctx);
    OK_INT(ein_run(ctx, d.in, d.out), EIN_ERR_CANCEL, "a cancel that comes before run %d is not lost", k);
    stop = 0;
    OK(ein_run(ctx, d.in, d.out) == EIN_OK && data_right(&d, d.w), "the stop ends with its flag");
  }
  ein_destroy(ctx);
}

/* ---- memory, settings ---- */

static void test_no_allocation(void) {
  Memory m = {0};
  Data d;
  ein_ctx *ctx = context(&m, 2, ROWS, COLUMNS);
  data_start(&d, ROWS, COLUMNS);
  int before = m.calls, wrong = 0;
  for (int k = 0; k < 1000; k++) wrong += ein_run(ctx, d.in, d.out) != EIN_OK;
  OK(wrong == 0 && data_right(&d, d.w), "1000 runs");
  OK_INT(m.calls, before, "allocate nothing");
  ein_destroy(ctx);
}

static void test_failing_memory(void) {
  int n = 1;
  for (;; n++) {
    Memory m = {.fail_at = n};
    ein_config c = config_of(&m, 2);
    void *ctx;
    ein_status s = ein_create(&model_tables, &c, &ctx);
    if (s == EIN_OK) s = ein_plan_run(ctx, (const int64_t[]){ROWS, COLUMNS});
    bool failed = m.calls >= n;
    OK_INT(s, failed ? EIN_ERR_MEMORY : EIN_OK, "allocation %d fails", n);
    ein_destroy(ctx);
    OK(m.live == 0 && m.bytes == 0, "all memory is given back");
    if (!failed) break;
  }
  OK(n > 2, "there were some");
}

typedef struct Workers { int calls, threads; } Workers;
static void backwards(void *user, int threads, ein_task *task, void *env, int64_t n) {
  Workers *w = user;
  w->calls++;
  w->threads = threads;
  for (int64_t i = n; i-- > 0;) task(env, i, (int)(i % threads));
}

static void test_settings(void) {
  Data d;
  Workers w = {0};
  void *ctx;
  static char own[65536] __attribute__((aligned(64)));
  ein_config c = {.size = offsetof(ein_config, parallel), .threads = 2, .parallel = backwards, .user = &w};
  data_start(&d, ROWS, COLUMNS);
  OK(ein_create(&model_tables, &c, &ctx) == EIN_OK && ein_plan_run(ctx, (const int64_t[]){ROWS, COLUMNS}) == EIN_OK &&
       ein_run(ctx, d.in, d.out) == EIN_OK && w.calls == 0,
     "fields beyond `size` are not read");
  ein_destroy(ctx);
  c.size = sizeof c;
  c.workspace = own;
  c.workspace_bytes = 64;
  OK(ein_create(&model_tables, &c, &ctx) == EIN_OK, "a borrowed workspace");
  OK_INT(ein_plan_run(ctx, (const int64_t[]){ROWS, COLUMNS}), EIN_ERR_PLAN, "that is too small");
  char text[128];
  snprintf(text, sizeof text, "the workspace has 64 bytes, but %d are needed", (int)ein_workspace_bytes(ctx));
  OK_STR(ein_last_error(ctx), text, "says how much is wanted");
  ein_destroy(ctx);
  c.workspace_bytes = sizeof own;
  ein_create(&model_tables, &c, &ctx);
  OK(ein_plan_run(ctx, (const int64_t[]){ROWS, COLUMNS}) == EIN_OK && ein_run(ctx, d.in, d.out) == EIN_OK &&
          data_right(&d, d.w),
      "one that is large enough");
  OK(w.calls == 2 && w.threads == 2, "the caller's threads did it");
  d.out[0].data = own + 4096 - 64;
  OK_INT(ein_run(ctx, d.in, d.out), EIN_OK, "an output behind what is used of it");
  d.out[0].data = own;
  OK_INT(ein_run(ctx, d.in, d.out), EIN_ERR_ARG, "an output in what is used of it is refused");
  OK_STR(ein_last_error(ctx), "output Z: it shares memory with the workspace (model.ein:5)", "says so");
  ein_destroy(ctx);
  OK(ein_create(&model_tables, NULL, &ctx) == EIN_OK, "no settings at all");
  ein_destroy(ctx);
  c.threads = -1;
  OK(ein_create(&model_tables, &c, &ctx) == EIN_ERR_ARG && !ctx, "less than no threads");
  c.threads = 0;
  c.size = 0;
  OK_INT(ein_create(&model_tables, &c, &ctx), EIN_ERR_ARG, "settings without their size");
  c.size = sizeof c;
  c.workspace = own + 8;
  OK_INT(ein_create(&model_tables, &c, &ctx), EIN_ERR_ARG, "a workspace that is not aligned");
}

/* ---- layouts ---- */

enum { MANY = 10000 };
static int64_t bytes[MANY], offset[MANY];
static int first[MANY], last[MANY], order[MANY];

static int64_t alive_most(int n) {
  int64_t most = 0;
  for (int k = 0; k < n; k++) {
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
      if (first[i] <= first[k] && first[k] <= last[i]) sum += (bytes[i] + 63) / 64 * 64;
    if (sum > most) most = sum;
  }
  return most;
}

static bool apart(int n, int64_t total) {
  for (int a = 0; a < n; a++) {
    if (offset[a] % 64 || offset[a] < 0 || offset[a] + bytes[a] > total) return false;
    for (int b = 0; b < a; b++)
      if (first[a] <= last[b] && first[b] <= last[a] && offset[a] < offset[b] + bytes[b] &&
          offset[b] < offset[a] + bytes[a])
        return false;
  }
  return true;
}

static void lifetimes(int n, int longest, unsigned seed) {
  for (int k = 0; k < n; k++) {
    seed = seed * 1664525u + 1013904223u;
    bytes[k] = (int64_t)((seed >> 12) % 5000) * (seed % 7 == 0 ? 50 : 1);
    first[k] = k;
    last[k] = k + (int)(seed >> 8) % longest;
  }
}

/* Of a step of training: what is alive at steps 9 and 10 leaves no room, and needs it at different places. */
static const int64_t step_bytes[] = {
    512000, 512000, 256000, 256000, 128000, 32000, 128000, 512000, 260000, 130000, 524288, 256000, 576000, 200000, 256000};
static const int step_first[] = {0, 1, 2, 3, 4, 5, 7, 9, 4, 8, 10, 0, 2, 5, 9},
                 step_last[] = {10, 2, 9, 11, 5, 7, 11, 10, 4, 8, 10, 0, 2, 5, 9};

static void test_layout(void) {
  double worst = 1;
  bool right = true;
  for (unsigned seed = 0; seed < 60; seed++) {
    int n = 1 + (int)seed * 5;
    lifetimes(n, 1 + (int)seed % 20, seed);
    int64_t total = ein_layout(n, bytes, first, last, offset, order), most = alive_most(n);
    right &= total >= most && apart(n, total);
    if (most && (double)total / (double)most > worst) worst = (double)total / (double)most;
  }
  OK(right, "no two that live together share bytes");
  OK(worst < 1.08, "peak memory is at most %.3f of what is alive", worst);
  memcpy(bytes, step_bytes, sizeof step_bytes), memcpy(first, step_first, sizeof step_first);
  memcpy(last, step_last, sizeof step_last);
  OK_INT(ein_layout((int)(sizeof step_bytes / sizeof *step_bytes), bytes, first, last, offset, order), 1932288,
         "two full steps, one after the other");
  lifetimes(MANY, 12, 5);
  int64_t total = ein_layout(MANY, bytes, first, last, offset, order), most = alive_most(MANY);
  OK(apart(MANY, total) && (double)total < 1.2 * (double)most, "10000 buffers: %.3f", (double)total / (double)most);
  bytes[0] = bytes[1] = INT64_MAX / 2;
  OK_INT(ein_layout(MANY, bytes, first, last, offset, order), -1, "what does not fit 64 bits");
  bytes[0] = -1;
  OK_INT(ein_layout(1, bytes, first, last, offset, order), -1, "a negative size");
  OK_INT(ein_layout(0, bytes, first, last, offset, order), 0, "nothing takes nothing");
}

static void test_plan_arithmetic(void) {
  ein_plan p = {0};
  ein_plan_add(&p, INT64_MAX, 0), ein_plan_sub(&p, -1, INT64_MIN), ein_plan_mul(&p, INT64_MIN, 1),
      ein_plan_neg(&p, INT64_MAX);
  ein_plan_mul(&p, -((int64_t)1 << 31), (int64_t)1 << 32);
  OK(!p.wrapped && ein_plan_sub(&p, -1, INT64_MIN) == INT64_MAX, "what fits");
  static const int64_t a[] = {INT64_MAX, INT64_MIN, 0, INT64_MIN, INT64_MIN, (int64_t)1 << 32, INT64_MAX};
  static const int64_t b[] = {1, 1, INT64_MIN, 0, -1, (int64_t)1 << 31, 2};
  for (int k = 0; k < 7; k++) {
    p.wrapped = 0;
    if (k == 0) ein_plan_add(&p, a[k], b[k]);
    else if (k == 1 || k == 2) ein_plan_sub(&p, a[k], b[k]);
    else if (k == 3) ein_plan_neg(&p, a[k]);
    else ein_plan_mul(&p, a[k], b[k]);
    OK(p.wrapped, "what does not: %d", k);
  }
}

int main(void) {
  test_results();
  test_strides();
  test_views_change();
  test_sizes();
  test_bad_sizes();
  test_refused();
  test_faults();
  test_stop();
  test_no_allocation();
  test_failing_memory();
  test_settings();
  test_layout();
  test_plan_arithmetic();
  return DONE();
}
