/* algebra/keys_graph.c - a Tra as planners see it: keys are labels, and operations on blocks are opaque
 * (from_tra.h). */
#include "from_tra.h"

enum { LOOKED = 65536 };     /* keys of a relation to look at for the largest block */

typedef struct Keys {
  Arena *arena;
  EinGraph *g;
  EinNode **node;
  VEC(const AlgNode *) of;
} Keys;

/* ---- sizes ---------------------------------------------------------------------------------------------- */

/* By dimension, the maximum over blocks. */
static void block_most(Arena *a, const Relation *t, int64_t *most) {
  int64_t key[REL_KEYS] = {0}, *low = NEW_ARRAY(a, int64_t, t->rank + 1), *high = NEW_ARRAY(a, int64_t, t->rank + 1);
  uint32_t n = 0;
  for (uint32_t d = 0; d < t->rank; d++) most[d] = 0;
  do {
    rel_box(t, key, low, high);
    for (uint32_t d = 0; d < t->rank; d++)
      if (high[d] - low[d] > most[d]) most[d] = high[d] - low[d];
  } while (++n < LOOKED && rel_next_key(t->n_key, t->frontier, key));
}

static const Expr *number(const Keys *x, int64_t v) {
  return expr_int(x->g->exprs, DT_I64, v);
}

/* Places besides elements count as one more dimension, with the same number of elements and bytes. */
static uint32_t dims(const Relation *t) {
  return t->n_key + t->rank + t->places;
}

/* The keys, followed by the largest block. */
static const Expr **dims_of(const Keys *x, const Relation *t) {
  const Expr **dim = NEW_ARRAY(x->arena, const Expr *, dims(t) + 1);
  int64_t *most = NEW_ARRAY(x->arena, int64_t, t->rank + 1);
  block_most(x->arena, t, most);
  for (uint32_t k = 0; k < t->n_key; k++) dim[k] = number(x, t->frontier[k]);
  for (uint32_t d = 0; d < t->rank; d++) dim[t->n_key + d] = number(x, most[d]);
  dim[t->n_key + t->rank] = number(x, 1 + (int64_t)sizeof(int64_t) / dtype_size(t->dtype));
  return dim;
}

/* ---- reads ------------------------------------------------------------------------------------------------ */

/* The new key that equals this key of the operand. */
static int32_t rekeyed(const AlgNode *n, uint32_t key) {
  int32_t at = -1;
  for (uint32_t k = 0; k < n->type.n_key; k++) {
    if (n->rekey[k]->kind != EX_LABEL || n->rekey[k]->i != (int64_t)key) continue;
    if (at >= 0) return -1;
    at = (int32_t)k;
  }
  return at;
}

static int32_t grouped(const AlgNode *n, uint32_t key) {
  uint32_t before = 0;
  for (uint32_t k = 0; k < n->n_group; k++)
    if (n->group[k] == key) return (int32_t)k;
  if (n->reducer == RED_NONE) return -1;
  for (uint32_t k = 0; k < n->n_group; k++) before += n->group[k] < key;
  return (int32_t)(dims(&n->type) + key - before);
}

int32_t keys_label(const AlgNode *n, uint32_t operand, uint32_t key) {
  if (n->kind == ALG_JOIN) return n->operand[operand].on[key];
  if (n->kind == ALG_AGGREGATE) return grouped(n, key);
  return n->kind == ALG_MAP && n->rekey ? rekeyed(n, key) : (int32_t)key;
}

/* By label, into how many blocks it can be cut: its number of keys, if what is read can be cut in the same way. */
static const int64_t *label_most(Arena *a, const AlgNode *n, uint32_t labels) {
  int64_t *most = NEW_ARRAY(a, int64_t, labels + 1);
  for (uint32_t l = 0; l < labels; l++) most[l] = 1;
  for (uint32_t k = 0; k < n->type.n_key && (n->kind == ALG_JOIN || n->kind == ALG_STATE); k++)
    most[k] = n->type.frontier[k];
  for (uint32_t k = 0; n->kind != ALG_JOIN && n->n_operand && k < n->operand[0].node->type.n_key; k++) {
    int32_t l = keys_label(n, 0, k);
    if (l >= 0) most[l] = n->operand[0].node->type.frontier[k];
  }
  return most;
}

/* ---- vertices ----------------------------------------------------------------------------------------------- */

/* Names of keys, then those of a block's dimensions from the kernel, with dashes appended where a key has the same
 * name. */
static Str *label_names(const Keys *x, const AlgNode *n, uint32_t labels) {
  Str *name = NEW_ARRAY(x->arena, Str, labels + 1);
  uint32_t out = dims(&n->type), next = out;
  for (uint32_t k = 0; k < n->type.n_key; k++) name[k] = n->type.key[k];
  for (uint32_t d = 0; n->type.n_key + d < out; d++)
    name[n->type.n_key + d] =
        n->kind == ALG_JOIN && !n->n_fn && d < n->type.rank ? n->label[d] : strings_printf(x->g->strings, "d%u", d + 1);
  for (uint32_t k = 0; next < labels; k++)
    if (keys_label(n, 0, k) >= (int32_t)out) name[next++] = n->operand[0].node->type.key[k];
  for (uint32_t l = n->type.n_key; l < labels; l++) name[l] = str_apart(x->g->strings, l, name, name[l]);
  return name;
}

static const Expr *operand_read(const Keys *x, const AlgNode *n, uint32_t operand) {
  const Relation *t = &n->operand[operand].node->type;
  const Expr **index = NEW_ARRAY(x->arena, const Expr *, dims(t) + 1);
  for (uint32_t k = 0; k < dims(t); k++) {
    int32_t l = k < t->n_key ? keys_label(n, operand, k) : -1;
    index[k] = l >= 0 ? expr_label(x->g->exprs, l) : number(x, 0);
  }
  const Expr *e = expr_read(x->g->exprs, t->dtype, operand, dims(t), index);
  return expr_cast(x->g->exprs, DT_F64, e);
}

static EinNode *vertex_of(Keys *x, EinRegion *r, const AlgNode *n) {
  Exprs *e = x->g->exprs;
  const Relation *from = n->n_operand ? &n->operand[0].node->type : NULL;
  bool reduces = n->kind == ALG_AGGREGATE && n->reducer != RED_NONE;
  uint32_t out = dims(&n->type), red = reduces ? from->n_key - n->n_group : 0;
  const Expr **bound = NEW_ARRAY(x->arena, const Expr *, out + red + 1), **dim = dims_of(x, &n->type),
             *body = expr_real(e, DT_F64, 0);
  for (uint32_t l = 0; l < out; l++) bound[l] = dim[l];
  EinNode **input = NEW_ARRAY(x->arena, EinNode *, n->n_operand + 1);
  for (uint32_t i = 0; i < n->n_operand; i++) {
    const Expr *read = operand_read(x, n, i);
    body = i ? expr_op2(e, OP_ADD, body, read) : read;
    input[i] = x->node[n->operand[i].node->id];
  }
  for (uint32_t k = 0; red && k < from->n_key; k++) {
    int32_t l = keys_label(n, 0, k);
    if (l >= (int32_t)out) bound[l] = number(x, from->frontier[k]);
  }
  DType t = n->type.dtype;
  EinSum s = {.n_out = out,
      .n_red = red,
      .n_slot = n->n_operand,
      .reducer = red ? n->reducer : RED_NONE,
      .monoid = red ? n->monoid : NULL,
      .acc = t,
      .dtype = t,
      .body = expr_cast(e, t, body)};
  input = graph_canonical_slots(x->g, &s, input);
  return graph_vertex(x->g, r, &s, bound, label_names(x, n, out + red), out, NULL, input);
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

static void region_walk(Keys *x, EinRegion *r, const AlgRegion *from);

static EinNode *repeat_of(Keys *x, EinRegion *r, const AlgNode *n) {
  const AlgRegion *from = n->body;
  EinNode *y = graph_repeat(x->g, r, from->turn);
  EinRegion *body = y->body;
  body->bound = x->node[from->bound->id];
  body->turns = from->turns >= 0 ? number(x, from->turns) : NULL;
  for (uint32_t i = 0; i < from->states.len; i++)
    vec_push(x->arena, body->states, ((EinState){NULL, x->node[from->states.at[i].init->id], NULL}));
  region_walk(x, body, from);
  for (uint32_t i = 0; i < from->states.len; i++) body->states.at[i].next = x->node[from->states.at[i].next->id];
  if (from->stop) body->stop = x->node[from->stop->id];
  vec_each(const AlgStack, s, from->stacks)
    vec_push(x->arena, body->stacks, ((EinStack){s->name, x->node[s->node->id], s->node->type.n_key + s->axis}));
  return y;
}

static EinNode *state_of(Keys *x, EinRegion *r, const AlgNode *n) {
  EinNode *y = graph_state(x->g, r, n->name, n->type.dtype, dims(&n->type), dims_of(x, &n->type));
  y->index = n->index;
  r->states.at[n->index].node = y;
  return y;
}

static EinNode *node_of(Keys *x, EinRegion *r, const AlgNode *n) {
  switch (n->kind) {
  case ALG_INPUT: return graph_input(x->g, n->name, n->type.dtype, dims(&n->type), dims_of(x, &n->type), false);
  case ALG_JOIN: case ALG_AGGREGATE: case ALG_MAP: case ALG_FILTER: return vertex_of(x, r, n);
  case ALG_REPEAT: return repeat_of(x, r, n);
  case ALG_STATE: return state_of(x, r, n);
  case ALG_FINAL: return graph_result(x->g, r, EIN_FINAL, x->node[n->repeat->id], n->index);
  case ALG_STACK: return graph_result(x->g, r, EIN_STACK, x->node[n->repeat->id], n->index);
  case ALG_TURNS: return graph_result(x->g, r, EIN_TURNS, x->node[n->repeat->id], 0);
  case ALG_MOVE: case ALG_FETCH: break;
  }
  bug("a program over relations that are nowhere has moves");
}

static void region_walk(Keys *x, EinRegion *r, const AlgRegion *from) {
  vec_each_of(const AlgNode, n, from->nodes) {
    EinNode *y = node_of(x, r, n);
    x->node[n->id] = y;
    y->name = n->name;
    y->place = n->place;
    while (x->of.len <= y->id) vec_push(x->arena, x->of, NULL);
    x->of.at[y->id] = n;
  }
}

/* ---- facts for planners ------------------------------------------------------------------------------------------ */

/* Describes a join's kernel, and its number of points per element of the block. */
static void kernel_tell(Arena *a, const AlgNode *n, PartVertex *v) {
  if (n->kind != ALG_JOIN) return;
  Relation local = {
      .n_key = n->type.n_key, .frontier = n->type.frontier, .rank = n->sum->n_red, .dim = n->range + n->sum->n_out};
  SumCount count = sum_count(n->sum, NULL);
  int64_t *most = NEW_ARRAY(a, int64_t, local.rank + 1);
  block_most(a, &local, most);
  v->sum = n->sum;
  for (uint32_t d = 0; d < local.rank; d++) v->inner *= (double)most[d];
  v->point = v->inner * (double)(count.flops + count.integer);
}

/* Where several have one name, such as a join and its aggregation, the last one gets it, or the state. */
static void names_give(Arena *a, PartGraph *g, const AlgNode *const *of) {
  Map owner = map_new(a);
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    PartVertex *v = &g->vertices.at[i], *old = v->node->name ? map_find(&owner, v->node->name) : NULL;
    if (v->node->name && !(old && old->node->kind == EIN_STATE)) map_put(&owner, v->node->name, v);
  }
  vec_each(PartVertex, v, g->vertices) {
    bool its = v->node->name && map_find(&owner, v->node->name) == v;
    v->name = its ? v->node->name->s : arena_printf(a, "%%%u", of[v->node->id]->id);
  }
}

static void vertices_tell(Arena *a, PartGraph *g, const AlgNode *const *of) {
  vec_each(PartVertex, v, g->vertices) {
    const AlgNode *n = of[v->node->id];
    Buf b = buf_new(a);
    v->most = label_most(a, n, v->n_label);
    kernel_tell(a, n, v);
    vec_each(PartRead, r, v->reads) r->asked = 0; /* of a relation blocks move, not places in them */
    if (n->kind != ALG_STATE) alg_equation(&b, n), v->equation = b.s;
  }
  names_give(a, g, of);
}

/* Placements number dimensions in bytes, so there may not be too many. */
static bool has_room(const Algebra *tra, const AlgRegion *r, Buf *why) {
  vec_each_of(const AlgNode, n, r->nodes) {
    if (n->body && !has_room(tra, n->body, why)) return false;
    if (n->kind == ALG_REPEAT || dims(&n->type) <= GRAPH_RANK) continue;
    buf_printf(why, "%%%u has %u keys and %u dimensions, and planners take %d in all", n->id, n->type.n_key,
        n->type.rank, GRAPH_RANK);
    return false;
  }
  return true;
}

KeyGraph *keys_graph(Arena *a, const Algebra *tra, Buf *why) {
  if (!has_room(tra, tra->top, why)) return NULL;
  Keys x = {.arena = a,
      .g = graph_new(a, tra->strings, tra->exprs),
      .node = NEW_ARRAY(a, EinNode *, tra->n_nodes + 1)};
  region_walk(&x, x.g->top, tra->top);
  for (uint32_t i = 0; i < tra->outputs.len; i++)
    vec_push(a, x.g->outputs, ((EinOutput){tra->outputs.at[i].name, x.node[tra->outputs.at[i].node->id]}));
  vec_each(const AlgAssert, s, tra->asserts)
    vec_push(a, x.g->asserts, ((EinAssert){x.node[s->node->id], s->text, s->place}));
  PartGraph *part = part_from_graph(a, x.g, why);
  if (!part) return NULL;
  vertices_tell(a, part, x.of.at);
  return MAKE(a, KeyGraph, tra, x.g, part, (const EinNode *const *)x.node, x.of.at);
}

PlaceGraph *keys_places(Arena *a, const KeyGraph *k) {
  PlaceGraph *g = place_graph(a, k->part);
  g->alike = NULL;
  vec_each(PlaceTensor, t, g->tensors) {
    const Relation *type = &k->of[t->node->id]->type;
    int64_t *most = NEW_ARRAY(a, int64_t, t->n + 1);
    for (uint32_t d = 0; d < t->n; d++) most[d] = d < type->n_key ? type->frontier[d] : 1;
    t->most = most;
    t->part = dtype_size(t->node->dtype);
  }
  return g;
}
