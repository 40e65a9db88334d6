/* graph/eval/eval_inside.h - internals of the evaluator, for eval*.c only.
 *
 * Every expression of a vertex is compiled once to a register program (eval_code.c), which eval_run.c runs at each
 * point. eval_vertex.c walks the points and reduces; eval_size.c computes extents; eval.c walks the graph. A register
 * is a Cell: f64 in f; f32, f16 and bf16 in s; integers of all widths and bool in i. */
#ifndef EIN_EVAL_INSIDE_H
#define EIN_EVAL_INSIDE_H

#include "eval.h"

typedef union Cell { int64_t i; double f; float s; } Cell;

typedef enum { CL_D, CL_S, CL_I, CLASSES } Class;
static inline Class class_of(DType t) {
  return t == DT_F64 ? CL_D : t == DT_F32 || t == DT_F16 || t == DT_BF16 ? CL_S : CL_I;
}

/* ---- cells (eval_cell.c) --------------------------------------------------------------------- */
Cell cell_cast(Cell x, DType from, DType to);
Cell cell_load(const void *data, DType t, int64_t k);
void cell_store(void *data, DType t, int64_t k, Cell x);
Cell cell_extreme(DType t, bool most);  /* the identity of max (most false) and min (most true) */
int64_t int_wrap(DType t, int64_t x);   /* in two's complement */
float real_narrow(DType t, float x);    /* to f16 or bf16; else x */
size_t cell_size(DType t);
Cell cell_shake(DType t, Cell x, uint64_t *seed); /* off by up to a unit in the last place, unless it has few digits:
                                                   * then it is taken to be exact */
int64_t int_pow(int64_t a, int64_t b), int_idiv(int64_t a, int64_t b), int_mod(int64_t a, int64_t b);
double mod_d(double a, double b), max_d(double a, double b), min_d(double a, double b), lse_d(double a, double b);
float mod_s(float a, float b), max_s(float a, float b), min_s(float a, float b), lse_s(float a, float b);

/* ---- programs -------------------------------------------------------------------------------- */
/* An instruction's code is an Op on a class, or one of these. */
#define CODE(op, class) ((uint32_t)(op) * CLASSES + (uint32_t)(class))
enum {
  I_END = (int)OPS * (int)CLASSES, I_MOVE,   /* dst = a */
  I_JUMP, I_JUMP_IF, I_JUMP_UNLESS, /* to dst; if a */
  I_ONCE, I_RETURN,                /* calls part dst, unless it already ran at this point */
  I_CAST,                          /* dst = a, from dtype b to c */
  I_WRAP, I_NARROW, I_SHAKE,       /* dst to the dtype b */
  I_CALL,                          /* dst = C function call[a] of the registers extra[b...] */
  I_READ                           /* + dtype: dst = slot a at the c indices whose registers are extra[b...] */
};
typedef struct Inst { uint32_t op, dst, a, b, c; } Inst;

typedef struct Code {
  const Inst *at;
  const uint32_t *extra;
  const Extern *const *call; /* the C functions that it calls */
  const uint32_t *part;      /* where each part begins */
  uint64_t *ran, now;        /* part k has run at this point if and only if ran[k] == now */
  uint64_t *shake;           /* the seed of I_SHAKE */
  uint32_t *calls;           /* room for all return addresses: a part never calls itself */
  uint32_t result;           /* register */
} Code;

typedef struct Tensor { const void *data; const uint8_t *has; const int64_t *shape; } Tensor;

typedef struct Frame {
  Cell *reg;
  const Tensor *tensor;      /* by slot */
  bool wrapped;              /* an i64 + - * overflowed: then sizes are refused */
  const Inst *fault;         /* the read that failed */
  uint32_t dim;              /* its index that failed; the rank: there is no value */
} Frame;

bool code_run(Code *c, Frame *f); /* false: a read failed, see fault */

/* ---- one evaluation -------------------------------------------------------------------------- */
typedef struct Vertex Vertex;
typedef struct Loop Loop;

typedef struct Held {        /* what is kept for a node */
  EvalArray array;           /* data NULL: nothing yet */
  void *data;                /* the node's own buffers, reused from turn to turn; array may point elsewhere */
  uint8_t *mask;
  int64_t bytes;             /* of its own buffers */
  bool sized, needed, early, done; /* early: an assert needs it */
  bool lasting;              /* an output: its buffer lies in the caller's arena */
  uint32_t at, last;         /* in the program's region: its position, and that of its last user */
  struct Held *drop;         /* drop: next node with the same last user; drops: the first node whose last user is this
                              * one */
  struct Held *drops;
  Vertex *vertex;
  Loop *loop;
} Held;

typedef struct Run {
  Eval *eval;
  const EinGraph *graph;
  Arena *arena;              /* dropped at the end */
  Held *held;                /* by node id */
  uint32_t n_held;
  int64_t live;              /* bytes of all buffers, and of the given inputs */
  int64_t *turn;             /* by depth */
  uint64_t shake;            /* the seed of what is rounded by chance; 0: nothing is */
  uint32_t ticks;            /* points until the next call of keep_going */
  EvalStatus status;
  const char *error;
  Place place;
} Run;

static inline Held *held_of(Run *r, const EinNode *n) { return &r->held[n->id]; }
/* Keeps the first complaint, with the position appended. Always returns false, so that callers can return it. */
bool eval_fail(Run *r, EvalStatus s, Place at, const char *fmt, ...) EIN_PRINTF(4, 5);
bool eval_ask(Run *r);       /* keep_going; false: stopped */
static inline bool eval_tick(Run *r) { return --r->ticks || eval_ask(r); }
const char *node_name(Run *r, const EinNode *n);

/* ---- compiling (eval_code.c) ----------------------------------------------------------------- */
/* A register file under construction: labels first, then turns, the two arguments of a monoid, then the rest. Several
 * programs may share it. */
typedef struct Builder {
  Run *run;
  const EinNode *node;       /* whose reads; NULL: none allowed */
  uint32_t n_label, n_turn;
  VEC(Cell) reg;
  bool failed;               /* a dim is missing; already reported */
} Builder;
void builder_start(Builder *b, Run *r, const EinNode *node, uint32_t n_label, uint32_t n_turn);
uint32_t builder_param(const Builder *b, int64_t k);
Code *code_new(Builder *b, const Expr *e, DType want); /* e cast to `want` */

/* ---- extents and shapes (eval_size.c) -------------------------------------------------------- */
bool dim_find(const Run *r, Str name, int64_t *out);
bool size_value(Run *r, const Expr *e, Place at, const char *what, Cell *out); /* dims only; overflow is refused */
bool size_of_node(Run *r, const EinNode *n);           /* fills dtype, rank, shape and count of its array */
bool size_count(Run *r, const EinNode *n, EvalArray *a); /* count from shape, within max_bytes */
bool held_room(Run *r, const EinNode *n, Held *h);     /* makes its own data buffer, and sets array to it, without
                                                        * has */
bool held_mask(Run *r, const EinNode *n, Held *h);     /* makes its own mask; does not change array.has */
bool held_copy(Run *r, const EinNode *n, Held *h, const EvalArray *from); /* shapes are already equal */
void held_drop(Run *r, Held *h);
const char *shape_text(Run *r, uint32_t rank, const int64_t *shape);

/* ---- running --------------------------------------------------------------------------------- */
bool vertex_run(Run *r, const EinNode *n);             /* eval_vertex.c */
bool loop_run(Run *r, const EinNode *n);               /* eval_loop.c: a repeat with all its turns */
bool loop_result(Run *r, const EinNode *n);            /*   FINAL, STACK or TURNS */
void loop_drop(Run *r, Loop *l);
bool node_run(Run *r, const EinNode *n);               /* eval.c */
bool scalar_get(Run *r, const EinNode *n, const EinNode *user, Cell *out); /* element 0 of a rank-0 tensor */

#endif
