/* graph/grad/inside.h - shared by the files of grad/.
 *
 *   derivative.c  the derivatives of ops.def       scalar.c   the adjoints of an expression's reads
 *   index.c       inversion of an index map        adjoint.c  a vertex's contributions to its operands
 *   repeat.c      a repeat's contributions         grad.c     the walk from the loss down
 *   rule.c        stated adjoints
 *
 * A read's slot is the id of the node that it reads, as in elaboration. */
#ifndef EIN_GRAD_INSIDE_H
#define EIN_GRAD_INSIDE_H

#include "grad.h"

/* ---- derivative.c: of op(arg...) = r by argument k, at dtype t; NULL: it has none */
const Expr *op_derivative(Exprs *p, Op op, uint32_t k, DType t, const Expr *const *arg, const Expr *r);

/* ---- scalar.c: an adjoint is value where guard holds (NULL: everywhere), else 0 */
typedef struct Adjoint { const Expr *guard, *value; } Adjoint;
const Expr *adjoint_value(Exprs *p, Adjoint a); /* the selection */
typedef struct Term { const Expr *read; Adjoint adjoint; } Term; /* the value's dtype is the read's, or wider */
typedef VEC(Term) Terms;
/* The contribution to each read of a node for which active[slot] holds, of an expression whose own adjoint is `seed`.
 * result: a read of its value, or NULL. Returns an operation that has no derivative, or OPS if there is none. */
Op expr_adjoint(Arena *a, Exprs *p, const Expr *e, const Expr *result, Adjoint seed, const bool *active, Terms *out);

/* ---- index.c: the points of a vertex at which a read has the element x, over labels 0.. for x and the vertex's
 * remaining labels. holds: what the caller asks of these points besides (NULLs: nothing): an index a // c where it asks
 * for a % c == 0 is solved for a */
typedef struct Inverse {
  const Expr **to;           /* the vertex's label k is to[k], over x and the remaining labels */
  const Expr *where;         /* where that is a point of the vertex, without data; NULL: everywhere. Only there, */
  const Expr *match;         /* and if the vertex has a value and this then holds, its read has x: by data. NULL:
                              * always */
  bool *inside;              /* whether label k is within its extent elsewhere too */
  uint32_t n_left;
  uint32_t *left;            /* which labels remain, numbered after x in this order */
} Inverse;
Inverse index_inverse(
    Arena *a, Exprs *p, uint32_t n, const Expr *const *index, const Expr *const *dim, uint32_t n_label, uint32_t n_out,
    const Expr *const *bound, const Expr *const *holds, uint32_t n_holds);

/* ---- adjoint.c */
struct Gradients {
  Arena *arena;
  EinGraph *g;
  VEC(EinNode *) by_id;
  Map made;                  /* loss -> Made */
  int64_t keep;              /* as in grad.h */
  double lower;
  bool unsized;
  Map saved, kept;           /* state -> the stack of all its turns; of the first turn of each stretch */
  Map spare;                 /* states that save others, and their next values -> what they save */
  Map rules;                 /* vertex -> GradRule */
  Map stated;                /* adjoint -> Instance, what rules made from it */
};
const Expr *id_read(Gradients *all, EinNode *n, uint32_t rank, const Expr *const *index);
EinNode *adjoint_new(
    Gradients *all, EinRegion *r, EinSum *s, const Expr *const *bound, const Str *label, Str name, Place place);
/* What a vertex m with this adjoint contributes to its operands: each a node and a vertex of its shape. */
typedef struct Share { EinNode *node, *adjoint; } Share;
typedef VEC(Share) Shares;
typedef Shares Results;      /* nodes and their adjoints */
bool vertex_adjoint(
    Gradients *all, EinRegion *r, EinNode *m, EinNode *adjoint, const bool *active, Shares *out, GradTrouble *t);

/* ---- rule.c: the same for a vertex with a stated adjoint; adjoint NULL: 1 */
bool rule_adjoint(Gradients *all, EinRegion *r, const GradRule *rule, EinNode *adjoint, const bool *active, Shares *out,
    GradTrouble *t);
const GradRule *rule_of(const Gradients *all, const EinNode *n); /* NULL: it has none */
/* Adds the rule of a copy. `again` copies a vertex into a region and records it in `copy`. */
typedef EinNode *NodeCopy(void *env, EinRegion *to, EinNode *n);
void rule_again(Gradients *all, const GradRule *rule, const Map *copy, NodeCopy *again, void *env);

/* ---- repeat.c: the same for a repeat, some of whose results have adjoints; wanted: by number, nodes around that get
 * a contribution; NULL: all floats */
bool repeat_adjoint(Gradients *all, EinRegion *r, EinNode *repeat, const Results *have, const bool *wanted, Shares *out,
    GradTrouble *t);

/* ---- grad.c */
typedef VEC(EinNode *) Nodes;
bool is_result(const EinNode *n);          /* of a repeat */
/* A result's operand is its repeat; a repeat's operands are all nodes around that it reads. Those with a rule have what
 * it contributes to, read or not. */
Nodes operands_of(const Gradients *all, EinNode *n);
const Expr *whole_read(Gradients *all, EinNode *n);                                        /* over labels 0.. */
/* of n's shape and dtype, named grad.n */
EinNode *vertex_like(Gradients *all, EinRegion *r, const EinNode *n, const Expr *body);
EinNode *vertex_constant(Gradients *all, EinRegion *r, const EinNode *n, double v);
EinNode *shares_added(Gradients *all, EinRegion *r, const EinNode *n, const Shares *s);   /* NULL: 0 */

#endif
