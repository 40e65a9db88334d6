/* plan/placing/once.c - reads of one vertex that move together.
 *
 * In: the reads of a vertex, each by itself. Out: reads that need the same as an earlier one, as X[i,0] and X[i,1] do,
 * move nothing (`again`). Nor do those whose windows an earlier one brings, which is then wider (`wide`): X[i-2] has
 * all places of a neighbour that X[i-1] has. Windows are joined along one dimension at a time, where no place is
 * missing between them; so together they have no place that none of them has. They stay apart where that moves as
 * much: X[i-1] and X[i+1] have nothing in common but the site's own places. */
#include "expr/prove/span.h"
#include "inside.h"

/* ---- the same ---------------------------------------------------------------------------------------------- */

/* An index without labels needs all of the dimension, so which one it is plays no part. */
static bool index_same(const Expr *x, const Expr *y) {
  bool whole = !((x->has | y->has) & HAS_LABEL);
  return !((x->has | y->has) & HAS_READ) && (x == y || whole);
}

/* Whether they need the same of a tensor however the vertex is cut. */
static bool read_same(const PartRead *x, const PartRead *y) {
  bool same = x->node == y->node && x->call && y->call && x->asked <= 0 && y->asked <= 0 && !x->index == !y->index;
  for (uint32_t d = 0; same && d < x->rank; d++)
    same = x->label[d] == y->label[d] && (!x->index || index_same(x->index[d], y->index[d]));
  return same;
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

/* What a read needs of a dimension: from `low` to `high` places after a base. */
typedef struct Along {
  const Expr *base;          /* NULL: a label by itself, or all of the dimension */
  int32_t label;             /* the base is this label; -1: it is another expression */
  int64_t low, high;
  int64_t around;            /* these places are modulo this number; 0: they are not */
  const Expr *index;         /* an index of that kind, `at` places after the base; NULL: the label itself is */
  int64_t at;
  bool whole, data;          /* all of the dimension; at data */
} Along;

typedef struct Window {
  uint32_t first;            /* the first of the reads that it is joined of */
  double apart;              /* what they bring, each by itself */
  Along *dim;                /* NULL: it is of none */
} Window;

static Along along_of(const PartRead *r, uint32_t d) {
  if (!r->index) return (Along){.label = r->label[d], .whole = r->label[d] < 0};
  const Expr *e = r->index[d];
  SpanBase b = span_base(e);
  if (b.around && b.around != r->extent[d]) b = (SpanBase){e, 0, 0};
  if (b.around) b.by -= floor_div(b.by + b.around / 2, b.around) * b.around;
  Along x = {.base = b.of, .label = b.of->kind == EX_LABEL ? (int32_t)b.of->i : -1, .low = b.by, .high = b.by};
  x.around = b.around, x.index = e, x.at = b.by;
  x.whole = !(e->has & HAS_LABEL), x.data = (e->has & HAS_READ) != 0;
  return x;
}

/* A label that stays within the dimension, which is its own remainder. */
static bool is_own(const PartVertex *v, const PartRead *r, uint32_t d, const Along *x) {
  return x->label >= 0 && !x->around && !x->low && !x->high && v->extent[x->label] <= r->extent[d];
}

/* Whether the places of both come after the same base. */
static bool same_base(const PartVertex *v, const PartRead *r, uint32_t d, const Along *x, const Along *y) {
  bool around = x->around == y->around || (x->around && is_own(v, r, d, y)) || (y->around && is_own(v, r, d, x));
  return around && !x->whole && !y->whole && !x->data && !y->data && x->label == y->label &&
      (x->label >= 0 || x->base == y->base);
}

static bool along_same(const PartVertex *v, const PartRead *r, uint32_t d, const Along *x, const Along *y) {
  if (x->whole || y->whole) return x->whole && y->whole && !x->data && !y->data;
  return same_base(v, r, d, x, y) && x->low == y->low && x->high == y->high;
}

/* Whether no place is missing between them, but for a site's own. */
static bool along_meet(const Along *x, const Along *y) {
  if (y->low < x->low) return along_meet(y, x);
  return y->low <= x->high + 1 || (x->high == -1 && y->low == 1 && x->label >= 0);
}

/* The places of both. The index is one that goes around, if one does. */
static Along along_join(const Along *x, const Along *y) {
  Along j = y->index && (!x->index || (y->around && !x->around)) ? *y : *x;
  j.low = x->low < y->low ? x->low : y->low;
  j.high = x->high > y->high ? x->high : y->high;
  return j;
}

/* About what a site lacks of a window along all dimensions, in elements: its blocks have `SIDE` to a side. */
static double window_lacks(const Along *dim, uint32_t rank) {
  enum { SIDE = 256 };
  double all = 1, own = 1;
  for (uint32_t d = 0; d < rank; d++) {
    int64_t spread = dim[d].label < 0; /* of other expressions it is not known where they are from */
    int64_t low = dim[d].low - spread, high = dim[d].high + spread;
    if (dim[d].whole) continue;
    all *= (double)(SIDE + high - low);
    own *= (double)(SIDE + (high < 0 ? high : 0) - (low > 0 ? low : 0));
  }
  return all - own;
}

/* Lets x have the places of y, if these are the same in all dimensions but one, where they meet. */
static bool windows_join(const PartVertex *v, const PartRead *r, Window *x, const Window *y) {
  int32_t along = -1;
  for (uint32_t d = 0; d < r->rank; d++) {
    if (along_same(v, r, d, &x->dim[d], &y->dim[d])) continue;
    if (along >= 0 || !same_base(v, r, d, &x->dim[d], &y->dim[d]) || !along_meet(&x->dim[d], &y->dim[d])) return false;
    along = (int32_t)d;
  }
  for (uint32_t d = 0; d < r->rank; d++) x->dim[d] = along_join(&x->dim[d], &y->dim[d]);
  x->apart += y->apart;
  return true;
}

static Window window_from(Arena *a, const PartRead *r, uint32_t k) {
  Window w = {k, 0, NULL};
  if (!r->call || r->asked > 0 || r->again || r->rank == 0) return w;
  w.dim = NEW_ARRAY(a, Along, r->rank);
  for (uint32_t d = 0; d < r->rank; d++) w.dim[d] = along_of(r, d);
  w.apart = window_lacks(w.dim, r->rank);
  return w;
}

/* Whether the window can be brought, by the read that is its first: no wider than the tensor. */
static bool window_worth(const PartRead *r, const Window *w) {
  for (uint32_t d = 0; d < r->rank; d++)
    if (w->dim[d].high - w->dim[d].low >= r->extent[d]) return false;
  return window_lacks(w->dim, r->rank) < w->apart * (1 - 1e-9);
}

static void read_widen(Arena *a, PartRead *r, const Window *w) {
  const Expr **index = NEW_ARRAY(a, const Expr *, r->rank);
  PartWide *wide = NEW_ARRAY(a, PartWide, r->rank);
  for (uint32_t d = 0; d < r->rank; d++) {
    const Along *x = &w->dim[d];
    index[d] = x->index;
    wide[d] = (PartWide){x->at - x->low, x->high - x->at};
  }
  r->index = index;
  r->wide = wide;
}

/* Joins windows of one tensor until none meet. */
static void windows_find(const PartVertex *v, Window *w) {
  bool some = true;
  while (some) {
    some = false;
    for (uint32_t k = 0; k < v->reads.len; k++)
      for (uint32_t j = 0; j < k && w[k].dim; j++) {
        if (!w[j].dim || v->reads.at[j].node != v->reads.at[k].node) continue;
        if (!windows_join(v, &v->reads.at[j], &w[j], &w[k])) continue;
        w[k] = (Window){j, 0, NULL};
        some = true;
      }
  }
}

static void windows_once(Arena *a, PartVertex *v) {
  Arena *own = arena_new();
  Window *w = NEW_ARRAY(own, Window, v->reads.len + 1);
  for (uint32_t k = 0; k < v->reads.len; k++) w[k] = window_from(own, &v->reads.at[k], k);
  windows_find(v, w);
  for (uint32_t k = 0; k < v->reads.len; k++) {
    uint32_t first = k;
    PartRead *r = &v->reads.at[k];
    if (r->again) first = r->again - 1;
    while (!w[first].dim && w[first].first != first) first = w[first].first;
    if (first == k || !w[first].dim || !window_worth(&v->reads.at[first], &w[first])) continue;
    if (!v->reads.at[first].wide) read_widen(a, &v->reads.at[first], &w[first]);
    r->again = first + 1, r->times = 0;
  }
  arena_free(own);
}

const PartGraph *reads_once(Arena *a, const PartGraph *part) {
  PartGraph *g = arena_copy(a, part, sizeof *g);
  g->vertices.at = arena_copy(a, part->vertices.at, part->vertices.len * sizeof *part->vertices.at);
  vec_each(PartVertex, v, g->vertices) {
    v->reads.at = arena_copy(a, v->reads.at, v->reads.len * sizeof *v->reads.at);
    for (uint32_t k = 0; k < v->reads.len; k++)
      for (uint32_t j = 0; j < k && !v->reads.at[k].again; j++)
        if (!v->reads.at[j].again && read_same(&v->reads.at[j], &v->reads.at[k]))
          v->reads.at[k].again = j + 1, v->reads.at[k].times = 0;
    windows_once(a, v);
  }
  return g;
}
