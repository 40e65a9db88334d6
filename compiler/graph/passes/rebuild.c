/* graph/passes/rebuild.c - rebuilds a graph with a pass's changes: see rebuild.h. */
#include "rebuild.h"

/* ---- notes ----------------------------------------------------------------------------------- */

void rebuild_note(Rebuild *b, const char *what, Place place) {
  if (!b->notes) return;
  if (b->notes->all.len) {
    PassNote *last = &vec_last(b->notes->all);
    if (last->pass == b->pass && last->what == what && last->place.file == place.file &&
        last->place.line == place.line && last->place.column == place.column) {
      last->count++;
      return;
    }
  }
  vec_push(b->notes->arena, b->notes->all, ((PassNote){b->pass, what, 1, place}));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

EinNode *rebuild_to(const Rebuild *b, const EinNode *old) {
  BUG_UNLESS(old->id < b->old->n_nodes && b->to[old->id]);
  return b->to[old->id];
}

static EinNode *to_or_null(const Rebuild *b, const EinNode *old) {
  return old ? rebuild_to(b, old) : NULL;
}

const Monoid *rebuild_monoid(Rebuild *b, const Monoid *m) {
  return m ? graph_monoid(b->g, m) : NULL;
}

EinNode *rebuild_vertex(Rebuild *b, EinRegion *r, const EinNode *n, EinSum *s, const Expr *const *bound,
                        const Str *label, EinNode *const *input) {
  s->monoid = rebuild_monoid(b, s->monoid);
  EinNode **slots = graph_canonical_slots(b->g, s, input);
  EinNode *made = graph_vertex(b->g, r, s, bound, label, n->rank, n->merge, slots);
  made->name = n->name;
  made->place = n->place;
  return made;
}

EinNode *rebuild_part(Rebuild *b, EinRegion *r, const EinNode *n, EinSum *s, const Expr *const *bound, const Str *label,
                      EinNode *const *input) {
  s->monoid = rebuild_monoid(b, s->monoid);
  EinNode **slots = graph_canonical_slots(b->g, s, input);
  EinNode *made = graph_vertex(b->g, r, s, bound, label, s->n_out, NULL, slots);
  made->place = n->place;
  return made;
}

/* Two inputs that were merged may make two slots equal; otherwise the operation is unchanged. */
static bool slots_met(const EinNode *n, EinNode *const *input) {
  for (uint32_t i = 0; i < n->sum->n_slot; i++) {
    if (input[i]->mark && input[i]->mark != n->input[i]) return true;
    input[i]->mark = n->input[i];
  }
  return false;
}

/* Makes a plain copy of a tensor. */
static EinNode *copy_of(Rebuild *b, EinRegion *r, EinNode *of, Place place) {
  const Expr **at = NEW_ARRAY(b->arena, const Expr *, of->rank + 1);
  Str *label = NEW_ARRAY(b->arena, Str, of->rank + 1);
  for (uint32_t k = 0; k < of->rank; k++) {
    at[k] = expr_label(b->g->exprs, k);
    label[k] = strings_printf(b->g->strings, "i%u", k + 1);
  }
  EinSum s = {.n_out = of->rank,
      .n_slot = 1,
      .acc = of->dtype,
      .dtype = of->dtype,
      .body = expr_read(b->g->exprs, of->dtype, 0, of->rank, at)};
  EinNode *made = graph_vertex(b->g, r, graph_sum(b->g, &s), of->dim, label, of->rank, NULL, &of);
  made->place = place;
  return made;
}

/* A C function keeps its number of operands: if several were merged, the others become copies. */
static void slots_apart(Rebuild *b, EinRegion *r, const EinNode *n, EinNode **input) {
  for (uint32_t i = 0; i < n->sum->n_slot; i++)
    for (uint32_t k = 0; k < i; k++)
      if (input[k] == input[i] && n->input[k] != n->input[i]) input[i] = copy_of(b, r, input[i], n->place);
}

EinNode **rebuild_inputs(const Rebuild *b, const EinNode *n, uint32_t more) {
  EinNode **input = NEW_ARRAY(b->arena, EinNode *, n->sum->n_slot + more + 1);
  for (uint32_t i = 0; i < n->sum->n_slot; i++) input[i] = rebuild_to(b, n->input[i]);
  return input;
}

EinNode *rebuild_copy(Rebuild *b, EinRegion *r, const EinNode *n) {
  EinSum s = *n->sum;
  EinNode **input = rebuild_inputs(b, n, 0);
  if (s.by) slots_apart(b, r, n, input);
  bool met = slots_met(n, input);
  for (uint32_t i = 0; i < s.n_slot; i++) input[i]->mark = NULL;
  if (met) return rebuild_vertex(b, r, n, &s, n->bound, n->label, input);
  s.monoid = rebuild_monoid(b, s.monoid);
  EinNode *made = graph_vertex(b->g, r, &s, n->bound, n->label, n->rank, n->merge, input);
  made->name = n->name;
  made->place = n->place;
  return made;
}

static EinNode *input_again(Rebuild *b, const EinNode *n) {
  EinNode *made = graph_input(b->g, n->name, n->dtype, n->rank, n->dim, n->param);
  made->fallback = to_or_null(b, n->fallback);
  return made;
}

static EinNode *state_again(Rebuild *b, EinRegion *r, const EinNode *n) {
  const EinState *s = &n->region->states.at[n->index];
  vec_push(b->arena, r->states, ((EinState){.init = rebuild_to(b, s->init)}));
  EinNode *made = graph_state(b->g, r, n->name, n->dtype, n->rank, n->dim);
  vec_last(r->states).node = made;
  return made;
}

static EinNode *result_again(Rebuild *b, EinRegion *r, const EinNode *n) {
  EinNode *loop = rebuild_to(b, n->repeat);
  uint32_t index = 0;
  if (n->kind == EIN_FINAL) index = rebuild_to(b, n->repeat->body->states.at[n->index].node)->index;
  if (n->kind == EIN_STACK) {
    const uint32_t *at = map_find(&b->stacks, &n->repeat->body->stacks.at[n->index]);
    BUG_UNLESS(at);
    index = *at;
  }
  return graph_result(b->g, r, n->kind, loop, index);
}

static void region_again(Rebuild *b, EinRegion *r, const EinRegion *old);

/* ---- repeats --------------------------------------------------------------------------------- */

static void stacks_again(Rebuild *b, EinRegion *r, const EinRegion *old) {
  vec_each(const EinStack, s, old->stacks) {
    if (b->rules->keep_stack && !b->rules->keep_stack(b->env, s)) continue;
    map_put(&b->stacks, s, arena_copy(b->arena, &r->stacks.len, sizeof r->stacks.len));
    vec_push(b->arena, r->stacks, ((EinStack){s->name, rebuild_to(b, s->node), s->axis}));
  }
}

static EinNode *repeat_again(Rebuild *b, EinRegion *r, const EinNode *n) {
  const EinRegion *old = n->body;
  EinNode *made = graph_repeat(b->g, r, old->turn);
  EinRegion *body = made->body;
  body->bound = rebuild_to(b, old->bound);
  body->turns = old->turns;
  made->name = n->name;
  made->place = n->place;
  b->to[n->id] = made;
  region_again(b, body, old);
  for (uint32_t i = 0; i < old->states.len; i++) {
    const EinNode *s = b->to[old->states.at[i].node->id];
    if (s) body->states.at[s->index].next = rebuild_to(b, old->states.at[i].next);
  }
  body->stop = to_or_null(b, old->stop);
  stacks_again(b, body, old);
  return made;
}

static EinNode *node_again(Rebuild *b, EinRegion *r, const EinNode *n) {
  switch (n->kind) {
  case EIN_INPUT: return input_again(b, n);
  case EIN_VERTEX: return b->rules->vertex && !n->sum->by ? b->rules->vertex(b->env, b, r, n) : rebuild_copy(b, r, n);
  case EIN_REPEAT: return repeat_again(b, r, n);
  case EIN_STATE: return state_again(b, r, n);
  case EIN_FINAL: case EIN_STACK: case EIN_TURNS: return result_again(b, r, n);
  }
  bug("rebuild: node %%%u has no kind", n->id);
}

void rebuild_node(Rebuild *b, EinRegion *r, const EinNode *n) {
  EinNode *made = node_again(b, r, n);
  if (n->kind != EIN_VERTEX) {
    made->name = n->name;
    made->place = n->place;
  }
  b->to[n->id] = made;
}

static void region_again(Rebuild *b, EinRegion *r, const EinRegion *old) {
  if (b->rules->enter) b->rules->enter(b->env, r);
  vec_each_of(const EinNode, n, old->nodes)
    if (!b->rules->keep || b->rules->keep(b->env, n)) rebuild_node(b, r, n);
  if (b->rules->leave) b->rules->leave(b->env, r);
}

/* ---- the graph ------------------------------------------------------------------------------- */

EinGraph *rebuild(Rebuild *b, Arena *a, const EinGraph *g, const RebuildRules *rules, void *env) {
  b->arena = a;
  b->old = g;
  b->g = graph_new(a, g->strings, g->exprs);
  b->to = NEW_ARRAY(a, EinNode *, g->n_nodes + 1);
  b->stacks = map_new(a);
  b->rules = rules;
  b->env = env;
  for (uint32_t i = 0; i < g->dims.len; i++) vec_push(a, b->g->dims, g->dims.at[i]);
  for (uint32_t i = 0; i < g->monoids.len; i++) graph_monoid(b->g, g->monoids.at[i]);
  region_again(b, b->g->top, g->top);
  for (uint32_t i = 0; i < g->outputs.len; i++)
    vec_push(a, b->g->outputs, ((EinOutput){g->outputs.at[i].name, rebuild_to(b, g->outputs.at[i].node)}));
  vec_each(const EinAssert, t, g->asserts)
    vec_push(a, b->g->asserts, ((EinAssert){rebuild_to(b, t->node), t->text, t->place}));
  for (uint32_t i = 0; i < g->checks.len; i++) vec_push(a, b->g->checks, g->checks.at[i]);
  return b->g;
}

EinGraph *rebuild_free(Rebuild *b, Arena *a, const EinGraph *g, const RebuildRules *rules, void *env, Arena *scratch) {
  EinGraph *made = rebuild(b, a, g, rules, env);
  arena_free(scratch);
  return made;
}

/* ---- what uses a node ------------------------------------------------------------------------- */

static void show(bool *shown, const EinNode *n) {
  if (n) shown[n->id] = true;
}

static void show_region(bool *shown, const EinRegion *r) {
  for (uint32_t i = 0; region_use(r, i); i++) show(shown, region_use(r, i));
  for (uint32_t i = 0; i < r->nodes.len; i++)
    if (r->nodes.at[i]->kind == EIN_REPEAT) show_region(shown, r->nodes.at[i]->body);
}

/* A C function gets its arguments, and makes its results, as they were written. */
static void show_given(bool *shown, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) show_given(shown, n->body);
    if (n->kind != EIN_VERTEX || !n->sum->by) continue;
    show(shown, n);
    for (uint32_t k = 0; k < n->sum->n_slot; k++) show(shown, n->input[k]);
  }
}

bool *nodes_given(Arena *a, const EinGraph *g) {
  bool *given = NEW_ARRAY(a, bool, g->n_nodes + 1);
  show_given(given, g->top);
  return given;
}

static void use_region(uint32_t *used, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    for (uint32_t k = 0; n->kind == EIN_VERTEX && k < n->sum->n_slot; k++) used[n->input[k]->id]++;
    if (n->kind == EIN_REPEAT) use_region(used, n->body);
  }
}

uint32_t *nodes_used(Arena *a, const EinGraph *g) {
  uint32_t *used = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
  use_region(used, g->top);
  return used;
}

bool *nodes_shown(Arena *a, const EinGraph *g) {
  bool *shown = nodes_given(a, g);
  for (uint32_t i = 0; i < g->inputs.len; i++) show(shown, g->inputs.at[i]->fallback);
  for (uint32_t i = 0; i < g->outputs.len; i++) show(shown, g->outputs.at[i].node);
  for (uint32_t i = 0; i < g->asserts.len; i++) show(shown, g->asserts.at[i].node);
  show_region(shown, g->top);
  return shown;
}
