/* algebra/eval/put.c - stores the tuples that an operation makes and checks them: the key is below the frontier, the
 * box is that of the type, each key occurs once, at the sites of its placement, and none is missing. */
#include "inside.h"

bool room_ask(Run *r, const AlgNode *n, uint32_t rank, const int64_t *low, const int64_t *high) {
  int64_t count;
  if (box_count(rank, low, high, r->max_elements, &count)) return true;
  return run_fail(r, n, "makes an array of more than %lld elements", (long long)r->max_elements);
}

/* ---- functions of arrays ------------------------------------------------------------------------------- */

static void block_cast(Arena *a, Block *b, DType to) {
  void *data = arena_alloc(a, arena_array_size((size_t)dtype_size(to), (size_t)b->count));
  for (int64_t k = 0; k < b->count; k++)
    if (block_has(b, k)) element_store(data, to, k, value_cast(element_load(b->data, b->dtype, k), to));
  b->data = data;
  b->dtype = to;
}

static bool block_to_places(Run *r, const AlgNode *n, Block *b) {
  if (!b->place) return run_fail(r, n, "has no places to take");
  for (int64_t k = 0; b->has && k < b->count; k++)
    if (b->has[k] == HAS_EMPTY)
      return run_fail(r, n, "has the place of nothing: element %lld of a block met no point", (long long)k);
  for (int64_t k = 0; k < b->count; k++)
    if (!block_has(b, k)) b->place[k] = 0;
  b->data = b->place;
  b->place = NULL;
  b->dtype = DT_I64;
  return true;
}

/* Of the merged dimensions all after the first that is longer than 1 are whole, so the order of elements stays the
 * same. */
static bool dims_merge(const Block *b, uint32_t from, uint32_t to, int64_t *low, int64_t *high) {
  bool fits = true;
  while (from + 1 < to && b->low[from] == 0 && b->high[from] == 1) from++;
  *low = from < to ? b->low[from] : 0;
  *high = from < to ? b->high[from] : 1;
  for (from++; fits && from < to; from++)
    fits = b->low[from] == 0 && mul_ok(*low, b->high[from], low) && mul_ok(*high, b->high[from], high);
  return fits;
}

static bool block_merge(Run *r, const AlgNode *n, Arena *a, Block *b, const AlgFn *f) {
  int64_t *low = NEW_ARRAY(a, int64_t, f->n + 1), *high = NEW_ARRAY(a, int64_t, f->n + 1);
  uint32_t from = 0;
  for (uint32_t d = 0; d < f->n; from += f->merge[d++])
    if (from + f->merge[d] > b->rank || !dims_merge(b, from, from + f->merge[d], &low[d], &high[d]))
      return run_fail(r, n, "merges what does not lie together");
  if (from != b->rank) return run_fail(r, n, "merges %u dimensions of %u", from, b->rank);
  b->rank = f->n;
  b->low = low;
  b->high = high;
  return true;
}

static bool block_shift(Run *r, const AlgNode *n, Arena *a, Block *b, const AlgFn *f, const int64_t *key) {
  int64_t by, *low = arena_copy(a, b->low, b->rank * sizeof *low),
              *high = arena_copy(a, b->high, b->rank * sizeof *high);
  if (n->kind != ALG_MAP || n->n_piece || n->rekey || f->key >= n->type.n_key)
    return run_fail(r, n, "shifts by a key that there is not");
  if (f->n >= b->rank || !mul_ok(f->by, key[f->key], &by) || !add_ok(low[f->n], by, &low[f->n]) ||
      !add_ok(high[f->n], by, &high[f->n]))
    return run_fail(r, n, "shifts an array too far");
  b->low = low;
  b->high = high;
  return true;
}

bool fns_apply(Run *r, const AlgNode *n, Arena *a, const int64_t *key, Block *b) {
  for (uint32_t k = 0; k < n->n_fn; k++) {
    const AlgFn *f = &n->fn[k];
    if (f->kind == FN_CAST) block_cast(a, b, f->to);
    else if (f->kind == FN_PLACE && !block_to_places(r, n, b)) return false;
    else if (f->kind == FN_MERGE && !block_merge(r, n, a, b, f)) return false;
    else if (f->kind == FN_SHIFT && !block_shift(r, n, a, b, f, key)) return false;
  }
  return true;
}

/* ---- one tuple ------------------------------------------------------------------------------------------ */

static bool key_fits(Run *r, const AlgNode *n, const int64_t *key) {
  for (uint32_t k = 0; k < n->type.n_key; k++)
    if (key[k] < 0 || key[k] >= n->type.frontier[k])
      return run_fail(r, n, "has a key %s = %lld, and the frontier is %lld", n->type.key[k]->s, (long long)key[k],
                       (long long)n->type.frontier[k]);
  return true;
}

static const char *box_text(Run *r, uint32_t rank, const int64_t *low, const int64_t *high) {
  Buf b = buf_new(r->arena);
  buf_char(&b, '[');
  for (uint32_t d = 0; d < rank; d++)
    buf_printf(&b, "%s%lld..%lld", d ? ", " : "", (long long)low[d], (long long)high[d]);
  buf_char(&b, ']');
  return b.s;
}

static bool block_fits(Run *r, const AlgNode *n, Arena *a, const int64_t *key, const Block *b) {
  const Relation *t = &n->type;
  int64_t *low = NEW_ARRAY(a, int64_t, t->rank + 1), *high = NEW_ARRAY(a, int64_t, t->rank + 1);
  rel_box(t, key, low, high);
  if (b->dtype != t->dtype || !b->place != !t->places)
    return run_fail(r, n, "has %s%s, and its type says %s%s", dtype_name(b->dtype), b->place ? " with places" : "",
        dtype_name(t->dtype), t->places ? " with places" : "");
  return block_box_is(b, t->rank, low, high) ||
      run_fail(r, n, "has an array over %s%s, where its type says %s", box_text(r, b->rank, b->low, b->high),
          run_key(r, n, key), box_text(r, t->rank, low, high));
}

bool shelf_fits(Run *r, const AlgNode *n, const Shelf *s) {
  for (int64_t i = 0; i < s->sites; i++)
    for (uint32_t k = 0; k < s->site[i].tuples.len; k++)
      if (!block_fits(r, n, s->arena, s->site[i].tuples.at[k].key, &s->site[i].tuples.at[k].block)) return false;
  return true;
}

bool tuple_put(Run *r, const AlgNode *n, Shelf *s, int64_t site, const int64_t *key, int64_t part, Block b) {
  const Relation *t = &n->type;
  Arena *a = s->arena;
  if (!key_fits(r, n, key) || !block_fits(r, n, a, key, &b)) return false;
  Tuple x = {.key = arena_copy(a, key, t->n_key * sizeof *key), .part = part, .block = b};
  vec_push(a, s->site[site].tuples, x);
  return true;
}

/* ---- everything together ---------------------------------------------------------------------------------- */

static bool tuples_check(Run *r, const AlgNode *n, const Store *s, int64_t site) {
  const Relation *t = &n->type;
  for (uint32_t i = 0; i < s->tuples.len; i++) {
    const Tuple *x = &s->tuples.at[i], *before = i ? x - 1 : NULL;
    if (before && before->part == x->part && key_order(t->n_key, before->key, x->key) == 0)
      return run_fail(r, n, "has two tuples%s", run_key(r, n, x->key));
    if (!alg_holds(&r->program->mesh, &n->at, t, x->key, site_place(r, site)))
      return run_fail(
          r, n, "has a tuple%s at site %lld, where it is not to be", run_key(r, n, x->key), (long long)site);
  }
  return true;
}

int64_t site_first(const Run *r, const Placement *p, int64_t site) {
  const Mesh *m = &r->program->mesh;
  const uint32_t *at = site_place(r, site);
  int64_t first = 0;
  for (uint32_t a = 0; a < m->n; a++) first = first * m->size[a] + (p->on[a] == PLACE_PART ? 0 : at[a]);
  return first;
}

/* Each key is at every site that should have it, or, for parts, at one of them at least. */
static bool none_missing(Run *r, const AlgNode *n, const Shelf *s, Arena *a) {
  const Relation *t = &n->type;
  int64_t keys = (int64_t)rel_keys(t), *key = NEW_ARRAY(a, int64_t, t->n_key + 1);
  bool *there = NEW_ARRAY(a, bool, keys * s->sites);
  for (int64_t i = 0; i < s->sites; i++)
    for (uint32_t k = 0; k < s->site[i].tuples.len; k++)
      there[site_first(r, &n->at, i) * keys + rel_key_number(t, s->site[i].tuples.at[k].key)] = true;
  int64_t number = 0;
  do {
    for (int64_t i = 0; i < s->sites; i++)
      if (!there[i * keys + number] && site_first(r, &n->at, i) == i &&
          alg_holds(&r->program->mesh, &n->at, t, key, site_place(r, i)))
        return run_fail(r, n, "has no tuple%s at site %lld", run_key(r, n, key), (long long)i);
    number++;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return true;
}

void shelf_count(Run *r, Shelf *s) {
  for (int64_t i = 0; i < s->sites; i++) {
    double bytes = 0;
    for (uint32_t k = 0; k < s->site[i].tuples.len; k++) bytes += block_bytes(&s->site[i].tuples.at[k].block);
    s->site[i].bytes = (int64_t)bytes;
    r->live[i] += bytes;
    if (r->live[i] > (double)r->out->most_live) r->out->most_live = (int64_t)r->live[i];
  }
}

bool shelf_put(Run *r, const AlgNode *n, Shelf *s) {
  Arena *a = arena_new();
  bool ok = true;
  for (int64_t i = 0; ok && i < s->sites; i++) {
    Store *x = &s->site[i];
    tuples_sort(a, n->type.n_key, x->tuples.at, x->tuples.len);
    r->out->calls[n->id] += (double)x->tuples.len;
    ok = tuples_check(r, n, x, i);
  }
  if (ok && !n->type.holes) ok = none_missing(r, n, s, a);
  arena_free(a);
  shelf_count(r, s);
  return ok;
}
