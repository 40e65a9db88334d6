/* codegen/schedule/merge.c - joins labels that are adjacent, in the same order, wherever they occur. In: a kernel.
 * Out: the same kernel, where
 *
 *     Y[s,h,p] = sum[a,b] X[s,a,b] * W[h,p,a,b]       becomes    Y[s,h_p] = sum[a_b] X[s,a_b] * W[h_p,a_b]
 *
 * so that performance does not depend on how many labels the user wrote for one. Labels of extent 1 are dropped. An
 * index, or an integer in the body, may also have both labels as one number: with l < 32, x[i + 32*k + l] * w[k,l]
 * becomes x[i + k_l] * w[k_l]. Tensors are then read through *views*: the same elements, with fewer axes. For tensors
 * that the caller gives, with any strides, a view's index is split again where it is printed (c_expr.c), so both
 * versions of a kernel add in the same order.
 *
 * Two labels are joined in all stages at once, or not at all: what a stage keeps is read by others at labels of their
 * own. */
#include "expr/prove/prove.h"
#include "expr/sum/law.h"
#include "expr/prove/in_range.h"
#include "schedule.h"

typedef struct Pair { uint32_t stage, a, b; } Pair; /* two labels of a stage: b is the faster one */

typedef struct Merge {
  Sched *s;
  Task *k;                   /* our own copy; */
  VEC(Pair) pairs;           /*   the proposed pairs: one, and those that follow from it */
  bool ok;
  uint32_t stage;            /* the current one, */
  const TaskSlot *slot;      /*   its original slots, */
  bool **drop;               /*   and by stage and label: it is dropped, being 0 */
} Merge;

static bool is_label(const Expr *e, uint32_t label) { return e->kind == EX_LABEL && e->i == (int64_t)label; }
static TaskStage *stage_at(const Merge *m, uint32_t i) { return &m->k->stages.at[i]; }

static bool has_either(const Expr *e, Pair p) { return ex_has_label(e, p.a) || ex_has_label(e, p.b); }

/* ---- integers made of both labels ---------------------------------------------------------------------- */

typedef struct Point { const Merge *m; Pair p; const Expr *joined; } Point;

/* Where e, of labels, is c * (n*a + b) and terms without a and b, n being the extent of b: the same with `joined` for
 * n*a + b. NULL: it is something else. */
static const Expr *point_joined(const Point *t, const Expr *e) {
  Sched *s = t->m->s;
  Pair p = t->p;
  const TaskStage *st = stage_at(t->m, p.stage);
  uint32_t n = st->sum->n_out + st->sum->n_red;
  const Expr **to = NEW_ARRAY(s->arena, const Expr *, n + 1);
  int64_t c;
  if (e->dtype != DT_I64 || e->has & HAS_READ) return NULL;
  e = expr_normal(s->x, e);
  if (!ex_slope(e, p.b, &c) || !c) return NULL;
  to[p.a] = expr_op2(s->x, OP_ADD, expr_label(s->x, p.a), ex_int(s, 1));
  const Expr *next = expr_relabel(s->x, e, n, to), *step = ex_mul(s, ex_int(s, c), st->bound[p.b]);
  if (!expr_same_value(s->x, next, expr_op2(s->x, OP_ADD, e, step))) return NULL;
  to[p.a] = to[p.b] = ex_int(s, 0);
  const Expr *rest = expr_relabel(s->x, e, n, to);
  return expr_normal(s->x, expr_op2(s->x, OP_ADD, rest, ex_mul(s, ex_int(s, c), t->joined)));
}

static const Expr *point_or_same(const Point *t, const Expr *e) {
  const Expr *made = has_either(e, t->p) ? point_joined(t, e) : NULL;
  return made ? made : e;
}

/* In what is made of integers but is none: a comparison, a number of another type. */
static const Expr *op_joined(void *env, Exprs *x, const Expr *e) {
  const Point *t = env;
  if (e->dtype == DT_I64 || !has_either(e, t->p)) return e;
  const Expr **arg = NEW_ARRAY(t->m->s->arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = point_or_same(t, e->arg[k]);
  return expr_with(x, e, arg);
}

/* Outside of indices, which leaves' functions see to. */
static const Expr *points_joined(Point *t, const Expr *e) {
  return point_or_same(t, expr_map_ops(t->m->s->x, e, op_joined, t));
}

/* ---- views -------------------------------------------------------------------------------------------- */

uint32_t view_joined(Sched *s, uint32_t index, uint32_t k) {
  const TaskBuffer *was = buffer_seen(s, index);
  View v = {.shape = *was, .place = NOWHERE};
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, was->rank + 1);
  uint32_t *axes = NEW_ARRAY(s->arena, uint32_t, was->rank + 1);
  v.shape.rank--;
  for (uint32_t i = 0; i < was->rank; i++) {
    uint32_t to = i > k ? i - 1 : i, n = buffer_axes(s, index) ? buffer_axes(s, index)[i] : 1;
    dim[to] = i == k + 1 ? extent_normal(s->x, ex_mul(s, dim[k], was->dim[i])) : was->dim[i];
    axes[to] = i == k + 1 ? axes[k] + n : n;
  }
  v.shape.dim = dim, v.axes = axes;
  for (uint32_t i = 0; i < s->views.len; i++) {
    const View *x = &s->views.at[i];
    bool same = x->shape.id == v.shape.id && x->shape.rank == v.shape.rank;
    for (uint32_t j = 0; same && j < v.shape.rank; j++) same = x->axes[j] == axes[j];
    if (same) return VIEWS + i;
  }
  vec_push(s->arena, s->views, v);
  return VIEWS + s->views.len - 1;
}

/* ---- when it applies ---------------------------------------------------------------------------------- */

static void propose(Merge *m, uint32_t stage, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < m->pairs.len; i++) {
    Pair p = m->pairs.at[i];
    if (p.stage != stage || (p.a != a && p.b != b && p.a != b && p.b != a)) continue;
    if (p.a != a || p.b != b) m->ok = false;
    return;
  }
  vec_push(m->s->arena, m->pairs, ((Pair){stage, a, b}));
}

static bool is_partial(const TaskStage *st, uint32_t label, const Expr *dim) {
  const Expr *n = st->bound[label];
  return n != dim && (n->kind != EX_INT || dim->kind != EX_INT || n->i > dim->i);
}

/* Whether axes k and k + 1 are indexed by the two labels, the second one whole. */
static bool is_pair(
    const Merge *m, const TaskStage *st, Pair p, uint32_t index, uint32_t n, const Expr *const *at, uint32_t k) {
  const TaskBuffer *b = buffer_seen(m->s, index);
  return k + 1 < n && is_label(at[k], p.a) && is_label(at[k + 1], p.b) && b->dim[k + 1] == st->bound[p.b] &&
         !is_partial(st, p.a, b->dim[k]);
}

static bool same_extents(const Merge *m, Pair p, Pair q) {
  const TaskStage *a = stage_at(m, p.stage), *b = stage_at(m, q.stage);
  return a->bound[p.a] == b->bound[q.a] && a->bound[p.b] == b->bound[q.b];
}

typedef struct Look { Merge *m; Pair p; Point gone; } Look;

/* Rewrites reads at both labels; no other read may have either of them. */
static const Expr *leaf_pair(void *env, Exprs *x, const Expr *leaf) {
  const Look *l = env;
  const TaskStage *st = stage_at(l->m, l->p.stage);
  if (leaf->kind != EX_READ || !has_either(leaf, l->p)) return leaf;
  TaskSlot slot = st->slot[leaf->i];
  const Expr **arg = NEW_ARRAY(l->m->s->arena, const Expr *, leaf->n + 1);
  uint32_t a = NOWHERE, b = NOWHERE;
  for (uint32_t k = 0; k < leaf->n; k++) {
    arg[k] = leaf->arg[k];
    if (!slot.kept && is_pair(l->m, st, l->p, slot.index, leaf->n, leaf->arg, k)) {
      arg[k] = arg[k + 1] = ex_int(l->m->s, 0);
      k++;
    } else if (!slot.kept) arg[k] = point_or_same(&l->gone, arg[k]);
    else if (is_label(arg[k], l->p.a) && a == NOWHERE) a = k;
    else if (is_label(arg[k], l->p.b) && b == NOWHERE) b = k;
  }
  if (a != NOWHERE && b != NOWHERE && same_extents(l->m, l->p, (Pair){slot.index, a, b})) {
    arg[a] = arg[b] = ex_int(l->m->s, 0);
    propose(l->m, slot.index, a, b);
  }
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, arg);
}

static void look_at(Look *l, const Expr *e) {
  if (!e || !l->m->ok) return;
  l->m->ok &= !has_either(expr_map(l->m->s->x, points_joined(&l->gone, e), leaf_pair, l), l->p);
}

/* Whether each index of the store has both labels, as a pair or in one number, or neither. */
static bool store_is_pair(const Look *l) {
  const Merge *m = l->m;
  Pair p = l->p;
  const TaskStage *st = stage_at(m, p.stage);
  for (uint32_t k = 0; st->buffer >= 0 && k < st->n_at; k++) {
    if (is_pair(m, st, p, (uint32_t)st->buffer, st->n_at, st->at, k)) k++;
    else if (has_either(st->at[k], p) && !point_joined(&l->gone, st->at[k])) return false;
  }
  return true;
}

typedef struct StageReader { Merge *m; uint32_t stage; Pair of; } StageReader;

/* A reader of the stage's kept values must have a pair of labels there itself. */
static const Expr *leaf_reader(void *env, Exprs *x, const Expr *leaf) {
  const StageReader *r = env;
  (void)x;
  if (leaf->kind != EX_READ) return leaf;
  TaskSlot slot = stage_at(r->m, r->stage)->slot[leaf->i];
  if (!slot.kept || slot.index != r->of.stage) return leaf;
  const Expr *a = leaf->arg[r->of.a], *b = leaf->arg[r->of.b];
  Pair mine = {r->stage, (uint32_t)a->i, (uint32_t)b->i};
  if (a->kind != EX_LABEL || b->kind != EX_LABEL || a == b || !same_extents(r->m, mine, r->of)) r->m->ok = false;
  else propose(r->m, mine.stage, mine.a, mine.b);
  return leaf;
}

static int kind_of(const Merge *m, uint32_t stage, uint32_t label) {
  return label < m->k->n_outer ? 0 : label < stage_at(m, stage)->sum->n_out ? 1 : 2;
}

/* Whether the reducer depends on points' numbers or order. */
static bool is_ordered(Reducer r) { return reducer_is_arg(r) || r == RED_MONOID; }

static void pair_look(Merge *m, Pair p) {
  const EinSum *sum = stage_at(m, p.stage)->sum;
  int kind = kind_of(m, p.stage, p.a);
  /* A label of its own: with a number, conditions would be decided, and leave out what has the labels. */
  Look l = {m, p, {m, p, expr_label(m->s->x, sum->n_out + sum->n_red)}};
  m->ok &= p.a != p.b && kind == kind_of(m, p.stage, p.b) && store_is_pair(&l) &&
      (kind < 2 || p.b == p.a + 1 || !is_ordered(sum->reducer));
  if (kind == 0)
    for (uint32_t i = 0; i < m->k->stages.len && m->ok; i++) propose(m, i, p.a, p.b);
  look_at(&l, sum->body), look_at(&l, sum->where), look_at(&l, sum->domain);
  for (uint32_t i = p.stage + 1; i < m->k->stages.len && m->ok && kind < 2; i++) {
    StageReader r = {m, i, p};
    sum_leaves(m->s->x, stage_at(m, i)->sum, leaf_reader, &r);
  }
}

/* ---- joining ------------------------------------------------------------------------------------------- */

/* Makes the stage our own copy. */
static EinSum *stage_own(Merge *m, uint32_t stage) {
  Sched *s = m->s;
  TaskStage *st = stage_at(m, stage);
  EinSum *sum = arena_copy(s->arena, st->sum, sizeof *sum);
  uint32_t n = sum->n_out + sum->n_red;
  m->stage = stage, m->slot = st->slot;
  st->slot = arena_copy(s->arena, st->slot, sum->n_slot * sizeof *st->slot);
  st->bound = arena_copy(s->arena, st->bound, n * sizeof *st->bound);
  st->label = arena_copy(s->arena, st->label, n * sizeof *st->label);
  st->sum = sum;
  return sum;
}

/* Renumbers labels: to[l] replaces l; if it is no label, l is dropped. */
static void labels_renumber(Merge *m, EinSum *sum, const Expr **to) {
  Sched *s = m->s;
  TaskStage *st = stage_at(m, m->stage);
  uint32_t n_label = sum->n_out + sum->n_red, n = 0, out = sum->n_out;
  for (uint32_t l = 0; l < n_label; l++) {
    bool stays = to[l]->kind == EX_LABEL;
    if (!stays) --*(l < out ? &sum->n_out : &sum->n_red);
    if (!stays) continue;
    st->bound[n] = st->bound[l], st->label[n] = st->label[l];
    to[l] = expr_label(s->x, n++);
  }
  sum_relabel(s->x, sum, n_label, to);
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, st->n_at + 1);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = expr_relabel(s->x, st->at[k], n_label, to);
  st->at = at;
}

/* Joins the stage's pairs in one expression, with f for its leaves or in what is itself an integer (f NULL). */
static const Expr *pairs_joined(Merge *m, const Expr *e, ExprLeaf *f) {
  for (uint32_t i = 0; i < m->pairs.len; i++) {
    Point t = {m, m->pairs.at[i], expr_label(m->s->x, m->pairs.at[i].a)};
    if (t.p.stage == m->stage) e = f ? points_joined(&t, e) : point_or_same(&t, e);
  }
  return f ? expr_map(m->s->x, e, f, m) : e;
}

static void sum_join(Merge *m, EinSum *sum, ExprLeaf *f) {
  sum->body = pairs_joined(m, sum->body, f);
  if (sum->where) sum->where = pairs_joined(m, sum->where, f);
  if (sum->domain) sum->domain = pairs_joined(m, sum->domain, f);
}

/* Whether index k is dropped, as the second of a pair. */
static bool goes(const Merge *m, const Expr *const *at, uint32_t k) {
  for (uint32_t i = 0; i < m->pairs.len && k; i++) {
    Pair p = m->pairs.at[i];
    if (p.stage == m->stage && is_label(at[k - 1], p.a) && is_label(at[k], p.b)) return true;
  }
  return false;
}

/* The remaining indices and, in *n, their number; *index becomes a view. */
static const Expr **at_joined(Merge *m, uint32_t *n, const Expr *const *at, uint32_t *index) {
  const Expr **to = NEW_ARRAY(m->s->arena, const Expr *, *n + 1);
  uint32_t all = *n;
  *n = 0;
  for (uint32_t k = 0; k < all; k++) {
    if (goes(m, at, k)) *index = view_joined(m->s, *index, *n - 1);
    else to[(*n)++] = pairs_joined(m, at[k], NULL);
  }
  return to;
}

static const Expr **kept_joined(const Merge *m, uint32_t *n, const Expr *const *at, uint32_t of) {
  const Expr **to = NEW_ARRAY(m->s->arena, const Expr *, *n + 1);
  uint32_t all = *n;
  *n = 0;
  for (uint32_t k = 0; k < all; k++) {
    bool gone = false;
    for (uint32_t i = 0; i < m->pairs.len; i++) gone |= m->pairs.at[i].stage == of && m->pairs.at[i].b == k;
    if (!gone) to[(*n)++] = at[k];
  }
  return to;
}

static const Expr *leaf_joined(void *env, Exprs *x, const Expr *leaf) {
  Merge *m = env;
  if (leaf->kind != EX_READ) return leaf;
  TaskSlot slot = m->slot[leaf->i];
  uint32_t n = leaf->n;
  const Expr **arg = slot.kept ? kept_joined(m, &n, leaf->arg, slot.index) : at_joined(m, &n, leaf->arg, &slot.index);
  stage_at(m, m->stage)->slot[leaf->i] = slot;
  return expr_read(x, (DType)leaf->dtype, leaf->i, n, arg);
}

static void store_change(
    Merge *m, const Expr **(*change)(Merge *m, uint32_t *n, const Expr *const *at, uint32_t *index)) {
  TaskStage *st = stage_at(m, m->stage);
  if (st->buffer < 0) return;
  uint32_t n = st->n_at, index = (uint32_t)st->buffer;
  st->at = change(m, &n, st->at, &index);
  st->n_at = n, st->buffer = (int32_t)index;
}

static void stage_join(Merge *m, uint32_t stage) {
  Sched *s = m->s;
  TaskStage *st = stage_at(m, stage);
  EinSum *sum = stage_own(m, stage);
  const Expr **to = NEW_ARRAY(s->arena, const Expr *, sum->n_out + sum->n_red + 1);
  sum_join(m, sum, leaf_joined);
  store_change(m, at_joined);
  for (uint32_t l = 0; l < sum->n_out + sum->n_red; l++) to[l] = expr_label(s->x, l);
  for (uint32_t i = 0; i < m->pairs.len; i++) {
    Pair p = m->pairs.at[i];
    if (p.stage != stage) continue;
    st->bound[p.a] = extent_normal(s->x, ex_mul(s, st->bound[p.a], st->bound[p.b]));
    if (st->label[p.a] && st->label[p.b])
      st->label[p.a] = strings_printf(s->t->strings, "%s_%s", st->label[p.a]->s, st->label[p.b]->s);
    to[p.b] = ex_int(s, 0);
    BUG_UNLESS(!ex_has_label(sum->body, p.b));
  }
  labels_renumber(m, sum, to);
}

static bool pair_join(Merge *m, Pair p) {
  m->pairs.len = 0, m->ok = true;
  vec_push(m->s->arena, m->pairs, p);
  for (uint32_t i = 0; i < m->pairs.len && m->ok; i++) pair_look(m, m->pairs.at[i]);
  if (!m->ok) return false;
  uint32_t outer = 0;
  for (uint32_t i = 0; i < m->pairs.len; i++)
    outer += m->pairs.at[i].stage == 0 && kind_of(m, 0, m->pairs.at[i].a) == 0;
  for (uint32_t i = 0; i < m->k->stages.len; i++)
    for (uint32_t j = 0; j < m->pairs.len; j++)
      if (m->pairs.at[j].stage == i) {
        stage_join(m, i);
        break;
      }
  m->k->n_outer -= outer;
  return true;
}

/* ---- candidates --------------------------------------------------------------------------------------- */

typedef struct Seek { Merge *m; uint32_t stage; VEC(Pair) all; } Seek;

/* Pairs in one index. */
static void labels_seek(Seek *q, const Expr *e) {
  const EinSum *sum = stage_at(q->m, q->stage)->sum;
  uint32_t n = sum->n_out + sum->n_red;
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = 0; b < n && ex_has_label(e, a); b++) {
      Point t = {q->m, {q->stage, a, b}, ex_int(q->m->s, 0)};
      if (a != b && ex_has_label(e, b) && point_joined(&t, e)) vec_push(q->m->s->arena, q->all, t.p);
    }
}

static void pairs_seek(Seek *q, uint32_t n, const Expr *const *at) {
  for (uint32_t k = 0; k + 1 < n; k++)
    if (at[k]->kind == EX_LABEL && at[k + 1]->kind == EX_LABEL)
      vec_push(q->m->s->arena, q->all, ((Pair){q->stage, (uint32_t)at[k]->i, (uint32_t)at[k + 1]->i}));
  for (uint32_t k = 0; k < n; k++)
    if (at[k]->kind == EX_OP) labels_seek(q, at[k]);
}

static const Expr *leaf_seek(void *env, Exprs *x, const Expr *leaf) {
  Seek *q = env;
  (void)x;
  if (leaf->kind == EX_READ && !stage_at(q->m, q->stage)->slot[leaf->i].kept) pairs_seek(q, leaf->n, leaf->arg);
  return leaf;
}

static bool stage_try(Merge *m, uint32_t stage) {
  const TaskStage *st = stage_at(m, stage);
  Seek q = {.m = m, .stage = stage};
  if (st->buffer >= 0) pairs_seek(&q, st->n_at, st->at);
  sum_leaves(m->s->x, st->sum, leaf_seek, &q);
  for (uint32_t i = 0; i < q.all.len; i++)
    if (pair_join(m, q.all.at[i])) return true;
  return false;
}

/* ---- labels of extent 1 ------------------------------------------------------------------------------- */

static bool is_one(const Merge *m, uint32_t stage, uint32_t label) {
  const TaskStage *st = stage_at(m, stage);
  const EinSum *sum = st->sum;
  if (!expr_is_int(st->bound[label], 1)) return false;
  return !(sum->where && ex_has_label(sum->where, label)) && !(sum->domain && ex_has_label(sum->domain, label));
}

/* Whether what the stage keeps is read at data along the label, where the index is tested. */
static bool is_tested(const Merge *m, uint32_t stage, uint32_t label) {
  for (uint32_t i = stage + 1; i < m->k->stages.len; i++) {
    const TaskStage *st = stage_at(m, i);
    ExprNodes reads = sum_reads(m->s->arena, st->sum);
    for (const Expr *e; (e = expr_next_read(&reads));) {
      bool own = st->slot[e->i].kept && st->slot[e->i].index == stage;
      if (own && label < e->n && index_is_data(e->arg[label])) return true;
    }
  }
  return false;
}

/* The labels of extent 1 to drop; a reduction keeps at least one of its labels. */
static bool *ones_find(const Merge *m, uint32_t stage) {
  const EinSum *sum = stage_at(m, stage)->sum;
  bool *drop = NEW_ARRAY(m->s->arena, bool, sum->n_out + sum->n_red + 1);
  uint32_t left = sum->n_red;
  for (uint32_t l = 0; l < sum->n_out + sum->n_red; l++) {
    bool goes = l < sum->n_out ? !is_tested(m, stage, l) : left > 1 && !is_ordered(sum->reducer);
    drop[l] = goes && is_one(m, stage, l);
    left -= l >= sum->n_out && drop[l];
    for (uint32_t i = 0; l < m->k->n_outer && i < m->k->stages.len; i++) drop[l] &= is_one(m, i, l);
  }
  return drop;
}

/* Drops axes of extent 1, as long as there are others. */
static const Expr **at_long(Merge *m, uint32_t *n, const Expr *const *at, uint32_t *index) {
  const Expr **to = arena_copy(m->s->arena, at, *n * sizeof *at);
  for (uint32_t k = *n; k-- > 0 && *n > 1;) {
    if (!expr_is_int(to[k], 0) || !expr_is_int(buffer_seen(m->s, *index)->dim[k], 1)) continue;
    *index = view_joined(m->s, *index, k ? k - 1 : 0);
    for (uint32_t i = k; i + 1 < *n; i++) to[i] = to[i + 1];
    --*n;
  }
  return to;
}

static const Expr *leaf_long(void *env, Exprs *x, const Expr *leaf) {
  Merge *m = env;
  if (leaf->kind == EX_LABEL && m->drop[m->stage][leaf->i]) return expr_int(x, DT_I64, 0);
  if (leaf->kind != EX_READ) return leaf;
  TaskSlot slot = m->slot[leaf->i];
  uint32_t n = leaf->n;
  const Expr **arg = NEW_ARRAY(m->s->arena, const Expr *, n + 1);
  if (!slot.kept) arg = at_long(m, &n, leaf->arg, &slot.index);
  for (uint32_t k = n = slot.kept ? 0 : n; slot.kept && k < leaf->n; k++)
    if (!m->drop[slot.index][k]) arg[n++] = leaf->arg[k];
  stage_at(m, m->stage)->slot[leaf->i] = slot;
  return expr_read(x, (DType)leaf->dtype, leaf->i, n, arg);
}

static void stage_drop(Merge *m, uint32_t stage) {
  Sched *s = m->s;
  EinSum *sum = stage_own(m, stage);
  uint32_t n = sum->n_out + sum->n_red;
  const Expr **to = NEW_ARRAY(s->arena, const Expr *, n + 1);
  sum_map(m->s->x, sum, leaf_long, m);
  for (uint32_t l = 0; l < n; l++) to[l] = m->drop[stage][l] ? ex_int(s, 0) : expr_label(s->x, l);
  labels_renumber(m, sum, to);
  store_change(m, at_long);
}

static void ones_drop(Merge *m) {
  uint32_t n = m->k->stages.len, outer = 0;
  m->drop = NEW_ARRAY(m->s->arena, bool *, n + 1);
  for (uint32_t i = 0; i < n; i++) m->drop[i] = ones_find(m, i);
  for (uint32_t l = 0; l < m->k->n_outer; l++) outer += m->drop[0][l];
  for (uint32_t i = 0; i < n; i++) stage_drop(m, i);
  m->k->n_outer -= outer;
}

/* ---- entry points ------------------------------------------------------------------------------------- */

static Merge merge_new(Sched *s, const Task *k) {
  Merge m = {.s = s, .k = arena_copy(s->arena, k, sizeof *k)};
  m.k->stages.at = arena_copy(s->arena, k->stages.at, k->stages.len * sizeof *k->stages.at);
  m.k->stages.cap = k->stages.len;
  return m;
}

/* Whether a stage reads other elements of what it stores to: the buffer has one view then, its own. */
static bool reads_elsewhere(const Merge *m) {
  for (uint32_t i = 0; i < m->k->stages.len; i++) {
    const TaskStage *st = stage_at(m, i);
    ExprNodes reads = sum_reads(m->s->arena, st->sum);
    for (const Expr *e; (e = expr_next_read(&reads));) {
      bool own = !st->slot[e->i].kept && (int64_t)st->slot[e->i].index == st->buffer;
      if (own && !exprs_same(e->n, e->arg, st->at)) return true;
    }
  }
  return false;
}

static const Task *all_join(Merge *m) {
  for (bool any = true; any;) {
    any = false;
    for (uint32_t i = 0; i < m->k->stages.len; i++)
      while (stage_try(m, i)) any = true;
  }
  return m->k;
}

const Task *merge_task(Sched *s, const Task *k) {
  Merge m = merge_new(s, k);
  s->views.len = 0;
  if (reads_elsewhere(&m)) return m.k;
  ones_drop(&m);
  return all_join(&m);
}

const Task *merge_more(Sched *s, const Task *k) {
  Merge m = merge_new(s, k);
  return reads_elsewhere(&m) ? m.k : all_join(&m);
}
