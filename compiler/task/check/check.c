/* task/check/check.c - checks every invariant of a TaskGraph that task.h and docs/languages-inside.md state. Walks
 * the tasks in order, so that only what is written before may be read; visits each task, stage and shared
 * subexpression once. */
#include "check.h"

static void say_where(void *ctx, Buf *out) {
  const Check *c = ctx;
  const TaskStage *s = c->stage;
  const Task *k = c->task;
  if (c->buffer)
    buf_printf(
        out, "buffer %%%u%s%s", c->buffer->id, c->buffer->name ? " " : "", c->buffer->name ? c->buffer->name->s : "");
  else if (!k)
    buf_str(out, "taskgraph");
  else
    buf_printf(out, "%s %u%s%s", task_word(k), k->step, k->name ? " " : "", k->name ? k->name->s : "");
  if (s) buf_printf(out, ", stage %u%s%s", (unsigned)(s - k->stages.at), s->name ? " " : "", s->name ? s->name->s : "");
}

/* ---- the uses of buffers ------------------------------------------------------------------------ */

bool check_buffer_number(Check *c, const char *what, int64_t buffer) {
  if (buffer >= 0 && buffer < c->t->buffers.len) return true;
  fail(c, "%s is buffer %lld, of %u", what, (long long)buffer, c->t->buffers.len);
  return false;
}

/* A life that crosses the start or the end of a repeat covers all of it. */
static bool is_alive(const Check *c, const TaskBuffer *b, uint32_t step) {
  if (step < b->first || step > b->last) return false;
  vec_each_of(const Task, r, c->open) {
    bool inside = b->first > r->step && b->last <= r->end;
    if (!inside && (b->first > r->step || b->last < r->end)) return false;
  }
  return true;
}

void check_buffer_alive(Check *c, uint32_t buffer, uint32_t step) {
  const TaskBuffer *b = &c->t->buffers.at[buffer];
  if (b->space == BUF_INPUT && b->argument < c->t->inputs.len && c->default_of[b->argument] >= 0) {
    b = &c->t->buffers.at[c->default_of[b->argument]];
    buffer = b->id;
  }
  if (b->space != BUF_WORK || c->held[buffer].said || is_alive(c, b, step)) return;
  c->held[buffer].said = true;
  fail(c, "buffer %%%u is used at step %u and alive from %u to %u", buffer, step, b->first, b->last);
}

void check_buffer_read(Check *c, uint32_t buffer, uint32_t step) {
  const TaskBuffer *b = &c->t->buffers.at[buffer];
  const Held *h = &c->held[buffer];
  check_buffer_alive(c, buffer, step);
  if (b->space == BUF_INPUT) {
    if (b->argument < c->t->inputs.len && c->t->inputs.at[b->argument].optional && c->default_of[b->argument] < 0)
      fail(c, "input %%%u is read before its default", buffer);
  } else if (h->written == NEVER) {
    fail(c, "buffer %%%u is read before it is written", buffer);
  } else if (h->written != NONE && h->written != c->unless) {
    fail(c, "buffer %%%u is read always and written unless input %d is given", buffer, h->written);
  }
}

void check_buffer_write(Check *c, uint32_t buffer, uint32_t step) {
  Held *h = &c->held[buffer];
  check_buffer_alive(c, buffer, step);
  if (c->t->buffers.at[buffer].space == BUF_INPUT) fail(c, "input %%%u is written", buffer);
  if (h->stands_for != NONE) fail(c, "buffer %%%u is written and stands for input %d", buffer, h->stands_for);
  if (h->written != NONE) h->written = c->unless;
}

static void check_scalar(Check *c, const char *what, uint32_t buffer, DType t) {
  const TaskBuffer *b = &c->t->buffers.at[buffer];
  if (b->rank || b->dtype != t) fail(c, "%s is not one %s", what, dtype_name(t));
}

/* ---- buffers and arguments ---------------------------------------------------------------------- */

static bool check_buffer(Check *c, uint32_t i) {
  const TaskBuffer *b = &c->t->buffers.at[i];
  c->buffer = b;
  bool well = b->id == i && (unsigned)b->space <= BUF_WORK && (unsigned)b->dtype < DTYPES && (!b->rank || b->dim);
  if (b->id != i) fail(c, "it stands in place %u", i);
  if ((unsigned)b->space > BUF_WORK || (unsigned)b->dtype >= DTYPES) fail(c, "it has no space or no dtype");
  if (b->rank > SUM_RANK || (b->rank && !b->dim)) fail(c, "it has %u dimensions", b->rank);
  for (uint32_t k = 0; well && k < b->rank; k++) well &= check_extent(&c->c, "an extent", b->dim[k]) || !c->t->mesh.n;
  well = well && check_site(c, b);
  if (b->name && !b->name->len) fail(c, "its name is empty");
  bool work = b->space == BUF_WORK;
  uint32_t arguments = b->space == BUF_INPUT ? c->t->inputs.len : c->t->outputs.len;
  if (work && b->argument) fail(c, "it is no argument and has the number of one");
  if (!work && b->argument >= arguments) fail(c, "it is argument %u, of %u", b->argument, arguments);
  if (!work && (b->first || b->last)) fail(c, "it is the caller's and has a life of its own");
  if (work && (b->first > b->last || (b->last && b->last >= c->t->n_steps)))
    fail(c, "it is alive from %u to %u, of %u steps", b->first, b->last, c->t->n_steps);
  c->buffer = NULL;
  return well;
}

static void check_argument(Check *c, const char *what, TaskSpace space, const TaskArgument *a, uint32_t i, Map *names) {
  check_own_name(&c->c, names, what, i, a->name);
  if (!check_buffer_number(c, what, a->buffer)) return;
  const TaskBuffer *b = &c->t->buffers.at[a->buffer];
  if (b->space != space || b->argument != i) fail(c, "%s %u is not in buffer %%%u", what, i, a->buffer);
  if (space == BUF_OUTPUT && (a->param || a->optional)) fail(c, "output %u is a param or optional", i);
}

static void check_arguments(Check *c) {
  const TaskGraph *t = c->t;
  Map names = map_new(c->arena), other = map_new(c->arena);
  uint32_t places = 0;
  for (uint32_t i = 0; i < t->inputs.len; i++) {
    c->argument = line_key(LINE_INPUT, i);
    check_argument(c, "input", BUF_INPUT, &t->inputs.at[i], i, &names);
  }
  for (uint32_t i = 0; i < t->outputs.len; i++) {
    c->argument = line_key(LINE_OUTPUT, i);
    check_argument(c, "output", BUF_OUTPUT, &t->outputs.at[i], i, &other);
  }
  c->argument = NULL;
  for (uint32_t i = 0; i < t->buffers.len; i++) places += t->buffers.at[i].space != BUF_WORK;
  if (places != t->inputs.len + t->outputs.len)
    fail(c, "%u buffers are the caller's, for %u arguments", places, t->inputs.len + t->outputs.len);
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static void check_kernel(Check *c, const Task *k) {
  bool well = k->stages.len > 0;
  if (!well) fail(c, "it has no stages");
  for (uint32_t i = 0; i < k->stages.len; i++) {
    const TaskStage *s = c->stage = &k->stages.at[i];
    well &= check_filled(c, s);
    if (s->buffer >= 0 && check_buffer_number(c, "where it is stored", s->buffer))
      c->held[s->buffer].kernel = k->step + 1;
    else if (s->buffer >= 0)
      well = false;
    else if (i + 1 == k->stages.len)
      fail(c, "it is the last and not stored");
  }
  for (uint32_t i = 0; well && i < k->stages.len; i++) {
    c->stage = &k->stages.at[i];
    check_stage(c, k, c->stage);
  }
  for (uint32_t i = 0; well && i < k->stages.len; i++) {
    c->stage = &k->stages.at[i];
    if (c->stage->buffer < 0) continue;
    check_buffer_write(c, (uint32_t)c->stage->buffer, k->step);
    if (c->t->buffers.at[c->stage->buffer].when != c->t->buffers.at[vec_last(k->stages).buffer].when)
      fail(c, "buffer %%%d is not at the same sites as what the last stage makes", c->stage->buffer);
  }
  c->stage = NULL;
}

static void check_exchanges_before(Check *c, const Task *k) {
  vec_each(const TaskExchange, x, k->exchange) {
    if (!check_buffer_number(c, "what is exchanged", x->now) || !check_buffer_number(c, "what is exchanged", x->next))
      continue;
    const TaskBuffer *a = &c->t->buffers.at[x->now], *b = &c->t->buffers.at[x->next];
    bool same = a->dtype == b->dtype && a->rank == b->rank && a != b;
    for (uint32_t d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
    if (!same) fail(c, "%%%u and %%%u are not alike and cannot be exchanged", x->now, x->next);
    if (a->space != BUF_WORK || b->space != BUF_WORK) fail(c, "%%%u and %%%u are not both work", x->now, x->next);
    if (a->first != b->first || a->last != b->last) fail(c, "%%%u and %%%u do not live as one", x->now, x->next);
    check_buffer_read(c, x->now, k->step);
    check_buffer_alive(c, x->next, k->step);
  }
}

static void check_exchanges_after(Check *c, const Task *k) {
  Map met = map_new(c->arena);
  vec_each(const TaskExchange, x, k->exchange) {
    if (x->now >= c->t->buffers.len || x->next >= c->t->buffers.len) continue;
    check_buffer_alive(c, x->now, k->end);
    check_buffer_read(c, x->next, k->end);
    if (map_find(&met, &c->held[x->now])) fail(c, "%%%u has been exchanged", x->now);
    map_put(&met, &c->held[x->now], c);
    map_put(&met, &c->held[x->next], c);
  }
}

static void check_tasks(Check *c, const Tasks *list);

static void check_repeat(Check *c, const Task *k) {
  if (k->depth != c->open.len) fail(c, "its depth is %u and not %u", k->depth, c->open.len);
  if (!is_name(k->turn)) fail(c, "its loop variable has no name");
  if (check_buffer_number(c, "the bound", k->buffer)) {
    check_scalar(c, "the bound", k->buffer, DT_I64);
    check_buffer_read(c, k->buffer, k->step);
  }
  if (c->open.len >= TASK_DEPTH) {
    fail(c, "repeats are nested more than %d deep", TASK_DEPTH);
    return;
  }
  check_exchanges_before(c, k);
  vec_push(c->arena, c->open, k);
  check_tasks(c, &k->body);
  c->task = k;
  if (k->stop != NONE && check_buffer_number(c, "the stop", k->stop)) {
    check_scalar(c, "the stop", (uint32_t)k->stop, DT_BOOL);
    check_buffer_read(c, (uint32_t)k->stop, k->end);
  }
  c->open.len--;
  check_exchanges_after(c, k);
  if (k->turns != NONE && check_buffer_number(c, "the number of turns", k->turns)) {
    check_scalar(c, "the number of turns", (uint32_t)k->turns, DT_I64);
    check_buffer_write(c, (uint32_t)k->turns, k->end);
  }
  if (k->end != c->step++) fail(c, "it ends at step %u and not %u", k->end, c->step - 1);
}

static void check_default(Check *c, const Task *k) {
  if (k->argument >= c->t->inputs.len) {
    fail(c, "it is for input %u, of %u", k->argument, c->t->inputs.len);
    return;
  }
  const TaskArgument *in = &c->t->inputs.at[k->argument];
  if (c->open.len) fail(c, "a default stands in a repeat");
  if (!in->optional) fail(c, "input %u is not optional", k->argument);
  if (c->default_of[k->argument] >= 0) fail(c, "input %u has two defaults", k->argument);
  int32_t unless = c->unless;
  c->unless = (int32_t)k->argument;
  check_buffer_read(c, k->buffer, k->step);
  c->unless = unless;
  if (in->buffer >= c->t->buffers.len) return; /* reported already */
  const TaskBuffer *a = &c->t->buffers.at[in->buffer], *b = &c->t->buffers.at[k->buffer];
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
  if (!same) fail(c, "%%%u is not like input %u", k->buffer, k->argument);
  c->default_of[k->argument] = (int32_t)k->buffer;
  if (b->space != BUF_INPUT) c->held[k->buffer].stands_for = (int32_t)k->argument;
}

/* Fields that only other kinds of tasks have must be empty. */
static void check_fields(Check *c, const Task *k) {
  bool kernel = task_has_stages(k), repeat = k->kind == TASK_REPEAT;
  if (!kernel && (k->stages.len || k->n_outer)) fail(c, "it has stages and is no kernel");
  if (!repeat && (k->body.len || k->exchange.len || k->turn || k->depth || k->stop != NONE || k->turns != NONE))
    fail(c, "it has what only a repeat has");
  if (!repeat && (k->kind != TASK_MOVE || k->end < k->step) && k->end != k->step)
    fail(c, "it ends at step %u and not %u", k->end, k->step);
  if (kernel && k->buffer) fail(c, "a kernel's buffers are its stages'");
  bool move = k->kind == TASK_MOVE;
  if (!move && (k->from || k->place_from || k->place_to || k->reducer != RED_NONE || k->monoid || k->move || k->wrap))
    fail(c, "it has what only a move has");
  if ((move || k->kind == TASK_FETCH) && !c->t->mesh.n) fail(c, "it moves, and there is no mesh");
  if (k->kind != TASK_DEFAULT && k->argument) fail(c, "it has an argument and is no default");
  if (k->name && !k->name->len) fail(c, "its name is empty");
  if (k->unless < NONE || k->unless >= (int64_t)c->t->inputs.len)
    fail(c, "it is done unless input %d is given, of %u", k->unless, c->t->inputs.len);
  else if (k->unless != NONE && !c->t->inputs.at[k->unless].optional)
    fail(c, "input %d is always given", k->unless);
}

static void check_task(Check *c, const Task *k) {
  int32_t unless = c->unless;
  c->task = k;
  if ((unsigned)k->kind > TASK_FETCH) {
    fail(c, "it has no kind");
    return;
  }
  if (k->step != c->step) fail(c, "its step is not %u", c->step);
  c->step++;
  check_fields(c, k);
  if (k->unless != NONE) c->unless = k->unless;
  if (task_has_stages(k)) check_kernel(c, k);
  if (k->kind == TASK_FETCH) check_fetch(c, k);
  if (k->kind == TASK_REPEAT) check_repeat(c, k);
  bool one = !task_has_stages(k) && k->kind != TASK_REPEAT && check_buffer_number(c, "it", k->buffer);
  if (one && k->kind == TASK_ZERO) check_buffer_write(c, k->buffer, k->step);
  if (one && k->kind == TASK_MOVE && c->t->mesh.n && check_buffer_number(c, "it comes from", k->from)) check_move(c, k);
  if (one && k->kind == TASK_DEFAULT) check_default(c, k);
  if (one && k->kind == TASK_ASSERT) {
    check_scalar(c, "it", k->buffer, DT_BOOL);
    check_buffer_read(c, k->buffer, k->step);
  }
  c->unless = unless;
  c->task = NULL;
}

static void check_tasks(Check *c, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) check_task(c, list->at[i]);
  for (uint32_t i = 0; c->c.ok && i < list->len; i++)
    if (list->at[i]->kind == TASK_MOVE) check_while(c, list, i);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void check_end(Check *c) {
  const TaskGraph *t = c->t;
  if (c->step != t->n_steps) fail(c, "it has %u steps and says %u", c->step, t->n_steps);
  for (uint32_t i = 0; i < t->inputs.len; i++) {
    c->argument = line_key(LINE_INPUT, i);
    if (t->inputs.at[i].optional && c->default_of[i] < 0) fail(c, "input %u is optional and has no default", i);
  }
  for (uint32_t i = 0; i < t->outputs.len; i++) {
    uint32_t b = t->outputs.at[i].buffer;
    c->argument = line_key(LINE_OUTPUT, i);
    if (b < t->buffers.len && c->held[b].written != NONE) fail(c, "output %u is not written", i);
  }
}

static Span line_of(void *ctx) {
  const Check *c = ctx;
  const void *buffer = c->buffer ? line_key(LINE_BUFFER, c->buffer->id) : NULL;
  return lines_find(
      c->t->lines, 4, (const void *const[]){c->stage ? c->stage->sum : NULL, c->task, buffer, c->argument});
}

/* One complaint per thing. */
static bool follows(void *ctx) {
  Check *c = ctx;
  const void *now = c->stage ? (const void *)c->stage
      : c->task              ? (const void *)c->task
      : c->buffer            ? (const void *)c->buffer
                             : c->argument;
  bool said = now && c->wrong == now;
  c->wrong = now;
  return said;
}

static bool check_all(const TaskGraph *t, Buf *out, Diags *d) {
  Arena *a = arena_new();
  Check c = {.t = t, .arena = a, .unless = NONE};
  c.c = sum_check_new(out, a, t->exprs, &c, say_where);
  c.c.read = check_slot_read;
  c.c.d = d;
  c.c.line = line_of;
  c.c.follows = follows;
  c.held = NEW_ARRAY(a, Held, t->buffers.len + 1);
  c.default_of = NEW_ARRAY(a, int32_t, t->inputs.len + 1);
  for (uint32_t i = 0; i < t->buffers.len; i++) c.held[i] = (Held){.written = NEVER, .stands_for = NONE};
  for (uint32_t i = 0; i < t->inputs.len; i++) c.default_of[i] = NONE;
  check_dims(&c.c, &t->dims);
  check_monoids(&c.c, &t->monoids);
  bool well = check_mesh(&c);
  for (uint32_t i = 0; i < t->buffers.len; i++) well &= check_buffer(&c, i);
  if (t->mesh.n) well &= c.c.ok; /* sites are checked one by one */
  check_arguments(&c);
  check_checks(&c.c, &t->checks);
  if (well) check_tasks(&c, &t->tasks); /* otherwise there is nothing to check them against */
  c.task = NULL;
  if (well) check_end(&c);
  arena_free(a);
  return c.c.ok;
}

bool task_check(const TaskGraph *t, Buf *out) {
  return check_all(t, out, NULL);
}

bool task_check_text(const TaskGraph *t, Diags *d) {
  return check_all(t, NULL, d);
}
