/* SPDX-License-Identifier: MIT-0 */
/*
 * Inside of the runtime under emitted C: what ein_run.c (contexts, plans, runs), ein_views.c (the caller's
 * tensors) and ein_team.c (threads) share.
 */
#ifndef EIN_INSIDE_H
#define EIN_INSIDE_H

#include "ein_run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags and counters that several threads see. What they guard is read after the threads have met. */
#if defined(__GNUC__)
#define EIN_GET(p)      __atomic_load_n(p, __ATOMIC_RELAXED)
#define EIN_PUT(p, x)   __atomic_store_n(p, x, __ATOMIC_RELAXED)
#define EIN_TAKE(p, x)  __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
/* The same, with all that was written before. */
#define EIN_SEE(p)      __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define EIN_SHOW(p, x)  __atomic_store_n(p, x, __ATOMIC_RELEASE)
#define EIN_LEAVE(p)    __atomic_sub_fetch(p, 1, __ATOMIC_ACQ_REL)
#else /* there is one thread, and perhaps one that cancels */
#define EIN_GET(p)      (*(p))
#define EIN_PUT(p, x)   ((void)(*(p) = (x)))
#define EIN_TAKE(p, x)  ((*(p) += (x)) - (x))
#undef EIN_PTHREADS
#define EIN_ALONE
#endif

enum { EIN_ALIGN = 64, EIN_MOST_THREADS = 1024 };

/* One ein_parallel: numbers are taken from `next` in portions of `grab`. */
typedef struct ein_job {
  ein_ctx *ctx;
  ein_task *task;
  uint64_t n, next, grab;
  int streams;
} ein_job;

typedef struct ein_team ein_team; /* the pool of EIN_PTHREADS */

/* The bytes between the first and the last element of an argument; low == high: none. */
typedef struct ein_span { uintptr_t low, high; } ein_span;

/* What a run compares an argument with: the view of the last run, which was in order if the context's `bound` says so. Shapes
 * are compared with the plan's, strides with `told`, element types with the program's. */
typedef struct ein_seen {
  const void *data;
  uint64_t byte_offset;
  int given, strided;          /* 0: it was left out; its strides were NULL */
  int buffer;
  uintptr_t skew;              /* the bits that its address has not */
  int32_t device_type, device_id;
} ein_seen;

/* Memory that no processor of the host can touch. Of what gives an int, 0: it failed, and the context has an error. */
typedef struct ein_far {
  /* Boxes of n dimensions, many of one kind, from there to there; steps, and by box at[2 * i] and at[2 * i + 1], where it begins in `to` and in `from`, in
   * elements. at NULL: there is one, and it begins there. */
  int (*boxes)(ein_ctx *ctx, size_t element, int64_t many, const int64_t *at, int n, const int64_t *extent, void *to, const int64_t *to_step,
               const void *from, const int64_t *from_step);
  void *(*take)(ein_ctx *ctx, size_t bytes); /* NULL: there is none */
  void (*drop)(ein_ctx *ctx, void *at);
  int (*bring)(ein_ctx *ctx, void *host, const void *from, size_t bytes);
  /* An exchange whose parcels lie there: in their stead, parcels on the host, with what is sent; then what was received goes to where it belongs. key: of
   * those that are under way at once, which; 0: it is waited for at once, k + 1: the move k. */
  int (*lend)(ein_ctx *ctx, int key, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive, ein_parcel **on_host);
  int (*back)(ein_ctx *ctx, int key, int n_send, int n_receive, const ein_parcel *receive);
} ein_far;

/* Where moves and fetches find tensors. */
typedef struct ein_ground {
  void *const *data;           /* as the context's, on the host: of each buffer, */
  const int64_t *stride;       /*   and by axis */
  char *const *room;           /* what each move works in; NULL: in the workspace */
  const ein_far *far;          /* NULL: it is the host's memory */
} ein_ground;

typedef struct ein_inside {    /* what each run touches stands first */
  const ein_tables *tables;
  ein_seen *seen;              /* of inputs, then outputs */
  int64_t *told;               /* by axis, as the context's strides: what the last views said */
  int bound;                   /* the views of the last run were in order */
  int begins;                  /* there is what a run begins with: work, turns */
  int parted;                  /* all sites know that one of them has failed: they meet no more in this run */
  int under_way;               /* moves that have begun, and are not waited for yet */
  volatile int cancel;         /* set by any thread */
  volatile int faults;         /* how many; the first one says which */
  ein_error error;             /* of the last call */
  ein_config config;
  ein_plan plan;
  int threads, planned;
  double worth_threads;
  int fault_site;
  int64_t fault_index, fault_extent;
  int64_t *count;              /* of each buffer */
  int64_t *offset;             /* of each work buffer in the workspace, by its number among them, and of what each move works in; */
  int64_t *bytes;              /*   so these */
  int *first, *last, *order;
  int *work;                   /*   and its buffer, */
  int n_work, n_laid;          /* n_laid: and moves, which come behind work buffers */
  void **home;                 /*   and where that lies */
  int *input, *output;         /* the buffers of arguments */
  ein_span *span;              /* of inputs, then outputs */
  unsigned char *given;        /* by buffer */
  void *workspace;             /* its own or the caller's; NULL: none */
  size_t wanted, held;         /* bytes: of the plan, of `workspace` */
  void *nothing;               /* some bytes, for what has none */
  void *empty;                 /* where tensors without elements lie: there, or where what an index from data asks of them may be read, which is
                                  told as out of range when the kernel is over; */
  size_t emptied;              /*   so many bytes, if it is a piece of its own */
  ein_parcel *parcel;          /* of several sites: room for one to each, then for one from each; */
  int *alike;                  /*   and a number for each */
  size_t size;                 /* of the context's own block */
  ein_team *team;
  const ein_ground *ground;    /* of moves; NULL: the host, as the context has it */
  void *device;                /* of a text for CUDA: what it has there; NULL: nothing yet */
  void (*device_end)(void *device);
  /* Whether it takes an argument's view that lies where its device_type says, and that is so; else 0, and why. NULL: views are on the CPU. */
  int (*device_holds)(ein_ctx *ctx, int buffer, const ein_tensor *x, char *why, size_t room);
} ein_inside;

static inline const ein_buffer *ein_buffer_of(const ein_ctx *ctx, int buffer) {
  return &ctx->inside->tables->buffer[buffer];
}

/* " (attention.ein:5)", or "" where nothing is known. */
typedef struct ein_where { char text[160]; } ein_where;
EIN_API ein_where ein_where_of(const char *file, int line);

/* "label s", or "dimension 2" where labels have no names. */
typedef struct ein_axis { char text[64]; } ein_axis;
EIN_API ein_axis ein_axis_of(const ein_buffer *b, int axis);

EIN_API int ein_add_wraps(int64_t a, int64_t b, int64_t *sum);
EIN_API int ein_mul_wraps(int64_t a, int64_t b, int64_t *product);
EIN_API void ein_row_major(int ndim, const int64_t *shape, int64_t *stride);

/* ein_views.c: checks the caller's tensors and makes data and strides of their buffers. */
EIN_API ein_status ein_bind(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* The same in little time where they are as they were in the last run, which bound them, or lie elsewhere. 0: they are not, or
 * not in order. */
EIN_API int ein_bound_again(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* The second half of that: they lie elsewhere. */
EIN_API int ein_views_moved(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);

/* ein_team.c. What has been met is made an error: a fault, the caller's wish to cancel. */
EIN_API ein_status ein_settle(ein_ctx *ctx);
/* ein_run.c: an exchange over the context's wire. Where it fails, this run meets no more, and the context has an error. */
EIN_API ein_status ein_meet(ein_ctx *ctx, ein_status mine, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive);
/* What an exchange came to, if it is not called by that. */
EIN_API ein_status ein_met(ein_ctx *ctx, ein_status status);
EIN_API int ein_processors(void);
EIN_API int ein_team_size(const ein_config *config);      /* as many threads as are wanted */
EIN_API size_t ein_team_bytes(int threads);               /* of a pool */
EIN_API void ein_team_start(ein_ctx *ctx, void *memory);  /* may leave fewer threads */
EIN_API void ein_team_end(ein_ctx *ctx);

/* ---- what a generated library's run is made of, so that a small one costs little ---- */

EIN_API ein_status ein_run_first(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
EIN_API void ein_run_begin(ein_ctx *ctx);
EIN_API void ein_run_clear(ein_inside *in);
EIN_API ein_status ein_run_failed(ein_ctx *ctx, ein_status status);

/*
 * Whether the view of argument k (inputs, then outputs) differs from the last run's in more than where its data is; that is
 * added to `moved`. What a view points to may have changed too. dtype, ndim and `at` are its buffer's; `optional` is 0 where
 * it has no default.
 */
EIN_INLINE int ein_view_other(const ein_ctx *ctx, int k, const ein_tensor *x, ein_dtype dtype, int ndim, int at, int optional,
                              uintptr_t *moved) {
  const ein_inside *in = ctx->inside;
  const ein_seen *u = &in->seen[k];
  const int64_t *shape = ctx->shape + at, *told = in->told + at;
  *moved |= (uintptr_t)x->data ^ (uintptr_t)u->data;
  if (optional && !u->given) return 0;
  if (x->ndim != ndim || x->dtype != dtype || x->device_type != u->device_type || x->device_id != u->device_id || x->byte_offset != u->byte_offset) return 1;
  if (ndim == 0) return 0;
  if (!x->shape || (x->strides != NULL) != u->strided) return 1;
  for (int a = 0; a < ndim; a++)
    if (x->shape[a] != shape[a]) return 1;
  for (int a = 0; x->strides && a < ndim; a++)
    if (x->strides[a] != told[a]) return 1;
  return 0;
}

/* With the views that are bound. */
EIN_INLINE ein_status ein_run_bound(ein_ctx *ctx, ein_status (*body)(ein_ctx *)) {
  ein_inside *in = ctx->inside;
  if (in->error.status != EIN_OK || EIN_GET(&in->cancel) || EIN_GET(&in->faults)) ein_run_clear(in);
  if (in->begins) ein_run_begin(ctx);
  ein_status status = body(ctx);
  return status == EIN_OK ? EIN_OK : ein_run_failed(ctx, status);
}

/* NULL, or a context that has views to compare others with. */
EIN_INLINE ein_ctx *ein_bound(void *context) {
  ein_ctx *ctx = (ein_ctx *)context;
  return ctx && ctx->inside->bound ? ctx : NULL;
}

/* Views that are the last run's, or have moved. */
EIN_INLINE ein_status ein_run_like(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs, uintptr_t moved,
                                   ein_status (*body)(ein_ctx *)) {
  if (moved && !ein_views_moved(ctx, inputs, outputs)) return ein_run_first(ctx, inputs, outputs);
  return ein_run_bound(ctx, body);
}

/* A task that is in one piece. No kernel before it has failed, or the run would have ended. */
EIN_INLINE ein_status ein_once(ein_ctx *ctx, ein_task *task) {
  ein_inside *in = ctx->inside;
  task(ctx, 0, 0);
  return EIN_GET(&in->cancel) | EIN_GET(&in->faults) ? ein_settle(ctx) : EIN_OK;
}

/* The turn of a repeat that stands in no other, between two of them. */
static inline int64_t ein_turns(ein_ctx *ctx) {
  return ctx->inside->config.between ? ein_between(ctx) : ctx->turn[0];
}

#ifdef __cplusplus
}
#endif

#endif
