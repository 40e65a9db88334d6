/* task/task_check.c - every invariant of a TaskGraph, as task.h and docs/languages-inside.md say them. Walks the tasks in
 * their order, so that what is written so far is what may be read; each task, stage and shared part of an expression is
 * looked at once. */
#include "../expr/prove.h"
#include "../expr/sum_law.h"
#include "site.h"
#include "text.h"

enum { NONE = -1, NEVER = -2 };

typedef struct Held {        /* of a buffer */
  int32_t written;           /* NONE: it is written; NEVER; else only if this input is not given */
  int32_t stands_for;        /* the input whose default it is, or NONE */
  uint32_t kernel;           /* 1 + the step of the last kernel that stores to it */
  bool said;                 /* that its life is too short */
} Held;

typedef struct Check {
  SumCheck c;
  const TaskGraph *t;
  Arena *arena;
  const TaskBuffer *buffer;  /* the one at hand, or NULL */
  const Task *task;          /* so too */
  const TaskStage *stage;    /* so too */
  VEC(const Task *) open;    /* the repeats around */
  uint32_t step;             /* the next one */
  int32_t unless;            /* what is at hand is done only if this input is not given; NONE */
  Held *held;                /* by buffer */
  int32_t *default_of;       /* by input: the buffer that holds its default, or NONE */
} Check;

static void say_where(void *ctx, Buf *out) {
  const Check *c = ctx;
  const TaskStage *s = c->stage;
  const Task *k = c->task;
  if (c->buffer)
    buf_printf(out, "buffer %%%u%s%s", c->buffer->id, c->buffer->name ? " " : "", c->buffer->name ? c->buffer->name->s : "");
  else if (!k)
    buf_str(out, "taskgraph");
  else
    buf_printf(out, "%s %u%s%s", task_word(k), k->step, k->name ? " " : "", k->name ? k->name->s : "");
  if (s) buf_printf(out, ", stage %u%s%s", (unsigned)(s - k->stages.at), s->name ? " " : "", s->name ? s->name->s : "");
}

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

static bool is_name(Str s) {
  return s && s->len;
}

/* ---- the uses of buffers ------------------------------------------------------------------------ */

static bool check_number(Check *c, const char *what, int64_t buffer) {
  if (buffer >= 0 && buffer < c->t->buffers.len) return true;
  fail(c, "%s is buffer %lld, of %u", what, (long long)buffer, c->t->buffers.len);
  return false;
}

/* A life that reaches into a repeat and out of it holds all of the repeat. */
static bool is_alive(const Check *c, const TaskBuffer *b, uint32_t step) {
  if (step < b->first || step > b->last) return false;
  for (uint32_t i = 0; i < c->open.len; i++) {
    const Task *r = c->open.at[i];
    bool inside = b->first > r->step && b->last <= r->end;
    if (!inside && (b->first > r->step || b->last < r->end)) return false;
  }
  return true;
}

static void use(Check *c, uint32_t buffer, uint32_t step) {
  const TaskBuffer *b = &c->t->buffers.at[buffer];
  if (b->space == BUF_INPUT && b->argument < c->t->inputs.len && c->default_of[b->argument] >= 0) {
    b = &c->t->buffers.at[c->default_of[b->argument]];
    buffer = b->id;
  }
  if (b->space != BUF_WORK || c->held[buffer].said || is_alive(c, b, step)) return;
  c->held[buffer].said = true;
  fail(c, "buffer %%%u is used at step %u and alive from %u to %u", buffer, step, b->first, b->last);
}

static void check_read(Check *c, uint32_t buffer, uint32_t step) {
  const TaskBuffer *b = &c->t->buffers.at[buffer];
  const Held *h = &c->held[buffer];
  use(c, buffer, step);
  if (b->space == BUF_INPUT) {
    if (b->argument < c->t->inputs.len && c->t->inputs.at[b->argument].optional && c->default_of[b->argument] < 0)
      fail(c, "input %%%u is read before its default", buffer);
  } else if (h->written == NEVER) {
    fail(c, "buffer %%%u is read before it is written", buffer);
  } else if (h->written != NONE && h->written != c->unless) {
    fail(c, "buffer %%%u is read always and written unless input %d is given", buffer, h->written);
  }
}

static void check_write(Check *c, uint32_t buffer, uint32_t step) {
  Held *h = &c->held[buffer];
  use(c, buffer, step);
  if (c->t->buffers.at[buffer].space == BUF_INPUT) fail(c, "input %%%u is written", buffer);
  if (h->stands_for != NONE) fail(c, "buffer %%%u is written and stands for input %d", buffer, h->stands_for);
  if (h->written != NONE) h->written = c->unless;
}

static void check_scalar(Check *c, const char *what, uint32_t buffer, DType t) {
  const TaskBuffer *b = &c->t->buffers.at[buffer];
  if (b->rank || b->dtype != t) fail(c, "%s is not one %s", what, dtype_name(t));
}

/* ---- a mesh ------------------------------------------------------------------------------------- */

/* False: nothing that hangs on sites can be looked at. */
static bool check_mesh(Check *c) {
  const TaskGraph *t = c->t;
  int64_t sites = 1;
  bool well = t->mesh.n <= MESH_AXES;
  for (uint32_t a = 0; well && a < t->mesh.n; a++) well = t->mesh.size[a] > 0 && mul_ok(sites, t->mesh.size[a], &sites) && sites <= TASK_SITES;
  if (!well) fail(c, "its mesh has no size, or too large a one");
  for (uint32_t a = 0; well && a < t->mesh.n; a++) {
    well = a < t->dims.len && !t->dims.at[a].known && t->dims.at[a].name == task_axis(t, a);
    if (!well) fail(c, "dim %u is not the place along axis %u", a, a);
  }
  for (uint32_t i = t->mesh.n; well && t->mesh.n && i < t->dims.len; i++)
    if (!t->dims.at[i].known) well = false, fail(c, "dim %u has no value, though there is a mesh", i);
  return well;
}

/* What only a buffer of a mesh has. */
static bool check_site(Check *c, const TaskBuffer *b) {
  bool well = c->t->mesh.n || (!b->low && !b->when);
  if (!well) fail(c, "it says where it is, and there is no mesh");
  for (uint32_t d = 0; b->low && d < b->rank; d++) well &= check_extent(&c->c, "a place", b->low[d]);
  if (!b->when) return well;
  if (b->when->dtype != DT_BOOL || (b->when->has & ~(unsigned)HAS_DIM)) {
    fail(c, "where it is is no bool over the site");
    return false;
  }
  c->c.now++;
  check_walk(&c->c, b->when, WALK_ALL, check_dim_name);
  return well;
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
  if (!is_name(a->name))
    fail(c, "%s %u has no name", what, i);
  else if (map_find(names, a->name))
    fail(c, "two %ss are called %s", what, a->name->s);
  else
    map_put(names, a->name, c);
  if (!check_number(c, what, a->buffer)) return;
  const TaskBuffer *b = &c->t->buffers.at[a->buffer];
  if (b->space != space || b->argument != i) fail(c, "%s %u is not in buffer %%%u", what, i, a->buffer);
  if (space == BUF_OUTPUT && (a->param || a->optional)) fail(c, "output %u is a param or optional", i);
}

static void check_arguments(Check *c) {
  const TaskGraph *t = c->t;
  Map names = map_new(c->arena), other = map_new(c->arena);
  uint32_t places = 0;
  for (uint32_t i = 0; i < t->inputs.len; i++) check_argument(c, "input", BUF_INPUT, &t->inputs.at[i], i, &names);
  for (uint32_t i = 0; i < t->outputs.len; i++) check_argument(c, "output", BUF_OUTPUT, &t->outputs.at[i], i, &other);
  for (uint32_t i = 0; i < t->buffers.len; i++) places += t->buffers.at[i].space != BUF_WORK;
  if (places != t->inputs.len + t->outputs.len)
    fail(c, "%u buffers are the caller's, for %u arguments", places, t->inputs.len + t->outputs.len);
}

/* ---- moves ----------------------------------------------------------------------------------------- */

typedef struct Mention { Str name; bool met; } Mention;

static const Expr *leaf_mentions(void *env, Exprs *x, const Expr *leaf) {
  Mention *m = env;
  (void)x;
  m->met |= leaf->kind == EX_DIM && leaf->name == m->name;
  return leaf;
}

static bool mentions(const Check *c, const Expr *e, uint32_t axis) {
  Mention m = {task_axis(c->t, axis), false};
  if (e && e->has & HAS_DIM) expr_map(c->t->exprs, e, leaf_mentions, &m);
  return m.met;
}

/* A box is another along those axes alone that cut it. */
static void check_placement(Check *c, const char *what, const TaskBuffer *b, const Placement *p) {
  for (uint32_t a = 0; a < c->t->mesh.n; a++) {
    bool moves = false;
    for (uint32_t d = 0; d < b->rank; d++) moves |= mentions(c, b->dim[d], a) || mentions(c, b->low[d], a);
    if (p->on[a] < PLACE_SOME || (p->on[a] >= 0 && p->on[a] >= (int64_t)b->rank)) fail(c, "%s has no placement along axis %u", what, a);
    if (p->on[a] == PLACE_ALL && (moves || mentions(c, b->when, a))) fail(c, "%s is not the same along axis %u", what, a);
    if (p->on[a] == PLACE_PART && moves) fail(c, "%s is not parts of one box along axis %u", what, a);
  }
}

static void check_reduction(Check *c, const Task *k, DType t) {
  bool combined = move_combines(c->t, k) != 0;
  for (uint32_t a = 0; a < c->t->mesh.n; a++)
    if (k->to.on[a] == PLACE_PART && k->of.on[a] != PLACE_PART) fail(c, "it makes parts along axis %u", a);
  if (combined != (k->reducer != RED_NONE)) fail(c, "a reducer stands where parts are combined, and only there");
  bool place = k->reducer == RED_ARGMAX || k->reducer == RED_ARGMIN;
  EinSum s = {.reducer = k->reducer, .monoid = k->monoid, .acc = t, .dtype = place ? DT_I64 : t};
  if ((unsigned)k->reducer < REDUCERS) check_reducer(&c->c, &s);
}

/* Beside each element its place: of the same box. */
static void check_places(Check *c, const char *what, uint32_t buffer, const TaskBuffer *b) {
  if (!check_number(c, what, buffer)) return;
  const TaskBuffer *p = &c->t->buffers.at[buffer];
  bool same = p->dtype == DT_I64 && p->rank == b->rank && p->low && p->when == b->when && p != b;
  for (uint32_t d = 0; same && d < b->rank; d++) same = p->dim[d] == b->dim[d] && p->low[d] == b->low[d];
  if (!same) fail(c, "%%%u has not the places of %%%u", buffer, b->id);
}

static void check_move(Check *c, const Task *k) {
  const TaskBuffer *to = &c->t->buffers.at[k->buffer], *from = &c->t->buffers.at[k->from];
  check_read(c, k->from, k->step);
  check_write(c, k->buffer, k->step);
  use(c, k->from, k->end);
  use(c, k->buffer, k->end);
  if (k->from == k->buffer || from->dtype != to->dtype || from->rank != to->rank) {
    fail(c, "%%%u and %%%u are not of one tensor", k->from, k->buffer);
    return;
  }
  if (!from->low || !to->low) {
    fail(c, "%%%u or %%%u does not say where it is", k->from, k->buffer);
    return;
  }
  check_placement(c, "what it moves", from, &k->of);
  check_placement(c, "what it makes", to, &k->to);
  check_reduction(c, k, to->dtype);
  if (task_moves_places(k)) {
    check_places(c, "where places come from", k->place_from, from);
    check_places(c, "where places go", k->place_to, to);
    if (k->place_from < c->t->buffers.len) check_read(c, k->place_from, k->step), use(c, k->place_from, k->end);
    if (k->place_to < c->t->buffers.len) check_write(c, k->place_to, k->step), use(c, k->place_to, k->end);
  } else if (k->place_from || k->place_to) {
    fail(c, "it moves places, and is not by argmax or argmin");
  }
  if ((unsigned)k->move >= TASK_MOVES) fail(c, "it has no kind");
  else if (k->move != MOVE_EXCHANGE && k->move != move_kind(c->t, k)) fail(c, "it is no %s", task_move_word(k->move));
}

/* ---- stages ------------------------------------------------------------------------------------- */

static void check_kept(Check *c, const Expr *e, const TaskSlot *slot) {
  if (slot->index >= (uint32_t)(c->stage - c->task->stages.at)) return; /* said with the slot */
  const TaskStage *of = &c->task->stages.at[slot->index];
  if (e->n != of->sum->n_out) fail(c, "&%u has %u labels and is read with %u indices", slot->index, of->sum->n_out, e->n);
  if (e->dtype != of->sum->dtype)
    fail(c, "&%u is %s and is read as %s", slot->index, check_dtype_name(of->sum->dtype), check_dtype_name((DType)e->dtype));
  for (uint32_t k = 0; k < c->task->n_outer && k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || e->arg[k]->i != k) fail(c, "&%u is not read at the reader's own label %u", slot->index, k);
}

static void check_loaded(Check *c, const Expr *e, const TaskSlot *slot) {
  if (slot->index >= c->t->buffers.len) return; /* said with the slot */
  const TaskBuffer *b = &c->t->buffers.at[slot->index];
  if (e->n != b->rank) fail(c, "buffer %%%u has rank %u and is read with %u indices", b->id, b->rank, e->n);
  if (e->dtype != b->dtype)
    fail(c, "buffer %%%u is %s and is read as %s", b->id, check_dtype_name(b->dtype), check_dtype_name((DType)e->dtype));
}

static void check_slot_read(void *ctx, const Expr *e) {
  Check *c = ctx;
  const TaskStage *s = c->stage;
  if (e->i < 0 || e->i >= s->sum->n_slot) {
    fail(c, "slot %lld is read, of %u", (long long)e->i, s->sum->n_slot);
    return;
  }
  const TaskSlot *slot = &s->slot[e->i];
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->dtype != DT_I64) fail(c, "an index of slot %lld is not i64", (long long)e->i);
  if (slot->kept)
    check_kept(c, e, slot);
  else
    check_loaded(c, e, slot);
  check_read_slot(&c->c, task_operand(slot), e);
}

/* Each element is made of itself: by the last stage, which reads the buffer just where it stores; no other has to do with it. */
typedef struct Itself { const TaskStage *s; uint32_t buffer; bool only; } Itself;

static const Expr *leaf_itself(void *env, Exprs *x, const Expr *leaf) {
  Itself *i = env;
  (void)x;
  if (leaf->kind != EX_READ || leaf->i >= i->s->sum->n_slot || i->s->slot[leaf->i].kept ||
      i->s->slot[leaf->i].index != i->buffer)
    return leaf;
  i->only &= leaf->n == i->s->n_at;
  for (uint32_t k = 0; i->only && k < leaf->n; k++) i->only = leaf->arg[k] == i->s->at[k];
  return leaf;
}

static bool is_in_place(const Check *c, const Task *k, const TaskStage *s, uint32_t buffer) {
  bool last = s == &vec_last(k->stages) && s->buffer == (int32_t)buffer && s->sum->reducer == RED_NONE;
  Itself i = {s, buffer, last};
  for (uint32_t m = 0; m + 1 < k->stages.len; m++) i.only &= k->stages.at[m].buffer != (int32_t)buffer;
  const EinSum *sum = s->sum;
  const Expr *all[] = {sum->body, sum->where, sum->domain};
  for (size_t e = 0; i.only && e < COUNT(all); e++)
    if (all[e]) expr_map(c->t->exprs, all[e], leaf_itself, &i);
  return i.only;
}

static void check_slots(Check *c, const Task *k, const TaskStage *s) {
  for (uint32_t i = 0; i < s->sum->n_slot; i++) {
    const TaskSlot *slot = &s->slot[i];
    if (!slot->kept) {
      if (!check_number(c, "a slot", slot->index)) continue;
      check_read(c, slot->index, k->step);
      if (c->held[slot->index].kernel == k->step + 1 && !is_in_place(c, k, s, slot->index))
        fail(c, "buffer %%%u is read and stored to in one kernel", slot->index);
    } else if (slot->index >= (uint32_t)(s - k->stages.at)) {
      fail(c, "a slot is &%u, no stage before it", slot->index);
    }
  }
}

static void check_at_part(SumCheck *sc, const Expr *e) {
  Check *c = sc->ctx;
  if (e->kind == EX_READ)
    fail(c, "it reads to find where it is put");
  else
    check_part(sc, e);
}

/* How many values an index takes that is a label, or a group of labels, row-major; NULL: it is something else. */
static const Expr *values_of(const Check *c, const TaskStage *s, const Expr *e) {
  if (e->kind == EX_LABEL) return e->i >= 0 && e->i < s->sum->n_out ? s->bound[e->i] : NULL;
  if (e->kind != EX_OP || e->op != OP_ADD) return NULL;
  const Expr *before = e->arg[0], *last = e->arg[1];
  if (before->kind != EX_OP || before->op != OP_MUL || last->kind != EX_LABEL) return NULL;
  const Expr *n = values_of(c, s, before->arg[0]), *m = values_of(c, s, last);
  return n && m && before->arg[1] == m ? expr_op2(c->t->exprs, OP_MUL, n, m) : NULL;
}

/* Labels do not lead out of the buffer; of indices that are something else, who made them has proved it. */
static void check_fits(Check *c, const TaskStage *s, uint32_t axis, const TaskBuffer *b) {
  static const Facts none = {0};
  const Expr *values = values_of(c, s, s->at[axis]), *dim = b->dim[axis];
  if (!values || values == dim || expr_normal(c->t->exprs, values) == dim) return;
  if (prove(c->t->exprs, &none, expr_op2(c->t->exprs, OP_LE, values, dim)).verdict != PROVED)
    fail(c, "index %u of where it is put leads out of buffer %%%u", axis, b->id);
}

/* Where the result goes. */
static void check_store(Check *c, const TaskStage *s) {
  if (s->buffer < 0) {
    if (s->buffer != NONE || s->n_at) fail(c, "it is kept, and stored");
    return;
  }
  const TaskBuffer *b = &c->t->buffers.at[s->buffer];
  if (b->dtype != s->sum->dtype)
    fail(c, "it is %s and buffer %%%u %s", check_dtype_name(s->sum->dtype), b->id, check_dtype_name(b->dtype));
  if (s->n_at != b->rank || (s->n_at && !s->at)) {
    fail(c, "buffer %%%u has rank %u and is stored to with %u indices", b->id, b->rank, s->n_at);
    return;
  }
  c->c.labels = s->sum->n_out;
  c->c.now++;
  for (uint32_t i = 0; i < s->n_at; i++) {
    if (!s->at[i] || s->at[i]->dtype != DT_I64) {
      fail(c, "index %u of where it is put is not i64", i);
      continue;
    }
    check_walk(&c->c, s->at[i], WALK_ALL, check_at_part);
    check_fits(c, s, i, b);
  }
}

static bool is_filled(Check *c, const TaskStage *s) {
  const EinSum *sum = s->sum;
  bool well = sum && sum->body && (!sum->n_slot || s->slot) && (unsigned)sum->reducer < REDUCERS &&
              (unsigned)sum->acc < DTYPES && (unsigned)sum->dtype < DTYPES;
  if (!well) fail(c, "its operation is not filled in");
  if (!well) return false;
  if (sum->n_out > SUM_RANK || sum->n_red > SUM_RANK - sum->n_out) {
    fail(c, "it has %u and %u labels: too many", sum->n_out, sum->n_red);
    return false;
  }
  if (sum->n_out + sum->n_red && (!s->bound || !s->label)) {
    fail(c, "it has no labels");
    return false;
  }
  return true;
}

static void check_stage(Check *c, const Task *k, const TaskStage *s) {
  const EinSum *sum = s->sum;
  uint32_t labels = sum->n_out + sum->n_red;
  if (s->name && !s->name->len) fail(c, "its name is empty");
  for (uint32_t l = 0; l < labels; l++) {
    check_extent(&c->c, "a label's bound", s->bound[l]);
    if (!is_name(s->label[l])) fail(c, "label %u has no name", l);
  }
  if (sum->n_out < k->n_outer) fail(c, "it has %u output labels, and %u are outer ones", sum->n_out, k->n_outer);
  const TaskStage *first = &k->stages.at[0];
  for (uint32_t l = 0; l < k->n_outer && l < sum->n_out && l < first->sum->n_out; l++)
    if (s->bound[l] != first->bound[l]) fail(c, "outer label %u has another bound than in stage 0", l);
  check_slots(c, k, s);
  check_reducer(&c->c, sum);
  c->c.labels = labels;
  c->c.level = c->open.len;
  check_expressions(&c->c, sum);
  check_store(c, s);
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static void check_kernel(Check *c, const Task *k) {
  bool well = k->stages.len > 0;
  if (!well) fail(c, "it has no stages");
  for (uint32_t i = 0; i < k->stages.len; i++) {
    const TaskStage *s = c->stage = &k->stages.at[i];
    well &= is_filled(c, s);
    if (s->buffer >= 0 && check_number(c, "where it is stored", s->buffer))
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
    check_write(c, (uint32_t)c->stage->buffer, k->step);
    if (c->t->buffers.at[c->stage->buffer].when != c->t->buffers.at[vec_last(k->stages).buffer].when)
      fail(c, "buffer %%%d is not at the same sites as what the last stage makes", c->stage->buffer);
  }
  c->stage = NULL;
}

static void check_exchanges_before(Check *c, const Task *k) {
  for (uint32_t i = 0; i < k->exchange.len; i++) {
    const TaskExchange *x = &k->exchange.at[i];
    if (!check_number(c, "what is exchanged", x->now) || !check_number(c, "what is exchanged", x->next)) continue;
    const TaskBuffer *a = &c->t->buffers.at[x->now], *b = &c->t->buffers.at[x->next];
    bool same = a->dtype == b->dtype && a->rank == b->rank && a != b;
    for (uint32_t d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
    if (!same) fail(c, "%%%u and %%%u are not alike and cannot be exchanged", x->now, x->next);
    if (a->space != BUF_WORK || b->space != BUF_WORK) fail(c, "%%%u and %%%u are not both work", x->now, x->next);
    if (a->first != b->first || a->last != b->last) fail(c, "%%%u and %%%u do not live as one", x->now, x->next);
    check_read(c, x->now, k->step);
    use(c, x->next, k->step);
  }
}

static void check_exchanges_after(Check *c, const Task *k) {
  Map met = map_new(c->arena);
  for (uint32_t i = 0; i < k->exchange.len; i++) {
    const TaskExchange *x = &k->exchange.at[i];
    if (x->now >= c->t->buffers.len || x->next >= c->t->buffers.len) continue;
    use(c, x->now, k->end);
    check_read(c, x->next, k->end);
    if (map_find(&met, &c->held[x->now]) || map_find(&met, &c->held[x->next]))
      fail(c, "%%%u or %%%u is exchanged twice", x->now, x->next);
    map_put(&met, &c->held[x->now], c);
    map_put(&met, &c->held[x->next], c);
  }
}

static void check_tasks(Check *c, const Tasks *list);

static void check_repeat(Check *c, const Task *k) {
  if (k->depth != c->open.len) fail(c, "its depth is %u and not %u", k->depth, c->open.len);
  if (!is_name(k->turn)) fail(c, "its loop variable has no name");
  if (check_number(c, "the bound", k->buffer)) {
    check_scalar(c, "the bound", k->buffer, DT_I64);
    check_read(c, k->buffer, k->step);
  }
  if (c->open.len >= TASK_DEPTH) {
    fail(c, "repeats are nested more than %d deep", TASK_DEPTH);
    return;
  }
  check_exchanges_before(c, k);
  vec_push(c->arena, c->open, k);
  check_tasks(c, &k->body);
  c->task = k;
  if (k->stop != NONE && check_number(c, "the stop", k->stop)) {
    check_scalar(c, "the stop", (uint32_t)k->stop, DT_BOOL);
    check_read(c, (uint32_t)k->stop, k->end);
  }
  c->open.len--;
  check_exchanges_after(c, k);
  if (k->turns != NONE && check_number(c, "the number of turns", k->turns)) {
    check_scalar(c, "the number of turns", (uint32_t)k->turns, DT_I64);
    check_write(c, (uint32_t)k->turns, k->end);
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
  check_read(c, k->buffer, k->step);
  c->unless = unless;
  if (in->buffer >= c->t->buffers.len) return; /* said already */
  const TaskBuffer *a = &c->t->buffers.at[in->buffer], *b = &c->t->buffers.at[k->buffer];
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
  if (!same) fail(c, "%%%u is not like input %u", k->buffer, k->argument);
  c->default_of[k->argument] = (int32_t)k->buffer;
  if (b->space != BUF_INPUT) c->held[k->buffer].stands_for = (int32_t)k->argument;
}

/* What only other kinds have. */
static void check_fields(Check *c, const Task *k) {
  bool kernel = k->kind == TASK_KERNEL, repeat = k->kind == TASK_REPEAT;
  if (!kernel && (k->stages.len || k->n_outer)) fail(c, "it has stages and is no kernel");
  if (!repeat && (k->body.len || k->exchange.len || k->turn || k->depth || k->stop != NONE || k->turns != NONE))
    fail(c, "it has what only a repeat has");
  if (!repeat && (k->kind != TASK_MOVE || k->end < k->step) && k->end != k->step) fail(c, "it ends at step %u and not %u", k->end, k->step);
  if (kernel && k->buffer) fail(c, "a kernel's buffers are its stages'");
  bool move = k->kind == TASK_MOVE;
  if (!move && (k->from || k->place_from || k->place_to || k->reducer != RED_NONE || k->monoid || k->move)) fail(c, "it has what only a move has");
  if (move && !c->t->mesh.n) fail(c, "it moves, and there is no mesh");
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
  if ((unsigned)k->kind > TASK_MOVE) {
    fail(c, "it has no kind");
    return;
  }
  if (k->step != c->step) fail(c, "its step is not %u", c->step);
  c->step++;
  check_fields(c, k);
  if (k->unless != NONE) c->unless = k->unless;
  if (k->kind == TASK_KERNEL) check_kernel(c, k);
  if (k->kind == TASK_REPEAT) check_repeat(c, k);
  bool one = k->kind != TASK_KERNEL && k->kind != TASK_REPEAT && check_number(c, "it", k->buffer);
  if (one && k->kind == TASK_ZERO) check_write(c, k->buffer, k->step);
  if (one && k->kind == TASK_MOVE && c->t->mesh.n && check_number(c, "it comes from", k->from)) check_move(c, k);
  if (one && k->kind == TASK_DEFAULT) check_default(c, k);
  if (one && k->kind == TASK_ASSERT) {
    check_scalar(c, "it", k->buffer, DT_BOOL);
    check_read(c, k->buffer, k->step);
  }
  c->unless = unless;
  c->task = NULL;
}

/* What is done while a move goes on leaves alone what it takes and what it brings. */
static void check_while(Check *c, const Tasks *list, uint32_t i) {
  const Task *m = list->at[i];
  uint32_t end = m->step;
  c->task = m;
  for (uint32_t j = i + 1; j < list->len && end < m->end; j++) {
    const Task *k = list->at[j];
    if (move_hinders(c->t, m, k)) fail(c, "it goes on to step %u, and step %u has to do with what it moves", m->end, k->step);
    end = k->kind == TASK_REPEAT ? k->end : k->step;
  }
  if (end != m->end) fail(c, "it goes on to step %u, where no task beside it ends", m->end);
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
  for (uint32_t i = 0; i < t->inputs.len; i++)
    if (t->inputs.at[i].optional && c->default_of[i] < 0) fail(c, "input %u is optional and has no default", i);
  for (uint32_t i = 0; i < t->outputs.len; i++) {
    uint32_t b = t->outputs.at[i].buffer;
    if (b < t->buffers.len && c->held[b].written != NONE) fail(c, "output %u is not written", i);
  }
}

bool task_check(const TaskGraph *t, Buf *out) {
  Arena *a = arena_new();
  Check c = {.t = t, .arena = a, .unless = NONE};
  c.c = sum_check_new(out, a, t->exprs, &c, say_where);
  c.c.read = check_slot_read;
  c.held = NEW_ARRAY(a, Held, t->buffers.len + 1);
  c.default_of = NEW_ARRAY(a, int32_t, t->inputs.len + 1);
  for (uint32_t i = 0; i < t->buffers.len; i++) c.held[i] = (Held){.written = NEVER, .stands_for = NONE};
  for (uint32_t i = 0; i < t->inputs.len; i++) c.default_of[i] = NONE;
  for (uint32_t i = 0; i < t->dims.len; i++) check_dim(&c.c, i, t->dims.at[i].name, t->dims.at[i].known, t->dims.at[i].value);
  for (uint32_t i = 0; i < t->monoids.len; i++) check_monoid(&c.c, t->monoids.at[i]);
  bool well = check_mesh(&c);
  for (uint32_t i = 0; i < t->buffers.len; i++) well &= check_buffer(&c, i);
  if (t->mesh.n) well &= c.c.ok; /* sites are looked at one by one */
  check_arguments(&c);
  for (uint32_t i = 0; i < t->checks.len; i++) check_condition(&c.c, i, t->checks.at[i].cond);
  if (well) check_tasks(&c, &t->tasks); /* else there is nothing to measure them by */
  c.task = NULL;
  if (well) check_end(&c);
  arena_free(a);
  return c.c.ok;
}
