/* task/task_equation.c - a stage as the equation that a person would write: for people, and not read back. */
#include "../expr/equation.h"
#include "task.h"

typedef struct Names {
  const TaskGraph *t;
  const Task *kernel;
  const TaskStage *stage;
  VEC(Str) turn;             /* of the repeats around the kernel */
} Names;

static Str name_of_label(void *ctx, int64_t k) {
  const TaskStage *s = ((const Names *)ctx)->stage;
  return s->label && k >= 0 && k < (int64_t)s->sum->n_out + s->sum->n_red ? s->label[k] : NULL;
}

static Str name_of_turn(void *ctx, int64_t depth) {
  const Names *n = ctx;
  return depth >= 0 && depth < (int64_t)n->turn.len ? n->turn.at[depth] : NULL;
}

static void write_buffer(Writer *w, const Names *n, uint32_t b) {
  write_name(w, b < n->t->buffers.len ? n->t->buffers.at[b].name : NULL, "%", b);
}

static void write_kept(Writer *w, const Names *n, uint32_t stage) {
  write_name(w, stage < n->kernel->stages.len ? n->kernel->stages.at[stage].name : NULL, "&", stage);
}

static void write_operand(void *ctx, Buf *out, int64_t slot) {
  const Names *n = ctx;
  Writer w = {.out = out};
  if (slot < 0 || slot >= n->stage->sum->n_slot) {
    buf_char(out, '?');
    return;
  }
  const TaskSlot *s = &n->stage->slot[slot];
  if (s->kept)
    write_kept(&w, n, s->index);
  else
    write_buffer(&w, n, s->index);
}

/* What the repeats around the kernel call their counters: there are at most as many as the depth of nesting. */
static void find_turns(Names *n, Arena *a) {
  const Tasks *list = &n->t->tasks;
  for (uint32_t i = 0; i < list->len;) {
    const Task *k = list->at[i++];
    if (k->kind != TASK_REPEAT || n->kernel->step <= k->step || n->kernel->step >= k->end) continue;
    vec_push(a, n->turn, k->turn);
    list = &k->body;
    i = 0;
  }
}

static bool has_turn(const EinSum *s) {
  unsigned has = s->body->has | (s->where ? s->where->has : 0u) | (s->domain ? s->domain->has : 0u);
  return (has & HAS_TURN) != 0;
}

void task_equation(Buf *out, const TaskGraph *t, const Task *kernel, uint32_t stage) {
  const TaskStage *s = &kernel->stages.at[stage];
  Names n = {.t = t, .kernel = kernel, .stage = s};
  if (has_turn(s->sum)) find_turns(&n, out->arena);
  Writer w = equation_writer(
      out, (ExprNames){.ctx = &n, .label = name_of_label, .turn = name_of_turn, .read = write_operand});
  if (s->name || s->buffer < 0)
    write_kept(&w, &n, stage);
  else
    write_buffer(&w, &n, (uint32_t)s->buffer);
  for (uint32_t l = 0; l < s->sum->n_out; l++) {
    buf_char(out, l ? ',' : '[');
    write_name(&w, s->label ? s->label[l] : NULL, "l", l);
  }
  buf_str(out, s->sum->n_out ? "] = " : " = ");
  write_right(&w, s->sum, s->label);
}
