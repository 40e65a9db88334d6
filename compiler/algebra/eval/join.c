/* algebra/eval/join.c - joins and aggregations, at each site on its own tuples. */
#include "inside.h"

/* ---- setting up a join ------------------------------------------------------------------------------------ */

static uint32_t turns_around(const AlgNode *n) {
  uint32_t depth = 0;
  for (const AlgRegion *g = n->region; g && g->parent; g = g->parent)
    if (g->depth + 1 > depth) depth = g->depth + 1;
  return depth;
}

/* By reduced label, the largest high of any key: places count over the whole extent. */
static int64_t *wholes_find(Run *r, const AlgNode *n) {
  const EinSum *s = n->sum;
  int64_t *whole = NEW_ARRAY(r->arena, int64_t, s->n_red + 1), *key = NEW_ARRAY(r->arena, int64_t, n->type.n_key + 1);
  do
    for (uint32_t l = 0; l < s->n_red; l++) {
      int64_t high = rel_value(n->range[s->n_out + l].high, n->type.n_key, key);
      if (high > whole[l]) whole[l] = high;
    }
  while (rel_next_key(n->type.n_key, n->type.frontier, key));
  return whole;
}

static bool operands_fit(Run *r, const AlgNode *n, const Kernel *k) {
  for (uint32_t i = 0; i < n->n_operand; i++) {
    const AlgNode *of = n->operand[i].node;
    if (!placement_whole(&r->program->mesh, &of->at))
      return run_fail(r, n, "joins parts: %s is not aggregated", run_name(r, of));
    if (of->type.places || !kernel_reads(k, i, of->type.dtype, of->type.rank))
      return run_fail(r, n, "reads %s as what it is not", run_name(r, of));
  }
  return true;
}

bool join_start(Run *r, const AlgNode *n, Held *h) {
  const char *why = NULL;
  if (h->kernel) return true;
  if (n->n_operand != n->sum->n_slot)
    return run_fail(r, n, "has %u operands, its kernel %u", n->n_operand, n->sum->n_slot);
  if (!placement_whole(&r->program->mesh, &n->at)) return run_fail(r, n, "makes parts, which a join cannot");
  Kernel *k = kernel_new(r->arena, n->sum, turns_around(n), &why);
  if (!k) return run_fail(r, n, "%s", why);
  if (reducer_is_arg(n->sum->reducer)) h->whole = wholes_find(r, n);
  if (!operands_fit(r, n, k)) return false;
  h->kernel = k;
  return true;
}

/* ---- one tuple of a join ------------------------------------------------------------------------------------ */

bool operand_find(
    Run *r, const AlgNode *n, uint32_t i, int64_t site, const int64_t *key, const Block **out, bool *missing) {
  const AlgOperand *o = &n->operand[i];
  const Relation *t = &o->node->type;
  int64_t its[REL_KEYS + 1];
  uint32_t found;
  for (uint32_t k = 0; k < t->n_key; k++) its[k] = o->on[k] < 0 ? 0 : key[o->on[k]];
  const Tuple *x = store_find(&held_of(r, o->node)->shelf->site[site], t->n_key, its, &found);
  *out = x ? &x->block : NULL;
  *missing |= !x && (o->wanted || !t->holes);
  return found <= 1 ||
      run_fail(r, n, "joins parts: %s has several tuples%s", run_name(r, o->node), run_key(r, o->node, its));
}

static bool fault_tell(Run *r, const AlgNode *n, const KernelCall *c) {
  const Block *b = c->operand[c->slot];
  const char *of = run_name(r, n->operand[c->slot].node);
  Buf at = buf_new(r->arena);
  buf_printf(&at, "%s[", of);
  for (uint32_t d = 0; d < c->rank; d++) buf_printf(&at, "%s%lld", d ? ", " : "", (long long)c->index[d]);
  buf_str(&at, "]");
  Buf point = buf_new(r->arena);
  for (uint32_t l = 0; l < n->sum->n_out + n->sum->n_red; l++)
    buf_printf(&point, "%s%s = %lld", l ? ", " : ", at ", n->label[l]->s, (long long)c->at[l]);
  if (!b) return run_fail(r, n, "reads %s, of which there is no tuple%s", at.s, point.s);
  if (c->dim == c->rank && n->operand[c->slot].node->kind == ALG_FETCH)
    return run_fail(r, n, "reads %s, for which an index was out of range, or which has no value%s", at.s, point.s);
  if (c->dim == c->rank) return run_fail(r, n, "reads %s, which has no value%s", at.s, point.s);
  return run_fail(r, n, "reads %s: index %lld is outside of the block, which has %lld..%lld in dimension %u%s", at.s,
      (long long)c->index[c->dim], (long long)b->low[c->dim], (long long)b->high[c->dim], c->dim + 1, point.s);
}

static bool tuple_join(
    Run *r, const AlgNode *n, Shelf *s, int64_t site, const int64_t *key, const Block *const *operand) {
  const EinSum *sum = n->sum;
  uint32_t labels = sum->n_out + sum->n_red;
  int64_t *low = NEW_ARRAY(s->arena, int64_t, labels + 1), *high = NEW_ARRAY(s->arena, int64_t, labels + 1);
  rel_ranges(labels, n->range, n->type.n_key, key, low, high);
  if (!room_ask(r, n, sum->n_out, low, high)) return false;
  Block out = block_make(s->arena, sum->acc, reducer_is_arg(sum->reducer), sum->n_out, low, high);
  Held *h = held_of(r, n);
  KernelCall c = {
      .low = low, .high = high, .whole = h->whole, .turn = r->turn, .operand = operand, .out = &out, .arena = s->arena};
  if (!kernel_run(h->kernel, &c)) return fault_tell(r, n, &c);
  return fns_apply(r, n, s->arena, key, &out) && tuple_put(r, n, s, site, key, 0, out);
}

static bool site_join(Run *r, const AlgNode *n, Shelf *s, int64_t site) {
  const Relation *t = &n->type;
  int64_t *key = NEW_ARRAY(s->arena, int64_t, t->n_key + 1);
  const Block **operand = NEW_ARRAY(s->arena, const Block *, n->n_operand + 1);
  do {
    bool missing = false, ok = true;
    if (!alg_holds(&r->program->mesh, &n->at, t, key, site_place(r, site))) continue;
    for (uint32_t i = 0; ok && i < n->n_operand; i++) ok = operand_find(r, n, i, site, key, &operand[i], &missing);
    if (!ok || (!missing && !tuple_join(r, n, s, site, key, operand))) return false;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return true;
}

bool join_run(Run *r, const AlgNode *n, Shelf *s) {
  if (!join_start(r, n, held_of(r, n))) return false;
  for (int64_t i = 0; i < s->sites; i++)
    if (!site_join(r, n, s, i)) return false;
  return true;
}

/* ---- aggregation: element by element -------------------------------------------------------------------------- */

/* The better of two parts of argmax; of equals the earlier place. */
static void element_better(const Fold *f, Block *to, const Block *x, int64_t k) {
  Value a = element_load(to->data, f->acc, k), b = element_load(x->data, f->acc, k);
  bool none = to->has && to->has[k] == HAS_EMPTY;
  if (x->has && x->has[k] == HAS_EMPTY) return;
  if (!none && !fold_beats(f, b, a) && (fold_beats(f, a, b) || to->place[k] <= x->place[k])) return;
  element_store(to->data, f->acc, k, b);
  to->place[k] = x->place[k];
  if (none) to->has[k] = HAS_VALUE;
}

static bool block_fold(Run *r, const AlgNode *n, const Fold *f, Block *to, const Block *x) {
  if (!block_box_is(x, to->rank, to->low, to->high))
    return run_fail(r, n, "aggregates arrays that are not over one box");
  for (int64_t k = 0; k < to->count; k++) {
    bool none = to->has && to->has[k] == HAS_NONE;
    if (none != (x->has && x->has[k] == HAS_NONE))
      return run_fail(r, n, "aggregates an element that has a value in some parts only");
    if (none) continue;
    if (to->place) element_better(f, to, x, k);
    else
      element_store(
          to->data, f->acc, k, fold_pair(f, element_load(to->data, f->acc, k), element_load(x->data, f->acc, k)));
  }
  return true;
}

static bool group_fold(Run *r, const AlgNode *n, Arena *a, const Tuple *t, uint32_t count, Block *out) {
  *out = block_cut(a, &t[0].block, t[0].block.low, t[0].block.high);
  for (uint32_t i = 1; i < count; i++)
    if (!block_fold(r, n, held_of(r, n)->fold, out, &t[i].block)) return false;
  return true;
}

/* ---- aggregation: side by side -------------------------------------------------------------------------------- */

/* The bounding box of all arrays; empty arrays count only if all are empty. */
static void box_around(uint32_t rank, const Tuple *t, uint32_t count, int64_t *low, int64_t *high) {
  bool some = false;
  for (uint32_t i = 0; i < count; i++) some |= t[i].block.count > 0;
  for (uint32_t d = 0; d < rank; d++) low[d] = INT64_MAX, high[d] = INT64_MIN;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t d = 0; d < rank && (t[i].block.count || !some); d++) {
      const Block *b = &t[i].block;
      if (b->low[d] < low[d]) low[d] = b->low[d];
      if (b->high[d] > high[d]) high[d] = b->high[d];
    }
}

static bool group_concat(Run *r, const AlgNode *n, Arena *a, const Tuple *t, uint32_t count, Block *out) {
  const Relation *type = &operand_of(n)->type;
  int64_t *low = NEW_ARRAY(a, int64_t, type->rank + 1), *high = NEW_ARRAY(a, int64_t, type->rank + 1);
  box_around(type->rank, t, count, low, high);
  if (!room_ask(r, n, type->rank, low, high)) return false;
  *out = block_make(a, type->dtype, type->places, type->rank, low, high);
  uint8_t *there = NEW_ARRAY(a, uint8_t, out->count + 1);
  for (uint32_t i = 0; i < count; i++)
    if (!block_paste(a, out, &t[i].block, there)) return run_fail(r, n, "lays arrays side by side that do not abut");
  for (int64_t k = 0; k < out->count; k++)
    if (there[k] != 1) return run_fail(r, n, "lays arrays side by side that %s", there[k] ? "overlap" : "do not abut");
  return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static bool group_run(Run *r, const AlgNode *n, Shelf *s, int64_t site, const Tuple *t, uint32_t count) {
  Block out;
  bool ok = n->reducer == RED_NONE ? group_concat(r, n, s->arena, t, count, &out)
                                   : group_fold(r, n, s->arena, t, count, &out);
  return ok && fns_apply(r, n, s->arena, t->key, &out) &&
      tuple_put(r, n, s, site, t->key, site - site_first(r, &n->at, site), out);
}

/* The tuples of a group, ordered by their own keys and parts. */
static bool site_aggregate(Run *r, const AlgNode *n, Shelf *s, int64_t site) {
  const Store *of = &held_of(r, operand_of(n))->shelf->site[site];
  uint32_t count = of->tuples.len, end;
  Tuple *t = NEW_ARRAY(s->arena, Tuple, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    int64_t *key = NEW_ARRAY(s->arena, int64_t, n->n_group + 1);
    for (uint32_t k = 0; k < n->n_group; k++) key[k] = of->tuples.at[i].key[n->group[k]];
    t[i] = (Tuple){.key = key, .part = i, .block = of->tuples.at[i].block};
  }
  tuples_sort(s->arena, n->n_group, t, count);
  for (uint32_t at = 0; at < count; at = end) {
    for (end = at + 1; end < count && key_order(n->n_group, t[at].key, t[end].key) == 0;) end++;
    if (!group_run(r, n, s, site, t + at, end - at)) return false;
  }
  return true;
}

bool aggregate_run(Run *r, const AlgNode *n, Shelf *s) {
  const Relation *t = &operand_of(n)->type;
  Held *h = held_of(r, n);
  if (n->reducer != RED_NONE && t->places != reducer_is_arg(n->reducer))
    return run_fail(
        r, n, "aggregates %s by %s", t->places ? "places" : "values without places", reducer_info[n->reducer].name);
  if (!h->fold) {
    h->fold = NEW(r->arena, Fold);
    *h->fold = fold_of(r->arena, n->reducer, n->monoid, t->dtype);
  }
  for (int64_t i = 0; i < s->sites; i++)
    if (!site_aggregate(r, n, s, i)) return false;
  return true;
}
