/* codegen/jit/model.h - a program as a model in this process, without compiling a text of its own. In: its loops, and
 * the functions of its kernels, each loaded by itself. Out: tables for the runtime, whose sizes and run follow the
 * TaskGraph. This is the data form of what an emitted file says about a program (emit/c_tables.c, emit/c.c). */
#ifndef EIN_MODEL_H
#define EIN_MODEL_H

#include "emit/emit.h"
#include "ein_inside.h"

/* The runtime with which the kernels were loaded. */
#define JIT_RUNTIME(X)                                                                                          \
  X(ein_argument_shape)                                                                                         \
  X(ein_between) X(ein_cancel) X(ein_create) X(ein_default) X(ein_destroy) X(ein_exchange) X(ein_failed_assert) \
      X(ein_given) X(ein_i64) X(ein_last_error) X(ein_parallel) X(ein_parallel_streams) X(ein_plan_add)         \
          X(ein_plan_check) X(ein_plan_mul) X(ein_plan_neg) X(ein_plan_run) X(ein_plan_size) X(ein_plan_sub)    \
              X(ein_run) X(ein_set_i64) X(ein_settle) X(ein_state) X(ein_step_begins) X(ein_true)               \
                  X(ein_workspace_bytes) X(ein_zero)
typedef struct JitRuntime {
#define X(name) __typeof__(&name) name;
  JIT_RUNTIME(X)
#undef X
} JitRuntime;

typedef struct JitKernel { EmitKernel made; ein_task *const *part; } JitKernel;

typedef struct JitModel { ein_model face; ein_tables tables; } JitModel;
/* The model of a program for one site, allocated in the arena; kernel: one for each of its kernels. dense: they were
 * compiled only for views in row-major order. Contexts are made by runtime->ein_create from the tables: the face has
 * no `create`, nor labels of axes. */
const JitModel *jit_model(Arena *a, const LoopProgram *p, const EmitOptions *o, const JitKernel *kernel, bool dense,
    const JitRuntime *runtime);

#endif
