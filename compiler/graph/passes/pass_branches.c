/* graph/passes/pass_branches.c - makes what only one branch of a choice needs only where that branch is taken, if the
 * condition is one for the whole vertex:
 *
 *     next best = if t % 50 == 0 then sum[i] E[i] else best
 *
 * becomes a repeat of at most one turn, which contains the sum and all else that only the branch needs:
 *
 *     repeat ~once < (if t % 50 == 0 then 1 else 0) {
 *       state s = best
 *       next s = sum[i] E[i]
 *     }
 *
 * So no language after the graph needs another word for it: tasks, plans and devices skip its turns. A reduction whose
 * predicate has such a condition is a choice between it and its value for no points. Choices by the same condition
 * share a repeat. Outside of a program's repeats this is not done: those stay the outermost ones, whose turns are
 * counted and kept. It is done where a branch takes long; a choice between two such branches becomes two repeats, one
 * after the other. */
#include <string.h>

#include "graph/passes/contract/contract.h"
#include "rebuild.h"

enum {
  WORTH = 16,                /* operations of a branch for each element of the choice, */
  WORTH_LEAST = 1 << 14,     /*   and in all */
  LONG_OPERATION = 16,       /* an exponential, in operations */
  TURNS_GUESSED = 8,
  SEEDS_MOST = 16,           /* choices that share a repeat */
  ROUNDS_MOST = 5            /* a branch may have branches itself */
};

typedef VEC(const EinNode *) Nodes;
typedef struct Use { Nodes by; bool elsewhere; } Use; /* by nodes of its region; and by its region, or as a result */

/* A choice: a vertex, and what it is where the condition holds [1], and where not [0]. */
typedef struct Seed {
  const EinNode *node;
  const Expr *where;         /* the condition, over the vertex's slots */
  const Expr *key;           /* the same over nodes: equal for equal conditions */
  EinSum as[2];
} Seed;

/* Choices by one condition, made where the last of them stands. */
typedef struct Group {
  Seed *seed[SEEDS_MOST];
  uint32_t n, at;            /* at: where in its region the last of them is */
  Nodes only[2];             /* what that branch needs and nothing else, but for the other branch if both are worth it:
                              * then it is made in each, for what each may need only in a branch of its own */
  bool worth[2];
} Group;

typedef struct Branches {
  Rebuild b;
  Arena *scratch;
  Use *use;                  /* by id, as all below */
  Seed **seed;
  Group **group;             /* at its last seed */
  bool *late;                /* made with its group */
  uint8_t *in;               /* OUTSIDE between groups */
  int64_t proofs, looks;     /* left for the graph; looks: at nodes, for groups */
  bool some;
} Branches;

/* ---- who uses what ----------------------------------------------------------------------------------------- */

/* Node n uses `of`: in the region of that one, n itself or the repeat around it does. */
static void use_add(Branches *c, const EinNode *of, const EinNode *n) {
  if (!of) return;
  while (n && n->region != of->region) n = n->region->repeat;
  if (n) vec_push(c->scratch, c->use[of->id].by, n);
  else c->use[of->id].elsewhere = true;
}

static void uses_find(Branches *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    use_add(c, n->fallback, n);
    for (uint32_t k = 0; n->kind == EIN_VERTEX && k < n->sum->n_slot; k++) use_add(c, n->input[k], n);
    if (n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS) use_add(c, n->repeat, n);
    if (n->kind != EIN_REPEAT) continue;
    for (uint32_t i = 0; region_use(n->body, i); i++) use_add(c, region_use(n->body, i), n);
    use_add(c, n->body->stop, n);
    uses_find(c, n->body);
  }
}

/* ---- choices ----------------------------------------------------------------------------------------------- */

static bool is_one_for_all(const Expr *e) {
  return e->kind != EX_INT && !(e->has & (HAS_LABEL | HAS_PARAM | HAS_CALL));
}

/* Whether it only says that there are some points: else there is little to do anyway. */
static bool is_not_empty(const Expr *e) {
  if (is_op(e, OP_AND)) return is_not_empty(e->arg[0]) && is_not_empty(e->arg[1]);
  return is_op(e, OP_GE) && expr_is_dims(e) && expr_is_int(e->arg[1], 1);
}

/* A part of the condition that has no labels, or all of it; NULL: there is none. */
static const Expr *uniform_part(Branches *c, const Expr *cond) {
  enum { PARTS = 16 };
  const Expr *part[PARTS];
  uint32_t n = 0;
  if (!cond || (is_one_for_all(cond) && !is_not_empty(cond))) return cond;
  if (!op_parts(c->scratch, cond, OP_AND, PARTS, part, &n)) return NULL;
  for (uint32_t i = 0; i < n; i++)
    if (is_one_for_all(part[i]) && !is_not_empty(part[i])) return part[i];
  return NULL;
}

/* That of the predicate, or of a choice between tensors. */
static const Expr *condition_in(Branches *c, const EinSum *s) {
  const Expr *found = red_is_arg(s) ? NULL : uniform_part(c, s->where);
  ExprNodes nodes = expr_nodes(c->scratch, s->body, HAS_READ);
  for (const Expr *e; !found && (e = expr_node(&nodes));) {
    if (is_op(e, OP_SELECT) && (e->arg[1]->has | e->arg[2]->has) & HAS_READ) found = uniform_part(c, e->arg[0]);
    if (e->kind == EX_READ) expr_node_skip(&nodes);
  }
  return found;
}

static const Expr *known(Branches *c, const Expr *e, const Expr *cond, bool holds) {
  uint32_t count = 0;
  Exprs *p = c->b.old->exprs;
  if (!e) return NULL;
  cond = holds ? cond : expr_op1(p, OP_NOT, cond);
  return expr_under(c->scratch, p, e, &cond, 1, &count);
}

/* What the vertex computes if the condition holds, or does not. Returns false if that is nothing a vertex can say. */
static bool seed_side(Branches *c, Seed *s, bool holds) {
  Exprs *p = c->b.old->exprs;
  EinSum *as = &s->as[holds];
  const EinNode *n = s->node;
  *as = *n->sum;
  as->body = known(c, as->body, s->where, holds);
  as->where = known(c, as->where, s->where, holds);
  if (as->where == expr_bool(p, true)) as->where = NULL;
  if (!as->where || as->where->kind != EX_INT) return true;
  const Expr *none = reducer_identity(p, as); /* of no points */
  if (!none || none->has & HAS_READ) return false;
  *as = (EinSum){.n_out = as->n_out, .n_slot = as->n_slot, .acc = as->dtype, .dtype = as->dtype,
      .body = expr_cast(p, as->dtype, none)};
  return true;
}

/* Whether its reads are in range only because the condition holds: a repeat does not say so. */
static bool needs_condition(Branches *c, const Seed *s, bool holds) {
  Exprs *p = c->b.old->exprs;
  const Expr *cond = holds ? s->where : expr_op1(p, OP_NOT, s->where), *of[2] = {s->as[holds].body, s->as[holds].where};
  if (cond->has & HAS_READ) return false;
  for (int i = 0; i < 2; i++)
    if (of[i] && !expr_is_total(c->scratch, p, s->node, of[i], NULL, &c->proofs) &&
        expr_is_total(c->scratch, p, s->node, of[i], cond, &c->proofs))
      return true;
  return false;
}

static const Expr *read_of_node(void *env, Exprs *p, const Expr *leaf) {
  const EinNode *n = env;
  return leaf->kind == EX_READ ? expr_read(p, (DType)leaf->dtype, n->input[leaf->i]->id, leaf->n, leaf->arg) : leaf;
}

static void seed_find(Branches *c, const EinNode *n) {
  const EinSum *sum = n->sum;
  if (n->kind != EIN_VERTEX || sum->by || sum->domain || sum->n_out + sum->n_red > 60) return;
  if (!sum->n_slot || n == n->region->stop || c->proofs <= 0) return;
  Seed s = {.node = n, .where = condition_in(c, sum)};
  if (!s.where || !seed_side(c, &s, true) || !seed_side(c, &s, false)) return;
  if (needs_condition(c, &s, true) || needs_condition(c, &s, false)) return;
  s.key = expr_map(c->b.old->exprs, s.where, read_of_node, (void *)(uintptr_t)n);
  c->seed[n->id] = arena_copy(c->scratch, &s, sizeof s);
}

/* ---- what branches need ------------------------------------------------------------------------------------- */

static bool sum_uses(Branches *c, const EinNode *n, const EinSum *s, const EinNode *of) {
  ExprNodes reads = sum_reads(c->scratch, s);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (n->input[e->i] == of) return true;
  return false;
}

enum { IN_FALSE = 1, IN_TRUE = 2, OUTSIDE = 4 };

/* Where the choice needs the node. */
static unsigned seed_needs(Branches *c, const Seed *s, const EinNode *of) {
  EinSum cond = {.body = s->where};
  return (sum_uses(c, s->node, &s->as[0], of) ? IN_FALSE : 0) | (sum_uses(c, s->node, &s->as[1], of) ? IN_TRUE : 0) |
         (sum_uses(c, s->node, &cond, of) ? OUTSIDE : 0);
}

static Seed *seed_of(const Group *g, const EinNode *n) {
  for (uint32_t i = 0; i < g->n; i++)
    if (g->seed[i]->node == n) return g->seed[i];
  return NULL;
}

static bool holds_call(const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes)
    if ((n->kind == EIN_REPEAT && holds_call(n->body)) || (n->kind == EIN_VERTEX && n->sum->by)) return true;
  return false;
}

/* In which branches it is needed. in: the same of its users. */
static unsigned needed_in(Branches *c, const Group *g, const uint8_t *in, const EinNode *n) {
  const Use *u = &c->use[n->id];
  unsigned all = 0;
  if (u->elsewhere || n->kind == EIN_INPUT || n->kind == EIN_STATE || seed_of(g, n)) return OUTSIDE;
  if (c->late[n->id] || c->group[n->id] || (n->kind == EIN_REPEAT && holds_call(n->body))) return OUTSIDE;
  for (uint32_t i = 0; i < u->by.len; i++) {
    const Seed *s = seed_of(g, u->by.at[i]);
    all |= s ? seed_needs(c, s, n) : in[u->by.at[i]->id];
  }
  return all ? all : OUTSIDE;
}

static double sum_work(Branches *c, const EinNode *n, const EinSum *s) {
  uint32_t labels = s->n_out + s->n_red;
  if (labels > 63) return 1e30;
  SumCount count = sum_count(s, NULL);
  double ops = (double)(count.flops + count.integer);
  if (s->by) ops = (double)extern_cost(s->by);
  ExprNodes nodes = expr_nodes(c->scratch, s->body, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_OP && dtype_is_float((DType)e->dtype) && op_info[e->op].ulp > 0) ops += (double)LONG_OPERATION;
  return ops * labels_points(n, labels_below(labels));
}

static double work(Branches *c, const EinNode *n) {
  if (n->kind == EIN_VERTEX) return sum_work(c, n, n->sum);
  if (n->kind != EIN_REPEAT) return 0;
  double turn = 0;
  vec_each_of(const EinNode, x, n->body->nodes) turn += work(c, x);
  return turn * (n->body->turns ? extent_guess(n->body->turns) : (double)TURNS_GUESSED);
}

/* Finds what only branches need, from the last seed upwards; twice: also what both do. */
static void needs_find(Branches *c, Group *g, bool twice) {
  const EinRegion *r = g->seed[0]->node->region;
  uint8_t *in = c->in;
  c->looks -= g->at;
  for (uint32_t i = g->at; i-- > 0;) {
    const EinNode *n = r->nodes.at[i];
    unsigned where = needed_in(c, g, in, n);
    bool apart = where == IN_FALSE || where == IN_TRUE || (twice && where == (IN_FALSE | IN_TRUE));
    in[n->id] = apart ? (uint8_t)where : OUTSIDE;
    for (uint32_t k = 0; n->kind == EIN_REPEAT && k < c->use[n->id].by.len; k++) /* its results are where it is */
      in[c->use[n->id].by.at[k]->id] = in[n->id];
  }
  g->only[0] = g->only[1] = (Nodes){0};
  for (uint32_t i = 0; i < g->at; i++) {
    const EinNode *n = r->nodes.at[i];
    if (in[n->id] == OUTSIDE) continue;
    if (in[n->id] & IN_FALSE) vec_push(c->scratch, g->only[0], n);
    if (in[n->id] & IN_TRUE) vec_push(c->scratch, g->only[1], n);
    in[n->id] = OUTSIDE;
  }
}

/* Whether it takes long enough to be made apart. */
static bool is_worth(Branches *c, const Group *g, bool side) {
  double long_for = 0, elements = 0;
  for (uint32_t i = 0; i < g->only[side].len; i++) long_for += work(c, g->only[side].at[i]);
  for (uint32_t k = 0; k < g->n; k++) {
    const Seed *s = g->seed[k];
    long_for += sum_work(c, s->node, &s->as[side]);
    elements += labels_points(s->node, labels_below(s->node->sum->n_out));
  }
  return long_for >= (double)WORTH_LEAST && long_for >= (double)WORTH * elements;
}

/* ---- groups ------------------------------------------------------------------------------------------------ */

/* Whether nothing uses it before the group is made. */
static bool waits_for(Branches *c, const EinNode *n, uint32_t last) {
  const Nodes *by = &c->use[n->id].by;
  for (uint32_t i = 0; i < by->len; i++)
    if (by->at[i]->id <= last) return false;
  return true;
}

static void group_find(Branches *c, const EinRegion *r, uint32_t at) {
  Seed *last = c->seed[r->nodes.at[at]->id];
  if (!last || c->late[last->node->id] || (c->looks -= at) < 0) return;
  Group g = {.seed = {last}, .n = 1, .at = at};
  for (uint32_t i = at; i-- > 0 && g.n < SEEDS_MOST;) {
    Seed *s = c->seed[r->nodes.at[i]->id];
    if (s && s->key == last->key && !c->late[s->node->id] && waits_for(c, s->node, last->node->id))
      g.seed[g.n++] = s;
  }
  for (uint32_t i = 0; i < g.n / 2; i++) { /* in their order */
    Seed *first = g.seed[i];
    g.seed[i] = g.seed[g.n - 1 - i];
    g.seed[g.n - 1 - i] = first;
  }
  needs_find(c, &g, false);
  for (int side = 0; side < 2; side++) g.worth[side] = is_worth(c, &g, side);
  if (!g.worth[0] && !g.worth[1]) return;
  if (g.worth[0] && g.worth[1]) needs_find(c, &g, true);
  for (uint32_t i = 0; i + 1 < g.n; i++) c->late[g.seed[i]->node->id] = true;
  for (int side = 0; side < 2; side++)
    for (uint32_t i = 0; g.worth[side] && i < g.only[side].len; i++) c->late[g.only[side].at[i]->id] = true;
  c->group[last->node->id] = arena_copy(c->scratch, &g, sizeof g);
}

static void groups_find(Branches *c, const EinRegion *r) {
  bool may = r->repeat || !graph_repeats(c->b.old);
  vec_each_of(const EinNode, n, r->nodes)
    if (may && n->kind == EIN_VERTEX) seed_find(c, n);
  for (uint32_t i = r->nodes.len; i-- > 0;) group_find(c, r, i);
  vec_each_of(const EinNode, n, r->nodes)
    if (n->kind == EIN_REPEAT) groups_find(c, n->body);
}

/* ---- the repeats ------------------------------------------------------------------------------------------- */

/* The counters of repeats around an old vertex, by the repeats that these have become. */
static const Expr *turn_again(void *env, Exprs *p, const Expr *leaf) {
  const void **to = env;
  const Branches *c = to[0];
  const EinRegion *r = to[1];
  if (leaf->kind != EX_TURN) return leaf;
  while (r->depth != leaf->i) r = r->parent;
  return expr_turn(p, c->b.to[r->repeat->id]->body->depth);
}

static void sum_again(Branches *c, const EinNode *n, EinSum *s) {
  const void *to[2] = {c, n->region};
  sum_map(c->b.g->exprs, s, turn_again, to);
}

static EinNode *vertex_of(Branches *c, EinRegion *r, const EinNode *n, EinSum s) {
  EinNode **input = NEW_ARRAY(c->b.arena, EinNode *, s.n_slot + 1);
  for (uint32_t k = 0; k < s.n_slot; k++) input[k] = c->b.to[n->input[k]->id];
  sum_again(c, n, &s);
  return rebuild_vertex(&c->b, r, n, &s, n->bound, n->label, input);
}

/* A tensor that is the choice's value as it is. */
static EinNode *is_tensor(Branches *c, const EinNode *n, const EinSum *s) {
  const Expr *e = s->body;
  if (s->reducer != RED_NONE || e->kind != EX_READ || e->n != s->n_out || !exprs_are_labels(e->n, e->arg)) return NULL;
  const EinNode *of = n->input[e->i];
  if (of->dtype != n->dtype || of->rank != n->rank) return NULL;
  for (uint32_t k = 0; k < n->rank; k++)
    if (of->dim[k] != n->dim[k]) return NULL;
  return c->b.to[of->id];
}

static EinNode *side_made(Branches *c, EinRegion *r, const Seed *s, bool side) {
  EinNode *same = is_tensor(c, s->node, &s->as[side]);
  return same ? same : vertex_of(c, r, s->node, s->as[side]);
}

/* What a choice between two long branches begins with, in place of either. */
static EinNode *nothing_made(Branches *c, EinRegion *r, const Seed *s) {
  Exprs *p = c->b.g->exprs;
  DType t = s->node->dtype;
  EinSum sum = {.n_out = s->node->sum->n_out, .acc = t, .dtype = t};
  sum.body = dtype_is_float(t) ? expr_real(p, t, 0) : expr_int(p, t, 0);
  return vertex_of(c, r, s->node, sum);
}

/* 1 if the condition holds, or does not; else 0. */
static EinNode *turns_made(Branches *c, EinRegion *r, const Seed *s, bool side) {
  Exprs *p = c->b.g->exprs;
  const EinNode *n = s->node;
  EinSum sum = {.n_slot = n->sum->n_slot, .acc = DT_I64, .dtype = DT_I64};
  EinNode **input = NEW_ARRAY(c->b.arena, EinNode *, sum.n_slot + 1);
  for (uint32_t k = 0; k < sum.n_slot; k++) input[k] = c->b.to[n->input[k]->id];
  sum.body = expr_select(p, s->where, expr_int(p, DT_I64, side), expr_int(p, DT_I64, !side));
  sum_again(c, n, &sum);
  return rebuild_part(&c->b, r, n, &sum, NULL, NULL, input);
}

/* What a state becomes. It reads the state in place of what that begins with, which then nobody else may need. */
static EinNode *next_made(Branches *c, EinRegion *body, const Seed *s, bool side, const EinState *state) {
  EinNode *same = is_tensor(c, s->node, &s->as[side]);
  if (same) return same;
  EinNode *next = vertex_of(c, body, s->node, s->as[side]);
  for (uint32_t k = 0; k < next->sum->n_slot; k++)
    if (next->input[k] == state->init) next->input[k] = state->node;
  return next;
}

/* Makes one side in a repeat. value: by seed, what it is so far, and then after the repeat. */
static void side_repeat(Branches *c, EinRegion *r, const Group *g, bool side, EinNode **value) {
  const EinNode *last = g->seed[g->n - 1]->node;
  EinNode *turns = turns_made(c, r, g->seed[0], side);
  EinNode *loop = graph_repeat(c->b.g, r, strings_printf(c->b.g->strings, GRAPH_ONCE));
  EinRegion *body = loop->body;
  loop->place = last->place;
  body->bound = turns;
  body->turns = expr_is_dims(turns->sum->body) ? expr_normal(c->b.g->exprs, turns->sum->body) : NULL;
  for (uint32_t k = 0; k < g->n; k++) {
    const EinNode *n = g->seed[k]->node;
    vec_push(c->b.arena, body->states, ((EinState){.init = value[k]}));
    EinNode *state = graph_state(c->b.g, body, n->name, n->dtype, n->rank, n->dim);
    state->place = n->place;
    vec_last(body->states).node = state;
  }
  for (uint32_t i = 0; i < g->only[side].len; i++) rebuild_node(&c->b, body, g->only[side].at[i]);
  for (uint32_t k = 0; k < g->n; k++) {
    EinState *state = &body->states.at[k];
    state->next = next_made(c, body, g->seed[k], side, state);
  }
  for (uint32_t k = 0; k < g->n; k++) {
    value[k] = graph_result(c->b.g, r, EIN_FINAL, loop, k);
    value[k]->place = g->seed[k]->node->place;
  }
  rebuild_note(&c->b, "branches apart", last->place);
}

static EinNode *group_made(Branches *c, EinRegion *r, const Group *g) {
  EinNode *value[SEEDS_MOST];
  bool both = g->worth[0] && g->worth[1];
  for (uint32_t k = 0; k < g->n; k++)
    value[k] = both ? nothing_made(c, r, g->seed[k]) : side_made(c, r, g->seed[k], g->worth[0]);
  for (int side = 1; side >= 0; side--)
    if (g->worth[side]) side_repeat(c, r, g, side, value);
  for (uint32_t k = 0; k < g->n; k++) c->b.to[g->seed[k]->node->id] = value[k];
  c->some = true;
  return value[g->n - 1];
}

static bool is_kept(void *env, const EinNode *n) {
  const Branches *c = env;
  return !c->late[n->id];
}

static EinNode *apart(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Branches *c = env;
  if (c->group[n->id]) return group_made(c, r, c->group[n->id]);
  const EinNode *loop = n->region->repeat;
  bool deeper = loop && c->b.to[loop->id]->body->depth != n->region->depth;
  return deeper ? vertex_of(c, r, n, *n->sum) : rebuild_copy(b, r, n);
}

EinGraph *graph_branches(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.keep = is_kept, .vertex = apart};
  EinGraph *made = NULL;
  for (uint32_t round = 0; round < ROUNDS_MOST; round++) {
    Branches c = {.b = {.arena = a, .pass = "branches", .notes = notes}, .scratch = arena_new()};
    const EinGraph *old = c.b.old = made ? made : g;
    c.proofs = 1000 + 4 * (int64_t)old->n_nodes;
    c.looks = 1000000 + 200 * (int64_t)old->n_nodes;
    c.use = NEW_ARRAY(c.scratch, Use, old->n_nodes + 1);
    c.seed = NEW_ARRAY(c.scratch, Seed *, old->n_nodes + 1);
    c.group = NEW_ARRAY(c.scratch, Group *, old->n_nodes + 1);
    c.late = NEW_ARRAY(c.scratch, bool, old->n_nodes + 1);
    c.in = NEW_ARRAY(c.scratch, uint8_t, old->n_nodes + 1);
    memset(c.in, OUTSIDE, old->n_nodes + 1);
    uses_find(&c, old->top);
    for (uint32_t i = 0; i < old->outputs.len; i++) c.use[old->outputs.at[i].node->id].elsewhere = true;
    for (uint32_t i = 0; i < old->asserts.len; i++) c.use[old->asserts.at[i].node->id].elsewhere = true;
    groups_find(&c, old->top);
    made = rebuild_free(&c.b, a, old, &rules, &c, c.scratch);
    if (!c.some) break;
  }
  return made;
}
