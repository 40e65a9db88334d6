/* graph/grad/repeat.c - differentiates a repeat by running it backwards. Another repeat visits the turns from the
 * last to the first: in each it recomputes the turn, from the states at the turn's start, which the original repeat
 * now stacks, and computes the turn's adjoints. A nested repeat is one node of the turn, and is differentiated there
 * in the same way. The states of the backward repeat are the adjoints of the states, and the contributions so far to
 * each outer tensor. Turns that `until` skipped are skipped here too.
 *
 * Where the states of all turns take more than may be saved, the original repeat keeps those of every k-th turn. The
 * backward repeat then visits stretches of k turns, the last one first: it runs the stretch again, as a repeat of its
 * own, and differentiates that one, perhaps in stretches too. The operations are the same, in the same order. */
#include <math.h>

#include "inside.h"

typedef struct Back {
  Gradients *all;
  EinRegion *r;              /* where it is, like the repeat */
  EinNode *repeat;
  EinRegion *of, *body;      /* its region, and that of the backward repeat */
  const Results *have;       /* its results that have adjoints */
  const bool *wanted;        /* by number: outer nodes that take contributions; NULL: all floats */
  const Expr *t;             /* the turn that is recomputed, inside body */
  uint32_t deeper;           /* repeats around the copy of the turn, beyond those around the turn */
  const Results *so_far;     /* nodes around, and what later turns contributed to them; NULL: nothing */
  Map reached;               /* nodes on which the results depend through floats */
  Map copy;                  /* node of the region -> its copy in body */
  Map share;                 /* node -> Shares: inside body, contributions to copies and to outer nodes */
  VEC(EinNode *) made;       /* copies of its nodes except states, operands first */
  VEC(EinNode *) around;     /* outer nodes that are reached and take contributions */
  VEC(EinNode *) ruled;      /* copied nodes that state their adjoints */
  bool *active;              /* by number: a copy or an outer node that takes contributions */
  GradTrouble *trouble;
} Back;

typedef struct Carried {
  EinNode *of;               /* a state of the region, or an outer node */
  EinNode *saved;            /*   the state in all turns, or at the beginning of each stretch */
  EinNode *begin;            /*   at the beginning of the current stretch */
  EinNode *init, *state;     /* the state of body that is its adjoint, and its value for the last turn; NULL: it has
                              * none */
} Carried;
typedef VEC(Carried) Carries;

typedef struct Stretches { int64_t n, k; } Stretches; /* n stretches of k turns, the last one perhaps of fewer; n 0:
                                                       * all states are saved */

static Exprs *pool(const Back *b) { return b->all->g->exprs; }

static bool is_ours(const Back *b, const EinNode *n) { return n->region == b->of; }

static bool refuse(Back *b, const EinNode *at, const char *why) {
  *b->trouble = (GradTrouble){.at = at, .why = why};
  return false;
}

/* ---- the turns ------------------------------------------------------------------------------------------ */

static EinNode *scalar_vertex(Back *b, EinRegion *r, const Expr *body) {
  DType t = (DType)body->dtype;
  EinSum s = {.reducer = RED_NONE, .acc = t, .dtype = t, .body = body};
  return adjoint_new(b->all, r, &s, NULL, NULL, NULL, b->repeat->place);
}

static const Expr *number(const Back *b, int64_t v) { return expr_int(pool(b), DT_I64, v); }

/* How many turns were made. */
static const Expr *turns_made(Back *b) {
  if (!b->of->stop) return b->of->turns;
  return id_read(b->all, graph_result(b->all->g, b->r, EIN_TURNS, b->repeat, 0), 0, NULL);
}

/* Visits that many turns, or stretches of turns, the last one first. `most`: how many there can be, which is known, so
 * this can be differentiated once more. There is at least one, if there can be any. */
static void turns_back(Back *b, const Expr *count, const Expr *most) {
  EinGraph *g = b->all->g;
  EinNode *bound = most == b->of->turns ? b->of->bound : scalar_vertex(b, b->r, most);
  EinNode *back = graph_repeat(g, b->r, strings_printf(g->strings, "%s~back", b->of->turn->s));
  back->place = b->repeat->place;
  b->body = back->body;
  b->body->bound = bound;
  b->body->turns = most;
  const Expr *turn = expr_turn(pool(b), b->body->depth), *last = expr_op2(pool(b), OP_SUB, count, number(b, 1));
  b->t = expr_op2(pool(b), OP_SUB, last, turn);
  if (count != most) b->body->stop = scalar_vertex(b, b->body, expr_op2(pool(b), OP_GE, turn, last));
}

/* ---- the turn, again ------------------------------------------------------------------------------------ */

/* Stacks a state's value at the beginning of each turn, along axis 0. */
static EinNode *stacked(Back *b, EinNode *n) {
  EinGraph *g = b->all->g;
  EinNode *known = map_find(&b->all->saved, n);
  if (known) return known;
  EinNode *value = vertex_like(b->all, b->of, n, whole_read(b->all, n));
  value->name = n->name;
  vec_push(g->arena, b->of->stacks, ((EinStack){.name = n->name, .node = value}));
  EinNode *all = graph_result(g, b->r, EIN_STACK, b->repeat, b->of->stacks.len - 1);
  all->name = n->name;
  all->place = n->place;
  map_put(&b->all->saved, n, all);
  return all;
}

/* Of a node of the repeat: one that only saves states, and that no result with an adjoint depends on. */
static bool is_spare(const Back *b, const EinNode *n) {
  return map_find(&b->all->spare, n) && !map_find(&b->reached, n);
}

/* Zeros of that shape, before the repeat. */
static EinNode *zeros_before(Back *b, const EinNode *shape) {
  DType t = shape->dtype;
  const Expr *zero = dtype_is_float(t) ? expr_real(pool(b), t, 0) : expr_int(pool(b), t, 0);
  EinNode *n = vertex_like(b->all, b->r, shape, zero);
  uint32_t k = b->r->nodes.len - 1;
  for (; b->r->nodes.at[k] != b->repeat; k--) b->r->nodes.at[k] = b->r->nodes.at[k - 1];
  b->r->nodes.at[k] = n, b->r->nodes.at[k + 1] = b->repeat;
  return n;
}

/* Saves a state's value at the beginning of every k-th turn, along axis 0: in a state of its own, of which the turn
 * changes a slice. */
static EinNode *every(Back *b, EinNode *n, Stretches s) {
  EinGraph *g = b->all->g;
  Exprs *p = pool(b);
  EinNode *known = map_find(&b->all->kept, n);
  if (known) return known;
  Str name = strings_printf(g->strings, "kept.%s", n->name ? n->name->s : b->of->turn->s);
  const Expr **dim = NEW_ARRAY(b->all->arena, const Expr *, n->rank + 1),
             **at = NEW_ARRAY(b->all->arena, const Expr *, n->rank + 1);
  dim[0] = number(b, s.n);
  for (uint32_t i = 0; i < n->rank; i++) dim[i + 1] = n->dim[i], at[i] = expr_label(p, i + 1);
  EinNode shape = {.name = name, .place = n->place, .dtype = n->dtype, .rank = n->rank + 1, .dim = dim};
  EinNode *none = zeros_before(b, &shape);
  vec_push(g->arena, b->of->states, ((EinState){.init = none}));
  EinNode *state = graph_state(g, b->of, name, n->dtype, shape.rank, dim);
  const Expr *turn = expr_turn(p, b->of->depth), *slot = expr_op2(p, OP_IDIV, turn, number(b, s.k));
  const Expr *begins = expr_op2(p, OP_EQ, expr_op2(p, OP_MOD, turn, number(b, s.k)), number(b, 0));
  const Expr *here = expr_and(p, expr_op2(p, OP_EQ, expr_label(p, 0), slot), begins);
  const Expr *value = expr_select(p, here, id_read(b->all, n, n->rank, at), whole_read(b->all, state));
  EinNode *next = vertex_like(b->all, b->of, state, value);
  vec_last(b->of->states).node = state;
  vec_last(b->of->states).next = next;
  state->place = next->place = n->place;
  next->name = none->name = name;
  map_put(&b->all->spare, state, n);
  map_put(&b->all->spare, next, n);
  EinNode *all = graph_result(g, b->r, EIN_FINAL, b->repeat, state->index);
  all->place = n->place;
  map_put(&b->all->kept, n, all);
  return all;
}

static EinNode *at_turn(Back *b, EinNode *stack, uint32_t axis, const EinNode *like) {
  const Expr **index = NEW_ARRAY(b->all->arena, const Expr *, stack->rank + 1);
  for (uint32_t k = 0; k < stack->rank; k++) index[k] = k == axis ? b->t : expr_label(pool(b), k < axis ? k : k - 1);
  return vertex_like(b->all, b->body, like, id_read(b->all, stack, stack->rank, index));
}

/* The node when the turn is recomputed: for nodes of the region, or of a nested repeat, the copy; for outer ones,
 * itself. */
static EinNode *in_body(const Back *b, EinNode *n) {
  EinNode *copy = map_find(&b->copy, n);
  return copy ? copy : n;
}

typedef struct Again { Back *b; const EinNode *of; } Again;

static const Expr *leaf_again(void *env, Exprs *p, const Expr *e) {
  const Again *x = env;
  if (e->kind == EX_TURN && e->i == x->b->of->depth) return x->b->t;
  if (e->kind == EX_TURN) return e->i < x->b->of->depth ? e : expr_turn(p, e->i + x->b->deeper);
  return e->kind == EX_READ ? id_read(x->b->all, in_body(x->b, x->of->input[e->i]), e->n, e->arg) : e;
}

static EinNode *vertex_again(Back *b, EinRegion *to, const EinNode *n) {
  Again x = {b, n};
  EinSum s = *n->sum;
  sum_map(pool(b), &s, leaf_again, &x);
  EinNode **input = graph_canonical_slots(b->all->g, &s, b->all->by_id.at);
  return graph_vertex(b->all->g, to, graph_sum(b->all->g, &s), n->bound, n->label, n->rank, n->merge, input);
}

static EinNode *node_again(Back *b, EinRegion *to, EinNode *n);

static EinNode *repeat_again(Back *b, EinRegion *to, const EinNode *n) {
  EinGraph *g = b->all->g;
  const EinRegion *of = n->body;
  EinNode *m = graph_repeat(g, to, of->turn);
  EinRegion *body = m->body;
  body->bound = in_body(b, of->bound);
  body->turns = of->turns;
  for (uint32_t i = 0; i < of->states.len; i++) {
    const EinNode *old = of->states.at[i].node;
    vec_push(g->arena, body->states, ((EinState){.init = in_body(b, of->states.at[i].init)}));
    EinNode *state = graph_state(g, body, old->name, old->dtype, old->rank, old->dim);
    state->place = old->place;
    vec_last(body->states).node = state;
    map_put(&b->copy, old, state);
  }
  for (uint32_t i = 0; i < of->nodes.len; i++)
    if (of->nodes.at[i]->kind != EIN_STATE) node_again(b, body, of->nodes.at[i]);
  for (uint32_t i = 0; i < of->states.len; i++) body->states.at[i].next = in_body(b, of->states.at[i].next);
  for (uint32_t i = 0; i < of->stacks.len; i++) {
    EinStack s = of->stacks.at[i];
    s.node = in_body(b, s.node);
    vec_push(g->arena, body->stacks, s);
  }
  if (of->stop) body->stop = in_body(b, of->stop);
  return m;
}

static EinNode *node_again(Back *b, EinRegion *to, EinNode *n) {
  EinNode *m = n->kind == EIN_VERTEX   ? vertex_again(b, to, n)
               : n->kind == EIN_REPEAT ? repeat_again(b, to, n)
                                       : graph_result(b->all->g, to, n->kind, in_body(b, n->repeat), n->index);
  m->name = n->name;
  m->place = n->place;
  map_put(&b->copy, n, m);
  if (rule_of(b->all, n)) vec_push(b->all->arena, b->ruled, n);
  return m;
}

static EinNode *stated_again(void *env, EinRegion *to, EinNode *n) { return node_again(env, to, n); }

static void nodes_again(Back *b, EinRegion *to) {
  vec_each_of(EinNode, n, b->of->nodes)
    if (n->kind != EIN_STATE && !is_spare(b, n)) vec_push(b->all->arena, b->made, node_again(b, to, n));
  for (uint32_t i = 0; i < b->ruled.len; i++)
    rule_again(b->all, rule_of(b->all, b->ruled.at[i]), &b->copy, stated_again, b);
}

static void turn_again(Back *b, const Carries *carry) {
  for (uint32_t i = 0; i < carry->len; i++) {
    if (!carry->at[i].saved) continue;
    EinNode *state = at_turn(b, carry->at[i].saved, 0, carry->at[i].of);
    state->name = carry->at[i].of->name;
    map_put(&b->copy, carry->at[i].of, state);
  }
  nodes_again(b, b->body);
}

/* ---- the rest ------------------------------------------------------------------------------------------- */

static Shares *shares_of(Back *b, const EinNode *n) {
  Shares *s = map_find(&b->share, n);
  if (s) return s;
  s = NEW(b->all->arena, Shares);
  map_put(&b->share, n, s);
  return s;
}

static void share(Back *b, EinNode *n, EinNode *adjoint) {
  vec_push(b->all->arena, *shares_of(b, n), ((Share){n, adjoint}));
}

static EinNode *result_adjoint(const Back *b, EinKind kind, uint32_t index) {
  for (uint32_t i = 0; i < b->have->len; i++)
    if (b->have->at[i].node->kind == kind && b->have->at[i].node->index == index) return b->have->at[i].adjoint;
  return NULL;
}

/* ---- what the results depend on ---------------------------------------------------------------------------- */

static void reach(Back *b, EinNode *from) {
  Arena *a = b->all->arena;
  VEC(EinNode *) todo = {0};
  vec_push(a, todo, from);
  while (todo.len) {
    EinNode *n = vec_pop(todo);
    if (map_find(&b->reached, n) || (!dtype_is_float(n->dtype) && n->kind != EIN_REPEAT)) continue;
    map_put(&b->reached, n, n);
    if (!is_ours(b, n) && (!b->wanted || b->wanted[n->id])) vec_push(a, b->around, n);
    if (!is_ours(b, n)) continue;
    Nodes operands = operands_of(b->all, n);
    for (uint32_t k = 0; k < operands.len; k++) vec_push(a, todo, operands.at[k]);
    if (n->kind == EIN_STATE) vec_push(a, todo, b->of->states.at[n->index].next);
  }
}

static void reach_all(Back *b) {
  for (uint32_t i = 0; i < b->have->len; i++) {
    const EinNode *n = b->have->at[i].node;
    if (n->kind == EIN_FINAL) reach(b, b->of->states.at[n->index].node);
    if (n->kind == EIN_STACK) reach(b, b->of->stacks.at[n->index].node);
  }
}

/* ---- states of the backward repeat ------------------------------------------------------------------------ */

static EinNode *contributed(const Results *all, const EinNode *n) {
  for (uint32_t i = 0; all && i < all->len; i++)
    if (all->at[i].node == n) return all->at[i].adjoint;
  return NULL;
}

static Carries carries_find(Back *b, Stretches s) {
  Carries all = {0};
  uint32_t n = b->of->states.len;
  for (uint32_t i = 0; i < n; i++) {
    EinNode *state = b->of->states.at[i].node, *init = result_adjoint(b, EIN_FINAL, i);
    bool reached = map_find(&b->reached, state) != NULL;
    if (is_spare(b, state)) continue;
    if (reached && !init) init = vertex_constant(b->all, b->r, state, 0);
    EinNode *saved = s.n ? every(b, state, s) : stacked(b, state);
    vec_push(b->all->arena, all, ((Carried){.of = state, .init = reached ? init : NULL, .saved = saved}));
  }
  for (uint32_t i = 0; i < b->around.len; i++) {
    EinNode *of = b->around.at[i], *init = contributed(b->so_far, of);
    if (!init) init = vertex_constant(b->all, b->r, of, 0);
    vec_push(b->all->arena, all, ((Carried){.of = of, .init = init}));
  }
  return all;
}

static void carries_make(Back *b, Carries *all) {
  EinGraph *g = b->all->g;
  vec_each(Carried, c, *all) {
    if (!c->init) continue;
    Str name = c->of->name ? strings_printf(g->strings, "grad.%s", c->of->name->s) : NULL;
    vec_push(g->arena, b->body->states, ((EinState){.init = c->init}));
    c->state = graph_state(g, b->body, name, c->of->dtype, c->of->rank, c->of->dim);
    c->state->place = c->of->place;
    vec_last(b->body->states).node = c->state;
  }
}

/* Finds the copies that lead through floats to nodes that take contributions. */
static void active_find(Back *b, const Carries *carry) {
  b->active = NEW_ARRAY(b->all->arena, bool, b->all->g->n_nodes + 1);
  for (uint32_t i = 0; i < carry->len; i++) b->active[in_body(b, carry->at[i].of)->id] = carry->at[i].state != NULL;
  vec_each_of(EinNode, m, b->made) {
    Nodes from = dtype_is_float(m->dtype) || m->kind == EIN_REPEAT ? operands_of(b->all, m) : (Nodes){0};
    for (uint32_t k = 0; k < from.len && !b->active[m->id]; k++) b->active[m->id] = b->active[from.at[k]->id];
  }
}

/* Contributions at a turn's end: to each state what the next turn contributed, to each stack its slice, to each
 * outer node the sum so far. */
static void end_shares(Back *b, const Carries *carry) {
  vec_each(const Carried, c, *carry) {
    EinNode *end = is_ours(b, c->of) ? in_body(b, b->of->states.at[c->of->index].next) : c->of;
    if (c->state && b->active[end->id]) share(b, end, c->state);
  }
  for (uint32_t i = 0; i < b->of->stacks.len; i++) {
    EinNode *above = result_adjoint(b, EIN_STACK, i), *node = above ? in_body(b, b->of->stacks.at[i].node) : NULL;
    if (above && b->active[node->id]) share(b, node, at_turn(b, above, b->of->stacks.at[i].axis, node));
  }
}

/* The contributions to a nested repeat: those to all its results. */
static Results results_have(Back *b, const EinNode *repeat) {
  Results have = {0};
  for (uint32_t i = 0; i < b->made.len; i++) {
    EinNode *n = b->made.at[i],
            *adjoint = is_result(n) && n->repeat == repeat ? shares_added(b->all, b->body, n, shares_of(b, n)) : NULL;
    if (adjoint) vec_push(b->all->arena, have, ((Share){n, adjoint}));
  }
  return have;
}

static bool node_leaves(Back *b, EinNode *m, Shares *out) {
  if (!b->active[m->id] || is_result(m)) return true; /* the repeat contributes for all its results at once */
  if (m->kind == EIN_REPEAT) {
    Results have = results_have(b, m);
    return !have.len || repeat_adjoint(b->all, b->body, m, &have, b->active, out, b->trouble);
  }
  EinNode *adjoint = shares_added(b->all, b->body, m, shares_of(b, m));
  return !adjoint || vertex_adjoint(b->all, b->body, m, adjoint, b->active, out, b->trouble);
}

static bool turn_leaves(Back *b) {
  for (uint32_t i = b->made.len; i-- > 0;) {
    Shares out = {0};
    if (!node_leaves(b, b->made.at[i], &out)) return false;
    for (uint32_t k = 0; k < out.len; k++) share(b, out.at[k].node, out.at[k].adjoint);
  }
  return true;
}

static void results_leave(Back *b, const Carries *carry, Shares *out) {
  vec_each(const Carried, c, *carry) {
    if (!c->state) continue;
    EinNode *to = is_ours(b, c->of) ? b->of->states.at[c->of->index].init : c->of;
    EinNode *all = graph_result(b->all->g, b->r, EIN_FINAL, b->body->repeat, c->state->index);
    all->place = c->of->place;
    vec_push(b->all->arena, *out, ((Share){to, all}));
  }
}

/* What the turn leaves: to the turn before it, or to the repeat's contributions. */
static void turn_ends(Back *b, const Carries *carry) {
  vec_each(const Carried, c, *carry) {
    if (!c->state) continue;
    EinNode *here = in_body(b, c->of), *left = shares_added(b->all, b->body, here, shares_of(b, here));
    b->body->states.at[c->state->index].next = left ? left : vertex_constant(b->all, b->body, here, 0);
  }
}

static bool turns_leave(Back *b, Shares *out) {
  Carries carry = carries_find(b, (Stretches){0});
  uint32_t before = b->r->nodes.len;
  turns_back(b, turns_made(b), b->of->turns);
  carries_make(b, &carry);
  turn_again(b, &carry);
  active_find(b, &carry);
  end_shares(b, &carry);
  bool can = turn_leaves(b);
  if (can) turn_ends(b, &carry), results_leave(b, &carry, out);
  else b->r->nodes.len = before; /* half a repeat is none */
  return can;
}

/* ---- stretches of turns ------------------------------------------------------------------------------------- */

enum { TURNS_AGAIN = 4 };    /* how often a turn may run again, at most */

/* The least number of stretches whose number, at each of that many levels, is the same. */
static int64_t turns_root(double turns, uint32_t again) {
  return (int64_t)ceil(pow(turns, 1.0 / (again + 1)) - 1e-9);
}

/* The states that are saved at a time, of that many turns, if each turn runs again so often. */
static double states_saved(double turns, uint32_t again) {
  return again ? (double)((again + 1) * turns_root(turns, again)) : turns;
}

/* The bytes of all states in one turn; -1: not known before the program runs. */
static double states_bytes(const Back *b) {
  double all = 0;
  for (uint32_t i = 0; i < b->of->states.len; i++) {
    const EinNode *n = b->of->states.at[i].node;
    double one = dtype_size(n->dtype);
    if (is_spare(b, n)) continue;
    for (uint32_t k = 0; k < n->rank; k++) {
      if (n->dim[k]->kind != EX_INT) return -1;
      one *= (double)n->dim[k]->i;
    }
    all += one;
  }
  return all;
}

/* About `near` stretches, of equal length if there is such a number close by. */
static Stretches stretches_near(int64_t turns, int64_t near) {
  for (int64_t by = 0; by <= near / 4; by++) {
    if (turns % (near + by) == 0) return (Stretches){near + by, turns / (near + by)};
    if (turns % (near - by) == 0) return (Stretches){near - by, turns / (near - by)};
  }
  int64_t k = (turns + near - 1) / near;
  return (Stretches){(turns + k - 1) / k, k};
}

/* Whether turns that run once more than `again` times leave clearly fewer states to be saved. */
static bool saves_less(double turns, uint32_t again) {
  double share = again ? 0.8 : 0.5;
  return again < TURNS_AGAIN && states_saved(turns, again + 1) <= share * states_saved(turns, again);
}

/* Runs turns again as often as it takes to save no more than may be saved, or while that saves clearly less. */
static Stretches stretches_of(Back *b) {
  const Expr *count = b->of->turns;
  double one = states_bytes(b), turns = count->kind == EX_INT ? (double)count->i : 0, keep = (double)b->all->keep;
  uint32_t again = 0;
  b->all->unsized |= one != 0 && (count->kind != EX_INT || (one < 0 && saves_less(turns, 0)));
  while (states_saved(turns, again) * one > keep && saves_less(turns, again)) again++;
  double saved = states_saved(turns, again) * one;
  if (saves_less(turns, again) && saved > b->all->lower) b->all->lower = saved;
  return again ? stretches_near(count->i, turns_root(turns, again)) : (Stretches){0};
}

/* A repeat of k turns whose states begin as they were saved for the current stretch. */
static EinNode *stretch_new(Back *b, Back *c, Carries *carry, int64_t k) {
  EinGraph *g = b->all->g;
  EinNode *bound = scalar_vertex(b, b->body, number(b, k));
  for (uint32_t i = 0; i < carry->len; i++)
    if (carry->at[i].saved) carry->at[i].begin = at_turn(b, carry->at[i].saved, 0, carry->at[i].of);
  EinNode *m = graph_repeat(g, b->body, b->of->turn);
  m->place = b->repeat->place;
  m->body->bound = bound;
  m->body->turns = number(b, k);
  for (uint32_t i = 0; i < carry->len; i++) {
    const EinNode *old = carry->at[i].of;
    if (!carry->at[i].saved) continue;
    vec_push(g->arena, m->body->states, ((EinState){.init = carry->at[i].begin}));
    EinNode *state = graph_state(g, m->body, old->name, old->dtype, old->rank, old->dim);
    state->place = old->place;
    vec_last(m->body->states).node = state;
    map_put(&c->copy, old, state);
  }
  return m;
}

/* The turns of one stretch, as they were; `made`: the number of all turns, if the stretch may end before its last. */
static EinNode *stretch_again(Back *b, Back *c, Carries *carry, Stretches s, const Expr *made) {
  Exprs *p = pool(b);
  EinNode *m = stretch_new(b, c, carry, s.k);
  const Expr *first = expr_op2(p, OP_MUL, b->t, number(b, s.k)), *most = number(b, b->of->turns->i - 1),
             *turn = expr_op2(p, OP_ADD, first, expr_turn(p, m->body->depth)),
             *past = expr_op2(p, OP_ADD, turn, number(b, 1));
  c->t = made ? expr_op2(p, OP_MIN, turn, most) : turn;
  nodes_again(c, m->body);
  for (uint32_t i = 0; i < carry->len; i++)
    if (carry->at[i].saved) m->body->states.at[i].next = in_body(c, b->of->states.at[carry->at[i].of->index].next);
  if (made) m->body->stop = scalar_vertex(b, m->body, expr_op2(p, OP_GE, past, made));
  return m;
}

/* The adjoints of a stretch's results: of its states, what later stretches left; of its stacks, its part of them. */
static Results stretch_have(Back *b, Back *c, EinNode *m, const Carries *carry, Stretches s, bool whole) {
  EinGraph *g = b->all->g;
  Exprs *p = pool(b);
  Results have = {0};
  for (uint32_t i = 0; i < carry->len; i++) {
    const Carried *x = &carry->at[i];
    if (x->saved && x->state)
      vec_push(b->all->arena, have, ((Share){graph_result(g, b->body, EIN_FINAL, m, i), x->state}));
  }
  for (uint32_t i = 0; i < b->of->stacks.len; i++) {
    EinNode *above = result_adjoint(b, EIN_STACK, i);
    if (!above) continue;
    EinStack stack = b->of->stacks.at[i];
    stack.node = in_body(c, stack.node);
    vec_push(g->arena, m->body->stacks, stack);
    EinNode *all = graph_result(g, b->body, EIN_STACK, m, m->body->stacks.len - 1);
    const Expr **at = exprs_labels(b->all->arena, p, all->rank);
    const Expr *t = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, b->t, number(b, s.k)), at[stack.axis]);
    at[stack.axis] = whole ? t : expr_op2(p, OP_MIN, t, number(b, b->of->turns->i - 1));
    vec_push(b->all->arena, have,
        ((Share){all, vertex_like(b->all, b->body, all, id_read(b->all, above, all->rank, at))}));
  }
  return have;
}

static bool back_leaves(Back *b, Shares *out);

static bool stretches_leave(Back *b, Stretches s, Shares *out) {
  Exprs *p = pool(b);
  bool whole = !b->of->stop && b->of->turns->i % s.k == 0;
  Carries carry = carries_find(b, s);
  uint32_t before = b->r->nodes.len;
  const Expr *made = turns_made(b), *most = number(b, s.n), *count = most;
  if (b->of->stop)
    count = expr_op2(p, OP_IDIV, expr_op2(p, OP_ADD, made, number(b, s.k - 1)), number(b, s.k));
  turns_back(b, count, most);
  carries_make(b, &carry);
  Back c = {.all = b->all, .r = b->body, .repeat = b->repeat, .of = b->of, .trouble = b->trouble};
  c.reached = b->reached, c.copy = map_new(b->all->arena), c.deeper = 1;
  EinNode *m = stretch_again(b, &c, &carry, s, whole ? NULL : made);
  Results have = stretch_have(b, &c, m, &carry, s, whole), so_far = {0};
  Shares left = {0};
  for (uint32_t i = 0; i < carry.len; i++)
    if (!carry.at[i].saved) vec_push(b->all->arena, so_far, ((Share){carry.at[i].of, carry.at[i].state}));
  Back again = {.all = b->all, .r = b->body, .repeat = m, .of = m->body, .have = &have, .wanted = b->wanted};
  again.so_far = &so_far, again.trouble = b->trouble;
  if (!back_leaves(&again, &left)) return b->r->nodes.len = before, false;
  vec_each(const Carried, x, carry) {
    EinNode *next = x->state ? contributed(&left, x->saved ? x->begin : x->of) : NULL;
    if (x->state && !next) next = x->saved ? vertex_constant(b->all, b->body, x->of, 0) : x->state;
    if (x->state) b->body->states.at[x->state->index].next = next;
  }
  results_leave(b, &carry, out);
  return true;
}

/* ---- a repeat ------------------------------------------------------------------------------------------------- */

static bool back_leaves(Back *b, Shares *out) {
  Arena *a = b->all->arena;
  b->reached = map_new(a), b->copy = map_new(a), b->share = map_new(a);
  reach_all(b);
  Stretches s = stretches_of(b);
  return s.n ? stretches_leave(b, s, out) : turns_leave(b, out);
}

bool repeat_adjoint(Gradients *all, EinRegion *r, EinNode *repeat, const Results *have, const bool *wanted, Shares *out,
    GradTrouble *t) {
  Back b = {.all = all, .r = r, .repeat = repeat, .of = repeat->body, .have = have, .wanted = wanted, .trouble = t};
  if (repeat->region != r) return refuse(&b, repeat, "the repeat stands outside of the one that asks for it");
  if (b.of->turns) return back_leaves(&b, out);
  refuse(&b, repeat, "how many turns are saved is known only when it runs");
  t->hint = "bound the loop by a size and end it with `until`: `repeat t < 100 until t + 1 >= n`";
  return false;
}
