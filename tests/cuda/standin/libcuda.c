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

/* ---- the report ------------------------------------------------------------------------------------ */

static int retained(void) {
  int n = 0;
  for (int k = 0; k < DEVICES; k++) n += driver.device[k].retained;
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
      clock, driver.live, driver.modules, driver.streams, retained(), n[ALLOCATIONS], n[LAUNCHES], n[LOADS],
      n[INSTANCES], n[GRAPH_LAUNCHES], n[GRAPH_SETS], driver.waits, (unsigned long long)driver.up,
      (unsigned long long)driver.down, driver.events, n[WANTED]);
  fclose(f);
}

/* ---- the driver's functions ------------------------------------------------------------------------ */

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
int cuDeviceGetUuid(unsigned char *uuid, int device) {
  memset(uuid, 0, 16), uuid[0] = (unsigned char)(device + 1);
  return OK;
}
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
  driver.device[device].retained++;
  return *context = &driver.device[device], OK;
}
/* A lost context releases everything. */
int cuDevicePrimaryCtxRelease_v2(int device) {
  ALONE;
  if (device < 0 || device >= DEVICES || driver.device[device].retained < 1) return INVALID;
  driver.device[device].retained--;
  if (retained() == 0 && driver.dead) driver.live = driver.modules = driver.streams = 0;
  return OK;
}
int cuCtxPushCurrent_v2(void *context) {
  ALONE;
  for (int k = 0; k < DEVICES; k++)
    if (context == &driver.device[k] && driver.device[k].retained && mine.depth < 64)
      return mine.current[mine.depth++] = k, OK;
  return INVALID;
}
int cuCtxPopCurrent_v2(void **context) {
  return mine.depth < 1 ? BAD_CONTEXT : (mine.depth--, *context = &driver.device[mine.current[mine.depth]], OK);
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
  enter(&driver.world);
  driver.modules++;
  return OK;
}

int cuModuleUnload(void *module) {
  HERE;
  if (!--driver.modules) memset(driver.allowed, 0, sizeof driver.allowed);
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
  while (k < KERNELS && driver.allowed[k].kernel && driver.allowed[k].kernel != function) k++;
  if (k == KERNELS) return INVALID;
  driver.allowed[k].kernel = function, driver.allowed[k].bytes = value;
  return OK;
}

static int may_share(const void *function, unsigned bytes) {
  for (int k = 0; k < KERNELS && driver.allowed[k].kernel; k++)
    if (driver.allowed[k].kernel == function) return bytes <= (unsigned)driver.allowed[k].bytes;
  return bytes <= 49152;
}

int cuMemGetInfo_v2(size_t *left, size_t *all) {
  const char *memory = injected("memory=");
  size_t taken = 0;
  HERE;
  for (int k = 0; k < STANDIN_PIECES; k++)
    if (driver.world.memory[k].device == mine.current[mine.depth - 1]) taken += driver.world.memory[k].bytes;
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
  while (k < STANDIN_PIECES && driver.world.memory[k].data) k++;
  if (k == STANDIN_PIECES || bytes > left) return NO_MEMORY;
  char *data = mmap(NULL, in_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return NO_MEMORY;
  memset(data, 0xA5, bytes);
  mprotect(data, in_pages(bytes), PROT_NONE);
  driver.mark[k] = calloc(bytes / ORDER_GRAIN + 2, sizeof *driver.mark[k]);
  driver.world.memory[k] =
      (StandinMemory){data, bytes, calloc(bytes, sizeof(StandinShadow)), mine.current[mine.depth - 1]};
  *at = (uint64_t)(uintptr_t)data;
  driver.live++;
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
  OrderMark **mark = &driver.mark[m - driver.world.memory];
  for (size_t k = 0; k <= m->bytes / ORDER_GRAIN; k++) free((*mark)[k].read);
  free(*mark), *mark = NULL;
  *m = (StandinMemory){0};
  driver.live--;
  return OK;
}

int cuMemAllocHost_v2(void **at, size_t bytes) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  counted(ALLOCATIONS);
  if (is_due("alloc=", ALLOCATIONS)) return NO_MEMORY;
  *at = malloc(bytes);
  driver.live += *at != NULL;
  return *at ? OK : NO_MEMORY;
}

static int host_locked(const void *at) {
  for (int k = 0; k < 256; k++)
    if (driver.locked[k] == at) return k;
  return -1;
}

int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  if (!at || !bytes || flags || memory_of((uint64_t)(uintptr_t)at, 1)) return INVALID;
  int k = host_locked(NULL);
  if (host_locked(at) >= 0) return 712;
  if (k < 0) return NO_MEMORY;
  driver.locked[k] = at;
  driver.live++;
  return OK;
}

int cuMemHostUnregister(void *at) {
  HERE;
  int k = host_locked(at);
  if (!at || k < 0) return 713;
  all_done();
  if (!order_host_idle(at, 1)) return fprintf(stderr, "stand-in: memory is unlocked that may be in use\n"), INVALID;
  driver.locked[k] = NULL;
  driver.live--;
  return OK;
}

/* Completes all streams' work first, which may use the memory. */
int cuMemFreeHost(void *at) {
  HERE;
  all_done();
  free(at);
  driver.live--;
  return OK;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  HERE;
  if (!is_here(stream) || !memory_of(to, bytes) || memory_of((uint64_t)(uintptr_t)from, 1)) return INVALID;
  NOT_IN_CAPTURE(stream);
  counted(COPIES), mine.copies++, driver.up += bytes;
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
  mine.copies++, driver.down += bytes;
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
  while (k < ORDER_STREAMS && driver.stream[k]) k++;
  if (flags > 1 || k == ORDER_STREAMS) return INVALID;
  driver.streams++;
  Stream *x = driver.stream[k] = calloc(1, sizeof *x);
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
  driver.streams--;
  return OK;
}

int cuEventCreate(void **event, unsigned flags) {
  HERE;
  if (flags & ~2u) return INVALID;
  driver.events++, driver.live++;
  return *event = calloc(1, sizeof(Event)), OK;
}

int cuEventDestroy_v2(void *event) {
  HERE;
  all_done();
  driver.live--;
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

/* Does what can be done. */
static int stream_try(void *stream) {
  HERE;
  Stream **x = stream_find(stream);
  if (!x) return INVALID;
  NOT_IN_CAPTURE(stream);
  int e = stream_done(*x);
  if (e != NOT_READY) driver.waits++, order_host_waits(stream_number(*x));
  return e;
}

int cuStreamSynchronize(void *stream) {
  int e;
  while ((e = stream_try(stream)) == NOT_READY) usleep(50); /* other threads may ask for what it waits for */
  return e;
}

static int event_try(void *event) {
  HERE;
  Event *e = event;
  if (!e->last) return OK;
  if (!e->last->done) stream_done(e->last->stream);
  if (driver.dead) return driver.dead;
  return e->last->done ? (order_host_learns(&e->last->clock), OK) : NOT_READY;
}

int cuEventQuery(void *event) {
  int e = event_try(event);
  if (e == NOT_READY) usleep(100); /* callers ask again at once, and other threads have to come to it */
  return e;
}

int cuStreamGetCtx(void *stream, void **context) {
  HERE;
  Stream **x = stream_find(stream);
  return x ? (*context = &driver.device[(*x)->device], OK) : BAD_HANDLE;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t at) {
  ALONE;
  if (driver.dead) return driver.dead;
  StandinMemory *m = memory_of(at, 1);
  if (!m) return INVALID;
  switch (attribute) {
  case 2: *(unsigned *)value = 2; return OK;
  case 8: *(unsigned *)value = 0; return OK;
  case 9: *(int *)value = m->device; return OK;
  default: return INVALID;
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
