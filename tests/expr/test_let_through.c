/* tests/expr/test_let_through.c - no predicate lets more points through than is said: random ones, counted one by one;
 * and those of bands and lists, for which it is said exactly. By boxes it is said exactly for all predicates without
 * data: with or, not, if, remainders, products of labels. */
#include "../tap.h"
#include "expr/prove/let_through.h"

enum { LABELS = 3 };

static const uint32_t lists[] = {0, 1, 0}; /* slots 0 and 2 read the same */

static uint64_t seed = 88172645463325252u;
static int64_t some(int64_t low, int64_t high) { /* with both */
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return low + (int64_t)(seed % (uint64_t)(high - low + 1));
}

static const Expr *form(Exprs *p) {
  const Expr *e = expr_int(p, DT_I64, some(-4, 4));
  for (int64_t l = 0; l < LABELS; l++) {
    const Expr *term = expr_op2(p, OP_MUL, expr_int(p, DT_I64, some(-2, 2)), expr_label(p, l));
    if (some(0, 2)) e = expr_op2(p, some(0, 1) ? OP_ADD : OP_SUB, e, term);
  }
  return some(0, 3) ? e : expr_op1(p, OP_ABS, e);
}

static const Expr *predicate(Exprs *p) {
  static const Op order[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ};
  const Expr *e = NULL, *f = form(p);
  for (int64_t n = some(1, 3); n > 0; n--) {
    bool same = some(0, 1); /* a form that lies between two numbers */
    if (!some(0, 5)) { /* one of its digits */
      const Expr *digit = expr_op2(p, some(0, 1) ? OP_IDIV : OP_MOD, form(p), expr_int(p, DT_I64, some(1, 4)));
      e = expr_and(p, e,
          expr_op2(
              p, OP_EQ, digit, some(0, 1) ? form(p) : expr_op2(p, OP_IDIV, form(p), expr_int(p, DT_I64, some(1, 4)))));
      continue;
    }
    e = expr_and(p, e,
        expr_op2(p, order[some(0, COUNT(order) - 1)], same ? f : form(p),
            same ? expr_int(p, DT_I64, some(-3, 6)) : form(p)));
  }
  return e;
}

/* Any predicate without data. */
static const Expr *wild_number(Exprs *p, int depth) {
  if (depth == 0) return some(0, 2) ? expr_label(p, some(0, LABELS - 1)) : expr_int(p, DT_I64, some(-4, 6));
  static const Op ops[] = {OP_ADD, OP_SUB, OP_SUB, OP_MUL, OP_MIN, OP_MAX, OP_IDIV, OP_MOD, OP_MOD};
  const Expr *a = wild_number(p, depth - 1), *b = wild_number(p, depth - 1);
  if (!some(0, 5)) return expr_op1(p, some(0, 2) ? OP_ABS : OP_NEG, a);
  Op op = ops[some(0, COUNT(ops) - 1)];
  bool by = op == OP_IDIV || op == OP_MOD;
  return expr_op2(p, op, a, by && some(0, 3) ? expr_int(p, DT_I64, some(0, 5)) : b);
}

static const Expr *wild(Exprs *p, int depth) {
  static const Op compare[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE};
  if (depth == 0 && !some(0, 3)) { /* a remainder of a label */
    const Expr *at = expr_op2(p, some(0, 1) ? OP_ADD : OP_SUB, wild_number(p, 1), expr_label(p, some(0, LABELS - 1)));
    const Expr *by = expr_int(p, DT_I64, some(2, 5));
    return expr_op2(p, OP_EQ, expr_op2(p, OP_MOD, at, by), wild_number(p, (int)some(0, 1)));
  }
  if (depth == 0)
    return expr_op2(p, compare[some(0, COUNT(compare) - 1)], wild_number(p, (int)some(0, 2)),
        wild_number(p, (int)some(0, 2)));
  const Expr *a = wild(p, depth - 1), *b = wild(p, depth - 1);
  int64_t kind = some(0, 9);
  if (kind == 0) return expr_op1(p, OP_NOT, a);
  if (kind == 1) return expr_select(p, wild(p, 0), a, b);
  return expr_op2(p, kind < 6 ? OP_AND : OP_OR, a, b);
}

static double counted(const Expr *e, const int64_t *low, const int64_t *high) {
  int64_t at[LABELS];
  double n = 0;
  ExprEnv env = {.label = at, .n_label = LABELS};
  for (at[0] = low[0]; at[0] < high[0]; at[0]++)
    for (at[1] = low[1]; at[1] < high[1]; at[1]++)
      for (at[2] = low[2]; at[2] < high[2]; at[2]++) {
        Value v;
        n += !e || (expr_value(e, &env, &v) && v.i != 0); /* NULL: all */
      }
  return n;
}

static void wild_ones(void) {
  uint32_t exact = 0, sound = 0, cut = 0, tries = 20000;
  for (uint32_t i = 0; i < tries; i++) {
    Arena *a = arena_new();
    const Expr *e = wild(exprs_new(a), (int)some(0, 3));
    int64_t extent[LABELS], low[LABELS], high[LABELS];
    double values[LABELS];
    for (int l = 0; l < LABELS; l++) {
      extent[l] = some(1, 9), low[l] = some(0, extent[l] - 1), high[l] = some(low[l] + 1, extent[l]);
      values[l] = (double)(high[l] - low[l]);
    }
    double there = counted(e, low, high);
    Ties t = ties_find(LABELS, extent, lists, 1, &e);
    sound += ties_points(&t, LABELS, values) >= there;
    exact += boxes_points(LABELS, low, high, 1, &e, &(uint32_t){BOXES_USUAL}) == there;
    cut += boxes_points(LABELS, low, high, 1, &e, &(uint32_t){8}) >= there;
    arena_free(a);
  }
  OK_INT(exact, tries, "boxes count exactly");
  OK_INT(cut, tries, "with few boxes the count is no lower");
  OK_INT(sound, tries, "ties let all of them through");
}

static void boxes(const char *what, const Expr *e, int64_t n, double want) {
  double said = boxes_points(2, (int64_t[]){0, 0}, (int64_t[]){n, n}, 1, &e, &(uint32_t){BOXES_USUAL});
  OK(said == want, "%s: %.0f, wanted %.0f", what, said, want);
}

static void random_ones(void) {
  uint32_t sound = 0, fewer = 0, tries = 20000;
  for (uint32_t i = 0; i < tries; i++) {
    Arena *a = arena_new();
    const Expr *e = predicate(exprs_new(a));
    int64_t extent[LABELS], low[LABELS], high[LABELS];
    double values[LABELS], all = 1;
    for (int l = 0; l < LABELS; l++) {
      extent[l] = some(1, 7), low[l] = some(0, extent[l] - 1), high[l] = some(low[l] + 1, extent[l]);
      all *= values[l] = (double)(high[l] - low[l]);
    }
    Ties t = ties_find(LABELS, extent, lists, 1, &e);
    double said = ties_points(&t, LABELS, values);
    sound += said >= counted(e, low, high);
    fewer += said < all;
    arena_free(a);
  }
  OK_INT(sound, tries, "none lets more through");
  OK(fewer > tries / 4, "many are said to let fewer through: %u", fewer);
}

static void one(const char *what, const Expr *e, int64_t n, int64_t m, double want) {
  Ties t = ties_find(2, (int64_t[]){n, m}, lists, 1, &e);
  OK_INT((int64_t)ties_points(&t, 2, (double[]){(double)n, (double)m}), (int64_t)want, "%s", what);
}

int main(void) {
  Arena *a = arena_new();
  Exprs *p = exprs_new(a);
  const Expr *i = expr_label(p, 0), *z = expr_label(p, 1), *d = expr_op2(p, OP_SUB, i, z),
             *n64 = expr_int(p, DT_I64, 64);
  const Expr *band = expr_and(p, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), d), expr_op2(p, OP_LT, d, n64));
  const Expr *list = expr_op2(p, OP_EQ, expr_read(p, DT_I64, 0, 1, &z), i);
  const Expr *next = expr_op2(p, OP_ADD, i, expr_int(p, DT_I64, 1)), *at = expr_read(p, DT_I64, 0, 1, &i),
             *end = expr_read(p, DT_I64, 2, 1, &next);
  const Expr *else_where = expr_read(p, DT_I64, 1, 1, &next), *same = expr_read(p, DT_I64, 2, 1, &i);
  const Expr *from = expr_op2(p, OP_LE, at, z), *to = expr_op2(p, OP_LT, z, end);
  random_ones();
  wild_ones();
  one("a band of 64", band, 65536, 65536, 64 * 65536.0);
  one("the same by abs", expr_op2(p, OP_LE, expr_op1(p, OP_ABS, d), n64), 65536, 65536, 129 * 65536.0);
  one("a list's entries, each once", list, 1000, 50000, 50000);
  one("ranges from one entry to the next", expr_and(p, from, to), 1000, 50000, 50000);
  one("written the other way round", expr_and(p, expr_op2(p, OP_GT, end, z), expr_op2(p, OP_GE, z, at)), 1000, 50000,
      50000);
  one("with both ends", expr_and(p, from, expr_op2(p, OP_LE, z, end)), 1000, 50000, 5e7);
  one("of two lists", expr_and(p, from, expr_op2(p, OP_LT, z, else_where)), 1000, 50000, 5e7);
  one("from an entry to itself", expr_and(p, from, expr_op2(p, OP_LT, z, same)), 1000, 50000, 5e7);
  one("the later one first", expr_and(p, expr_op2(p, OP_LE, end, z), expr_op2(p, OP_LT, z, at)), 1000, 50000, 5e7);
  const Expr *zero = expr_int(p, DT_I64, 0), *after = expr_op2(p, OP_GE, expr_op2(p, OP_SUB, z, at), zero);
  one("by differences", expr_and(p, after, expr_op2(p, OP_GT, expr_op2(p, OP_SUB, end, z), zero)), 1000, 50000, 50000);
  const Expr *of_i = expr_op2(p, OP_IDIV, i, n64), *of_z = expr_op2(p, OP_IDIV, z, n64);
  one("blocks of 64", expr_op2(p, OP_EQ, of_i, of_z), 4096, 4096, 64 * 4096);
  one("every 64th", expr_op2(p, OP_EQ, expr_op2(p, OP_MOD, z, n64), zero), 1000, 4100, 65000);
  one("both", expr_and(p, list, band), 1000, 50, 50);
  one("a number", expr_op2(p, OP_EQ, i, expr_int(p, DT_I64, 5)), 1000, 50, 50);
  one("the first five", expr_op2(p, OP_LT, i, expr_int(p, DT_I64, 5)), 1000, 50, 250);
  one("a triangle: blocks may be full", expr_op2(p, OP_LE, i, z), 1000, 1000, 1e6);
  one("what contradicts itself", expr_and(p, expr_op2(p, OP_LT, d, n64), expr_op2(p, OP_GT, d, n64)), 9, 9, 0);
  const Expr *far = expr_op2(p, OP_GT, expr_op1(p, OP_ABS, d), n64), *ring = expr_op2(p, OP_MOD, d, n64);
  boxes("a triangle", expr_op2(p, OP_LE, i, z), 65536, 65536.0 * 65537 / 2);
  const Expr *seventh = expr_op2(p, OP_EQ, expr_op2(p, OP_MOD, z, expr_int(p, DT_I64, 7)), expr_int(p, DT_I64, 3));
  boxes("every seventh of a triangle", expr_and(p, expr_op2(p, OP_LE, z, i), seventh), 65536, 306788059);
  boxes("all but a band", far, 4096, 4096.0 * 4096 - (129.0 * 4096 - 64 * 65));
  boxes("all but a diagonal", expr_op2(p, OP_NE, i, z), 4096, 4096.0 * 4095);
  boxes("data may let all through", expr_op2(p, OP_LE, at, z), 4096, 4096.0 * 4096);
  const Expr *two = expr_op2(p, OP_LT, ring, expr_int(p, DT_I64, 2)), *beside = expr_op2(p, OP_ADD, z, n64);
  one("two of each 64", two, 1000, 4100, 130000);
  one("two of each 64 in a band", expr_and(p, two, band), 65536, 65536, 131072);
  one("a diagonal or another", expr_op2(p, OP_OR, expr_op2(p, OP_EQ, i, z), expr_op2(p, OP_EQ, i, beside)), 4096, 4096,
      8192);
  one("not far", expr_op1(p, OP_NOT, far), 65536, 65536, 129 * 65536.0);
  const Expr *low = expr_op2(p, OP_SUB, at, n64), *high = expr_op2(p, OP_ADD, at, n64);
  one("a band around data", expr_and(p, expr_op2(p, OP_LE, low, z), expr_op2(p, OP_LE, z, high)), 4096, 4096,
      129 * 4096);
  arena_free(a);
  return DONE();
}
