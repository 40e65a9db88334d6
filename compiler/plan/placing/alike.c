/* plan/placing/alike.c - windows that several equations need: the neighbours of a step, and of its residual.
 *
 * In: the reads of a graph whose windows have equal indices, apart from the names of labels, or lie in an earlier
 * one's. Where a plan cuts these equations alike a later one needs nothing that the earlier one does not have at each
 * site, and it moves once: for the first of them. The search prices pairs of a reader and a home, so it cannot say so
 * exactly. With each of k such reads at a k-th of its price no plan counts more than it costs, so bounds hold, and one
 * that cuts all k equal ones alike counts exactly. */
#include "inside.h"
#include "reach.h"

enum { DEEP = 100, EARLIER_MOST = 256 };

typedef struct Labels {      /* of two readers: for each label the other's; -1: none yet */
  const PartVertex *v, *w;
  int32_t *to, *from;
} Labels;

static bool label_alike(Labels *l, uint32_t x, uint32_t y) {
  if (l->to[x] < 0 && l->from[y] < 0 && l->v->extent[x] == l->w->extent[y]) {
    l->to[x] = (int32_t)y;
    l->from[y] = (int32_t)x;
  }
  return l->to[x] == (int32_t)y;
}

static bool index_alike(Labels *l, const Expr *x, const Expr *y, int depth) {
  if (x->kind != y->kind || x->dtype != y->dtype || x->n != y->n || depth > DEEP || (x->has & HAS_READ)) return false;
  if (x->kind == EX_LABEL) return label_alike(l, (uint32_t)x->i, (uint32_t)y->i);
  if (x->kind != EX_OP) return x == y;
  bool same = x->op == y->op;
  for (uint32_t k = 0; same && k < x->n; k++) same = index_alike(l, x->arg[k], y->arg[k], depth + 1);
  return same;
}

/* Whether s brings all places of a dimension that r does; around an end, where they are counted from the first of them,
 * only the same. */
static bool window_alike(Labels *l, const PartRead *r, const PartRead *s, uint32_t d) {
  SpanBase x = span_base(r->index[d]), y = span_base(s->index[d]);
  PartWide w = reach_wide(r, d), u = reach_wide(s, d);
  int64_t below = (x.by - w.below) - (y.by - u.below), above = (y.by + u.above) - (x.by + w.above);
  if (x.around) below = floor_mod(below, x.around), above = floor_mod(above, x.around);
  bool within = x.around ? below == 0 && above == 0 : below >= 0 && above >= 0;
  return within && x.around == y.around && index_alike(l, x.of, y.of, 0);
}

static bool is_window(const PlaceGraph *g, uint32_t i, uint32_t k) {
  const PartRead *r = &g->part->vertices.at[i].reads.at[k];
  return !reach_is_plain(g, i, k) && r->call && r->asked <= 0 && !r->again && r->times > 0;
}

/* Notes it if the second brings what the first needs where they are cut alike. */
static bool alike_add(Arena *a, const PlaceGraph *g, uint32_t i, uint32_t k, uint32_t j, uint32_t q, PlaceAlike *out) {
  const PartVertex *v = &g->part->vertices.at[i], *w = &g->part->vertices.at[j];
  const PartRead *r = &v->reads.at[k], *s = &w->reads.at[q];
  Labels l = {v, w, NEW_ARRAY(a, int32_t, v->n_label + 1), NEW_ARRAY(a, int32_t, w->n_label + 1)};
  bool same = i != j && v->node->region == w->node->region && r->rank == s->rank && r->times == s->times;
  for (uint32_t n = 0; n < v->n_label; n++) l.to[n] = -1;
  for (uint32_t n = 0; n < w->n_label; n++) l.from[n] = -1;
  for (uint32_t d = 0; same && d < r->rank; d++) same = window_alike(&l, r, s, d);
  *out = (PlaceAlike){j, q, l.to};
  return same;
}

typedef struct Window { uint32_t vertex, read, of; } Window; /* of: the number of its kind */

static uint32_t kind_of(const uint32_t *same, uint32_t kind) {
  while (same[kind] != kind) kind = same[kind];
  return kind;
}

void alikes_find(Arena *a, PlaceGraph *g) {
  uint32_t n = g->part->vertices.len;
  VEC(Window) *seen = (void *)NEW_ARRAY(a, VEC(Window), g->tensors.len + 1);
  VEC(uint32_t) same = {0}, count = {0}; /* by kind: one that it is of, too; how many are of it */
  PlaceAlikes **all = NEW_ARRAY(a, PlaceAlikes *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t reads = g->part->vertices.at[i].reads.len;
    all[i] = NEW_ARRAY(a, PlaceAlikes, reads + 1);
    for (uint32_t k = 0; k < reads; k++) {
      if (!is_window(g, i, k)) continue;
      uint32_t t = g->tensor[i][k], first = seen[t].len > EARLIER_MOST ? seen[t].len - EARLIER_MOST : 0, of = same.len;
      vec_push(a, same, of);
      vec_push(a, count, 0);
      VEC(PlaceAlike) x = {0};
      for (uint32_t e = first; e < seen[t].len; e++) {
        PlaceAlike one;
        if (!alike_add(a, g, i, k, seen[t].at[e].vertex, seen[t].at[e].read, &one)) continue;
        vec_push(a, x, one);
        same.at[kind_of(same.at, seen[t].at[e].of)] = of;
      }
      vec_push(a, seen[t], ((Window){i, k, of}));
      all[i][k] = (PlaceAlikes){x.len, x.at, 1};
    }
  }
  for (uint32_t t = 0; t < g->tensors.len; t++)
    for (uint32_t e = 0; e < seen[t].len; e++) count.at[kind_of(same.at, seen[t].at[e].of)]++;
  for (uint32_t t = 0; t < g->tensors.len; t++)
    for (uint32_t e = 0; e < seen[t].len; e++)
      all[seen[t].at[e].vertex][seen[t].at[e].read].kin = count.at[kind_of(same.at, seen[t].at[e].of)];
  g->alike = (const PlaceAlikes *const *)all;
}

/* Whether axes cut the labels of both in the same way, those that the indices have. */
static bool cut_alike(const PlaceGraph *g, const Placing *p, uint32_t vertex, const PlaceAlike *x) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  for (uint32_t a = 0; a < p->mesh.n; a++) {
    int32_t on = p->label[vertex][a], its = p->label[x->vertex][a], used = -1;
    if (p->mesh.size[a] == 1) continue;
    for (uint32_t l = 0; l < v->n_label && its >= 0; l++) used = x->label[l] == its ? its : used;
    if ((on < 0 ? -1 : x->label[on]) != used) return false;
  }
  return true;
}

const PlaceAlike *placing_again(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read) {
  PlaceAlikes all = g->alike ? g->alike[vertex][read] : (PlaceAlikes){0};
  for (uint32_t k = 0; k < all.n; k++)
    if (cut_alike(g, p, vertex, &all.at[k])) return &all.at[k];
  return NULL;
}

bool alikes_shared(Arena *a, const PlaceGraph *g, PlaceGraph *out) {
  PartGraph *part = arena_copy(a, g->part, sizeof *part);
  bool any = false;
  part->vertices.at = arena_copy(a, part->vertices.at, part->vertices.len * sizeof *part->vertices.at);
  *out = *g;
  for (uint32_t i = 0; g->alike && i < part->vertices.len; i++) {
    PartVertex *v = &part->vertices.at[i];
    bool its = false;
    for (uint32_t k = 0; k < v->reads.len; k++) its |= g->alike[i][k].kin > 1;
    if (!its) continue;
    v->reads.at = arena_copy(a, v->reads.at, v->reads.len * sizeof *v->reads.at);
    for (uint32_t k = 0; k < v->reads.len; k++)
      if (g->alike[i][k].kin > 1) v->reads.at[k].times /= g->alike[i][k].kin;
    any = true;
  }
  out->part = part;
  out->alike = NULL;
  return any;
}
