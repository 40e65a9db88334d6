/* SPDX-License-Identifier: MIT-0 */
/*
 * What emitted C builds on: the context, its plan and its checks, threads, and the few calls that an emitted
 * run consists of. A generated file defines EIN_STATIC before it includes this header, which then includes the
 * runtime's sources. All symbols are static, so two models link into one program. With -DEIN_APART the sources
 * are not included: the file is linked against a runtime compiled once.
 *
 * A generated file contains one function per kernel; `sizes`, which computes and checks every size from the
 * dims; `body`, the run as a list of calls; and the tables below, which hold the rest as data.
 *
 * Threads are OpenMP's if the file is compiled with it; with EIN_PTHREADS, a pool owned by the context; else
 * there is one thread. Valid C99 and C++; needs -lm and whatever the threads need.
 */
#ifndef EIN_RUN_H
#define EIN_RUN_H

#if defined(EIN_CUDA)
#include "cuda/device.h"
#elif defined(EIN_STATIC) && defined(__GNUC__) && !defined(__clang__)
/* These passes would spill a tile's sums from registers (seen with 12.2; the last one runs on AArch64). */
#pragma GCC optimize("no-loop-unroll-and-jam", "no-tree-loop-distribute-patterns", "no-schedule-insns")
#endif

#include "math/ein_ops.h"
#include "ein_tensor.h"
#if !defined(EIN_CUDA)
#include "math/ein_lanes.h"
#include "ein_stream.h"
#include "ein_transpose.h"
#endif
#if !defined(__CUDACC_RTC__) /* host only, up to ein_rng.c */
#if defined(EIN_CUDA)
#undef EIN_INLINE
#define EIN_INLINE static inline
#define ein_stream_end() ((void)0) /* the host does not stream stores */
#endif

#if defined(__GNUC__)
#define EIN_RESTRICT __restrict__
#define EIN_ALIGNED __attribute__((aligned(64)))
#else
#define EIN_RESTRICT
#define EIN_ALIGNED
#endif
/* Before a loop whose iterations are independent. */
#if defined(EIN_VECTOR)
#elif defined(__clang__)
#ifdef EIN_STATIC /* do not warn about a loop that stays scalar */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#define EIN_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#define EIN_ROLL _Pragma("clang loop unroll(disable)") /* before a loop that must not be unrolled */
#elif defined(__GNUC__)
#ifdef EIN_STATIC /* nor about a comparison that the types decide: u8 >= 0 */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
#define EIN_VECTOR _Pragma("GCC ivdep")
#define EIN_SHORT _Pragma("GCC unroll 1") _Pragma("GCC ivdep") /* at most 16 iterations: gcc would unroll them fully */
#define EIN_ROLL _Pragma("GCC unroll 1")
#else
#define EIN_VECTOR
#endif
#ifndef EIN_SHORT
#define EIN_SHORT EIN_VECTOR
#endif
/* Before a loop over n elements of the given size in bytes, a power of two: vectorize the whole loop. Clang
 * would unroll it fully and then vectorize what it finds: pieces, or the iterations of the enclosing loop,
 * which it scatters (seen with 19.1). */
#if defined(__clang__) && defined(__AVX2__)
#if defined(__AVX512F__) && !defined(EIN_ANY_WIDTH)
#define EIN_HELD_BYTES 64
#else
#define EIN_HELD_BYTES 32
#endif
#define EIN_PRAGMA(x) _Pragma(#x)
#define EIN_HELD_BY(wide, vectors) \
  EIN_PRAGMA(clang loop vectorize(assume_safety) vectorize_width(wide) interleave_count(vectors) unroll(disable))
#define EIN_HELD(n, size)                                                    \
  EIN_HELD_BY((n) * (size) < EIN_HELD_BYTES ? (n) : EIN_HELD_BYTES / (size), \
      (n) * (size) < EIN_HELD_BYTES ? 1 : (n) * (size) / EIN_HELD_BYTES)
#define EIN_HELD_LONG(n, size) EIN_HELD(n, size)
#else
#define EIN_HELD(n, size) EIN_SHORT
#define EIN_HELD_LONG(n, size) EIN_VECTOR /* the same, of more than 16 iterations */
#endif
#ifndef EIN_ROLL
#define EIN_ROLL
#endif

/* Before a loop of constant length that should be unrolled. Clang is not asked: it unrolls by its own rules,
 * and if asked, 19.1 at -O3 computes wrong sums for tests/run/contraction_in_place.ein (64-bit integers
 * truncated to 32 bits). */
#if defined(__GNUC__) && !defined(__clang__)
#define EIN_UNROLL _Pragma("GCC unroll 64")
#else
#define EIN_UNROLL
#endif

/* EIN_MAYBE: a condition around loops, with even odds; EIN_NEVER: one that ends the run early. Otherwise gcc guesses, and
 * does not vectorize loops that it thinks are cold (seen with 12.2, where the condition is on the variable of a short
 * enclosing loop, and behind a dozen conditions that return). */
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
#define EIN_MAYBE(x) __builtin_expect_with_probability(!!(x), 1, 0.5)
#define EIN_NEVER(x) __builtin_expect_with_probability(!!(x), 0, 1.0)
#endif
#endif
#ifndef EIN_MAYBE
#define EIN_MAYBE(x) (x)
#define EIN_NEVER(x) (x)
#endif

/* Before a function that must not be inlined: its callers stay short and save no registers for it. */
#if defined(__GNUC__)
#define EIN_FAR __attribute__((noinline))
#else
#define EIN_FAR
#endif
/* Before a kernel, which is a function of its own. Loops are made for 64-byte vectors. Compilers that tune for
 * some of the processors with such vectors use vectors half as long, which takes up to twice the time here;
 * EIN_ANY_WIDTH permits that. (Clang sets the width only by a flag, so it is told to tune for a processor
 * without that preference.)
 *
 * Code compiled for any x86-64 has three versions of each kernel; the one that suits the machine is called, and
 * what is inlined into it is told whether it fuses (math/ein_fused.h).
 *
 * Where tiles for AVX-512's registers and for fewer, shorter ones are not the same, a kernel is there twice:
 * EIN_KERNEL_WIDE, compiled if EIN_WIDE is set, and EIN_KERNEL_NARROW, if EIN_NARROW is set. Of both,
 * ein_is_wide() says which one runs. */
#if defined(__AVX512F__) && !defined(EIN_ANY_WIDTH)
#if defined(__clang__)
#if __clang_major__ >= 12 && !defined(__znver4__) && !defined(__znver5__)
#define EIN_KERNEL_FOR EIN_FAR __attribute__((target("tune=haswell")))
#endif
#elif defined(__GNUC__) && __GNUC__ >= 8
#define EIN_KERNEL_FOR EIN_FAR __attribute__((target("prefer-vector-width=512")))
#endif
#endif

#if defined(EIN_VERSIONS)
#define EIN_FUSED_PARAMETER , EIN_UNUSED int ein_fused
#define EIN_FUSED , ein_fused
#define EIN_WIDE 1
#define EIN_NARROW 1
#define ein_is_wide() (__builtin_cpu_supports("x86-64-v4") != 0)
#define ein_is_v3() (__builtin_cpu_supports("x86-64-v3") != 0)
#define EIN_KERNEL_AS(name, version, target, fused)                                                \
  static EIN_FAR target void name##version(void *env, int64_t chunk, int worker) {                 \
    name##_of(env, chunk, worker, fused);                                                          \
  }
#define EIN_V4(name) EIN_KERNEL_AS(name, _v4, __attribute__((target("arch=x86-64-v4"))), 1)
#define EIN_V3(name) EIN_KERNEL_AS(name, _v3, __attribute__((target("arch=x86-64-v3"))), 1)
#define EIN_V1(name) EIN_KERNEL_AS(name, _v1, , 0)
/* `static` stands before these. `versions` are defined, and `which` is called. */
#define EIN_KERNEL_BY(name, versions, which)                                                       \
  void name(void *env, int64_t chunk, int worker);                                                 \
  EIN_INLINE void name##_of(void *env, int64_t chunk, int worker, int ein_fused);                  \
  versions                                                                                         \
  static void name(void *env, int64_t chunk, int worker) { (which)(env, chunk, worker); }          \
  EIN_INLINE void name##_of(void *env, int64_t chunk, int worker, EIN_UNUSED int ein_fused)
#define EIN_KERNEL_WIDE(name) EIN_KERNEL_BY(name, EIN_V4(name), name##_v4)
#define EIN_KERNEL_NARROW(name) EIN_KERNEL_BY(name, EIN_V3(name) EIN_V1(name), ein_is_v3() ? name##_v3 : name##_v1)
#define EIN_KERNEL(name)                                                                           \
  EIN_KERNEL_BY(name, EIN_V4(name) EIN_V3(name) EIN_V1(name),                                      \
      ein_is_wide() ? name##_v4 : ein_is_v3() ? name##_v3 : name##_v1)
#else
#ifndef EIN_KERNEL_FOR
#define EIN_KERNEL_FOR EIN_FAR
#endif
#define EIN_FUSED_PARAMETER
#define EIN_FUSED
#define EIN_KERNEL(name) EIN_KERNEL_FOR void name(void *env, int64_t chunk, int worker)
#define EIN_KERNEL_WIDE(name) EIN_KERNEL(name)
#define EIN_KERNEL_NARROW(name) EIN_KERNEL(name)
#if !defined(EIN_WIDE) && defined(__AVX512F__)
#define EIN_WIDE 1
#elif !defined(EIN_WIDE)
#define EIN_WIDE 0
#endif
#define EIN_NARROW (!EIN_WIDE)
#define ein_is_wide() EIN_WIDE
#endif

/*
 * Less work than this (roughly, scalar operations) is done by the calling thread alone. Measured with two
 * threads: an OpenMP region costs 0.4 to 1 microseconds while its threads still spin, and pays off from 4,000
 * dependent scalar operations or 100,000 vectorized ones; waking sleeping threads costs 5 to 50. Code made for
 * a known machine sets its own limit.
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
  int ndim, at;          /* its shape and strides begin at shape[at] and stride[at] of the context */
  int first, last;       /* for work: its content is live between these steps */
  const char *name;
  const char *labels;    /* "s, a": the names of its axes, for messages; NULL: none */
  const char *file;      /* where it is defined; NULL: unknown */
  int line;
} ein_buffer;

typedef struct ein_site { /* a gathered index that is checked at run time */
  const char *text, *file;
  int line;
  int asked;             /* the message omits the index and the extent: other sites were asked for the data */
} ein_site;

typedef struct ein_ctx ein_ctx;
typedef struct ein_plan ein_plan;

typedef struct ein_tables {
  const char *name, *source;
  int n_dims, n_inputs, n_outputs, n_buffers, n_axes, n_sizes, n_turns, n_sites, n_steps;
  const char *const *dim;
  const ein_argument *input, *output;
  const ein_buffer *buffer;  /* includes inputs and outputs; an argument's buffer has its number in `argument` */
  const ein_site *site;
  void (*sizes)(ein_plan *p, const int64_t *dim);
  ein_status (*body)(ein_ctx *ctx);
  double worth_threads;      /* EIN_WORTH_THREADS as this code was compiled; 0: the runtime's */
  int dense;                 /* EIN_ALL_DENSE: compiled for row-major views only */
  const struct ein_mesh *mesh; /* for several sites; else NULL */
  ein_status (*ready)(ein_ctx *ctx); /* for a device: allocates there, after the sizes; NULL: on the host */
} ein_tables;

/* Moves between sites: a tensor goes from one buffer to another. For each axis of the mesh: the dimension that
 * is cut, or one of these. */
enum { EIN_ALL = -1, EIN_PART = -2, EIN_SOME = -3 };
typedef struct ein_move_row {
  int from, to;          /* buffers of the same rank and type */
  const signed char *of, *onto;
  void (*fold)(void *to, const void *part, int64_t n); /* combines n parts into n others, or NULL */
  /* For argmax and argmin: combines n parts and their places (INT64_MAX: of no element), which are in the next
   * buffers; else NULL. */
  void (*best)(void *to, int64_t *place, const void *part, const int64_t *part_place, int64_t n);
  int place_from, place_to;
  const int64_t *wrap;   /* by dimension: place j of `to` is j % wrap of `from`, unless wrap is 0; NULL: all are 0 */
  int step, end;         /* the move starts at step `step`, and is waited for after step `end` */
  int shares;            /* an all-reduce: each site combines one share and gets the other shares from the sites that
                          * combined them; a broadcast: each gets one share and then the others from those that got
                          * them */
} ein_move_row;

/* A fetch: reads elements at places in data, X[T[s], d], from whichever site has them. The result's first
 * dimensions are points, each with one index or several. */
typedef struct ein_fetch_row {
  int table, points, to; /* buffers; points: i64, the indices of each point; those of one point are adjacent */
  int n_point, n_index;  /* how many dimensions of `to` are points; indices per point */
  const signed char *index; /* by dimension of the table: which index of a point it is; -1: it has the extent of the
                             * next dimension of `to` */
} ein_fetch_row;

typedef struct ein_mesh {
  int n;
  const int *size;       /* by axis */
  const ein_move_row *move;
  const ein_fetch_row *fetch;
  /* Computes the box of the tensor that a buffer holds at a site. Returns 0 if the site does not have it.
   * at: the site's coordinates, by axis. */
  int (*box)(ein_plan *p, const int64_t *at, int buffer, int64_t *low, int64_t *high);
  int n_moves;
  int64_t (*staged)(ein_ctx *ctx, int move); /* bytes that a move works in: ein_staged */
  int64_t room;          /* so many bytes of parts arrive at once; longer parts come in rounds */
} ein_mesh;

/* ---- planning: the argument of `sizes` ---- */

struct ein_plan {
  int64_t *size;         /* n_sizes: the sizes that kernels use, by number */
  int64_t *shape;        /* n_axes: the shapes of all buffers, concatenated */
  int64_t scratch;       /* bytes of memory per worker; `sizes` raises it to the largest kernel's need */
  int wrapped;           /* an operation below overflowed 64 bits */
  ein_error *error;
};
/* Checked arithmetic; // and % are ein_idiv_i64 and ein_mod_i64. */
EIN_API int64_t ein_plan_add(ein_plan *p, int64_t a, int64_t b);
EIN_API int64_t ein_plan_sub(ein_plan *p, int64_t a, int64_t b);
EIN_API int64_t ein_plan_mul(ein_plan *p, int64_t a, int64_t b);
EIN_API int64_t ein_plan_neg(ein_plan *p, int64_t a);
/* Checks that `what` ("the size of dimension 2 of X") is not negative; and a check of the program's, with its
 * text and line. */
EIN_API void ein_plan_size(ein_plan *p, int64_t size, const char *what, const char *file, int line);
EIN_API void ein_plan_check(ein_plan *p, int holds, const char *text, const char *file, int line);

/* ---- running: what kernels and `body` use ---- */

struct ein_ctx {
  const int64_t *size;         /* by number */
  const int64_t *shape;        /* buffer b's begins at buffer[b].at */
  int64_t *stride;             /* in elements; work buffers, and inputs that take their default, are row-major */
  void **data;                 /* for each buffer: its first element, */
  unsigned char *dense;        /*   and whether its strides are row-major; always true for work buffers */
  int64_t *turn;               /* by depth */
  int64_t round;               /* how often a kernel whose parts are called again has called them all */
  const int *bound;            /* for a function of several kernels: pairs (buffer, its first axis), sites and
                                * seeds, sizes */
  char *scratch;               /* worker w's begins at scratch + w * scratch_bytes, 64-byte aligned */
  size_t scratch_bytes;
  struct ein_inside *inside;   /* the runtime's own */
};

/*
 * Calls task(ctx, i, worker) for i in 0..n-1, on several threads if `work` (roughly, scalar operations) is
 * worth it. Each i runs once, and what it computes depends on i alone, so the bits do not depend on the
 * threads. Checks between calls whether the caller has cancelled. Returns the context's status.
 */
EIN_API ein_status ein_parallel(ein_ctx *ctx, ein_task *task, int64_t n, double work);
/* The same for a task that streams stores: each thread calls ein_stream_end once, after its share. */
EIN_API ein_status ein_parallel_streams(ein_ctx *ctx, ein_task *task, int64_t n, double work);
/* EIN_OK, or the first error's code. */
EIN_API ein_status ein_state(const ein_ctx *ctx);
#if defined(EIN_DENSE) /* a flag: all views are dense, or are refused, so kernels for others need not be compiled */
#define ein_dense(ctx, buffer) ((void)(ctx), 1)
#else
EIN_INLINE int ein_dense(const ein_ctx *ctx, int buffer) {
  return ctx->dense[buffer];
}
#endif
/* A worker's array. The compiler cannot see through this, so the result is a pointer that nothing else aliases. */
EIN_INLINE void *ein_own(char *at) {
#if defined(__GNUC__)
  __asm__("" : "+r"(at));
#endif
  return at;
}
/* 0, for comparisons that guard a read. gcc before 12.4 and 13.2 makes of a test of the sign of 64-bit indices, and a
 * read under it, a blend of AVX-512VL that reads all elements, also those that the guard excludes (PR 110309): it must
 * not know that this is 0. */
EIN_INLINE int64_t ein_nought(void) {
  int64_t n = 0;
#if defined(__AVX512VL__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ < 12 || (__GNUC__ == 12 && __GNUC_MINOR__ < 4) || (__GNUC__ == 13 && __GNUC_MINOR__ < 2)
  __asm__("" : "+r"(n));
#endif
#endif
  return n;
}
/* An array of a kernel's, too large for registers, all of whose elements are accessed through one pointer.
 * Otherwise gcc would assume that this pointer may also reach arrays that stay in registers, and would store
 * those in every iteration. */
#define EIN_ARRAY(type, name, n)         \
  EIN_ALIGNED type ein_##name##_[n];     \
  type *const EIN_RESTRICT name = (type *)ein_own((char *)ein_##name##_)
/* An array of one value that is opaque to the compiler. */
#define EIN_HIDDEN(type, name, n, value)                                        \
  EIN_ALIGNED type ein_##name##_[n];                                            \
  for (int ein_at = 0; ein_at < (n); ein_at++) ein_##name##_[ein_at] = (value); \
  const type *const EIN_RESTRICT name = (const type *)ein_own((char *)ein_##name##_)
/* Reports a gathered index that is out of range. Only the first is kept. Returns 0. */
EIN_API int64_t ein_fault(ein_ctx *ctx, int site, int64_t index, int64_t extent);
/* The index if it is in range, else 0, after reporting it. For kernels, where the context is called `ctx`. */
#define ein_within(index, extent, site) ein_within_of(ctx, index, extent, (int)(site))
EIN_INLINE int64_t ein_within_of(ein_ctx *ctx, int64_t index, int64_t extent, int site) {
  return (uint64_t)index < (uint64_t)extent ? index : ein_fault(ctx, site, index, extent);
}

/* `buffer`, `input` and `from` are numbers of buffers. */
EIN_API int ein_given(const ein_ctx *ctx, int buffer);           /* whether the caller gave this input */
EIN_API void ein_default(ein_ctx *ctx, int input, int from);     /* the input is what that buffer holds, for this run */
EIN_API void ein_zero(ein_ctx *ctx, int buffer);
EIN_API void ein_exchange(ein_ctx *ctx, int a, int b);           /* swaps two work buffers of the same shape */
EIN_API int64_t ein_i64(const ein_ctx *ctx, int buffer);         /* the value of a buffer of rank 0 */
EIN_API int ein_true(const ein_ctx *ctx, int buffer);            /* the same for bool */
EIN_API void ein_set_i64(ein_ctx *ctx, int buffer, int64_t value);
EIN_API ein_status ein_failed_assert(ein_ctx *ctx, const char *text, const char *file, int line);
#if !defined(EIN_STATIC) || defined(EIN_SITES)
EIN_API ein_status ein_move(ein_ctx *ctx, const ein_mesh *mesh, int move); /* returns the status, like fetches */
/* The same in two halves. Kernels that do not touch the moved tensors may run between them. */
EIN_API ein_status ein_move_start(ein_ctx *ctx, const ein_mesh *mesh, int move);
EIN_API ein_status ein_move_finish(ein_ctx *ctx, const ein_mesh *mesh, int move);
EIN_API ein_status ein_fetch(ein_ctx *ctx, const ein_mesh *mesh, int fetch);
EIN_API int64_t ein_staged(ein_ctx *ctx, int move);
/* The block of an argument that a site has: it begins at `low`. Its shape is empty if the site has none. */
EIN_API ein_status ein_argument_block(
    const void *context, const ein_mesh *mesh, int output, int argument, int site, int64_t *low, int64_t *shape);
#endif
EIN_API EIN_FAR int64_t ein_between(ein_ctx *ctx);                 /* calls config.between; returns the turn */
EIN_API EIN_FAR void ein_step_begins(ein_ctx *ctx, int step, int half);   /* calls config.watch */
EIN_API ein_status ein_cancelled(ein_ctx *ctx);                  /* checked once per turn; returns the status */
EIN_API int ein_ends(const ein_ctx *ctx);                        /* for long loops: whether the caller has cancelled */

/* ---- a generated library's public functions are these, applied to its tables ---- */

EIN_API ein_status ein_create(const ein_tables *t, const ein_config *config, void **ctx);
EIN_API void ein_destroy(void *ctx);
EIN_API ein_status ein_plan_run(void *ctx, const int64_t *dims);
EIN_API size_t ein_workspace_bytes(const void *ctx);
EIN_API ein_status ein_argument_shape(const void *ctx, int output, int argument, int64_t *shape);
EIN_API ein_status ein_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
EIN_API ein_status ein_again(void *ctx);                         /* runs with the views of the last run */
EIN_API const char *ein_last_error(const void *ctx);
EIN_API void ein_cancel(void *ctx);

/*
 * Places n buffers so that no two with overlapping lifetimes share bytes. Buffer k has bytes[k] and lives from
 * first[k] to last[k] (inclusive). Fills offset[k], 64-byte aligned. Returns the total bytes, or -1 if they do
 * not fit 64 bits. `order` is room for n numbers. Each buffer is compared with those alive next to it (with
 * all, if n is small). `ein plan` calls this too, so it reports what a run allocates.
 */
EIN_API int64_t ein_layout(int n, const int64_t *bytes, const int *first, const int *last, int64_t *offset, int *order);

#ifdef __cplusplus
}
#endif

#if defined(EIN_STATIC)
#include "ein_inside.h"
#if defined(EIN_SITES)
#include "sites/ein_sites.h"
#endif
#if defined(EIN_WHOLE)
#include "sites/ein_whole.h"
#endif
#if !defined(EIN_APART)
#include "ein_base.c"
#include "ein_run.c"
#include "ein_layout.c"
#include "ein_team.c"
#include "ein_views.c"
#if defined(EIN_SITES)
#include "sites/ein_fetch.c"
#include "sites/ein_move.c"
#endif
#if defined(EIN_WHOLE)
#include "sites/ein_whole.c"
#endif
#endif
#endif
#endif

#if defined(EIN_STATIC) && !defined(EIN_APART)
#include "math/ein_rng.c"
#endif
#if defined(EIN_CUDA) || defined(EIN_DRIVER)
#include "cuda/kernels.h"
#include "cuda/matrix.h"
#include "cuda/boxes.h"
#if !defined(__CUDACC_RTC__)
#include "cuda/context.h"
#endif
#endif

#endif
