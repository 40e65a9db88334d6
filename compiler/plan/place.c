/* plan/place.c - placements on a mesh, and how much moves between them. */
#include "place.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 64, NONE = 255, FEW = 1024 };

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
    else buf_str(out, p->on[a] == PLACE_ALL ? "*" : p->on[a] == PLACE_PART ? "+" : "1st");
  }
}

bool placement_whole(const Mesh *m, const Placement *p) {
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] == PLACE_PART) return false;
  return true;
}

bool mesh_equal(const Mesh *a, const Mesh *b) {
  return a->n == b->n && memcmp(a->size, b->size, a->n * sizeof *a->size) == 0;
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

/* floor(k b / d), where k b may overflow. */
static int64_t bound_of(int64_t k, int64_t b, int64_t d) {
  return b / d * k + b % d * k / d;
}

int64_t placement_box(const Mesh *m, const Placement *p, uint32_t rank, const int64_t *extent, const uint32_t *at,
    int64_t *from, int64_t *to) {
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

/* ---- digits ---------------------------------------------------------------------------------------------- */

/* A place along an axis as a mixed-radix number with prime digits, the largest prime first. */
typedef struct Digits {
  uint32_t n;
  uint32_t first[MESH_AXES + 1]; /* by axis: its first digit; the most significant comes first */
  uint32_t prime[DIGITS];
  uint32_t same[DIGITS];         /* union-find: digits that must be equal */
  uint32_t clash[DIGITS];        /* how many block numbers with clashing digits have this one */
} Digits;

static void digits_find(const Mesh *m, Digits *x) {
  x->n = 0;
  for (uint32_t a = 0; a < m->n; a++) {
    uint32_t small[32], n = 0, left = m->size[a];
    for (uint32_t p = 2; left > 1; p = p <= left / p ? p + 1 : left)
      for (; left % p == 0; left /= p) small[n++] = p;
    x->first[a] = x->n;
    for (; n-- > 0; x->n++) {
      x->prime[x->n] = small[n];
      x->same[x->n] = x->n;
      x->clash[x->n] = 0;
    }
  }
  x->first[m->n] = x->n;
}

static uint32_t digit_root(const Digits *x, uint32_t i) {
  while (x->same[i] != i) i = x->same[i];
  return i;
}

/* The `at`-th digit of the block numbers of a dimension; NONE: there are fewer. */
static uint32_t digit_at(const Digits *x, const Mesh *m, const Placement *p, int8_t dimension, uint32_t at) {
  for (uint32_t a = 0; a < m->n; a++) {
    uint32_t n = x->first[a + 1] - x->first[a];
    if (p->on[a] != dimension) continue;
    if (at < n) return x->first[a] + at;
    at -= n;
  }
  return NONE;
}

/* From the `at`-th on, the digits of a dimension have different primes in the two placements. */
static void digits_clash(
    Digits *x, const Mesh *m, const Placement *from, const Placement *to, int8_t dimension, uint32_t at) {
  for (uint32_t k = at, i; (i = digit_at(x, m, from, dimension, k)) != NONE; k++) x->clash[i]++;
  for (uint32_t k = at, i; (i = digit_at(x, m, to, dimension, k)) != NONE; k++) x->clash[i]++;
}

/* Where clashing digits are independent of each other, any block meets any other equally often. */
static bool clashes_apart(const Digits *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    if (x->clash[i] > 1) return false;
    for (uint32_t k = 0; x->clash[i] && k < i; k++)
      if (x->clash[k] && digit_root(x, i) == digit_root(x, k)) return false;
  }
  return true;
}

/* A site already holds its data where, in each dimension, the leading digits of its two block numbers agree; then it
 * has a block of the finer cut. Digits of the same axis always agree; others agree at one in `prime` of the sites.
 * Returns a share of the elements, added over sites; false: this method does not apply. */
static bool there_by_digits(const Mesh *m, const Placement *from, const Placement *to, double *out) {
  Digits x;
  double there = (double)mesh_sites(m);
  uint32_t at[INT8_MAX + 1]; /* by dimension, the number of digits of `to` seen; NONE: its digits clash */
  digits_find(m, &x);
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] >= 0) there /= m->size[a];
    if (to->on[a] >= 0) at[to->on[a]] = 0;
  }
  for (uint32_t a = 0; a < m->n; a++)
    for (uint32_t i = x.first[a]; to->on[a] >= 0 && i < x.first[a + 1]; i++) {
      uint32_t *k = &at[to->on[a]], was = *k == NONE ? NONE : digit_at(&x, m, from, to->on[a], *k);
      if (was != NONE && x.prime[was] != x.prime[i]) {
        digits_clash(&x, m, from, to, to->on[a], *k);
        *k = was = NONE;
      }
      if (*k != NONE) ++*k;
      if (was != NONE && digit_root(&x, was) == digit_root(&x, i)) continue;
      there /= x.prime[i];
      if (was != NONE) x.same[digit_root(&x, was)] = digit_root(&x, i);
    }
  *out = there;
  return clashes_apart(&x);
}

/* ---- moves ----------------------------------------------------------------------------------------------- */

/* What sites already hold, for some dimensions only and the axes that cut these. */
typedef struct Apart {
  Mesh m;
  Placement from, to;
  uint32_t rank;
  int8_t dimension[2 * MESH_AXES]; /* their numbers in the tensor */
  int64_t extent[2 * MESH_AXES];
} Apart;

/* The place along an axis, given the `k`-th of n blocks of one dimension, where the axis has this step. */
static uint32_t axis_at(uint32_t k, uint32_t step, uint32_t size) {
  return k / step % size;
}

/* The axes of one dimension: how many blocks a step along each is, before and after; 0: the axis does not cut it. */
typedef struct Steps { uint32_t n[2], step[2][MESH_AXES]; } Steps;

static Steps steps_of(const Apart *x, int8_t d) {
  Steps s = {.n = {1, 1}};
  for (uint32_t a = x->m.n; a-- > 0;) {
    if (x->from.on[a] == d) s.step[0][a] = s.n[0], s.n[0] *= x->m.size[a];
    if (x->to.on[a] == d) s.step[1][a] = s.n[1], s.n[1] *= x->m.size[a];
  }
  return s;
}

/* The element is in block k[0] before and k[1] after. If one site has both: its places along the axes that other
 * dimensions share, as a number; else -1. */
static int64_t site_of(const Apart *x, const Steps *s, const uint32_t *k) {
  int64_t number = 0;
  for (uint32_t a = 0; a < x->m.n; a++) {
    bool both = x->from.on[a] >= 0 && x->to.on[a] >= 0;
    uint32_t at[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++)
      if (s->step[i][a]) at[i] = axis_at(k[i], s->step[i][a], x->m.size[a]);
    if (s->step[0][a] && s->step[1][a] && at[0] != at[1]) return -1;
    if (both && x->from.on[a] != x->to.on[a]) number = number * x->m.size[a] + (s->step[0][a] ? at[0] : at[1]);
  }
  return number;
}

/* By the number of such a site: how much of the dimension is there. Axes of other dimensions count as 0 in it. */
static void dimension_there(const Apart *x, int8_t d, double *there) {
  Steps s = steps_of(x, d);
  uint32_t k[2] = {0, 0};
  int64_t b = x->extent[d], at = 0, end[2] = {bound_of(1, b, s.n[0]), bound_of(1, b, s.n[1])};
  while (at < b) {
    int64_t next = end[0] < end[1] ? end[0] : end[1];
    int64_t site = next > at ? site_of(x, &s, k) : -1;
    if (site >= 0) there[site] += (double)(next - at);
    at = next > at ? next : at;
    for (uint32_t i = 0; i < 2; i++)
      if (end[i] <= at) k[i]++, end[i] = bound_of(k[i] + 1, b, s.n[i]);
  }
}

/* The axes that cut two dimensions, and how far a step along each goes in each dimension's numbers. */
typedef struct Shared {
  uint32_t n, rank;
  uint32_t size[MESH_AXES];
  int64_t step[MESH_AXES][2 * MESH_AXES];
  double *there[2 * MESH_AXES];
} Shared;

/* From axis a on. at: by dimension, the offset of the axes before a in its numbers. */
static double shared_add(const Shared *x, uint32_t a, const int64_t *at) {
  int64_t next[2 * MESH_AXES];
  double sum = 0;
  if (a == x->n) {
    sum = 1;
    for (uint32_t d = 0; d < x->rank; d++) sum *= x->there[d][at[d]];
    return sum;
  }
  for (uint32_t d = 0; d < x->rank; d++) next[d] = at[d];
  for (uint32_t k = 0; k < x->size[a]; k++) {
    sum += shared_add(x, a + 1, next);
    for (uint32_t d = 0; d < x->rank; d++) next[d] += x->step[a][d];
  }
  return sum;
}

/* Elements that sites want and have, added over sites: in each dimension along its blocks, and then, at each place
 * along the axes that two dimensions share, the product of both. */
static double there_by_blocks(const Apart *x) {
  Arena *work = NULL;
  double few[FEW], *room = few; /* most are so small */
  Shared s = {.rank = x->rank};
  int64_t numbers = 1, at[2 * MESH_AXES] = {0};
  for (uint32_t a = x->m.n; a-- > 0;) {
    if (x->from.on[a] < 0 || x->to.on[a] < 0 || x->from.on[a] == x->to.on[a]) continue;
    for (uint32_t d = 0; d < x->rank; d++)
      s.step[s.n][d] = x->from.on[a] == (int8_t)d || x->to.on[a] == (int8_t)d ? numbers : 0;
    s.size[s.n++] = x->m.size[a];
    numbers *= x->m.size[a];
  }
  if (numbers > FEW / (2 * MESH_AXES)) room = NEW_ARRAY(work = arena_new(), double, numbers * x->rank);
  else memset(few, 0, (size_t)numbers * x->rank * sizeof *few);
  for (uint32_t d = 0; d < x->rank; d++) {
    s.there[d] = room + (size_t)numbers * d;
    dimension_there(x, (int8_t)d, s.there[d]);
  }
  double all = shared_add(&s, 0, at);
  if (work) arena_free(work);
  return all;
}

/* The same where all blocks are equal. The result is rounded: it is a whole number, even if thirds occurred on the
 * way. */
static double there_apart(const Apart *x) {
  double elements = 1, share;
  bool even = true;
  for (uint32_t d = 0; d < x->rank; d++) {
    even = even && x->extent[d] % placement_count(&x->m, &x->from, (int8_t)d) == 0 &&
        x->extent[d] % placement_count(&x->m, &x->to, (int8_t)d) == 0;
    elements *= (double)x->extent[d];
  }
  return even && there_by_digits(&x->m, &x->from, &x->to, &share) ? floor(elements * share + 0.5) : there_by_blocks(x);
}

static int8_t joined_root(const int8_t *joined, int8_t d) {
  while (joined[d] != d) d = joined[d];
  return d;
}

static int8_t dimension_in(Apart *x, const int64_t *extent, int8_t d) {
  uint32_t k = 0;
  if (d < 0) return PLACE_ALL;
  while (k < x->rank && x->dimension[k] != d) k++;
  if (k == x->rank) x->dimension[k] = d, x->extent[k] = extent[d], x->rank++;
  return (int8_t)k;
}

/* Dimensions that are cut along the same axis, before or after, are counted together; others separately. */
static double there_all(
    const Mesh *m, const int64_t *extent, uint32_t rank, const Placement *from, const Placement *to) {
  int8_t joined[INT8_MAX + 1];
  double there = 1;
  for (int d = 0; d <= INT8_MAX; d++) joined[d] = (int8_t)d;
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] >= 0 && to->on[a] >= 0) joined[joined_root(joined, from->on[a])] = joined_root(joined, to->on[a]);
    if (from->on[a] < 0 && to->on[a] < 0) there *= m->size[a];
  }
  for (uint32_t d = 0; d < rank; d++) {
    Apart x = {.rank = 0};
    if (d <= INT8_MAX && joined[d] != (int8_t)d) continue;
    for (uint32_t a = 0; d <= INT8_MAX && a < m->n; a++) {
      int8_t on = from->on[a] >= 0 ? from->on[a] : to->on[a];
      if (on < 0 || joined_root(joined, on) != (int8_t)d) continue;
      x.from.on[x.m.n] = dimension_in(&x, extent, from->on[a]);
      x.to.on[x.m.n] = dimension_in(&x, extent, to->on[a]);
      x.m.size[x.m.n++] = m->size[a];
    }
    there *= x.m.n ? there_apart(&x) : (double)extent[d];
  }
  return there;
}

/* Replaces copies at some sites by copies at all sites; one in *of sites has the data. */
static Placement everywhere(const Mesh *m, const Placement *p, int8_t what, double *of) {
  Placement all = *p;
  *of = 1;
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] == what) all.on[a] = PLACE_ALL, *of *= m->size[a];
  return all;
}

static double overlap(uint32_t rank, const int64_t *low, const int64_t *high, const int64_t *from, const int64_t *to) {
  double n = 1;
  for (uint32_t d = 0; d < rank; d++) {
    int64_t l = low[d] > from[d] ? low[d] : from[d], h = high[d] < to[d] ? high[d] : to[d];
    n *= h > l ? (double)(h - l) : 0;
  }
  return n;
}

/* Site by site, where only those at first places have the data. */
static double there_first(
    const Mesh *m, const int64_t *extent, uint32_t rank, const Placement *from, const Placement *to) {
  int64_t low[INT8_MAX + 1], high[INT8_MAX + 1], wanted[INT8_MAX + 1], end[INT8_MAX + 1];
  double there = 0;
  for (int64_t s = 0, sites = mesh_sites(m); s < sites; s++) {
    uint32_t at[MESH_AXES];
    bool first = true;
    mesh_place(m, s, at);
    for (uint32_t a = 0; a < m->n; a++) first &= from->on[a] != PLACE_FIRST || at[a] == 0;
    if (!first) continue;
    placement_box(m, from, rank, extent, at, low, high);
    placement_box(m, to, rank, extent, at, wanted, end);
    there += overlap(rank, low, high, wanted, end);
  }
  return there;
}

double place_move(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  double elements = 1, of;
  bool cut = false;
  Placement is = everywhere(m, from, PLACE_FIRST, &of);
  for (uint32_t a = 0; a < m->n; a++) cut |= from->on[a] == PLACE_FIRST && to->on[a] >= 0;
  for (uint32_t d = 0; d < rank; d++) elements *= (double)extent[d];
  double there =
      cut && rank <= INT8_MAX ? there_first(m, extent, rank, from, to) : there_all(m, extent, rank, &is, to) / of;
  return elements * (double)placement_copies(m, to) - there;
}

/* If the digits do not determine it, with as many places in every dimension as sites. */
double place_share(const Mesh *m, const Placement *from, const Placement *to) {
  int64_t extent[INT8_MAX + 1] = {0}, sites = mesh_sites(m);
  uint32_t rank = 0;
  double there, of;
  Placement is = everywhere(m, from, PLACE_FIRST, &of);
  if (!there_by_digits(m, &is, to, &there)) {
    for (uint32_t a = 0; a < m->n; a++) {
      if (from->on[a] >= (int)rank) rank = (uint32_t)from->on[a] + 1;
      if (to->on[a] >= (int)rank) rank = (uint32_t)to->on[a] + 1;
    }
    for (uint32_t d = 0; d < rank; d++) extent[d] = sites;
    there = there_all(m, extent, rank, &is, to);
    for (uint32_t d = 0; d < rank; d++) there /= (double)sites;
  }
  return (double)placement_copies(m, to) - there / of;
}

/* ---- parts ----------------------------------------------------------------------------------------------- */

/* In a group of G sites each gets G parts of what it is to hold, one of which is its own: that is, G - 1 times as
 * much, plus what would move if nothing were in parts. */
static double reduce(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  double parts, of, elements = 1;
  Placement made = everywhere(m, from, PLACE_PART, &parts), share = everywhere(m, to, PLACE_FIRST, &of);
  if (parts <= 1) return 0;
  for (uint32_t d = 0; extent && d < rank; d++) elements *= (double)extent[d];
  double out = extent ? place_move(m, rank, extent, &made, &share) : place_share(m, &made, &share);
  return (elements * (double)placement_copies(m, &share) * (parts - 1) + out) / of;
}

double place_reduce(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  static const int64_t none[1];
  return reduce(m, rank, extent ? extent : none, from, to);
}

double place_reduce_share(const Mesh *m, const Placement *from, const Placement *to) {
  return reduce(m, 0, NULL, from, to);
}

static bool cut_later(const Mesh *m, const Placement *p, int8_t d, uint32_t a) {
  for (uint32_t b = a + 1; b < m->n; b++)
    if (p->on[b] == d) return true;
  return false;
}

Placement place_between(
    const Mesh *m, uint32_t rank, const int64_t *most, const Placement *made, const Placement *home) {
  Placement p = *made;
  for (uint32_t a = 0; a < m->n; a++) {
    int8_t d = home->on[a];
    if (made->on[a] != PLACE_PART) continue;
    if (d < 0 || most[d] / placement_count(m, &p, d) < m->size[a]) d = PLACE_FIRST;
    for (uint32_t k = 0; d < 0 && k < rank && k < INT8_MAX; k++)
      if (most[k] / placement_count(m, &p, (int8_t)k) >= m->size[a] && !cut_later(m, made, (int8_t)k, a)) d = (int8_t)k;
    p.on[a] = d;
  }
  return p;
}

/* ---- bounds by counts ------------------------------------------------------------------------------------------- */

PlaceCounts place_counts(Arena *a, const Mesh *m, uint32_t rank, const Placement *p) {
  double *count = NEW_ARRAY(a, double, rank + 1);
  PlaceCounts c = {count, 1, 1, 1};
  for (uint32_t d = 0; d < rank; d++) count[d] = 1;
  for (uint32_t x = 0; x < m->n; x++) {
    int8_t d = p->on[x];
    if (d == PLACE_PART) c.parts *= m->size[x];
    else if (d < 0) c.copies *= m->size[x];
    else c.blocks *= m->size[x];
    if (d >= 0 && (uint32_t)d < rank) count[d] *= m->size[x];
  }
  return c;
}

/* In each dimension a site has at most the smaller of the block that it has and the one that it wants. All sites
 * together have each element once per copy; parts to be reduced count as one copy. A site that reduces gets its data
 * from all others of its group. */
double place_share_least(double part, uint32_t rank, const PlaceCounts *from, const PlaceCounts *to) {
  double there = to->copies * to->blocks;
  for (uint32_t d = 0; d < rank; d++) there /= from->count[d] > to->count[d] ? from->count[d] : to->count[d];
  if (there > from->copies) there = from->copies;
  return part * from->copies * (from->parts - 1) + (to->copies > there ? to->copies - there : 0);
}

/* ---- stored once ---------------------------------------------------------------------------------------------- */

uint32_t placement_inner(const Mesh *m, const Placement *p, uint32_t dimension) {
  uint32_t n = 1;
  for (uint32_t a = 0; a < m->n; a++) n *= place_inner(p->on[a]) == (int32_t)dimension ? m->size[a] : 1;
  return n;
}

enum { ENOUGH = 8 };         /* times as much room as pieces: then they are about even */

static int8_t further(const Mesh *m, uint32_t rank, const int64_t *most, const Placement *home, const Placement *at,
    uint32_t a, bool inner) {
  int8_t best = PLACE_FIRST;
  int64_t widest = 0;
  for (uint32_t k = 0; k < rank && k <= INT8_MAX + PLACE_INNER; k++) {
    int64_t room = most[k] / placement_count(m, at, (int8_t)k) / placement_inner(m, at, k);
    if (room < m->size[a] || room <= widest || (!inner && cut_later(m, home, (int8_t)k, a))) continue;
    best = (int8_t)(inner ? PLACE_INNER - (int)k : (int)k);
    bool enough = inner && room >= (int64_t)ENOUGH * m->size[a]; /* of outer dimensions they are contiguous */
    widest = enough ? INT64_MAX : room;
  }
  return best;
}

static Placement stored(const Mesh *m, uint32_t rank, const int64_t *most, const Placement *home, bool inner,
    uint32_t *firsts) {
  Placement at = *home;
  *firsts = 0;
  for (uint32_t a = 0; a < m->n; a++)
    if (home->on[a] == PLACE_ALL && m->size[a] > 1) {
      at.on[a] = further(m, rank, most, home, &at, a, inner);
      *firsts += at.on[a] == PLACE_FIRST;
    }
  return at;
}

Placement place_stored(const Mesh *m, uint32_t rank, const int64_t *most, const Placement *home) {
  uint32_t firsts, fewer;
  Placement at = stored(m, rank, most, home, false, &firsts);
  if (!firsts) return at;
  Placement in = stored(m, rank, most, home, true, &fewer);
  return fewer < firsts ? in : at;
}

/* ---- how moves go ------------------------------------------------------------------------------------------ */

static const double SPARED = 1 << 20; /* bytes */

double move_slices(double bytes, double groups, int64_t room) {
  double at_once = floor((double)move_room(room) / groups);
  double slices = floor(bytes / fmin((double)MOVE_SLICE, fmax((double)MOVE_LEAST, at_once)));
  double most = fmax((double)MOVE_SLICES * groups, floor(bytes / (double)MOVE_LONG));
  most = fmax(most, ceil(bytes * groups / (double)move_room(room)));
  if (slices > most) slices = most;
  return groups < 2 || bytes <= at_once || slices < groups ? 1 : slices;
}

MoveRounds move_rounds(double bytes, double groups, int64_t room) {
  double slices = move_slices(bytes, groups, room);
  if (slices <= 1) return (MoveRounds){1, 1};
  return (MoveRounds){slices + groups - 1, (slices + groups - 1) / slices};
}

bool move_gives_shares(double bytes, double sites) {
  return sites > 2 && bytes * (sites - 1) * (1 - 2 / sites) >= SPARED;
}

/* ---- around the end of a dimension ---------------------------------------------------------------- */

/* For indices below `to`; low and high are within the dimension. */
static int64_t shared_below(int64_t to, int64_t wrap, int64_t low, int64_t high) {
  int64_t laps = floor_div(to, wrap), rest = floor_mod(to, wrap) - low;
  return laps * (high - low) + (rest < 0 ? 0 : rest < high - low ? rest : high - low);
}

int64_t wrap_shared(int64_t from, int64_t to, int64_t wrap, int64_t low, int64_t high) {
  int64_t first = wrap ? 0 : from, end = wrap ? wrap : to;
  low = low > first ? low : first;
  high = high < end ? high : end;
  if (high <= low || to <= from) return 0;
  uint64_t below[] = {(uint64_t)low, (uint64_t)high}; /* a text may say anything */
  if (wrap)
    below[0] = (uint64_t)shared_below(from, wrap, low, high), below[1] = (uint64_t)shared_below(to, wrap, low, high);
  return (int64_t)(below[1] - below[0]);
}
