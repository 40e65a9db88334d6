/* task/passes/mirror.c - makes one half of a symmetric result, and copies it to the other. In: tasks after fusion.
 *
 *     Y[i,j] = sum[n] X[n,i] * X[n,j]
 *
 * Out, where that is less work:
 *
 *     Y.half[i,j] = sum[n where i <= j] X[n,i] * X[n,j]
 *     Y[i,j] = if i <= j then Y.half[i,j] else Y.half[j,i]
 *
 * A reduction is symmetric in two labels, or two groups of labels, if its body stays the same when these change places,
 * up to the order of factors and terms: products, distances. A map after it is made with the copy. Both elements of a
 * pair had the same operations on the same numbers. */
#include <math.h>

#include "task/inside.h"

enum {
  SIDE_LEAST = 64,           /* points of each group of labels: tiles on the diagonal are made as a whole */
  POINTS_LEAST = 128,        /* of the reduction for each element, or copies take longer than what they save, */
  POINTS_LARGE = 512,        /*   also where the half leaves the caches, */
  LARGE_BYTES = 1 << 25,     /*   being larger than this */
  CHAIN_MOST = 32            /* factors or terms that are put in order */
};

typedef struct Mirror {
  TaskGraph *t;
  const TaskStage *s;        /* the reduction */
  uint32_t a, b, width;      /* these labels of its result, from a and from b, may change places */
} Mirror;

/* ---- whether a reduction is symmetric ---------------------------------------------------------------------- */

static const Expr *difference_in_order(Exprs *x, const Expr *e) {
  return is_op(e, OP_SUB) && e->arg[1]->id < e->arg[0]->id ? expr_op2(x, OP_SUB, e->arg[1], e->arg[0]) : e;
}

static void chain_add(const Expr *e, Op op, const Expr **part, uint32_t *n) {
  for (; is_op(e, op) && *n < CHAIN_MOST; e = e->arg[0]) part[(*n)++] = e->arg[1];
  if (*n < CHAIN_MOST) part[*n] = e;
  ++*n;
}

static void chain_sort(const Expr **part, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    for (uint32_t k = i; k && part[k]->id < part[k - 1]->id; k--) {
      const Expr *e = part[k];
      part[k] = part[k - 1], part[k - 1] = e;
    }
}

/* Operands of one operation, which themselves are in order; a square has no sign. */
static const Expr *chain_in_order(Exprs *x, const Expr *e) {
  const Expr *part[2 * CHAIN_MOST + 2];
  uint32_t n = 0, m = 0;
  chain_add(e->arg[0], (Op)e->op, part, &n);
  if (n <= CHAIN_MOST) chain_add(e->arg[1], (Op)e->op, part + n, &m);
  if (n > CHAIN_MOST || m > CHAIN_MOST) return e;
  n += m;
  chain_sort(part, n);
  for (uint32_t i = 0; e->op == OP_MUL && i + 1 < n; i++)
    if (part[i] == part[i + 1]) part[i] = part[i + 1] = difference_in_order(x, part[i]), i++;
  chain_sort(part, n);
  const Expr *made = part[0];
  for (uint32_t i = 1; i < n; i++) made = expr_op2(x, (Op)e->op, made, part[i]);
  return made;
}

static bool is_even(const Expr *e) {
  return (e->kind == EX_INT && e->i % 2 == 0) || (e->kind == EX_REAL && fmod(e->f, 2) == 0);
}

static const Expr *op_in_order(void *env, Exprs *x, const Expr *e) {
  (void)env;
  if (is_op(e, OP_ABS) && e->dtype != DT_U8) /* 0 - 1 is 255 */
    return expr_op1(x, OP_ABS, difference_in_order(x, e->arg[0]));
  if (is_op(e, OP_POW) && is_even(e->arg[1])) return expr_op2(x, OP_POW, difference_in_order(x, e->arg[0]), e->arg[1]);
  unsigned laws = e->kind == EX_OP && e->n == 2 ? op_info[e->op].laws : 0;
  if (laws & LAW_COMMUTATIVE && laws & LAW_ASSOCIATIVE) return chain_in_order(x, e);
  bool swapped = laws & LAW_COMMUTATIVE && e->arg[1]->id < e->arg[0]->id;
  return swapped ? expr_op2(x, (Op)e->op, e->arg[1], e->arg[0]) : e;
}

static const Expr *leaf_by_buffer(void *env, Exprs *x, const Expr *leaf) {
  const TaskStage *s = env;
  if (leaf->kind != EX_READ) return leaf;
  int64_t slot = 2 * (int64_t)s->slot[leaf->i].index + s->slot[leaf->i].kept;
  return expr_read(x, (DType)leaf->dtype, slot, leaf->n, leaf->arg);
}

/* The n labels, with those of the groups exchanged. */
static const Expr **labels_swapped(const Mirror *m, uint32_t n) {
  const Expr **to = NEW_ARRAY(m->t->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    bool of_a = k >= m->a && k < m->a + m->width, of_b = k >= m->b && k < m->b + m->width;
    to[k] = expr_label(m->t->exprs, of_a ? k - m->a + m->b : of_b ? k - m->b + m->a : k);
  }
  return to;
}

static bool is_symmetric(const Mirror *m) {
  Exprs *x = m->t->exprs;
  const TaskStage *s = m->s;
  for (uint32_t k = 0; k < m->width; k++)
    if (s->bound[m->a + k] != s->bound[m->b + k]) return false;
  uint32_t n = s->sum->n_out + s->sum->n_red;
  const Expr *e = expr_map(x, s->sum->body, leaf_by_buffer, (void *)(uintptr_t)s);
  const Expr *swapped = expr_relabel(x, e, n, labels_swapped(m, n));
  return expr_map_ops(x, e, op_in_order, NULL) == expr_map_ops(x, swapped, op_in_order, NULL);
}

/* The last labels of the result, and as many neighbours before them. */
static bool labels_find(Mirror *m) {
  uint32_t n = m->s->sum->n_out;
  for (m->width = n / 2; m->width; m->width--)
    for (m->b = n - m->width, m->a = m->b - m->width + 1; m->a-- > 0;)
      if (is_symmetric(m)) return true;
  return false;
}

/* Where the element is in its row or column: the labels of a group as one. */
static const Expr *group_index(const Mirror *m, uint32_t first) {
  Exprs *x = m->t->exprs;
  const Expr *at = expr_label(x, first);
  for (uint32_t k = first + 1; k < first + m->width; k++)
    at = expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, at, m->s->bound[k]), expr_label(x, k));
  return at;
}

/* Whether a point is in the half that is made. */
static const Expr *in_half(const Mirror *m) {
  return expr_op2(m->t->exprs, OP_LE, group_index(m, m->a), group_index(m, m->b));
}

/* ---- whether it pays ------------------------------------------------------------------------------------------ */

static bool pays(const Mirror *m) {
  const EinSum *sum = m->s->sum;
  double side = stage_points(m->t, m->s, m->b, sum->n_out), all = stage_points(m->t, m->s, 0, sum->n_out);
  double points = stage_points(m->t, m->s, sum->n_out, sum->n_out + sum->n_red);
  bool large = all * (double)dtype_size(sum->dtype) > (double)LARGE_BYTES;
  return side >= (double)SIDE_LEAST && points >= (double)(large ? POINTS_LARGE : POINTS_LEAST);
}

/* Whether a kernel is a product, perhaps with a map after it that reads it at its own point. */
static bool is_product(TaskGraph *t, const Task *k) {
  if (k->kind != TASK_KERNEL || task_call(k) || k->stages.len > 2) return false;
  const TaskStage *s = &k->stages.at[0], *last = &vec_last(k->stages);
  const EinSum *sum = s->sum;
  if (sum->n_out < 2 || sum->n_out + sum->n_red > 60 || sum->domain || sum->where || sum->by) return false;
  if (red_is_arg(sum) || !stage_is_product(t, s) || stage_may_fail(t, s) || expr_by_chance(sum->body)) return false;
  if (k->stages.len == 1) return true;
  if (s->buffer >= 0 || last->sum->reducer != RED_NONE) return false;
  if (last->sum->domain || last->sum->n_out != sum->n_out) return false;
  ExprNodes reads = expr_nodes(t->arena, last->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (last->slot[e->i].kept && !exprs_are_labels(e->n, e->arg)) return false;
  return true;
}

/* ---- the kernels ---------------------------------------------------------------------------------------------- */

/* Has the task's first stage make only one half, in a buffer of its own, which is returned. */
static uint32_t half_make(const Mirror *m, Task *k) {
  TaskGraph *t = m->t;
  TaskStage s = *m->s;
  EinSum sum = *s.sum;
  const Expr **at = exprs_labels(t->arena, t->exprs, sum.n_out);
  TaskBuffer b = {.id = t->buffers.len, .space = BUF_WORK, .place = s.place, .dtype = sum.dtype, .rank = sum.n_out};
  b.dim = s.bound;
  s.name = b.name = task_name_with(t, k->name, ".half");
  vec_push(t->arena, t->buffers, b);
  s.buffer = (int32_t)b.id, s.n_at = sum.n_out, s.at = at;
  sum.where = in_half(m);
  stage_canonical(t, &s, &sum, s.slot, sum.n_slot);
  Task *made = MAKE(t->arena, Task, .kind = TASK_KERNEL, .place = s.place, .name = s.name,
      .unless = k->unless, .stop = -1, .turns = -1);
  vec_push(t->arena, made->stages, s);
  *k = *made;
  return b.id;
}

typedef struct Whole { const TaskStage *s; const Expr *value; } Whole;

static const Expr *leaf_whole(void *env, Exprs *x, const Expr *leaf) {
  const Whole *w = env;
  (void)x;
  return leaf->kind == EX_READ && w->s->slot[leaf->i].kept ? w->value : leaf;
}

/* The element of the half that is that of the point, by a slot. */
static const Expr *whole_read(const Mirror *m, uint32_t slot) {
  Exprs *x = m->t->exprs;
  uint32_t n = m->s->sum->n_out;
  DType dtype = m->s->sum->dtype;
  const Expr *here = expr_read(x, dtype, slot, n, exprs_labels(m->t->arena, x, n));
  return expr_select(x, in_half(m), here, expr_read(x, dtype, slot, n, labels_swapped(m, n)));
}

/* The stage that makes all results from the half, in place of the kernel's last one. */
static TaskStage whole_make(const Mirror *m, const TaskStage *last, uint32_t half) {
  TaskGraph *t = m->t;
  TaskStage s = *last;
  bool map = last != m->s;
  uint32_t n_slot = map ? last->sum->n_slot : 0;
  EinSum sum = {.n_out = last->sum->n_out, .acc = last->sum->dtype, .dtype = last->sum->dtype};
  TaskSlot *slot = COPY_ARRAY(t->arena, TaskSlot, last->slot, n_slot, n_slot + 1);
  slot[n_slot] = (TaskSlot){false, half};
  sum.body = whole_read(m, n_slot);
  if (map) {
    sum.body = expr_map(t->exprs, last->sum->body, leaf_whole, &(Whole){last, sum.body});
    sum.acc = last->sum->acc;
  }
  stage_canonical(t, &s, &sum, slot, n_slot + 1);
  return s;
}

/* Makes k one half, and returns the kernel after it; NULL: k stays. */
static Task *mirrored(TaskGraph *t, Task *k) {
  if (!is_product(t, k)) return NULL;
  Task was = *k;
  Mirror m = {.t = t, .s = arena_copy(t->arena, &k->stages.at[0], sizeof *m.s)};
  const TaskStage *last = was.stages.len == 1 ? m.s : &was.stages.at[1];
  if (!labels_find(&m) || !pays(&m)) return NULL;
  uint32_t half = half_make(&m, k);
  Task *whole = arena_copy(t->arena, &was, sizeof *whole);
  whole->n_outer = 0;
  whole->stages.at = NULL, whole->stages.len = whole->stages.cap = 0;
  vec_push(t->arena, whole->stages, whole_make(&m, last, half));
  return whole;
}

static void list_mirror(TaskGraph *t, Tasks *list) {
  Tasks to = {0};
  vec_each_of(Task, k, *list) {
    list_mirror(t, &k->body);
    Task *whole = mirrored(t, k);
    vec_push(t->arena, to, k);
    if (whole) vec_push(t->arena, to, whole);
  }
  *list = to;
}

void task_mirror(TaskGraph *t) { list_mirror(t, &t->tasks); }
