/* codegen/loop/product.c - describes a product for a matrix library. In: a statement of Loop, whose indices are
 * expressions. Out: the places, and their strides along each loop. Or the reason why a library cannot compute it. */
#include <math.h>

#include "expr/prove/prove.h"
#include "loop.h"

/* ---- factors --------------------------------------------------------------------------------------------- */

static bool factor_read(const Expr *e, const Expr *read[2]) {
  if (read[1]) return false;
  read[read[0] ? 1 : 0] = e;
  return true;
}

static bool factors_of(const Expr *e, DType sum, const Expr *read[2], double *scale) {
  if (e->dtype != sum) return false;
  if (e->kind == EX_REAL) return *scale *= e->f, true;
  if (e->kind == EX_READ) return factor_read(e, read);
  if (e->kind != EX_OP) return false;
  if (e->op == OP_NEG) return *scale *= -1, factors_of(e->arg[0], sum, read, scale);
  if (e->op == OP_MUL) return factors_of(e->arg[0], sum, read, scale) && factors_of(e->arg[1], sum, read, scale);
  return e->op == OP_CAST && e->arg[0]->kind == EX_READ && factor_read(e->arg[0], read);
}

bool loop_factors(const Expr *e, DType sum, const Expr *read[2], double *scale) {
  read[0] = read[1] = NULL;
  *scale = 1;
  return factors_of(e, sum, read, scale) && read[1];
}

/* Whether a library has these dtypes. Products of halves, summed in f32, may give either; all others have one dtype. */
static bool dtypes_fit(DType result, DType a, DType b, DType sum) {
  if (a != b) return false;
  if (dtype_is_half(a)) return sum == DT_F32 && (result == a || result == DT_F32);
  return (a == DT_F32 || a == DT_F64) && sum == a && result == a;
}

/* ---- strides ---------------------------------------------------------------------------------------------- */

/* An index: `rest`, plus a multiple of each variable and turn. */
typedef struct Affine {
  Exprs *x;
  const LoopStmt *s;
  const Expr *rest;
  int64_t by[PRODUCT_LOOPS], turn[PRODUCT_TURNS];
} Affine;

static const Expr *number(Exprs *x, int64_t v) { return expr_int(x, DT_I64, v); }
static const Expr *sum_of(Exprs *x, const Expr *a, const Expr *b) { return expr_normal(x, expr_op2(x, OP_ADD, a, b)); }
static const Expr *times(Exprs *x, const Expr *a, const Expr *b) { return expr_normal(x, expr_op2(x, OP_MUL, a, b)); }

static bool add_to(int64_t *to, int64_t by) { return add_ok(*to, by, to); }

static bool affine_label(Affine *a, int64_t var, int64_t by) {
  for (uint32_t i = 0; i < a->s->n_over; i++)
    if (a->s->over[i].var == var) return add_to(&a->by[i], by);
  return false;
}

static bool affine_add(Affine *a, const Expr *e, int64_t by) {
  int64_t less;
  if (e->kind == EX_LABEL) return affine_label(a, e->i, by);
  if (e->kind == EX_TURN) return e->i < PRODUCT_TURNS && add_to(&a->turn[e->i], by);
  if (!(e->has & ~(unsigned)HAS_DIM)) return a->rest = sum_of(a->x, a->rest, times(a->x, number(a->x, by), e)), true;
  if (e->kind != EX_OP || !sub_ok(0, by, &less)) return false;
  switch ((Op)e->op) {
  case OP_NEG: return affine_add(a, e->arg[0], less);
  case OP_ADD: return affine_add(a, e->arg[0], by) && affine_add(a, e->arg[1], by);
  case OP_SUB: return affine_add(a, e->arg[0], by) && affine_add(a, e->arg[1], less);
  case OP_MUL:
    if (e->arg[1]->kind == EX_INT) return mul_ok(by, e->arg[1]->i, &by) && affine_add(a, e->arg[0], by);
    return e->arg[0]->kind == EX_INT && mul_ok(by, e->arg[0]->i, &by) && affine_add(a, e->arg[1], by);
  default: return false;
  }
}

/* Finds the strides in row-major order: that of an axis is the product of the extents behind it. Returns false if an
 * index is not affine. */
static bool steps_of(
    Exprs *x, const LoopStmt *s, const LoopPlace *place, const Expr *const *at, LoopProduct *out, int which) {
  const Expr *behind = number(x, 1), *zero = number(x, 0);
  out->first[which] = zero;
  for (uint32_t i = 0; i < s->n_over; i++) out->step[which][i] = zero;
  for (uint32_t i = 0; i < PRODUCT_TURNS; i++) out->turn[which][i] = zero;
  for (uint32_t k = place->rank; k-- > 0;) {
    Affine f = {.x = x, .s = s, .rest = zero};
    if (!affine_add(&f, at[k], 1)) return false;
    out->first[which] = sum_of(x, out->first[which], times(x, behind, f.rest));
    for (uint32_t i = 0; i < s->n_over; i++)
      out->step[which][i] = sum_of(x, out->step[which][i], times(x, behind, number(x, f.by[i])));
    for (uint32_t i = 0; i < PRODUCT_TURNS; i++)
      out->turn[which][i] = sum_of(x, out->turn[which][i], times(x, behind, number(x, f.turn[i])));
    behind = times(x, behind, place->dim[k]);
  }
  return true;
}

/* ---- matrix products ---------------------------------------------------------------------------------------- */

static bool still(const LoopProduct *p, int which, uint32_t loop) { return expr_is_int(p->step[which][loop], 0); }
static bool next(const LoopProduct *p, int which, uint32_t loop) { return expr_is_int(p->step[which][loop], 1); }

/* The reason why it is no matrix product; NULL: it is one. The first side has the rows, the second the lanes, both the
 * sum; and each is contiguous along one of its two. */
static const char *is_of_matrices(const LoopProduct *p, uint32_t n) {
  uint32_t row = n - 3, lane = n - 2, sum = n - 1;
  if (still(p, 0, row) || still(p, 1, row) || !still(p, 2, row))
    return "its rows are not those of the result and of one side";
  if (still(p, 0, lane) || !still(p, 1, lane) || still(p, 2, lane))
    return "its lanes are not those of the result and of the other side";
  if (!still(p, 0, sum) || still(p, 1, sum) || still(p, 2, sum)) return "its sum does not go along both sides alone";
  for (uint32_t i = 0; i < row; i++)
    if (still(p, 0, i)) return "a loop goes along no result";
  if (!next(p, 0, lane)) return "its result does not lie in order along its lanes";
  if (!next(p, 1, row) && !next(p, 1, sum))
    return "the side with its rows lies in order neither along these nor along the sum";
  if (!next(p, 2, lane) && !next(p, 2, sum))
    return "the side with its lanes lies in order neither along these nor along the sum";
  return NULL;
}

/* Whether the scale is finite and not 0: with 0 a library ignores the sides, which may hold NaN or infinity. */
static bool scale_fits(double scale, DType sum) {
  double as_is = sum == DT_F32 ? (double)(float)scale : scale;
  return isfinite(as_is) && as_is != 0;
}

static void sides_exchange(LoopProduct *p, const Expr *read[2]) {
  const Expr *was = read[0];
  read[0] = read[1], read[1] = was;
  p->place[1] = (uint32_t)read[0]->i, p->place[2] = (uint32_t)read[1]->i;
}

static const char *found(Exprs *x, const LoopKernel *k, const LoopStmt *s, LoopProduct *out) {
  const Expr *read[2];
  if (s->n_over < PRODUCT_LEAST || s->n_over > PRODUCT_LOOPS) return "it has too few loops, or too many";
  if (!loop_factors(s->value, (DType)s->value->dtype, read, &out->scale)) return "it is none of two reads";
  if (!scale_fits(out->scale, (DType)s->value->dtype)) return "it is multiplied by 0, or by what is no number";
  if (read[0]->i >= k->places.len || read[1]->i >= k->places.len) return "it is of no places";
  const LoopPlace *c = &k->places.at[s->place], *sides[] = {&k->places.at[read[0]->i], &k->places.at[read[1]->i]};
  for (int i = 0; i < 2; i++) {
    if (c->space != SPACE_BUFFER || sides[i]->space != SPACE_BUFFER) return "it is of what is no buffer";
    if (c->buffer == sides[i]->buffer) return "its result is one of its sides";
    if (sides[i]->rank != read[i]->n) return "a side has other indices than axes";
  }
  if (!dtypes_fit(c->dtype, sides[0]->dtype, sides[1]->dtype, (DType)s->value->dtype))
    return "no library has its dtypes";
  out->place[0] = s->place, out->place[1] = (uint32_t)read[0]->i, out->place[2] = (uint32_t)read[1]->i;
  for (int turn = 0; turn < 2; turn++) {
    bool known = steps_of(x, s, c, s->at, out, 0);
    for (int i = 0; i < 2; i++) known = known && steps_of(x, s, &k->places.at[read[i]->i], read[i]->arg, out, i + 1);
    if (!known) return "an index is no sum of its loops, each times a number";
    if (!still(out, 1, s->n_over - 3)) break;
    sides_exchange(out, read);
  }
  return is_of_matrices(out, s->n_over);
}

bool loop_product(Exprs *x, const LoopKernel *k, const LoopStmt *s, LoopProduct *out, const char **why) {
  *out = (LoopProduct){.scale = 1};
  const char *no = found(x, k, s, out);
  if (why) *why = no;
  return !no;
}

bool loop_has_products(const LoopProgram *p) {
  for (uint32_t i = 0; i < p->kernels.len; i++)
    for (uint32_t k = 0; k < p->kernels.at[i]->body.len; k++)
      if (p->kernels.at[i]->body.at[k]->kind == LOOP_PRODUCT) return true;
  return false;
}
