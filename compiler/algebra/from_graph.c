/* algebra/from_graph.c - lowers a vertex to cuts, a join, an optional filter, an aggregation, functions, and the
 * move home. */
#include "door.h"

#include <string.h>

#include "expr/prove/prove.h"
#include "window.h"

enum { TOLD = 65536 };

/* ---- homes ---------------------------------------------------------------------------------------------- */

static uint32_t home_count(const Door *x, uint32_t tensor, uint32_t k) {
  const PlaceTensor *t = &x->places->tensors.at[tensor];
  if (x->cut->home) return x->cut->home[tensor][k];
  return t->vertex >= 0 ? x->cut->d[t->vertex][k] : 1;
}

/* A tensor's own dimensions. Each may merge several labels of its maker; the first that is longer than 1 is cut. */
typedef struct Home { Cuts cuts; Placement at; } Home; /* at: over the keys */

static Cuts home_cuts(const Door *x, const EinNode *n, uint32_t tensor, const Str *label) {
  const PlaceTensor *t = &x->places->tensors.at[tensor];
  bool merged = n->kind == EIN_VERTEX && n->rank != t->n;
  int64_t *frontier = NEW_ARRAY(x->arena, int64_t, t->n + 1);
  Str *key = NEW_ARRAY(x->arena, Str, t->n + 1);
  RelDim *label_dim = NEW_ARRAY(x->arena, RelDim, t->n + 1), *dim = label_dim;
  Cuts c = {0, frontier, key, label_dim, NULL};
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t count = home_count(x, tensor, k);
    label_dim[k] = rel_cut(x->exprs, t->extent[k], expr_label(x->exprs, c.n_key), count);
    if (count > 1) frontier[c.n_key] = count, key[c.n_key++] = label[k];
  }
  if (!merged) return c;
  dim = NEW_ARRAY(x->arena, RelDim, n->rank + 1);
  for (uint32_t k = 0, l = 0; k < n->rank; l += n->merge[k++]) {
    uint32_t cut = l;
    int64_t before = 1;
    while (cut + 1 < l + n->merge[k] && t->extent[cut] <= 1) cut++;
    for (uint32_t j = cut + 1; j < l + n->merge[k]; j++) before *= t->extent[j];
    const Expr *by = expr_int(x->exprs, DT_I64, before);
    dim[k].low = expr_normal(x->exprs, expr_op2(x->exprs, OP_MUL, label_dim[cut].low, by));
    dim[k].high = expr_normal(x->exprs, expr_op2(x->exprs, OP_MUL, label_dim[cut].high, by));
  }
  c.dim = dim;
  return c;
}

/* Replaces cut dimensions by keys. */
static Placement keyed(const Door *x, uint32_t tensor, const Placement *at) {
  int8_t key[REL_KEYS], n = 0;
  Placement to = *at;
  for (uint32_t k = 0; k < x->places->tensors.at[tensor].n; k++)
    key[k] = home_count(x, tensor, k) > 1 ? n++ : PLACE_ALL;
  for (uint32_t a = 0; a < x->placing->mesh.n; a++)
    if (at->on[a] >= 0) to.on[a] = key[at->on[a]];
  return to;
}

static Home home_of(const Door *x, const EinNode *n, const Str *label) {
  uint32_t tensor = (uint32_t)x->tensor[n->id];
  Home h = {.cuts = home_cuts(x, n, tensor, label)};
  if (x->placing) h.at = keyed(x, tensor, &x->placing->home[tensor]);
  return h;
}

static Cuts whole_of(const Door *x, const EinNode *n) {
  RelDim *dim = NEW_ARRAY(x->arena, RelDim, n->rank + 1);
  for (uint32_t k = 0; k < n->rank; k++) {
    Value v = {.i = 0};
    expr_value(n->dim[k], &(ExprEnv){0}, &v);
    dim[k] = rel_whole(x->exprs, v.i);
  }
  return (Cuts){.dim = dim};
}

/* Names an input's dimensions after the labels of its first reader. */
static const Str *input_labels(const Door *x, const EinNode *n) {
  Str *name = NEW_ARRAY(x->arena, Str, n->rank + 1);
  const PartGraph *part = x->places->part;
  const PartRead *first = NULL;
  const PartVertex *reader = NULL;
  for (uint32_t i = 0; !first && i < part->vertices.len; i++)
    for (uint32_t k = 0; !first && k < part->vertices.at[i].reads.len; k++)
      if (part->vertices.at[i].reads.at[k].node == n) reader = &part->vertices.at[i], first = &reader->reads.at[k];
  for (uint32_t k = 0; k < n->rank; k++) {
    int32_t l = first ? first->label[k] : -1;
    name[k] = l >= 0 ? reader->label[l] : strings_printf(x->graph->strings, "i%u", k + 1);
    for (uint32_t j = 0; j < k; j++)
      if (name[j] == name[k]) name[k] = strings_printf(x->graph->strings, "%s%u", name[k]->s, k + 1);
  }
  return name;
}

static void relation_of(Relation *t, const EinNode *n, const Cuts *c) {
  *t = (Relation){
      .dtype = n->dtype, .n_key = c->n_key, .frontier = c->frontier, .key = c->key, .rank = n->rank, .dim = c->dim};
}

static AlgNode *placed(AlgNode *y, const EinNode *n) {
  y->name = n->name;
  y->place = n->place;
  return y;
}

/* Adds a key of that name, or a similar one that is free. */
static void key_add(const Door *x, Relation *t, Str name, int64_t frontier) {
  ((int64_t *)(uintptr_t)t->frontier)[t->n_key] = frontier;
  ((Str *)(uintptr_t)t->key)[t->n_key] = recut_fresh(x->p, t, 0, NULL, name);
  t->n_key++;
}

/* The type as stored: each cut dimension has a key, and so has the first place along axes that have no room. */
static Relation stored_type(const Door *x, const EinNode *n, const Str *label, Placement *at) {
  uint32_t tensor = (uint32_t)x->tensor[n->id];
  const PlaceTensor *t = &x->places->tensors.at[tensor];
  int64_t *frontier = NEW_ARRAY(x->arena, int64_t, t->n + 2);
  Str *key = NEW_ARRAY(x->arena, Str, t->n + 2);
  RelDim *dim = NEW_ARRAY(x->arena, RelDim, t->n + 1);
  int8_t of[REL_KEYS];
  uint32_t keys = 0;
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t count = x->cut->stored[tensor][k];
    dim[k] = rel_cut(x->exprs, t->extent[k], expr_label(x->exprs, keys), count);
    of[k] = count > 1 ? (int8_t)keys : PLACE_ALL;
    if (count > 1) frontier[keys] = count, key[keys++] = label[k];
  }
  const Placement *stored = &x->cut->stored_at[tensor];
  bool first = false;
  *at = *stored;
  for (uint32_t a = 0; a < x->placing->mesh.n; a++) {
    first |= stored->on[a] == PLACE_FIRST;
    at->on[a] = stored->on[a] == PLACE_FIRST ? (int8_t)keys : stored->on[a] >= 0 ? of[stored->on[a]] : stored->on[a];
  }
  Relation type = {.dtype = n->dtype, .n_key = keys, .frontier = frontier, .key = key, .rank = t->n, .dim = dim};
  if (first) key_add(x, &type, strings_printf(x->graph->strings, "first"), 1);
  return type;
}

/* Whether blocks at home are cut further, by axes that come before those that cut them. */
static bool is_cut_inside(const Door *x, uint32_t tensor) {
  bool inside = false;
  for (uint32_t a = 0; a < x->p->mesh.n; a++) inside |= place_inner(x->cut->stored_at[tensor].on[a]) >= 0;
  return inside;
}

/* The type as stored: the blocks at home, each cut by further keys. */
static Relation stored_inside(const Door *x, const EinNode *n, const Str *label, const Home *home, Placement *at) {
  uint32_t tensor = (uint32_t)x->tensor[n->id];
  const Mesh *m = &x->placing->mesh;
  const Placement *stored = &x->cut->stored_at[tensor];
  Relation t = {.dtype = n->dtype, .rank = n->rank, .n_key = home->cuts.n_key};
  int64_t *frontier = NEW_ARRAY(x->arena, int64_t, t.n_key + n->rank + 2);
  Str *key = NEW_ARRAY(x->arena, Str, t.n_key + n->rank + 2);
  RelDim *dim = arena_copy(x->arena, home->cuts.dim, (n->rank + 1) * sizeof *dim);
  memcpy(frontier, home->cuts.frontier, t.n_key * sizeof *frontier);
  memcpy(key, home->cuts.key, t.n_key * sizeof *key);
  t.frontier = frontier, t.key = key, t.dim = dim;
  *at = home->at;
  for (uint32_t d = 0; d < n->rank; d++) {
    uint32_t pieces = placement_inner(m, stored, d);
    for (uint32_t a = 0; a < m->n; a++)
      if (place_inner(stored->on[a]) == (int32_t)d) at->on[a] = (int8_t)t.n_key;
    if (pieces < 2) continue;
    dim[d] = rel_cut_inside(x->exprs, dim[d], expr_label(x->exprs, t.n_key), pieces);
    key_add(x, &t, label[d], pieces);
  }
  bool first = false;
  for (uint32_t a = 0; a < m->n; a++)
    if (stored->on[a] == PLACE_FIRST) at->on[a] = (int8_t)t.n_key, first = true;
  if (first) key_add(x, &t, strings_printf(x->graph->strings, "first"), 1);
  return t;
}

/* Puts the blocks at home together. */
static AlgNode *put_together(Door *x, AlgNode *y, const Home *home) {
  uint32_t n = home->cuts.n_key, *group = NEW_ARRAY(x->arena, uint32_t, n + 1);
  Placement to = y->at;
  for (uint32_t a = 0; a < x->p->mesh.n; a++)
    if (to.on[a] >= (int)n) to.on[a] = PLACE_ALL;
  for (uint32_t k = 0; k < n; k++) group[k] = k;
  return alg_concat(x->p, x->p->top, recut_move(x->p, x->p->top, y, &to), n, group, home->cuts.dim);
}

/* Moves an input home once, for all its readers. */
static AlgNode *input_make(Door *x, const EinNode *n) {
  Relation t = {.dtype = n->dtype, .rank = n->rank};
  Placement at;
  if (x->tensor[n->id] < 0) { /* nothing reads it, but it is an output */
    t.dim = whole_of(x, n).dim;
    if (!x->p->placed || !x->p->mesh.n) return placed(alg_input(x->p, n->name, &t, NULL), n);
    t.n_key = 1; /* it stays where it is stored, at the first site */
    t.frontier = arena_copy(x->arena, &(int64_t){1}, sizeof(int64_t));
    t.key = arena_copy(x->arena, &(Str){strings_printf(x->graph->strings, "first")}, sizeof(Str));
    for (uint32_t k = 0; k < MESH_AXES; k++) at.on[k] = k < x->p->mesh.n ? 0 : PLACE_ALL;
    return placed(alg_input(x->p, n->name, &t, &at), n);
  }
  const Str *label = input_labels(x, n);
  Home home = home_of(x, n, label);
  if (!x->cut->stored) {
    relation_of(&t, n, &home.cuts);
    return placed(alg_input(x->p, n->name, &t, NULL), n);
  }
  bool inside = x->p->placed && is_cut_inside(x, (uint32_t)x->tensor[n->id]);
  t = inside ? stored_inside(x, n, label, &home, &at) : stored_type(x, n, label, &at);
  AlgNode *y = placed(alg_input(x->p, n->name, &t, x->p->placed ? &at : NULL), n);
  if (inside) return put_together(x, y, &home);
  return recut_exactly(x->p, x->p->top, y, &home.cuts, x->placing ? &home.at : NULL);
}

/* ---- the result ----------------------------------------------------------------------------------------------- */

static const Expr *domain_of(const Door *x, const Vertex *v) {
  return x->full[v->node->id] ? NULL : window_possible(x->exprs, v->sum->domain, v->range);
}

/* Keeps blocks with a point that counts. Of blocks that are reduced together the first stays, for the result where
 * nothing counts. */
static const Expr *keep_of(const Door *x, const Vertex *v) {
  Exprs *e = x->exprs;
  const Expr *where = window_possible(e, v->sum->where, v->range), *first = NULL;
  const Expr *domain = domain_of(x, v);
  for (uint32_t l = v->sum->n_out; l < v->n_label; l++)
    if (v->key_of[l] >= 0)
      first = expr_and(e, first, expr_op2(e, OP_EQ, expr_label(e, v->key_of[l]), expr_int(e, DT_I64, 0)));
  if (where && !first) where = NULL;
  if (where) where = expr_op2(e, OP_OR, where, first);
  return expr_and(e, domain, where);
}

/* False: every key stays. True also where there are too many keys to tell. */
static bool drops_some(const Vertex *v, const Expr *keep) {
  int64_t key[REL_KEYS] = {0};
  uint32_t n = 0;
  if (!keep || !v->n_key) return false;
  do
    if (!rel_predicate(keep, v->n_key, key)) return true;
  while (rel_next_key(v->n_key, v->frontier, key) && ++n < TOLD);
  return n >= TOLD;
}

/* Whether a group may lose all its tuples, and so vanish. */
static bool drops_group(const Door *x, const Vertex *v) {
  return drops_some(v, domain_of(x, v));
}

/* The keys of output labels. */
static uint32_t group_of(const Vertex *v, uint32_t *group) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < v->sum->n_out; l++)
    if (v->key_of[l] >= 0) group[n++] = (uint32_t)v->key_of[l];
  return n;
}

/* How parts are shared out to be reduced: each site gets its share, as place_between cuts it. Where no dimension has
 * room, all parts go to the first place along that axis. */
typedef struct Share {
  uint32_t *count;           /* by output label */
  int32_t *put;              /* by output label: its new key; -1: it is cut as before */
  uint32_t n_put;            /* new keys; */
  int32_t first;             /* the new key of frontier 1, for the first place; -1: none */
  int8_t on[MESH_AXES];      /* by axis: an output label, PLACE_ALL or PLACE_FIRST */
} Share;

static Share share_of(const Door *x, const Vertex *v) {
  uint32_t n = v->sum->n_out;
  Share s = {.count = NEW_ARRAY(x->arena, uint32_t, n + 1), .put = NEW_ARRAY(x->arena, int32_t, n + 1), .first = -1};
  Placement between = placing_between(x->places, x->placing, (uint32_t)x->tensor[v->node->id]);
  memcpy(s.on, between.on, sizeof s.on);
  for (uint32_t l = 0; l < n; l++) s.count[l] = placement_count(&x->placing->mesh, &between, (int8_t)l);
  for (uint32_t l = 0; l < n; l++) s.put[l] = s.count[l] != v->d[l] ? (int32_t)s.n_put++ : -1;
  for (uint32_t a = 0; a < x->placing->mesh.n; a++)
    if (s.on[a] == PLACE_FIRST && s.first < 0) s.first = (int32_t)s.n_put++;
  return s;
}

static int64_t out_extent(const Door *x, const Vertex *v, uint32_t l) {
  return x->places->tensors.at[x->tensor[v->node->id]].extent[l];
}

/* Cuts parts into shares; the new keys come after the vertex's. */
static AlgNode *share_cut(const Door *x, AlgRegion *r, const Vertex *v, const Share *s, AlgNode *y) {
  Arena *a = x->arena;
  int64_t *frontier = NEW_ARRAY(a, int64_t, s->n_put + 1);
  Str *key = NEW_ARRAY(a, Str, s->n_put + 1);
  RelDim *piece = arena_copy(a, v->range, (v->sum->n_out + 1) * sizeof *piece);
  if (!s->n_put) return y;
  for (uint32_t l = 0; l < v->sum->n_out; l++) {
    if (s->put[l] < 0) continue;
    piece[l] =
        rel_cut(x->exprs, out_extent(x, v, l), expr_label(x->exprs, v->n_key + (uint32_t)s->put[l]), s->count[l]);
    frontier[s->put[l]] = s->count[l];
    key[s->put[l]] = recut_fresh(x->p, &y->type, s->n_put, key, v->node->label[l]);
  }
  if (s->first >= 0)
    frontier[s->first] = 1,
    key[s->first] = recut_fresh(x->p, &y->type, s->n_put, key, strings_printf(x->p->strings, "first"));
  bool holes = y->type.holes || s->n_put > (s->first >= 0);
  y = alg_tile(x->p, r, y, s->n_put, frontier, key, piece);
  y->type.holes = holes;
  return y;
}

static AlgNode *share_move(const Door *x, AlgRegion *r, const Vertex *v, const Share *s, AlgNode *y) {
  Placement to = y->at;
  for (uint32_t a = 0; a < x->p->mesh.n; a++) {
    int8_t l = s->on[a];
    int32_t key = l == PLACE_FIRST ? (int32_t)v->n_key + s->first
        : l < 0                    ? PLACE_ALL
        : s->put[l] >= 0           ? (int32_t)v->n_key + s->put[l]
                                   : v->key_of[l];
    to.on[a] = (int8_t)key;
  }
  return recut_move(x->p, r, y, &to);
}

/* Concatenates the shares that came from different blocks. Keys are numbered as in the aggregation. */
static AlgNode *share_lay(const Door *x, AlgRegion *r, const Vertex *v, const Share *s, AlgNode *y) {
  uint32_t n = 0, at = 0, *group = NEW_ARRAY(x->arena, uint32_t, y->type.n_key + 1);
  RelDim *dim = NEW_ARRAY(x->arena, RelDim, v->sum->n_out + 1);
  for (uint32_t l = 0; l < v->sum->n_out; l++) {
    dim[l] = v->range[l];
    if (v->key_of[l] < 0) continue;
    if (s->put[l] < 0)
      dim[l] = rel_cut(x->exprs, out_extent(x, v, l), expr_label(x->exprs, n), v->d[l]), group[n++] = at;
    at++;
  }
  uint32_t kept = n;
  for (uint32_t l = 0; l < v->sum->n_out; l++)
    if (s->put[l] >= 0)
      dim[l] = rel_cut(x->exprs, out_extent(x, v, l), expr_label(x->exprs, kept + (uint32_t)s->put[l]), s->count[l]);
  for (uint32_t k = 0; k < s->n_put; k++) group[n++] = at + k;
  return n == y->type.n_key ? y : alg_concat(x->p, r, y, n, group, dim);
}

static AlgNode *shared_out(const Door *x, AlgRegion *r, const Vertex *v, AlgNode *y) {
  Share s = share_of(x, v);
  uint32_t *group = NEW_ARRAY(x->arena, uint32_t, v->n_key + s.n_put + 1), n = group_of(v, group);
  y = share_move(x, r, v, &s, share_cut(x, r, v, &s, y));
  for (uint32_t k = 0; k < s.n_put; k++) group[n++] = v->n_key + k;
  y = alg_aggregate(x->p, r, y, n, group, v->sum->reducer, v->sum->monoid);
  y->type.holes = drops_group(x, v) || s.n_put > (s.first >= 0);
  y = share_lay(x, r, v, &s, y);
  y->type.holes = drops_group(x, v);
  return y;
}

static AlgNode *reduced(Door *x, AlgRegion *r, const Vertex *v, AlgNode *y) {
  uint32_t *group = NEW_ARRAY(x->arena, uint32_t, v->n_key + 1), n = group_of(v, group);
  if (n == v->n_key) return y;
  if (x->p->placed && !x->plain) return shared_out(x, r, v, y);
  if (x->plain) {
    Placement to = recut_anyhow(x->p, &y->type, n, group);
    y = alg_move(x->p, r, y, &to);
  }
  y = alg_aggregate(x->p, r, y, n, group, v->sum->reducer, v->sum->monoid);
  y->type.holes = drops_group(x, v);
  return y;
}

static AlgNode *finished(Door *x, AlgRegion *r, const Vertex *v, AlgNode *y) {
  const EinSum *s = v->sum;
  AlgFn fn[3];
  uint32_t n = 0;
  if (reducer_is_arg(s->reducer)) fn[n++] = (AlgFn){.kind = FN_PLACE};
  else if (s->acc != s->dtype) fn[n++] = (AlgFn){.kind = FN_CAST, .to = s->dtype};
  if (v->node->rank != s->n_out) fn[n++] = (AlgFn){.kind = FN_MERGE, .n = v->node->rank, .merge = v->node->merge};
  return n ? alg_transform(x->p, r, y, n, fn) : y;
}

/* Table 1: all but the last operand are broadcast to all sites. */
static void broadcast_all(Door *x, AlgRegion *r, uint32_t n, AlgOperand *operand) {
  Placement all;
  for (uint32_t a = 0; a < MESH_AXES; a++) all.on[a] = PLACE_ALL;
  for (uint32_t k = 0; k + 1 < n; k++) operand[k].node = alg_move(x->p, r, operand[k].node, &all);
}

static AlgNode *vertex_make(Door *x, AlgRegion *r, const EinNode *n) {
  Vertex v = door_vertex(x, n);
  AlgOperand *operand = NEW_ARRAY(x->arena, AlgOperand, v.sum->n_slot + 1);
  uint32_t n_operand;
  const EinSum *sum = door_operands(x, &v, r, &n_operand, operand);
  if (x->plain) broadcast_all(x, r, n_operand, operand);
  const Placement *at = x->p->placed && !x->plain ? &v.at : NULL;
  AlgNode *y = placed(alg_join(x->p, r, n_operand, operand, sum, n->label, v.range, v.n_key, v.frontier, v.key, at), n);
  const PlacePanels *panels = at && x->placing->panels ? &x->placing->panels[x->tensor[n->id]] : NULL;
  if (panels && panels->n) y->panels = panels->n, y->panel = panels->label;
  const Expr *keep = keep_of(x, &v);
  if (drops_some(&v, keep)) y = alg_filter(x->p, r, y, keep);
  y = finished(x, r, &v, reduced(x, r, &v, y));
  Home home = home_of(x, n, n->label);
  return recut_exactly(x->p, r, y, &home.cuts, x->plain ? NULL : &home.at);
}

/* ---- regions ---------------------------------------------------------------------------------------------------- */

static AlgNode *result_new(Door *x, AlgRegion *r, AlgKind kind, const EinNode *n) {
  AlgNode *y = MAKE(x->arena, AlgNode, .kind = kind, .id = x->p->n_nodes++, .region = r, .index = n->index,
      .operand = NEW_ARRAY(x->arena, AlgOperand, 1), .repeat = n->repeat ? x->is[n->repeat->id] : NULL);
  for (uint32_t k = 0; k < MESH_AXES; k++) y->at.on[k] = PLACE_ALL;
  if (kind != ALG_REPEAT) vec_push(x->arena, r->nodes, y);
  return placed(y, n);
}

static AlgNode *state_make(Door *x, AlgRegion *r, const EinNode *n) {
  const AlgState *s = &r->states.at[n->index];
  AlgNode *y = result_new(x, r, ALG_STATE, n);
  y->repeat = r->repeat;
  y->type = s->init->type;
  y->at = s->init->at;
  r->states.at[n->index].node = y;
  return y;
}

static AlgNode *state_put(Door *x, AlgRegion *r, const EinNode *state, const EinNode *value) {
  Home home = home_of(x, state, x->places->part->vertices.at[x->tensor[state->id]].label);
  AlgNode *y = recut_exactly(x->p, r, x->is[value->id], &home.cuts, &home.at);
  return x->p->placed ? recut_move(x->p, r, y, &home.at) : y;
}

/* What decides how often something runs is known everywhere. */
static AlgNode *everywhere(Door *x, AlgRegion *r, const EinNode *n) {
  Placement all;
  for (uint32_t a = 0; a < MESH_AXES; a++) all.on[a] = PLACE_ALL;
  return x->p->placed ? recut_move(x->p, r, x->is[n->id], &all) : x->is[n->id];
}

static void region_make(Door *x, AlgRegion *r, const EinRegion *from);

static void repeat_make(Door *x, AlgRegion *r, const EinNode *n) {
  const EinRegion *from = n->body;
  AlgRegion *body = NEW(x->arena, AlgRegion);
  Value turns;
  *body = (AlgRegion){
      .parent = r, .depth = from->depth, .turn = from->turn, .bound = everywhere(x, r, from->bound), .turns = -1};
  if (from->turns && expr_value(from->turns, &(ExprEnv){0}, &turns)) body->turns = turns.i;
  vec_each(const EinState, s, from->states)
    vec_push(x->arena, body->states, ((AlgState){NULL, state_put(x, r, s->node, s->init), NULL}));
  AlgNode *y = result_new(x, r, ALG_REPEAT, n);
  body->repeat = y;
  y->body = body;
  x->is[n->id] = y;
  region_make(x, body, from);
  for (uint32_t i = 0; i < from->states.len; i++) {
    const EinState *s = &from->states.at[i];
    body->states.at[i].next = state_put(x, body, s->node, s->next);
  }
  if (from->stop) body->stop = everywhere(x, body, from->stop);
  vec_each(const EinStack, s, from->stacks)
    vec_push(x->arena, body->stacks, ((AlgStack){s->name, x->is[s->node->id], s->axis}));
  vec_push(x->arena, r->nodes, y); /* after the moves that its turns need before it */
}

static AlgNode *loop_result(Door *x, AlgRegion *r, const EinNode *n) {
  static const AlgKind kind[] = {[EIN_FINAL] = ALG_FINAL, [EIN_STACK] = ALG_STACK, [EIN_TURNS] = ALG_TURNS};
  AlgNode *y = result_new(x, r, kind[n->kind], n);
  const AlgRegion *body = y->repeat->body;
  if (n->kind == EIN_TURNS) y->type = (Relation){.dtype = n->dtype, .dim = NEW_ARRAY(x->arena, RelDim, 1)};
  if (n->kind == EIN_FINAL) y->type = body->states.at[n->index].node->type, y->at = body->states.at[n->index].node->at;
  if (n->kind != EIN_STACK) return y;
  const AlgStack *s = &body->stacks.at[n->index];
  RelDim *dim = NEW_ARRAY(x->arena, RelDim, s->node->type.rank + 2);
  y->type = s->node->type;
  y->at = s->node->at;
  for (uint32_t k = 0, j = 0; k <= s->node->type.rank; k++)
    dim[k] = k == s->axis ? rel_whole(x->exprs, body->turns) : s->node->type.dim[j++];
  y->type.rank++;
  y->type.dim = dim;
  return y;
}

static void region_make(Door *x, AlgRegion *r, const EinRegion *from) {
  vec_each_of(const EinNode, n, from->nodes) {
    if (!x->places->part->needed[n->id] || x->is[n->id]) continue;
    switch (n->kind) {
    case EIN_INPUT: x->is[n->id] = input_make(x, n); break;
    case EIN_VERTEX: x->is[n->id] = vertex_make(x, r, n); break;
    case EIN_STATE: x->is[n->id] = state_make(x, r, n); break;
    case EIN_REPEAT: repeat_make(x, r, n); break;
    case EIN_FINAL: case EIN_STACK: case EIN_TURNS: x->is[n->id] = loop_result(x, r, n); break;
    }
  }
}

/* Finds what goes from turn to turn. */
static void full_find(Door *x, const EinRegion *r) {
  for (uint32_t i = 0; i < r->states.len; i++)
    x->full[r->states.at[i].init->id] = x->full[r->states.at[i].next->id] = true;
  for (uint32_t i = 0; i < r->stacks.len; i++) x->full[r->stacks.at[i].node->id] = true;
  for (uint32_t i = 0; i < r->nodes.len; i++)
    if (r->nodes.at[i]->kind == EIN_REPEAT) full_find(x, r->nodes.at[i]->body);
}

/* Blocks of a vertex may be filtered out if none of them is concatenated with others: at home, or by a reader. */
static void full_where_laid(Door *x) {
  for (uint32_t i = 0; i < x->places->part->vertices.len; i++) {
    const EinNode *n = x->places->part->vertices.at[i].node;
    if (n->kind != EIN_VERTEX) continue;
    Vertex v = door_vertex(x, n);
    int32_t *which = NEW_ARRAY(x->arena, int32_t, v.n_key + 1);
    for (uint32_t l = 0; l < n->sum->n_out; l++) x->full[n->id] |= home_count(x, i, l) != v.d[l];
    for (uint32_t s = 0; s < n->sum->n_slot; s++) {
      const EinNode *m = n->input[s];
      if (m->kind != EIN_VERTEX || !m->sum->domain || x->full[m->id]) continue;
      Relation home = {0};
      Cuts is = home_cuts(x, m, (uint32_t)x->tensor[m->id], m->label);
      relation_of(&home, m, &is);
      Cuts want = door_cuts(x, &v, s, &home, which);
      x->full[m->id] = recut_lays(x->p, &home, &want);
    }
  }
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

static void ends_make(Door *x) {
  vec_each(const EinOutput, o, x->graph->outputs) {
    int64_t *extent = NEW_ARRAY(x->arena, int64_t, o->node->rank + 1);
    AlgNode *y = x->is[o->node->id];
    for (uint32_t k = 0; k < o->node->rank; k++) extent[k] = door_extent(&y->type.dim[k], &y->type);
    vec_push(x->arena, x->p->outputs, ((AlgOutput){o->name, y, o->node->rank, extent}));
  }
  vec_each(const EinAssert, s, x->graph->asserts)
    vec_push(x->arena, x->p->asserts, ((AlgAssert){x->is[s->node->id], s->text, s->place}));
}

static Algebra *door(Arena *a, const EinGraph *g, const Cutting *c, bool mesh, bool plain) {
  Door x = {.p = algebra_new(a, g->strings, g->exprs), .arena = a, .exprs = g->exprs, .graph = g, .cut = c,
      .places = c->places, .plain = plain, .placing = c->placing};
  x.p->placed = mesh;
  if (mesh) x.p->mesh = c->placing->mesh, x.p->room = c->placing->room;
  x.p->memory = c->memory;
  x.tensor = NEW_ARRAY(a, int32_t, g->n_nodes + 1);
  x.is = NEW_ARRAY(a, AlgNode *, g->n_nodes + 1);
  x.operand = NEW_ARRAY(a, AlgOperand *, c->places->part->vertices.len + 1);
  x.full = NEW_ARRAY(a, bool, g->n_nodes + 1);
  for (uint32_t i = 0; i < g->n_nodes; i++) x.tensor[i] = -1;
  for (uint32_t i = 0; i < c->places->tensors.len; i++) x.tensor[c->places->tensors.at[i].node->id] = (int32_t)i;
  for (uint32_t i = 0; i < g->monoids.len; i++) vec_push(a, x.p->monoids, g->monoids.at[i]);
  full_find(&x, g->top);
  for (uint32_t i = 0; i < g->outputs.len; i++) x.full[g->outputs.at[i].node->id] = true;
  full_where_laid(&x);
  region_make(&x, x.p->top, g->top);
  ends_make(&x);
  return x.p;
}

Algebra *tra_from_graph(Arena *a, const EinGraph *g, const Cutting *c) {
  return door(a, g, c, false, false);
}

Algebra *ia_from_graph(Arena *a, const EinGraph *g, const Cutting *c) {
  BUG_UNLESS(c->placing);
  return door(a, g, c, true, false);
}

Algebra *ia_plain_from_graph(Arena *a, const EinGraph *g, const Cutting *c) {
  BUG_UNLESS(c->placing);
  return door(a, g, c, true, true);
}
