/* driver/cmd/cmd_bench.c - ein bench: measures how long a compiled program runs, and reports it verifiably: every
 * sample, their spread, and the compile time separately. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emit/c_tables.h"
#include "task/cost.h"
#include "driver/compile/resident.h"
#include "driver/measure/measure.h"

enum { REPS_USUAL = 7, REPS_MOST = 100000, RUNS_MOST = 1 << 24 };
static const double sample_least = 0.020; /* seconds of a sample: far above the cost of a clock or a thread's start */

typedef struct Bench {
  Session *s;
  const Args *args;
  Job *j;
  Compiler c;
  Library lib;
  Eval e;
  Resident resident;          /* of a device's runs */
  int threads;
  int64_t reps, runs;         /* samples, and runs in each */
  double *sample;             /* seconds of one run, in the order of measurement */
  double median, least, most, mad;
  double lowered;             /* seconds from the file to loops */
  double flops;               /* of one run; 0: none, or not known */
  const char *old;            /* --compare: its file, */
  const JsonValue *old_values; /*   its values, */
  double old_median;          /*   and its median */
} Bench;

/* ---- earlier results ---------------------------------------------------------------------- */

/* The text of one of these values; NULL: there is none. */
static const char *member_text(Arena *a, const JsonValue *object, const char *name) {
  const JsonValue *v = json_member(object, name);
  return v ? span_text(a, v->span) : NULL;
}

static Leave old_read(Bench *b) {
  Session *s = b->s;
  b->old = arg_last(b->args, OPT_COMPARE);
  if (!b->old) return LEAVE_OK;
  Source *src = file_read(s, b->old);
  if (!src) return LEAVE_MACHINE;
  b->old_values = json_read(s->arena, src, diags_new(s->arena));
  const JsonValue *format = json_member(b->old_values, "format"), *median = json_member(b->old_values, "median");
  b->old_median = median && median->kind == JSON_NUMBER ? median->number : 0;
  if (b->old_median > 0 && format && format->kind == JSON_STRING && strcmp(format->text, "ein bench 1") == 0)
    return LEAVE_OK;
  return fail(s, LEAVE_PROGRAM, "%s holds no results of ein bench --format=json", b->old);
}

/* ---- measuring ------------------------------------------------------------------------------ */

static Leave run_many(Bench *b, int64_t n, double *seconds) {
  double before = seconds_now();
  ein_status status;
  for (int64_t i = 0; i < n; i++) {
    Leave l = library_run(b->s, &b->lib, &b->e, &status);
    if (l) return l;
  }
  Leave l = b->s->resident ? resident_wait(b->s, b->s->resident) : LEAVE_OK;
  if (l) return l;
  *seconds = seconds_now() - before;
  return LEAVE_OK;
}

/* Returns the shorter of two runs: a pause of the machine lengthens one, seldom both. */
static Leave run_twice(Bench *b, double *seconds) {
  double second = 0;
  Leave l = run_many(b, b->runs, seconds);
  if (!l) l = run_many(b, b->runs, &second);
  *seconds = fmin(*seconds, second);
  return l;
}

/* Finds how many runs take long enough; this also warms up. */
static Leave runs_find(Bench *b) {
  double t = 0;
  b->runs = 1;
  Leave l = run_twice(b, &t);
  while (!l && t < sample_least && b->runs < RUNS_MOST) {
    double factor = t > sample_least / 100 ? 1.2 * sample_least / t : 10;
    b->runs = (int64_t)ceil((double)b->runs * fmax(factor, 1.1));
    l = run_twice(b, &t);
  }
  return l;
}

static double median_of(Arena *a, const double *x, int64_t n) {
  double *sorted = arena_copy(a, x, (size_t)n * sizeof *x);
  figures_sort(sorted, (size_t)n);
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static void summarise(Bench *b) {
  double *away = NEW_ARRAY(b->s->arena, double, b->reps);
  b->median = median_of(b->s->arena, b->sample, b->reps);
  b->least = b->most = b->sample[0];
  for (int64_t i = 0; i < b->reps; i++) {
    b->least = fmin(b->least, b->sample[i]);
    b->most = fmax(b->most, b->sample[i]);
    away[i] = fabs(b->sample[i] - b->median);
  }
  b->mad = median_of(b->s->arena, away, b->reps);
}

static Leave measure(Bench *b) {
  Leave l = runs_find(b);
  b->sample = NEW_ARRAY(b->s->arena, double, b->reps);
  for (int64_t i = 0; i < b->reps && !l; i++) {
    l = run_many(b, b->runs, &b->sample[i]);
    b->sample[i] /= (double)b->runs;
  }
  if (!l) summarise(b);
  return l;
}

/* ---- measurements --------------------------------------------------------------------------- */

static void flops_count(Bench *b) {
  CostDims dims = {dim_of_job, b->j};
  GraphCost cost;
  CostError error;
  if (!task_flops(b->j->loops->tasks)) return; /* data decide how often loops turn */
  if (!task_cost(b->s->arena, b->j->loops->tasks, &dims, &cost, &error)) return;
  vec_each(const TaskCost, x, cost.tasks) {
    if (!x->depth && x->task->unless < 0) b->flops += (double)x->once.flops; /* inputs are not made again */
  }
}

static Leave reps_read(Bench *b) {
  const char *said = arg_last(b->args, OPT_REPS);
  b->reps = REPS_USUAL;
  if (!said || (int64_read(said, strlen(said), &b->reps) && b->reps >= 1 && b->reps <= REPS_MOST)) return LEAVE_OK;
  return fail(b->s, LEAVE_USAGE, "--reps %s: expected a number from 1 to %d", said, REPS_MOST);
}

static Leave prepare(Bench *b, const Words *inputs) {
  Session *s = b->s;
  Givens given = {0};
  ein_status status;
  double before = seconds_now();
  Leave l = job_read(s, b->j, b->args, b->args->operands.at[0]);
  if (!l) l = job_dims(s, b->j, b->args);
  if (!l) l = given_find(s, b->j, b->args, inputs, &given);
  if (!l) l = job_graph_open(s, b->j, b->args);
  if (!l) l = job_tasks(s, b->j, b->args);
  if (!l) l = job_one_site(s, b->j);
  if (!l) l = job_loops(s, b->j, b->args);
  b->lowered = seconds_now() - before;
  if (l) return l;
  given_fill(s, b->j, &given);
  l = run_inputs(s, b->j, &given, &b->e);
  if (!l) l = defaults_make(s, b->args, b->j, &b->c, b->threads, &b->e);
  if (!l && b->c.nvrtc && !b->c.memory) { /* after what makes defaults */
    l = resident_open(s, &b->resident);
    s->resident = &b->resident;
  }
  if (!l) l = library_open(s, b->j, &b->c, b->threads, &b->lib);
  if (!l) l = library_plan(s, &b->lib, b->j, &b->e, &status);
  if (!l && s->resident) l = resident_bring(s, s->resident, &b->lib, &b->e);
  flops_count(b);
  return l;
}

/* ---- output --------------------------------------------------------------------------------- */

static void time_text(Buf *b, double t) {
  if (t >= 1) buf_printf(b, "%.4g s", t);
  else if (t >= 1e-3) buf_printf(b, "%.4g ms", t * 1e3);
  else buf_printf(b, "%.4g us", t * 1e6);
}

static void text_line(Buf *b, const char *what, double t) {
  buf_printf(b, "  %-10s ", what);
  time_text(b, t);
}

static void dims_json(const Bench *b, Json *j) {
  json_object(j, "dims");
  for (uint32_t i = 0; i < b->j->graph->dims.len; i++) {
    int64_t v;
    if (job_dim(b->j, b->j->graph->dims.at[i].name, &v)) json_int(j, b->j->graph->dims.at[i].name->s, v);
  }
  json_end(j, '}');
}

/* Times are compared whatever was measured; differences in these members are reported. */
static const char *const told[] = {"program", "target", "compiler", "threads", "dims"};

static void what_json(const Bench *b, Json *j) {
  json_str(j, "program", b->j->path);
  json_str(j, "target", loops_device(b->j) ? "cuda" : "c");
  json_str(j, "compiler", compiler_words(j->out->arena, &b->c));
  if (json_has(j, "threads", b->threads)) json_int(j, "threads", b->threads);
  dims_json(b, j);
}

/* On one line. */
static void was_text(Buf *out, const char *what, const char *was) {
  buf_printf(out, "  but before %s was ", what);
  for (const char *c = was; *c; c++)
    if (*c != ' ' || c == was || !strchr(" \n", c[-1])) buf_char(out, *c == '\n' ? ' ' : *c);
  buf_char(out, '\n');
}

static void old_differs(const Bench *b, Buf *out, Json *list) {
  Arena *a = b->s->arena;
  Buf now = buf_new(a);
  Json j = json_new(&now);
  json_object(&j, NULL);
  what_json(b, &j);
  json_end(&j, '}');
  const JsonValue *values = json_read(a, source_new(a, "now", now.s, now.len), diags_new(a));
  for (size_t i = 0; i < COUNT(told); i++) {
    const char *was = member_text(a, b->old_values, told[i]), *is = member_text(a, values, told[i]);
    if (was && is && strcmp(was, is) == 0) continue;
    if (list) json_str(list, NULL, told[i]);
    else was_text(out, told[i], was ? was : "not told");
  }
}

/* The sizes for which it was not compiled. */
static void open_text(const Bench *b, Buf *out) {
  const Dims *dims = &b->j->loops->tasks->dims;
  uint32_t n = 0;
  for (uint32_t i = 0; i < dims->len; i++) {
    int64_t v;
    if (dims->at[i].known || !job_dim(b->j, dims->at[i].name, &v)) continue;
    buf_printf(out, "%s%s = %lld", n++ ? ", " : "  open       ", dims->at[i].name->s, (long long)v);
  }
  if (n) buf_printf(out, "   compiled for any size%s\n", n > 1 ? "s" : "");
}

static void say_text(const Bench *b, Buf *out) {
  buf_printf(out, "%s: %s", b->j->path, compiler_words(out->arena, &b->c));
  if (b->threads) buf_printf(out, ", %d thread%s", b->threads, b->threads == 1 ? "" : "s");
  buf_char(out, '\n');
  text_line(out, "median", b->median);
  buf_printf(
      out, "   of %lld samples, %lld run%s each\n", (long long)b->reps, (long long)b->runs, b->runs == 1 ? "" : "s");
  text_line(out, "least", b->least);
  text_line(out, " most", b->most);
  text_line(out, " MAD", b->mad);
  buf_char(out, '\n');
  if (b->flops > 0)
    buf_printf(out, "  flops      %.4g   %.4g GFLOP/s\n", b->flops, b->flops / b->median * 1e-9);
  buf_printf(out, "  workspace  %zu bytes\n", b->lib.model->workspace(b->lib.ctx));
  open_text(b, out);
  text_line(out, "compiling", b->lowered);
  buf_str(out, " by ein, ");
  if (b->lib.made.old) buf_str(out, "and C that was compiled before");
  else time_text(out, b->lib.made.seconds);
  if (!b->lib.made.old) buf_str(out, " by the C compiler");
  buf_char(out, '\n');
  if (!b->old) return;
  text_line(out, "before", b->old_median);
  buf_printf(out, "   now %.3g times that time\n", b->median / b->old_median);
  old_differs(b, out, NULL);
}

static void rates_json(const Bench *b, Json *j) {
  if (json_has(j, "flops", b->flops > 0)) json_num(j, "flops", b->flops);
  if (json_has(j, "gflops", b->flops > 0)) json_num(j, "gflops", b->flops / b->median * 1e-9);
}

static void say_json(const Bench *b, Buf *out) {
  Json j = json_new(out);
  json_object(&j, NULL);
  json_str(&j, "format", "ein bench 1");
  json_str(&j, "version", EIN_VERSION);
  what_json(b, &j);
  json_int(&j, "runs", b->runs);
  json_array(&j, "seconds");
  for (int64_t i = 0; i < b->reps; i++) json_num(&j, NULL, b->sample[i]);
  json_end(&j, ']');
  json_num(&j, "median", b->median);
  json_num(&j, "least", b->least);
  json_num(&j, "most", b->most);
  json_num(&j, "mad", b->mad);
  rates_json(b, &j);
  json_int(&j, "workspace_bytes", (int64_t)b->lib.model->workspace(b->lib.ctx));
  json_num(&j, "lower_seconds", b->lowered);
  if (json_has(&j, "cc_seconds", !b->lib.made.old)) json_num(&j, "cc_seconds", b->lib.made.seconds);
  if (b->old) {
    json_num(&j, "old_median", b->old_median);
    json_num(&j, "ratio", b->median / b->old_median);
    json_array(&j, "differs");
    old_differs(b, out, &j);
    json_end(&j, ']');
  }
  json_end(&j, '}');
  if (out->s[out->len - 1] != '\n') buf_char(out, '\n');
}

/* ---- the command ---------------------------------------------------------------------------- */

Leave cmd_bench(Session *s, Args *a) {
  Job j = {0};
  Words inputs = {0};
  Bench b = {.s = s, .args = a, .j = &j};
  const char *to = arg_last(a, OPT_OUTPUT), *format = arg_last(a, OPT_FORMAT);
  if (arg_has(a, OPT_PEERS)) return bench_peers(s, a);
  if (!program_first(s, a)) return program_missing(s, a, "ein bench x.ein");
  for (uint32_t i = 1; i < a->operands.len; i++) vec_push(s->arena, inputs, a->operands.at[i]);
  Leave l = reps_read(&b);
  if (!l) l = threads_wanted(s, a, &b.threads);
  if (!l) l = old_read(&b);
  if (!l) l = compiler_choose(s, a, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &b.c);
  b.c.dense = true; /* an Eval's arrays are */
  if (!l) l = prepare(&b, &inputs);
  if (!l) l = measure(&b);
  if (!l) {
    Buf out = buf_new(s->arena);
    if (format && strcmp(format, "json") == 0) say_json(&b, &out);
    else say_text(&b, &out);
    l = file_write(s, to ? to : "-", out.s, out.len);
  }
  if (!l) library_counts(s, &b.lib);
  library_close(&b.lib);
  s->resident = NULL;
  resident_close(&b.resident);
  return l;
}
