/* tests/kernel/aims_more.c - programs aimed at what is no plain contraction: running sums (schedule/cpu/sums/scan.c),
 * scatters (schedule/cpu/sums/scatter.c), transposes (schedule/cpu/maps/square.c), several stages over one row,
 * convolutions. */
#include <math.h>
#include <string.h>

#include "kernels.h"

static uint32_t some(Case *c, uint32_t from, uint32_t most) {
  uint32_t n = from;
  while (n < most && chance(&c->rng, 35)) n++;
  return n;
}

static void labs_any(Case *c, uint32_t n, Lab **lab) {
  for (uint32_t k = 0; k < n; k++) lab[k] = lab_new(c, size_any(c));
}

/* ---- scans ---------------------------------------------------------------------------------------------- */

/* A bound of t that goes with s: one side or both, by one or by two. */
static Term *moving(Case *c, Term *t, Term *s) {
  Term *width = term_int(c, 1 + below(&c->rng, 40)), *far = term_int(c, below(&c->rng, 60));
  switch (below(&c->rng, 13)) {
    case 0: case 1: return term_op(c, OP_LE, t, s);
    case 2: return term_op(c, OP_LT, t, s);
    case 3: return term_op(c, OP_GE, t, s);
    case 4: return term_op(c, OP_GT, t, term_op(c, OP_SUB, s, width));
    case 5: return term_op(c, OP_LE, term_op(c, OP_ADD, t, s), width);
    case 6: return term_op(c, OP_LT, t, term_op(c, OP_ADD, term_op(c, OP_MUL, s, term_int(c, 2)), width));
    case 7: return term_op(c, OP_AND, term_op(c, OP_LE, t, s), term_op(c, OP_GE, t, term_int(c, 2)));
    case 8: return term_op(c, OP_AND, term_op(c, OP_LT, t, far), term_op(c, OP_LE, t, term_op(c, OP_SUB, s, width)));
    case 9: return term_op(c, OP_AND, term_op(c, OP_GE, t, far), term_op(c, OP_LT, t, term_op(c, OP_ADD, s, width)));
    case 10: return term_op(c, OP_GE, term_op(c, OP_ADD, t, s), width);
    case 11: return term_op(c, OP_AND, term_op(c, OP_GT, t, term_op(c, OP_SUB, s, width)), term_op(c, OP_LT, t, far));
    default: return term_op(c, OP_AND, term_op(c, OP_LE, t, s), term_op(c, OP_LT, term_op(c, OP_SUB, s, width), t));
  }
}

void aim_scan(Case *c) {
  Lab *out[4], *all[5], *data[4];
  uint32_t n_out = some(c, 1, 3), n = 0;
  labs_any(c, n_out, out);
  Lab *s = out[below(&c->rng, n_out)],
      *t = lab_new(c,
          chance(&c->rng, 60)       ? s->size
              : chance(&c->rng, 40) ? size_deep(c)
                                    : size_any(c));
  if (chance(&c->rng, 25)) t->size = s->size = size_deep(c);
  memcpy(all, out, sizeof out);
  all[n_out] = t;
  labs_fit(c, n_out + 1, all, c->points * 2);
  data[n++] = t;
  for (uint32_t k = 0; k < n_out; k++)
    if (out[k] != s && chance(&c->rng, 80)) data[n++] = out[k];
  DType type = dtype_any(c);
  Term *body = operand(c, type, SMALL, n, data, chance(&c->rng, 80));
  if (chance(&c->rng, 40)) body = computed(c, body, n, data, chance(&c->rng, 15));
  if (chance(&c->rng, 15)) { /* it looks at s: no running sum */
    Lab *both[2] = {s, t};
    body = term_op(c, OP_MUL, term_number(c, body), operand(c, DT_I32, SMALL, 2, both, true));
  }
  Term *where = moving(c, term_label(c, t), term_label(c, s));
  const char *name = reducer_for(c, &body, 1, &t);
  Term *value = term_reduce(c, name, 1, &t, where, body);
  labs_mix(c, n_out, out);
  equation_add(c, n_out, out, epilogue(c, value, n_out, out), true);
}

/* ---- scatters ---------------------------------------------------------------------------------------------- */

/* Where a point belongs: what is read, computed with, or the points themselves. */
static Term *belongs(Case *c, uint32_t n, Lab *const *points, const Size *into) {
  static const DType types[] = {DT_I64, DT_I32, DT_U8, DT_I8};
  Tensor *bin = input_new(c, types[below(&c->rng, COUNT(types))], POINTERS);
  Lab *lab[4];
  uint32_t m = 0;
  for (uint32_t k = 0; k < n; k++)
    if (!k || chance(&c->rng, 70)) lab[m++] = points[k];
  bin->rank = m;
  for (uint32_t k = 0; k < m; k++) bin->axis[k] = axis_of(lab[k]->size);
  bin->range = axis_of(into);
  if (chance(&c->rng, 30)) bin->range.plus = 2; /* some belong nowhere */
  Term *x = term_cast(c, DT_I64, tensor_at(c, bin, lab));
  switch (below(&c->rng, 6)) {
    case 0: return term_op(c, OP_SUB, x, term_int(c, 1));
    case 1: return term_op(c, OP_MOD, term_op(c, OP_ADD, x, term_label(c, points[n - 1])), term_int(c, 7));
    case 2: return term_op(c, OP_IDIV, term_label(c, points[0]), term_int(c, 3));
    default: return x;
  }
}

void aim_scatter(Case *c) {
  Lab *out[4], *red[3], *all[7], *data[7];
  uint32_t n_out = some(c, 1, 3), n_red = some(c, 1, 2), n = 0;
  labs_any(c, n_out, out);
  labs_any(c, n_red, red);
  if (chance(&c->rng, 30)) red[0]->size = size_deep(c);
  for (uint32_t k = 0; k < n_out; k++) all[k] = out[k];
  for (uint32_t k = 0; k < n_red; k++) all[n_out + k] = red[k];
  labs_fit(c, n_out + n_red, all, c->points);
  Lab *b = out[below(&c->rng, n_out)];
  for (uint32_t k = 0; k < n_red; k++) data[n++] = red[k];
  for (uint32_t k = 0; k < n_out; k++)
    if (chance(&c->rng, out[k] == b ? 20 : 70)) data[n++] = out[k];
  DType type = dtype_any(c);
  Term *body = operand(c, type, SMALL, n, data, chance(&c->rng, 80));
  if (chance(&c->rng, 30)) body = computed(c, body, n, data, false);
  Term *where = term_op(c, OP_EQ, belongs(c, n_red, red, b->size), term_label(c, b));
  if (chance(&c->rng, 25)) where = term_op(c, OP_AND, where, predicate(c, n_out, out, n_red, red));
  const char *name = reducer_for(c, &body, n_red, red);
  if (chance(&c->rng, 10)) name = "count", body = NULL;
  equation_add(c, n_out, out, epilogue(c, term_reduce(c, name, n_red, red, where, body), n_out, out), true);
}

/* ---- maps ------------------------------------------------------------------------------------------------------ */

static Term *map_operand(Case *c, DType t, uint32_t n, Lab *const *lab) {
  Term *x = chance(&c->rng, 75) ? operand(c, t, SMALL, n, lab, chance(&c->rng, 70)) : operand_some(c, t, n, lab, 65);
  return chance(&c->rng, 40) ? computed(c, x, n, lab, chance(&c->rng, 15)) : x;
}

void aim_map(Case *c) {
  static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_MAX, OP_MIN};
  Lab *lab[5];
  uint32_t n = 2 + some(c, 0, 3);
  labs_any(c, n, lab);
  labs_fit(c, n, lab, c->points / 2);
  if (chance(&c->rng, 15)) lab[0]->size = lab[1]->size;
  labs_fit(c, n, lab, c->points / 2);
  DType type = dtype_any(c);
  Term *x = map_operand(c, type, n, lab);
  for (uint32_t more = some(c, 0, 2); more-- > 0;)
    x = term_op(c, ops[below(&c->rng, COUNT(ops))], term_number(c, x), term_number(c, map_operand(c, type, n, lab)));
  Tensor *y = equation_add(c, n, lab, epilogue(c, x, n, lab), true);
  if (chance(&c->rng, 30)) { /* once more, by way of what was stored */
    Lab *other[5];
    memcpy(other, lab, sizeof lab);
    labs_mix(c, n, other);
    equation_add(c, n, other, epilogue(c, tensor_at(c, y, lab), n, other), true);
  }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct Rows { Case *c; uint32_t n_out, n_red, n; Lab *out[3], *red[2], *all[5]; bool odd; } Rows;

/* Reductions of rows that equations share: each is a stage of one kernel, where the schedule takes them together. */
static Term *row(Rows *r, const char *name, Term *body) {
  Case *c = r->c;
  Term *value = term_reduce(c, name, r->n_red, r->red, NULL, body);
  return tensor_at(c, equation_add(c, r->n_out, r->out, value, chance(&c->rng, 15)), r->out);
}

static Term *held(Rows *r, Term *value) {
  Case *c = r->c;
  if (chance(&c->rng, 50)) return value;
  return tensor_at(c, equation_add(c, r->n, r->all, value, chance(&c->rng, 10)), r->all);
}

static Term *row_exact(Rows *r, Term *x) {
  static const char *const extremes[] = {"max", "min", "max", "fmax", "fmin"};
  Case *c = r->c;
  Term *most = row(r, extremes[below(&c->rng, COUNT(extremes))], x);
  switch (below(&c->rng, 5)) {
    case 0: return term_op(c, OP_SUB, x, most);
    case 1: {
      Term *d = held(r, term_op(c, OP_SUB, most, x));
      return r->odd ? d : term_op(c, OP_SUB, d, row(r, sum_name(c, d, r->n_red, r->red), d));
    }
    case 2: return term_op(c, OP_ADD, term_op(c, OP_MUL, x, most), row(r, "min", x));
    case 3: { /* several side by side */
      Term *a = row(r, extremes[below(&c->rng, COUNT(extremes))], held(r, term_neg(c, x))), *b = row(r, "argmax", x);
      return term_op(c, OP_ADD, term_op(c, OP_MAX, x, a), term_cast(c, x->t, term_op(c, OP_MOD, b, term_int(c, 7))));
    }
    default: {
      Term *at = row(r, chance(&c->rng, 50) ? "argmax" : "argmin", x);
      return term_op(c, OP_ADD, x, term_cast(c, x->t, term_op(c, OP_SUB, at, term_label(c, r->red[0]))));
    }
  }
}

/* Values that are kept, made of each other and of what they come to along the row: which may take whose place? */
static Term *row_chain(Rows *r, Term *x) {
  static const char *const names[] = {"max", "min", "sum", "max", "argmin"};
  static const Op ops[] = {OP_SUB, OP_ADD, OP_MAX, OP_MIN, OP_SUB};
  enum { KEPT = 5 };
  Case *c = r->c;
  Term *v[KEPT] = {x};
  uint32_t n = 1, most = 3 + below(&c->rng, KEPT - 2);
  while (n < most) {
    Term *a = clipped(c, v[below(&c->rng, n)]), *b = v[below(&c->rng, n)];
    uint32_t name = below(&c->rng, r->odd ? 2 : COUNT(names));
    if (chance(&c->rng, 60)) b = row(r, names[name], b);
    v[n++] = held(r, term_op(c, ops[below(&c->rng, COUNT(ops))], a, b));
  }
  return term_op(c, OP_SUB, v[n - 1], clipped(c, v[below(&c->rng, n - 1)]));
}

static Term *row_rounded(Rows *r, Term *x) {
  Case *c = r->c;
  Term *d;
  switch (below(&c->rng, 4)) {
    case 0: { /* softmax */
      d = held(r, term_real(c, "exp($0)", 1, term_op(c, OP_SUB, x, row(r, "max", x))));
      return term_form(c, "($0 / $1)", d->t, 1, false, 2, (Term *[]){d, row(r, "sum", d)});
    }
    case 1: { /* layernorm */
      d = held(r, term_op(c, OP_SUB, x, row(r, "mean", x)));
      return term_form(
          c, "($0 / sqrt($1 + 1))", d->t, 4, false, 2, (Term *[]){d, row(r, "mean", term_op(c, OP_MUL, d, d))});
    }
    case 2: return term_op(c, OP_SUB, x, row(r, "logsumexp", x));
    default: {
      d = held(r, term_real(c, "exp($0 / 2)", 3, x));
      return term_op(c, OP_MUL, d, row(r, "sum", d));
    }
  }
}

/* The row's values times a matrix, as attention has it. */
static void row_times(Rows *r, Tensor *y) {
  Case *c = r->c;
  Lab *left[5], *wide = lab_new(c, size_any(c)), *all[6], *k = r->red[0];
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->n; i++)
    if (r->all[i] != k) left[n++] = r->all[i];
  left[n++] = wide;
  memcpy(all, left, sizeof left);
  all[n] = k;
  while (labs_room(n + 1, all) > c->points * 2 && wide->size->value > 1)
    wide->size->value /= 2, wide->size->other = wide->size->value;
  Term *v = operand(c, y->dtype == DT_BOOL ? DT_F32 : y->dtype, SMALL, 2, (Lab *[]){k, wide}, true);
  Term *body = term_op(c, OP_MUL, tensor_at(c, y, r->all), v);
  labs_mix(c, n, left);
  equation_add(c, n, left, term_reduce(c, sum_name(c, body, 1, &k), 1, &k, NULL, body), true);
}

static void rows_labels(Rows *r) {
  Case *c = r->c;
  labs_any(c, r->n_out, r->out);
  for (uint32_t k = 0; k < r->n_red; k++) r->red[k] = lab_new(c, chance(&c->rng, 25) ? size_deep(c) : size_any(c));
  for (uint32_t k = 0; k < r->n_out; k++) r->all[r->n++] = r->out[k];
  for (uint32_t k = 0; k < r->n_red; k++) r->all[r->n++] = r->red[k];
  labs_fit(c, r->n, r->all, fmax(c->points / 3, 30000));
  for (uint32_t k = 0; k < r->n_red; k++) {
    Size *s = r->red[k]->size;
    if (s->value < 1) s->value = 5;
    if (s->other < 1) s->other = 5;
  }
}

void aim_rows(Case *c) {
  static const DType floats[] = {DT_F32, DT_F32, DT_F64, DT_F16, DT_BF16};
  Rows r = {.c = c, .n_out = some(c, 1, 2), .n_red = 1 + chance(&c->rng, 20)};
  rows_labels(&r);
  bool rounded = chance(&c->rng, 45);
  r.odd = !rounded && chance(&c->rng, 15);
  DType type = rounded || r.odd ? floats[below(&c->rng, COUNT(floats))] : dtype_any(c);
  Term *x = operand(c, type, r.odd ? ODD : SMALL, r.n, r.all, chance(&c->rng, 85));
  x = term_number(c, x);
  if (chance(&c->rng, 40)) x = held(&r, term_op(c, OP_ADD, x, operand_some(c, x->t, r.n, r.all, 50)));
  Term *value = rounded ? row_rounded(&r, x) : chance(&c->rng, 40) ? row_chain(&r, x) : row_exact(&r, x);
  bool more = !r.odd && chance(&c->rng, 30);
  Lab *order[5];
  memcpy(order, r.all, sizeof order);
  if (!more && chance(&c->rng, 25)) labs_mix(c, r.n, order);
  if (!r.odd) value = epilogue(c, value, r.n, r.all);
  Tensor *y = equation_add(c, r.n, order, value, !more || chance(&c->rng, 40));
  if (more) row_times(&r, y);
}

/* ---- convolutions
 * ---------------------------------------------------------------------------------------------------- */

typedef struct Convolution {
  Case *c;
  uint32_t dims;
  Lab *out[6], *red[3], *at[2], *tap[2], *batch, *channel, *filter, *group;
  bool partial;
} Convolution;

/* An image's index along dimension d: with a step, a spread of the taps, and what is missing at the edges. */
static Term *image_index(Convolution *v, uint32_t d, bool pads, Axis *axis) {
  Case *c = v->c;
  int64_t step = chance(&c->rng, 70) ? 1 : 2, spread = chance(&c->rng, 80) ? 1 : 2,
          pad = pads ? 1 + below(&c->rng, 2) : 0;
  Lab *lab[2] = {v->at[d], v->tap[d]};
  *axis = (Axis){.a = lab[0]->size, .b = lab[1]->size, .times = step, .by = 1, .more = spread};
  if (pads) axis->b = NULL, v->partial = true;
  Term *arg[2] = {term_label(c, lab[0]), term_label(c, lab[1])};
  bool reversed = chance(&c->rng, 15); /* taps from the last to the first */
  Axis taps = axis_of(lab[1]->size);
  const char *tap = reversed ? arena_printf(c->arena, "(%s - 1 - $1)", axis_text(c->arena, &taps)) : "$1";
  const char *text =
      arena_printf(c->arena, "$0 * %lld + %s * %lld - %lld", (long long)step, tap, (long long)spread, (long long)pad);
  Term *x = term_form(c, text, DT_I64, 1, true, 2, arg);
  x->index = true;
  return x;
}

static void convolution_labels(Convolution *v) {
  Case *c = v->c;
  uint32_t n = 0, m = 0;
  v->dims = 1 + chance(&c->rng, 60);
  if (chance(&c->rng, 60)) v->out[n++] = v->batch = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  if (chance(&c->rng, 75)) v->out[n++] = v->filter = lab_new(c, size_any(c));
  if (chance(&c->rng, 15)) v->out[n++] = v->group = lab_new(c, size_new(c, 1 + below(&c->rng, 4)));
  for (uint32_t d = 0; d < v->dims; d++) {
    v->out[n++] = v->at[d] = lab_new(c, size_any(c));
    v->red[m++] = v->tap[d] = lab_new(c, size_new(c, 1 + below(&c->rng, 5)));
  }
  if (chance(&c->rng, 75)) v->red[m++] = v->channel = lab_new(c, size_any(c));
  Lab *all[9];
  memcpy(all, v->out, sizeof v->out);
  for (uint32_t k = 0; k < m; k++) all[n + k] = v->red[k];
  labs_fit(c, n + m, all, c->points);
}

static Term *image(Convolution *v, DType t) {
  Case *c = v->c;
  Tensor *x = input_new(c, t, SMALL);
  Term *at[6];
  Axis axis[6];
  uint32_t n = 0;
  bool pads = chance(&c->rng, 45);
  Lab *plain[3] = {v->batch, v->channel, v->group};
  for (uint32_t k = 0; k < 3; k++)
    if (plain[k]) axis[n] = axis_of(plain[k]->size), at[n++] = term_label(c, plain[k]);
  for (uint32_t d = 0; d < v->dims; d++) at[n] = image_index(v, d, pads, &axis[n]), n++;
  for (uint32_t k = n; k > 1; k--) {
    uint32_t i = below(&c->rng, k);
    Term *was = at[i];
    Axis is = axis[i];
    at[i] = at[k - 1], at[k - 1] = was;
    axis[i] = axis[k - 1], axis[k - 1] = is;
  }
  x->rank = n;
  memcpy(x->axis, axis, sizeof *axis * n);
  Term *read = term_read(c, x, at);
  return v->partial ? term_else(c, read) : read;
}

void aim_convolution(Case *c) {
  Convolution v = {.c = c};
  Lab *lab[8];
  uint32_t n = 0, n_out = 0, n_red = 0;
  convolution_labels(&v);
  while (n_out < COUNT(v.out) && v.out[n_out]) n_out++;
  while (n_red < COUNT(v.red) && v.red[n_red]) n_red++;
  DType t = dtype_any(c), w = chance(&c->rng, 75) ? t : dtype_any(c);
  Lab *of[3] = {v.filter, v.channel, v.group};
  for (uint32_t k = 0; k < 3; k++)
    if (of[k] && chance(&c->rng, 95)) lab[n++] = of[k];
  for (uint32_t d = 0; d < v.dims; d++) lab[n++] = v.tap[d];
  Term *x = image(&v, t), *y = operand(c, w, SMALL, n, lab, true), *body;
  if (x->t == DT_BOOL && y->t == DT_BOOL) body = term_op(c, chance(&c->rng, 50) ? OP_AND : OP_OR, x, y);
  else body = term_op(c, chance(&c->rng, 80) ? OP_MUL : OP_ADD, term_number(c, x), term_number(c, y));
  labs_mix(c, n_out, v.out);
  labs_mix(c, n_red, v.red);
  const char *name = reducer_for(c, &body, n_red, v.red);
  Term *value = term_reduce(c, name, n_red, v.red, NULL, body);
  equation_add(c, n_out, v.out, epilogue(c, value, n_out, v.out), true);
}
