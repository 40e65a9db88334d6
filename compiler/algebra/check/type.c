/* algebra/check/type.c - compares the type and keys that a node states with those that its operation derives from
 * its operands. */
#include <string.h>

#include "check.h"

const char *key_text(Check *c, const Relation *r, const int64_t *key) {
  Buf b = buf_new(c->arena);
  buf_char(&b, '(');
  for (uint32_t k = 0; k < r->n_key; k++)
    buf_printf(&b, "%s%s %lld", k ? ", " : "", r->key[k] ? r->key[k]->s : "?", (long long)key[k]);
  buf_char(&b, ')');
  return b.s;
}

/* ---- forms -------------------------------------------------------------------------------------------------- */

static bool check_names(Check *c, const char *what, uint32_t n, const Str *name) {
  Map met = map_new(c->arena);
  bool well = true;
  for (uint32_t k = 0; k < n; k++) {
    if (!name[k] || !name[k]->len) {
      fail(c, "%s %u has no name", what, k);
      well = false;
    } else if (map_find(&met, name[k])) {
      fail(c, "two of its %ss are called %s", what, name[k]->s);
      well = false;
    } else {
      map_put(&met, name[k], c);
    }
  }
  return well;
}

/* Whether e is an expression over the first keys only. */
static bool check_over_keys(Check *c, const char *what, const Expr *e, uint32_t n_key, DType t) {
  bool before = c->c.ok;
  c->c.ok = true;
  c->c.labels = n_key;
  c->c.level = 0;
  c->over_keys = true;
  if (!e)
    fail(c, "%s is missing", what);
  else if (e->dtype != t)
    fail(c, "%s is not %s", what, check_dtype_name(t));
  else if (e->has & ~(unsigned)HAS_LABEL)
    fail(c, "%s is not over keys alone", what);
  else {
    c->c.now++;
    check_walk(&c->c, e, HAS_LABEL, check_part);
  }
  bool well = c->c.ok;
  c->c.ok &= before;
  c->over_keys = false;
  return well;
}

static bool check_ranges(Check *c, const char *what, uint32_t n, const RelDim *dim, uint32_t n_key) {
  bool well = true;
  if (n && !dim) {
    fail(c, "%s is missing", what);
    return false;
  }
  for (uint32_t d = 0; d < n; d++)
    well &= check_over_keys(c, what, dim[d].low, n_key, DT_I64) && check_over_keys(c, what, dim[d].high, n_key, DT_I64);
  return well;
}

bool check_form(Check *c, const AlgNode *n) {
  const Relation *t = &n->type;
  if ((unsigned)t->dtype >= DTYPES || t->n_key > REL_KEYS || t->rank > SUM_RANK ||
      (t->n_key && (!t->key || !t->frontier))) {
    fail(c, "its type is none");
    return false;
  }
  bool well = check_names(c, "key", t->n_key, t->key);
  for (uint32_t k = 0; k < t->n_key; k++)
    if (t->frontier[k] < 1) {
      fail(c, "the frontier of key %u is %lld", k, (long long)t->frontier[k]);
      well = false;
    }
  return check_ranges(c, "a box", t->rank, t->dim, t->n_key) && well;
}

/* Where boxes are first stated: places start at 0, and no length is negative. */
static void check_boxes(Check *c, const Relation *r, uint32_t n, const RelDim *dim, const char *what) {
  int64_t key[REL_KEYS + 1];
  uint32_t d;
  KeySet s = keys_all(r);
  if (!ranges_well(c->g->exprs, &s, n, dim, &d, key))
    fail(c, "%s %u of key %s is from %lld to %lld", what, d, key_text(c, r, key),
        (long long)rel_value(dim[d].low, r->n_key, key), (long long)rel_value(dim[d].high, r->n_key, key));
}

/* ---- derived types --------------------------------------------------------------------------------------------- */

static bool check_frontiers(Check *c, const AlgNode *n, uint32_t n_key, const int64_t *frontier) {
  if (n->type.n_key != n_key) {
    fail(c, "its type has %u key%s, and what it makes has %u", n->type.n_key, n->type.n_key == 1 ? "" : "s", n_key);
    return false;
  }
  bool well = true;
  for (uint32_t k = 0; k < n_key; k++)
    if (n->type.frontier[k] != frontier[k]) {
      fail(c, "the frontier of key %s is %lld and not %lld", n->type.key[k]->s, (long long)n->type.frontier[k],
          (long long)frontier[k]);
      well = false;
    }
  return well;
}

/* Merges dimensions d..d+m of t, row-major: all but the first that is longer than 1 must be whole. */
static bool merged(Check *c, const Relation *t, uint32_t d, uint32_t m, RelDim *out) {
  Exprs *p = c->g->exprs;
  int64_t extent;
  while (m > 1 && rel_is_whole(&t->dim[d], &extent) && extent == 1) d++, m--;
  *out = m ? t->dim[d] : rel_whole(p, 1);
  for (uint32_t k = 1; k < m; k++) {
    if (!rel_is_whole(&t->dim[d + k], &extent)) return false;
    out->low = expr_op2(p, OP_MUL, out->low, t->dim[d + k].high);
    out->high = expr_op2(p, OP_MUL, out->high, t->dim[d + k].high);
  }
  return true;
}

static bool apply_merge(Check *c, Relation *t, const AlgFn *f) {
  RelDim *dim = NEW_ARRAY(c->arena, RelDim, f->n + 1);
  uint32_t d = 0;
  for (uint32_t k = 0; k < f->n; d += f->merge[k++]) {
    if (f->merge[k] > t->rank - d) break;
    if (merged(c, t, d, f->merge[k], &dim[k])) continue;
    fail(c, "it merges dimensions into %u of which more than the first are cut", k);
    return false;
  }
  if (d != t->rank || f->n > SUM_RANK) {
    fail(c, "what it merges are not the %u dimensions that there are", t->rank);
    return false;
  }
  t->rank = f->n;
  t->dim = dim;
  return true;
}

static bool apply_shift(Check *c, const AlgNode *n, Relation *t, const AlgFn *f) {
  Exprs *p = c->g->exprs;
  if (n->kind != ALG_MAP || n->n_piece || n->rekey || f->by < 1 || f->n >= t->rank || f->key >= t->n_key) {
    fail(c, "it shifts what is no dimension, by no key, or beside other things");
    return false;
  }
  RelDim *dim = arena_copy(c->arena, t->dim, t->rank * sizeof *dim);
  const Expr *by = expr_op2(p, OP_MUL, expr_label(p, f->key), expr_int(p, DT_I64, f->by));
  dim[f->n] = (RelDim){expr_op2(p, OP_ADD, dim[f->n].low, by), expr_op2(p, OP_ADD, dim[f->n].high, by)};
  t->dim = dim;
  return true;
}

static bool apply_fn(Check *c, const AlgNode *n, Relation *t, const AlgFn *f) {
  if ((unsigned)f->kind > FN_SHIFT) {
    fail(c, "a function is none");
    return false;
  }
  if (f->kind == FN_MERGE) return apply_merge(c, t, f);
  if (f->kind == FN_SHIFT) return apply_shift(c, n, t, f);
  if (f->kind == FN_CAST && (unsigned)f->to >= DTYPES) {
    fail(c, "it casts to no dtype");
    return false;
  }
  if (f->kind == FN_PLACE && !t->places) {
    fail(c, "it takes the place of what has none");
    return false;
  }
  t->dtype = f->kind == FN_PLACE ? DT_I64 : f->to;
  if (f->kind == FN_PLACE) t->places = false;
  return true;
}

static void say_other_range(Check *c, const AlgNode *n, const KeySet *s, const Relation *made, uint32_t d,
    const int64_t *key, uint32_t n_to, const Expr *const *to) {
  int64_t its[REL_KEYS + 1], low, high;
  uint32_t n_key = s->of->n_key;
  for (uint32_t k = 0; k < n->type.n_key; k++) its[k] = to && k < n_to ? rel_value(to[k], n_key, key) : key[k];
  rel_ranges(1, &n->type.dim[d], n->type.n_key, its, &low, &high);
  fail(c, "dimension %u of key %s is from %lld to %lld, and its type says from %lld to %lld", d,
      key_text(c, s->of, key), (long long)rel_value(made->dim[d].low, n_key, key),
      (long long)rel_value(made->dim[d].high, n_key, key), (long long)low, (long long)high);
}

/* `base` is over the keys of `s`. Applies the functions to it and compares the result with the node's type, at the
 * keys that `to` makes. */
static void check_made(
    Check *c, const AlgNode *n, Relation base, const KeySet *s, uint32_t n_to, const Expr *const *to) {
  int64_t key[REL_KEYS + 1];
  uint32_t d;
  for (uint32_t k = 0; k < n->n_fn; k++)
    if (!apply_fn(c, n, &base, &n->fn[k])) return;
  if (n->type.dtype != base.dtype)
    fail(c, "it is %s and not %s", check_dtype_name(n->type.dtype), check_dtype_name(base.dtype));
  if (n->type.places != base.places) fail(c, base.places ? "it does not say that it has places" : "it has no places");
  if (n->type.rank != base.rank) {
    fail(c, "its arrays have rank %u and not %u", n->type.rank, base.rank);
  } else if (!ranges_agree(c->g->exprs, s, base.rank, base.dim, n->type.dim, n_to, to, &d, key)) {
    say_other_range(c, n, s, &base, d, key, n_to, to);
  }
}

/* Continuity: a relation that does not state `holes` has none. */
static void check_holes(Check *c, const AlgNode *n, const KeySet *s) {
  int64_t key[REL_KEYS + 1] = {0}, at[REL_KEYS + 1] = {0};
  if (n->type.holes || !s->known || s->all) return;
  for (uint64_t i = 0; keys_next(s, &i, at); rel_next_key(n->type.n_key, n->type.frontier, key))
    if (memcmp(key, at, n->type.n_key * sizeof *key) != 0) break;
  fail(c, "key %s is missing, and it does not say `holes`", key_text(c, &n->type, key));
}

/* ---- join -------------------------------------------------------------------------------------------------------- */

/* Returns the first operand that is the same relation with the same keys. */
static uint64_t operand_number(const AlgNode *n, uint32_t slot) {
  for (uint32_t i = 0; i < slot; i++) {
    const AlgOperand *a = &n->operand[i], *b = &n->operand[slot];
    if (alg_is_table(n, slot)) break;
    if (a->node == b->node && (!a->node->type.n_key || memcmp(a->on, b->on, a->node->type.n_key * sizeof *a->on) == 0))
      return i;
  }
  return slot;
}

void check_read(void *ctx, const Expr *e) {
  Check *c = ctx;
  const AlgNode *n = c->n;
  if (c->over_keys || !n || e->i < 0 || e->i >= n->n_operand) {
    fail(c, "operand %lld is read, of %u", (long long)e->i, n ? n->n_operand : 0);
    return;
  }
  const AlgNode *x = n->operand[e->i].node;
  if (e->n != x->type.rank)
    fail(c, "&%lld has rank %u and is read with %u indices", (long long)e->i, x->type.rank, e->n);
  if (e->dtype != x->type.dtype)
    fail(c, "&%lld is %s and is read as %s", (long long)e->i, check_dtype_name(x->type.dtype),
        check_dtype_name((DType)e->dtype));
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->dtype != DT_I64) fail(c, "an index of &%lld is not i64", (long long)e->i);
  check_read_slot(&c->c, operand_number(n, (uint32_t)e->i), e);
}

static bool check_on(Check *c, const AlgNode *n, uint32_t i) {
  const AlgOperand *o = &n->operand[i];
  const Relation *t = &o->node->type;
  bool well = true;
  if (t->places) fail(c, "operand %u has places, which a %s does not take", i, alg_word(c->g, n));
  if (alg_is_table(n, i)) return true;
  if (t->n_key && !o->on) {
    fail(c, "operand %u does not say which keys agree", i);
    return false;
  }
  for (uint32_t k = 0; k < t->n_key; k++) {
    int64_t f = o->on[k] < 0 ? 1 : o->on[k] < (int64_t)n->type.n_key ? n->type.frontier[o->on[k]] : 0;
    if (f == t->frontier[k]) continue;
    well = false;
    if (!f)
      fail(c, "operand %u agrees in key number %d, of %u", i, o->on[k], n->type.n_key);
    else if (o->on[k] < 0)
      fail(c, "key %s of operand %u agrees with none and has %lld values", t->key[k]->s, i, (long long)t->frontier[k]);
    else
      fail(c, "key %s of operand %u, %%%u, has frontier %lld, and the join's key %s has %lld", t->key[k]->s, i,
          o->node->id, (long long)t->frontier[k], n->type.key[o->on[k]]->s, (long long)f);
  }
  return well;
}

/* Returns the keys at which all wanted operands exist. */
static KeySet join_keys(Check *c, const AlgNode *n) {
  KeySet *set = NEW_ARRAY(c->arena, KeySet, n->n_operand + 1);
  const int32_t **on = NEW_ARRAY(c->arena, const int32_t *, n->n_operand + 1);
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < n->n_operand; i++)
    if (n->operand[i].wanted && n->operand[i].on)
      set[wanted] = info_of(c, n->operand[i].node)->keys, on[wanted++] = n->operand[i].on;
  return keys_joined(c->arena, &n->type, wanted, set, on);
}

/* The fetched read is one of the table; its indices use the other operands. */
static bool check_fetch(Check *c, const AlgNode *n) {
  const EinSum *s = n->sum;
  bool own = s->n_red || s->reducer != RED_NONE || s->where || s->domain || s->body->kind != EX_READ ||
      s->body->i + 1 != n->n_operand;
  ExprNodes nodes = expr_nodes(c->arena, NULL, HAS_READ);
  for (uint32_t k = 0; !own && k < s->body->n; k++) expr_nodes_add(&nodes, s->body->arg[k]);
  for (const Expr *e; !own && (e = expr_node(&nodes));) own = e->kind == EX_READ && e->i + 1 == n->n_operand;
  if (own) fail(c, "what it fetches is not a read of its table, which nothing else reads");
  for (uint32_t i = 0; i < n->n_operand; i++)
    if (n->operand[i].wanted) fail(c, "operand %u is wanted, and it is no join", i);
  if (n->type.holes) fail(c, "a fetch has no holes");
  return !own;
}

static void check_join(Check *c, const AlgNode *n, Info *info) {
  const EinSum *s = n->sum;
  bool none =
      !s || !s->body || (unsigned)s->reducer >= REDUCERS || (unsigned)s->acc >= DTYPES || (unsigned)s->dtype >= DTYPES;
  if (none || s->n_out > SUM_RANK || s->n_red > SUM_RANK - s->n_out ||
      (s->n_out + s->n_red && (!n->label || !n->range))) {
    fail(c, "its kernel is not filled in");
    info->well = false;
    return;
  }
  uint32_t labels = s->n_out + s->n_red;
  bool well =
      check_names(c, "label", labels, n->label) && check_ranges(c, "a label's range", labels, n->range, n->type.n_key);
  if (n->n_operand != s->n_slot) {
    fail(c, "it has %u operands and its kernel %u", n->n_operand, s->n_slot);
    well = false;
  }
  for (uint32_t i = 0; i < n->n_operand; i++) well &= check_on(c, n, i);
  if (n->kind == ALG_FETCH) well = well && check_fetch(c, n);
  info->keys = keys_all(&n->type);
  info->well &= well;
  if (!well) return;
  info->keys = join_keys(c, n);
  bool before = c->c.ok;
  c->c.ok = true;
  check_reducer(&c->c, s);
  c->c.labels = labels;
  c->c.level = check_level(&c->r);
  check_expressions(&c->c, s);
  if (c->c.ok) check_by(&c->c, s, false);
  if (s->by && n->kind == ALG_FETCH) fail(c, "a fetch is made by a C function");
  check_boxes(c, &n->type, labels, n->range, "label");
  /* where a fetch finds nothing is no mistake of its own */
  if (c->c.ok && n->kind == ALG_JOIN) check_reads(c, n, &info->keys);
  c->c.ok &= before;
  Relation base = {.dtype = s->acc,
      .places = reducer_is_arg(s->reducer),
      .rank = s->n_out,
      .dim = n->range};
  check_made(c, n, base, &info->keys, 0, NULL);
  check_holes(c, n, &info->keys);
}

/* ---- aggregate --------------------------------------------------------------------------------------------------- */

static bool check_group(Check *c, const AlgNode *n, const Relation *of) {
  bool *met = NEW_ARRAY(c->arena, bool, of->n_key + 1);
  int64_t frontier[REL_KEYS + 1];
  for (uint32_t k = 0; k < n->n_group; k++) {
    if (k >= REL_KEYS || n->group[k] >= of->n_key || met[n->group[k]]) {
      fail(c, "what stays is not a key of the operand, or is it twice");
      return false;
    }
    met[n->group[k]] = true;
    frontier[k] = of->frontier[n->group[k]];
  }
  return check_frontiers(c, n, n->n_group, frontier);
}

static void check_aggregate_reducer(Check *c, const AlgNode *n, const Relation *of) {
  bool arg = reducer_is_arg(n->reducer);
  EinSum s = {.reducer = n->reducer, .monoid = n->monoid, .acc = of->dtype, .dtype = arg ? DT_I64 : of->dtype};
  check_reducer(&c->c, &s);
  if (n->reducer != RED_NONE && arg != of->places)
    fail(c, arg ? "it aggregates places that there are not" : "it loses places");
}

static const char *filling_text(Check *c, Filling how, const Relation *r, const int64_t *key) {
  if (how == FILL_GAP) return "there is a gap";
  return arena_printf(
      c->arena, "that of key %s %s", key_text(c, r, key), how == FILL_TWICE ? "lies on another" : "leads out");
}

/* The arrays must tile the result's box exactly. */
static void check_concat(Check *c, const AlgNode *n, const Info *of, uint32_t n_to, const Expr *const *to) {
  const Relation *t = of->keys.of;
  Relation base = *t;
  RelDim *whole = NEW_ARRAY(c->arena, RelDim, t->rank + 1);
  bool *group = NEW_ARRAY(c->arena, bool, t->n_key + 1);
  int64_t key[REL_KEYS + 1];
  for (uint32_t k = 0; k < n->n_fn; k++)
    if (n->fn[k].kind == FN_MERGE) {
      fail(c, "behind a concat nothing is merged");
      return;
    }
  if (n->type.rank == t->rank) {
    for (uint32_t d = 0; d < t->rank; d++)
      whole[d] = (RelDim){expr_relabel(c->g->exprs, n->type.dim[d].low, n_to, to),
          expr_relabel(c->g->exprs, n->type.dim[d].high, n_to, to)};
    for (uint32_t k = 0; k < n->n_group; k++) group[n->group[k]] = true;
    check_boxes(c, &n->type, n->type.rank, n->type.dim, "dimension");
    Filling how = boxes_fill(c->arena, &of->keys, t->dim, group, whole, key);
    if (how != FILL_WELL) fail(c, "arrays do not make up the box: %s", filling_text(c, how, t, key));
    base.dim = whole;
  }
  check_made(c, n, base, &of->keys, n_to, to);
}

static void check_aggregate(Check *c, const AlgNode *n, Info *info) {
  const Info *of = info_of(c, alg_of(n));
  const Relation *t = &alg_of(n)->type;
  if ((unsigned)n->reducer >= REDUCERS || !check_group(c, n, t)) {
    if ((unsigned)n->reducer >= REDUCERS) fail(c, "its reducer is none");
    info->well = false;
    return;
  }
  const Expr **to = NEW_ARRAY(c->arena, const Expr *, n->n_group + 1);
  int64_t at[REL_KEYS + 1];
  KeysWrong wrong;
  for (uint32_t k = 0; k < n->n_group; k++) to[k] = expr_label(c->g->exprs, n->group[k]);
  check_aggregate_reducer(c, n, t);
  info->keys = of->keys.known && of->keys.all
      ? keys_all(&n->type)
      : keys_mapped(c->arena, c->g->exprs, &of->keys, &n->type, to, false, &wrong, at);
  if (n->reducer == RED_NONE)
    check_concat(c, n, of, n->n_group, to);
  else
    check_made(c, n, *t, &of->keys, n->n_group, to);
  check_holes(c, n, &info->keys);
}

/* ---- map --------------------------------------------------------------------------------------------------------- */

/* Checks the keys, and boxes cut to the pieces. */
static bool check_pieces(Check *c, const AlgNode *n, Relation *base, KeySet *s) {
  Exprs *p = c->g->exprs;
  uint32_t old = base->n_key, all = old + n->n_piece;
  if (all > REL_KEYS || (n->n_piece && (!n->key || !n->frontier))) {
    fail(c, "its new keys are not filled in");
    return false;
  }
  Str *key = NEW_ARRAY(c->arena, Str, all + 1);
  int64_t *frontier = NEW_ARRAY(c->arena, int64_t, all + 1);
  RelDim *dim = NEW_ARRAY(c->arena, RelDim, base->rank + 1);
  for (uint32_t k = 0; k < all; k++) {
    key[k] = k < old ? base->key[k] : n->key[k - old];
    frontier[k] = k < old ? base->frontier[k] : n->frontier[k - old];
    if (frontier[k] < 1) {
      fail(c, "the frontier of new key %u is %lld", k - old, (long long)frontier[k]);
      return false;
    }
  }
  if (!check_names(c, "key", all, key) || !check_ranges(c, "a piece", base->rank, n->piece, all)) return false;
  for (uint32_t d = 0; d < base->rank; d++) {
    bool low = expr_is_int(base->dim[d].low, 0) || n->piece[d].low == base->dim[d].low,
         high = n->piece[d].high == base->dim[d].high;
    dim[d].low = low ? n->piece[d].low : expr_op2(p, OP_MAX, n->piece[d].low, base->dim[d].low);
    dim[d].high = high ? n->piece[d].high : expr_op2(p, OP_MIN, n->piece[d].high, base->dim[d].high);
  }
  base->n_key = all;
  base->key = key;
  base->frontier = frontier;
  base->dim = dim;
  Relation *both = arena_copy(c->arena, base, sizeof *base);
  *s = keys_pieces(c->arena, s, both, n->n_piece, n->piece);
  return true;
}

static bool check_rekey(Check *c, const AlgNode *n, const Relation *base, KeySet *s) {
  int64_t at[REL_KEYS + 1];
  KeysWrong wrong;
  for (uint32_t k = 0; k < n->type.n_key; k++)
    if (!check_over_keys(c, "a new key", n->rekey[k], base->n_key, DT_I64)) return false;
  *s = keys_mapped(c->arena, c->g->exprs, s, &n->type, n->rekey, true, &wrong, at);
  if (wrong == KEYS_OUTSIDE) fail(c, "what key %s becomes is not below the frontier", key_text(c, base, at));
  if (wrong == KEYS_TWICE) fail(c, "two keys become %s", key_text(c, &n->type, at));
  return true;
}

static void check_map(Check *c, const AlgNode *n, Info *info) {
  Relation base = alg_of(n)->type;
  KeySet s = info_of(c, alg_of(n))->keys;
  int clauses = (n->piece != NULL) + (n->rekey != NULL) + (n->n_fn != 0);
  if (!clauses || (clauses > 1 && !c->g->placed))
    fail(c, clauses ? "in a Tra a map does one thing" : "it does nothing");
  info->well = false;
  if ((n->piece != NULL) != (n->n_piece != 0)) {
    fail(c, "it has new keys and no pieces, or pieces and no new keys");
    return;
  }
  if (n->piece && !check_pieces(c, n, &base, &s)) return;
  info->keys = s;
  if (n->rekey && !check_rekey(c, n, &base, &info->keys)) return;
  if (!n->rekey && !check_frontiers(c, n, base.n_key, base.frontier)) return;
  info->well = true;
  if (!n->rekey) info->keys.of = &n->type;
  check_made(c, n, base, &s, n->rekey ? n->type.n_key : 0, n->rekey);
  check_holes(c, n, &info->keys);
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static void check_kept(Check *c, const AlgNode *n, Info *info) {
  const Info *of = info_of(c, alg_of(n));
  const Relation *t = &alg_of(n)->type;
  info->keys = of->keys;
  info->well = check_frontiers(c, n, t->n_key, t->frontier);
  if (!info->well) return;
  if (n->kind == ALG_FILTER && check_over_keys(c, "what it keeps", n->keep, t->n_key, DT_BOOL))
    info->keys = keys_kept(c->arena, &of->keys, n->keep);
  info->keys.of = &n->type;
  check_made(c, n, *t, &of->keys, 0, NULL);
  check_holes(c, n, &info->keys);
}

static void check_input(Check *c, const AlgNode *n, Info *info) {
  if (n->type.holes || n->type.places) fail(c, "an input has no holes and no places");
  check_boxes(c, &n->type, n->type.rank, n->type.dim, "dimension");
  info->keys = keys_all(&n->type);
}

void check_operation(Check *c, const AlgNode *n, Info *info) {
  if (n->n_fn && !n->fn) {
    fail(c, "its functions are not filled in");
    info->well = false;
  } else if (n->n_fn && !c->g->placed && n->kind != ALG_MAP) {
    fail(c, "in a Tra functions of the array stand alone");
  }
  if (!info->well) return;
  if (n->kind == ALG_INPUT) check_input(c, n, info);
  if (alg_has_kernel(n)) check_join(c, n, info);
  if (n->kind == ALG_AGGREGATE) check_aggregate(c, n, info);
  if (n->kind == ALG_MAP) check_map(c, n, info);
  if (n->kind == ALG_FILTER || n->kind == ALG_MOVE) check_kept(c, n, info);
}

void check_same_type(void *ctx, const char *what, const void *want, const void *have) {
  Check *c = ctx;
  const AlgNode *a = want, *b = have;
  const Relation *t = &a->type, *u = &b->type;
  int64_t key[REL_KEYS + 1];
  uint32_t d;
  if (!info_of(c, a)->well || !info_of(c, b)->well) return;
  if (t->dtype != u->dtype)
    fail(c, "%s is %s and not %s", what, check_dtype_name(u->dtype), check_dtype_name(t->dtype));
  if (t->places != u->places || t->holes != u->holes) fail(c, "%s differs in `places` or `holes`", what);
  bool same = t->n_key == u->n_key;
  for (uint32_t k = 0; same && k < t->n_key; k++) same = t->frontier[k] == u->frontier[k];
  KeySet s = keys_all(t);
  if (!same)
    fail(c, "%s has other keys", what);
  else if (t->rank != u->rank)
    fail(c, "%s has rank %u and not %u", what, u->rank, t->rank);
  else if (!ranges_agree(c->g->exprs, &s, t->rank, t->dim, u->dim, 0, NULL, &d, key))
    fail(c, "%s has another box in dimension %u, as at key %s", what, d, key_text(c, t, key));
  if (c->g->placed && !placement_equal(&c->g->mesh, &a->at, &b->at)) fail(c, "%s is at another place", what);
}

void check_output_boxes(Check *c, const AlgOutput *o) {
  const Info *i = info_of(c, o->node);
  const Relation *t = &o->node->type;
  if (!i->well) return;
  if (o->rank != t->rank) {
    fail(c, "output %s has rank %u and not %u", o->name->s, t->rank, o->rank);
    return;
  }
  if (t->places) fail(c, "output %s has places", o->name->s);
  RelDim *whole = NEW_ARRAY(c->arena, RelDim, t->rank + 1);
  bool *group = NEW_ARRAY(c->arena, bool, t->n_key + 1);
  int64_t key[REL_KEYS + 1];
  for (uint32_t d = 0; d < t->rank; d++) whole[d] = rel_whole(c->g->exprs, o->extent[d]);
  bool some = i->keys.known && !i->keys.all && i->keys.n == 0;
  Filling how = some ? FILL_GAP : boxes_fill(c->arena, &i->keys, t->dim, group, whole, key);
  if (how != FILL_WELL)
    fail(c, "blocks of output %s do not make up all of it: %s", o->name->s, filling_text(c, how, t, key));
}
