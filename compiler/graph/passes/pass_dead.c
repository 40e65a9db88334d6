/* graph/passes/pass_dead.c - removes what nothing needs: vertices, states, stacks and repeats, backwards from the
 * graph's outputs and asserts. A needed repeat needs its bound and its stop; a state of it needs its init and its
 * next only if somebody needs the state. Inputs are the program's interface and stay, with their defaults; but where
 * values that were outputs are given, only what the others need is left, inputs included. */
#include "rebuild.h"

typedef struct Dead {
  Rebuild b;
  bool *needed;              /* by id */
  Map stacks;                /* EinStack to anything: needed */
  VEC(const EinNode *) todo;
} Dead;

static void need(Dead *d, const EinNode *n) {
  if (!n || d->needed[n->id]) return;
  d->needed[n->id] = true;
  vec_push(d->b.arena, d->todo, n);
}

static void need_result(Dead *d, const EinNode *n) {
  need(d, n->repeat);
  const EinRegion *body = n->repeat->body;
  if (n->kind == EIN_FINAL) need(d, body->states.at[n->index].node);
  if (n->kind == EIN_STACK) {
    EinStack *s = &body->stacks.at[n->index];
    map_put(&d->stacks, s, s);
    need(d, s->node);
  }
}

static void need_operands(Dead *d, const EinNode *n) {
  switch (n->kind) {
  case EIN_INPUT: need(d, n->fallback); return;
  case EIN_VERTEX:
    for (uint32_t k = 0; k < n->sum->n_slot; k++) need(d, n->input[k]);
    return;
  case EIN_REPEAT:
    need(d, n->body->bound);
    need(d, n->body->stop);
    return;
  case EIN_STATE:
    need(d, n->repeat);
    need(d, n->region->states.at[n->index].init);
    need(d, n->region->states.at[n->index].next);
    return;
  case EIN_FINAL: case EIN_STACK: case EIN_TURNS: need_result(d, n); return;
  }
}

static bool is_needed(void *env, const EinNode *n) {
  Dead *d = env;
  if (d->needed[n->id]) return true;
  static const char *const what[] = {
      [EIN_INPUT] = "inputs dropped", [EIN_VERTEX] = "vertices dropped", [EIN_REPEAT] = "repeats dropped",
      [EIN_STATE] = "states dropped", [EIN_FINAL] = "results dropped",   [EIN_STACK] = "results dropped",
      [EIN_TURNS] = "results dropped"};
  rebuild_note(&d->b, what[n->kind], n->place);
  return false;
}

static bool stack_needed(void *env, const EinStack *s) {
  Dead *d = env;
  if (map_find(&d->stacks, s)) return true;
  rebuild_note(&d->b, "stacks dropped", s->node->place);
  return false;
}

static EinGraph *without_dead(Arena *a, const EinGraph *g, bool inputs_too, PassNotes *notes) {
  static const RebuildRules rules = {.keep = is_needed, .keep_stack = stack_needed};
  Dead d = {.b = {.arena = a, .pass = "dead", .notes = notes}, .stacks = map_new(a)};
  d.needed = NEW_ARRAY(a, bool, g->n_nodes + 1);
  for (uint32_t i = 0; !inputs_too && i < g->inputs.len; i++) need(&d, g->inputs.at[i]);
  for (uint32_t i = 0; i < g->outputs.len; i++) need(&d, g->outputs.at[i].node);
  for (uint32_t i = 0; i < g->asserts.len; i++) need(&d, g->asserts.at[i].node);
  while (d.todo.len) need_operands(&d, vec_pop(d.todo));
  return rebuild(&d.b, a, g, &rules, &d);
}

EinGraph *graph_dead(Arena *a, const EinGraph *g, PassNotes *notes) {
  return without_dead(a, g, false, notes);
}

static void input_make(EinGraph *g, const EinOutput *o) {
  EinNode *n = o->node;
  if (n->kind == EIN_INPUT) return;
  *n = (EinNode){.kind = EIN_INPUT,
      .id = n->id,
      .region = n->region,
      .name = o->name,
      .place = n->place,
      .dtype = n->dtype,
      .rank = n->rank,
      .dim = n->dim};
  vec_push(g->arena, g->inputs, n);
}

EinGraph *graph_given(Arena *a, EinGraph *g, bool (*given)(void *ctx, Str output), void *ctx) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < g->outputs.len; i++)
    if (given(ctx, g->outputs.at[i].name)) input_make(g, &g->outputs.at[i]);
    else g->outputs.at[left++] = g->outputs.at[i];
  g->outputs.len = left;
  return without_dead(a, g, true, NULL);
}
