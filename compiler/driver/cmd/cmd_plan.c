/* driver/cmd/cmd_plan.c - ein plan, for one site: predicts what a run will do and take: the kernels, their operations
 * and bytes, and the memory.
 * docs/schema/ein-plan-1.json says what --format=json writes. */
#include <string.h>

#include "emit/c_inside.h"
#include "ein_run.h"
#include "graph/passes/passes.h"
#include "task/cost.h"
#include "driver/driver.h"
#include "driver/plan/device/device.h"
#include "driver/plan/map.h"
#include "driver/plan/sites.h"
#include "driver/compile/native.h"
#include "driver/profile/profile.h"
#include "driver/table.h"

typedef struct Report Report;
struct Report {
  Session *s;
  const Job *j;
  const TaskGraph *t;
  GraphCost cost;
  int threads;
  int64_t work, scratch, workspace; /* bytes: of buffers, of a thread's own memory, in all */
  int64_t *offset;           /* of each buffer that is work */
  const Report *usual;       /* under --deterministic: the plan without it; else NULL */
  const DevicePlan *device;  /* NULL: it is for a processor */
};

/* ---- sizes -------------------------------------------------------------------------------------- */

static CostDims dims_of(const Report *p) {
  return (CostDims){dim_of_job, (void *)(uintptr_t)p->j};
}

static Leave dims_said(const Report *p) {
  Buf missing = buf_new(p->s->arena), words = buf_new(p->s->arena);
  uint32_t n = 0;
  vec_each(const Dim, d, p->t->dims) {
    int64_t v;
    if (d->known || job_dim(p->j, d->name, &v)) continue;
    buf_printf(&missing, "%s%s", n++ ? ", " : "", d->name->s);
    buf_printf(&words, " -D %s=64", d->name->s);
  }
  if (!n) return LEAVE_OK;
  return fail(p->s, LEAVE_USAGE,
      "no value for dim%s %s: a plan is of one size, as with%s; the shapes of files say it too, as in X=x.npy",
      n > 1 ? "s" : "", missing.s, words.s);
}

static const char *where(const Report *p, Place at) {
  return at.file ? arena_printf(p->s->arena, " (%s:%u)", at.file->s, at.line) : "";
}

/* Reports the same as the run would when it is planned. */
static Leave cost_failed(const Report *p, const CostError *e) {
  Session *s = p->s;
  const TaskBuffer *b = e->buffer;
  switch (e->kind) {
  case COST_NO_VALUE: return fail(s, LEAVE_USAGE, "no value for dim %s", e->dim->s);
  case COST_CHECK:
    return fail(s, LEAVE_PROGRAM, "%s%s",
        e->check->text && e->check->text->len ? e->check->text->s : "a check of the sizes does not hold",
        where(p, e->check->place));
  case COST_NEGATIVE:
    if (!b) return fail(s, LEAVE_PROGRAM, "the size %s is %lld, which is less than 0", e->dim->s, (long long)e->size);
    return fail(s, LEAVE_PROGRAM, "the size of dimension %u of %s is %lld, which is less than 0%s", e->axis + 1,
                b->name ? b->name->s : "a tensor", (long long)e->size, where(p, b->place));
  case COST_TOO_LARGE: break;
  }
  return fail(
      s, LEAVE_PROGRAM, "the size of %s does not fit 64 bits%s", b->name ? b->name->s : "a tensor", where(p, b->place));
}

/* ---- memory: as the runtime takes it -------------------------------------------------------------- */

/* The most scratch memory per thread that any kernel needs, as the emitted C computes it. */
static bool scratch_most(Report *p) {
  CostDims dims = dims_of(p);
  LoopSizes sizes = loop_scratches(p->j->loops);
  for (uint32_t i = 0; i < sizes.len; i++) {
    int64_t bytes;
    if (!cost_size(p->s->arena, &dims, sizes.at[i], &bytes)) return false;
    if (bytes > p->scratch) p->scratch = bytes;
  }
  return true;
}

static Leave memory_find(Report *p) {
  int64_t all;
  p->offset = NEW_ARRAY(p->s->arena, int64_t, p->t->buffers.len + 1);
  p->work = work_layout(p->s->arena, p->t, NULL, p->cost.bytes, p->offset);
  if (p->work >= 0 && scratch_most(p) && mul_ok(p->scratch, p->threads, &all) && add_ok(p->work, all, &p->workspace))
    return LEAVE_OK;
  return fail(p->s, LEAVE_PROGRAM, "the work memory does not fit 64 bits");
}

/* ---- numbers for people ------------------------------------------------------------------------------ */

static const char *flops_text(Arena *a, const CostSum *x) {
  if (x->flops || !x->integer) return amount(a, x->flops, "");
  return arena_printf(a, "%s int", amount(a, x->integer, ""));
}

static const char *buffer_name(const Report *p, uint32_t buffer) {
  const TaskBuffer *b = &p->t->buffers.at[buffer];
  return b->name ? shown(p->s->arena, b->name->s) : arena_printf(p->s->arena, "%%%u", buffer);
}

/* ---- the head ------------------------------------------------------------------------------------- */

static void head_dims(const Report *p, Buf *b) {
  buf_str(b, shown(b->arena, p->j->path));
  for (uint32_t i = 0, n = 0; i < p->t->dims.len; i++) {
    const Dim *d = &p->t->dims.at[i];
    int64_t v = d->value;
    if (d->known || job_dim(p->j, d->name, &v))
      buf_printf(b, "%s%s = %lld", n++ ? ", " : ": ", shown(b->arena, d->name->s), (long long)v);
  }
  buf_char(b, '\n');
}

static void head_line(Buf *b, const char *what, const char *value) {
  buf_printf(b, "  %-22s%s", what, value);
}

static int64_t bytes_moved(const GraphCost *g) {
  int64_t moved;
  return add_ok(g->all.read, g->all.written, &moved) ? moved : COST_MOST;
}

static void head_print(const Report *p, Buf *b) {
  Arena *a = b->arena;
  const GraphCost *g = &p->cost, *u = p->usual ? &p->usual->cost : NULL;
  head_dims(p, b);
  head_line(b, "flops", amount(a, g->all.flops, ""));
  if (g->all.integer) buf_printf(b, ", and %s operations on integers", amount(a, g->all.integer, ""));
  buf_char(b, '\n');
  if (u)
    head_line(b, "not --deterministic", amount(a, u->all.flops, "")),
        buf_printf(b, " flops, %s moved\n", amount(a, bytes_moved(u), "B"));
  head_line(b, "bytes moved", amount(a, bytes_moved(g), "B"));
  buf_printf(b, ": %s read, %s written\n", amount(a, g->all.read, "B"), amount(a, g->all.written, "B"));
  head_line(b, "largest intermediate", g->largest < 0 ? "none" : buffer_name(p, (uint32_t)g->largest));
  if (g->largest >= 0) buf_printf(b, ", %s", amount(a, g->bytes[g->largest], "B"));
  buf_char(b, '\n');
  head_line(b, "peak memory", amount(a, p->workspace, "B"));
  if (p->scratch)
    buf_printf(
        b, " with %d thread%s, %s of it for each", p->threads, p->threads > 1 ? "s" : "", amount(a, p->scratch, "B"));
  buf_printf(b, "; beside inputs of %s, outputs of %s\n", amount(a, g->inputs, "B"), amount(a, g->outputs, "B"));
  if (p->device) device_plan_text(p->j, p->device, b);
  if (g->a_turn) buf_str(b, "  Where data decide how many turns a repeat makes, one turn is counted.\n");
}

/* ---- a line a kernel ------------------------------------------------------------------------------ */

enum { COL_STEP, COL_WHAT, COL_FLOPS, COL_IN, COL_OUT, COL_LINE, COLUMNS };

static TableRow row_new(const Report *p, const TaskCost *x, const char *what) {
  Arena *a = p->s->arena;
  TableRow r = {.tail = ""};
  r.cell[COL_STEP] = arena_printf(a, "%u", x->task->step);
  r.cell[COL_WHAT] = arena_printf(a, "%*s%s", (int)(2 * x->depth), "", what);
  r.cell[COL_FLOPS] = flops_text(a, &x->once);
  r.cell[COL_IN] = amount(a, x->once.read, "B");
  r.cell[COL_OUT] = amount(a, x->once.written, "B");
  r.cell[COL_LINE] = line_text(p->s->arena, p->j->path, x->task->place);
  if (x->task->unless >= 0)
    r.tail = arena_printf(a, "  (%s not given)", shown(a, p->t->inputs.at[x->task->unless].name->s));
  return r;
}

static void kernel_rows(const Report *p, const TaskCost *x, Table *t) {
  Arena *a = p->s->arena;
  for (uint32_t i = 0; i < x->task->stages.len; i++) {
    Buf b = buf_new(a);
    task_equation(&b, p->t, x->task, i);
    TableRow r = row_new(p, x, b.s);
    if (i) r = (TableRow){.cell = {"", r.cell[COL_WHAT], "", "", "", ""}, .tail = ""};
    vec_push(a, t->rows, r);
  }
}

static const char *repeat_text(const Report *p, const TaskCost *x) {
  const Task *k = x->task;
  const char *most = k->stop >= 0 ? "at most " : "";
  if (x->turns < 0) return arena_printf(p->s->arena, "repeat %s, a turn:", k->turn->s);
  return arena_printf(
      p->s->arena, "repeat %s, %s%lld turn%s:", k->turn->s, most, (long long)x->turns, x->turns == 1 ? "" : "s");
}

static Table table_of(const Report *p) {
  Arena *a = p->s->arena;
  Table t = {.columns = COLUMNS, .clipped = COL_WHAT, .left = 1u << COL_WHAT | 1u << COL_LINE};
  vec_push(a, t.rows, ((TableRow){.cell = {"step", "equation", "flops", "in", "out", "line"}, .tail = ""}));
  vec_each(const TaskCost, x, p->cost.tasks) {
    const char *what = NULL;
    if (x->task->kind == TASK_KERNEL) kernel_rows(p, x, &t);
    if (x->task->kind == TASK_ZERO) what = arena_printf(a, "%s = 0", buffer_name(p, x->task->buffer));
    if (x->task->kind == TASK_REPEAT) what = repeat_text(p, x);
    if (what) vec_push(a, t.rows, row_new(p, x, what));
  }
  return t;
}

/* What optimisation did to the equations: "simplify: constants folded, 3 times (x.ein:4)". */
static void notes_print(const Report *p, Buf *b) {
  const PassNotes *all = p->j->notes;
  buf_str(b, all && all->all.len ? "\n" : "");
  for (uint32_t i = 0; all && i < all->all.len; i++) {
    const PassNote *n = &all->all.at[i];
    const char *line = line_text(p->s->arena, p->j->path, n->place);
    buf_printf(b, "%s: %s", n->pass, n->what);
    if (n->count > 1) buf_printf(b, ", %u times", n->count);
    if (*line) buf_printf(b, " (%s%s)", n->place.file && strchr(line, ':') ? "" : "line ", line);
    buf_char(b, '\n');
  }
}

static const LoopKernel *loops_of(const Report *p, const Task *k) {
  for (uint32_t i = 0; i < p->j->loops->kernels.len; i++)
    if (p->j->loops->kernels.at[i]->task == k->step) return p->j->loops->kernels.at[i];
  return NULL;
}

/* What was decided about the loops of each kernel: "step 3: tiles of 8 i by 32 j". */
static void decisions_print(const Report *p, Buf *b) {
  buf_char(b, '\n');
  for (uint32_t i = 0; i < p->cost.tasks.len; i++) {
    const Task *task = p->cost.tasks.at[i].task;
    const LoopKernel *k = task->kind == TASK_KERNEL ? loops_of(p, task) : NULL;
    for (uint32_t n = 0; k && n < k->how.len; n++)
      buf_printf(b, "step %u: %s\n", task->step, shown(p->s->arena, k->how.at[n]->s));
  }
}

static void plan_text(const Report *p, Buf *b) {
  Table t = table_of(p);
  head_print(p, b);
  buf_char(b, '\n');
  table_print(b, &t);
  if (p->device) device_plan_table(p->j, p->device, b);
  if (p->s->verbose) decisions_print(p, b), notes_print(p, b);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void put_amount(Json *j, const char *key, int64_t n) {
  if (json_has(j, key, n >= 0 && n != COST_MOST)) json_int(j, key, n);
}

static void put_sum(Json *j, const CostSum *x) {
  put_amount(j, "flops", x->flops);
  put_amount(j, "integer_operations", x->integer);
  put_amount(j, "bytes_read", x->read);
  put_amount(j, "bytes_written", x->written);
}

static void put_totals(Json *j, const Report *p) {
  const GraphCost *g = &p->cost;
  json_object(j, "totals");
  put_sum(j, &g->all);
  put_amount(j, "bytes_moved", bytes_moved(g));
  json_bool(j, "one_turn", g->a_turn);
  if (json_has(j, "largest_intermediate", g->largest >= 0)) {
    json_object(j, "largest_intermediate");
    json_int(j, "buffer", g->largest);
    json_name(j, "name", p->t->buffers.at[g->largest].name);
    json_int(j, "bytes", g->bytes[g->largest]);
    json_end(j, '}');
  }
  json_int(j, "workspace_bytes", p->workspace);
  json_int(j, "buffers_bytes", p->work);
  json_int(j, "scratch_bytes", p->scratch);
  json_int(j, "threads", p->threads);
  put_amount(j, "input_bytes", g->inputs);
  put_amount(j, "output_bytes", g->outputs);
  json_end(j, '}');
}

static void put_buffer(Json *j, const Report *p, uint32_t k) {
  static const char *const space[] = {"input", "output", "work"};
  const TaskBuffer *b = &p->t->buffers.at[k];
  bool work = b->space == BUF_WORK;
  json_object(j, NULL);
  json_int(j, "id", k);
  json_str(j, "space", space[b->space]);
  json_name(j, "name", b->name);
  json_str(j, "dtype", dtype_name(b->dtype));
  json_ints(j, "shape", b->rank, p->cost.shape[k]);
  json_int(j, "bytes", p->cost.bytes[k]);
  put_amount(j, "first", work ? (int64_t)b->first : -1);
  put_amount(j, "last", work ? (int64_t)b->last : -1);
  put_amount(j, "offset", work ? p->offset[k] : -1);
  json_place(j, b->place);
  json_end(j, '}');
}

static void put_uses(Json *j, const TaskCost *x) {
  json_objects(j, "uses", i, x->uses.len) {
    json_int(j, "buffer", x->uses.at[i].buffer);
    put_amount(j, "read", x->uses.at[i].read);
    put_amount(j, "written", x->uses.at[i].written);
  }
}

static void put_equations(Json *j, const Report *p, const Task *k) {
  json_each(j, "equations", i, k->stages.len) {
    Buf b = buf_new(p->s->arena);
    task_equation(&b, p->t, k, i);
    json_strn(j, NULL, b.s, b.len);
  }
  const LoopKernel *loops = loops_of(p, k);
  json_array(j, "how");
  for (uint32_t i = 0; loops && i < loops->how.len; i++) json_str(j, NULL, loops->how.at[i]->s);
  json_end(j, ']');
}

static void put_repeat(Json *j, const TaskCost *x) {
  json_int(j, "end", x->task->end);
  json_name(j, "turn", x->task->turn);
  put_amount(j, "turns", x->turns);
  json_bool(j, "may_stop", x->task->stop >= 0);
}

static void put_task(Json *j, const Report *p, const TaskCost *x) {
  static const char *const kind[] = {"kernel", "repeat", "zero", "default", "assert"};
  const Task *k = x->task;
  json_object(j, NULL);
  json_int(j, "step", k->step);
  json_str(j, "kind", kind[k->kind]);
  json_name(j, "name", k->name);
  json_place(j, k->place);
  json_int(j, "depth", x->depth);
  put_amount(j, "times", x->times);
  json_name(j, "unless", k->unless < 0 ? NULL : p->t->inputs.at[k->unless].name);
  put_sum(j, &x->once);
  if (k->kind == TASK_KERNEL) put_equations(j, p, k);
  if (k->kind == TASK_KERNEL || k->kind == TASK_ZERO) put_uses(j, x);
  if (k->kind == TASK_REPEAT) put_repeat(j, x);
  json_end(j, '}');
}

static void put_notes(Json *j, const Report *p) {
  const PassNotes *all = p->j->notes;
  json_array(j, "notes");
  for (uint32_t i = 0; all && i < all->all.len; i++) {
    const PassNote *n = &all->all.at[i];
    json_object(j, NULL);
    json_str(j, "pass", n->pass);
    json_str(j, "what", n->what);
    json_int(j, "count", n->count);
    json_place(j, n->place);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void plan_json(const Report *p, Buf *out) {
  Json j = json_new(out);
  json_object(&j, NULL);
  json_str(&j, "schema", "ein plan 1");
  json_str(&j, "program", p->j->path);
  json_int(&j, "sites", 1);
  json_object(&j, "dims");
  for (uint32_t i = 0; i < p->t->dims.len; i++) {
    int64_t v = p->t->dims.at[i].value;
    if (p->t->dims.at[i].known || job_dim(p->j, p->t->dims.at[i].name, &v)) json_int(&j, p->t->dims.at[i].name->s, v);
  }
  json_end(&j, '}');
  put_totals(&j, p);
  if (p->usual) {
    json_object(&j, "usual");
    put_sum(&j, &p->usual->cost.all);
    put_amount(&j, "bytes_moved", bytes_moved(&p->usual->cost));
    json_end(&j, '}');
  }
  if (p->device) device_plan_json(p->device, &j);
  json_each(&j, "buffers", i, p->t->buffers.len) put_buffer(&j, p, i);
  json_each(&j, "tasks", i, p->cost.tasks.len) put_task(&j, p, &p->cost.tasks.at[i]);
  put_notes(&j, p);
  json_end(&j, '}');
}

/* ---- the command ---------------------------------------------------------------------------------- */

/* Whether --memory is that of one run: on a device, or on one site. */
static bool for_one_run(Session *s, const Args *a) {
  return target_device(s, a) || (!arg_has(a, OPT_SITES) && !arg_has(a, OPT_PLAN_FILE));
}

/* The first given option that only a plan for many sites uses; NULL: none. */
static const char *for_many_said(Session *s, const Args *x) {
  Arena *a = s->arena;
  static const OptionId for_many[] = {OPT_COSTS, OPT_PLANNER, OPT_AGAINST, OPT_PLAN_FILE, OPT_PIN, OPT_BUDGET, OPT_WHY,
      OPT_CERTIFICATE, OPT_MEMORY, OPT_SIMULATE, OPT_DERIVATION};
  const char *format = arg_last(x, OPT_PLAN_FORMAT), *to = arg_last(x, OPT_OUTPUT);
  for (size_t k = 0; k < COUNT(for_many); k++)
    if (arg_has(x, for_many[k]) && (for_many[k] != OPT_MEMORY || !for_one_run(s, x)))
      return arena_printf(a, "--%s", options[for_many[k]].name);
  if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0 &&
      !(strcmp(format, "html") == 0 && target_device(s, x)))
    return arena_printf(a, "--format=%s", format);
  return !format && to && language_of(to) == LANG_PLAN ? arena_printf(a, "-o %s", to) : NULL;
}

/* A plan is of what is compiled. */
static Leave target_planned(Session *s, const Args *a) {
  const char *said = arg_last(a, OPT_TARGET);
  if (said && (strcmp(said, "eval") == 0 || strcmp(said, "mpi") == 0))
    return fail(s, LEAVE_USAGE, "--target=%s: a plan is of what is compiled, c, jit or cuda; for many sites, -n", said);
  return LEAVE_OK;
}

/* Whether a plan for many sites is wanted, whose costs are different ones. */
static Leave sites_wanted(Session *s, const Args *a, bool *many) {
  int64_t n;
  Leave l = sites_read(s, a, &n);
  const char *said = for_many_said(s, a);
  *many = n > 1 || said;
  if (l || !said || arg_has(a, OPT_SITES) || arg_has(a, OPT_PLAN_FILE)) return l;
  return fail(s, LEAVE_USAGE, "%s is for plans for many sites; -n says for how many", said);
}

/* Lowers as for a library: sizes that the program leaves open do not shape its kernels. */
static Leave lowered(Report *p, Job *j, const Args *a) {
  Session *s = p->s;
  Leave l = job_read(s, j, a, a->operands.at[0]);
  if (!l && job_of_sites(j))
    l = fail(s, LEAVE_USAGE,
        "%s is what each of %lld sites does; the .ia that it is made of says what that moves: ein plan x.ia",
        j->path, (long long)mesh_sites(&j->tasks->mesh));
  if (!l) l = job_sizes(s, j, a);
  if (!l) l = job_graph_open(s, j, a);
  if (!l) l = job_loops(s, j, a);
  p->j = j;
  p->t = j->tasks;
  return l;
}

static Leave report_find(Report *p) {
  CostError error;
  Leave l = dims_said(p);
  if (l) return l;
  CostDims dims = dims_of(p);
  return task_cost(p->s->arena, p->t, &dims, &p->cost, &error) ? memory_find(p) : cost_failed(p, &error);
}

Leave plan_say(Session *s, Job *j, const Args *a, Buf *out) {
  Report p = {.s = s, .threads = 1, .j = j};
  Leave l = job_loops(s, j, a);
  p.t = j->tasks;
  if (!l) l = report_find(&p);
  if (!l) plan_text(&p, out);
  return l;
}

Leave plan_peak(Session *s, Job *j, const Args *a, double *bytes) {
  Report p = {.s = s, .threads = 1, .j = j};
  Leave l = threads_wanted(s, a, &p.threads);
  if (!p.threads) p.threads = 1;
  if (!l) l = job_loops(s, j, a);
  p.t = j->tasks;
  if (!l) l = report_find(&p);
  if (!l) *bytes = (double)p.workspace + (double)p.cost.inputs + (double)p.cost.outputs;
  return l;
}

static Leave device_report(Report *p, const Args *a) {
  DevicePlan *d = NEW(p->s->arena, DevicePlan);
  CostDims dims = dims_of(p);
  p->device = d;
  return device_plan_find(p->s, p->j, a, &p->cost, &dims, p->work, d);
}

static Leave usual_find(Report *p, const Args *a) {
  Args one = *a;
  Job *j = NEW(p->s->arena, Job);
  Report *usual = MAKE(p->s->arena, Report, .s = p->s, .threads = p->threads);
  one.given[OPT_DETERMINISTIC] = (Words){0};
  Leave l = lowered(usual, j, &one);
  if (!l) l = report_find(usual);
  p->usual = usual;
  return l;
}

static Leave plan_and_report(Session *s, Args *a) {
  Job j;
  Report p = {.s = s, .threads = 1};
  const char *format = arg_last(a, OPT_PLAN_FORMAT), *to = arg_last(a, OPT_OUTPUT);
  bool many = false;
  if (arg_has(a, OPT_MAP)) return plan_map(s, a);
  Language from = language_of(a->operands.at[0]);
  bool placed = from == LANG_TRA && (arg_has(a, OPT_SITES) || arg_has(a, OPT_PLAN_FILE));
  if (placed) return plan_sites(s, a);
  if (from == LANG_TRA || from == LANG_IA) return plan_relations(s, a);
  Leave l = sites_wanted(s, a, &many);
  if (!l) l = target_planned(s, a);
  if (!l && many) return plan_sites(s, a);
  if (!l) l = threads_wanted(s, a, &p.threads);
  if (!p.threads) p.threads = 1;
  if (!l) l = lowered(&p, &j, a);
  if (!l) l = report_find(&p);
  if (!l && target_device(s, a)) l = device_report(&p, a);
  if (!l && arg_has(a, OPT_DETERMINISTIC)) l = usual_find(&p, a);
  if (l) return l;
  Buf out = buf_new(s->arena);
  if (format && strcmp(format, "json") == 0) plan_json(&p, &out);
  else if (format && strcmp(format, "html") == 0) device_plan_page(&j, p.device, &out);
  else plan_text(&p, &out);
  return file_write(s, to ? to : "-", out.s, out.len);
}

/* A run, after the predictions. Words after the program are for that run. */
static Leave analyze_asked(Session *s, Args *a) {
  const char *format = arg_last(a, OPT_PLAN_FORMAT), *to = arg_last(a, OPT_OUTPUT);
  if (!arg_has(a, OPT_ANALYZE))
    return arg_has(a, OPT_TRACE)
        ? fail(s, LEAVE_USAGE, "--trace is of a run: ein plan --analyze makes one, or ein run --trace")
        : LEAVE_OK;
  if (arg_has(a, OPT_MAP)) return fail(s, LEAVE_USAGE, "--map is about many plans, and --analyze runs one");
  if (!to && format && strcmp(format, "text") != 0)
    return fail(s, LEAVE_USAGE, "--analyze prints text: with --format=%s, -o says where the plan goes", format);
  return LEAVE_OK;
}

/* Inputs follow the program: files determine sizes, and --analyze runs with their contents. */
static Leave program_asked(Session *s, Args *a) {
  Str name;
  const char *rest;
  bool one = program_first(s, a);
  if (!a->operands.len) return program_missing(s, a, "ein plan x.ein");
  if (!one && arg_has(a, OPT_ANALYZE)) return program_missing(s, a, "ein plan x.ein --analyze");
  for (uint32_t i = 1; i < a->operands.len; i++) one &= word_split(s, a->operands.at[i], &name, &rest);
  if (!one) return fail(s, LEAVE_USAGE, "one program, please: ein plan x.ein");
  Language from = language_of(a->operands.at[0]);
  if (a->operands.len == 1 || arg_has(a, OPT_ANALYZE) || (from != LANG_TRA && from != LANG_IA)) return LEAVE_OK;
  return fail(
      s, LEAVE_USAGE, "%s: files say the sizes of a program, and %s has its own", a->operands.at[1], a->operands.at[0]);
}

/* `-o x.svg`: unless --format is given, the file's name says it. */
static void format_of_name(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT), *dot = to ? strrchr(to, '.') : NULL;
  if (dot && !arg_has(a, OPT_PLAN_FORMAT) && option_choice(OPT_PLAN_FORMAT, dot + 1))
    vec_push(s->arena, a->given[OPT_PLAN_FORMAT], dot + 1);
}

Leave cmd_plan(Session *s, Args *a) {
  format_of_name(s, a);
  Leave l = analyze_asked(s, a);
  if (!l) l = program_asked(s, a);
  if (!l) l = plan_and_report(s, a);
  if (l || !arg_has(a, OPT_ANALYZE)) return l;
  Buf gap = buf_new(s->arena);
  buf_char(&gap, '\n');
  if (!arg_has(a, OPT_OUTPUT)) print(s, &gap);
  session_fresh(s);
  return profile_analyze(s, a);
}
