/* graph/grad/repeat.c - differentiates a repeat by running it backwards. Another repeat visits the turns from the
 * last to the first: in each it recomputes the turn, from the states at the turn's start, which the original repeat
 * now stacks, and computes the turn's adjoints. A nested repeat is one node of the turn, and is differentiated there
 * in the same way. The states of the backward repeat are the adjoints of the states, and the contributions so far to
 * each outer tensor. Turns that `until` skipped are skipped here too. */
#include "inside.h"

typedef struct Back {
  Gradients *all;
  EinRegion *r;              /* where it is, like the repeat */
  EinNode *repeat;
  EinRegion *of, *body;      /* its region, and that of the backward repeat */
  const Results *have;       /* its results that have adjoints */
  const bool *wanted;        /* by number: outer nodes that take contributions; NULL: all floats */
  const Expr *t;             /* the turn that is recomputed, inside body */
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
  EinNode *saved;            /*   the state in all turns */
  EinNode *init, *state;     /* the state of body that is its adjoint, and its value for the last turn; NULL: it has
                              * none */
} Carried;
typedef VEC(Carried) Carries;

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

/* Visits as many turns as were made, the last one first. */
static void turns_back(Back *b) {
  EinGraph *g = b->all->g;
  EinNode *bound = b->of->bound;
  const Expr *count = b->of->turns;
  if (b->of->stop) {
    EinNode *made = graph_result(g, b->r, EIN_TURNS, b->repeat, 0);
    count = id_read(b->all, made, 0, NULL);
    bound = scalar_vertex(b, b->r, count);
  }
  EinNode *back = graph_repeat(g, b->r, strings_printf(g->strings, "%s~back", b->of->turn->s));
  back->place = b->repeat->place;
  b->body = back->body;
  b->body->bound = bound;
  b->body->turns = b->of->stop ? NULL : b->of->turns;
  const Expr *last = expr_op2(pool(b), OP_SUB, count, expr_int(pool(b), DT_I64, 1));
  b->t = expr_op2(pool(b), OP_SUB, last, expr_turn(pool(b), b->body->depth));
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
  if (e->kind == EX_TURN) return e->i == x->b->of->depth ? x->b->t : e;
  (void)p;
  return e->kind == EX_READ ? id_read(x->b->all, in_body(x->b, x->of->input[e->i]), e->n, e->arg) : e;
}

static const Expr *again(Again *x, const Expr *e) { return e ? expr_map(pool(x->b), e, leaf_again, x) : NULL; }

static EinNode *vertex_again(Back *b, EinRegion *to, const EinNode *n) {
  Again x = {b, n};
  EinSum s = *n->sum;
  s.body = again(&x, s.body);
  s.where = again(&x, s.where);
  s.domain = again(&x, s.domain);
  EinNode **input = graph_canonical_slots(b->all->g, &s, b->all->by_id.at);
  EinNode *m = graph_vertex(b->all->g, to, graph_sum(b->all->g, &s), n->bound, n->label, n->rank, n->merge, input);
  return m;
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

static void turn_again(Back *b, const Carries *carry) {
  for (uint32_t i = 0; i < carry->len; i++) {
    if (!carry->at[i].saved) continue;
    EinNode *state = at_turn(b, carry->at[i].saved, 0, carry->at[i].of);
    state->name = carry->at[i].of->name;
    map_put(&b->copy, carry->at[i].of, state);
  }
  for (uint32_t i = 0; i < b->of->nodes.len; i++) {
    EinNode *n = b->of->nodes.at[i];
    if (n->kind != EIN_STATE) vec_push(b->all->arena, b->made, node_again(b, b->body, n));
  }
  for (uint32_t i = 0; i < b->ruled.len; i++)
    rule_again(b->all, rule_of(b->all, b->ruled.at[i]), &b->copy, stated_again, b);
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
    Nodes operands = operands_of(a, n);
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

static Carries carries_find(Back *b) {
  Carries all = {0};
  uint32_t n = b->of->states.len;
  for (uint32_t i = 0; i < n; i++) {
    EinNode *state = b->of->states.at[i].node, *init = result_adjoint(b, EIN_FINAL, i);
    bool reached = map_find(&b->reached, state) != NULL;
    if (reached && !init) init = vertex_constant(b->all, b->r, state, 0);
    vec_push(b->all->arena, all, ((Carried){.of = state, .init = reached ? init : NULL, .saved = stacked(b, state)}));
  }
  for (uint32_t i = 0; i < b->around.len; i++)
    vec_push(b->all->arena, all,
        ((Carried){.of = b->around.at[i], .init = vertex_constant(b->all, b->r, b->around.at[i], 0)}));
  return all;
}

static void carries_make(Back *b, Carries *all) {
  EinGraph *g = b->all->g;
  for (uint32_t i = 0; i < all->len; i++) {
    Carried *c = &all->at[i];
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
  for (uint32_t i = 0; i < b->made.len; i++) {
    EinNode *m = b->made.at[i];
    Nodes from = dtype_is_float(m->dtype) || m->kind == EIN_REPEAT ? operands_of(b->all->arena, m) : (Nodes){0};
    for (uint32_t k = 0; k < from.len && !b->active[m->id]; k++) b->active[m->id] = b->active[from.at[k]->id];
  }
}

/* Contributions at a turn's end: to each state what the next turn contributed, to each stack its slice, to each
 * outer node the sum so far. */
static void end_shares(Back *b, const Carries *carry) {
  for (uint32_t i = 0; i < carry->len; i++) {
    const Carried *c = &carry->at[i];
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
  for (uint32_t i = 0; i < carry->len; i++) {
    const Carried *c = &carry->at[i];
    if (!c->state) continue;
    EinNode *here = in_body(b, c->of), *left = shares_added(b->all, b->body, here, shares_of(b, here));
    b->body->states.at[c->state->index].next = left ? left : vertex_constant(b->all, b->body, here, 0);
  }
  for (uint32_t i = 0; i < carry->len; i++) {
    const Carried *c = &carry->at[i];
    if (!c->state) continue;
    EinNode *to = is_ours(b, c->of) ? b->of->states.at[c->of->index].init : c->of;
    EinNode *all = graph_result(b->all->g, b->r, EIN_FINAL, b->body->repeat, c->state->index);
    all->place = c->of->place;
    vec_push(b->all->arena, *out, ((Share){to, all}));
  }
}

bool repeat_adjoint(Gradients *all, EinRegion *r, EinNode *repeat, const Results *have, const bool *wanted, Shares *out,
    GradTrouble *t) {
  Back b = {.all = all, .r = r, .repeat = repeat, .of = repeat->body, .have = have, .wanted = wanted, .trouble = t};
  if (repeat->region != r) return refuse(&b, repeat, "the repeat stands outside of the one that asks for it");
  if (!b.of->turns) {
    refuse(&b, repeat, "how many turns are saved is known only when it runs");
    t->hint = "bound the loop by a size and end it with `until`: `repeat t < 100 until t + 1 >= n`";
    return false;
  }
  b.reached = map_new(all->arena), b.copy = map_new(all->arena), b.share = map_new(all->arena);
  reach_all(&b);
  Carries carry = carries_find(&b);
  uint32_t before = r->nodes.len;
  turns_back(&b);
  carries_make(&b, &carry);
  turn_again(&b, &carry);
  active_find(&b, &carry);
  end_shares(&b, &carry);
  bool can = turn_leaves(&b);
  if (can) results_leave(&b, &carry, out);
  else r->nodes.len = before; /* half a repeat is none */
  return can;
}
