/* tests/kernel/operands.c - what bodies are made of: inputs read in any order of axes and by all kinds of indices, what
 * is computed of them, predicates, reducers, and what is done to a sum before it is stored. */
#include <string.h>

#include "kernels.h"

DType dtype_any(Case *c) {
  static const struct {
    uint32_t weight;
    DType t;
  } all[] = {{36, DT_F32}, {10, DT_F64}, {7, DT_F16}, {7, DT_BF16}, {9, DT_I32}, {6, DT_I64}, {8, DT_I8}, {5, DT_I16},
      {6, DT_U8}, {6, DT_BOOL}};
  uint32_t at = below(&c->rng, 100);
  for (size_t k = 0; k < COUNT(all); k++) {
    if (at < all[k].weight) return all[k].t;
    at -= all[k].weight;
  }
  return DT_F32;
}

static Size *size_fixed(Case *c, int64_t n) {
  Size *s = size_new(c, n);
  s->other = n;
  s->open = false;
  return s;
}

/* ---- reads -------------------------------------------------------------------------------------------- */

typedef struct Reading {
  Tensor *x;
  Term *at[AXES_MOST];
  bool partial;              /* some index may be out of range */
  Size *last;                /* a size that may not be 0 */
} Reading;

static void axis_add(Reading *r, Axis axis, Term *at) {
  if (r->x->rank == AXES_MOST) return;
  r->at[r->x->rank] = at;
  r->x->axis[r->x->rank++] = axis;
}

static Term *index_form(Case *c, const char *text, uint32_t n, Lab *const *lab) {
  Term *arg[2];
  for (uint32_t k = 0; k < n; k++) arg[k] = term_label(c, lab[k]);
  Term *x = term_form(c, text, DT_I64, 1, true, n, arg);
  x->index = true;
  return x;
}

static Term *index_pointer(Case *c, Reading *r, Lab *l, uint32_t n, Lab *const *lab) {
  static const DType types[] = {DT_I64, DT_I32, DT_I16, DT_U8};
  static const int64_t ranges[] = {1, 3, 8, 17, 40};
  Tensor *p = input_new(c, types[below(&c->rng, COUNT(types))], POINTERS);
  Lab *with[2] = {l, n ? lab[below(&c->rng, n)] : l};
  Size *s = size_fixed(c, ranges[below(&c->rng, COUNT(ranges))]);
  p->rank = with[1] != l && chance(&c->rng, 20) ? 2 : 1;
  for (uint32_t k = 0; k < p->rank; k++) p->axis[k] = axis_of(with[k]->size);
  p->range = axis_of(s);
  Term *at = tensor_at(c, p, with);
  at->index = true;
  axis_add(r, p->range, at);
  return at;
}

/* l and another label in one index: as in convolutions; with ?? the axis is too short on both sides. */
static void axis_affine(Case *c, Reading *r, Lab *l, Lab *m) {
  Lab *lab[2] = {l, m};
  int64_t times = 1 + below(&c->rng, 2), more = chance(&c->rng, 75) ? 1 : 2, plus = below(&c->rng, 2);
  Axis axis = {.a = l->size, .b = m->size, .times = times, .by = 1, .more = more, .plus = plus};
  if (chance(&c->rng, 40)) {
    axis = (Axis){.a = l->size, .times = times, .by = 1, .plus = plus};
    r->partial = true;
    axis_add(r, axis,
        index_form(c,
            arena_printf(
                c->arena, "$0 * %lld + $1 * %lld - %u", (long long)times, (long long)more, 1 + below(&c->rng, 2)),
            2, lab));
    return;
  }
  axis_add(r, axis,
      index_form(c,
          arena_printf(c->arena, "$0 * %lld + $1 * %lld + %lld", (long long)times, (long long)more, (long long)plus), 2,
          lab));
}

static const double diagonal_most = 4e6; /* elements */

static void axis_odd(Case *c, Reading *r, Lab *l, uint32_t n, Lab *const *lab) {
  Axis axis = axis_of(l->size);
  int64_t step = 1 + below(&c->rng, 3);
  switch (below(&c->rng, 9)) {
    case 0: /* backwards */
      axis_add(r, axis, index_form(c, arena_printf(c->arena, "%s - 1 - $0", axis_text(c->arena, &axis)), 1, &l));
      return;
    case 1:
      axis.plus = step;
      axis_add(r, axis, index_form(c, arena_printf(c->arena, "$0 + %lld", (long long)step), 1, &l));
      return;
    case 2:
      axis.times = step + 1;
      axis_add(r, axis,
          index_form(c, arena_printf(c->arena, "$0 * %lld + %lld", (long long)axis.times, (long long)step), 1, &l));
      return;
    case 3:
      axis.by = 2, axis.plus = 1;
      axis_add(r, axis, index_form(c, "$0 // 2", 1, &l));
      return;
    case 4:
      axis_add(r, axis_of(size_fixed(c, 3)), index_form(c, "$0 % 3", 1, &l));
      return;
    case 5: case 6: index_pointer(c, r, l, n, lab); return;
    case 7:
      r->partial = true;
      axis_add(r, axis,
          index_form(c, arena_printf(c->arena, "$0 %c %lld", chance(&c->rng, 50) ? '-' : '+', (long long)step), 1, &l));
      return;
    default: /* a diagonal; memory has to hold the whole */
      if (labs_room(n, lab) * (double)size_most(l->size) > diagonal_most) break;
      axis_add(r, axis, term_label(c, l));
      break;
  }
  axis_add(r, axis, term_label(c, l));
}

Term *operand(Case *c, DType t, Values v, uint32_t n, Lab *const *lab, bool plain) {
  Lab *order[LABELS_MOST];
  Reading r = {.x = input_new(c, t, v)};
  for (uint32_t k = 0; k < n; k++) order[k] = lab[k];
  if (chance(&c->rng, 85)) labs_mix(c, n, order);
  for (uint32_t k = 0; k < n; k++) {
    bool odd = !plain && chance(&c->rng, 12);
    if (odd && k + 1 < n && chance(&c->rng, 40)) axis_affine(c, &r, order[k], order[k + 1]), k++;
    else if (odd) axis_odd(c, &r, order[k], n, lab);
    else axis_add(&r, axis_of(order[k]->size), term_label(c, order[k]));
  }
  if (!plain && chance(&c->rng, 3)) axis_add(&r, axis_of(size_fixed(c, 3)), term_int(c, below(&c->rng, 3)));
  Term *x = term_read(c, r.x, r.at);
  return r.partial ? term_else(c, x) : x;
}

Term *operand_some(Case *c, DType t, uint32_t n, Lab *const *lab, uint32_t percent) {
  Lab *some[LABELS_MOST];
  uint32_t m = 0;
  for (uint32_t k = 0; k < n; k++)
    if (chance(&c->rng, percent)) some[m++] = lab[k];
  return operand(c, t, SMALL, m, some, true);
}

/* ---- computed with ---------------------------------------------------------------------------------------- */

Term *condition(Case *c, uint32_t n, Lab *const *lab) {
  static const Op ops[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_NE, OP_EQ};
  Op op = ops[below(&c->rng, COUNT(ops))];
  Term *l = n ? term_label(c, lab[below(&c->rng, n)]) : term_int(c, 1),
       *m = n ? term_label(c, lab[below(&c->rng, n)]) : l;
  switch (below(&c->rng, 6)) {
    case 0: return term_op(c, op, l, m);
    case 1: return term_op(c, op, l, term_op(c, OP_ADD, m, term_int(c, below(&c->rng, 4))));
    case 2: return term_op(c, OP_EQ, term_op(c, OP_MOD, term_op(c, OP_ADD, l, m), term_int(c, 3)), term_int(c, 0));
    case 3: return operand_some(c, DT_BOOL, n, lab, 60);
    case 4: return term_op(c, OP_GT, operand_some(c, DT_I32, n, lab, 60), term_int(c, 0));
    default: return term_op(c, op, l, term_int(c, 1 + below(&c->rng, 20)));
  }
}

static Term *computed_bool(Case *c, Term *x, uint32_t n, Lab *const *lab) {
  switch (below(&c->rng, 4)) {
    case 0: return term_not(c, x);
    case 1: return term_op(c, OP_OR, x, operand_some(c, DT_BOOL, n, lab, 50));
    case 2: return term_op(c, OP_AND, x, condition(c, n, lab));
    default: return x;
  }
}

static Term *computed_real(Case *c, Term *x) {
  switch (below(&c->rng, 6)) {
    case 0: return term_real(c, "exp($0 / 4)", 3, x);
    case 1: return term_real(c, "tanh($0)", 1, x);
    case 2: return term_real(c, "sqrt(abs($0))", x->most, x);
    case 3: return term_real(c, "(1 / (1 + exp(-$0)))", 1, x);
    case 4: return term_real(c, "log(abs($0) + 1)", x->most, x);
    default: return term_real(c, "($0 * 0.3)", x->most, x);
  }
}

static Term *computed_once(Case *c, Term *x, uint32_t n, Lab *const *lab, bool rounded) {
  static const DType casts[] = {DT_F32, DT_F64, DT_I32, DT_I64, DT_I8, DT_I16, DT_U8, DT_F16, DT_BF16};
  if (x->t == DT_BOOL) return computed_bool(c, x, n, lab);
  if (rounded && chance(&c->rng, 40)) return computed_real(c, x);
  switch (below(&c->rng, x->exact ? 16 : 14)) { /* what is rounded is asked nothing: it may be on either side */
    case 0: return term_abs(c, x);
    case 1: return term_neg(c, x);
    case 2: case 3: return term_cast(c, casts[below(&c->rng, COUNT(casts))], x);
    case 4: return term_op(c, OP_MAX, x, term_int(c, 0));
    case 5: return term_op(c, OP_MIN, x, term_int(c, 2));
    case 6: case 7: return term_op(c, OP_MUL, x, operand_some(c, x->t, n, lab, 50));
    case 8: return term_op(c, OP_ADD, x, operand_some(c, x->t, n, lab, 50));
    case 9: return term_op(c, OP_SUB, operand_some(c, x->t, n, lab, 50), x);
    case 10: return term_if(c, condition(c, n, lab), x, operand_some(c, x->t, n, lab, 60));
    case 11: return term_if(c, condition(c, n, lab), x, term_int(c, 0));
    case 12: return term_op(c, OP_MUL, x, x);
    case 13: return term_op(c, OP_ADD, x, term_cast(c, x->t, term_label(c, n ? lab[0] : lab_new(c, size_fixed(c, 1)))));
    case 14: return term_op(c, OP_MOD, x, term_int(c, 3));
    default: return term_op(c, OP_IDIV, x, term_int(c, 2));
  }
}

Term *computed(Case *c, Term *x, uint32_t n, Lab *const *lab, bool rounded) {
  for (uint32_t most = 2; most-- > 0 && chance(&c->rng, 40);)
    if (x->most < 40) x = computed_once(c, x, n, lab, rounded);
  return x;
}

/* ---- predicates --------------------------------------------------------------------------------------------- */

static Term *plus(Case *c, Term *x) {
  uint32_t by = below(&c->rng, 5);
  return by < 2 ? x : term_op(c, by == 4 ? OP_SUB : OP_ADD, x, term_int(c, by - 1));
}

static Term *predicate_one(Case *c, uint32_t n_out, Lab *const *out, uint32_t n_red, Lab *const *red) {
  Lab *r = red[below(&c->rng, n_red)];
  Term *t = term_label(c, r), *s = n_out ? term_label(c, out[below(&c->rng, n_out)]) : term_int(c, 5);
  switch (below(&c->rng, 14)) {
    case 0: case 1: return term_op(c, OP_LE, t, s);
    case 2: return term_op(c, OP_LT, t, plus(c, s));
    case 3: return term_op(c, OP_GE, t, plus(c, s));
    case 4: return term_op(c, OP_GT, plus(c, t), s);
    case 5:
    case 6:
      return term_op(c, OP_AND, term_op(c, OP_LT, term_op(c, OP_SUB, s, term_int(c, 3)), t), term_op(c, OP_LE, t, s));
    case 7: return term_op(c, OP_AND, term_op(c, OP_GE, t, term_int(c, 2)), term_op(c, OP_LT, t, plus(c, s)));
    case 8: return term_op(c, OP_LT, t, operand_some(c, DT_I64, n_out, out, 60));
    case 9: return term_op(c, OP_EQ, term_op(c, OP_MOD, t, term_int(c, 2)), term_int(c, 0));
    case 10: return term_op(c, OP_NE, t, s);
    case 11: return term_op(c, OP_LE, term_op(c, OP_MUL, t, term_int(c, 2)), s);
    case 12: return term_op(c, OP_LT, term_op(c, OP_ADD, t, s), term_int(c, 30));
    default: {
      Lab *both[2] = {r, n_out ? out[below(&c->rng, n_out)] : r};
      return operand_some(c, DT_BOOL, both[1] == r ? 1 : 2, both, 80);
    }
  }
}

Term *predicate(Case *c, uint32_t n_out, Lab *const *out, uint32_t n_red, Lab *const *red) {
  Term *p = predicate_one(c, n_out, out, n_red, red);
  if (chance(&c->rng, 20))
    p = term_op(c, chance(&c->rng, 75) ? OP_AND : OP_OR, p, predicate_one(c, n_out, out, n_red, red));
  return p;
}

/* ---- reducers ------------------------------------------------------------------------------------------------- */

static const char *monoid(Case *c, const char *name, const char *line) {
  for (uint32_t k = 0; k < c->lines.len; k++)
    if (c->lines.at[k] == line) return name;
  vec_push(c->arena, c->lines, line);
  return name;
}

static const char *monoid_for(Case *c, const Term *body) {
  static const char parity[] = "monoid parity(a, b) = a != b identity false";
  static const char first[] = "monoid least(a, b) = if a == 0 then b else if b == 0 then a else min(a, b) identity 0";
  static const char plus_one[] = "monoid plus_one(a, b) = a + b + 1 identity -1";
  static const char far[] =
      "monoid far(a, b) = if abs(a) > abs(b) then a else if abs(b) > abs(a) then b else max(a, b) identity 0";
  if (body->t == DT_BOOL) return monoid(c, "parity", parity);
  if (dtype_is_float(body->t) && chance(&c->rng, 50)) return monoid(c, "far", far);
  if ((body->t == DT_I64 || body->t == DT_I32) && chance(&c->rng, 50)) return monoid(c, "plus_one", plus_one);
  return monoid(c, "least", first);
}

const char *sum_name(const Case *c, const Term *body, uint32_t n, Lab *const *lab) {
  bool wide = dtype_is_float(body->t) && body->most * labs_points(n, lab) > dtype_most(dtype_sum(body->t));
  (void)c;
  return wide ? "sum:f64" : "sum";
}

static Term *signs_of(Case *c, Term *x) {
  if (!dtype_is_float(x->t) || x->most <= 1) return x;
  return term_form(c, x->exact ? "sign($0)" : "max(min($0, 1), -1)", x->t, 1, x->exact, 1, &x);
}

const char *reducer_for(Case *c, Term **body, uint32_t n, Lab *const *lab) {
  static const char *const bools[] = {"any", "all", "any", "all", "sum"};
  static const char *const limits[] = {"max", "min", "max", "min", "fmax", "fmin"};
  Term *x = *body;
  uint32_t at = below(&c->rng, 100);
  if (x->t == DT_BOOL && at >= 92) return monoid_for(c, x);
  if (x->t == DT_BOOL && at < 85) return bools[below(&c->rng, COUNT(bools))];
  if (x->t == DT_BOOL) x = *body = term_number(c, x);
  if (x->weak) x = *body = term_cast(c, DT_I64, x);
  if (at < 55) return sum_name(c, x, n, lab);
  if (at < 78) return limits[below(&c->rng, COUNT(limits))];
  if (at < 83) return *body = signs_of(c, x), "prod";
  if (!x->exact) return at < 90 ? "logsumexp" : "mean";
  if (at < 87) return "mean";
  if (at < 92) return chance(&c->rng, 50) ? "argmax" : "argmin";
  if (at < 98) return monoid_for(c, x);
  return "logsumexp";
}

/* Small enough that a sum of many, times something small, is exact still. */
Term *clipped(Case *c, Term *x) {
  if (x->t == DT_BOOL || !dtype_is_float(x->t) || !x->exact || x->most * 600 <= dtype_most(dtype_sum(x->t))) return x;
  return term_op(c, OP_MAX, term_op(c, OP_MIN, x, term_int(c, 5)), term_int(c, -5));
}

/* ---- what is done before a value is stored --------------------------------------------------------------------------
 */

static Term *epilogue_once(Case *c, Term *x, uint32_t n, Lab *const *lab) {
  static const DType casts[] = {DT_F32, DT_F16, DT_I32, DT_I8, DT_BF16, DT_F64};
  if (x->t == DT_BOOL) return computed_bool(c, x, n, lab);
  switch (below(&c->rng, 9)) {
    case 0: return term_op(c, OP_ADD, x, operand_some(c, x->t, n, lab, 40));
    case 1: return term_op(c, OP_MAX, x, term_int(c, 0));
    case 2: return term_op(c, OP_MUL, x, operand_some(c, x->t, n, lab, 40));
    case 3: return term_if(c, condition(c, n, lab), x, term_int(c, 0));
    case 4: return term_cast(c, casts[below(&c->rng, COUNT(casts))], x);
    case 5: return term_op(c, OP_SUB, operand_some(c, x->t, n, lab, 90), x);
    case 6:
      if (!x->exact) return term_real(c, "tanh($0)", 1, x);
      return term_if(c, term_op(c, OP_GT, x, term_int(c, 1)), operand_some(c, x->t, n, lab, 70), x);
    case 7:
      return term_op(c, OP_ADD, x, term_cast(c, x->t, n ? term_label(c, lab[below(&c->rng, n)]) : term_int(c, 1)));
    default: return x->exact ? term_abs(c, x) : term_real(c, "tanh($0)", 1, x);
  }
}

Term *epilogue(Case *c, Term *x, uint32_t n, Lab *const *lab) {
  for (uint32_t most = 2; most-- > 0 && chance(&c->rng, 45);) x = epilogue_once(c, x, n, lab);
  return x;
}
