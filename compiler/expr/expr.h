/* expr/expr.h - scalar expressions: what all languages share.
 *
 * One hash-consed, typed, immutable DAG serves for the scalar function of a vertex, for the index maps
 * of its reads, for predicates (domains), and for extents (expressions over dims alone). All implicit
 * conversions are written out as `cast`; every argument's dtype is what ops.def asks for.
 * Two equal expressions of one pool are one pointer. */
#ifndef EIN_EXPR_H
#define EIN_EXPR_H

#include "base/base.h"

/* ---- dtypes: in the runtime's order ---------------------------------------------------------- */
typedef enum { DT_F64, DT_F32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U8, DT_BOOL, DTYPES } DType;
const char *dtype_name(DType t);
bool dtype_find(const char *s, size_t len, DType *out);
int dtype_size(DType t);
bool dtype_is_float(DType t);
bool dtype_is_int(DType t);        /* not bool */
DType dtype_join(DType a, DType b); /* of two typed operands of + - * and the like (language.md, Types) */
DType dtype_sum(DType t);          /* what sums and products of t accumulate in: f16 f32, i8 i64, bool i64 */
bool dtype_holds(DType t, int64_t v); /* an integer literal fits */

/* Where in the user's text something comes from; file NULL: nowhere. */
typedef struct Place { Str file; uint32_t line, column; } Place;

/* ---- operations: see ops.def ----------------------------------------------------------------- */
typedef enum {
#define OP(id, ...) OP_##id,
#include "ops.def"
  OPS
} Op;

typedef enum { /* what an operation asks of its arguments and gives back */
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

enum { /* laws, over the reals and ignoring rounding; what rounding costs is the user of a law's business */
  LAW_COMMUTATIVE = 1, LAW_ASSOCIATIVE = 2, LAW_IDEMPOTENT = 4,
  LAW_LAZY = 8,          /* evaluates an argument only where it is needed: and, or, select */
  LAW_EXACT = 16,        /* gives the same bits whatever the target (no libm) */
  LAW_FUNCTION = 32,     /* users may call it by name */
  LAW_LOOP = 64,         /* only in loops: the schedule's own */
  LAW_LANES_F32 = 128, LAW_LANES_F64 = 256 /* runtime/ein_lanes.h has it for arrays of these */
};

typedef struct OpInfo {
  const char *name;      /* in text: "add", "exp" */
  const char *sign;      /* infix or prefix sign in the language, or NULL */
  int arity;
  OpRule rule;
  unsigned laws;
  const char *c_f64, *c_f32, *c_int; /* C text with $0 $1 $2 for the arguments; NULL: not on that dtype */
  const char *derivative; /* by each argument, ';' between, in the language, with a b c for the arguments, r the result; NULL: none */
  double ulp;             /* bound on the error of the runtime's or libm's function; 0: exact or correctly rounded */
} OpInfo;
extern const OpInfo op_info[OPS];
bool op_find(const char *name, size_t len, Op *out);
typedef struct Expr Expr;
/* The result's dtype, or false where op does not take such arguments (never a cast, whose dtype is free). */
bool op_result(Op op, uint32_t n, const Expr *const *arg, DType *out);

/* ---- reducers -------------------------------------------------------------------------------- */
typedef enum {
#define REDUCER(id, ...) RED_##id,
#include "ops.def"
  REDUCERS
} Reducer; /* RED_NONE: a map. RED_MONOID: the user's own */

typedef struct ReducerInfo {
  const char *name;
  Op combine;             /* OPS where there is none (argmax, monoid) */
  const char *identity;   /* "0" "1" "-inf" "inf" "false" "true" "nan"; NULL: none, so empty has no value */
  unsigned laws;
  bool keeps_dtype;       /* max, min: accumulate in the dtype itself */
} ReducerInfo;
extern const ReducerInfo reducer_info[REDUCERS];
bool reducer_find(const char *name, size_t len, Reducer *out);

/* ---- C functions -----------------------------------------------------------------------------
 * A function of scalars that stands in C: `extern def`. It is taken to be one of its arguments alone, which any thread may call, so it is
 * called as often as suits. Or one of blocks: `extern` behind an equation, which it computes (EinSum.by). Interned in a pool by all but
 * `call`, and no two of a pool have one name. */
typedef union CallCell { int64_t i; double f; } CallCell; /* a float of either width in f, all else in i */
typedef void ExternCall(const CallCell *arg, CallCell *result);
enum { EXTERN_ARGS = 8, EXTERN_LABELS = 32, EXTERN_COST = 15 };
typedef struct Extern {
  Str name, symbol;          /* the program's word, and C's */
  Str from;                  /* a file to be compiled or linked, as it is opened, or "-lm", or "own.c -lm"; NULL: libc and libm have it */
  uint32_t n;
  DType arg[EXTERN_ARGS];    /* no f16 and bf16, which C does not have everywhere */
  DType dtype;               /* f64 or f32; of blocks any but these two */
  bool block;                /* it is given the extents of labels, and of the result and each argument a pointer and its strides: */
  uint32_t n_out, n_red;     /*   labels of the result, and reduced ones; */
  uint8_t rank[EXTERN_ARGS]; /*   by argument its dimensions, each along a label */
  int64_t cost;              /* operations on floats that a call takes; of blocks, that a point takes. -1: not said; of scalars taken for EXTERN_COST */
  Place place;
  ExternCall *call;          /* for evaluators: set by whoever has loaded it; NULL: nobody has */
} Extern;
static inline int64_t extern_cost(const Extern *x) { return x->cost < 0 ? EXTERN_COST : x->cost; }
/* What is not as it must be in one that is declared, and in which part of it: an argument's number, or one of these. NULL: nothing. */
enum { EXTERN_NAME = -4, EXTERN_SYMBOL, EXTERN_DTYPE, EXTERN_FROM };
const char *extern_wrong(const Extern *x, int *part);
size_t extern_file(Str from);                            /* so many bytes of it name a file; what is behind them are libraries */
bool extern_same_type(const Extern *a, const Extern *b); /* in C */

/* ---- the expression -------------------------------------------------------------------------- */
typedef enum {
  EX_INT,    /* i: value of an integer or bool dtype */
  EX_REAL,   /* f: value of a float dtype, already rounded to it */
  EX_DIM,    /* name: a symbolic size; i64 */
  EX_LABEL,  /* i: number of a label of the vertex; i64 */
  EX_TURN,   /* i: depth of the repeat whose turn counter it is (0 outermost); i64 */
  EX_PARAM,  /* i: 0 or 1, the arguments of a monoid's function */
  EX_READ,   /* i: slot; arg: one i64 index a dimension; dtype of the tensor read */
  EX_OP      /* op, arg */
} ExprKind;

enum { /* what occurs inside, kept at each expression */
  HAS_DIM = 1, HAS_LABEL = 2, HAS_TURN = 4, HAS_READ = 8, HAS_PARAM = 16,
  HAS_CALL = 32 /* of a C function: nothing that is known before the program runs */
};

struct Expr {
  uint8_t kind, dtype, op, has;
  uint32_t hash;
  uint32_t id;            /* in order of creation in its pool: a stable order for sorting */
  uint32_t n : 31;        /* arguments */
  uint32_t drawn : 1;     /* a random number occurs inside, or a float made an integer: they may be anything, as what is read */
  uint64_t labels;        /* bit k: label k occurs; bit 63: one from 63 on */
  union { int64_t i; double f; Str name; const Extern *by; };
  const Expr *arg[];
};

typedef struct Exprs Exprs; /* the pool */
Exprs *exprs_new(Arena *a);
Arena *exprs_arena(Exprs *p);

/* Constructors intern and do nothing else, except that operations on i64 constants are folded and
 * x+0 x*1 x*0 disappear where all is i64 or bool: index maps stay readable. expr_op checks the rule (bug()). */
const Expr *expr_int(Exprs *p, DType t, int64_t v);  /* wraps to t; bool: 0 or 1 */
const Expr *expr_real(Exprs *p, DType t, double v);  /* rounds to t */
const Expr *expr_bool(Exprs *p, bool v);
const Expr *expr_dim(Exprs *p, Str name);
const Expr *expr_label(Exprs *p, int64_t number);
const Expr *expr_turn(Exprs *p, int64_t depth);
const Expr *expr_param(Exprs *p, DType t, int64_t k);
const Expr *expr_read(Exprs *p, DType t, int64_t slot, uint32_t n, const Expr *const *index);
const Expr *expr_op(Exprs *p, Op op, uint32_t n, const Expr *const *arg);
const Expr *expr_op1(Exprs *p, Op op, const Expr *a);
const Expr *expr_op2(Exprs *p, Op op, const Expr *a, const Expr *b);
const Expr *expr_select(Exprs *p, const Expr *c, const Expr *a, const Expr *b);
const Expr *expr_call(Exprs *p, const Extern *x, const Expr *const *arg); /* x of this pool; arguments of its dtypes */
const Expr *expr_op_like(Exprs *p, const Expr *e, const Expr *const *arg); /* e's operation, on other arguments */
const Expr *expr_cast(Exprs *p, DType t, const Expr *a); /* a itself where the dtype is t already; folds literals */
const Expr *expr_and(Exprs *p, const Expr *a, const Expr *b); /* NULL stands for true, in and out */
bool expr_is_int(const Expr *e, int64_t v);

/* The pool's C functions, in order of declaration. extern_add gives the one that is there, if one is the same; and another name where only the
 * name is. */
const Extern *extern_add(Exprs *p, const Extern *x);
uint32_t extern_count(const Exprs *p);
Extern *extern_at(const Exprs *p, uint32_t k);
const Extern *extern_find(const Exprs *p, Str name); /* NULL: none */

/* Rebuilds e with f applied to every leaf that is a DIM, LABEL, TURN, PARAM or READ (its arguments rebuilt
 * first); f returns its replacement (or the leaf itself). Shared parts are visited once. */
typedef const Expr *ExprLeaf(void *env, Exprs *p, const Expr *leaf);
const Expr *expr_map(Exprs *p, const Expr *e, ExprLeaf *f, void *env);
/* The same with f applied to what every operation has become, which is not all of constants. */
const Expr *expr_map_ops(Exprs *p, const Expr *e, ExprLeaf *f, void *env);

/* The read that stands for each slot: of canonical expressions each slot has one index list. NULL in top is nothing. */
void expr_slot_reads(Arena *a, uint32_t n, const Expr *const *top, const Expr **read);
/* Label k becomes to[k] (an i64 expression); to[k] NULL leaves it. */
const Expr *expr_relabel(Exprs *p, const Expr *e, uint32_t n, const Expr *const *to);
/* Sets used[k] for each label k < n that occurs. */
void expr_labels(const Expr *e, uint32_t n, bool *used);
bool expr_has_label(const Expr *e, int64_t label);
/* How an i64 changes with the label: true, and by how much a step, if that is a constant. */
bool expr_slope(const Expr *e, int64_t label, int64_t *slope);

/* The value of an expression without reads, exactly as the language defines it, in the language's own
 * dtypes. Labels, turns and dims come from the environment; false if something is missing. */
typedef struct Value { DType dtype; union { int64_t i; double f; }; } Value;
typedef struct ExprEnv {
  const int64_t *label, *turn; uint32_t n_label, n_turn;
  const Value *param; uint32_t n_param;
  bool (*dim)(void *ctx, Str name, int64_t *out); void *ctx;
} ExprEnv;
bool expr_value(const Expr *e, const ExprEnv *env, Value *out);
/* One operation on values (arguments of the right dtypes): the language's arithmetic, shared by constant
 * folding and law sampling. graph/eval has its own. */
Value op_value(Op op, DType result, uint32_t n, const Value *arg);
Value value_cast(Value v, DType t);
double real_round(DType t, double v); /* to the nearest value of a float dtype */

/* ---- text ------------------------------------------------------------------------------------
 * Fully parenthesised and typed, so that it reads back to the same pointer:
 *   3  3:i32  1.5  1.5:f32  true  inf:f32     (i64, f64 and bool are not said)
 *   $N  i  @t  #0                              dim, label, turn, monoid argument
 *   %7[i, (j + 1)]                             read of node 7 (rank 0: %7[])
 *   (a + b)  (a <= b)  neg(a)  max(a, b)  select(c, a, b)  f32(a)
 *   erfcx!(a)                                  a C function, by the program's name
 * Names come from ExprNames, so that a vertex prints with its own labels. */
typedef struct ExprNames {
  void *ctx;
  Str (*label)(void *ctx, int64_t number);
  Str (*turn)(void *ctx, int64_t depth);
  int64_t (*node)(void *ctx, int64_t slot);   /* the number printed for a read's slot */
  void (*read)(void *ctx, Buf *out, int64_t slot); /* or, if not NULL: all that stands before the read's `[` */
} ExprNames;
void expr_print(Buf *out, const Expr *e, const ExprNames *names);

/* Reading: the caller resolves names; each returns false if there is none such. */
typedef struct ExprReader {
  Exprs *pool; Strings *strings;
  const char *s, *end;    /* what is left; advanced */
  const char *error;      /* why it stopped, NULL if all is well */
  void *ctx;
  bool (*label)(void *ctx, Str name, int64_t *number);
  bool (*turn)(void *ctx, Str name, int64_t *depth);
  bool (*read)(void *ctx, int64_t node, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot);
  /* two more ways to write a read, where they are not NULL: &3[i], and by name, X[i] */
  bool (*kept)(void *ctx, int64_t stage, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot);
  bool (*named)(void *ctx, Str name, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot);
  DType param;            /* of #0 and #1 */
  int depth;              /* deepest nesting taken; 0: four million levels (nothing here recurses) */
} ExprReader;
const Expr *expr_read_text(ExprReader *r); /* NULL and r->error on failure */

#endif
