/* task/text/read.c - reads a TaskGraph from its text. Each line is read independently: after a complaint the reader
 * continues with the next line, and does not complain about lines that depend on a failed one. The result can be
 * walked; task_check decides whether it is sound. */
#include "expr/sum/law.h"
#include "expr/sum/read.h"
#include "text.h"

typedef struct TaskReader {
  SumReader x;
  TaskGraph *t;
  bool part;                 /* a `}` that closes no block ends the text */
  bool ended;
  bool give_up;              /* nothing that follows would make sense */
  VEC(Task *) open;          /* the repeats that are open */
  Task *kernel;              /* the open kernel, or NULL */
  Map failed;                /* id + 1 of buffers whose line failed */
  Map failed_stages;         /* likewise, for stages of the open kernel */
  VEC(TaskSlot) slot;        /* of the current stage: one per read, in order */
  TextLines *lines;
  uint32_t steps;            /* the stated value of n_steps; UINT32_MAX: none */
} TaskReader;

static void *id_key(uint64_t id) {
  return (void *)((uintptr_t)id + 1);
}

/* ---- references --------------------------------------------------------------------------------- */

static bool is_buffer(TaskReader *r, uint64_t id) {
  if (id >= r->t->buffers.len) return false;
  if (!map_find(&r->failed, id_key(id))) return true;
  r->x.c.quiet = true;
  return false;
}

static bool want_buffer(TaskReader *r, uint32_t *out) {
  const char *at = r->x.c.s;
  if (!scan_want_id(&r->x.c, out)) return false;
  if (is_buffer(r, *out)) return true;
  r->x.c.s = at;
  return scan_fail(&r->x.c, D_E905, "buffer %%%u is not defined above this line", *out);
}

static bool want_buffer_or_none(TaskReader *r, int32_t *out) {
  uint32_t id;
  if (!want_buffer(r, &id)) return false;
  *out = (int32_t)id;
  return true;
}

static bool read_of(void *ctx, bool kept, int64_t number, DType *dtype, int64_t *slot) {
  TaskReader *r = ctx;
  TaskSlot s = {.kept = kept, .index = (uint32_t)number};
  const char *why = NULL;
  if (kept && (number < 0 || number >= (int64_t)r->kernel->stages.len))
    why = "&%lld is no stage above this line";
  else if (kept && map_find(&r->failed_stages, id_key((uint64_t)number)))
    r->x.c.quiet = true, why = "&%lld failed";
  else if (!kept && (number < 0 || !is_buffer(r, (uint64_t)number)))
    why = "buffer %%%lld is not defined above this line";
  if (why) {
    r->x.why = arena_printf(r->t->arena, why, (long long)number);
    return false;
  }
  *dtype = kept ? r->kernel->stages.at[number].sum->dtype : r->t->buffers.at[number].dtype;
  *slot = r->slot.len;
  vec_push(r->t->arena, r->slot, s);
  return true;
}

static const Expr **copy_exprs(TaskReader *r, const Expr *const *e, uint32_t n) {
  return arena_copy(r->t->arena, e, n * sizeof *e);
}

/* ---- lines of the head -------------------------------------------------------------------------- */

static bool line_dim(TaskReader *r) { return want_dim(&r->x, &r->t->dims); }

/* `mesh 2 2`, before all else; it may have as many sites as relations may. */
static bool line_mesh(TaskReader *r) {
  Mesh *m = &r->t->mesh;
  int64_t sites = 1, size;
  if (m->n || r->t->dims.len || r->t->buffers.len)
    return scan_fail(&r->x.c, D_E909, "`mesh` stands once, behind `taskgraph 1`");
  while (!scan_done(&r->x.c)) {
    if (m->n == MESH_AXES) return scan_fail(&r->x.c, D_E913, "a mesh has at most %d axes", MESH_AXES);
    if (!scan_want_int(&r->x.c, 1, TASK_SITES, "the size of an axis", &size)) return false;
    m->size[m->n++] = (uint32_t)size;
    sites *= size;
    if (sites > TASK_SITES) return scan_fail(&r->x.c, D_E913, "a mesh has at most %d sites", TASK_SITES);
  }
  return true;
}

/* `room 65536`, of a mesh */
static bool line_room(TaskReader *r) {
  if (!r->t->mesh.n || r->t->room || r->t->dims.len)
    return scan_fail(&r->x.c, D_E909, "`room` stands once, behind `mesh`");
  return scan_want_int(&r->x.c, 1, MOVE_ROOM, "bytes of parts that arrive at once", &r->t->room);
}

static bool line_monoid(TaskReader *r) { return want_monoid(&r->x, &r->t->monoids); }

static bool line_extern(TaskReader *r) { return want_extern(&r->x); }

static bool want_space(TaskReader *r, TaskBuffer *b) {
  if (scan_take_word(&r->x.c, "work"))
    b->space = BUF_WORK;
  else if (scan_take_word(&r->x.c, "input"))
    b->space = BUF_INPUT;
  else if (scan_take_word(&r->x.c, "output"))
    b->space = BUF_OUTPUT;
  else
    return scan_fail(&r->x.c, D_E903, "expected `input`, `output` or `work` here");
  return b->space == BUF_WORK || scan_want_number(&r->x.c, "an argument's number", &b->argument);
}

/* `low [(64 * $at0), 0] when (...)` */
static bool want_site(TaskReader *r, TaskBuffer *b) {
  VEC(const Expr *) low = {0};
  bool said = scan_take_word(&r->x.c, "low");
  if (said && !scan_want(&r->x.c, '[')) return false;
  while (said && !scan_take(&r->x.c, ']')) {
    const Expr *e;
    if (low.len && !scan_want(&r->x.c, ',')) return false;
    if (low.len == SUM_LABELS) return scan_fail(&r->x.c, D_E913, "a tensor has at most %d dimensions", SUM_LABELS);
    if (!want_extent(&r->x, &e)) return false;
    vec_push(r->t->arena, low, e);
  }
  if (said && low.len != b->rank) return scan_fail(&r->x.c, D_E906, "expected %u places behind `low`", b->rank);
  if (said) b->low = NEW_ARRAY(r->t->arena, const Expr *, low.len + 1);
  for (uint32_t d = 0; d < low.len; d++) b->low[d] = low.at[d];
  return !scan_take_word(&r->x.c, "when") || want_expr(&r->x, OVER_DIMS, DT_BOOL, &b->when);
}

static bool want_span(TaskReader *r, uint32_t *first, uint32_t *last) {
  return scan_want_number(&r->x.c, "a step", first) && scan_want(&r->x.c, '.') && scan_want(&r->x.c, '.') &&
         scan_want_number(&r->x.c, "a step", last);
}

static bool want_buffer_line(TaskReader *r, TaskBuffer *b) {
  uint32_t id;
  const char *at = r->x.c.s;
  if (!scan_want_id(&r->x.c, &id)) return false;
  if (id != b->id) {
    r->x.c.s = at;
    return scan_fail(&r->x.c, D_E906, "buffers are numbered in order: expected %%%u", b->id);
  }
  if (!want_space(r, b)) return false;
  if (!scan_is(&r->x.c, '[') && !scan_want_name(&r->x.c, &b->name)) return false;
  if (!want_shape(&r->x, &b->dtype)) return false;
  b->rank = r->x.bound.len;
  b->dim = copy_exprs(r, r->x.bound.at, b->rank);
  if (!want_site(r, b)) return false;
  if (b->space == BUF_WORK && (!scan_want_word(&r->x.c, "alive") || !want_span(r, &b->first, &b->last))) return false;
  return scan_want_end(&r->x.c, &b->place);
}

/* A failed buffer keeps its number, so that later ones have theirs. */
static bool line_buffer(TaskReader *r) {
  TaskBuffer b = {.id = r->t->buffers.len};
  if (b.id == READ_IDS) return scan_fail(&r->x.c, D_E913, "there are at most %d buffers", READ_IDS);
  bool ok = want_buffer_line(r, &b);
  lines_put(r->lines, line_key(LINE_BUFFER, b.id), scan_head(&r->x.c));
  if (!ok) map_put(&r->failed, id_key(b.id), r);
  vec_push(r->t->arena, r->t->buffers, b);
  return ok;
}

static bool want_argument(TaskReader *r, TaskArgument *a) {
  if (!scan_want_name(&r->x.c, &a->name) || !scan_want(&r->x.c, '=') || !want_buffer(r, &a->buffer)) return false;
  a->param = scan_take_word(&r->x.c, "param");
  a->optional = scan_take_word(&r->x.c, "optional");
  return scan_want_end(&r->x.c, NULL);
}

static bool line_input(TaskReader *r) {
  TaskArgument a = {0};
  if (!want_argument(r, &a)) return false;
  lines_put(r->lines, line_key(LINE_INPUT, r->t->inputs.len), scan_head(&r->x.c));
  vec_push(r->t->arena, r->t->inputs, a);
  return true;
}

static bool line_output(TaskReader *r) {
  TaskArgument a = {0};
  if (!want_argument(r, &a)) return false;
  lines_put(r->lines, line_key(LINE_OUTPUT, r->t->outputs.len), scan_head(&r->x.c));
  vec_push(r->t->arena, r->t->outputs, a);
  return true;
}

static bool line_check(TaskReader *r) { return want_check(&r->x, &r->t->checks); }

static bool line_steps(TaskReader *r) {
  return scan_want_number(&r->x.c, "the number of steps", &r->steps) && scan_want_end(&r->x.c, NULL);
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static bool want_unless(TaskReader *r, Task *k) {
  uint32_t input;
  if (!scan_take_word(&r->x.c, "unless")) return true;
  if (!scan_want_number(&r->x.c, "an input's number", &input)) return false;
  k->unless = (int32_t)input;
  return true;
}

static bool want_tail(TaskReader *r, Task *k) {
  return want_unless(r, k) && (!scan_take_word(&r->x.c, "named") || scan_want_name(&r->x.c, &k->name));
}

static Task *task_begin(TaskReader *r, TaskKind kind) {
  Task *k = MAKE(r->t->arena, Task, .kind = kind, .unless = -1, .stop = -1, .turns = -1);
  lines_put(r->lines, k, scan_head(&r->x.c));
  return k;
}

static void task_put(TaskReader *r, Task *k) {
  Tasks *list = r->open.len ? &vec_last(r->open)->body : &r->t->tasks;
  if (k->kind != TASK_REPEAT && k->kind != TASK_MOVE) k->end = k->step;
  vec_push(r->t->arena, *list, k);
}

static bool want_block(TaskReader *r, Task *k) {
  return scan_place(&r->x.c, &k->place) && scan_want(&r->x.c, '{') && scan_want_end(&r->x.c, NULL);
}

static bool want_kernel(TaskReader *r, Task *k) {
  if (!scan_want_number(&r->x.c, "a step", &k->step)) return false;
  if (!scan_take_word(&r->x.c, "outer") &&
      (!scan_want_name(&r->x.c, &k->name) || !scan_want_word(&r->x.c, "outer")))
    return false;
  return scan_want_number(&r->x.c, "the number of outer labels", &k->n_outer) && want_unless(r, k) && want_block(r, k);
}

static bool read_kernel(TaskReader *r, TaskKind kind) {
  Task *k = task_begin(r, kind);
  r->give_up = !want_kernel(r, k);
  task_put(r, k);
  r->kernel = k;
  r->failed_stages = map_new(r->t->arena);
  return !r->give_up;
}

static bool line_kernel(TaskReader *r) {
  return read_kernel(r, TASK_KERNEL);
}
static bool line_fetch(TaskReader *r) {
  return read_kernel(r, TASK_FETCH);
}

static bool want_repeat(TaskReader *r, Task *k, Str *text) {
  if (!want_span(r, &k->step, &k->end) || !want_alias(&r->x, text, &k->turn)) return false;
  if (!scan_want(&r->x.c, '<') || !want_buffer(r, &k->buffer)) return false;
  if (scan_take_word(&r->x.c, "until") && !want_buffer_or_none(r, &k->stop)) return false;
  if (scan_take_word(&r->x.c, "turns") && !want_buffer_or_none(r, &k->turns)) return false;
  if (r->open.len == TASK_DEPTH)
    return scan_fail(&r->x.c, D_E913, "repeats are nested at most %d deep", TASK_DEPTH);
  return want_tail(r, k) && want_block(r, k);
}

static bool line_repeat(TaskReader *r) {
  Task *k = task_begin(r, TASK_REPEAT);
  Str text = NULL;
  r->give_up = !want_repeat(r, k, &text);
  k->depth = r->open.len;
  task_put(r, k);
  vec_push(r->t->arena, r->open, k);
  vec_push(r->t->arena, r->x.turn, text);
  return !r->give_up;
}

static bool line_zero(TaskReader *r) {
  Task *k = task_begin(r, TASK_ZERO);
  if (!scan_want_number(&r->x.c, "a step", &k->step) || !want_buffer(r, &k->buffer) || !want_tail(r, k)) return false;
  if (!scan_want_end(&r->x.c, &k->place)) return false;
  task_put(r, k);
  return true;
}

static bool line_default(TaskReader *r) {
  Task *k = task_begin(r, TASK_DEFAULT);
  if (!scan_want_number(&r->x.c, "a step", &k->step) || !scan_want_word(&r->x.c, "input")) return false;
  if (!scan_want_number(&r->x.c, "an input's number", &k->argument)) return false;
  if (!scan_want(&r->x.c, '=') || !want_buffer(r, &k->buffer) || !want_tail(r, k)) return false;
  if (!scan_want_end(&r->x.c, &k->place)) return false;
  task_put(r, k);
  return true;
}

static bool line_assert(TaskReader *r) {
  Task *k = task_begin(r, TASK_ASSERT);
  if (!scan_want_number(&r->x.c, "a step", &k->step) || !want_buffer(r, &k->buffer)) return false;
  if (scan_is(&r->x.c, '"') && !scan_want_string(&r->x.c, &k->name)) return false;
  if (!want_unless(r, k) || !scan_want_end(&r->x.c, &k->place)) return false;
  task_put(r, k);
  return true;
}

/* `at 0 * + ?` */
static bool want_placement(TaskReader *r, Placement *out) {
  if (!scan_want_word(&r->x.c, "at")) return false;
  for (uint32_t a = 0; a < r->t->mesh.n; a++) {
    int64_t k;
    if (scan_take(&r->x.c, '*')) k = PLACE_ALL;
    else if (scan_take(&r->x.c, '+')) k = PLACE_PART;
    else if (scan_take(&r->x.c, '?')) k = PLACE_SOME;
    else if (!scan_want_int(&r->x.c, 0, INT8_MAX, "a dimension, `*`, `+` or `?`", &k)) return false;
    out->on[a] = (int8_t)k;
  }
  return true;
}

static bool want_move_word(TaskReader *r, TaskMove *out) {
  for (uint32_t m = 0; m < TASK_MOVES; m++)
    if (scan_take_word(&r->x.c, task_move_word((TaskMove)m))) return *out = (TaskMove)m, true;
  return scan_fail(&r->x.c, D_E903, "expected what kind of move it is: exchange, all_gather or the like");
}

static bool want_by(TaskReader *r, Task *k) {
  EinSum by = {0};
  if (!scan_take_word(&r->x.c, "by")) return true;
  if (!want_reducer_name(&r->x, &by)) return false;
  if (by.acc != r->t->buffers.at[k->from].dtype || by.reducer == RED_NONE)
    return scan_fail(&r->x.c, D_E910, "expected a reducer of %s", dtype_name(r->t->buffers.at[k->from].dtype));
  k->reducer = by.reducer;
  k->monoid = by.monoid;
  if (!task_moves_places(k)) return true;
  return scan_want_word(&r->x.c, "places") && want_buffer(r, &k->place_from) && scan_want_word(&r->x.c, "to") &&
      want_buffer(r, &k->place_to);
}

static bool want_while(TaskReader *r, Task *k) {
  if (!scan_want_number(&r->x.c, "a step", &k->step)) return false;
  k->end = k->step;
  return !scan_take(&r->x.c, '.') || (scan_want(&r->x.c, '.') && scan_want_number(&r->x.c, "a step", &k->end));
}

/* ` wrap [0, 16]` */
static bool want_wrap(TaskReader *r, Task *k) {
  uint32_t rank = r->t->buffers.at[k->buffer].rank;
  int64_t *wrap = NEW_ARRAY(r->t->arena, int64_t, rank + 1);
  if (!scan_take_word(&r->x.c, "wrap")) return true;
  if (!scan_want(&r->x.c, '[')) return false;
  for (uint32_t d = 0; d < rank; d++) {
    if (d && !scan_want(&r->x.c, ',')) return false;
    if (!scan_want_int(&r->x.c, 0, INT64_MAX, "an extent", &wrap[d])) return false;
  }
  k->wrap = wrap;
  return scan_want(&r->x.c, ']');
}

static bool line_move(TaskReader *r) {
  Task *k = task_begin(r, TASK_MOVE);
  if (!want_while(r, k) || !want_move_word(r, &k->move)) return false;
  if (!want_buffer(r, &k->from) || !want_placement(r, &k->of) || !scan_want_word(&r->x.c, "to")) return false;
  if (!want_buffer(r, &k->buffer) || !want_placement(r, &k->to) || !want_wrap(r, k) || !want_by(r, k) ||
      !want_tail(r, k))
    return false;
  if (!scan_want_end(&r->x.c, &k->place)) return false;
  task_put(r, k);
  return true;
}

/* ---- lines of a block --------------------------------------------------------------------------- */

static bool want_at(TaskReader *r, TaskStage *s) {
  VEC(const Expr *) at = {0};
  if (!scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    const Expr *e;
    if (at.len && !scan_want(&r->x.c, ',')) return false;
    if (at.len == SUM_RANK) return scan_fail(&r->x.c, D_E913, "a tensor has at most %d dimensions", SUM_RANK);
    if (!want_expr(&r->x, OVER_PLACES, DT_I64, &e)) return false;
    vec_push(r->t->arena, at, e);
  }
  s->n_at = at.len;
  s->at = at.at;
  return true;
}

static bool want_stage(TaskReader *r, TaskStage *s, EinSum *sum) {
  if (!scan_is(&r->x.c, '[') && !scan_want_name(&r->x.c, &s->name)) return false;
  if (!scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    if (r->x.label.len && !scan_want(&r->x.c, ',')) return false;
    if (!want_label(&r->x)) return false;
  }
  if (!want_sum(&r->x, sum)) return false;
  if (scan_take_word(&r->x.c, "to") && (!want_buffer_or_none(r, &s->buffer) || !want_at(r, s))) return false;
  return scan_want_end(&r->x.c, &s->place);
}

/* A failed stage keeps its number too. */
static bool line_stage(TaskReader *r) {
  TaskStage s = {.buffer = -1};
  EinSum sum = {0};
  sum_read_begin(&r->x);
  r->slot.len = 0;
  bool ok = want_stage(r, &s, &sum);
  if (ok) {
    s.slot = task_canonical_slots(r->t->arena, r->t->exprs, &sum, r->slot.at);
    sum.hash = sum_hash(&sum);
    s.bound = copy_exprs(r, r->x.bound.at, r->x.bound.len);
    s.label = arena_copy(r->t->arena, r->x.label.at, r->x.label.len * sizeof *s.label);
  } else {
    map_put(&r->failed_stages, id_key(r->kernel->stages.len), r);
  }
  s.sum = arena_copy(r->t->arena, &sum, sizeof sum);
  lines_put(r->lines, s.sum, scan_head(&r->x.c));
  vec_push(r->t->arena, r->kernel->stages, s);
  return ok;
}

static bool line_exchange(TaskReader *r) {
  TaskExchange x;
  if (!want_buffer(r, &x.now) || !want_buffer(r, &x.next) || !scan_want_end(&r->x.c, NULL)) return false;
  vec_push(r->t->arena, vec_last(r->open)->exchange, x);
  return true;
}

static bool line_close(TaskReader *r) {
  bool ok = scan_want_end(&r->x.c, NULL);
  if (r->kernel) {
    r->kernel = NULL;
  } else if (r->open.len) {
    r->open.len--;
    r->x.turn.len--;
  } else {
    r->ended = true;
  }
  return ok;
}

/* ---- the file ----------------------------------------------------------------------------------- */

typedef enum { PROGRAM = 1, REPEAT = 2, KERNEL = 4 } Where;

typedef struct Line {
  const char *word;
  unsigned where;
  bool (*read)(TaskReader *);
} Line;

static const Line lines[] = {
    {"stage", KERNEL, line_stage},
    {"kernel", PROGRAM | REPEAT, line_kernel},
    {"repeat", PROGRAM | REPEAT, line_repeat},
    {"zero", PROGRAM | REPEAT, line_zero},
    {"default", PROGRAM | REPEAT, line_default},
    {"assert", PROGRAM | REPEAT, line_assert},
    {"move", PROGRAM | REPEAT, line_move},
    {"fetch", PROGRAM | REPEAT, line_fetch},
    {"exchange", REPEAT, line_exchange},
    {"mesh", PROGRAM, line_mesh},
    {"room", PROGRAM, line_room},
    {"dim", PROGRAM, line_dim},
    {"extern", PROGRAM, line_extern},
    {"monoid", PROGRAM, line_monoid},
    {"buffer", PROGRAM, line_buffer},
    {"input", PROGRAM, line_input},
    {"output", PROGRAM, line_output},
    {"check", PROGRAM, line_check},
    {"steps", PROGRAM, line_steps},
};

static bool read_line(TaskReader *r) {
  Scan *c = &r->x.c;
  Where here = r->kernel ? KERNEL : r->open.len ? REPEAT : PROGRAM;
  if (scan_done(c) || *c->s == '#') return true;
  if ((here != PROGRAM || r->part) && scan_take(c, '}')) return line_close(r);
  for (size_t i = 0; i < COUNT(lines); i++) {
    const char *at = c->s;
    if (!scan_take_word(c, lines[i].word)) continue;
    if (lines[i].where & here) return lines[i].read(r);
    c->s = at;
    return scan_fail(c, D_E909, "`%s` does not stand %s", lines[i].word,
                     here == KERNEL ? "in a kernel" : here == REPEAT ? "in a repeat" : "outside of blocks");
  }
  return scan_fail(
      c, D_E902, "expected a line that begins with %s", here == KERNEL ? "stage or }" : "kernel, buffer or the like");
}

static bool read_header(TaskReader *r) {
  if (scan_take_word(&r->x.c, "taskgraph") && scan_take(&r->x.c, '1') && scan_done(&r->x.c)) return true;
  return scan_fail(&r->x.c, D_E901, "expected the line `taskgraph 1` %s", r->part ? "here" : "first");
}

static bool read_end(TaskReader *r) {
  if (r->kernel) return scan_fail(&r->x.c, D_E909, "expected `}` for kernel %u", r->kernel->step);
  if (r->open.len) return scan_fail(&r->x.c, D_E909, "expected `}` for repeat %u", vec_last(r->open)->step);
  return !r->part || r->ended || scan_fail(&r->x.c, D_E909, "expected `}` for the tasks");
}

static TaskGraph *read_from(TaskReader *r, const char **at) {
  *at = scan_line(&r->x.c, *at);
  r->t->lines = r->lines = lines_new(r->t->arena, scan_head(&r->x.c));
  bool ok = read_header(r);
  r->give_up = !ok;
  while (*at && !r->give_up && !r->ended) {
    *at = scan_line(&r->x.c, *at);
    ok &= read_line(r);
  }
  if (!r->give_up) ok &= read_end(r);
  r->t->n_steps = r->steps == UINT32_MAX ? task_steps(&r->t->tasks) : r->steps;
  return ok ? r->t : NULL;
}

static TaskReader reader_new(Arena *a, Strings *t, Source *src, Diags *d, bool part) {
  Exprs *p = exprs_new(a);
  TaskReader r = {.x = sum_reader(a, p, (Scan){.src = src, .strings = t, .d = d, .noun = "buffer"}), .part = part};
  r.t = task_new(a, t, p);
  r.x.read = read_of;
  r.x.kept = true;
  r.failed = r.failed_stages = map_new(a);
  r.steps = UINT32_MAX;
  return r;
}

TaskGraph *task_read_part(Arena *a, Strings *t, Source *src, Diags *d, const char **at) {
  TaskReader r = reader_new(a, t, src, d, true);
  r.x.ctx = &r;
  return read_from(&r, at);
}

TaskGraph *task_read(Arena *a, Strings *t, Source *src, Diags *d) {
  TaskReader r = reader_new(a, t, src, d, false);
  const char *at = src->bytes;
  r.x.ctx = &r;
  return read_from(&r, &at);
}
