/* task/text/print.c - prints a TaskGraph as text, one line per buffer, task or stage; kernels and repeats are
 * indented blocks. The grammar is in docs/languages-inside.md. */
#include <string.h>

#include "expr/sum/print.h"
#include "text.h"

typedef struct Printer {
  SumPrinter p;
  Buf *out;
  const TaskGraph *t;
  const TaskStage *stage;    /* the current one */
} Printer;

static void slot_text(void *ctx, Buf *out, int64_t slot) {
  const TaskStage *s = ((const Printer *)ctx)->stage;
  if (s && slot >= 0 && slot < (int64_t)s->sum->n_slot)
    buf_printf(out, "%c%u", s->slot[slot].kept ? '&' : '%', s->slot[slot].index);
  else
    buf_str(out, "%-1");
}

/* A name where `word` is also allowed. */
static void print_name(Printer *p, Str name, const char *word) {
  if (!name) return;
  buf_char(p->out, ' ');
  if (strcmp(name->s, word) == 0)
    string_print(p->out, name->s, name->len);
  else
    word_print(p->out, name);
}

/* ---- the head ----------------------------------------------------------------------------------- */

static void print_buffer(Printer *p, const TaskBuffer *b) {
  static const char *const spaces[] = {"input", "output", "work"};
  buf_printf(p->out, "buffer %%%u %s ", b->id, spaces[b->space]);
  if (b->space != BUF_WORK) buf_printf(p->out, "%u ", b->argument);
  if (b->name) word_print(p->out, b->name);
  print_exprs(&p->p, b->rank, b->dim);
  buf_printf(p->out, " : %s", dtype_name(b->dtype));
  if (b->low) buf_str(p->out, " low "), print_exprs(&p->p, b->rank, b->low);
  if (b->when) buf_str(p->out, " when "), print_expr(&p->p, b->when);
  if (b->space == BUF_WORK) buf_printf(p->out, " alive %u..%u", b->first, b->last);
  print_end(&p->p, b->place);
}

static void print_argument(Printer *p, const char *word, const TaskArgument *a) {
  buf_printf(p->out, "%s ", word);
  word_print(p->out, a->name);
  buf_printf(p->out, " = %%%u%s%s\n", a->buffer, a->param ? " param" : "", a->optional ? " optional" : "");
}

static void print_head(Printer *p) {
  const TaskGraph *t = p->t;
  buf_str(p->out, "taskgraph 1\n");
  if (t->mesh.n) buf_str(p->out, "mesh");
  for (uint32_t a = 0; a < t->mesh.n; a++) buf_printf(p->out, " %u%s", t->mesh.size[a], a + 1 < t->mesh.n ? "" : "\n");
  if (t->room) buf_printf(p->out, "room %lld\n", (long long)t->room);
  print_dims(&p->p, &t->dims);
  print_externs(&p->p, t->exprs);
  print_monoids(&p->p, &t->monoids);
  for (uint32_t i = 0; i < t->buffers.len; i++) print_buffer(p, &t->buffers.at[i]);
  for (uint32_t i = 0; i < t->inputs.len; i++) print_argument(p, "input", &t->inputs.at[i]);
  for (uint32_t i = 0; i < t->outputs.len; i++) print_argument(p, "output", &t->outputs.at[i]);
  print_checks(&p->p, &t->checks);
  if (task_steps(&t->tasks) != t->n_steps) buf_printf(p->out, "steps %u\n", t->n_steps);
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static void print_stage(Printer *p, const TaskStage *s) {
  buf_str(p->out, "stage ");
  if (s->name) word_print(p->out, s->name);
  p->stage = s;
  print_sum_of(&p->p, s->sum, s->label, s->bound);
  buf_char(p->out, '[');
  for (uint32_t k = 0; k < s->sum->n_out; k++) {
    if (k) buf_str(p->out, ", ");
    print_label(&p->p, k);
  }
  buf_char(p->out, ']');
  print_sum(&p->p);
  if (s->buffer >= 0) {
    buf_printf(p->out, " to %%%d", s->buffer);
    print_exprs(&p->p, s->n_at, s->at);
  }
  print_sum_of(&p->p, NULL, NULL, NULL);
  p->stage = NULL;
  print_end(&p->p, s->place);
}

static void print_unless(Printer *p, const Task *k) {
  if (k->unless >= 0) buf_printf(p->out, " unless %d", k->unless);
}

/* The optional end of any task's line, before `{` or the line's end. */
static void print_tail(Printer *p, const Task *k) {
  print_unless(p, k);
  if (k->name) buf_str(p->out, " named");
  print_name(p, k->name, "");
  place_print(p->out, k->place);
}

static void print_kernel(Printer *p, const Task *k, uint32_t level) {
  buf_printf(p->out, "%s %u", task_word(k), k->step);
  print_name(p, k->name, "outer");
  buf_printf(p->out, " outer %u", k->n_outer);
  print_unless(p, k);
  place_print(p->out, k->place);
  buf_str(p->out, " {\n");
  for (uint32_t i = 0; i < k->stages.len; i++) {
    print_indent(&p->p, level + 1);
    print_stage(p, &k->stages.at[i]);
  }
  print_indent(&p->p, level);
  buf_str(p->out, "}\n");
}

static void print_tasks(Printer *p, const Tasks *list, uint32_t level);

static void print_repeat(Printer *p, const Task *k, uint32_t level) {
  Str turn = turn_text(&p->p, k->turn);
  buf_printf(p->out, "repeat %u..%u ", k->step, k->end);
  print_alias(&p->p, turn, k->turn);
  buf_printf(p->out, " < %%%u", k->buffer);
  if (k->stop >= 0) buf_printf(p->out, " until %%%d", k->stop);
  if (k->turns >= 0) buf_printf(p->out, " turns %%%d", k->turns);
  print_tail(p, k);
  buf_str(p->out, " {\n");
  vec_push(p->out->arena, p->p.turn, turn);
  print_tasks(p, &k->body, level + 1);
  p->p.turn.len--;
  for (uint32_t i = 0; i < k->exchange.len; i++) {
    print_indent(&p->p, level + 1);
    buf_printf(p->out, "exchange %%%u %%%u\n", k->exchange.at[i].now, k->exchange.at[i].next);
  }
  print_indent(&p->p, level);
  buf_str(p->out, "}\n");
}

static void print_assert(Printer *p, const Task *k) {
  buf_printf(p->out, "assert %u %%%u", k->step, k->buffer);
  print_string(&p->p, k->name);
  print_unless(p, k);
  print_end(&p->p, k->place);
}

static void print_line(Printer *p, const Task *k) {
  if (k->kind == TASK_ZERO)
    buf_printf(p->out, "zero %u %%%u", k->step, k->buffer);
  else
    buf_printf(p->out, "default %u input %u = %%%u", k->step, k->argument, k->buffer);
  print_tail(p, k);
  buf_char(p->out, '\n');
}

static void print_placement(Printer *p, const Placement *x) {
  buf_str(p->out, " at");
  for (uint32_t a = 0; a < p->t->mesh.n; a++) {
    int8_t on = x->on[a];
    if (on >= 0) buf_printf(p->out, " %d", on);
    else buf_str(p->out, on == PLACE_ALL ? " *" : on == PLACE_PART ? " +" : " ?");
  }
}

static void print_move(Printer *p, const Task *k) {
  EinSum by = {.reducer = k->reducer, .monoid = k->monoid, .acc = p->t->buffers.at[k->from].dtype};
  buf_printf(p->out, "move %u", k->step);
  if (k->end != k->step) buf_printf(p->out, "..%u", k->end);
  buf_printf(p->out, " %s %%%u", task_move_word(k->move), k->from);
  print_placement(p, &k->of);
  buf_printf(p->out, " to %%%u", k->buffer);
  print_placement(p, &k->to);
  for (uint32_t d = 0; k->wrap && d < p->t->buffers.at[k->buffer].rank; d++)
    buf_printf(p->out, "%s%lld", d ? ", " : " wrap [", (long long)k->wrap[d]);
  if (k->wrap) buf_char(p->out, ']');
  if (k->reducer != RED_NONE) buf_str(p->out, " by "), print_reducer_name(&p->p, &by);
  if (task_moves_places(k)) buf_printf(p->out, " places %%%u to %%%u", k->place_from, k->place_to);
  print_tail(p, k);
  buf_char(p->out, '\n');
}

static void print_tasks(Printer *p, const Tasks *list, uint32_t level) {
  vec_each_of(const Task, k, *list) {
    print_indent(&p->p, level);
    switch (k->kind) {
    case TASK_FETCH:
    case TASK_KERNEL: print_kernel(p, k, level); break;
    case TASK_REPEAT: print_repeat(p, k, level); break;
    case TASK_ASSERT: print_assert(p, k); break;
    case TASK_MOVE: print_move(p, k); break;
    case TASK_ZERO:
    case TASK_DEFAULT: print_line(p, k); break;
    }
  }
}

void task_print(Buf *out, const TaskGraph *t) {
  Printer p = {.out = out, .t = t};
  p.p = sum_printer(out, &p, slot_text);
  print_head(&p);
  print_tasks(&p, &t->tasks, 0);
}
