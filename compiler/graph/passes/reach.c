/* graph/passes/reach.c - estimates how many points a predicate leaves to a reduction: see reach.h. */
#include "reach.h"

#include <math.h>

#include "contract/contract.h"

enum {
  PARTS_MOST = 32,           /* conjuncts */
  FEWER = 4,                 /* a range that moves and has more than one of that many points counts as all */
  WIDTH = 16,                /* assumed, of a range between two ends that are not known */
  GATE = 16                  /* one of that many results is assumed to satisfy a condition on results alone */
};

typedef struct Of {          /* a reduction */
  Arena *scratch;
  Exprs *p;
  const EinSum *sum;
  const Expr *const *bound;
  uint32_t labels;
} Of;

static uint64_t out_of(const Of *c) { return labels_below(c->sum->n_out); }
static uint64_t red_of(const Of *c) { return labels_below(c->labels) & ~out_of(c); }
static const Expr *integer(const Of *c, int64_t v) { return expr_int(c->p, DT_I64, v); }

bool compares_label(const Expr *e, const Expr *label) {
  return e->kind == EX_OP && (e->arg[0] == label) != (e->arg[1] == label);
}

typedef struct Reach {
  uint64_t moves;            /* labels with which its ends move, by data too */
  const Expr *end[2];        /* its lower and upper end; NULL: none */
  bool stays;                /* its two ends move together, but not far: its width is that of most results */
  double width;
} Reach;

static bool has_part(const Expr *e, const Expr *part) {
  if (e == part) return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (has_part(e->arg[k], part)) return true;
  return false;
}

/* Whether e has a dim that is one of the extent's. */
static bool is_of_size(const Expr *e, const Expr *size) {
  if (e->kind == EX_DIM) return has_part(size, e);
  for (uint32_t k = 0; k < e->n; k++)
    if (is_of_size(e->arg[k], size)) return true;
  return false;
}

/* The points of label l between two ends: a number, or a guess, for which other sizes are smaller than the label's. */
static double width_of(const Of *c, const Expr *from, const Expr *to, uint32_t l) {
  const Expr *size = c->bound[l], *w = expr_normal(c->p, expr_op2(c->p, OP_SUB, to, from));
  double all = extent_guess(size), width = w->kind == EX_INT ? (double)w->i + 1 : (double)WIDTH;
  if (w->kind != EX_INT && is_of_size(w, size)) return all;
  return width < 1 ? 1 : width < all ? width : all;
}

/* The end for the result's labels that admit most points; NULL: unknown. */
static const Expr *loosest(const Of *c, bool upper, const Expr *end) {
  Exprs *p = c->p;
  const Expr *to[ORDER_LABELS] = {0};
  int64_t slope;
  for (uint32_t l = 0; l < c->sum->n_out; l++) {
    if (!(end->labels >> l & 1)) continue;
    if (!expr_slope(end, l, &slope)) return NULL;
    to[l] = (slope > 0) == upper ? expr_op2(p, OP_SUB, c->bound[l], integer(c, 1)) : integer(c, 0);
  }
  return expr_relabel(p, end, c->labels, to);
}

/* How far an end moves from result to result. */
static double travel_of(const Of *c, const Expr *end) {
  double far = 0;
  int64_t slope;
  for (uint32_t l = 0; l < c->sum->n_out; l++) {
    if (!(end->labels >> l & 1)) continue;
    if (!expr_slope(end, l, &slope)) return INFINITY;
    far += fabs((double)slope) * extent_guess(c->bound[l]);
  }
  return far;
}

static void reach_end(const Of *c, Reach *r, bool upper, const Expr *end, uint32_t l) {
  const Expr *facing = r->end[!upper];
  uint64_t moves = end->labels & out_of(c);
  const Expr *least = loosest(c, upper, end);
  double width = extent_guess(c->bound[l]);
  if (least) width = upper ? width_of(c, integer(c, 0), least, l) : width_of(c, least, c->bound[l], l);
  if (moves && width * (double)FEWER > extent_guess(c->bound[l])) width = extent_guess(c->bound[l]);
  if (width < r->width) r->width = width;
  if (facing && facing->labels == end->labels) {
    width = upper ? width_of(c, facing, end, l) : width_of(c, end, facing, l);
    if (width < r->width) r->width = width;
    r->stays = travel_of(c, end) * (double)FEWER <= extent_guess(c->bound[l]);
  }
  if (moves || !r->end[upper]) r->end[upper] = end;
  r->moves |= moves;
}

/* An equation determines the label, or the class of its points; body: labels of what else is asked of a point, and of
 * its value. */
static bool reach_equal(const Of *c, Reach *r, const Expr *x, const Expr *y, uint32_t l, uint64_t body) {
  int64_t slope;
  if ((y->labels >> l & 1) || !(x->labels >> l & 1)) return false;
  bool point = x->kind == EX_LABEL || (expr_slope(x, l, &slope) && slope);
  if (point || (!(x->labels & out_of(c)) && !(y->labels & (red_of(c) | body)))) r->width = 1;
  return true;
}

/* Takes one conjunct for one label; false: it is only tested. */
static bool reach_take(const Of *c, Reach *r, const Expr *e, uint32_t l, uint64_t body) {
  Exprs *p = c->p;
  const Expr *label = expr_label(p, l), *by;
  int64_t strict, way;
  if (e->kind != EX_OP || e->n != 2 || op_info[e->op].rule != RULE_COMPARE || e->arg[0]->dtype != DT_I64) return false;
  if (e->op == OP_EQ)
    return reach_equal(c, r, e->arg[0], e->arg[1], l, body) || reach_equal(c, r, e->arg[1], e->arg[0], l, body);
  if (e->op == OP_NE) return false;
  if ((way = bound_of_label(p, e, label, &by, &strict))) {
    const Expr *end = way > 0 ? expr_op2(p, OP_SUB, label, by) : expr_op2(p, OP_ADD, label, by);
    return reach_end(c, r, way > 0, expr_normal(p, end), l), true;
  }
  if (!compares_label(e, label) || ((e->arg[0]->labels & e->arg[1]->labels) >> l & 1)) return false;
  bool first = e->arg[0] == label, less = e->op == OP_LT || e->op == OP_LE;
  return reach_end(c, r, first == less, e->arg[first], l), true;
}

/* The labels of the body; factors without a reduced label leave the sum later. */
static uint64_t body_labels(const Of *c) {
  const Expr *factor[PARTS_MOST];
  uint64_t labels = 0;
  uint32_t n;
  Op op;
  if (!product_op(c->sum, &op) || !op_parts(c->scratch, c->sum->body, op, PARTS_MOST, factor, &n))
    return c->sum->body->labels;
  for (uint32_t i = 0; i < n; i++) labels |= factor[i]->labels & red_of(c) ? factor[i]->labels : 0;
  return labels;
}

/* About how many points a label has where all conjuncts hold. */
static double reach_of(const Of *c, const Expr *const *part, uint32_t n, uint32_t l) {
  double all = extent_guess(c->bound[l]);
  uint64_t body = body_labels(c);
  Reach r = {.width = all}, none = r;
  for (uint32_t i = 0; i < n; i++)
    if (part[i]->labels & red_of(c) && !reach_take(c, &none, part[i], l, 0)) body |= part[i]->labels;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t others = body;
    for (uint32_t k = 0; k < n; k++) others |= k == i ? 0 : part[k]->labels;
    if (part[i]->labels >> l & 1) reach_take(c, &r, part[i], l, others);
  }
  if (!r.moves || r.stays || r.width < all) return r.width;
  if (!(r.moves & body) && !(r.end[0] && r.end[1])) return 1; /* a running reduction, or one for each bound */
  return r.end[0] && r.end[1] && r.end[0]->labels & r.end[1]->labels & out_of(c) ? (double)WIDTH : all / 2;
}

double reach_points(Arena *scratch, Exprs *p, const EinSum *s, const Expr *const *bound) {
  const Of c = {scratch, p, s, bound, s->n_out + s->n_red};
  const Expr *part[PARTS_MOST];
  uint32_t n = 0;
  double points = 1;
  if (s->where && !op_parts(scratch, s->where, OP_AND, PARTS_MOST, part, &n)) n = 0;
  for (uint32_t l = s->n_out; l < c.labels; l++) points *= reach_of(&c, part, n, l);
  for (uint32_t i = 0; i < n; i++)
    if (part[i]->labels && !(part[i]->labels & red_of(&c))) points /= (double)GATE;
  return points;
}

bool reach_ends(Exprs *p, const EinSum *s, const Expr *const *bound, const Expr *e, uint32_t l) {
  const Of c = {NULL, p, s, bound, s->n_out + s->n_red};
  Reach r = {.width = 1};
  return !is_op(e, OP_EQ) && reach_take(&c, &r, e, l, 0);
}
