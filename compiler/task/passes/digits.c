/* task/passes/digits.c - splits labels that are read by quotient and remainder. In: kernels, after fusion; results
 * also before it (below). Out: the same, where
 *
 *     Y[s,c:1024] = X[c//64, s, c%64]        becomes      Y[s, 64*c_0 + c_1] = X[c_0, s, c_1]    at c_0:16, c_1:64
 *
 * so that reads step through memory like any others, and all optimisations of such steps apply. A label is split
 * where the divisor divides its extent, repeatedly (with quotients by 8 and by 64 it becomes three labels), and only
 * if the result, or a read, depends on it in its last axis: other labels are not in lanes, and a quotient per step
 * of theirs costs nothing. A split must remove a quotient or a remainder, or it is not made.
 *
 * A result that reads what other kernels make only by quotients and remainders is split before fusion, along any label:
 *
 *     Y[n,c:64] = Z[n,c//8,c%8]              becomes      Y[n, 8*c_0 + c_1] = Z[n,c_0,c_1]
 *
 * Then it shares the rows of what it reads.
 *
 * Stages that share labels are all split alike, or not at all. A label that a predicate or a domain mentions stays
 * whole. */
#include "expr/prove/prove.h"
#include "task/inside.h"

enum { CUTS_MOST = 12, PARTS_MOST = 60 }; /* splits of a kernel; labels that a stage may then have */

/* One label of a kernel: of all its stages, or of the only one that has it. */
typedef struct Digits {
  TaskGraph *t;
  Task *k;
  uint32_t stage;            /* the number of the current one */
  const TaskStage *st;
  Map simple;                /* the simplified form of an expression */
  bool all;                  /* labels that are not in lanes are worth it, too */
  bool *near;                /* by label: it may be split, and is worth it */
  uint32_t left;             /* quotients and remainders that are left */
  uint32_t label;            /* the proposed split; */
  const Expr *radix;         /*   NULL: there is none */
  uint32_t skip;             /* the number of proposals to skip */
} Digits;

static bool is_digit(const Expr *e) {
  return e->kind == EX_OP && (e->op == OP_IDIV || e->op == OP_MOD) && e->dtype == DT_I64 && e->has & HAS_LABEL &&
         !(e->arg[1]->has & (HAS_LABEL | HAS_TURN | HAS_READ | HAS_PARAM));
}

/* ---- sums of terms -------------------------------------------------------------------------------------- */

/* Takes the next term of a normal form, which is a sum; *rest NULL: it was the last one. */
static const Expr *term_take(Exprs *x, const Expr **rest) {
  const Expr *e = *rest;
  bool sum = e->kind == EX_OP && e->dtype == DT_I64 && (e->op == OP_ADD || e->op == OP_SUB);
  *rest = sum ? e->arg[0] : NULL;
  if (!sum) return e;
  return e->op == OP_ADD ? e->arg[1] : expr_normal(x, expr_op1(x, OP_NEG, e->arg[1]));
}

/* Whether a term is a constant times a label. */
static bool label_term(const Expr *e, int64_t *times, uint32_t *label) {
  const Expr *of = e;
  *times = 1;
  if (e->kind == EX_OP && e->op == OP_MUL && e->arg[0]->kind == EX_INT) *times = e->arg[0]->i, of = e->arg[1];
  if (of->kind != EX_LABEL) return false;
  *label = (uint32_t)of->i;
  return true;
}

/* The range of the sum; false: it is not known. */
static bool sum_range(const Digits *d, const Expr *e, int64_t *low, int64_t *high) {
  *low = *high = 0;
  for (const Expr *rest = e; rest;) {
    const Expr *t = term_take(d->t->exprs, &rest);
    int64_t times, most = 1;
    uint32_t l;
    if (t->kind == EX_INT) {
      if (!add_ok(*low, t->i, low) || !add_ok(*high, t->i, high)) return false;
      continue;
    }
    if (!label_term(t, &times, &l)) return false;
    const Expr *size = d->st->bound[l];
    if (size->kind != EX_INT || size->i < 1 || !mul_ok(times, size->i - 1, &most)) return false;
    if (!add_ok(most < 0 ? *low : *high, most, most < 0 ? low : high)) return false;
  }
  return true;
}

static bool within(const Digits *d, const Expr *e, const Expr *radix) {
  int64_t low, high;
  if (e->kind == EX_LABEL && d->st->bound[e->i] == radix) return true;
  return radix->kind == EX_INT && sum_range(d, e, &low, &high) && low >= 0 && high < radix->i;
}

/* Divides: a = *quotient * radix + *rest. */
static void divide(Exprs *x, const Expr *a, const Expr *radix, const Expr **quotient, const Expr **rest) {
  *quotient = *rest = expr_int(x, DT_I64, 0);
  for (const Expr *more = a; more;) {
    const Expr *t = term_take(x, &more), *q = expr_divide(x, t, radix);
    if (q) *quotient = expr_op2(x, OP_ADD, *quotient, q);
    else *rest = expr_op2(x, OP_ADD, *rest, t);
  }
  *quotient = expr_normal(x, *quotient);
  *rest = expr_normal(x, *rest);
}

/* ---- simplification ------------------------------------------------------------------------------------- */

/* Proposes a split that would simplify a // radix or a % radix: the first label such that a whole number of its
 * steps makes one of the quotient. */
static void propose(Digits *d, const Expr *rest, const Expr *radix) {
  for (const Expr *more = rest; more && !d->radix;) {
    const Expr *t = term_take(d->t->exprs, &more), *by = radix;
    int64_t times;
    uint32_t l;
    if (!label_term(t, &times, &l) || !d->near[l]) continue;
    if (times != 1 && (radix->kind != EX_INT || times < 1 || radix->i % times)) continue;
    if (times != 1) by = expr_int(d->t->exprs, DT_I64, radix->i / times);
    const Expr *blocks = expr_is_int(d->st->bound[l], 0) ? NULL : expr_divide(d->t->exprs, d->st->bound[l], by);
    if (!blocks || expr_is_int(blocks, 1) || expr_is_int(by, 1) || (by->kind == EX_INT && by->i < 1)) continue;
    if (d->skip) d->skip--;
    else d->label = l, d->radix = by;
  }
}

/* a % radix of a sum with two values at most, without a remainder; else NULL. */
static const Expr *remainder_of_two(Digits *d, const Expr *a, int64_t radix) {
  Exprs *x = d->t->exprs;
  int64_t low, high, at;
  if (!sum_range(d, a, &low, &high) || high - low != 1) return NULL;
  at = floor_mod(low, radix);
  if (at + 1 < radix) return expr_normal(x, expr_op2(x, OP_ADD, a, expr_int(x, DT_I64, at - low)));
  const Expr *to = expr_op2(x, OP_SUB, expr_int(x, DT_I64, high), a); /* the last digit, and then 0 */
  return expr_normal(x, expr_op2(x, OP_MUL, expr_int(x, DT_I64, at), to));
}

/* a // radix or a % radix where all terms but few points are multiples of a step of the radix:
 *
 *     (32*h + l + 32) % 64    for l:32    is    32 * ((h + 1) % 2) + l    and, for h:2,    32 * (1 - h) + l
 *
 * NULL: there is no such step. On a mesh labels are joined later that this keeps apart, so it is not done. */
static const Expr *digit_stepwise(Digits *d, Op op, const Expr *a, const Expr *radix) {
  Exprs *x = d->t->exprs;
  for (const Expr *more = a; more && radix->kind == EX_INT;) {
    const Expr *quotient, *rest;
    int64_t times;
    uint32_t l;
    if (!label_term(term_take(x, &more), &times, &l) || times < 2 || radix->i <= times || radix->i % times) continue;
    const Expr *step = expr_int(x, DT_I64, times);
    divide(x, a, step, &quotient, &rest);
    if (!within(d, rest, step)) continue;
    const Expr *two = op == OP_MOD ? remainder_of_two(d, quotient, radix->i / times) : NULL;
    quotient = two ? two : expr_op2(x, op, quotient, expr_int(x, DT_I64, radix->i / times));
    return op == OP_IDIV ? quotient : expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, step, quotient), rest);
  }
  return NULL;
}

static const Expr *digit_simple(Digits *d, Op op, const Expr *a, const Expr *radix) {
  Exprs *x = d->t->exprs;
  const Expr *quotient, *rest;
  a = expr_normal(x, a);
  divide(x, a, radix, &quotient, &rest);
  if (within(d, rest, radix)) return op == OP_IDIV ? quotient : rest;
  d->left++;
  if (!d->radix) propose(d, rest, radix);
  if (radix->kind != EX_INT) return expr_op2(x, op, a, radix); /* which may turn out to be 0 */
  const Expr *e = d->t->mesh.n ? NULL : digit_stepwise(d, op, rest, radix);
  if (!e) e = expr_op2(x, op, rest, radix);
  return op == OP_IDIV ? expr_op2(x, OP_ADD, quotient, e) : e;
}

/* a < b, ignoring what is less than a step of the other terms: 64*h + l < 64 is h < 1. */
static const Expr *less_simple(Digits *d, const Expr *a, const Expr *b) {
  Exprs *x = d->t->exprs;
  const Expr *apart = expr_normal(x, expr_op2(x, OP_SUB, a, b));
  for (const Expr *more = apart; more;) {
    int64_t times, low, high;
    uint32_t l;
    const Expr *quotient, *rest;
    if (!label_term(term_take(x, &more), &times, &l) || (times > -2 && times < 2)) continue;
    const Expr *step = expr_int(x, DT_I64, times < 0 ? -times : times);
    divide(x, apart, step, &quotient, &rest);
    if (rest->kind == EX_INT || !sum_range(d, rest, &low, &high) || floor_div(low, step->i) != floor_div(high, step->i))
      continue;
    quotient = expr_op2(x, OP_ADD, quotient, expr_int(x, DT_I64, floor_div(low, step->i)));
    return expr_op2(x, OP_LT, expr_normal(x, quotient), expr_int(x, DT_I64, 0));
  }
  return NULL;
}

static const Expr *compare_simple(Digits *d, const Expr *e, const Expr *a, const Expr *b) {
  if (e->arg[0]->dtype != DT_I64 || (a->has | b->has) & HAS_READ) return NULL;
  const Expr *less = NULL;
  if (e->op == OP_LT || e->op == OP_GE) less = less_simple(d, a, b);
  if (e->op == OP_GT || e->op == OP_LE) less = less_simple(d, b, a);
  return less && (e->op == OP_GE || e->op == OP_LE) ? expr_op1(d->t->exprs, OP_NOT, less) : less;
}

static const Expr *simple(Digits *d, const Expr *e) {
  if (!(e->has & HAS_LABEL) || !e->n) return e;
  const Expr *made = map_find(&d->simple, e);
  if (made) return made;
  Exprs *x = d->t->exprs;
  const Expr **arg = NEW_ARRAY(d->t->arena, const Expr *, e->n);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = simple(d, e->arg[k]);
  if (e->kind == EX_READ) made = expr_read(x, (DType)e->dtype, e->i, e->n, arg);
  else if (is_digit(e)) made = digit_simple(d, (Op)e->op, arg[0], arg[1]);
  else if (op_info[e->op].rule == RULE_COMPARE) made = compare_simple(d, e, arg[0], arg[1]);
  if (!made) made = expr_op_like(x, e, arg);
  map_put(&d->simple, e, (void *)(uintptr_t)made);
  return made;
}

/* Simplifies the stage; counts the remaining quotients, and finds a split. */
static void stage_simple(Digits *d, TaskStage *st, EinSum *sum) {
  const Expr **at = NEW_ARRAY(d->t->arena, const Expr *, st->n_at + 1);
  d->st = st;
  d->simple = map_new(d->t->arena);
  sum->body = simple(d, sum->body);
  if (sum->where) sum->where = simple(d, sum->where);
  if (sum->domain) sum->domain = simple(d, sum->domain);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = simple(d, st->at[k]);
  st->at = at;
}

/* ---- splitting a label ---------------------------------------------------------------------------------- */

typedef struct Parts { const TaskStage *st; uint32_t label; bool shared; const Expr **to, *first, *second; } Parts;

static const Expr *leaf_parts(void *env, Exprs *x, const Expr *leaf) {
  const Parts *p = env;
  if (leaf->kind == EX_LABEL) return p->to[leaf->i];
  if (leaf->kind != EX_READ || !p->shared || !p->st->slot[leaf->i].kept) return leaf;
  const Expr *arg[PARTS_MOST + 1]; /* kept values have the labels that all stages share */
  for (uint32_t k = 0, n = 0; k < leaf->n; k++) {
    if (k == p->label) arg[n++] = p->first, arg[n++] = p->second;
    else arg[n++] = leaf->arg[k];
  }
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n + 1, arg);
}

static Str part_name(const Digits *d, const TaskStage *st, uint32_t label, int part) {
  if (!st->label[label]) return NULL;
  Str name = strings_printf(d->t->strings, "%s_%d", st->label[label]->s, part);
  for (uint32_t k = 0; k < st->sum->n_out + st->sum->n_red; k++)
    if (st->label[k] == name) return strings_printf(d->t->strings, "%s_%d'", st->label[label]->s, part);
  return name;
}

/* Splits the label of stage st into radix times one part plus the other; sum: a draft. */
static void stage_cut(const Digits *d, TaskStage *st, EinSum *sum, uint32_t label, const Expr *radix, bool shared) {
  Exprs *x = d->t->exprs;
  Arena *a = d->t->arena;
  uint32_t n = sum->n_out + sum->n_red;
  const Expr **bound = NEW_ARRAY(a, const Expr *, n + 2), **at = NEW_ARRAY(a, const Expr *, st->n_at + 1);
  Str *name = NEW_ARRAY(a, Str, n + 2);
  Parts p = {st, label, shared, NEW_ARRAY(a, const Expr *, n + 1), expr_label(x, label), expr_label(x, label + 1)};
  for (uint32_t k = 0; k < n; k++) {
    uint32_t to = k + (k > label);
    bound[to] = st->bound[k], name[to] = st->label[k], p.to[k] = expr_label(x, to);
  }
  p.to[label] = expr_normal(x, expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, radix, p.first), p.second));
  bound[label] = expr_divide(x, st->bound[label], radix), bound[label + 1] = radix;
  for (int part = 0; part < 2; part++) name[label + (uint32_t)part] = part_name(d, st, label, part);
  sum_map(x, sum, leaf_parts, &p);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = expr_normal(x, expr_map(x, st->at[k], leaf_parts, &p));
  if (label < sum->n_out) sum->n_out++;
  else sum->n_red++;
  st->at = at, st->bound = bound, st->label = name;
}

/* ---- which labels --------------------------------------------------------------------------------------- */

/* Whether all stages have the same points, so that their labels are the first stage's. */
static bool shares_all(const Task *k) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].sum->n_out != k->n_outer) return false;
  return true;
}

static bool stage_is_cut(const EinSum *s) {
  return s->reducer != RED_ARGMAX && s->reducer != RED_ARGMIN && s->n_out + s->n_red < PARTS_MOST;
}

/* Whether a condition of the stage may bound the label. */
static bool is_bounded(const EinSum *s, uint32_t label) {
  return (s->domain && expr_has_label(s->domain, label)) || (s->where && expr_has_label(s->where, label));
}

/* Finds the labels of the current stage that may be split, and are worth it. */
static void near_find(Digits *d) {
  const TaskStage *st = &d->k->stages.at[d->stage];
  uint32_t n = st->sum->n_out + st->sum->n_red, from = shares_all(d->k) ? 0 : d->k->n_outer;
  bool all = true, kept = task_reads_stage(d->k, d->stage, d->stage + 1, d->k->stages.len);
  d->near = NEW_ARRAY(d->t->arena, bool, n + 1);
  ExprNodes reads = expr_nodes(d->t->arena, st->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e->n && !st->slot[e->i].kept) expr_labels(e->arg[e->n - 1], n, d->near);
  if (st->buffer >= 0 && st->n_at) expr_labels(st->at[st->n_at - 1], n, d->near);
  for (uint32_t l = 0; l < n; l++) d->near[l] |= d->all;
  for (uint32_t i = 0; i < d->k->stages.len; i++) all &= stage_is_cut(d->k->stages.at[i].sum);
  for (uint32_t l = 0; l < n; l++) {
    bool own = l >= from && l >= d->k->n_outer && (l >= st->sum->n_out || !kept), bounded = false;
    for (uint32_t i = 0; i < d->k->stages.len; i++)
      bounded |= (!own || i == d->stage) && is_bounded(d->k->stages.at[i].sum, l);
    d->near[l] &= stage_is_cut(st->sum) && !bounded && (own || (from == 0 && all));
  }
}

/* ---- a kernel ---------------------------------------------------------------------------------------------- */

/* Returns the kernel with the label split in two, simplified. */
static Task *kernel_cut(const Digits *d, uint32_t label, const Expr *radix, uint32_t *left) {
  Task *made = NEW(d->t->arena, Task);
  bool shared = label < d->k->n_outer;
  *made = *d->k;
  made->n_outer += shared;
  made->stages.at = NULL, made->stages.len = made->stages.cap = 0;
  *left = 0;
  for (uint32_t i = 0; i < d->k->stages.len; i++) {
    TaskStage st = d->k->stages.at[i];
    EinSum sum = *st.sum;
    Digits after = {.t = d->t, .k = made, .near = NEW_ARRAY(d->t->arena, bool, PARTS_MOST + 1)};
    if (shared || i == d->stage) stage_cut(d, &st, &sum, label, radix, shared);
    st.sum = &sum;
    stage_simple(&after, &st, &sum);
    *left += after.left;
    stage_canonical(d->t, &st, &sum, st.slot, sum.n_slot);
    vec_push(d->t->arena, made->stages, st);
  }
  return made;
}

static uint32_t kernel_left(const Digits *d, const Task *k) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    TaskStage st = k->stages.at[i];
    EinSum sum = *st.sum;
    Digits one = {.t = d->t, .near = NEW_ARRAY(d->t->arena, bool, sum.n_out + sum.n_red + 1)};
    stage_simple(&one, &st, &sum);
    left += one.left;
  }
  return left;
}

/* Finds the next split that leaves fewer quotients and remainders; false: there is none. */
static bool cut_next(Digits *d) {
  for (uint32_t skip = 0; skip < CUTS_MOST; skip++) {
    TaskStage st = d->k->stages.at[d->stage];
    EinSum sum = *st.sum;
    near_find(d);
    d->left = 0, d->skip = skip, d->radix = NULL;
    stage_simple(d, &st, &sum);
    if (!d->radix) return false;
    uint32_t before = kernel_left(d, d->k), after;
    Task *made = kernel_cut(d, d->label, d->radix, &after);
    if (after >= before) continue;
    d->k = made;
    return true;
  }
  return false;
}

static Task *kernel_digits(TaskGraph *t, Task *k, bool all) {
  Digits d = {.t = t, .k = k, .all = all};
  if (task_call(k)) return k;
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].sum->n_out + k->stages.at[i].sum->n_red >= PARTS_MOST) return k;
  for (d.stage = 0; d.stage < k->stages.len; d.stage++)
    for (int cuts = 0; cuts < CUTS_MOST && cut_next(&d); cuts++) {}
  return d.k;
}

/* Whether it reduces products: a batch of them must be a label of its own. */
static bool is_product(const Task *k) {
  const EinSum *s = k->stages.at[0].sum;
  return k->stages.len == 1 && s->reducer == RED_SUM && is_op(s->body, OP_MUL) && s->n_slot > 1;
}

static void list_digits(TaskGraph *t, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    list_digits(t, &list->at[i]->body);
    if (list->at[i]->kind == TASK_KERNEL) list->at[i] = kernel_digits(t, list->at[i], is_product(list->at[i]));
  }
}

void task_digits(TaskGraph *t) { list_digits(t, &t->tasks); }

/* ---- results, before fusion ------------------------------------------------------------------------------- */

static void use_read(void *env, uint32_t *buffer, bool write) {
  if (!write) ((bool *)env)[*buffer] = true;
}

static void list_read(const Tasks *list, bool *read) {
  for (uint32_t i = 0; i < list->len; i++) {
    task_uses(list->at[i], use_read, read);
    list_read(&list->at[i]->body, read);
  }
}

/* Whether all reads of what other kernels make are at labels. */
static bool reads_made_plainly(const TaskGraph *t, const TaskStage *s) {
  ExprNodes reads = expr_nodes(t->arena, s->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (t->buffers.at[s->slot[e->i].index].space != BUF_WORK) continue;
    for (uint32_t k = 0; k < e->n; k++)
      if (e->arg[k]->kind != EX_LABEL) return false;
  }
  return true;
}

void task_digits_shown(TaskGraph *t) {
  bool *read = NEW_ARRAY(t->arena, bool, t->buffers.len + 1);
  list_read(&t->tasks, read);
  for (uint32_t i = 0; i < t->tasks.len; i++) {
    Task *k = t->tasks.at[i];
    const TaskStage *s = k->kind == TASK_KERNEL && k->stages.len == 1 ? &k->stages.at[0] : NULL;
    if (!s || s->sum->reducer != RED_NONE || s->buffer < 0 || read[s->buffer]) continue;
    if (t->buffers.at[s->buffer].space != BUF_OUTPUT || reads_made_plainly(t, s)) continue;
    Task *made = kernel_digits(t, k, true);
    if (reads_made_plainly(t, &made->stages.at[0])) t->tasks.at[i] = made;
  }
}
