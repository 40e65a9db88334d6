/* task/passes/order.c - reorders tasks to reduce the peak of live memory. In: tasks after fusion, in a valid order.
 * Out: the same tasks, each list in another valid order if that lowers its peak, else unchanged.
 *
 * A training step computes its new weights last, so the values they depend on stay alive until then. The pass walks a
 * list in its present order, and does a few ready tasks early whenever that reduces live memory. The same walk
 * backwards postpones values that are computed long before they are used. Neither walk exceeds the old peak. Then the
 * task at the peak moves to another place, as long as that lowers it: a product takes memory for panels of its own,
 * and is better done where little else is alive.
 *
 * Tasks that may fail (an assert, an index from data, a C function) keep their relative order, so the first message is
 * the same. All sizes must be known: an order that is better for one size may be worse for another. Lists on a mesh
 * are not reordered, because the planner has already predicted how much memory its sites need. */
#include "task/inside.h"

#include <string.h>

enum {
  SET_MOST = 8,              /* at most so many tasks are tried together */
  NEAR = 4,                  /* examined are buffers with at most so many users left, and so many successors */
  FAR = 3,                   /* the search goes at most so many tasks past a done one */
  ROUNDS = 8,
  LEAST = 4096,              /* the least saving: a page, */
  LEAST_PART = 64,           /*   and this fraction of the peak */
  ALIGN = 64,                /* of buffers, in bytes */
  SHIFTS = 16,               /* the most tasks that are moved on their own, */
  REACH = 64,                /*   each at most so far */
  PANEL_MOST = 1 << 30       /* bytes of panels */
};

typedef VEC(uint32_t) Numbers;

typedef struct Step {        /* a task of the list */
  Numbers uses;              /* the entries of `memory` that it reads or writes */
  Numbers before, after;     /* its predecessors and successors; may contain duplicates */
  int64_t inner;             /* what it takes itself. REPEAT: the peak of its own list; a product: panels */
  uint32_t wants;            /* scratch: the number of entries of `before` that are not done */
  bool done;                 /* scratch */
} Step;

typedef struct Memory {      /* buffers with a shared lifetime, used in this list alone */
  int64_t bytes;
  Numbers users;             /* steps */
  uint32_t left;             /* scratch: the number of users that are not done */
} Memory;

typedef struct Region {      /* the list being reordered */
  Arena *arena;
  uint32_t n;
  Step *step;
  VEC(Memory) memory;
  Numbers order, fresh;      /* of a walk: the done steps; those whose surroundings are still to be examined */
  int64_t live, most, limit;
  uint32_t fullest;          /* the position of the step that has `most` */
} Region;

typedef struct Use {         /* of a buffer */
  uint32_t stamp;            /* the number of the list that the other fields refer to */
  int32_t writer;            /* the last step that writes it; -1: none */
  Numbers readers;           /* the steps that have read it since */
} Use;

typedef struct Order {
  TaskGraph *t;
  Arena *arena;              /* of the pass */
  uint32_t *as;              /* by buffer: the first of the buffers that share its lifetime, which represents them */
  int64_t *bytes;            /* by representative: the bytes of those in working memory, together */
  uint32_t *owner;           /* by representative: 1 + number of the innermost list with all uses; 0: no uses */
  Numbers parent, depth;     /* by list: the list around it; the number of lists around it */
  Use *use;
  uint32_t *counted;         /* by representative: its index in `memory`, valid if counted_in is the list */
  uint32_t *counted_in, *counted_by; /* by representative: the list and the step that counted it last */
  uint32_t lists;            /* the number of lists visited so far, in the order of owners_find */
  bool unknown;              /* some buffer's size is not known */
} Order;

/* ---- which list owns which buffer ----------------------------------------------------------------------- */

/* Visits the buffers that the task itself uses, but not those used in a repeat's list. */
static void own_uses(Order *o, Task *k, TaskUse *f, void *env) {
  task_uses(k, f, env);
  if (k->kind == TASK_DEFAULT) f(env, &o->t->inputs.at[k->argument].buffer, true);
}

static void all_uses(Order *o, Task *k, TaskUse *f, void *env) {
  own_uses(o, k, f, env);
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
  vec_each_of(const Task, k, *list) {
    if (k->kind == TASK_DEFAULT) unite(o, k->buffer, o->t->inputs.at[k->argument].buffer);
    for (uint32_t j = 0; j < k->exchange.len; j++) unite(o, k->exchange.at[j].now, k->exchange.at[j].next);
    unite_list(o, &k->body);
  }
}

/* The task whose uses these are, and the lists around it and in it. */
typedef struct Owned { Order *o; const Task *task; uint32_t around, inside; } Owned;

/* A stop is tested inside. */
static void use_owner(void *env, uint32_t *buffer, bool write) {
  const Owned *x = env;
  Order *o = x->o;
  uint32_t a = buffer == (const void *)&x->task->stop ? x->inside : x->around, *b = &o->owner[as(o, *buffer)];
  (void)write;
  if (!*b) *b = a + 1;
  uint32_t c = *b - 1;
  while (a != c) {
    if (o->depth.at[a] >= o->depth.at[c]) a = o->parent.at[a];
    else c = o->parent.at[c];
  }
  *b = c + 1;
}

/* Numbers lists in preorder, and finds the owner of each buffer. */
static void owners_find(Order *o, const Tasks *list, uint32_t parent, uint32_t depth) {
  uint32_t me = o->parent.len;
  vec_push(o->arena, o->parent, parent);
  vec_push(o->arena, o->depth, depth);
  vec_each_of(Task, k, *list) {
    Owned x = {o, k, me, o->parent.len};
    if (k->kind == TASK_REPEAT) owners_find(o, &k->body, me, depth + 1);
    own_uses(o, k, use_owner, &x);
  }
}

/* Returns -1 if a dimension is not a number, or the size would overflow. */
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

typedef struct At { Order *o; Region *r; uint32_t list, step; } At;

static void edge(Region *r, int32_t from, uint32_t to) {
  if (from < 0 || (uint32_t)from == to) return;
  vec_push(r->arena, r->step[from].after, to);
  vec_push(r->arena, r->step[to].before, (uint32_t)from);
}

/* Orders the step after the buffer's last writer and, if it writes the buffer, after all readers since. */
static void use_order(At *at, uint32_t buffer, bool write) {
  Use *u = &at->o->use[buffer];
  if (u->stamp != at->list) *u = (Use){.stamp = at->list, .writer = -1};
  edge(at->r, u->writer, at->step);
  for (uint32_t i = 0; write && i < u->readers.len; i++) edge(at->r, (int32_t)u->readers.at[i], at->step);
  if (write) u->readers.len = 0, u->writer = (int32_t)at->step;
  else if (!u->readers.len || vec_last(u->readers) != at->step) vec_push(at->r->arena, u->readers, at->step);
}

static void use_memory(At *at, uint32_t buffer) {
  Order *o = at->o;
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

static void use_note(void *env, uint32_t *buffer, bool write) {
  use_order(env, *buffer, write);
  use_memory(env, *buffer);
}

static bool may_fail(TaskGraph *t, const Task *k) {
  if (k->kind == TASK_ASSERT || k->kind == TASK_REPEAT) return true;
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (stage_may_fail(t, &k->stages.at[i])) return true;
  return false;
}

static Region *region_new(Order *o, Arena *a, const Tasks *list, uint32_t number, const int64_t *inner) {
  Region *r = MAKE(a, Region, .arena = a, .n = list->len);
  r->step = NEW_ARRAY(a, Step, r->n + 1);
  int32_t failing = -1;
  for (uint32_t i = 0; i < r->n; i++) {
    At at = {o, r, number, i};
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

/* Does a step: its buffers become alive, and those without users left are dead afterwards. Returns the bytes that are
 * alive during the step. */
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
  if (now > r->most) r->most = now, r->fullest = r->order.len;
  for (uint32_t j = 0; j < r->step[i].after.len; j++) r->step[r->step[i].after.at[j]].wants--;
  vec_push(r->arena, r->order, i);
  vec_push(r->arena, r->fresh, i);
}

/* Collects the step and its undone predecessors in a valid order. Returns false if there are too many. */
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

/* Does the step now, after its undone predecessors, if that reduces live memory. */
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

/* Tries the steps that may have become worth doing now that step i is done. */
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

/* Reverses time: swaps predecessors with successors, and reverses the order. */
static void reverse(Region *r, uint32_t *order) {
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

/* Walks forwards and backwards until neither lowers the peak. Leaves the best order in `order`; returns its peak. */
static int64_t order_find(Region *r, uint32_t *order) {
  walk(r, order, false);
  int64_t best = r->most;
  for (uint32_t round = 0, failed = 0; round < ROUNDS && (failed < 2 || round % 2); round++) {
    r->limit = best;
    walk(r, order, true);
    failed = r->most < best ? 0 : failed + 1;
    if (r->most < best) best = r->most, memcpy(order, r->order.at, r->n * sizeof *order);
    reverse(r, order); /* an even number of times in all */
  }
  return best;
}

/* ---- a task on its own --------------------------------------------------------------------------------------- */

static bool is_among(const Numbers *list, uint32_t step) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i] == step) return true;
  return false;
}

static void shift(uint32_t *order, uint32_t from, uint32_t to) {
  uint32_t step = order[from];
  for (; from > to; from--) order[from] = order[from - 1];
  for (; from < to; from++) order[from] = order[from + 1];
  order[to] = step;
}

/* Moves the step at `from` towards either end, past steps that it need not stay before or after, to where the peak is
 * lowest. Returns the peak. */
static int64_t step_shift(Region *r, uint32_t *order, uint32_t from, int64_t best) {
  uint32_t step = order[from], found = from;
  for (uint32_t later = 0; later < 2; later++) {
    const Numbers *bar = later ? &r->step[step].after : &r->step[step].before;
    uint32_t at = from;
    for (uint32_t n = 0; n < REACH && (later ? at + 1 < r->n : at > 0); n++) {
      uint32_t next = later ? at + 1 : at - 1;
      if (is_among(bar, order[next])) break;
      shift(order, at, next);
      at = next;
      walk(r, order, false);
      if (r->most < best) best = r->most, found = at;
    }
    shift(order, at, from);
  }
  shift(order, from, found);
  return best;
}

static int64_t peak_lower(Region *r, uint32_t *order, int64_t best) {
  for (uint32_t round = 0; round < SHIFTS; round++) {
    walk(r, order, false);
    int64_t now = step_shift(r, order, r->fullest, best);
    if (now == best) break;
    best = now;
  }
  return best;
}

/* About what a kernel takes for panels of a product. */
static int64_t panel_bytes(TaskGraph *t, const Task *k) {
  const TaskStage *s = k->kind == TASK_KERNEL ? &k->stages.at[0] : NULL;
  double bytes = s && !s->sum->domain ? task_rows_bytes(t, s) : 0;
  return bytes < (double)PANEL_MOST ? (int64_t)bytes : PANEL_MOST;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Reorders the list and those in it. Returns the peak of the buffers that they own. */
static int64_t list_order(Order *o, Tasks *list) {
  Arena *a = arena_new();
  uint32_t number = ++o->lists, *order = NEW_ARRAY(a, uint32_t, list->len + 1);
  int64_t *inner = NEW_ARRAY(a, int64_t, list->len + 1);
  for (uint32_t i = 0; i < list->len; i++) {
    order[i] = i;
    inner[i] = list->at[i]->kind == TASK_REPEAT ? list_order(o, &list->at[i]->body) : panel_bytes(o->t, list->at[i]);
  }
  Region *r = region_new(o, a, list, number, inner);
  walk(r, order, false);
  int64_t was = r->most, now = peak_lower(r, order, order_find(r, order));
  if (was - now >= LEAST && was - now >= was / LEAST_PART) {
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
