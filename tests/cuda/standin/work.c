/* tests/cuda/standin/work.c - the stand-in's streams: does what was asked for, when somebody waits for it; and the
 * memory of its devices. See work.h. */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "planted.h"

struct Driver driver;
__thread struct Mine mine;

/* Calls are serialised. */
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void all_begin(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&all, &a);
}
int all_lock(void) {
  pthread_once(&once, all_begin);
  return pthread_mutex_lock(&all);
}
void all_unlock(int *locked) {
  (void)locked;
  pthread_mutex_unlock(&all);
}

/* ---- the device's memory -------------------------------------------------------------------------- */

size_t in_pages(size_t n) { return (n + 4095) / 4096 * 4096; }

/* Nested calls leave it open. */
static void memory_open(int device, int open) {
  driver.open[device] += open ? 1 : -1;
  if (driver.open[device] != open) return;
  for (int k = 0; k < STANDIN_PIECES; k++) {
    StandinMemory *m = &driver.world.memory[k];
    if (m->data && m->device == device)
      mprotect(m->data, in_pages(m->bytes), open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

StandinMemory *memory_of(uint64_t at, size_t bytes) {
  const char *p = (const char *)(uintptr_t)at;
  for (int k = 0; k < STANDIN_PIECES; k++) {
    StandinMemory *m = &driver.world.memory[k];
    if (m->data && p >= m->data && p < m->data + m->bytes) return p + bytes <= m->data + m->bytes ? m : NULL;
  }
  return NULL;
}

/* ---- deferred work ------------------------------------------------------------ */

Later *later(int what, void *stream) {
  Later *x = calloc(1, sizeof *x);
  x->what = what;
  x->stream = stream;
  order_host_now(&x->known);
  *x->stream->last = x;
  x->stream->last = &x->next;
  return x;
}

void later_free(Later *x) {
  for (Later *k = x->nodes, *next; k; k = next) next = k->next, later_free(k);
  if (!x->shared) free(x->data);
  free(x->parameter), free(x);
}

static int stream_next(Stream *stream);

/* ---- its order: order.h ---- */

int stream_number(const Stream *s) {
  int k = 0;
  while (driver.stream[k] != s) k++;
  return k;
}

static void touches(uint64_t at, size_t bytes, int store) {
  StandinMemory *m = driver.events ? memory_of(at, bytes) : NULL;
  if (m) order_touch_device(driver.mark[m - driver.world.memory], m->data, (char *)(uintptr_t)at, bytes, store);
}

static void touches_host(const void *at, size_t bytes, int store) {
  if (driver.events) order_touch_host(at, bytes, store);
}

/* What the last kernel has read and stored. */
static void kernel_touches(int device) {
  for (int k = 0; k < STANDIN_PIECES && driver.events; k++) {
    const StandinMemory *m = &driver.world.memory[k];
    for (size_t at = 0, next; m->data && m->device == device && at < m->bytes; at = next) {
      int stored = 0, read = 0;
      for (next = at; next < at + ORDER_GRAIN && next < m->bytes; next++) {
        const StandinShadow *s = &m->shadow[next];
        if (s->epoch == driver.world.launch) stored |= s->stored != 0, read |= s->read != 0;
      }
      if (read) touches((uint64_t)(uintptr_t)m->data + at, next - at, 0);
      if (stored) touches((uint64_t)(uintptr_t)m->data + at, next - at, 1);
    }
  }
}

static void later_orders(const Later *x, int stream) {
  static const char *const what[] = {['k'] = "a kernel", ['u'] = "a copy to the device", ['d'] = "a copy to the host",
      ['a'] = "a copy on the device", ['c'] = "a library's work", ['z'] = "a fill", ['g'] = "a graph",
      ['e'] = "an event",
      ['w'] = "a wait", ['p'] = "an exchange of NCCL's", ['-'] = "nothing"};
  order_begin(stream, &x->known, what[x->what]);
}

/* A part of it, which may be a node of a graph. */
static void later_takes(const Later *x, int stream) {
  if (x->what == 'k' || x->what == 'c') order_takes(stream, ENGINE_KERNEL, 1);
  if (x->what == 'u') order_takes(stream, ENGINE_UP, (double)x->bytes);
  if (x->what == 'd') order_takes(stream, ENGINE_DOWN, (double)x->bytes);
  if (x->what == 'k') kernel_touches(x->stream->device);
  if (x->what == 'u' || x->what == 'a' || x->what == 'z') touches(x->at, x->bytes, 1);
  if (x->what == 'a') touches(x->from, x->bytes, 0);
  if (x->what == 'd') touches(x->at, x->bytes, 0), touches_host(x->host, x->bytes, 1);
  if (x->what == 'u') touches_host(x->host, x->bytes, 0);
}

static void later_do(Later *x, int stream) {
  switch (x->what) {
  case 'k': x->run(x->grid, x->block, x->bytes_shared, x->parameter); break;
  case 'u': memcpy((void *)(uintptr_t)x->at, x->host, x->bytes); break;
  case '-': break;
  case 'e':
    order_record(stream, &x->record->clock);
    x->record->done = 1;
    break;
  case 'w': /* it is done */
    order_wait(stream, &x->record->clock);
    break;
  case 'a': memcpy((void *)(uintptr_t)x->at, (void *)(uintptr_t)x->from, x->bytes); break;
  case 'c':
  case 'p': x->call(x->data); break;
  case 'g':
    for (Later *k = x->nodes; k; k = k->next) later_do(k, stream);
    break;
  case 'd': memcpy(x->host, (void *)(uintptr_t)x->at, x->bytes); break;
  default: memset((void *)(uintptr_t)x->at, x->byte, x->bytes); break;
  }
  later_takes(x, stream);
}

int stream_done(Stream *stream) {
  while (!stream->capture && stream->first && stream_next(stream)) {}
  return driver.dead ? driver.dead : stream->first && !stream->capture ? NOT_READY : OK;
}

/* Does the next work. Returns 0 if it has to wait for what the stand-in for NCCL awaits from other devices. */
static int stream_next(Stream *stream) {
  Later *x = stream->first;
  if (!x) abort(); /* it waits for an event that is never recorded */
  while (x->what == 'w' && !x->record->done)
    if (!stream_next(x->record->stream)) return 0;
  memory_open(stream->device, 1);
  int number = stream_number(stream), ready = driver.dead || x->what != 'p' || x->ready(x->data);
  if (ready) {
    stream->first = x->next;
    if (!x->next) stream->last = &stream->first;
    if (!driver.dead && x->what == 'k' && x->run == NULL) driver.dead = ILLEGAL;
    if (!driver.dead && x->what == 'g' && x->nodes == NULL) driver.dead = ILLEGAL;
    later_orders(x, number);
    if (!driver.dead || x->what == 'e') later_do(x, number);
    later_free(x);
  }
  memory_open(stream->device, 0);
  return ready;
}

Stream **stream_find(const void *stream) {
  for (int k = 0; k < ORDER_STREAMS; k++)
    if (stream && driver.stream[k] == stream) return &driver.stream[k];
  return NULL;
}

int spoils(const void *stream) {
  int is = 0;
  for (int k = 0; k < ORDER_STREAMS; k++) {
    Stream *s = driver.stream[k];
    if (!s || !s->capture) continue;
    if (stream ? s == stream : s->mode == 0 || (s->mode == 1 && pthread_equal(s->thread, pthread_self())))
      s->spoiled = is = 1;
  }
  return is;
}

int is_here(const void *stream) {
  Stream **x = stream_find(stream);
  return x && (*x)->device == mine.current[mine.depth - 1];
}

void all_done(void) {
  for (int k = 0; k < ORDER_STREAMS; k++)
    if (driver.stream[k]) stream_done(driver.stream[k]);
}

int asked(Stream *stream) {
  if (injected("early") && stream != driver.stream[0]) stream_done(stream);
  return driver.dead ? driver.dead : OK;
}

void parameters_set(Later *x, void **parameter) {
  size_t n = (size_t)x->parameters, size = (size_t)x->size;
  if (!x->data) x->data = calloc(n + 1, size + 8);
  if (!x->parameter) x->parameter = calloc(n + 1, sizeof(void *));
  for (size_t k = 0; k < n; k++) {
    x->parameter[k] = x->data + k * size;
    memcpy(x->parameter[k], parameter[k], k + 1 == n ? size : 8);
  }
}

/* ---- for the look-alikes of cuBLAS and NCCL ----------------------------------------------------------- */

StandinLater standin_later;
StandinWhen standin_when;
StandinDevice standin_device;
StandinHolds standin_holds;
StandinPlanted standin_planted;
StandinTouches standin_touches;
StandinAsked standin_asked;

int standin_later(void *stream, void (*call)(void *data), void *data) {
  ALONE;
  if (driver.dead || mine.depth < 1 || !is_here(stream)) return INVALID;
  Later *x = later('c', stream);
  x->call = call, x->data = data;
  mine.kernels++;
  return OK;
}

int standin_when(void *stream, int (*ready)(void *data), void (*call)(void *data), void *data) {
  ALONE;
  if (driver.dead || mine.depth < 1 || !is_here(stream) || ((Stream *)stream)->capture) return INVALID;
  Later *x = later('p', stream);
  x->ready = ready, x->call = call, x->data = data;
  return OK;
}

/* Of the work that is being done now. */
void standin_touches(const void *at, size_t bytes, int store) { touches((uint64_t)(uintptr_t)at, bytes, store); }

int standin_device(void) { return mine.depth < 1 ? -1 : mine.current[mine.depth - 1]; }

int standin_holds(const void *at, size_t bytes) {
  ALONE;
  StandinMemory *m = memory_of((uint64_t)(uintptr_t)at, bytes);
  return m && mine.depth > 0 && m->device == mine.current[mine.depth - 1];
}

/* What this thread has asked for so far: kernels, one by one, as graphs or by a library; copies over the bus. */
void standin_asked(int n[2]) { n[0] = mine.kernels, n[1] = mine.copies; }

int standin_planted(const char *word, int n) {
  ALONE;
  return is_nth(word, n);
}
