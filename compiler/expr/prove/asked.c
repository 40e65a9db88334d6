/* expr/prove/asked.c - places and slices of a read at indices from data, as intervals. */
#include "asked.h"

#include "span.h"

/* ---- which dimensions say the place ------------------------------------------------------------------- */

/* Whether the index depends on data or turns, or shares a label with one that does. used: its labels. */
static bool is_tied(uint32_t n_label, const Expr *index, const bool *label, bool *used) {
  bool tied = (index->has & (HAS_READ | HAS_TURN)) != 0;
  for (uint32_t l = 0; l < n_label; l++) used[l] = false;
  expr_labels(index, n_label, used);
  for (uint32_t l = 0; l < n_label; l++) tied |= used[l] && label[l];
  return tied;
}

bool asked_of(Arena *a, uint32_t n_label, uint32_t rank, const Expr *const *index, Asked *out) {
  bool more = true, *place = NEW_ARRAY(a, bool, rank + 1), *label = NEW_ARRAY(a, bool, n_label + 1),
       *used = NEW_ARRAY(a, bool, n_label + 1);
  *out = (Asked){.n_label = n_label, .rank = rank, .index = index, .place = place, .label = label};
  while (more) {
    more = false;
    for (uint32_t k = 0; k < rank; k++) {
      if (place[k] || !is_tied(n_label, index[k], label, used)) continue;
      more = place[k] = true;
      out->n_place++;
      for (uint32_t l = 0; l < n_label; l++) label[l] |= used[l];
    }
  }
  if (!out->n_place)
    for (uint32_t k = 0; k < rank; k++) out->n_place += place[k] = index[k]->kind == EX_INT;
  return out->n_place && rank < ASKED_RANK;
}

/* ---- a block of labels -------------------------------------------------------------------------------------- */

double asked_points(const Asked *q, const int64_t *low, const int64_t *high) {
  double n = 1;
  for (uint32_t l = 0; l < q->n_label; l++)
    if (q->label[l]) n *= high[l] > low[l] ? (double)(high[l] - low[l]) : 0;
  return n;
}

void asked_box(
    const Asked *q, const int64_t *low, const int64_t *high, const int64_t *extent, int64_t *from, int64_t *to) {
  SpanBlock block[ASKED_MOST];
  for (uint32_t l = 0; l < q->n_label; l++) block[l] = (SpanBlock){low[l], high[l], false};
  for (uint32_t k = 0; k < q->rank; k++) {
    Reached s;
    bool moves = false;
    from[k] = 0, to[k] = extent[k];
    if (!span_find(q->index[k], block, &moves, &s)) continue;
    if (s.least > 0) from[k] = s.least;
    if (s.most + 1 < to[k]) to[k] = s.most + 1;
    if (to[k] < from[k]) to[k] = from[k];
  }
}

double asked_common(
    const Asked *q, bool place, const int64_t *from, const int64_t *to, const int64_t *low, const int64_t *high) {
  double n = 1;
  for (uint32_t k = 0; k < q->rank; k++) {
    int64_t a = from[k] > low[k] ? from[k] : low[k], b = to[k] < high[k] ? to[k] : high[k];
    if (q->place[k] == place) n *= b > a ? (double)(b - a) : 0;
  }
  return n;
}

static bool same_places(const Asked *q, const AskedTable *t, uint32_t a, uint32_t b) {
  const int64_t *low = t->low + (size_t)a * q->rank, *high = t->high + (size_t)a * q->rank;
  const int64_t *from = t->low + (size_t)b * q->rank, *to = t->high + (size_t)b * q->rank;
  for (uint32_t k = 0; k < q->rank; k++)
    if (q->place[k] && (low[k] != from[k] || high[k] != to[k])) return false;
  return true;
}

AskedTable asked_table(Arena *a, const Asked *q, uint32_t n, const int64_t *low, const int64_t *high) {
  AskedTable t = {.n = n,
      .low = low,
      .high = high,
      .column = NEW_ARRAY(a, uint32_t, n + 1),
      .extent = NEW_ARRAY(a, int64_t, q->rank + 1)};
  uint32_t *first = NEW_ARRAY(a, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = 0;
    for (uint32_t k = 0; k < q->rank; k++)
      if (high[(size_t)i * q->rank + k] > t.extent[k]) t.extent[k] = high[(size_t)i * q->rank + k];
    while (c < t.columns && !same_places(q, &t, first[c], i)) c++;
    if (c == t.columns) first[t.columns++] = i;
    t.column[i] = c;
  }
  return t;
}

double asked_most(Arena *a, const Asked *q, const AskedTable *t, const int64_t *low, const int64_t *high,
    const bool *here, double size) {
  int64_t from[ASKED_RANK], to[ASKED_RANK];
  AskedPlaces *all = NEW_ARRAY(a, AskedPlaces, t->columns + 1);
  uint32_t n = 0;
  asked_box(q, low, high, t->extent, from, to);
  for (uint32_t i = 0; i < t->n; i++) {
    const int64_t *l = t->low + (size_t)i * q->rank, *h = t->high + (size_t)i * q->rank;
    double slice = asked_common(q, false, from, to, l, h);
    all[t->column[i]].n = asked_common(q, true, from, to, l, h);
    if (slice > 0 && !here[i]) all[t->column[i]].each += slice * size + (double)q->n_place * (double)ASKED_INDEX;
  }
  for (uint32_t c = 0; c < t->columns; c++) { /* few costs differ */
    AskedPlaces x = all[c];
    uint32_t k = 0;
    while (k < n && all[k].each != x.each) k++;
    if (k == n) all[n++] = x;
    else all[k].n += x.n;
  }
  return asked_bytes(asked_points(q, low, high), n, all);
}

double asked_bytes(double points, uint32_t n, AskedPlaces *all) {
  double bytes = 0;
  while (points > 0) {
    AskedPlaces *most = NULL;
    for (uint32_t k = 0; k < n; k++)
      if (all[k].n > 0 && all[k].each > 0 && (!most || all[k].each > most->each)) most = &all[k];
    if (!most) break;
    double some = most->n < points ? most->n : points;
    bytes += some * most->each;
    points -= some;
    most->n = 0;
  }
  return bytes;
}
