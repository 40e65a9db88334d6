/* task/passes/terms.c - unrolls a reduction of a few points around each result, such as a stencil's or a small
 * convolution's, term by term:
 *
 *     Y[i,j] = sum[a:3,b:3] K[a,b] * X[i+a,j+b]   becomes   Y[i,j] = 0 + K[0,0] * X[i,j] + K[0,1] * X[i,j+1] + ...
 *
 * in the order of the reduction, starting from its identity. The result is a map: its lanes go along the result
 * whatever the labels of the window are, its producers and readers may share its loop, borders are cut out of loops,
 * so that only they are tested, and on many sites it reads its block in place.
 *
 * In: stages that reduce labels of known extents, a handful of points in all, with a read whose last index has such
 * a label together with the result's innermost one: lanes would have to go along both. So do windows across rows,
 * sum[a:3] X[i+a,j], if nothing else than weights has reduced labels. Others, such as matrix products with a short sum,
 * windows around contiguous channels, and rows that are cut into parts (x[32*i+a]), have schedules of their own. */
#include "expr/prove/prove.h"
#include "task/inside.h"

enum {
  POINTS_MOST = 32,          /* a window of 3 x 3 x 3 has 27 */
  NODES_MOST = 1200,         /* of all terms together */
  STEP_MOST = 4,             /* neighbours so far apart are read in vectors; farther apart, a sum's own points are */
  LABELS_MOST = 64
};

/* ---- which ------------------------------------------------------------------------------------------------ */

typedef struct Look {
  uint64_t last, red, out;   /* labels: the innermost, the reduced ones, those of the result */
  uint32_t nodes;
  bool added;                /* the body adds up terms */
  bool window, across;       /* a read around each point, along its row or across rows; if terms are added, also one
                              * beside each point */
  bool other;                /* one with reduced labels that is neither, nor a weight */
  bool gathers;
} Look;

/* Whether neighbours along the label may be near each other in this index. */
static bool is_near(const Expr *e, uint64_t label) {
  int64_t step, number = 0;
  while (label >> number > 1) number++;
  return !expr_slope(e, number, &step) || (step >= -STEP_MOST && step <= STEP_MOST);
}

static void read_look(Look *l, const Expr *e) {
  const Expr *last = e->arg[e->n - 1];
  uint64_t all = 0;
  bool window = false, across = false;
  for (uint32_t k = 0; k < e->n; k++) {
    bool both = e->arg[k]->labels & l->out && e->arg[k]->labels & l->red;
    l->gathers |= e->arg[k]->has & HAS_READ;
    bool around = both || (l->added && last->kind == EX_OP);
    window |= around && e->arg[k] == last && last->labels & l->last && is_near(last, l->last);
    across |= both && last->labels == l->last && is_near(last, l->last);
    all |= e->arg[k]->labels;
  }
  l->window |= window;
  l->across |= across;
  l->other |= !window && !across && all & l->red && all & l->out;
}

static void look_at(Arena *a, const Expr *body, Look *l) {
  ExprNodes nodes = expr_nodes(a, body, 0);
  for (const Expr *e; (e = expr_node(&nodes));) {
    l->nodes++;
    if (e->kind == EX_READ && e->n) read_look(l, e);
  }
}

/* Conditions that must hold together stay: they prove that reads which they guard are in range. */
static bool is_plain(const EinSum *s) {
  return s->reducer != RED_NONE && !s->monoid && s->acc != DT_BOOL && reducer_info[s->reducer].combine != OPS &&
      reducer_info[s->reducer].identity;
}

/* The number of points per result; 0: too many, or it is no such reduction. */
static int64_t points_of(Arena *a, const TaskStage *st) {
  const EinSum *s = st->sum;
  int64_t points = 1;
  if (s->domain || (s->where && s->where->has & HAS_READ)) return 0; /* data leave points out */
  if (!is_plain(s) || !s->n_red || !s->n_out || s->n_out + s->n_red >= LABELS_MOST) return 0;
  for (uint32_t k = s->n_out; k < s->n_out + s->n_red; k++) {
    if (st->bound[k]->kind != EX_INT || st->bound[k]->i < 1 || st->bound[k]->i > POINTS_MOST) return 0;
    points *= st->bound[k]->i;
    if (points > POINTS_MOST) return 0;
  }
  uint64_t out = ((uint64_t)1 << s->n_out) - 1;
  Look l = {.last = (uint64_t)1 << (s->n_out - 1), .out = out};
  l.red = (((uint64_t)1 << (s->n_out + s->n_red)) - 1) & ~out;
  l.added = is_op(s->body, OP_ADD);
  look_at(a, s->body, &l);
  if (s->where) look_at(a, s->where, &l);
  return (l.window || (l.across && !l.other)) && !l.gathers && l.nodes * points <= NODES_MOST ? points : 0;
}

/* ---- what extents decide -------------------------------------------------------------------------------------- */

/* Drops conjuncts of a predicate that hold for all points; NULL: all do. */
static const Expr *left_open(Exprs *x, const TaskStage *st, const Expr *e) {
  StageReach a, b;
  if (e->kind != EX_OP) return e->kind == EX_INT && e->i ? NULL : e;
  if (e->op == OP_AND) return expr_and(x, left_open(x, st, e->arg[0]), left_open(x, st, e->arg[1]));
  if ((e->op != OP_LT && e->op != OP_LE) || !stage_reach(st, e->arg[0], &a) || !stage_reach(st, e->arg[1], &b))
    return e;
  return (e->op == OP_LT ? a.high < b.low : a.high <= b.low) ? NULL : e;
}

/* ---- terms ------------------------------------------------------------------------------------------------- */

/* An index as written by hand: a - 1, (a - 1) % n, but not a % n where a is less than n. */
static const Expr *index_plain(Exprs *x, const TaskStage *st, const Expr *e) {
  StageReach in;
  if (e->kind != EX_OP || e->op != OP_MOD || e->arg[1]->kind != EX_INT) return expr_normal(x, e);
  const Expr *at = expr_normal(x, e->arg[0]);
  return stage_reach(st, at, &in) && in.low >= 0 && in.high < e->arg[1]->i ? at : expr_op2(x, OP_MOD, at, e->arg[1]);
}

static const Expr *leaf_index(void *env, Exprs *x, const Expr *leaf) {
  const Expr *arg[LABELS_MOST];
  if (leaf->kind != EX_READ || leaf->n > LABELS_MOST) return leaf;
  for (uint32_t k = 0; k < leaf->n; k++) arg[k] = index_plain(x, env, leaf->arg[k]);
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, arg);
}

/* The body at one point of the window; the identity where a predicate excludes it. */
static const Expr *term_at(Exprs *x, const TaskStage *st, const int64_t *at, const Expr *identity) {
  const EinSum *s = st->sum;
  const Expr *to[LABELS_MOST] = {0};
  for (uint32_t k = 0; k < s->n_red; k++) to[s->n_out + k] = expr_int(x, DT_I64, at[k]);
  const Expr *term = expr_map(x, expr_relabel(x, s->body, s->n_out + s->n_red, to), leaf_index, (void *)(uintptr_t)st);
  const Expr *where = s->where ? left_open(x, st, expr_relabel(x, s->where, s->n_out + s->n_red, to)) : NULL;
  return where ? expr_select(x, where, term, identity) : term;
}

/* A maximum or minimum needs no identity if all points are present. */
static const Expr *all_terms(Exprs *x, const TaskStage *st, int64_t points) {
  const EinSum *s = st->sum;
  const Expr *identity = reducer_identity(x, s), *all = NULL;
  bool begins = s->reducer == RED_SUM || s->reducer == RED_PROD;
  int64_t at[LABELS_MOST] = {0};
  if (begins) all = identity;
  for (int64_t i = 0; i < points; i++) {
    const Expr *term = term_at(x, st, at, identity);
    all = all ? expr_op2(x, reducer_info[s->reducer].combine, all, term) : term;
    for (uint32_t k = s->n_red; k-- > 0 && ++at[k] == st->bound[s->n_out + k]->i;) at[k] = 0;
  }
  return expr_cast(x, s->dtype, all);
}

static void stage_write_out(TaskGraph *t, TaskStage *st) {
  EinSum sum = *st->sum;
  int64_t points = sum.by ? 0 : points_of(t->arena, st);
  const Expr *all = points ? all_terms(t->exprs, st, points) : NULL;
  if (!all) return;
  sum.body = all;
  sum.where = NULL;
  sum.reducer = RED_NONE;
  sum.n_red = 0;
  sum.acc = sum.dtype;
  stage_canonical(t, st, &sum, st->slot, sum.n_slot);
}

void task_terms(TaskGraph *t) { task_stages_each(t, &t->tasks, stage_write_out); }
