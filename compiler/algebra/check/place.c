/* algebra/check/place.c - where relations are, in an Ia. Each operation is local to a site, so the placement of its
 * result follows from those of its operands. Parts of aggregates are tracked up to the aggregate that ends them. */
#include "check.h"

enum { MOST_FRONTIER = 1 << 30 };

/* ---- the placement itself ------------------------------------------------------------------------------------ */

bool check_placement(Check *c, const AlgNode *n) {
  bool well = true;
  for (uint32_t a = 0; c->g->placed && a < c->g->mesh.n; a++) {
    int8_t on = n->at.on[a];
    if (on >= PLACE_PART && (on < 0 || (uint32_t)on < n->type.n_key)) continue;
    fail(c, "axis %u cuts key number %d, and there are %u, from 0 on", a, on, n->type.n_key);
    well = false;
  }
  return well;
}

void check_whole(void *ctx, const char *what, const void *node) {
  Check *c = ctx;
  const AlgNode *n = node;
  const Info *i = info_of(c, n);
  if (c->g->placed && (i->parts || i->bag)) fail(c, "%s %%%u has parts that are still to be aggregated", what, n->id);
}

/* ---- maps, filters: each tuple stays where it is ----------------------------------------------------------------- */

/* By axis, the place of a key along it; 0 at axes that cut nothing. */
static void places_of(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, int64_t *out) {
  for (uint32_t a = 0; a < m->n; a++) out[a] = 0;
  for (uint32_t k = 0; k < r->n_key; k++) {
    int64_t sites = k < ALG_ON ? placement_count(m, p, (int8_t)k) : 1,
            site = sites > 1 ? key[k] * sites / r->frontier[k] : 0;
    for (uint32_t a = m->n; sites > 1 && a-- > 0;) {
      if (p->on[a] != (int64_t)k) continue;
      out[a] = site % m->size[a];
      site /= m->size[a];
    }
  }
}

/* The keys of a map's tuple before and after it. */
static void key_after(const AlgNode *n, uint32_t n_key, const int64_t *key, int64_t *out) {
  for (uint32_t k = 0; k < n->type.n_key; k++) out[k] = n->rekey ? rel_value(n->rekey[k], n_key, key) : key[k];
}

/* Axis a cuts a key before, and only the same key after. */
static bool is_kept(Check *c, const AlgNode *n, uint32_t a) {
  int8_t on = alg_of(n)->at.on[a], now = n->at.on[a];
  if (on < 0 || now < 0 || n->type.frontier[now] != alg_of(n)->type.frontier[on]) return false;
  return n->rekey ? n->rekey[now] == expr_label(c->g->exprs, on) : now == on;
}

static void check_kept_place(Check *c, const AlgNode *n, const Info *of) {
  const Mesh *m = &c->g->mesh;
  const AlgNode *x = alg_of(n);
  bool kept = true, cut = true;
  for (uint32_t a = 0; a < m->n; a++) {
    bool same = x->at.on[a] < 0 && x->at.on[a] == n->at.on[a];
    kept &= same || is_kept(c, n, a);
    if (same || (x->at.on[a] >= 0 && n->at.on[a] >= 0)) continue;
    fail(c, "along axis %u it is not placed as its operand is", a);
    cut = false;
  }
  for (uint32_t k = 0; k < x->type.n_key; k++) cut &= x->type.frontier[k] < MOST_FRONTIER;
  for (uint32_t k = 0; k < n->type.n_key; k++) cut &= n->type.frontier[k] < MOST_FRONTIER;
  if (kept || !cut || n->piece || !keys_told(&of->keys)) {
    if (!kept && cut && n->piece) fail(c, "its keys are cut otherwise than those of its operand");
    return;
  }
  int64_t key[REL_KEYS + 1] = {0}, to[REL_KEYS + 1], here[MESH_AXES + 1], there[MESH_AXES + 1];
  for (uint64_t i = 0; keys_next(&of->keys, &i, key);) {
    key_after(n, x->type.n_key, key, to);
    places_of(m, &x->at, &x->type, key, here);
    places_of(m, &n->at, &n->type, to, there);
    for (uint32_t a = 0; a < m->n; a++)
      if (here[a] != there[a]) {
        fail(c, "key %s is at place %lld of axis %u, and what it becomes is to be at %lld", key_text(c, &x->type, key),
            (long long)here[a], a, (long long)there[a]);
        return;
      }
  }
}

/* ---- the other operations ---------------------------------------------------------------------------------------- */

static void check_group_place(Check *c, const AlgNode *n) {
  const AlgNode *x = alg_of(n);
  for (uint32_t a = 0; a < c->g->mesh.n; a++) {
    int on = x->at.on[a], due = on;
    if (on >= 0) {
      due = PLACE_PART;
      for (uint32_t k = 0; k < n->n_group; k++)
        if (n->group[k] == (uint32_t)on) due = (int)k;
    }
    if (on >= 0 && due == PLACE_PART && n->reducer == RED_NONE)
      fail(c, "key %s goes and is cut along axis %u: its arrays are not at one site", x->type.key[on]->s, a);
    else if (n->at.on[a] != due)
      fail(c, due < 0 ? "along axis %u it is %s" : "along axis %u it is cut by key %s", a,
           due == PLACE_PART ? "`+`" : due == PLACE_ALL ? "`*`" : n->type.key[due]->s);
  }
}

static const char *place_text(Check *c, const AlgNode *n) {
  Buf b = buf_new(c->arena);
  placement_print(&b, &c->g->mesh, &n->at);
  return b.s;
}

static void check_join_place(Check *c, const AlgNode *n) {
  if (!placement_whole(&c->g->mesh, &n->at)) {
    fail(c, "a %s makes no parts", alg_word(c->g, n));
    return;
  }
  for (uint32_t i = 0; i < n->n_operand; i++) {
    AlgNode one = *n;
    one.kind = ALG_JOIN;
    one.n_operand = 1;
    one.operand = n->operand + i;
    check_whole(c, "operand", n->operand[i].node);
    if (alg_is_table(n, i)) continue;
    if (placement_whole(&c->g->mesh, &n->operand[i].node->at) && !alg_join_meets(c->g, &one))
      fail(c,
          "operand %u is not where the result is to be made: %%%u is at %s, and the result at %s, each by its own keys",
          i, one.operand->node->id, place_text(c, one.operand->node), place_text(c, n));
  }
}

static void check_move(Check *c, const AlgNode *n) {
  for (uint32_t a = 0; a < c->g->mesh.n; a++)
    if (n->at.on[a] == PLACE_PART && alg_of(n)->at.on[a] != PLACE_PART)
      fail(c, "along axis %u it makes parts of what is whole", a);
}

static void check_input_place(Check *c, const AlgNode *n) {
  for (uint32_t a = 0; a < c->g->mesh.n; a++) {
    if (n->at.on[a] == PLACE_PART) fail(c, "an input has no parts");
    if (n->at.on[a] == PLACE_ALL && c->g->mesh.size[a] > 1)
      fail(c, "it is there %u times along axis %u", c->g->mesh.size[a], a);
  }
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static bool changes_values(const AlgNode *n) {
  for (uint32_t k = 0; k < n->n_fn; k++)
    if (n->fn[k].kind != FN_MERGE) return true;
  return false;
}

static const char *reducer_name(Reducer r, const Monoid *m) {
  return m ? m->name->s : reducer_info[r].name;
}

/* Parts are passed on until an aggregate with the same reducer has them at one site. */
static void check_parts(Check *c, const AlgNode *n, const Info *of, Info *info) {
  bool some = of->parts || of->bag, reduces = n->kind == ALG_AGGREGATE && n->reducer != RED_NONE;
  info->parts = !placement_whole(&c->g->mesh, &n->at);
  info->bag = !reduces && (of->bag || (n->kind == ALG_MOVE && of->parts));
  info->reducer = reduces ? n->reducer : of->reducer;
  info->monoid = reduces ? n->monoid : of->monoid;
  if (reduces && some && (n->reducer != of->reducer || n->monoid != of->monoid))
    fail(c, "it aggregates by %s what are parts of %s", reducer_name(n->reducer, n->monoid),
        reducer_name(of->reducer, of->monoid));
  if (n->kind == ALG_AGGREGATE && !reduces && of->bag) check_whole(c, "operand", alg_of(n));
  if (changes_values(n) && (info->parts || info->bag))
    fail(c, "it has a function of parts, which is not that of the whole");
}

void check_places(Check *c, const AlgNode *n, Info *info) {
  if (!c->g->placed) return;
  const AlgNode *x = alg_of(n);
  if (n->kind == ALG_INPUT) check_input_place(c, n);
  if (alg_has_kernel(n)) check_join_place(c, n);
  if (alg_has_kernel(n) || !x) return;
  const Info *of = info_of(c, x);
  if (n->kind == ALG_AGGREGATE) check_group_place(c, n);
  if (n->kind == ALG_MAP || n->kind == ALG_FILTER) check_kept_place(c, n, of);
  if (n->kind == ALG_MOVE) check_move(c, n);
  check_parts(c, n, of, info);
}
