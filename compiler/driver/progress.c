/* driver/progress.c - shows how far a long run is (progress.h). A context's counters are read while another thread
 * counts: each is one word, and it does not matter if a line is a turn late. */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compile/native.h"
#include "ein_run.h"
#include "keeping.h"
#include "progress.h"
#include "ranks/ranks.h"

static const double first_after = 2, then_every = 0.5;

/* ---- what can be observed ---------------------------------------------------------------------------------------- */

/* What can be: scalar states of repeats that are not nested, and stacks of one float a turn. */
typedef struct Choices { VEC(Str) name; Str first_stack; } Choices;

static bool is_one_float(const EinNode *n) { return n->rank == 0 && dtype_is_float(n->dtype); }

static void choices_of(Arena *a, const EinRegion *r, Choices *c) {
  vec_each(const EinState, s, r->states)
    if (is_one_float(s->node) && s->node->name) vec_push(a, c->name, s->node->name);
  vec_each(const EinStack, s, r->stacks) {
    if (!is_one_float(s->node) || !s->name) continue;
    vec_push(a, c->name, s->name);
    if (!c->first_stack) c->first_stack = s->name;
  }
}

static const char *choice_find(const Choices *c, const char *name) {
  vec_each(const Str, one, c->name)
    if (strcmp((*one)->s, name) == 0) return (*one)->s;
  return NULL;
}

/* Finds them; and if there is only one such repeat, its length. */
static void repeats_look(const Job *j, Progress *p, Choices *c) {
  uint32_t repeats = 0;
  for (uint32_t i = 0; i < j->graph->top->nodes.len; i++) {
    const EinNode *n = j->graph->top->nodes.at[i];
    if (n->kind != EIN_REPEAT || repeat_is_once(n->body->turn)) continue;
    ExprEnv env = {.dim = dim_of_job, .ctx = (void *)(uintptr_t)j};
    Value v;
    bool known = n->body->turns && expr_value(n->body->turns, &env, &v);
    p->most = !repeats++ && known ? v.i : -1;
    p->until = n->body->stop != NULL;
    choices_of(p->s->arena, n->body, c);
  }
}

static Leave watch_unknown(Session *s, const Choices *c, const char *said) {
  Buf all = buf_new(s->arena);
  vec_each(const Str, name, c->name) buf_printf(&all, "%s%s", all.len ? ", " : "; there is ", (*name)->s);
  return fail(s, LEAVE_USAGE, "--watch %s: no repeat has a state or a stack %s of one float a turn%s", said, said,
      all.len ? all.s : "");
}

Leave progress_new(Session *s, const Job *j, const Args *a, Progress *out) {
  const char *said = a ? arg_last(a, OPT_WATCH) : NULL, *terminal = getenv("TERM");
  Choices c = {0};
  *out = (Progress){.s = s, .most = -1, .buffer = -1, .asked = said != NULL};
  if (!j->graph || j->past) return LEAVE_OK;
  repeats_look(j, out, &c);
  out->watch = choice_find(&c, said ? said : "loss");
  if (said && !out->watch) return watch_unknown(s, &c, said);
  if (!out->watch && c.first_stack) out->watch = c.first_stack->s;
  out->on = !s->guest && ranks_first(s) &&
      ((a && arg_has(a, OPT_PROGRESS)) || (isatty(2) && terminal && strcmp(terminal, "dumb") != 0));
  return LEAVE_OK;
}

/* ---- the line ---------------------------------------------------------------------------------------------------- */

typedef struct Seen { int64_t turn; bool has; double value; } Seen;

/* 12345 as 12,345. */
static void put_count(Buf *b, int64_t n) {
  char digits[24];
  int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
  for (int i = 0; i < len; i++) {
    if (i && (len - i) % 3 == 0) buf_char(b, ',');
    buf_char(b, digits[i]);
  }
}

static void put_left(Buf *b, const Progress *p, double seconds) {
  if (seconds < 120) buf_printf(b, ", %.0f s", ceil(seconds));
  else if (seconds < 2 * 3600) buf_printf(b, ", %.0f minutes", seconds / 60);
  else buf_printf(b, ", %.1f hours", seconds / 3600);
  buf_str(b, p->until ? " left at most" : " left");
}

static void line_show(Progress *p, Seen x) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  double now = seconds_now();
  const int64_t before = p->s->keeping && p->s->keeping->began > 0 ? p->s->keeping->began : 0; /* by another run */
  buf_str(&b, "\r\033[Kturn ");
  put_count(&b, x.turn);
  if (p->most >= x.turn) {
    buf_str(&b, p->until ? " of at most " : " of ");
    put_count(&b, p->most);
  }
  if (x.has && p->watch) buf_printf(&b, ", %s %.6g", p->watch, x.value);
  if (p->most >= x.turn && x.turn > before)
    put_left(&b, p, (now - p->begun) / (double)(x.turn - before) * (double)(p->most - x.turn));
  ssize_t unseen = write(2, b.s, b.len);
  (void)unseen;
  p->told = now;
  arena_free(a);
}

/* ---- compiled code ----------------------------------------------------------------------------------------------- */

/* Whether it holds a value of the repeat in all its turns. */
static bool lives_in(const TaskGraph *t, const Task *repeat, const TaskBuffer *b) {
  if (b->space == BUF_OUTPUT) return task_writes(t, repeat, b->id);
  return b->space == BUF_WORK && b->first < repeat->step && b->last >= repeat->end;
}

/* A state, or of one site the whole of a stack; several sites may have parts of it. */
static bool is_watched(const Progress *p, const Job *j, const TaskBuffer *b) {
  return b->name && strcmp(b->name->s, p->watch) == 0 && (b->dtype == DT_F32 || b->dtype == DT_F64) && !b->when &&
      (!b->rank || (b->rank == 1 && !j->tasks->mesh.n));
}

/* A buffer that holds it; for several sites, the first site's. */
static void buffer_find(Progress *p, const Job *j) {
  const Task *repeat = NULL;
  for (uint32_t i = 0; i < j->tasks->tasks.len; i++)
    if (j->tasks->tasks.at[i]->kind == TASK_REPEAT && !repeat_is_once(j->tasks->tasks.at[i]->turn))
      repeat = j->tasks->tasks.at[i];
  for (uint32_t i = 0; repeat && p->watch && i < j->tasks->buffers.len; i++) {
    const TaskBuffer *b = &j->tasks->buffers.at[i];
    if (!lives_in(j->tasks, repeat, b) || !is_watched(p, j, b)) continue;
    p->buffer = i;
    p->dtype = b->dtype;
    p->stack = b->rank == 1;
    break;
  }
  p->on = p->on && repeat;
}

static Seen context_see(const Progress *p) {
  const ein_ctx *ctx = p->ctx;
  Seen x = {.turn = __atomic_load_n(&ctx->turn[0], __ATOMIC_RELAXED)};
  if (p->buffer < 0) return x;
  const char *at = __atomic_load_n((char *const *)&ctx->data[p->buffer], __ATOMIC_RELAXED);
  uint64_t eight = 0;
  uint32_t four = 0;
  x.has = at != NULL && x.turn > 0;
  if (!x.has) return x;
  if (p->stack) at += (x.turn - 1) * (p->dtype == DT_F64 ? 8 : 4);
  if (p->dtype == DT_F64) {
    eight = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
    memcpy(&x.value, &eight, 8);
  } else {
    float f;
    four = __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
    memcpy(&f, &four, 4);
    x.value = (double)f;
  }
  return x;
}

static void *look(void *progress) {
  Progress *p = progress;
  double next = first_after;
  pthread_mutex_lock(&p->lock);
  while (!p->over) {
    struct timespec until;
    double at = p->begun + next;
    until.tv_sec = (time_t)at;
    until.tv_nsec = (long)((at - floor(at)) * 1e9);
    if (pthread_cond_timedwait(&p->end, &p->lock, &until) == 0 || p->over) continue;
    Seen x = context_see(p);
    if (x.turn > 0) line_show(p, x);
    next += then_every;
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

void progress_begin(Progress *p, const Job *j, const void *ctx) {
  pthread_condattr_t by;
  p->ctx = ctx;
  p->begun = seconds_now();
  if (p->on) buffer_find(p, j);
  if (p->on && p->asked && p->buffer < 0)
    say(p->s, "--watch %s: compiled code does not store it; it does if it is f32 or f64 and an output", p->watch);
  if (!p->on || pthread_condattr_init(&by) != 0) return;
  pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->end, &by);
  pthread_condattr_destroy(&by);
  p->threaded = pthread_create(&p->thread, NULL, look, p) == 0;
}

/* ---- the evaluator ----------------------------------------------------------------------------------------------- */

void progress_eval(Progress *p, const Eval *e) {
  const Seen x = {.turn = e->at.turn, .has = e->at.has, .value = e->at.value};
  double now = p->on ? seconds_now() : 0;
  if (!p->on || !e->at.turn) return;
  if (p->begun <= 0) p->begun = now;
  if (now - p->begun >= first_after && now - p->told >= then_every) line_show(p, x);
}

void progress_end(Progress *p) {
  if (p->threaded) {
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->end);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->end);
    pthread_mutex_destroy(&p->lock);
  }
  if (p->told > 0) {
    ssize_t unseen = write(2, "\r\033[K", 4);
    (void)unseen;
  }
  p->threaded = false;
  p->told = 0;
}
