/* driver/compile/library.c - an emitted program as functions of this process: opened, planned, run through its
 * ein_model, with the arrays of an Eval as its arguments. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resident.h"
#include "driver/keeping.h"
#include "driver/profile/profile.h"
#include "jit/model.h"
#include "nvrtc.h"

static const char prefix[] = "program";

/* ---- where it crashes ------------------------------------------------------------------------ */

/* A crash here takes down the whole process. So a message is printed first, in the only way that is left to a signal
 * handler; a handler that is installed already (a sanitizer's) is better, and stays. */
static const struct { int signal; const char *name;
} deadly[] = {{SIGSEGV, "segmentation fault"}, {SIGBUS, "bus error"}, {SIGFPE, "arithmetic exception"},
    {SIGILL, "illegal instruction"}};
static const char *crash_tail;

static void crash_say(const char *text) {
  (void)!write(STDERR_FILENO, text, strlen(text));
}

static void crashed(int signal) {
  crash_say("ein: internal error in what was compiled: ");
  for (size_t i = 0; i < COUNT(deadly); i++)
    if (deadly[i].signal == signal) crash_say(deadly[i].name);
  crash_say(crash_tail);
  _exit(LEAVE_BUG);
}

/* Uses sigaction, since a handler that stays may need more than the signal number. */
static void crashes_handle(void (*from)(int), void (*to)(int)) {
  for (size_t i = 0; i < COUNT(deadly); i++) {
    struct sigaction old;
    if (sigaction(deadly[i].signal, NULL, &old) || (old.sa_flags & SA_SIGINFO) || old.sa_handler != from) continue;
    old.sa_handler = to;
    sigaction(deadly[i].signal, &old, NULL);
  }
}

/* Until library_close. A text that begins after the graph is run as it is, whoever wrote it. */
static bool crashes_watch(Session *s, const Job *j) {
  if (s->guest) return false;
  crash_tail = j->past
      ? arena_printf(s->arena, "\nWhat %s says was done as it stands. If it was edited, look there first.\n", j->path)
      : "\nThis is a mistake in ein, not in your program. ein run --target=eval does without it.\n";
  crashes_handle(SIG_DFL, crashed);
  return true;
}

/* ---- opening -------------------------------------------------------------------------------- */

void threads_sleep(const Session *s) {
  if (s->guest) return;
  setenv("OMP_WAIT_POLICY", "passive", 0);
}

Leave library_adopt(Session *s, const Job *j, Bytes object, Library *out) {
  *out = (Library){0};
  Leave l = native_adopt(s, object, "program_model", &out->made);
  if (l) return l;
  out->model = native_find(&out->made, "program_model");
  out->watched = crashes_watch(s, j);
  return LEAVE_OK;
}

/* text: of the set. It contains kernels as NVRTC compiled them; or all of it is CUDA, for a compiler that takes
 * that. */
static Leave device_load(
    Session *s, const Job *j, Compiler *c, const EmitOptions *o, const NativeSet *set, Buf *text, Library *out) {
  double seconds = 0;
  Leave l = LEAVE_OK;
  if (!c->nvrtc && j->tasks->mesh.n)
    return fail(s, LEAVE_USAGE, "--cc compiles all of a program for one device; without it, NVRTC compiles the kernels "
                                "of a plan for several sites");
  if (c->nvrtc) l = device_text(s, j, o, text, &seconds);
  else emit_cuda(text, j->loops, o);
  if (!l) l = native_load(s, c, prefix, set, "program_model", &out->made);
  out->made.seconds += seconds;
  if (seconds > 0) out->made.old = false;
  return l;
}

/* Loads it kernel by kernel, if possible; else as one text. */
static Leave library_load(Session *s, const Job *j, Compiler *c, Library *out, ByKernels *k) {
  EmitOptions o = job_emit(s, j, prefix);
  Buf text = buf_new(s->arena);
  NativeSet set = {.text = &(NativeText){prefix, &text}, .n_texts = 1};
  bool there;
  /* sites get blocks of what is dense */
  if (c->dense && !j->tasks->mesh.n) vec_push(s->arena, set.flags, "-DEIN_DENSE");
  if (loops_device(j)) return device_load(s, j, c, &o, &set, &text, out);
  ExternParts externs;
  Leave l = externs_load(s, j->tasks->exprs, &set.symbols);
  Compiler other = *c; /* sources need a C compiler; Clang in this process finds its results */
  if (!l && c->in_process && set.symbols) l = compiler_find(s, NULL, NULL, &other);
  if (!l) l = externs_parts(s, &other, j->tasks->exprs, &externs);
  set.externs = &externs;
  if (!l && externs.sources.len && !c->in_process) vec_push(s->arena, set.flags, "-Wl,-Bsymbolic");
  if (l) return l;
  l = kernels_load(s, j, c, &o, &set, &out->made, k, &there);
  if (l || there) return l;
  emit_c(&text, j->loops, &o);
  return native_load(s, c, prefix, &set, "program_model", &out->made);
}

Leave library_open(Session *s, const Job *j, Compiler *c, int threads, Library *out) {
  ByKernels k = {0};
  *out = (Library){0};
  if (interrupted()) return fail(s, LEAVE_PROGRAM, "interrupted");
  Leave l = library_load(s, j, c, out, &k);
  if (l) return l;
  out->model = k.model ? &k.model->face : native_find(&out->made, "program_model");
  out->device = loops_device(j);
  out->memory = c->memory;
  out->watched = crashes_watch(s, j);
  ein_config config = {.size = sizeof config, .threads = threads, .stop = stop_flag(s)};
  if (s->keeping) config.between = keeping_between, config.user = s->keeping;
  if (s->resident) config.stream = s->resident->stream;
  if (out->device) config.counts = &out->counts, config.device_memory = out->memory;
  if (s->profile) out->profile = profile_site(s->profile, j->tasks, 0, 1), config.watch = &out->profile->watch;
  ein_status st =
      k.model ? k.runtime->ein_create(&k.model->tables, &config, &out->ctx) : out->model->create(&config, &out->ctx);
  if (st == EIN_OK) return LEAVE_OK;
  return fail(s, status_leave(st), "%s", out->ctx ? out->model->last_error(out->ctx) : "no memory for a context");
}

void library_close(Library *l) {
  if (l->ctx) l->model->destroy(l->ctx);
  if (l->watched) crashes_handle(crashed, SIG_DFL);
  native_close(&l->made);
  *l = (Library){0};
}

void counts_say(Session *s, const char *who, const ein_counts *c) {
  detail(s,
      "%s: %llu launches one by one, %llu graph%s made, %llu launched; %llu bytes went there, %llu "
      "came back",
      who, (unsigned long long)c->launches, (unsigned long long)c->graphs, c->graphs == 1 ? "" : "s",
      (unsigned long long)c->graph_launches, (unsigned long long)c->bytes_up, (unsigned long long)c->bytes_down);
  if (*c->between)
    detail(s, "%s: %s; %llu bytes came so", who, c->between, (unsigned long long)c->bytes_between);
  const char *tool = getenv("NVTX_INJECTION64_PATH");
  if (tool && *tool)
    detail(s, "%s: %llu ranges for the profiler that NVTX_INJECTION64_PATH names%s", who,
        (unsigned long long)c->ranges, c->ranges ? "" : ", which cannot be used");
  if (c->runs_spilled)
    detail(s,
        "%s: %llu run%s did not fit the device's memory: %llu of these bytes were for tensors kept on the host%s%s",
        who, (unsigned long long)c->runs_spilled, c->runs_spilled == 1 ? "" : "s", (unsigned long long)c->bytes_spilled,
        *c->spilled ? ", most of all " : "", c->spilled);
}

void library_counts(Session *s, const Library *l) {
  if (l->device) counts_say(s, "on the device", &l->counts);
}

/* ---- running -------------------------------------------------------------------------------- */

static Leave library_failed(Session *s, const Library *l, ein_status st) {
  const char *why = l->model->last_error(l->ctx);
  if (st == EIN_ERR_PLAN || st == EIN_ERR_ARG) bug("the emitted C: %s", why);
  if (st == EIN_ERR_CANCEL) return fail(s, LEAVE_PROGRAM, "interrupted");
  return fail(s, status_leave(st), "%s", *why ? why : "the computation failed");
}

static Leave dims_take(Session *s, const Library *l, const Job *j, int64_t *dim) {
  for (int i = 0; i < l->model->n_dims; i++) {
    const char *name = l->model->dim[i];
    if (!job_dim(j, str_from(s->strings, name), &dim[i]))
      return fail(s, LEAVE_USAGE, "no value for dim %s: give -D %s=64, or an input from a file whose shape tells it",
                  name, name);
  }
  return LEAVE_OK;
}

static Leave output_new(Session *s, const Library *l, const Eval *e, int k, EvalArray *x, ein_status *status) {
  const ein_argument *a = &l->model->output[k];
  ein_error err = {0};
  int64_t bytes = 0;
  *x = (EvalArray){.dtype = (DType)a->dtype, .rank = (uint32_t)a->ndim};
  x->shape = NEW_ARRAY(s->arena, int64_t, a->ndim + 1);
  *status = l->model->shape(l->ctx, 1, k, x->shape);
  if (*status == EIN_OK) *status = ein_shape_size(a->name, a->dtype, a->ndim, x->shape, &x->count, &bytes, &err);
  if (*status != EIN_OK) return fail(s, status_leave(*status), "output %s: %s", a->name, err.text);
  if (e->max_bytes && bytes > e->max_bytes) {
    *status = EIN_ERR_MEMORY;
    return fail(s, LEAVE_MACHINE, "output %s would take %lld bytes; the limit here is %lld", a->name, (long long)bytes,
                (long long)e->max_bytes);
  }
  x->data = arena_alloc(s->arena, (size_t)bytes + 1);
  return LEAVE_OK;
}

/* The rest of the limit; the inputs are allocated already. */
static double limit_left(const Eval *e) {
  double left = e->max_live ? (double)e->max_live : (double)INFINITY;
  for (uint32_t i = 0; i < e->n_input; i++)
    left -= (double)e->input[i].array.count * dtype_size(e->input[i].array.dtype);
  return left > 0 ? left : 0;
}

/* Its memory is not touched yet: so what does not fit is refused, before the process is killed half way. */
static Leave room_check(Session *s, const Library *l, const Eval *e, ein_status *status) {
  const char *of = "are free";
  double work = l->device ? 0 : (double)l->model->workspace(l->ctx), out = 0, room = (double)memory_free();
  for (int k = 0; k < l->model->n_outputs; k++) out += (double)e->output[k].count * dtype_size(e->output[k].dtype);
  if (!(room > 0) || work + out <= room) room = limit_left(e), of = "are left of three quarters of the memory";
  if (work + out <= room) return LEAVE_OK;
  *status = EIN_ERR_MEMORY;
  return fail(s, LEAVE_MACHINE, "this run would take %.3g GB, %.3g of them outputs, and %.3g GB %s",
      (work + out) * 1e-9, out * 1e-9, room * 1e-9, of);
}

Leave library_plan(Session *s, Library *l, const Job *j, Eval *e, ein_status *status) {
  int64_t *dim = NEW_ARRAY(s->arena, int64_t, l->model->n_dims + 1);
  Leave x = dims_take(s, l, j, dim);
  if (x) return *status = EIN_ERR_SHAPE, x;
  *status = l->model->plan(l->ctx, dim);
  if (*status != EIN_OK) return library_failed(s, l, *status);
  e->output = NEW_ARRAY(s->arena, EvalArray, l->model->n_outputs + 1);
  for (int k = 0; k < l->model->n_outputs && !x; k++) x = output_new(s, l, e, k, &e->output[k], status);
  return x ? x : room_check(s, l, e, status);
}

static ein_tensor view_of(const EvalArray *x) {
  return (ein_tensor){
      .data = x->data, .device_type = 1, .ndim = (int32_t)x->rank, .dtype = (ein_dtype)x->dtype, .shape = x->shape};
}

Leave library_run(Session *s, Library *l, const Eval *e, ein_status *status) {
  ein_tensor *in = NEW_ARRAY(s->arena, ein_tensor, l->model->n_inputs + 1);
  ein_tensor *out = NEW_ARRAY(s->arena, ein_tensor, l->model->n_outputs + 1);
  for (int k = 0; k < l->model->n_inputs; k++)
    for (uint32_t i = 0; i < e->n_input; i++)
      if (strcmp(e->input[i].name->s, l->model->input[k].name) == 0) in[k] = view_of(&e->input[i].array);
  for (int k = 0; k < l->model->n_outputs; k++) out[k] = view_of(&e->output[k]);
  if (s->resident) resident_views(s->resident, l, in, out);
  const InterruptRun going = {l->model->cancel, &l->ctx, 1};
  if (interrupt_begin(s, &going)) *status = profile_run(l->profile, l->model, l->ctx, in, out);
  else *status = EIN_ERR_CANCEL;
  interrupt_end(s);
  return *status == EIN_OK ? LEAVE_OK : library_failed(s, l, *status);
}
