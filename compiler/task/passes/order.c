/* task/passes/order.c - the order of tasks, so that they take less memory at once. In: tasks after fusion, in an order in which a program computes what it
 * says. Out: the same tasks, in another such order where that takes less, list by list; else as they were.
 *
 * A step of training has its new weights last, and what they are made of waits for them. So: one walk in the order that is there, and wherever a few tasks that
 * could be done now leave less alive than there is, they are done now. The same backwards puts off what is made long before it is wanted. Neither takes more on
 * its way than the old order did.
 *
 * What may fail (an assert, an index in data, a C function) stays in its order, so that the first message is the same. Sizes are to be known: what is
 * less for one size may be more for another. Of a mesh no order is changed here: what its sites take was foretold by who made the plan. */
#include "task/inside.h"

#include <string.h>

enum {
  SET_MOST = 8,              /* so many tasks are looked at as one, */
  NEAR = 4,                  /*   of what is wanted by at most so many more, or comes at most */
  FAR = 3,                   /*   so many tasks after what has been done */
  ROUNDS = 8,
  LEAST = 4096,              /* what is gained: a page, */
  LEAST_PART = 64,           /*   and such a part of it all */
  ALIGN = 64                 /* buffers begin at multiples of this */
};

typedef VEC(uint32_t) Numbers;

typedef struct Step {        /* a task of the list */
  Numbers uses;              /* what in `memory` it has to do with */
  Numbers before, after;     /* what is to be done before it, and after it; one may stand there twice */
  int64_t inner;             /* REPEAT: what its own list takes */
  uint32_t wants;            /* scratch: how many of `before` are not done */
  bool done;                 /* scratch */
} Step;

typedef struct Memory {      /* buffers that live as one, in this list alone */
  int64_t bytes;
  Numbers users;             /* steps */
  uint32_t left;             /* scratch: users that are not done */
} Memory;

typedef struct Region {      /* a list at hand */
  Arena *arena;
  uint32_t n;
  Step *step;
  VEC(Memory) memory;
  Numbers order, fresh;      /* of a walk: what is done, and of these what has not been looked around from */
  int64_t live, most, limit;
} Region;

typedef struct Use {         /* of a buffer, */
  uint32_t stamp;            /*   in the list of this number: */
  int32_t writer;            /* the last step that writes it; -1: none */
  Numbers readers;           /*   and those that read it since */
} Use;

typedef struct Order {
  TaskGraph *t;
  Arena *arena;              /* of the pass */
  uint32_t *as;              /* by buffer: the first of those that live as one with it */
  int64_t *bytes;            /* by such a one: of all of them; -1: no work, or of a size that is not known */
  uint32_t *owner;           /* by such a one: 1 + number of the innermost list that has all uses of it; 0: it has none */
  Numbers parent, depth;     /* by list: the one around it, and how many those are */
  Use *use;
  uint32_t *counted;         /* by buffer: 1 + its place in `memory`, where `stamp` is that of the list */
  uint32_t *counted_in, *counted_by;
  uint32_t lists;            /* that have been gone to: they are numbered as they are met, twice the same */
  bool unknown;
} Order;

/* ---- whose buffers are whose ------------------------------------------------------------------------- */

typedef void OrderUse(Order *o, void *env, uint32_t buffer, bool write);

static void stage_uses(Order *o, const TaskStage *s, OrderUse *f, void *env) {
  for (uint32_t j = 0; j < s->sum->n_slot; j++)
    if (!s->slot[j].kept) f(o, env, s->slot[j].index, false);
  if (s->buffer >= 0) f(o, env, (uint32_t)s->buffer, true);
}

/* What the task itself has to do with; what is in a repeat is another list's. */
static void own_uses(Order *o, const Task *k, OrderUse *f, void *env) {
  for (uint32_t i = 0; i < k->stages.len; i++) stage_uses(o, &k->stages.at[i], f, env);
  if (!task_has_stages(k)) f(o, env, k->buffer, k->kind == TASK_ZERO);
  if (k->kind == TASK_DEFAULT) f(o, env, o->t->inputs.at[k->argument].buffer, true);
  if (k->turns >= 0) f(o, env, (uint32_t)k->turns, true);
  for (uint32_t i = 0; i < k->exchange.len; i++) {
    f(o, env, k->exchange.at[i].now, true);
    f(o, env, k->exchange.at[i].next, true);
  }
}

static void all_uses(Order *o, const Task *k, OrderUse *f, void *env) {
  own_uses(o, k, f, env);
  if (k->stop >= 0) f(o, env, (uint32_t)k->stop, false);
  for (uint32_t i = 0; i < k->body.len; i++) all_uses(o, k->body.at[i], f, env);
}

static uint32_t as(Order *o, uint32_t b) {
  while (o->as[b] != b) b = o->as[b] = o->as[o->as[b]];
  return b;
}

static void unite(Order *o, uint32_t a, uint32_t b) {
  a = as(o, a), b = as(o, b);
  o->as[a < b ? b : a] = a < b ? a : b;
}

static void unite_list(Order *o, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_DEFAULT) unite(o, k->buffer, o->t->inputs.at[k->argument].buffer);
    for (uint32_t j = 0; j < k->exchange.len; j++) unite(o, k->exchange.at[j].now, k->exchange.at[j].next);
    unite_list(o, &k->body);
  }
}

static void use_owner(Order *o, void *env, uint32_t buffer, bool write) {
  uint32_t a = *(uint32_t *)env, *b = &o->owner[as(o, buffer)];
  (void)write;
  if (!*b) *b = a + 1;
  uint32_t c = *b - 1;
  while (a != c) {
    if (o->depth.at[a] >= o->depth.at[c]) a = o->parent.at[a];
    else c = o->parent.at[c];
  }
  *b = c + 1;
}

/* Lists are numbered as they are met: each before those in it. */
static void owners_find(Order *o, const Tasks *list, uint32_t parent, uint32_t depth) {
  uint32_t me = o->parent.len;
  vec_push(o->arena, o->parent, parent);
  vec_push(o->arena, o->depth, depth);
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    uint32_t inside = o->parent.len;
    own_uses(o, k, use_owner, &me);
    if (k->kind == TASK_REPEAT) owners_find(o, &k->body, me, depth + 1);
    if (k->stop >= 0) use_owner(o, &inside, (uint32_t)k->stop, false);
  }
}

/* -1: it has a size without value, or one that no memory holds. */
static int64_t buffer_bytes(const TaskGraph *t, const TaskBuffer *b) {
  int64_t n = dtype_size(b->dtype);
  for (uint32_t d = 0; d < b->rank; d++) {
    if (b->dim[d]->kind != EX_INT || b->dim[d]->i < 0 || !mul_ok(n, b->dim[d]->i, &n)) return -1;
  }
  return n > INT64_MAX / 4 / (int64_t)(t->buffers.len + 1) ? -1 : (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void bytes_find(Order *o) {
  for (uint32_t i = 0; i < o->t->buffers.len; i++) {
    const TaskBuffer *b = &o->t->buffers.at[i];
    if (b->space != BUF_WORK || !o->owner[as(o, i)]) continue;
    int64_t bytes = buffer_bytes(o->t, b);
    o->unknown |= bytes < 0;
    o->bytes[as(o, i)] += bytes;
  }
}

/* ---- a list as steps ------------------------------------------------------------------------------------ */

typedef struct At { Region *r; uint32_t list, step; } At;

static void edge(Region *r, int32_t from, uint32_t to) {
  if (from < 0 || (uint32_t)from == to) return;
  vec_push(r->arena, r->step[from].after, to);
  vec_push(r->arena, r->step[to].before, (uint32_t)from);
}

/* It comes after who wrote the buffer, and, if it writes it, after who has read that. */
static void use_order(Order *o, At *at, uint32_t buffer, bool write) {
  Use *u = &o->use[buffer];
  if (u->stamp != at->list) *u = (Use){.stamp = at->list, .writer = -1};
  edge(at->r, u->writer, at->step);
  for (uint32_t i = 0; write && i < u->readers.len; i++) edge(at->r, (int32_t)u->readers.at[i], at->step);
  if (write) u->readers.len = 0, u->writer = (int32_t)at->step;
  else if (!u->readers.len || vec_last(u->readers) != at->step) vec_push(at->r->arena, u->readers, at->step);
}

static void use_memory(Order *o, At *at, uint32_t buffer) {
  uint32_t b = as(o, buffer);
  Region *r = at->r;
  if (o->owner[b] != at->list || !o->bytes[b]) return;
  if (o->counted_in[b] != at->list) {
    o->counted_in[b] = at->list;
    o->counted_by[b] = UINT32_MAX;
    o->counted[b] = r->memory.len;
    vec_push(r->arena, r->memory, ((Memory){.bytes = o->bytes[b]}));
  }
  if (o->counted_by[b] == at->step) return;
  o->counted_by[b] = at->step;
  vec_push(r->arena, r->step[at->step].uses, o->counted[b]);
  vec_push(r->arena, r->memory.at[o->counted[b]].users, at->step);
}

static void use_note(Order *o, void *env, uint32_t buffer, bool write) {
  use_order(o, env, buffer, write);
  use_memory(o, env, buffer);
}

static bool may_fail(TaskGraph *t, const Task *k) {
  if (k->kind == TASK_ASSERT || k->kind == TASK_REPEAT) return true;
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (stage_may_fail(t, &k->stages.at[i])) return true;
  return false;
}

static Region *region_new(Order *o, Arena *a, const Tasks *list, uint32_t number, const int64_t *inner) {
  Region *r = NEW(a, Region);
  r->arena = a;
  r->n = list->len;
  r->step = NEW_ARRAY(a, Step, r->n + 1);
  int32_t failing = -1;
  for (uint32_t i = 0; i < r->n; i++) {
    At at = {r, number, i};
    r->step[i].inner = inner[i];
    all_uses(o, list->at[i], use_note, &at);
    if (!may_fail(o->t, list->at[i])) continue;
    edge(r, failing, i);
    failing = (int32_t)i;
  }
  return r;
}

/* ---- walks --------------------------------------------------------------------------------------------------- */

static void walk_begin(Region *r) {
  r->live = r->most = 0;
  r->order.len = r->fresh.len = 0;
  for (uint32_t m = 0; m < r->memory.len; m++) r->memory.at[m].left = r->memory.at[m].users.len;
  for (uint32_t i = 0; i < r->n; i++) r->step[i].done = false, r->step[i].wants = r->step[i].before.len;
}

/* Does a step: what it has to do with is alive, and what nobody wants any more is not after it. Gives what is alive while it is done. */
static int64_t step_do(Region *r, uint32_t i) {
  Step *k = &r->step[i];
  for (uint32_t j = 0; j < k->uses.len; j++) {
    const Memory *m = &r->memory.at[k->uses.at[j]];
    if (m->left == m->users.len) r->live += m->bytes;
  }
  int64_t now = r->live + k->inner;
  for (uint32_t j = 0; j < k->uses.len; j++) {
    Memory *m = &r->memory.at[k->uses.at[j]];
    if (!--m->left) r->live -= m->bytes;
  }
  k->done = true;
  return now;
}

static void step_undo(Region *r, uint32_t i) {
  Step *k = &r->step[i];
  for (uint32_t j = 0; j < k->uses.len; j++) {
    Memory *m = &r->memory.at[k->uses.at[j]];
    if (!m->left++) r->live += m->bytes;
  }
  for (uint32_t j = 0; j < k->uses.len; j++) {
    const Memory *m = &r->memory.at[k->uses.at[j]];
    if (m->left == m->users.len) r->live -= m->bytes;
  }
  k->done = false;
}

static void step_keep(Region *r, uint32_t i) {
  int64_t now = step_do(r, i);
  if (now > r->most) r->most = now;
  for (uint32_t j = 0; j < r->step[i].after.len; j++) r->step[r->step[i].after.at[j]].wants--;
  vec_push(r->arena, r->order, i);
  vec_push(r->arena, r->fresh, i);
}

/* The step and what must be done before it, in an order in which they can be done; false where they are too many. */
static bool set_find(const Region *r, uint32_t i, uint32_t deep, uint32_t *set, uint32_t *n) {
  const Step *k = &r->step[i];
  for (uint32_t j = 0; j < *n; j++)
    if (set[j] == i) return true;
  if (k->done) return true;
  if (k->wants > SET_MOST || deep == SET_MOST) return false;
  for (uint32_t j = 0; k->wants && j < k->before.len; j++)
    if (!set_find(r, k->before.at[j], deep + 1, set, n)) return false;
  if (*n == SET_MOST) return false;
  set[(*n)++] = i;
  return true;
}

/* Does the step now, with what it wants, if less is alive then. */
static void set_try(Region *r, uint32_t i) {
  uint32_t set[SET_MOST], n = 0, did = 0;
  int64_t was = r->live;
  bool fits = true;
  if (!set_find(r, i, 0, set, &n)) return;
  while (fits && did < n) fits = step_do(r, set[did++]) < r->limit;
  bool less = fits && r->live < was;
  while (did) step_undo(r, set[--did]);
  for (uint32_t j = 0; less && j < n; j++) step_keep(r, set[j]);
}

static void try_from(Region *r, uint32_t i, uint32_t far) {
  if (r->step[i].done || r->step[i].wants > SET_MOST) return;
  set_try(r, i);
  if (far >= FAR) return;
  for (uint32_t j = 0; j < r->step[i].after.len && j < NEAR; j++) try_from(r, r->step[i].after.at[j], far + 1);
}

/* What a step that has been done may have made worth doing. */
static void look_around(Region *r, uint32_t i) {
  const Step *k = &r->step[i];
  for (uint32_t j = 0; j < k->uses.len; j++) {
    const Memory *m = &r->memory.at[k->uses.at[j]];
    for (uint32_t u = 0; m->left && m->left <= NEAR && u < m->users.len; u++) try_from(r, m->users.at[u], 0);
  }
  for (uint32_t j = 0; j < k->after.len; j++) try_from(r, k->after.at[j], 1);
}

static void walk(Region *r, const uint32_t *order, bool look) {
  walk_begin(r);
  for (uint32_t i = 0; i < r->n; i++) {
    if (!r->step[order[i]].done) step_keep(r, order[i]);
    while (look && r->fresh.len) look_around(r, vec_pop(r->fresh));
  }
}

/* As time goes backwards. */
static void turn(Region *r, uint32_t *order) {
  for (uint32_t i = 0; i < r->n; i++) {
    Numbers before = r->step[i].before;
    r->step[i].before = r->step[i].after;
    r->step[i].after = before;
  }
  for (uint32_t i = 0; i < r->n / 2; i++) {
    uint32_t was = order[i];
    order[i] = order[r->n - 1 - i];
    order[r->n - 1 - i] = was;
  }
}

/* Walks forwards and backwards as long as one of them leaves less. Gives what is needed then. */
static int64_t order_find(Region *r, uint32_t *order) {
  walk(r, order, false);
  int64_t best = r->most;
  for (uint32_t round = 0, failed = 0; round < ROUNDS && (failed < 2 || round % 2); round++) {
    r->limit = best;
    walk(r, order, true);
    failed = r->most < best ? 0 : failed + 1;
    if (r->most < best) best = r->most, memcpy(order, r->order.at, r->n * sizeof *order);
    turn(r, order); /* twice in all, or four times, ... */
  }
  return best;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static bool is_worth(int64_t was, int64_t now) { return was - now >= LEAST && was - now >= was / LEAST_PART; }

/* Gives what the list's own buffers take at most, at once. */
static int64_t list_order(Order *o, Tasks *list) {
  Arena *a = arena_new();
  uint32_t number = ++o->lists, *order = NEW_ARRAY(a, uint32_t, list->len + 1);
  int64_t *inner = NEW_ARRAY(a, int64_t, list->len + 1);
  for (uint32_t i = 0; i < list->len; i++) {
    order[i] = i;
    if (list->at[i]->kind == TASK_REPEAT) inner[i] = list_order(o, &list->at[i]->body);
  }
  Region *r = region_new(o, a, list, number, inner);
  walk(r, order, false);
  int64_t was = r->most, now = order_find(r, order);
  if (is_worth(was, now)) {
    Task **task = arena_copy(a, list->at, list->len * sizeof *task);
    for (uint32_t i = 0; i < list->len; i++) list->at[i] = task[order[i]];
    was = now;
  }
  arena_free(a);
  return was;
}

void task_order(TaskGraph *t) {
  uint32_t n = t->buffers.len + 1;
  Order o = {.t = t, .arena = arena_new()};
  o.as = NEW_ARRAY(o.arena, uint32_t, n);
  o.bytes = NEW_ARRAY(o.arena, int64_t, n);
  o.owner = NEW_ARRAY(o.arena, uint32_t, n);
  o.use = NEW_ARRAY(o.arena, Use, n);
  o.counted = NEW_ARRAY(o.arena, uint32_t, n);
  o.counted_in = NEW_ARRAY(o.arena, uint32_t, n);
  o.counted_by = NEW_ARRAY(o.arena, uint32_t, n);
  for (uint32_t b = 0; b < n; b++) o.as[b] = b;
  unite_list(&o, &t->tasks);
  owners_find(&o, &t->tasks, 0, 0);
  bytes_find(&o);
  if (!t->mesh.n && !o.unknown) list_order(&o, &t->tasks);
  arena_free(o.arena);
}
