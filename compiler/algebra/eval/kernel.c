/* algebra/eval/kernel.c - evaluates an EinSum over a box: its points in row-major order, one row of the last label
 * at a time; float reductions are pairwise. It deliberately shares no code with the EinGraph's evaluator. */
#include "kernel.h"

#include <math.h>
#include <string.h>

#include "formula.h"

/* ---- combining values ---------------------------------------------------------------------------------------- */

static Value identity_of(Reducer r, DType t) {
  const char *text = reducer_info[r].identity;
  if (!text) return (Value){.dtype = t};
  bool minus = *text == '-';
  if (strstr(text, "inf") && t != DT_BOOL)
    return value_cast((Value){.dtype = DT_F64, .f = minus ? -(double)INFINITY : (double)INFINITY}, t);
  bool one = strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || strcmp(text, "inf") == 0;
  return value_cast((Value){.dtype = DT_I64, .i = one}, t);
}

Fold fold_of(Arena *a, Reducer reducer, const Monoid *monoid, DType acc) {
  const char *why = NULL;
  Fold f = {.reducer = reducer, .acc = acc, .identity = identity_of(reducer, acc)};
  if (reducer != RED_MONOID) return f;
  BUG_UNLESS(monoid && monoid->dtype == acc);
  Formula *identity = formula_new(a, monoid->identity, acc, 0, 0, &why);
  formula_run(identity, NULL, 1, NULL);
  formula_values(identity, 1, &f.identity);
  f.monoid = formula_new(a, monoid->combine, acc, 0, 0, &why);
  BUG_UNLESS(!why);
  return f;
}

Value fold_pair(const Fold *f, Value a, Value b) {
  Formula *p = f->monoid;
  if (!p) {
    if (f->reducer == RED_SUM && f->acc == DT_F32)
      return (Value){.dtype = DT_F32, .f = (double)((float)a.f + (float)b.f)};
    return op_value(reducer_info[f->reducer].combine, f->acc, 2, (Value[]){a, b});
  }
  formula_params(p, a, b);
  formula_run(p, NULL, 1, NULL);
  formula_values(p, 1, &a);
  return a;
}

bool fold_beats(const Fold *f, Value x, Value best) {
  bool most = f->reducer == RED_ARGMAX;
  if (!dtype_is_float(f->acc)) return most ? x.i > best.i : x.i < best.i;
  return !isnan(best.f) && (isnan(x.f) || (most ? x.f > best.f : x.f < best.f));
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

struct Kernel {
  const EinSum *sum;
  uint32_t n_label;
  Formula *domain, *where, *body; /* NULL: not there */
  Formula *formula[3];       /* those that exist */
  uint32_t n_formula;
  Fold fold;
  int64_t *at;               /* the labels' values */
};

Kernel *kernel_new(Arena *a, const EinSum *s, uint32_t n_turn, const char **why) {
  Kernel *k = NEW(a, Kernel);
  const char *wrong = NULL;
  *k = (Kernel){.sum = s, .n_label = s->n_out + s->n_red};
  k->at = NEW_ARRAY(a, int64_t, k->n_label + 1);
  if (s->domain) k->domain = formula_new(a, s->domain, DT_BOOL, k->n_label, n_turn, &wrong);
  if (s->where) k->where = formula_new(a, s->where, DT_BOOL, k->n_label, n_turn, &wrong);
  k->body = formula_new(a, s->body, s->acc, k->n_label, n_turn, &wrong);
  for (uint32_t i = 0; i < 3; i++) {
    Formula *p = i == 0 ? k->domain : i == 1 ? k->where : k->body;
    if (p) k->formula[k->n_formula++] = p;
  }
  k->fold = fold_of(a, s->reducer, s->monoid, s->acc);
  *why = wrong;
  return wrong ? NULL : k;
}

bool kernel_reads(const Kernel *k, uint32_t slot, DType t, uint32_t rank) {
  return formula_reads(k->domain, slot, t, rank) && formula_reads(k->where, slot, t, rank) &&
      formula_reads(k->body, slot, t, rank);
}

static void labels_changed(Kernel *k, uint32_t from) {
  for (uint32_t i = 0; i < k->n_formula; i++) formula_labels(k->formula[i], from, k->at);
}

static void kernel_start(Kernel *k, const KernelCall *c) {
  for (uint32_t l = 0; l < k->n_label; l++) k->at[l] = c->low[l];
  for (uint32_t i = 0; i < k->n_formula; i++) formula_start(k->formula[i], c->turn, c->asked, c->slot);
  labels_changed(k, 0);
}

/* Steps to the next point of labels from..to-1, the last fastest. False after the last point, with all at their lows
 * again. */
static bool point_next(Kernel *k, const KernelCall *c, uint32_t from, uint32_t to) {
  uint32_t l = to;
  bool more = false;
  while (!more && l-- > from) {
    more = ++k->at[l] < c->high[l];
    if (!more) k->at[l] = c->low[l];
  }
  if (to > from) labels_changed(k, more ? l : from);
  return more;
}

static bool no_points(const KernelCall *c, uint32_t from, uint32_t to) {
  for (; from < to; from++)
    if (c->high[from] <= c->low[from]) return true;
  return false;
}

/* Reports a fault; always returns false. The labels are those of the row's first point. */
static bool fault_tell(Kernel *k, KernelCall *c, const Formula *p, uint32_t point) {
  if (c->gaps) return false;
  Fault f = formula_fault(p, point, c->arena);
  const Block *b = c->operand[f.slot];
  if (k->n_label) k->at[k->n_label - 1] += point;
  c->slot = f.slot;
  c->rank = f.rank;
  c->index = f.index;
  c->at = k->at;
  for (c->dim = 0; b && c->dim < f.rank; c->dim++)
    if (f.index[c->dim] < b->low[c->dim] || f.index[c->dim] >= b->high[c->dim]) break;
  return false;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Begins a row here, of at most this many points of the last label. */
static uint32_t row_begin(Kernel *k, const KernelCall *c, int64_t from) {
  uint32_t last = k->n_label - 1;
  uint32_t n = c->high[last] - from < ROW ? (uint32_t)(c->high[last] - from) : ROW;
  k->at[last] = from;
  for (uint32_t i = 0; i < k->n_formula; i++) formula_row(k->formula[i], from, n);
  return n;
}

typedef struct Picked {      /* the points of a row that a condition admits */
  uint8_t on[ROW];
  uint32_t n;                /* their number */
  uint32_t end;              /* the points before a failure; all of them, if there is none */
} Picked;

static const uint8_t *row_pick(Formula *p, const KernelCall *c, uint32_t n, Picked *to) {
  to->n = to->end = n;
  if (!p) return NULL;
  formula_run(p, c->operand, n, NULL);
  Value x[ROW];
  formula_values(p, n, x);
  to->n = 0;
  for (uint32_t j = 0; formula_fails(p) && j < to->end; j++)
    if (formula_failed(p, j)) to->end = j;
  for (uint32_t j = 0; j < n; j++) {
    to->on[j] = j < to->end && x[j].i != 0;
    to->n += to->on[j];
  }
  return to->on;
}

static const Value *row_body(Kernel *k, const KernelCall *c, uint32_t n, const uint8_t *on, Value *to) {
  formula_run(k->body, c->operand, n, on);
  formula_values(k->body, n, to);
  return to;
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* A reduction in progress. For floats partial k covers 2^k consecutive points, so that rounding errors stay small. */
typedef struct Partials {
  Value at[64];
  uint64_t n;                /* points so far; its bits say which partials are in use */
  int64_t best;              /* argmax: the place of the best so far */
} Partials;

static void partials_add(Kernel *k, Partials *p, Value x) {
  uint64_t n = p->n++;
  if (!dtype_is_float(k->fold.acc)) {
    p->at[0] = fold_pair(&k->fold, n ? p->at[0] : k->fold.identity, x);
    return;
  }
  uint32_t i = 0;
  if (!n) x = fold_pair(&k->fold, k->fold.identity, x);
  for (; n & 1; n >>= 1) x = fold_pair(&k->fold, p->at[i++], x);
  p->at[i] = x;
}

static Value partials_end(const Kernel *k, const Partials *p) {
  Value x = k->fold.identity;
  bool any = false;
  if (!dtype_is_float(k->fold.acc)) return p->n ? p->at[0] : x;
  for (uint32_t i = 0; i < 64 && p->n >> i; i++) {
    if (!(p->n >> i & 1)) continue;
    x = any ? fold_pair(&k->fold, p->at[i], x) : p->at[i];
    any = true;
  }
  return x;
}

/* The row-major place over the whole extents of the reduced labels. */
static int64_t point_place(const Kernel *k, const KernelCall *c) {
  uint64_t place = 0;
  for (uint32_t l = 0; l < k->sum->n_red; l++)
    place = place * (uint64_t)c->whole[l] + (uint64_t)k->at[k->sum->n_out + l];
  return (int64_t)place;
}

static void partials_meet(Kernel *k, Partials *p, Value x, int64_t place) {
  if (!reducer_is_arg(k->fold.reducer)) {
    partials_add(k, p, x);
  } else if (!p->n++ || fold_beats(&k->fold, x, p->at[0])) {
    p->at[0] = x;
    p->best = place;
  }
}

static bool row_reduce(Kernel *k, KernelCall *c, Partials *p, uint32_t n) {
  Picked some;
  Value room[ROW];
  const uint8_t *on = row_pick(k->where, c, n, &some);
  int64_t place = reducer_is_arg(k->fold.reducer) ? point_place(k, c) : 0;
  const Value *x = some.n ? row_body(k, c, n, on, room) : NULL;
  bool fails = x && formula_fails(k->body);
  for (uint32_t j = 0; x && j < some.end; j++) {
    if (on && !on[j]) continue;
    if (fails && formula_failed(k->body, j)) return fault_tell(k, c, k->body, j);
    partials_meet(k, p, x[j], place + j);
  }
  return some.end == n || fault_tell(k, c, k->where, some.end);
}

/* For kernels whose last label is reduced. */
static bool rows_reduce(Kernel *k, KernelCall *c, Partials *p) {
  uint32_t last = k->n_label - 1, n;
  do
    for (int64_t from = c->low[last]; from < c->high[last]; from += n) {
      n = row_begin(k, c, from);
      if (!row_reduce(k, c, p, n)) return false;
    }
  while (point_next(k, c, k->sum->n_out, last));
  k->at[last] = c->low[last];
  return true;
}

static bool point_reduce(Kernel *k, KernelCall *c, int64_t to) {
  Partials p;
  p.n = 0;
  p.best = 0;
  if (!no_points(c, k->sum->n_out, k->n_label) && !(k->sum->n_red ? rows_reduce(k, c, &p) : row_reduce(k, c, &p, 1)))
    return false;
  if (!reducer_is_arg(k->fold.reducer)) {
    element_store(c->out->data, k->sum->acc, to, partials_end(k, &p));
  } else if (p.n) {
    element_store(c->out->data, k->sum->acc, to, p.at[0]);
    c->out->place[to] = p.best;
  } else {
    block_mask(c->arena, c->out);
    c->out->has[to] = HAS_EMPTY;
  }
  return true;
}

/* ---- points that come out ---------------------------------------------------------------------------------------- */

static void element_without(KernelCall *c, int64_t to, uint8_t why) {
  block_mask(c->arena, c->out);
  c->out->has[to] = why;
}

/* Computes a row of outputs, one value each. */
static bool row_map(Kernel *k, KernelCall *c, int64_t to, uint32_t n) {
  Picked some;
  Value room[ROW];
  const uint8_t *on = row_pick(k->domain, c, n, &some);
  const Value *x = some.n ? row_body(k, c, n, on, room) : room;
  for (uint32_t j = 0; j < some.end; j++) {
    bool is = !on || on[j], failed = is && formula_failed(k->body, j);
    if (failed && !c->gaps) return fault_tell(k, c, k->body, j);
    if (is && !failed) element_store(c->out->data, k->sum->acc, to + j, x[j]);
    else element_without(c, to + j, failed ? HAS_MISSED : HAS_NONE);
  }
  return some.end == n || fault_tell(k, c, k->domain, some.end);
}

static bool point_do(Kernel *k, KernelCall *c, int64_t to) {
  Picked some;
  if (k->sum->reducer == RED_NONE) return row_map(k, c, to, 1);
  row_pick(k->domain, c, 1, &some);
  if (!some.end) return fault_tell(k, c, k->domain, 0);
  if (some.n) return point_reduce(k, c, to);
  element_without(c, to, HAS_NONE);
  return true;
}

static bool rows_map(Kernel *k, KernelCall *c) {
  uint32_t last = k->n_label - 1, n;
  int64_t to = 0;
  do
    for (int64_t from = c->low[last]; from < c->high[last]; from += n, to += n) {
      n = row_begin(k, c, from);
      if (!row_map(k, c, to, n)) return false;
    }
  while (point_next(k, c, 0, last));
  return true;
}

bool kernel_run(Kernel *k, KernelCall *c) {
  uint32_t n_out = k->sum->n_out;
  int64_t to = 0;
  if (no_points(c, 0, n_out)) return true;
  kernel_start(k, c);
  if (k->sum->reducer == RED_NONE && n_out && !k->sum->n_red) return rows_map(k, c);
  do
    if (!point_do(k, c, to++)) return false;
  while (point_next(k, c, 0, n_out));
  return true;
}
