/* driver/pictures/layout.c - layers, their order, their positions.
 *
 * A box is below all that it reads; a box that reads nothing is right above its first reader. An edge across several
 * layers gets a unit in each layer between. Then each layer is ordered by the mean position of the neighbours above,
 * and below, in several sweeps, and the order with the fewest crossings is kept. Then positions: each unit as near
 * as possible to the mean of its neighbours, in that order, with room between. */
#include "layout.h"

#include <stdlib.h>

enum { SWEEPS = 12, SETTLES = 80 };
static const double BEND_WIDTH = 14, GAP = 26, LAYER_GAP = 54; /* pixels */

typedef struct Unit {        /* a box, or a bend of an edge */
  uint32_t layer, order;     /* its position in its layer, from the left */
  double x, width;
  bool bend;
  double key;
  VEC(uint32_t) above, below; /* units */
} Unit;

typedef VEC(uint32_t) Row;

typedef struct Layers {
  Arena *arena;
  Layout *l;
  VEC(Unit) units;           /* boxes first, with their numbers */
  VEC(Row) rows;
  Row *bends;                /* by edge: units */
} Layers;

/* ---- layers ------------------------------------------------------------------------------------------------ */

static void layers_find(Layers *w) {
  Layout *l = w->l;
  uint32_t n = l->boxes.len, *left = NEW_ARRAY(w->arena, uint32_t, n + 1),
           *first = NEW_ARRAY(w->arena, uint32_t, n + 1);
  bool *reads = NEW_ARRAY(w->arena, bool, n + 1);
  Row ready = {0}, *out = NEW_ARRAY(w->arena, Row, n + 1);
  vec_each(const LayoutEdge, e, l->edges) {
    if (e->back) continue;
    left[e->to]++;
    reads[e->to] = true;
    vec_push(w->arena, out[e->from], e->to);
  }
  for (uint32_t i = 0; i < n; i++) {
    first[i] = UINT32_MAX;
    if (!left[i]) vec_push(w->arena, ready, i);
  }
  for (uint32_t k = 0; k < ready.len; k++) {
    uint32_t i = ready.at[k];
    for (uint32_t j = 0; j < out[i].len; j++) {
      LayoutBox *to = &l->boxes.at[out[i].at[j]];
      if (to->layer < l->boxes.at[i].layer + 1) to->layer = l->boxes.at[i].layer + 1;
      if (--left[out[i].at[j]] == 0) vec_push(w->arena, ready, out[i].at[j]);
    }
  }
  BUG_UNLESS(ready.len == n);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < out[i].len; j++)
      if (l->boxes.at[out[i].at[j]].layer < first[i]) first[i] = l->boxes.at[out[i].at[j]].layer;
    if (!reads[i] && first[i] != UINT32_MAX) l->boxes.at[i].layer = first[i] - 1;
  }
}

/* ---- units --------------------------------------------------------------------------------------------------- */

static uint32_t unit_add(Layers *w, uint32_t layer, double width, bool bend) {
  while (w->rows.len <= layer) vec_push(w->arena, w->rows, (Row){0});
  Row *row = &w->rows.at[layer];
  uint32_t k = w->units.len;
  vec_push(w->arena, w->units, ((Unit){.layer = layer, .order = row->len, .width = width, .bend = bend}));
  vec_push(w->arena, *row, k);
  return k;
}

static void units_join(Layers *w, uint32_t above, uint32_t below) {
  vec_push(w->arena, w->units.at[above].below, below);
  vec_push(w->arena, w->units.at[below].above, above);
}

static void units_make(Layers *w) {
  Layout *l = w->l;
  w->bends = NEW_ARRAY(w->arena, Row, l->edges.len + 1);
  for (uint32_t i = 0; i < l->boxes.len; i++) unit_add(w, l->boxes.at[i].layer, l->boxes.at[i].width, false);
  for (uint32_t i = 0; i < l->edges.len; i++) {
    const LayoutEdge *e = &l->edges.at[i];
    uint32_t at = e->from;
    if (e->back) continue;
    for (uint32_t k = l->boxes.at[e->from].layer + 1; k < l->boxes.at[e->to].layer; k++) {
      uint32_t bend = unit_add(w, k, BEND_WIDTH, true);
      vec_push(w->arena, w->bends[i], bend);
      units_join(w, at, bend);
      at = bend;
    }
    units_join(w, at, e->to);
  }
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b) {
  const Unit *x = *(Unit *const *)a, *y = *(Unit *const *)b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static void row_order(Layers *w, uint32_t row, bool by_above) {
  Row *r = &w->rows.at[row];
  Unit **at = NEW_ARRAY(w->arena, Unit *, r->len + 1);
  for (uint32_t i = 0; i < r->len; i++) {
    Unit *u = at[i] = &w->units.at[r->at[i]];
    uint32_t n = by_above ? u->above.len : u->below.len;
    const uint32_t *near = by_above ? u->above.at : u->below.at;
    u->key = n ? 0 : u->order;
    for (uint32_t k = 0; k < n; k++) u->key += (double)w->units.at[near[k]].order / n;
  }
  qsort(at, r->len, sizeof *at, by_key);
  for (uint32_t i = 0; i < r->len; i++) {
    at[i]->order = i;
    r->at[i] = (uint32_t)(at[i] - w->units.at);
  }
}

/* The number of crossing edges below a row. */
static uint64_t row_crossings(const Layers *w, const Row *r) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < r->len; i++)
    for (uint32_t j = i + 1; j < r->len; j++) {
      const Unit *a = &w->units.at[r->at[i]], *b = &w->units.at[r->at[j]];
      for (uint32_t x = 0; x < a->below.len; x++)
        for (uint32_t y = 0; y < b->below.len; y++)
          n += w->units.at[a->below.at[x]].order > w->units.at[b->below.at[y]].order;
    }
  return n;
}

static uint64_t crossings(const Layers *w) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < w->rows.len; i++) n += row_crossings(w, &w->rows.at[i]);
  return n;
}

static void order_find(Layers *w) {
  uint32_t n = w->units.len, *best = NEW_ARRAY(w->arena, uint32_t, n + 1);
  uint64_t least = UINT64_MAX;
  for (int k = 0; k < SWEEPS; k++) {
    bool down = k % 2 == 0;
    for (uint32_t i = 0; i < w->rows.len; i++) row_order(w, down ? i : w->rows.len - 1 - i, down);
    uint64_t now = crossings(w);
    if (now >= least) continue;
    least = now;
    for (uint32_t i = 0; i < n; i++) best[i] = w->units.at[i].order;
  }
  for (uint32_t i = 0; i < n; i++) {
    w->units.at[i].order = best[i];
    w->rows.at[w->units.at[i].layer].at[best[i]] = i;
  }
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static double wanted_place(const Layers *w, const Unit *u, bool above, bool below) {
  double sum = 0, weight = 0;
  for (int side = 0; side < 2; side++) {
    bool look = side ? below : above;
    uint32_t n = side ? u->below.len : u->above.len;
    for (uint32_t k = 0; look && k < n; k++) {
      const Unit *v = &w->units.at[side ? u->below.at[k] : u->above.at[k]];
      double much = u->bend && v->bend ? 4 : u->bend || v->bend ? 2 : 1;
      sum += much * v->x;
      weight += much;
    }
  }
  return weight > 0 ? sum / weight : u->x;
}

/* Minimises the sum of squared distances from the wanted positions, in order and with room between: units that would
 * collide move as one. */
static void row_settle(Layers *w, const Row *r, bool above, bool below) {
  typedef struct Pack { double sum, n; } Pack;
  Pack *pack = NEW_ARRAY(w->arena, Pack, r->len + 1);
  double *offset = NEW_ARRAY(w->arena, double, r->len + 1), at = 0;
  uint32_t n = 0, *members = NEW_ARRAY(w->arena, uint32_t, r->len + 1);
  for (uint32_t i = 0; i < r->len; i++) {
    const Unit *u = &w->units.at[r->at[i]];
    if (i) at += (w->units.at[r->at[i - 1]].width + u->width) / 2 + GAP;
    offset[i] = at;
    pack[n] = (Pack){wanted_place(w, u, above, below) - at, 1};
    members[n++] = 1;
    for (; n > 1 && pack[n - 2].sum / pack[n - 2].n >= pack[n - 1].sum / pack[n - 1].n; n--) {
      pack[n - 2].sum += pack[n - 1].sum;
      pack[n - 2].n += pack[n - 1].n;
      members[n - 2] += members[n - 1];
    }
  }
  for (uint32_t k = 0, i = 0; k < n; k++)
    for (uint32_t m = 0; m < members[k]; m++, i++) w->units.at[r->at[i]].x = pack[k].sum / pack[k].n + offset[i];
}

static void places_find(Layers *w) {
  for (uint32_t i = 0; i < w->rows.len; i++) {
    double at = 0;
    for (uint32_t k = 0; k < w->rows.at[i].len; k++) {
      Unit *u = &w->units.at[w->rows.at[i].at[k]];
      u->x = at + u->width / 2;
      at += u->width + GAP;
    }
  }
  for (int k = 0; k < SETTLES; k++) {
    bool down = k % 2 == 0, both = k >= SETTLES / 2;
    for (uint32_t i = 0; i < w->rows.len; i++)
      row_settle(w, &w->rows.at[down ? i : w->rows.len - 1 - i], down || both, !down || both);
  }
}

/* ---- connected components ---------------------------------------------------------------------------------------- */

static uint32_t part_root(const uint32_t *part, uint32_t i) {
  while (part[i] != i) i = part[i];
  return i;
}

static uint32_t *parts_find(Layers *w) {
  uint32_t n = w->units.len, *part = NEW_ARRAY(w->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) part[i] = i;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w->units.at[i].below.len; k++) {
      uint32_t a = part_root(part, i), b = part_root(part, w->units.at[i].below.at[k]);
      part[a > b ? a : b] = a > b ? b : a;
    }
  for (uint32_t i = 0; i < n; i++) part[i] = part_root(part, i);
  return part;
}

/* Disconnected graphs are placed side by side, in the order of their first boxes. */
static void parts_place(Layers *w) {
  uint32_t n = w->units.len, *part = parts_find(w);
  double *low = NEW_ARRAY(w->arena, double, n + 1), *high = NEW_ARRAY(w->arena, double, n + 1), at = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Unit *u = &w->units.at[i];
    uint32_t k = part[i];
    if (k == i || u->x - u->width / 2 < low[k]) low[k] = u->x - u->width / 2;
    if (k == i || u->x + u->width / 2 > high[k]) high[k] = u->x + u->width / 2;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (part[i] != i) continue;
    double width = high[i] - low[i];
    low[i] = at - low[i];
    at += width + GAP;
  }
  for (uint32_t i = 0; i < n; i++) w->units.at[i].x += low[part[i]];
}

static void places_give(Layers *w) {
  Layout *l = w->l;
  double low = 0, high = 0, y = 0;
  double *top = NEW_ARRAY(w->arena, double, w->rows.len + 1), *tall = NEW_ARRAY(w->arena, double, w->rows.len + 1);
  for (uint32_t i = 0; i < w->units.len; i++) {
    const Unit *u = &w->units.at[i];
    if (!i || u->x - u->width / 2 < low) low = u->x - u->width / 2;
    if (!i || u->x + u->width / 2 > high) high = u->x + u->width / 2;
    if (!u->bend && l->boxes.at[i].height > tall[u->layer]) tall[u->layer] = l->boxes.at[i].height;
  }
  for (uint32_t i = 0; i < w->rows.len; i++) {
    top[i] = y;
    y += tall[i] + LAYER_GAP;
  }
  for (uint32_t i = 0; i < l->boxes.len; i++) {
    l->boxes.at[i].x = w->units.at[i].x - low;
    l->boxes.at[i].y = top[l->boxes.at[i].layer];
  }
  for (uint32_t i = 0; i < l->edges.len; i++)
    for (uint32_t k = 0; k < w->bends[i].len; k++) {
      const Unit *u = &w->units.at[w->bends[i].at[k]];
      LayoutPoint at = {u->x - low, top[u->layer] + tall[u->layer] / 2};
      vec_push(w->arena, l->edges.at[i].bends, at);
    }
  l->width = high - low;
  l->height = y > LAYER_GAP ? y - LAYER_GAP : 0;
}

void layout_make(Arena *a, Layout *l) {
  Layers w = {.arena = a, .l = l};
  layers_find(&w);
  units_make(&w);
  order_find(&w);
  places_find(&w);
  parts_place(&w);
  places_give(&w);
}
