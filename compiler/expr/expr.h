/* expr/expr.h - scalar expressions, shared by all languages.
 *
 * One hash-consed, typed, immutable DAG serves for the scalar function of a vertex, for the index maps of its reads,
 * for predicates (domains), and for extents (expressions over dims only). Every implicit conversion is written as
 * `cast`; every argument has the dtype that ops.def requires. Equal expressions of one pool are one pointer. */
#ifndef EIN_EXPR_H
#define EIN_EXPR_H

#include "base/base.h"

/* ---- dtypes: in the runtime's order ---------------------------------------------------------- */
typedef enum { DT_F64, DT_F32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U8, DT_BOOL, DTYPES } DType;
const char *dtype_name(DType t);
bool dtype_find(const char *s, size_t len, DType *out);
int dtype_size(DType t);
bool dtype_is_float(DType t);
bool dtype_is_half(DType t);
bool dtype_is_int(DType t);        /* not bool */
DType dtype_join(DType a, DType b); /* of two typed operands of + - * and the like (language.md, Types) */
DType dtype_sum(DType t);          /* the dtype in which sums and products of t accumulate: f16 f32, i8 i64, bool i64 */
bool dtype_holds(DType t, int64_t v); /* an integer literal fits */

/* A position in the user's text; file NULL: none. */
typedef struct Place { Str file; uint32_t line, column; } Place;

/* ---- operations: see ops.def ----------------------------------------------------------------- */
typedef enum {
#define OP(id, ...) OP_##id,
#include "ops.def"
  OPS
} Op;

typedef enum { /* the argument and result dtypes of an operation */
  RULE_SAME,    /* all arguments of one dtype, numbers; the result has it */
  RULE_REAL,    /* all arguments of one float dtype; the result has it */
  RULE_COMPARE, /* two arguments of one dtype; bool */
  RULE_TEST,    /* float arguments of one dtype; bool (isnan) */
  RULE_LOGIC,   /* bools; bool */
  RULE_INT,     /* all arguments of one integer dtype; the result has it */
  RULE_SELECT,  /* bool, then two of one dtype (bool too), which the result has */
  RULE_CAST,    /* one argument of any dtype; the result's dtype is the node's own */
  RULE_RANDOM,  /* i64 seed, i64 index; f32 */
  RULE_INDEX,   /* i64 arguments; i64 */
  RULE_BITS,    /* f32 or f64; the integer of as many bits; or the other way round */
  RULE_EXTERN   /* as the function is declared; expr_call makes it */
} OpRule;

enum { /* laws, over the reals and ignoring rounding; whoever applies a law must consider rounding */
  LAW_COMMUTATIVE = 1, LAW_ASSOCIATIVE = 2, LAW_IDEMPOTENT = 4,
  LAW_LAZY = 8,          /* evaluates an argument only if it is needed: and, or, select */
  LAW_EXACT = 16,        /* gives the same bits on every target (no libm) */
  LAW_FUNCTION = 32,     /* users may call it by name */
  LAW_LOOP = 64,         /* only in loops: made by the schedule */
  LAW_LANES_F32 = 128, LAW_LANES_F64 = 256 /* runtime/math/ein_lanes.h has a version for arrays of these */
};

typedef struct OpInfo {
  const char *name;      /* in text: "add", "exp" */
  const char *sign;      /* infix or prefix sign in the language, or NULL */
  int arity;
  OpRule rule;
  unsigned laws;
  const char *c_f64, *c_f32, *c_int; /* C text with $0 $1 $2 for the arguments; NULL: not available for that dtype */
  const char *derivative; /* by each argument, separated by ';', in the language, with a b c for the arguments, r for
                           * the result; NULL: none */
  double ulp;             /* error bound of the runtime's or libm's function; 0: exact or correctly rounded */
} OpInfo;
extern const OpInfo op_info[OPS];
bool op_find(const char *name, size_t len, Op *out);
/* Of comparisons: the one that says the same of exchanged operands, and the one that holds of integers where op does
 * not. */
Op op_swapped(Op op);
Op op_contrary(Op op);
typedef struct Expr Expr;
/* Finds the result's dtype. Returns false if op does not take such arguments (always for a cast, whose dtype is
 * free). */
bool op_result(Op op, uint32_t n, const Expr *const *arg, DType *out);

/* ---- reducers -------------------------------------------------------------------------------- */
typedef enum {
#define REDUCER(id, ...) RED_##id,
#include "ops.def"
  REDUCERS
} Reducer; /* RED_NONE: a map. RED_MONOID: user-defined */

/* The dtypes of a reduction. Those that accumulate (sum:f64) do so in a wider dtype, or in the one that is given. */
typedef enum {
  REDUCES_SAME,           /* numbers, in the dtype of the body, which the result has too */
  REDUCES_SUM,            /* numbers and bools; accumulates; gives the body's float dtype, or i64 */
  REDUCES_MEAN,           /* numbers and bools; accumulates; gives a float */
  REDUCES_REAL,           /* numbers, as floats; accumulates; gives a float */
  REDUCES_TEST,           /* bools */
  REDUCES_PLACE,          /* numbers; gives the place of one, an i64 */
  REDUCES_COUNT           /* nothing; gives an i64 */
} ReducerTypes;

typedef struct ReducerInfo {
  const char *name;
  Op combine;             /* OPS if there is none (argmax, monoid) */
  const char *identity;   /* "0" "1" "-inf" "inf" "false" "true" "nan"; NULL: none, so an empty reduction has no
                           * value */
  unsigned laws;
  ReducerTypes types;
} ReducerInfo;
extern const ReducerInfo reducer_info[REDUCERS];
bool reducer_find(const char *name, size_t len, Reducer *out);
static inline bool reducer_is_arg(Reducer r) { return reducer_info[r].types == REDUCES_PLACE; }
static inline bool reducer_accumulates(Reducer r) {
  return reducer_info[r].types == REDUCES_SUM || reducer_info[r].types == REDUCES_MEAN ||
      reducer_info[r].types == REDUCES_REAL;
}

/* ---- C functions -----------------------------------------------------------------------------
 * A C function of scalars, declared by `extern def`, is assumed to depend only on its arguments and to be callable
 * from any thread, so it is called as often as convenient. A C function of blocks, declared by `extern` after an
 * equation, computes the equation (EinSum.by). Interned in a pool by all fields but `call`; names are unique within a
 * pool. */
typedef union CallCell { int64_t i; double f; } CallCell; /* a float of either width in f, everything else in i */
typedef void ExternCall(const CallCell *arg, CallCell *result);
enum { EXTERN_ARGS = 8, EXTERN_LABELS = 32, EXTERN_COST = 15 };
typedef struct Extern {
  Str name, symbol;          /* the program's name, and C's */
  Str from;                  /* a file to compile or link, by its path, or "-lm", or "own.c -lm"; NULL: in libc or
                              * libm */
  uint32_t n;
  DType arg[EXTERN_ARGS];    /* not f16 or bf16, which C does not have everywhere */
  DType dtype;               /* f64 or f32; of blocks any but f16 and bf16 */
  bool block;                /* it gets the extents of labels, and for the result and each argument a pointer and its
                              * strides */
  uint32_t n_out, n_red;     /* its output labels, and reduced ones */
  uint8_t rank[EXTERN_ARGS]; /* by argument: its dimensions, each along a label */
  int64_t cost;              /* operations on floats per call, or for blocks per point; -1: not given, EXTERN_COST is
                              * assumed for scalars */
  Place place;
  ExternCall *call;          /* for evaluators: set by the code that loaded it; NULL: not loaded */
} Extern;
static inline int64_t extern_cost(const Extern *x) { return x->cost < 0 ? EXTERN_COST : x->cost; }
/* Checks a declared C function. Returns what is wrong and sets *part to an argument's number or one of these. NULL:
 * nothing. */
enum { EXTERN_NAME = -4, EXTERN_SYMBOL, EXTERN_DTYPE, EXTERN_FROM };
const char *extern_wrong(const Extern *x, int *part);
size_t extern_file(Str from);                            /* length of the part that names a file; libraries follow */
bool extern_same_type(const Extern *a, const Extern *b); /* in C */

/* ---- the expression -------------------------------------------------------------------------- */
typedef enum {
  EX_INT,    /* i: value of an integer or bool dtype */
  EX_REAL,   /* f: value of a float dtype, already rounded to it */
  EX_DIM,    /* name: a symbolic size; i64 */
  EX_LABEL,  /* i: number of a label of the vertex; i64 */
  EX_TURN,   /* i: depth of the repeat whose turn counter it is (0 outermost); i64 */
  EX_PARAM,  /* i: 0 or 1, the arguments of a monoid's function; in elaboration also further ones, of a monoid over
              * tuples */
  EX_READ,   /* i: slot; arg: one i64 index per dimension; dtype of the tensor that it reads */
  EX_OP      /* op, arg */
} ExprKind;

enum { /* what occurs inside, stored in each expression */
  HAS_DIM = 1, HAS_LABEL = 2, HAS_TURN = 4, HAS_READ = 8, HAS_PARAM = 16,
  HAS_CALL = 32 /* of a C function: its value is not known before the program runs */
};

struct Expr {
  uint8_t kind, dtype, op, has;
  uint32_t hash;
  uint32_t id;            /* in order of creation in its pool: a stable order for sorting */
  uint32_t n : 31;        /* arguments */
  uint32_t drawn : 1;     /* contains a random number, or a float converted to an integer: like a read, it may have
                           * any value */
  uint64_t labels;        /* bit k: label k occurs; bit 63: one from 63 on */
  union { int64_t i; double f; Str name; const Extern *by; };
  const Expr *arg[];
};

typedef struct Exprs Exprs; /* the pool */
Exprs *exprs_new(Arena *a);
Arena *exprs_arena(Exprs *p);

/* Constructors intern and do nothing else, except that operations on i64 constants are folded, and x+0 x*1 x*0
 * disappear if everything is i64 or bool: index maps stay readable. expr_op checks the rule (bug()). */
const Expr *expr_int(Exprs *p, DType t, int64_t v);  /* wraps to t; bool: 0 or 1 */
const Expr *expr_real(Exprs *p, DType t, double v);  /* rounds to t */
const Expr *expr_bool(Exprs *p, bool v);
const Expr *expr_dim(Exprs *p, Str name);
const Expr *expr_label(Exprs *p, int64_t number);
const Expr *expr_turn(Exprs *p, int64_t depth);
enum { EXPR_PARAMS = 32 };
const Expr *expr_param(Exprs *p, DType t, int64_t k);
const Expr *expr_read(Exprs *p, DType t, int64_t slot, uint32_t n, const Expr *const *index);
const Expr *expr_op(Exprs *p, Op op, uint32_t n, const Expr *const *arg);
const Expr *expr_op1(Exprs *p, Op op, const Expr *a);
const Expr *expr_op2(Exprs *p, Op op, const Expr *a, const Expr *b);
const Expr *expr_select(Exprs *p, const Expr *c, const Expr *a, const Expr *b);
const Expr *expr_call(Exprs *p, const Extern *x, const Expr *const *arg); /* x of this pool; arguments of its dtypes */
const Expr *expr_op_like(Exprs *p, const Expr *e, const Expr *const *arg); /* the same operation as e, on other
                                                                            * arguments */
const Expr *expr_with(Exprs *p, const Expr *e, const Expr *const *arg); /* the same, or e itself if its arguments are
                                                                         * the same; also of a read */
const Expr *expr_cast(Exprs *p, DType t, const Expr *a); /* returns a if it already has dtype t; folds literals */
const Expr *expr_and(Exprs *p, const Expr *a, const Expr *b); /* NULL means true, in arguments and result */
bool expr_is_int(const Expr *e, int64_t v);
static inline bool expr_is_dims(const Expr *e) { /* without labels, turns, reads and parameters: over dims only */
  return !(e->has & (HAS_LABEL | HAS_TURN | HAS_READ | HAS_PARAM | HAS_CALL));
}
static inline bool is_op(const Expr *e, Op op) { return e->kind == EX_OP && e->op == op; }

/* The pool's C functions, in order of declaration. extern_add returns an equal function that is already there. If
 * only its name is taken, it adds the function under another name. */
const Extern *extern_add(Exprs *p, const Extern *x);
uint32_t extern_count(const Exprs *p);
Extern *extern_at(const Exprs *p, uint32_t k);
const Extern *extern_find(const Exprs *p, Str name); /* NULL: none */

/* Rebuilds e with f applied to every leaf that is a DIM, LABEL, TURN, PARAM or READ (its arguments are rebuilt
 * first). f returns the replacement (or the leaf itself). Shared parts are visited once. */
typedef const Expr *ExprLeaf(void *env, Exprs *p, const Expr *leaf);
const Expr *expr_map(Exprs *p, const Expr *e, ExprLeaf *f, void *env);
/* The same, with f applied to each rebuilt operation that is not entirely constant, instead of to leaves. */
const Expr *expr_map_ops(Exprs *p, const Expr *e, ExprLeaf *f, void *env);

/* The nodes of expressions, from the top down, each once:
 *     ExprNodes nodes = expr_nodes(a, top, has);
 *     for (const Expr *e; (e = expr_node(&nodes));) ...
 * `has`: only those with one of these bits; 0: all. A top may be NULL; more can be added at any time. */
typedef struct ExprNodes { Arena *arena; unsigned has; Map seen; VEC(const Expr *) todo; const Expr *at; } ExprNodes;
ExprNodes expr_nodes(Arena *a, const Expr *top, unsigned has);
void expr_nodes_add(ExprNodes *w, const Expr *top);
const Expr *expr_node(ExprNodes *w);                                /* the next one; NULL: there are no more */
const Expr *expr_next_read(ExprNodes *w);                           /* the next one that is a read */
static inline void expr_node_skip(ExprNodes *w) { w->at = NULL; }   /* leaves out what is below the last one */

/* Finds the read of each slot: in canonical expressions each slot has one index list. An entry of top may be NULL. */
void expr_slot_reads(Arena *a, uint32_t n, const Expr *const *top, const Expr **read);
/* Replaces label k by to[k] (an i64 expression); to[k] NULL keeps it. */
const Expr *expr_relabel(Exprs *p, const Expr *e, uint32_t n, const Expr *const *to);
/* Sets used[k] for each label k < n that occurs. */
void expr_labels(const Expr *e, uint32_t n, bool *used);
bool expr_has_label(const Expr *e, int64_t label);
bool exprs_same(uint32_t n, const Expr *const *a, const Expr *const *b);
const Expr **exprs_labels(Arena *a, Exprs *p, uint32_t n); /* label 0, label 1, .., with room for one more */
const Expr **exprs_ints(Arena *a, Exprs *p, uint32_t n, const int64_t *of);
bool exprs_are_labels(uint32_t n, const Expr *const *e); /* they are label 0, label 1, .. in this order */
bool expr_is_short(const Expr *e, int32_t *room); /* is written in at most *room symbols, from which it takes its own */
/* How an i64 depends on the label. Returns true, and the change per step, if that is a constant. */
bool expr_slope(const Expr *e, int64_t label, int64_t *slope);

/* The value of an expression without reads, exactly as the language defines it, in the language's dtypes. Labels,
 * turns and dims come from the environment. Returns false if something is missing. */
typedef struct Value { DType dtype; union { int64_t i; double f; }; } Value;
typedef struct ExprEnv {
  const int64_t *label, *turn; uint32_t n_label, n_turn;
  const Value *param; uint32_t n_param;
  bool (*dim)(void *ctx, Str name, int64_t *out); void *ctx;
} ExprEnv;
bool expr_value(const Expr *e, const ExprEnv *env, Value *out);
/* A guess of a size, at least 1, from the dims that `known` (NULL: none) tells; 0: something else is missing. guess.c */
int64_t expr_size_guess(const Expr *e, bool (*known)(void *ctx, Str name, int64_t *out), void *ctx);
/* One operation on values (with arguments of the required dtypes): the language's arithmetic, shared by constant
 * folding and law sampling. graph/eval has its own. */
Value op_value(Op op, DType result, uint32_t n, const Value *arg);
double value_digamma(double of); /* which libm lacks */
double value_trigamma(double of);
Value value_cast(Value v, DType t);
double real_round(DType t, double v); /* to the nearest value of a float dtype */

/* ---- text ------------------------------------------------------------------------------------
 * Fully parenthesised and typed, so that it reads back to the same pointer:
 *
 *   3  3:i32  1.5  1.5:f32  true  inf:f32     (i64, f64 and bool are omitted)
 *   $N  i  @t  #0                              dim, label, turn, monoid argument
 *   %7[i, (j + 1)]                             read of node 7 (rank 0: %7[])
 *   (a + b)  (a <= b)  neg(a)  max(a, b)  select(c, a, b)  f32(a)
 *   erfcx!(a)                                  a C function, by the program's name
 *
 * Names come from ExprNames, so that a vertex prints with its own labels. */
typedef struct ExprNames {
  void *ctx;
  Str (*label)(void *ctx, int64_t number);
  Str (*turn)(void *ctx, int64_t depth);
  int64_t (*node)(void *ctx, int64_t slot);   /* the number printed for a read's slot */
  void (*read)(void *ctx, Buf *out, int64_t slot); /* or, if not NULL: prints everything before the read's `[` */
} ExprNames;
void expr_print(Buf *out, const Expr *e, const ExprNames *names);

/* Reading: the caller resolves names; each callback returns false for an unknown name. */
typedef struct ExprReader {
  Exprs *pool; Strings *strings;
  const char *s, *end;    /* the remaining text; advances */
  const char *error;      /* why it stopped; NULL: no error */
  void *ctx;
  bool (*label)(void *ctx, Str name, int64_t *number);
  bool (*turn)(void *ctx, Str name, int64_t *depth);
  bool (*read)(void *ctx, int64_t node, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot);
  /* two more ways to write a read, if not NULL: &3[i], and by name, X[i] */
  bool (*kept)(void *ctx, int64_t stage, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot);
  bool (*named)(void *ctx, Str name, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot);
  DType param;            /* of #0 and #1 */
  int depth;              /* the deepest nesting allowed; 0: four million levels (nothing here recurses) */
} ExprReader;
const Expr *expr_read_text(ExprReader *r); /* NULL and r->error on failure */

#endif
