/* driver/data/unstable.c - finds out which outputs depend on how operations are rounded, as the inverse of a matrix
 * that hardly has one, a chaotic map after many turns, or the place of the greatest among equals. In: a finished eval;
 * out: for each element, how far it moves if eval is run again with each operation off by a unit in the last place.
 * Two right programs may then be as far apart, and no comparison can tell one that is not. */
#include <math.h>

#include "driver/compile/native.h"

enum { SHAKES = 8 };         /* runs; the error of the C is another such run, and may be several times as large: */
static const double margin = 8;

static double moved(const EvalArray *a, const EvalArray *b, int64_t k) {
  if (a->has && !a->has[k]) return 0;
  if (!dtype_is_float(a->dtype)) return eval_int(a, k) == eval_int(b, k) ? 0 : INFINITY;
  double x = eval_real(a, k), y = eval_real(b, k);
  if (x == y || (isnan(x) && isnan(y))) return 0;
  return isfinite(x) && isfinite(y) ? margin * fabs(x - y) : INFINITY;
}

const double **rounding_moves(Arena *a, const Eval *e) {
  uint32_t n = e->graph->outputs.len;
  double **to = NEW_ARRAY(a, double *, n + 1);
  for (uint32_t k = 0; k < n; k++) to[k] = NEW_ARRAY(a, double, e->output[k].count + 1);
  for (uint64_t seed = 1; seed <= SHAKES; seed++) {
    Eval again = *e;
    again.output = NULL, again.shake = seed;
    if (graph_eval(&again, NULL, NULL) != EVAL_OK) continue;
    for (uint32_t k = 0; k < n; k++)
      for (int64_t i = 0; i < e->output[k].count; i++)
        to[k][i] = fmax(to[k][i], moved(&e->output[k], &again.output[k], i));
  }
  return (const double **)to;
}
