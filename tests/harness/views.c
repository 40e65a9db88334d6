/* tests/harness/views.c - arrays as a caller may have them, any order of axes, some backwards, with gaps; and memory
 * between two pages that nobody may touch, so that what reads or writes past an end is stopped, whoever compiled it. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

enum { FILL = 0xA5 };

/* To AddressSanitizer, where it is there, what lies beside is forbidden too: the nearest such page may be some way off.
 */
static void beside(const Pages *p, const char *how) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *low = p->base + page, *high = p->at + p->bytes;
  void (*asan)(void const volatile *, size_t);
  *(void **)(void *)&asan = dlsym(RTLD_DEFAULT, how);
  if (!asan) return;
  asan(low, (size_t)(p->at - low));
  asan(high, (size_t)(p->base + p->all - page - high));
}

static void forbid(const Pages *p) { beside(p, "__asan_poison_memory_region"); }
static void allow(const Pages *p) { beside(p, "__asan_unpoison_memory_region"); }

void pages_make(Pages *p, size_t bytes, size_t alignment, bool low) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page) / page * page;
  p->all = inside + 2 * page;
  p->base = mmap(NULL, p->all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p->base == MAP_FAILED) abort();
  if (mprotect(p->base, page, PROT_NONE) || mprotect(p->base + page + inside, page, PROT_NONE)) abort();
  memset(p->base + page, FILL, inside);
  p->bytes = bytes;
  p->at = p->base + page + (low ? 0 : (inside - bytes) / alignment * alignment);
  forbid(p);
}

static bool filled(const char *c, const char *end) {
  while (c < end && (unsigned char)*c == FILL) c++;
  return c == end;
}

bool pages_kept(const Pages *p) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  allow(p);
  bool kept = filled(p->base + page, p->at) && filled(p->at + p->bytes, p->base + p->all - page);
  forbid(p);
  return kept;
}

void pages_drop(Pages *p) {
  if (p->base) allow(p), munmap(p->base, p->all);
  *p = (Pages){0};
}

/* ---- views ------------------------------------------------------------------------------------------- */

static const ein_dtype ein_of_dtype[DTYPES] = {
  [DT_F64] = EIN_F64, [DT_F32] = EIN_F32, [DT_F16] = EIN_F16, [DT_BF16] = EIN_BF16, [DT_I64] = EIN_I64,
  [DT_I32] = EIN_I32, [DT_I16] = EIN_I16, [DT_I8] = EIN_I8,   [DT_U8] = EIN_U8,     [DT_BOOL] = EIN_BOOL,
};

DType dtype_from(ein_dtype t) {
  for (int k = 0; k < DTYPES; k++)
    if (ein_of_dtype[k] == t) return (DType)k;
  return DTYPES;
}

static void strides_dense(View *v, uint32_t rank) {
  int64_t step = 1;
  for (uint32_t k = rank; k-- > 0;) {
    v->stride[k] = step;
    step *= v->shape[k] ? v->shape[k] : 1;
  }
}

static void strides_any(View *v, uint32_t rank, int flat, Rng *r) {
  uint32_t order[EIN_MAX_AXES];
  int64_t step = 1 + below(r, 2);
  bool mixed = chance(r, 70);
  for (uint32_t k = 0; k < rank; k++) order[k] = rank - 1 - k;
  for (uint32_t k = rank; mixed && k > 1; k--) {
    uint32_t i = below(r, k), was = order[i];
    order[i] = order[k - 1], order[k - 1] = was;
  }
  for (uint32_t k = 0; k < rank; k++) {
    uint32_t axis = order[k];
    v->stride[axis] = chance(r, 30) ? -step : step;
    if ((int)axis == flat) v->stride[axis] = 0;
    else step = step * (v->shape[axis] ? v->shape[axis] : 1) + below(r, 3);
  }
}

void view_make(View *v, DType t, uint32_t rank, const int64_t *shape, bool dense, int flat, Rng *r) {
  int64_t low = 0, high = 0, size = dtype_size(t);
  *v = (View){.dtype = t, .count = 1};
  for (uint32_t k = 0; k < rank; k++) v->shape[k] = shape[k];
  if (dense) strides_dense(v, rank);
  else strides_any(v, rank, flat, r);
  for (uint32_t k = 0; k < rank; k++) {
    int64_t far = v->shape[k] ? v->stride[k] * (v->shape[k] - 1) : 0;
    v->count *= v->shape[k];
    *(far < 0 ? &low : &high) += far;
  }
  v->first = v->count ? (size_t)(-low * size) : 0;
  pages_make(&v->memory, v->count ? (size_t)((high - low + 1) * size) : 0, (size_t)size, chance(r, 30));
  size_t offset = chance(r, 50) ? v->first : 0;
  v->t = (ein_tensor){.data = v->memory.at + (v->first - offset),
      .device_type = 1,
      .ndim = (int32_t)rank,
      .dtype = ein_of_dtype[t],
      .shape = v->shape,
      .strides = dense && chance(r, 50) ? NULL : v->stride,
      .byte_offset = offset};
}

/* ---- element by element, in row-major order -------------------------------------------------------------- */

typedef struct Walker { const View *v; int64_t at[EIN_MAX_AXES]; char *element; } Walker;

static Walker walker(const View *v) { return (Walker){.v = v, .element = v->memory.at + v->first}; }

static void walker_next(Walker *w) {
  int64_t size = dtype_size(w->v->dtype);
  for (int32_t k = w->v->t.ndim; k-- > 0;) {
    w->element += w->v->stride[k] * size;
    if (++w->at[k] < w->v->shape[k]) return;
    w->element -= w->v->stride[k] * size * w->v->shape[k];
    w->at[k] = 0;
  }
}

void view_put(View *v, const EvalArray *x) {
  size_t size = (size_t)dtype_size(v->dtype);
  Walker w = walker(v);
  for (int64_t k = 0; k < v->count; k++, walker_next(&w))
    memcpy(w.element, (const char *)x->data + (size_t)k * size, size);
}

EvalArray view_get(const View *v, Arena *a) {
  size_t size = (size_t)dtype_size(v->dtype);
  EvalArray x = {.dtype = v->dtype, .rank = (uint32_t)v->t.ndim, .count = v->count};
  Walker w = walker(v);
  x.shape = arena_copy(a, v->shape, sizeof v->shape);
  x.data = arena_alloc(a, (size_t)v->count * size + 1);
  for (int64_t k = 0; k < v->count; k++, walker_next(&w)) memcpy((char *)x.data + (size_t)k * size, w.element, size);
  return x;
}

bool view_kept(const View *v, Arena *a) {
  size_t size = (size_t)dtype_size(v->dtype);
  char *taken = arena_alloc(a, v->memory.bytes + 1);
  Walker w = walker(v);
  for (int64_t k = 0; k < v->count; k++, walker_next(&w)) memset(taken + (w.element - v->memory.at), 1, size);
  for (size_t i = 0; i < v->memory.bytes; i++)
    if (!taken[i] && (unsigned char)v->memory.at[i] != FILL) return false;
  return pages_kept(&v->memory);
}
