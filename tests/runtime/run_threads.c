/*
 * tests/runtime/run_threads.c - two contexts of two models in two threads, each with its own workers, while
 * a third cancels now and then. For ThreadSanitizer; tests/cmd/threads.sh builds it with run_second.c. Exit 0:
 * every run was right or was cancelled. C and C++.
 */
#include "run_model.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

const ein_tables *second_tables(void);
ein_status second_create(const ein_tables *t, const ein_config *config, void **ctx);
ein_status second_plan(void *ctx, const int64_t *dims);
ein_status second_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
void second_destroy(void *ctx);

enum { ROWS = 64, COLUMNS = 16, RUNS = 200 };

typedef struct Side {
  void *ctx;
  ein_status (*run)(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
  int wrong, cancelled, done;
} Side;

static ein_tensor tensor(void *data, ein_dtype t, int ndim, const int64_t *shape) {
  ein_tensor x;
  memset(&x, 0, sizeof x);
  x.data = data;
  x.device_type = 1;
  x.ndim = ndim;
  x.dtype = t;
  x.shape = shape;
  return x;
}

static void *side_run(void *arg) {
  Side *s = (Side *)arg;
  float x[ROWS][COLUMNS], z[ROWS], y[ROWS][COLUMNS], g[ROWS];
  int64_t p[ROWS];
  const int64_t shape[2] = {ROWS, COLUMNS};
  for (int i = 0; i < ROWS; i++) {
    p[i] = ROWS - 1 - i;
    for (int j = 0; j < COLUMNS; j++) x[i][j] = (float)i;
  }
  const ein_tensor in[3] = {
      tensor(x, EIN_F32, 2, shape), tensor(NULL, EIN_F32, 1, shape + 1), tensor(p, EIN_I64, 1, shape)};
  const ein_tensor out[3] = {tensor(z, EIN_F32, 1, shape), tensor(y, EIN_F32, 2, shape), tensor(g, EIN_F32, 1, shape)};
  for (int k = 0; k < RUNS; k++) {
    ein_status status = s->run(s->ctx, in, out);
    if (status == EIN_ERR_CANCEL) s->cancelled++;
    else if (status != EIN_OK) s->wrong++;
    else
      for (int i = 0; i < ROWS; i++)
        s->wrong += z[i] != (float)(2 * COLUMNS * i) || g[i] != (float)(2 * COLUMNS * (ROWS - 1 - i));
  }
  __atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
  return NULL;
}

int main(void) {
  ein_config config;
  const int64_t dims[2] = {ROWS, COLUMNS};
  Side side[2];
  pthread_t thread[2];
  memset(&config, 0, sizeof config);
  memset(side, 0, sizeof side);
  config.size = sizeof config;
  config.threads = 3;
  side[0].run = ein_run;
  side[1].run = second_run;
  if (ein_create(&model_tables, &config, &side[0].ctx) || ein_plan_run(side[0].ctx, dims)) return 2;
  if (second_create(second_tables(), &config, &side[1].ctx) || second_plan(side[1].ctx, dims)) return 2;
  for (int k = 0; k < 2; k++)
    if (pthread_create(&thread[k], NULL, side_run, &side[k])) return 2;
  while (!__atomic_load_n(&side[0].done, __ATOMIC_ACQUIRE)) {
    ein_cancel(side[0].ctx);
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
  for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
  ein_destroy(side[0].ctx);
  second_destroy(side[1].ctx);
  printf("wrong %d %d, cancelled %d %d\n", side[0].wrong, side[1].wrong, side[0].cancelled, side[1].cancelled);
  return side[0].wrong || side[1].wrong || side[1].cancelled;
}
