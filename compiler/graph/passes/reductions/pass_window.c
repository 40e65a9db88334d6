/* graph/passes/reductions/pass_window.c - turns a band, such as j - 7 <= b and b <= j + 7, into a window that moves
 * with j: its points are counted from its lower end, b = j - 7 + k with k < 15, and beyond the tensor's end, if it
 * gets there, it has the reducer's identity. Then all results have the same number of points, and lanes go along j;
 * this requires that reads have j in their last index only, so that their elements are contiguous, or that no window
 * reaches beyond the tensor's end. Of products of matrices, only those with a narrow band become such sums: there,
 * copies for tiles would cost more than the products.
 *
 * On many sites a window is what a block reads of an operand, so there all bands become windows (graph_bands),
 * except those over what is computed for these two labels together: a kernel that computes it as it is read leaves
 * out what is not in the band, and would not find that in a window. */
#include "graph/passes/contract/contract.h"

enum { CONJUNCTS_MOST = 32 };

typedef struct Band {
  const EinNode *n;
  const Expr *low;           /* the first point of the label, over output labels; */
  int64_t width;             /*   and how many there are */
  uint32_t upper, lower;     /* the conjuncts that say so */
  uint64_t along;            /* the output label in `low` */
} Band;

/* ---- comparisons ----------------------------------------------------------------------------- */

int64_t bound_of_label(Exprs *p, const Expr *e, const Expr *label, const Expr **by, int64_t *strict) {
  if (e->kind != EX_OP || e->op < OP_LT || e->op > OP_GE || e->arg[0]->dtype != DT_I64 || e->has & HAS_READ) return 0;
  bool less = e->op == OP_LT || e->op == OP_LE;
  *strict = e->op == OP_LT || e->op == OP_GT;
  *by = expr_normal(p, expr_op2(p, OP_SUB, e->arg[less ? 0 : 1], e->arg[less ? 1 : 0]));
  if (!(expr_normal(p, expr_op2(p, OP_SUB, *by, label))->labels & label->labels)) return 1;
  return expr_normal(p, expr_op2(p, OP_ADD, *by, label))->labels & label->labels ? 0 : -1;
}

bool op_parts(Arena *a, const Expr *e, Op op, uint32_t most, const Expr **part, uint32_t *n) {
  VEC(const Expr *) stack = {0};
  *n = 0;
  vec_push(a, stack, e);
  while (stack.len) {
    const Expr *x = vec_pop(stack);
    if (x->kind == EX_OP && x->op == op) {
      vec_push(a, stack, x->arg[1]);
      vec_push(a, stack, x->arg[0]);
    } else if (*n == most) {
      return false;
    } else {
      part[(*n)++] = x;
    }
  }
  return true;
}

/* ---- bands ----------------------------------------------------------------------------------- */

/* The single output label with which the lower end moves, by the same number at each step. */
static bool goes_along(Band *d) {
  int64_t step;
  d->along = d->low->labels;
  if (d->low->has & (HAS_READ | HAS_TURN) || !d->along || d->along & (d->along - 1)) return false;
  if (d->along >> d->n->sum->n_out) return false;
  for (uint32_t k = 0; k < d->n->sum->n_out; k++)
    if (d->along >> k & 1) return expr_slope(d->low, k, &step) && step != 0;
  return false;
}

/* Finds the narrowest pair of bounds of label `red` with a constant distance. */
static bool band_find(Exprs *p, const EinNode *n, const Expr *const *part, uint32_t parts, uint32_t red, Band *best) {
  const Expr *label = expr_label(p, red), *by[CONJUNCTS_MOST];
  int64_t way[CONJUNCTS_MOST], strict[CONJUNCTS_MOST];
  *best = (Band){.n = n, .width = INT64_MAX};
  for (uint32_t i = 0; i < parts; i++) {
    if (part[i]->labels & label->labels && part[i]->has & HAS_READ) return false;
    way[i] = bound_of_label(p, part[i], label, &by[i], &strict[i]);
  }
  for (uint32_t i = 0; i < parts; i++)
    for (uint32_t k = 0; k < parts; k++) {
      if (way[i] != 1 || way[k] != -1) continue;
      const Expr *far = expr_normal(p, expr_op2(p, OP_ADD, by[i], by[k]));
      if (far->kind != EX_INT || far->i < -INT32_MAX || far->i > 0) continue;
      Band d = *best;
      d.width = 1 - far->i - strict[i] - strict[k];
      d.upper = i, d.lower = k;
      d.low = expr_normal(p, expr_op2(p, OP_ADD, expr_op2(p, OP_ADD, by[k], label), expr_int(p, DT_I64, strict[k])));
      if (d.width > 0 && d.width < best->width && goes_along(&d)) *best = d;
    }
  const Expr *size = n->bound[red];
  return best->width < INT64_MAX && (size->kind != EX_INT || best->width <= size->i / 2);
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* Whether a read has the label in its last index, and none has it elsewhere. */
static bool lies_along(Arena *scratch, const Expr *body, uint64_t label) {
  bool some = false;
  ExprNodes reads = expr_nodes(scratch, body, HAS_READ);
  for (const Expr *x; (x = expr_next_read(&reads));) {
    for (uint32_t k = 0; k < x->n; k++) {
      const Expr *e = x->arg[k];
      if (!(e->labels & label)) continue;
      if (k + 1 < x->n || e->has & HAS_READ) return false;
      some = true;
    }
  }
  return some;
}

bool band_is_product(Arena *scratch, const EinSum *s, uint64_t label, uint64_t along) {
  uint64_t both = ~(uint64_t)0, other = 0, out = ((uint64_t)1 << s->n_out) - 1;
  ExprNodes reads = expr_nodes(scratch, s->body, HAS_READ);
  for (const Expr *x; (x = expr_next_read(&reads));) {
    if (!(x->labels & label)) continue;
    for (uint32_t k = 0; k < x->n; k++)
      if (x->arg[k]->labels & label && x->arg[k]->labels & along) return false;
    if (x->labels & along) both &= x->labels;
    else other |= x->labels & out;
  }
  return both != ~(uint64_t)0 && other & ~both;
}

/* Whether no read of a computed vertex has both labels. */
static bool stays_apart(Arena *scratch, const EinNode *n, const Expr *body, uint64_t label, uint64_t along) {
  ExprNodes nodes = expr_nodes(scratch, body, HAS_READ);
  for (const Expr *x; (x = expr_node(&nodes));) {
    uint64_t in = 0;
    for (uint32_t k = 0; x->kind == EX_READ && k < x->n; k++) in |= x->arg[k]->labels;
    if (in & label && in & along && n->input[x->i]->kind == EIN_VERTEX) return false;
  }
  return true;
}

static const Expr *read_normal(void *env, Exprs *p, const Expr *leaf) {
  const Expr **index = env;
  if (leaf->kind != EX_READ) return leaf;
  for (uint32_t k = 0; k < leaf->n; k++)
    index[k] = leaf->arg[k]->has & HAS_READ ? leaf->arg[k] : expr_normal(p, leaf->arg[k]);
  return expr_read(p, (DType)leaf->dtype, leaf->i, leaf->n, index);
}

const Expr *expr_reads_normal(Arena *scratch, Exprs *p, const Expr *e) {
  return expr_map(p, e, read_normal, NEW_ARRAY(scratch, const Expr *, GRAPH_OUT + 1));
}

/* ---- the pass -------------------------------------------------------------------------------- */

typedef struct Windows {
  Rebuild b;
  Arena *scratch;
  bool sites;                /* for many sites */
} Windows;

/* c after the conditions under which e is not the identity. */
static const Expr *behind(Exprs *p, const EinSum *s, const Expr *c, const Expr *e) {
  const Expr *identity = reducer_identity(p, s);
  bool again = e->kind == EX_OP && e->op == OP_SELECT && e->arg[2] == identity;
  return again ? expr_select(p, expr_and(p, e->arg[0], c), e->arg[1], identity) : expr_select(p, c, e, identity);
}

/* Whether c holds at all points of these extents. */
static bool always(Exprs *p, const EinSum *s, const Expr *const *bound, const Expr *c) {
  Facts f = {.label = bound, .n_label = s->n_out + s->n_red, .hold = &s->domain, .n_hold = s->domain ? 1 : 0};
  return prove(p, &f, c).verdict == PROVED;
}

/* Replaces s and the label's bound by a window's; or returns false. others: lanes go along another window. */
static bool window_put(Windows *w, const EinNode *n, EinSum *s, const Expr **bound, uint32_t red, bool others) {
  Exprs *p = w->b.old->exprs;
  const Expr *part[CONJUNCTS_MOST], *where = NULL, *zero = expr_int(p, DT_I64, 0);
  const Expr **to = NEW_ARRAY(w->scratch, const Expr *, red + 1);
  uint32_t parts;
  Band d;
  if (!s->where || !op_parts(w->scratch, s->where, OP_AND, CONJUNCTS_MOST, part, &parts)) return false;
  if (!band_find(p, n, part, parts, red, &d)) return false;
  if (w->sites && !stays_apart(w->scratch, n, s->body, expr_label(p, red)->labels, d.along)) return false;
  const Expr *point = expr_normal(p, expr_op2(p, OP_ADD, d.low, expr_label(p, red)));
  to[red] = point;
  const Expr *body = expr_reads_normal(w->scratch, p, expr_relabel(p, s->body, red + 1, to));
  const Expr *end[] = {expr_op2(p, OP_LE, zero, point), expr_op2(p, OP_LT, point, n->bound[red])}, *inside = NULL;
  const Expr *was = bound[red];
  bound[red] = expr_int(p, DT_I64, d.width);
  for (uint32_t i = 0; i < COUNT(end); i++)
    if (!always(p, s, bound, end[i])) inside = expr_and(p, inside, end[i]);
  bool product = band_is_product(w->scratch, s, expr_label(p, red)->labels, d.along),
       better = product ? d.width < BAND_WIDE : !inside || lies_along(w->scratch, body, d.along);
  if (!others && !w->sites && !better) {
    bound[red] = was;
    return false;
  }
  for (uint32_t i = 0; i < parts; i++)
    if (i != d.upper && i != d.lower) where = expr_and(p, where, expr_relabel(p, part[i], red + 1, to));
  s->body = inside ? behind(p, s, inside, body) : body;
  s->where = where;
  return true;
}

static EinNode *windowed(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Windows *w = env;
  EinSum s = *n->sum;
  uint32_t labels = s.n_out + s.n_red;
  bool made = false;
  if (!s.where || labels > ORDER_LABELS || reducer_is_arg(s.reducer))
    return rebuild_copy(b, r, n);
  const Expr **bound = COPY_ARRAY(b->arena, const Expr *, n->bound, labels, labels + 1);
  for (uint32_t k = s.n_out; k < labels; k++) made |= window_put(w, n, &s, bound, k, false);
  if (!made) return rebuild_copy(b, r, n);
  for (uint32_t k = s.n_out; k < labels; k++) window_put(w, n, &s, bound, k, true);
  EinNode **input = rebuild_inputs(b, n, 0);
  rebuild_note(b, "bands as windows", n->place);
  return rebuild_vertex(b, r, n, &s, bound, n->label, input);
}

static EinGraph *windows_made(Arena *a, const EinGraph *g, PassNotes *notes, bool sites) {
  static const RebuildRules rules = {.vertex = windowed};
  Windows w = {.b = {.arena = a, .old = g, .pass = "window", .notes = notes}, .scratch = arena_new(), .sites = sites};
  return rebuild_free(&w.b, a, g, &rules, &w, w.scratch);
}

EinGraph *graph_window(Arena *a, const EinGraph *g, PassNotes *notes) {
  return windows_made(a, g, notes, false);
}

EinGraph *graph_bands(Arena *a, const EinGraph *g) {
  return windows_made(a, g, NULL, true);
}
