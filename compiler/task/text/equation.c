/* task/text/equation.c - prints a stage as the equation that a person would write: for people, not read back. */
#include "expr/equation.h"
#include "task/task.h"

typedef struct Names {
  const TaskGraph *t;
  const Task *kernel;
  const TaskStage *stage;
  VEC(const Task *) around;  /* the enclosing repeats, outermost first */
} Names;

static Str name_of_label(void *ctx, int64_t k) {
  const TaskStage *s = ((const Names *)ctx)->stage;
  return s->label && k >= 0 && k < (int64_t)s->sum->n_out + s->sum->n_red ? s->label[k] : NULL;
}

static Str name_of_turn(void *ctx, int64_t depth) {
  const Names *n = ctx;
  return depth >= 0 && depth < (int64_t)n->around.len ? n->around.at[depth]->turn : NULL;
}

/* The task of a list whose steps contain this one. */
static const Task *task_at(const Tasks *list, uint32_t step) {
  uint32_t lo = 0, hi = list->len;
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (list->at[mid]->step <= step) lo = mid;
    else hi = mid;
  }
  return list->len ? list->at[lo] : NULL;
}

static void find_repeats(Names *n, Arena *a) {
  const Task *k = task_at(&n->t->tasks, n->kernel->step);
  for (; k && k->kind == TASK_REPEAT && n->kernel->step > k->step && n->kernel->step < k->end;
       k = task_at(&k->body, n->kernel->step))
    vec_push(a, n->around, k);
}

/* The stage of a list that writes the buffer, or NULL. */
static const TaskStage *writer_of(const Tasks *list, uint32_t from, uint32_t to, uint32_t b) {
  for (uint32_t i = from; i < to; i++)
    for (uint32_t k = 0; k < list->at[i]->stages.len; k++)
      if (list->at[i]->stages.at[k].buffer == (int32_t)b) return &list->at[i]->stages.at[k];
  return NULL;
}

/* The enclosing repeat that exchanges the buffer with the next turn's: until the end of the repeat, the buffer has
 * the next value. */
static const Task *changed_by(const Names *n, uint32_t b) {
  for (uint32_t i = n->around.len; i-- > 0;)
    for (uint32_t k = 0; k < n->around.at[i]->exchange.len; k++)
      if (n->around.at[i]->exchange.at[k].next == b) return n->around.at[i];
  return NULL;
}

/* Whether the current equation computes a state's next value: in its second buffer, or where the first value was
 * stored before the turns. */
static bool is_next(const Names *n) {
  const TaskStage *s = n->stage;
  if (s->buffer < 0 || !n->around.len || s->name != n->t->buffers.at[s->buffer].name) return false;
  if (changed_by(n, (uint32_t)s->buffer)) return true;
  for (uint32_t d = 0; d < n->around.len; d++) {
    const Tasks *list = d ? &n->around.at[d - 1]->body : &n->t->tasks;
    uint32_t i = 0;
    while (i < list->len && list->at[i] != n->around.at[d]) i++;
    if (writer_of(list, 0, i, (uint32_t)s->buffer)) return true;
  }
  return false;
}

/* A state's second buffer has the state's name; its contents have the name of the equation that computed them. */
static void write_buffer(Writer *w, const Names *n, uint32_t b) {
  Str name = b < n->t->buffers.len ? n->t->buffers.at[b].name : NULL;
  const Task *k = changed_by(n, b);
  const TaskStage *s = k ? writer_of(&k->body, 0, k->body.len, b) : NULL;
  if (s && s->name && s->name != name) name = s->name;
  else if (s) buf_str(w->out, "next ");
  write_name(w, name, "%", b);
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

/* Whether its labels do not determine where it is stored: a slice of a state, or the turn's place in a stack. */
static bool is_slice(const TaskStage *s) {
  for (uint32_t k = 0; s->buffer >= 0 && k < s->n_at; k++)
    if (s->at[k]->has & HAS_TURN) return true;
  return false;
}

static void write_left(Writer *w, const Names *n, uint32_t stage) {
  const TaskStage *s = n->stage;
  if (is_next(n)) buf_str(w->out, "next ");
  if (s->name || s->buffer < 0) write_kept(w, n, stage);
  else write_buffer(w, n, (uint32_t)s->buffer);
  if (is_slice(s)) write_list(w, s->n_at, s->at);
  else
    for (uint32_t l = 0; l < s->sum->n_out; l++) {
      buf_char(w->out, l ? ',' : '[');
      write_name(w, s->label ? s->label[l] : NULL, "l", l);
    }
  buf_str(w->out, s->sum->n_out && !is_slice(s) ? "] = " : " = ");
}

void task_equation(Buf *out, const TaskGraph *t, const Task *kernel, uint32_t stage) {
  const TaskStage *s = &kernel->stages.at[stage];
  Names n = {.t = t, .kernel = kernel, .stage = s};
  find_repeats(&n, out->arena);
  Writer w = equation_writer(
      out, (ExprNames){.ctx = &n, .label = name_of_label, .turn = name_of_turn, .read = write_operand});
  write_left(&w, &n, stage);
  write_right(&w, s->sum, s->label);
}
