/* codegen/schedule.c - the door from tasks to loops: each kernel of the TaskGraph becomes a tree of statements. The
 * outer labels that its stages share come first; then each stage has its own loops (schedule_stage.c). */
#include "schedule.h"

static void note_add(Sched *s, uint32_t stage) {
  Buf b = buf_new(s->arena);
  task_equation(&b, s->t, s->task, stage);
  vec_push(s->arena, s->k->note, str_of(s->t->strings, b.s, b.len));
}

typedef struct Reads { const TaskStage *st; uint32_t stage; bool some, others; } Reads;

static const Expr *leaf_reads(void *env, Exprs *x, const Expr *leaf) {
  Reads *r = env;
  (void)x;
  if (leaf->kind != EX_READ || !r->st->slot[leaf->i].kept || r->st->slot[leaf->i].index != r->stage) return leaf;
  r->some = true;
  for (uint32_t k = 0; k < leaf->n; k++) r->others |= leaf->arg[k]->kind != EX_LABEL || leaf->arg[k]->i != k;
  return leaf;
}

/* Whether `st` reads what stage `number` keeps; at_labels: it does, and only at its own labels. */
static bool reads_kept(Sched *s, const TaskStage *st, uint32_t number, bool at_labels) {
  Reads r = {.st = st, .stage = number};
  expr_map(s->x, st->sum->body, leaf_reads, &r);
  if (st->sum->where) expr_map(s->x, st->sum->where, leaf_reads, &r);
  return r.some && !(at_labels && r.others);
}

/* A map may put its result where what it is made of lies, if nobody looks at that later. */
static bool keep_in_place(Sched *s, uint32_t number) {
  const TaskStage *st = &s->task->stages.at[number];
  if (st->sum->reducer != RED_NONE) return false;
  for (uint32_t i = 0; i < number; i++) {
    const TaskStage *from = &s->task->stages.at[i];
    bool later = false;
    if (s->of_stage[i] == NOWHERE || from->sum->dtype != st->sum->dtype || from->sum->n_out != st->sum->n_out) continue;
    if (!reads_kept(s, st, i, true)) continue;
    for (uint32_t j = number + 1; j < s->task->stages.len; j++) later |= reads_kept(s, &s->task->stages.at[j], i, false);
    for (uint32_t j = i + 1; j < number; j++) later |= s->of_stage[j] == s->of_stage[i]; /* it is another's already */
    if (later) continue;
    s->of_stage[number] = s->of_stage[i];
    return true;
  }
  return false;
}

/* Where a stage that later ones read keeps its result. */
static void keep(Sched *s, uint32_t number) {
  const TaskStage *st = &s->task->stages.at[number];
  uint32_t skip = s->outer;
  bool read = false;
  for (uint32_t i = number + 1; i < s->task->stages.len; i++) {
    const TaskStage *later = &s->task->stages.at[i];
    for (uint32_t j = 0; j < later->sum->n_slot; j++) read |= later->slot[j].kept && later->slot[j].index == number;
  }
  if (!read || keep_in_place(s, number)) return;
  uint32_t place = place_own(s, st->name, "t", st->sum->dtype, st->sum->n_out - skip, st->bound + skip);
  s->of_stage[number] = place;
  var_add(s, place, NULL);
}

/* About how many scalar operations a stage is, over its labels from `from` on. */
static const Expr *stage_work(Sched *s, const TaskStage *st, uint32_t from) {
  StagePlan p = stage_plan(s, st);
  const Expr *w = ex_int(s, (int64_t)p.ops);
  for (uint32_t l = from; l < p.n_label; l++) w = ex_mul(s, w, st->bound[l]);
  return w;
}

static const Expr *work_of(Sched *s) {
  const Expr *all = ex_int(s, 0);
  s->outer = 0;
  for (uint32_t i = 0; i < s->task->stages.len; i++) all = ex_add(s, all, stage_work(s, &s->task->stages.at[i], 0));
  return all;
}

/* Loops over the rows that all stages share; in them, each stage by itself. */
static void rows(Sched *s, const Expr **outer) {
  uint32_t n = s->task->n_outer;
  Walk *w = NEW(s->arena, Walk);
  const Expr *work = ex_int(s, 0);
  for (uint32_t i = 0; i < s->task->stages.len; i++) work = ex_add(s, work, stage_work(s, &s->task->stages.at[i], n));
  for (uint32_t l = 0; l < n; l++) walk_add(s, w, s->task->stages.at[0].label[l], s->task->stages.at[0].bound[l]);
  walk_chunks(s, w, work, BIND_SEQ);
  for (uint32_t l = 0; l < n; l++) outer[l] = w->index[l];
  s->outer = n;
  for (uint32_t i = 0; i < s->task->stages.len; i++) keep(s, i);
  if (s->block) block_bound(s, outer[n - 1]);
}

/* All stages are maps behind the first, at its labels. */
static bool goes_on(const Task *k) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].sum->n_out != k->n_outer || (i > 0 && k->stages.at[i].sum->reducer != RED_NONE)) return false;
  return k->stages.len > 1 && k->stages.at[0].sum->reducer != RED_NONE;
}

static void stages(Sched *s) {
  uint32_t n = s->task->stages.len;
  const Expr **outer = NEW_ARRAY(s->arena, const Expr *, s->task->n_outer + 1);
  LoopBody *was = s->body;
  s->goes_on = goes_on(s->task);
  s->outer = 0;
  if (n > 1 && !s->goes_on) {
    s->task = block_task(s, s->task);
    rows(s, outer);
  }
  for (uint32_t i = 0; i < (s->goes_on ? 1 : n); i++) {
    const TaskStage *st = &s->task->stages.at[i];
    Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, st->sum->n_out + st->sum->n_red + 1)};
    for (uint32_t l = 0; l < s->outer; l++) e.label[l] = outer[l];
    stage_loops(s, st, &e, n == 1 || s->goes_on);
  }
  into(s, was);
}

static void kernel_make(Sched *s, const Task *task, CScope *kernels) {
  const TaskStage *last = &vec_last(task->stages);
  s->task = task;
  s->k = NEW(s->arena, LoopKernel);
  s->k->from = task->place;
  s->k->task = task->step;
  s->k->name = c_scope_name(kernels, task->name ? task->name : last->name, "step");
  s->safe = map_new(s->arena);
  s->names = c_scope(s->arena, s->t->strings);
  s->body = &s->k->body;
  s->of_stage = NEW_ARRAY(s->arena, uint32_t, task->stages.len + 1);
  for (uint32_t i = 0; i < task->stages.len; i++) s->of_stage[i] = NOWHERE;
  s->value = NEW_ARRAY(s->arena, const Expr *, task->stages.len + 1);
  for (uint32_t i = 0; i < task->stages.len; i++) note_add(s, i);
  s->k->work = work_of(s);
  s->block = 0;
  stages(s);
  for (uint32_t i = 0; i < s->touched.len; i++) s->of_buffer[s->touched.at[i]] = NOWHERE;
  s->touched.len = 0;
  vec_push(s->arena, s->p->kernels, s->k);
}

static void list_make(Sched *s, const Tasks *list, CScope *kernels) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_KERNEL) kernel_make(s, k, kernels);
    if (k->kind == TASK_REPEAT) list_make(s, &k->body, kernels);
  }
}

LoopProgram *loop_from_task(TaskGraph *t, const LoopTarget *target) {
  Sched s = {.arena = t->arena, .x = t->exprs, .t = t, .target = target};
  s.p = NEW(t->arena, LoopProgram);
  s.p->arena = t->arena;
  s.p->tasks = t;
  s.of_buffer = NEW_ARRAY(t->arena, uint32_t, t->buffers.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) s.of_buffer[b] = NOWHERE;
  CScope kernels = c_scope(t->arena, t->strings);
  list_make(&s, &t->tasks, &kernels);
  return s.p;
}
