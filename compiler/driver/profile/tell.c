/* driver/profile/tell.c - a profile as a table: one line per step, measured next to what tasks and a machine file
 * predict (profile.h). */
#include "driver/compile/native.h"
#include "driver/plan/sites.h"
#include "driver/table.h"
#include "plan/machine.h"
#include "task/cost.h"
#include "task/sites/site.h"
#include "task/text/text.h"
#include "profile.h"

enum { ROWS = 40 };           /* lines at most */
#define OFF 2.0               /* a step that takes this many times as long as predicted is marked */

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void steps_note(ProfileStep *all, const Tasks *list, uint32_t depth) {
  vec_each_of(const Task, k, *list) {
    all[k->step] = (ProfileStep){k, depth};
    if (k->kind == TASK_REPEAT) steps_note(all, &k->body, depth + 1);
  }
}

const ProfileStep *profile_steps(Arena *a, const TaskGraph *t) {
  ProfileStep *all = NEW_ARRAY(a, ProfileStep, t->n_steps + 1);
  steps_note(all, &t->tasks, 0);
  return all;
}

static const char *buffer_name(Arena *a, const TaskGraph *t, uint32_t buffer) {
  const TaskBuffer *b = &t->buffers.at[buffer];
  return b->name ? shown(a, b->name->s) : arena_printf(a, "%%%u", buffer);
}

static const char *words_of_move(Arena *a, TaskMove m) {
  char *w = arena_printf(a, "%s", task_move_word(m));
  for (char *c = w; *c; c++)
    if (*c == '_') *c = '-';
  return w;
}

const char *profile_step_text(Arena *a, const TaskGraph *t, const Task *k) {
  Buf b = buf_new(a);
  switch (k->kind) {
  case TASK_KERNEL: task_equation(&b, t, k, k->stages.len - 1); break;
  case TASK_FETCH:
    buf_printf(&b, "what %s wants of %s", buffer_name(a, t, (uint32_t)vec_last(k->stages).buffer),
        buffer_name(a, t, task_table(k)));
    break;
  case TASK_MOVE: buf_printf(&b, "%s: %s", buffer_name(a, t, k->buffer), words_of_move(a, k->move)); break;
  case TASK_REPEAT: buf_printf(&b, "repeat %s: between turns", k->turn->s); break;
  case TASK_ZERO: buf_printf(&b, "%s = 0", buffer_name(a, t, k->buffer)); break;
  case TASK_DEFAULT: buf_printf(&b, "%s is its default", buffer_name(a, t, t->inputs.at[k->argument].buffer)); break;
  case TASK_ASSERT: buf_printf(&b, "assert %s", k->name ? k->name->s : ""); break;
  }
  return b.s;
}

/* ---- predictions ------------------------------------------------------------------------------------------------- */

typedef struct StepTold {      /* of a step in a run, by its kernels or by what moves */
  double seconds, most;        /* measured: over sites, and of the slowest one */
  double times;                /* of one site */
  double flops, bytes;         /* over sites: operations, read and written */
  double received, wanted;     /* bytes that arrived; predicted ones: at most, in a fetch */
  double predicted;            /* the machine file's largest prediction in seconds; 0: none */
} StepTold;

typedef struct Telling {
  const Profile *p;
  const Args *a;
  const Job *j;
  Arena *arena;
  const Machine *machine;      /* NULL: none was given */
  const MachineLevel *level;   /*   whose parts are sites */
  const ProfileStep *step;
  StepTold *told;              /* by step */
  StepTold kernels, moves;     /* of all of them */
  double all, longest;         /* seconds: of all sites, of the longest run */
  const uint32_t *at;          /* the position of the current site */
} Telling;

static bool dim_at(void *ctx, Str name, int64_t *out) {
  const Telling *x = ctx;
  const TaskGraph *t = x->p->tasks;
  for (uint32_t i = 0; i < t->mesh.n; i++)
    if (t->dims.at[i].name == name) return *out = x->at[i], true;
  return job_dim(x->j, name, out);
}

/* The slower of arithmetic and memory, by the machine's best figures; 0: they are missing. */
static double kernel_seconds(const Telling *x, const Task *k, double flops, double bytes) {
  const MachineLevel *l = x->level;
  double reads = 0, rate;
  if (!l) return 0;
  const MachineMemory *far = machine_memory_find(l, "memory");
  if (far) reads = far->copy.value > 0 ? far->copy.value : far->read.value;
  rate = l->rate[vec_last(k->stages).sum->acc][RATE_MULTIPLY_ADD].value;
  if (!(reads > 0) || (flops > 0 && !(rate > 0))) return 0;
  double arithmetic = flops > 0 ? flops / rate : 0;
  return x->machine->kernel.value + (arithmetic > bytes / reads ? arithmetic : bytes / reads);
}

/* By the link of the level around a site, if it connects machines with their own memory. */
static double move_seconds(const Telling *x, double bytes) {
  const Machine *m = x->machine;
  if (!m || m->site + 1 >= m->levels.len) return 0;
  const MachineLevel *l = &m->levels.at[m->site + 1];
  return l->link.value > 0 ? l->link_latency.value + bytes / l->link.value : 0;
}

static void longer(double *most, double x) { *most = x > *most ? x : *most; }

static void measured_add(StepTold *t, const ProfileSite *site, uint32_t step) {
  const ProfileCount *c = &site->count[2 * (size_t)step];
  t->seconds += c[0].seconds + c[1].seconds;
  longer(&t->most, c[0].seconds + c[1].seconds);
  longer(&t->times, c[0].times);
  t->received += c[0].received + c[1].received;
}

static void move_predict(Telling *x, const ProfileSite *site, const Task *k) {
  const TaskGraph *t = x->p->tasks;
  double times = site->count[2 * (size_t)k->step].times,
         comes = k->kind == TASK_MOVE ? move_received(t, k, x->at) : fetch_received(t, k, x->at);
  x->told[k->step].wanted += times * comes;
  longer(&x->told[k->step].predicted, times * move_seconds(x, comes));
}

static void kernel_predict(Telling *x, const ProfileSite *site, const Task *k, const CostSum *once) {
  StepTold *told = &x->told[k->step];
  double times = site->count[2 * (size_t)k->step].times, flops = (double)once->flops,
         bytes = (double)once->read + (double)once->written;
  told->flops += times * flops;
  told->bytes += times * bytes;
  longer(&told->predicted, times * kernel_seconds(x, k, flops, bytes));
}

static void site_add(Telling *x, const ProfileSite *site, const uint32_t *at) {
  const TaskGraph *t = x->p->tasks;
  CostDims dims = {dim_at, x};
  GraphCost cost;
  CostError error;
  x->at = at;
  x->all += site->ended - site->begun;
  longer(&x->longest, site->ended - site->begun);
  for (uint32_t k = 0; k < t->n_steps; k++) {
    const Task *task = x->step[k].task;
    measured_add(&x->told[k], site, k);
    if (task && (task->kind == TASK_MOVE || task->kind == TASK_FETCH)) move_predict(x, site, task);
  }
  if (!task_cost(x->arena, t, &dims, &cost, &error)) return; /* its sizes overflow 64 bits: impossible after a run */
  for (uint32_t i = 0; i < cost.tasks.len; i++)
    if (cost.tasks.at[i].task->kind == TASK_KERNEL)
      kernel_predict(x, site, cost.tasks.at[i].task, &cost.tasks.at[i].once);
}

static void told_add(StepTold *all, const StepTold *x) {
  all->seconds += x->seconds;
  all->flops += x->flops;
  all->bytes += x->bytes;
  all->received += x->received;
  all->wanted += x->wanted;
  all->predicted += x->predicted;
}

static Leave telling_find(Telling *x) {
  const Profile *p = x->p;
  const TaskGraph *t = p->tasks;
  int threads;
  Leave l = machine_said(p->s, x->a, &x->machine);
  if (!l) l = threads_wanted(p->s, x->a, &threads);
  if (l) return l;
  bool alone = threads == 1 || (t->mesh.n && !threads);
  if (x->machine) x->level = &x->machine->levels.at[alone ? 0 : x->machine->site];
  x->step = profile_steps(x->arena, t);
  x->told = NEW_ARRAY(x->arena, StepTold, t->n_steps + 1);
  for (int i = 0; i < p->n_sites; i++) {
    uint32_t at[MESH_AXES + 1] = {0};
    if (t->mesh.n) mesh_place(&t->mesh, i, at);
    site_add(x, p->site[i], at);
  }
  for (uint32_t k = 0; k < t->n_steps; k++) {
    const Task *task = x->step[k].task;
    if (!task) continue;
    if (task->kind == TASK_KERNEL) told_add(&x->kernels, &x->told[k]);
    if (task->kind == TASK_MOVE || task->kind == TASK_FETCH) told_add(&x->moves, &x->told[k]);
  }
  return LEAVE_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static bool bytes_come(const Telling *x) { return x->moves.received > 0 || x->moves.wanted > 0; }

static const char *percent(Arena *a, double part, double all) {
  return arena_printf(a, "%.1f %%", all > 0 ? 100 * part / all : 0);
}

static const char *rate_text(Arena *a, double amount_of, double seconds) {
  return amount_of > 0 && seconds > 0 ? arena_printf(a, "%.3g", amount_of / seconds * 1e-9) : "";
}

/* "3.1 x": the ratio to the prediction, if it is out of bounds. */
static const char *off_text(Arena *a, const StepTold *t) {
  if (!(t->predicted > 0) || !(t->most > 0)) return "";
  double times = t->most / t->predicted;
  return times > OFF || times < 1.0 / OFF ? arena_printf(a, "%.3g x", times) : "";
}

static void cell_add(TableRow *r, int *n, const char *text) { r->cell[(*n)++] = text; }

static TableRow head_row(const Telling *x, int *columns) {
  TableRow r = {.tail = ""};
  int n = 0;
  cell_add(&r, &n, "step");
  cell_add(&r, &n, "what");
  cell_add(&r, &n, "times");
  cell_add(&r, &n, "time");
  if (x->machine) cell_add(&r, &n, "predicted"), cell_add(&r, &n, "off");
  cell_add(&r, &n, "share");
  cell_add(&r, &n, "GFLOP/s");
  cell_add(&r, &n, "GB/s");
  if (bytes_come(x)) cell_add(&r, &n, "received"), cell_add(&r, &n, x->machine ? "as planned" : "predicted");
  cell_add(&r, &n, "line");
  *columns = n;
  return r;
}

static TableRow step_row(const Telling *x, uint32_t step) {
  Arena *a = x->arena;
  const Task *k = x->step[step].task;
  const StepTold *t = &x->told[step];
  bool moves = k->kind == TASK_MOVE || k->kind == TASK_FETCH;
  TableRow r = {.tail = ""};
  int n = 0;
  cell_add(&r, &n, arena_printf(a, "%u", step));
  cell_add(&r, &n, arena_printf(a, "%*s%s", (int)(2 * x->step[step].depth), "", profile_step_text(a, x->p->tasks, k)));
  if (k->kind == TASK_KERNEL && k->stages.len > 1) r.tail = arena_printf(a, " (and %u before it)", k->stages.len - 1);
  cell_add(&r, &n, amount(a, (int64_t)t->times, ""));
  cell_add(&r, &n, seconds_of(a, t->most));
  if (x->machine)
    cell_add(&r, &n, t->predicted > 0 ? seconds_of(a, t->predicted) : ""), cell_add(&r, &n, off_text(a, t));
  cell_add(&r, &n, percent(a, t->seconds, x->all));
  cell_add(&r, &n, rate_text(a, t->flops, t->seconds));
  cell_add(&r, &n, rate_text(a, t->bytes, t->seconds));
  if (bytes_come(x)) {
    cell_add(&r, &n, moves ? bytes_of(a, t->received) : "");
    cell_add(
        &r, &n, !moves ? "" : arena_printf(a, "%s%s", k->kind == TASK_FETCH ? "at most " : "", bytes_of(a, t->wanted)));
  }
  cell_add(&r, &n, line_text(a, x->j->path, k->place));
  return r;
}

/* Whether a step ran, and did something. */
static bool row_has(const Telling *x, uint32_t k) {
  const Task *task = x->step[k].task;
  return task && task->kind != TASK_DEFAULT && x->told[k].times > 0;
}

/* The slowest ones, in the order of the run. */
static uint32_t rows_choose(const Telling *x, bool *shown_as) {
  uint32_t n = 0;
  for (; n < ROWS; n++) {
    uint32_t most = UINT32_MAX;
    for (uint32_t k = 0; k < x->p->n_steps; k++)
      if (row_has(x, k) && !shown_as[k] && (most == UINT32_MAX || x->told[k].seconds > x->told[most].seconds)) most = k;
    if (most == UINT32_MAX) break;
    shown_as[most] = true;
  }
  return n;
}

static Table table_of(const Telling *x) {
  Arena *a = x->arena;
  Table t = {.clipped = 1};
  TableRow head = head_row(x, &t.columns);
  bool *chosen = NEW_ARRAY(a, bool, x->p->n_steps + 1);
  rows_choose(x, chosen);
  t.left = 1u << 1 | 1u << (t.columns - 1);
  vec_push(a, t.rows, head);
  double rest = 0;
  uint32_t more = 0;
  for (uint32_t k = 0; k < x->p->n_steps; k++) {
    if (!row_has(x, k)) continue;
    if (chosen[k]) vec_push(a, t.rows, step_row(x, k));
    else more++, rest += x->told[k].seconds;
  }
  if (!more) return t;
  TableRow r = {.tail = ""};
  for (int i = 0; i < t.columns; i++) r.cell[i] = "";
  r.cell[1] = arena_printf(a, "%u more, shorter", more);
  r.cell[3] = seconds_of(a, rest / x->p->n_sites);
  vec_push(a, t.rows, r);
  return t;
}

static void head_text(const Telling *x, Buf *b) {
  Arena *a = x->arena;
  const int n = x->p->n_sites;
  double rest = x->all - x->kernels.seconds - x->moves.seconds;
  buf_printf(b, "profile of %s: %s", shown(a, x->j->path), seconds_of(a, x->longest));
  if (n > 1) buf_printf(b, ", %d sites", n);
  buf_printf(b, "\n  %-9s%s of the time, %s", "kernels", percent(a, x->kernels.seconds, x->all),
      seconds_of(a, x->kernels.seconds / n));
  if (n > 1) buf_str(b, " a site");
  if (x->kernels.flops > 0 && x->kernels.seconds > 0)
    buf_printf(b, "; %s GFLOP/s%s", rate_text(a, x->kernels.flops, x->kernels.seconds), n > 1 ? " each" : "");
  if (n > 1)
    buf_printf(b, "\n  %-9s%s of the time, %s a site, waiting for others among it", "moves",
        percent(a, x->moves.seconds, x->all), seconds_of(a, x->moves.seconds / n));
  if (bytes_come(x))
    buf_printf(
        b, "\n  %-9s%s; predicted %s", "received", bytes_of(a, x->moves.received), bytes_of(a, x->moves.wanted));
  if (rest > 0) buf_printf(b, "\n  %-9s%s of the time", "else", percent(a, rest, x->all));
  if (x->machine) buf_printf(b, "\n  %-9s by the best figures of %s", "predicted", shown(a, x->machine->name));
  buf_str(b, "\n\n");
}

/* The table; with --machine, also that machine's predictions. */
static Leave profile_text(const Profile *p, const Args *a, const Job *j, Buf *b) {
  Telling x = {.p = p, .a = a, .j = j, .arena = b->arena};
  Leave l = telling_find(&x);
  if (l) return l;
  Table t = table_of(&x);
  head_text(&x, b);
  table_print(b, &t);
  return LEAVE_OK;
}

static Leave trace_write(const Profile *p, const Job *j) {
  Buf b = buf_new(p->s->arena);
  bool lost = false;
  for (int i = 0; i < p->n_sites; i++) lost |= p->site[i]->lost;
  profile_trace(p, j, &b);
  Leave l = file_write(p->s, p->trace, b.s, b.len);
  if (!l && lost)
    say(p->s, "%s has the first %u steps, and messages, of each site: there were more", p->trace, p->room);
  return l;
}

Leave profile_say(Session *s, const Args *a, const Job *j) {
  const Profile *p = s->profile;
  Buf b = buf_new(s->arena);
  if (!p || !p->tasks) return LEAVE_OK;
  Leave l = p->trace ? trace_write(p, j) : LEAVE_OK;
  if (l || !p->told) return l;
  l = profile_text(p, a, j, &b);
  if (!l) print_aside(s, &b);
  return l;
}

/* The arguments of ein run, without options that mean something else to ein plan; always compiled, even if ein run
 * has an evaluator. */
static Args args_of_run(Session *s, const Args *said, Words *inputs) {
  Args a = *said;
  a.command = CMD_RUN;
  a.given[OPT_OUTPUT] = (Words){0};
  a.given[OPT_PROFILE] = a.given[OPT_TARGET] = (Words){0};
  vec_push(s->arena, a.given[OPT_PROFILE], "");
  if (language_of(said->operands.at[0]) == LANG_TRA) vec_push(s->arena, a.given[OPT_TARGET], "c");
  for (uint32_t i = 1; i < said->operands.len; i++) vec_push(s->arena, *inputs, said->operands.at[i]);
  return a;
}

Leave profile_analyze(Session *s, const Args *said) {
  Words inputs = {0};
  const Args a = args_of_run(s, said, &inputs);
  Job j;
  Buf b = buf_new(s->arena);
  Leave l = job_read(s, &j, &a, said->operands.at[0]);
  if (!l) l = run_profiled(s, &j, &a, &inputs);
  if (!l && s->profile->trace) l = trace_write(s->profile, &j);
  if (!l) l = profile_text(s->profile, &a, &j, &b);
  if (!l) print(s, &b);
  return l;
}
