/* graph/passes/pass_common.c - common subexpression elimination: merges vertices with the same EinSum, inputs,
 * bounds and merges, in one region or in an enclosing one. Everything is a pure function, even random numbers, so no
 * other test is needed. A table holds the visible vertices; when a region closes, its vertices leave the table, last
 * in first out.
 *
 * Whether a predicate holds anywhere, as a masked mean asks, is read off the number of its points if that is there. */
#include <string.h>

#include "rebuild.h"

typedef struct Seen {
  EinNode *node;
  const void *key;
  struct Seen *next;         /* earlier ones with the same hash */
} Seen;

typedef struct Common {
  Rebuild b;
  Map table;                 /* hash to the newest Seen */
  VEC(Seen *) made;
  VEC(uint32_t) open;        /* where in `made` each open region began */
} Common;

static const void *vertex_key(const EinNode *n) {
  uint32_t h = hash_mix(n->sum->hash, n->rank);
  for (uint32_t k = 0; k < n->sum->n_out + n->sum->n_red; k++) h = hash_mix(h, n->bound[k]->id);
  for (uint32_t k = 0; k < n->sum->n_slot; k++) h = hash_mix(h, n->input[k]->id);
  return (const void *)((uintptr_t)h + 1);
}

static bool vertex_same(const EinNode *a, const EinNode *b) {
  if (a->sum != b->sum || a->rank != b->rank || memcmp(a->merge, b->merge, a->rank) != 0) return false;
  for (uint32_t k = 0; k < a->sum->n_slot; k++)
    if (a->input[k] != b->input[k]) return false;
  return exprs_same(a->sum->n_out + a->sum->n_red, a->bound, b->bound);
}

static const Seen *same_find(const Common *c, const EinNode *n) {
  const Seen *s = map_find(&c->table, vertex_key(n));
  while (s && !vertex_same(s->node, n)) s = s->next;
  return s;
}

/* Takes back the vertex that was made last. */
static void last_drop(Common *c, EinRegion *r) {
  r->nodes.len--;
  c->b.g->n_nodes--;
}

/* The vertex `made` from n asks whether its predicate holds anywhere: reads that off the number of points, if that is
 * there; else NULL, and it stays. */
static EinNode *counted(Common *c, EinRegion *r, const EinNode *n, const EinNode *made) {
  Exprs *p = c->b.g->exprs;
  EinSum s = *made->sum, is = {.n_out = s.n_out, .n_slot = 1, .acc = DT_BOOL, .dtype = DT_BOOL};
  if (s.reducer != RED_ANY || s.body != expr_bool(p, true) || !s.where) return NULL;
  if (s.domain || s.by || made->rank != s.n_out) return NULL;
  EinNode like = *made;
  s.reducer = RED_SUM, s.acc = s.dtype = DT_I64, s.body = expr_int(p, DT_I64, 1);
  like.sum = graph_sum(c->b.g, &s);
  const Seen *count = same_find(c, &like);
  if (!count) return NULL;
  const Expr **label = exprs_labels(c->b.arena, p, s.n_out);
  is.body = expr_op2(p, OP_NE, expr_read(p, DT_I64, 0, s.n_out, label), expr_int(p, DT_I64, 0));
  last_drop(c, r);
  return rebuild_vertex(&c->b, r, n, &is, n->bound, n->label, (EinNode *[]){count->node});
}

/* Makes the copy first, since only it has the new inputs and the interned EinSum; removes it if there is an equal
 * one. */
static EinNode *first_of(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Common *c = env;
  EinNode *made = rebuild_copy(b, r, n);
  const void *key = vertex_key(made);
  Seen *first = map_find(&c->table, key);
  bool stop = n->region->stop == n; /* which must stay in its block */
  for (Seen *s = first; s; s = s->next) {
    if (!vertex_same(s->node, made) || (stop && s->node->region != r)) continue;
    last_drop(c, r);
    if (!s->node->name) s->node->name = made->name;
    rebuild_note(b, "vertices merged", n->place);
    return s->node;
  }
  EinNode *by_count = counted(c, r, n, made);
  if (by_count) {
    rebuild_note(b, "predicates counted anyway", n->place);
    return by_count;
  }
  Seen *s = MAKE(b->arena, Seen, made, key, first);
  map_put(&c->table, key, s);
  vec_push(b->arena, c->made, s);
  return made;
}

static void opened(void *env, EinRegion *r) {
  Common *c = env;
  (void)r;
  vec_push(c->b.arena, c->open, c->made.len);
}

static void closed(void *env, EinRegion *r) {
  Common *c = env;
  (void)r;
  for (uint32_t from = vec_pop(c->open); c->made.len > from;) {
    Seen *s = vec_pop(c->made);
    map_put(&c->table, s->key, s->next);
  }
}

EinGraph *graph_common(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = first_of, .enter = opened, .leave = closed};
  Common c = {.b = {.arena = a, .pass = "common", .notes = notes}, .table = map_new(a)};
  return rebuild(&c.b, a, g, &rules, &c);
}
