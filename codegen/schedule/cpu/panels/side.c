/* codegen/schedule/cpu/panels/side.c - the two sides of a contraction: assigns labels and parts of the body to them. */
#include <math.h>

#include "panels.h"

#define ROWS_NEAR 4.0          /* elements between rows of which a line has several, */
#define LARGE (2.0 * (double)SECOND_CACHE) /* in a tensor of more bytes, whose lines come from far away */

/* ---- which side a label belongs to ------------------------------------------------------------------ */

static bool has(const StagePlan *p, uint32_t access, uint32_t label) {
  return plan_move(p, access, label) != MOVE_NONE;
}

/* Whether some read has both labels. */
static bool together(const StagePlan *p, uint32_t x, uint32_t y) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (has(p, a, x) && has(p, a, y)) return true;
  return false;
}

static bool reduces_with(const StagePlan *p, uint32_t label) {
  for (uint32_t k = 0; k < p->n_red; k++)
    if (together(p, label, p->red[k])) return true;
  return false;
}

/* Whether some read has `label` without `other`. */
static bool apart(const StagePlan *p, uint32_t label, uint32_t other) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (has(p, a, label) && !has(p, a, other)) return true;
  return false;
}

bool pack_stores_along(const StagePlan *p, int64_t label) {
  return p->stored >= 0 ? p->stored == label : plan_move(p, p->n_access - 1, (uint32_t)label) == MOVE_UNIT;
}

/* The label for the lanes: the innermost one along which the result is contiguous. */
int64_t pack_lanes_label(const StagePlan *p) {
  for (uint32_t k = p->n_order; k-- > 0;)
    if (pack_stores_along(p, p->order[k]) && p->size[p->order[k]] > 1) return p->order[k];
  return p->n_order ? (int64_t)p->order[p->n_order - 1] : NO_LABEL;
}

/* By label: the least stride of any large read, in elements; infinite: none has it. */
static double *strides_of(const Panel *t) {
  const Sched *s = t->s;
  const StagePlan *p = t->p;
  double *of = NEW_ARRAY(s->arena, double, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) of[l] = INFINITY;
  ExprNodes reads = expr_nodes(s->arena, p->stage->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (p->stage->slot[e->i].kept || plan_bytes(s, p, (uint32_t)e->i) <= LARGE) continue;
    const TaskBuffer *b = buffer_seen(s, p->stage->slot[e->i].index);
    double stride = 1;
    for (uint32_t k = e->n; k-- > 0; stride *= (double)task_size_guess(s->t, b->dim[k]))
      for (uint32_t l = 0; l < p->n_label; l++)
        if (stride < of[l] && ex_has_label(e->arg[k], l)) of[l] = stride;
  }
  return of;
}

/* How much a label of rows is worth for the lines that they share: contiguous rows are fetched together, and others may
 * be several to a line, which is far away if the tensor is large. */
static double lines_shared(const StagePlan *p, uint32_t l, double stride) {
  double worth = 1;
  if (p->size[l] < 8) return worth;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) worth *= plan_move(p, a, l) == MOVE_UNIT ? 4 : 1;
  return worth == 1 && stride <= ROWS_NEAR ? 2 : worth;
}

static int64_t rows_label(const Panel *t, uint32_t v) {
  const StagePlan *p = t->p;
  int64_t best = NO_LABEL;
  double most = 0;
  const double *stride = strides_of(t);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    if (l == v || together(p, l, v) || !reduces_with(p, l)) continue;
    double worth = p->size[l] < PACK_WIDE / 2 ? (double)p->size[l] : (double)(PACK_WIDE / 2);
    worth *= lines_shared(p, l, stride[l]);
    if (worth < most) continue; /* of equals, the last: its rows lie closest together */
    best = l, most = worth;
  }
  return best;
}

/* Whether it numbers the groups of rows, which are taken one after the other. */
static bool is_group(const Panel *t, int64_t label) { return t->s->grouped && label == t->s->grouped->of; }

/* Sorts the output labels by side. */
static void labels_sort(Panel *t) {
  const StagePlan *p = t->p;
  Arena *a = t->s->arena;
  uint32_t u = (uint32_t)t->u.tile, v = (uint32_t)t->v.tile;
  t->u.far = NEW_ARRAY(a, uint32_t, p->n_order + 1), t->u.near = NEW_ARRAY(a, uint32_t, p->n_order + 1);
  t->v.far = NEW_ARRAY(a, uint32_t, p->n_order + 1), t->v.near = NEW_ARRAY(a, uint32_t, p->n_order + 1);
  t->common = NEW_ARRAY(a, uint32_t, p->n_order + 1);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    if (l == u || l == v) continue;
    bool group = is_group(t, l);
    bool with_u = group || together(p, l, u) || !apart(p, l, v), with_v = group || together(p, l, v);
    if (with_u && !with_v && reduces_with(p, l)) t->u.far[t->u.n_far++] = l;
    else if (with_v && !group && !together(p, l, u) && reduces_with(p, l)) t->v.far[t->v.n_far++] = l;
    else t->common[t->n_common++] = l;
  }
}

/* ---- parts of the body --------------------------------------------------------------------------------- */

typedef enum { PART_PLAIN, PART_ROWS, PART_LANES, PART_BOTH } PartSide;

static bool side_has(const Side *x, const Expr *e) {
  if (ex_has_label(e, x->tile)) return true;
  for (uint32_t k = 0; k < x->n_near; k++)
    if (ex_has_label(e, x->near[k])) return true;
  for (uint32_t k = 0; k < x->n_far; k++)
    if (ex_has_label(e, x->far[k])) return true;
  return false;
}

static PartSide side_of(const Panel *t, const Expr *e) {
  bool u = side_has(&t->u, e), v = side_has(&t->v, e);
  return u && v ? PART_BOTH : u ? PART_ROWS : v ? PART_LANES : PART_PLAIN;
}

static bool is_reduced(const Panel *t, const Expr *e) {
  for (uint32_t k = 0; k < t->p->n_red; k++)
    if (ex_has_label(e, t->p->red[k])) return true;
  return false;
}

/* Whether a part needs a panel: rows that depend on no reduced label are loaded once a tile and need none. */
static bool wants_pack(const Panel *t, const Expr *e, PartSide side) {
  return e->kind == EX_OP || e->kind == EX_READ ? side == PART_LANES || is_reduced(t, e) : false;
}

static bool pack_add(Panel *t, const Expr *e, bool lanes) {
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].of == e) return true;
  if (t->n_pack == PACKS_MOST) return false;
  t->pack[t->n_pack++] = (Pack){.of = e, .lanes = lanes, .line = NOWHERE};
  return true;
}

/* Whether it may as well be computed where it is not wanted: it reads at labels, in range, and stops nothing. */
static bool is_harmless(const Expr *e) {
  bool reads = e->kind == EX_READ, op = e->kind == EX_OP;
  if (op && op_info[e->op].rule != RULE_COMPARE && op_info[e->op].rule != RULE_LOGIC) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (reads ? e->arg[k]->kind != EX_LABEL : !op || !is_harmless(e->arg[k])) return false;
  return true;
}

/* `a == b` of bools, where each belongs to one side, as `not a != b`: `not` is then done once for each element of a
 * panel, and not at each point. Compilers move it out of a tile, or do not. */
static const Expr *equal_parted(const Panel *t, const Expr *e) {
  if (e->kind != EX_OP || side_of(t, e) != PART_BOTH) return e;
  Exprs *x = t->s->x;
  const Expr **arg = NEW_ARRAY(t->s->arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = equal_parted(t, e->arg[k]);
  bool equal = e->op == OP_EQ && arg[0]->dtype == DT_BOOL;
  if (!equal || side_of(t, arg[0]) == PART_BOTH || side_of(t, arg[1]) == PART_BOTH) return expr_op_like(x, e, arg);
  uint32_t rows = side_of(t, arg[0]) == PART_ROWS ? 0 : 1; /* of which there are fewer */
  return expr_op2(x, OP_NE, expr_op1(x, OP_NOT, arg[rows]), arg[1 - rows]);
}

/* Multiplies the factors of the lanes, or all others, of a product. NULL: there are none. */
static const Expr *factors_of(const Panel *t, const Expr *e, bool lanes) {
  if (is_op(e, OP_MUL)) {
    const Expr *a = factors_of(t, e->arg[0], lanes), *b = factors_of(t, e->arg[1], lanes);
    return a && b ? expr_op2(t->s->x, OP_MUL, a, b) : a ? a : b;
  }
  return (side_of(t, e) == PART_LANES) == lanes ? e : NULL;
}

static bool is_both(const Panel *t, const Expr *e) {
  if (is_op(e, OP_MUL)) return is_both(t, e->arg[0]) || is_both(t, e->arg[1]);
  return side_of(t, e) == PART_BOTH;
}

/* A product in a sum, with the factors of each side together; those of neither go with the rows, of which there are
 * fewer: `a[b,k] * (x[i,k] * y[j,k])` is multiplied once for each element of a panel, and not at each point. */
static const Expr *product_parted(const Panel *t, const Expr *e) {
  const EinSum *sum = t->p->stage->sum;
  bool wide = sum->acc == DT_F32 || sum->acc == DT_F64 || dtype_is_int(sum->acc);
  if (sum->reducer != RED_SUM || !wide || e->dtype != sum->acc || !is_op(e, OP_MUL) || is_both(t, e)) return e;
  if (side_of(t, e->arg[0]) != PART_BOTH && side_of(t, e->arg[1]) != PART_BOTH) return e;
  const Expr *rows = factors_of(t, e, false), *lanes = factors_of(t, e, true);
  return rows && lanes && side_of(t, rows) == PART_ROWS ? expr_op2(t->s->x, OP_MUL, rows, lanes) : e;
}

/* Finds the largest parts that belong to one side. Returns false if something depends on both at once, or may be
 * computed only under a condition on both. */
static bool parts_find(Panel *t, const Expr *e) {
  PartSide side = side_of(t, e);
  if (side == PART_PLAIN) return true;
  if (side != PART_BOTH) return !wants_pack(t, e, side) || pack_add(t, e, side == PART_LANES);
  if (e->kind != EX_OP) return false;
  if ((op_info[e->op].laws & LAW_LAZY) && !is_harmless(e)) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!parts_find(t, e->arg[k])) return false;
  return true;
}

static const Expr *body_swap(Panel *t, Map *done, const Expr *e) {
  const Expr *made = map_find(done, e);
  if (made) return made;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].of == e && t->pack[k].place != NOWHERE)
      return expr_read(t->s->x, (DType)e->dtype, t->p->stage->sum->n_slot + k, 0, NULL);
  if (e->kind != EX_OP) return e;
  const Expr **arg = NEW_ARRAY(t->s->arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = body_swap(t, done, e->arg[k]);
  made = expr_op_like(t->s->x, e, arg);
  map_put(done, e, (void *)(uintptr_t)made);
  return made;
}

void pack_body(Panel *t) {
  Map done = map_new(t->s->arena);
  t->body = body_swap(t, &done, t->of);
}

/* Whether e reads nothing but packs. */
static bool is_packed(const Panel *t, const Expr *e) {
  if (e->kind == EX_LABEL || (e->kind == EX_READ && e->i < t->p->stage->sum->n_slot)) return false;
  for (uint32_t k = 0; e->kind == EX_OP && k < e->n; k++)
    if (!is_packed(t, e->arg[k])) return false;
  return true;
}

bool pack_body_alone(Panel *t) {
  const Expr *body = t->body;
  uint32_t was[PACKS_MOST];
  for (uint32_t k = 0; k < t->n_pack; k++) was[k] = t->pack[k].place, t->pack[k].place = 0;
  pack_body(t);
  if (is_packed(t, t->body)) return true;
  for (uint32_t k = 0; k < t->n_pack; k++) t->pack[k].place = was[k];
  t->body = body;
  return false;
}

/* Whether e cannot be NaN if all packs are finite: it has at most one sum or product on any path, which at worst is
 * infinite. */
static bool is_tame(const Expr *e, uint32_t n_slot, bool summed) {
  if (e->kind == EX_READ) return e->i >= n_slot;
  if (e->kind == EX_INT) return true;
  if (e->kind == EX_REAL) return isfinite(e->f);
  if (e->kind != EX_OP) return false;
  bool sums = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  if (sums && summed) return false;
  if (!sums && e->op != OP_MAX && e->op != OP_MIN && e->op != OP_NEG && e->op != OP_ABS) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_tame(e->arg[k], n_slot, summed || sums)) return false;
  return true;
}

bool pack_is_tame(const Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  if ((sum->reducer != RED_MAX && sum->reducer != RED_MIN) || !dtype_is_float(sum->acc)) return false;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (!dtype_is_float((DType)t->pack[k].of->dtype)) return false;
  return is_tame(t->body, sum->n_slot, false);
}

int pack_moves(const Expr *e, int64_t label) {
  int n = 0;
  if (!ex_has_label(e, label)) return 0;
  if (e->kind == EX_READ) {
    for (uint32_t k = 0; k < e->n; k++) {
      int64_t slope;
      if (!ex_has_label(e->arg[k], label)) continue;
      n += k + 1 == e->n && ex_slope(e->arg[k], label, &slope) && slope == 1 ? 1 : -2;
    }
    return n;
  }
  for (uint32_t k = 0; k < e->n; k++) n += pack_moves(e->arg[k], label);
  return n;
}

uint32_t pack_axis(const Expr *e, uint32_t label) {
  if (!ex_has_label(e, label)) return NOWHERE;
  for (uint32_t k = 0; k < e->n; k++) {
    uint32_t axis = e->kind == EX_READ ? k : pack_axis(e->arg[k], label);
    if (axis != NOWHERE && ex_has_label(e->arg[k], label)) return axis;
  }
  return NOWHERE;
}

static bool is_common(const Panel *t, uint32_t label) {
  for (uint32_t k = 0; k < t->n_common; k++)
    if (t->common[k] == label) return true;
  return false;
}

/* How many labels an index depends on: those that both sides have, or the others. */
static uint32_t movers(const Panel *t, const Expr *index, bool common) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < t->p->n_label; l++) n += ex_has_label(index, l) && is_common(t, l) == common;
  return n;
}

bool pack_overlaps(const Panel *t, const Expr *e) {
  if (e->kind != EX_READ) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (movers(t, e->arg[k], false) > 1) return true;
  return false;
}

bool pack_is_in_part(const Panel *t, const Expr *e) {
  for (uint32_t k = 0; k < e->n; k++)
    if (movers(t, e->arg[k], false) && movers(t, e->arg[k], true)) return true;
  return false;
}

bool pack_is_tested(const Panel *t, const Expr *e) {
  for (uint32_t k = 0; e->kind == EX_OP && k < e->n; k++)
    if (pack_is_tested(t, e->arg[k])) return true;
  if (e->kind != EX_READ || e->dtype != DT_BOOL || t->p->stage->slot[e->i].kept) return false;
  return buffer_seen(t->s, t->p->stage->slot[e->i].index)->space != BUF_WORK;
}

/* ---- entry points ----------------------------------------------------------------------------------------- */

bool pack_labels(Panel *t, int64_t v) {
  t->v.tile = v;
  t->u.flat = t->v.flat = NO_LABEL;
  t->u.tile = t->v.tile == NO_LABEL ? NO_LABEL : rows_label(t, (uint32_t)t->v.tile);
  if (t->u.tile == NO_LABEL || is_group(t, v) || is_group(t, t->u.tile)) return false;
  if (!t->p->size[t->u.tile] || !t->p->size[t->v.tile]) return false;
  labels_sort(t);
  return true;
}

bool pack_parts(Panel *t) {
  t->of = product_parted(t, equal_parted(t, t->of));
  if (!parts_find(t, t->of)) return false;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].lanes) return true;
  return false;
}

bool pack_is_two(const Panel *t) {
  DType acc = t->p->stage->sum->acc;
  if (t->n_pack != 2 || t->pack[0].lanes == t->pack[1].lanes) return false;
  return (DType)t->pack[0].of->dtype == acc && (DType)t->pack[1].of->dtype == acc;
}
