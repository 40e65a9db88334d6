/* tests/kernel/aims.c - what a program is aimed at: contractions of two sides (schedule/cpu/panels/panels.c),
 * reductions of any kind (schedule/cpu/sums/tile.c, _dot.c, _reduce.c, _lanes.c), long ones of either kind
 * (task/passes/split.c); and chains of them. */
#include <math.h>
#include <string.h>

#include "kernels.h"

/* ---- contractions ------------------------------------------------------------------------------------- */

typedef struct Contraction {
  Case *c;
  uint32_t n_rows, n_lanes, n_common, n_red, n_out;
  Lab *rows[4], *lanes[4], *common[3], *red[3], *out[11], *all[14];
  bool rounded, plain, odd;  /* odd: floats with infinities and NaN, of which an extreme is taken */
} Contraction;

static uint32_t some(Case *c, uint32_t from, uint32_t most) { /* mostly few */
  uint32_t n = from;
  while (n < most && chance(&c->rng, 35)) n++;
  return n;
}

static void labs_make(Case *c, uint32_t n, Lab **lab, bool large) {
  for (uint32_t k = 0; k < n; k++) lab[k] = lab_new(c, size_any(c));
  while (n && large && labs_points(n, lab) < 32 && labs_points(n, lab) > 0) {
    Size *s = lab[below(&c->rng, n)]->size;
    s->value = s->value * 2 + 1;
    s->other = s->open ? s->other : s->value;
  }
}

static void labels_make(Contraction *t, bool large) {
  Case *c = t->c;
  uint32_t n = 0;
  t->n_rows = some(c, 1, 4), t->n_lanes = some(c, 1, 4), t->n_common = some(c, 0, 3), t->n_red = some(c, 1, 3);
  labs_make(c, t->n_rows, t->rows, large);
  labs_make(c, t->n_lanes, t->lanes, large);
  labs_make(c, t->n_common, t->common, false);
  labs_make(c, t->n_red, t->red, large);
  if (chance(&c->rng, 18)) t->red[below(&c->rng, t->n_red)]->size = size_deep(c);
  /* of one size: labels may be told apart by place alone */
  if (chance(&c->rng, 8)) t->lanes[0]->size = t->rows[0]->size;
  for (uint32_t k = 0; k < t->n_common; k++) t->out[n++] = t->common[k];
  for (uint32_t k = 0; k < t->n_rows; k++) t->out[n++] = t->rows[k];
  for (uint32_t k = 0; k < t->n_lanes; k++) t->out[n++] = t->lanes[k];
  t->n_out = n;
  memcpy(t->all, t->out, sizeof t->out);
  for (uint32_t k = 0; k < t->n_red; k++) t->all[n++] = t->red[k];
  labs_fit(c, t->n_common, t->common, 40);
  labs_fit(c, n, t->all, c->points);
  labs_mix(c, t->n_out, t->out);
}

/* One side: its own labels, and common and reduced ones that the other may lack. */
static Term *side(Contraction *t, DType type, Values v, uint32_t n_own, Lab *const *own, uint32_t lacks) {
  Case *c = t->c;
  Lab *lab[LABELS_MOST];
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->n_common; k++)
    if (!chance(&c->rng, lacks)) lab[n++] = t->common[k];
  for (uint32_t k = 0; k < n_own; k++) lab[n++] = own[k];
  for (uint32_t k = 0; k < t->n_red; k++)
    if (!chance(&c->rng, lacks)) lab[n++] = t->red[k];
  Term *x = operand(c, type, v, n, lab, t->plain);
  return chance(&c->rng, 45) ? computed(c, x, n, lab, t->rounded) : x;
}

static Term *odd_side(Contraction *t, DType type, Values v, uint32_t n_own, Lab *const *own) {
  Case *c = t->c;
  Lab *lab[LABELS_MOST];
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->n_common; k++) lab[n++] = t->common[k];
  for (uint32_t k = 0; k < n_own; k++) lab[n++] = own[k];
  for (uint32_t k = 0; k < t->n_red; k++) lab[n++] = t->red[k];
  Term *x = operand(c, type, v, n, lab, t->plain);
  return chance(&c->rng, 20) ? term_neg(c, x) : x;
}

static Term *distance(Case *c, Term *a, Term *b) {
  Term *d = term_op(c, OP_SUB, a, b);
  return chance(&c->rng, 50) ? term_abs(c, d) : term_op(c, OP_MUL, d, d);
}

static Term *combine_bools(Contraction *t, Term *a, Term *b) {
  Case *c = t->c;
  switch (below(&c->rng, 5)) {
    case 0: return term_op(c, OP_OR, a, b);
    case 1: return term_op(c, OP_OR, a, term_not(c, b));
    case 2: return term_op(c, OP_NE, a, b);
    default: return term_op(c, OP_AND, a, b);
  }
}

static Term *combine(Contraction *t, Term *a, Term *b) {
  static const Op compare[] = {OP_LT, OP_LE, OP_EQ, OP_GE};
  Case *c = t->c;
  if (a->t == DT_BOOL && b->t == DT_BOOL) return combine_bools(t, a, b);
  a = term_number(c, a), b = term_number(c, b);
  switch (below(&c->rng, 20)) {
    case 0: case 1: case 2: return term_op(c, OP_ADD, a, b);
    case 3: case 4: return distance(c, a, b);
    case 5: return term_op(c, OP_MIN, a, b);
    case 6: return term_op(c, OP_MAX, a, b);
    case 7:
      return a->exact && b->exact ? term_op(c, compare[below(&c->rng, COUNT(compare))], a, b)
                                  : term_op(c, OP_MUL, a, b);
    case 8: return term_if(c, condition(c, t->n_out, t->out), term_op(c, OP_MUL, a, b), term_int(c, 0));
    case 9: return term_op(c, OP_MUL, term_op(c, OP_MUL, a, b), operand_some(c, a->t, t->n_red, t->red, 70));
    case 10: return term_op(c, OP_ADD, term_op(c, OP_MUL, a, b), operand_some(c, a->t, t->n_out, t->out, 50));
    case 11: return term_op(c, OP_MUL, term_op(c, OP_MUL, a, b), operand_some(c, b->t, t->n_out, t->out, 50));
    default: return term_op(c, OP_MUL, a, b);
  }
}

/* A narrow sum of products, widened first, as programs of small integers have it. */
static void types(Case *c, DType *a, DType *b) {
  *a = dtype_any(c);
  *b = chance(&c->rng, 70) ? *a : dtype_any(c);
}

static bool has_odd(const Term *x) {
  if (x->kind == TERM_READ && (x->tensor->values == ODD || x->tensor->values == VAST)) return true;
  for (uint32_t k = 0; k < x->n; k++)
    if (x->arg[k] && has_odd(x->arg[k])) return true;
  return false;
}

/* Infinities go through what only chooses. */
static const char *reducer_odd(Case *c, const Term *x) {
  static const char *const names[] = {"max", "min", "max", "min", "max", "min", "fmax", "fmin", "argmax", "argmin"};
  return names[below(&c->rng, x->exact ? COUNT(names) : 8)];
}

/* Nothing that a C compiler may fuse: what overflows in one way must do so in the other. */
static Term *combine_odd(Contraction *t, Term *a, Term *b) {
  Case *c = t->c;
  switch (below(&c->rng, 6)) {
    case 0: return term_op(c, OP_ADD, a, b);
    case 1: return term_op(c, OP_SUB, a, b);
    case 2: return term_abs(c, term_op(c, OP_SUB, a, b));
    case 3: return term_op(c, OP_MUL, term_op(c, OP_ADD, a, b), operand_some(c, a->t, t->n_red, t->red, 70));
    default: return term_op(c, OP_MUL, a, b);
  }
}

static Values values_odd(Case *c, DType t) { return chance(&c->rng, 50) && (t == DT_F32 || t == DT_F64) ? VAST : ODD; }

static Values values_for(Case *c) { return chance(&c->rng, 6) ? SIGNS : SMALL; }

/* Adds or subtracts one or two more products to `body`, as products of complex numbers do. */
static Term *products_more(Contraction *t, Term *body, DType ta, DType tb) {
  Case *c = t->c;
  for (uint32_t n = 1 + below(&c->rng, 2); n > 0; n--) {
    Term *a = side(t, ta, SMALL, t->n_rows, t->rows, 0), *b = side(t, tb, SMALL, t->n_lanes, t->lanes, 0);
    Term *more = term_op(c, OP_MUL, term_number(c, a), term_number(c, b));
    body = term_op(c, chance(&c->rng, 60) ? OP_ADD : OP_SUB, term_number(c, body), more);
  }
  return body;
}

static Term *contraction(Contraction *t) {
  Case *c = t->c;
  DType ta, tb;
  types(c, &ta, &tb);
  uint32_t lacks = chance(&c->rng, 15) ? 30 : 0;
  bool odd = t->odd;
  if (odd) tb = ta = dtype_is_float(ta) ? ta : DT_F32;
  Values va = odd ? values_odd(c, ta) : values_for(c),
         vb = odd && chance(&c->rng, 60) ? values_odd(c, tb) : values_for(c);
  Term *a = odd ? odd_side(t, ta, va, t->n_rows, t->rows) : side(t, ta, va, t->n_rows, t->rows, lacks);
  Term *b = odd ? odd_side(t, tb, vb, t->n_lanes, t->lanes) : side(t, tb, vb, t->n_lanes, t->lanes, lacks);
  if (chance(&c->rng, 50)) {
    Term *was = a;
    a = b, b = was;
  }
  Term *body = odd ? combine_odd(t, a, b) : combine(t, a, b);
  if (!odd && chance(&c->rng, 12)) body = products_more(t, body, ta, tb);
  Term *where = chance(&c->rng, odd ? 4 : 12) ? predicate(c, t->n_out, t->out, t->n_red, t->red) : NULL;
  bool chosen = has_odd(body) && dtype_is_float(body->t);
  const char *name = chosen ? reducer_odd(c, body) : reducer_for(c, &body, t->n_red, t->red);
  return term_reduce(c, name, t->n_red, t->red, where, body);
}

static void transposed(Case *c, Tensor *y, uint32_t n, Lab *const *left) {
  Lab *lab[LABELS_MOST];
  for (uint32_t k = 0; k < n; k++) lab[k] = left[k];
  labs_mix(c, n, lab);
  equation_add(c, n, lab, epilogue(c, tensor_at(c, y, left), n, lab), true);
}

static void aim_contract(Case *c) {
  Contraction t = {.c = c, .rounded = chance(&c->rng, 15), .plain = chance(&c->rng, 60), .odd = chance(&c->rng, 20)};
  if (t.odd) c->points = fmax(c->points, 60000);
  labels_make(&t, t.odd || chance(&c->rng, 80));
  Term *value = contraction(&t);
  bool odd = has_odd(value);
  if (!odd && chance(&c->rng, 40)) value = epilogue(c, value, t.n_out, t.out);
  bool more = !odd && chance(&c->rng, 15);
  Tensor *y = equation_add(c, t.n_out, t.out, value, !more || chance(&c->rng, 30));
  if (more) transposed(c, y, t.n_out, t.out);
}

static Lab *lab_of(Case *c, const int64_t *size, size_t n) {
  return lab_new(c, size_new(c, size[below(&c->rng, (uint32_t)n)]));
}

/* So long a sum for so few rows and lanes that it goes in parts (compiler/task/passes/sides.c). */
static void aim_parts(Case *c) {
  static const int64_t few[] = {17, 20, 24, 33, 64, 65}, lanes[] = {32, 33, 40, 64, 67},
                       deep[] = {4096, 4099, 5000, 5120, 6001};
  Contraction t = {
      .c = c, .rounded = chance(&c->rng, 10), .plain = chance(&c->rng, 80), .odd = chance(&c->rng, 10), .n_red = 1};
  t.rows[t.n_rows++] = lab_of(c, few, COUNT(few));
  t.lanes[t.n_lanes++] = lab_of(c, lanes, COUNT(lanes));
  t.red[0] = lab_of(c, deep, COUNT(deep));
  if (chance(&c->rng, 15)) t.red[t.n_red++] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  if (chance(&c->rng, 15)) t.common[t.n_common++] = lab_new(c, size_new(c, 1 + below(&c->rng, 2)));
  if (chance(&c->rng, 15)) t.lanes[t.n_lanes++] = lab_new(c, size_new(c, 1 + below(&c->rng, 2)));
  for (uint32_t k = 0; k < t.n_common; k++) t.out[t.n_out++] = t.common[k];
  for (uint32_t k = 0; k < t.n_rows; k++) t.out[t.n_out++] = t.rows[k];
  for (uint32_t k = 0; k < t.n_lanes; k++) t.out[t.n_out++] = t.lanes[k];
  labs_mix(c, t.n_red, t.red);
  if (chance(&c->rng, 30)) labs_mix(c, t.n_out, t.out);
  Term *value = contraction(&t);
  equation_add(
      c, t.n_out, t.out, !has_odd(value) && chance(&c->rng, 40) ? epilogue(c, value, t.n_out, t.out) : value, true);
}

/* Several labels of rows, lanes and the sum in any order, of unknown extents: matrices, where these pay. */
static void aim_matrices(Case *c) {
  static const int64_t some[] = {3, 4, 5, 7, 8, 12}, deep[] = {4, 5, 8, 12, 16};
  Contraction t = {.c = c, .plain = chance(&c->rng, 80), .n_rows = 1, .n_lanes = 1, .n_red = 1};
  c->opens = true;
  c->points = fmax(c->points, 600000);
  t.n_rows += chance(&c->rng, 60), t.n_lanes += chance(&c->rng, 60), t.n_red += chance(&c->rng, 60);
  t.n_common = chance(&c->rng, 30) + chance(&c->rng, 15);
  for (uint32_t k = 0; k < t.n_common; k++) t.common[k] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  for (uint32_t k = 0; k < t.n_common; k++) t.out[t.n_out++] = t.common[k];
  for (uint32_t k = 0; k < t.n_rows; k++) t.out[t.n_out++] = t.rows[k] = lab_of(c, some, COUNT(some));
  for (uint32_t k = 0; k < t.n_lanes; k++) t.out[t.n_out++] = t.lanes[k] = lab_of(c, some, COUNT(some));
  for (uint32_t k = 0; k < t.n_red; k++) t.red[k] = lab_of(c, deep, COUNT(deep));
  labs_mix(c, t.n_out, t.out);
  DType type = dtype_any(c);
  Term *x = side(&t, type, values_for(c), t.n_rows, t.rows, 0),
       *y = side(&t, chance(&c->rng, 80) ? type : dtype_any(c), values_for(c), t.n_lanes, t.lanes, 0);
  bool product = chance(&c->rng, 70);
  Term *body = product ? term_op(c, OP_MUL, x, y) : combine(&t, x, y);
  const char *name = product ? "sum" : reducer_for(c, &body, t.n_red, t.red);
  Term *value = term_reduce(c, name, t.n_red, t.red, NULL, body);
  equation_add(c, t.n_out, t.out, chance(&c->rng, 30) ? epilogue(c, value, t.n_out, t.out) : value, true);
}

/* What the lanes' side reads steps to the next element along another label than the result. */
static void aim_crossed(Case *c) {
  static const int64_t lanes[] = {16, 17, 24, 33, 52, 67}, other[] = {7, 8, 11, 16, 17, 20, 28, 40, 53, 67, 100},
                       few[] = {16, 17, 20, 24};
  Contraction t = {.c = c, .plain = true, .rounded = chance(&c->rng, 10), .n_rows = 1, .n_lanes = 2, .n_red = 1};
  Lab *lab[LABELS_MOST];
  uint32_t n = 0;
  c->points = fmax(c->points, 600000);
  t.lanes[0] = lab_of(c, lanes, COUNT(lanes)), t.lanes[1] = lab_of(c, other, COUNT(other)),
  t.rows[0] = lab_of(c, few, COUNT(few));
  t.red[0] = lab_of(c, chance(&c->rng, 15) ? lanes : few, COUNT(few));
  if (chance(&c->rng, 30)) t.lanes[t.n_lanes++] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  if (chance(&c->rng, 25)) t.red[t.n_red++] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  if (chance(&c->rng, 15)) t.common[t.n_common++] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  for (uint32_t k = 1; k < t.n_lanes; k++) t.out[t.n_out++] = t.lanes[k];
  for (uint32_t k = 0; k < t.n_common; k++) t.out[t.n_out++] = t.common[k];
  t.out[t.n_out++] = t.rows[0];
  labs_mix(c, t.n_out, t.out);
  t.out[t.n_out++] = t.lanes[0];
  for (uint32_t k = 0; k < t.n_out; k++) t.all[k] = t.out[k];
  for (uint32_t k = 0; k < t.n_red; k++) t.all[t.n_out + k] = t.red[k];
  labs_fit(c, t.n_out + t.n_red, t.all, c->points);
  for (uint32_t k = 0; k < t.n_out + t.n_red; k++)
    if (t.all[k] != t.rows[0] && t.all[k] != t.lanes[1]) lab[n++] = t.all[k];
  labs_mix(c, n, lab);
  lab[n++] = t.lanes[1];
  Tensor *x = input_new(c, dtype_any(c), values_for(c));
  for (uint32_t k = 0; k < n; k++) x->axis[k] = axis_of(lab[k]->size);
  x->rank = n;
  Term *a = tensor_at(c, x, lab),
       *b = side(&t, chance(&c->rng, 80) ? x->dtype : dtype_any(c), values_for(c), 1, t.rows, 0);
  if (chance(&c->rng, 30)) a = computed(c, a, n, lab, t.rounded);
  Term *body = combine(&t, a, b), *where = chance(&c->rng, 10) ? predicate(c, t.n_out, t.out, t.n_red, t.red) : NULL;
  const char *name = reducer_for(c, &body, t.n_red, t.red);
  Term *value = term_reduce(c, name, t.n_red, t.red, where, body);
  equation_add(c, t.n_out, t.out, chance(&c->rng, 30) ? epilogue(c, value, t.n_out, t.out) : value, true);
}

/* A result whose last two axes are whole lines together, of one side or of both: it goes past the cache (kernels.c). */
static void aim_lines(Case *c) {
  static const int64_t inner[] = {16, 20, 14, 28, 24, 32, 40, 64}, next[] = {4, 8, 12, 16}, rows[] = {16, 17, 20, 24, 30},
                       deep[] = {16, 17, 20, 33};
  static const DType types[] = {DT_F32, DT_F32, DT_F32, DT_F64, DT_I32, DT_I64};
  Contraction t = {.c = c, .plain = chance(&c->rng, 80), .n_rows = 1, .n_lanes = 1, .n_red = 1};
  bool was = c->opens, joint = chance(&c->rng, 60);
  c->opens = false;
  t.lanes[0] = lab_of(c, inner + (joint ? 1 : 0), joint ? 3 : COUNT(inner)), t.rows[0] = lab_of(c, rows, COUNT(rows));
  t.red[0] = lab_of(c, deep, COUNT(deep));
  Lab *b = lab_of(c, next + (joint ? 2 : 0), joint ? 2 : COUNT(next));
  if (joint) t.lanes[t.n_lanes++] = lab_new(c, size_new(c, 3 + below(&c->rng, 18)));
  if (joint || chance(&c->rng, 50)) t.rows[t.n_rows++] = b;
  else t.lanes[t.n_lanes++] = b;
  c->opens = was && chance(&c->rng, 30);
  if (joint || chance(&c->rng, 60))
    t.rows[t.n_rows++] = lab_new(c, size_new(c, joint ? 2 + below(&c->rng, 2) : 1 + below(&c->rng, 12)));
  if (chance(&c->rng, joint ? 20 : 60))
    t.lanes[t.n_lanes++] = lab_new(c, size_new(c, 1 + below(&c->rng, joint ? 3 : 20)));
  if (chance(&c->rng, 20)) t.common[t.n_common++] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  for (uint32_t k = 0; k < t.n_common; k++) t.out[t.n_out++] = t.common[k];
  for (uint32_t k = 0; k < t.n_rows; k++)
    if (t.rows[k] != b) t.out[t.n_out++] = t.rows[k];
  for (uint32_t k = 1; k < t.n_lanes; k++)
    if (t.lanes[k] != b) t.out[t.n_out++] = t.lanes[k];
  labs_mix(c, t.n_out, t.out);
  t.out[t.n_out++] = b, t.out[t.n_out++] = t.lanes[0];
  DType type = types[below(&c->rng, COUNT(types))];
  Term *x = side(&t, type, values_for(c), t.n_rows, t.rows, 0),
       *y = side(&t, type, values_for(c), t.n_lanes, t.lanes, 0);
  bool product = joint && chance(&c->rng, 70);
  Term *body = product ? term_op(c, OP_MUL, x, y) : combine(&t, x, y);
  const char *name = product ? "sum" : reducer_for(c, &body, t.n_red, t.red);
  equation_add(c, t.n_out, t.out, term_reduce(c, name, t.n_red, t.red, NULL, body), true);
}

/* Squares along a label that the result does not end with, so large that parts of those behind it, and behind the lanes
 * in the result, are in a block. It goes past the cache (kernels.c). */
static void aim_runs(Case *c) {
  static const int64_t lanes[] = {12, 20, 24, 28, 32}, last_of[] = {20, 24, 28}, behind[] = {15, 16, 18, 20},
                       rows[] = {16, 17, 24}, deep[] = {16, 20};
  Contraction t = {.c = c, .plain = chance(&c->rng, 80), .n_rows = 1, .n_red = 1};
  bool both = chance(&c->rng, 30);
  c->opens = false;
  Lab *a = lab_of(c, lanes, COUNT(lanes)), *last = lab_of(c, last_of, COUNT(last_of)),
      *b = lab_of(c, behind, COUNT(behind));
  Lab *d = lab_new(c, size_new(c, both ? 10 : 1)), *lab[5] = {a, NULL, b, d, last};
  t.rows[0] = lab_of(c, rows, COUNT(rows)), t.red[0] = lab[1] = lab_of(c, deep, COUNT(deep));
  labs_mix(c, both ? 3 : 4, lab);
  Lab *out[3] = {last, t.rows[0], d};
  labs_mix(c, 3, out);
  memcpy(t.out, out, sizeof out);
  t.out[3] = b, t.out[4] = a, t.n_out = 5;
  Tensor *x = input_new(c, chance(&c->rng, 70) ? DT_F32 : dtype_any(c), values_for(c));
  for (uint32_t k = 0; k < COUNT(lab); k++) x->axis[k] = axis_of(lab[k]->size);
  x->rank = COUNT(lab);
  Term *body = combine(&t, tensor_at(c, x, lab), side(&t, x->dtype, values_for(c), 1, t.rows, 0));
  const char *name = reducer_for(c, &body, t.n_red, t.red);
  equation_add(c, t.n_out, t.out, term_reduce(c, name, t.n_red, t.red, NULL, body), true);
}

/* (A B) C: what is between is stored, or joined with what comes after. */
static void aim_chain(Case *c) {
  Contraction t = {.c = c, .plain = true};
  c->points /= 2;
  labels_make(&t, true);
  Term *first = contraction(&t);
  if (!has_odd(first)) first = epilogue(c, first, t.n_out, t.out);
  Tensor *y = equation_add(c, t.n_out, t.out, first, chance(&c->rng, 20));
  Lab *lab[LABELS_MOST], *red[1] = {t.out[below(&c->rng, t.n_out)]}, *wide = lab_new(c, size_any(c));
  uint32_t n = 0;
  for (uint32_t k = 0; k < t.n_out; k++)
    if (t.out[k] != red[0]) lab[n++] = t.out[k];
  lab[n++] = wide;
  Lab *all[LABELS_MOST + 1];
  memcpy(all, lab, sizeof lab);
  all[n] = red[0];
  while (labs_room(n + 1, all) > c->points && wide->size->value > 1)
    wide->size->value /= 2, wide->size->other = wide->size->value;
  labs_mix(c, n, lab);
  Lab *between[COUNT(t.out)];
  memcpy(between, t.out, sizeof t.out);
  memcpy(t.out, lab, sizeof t.out);
  t.n_out = n, t.red[0] = red[0], t.n_red = 1;
  Term *z = operand(c, chance(&c->rng, 70) ? y->dtype : dtype_any(c), SMALL, 2, (Lab *[]){red[0], wide}, true);
  Term *body = combine(&t, tensor_at(c, y, between), z);
  const char *name = reducer_for(c, &body, 1, red);
  equation_add(c, n, lab, epilogue(c, term_reduce(c, name, 1, red, NULL, body), n, lab), true);
}

/* ---- reductions of any kind ---------------------------------------------------------------------------------- */

typedef struct Reduction {
  Case *c;
  uint32_t n_out, n_red;
  Lab *out[5], *red[3], *all[8];
  bool rounded, plain;
} Reduction;

static void reduction_labels(Reduction *t) {
  Case *c = t->c;
  t->n_out = some(c, chance(&c->rng, 85), 4);
  t->n_red = some(c, 1, 3);
  labs_make(c, t->n_out, t->out, chance(&c->rng, 50));
  labs_make(c, t->n_red, t->red, chance(&c->rng, 70));
  if (chance(&c->rng, 35)) t->red[below(&c->rng, t->n_red)]->size = size_deep(c);
  if (t->n_out && chance(&c->rng, 8)) t->out[below(&c->rng, t->n_out)]->size = size_deep(c);
  for (uint32_t k = 0; k < t->n_out; k++) t->all[k] = t->out[k];
  for (uint32_t k = 0; k < t->n_red; k++) t->all[t->n_out + k] = t->red[k];
  labs_fit(c, t->n_out + t->n_red, t->all, c->points);
}

/* Over some of the labels, at least one reduced. */
static Term *reduced_operand(Reduction *t, DType type, Values v, uint32_t percent) {
  Case *c = t->c;
  Lab *lab[8];
  uint32_t n = 0, sure = t->n_out + below(&c->rng, t->n_red);
  for (uint32_t k = 0; k < t->n_out + t->n_red; k++)
    if (k == sure || chance(&c->rng, percent)) lab[n++] = t->all[k];
  Term *x = operand(c, type, v, n, lab, t->plain);
  return chance(&c->rng, 40) ? computed(c, x, n, lab, t->rounded) : x;
}

static Term *reduced_body(Reduction *t) {
  Case *c = t->c;
  Contraction how = {.c = c, .n_out = t->n_out, .n_red = t->n_red, .rounded = t->rounded};
  memcpy(how.out, t->out, sizeof t->out);
  memcpy(how.red, t->red, sizeof t->red);
  bool odd = chance(&c->rng, 8);
  DType type = dtype_any(c);
  Values v = odd && dtype_is_float(type) ? ODD : values_for(c);
  uint32_t more = odd ? 0 : some(c, 0, 2);
  Term *body = reduced_operand(t, type, v, more ? 65 : 90);
  for (; more-- > 0;)
    body = combine(&how, body, reduced_operand(t, chance(&c->rng, 70) ? type : dtype_any(c), values_for(c), 65));
  return body;
}

static void aim_reduce(Case *c) {
  Reduction t = {.c = c, .rounded = chance(&c->rng, 15), .plain = chance(&c->rng, 60)};
  reduction_labels(&t);
  Term *body = reduced_body(&t);
  Term *where = chance(&c->rng, 35) ? predicate(c, t.n_out, t.out, t.n_red, t.red) : NULL;
  bool odd = has_odd(body) && body->t != DT_BOOL && body->exact;
  const char *name = odd ? reducer_odd(c, body) : reducer_for(c, &body, t.n_red, t.red);
  if (where && chance(&c->rng, 15)) name = "count", body = NULL;
  labs_mix(c, t.n_out, t.out);
  Term *value = term_reduce(c, name, t.n_red, t.red, where, body);
  equation_add(c, t.n_out, t.out, odd ? value : epilogue(c, value, t.n_out, t.out), true);
}

/* So many points for so few outputs that they are shared out among threads (compiler/task/passes/split.c). */
static void long_labels(Reduction *t) {
  static const int64_t some_sizes[] = {2, 3, 8, 17, 64, 129, 700, 1024};
  Case *c = t->c;
  int64_t left = 120000 + (int64_t)below(&c->rng, 400000);
  t->n_out = chance(&c->rng, 60) ? 0 : some(c, 1, 2);
  t->n_red = some(c, 1, 3);
  for (uint32_t k = 0; k < t->n_out; k++) t->out[k] = t->all[k] = lab_new(c, size_new(c, 1 + below(&c->rng, 7)));
  for (uint32_t k = 0; k < t->n_red; k++) {
    int64_t n = k + 1 < t->n_red ? some_sizes[below(&c->rng, COUNT(some_sizes))] : left;
    t->red[k] = lab_new(c, size_new(c, n > 1 ? n : 2));
    left = left / n > 0 ? left / n : 1;
  }
  labs_mix(c, t->n_red, t->red);
  for (uint32_t k = 0; k < t->n_red; k++) t->all[t->n_out + k] = t->red[k];
  labs_fit(c, t->n_out + t->n_red, t->all, 1200000);
}

static Term *bins(Reduction *t) {
  Case *c = t->c;
  Tensor *bin = input_new(c, chance(&c->rng, 50) ? DT_I32 : DT_U8, POINTERS);
  Lab *b = t->out[below(&c->rng, t->n_out)];
  bin->rank = t->n_red;
  for (uint32_t k = 0; k < t->n_red; k++) bin->axis[k] = axis_of(t->red[k]->size);
  bin->range = axis_of(b->size);
  bin->range.plus = 1;
  return term_op(c, OP_EQ, tensor_at(c, bin, t->red), term_label(c, b));
}

static void aim_long(Case *c) {
  Reduction t = {.c = c, .rounded = chance(&c->rng, 10), .plain = chance(&c->rng, 70)};
  long_labels(&t);
  Term *body = reduced_body(&t), *where = NULL;
  if (t.n_out && chance(&c->rng, 25)) where = bins(&t);
  else if (chance(&c->rng, 30)) where = predicate(c, t.n_out, t.out, t.n_red, t.red);
  bool odd = has_odd(body) && body->t != DT_BOOL;
  const char *name = odd ? reducer_odd(c, body) : reducer_for(c, &body, t.n_red, t.red);
  labs_mix(c, t.n_out, t.out);
  Term *value = term_reduce(c, name, t.n_red, t.red, where, body);
  equation_add(c, t.n_out, t.out, odd ? value : epilogue(c, value, t.n_out, t.out), true);
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static const struct { uint32_t weight; const char *name; void (*make)(Case *c);
} aims[] = {
    {16, "contract", aim_contract},
    {13, "reduce", aim_reduce},
    {5, "chain", aim_chain},
    {7, "convolution", aim_convolution},
    {8, "scan", aim_scan},
    {5, "scatter", aim_scatter},
    {6, "map", aim_map},
    {9, "rows", aim_rows},
    {12, "blocks", aim_blocks},
    {8, "masked", aim_masked},
    {5, "long", aim_long},
    {4, "crossed", aim_crossed},
    {2, "parts", aim_parts},
    {0, "lines", aim_lines},
    {0, "runs", aim_runs},
    {0, "matrices", aim_matrices},
};

static size_t aim_for(Case *c, const char *name) {
  uint32_t at = below(&c->rng, 100);
  size_t k = 0;
  if (name)
    while (k < COUNT(aims) && strcmp(aims[k].name, name) != 0) k++;
  else
    while (at >= aims[k].weight) at -= aims[k++].weight;
  return k;
}

Case *case_make(Arena *a, uint64_t seed, double points, const char *aim) {
  static const double scale[] = {0.02, 0.1, 0.1, 0.3, 0.3, 0.3, 1, 1, 3};
  Case *c = NEW(a, Case);
  *c = (Case){.arena = a, .seed = seed, .rng = {seed * 0x9E3779B97F4A7C15u + 1}, .whole = true};
  c->points = points * scale[below(&c->rng, COUNT(scale))];
  c->opens = chance(&c->rng, 30);
  size_t k = aim_for(c, aim);
  if (k == COUNT(aims)) return NULL;
  c->aim = aims[k].name;
  aims[k].make(c);
  if (c->whole && chance(&c->rng, 25))
    for (uint32_t i = 0; i < c->tensors.len; i++)
      if (c->tensors.at[i]->input && c->tensors.at[i]->values == SMALL) c->tensors.at[i]->values = WIDE;
  return c;
}
