/* tests/kernel/kernels.h - programs of one or a few equations, aimed at what the schedules of codegen/schedule/ make of
 * them, by the C that is emitted against graph_eval.
 *
 *   kernels.c   the command, which stands on ../harness
 *   parts.c     sizes, labels, tensors, expressions with what is known of their values
 *   operands.c  what a body is made of: reads in any order of axes, with affine and gathered indices, computed with
 *   aims.c      contractions, reductions     aims_more.c  scans, scatters, transposes, rows: one function a kind of
 * kernel aims_blocks.c  products that share rows, packed contractions under predicates text.c      a program as text
 *   judge.c     its sizes, its inputs, what must be the same
 *   shrink.c    what may be left out of a failing program
 *
 * Inputs are small integers whatever their dtype, so that sums are exact in any order and answers must be equal bit for
 * bit; where functions are rounded, as close as `ein verify` asks for. */
#ifndef KERNELS_H
#define KERNELS_H

#include "../harness/harness.h"

/* ---- a program ------------------------------------------------------------------------------------ */
typedef struct Size {
  const char *name;
  int64_t value, other;      /* open: two values that are tried */
  bool open;                 /* without value in the program */
} Size;

typedef struct Lab { const char *name; Size *size; } Lab;

/* a * times // by + b * more + plus; each at least 1, but plus. */
typedef struct Axis { const Size *a, *b; int64_t times, by, more, plus; } Axis;

/* ODD: with infinities and NaN; VAST: and near the largest */
typedef enum { SMALL, SIGNS, POINTERS, WIDE, ODD, VAST } Values;

enum { AXES_MOST = 12, ARGS_MOST = 3, LABELS_MOST = 14 };

typedef struct Tensor {
  const char *name;
  DType dtype;
  uint32_t rank;
  Axis axis[AXES_MOST];
  Values values;
  Axis range;                /* of pointers */
  double most;               /* |value| */
  bool exact;                /* integers (and infinities), the same however they are computed */
  bool input, read;
} Tensor;

typedef enum { TERM_TEXT, TERM_LABEL, TERM_READ, TERM_FORM, TERM_REDUCE } TermKind;

typedef struct Term Term;
struct Term {
  TermKind kind;
  DType t;
  enum { HELD, LITERAL, INDEX } weak; /* the last two bend to what they meet */
  double most;
  bool exact;
  bool once;                 /* rounded once, from what is exact: so is a tensor that holds it */
  bool index;                /* part of an index: not made smaller */
  const char *text;          /* TEXT; FORM: $0 $1 $2 for the arguments; REDUCE: the reducer */
  Lab *lab[LABELS_MOST];     /* LABEL: the first; REDUCE: those reduced, the predicate is arg[1] or NULL */
  uint32_t n_lab, n;
  Tensor *tensor;
  Term *arg[AXES_MOST];
};

typedef struct Equation {
  Tensor *to;
  uint32_t n_left;
  Lab *left[LABELS_MOST];
  Term *value;
  bool output, typed;        /* typed: the dtype is written */
} Equation;

typedef struct Case {
  Arena *arena;
  Rng rng;
  uint64_t seed;
  const char *aim;
  double points;             /* so many in an equation, at most */
  bool opens;                /* sizes may be open */
  double grain;              /* how far apart floats may be, of the coarsest that is rounded: a part of the largest */
  bool whole;                /* no floats: any integers will do as inputs */
  bool loose;                /* being made smaller: dtypes are no longer followed, floats may differ as `ein verify`
                              * lets them */
  VEC(Size *) sizes;
  VEC(Lab *) labs;
  VEC(Tensor *) tensors;
  VEC(Equation *) equations;
  VEC(const char *) lines;   /* monoids and defs */
  uint32_t names, inputs, outputs; /* that were made: names are counted by them */
} Case;

/* aim NULL: any; NULL if there is no such aim */
Case *case_make(Arena *a, uint64_t seed, double points, const char *aim);
const char *case_text(Arena *a, const Case *c);

/* ---- parts.c ---------------------------------------------------------------------------------------- */
Size *size_new(Case *c, int64_t value);
Size *size_any(Case *c);                /* mostly from 1 to 130 */
Size *size_deep(Case *c);               /* around what blocks hold: 1023 to 9000 */
int64_t size_most(const Size *s);
Lab *lab_new(Case *c, Size *s);
double labs_points(uint32_t n, Lab *const *lab);
double labs_room(uint32_t n,
    Lab *const *lab); /* the same, with 0 as 1: a sum over nothing has an output still, which may be large */
void labs_fit(
    Case *c, uint32_t n, Lab *const *lab, double room); /* sizes shrink until all labels together have no more */
void labs_mix(Case *c, uint32_t n, Lab **lab);
bool any_empty(uint32_t n, Lab *const *lab);
int64_t axis_value(const Axis *x, bool other);
const char *axis_text(Arena *a, const Axis *x);
static inline Axis axis_of(const Size *s) { return (Axis){.a = s, .times = 1, .by = 1}; }
double dtype_grain(DType t);            /* as `ein verify` has it */
double dtype_most(DType t);             /* integers up to there are exact; of an integer dtype the largest */

Tensor *input_new(Case *c, DType t, Values v);
Term *term_text(Case *c, const char *text, DType t, double most);
Term *term_int(Case *c, int64_t i);
Term *term_label(Case *c, Lab *l);
Term *term_read(Case *c, Tensor *t, Term *const *at);
Term *term_form(Case *c, const char *text, DType t, double most, bool exact, uint32_t n, Term *const *arg);
Term *term_op(Case *c, Op op, Term *a, Term *b); /* + - * min max // %, comparisons, and, or */
Term *term_neg(Case *c, Term *a);
Term *term_abs(Case *c, Term *a);
Term *term_not(Case *c, Term *a);
Term *term_cast(Case *c, DType t, Term *a);
Term *term_number(Case *c, Term *a);    /* a bool as a number */
Term *term_truth(Case *c, Term *a);     /* a number as a bool */
Term *term_if(Case *c, Term *cond, Term *a, Term *b);
Term *term_else(Case *c, Term *a);      /* ?? 0 */
Term *term_real(Case *c, const char *form, double most, Term *a);
/* Any reducer by name, also "sum:f64" and a monoid's; `where` may be NULL. Wrapped in ?? 0 where it may have no value.
 */
Term *term_reduce(Case *c, const char *name, uint32_t n, Lab *const *lab, Term *where, Term *body);
Term *tensor_at(Case *c, Tensor *t, Lab *const *lab); /* read at plain labels */
Tensor *equation_add(Case *c, uint32_t n, Lab *const *left, Term *value, bool output);

/* ---- operands.c -------------------------------------------------------------------------------------- */
DType dtype_any(Case *c);
/* A new input over these labels (all of them), its axes in any order. plain: indices are labels. */
Term *operand(Case *c, DType t, Values v, uint32_t n, Lab *const *lab, bool plain);
/* over some of the labels, plain */
Term *operand_some(Case *c, DType t, uint32_t n, Lab *const *lab, uint32_t percent);
Term *computed(Case *c, Term *x, uint32_t n, Lab *const *lab, bool rounded);
Term *condition(Case *c, uint32_t n, Lab *const *lab); /* over labels, and over data */
/* A predicate of a reducer that has the labels `red`, over those and `out`. */
Term *predicate(Case *c, uint32_t n_out, Lab *const *out, uint32_t n_red, Lab *const *red);
/* of an accumulator that is wide enough */
const char *sum_name(const Case *c, const Term *body, uint32_t n, Lab *const *lab);
const char *reducer_for(Case *c, Term **body, uint32_t n, Lab *const *lab);
Term *clipped(Case *c, Term *x);
Term *epilogue(Case *c, Term *x, uint32_t n, Lab *const *lab);

/* ---- aims_more.c -------------------------------------------------------------------------------------- */
void aim_scan(Case *c);
void aim_scatter(Case *c);
void aim_map(Case *c);
void aim_rows(Case *c);
void aim_convolution(Case *c);

/* ---- aims_blocks.c ------------------------------------------------------------------------------------- */
void aim_blocks(Case *c);
void aim_masked(Case *c);

/* ---- judge.c, shrink.c: for the table of the command ------------------------------------------------------ */
bool case_trials(Judge *j);
void case_input(Judge *j, int i, bool planned);
int64_t case_integer(Judge *j, const void *of, DType t);
double case_real(Judge *j, const void *of);
bool case_answer(Judge *j);
double case_allowed(Judge *j, int output, const EvalArray *want);
void case_shrink(Shrink *s);

#endif
