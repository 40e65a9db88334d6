/* graph/passes/pass_copies.c - removes vertices that copy another tensor (W[i,j] = X[i,j]); their readers read that
 * tensor instead.
 *
 * Outputs, the values that a repeat carries over and asserted values are vertices of their own. So if such a vertex
 * copies an input, a state or a repeat's result, it stays; if it copies a vertex of the same region, that vertex takes
 * its part. Arguments and results of C functions stay as written. A copy with a domain has fewer values than the
 * tensor it copies, so it is removed only if both have the same domain. */
#include "rebuild.h"

typedef struct Copies {
  Rebuild b;
  bool *shown, *given;       /* by old id: something other than an equation uses it; a C function takes or makes it */
  const EinNode **first;     /* by old id of a removed copy: the tensor that replaces it, which stays */
} Copies;

/* Whether n has the rank, dtype and extents of `of`, and one label for each dimension. */
static bool same_shape(const EinNode *n, const EinNode *of) {
  if (n->rank != of->rank || n->sum->n_out != n->rank || n->dtype != of->dtype) return false;
  for (uint32_t k = 0; k < n->rank; k++)
    if (n->bound[k] != of->dim[k] || (n->merge && n->merge[k] != 1)) return false;
  return true;
}

/* Whether `of`, which n copies, may replace n. */
static bool may_go(const Copies *c, const EinNode *n, const EinNode *of) {
  if (!c->shown[n->id]) return true;
  return !c->given[n->id] && !c->shown[of->id] && of->kind == EIN_VERTEX && of->region == n->region;
}

/* Whether n has no domain, or that of `of`. One that reads data never counts as the same: slots differ by vertex. */
static bool same_domain(const EinNode *n, const EinNode *of) {
  const Expr *d = n->sum->domain;
  return !d || (of->kind == EIN_VERTEX && d == of->sum->domain && !(d->has & HAS_READ));
}

/* The tensor that n copies element by element; NULL if n is not a copy. */
static const EinNode *copied(const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *e = s->body;
  if (s->by || s->reducer != RED_NONE || e->kind != EX_READ || s->n_slot != 1 || !same_shape(n, n->input[e->i]))
    return NULL;
  return exprs_are_labels(e->n, e->arg) && same_domain(n, n->input[e->i]) ? n->input[e->i] : NULL;
}

static EinNode *read_through(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Copies *c = env;
  const EinNode *of = copied(n);
  if (of && c->first[of->id]) of = c->first[of->id];
  if (!of || !may_go(c, n, of)) return rebuild_copy(b, r, n);
  c->first[n->id] = of;
  EinNode *to = rebuild_to(b, of);
  if (!to->name && to->kind == EIN_VERTEX) to->name = n->name;
  rebuild_note(b, "copies read through", n->place);
  return to;
}

EinGraph *graph_copies(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = read_through};
  Copies c = {.b = {.arena = a, .pass = "copies", .notes = notes}, .shown = nodes_shown(a, g),
      .given = nodes_given(a, g), .first = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1)};
  return rebuild(&c.b, a, g, &rules, &c);
}
