/* codegen/schedule/gpu/bring.c - loads the next part of a tile's sides into registers while threads compute the
 * current one: a thread has some elements of each side's part, in contiguous groups as wide as a load can be. Groups
 * that lie in shared memory as in a buffer may be copied there in the background instead. */
#include "schedule/gpu/gpu.h"

/* WIDEST: bytes of a load; SECTOR: bytes that memory moves at once; GROUP: elements at most. */
enum { WARP = 32, QUARTER = WARP / 4, THREADS = TILE_SIDE * TILE_SIDE, WIDEST = 16, SECTOR = 32, GROUP = 4 };

typedef struct Groups {
  int64_t wide;              /* contiguous elements of a group */
  int64_t times;             /* groups of a thread */
  const Expr *point, *deep;  /* a thread's first group: where it starts in the tile, and in the part of the sum */
  int64_t point_step, deep_step; /* from one of its groups to the next */
} Groups;

static int64_t tile_points(const Tiles *t, uint32_t slot) {
  return TILE_SIDE * (t->slot.of[slot] == OF_ROW ? t->shape.rows : t->shape.lanes);
}
static const Side *side_of(const Tiles *t, uint32_t slot) { return t->slot.of[slot] == OF_ROW ? &t->row : &t->lane; }
static bool is_brought(const Tiles *t, uint32_t slot) {
  return t->shape.ring ? tiles_are_shared(t, slot) : t->slot.next[slot] != NOWHERE;
}

/* ---- how wide ------------------------------------------------------------------------------------------- */

/* Groups are aligned wherever they begin, and divide the label, the last of a side. */
int64_t bring_wide(const Tiles *t, uint32_t slot, uint32_t label) {
  const Expr *read = tiles_read(t, slot);
  TaskSlot x = t->st->slot[slot];
  if (x.kept || !read->n || plan_move(&t->plan, slot, label) != MOVE_UNIT || !t->plan.exact[label]) return 1;
  const TaskBuffer *b = buffer_seen(t->s, x.index);
  const Expr *last = b->dim[read->n - 1];
  int64_t wide = WIDEST / dtype_size(b->dtype);
  if (wide > GROUP && !tiles_small(t, slot)) wide = GROUP;
  for (; wide > 1; wide /= 2)
    if (last->kind == EX_INT && last->i % wide == 0 && t->plan.size[label] % wide == 0 &&
        ex_is_multiple(read->arg[read->n - 1], label, wide))
      break;
  return wide;
}

/* ---- a thread's groups ----------------------------------------------------------------------------------- */

/* A quarter of a warp stores 16 bytes a thread at once. Where it has several points, with `near` groups of each, they
 * are so far apart that these are in different banks: rows are 16 bytes longer than their groups. */
static const Expr *point_of(Sched *s, const Expr *point, int64_t near) {
  int64_t points = QUARTER / near;
  if (near >= QUARTER) return point;
  const Expr *first = rest(s, point, points), *other = rest(s, quotient(s, point, points), near);
  return ex_add(s, ex_add(s, ex_mul(s, first, ex_int(s, near)), other),
      ex_mul(s, quotient(s, point, QUARTER), ex_int(s, QUARTER)));
}

/* Threads take a row of so many groups. Small ones fill up a row to a power of two: some threads then have none of
 * it. */
static int64_t row_of(const Tiles *t, uint32_t slot, int64_t groups) {
  return tiles_small(t, slot) ? two_power(groups) : groups;
}

/* Distributes groups along the sum: a warp has as many groups of a point as memory moves at once, and as many points
 * as that leaves, so that its stores go to different banks. */
static Groups groups_along(const Tiles *t, uint32_t slot, const Expr *thread) {
  Sched *s = t->s;
  Groups g = {.wide = bring_wide(t, slot, t->red)};
  int64_t groups = row_of(t, slot, t->shape.part / g.wide),
          near = SECTOR / (dtype_size((DType)tiles_read(t, slot)->dtype) * g.wide);
  if (near > groups || tiles_small(t, slot)) near = groups;
  if (near < 1) near = 1;
  int64_t points = WARP / near, far = groups / near;
  const Expr *warp = named(s, NULL, "warp", quotient(s, thread, WARP)),
             *group = ex_add(s, rest(s, thread, near), ex_mul(s, rest(s, warp, far), ex_int(s, near)));
  g.deep = ex_mul(s, group, ex_int(s, g.wide));
  g.point = ex_add(s, point_of(s, rest(s, quotient(s, thread, near), points), tiles_small(t, slot) ? near : QUARTER),
      ex_mul(s, quotient(s, warp, far), ex_int(s, points)));
  g.point_step = points * (THREADS / WARP / far);
  g.times = tile_points(t, slot) / g.point_step;
  return g;
}

static Groups groups_across(const Tiles *t, uint32_t slot, const Expr *thread) {
  Sched *s = t->s;
  const Side *side = side_of(t, slot);
  Groups g = {.wide = bring_wide(t, slot, side->label[side->n - 1])};
  int64_t row = row_of(t, slot, tile_points(t, slot) / g.wide);
  g.point = ex_mul(s, rest(s, thread, row), ex_int(s, g.wide));
  g.deep = quotient(s, thread, row);
  g.deep_step = THREADS / row;
  g.times = t->shape.part / g.deep_step;
  return g;
}

static Groups groups_of(Tiles *t, uint32_t slot, const Expr *thread) {
  Groups g = (tiles_along(t, slot) ? groups_along : groups_across)(t, slot, thread);
  g.point = named(t->s, NULL, "point", g.point);
  g.deep = named(t->s, NULL, "deep", g.deep);
  return g;
}

/* ---- loops over a thread's groups -------------------------------------------------------------------------- */

/* The current group: its first element, and that element's number in the thread. */
typedef struct Group { const Expr *point, *deep, *at; } Group;

static Group groups_open(Tiles *t, const Groups *g) {
  Sched *s = t->s;
  const Expr *i = unrolled_open(s, "i", g->times);
  return (Group){ex_add(s, g->point, ex_mul(s, i, ex_int(s, g->point_step))),
      ex_add(s, g->deep, ex_mul(s, i, ex_int(s, g->deep_step))), ex_mul(s, i, ex_int(s, g->wide))};
}

/* The elements of a group that is loaded at once, if they are small; else 0. */
static int64_t at_once(const Tiles *t, uint32_t slot) {
  return tiles_small(t, slot) && t->slot.groups[slot].wide > 1 ? t->slot.groups[slot].wide : 0;
}

/* Loops over a group's elements. Returns the current one's offset from the first. */
static const Expr *group_open(Tiles *t, uint32_t slot, const Groups *g) {
  return unrolled_open(t->s, "e", at_once(t, slot) ? 1 : g->wide);
}

/* Sets the labels to the group's element at offset `near`. */
static void label_say(Tiles *t, uint32_t slot, Group first, const Groups *g, const Expr *near) {
  Sched *s = t->s;
  const Side *side = side_of(t, slot);
  bool along = tiles_along(t, slot);
  const Expr *zero = ex_int(s, 0),
             *point = ex_add(s, t->slot.of[slot] == OF_ROW ? t->now.row0 : t->now.lane0, first.point);
  if (side->n == 1) side_say(t, side, named(s, NULL, "point", along ? point : ex_add(s, point, near)), zero, 1);
  else side_say(t, side, point, along ? zero : near, along ? 1 : g->wide);
  t->env->label[t->red] = named(s, NULL, "deep", ex_add(s, ex_add(s, t->now.red0, first.deep), along ? near : zero));
}

/* Whether the thread has the group, if rows are filled up; NULL: they are not. */
static const Expr *group_in_row(Tiles *t, uint32_t slot, Group g) {
  bool along = tiles_along(t, slot);
  int64_t n = along ? t->shape.part : tile_points(t, slot);
  if (!tiles_small(t, slot) || two_power(n) == n) return NULL;
  return ex_below(t->s, along ? g.deep : g.point, ex_int(t->s, n));
}

static const Expr *group_there(Tiles *t, uint32_t slot, Group g) {
  Sched *s = t->s;
  const Side *side = side_of(t, slot);
  const Expr *point =
      expr_op2(s->x, OP_LT, ex_add(s, t->slot.of[slot] == OF_ROW ? t->now.row0 : t->now.lane0, g.point), side->all);
  const Expr *deep = expr_op2(s->x, OP_LT, ex_add(s, t->now.red0, g.deep), t->st->bound[t->red]);
  if (side_whole(side, tile_points(t, slot))) point = NULL;
  return expr_and(s->x, group_in_row(t, slot, g), expr_and(s->x, point, tiles_whole(t, t->shape.part) ? NULL : deep));
}

static void side_load(Tiles *t, uint32_t slot) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  Groups g = t->slot.groups[slot];
  Group first = groups_open(t, &g);
  const Expr *there = group_there(t, slot, first);
  LoopStmt *cond = there ? if_add(s, there) : NULL;
  if (cond) into(s, &cond->body);
  const Expr *near = group_open(t, slot, &g), *at = ex_add(s, first.at, near);
  label_say(t, slot, first, &g, near);
  store_add(s, t->slot.next[slot], 1, &at, ex_of(t->env, tiles_read(t, slot)))->wide = at_once(t, slot);
  if (cond) {
    into(s, &cond->other);
    if (at_once(t, slot)) first.at = ex_add(s, first.at, each_open(s, "e", g.wide));
    at = ex_add(s, first.at, group_open(t, slot, &g));
    store_add(s, t->slot.next[slot], 1, &at, tiles_nothing(s, (DType)tiles_read(t, slot)->dtype));
  }
  into(s, was);
}

/* The place in shared memory of an element of a group, at that offset. */
static const Expr *shared_at(Tiles *t, uint32_t slot, Group first, const Expr *near) {
  Sched *s = t->s;
  bool along = tiles_along(t, slot);
  const Expr *zero = ex_int(s, 0), *wide = ex_int(s, t->slot.wide[slot]);
  const Expr *deep = ex_add(s, first.deep, along ? near : zero), *point = ex_add(s, first.point, along ? zero : near);
  return tiles_deep(t, slot) ? ex_add(s, ex_mul(s, point, wide), deep) : ex_add(s, ex_mul(s, deep, wide), point);
}

static void side_put(Tiles *t, uint32_t slot) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  Groups g = t->slot.groups[slot];
  Group first = groups_open(t, &g);
  const Expr *mine = group_in_row(t, slot, first);
  if (mine) into(s, &if_add(s, mine)->body);
  const Expr *near = group_open(t, slot, &g), *from = ex_add(s, first.at, near), *at = shared_at(t, slot, first, near);
  store_add(s, t->slot.shared[slot], 1, &at, place_read(s, t->slot.next[slot], 1, &from))->wide = at_once(t, slot);
  into(s, was);
}

bool bring_takes(int64_t points) { return points == 64 || points == 128 || points == 256; }

bool bring_fits(const Tiles *t, uint32_t slot) {
  int64_t points = tile_points(t, slot);
  if (tiles_along(t, slot)) {
    int64_t groups = row_of(t, slot, t->shape.part / bring_wide(t, slot, t->red));
    return groups <= WARP && WARP % groups == 0 && points % (THREADS / groups) == 0;
  }
  const Side *side = side_of(t, slot);
  int64_t row = row_of(t, slot, points / bring_wide(t, slot, side->label[side->n - 1]));
  return row <= THREADS && THREADS % row == 0 && t->shape.part % (THREADS / row) == 0;
}

void bring_ready(Tiles *t) {
  Sched *s = t->s;
  t->slot.groups = NEW_ARRAY(s->arena, Groups, t->st->sum->n_slot + 1);
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++) {
    if (!tiles_are_shared(t, k)) continue;
    t->slot.groups[k] = groups_of(t, k, t->thread.number);
    if (t->shape.ring && side_whole(side_of(t, k), tile_points(t, k)) && tiles_whole(t, t->shape.part)) continue;
    const Expr *n = ex_int(s, t->slot.groups[k].wide * (t->shape.ring ? 1 : t->slot.groups[k].times));
    t->slot.next[k] = place_own(s, NULL, "next", (DType)tiles_read(t, k)->dtype, 1, &n);
    s->k->places.at[t->slot.next[k]].small = tiles_small(t, k);
    var_add(s, t->slot.next[k], tiles_nothing(s, (DType)tiles_read(t, k)->dtype));
  }
}

/* A group is within the side and the sum, or outside as a whole. Outside are zeros. */
static void side_copy(Tiles *t, uint32_t slot) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  Groups g = t->slot.groups[slot];
  Group first = groups_open(t, &g);
  const Expr *there = group_there(t, slot, first), *zero = ex_int(s, 0);
  const Expr *at = ex_add(s, ex_mul(s, t->now.turn, ex_int(s, tiles_part(t, slot))), shared_at(t, slot, first, zero));
  LoopStmt *cond = there ? if_add(s, there) : NULL;
  if (cond) into(s, &cond->body);
  label_say(t, slot, first, &g, zero);
  copy_later_add(s, t->slot.shared[slot], 1, &at, ex_of(t->env, tiles_read(t, slot)), g.wide);
  if (cond) {
    into(s, &cond->other);
    store_add(s, t->slot.shared[slot], 1, &at, place_read(s, t->slot.next[slot], 1, &zero))->wide = g.wide;
  }
  into(s, was);
}

void bring_copy(Tiles *t) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++)
    if (is_brought(t, k)) side_copy(t, k);
}

bool bring_copies(const Tiles *t) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++) {
    if (!tiles_are_shared(t, k)) continue;
    const Side *side = side_of(t, k);
    int64_t wide = bring_wide(t, k, tiles_along(t, k) ? t->red : side->label[side->n - 1]);
    if (!tiles_small(t, k) || wide < 2 || !bring_fits(t, k)) return false;
  }
  return t->shape.brought && !t->st->sum->where;
}

void bring_load(Tiles *t) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++)
    if (is_brought(t, k)) side_load(t, k);
}

void bring_put(Tiles *t) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++)
    if (is_brought(t, k)) side_put(t, k);
}
