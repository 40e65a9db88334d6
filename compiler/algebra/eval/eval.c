/* algebra/eval/eval.c - evaluates programs over relations on small data: computes what is needed, in order; cuts
 * inputs and places them as stated; assembles outputs from the sites' blocks. A node's tuples are dropped after its
 * last user, in a repeat at the end of the turn at the latest. */
#include "inside.h"

#include <string.h>

/* ---- complaints ----------------------------------------------------------------------------------------- */

const char *run_name(Run *r, const AlgNode *n) {
  return n->name && n->name->len ? n->name->s : arena_printf(r->arena, "%%%u", n->id);
}

static const char *node_kind(const AlgNode *n) {
  switch (n->kind) {
  case ALG_INPUT: return "input";
  case ALG_JOIN: return "join";
  case ALG_AGGREGATE: return n->reducer == RED_NONE ? "concat" : "aggregate";
  case ALG_MAP: return "map";
  case ALG_FILTER: return "filter";
  case ALG_MOVE: return "move";
  case ALG_FETCH: return "fetch";
  case ALG_REPEAT: return "repeat";
  case ALG_STATE: return "state";
  case ALG_FINAL: case ALG_STACK: case ALG_TURNS: break;
  }
  return "result";
}

bool run_fail(Run *r, const AlgNode *n, const char *fmt, ...) {
  if (r->error) return false;
  Buf b = buf_new(r->out->arena);
  va_list ap;
  if (n) buf_printf(&b, "%s %%%u", node_kind(n), n->id);
  if (n && n->name && n->name->len) buf_printf(&b, " (%s)", n->name->s);
  if (n) buf_char(&b, ' ');
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  r->error = b.s;
  if (n) r->place = n->place;
  return false;
}

const char *run_key(Run *r, const AlgNode *n, const int64_t *key) {
  Buf b = buf_new(r->arena);
  for (uint32_t k = 0; k < n->type.n_key; k++)
    buf_printf(&b, "%s%s = %lld", k ? ", " : " at {", n->type.key[k]->s, (long long)key[k]);
  if (n->type.n_key) buf_char(&b, '}');
  return b.len ? b.s : "";
}

/* ---- shelves --------------------------------------------------------------------------------------------- */

void shelf_use(Held *h, Shelf *s) {
  BUG_UNLESS(s && !h->shelf);
  s->users++;
  h->shelf = s;
}

void held_empty(Run *r, Held *h) {
  Shelf *s = h->shelf;
  if (h->loop) turns_drop(r, h->loop);
  h->shelf = NULL;
  if (!s || --s->users) return;
  for (int64_t i = 0; i < s->sites; i++) r->live[i] -= (double)s->site[i].bytes;
  arena_free(s->arena);
}

bool run_scalar(Run *r, const AlgNode *n, const AlgNode *user, int64_t *out) {
  const Shelf *s = held_of(r, n)->shelf;
  for (int64_t i = 0; i < s->sites; i++) {
    const Store *x = &s->site[i];
    if (x->tuples.len != 1 || x->tuples.at[0].block.count != 1)
      return run_fail(r, user, "needs %s at site %lld, and it is not one element there", run_name(r, n), (long long)i);
    const Block *b = &x->tuples.at[0].block;
    if (!block_has(b, 0)) return run_fail(r, user, "needs %s, which has no value", run_name(r, n));
    int64_t v = element_load(b->data, b->dtype, 0).i;
    if (i && v != *out) return run_fail(r, user, "needs %s, on which sites disagree", run_name(r, n));
    *out = v;
  }
  return true;
}

/* ---- inputs ---------------------------------------------------------------------------------------------- */

static const AlgArray *input_given(const Run *r, Str name) {
  for (uint32_t i = 0; i < r->out->n_input; i++) {
    Str s = r->out->input[i].name;
    if (s == name || (s->len == name->len && memcmp(s->s, name->s, s->len) == 0)) return &r->out->input[i].array;
  }
  return NULL;
}

/* The array must end where the last blocks do. */
static bool input_fits(Run *r, const AlgNode *n, const AlgArray *x, Arena *a) {
  const Relation *t = &n->type;
  if (!x) return run_fail(r, n, "is not given");
  if (x->dtype != t->dtype || x->rank != t->rank)
    return run_fail(
        r, n, "is %s of rank %u, given is %s of rank %u", dtype_name(t->dtype), t->rank, dtype_name(x->dtype), x->rank);
  int64_t *low = NEW_ARRAY(a, int64_t, t->rank + 1), *high = NEW_ARRAY(a, int64_t, t->rank + 1);
  int64_t *key = NEW_ARRAY(a, int64_t, t->n_key + 1), *end = NEW_ARRAY(a, int64_t, t->rank + 1);
  do {
    rel_box(t, key, low, high);
    for (uint32_t d = 0; d < t->rank; d++) {
      if (low[d] < 0) return run_fail(r, n, "has a block from %lld%s", (long long)low[d], run_key(r, n, key));
      if (high[d] > end[d]) end[d] = high[d];
    }
  } while (rel_next_key(t->n_key, t->frontier, key));
  for (uint32_t d = 0; d < t->rank; d++)
    if (x->shape[d] != end[d])
      return run_fail(
          r, n, "has %lld in dimension %u, given is %lld", (long long)end[d], d + 1, (long long)x->shape[d]);
  return true;
}

/* Shares the elements. */
static Block block_of(Arena *a, const AlgArray *x) {
  Block b = {.dtype = x->dtype,
      .rank = x->rank,
      .low = NEW_ARRAY(a, int64_t, x->rank + 1),
      .high = x->shape,
      .count = x->count,
      .data = x->data};
  if (!x->has) return b;
  b.has = NEW_ARRAY(a, uint8_t, x->count);
  for (int64_t k = 0; k < x->count; k++) b.has[k] = x->has[k] ? HAS_VALUE : HAS_NONE;
  return b;
}

static bool input_run(Run *r, const AlgNode *n, Shelf *s) {
  const Relation *t = &n->type;
  const AlgArray *x = input_given(r, n->name);
  Arena *a = s->arena;
  if (!input_fits(r, n, x, a)) return false;
  Block whole = block_of(r->arena, x);
  int64_t *key = NEW_ARRAY(a, int64_t, t->n_key + 1), *low = NEW_ARRAY(a, int64_t, t->rank + 1),
          *high = NEW_ARRAY(a, int64_t, t->rank + 1);
  for (uint32_t k = 0; k < r->program->mesh.n; k++)
    if (n->at.on[k] == PLACE_PART) return run_fail(r, n, "comes in parts");
  do {
    rel_box(t, key, low, high);
    for (int64_t i = 0; i < s->sites; i++)
      if (alg_holds(&r->program->mesh, &n->at, t, key, site_place(r, i)) &&
          !tuple_put(r, n, s, i, key, 0, block_cut(a, &whole, low, high)))
        return false;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return true;
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

static bool relation_run(Run *r, const AlgNode *n, Shelf *s) {
  switch (n->kind) {
  case ALG_INPUT: return input_run(r, n, s);
  case ALG_JOIN: return join_run(r, n, s);
  case ALG_FETCH: return fetch_run(r, n, s);
  case ALG_AGGREGATE: return aggregate_run(r, n, s);
  case ALG_MAP: return map_run(r, n, s);
  case ALG_FILTER: return filter_run(r, n, s);
  case ALG_MOVE: return move_run(r, n, s);
  case ALG_REPEAT: case ALG_STATE: case ALG_FINAL: case ALG_STACK: case ALG_TURNS: break;
  }
  bug("algebra: node %%%u makes no relation of its own", n->id);
}

static bool run_node(Run *r, const AlgNode *n) {
  if (n->kind == ALG_STATE) return true;
  if (n->kind == ALG_REPEAT) return turns_run(r, n);
  if (n->kind == ALG_FINAL || n->kind == ALG_STACK || n->kind == ALG_TURNS) return turns_result(r, n);
  Shelf *s = held_of(r, n)->shelf = shelf_new(r->sites);
  return relation_run(r, n, s) && shelf_put(r, n, s);
}

/* A node of a repeat's block is computed in each turn; a node of the program once, perhaps early. */
bool run_nodes(Run *r, const AlgRegion *g, bool early) {
  bool once = g == r->program->top;
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    Held *h = held_of(r, g->nodes.at[i]);
    if (!(once && h->done) && (early ? h->early : h->needed)) {
      if (!run_node(r, g->nodes.at[i])) return false;
      h->done = once;
    }
    if (early) continue;
    for (Held *d = h->drops; d; d = d->drop) held_empty(r, d);
  }
  return true;
}

/* ---- needed nodes -------------------------------------------------------------------------------------------- */

typedef struct Need {
  Run *run;
  bool early;
  VEC(const AlgNode *) stack;
} Need;

/* The position in n's region of its user, or of the repeat that contains the user. A region's own repeat uses it at
 * the end of each turn. */
static uint32_t user_at(Run *r, const AlgNode *user, const AlgNode *n) {
  while (user && user->region != n->region) user = user->region->repeat;
  return user ? held_of(r, user)->at : UINT32_MAX;
}

static void need(Need *s, const AlgNode *user, const AlgNode *n) {
  Held *h = held_of(s->run, n);
  uint32_t at = user_at(s->run, user, n);
  if (at > h->last) h->last = at;
  if (h->needed && (h->early || !s->early)) return;
  h->needed = true;
  h->early |= s->early;
  vec_push(s->run->arena, s->stack, n);
}

static void need_operands(Need *s, const AlgNode *n) {
  for (uint32_t i = 0; i < n->n_operand; i++) need(s, n, n->operand[i].node);
  if (n->repeat) need(s, n, n->repeat);
  if (n->kind != ALG_REPEAT) return;
  const AlgRegion *g = n->body;
  for (uint32_t i = 0; alg_region_use(g, i); i++) need(s, n, alg_region_use(g, i));
  for (uint32_t i = 0; i < g->states.len; i++) need(s, n, g->states.at[i].node);
}

/* Numbers all nodes by position in their region. */
static void nodes_number(Run *r, const AlgRegion *g) {
  VEC(const AlgRegion *) todo = {0};
  vec_push(r->arena, todo, g);
  while (todo.len) {
    g = vec_pop(todo);
    for (uint32_t i = 0; i < g->nodes.len; i++) {
      held_of(r, g->nodes.at[i])->at = i;
      if (g->nodes.at[i]->kind == ALG_REPEAT) vec_push(r->arena, todo, g->nodes.at[i]->body);
    }
  }
}

/* Links each node to the user after which it is dropped. States, and what changes them, stay to the end of the turn. */
static void drops_link(Run *r, const AlgRegion *g) {
  vec_each_of(const AlgNode, n, g->nodes) {
    Held *h = held_of(r, n);
    if (n->kind == ALG_REPEAT) drops_link(r, n->body);
    if (!h->needed || h->last >= g->nodes.len || n->kind == ALG_STATE) continue;
    Held *user = held_of(r, g->nodes.at[h->last]);
    h->drop = user->drops;
    user->drops = h;
  }
}

static void need_all(Run *r) {
  const Algebra *p = r->program;
  Need s = {.run = r, .early = true};
  nodes_number(r, p->top);
  for (uint32_t i = 0; i < p->asserts.len; i++) need(&s, NULL, p->asserts.at[i].node);
  while (s.stack.len) need_operands(&s, vec_pop(s.stack));
  s.early = false;
  for (uint32_t i = 0; i < p->outputs.len; i++) need(&s, NULL, p->outputs.at[i].node);
  while (s.stack.len) need_operands(&s, vec_pop(s.stack));
  drops_link(r, p->top);
}

/* ---- asserts and outputs --------------------------------------------------------------------------------------- */

static bool asserts_check(Run *r) {
  const AlgAssert *first = NULL;
  uint32_t failed = 0;
  vec_each(const AlgAssert, a, r->program->asserts) {
    int64_t x = 0;
    if (!run_scalar(r, a->node, a->node, &x)) return false;
    if (!x && !failed++) first = a;
  }
  if (!failed) return true;
  const char *more = failed > 1 ? arena_printf(r->arena, ", and %u more", failed - 1) : "";
  run_fail(r, NULL, "assertion failed: %s%s", first->text ? first->text->s : "", more);
  r->place = first->place;
  return false;
}

typedef struct Whole {       /* an output under assembly */
  const AlgOutput *o;
  Block all, there;          /* there: 1 where an element was written, as u8 */
} Whole;

/* Copies, and blocks that overlap, must agree bit by bit. */
static bool whole_add(Run *r, Whole *w, const Tuple *t, Arena *a) {
  const Block *b = &t->block;
  const AlgNode *n = w->o->node;
  bool within = true;
  for (uint32_t d = 0; d < b->rank && b->count; d++) within = within && b->low[d] >= 0 && b->high[d] <= w->all.high[d];
  if (!within) return run_fail(r, n, "does not lie in the output %s%s", w->o->name->s, run_key(r, n, t->key));
  if (!b->count) return true;
  Block was = block_cut(a, &w->all, b->low, b->high), there = block_cut(a, &w->there, b->low, b->high);
  size_t size = (size_t)dtype_size(b->dtype);
  for (int64_t k = 0; k < b->count; k++) {
    if (!((uint8_t *)there.data)[k]) continue;
    bool same = block_has(&was, k) == block_has(b, k) &&
        (!block_has(b, k) ||
            memcmp((char *)was.data + (size_t)k * size, (char *)b->data + (size_t)k * size, size) == 0);
    if (!same)
      return run_fail(r, n, "differs between sites or blocks of the output %s%s", w->o->name->s, run_key(r, n, t->key));
  }
  return block_paste(r->out->arena, &w->all, b, w->there.data);
}

static bool whole_sites(Run *r, Whole *w, Arena *a) {
  const AlgNode *n = w->o->node;
  const Shelf *s = held_of(r, n)->shelf;
  for (uint32_t k = 0; k < r->program->mesh.n; k++)
    if (n->at.on[k] == PLACE_PART) return run_fail(r, n, "is not aggregated, and is the output %s", w->o->name->s);
  for (int64_t i = 0; i < s->sites; i++)
    for (uint32_t k = 0; k < s->site[i].tuples.len; k++) {
      const Tuple *t = &s->site[i].tuples.at[k];
      if (k && key_order(n->type.n_key, t[-1].key, t->key) == 0)
        return run_fail(
            r, n, "is not aggregated, and is the output %s: there are parts%s", w->o->name->s, run_key(r, n, t->key));
      if (!whole_add(r, w, t, a)) return false;
    }
  for (int64_t k = 0; k < w->all.count; k++)
    if (!((uint8_t *)w->there.data)[k])
      return run_fail(r, n, "has not all of the output %s: element %lld is missing", w->o->name->s, (long long)k);
  return true;
}

/* Its mask, if it has one, contains 0 and 1. */
static AlgArray array_of(Arena *a, const Block *b) {
  AlgArray x = {.dtype = b->dtype, .rank = b->rank, .count = b->count, .data = b->data};
  bool whole = true;
  x.shape = arena_copy(a, b->high, b->rank * sizeof *b->high);
  for (int64_t k = 0; b->has && k < b->count; k++) {
    b->has[k] = b->has[k] == HAS_VALUE;
    whole &= b->has[k] != 0;
  }
  if (!whole) x.has = b->has;
  return x;
}

static bool output_make(Run *r, const AlgOutput *o, AlgArray *out) {
  const AlgNode *n = o->node;
  int64_t *low = NEW_ARRAY(r->arena, int64_t, o->rank + 1);
  if (n->type.places || n->type.rank != o->rank) return run_fail(r, n, "is not what the output %s is", o->name->s);
  if (!room_ask(r, n, o->rank, low, o->extent)) return false;
  Arena *a = arena_new();
  Whole w = {.o = o, .all = block_make(r->out->arena, n->type.dtype, false, o->rank, low, o->extent)};
  w.there = block_make(a, DT_U8, false, o->rank, low, o->extent);
  bool ok = whole_sites(r, &w, a);
  if (ok) *out = array_of(r->out->arena, &w.all);
  arena_free(a);
  return ok;
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

/* Sites and keys are enumerated, so they must be few. */
static bool sizes_fit(Run *r, const AlgRegion *g, uint32_t depth) {
  if (depth > EVAL_DEPTH) return run_fail(r, g->repeat, "is in more than %d others", EVAL_DEPTH);
  vec_each_of(const AlgNode, n, g->nodes) {
    if (n->kind == ALG_REPEAT && !sizes_fit(r, n->body, depth + 1)) return false;
    if (n->kind == ALG_REPEAT) continue;
    if (n->type.n_key > REL_KEYS || rel_keys(&n->type) * (double)r->sites > (double)ALG_KEYS_TOLD * 16)
      return run_fail(r, n, "has more keys than can be gone through");
  }
  return true;
}

static void sites_number(Run *r) {
  const Mesh *m = &r->program->mesh;
  r->coordinate = NEW_ARRAY(r->arena, uint32_t, r->sites * m->n + 1);
  for (int64_t i = 0; i < r->sites; i++) mesh_place(m, i, r->coordinate + i * m->n);
  r->live = NEW_ARRAY(r->arena, double, r->sites);
}

static bool eval_all(Run *r) {
  const Algebra *p = r->program;
  double sites = 1;
  for (uint32_t a = 0; a < p->mesh.n; a++) sites *= (double)p->mesh.size[a];
  if (!(sites >= 1 && sites <= (double)EVAL_SITES))
    return run_fail(r, NULL, "%g sites are more than can be gone through", sites);
  r->sites = (int64_t)sites;
  sites_number(r);
  if (!sizes_fit(r, p->top, 0)) return false;
  need_all(r);
  if (!run_nodes(r, p->top, true) || !asserts_check(r) || !run_nodes(r, p->top, false)) return false;
  for (uint32_t i = 0; i < p->outputs.len; i++)
    if (!output_make(r, &p->outputs.at[i], &r->out->output[i])) return false;
  return true;
}

bool algebra_eval(AlgRun *x, const char **why, Place *place) {
  const Algebra *p = x->program;
  Run r = {.out = x,
      .program = p,
      .arena = arena_new(),
      .max_elements = x->max_elements ? x->max_elements : (int64_t)1 << 28};
  r.held = NEW_ARRAY(r.arena, Held, p->n_nodes + 1);
  r.turn = NEW_ARRAY(r.arena, int64_t, EVAL_DEPTH + 1);
  x->output = NEW_ARRAY(x->arena, AlgArray, p->outputs.len + 1);
  x->moved = NEW_ARRAY(x->arena, double, p->n_nodes + 1);
  x->calls = NEW_ARRAY(x->arena, double, p->n_nodes + 1);
  x->most_live = 0;
  bool ok = eval_all(&r);
  for (uint32_t i = 0; i < p->n_nodes && r.live; i++) held_empty(&r, &r.held[i]);
  arena_free(r.arena);
  if (why) *why = r.error;
  if (place) *place = r.place;
  return ok;
}
