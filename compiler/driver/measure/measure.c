/* driver/measure/measure.c - measures a machine: with our own programs, compiled as by ein bench and run by the
 * runtime, so the figures are those that our kernels reach. Arithmetic rates are those of packed products; memories
 * are read by loops that say which thread does what, written in Loop's own text.
 *
 * Each figure is measured in rounds over all of them, so that a temporary disturbance affects one sample of many
 * figures and not all samples of one. The report has the best sample, since noise only makes a machine slower, next
 * to the median and the worst. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ein_rt.h"
#include "measure.h"

enum {
  ROUNDS = 11,
  PROBES_MOST = 128,
  SIDE = 384,                /* of the products */
  TEXT_READ = 0, TEXT_COPY, TEXT_CHASE, TEXT_TURNS, TEXT_ONE, TEXT_PRODUCTS
};
static const double sample_least = 0.001;

/* ---- the programs --------------------------------------------------------------------------- */

/* Each thread reads its own block, R times. */
static const char read_text[] =
  "loop 1\n"
  "tasks {\n"
  "  taskgraph 1\n"
  "  dim T\n  dim N\n  dim R\n"
  "  buffer %0 input 0 X[$T, $N] : f32\n"
  "  buffer %1 output 0 Y[$T, 64] : f32\n"
  "  input X = %0\n"
  "  output Y = %1\n"
  "  kernel 0 Y outer 0 {\n"
  "    stage Y[c:$T, l:64] : f32 = sum:f32[r:$R, i:($N // 64)] %0[c, ((i * 64) + l)] to %1[c, l]\n"
  "  }\n"
  "}\n"
  "kernel Y step 0 work (($T * $R) * $N) {\n"
  "  buffer X = %0 : f32 [$T, $N]\n"
  "  buffer Y = %1 : f32 [$T, 64] written\n"
  "  register acc : f32 [64]\n"
  "  loops c r i l k\n"
  "  for c < $T thread {\n"
  "    var acc = 0.0:f32\n"
  "    for r < $R {\n"
  "      for i < $N step 64 {\n"
  "        for l < 64 vector {\n"
  "          acc[l] = (acc[l] + X[c, (i + l)])\n"
  "        }\n"
  "      }\n"
  "    }\n"
  "    for k < 64 vector {\n"
  "      Y[c, k] = acc[k]\n"
  "    }\n"
  "  }\n"
  "}\n";

/* There and back, so that every copy is new. */
static const char copy_text[] =
  "loop 1\n"
  "tasks {\n"
  "  taskgraph 1\n"
  "  dim T\n  dim N\n  dim R\n"
  "  buffer %0 output 0 Y[$T, $N] : f32\n"
  "  buffer %1 output 1 Z[$T, $N] : f32\n"
  "  output Y = %0\n"
  "  output Z = %1\n"
  "  kernel 0 Y outer 0 {\n"
  "    stage Y[c:$T, i:$N] : f32 = 0.0:f32 to %0[c, i]\n"
  "    stage Z[c:$T, i:$N] : f32 = 0.0:f32 to %1[c, i]\n"
  "  }\n"
  "}\n"
  "kernel Y step 0 work (($T * $R) * $N) {\n"
  "  buffer Y = %0 : f32 [$T, $N] written\n"
  "  buffer Z = %1 : f32 [$T, $N] written\n"
  "  loops c r i k\n"
  "  for c < $T thread {\n"
  "    for r < $R {\n"
  "      for i < $N vector {\n"
  "        Y[c, i] = Z[c, i]\n"
  "      }\n"
  "      for k < $N vector {\n"
  "        Z[c, k] = Y[c, k]\n"
  "      }\n"
  "    }\n"
  "  }\n"
  "}\n";

/* Each element holds the index of the next: R dependent reads, continuing where the previous run ended. */
static const char chase_text[] =
  "loop 1\n"
  "tasks {\n"
  "  taskgraph 1\n"
  "  dim N\n  dim R\n"
  "  buffer %0 input 0 X[$N] : i64\n"
  "  buffer %1 input 1 S[] : i64\n"
  "  buffer %2 output 0 Y[] : i64\n"
  "  input X = %0\n"
  "  input S = %1\n"
  "  output Y = %2\n"
  "  kernel 0 Y outer 0 {\n"
  "    stage Y[] : i64 = sum:i64[r:$R] %0[%1[]] to %2[]\n"
  "  }\n"
  "}\n"
  "kernel Y step 0 work $R {\n"
  "  buffer X = %0 : i64 [$N]\n"
  "  buffer S = %1 : i64 []\n"
  "  buffer Y = %2 : i64 [] written\n"
  "  register at : i64 []\n"
  "  loops r\n"
  "  var at = S[]\n"
  "  for r < $R {\n"
  "    at[] = X[at[]]\n"
  "  }\n"
  "  Y[] = at[]\n"
  "}\n";

/* R turns of a kernel that gives each of T threads almost nothing to do, and claims a lot. */
static const char turns_text[] =
  "loop 1\n"
  "tasks {\n"
  "  taskgraph 1\n"
  "  dim T\n  dim R\n"
  "  buffer %0 output 0 Y[$T] : f32\n"
  "  buffer %1 work R[] : i64 alive 0..3\n"
  "  output Y = %0\n"
  "  kernel 0 R outer 0 {\n"
  "    stage R[] : i64 = $R to %1[]\n"
  "  }\n"
  "  repeat 1..3 t < %1 {\n"
  "    kernel 2 Y outer 0 {\n"
  "      stage Y[c:$T] : f32 = f32(@t) to %0[c]\n"
  "    }\n"
  "  }\n"
  "}\n"
  "kernel R step 0 work 1 {\n"
  "  buffer R = %1 : i64 [] written\n"
  "  R[] = $R\n"
  "}\n"
  "kernel Y step 2 work 1000000000000000 {\n"
  "  buffer Y = %0 : f32 [$T] written\n"
  "  loops c\n"
  "  for c < $T thread {\n"
  "    Y[c] = f32(@t0)\n"
  "  }\n"
  "}\n";

static const char one_text[] =
  "input X : f32\n"
  "output Y = 2 * X\n";

static const struct { DType dtype; MachineRate rate; } products[] = {
  {DT_F64, RATE_MULTIPLY_ADD}, {DT_F32, RATE_MULTIPLY_ADD}, {DT_I64, RATE_MULTIPLY_ADD},
  {DT_I32, RATE_MULTIPLY_ADD}, {DT_F32, RATE_ADD_MAX}};
enum { TEXTS = TEXT_PRODUCTS + COUNT(products) };

static const char *product_text(Arena *a, size_t k) {
  const char *t = dtype_name(products[k].dtype);
  bool max = products[k].rate == RATE_ADD_MAX;
  return arena_printf(a,
      "dim M\ninput A[i:M, k:%d] : %s\ninput B[k:%d, j:%d] : %s\noutput C[i,j] = %s[k] (A[i,k] %c B[k,j])\n", SIDE, t,
      SIDE, SIDE, t, max ? "max" : "sum", max ? '+' : '*');
}

/* ---- measurements --------------------------------------------------------------------------- */

typedef struct Probe {
  const ein_model *model;
  void *ctx;
  ein_tensor *in, *out;
  bool rate;                 /* amount per second; else seconds per unit */
  bool sleeps;               /* one run at a time, with a pause before each */
  bool shortest;             /* a sample is its shortest run: on a busy machine threads seldom all run at once */
  bool far;                  /* its data is in no cache */
  int64_t *from;             /* the start of a walk; NULL: it is none */
  double amount;             /* per run: operations, bytes, turns */
  int64_t runs;              /* of a sample */
  double sample[ROUNDS];     /* seconds of a run */
  Measure *to;
} Probe;

typedef struct Measuring {
  Session *s;
  const Args *args;
  Compiler *c;
  int cores;
  Native object;
  uint32_t n_cache;
  CacheHere cache[CACHES_MOST];
  int64_t far;               /* bytes that no cache holds */
  char *pool;                /* all arrays share this memory */
  int64_t pool_bytes;
  uint32_t n;
  Probe probe[PROBES_MOST];
} Measuring;

static const char *prefix_of(Arena *a, int text) { return arena_printf(a, "probe%d", text); }

/* All in one file, so that their shared code is compiled once. */
static Leave text_emit(Measuring *m, int k, Buf *c) {
  Session *s = m->s;
  static const char *const fixed[] = {read_text, copy_text, chase_text, turns_text, one_text};
  const char *name = prefix_of(s->arena, k),
             *text = k < TEXT_PRODUCTS ? fixed[k] : product_text(s->arena, (size_t)(k - TEXT_PRODUCTS));
  Job j;
  session_fresh(s);
  Leave l = *text == 'l' ? job_from_loops(s, &j, name, text) : job_from_text(s, &j, name, text);
  if (!l && j.program) l = job_graph_open(s, &j, m->args);
  if (!l) l = job_loops(s, &j, m->args);
  if (l) return l;
  EmitOptions o = job_emit(s, &j, name);
  emit_c(c, j.loops, &o);
  return LEAVE_OK;
}

static Leave object_make(Measuring *m) {
  Session *s = m->s;
  Buf c = buf_new(s->arena);
  for (int k = 0; k < (int)TEXTS; k++) {
    Leave l = text_emit(m, k, &c);
    if (l) return l;
  }
  NativeSet set = {.text = &(NativeText){"machine", &c}, .n_texts = 1};
  return native_load(s, m->c, "machine", &set, arena_printf(s->arena, "%s_model", prefix_of(s->arena, 0)), &m->object);
}

static Leave probe_failed(Measuring *m, const Probe *p, ein_status st) {
  const char *why = p->ctx ? p->model->last_error(p->ctx) : "";
  return fail(m->s, status_leave(st), "measuring: %s", *why ? why : "a program could not be started");
}

/* Inputs are in the pool's first half, outputs in the second; programs with outputs alone use all of it. They begin
 * at different offsets of a page, since otherwise a store would delay later loads. */
static ein_status argument_view(Measuring *m, const Probe *p, int output, int k, ein_tensor *v) {
  const ein_argument *a = output ? &p->model->output[k] : &p->model->input[k];
  int64_t *shape = NEW_ARRAY(m->s->arena, int64_t, a->ndim + 1);
  ein_status st = p->model->shape(p->ctx, output, k, shape);
  int64_t half = m->pool_bytes / 2, begin = !output ? k * (half / 2 + 1088) : k || p->model->n_inputs ? half + 2112 : 0;
  *v = (ein_tensor){
      .data = m->pool + begin, .device_type = 1, .ndim = (int32_t)a->ndim, .dtype = a->dtype, .shape = shape};
  return st;
}

static Leave views_make(Measuring *m, Probe *p) {
  ein_status st = EIN_OK;
  p->in = NEW_ARRAY(m->s->arena, ein_tensor, p->model->n_inputs + 1);
  p->out = NEW_ARRAY(m->s->arena, ein_tensor, p->model->n_outputs + 1);
  for (int k = 0; k < p->model->n_inputs && st == EIN_OK; k++) st = argument_view(m, p, 0, k, &p->in[k]);
  for (int k = 0; k < p->model->n_outputs && st == EIN_OK; k++) st = argument_view(m, p, 1, k, &p->out[k]);
  return st == EIN_OK ? LEAVE_OK : probe_failed(m, p, st);
}

typedef struct Sizes { int64_t t, n, r; } Sizes; /* threads; elements per thread's block; repetitions */

static Leave probe_add(Measuring *m, Measure *to, int text, Sizes z, double amount, bool rate, Probe **out) {
  Session *s = m->s;
  BUG_UNLESS(m->n < PROBES_MOST);
  Probe *p = &m->probe[m->n++];
  *p = (Probe){.to = to, .amount = amount, .rate = rate, .runs = 1};
  if (out) *out = p;
  p->model = native_find(&m->object, arena_printf(s->arena, "%s_model", prefix_of(s->arena, text)));
  if (!p->model) return fail(s, LEAVE_MACHINE, "what the C compiler made has no model in it");
  ein_config config = {.size = sizeof config, .threads = (int)z.t};
  ein_status st = p->model->create(&config, &p->ctx);
  int64_t *dim = NEW_ARRAY(s->arena, int64_t, p->model->n_dims + 1);
  for (int i = 0; i < p->model->n_dims; i++) {
    const char *name = p->model->dim[i];
    dim[i] = *name == 'T' ? z.t : *name == 'R' ? z.r : z.n;
  }
  if (st == EIN_OK) st = p->model->plan(p->ctx, dim);
  return st == EIN_OK ? views_make(m, p) : probe_failed(m, p, st);
}

/* ---- running -------------------------------------------------------------------------------- */

static void pause_briefly(void) {
  struct timespec t = {0, 2000000};
  nanosleep(&t, NULL);
}

static ein_status run_once(Probe *p) {
  ein_status st = p->model->run(p->ctx, p->in, p->out);
  if (p->from) *p->from = *(const int64_t *)p->out[0].data;
  return st;
}

static Leave sample_take(Measuring *m, Probe *p, double *seconds) {
  ein_status st = EIN_OK;
  if (p->sleeps) pause_briefly();
  else if (!p->far) st = run_once(p); /* the others' data are out of the caches, ours are in */
  double before = seconds_now(), least = INFINITY;
  for (int64_t i = 0; i < p->runs && st == EIN_OK; i++) {
    double start = p->shortest ? seconds_now() : 0;
    st = run_once(p);
    if (p->shortest) least = fmin(least, seconds_now() - start);
  }
  *seconds = p->shortest ? least : (seconds_now() - before) / (double)p->runs;
  return st == EIN_OK ? LEAVE_OK : probe_failed(m, p, st);
}

/* Finds how many runs make the clock's error negligible. */
static Leave runs_find(Measuring *m, Probe *p) {
  double t = 0;
  Leave l = LEAVE_OK;
  while (!l && !p->sleeps) {
    l = sample_take(m, p, &t);
    if (t * (double)p->runs >= sample_least || p->runs >= 1 << 24) break;
    double wanted = ceil(sample_least / fmax(t, 1e-9));
    p->runs = (int64_t)fmin(fmax(wanted, (double)p->runs * 2), (double)p->runs * 100);
  }
  return l;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void figures_sort(double *x, size_t n) { qsort(x, n, sizeof *x, by_size); }

double figure_short(Arena *a, double x) {
  const char *text = arena_printf(a, "%.4g", x);
  BUG_UNLESS(double_read(text, strlen(text), &x));
  return x;
}

static double figure(const Measuring *m, const Probe *p, double seconds) {
  return figure_short(m->s->arena, p->rate ? p->amount / seconds : seconds / p->amount);
}

static Leave probes_run(Measuring *m) {
  Leave l = LEAVE_OK;
  for (uint32_t k = 0; k < m->n && !l; k++) l = runs_find(m, &m->probe[k]);
  for (int i = 0; i < ROUNDS; i++)
    for (uint32_t k = 0; k < m->n && !l; k++) l = sample_take(m, &m->probe[k], &m->probe[k].sample[i]);
  for (uint32_t k = 0; k < m->n && !l; k++) {
    Probe *p = &m->probe[k];
    figures_sort(p->sample, ROUNDS);
    *p->to =
        (Measure){figure(m, p, p->sample[0]), figure(m, p, p->sample[ROUNDS / 2]), figure(m, p, p->sample[ROUNDS - 1])};
  }
  return l;
}

static void probes_end(Measuring *m) {
  for (uint32_t k = 0; k < m->n; k++)
    if (m->probe[k].ctx) m->probe[k].model->destroy(m->probe[k].ctx);
  m->n = 0;
}

/* ---- caches and memory ---------------------------------------------------------------------- */

/* Makes one ring of one element per cache line, in a fixed order that no prefetcher can guess. */
static void ring_make(int64_t *x, int64_t n) {
  enum { STEP = 8 };
  uint64_t random = 88172645463325252u;
  int64_t lines = n / STEP;
  for (int64_t i = 0; i < lines; i++) x[i * STEP] = i * STEP;
  for (int64_t i = lines - 1; i > 0; i--) { /* Sattolo's algorithm: a permutation of one cycle */
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    int64_t j = (int64_t)(random % (uint64_t)i) * STEP, was = x[i * STEP];
    x[i * STEP] = x[j];
    x[j] = was;
  }
}

/* Each probe has its own ring: one that fits a cache is walked repeatedly, one in far memory piece by piece. */
static Leave latency_probe(Measuring *m, int64_t bytes, bool far, Measure *to) {
  enum { READS_FAR = 50000 };
  int64_t n = bytes / 8, lines = bytes / 64;
  char *ring = arena_alloc(m->s->arena, (size_t)bytes + 64);
  ring += 64 - (uintptr_t)ring % 64;
  ring_make((int64_t *)(void *)ring, n);
  Sizes z = {1, n, far && lines > READS_FAR ? READS_FAR : lines};
  Probe *p;
  Leave l = probe_add(m, to, TEXT_CHASE, z, (double)z.r, false, &p);
  if (l) return l;
  p->in[0].data = ring;
  p->in[1].data = p->from = NEW(m->s->arena, int64_t);
  p->far = far;
  return LEAVE_OK;
}

/* At most half of cache k, and more than the previous one holds. */
static int64_t ring_size(const Measuring *m, uint32_t k) {
  enum { LARGE = 8 << 20 };
  if (k == m->n_cache) return m->far;
  int64_t half = m->cache[k].bytes / 2, least = k ? 2 * m->cache[k - 1].bytes : half;
  return half < LARGE || half < least ? half : least > LARGE ? least : LARGE;
}

/* If the system does not report caches, finds them from the time of a read. */
static Leave caches_feel(Measuring *m) {
  enum { SIZES = 32 };
  int64_t bytes[SIZES], found[CACHES_MOST];
  double seconds[SIZES];
  uint32_t n = 0;
  for (int64_t size = 8192; n + 1 < SIZES && size * 3 / 2 <= m->far; size *= 2)
    bytes[n++] = size, bytes[n++] = size * 3 / 2;
  Measure *x = NEW_ARRAY(m->s->arena, Measure, SIZES);
  Leave l = LEAVE_OK;
  for (uint32_t k = 0; k < n && !l; k++) l = latency_probe(m, bytes[k], bytes[k] > 8 << 20, &x[k]);
  if (!l) l = probes_run(m);
  probes_end(m);
  if (l) return l;
  for (uint32_t k = 0; k < n; k++) seconds[k] = x[k].value;
  m->n_cache = machine_caches_guess(n, bytes, seconds, CACHES_MOST, found);
  for (uint32_t k = 0; k < m->n_cache; k++)
    m->cache[k] = (CacheHere){found[k], 0, k && k + 1 == m->n_cache ? m->cores : 1};
  return LEAVE_OK;
}

static int64_t memory_bytes(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE), all = 0;
  return pages > 0 && size > 0 && mul_ok(pages, size, &all) ? all : 0;
}

/* Four times the size of the caches counts as far; but not more than the machine can spare. */
static void pool_make(Measuring *m) {
  int64_t last = m->n_cache ? m->cache[m->n_cache - 1].bytes * (m->cores / m->cache[m->n_cache - 1].shared) : 32 << 20;
  int64_t spare = memory_bytes() / 8, matrix = (int64_t)SIDE * SIDE * 8 * m->cores;
  m->far = 4 * last;
  if (m->far > 1 << 30) m->far = 1 << 30;
  if (spare && m->far > spare / 2) m->far = spare / 2;
  if (m->far < 16 << 20) m->far = 16 << 20;
  if (m->far < 2 * matrix) m->far = 2 * matrix;
  m->pool_bytes = 2 * m->far;
  m->pool = arena_alloc(m->s->arena, (size_t)m->pool_bytes + 65536);
  m->pool += 4096 - (uintptr_t)m->pool % 4096;
  memset(m->pool, 0x3C, (size_t)m->pool_bytes + 4096); /* to make its pages resident; small numbers in each dtype */
}

static const char *memory_name(const Measuring *m, uint32_t k) {
  return k < m->n_cache ? arena_printf(m->s->arena, "L%u", k + 1) : "memory";
}

/* What `t` threads reach in memory k; each has a block of half its share. */
static Leave memory_probes(Measuring *m, MachineLevel *l, uint32_t k, int64_t t) {
  MachineMemory *x = &l->memories.at[k];
  const CacheHere *c = &m->cache[k];
  int64_t block = m->far / t;
  if (k < m->n_cache) block = c->bytes / (t < c->shared ? t : c->shared) / 2;
  int64_t n = block / 256 * 64, half = n / 128 * 64, total = 64 << 20;
  int64_t r = total / (n * 4) > 0 ? total / (n * 4) : 1;
  Probe *p;
  Leave e = probe_add(m, &x->read, TEXT_READ, (Sizes){t, n, r}, (double)t * (double)n * 4 * (double)r, true, &p);
  p->far = k == m->n_cache;
  if (!e)
    e = probe_add(m, &x->copy, TEXT_COPY, (Sizes){t, half, r}, (double)t * (double)half * 16 * (double)r, true, &p);
  p->far = k == m->n_cache;
  return e;
}

static Leave level_memories(Measuring *m, MachineLevel *l, int64_t t) {
  for (uint32_t k = 0; k <= m->n_cache; k++) {
    const CacheHere *c = &m->cache[k];
    MachineMemory x = {.name = memory_name(m, k),
        .bytes = k < m->n_cache ? c->bytes * ((t + c->shared - 1) / c->shared) : memory_bytes()};
    vec_push(m->s->arena, l->memories, x);
  }
  for (uint32_t k = 0; k <= m->n_cache; k++) {
    Leave e = memory_probes(m, l, k, t);
    if (e) return e;
  }
  return LEAVE_OK;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static Leave rates_probes(Measuring *m, MachineLevel *l, int64_t t) {
  for (size_t k = 0; k < COUNT(products); k++) {
    double operations = (double)(2 * SIDE * SIDE * SIDE * t);
    Leave e = probe_add(m, &l->rate[products[k].dtype][products[k].rate], TEXT_PRODUCTS + (int)k,
        (Sizes){t, SIDE * t, 0}, operations, true, NULL);
    if (e) return e;
  }
  return LEAVE_OK;
}

static Leave price_probes(Measuring *m, Machine *x) {
  enum { TURNS = 100 };
  Probe *p;
  Leave l = probe_add(m, &x->run, TEXT_ONE, (Sizes){1, 0, 0}, 1, false, NULL);
  if (!l) l = probe_add(m, &x->kernel, TEXT_TURNS, (Sizes){1, 0, TURNS}, TURNS, false, NULL);
  if (l || m->cores < 2) return l;
  l = probe_add(m, &x->parallel, TEXT_TURNS, (Sizes){m->cores, 0, TURNS}, TURNS, false, &p);
  if (!l) p->shortest = true;
  if (!l) l = probe_add(m, &x->wake, TEXT_TURNS, (Sizes){m->cores, 0, 1}, 1, false, &p);
  if (!l) p->sleeps = true;
  return l;
}

/* One thread takes w / rate, and n take w / rate / n plus the cost of starting them. The operations are those of a
 * sum over data in the second cache, one per 4-byte element. */
static void worth_find(Machine *x, int cores) {
  const MachineLevel *core = &x->levels.at[0];
  const MachineMemory *second = &core->memories.at[core->memories.len > 2 ? 1 : 0];
  double w = cores > 1 ? x->parallel.value * second->read.value / 4 * cores / (cores - 1) : 0;
  x->worth_threads = round(w / 1000) * 1000;
}

static Leave measure_all(Measuring *m, Machine *x) {
  Session *s = m->s;
  bool many = m->cores > 1;
  Leave l = object_make(m);
  m->n_cache = caches_here(s, m->cores, m->cache);
  if (l) return l;
  pool_make(m);
  if (!m->n_cache) l = caches_feel(m);
  vec_push(s->arena, x->levels, ((MachineLevel){.name = "core", .parts = 1}));
  vec_push(s->arena, x->levels, ((MachineLevel){.name = "node", .parts = m->cores}));
  MachineLevel *core = &x->levels.at[0], *node = &x->levels.at[1];
  if (!l) l = level_memories(m, core, 1);
  if (!l) l = rates_probes(m, core, 1);
  if (!l && many) l = level_memories(m, node, m->cores);
  if (!l && many) l = rates_probes(m, node, m->cores);
  if (!l) l = price_probes(m, x);
  for (uint32_t k = 0; k <= m->n_cache && !l; k++)
    l = latency_probe(m, ring_size(m, k), k == m->n_cache, &core->memories.at[k].latency);
  if (!l) l = probes_run(m);
  if (!many) { /* the core is all there is */
    node->memories = core->memories;
    memcpy(node->rate, core->rate, sizeof node->rate);
  }
  return l;
}

/* Threads are a pool of the runtime, as in a program that ein build makes: they sleep when idle. */
static void own_threads(Session *s, Compiler *c) {
  vec_push(s->arena, c->flags, "-DEIN_PTHREADS");
  vec_push(s->arena, c->flags, "-pthread");
  c->openmp = false;
}

Leave machine_measure(Session *s, const Args *a, Compiler *c, int cores, Machine **out) {
  Measuring *m = NEW(s->arena, Measuring);
  Machine *x = *out = NEW(s->arena, Machine);
  const char *name = processor_name(s->arena);
  *m = (Measuring){.s = s, .args = a, .c = c, .cores = cores};
  x->name = name ? name : "a processor";
  x->made = arena_printf(
      s->arena, "ein machine %s, %s; the best of %d samples", EIN_VERSION, compiler_words(s->arena, c), ROUNDS);
  own_threads(s, c);
  Leave l = measure_all(m, x);
  probes_end(m);
  x->site = 1;
  x->site_bytes = memory_bytes();
  if (m->n_cache) x->line_bytes = m->cache[0].line;
  if (!l) worth_find(x, cores);
  return l;
}
