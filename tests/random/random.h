/* tests/random/random.h - random programs: what they are made of, and what is done with them.
 *
 *   make*.c    expressions     make_program.c   statements, defs, loops     num.c   types and errors of values
 *   make_loops.c  programs of loops in loops
 *   write.c    a program as text, in several ways that must mean the same
 *   judge.c    compiles and runs a text, and compares        shrink.c   what may be left out of a failing program
 *   programs.c the command, which stands on ../harness
 *   emitted.h  a second judge and command: the same programs by the C that is emitted for them
 *
 * A program is a tree of its own, not the compiler's: it knows of each expression its dtype, whether it can be
 * written where it stands, and how far two right evaluations of it may differ. */
#ifndef RANDOM_H
#define RANDOM_H

#include "../harness/harness.h"

/* ---- what a program is made of --------------------------------------------------------------- */
typedef struct Extent {
  char text[24];             /* "N1" or "3" */
  int64_t value;
  const char *define;        /* of a dim: what stands behind `=`; NULL: a number */
} Extent;

typedef struct Label {
  uint32_t number;           /* within its equation: names come from it */
  Extent *ext;
  bool quiet;                /* its size is not said where a read says it */
  bool whole;                /* cannot be split in two */
  bool param;                /* of a def: never with a size */
  bool bare, said;           /* while writing: a read says its size; it was said */
  int64_t first;             /* while writing: not -1: split, this many times the rest */
  int64_t at;                /* while trying out points */
} Label;

typedef enum { HELD, LITERAL, INDEX, REAL } Weak; /* a typed value, and three that bend */
typedef struct Ty { DType t; Weak weak; } Ty;

/* What is known about a value: |finite values| <= mag; two right evaluations differ by noise at most; grid: an
 * integer, whatever its dtype; wild: may be inf or nan. */
typedef struct Num { double mag, noise; bool grid, wild; } Num;

typedef struct Tensor {
  const char *name;
  uint32_t rank;
  Extent *dim[4];
  DType dtype;
  Num num;
} Tensor;

typedef struct Turn { const char *name; int64_t most, at; bool known; } Turn; /* known: the bound is a size */

typedef struct Node Node;

typedef struct Param {
  const char *name;
  DType dtype;
  bool plain, stands, used, reaches;
  Label *label;
  Node *value;
} Param;
/* plain: a literal goes in; stands: used as it stands; used: somewhere; reaches: the value has its labels; label:
 * substituted, so arguments must say its size; value: a local equation's */

typedef struct Def {
  const char *name;
  uint32_t n_label, n_param, n_local;
  Label *label[2];
  bool free[2], sure[2];     /* the value may have that label; it has */
  bool some;                 /* has no value over nothing */
  Param param[3], local[2];
  Node *e;
  Label **made; uint32_t n_made;
} Def;

typedef struct UserMonoid { const char *name, *function, *identity; DType dtype; uint32_t any_int; } UserMonoid;

typedef enum {
  E_INT, E_REAL, E_TRUTH, E_CONST, E_LABEL, E_DIM, E_SIZE, E_TURN, E_READ, E_GROUP, E_BINARY, E_NEG, E_NOT, E_FUN,
  E_IF, E_ELSE, E_CAST, E_REDUCE, E_MONOID, E_CALL, E_SUBST, E_LOCAL, E_RANDOM
} Kind;

struct Node {
  uint8_t kind, op;          /* op: Op, Reducer or DType */
  uint8_t n, n_lab;          /* kids, labels */
  bool konst;                /* folded by the compiler, to the integer i */
  bool grouped;              /* a reducer's labels are one group */
  bool where;                /* the last kid is a predicate */
  bool call;                 /* sum(e): its labels are not written */
  bool again;                /* binds a label that is bound around it */
  int8_t acc;                /* sum:f64, or -1 */
  Ty ty;
  Num num;
  int64_t i;
  double f;
  const char *word;          /* function, constant, parameter */
  Tensor *ten;
  Extent *ext;
  Turn *turn;
  Def *def;
  UserMonoid *monoid;
  Label *lab[4];
  Node *kid[6];
};

typedef enum { S_DIM, S_INPUT, S_EQUATION, S_OUTPUT, S_DEF, S_MONOID, S_ASSERT, S_REPEAT, S_STATE, S_NEXT } StmtType;

typedef struct Stmt Stmt;
struct Stmt {
  StmtType type;
  bool output, typed, block, param, unlabelled;
  Tensor *ten;
  uint32_t n_left, rank;
  Label *left[6];
  uint32_t merge[4];
  bool stack; uint32_t turn_axis; /* the loop variable on the left */
  Node *e, *until;
  Extent *ext;
  Def *def;
  UserMonoid *monoid;
  Turn *turn;
  VEC(Stmt *) body;
  VEC(Label *) made;         /* the labels of the equation */
};

typedef struct Made {        /* a program */
  Arena *arena;
  VEC(Extent *) extents;
  VEC(Tensor *) tensors;     /* all that ever were */
  VEC(Stmt *) stmts;
  bool loops;                /* there is a repeat */
  bool strict;               /* labels meet only where their sizes are written alike */
} Made;

Made *program_make(Arena *a, uint64_t seed);
Made *program_make_loops(Arena *a, uint64_t seed); /* make_loops.c: loops in loops, of integers alone */

/* ---- values: num.c --------------------------------------------------------------------------- */
Ty ty_join(Ty a, Ty b);
Ty ty_arith(Ty t);
Ty ty_real(Ty t);
double int_most(DType t);    /* largest magnitude of an integer dtype */
double float_step(DType t);  /* relative */
Num num_int(double mag, DType t);
Num num_float(double mag, double noise, bool grid, DType t); /* rounded to t */
Num num_either(Num a, Num b);
bool num_bad(Num n, DType t); /* too large or too noisy to be of use */
bool is_exact(const Node *n); /* may decide something */

/* ---- expressions: make*.c -------------------------------------------------------------------- */
typedef struct Gen {
  Rng rng;
  Arena *arena;
  Made *made;
  VEC(Tensor *) seen;        /* tensors that can be read here */
  VEC(Def *) defs;
  VEC(UserMonoid *) monoids;
  VEC(Turn *) turns;         /* loop variables that can be used here */
  uint32_t names;
} Gen;

typedef struct Ctx {
  Gen *g;
  Stmt *stmt;                /* collects the labels made */
  Def *def;                  /* being made, or NULL */
  Label *lab[10];            /* in scope */
  uint32_t n;
  int64_t points;            /* so many times is this evaluated */
  bool no_reads;             /* an input's default */
  bool apart;                /* in an expression in which labels are substituted */
  bool reduced;              /* in the body of a reducer */
} Ctx;

/* What is not made, since the AST evaluator is known to see it differently (take a line away with its cause):
 *   `if c then 5 else 1` of two literals is no weak literal there          node_if
 *   conversions, and expressions with labels substituted, are widened in reducers like reads
 *                                                                          make_int, node_neg, make_subst
 *   integers that wrap beside floats in a reducer: their reads are widened to f32 there
 *                                                                          tame, accumulator
 *   f[i,j where p] with i and j in p, or in a group in p                   call_where
 *   a second binder of a label must say its size                           reduce_labels, make_assert
 *   sum(e) in (...)[k = ...] does not take k                               Ctx.apart
 *   sum(e + sum(f)): whose are the labels of f?                            has_call */
typedef enum { WANT_INT, WANT_BOOL, WANT_FLOAT } Want;
Node *make_expr(Ctx *c, Want w, int depth);
Node *make_typed(Ctx *c, DType t, bool small, int depth); /* firm, of exactly that dtype, exact; small: |x| <= 16 */
Node *make_contraction(Ctx *c, Want w);
Label *label_make(Ctx *c, Extent *e);  /* made, in scope */
bool ext_same(const Gen *g, const Extent *a, const Extent *b);
Extent *extent_any(Gen *g);
Node *node_new(Gen *g, Kind k, Ty t);
Node *node_int(Gen *g, int64_t i);
Node *node_label(Gen *g, Label *l);
Node *node_cast(Gen *g, DType t, Node *a);
Node *node_binary(Gen *g, Op op, Node *a, Node *b);
Node *node_read(Ctx *c, Tensor *t, bool bare, bool *partial);
Node *node_default(Gen *g, Ty t);      /* a literal that can stand for it */
const char *name_new(Gen *g, const char *head);

/* ---- text: write.c --------------------------------------------------------------------------- */
typedef struct Style {
  bool parens;               /* around everything */
  bool swap;                 /* operands of + and * */
  bool split;                /* labels into groups of two */
  bool sizes;                /* every size is said */
  bool unroll;               /* loops, turn by turn */
  bool symbolic;             /* dims without values */
  uint32_t names;            /* of labels: 0 plain, 1 others, 2 those of tensors */
} Style;
const char *program_text(Arena *a, const Made *m, Style s);

/* ---- judging: judge.c, shrink.c -------------------------------------------------------------- */
typedef struct Tally {
  uint64_t ast, refused, unrolled, symbolic, symbolic_open, symbolic_strict, variants, elements, rejected, relations;
} Tally;

void judge_make(const Made *m, uint64_t seed, Judgement *v, Tally *t);
void judge_text(const char *text, Judgement *v, Tally *t); /* of which nothing is known: only that nothing crashes */
const char *text_spoil(Arena *a, const char *text, uint64_t seed);
void made_shrink(Shrink *s, Made *m);

#endif
