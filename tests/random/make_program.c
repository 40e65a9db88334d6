/* tests/random/make_program.c - random statements: sizes, inputs, equations, defs, monoids, loops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "make.h"

const char *name_new(Gen *g, const char *head) {
  return arena_printf(g->arena, "%s%u", head, g->names++);
}

Stmt *stmt_new(Gen *g, StmtType t) {
  Stmt *s = NEW(g->arena, Stmt);
  s->type = t;
  return s;
}

Ctx ctx_of(Gen *g, Stmt *s) {
  return (Ctx){.g = g, .stmt = s, .points = 1};
}

/* ---- sizes ------------------------------------------------------------------------------------ */

static Extent *extent_number(Gen *g, int64_t v) {
  Extent *e = NEW(g->arena, Extent);
  e->value = v;
  snprintf(e->text, sizeof e->text, "%lld", (long long)v);
  return e;
}

void make_extents(Gen *g, Made *m) {
  static const int64_t values[] = {1, 2, 2, 3, 3, 5};
  uint32_t n = 2 + below(&g->rng, 3);
  bool zero = chance(&g->rng, 12);
  for (uint32_t i = 0; i < n; i++) {
    Extent *e = extent_number(g, zero && i == 1 ? 0 : values[below(&g->rng, COUNT(values))]),
           *first = m->extents.len ? m->extents.at[0] : NULL;
    if (chance(&g->rng, 60)) {
      snprintf(e->text, sizeof e->text, "N%u", i);
      e->define = arena_printf(g->arena, "%lld", (long long)e->value);
      bool of = first && first->define && chance(&g->rng, 30), twice = chance(&g->rng, 50) && first && first->value < 3;
      if (of) e->value = twice ? 2 * first->value : first->value + 1;
      if (of) e->define = arena_printf(g->arena, twice ? "2*%s" : "%s + 1", first->text);
      Stmt *s = stmt_new(g, S_DIM);
      s->ext = e;
      vec_push(g->arena, m->stmts, s);
    }
    vec_push(g->arena, m->extents, e);
  }
}

/* ---- tensors ---------------------------------------------------------------------------------- */

Tensor *tensor_new(Gen *g, Stmt *s, DType t, Num num) {
  Tensor *x = NEW(g->arena, Tensor);
  x->dtype = t;
  x->num = dtype_is_float(t) ? num : num_int(num.mag, t);
  x->rank = s->rank;
  for (uint32_t k = 0, at = 0; k < s->rank; at += s->merge[k++]) {
    x->dim[k] = s->left[at]->ext;
    if (s->merge[k] == 2) x->dim[k] = extent_number(g, s->left[at]->ext->value * s->left[at + 1]->ext->value);
  }
  x->name = name_new(g, x->rank ? "A" : "a");
  s->ten = x;
  vec_push(g->arena, g->made->tensors, x);
  return x;
}

void left_label(Ctx *c, Stmt *s, Extent *e) {
  s->left[s->n_left++] = label_make(c, e);
  s->merge[s->rank++] = 1;
}

static void make_left(Ctx *c, Stmt *s, uint32_t most, bool merge) {
  Gen *g = c->g;
  uint32_t n = below(&g->rng, most + 1);
  for (uint32_t k = 0; k < n; k++) {
    Extent *e = extent_any(g);
    if (c->points * e->value > 60) break;
    left_label(c, s, e);
  }
  for (uint32_t k = 0; merge && k + 1 < s->rank; k++) {
    if (!chance(&g->rng, 15) || (g->made->strict && (s->left[k]->ext->define || s->left[k + 1]->ext->define))) continue;
    s->merge[k] = 2;
    for (uint32_t i = k + 1; i + 1 < s->rank; i++) s->merge[i] = s->merge[i + 1];
    s->rank--;
    return;
  }
}

/* ---- inputs ----------------------------------------------------------------------------------- */

Node *input_spread(Ctx *c, Stmt *s, int64_t mod) {
  Gen *g = c->g;
  Node *n = node_int(g, below(&g->rng, 5));
  for (uint32_t k = 0; k < s->n_left && !s->unlabelled; k++)
    n = node_binary(
        g, OP_ADD, n, node_binary(g, OP_MUL, node_int(g, 1 + (int64_t)below(&g->rng, 7)), node_label(g, s->left[k])));
  return n->konst ? node_int(g, n->i % mod) : node_binary(g, OP_MOD, n, node_int(g, mod));
}

static Num default_num(DType t, double mag) {
  return dtype_is_float(t) ? (Num){.mag = mag, .grid = true} : num_int(mag, t);
}

static void make_input(Gen *g) {
  static const DType types[] = {
      DT_I64, DT_I64, DT_I64, DT_I32, DT_I16, DT_I8, DT_U8, DT_BOOL, DT_F64, DT_F64, DT_F32, DT_F32, DT_F16, DT_BF16};
  Stmt *s = stmt_new(g, S_INPUT);
  Ctx c = ctx_of(g, s);
  c.no_reads = true;
  DType t = types[below(&g->rng, COUNT(types))];
  make_left(&c, s, 3, false);
  s->unlabelled = chance(&g->rng, 10);
  s->param = chance(&g->rng, 10);
  s->typed = t != DT_F32 || chance(&g->rng, 50);
  Num num = default_num(t, 10);
  Node *n = input_spread(&c, s, 5 + (int64_t)below(&g->rng, 4));
  if (t == DT_BOOL) s->e = node_binary(g, OP_EQ, node_binary(g, OP_MOD, n, node_int(g, 2)), node_int(g, 0));
  else s->e = t == DT_U8 ? n : node_binary(g, OP_SUB, n, node_int(g, below(&g->rng, 4)));
  if (dtype_is_float(t) && chance(&g->rng, 15)) s->e = node_binary(g, OP_DIV, s->e, node_int(g, 4)), num.grid = false;
  else if (dtype_is_float(t) && chance(&g->rng, 8)) { /* infinities and no numbers */
    s->e = node_binary(g, OP_DIV, s->e, input_spread(&c, s, 2)), num.wild = true;
    Node *f = node_new(g, E_FUN, s->e->ty);
    f->word = "floor", f->n = 1, f->kid[0] = s->e, f->num = s->e->num;
    s->e = f;
  }
  vec_push(g->arena, g->seen, tensor_new(g, s, t, num));
  vec_push(g->arena, g->made->stmts, s);
}

/* ---- equations -------------------------------------------------------------------------------- */

static bool may_be(const Node *e, DType to) {
  DType t = e->ty.t;
  if (t == to) return true;
  if (t == DT_BOOL || to == DT_BOOL) return false;
  if (dtype_is_float(to)) return true;
  if (e->konst && e->ty.weak == LITERAL) return dtype_holds(to, e->i);
  if (e->ty.weak) return e->ty.weak != REAL && to == DT_I64;
  return dtype_is_int(t) && ty_join(e->ty, (Ty){to, HELD}).t == to;
}

static DType stored(Gen *g, Stmt *s, Num *num) {
  static const DType types[] = {DT_F64, DT_F32, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U8};
  DType t = s->e->ty.t, to = types[below(&g->rng, COUNT(types))];
  *num = s->e->num;
  if (!chance(&g->rng, 25) || !may_be(s->e, to)) return t;
  Num n = dtype_is_float(to) ? num_float(num->mag, num->noise, num->grid, to) : *num;
  n.wild = num->wild;
  if (num_bad(n, to)) return t;
  *num = n;
  s->typed = true;
  return to;
}

static Want any_want(Gen *g) {
  uint32_t k = below(&g->rng, 10);
  return k < 6 ? WANT_INT : k < 7 ? WANT_BOOL : WANT_FLOAT;
}

static Node *equation_body(Ctx *c) {
  Gen *g = c->g;
  Want w = any_want(g);
  Node *n = chance(&g->rng, 25) ? make_contraction(c, w) : NULL;
  return n ? n : make_expr(c, w, 1 + (int)below(&g->rng, 4));
}

static void make_equation(Gen *g) {
  Stmt *s = stmt_new(g, S_EQUATION);
  Ctx c = ctx_of(g, s);
  Num num;
  make_left(&c, s, 3, true);
  s->e = equation_body(&c);
  DType t = stored(g, s, &num);
  s->output = chance(&g->rng, 80);
  vec_push(g->arena, g->seen, tensor_new(g, s, t, num));
  vec_push(g->arena, g->made->stmts, s);
}

static void make_permutation(Gen *g) {
  Stmt *s = stmt_new(g, S_EQUATION);
  Ctx c = ctx_of(g, s);
  left_label(&c, s, extent_any(g));
  s->left[0]->whole = true;
  s->e = node_new(g, E_RANDOM, (Ty){DT_I64, HELD});
  s->e->word = chance(&g->rng, 50) ? "permutation" : "inverse_permutation";
  s->e->num = num_int(8, DT_I64);
  s->e->lab[s->e->n_lab++] = s->left[0];
  s->e->kid[s->e->n++] = node_int(g, below(&g->rng, 9));
  s->output = true;
  vec_push(g->arena, g->seen, tensor_new(g, s, DT_I64, s->e->num));
  vec_push(g->arena, g->made->stmts, s);
}

static void make_assert(Gen *g) {
  Stmt *s = stmt_new(g, S_ASSERT);
  Ctx c = ctx_of(g, s);
  Node *e = make_expr(&c, WANT_INT, 2);
  s->e = node_binary(g, OP_EQ, e, e);
  for (uint32_t k = 0; k < s->made.len; k++) s->made.at[k]->quiet = false; /* it stands there twice */
  vec_push(g->arena, g->made->stmts, s);
}

/* ---- defs and monoids ------------------------------------------------------------------------- */

static const Param *param_find(const Def *d, const char *word) {
  for (uint32_t k = 0; k < d->n_param + d->n_local; k++) {
    const Param *p = k < d->n_param ? &d->param[k] : &d->local[k - d->n_param];
    if (strcmp(p->name, word) == 0) return p;
  }
  return NULL;
}

static bool has_label(const Node *n, const Label *l) {
  for (uint32_t i = 0; i < n->n_lab; i++)
    if (n->lab[i] == l) return true;
  return false;
}

/* Is l free in e? may: say so where arguments decide. */
static bool free_in(const Def *d, const Node *e, const Label *l, bool may) {
  if (e->kind == E_LABEL || e->kind == E_GROUP || e->kind == E_RANDOM) return has_label(e, l);
  if (e->kind == E_REDUCE || e->kind == E_MONOID) {
    if (has_label(e, l)) return false;
  } else if (e->kind == E_LOCAL) {
    const Param *p = param_find(d, e->word);
    bool own = p && (p->value ? free_in(d, p->value, l, may) : p->label == l);
    if (own && !has_label(e, l)) return true;
  } else if (e->kind == E_CALL) {
    for (uint32_t k = 0; k < e->n_lab; k++)
      if (e->lab[k] == l && (!may || e->def->free[k])) return may || e->def->sure[k];
  }
  for (uint32_t i = 0; i < e->n; i++)
    if ((e->kind != E_CALL || i >= e->def->n_param || e->def->param[i].reaches) && free_in(d, e->kid[i], l, may))
      return true;
  return false;
}

static void make_params(Gen *g, Def *d) {
  static const DType types[] = {DT_I64, DT_I64, DT_I64, DT_I32, DT_I8, DT_F64, DT_F32, DT_BOOL};
  d->n_param = 1 + below(&g->rng, 3);
  for (uint32_t k = 0; k < d->n_param; k++) {
    Param *p = &d->param[k];
    p->name = name_new(g, "p");
    p->dtype = types[below(&g->rng, COUNT(types))];
    p->plain = k && chance(&g->rng, 15);
    if (p->plain) p->dtype = DT_I64;
    else if (d->n_label && (k == 0 || chance(&g->rng, 50))) p->label = d->label[below(&g->rng, d->n_label)];
  }
}

static void make_locals(Ctx *c, Def *d) {
  Gen *g = c->g;
  for (uint32_t want = below(&g->rng, 3); d->n_local < want;) {
    Node *e = make_expr(c, any_want(g), 2);
    if (e->ty.weak) e = node_cast(g, e->ty.weak == REAL ? DT_F64 : DT_I64, e);
    Param p = {.name = name_new(g, "v"), .dtype = e->ty.t, .value = e};
    for (uint32_t k = 0; k < d->n_label && !p.label; k++)
      if (free_in(d, e, d->label[k], false)) p.label = d->label[k];
    d->local[d->n_local++] = p;
  }
}

static void mark_used(Def *d, const Node *e, bool stands) {
  for (uint32_t k = 0; e->kind == E_LOCAL && k < d->n_param; k++) {
    if (strcmp(d->param[k].name, e->word) != 0) continue;
    d->param[k].used = true;
    d->param[k].stands |= stands && !e->n;
  }
  for (uint32_t i = 0; i < e->n; i++) {
    bool argument = e->kind == E_CALL && i < e->def->n_param;
    mark_used(d, e->kid[i], argument ? stands && e->def->param[i].stands : stands);
  }
}

static void mark_reaches(Def *d, const Node *e) {
  for (uint32_t k = 0; e->kind == E_LOCAL && k < d->n_param; k++)
    d->param[k].reaches |= strcmp(d->param[k].name, e->word) == 0;
  for (uint32_t k = 0; e->kind == E_LOCAL && k < d->n_local; k++)
    if (strcmp(d->local[k].name, e->word) == 0) mark_reaches(d, d->local[k].value);
  for (uint32_t i = 0; i < e->n; i++)
    if (e->kind != E_CALL || i >= e->def->n_param || e->def->param[i].reaches) mark_reaches(d, e->kid[i]);
}

static void make_def(Gen *g) {
  Stmt *s = stmt_new(g, S_DEF);
  Ctx c = ctx_of(g, s);
  Def *d = NEW(g->arena, Def);
  d->name = name_new(g, "g");
  for (uint32_t want = below(&g->rng, 3); d->n_label < want;) {
    Label *l = label_make(&c, extent_number(g, 1));
    l->param = l->whole = true;
    d->label[d->n_label++] = l;
  }
  make_params(g, d);
  c.def = d;
  uint32_t loops = g->turns.len;
  g->turns.len = 0;
  make_locals(&c, d);
  d->e = make_expr(&c, any_want(g), 1 + (int)below(&g->rng, 3));
  if (d->e->ty.weak) d->e = node_cast(g, dtype_is_float(d->e->ty.t) ? DT_F64 : DT_I64, d->e);
  g->turns.len = loops;
  mark_used(d, d->e, true);
  mark_reaches(d, d->e);
  for (uint32_t k = 0; k < d->n_local; k++) mark_used(d, d->local[k].value, true);
  for (uint32_t k = 0; k < d->n_label; k++)
    d->free[k] = free_in(d, d->e, d->label[k], true), d->sure[k] = free_in(d, d->e, d->label[k], false);
  for (uint32_t k = 0; k < s->made.len; k++) s->made.at[k]->whole = true;
  s->def = d;
  s->block = d->n_local || chance(&g->rng, 30);
  vec_push(g->arena, g->defs, d);
  vec_push(g->arena, g->made->stmts, s);
}

static void make_monoid_stmt(Gen *g) {
  static const struct { const char *function, *identity; DType t; bool any;
  } known[] = {{"a + b", "0", DT_I64, true}, {"a * b", "1", DT_I64, true}, {"a + b + a*b", "0", DT_I64, true},
      {"if a == 0 then b else if b == 0 then a else min(a, b)", "0", DT_I64, true},
      {"if a > b then a else b", "-9223372036854775808", DT_I64, false},
      {"min(a, b)", "9223372036854775807", DT_I64, false}, {"a + b - 2*a*b", "0", DT_I64, true},
      {"a or b", "false", DT_BOOL, false}, {"a != b", "false", DT_BOOL, false}};
  UserMonoid *m = NEW(g->arena, UserMonoid);
  uint32_t k = below(&g->rng, COUNT(known));
  *m = (UserMonoid){name_new(g, "m"), known[k].function, known[k].identity, known[k].t, known[k].any};
  Stmt *s = stmt_new(g, S_MONOID);
  s->monoid = m;
  vec_push(g->arena, g->monoids, m);
  vec_push(g->arena, g->made->stmts, s);
}

/* ---- loops ------------------------------------------------------------------------------------ */

static Stmt *make_state(Gen *g) {
  static const DType types[] = {DT_I64, DT_I64, DT_I64, DT_I32, DT_I8, DT_BOOL, DT_F64, DT_F32};
  Stmt *s = stmt_new(g, S_STATE);
  Ctx c = ctx_of(g, s);
  DType t = types[below(&g->rng, COUNT(types))];
  make_left(&c, s, 2, false);
  s->e = make_typed(&c, t, true, 1);
  s->typed = chance(&g->rng, 40);
  tensor_new(g, s, t, dtype_is_float(t) ? (Num){.mag = 16, .grid = true} : num_int(int_most(t), t));
  return s;
}

static Stmt *make_next(Gen *g, const Stmt *state) {
  Stmt *s = stmt_new(g, S_NEXT);
  Ctx c = ctx_of(g, s);
  s->ten = state->ten;
  for (uint32_t k = 0; k < state->ten->rank; k++) left_label(&c, s, state->ten->dim[k]);
  s->e = make_typed(&c, state->ten->dtype, true, 1 + (int)below(&g->rng, 3));
  if (dtype_is_int(state->ten->dtype) && s->rank && g->turns.len && chance(&g->rng, 30)) { /* one slice in place */
    Node *old = node_new(g, E_READ, (Ty){s->ten->dtype, HELD}), *t = node_new(g, E_TURN, (Ty){DT_I64, INDEX}),
         *n = node_new(g, E_IF, old->ty);
    old->ten = s->ten, old->n = (uint8_t)s->rank, old->num = s->ten->num;
    for (uint32_t k = 0; k < s->rank; k++) old->kid[k] = node_label(g, s->left[k]);
    t->turn = vec_last(g->turns);
    n->n = 3, n->kid[0] = node_binary(g, OP_EQ, node_label(g, s->left[0]), t), n->kid[1] = s->e, n->kid[2] = old,
    n->num = s->e->num;
    s->e = n;
  }
  return s;
}

static Stmt *make_inner(Gen *g, bool stack, Extent *bound) {
  Stmt *s = stmt_new(g, S_EQUATION);
  Ctx c = ctx_of(g, s);
  Num num;
  make_left(&c, s, stack ? 1 : 2, !stack);
  s->e = equation_body(&c);
  DType t = stored(g, s, &num);
  Tensor *x = tensor_new(g, s, t, num);
  if (!stack) return s;
  s->stack = true;
  s->turn = vec_last(g->turns);
  s->turn_axis = below(&g->rng, x->rank + 1);
  for (uint32_t k = x->rank++; k > s->turn_axis; k--) x->dim[k] = x->dim[k - 1];
  x->dim[s->turn_axis] = bound;
  if (s->rank == 0) x->name = name_new(g, "A");
  if (s->turn_axis == 0 && x->rank == 1) x->num.mag = fmax(x->num.mag, 1);
  return s;
}

void make_bound(Gen *g, Stmt *s, Extent **size) {
  Ctx c = ctx_of(g, s);
  s->turn = NEW(g->arena, Turn);
  s->turn->name = name_new(g, "t");
  if (chance(&g->rng, 65)) {
    *size = extent_any(g);
    if ((*size)->value > 3) *size = extent_number(g, 2);
    s->e = node_new(g, E_DIM, (Ty){DT_I64, INDEX});
    s->e->ext = *size, s->e->konst = true, s->e->i = (*size)->value;
    s->turn->most = (*size)->value, s->turn->known = true;
    return;
  }
  Node *e = node_cast(g, DT_I64, make_expr(&c, WANT_INT, 1));
  s->e = node_binary(g, OP_MOD, e, node_int(g, 4));
  s->turn->most = 3;
}

/* After a block: its states, its stacks and the number of its turns. */
void loop_results(Gen *g, Stmt *s) {
  for (uint32_t i = 0; i < s->body.len; i++)
    if (s->body.at[i]->type == S_STATE || s->body.at[i]->stack) vec_push(g->arena, g->seen, s->body.at[i]->ten);
  Tensor *t = NEW(g->arena, Tensor);
  *t = (Tensor){.name = s->turn->name, .dtype = DT_I64, .num = num_int(8, DT_I64)};
  s->ten = t;
  vec_push(g->arena, g->made->tensors, t);
  vec_push(g->arena, g->seen, t);
}

static Stmt *make_repeat(Gen *g, int depth) {
  Stmt *s = stmt_new(g, S_REPEAT);
  Extent *size = NULL;
  make_bound(g, s, &size);
  for (uint32_t k = 0, n = 1 + below(&g->rng, 2); k < n; k++) vec_push(g->arena, s->body, make_state(g));
  uint32_t seen = g->seen.len, n_state = s->body.len, turns = g->turns.len;
  for (uint32_t k = 0; k < n_state; k++) vec_push(g->arena, g->seen, s->body.at[k]->ten);
  vec_push(g->arena, g->turns, s->turn);
  for (uint32_t k = 0, n = below(&g->rng, 3); k < n; k++) {
    bool stack = size && chance(&g->rng, 50);
    Stmt *e = make_inner(g, stack, size);
    vec_push(g->arena, s->body, e);
    if (!stack) vec_push(g->arena, g->seen, e->ten);
  }
  if (depth > 0 && chance(&g->rng, 35)) vec_push(g->arena, s->body, make_repeat(g, depth - 1));
  for (uint32_t k = 0; k < n_state; k++) vec_push(g->arena, s->body, make_next(g, s->body.at[k]));
  Ctx c = ctx_of(g, s);
  if (chance(&g->rng, 35)) s->until = make_expr(&c, WANT_BOOL, 2);
  g->seen.len = seen, g->turns.len = turns;
  loop_results(g, s);
  return s;
}

static void make_loop(Gen *g) {
  Stmt *s = make_repeat(g, 1);
  g->made->loops = true;
  vec_push(g->arena, g->made->stmts, s);
  for (uint32_t i = 0; i < s->body.len; i++) {
    if (s->body.at[i]->type != S_STATE && !s->body.at[i]->stack) continue;
    Stmt *o = stmt_new(g, S_OUTPUT);
    o->ten = s->body.at[i]->ten;
    vec_push(g->arena, g->made->stmts, o);
  }
}

/* ---- the program ------------------------------------------------------------------------------ */

Made *program_make(Arena *a, uint64_t seed) {
  Made *m = NEW(a, Made);
  Gen *g = NEW(a, Gen);
  m->arena = g->arena = a;
  g->made = m;
  g->rng.state = seed * 0x2545F4914F6CDD1Du + 99;
  m->strict = chance(&g->rng, 30);
  make_extents(g, m);
  for (uint32_t n = 1 + below(&g->rng, 4), k = 0; k < n; k++) make_input(g);
  if (chance(&g->rng, 25)) make_monoid_stmt(g);
  for (uint32_t n = 1 + below(&g->rng, 4), k = 0; k < n; k++) {
    if (chance(&g->rng, 30)) make_def(g);
    if (chance(&g->rng, 5)) make_permutation(g);
    if (chance(&g->rng, 4)) make_assert(g);
    if (chance(&g->rng, 12)) make_loop(g);
    make_equation(g);
  }
  return m;
}
