/* algebra/text/read_node.c - reads the lines of operations: inputs, joins with their kernels, aggregates, maps,
 * filters and moves. */
#include "read_inside.h"

/* ---- join -------------------------------------------------------------------------------------------------------- */

static bool want_label_range(AlgReader *r, const Keys *k) {
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
static bool want_labels(AlgReader *r, AlgNode *n, EinSum *s, const Keys *k) {
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

/* ` panels k:4`, or nothing */
static bool take_panels(AlgReader *r, AlgNode *n) {
  const char *at;
  int64_t panels;
  if (!scan_take_word(&r->x.c, "panels")) return true;
  size_t len = scan_word(&r->x.c, false, &at);
  Str name = str_of(r->x.c.strings, at, len);
  while (n->panel < r->x.text.len && r->x.text.at[n->panel] != name) n->panel++;
  if (n->panel == r->x.text.len) {
    r->x.c.s = at;
    return fail(r, D_E914, "expected one of the join's labels here");
  }
  if (!scan_want(&r->x.c, ':') || !scan_want_int(&r->x.c, 2, PANELS_MOST, "a number of panels", &panels)) return false;
  n->panels = (uint32_t)panels;
  return true;
}

/* `%0{s, -} wanted`; a fetch's table, its last operand, has no keys here */
static bool want_operand(AlgReader *r, const AlgNode *x, const Keys *k) {
  AlgOperand o = {0};
  if (r->operand.len == READ_IDS) return fail(r, D_E913, "a join has at most %d operands", READ_IDS);
  if (!want_relation(r, &o.node)) return false;
  if (x->kind == ALG_FETCH && !scan_is(&r->x.c, '{') && !scan_is(&r->x.c, ',')) {
    vec_push(r->g->arena, r->operand, o);
    return true;
  }
  if (!scan_want(&r->x.c, '{')) return false;
  uint32_t n = o.node->type.n_key, key = 0;
  const Keys *its = keys_of(r, o.node);
  int32_t *on = NEW_ARRAY(r->g->arena, int32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (i && !scan_take(&r->x.c, ','))
      return fail(
          r, D_E914, "expected a key for each of the %u that %%%u has: %s is next", n, o.node->id, its->text.at[i]->s);
    on[i] = -1;
    if (scan_take(&r->x.c, '-')) continue;
    if (!want_key(r, k, &key)) return false;
    on[i] = (int32_t)key;
  }
  if (!scan_take(&r->x.c, '}')) return fail(r, D_E914, "expected `}` here: %%%u has %u keys", o.node->id, n);
  o.on = on;
  o.wanted = scan_take_word(&r->x.c, "wanted");
  vec_push(r->g->arena, r->operand, o);
  return true;
}

static bool want_operands(AlgReader *r, AlgNode *n, const Keys *k) {
  r->operand.len = 0;
  if (!scan_take_word(&r->x.c, "of")) return true;
  do {
    if (!want_operand(r, n, k)) return false;
  } while (scan_take(&r->x.c, ','));
  n->n_operand = r->operand.len;
  n->operand = arena_copy(r->g->arena, r->operand.at, r->operand.len * sizeof(AlgOperand));
  return true;
}

static bool want_kernel(AlgReader *r, AlgNode *n, EinSum *s) {
  s->acc = n->type.dtype;
  s->n_slot = n->n_operand;
  if (!scan_want(&r->x.c, '=')) return false;
  if (reducer_follows(&r->x)) {
    if (!want_reducer_name(&r->x, s)) return false;
    if (scan_take(&r->x.c, '[') &&
        (!scan_want_word(&r->x.c, "where") || !want_expr(&r->x, OVER_ALL, DT_I64, &s->where) ||
            !scan_want(&r->x.c, ']')))
      return false;
  }
  if (!want_expr(&r->x, OVER_ALL, DT_I64, &s->body)) return false;
  if (scan_take_word(&r->x.c, "domain") && !want_expr(&r->x, OVER_ALL, DT_I64, &s->domain)) return false;
  s->dtype = reducer_is_arg(s->reducer) ? DT_I64 : s->acc;
  if (scan_take_word(&r->x.c, "gives") && !scan_want_dtype(&r->x.c, &s->dtype)) return false;
  return take_by(&r->x, s);
}

static bool want_placed(AlgReader *r) {
  return r->g->placed || fail(r, D_E915, "there are no moves in a Tra");
}

/* `join` or `fetch` */
bool line_kernel(RegionReader *b, int kind) {
  AlgReader *r = b->ctx;
  Keys *k;
  if (kind == ALG_FETCH && !want_placed(r)) return false;
  AlgNode *n = want_head(r, (AlgKind)kind, &k);
  EinSum *s = NEW(r->g->arena, EinSum);
  if (!n || !want_keys(r, k) || !want_labels(r, n, s, k) || !want_rest(r, n, k)) return false;
  if (kind == ALG_JOIN && !take_panels(r, n)) return false;
  if (!want_operands(r, n, k) || !want_kernel(r, n, s) || !take_fns(r, n)) return false;
  s->hash = sum_hash(s);
  n->sum = s;
  return line_end(r, n);
}

/* ---- the other operations ---------------------------------------------------------------------------------------- */

bool line_input(RegionReader *b, int which) {
  AlgReader *r = b->ctx;
  (void)which;
  AlgNode *n = want_typed(r, ALG_INPUT);
  if (!n || !line_end(r, n)) return false;
  vec_push(r->g->arena, r->g->inputs, n);
  return true;
}

/* ` by {s, h}` */
static bool want_group(AlgReader *r, AlgNode *n) {
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
static bool want_reducer_word(AlgReader *r, AlgNode *n) {
  Str name;
  DType t;
  bool quoted = scan_is(&r->x.c, '"');
  const char *at = r->x.c.s;
  if (!scan_want_name(&r->x.c, &name)) return false;
  if (!quoted && reducer_find(name->s, name->len, &n->reducer) && n->reducer != RED_MONOID && n->reducer != RED_NONE)
    return true;
  n->reducer = RED_MONOID;
  if (!scan_take(&r->x.c, ':')) {
    r->x.c.s = at;
    return fail(r, D_E910, "%s is no reducer; give a monoid's dtype, as in plus:f32", name->s);
  }
  if (!scan_want_dtype(&r->x.c, &t)) return false;
  n->monoid = monoid_of(&r->x, name, t);
  if (n->monoid) return true;
  r->x.c.s = at;
  return fail(r, D_E910, "no monoid of %s is called %s", dtype_name(t), name->s);
}

bool line_aggregate(RegionReader *b, int reduces) {
  AlgReader *r = b->ctx;
  AlgNode *n = want_typed(r, ALG_AGGREGATE);
  if (!n || !want_of(r, n) || !want_group(r, n)) return false;
  n->reducer = RED_NONE;
  if (reduces && !want_reducer_word(r, n)) return false;
  return take_fns(r, n) && line_end(r, n);
}

/* ` into {t:2} [...]`: adds to k, the operand's keys */
static bool want_pieces(AlgReader *r, AlgNode *n, Keys *k) {
  uint32_t old = k->text.len, rank;
  RelDim *dim;
  if (!want_keys(r, k) || !want_ranges(r, k, &rank, &dim)) return false;
  if (rank != alg_of(n)->type.rank)
    return fail(r, D_E914, "the pieces have %u dimensions, the arrays %u", rank, alg_of(n)->type.rank);
  n->n_piece = k->text.len - old;
  n->frontier = k->frontier.at + old;
  n->key = k->name.at + old;
  n->piece = dim ? dim : NEW(r->g->arena, RelDim);
  return true;
}

/* ` to [i, (j * 2)]` */
static bool want_rekey(AlgReader *r, AlgNode *n, const Keys *k) {
  const Expr **to = NEW_ARRAY(r->g->arena, const Expr *, n->type.n_key + 1);
  if (!scan_want(&r->x.c, '[')) return false;
  for (uint32_t i = 0; i < n->type.n_key; i++) {
    if (i && !scan_want(&r->x.c, ',')) return false;
    if (!want_over_keys(r, k, &to[i])) return false;
  }
  n->rekey = to;
  return scan_take(&r->x.c, ']') || fail(r, D_E914, "expected `]` here: the result has %u keys", n->type.n_key);
}

bool line_map(RegionReader *b, int which) {
  AlgReader *r = b->ctx;
  (void)which;
  AlgNode *n = want_typed(r, ALG_MAP);
  if (!n || !want_of(r, n)) return false;
  Keys *k = keys_new(r, keys_of(r, alg_of(n)));
  if (scan_take_word(&r->x.c, "into") && !want_pieces(r, n, k)) return false;
  if (scan_take_word(&r->x.c, "to") && !want_rekey(r, n, k)) return false;
  return take_fns(r, n) && line_end(r, n);
}

bool line_transform(RegionReader *b, int which) {
  AlgReader *r = b->ctx;
  (void)which;
  AlgNode *n = want_typed(r, ALG_MAP);
  return n && want_of(r, n) && want_fns(r, n) && line_end(r, n);
}

bool line_filter(RegionReader *b, int which) {
  AlgReader *r = b->ctx;
  (void)which;
  AlgNode *n = want_typed(r, ALG_FILTER);
  return n && want_of(r, n) && scan_want_word(&r->x.c, "keep") && want_over_keys(r, keys_of(r, n), &n->keep) &&
      line_end(r, n);
}

bool line_move(RegionReader *b, int broadcast) {
  AlgReader *r = b->ctx;
  const char *at = r->x.c.s;
  if (!want_placed(r)) return false;
  AlgNode *n = want_typed(r, ALG_MOVE);
  if (!n || !want_of(r, n)) return false;
  if (alg_is_broadcast(r->g, n) != (bool)broadcast) {
    r->x.c.s = at;
    return fail(r, D_E915,
        broadcast ? "this is a shuffle: it does more than make copies" : "this is a broadcast: it makes copies alone");
  }
  return line_end(r, n);
}
