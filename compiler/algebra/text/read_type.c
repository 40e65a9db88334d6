/* algebra/text/read_type.c - reads the type in a relation's line: keys, boxes over them, dtype and placement; and
 * functions of the array. */
#include "read_inside.h"

/* ---- keys, and expressions over them ------------------------------------------------------------------------ */

Keys *keys_new(AlgReader *r, const Keys *from) {
  Keys *k = NEW(r->g->arena, Keys);
  for (uint32_t i = 0; from && i < from->text.len; i++) {
    vec_push(r->g->arena, k->text, from->text.at[i]);
    vec_push(r->g->arena, k->name, from->name.at[i]);
    vec_push(r->g->arena, k->frontier, from->frontier.at[i]);
  }
  return k;
}

const Keys *keys_of(AlgReader *r, const AlgNode *n) {
  const Keys *k = n ? map_find(&r->keys, n) : NULL;
  return k ? k : keys_new(r, NULL);
}

static bool key_find(const Keys *k, Str text, uint32_t *out) {
  for (uint32_t i = 0; i < k->text.len; i++)
    if (k->text.at[i] == text) return *out = i, true;
  return false;
}

/* `: i, j or k` */
static const char *keys_text(AlgReader *r, const Keys *k) {
  Buf b = buf_new(r->x.arena);
  for (uint32_t i = 0; i < k->text.len; i++)
    buf_printf(&b, "%s%s", !i ? ": " : i + 1 == k->text.len ? " or " : ", ", k->text.at[i]->s);
  return k->text.len ? b.s : ", and there is none";
}

/* The name of one of the keys. */
bool want_key(AlgReader *r, const Keys *k, uint32_t *out) {
  const char *at;
  size_t n = scan_word(&r->x.c, false, &at);
  if (n && key_find(k, str_of(r->x.c.strings, at, n), out)) return true;
  r->x.c.s = at;
  return fail(r, D_E914, "expected the name of a key here%s", keys_text(r, k));
}

/* `{s:4, _1="odd name":2}`, added to k. */
bool want_keys(AlgReader *r, Keys *k) {
  Str text, name;
  uint32_t have;
  int64_t frontier;
  if (!scan_want(&r->x.c, '{')) return false;
  for (bool first = true; !scan_take(&r->x.c, '}'); first = false) {
    if (!first && !scan_want(&r->x.c, ',')) return false;
    if (k->text.len == REL_KEYS) return fail(r, D_E913, "a relation has at most %d keys", REL_KEYS);
    if (!want_alias(&r->x, &text, &name)) return false;
    if (key_find(k, text, &have)) return fail(r, D_E911, "key %s stands here twice", text->s);
    if (!scan_want(&r->x.c, ':') || !scan_want_int(&r->x.c, 1, INT64_MAX, "a frontier", &frontier)) return false;
    vec_push(r->g->arena, k->text, text);
    vec_push(r->g->arena, k->name, name);
    vec_push(r->g->arena, k->frontier, frontier);
  }
  return true;
}

/* An expression over keys alone: meanwhile they replace the labels, and there are no loop variables. */
bool want_over_keys(AlgReader *r, const Keys *k, const Expr **out) {
  uint32_t turns = r->x.turn.len, len = r->x.text.len, cap = r->x.text.cap;
  Str *at = r->x.text.at;
  r->x.turn.len = 0;
  r->x.text.at = k->text.at;
  r->x.text.len = k->text.len;
  bool ok = want_expr(&r->x, OVER_PLACES, DT_I64, out);
  r->x.turn.len = turns;
  r->x.text.at = at;
  r->x.text.len = len;
  r->x.text.cap = cap;
  return ok;
}

/* `..` and the upper end */
static bool want_high(AlgReader *r, const Keys *k, RelDim *out) {
  return scan_want(&r->x.c, '.') && scan_want(&r->x.c, '.') && want_over_keys(r, k, &out->high);
}

/* `128`, `128/s`, `low..high` */
bool want_range(AlgReader *r, const Keys *k, RelDim *out) {
  Exprs *p = r->g->exprs;
  int64_t n;
  uint32_t key;
  scan_blanks(&r->x.c);
  bool number = r->x.c.s < r->x.c.end && (*r->x.c.s == '-' || (*r->x.c.s >= '0' && *r->x.c.s <= '9'));
  if (!number) return want_over_keys(r, k, &out->low) && want_high(r, k, out);
  if (!scan_want_int(&r->x.c, INT64_MIN, INT64_MAX, "a number", &n)) return false;
  out->low = expr_int(p, DT_I64, n);
  if (scan_is(&r->x.c, '.')) return want_high(r, k, out);
  if (n < 0) return fail(r, D_E908, "an extent is at least 0");
  *out = rel_whole(p, n);
  if (!scan_take(&r->x.c, '/')) return true;
  if (!want_key(r, k, &key)) return false;
  *out = rel_cut(p, n, expr_label(p, key), k->frontier.at[key]);
  return true;
}

bool want_ranges(AlgReader *r, const Keys *k, uint32_t *n, RelDim **out) {
  VEC(RelDim) dim = {0};
  RelDim d;
  if (!scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    if (dim.len && !scan_want(&r->x.c, ',')) return false;
    if (dim.len == SUM_RANK) return fail(r, D_E913, "an array has at most %d dimensions", SUM_RANK);
    if (!want_range(r, k, &d)) return false;
    vec_push(r->g->arena, dim, d);
  }
  *n = dim.len;
  *out = dim.at;
  return true;
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static bool number_follows(AlgReader *r) {
  return !scan_done(&r->x.c) && *r->x.c.s >= '0' && *r->x.c.s <= '9';
}

/* `at 0 * +` */
static bool want_placement(AlgReader *r, Placement *out) {
  if (!r->g->placed || !r->g->mesh.n) return true;
  if (!scan_want_word(&r->x.c, "at")) return false;
  for (uint32_t a = 0; a < r->g->mesh.n; a++) {
    int64_t k;
    if (scan_take(&r->x.c, '*'))
      k = PLACE_ALL;
    else if (scan_take(&r->x.c, '+'))
      k = PLACE_PART;
    else if (!number_follows(r))
      return fail(r, D_E903, "expected a key dimension, `*` or `+` here, for each of the mesh's axes, which are %u",
          r->g->mesh.n);
    else if (!scan_want_int(&r->x.c, 0, ALG_ON - 1, "a key dimension", &k))
      return false;
    out->on[a] = (int8_t)k;
  }
  bool more = scan_is(&r->x.c, '*') || scan_is(&r->x.c, '+') || number_follows(r);
  return !more || fail(r, D_E903, "the mesh has %u axes, and this is about one more", r->g->mesh.n);
}

/* ` : f32 places holes at 0 *` */
bool want_rest(AlgReader *r, AlgNode *n, const Keys *k) {
  Relation *t = &n->type;
  t->n_key = k->text.len;
  t->key = k->name.at;
  t->frontier = k->frontier.at;
  if (!scan_want(&r->x.c, ':') || !scan_want_dtype(&r->x.c, &t->dtype)) return false;
  t->places = scan_take_word(&r->x.c, "places");
  t->holes = scan_take_word(&r->x.c, "holes");
  return want_placement(r, &n->at);
}

static bool want_type(AlgReader *r, AlgNode *n, Keys *k) {
  RelDim *dim;
  if (!want_keys(r, k) || !want_ranges(r, k, &n->type.rank, &dim)) return false;
  n->type.dim = dim;
  return want_rest(r, n, k);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

bool want_relation(AlgReader *r, AlgNode **out) {
  *out = want_node(&r->b);
  return *out != NULL;
}

static AlgNode *node_new(AlgReader *r, AlgKind kind, uint32_t id) {
  AlgNode *n = MAKE(r->g->arena, AlgNode, .kind = kind, .id = id, .region = r->region);
  for (uint32_t a = 0; a < MESH_AXES; a++) n->at.on[a] = PLACE_ALL;
  return n;
}

/* Makes the node of a line from its id, optional name, and keys. */
AlgNode *want_head(AlgReader *r, AlgKind kind, Keys **k) {
  uint32_t id;
  if (!want_new_id(&r->b, &id)) return NULL;
  AlgNode *n = node_new(r, kind, id);
  if (!scan_is(&r->x.c, '{') && !scan_want_name(&r->x.c, &n->name)) return NULL;
  *k = keys_new(r, NULL);
  map_put(&r->keys, n, *k);
  return n;
}

AlgNode *want_typed(AlgReader *r, AlgKind kind) {
  Keys *k;
  AlgNode *n = want_head(r, kind, &k);
  return n && want_type(r, n, k) ? n : NULL;
}

/* ` of %3` */
bool want_of(AlgReader *r, AlgNode *n) {
  AlgOperand *o = NEW(r->g->arena, AlgOperand);
  n->n_operand = 1;
  n->operand = o;
  return scan_want_word(&r->x.c, "of") && want_relation(r, &o->node);
}

/* ---- functions of the array -------------------------------------------------------------------------------------- */

static bool want_merge(AlgReader *r, AlgFn *f) {
  VEC(uint8_t) merge = {0};
  int64_t k;
  if (!scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    if (merge.len && !scan_want(&r->x.c, ',')) return false;
    if (merge.len == SUM_RANK) return fail(r, D_E913, "an array has at most %d dimensions", SUM_RANK);
    if (!scan_want_int(&r->x.c, 0, SUM_RANK, "a number of dimensions", &k)) return false;
    vec_push(r->g->arena, merge, (uint8_t)k);
  }
  *f = (AlgFn){.kind = FN_MERGE, .n = merge.len, .merge = merge.at};
  return true;
}

/* `shift 0 by 16 w` */
static bool want_shift(AlgReader *r, const AlgNode *n, AlgFn *f) {
  f->kind = FN_SHIFT;
  return scan_want_number(&r->x.c, "a dimension", &f->n) && scan_want_word(&r->x.c, "by") &&
      scan_want_int(&r->x.c, 1, INT64_MAX, "how far", &f->by) &&
         want_key(r, keys_of(r, alg_of(n)), &f->key);
}

static bool want_fn(AlgReader *r, const AlgNode *n, AlgFn *f) {
  *f = (AlgFn){.kind = FN_CAST};
  if (scan_take_word(&r->x.c, "cast")) return scan_want_dtype(&r->x.c, &f->to);
  f->kind = FN_PLACE;
  if (scan_take_word(&r->x.c, "place")) return true;
  if (scan_take_word(&r->x.c, "shift")) return want_shift(r, n, f);
  return scan_take_word(&r->x.c, "merge") ? want_merge(r, f)
                                          : fail(r, D_E903, "expected `cast`, `place`, `merge` or `shift` here");
}

bool want_fns(AlgReader *r, AlgNode *n) {
  AlgFn f;
  r->fn.len = 0;
  do {
    if (!want_fn(r, n, &f)) return false;
    vec_push(r->g->arena, r->fn, f);
  } while (scan_take(&r->x.c, ','));
  n->n_fn = r->fn.len;
  n->fn = arena_copy(r->g->arena, r->fn.at, r->fn.len * sizeof f);
  return true;
}

bool take_fns(AlgReader *r, AlgNode *n) {
  return !scan_take_word(&r->x.c, "then") || want_fns(r, n);
}
