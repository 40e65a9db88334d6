/* plan/placing/reach.c - windows of blocks, as intervals; and how much of them a site already has. */
#include "reach.h"

#include <string.h>

#include "expr/prove/asked.h"
#include "inside.h"

enum {
  LOOKED_AT = 1 << 22,       /* pairs of a home and a cut, times sites, to look at */
  SITES = 64,                /* a sample of sites, where there are more; */
  ASKED_SITES = 4            /* where they request places, this many */
};

/* ---- windows -------------------------------------------------------------------------------------------- */

static const PartRead *read_of(const PlaceGraph *g, uint32_t vertex, uint32_t read) {
  return &g->part->vertices.at[vertex].reads.at[read];
}

bool reach_is_plain(const PlaceGraph *g, uint32_t vertex, uint32_t read) {
  return !read_of(g, vertex, read)->index;
}

PartWide reach_wide(const PartRead *r, uint32_t dimension) {
  return r->wide ? r->wide[dimension] : (PartWide){0, 0};
}

static void blocks_find(
    const PartVertex *v, const Mesh *m, uint32_t axes, const int8_t *on, const uint32_t *at, SpanBlock *label) {
  Mesh out = *m;
  out.n = axes;
  for (uint32_t l = 0; l < v->n_label; l++) label[l] = (SpanBlock){0, v->extent[l], false};
  for (uint32_t a = 0; a < m->n; a++) {
    if (on[a] < 0 || label[on[a]].cut || m->size[a] == 1) continue;
    SpanBlock *b = &label[on[a]];
    Placement one;
    for (uint32_t c = 0; c < m->n; c++) one.on[c] = on[c] == on[a] ? 0 : PLACE_ALL;
    placement_box(&out, &one, 1, &v->extent[on[a]], at, &b->low, &b->high);
    b->cut = true;
  }
}

static void counts_find(const PartVertex *v, const Mesh *m, uint32_t axes, const int8_t *on, uint32_t *count) {
  for (uint32_t l = 0; l < v->n_label; l++) count[l] = 1;
  for (uint32_t a = 0; a < axes; a++)
    if (on[a] >= 0) count[on[a]] *= m->size[a];
}

bool reach_is_told(
    const PlaceGraph *g, uint32_t vertex, uint32_t read, uint32_t dimension, const Mesh *m, const int8_t *on) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  const PartRead *r = read_of(g, vertex, read);
  SpanBlock label[GRAPH_LABELS + 1];
  uint32_t count[GRAPH_LABELS + 1];
  Reached s;
  SpanWrap w = {r->index[dimension], 0, 1};
  bool moves = false;
  for (uint32_t l = 0; l < v->n_label; l++) label[l] = (SpanBlock){0, v->extent[l], false};
  counts_find(v, m, m->n, on, count);
  span_wrap(r->index[dimension], v->n_label, v->extent, count, r->extent[dimension], reach_wide(r, dimension), &w);
  return span_find(w.of, label, &moves, &s);
}

void reach_wanted(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const int8_t *on,
    const uint32_t *at, int64_t *from, int64_t *to, int64_t *wrap) {
  reach_together(g, m, m->n, vertex, read, on, at, from, to, wrap);
}

/* The window of dimension k for a block of the reader's labels, which are cut into `count`. */
static void window_find(const PartVertex *v, const PartRead *r, uint32_t k, const uint32_t *count,
    const SpanBlock *label, int64_t *from, int64_t *to, int64_t *wrap) {
  Reached s;
  SpanWrap w = {r->index[k], 0, 1};
  PartWide wide = reach_wide(r, k);
  bool moves = false, wraps = span_wrap(r->index[k], v->n_label, v->extent, count, r->extent[k], wide, &w);
  *from = 0, *to = r->extent[k], *wrap = 0;
  if (!span_find(w.of, label, &moves, &s) || !moves) return;
  *from = larger(s.least + w.add - wide.below, 0);
  *to = larger(smaller(s.most + w.add + wide.above + 1, w.laps * r->extent[k]), *from);
  if (wraps && w.laps > 1) *wrap = r->extent[k];
}

void reach_together(const PlaceGraph *g, const Mesh *m, uint32_t axes, uint32_t vertex, uint32_t read, const int8_t *on,
    const uint32_t *at, int64_t *from, int64_t *to, int64_t *wrap) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  const PartRead *r = read_of(g, vertex, read);
  SpanBlock label[GRAPH_LABELS + 1];
  uint32_t count[GRAPH_LABELS + 1];
  counts_find(v, m, axes, on, count);
  blocks_find(v, m, axes, on, at, label);
  for (uint32_t k = 0; k < r->rank; k++) window_find(v, r, k, count, label, &from[k], &to[k], &wrap[k]);
}

void reach_home(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const uint32_t *at, int64_t *from, int64_t *to) {
  const PartRead *r = read_of(g, vertex, read);
  const PlaceTensor *t = &g->tensors.at[g->tensor[vertex][read]];
  int64_t low[REACH_RANK], high[REACH_RANK];
  placement_box(m, home, t->n, t->extent, at, low, high);
  for (uint32_t k = 0; k < r->rank; k++) {
    int32_t d = r->from < 0 ? (int32_t)k : r->made[k];
    from[k] = 0, to[k] = r->extent[k];
    if (d < 0 || !t->extent[d]) continue;
    int64_t merged = r->extent[k] / t->extent[d]; /* labels after it in the dimension stay whole */
    from[k] = low[d] * merged, to[k] = high[d] * merged;
  }
}

/* ---- data present ------------------------------------------------------------------------------------------ */

static double volume(uint32_t rank, const int64_t *from, const int64_t *to) {
  double n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= (double)(to[k] - from[k]);
  return n;
}

static double lacking(uint32_t rank, const int64_t *from, const int64_t *to, const int64_t *wrap, const int64_t *has,
    const int64_t *end) {
  double there = 1;
  for (uint32_t k = 0; k < rank; k++) there *= (double)wrap_shared(from[k], to[k], wrap[k], has[k], end[k]);
  return volume(rank, from, to) - there;
}

static double size_of(const PlaceGraph *g, uint32_t vertex, uint32_t read) {
  return read_of(g, vertex, read)->times * dtype_size(g->tensors.at[g->tensor[vertex][read]].node->dtype);
}

/* The i-th of the sampled sites. */
static int64_t site_of(int64_t i, int64_t looked, int64_t sites) {
  return looked == sites ? i : (int64_t)((uint64_t)i * 2654435761u % (uint64_t)sites);
}

/* Added over sites: what they want, and how much of it they lack. */
typedef struct Amount { double want, lack; } Amount;

static Amount amount_of(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, int64_t looked) {
  uint32_t rank = read_of(g, vertex, read)->rank, at[MESH_AXES];
  int64_t from[REACH_RANK], to[REACH_RANK], wrap[REACH_RANK], has[REACH_RANK] = {0}, end[REACH_RANK] = {0},
                                                              sites = mesh_sites(m);
  Amount n = {0, 0};
  for (int64_t i = 0; i < looked; i++) {
    mesh_place(m, site_of(i, looked, sites), at);
    reach_wanted(g, m, vertex, read, on, at, from, to, wrap);
    if (home) reach_home(g, m, vertex, read, home, at, has, end);
    n.want += volume(rank, from, to);
    n.lack += lacking(rank, from, to, wrap, has, end); /* without a home all of it is lacking, except at rank 0 */
  }
  return (Amount){n.want * (double)sites / (double)looked, n.lack * (double)sites / (double)looked};
}

/* ---- requests at indices from data --------------------------------------------------------------------------- */

typedef struct Asking {      /* a read, with a cut of labels, at a site */
  double points;
  int64_t from[REACH_RANK], to[REACH_RANK];
} Asking;

static bool asked_read(Arena *a, const PlaceGraph *g, uint32_t vertex, uint32_t read, Asked *q) {
  const PartRead *r = read_of(g, vertex, read);
  if (g->cost && g->cost->paper) return false; /* which knows of no requests */
  return r->asked > 0 && asked_of(a, g->part->vertices.at[vertex].n_label, r->rank, r->index, q);
}

static void asking_at(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Asked *q,
    const int8_t *on, const uint32_t *at, Asking *x) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  SpanBlock label[GRAPH_LABELS + 1];
  int64_t low[GRAPH_LABELS + 1], high[GRAPH_LABELS + 1];
  blocks_find(v, m, m->n, on, at, label);
  for (uint32_t l = 0; l < v->n_label; l++) low[l] = label[l].low, high[l] = label[l].high;
  x->points = asked_points(q, low, high);
  asked_box(q, low, high, read_of(g, vertex, read)->extent, x->from, x->to);
}

/* The number of a dimension's home blocks that meet from..to. */
static double blocks_met(const PlaceTensor *t, const PartRead *r, uint32_t k, const Mesh *m, const Placement *home,
    int64_t from, int64_t to) {
  int32_t d = r->from < 0 ? (int32_t)k : r->made[k];
  if (d < 0 || !t->extent[d] || to <= from) return 1;
  int64_t each = r->extent[k] / t->extent[d], n = placement_count(m, home, (int8_t)d);
  return (double)(((to - 1) / each * n + n - 1) / t->extent[d] - (from / each * n + n - 1) / t->extent[d] + 1);
}

/* Bytes of one fetch to a site that has has..end. */
static double asked_once(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Asked *q,
    const Asking *x, const Placement *home, const int64_t *has, const int64_t *end) {
  const PartRead *r = read_of(g, vertex, read);
  const PlaceTensor *t = &g->tensors.at[g->tensor[vertex][read]];
  double size = dtype_size(t->node->dtype), asks = (double)ASKED_INDEX * q->n_place, blocks = 1;
  double slice = asked_common(q, false, x->from, x->to, x->from, x->to),
         own = asked_common(q, false, x->from, x->to, has, end);
  double places = asked_common(q, true, x->from, x->to, x->from, x->to),
         here = asked_common(q, true, x->from, x->to, has, end);
  for (uint32_t k = 0; k < r->rank; k++)
    if (!q->place[k]) blocks *= blocks_met(t, r, k, m, home, x->from[k], x->to[k]);
  double all = slice > 0 ? slice * size + blocks * asks : 0;
  AskedPlaces at[2] = {{places - here, all}, {here, own > 0 ? all - own * size - asks : all}};
  return asked_bytes(x->points, 2, at);
}

/* Per run; LARGE where nothing can be requested. */
static const double LARGE = 1e300;

static double asked_lacking(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, int64_t looked) {
  int64_t has[REACH_RANK], end[REACH_RANK], sites = mesh_sites(m);
  Arena *a = arena_new();
  uint32_t at[MESH_AXES];
  double n = 0;
  Asked q;
  Asking x;
  bool asked = asked_read(a, g, vertex, read, &q);
  for (int64_t i = 0; asked && i < looked; i++) {
    mesh_place(m, site_of(i, looked, sites), at);
    asking_at(g, m, vertex, read, &q, on, at, &x);
    reach_home(g, m, vertex, read, home, at, has, end);
    n += asked_once(g, m, vertex, read, &q, &x, home, has, end);
  }
  arena_free(a);
  return asked ? read_of(g, vertex, read)->asked * n * (double)sites / (double)looked : LARGE;
}

/* ---- costs per run -------------------------------------------------------------------------------------------- */

static double amount_cost(const PlaceGraph *g, uint32_t vertex, uint32_t read, Amount n, bool paper) {
  if (!paper) return size_of(g, vertex, read) * n.lack;
  return n.lack > 0 ? read_of(g, vertex, read)->times * n.want : 0;
}

double reach_asked(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, const uint32_t *at, int64_t *from, int64_t *to) {
  int64_t has[REACH_RANK], end[REACH_RANK];
  Arena *a = arena_new();
  double bytes = 0;
  Asked q;
  Asking x;
  if (asked_read(a, g, vertex, read, &q)) {
    asking_at(g, m, vertex, read, &q, on, at, &x);
    reach_home(g, m, vertex, read, home, at, has, end);
    bytes = read_of(g, vertex, read)->asked * asked_once(g, m, vertex, read, &q, &x, home, has, end);
    memcpy(from, x.from, q.rank * sizeof *from);
    memcpy(to, x.to, q.rank * sizeof *to);
  }
  arena_free(a);
  return bytes;
}

/* ---- tables -------------------------------------------------------------------------------------------------- */

Placement reach_cut(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const int8_t *on) {
  const PartRead *r = read_of(g, vertex, read);
  bool used[GRAPH_LABELS + 1] = {0};
  Placement p = {{0}};
  for (uint32_t k = 0; k < r->rank; k++) expr_labels(r->index[k], g->part->vertices.at[vertex].n_label, used);
  for (uint32_t a = 0; a < m->n; a++) p.on[a] = on[a] >= 0 && used[on[a]] ? on[a] : PLACE_ALL;
  return p;
}

/* Finds, by site and dimension, the ends of boxes, and where they wrap. */
static void boxes_find(
    const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, bool home, const Placement *p, int64_t *box) {
  uint32_t rank = read_of(g, vertex, read)->rank, at[MESH_AXES];
  for (int64_t s = 0, sites = mesh_sites(m); s < sites; s++, box += 3 * (size_t)rank) {
    mesh_place(m, s, at);
    if (home) reach_home(g, m, vertex, read, p, at, box, box + rank);
    else reach_wanted(g, m, vertex, read, p->on, at, box, box + rank, box + 2 * (size_t)rank);
  }
}

/* Bytes per run of requesting places. Uses a sample of sites. */
static void costs_asked(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, int64_t looked,
    uint32_t n_home, const Placement *const *home, uint32_t n_on, const Placement *const *on, double *cost) {
  const PartRead *r = read_of(g, vertex, read);
  Arena *a = arena_new();
  int64_t sites = mesh_sites(m), *has = NEW_ARRAY(a, int64_t, 2 * (size_t)r->rank * n_home + 1);
  uint32_t at[MESH_AXES];
  Asked q;
  Asking x;
  bool asked = asked_read(a, g, vertex, read, &q);
  for (size_t k = 0; k < (size_t)n_home * n_on; k++) cost[k] = asked ? 0 : LARGE;
  for (int64_t s = 0; asked && s < looked; s++) {
    mesh_place(m, site_of(s, looked, sites), at);
    for (uint32_t i = 0; i < n_home; i++)
      reach_home(g, m, vertex, read, home[i], at, has + 2 * (size_t)i * r->rank, has + (2 * (size_t)i + 1) * r->rank);
    for (uint32_t j = 0; j < n_on; j++) {
      asking_at(g, m, vertex, read, &q, on[j]->on, at, &x);
      for (uint32_t i = 0; i < n_home; i++) {
        const int64_t *h = has + 2 * (size_t)i * r->rank;
        cost[(size_t)i * n_on + j] += asked_once(g, m, vertex, read, &q, &x, home[i], h, h + r->rank);
      }
    }
  }
  for (size_t k = 0; asked && k < (size_t)n_home * n_on; k++) cost[k] *= r->asked * (double)sites / (double)looked;
  arena_free(a);
}

static void costs_exactly(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
                          const Placement *const *home, uint32_t n_on,
                          const Placement *const *on, bool paper, double *cost) {
  Arena *a = arena_new();
  uint32_t rank = read_of(g, vertex, read)->rank;
  size_t sites = (size_t)mesh_sites(m), each = 3 * rank * sites;
  int64_t *has = NEW_ARRAY(a, int64_t, each * n_home + 1), *wants = NEW_ARRAY(a, int64_t, each + 1);
  for (uint32_t i = 0; i < n_home; i++) boxes_find(g, m, vertex, read, true, home[i], has + i * each);
  for (uint32_t j = 0; j < n_on; j++) {
    boxes_find(g, m, vertex, read, false, on[j], wants);
    for (uint32_t i = 0; i < n_home; i++) {
      Amount n = {0, 0};
      const int64_t *h = has + i * each, *w = wants;
      for (size_t s = 0; s < sites; s++, h += 3 * rank, w += 3 * rank) {
        n.want += volume(rank, w, w + rank);
        n.lack += lacking(rank, w, w + rank, w + 2 * rank, h, h + rank);
      }
      cost[(size_t)i * n_on + j] = amount_cost(g, vertex, read, n, paper);
    }
  }
  arena_free(a);
}

static double elements_of(const PartRead *r) {
  double n = 1;
  for (uint32_t k = 0; k < r->rank; k++) n *= (double)r->extent[k];
  return n;
}

/* Estimates the cost with blocks as they lie without windows. */
static void costs_about(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, bool paper, double *cost) {
  const PartRead *r = read_of(g, vertex, read);
  int64_t sites = mesh_sites(m);
  for (uint32_t j = 0; j < n_on; j++) {
    Amount all = amount_of(g, m, vertex, read, NULL, on[j]->on, sites < SITES ? sites : SITES);
    Placement wanted = wanted_at(r, m, on[j]->on);
    for (uint32_t i = 0; i < n_home; i++) {
      double share = place_share(m, home[i], &wanted) / (double)placement_copies(m, &wanted);
      Amount n = {all.want,
          share > 1e-9 ? all.lack * share
              : paper  ? all.lack - elements_of(r) * (double)placement_copies(m, &wanted)
                       : 0};
      cost[(size_t)i * n_on + j] = amount_cost(g, vertex, read, n, paper);
    }
  }
}

/* Whether there are few enough pairs of a home and a cut to look at each site. */
static bool are_few(const Mesh *m, double pairs) { return pairs * (double)mesh_sites(m) <= (double)LOOKED_AT; }

/* How many sites are sampled for requests. */
static int64_t asked_sites(const Mesh *m, double pairs) {
  int64_t sites = mesh_sites(m);
  return are_few(m, pairs) || sites < ASKED_SITES ? sites : ASKED_SITES;
}

static void costs_whole(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, bool paper, double *cost) {
  bool few = are_few(m, (double)n_home * n_on);
  (few ? costs_exactly : costs_about)(g, m, vertex, read, n_home, home, n_on, on, paper, cost);
}

void reach_costs(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, bool paper, double *cost) {
  size_t n = (size_t)n_home * n_on;
  if (paper || read_of(g, vertex, read)->asked <= 0) {
    costs_whole(g, m, vertex, read, n_home, home, n_on, on, paper, cost);
    return;
  }
  Arena *a = arena_new();
  double *asked = NEW_ARRAY(a, double, n + 1);
  reach_costs_ways(g, m, vertex, read, n_home, home, n_on, on, cost, asked);
  for (size_t k = 0; k < n; k++) cost[k] = asked[k] < cost[k] ? asked[k] : cost[k];
  arena_free(a);
}

void reach_costs_ways(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, double *whole, double *asked) {
  costs_whole(g, m, vertex, read, n_home, home, n_on, on, false, whole);
  costs_asked(g, m, vertex, read, asked_sites(m, (double)n_home * n_on), n_home, home, n_on, on, asked);
}

/* ---- by counts alone ----------------------------------------------------------------------------------------- */

enum { BLOCKS_MOST = 1 << 16 };  /* of the labels of one index: of more, nothing is known */

/* Of a dimension's windows, for some counts of the labels in its index: the least length on average, the least, and
 * the longest. */
typedef struct Lengths { double mean, least, most; } Lengths;

typedef struct Least {
  Arena *arena;
  const PartVertex *v;
  const PartRead *r;
  bool **used;               /* by dimension: the labels in its index */
  bool shared;               /* several indices have one label, so that their windows depend on each other */
  bool asked;                /* its places are requested */
  Memo seen;                 /* by dimension and counts: Lengths */
} Least;

/* Whatever axes cut b places into n blocks, block k has these: *in; and no others than these: *out. */
static void block_bounds(int64_t b, uint32_t n, uint32_t k, SpanBlock *in, SpanBlock *out) {
  int64_t each = b / n, rest = b % n, low = each * k;
  *in = (SpanBlock){low + rest, low + each, true};
  *out = (SpanBlock){low, low + each + rest, true};
}

/* How many places of a dimension the span has. */
static int64_t shared_length(Reached s, int64_t extent) {
  int64_t low = larger(s.least, 0), high = smaller(s.most + 1, extent);
  return high > low ? high - low : 0;
}

/* Steps to the next block of the labels of an index; false after the last. */
static bool block_next(const Least *x, uint32_t k, const uint32_t *count, uint32_t *at) {
  for (uint32_t l = x->v->n_label; l-- > 0;) {
    if (!x->used[k][l]) continue;
    if (++at[l] < count[l]) return true;
    at[l] = 0;
  }
  return false;
}

static int64_t window_length(const Least *x, uint32_t k, const uint32_t *count, const SpanBlock *label) {
  int64_t from, to, wrap, extent = x->r->extent[k];
  Reached s;
  bool moves = false;
  if (x->asked) return span_find(x->r->index[k], label, &moves, &s) ? shared_length(s, extent) : extent;
  window_find(x->v, x->r, k, count, label, &from, &to, &wrap);
  return smaller(to - from, extent);
}

static Lengths lengths_of(const Least *x, uint32_t k, const uint32_t *count) {
  SpanBlock in[GRAPH_LABELS + 1], out[GRAPH_LABELS + 1];
  uint32_t at[GRAPH_LABELS + 1] = {0};
  double blocks = 1, sum = 0;
  Lengths n = {0, (double)x->r->extent[k], 0};
  for (uint32_t l = 0; l < x->v->n_label; l++) {
    in[l] = out[l] = (SpanBlock){0, x->v->extent[l], false};
    blocks *= x->used[k][l] ? count[l] : 1;
  }
  if (blocks > (double)BLOCKS_MOST) return (Lengths){0, 0, n.least};
  do {
    bool some = true;
    for (uint32_t l = 0; l < x->v->n_label; l++) {
      if (!x->used[k][l] || count[l] <= 1) continue;
      block_bounds(x->v->extent[l], count[l], at[l], &in[l], &out[l]);
      some = some && in[l].high > in[l].low;
    }
    double least = some ? (double)window_length(x, k, count, in) : 0,
           most = (double)window_length(x, k, count, out);
    sum += least;
    n.least = least < n.least ? least : n.least;
    n.most = most > n.most ? most : n.most;
  } while (block_next(x, k, count, at));
  n.mean = sum / blocks;
  return n;
}

static const Lengths *lengths_get(Least *x, uint32_t k, const uint32_t *count) {
  uint32_t key[GRAPH_LABELS + 2] = {k}, n = 1;
  for (uint32_t l = 0; l < x->v->n_label; l++)
    if (x->used[k][l]) key[n++] = count[l];
  MemoEntry *e = memo_get(&x->seen, key, n * sizeof *key);
  if (e->value) return e->value;
  Lengths found = lengths_of(x, k, count);
  return e->value = arena_copy(x->arena, &found, sizeof found);
}

static Least least_new(Arena *a, const PartVertex *v, const PartRead *r, bool asked) {
  Least x = {a, v, r, NEW_ARRAY(a, bool *, r->rank + 1), false, asked, memo_new(a)};
  bool *any = NEW_ARRAY(a, bool, v->n_label + 1);
  for (uint32_t k = 0; k < r->rank; k++) {
    x.used[k] = NEW_ARRAY(a, bool, v->n_label + 1);
    expr_labels(r->index[k], v->n_label, x.used[k]);
    for (uint32_t l = 0; l < v->n_label; l++) x.shared |= x.used[k][l] && any[l], any[l] |= x.used[k][l];
  }
  return x;
}

/* The longest block at home of a read's dimension, and the mean. */
static void home_lengths(const PlaceTensor *t, const PartRead *r, uint32_t k, const PlaceCounts *home, double *most,
    double *mean) {
  int32_t d = r->from < 0 ? (int32_t)k : r->made[k];
  double all = (double)r->extent[k];
  *most = *mean = all;
  if (d < 0 || !t->extent[d]) return;
  double merged = (double)(r->extent[k] / t->extent[d]);
  *most = merged * part_block(t->extent[d], (uint32_t)home->count[d]);
  *mean = all / home->count[d];
}

/* The most that all sites together have of their windows: in each dimension no more than the smaller of window and
 * block, and no more than they have at all. */
static double there_most(
    const Least *x, const PlaceTensor *t, double sites, const PlaceCounts *home, const Lengths *const *window) {
  double there = sites, has = sites, most, mean;
  for (uint32_t k = 0; k < x->r->rank; k++) {
    home_lengths(t, x->r, k, home, &most, &mean);
    there *= most < window[k]->most ? most : window[k]->most;
    has *= mean;
  }
  return there < has ? there : has;
}

/* Of each site, for one fetch: as few places as blocks of the labels can have, as many of them at hand as can be. */
static double asked_least(
    Least *x, const Asked *q, const PlaceTensor *t, const PlaceCounts *home, const uint32_t *count) {
  double size = dtype_size(t->node->dtype), asks = (double)ASKED_INDEX * q->n_place, points = 1, most, mean;
  double places = 1, here = 1, slice = 1, own = 1;
  for (uint32_t l = 0; l < q->n_label; l++) points *= q->label[l] ? (double)(x->v->extent[l] / count[l]) : 1;
  for (uint32_t k = 0; k < x->r->rank; k++) {
    const Lengths *window = lengths_get(x, k, count);
    home_lengths(t, x->r, k, home, &most, &mean);
    *(q->place[k] ? &places : &slice) *= window->least;
    *(q->place[k] ? &here : &own) *= most < window->most ? most : window->most;
  }
  double far = places > here ? places - here : 0, near = (slice - own) * size;
  AskedPlaces at[2] = {{far, slice > 0 ? slice * size + asks : 0}, {places - far, near > 0 ? near : 0}};
  return asked_bytes(points, 2, at);
}

void reach_costs_least(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const PlaceCounts *home, uint32_t n_on, const Placement *const *on, bool paper, double *cost) {
  Arena *a = arena_new();
  const PartRead *r = read_of(g, vertex, read);
  Least x = least_new(a, &g->part->vertices.at[vertex], r, false);
  Least y = least_new(a, x.v, r, true);
  Asked q;
  bool asked = !paper && asked_read(a, g, vertex, read, &q);
  const PlaceTensor *t = &g->tensors.at[g->tensor[vertex][read]];
  double sites = (double)mesh_sites(m);
  const Lengths **window = NEW_ARRAY(a, const Lengths *, x.r->rank + 1);
  for (uint32_t j = 0; j < n_on; j++) {
    uint32_t count[GRAPH_LABELS + 1];
    double want = sites;
    counts_find(x.v, m, m->n, on[j]->on, count);
    for (uint32_t k = 0; k < x.r->rank; k++) {
      window[k] = lengths_get(&x, k, count);
      want *= x.shared ? window[k]->least : window[k]->mean;
    }
    for (uint32_t i = 0; i < n_home; i++) {
      double lack = want - there_most(&x, t, sites, &home[i], window);
      Amount n = {want, lack > want * 1e-9 ? lack : 0};
      double whole = amount_cost(g, vertex, read, n, paper),
             some = asked ? r->asked * sites * asked_least(&y, &q, t, &home[i], count) : whole;
      cost[(size_t)i * n_on + j] = some < whole ? some : whole;
    }
  }
  arena_free(a);
}

/* ---- one home and one cut ---------------------------------------------------------------------------------- */

static double cost_whole(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, bool paper) {
  int64_t sites = mesh_sites(m);
  double cost;
  if (sites <= PLACING_LOOKED)
    return amount_cost(g, vertex, read, amount_of(g, m, vertex, read, home, on, sites), paper);
  Placement p = reach_cut(g, m, vertex, read, on);
  const Placement *cut = &p;
  costs_whole(g, m, vertex, read, 1, &home, 1, &cut, paper, &cost);
  return cost;
}

void reach_ways(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, double *whole, double *asked) {
  *whole = cost_whole(g, m, vertex, read, home, on, false);
  *asked = asked_lacking(g, m, vertex, read, home, on, asked_sites(m, 1));
}

double reach_bytes(
    const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on) {
  double whole, asked;
  reach_ways(g, m, vertex, read, home, on, &whole, &asked);
  return asked < whole ? asked : whole;
}

double reach_elements(
    const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on) {
  return cost_whole(g, m, vertex, read, home, on, true);
}
