/* codegen/schedule/cpu/panels/choose.c - decides whether a contraction uses panels, and which label is in its lanes.
 * The label along which the result is contiguous is best if it has enough points. If it is short, or both sides have
 * it, or is contiguous by chance, another label of either side fills the lanes and results are stored one by one. That
 * cost, with the cost of panels, is compared with lanes left empty and with loops without panels. */
#include "panels.h"

enum {
  NEAREST = 24 * 1024,       /* bytes that stay in the first-level cache, */
  NEAR = 512 * 1024,         /*   and in the second */
  FAR = 4 << 20,             /* bytes of what comes from beyond the second-level cache, wherever that ends; */
  NEAR_STEPS = 8,            /* elements: strides up to this share cache lines */
  WAY = 4096,                /* bytes: lines this far apart share a set of the first-level cache */
  ROWS = 8, VECTORS = 2,     /* of a tile, roughly */
  FEW_ROWS = 32,             /* with fewer rows, lanes read from memory are reused too seldom to be copied */
  LATENCY = 8                /* least number of sums a tile keeps in flight: each waits for the one before */
};

/* Costs, in multiply-adds of a vector. */
#define ONE_BY_ONE 3.0       /* an element stored, or packed, by itself; */
#define TRANSPOSED 0.5       /*   or transposed by squares; */
#define VECTOR 2.0           /* a vector of elements */
#define IN_PLACE 1.5         /* a multiply-add whose operands are read in place */
#define TESTED 1.0           /*   and a choice at each of them */
#define ALONE 2.0            /* a scalar multiply-add */
#define LINE_SECOND 3.0      /* a line from the second-level cache, and from beyond */
#define LINE_FAR 8.0
#define GAIN 0.6             /* a preferred alternative must be cheaper by this factor */

/* Whether panels go along with the predicate: it bounds the only reduced label, or leaves out results, but not so many
 * that loops which visit only the others are better. */
static bool is_wanted(Sched *s, const StagePlan *p) {
  if ((p->n_red > 1 && !pack_is_gate(p)) || !where_is_gated(p, p->red[0])) return false;
  return where_is_range(p, p->red[0]) || pack_leaves_most(s, p);
}

static bool fits(Sched *s, const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_NONE || reducer_is_arg(sum->reducer)) return false;
  if (sum->reducer == RED_MONOID || sum->reducer == RED_LSE) return false;
  if (sum->domain && !where_is_affine(p, sum->domain)) return false;
  if (sum->where && !is_wanted(s, p)) return false;
  return p->n_red && p->n_order > 1;
}

/* Whether each side is a matrix of known extents that is as fast to read in place. A part of a longer matrix is not,
 * if many rows use it: it was not in cache before. */
static bool is_plain(const Panel *t, double rows) {
  const StagePlan *p = t->p;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (rows > (double)FEW_ROWS && t->pack[k].of->kind == EX_READ && pack_is_in_part(t, t->pack[k].of)) return false;
  return !t->u.n_near && !t->u.n_far && !t->v.n_near && !t->v.n_far && p->n_red == 1 && p->exact[t->u.tile] &&
         p->exact[t->v.tile] && p->exact[p->red[0]] && !p->stage->sum->where && !pack_looks(t);
}

static double points_of(const StagePlan *p, const Expr *e) {
  double n = 1;
  for (uint32_t l = 0; l < p->n_label; l++) n *= ex_has_label(e, l) ? (double)p->size[l] : 1;
  return n;
}

/* Whether rows are contiguous along none of their tile's labels, so that each needs a line of its own. */
static bool is_far(const Panel *t, const Pack *k) {
  int moves = pack_moves(k->of, t->u.tile);
  for (uint32_t i = 0; i < k->n_red; i++) moves = moves > 0 ? moves : pack_moves(k->of, k->red[i]);
  return moves <= 0;
}

/* Whether tiles may as well read both sides in place: lanes and the rows' points are contiguous, and the lanes' side
 * stays in the first-level cache, or both sides and the result in the second. */
static bool lies_well(const Panel *t, double rows, double lanes, double deep) {
  /* Beyond the second-level cache, stores wait for lines. */
  double result = (double)dtype_size(t->p->stage->sum->dtype) * rows * lanes;
  double far = is_plain(t, rows) && result <= (double)NEAR ? (double)NEAR : 0;
  for (uint32_t k = 0; k < t->n_pack; k++) {
    const Pack *x = &t->pack[k];
    double size = (double)dtype_size((DType)x->of->dtype);
    if (x->of->kind != EX_READ || x->across || pack_is_tested(t, x->of)) return false;
    if (!x->lanes && is_far(t, x) && points_of(t->p, x->of) * size > (double)NEAREST) return false;
    /* Not contiguous beside a batch, say. */
    if (x->lanes && plan_move(t->p, (uint32_t)x->of->i, (uint32_t)t->v.tile) != MOVE_UNIT) return false;
    if (x->lanes && lanes * deep * size > (double)NEAREST && (lanes * deep * size > far || rows * deep * size > far))
      return false;
  }
  return true;
}

/* Whether there is too little reuse to pay for copying. */
static bool is_small(const Panel *t, double few) {
  double rows = (double)t->p->size[t->u.tile] * pack_near_all(t, &t->u),
         lanes = (double)t->p->size[t->v.tile] * pack_near_all(t, &t->v);
  return rows < few || lanes < few || pack_product(t->p, t->p->n_red, t->p->red) < few;
}

static bool pays(const Panel *t) {
  const StagePlan *p = t->p;
  double rows = (double)p->size[t->u.tile] * pack_near_all(t, &t->u),
         lanes = (double)p->size[t->v.tile] * pack_near_all(t, &t->v);
  return !is_small(t, PACK_FEW) && !lies_well(t, rows, lanes, pack_product(p, p->n_red, p->red));
}

/* ---- costs ------------------------------------------------------------------------------------------------------- */

static double up(int64_t n, int64_t unit) { return (double)((n + unit - 1) / unit); }

/* The cost of moving an element along a label of n points. */
static double one_along(int64_t one, int64_t n) { return VECTOR / (double)(n < one ? n : one); }

/* How often a side's panels are filled: once for each block of the other side. */
static double fills(const Panel *t, const Side *other) {
  const StagePlan *p = t->p;
  double n = pack_product(p, other->n_far, other->far) * up(p->size[other->tile], other->unit * other->units);
  for (uint32_t k = 0; k < other->n_part; k++) n *= up(p->size[other->part[k].label], other->part[k].slots);
  return n;
}

static double fill_cost(const Panel *t, const Pack *k, int64_t one) {
  const StagePlan *p = t->p;
  const Side *x = k->lanes ? &t->v : &t->u;
  int64_t last = k->n_red ? (int64_t)k->red[k->n_red - 1] : NO_LABEL;
  double each = ONE_BY_ONE;
  if (k->place == NOWHERE) return 0;
  if (k->transposed != NO_LABEL) each = TRANSPOSED;
  else if ((k->lanes || k->across) && pack_moves(k->of, x->tile) > 0) each = one_along(one, p->size[x->tile]);
  else if (!k->lanes && !k->across && last != NO_LABEL && pack_moves(k->of, last) > 0)
    each = one_along(one, p->size[last]);
  return points_of(p, k->of) * fills(t, k->lanes ? &t->u : &t->v) * each;
}

static double packed_cost(const Panel *t) {
  const StagePlan *p = t->p;
  DType acc = p->stage->sum->acc;
  int64_t one = t->fitted ? tile_vector(t->s, acc) : vector_lanes(t->s, acc), nu = p->size[t->u.tile],
          nv = p->size[t->v.tile];
  int64_t lanes = t->v.flat == NO_LABEL ? nv : pack_flat_size(t, &t->v);
  double results = pack_product(p, p->n_order, p->order), adds = (double)t->u.unit * up(t->v.unit, one);
  double tiles = results / ((double)nu * (double)lanes) * up(nu, t->u.unit) * up(lanes, t->v.unit);
  double cost = tiles * pack_product(p, p->n_red, p->red) * (adds < (double)LATENCY ? (double)LATENCY : adds);
  cost += results * (plan_move(p, p->n_access - 1, (uint32_t)t->v.tile) == MOVE_UNIT ? one_along(one, nv) : ONE_BY_ONE);
  for (uint32_t k = 0; k < t->n_pack; k++) cost += fill_cost(t, &t->pack[k], one);
  return cost;
}

/* Whether some read has the label, and every read that has it is contiguous along it. */
static bool all_step(const StagePlan *p, uint32_t label) {
  bool any = false;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    any |= plan_move(p, a, label) == MOVE_UNIT;
    if (plan_move(p, a, label) == MOVE_FAR) return false;
  }
  return any;
}

bool pack_is_far(const Sched *s, const StagePlan *p, const Expr *read, uint32_t own) {
  if (read->kind != EX_READ || p->stage->slot[read->i].kept || plan_bytes(s, p, (uint32_t)read->i) <= (double)NEAREST)
    return false;
  const TaskBuffer *b = buffer_seen(s, p->stage->slot[read->i].index);
  double stride = 1;
  for (uint32_t k = read->n; k-- > 0 && stride <= (double)NEAR_STEPS;
       stride *= (double)task_size_guess(s->t, b->dim[k]))
    for (uint32_t l = 0; l < p->n_label; l++)
      if ((l == own || l >= p->stage->sum->n_out) && p->size[l] > 1 && ex_has_label(read->arg[k], l)) return false;
  return true;
}

/* Whether every read has this output label. */
static bool is_common(const StagePlan *p, uint32_t label) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (plan_move(p, a, label) == MOVE_NONE) return false;
  return true;
}

/* The label along which several results are computed at once beside lanes along v: some operand that has lanes does
 * not depend on it. */
static uint32_t beside(const StagePlan *p, uint32_t v) {
  for (uint32_t k = p->n_order; k-- > 0;) {
    uint32_t u = p->order[k];
    for (uint32_t a = 0; a + 1 < p->n_access && u != v && p->size[u] >= ROWS / 2; a++)
      if (plan_move(p, a, v) != MOVE_NONE && plan_move(p, a, u) == MOVE_NONE) return u;
  }
  return NOWHERE;
}

/* Loops without panels, with lanes along v. */
typedef struct InPlace {
  const Sched *s;
  const StagePlan *p;
  uint32_t v, u;
  double each;               /* cost of a multiply-add */
  bool again;                /* there are several tiles of lanes */
} InPlace;

/* Adds the cost of operands that are the same for all lanes but each on a line of its own, and of lanes of a large
 * tensor that serve one result only. */
static const Expr *leaf_in_place(void *env, Exprs *x, const Expr *leaf) {
  InPlace *c = env;
  (void)x;
  if (leaf->kind != EX_READ || c->p->stage->slot[leaf->i].kept) return leaf;
  uint32_t a = (uint32_t)leaf->i;
  double bytes = plan_bytes(c->s, c->p, a);
  bool again = c->u == NOWHERE || plan_move(c->p, a, c->u) != MOVE_NONE,
       far = c->again && pack_is_far(c->s, c->p, leaf, c->u);
  if (plan_move(c->p, a, c->v) == MOVE_NONE)
    c->each += !far ? 0 : (bytes > (double)SECOND_CACHE ? LINE_FAR : LINE_SECOND) / (double)VECTORS;
  else if (is_common(c->p, c->v) && again && bytes > (double)FAR) c->each += LINE_FAR;
  return leaf;
}

/* The label along which loops without panels have their lanes; NOWHERE: there is none. */
static uint32_t lanes_in_place(const StagePlan *p) {
  uint32_t v = p->order[p->n_order - 1], r = p->red[p->n_red - 1];
  return all_step(p, v) && p->size[v] >= 4 ? v : all_step(p, r) && p->size[r] >= LANES_LEAST ? r : NOWHERE;
}

/* The number of choices in the body that depend on the label; panels make them once for each element that they copy. */
static double choices_of(const Sched *s, const StagePlan *p, uint32_t label) {
  double n = 0;
  ExprNodes nodes = expr_nodes(s->arena, p->stage->sum->body, 0);
  for (const Expr *e; (e = expr_node(&nodes));) n += is_op(e, OP_SELECT) && ex_has_label(e->arg[0], label);
  return n;
}

/* The cost without panels: lanes along an output or a reduced label, or else point by point. */
static double unpacked_cost(const Sched *s, const StagePlan *p) {
  int64_t one = vector_lanes(s, p->stage->sum->acc);
  uint32_t l = lanes_in_place(p);
  double points = pack_product(p, p->n_order, p->order) * pack_product(p, p->n_red, p->red);
  if (l == NOWHERE) return points;
  double each = IN_PLACE + TESTED * choices_of(s, p, l);
  if (l >= p->stage->sum->n_out) return points * (up(p->size[l], one) + LATENCY / 4) / (double)p->size[l] * each;
  InPlace c = {s, p, l, beside(p, l), each, p->size[l] >= 2 * VECTORS * one};
  expr_map(s->x, p->stage->sum->body, leaf_in_place, &c);
  return points * up(p->size[l], one) / (double)p->size[l] * c.each;
}

/* The cost of rows that panels read in place from far away: what they do not gain over loops without panels. */
static double far_cost(const Panel *t) {
  const StagePlan *p = t->p;
  double cost = 0;
  for (uint32_t i = 0; i < t->n_pack; i++) {
    const Pack *k = &t->pack[i];
    if (k->place != NOWHERE || !pack_is_far(t->s, p, k->of, (uint32_t)t->u.tile)) continue;
    double line = plan_bytes(t->s, p, (uint32_t)k->of->i) > (double)SECOND_CACHE ? LINE_FAR : LINE_SECOND;
    cost += points_of(p, k->of) * fills(t, &t->v) * (double)t->v.units * pack_near_all(t, &t->v) * line;
  }
  return cost;
}

/* Whether a block of panels has all points of the label, or those of a tile and more. */
static bool is_in_block(const Panel *t, uint32_t label) {
  if (t->u.tile == label || t->v.tile == label) return true;
  const Side *side[] = {&t->u, &t->v};
  for (size_t i = 0; i < COUNT(side); i++)
    for (uint32_t k = 0; k < side[i]->n_near; k++)
      if (side[i]->near[k] == label) return true;
  return false;
}

/* Whether neighbours along the label lie so far apart in the result that their lines share a set of the first-level
 * cache, which holds few of them. */
static bool lanes_crowd(const StagePlan *p, uint32_t v) {
  const TaskStage *st = p->stage;
  int64_t stride = dtype_size(st->sum->dtype);
  for (uint32_t k = st->n_at; k-- > 0 && !ex_has_label(st->at[k], v);)
    for (uint32_t l = 0; l < st->sum->n_out; l++)
      if (ex_has_label(st->at[k], l)) stride = stride * p->size[l] % WAY;
  return stride == 0;
}

/* The cost of a line for each result that is stored by itself, with lanes along v, of `block` bytes of them that are
 * stored together: that of the cache that holds what is written before a line's next element is. in: by output label,
 * whether all its points, or those of a tile and more, are in such a block. */
static double lines_stored(const StagePlan *p, uint32_t v, double block, const bool *in) {
  const TaskStage *st = p->stage;
  double results = pack_product(p, p->n_order, p->order), size = (double)dtype_size(st->sum->dtype), stride = size;
  bool within = true;
  if (lanes_crowd(p, v)) return results * LINE_FAR;
  for (uint32_t k = st->n_at; k-- > 0 && stride < (double)PACK_LINE;)
    for (uint32_t l = 0; l < st->sum->n_out; l++) {
      if (!ex_has_label(st->at[k], l)) continue;
      within &= p->size[l] < 2 || in[l];
      stride *= (double)p->size[l];
    }
  double bytes = within ? block : results * size;
  return results * (bytes <= (double)NEAREST ? 0 : bytes <= (double)SECOND_CACHE ? LINE_SECOND : LINE_FAR);
}

/* The cost of panels, whose results are stored one by one if they are not contiguous along the lanes. */
static double panels_cost(const Panel *t) {
  const StagePlan *p = t->p;
  const EinSum *sum = p->stage->sum;
  if (pack_stores_along(p, t->v.tile)) return packed_cost(t);
  bool *in = NEW_ARRAY(t->s->arena, bool, sum->n_out + 1);
  for (uint32_t l = 0; l < sum->n_out; l++) in[l] = is_in_block(t, l);
  double block = (double)dtype_size(sum->dtype) * (double)(t->u.unit * t->u.units) *
      (double)(t->v.unit * t->v.units) * pack_near_all(t, &t->u) * pack_near_all(t, &t->v);
  return packed_cost(t) + lines_stored(p, (uint32_t)t->v.tile, block, in);
}

/* The same for loops without panels with lanes along v (NOWHERE: none): a tile has lanes, and rows beside them. */
static double tiles_stored(const Sched *s, const StagePlan *p, uint32_t v) {
  const EinSum *sum = p->stage->sum;
  if (v == NOWHERE || plan_move(p, p->n_access - 1, v) != MOVE_FAR) return 0;
  bool *in = NEW_ARRAY(s->arena, bool, sum->n_out + 1);
  uint32_t u = beside(p, v);
  if (v < sum->n_out) in[v] = true;
  if (v < sum->n_out && u != NOWHERE) in[u] = true;
  double tile = (double)(ROWS * VECTORS * vector_lanes(s, sum->acc));
  return lines_stored(p, v, (double)dtype_size(sum->dtype) * tile, in);
}

/* ---- choice of the label ----------------------------------------------------------------------------------------- */

/* The panels with lanes along v; NULL: there are none. */
static Panel *panel_along(Sched *s, const StagePlan *p, Env *e, int64_t v, bool fitted) {
  Panel *t = MAKE(s->arena, Panel, .s = s, .p = p, .e = e, .fitted = fitted);
  t->block.at = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1);
  t->next.label = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1);
  if (!pack_labels(t, v)) return NULL;
  /* Panels read more points than are wanted. */
  if ((p->stage->sum->where || p->stage->sum->domain) && !ex_safe(e)) return NULL;
  pack_guard_find(t);
  if (!pack_guard_is_safe(t)) return NULL;
  if (!pack_parts(t)) return NULL;
  pack_sizes(t);
  return pack_guard_fits(t) ? t : NULL;
}

/* Whether costs can be compared: neither predicates nor a kernel's blocks of rows determine the loops, and extents are
 * known. alone: if not, guesses may choose, because there are no lanes otherwise, or the usual ones are short. */
static bool is_counted(const Sched *s, const StagePlan *p, bool alone) {
  const EinSum *sum = p->stage->sum;
  for (uint32_t l = 0; l < p->n_label; l++)
    if ((!p->exact[l] && !alone) || !p->size[l]) return false;
  return !sum->where && !sum->domain && !s->rows.block && !s->rows.together;
}

/* Whether lanes may run along any label: those of a kernel that continues from a kept value run along the usual one. */
static bool is_free(const Sched *s, const StagePlan *p, bool alone) {
  return is_counted(s, p, alone) && !s->follow.goes_on;
}

/* Whether the label is known to have fewer points than lanes. */
static bool is_short(const StagePlan *p, int64_t label) {
  return label != NO_LABEL && p->exact[label] && p->size[label] < PACK_FEW;
}

/* The same panels of a sum with excluded terms, or those with lanes along another label if that of t is short. */
static Panel *guarded_along(Panel *t, int64_t usual) {
  const StagePlan *p = t->p;
  Panel *best = t;
  double least = panels_cost(t) * GAIN;
  for (uint32_t k = 0; k < p->n_order && is_short(p, usual) && is_free(t->s, p, false); k++) {
    Panel *x = (int64_t)p->order[k] == usual ? NULL : panel_along(t->s, p, t->e, p->order[k], false);
    if (!x || !x->guard || panels_cost(x) >= least) continue;
    least = panels_cost(x), best = x;
    best->aside = true;
  }
  return best;
}

/* The panels for any machine: whether there are panels, and the order of their sums, is the same everywhere. */
static Panel *for_any(Sched *s, const StagePlan *p, Env *e) {
  int64_t usual = pack_lanes_label(p);
  Panel *t = panel_along(s, p, e, usual, false), *best = t && pays(t) ? t : NULL;
  bool lanes = lanes_in_place(p) != NOWHERE, in_place = lanes && !best;
  bool alone = !best && (!lanes || is_short(p, usual));
  if (best && best->guard) return guarded_along(best, usual);
  if (!is_counted(s, p, alone) || (t && t->guard)) return best;
  /* In place is then as good for few rows or points. */
  double least = (best ? panels_cost(t) : unpacked_cost(s, p) + tiles_stored(s, p, lanes_in_place(p))) * GAIN;
  if (t && !best && !lanes && panels_cost(t) < least) least = panels_cost(t), best = t;
  for (uint32_t k = 0; k < p->n_order && is_free(s, p, alone); k++) {
    Panel *x = (int64_t)p->order[k] == usual ? NULL : panel_along(s, p, e, p->order[k], false);
    if (!x || x->guard || (lanes && is_small(x, 8))) continue;
    double cost = panels_cost(x) + (in_place ? far_cost(x) : 0);
    if (cost >= least) continue;
    least = cost, best = x;
    best->aside = true;
  }
  return best;
}

/* The cost of lines that serve only one vector each, in loops without panels that have one tile of lanes along v. */
static double lines_cost(const Sched *s, const StagePlan *p, uint32_t v) {
  const Expr **read = NEW_ARRAY(s->arena, const Expr *, p->n_access + 1);
  uint32_t u = beside(p, v);
  double points = pack_product(p, p->n_order, p->order) * pack_product(p, p->n_red, p->red);
  double cost = 0, vectors = points / (double)p->size[v];
  if (p->size[v] >= 2 * VECTORS * vector_lanes(s, p->stage->sum->acc)) return 0; /* counted as operands in place */
  expr_slot_reads(s->arena, 1, &p->stage->sum->body, read);
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    if (!read[a] || plan_move(p, a, v) != MOVE_NONE || !pack_is_far(s, p, read[a], u)) continue;
    cost += vectors * (plan_bytes(s, p, a) > (double)SECOND_CACHE ? LINE_FAR : LINE_SECOND);
  }
  return cost;
}

double pack_cost(Sched *s, const StagePlan *p, Env *e) {
  Panel *t = fits(s, p) ? for_any(s, p, e) : NULL;
  uint32_t l = lanes_in_place(p);
  bool along = l != NOWHERE && plan_move(p, p->n_access - 1, l) != MOVE_FAR;
  if (t) return panels_cost(t) + far_cost(t);
  double cost = unpacked_cost(s, p) * (l == NOWHERE ? ALONE : 1);
  if (l != NOWHERE && l < p->stage->sum->n_out) cost += lines_cost(s, p, l);
  return cost + tiles_stored(s, p, l) + (along ? 0 : pack_product(p, p->n_order, p->order) * ONE_BY_ONE);
}

/* The panels with lanes along v for this machine, if they sum in the same order as t; else NULL. */
static Panel *fitted_along(const Panel *t, int64_t v) {
  Panel *x = panel_along(t->s, t->p, t->e, v, true);
  if (!x || !x->guard != !t->guard) return NULL;
  const PanelDepth *d = &x->depth, *any = &t->depth;
  if (d->cut != any->cut || d->deep != any->deep || d->cut_too != any->cut_too || d->deep_too != any->deep_too)
    return NULL;
  x->aside = t->aside || v != t->v.tile;
  return x;
}

/* The same panels for this machine, whose registers may favour other tiles and lanes. */
static Panel *for_this(Panel *t) {
  const StagePlan *p = t->p;
  const LoopTarget *target = t->s->target;
  Panel *best = pack_fits(t) && (target->wide || target->vector_bytes) ? fitted_along(t, t->v.tile) : NULL;
  if (!best) best = t;
  double least = panels_cost(best) * GAIN;
  bool any = best->fitted && target->vector_bytes && is_free(t->s, p, false) && !t->guard;
  for (uint32_t k = 0; k < p->n_order && any; k++) {
    Panel *x = p->order[k] == t->v.tile ? NULL : fitted_along(t, p->order[k]);
    if (x && panels_cost(x) < least) least = panels_cost(x), best = x;
  }
  if (target->vector_bytes) pack_cut(best);
  return best;
}

/* Their product; NULL: all extents are known. */
static const Expr *unknown_of(const Panel *t, const Expr *first, uint32_t n, const uint32_t *label) {
  for (uint32_t k = 0; k < n; k++) first = ex_mul(t->s, first, t->p->stage->bound[label[k]]);
  return first->kind == EX_INT ? NULL : first;
}

bool pack_few(const Panel *t, const Expr **few, const Expr **enough) {
  const StagePlan *p = t->p;
  Exprs *x = t->s->x;
  const Expr *points = unknown_of(t, ex_int(t->s, 1), p->n_red, p->red),
             *rows = unknown_of(t, p->stage->bound[t->u.tile], t->u.n_far, t->u.far),
             *most = ex_int(t->s, 2 * TILE_BLOCK);
  *few = *enough = NULL;
  if (p->stage->sum->where || p->stage->sum->domain) return false;
  if (rows) {
    const Expr *least = ex_int(t->s, PACK_FEW_ROWS);
    *few = expr_op2(x, OP_LT, rows, least), *enough = expr_op2(x, OP_LE, least, rows);
  }
  if (rows && points) { /* tiles need no blocks of a sum then */
    *few = expr_and(x, *few, expr_op2(x, OP_LE, points, most));
    *enough = expr_op2(x, OP_OR, *enough, expr_op2(x, OP_LT, most, points));
  }
  if (points) {
    const Expr *least = ex_int(t->s, PACK_FEW), *less = expr_op2(x, OP_LT, points, least);
    *few = *few ? expr_op2(x, OP_OR, *few, less) : less;
    *enough = expr_and(x, *enough, expr_op2(x, OP_LE, least, points));
  }
  return *few;
}

Panel *pack_choose(Sched *s, const StagePlan *p, Env *e) {
  Panel *t = fits(s, p) ? for_any(s, p, e) : NULL;
  return t ? for_this(t) : NULL;
}
