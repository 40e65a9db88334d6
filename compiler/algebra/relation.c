/* algebra/relation.c - boxes and keys. */
#include "relation.h"

#include "expr/prove/prove.h"

enum { TABLE_MOST = 1 << 20 }; /* places */

/* ---- boxes ------------------------------------------------------------------------------------------ */

/* floor(block*extent/count), without larger intermediate values than necessary. */
static const Expr *bound_of(Exprs *p, int64_t extent, const Expr *block, int64_t count) {
  const Expr *even = expr_op2(p, OP_MUL, block, expr_int(p, DT_I64, extent / count));
  if (extent % count == 0) return even;
  const Expr *rest = expr_op2(p, OP_MUL, block, expr_int(p, DT_I64, extent % count));
  return expr_op2(p, OP_ADD, even, expr_op2(p, OP_IDIV, rest, expr_int(p, DT_I64, count)));
}

RelDim rel_cut(Exprs *p, int64_t extent, const Expr *block, int64_t count) {
  const Expr *next = expr_op2(p, OP_ADD, block, expr_int(p, DT_I64, 1));
  if (count == 1) return rel_whole(p, extent);
  return (RelDim){expr_normal(p, bound_of(p, extent, block, count)), expr_normal(p, bound_of(p, extent, next, count))};
}

RelDim rel_whole(Exprs *p, int64_t extent) {
  return (RelDim){expr_int(p, DT_I64, 0), expr_int(p, DT_I64, extent)};
}

RelDim rel_cut_inside(Exprs *p, RelDim block, const Expr *piece, int64_t count) {
  int64_t extent;
  if (rel_is_whole(&block, &extent)) return rel_cut(p, extent, piece, count);
  const Expr *n = expr_op2(p, OP_SUB, block.high, block.low), *by = expr_int(p, DT_I64, count), *at[2] = {piece, NULL};
  at[1] = expr_op2(p, OP_ADD, piece, expr_int(p, DT_I64, 1));
  for (int k = 0; k < 2; k++)
    at[k] = expr_normal(p, expr_op2(p, OP_ADD, block.low, expr_op2(p, OP_IDIV, expr_op2(p, OP_MUL, n, at[k]), by)));
  return (RelDim){at[0], at[1]};
}

bool rel_is_whole(const RelDim *d, int64_t *extent) {
  if (!expr_is_int(d->low, 0) || d->high->kind != EX_INT) return false;
  *extent = d->high->i;
  return true;
}

bool rel_is_cut(Exprs *p, const Relation *r, uint32_t dim, uint32_t *key, int64_t *extent) {
  const RelDim *d = &r->dim[dim];
  for (uint32_t k = 0; k < r->n_key; k++) {
    if (r->frontier[k] <= 1 || !(d->high->has & HAS_LABEL)) continue;
    int64_t at[REL_KEYS] = {0};
    at[k] = r->frontier[k] - 1;
    *extent = rel_value(d->high, r->n_key, at);
    if (*extent < 0) continue;
    RelDim cut = rel_cut(p, *extent, expr_label(p, k), r->frontier[k]);
    if (cut.low == d->low && cut.high == d->high) return *key = k, true;
  }
  return false;
}

/* ---- at a key ---------------------------------------------------------------------------------------- */

int64_t rel_value(const Expr *e, uint32_t n_key, const int64_t *key) {
  ExprEnv env = {.label = key, .n_label = n_key};
  Value v;
  if (e->kind == EX_INT) return e->i;
  return expr_value(e, &env, &v) ? v.i : -1;
}

bool rel_predicate(const Expr *e, uint32_t n_key, const int64_t *key) {
  return !e || rel_value(e, n_key, key) > 0;
}

void rel_ranges(uint32_t n, const RelDim *dim, uint32_t n_key, const int64_t *key, int64_t *low, int64_t *high) {
  for (uint32_t d = 0; d < n; d++) {
    low[d] = rel_value(dim[d].low, n_key, key);
    high[d] = rel_value(dim[d].high, n_key, key);
  }
}

/* Finds on which dimensions of the key the range depends, and how many places these have; false: too many. */
static bool table_keys(Arena *a, RelTable *t, uint32_t n_key, const int64_t *frontier, int64_t *places) {
  bool *used = NEW_ARRAY(a, bool, n_key + 1);
  uint32_t *key = NEW_ARRAY(a, uint32_t, n_key + 1);
  int64_t *step = NEW_ARRAY(a, int64_t, n_key + 1);
  expr_labels(t->dim->low, n_key, used);
  expr_labels(t->dim->high, n_key, used);
  *places = 1;
  for (uint32_t k = 0; k < n_key; k++) {
    if (!used[k]) continue;
    if (frontier[k] > TABLE_MOST / (*places > 0 ? *places : 1)) return false;
    key[t->n] = k, step[t->n++] = *places;
    *places *= frontier[k];
  }
  t->key = key, t->step = step;
  return true;
}

RelTables rel_tables_new(Arena *a, uint32_t n, const RelDim *dim, uint32_t n_key, const int64_t *frontier) {
  RelTable *table = NEW_ARRAY(a, RelTable, n + 1);
  int64_t places;
  for (uint32_t d = 0; d < n; d++) {
    table[d].dim = &dim[d];
    if (!table_keys(a, &table[d], n_key, frontier, &places)) continue;
    table[d].known = NEW_ARRAY(a, bool, places);
    table[d].low = NEW_ARRAY(a, int64_t, places);
    table[d].high = NEW_ARRAY(a, int64_t, places);
  }
  return (RelTables){n, n_key, table};
}

void rel_table_get(const RelTables *t, uint32_t dim, const int64_t *key, int64_t *low, int64_t *high) {
  const RelTable *x = &t->at[dim];
  int64_t k = 0;
  if (!x->known) {
    rel_ranges(1, x->dim, t->n_key, key, low, high);
    return;
  }
  for (uint32_t i = 0; i < x->n; i++) k += key[x->key[i]] * x->step[i];
  if (!x->known[k]) {
    rel_ranges(1, x->dim, t->n_key, key, &x->low[k], &x->high[k]);
    x->known[k] = true;
  }
  *low = x->low[k], *high = x->high[k];
}

void rel_tables_get(const RelTables *t, const int64_t *key, int64_t *low, int64_t *high) {
  for (uint32_t d = 0; d < t->n; d++) rel_table_get(t, d, key, &low[d], &high[d]);
}

void rel_box(const Relation *r, const int64_t *key, int64_t *low, int64_t *high) {
  rel_ranges(r->rank, r->dim, r->n_key, key, low, high);
}

bool rel_next_key(uint32_t n_key, const int64_t *frontier, int64_t *key) {
  while (n_key-- > 0) {
    if (++key[n_key] < frontier[n_key]) return true;
    key[n_key] = 0;
  }
  return false;
}

int64_t rel_key_number(const Relation *r, const int64_t *key) {
  int64_t n = 0;
  for (uint32_t k = 0; k < r->n_key; k++) n = n * r->frontier[k] + key[k];
  return n;
}

double rel_keys(const Relation *r) {
  double n = 1;
  for (uint32_t k = 0; k < r->n_key; k++) n *= (double)r->frontier[k];
  return n;
}

void rel_extents(Arena *a, const Relation *r, int64_t *extent) {
  int64_t *low = NEW_ARRAY(a, int64_t, r->rank + 1), *high = NEW_ARRAY(a, int64_t, r->rank + 1),
          *key = NEW_ARRAY(a, int64_t, r->n_key + 1);
  for (uint32_t d = 0; d < r->rank; d++) extent[d] = 0;
  do {
    rel_box(r, key, low, high);
    for (uint32_t d = 0; d < r->rank; d++)
      if (high[d] > extent[d]) extent[d] = high[d];
  } while (rel_next_key(r->n_key, r->frontier, key));
}
