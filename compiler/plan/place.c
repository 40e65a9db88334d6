/* plan/place.c - placements on a mesh, and what moves between them. */
#include "place.h"

enum { DIGITS = 64, RANK = 256, NONE = 255 };

int64_t mesh_sites(const Mesh *m) {
  int64_t n = 1;
  for (uint32_t a = 0; a < m->n; a++) n *= m->size[a];
  return n;
}

Mesh mesh_of_primes(int64_t sites) {
  Mesh small = {0}, m = {0};
  for (int64_t p = 2; p * p <= sites; p++)
    for (; sites % p == 0; sites /= p) small.size[small.n++] = (uint32_t)p;
  if (sites > 1) small.size[small.n++] = (uint32_t)sites;
  for (uint32_t a = small.n; a-- > 0;) m.size[m.n++] = small.size[a];
  return m;
}

void mesh_place(const Mesh *m, int64_t site, uint32_t *at) {
  for (uint32_t a = m->n; a-- > 0; site /= m->size[a]) at[a] = (uint32_t)(site % m->size[a]);
}

void placement_print(Buf *out, const Mesh *m, const Placement *p) {
  for (uint32_t a = 0; a < m->n; a++) {
    if (a) buf_char(out, ' ');
    if (p->on[a] >= 0) buf_printf(out, "%d", p->on[a]);
    else buf_char(out, p->on[a] == PLACE_ALL ? '*' : '+');
  }
}

bool placement_equal(const Mesh *m, const Placement *a, const Placement *b) {
  for (uint32_t i = 0; i < m->n; i++)
    if (a->on[i] != b->on[i]) return false;
  return true;
}

uint32_t placement_count(const Mesh *m, const Placement *p, int8_t dimension) {
  uint32_t n = 1;
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] == dimension) n *= m->size[a];
  return n;
}

int64_t placement_copies(const Mesh *m, const Placement *p) {
  int64_t n = 1;
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] == PLACE_ALL) n *= m->size[a];
  return n;
}

/* floor(k b / d), where k b may not fit. */
static int64_t bound_of(int64_t k, int64_t b, int64_t d) {
  return b / d * k + b % d * k / d;
}

int64_t placement_box(const Mesh *m, const Placement *p, uint32_t rank, const int64_t *extent, const uint32_t *at, int64_t *from, int64_t *to) {
  int64_t elements = 1;
  for (uint32_t d = 0; d < rank; d++) {
    int64_t k = 0, n = 1;
    for (uint32_t a = 0; a < m->n; a++)
      if (p->on[a] == (int8_t)d) k = k * m->size[a] + at[a], n *= m->size[a];
    from[d] = bound_of(k, extent[d], n);
    to[d] = bound_of(k + 1, extent[d], n);
    if (!mul_ok(elements, to[d] - from[d], &elements)) elements = INT64_MAX;
  }
  return elements;
}

/* ---- what moves ----------------------------------------------------------------------------------------- */

double place_move(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  uint32_t at[MESH_AXES + 1];
  int64_t low[2][RANK], high[2][RANK], sites = mesh_sites(m);
  double moved = 0;
  for (int64_t s = 0; s < sites; s++) {
    mesh_place(m, s, at);
    placement_box(m, from, rank, extent, at, low[0], high[0]);
    int64_t wanted = placement_box(m, to, rank, extent, at, low[1], high[1]), there = 1;
    for (uint32_t d = 0; d < rank; d++) {
      int64_t l = low[0][d] > low[1][d] ? low[0][d] : low[1][d], h = high[0][d] < high[1][d] ? high[0][d] : high[1][d];
      there *= h > l ? h - l : 0;
    }
    moved += (double)(wanted - there);
  }
  return moved;
}

/* Axes as digits of one prime: a place along an axis is a number with so many. */
typedef struct Digits {
  uint32_t prime, n;
  uint32_t first[MESH_AXES + 1]; /* by axis: its first digit; the most significant comes first */
  uint32_t same[DIGITS];         /* union-find: digits that must be equal */
} Digits;

static bool digits_find(const Mesh *m, Digits *x) {
  x->prime = 0;
  x->n = 0;
  for (uint32_t a = 0; a < m->n; a++) {
    uint32_t left = m->size[a], p = 2;
    x->first[a] = x->n;
    if (left > 1 && !x->prime) {
      while (left % p && p * p <= left) p++;
      x->prime = left % p ? left : p;
    }
    for (; left > 1; left /= x->prime) {
      if (left % x->prime) return false;
      x->same[x->n] = x->n;
      x->n++;
    }
  }
  x->first[m->n] = x->n;
  return true;
}

static uint32_t digit_root(const Digits *x, uint32_t i) {
  while (x->same[i] != i) i = x->same[i];
  return i;
}

/* The digit that comes `at`-th in the block numbers of a dimension; NONE: there are not so many. */
static uint32_t digit_at(const Digits *x, const Mesh *m, const Placement *p, int8_t dimension, uint32_t at) {
  for (uint32_t a = 0; a < m->n; a++) {
    uint32_t n = x->first[a + 1] - x->first[a];
    if (p->on[a] != dimension) continue;
    if (at < n) return x->first[a] + at;
    at -= n;
  }
  return NONE;
}

static int8_t rank_of(const Mesh *m, const Placement *a, const Placement *b) {
  int8_t rank = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    if (a->on[i] >= rank) rank = (int8_t)(a->on[i] + 1);
    if (b->on[i] >= rank) rank = (int8_t)(b->on[i] + 1);
  }
  return rank;
}

/* A site has something already where, in each dimension, the leading digits of its two block numbers agree; then it has a block of
 * the finer cut. Digits of one axis agree by themselves; others do at one in `prime` of the sites. */
static double there_by_digits(const Mesh *m, Digits *x, const Placement *from, const Placement *to) {
  double there = (double)mesh_sites(m);
  uint32_t at[RANK]; /* by dimension, how many digits of `to` were seen */
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] >= 0) there /= m->size[a];
    if (to->on[a] >= 0) at[to->on[a]] = 0;
  }
  for (uint32_t a = 0; a < m->n; a++)
    for (uint32_t i = x->first[a]; to->on[a] >= 0 && i < x->first[a + 1]; i++) {
      uint32_t was = digit_at(x, m, from, to->on[a], at[to->on[a]]++);
      uint32_t p = was == NONE ? NONE : digit_root(x, was), q = digit_root(x, i);
      if (p == q) continue;
      there /= x->prime;
      if (p != NONE) x->same[p] = q;
    }
  return there;
}

/* In every dimension there are as many places as sites. */
static double there_by_looking(const Mesh *m, const Placement *from, const Placement *to) {
  int8_t rank = rank_of(m, from, to);
  int64_t extent[RANK], low[2][RANK], high[2][RANK], sites = mesh_sites(m);
  uint32_t at[MESH_AXES + 1];
  double all = 0;
  for (int8_t d = 0; d < rank; d++) extent[d] = sites;
  for (int64_t s = 0; s < sites; s++) {
    double there = 1;
    mesh_place(m, s, at);
    placement_box(m, from, (uint32_t)rank, extent, at, low[0], high[0]);
    placement_box(m, to, (uint32_t)rank, extent, at, low[1], high[1]);
    for (int8_t d = 0; d < rank; d++) {
      int64_t l = low[0][d] > low[1][d] ? low[0][d] : low[1][d], h = high[0][d] < high[1][d] ? high[0][d] : high[1][d];
      there *= h > l ? (double)(h - l) / (double)sites : 0;
    }
    all += there;
  }
  return all;
}

double place_share(const Mesh *m, const Placement *from, const Placement *to) {
  Digits x;
  double there = digits_find(m, &x) ? there_by_digits(m, &x, from, to) : there_by_looking(m, from, to);
  return (double)placement_copies(m, to) - there;
}

/* In a group of G sites that hold parts, each gets G - 1 parts of its share; where all of it is to be everywhere, the shares go
 * round after that. */
double place_reduce(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  double parts = 1, again = 1, elements = (double)placement_copies(m, from);
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] != PLACE_PART) continue;
    parts *= m->size[a];
    if (to->on[a] == PLACE_ALL) again *= m->size[a];
  }
  for (uint32_t d = 0; d < rank; d++) elements *= (double)extent[d];
  return elements * (parts - 1 + (again - 1));
}
