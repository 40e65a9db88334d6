/* graph/passes/rebuild.h - inside of the passes: a graph made again, node by node, with what a pass wants otherwise.
 *
 * The old graph is walked region by region in its order; `to` says what became of each node. A pass gives callbacks for
 * what it changes; the rest is copied. */
#ifndef EIN_REBUILD_H
#define EIN_REBUILD_H

#include "graph/graph.h"
#include "passes.h"

typedef struct Rebuild Rebuild;

typedef struct RebuildRules {
  /* Is the node wanted? NULL: all are. Of a repeat, a state, a result, an input, too; one that is not wanted must have no
   * wanted user; and a stack (its results must be as wanted as it is). */
  bool (*keep)(void *env, const EinNode *n);
  bool (*keep_stack)(void *env, const EinStack *s);
  /* What stands for vertex n in the new region r. NULL: rebuild_copy. What a C function makes is not asked for, but copied. */
  EinNode *(*vertex)(void *env, Rebuild *b, EinRegion *r, const EinNode *n);
  void (*enter)(void *env, EinRegion *r); /* a new region is opened; and closed: */
  void (*leave)(void *env, EinRegion *r);
} RebuildRules;

struct Rebuild {
  Arena *arena;
  const EinGraph *old;
  EinGraph *g;               /* the new one */
  EinNode **to;              /* by old id; NULL: gone */
  Map stacks;                /* an old EinStack to its new number */
  const RebuildRules *rules;
  void *env;
  const char *pass;
  PassNotes *notes;
};

/* The new graph. b is the caller's, so that its callbacks may look at it through env. */
EinGraph *rebuild(Rebuild *b, Arena *a, const EinGraph *g, const RebuildRules *rules, void *env);
EinNode *rebuild_copy(Rebuild *b, EinRegion *r, const EinNode *n);
/* What stands for an old node; it must have been made. */
EinNode *rebuild_to(const Rebuild *b, const EinNode *old);
const Monoid *rebuild_monoid(Rebuild *b, const Monoid *m);
/* A vertex of old n's shape, name and place with another operation. s is a draft whose slots are those of `input` (new
 * nodes, or NULL where nothing reads them); it is made canonical. bound and label are of s's labels. */
EinNode *rebuild_vertex(Rebuild *b, EinRegion *r, const EinNode *n, EinSum *s, const Expr *const *bound,
                        const Str *label, EinNode *const *input);
void rebuild_note(Rebuild *b, const char *what, Place place);

/* ---- expressions: rules.c, pass_window.c -------------------------------------------------------------------- */
/* The laws of the scalar operations, applied from the leaves upwards until none applies; each shared part once. */
typedef struct Rules Rules;
Rules *rules_new(Arena *a, Exprs *p);
const Expr *rules_apply(Rules *r, const Expr *e, uint32_t *count); /* *count grows by the laws used */
/* May computing e stop the program (a gathered index), so that it must not be dropped, nor done where it was not? */
bool expr_can_fail(const Expr *e);
/* e with other arguments, folded as the constructors do. */
const Expr *expr_again(Exprs *p, const Expr *e, const Expr *const *arg);
/* What op joins in e, from left to right; false: more than so many. */
bool op_parts(Arena *a, const Expr *e, Op op, uint32_t most, const Expr **part, uint32_t *n);
/* A comparison without reads as *by < 0, where it is strict, or *by <= 0, of which the label's coefficient is 1 or -1, which is
 * given; 0: it is none. */
int64_t bound_of_label(Exprs *p, const Expr *e, const Expr *label, const Expr **by, int64_t *strict);
/* The element that changes nothing, in a vertex's accumulator; NULL where there is none (argmax). */
const Expr *reducer_identity(Exprs *p, const EinSum *s);

#endif
