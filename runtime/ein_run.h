/* SPDX-License-Identifier: MIT-0 */
/*
 * What stands under emitted C: the context, its plan and its checks, threads, and the few calls that
 * an emitted run is made of. A generated file defines EIN_STATIC before it includes this, which then
 * brings the sources in with it: all symbols are the file's own, so two models link into one program.
 * With the flag -DEIN_APART they stay out: the file is linked against a runtime that was compiled once.
 *
 * A generated file is: one function a kernel; `sizes`, which computes every size from the dims, with
 * checks; `body`, the run, as a list of calls; and the tables below, which say the rest as data.
 *
 * Threads are OpenMP's where the file is compiled with it; with EIN_PTHREADS a pool of the context's own;
 * else there is one. C99 and C++ clean; wants -lm, and what the threads want.
 */
#ifndef EIN_RUN_H
#define EIN_RUN_H

#if defined(EIN_CUDA)
#include "cuda/device.h"
#elif defined(EIN_STATIC) && defined(__GNUC__) && !defined(__clang__)
/* They would take a tile's sums out of registers (seen with 12.2). */
#pragma GCC optimize("no-loop-unroll-and-jam", "no-tree-loop-distribute-patterns")
#endif

#include "ein_ops.h"
#include "ein_tensor.h"
#if !defined(EIN_CUDA)
#include "ein_lanes.h"
#include "ein_stream.h"
#include "ein_turn.h"
#endif
#if !defined(__CUDACC_RTC__) /* the host's, up to ein_rng.c */
#if defined(EIN_CUDA)
#undef EIN_INLINE
#define EIN_INLINE static inline
#define ein_stream_end() ((void)0) /* nothing of the host streams */
#endif

#if defined(__GNUC__)
#define EIN_RESTRICT __restrict__
#define EIN_ALIGNED __attribute__((aligned(64)))
#else
#define EIN_RESTRICT
#define EIN_ALIGNED
#endif
/* In front of a loop whose iterations do not depend on each other. */
#if defined(EIN_VECTOR)
#elif defined(__clang__)
#ifdef EIN_STATIC /* a loop that stays scalar is no cause for a warning */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#define EIN_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#define EIN_ROLL _Pragma("clang loop unroll(disable)") /* in front of a loop that is to stay one */
#elif defined(__GNUC__)
#ifdef EIN_STATIC /* nor is a comparison whose answer the types tell: u8 >= 0 */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
#define EIN_VECTOR _Pragma("GCC ivdep")
#define EIN_SHORT _Pragma("GCC unroll 1") _Pragma("GCC ivdep") /* 16 turns or fewer: gcc would write them out one by one */
#define EIN_ROLL _Pragma("GCC unroll 1")
#else
#define EIN_VECTOR
#endif
#ifndef EIN_SHORT
#define EIN_SHORT EIN_VECTOR
#endif
/* In front of one over n elements of so many bytes each, a power of two: all of it is as many vectors as that takes. Clang would write them out one
 * by one, and make vectors of what it then finds: pieces, or the turns of the loop around it, which it scatters (seen with 19.1). */
#if defined(__clang__) && defined(__AVX2__)
#if defined(__AVX512F__) && !defined(EIN_ANY_WIDTH)
#define EIN_HELD_BYTES 64
#else
#define EIN_HELD_BYTES 32
#endif
#define EIN_PRAGMA(x) _Pragma(#x)
#define EIN_HELD_BY(wide, vectors) EIN_PRAGMA(clang loop vectorize(assume_safety) vectorize_width(wide) interleave_count(vectors) unroll(disable))
#define EIN_HELD(n, size) \
  EIN_HELD_BY((n) * (size) < EIN_HELD_BYTES ? (n) : EIN_HELD_BYTES / (size), (n) * (size) < EIN_HELD_BYTES ? 1 : (n) * (size) / EIN_HELD_BYTES)
#else
#define EIN_HELD(n, size) EIN_SHORT
#endif
#ifndef EIN_ROLL
#define EIN_ROLL
#endif

/* In front of a loop of constant length that is to be written out. Clang is not asked: it does so where it likes, and where 19.1 is
 * asked at -O3, it makes wrong sums of tests/run/contraction_in_place.ein (integers of 64 bits that are cut to 32). */
#if defined(__GNUC__) && !defined(__clang__)
#define EIN_UNROLL _Pragma("GCC unroll 64")
#else
#define EIN_UNROLL
#endif

/* A condition around loops, as likely as not. Else gcc guesses, and makes no vectors where it takes a loop to be cold (seen
 * with 12.2, where the condition is about the variable of a short loop around it). */
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
#define EIN_MAYBE(x) __builtin_expect_with_probability(!!(x), 1, 0.5)
#endif
#endif
#ifndef EIN_MAYBE
#define EIN_MAYBE(x) (x)
#endif

/* In front of what is to stay a function: what calls it shall be short, and saves no registers for it. */
#if defined(__GNUC__)
#define EIN_FAR __attribute__((noinline))
#else
#define EIN_FAR
#endif
/* In front of a kernel, which is a function of its own. Loops are made for vectors of 64 bytes. Compilers that tune for some of the processors that have
 * them take vectors half as long instead, which here takes up to twice the time; EIN_ANY_WIDTH lets them. (Clang knows the width by a flag alone: it is
 * told to tune for a processor that has no such wish.)
 * A text that is compiled for any x86-64 has each in three versions, of which the one that suits the machine is called; EIN_ONE_VERSION turns that off.
 * Only the two later ones have ein_fma as one instruction, so what is inlined into a kernel is told which one it is in. */
#if defined(__AVX512F__) && !defined(EIN_ANY_WIDTH)
#if defined(__clang__)
#if __clang_major__ >= 12 && !defined(__znver4__) && !defined(__znver5__)
#define EIN_KERNEL_FOR EIN_FAR __attribute__((target("tune=haswell")))
#endif
#elif defined(__GNUC__) && __GNUC__ >= 8
#define EIN_KERNEL_FOR EIN_FAR __attribute__((target("prefer-vector-width=512")))
#endif
#elif defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__AVX2__) && !defined(EIN_FMA) && !defined(EIN_ONE_VERSION) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                                                       \
    ((defined(__clang__) && __clang_major__ >= 18) || (!defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 12))
#if !defined(__clang__)
#define EIN_VERSIONS 1
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define EIN_VERSIONS 1
#endif
#endif

#if defined(EIN_VERSIONS)
#define EIN_FUSED_PARAMETER , EIN_UNUSED int ein_fused
#define EIN_FUSED , ein_fused
EIN_INLINE float ein_fma_if_f32(int fused, float a, float b, float c) { return fused ? fmaf(a, b, c) : a * b + c; }
EIN_INLINE double ein_fma_if_f64(int fused, double a, double b, double c) { return fused ? fma(a, b, c) : a * b + c; }
#define ein_fma_f32(a, b, c) ein_fma_if_f32(ein_fused, a, b, c)
#define ein_fma_f64(a, b, c) ein_fma_if_f64(ein_fused, a, b, c)
#define EIN_KERNEL(name)                                                                           \
  void name(void *env, int64_t chunk, int worker);                                                 \
  EIN_INLINE void name##_of(void *env, int64_t chunk, int worker, int ein_fused);                  \
  static EIN_FAR __attribute__((target("arch=x86-64-v4"))) void name##_v4(void *env, int64_t chunk, int worker) { \
    name##_of(env, chunk, worker, 1);                                                              \
  }                                                                                                \
  static EIN_FAR __attribute__((target("arch=x86-64-v3"))) void name##_v3(void *env, int64_t chunk, int worker) { \
    name##_of(env, chunk, worker, 1);                                                              \
  }                                                                                                \
  static EIN_FAR void name##_v1(void *env, int64_t chunk, int worker) { name##_of(env, chunk, worker, 0); } \
  static void name(void *env, int64_t chunk, int worker) {                                         \
    if (__builtin_cpu_supports("x86-64-v4")) name##_v4(env, chunk, worker);                        \
    else if (__builtin_cpu_supports("x86-64-v3")) name##_v3(env, chunk, worker);                   \
    else name##_v1(env, chunk, worker);                                                            \
  }                                                                                                \
  EIN_INLINE void name##_of(void *env, int64_t chunk, int worker, EIN_UNUSED int ein_fused)
#else
#ifndef EIN_KERNEL_FOR
#define EIN_KERNEL_FOR EIN_FAR
#endif
#define EIN_FUSED_PARAMETER
#define EIN_FUSED
#define EIN_KERNEL(name) EIN_KERNEL_FOR void name(void *env, int64_t chunk, int worker)
#endif

/*
 * Less work than this (scalar operations, about) is done by the calling thread alone. Measured with two threads: a
 * region of OpenMP's costs 0.4 to 1 microseconds while its threads still spin, and pays from 4,000 dependent scalar
 * operations or 100,000 in vectors on; waking threads that sleep costs 5 to 50. A text that was made for a known machine says its own bound.
 */
#ifndef EIN_WORTH_THREADS
#define EIN_WORTH_THREADS 50000.0
#endif
#if defined(EIN_DENSE)
#define EIN_ALL_DENSE 1
#else
#define EIN_ALL_DENSE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tables, emitted as static const ---- */

typedef struct ein_buffer {
  int space;             /* 0 input, 1 output, 2 work */
  int argument;          /* its number among the inputs or outputs */
  ein_dtype dtype;
  int ndim, at;          /* its shape and strides begin at shape[at], stride[at] of the context */
  int first, last;       /* work: between these steps its content is wanted */
  const char *name;
  const char *labels;    /* "s, a": names of its axes, for messages; NULL: none */
  const char *file;      /* where it is defined; NULL: nowhere */
  int line;
} ein_buffer;

typedef struct ein_site { /* a gathered index that is checked as it runs */
  const char *text, *file;
  int line;
  int asked;             /* the index says no more than that it is out of range: of what other sites were asked for */
} ein_site;

typedef struct ein_ctx ein_ctx;
typedef struct ein_plan ein_plan;

typedef struct ein_tables {
  const char *name, *source;
  int n_dims, n_inputs, n_outputs, n_buffers, n_axes, n_sizes, n_turns, n_sites, n_steps;
  const char *const *dim;
  const ein_argument *input, *output;
  const ein_buffer *buffer;  /* inputs and outputs are buffers too; an argument's buffer has its number in `argument` */
  const ein_site *site;
  void (*sizes)(ein_plan *p, const int64_t *dim);
  ein_status (*body)(ein_ctx *ctx);
  double worth_threads;      /* EIN_WORTH_THREADS, as the text was compiled; 0: the runtime's own */
  int dense;                 /* EIN_ALL_DENSE: whether it was compiled for views in row-major order alone */
  const struct ein_mesh *mesh; /* of several sites; else NULL */
  ein_status (*ready)(ein_ctx *ctx); /* of a text for a device: behind the sizes, takes memory there, and there is none here; else NULL */
} ein_tables;

/* Of a run that several sites make together: a tensor goes from one buffer to another, sites apart. By axis of the mesh: the dimension
 * that is cut, or one of these. */
enum { EIN_ALL = -1, EIN_PART = -2, EIN_SOME = -3 };
typedef struct ein_move_row {
  int from, to;          /* buffers of one rank and type */
  const signed char *of, *onto;
  void (*fold)(void *to, const void *part, int64_t n); /* takes n parts into n others; NULL: nothing is combined so */
  /* By argmax and argmin: n parts with their places (INT64_MAX: of nothing), which stand in buffers beside these; else NULL. */
  void (*best)(void *to, int64_t *place, const void *part, const int64_t *part_place, int64_t n);
  int place_from, place_to;
  const int64_t *wrap;   /* by dimension: place j of `to` is j % wrap of `from`, where that is not 0; NULL: none is so */
  int step, end;         /* the move begins at the one, and its end is waited for behind the other */
  int shares;            /* an all-reduce: each site combines a share, and has the others' from those who did */
} ein_move_row;

/* What is read at data, X[T[s], d], from whichever site has it. The result's first dimensions are points, each with an index or several. */
typedef struct ein_fetch_row {
  int table, points, to; /* buffers; points: i64, the indices of each point, if it has several one behind the other */
  int n_point, n_index;  /* dimensions of `to` that are points; indices of one */
  const signed char *index; /* by dimension of the table: which index of a point it is; -1: it is as long as the next dimension of `to` */
} ein_fetch_row;

typedef struct ein_mesh {
  int n;
  const int *size;       /* of each axis */
  const ein_move_row *move;
  const ein_fetch_row *fetch;
  /* The box of the whole tensor that a buffer has at a site; 0: it is not there. at: where the site is, by axis. */
  int (*box)(ein_plan *p, const int64_t *at, int buffer, int64_t *low, int64_t *high);
  int n_moves;
  int64_t (*staged)(ein_ctx *ctx, int move); /* bytes that a move works in: ein_staged */
} ein_mesh;

/* ---- planning: what `sizes` is given ---- */

struct ein_plan {
  int64_t *size;         /* n_sizes: sizes that kernels use, by number */
  int64_t *shape;        /* n_axes: of all buffers, one after the other */
  int64_t scratch;       /* bytes of a worker's own memory; `sizes` raises it to what the largest kernel wants */
  int wrapped;           /* an operation below did not fit 64 bits */
  ein_error *error;
};
/* Checked arithmetic; // and % are ein_idiv_i64 and ein_mod_i64. */
EIN_API int64_t ein_plan_add(ein_plan *p, int64_t a, int64_t b);
EIN_API int64_t ein_plan_sub(ein_plan *p, int64_t a, int64_t b);
EIN_API int64_t ein_plan_mul(ein_plan *p, int64_t a, int64_t b);
EIN_API int64_t ein_plan_neg(ein_plan *p, int64_t a);
/* `what` ("the size of dimension 2 of X") is not less than 0; a check of the program's, with its text and line. */
EIN_API void ein_plan_size(ein_plan *p, int64_t size, const char *what, const char *file, int line);
EIN_API void ein_plan_check(ein_plan *p, int holds, const char *text, const char *file, int line);

/* ---- running: what kernels and `body` see ---- */

struct ein_ctx {
  const int64_t *size;         /* by number */
  const int64_t *shape;        /* of buffer b from buffer[b].at on */
  int64_t *stride;             /* in elements; work buffers, and inputs that take their default, are row-major */
  void **data;                 /* of each buffer: its first element, */
  unsigned char *dense;        /*   and whether its strides are those of row-major order; always so for work */
  int64_t *turn;               /* by depth */
  const int *bound;            /* of a kernel that is called for several: for each of its places a buffer, and its first axis; sites */
  char *scratch;               /* worker w's begins at scratch + w * scratch_bytes, 64-byte aligned */
  size_t scratch_bytes;
  struct ein_inside *inside;   /* the runtime's own */
};

/*
 * task(ctx, i, worker) for i in 0..n-1, by several threads where `work` (scalar operations, about) is
 * worth it. Each i is done once and i alone decides what it computes, so the bits do not depend on the
 * threads. Between calls the caller's wish to cancel is looked at. Gives the context's status.
 */
EIN_API ein_status ein_parallel(ein_ctx *ctx, ein_task *task, int64_t n, double work);
/* The same of a task that streams: each thread ends its streams once, when it is through with its share. */
EIN_API ein_status ein_parallel_streams(ein_ctx *ctx, ein_task *task, int64_t n, double work);
/* ein_once(ctx, task), of ein_inside.h: a task that is in one piece. */
/* EIN_OK, or the first error's code. */
EIN_API ein_status ein_state(const ein_ctx *ctx);
#if defined(EIN_DENSE) /* a flag: all are, or are refused, so kernels for others need not be compiled */
#define ein_dense(ctx, buffer) ((void)(ctx), 1)
#else
EIN_INLINE int ein_dense(const ein_ctx *ctx, int buffer) {
  return ctx->dense[buffer];
}
#endif
/* A worker's array. What the compiler does not see through stays a pointer of its own, that nothing else aliases. */
EIN_INLINE void *ein_own(char *at) {
#if defined(__GNUC__)
  __asm__("" : "+r"(at));
#endif
  return at;
}
/* An array of a kernel's own: too large for registers, and all its elements are reached by one pointer. Beside arrays that
 * stay in registers gcc would think that a pointer to this one may reach them too, and write them out at each turn. */
#define EIN_ARRAY(type, name, n)         \
  EIN_ALIGNED type ein_##name##_[n];     \
  type *const EIN_RESTRICT name = (type *)ein_own((char *)ein_##name##_)
/* An array of one value, of which the compiler does not know what it is. */
#define EIN_HIDDEN(type, name, n, value)                                        \
  EIN_ALIGNED type ein_##name##_[n];                                            \
  for (int ein_at = 0; ein_at < (n); ein_at++) ein_##name##_[ein_at] = (value); \
  const type *const EIN_RESTRICT name = (const type *)ein_own((char *)ein_##name##_)
/* A gathered index that is out of range: the first one met is kept; gives 0. */
EIN_API int64_t ein_fault(ein_ctx *ctx, int site, int64_t index, int64_t extent);
/* The index, if it is in range; in a kernel, where the context is `ctx`. */
#define ein_within(index, extent, site) ein_within_of(ctx, index, extent, (int)(site))
EIN_INLINE int64_t ein_within_of(ein_ctx *ctx, int64_t index, int64_t extent, int site) {
  return (uint64_t)index < (uint64_t)extent ? index : ein_fault(ctx, site, index, extent);
}

/* `buffer`, `input`, `from`: numbers of buffers. */
EIN_API int ein_given(const ein_ctx *ctx, int buffer);           /* an input: by the caller */
EIN_API void ein_default(ein_ctx *ctx, int input, int from);     /* the input is what stands in that buffer, for this run */
EIN_API void ein_zero(ein_ctx *ctx, int buffer);
EIN_API void ein_exchange(ein_ctx *ctx, int a, int b);           /* two work buffers of one shape */
EIN_API int64_t ein_i64(const ein_ctx *ctx, int buffer);         /* rank 0 */
EIN_API int ein_true(const ein_ctx *ctx, int buffer);            /* rank 0, bool */
EIN_API void ein_set_i64(ein_ctx *ctx, int buffer, int64_t value);
EIN_API ein_status ein_failed_assert(ein_ctx *ctx, const char *text, const char *file, int line);
#if !defined(EIN_STATIC) || defined(EIN_SITES)
EIN_API ein_status ein_move(ein_ctx *ctx, const ein_mesh *mesh, int move); /* gives the context's status; so do fetches */
/* The same in two halves; kernels that leave alone what is moved may run between. */
EIN_API ein_status ein_move_start(ein_ctx *ctx, const ein_mesh *mesh, int move);
EIN_API ein_status ein_move_finish(ein_ctx *ctx, const ein_mesh *mesh, int move);
EIN_API ein_status ein_fetch(ein_ctx *ctx, const ein_mesh *mesh, int fetch);
EIN_API int64_t ein_staged(ein_ctx *ctx, int move);
/* Of an argument that a site has: from `low` on, so much; nothing, where it has none of it. */
EIN_API ein_status ein_argument_block(const void *context, const ein_mesh *mesh, int output, int argument, int site, int64_t *low, int64_t *shape);
#endif
EIN_API EIN_FAR int64_t ein_between(ein_ctx *ctx);                 /* config.between is called; gives the turn */
EIN_API EIN_FAR void ein_step_begins(ein_ctx *ctx, int step, int half);   /* config.watch is told */
EIN_API ein_status ein_cancelled(ein_ctx *ctx);                  /* looked at once a turn of a repeat; the status */
EIN_API int ein_ends(const ein_ctx *ctx);                        /* the same within a long loop: the caller has cancelled */

/* ---- the public functions of a generated library are these, with its tables ---- */

EIN_API ein_status ein_create(const ein_tables *t, const ein_config *config, void **ctx);
EIN_API void ein_destroy(void *ctx);
EIN_API ein_status ein_plan_run(void *ctx, const int64_t *dims);
EIN_API size_t ein_workspace_bytes(const void *ctx);
EIN_API ein_status ein_argument_shape(const void *ctx, int output, int argument, int64_t *shape);
EIN_API ein_status ein_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
EIN_API ein_status ein_again(void *ctx);                         /* with the views of the last run */
EIN_API const char *ein_last_error(const void *ctx);
EIN_API void ein_cancel(void *ctx);

/*
 * Where buffers go so that no two whose lifetimes overlap share bytes: n of them, each `bytes[k]` from
 * first[k] to last[k] (both included), 64-byte aligned; offset[k] is filled. The result is the bytes in
 * all, or -1 where they do not fit 64 bits. `order` is room for n numbers. Each buffer is compared with
 * those alive beside it (where n is small, with all). `ein plan` calls it too, so what it says is what a
 * run takes.
 */
EIN_API int64_t ein_layout(int n, const int64_t *bytes, const int *first, const int *last, int64_t *offset, int *order);

#ifdef __cplusplus
}
#endif

#if defined(EIN_STATIC)
#include "ein_inside.h"
#if defined(EIN_SITES)
#include "ein_sites.h"
#endif
#if defined(EIN_WHOLE)
#include "ein_whole.h"
#endif
#if !defined(EIN_APART)
#include "ein_base.c"
#include "ein_run.c"
#include "ein_layout.c"
#include "ein_team.c"
#include "ein_views.c"
#if defined(EIN_SITES)
#include "ein_fetch.c"
#include "ein_move.c"
#endif
#if defined(EIN_WHOLE)
#include "ein_whole.c"
#endif
#endif
#endif
#endif

#if defined(EIN_STATIC) && !defined(EIN_APART)
#include "ein_rng.c"
#endif
#if defined(EIN_CUDA) || defined(EIN_DRIVER)
#include "cuda/kernels.h"
#include "cuda/matrix.h"
#if defined(EIN_SITES)
#include "cuda/boxes.h"
#endif
#if !defined(__CUDACC_RTC__)
#include "cuda/context.h"
#endif
#endif

#endif
