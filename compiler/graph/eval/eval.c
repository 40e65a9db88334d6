/* graph/eval/eval.c - the reference evaluator: runs any EinGraph by plain loops, slowly.
 *
 * In: a graph that passes graph_check, sizes, and input arrays; out: the outputs' arrays. Computes only what an
 * output or an assert needs, in the graph's order: first what the asserts need, then tests them, then computes the
 * rest. Frees a buffer of the program's own region after its last user. */
#include "eval_inside.h"

#include <stdlib.h>

enum { TICKS = 1 << 16 };

/* ---- complaints ------------------------------------------------------------------------------ */

bool eval_fail(Run *r, EvalStatus s, Place at, const char *fmt, ...) {
  if (r->status != EVAL_OK) return false;
  Buf b = buf_new(r->eval->arena);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  if (at.file) buf_printf(&b, " (%s:%u:%u)", at.file->s, at.line, at.column);
  r->status = s;
  r->error = b.s;
  r->place = at;
  return false;
}

bool eval_ask(Run *r) {
  r->ticks = TICKS;
  if (!r->eval->keep_going || r->eval->keep_going(r->eval->ctx)) return true;
  return eval_fail(r, EVAL_STOPPED, (Place){0}, "stopped");
}

const char *node_name(Run *r, const EinNode *n) {
  return n->name && n->name->len ? n->name->s : arena_printf(r->arena, "%%%u", n->id);
}

bool scalar_get(Run *r, const EinNode *n, const EinNode *user, Cell *out) {
  const EvalArray *a = &held_of(r, n)->array;
  BUG_UNLESS(a->data && a->rank == 0);
  if (a->has && !a->has[0]) return eval_fail(r, EVAL_RANGE, user->place, "%s has no value", node_name(r, n));
  *out = cell_load(a->data, a->dtype, 0);
  return true;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static const EvalArray *input_given(const Run *r, const EinNode *n) {
  for (uint32_t i = 0; i < r->eval->n_input; i++)
    if (str_same(r->eval->input[i].name, n->name)) return &r->eval->input[i].array;
  return NULL;
}

static bool input_fits(Run *r, const EinNode *n, const EvalArray *x) {
  const EvalArray *want = &held_of(r, n)->array;
  const char *name = node_name(r, n);
  if (x->dtype != want->dtype)
    return eval_fail(r, EVAL_SHAPE, n->place, "input %s is declared %s, given is %s", name, dtype_name(want->dtype),
                     dtype_name(x->dtype));
  if (x->rank != want->rank)
    return eval_fail(r, EVAL_SHAPE, n->place, "input %s is declared with shape %s, given is %s", name,
                     shape_text(r, want->rank, want->shape), shape_text(r, x->rank, x->shape));
  for (uint32_t d = 0; d < x->rank; d++) {
    const Expr *e = n->dim[d];
    if (x->shape[d] == want->shape[d]) continue;
    return eval_fail(r, EVAL_SHAPE, n->place, "dimension %u of input %s is declared %s%s%lld, given is %lld", d + 1,
        name, e->kind == EX_DIM ? e->name->s : "", e->kind == EX_DIM ? " = " : "", (long long)want->shape[d],
        (long long)x->shape[d]);
  }
  return true;
}

/* Every input is checked before anything is computed, whether given or not. */
static bool inputs_check(Run *r) {
  vec_each_of(const EinNode, n, r->graph->inputs) {
    const EvalArray *x = input_given(r, n);
    if (!x && !n->fallback)
      return eval_fail(r, EVAL_MISSING, n->place, "input %s is not given and has no default", node_name(r, n));
    if (x && (!size_of_node(r, n) || !input_fits(r, n, x))) return false;
    if (x) r->live += x->count * (int64_t)cell_size(x->dtype);
  }
  return true;
}

/* Uses the array that was given, or its default's. */
static bool input_run(Run *r, const EinNode *n) {
  Held *h = held_of(r, n);
  const EvalArray *x = input_given(r, n);
  if (!size_of_node(r, n)) return false;
  if (!x) x = &held_of(r, n->fallback)->array;
  if (!x->data) { /* an empty array may be given in this form */
    BUG_UNLESS(h->array.count == 0);
    return held_room(r, n, h);
  }
  h->array.data = x->data;
  h->array.has = x->has;
  return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

bool node_run(Run *r, const EinNode *n) {
  switch (n->kind) {
  case EIN_INPUT: return input_run(r, n);
  case EIN_VERTEX: return vertex_run(r, n);
  case EIN_REPEAT: return loop_run(r, n);
  case EIN_STATE: return true;
  case EIN_FINAL: case EIN_STACK: case EIN_TURNS: return loop_result(r, n);
  }
  bug("eval: node %%%u has no kind", n->id);
}

/* Runs the program's own nodes, in order; early: only those that the asserts need. */
static bool nodes_run(Run *r, bool early) {
  const EinRegion *top = r->graph->top;
  for (uint32_t i = 0; i < top->nodes.len; i++) {
    Held *h = held_of(r, top->nodes.at[i]);
    if (!h->done && (early ? h->early : h->needed)) {
      if (!node_run(r, top->nodes.at[i])) return false;
      h->done = true;
    }
    if (early) continue;
    for (Held *d = h->drops; d; d = d->drop) held_drop(r, d);
  }
  return true;
}

/* ---- needed nodes ---------------------------------------------------------------------------- */

typedef struct Need {
  Run *run;
  bool early;
  VEC(const EinNode *) stack;
} Need;

static const EinNode *in_program(const Run *r, const EinNode *n) {
  while (n->region != r->graph->top) n = n->region->repeat;
  return n;
}

static void need(Need *s, const EinNode *user, const EinNode *n) {
  Run *r = s->run;
  Held *h = held_of(r, n);
  if (n->region == r->graph->top && user) {
    uint32_t at = held_of(r, in_program(r, user))->at;
    if (at > h->last) h->last = at;
  }
  if (h->needed && (h->early || !s->early)) return;
  h->needed = true;
  h->early |= s->early;
  vec_push(r->arena, s->stack, n);
}

static void need_of_repeat(Need *s, const EinNode *n) {
  const EinRegion *g = n->body;
  need(s, n, g->bound);
  if (g->stop) need(s, n, g->stop);
  for (uint32_t i = 0; i < g->states.len; i++) {
    need(s, n, g->states.at[i].init);
    need(s, n, g->states.at[i].next);
  }
  for (uint32_t i = 0; i < g->stacks.len; i++) need(s, n, g->stacks.at[i].node);
}

static void need_operands(Need *s, const EinNode *n) {
  switch (n->kind) {
  case EIN_INPUT:
    if (!n->fallback || input_given(s->run, n)) return;
    need(s, n, n->fallback);
    held_of(s->run, n->fallback)->last = UINT32_MAX; /* the input's array shares its buffer */
    return;
  case EIN_VERTEX:
    for (uint32_t k = 0; k < n->sum->n_slot; k++) need(s, n, n->input[k]);
    return;
  case EIN_REPEAT: need_of_repeat(s, n); return;
  case EIN_STATE: case EIN_FINAL: case EIN_STACK: case EIN_TURNS: need(s, n, n->repeat); return;
  }
}

static void need_all(Run *r) {
  const EinGraph *g = r->graph;
  Need s = {.run = r, .early = true};
  for (uint32_t i = 0; i < g->top->nodes.len; i++) held_of(r, g->top->nodes.at[i])->at = i;
  for (uint32_t i = 0; i < g->asserts.len; i++) {
    need(&s, NULL, g->asserts.at[i].node);
    held_of(r, g->asserts.at[i].node)->last = UINT32_MAX;
  }
  while (s.stack.len) need_operands(&s, vec_pop(s.stack));
  s.early = false;
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    Held *h = held_of(r, g->outputs.at[i].node);
    need(&s, NULL, g->outputs.at[i].node);
    h->last = UINT32_MAX;
    h->lasting = g->outputs.at[i].node->kind == EIN_VERTEX;
  }
  while (s.stack.len) need_operands(&s, vec_pop(s.stack));
  for (uint32_t i = 0; i < g->top->nodes.len; i++) {
    Held *h = held_of(r, g->top->nodes.at[i]);
    if (!h->needed || h->last >= g->top->nodes.len) continue;
    Held *user = held_of(r, g->top->nodes.at[h->last]);
    h->drop = user->drops;
    user->drops = h;
  }
}

/* ---- sizes and asserts ----------------------------------------------------------------------- */

static bool dims_check(Run *r) {
  for (uint32_t i = 0; i < r->graph->dims.len; i++) {
    int64_t x;
    Str name = r->graph->dims.at[i].name;
    if (!dim_find(r, name, &x)) return eval_fail(r, EVAL_MISSING, (Place){0}, "no size is given for %s", name->s);
    if (x < 0) return eval_fail(r, EVAL_SHAPE, (Place){0}, "dim %s is %lld, less than 0", name->s, (long long)x);
  }
  for (uint32_t i = 0; i < r->graph->checks.len; i++) {
    const DimCheck *c = &r->graph->checks.at[i];
    Cell x;
    if (!size_value(r, c->cond, c->place, "a size that is to be checked", &x)) return false;
    if (!x.i) return eval_fail(r, EVAL_SHAPE, c->place, "%s", c->text ? c->text->s : "a check on sizes failed");
  }
  return true;
}

static bool asserts_check(Run *r) {
  const EinAssert *first = NULL;
  uint32_t failed = 0;
  for (uint32_t i = 0; i < r->graph->asserts.len; i++) {
    const EinAssert *a = &r->graph->asserts.at[i];
    Cell x;
    if (!scalar_get(r, a->node, a->node, &x)) return false;
    if (!x.i && !failed++) first = a;
  }
  if (!failed) return true;
  const char *more = failed > 1 ? arena_printf(r->arena, ", and %u more", failed - 1) : "";
  return eval_fail(r, EVAL_ASSERT, first->place, "assertion failed: %s%s", first->text ? first->text->s : "", more);
}

/* ---- entry point ----------------------------------------------------------------------------- */

/* Copies into the caller's arena what is not there yet: a given input, a state's last value. */
static void outputs_copy(Run *r) {
  Arena *a = r->eval->arena;
  uint32_t n = r->graph->outputs.len;
  r->eval->output = NEW_ARRAY(a, EvalArray, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    EvalArray *o = &r->eval->output[i];
    const Held *h = held_of(r, r->graph->outputs.at[i].node);
    *o = h->array;
    size_t count = (size_t)o->count;
    o->shape = arena_copy(a, o->shape, o->rank * sizeof(int64_t));
    if (!h->lasting) o->data = arena_copy(a, o->data, count * cell_size(o->dtype));
    if (o->has) o->has = arena_copy(a, o->has, count);
  }
}

static bool eval_all(Run *r) {
  if (!dims_check(r) || !inputs_check(r)) return false;
  need_all(r);
  if (!nodes_run(r, true) || !asserts_check(r) || !nodes_run(r, false)) return false;
  outputs_copy(r);
  return true;
}

const EvalArray *eval_input_find(const Eval *e, Str name) {
  for (uint32_t i = 0; i < e->n_input; i++)
    if (e->input[i].name == name) return &e->input[i].array;
  return NULL;
}

EvalArray *eval_output_find(const Eval *e, Str name) {
  const EinOutput *o = graph_output_find(e->graph, name);
  return o ? &e->output[o - e->graph->outputs.at] : NULL;
}

EvalStatus graph_eval(Eval *e, const char **error, Place *place) {
  Run r = {.eval = e, .graph = e->graph, .arena = arena_new(), .n_held = e->graph->n_nodes, .ticks = TICKS,
      .shake = e->shake};
  r.held = NEW_ARRAY(r.arena, Held, r.n_held + 1);
  r.turn = NEW_ARRAY(r.arena, int64_t, GRAPH_DEPTH + 1);
  e->output = NULL;
  eval_all(&r);
  for (uint32_t i = 0; i < r.n_held; i++) {
    held_drop(&r, &r.held[i]);
    if (r.held[i].loop) loop_drop(&r, r.held[i].loop);
  }
  arena_free(r.arena);
  if (error) *error = r.error;
  if (place) *place = r.place;
  return r.status;
}
