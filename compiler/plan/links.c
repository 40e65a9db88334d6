/* plan/links.c - the levels of links that a mesh crosses, and how long moves take on them. */
#include <math.h>

#include "seconds.h"

enum { RANK = 256, AXES = 4 };

/* ---- axes inside and outside a part --------------------------------------------------------------------- */

/* Returns how many of the first axes lead out of a part of this many sites. The remaining axes make up a part, or
 * divide it. */
static uint32_t axes_out(const Mesh *m, int64_t part, int64_t *inside) {
  uint32_t a = m->n;
  *inside = 1;
  while (a > 0 && part % (*inside * m->size[a - 1]) == 0) *inside *= m->size[--a];
  return a;
}

Links seconds_links(const Seconds *s, const Mesh *mesh) {
  Links l = {.mesh = mesh};
  int64_t part = 1, inside;
  for (uint32_t k = s->machine->site + 1; k < s->machine->levels.len; k++) {
    const MachineLevel *level = &s->machine->levels.at[k];
    if (s->used[k] == 1) continue;
    uint32_t axes = axes_out(mesh, part, &inside);
    l.link[l.n] = (Link){level, axes, level->link_latency.value, level->link.value * (double)inside / (double)part};
    for (uint32_t a = 0; a < axes; a++) l.by[a] = l.n;
    l.n++;
    part *= s->used[k];
  }
  return l;
}

/* ---- bytes into a part ----------------------------------------------------------------------------------- */

typedef struct Cut { uint32_t axes; int64_t n; } Cut; /* the axes as bits; the number of blocks */

static void cuts_find(const Mesh *m, uint32_t axes, uint32_t rank, const Placement *p, Cut *cut) {
  for (uint32_t d = 0; d < rank; d++) cut[d] = (Cut){0, 1};
  for (uint32_t a = 0; a < axes; a++) {
    if (p->on[a] < 0) continue;
    Cut *c = &cut[p->on[a]];
    c->axes |= 1u << a;
    c->n *= m->size[a];
  }
}

/* Whether one of the two cuts refines the other. */
static bool cut_nested(const Cut *x, const Cut *y) {
  uint32_t differ = x->axes ^ y->axes, first = differ & (~differ + 1);
  return !differ || (x->axes & first ? y->axes : x->axes) < first;
}

static int64_t largest(int64_t extent, int64_t n) {
  return extent / n + (extent % n > 0);
}

/* The number of elements of the largest block. */
static double block_of(uint32_t rank, const int64_t *extent, const Cut *cut) {
  double block = 1;
  for (uint32_t d = 0; d < rank; d++) block *= (double)largest(extent[d], cut[d].n);
  return block;
}

/* The part that receives most has the largest block to get, and holds least of it already. */
static double moved(
    const Mesh *m, uint32_t axes, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  Cut was[RANK], wanted[RANK];
  double there = 1;
  cuts_find(m, axes, rank, from, was);
  cuts_find(m, axes, rank, to, wanted);
  for (uint32_t d = 0; d < rank; d++) {
    int64_t block = largest(extent[d], wanted[d].n);
    if (!cut_nested(&was[d], &wanted[d])) there = 0;
    there *= (double)(was[d].n > wanted[d].n ? block / (was[d].n / wanted[d].n) : block);
  }
  return block_of(rank, extent, wanted) - there;
}

/* In a group of G parts that reduce, each receives G - 1 times its share. If several need the whole result, the
 * shares then go round. */
static double reduced(
    const Mesh *m, uint32_t axes, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  Cut cut[RANK];
  double parts = 1, again = 1;
  for (uint32_t a = 0; a < axes; a++) {
    if (from && from->on[a] != PLACE_PART) continue;
    if (from) parts *= m->size[a];
    if (to->on[a] == PLACE_ALL) again *= m->size[a];
  }
  if (parts * again <= 1) return 0;
  cuts_find(m, axes, rank, to, cut);
  return block_of(rank, extent, cut) / again * (parts - 1 + (again - 1));
}

/* ---- time -------------------------------------------------------------------------------------------------- */

/* by link: messages; sites that each sends its own to */
typedef struct Steps { double doubling[MESH_AXES], others[MESH_AXES]; } Steps;

static Steps no_steps(const Links *l) {
  Steps s = {{0}, {0}};
  for (uint32_t k = 0; k < l->n; k++) s.others[k] = 1;
  return s;
}

static double waits(const Links *l, const Steps *s) {
  double seconds = 0;
  for (uint32_t k = 0; k < l->n; k++) seconds += (s->doubling[k] + s->others[k] - 1) * l->link[k].latency;
  return seconds;
}

static double doublings(uint32_t size) {
  uint32_t n = 0;
  while ((uint64_t)1 << n < size) n++;
  return n;
}

/* An axis along which all sites hold the same data is not crossed: the site at the same place on it has what is
 * wanted. Nor is an axis that cuts the same blocks before and after. */
static double move_waits(const Links *l, uint32_t rank, const Placement *from, const Placement *to) {
  const Mesh *m = l->mesh;
  Cut was[RANK], wanted[RANK];
  Steps s = no_steps(l);
  cuts_find(m, m->n, rank, from, was);
  cuts_find(m, m->n, rank, to, wanted);
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] < 0 || m->size[a] == 1) continue;
    uint32_t before = (2u << a) - 1, differ = (was[from->on[a]].axes ^ wanted[from->on[a]].axes) & before;
    if (!differ) continue;
    if (to->on[a] == PLACE_ALL) s.doubling[l->by[a]] += doublings(m->size[a]);
    else s.others[l->by[a]] *= m->size[a];
  }
  return waits(l, &s);
}

double links_move(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to) {
  double most = 0;
  if (placement_equal(l->mesh, from, to)) return 0;
  for (uint32_t k = 0; k < l->n; k++) {
    double seconds = size * moved(l->mesh, l->link[k].axes, rank, extent, from, to) / l->link[k].rate;
    most = seconds > most ? seconds : most;
  }
  return most > 0 ? most + move_waits(l, rank, from, to) : 0;
}

/* from NULL: nothing is in parts, and all axes along which `to` has copies count. */
static double reduce(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to) {
  const Mesh *m = l->mesh;
  double most = 0;
  Steps s = no_steps(l);
  for (uint32_t k = 0; k < l->n; k++) {
    double seconds = size * reduced(m, l->link[k].axes, rank, extent, from, to) / l->link[k].rate;
    most = seconds > most ? seconds : most;
  }
  for (uint32_t a = 0; a < m->n; a++) {
    if (from && from->on[a] != PLACE_PART) continue;
    s.doubling[l->by[a]] += doublings(m->size[a]) * ((from != NULL) + (to->on[a] == PLACE_ALL));
  }
  return most > 0 ? most + waits(l, &s) : 0;
}

double links_reduce(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to) {
  return reduce(l, rank, extent, size, from, to);
}

double links_copies(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *to) {
  return reduce(l, rank, extent, size, NULL, to);
}

/* ---- meshes ---------------------------------------------------------------------------------------------------- */

typedef struct Making {
  Arena *arena;
  const Seconds *s;
  uint32_t axes;               /* that a mesh is to have */
  bool orders;                 /* of a level's axes, all */
  Mesh now;
  VEC(Mesh) all;
} Making;

static uint32_t primes_of(int64_t n) {
  return mesh_of_primes(n).n;
}

/* The used levels inside this one. */
static uint32_t levels_below(const Seconds *s, uint32_t level) {
  uint32_t n = 0;
  while (level-- > 0) n += s->used[level] > 1;
  return n;
}

static void making(Making *x, uint32_t level, int64_t left, int64_t most);

static void making_inside(Making *x, uint32_t level) {
  if (level > x->s->machine->site + 1) making(x, level - 1, x->s->used[level - 1], INT64_MAX);
  else if (x->now.n == x->axes) vec_push(x->arena, x->all, x->now);
}

/* Shares out the rest of a level among axes, the largest first or in any order; then does the next level further in. */
static void making(Making *x, uint32_t level, int64_t left, int64_t most) {
  if (left == 1) {
    making_inside(x, level);
    return;
  }
  if (x->now.n + levels_below(x->s, level) >= x->axes) return;
  for (int64_t size = 2; size <= left && size <= most; size++) {
    if (left % size) continue;
    x->now.size[x->now.n++] = (uint32_t)size;
    making(x, level, left / size, x->orders ? INT64_MAX : size);
    x->now.n--;
  }
}

uint32_t seconds_meshes(Arena *a, const Seconds *s, bool orders, const Mesh **out) {
  Making x = {.arena = a, .s = s, .orders = orders};
  uint32_t top = s->machine->levels.len - 1, levels = levels_below(s, top + 1), primes = primes_of(s->sites);
  x.axes = primes < AXES ? primes : levels > AXES ? levels : AXES;
  if (top > s->machine->site) making(&x, top, s->used[top], INT64_MAX);
  else vec_push(a, x.all, x.now);
  *out = x.all.at;
  return x.all.len;
}
