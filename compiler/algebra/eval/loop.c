/* algebra/eval/loop.c - a repeat: its turns one after another, at all sites together.
 *
 * A turn computes the block's nodes in order, reads the stop condition, stores what is stacked, and only then
 * updates all states together. All else that a turn made is dropped with it. */
#include "inside.h"

struct Loop {
  const AlgRegion *region;
  int64_t turns;             /* made so far */
  Held *stack;               /* one per stack */
};

/* ---- states --------------------------------------------------------------------------------------------- */

static bool states_start(Run *r, const AlgRegion *g) {
  vec_each(const AlgState, s, g->states) {
    Held *h = held_of(r, s->node);
    held_empty(r, h);
    shelf_use(h, held_of(r, s->init)->shelf);
    if (!shelf_fits(r, s->node, h->shelf)) return false;
  }
  return true;
}

/* Drops the turn's shelves; keeps the next values of states. */
static bool states_next(Run *r, const AlgRegion *g) {
  Held *next = NEW_ARRAY(r->arena, Held, g->states.len + 1);
  for (uint32_t i = 0; i < g->states.len; i++) shelf_use(&next[i], held_of(r, g->states.at[i].next)->shelf);
  for (uint32_t i = 0; i < g->nodes.len; i++) held_empty(r, held_of(r, g->nodes.at[i]));
  for (uint32_t i = 0; i < g->states.len; i++) {
    const AlgNode *n = g->states.at[i].node;
    shelf_use(held_of(r, n), next[i].shelf);
    held_empty(r, &next[i]);
    if (!shelf_fits(r, n, held_of(r, n)->shelf)) return false;
  }
  return true;
}

/* ---- stacks --------------------------------------------------------------------------------------------- */

static bool stack_tuple_new(Run *r, const AlgRegion *g, const AlgStack *k, Shelf *s, int64_t site, const int64_t *key) {
  const Relation *t = &k->node->type;
  int64_t *low = NEW_ARRAY(s->arena, int64_t, t->rank + 2), *high = NEW_ARRAY(s->arena, int64_t, t->rank + 2);
  rel_box(t, key, low, high);
  for (uint32_t d = t->rank; d-- > k->axis;) low[d + 1] = low[d], high[d + 1] = high[d];
  low[k->axis] = 0;
  high[k->axis] = g->turns;
  if (!room_ask(r, g->repeat, t->rank + 1, low, high)) return false;
  Tuple x = {.key = arena_copy(s->arena, key, t->n_key * sizeof *key),
      .block = block_make(s->arena, t->dtype, false, t->rank + 1, low, high)};
  vec_push(s->arena, s->site[site].tuples, x);
  return true;
}

/* Turns that do not run leave 0. */
static bool stack_start(Run *r, const AlgRegion *g, const AlgStack *k, Held *h) {
  const AlgNode *n = k->node;
  Shelf *s = h->shelf = shelf_new(r->sites);
  int64_t *key = NEW_ARRAY(s->arena, int64_t, n->type.n_key + 1);
  if (g->turns < 0) return run_fail(r, g->repeat, "stacks %s, and how many turns there are is open", k->name->s);
  if (n->type.places || n->type.holes)
    return run_fail(r, g->repeat, "stacks %s, which has %s", k->name->s, n->type.places ? "places" : "holes");
  for (uint32_t a = 0; a < r->program->mesh.n; a++)
    if (n->at.on[a] == PLACE_PART) return run_fail(r, g->repeat, "stacks %s, which is not aggregated", k->name->s);
  do
    for (int64_t i = 0; i < r->sites; i++)
      if (alg_holds(&r->program->mesh, &n->at, &n->type, key, site_place(r, i)) && !stack_tuple_new(r, g, k, s, i, key))
        return false;
  while (rel_next_key(n->type.n_key, n->type.frontier, key));
  shelf_count(r, s);
  return true;
}

/* Stores the array of one turn, with the turn as an extra dimension. */
static bool slice_put(Run *r, const Loop *l, const AlgStack *k, Arena *a, Block *to, const Block *x) {
  int64_t *low = NEW_ARRAY(r->arena, int64_t, x->rank + 2), *high = NEW_ARRAY(r->arena, int64_t, x->rank + 2);
  Block slice = *x;
  for (uint32_t d = 0; d < x->rank; d++) {
    uint32_t e = d + (d >= k->axis);
    low[e] = x->low[d], high[e] = x->high[d];
  }
  low[k->axis] = l->turns;
  high[k->axis] = l->turns + 1;
  slice.rank++;
  slice.low = low;
  slice.high = high;
  if (l->turns >= l->region->turns)
    return run_fail(r, l->region->repeat, "makes turn %lld, and %s has room for %lld", (long long)l->turns, k->name->s,
        (long long)l->region->turns);
  return block_paste(a, to, &slice, NULL) || run_fail(r, l->region->repeat, "stacks %s, whose box changes", k->name->s);
}

static bool stack_put(Run *r, const Loop *l, const AlgStack *k, Shelf *s) {
  uint32_t n_key = k->node->type.n_key, found;
  for (int64_t i = 0; i < r->sites; i++)
    vec_each(Tuple, to, s->site[i].tuples) {
      const Tuple *x = store_find(&held_of(r, k->node)->shelf->site[i], n_key, to->key, &found);
      if (found != 1)
        return run_fail(r, l->region->repeat, "stacks %s, of which there are %u tuples%s", k->name->s, found,
            run_key(r, k->node, to->key));
      if (!slice_put(r, l, k, s->arena, &to->block, &x->block)) return false;
    }
  return true;
}

/* ---- turns ------------------------------------------------------------------------------------------------ */

void turns_drop(Run *r, Loop *l) {
  for (uint32_t i = 0; i < l->region->nodes.len; i++) held_empty(r, held_of(r, l->region->nodes.at[i]));
  for (uint32_t i = 0; i < l->region->stacks.len; i++) held_empty(r, &l->stack[i]);
}

static bool loop_start(Run *r, Loop *l) {
  const AlgRegion *g = l->region;
  turns_drop(r, l);
  l->turns = 0;
  if (g->depth >= EVAL_DEPTH) return run_fail(r, g->repeat, "is in more than %d others", EVAL_DEPTH);
  if (!states_start(r, g)) return false;
  for (uint32_t i = 0; i < g->stacks.len; i++)
    if (!stack_start(r, g, &g->stacks.at[i], &l->stack[i])) return false;
  return true;
}

static bool loop_turn(Run *r, Loop *l, bool *stop) {
  const AlgRegion *g = l->region;
  int64_t x = 0;
  r->turn[g->depth] = l->turns;
  if (!run_nodes(r, g, false)) return false;
  if (g->stop && !run_scalar(r, g->stop, g->repeat, &x)) return false;
  for (uint32_t i = 0; i < g->stacks.len; i++)
    if (!stack_put(r, l, &g->stacks.at[i], l->stack[i].shelf)) return false;
  *stop = x != 0;
  return states_next(r, g);
}

bool turns_run(Run *r, const AlgNode *n) {
  const AlgRegion *g = n->body;
  Held *h = held_of(r, n);
  int64_t bound;
  bool stop = false;
  if (!h->loop) {
    h->loop = NEW(r->arena, Loop);
    h->loop->region = g;
    h->loop->stack = NEW_ARRAY(r->arena, Held, g->stacks.len + 1);
  }
  if (!run_scalar(r, g->bound, n, &bound) || !loop_start(r, h->loop)) return false;
  for (; h->loop->turns < bound && !stop; h->loop->turns++)
    if (!loop_turn(r, h->loop, &stop)) return false;
  return true;
}

static bool turns_put(Run *r, const AlgNode *n, int64_t turns) {
  Shelf *s = held_of(r, n)->shelf = shelf_new(r->sites);
  for (int64_t i = 0; i < r->sites; i++) {
    Block b = block_make(s->arena, DT_I64, false, 0, &(int64_t){0}, &(int64_t){0});
    element_store(b.data, DT_I64, 0, (Value){.dtype = DT_I64, .i = turns});
    if (!tuple_put(r, n, s, i, &(int64_t){0}, 0, b)) return false;
  }
  return shelf_put(r, n, s);
}

bool turns_result(Run *r, const AlgNode *n) {
  const Loop *l = held_of(r, n->repeat)->loop;
  Held *h = held_of(r, n);
  BUG_UNLESS(l);
  if (n->kind == ALG_TURNS) return turns_put(r, n, l->turns);
  shelf_use(
      h, n->kind == ALG_FINAL ? held_of(r, l->region->states.at[n->index].node)->shelf : l->stack[n->index].shelf);
  for (int64_t i = 0; i < r->sites; i++) r->out->calls[n->id] += (double)h->shelf->site[i].tuples.len;
  return shelf_fits(r, n, h->shelf);
}
