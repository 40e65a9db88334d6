/* tests/plan/test_place.c - placements: what moves between them, against counting every element at every site; and the
 * formulas. */
#include <math.h>

#include "plan/place.h"
#include "tap.h"

static uint64_t state = 7;

static uint32_t below(uint32_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

static Placement random_placement(const Mesh *m, uint32_t rank) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < m->n; a++) p.on[a] = (int8_t)((int)below(rank + 1) - 1);
  return p;
}

/* Whether the site holds the element, or a part of it, by the definition of blocks. */
static bool holds(
    const Mesh *m, const Placement *p, uint32_t rank, const int64_t *extent, const uint32_t *at, const int64_t *index) {
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] == PLACE_FIRST && at[a]) return false;
  for (uint32_t d = 0; d < rank; d++) {
    int64_t k = 0, n = 1;
    for (uint32_t a = 0; a < m->n; a++)
      if (p->on[a] == (int8_t)d) k = k * m->size[a] + at[a], n *= m->size[a];
    if (index[d] < k * extent[d] / n || index[d] >= (k + 1) * extent[d] / n) return false;
  }
  return true;
}

/* What each is to hold and does not hold; of what is in parts, so many parts. */
static double count_moved(
    const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  double moved = 0;
  int parts = 1;
  for (uint32_t a = 0; a < m->n; a++) parts *= from->on[a] == PLACE_PART ? (int)m->size[a] : 1;
  int64_t all = 1, index[4];
  for (uint32_t d = 0; d < rank; d++) all *= extent[d];
  for (int64_t s = 0; s < mesh_sites(m); s++) {
    uint32_t at[MESH_AXES];
    mesh_place(m, s, at);
    for (int64_t e = 0; e < all; e++) {
      int64_t left = e;
      for (uint32_t d = rank; d-- > 0; left /= extent[d]) index[d] = left % extent[d];
      if (holds(m, to, rank, extent, at, index)) moved += parts - holds(m, from, rank, extent, at, index);
    }
  }
  return moved;
}

static void moves(void) {
  uint32_t same = 0, even = 0, rounds = 3000, evens = 0;
  for (uint32_t i = 0; i < rounds; i++) {
    bool binary = below(2);
    Mesh m = {.n = below(4)};
    uint32_t rank = below(4);
    int64_t extent[4];
    for (uint32_t a = 0; a < m.n; a++) m.size[a] = binary ? 1u << below(3) : 1 + below(4);
    for (uint32_t d = 0; d < rank; d++) extent[d] = binary ? 64 : below(8);
    if (binary && rank > 2) rank = 2;
    Placement from = random_placement(&m, rank), to = random_placement(&m, rank);
    double want = binary ? place_move(&m, rank, extent, &from, &to) : count_moved(&m, rank, extent, &from, &to);
    same += place_move(&m, rank, extent, &from, &to) == want;
    evens += binary;
    even += binary &&
        fabs(64.0 * 64 * place_share(&m, &from, &to) -
            want *
                (rank < 1          ? 4096
                        : rank < 2 ? 64
                                   : 1)) < 1e-6;
  }
  OK_INT(same, rounds, "what moves is what elements say");
  OK_INT(even, evens, "the formula agrees where blocks are equal");
}

static Mesh mesh(uint32_t n, const uint32_t *size) {
  Mesh m = {.n = n};
  for (uint32_t a = 0; a < n; a++) m.size[a] = size[a];
  return m;
}

static Placement placed(uint32_t n, const int *on) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < n; a++) p.on[a] = (int8_t)on[a];
  return p;
}

/* Of a tensor with equal blocks, whichever axes have its counts. */
static double least_of(const Mesh *m, double part, uint32_t rank, const Placement *from, const Placement *to) {
  Arena *a = arena_new();
  PlaceCounts x = place_counts(a, m, rank, from), y = place_counts(a, m, rank, to);
  double least = place_share_least(part, rank, &x, &y);
  arena_free(a);
  return least;
}

/* Axes of any sizes, and extents that all counts divide; and axes of several primes, where one block number may begin
 * with another prime than the other. */
static void shares(void) {
  uint32_t same = 0, exact = 0, counted = 0, bounds = 0, reached = 0, rounds = 4000;
  for (uint32_t i = 0; i < rounds; i++) {
    bool mixed = i % 2;
    Mesh m = {.n = below(4)};
    uint32_t rank = below(mixed ? 3 : 4);
    int64_t extent[4], all = 1;
    for (uint32_t a = 0; a < m.n; a++) m.size[a] = mixed ? (uint32_t[]){2, 3, 4, 6}[below(4)] : 1 + below(4);
    double elements = 1;
    for (uint32_t d = 0; d < rank; d++) extent[d] = mesh_sites(&m), all *= extent[d];
    Placement from = random_placement(&m, rank), to = random_placement(&m, rank);
    elements = (double)all;
    double share = place_share(&m, &from, &to), least = least_of(&m, 1, rank, &from, &to);
    bounds += least <= share + 1e-9;
    reached += share > 0 && fabs(least - share) < 1e-9;
    same += fabs(elements * place_share(&m, &from, &to) - place_move(&m, rank, extent, &from, &to)) < 1e-6 * elements;
    if (all * mesh_sites(&m) > 20000) continue;
    counted++;
    exact += place_move(&m, rank, extent, &from, &to) == count_moved(&m, rank, extent, &from, &to);
  }
  OK_INT(same, rounds, "shares of what is cut evenly");
  OK_INT(bounds, rounds, "none is below what such counts have at least");
  OK(reached > 500, "something moves in many of them: %u", reached);
  OK_INT(exact, counted, "counting elements gives the same: %u", counted);
  OK(counted > 1000, "many are small enough to count");
}

/* Along an axis with parts it is cut as home cuts it, or where no later axis cuts, or it is at the first place; never
 * further than there is room. */
static bool between_is_sound(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *made,
    const Placement *home, const Placement *p) {
  for (uint32_t d = 0; d < rank; d++)
    if (placement_count(m, p, (int8_t)d) > extent[d] &&
        placement_count(m, p, (int8_t)d) > placement_count(m, made, (int8_t)d))
      return false;
  for (uint32_t a = 0; a < m->n; a++) {
    if (made->on[a] != PLACE_PART && p->on[a] != made->on[a]) return false;
    if (made->on[a] != PLACE_PART || p->on[a] == PLACE_FIRST || p->on[a] == home->on[a]) continue;
    for (uint32_t b = a + 1; b < m->n; b++)
      if (p->on[a] < 0 || made->on[b] == p->on[a]) return false;
  }
  return true;
}

static void parts(void) {
  uint32_t reduced = 0, moved = 0, sound = 0, firsts = 0, rounds = 3000, even = 0, evens = 0, bounds = 0, reached = 0;
  for (uint32_t i = 0; i < rounds; i++) {
    bool equal = below(2);
    Mesh m = {.n = 1 + below(3)};
    uint32_t rank = below(3);
    int64_t extent[4];
    double all = 1;
    for (uint32_t a = 0; a < m.n; a++) m.size[a] = 2 + below(2);
    for (uint32_t d = 0; d < rank; d++) extent[d] = equal ? 36 : 1 + below(7), all *= (double)extent[d];
    Placement made = random_placement(&m, rank), home = random_placement(&m, rank);
    for (uint32_t a = 0; a < m.n; a++)
      if (below(2)) made.on[a] = PLACE_PART;
    if (equal && m.n > 2) m.n = 2;
    Placement p = place_between(&m, rank, extent, &made, &home);
    sound += between_is_sound(&m, rank, extent, &made, &home, &p);
    for (uint32_t a = 0; a < m.n; a++) firsts += p.on[a] == PLACE_FIRST;
    double want = placement_equal(&m, &made, &p) ? 0 : count_moved(&m, rank, extent, &made, &p);
    reduced += place_reduce(&m, rank, extent, &made, &p) == want;
    moved += place_move(&m, rank, extent, &p, &home) == count_moved(&m, rank, extent, &p, &home);
    double after = want + count_moved(&m, rank, extent, &p, &home), least = all * least_of(&m, 1, rank, &made, &home);
    bounds += equal && least <= after + 1e-6;
    reached += equal && want > 0 && fabs(least - after) < 1e-6;
    evens += equal;
    even += equal && fabs(all * place_reduce_share(&m, &made, &p) - want) < 1e-6 * (want + 1);
  }
  OK_INT(sound, rounds, "parts are shared out where there is room");
  OK_INT(reduced, rounds, "what is reduced is what elements say");
  OK_INT(moved, rounds, "what goes home afterwards agrees");
  OK_INT(even, evens, "the formula agrees where blocks are equal");
  OK_INT(bounds, evens, "none is below what such counts have at least");
  OK(reached > 100, "something moves in many of them: %u", reached);
  OK(firsts > 100, "at first places: %u", firsts);
}

/* A product on a grid of 2 by 3 by 5: each operand is stored once, and gathered along the axis that it has not. */
static void product(void) {
  Mesh m = mesh(3, (uint32_t[]){2, 3, 5});
  int64_t extent[] = {60, 60};
  Placement stored = placed(3, (int[]){0, 0, 1}), wanted = placed(3, (int[]){0, PLACE_ALL, 1}),
            parts = placed(3, (int[]){0, 1, PLACE_PART}), scattered = placed(3, (int[]){0, 1, 1}),
            everywhere = placed(3, (int[]){0, 1, PLACE_ALL}), first = placed(3, (int[]){0, 1, PLACE_FIRST});
  OK_INT((int64_t)place_move(&m, 2, extent, &stored, &wanted), 3600 * 2, "two more copies of A");
  OK_INT((int64_t)place_reduce(&m, 2, extent, &parts, &scattered), 3600 * 4, "reduced and scattered");
  OK_INT((int64_t)place_move(&m, 2, extent, &scattered, &everywhere), 3600 * 4, "copies for all sites");
  OK_INT((int64_t)place_reduce(&m, 2, extent, &parts, &first), 3600 * 4, "reduced at one place");
  OK_INT((int64_t)place_move(&m, 2, extent, &first, &everywhere), 3600 * 4, "copies for all sites");
  OK_INT((int64_t)place_move(&m, 2, extent, &everywhere, &scattered), 0, "what is there need not move");
}

static void meshes(void) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  Mesh m = mesh_of_primes(60);
  OK(m.n == 4 && m.size[0] == 5 && m.size[1] == 3 && m.size[2] == 2 && m.size[3] == 2, "60 sites");
  OK_INT(mesh_of_primes(1).n, 0, "one site");
  OK_INT(mesh_of_primes(2147483647).n, 1, "a prime");
  OK_INT(mesh_sites(&m), 60, "sites of a mesh");
  Placement p = placed(4, (int[]){1, PLACE_ALL, PLACE_PART, 1});
  placement_print(&b, &m, &p);
  OK_STR(b.s, "1 * + 1", "a placement");
  OK_INT(placement_count(&m, &p, 1), 10, "blocks");
  OK_INT(placement_copies(&m, &p), 3, "copies");
  arena_free(a);
}

/* Counted one by one. */
static void check_wrap(void) {
  bool same = true;
  for (int64_t from = 0; from < 9; from++)
    for (int64_t to = from; to < 18; to++)
      for (int64_t low = 0; low < 5; low++)
        for (int64_t high = low; high <= 5; high++)
          for (int64_t wrap = 0; wrap <= 5; wrap += 5) {
            int64_t n = 0;
            for (int64_t j = from; j < to; j++) n += (wrap ? j % wrap : j) >= low && (wrap ? j % wrap : j) < high;
            same &= n == wrap_shared(from, to, wrap, low, high);
          }
  OK(same, "places that are shared, around the end too");
}

int main(void) {
  moves();
  shares();
  parts();
  product();
  meshes();
  check_wrap();
  return DONE();
}
