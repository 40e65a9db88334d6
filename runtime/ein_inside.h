/* SPDX-License-Identifier: MIT-0 */
/*
 * Internals of the runtime under emitted C, shared by ein_run.c (contexts, plans, runs), ein_views.c (the
 * caller's tensors) and ein_team.c (threads).
 */
#ifndef EIN_INSIDE_H
#define EIN_INSIDE_H

#include "ein_run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Relaxed access to flags and counters shared by threads. The data that they guard are read after the threads
 * have synchronized. */
#if defined(__GNUC__)
#define EIN_GET(p)      __atomic_load_n(p, __ATOMIC_RELAXED)
#define EIN_PUT(p, x)   __atomic_store_n(p, x, __ATOMIC_RELAXED)
#define EIN_TAKE(p, x)  __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
/* The same, with everything written before made visible. */
#define EIN_SEE(p)      __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define EIN_SHOW(p, x)  __atomic_store_n(p, x, __ATOMIC_RELEASE)
#define EIN_LEAVE(p)    __atomic_sub_fetch(p, 1, __ATOMIC_ACQ_REL)
#else /* one thread, and perhaps another that cancels */
#define EIN_GET(p)      (*(p))
#define EIN_PUT(p, x)   ((void)(*(p) = (x)))
#define EIN_TAKE(p, x)  ((*(p) += (x)) - (x))
#undef EIN_PTHREADS
#define EIN_ALONE
#endif

enum { EIN_ALIGN = 64, EIN_MOST_THREADS = 1024 };

/* One ein_parallel: threads take numbers from `next`, `grab` at a time. */
typedef struct ein_job {
  ein_ctx *ctx;
  ein_task *task;
  uint64_t n, next, grab;
  int streams;
} ein_job;

typedef struct ein_team ein_team; /* the thread pool with EIN_PTHREADS */

/* The addresses between an argument's first and last element; low == high: none. */
typedef struct ein_span { uintptr_t low, high; } ein_span;

/* What a run compares an argument with: the last run's view, which was valid if the context's `bound` says so.
 * Shapes are compared with the plan's, strides with `told`, element types with the program's. */
typedef struct ein_seen {
  const void *data;
  uint64_t byte_offset;
  int given, strided;          /* 0: it was omitted; its strides were NULL */
  int buffer;
  uintptr_t skew;              /* the low bits that must be 0 in its address */
  int32_t device_type, device_id;
} ein_seen;

/* Memory that the host cannot access. Functions that return an int return 0 on failure, with the error in the
 * context. */
typedef struct ein_far {
  /* Copies `many` boxes of n dimensions and the same shape and steps. Box i begins at at[2 * i] in `to` and at
   * at[2 * i + 1] in `from`, in elements. at NULL: there is one box, at 0. */
  int (*boxes)(ein_ctx *ctx, size_t element, int64_t many, const int64_t *at, int n, const int64_t *extent, void *to,
      const int64_t *to_step, const void *from, const int64_t *from_step);
  void *(*take)(ein_ctx *ctx, size_t bytes); /* NULL if there is no memory */
  void (*drop)(ein_ctx *ctx, void *at);
  int (*bring)(ein_ctx *ctx, void *host, const void *from, size_t bytes);
  /* Prepares an exchange whose parcels are in that memory: makes parcels on the host with the data to send;
   * later copies what was received to where it belongs. key tells apart exchanges that are under way at once:
   * 0: a blocking one; k + 1: move k. */
  int (*lend)(ein_ctx *ctx, int key, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive,
      ein_parcel **on_host);
  int (*back)(ein_ctx *ctx, int key, int n_send, int n_receive, const ein_parcel *receive);
} ein_far;

/* Where moves and fetches find tensors. */
typedef struct ein_ground {
  void *const *data;           /* like the context's, on the host: by buffer, */
  const int64_t *stride;       /*   and by axis */
  char *const *room;           /* each move's working memory; NULL: it is in the workspace */
  const ein_far *far;          /* NULL: the tensors are in host memory */
} ein_ground;

/* The caller's tensors: those of the last run, to compare the next ones with. */
typedef struct ein_arguments {
  ein_seen *seen;              /* inputs, then outputs */
  int64_t *told;               /* by axis, like the context's strides: those of the last views */
  int bound;                   /* the views of the last run were valid */
  ein_span *span;              /* inputs, then outputs */
  unsigned char *given;        /* by buffer */
  int *input, *output;         /* their buffers */
} ein_arguments;

/* What lies in the workspace, since the plan: work buffers, then moves' memory. */
typedef struct ein_laid {
  int n_work, n;               /* work buffers; and all of it */
  int *work;                   /* of each work buffer (by its number among them): its buffer; */
  void **home;                 /*   its address */
  int64_t *offset, *bytes;     /* of each of all: its place in the workspace, and its size */
  int *first, *last, *order;   /*   the steps between which it is alive; their order in ein_layout */
} ein_laid;

/* The memory of a run, since the plan. */
typedef struct ein_memory {
  void *workspace;             /* owned or the caller's; NULL: none */
  size_t wanted, held;         /* bytes that the plan needs; bytes of `workspace` */
  void *nothing;               /* a few bytes, as the address of empty buffers */
  void *empty;                 /* the address of tensors without elements: `nothing`, or memory large enough for reads
                                * at an index from data, which is reported as out of range after the kernel; */
  size_t emptied;              /*   its size in bytes, if it was allocated separately */
} ein_memory;

/* One of several sites. */
typedef struct ein_exchanging {
  int parted;                  /* all sites know that one has failed, so this run makes no more exchanges */
  uint64_t partings;           /* how many runs and plans have ended so; the same at all sites */
  int under_way;               /* moves that have begun and not been waited for */
  ein_parcel *parcel;          /* room for a parcel to each site, then for one from each; */
  int *alike;                  /*   and for a number from each; */
  unsigned char *near;         /*   by move and site: whether they exchange something, since the plan */
  const ein_ground *ground;    /* for moves; NULL: host memory, as the context describes it */
} ein_exchanging;

/* The first index out of range in a run. */
typedef struct ein_fault_at { int site; int64_t index, extent; } ein_fault_at;

/* What a model for CUDA adds. */
typedef struct ein_device_side {
  void *state;                 /* on the device; NULL: none yet */
  void (*end)(void *state);
  /* Whether the device can use an argument's view in the memory that its device_type names. Returns 0 if not,
   * and says why. NULL: views must be on the CPU. */
  int (*holds)(ein_ctx *ctx, int buffer, const ein_tensor *x, char *why, size_t room);
} ein_device_side;

typedef struct ein_inside {    /* what each run accesses comes first */
  const ein_tables *tables;
  ein_arguments args;
  int begins;                  /* a run has something to initialise: work buffers, turns */
  volatile int cancel;         /* set by any thread */
  volatile int faults;         /* how many; the first one sets the error */
  ein_error error;             /* of the last call */
  ein_config config;
  ein_plan plan;
  int threads, planned;
  double worth_threads;
  size_t size;                 /* of the context's own block */
  int64_t *count;              /* elements, by buffer */
  ein_laid laid;
  ein_memory memory;
  ein_exchanging among;
  ein_fault_at fault;
  ein_team *team;
  ein_device_side device;
} ein_inside;

static inline const ein_buffer *ein_buffer_of(const ein_ctx *ctx, int buffer) {
  return &ctx->inside->tables->buffer[buffer];
}

/* " (attention.ein:5)", or "" if unknown. */
typedef struct ein_where { char text[160]; } ein_where;
EIN_API ein_where ein_where_of(const char *file, int line);

/* "label s", or "dimension 2" if labels have no names. */
typedef struct ein_axis { char text[64]; } ein_axis;
EIN_API ein_axis ein_axis_of(const ein_buffer *b, int axis);

EIN_API int ein_add_wraps(int64_t a, int64_t b, int64_t *sum);
EIN_API int ein_mul_wraps(int64_t a, int64_t b, int64_t *product);
EIN_API void ein_row_major(int ndim, const int64_t *shape, int64_t *stride);

/* ein_views.c: checks the caller's tensors and sets data and strides of their buffers. */
EIN_API ein_status ein_bind(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* A fast path for views that equal those of the last run, or only moved. Returns 0 if they do not, or if they
 * are not valid. */
EIN_API int ein_bound_again(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* The second part of that: the views have moved. */
EIN_API int ein_views_moved(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);

/* ein_team.c: turns what has happened (a fault, a cancel) into an error. */
EIN_API ein_status ein_settle(ein_ctx *ctx);
/* ein_run.c: an exchange over the context's wire, unless this site has failed. After an error, of this site or of
 * another one, the run makes no more exchanges. */
EIN_API ein_status ein_meet(
    ein_ctx *ctx, ein_status mine, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive);
/* Takes the status of an exchange that was made directly on the wire: if it failed, all sites agree how. */
EIN_API ein_status ein_met(ein_ctx *ctx, ein_status status);
EIN_API int ein_processors(void);
EIN_API int ein_team_size(const ein_config *config);      /* the number of threads wanted */
EIN_API size_t ein_team_bytes(int threads);               /* of a pool */
EIN_API void ein_team_start(ein_ctx *ctx, void *memory);  /* may start fewer threads */
EIN_API void ein_team_end(ein_ctx *ctx);

/* ---- the parts of a generated library's run, inline so that a small run costs little ---- */

EIN_API ein_status ein_run_first(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
EIN_API void ein_run_begin(ein_ctx *ctx);
EIN_API void ein_run_clear(ein_inside *in);
EIN_API ein_status ein_run_failed(ein_ctx *ctx, ein_status status);

/*
 * Whether the view of argument k (inputs, then outputs) differs from the last run's in more than its address.
 * Sets bits of `moved` if the address differs. The shape and strides are compared too, because their arrays may
 * have changed. dtype, ndim and `at` are the buffer's; `optional` is 0 if it has no default.
 */
EIN_INLINE int ein_view_other(
    const ein_ctx *ctx, int k, const ein_tensor *x, ein_dtype dtype, int ndim, int at, int optional, uintptr_t *moved) {
  const ein_inside *in = ctx->inside;
  const ein_seen *u = &in->args.seen[k];
  const int64_t *shape = ctx->shape + at, *told = in->args.told + at;
  *moved |= (uintptr_t)x->data ^ (uintptr_t)u->data;
  if (optional && !u->given) return 0;
  if (x->ndim != ndim || x->dtype != dtype || x->device_type != u->device_type || x->device_id != u->device_id ||
      x->byte_offset != u->byte_offset)
    return 1;
  if (ndim == 0) return 0;
  if (!x->shape || (x->strides != NULL) != u->strided) return 1;
  for (int a = 0; a < ndim; a++)
    if (x->shape[a] != shape[a]) return 1;
  for (int a = 0; x->strides && a < ndim; a++)
    if (x->strides[a] != told[a]) return 1;
  return 0;
}

/* Runs with the bound views. */
EIN_INLINE ein_status ein_run_bound(ein_ctx *ctx, ein_status (*body)(ein_ctx *)) {
  ein_inside *in = ctx->inside;
  if (in->error.status != EIN_OK || EIN_GET(&in->cancel) || EIN_GET(&in->faults)) ein_run_clear(in);
  if (in->begins) ein_run_begin(ctx);
  ein_status status = body(ctx);
  return status == EIN_OK ? EIN_OK : ein_run_failed(ctx, status);
}

/* Returns the context if it has views to compare others with, else NULL. */
EIN_INLINE ein_ctx *ein_bound(void *context) {
  ein_ctx *ctx = (ein_ctx *)context;
  return ctx && ctx->inside->args.bound ? ctx : NULL;
}

/* Runs with views that equal the last run's, or have moved. */
EIN_INLINE ein_status ein_run_like(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs, uintptr_t moved,
                                   ein_status (*body)(ein_ctx *)) {
  if (moved && !ein_views_moved(ctx, inputs, outputs)) return ein_run_first(ctx, inputs, outputs);
  return ein_run_bound(ctx, body);
}

/* Runs a task that has one chunk. No kernel before it has failed, or the run would have ended. */
EIN_INLINE ein_status ein_once(ein_ctx *ctx, ein_task *task) {
  ein_inside *in = ctx->inside;
  task(ctx, 0, 0);
  return EIN_GET(&in->cancel) | EIN_GET(&in->faults) ? ein_settle(ctx) : EIN_OK;
}

/* The turn of an outermost repeat, called between two of its turns. */
static inline int64_t ein_turns(ein_ctx *ctx) {
  return ctx->inside->config.between ? ein_between(ctx) : ctx->turn[0];
}

#ifdef __cplusplus
}
#endif

#endif
