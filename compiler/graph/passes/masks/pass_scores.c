/* graph/passes/masks/pass_scores.c - a softmax of scores some of which are -inf visits only the others:
 *
 *     A[s,t] = S[s,t] + (if t <= s then 0 else -inf)        or  if t <= s then S[s,t] else -inf
 *     m[s] = max[t] A[s,t]
 *     E[s,t] = exp(A[s,t] - m[s])
 *     d[s] = sum[t] E[s,t]
 *     Y[s,e] = sum[t] E[s,t] * V[t,e]
 *
 * E is 0 where A is -inf, if m is finite. But a score that is NaN or inf is NaN when -inf is added; and 0 times a V
 * that is not finite is NaN. No score can be so if the largest |Q| times the largest |K| times the number of terms is
 * far below the greatest float. So sums become choices,
 *
 *     Y[s,e] = if fine then sum[t where t <= s] E'[s,t] * V[t,e] else sum[t] E[s,t] * V[t,e]
 *
 * where E' is made of the same scores where t <= s, and pass_branches.c makes only one of the two. `fine` looks at each
 * operand once, which must have much fewer elements than there are scores. Each row must have a score that is not -inf;
 * on a processor, for one site. */
#include <math.h>

#include "expr/prove/let_through.h"
#include "expr/prove/prove.h"
#include "graph/passes/contract/contract.h"
#include "graph/passes/range.h"
#include "graph/passes/reach.h"
#include "masks.h"

enum {
  POINTS_LEAST = 1 << 14,    /* scores, or two copies of the program are not worth it */
  SMALLER = 2,               /* how many times fewer elements an operand has */
  LEAVES_MOST = 8,
  SUMS_MOST = 8,
  LABELS_MOST = 60,
  CONDITIONS_MOST = 16,
  FACTORS_MOST = 8,          /* of a sum */
  PARTS_MOST = 400           /* of expressions, for bounds */
};

#define GREAT_F32 1e30       /* less than this, and no rounding makes it infinite */
#define GREAT_F64 1e300

typedef VEC(const EinNode *) Nodes;

typedef struct Scores {      /* the exponentials of scores, */
  const EinNode *e, *m, *a;  /*   exp(a - m), where m is the maximum of a; m NULL: exp(a) */
  const Expr *of_a, *of_m;   /*   the reads of them */
  const Expr *value, *where; /* the score where it is not -inf, and where that is, by a's labels and slots */
  const EinNode *leaf[LEAVES_MOST]; /* tensors whose largest elements bound all */
  uint32_t n_leaf, parts;
  const Expr *fine;          /* whether they are small enough, by slots of these */
  EinNode *made, *is_fine;   /* e' and `fine` in the new graph; NULL: not yet */
} Scores;

typedef struct Pass {
  Rebuild b;
  Arena *scratch;
  Nodes *readers;            /* by old id, as those below */
  bool *shown;               /* something other than a vertex uses it */
  Scores **of;               /* the exponentials that a sum reads, if it becomes a choice */
} Pass;

static Exprs *pool(const Pass *c) { return c->b.old->exprs; }

/* ---- vertices ------------------------------------------------------------------------------------------------ */

static bool is_plain(const EinNode *n, Reducer reducer) {
  bool plain = n->kind == EIN_VERTEX && n->sum->reducer == reducer && !n->sum->by && !n->sum->domain &&
      n->rank == n->sum->n_out && n->sum->n_out + n->sum->n_red <= LABELS_MOST;
  for (uint32_t k = 0; plain && n->merge && k < n->rank; k++) plain = n->merge[k] == 1;
  return plain;
}

/* Whether it is a read at different labels. */
static bool reads_labels(const Expr *e) {
  uint64_t seen = 0;
  if (e->kind != EX_READ) return false;
  for (uint32_t k = 0; k < e->n; k++) {
    if (e->arg[k]->kind != EX_LABEL || seen >> e->arg[k]->i & 1) return false;
    seen |= UINT64_C(1) << e->arg[k]->i;
  }
  return true;
}

static double points_of(const EinNode *n) {
  double points = 1;
  for (uint32_t k = 0; k < n->rank; k++) points *= extent_guess(n->dim[k]);
  return points;
}

static void readers_find(Pass *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    for (uint32_t k = 0; n->kind == EIN_VERTEX && k < n->sum->n_slot; k++) {
      Nodes *to = &c->readers[n->input[k]->id];
      if (!to->len || vec_last(*to) != n) vec_push(c->scratch, *to, n);
    }
    if (n->kind == EIN_REPEAT) readers_find(c, n->body);
  }
}

/* ---- bounds -------------------------------------------------------------------------------------------------- */

static const Expr *bound_of(Pass *c, Scores *s, const EinNode *n, const Expr *e);

static DType type_of(const Scores *s) { return s->e->dtype; }
static const Expr *real(Pass *c, const Scores *s, double v) { return expr_real(pool(c), type_of(s), v); }

/* The largest element of the tensor, by a slot of its own; NULL: that takes too long. */
static const Expr *bound_of_leaf(Pass *c, Scores *s, const EinNode *x) {
  uint32_t k = 0;
  if (!dtype_is_float(x->dtype)) return real(c, s, 9.3e18);
  if (points_of(x) * (double)SMALLER > points_of(s->e) || (x->kind == EIN_VERTEX && x->sum->domain)) return NULL;
  if (x->kind == EIN_VERTEX && x->sum->by) return NULL;
  while (k < s->n_leaf && s->leaf[k] != x) k++;
  if (k == LEAVES_MOST) return NULL;
  if (k == s->n_leaf) s->leaf[s->n_leaf++] = x;
  return expr_read(pool(c), type_of(s), k, 0, NULL);
}

static const Expr *bound_of_read(Pass *c, Scores *s, const EinNode *x) {
  Exprs *p = pool(c);
  bool sum = is_plain(x, RED_SUM), map = is_plain(x, RED_NONE);
  const Expr *leaf = map ? NULL : bound_of_leaf(c, s, x);
  if (leaf || !(sum || map)) return leaf;
  uint32_t had = s->n_leaf;
  const Expr *each = bound_of(c, s, x, x->sum->body);
  for (uint32_t k = x->rank; each && k < x->rank + x->sum->n_red; k++)
    each = expr_op2(p, OP_MUL, each, expr_cast(p, type_of(s), x->bound[k]));
  if (!each) s->n_leaf = had;
  return each ? each : map ? bound_of_leaf(c, s, x) : NULL;
}

static const Expr *bound_of_op(Pass *c, Scores *s, const EinNode *n, const Expr *e) {
  Exprs *p = pool(c);
  if (is_op(e, OP_CAST) && !dtype_is_float((DType)e->arg[0]->dtype)) return real(c, s, 9.3e18);
  if (is_op(e, OP_DIV)) {
    const Expr *by = e->arg[1];
    bool number = by->kind == EX_REAL && by->f != 0 && isfinite(1 / by->f);
    const Expr *of = number ? bound_of(c, s, n, e->arg[0]) : NULL;
    return of ? expr_op2(p, OP_MUL, of, real(c, s, fabs(1 / by->f))) : NULL;
  }
  bool wide = is_op(e, OP_CAST) && (e->dtype == DT_F32 || e->dtype == DT_F64);
  if (wide || is_op(e, OP_NEG) || is_op(e, OP_ABS)) return bound_of(c, s, n, e->arg[0]);
  if (!is_op(e, OP_ADD) && !is_op(e, OP_SUB) && !is_op(e, OP_MUL) && !is_op(e, OP_SELECT)) return NULL;
  const Expr *a = bound_of(c, s, n, e->arg[e->n - 2]), *b = a ? bound_of(c, s, n, e->arg[e->n - 1]) : NULL;
  return b ? expr_op2(p, is_op(e, OP_MUL) ? OP_MUL : OP_ADD, a, b) : NULL;
}

/* What |e|, of the vertex, is at most, by slots of leaves; NULL: not known. */
static const Expr *bound_of(Pass *c, Scores *s, const EinNode *n, const Expr *e) {
  if (++s->parts > PARTS_MOST) return NULL;
  if (!dtype_is_float((DType)e->dtype)) return real(c, s, 9.3e18);
  if (e->kind == EX_REAL) return isfinite(e->f) ? real(c, s, fabs(e->f)) : NULL;
  if (e->kind == EX_READ) return bound_of_read(c, s, n->input[e->i]);
  return e->kind == EX_OP ? bound_of_op(c, s, n, e) : NULL;
}

/* ---- scores -------------------------------------------------------------------------------------------------- */

static bool is_lowest(const Expr *e) {
  while (is_op(e, OP_CAST)) e = e->arg[0];
  return e->kind == EX_REAL && isinf(e->f) && e->f < 0;
}

/* Takes the score apart: what it is where it is not -inf, and where that is (NULL: everywhere). */
static const Expr *score_part(Pass *c, const EinNode *n, const Expr *e, const Expr **where) {
  Exprs *p = pool(c);
  *where = NULL;
  if (is_op(e, OP_CAST) && dtype_is_float((DType)e->dtype) && dtype_is_float((DType)e->arg[0]->dtype)) {
    const Expr *of = score_part(c, n, e->arg[0], where);
    return expr_cast(p, (DType)e->dtype, of);
  }
  if (is_op(e, OP_SELECT) && (is_lowest(e->arg[1]) || is_lowest(e->arg[2])) && !(e->arg[0]->has & HAS_READ)) {
    bool when = is_lowest(e->arg[2]);
    *where = when ? e->arg[0] : condition_not(p, e->arg[0]);
    return e->arg[when ? 1 : 2];
  }
  if (is_op(e, OP_ADD)) {
    const Expr *other, *a = score_part(c, n, e->arg[0], where), *b = score_part(c, n, e->arg[1], &other);
    *where = expr_and(p, *where, other);
    if (a->kind == EX_REAL && a->f == 0) return b;
    return b->kind == EX_REAL && b->f == 0 ? a : expr_op2(p, OP_ADD, a, b);
  }
  const EinNode *x = e->kind == EX_READ ? n->input[e->i] : NULL;
  if (!x || !is_plain(x, RED_NONE) || x->sum->body->has & (HAS_READ | HAS_CALL)) return e;
  const Expr *of = score_part(c, x, x->sum->body, where);
  if (!*where) return e;
  *where = expr_relabel(p, *where, e->n, e->arg);
  return expr_relabel(p, of, e->n, e->arg);
}

/* Whether every row has a score that is not -inf. */
static bool have_some(Pass *c, const Scores *s) {
  bool inner[LABELS_MOST];
  Facts f = {.label = s->a->bound, .n_label = s->a->rank};
  if (!s->m) return true;
  for (uint32_t d = 0; d < s->a->rank; d++) inner[d] = s->m->sum->body->arg[d]->i >= s->m->sum->n_out;
  return !(s->where->has & HAS_TURN) && prove_nonempty(pool(c), &f, inner, s->where).verdict == PROVED;
}

/* Whether loops over scores begin or end where the condition says; conditions on quotients are ranges, too. */
static bool has_ends(Pass *c, const Scores *s) {
  const Expr *part[CONDITIONS_MOST], *where = s->where;
  const EinNode *a = s->a;
  Facts f = {.label = a->bound, .n_label = a->rank};
  uint32_t n = 0;
  for (uint32_t d = 0; d < a->rank; d++) where = range_of_quotients(pool(c), &f, where, d, a->bound[d]);
  EinSum all = {.n_red = a->rank, .reducer = RED_MAX, .where = where, .body = s->value};
  if (!op_parts(c->scratch, where, OP_AND, CONDITIONS_MOST, part, &n)) return false;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t d = 0; d < a->rank; d++)
      if (reach_ends(pool(c), &all, a->bound, part[i], d)) return true;
  return false;
}

/* Whether at most three quarters of the scores are left, and they are many. */
static bool is_worth(Pass *c, const Scores *s) {
  int64_t zero[LABELS_MOST] = {0}, extent[LABELS_MOST];
  uint32_t budget = BOXES_USUAL;
  double all = points_of(s->a);
  for (uint32_t d = 0; d < s->a->rank; d++) extent[d] = (int64_t)extent_guess(s->a->bound[d]);
  if (all < (double)POINTS_LEAST || !has_ends(c, s)) return false;
  return 4 * boxes_points(s->a->rank, zero, extent, 1, &s->where, &budget) <= 3 * all;
}

/* Whether e is exp(a - m), or exp(a), of such a maximum. */
static bool exponential_find(Scores *s, const EinNode *e) {
  const Expr *of = e->sum->body;
  if (!is_plain(e, RED_NONE) || !is_op(of, OP_EXP) || (e->dtype != DT_F32 && e->dtype != DT_F64)) return false;
  of = of->arg[0];
  s->e = e;
  s->of_a = is_op(of, OP_SUB) ? of->arg[0] : of;
  s->of_m = is_op(of, OP_SUB) ? of->arg[1] : NULL;
  if (!reads_labels(s->of_a) || s->of_a->n != e->rank || (s->of_m && !reads_labels(s->of_m))) return false;
  s->a = e->input[s->of_a->i];
  s->m = s->of_m ? e->input[s->of_m->i] : NULL;
  return is_plain(s->a, RED_NONE) && (!s->m || is_plain(s->m, RED_MAX)) && s->a->dtype == e->dtype;
}

/* Whether m is the maximum of a's rows, each for the exponentials of its own row. */
static bool is_maximum(const Scores *s) {
  const EinNode *m = s->m;
  const Expr *of = m->sum->body;
  if (m->sum->where || !reads_labels(of) || m->input[of->i] != s->a || of->n != m->rank + m->sum->n_red) return false;
  for (uint32_t d = 0; d < of->n; d++)
    if (of->arg[d]->i < (int64_t)m->rank && s->of_m->arg[of->arg[d]->i] != s->of_a->arg[d]) return false;
  return m->dtype == s->a->dtype;
}

static bool only_read_by(const Pass *c, const EinNode *n, const EinNode *a, const EinNode *b) {
  const Nodes *by = &c->readers[n->id];
  for (uint32_t i = 0; i < by->len; i++)
    if (by->at[i] != a && by->at[i] != b) return false;
  return !c->shown[n->id] && n->region == a->region;
}

/* What the factors of the sum beside the exponential are at most, together; *of: the read of that. NULL: it is no such
 * sum. */
static const Expr *factors_bound(Pass *c, Scores *s, const EinNode *n, const Expr **of) {
  const Expr *factor[FACTORS_MOST], *all = real(c, s, 1), *one;
  uint32_t n_factor = 0;
  *of = NULL;
  if (!is_plain(n, RED_SUM) || n->sum->where || n->region != s->e->region || n->dtype != s->e->dtype) return NULL;
  if (!op_parts(c->scratch, n->sum->body, OP_MUL, FACTORS_MOST, factor, &n_factor)) return NULL;
  for (uint32_t i = 0; i < n_factor; i++) {
    if (factor[i]->kind == EX_READ && n->input[factor[i]->i] == s->e) {
      if (*of || !reads_labels(factor[i])) return NULL;
      *of = factor[i];
    } else if ((one = bound_of(c, s, n, factor[i]))) {
      all = expr_op2(pool(c), OP_MUL, all, one);
    } else return NULL;
  }
  return *of ? all : NULL;
}

static const Expr *is_small(Pass *c, const Scores *s, const Expr *bound) {
  return expr_op2(pool(c), OP_LT, bound, real(c, s, type_of(s) == DT_F64 ? GREAT_F64 : GREAT_F32));
}

/* Whether all that reads the exponentials sums them, with bounded factors; adds to `fine`. */
static bool sums_find(Pass *c, Scores *s) {
  const Nodes *by = &c->readers[s->e->id];
  const Expr *of;
  if (!by->len || by->len > SUMS_MOST || c->shown[s->e->id]) return false;
  for (uint32_t i = 0; i < by->len; i++) {
    const Expr *bound = factors_bound(c, s, by->at[i], &of);
    if (!bound) return false;
    if (bound->kind != EX_REAL) s->fine = expr_and(pool(c), s->fine, is_small(c, s, bound));
  }
  return true;
}

static void scores_find(Pass *c, const EinNode *e) {
  Scores s = {0};
  if (!exponential_find(&s, e)) return;
  if (!only_read_by(c, s.a, s.e, s.m ? s.m : s.e)) return;
  if (s.m && (!is_maximum(&s) || !only_read_by(c, s.m, s.e, s.e))) return;
  s.value = score_part(c, s.a, s.a->sum->body, &s.where);
  if (!s.where || s.where->has & (HAS_READ | HAS_CALL) || expr_can_fail(s.value)) return;
  const Expr *bound = bound_of(c, &s, s.a, s.value);
  if (!bound) return;
  s.fine = is_small(c, &s, bound);
  if (!sums_find(c, &s) || !is_worth(c, &s) || !have_some(c, &s)) return;
  Scores *kept = arena_copy(c->scratch, &s, sizeof s);
  const Nodes *by = &c->readers[e->id];
  for (uint32_t i = 0; i < by->len; i++) c->of[by->at[i]->id] = kept;
}

/* Choices outside of a program's repeats stay choices (pass_branches.c), of which both would be made. */
static void region_find(Pass *c, const EinRegion *r) {
  bool may = r->repeat || !graph_repeats(c->b.old);
  vec_each_of(const EinNode, n, r->nodes) {
    if (may && n->kind == EIN_VERTEX) scores_find(c, n);
    if (n->kind == EIN_REPEAT) region_find(c, n->body);
  }
}

/* ---- the vertices -------------------------------------------------------------------------------------------- */

/* Like n, of another sum over the same labels; was is now `is`. */
static EinNode *part_like(Pass *c, EinRegion *r, const EinNode *n, EinSum s, const EinNode *const *was,
                          EinNode *const *is) {
  EinNode **input = NEW_ARRAY(c->b.arena, EinNode *, s.n_slot + 1);
  for (uint32_t k = 0; k < s.n_slot; k++) {
    input[k] = rebuild_to(&c->b, n->input[k]);
    for (uint32_t j = 0; was && was[j]; j++)
      if (n->input[k] == was[j]) input[k] = is[j];
  }
  EinNode *made = rebuild_part(&c->b, r, n, &s, n->bound, n->label, input);
  made->name = n->name;
  return made;
}

/* The largest element of a tensor. */
static EinNode *leaf_make(Pass *c, EinRegion *r, const Scores *s, const EinNode *x) {
  Exprs *p = pool(c);
  const Expr **at = NEW_ARRAY(c->scratch, const Expr *, x->rank + 1);
  Str *label = NEW_ARRAY(c->scratch, Str, x->rank + 1);
  for (uint32_t d = 0; d < x->rank; d++)
    at[d] = expr_label(p, d), label[d] = strings_printf(c->b.g->strings, "i%u", d + 1);
  EinSum sum = {.n_red = x->rank, .reducer = x->rank ? RED_MAX : RED_NONE, .n_slot = 1, .acc = type_of(s)};
  sum.dtype = sum.acc;
  sum.body = expr_op1(p, OP_ABS, expr_cast(p, sum.acc, expr_read(p, x->dtype, 0, x->rank, at)));
  EinNode *of = rebuild_to(&c->b, x);
  return rebuild_part(&c->b, r, s->e, &sum, x->dim, label, &of);
}

static EinNode *fine_make(Pass *c, EinRegion *r, const Scores *s) {
  EinNode *leaf[LEAVES_MOST];
  for (uint32_t k = 0; k < s->n_leaf; k++) leaf[k] = leaf_make(c, r, s, s->leaf[k]);
  EinSum sum = {.n_slot = s->n_leaf, .acc = DT_BOOL, .dtype = DT_BOOL, .body = s->fine};
  return rebuild_part(&c->b, r, s->e, &sum, NULL, NULL, leaf);
}

/* The condition at the indices of a read of scores. */
static const Expr *where_at(Pass *c, const Scores *s, const Expr *read) {
  return expr_relabel(pool(c), s->where, read->n, read->arg);
}

/* Makes the exponentials where scores are not -inf. */
static void exponentials_make(Pass *c, EinRegion *r, Scores *s) {
  EinSum sum = *s->a->sum;
  sum.body = s->value;
  const EinNode *was[] = {s->a, s->m, NULL};
  EinNode *is[] = {part_like(c, r, s->a, sum, NULL, NULL), NULL};
  if (s->m) {
    sum = *s->m->sum;
    sum.where = where_at(c, s, sum.body);
    is[1] = part_like(c, r, s->m, sum, was, is);
  }
  sum = *s->e->sum;
  sum.domain = where_at(c, s, s->of_a);
  s->made = part_like(c, r, s->e, sum, was, is);
  s->is_fine = fine_make(c, r, s);
}

/* Where the exponentials that a sum reads are of scores that are not -inf. */
static const Expr *where_in_sum(Pass *c, const Scores *s, const EinNode *n) {
  const Expr *to[LABELS_MOST] = {0}, *of;
  ExprNodes nodes = expr_nodes(c->scratch, n->sum->body, HAS_READ);
  while ((of = expr_node(&nodes)) && (of->kind != EX_READ || n->input[of->i] != s->e)) {}
  for (uint32_t d = 0; of && d < s->of_a->n; d++) to[d] = of->arg[s->of_a->arg[d]->i];
  return expr_relabel(pool(c), s->where, s->of_a->n, to);
}

static EinNode *choice_make(Pass *c, EinRegion *r, const EinNode *n, Scores *s) {
  Exprs *p = pool(c);
  if (!s->made) exponentials_make(c, r, s);
  const EinNode *was[] = {s->e, NULL};
  EinSum some = *n->sum, sum = {.n_out = n->rank, .n_slot = 3, .acc = n->dtype, .dtype = n->dtype};
  some.where = where_in_sum(c, s, n);
  EinNode *input[] = {s->is_fine, part_like(c, r, n, some, was, &s->made), part_like(c, r, n, *n->sum, NULL, NULL)};
  const Expr **at = exprs_labels(c->scratch, p, n->rank);
  const Expr *fine = expr_read(p, DT_BOOL, 0, 0, NULL);
  sum.body = expr_select(p, fine, expr_read(p, n->dtype, 1, n->rank, at), expr_read(p, n->dtype, 2, n->rank, at));
  rebuild_note(&c->b, "sums over what is not -inf", n->place);
  return rebuild_vertex(&c->b, r, n, &sum, n->bound, n->label, input);
}

/* ---- the pass ------------------------------------------------------------------------------------------------ */

static EinNode *chosen(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Pass *c = env;
  return c->of[n->id] ? choice_make(c, r, n, c->of[n->id]) : rebuild_copy(b, r, n);
}

EinGraph *graph_scores(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = chosen};
  Pass c = {.b = {.arena = a, .old = g, .pass = "scores", .notes = notes}, .scratch = arena_new()};
  c.readers = NEW_ARRAY(c.scratch, Nodes, g->n_nodes + 1);
  c.of = NEW_ARRAY(c.scratch, Scores *, g->n_nodes + 1);
  c.shown = nodes_shown(c.scratch, g);
  readers_find(&c, g->top);
  region_find(&c, g->top);
  return rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
}
