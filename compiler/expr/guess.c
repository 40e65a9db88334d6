/* expr/guess.c - guesses sizes of which some dims have no value yet. In: an expression of dims. Out: its value if each
 * of these dims is of medium size; for choices only, never for results.
 *
 * N - O, N - R + 1 and N // M then come out as next to nothing. But who writes them has an N that is larger than the
 * others: so one of the dims is medium, and the others are small. */
#include "expr/expr.h"

enum { MEDIUM = 256, SMALL = 16, NAMES_MOST = 8 };

typedef struct Guess {
  bool (*known)(void *ctx, Str name, int64_t *out);
  void *ctx;
  Str name[NAMES_MOST];      /* dims without a value, as they occur */
  uint32_t n;
  Str large;                 /* only this one is medium; NULL: all are */
} Guess;

static bool guess_dim(void *ctx, Str name, int64_t *out) {
  Guess *g = ctx;
  if (g->known && g->known(g->ctx, name, out)) return true;
  uint32_t k = 0;
  while (k < g->n && g->name[k] != name) k++;
  if (k == g->n && k < NAMES_MOST) g->name[g->n++] = name;
  *out = g->large && g->large != name ? SMALL : MEDIUM;
  return true;
}

int64_t expr_size_guess(const Expr *e, bool (*known)(void *ctx, Str name, int64_t *out), void *ctx) {
  Guess g = {.known = known, .ctx = ctx};
  ExprEnv env = {.dim = guess_dim, .ctx = &g};
  Value v;
  if (e->kind == EX_INT) return e->i;
  if (!expr_value(e, &env, &v)) return 0;
  int64_t size = v.i;
  uint32_t n = size < SMALL && g.n > 1 ? g.n : 0;
  for (uint32_t k = 0; k < n; k++) {
    g.large = g.name[k];
    if (expr_value(e, &env, &v) && v.i > size) size = v.i;
  }
  return size > 1 ? size : 1;
}
