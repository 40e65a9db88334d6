/* driver/measure/device.c - measures a device, as machine_measure does a processor: with our own programs, compiled
 * as for ein bench, with arguments in its memory, in consecutive runs in one stream. Sizes grow until overheads are
 * negligible. Devices exchange data over the bus through the host: that is the link. */
#include <math.h>
#include <string.h>

#include "driver/compile/resident.h"
#include "measure.h"

enum { SAMPLES = 7 };
static const double run_least = 0.002, sample_least = 0.004, memory_least = 0.0005;

typedef struct Device {
  Session *s;
  const Args *args;          /* as for ein bench --target=cuda */
  Compiler c;
  Resident resident;
} Device;

/* A program over a growing size N; `amount` per run: operations, bytes or turns, as a constant times N to some
 * power. */
typedef struct Trial {
  const char *text;
  int64_t first, most;       /* values of N that are tried */
  double least;              /* seconds of a run that is long enough */
  double amount;
  int power;
  bool rate;                 /* per second; else seconds per unit */
} Trial;

/* ---- a program ------------------------------------------------------------------------------------------ */

static Leave trial_failed(const Device *d, const Library *l, ein_status st) {
  return fail(d->s, status_leave(st), "measuring: %s", l->model->last_error(l->ctx));
}

static Leave trial_open(Device *d, const Trial *p, Library *l) {
  Job j;
  session_fresh(d->s);
  Leave leave = job_from_text(d->s, &j, "measured", p->text);
  if (!leave) leave = job_graph_open(d->s, &j, d->args);
  if (!leave) leave = job_loops(d->s, &j, d->args);
  return leave ? leave : library_open(d->s, &j, &d->c, 0, l);
}

/* Makes a view of its argument in separate memory, filled with small numbers of any dtype. */
static Leave view_make(Device *d, const Library *l, int output, int k, ein_tensor *v) {
  const ein_argument *a = output ? &l->model->output[k] : &l->model->input[k];
  int64_t *shape = NEW_ARRAY(d->s->arena, int64_t, a->ndim + 1), count = 1;
  uint64_t at = 0;
  ein_status st = l->model->shape(l->ctx, output, k, shape);
  if (st) return trial_failed(d, l, st);
  for (int i = 0; i < a->ndim; i++) count *= shape[i];
  Leave leave = resident_take(d->s, &d->resident, (size_t)count * ein_dtype_size(a->dtype), &at);
  *v = (ein_tensor){
      .data = (void *)(uintptr_t)at, .device_type = 2, .ndim = (int32_t)a->ndim, .dtype = a->dtype, .shape = shape};
  return leave;
}

static Leave runs_time(
    Device *d, const Library *l, const ein_tensor *in, const ein_tensor *out, int64_t runs, double *seconds) {
  ein_status st = EIN_OK;
  double before = seconds_now();
  for (int64_t i = 0; i < runs && !st; i++) st = l->model->run(l->ctx, in, out);
  if (st) return trial_failed(d, l, st);
  Leave leave = resident_wait(d->s, &d->resident);
  *seconds = (seconds_now() - before) / (double)runs;
  return leave;
}

/* Measures seconds per run, in samples of some runs each; the first ones are not counted. */
static Leave samples_take(Device *d, const Library *l, const ein_tensor *in, const ein_tensor *out, double *sample) {
  int64_t runs = 1;
  Leave leave = LEAVE_OK;
  for (int i = 0; i < 3 && !leave; i++) leave = runs_time(d, l, in, out, 1, &sample[0]);
  if (!leave) runs = (int64_t)fmin(fmax(ceil(sample_least / fmax(sample[0], 1e-7)), 1), 10000);
  for (int i = 0; i < SAMPLES && !leave; i++) leave = runs_time(d, l, in, out, runs, &sample[i]);
  if (!leave) figures_sort(sample, SAMPLES);
  return leave;
}

static Leave size_run(Device *d, const Library *l, int64_t n, double *sample) {
  const ein_model *m = l->model;
  ein_tensor *in = NEW_ARRAY(d->s->arena, ein_tensor, m->n_inputs + 1),
             *out = NEW_ARRAY(d->s->arena, ein_tensor, m->n_outputs + 1);
  ein_status st = m->plan(l->ctx, &n);
  Leave leave = st ? trial_failed(d, l, st) : LEAVE_OK;
  for (int k = 0; k < m->n_inputs && !leave; k++) leave = view_make(d, l, 0, k, &in[k]);
  for (int k = 0; k < m->n_outputs && !leave; k++) leave = view_make(d, l, 1, k, &out[k]);
  if (!leave) leave = samples_take(d, l, in, out, sample);
  resident_drop(&d->resident);
  return leave;
}

static Measure measure_of(Arena *a, const double *sample, double amount, bool rate) {
  const int which[] = {0, SAMPLES / 2, SAMPLES - 1};
  double x[3];
  for (int k = 0; k < 3; k++) x[k] = figure_short(a, rate ? amount / sample[which[k]] : sample[which[k]] / amount);
  return (Measure){x[0], x[1], x[2]};
}

static Leave trial_measure(Device *d, const Trial *p, Measure *to) {
  Library l = {0};
  double sample[SAMPLES] = {0};
  int64_t n = p->first;
  Leave leave = trial_open(d, p, &l);
  for (; !leave; n *= 2) {
    leave = size_run(d, &l, n, sample);
    if (sample[0] >= p->least || n * 2 > p->most) break;
  }
  if (l.ctx) library_close(&l);
  if (!leave) *to = measure_of(d->s->arena, sample, p->amount * pow((double)n, p->power), p->rate);
  return leave;
}

/* ---- the bus --------------------------------------------------------------------------------------------- */

/* There and back, from host memory that the device accesses directly. */
static Leave bus_measure(Device *d, size_t bytes, double *sample) {
  Leave leave = LEAVE_OK;
  for (int i = -1; i < SAMPLES && !leave; i++) {
    double before = seconds_now();
    leave = resident_there_and_back(d->s, &d->resident, bytes);
    if (i >= 0) sample[i] = seconds_now() - before;
  }
  if (!leave) figures_sort(sample, SAMPLES);
  return leave;
}

static Leave link_measure(Device *d, MachineLevel *l) {
  enum { SMALL = 4, LARGE = 64 << 20 };
  double sample[SAMPLES];
  Leave leave = bus_measure(d, SMALL, sample);
  if (!leave) l->link_latency = measure_of(d->s->arena, sample, 1, false);
  if (!leave) leave = bus_measure(d, LARGE, sample);
  if (!leave) l->link = measure_of(d->s->arena, sample, LARGE, true);
  return leave;
}

/* ---- everything together ---------------------------------------------------------------------------------- */

static Leave rates_measure(Device *d, MachineLevel *l) {
  static const struct { DType dtype; MachineRate rate; } all[] = {
    {DT_F64, RATE_MULTIPLY_ADD}, {DT_F32, RATE_MULTIPLY_ADD}, {DT_F16, RATE_MULTIPLY_ADD}, {DT_BF16, RATE_MULTIPLY_ADD},
    {DT_I64, RATE_MULTIPLY_ADD}, {DT_I32, RATE_MULTIPLY_ADD}, {DT_F32, RATE_ADD_MAX}};
  Leave leave = LEAVE_OK;
  for (size_t k = 0; k < COUNT(all) && !leave; k++) {
    const char *t = dtype_name(all[k].dtype);
    bool max = all[k].rate == RATE_ADD_MAX;
    Trial p = {.first = 64, .most = 8192, .least = run_least, .amount = 2, .power = 3, .rate = true};
    p.text = arena_printf(d->s->arena,
        "dim N\ninput A[i:N, k:N] : %s\ninput B[k:N, j:N] : %s\noutput C[i,j] = %s[k] (A[i,k] %c B[k,j])\n", t, t,
        max ? "max" : "sum", max ? '+' : '*');
    leave = trial_measure(d, &p, &l->rate[all[k].dtype][all[k].rate]);
  }
  return leave;
}

static Leave memory_measure(Device *d, MachineMemory *m) {
  static const Trial read = {
      "dim N\ninput X[i:N, k:1024] : f32\noutput Y[i] = sum[k] X[i,k]\n", 64, 262144, memory_least, 4096, 1, true};
  static const Trial copy = {
      "dim N\ninput X[i:N, k:1024] : f32\noutput Y[i,k] = 2 * X[i,k]\n", 64, 262144, memory_least, 8192, 1, true};
  Leave leave = trial_measure(d, &read, &m->read);
  return leave ? leave : trial_measure(d, &copy, &m->copy);
}

static Leave prices_measure(Device *d, Machine *x) {
  static const Trial one = {"dim N\ninput X[i:N] : f32\noutput Y[i] = 2 * X[i]\n", 1, 1, 0, 1, 0, false};
  static const Trial turns = {
      "dim N\ninput X[i:32] : f32\nrepeat t < N {\n  state s[i] = X[i]\n  next s[i] = 0.5 * s[i] + 1\n}\n"
      "output Y[i] = s[i]\n",
      256, 256, 0, 256, 0, false};
  Leave leave = trial_measure(d, &one, &x->run);
  return leave ? leave : trial_measure(d, &turns, &x->kernel);
}

static Leave all_measure(Device *d, Machine *x) {
  Arena *a = d->s->arena;
  MachineLevel gpu = {.name = "gpu", .parts = 1}, server = {.name = "server", .parts = 1};
  MachineMemory memory = {.name = "memory"};
  Leave leave = resident_about(d->s, &d->resident, &x->name, &memory.bytes, &server.parts);
  x->site_bytes = memory.bytes;
  if (!leave) leave = memory_measure(d, &memory);
  vec_push(a, gpu.memories, memory);
  if (!leave) leave = rates_measure(d, &gpu);
  if (!leave) leave = link_measure(d, &server);
  if (!leave) leave = prices_measure(d, x);
  vec_push(a, x->levels, gpu);
  vec_push(a, x->levels, server);
  return leave;
}

Leave device_measure(Session *s, const Args *a, Machine **out) {
  Device *d = NEW(s->arena, Device);
  Args *args = arena_copy(s->arena, a, sizeof *a);
  Machine *x = *out = NEW(s->arena, Machine);
  args->given[OPT_TARGET] = (Words){0};
  vec_push(s->arena, args->given[OPT_TARGET], "cuda");
  *d = (Device){.s = s, .args = args};
  Leave leave = compiler_choose(s, args, arg_last(args, OPT_CC), arg_last(args, OPT_FLAGS), &d->c);
  d->c.dense = true; /* the arguments are */
  if (!leave) leave = resident_open(s, &d->resident), s->resident = &d->resident;
  if (!leave) leave = all_measure(d, x);
  s->resident = NULL;
  resident_close(&d->resident);
  x->made = arena_printf(s->arena, "ein machine --cuda %s, %s; the best of %d samples", EIN_VERSION,
      compiler_words(s->arena, &d->c), SAMPLES);
  return leave;
}
