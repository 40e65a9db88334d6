/* tests/cuda/standin/order.c - the order of work in streams, and its simulated time; see order.h. */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* When an engine is busy, in order of time. */
typedef struct EngineUse { double from, to; } EngineUse;
typedef struct EngineUses { EngineUse *at; size_t n, room; } EngineUses;

typedef struct HostRange { const char *at; size_t bytes; OrderMark mark; } HostRange;

static struct {
  OrderClock stream[ORDER_STREAMS], host;
  double rate[ENGINES], busy[ENGINES];
  EngineUses uses[ENGINES];
  int timed, now;            /* now: the stream whose work is being done */
  const char *what;          /* that work */
  HostRange *range;
  size_t n, room;
} my;

static void merge(OrderClock *to, const OrderClock *from) {
  for (int k = 0; k < ORDER_STREAMS; k++)
    if (from->of[k] > to->of[k]) to->of[k] = from->of[k];
  if (from->time > to->time) to->time = from->time;
}

void order_rates(double kernel, double bus) {
  my.timed = 1;
  my.rate[ENGINE_KERNEL] = 1 / kernel, my.rate[ENGINE_UP] = my.rate[ENGINE_DOWN] = bus;
}

void order_begin(int stream, const OrderClock *after, const char *what) {
  my.now = stream, my.what = what;
  merge(&my.stream[stream], after);
  my.stream[stream].of[stream]++;
}

/* The engine does first what is ready first, in whatever order the stand-in comes to it: in the first gap that is long
 * enough. Returns when it begins. */
static double engine_take(EngineUses *u, double ready, double takes) {
  size_t k = u->n;
  while (k > 0 && u->at[k - 1].to > ready) k--;
  for (; k < u->n && u->at[k].from < ready + takes; k++)
    if (u->at[k].to > ready) ready = u->at[k].to;
  if (u->n == u->room) u->at = realloc(u->at, (u->room = 2 * u->room + 64) * sizeof *u->at);
  memmove(u->at + k + 1, u->at + k, (u->n++ - k) * sizeof *u->at);
  u->at[k] = (EngineUse){ready, ready + takes};
  return ready;
}

void order_takes(int stream, OrderEngine engine, double amount) {
  OrderClock *c = &my.stream[stream];
  if (!my.timed || engine == ENGINE_NONE) return;
  double takes = amount / my.rate[engine];
  my.busy[engine] += takes;
  c->time = engine_take(&my.uses[engine], c->time, takes) + takes;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void unordered(const char *what, const char *where, const void *at, int other) {
  fprintf(stderr, "stand-in: %s of stream %d is not ordered after %s of stream %d, at %s %p\n", my.what, my.now, what,
      other, where, at);
  fflush(stderr);
  _exit(98);
}

static void touch(OrderMark *m, int store, const char *where, const void *at) {
  const OrderClock *c = &my.stream[my.now];
  if (m->stored > c->of[m->stream]) unordered("a store", where, at, (int)m->stream);
  if (!m->read) m->read = calloc(ORDER_STREAMS, sizeof *m->read);
  for (int k = 0; store && k < ORDER_STREAMS; k++)
    if (m->read[k] > c->of[k]) unordered("a read", where, at, k);
  if (store) m->stored = c->of[my.now], m->stream = (uint32_t)my.now;
  else m->read[my.now] = c->of[my.now];
}

void order_touch_device(OrderMark *mark, const char *base, const char *at, size_t bytes, int store) {
  size_t first = (size_t)(at - base);
  for (size_t k = first / ORDER_GRAIN; bytes && k <= (first + bytes - 1) / ORDER_GRAIN; k++)
    touch(&mark[k], store, "the device's", base + k * ORDER_GRAIN);
}

static int overlaps(const HostRange *r, const char *at, size_t bytes) {
  return r->at < at + bytes && at < r->at + r->bytes;
}

void order_touch_host(const char *at, size_t bytes, int store) {
  HostRange *own = NULL;
  for (size_t k = 0; k < my.n; k++) {
    if (!overlaps(&my.range[k], at, bytes)) continue;
    touch(&my.range[k].mark, store, "the host's", at);
    if (my.range[k].at == at && my.range[k].bytes == bytes) own = &my.range[k];
  }
  if (own || !bytes) return;
  if (my.n == my.room) my.range = realloc(my.range, (my.room = 2 * my.room + 64) * sizeof *my.range);
  my.range[my.n] = (HostRange){at, bytes, {0, 0, NULL}};
  touch(&my.range[my.n++].mark, store, "the host's", at);
}

int order_host_idle(const char *at, size_t bytes) {
  for (size_t k = 0; k < my.n; k++) {
    const OrderMark *m = &my.range[k].mark;
    if (!overlaps(&my.range[k], at, bytes)) continue;
    if (m->stored > my.host.of[m->stream]) return 0;
    for (int s = 0; m->read && s < ORDER_STREAMS; s++)
      if (m->read[s] > my.host.of[s]) return 0;
  }
  return 1;
}

/* ---- events and the host -------------------------------------------------------------------------------- */

void order_record(int stream, OrderClock *out) { *out = my.stream[stream]; }
void order_wait(int stream, const OrderClock *event) { merge(&my.stream[stream], event); }
void order_host_now(OrderClock *out) { *out = my.host; }
void order_host_learns(const OrderClock *event) { merge(&my.host, event); }
void order_host_waits(int stream) { merge(&my.host, &my.stream[stream]); }

void order_report(char *out, size_t room) {
  double all = my.host.time;
  *out = 0;
  if (!my.timed) return;
  snprintf(out, room, "clock: %.0f us; kernels %.0f, up %.0f, down %.0f\n", all, my.busy[ENGINE_KERNEL],
      my.busy[ENGINE_UP], my.busy[ENGINE_DOWN]);
}
