/* tests/random/make_loops.c - random programs of loops in loops: few shapes, i64 alone, and values that are mostly what
 * is there already, as it is or changed a little. So much of it is equal, copied, begun alike, and still wanted where a
 * loop changes it: what is done in place, and which buffers change places, is tried here. */
#include "make.h"

typedef struct Shape { Extent *e[2]; uint32_t rank; } Shape;

static Shape shape_any(Gen *g) {
  Shape s = {.rank = below(&g->rng, 3)};
  for (uint32_t k = 0; k < s.rank; k++) s.e[k] = g->made->extents.at[k];
  return s;
}

static Stmt *stmt_shaped(Gen *g, StmtType t, Shape shape, Ctx *c) {
  Stmt *s = stmt_new(g, t);
  *c = ctx_of(g, s);
  for (uint32_t k = 0; k < shape.rank; k++) left_label(c, s, shape.e[k]);
  return s;
}

/* ---- values ------------------------------------------------------------------------------------ */

static Node *firm(Gen *g, Node *n) { return n->ty.t == DT_I64 && !n->ty.weak ? n : node_cast(g, DT_I64, n); }

/* A tensor of the statement's own shape, element by element; NULL: there is none. */
static Node *value_same(Ctx *c) {
  Gen *g = c->g;
  const Stmt *s = c->stmt;
  uint32_t from = below(&g->rng, g->seen.len);
  for (uint32_t i = 0; i < g->seen.len; i++) {
    Tensor *t = g->seen.at[(from + i) % g->seen.len];
    bool same = t->rank == s->n_left;
    for (uint32_t k = 0; same && k < t->rank; k++) same = t->dim[k] == s->left[k]->ext;
    if (!same) continue;
    Node *n = node_new(g, E_READ, (Ty){t->dtype, HELD});
    n->ten = t, n->num = t->num, n->n = (uint8_t)t->rank;
    for (uint32_t k = 0; k < t->rank; k++) n->kid[k] = node_label(g, s->left[k]);
    return n;
  }
  return NULL;
}

static Node *value_read(Ctx *c) {
  Gen *g = c->g;
  bool partial = false;
  Node *n = node_read(c, g->seen.at[below(&g->rng, g->seen.len)], chance(&g->rng, 60), &partial);
  return partial ? node_else(g, n, node_cast(g, DT_I64, node_int(g, 1))) : n;
}

static Node *value_leaf(Ctx *c) {
  Gen *g = c->g;
  uint32_t k = below(&g->rng, 10);
  Node *n = k < 6 && g->seen.len ? value_same(c) : NULL;
  if (n) return n;
  if (k < 8 && g->seen.len) return firm(g, value_read(c));
  if (k == 8 && g->turns.len) return node_cast(g, DT_I64, node_turn(g, g->turns.at[below(&g->rng, g->turns.len)]));
  return node_cast(g, DT_I64, node_int(g, below(&g->rng, 2)));
}

static Node *condition(Ctx *c) {
  Gen *g = c->g;
  Label *l = label_any(c);
  if (g->turns.len && chance(&g->rng, 50))
    return node_binary(g, l ? OP_EQ : OP_LT, l ? node_label(g, l) : node_int(g, 1), node_turn(g, vec_last(g->turns)));
  return node_binary(g, OP_LT, value_leaf(c), value_leaf(c));
}

static Node *value(Ctx *c, int depth) {
  static const Op ops[] = {OP_ADD, OP_ADD, OP_SUB, OP_MUL};
  Gen *g = c->g;
  uint32_t k = depth ? below(&g->rng, 10) : 0;
  if (k < 4) return value_leaf(c);
  if (k < 7) return firm(g, node_binary(g, ops[below(&g->rng, COUNT(ops))], value(c, depth - 1), value(c, depth - 1)));
  if (k == 7 && g->seen.len) {
    Ctx in = *c;
    Node *n = make_contraction(&in, WANT_INT);
    return n ? firm(g, n) : value_leaf(c);
  }
  Node *cond = condition(c), *yes = value(c, depth - 1);
  return firm(g, node_if(g, cond, yes, value_leaf(c)));
}

/* ---- loops ------------------------------------------------------------------------------------- */

static Num any_i64(void) { return num_int(int_most(DT_I64), DT_I64); }

static Stmt *make_state(Gen *g) {
  Ctx c;
  Stmt *s = stmt_shaped(g, S_STATE, shape_any(g), &c);
  s->e = value(&c, 1);
  tensor_new(g, s, DT_I64, any_i64());
  return s;
}

static Stmt *make_next(Gen *g, const Stmt *state) {
  Shape shape = {.rank = state->ten->rank};
  for (uint32_t k = 0; k < shape.rank; k++) shape.e[k] = state->ten->dim[k];
  Ctx c;
  Stmt *s = stmt_shaped(g, S_NEXT, shape, &c);
  s->ten = state->ten;
  s->e = value(&c, (int)below(&g->rng, 3));
  return s;
}

static Stmt *make_equation(Gen *g) {
  Ctx c;
  Stmt *s = stmt_shaped(g, S_EQUATION, shape_any(g), &c);
  s->e = value(&c, 2);
  vec_push(g->arena, g->seen, tensor_new(g, s, DT_I64, any_i64()));
  return s;
}

/* One value a turn is kept; for what comes after the loop. */
static Stmt *make_stack(Gen *g, Turn *turn, Extent *bound) {
  Shape shape = shape_any(g);
  Ctx c;
  if (shape.rank > 1) shape.rank = 1;
  Stmt *s = stmt_shaped(g, S_EQUATION, shape, &c);
  s->e = value(&c, 1);
  Tensor *x = tensor_new(g, s, DT_I64, any_i64());
  s->stack = true;
  s->turn = turn;
  s->turn_axis = below(&g->rng, x->rank + 1);
  for (uint32_t k = x->rank++; k > s->turn_axis; k--) x->dim[k] = x->dim[k - 1];
  x->dim[s->turn_axis] = bound;
  x->name = name_new(g, "A");
  return s;
}

static Stmt *make_loop(Gen *g, int depth) {
  Stmt *s = stmt_new(g, S_REPEAT);
  Extent *size = NULL;
  make_bound(g, s, &size);
  for (uint32_t k = 0, n = 1 + below(&g->rng, 3); k < n; k++) vec_push(g->arena, s->body, make_state(g));
  uint32_t seen = g->seen.len, n_state = s->body.len;
  for (uint32_t k = 0; k < n_state; k++) vec_push(g->arena, g->seen, s->body.at[k]->ten);
  vec_push(g->arena, g->turns, s->turn);
  for (uint32_t k = 0, n = below(&g->rng, 5); k < n; k++) {
    if (depth && chance(&g->rng, 45)) vec_push(g->arena, s->body, make_loop(g, depth - 1));
    else if (size && chance(&g->rng, 25)) vec_push(g->arena, s->body, make_stack(g, s->turn, size));
    else vec_push(g->arena, s->body, make_equation(g));
  }
  for (uint32_t k = 0; k < n_state; k++) vec_push(g->arena, s->body, make_next(g, s->body.at[k]));
  Ctx c = ctx_of(g, s);
  if (chance(&g->rng, 25)) s->until = node_binary(g, OP_LT, node_int(g, 2), firm(g, value_leaf(&c)));
  g->seen.len = seen, g->turns.len--;
  loop_results(g, s);
  return s;
}

/* ---- the program ------------------------------------------------------------------------------- */

static void make_input(Gen *g) {
  Ctx c;
  Stmt *s = stmt_shaped(g, S_INPUT, shape_any(g), &c);
  s->typed = true;
  s->e = input_spread(&c, s, 7);
  vec_push(g->arena, g->seen, tensor_new(g, s, DT_I64, num_int(10, DT_I64)));
  vec_push(g->arena, g->made->stmts, s);
}

static void output_add(Gen *g, Tensor *t) {
  Stmt *s = stmt_new(g, S_OUTPUT);
  s->ten = t;
  vec_push(g->arena, g->made->stmts, s);
}

Made *program_make_loops(Arena *a, uint64_t seed) {
  Made *m = NEW(a, Made);
  Gen *g = NEW(a, Gen);
  m->arena = g->arena = a;
  g->made = m;
  g->rng.state = seed * 0x2545F4914F6CDD1Du + 7;
  m->loops = true;
  make_extents(g, m);
  for (uint32_t n = 1 + below(&g->rng, 2), k = 0; k < n; k++) make_input(g);
  for (uint32_t n = 1 + below(&g->rng, 2), k = 0; k < n; k++) {
    Stmt *s = chance(&g->rng, 40) ? make_equation(g) : NULL;
    if (s) s->output = chance(&g->rng, 50), vec_push(a, m->stmts, s);
    uint32_t before = g->seen.len;
    vec_push(a, m->stmts, make_loop(g, 2));
    for (uint32_t i = before; i < g->seen.len; i++) output_add(g, g->seen.at[i]);
  }
  Stmt *s = make_equation(g);
  s->output = true;
  vec_push(a, m->stmts, s);
  return m;
}
