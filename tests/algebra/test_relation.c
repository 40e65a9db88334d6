/* tests/algebra/test_relation.c - ranges of blocks from tables are those that are evaluated at each key. */
#include "algebra/relation.h"
#include "tap.h"

static void same_as_evaluated(Arena *a, const char *what, uint32_t n, const RelDim *dim, uint32_t n_key,
    const int64_t *frontier) {
  int64_t key[3] = {0}, low[4], high[4], want_low[4], want_high[4], keys = 0;
  RelTables t = rel_tables_new(a, n, dim, n_key, frontier);
  bool same = true;
  do {
    rel_tables_get(&t, key, low, high);
    rel_ranges(n, dim, n_key, key, want_low, want_high);
    for (uint32_t d = 0; d < n; d++) same &= low[d] == want_low[d] && high[d] == want_high[d];
    keys++;
  } while (same && rel_next_key(n_key, frontier, key));
  OK(same && keys > 1, "%s", what);
}

int main(void) {
  Arena *a = arena_new();
  Exprs *p = exprs_new(a);
  const Expr *i = expr_label(p, 0), *j = expr_label(p, 1), *k = expr_label(p, 2);
  const Expr *ten = expr_int(p, DT_I64, 10);
  RelDim across = {expr_op2(p, OP_MUL, i, ten), expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, k, ten), ten)};
  const RelDim of_all[] = {rel_whole(p, 7), rel_cut(p, 100, k, 7), rel_cut(p, 11, i, 3), across};
  same_as_evaluated(a, "whole, cut by the last key, by the first, by two", 4, of_all, 3, (const int64_t[]){3, 2, 7});
  const RelDim of_both[] = {{j, expr_op2(p, OP_ADD, j, i)}, rel_cut(p, 5, j, 4)};
  same_as_evaluated(a, "one end by one key, the other by two", 2, of_both, 2, (const int64_t[]){3, 4});
  const RelDim many = rel_cut(p, 1 << 24, i, 1100000);
  same_as_evaluated(a, "more places than a table has", 1, &many, 1, (const int64_t[]){1100000});
  const int64_t square[] = {1100, 1, 1000};
  same_as_evaluated(a, "more than it has along two keys", 1, &across, 3, square);
  OK(!rel_tables_new(a, 1, &across, 3, square).at[0].known, "there is no table of these");
  OK(rel_tables_new(a, 1, &across, 3, (const int64_t[]){300, 99999, 200}).at[0].known,
      "there is one along two keys, whatever the third has");
  arena_free(a);
  return DONE();
}
