/* codegen/loop/loop.h - Loop: how each kernel runs.
 *
 * A kernel is a tree of statements over *places*: the buffers that it gets, and its own registers and arrays.
 * Expressions are those of expr/: EX_LABEL k is loop variable k, EX_READ p is place p at its indices; a scalar
 * register is a place of rank 0. The schedule (codegen/schedule/) makes all decisions about speed here: order, tiles,
 * what is unrolled, what runs in vector lanes and on which threads. The printers decide nothing. text: "loop 1". */
#ifndef EIN_LOOP_H
#define EIN_LOOP_H

#include "task/task.h"

typedef enum {
  BIND_SEQ,
  BIND_THREAD,               /* iterations are independent; only as a statement of the kernel itself, or of a ROUND */
  BIND_VECTOR,               /* iterations are independent and run in lanes */
  BIND_SHORT,                /* the same, with a known number of iterations, at most LOOP_SHORT: must not be unrolled */
  BIND_HELD,                 /* the same, with a power of two, at most LOOP_HELD: they store vectors alone, which a
                              * compiler may keep in registers */
  BIND_UNROLL,               /* unrolled */
  BIND_ROLL,                 /* never unrolled: it walks memory in order, which the hardware prefetches */
  BIND_ROUND,                /* in order, from 0 to a constant; only as a statement of the kernel itself. Thread loops
                              * stand in it as in the kernel: all threads end one before any begins the next */
  BIND_GRID,                 /* on a device: iterations are independent blocks, along an axis of the grid; only as a
                              * statement of the kernel itself, or alone in another such loop */
  BIND_BLOCK                 /* on a device: iterations are threads of one block, along an axis of it, and meet at
                              * barriers */
} LoopBind;
enum { LOOP_AXES = 3 };      /* of a grid, and of a block: x, y, z */

typedef enum {
  SPACE_BUFFER,              /* a buffer of the TaskGraph, with its strides */
  SPACE_REGISTER,            /* a scalar, or a short array of constant size, in registers */
  SPACE_STACK,               /* an array of constant size, at most LOOP_STACK bytes */
  SPACE_SCRATCH,             /* an array in the worker's memory, whose size is known when a run is planned */
  SPACE_SHARED               /* on a device: an array of constant size that the threads of a block share */
} LoopSpace;
enum { LOOP_STACK = 16384 };
/* Bytes of all shared arrays of a block: what every device since 7.5 has; and what all devices give unasked. Each array
 * begins at a multiple of 16. */
enum { LOOP_SHARED = 65536, LOOP_SHARED_PLAIN = 49152 };
enum { LOOP_BLOCK = 1024 };  /* the most threads of a block */
enum { LOOP_BESIDE = 2048 }; /* the most threads of blocks that share a multiprocessor */
enum { LOOP_SHORT = 16, LOOP_HELD = 256 };
enum { LOOP_WIDEST = 16 };   /* the most bytes of a buffer read or stored at once */
enum { LOOP_LANES = 64, LOOP_LANES_UNIT = 64 }; /* of an array for an operation's array function: the most elements;
                                                 * its bytes are a multiple of the unit */
#define LOOP_POLLED ((int64_t)1 << 40) /* the most scalar operations between two polls of a loop for an early end of
                                        * the run */
enum { LOOP_GROUPS = 7 };    /* the most groups of copies that an AWAIT leaves under way */
enum { FETCH_SECOND = 2 };  /* the cache to prefetch into; 0: the nearest */

typedef struct LoopPlace {
  LoopSpace space;
  Str name;                  /* unique in the kernel, valid in C */
  DType dtype;
  uint32_t rank;
  const Expr **dim;          /* dims-only */
  uint32_t buffer;           /* SPACE_BUFFER */
  const uint32_t *axes;      /* how many consecutive axes of the buffer form each axis of the place, row-major; NULL:
                              * one each */
  bool written;              /* SPACE_BUFFER: stored to; else read only */
  bool small;                /* an array of half floats, in registers or shared: 2 bytes each, as in a buffer; else
                              * they are stored as f32 */
} LoopPlace;

typedef enum {
  LOOP_FOR,                  /* var from lo while below hi, by step */
  LOOP_IF,
  LOOP_INDEX,                /* var is lo from here to the end of the block */
  LOOP_LET,                  /* a register with this constant value; or with the one that another thread of the warp
                              * computes */
  LOOP_VAR,                  /* declares a register or array; value: the initial value (of each element), or NULL */
  LOOP_STORE,
  LOOP_LANES_OF,             /* applies an operation to each element of a short array, by its array function */
  LOOP_TRANSPOSE,                 /* transposes a small square array in place */
  LOOP_FETCH,                /* prefetches a buffer's element, into the nearest or the second cache */
  LOOP_LEAD,                 /* a register with the number of elements from one of a buffer, along its last axis, to
                              * the next cache line boundary; 0 if they are not contiguous */
  LOOP_STREAM,               /* stores elements of an array to a buffer past the cache, along the last axis of each,
                              * or along several of the buffer's, from the position of the indices together; the last
                              * index may exceed its axis. Other threads see them after the enclosing thread loop */
  LOOP_GROUP,                 /* on a device: loads as many neighbours along a buffer's last axis as an array of
                               * registers has elements, or stores them. The offset from the buffer's start is a
                               * multiple of their number: one instruction per 16 bytes */
  LOOP_MATRIX,               /* on a device: a warp adds a product of two parts of shared arrays to its threads'
                              * registers; or of what these hold and a part of a shared array (LoopMatrix) */
  LOOP_BARRIER,              /* on a device: waits until all threads of the block are here; then they see each other's
                              * stores to shared arrays */
  LOOP_COPY,                 /* on a device: copies so many neighbours along a buffer's last axis to a shared array, in
                              * the background. Until an AWAIT covers it, nobody may touch the array there */
  LOOP_COMMIT,               /* on a device: the thread's copies since its last COMMIT are a group */
  LOOP_AWAIT,                /* on a device: waits until the thread's groups are copied, except the last `step`; behind
                              * the next barrier, all threads see them */
  LOOP_CALL,                 /* a C function computes a block of a buffer from blocks of others; the kernel's only
                              * statement */
  LOOP_PRODUCT               /* on a device, only as a statement of the kernel itself: a library's product of two
                              * matrices, or of pairs of them, followed by launches; or, without such a library, other
                              * launches that do everything */
} LoopKind;

/* Whether an operation has an array function for this dtype. */
static inline bool loop_has_lanes(Op op, DType t) {
  return op_info[op].laws & (t == DT_F32 ? LAW_LANES_F32 : t == DT_F64 ? LAW_LANES_F64 : 0u);
}
/* Whether it is the caller's buffer, whose strides the caller chooses. */
static inline bool loop_is_argument(const TaskGraph *t, const LoopPlace *x) {
  return x->space == SPACE_BUFFER && x->buffer < t->buffers.len && t->buffers.at[x->buffer].space != BUF_WORK;
}
/* Whether elements of this dtype have the same bytes in a kernel's own array as in a buffer. */
static inline bool loop_lies_alike(DType t) { return !dtype_is_half(t) && t != DT_BOOL; }

/* A matrix-unit product: f16 or bf16 into f32, or f64. From the position in the statement, element (i, k) of one side
 * is at offset i * row_step + k * row_deep, and (j, k) of the other at j * lane_step + k * lane_deep. Of the warp's
 * points (i, j), thread `l` of 32 holds in registers r * lanes / 4 + c, for r below rows / 8 and c below lanes / 4,
 * those with i = 8 * r + l / 4 and j = 8 * (c / 2) + 2 * (l % 4) + c % 2.
 *
 * If row_step and row_deep are 0, the side with the rows is held: threads have it in registers, as a whole array of
 * f16 or bf16, in the same way: element (i, k) as if k were j. So a product is held as it was made. */
typedef struct LoopMatrix {
  int64_t rows, lanes, deep; /* points, multiples of 16, 8 and 16 (f64: 4); deep: of the sum */
  int64_t row_step, row_deep, lane_step, lane_deep;
} LoopMatrix;
static inline bool loop_is_held(const LoopMatrix *m) { return !m->row_step && !m->row_deep; }

typedef struct LoopStmt LoopStmt;
typedef VEC(LoopStmt *) LoopBody;
typedef struct LoopOver { uint32_t var; const Expr *extent; } LoopOver; /* a loop of a product: from 0, dims-only */

struct LoopStmt {
  LoopKind kind;
  LoopBind bind;             /* FOR */
  uint8_t axis;              /* GRID, BLOCK: the axis */
  uint32_t var;              /* FOR, INDEX: number of its variable, unique in the kernel */
  const Expr *lo, *hi;       /* i64, over what is in scope; INDEX: only lo; STREAM: hi elements */
  int64_t step;              /* LET, on a device: the bit in which the other thread's number differs, 1 to 16; 0: its
                              * own. AWAIT: the groups that it leaves under way. FETCH: FETCH_SECOND or 0; STREAM: how
                              * many of the buffer's last axes; all but the first of them are covered whole */
  int64_t wide;              /* STORE, on a device: how many neighbours along the last axes of the place and of the
                              * source it stores at once; 0: one. COPY: the same, of 4, 8 or 16 bytes */
  int64_t beside;            /* GRID: how many blocks fit on a multiprocessor with its registers; 0: unspecified */
  int64_t polled;            /* FOR, sequential or in lanes: polls after this many turns whether the run must end; 0:
                              * never */
  const Expr *cond;          /* IF */
  bool maybe;                /* unpredictable: the compiler's guess would prevent vectorisation of its loops */
  LoopBody body, other;      /* FOR, IF; other: the else branch. PRODUCT: launches after it, and those instead of it */
  uint32_t n_over;           /* PRODUCT; CALL: its labels and their extents */
  LoopOver *over;            /* the last three are rows and lanes of the result, and the sum; those before number the
                              * pairs of matrices */
  uint32_t place;            /* LET, LEAD, VAR, STORE, COPY, LANES_OF, TURN, FETCH, STREAM, GROUP, PRODUCT, CALL */
  Op op;                     /* LANES_OF */
  uint32_t n_at;             /* STORE, COPY, FETCH, STREAM, PRODUCT, CALL, GROUP to a buffer: the place's rank */
  const Expr **at;           /* its indices */
  const LoopMatrix *matrix;  /* MATRIX; place: the registers */
  const Expr *other_side;    /* the other side's first element, as a read */
  const Expr *value;         /* LET, VAR, STORE: of the place's dtype; STREAM, GROUP, COPY: a read, the first element;
                              * LEAD: the buffer's element, as a read; CALL: the function, on its arguments: reads at
                              * labels; PRODUCT: the summand, of the sum's dtype; MATRIX: one side's first element, as
                              * a read */
};

/* The bytes of a shared array, which begins at a multiple of 16. */
int64_t loop_shared_bytes(const LoopPlace *x);
static inline bool loop_is_across(const LoopStmt *s) { return s->kind == LOOP_LET && s->step; }

typedef struct LoopKernel LoopKernel;
struct LoopKernel {
  Str name;                  /* unique in the program, valid in C */
  VEC(Str) note;             /* its equations, a line each */
  VEC(Str) how;              /* the decisions about its loops, for people */
  Place from;                /* the position of its equations */
  VEC(Str) var;              /* names of the loop variables, by number; different from each other and from the places'
                              * names */
  VEC(LoopPlace) places;
  bool dense;                /* it is also compiled for arguments in row-major order, with constant strides */
  LoopBody body;             /* in order; only these statements may be bound to threads */
  const Expr *work;          /* about how many scalar operations (in tiles, vectors of them): decides whether several
                              * threads pay; dims-only */
  uint32_t task;             /* its task's step */
  LoopKernel *narrow;        /* computes the same with tiles for fewer and shorter vector registers: the one that suits
                              * the machine runs. Each may have buffers of its own. NULL: this one suits all */
};

/* Whether it is for a device: its statements are loops over a grid of blocks, each a launch, and products. */
static inline bool loop_is_device(const LoopKernel *k) {
  const LoopStmt *s = k->body.len ? k->body.at[0] : NULL;
  return s && (s->kind == LOOP_PRODUCT || (s->kind == LOOP_FOR && s->bind == BIND_GRID));
}

/* A gathered index that is tested at run time: OP_WITHIN(index, extent, site) is the index if it is in range; else
 * the run fails with this message. */
typedef struct LoopSite {
  Str text;                  /* "index 2 (label tok) of E, read for Y" */
  Place place;
  bool asked;                /* for places requested by other sites: the message gives only that the index is out of
                              * range */
} LoopSite;

typedef struct LoopProgram {
  Arena *arena;
  TaskGraph *tasks;          /* a kernel refers to its task by the step */
  VEC(LoopKernel *) kernels;
  VEC(LoopSite) sites;
} LoopProgram;

/* The CALL statement for a stage that a C function computes, over the kernel's places, and variables that are the
 * stage's labels. NULL: the kernel lacks some of them. */
LoopStmt *loop_call(const LoopProgram *p, const LoopKernel *k, const TaskStage *s);

/* ---- memory of a thread: scratch.c ------------------------------------------------------------------------- */
/* The bytes of an array in SPACE_SCRATCH, rounded up to a cache line; and of all of a kernel's. Dims-only. */
const Expr *loop_scratch_place(Exprs *e, const LoopPlace *x);
const Expr *loop_scratch(Exprs *e, const LoopKernel *k);
/* What the kernels need, each size once and none of 0: a thread keeps the largest. */
typedef VEC(const Expr *) LoopSizes;
LoopSizes loop_scratches(const LoopProgram *p);

/* ---- text, check -------------------------------------------------------------------------------- */
void loop_print(Buf *out, const LoopProgram *p); /* begins with the TaskGraph's text */
LoopProgram *loop_read(Arena *a, Strings *t, Source *src, Diags *d);
bool loop_equal(const LoopProgram *a, const LoopProgram *b, Buf *why);
/* By buffer, which of a kernel and its narrow one has it for itself, and so needs it only where that one runs. */
typedef enum { HALF_BOTH, HALF_WIDE, HALF_NARROW } LoopHalf;
LoopHalf *loop_halves(Arena *a, const LoopProgram *p);
/* Whether they do the same, on buffers of the same kind. */
bool loop_is_twin(const LoopProgram *p, LoopKernel *k, LoopKernel *other);
/* Numbers in which kernels that share functions may differ, each once and in the same order for all of them: the sites
 * at which a kernel tests an index, and the seeds of its random numbers. loop_number: the operand of e that is such a
 * number, or -1. */
typedef struct LoopNumber { bool seed; int64_t is; } LoopNumber;
typedef VEC(LoopNumber) LoopNumbers;
LoopNumbers loop_numbers(Arena *a, const LoopKernel *k);
int loop_number(const Expr *e, LoopNumber *out);
bool loop_check(const LoopProgram *p, Buf *out);
/* For a sound program that was read: adds run-time tests for indices that are not proved in range, and a line in
 * `out` for each such kernel. What ein itself makes leaves `out` empty. */
void loop_guard(LoopProgram *p, Buf *out);

/* ---- products for a library: product.c -------------------------------------------------------------------- */
/* A product as described to a library: where each element of the result and of the sides is, counted from the
 * buffer's first element. */
enum { PRODUCT_LEAST = 3, PRODUCT_LOOPS = 8, PRODUCT_TURNS = 4 };
typedef struct LoopProduct {
  uint32_t place[3];         /* of the result, of the side with its rows, of the side with its lanes */
  double scale;              /* a factor of each product */
  const Expr *first[3];      /* where each begins, dims-only */
  const Expr *turn[3][PRODUCT_TURNS]; /* plus this per turn, by depth */
  const Expr *step[3][PRODUCT_LOOPS]; /* the step of each loop, 0 or dims-only */
} LoopProduct;
/* Returns false and says why if a library has no such product. */
bool loop_product(Exprs *x, const LoopKernel *k, const LoopStmt *s, LoopProduct *out, const char **why);
/* Finds the two reads whose product e is, each as it is or cast to the sum's dtype, and its constant factors. Returns
 * false if it is no product. */
bool loop_factors(const Expr *e, DType sum, const Expr *read[2], double *scale);
bool loop_has_products(const LoopProgram *p);

#endif
