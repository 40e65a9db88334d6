/* driver/keeping.c - checkpoints: what of a repeat is saved, and when (keeping.h). */
#include <stdlib.h>
#include <string.h>

#include "compile/native.h"
#include "ein_run.h"
#include "keeping.h"
#include "ranks/ranks.h"
#include "task/sites/site.h"

/* ---- which repeat ------------------------------------------------------------------------------------------------ */

static const EinNode *outermost(const EinGraph *g, uint32_t *n) {
  const EinNode *found = NULL;
  *n = 0;
  for (uint32_t i = 0; i < g->top->nodes.len; i++)
    if (g->top->nodes.at[i]->kind == EIN_REPEAT && !(*n)++) found = g->top->nodes.at[i];
  return found;
}

/* Adds the meaning of `%12` in a text of the repeat, independent of its position in the program: inside the repeat a
 * number of its own, outside it a name. */
static void id_add(CacheKey *k, const EinGraph *g, const EinNode *repeat, uint32_t id) {
  char text[24];
  Str name = NULL;
  for (uint32_t i = 0; id < repeat->id && i < g->top->nodes.len; i++)
    if (g->top->nodes.at[i]->id == id) name = g->top->nodes.at[i]->name;
  if (name) cache_key_text(k, name->s);
  else cache_key_add(k, text, (size_t)snprintf(text, sizeof text, "%%%u", id < repeat->id ? 0 : id - repeat->id));
}

/* The end of a line of a text, without the place after it. */
static const char *line_end(const char *at, const char *end) {
  for (const char *p = at; p + 2 < end; p++)
    if (p[0] == ' ' && p[1] == '@' && p[2] == '"') return p;
  return end;
}

static void line_add(CacheKey *k, const EinGraph *g, const EinNode *repeat, const char *at, const char *end) {
  end = line_end(at, end);
  while (at < end) {
    if (*at != '%' || at + 1 == end || at[1] < '0' || at[1] > '9') {
      cache_key_add(k, at++, 1);
      continue;
    }
    char *behind;
    id_add(k, g, repeat, (uint32_t)strtoul(at + 1, &behind, 10));
    at = behind;
  }
  cache_key_add(k, "\n", 1);
}

/* Hashes its block, as in the graph's text: equations, states, their operands. Excludes the number of turns, so that
 * a run can be extended, and its place in the file. */
static void repeat_key(Arena *a, const EinGraph *g, const EinNode *repeat, int64_t out[2]) {
  Buf text = buf_new(a);
  CacheKey k = cache_key_new();
  graph_print(&text, g);
  const char *head = arena_printf(a, "\nrepeat %%%u ", repeat->id), *at = strstr(text.s, head);
  if (!at) bug("the text of a graph lacks its repeat");
  for (at = strchr(at + 1, '\n') + 1; *at != '}'; at = strchr(at, '\n') + 1)
    line_add(&k, g, repeat, at, strchr(at, '\n'));
  memcpy(out, (uint64_t[]){k.a, k.b}, sizeof(uint64_t[2]));
}

/* The same whether its sizes are open or not: as compiled for one process. */
static const EinGraph *graph_open(Session *s, const Job *j, const Args *a, bool compiled) {
  if ((compiled && !s->ranks) || !j->program) return j->graph;
  Job open = *j;
  Diags *collect = s->collect;
  s->collect = diags_new(s->arena); /* it has been reported */
  Leave l = job_graph_open(s, &open, a);
  s->collect = collect;
  return l ? j->graph : open.graph;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

bool keeping_wanted(const Args *a) {
  return arg_has(a, OPT_CHECKPOINT) || arg_has(a, OPT_RESUME) || arg_has(a, OPT_EVERY);
}

static Leave words_read(Keeping *k, const Args *a) {
  const char *every = arg_last(a, OPT_EVERY);
  Session *s = k->s;
  k->to = arg_last(a, OPT_CHECKPOINT);
  k->from = arg_last(a, OPT_RESUME);
  if (every && !k->to) return fail(s, LEAVE_USAGE, "--every %s: of what? --checkpoint DIR says where to", every);
  if (k->to && !every)
    return fail(s, LEAVE_USAGE, "--checkpoint %s: how often? --every 50 writes after every 50 turns", k->to);
  if (every && (!int64_read(every, strlen(every), &k->every) || k->every < 1))
    return fail(s, LEAVE_USAGE, "--every %s: expected a number of turns, 1 or more", every);
  return LEAVE_OK;
}

static Leave one_repeat(Keeping *k, const EinGraph *g, const EinNode **repeat) {
  uint32_t n = 0;
  const char *word = k->to ? "--checkpoint" : "--resume";
  if (k->j->past || !g)
    return fail(k->s, LEAVE_USAGE,
        "%s: %s is past the graph, and says of no state what it is called; begin with the program", word, k->j->path);
  *repeat = outermost(g, &n);
  if (!n)
    return fail(k->s, LEAVE_USAGE, "%s: %s has no repeat: there is nothing between turns to be kept", word, k->j->path);
  if (n > 1)
    return fail(k->s, LEAVE_USAGE,
        "%s: %s has %u repeats one behind the other, and one can be kept; make a program of each", word, k->j->path, n);
  return LEAVE_OK;
}

Leave keeping_new(Session *s, const Job *j, const Args *a, bool compiled, Keeping *out) {
  const EinNode *repeat = NULL;
  *out = (Keeping){.s = s, .j = j, .fixed = arg_has(a, OPT_DETERMINISTIC), .compiled = compiled, .began = -1};
  Leave l = words_read(out, a);
  const char *word = out->to ? "--checkpoint" : "--resume";
  if (!l && !s->ranks && (arg_has(a, OPT_SITES) || job_of_sites(j)))
    l = fail(s, LEAVE_USAGE,
        "%s keeps what a process has, and -n runs all sites in one; by --np or mpirun, or without -n, it can be done",
        word);
  if (!l && target_device(s, a))
    l = fail(
        s, LEAVE_USAGE, "%s keeps what is in this machine's memory; with --target=c, jit or eval it can be done", word);
  const EinGraph *g = l ? NULL : graph_open(s, j, a, compiled);
  if (!l) l = one_repeat(out, g, &repeat);
  if (!l) repeat_key(s->arena, g, repeat, out->repeat);
  if (!l && out->to) l = kept_folder(out);
  return !l && out->from ? kept_any(out) : l;
}

/* ---- what goes from turn to turn --------------------------------------------------------------------------------- */

/* Its own name; or, if it has none or another has it already, its number. */
static const char *name_of(const Keeping *k, Str name) {
  bool taken = !name;
  for (uint32_t i = 0; i < k->kept.len && !taken; i++) taken = strcmp(k->kept.at[i].name, name->s) == 0;
  return taken ? arena_printf(k->s->arena, "ein.state.%u", k->kept.len) : name->s;
}

static void kept_add(Keeping *k, Str name, DType t, uint32_t rank, const int64_t *shape) {
  const ein_named_tensor x = {
      name_of(k, name), {.device_type = 1, .ndim = (int32_t)rank, .dtype = (ein_dtype)t, .shape = shape}};
  vec_push(k->s->arena, k->kept, x);
}

static const Task *task_repeat(const TaskGraph *t) {
  for (uint32_t i = 0; i < t->tasks.len; i++)
    if (t->tasks.at[i]->kind == TASK_REPEAT) return t->tasks.at[i];
  return NULL;
}

/* Whether it changes in the repeat, and had a value before: a state, or a stack. A state's second buffer, if any, is
 * refilled in each turn. */
static bool goes_on(const TaskGraph *t, const Task *repeat, uint32_t b) {
  bool before = false, within = false;
  for (uint32_t i = 0; i < repeat->exchange.len; i++) {
    if (repeat->exchange.at[i].next == b) return false;
    within |= repeat->exchange.at[i].now == b;
  }
  for (uint32_t i = 0; i < repeat->body.len; i++) within |= task_writes(t, repeat->body.at[i], b);
  for (uint32_t i = 0; i < t->tasks.len && t->tasks.at[i] != repeat; i++) before |= task_writes(t, t->tasks.at[i], b);
  return before && within;
}

/* The blocks of a process depend on the plan, so its text is in the key. */
static void plan_key(Keeping *k, const TaskGraph *t) {
  Buf text = buf_new(k->s->arena);
  CacheKey key = cache_key_new();
  task_print(&text, t);
  for (const char *at = text.s; *at; at = strchr(at, '\n') + 1)
    cache_key_add(&key, at, (size_t)(line_end(at, strchr(at, '\n')) - at));
  k->plan[0] = k->s->ranks->ranks;
  memcpy(k->plan + 1, (uint64_t[]){key.a, key.b}, sizeof(uint64_t[2]));
}

/* Finds which part of the whole it is. */
static void part_find(Keeping *k, const TaskBuffer *x, const int64_t *shape) {
  const TaskGraph *t = k->j->tasks;
  int64_t *low = NEW_ARRAY(k->s->arena, int64_t, x->rank + 1), *high = NEW_ARRAY(k->s->arena, int64_t, x->rank + 1),
          *whole = NEW_ARRAY(k->s->arena, int64_t, x->rank + 1);
  uint32_t at[MESH_AXES + 1] = {0};
  low[0] = 1;
  if (!t->mesh.n && x->rank) memcpy(whole, shape, x->rank * sizeof *whole);
  if (t->mesh.n) {
    mesh_place(&t->mesh, k->s->ranks->rank, at);
    low[0] = task_has(t, x, at);
    if (low[0]) task_box(t, x, at, low + 1, high);
    task_whole(t, x, whole);
  }
  vec_push(k->s->arena, k->low, low);
  vec_push(k->s->arena, k->whole, whole);
}

static void buffers_find(Keeping *k, const ein_ctx *ctx) {
  const TaskGraph *t = k->j->tasks;
  if (t->mesh.n) plan_key(k, t);
  const Task *repeat = task_repeat(t);
  BUG_UNLESS(repeat); /* one of its turns has run, or would be next */
  k->bound = repeat->buffer;
  /* at: its shape, as they lie one behind the other */
  for (uint32_t b = 0, at = 0; b < t->buffers.len; at += t->buffers.at[b++].rank) {
    const TaskBuffer *x = &t->buffers.at[b];
    if (x->space == BUF_INPUT || !goes_on(t, repeat, b)) continue;
    kept_add(k, x->name, x->dtype, x->rank, ctx->shape + at);
    vec_push(k->s->arena, k->buffer, b);
    part_find(k, x, ctx->shape + at);
  }
}

/* Runs before the first turn, and after each. */
static ein_status turn_over(Keeping *k, int64_t most, int64_t *turn, ein_error *error) {
  ein_status status = EIN_OK;
  if (k->began < 0) {
    if (k->from) status = kept_read(k, most, turn, error);
    k->began = *turn;
  } else if (k->to && *turn % k->every == 0) status = kept_write(k, *turn, error);
  k->failed = status_leave(status);
  return status;
}

ein_status keeping_between(void *keeping, void *context, ein_error *error) {
  Keeping *k = keeping;
  ein_ctx *ctx = context;
  if (k->began < 0) buffers_find(k, ctx);
  for (uint32_t i = 0; i < k->kept.len; i++) k->kept.at[i].tensor.data = ctx->data[k->buffer.at[i]];
  return turn_over(k, *(const int64_t *)ctx->data[k->bound], ctx->turn, error);
}

bool keeping_eval(Keeping *k, EvalBetween *at, const char **why) {
  ein_error error = {0};
  for (uint32_t i = 0; i < at->n; i++) {
    const EvalArray *x = &at->kept[i].array;
    if (k->began < 0) kept_add(k, at->kept[i].name, x->dtype, x->rank, x->shape);
    k->kept.at[i].tensor.data = x->data;
    if (x->has && memchr(x->has, 0, (size_t)x->count)) { /* by a text of a graph alone */
      *why = arena_printf(k->s->arena, "%s has no value somewhere, which a checkpoint cannot say", k->kept.at[i].name);
      return k->failed = LEAVE_PROGRAM, false;
    }
  }
  if (turn_over(k, at->most, &at->turn, &error) == EIN_OK) return true;
  *why = arena_printf(k->s->arena, "%s", error.text);
  return false;
}
