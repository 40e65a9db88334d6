/* front/oracle/ast_eval_scope.h - private to the AST evaluator: the meaning of names, the extents of labels, and the
 * few functions that its files share.
 *
 * Scopes are static: one for each equation, and one for each reducer or call at each place where it is expanded, made
 * on the first visit and found again by its node. A label is an identity, not a name: a def's label parameter is the
 * caller's label itself. Values of labels are not here but in an AstPoint. An argument of a def is a closure behind
 * an *edge*: each label from outside gets a new identity there, with its own extent, and the value of its `outer`
 * unless it is substituted. */
#ifndef EIN_AST_EVAL_SCOPE_H
#define EIN_AST_EVAL_SCOPE_H

#include "ast_eval.h"

typedef struct AstScope AstScope;
typedef struct AstLabel AstLabel;
typedef VEC(AstLabel *) AstLabels;

enum { WEAK_NOT, WEAK_LITERAL, WEAK_SIZE }; /* WEAK_LITERAL: only literals; WEAK_SIZE: contains labels, dims or sizes */
enum { VALUE_HERE, VALUE_OUTSIDE, VALUE_EXCLUDED }; /* the greater wins: what a predicate excludes is not read */
typedef struct AstVal {
  Value v; /* if there is none: zero, of the right dtype */
  uint8_t weak, none;
} AstVal;

struct AstLabel {
  Str name;
  AstLabel *outer;   /* the label whose value it has; NULL: its own */
  AstScope *region;  /* the innermost edge around it, or NULL */
  const Ast *home; /* where bare uses determine its extent, as read in scope */
  AstScope *scope;
  int64_t written, extent; /* -1: not written, not known yet */
  bool busy;
};

typedef struct AstClosure { /* an argument, a def's local equation, or (e NULL) a monoid's operand */
  const Ast *e;
  AstScope *scope;
  bool argument, typed;
  int8_t dtype; /* written, or -1 */
  AstVal val;   /* e NULL: the value; typed: a value of its type */
} AstClosure;

typedef struct AstKnown { /* the meaning of a name in a scope: a label, or a closure */
  AstLabel *label;
  AstClosure *closure;
  bool param; /* a def's label parameter: a reducer that names it means it, and does not make its own label */
} AstKnown;

typedef struct AstPred AstPred;
struct AstPred { /* `t where p` of a call's brackets, passed on to what is expanded */
  const AstPred *next;
  const Ast *p;
  AstScope *scope;
  AstLabels labels;
};

struct AstScope {
  AstScope *up, *site; /* site: for a def's own scope, whose up is NULL: the call's scope */
  const Ast *edge;     /* the argument that begins here, or NULL */
  uint32_t before; /* globals of this age or younger are not known here */
  const AstPred *preds;
  Map names, inner; /* Str to AstKnown; node to the scope that it opens */
  Map checks, moves; /* kept by ast_eval.c: node to the predicates that apply to it; node to its substitution */
  AstLabels labels; /* a reducer: the labels it reduces; a call: its label arguments; an edge: its own labels */
  AstScope *body;   /* of a call: the def's own scope */
  const AstStmt *def; /* of a call: what is called */
  const Ast *call;    /* of a call: without groups */
};

/* A monoid over tuples at some dtypes: its scope, and the components of both operands there. */
typedef struct AstTuple { const DType *dtype; AstScope *scope; AstClosure **operand; } AstTuple;

typedef struct AstGlobal { /* at most one of tensor, def, monoid, external; none: a dim */
  uint32_t age;
  int64_t size;
  AstTensor *tensor;
  const AstStmt *def, *monoid, *external;
  struct { AstScope *scope; AstClosure *operand[2]; } at[DTYPES]; /* monoid: its two operands, for each dtype */
  VEC(AstTuple *) tuples; /* monoid over tuples: those made so far */
} AstGlobal;

typedef struct AstRun {
  AstEval *e;
  Arena *arena;
  Map globals;
  uint32_t age;
  int64_t work, limit;
  int depth;
  const char *why; /* the first error; everything then returns quickly */
  Span where;
} AstRun;

typedef struct AstPoint AstPoint;
struct AstPoint {
  const AstPoint *up;
  AstLabel *label;
  int64_t value;
};

void ast_fail(AstRun *r, Span at, const char *fmt, ...) EIN_PRINTF(3, 4);
bool ast_enter(AstRun *r, const Ast *e); /* counts a unit of work; false: stop. If true: r->depth-- afterwards */

AstScope *ast_scope_new(AstRun *r, AstScope *up);
void ast_scope_put(AstRun *r, AstScope *s, Str name, AstKnown k);
AstKnown *ast_scope_find(AstRun *r, AstScope *s, Str name); /* NULL: no label, parameter or local equation */
AstGlobal *ast_global_find(const AstRun *r, const AstScope *s, Str name);
AstScope *ast_scope_of_reduce(AstRun *r, AstScope *s, const Ast *e); /* also of a monoid's call */
AstScope *ast_scope_of_subst(AstRun *r, AstScope *s, const Ast *e);  /* in which its e->a is read */
AstScope *ast_scope_of_call(AstRun *r, AstScope *s, const Ast *e, const AstGlobal *def);
bool ast_item_name(const AstItem *it, AstName *out); /* a bare name or label:size */

/* Makes a label in s; name.s may be NULL. */
AstLabel *ast_label_new(AstRun *r, AstScope *s, AstName name, const Ast *home, AstScope *home_scope);
bool ast_label_within(const AstLabel *l, const AstLabel *outer); /* it is outer, or represents it behind edges */
int64_t ast_label_size(AstRun *r, AstLabel *l, Span at);        /* its extent; complains if nothing determines it */
/* Whether l is free in e (read in s). *extent: what bare uses inside e determine, or -1. */
bool ast_label_free(AstRun *r, AstLabel *l, const Ast *e, AstScope *s, int64_t *extent);
AstLabel *ast_label_behind(AstRun *r, AstScope *edge, AstLabel *l); /* the edge's own label for l, used in its
                                                                     * closure; NULL: l is unknown to it */
AstLabel *ast_label_here(AstRun *r, AstScope *s, AstLabel *l); /* the identity of l in s, which is within its reach */

/* ---- ast_eval.c ------------------------------------------------------------------------------ */

/* Evaluates e at a point. typing: uses no data, only dtype and weak are valid. */
AstVal ast_value(AstRun *r, const Ast *e, AstScope *s, const AstPoint *point, bool typing);
AstVal ast_coerce(AstRun *r, AstVal x, DType t, Span at); /* complains about a literal that does not fit */
DType ast_typed(AstVal x);                                /* the dtype of a weak value when it is bound to a tensor */
int64_t ast_size_value(AstRun *r, const Ast *e, AstScope *s); /* a size as written; 0 after a failure */

/* ---- shared with ast_eval_reduce.c ----------------------------------------------------------- */

typedef struct AstAt { /* where an expression is evaluated */
  AstScope *scope;
  const AstPoint *point;
  bool typing;
  int8_t wide; /* reads are widened to this dtype, a reducer's accumulator; or -1 */
} AstAt;

AstVal ast_eval_at(AstRun *r, const Ast *e, AstAt at);
AstVal ast_type_only(AstRun *r, const Ast *e, AstAt at);
AstVal ast_val(DType t, uint8_t weak, uint8_t none);  /* zero */
AstVal ast_meet(AstVal a, AstVal b);
AstVal ast_widened(AstVal x, AstAt at);
DType ast_number(DType t);                            /* bool becomes i64 */
uint8_t ast_pred_holds(AstRun *r, const AstPred *p, const AstPoint *point);
static inline uint8_t ast_worse(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* A reducer; monoid NULL: not a user's. */
AstVal ast_reduce(AstRun *r, const Ast *e, const AstGlobal *monoid, AstAt at);
AstVal ast_reduce_tuple(AstRun *r, const Ast *e, const AstGlobal *monoid, AstAt at); /* one component, of tuples */

#endif
