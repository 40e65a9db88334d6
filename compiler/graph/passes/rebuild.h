/* graph/passes/rebuild.h - internals of the passes: copies a graph node by node, with a pass's changes.
 *
 * It walks the old graph region by region in order; `to` says what became of each node. A pass gives callbacks for
 * what it changes; the rest is copied. */
#ifndef EIN_REBUILD_H
#define EIN_REBUILD_H

#include "graph/graph.h"
#include "passes.h"

typedef struct Rebuild Rebuild;

typedef struct RebuildRules {
  /* Whether the node is kept; NULL: all are. Also asked for a repeat, a state, a result and an input. A node that is
   * dropped must have no kept user. The same for a stack, whose results must be kept or dropped with it. */
  bool (*keep)(void *env, const EinNode *n);
  bool (*keep_stack)(void *env, const EinStack *s);
  /* The replacement for vertex n in the new region r. NULL: rebuild_copy. Results of C functions are always copied. */
  EinNode *(*vertex)(void *env, Rebuild *b, EinRegion *r, const EinNode *n);
  void (*enter)(void *env, EinRegion *r); /* a new region is opened; leave: it is closed */
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

/* Makes the new graph. The caller owns b, so that callbacks can reach it through env. */
EinGraph *rebuild(Rebuild *b, Arena *a, const EinGraph *g, const RebuildRules *rules, void *env);
/* The same; then frees what the rules needed. */
EinGraph *rebuild_free(Rebuild *b, Arena *a, const EinGraph *g, const RebuildRules *rules, void *env, Arena *scratch);
EinNode *rebuild_copy(Rebuild *b, EinRegion *r, const EinNode *n);
/* Makes the replacement of a node that was not kept, there. */
void rebuild_node(Rebuild *b, EinRegion *r, const EinNode *n);
/* The replacement of an old node, which must have been made. */
EinNode *rebuild_to(const Rebuild *b, const EinNode *old);
/* What a vertex with the slots of old n reads, with room for `more` slots behind them. */
EinNode **rebuild_inputs(const Rebuild *b, const EinNode *n, uint32_t more);
const Monoid *rebuild_monoid(Rebuild *b, const Monoid *m);
/* A vertex of old n's shape, name and place with another operation. s is a draft whose slots are those of `input`
 * (new nodes, or NULL if nothing reads them); it is made canonical. bound and label are of s's labels. */
EinNode *rebuild_vertex(Rebuild *b, EinRegion *r, const EinNode *n, EinSum *s, const Expr *const *bound,
                        const Str *label, EinNode *const *input);
/* Another vertex, with which a pass computes a part of n: s as above, one dimension for each output label, n's place
 * and no name. */
EinNode *rebuild_part(Rebuild *b, EinRegion *r, const EinNode *n, EinSum *s, const Expr *const *bound, const Str *label,
                      EinNode *const *input);
void rebuild_note(Rebuild *b, const char *what, Place place);
/* By id: whether a C function takes or makes the node; whether something other than a vertex uses it, in its shape: an
 * output, an assert, a repeat or a C function. */
bool *nodes_given(Arena *a, const EinGraph *g);
bool *nodes_shown(Arena *a, const EinGraph *g);
uint32_t *nodes_used(Arena *a, const EinGraph *g); /* by id: the number of slots that read the node */

/* A set of labels, of which there are at most 64, as bits: those below n. */
static inline uint64_t labels_below(uint32_t n) { return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX; }

/* ---- expressions: rules.c, under.c, pass_window.c -------------------------------------------------------------- */
/* Applies the laws of the scalar operations from the leaves up until none applies; each shared part once. */
typedef struct Rules Rules;
Rules *rules_new(Arena *a, Exprs *p);
const Expr *rules_apply(Rules *r, const Expr *e, uint32_t *count); /* adds the number of laws applied to *count */
/* Whether it is a choice among few small whole numbers: a power with such an exponent becomes products. */
bool exponent_is_chosen(const Expr *e);
/* Replaces conditions in e by true or false if a condition around them, or one of `holds` (entries may be NULL),
 * answers them; adds their number to *count. */
const Expr *expr_under(Arena *a, Exprs *p, const Expr *e, const Expr *const *holds, uint32_t n, uint32_t *count);
/* The comparison of integers that holds where e does not; NULL if e is something else. */
const Expr *expr_opposite(Exprs *p, const Expr *e);
/* The comparison of integers that says the same as that of a float made of one with a number; NULL: it is something
 * else. floats.c */
const Expr *float_compared(Exprs *p, const Expr *c);
/* Whether computing e may stop the program (a gathered index), so that it must not be dropped, nor computed where it
 * was not before. */
bool expr_can_fail(const Expr *e);
/* The operands that op joins in e, from left to right. Returns false if there are more than `most`. */
bool op_parts(Arena *a, const Expr *e, Op op, uint32_t most, const Expr **part, uint32_t *n);
/* The same with its reads' indices in normal form, unless they have reads themselves. */
const Expr *expr_reads_normal(Arena *scratch, Exprs *p, const Expr *e);
/* Whether the body multiplies a matrix that has a band of `label` along `along` by another one: of the reads with
 * `label`, some have `along` in another index, and others an output label that those lack. pass_window.c */
bool band_is_product(Arena *scratch, const EinSum *s, uint64_t label, uint64_t along);
enum { BAND_WIDE = 28 };     /* points of such a band from which on panels are worth their copies */
/* Solves a comparison without reads for the label: writes it as *by < 0 (strict) or *by <= 0, in which the label's
 * coefficient is 1 or -1. Returns the coefficient; 0: it has no such form. */
int64_t bound_of_label(Exprs *p, const Expr *e, const Expr *label, const Expr **by, int64_t *strict);

#endif
