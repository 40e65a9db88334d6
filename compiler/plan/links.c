/* plan/links.c - the levels of links that a mesh crosses, and how long moves take on them. */
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

Links seconds_links(const Seconds *s, const Mesh *mesh, int64_t room) {
  Links l = {.mesh = mesh, .memory = s->memory, .room = room};
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

/* The product of the sizes of axes from `first` on, where the placement is that. */
static double sites_from(const Mesh *m, uint32_t first, const Placement *p, int8_t what) {
  double n = 1;
  for (uint32_t a = first; a < m->n; a++) n *= p->on[a] == what ? m->size[a] : 1;
  return n;
}

static double sites_inside(const Mesh *m, uint32_t axes) {
  double n = 1;
  for (uint32_t a = axes; a < m->n; a++) n *= m->size[a];
  return n;
}

/* Each site of the part receives by itself. It has the largest block to get, and its part holds least of it. */
static double moved(
    const Mesh *m, uint32_t axes, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to) {
  Cut was[RANK], wanted[RANK];
  double there = 1;
  cuts_find(m, axes, rank, from, was);
  cuts_find(m, m->n, rank, to, wanted);
  for (uint32_t d = 0; d < rank; d++) {
    int64_t block = largest(extent[d], wanted[d].n);
    if (!cut_nested(&was[d], &wanted[d])) there = 0;
    there *= (double)(was[d].n > wanted[d].n ? block / (was[d].n / wanted[d].n) : block);
  }
  return sites_inside(m, axes) * (block_of(rank, extent, wanted) - there);
}

/* The elements of a site's share of what is reduced, or of what it has a copy of. */
static double share_of(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *to, double copies) {
  Cut cut[RANK];
  cuts_find(m, m->n, rank, to, cut);
  return block_of(rank, extent, cut) / copies;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

/* One exchange: messages go directly, all at once, so of the levels crossed the slowest counts. crossed: the axes along
 * which they go. */
static double exchange(const Links *l, uint32_t crossed) {
  double most = 0;
  for (uint32_t a = 0; a < l->mesh->n; a++)
    if (crossed >> a & 1 && l->link[l->by[a]].latency > most) most = l->link[l->by[a]].latency;
  return most;
}

double links_exchange(const Links *l, const bool *link) {
  double most = 0;
  for (uint32_t k = 0; k < l->n; k++)
    if (link[k] && l->link[k].latency > most) most = l->link[k].latency;
  return most;
}

double links_fetch(const Links *l, const bool *link, double bytes) {
  double most = 0, sites = sites_inside(l->mesh, 0);
  for (uint32_t k = 0; k < l->n; k++) {
    double inside = sites_inside(l->mesh, l->link[k].axes);
    double in = link[k] ? inside * bytes * (sites - inside) / (sites - 1) : 0;
    most = in / l->link[k].rate > most ? in / l->link[k].rate : most;
  }
  return most + (double)FETCH_ROUNDS * links_exchange(l, link);
}

/* An axis along which all sites hold the same data is not crossed: the site at the same place on it has what is
 * wanted. Nor is an axis that cuts the same blocks before and after. */
static uint32_t move_crosses(const Links *l, uint32_t rank, const Placement *from, const Placement *to) {
  const Mesh *m = l->mesh;
  Cut was[RANK], wanted[RANK];
  uint32_t axes = 0;
  cuts_find(m, m->n, rank, from, was);
  cuts_find(m, m->n, rank, to, wanted);
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] < 0 || m->size[a] == 1) continue;
    uint32_t before = (2u << a) - 1, differ = (was[from->on[a]].axes ^ wanted[from->on[a]].axes) & before;
    if (differ) axes |= 1u << a;
  }
  return axes;
}

/* What comes in pieces is put together: read and written. */
double links_together(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to) {
  Cut was[RANK], wanted[RANK];
  bool pieces = false;
  cuts_find(l->mesh, l->mesh->n, rank, from, was);
  cuts_find(l->mesh, l->mesh->n, rank, to, wanted);
  for (uint32_t d = 0; d < rank; d++) pieces |= wanted[d].n % was[d].n != 0 || placement_inner(l->mesh, from, d) > 1;
  return pieces ? 2 * size * block_of(rank, extent, wanted) / l->memory : 0;
}

double links_move(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to) {
  double most = 0;
  if (placement_equal(l->mesh, from, to)) return 0;
  for (uint32_t k = 0; k < l->n; k++) {
    double seconds = size * moved(l->mesh, l->link[k].axes, rank, extent, from, to) / l->link[k].rate;
    most = seconds > most ? seconds : most;
  }
  if (most <= 0) return 0;
  return most + exchange(l, move_crosses(l, rank, from, to)) + links_together(l, rank, extent, size, from, to);
}

double links_panel(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from,
    const Placement *to, int32_t d, uint32_t n) {
  const Mesh *m = l->mesh;
  Cut wanted[RANK];
  uint32_t crossed = move_crosses(l, rank, from, to);
  double most = 0;
  cuts_find(m, m->n, rank, to, wanted);
  for (uint32_t k = 0; k < l->n; k++) {
    double in = moved(m, l->link[k].axes, rank, extent, from, to), parts = 1;
    for (uint32_t a = 0; a < l->link[k].axes; a++) parts *= crossed >> a & 1 && from->on[a] == d ? m->size[a] : 1;
    double all = sites_inside(m, l->link[k].axes) * block_of(rank, extent, wanted), out = in * (parts < n ? parts : n);
    double bytes = size * (in <= 0 || parts <= 1 ? in : out > all ? out : all) / n;
    if (bytes / l->link[k].rate > most) most = bytes / l->link[k].rate;
  }
  return most > 0 ? most + exchange(l, crossed) : 0;
}

static uint32_t axes_of(const Mesh *m, const Placement *p, int8_t what) {
  uint32_t axes = 0;
  for (uint32_t a = 0; a < m->n; a++) axes |= p->on[a] == what && m->size[a] > 1 ? 1u << a : 0;
  return axes;
}

/* Of a group each site gets the others' parts of its share, and combines them. If several need the whole result, each
 * sends its share to the others. What is sent is read and written before; to combine an element, two are read and one
 * is written. */
double links_reduce(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to) {
  const Mesh *m = l->mesh;
  uint32_t part = axes_of(m, from, PLACE_PART), again = 0;
  double parts = sites_from(m, 0, from, PLACE_PART), copies = 1, most = 0;
  for (uint32_t a = 0; a < m->n; a++)
    if (part >> a & 1 && to->on[a] == PLACE_ALL) copies *= m->size[a], again |= 1u << a;
  if (!part) return 0;
  double share = size * share_of(m, rank, extent, to, copies);
  MoveRounds rounds = move_rounds(share, parts, l->room);
  for (uint32_t k = 0; k < l->n; k++) {
    uint32_t axes = l->link[k].axes;
    double inside = sites_inside(m, axes), near = 1;
    for (uint32_t a = axes; a < m->n; a++) near *= again >> a & 1 ? m->size[a] : 1;
    double in = rounds.longer * (parts - sites_from(m, axes, from, PLACE_PART)) + (copies - near);
    if (inside * share * in / l->link[k].rate > most) most = inside * share * in / l->link[k].rate;
  }
  most += rounds.n * exchange(l, part) + (again ? exchange(l, again) : 0);
  return most + (3 * parts + 2 * (parts - 1)) * share / l->memory;
}

/* The sites at first places of `stored` send to all sites of their groups, each `each`. stored NULL: all sites of a
 * group have a share, and get the others'. */
static double given(const Links *l, double each, const Placement *stored, const Placement *to) {
  const Mesh *m = l->mesh;
  double copies = sites_from(m, 0, to, PLACE_ALL), most = 0;
  for (uint32_t k = 0; k < l->n; k++) {
    uint32_t axes = l->link[k].axes;
    double senders = sites_inside(m, axes) / (stored ? sites_from(m, axes, stored, PLACE_FIRST) : 1);
    double out = senders * each * (copies - sites_from(m, axes, to, PLACE_ALL)) / l->link[k].rate;
    most = out > most ? out : most;
  }
  return most + exchange(l, axes_of(m, to, PLACE_ALL));
}

double links_copies(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *stored,
    const Placement *to) {
  const Mesh *m = l->mesh;
  double copies = sites_from(m, 0, to, PLACE_ALL), firsts = sites_from(m, 0, stored, PLACE_FIRST);
  double block = size * share_of(m, rank, extent, to, 1);
  if (copies <= 1) return 0;
  if (firsts <= 1) return given(l, block / copies, NULL, to) + links_together(l, rank, extent, size, stored, to);
  if (firsts < copies) return given(l, block * firsts / copies, stored, to) + 2 * block / l->memory;
  if (!move_gives_shares(block, copies)) return given(l, block, stored, to);
  return given(l, block / copies, stored, to) + given(l, block / copies, NULL, to);
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
  uint32_t top = s->machine->levels.len - 1, levels = levels_below(s, top + 1), primes = mesh_of_primes(s->sites).n;
  x.axes = primes < AXES ? primes : levels > AXES ? levels : AXES;
  if (top > s->machine->site) making(&x, top, s->used[top], INT64_MAX);
  else vec_push(a, x.all, x.now);
  *out = x.all.at;
  return x.all.len;
}
