/* task/sites/staged.c - a move's workspace at a site: packed parcels, and marks for parts.
 *
 * In: a mesh's graph and a move. Out: the bytes that runtime/sites/ein_move.c takes from the workspace; that file says
 * how parts come in rounds. A parcel is sent and received in place if it is one piece of a work buffer; sites that get
 * the same share a parcel; what a site keeps needs no parcel. */
#include "site.h"

#include <string.h>

enum { ALIGN = 64, SITES_MOST = 4096 };

/* One dimension of an intersection of two boxes: the number of pieces, by laps around its end; elements in all; where
 * the last piece begins in the first box's tensor. */
typedef struct Shared { int64_t pieces, n, low; } Shared;

/* All that is wanted moves; or in an all-reduce first what each site is to combine, then the combined results; or in a
 * broadcast by shares first a share for each site, then the other shares. */
typedef enum Half { MOVE_ALL, MOVE_TO_SHARES, MOVE_OF_SHARES } Half;

typedef struct Boxes { int64_t *at; bool *there; } Boxes; /* by site: lows, then highs */

typedef struct Part {
  Half half;
  uint32_t from;             /* the buffers' numbers */
  uint32_t to;
  Boxes has, gets, wanted;   /* boxes of the two buffers; what arrives in this half, or what that site has combined */
  bool parts;                /* that are combined */
  size_t each;               /* bytes per element, and per place */
  uint32_t own;              /* bit a: along axis a a site gets only what has its own place */
  int64_t slices;            /* into how many slices a part is divided, one per round; 1: it arrives at once */
} Part;

struct Staging {
  const TaskGraph *t;
  const Task *k;
  int64_t sites, groups;     /* of parts */
  uint32_t rank, n;
  Part part[3];
  int64_t *alike;            /* by site: equal for sites that get the same; */
  bool *packed;              /* and by that number: whether such a parcel exists */
};

static int64_t *low_of(const Staging *x, const Boxes *b, int64_t s) {
  return b->at + s * 2 * x->rank;
}

static int64_t count_of(const Staging *x, const Boxes *b, int64_t s) {
  const int64_t *low = low_of(x, b, s), *high = low + x->rank;
  int64_t n = b->there[s];
  for (uint32_t d = 0; n && d < x->rank; d++) n *= high[d] - low[d];
  return n;
}

static Boxes boxes_new(Arena *a, const Staging *x) {
  return (Boxes){NEW_ARRAY(a, int64_t, (size_t)x->sites * x->rank * 2 + 1), NEW_ARRAY(a, bool, x->sites + 1)};
}

static Boxes boxes_of(Arena *a, const Staging *x, uint32_t buffer) {
  const TaskBuffer *b = &x->t->buffers.at[buffer];
  Boxes all = boxes_new(a, x);
  uint32_t at[MESH_AXES + 1];
  for (int64_t s = 0; s < x->sites; s++) {
    int64_t *low = low_of(x, &all, s);
    mesh_place(&x->t->mesh, s, at);
    all.there[s] = task_has(x->t, b, at) && (task_box(x->t, b, at, low, low + x->rank) > 0 || !b->rank);
  }
  return all;
}

/* The share of each site's box that it combines, or gets first. */
static Boxes shares_of(Arena *a, const Staging *x, const Boxes *of) {
  Boxes all = boxes_new(a, x);
  uint32_t at[MESH_AXES + 1], axes = move_share_axes(x->t, x->k);
  memcpy(all.at, of->at, (size_t)x->sites * x->rank * 2 * sizeof *all.at);
  for (int64_t s = 0; s < x->sites; s++) {
    int64_t group = 0, *low = low_of(x, &all, s);
    mesh_place(&x->t->mesh, s, at);
    for (uint32_t i = 0; i < x->t->mesh.n; i++)
      if (axes >> i & 1) group = group * x->t->mesh.size[i] + at[i];
    all.there[s] = of->there[s] && box_slice(x->rank, low, low + x->rank, group, x->groups);
  }
  return all;
}

static int64_t slices_of(const Staging *x, const Part *p) {
  int64_t most = 0;
  if (x->groups == 1 || !p->parts) return 1;
  for (int64_t s = 0; s < x->sites; s++) {
    int64_t n = count_of(x, &p->wanted, s);
    most = n > most ? n : most;
  }
  return (int64_t)move_slices((double)most * (double)p->each, (double)x->groups, x->t->room);
}

static void part_add(Arena *a, Staging *x, Half half, uint32_t from, uint32_t to) {
  Part *p = &x->part[x->n++];
  const Task *k = x->k;
  *p = (Part){.half = half, .from = from, .to = to, .parts = half != MOVE_OF_SHARES && k->reducer != RED_NONE};
  p->has = boxes_of(a, x, from);
  p->gets = boxes_of(a, x, to);
  p->wanted = half == MOVE_ALL ? p->gets : shares_of(a, x, &p->gets);
  p->each = (size_t)dtype_size(x->t->buffers.at[to].dtype) +
      (p->parts && task_moves_places(k) ? (size_t)dtype_size(DT_I64) : 0);
  for (uint32_t i = 0; i < x->t->mesh.n; i++) {
    bool shares = move_share_axes(x->t, k) >> i & 1;
    if (k->of.on[i] == PLACE_ALL || ((k->of.on[i] == PLACE_PART || half == MOVE_OF_SHARES) && !shares))
      p->own |= 1u << i;
  }
  p->slices = slices_of(x, p);
}

static Staging *staging_new(Arena *a, const TaskGraph *t, const Task *k) {
  Staging *x = NEW(a, Staging);
  uint32_t at[MESH_AXES + 1], axes = move_share_axes(t, k);
  *x = (Staging){.t = t, .k = k, .sites = mesh_sites(&t->mesh), .groups = 1, .rank = t->buffers.at[k->buffer].rank};
  for (uint32_t i = 0; i < t->mesh.n; i++) x->groups *= axes >> i & 1 ? t->mesh.size[i] : 1;
  x->alike = NEW_ARRAY(a, int64_t, x->sites + 1);
  x->packed = NEW_ARRAY(a, bool, x->sites + 1);
  for (int64_t s = 0; s < x->sites; s++) {
    mesh_place(&t->mesh, s, at);
    for (uint32_t i = 0; i < t->mesh.n; i++)
      x->alike[s] = x->alike[s] * t->mesh.size[i] + (k->to.on[i] == PLACE_ALL ? 0 : at[i]);
  }
  bool shares = move_shares(t, k);
  part_add(a, x, shares ? MOVE_TO_SHARES : MOVE_ALL, k->from, k->buffer);
  if (shares) part_add(a, x, MOVE_OF_SHARES, k->buffer, k->buffer);
  if (shares && task_moves_places(k)) part_add(a, x, MOVE_OF_SHARES, k->place_to, k->place_to);
  return x;
}

static void list_stagings(Arena *a, const TaskGraph *t, const Tasks *list, Stagings *out) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind == TASK_MOVE) vec_push(a, *out, staging_new(a, t, list->at[i]));
    list_stagings(a, t, &list->at[i]->body, out);
  }
}

Stagings stagings_of(Arena *a, const TaskGraph *t) {
  Stagings all = {0};
  if (mesh_sites(&t->mesh) <= SITES_MOST) list_stagings(a, t, &t->tasks, &all);
  return all;
}

const Task *staging_move(const Staging *x) {
  return x->k;
}

/* ---- at one site ------------------------------------------------------------------------------------------------- */

static Shared shared_along(int64_t low, int64_t high, int64_t wrap, int64_t from, int64_t to) {
  Shared x = {0};
  int64_t first = 0, end = 1;
  if (wrap) {
    first = floor_div(low - to + 1, wrap);
    end = floor_div(high - 1 - from, wrap) + 1;
  }
  for (int64_t lap = first; lap < end; lap++) {
    int64_t l = from + lap * wrap > low ? from + lap * wrap : low, h = to + lap * wrap < high ? to + lap * wrap : high;
    if (l < h) x.pieces++, x.n += h - l, x.low = l - lap * wrap;
  }
  return x;
}

/* The size of the largest slice. */
static int64_t slice_most(const Staging *x, const Part *p, int64_t s) {
  int64_t n = count_of(x, &p->wanted, s), length = 1;
  const int64_t *low = low_of(x, &p->wanted, s), *high = low + x->rank;
  if (!n) return 0;
  int along = box_cut_along(x->rank, low, high, p->slices);
  if (along >= 0) length = high[along] - low[along];
  return n / length * ((length + p->slices - 1) / p->slices);
}

/* What site p has and site q wants, of which a round brings at most a slice; *straight: it is one piece, in one
 * piece of `own`, a box of one of them. low: NULL, or room for where the last piece begins in what p has. */
static int64_t shared(
    const Staging *x, const Part *part, int64_t p, int64_t q, const int64_t *own, bool *straight, int64_t *low) {
  int64_t whose = part->half == MOVE_OF_SHARES ? p : q,
          n = part->has.there[p] && part->gets.there[q] && part->wanted.there[whose];
  const int64_t *from = low_of(x, &part->has, p), *to = low_of(x, &part->wanted, whose),
                *wrap = part->half == MOVE_OF_SHARES ? NULL : x->k->wrap;
  bool whole = true;
  *straight = true;
  for (uint32_t d = x->rank; n && d-- > 0;) {
    Shared s = shared_along(to[d], to[d + x->rank], wrap ? wrap[d] : 0, from[d], from[d + x->rank]);
    *straight &= s.pieces == 1 && (whole || s.n == 1);
    whole &= s.n == own[d + x->rank] - own[d];
    n *= s.n;
    if (low) low[d] = s.low;
  }
  if (part->slices == 1) return n;
  int64_t most = slice_most(x, part, whose);
  return n < most ? n : most;
}

static int64_t room(int64_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static bool is_work(const Staging *x, const Part *p, uint32_t buffer) {
  return x->t->buffers.at[buffer].space == BUF_WORK && !p->parts;
}

static int64_t sent(Staging *x, const Part *p, int64_t s, int64_t q) {
  bool straight;
  int64_t n = shared(x, p, s, q, low_of(x, &p->has, s), &straight, NULL);
  if (!n || (straight && is_work(x, p, p->from)) || (x->packed[x->alike[q]] && p->half != MOVE_TO_SHARES)) return 0;
  x->packed[x->alike[q]] = true;
  return room(n * (int64_t)p->each);
}

static int64_t received(const Staging *x, const Part *part, int64_t s, int64_t p) {
  bool straight;
  int64_t n = shared(x, part, p, s, low_of(x, &part->gets, s), &straight, NULL);
  return straight && is_work(x, part, part->to) ? 0 : room(n * (int64_t)part->each);
}

/* Whether the site gave shares, and so needs none. */
static bool has_all(const Staging *x, const Part *p, int64_t s) {
  return p->half == MOVE_OF_SHARES && x->k->reducer == RED_NONE && x->part[0].has.there[s];
}

/* Whether in that half a site at `at`, which is s, and q may have something for each other. */
static bool is_peer(const Staging *x, const Part *part, int64_t s, const uint32_t *at, int64_t q) {
  uint32_t p[MESH_AXES + 1];
  bool asks = q != s;
  mesh_place(&x->t->mesh, q, p);
  for (uint32_t i = 0; i < x->t->mesh.n; i++) asks &= !(part->own >> i & 1) || p[i] == at[i];
  return asks;
}

static int64_t part_at(Staging *x, const Part *part, int64_t s, const uint32_t *at) {
  int64_t bytes = part->parts ? room(count_of(x, &part->wanted, s)) : 0;
  memset(x->packed, 0, (size_t)x->sites * sizeof *x->packed);
  for (int64_t q = 0; q < x->sites; q++) {
    bool asks = is_peer(x, part, s, at, q);
    if (asks && !has_all(x, part, q)) bytes += sent(x, part, s, q);
    if (asks && !has_all(x, part, s)) bytes += received(x, part, s, q);
  }
  return bytes;
}

static int64_t number_of(const Staging *x, const uint32_t *at) {
  int64_t s = 0;
  for (uint32_t i = 0; i < x->t->mesh.n; i++) s = s * x->t->mesh.size[i] + at[i];
  return s;
}

int64_t staging_at(Staging *x, const uint32_t *at) {
  int64_t s = number_of(x, at), most = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    int64_t bytes = part_at(x, &x->part[i], s, at);
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* ---- over a device's bus ----------------------------------------------------------------------------------------- */

/* What runtime/cuda/sites.h copies: a parcel for several sites once. */

typedef struct Given { int64_t n; int64_t *low; bool straight; int64_t alike; } Given; /* to a site, and from where */

static bool is_same(const Staging *x, const Part *p, const Given *a, const Given *b) {
  if (a->n != b->n || a->straight != b->straight) return false;
  if (!a->straight) return a->alike == b->alike && p->half != MOVE_TO_SHARES;
  return memcmp(a->low, b->low, x->rank * sizeof *a->low) == 0;
}

static void part_bus(Arena *a, const Staging *x, const Part *part, int64_t s, const uint32_t *at, StagingBus *bus) {
  Given *given = NEW_ARRAY(a, Given, x->sites + 1);
  int64_t n_given = 0;
  bool straight;
  for (int64_t q = 0; q < x->sites; q++) {
    if (!is_peer(x, part, s, at, q)) continue;
    if (!has_all(x, part, s))
      bus->in += shared(x, part, q, s, low_of(x, &part->gets, s), &straight, NULL) * (int64_t)part->each;
    if (has_all(x, part, q)) continue;
    Given *g = &given[n_given];
    g->low = NEW_ARRAY(a, int64_t, x->rank + 1);
    g->n = shared(x, part, s, q, low_of(x, &part->has, s), &g->straight, g->low);
    g->straight &= is_work(x, part, part->from);
    g->alike = x->alike[q];
    bool again = !g->n;
    for (int64_t k = 0; k < n_given && !again; k++) again = is_same(x, part, &given[k], g);
    if (!again) bus->out += g->n * (int64_t)part->each, n_given++;
  }
}

/* Whether what the site has covers all that it gets. */
static bool is_covered(const Staging *x, int64_t s) {
  const Part *p = &x->part[0];
  const int64_t *has = low_of(x, &p->has, s), *gets = low_of(x, &p->gets, s);
  bool covers = p->has.there[s];
  for (uint32_t d = 0; d < x->rank; d++)
    covers &= has[d] <= gets[d] && gets[d + x->rank] <= has[d + x->rank];
  return covers || !p->gets.there[s];
}

/* The host combines parts, in copies of both tensors. */
static void parts_bus(const Staging *x, int64_t s, const uint32_t *at, StagingBus *bus) {
  const TaskBuffer *b = x->t->buffers.at;
  const uint32_t from[] = {x->k->from, x->k->place_from}, to[] = {x->k->buffer, x->k->place_to};
  for (int i = 0; i < (task_moves_places(x->k) ? 2 : 1); i++) {
    int64_t got = task_bytes(x->t, &b[to[i]], at);
    bus->out += task_bytes(x->t, &b[from[i]], at) + (is_covered(x, s) ? 0 : got);
    bus->in += got;
  }
}

StagingBus staging_bus(Arena *a, const Staging *x, const uint32_t *at) {
  StagingBus bus = {0};
  int64_t s = number_of(x, at);
  if (x->k->reducer != RED_NONE) parts_bus(x, s, at, &bus);
  else
    for (uint32_t i = 0; i < x->n; i++) part_bus(a, x, &x->part[i], s, at, &bus);
  return bus;
}
