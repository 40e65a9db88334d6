/* graph/passes/pass_tables.c - a function of an integer that has few values is computed once for each of these:
 *
 *     Y[k] = sum[n] x[n] * cos(2*pi*(k*n % N)/N)      becomes      T[m] = cos(2*pi*m/N)
 *                                                                  Y[k] = sum[n] x[n] * T[k*n % N]
 *
 * So is a kernel of differences, exp(-(i - j)^2). Users write such functions where they stand; in a product of matrices
 * they would be computed for each block of rows. The integer's bounds follow from those of the labels in it. Values are
 * the same to the bit. */
#include "graph/passes/contract/contract.h"
#include "rebuild.h"

enum {
  FEWER = 4,                 /* a value serves at least so many points, */
  POINTS_LEAST = 1 << 12,    /*   of at least so many: else it is not worth another tensor */
  TABLES_MOST = 8            /* of a vertex */
};

/* Between which integers one lies, over dims, and a guess at the number of them. */
typedef struct Bounds { const Expr *low, *high; double least, most; } Bounds;

/* value: of the integer `of`. */
typedef struct Table { const Expr *value, *of, *read; Bounds in; } Table;

typedef struct Tables {
  Rebuild b;
  Arena *scratch;
} Tables;

typedef struct Draft {
  Tables *c;
  const EinNode *n;
  uint32_t n_table;
  Table table[TABLES_MOST];
} Draft;

/* ---- bounds ---------------------------------------------------------------------------------------------- */

static bool bounds_of(const Draft *d, const Expr *e, Bounds *out);

static const Expr *two(const Draft *d, Op op, const Expr *a, const Expr *b) {
  return expr_normal(d->c->b.g->exprs, expr_op2(d->c->b.g->exprs, op, a, b));
}

static bool bounds_of_product(const Draft *d, Bounds a, Bounds b, Bounds *out) {
  bool low = a.low->kind == EX_INT && b.low->kind == EX_INT && a.low->i >= 0 && b.low->i >= 0;
  *out = (Bounds){two(d, OP_MUL, a.low, b.low), two(d, OP_MUL, a.high, b.high), a.least * b.least, a.most * b.most};
  return low;
}

/* From 0 to extent - 1. */
static Bounds bounds_below(const Draft *d, const Expr *extent) {
  Exprs *p = d->c->b.g->exprs;
  const Expr *last = two(d, OP_SUB, extent, expr_int(p, DT_I64, 1));
  return (Bounds){expr_int(p, DT_I64, 0), last, 0, extent_guess(extent) - 1};
}

static bool bounds_of_two(const Draft *d, Op op, const Expr *const *arg, Bounds *out) {
  Bounds a, b;
  if (op == OP_MOD) { /* by a positive number or a size */
    *out = bounds_below(d, arg[1]);
    return arg[1]->kind == EX_DIM || (arg[1]->kind == EX_INT && arg[1]->i > 0);
  }
  if (!bounds_of(d, arg[0], &a) || !bounds_of(d, arg[1], &b)) return false;
  if (op == OP_MUL) return bounds_of_product(d, a, b, out);
  const Bounds to = op == OP_SUB ? (Bounds){b.high, b.low, b.most, b.least} : b;
  *out = (Bounds){two(d, op, a.low, to.low), two(d, op, a.high, to.high), a.least, a.most};
  out->least += op == OP_SUB ? -to.least : to.least;
  out->most += op == OP_SUB ? -to.most : to.most;
  return op == OP_ADD || op == OP_SUB;
}

/* false: they are not known. */
static bool bounds_of(const Draft *d, const Expr *e, Bounds *out) {
  if (e->dtype != DT_I64) return false;
  if (!(e->has & ~(unsigned)HAS_DIM)) {
    double guess = e->kind == EX_INT ? (double)e->i : extent_guess(e);
    return *out = (Bounds){e, e, guess, guess}, true;
  }
  if (e->kind == EX_LABEL) return *out = bounds_below(d, d->n->bound[e->i]), true;
  if (e->kind != EX_OP || e->n != 2) return false;
  return bounds_of_two(d, e->op, e->arg, out);
}

/* ---- what ------------------------------------------------------------------------------------------------ */

/* The integer through which alone the value depends on labels; NULL: there is none, or something else decides, too. */
static const Expr *integer_of(const Draft *d, const Expr *value) {
  const Expr *of = NULL;
  ExprNodes nodes = expr_nodes(d->c->scratch, value, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (dtype_is_float((DType)e->dtype)) continue;
    if (e->dtype != DT_I64 || (of && of != e)) return NULL;
    of = e;
    expr_node_skip(&nodes);
  }
  return of;
}

/* Sums and differences of labels: neighbours read neighbours. */
static bool is_shift(const Expr *e) {
  if (e->kind == EX_LABEL || !(e->has & HAS_LABEL)) return true;
  return e->kind == EX_OP && (e->op == OP_ADD || e->op == OP_SUB) && is_shift(e->arg[0]) && is_shift(e->arg[1]);
}

/* Whether computing it takes longer than finding it in a table, and how: an exponential in f32 is as fast as a value
 * from a place that is computed. */
static bool takes_long(const Draft *d, const Expr *value, const Expr *of) {
  uint32_t functions = 0;
  ExprNodes nodes = expr_nodes(d->c->scratch, value, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));) {
    bool function = e->kind == EX_OP && op_info[e->op].ulp > 0;
    functions += !function ? 0 : e->op == OP_EXP && e->dtype == DT_F32 ? 1 : 2;
    if (e == of) expr_node_skip(&nodes);
  }
  return functions > 1 || (functions && is_shift(of));
}

/* The integer of which `of` is a multiple, a power or a shifted one, if it has fewer values. */
static const Expr *within(const Expr *of) {
  static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_NEG, OP_ABS};
  const Expr *in = NULL;
  bool such = of->kind == EX_OP && of->op == OP_POW && of->arg[1]->kind == EX_INT && of->arg[1]->i >= 0;
  for (size_t k = 0; k < COUNT(ops) && of->kind == EX_OP; k++) such |= of->op == ops[k];
  for (uint32_t k = 0; such && k < of->n; k++) {
    if (!(of->arg[k]->has & HAS_LABEL)) continue;
    if (in && in != of->arg[k]) return NULL;
    in = of->arg[k];
  }
  return in;
}

static bool table_find(const Draft *d, const Expr *value, Table *t) {
  const EinNode *n = d->n;
  const Expr *of = integer_of(d, value);
  *t = (Table){.value = value};
  for (; of; of = within(of)) {
    Bounds in;
    if (!bounds_of(d, of, &in) || (t->of && in.most - in.least >= t->in.most - t->in.least)) continue;
    t->of = of, t->in = in;
  }
  if (!t->of || !takes_long(d, value, t->of)) return false;
  double points = labels_points(n, t->of->labels), values = t->in.most - t->in.least + 1;
  return points >= (double)POINTS_LEAST && values * (double)FEWER <= points;
}

/* Whether all of its reads are of scalars, which never fail. */
static bool reads_scalars(const Draft *d, const Expr *value) {
  ExprNodes reads = expr_nodes(d->c->scratch, value, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e->n) return false;
  return true;
}

static void tables_find(Draft *d) {
  ExprNodes nodes = expr_nodes(d->c->scratch, d->n->sum->body, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes)) && d->n_table < TABLES_MOST;) {
    bool may = e->kind == EX_OP && dtype_is_float((DType)e->dtype) && !(e->has & (HAS_PARAM | HAS_CALL));
    if (may && reads_scalars(d, e) && table_find(d, e, &d->table[d->n_table])) d->n_table++, expr_node_skip(&nodes);
    else if (e->kind == EX_READ) expr_node_skip(&nodes);
  }
}

/* ---- the vertices ---------------------------------------------------------------------------------------- */

typedef struct Swap { const Expr *from, *to; } Swap;

static const Expr *swapped(void *env, Exprs *p, const Expr *e) {
  const Swap *s = env;
  (void)p;
  return e == s->from ? s->to : e;
}

/* Makes the vertex of values, whose read has that slot. */
static EinNode *table_make(Draft *d, EinRegion *r, Table *t, EinNode *const *input, uint32_t slot, bool first) {
  Exprs *p = d->c->b.g->exprs;
  const Expr *zero = expr_int(p, DT_I64, 0), *one = expr_int(p, DT_I64, 1);
  const Expr *size = two(d, OP_ADD, two(d, OP_SUB, t->in.high, t->in.low), one);
  if (size->kind != EX_INT || size->i < 0) size = expr_op2(p, OP_MAX, zero, size); /* of an empty label */
  Swap swap = {t->of, expr_op2(p, OP_ADD, expr_label(p, 0), t->in.low)};
  DType type = (DType)t->value->dtype;
  EinSum s = {.n_out = 1, .n_slot = d->n->sum->n_slot, .acc = type, .dtype = type,
      .body = expr_map_ops(p, t->value, swapped, &swap)};
  Str label = str_from(d->c->b.old->strings, "m");
  EinNode *made = rebuild_part(&d->c->b, r, d->n, &s, &size, &label, input);
  Strings *strings = d->c->b.old->strings;
  if (d->n->name) made->name = strings_printf(strings, first ? "%s.table" : "%s.table%u", d->n->name->s, slot + 1);
  const Expr *at = two(d, OP_SUB, t->of, t->in.low);
  t->read = expr_read(p, type, slot, 1, &at);
  return made;
}

static const Expr *value_read(void *env, Exprs *p, const Expr *e) {
  const Draft *d = env;
  (void)p;
  for (uint32_t k = 0; k < d->n_table; k++)
    if (d->table[k].value == e) return d->table[k].read;
  return e;
}

static EinNode *with_tables(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Draft d = {.c = env, .n = n};
  if (n->kind == EIN_VERTEX && !n->sum->by && n->sum->n_out + n->sum->n_red < 64) tables_find(&d);
  if (!d.n_table) return rebuild_copy(b, r, n);
  EinSum s = *n->sum;
  EinNode **input = rebuild_inputs(b, n, TABLES_MOST);
  for (uint32_t k = 0; k < d.n_table; k++)
    input[s.n_slot + k] = table_make(&d, r, &d.table[k], input, s.n_slot + k, !k);
  s.body = expr_map_ops(b->g->exprs, s.body, value_read, &d);
  s.n_slot += d.n_table;
  rebuild_note(b, "functions of few integers as tables", n->place);
  return rebuild_vertex(b, r, n, &s, n->bound, n->label, input);
}

EinGraph *graph_tables(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = with_tables};
  Tables c = {.b = {.arena = a, .old = g, .pass = "tables", .notes = notes}, .scratch = arena_new()};
  return rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
}
