/* tests/kernel/aims_blocks.c - programs aimed at products that share rows (schedule/cpu/rows/block.c): the scores of
 * rows and columns, what is made of them along a row, products with what all rows share. And at packed contractions
 * under predicates, and whose value a condition asks for (schedule/cpu/panels/, schedule/where.c). */
#include <math.h>
#include <string.h>

#include "kernels.h"

static const int64_t tall[] = {
    16, 17, 31, 32, 33, 45, 63, 64, 65, 70, 96, 97, 127, 128, 129, 130, 161, 193, 255, 256, 257, 300};

static Size *size_tall(Case *c) { return size_new(c, tall[below(&c->rng, COUNT(tall))]); }

static Term *compare(Case *c, Op op, Term *a, Term *b) { return term_op(c, op, a, b); }
static Term *plus(Case *c, Term *a, Term *b) { return term_op(c, OP_ADD, a, b); }
static Term *minus(Case *c, Term *a, Term *b) { return term_op(c, OP_SUB, a, b); }
static Term *both(Case *c, Term *a, Term *b) { return term_op(c, OP_AND, a, b); }

static void mix_some(Case *c, uint32_t n, Lab **lab, uint32_t percent) {
  if (chance(&c->rng, percent)) labs_mix(c, n, lab);
}

/* ---- masks ---------------------------------------------------------------------------------------------- */

/* of rows s and columns t */
typedef struct Mask { uint32_t kind; int64_t width; Tensor *data; Lab *at[2]; uint32_t n; } Mask;

static Mask mask_new(Case *c, Lab *s, Lab *t) {
  Mask m = {.kind = below(&c->rng, 20), .width = below(&c->rng, 12)};
  m.at[m.n++] = t;
  if (chance(&c->rng, 30)) m.at[m.n++] = s;
  if (m.kind != 8 && m.kind != 9) return m;
  m.data = input_new(c, DT_BOOL, SMALL);
  m.data->rank = m.n;
  for (uint32_t k = 0; k < m.n; k++) m.data->axis[k] = axis_of(m.at[k]->size);
  return m;
}

static Term *quotient(Case *c, Term *of, const Mask *m) { return term_op(c, OP_IDIV, of, term_int(c, m->width + 1)); }

/* NULL: there is none. */
static Term *mask_term(Case *c, const Mask *m, Lab *row, Lab *column) {
  Term *s = term_label(c, row), *t = term_label(c, column), *w = term_int(c, m->width);
  Axis wide = axis_of(column->size), high = axis_of(row->size);
  const char *text = arena_printf(c->arena, "$0 + %s - %s", axis_text(c->arena, &wide), axis_text(c->arena, &high));
  switch (m->kind) {
    case 0: case 1: case 2: return compare(c, OP_LE, t, s);
    case 3: return compare(c, OP_LT, t, plus(c, s, w));
    case 4: return compare(c, OP_LE, plus(c, t, w), s); /* the first rows have nothing */
    case 5: return both(c, compare(c, OP_LE, t, s), compare(c, OP_GT, t, minus(c, s, w)));
    case 6: return compare(c, OP_GE, t, minus(c, s, w));
    case 7: return compare(c, OP_LT, plus(c, t, s), term_int(c, m->width * 9));
    case 8: return tensor_at(c, m->data, m->at);
    case 9: return both(c, compare(c, OP_LE, t, s), tensor_at(c, m->data, m->at));
    case 10: return compare(c, OP_LE, t, term_form(c, text, DT_I64, 1, true, 1, &s)); /* the last row has all */
    case 11: return compare(c, OP_NE, term_op(c, OP_MOD, plus(c, s, t), term_int(c, 3)), term_int(c, 0));
    case 12: return compare(c, OP_EQ, quotient(c, t, m), quotient(c, s, m));
    case 13: return compare(c, m->width % 2 ? OP_LE : OP_GE, quotient(c, t, m), quotient(c, s, m));
    case 14: return term_op(c, OP_OR, compare(c, OP_LE, t, s), compare(c, OP_LT, t, term_int(c, m->width * 5)));
    case 15: /* a window, and the first few */
      return term_op(c, OP_OR, both(c, compare(c, OP_LE, t, s), compare(c, OP_GT, t, minus(c, s, w))),
          compare(c, OP_LT, t, term_int(c, 3)));
    default: return NULL;
  }
}

/* ---- products that share rows ------------------------------------------------------------------------------ */

typedef struct Blocks {
  Case *c;
  uint32_t n_batch, n_rows, n_points;
  Lab *batch[2], *s, *t, *d, *e;
  Lab *rows[3], *points[4];  /* batch, s; and t */
  Mask mask;
  Tensor *last, *before;     /* over points as in `order`, `order_before` */
  Lab *order[4], *order_before[4];
} Blocks;

static void fit(Case *c, Blocks *b, Lab *inner, double most) {
  Lab *all[5];
  memcpy(all, b->points, sizeof b->points);
  all[b->n_points] = inner;
  labs_fit(c, b->n_points + 1, all, most);
}

static void blocks_labels(Blocks *b) {
  Case *c = b->c;
  /* so that there are rows enough */
  double most = fmax(c->points, 120000), each = chance(&c->rng, 70) ? most / 80 : most / 32;
  b->n_batch = below(&c->rng, 100) < 55 ? 0 : 1 + chance(&c->rng, 30);
  for (uint32_t k = 0; k < b->n_batch; k++)
    b->rows[k] = b->points[k] = b->batch[k] = lab_new(c, size_new(c, 1 + below(&c->rng, 4)));
  b->s = lab_new(c, size_tall(c));
  b->t = lab_new(c, chance(&c->rng, 30) ? b->s->size : chance(&c->rng, 50) ? size_tall(c) : size_any(c));
  b->d = lab_new(c, size_any(c));
  b->e = lab_new(c, chance(&c->rng, 25) ? b->d->size : size_any(c));
  b->rows[b->n_batch] = b->points[b->n_batch] = b->s;
  b->n_rows = b->n_batch + 1;
  b->points[b->n_rows] = b->t;
  b->n_points = b->n_rows + 1;
  for (uint32_t k = 0; k < 2; k++) {
    Lab *inner = k ? b->e : b->d, *all[2] = {inner, b->t};
    labs_fit(c, 2, all, each);
    fit(c, b, inner, most);
  }
}

static Term *mask_of(Blocks *b) { return mask_term(b->c, &b->mask, b->s, b->t); }
static Term *mask_some(Blocks *b, uint32_t percent) { return chance(&b->c->rng, percent) ? mask_of(b) : NULL; }

/* An operand over some of the batch and two labels more. */
static Term *matrix(Blocks *b, DType t, uint32_t percent, Lab *x, Lab *y) {
  Case *c = b->c;
  Lab *lab[4];
  uint32_t n = 0;
  for (uint32_t k = 0; k < b->n_batch; k++)
    if (chance(&c->rng, percent)) lab[n++] = b->batch[k];
  lab[n++] = x, lab[n++] = y;
  Term *m = operand(c, t, SMALL, n, lab, chance(&c->rng, 92));
  return chance(&c->rng, 20) ? computed(c, m, n, lab, false) : m;
}

static Term *product(Case *c, Term *a, Term *b) {
  if (a->t == DT_BOOL && b->t == DT_BOOL) return term_op(c, chance(&c->rng, 60) ? OP_AND : OP_NE, a, b);
  return term_op(c,
      chance(&c->rng, 85)       ? OP_MUL
          : chance(&c->rng, 50) ? OP_ADD
                                : OP_SUB,
      term_number(c, a), term_number(c, b));
}

static const char *reducer(Case *c, Term **body, uint32_t n, Lab *const *lab) {
  return (*body)->t == DT_BOOL || chance(&c->rng, 20) ? reducer_for(c, body, n, lab) : sum_name(c, *body, n, lab);
}

static Term *points_store(Blocks *b, Term *x, bool output) {
  Case *c = b->c;
  b->before = b->last;
  memcpy(b->order_before, b->order, sizeof b->order);
  memcpy(b->order, b->points, sizeof b->points);
  mix_some(c, b->n_points, b->order, 20);
  b->last = equation_add(c, b->n_points, b->order, x, output);
  return tensor_at(c, b->last, b->order);
}

static Term *row_store(Blocks *b, Term *x) {
  Case *c = b->c;
  Lab *order[3];
  memcpy(order, b->rows, sizeof b->rows);
  mix_some(c, b->n_rows, order, 30);
  return tensor_at(c, equation_add(c, b->n_rows, order, x, chance(&c->rng, 12)), order);
}

/* Something of each row: reduced along the columns. */
static Term *along_row(Blocks *b, Term *x, const char *name) {
  Case *c = b->c;
  if (!name || x->t == DT_BOOL) name = reducer_for(c, &x, 1, &b->t);
  return row_store(b, term_reduce(c, name, 1, &b->t, mask_some(b, 70), x));
}

/* The element one row or one column before, or the columns from the last to the first. */
static Term *beside(Blocks *b) {
  Case *c = b->c;
  Term *at[4], *one;
  Lab *moved = chance(&c->rng, 70) ? b->t : b->s;
  Axis axis = axis_of(moved->size);
  bool reversed = chance(&c->rng, 40);
  const char *text = reversed ? arena_printf(c->arena, "%s - 1 - $0", axis_text(c->arena, &axis)) : "$0 - 1";
  for (uint32_t k = 0; k < b->n_points; k++) {
    at[k] = one = term_label(c, b->order[k]);
    if (b->order[k] == moved) at[k] = term_form(c, text, DT_I64, 1, true, 1, &one), at[k]->index = true;
  }
  Term *x = term_read(c, b->last, at);
  return reversed ? x : term_else(c, x);
}

static Term *combined(Case *c, Term *x, Term *y) {
  static const Op ops[] = {OP_SUB, OP_SUB, OP_SUB, OP_ADD, OP_MAX, OP_MIN, OP_MUL};
  Op op = ops[below(&c->rng, COUNT(ops))];
  x = term_number(c, x), y = term_number(c, y);
  if (op == OP_MUL && dtype_is_float(x->t) && x->most * y->most > 4096) op = OP_SUB;
  return term_op(c, op, x, y);
}

/* What it was some steps ago. */
static Term *earlier(Blocks *b, Term *x) { return b->before ? tensor_at(b->c, b->before, b->order_before) : x; }

static Term *step_exact(Blocks *b, Term *x) {
  Case *c = b->c;
  Term *mask = mask_of(b);
  if (mask && chance(&c->rng, 20))
    return term_if(
        c, mask, x, chance(&c->rng, 60) ? term_int(c, 0) : operand_some(c, x->t, b->n_points, b->points, 50));
  switch (below(&c->rng, 9)) {
    case 7: case 8: return b->before ? combined(c, x, earlier(b, x)) : x;
    case 0: case 1: return combined(c, x, along_row(b, x, chance(&c->rng, 50) ? "max" : NULL));
    case 2: return combined(c, x, operand_some(c, x->t, b->n_points, b->points, 50));
    case 3: return b->last ? combined(c, x, beside(b)) : x;
    case 4: return term_if(c, condition(c, b->n_points, b->points), x, term_int(c, 1));
    case 5: return combined(c, x, along_row(b, x, "sum"));
    default: return computed(c, x, b->n_points, b->points, false);
  }
}

static void def_once(Case *c, const char *line) {
  for (uint32_t k = 0; k < c->lines.len; k++)
    if (c->lines.at[k] == line) return;
  vec_push(c->arena, c->lines, line);
}

/* As softmax is written, by hand or by the prelude's def. */
static Term *step_rounded(Blocks *b, Term *x) {
  static const char soft[] = "def soft[j](x) { m = max[j] x; e = exp(x - m); e / (sum[j] e) }";
  Case *c = b->c;
  Term *mask = mask_of(b), *args[2] = {x, mask};
  DType t = dtype_is_float(x->t) ? x->t : DT_F64;
  if (chance(&c->rng, 25)) {
    const char *form = arena_printf(c->arena, mask ? "(soft[%s where $1]($0) ?? 0)" : "soft[%s]($0)", b->t->name);
    def_once(c, soft);
    return term_form(c, form, t, 1, false, mask ? 2 : 1, args);
  }
  if (mask && dtype_is_float(x->t) && chance(&c->rng, 30)) {
    x = term_form(c, "(if $1 then $0 else -inf)", t, x->most, x->exact, 2, args);
    if (chance(&c->rng, 50)) x = points_store(b, x, false);
    mask = mask_some(b, 30);
  }
  if (chance(&c->rng, 30)) x = points_store(b, term_real(c, "($0 * 0.3)", x->most, x), chance(&c->rng, 10));
  Term *m = row_store(b, term_reduce(c, "max", 1, &b->t, mask, x));
  Term *w = term_real(c, chance(&c->rng, 50) ? "exp(min($0, 0))" : "exp(min($0, 0) / 8)", 1, minus(c, x, m));
  mask = mask_some(b, 60);
  w = points_store(b, mask ? term_if(c, mask, w, term_int(c, 0)) : w, chance(&c->rng, 10));
  Term *z = row_store(b, term_reduce(c, "sum", 1, &b->t, mask_some(b, 50), w));
  Term *of[2] = {w, z};
  return chance(&c->rng, 50) ? term_form(c, "($0 / ($1 + 1))", t, 1, false, 2, of) : w;
}

static Term *scores(Blocks *b) {
  Case *c = b->c;
  DType q = dtype_any(c), k = chance(&c->rng, 80) ? q : dtype_any(c);
  Term *x = matrix(b, q, 95, b->s, b->d), *y = matrix(b, k, 65, b->t, b->d);
  Term *body = chance(&c->rng, 50) ? product(c, x, y) : product(c, y, x);
  if (chance(&c->rng, 7)) body = product(c, body, operand_some(c, body->t, b->n_points, b->points, 60));
  const char *name = reducer(c, &body, 1, &b->d);
  Lab *out[4] = {b->s, b->t};
  Term *where = chance(&c->rng, 6) ? predicate(c, 2, out, 1, &b->d) : NULL;
  return term_reduce(c, name, 1, &b->d, where, body);
}

/* What is left, times what all rows share, along the columns; or along the rows. */
static Tensor *times(Blocks *b, Term *x, Lab *along, Lab **left) {
  Case *c = b->c;
  uint32_t n = 0;
  Lab *stays = along == b->t ? b->s : b->t;
  for (uint32_t k = 0; k < b->n_batch; k++) left[n++] = b->batch[k];
  left[n++] = stays, left[n++] = b->e;
  x = clipped(c, x);
  DType t = x->t == DT_BOOL || chance(&c->rng, 85) ? x->t : dtype_any(c);
  Term *body = product(c, x, matrix(b, t, 65, along, b->e));
  const char *name = reducer(c, &body, 1, &along);
  Term *value = term_reduce(c, name, 1, &along, mask_some(b, 50), body);
  Mask m = {.kind = below(&c->rng, 7), .width = below(&c->rng, 12)};
  if (chance(&c->rng, 15)) value = term_if(c, mask_term(c, &m, stays, b->e), value, term_int(c, 1));
  if (chance(&c->rng, 40)) value = epilogue(c, value, n, left);
  mix_some(c, n, left, 40);
  return equation_add(c, n, left, value, true);
}

static void again(Blocks *b, Tensor *y, Lab *const *left) {
  Case *c = b->c;
  Lab *f = lab_new(c, size_any(c)), *to[4];
  uint32_t n = y->rank;
  for (uint32_t k = 0; k < n; k++) to[k] = left[k] == b->e ? f : left[k];
  Lab *all[5];
  memcpy(all, left, sizeof *left * n);
  all[n] = f;
  while (labs_room(n + 1, all) > fmax(c->points, 120000) && f->size->value > 1)
    f->size->value /= 2, f->size->other = f->size->value;
  Term *body = product(c, clipped(c, tensor_at(c, y, left)), operand(c, y->dtype, SMALL, 2, (Lab *[]){b->e, f}, true));
  const char *name = reducer(c, &body, 1, &b->e);
  mix_some(c, n, to, 20);
  equation_add(c, n, to, term_reduce(c, name, 1, &b->e, NULL, body), true);
}

void aim_blocks(Case *c) {
  Blocks b = {.c = c};
  Lab *left[4], *other[4];
  blocks_labels(&b);
  b.mask = mask_new(c, b.s, b.t);
  Term *x = points_store(&b, scores(&b), chance(&c->rng, 15));
  bool rounded = chance(&c->rng, 35);
  for (uint32_t steps = 1 + below(&c->rng, 4); steps-- > 0;) {
    x = clipped(c, x);
    if (x->most > 1e6 && dtype_is_float(x->t)) break;
    x = rounded && x->exact && x->t != DT_BOOL ? step_rounded(&b, x) : step_exact(&b, x);
    if (chance(&c->rng, 65)) x = points_store(&b, x, chance(&c->rng, 15));
  }
  Tensor *y = times(&b, x, b.t, left);
  if (chance(&c->rng, 15)) times(&b, chance(&c->rng, 50) ? x : earlier(&b, x), b.t, other);
  if (chance(&c->rng, 10)) times(&b, x, b.s, other);
  if (chance(&c->rng, 15)) again(&b, y, left);
}

/* ---- packed contractions under predicates -------------------------------------------------------------------- */

typedef struct Masked {
  Case *c;
  uint32_t n_common, n_rows, n_lanes, n;
  Lab *common[1], *rows[2], *lanes[2], *t, *out[5];
} Masked;

static void masked_labels(Masked *m) {
  Case *c = m->c;
  double most = fmax(c->points, 100000);
  uint32_t n = 0;
  bool deep = chance(&c->rng, 12);
  m->rows[m->n_rows++] = lab_new(c, size_tall(c));
  m->lanes[m->n_lanes++] = lab_new(c, chance(&c->rng, 25) ? m->rows[0]->size : size_tall(c));
  m->t = lab_new(c, deep ? size_deep(c) : chance(&c->rng, 40) ? m->rows[0]->size : size_tall(c));
  if (chance(&c->rng, 20)) m->rows[m->n_rows++] = lab_new(c, size_new(c, 1 + below(&c->rng, 4)));
  if (chance(&c->rng, 20)) m->lanes[m->n_lanes++] = lab_new(c, size_new(c, 1 + below(&c->rng, 4)));
  if (chance(&c->rng, 20)) m->common[m->n_common++] = lab_new(c, size_new(c, 1 + below(&c->rng, 3)));
  for (uint32_t k = 0; k < m->n_rows; k++) m->out[n++] = m->rows[k];
  for (uint32_t k = 0; k < m->n_lanes; k++) m->out[n++] = m->lanes[k];
  for (uint32_t k = 0; k < m->n_common; k++) m->out[n++] = m->common[k];
  m->n = n;
  Lab *all[6];
  memcpy(all, m->out, sizeof m->out);
  all[n] = m->t;
  if (deep) labs_fit(c, n, m->out, 700), most = 1e6; /* several blocks of t */
  labs_fit(c, n + 1, all, most);
  labs_mix(c, n, m->out);
}

/* A sum of some of the output's labels, and a number. */
static Term *affine(Masked *m) {
  Case *c = m->c;
  Term *x = term_label(c, m->out[below(&c->rng, m->n)]);
  if (chance(&c->rng, 15)) x = term_op(c, OP_MUL, x, term_int(c, 1 + below(&c->rng, 3)));
  if (chance(&c->rng, 35))
    x = term_op(c, chance(&c->rng, 50) ? OP_SUB : OP_ADD, x, term_label(c, m->out[below(&c->rng, m->n)]));
  if (chance(&c->rng, 40)) x = term_op(c, chance(&c->rng, 50) ? OP_SUB : OP_ADD, x, term_int(c, below(&c->rng, 40)));
  return x;
}

/* Mostly what says from where to where t goes. */
static Term *bound(Masked *m) {
  static const Op ops[] = {OP_LE, OP_LT, OP_GE, OP_GT};
  Case *c = m->c;
  Op op = ops[below(&c->rng, COUNT(ops))];
  Term *t = term_label(c, m->t), *x = affine(m);
  switch (below(&c->rng, 14)) {
    case 0: return predicate(c, m->n, m->out, 1, &m->t);
    case 1: return compare(c, op, plus(c, t, x), term_int(c, 20 + below(&c->rng, 100)));
    case 2: return compare(c, op, minus(c, x, t), affine(m));
    case 3: return compare(c, op, plus(c, term_op(c, OP_MUL, t, term_int(c, 2)), affine(m)), plus(c, t, x));
    case 4: return compare(c, op, t, term_int(c, below(&c->rng, 90)));
    case 5:
    case 6:
      return both(c, compare(c, OP_LE, t, x), compare(c, OP_GT, t, minus(c, x, term_int(c, 1 + below(&c->rng, 40)))));
    case 7: return both(c, compare(c, OP_LE, t, x), compare(c, op, t, affine(m)));
    case 8: return compare(c, OP_LE, t, term_label(c, m->rows[0]));
    case 9: return compare(c, OP_LE, plus(c, t, term_label(c, m->lanes[0])), term_label(c, m->rows[0]));
    default: return compare(c, op, t, x);
  }
}

static Term *asked(Masked *m) {
  static const Op ops[] = {OP_LE, OP_LT, OP_GE, OP_GT};
  Case *c = m->c;
  Op op = ops[below(&c->rng, COUNT(ops))];
  Term *x = affine(m);
  switch (below(&c->rng, 8)) {
    case 0: return condition(c, m->n, m->out);
    case 1: return compare(c, op, x, term_int(c, below(&c->rng, 60)));
    case 2:
      return both(c, compare(c, OP_LE, x, affine(m)),
          compare(c, OP_GT, x, minus(c, affine(m), term_int(c, below(&c->rng, 30)))));
    case 3: return compare(c, OP_LE, term_label(c, m->lanes[0]), term_label(c, m->rows[0]));
    default: return compare(c, op, x, affine(m));
  }
}

static Term *masked_side(Masked *m, DType t, uint32_t n_own, Lab *const *own) {
  Case *c = m->c;
  Lab *lab[4];
  uint32_t n = 0;
  for (uint32_t k = 0; k < n_own; k++) lab[n++] = own[k];
  if (m->n_common && chance(&c->rng, 80)) lab[n++] = m->common[0];
  lab[n++] = m->t;
  Term *x = operand(c, t, SMALL, n, lab, chance(&c->rng, 90));
  return chance(&c->rng, 30) ? computed(c, x, n, lab, false) : x;
}

static Term *masked_sum(Masked *m, uint32_t percent) {
  Case *c = m->c;
  DType t = dtype_any(c), w = chance(&c->rng, 75) ? t : dtype_any(c);
  Term *a = masked_side(m, t, m->n_rows, m->rows), *b = masked_side(m, w, m->n_lanes, m->lanes);
  Term *body = chance(&c->rng, 50) ? product(c, a, b) : product(c, b, a);
  const char *name = reducer(c, &body, 1, &m->t);
  return term_reduce(c, name, 1, &m->t, chance(&c->rng, percent) ? bound(m) : NULL, body);
}

static Term *otherwise(Masked *m, Term *x) {
  Case *c = m->c;
  switch (below(&c->rng, 6)) {
    case 0: return operand_some(c, x->t, m->n, m->out, 60);
    case 1: return masked_sum(m, 40);
    case 2: return term_cast(c, x->t, term_label(c, m->out[0]));
    default: return term_int(c, below(&c->rng, 3));
  }
}

void aim_masked(Case *c) {
  Masked m = {.c = c};
  masked_labels(&m);
  bool some = chance(&c->rng, 45);
  Term *x = masked_sum(&m, some ? 40 : 90);
  if (chance(&c->rng, 25)) x = epilogue(c, x, m.n, m.out);
  if (some) x = term_if(c, asked(&m), x, otherwise(&m, x));
  if (chance(&c->rng, 25)) x = epilogue(c, x, m.n, m.out);
  equation_add(c, m.n, m.out, x, true);
}
