/* tests/runtime/run_second.c - the second file of run_threads.c's program, with the same model and a runtime of its
 * own. */
#include "run_model.h"

const ein_tables *second_tables(void);
ein_status second_create(const ein_tables *t, const ein_config *config, void **ctx);
ein_status second_plan(void *ctx, const int64_t *dims);
ein_status second_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
void second_destroy(void *ctx);

const ein_tables *second_tables(void) { return &model_tables; }
ein_status second_create(const ein_tables *t, const ein_config *config, void **ctx) {
  return ein_create(t, config, ctx);
}
ein_status second_plan(void *ctx, const int64_t *dims) { return ein_plan_run(ctx, dims); }
ein_status second_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  return ein_run(ctx, inputs, outputs);
}
void second_destroy(void *ctx) { ein_destroy(ctx); }
