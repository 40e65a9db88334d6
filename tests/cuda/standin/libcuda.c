/* tests/cuda/standin/libcuda.c - a stand-in for the CUDA driver on machines without a device. It loads what the
 * stand-in for NVRTC compiled, and runs kernels with the emulation's fibers. It is stricter than a driver: work in a
 * stream is done only when somebody waits for it, and host memory is read only then; the host cannot access device
 * memory at any other time; and host pointers are not valid on the device.
 *
 * A stream that is being captured executes nothing: requests become nodes of a graph, with their present parameters.
 * Waiting for the stream, copying from or to the host, and, in its thread, allocating memory and loading kernels are
 * errors that invalidate the capture.
 *
 * $EIN_STANDIN, words separated by commas, injects failures: no-device, old (an old driver), begin=N (cuInit returns
 * N); alloc=N, launch=N, load=N, capture=N, graph=N, graph-set=N (the N-th call fails, counted since the variable
 * changed); graph-launch=N (a kernel of the N-th graph launch fails), graph-full=N (no memory for it); lose=N (the N-th
 * copy to the device is left out); no-wait=N (a stream does not wait for the N-th event). early: work in any stream but
 * the first is done at once, as far as it need not wait for another stream. Whatever is done when, work that events do
 * not order is an error (order.h). clock=KERNEL:BUS: a kernel takes so many microseconds, and the bus so many bytes in
 * one, in each direction; the report has a line with the time of it all. It also sets the devices: memory=BYTES;
 * capability=75: compute capability 7.5 instead of 9.0; shared=BYTES: the shared memory that a block may ask for;
 * devices=N: 1 to 4 devices, which cannot access each other's memory. $EIN_STANDIN_REPORT: a file to which a line is
 * appended at exit, about what was done and what was not released. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"
#include "planted.h"
#include "work.h"

enum { KERNELS = 256 };
enum { NOT_CAPTURED = 900, VOID = 901 }; /* errors of captures */
enum {
  OK,
  INVALID = 1,
  NO_MEMORY = 2,
  NO_DEVICE = 100,
  BAD_CONTEXT = 201,
  NO_IMAGE = 209,
  BAD_HANDLE = 400,
  PTX_VERSION = 222,
  NOT_FOUND = 500,
  ILLEGAL = 700
};

static struct {
  StandinWorld world;
  Device device[DEVICES];
  Stream *stream[ORDER_STREAMS];
  OrderMark *mark[STANDIN_PIECES]; /* of each piece of the device's memory */
  int dead, streams, modules, events, live, waits, open[DEVICES];
  const char *locked[256];   /* the host's memory that is locked, which it was not from the beginning */
  uint64_t up, down;
  struct { const void *kernel; int bytes; } allowed[KERNELS]; /* the shared memory that they may ask for */
} my;
/* This thread's stack of current contexts, as devices; what it has asked for. */
static __thread struct { int current[64], depth, kernels, copies; } mine;

/* Calls are serialised. */
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void all_begin(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&all, &a);
}
static int all_lock(void) {
  pthread_once(&once, all_begin);
  return pthread_mutex_lock(&all);
}
static void all_unlock(int *locked) {
  (void)locked;
  pthread_mutex_unlock(&all);
}
#define ALONE __attribute__((cleanup(all_unlock), unused)) int alone = all_lock()

/* ---- the report ------------------------------------------------------------------------------------ */

static int retained(void) {
  int n = 0;
  for (int k = 0; k < DEVICES; k++) n += my.device[k].retained;
  return n;
}

static void report(void) __attribute__((destructor));
static void report(void) {
  const char *path = getenv("EIN_STANDIN_REPORT");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  const int *n = counts;
  char clock[200];
  order_report(clock, sizeof clock);
  fprintf(f,
      "%sleft: %d pieces of memory, %d modules, %d streams, %d contexts; done: %d allocations, %d launches, %d loads; "
      "graphs: %d made, %d launched, "
      "%d kernels told; %d waits; %llu bytes up, %llu down; %d events, %d waits for them\n",
      clock, my.live, my.modules, my.streams, retained(), n[ALLOCATIONS], n[LAUNCHES], n[LOADS], n[INSTANCES],
      n[GRAPH_LAUNCHES], n[GRAPH_SETS], my.waits, (unsigned long long)my.up, (unsigned long long)my.down, my.events,
      n[WANTED]);
  fclose(f);
}

/* ---- the device's memory -------------------------------------------------------------------------- */

static size_t in_pages(size_t n) { return (n + 4095) / 4096 * 4096; }

/* Nested calls leave it open. */
static void memory_open(int device, int open) {
  my.open[device] += open ? 1 : -1;
  if (my.open[device] != open) return;
  for (int k = 0; k < STANDIN_PIECES; k++) {
    StandinMemory *m = &my.world.memory[k];
    if (m->data && m->device == device)
      mprotect(m->data, in_pages(m->bytes), open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

static StandinMemory *memory_of(uint64_t at, size_t bytes) {
  const char *p = (const char *)(uintptr_t)at;
  for (int k = 0; k < STANDIN_PIECES; k++) {
    StandinMemory *m = &my.world.memory[k];
    if (m->data && p >= m->data && p < m->data + m->bytes) return p + bytes <= m->data + m->bytes ? m : NULL;
  }
  return NULL;
}

/* ---- deferred work ------------------------------------------------------------ */

static Later *later(int what, void *stream) {
  Later *x = calloc(1, sizeof *x);
  x->what = what;
  x->stream = stream;
  order_host_now(&x->known);
  *x->stream->last = x;
  x->stream->last = &x->next;
  return x;
}

static void later_free(Later *x) {
  for (Later *k = x->nodes, *next; k; k = next) next = k->next, later_free(k);
  if (!x->shared) free(x->data);
  free(x->parameter), free(x);
}

static int stream_done(Stream *stream);
static void stream_next(Stream *stream);

/* ---- its order: order.h ---- */

static int stream_number(const Stream *s) {
  int k = 0;
  while (my.stream[k] != s) k++;
  return k;
}

static void touches(uint64_t at, size_t bytes, int store) {
  StandinMemory *m = my.events ? memory_of(at, bytes) : NULL;
  if (m) order_touch_device(my.mark[m - my.world.memory], m->data, (char *)(uintptr_t)at, bytes, store);
}

static void touches_host(const void *at, size_t bytes, int store) {
  if (my.events) order_touch_host(at, bytes, store);
}

/* What the last kernel has read and stored. */
static void kernel_touches(int device) {
  for (int k = 0; k < STANDIN_PIECES && my.events; k++) {
    const StandinMemory *m = &my.world.memory[k];
    for (size_t at = 0, next; m->data && m->device == device && at < m->bytes; at = next) {
      int stored = 0, read = 0;
      for (next = at; next < at + ORDER_GRAIN && next < m->bytes; next++) {
        const StandinShadow *s = &m->shadow[next];
        if (s->epoch == my.world.launch) stored |= s->stored != 0, read |= s->read != 0;
      }
      if (read) touches((uint64_t)(uintptr_t)m->data + at, next - at, 0);
      if (stored) touches((uint64_t)(uintptr_t)m->data + at, next - at, 1);
    }
  }
}

static void later_orders(const Later *x, int stream) {
  static const char *const what[] = {['k'] = "a kernel", ['u'] = "a copy to the device", ['d'] = "a copy to the host",
      ['a'] = "a copy on the device", ['c'] = "a library's work", ['z'] = "a fill", ['g'] = "a graph", ['e'] = "an event",
      ['w'] = "a wait", ['-'] = "nothing"};
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
  case 'c': x->call(x->data); break;
  case 'g':
    for (Later *k = x->nodes; k; k = k->next) later_do(k, stream);
    break;
  case 'd': memcpy(x->host, (void *)(uintptr_t)x->at, x->bytes); break;
  default: memset((void *)(uintptr_t)x->at, x->byte, x->bytes); break;
  }
  later_takes(x, stream);
}

static int stream_done(Stream *stream) {
  if (stream->capture) return my.dead;
  while (stream->first) stream_next(stream);
  return my.dead;
}

static void stream_next(Stream *stream) {
  Later *x = stream->first;
  if (!x) abort(); /* it waits for an event that is never recorded */
  stream->first = x->next;
  if (!x->next) stream->last = &stream->first;
  memory_open(stream->device, 1);
  if (!my.dead && x->what == 'k' && x->run == NULL) my.dead = ILLEGAL;
  if (!my.dead && x->what == 'g' && x->nodes == NULL) my.dead = ILLEGAL;
  int number = stream_number(stream);
  while (x->what == 'w' && !x->record->done) stream_next(x->record->stream);
  later_orders(x, number);
  if (!my.dead || x->what == 'e') later_do(x, number);
  later_free(x);
  memory_open(stream->device, 0);
}

static Stream **stream_find(const void *stream) {
  for (int k = 0; k < ORDER_STREAMS; k++)
    if (stream && my.stream[k] == stream) return &my.stream[k];
  return NULL;
}

/* Invalidates captures by a call that no capture allows: in this stream or, if NULL, those that this thread's calls
 * affect. Returns whether there was one. */
static int spoils(const void *stream) {
  int is = 0;
  for (int k = 0; k < ORDER_STREAMS; k++) {
    Stream *s = my.stream[k];
    if (!s || !s->capture) continue;
    if (stream ? s == stream : s->mode == 0 || (s->mode == 1 && pthread_equal(s->thread, pthread_self())))
      s->spoiled = is = 1;
  }
  return is;
}

/* Whether the stream belongs to the current context. */
static int is_here(const void *stream) {
  Stream **x = stream_find(stream);
  return x && (*x)->device == mine.current[mine.depth - 1];
}

static void all_done(void) {
  for (int k = 0; k < ORDER_STREAMS; k++)
    if (my.stream[k]) stream_done(my.stream[k]);
}

/* After a request to a stream. */
static int asked(Stream *stream) {
  if (injected("early") && stream != my.stream[0]) stream_done(stream);
  return my.dead ? my.dead : OK;
}

/* ---- for the look-alike of cuBLAS ------------------------------------------------------------------- */

StandinLater standin_later;
StandinHolds standin_holds;
StandinPlanted standin_planted;
StandinTouches standin_touches;
StandinAsked standin_asked;

int standin_later(void *stream, void (*call)(void *data), void *data) {
  ALONE;
  if (my.dead || mine.depth < 1 || !is_here(stream)) return INVALID;
  Later *x = later('c', stream);
  x->call = call, x->data = data;
  mine.kernels++;
  return OK;
}

/* Of the work that is being done now. */
void standin_touches(const void *at, size_t bytes, int store) { touches((uint64_t)(uintptr_t)at, bytes, store); }

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

/* ---- the driver's functions ------------------------------------------------------------------------ */

#define HERE                                   \
  ALONE;                                       \
  if (my.dead) return my.dead;                 \
  if (mine.depth < 1) return BAD_CONTEXT
/* For calls that no capture allows: in that stream; NULL: in this thread. */
#define NOT_IN_CAPTURE(stream) \
  if (spoils(stream)) return NOT_CAPTURED

int cuInit(unsigned flags) {
  const char *begin = injected("begin="), *clock = injected("clock="), *bus = clock ? strchr(clock, ':') : NULL;
  if (bus) order_rates(atof(clock), atof(bus + 1));
  return flags ? INVALID : begin ? atoi(begin) : injected("no-device") ? NO_DEVICE : OK;
}
int cuDriverGetVersion(int *version) { return *version = 13000, OK; }
static int devices(void) {
  const char *said = injected("devices=");
  return said ? atoi(said) : 1;
}
int cuDeviceGetCount(int *n) { return *n = devices(), OK; }
int cuDeviceGet(int *device, int number) { return *device = number, number < devices() ? OK : INVALID; }
int cuDeviceGetName(char *name, int size, int device) {
  return snprintf(name, (size_t)size, "stand-in %d", device), OK;
}
static int capability(void) {
  const char *said = injected("capability=");
  return said ? atoi(said) : 90;
}
/* The most shared memory of a block that kernels may ask for. */
static int shared_most(void) {
  const char *said = injected("shared=");
  int n = capability();
  return said ? atoi(said) : n >= 90 ? 232448 : n >= 80 ? 166912 : n >= 75 ? 65536 : 49152;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 97 ? shared_most() : attribute == 75 ? capability() / 10 : capability() % 10;
  return device < devices() ? OK : INVALID;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ALONE;
  if (device < 0 || device >= devices()) return INVALID;
  my.device[device].retained++;
  return *context = &my.device[device], OK;
}
/* A lost context releases everything. */
int cuDevicePrimaryCtxRelease_v2(int device) {
  ALONE;
  if (device < 0 || device >= DEVICES || my.device[device].retained < 1) return INVALID;
  my.device[device].retained--;
  if (retained() == 0 && my.dead) my.live = my.modules = my.streams = 0;
  return OK;
}
int cuCtxPushCurrent_v2(void *context) {
  ALONE;
  for (int k = 0; k < DEVICES; k++)
    if (context == &my.device[k] && my.device[k].retained && mine.depth < 64) return mine.current[mine.depth++] = k, OK;
  return INVALID;
}
int cuCtxPopCurrent_v2(void **context) {
  return mine.depth < 1 ? BAD_CONTEXT : (mine.depth--, *context = &my.device[mine.current[mine.depth]], OK);
}

static int arch_fits(const char *arch) {
  int machine = strncmp(arch, "sm_", 3) == 0, n = atoi(arch + (machine ? 3 : 8));
  return n <= capability() && (!machine || n / 10 == capability() / 10);
}

int cuModuleLoadData(void **module, const void *image) {
  const StandinImage *head = image;
  char path[64];
  HERE;
  NOT_IN_CAPTURE(NULL);
  counted(LOADS);
  if (injected("old")) return PTX_VERSION;
  if (is_due("load=", LOADS)) return NO_MEMORY;
  if (memcmp(head->mark, STANDIN_MARK, sizeof head->mark) != 0) return 200;
  if (!arch_fits(head->arch)) return NO_IMAGE;
  int fd = memfd_create("kernels", MFD_CLOEXEC);
  if (fd < 0 || write(fd, head + 1, head->bytes) != (ssize_t)head->bytes) return NO_MEMORY;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fd stays open: the loader identifies objects by name */
  *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  StandinEnter *enter = NULL;
  void *at = *module ? dlsym(*module, "standin_enter") : NULL;
  memcpy(&enter, &at, sizeof at);
  if (!enter) return fprintf(stderr, "stand-in: %s\n", dlerror()), 200;
  enter(&my.world);
  my.modules++;
  return OK;
}

int cuModuleUnload(void *module) {
  HERE;
  if (!--my.modules) memset(my.allowed, 0, sizeof my.allowed);
  return dlclose(module) ? INVALID : OK;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  char launch[512];
  HERE;
  snprintf(launch, sizeof launch, "standin_launch_%s", name);
  return (*function = dlsym(module, launch)) ? OK : NOT_FOUND;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  HERE;
  if (attribute != 8 || value < 0 || value > shared_most()) return INVALID;
  int k = 0;
  while (k < KERNELS && my.allowed[k].kernel && my.allowed[k].kernel != function) k++;
  if (k == KERNELS) return INVALID;
  my.allowed[k].kernel = function, my.allowed[k].bytes = value;
  return OK;
}

static int may_share(const void *function, unsigned bytes) {
  for (int k = 0; k < KERNELS && my.allowed[k].kernel; k++)
    if (my.allowed[k].kernel == function) return bytes <= (unsigned)my.allowed[k].bytes;
  return bytes <= 49152;
}

int cuMemGetInfo_v2(size_t *left, size_t *all) {
  const char *memory = injected("memory=");
  size_t taken = 0;
  HERE;
  for (int k = 0; k < STANDIN_PIECES; k++)
    if (my.world.memory[k].device == mine.current[mine.depth - 1]) taken += my.world.memory[k].bytes;
  *all = memory ? strtoull(memory, NULL, 10) : (size_t)1 << 30;
  return *left = *all > taken ? *all - taken : 0, OK;
}

int cuMemAlloc_v2(uint64_t *at, size_t bytes) {
  size_t left, all;
  int k = 0;
  HERE;
  NOT_IN_CAPTURE(NULL);
  if (!bytes) return INVALID;
  counted(ALLOCATIONS);
  if (is_due("alloc=", ALLOCATIONS)) return NO_MEMORY;
  cuMemGetInfo_v2(&left, &all);
  while (k < STANDIN_PIECES && my.world.memory[k].data) k++;
  if (k == STANDIN_PIECES || bytes > left) return NO_MEMORY;
  char *data = mmap(NULL, in_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return NO_MEMORY;
  memset(data, 0xA5, bytes);
  mprotect(data, in_pages(bytes), PROT_NONE);
  my.mark[k] = calloc(bytes / ORDER_GRAIN + 2, sizeof *my.mark[k]);
  my.world.memory[k] = (StandinMemory){data, bytes, calloc(bytes, sizeof(StandinShadow)), mine.current[mine.depth - 1]};
  *at = (uint64_t)(uintptr_t)data;
  my.live++;
  return OK;
}

int cuMemFree_v2(uint64_t at) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  all_done();
  StandinMemory *m = memory_of(at, 0);
  if (!m || m->data != (char *)(uintptr_t)at) return INVALID;
  munmap(m->data, in_pages(m->bytes));
  free(m->shadow);
  OrderMark **mark = &my.mark[m - my.world.memory];
  for (size_t k = 0; k <= m->bytes / ORDER_GRAIN; k++) free((*mark)[k].read);
  free(*mark), *mark = NULL;
  *m = (StandinMemory){0};
  my.live--;
  return OK;
}

int cuMemAllocHost_v2(void **at, size_t bytes) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  counted(ALLOCATIONS);
  if (is_due("alloc=", ALLOCATIONS)) return NO_MEMORY;
  *at = malloc(bytes);
  my.live += *at != NULL;
  return *at ? OK : NO_MEMORY;
}

static int host_locked(const void *at) {
  for (int k = 0; k < 256; k++)
    if (my.locked[k] == at) return k;
  return -1;
}

int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  if (!at || !bytes || flags || memory_of((uint64_t)(uintptr_t)at, 1)) return INVALID;
  int k = host_locked(NULL);
  if (host_locked(at) >= 0) return 712;
  if (k < 0) return NO_MEMORY;
  my.locked[k] = at;
  my.live++;
  return OK;
}

int cuMemHostUnregister(void *at) {
  HERE;
  int k = host_locked(at);
  if (!at || k < 0) return 713;
  all_done();
  if (!order_host_idle(at, 1)) return fprintf(stderr, "stand-in: memory is unlocked that may be in use\n"), INVALID;
  my.locked[k] = NULL;
  my.live--;
  return OK;
}

/* Completes all streams' work first, which may use the memory. */
int cuMemFreeHost(void *at) {
  HERE;
  all_done();
  free(at);
  my.live--;
  return OK;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  HERE;
  if (!is_here(stream) || !memory_of(to, bytes) || memory_of((uint64_t)(uintptr_t)from, 1)) return INVALID;
  NOT_IN_CAPTURE(stream);
  counted(COPIES), mine.copies++, my.up += bytes;
  Later *x = later(is_due("lose=", COPIES) ? '-' : 'u', stream);
  x->at = to, x->bytes = bytes, x->host = (void *)(uintptr_t)from;
  return asked(stream);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  HERE;
  if (!is_here(stream) || !memory_of(from, bytes) || memory_of((uint64_t)(uintptr_t)to, 1)) return INVALID;
  NOT_IN_CAPTURE(stream);
  Later *x = later('d', stream);
  x->at = from, x->bytes = bytes, x->host = to;
  mine.copies++, my.down += bytes;
  return asked(stream);
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  HERE;
  if (!is_here(stream) || !memory_of(to, bytes) || !memory_of(from, bytes)) return INVALID;
  Later *x = later('a', stream);
  x->at = to, x->from = from, x->bytes = bytes;
  return asked(stream);
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *stream) {
  HERE;
  if (!is_here(stream) || !memory_of(to, bytes)) return INVALID;
  Later *x = later('z', stream);
  x->at = to, x->bytes = bytes, x->byte = byte;
  return OK;
}

int cuStreamCreate(void **stream, unsigned flags) {
  HERE;
  int k = 0;
  while (k < ORDER_STREAMS && my.stream[k]) k++;
  if (flags > 1 || k == ORDER_STREAMS) return INVALID;
  my.streams++;
  Stream *x = my.stream[k] = calloc(1, sizeof *x);
  x->device = mine.current[mine.depth - 1];
  x->last = &x->first;
  return *stream = x, OK;
}

int cuStreamDestroy_v2(void *stream) {
  HERE;
  Stream **x = stream_find(stream);
  if (!x || (*x)->capture) return INVALID;
  stream_done(*x);
  free(*x);
  *x = NULL;
  my.streams--;
  return OK;
}

int cuEventCreate(void **event, unsigned flags) {
  HERE;
  if (flags & ~2u) return INVALID;
  my.events++, my.live++;
  return *event = calloc(1, sizeof(Event)), OK;
}

int cuEventDestroy_v2(void *event) {
  HERE;
  all_done();
  my.live--;
  return free(event), OK;
}

int cuEventRecord(void *event, void *stream) {
  HERE;
  Event *e = event;
  if (!is_here(stream) || ((Stream *)stream)->capture) return INVALID;
  Later *x = later('e', stream);
  x->record = e->last = calloc(1, sizeof *x->record);
  e->last->stream = stream;
  return asked(stream);
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  HERE;
  Event *e = event;
  if (!is_here(stream) || ((Stream *)stream)->capture || flags) return INVALID;
  counted(WANTED);
  if (!e->last || is_due("no-wait=", WANTED)) return OK;
  Later *x = later('w', stream);
  x->record = e->last;
  return asked(stream);
}

int cuStreamSynchronize(void *stream) {
  HERE;
  Stream **x = stream_find(stream);
  if (!x) return INVALID;
  NOT_IN_CAPTURE(stream);
  my.waits++;
  int e = stream_done(*x);
  order_host_waits(stream_number(*x));
  return e;
}

int cuStreamGetCtx(void *stream, void **context) {
  HERE;
  Stream **x = stream_find(stream);
  return x ? (*context = &my.device[(*x)->device], OK) : BAD_HANDLE;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t at) {
  ALONE;
  if (my.dead) return my.dead;
  StandinMemory *m = memory_of(at, 1);
  if (!m) return INVALID;
  switch (attribute) {
  case 2: *(unsigned *)value = 2; return OK;
  case 8: *(unsigned *)value = 0; return OK;
  case 9: *(int *)value = m->device; return OK;
  default: return INVALID;
  }
}

/* Stores copies of the parameters. */
static void parameters_set(Later *x, void **parameter) {
  size_t n = (size_t)x->parameters, size = (size_t)x->size;
  if (!x->data) x->data = calloc(n + 1, size + 8);
  if (!x->parameter) x->parameter = calloc(n + 1, sizeof(void *));
  for (size_t k = 0; k < n; k++) {
    x->parameter[k] = x->data + k * size;
    memcpy(x->parameter[k], parameter[k], k + 1 == n ? size : 8);
  }
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **parameter, void **extra) {
  StandinLaunch *run = NULL;
  HERE;
  if (!function || !is_here(stream) || !may_share(function, shared) || extra) return INVALID;
  if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || !bx || !by || !bz) return INVALID;
  memcpy(&run, &function, sizeof run);
  int failed = 0;
  if (!((Stream *)stream)->capture) counted(LAUNCHES), mine.kernels++, failed = is_due("launch=", LAUNCHES);
  Later *x = later('k', stream);
  x->run = failed ? NULL : run;
  memcpy(x->grid, (unsigned[]){gx, gy, gz}, sizeof x->grid);
  memcpy(x->block, (unsigned[]){bx, by, bz}, sizeof x->block);
  x->bytes_shared = shared;
  int told = run(NULL, NULL, 0, NULL), n = told / STANDIN_MOST, size = told % STANDIN_MOST;
  x->parameters = n, x->size = size;
  parameters_set(x, parameter);
  return OK;
}

/* ---- graphs ------------------------------------------------------------------------------------------ */

/* First completes the stream's earlier work. */
int cuStreamBeginCapture_v2(void *stream, int mode) {
  HERE;
  if (!is_here(stream) || mode < 0 || mode > 2) return INVALID;
  Stream *s = stream;
  counted(CAPTURES);
  if (s->capture || is_due("capture=", CAPTURES)) return 903;
  stream_done(s);
  s->capture = 1, s->spoiled = 0, s->mode = mode, s->thread = pthread_self();
  return OK;
}

int cuStreamIsCapturing(void *stream, int *status) {
  HERE;
  Stream **x = stream_find(stream);
  return x ? (*status = (*x)->capture ? 1 + (*x)->spoiled : 0, OK) : INVALID;
}

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *n) {
  static __thread void *node[1];
  HERE;
  Stream **x = stream_find(stream);
  if (!x || !(*x)->capture) return INVALID;
  if ((*x)->spoiled) return VOID;
  node[0] = NULL;
  for (Later *k = (*x)->first; k; k = k->next) node[0] = k;
  return *status = 1, *id = 1, *graph = NULL, *last = node, *n = node[0] != NULL, OK;
}

int cuStreamEndCapture(void *stream, void **graph) {
  HERE;
  Stream **x = stream_find(stream);
  if (!x || !(*x)->capture) return INVALID;
  Stream *s = *x;
  Graph *g = calloc(1, sizeof *g);
  if (s->mode == 1 && !pthread_equal(s->thread, pthread_self())) return free(g), 908;
  g->first = s->first, g->device = s->device;
  s->first = NULL, s->last = &s->first, s->capture = 0;
  my.live++;
  *graph = g;
  return s->spoiled ? (cuGraphDestroy(g), *graph = NULL, VOID) : OK;
}

int cuGraphDestroy(void *graph) {
  HERE;
  Graph *g = graph;
  all_done();
  for (Later *k = g->first, *next; k; k = next) next = k->next, later_free(k);
  my.live--;
  return free(g), OK;
}

/* An executable graph: a linked list of copies of the graph's nodes, in the same order. */
typedef struct Made { int device; Later *first; Graph *of; } Made;

static Later *nodes_copy(const Later *from) {
  Later *first = NULL, **last = &first;
  for (; from; from = from->next) {
    Later *x = *last = calloc(1, sizeof *x);
    *x = *from, x->next = NULL, x->shared = 1;
    last = &x->next;
    if (x->what != 'k') continue;
    x->shared = 0, x->data = NULL, x->parameter = NULL;
    parameters_set(x, from->parameter);
  }
  return first;
}

int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  if (flags) return INVALID;
  counted(INSTANCES);
  if (is_due("graph=", INSTANCES)) return NO_MEMORY;
  Made *m = calloc(1, sizeof *m);
  Graph *g = graph;
  m->device = g->device, m->first = nodes_copy(g->first), m->of = g;
  my.live++;
  return *made = m, OK;
}

int cuGraphExecKernelNodeSetParams(void *made, void *node, const KernelNode *what) {
  HERE;
  Made *m = made;
  Later *x = m->first;
  StandinLaunch *run;
  counted(GRAPH_SETS);
  if (is_due("graph-set=", GRAPH_SETS)) return NO_MEMORY;
  for (Later *k = m->of->first; k && k != node; k = k->next) x = x->next;
  if (!x || x->what != 'k' || what->shared != x->bytes_shared || what->extra) return INVALID;
  memcpy(&run, &what->function, sizeof run);
  if (run != x->run) return INVALID;
  memcpy(x->grid, what->grid, sizeof x->grid), memcpy(x->block, what->block, sizeof x->block);
  parameters_set(x, what->parameter);
  return OK;
}

int cuGraphLaunch(void *made, void *stream) {
  HERE;
  Made *m = made;
  if (!is_here(stream) || ((Stream *)stream)->capture || ((Stream *)stream)->device != m->device) return INVALID;
  counted(GRAPH_LAUNCHES), mine.kernels++;
  if (is_due("graph-full=", GRAPH_LAUNCHES)) return NO_MEMORY;
  Later *x = later('g', stream);
  if (!is_due("graph-launch=", GRAPH_LAUNCHES)) x->nodes = nodes_copy(m->first);
  return OK;
}

int cuGraphExecDestroy(void *made) {
  HERE;
  Made *m = made;
  all_done();
  for (Later *k = m->first, *next; k; k = next) next = k->next, later_free(k);
  my.live--;
  return free(m), OK;
}

static const struct { int error; const char *name, *text; } errors[] = {
  {NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {ILLEGAL, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {BAD_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
  {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

int cuGetErrorName(int error, const char **name) {
  for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
    if (errors[k].error == error) return *name = errors[k].name, OK;
  return INVALID;
}

int cuGetErrorString(int error, const char **text) {
  for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
    if (errors[k].error == error) return *text = errors[k].text, OK;
  return INVALID;
}
