/* codegen/schedule/door.c - lowers tasks to loops: each kernel of the TaskGraph becomes a tree of statements. Stages
 * that share outer labels run row by row (schedule/cpu/rows/rows.c); a single stage has its own loops
 * (schedule/stage.c). */
#include "finish/finish.h"
#include "schedule.h"

static void note_add(Sched *s, uint32_t stage) {
  Buf b = buf_new(s->arena);
  task_equation(&b, s->t, s->task, stage);
  vec_push(s->arena, s->k->note, str_of(s->t->strings, b.s, b.len));
}

static const Expr *work_of(Sched *s) {
  const Expr *all = ex_int(s, 0);
  s->outer = 0;
  for (uint32_t i = 0; i < s->task->stages.len; i++) all = ex_add(s, all, stage_work(s, &s->task->stages.at[i], 0));
  return all;
}

static void alone(Sched *s, const TaskStage *st) {
  Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, st->sum->n_out + st->sum->n_red + 1)};
  stage_loops(s, st, &e, true);
}

static void stages(Sched *s) {
  LoopBody *was = s->body;
  s->follow.goes_on = !s->follow.in_turn && task_is_continued(s->task);
  s->follow.from = 0, s->follow.then = 1;
  s->outer = 0;
  if (s->follow.in_turn)
    for (uint32_t i = 0; i < s->task->stages.len; i++) alone(s, &s->task->stages.at[i]);
  else if (s->task->stages.len > 1 && !s->follow.goes_on) rows_loops(s);
  else alone(s, &s->task->stages.at[0]);
  into(s, was);
}

void stages_new(Sched *s) {
  uint32_t n = s->task->stages.len;
  s->of_stage = NEW_ARRAY(s->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) s->of_stage[i] = NOWHERE;
  s->value = NEW_ARRAY(s->arena, const Expr *, n + 1);
}

/* Whether the first output label splits the reduced one into parts at this index. */
static bool is_split(const TaskStage *st, const Expr *index, uint32_t red) {
  const Expr *size = st->bound[red];
  int64_t step, far, chunk;
  return size->kind == EX_INT && ex_slope(index, red, &step) && step && mul_ok(step, size->i, &chunk) &&
      ex_slope(index, 0, &far) && far == chunk;
}

/* Reports a long reduction that is split into parts (task/passes/split.c). */
static void parts_tell(Sched *s, const TaskStage *st) {
  const EinSum *sum = st->sum;
  int64_t label = -1;
  if (st->buffer < 0 || buffer_seen(s, (uint32_t)st->buffer)->space != BUF_WORK || !sum->n_out || !sum->n_red) return;
  ExprNodes reads = expr_nodes(s->arena, sum->body, HAS_READ);
  expr_nodes_add(&reads, sum->where);
  for (const Expr *e; (e = expr_next_read(&reads));)
    for (uint32_t k = 0; k < e->n; k++)
      for (uint32_t r = sum->n_out; r < sum->n_out + sum->n_red; r++)
        if (is_split(st, e->arg[k], r)) label = r;
  if (label >= 0)
    how_add(s, NULL, "parts of %lld %s for threads", (long long)st->bound[label]->i, how_label(st, label));
}

/* Computes the stage by one call of a C function. */
static void call_make(Sched *s, const TaskStage *st) {
  place_of_buffer(s, (uint32_t)st->buffer, true);
  for (uint32_t i = 0; i < st->sum->n_slot; i++) place_of_buffer(s, st->slot[i].index, false);
  for (uint32_t l = 0; l < st->sum->n_out + st->sum->n_red; l++) var_new(s, st->label[l], "i");
  how_add(s, NULL, "by the C function %s", st->sum->by->symbol->s);
  vec_push(s->arena, s->k->body, loop_call(s->p, s->k, st));
}

/* Splits loops into ranges, whose copies have names of their own. */
static void ranges_make(Sched *s) {
  uint32_t places = s->k->places.len, vars = s->k->var.len;
  finish_ranges(s->p, s->k, s->target->apart);
  for (uint32_t i = places; i < s->k->places.len; i++) c_scope_take(&s->names, s->k->places.at[i].name);
  for (uint32_t i = vars; i < s->k->var.len; i++) c_scope_take(&s->names, s->k->var.at[i]);
}

/* Makes the loops of the kernel's stages, as a task has them; when: these have turns only if this holds. */
static void task_make(Sched *s, const Task *task, const Expr *when) {
  s->task = task;
  s->when = when;
  stages_new(s);
  stages(s);
  s->when = NULL;
}

/* As they are, or with copies made first. */
static void stages_make(Sched *s, const Task *task) {
  const Expr *when;
  const Task *copied = batch_task(s, task, &when);
  task_make(s, copied, when);
  s->follow.in_turn = when ? false : s->follow.in_turn;
  if (when) task_make(s, task, expr_op1(s->x, OP_NOT, when));
}

static void host_make(Sched *s, const Task *task) {
  parts_tell(s, &task->stages.at[0]);
  const Task *merged = merge_task(s, task);
  if (!grouped_make(s, merged)) stages_make(s, merged);
  ranges_make(s);
  apart_loops(s, &s->k->body);
  finish_kernel(s->p, s->k);
}

static void device_make(Sched *s, const Task *task) {
  s->task = merge_task(s, task);
  stages_new(s);
  s->outer = 0;
  gpu_loops(s);
  finish_device(s->p, s->k, s->target->apart);
}

/* Makes the task's kernel for a target. */
static LoopKernel *kernel_make(Sched *s, const Task *task, Str name, const LoopTarget *target) {
  s->task = task;
  s->target = target;
  s->k = NEW(s->arena, LoopKernel);
  s->k->from = task->place;
  s->k->task = task->step;
  s->k->name = name;
  s->safe = map_new(s->arena), s->steady = map_new(s->arena);
  s->names = c_scope(s->arena, s->t->strings);
  s->body = &s->k->body;
  for (uint32_t i = 0; i < task->stages.len; i++) note_add(s, i);
  s->k->work = work_of(s);
  s->rows.block = 0;
  s->follow.goes_on = s->follow.in_turn = false;
  if (target->device) device_make(s, task);
  else if (task_call(task)) call_make(s, &task->stages.at[0]);
  else host_make(s, task);
  for (uint32_t i = 0; i < s->touched.len; i++) s->of_buffer[s->touched.at[i]] = NOWHERE;
  s->touched.len = 0;
  return s->k;
}

/* Makes the kernel for narrow registers too, and keeps it if it is another one. */
static void narrow_make(Sched *s, const Task *task, LoopKernel *k, CScope *kernels) {
  const LoopTarget *target = s->target;
  LoopTarget narrow = *target;
  narrow.vector_bytes = NARROW_BYTES, narrow.vectors = NARROW_VECTORS;
  uint32_t buffers = s->t->buffers.len;
  LoopKernel *other = kernel_make(s, task, k->name, &narrow);
  s->target = target;
  if (loop_is_twin(s->p, k, other)) s->t->buffers.len = buffers;
  else {
    other->name = c_scope_name(kernels, strings_printf(s->t->strings, "%s_narrow", k->name->s), "step");
    k->narrow = other;
  }
}

/* Only a product of two sides has tiles. */
bool loop_has_tiles(const Task *k) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].sum->n_red && k->stages.at[i].sum->n_out > 1) return true;
  return false;
}

static void kernels_make(Sched *s, const Task *task, CScope *kernels) {
  Str name = c_scope_name(kernels, task->name ? task->name : vec_last(task->stages).name, "step");
  LoopKernel *k = kernel_make(s, task, name, s->target);
  if (s->target->both && !s->target->device && loop_has_tiles(task)) narrow_make(s, task, k, kernels);
  vec_push(s->arena, s->p->kernels, k);
}

static void list_make(Sched *s, const Tasks *list, CScope *kernels) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_KERNEL) kernels_make(s, k, kernels);
    if (k->kind != TASK_REPEAT) continue;
    vec_push(s->arena, s->turns, task_turns(s->t, k));
    list_make(s, &k->body, kernels);
    s->turns.len--;
  }
}

LoopProgram *loop_from_task(TaskGraph *t, const LoopTarget *target) {
  Sched s = {.arena = t->arena, .x = t->exprs, .t = t, .target = target};
  s.p = NEW(t->arena, LoopProgram);
  s.p->arena = t->arena;
  s.p->tasks = t;
  s.labels = axis_labels(t->arena, t, NULL).of;
  s.of_buffer = NEW_ARRAY(t->arena, uint32_t, t->buffers.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) s.of_buffer[b] = NOWHERE;
  CScope kernels = c_scope(t->arena, t->strings);
  list_make(&s, &t->tasks, &kernels);
  return s.p;
}
