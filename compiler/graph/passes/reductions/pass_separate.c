/* graph/passes/reductions/pass_separate.c - splits a reduction whose predicate consists of conditions on different
 * labels, into one step per label, the inner ones first: sum[a,b where a <= i and b <= j] A[a,b] becomes T[a,j] =
 * sum[b where b <= j] A[a,b], and then sum[a where a <= i] T[a,j]. This holds for any commutative reducer; and if the
 * reducer distributes over the body's operation, a factor waits for the first step that reduces one of its labels.
 *
 * Labels that share a condition form a group, and a group is one step. All orders of the groups are tried; they are
 * compared by the number of points, where a label that a condition bounds on one side only is a running sum. A step
 * visits points that the original did not, so its reads must be proved to be in range by its own conditions. */
#include <string.h>

#include "graph/passes/contract/contract.h"

enum {
  GROUPS_MOST = 5,           /* whose orders are all tried */
  PARTS_MOST = 32,           /* factors; conditions; reduced labels */
  STORE = 8                  /* the cost of storing an element and reading it again, in operations */
};

typedef struct Group {
  uint64_t red, outer;       /* the labels that it reduces, and the others in its conditions */
  const Expr *where;         /* NULL: none */
  double reach;              /* about how many of its points there are per value of the others */
  bool runs;                 /* as one of the others moves on, it gains or loses a point */
  uint64_t put;              /* labels of the others that data determine: a point goes to one of them */
  bool holds;                /* there is a point for each value of the others: only its factors are used */
} Group;

typedef struct Step { uint32_t group; uint64_t factors; } Step; /* those that it takes in */

typedef struct Separate {
  Rebuild b;
  Arena *scratch;
  int64_t proofs;            /* left for the graph */

  const EinNode *n;          /* the current vertex */
  uint32_t labels;
  Op op;                     /* OPS: its body is one factor */
  uint32_t n_group, n_factor;
  Group group[PARTS_MOST];
  const Expr *factor[PARTS_MOST];
  const Expr *last;          /* conditions without a reduced label */
  Step step[GROUPS_MOST], best[GROUPS_MOST];
  double cost;               /* of `best`; at first that of the original vertex */
} Separate;

static uint64_t reduced(const Separate *c) { return labels_below(c->labels) & ~labels_below(c->n->sum->n_out); }

/* ---- groups ---------------------------------------------------------------------------------- */

/* Merges all groups that have one of the labels into the first of them. */
static Group *groups_join(Separate *c, uint64_t red) {
  Exprs *p = c->b.old->exprs;
  Group *first = NULL;
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n_group; k++) {
    Group *g = &c->group[k];
    if (!(g->red & red) || !first) {
      c->group[n] = *g;
      if (g->red & red) first = &c->group[n];
      n++;
    } else {
      first->red |= g->red;
      first->outer |= g->outer;
      first->where = expr_and(p, first->where, g->where);
    }
  }
  c->n_group = n;
  return first;
}

static void conditions_share_out(Separate *c, const Expr *const *part, uint32_t n, bool reading) {
  Exprs *p = c->b.old->exprs;
  for (uint32_t i = 0; i < n; i++) {
    if (!(part[i]->has & HAS_READ) == reading) continue;
    uint64_t red = part[i]->labels & reduced(c);
    if (red) {
      Group *g = groups_join(c, red);
      g->outer = (g->outer | part[i]->labels) & ~reduced(c);
      g->where = expr_and(p, g->where, part[i]);
    } else {
      c->last = expr_and(p, c->last, part[i]);
    }
  }
}

/* Conditions without reads come first, since they may guard the others. Labels without a condition form one group. */
static bool groups_find(Separate *c) {
  const Expr *part[PARTS_MOST];
  uint32_t n, n_out = c->n->sum->n_out;
  uint64_t rest = 0;
  if (c->n->sum->n_red > PARTS_MOST || !op_parts(c->scratch, c->n->sum->where, OP_AND, PARTS_MOST, part, &n))
    return false;
  c->last = NULL;
  c->n_group = 0;
  for (uint32_t k = n_out; k < c->labels; k++) c->group[c->n_group++] = (Group){.red = (uint64_t)1 << k};
  conditions_share_out(c, part, n, false);
  conditions_share_out(c, part, n, true);
  for (uint32_t k = 0; k < c->n_group; k++)
    if (!c->group[k].where) rest |= c->group[k].red;
  if (rest) groups_join(c, rest);
  return c->n_group > 1 && c->n_group <= GROUPS_MOST;
}

/* For a label between bounds: their distance, if it is a number, and whether only one of them moves. */
static void group_bounds(Separate *c, Group *g, const Expr *label) {
  Exprs *p = c->b.old->exprs;
  const Expr *part[PARTS_MOST], *by[PARTS_MOST];
  int64_t way[PARTS_MOST], strict[PARTS_MOST];
  uint32_t n;
  bool ways[2] = {false, false};
  g->runs = g->outer && op_parts(c->scratch, g->where, OP_AND, PARTS_MOST, part, &n);
  if (!g->runs) return;
  for (uint32_t i = 0; i < n; i++) {
    way[i] = bound_of_label(p, part[i], label, &by[i], &strict[i]);
    g->runs &= way[i] != 0;
    if (part[i]->labels & g->outer) ways[way[i] > 0] = true;
    for (uint32_t k = 0; way[i] && k < i; k++) {
      const Expr *far = way[i] + way[k] ? NULL : expr_normal(p, expr_op2(p, OP_ADD, by[i], by[k]));
      if (!way[k] || !far || far->kind != EX_INT) continue;
      double width = 1.0 - (double)far->i - (double)strict[i] - (double)strict[k];
      g->reach = width < 1 ? 1 : width < g->reach ? width : g->reach;
    }
  }
  g->runs &= ways[0] != ways[1];
}

/* A label of the result that must equal something that is read. */
static uint64_t group_put(Separate *c, const Group *g) {
  const Expr *part[PARTS_MOST];
  uint64_t put = 0;
  uint32_t n;
  if (!op_parts(c->scratch, g->where, OP_AND, PARTS_MOST, part, &n)) return 0;
  for (uint32_t i = 0; i < n; i++) {
    const Expr *e = part[i];
    if (e->kind != EX_OP || e->op != OP_EQ) continue;
    for (uint32_t k = 0; k < 2; k++)
      if (e->arg[k]->kind == EX_LABEL && e->arg[1 - k]->has & HAS_READ) put |= e->arg[k]->labels & g->outer;
  }
  return put;
}

static Facts facts_of(const Separate *c, const Expr **turn) {
  Facts f = {.label = c->n->bound, .n_label = c->labels};
  facts_turns(&f, c->n->region, turn);
  return f;
}

static bool group_holds(Separate *c, const Group *g) {
  const Expr *turn[GRAPH_DEPTH + 1];
  bool inner[ORDER_LABELS];
  Exprs *p = c->b.old->exprs;
  Facts f = facts_of(c, turn);
  if (!dtype_is_float(c->n->sum->acc)) return true;
  if ((c->proofs -= 2) < 0) return false;
  for (uint32_t k = 0; k < c->labels; k++) inner[k] = g->red >> k & 1;
  return prove_nonempty(p, &f, inner, g->where ? g->where : expr_bool(p, true)).verdict == PROVED;
}

static void groups_know(Separate *c) {
  for (uint32_t k = 0; k < c->n_group; k++) {
    Group *g = &c->group[k];
    g->reach = labels_points(c->n, g->red);
    g->runs = false;
    g->put = g->where ? group_put(c, g) : 0;
    g->holds = c->n_factor > 1 && group_holds(c, g);
    for (uint32_t l = 0; g->where && l < c->labels; l++)
      if (g->red == (uint64_t)1 << l) group_bounds(c, g, expr_label(c->b.old->exprs, l));
  }
}

/* ---- orders ---------------------------------------------------------------------------------- */

static double whole_cost(const Separate *c) {
  uint64_t put = 0;
  double reach = 1;
  for (uint32_t k = 0; k < c->n_group; k++) {
    put |= c->group[k].put;
    reach *= c->group[k].reach;
  }
  return labels_points(c->n, labels_below(c->n->sum->n_out) & ~put) * reach;
}

/* rest: the labels of its result; body: those of what is reduced. */
static double step_cost(const Separate *c, const Group *g, uint64_t body, uint64_t rest) {
  if (g->runs && !(body & g->outer))
    return labels_points(c->n, (rest & ~g->outer) | g->red) + labels_points(c->n, rest);
  return labels_points(c->n, rest & ~g->put) * g->reach;
}

static uint64_t factors_with(const Separate *c, uint64_t left, uint64_t labels) {
  uint64_t with = 0;
  for (uint32_t i = 0; i < c->n_factor; i++)
    if (c->factor[i]->labels & labels) with |= (uint64_t)1 << i;
  return with & left;
}

/* Tries all orders of the groups that are not `done`; labels: of what is reduced so far; left: factors that wait. */
static void orders_try(Separate *c, uint32_t at, uint32_t done, uint64_t labels, uint64_t left, double cost) {
  bool end = at + 1 == c->n_group;
  for (uint32_t k = c->n_group; k-- > 0;) {
    const Group *g = &c->group[k];
    if (done >> k & 1) continue;
    uint64_t taken = end || !g->holds ? left : factors_with(c, left, g->red), body = labels;
    if (!at && !taken) taken = left;
    for (uint32_t i = 0; i < c->n_factor; i++)
      if (taken >> i & 1) body |= c->factor[i]->labels;
    uint64_t rest = end ? labels_below(c->n->sum->n_out) : (body | g->outer) & ~g->red;
    double now = cost + step_cost(c, g, body, rest) + (end ? 0 : (double)STORE * labels_points(c->n, rest));
    c->step[at] = (Step){k, taken};
    if (now >= c->cost) continue;
    if (!end) {
      orders_try(c, at + 1, done | 1u << k, rest, left & ~taken, now);
      continue;
    }
    c->cost = now;
    memcpy(c->best, c->step, sizeof c->best);
  }
}

/* ---- reads ----------------------------------------------------------------------------------- */

static bool index_within(Exprs *p, const EinNode *n, const Facts *f, const Expr *e, const Expr *size, int64_t *proofs) {
  if (e->has & HAS_READ) return false;
  if (e->kind == EX_LABEL && n->bound[e->i] == size) return true;
  if ((*proofs -= 2) < 0) return false;
  return prove(p, f, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), e)).verdict == PROVED &&
         prove(p, f, expr_op2(p, OP_LT, e, size)).verdict == PROVED;
}

bool expr_is_total(Arena *scratch, Exprs *p, const EinNode *n, const Expr *e, const Expr *where, int64_t *proofs) {
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  const Expr *turn[GRAPH_DEPTH + 1], **bound = NEW_ARRAY(scratch, const Expr *, labels + 1);
  uint64_t its = e->labels | (where ? where->labels : 0);
  for (uint32_t k = 0; k < labels; k++) bound[k] = k < 64 && its >> k & 1 ? n->bound[k] : NULL;
  Facts f = {.label = bound, .n_label = labels};
  facts_turns(&f, n->region, turn);
  f.hold = &where;
  f.n_hold = where ? 1 : 0;
  ExprNodes nodes = expr_nodes(scratch, e, HAS_READ);
  for (const Expr *x; (x = expr_node(&nodes));) {
    const EinNode *from = x->kind == EX_READ ? n->input[x->i] : NULL;
    if (from && is_partial(from)) return false;
    for (uint32_t k = 0; from && k < x->n; k++)
      if (!index_within(p, n, &f, x->arg[k], from->dim[k], proofs)) return false;
  }
  return true;
}

static bool is_total(Separate *c, const Expr *e, const Expr *where) {
  return expr_is_total(c->scratch, c->b.old->exprs, c->n, e, where, &c->proofs);
}

/* The conditions without reads, which come first. */
static const Expr *plain_part(Separate *c, const Expr *where) {
  const Expr *part[PARTS_MOST], *plain = NULL;
  uint32_t n;
  if (!where || !op_parts(c->scratch, where, OP_AND, PARTS_MOST, part, &n)) return NULL;
  for (uint32_t i = 0; i < n; i++)
    if (!(part[i]->has & HAS_READ)) plain = expr_and(c->b.old->exprs, plain, part[i]);
  return plain;
}

static bool steps_are_total(Separate *c) {
  for (uint32_t i = 0; i < c->n_group; i++) {
    const Group *g = &c->group[c->best[i].group];
    const Expr *where = i + 1 < c->n_group ? g->where : expr_and(c->b.old->exprs, c->last, g->where);
    where = plain_part(c, where);
    if (g->where && !is_total(c, g->where, where)) return false;
    for (uint32_t k = 0; k < c->n_factor; k++)
      if (c->best[i].factors >> k & 1 && !is_total(c, c->factor[k], where)) return false;
  }
  return true;
}

/* ---- the vertices ---------------------------------------------------------------------------- */

typedef struct Emit {
  Separate *c;
  EinRegion *region;
  VEC(EinNode *) slot;       /* the vertex's, then those made here */
} Emit;

static uint32_t axis_add(uint64_t mask, uint64_t *left, uint32_t *axis, uint32_t n) {
  for (uint32_t k = 0; k < 64; k++)
    if ((mask & *left) >> k & 1) axis[n++] = k;
  *left &= ~mask;
  return n;
}

/* The labels of a step's result in the order of the body, with those of its conditions in place of the reduced ones. */
static uint32_t axes_order(Separate *c, const Expr *body, const Group *g, uint64_t rest, uint32_t *axis) {
  VEC(const Expr *) stack = {0};
  uint64_t want = rest | g->red;
  uint32_t n = 0;
  vec_push(c->scratch, stack, body);
  while (stack.len && want) {
    const Expr *x = vec_pop(stack);
    if (!(x->labels & want)) continue;
    if (x->kind == EX_LABEL && x->labels & g->red) n = axis_add(g->outer & rest, &want, axis, n);
    if (x->kind == EX_LABEL && x->labels & rest) n = axis_add(x->labels, &want, axis, n);
    if (x->kind == EX_LABEL) want &= ~x->labels;
    for (uint32_t i = x->n; i-- > 0;) vec_push(c->scratch, stack, x->arg[i]);
  }
  return axis_add(rest, &want, axis, n);
}

/* Makes a step's vertex, and a read of it; the last one has the name, shape and dtype of the original. */
static EinNode *vertex_make(
    Emit *e, const Expr *body, const Expr *where, uint32_t n_out, uint64_t red, uint32_t *axis, bool last) {
  Separate *c = e->c;
  EinGraph *g = c->b.g;
  EinSum s = *c->n->sum;
  const Expr *to[ORDER_LABELS] = {0}, *bound[ORDER_LABELS];
  Str label[ORDER_LABELS];
  uint32_t n = axis_add(red, &(uint64_t){red}, axis, n_out);
  for (uint32_t k = 0; k < n; k++) {
    to[axis[k]] = expr_label(g->exprs, k);
    bound[k] = c->n->bound[axis[k]];
    label[k] = c->n->label[axis[k]];
  }
  s.n_out = n_out;
  s.n_red = n - n_out;
  s.body = expr_relabel(g->exprs, body, c->labels, to);
  s.where = where ? expr_relabel(g->exprs, where, c->labels, to) : NULL;
  if (last) return rebuild_vertex(&c->b, e->region, c->n, &s, bound, label, e->slot.at);
  s.dtype = s.acc;
  return rebuild_part(&c->b, e->region, c->n, &s, bound, label, e->slot.at);
}

/* body: the result of the previous steps, or NULL. */
static EinNode *step_make(Emit *e, uint32_t at, const Expr **body) {
  Separate *c = e->c;
  Exprs *p = c->b.g->exprs;
  const Group *g = &c->group[c->best[at].group];
  uint32_t axis[ORDER_LABELS], n_out = c->n->sum->n_out;
  bool last = at + 1 == c->n_group;
  for (uint32_t k = 0; k < c->n_factor; k++)
    if (c->best[at].factors >> k & 1) *body = *body ? expr_op2(p, c->op, *body, c->factor[k]) : c->factor[k];
  if (last) {
    for (uint32_t k = 0; k < n_out; k++) axis[k] = k;
    return vertex_make(e, *body, expr_and(p, c->last, g->where), n_out, g->red, axis, true);
  }
  n_out = axes_order(c, *body, g, ((*body)->labels | g->outer) & ~g->red, axis);
  EinNode *made = vertex_make(e, *body, g->where, n_out, g->red, axis, false);
  if (c->n->name) made->name = strings_printf(c->b.g->strings, "%s.%u", c->n->name->s, at + 1);
  const Expr *index[ORDER_LABELS];
  for (uint32_t k = 0; k < n_out; k++) index[k] = expr_label(p, axis[k]);
  vec_push(c->b.arena, e->slot, made);
  *body = expr_read(p, made->dtype, e->slot.len - 1, n_out, index);
  return made;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool may_separate(const EinNode *n) {
  const EinSum *s = n->sum;
  if (!s->where || s->domain || s->n_red < 2 || s->n_out + s->n_red >= ORDER_LABELS) return false;
  for (uint32_t k = 0; k < s->n_out + s->n_red; k++)
    if (expr_is_int(n->bound[k], 0)) return false;
  return s->reducer != RED_NONE && s->reducer != RED_ARGMAX && s->reducer != RED_ARGMIN;
}

static bool orders_find(Separate *c, const EinNode *n) {
  c->n = n;
  c->labels = n->sum->n_out + n->sum->n_red;
  c->op = OPS;
  if (!groups_find(c)) return false;
  bool product =
      product_op(n->sum, &c->op) && op_parts(c->scratch, n->sum->body, c->op, PARTS_MOST, c->factor, &c->n_factor);
  if (!product) {
    c->factor[0] = n->sum->body;
    c->n_factor = 1;
  }
  groups_know(c);
  double whole = c->cost = whole_cost(c);
  orders_try(c, 0, 0, 0, labels_below(c->n_factor), 0);
  return c->cost < whole && steps_are_total(c);
}

static EinNode *separated(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Separate *c = env;
  EinNode *made = NULL;
  if (!may_separate(n) || !orders_find(c, n)) return rebuild_copy(b, r, n);
  Emit e = {.c = c, .region = r};
  const Expr *body = NULL;
  for (uint32_t i = 0; i < n->sum->n_slot; i++) vec_push(b->arena, e.slot, rebuild_to(b, n->input[i]));
  for (uint32_t i = 0; i < c->n_group; i++) made = step_make(&e, i, &body);
  rebuild_note(b, "labels reduced one after another", n->place);
  return made;
}

EinGraph *graph_separate(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = separated};
  Separate c = {.b = {.arena = a, .old = g, .pass = "separate", .notes = notes}, .scratch = arena_new()};
  c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
  return rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
}
