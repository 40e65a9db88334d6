/* tests/cuda/standin/libcublas.c - a stand-in for NVIDIA's cuBLAS on machines without a device: products by three
 * loops, computed when the stream of the driver's stand-in is waited for. It is strict: leads, dtypes and the type of
 * sums must be ones that cuBLAS supports; all elements of the matrices must be in the current device's memory, and so
 * must the workspace, which a handle forgets when its stream changes.
 *
 * $EIN_STANDIN, words separated by commas, injects failures: blas-begin=1 (the first handle is not created), blas=N
 * (the N-th product fails), blas-not=N (it is not supported). With $EIN_STANDIN_REPORT, a line is appended at exit with
 * the number of products, their kinds, and the handles that are left. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { OK, NOT_INITIALIZED = 1, NO_MEMORY = 3, INVALID = 7, FAILED = 13, NOT_SUPPORTED = 15 };
enum { F32 = 0, F64 = 1, F16 = 2, BF16 = 14, BY_F32 = 68, BY_F64 = 70 };

typedef struct Handle { void *stream; int room, math; } Handle;
typedef struct Matrix { char *at; int type, lead, across; long long step; } Matrix;
typedef struct Product { Matrix a, b, c; int m, n, k, batch, wide; double alpha; } Product;

static struct {
  StandinLater *later;
  StandinHolds *holds;
  StandinPlanted *planted;
  StandinTouches *touches;
  int handles, begun, products, batches, across[4];
} my;

static void report(void) __attribute__((destructor));
static void report(void) {
  const char *path = getenv("EIN_STANDIN_REPORT");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, "cuBLAS: %d products, %d of them of pairs; nn %d, nt %d, tn %d, tt %d; left: %d handles\n", my.products,
      my.batches, my.across[0], my.across[1], my.across[2], my.across[3], my.handles);
  fclose(f);
}

static int driver_found(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *at;
  if (!driver || !(at = dlsym(driver, "standin_later"))) return 0;
  memcpy(&my.later, &at, sizeof at);
  at = dlsym(driver, "standin_holds"), memcpy(&my.holds, &at, sizeof at);
  at = dlsym(driver, "standin_planted"), memcpy(&my.planted, &at, sizeof at);
  at = dlsym(driver, "standin_touches"), memcpy(&my.touches, &at, sizeof at);
  return 1;
}

/* ---- elements ---------------------------------------------------------------------------------------- */

static size_t size_of(int type) { return type == F64 ? 8 : type == F32 ? 4 : 2; }

static double half_get(uint16_t h) {
  int e = h >> 10 & 31;
  double f = h & 1023,
         x = e == 31 ? (f > 0 ? (double)__builtin_nan("") : (double)__builtin_inf())
                     : __builtin_ldexp(e ? 1024 + f : f, (e ? e : 1) - 25);
  return h >> 15 ? -x : x;
}

/* Rounds to nearest, ties to even. */
static uint16_t half_put(float x) {
  _Float16 h = (_Float16)x;
  uint16_t bits;
  memcpy(&bits, &h, 2);
  return bits;
}

static double element(const Matrix *m, long long at) {
  float f;
  double d;
  uint16_t h;
  uint32_t bits;
  switch (m->type) {
  case F64: return memcpy(&d, m->at + 8 * at, 8), d;
  case F32: return memcpy(&f, m->at + 4 * at, 4), (double)f;
  case F16: return memcpy(&h, m->at + 2 * at, 2), half_get(h);
  default: return memcpy(&h, m->at + 2 * at, 2), bits = (uint32_t)h << 16, memcpy(&f, &bits, 4), (double)f;
  }
}

static void element_put(const Matrix *m, long long at, double x) {
  float f = (float)x;
  uint16_t h;
  uint32_t bits;
  if (m->type == F64) memcpy(m->at + 8 * at, &x, 8);
  else if (m->type == F32) memcpy(m->at + 4 * at, &f, 4);
  else if (m->type == F16) h = half_put(f), memcpy(m->at + 2 * at, &h, 2);
  else {
    memcpy(&bits, &f, 4);
    bits = f != f ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1);
    h = (uint16_t)(bits >> 16), memcpy(m->at + 2 * at, &h, 2);
  }
}

static long long at_of(const Matrix *m, int i, int j) {
  return m->across ? j + (long long)i * m->lead : i + (long long)j * m->lead;
}

/* From its first element to its last. */
static size_t bytes_of(const Matrix *m, int rows, int columns, int batch) {
  int high = m->across ? columns : rows, wide = m->across ? rows : columns;
  return (size_t)((long long)(wide - 1) * m->lead + high + (batch - 1) * m->step) * size_of(m->type);
}

/* Sums in the order of points, in the requested type. */
static void product_make(void *data) {
  const Product *p = data;
  my.touches(p->a.at, bytes_of(&p->a, p->m, p->k, p->batch), 0);
  my.touches(p->b.at, bytes_of(&p->b, p->k, p->n, p->batch), 0);
  my.touches(p->c.at, bytes_of(&p->c, p->m, p->n, p->batch), 1);
  for (int b = 0; b < p->batch; b++)
    for (int j = 0; j < p->n; j++)
      for (int i = 0; i < p->m; i++) {
        double wide = 0;
        float sum = 0;
        for (int k = 0; k < p->k; k++) {
          double x = element(&p->a, b * p->a.step + at_of(&p->a, i, k)),
                 y = element(&p->b, b * p->b.step + at_of(&p->b, k, j));
          if (p->wide) wide += x * y;
          else sum = __builtin_fmaf((float)x, (float)y, sum);
        }
        element_put(
            &p->c, b * p->c.step + at_of(&p->c, i, j), p->wide ? p->alpha * wide : (double)((float)p->alpha * sum));
      }
}

/* ---- what may be asked for -------------------------------------------------------------------------------- */

static int lies(const Matrix *m, int rows, int columns, int batch) {
  return m->lead >= (m->across ? columns : rows) && m->step >= 0 && my.holds(m->at, bytes_of(m, rows, columns, batch));
}

static int types_fit(const Product *p, int sum) {
  int in = p->a.type, out = p->c.type;
  if (in != p->b.type) return 0;
  if (in == F64) return out == F64 && sum == BY_F64;
  if (in == F32) return out == F32 && sum == BY_F32;
  return (in == F16 || in == BF16) && (out == in || out == F32) && sum == BY_F32;
}

static int product_ask(Handle *h, Product p, int sum, int how, const void *alpha, const void *beta) {
  float one, zero;
  double zero_64;
  if (!h || !h->stream || how != -1) return INVALID;
  /* Our own requirement, not cuBLAS's: a given workspace, and no short sums. */
  if (!h->room || h->math != 16) return NOT_INITIALIZED;
  if (!types_fit(&p, sum)) return NOT_SUPPORTED;
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) return INVALID;
  if (!lies(&p.a, p.m, p.k, p.batch) || !lies(&p.b, p.k, p.n, p.batch) || !lies(&p.c, p.m, p.n, p.batch))
    return INVALID;
  /* Results must not overlap. */
  if (p.batch > 1 && p.c.step < (long long)(p.n - 1) * p.c.lead + p.m && p.c.step * p.batch > p.c.lead) return INVALID;
  p.wide = sum == BY_F64;
  if (p.wide) memcpy(&p.alpha, alpha, 8), memcpy(&zero_64, beta, 8);
  else memcpy(&one, alpha, 4), memcpy(&zero, beta, 4), p.alpha = (double)one, zero_64 = (double)zero;
  if (zero_64 != 0) return INVALID;
  my.products++;
  if (my.planted("blas=", my.products)) return FAILED;
  if (my.planted("blas-not=", my.products)) return NOT_SUPPORTED;
  my.batches += p.batch > 1;
  my.across[2 * p.a.across + p.b.across]++;
  Product *data = malloc(sizeof *data);
  *data = p;
  return my.later(h->stream, product_make, data) ? FAILED : OK;
}

/* ---- cuBLAS's functions ------------------------------------------------------------------------------------ */

int cublasGetProperty(int which, int *value);
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSetStream_v2(void *handle, void *stream);
int cublasSetWorkspace_v2(void *handle, void *at, size_t bytes);
int cublasSetMathMode(void *handle, unsigned mode);
int cublasGemmEx(void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha, const void *a,
    int type_a, int lead_a, const void *b, int type_b, int lead_b, const void *beta, void *c, int type_c, int lead_c,
    int sum, int how);
int cublasGemmStridedBatchedEx(void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha,
    const void *a, int type_a, int lead_a, long long step_a, const void *b, int type_b, int lead_b, long long step_b,
    const void *beta, void *c, int type_c, int lead_c, long long step_c, int batch, int sum, int how);

int cublasGetProperty(int which, int *value) { return *value = which == 0 ? 13 : 0, OK; }

int cublasCreate_v2(void **handle) {
  if (!driver_found() || my.planted("blas-begin=", ++my.begun)) return NOT_INITIALIZED;
  my.handles++;
  return (*handle = calloc(1, sizeof(Handle))) ? OK : NO_MEMORY;
}

int cublasDestroy_v2(void *handle) { return my.handles--, free(handle), OK; }
int cublasSetMathMode(void *handle, unsigned mode) { return ((Handle *)handle)->math = (int)mode, OK; }

int cublasSetStream_v2(void *handle, void *stream) {
  Handle *h = handle;
  h->stream = stream, h->room = 0;
  return OK;
}

int cublasSetWorkspace_v2(void *handle, void *at, size_t bytes) {
  if ((uintptr_t)at % 256 || bytes < (size_t)4 << 20 || !my.holds(at, bytes)) return INVALID;
  return ((Handle *)handle)->room = 1, OK;
}

int cublasGemmEx(void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha, const void *a,
    int type_a, int lead_a, const void *b, int type_b, int lead_b, const void *beta, void *c, int type_c, int lead_c,
    int sum, int how) {
  Product p = {{(char *)(uintptr_t)a, type_a, lead_a, turn_a, 0}, {(char *)(uintptr_t)b, type_b, lead_b, turn_b, 0},
      {c, type_c, lead_c, 0, 0}, m, n, k, 1, 0, 0};
  return product_ask(handle, p, sum, how, alpha, beta);
}

int cublasGemmStridedBatchedEx(void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha,
    const void *a, int type_a, int lead_a, long long step_a, const void *b, int type_b, int lead_b, long long step_b,
    const void *beta, void *c, int type_c, int lead_c, long long step_c, int batch, int sum, int how) {
  Product p = {{(char *)(uintptr_t)a, type_a, lead_a, turn_a, step_a},
      {(char *)(uintptr_t)b, type_b, lead_b, turn_b, step_b}, {c, type_c, lead_c, 0, step_c}, m, n, k, batch, 0, 0};
  return product_ask(handle, p, sum, how, alpha, beta);
}
