/* algebra/read.c - a Tra or an Ia from its text. Every line stands for itself: after a complaint the reader goes on with the next one,
 * and says nothing about lines that hang on one that failed. What is read is a program that can be walked; whether it is a sound one is
 * for algebra_check to say. */
#include "../expr/sum_law.h"
#include "../expr/sum_read.h"
#include "text.h"

enum { NO_ID = READ_IDS, MOST_SITES = 1 << 24 };

/* The keys of a relation as its line has them. */
typedef struct Keys {
  VEC(Str) text;             /* what they are called in expressions */
  VEC(Str) name;
  VEC(int64_t) frontier;
} Keys;

typedef struct Reader {
  SumReader x;
  Algebra *g;
  AlgRegion *region;
  Map nodes, failed, keys;   /* id + 1 to the node; those whose line failed; node to its Keys */
  uint32_t defining;         /* the id that the line at hand defines, or NO_ID */
  uint32_t ids;              /* the value of n_nodes that is due */
  bool give_up;              /* nothing that follows would make sense */
  VEC(AlgOperand) operand;   /* of the join at hand */
  VEC(RelDim) range;         /*   of its labels */
  VEC(AlgFn) fn;             /* of the line at hand */
} Reader;

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

#define fail(r, ...) scan_fail(&(r)->x.c, __VA_ARGS__)

/* ---- references ------------------------------------------------------------------------------------------ */

static AlgNode *node_of(Reader *r, uint32_t id) {
  AlgNode *n = map_find(&r->nodes, id_key(id));
  if (!n && map_find(&r->failed, id_key(id))) r->x.c.quiet = true;
  return n;
}

static bool want_ref(Reader *r, AlgNode **out) {
  uint32_t id;
  const char *at = r->x.c.s;
  if (!scan_want_id(&r->x.c, &id)) return false;
  *out = node_of(r, id);
  if (*out) return true;
  r->x.c.s = at;
  return fail(r, D_E905, "%%%u is not defined above this line", id);
}

static bool want_relation(Reader *r, AlgNode **out) {
  const char *at = r->x.c.s;
  if (!want_ref(r, out)) return false;
  if (alg_is_tensor(*out)) return true;
  r->x.c.s = at;
  return fail(r, D_E905, "%%%u is a repeat, not a relation", (*out)->id);
}

/* The id of the node that the line defines. */
static bool want_new_id(Reader *r, uint32_t *id) {
  const char *at = r->x.c.s;
  if (!scan_want_id(&r->x.c, id)) return false;
  if (map_find(&r->nodes, id_key(*id))) {
    r->x.c.s = at;
    return fail(r, D_E906, "%%%u is defined already", *id);
  }
  r->defining = *id;
  return true;
}

static AlgNode *node_new(Reader *r, AlgKind kind, uint32_t id) {
  AlgNode *n = NEW(r->g->arena, AlgNode);
  *n = (AlgNode){.kind = kind, .id = id, .region = r->region};
  for (uint32_t a = 0; a < MESH_AXES; a++) n->at.on[a] = PLACE_ALL;
  return n;
}

/* The node's line is read. */
static bool node_made(Reader *r, AlgNode *n) {
  vec_push(r->g->arena, r->region->nodes, n);
  map_put(&r->nodes, id_key(n->id), n);
  if (r->ids <= n->id) r->ids = n->id + 1;
  return true;
}

/* ---- keys, and expressions over them ------------------------------------------------------------------------ */

static Keys *keys_new(Reader *r, const Keys *from) {
  Keys *k = NEW(r->g->arena, Keys);
  for (uint32_t i = 0; from && i < from->text.len; i++) {
    vec_push(r->g->arena, k->text, from->text.at[i]);
    vec_push(r->g->arena, k->name, from->name.at[i]);
    vec_push(r->g->arena, k->frontier, from->frontier.at[i]);
  }
  return k;
}

static const Keys *keys_of(Reader *r, const AlgNode *n) {
  const Keys *k = n ? map_find(&r->keys, n) : NULL;
  return k ? k : keys_new(r, NULL);
}

static bool key_find(const Keys *k, Str text, uint32_t *out) {
  for (uint32_t i = 0; i < k->text.len; i++)
    if (k->text.at[i] == text) return *out = i, true;
  return false;
}

/* The name of one of the keys. */
static bool want_key(Reader *r, const Keys *k, uint32_t *out) {
  const char *at;
  size_t n = scan_word(&r->x.c, false, &at);
  if (n && key_find(k, str_of(r->x.c.strings, at, n), out)) return true;
  r->x.c.s = at;
  return fail(r, D_E914, "wanted the name of a key here");
}

/* `{s:4, _1="odd name":2}`, added to k. */
static bool want_keys(Reader *r, Keys *k) {
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

/* An expression over keys alone: they take the place of labels for so long, and there are no loop variables. */
static bool want_over_keys(Reader *r, const Keys *k, const Expr **out) {
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
static bool want_high(Reader *r, const Keys *k, RelDim *out) {
  return scan_want(&r->x.c, '.') && scan_want(&r->x.c, '.') && want_over_keys(r, k, &out->high);
}

/* `128`, `128/s`, `low..high` */
static bool want_range(Reader *r, const Keys *k, RelDim *out) {
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

static bool want_ranges(Reader *r, const Keys *k, uint32_t *n, RelDim **out) {
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

/* `at 0 * +` */
static bool want_placement(Reader *r, Placement *out) {
  if (!r->g->placed || !r->g->mesh.n) return true;
  if (!scan_want_word(&r->x.c, "at")) return false;
  for (uint32_t a = 0; a < r->g->mesh.n; a++) {
    int64_t k;
    if (scan_take(&r->x.c, '*'))
      k = PLACE_ALL;
    else if (scan_take(&r->x.c, '+'))
      k = PLACE_PART;
    else if (!scan_want_int(&r->x.c, 0, ALG_ON - 1, "a key dimension, `*` or `+`", &k))
      return false;
    out->on[a] = (int8_t)k;
  }
  return true;
}

/* ` : f32 places holes at 0 *` */
static bool want_rest(Reader *r, AlgNode *n, const Keys *k) {
  Relation *t = &n->type;
  t->n_key = k->text.len;
  t->key = k->name.at;
  t->frontier = k->frontier.at;
  if (!scan_want(&r->x.c, ':') || !scan_want_dtype(&r->x.c, &t->dtype)) return false;
  t->places = scan_take_word(&r->x.c, "places");
  t->holes = scan_take_word(&r->x.c, "holes");
  return want_placement(r, &n->at);
}

static bool want_type(Reader *r, AlgNode *n, Keys *k) {
  RelDim *dim;
  if (!want_keys(r, k) || !want_ranges(r, k, &n->type.rank, &dim)) return false;
  n->type.dim = dim;
  return want_rest(r, n, k);
}

/* The node of a line that begins with its id, perhaps its name, and its keys. */
static AlgNode *want_head(Reader *r, AlgKind kind, Keys **k) {
  uint32_t id;
  if (!want_new_id(r, &id)) return NULL;
  AlgNode *n = node_new(r, kind, id);
  if (!scan_is(&r->x.c, '{') && !scan_want_name(&r->x.c, &n->name)) return NULL;
  *k = keys_new(r, NULL);
  map_put(&r->keys, n, *k);
  return n;
}

static AlgNode *want_typed(Reader *r, AlgKind kind) {
  Keys *k;
  AlgNode *n = want_head(r, kind, &k);
  return n && want_type(r, n, k) ? n : NULL;
}

/* ` of %3` */
static bool want_of(Reader *r, AlgNode *n) {
  AlgOperand *o = NEW(r->g->arena, AlgOperand);
  n->n_operand = 1;
  n->operand = o;
  return scan_want_word(&r->x.c, "of") && want_relation(r, &o->node);
}

static bool finish(Reader *r, AlgNode *n) {
  return scan_want_end(&r->x.c, &n->place) && node_made(r, n);
}

/* ---- functions of the array ---------------------------------------------------------------------------------------- */

static bool want_merge(Reader *r, AlgFn *f) {
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

static bool want_fn(Reader *r, AlgFn *f) {
  *f = (AlgFn){.kind = FN_CAST};
  if (scan_take_word(&r->x.c, "cast")) return scan_want_dtype(&r->x.c, &f->to);
  f->kind = FN_PLACE;
  if (scan_take_word(&r->x.c, "place")) return true;
  return scan_take_word(&r->x.c, "merge") ? want_merge(r, f) : fail(r, D_E903, "wanted `cast`, `place` or `merge` here");
}

static bool want_fns(Reader *r, AlgNode *n) {
  AlgFn f;
  r->fn.len = 0;
  do {
    if (!want_fn(r, &f)) return false;
    vec_push(r->g->arena, r->fn, f);
  } while (scan_take(&r->x.c, ','));
  n->n_fn = r->fn.len;
  n->fn = arena_copy(r->g->arena, r->fn.at, r->fn.len * sizeof f);
  return true;
}

static bool take_fns(Reader *r, AlgNode *n) {
  return !scan_take_word(&r->x.c, "then") || want_fns(r, n);
}

/* ---- join --------------------------------------------------------------------------------------------------------------- */

/* &k is operand k. */
static bool read_of(void *ctx, bool kept, int64_t k, DType *dtype, int64_t *slot) {
  Reader *r = ctx;
  if (!kept || k >= r->operand.len) {
    r->x.why = kept ? "this join has not so many operands" : "a kernel reads the operands of its join, like &0[i]";
    return false;
  }
  *dtype = r->operand.at[k].node->type.dtype;
  *slot = k;
  return true;
}

static bool want_label_range(Reader *r, const Keys *k) {
  Str text, name;
  RelDim d;
  if (r->x.label.len == SUM_RANK) return fail(r, D_E913, "a join has at most %d labels", SUM_RANK);
  if (!want_alias(&r->x, &text, &name)) return false;
  for (uint32_t i = 0; i < r->x.text.len; i++)
    if (r->x.text.at[i] == text) return fail(r, D_E911, "label %s stands here twice", text->s);
  if (!scan_want(&r->x.c, ':') || !want_range(r, k, &d)) return false;
  vec_push(r->g->arena, r->x.text, text);
  vec_push(r->g->arena, r->x.label, name);
  vec_push(r->g->arena, r->range, d);
  return true;
}

/* `[s:128/s, h:4/h; a:64/a]`, and perhaps `to [...]` */
static bool want_labels(Reader *r, AlgNode *n, EinSum *s, const Keys *k) {
  sum_read_begin(&r->x);
  r->range.len = 0;
  bool reduced = false, first = true;
  if (!scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    if (!reduced && scan_take(&r->x.c, ';')) {
      reduced = true;
      s->n_out = r->x.label.len;
    } else if (!first && !scan_want(&r->x.c, ',')) {
      return false;
    }
    if (!want_label_range(r, k)) return false;
    first = false;
  }
  if (!reduced) s->n_out = r->x.label.len;
  s->n_red = r->x.label.len - s->n_out;
  n->range = arena_copy(r->g->arena, r->range.at, r->range.len * sizeof(RelDim));
  n->label = arena_copy(r->g->arena, r->x.label.at, r->x.label.len * sizeof(Str));
  n->type.rank = s->n_out;
  n->type.dim = n->range;
  RelDim *dim;
  if (!scan_take_word(&r->x.c, "to")) return true;
  if (!want_ranges(r, k, &n->type.rank, &dim)) return false;
  n->type.dim = dim;
  return true;
}

/* `%0{s, -} wanted` */
static bool want_operand(Reader *r, const Keys *k) {
  AlgOperand o = {0};
  if (r->operand.len == READ_IDS) return fail(r, D_E913, "a join has at most %d operands", READ_IDS);
  if (!want_relation(r, &o.node) || !scan_want(&r->x.c, '{')) return false;
  uint32_t n = o.node->type.n_key, key = 0;
  int32_t *on = NEW_ARRAY(r->g->arena, int32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (i && !scan_want(&r->x.c, ',')) return false;
    on[i] = -1;
    if (scan_take(&r->x.c, '-')) continue;
    if (!want_key(r, k, &key)) return false;
    on[i] = (int32_t)key;
  }
  if (!scan_take(&r->x.c, '}')) return fail(r, D_E914, "wanted `}` here: %%%u has %u keys", o.node->id, n);
  o.on = on;
  o.wanted = scan_take_word(&r->x.c, "wanted");
  vec_push(r->g->arena, r->operand, o);
  return true;
}

static bool want_operands(Reader *r, AlgNode *n, const Keys *k) {
  r->operand.len = 0;
  if (!scan_take_word(&r->x.c, "of")) return true;
  do {
    if (!want_operand(r, k)) return false;
  } while (scan_take(&r->x.c, ','));
  n->n_operand = r->operand.len;
  n->operand = arena_copy(r->g->arena, r->operand.at, r->operand.len * sizeof(AlgOperand));
  return true;
}

static bool want_kernel(Reader *r, AlgNode *n, EinSum *s) {
  s->acc = n->type.dtype;
  s->n_slot = n->n_operand;
  if (!scan_want(&r->x.c, '=')) return false;
  if (reducer_follows(&r->x)) {
    if (!want_reducer_name(&r->x, s)) return false;
    if (scan_take(&r->x.c, '[') &&
        (!scan_want_word(&r->x.c, "where") || !want_expr(&r->x, OVER_ALL, DT_I64, &s->where) || !scan_want(&r->x.c, ']')))
      return false;
  }
  if (!want_expr(&r->x, OVER_ALL, DT_I64, &s->body)) return false;
  if (scan_take_word(&r->x.c, "domain") && !want_expr(&r->x, OVER_ALL, DT_I64, &s->domain)) return false;
  s->dtype = s->reducer == RED_ARGMAX || s->reducer == RED_ARGMIN ? DT_I64 : s->acc;
  return !scan_take_word(&r->x.c, "gives") || scan_want_dtype(&r->x.c, &s->dtype);
}

static bool line_join(Reader *r) {
  Keys *k;
  AlgNode *n = want_head(r, ALG_JOIN, &k);
  EinSum *s = NEW(r->g->arena, EinSum);
  if (!n || !want_keys(r, k) || !want_labels(r, n, s, k) || !want_rest(r, n, k)) return false;
  if (!want_operands(r, n, k) || !want_kernel(r, n, s) || !take_fns(r, n)) return false;
  s->hash = sum_hash(s);
  n->sum = s;
  return finish(r, n);
}

/* ---- the other operations --------------------------------------------------------------------------------------------------- */

static bool line_input(Reader *r) {
  AlgNode *n = want_typed(r, ALG_INPUT);
  if (!n || !finish(r, n)) return false;
  vec_push(r->g->arena, r->g->inputs, n);
  return true;
}

/* ` by {s, h}` */
static bool want_group(Reader *r, AlgNode *n) {
  const Keys *k = keys_of(r, alg_of(n));
  VEC(uint32_t) group = {0};
  uint32_t key = 0;
  if (!scan_want_word(&r->x.c, "by") || !scan_want(&r->x.c, '{')) return false;
  while (!scan_take(&r->x.c, '}')) {
    if (group.len && !scan_want(&r->x.c, ',')) return false;
    if (group.len == REL_KEYS) return fail(r, D_E913, "a relation has at most %d keys", REL_KEYS);
    if (!want_key(r, k, &key)) return false;
    vec_push(r->g->arena, group, key);
  }
  n->n_group = group.len;
  n->group = group.at;
  return true;
}

/* `sum`, or a monoid with its dtype */
static bool want_reducer_word(Reader *r, AlgNode *n) {
  Str name;
  DType t;
  bool quoted = scan_is(&r->x.c, '"');
  const char *at = r->x.c.s;
  if (!scan_want_name(&r->x.c, &name)) return false;
  if (!quoted && reducer_find(name->s, name->len, &n->reducer) && n->reducer != RED_MONOID && n->reducer != RED_NONE) return true;
  n->reducer = RED_MONOID;
  if (!scan_take(&r->x.c, ':')) {
    r->x.c.s = at;
    return fail(r, D_E910, "%s is no reducer; a monoid's dtype is said, as in plus:f32", name->s);
  }
  if (!scan_want_dtype(&r->x.c, &t)) return false;
  n->monoid = monoid_of(&r->x, name, t);
  if (n->monoid) return true;
  r->x.c.s = at;
  return fail(r, D_E910, "no monoid of %s is called %s", dtype_name(t), name->s);
}

static bool read_aggregate(Reader *r, bool concat) {
  AlgNode *n = want_typed(r, ALG_AGGREGATE);
  if (!n || !want_of(r, n) || !want_group(r, n)) return false;
  n->reducer = RED_NONE;
  if (!concat && !want_reducer_word(r, n)) return false;
  return take_fns(r, n) && finish(r, n);
}

static bool line_aggregate(Reader *r) {
  return read_aggregate(r, false);
}
static bool line_concat(Reader *r) {
  return read_aggregate(r, true);
}

/* ` into {t:2} [...]`: adds to k, the operand's keys */
static bool want_pieces(Reader *r, AlgNode *n, Keys *k) {
  uint32_t old = k->text.len, rank;
  RelDim *dim;
  if (!want_keys(r, k) || !want_ranges(r, k, &rank, &dim)) return false;
  if (rank != alg_of(n)->type.rank) return fail(r, D_E914, "the pieces have %u dimensions, the arrays %u", rank, alg_of(n)->type.rank);
  n->n_piece = k->text.len - old;
  n->frontier = k->frontier.at + old;
  n->key = k->name.at + old;
  n->piece = dim ? dim : NEW(r->g->arena, RelDim);
  return true;
}

/* ` to [i, (j * 2)]` */
static bool want_rekey(Reader *r, AlgNode *n, const Keys *k) {
  const Expr **to = NEW_ARRAY(r->g->arena, const Expr *, n->type.n_key + 1);
  if (!scan_want(&r->x.c, '[')) return false;
  for (uint32_t i = 0; i < n->type.n_key; i++) {
    if (i && !scan_want(&r->x.c, ',')) return false;
    if (!want_over_keys(r, k, &to[i])) return false;
  }
  n->rekey = to;
  return scan_take(&r->x.c, ']') || fail(r, D_E914, "wanted `]` here: the result has %u keys", n->type.n_key);
}

static bool line_map(Reader *r) {
  AlgNode *n = want_typed(r, ALG_MAP);
  if (!n || !want_of(r, n)) return false;
  Keys *k = keys_new(r, keys_of(r, alg_of(n)));
  if (scan_take_word(&r->x.c, "into") && !want_pieces(r, n, k)) return false;
  if (scan_take_word(&r->x.c, "to") && !want_rekey(r, n, k)) return false;
  return take_fns(r, n) && finish(r, n);
}

static bool line_transform(Reader *r) {
  AlgNode *n = want_typed(r, ALG_MAP);
  return n && want_of(r, n) && want_fns(r, n) && finish(r, n);
}

static bool line_filter(Reader *r) {
  AlgNode *n = want_typed(r, ALG_FILTER);
  return n && want_of(r, n) && scan_want_word(&r->x.c, "keep") && want_over_keys(r, keys_of(r, n), &n->keep) && finish(r, n);
}

static bool read_move(Reader *r, bool broadcast) {
  const char *at = r->x.c.s;
  if (!r->g->placed) return fail(r, D_E915, "there are no moves in a Tra");
  AlgNode *n = want_typed(r, ALG_MOVE);
  if (!n || !want_of(r, n)) return false;
  if (alg_is_broadcast(r->g, n) != broadcast) {
    r->x.c.s = at;
    return fail(r, D_E915, broadcast ? "this is a shuffle: it does more than make copies" : "this is a broadcast: it makes copies alone");
  }
  return finish(r, n);
}

static bool line_broadcast(Reader *r) {
  return read_move(r, true);
}
static bool line_shuffle(Reader *r) {
  return read_move(r, false);
}

/* ---- repeats ------------------------------------------------------------------------------------------------------------------ */

static bool line_state(Reader *r) {
  AlgState s = {.node = want_typed(r, ALG_STATE)};
  if (!s.node || !scan_want(&r->x.c, '=') || !want_relation(r, &s.init)) return false;
  s.node->repeat = r->region->repeat;
  s.node->index = r->region->states.len;
  if (!finish(r, s.node)) return false;
  vec_push(r->g->arena, r->region->states, s);
  return true;
}

typedef struct RepeatHead {
  uint32_t id;
  Str text, turn, name;
  AlgNode *bound;
  int64_t turns;
  Place place;
} RepeatHead;

static bool want_repeat(Reader *r, RepeatHead *h) {
  if (!want_new_id(r, &h->id) || !want_alias(&r->x, &h->text, &h->turn)) return false;
  if (!scan_want(&r->x.c, '<') || !want_relation(r, &h->bound)) return false;
  if (scan_take_word(&r->x.c, "turns") && !scan_want_int(&r->x.c, 0, INT64_MAX, "the number of turns", &h->turns)) return false;
  if (scan_take_word(&r->x.c, "named") && !scan_want_name(&r->x.c, &h->name)) return false;
  if (r->x.turn.len == ALG_DEPTH) return fail(r, D_E913, "repeats are nested at most %d deep", ALG_DEPTH);
  return scan_place(&r->x.c, &h->place) && scan_want(&r->x.c, '{') && scan_want_end(&r->x.c, NULL);
}

static bool line_repeat(Reader *r) {
  RepeatHead h = {.turns = -1};
  if (!want_repeat(r, &h)) {
    r->give_up = true;
    return false;
  }
  AlgNode *n = node_new(r, ALG_REPEAT, h.id);
  n->name = h.name;
  n->place = h.place;
  node_made(r, n);
  AlgRegion *b = NEW(r->g->arena, AlgRegion);
  *b = (AlgRegion){.parent = r->region, .repeat = n, .depth = r->x.turn.len, .turn = h.turn, .bound = h.bound, .turns = h.turns};
  n->body = r->region = b;
  vec_push(r->g->arena, r->x.turn, h.text);
  return true;
}

/* A repeat whose block is closed. */
static bool want_closed(Reader *r, AlgNode **out) {
  const char *at = r->x.c.s;
  if (!want_ref(r, out)) return false;
  bool open = false;
  for (const AlgRegion *x = r->region; x; x = x->parent) open |= x->repeat == *out;
  if ((*out)->kind == ALG_REPEAT && !open) return true;
  r->x.c.s = at;
  return fail(r, D_E909, "wanted a repeat whose block is closed");
}

/* `.2` after a repeat: one of its n states or stacks. */
static bool want_index(Reader *r, uint32_t n, const char *what, uint32_t *out) {
  int64_t k;
  if (!scan_want(&r->x.c, '.')) return false;
  if (!n) return fail(r, D_E909, "this repeat has no %s", what);
  if (!scan_want_int(&r->x.c, 0, (int64_t)n - 1, "the number behind the dot", &k)) return false;
  *out = (uint32_t)k;
  return true;
}

static bool read_result(Reader *r, AlgKind kind) {
  AlgNode *n = want_typed(r, kind);
  if (!n || !scan_want(&r->x.c, '=') || !want_closed(r, &n->repeat)) return false;
  const AlgRegion *body = n->repeat->body;
  if (kind == ALG_FINAL && !want_index(r, body->states.len, "states", &n->index)) return false;
  if (kind == ALG_STACK && !want_index(r, body->stacks.len, "stacks", &n->index)) return false;
  return finish(r, n);
}

static bool line_final(Reader *r) {
  return read_result(r, ALG_FINAL);
}
static bool line_stacked(Reader *r) {
  return read_result(r, ALG_STACK);
}
static bool line_turns(Reader *r) {
  return read_result(r, ALG_TURNS);
}

static bool line_next(Reader *r) {
  AlgNode *n, *next;
  const char *at = r->x.c.s;
  if (!want_ref(r, &n)) return false;
  bool own = n->kind == ALG_STATE && n->region == r->region;
  if (!own || r->region->states.at[n->index].next) {
    r->x.c.s = at;
    return fail(r, D_E909, own ? "this state has a next already" : "wanted a state of this block");
  }
  if (!scan_want(&r->x.c, '=') || !want_relation(r, &next) || !scan_want_end(&r->x.c, NULL)) return false;
  r->region->states.at[n->index].next = next;
  return true;
}

static bool line_stack(Reader *r) {
  AlgStack s = {0};
  int64_t axis;
  if (!scan_want_name(&r->x.c, &s.name) || !scan_want(&r->x.c, '=') || !want_relation(r, &s.node)) return false;
  if (!scan_want_word(&r->x.c, "axis") || !scan_want_int(&r->x.c, 0, SUM_RANK, "an axis", &axis)) return false;
  if (!scan_want_end(&r->x.c, NULL)) return false;
  s.axis = (uint32_t)axis;
  vec_push(r->g->arena, r->region->stacks, s);
  return true;
}

static bool line_until(Reader *r) {
  if (r->region->stop) return fail(r, D_E909, "this block has an until already");
  AlgNode *n;
  if (!want_relation(r, &n) || !scan_want_end(&r->x.c, NULL)) return false;
  r->region->stop = n;
  return true;
}

static bool line_close(Reader *r) {
  if (!scan_want_end(&r->x.c, NULL)) return false;
  const AlgRegion *b = r->region;
  r->region = b->parent;
  r->x.turn.len--;
  for (uint32_t i = 0; i < b->states.len; i++)
    if (!b->states.at[i].next) return fail(r, D_E909, "state %%%u of this block has no next", b->states.at[i].node->id);
  return true;
}

/* ---- lines of the program --------------------------------------------------------------------------------------------------------- */

static bool line_monoid(Reader *r) {
  Monoid *m = NEW(r->g->arena, Monoid);
  if (!want_monoid(&r->x, m)) return false;
  vec_push(r->g->arena, r->g->monoids, m);
  vec_push(r->g->arena, r->x.monoids, m);
  return true;
}

static bool line_output(Reader *r) {
  AlgOutput o = {0};
  VEC(int64_t) extent = {0};
  int64_t n;
  if (!scan_want_name(&r->x.c, &o.name) || !scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    if (extent.len && !scan_want(&r->x.c, ',')) return false;
    if (extent.len == SUM_RANK) return fail(r, D_E913, "a tensor has at most %d dimensions", SUM_RANK);
    if (!scan_want_int(&r->x.c, 0, INT64_MAX, "an extent", &n)) return false;
    vec_push(r->g->arena, extent, n);
  }
  if (!scan_want(&r->x.c, '=') || !want_relation(r, &o.node) || !scan_want_end(&r->x.c, NULL)) return false;
  o.rank = extent.len;
  o.extent = extent.at;
  vec_push(r->g->arena, r->g->outputs, o);
  return true;
}

static bool line_assert(Reader *r) {
  AlgAssert x = {0};
  if (!want_relation(r, &x.node)) return false;
  if (scan_is(&r->x.c, '"') && !scan_want_string(&r->x.c, &x.text)) return false;
  if (!scan_want_end(&r->x.c, &x.place)) return false;
  vec_push(r->g->arena, r->g->asserts, x);
  return true;
}

static bool line_ids(Reader *r) {
  int64_t n;
  if (!scan_want_int(&r->x.c, 0, READ_IDS, "the number of ids", &n) || !scan_want_end(&r->x.c, NULL)) return false;
  if (r->ids < n) r->ids = (uint32_t)n;
  return true;
}

/* ---- the file -------------------------------------------------------------------------------------------------------------------------- */

typedef enum { ANYWHERE, PROGRAM, BLOCK } Where;

typedef struct Line {
  const char *word;
  Where where;
  bool (*read)(Reader *);
} Line;

static const Line lines[] = {
    {"join", ANYWHERE, line_join},           {"aggregate", ANYWHERE, line_aggregate}, {"concat", ANYWHERE, line_concat},
    {"tile", ANYWHERE, line_map},            {"rekey", ANYWHERE, line_map},           {"map", ANYWHERE, line_map},
    {"transform", ANYWHERE, line_transform}, {"filter", ANYWHERE, line_filter},       {"broadcast", ANYWHERE, line_broadcast},
    {"shuffle", ANYWHERE, line_shuffle},     {"repeat", ANYWHERE, line_repeat},       {"final", ANYWHERE, line_final},
    {"stacked", ANYWHERE, line_stacked},     {"turns", ANYWHERE, line_turns},         {"state", BLOCK, line_state},
    {"next", BLOCK, line_next},              {"stack", BLOCK, line_stack},            {"until", BLOCK, line_until},
    {"input", PROGRAM, line_input},          {"monoid", PROGRAM, line_monoid},        {"ids", PROGRAM, line_ids},
    {"output", PROGRAM, line_output},        {"assert", PROGRAM, line_assert},
};

static bool read_line(Reader *r) {
  if (scan_done(&r->x.c) || *r->x.c.s == '#') return true;
  bool block = r->region->parent != NULL;
  if (block && scan_take(&r->x.c, '}')) return line_close(r);
  for (size_t i = 0; i < COUNT(lines); i++) {
    const char *at = r->x.c.s;
    if (!scan_take_word(&r->x.c, lines[i].word)) continue;
    if (lines[i].where == ANYWHERE || (lines[i].where == BLOCK) == block) return lines[i].read(r);
    r->x.c.s = at;
    return fail(r, D_E909, "`%s` stands %s only", lines[i].word, block ? "outside of repeats" : "in a repeat");
  }
  return fail(r, D_E902, "wanted a line that begins with %s, join or the like", block ? "state, }" : "input");
}

static const char *next_line(Reader *r, const char *at) {
  r->defining = NO_ID;
  return scan_line(&r->x.c, at);
}

/* `mesh 2 2 2` */
static bool read_mesh(Reader *r) {
  Mesh *m = &r->g->mesh;
  int64_t size, sites = 1;
  if (!scan_take_word(&r->x.c, "mesh")) return fail(r, D_E901, "wanted the line `mesh` behind `ia 1`, with the size of each axis");
  while (!scan_done(&r->x.c)) {
    if (m->n == MESH_AXES) return fail(r, D_E913, "a mesh has at most %d axes", MESH_AXES);
    if (!scan_want_int(&r->x.c, 1, MOST_SITES, "the size of an axis", &size)) return false;
    sites *= size;
    if (sites > MOST_SITES) return fail(r, D_E913, "a mesh has at most %d sites", MOST_SITES);
    m->size[m->n++] = (uint32_t)size;
  }
  return true;
}

static bool read_header(Reader *r, const char **at) {
  r->g->placed = scan_take_word(&r->x.c, "ia");
  bool ok = (r->g->placed || scan_take_word(&r->x.c, "tra")) && scan_take(&r->x.c, '1') && scan_done(&r->x.c);
  if (!ok) return fail(r, D_E901, "wanted the line `tra 1` or `ia 1` first");
  if (!r->g->placed) return true;
  if (!*at) return fail(r, D_E901, "wanted the line `mesh` behind `ia 1`, with the size of each axis");
  *at = next_line(r, *at);
  return read_mesh(r);
}

Algebra *algebra_read(Arena *a, Strings *t, Source *src, Diags *d) {
  Algebra *g = algebra_new(a, t, exprs_new(a));
  Reader r = {.x = sum_reader(a, g->exprs, (Scan){.src = src, .strings = t, .d = d, .noun = "node"}), .g = g, .region = g->top};
  r.x.ctx = &r;
  r.x.read = read_of;
  r.x.kept = true;
  r.nodes = r.failed = r.keys = map_new(a);
  const char *at = next_line(&r, src->bytes);
  if (!read_header(&r, &at)) return NULL;
  bool ok = true;
  while (at && !r.give_up) {
    at = next_line(&r, at);
    if (read_line(&r)) continue;
    ok = false;
    if (r.defining != NO_ID) map_put(&r.failed, id_key(r.defining), &r);
  }
  if (r.region->parent && !r.give_up) ok = fail(&r, D_E909, "wanted `}` for repeat %%%u", r.region->repeat->id);
  g->n_nodes = r.ids;
  return ok ? g : NULL;
}
