/* task/passes/pad.c - copies a tensor together with what lies beyond its border, for a map with short rows that reads
 * it around each point. In: tasks after fusion, where such a map tests each read:
 *
 *     Y[o,y,x] = select(0 <= y-1 and 0 <= x-1, X[y-1,x-1], 0) * F[o,0,0] + select(0 <= y-1, X[y-1,x], 0) * F[o,0,1] ..
 *
 * Out: a kernel more, and no test:
 *
 *     P[y,x] = select(1 <= y and y <= H and 1 <= x and x <= W, X[y-1,x-1], 0)
 *     Y[o,y,x] = P[y,x] * F[o,0,0] + P[y,x+1] * F[o,0,1] + ..
 *
 * Long rows stay, because their borders are cut out of loops (codegen/schedule/finish/border.c); rows of a few vectors
 * would be mostly border. A choice that asks for more than whether its read is in range keeps its condition, but what
 * it reads is there in any case, so it is read in vectors. A choice around several reads goes if all of them are beyond
 * the border where it does not hold. Values are the same.
 *
 * Under a predicate, `if 0 <= y-1 then X[y-1,x] * F[o,0,1] else 0`, a weight does not count beyond the border, where 0
 * times an infinity or a NaN would be NaN. It is multiplied all the same, and where some weight is not finite, which a
 * kernel before finds out, a kernel after makes the whole map again by the choices as they are. */
#include "expr/prove/prove.h"
#include "task/inside.h"

#include <math.h>

enum {
  ROW_MOST = 64,             /* points of a row that is short, as in border.c */
  USES_LEAST = 3,            /* tested reads for each element of the copy */
  GROWS_MOST = 3,            /* the copy has at most so many times the elements */
  RANK_MOST = 16
};

typedef struct Pad {         /* a map, and a buffer that it reads */
  TaskGraph *t;
  TaskStage *stage;
  uint32_t buffer;
  StageReach reach[RANK_MOST]; /* by axis, of all reads and of the buffer's own elements */
  bool ok, row;              /* all reads are plain; one leaves the buffer along the row */
  uint32_t beyond;           /* reads that may leave it */
  const Expr *fill;          /* the value beyond the border; NULL: not known yet */
  bool weighs;               /* weights that are finite need no choice: each can be asked, */
  const Expr *unlike;        /*   and this asks whether some is not finite; NULL: all are */
} Pad;

static const TaskBuffer *buffer_of(const Pad *p) { return &p->t->buffers.at[p->buffer]; }

/* ---- what is read ------------------------------------------------------------------------------------------ */

static void read_look(Pad *p, const Expr *read) {
  StageReach r;
  bool beyond = false;
  for (uint32_t k = 0; k < read->n && p->ok; k++) {
    p->ok = stage_reach(p->stage, read->arg[k], &r);
    bool out = p->ok && (r.low < 0 || r.high >= buffer_of(p)->dim[k]->i);
    beyond |= out;
    p->row |= out && read->arg[k]->labels >> (p->stage->sum->n_out - 1) & 1;
    if (r.low < p->reach[k].low) p->reach[k].low = r.low;
    if (r.high > p->reach[k].high) p->reach[k].high = r.high;
  }
  p->beyond += beyond;
}

static bool is_literal(const Expr *e) { return e->kind == EX_INT || e->kind == EX_REAL; }
static bool is_plain_zero(const Expr *e) {
  return e->kind == EX_REAL ? e->f == 0 && !signbit(e->f) : e->kind == EX_INT && e->i == 0;
}
static bool is_zero(const Expr *e) { return e->kind == EX_REAL ? e->f == 0 : e->kind == EX_INT && e->i == 0; }

/* What must be at least 0 for the comparison to hold; NULL: it is none. */
static const Expr *margin_of(Exprs *x, const Expr *c) {
  bool less = is_op(c, OP_LT) || is_op(c, OP_LE), more = is_op(c, OP_GT) || is_op(c, OP_GE);
  if ((!less && !more) || c->arg[0]->dtype != DT_I64) return NULL;
  const Expr *d = expr_op2(x, OP_SUB, c->arg[less], c->arg[more]);
  bool strict = is_op(c, OP_LT) || is_op(c, OP_GT);
  return expr_normal(x, strict ? expr_op2(x, OP_SUB, d, expr_int(x, DT_I64, 1)) : d);
}

/* Whether the condition holds wherever the read is in range: it says nothing else. */
static bool asks_range(const Pad *p, const Expr *c, const Expr *read) {
  Exprs *x = p->t->exprs;
  StageReach r;
  if (is_op(c, OP_AND)) return asks_range(p, c->arg[0], read) && asks_range(p, c->arg[1], read);
  const Expr *m = c->kind == EX_OP && c->n == 2 ? margin_of(x, c) : NULL;
  if (!m || m->has & HAS_READ) return false;
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *last = expr_op2(x, OP_SUB, buffer_of(p)->dim[k], expr_int(x, DT_I64, 1));
    if (m == expr_normal(x, read->arg[k]) || m == expr_normal(x, expr_op2(x, OP_SUB, last, read->arg[k]))) return true;
  }
  return stage_reach(p->stage, m, &r) && r.low >= 0;
}

/* The read of the buffer that e is, itself or converted; NULL: it is none. */
static const Expr *read_of(const Pad *p, const Expr *e) {
  if (is_op(e, OP_CAST)) e = e->arg[0];
  return stage_read_is(p->stage, e, p->buffer) ? e : NULL;
}

/* The read of a choice between it, where it is in range, and a number, *fill in the buffer (NULL: none). */
static const Expr *choice_read(const Pad *p, const Expr *e, const Expr **fill) {
  Exprs *x = p->t->exprs;
  const Expr *read = is_op(e, OP_SELECT) && is_literal(e->arg[2]) ? read_of(p, e->arg[1]) : NULL;
  if (!read || !asks_range(p, e->arg[0], read)) return NULL;
  *fill = expr_cast(x, buffer_of(p)->dtype, e->arg[2]);
  return expr_cast(x, (DType)e->dtype, *fill) == e->arg[2] ? read : NULL;
}

static const Expr *op_fill(void *env, Exprs *x, const Expr *e) {
  Pad *p = env;
  const Expr *fill;
  (void)x;
  if (!p->fill && choice_read(p, e, &fill)) p->fill = fill;
  return e;
}

/* ---- whether ------------------------------------------------------------------------------------------------ */

static bool may_pad(const Pad *p) {
  const TaskBuffer *b = buffer_of(p);
  bool known = b->rank && b->rank <= RANK_MOST && b->id != (uint32_t)p->stage->buffer;
  for (uint32_t k = 0; known && k < b->rank; k++) known = b->dim[k]->kind == EX_INT && b->dim[k]->i > 0;
  return known;
}

static bool pays(const Pad *p) {
  const TaskBuffer *b = buffer_of(p);
  double was = 1, is = 1;
  for (uint32_t k = 0; k < b->rank; k++) {
    was *= (double)b->dim[k]->i;
    is *= (double)(p->reach[k].high - p->reach[k].low + 1);
  }
  double uses = (double)p->beyond * stage_points(p->t, p->stage, 0, p->stage->sum->n_out);
  return is <= (double)GROWS_MOST * was && uses >= (double)USES_LEAST * is;
}

static bool pad_find(Pad *p) {
  const EinSum *sum = p->stage->sum;
  if (!may_pad(p)) return false;
  for (uint32_t k = 0; k < buffer_of(p)->rank; k++) p->reach[k] = (StageReach){0, buffer_of(p)->dim[k]->i - 1};
  p->ok = true;
  ExprNodes reads = expr_nodes(p->t->arena, sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (stage_read_is(p->stage, e, p->buffer)) read_look(p, e);
  if (!p->ok || !p->row || !pays(p)) return false;
  expr_map_ops(p->t->exprs, sum->body, op_fill, p);
  if (!p->fill) p->fill = expr_cast(p->t->exprs, buffer_of(p)->dtype, expr_int(p->t->exprs, DT_I64, 0));
  return true;
}

/* ---- the copy ------------------------------------------------------------------------------------------------ */

static uint32_t copy_buffer(const Pad *p) {
  TaskBuffer b = *buffer_of(p);
  const Expr **dim = NEW_ARRAY(p->t->arena, const Expr *, b.rank + 1);
  for (uint32_t k = 0; k < b.rank; k++)
    dim[k] = expr_int(p->t->exprs, DT_I64, p->reach[k].high - p->reach[k].low + 1);
  b.id = p->t->buffers.len, b.space = BUF_WORK, b.dim = dim, b.argument = 0;
  b.name = task_name_with(p->t, b.name, ".padded");
  vec_push(p->t->arena, p->t->buffers, b);
  return b.id;
}

static Str axis_name(TaskGraph *t, uint32_t k) { return strings_printf(t->strings, "i%u", k + 1); }

/* A kernel like k with one stage. */
static Task *kernel_of(TaskGraph *t, const Task *k, TaskStage s) {
  Task *made = MAKE(t->arena, Task, .kind = TASK_KERNEL, .place = k->place, .name = s.name,
      .unless = k->unless, .stop = -1, .turns = -1);
  vec_push(t->arena, made->stages, s);
  return made;
}

/* The kernel that makes the copy. */
static Task *copy_make(const Pad *p, const Task *k, uint32_t to) {
  TaskGraph *t = p->t;
  Exprs *x = t->exprs;
  const TaskBuffer *b = &t->buffers.at[to], *of = buffer_of(p);
  const Expr *at[RANK_MOST], **label = NEW_ARRAY(t->arena, const Expr *, b->rank + 1), *in = NULL;
  TaskStage s = {.name = b->name, .place = p->stage->place, .bound = b->dim, .buffer = (int32_t)to, .n_at = b->rank};
  s.label = NEW_ARRAY(t->arena, Str, b->rank + 1);
  for (uint32_t d = 0; d < b->rank; d++) {
    label[d] = expr_label(x, d), s.label[d] = axis_name(t, d);
    at[d] = expr_normal(x, expr_op2(x, OP_ADD, label[d], expr_int(x, DT_I64, p->reach[d].low)));
    if (p->reach[d].low < 0) in = expr_and(x, in, expr_op2(x, OP_LE, expr_int(x, DT_I64, 0), at[d]));
    if (p->reach[d].high >= of->dim[d]->i) in = expr_and(x, in, expr_op2(x, OP_LT, at[d], of->dim[d]));
  }
  EinSum sum = {.n_out = b->rank, .acc = b->dtype, .dtype = b->dtype};
  sum.body = expr_select(x, in, expr_read(x, b->dtype, 0, b->rank, at), p->fill);
  s.at = label;
  stage_canonical(t, &s, &sum, &(TaskSlot){false, p->buffer}, 1);
  return kernel_of(t, k, s);
}

/* ---- its reader ----------------------------------------------------------------------------------------------- */

/* Slot n_slot + j reads the copy where slot j reads the buffer. */
static const Expr *read_copy(const Pad *p, const Expr *read) {
  Exprs *x = p->t->exprs;
  const Expr *at[RANK_MOST];
  for (uint32_t k = 0; k < read->n; k++)
    at[k] = expr_normal(x, expr_op2(x, OP_SUB, read->arg[k], expr_int(x, DT_I64, p->reach[k].low)));
  return expr_read(x, (DType)read->dtype, read->i + p->stage->sum->n_slot, read->n, at);
}

/* The same with its result of e's dtype. */
static const Expr *read_like(const Pad *p, const Expr *e, const Expr *read) {
  return expr_cast(p->t->exprs, (DType)e->dtype, read_copy(p, read));
}

/* The weight of `if it is in range then X[..] * w else 0`, the same along the row; *read: that of X, *at: which operand
 * it is. NULL: e is something else. */
static const Expr *weight_of(const Pad *p, const Expr *e, const Expr **read, uint32_t *at) {
  uint64_t row = (uint64_t)1 << (p->stage->sum->n_out - 1);
  const Expr *m = is_op(e, OP_SELECT) && is_op(e->arg[1], OP_MUL) ? e->arg[1] : NULL;
  for (*at = 0; m && *at < 2; ++*at) {
    const Expr *w = m->arg[1 - *at];
    *read = read_of(p, m->arg[*at]);
    if (!*read || w->labels & row || !is_zero(p->fill) || !is_zero(e->arg[2])) continue;
    if (asks_range(p, e->arg[0], *read)) return w;
  }
  return NULL;
}

/* X is 0 beyond the border, and the weight must not count there, whatever it is. */
static const Expr *weighted(const Pad *p, Exprs *x, const Expr *e) {
  const Expr *read, *w;
  uint32_t at;
  if (!(w = weight_of(p, e, &read, &at))) return NULL;
  if (!p->weighs) w = expr_select(x, e->arg[0], w, e->arg[2]);
  return expr_op2(x, OP_MUL, read_like(p, e->arg[1]->arg[at], read), w);
}

/* The buffer's read that a read of the copy stands for, or e itself if it is one. NULL: it is none. */
static const Expr *read_behind(const Pad *p, const Expr *e) {
  Exprs *x = p->t->exprs;
  const Expr *at[RANK_MOST];
  uint32_t n = p->stage->sum->n_slot;
  if (e->kind != EX_READ || e->i < n) return read_of(p, e);
  for (uint32_t k = 0; k < e->n; k++)
    at[k] = expr_normal(x, expr_op2(x, OP_ADD, e->arg[k], expr_int(x, DT_I64, p->reach[k].low)));
  return expr_read(x, (DType)e->dtype, e->i - n, e->n, at);
}

/* Whether e is the value beyond the border wherever the condition does not hold: the greatest of reads, all of which
 * are beyond it there, or a sum of zeros. */
static bool is_filled(const Pad *p, const Expr *e, const Expr *cond) {
  bool zeros = is_plain_zero(p->fill);
  if (is_op(e, OP_MAX) || is_op(e, OP_MIN) || (is_op(e, OP_ADD) && zeros))
    return is_filled(p, e->arg[0], cond) && is_filled(p, e->arg[1], cond);
  if (zeros && is_plain_zero(e)) return true;
  const Expr *read = read_behind(p, is_op(e, OP_CAST) ? e->arg[0] : e);
  return read && asks_range(p, cond, read);
}

static const Expr *op_padded(void *env, Exprs *x, const Expr *e) {
  const Pad *p = env;
  const Expr *fill, *read = choice_read(p, e, &fill), *made = weighted(p, x, e);
  if (read && fill == p->fill) return read_like(p, e->arg[1], read);
  bool around = is_op(e, OP_SELECT) && e->arg[2] == expr_cast(x, (DType)e->dtype, p->fill);
  if (!made && around && is_filled(p, e->arg[1], e->arg[0])) return e->arg[1];
  return made ? made : e;
}

static const Expr *leaf_padded(void *env, Exprs *x, const Expr *leaf) {
  const Pad *p = env;
  (void)x;
  bool own = leaf->kind == EX_READ && leaf->i < p->stage->sum->n_slot;
  return own && stage_read_is(p->stage, leaf, p->buffer) ? read_copy(p, leaf) : leaf;
}

static void read_copies(Pad *p, uint32_t to) {
  TaskGraph *t = p->t;
  EinSum sum = *p->stage->sum;
  TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, 2 * sum.n_slot + 1);
  for (uint32_t j = 0; j < sum.n_slot; j++) slot[j] = p->stage->slot[j], slot[j + sum.n_slot] = (TaskSlot){false, to};
  sum.body = expr_map(t->exprs, expr_map_ops(t->exprs, sum.body, op_padded, p), leaf_padded, p);
  stage_canonical(t, p->stage, &sum, slot, 2 * sum.n_slot);
}

/* ---- weights that must not count ------------------------------------------------------------------------------- */

/* Whether all that it reads is there, whatever a choice around it says. */
static bool is_there(const Pad *p, const Expr *of) {
  ExprNodes reads = expr_nodes(p->t->arena, of, HAS_READ);
  StageReach r;
  for (const Expr *e; (e = expr_next_read(&reads));) {
    const TaskBuffer *b = &p->t->buffers.at[p->stage->slot[e->i].index];
    for (uint32_t k = 0; k < e->n; k++)
      if (b->dim[k]->kind != EX_INT || !stage_reach(p->stage, e->arg[k], &r) || r.low < 0 || r.high >= b->dim[k]->i)
        return false;
  }
  return true;
}

static const Expr *op_weight(void *env, Exprs *x, const Expr *e) {
  Pad *p = env;
  const Expr *read;
  uint32_t at;
  const Expr *w = weight_of(p, e, &read, &at);
  if (!w) return e;
  p->weighs &= is_there(p, w);
  if (!dtype_is_float((DType)w->dtype) || (w->kind == EX_REAL && isfinite(w->f))) return e;
  const Expr *unlike = expr_op1(x, OP_ISNAN, expr_op2(x, OP_SUB, w, w)); /* of an infinity too */
  p->unlike = p->unlike ? expr_op2(x, OP_OR, p->unlike, unlike) : unlike;
  return e;
}

/* Finds out whether weights can be asked. once: the map has no kernel after it yet. */
static void weights_find(Pad *p, bool once) {
  p->weighs = !stage_reads(p->stage, (uint32_t)p->stage->buffer) && !stage_may_fail(p->t, p->stage);
  expr_map_ops(p->t->exprs, p->stage->sum->body, op_weight, p);
  if (p->unlike && !once) p->weighs = false;
}

/* The kernel that asks whether some weight is not finite. */
static Task *unlike_make(const Pad *p, const Task *k, uint32_t *flag) {
  TaskGraph *t = p->t;
  const TaskStage *of = p->stage;
  uint32_t all = of->sum->n_out, n = 0;
  const Expr **to = NEW_ARRAY(t->arena, const Expr *, all + 1), **bound = NEW_ARRAY(t->arena, const Expr *, all + 1);
  TaskStage s = {.place = of->place, .bound = bound, .label = NEW_ARRAY(t->arena, Str, all + 1)};
  for (uint32_t l = 0; l < all; l++) {
    if (!expr_has_label(p->unlike, l)) continue;
    to[l] = expr_label(t->exprs, n);
    s.label[n] = of->label[l];
    bound[n++] = of->bound[l];
  }
  TaskBuffer b = {.id = t->buffers.len, .space = BUF_WORK, .place = of->place, .dtype = DT_BOOL, .dim = bound};
  s.name = b.name = task_name_with(t, of->name, ".unlike");
  s.buffer = (int32_t)(*flag = b.id);
  vec_push(t->arena, t->buffers, b);
  EinSum sum = {.n_red = n, .reducer = n ? RED_ANY : RED_NONE, .acc = DT_BOOL, .dtype = DT_BOOL};
  sum.body = expr_relabel(t->exprs, p->unlike, all, to);
  stage_canonical(t, &s, &sum, of->slot, of->sum->n_slot);
  return kernel_of(t, k, s);
}

/* The map as it is, where the flag says so. */
static Task *again_make(const Pad *p, const Task *k, uint32_t flag) {
  TaskGraph *t = p->t;
  TaskStage s = *p->stage;
  EinSum sum = *s.sum;
  TaskSlot *slot = COPY_ARRAY(t->arena, TaskSlot, s.slot, sum.n_slot, sum.n_slot + 1);
  slot[sum.n_slot] = (TaskSlot){false, flag};
  sum.domain = expr_read(t->exprs, DT_BOOL, sum.n_slot, 0, NULL);
  stage_canonical(t, &s, &sum, slot, sum.n_slot + 1);
  return kernel_of(t, k, s);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static bool is_map(const Task *k) {
  if (k->kind != TASK_KERNEL || k->stages.len != 1 || task_call(k)) return false;
  const TaskStage *s = &k->stages.at[0];
  bool short_row = s->sum->n_out && s->sum->n_out < 64 && s->bound[s->sum->n_out - 1]->kind == EX_INT &&
      s->bound[s->sum->n_out - 1]->i <= ROW_MOST;
  return short_row && s->sum->reducer == RED_NONE && !s->sum->domain && stage_is_plain(s);
}

static void list_pad(TaskGraph *t, Tasks *list) {
  Tasks to = {0};
  for (uint32_t i = 0; i < list->len; i++) {
    Task *k = list->at[i], *again = NULL;
    list_pad(t, &k->body);
    for (uint32_t j = 0; is_map(k) && j < k->stages.at[0].sum->n_slot; j++) {
      Pad p = {.t = t, .stage = &k->stages.at[0]};
      if (p.stage->slot[j].kept) continue;
      p.buffer = p.stage->slot[j].index;
      if (!pad_find(&p)) continue;
      weights_find(&p, !again);
      uint32_t flag;
      if (p.weighs && p.unlike) {
        vec_push(t->arena, to, unlike_make(&p, k, &flag));
        again = again_make(&p, k, flag);
      }
      uint32_t copy = copy_buffer(&p);
      vec_push(t->arena, to, copy_make(&p, k, copy));
      read_copies(&p, copy);
      j = UINT32_MAX; /* slots have other numbers now */
    }
    vec_push(t->arena, to, k);
    if (again) vec_push(t->arena, to, again);
  }
  *list = to;
}

void task_pad(TaskGraph *t) { list_pad(t, &t->tasks); }
