/* graph/passes/pass_copies.c - a vertex that is another tensor as it is goes, and whoever reads it reads the other one: W[i,j] = X[i,j].
 *
 * An output, what a repeat carries on and what is tested are tensors of their own, so a copy of what is none (an input, a state, what a repeat
 * leaves) stays there; a copy of a vertex next to it is that vertex. What a C function is given or makes stays as it was written. A copy with a
 * domain of its own has fewer values than what it copies, so it goes only if both have the same one. */
#include "rebuild.h"

typedef struct Copies {
  Rebuild b;
  bool *shown, *given;       /* by old id: somebody else than an equation wants it; a C function does */
  const EinNode **first;     /* by old id of a copy that goes: what stands for it, which stays */
} Copies;

/* Are the labels the dimensions, each as long as the one it goes along in `of`? */
static bool same_shape(const EinNode *n, const EinNode *of) {
  if (n->rank != of->rank || n->sum->n_out != n->rank || n->dtype != of->dtype) return false;
  for (uint32_t k = 0; k < n->rank; k++)
    if (n->bound[k] != of->dim[k] || (n->merge && n->merge[k] != 1)) return false;
  return true;
}

/* May n's part be taken by what it copies? */
static bool may_go(const Copies *c, const EinNode *n, const EinNode *of) {
  if (!c->shown[n->id]) return true;
  return !c->given[n->id] && !c->shown[of->id] && of->kind == EIN_VERTEX && of->region == n->region;
}

/* Data that a domain asks are slots of its own vertex. */
static bool same_domain(const EinNode *n, const EinNode *of) {
  const Expr *d = n->sum->domain;
  return !d || (of->kind == EIN_VERTEX && d == of->sum->domain && !(d->has & HAS_READ));
}

/* What n copies, element by element; NULL: it is no copy. */
static const EinNode *copied(const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *e = s->body;
  if (s->by || s->reducer != RED_NONE || e->kind != EX_READ || s->n_slot != 1 || !same_shape(n, n->input[e->i])) return NULL;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || e->arg[k]->i != (int64_t)k) return NULL;
  return same_domain(n, n->input[e->i]) ? n->input[e->i] : NULL;
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
  Copies c = {.b = {.arena = a, .pass = "copies", .notes = notes}, .shown = nodes_shown(a, g), .given = nodes_given(a, g)};
  c.first = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1);
  return rebuild(&c.b, a, g, &rules, &c);
}
