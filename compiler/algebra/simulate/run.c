/* algebra/simulate/run.c - advances time from event to event. All events of one time are handled before links are
 * shared anew. Simultaneous events come in order of creation, so every run is the same. */
#include <math.h>

#include "inside.h"

typedef enum { KERNEL_ENDS, BYTES_BEGIN, BYTES_END, TURNS_END } EventKind;
typedef struct Event { double time; uint64_t number; EventKind kind; uint32_t which, version; } Event;

typedef struct Going {       /* a group under way */
  uint32_t op, version;
  const Group *group;
  Trail from;                /* the last to arrive had waited for this */
  double left, rate, since;  /* share of its bytes; share per second, since then */
  bool stale, ended;
} Going;

typedef struct Queue {       /* of a site */
  uint32_t next;             /* in the list of kernels, the same for all */
  int32_t running;           /* op; -1 */
  Trail last;                /* that ran */
  uint32_t moves;            /* under way */
  double since;
} Queue;

typedef struct Line { VEC(uint32_t) going; } Line; /* of a link: its groups */

typedef struct Clock {
  Arena *arena;
  const Net *net;
  uint32_t n, sites, left;
  const SimOp *op;
  double now;
  uint64_t made;
  VEC(Event) heap;
  VEC(Going) going;
  VEC(uint32_t) stale;
  VEC(uint64_t) ready;       /* op * sites + site: all operands are there, but it has not been handled yet */
  uint32_t ready_done;
  uint32_t *waits;           /* by op and site: the number of missing operands */
  uint32_t *absent;          /* by op: the number of sites that a move still waits for */
  uint32_t *arrived;         /* by op: sites at a repeat */
  bool *there;               /* by op and site: it may run */
  uint32_t *user_at, *user;  /* by op */
  uint32_t n_queue, *list;   /* ops that run in queues */
  Queue *queue;
  Line *line;
  Ran *ran;
} Clock;

static uint64_t place_of(const Clock *c, uint32_t op, uint32_t site) { return (uint64_t)op * c->sites + site; }

/* ---- the heap ------------------------------------------------------------------------------------------------ */

static bool before(const Event *a, const Event *b) {
  return a->time < b->time || (!(b->time < a->time) && a->number < b->number);
}

static void event_add(Clock *c, double time, EventKind kind, uint32_t which, uint32_t version) {
  Event e = {time, c->made++, kind, which, version};
  vec_push(c->arena, c->heap, e);
  uint32_t i = c->heap.len - 1;
  for (; i > 0 && before(&e, &c->heap.at[(i - 1) / 2]); i = (i - 1) / 2) c->heap.at[i] = c->heap.at[(i - 1) / 2];
  c->heap.at[i] = e;
}

static Event event_take(Clock *c) {
  Event first = c->heap.at[0], e = vec_pop(c->heap);
  uint32_t i = 0, n = c->heap.len;
  for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
    if (k + 1 < n && before(&c->heap.at[k + 1], &c->heap.at[k])) k++;
    if (!before(&c->heap.at[k], &e)) break;
    c->heap.at[i] = c->heap.at[k];
  }
  if (n) c->heap.at[i] = e;
  return first;
}

/* ---- one operation ----------------------------------------------------------------------------------------------- */

/* Counts the time since the last change as waiting, if the site waited. */
static void site_tick(Clock *c, uint32_t site) {
  Queue *q = &c->queue[site];
  if (q->running < 0 && q->moves) c->ran->waiting[site] += c->now - q->since;
  q->since = c->now;
}

static void op_done(Clock *c, uint32_t op, uint32_t site) {
  c->ran->end[place_of(c, op, site)] = c->now;
  c->left--;
  for (uint32_t k = c->user_at[op]; k < c->user_at[op + 1]; k++) {
    uint64_t x = place_of(c, c->user[k], site);
    if (--c->waits[x]) continue;
    c->ran->from[x] = (Trail){(int32_t)op, (int32_t)site};
    vec_push(c->arena, c->ready, x);
  }
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

static bool takes_time(const SimOp *o, uint32_t site) {
  return o->cost->turns || (o->cost->seconds && o->cost->seconds[site] > 0);
}

static void turns_begin(Clock *c, uint32_t op, uint32_t last) {
  Trail from = c->ran->from[place_of(c, op, last)];
  for (uint32_t i = 0; i < c->sites; i++) c->ran->from[place_of(c, op, i)] = from;
  event_add(c, c->now + c->op[op].cost->turns->seconds, TURNS_END, op, 0);
}

/* Starts the next operation in the queue, if possible. */
static void queue_go(Clock *c, uint32_t site) {
  Queue *q = &c->queue[site];
  while (q->next < c->n_queue && !takes_time(&c->op[c->list[q->next]], site)) q->next++;
  if (q->running >= 0 || q->next == c->n_queue) return;
  uint32_t op = c->list[q->next];
  uint64_t x = place_of(c, op, site);
  if (!c->there[x]) return;
  Trail from = c->ran->from[x];
  double ready = from.op < 0 ? 0 : c->ran->end[place_of(c, (uint32_t)from.op, (uint32_t)from.site)];
  if (q->last.op >= 0 && ready < c->ran->end[place_of(c, (uint32_t)q->last.op, (uint32_t)q->last.site)])
    c->ran->from[x] = q->last;
  site_tick(c, site);
  q->running = (int32_t)op;
  q->next++;
  if (c->op[op].cost->turns) {
    if (++c->arrived[op] == c->sites) turns_begin(c, op, site);
    return;
  }
  c->ran->busy[site] += c->op[op].cost->seconds[site];
  event_add(c, c->now + c->op[op].cost->seconds[site], KERNEL_ENDS, site, 0);
}

static void queue_step(Clock *c, uint32_t site) {
  Queue *q = &c->queue[site];
  uint32_t op = (uint32_t)q->running;
  site_tick(c, site);
  q->running = -1;
  q->last = (Trail){(int32_t)op, (int32_t)site};
  op_done(c, op, site);
  queue_go(c, site);
}

static void turns_end(Clock *c, uint32_t op) {
  const SimTurns *s = c->op[op].cost->turns;
  for (uint32_t i = 0; i < c->sites; i++) {
    c->ran->busy[i] += s->busy[i];
    c->ran->waiting[i] += s->waiting[i];
    queue_step(c, i);
  }
  for (uint32_t i = 0; i < c->net->n_link; i++) c->ran->carried[i] += s->carried[i];
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void line_stale(Clock *c, const Line *l) {
  for (uint32_t k = 0; k < l->going.len; k++) {
    Going *g = &c->going.at[l->going.at[k]];
    if (g->stale) continue;
    g->stale = true;
    vec_push(c->arena, c->stale, l->going.at[k]);
  }
}

static void group_begin(Clock *c, uint32_t op, const Group *group, Trail from) {
  Going g = {.op = op, .group = group, .from = from, .left = 1};
  for (uint32_t k = 0; k < group->n_member; k++) {
    site_tick(c, group->member[k]);
    c->queue[group->member[k]].moves++;
  }
  vec_push(c->arena, c->going, g);
  event_add(c, c->now + group->latency, BYTES_BEGIN, c->going.len - 1, 0);
}

static void move_begin(Clock *c, uint32_t op, Trail from) {
  const Cost *cost = c->op[op].cost;
  for (uint32_t k = 0; k < cost->n_group; k++) group_begin(c, op, &cost->group[k], from);
}

static void bytes_begin(Clock *c, uint32_t which) {
  const Group *group = c->going.at[which].group;
  c->going.at[which].since = c->now;
  for (uint32_t k = 0; k < group->n_link; k++) {
    Line *l = &c->line[group->link[k]];
    vec_push(c->arena, l->going, which);
    line_stale(c, l);
    c->ran->carried[group->link[k]] += group->load[k];
  }
}

static void line_leave(Line *l, uint32_t which) {
  uint32_t k = 0;
  while (l->going.at[k] != which) k++;
  for (l->going.len--; k < l->going.len; k++) l->going.at[k] = l->going.at[k + 1];
}

static void bytes_end(Clock *c, uint32_t which) {
  const Going g = c->going.at[which];
  c->going.at[which].ended = true;
  for (uint32_t k = 0; k < g.group->n_link; k++) {
    Line *l = &c->line[g.group->link[k]];
    line_leave(l, which);
    line_stale(c, l);
  }
  for (uint32_t k = 0; k < g.group->n_member; k++) {
    uint32_t site = g.group->member[k];
    site_tick(c, site);
    c->queue[site].moves--;
    c->ran->from[place_of(c, g.op, site)] = g.from;
    op_done(c, g.op, site);
  }
}

/* Updates a group after links were shared anew. */
static void group_rate(Clock *c, uint32_t which) {
  Going *g = &c->going.at[which];
  double rate = INFINITY;
  g->stale = false;
  if (g->ended) return;
  for (uint32_t k = 0; k < g->group->n_link; k++) {
    uint32_t link = g->group->link[k];
    double share = c->net->rate[link] / (double)c->line[link].going.len / (g->group->longer * g->group->load[k]);
    rate = share < rate ? share : rate;
  }
  if (rate == g->rate) return;
  g->left -= (c->now - g->since) * g->rate;
  if (g->left < 0) g->left = 0;
  g->since = c->now;
  g->rate = rate;
  event_add(c, c->now + g->left / rate, BYTES_END, which, ++g->version);
}

/* ---- what is ready ----------------------------------------------------------------------------------------------- */

static void op_ready(Clock *c, uint64_t x) {
  uint32_t op = (uint32_t)(x / c->sites), site = (uint32_t)(x % c->sites);
  const SimOp *o = &c->op[op];
  int32_t in = o->cost->in ? o->cost->in[site] : -1;
  c->there[x] = true;
  if (in >= 0) {
    if (--c->absent[op] == 0) move_begin(c, op, c->ran->from[x]);
  } else if (takes_time(o, site)) queue_go(c, site);
  else op_done(c, op, site);
}

static void event_do(Clock *c, const Event *e) {
  if (e->kind == KERNEL_ENDS) queue_step(c, e->which);
  else if (e->kind == BYTES_BEGIN) bytes_begin(c, e->which);
  else if (e->kind == TURNS_END) turns_end(c, e->which);
  else if (!c->going.at[e->which].ended && e->version == c->going.at[e->which].version) bytes_end(c, e->which);
}

static void ready_do(Clock *c) {
  while (c->ready_done < c->ready.len) op_ready(c, c->ready.at[c->ready_done++]);
  c->ready.len = c->ready_done = 0;
}

static void clock_go(Clock *c) {
  ready_do(c);
  while (c->heap.len) {
    c->now = c->heap.at[0].time;
    while (c->heap.len && c->heap.at[0].time <= c->now) {
      Event e = event_take(c);
      event_do(c, &e);
      ready_do(c);
    }
    for (uint32_t k = 0; k < c->stale.len; k++) group_rate(c, c->stale.at[k]);
    c->stale.len = 0;
  }
  if (c->left) bug("a simulation came to a stop before its end");
}

/* ---- the start --------------------------------------------------------------------------------------------------- */

static void users_find(Clock *c) {
  uint32_t all = 0;
  c->user_at = NEW_ARRAY(c->arena, uint32_t, c->n + 2);
  for (uint32_t i = 0; i < c->n; i++) {
    all += c->op[i].n_of;
    for (uint32_t k = 0; k < c->op[i].n_of; k++) c->user_at[c->op[i].of[k] + 2]++;
  }
  c->user = NEW_ARRAY(c->arena, uint32_t, all + 1);
  for (uint32_t i = 1; i <= c->n; i++) c->user_at[i] += c->user_at[i - 1];
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = 0; k < c->op[i].n_of; k++) c->user[c->user_at[c->op[i].of[k] + 1]++] = i;
}

static void op_start(Clock *c, uint32_t i) {
  const SimOp *o = &c->op[i];
  if (o->cost->seconds || o->cost->turns) c->list[c->n_queue++] = i;
  for (uint32_t k = 0; k < o->cost->n_group; k++) c->absent[i] += o->cost->group[k].n_member;
  for (uint32_t s = 0; s < c->sites; s++) {
    uint64_t x = place_of(c, i, s);
    c->ran->from[x] = (Trail){-1, -1};
    c->waits[x] = o->n_of;
    if (!o->n_of) vec_push(c->arena, c->ready, x);
  }
}

Ran ops_run(Arena *a, const Net *net, uint32_t n, const SimOp *op) {
  Clock *c = NEW(a, Clock);
  size_t all = (size_t)n * net->sites;
  Ran ran = {NEW_ARRAY(a, double, all + 1), NEW_ARRAY(a, Trail, all + 1), NEW_ARRAY(a, double, net->sites),
      NEW_ARRAY(a, double, net->sites), NEW_ARRAY(a, double, net->n_link + 1)};
  *c = (Clock){
      .arena = arena_new(), .net = net, .n = n, .sites = net->sites, .left = (uint32_t)all, .op = op, .ran = &ran};
  c->waits = NEW_ARRAY(c->arena, uint32_t, all + 1);
  c->there = NEW_ARRAY(c->arena, bool, all + 1);
  c->absent = NEW_ARRAY(c->arena, uint32_t, n + 1);
  c->arrived = NEW_ARRAY(c->arena, uint32_t, n + 1);
  c->list = NEW_ARRAY(c->arena, uint32_t, n + 1);
  c->queue = NEW_ARRAY(c->arena, Queue, net->sites);
  c->line = NEW_ARRAY(c->arena, Line, net->n_link + 1);
  for (uint32_t i = 0; i < net->sites; i++) c->queue[i].running = -1, c->queue[i].last.op = -1;
  users_find(c);
  for (uint32_t i = 0; i < n; i++) op_start(c, i);
  clock_go(c);
  arena_free(c->arena);
  return ran;
}
