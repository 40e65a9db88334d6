/* task/check_range.c - tasks that were read: every index that no data decide is proved to be in range, where a stage reads and
 * where it stores. See expr/in_range.h. Of a mesh nothing is asked: no C is made of one, and its evaluator looks for itself. */
#include "../expr/in_range.h"
#include "../expr/sum_print.h"
#include "text.h"

typedef struct Check {
  InRange q;
  const TaskGraph *t;
  Diags *d;
  const Task *task;
  const TaskStage *stage;
  bool ok;
  VEC(const Expr *) turns;   /* of the repeats around: how many they make, NULL where that is not known; */
  VEC(Str) turn;             /*   what their loop variables are called */
  const Task **writer;       /* by buffer: the only task that writes it */
} Check;

/* ---- what is said ---------------------------------------------------------------------------------- */

static void print_slot(void *ctx, Buf *out, int64_t slot) {
  const TaskStage *s = ((const Check *)ctx)->stage;
  buf_printf(out, "%c%u", s->slot[slot].kept ? '&' : '%', s->slot[slot].index);
}

static void complain(Check *c, const char *what, const Expr *index, const Expr *extent, const Proof *why) {
  const Task *k = c->task;
  const TaskStage *s = c->stage;
  Buf b = buf_new(c->q.arena);
  SumPrinter p = sum_printer(&b, c, print_slot);
  for (uint32_t i = 0; i < c->turn.len; i++) vec_push(c->q.arena, p.turn, c->turn.at[i]);
  print_sum_of(&p, s->sum, s->label, s->bound);
  buf_printf(&b, "%s, ", what);
  print_expr(&p, index);
  buf_printf(&b, ", %s [0, ", why->verdict == REFUTED ? "is not in" : "is not proved to be in");
  print_expr(&p, extent);
  buf_printf(&b, ")%s", in_range_where(c->q.arena, why, s->sum->n_out + s->sum->n_red, s->label, c->turn.at, index));
  c->ok = false;
  diag_add(c->d, D_E917, lines_find(c->t->lines, 2, (const void *const[]){s->sum, k}), "%s %u%s%s, stage %u: %s", task_word(k), k->step,
           k->name ? " " : "", k->name ? k->name->s : "", (unsigned)(s - k->stages.at), b.s);
}

/* ---- stages ---------------------------------------------------------------------------------------- */

/* Of what is kept, nobody looks at an index while it runs. */
static const Expr *extent_of(void *ctx, const Expr *read, uint32_t k) {
  const Check *c = ctx;
  const TaskSlot *slot = &c->stage->slot[read->i];
  if (slot->kept) return k < c->task->n_outer ? NULL : c->task->stages.at[slot->index].bound[k];
  return index_is_data(read->arg[k]) ? NULL : c->t->buffers.at[slot->index].dim[k];
}

static void say_open(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  Check *c = ctx;
  const TaskSlot *of = &c->stage->slot[slot];
  const Expr *extent = of->kept ? c->task->stages.at[of->index].bound[k] : c->t->buffers.at[of->index].dim[k];
  complain(c, arena_printf(c->q.arena, "index %u of %c%u", k, of->kept ? '&' : '%', of->index), index, extent, why);
}

static void check_store(Check *c, const TaskStage *s) {
  InRange q = c->q;
  q.facts.label = s->bound;
  q.facts.n_label = s->sum->n_out;
  for (uint32_t k = 0; s->buffer >= 0 && k < s->n_at; k++) {
    const Expr *dim = c->t->buffers.at[s->buffer].dim[k];
    Proof why = in_range_prove(&q, s->sum->domain, s->at[k], dim);
    if (why.verdict != PROVED) complain(c, arena_printf(q.arena, "index %u of where it is put", k), s->at[k], dim, &why);
  }
}

static void check_kernel(Check *c, const Task *k) {
  c->task = k;
  c->q.facts.turn = c->turns.at;
  c->q.facts.n_turn = c->turns.len;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    c->stage = &k->stages.at[i];
    in_range_sum(&c->q, c->stage->sum, c->stage->bound);
    check_store(c, c->stage);
  }
}

/* ---- repeats --------------------------------------------------------------------------------------- */

/* A buffer that several write, or another task than a kernel, has no one writer: that is `none`, which has no stages. */
static void find_writers(Check *c, const Tasks *list, const Task *none) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    for (uint32_t b = 0; b < c->t->buffers.len && k->kind != TASK_KERNEL && k->kind != TASK_REPEAT; b++)
      if (task_writes(c->t, k, b)) c->writer[b] = none;
    for (uint32_t s = 0; s < k->stages.len; s++) {
      int32_t b = k->stages.at[s].buffer;
      if (b >= 0) c->writer[b] = c->writer[b] ? none : k;
    }
    for (uint32_t x = 0; x < k->exchange.len; x++) c->writer[k->exchange.at[x].now] = c->writer[k->exchange.at[x].next] = none;
    if (k->turns >= 0) c->writer[k->turns] = none;
    find_writers(c, &k->body, none);
  }
}

/* How many turns there are at most, if that is known without running: the one kernel that makes the bound is over dims alone. */
static const Expr *turns_of(const Check *c, const Task *repeat) {
  const Task *k = c->writer[repeat->buffer];
  for (uint32_t i = 0; k && k->unless < 0 && i < k->stages.len; i++) {
    const TaskStage *s = &k->stages.at[i];
    if (s->buffer != (int64_t)repeat->buffer) continue;
    bool plain = s->sum->reducer == RED_NONE && !s->sum->domain && !(s->sum->body->has & ~(unsigned)HAS_DIM);
    return plain ? expr_normal(c->t->exprs, s->sum->body) : NULL;
  }
  return NULL;
}

static void check_tasks(Check *c, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_KERNEL) check_kernel(c, k);
    if (k->kind != TASK_REPEAT) continue;
    vec_push(c->q.arena, c->turns, turns_of(c, k));
    vec_push(c->q.arena, c->turn, k->turn);
    check_tasks(c, &k->body);
    c->turn.len = --c->turns.len;
  }
}

bool task_check_ranges(const TaskGraph *t, Diags *d) {
  if (t->mesh.n) return true;
  Arena *a = arena_new();
  static const Task none = {.kind = TASK_ASSERT, .unless = -1};
  Check c = {.t = t, .d = d, .ok = true, .q = {.exprs = t->exprs, .arena = a, .extent = extent_of, .open = say_open}};
  const Expr **hold = NEW_ARRAY(a, const Expr *, t->checks.len + 1);
  for (uint32_t i = 0; i < t->checks.len; i++) hold[i] = t->checks.at[i].cond;
  c.q.ctx = &c;
  c.q.facts.hold = hold;
  c.q.facts.n_hold = t->checks.len;
  c.writer = NEW_ARRAY(a, const Task *, t->buffers.len + 1);
  find_writers(&c, &t->tasks, &none);
  check_tasks(&c, &t->tasks);
  arena_free(a);
  return c.ok;
}
