/* graph/eval/eval_loop.c - runs a repeat: its turns one after another, its states and its stacks.
 *
 * A turn computes the block's nodes in order, reads the stop condition, stores the stacked values, and copies each
 * state's next value aside; only then are all states updated together. Buffers of a turn's nodes stay with the nodes
 * and are overwritten in the next turn. */
#include <string.h>

#include "eval_inside.h"

struct Loop {
  const EinRegion *region;
  int64_t turns;             /* made so far */
  Held *spare;               /* by state: its next value */
  Held *stack;               /* one per stack */
  EvalInput *kept;           /* states, then stacks: for observers between turns */
};

void loop_drop(Run *r, Loop *l) {
  for (uint32_t i = 0; i < l->region->states.len; i++) held_drop(r, &l->spare[i]);
  for (uint32_t i = 0; i < l->region->stacks.len; i++) held_drop(r, &l->stack[i]);
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool states_start(Run *r, Loop *l) {
  for (uint32_t i = 0; i < l->region->states.len; i++) {
    const EinState *s = &l->region->states.at[i];
    Held *h = held_of(r, s->node);
    const EvalArray *init = &held_of(r, s->init)->array;
    if (!size_of_node(r, s->node)) return false;
    BUG_UNLESS(init->data && init->count == h->array.count && init->dtype == h->array.dtype);
    if (!held_copy(r, s->node, h, init)) return false;
    EvalArray as = h->array;
    as.data = l->spare[i].data;
    as.has = NULL;
    l->spare[i].array = as;
  }
  return true;
}

static void swap_held(Held *a, Held *b) {
  EvalArray array = a->array;
  void *data = a->data;
  uint8_t *mask = a->mask;
  a->array = b->array, a->data = b->data, a->mask = b->mask;
  b->array = array, b->data = data, b->mask = mask;
}

static bool states_next(Run *r, Loop *l) {
  const EinRegion *g = l->region;
  for (uint32_t i = 0; i < g->states.len; i++) {
    const EvalArray *next = &held_of(r, g->states.at[i].next)->array;
    BUG_UNLESS(next->data && next->count == l->spare[i].array.count && next->dtype == l->spare[i].array.dtype);
    if (!held_copy(r, g->states.at[i].node, &l->spare[i], next)) return false;
  }
  for (uint32_t i = 0; i < g->states.len; i++) swap_held(held_of(r, g->states.at[i].node), &l->spare[i]);
  return true;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Inserts the turns into the shape of one turn's value; NULL on failure. */
static int64_t *stack_shape(Run *r, const EinRegion *g, const EinStack *s) {
  int64_t *shape = NEW_ARRAY(r->arena, int64_t, s->node->rank + 1);
  const char *what = arena_printf(r->arena, "the number of turns in %s", s->name->s);
  Cell turns;
  BUG_UNLESS(g->turns && s->axis <= s->node->rank);
  if (!size_of_node(r, s->node) || !size_value(r, g->turns, g->repeat->place, what, &turns)) return NULL;
  if (turns.i < 0) {
    eval_fail(r, EVAL_SHAPE, g->repeat->place, "%s is %lld, less than 0", what, (long long)turns.i);
    return NULL;
  }
  const int64_t *of = held_of(r, s->node)->array.shape;
  for (uint32_t d = 0; d <= s->node->rank; d++)
    shape[d] = d == s->axis ? turns.i : of[d < s->axis ? d : d - 1];
  return shape;
}

static bool stack_start(Run *r, const EinRegion *g, const EinStack *s, Held *h) {
  EinNode as = *s->node; /* for what is said of it */
  as.name = s->name;
  if (!h->sized) {
    h->array = (EvalArray){.dtype = s->node->dtype, .rank = s->node->rank + 1, .shape = stack_shape(r, g, s)};
    if (!h->array.shape || !size_count(r, &as, &h->array)) return false;
    h->sized = true;
  }
  if (!held_room(r, &as, h)) return false;
  memset(h->data, 0, (size_t)h->array.count * cell_size(h->array.dtype));
  return true;
}

/* Stores one turn's value in pieces, since the axis of turns may be any. */
static void slice_put(char *to, const char *from, size_t size, const EvalArray *a, uint32_t axis, int64_t t) {
  size_t before = 1, after = size;
  for (uint32_t d = 0; d < axis; d++) before *= (size_t)a->shape[d];
  for (uint32_t d = axis + 1; d < a->rank; d++) after *= (size_t)a->shape[d];
  for (size_t k = 0; k < before; k++)
    memcpy(to + (k * (size_t)a->shape[axis] + (size_t)t) * after, from + k * after, after);
}

static bool stack_put(Run *r, Loop *l, const EinStack *s, Held *h) {
  const EvalArray *a = &h->array, *x = &held_of(r, s->node)->array;
  EinNode as = *s->node;
  as.name = s->name;
  if (l->turns >= a->shape[s->axis])
    return eval_fail(r, EVAL_SHAPE, l->region->repeat->place, "turn %lld does not fit in %s, which has %lld",
                     (long long)l->turns, s->name->s, (long long)a->shape[s->axis]);
  if (a->count == 0) return true;
  slice_put(h->data, x->data, cell_size(a->dtype), a, s->axis, l->turns);
  if (!x->has && !a->has) return true;
  if (!held_mask(r, &as, h)) return false;
  if (!a->has) memset(h->mask, 1, (size_t)a->count); /* all elements so far had values, and the others are 0 */
  h->array.has = h->mask;
  if (x->has) slice_put((char *)h->mask, (const char *)x->has, 1, a, s->axis, l->turns);
  return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool loop_start(Run *r, Loop *l) {
  const EinRegion *g = l->region;
  l->turns = 0;
  if (!states_start(r, l)) return false;
  for (uint32_t i = 0; i < g->stacks.len; i++)
    if (!stack_start(r, g, &g->stacks.at[i], &l->stack[i])) return false;
  return true;
}

/* Element i, if the node, or a stack of it, is the float that an observer watches. */
static void watch_put(const Run *r, const EinNode *n, Str name, const EvalArray *x, int64_t i, EvalAt *at) {
  if (n->rank || !dtype_is_float(n->dtype) || !name || strcmp(name->s, r->eval->watch) != 0 || (x->has && !x->has[i]))
    return;
  at->has = true;
  at->value = eval_real(x, i);
}

/* Reports progress to an observer. */
static void turn_tell(Run *r, const Loop *l) {
  const EinRegion *g = l->region;
  EvalAt at = {.turn = l->turns};
  if (r->eval->watch && l->turns) {
    vec_each(const EinState, s, g->states)
      watch_put(r, s->node, s->node->name, &held_of(r, s->node)->array, 0, &at);
    for (uint32_t i = 0; i < g->stacks.len; i++)
      watch_put(r, g->stacks.at[i].node, g->stacks.at[i].name, &l->stack[i].array, l->turns - 1, &at);
  }
  r->eval->at = at;
}

static bool loop_turn(Run *r, Loop *l, bool *stop) {
  const EinRegion *g = l->region;
  Cell c = {0};
  r->turn[g->depth] = l->turns;
  if (g->depth == 0) turn_tell(r, l);
  if (!eval_tick(r)) return false;
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (held_of(r, g->nodes.at[i])->needed && !node_run(r, g->nodes.at[i])) return false;
  if (g->stop && !scalar_get(r, g->stop, g->repeat, &c)) return false;
  for (uint32_t i = 0; i < g->stacks.len; i++)
    if (!stack_put(r, l, &g->stacks.at[i], &l->stack[i])) return false;
  *stop = c.i != 0;
  return states_next(r, l);
}

static bool loop_between(Run *r, Loop *l, int64_t most) {
  const EinRegion *g = l->region;
  uint32_t n = g->states.len, m = g->stacks.len;
  const char *why = "the run was ended between two turns";
  EvalBetween at = {.most = most, .turn = l->turns, .n = n + m, .kept = l->kept};
  for (uint32_t i = 0; i < n; i++)
    l->kept[i] = (EvalInput){g->states.at[i].node->name, held_of(r, g->states.at[i].node)->array};
  for (uint32_t i = 0; i < m; i++) l->kept[n + i] = (EvalInput){g->stacks.at[i].name, l->stack[i].array};
  if (!r->eval->between(r->eval->ctx, &at, &why)) return eval_fail(r, EVAL_STOPPED, (Place){0}, "%s", why);
  l->turns = at.turn;
  return true;
}

bool loop_run(Run *r, const EinNode *n) {
  const EinRegion *g = n->body;
  Held *h = held_of(r, n);
  Cell bound;
  if (!h->loop) {
    h->loop = NEW(r->arena, Loop);
    h->loop->region = g;
    h->loop->spare = NEW_ARRAY(r->arena, Held, g->states.len + 1);
    h->loop->stack = NEW_ARRAY(r->arena, Held, g->stacks.len + 1);
    h->loop->kept = NEW_ARRAY(r->arena, EvalInput, g->states.len + g->stacks.len + 1);
  }
  if (!scalar_get(r, g->bound, n, &bound) || !loop_start(r, h->loop)) return false;
  bool stop = false, told = g->depth == 0 && r->eval->between;
  if (told && !loop_between(r, h->loop, bound.i)) return false;
  while (h->loop->turns < bound.i && !stop) {
    if (!loop_turn(r, h->loop, &stop)) return false;
    h->loop->turns++;
    if (told && !stop && !loop_between(r, h->loop, bound.i)) return false;
  }
  return true;
}

/* A result shares the buffer of its state or stack, which changes only when the repeat runs again. */
bool loop_result(Run *r, const EinNode *n) {
  Held *h = held_of(r, n);
  const Loop *l = held_of(r, n->repeat)->loop;
  BUG_UNLESS(l);
  if (n->kind == EIN_FINAL) {
    h->array = held_of(r, l->region->states.at[n->index].node)->array;
  } else if (n->kind == EIN_STACK) {
    h->array = l->stack[n->index].array;
  } else {
    if (!size_of_node(r, n) || !held_room(r, n, h)) return false;
    *(int64_t *)h->data = l->turns;
  }
  return true;
}
