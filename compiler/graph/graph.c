/* graph/graph.c - builds an EinGraph: puts nodes into regions, and interns EinSums and monoids, so that equal
 * operations of one graph are one pointer. Shapes are kept in normal form. */
#include <string.h>

#include "inside.h"

EinGraph *graph_new(Arena *a, Strings *t, Exprs *p) {
  return MAKE(a, EinGraph, .arena = a, .strings = t, .exprs = p, .sums = map_new(a), .top = NEW(a, EinRegion));
}

uint32_t region_level(const EinRegion *r) {
  return r->parent ? r->depth + 1 : 0;
}

/* ---- interning: a map from hash to the chain of what has it ---------------------------------- */

typedef struct SumLink {
  EinSum sum;
  struct SumLink *next;
} SumLink;

static const void *hash_key(uint32_t h) {
  return (const void *)((uintptr_t)h + 1);
}

const EinSum *sum_find(const EinGraph *g, const EinSum *s) {
  for (const SumLink *l = map_find(&g->sums, hash_key(sum_hash(s))); l; l = l->next)
    if (sum_same(&l->sum, s)) return &l->sum;
  return NULL;
}

const EinSum *graph_sum(EinGraph *g, const EinSum *s) {
  const EinSum *have = sum_find(g, s);
  if (have) return have;
  SumLink *l = NEW(g->arena, SumLink);
  l->sum = *s;
  l->sum.hash = sum_hash(s);
  l->next = map_find(&g->sums, hash_key(l->sum.hash));
  map_put(&g->sums, hash_key(l->sum.hash), l);
  return &l->sum;
}

const Monoid *graph_monoid(EinGraph *g, const Monoid *m) {
  vec_each_of(const Monoid, x, g->monoids) {
    if (x->name == m->name && x->dtype == m->dtype && x->combine == m->combine &&
        x->identity == m->identity)
      return x;
  }
  Monoid *x = arena_copy(g->arena, m, sizeof *m);
  vec_push(g->arena, g->monoids, x);
  return x;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const Expr **extents_copy(EinGraph *g, uint32_t n, const Expr *const *e) {
  const Expr **to = NEW_ARRAY(g->arena, const Expr *, n);
  for (uint32_t i = 0; i < n; i++) to[i] = extent_normal(g->exprs, e[i]);
  return to;
}

bool repeat_is_once(Str turn) { return strcmp(turn->s, GRAPH_ONCE) == 0; }

bool graph_repeats(const EinGraph *g) {
  vec_each_of(const EinNode, n, g->top->nodes)
    if (n->kind == EIN_REPEAT && !repeat_is_once(n->body->turn)) return true;
  return false;
}

EinNode *region_use(const EinRegion *r, uint32_t i) {
  if (!i--) return r->bound;
  if (i < 2 * r->states.len) return i % 2 ? r->states.at[i / 2].next : r->states.at[i / 2].init;
  i -= 2 * r->states.len;
  return i < r->stacks.len ? r->stacks.at[i].node : i == r->stacks.len ? r->stop : NULL;
}

static EinNode *node_new(EinGraph *g, EinRegion *r, EinKind kind, Str name, DType t) {
  EinNode *n = MAKE(g->arena, EinNode, .kind = kind, .id = g->n_nodes++, .region = r, .name = name, .dtype = t);
  vec_push(g->arena, r->nodes, n);
  return n;
}

const EinNode *graph_input_find(const EinGraph *g, Str name) {
  for (uint32_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.at[i]->name == name) return g->inputs.at[i];
  return NULL;
}

const EinOutput *graph_output_find(const EinGraph *g, Str name) {
  for (uint32_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i].name == name) return &g->outputs.at[i];
  return NULL;
}

const EinNode *graph_labelled(const EinNode *n, uint32_t *axis) {
  for (;;) {
    if (n->kind == EIN_FINAL) n = n->repeat->body->states.at[n->index].init;
    else if (n->kind == EIN_STATE) n = n->region->states.at[n->index].init;
    else if (n->kind == EIN_INPUT && n->fallback) n = n->fallback;
    else if (n->kind != EIN_STACK) return n;
    else {
      const EinStack *k = &n->repeat->body->stacks.at[n->index];
      if (*axis == k->axis) return n;
      *axis -= *axis > k->axis;
      n = k->node;
    }
  }
}

EinNode *graph_input(EinGraph *g, Str name, DType t, uint32_t rank, const Expr *const *dim,
                     bool param) {
  EinNode *n = node_new(g, g->top, EIN_INPUT, name, t);
  n->rank = rank;
  n->dim = extents_copy(g, rank, dim);
  n->param = param;
  vec_push(g->arena, g->inputs, n);
  return n;
}

/* The shape that bounds and merges make. */
static const Expr **merged_shape(EinGraph *g, uint32_t rank, const uint8_t *merge,
                                 const Expr *const *bound) {
  const Expr **dim = NEW_ARRAY(g->arena, const Expr *, rank);
  for (uint32_t k = 0, l = 0; k < rank; l += merge[k], k++) {
    dim[k] = bound[l];
    for (uint32_t j = 1; j < merge[k]; j++)
      dim[k] = expr_op2(g->exprs, OP_MUL, dim[k], bound[l + j]);
    dim[k] = extent_normal(g->exprs, dim[k]);
  }
  return dim;
}

EinNode *graph_vertex(EinGraph *g, EinRegion *r, const EinSum *s, const Expr *const *bound,
                      const Str *label, uint32_t rank, const uint8_t *merge,
                      EinNode *const *input) {
  EinNode *n = node_new(g, r, EIN_VERTEX, NULL, s->dtype);
  uint32_t labels = s->n_out + s->n_red;
  n->sum = graph_sum(g, s);
  n->bound = extents_copy(g, labels, bound);
  n->label = arena_copy(g->arena, label, labels * sizeof *label);
  n->rank = merge ? rank : s->n_out;
  n->merge = NEW_ARRAY(g->arena, uint8_t, n->rank);
  for (uint32_t k = 0; k < n->rank; k++) n->merge[k] = merge ? merge[k] : 1;
  n->input = arena_copy(g->arena, input, s->n_slot * sizeof *input);
  n->dim = merged_shape(g, n->rank, n->merge, n->bound);
  return n;
}

EinNode *graph_repeat(EinGraph *g, EinRegion *r, Str turn) {
  EinNode *n = node_new(g, r, EIN_REPEAT, NULL, DT_I64);
  n->body = NEW(g->arena, EinRegion);
  n->body->parent = r;
  n->body->repeat = n;
  n->body->depth = region_level(r);
  n->body->turn = turn;
  return n;
}

EinNode *graph_state(EinGraph *g, EinRegion *body, Str name, DType t, uint32_t rank,
                     const Expr *const *dim) {
  EinNode *n = node_new(g, body, EIN_STATE, name, t);
  n->rank = rank;
  n->dim = extents_copy(g, rank, dim);
  n->repeat = body->repeat;
  bool pushed = body->states.len && !vec_last(body->states).node;
  n->index = body->states.len - pushed;
  return n;
}

/* Inserts the turns into the shape of one turn's value, at the axis. */
static void stack_shape(EinGraph *g, EinNode *n, const EinStack *s, const Expr *turns) {
  BUG_UNLESS(turns && s->axis <= s->node->rank);
  n->rank = s->node->rank + 1;
  n->dim = NEW_ARRAY(g->arena, const Expr *, n->rank);
  for (uint32_t k = 0; k < n->rank; k++)
    n->dim[k] =
        k == s->axis ? extent_normal(g->exprs, turns) : s->node->dim[k < s->axis ? k : k - 1];
}

EinNode *graph_result(EinGraph *g, EinRegion *r, EinKind kind, EinNode *repeat, uint32_t index) {
  BUG_UNLESS(repeat->kind == EIN_REPEAT);
  EinRegion *body = repeat->body;
  EinNode *n = node_new(g, r, kind, body->turn, DT_I64);
  n->repeat = repeat;
  n->index = index;
  if (kind == EIN_FINAL) {
    BUG_UNLESS(index < body->states.len);
    const EinNode *of = body->states.at[index].node;
    n->name = of->name;
    n->dtype = of->dtype;
    n->rank = of->rank;
    n->dim = extents_copy(g, of->rank, of->dim);
  } else if (kind == EIN_STACK) {
    BUG_UNLESS(index < body->stacks.len);
    n->name = body->stacks.at[index].name;
    n->dtype = body->stacks.at[index].node->dtype;
    stack_shape(g, n, &body->stacks.at[index], body->turns);
  } else {
    BUG_UNLESS(kind == EIN_TURNS);
  }
  return n;
}

/* ---- canonical slots ------------------------------------------------------------------------- */

static uint64_t id_of_input(void *ctx, uint32_t slot) {
  EinNode *const *input = ctx;
  return input[slot]->id;
}

EinNode **graph_canonical_slots(EinGraph *g, EinSum *s, EinNode *const *input) {
  const uint32_t *from =
      sum_canonical_slots(g->arena, g->exprs, s, id_of_input, (void *)(uintptr_t)input);
  EinNode **to = NEW_ARRAY(g->arena, EinNode *, s->n_slot);
  for (uint32_t i = 0; i < s->n_slot; i++) to[i] = input[from[i]];
  return to;
}
