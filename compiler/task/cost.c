/* task/cost.c - counts operations and bytes of tasks. Expressions are not changed: they are only evaluated to
 * numbers. */
#include "cost.h"

#include "expr/prove/let_through.h"
#include "range.h"

typedef struct Costs {
  Arena *arena;
  const TaskGraph *t;
  const CostDims *dims;
  GraphCost *out;
} Costs;

/* ---- amounts: overflow is sticky ----------------------------------------------------------------- */

static int64_t amount_add(int64_t a, int64_t b) {
  int64_t out;
  return add_ok(a, b, &out) ? out : COST_MOST;
}

static int64_t amount_mul(int64_t a, int64_t b) {
  int64_t out;
  return mul_ok(a, b, &out) ? out : COST_MOST;
}

static void sum_add(CostSum *to, const CostSum *x, int64_t times) {
  to->flops = amount_add(to->flops, amount_mul(x->flops, times));
  to->integer = amount_add(to->integer, amount_mul(x->integer, times));
  to->read = amount_add(to->read, amount_mul(x->read, times));
  to->written = amount_add(to->written, amount_mul(x->written, times));
}

/* ---- sizes --------------------------------------------------------------------------------------- */

bool cost_size(Arena *a, const CostDims *dims, const Expr *e, int64_t *out) {
  Ranges r = {.arena = a, .dims = dims};
  Range x = range_of(&r, e);
  ExprEnv env = {.dim = dims->dim, .ctx = dims->ctx};
  Value v;
  *out = x.low;
  if (x.known && x.low == x.high && !x.shifts) return true;
  if (r.wrapped || !expr_value(e, &env, &v)) return false;
  *out = v.i;
  return true;
}

static bool dims_known(Costs *c, CostError *e) {
  vec_each(const Dim, d, c->t->dims) {
    int64_t v = d->value;
    *e = (CostError){.kind = COST_NO_VALUE, .dim = d->name};
    if (!d->known && !c->dims->dim(c->dims->ctx, d->name, &v)) return false;
    *e = (CostError){.kind = COST_NEGATIVE, .dim = d->name, .size = v};
    if (v < 0) return false;
  }
  return true;
}

static bool checks_hold(Costs *c, CostError *e) {
  ExprEnv env = {.dim = c->dims->dim, .ctx = c->dims->ctx};
  for (uint32_t i = 0; i < c->t->checks.len; i++) {
    Value v;
    *e = (CostError){.kind = COST_CHECK, .check = &c->t->checks.at[i]};
    if (!expr_value(e->check->cond, &env, &v) || !v.i) return false;
  }
  return true;
}

/* An extent of 0 does not make the product of the others fit. */
static bool buffer_size(Costs *c, const TaskBuffer *b, int64_t *shape, int64_t *bytes, CostError *e) {
  int64_t whole = dtype_size(b->dtype);
  bool empty = false;
  for (uint32_t k = 0; k < b->rank; k++) {
    *e = (CostError){.kind = COST_TOO_LARGE, .buffer = b, .axis = k};
    if (!cost_size(c->arena, c->dims, b->dim[k], &shape[k])) return false;
    if (shape[k] < 0 && c->t->mesh.n) shape[k] = 0; /* a block beyond the end is empty */
    *e = (CostError){.kind = COST_NEGATIVE, .buffer = b, .axis = k, .size = shape[k]};
    if (shape[k] < 0) return false;
    empty |= shape[k] == 0;
    *e = (CostError){.kind = COST_TOO_LARGE, .buffer = b, .axis = k};
    if (shape[k] && !mul_ok(whole, shape[k], &whole)) return false;
  }
  *bytes = empty ? 0 : whole;
  return true;
}

static bool buffers_size(Costs *c, CostError *e) {
  GraphCost *out = c->out;
  uint32_t n = c->t->buffers.len;
  int64_t **shape = NEW_ARRAY(c->arena, int64_t *, n + 1);
  out->shape = shape;
  out->bytes = NEW_ARRAY(c->arena, int64_t, n + 1);
  out->largest = -1;
  bool *used = NEW_ARRAY(c->arena, bool, n + 1);
  task_buffers_used(&c->t->tasks, used);
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = &c->t->buffers.at[i];
    shape[i] = NEW_ARRAY(c->arena, int64_t, b->rank + 1);
    if (!buffer_size(c, b, shape[i], &out->bytes[i], e)) return false;
    if (b->space == BUF_INPUT) out->inputs = amount_add(out->inputs, out->bytes[i]);
    if (b->space == BUF_OUTPUT) out->outputs = amount_add(out->outputs, out->bytes[i]);
    bool larger = out->largest < 0 || out->bytes[i] > out->bytes[out->largest];
    if (b->space == BUF_WORK && used[i] && larger) out->largest = (int32_t)i;
  }
  return true;
}

/* ---- which elements are touched ------------------------------------------------------------------ */

typedef struct Touched {     /* at these indices, with labels renumbered so that stages can be compared */
  uint32_t buffer, n, n_label;
  bool written;
  const Expr **at;
  int64_t *extent;
} Touched;

typedef struct Kernel {
  Costs *c;
  TaskCost *cost;
  VEC(Touched) touched;
  uint32_t n_label;          /* of the current stage */
  int64_t *extent;           /* of its labels, */
  int64_t points;            /*   and of those that predicates let through */
} Kernel;

static int64_t labels_product(const Kernel *k, const bool *used) {
  int64_t n = 1;
  for (uint32_t l = 0; l < k->n_label; l++)
    if (used[l]) n = amount_mul(n, k->extent[l]);
  return n;
}

/* An upper bound on the number of elements: an index takes at most as many values as its axis has, its labels have
 * points together, or lie between its ends; all indices together at most as many as their labels have points. */
static int64_t elements_at(Kernel *k, uint32_t buffer, uint32_t n, const Expr *const *at) {
  bool *all = NEW_ARRAY(k->c->arena, bool, k->n_label + 1), *here = NEW_ARRAY(k->c->arena, bool, k->n_label + 1);
  int64_t elements = 1;
  for (uint32_t d = 0; d < n; d++) {
    for (uint32_t l = 0; l < k->n_label; l++) here[l] = false;
    expr_labels(at[d], k->n_label, here);
    for (uint32_t l = 0; l < k->n_label; l++) all[l] |= here[l];
    Ranges r = {.arena = k->c->arena, .dims = k->c->dims, .extent = k->extent, .n_label = k->n_label};
    Range x = range_of(&r, at[d]);
    int64_t values = smaller(k->c->out->shape[buffer][d], labels_product(k, here)), span;
    if (x.known && sub_ok(x.high, x.low, &span) && span < values) values = span + 1;
    elements = amount_mul(elements, values);
  }
  return smaller(k->points, smaller(elements, labels_product(k, all)));
}

/* The indices with their labels renumbered 0, 1, ... in order, independent of a stage's own numbers. */
static Touched touched_here(Kernel *k, uint32_t buffer, uint32_t n, const Expr *const *at, bool written) {
  Arena *a = k->c->arena;
  Exprs *p = k->c->t->exprs;
  Touched x = {.buffer = buffer, .n = n, .written = written, .at = NEW_ARRAY(a, const Expr *, n + 1)};
  bool *used = NEW_ARRAY(a, bool, k->n_label + 1);
  const Expr **to = NEW_ARRAY(a, const Expr *, k->n_label + 1);
  x.extent = NEW_ARRAY(a, int64_t, k->n_label + 1);
  for (uint32_t d = 0; d < n; d++) expr_labels(at[d], k->n_label, used);
  for (uint32_t l = 0; l < k->n_label; l++) {
    if (!used[l]) continue;
    to[l] = expr_label(p, x.n_label);
    x.extent[x.n_label++] = k->extent[l];
  }
  for (uint32_t d = 0; d < n; d++) x.at[d] = expr_relabel(p, at[d], k->n_label, to);
  return x;
}

/* Slots in an index are a stage's own, so such indices equal no others. */
static bool touched_same(const Touched *a, const Touched *b) {
  if (a->buffer != b->buffer || a->n != b->n || a->written != b->written || a->n_label != b->n_label) return false;
  for (uint32_t d = 0; d < a->n; d++)
    if (a->at[d] != b->at[d] || (a->at[d]->has & HAS_READ)) return false;
  for (uint32_t l = 0; l < a->n_label; l++)
    if (a->extent[l] != b->extent[l]) return false;
  return true;
}

static CostUse *use_of(Costs *c, TaskCost *k, uint32_t buffer) {
  for (uint32_t i = 0; i < k->uses.len; i++)
    if (k->uses.at[i].buffer == buffer) return &k->uses.at[i];
  vec_push(c->arena, k->uses, (CostUse){.buffer = buffer});
  return &vec_last(k->uses);
}

static void touch(Kernel *k, uint32_t buffer, uint32_t n, const Expr *const *at, bool written) {
  Costs *c = k->c;
  Touched x = touched_here(k, buffer, n, at, written);
  for (uint32_t i = 0; i < k->touched.len; i++)
    if (touched_same(&k->touched.at[i], &x)) return;
  vec_push(c->arena, k->touched, x);
  int64_t bytes = amount_mul(elements_at(k, buffer, n, at), dtype_size(c->t->buffers.at[buffer].dtype));
  CostUse *u = use_of(c, k->cost, buffer);
  int64_t *to = written ? &u->written : &u->read;
  *to = smaller(c->out->bytes[buffer], amount_add(*to, bytes));
}

/* ---- a kernel ------------------------------------------------------------------------------------ */

static void stage_extents(Kernel *k, const TaskStage *s) {
  Costs *c = k->c;
  k->n_label = s->sum->n_out + s->sum->n_red;
  k->extent = NEW_ARRAY(c->arena, int64_t, k->n_label + 1);
  for (uint32_t l = 0; l < k->n_label; l++) {
    int64_t v = 0;
    k->extent[l] = !cost_size(c->arena, c->dims, s->bound[l], &v) ? COST_MOST : v < 0 ? 0 : v;
  }
}

static const Expr *dim_number(void *env, Exprs *p, const Expr *leaf) {
  const CostDims *dims = env;
  int64_t v;
  return leaf->kind == EX_DIM && dims->dim(dims->ctx, leaf->name, &v) ? expr_int(p, DT_I64, v) : leaf;
}

/* Whether one flag decides about the whole stage, as in passes/pad.c: it is an exception, and counts as not done. */
static bool is_exception(const Expr *domain) { return domain && domain->kind == EX_READ && !domain->n; }

int64_t stage_kept(Arena *a, const TaskStage *s, const int64_t *extent, const Expr *const *predicate) {
  uint32_t n_label = s->sum->n_out + s->sum->n_red, budget = BOXES_USUAL;
  double *values = NEW_ARRAY(a, double, n_label + 1);
  int64_t points = 1, *zero = NEW_ARRAY(a, int64_t, n_label + 1);
  for (uint32_t l = 0; l < n_label; l++) points = amount_mul(points, extent[l]), values[l] = (double)extent[l];
  if (!predicate[0] && !predicate[1]) return points;
  if (is_exception(predicate[1])) return 0;
  uint32_t *list = NEW_ARRAY(a, uint32_t, s->sum->n_slot + 1);
  for (uint32_t i = 0; i < s->sum->n_slot; i++) list[i] = 2 * s->slot[i].index + s->slot[i].kept;
  Ties ties = ties_find(n_label, extent, list, 2, predicate);
  double let = ties.n ? ties_points(&ties, n_label, values) : (double)points;
  double boxes = boxes_points(n_label, zero, extent, 2, predicate, &budget);
  if (boxes < let) let = boxes;
  return let < (double)points ? (int64_t)let : points;
}

static int64_t points_let(const Kernel *k, const TaskStage *s) {
  const Expr *predicate[] = {s->sum->where, s->sum->domain};
  for (uint32_t i = 0; i < COUNT(predicate); i++)
    if (predicate[i]) predicate[i] = expr_map(k->c->t->exprs, predicate[i], dim_number, (void *)(uintptr_t)k->c->dims);
  return stage_kept(k->c->arena, s, k->extent, predicate);
}

static void stage_cost(Kernel *k, const TaskStage *s) {
  const Expr **slot = NEW_ARRAY(k->c->arena, const Expr *, s->sum->n_slot + 1);
  SumCount n = sum_count(s->sum, slot);
  stage_extents(k, s);
  if (is_exception(s->sum->domain)) return;
  k->points = points_let(k, s);
  sum_add(&k->cost->once, &(CostSum){.flops = n.flops, .integer = n.integer}, k->points);
  for (uint32_t j = 0; j < s->sum->n_slot; j++)
    if (!s->slot[j].kept && slot[j]) touch(k, s->slot[j].index, slot[j]->n, slot[j]->arg, false);
  k->points = COST_MOST; /* where nothing is let through, something is stored all the same */
  if (s->buffer >= 0) touch(k, (uint32_t)s->buffer, s->n_at, s->at, true);
}

static void kernel_cost(Costs *c, TaskCost *cost) {
  Kernel k = {.c = c, .cost = cost};
  for (uint32_t i = 0; i < cost->task->stages.len; i++) stage_cost(&k, &cost->task->stages.at[i]);
  for (uint32_t i = 0; i < cost->uses.len; i++)
    sum_add(&cost->once, &(CostSum){.read = cost->uses.at[i].read, .written = cost->uses.at[i].written}, 1);
}

/* ---- repeats ------------------------------------------------------------------------------------- */

typedef struct Writer { const TaskStage *stage; uint32_t n; } Writer;

/* Finds the stages that write a buffer; one that an exchange changes counts as written several times. */
static void writers(const Tasks *list, uint32_t buffer, Writer *w) {
  vec_each_of(const Task, k, *list) {
    for (uint32_t s = 0; s < k->stages.len; s++) {
      if (k->stages.at[s].buffer != (int32_t)buffer) continue;
      w->stage = &k->stages.at[s];
      w->n++;
    }
    for (uint32_t x = 0; x < k->exchange.len; x++)
      if (k->exchange.at[x].now == buffer || k->exchange.at[x].next == buffer) w->n += 2;
    if (k->turns == (int32_t)buffer) w->n += 2;
    writers(&k->body, buffer, w);
  }
}

/* Known where a single stage computes the bound, without data. */
static int64_t turns_of(const Costs *c, const Task *k) {
  Writer w = {0};
  int64_t n;
  writers(&c->t->tasks, k->buffer, &w);
  if (w.n != 1 || w.stage->sum->reducer != RED_NONE || w.stage->sum->domain) return COST_UNKNOWN;
  if (w.stage->sum->body->has & (HAS_READ | HAS_TURN | HAS_LABEL | HAS_CALL)) return COST_UNKNOWN;
  if (!cost_size(c->arena, c->dims, w.stage->sum->body, &n)) return COST_UNKNOWN;
  return n < 0 ? 0 : n;
}

static CostSum list_cost(Costs *c, const Tasks *list, uint32_t depth, int64_t times);

static CostSum task_once(Costs *c, TaskCost *x) {
  const Task *k = x->task;
  if (k->kind == TASK_KERNEL) kernel_cost(c, x);
  if (k->kind == TASK_ZERO) {
    CostUse *u = use_of(c, x, k->buffer);
    x->once.written = u->written = c->out->bytes[k->buffer];
  }
  if (k->kind != TASK_REPEAT) return x->once;
  int64_t n = x->turns = turns_of(c, k);
  c->out->a_turn |= n < 0;
  int64_t times = n < 0 || x->times < 0 ? COST_UNKNOWN : amount_mul(x->times, n);
  CostSum turn = list_cost(c, &k->body, x->depth + 1, times);
  sum_add(&x->once, &turn, n < 0 ? 1 : n);
  return x->once;
}

/* The recursion is as deep as the texts allow repeats to be nested. */
static CostSum list_cost(Costs *c, const Tasks *list, uint32_t depth, int64_t times) {
  CostSum all = {0};
  for (uint32_t i = 0; i < list->len; i++) {
    TaskCost x = {.task = list->at[i], .depth = depth, .times = times};
    uint32_t place = c->out->tasks.len;
    vec_push(c->arena, c->out->tasks, x);
    CostSum one = task_once(c, &x);
    c->out->tasks.at[place] = x;
    sum_add(&all, &one, 1);
  }
  return all;
}

bool task_cost(Arena *a, const TaskGraph *t, const CostDims *dims, GraphCost *out, CostError *error) {
  Costs c = {a, t, dims, out};
  *out = (GraphCost){0};
  if (!dims_known(&c, error) || !checks_hold(&c, error) || !buffers_size(&c, error)) return false;
  out->all = list_cost(&c, &t->tasks, 0, 1);
  return true;
}
