/* tests/cuda/emulate.h - emulates a device for emitted CUDA on the host: each thread of a block is a fiber, and kernels
 * access memory through classes that check. Included before such a text, which a C++ compiler then compiles unchanged
 * (tests/cuda/cc).
 *
 * Reports, and ends the process for: an element out of range; a shared element that two threads access without a
 * barrier between, if one of them stores; a shared element that is read before it is stored, or accessed while a copy
 * to it is under way; an element of a buffer that two threads of a launch access, if one of them stores; a barrier that
 * some threads of a block do not reach. A copy's elements change when its thread awaits it.
 *
 * If EIN_EMULATE_COUNTED is defined, a line for each kernel is appended at exit to the file $EIN_EMULATE_COUNTS, about
 * the memory accesses of a device (counts.h). */
#ifndef EIN_EMULATE_H
#define EIN_EMULATE_H

#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS /* math.h is C's own, here and in the runtime: C++ has one of 20,000 lines */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <ucontext.h>
#ifdef EIN_STANDIN
#include <tuple>
#include <utility>
#endif

#ifdef EIN_EMULATE_COUNTED
#include "counts.h"
#else
namespace counts { /* they take longer to compile than all else */
static inline void begin(const char *) {}
static inline void access(uint32_t, const void *, const void *, size_t, bool, bool, bool = false) {}
static inline void settle() {}
}
#endif
#include "standin/world.h"

#define EIN_EMULATED
#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)

struct dim3 { unsigned x, y, z; };

/* ---- a block --------------------------------------------------------------------------------------------- */

namespace emulate {

enum { STACK = 256 << 10, MOST = 1024 };

/* tells: how often it has told its warp something, of which it keeps the last two times; warp: it waits for its warp
 * alone. */
struct Thread {
  ucontext_t context;
  dim3 index;
  bool done, warp;
  unsigned tells, groups;    /* groups: of copies, so far */
};

struct Block {
  Thread thread[MOST];
  ucontext_t home;
  char *stacks;
  unsigned n, at;              /* threads, and the one at hand */
  size_t shared;               /* bytes of shared memory that the launch has asked for */
  uint32_t launch, block, epoch; /* numbers: of launches, of the block in it from 1, of barriers from 1 */
  void (*body)(void *);
  void *env;
  const char *kernel;
};

static Block *device() {
  static Block b;
  return &b;
}

[[noreturn]] static void fail(const char *what, const char *name, long long at) {
  const Block *b = device();
  fprintf(
      stderr, "emulation: kernel %s, block %u, thread %u: %s", b->kernel ? b->kernel : "?", b->block - 1, b->at, what);
  if (name) fprintf(stderr, ": %s[%lld]", name, at);
  fputc('\n', stderr);
  fflush(stderr);
  _exit(97);
}

static void thread_main() {
  Block *b = device();
  b->body(b->env);
  b->thread[b->at].done = true;
  swapcontext(&b->thread[b->at].context, &b->home);
}

static void barrier() {
  Block *b = device();
  b->thread[b->at].warp = false;
  swapcontext(&b->thread[b->at].context, &b->home);
}

/* What threads tell their warp: n values each. They can be read as soon as this returns, by the number of the thread
 * in the warp, until the thread tells again. The kernel's threads all come here, and nothing in memory is ordered. */
enum { TOLD = 256 };
struct Told {
  const double (*all)[TOLD];
  double at(unsigned lane, int k) const {
    return all[lane][k];
  }
};
template <class A, class F> static Told tell(const A *a, int n, F value) {
  static double told[2][MOST][TOLD];
  Block *b = device();
  unsigned me = b->at, turn = b->thread[me].tells++ % 2;
  if (n > TOLD) fail("a thread tells its warp too much", NULL, n);
  for (int k = 0; k < n; k++) told[turn][me][k] = value(a[k]);
  b->thread[me].warp = true;
  swapcontext(&b->thread[me].context, &b->home);
  return Told{told[turn] + me / 32 * 32};
}

/* Copies to shared memory that are under way: element by element, with its bits. */
struct Flight {
  unsigned thread, group;
  void (*land)(const Flight *);
  const char *name;
  void *data, *mark;
  int64_t at;
  unsigned char bits[16];
};
struct Flights { Flight *at; size_t n, room; };
static Flights *flights() { static Flights all; return &all; }

static void flight_add(Flight f) {
  Flights *all = flights();
  if (all->n == all->room) {
    all->room = 2 * all->room + 4096;
    all->at = (Flight *)realloc((void *)all->at, all->room * sizeof f);
    if (!all->at) fail("no memory for copies", NULL, 0);
  }
  all->at[all->n++] = f;
}

/* What is copied arrives, of all but the thread's last groups. */
static void copy_await(unsigned left) {
  Flights *all = flights();
  const unsigned me = device()->at, groups = device()->thread[me].groups;
  size_t n = 0;
  for (size_t i = 0; i < all->n; i++) {
    const Flight f = all->at[i];
    if (f.thread == me && f.group + left < groups) f.land(&f);
    else all->at[n++] = f;
  }
  all->n = n;
}
static void copy_commit() { device()->thread[device()->at].groups++; }

/* All threads of a block, from barrier to barrier, one after the other. */
static void block_run() {
  Block *b = device();
  for (unsigned k = 0; k < b->n; k++) {
    Thread *t = &b->thread[k];
    t->done = t->warp = false;
    t->tells = t->groups = 0;
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = b->stacks + (size_t)k * STACK;
    t->context.uc_stack.ss_size = STACK;
    t->context.uc_link = NULL;
    makecontext(&t->context, thread_main, 0);
  }
  flights()->n = 0;
  for (b->epoch = 1;;) {
    unsigned done = 0, warp = 0;
    for (b->at = 0; b->at < b->n; b->at++) {
      swapcontext(&b->home, &b->thread[b->at].context);
      done += b->thread[b->at].done, warp += b->thread[b->at].warp && !b->thread[b->at].done;
    }
    b->at = 0;
    counts::settle();
    if (done == b->n) return;
    if (done || (warp && warp < b->n)) fail("a barrier that only some threads come to", NULL, 0);
    b->epoch += !warp;
  }
}

static dim3 &block_index() { static dim3 d; return d; }

template <class F> static void launch_body(void *f) { (*(F *)f)(); }

static uint32_t launch_number();
template <class F> static void launch(const char *kernel, dim3 grid, dim3 block, unsigned shared, F f) {
  Block *b = device();
  if (!b->stacks)
    b->stacks = (char *)mmap(
        NULL, (size_t)STACK * MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  b->kernel = kernel;
  b->shared = shared;
  counts::begin(kernel);
  b->n = block.x * block.y * block.z;
  if (!b->n || b->n > MOST) fail("a block of too many threads, or of none", NULL, 0);
  for (unsigned k = 0; k < b->n; k++)
    b->thread[k].index = dim3{k % block.x, k / block.x % block.y, k / block.x / block.y};
  b->body = launch_body<F>;
  b->env = &f;
  b->launch = launch_number();
  b->block = 0;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        block_index() = dim3{x, y, z};
        b->block++;
        block_run();
      }
  b->kernel = NULL;
}

/* ---- who has touched an element --------------------------------------------------------------------------- */

/* Of an element: 0: nobody; MANY: several. */
typedef StandinShadow Shadow;
enum : uint32_t { MANY = ~0u };

static void touch(
    Shadow *s, uint32_t epoch, uint32_t me, bool store, const char *what, const char *name, long long at) {
  if (s->epoch != epoch) *s = Shadow{epoch, 0, 0};
  if (s->stored && s->stored != me) fail(what, name, at);
  if (store && s->read && s->read != me) fail(what, name, at);
  if (store) s->stored = me;
  else s->read = s->read && s->read != me ? MANY : me;
}

/* What stands for an element: it is read as a value, or stored to. */
template <class A, class T> struct Element {
  const A *of;
  int64_t at;
  __attribute__((noinline)) operator T() const {
    return of->told(at, false, __builtin_return_address(0)), of->load(at);
  }
  __attribute__((noinline)) T operator=(T v) const {
    return of->told(at, true, __builtin_return_address(0)), of->store(at, v), v;
  }
  T operator=(const Element &e) const { return *this = (T)e; }
};

/* An array that the threads of a block share: the same memory for each block, of which nothing is known when one
 * begins. */
template <class T, int64_t N> struct Shared {
  const char *name;
  T *data;
  struct Mark { Shadow shadow; uint32_t launch, block; bool flies; } *mark; /* flies: a copy to it is under way */
  Mark *look(int64_t i, bool store) const {
    const Block *b = device();
    if (i < 0 || i >= N) fail("out of range of a shared array", name, i);
    Mark *m = &mark[i];
    if (m->launch != b->launch || m->block != b->block) *m = Mark{};
    if (m->flies) fail("a shared element is accessed while a copy to it is under way", name, i);
    if (!store && !m->launch) fail("a shared element that nobody has stored to is read", name, i);
    touch(&m->shadow, b->epoch, b->at + 1, store, "two threads and no barrier between, one of them stores", name, i);
    if (store) m->launch = b->launch, m->block = b->block;
    return m;
  }
  static void land(const Flight *f) {
    const Shared to = {f->name, (T *)f->data, (Mark *)f->mark};
    T v;
    memcpy((void *)&v, f->bits, sizeof v);
    to.mark[f->at].flies = false;
    to.store(f->at, v);
  }
  void fly(int64_t i, T v) const {
    const Block *b = device();
    Flight f = {b->at, b->thread[b->at].groups, land, name, (void *)data, (void *)mark, i, {0}};
    static_assert(sizeof v <= sizeof f.bits, "an element");
    memcpy(f.bits, (const void *)&v, sizeof v);
    look(i, true)->flies = true;
    flight_add(f);
  }
  T load(int64_t i) const { look(i, false); return data[i]; }
  void store(int64_t i, T v) const { look(i, true); data[i] = v; }
  Element<Shared, T> operator[](int64_t i) const { return {this, i}; }
  void told(int64_t i, bool store, const void *by) const {
    counts::access(device()->at, by, &data[i], sizeof(T), true, store);
  }
};

/* An array in what the launch has asked for. They come in the order in which they lie there. */
static void shared_asked(const char *name, size_t at, size_t bytes) {
  Block *b = device();
  static size_t end;
  if (at == 0) end = 0;
  if (at % 16 || at < end)
    fail("a shared array that lies in another one, or at no multiple of 16 bytes", name, (long long)at);
  if (at + bytes > b->shared) fail("a shared array beyond what the launch has asked for", name, (long long)at);
  end = at + bytes;
}

/* ---- the device's memory ---------------------------------------------------------------------------------- */

/* Buffers are parts of one piece; a shadow for each of its bytes, which an element is known by. */
typedef StandinMemory Memory;
static StandinWorld *&world() { /* a driver's that has loaded this, or our own */
  static StandinWorld own, *at = &own;
  return at;
}
static Memory *memory() { return world()->memory; }

static Memory *memory_of(const void *p) {
  for (Memory *m = memory(); m < memory() + 64; m++)
    if (m->data && (const char *)p >= m->data && (const char *)p < m->data + m->bytes) return m;
  return NULL;
}

static uint32_t launch_number() { return ++world()->launch; }

struct Argument { void *data; size_t bytes; const char *name; };

template <class T> struct Global {
  T *data;
  int64_t n;
  Shadow *shadow;
  Global(Argument a) : data((T *)a.data), n((int64_t)(a.bytes / sizeof(T))), shadow(NULL) {
    if (!n) return;
    Memory *m = memory_of(a.data);
    if (!m || (char *)a.data + a.bytes > m->data + m->bytes) fail("a buffer that is not on the device", NULL, 0);
    shadow = m->shadow + ((char *)a.data - m->data);
  }
  void look(int64_t i, bool store) const {
    const Block *b = device();
    if (i < 0 || i >= n) fail("out of range of a buffer", "buffer", i);
    touch(&shadow[i * (int64_t)sizeof(T)], b->launch, (b->block - 1) * b->n + b->at + 1, store,
        "two threads of one launch, one of them stores", "buffer", i);
  }
  T load(int64_t i) const { look(i, false); return data[i]; }
  template <class U> void store(int64_t i, U v) const { look(i, true); data[i] = v; }
  Element<Global, T> operator[](int64_t i) const { return {this, i}; }
  /* N neighbours at once. */
  template <int N, class A> __attribute__((noinline)) void wide_load(A *to, int64_t i) const {
    wide(i, N, false, __builtin_return_address(0));
    for (int k = 0; k < N; k++) to[k] = (A)load(i + k);
  }
  template <int N, class A> __attribute__((noinline)) void wide_store(int64_t i, const A *from) const {
    wide(i, N, true, __builtin_return_address(0));
    for (int k = 0; k < N; k++) store(i + k, (T)from[k]);
  }
  void wide(int64_t i, int64_t count, bool store, const void *by) const {
    if ((uintptr_t)&data[i] % ((uintptr_t)count * sizeof(T)))
      fail("a wide access that begins at no multiple of its bytes", "buffer", i);
    bool first = i >= 0 && i < n && shadow[i * (int64_t)sizeof(T)].epoch != device()->launch;
    counts::access(device()->at, by, &data[i], (size_t)count * sizeof(T), false, store, first);
  }
  void told(int64_t i, bool store, const void *by) const {
    bool first = i >= 0 && i < n && shadow[i * (int64_t)sizeof(T)].epoch != device()->launch;
    counts::access(device()->at, by, &data[i], sizeof(T), false, store, first);
  }
};
template <class T> struct Global<const T> : Global<T> {
  using Global<T>::Global;
  __attribute__((noinline)) T operator[](int64_t i) const {
    return this->told(i, false, __builtin_return_address(0)), this->load(i);
  }
};

/* Neighbours are copied from a buffer to a shared array. */
template <int N, class S, class G>
__attribute__((noinline)) static void copy(const S &to, int64_t to_at, const G &from, int64_t from_at) {
  const void *by = __builtin_return_address(0);
  if (to_at % N) fail("neighbours that do not begin at a multiple of what they are", to.name, to_at);
  from.wide(from_at, N, false, by);
  for (int k = 0; k < N; k++) to.fly(to_at + k, from.load(from_at + k));
  counts::access(device()->at, (const char *)by + 1, &to.data[to_at], N * sizeof to.data[0], true, true);
}

static inline void aligned(const void *at) {
  if ((uintptr_t)at % 16) fail("a buffer that is not at a multiple of 16 bytes", NULL, 0);
}

#if defined(EIN_STANDIN)
/* A launch by a driver, which knows nothing of a kernel's types: a buffer ends where its piece of memory ends, as far
 * as that can be told. */
template <class T> struct Parameter {
  static T of(void *at) { return *(T *)at; }
  enum { SIZE = sizeof(T) };
};
template <class T> struct Parameter<Global<T>> {
  static Global<T> of(void *at) {
    char *data = *(char **)at;
    Memory *m = memory_of(data);
    if (!m) fail("a buffer that is not on the device", NULL, 0);
    return Global<T>(Argument{data, (size_t)(m->data + m->bytes - data), NULL});
  }
  enum { SIZE = 8 };
};
template <class... P, size_t... I>
static void launch_unpacked(
    const char *name, void (*kernel)(P...), dim3 grid, dim3 block, unsigned shared, void **parameter,
    std::index_sequence<I...>) {
  (void)parameter;
  auto all = std::make_tuple(Parameter<std::remove_const_t<P>>::of(parameter[I])...);
  launch(name, grid, block, shared, [&] { kernel(std::get<I>(all)...); });
}
template <class... P>
static int launch_parameters(
    const char *name, void (*kernel)(P...), const unsigned *g, const unsigned *b, unsigned shared, void **parameter) {
  int size = 8;
  ((size = Parameter<std::remove_const_t<P>>::SIZE), ...);
  if (!g) return (int)sizeof...(P) * STANDIN_MOST + size;
  launch_unpacked(
      name, kernel, dim3{g[0], g[1], g[2]}, dim3{b[0], b[1], b[2]}, shared, parameter,
      std::index_sequence_for<P...>());
  return 0;
}
#endif

}

#if defined(EIN_STANDIN)
extern "C" void standin_enter(StandinWorld *w);
extern "C" void standin_enter(StandinWorld *w) { emulate::world() = w; }
#endif

#define EIN_WIDE_ARRAY(type, name, n) type name[n]
#define EIN_WIDE(n, to, to_at, from, from_at)                                                    \
  do {                                                                                           \
    const int64_t ein_to = to_at, ein_from = from_at;                                            \
    if (ein_to % n || ein_from % n)                                                              \
      emulate::fail("neighbours that do not begin at a multiple of what they are", #to, ein_to); \
    for (int ein_e = 0; ein_e < n; ein_e++) to[ein_to + ein_e] = from[ein_from + ein_e];         \
  } while (0)

#define EIN_COPY(n, to, to_at, from, from_at) emulate::copy<n>(to, to_at, from, from_at)
#define EIN_COPY_COMMIT() emulate::copy_commit()
#define EIN_COPY_AWAIT(left) emulate::copy_await(left)

/* ---- warps ---------------------------------------------------------------------------------------------------- */

namespace emulate {
template <class T> static T across(T value, unsigned bit) {
  Told told = tell(&value, 1, [](T x) {
    double bits = 0;
    memcpy(&bits, &x, sizeof x);
    return bits;
  });
  double bits = told.at(device()->at % 32 ^ bit, 0);
  memcpy(&value, &bits, sizeof value);
  return value;
}
}
#define EIN_ACROSS(value, bit) emulate::across(value, bit)

/* ---- matrix units --------------------------------------------------------------------------------------------- */

namespace emulate {

static inline double value_bf16(uint16_t x) {
  uint32_t bits = (uint32_t)x << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static inline double value_f16(uint16_t x) {
  int exponent = x >> 10 & 31, fraction = x & 1023;
  double v = exponent == 31 ? (fraction ? NAN : INFINITY)
      : exponent            ? ldexp(1024 + fraction, exponent - 25)
                            : ldexp(fraction, -24);
  return x >> 15 ? -v : v;
}
static inline double value_f64(double x) { return x; }

/* What a thread of a warp has of it (LoopMatrix): it reads what it needs, one after the other. */
template <class T, class A, class B, class F>
static void matrix(T *acc, int rows, int lanes, int deep, const A &a, int64_t a_at, int64_t as, int64_t ad, const B &b,
    int64_t b_at, int64_t bs, int64_t bd, F value) {
  int lane = (int)(device()->at % 32);
  for (int r = 0; r < rows / 8; r++)
    for (int c = 0; c < lanes / 4; c++)
      for (int k = 0; k < deep; k++) {
        int64_t i = 8 * r + lane / 4, j = 8 * (c / 2) + 2 * (lane % 4) + c % 2;
        acc[r * (lanes / 4) + c] += (T)(value(a.load(a_at + i * as + k * ad)) * value(b.load(b_at + j * bs + k * bd)));
      }
}

/* The same, of a first side that the warp's threads hold in the same way. Floats must be halves. */
template <class T, class A, class B, class F>
static void matrix_held(
    T *acc, int rows, int lanes, int deep, const A *a, const B &b, int64_t b_at, int64_t bs, int64_t bd, F value) {
  int lane = (int)(device()->at % 32);
  Told told = tell(a, rows / 8 * (deep / 4), [value](A x) {
    if constexpr (sizeof(A) == 2)
      return value(x);
    else
      return (double)x;
  });
  for (int r = 0; r < rows / 8; r++)
    for (int c = 0; c < lanes / 4; c++)
      for (int k = 0; k < deep; k++) {
        int64_t j = 8 * (c / 2) + 2 * (lane % 4) + c % 2;
        double x = told.at((unsigned)(lane / 4 * 4 + k % 8 / 2), r * (deep / 4) + k / 8 * 2 + k % 2);
        acc[r * (lanes / 4) + c] += (T)(x * value(b.load(b_at + j * bs + k * bd)));
      }
}
}
#define EIN_MATRIX(type, acc, ...) emulate::matrix(acc, __VA_ARGS__, emulate::value_##type)
#define EIN_MATRIX_HELD(type, acc, ...) emulate::matrix_held(acc, __VA_ARGS__, emulate::value_##type)

#define threadIdx (emulate::device()->thread[emulate::device()->at].index)
#define blockIdx (emulate::block_index())
#define __syncthreads() emulate::barrier()
#define EIN_GLOBAL(type) const emulate::Global<type>
#define EIN_ENDS(name, n) (void)(name < n)
#define EIN_AT_16(type, name) emulate::aligned(name.data)
#define EIN_SHARED(type, name, n)                                                              \
  static type name##_elements[n];                                                              \
  static emulate::Shared<type, n>::Mark name##_marks[n];                                       \
  const emulate::Shared<type, n> name = {#name, name##_elements, name##_marks}
#define EIN_SHARED_AT(type, name, n, at) \
  EIN_SHARED(type, name, n);             \
  emulate::shared_asked(#name, at, (n) * sizeof(type))
#define EIN_WIDE_LOAD(n, to, buffer, at) (buffer).template wide_load<n>(to, at)
#define EIN_WIDE_READ(n, to, buffer, at) EIN_WIDE_LOAD(n, to, buffer, at)
#define EIN_WIDE_STORE(n, buffer, at, from) (buffer).template wide_store<n>(at, from)
#define EIN_ARGUMENT(type, ctx, buffer) (emulate::Argument{ein_cuda_at(ctx, buffer), ein_cuda_bytes(ctx, buffer), NULL})
#define EIN_CALL(kernel, shared, gx, gy, gz, bx, by, bz, ...) \
  emulate_call(#kernel, kernel, dim3{gx, gy, gz}, dim3{bx, by, bz}, shared, __VA_ARGS__)

template <class... P, class... A>
static void emulate_call(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, unsigned shared, A... a) {
  emulate::launch(name, grid, block, shared, [&] { kernel(a...); });
}

static inline int atomicCAS(int *at, int was, int now) {
  int old = *at;
  if (old == was) *at = now;
  return old;
}

/* ---- the host's part --------------------------------------------------------------------------------------- */

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorNoDevice, cudaErrorInsufficientDriver };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
static inline const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "out of memory" : e ? "no device" : "no error";
}
static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static inline cudaError_t cudaMalloc(void **out, size_t bytes) {
  using namespace emulate;
  for (Memory *m = memory(); m < memory() + 64; m++) {
    if (m->data) continue;
    *m = Memory{(char *)aligned_alloc(256, (bytes + 256) / 256 * 256), bytes,
        (Shadow *)calloc(bytes ? bytes : 1, sizeof(Shadow))};
    if (!m->data || !m->shadow) return cudaErrorMemoryAllocation;
    memset(m->data, 0xA5, bytes);
    *out = m->data;
    return cudaSuccess;
  }
  return cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFree(void *p) {
  emulate::Memory *m = emulate::memory_of(p);
  if (!m) return cudaSuccess;
  free(m->data);
  free(m->shadow);
  *m = emulate::Memory{};
  return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int) {
  return memcpy(to, from, bytes), cudaSuccess;
}
static inline cudaError_t cudaMemset(void *to, int byte, size_t bytes) { return memset(to, byte, bytes), cudaSuccess; }

#endif
