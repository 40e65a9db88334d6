/* codegen/loop/loop.h - Loop: how each kernel runs.
 *
 * A kernel is a tree of statements over *places*: the buffers that it is given, and registers and arrays of its own.
 * Expressions are expr/'s: EX_LABEL k is loop variable k, EX_READ p is place p at its indices, a scalar register
 * being a place of rank 0. Everything about speed is decided here by the schedule (codegen/schedule/): order, tiles, what is
 * unrolled, what runs in vector lanes and on which threads. The printers decide nothing. text: "loop 1". */
#ifndef EIN_LOOP_H
#define EIN_LOOP_H

#include "task/task.h"

typedef enum {
  BIND_SEQ,
  BIND_THREAD,               /* iterations are independent; only as a statement of the kernel itself */
  BIND_VECTOR,               /* iterations are independent and stride in lanes */
  BIND_SHORT,                /* the same, of a known number, LOOP_SHORT at most: nobody is to write them out one by one */
  BIND_HELD,                 /* the same, a power of two: all of what they store is vectors, which a compiler may hold in registers */
  BIND_UNROLL,               /* written out */
  BIND_ROLL,                 /* never written out: the machine looks ahead for instructions that go along what lies in order */
  BIND_GRID,                 /* of a device: iterations are independent blocks, along an axis of the grid; only as a statement of the kernel
                                itself, or alone in another such loop */
  BIND_BLOCK                 /* of a device: iterations are threads of one block, along an axis of it, and meet in barriers */
} LoopBind;
enum { LOOP_AXES = 3 };      /* of a grid, and of a block: x, y, z */

typedef enum {
  SPACE_BUFFER,              /* one of the TaskGraph's, with its strides */
  SPACE_REGISTER,            /* a scalar, or a short array of constant size that lives in registers */
  SPACE_STACK,               /* an array of constant size, at most LOOP_STACK bytes */
  SPACE_SCRATCH,             /* an array of the worker's own memory, its size known when a run is planned */
  SPACE_SHARED               /* of a device: an array of constant size that the threads of a block share */
} LoopSpace;
enum { LOOP_STACK = 16384 };
enum { LOOP_SHARED = 49152 }; /* bytes of all arrays that a block shares */
enum { LOOP_BLOCK = 1024 };  /* threads of a block */
enum { LOOP_BESIDE = 2048 }; /* threads of blocks that are beside each other */
enum { LOOP_SHORT = 16 };
enum { LOOP_WIDEST = 16 };   /* bytes of a buffer that are read or stored at once */
enum { LOOP_LANES = 64, LOOP_LANES_UNIT = 64 }; /* of an array that an operation's own function for arrays takes: elements, at most; bytes, a multiple of */
#define LOOP_POLLED ((int64_t)1 << 40) /* numbers between two looks of a loop at whether the run is to end, at most */
enum { FETCH_SECOND = 2 };  /* the cache where what is fetched should be; 0: the nearest */

typedef struct LoopPlace {
  LoopSpace space;
  Str name;                  /* unique in the kernel, fit for C */
  DType dtype;
  uint32_t rank;
  const Expr **dim;          /* dims-only */
  uint32_t buffer;           /* SPACE_BUFFER, */
  const uint32_t *axes;      /*   of which so many axes that follow each other are each of the place's, row-major; NULL: one each */
  bool written;              /* SPACE_BUFFER: stored to; others are read only */
  bool small;                /* an array of halves, registers or shared: each has 2 bytes, as in a buffer; else they are floats there */
} LoopPlace;

typedef enum {
  LOOP_FOR,                  /* var from lo while below hi, by step */
  LOOP_IF,
  LOOP_INDEX,                /* var is lo from here to the end of the block */
  LOOP_LET,                  /* a register that keeps this one value */
  LOOP_VAR,                  /* a register or array comes to be; value: what it (each element) begins with, or NULL */
  LOOP_STORE,
  LOOP_LANES_OF,             /* each element of a short array becomes what an operation makes of it, by a function for all of them */
  LOOP_TURN,                 /* a small square array is transposed where it is */
  LOOP_FETCH,                /* a buffer's element is wanted soon: the machine may bring it near, or into the second cache */
  LOOP_LEAD,                 /* a register that keeps how many elements lie from one of a buffer on, along its last axis, ahead of the next
                                whole line of the cache; 0 where they do not lie next to each other */
  LOOP_STREAM,               /* elements of an array go to a buffer, along the last axis of each, or on along several of the buffer's, from
                                where their indices together say: the last may be beyond its axis; nobody wants them soon. Other threads see them once the thread loop that it stands in is through */
  LOOP_GROUP,                 /* of a device: as many neighbours along a buffer's last axis as an array of registers has elements become these, or the other
                                way; where they begin is a multiple of so many elements from where the buffer does: one instruction for 16 bytes of them */
  LOOP_MATRIX,               /* of a device: a warp adds a product of two parts of shared arrays to what its threads have in registers (LoopMatrix) */
  LOOP_BARRIER,              /* of a device: all threads of the block have come here, and see what the others have stored to shared arrays */
  LOOP_CALL,                 /* a C function makes a block of a buffer, of blocks of others; the kernel has no other statement */
  LOOP_PRODUCT               /* of a device, only as a statement of the kernel itself: a library's product of two matrices, or of pairs of them, and
                                launches behind it; or, where there is no such library, other launches that do all of it */
} LoopKind;

/* Whether an operation has a function for arrays of this dtype. */
static inline bool loop_has_lanes(Op op, DType t) {
  return op_info[op].laws & (t == DT_F32 ? LAW_LANES_F32 : t == DT_F64 ? LAW_LANES_F64 : 0u);
}
/* Whether it is the caller's, who says where its elements lie. */
static inline bool loop_is_argument(const TaskGraph *t, const LoopPlace *x) {
  return x->space == SPACE_BUFFER && x->buffer < t->buffers.len && t->buffers.at[x->buffer].space != BUF_WORK;
}
/* Whether an element of a kernel's own array has the bytes that it has in a buffer. */
static inline bool loop_lies_alike(DType t) { return t != DT_F16 && t != DT_BF16 && t != DT_BOOL; }

/* Matrix units: of f16 or bf16 into f32, or of f64. From where the statement says, element (i, k) of the one side is i * row_step + k * row_deep on,
 * (j, k) of the other one j * lane_step + k * lane_deep. Of the warp's points (i, j), thread `l` of 32 has, as registers r * lanes / 4 + c for r below rows / 8
 * and c below lanes / 4, those of i = 8 * r + l / 4 and j = 8 * (c / 2) + 2 * (l % 4) + c % 2. */
typedef struct LoopMatrix {
  int64_t rows, lanes, deep; /* points, multiples of 16, 8 and 16 (f64: 4); of the sum */
  int64_t row_step, row_deep, lane_step, lane_deep;
} LoopMatrix;

typedef struct LoopStmt LoopStmt;
typedef VEC(LoopStmt *) LoopBody;
typedef struct LoopOver { uint32_t var; const Expr *extent; } LoopOver; /* a loop of a product's: from 0, dims-only */

struct LoopStmt {
  LoopKind kind;
  LoopBind bind;             /* FOR */
  uint8_t axis;              /*   GRID, BLOCK: along which */
  uint32_t var;              /*   and INDEX: number of its variable; no two of a kernel share one */
  const Expr *lo, *hi;       /*   i64, over what is in scope; INDEX: lo alone; STREAM: hi elements */
  int64_t step;              /*   FETCH: FETCH_SECOND or 0; STREAM: so many of the buffer's last axes; all but the first of them are gone over whole */
  int64_t wide;              /* STORE, of a device: so many neighbours along the last axes of the place and of what is read, as one; 0: one element */
  int64_t beside;            /* GRID: of a part of the device's registers so many blocks have enough; 0: that is left open */
  int64_t polled;            /* FOR, in order or over lanes: each time behind so many of its turns it is looked whether the run is to end; 0: never */
  const Expr *cond;          /* IF, */
  bool maybe;                /*   as likely as not: what compilers guess would cost its loops their lanes */
  LoopBody body, other;      /* FOR, IF; other: the else. PRODUCT: launches behind it, and those in its stead */
  uint32_t n_over;           /* PRODUCT; CALL: what its labels are called, and their extents */
  LoopOver *over;            /*   the last three go along rows and lanes of the result, and the sum; those before, which pair of matrices it is */
  uint32_t place;            /* LET, LEAD, VAR, STORE, LANES_OF, TURN, FETCH, STREAM, GROUP, PRODUCT, CALL */
  Op op;                     /* LANES_OF */
  uint32_t n_at;             /* STORE, FETCH, STREAM, PRODUCT, CALL, GROUP to a buffer: the place's rank, and */
  const Expr **at;           /*   where */
  const LoopMatrix *matrix;  /* MATRIX; place: the registers, */
  const Expr *other_side;    /*   and the other side's first element, as a read */
  const Expr *value;         /* LET, VAR, STORE: of the place's dtype; STREAM, GROUP: a read, the first element; LEAD: the one of the buffer, as a read;
                                CALL: of the function, on what it is given: reads at labels;
                                PRODUCT: what is summed up, of the sum's dtype; MATRIX: the one side's first element, as a read */
};

typedef struct LoopKernel {
  Str name;                  /* unique in the program, fit for C */
  VEC(Str) note;             /* its equations, a line each */
  VEC(Str) how;              /* what was decided about its loops, for people */
  Place from;                /* where they stand */
  VEC(Str) var;              /* names of the loop variables, by number; unique in the kernel with those of the places */
  VEC(LoopPlace) places;
  bool dense;                /* it is compiled once more for arguments in row-major order, whose strides are constants there */
  LoopBody body;             /* in order; only here may a loop be bound to threads */
  const Expr *work;          /* about how many scalar operations, or vectors of them in tiles: whether a second thread pays; dims-only */
  uint32_t task;             /* the step of its task */
} LoopKernel;

/* Whether it is for a device: its statements are loops over a grid of blocks, each a launch, and products. */
static inline bool loop_is_device(const LoopKernel *k) {
  const LoopStmt *s = k->body.len ? k->body.at[0] : NULL;
  return s && (s->kind == LOOP_PRODUCT || (s->kind == LOOP_FOR && s->bind == BIND_GRID));
}

/* A gathered index that is looked at while it runs: OP_WITHIN(index, extent, site) is the index if it is in range; else
 * the run fails, and says this. */
typedef struct LoopSite {
  Str text;                  /* "index 2 (label tok) of E, read for Y" */
  Place place;
  bool asked;                /* of what other sites were asked for: the index says no more than that it is out of range */
} LoopSite;

typedef struct LoopProgram {
  Arena *arena;
  TaskGraph *tasks;          /* kernels are found by the step of their task */
  VEC(LoopKernel *) kernels;
  VEC(LoopSite) sites;
} LoopProgram;

/* What a kernel of this stage, which a C function makes, is: over its places, and variables that are the stage's labels. NULL: it has not these. */
LoopStmt *loop_call(const LoopProgram *p, const LoopKernel *k, const TaskStage *s);

/* ---- text, check -------------------------------------------------------------------------------- */
void loop_print(Buf *out, const LoopProgram *p); /* the TaskGraph's text comes first */
LoopProgram *loop_read(Arena *a, Strings *t, Source *src, Diags *d);
bool loop_equal(const LoopProgram *a, const LoopProgram *b, Buf *why);
/* For each kernel the number of the first one that does the same, on other buffers; its own: it is that. */
uint32_t *loop_twins(Arena *a, const LoopProgram *p);
/* The sites at which a kernel looks at an index, each once, in an order in which kernels that do the same have theirs. */
typedef VEC(int64_t) LoopSites;
LoopSites loop_sites(Arena *a, const LoopKernel *k);
bool loop_check(const LoopProgram *p, Buf *out);
/* Of a sound one that was read: what is not proved to be in range is looked at from now on while it runs, and a line of `out` for each kernel
 * says so. What ein makes leaves `out` empty. */
void loop_guard(LoopProgram *p, Buf *out);

/* ---- products that a library may make: product.c ------------------------------------------------- */
/* A product as a library is told of it: where each element of the result and of the sides lies. Elements are counted from the buffer's first. */
enum { PRODUCT_LEAST = 3, PRODUCT_LOOPS = 8, PRODUCT_TURNS = 4 };
typedef struct LoopProduct {
  uint32_t place[3];         /* of the result, of the side with its rows, and of the one with its lanes */
  double scale;              /* that each product is multiplied by */
  const Expr *first[3];      /* where each begins, dims-only, */
  const Expr *turn[3][PRODUCT_TURNS]; /* and so much further with each turn, by depth; */
  const Expr *step[3][PRODUCT_LOOPS]; /* from one point of a loop to the next, 0 or dims-only */
} LoopProduct;
/* False: a library has no such product, and why. */
bool loop_product(Exprs *x, const LoopKernel *k, const LoopStmt *s, LoopProduct *out, const char **why);
/* The two reads that e is the product of, each as it is or as the sum's dtype, and what constants it has beside them; false: it is none. */
bool loop_factors(const Expr *e, DType sum, const Expr *read[2], double *scale);
bool loop_has_products(const LoopProgram *p);

#endif
