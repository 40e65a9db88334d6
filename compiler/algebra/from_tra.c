/* algebra/from_tra.c - puts each operation of a Tra where the plan of its keys has it (from_tra.h): operands move to
 * where they meet, parts are reduced on the way home, and results move home. */
#include "from_tra.h"

#include <string.h>

#include "recut.h"

typedef struct Placer {
  Algebra *p;
  Arena *arena;
  const KeyGraph *keys;
  const Cutting *cut;
  int32_t *tensor;           /* by id of a graph node; -1: nobody reads it */
  AlgNode **is;              /* by id of a relation: the same relation at home */
} Placer;

static Placement everywhere(void) {
  Placement all;
  for (uint32_t a = 0; a < MESH_AXES; a++) all.on[a] = PLACE_ALL;
  return all;
}

static int32_t tensor_of(const Placer *x, const AlgNode *n) {
  return x->tensor[x->keys->node[n->id]->id];
}

static Placement home_of(const Placer *x, const AlgNode *n) {
  int32_t t = tensor_of(x, n);
  return t < 0 ? everywhere() : x->cut->placing->home[t];
}

/* ---- a key for the first place ------------------------------------------------------------------------------ */

/* Adds a key with one value after the others: a relation that is cut by it is at the first place along those axes,
 * and nowhere else. */
static AlgNode *first_put(Placer *x, AlgRegion *r, AlgNode *y) {
  bool holes = y->type.holes;
  Str name = recut_fresh(x->p, &y->type, 0, NULL, strings_printf(x->p->strings, "first"));
  y = alg_tile(x->p, r, y, 1, &(int64_t){1}, &name, y->type.dim);
  y->type.holes = holes;
  return y;
}

static AlgNode *first_drop(Placer *x, AlgRegion *r, AlgNode *y) {
  uint32_t n = y->type.n_key - 1, *group = NEW_ARRAY(x->arena, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) group[k] = k;
  return alg_concat(x->p, r, y, n, group, y->type.dim);
}

static bool has_first(const Placer *x, const Placement *at) {
  bool first = false;
  for (uint32_t a = 0; a < x->p->mesh.n; a++) first |= at->on[a] == PLACE_FIRST;
  return first;
}

static Placement first_keyed(const Placer *x, const Placement *at, uint32_t key) {
  Placement to = *at;
  for (uint32_t a = 0; a < x->p->mesh.n; a++)
    if (to.on[a] == PLACE_FIRST) to.on[a] = (int8_t)key;
  return to;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

/* Where the vertex, whose labels the axes cut, wants an operand. */
static Placement wanted(const Placer *x, const AlgNode *n, uint32_t operand, const int8_t *label) {
  Placement to = everywhere();
  const Relation *t = &n->operand[operand].node->type;
  for (uint32_t a = 0; a < x->p->mesh.n; a++)
    for (uint32_t k = t->n_key; k-- > 0;)
      if (label[a] >= 0 && keys_label(n, operand, k) == label[a]) to.on[a] = (int8_t)k;
  return to;
}

static bool same_operand(const AlgNode *n, uint32_t i, uint32_t j) {
  const AlgOperand *o = &n->operand[i], *q = &n->operand[j];
  return o->node == q->node && (n->kind != ALG_JOIN || memcmp(o->on, q->on, o->node->type.n_key * sizeof *o->on) == 0);
}

/* Moved once, in the region where it is made, however often turns read it. */
static AlgNode *brought(Placer *x, const AlgNode *n, const Placement *to) {
  AlgNode *y = x->is[n->id];
  return recut_move(x->p, y->region, y, to);
}

static AlgNode *operand_brought(
    Placer *x, const AlgNode *n, uint32_t i, const int8_t *label, const AlgOperand *before) {
  for (uint32_t j = 0; j < i; j++)
    if (same_operand(n, i, j)) return before[j].node;
  Placement to = wanted(x, n, i, label);
  return brought(x, n->operand[i].node, &to);
}

static AlgOperand *operands_copy(const Placer *x, const AlgNode *n, const AlgOperand *operand) {
  AlgOperand *o = COPY_ARRAY(x->arena, AlgOperand, operand, n->n_operand, n->n_operand + 1);
  return o;
}

/* The same operation on the placed operands. */
static AlgNode *again(Placer *x, AlgRegion *r, const AlgNode *n, const AlgOperand *operand, const Placement *at) {
  AlgNode *y = arena_copy(x->arena, n, sizeof *y);
  y->id = x->p->n_nodes++;
  y->region = r;
  y->operand = operands_copy(x, n, operand);
  y->at = *at;
  y->mark = NULL;
  vec_push(x->arena, r->nodes, y);
  return y;
}

/* Axes that cut a dropped key leave parts: they are reduced where the plan has them meet. */
static AlgNode *reduced(Placer *x, AlgRegion *r, const AlgNode *n, AlgNode *y) {
  bool parts = false;
  for (uint32_t a = 0; a < x->p->mesh.n; a++) parts |= y->at.on[a] == PLACE_PART;
  if (!parts) return y;
  Placement between = placing_between(x->cut->places, x->cut->placing, (uint32_t)tensor_of(x, n)), home = home_of(x, n);
  bool first = has_first(x, &between);
  if (first) y = first_put(x, r, y);
  Placement to = first_keyed(x, &between, n->type.n_key);
  y = recut_move(x->p, r, y, &to);
  uint32_t *group = NEW_ARRAY(x->arena, uint32_t, y->type.n_key + 1);
  for (uint32_t k = 0; k < y->type.n_key; k++) group[k] = k;
  bool holes = y->type.holes;
  y = alg_aggregate(x->p, r, y, y->type.n_key, group, n->reducer, n->monoid);
  y->type.holes = holes;
  return first ? first_drop(x, r, recut_move(x->p, r, y, &home)) : y;
}

static AlgNode *aggregated(Placer *x, AlgRegion *r, const AlgNode *n, AlgNode *of) {
  AlgNode *y = n->reducer == RED_NONE ? alg_concat(x->p, r, of, n->n_group, n->group, n->type.dim)
                                      : alg_aggregate(x->p, r, of, n->n_group, n->group, n->reducer, n->monoid);
  y->type.holes = n->type.holes;
  y = reduced(x, r, n, y);
  return n->n_fn ? alg_transform(x->p, r, y, n->n_fn, n->fn) : y;
}

static AlgNode *vertex_make(Placer *x, AlgRegion *r, const AlgNode *n) {
  const int8_t *label = x->cut->placing->label[tensor_of(x, n)];
  AlgOperand *operand = operands_copy(x, n, n->operand);
  Placement made = everywhere(), home = home_of(x, n);
  for (uint32_t i = 0; i < n->n_operand; i++) operand[i].node = operand_brought(x, n, i, label, operand);
  for (uint32_t a = 0; a < x->p->mesh.n; a++) made.on[a] = label[a] < 0 ? PLACE_ALL : label[a];
  AlgNode *y = n->kind == ALG_AGGREGATE ? aggregated(x, r, n, operand[0].node) : again(x, r, n, operand, &made);
  y->name = n->name;
  y->place = n->place;
  return recut_move(x->p, r, y, &home);
}

/* An input is stored once: where home has copies it is cut further, or is at the first place. */
static AlgNode *input_make(Placer *x, const AlgNode *n) {
  int32_t t = tensor_of(x, n);
  Placement home = home_of(x, n), stored = home;
  for (uint32_t a = 0; a < x->p->mesh.n; a++) stored.on[a] = PLACE_FIRST;
  if (t >= 0) stored = x->cut->stored_at[t];
  for (uint32_t a = 0; a < x->p->mesh.n; a++) /* its keys are given, and cannot be cut */
    if (place_inner(stored.on[a]) >= 0) stored.on[a] = PLACE_FIRST;
  Relation type = n->type;
  bool first = has_first(x, &stored);
  if (first) {
    type.n_key++;
    int64_t *frontier = NEW_ARRAY(x->arena, int64_t, type.n_key);
    Str *key = NEW_ARRAY(x->arena, Str, type.n_key);
    for (uint32_t k = 0; k < n->type.n_key; k++) frontier[k] = n->type.frontier[k], key[k] = n->type.key[k];
    frontier[n->type.n_key] = 1;
    key[n->type.n_key] = recut_fresh(x->p, &n->type, 0, NULL, strings_printf(x->p->strings, "first"));
    type.frontier = frontier;
    type.key = key;
  }
  Placement at = first_keyed(x, &stored, n->type.n_key);
  AlgNode *y = alg_input(x->p, n->name, &type, &at);
  y->place = n->place;
  if (t < 0) return y; /* an output of the program itself: it stays where it is stored */
  y = recut_move(x->p, x->p->top, y, &home);
  return first ? first_drop(x, x->p->top, y) : y;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static void region_make(Placer *x, AlgRegion *r, const AlgRegion *from);

static AlgNode *repeat_make(Placer *x, AlgRegion *r, const AlgNode *n) {
  const AlgRegion *from = n->body;
  AlgRegion *body = NEW(x->arena, AlgRegion);
  Placement all = everywhere(), home;
  *body = (AlgRegion){.parent = r,
      .depth = from->depth,
      .turn = from->turn,
      .bound = brought(x, from->bound, &all),
      .turns = from->turns};
  vec_each(const AlgState, s, from->states) {
    home = home_of(x, s->node);
    vec_push(x->arena, body->states, ((AlgState){NULL, brought(x, s->init, &home), NULL}));
  }
  AlgNode *y = again(x, r, n, n->operand, &all);
  r->nodes.len--;
  y->body = body;
  body->repeat = y;
  x->is[n->id] = y;
  region_make(x, body, from);
  for (uint32_t i = 0; i < from->states.len; i++) {
    home = home_of(x, from->states.at[i].node);
    body->states.at[i].next = brought(x, from->states.at[i].next, &home);
  }
  if (from->stop) body->stop = brought(x, from->stop, &all);
  vec_each(const AlgStack, s, from->stacks)
    vec_push(x->arena, body->stacks, ((AlgStack){s->name, x->is[s->node->id], s->axis}));
  vec_push(x->arena, r->nodes, y); /* after the moves that its turns need before it */
  return y;
}

static AlgNode *state_make(Placer *x, AlgRegion *r, const AlgNode *n) {
  Placement home = home_of(x, n);
  AlgNode *y = again(x, r, n, n->operand, &home);
  y->repeat = r->repeat;
  r->states.at[n->index].node = y;
  return y;
}

static AlgNode *result_make(Placer *x, AlgRegion *r, const AlgNode *n) {
  const AlgRegion *body = x->is[n->repeat->id]->body;
  Placement at = everywhere();
  if (n->kind == ALG_FINAL) at = body->states.at[n->index].node->at;
  if (n->kind == ALG_STACK) at = body->stacks.at[n->index].node->at;
  AlgNode *y = again(x, r, n, n->operand, &at);
  y->repeat = body->repeat;
  return y;
}

static AlgNode *node_make(Placer *x, AlgRegion *r, const AlgNode *n) {
  switch (n->kind) {
  case ALG_INPUT: return input_make(x, n);
  case ALG_JOIN: case ALG_AGGREGATE: case ALG_MAP: case ALG_FILTER: return vertex_make(x, r, n);
  case ALG_REPEAT: return repeat_make(x, r, n);
  case ALG_STATE: return state_make(x, r, n);
  case ALG_FINAL: case ALG_STACK: case ALG_TURNS: return result_make(x, r, n);
  case ALG_MOVE: case ALG_FETCH: break;
  }
  bug("a program over relations that are nowhere has moves");
}

static void region_make(Placer *x, AlgRegion *r, const AlgRegion *from) {
  vec_each_of(const AlgNode, n, from->nodes)
    if (x->keys->part->needed[x->keys->node[n->id]->id]) x->is[n->id] = node_make(x, r, n);
}

Algebra *ia_from_tra(Arena *a, const KeyGraph *k, const Cutting *c) {
  const Algebra *tra = k->tra;
  Placer x = {.p = algebra_new(a, tra->strings, tra->exprs), .arena = a, .keys = k, .cut = c};
  x.p->placed = true;
  x.p->mesh = c->placing->mesh;
  x.p->memory = c->memory;
  x.p->room = c->placing->room;
  x.tensor = NEW_ARRAY(a, int32_t, k->graph->n_nodes + 1);
  x.is = NEW_ARRAY(a, AlgNode *, tra->n_nodes + 1);
  for (uint32_t i = 0; i < k->graph->n_nodes; i++) x.tensor[i] = -1;
  for (uint32_t i = 0; i < c->places->tensors.len; i++) x.tensor[c->places->tensors.at[i].node->id] = (int32_t)i;
  for (uint32_t i = 0; i < tra->monoids.len; i++) vec_push(a, x.p->monoids, tra->monoids.at[i]);
  region_make(&x, x.p->top, tra->top);
  for (uint32_t i = 0; i < tra->outputs.len; i++) {
    AlgOutput o = tra->outputs.at[i];
    o.node = x.is[o.node->id];
    vec_push(a, x.p->outputs, o);
  }
  for (uint32_t i = 0; i < tra->asserts.len; i++) {
    AlgAssert s = tra->asserts.at[i];
    s.node = x.is[s.node->id];
    vec_push(a, x.p->asserts, s);
  }
  return x.p;
}
