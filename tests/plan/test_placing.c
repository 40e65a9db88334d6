/* tests/plan/test_placing.c - plans by bytes: a product of matrices moves what the best grid moves, and small graphs what trying all
 * finds. */
#include <math.h>

#include "base/diag.h"
#include "plan/placing.h"
#include "tap.h"

static Strings *strings;

static PartGraph *graph_of_text(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  Buf why = buf_new(a);
  strings = strings_new(a);
  EinGraph *g = graph_read(a, strings, source_new(a, "x", text, strlen(text)), d);
  if (!g) {
    diags_text(d, &why, false);
    tap_text("the graph", why.s);
    return NULL;
  }
  return part_from_graph(a, g, &why);
}

/* ---- products of matrices ----------------------------------------------------------------------------- */

/* The best grid of pi by pj by pk: each of A is received by pk - 1 further sites, of B by pi - 1, and the parts of C meet pj - 1 times. */
static double best_grid(double i, double j, double k, int64_t p) {
  double best = INFINITY;
  for (int64_t pi = 1; pi <= p; pi++)
    for (int64_t pj = 1; p % pi == 0 && pj <= p / pi; pj++) {
      int64_t pk = p / pi / pj;
      if (p / pi % pj || (double)pi > i || (double)pj > j || (double)pk > k) continue;
      double moved = 4 * (i * j * (double)(pk - 1) + j * k * (double)(pi - 1) + i * k * (double)(pj - 1));
      if (moved < best) best = moved;
    }
  return best;
}

static void product(int i, int j, int k) {
  uint32_t same = 0, all = 0, which;
  for (int64_t p = 2; p <= 64; p++) {
    Arena *a = arena_new();
    PartGraph *g = graph_of_text(a, arena_printf(a,
      "eingraph 1\ninput %%0 A[%d, %d] : f32\ninput %%1 B[%d, %d] : f32\n"
      "vertex %%2 C[i:%d, k:%d] : f32 = sum:f32[j:%d] (%%0[i, j] * %%1[j, k])\noutput C = %%2\n", i, j, j, k, i, k, j));
    Mesh m = mesh_of_primes(p);
    Placing *x = placing_find(a, place_graph(a, g), &m, NULL, 4e9, &which);
    double want = best_grid(i, j, k, p);
    all++;
    same += x->bytes == want && fabs(x->bound - want) <= 1e-9 * want;
    if (x->bytes != want) printf("#   p = %d: %.0f, bound %.0f, want %.0f\n", (int)p, x->bytes, x->bound, want);
    arena_free(a);
  }
  OK_INT(same, all, "%d by %d by %d on 2 to 64 sites", i, j, k);
}

int main(void) {
  product(4096, 4096, 4096);
  product(65536, 256, 256);
  product(256, 65536, 256);
  product(8192, 8192, 128);
  product(128, 8192, 8192);
  return DONE();
}
