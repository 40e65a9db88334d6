/* tests/random/make.c - random expressions that are right where they stand: typed, in range or covered, and exact
 * wherever something is decided by them. Indices and reads are here, and the choice of what comes. */
#include <math.h>
#include <string.h>

#include "make.h"

/* ---- labels and sizes -------------------------------------------------------------------------- */

bool ext_same(const Gen *g, const Extent *a, const Extent *b) {
  if (a == b) return true;
  return g->made->strict ? strcmp(a->text, b->text) == 0 : a->value == b->value;
}

Extent *extent_any(Gen *g) {
  return g->made->extents.at[below(&g->rng, g->made->extents.len)];
}

Label *label_make(Ctx *c, Extent *e) {
  Label *l = NEW(c->g->arena, Label);
  l->number = c->stmt->made.len;
  l->ext = e;
  l->quiet = chance(&c->g->rng, 80);
  l->first = -1;
  vec_push(c->g->arena, c->stmt->made, l);
  if (c->n < COUNT(c->lab)) c->lab[c->n++] = l;
  c->points *= e->value ? e->value : 1;
  return l;
}

Label *label_any(Ctx *c) {
  return c->n ? c->lab[below(&c->g->rng, c->n)] : NULL;
}

/* ---- indices ----------------------------------------------------------------------------------- */

/* The value of what is made of labels, sizes and numbers; false: data. */
static bool index_at(const Node *e, int64_t *out) {
  int64_t a = 0, b = 0;
  switch (e->kind) {
    case E_INT: case E_DIM: *out = e->i; return true;
    case E_LABEL: *out = e->lab[0]->at; return !e->lab[0]->param;
    case E_SIZE: *out = e->lab[0]->ext->value; return !e->lab[0]->param;
    case E_TURN: *out = e->turn->at; return e->turn->known;
    case E_BINARY:
      if (!index_at(e->kid[0], &a) || !index_at(e->kid[1], &b) || op_compares((Op)e->op)) return false;
      return int_fold((Op)e->op, a, b, out);
    case E_FUN:
      if (!index_at(e->kid[0], &a) || (e->n > 1 && !index_at(e->kid[1], &b))) return false;
      if (e->n == 1) return *out = a < 0 ? -a : a, strcmp(e->word, "abs") == 0;
      return int_fold(strcmp(e->word, "min") == 0 ? OP_MIN : OP_MAX, a, b, out);
    default: return false;
  }
}

static bool mentions(const Node *e, const Label *l) {
  if (e->kind == E_LABEL && e->lab[0] == l) return true;
  for (uint32_t i = 0; i < e->n; i++)
    if (mentions(e->kid[i], l)) return true;
  return false;
}

static bool next_point(Ctx *c) {
  for (uint32_t i = 0; i < c->n; i++) {
    if (++c->lab[i]->at < c->lab[i]->ext->value) return true;
    c->lab[i]->at = 0;
  }
  for (uint32_t i = 0; i < c->g->turns.len; i++) {
    Turn *t = c->g->turns.at[i];
    if (++t->at < t->most) return true;
    t->at = 0;
  }
  return false;
}

Range index_range(Ctx *c, const Node *e) {
  Range r = {.known = true, .low = INT64_MAX, .high = INT64_MIN};
  for (uint32_t i = 0; i < c->n; i++) {
    c->lab[i]->at = 0;
    if (!c->lab[i]->param && c->lab[i]->ext->value == 0 && mentions(e, c->lab[i])) return r;
  }
  for (uint32_t i = 0; i < c->g->turns.len; i++) c->g->turns.at[i]->at = 0;
  do {
    int64_t v;
    if (!index_at(e, &v)) return (Range){0};
    r.any = true;
    if (v < r.low) r.low = v;
    if (v > r.high) r.high = v;
  } while (next_point(c));
  return r;
}

Node *index_atom(Ctx *c) {
  Gen *g = c->g;
  Label *l = label_any(c);
  if (g->turns.len && chance(&g->rng, 25)) return node_turn(g, vec_last(g->turns));
  if (l && chance(&g->rng, 85)) return node_label(g, l);
  return node_int(g, below(&g->rng, 4));
}

Node *index_fun(Gen *g, const char *word, Node *a, Node *b) {
  Node *n = node_binary(g, OP_MAX, a, b);
  if (n->kind != E_BINARY) return n;
  n->kind = E_FUN, n->word = word;
  if (n->konst) int_fold(strcmp(word, "min") == 0 ? OP_MIN : OP_MAX, a->i, b->i, &n->i);
  return n;
}

/* Affine and quasi-affine, in range or not. */
Node *index_form(Ctx *c, Extent *e) {
  Gen *g = c->g;
  Node *a = index_atom(c), *b = index_atom(c), *k = node_int(g, 1 + (int64_t)below(&g->rng, 3));
  switch (below(&g->rng, 14)) {
    case 0: return node_binary(g, OP_ADD, a, k);
    case 1: return node_binary(g, OP_SUB, a, k);
    case 2: return node_binary(g, OP_SUB, node_binary(g, OP_SUB, node_extent(g, e), node_int(g, 1)), a);
    case 3: return node_binary(g, OP_ADD, node_binary(g, OP_MUL, k, a), b);
    case 4: return node_binary(g, OP_IDIV, a, node_int(g, 1 + (int64_t)below(&g->rng, 3)));
    case 5: return node_binary(g, OP_MOD, node_binary(g, OP_ADD, a, b), node_extent(g, e));
    case 6: return node_binary(g, OP_IDIV, node_binary(g, OP_ADD, a, b), k);
    case 7: return index_fun(g, "min", a, node_binary(g, OP_SUB, node_extent(g, e), node_int(g, 1)));
    case 8: return index_fun(g, "max", node_binary(g, OP_SUB, a, k), node_int(g, 0));
    case 9: return node_binary(g, OP_SUB, node_binary(g, OP_ADD, a, b), k);
    case 10: return node_binary(g, OP_MOD, a, k);
    case 11: return k->i == 1 ? node_int(g, 0) : node_binary(g, OP_MUL, a, b);
    case 12: return node_fun(g, "abs", (Ty){DT_I64, INDEX}, 1, (Node *[]){node_binary(g, OP_SUB, a, b)});
    default: return node_binary(g, OP_ADD, a, node_int(g, 0));
  }
}

Label *label_for(Ctx *c, const Extent *e) {
  uint32_t from = below(&c->g->rng, c->n ? c->n : 1);
  for (uint32_t i = 0; i < c->n; i++) {
    Label *l = c->lab[(from + i) % c->n];
    if (!l->param && ext_same(c->g, l->ext, e)) return l;
  }
  return NULL;
}

static Node *index_group(Ctx *c, const Extent *e) {
  if (c->g->made->strict) return NULL;
  for (uint32_t k = 0; k < 6 && c->n > 1; k++) {
    Label *a = label_any(c), *b = label_any(c);
    if (a == b || a->param || b->param || a->ext->value * b->ext->value != e->value) continue;
    Node *n = node_new(c->g, E_GROUP, (Ty){DT_I64, INDEX});
    n->lab[0] = a, n->lab[1] = b, n->n_lab = 2;
    return n;
  }
  return NULL;
}

/* Data as an index: in range by `%`, or not. */
static Node *index_gather(Ctx *c, Extent *e, bool *partial) {
  Gen *g = c->g;
  Node *x = make_expr(c, WANT_INT, 0);
  if (e->value && chance(&g->rng, 65)) return node_binary(g, OP_MOD, node_cast(g, DT_I64, x), node_extent(g, e));
  if (x->konst || x->ty.weak) return NULL;
  *partial = true;
  return x;
}

static Node *index_for(Ctx *c, Extent *e, bool bare, bool *partial) {
  Gen *g = c->g;
  Label *l = label_for(c, e);
  if (l && (bare || chance(&g->rng, 60))) return node_label(g, l);
  Node *n = chance(&g->rng, 25) ? index_group(c, e) : NULL;
  if (!n && !bare && chance(&g->rng, 20)) n = index_gather(c, e, partial);
  if (n) return n;
  for (int k = 0; k < 8; k++) {
    n = index_form(c, e);
    if (n->kind == E_LABEL) continue;
    Range r = index_range(c, n);
    if (!r.known) continue;
    bool inside = !r.any || (r.low >= 0 && r.high < e->value), never = r.any && (r.high < 0 || r.low >= e->value);
    if (inside) return n;
    if (never || (k < 4 && !chance(&g->rng, 50))) continue;
    *partial = true;
    return n;
  }
  if (e->value) {
    Node *a = index_atom(c);
    return a->konst ? node_int(g, a->i % e->value) : node_binary(g, OP_MOD, a, node_extent(g, e));
  }
  *partial = true;
  return node_int(g, 0);
}

Node *node_read(Ctx *c, Tensor *t, bool bare, bool *partial) {
  Node *n = node_new(c->g, E_READ, (Ty){t->dtype, HELD});
  n->ten = t;
  n->num = t->num;
  n->n = (uint8_t)t->rank;
  for (uint32_t k = 0; k < t->rank; k++) n->kid[k] = index_for(c, t->dim[k], bare, partial);
  return n;
}

/* What must hold for the read to have a value. */
Node *read_guard(Ctx *c, const Node *r) {
  Gen *g = c->g;
  Node *all = NULL;
  for (uint32_t k = 0; k < r->n; k++) {
    Node *i = r->kid[k];
    if (i->kind == E_GROUP || i->kind == E_LABEL) continue;
    Node *low = node_binary(g, OP_LE, node_int(g, 0), i),
         *high = node_binary(g, OP_LT, i, node_extent(g, r->ten->dim[k]));
    if (chance(&g->rng, 30)) low = node_binary(g, OP_GE, i, node_int(g, 0));
    Node *one = node_binary(g, OP_AND, low, high);
    all = all ? node_binary(g, OP_AND, all, one) : one;
  }
  return all ? all : node_truth(g, true);
}

bool of_class(DType t, Want w) {
  return w == WANT_BOOL ? t == DT_BOOL : w == WANT_FLOAT ? dtype_is_float(t) : dtype_is_int(t);
}

Tensor *tensor_of(Ctx *c, Want w) {
  Gen *g = c->g;
  for (int k = 0; k < 12 && g->seen.len && !c->no_reads; k++) {
    Tensor *t = g->seen.at[below(&g->rng, g->seen.len)];
    if (of_class(t->dtype, w)) return t;
  }
  return NULL;
}

/* A read with a value everywhere, or in something that has one. */
static Node *make_read(Ctx *c, Want w, int depth) {
  Gen *g = c->g;
  Tensor *t = tensor_of(c, w);
  if (!t) return NULL;
  bool partial = false;
  Node *r = node_read(c, t, false, &partial);
  if (!partial) return chance(&g->rng, 4) ? node_else(g, r, node_default(g, r->ty)) : r;
  Node *other = depth > 0 ? make_expr(c, w, depth - 1) : node_default(g, r->ty);
  switch (below(&g->rng, w == WANT_BOOL ? 2 : 3)) {
    case 0: return node_else(g, r, node_default(g, r->ty));
    case 1: return node_if(g, read_guard(c, r), r, other);
    default: {
      Node *sum = node_binary(g, chance(&g->rng, 50) ? OP_ADD : OP_MUL, r, other);
      return node_else(g, sum, node_default(g, sum->ty));
    }
  }
}

/* ---- expressions ------------------------------------------------------------------------------- */

static Node *int_leaf(Ctx *c) {
  Gen *g = c->g;
  Label *l = label_any(c);
  Node *n = NULL;
  if (chance(&g->rng, 60) && (n = make_local(c, WANT_INT))) return n;
  if (chance(&g->rng, 55) && (n = make_read(c, WANT_INT, 0))) return n;
  switch (below(&g->rng, 8)) {
    case 0: case 1: return l ? node_label(g, l) : node_int(g, 2);
    case 2: return l ? node_size(g, l) : node_int(g, 3);
    case 3: return c->def ? node_int(g, 1) : node_extent(g, extent_any(g));
    case 4: return g->turns.len ? node_turn(g, vec_last(g->turns)) : node_int(g, 5);
    case 5: return node_int(g, (int64_t)below(&g->rng, 12) - 4);
    case 6: return chance(&g->rng, 20) ? node_int(g, 100) : node_int(g, 1);
    default: return node_int(g, below(&g->rng, 4));
  }
}

static Node *int_fun(Ctx *c, int depth) {
  static const char *const two[] = {"max", "min", "fmax", "fmin"};
  Gen *g = c->g;
  Node *a = make_expr(c, WANT_INT, depth - 1);
  if (chance(&g->rng, 35)) {
    const char *word = chance(&g->rng, 50) ? "abs" : "sign";
    Node *n = node_fun(g, word, ty_arith(a->ty), 1, &a);
    n->num = num_int(a->num.mag, n->ty.t);
    n->konst = a->konst, n->i = word[0] == 'a' ? (a->i < 0 ? -a->i : a->i) : (a->i > 0) - (a->i < 0);
    return n;
  }
  Node *b = make_expr(c, WANT_INT, depth - 1), *n = node_binary(g, OP_MAX, a, b);
  if (n->kind != E_BINARY) return n;
  uint32_t k = below(&g->rng, 4);
  n->kind = E_FUN, n->word = two[k];
  if (n->konst) int_fold(k % 2 ? OP_MIN : OP_MAX, n->kid[0]->i, n->kid[1]->i, &n->i);
  return n;
}

static Node *int_power(Ctx *c, int depth) {
  Gen *g = c->g;
  Node *a = make_expr(c, WANT_INT, depth - 1), *b = node_int(g, below(&g->rng, 4));
  if (a->konst) a = node_cast(g, DT_I64, a);
  Node *n = typed_binary(g, OP_POW, a, b);
  n->num = num_int(int_most(n->ty.t), n->ty.t);
  return n;
}

static Node *make_int(Ctx *c, int depth) {
  static const Op ops[] = {OP_ADD, OP_ADD, OP_SUB, OP_MUL, OP_MUL, OP_IDIV, OP_MOD};
  static const DType types[] = {DT_I64, DT_I64, DT_I32, DT_I16, DT_I8, DT_U8};
  Gen *g = c->g;
  Node *n = NULL;
  if (depth <= 0) return int_leaf(c);
  switch (below(&g->rng, 20)) {
    case 0: case 1: case 2: case 3: case 4: {
      Node *a = make_expr(c, WANT_INT, depth - 1);
      return node_binary(g, ops[below(&g->rng, COUNT(ops))], a, make_expr(c, WANT_INT, depth - 1));
    }
    case 5:
      n = make_expr(c, WANT_BOOL, depth - 1);
      return node_if(g, n, make_expr(c, WANT_INT, depth - 1), make_expr(c, WANT_INT, depth - 1));
    case 6: return node_neg(g, make_expr(c, WANT_INT, depth - 1));
    case 7: return int_fun(c, depth);
    case 8:
      return node_cast(
          g, types[c->reduced ? 0 : below(&g->rng, COUNT(types))], make_expr(c, (Want)below(&g->rng, 3), depth - 1));
    case 9: return int_power(c, depth);
    case 10: case 11: case 12: case 13: n = make_reduce(c, WANT_INT, depth); break;
    case 14: n = make_monoid(c, WANT_INT, depth); break;
    case 15: case 16: n = make_call(c, WANT_INT, depth); break;
    case 17: n = make_subst(c, WANT_INT, depth); break;
    default: n = make_read(c, WANT_INT, depth); break;
  }
  return n ? n : int_leaf(c);
}

static Node *make_compare(Ctx *c, Want w, int depth) {
  static const Op ops[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
  Gen *g = c->g;
  Node *a = make_expr(c, w, depth), *b = make_expr(c, w, depth);
  return node_binary(g, ops[below(&g->rng, w == WANT_BOOL ? 2 : 6)], a, b);
}

static Node *bool_leaf(Ctx *c) {
  Gen *g = c->g;
  Node *n = NULL;
  if (chance(&g->rng, 25)) n = make_read(c, WANT_BOOL, 0);
  if (!n && chance(&g->rng, 30)) n = make_local(c, WANT_BOOL);
  if (n) return n;
  if (chance(&g->rng, 12)) return node_truth(g, below(&g->rng, 2));
  return make_compare(c, chance(&g->rng, 85) ? WANT_INT : WANT_FLOAT, 0);
}

static Node *make_bool(Ctx *c, int depth) {
  Gen *g = c->g;
  Node *n = NULL;
  if (depth <= 0) return bool_leaf(c);
  switch (below(&g->rng, 14)) {
  case 0:
  case 1: n = make_expr(c, WANT_BOOL, depth - 1); return node_binary(g, OP_AND, n, make_expr(c, WANT_BOOL, depth - 1));
  case 2:
  case 3: n = make_expr(c, WANT_BOOL, depth - 1); return node_binary(g, OP_OR, n, make_expr(c, WANT_BOOL, depth - 1));
  case 4:
    n = make_expr(c, WANT_BOOL, depth - 1);
    n = with_kids(node_new(g, E_NOT, n->ty), 1, &n);
    n->num = num_int(1, DT_BOOL);
    return n;
  case 5: n = make_reduce(c, WANT_BOOL, depth); break;
  case 6: return make_compare(c, WANT_BOOL, depth - 1);
  case 7: return node_cast(g, DT_BOOL, make_expr(c, WANT_INT, depth - 1));
  case 8:
    n = make_expr(c, WANT_FLOAT, depth - 1);
    if (is_exact(n))
      return n = node_fun(g, chance(&g->rng, 50) ? "isnan" : "isinf", (Ty){DT_BOOL, HELD}, 1, &n),
             n->num = num_int(1, DT_BOOL), n;
    n = NULL;
    break;
  case 9: n = make_monoid(c, WANT_BOOL, depth); break;
  case 10: n = make_call(c, WANT_BOOL, depth); break;
  case 11:
    n = make_expr(c, WANT_BOOL, depth - 1);
    return node_if(g, n, make_expr(c, WANT_BOOL, depth - 1), make_expr(c, WANT_BOOL, depth - 1));
  default: return make_compare(c, chance(&g->rng, 80) ? WANT_INT : WANT_FLOAT, depth - 1);
  }
  return n ? n : bool_leaf(c);
}

static Node *make_random(Ctx *c) {
  Gen *g = c->g;
  if (c->def || !c->n) return NULL;
  Node *n = node_new(g, E_RANDOM, (Ty){DT_F32, HELD});
  n->word = chance(&g->rng, 50) ? "uniform" : "normal";
  n->num = (Num){.mag = n->word[0] == 'u' ? 1 : 9};
  for (uint32_t want = 1 + below(&g->rng, 2), k = 0; k < c->n && n->n_lab < want; k++)
    if (!c->lab[k]->param) n->lab[n->n_lab++] = c->lab[k];
  if (!n->n_lab) return NULL;
  n->kid[n->n++] = node_int(g, below(&g->rng, 20));
  return n;
}

static Node *float_leaf(Ctx *c) {
  static const DType types[] = {DT_F64, DT_F64, DT_F32, DT_F32, DT_F16, DT_BF16};
  static const double reals[] = {0.5, 1.5, 2, 0.25, -1.5, 3, 0};
  Gen *g = c->g;
  Node *n = NULL;
  if (chance(&g->rng, 50)) n = make_read(c, WANT_FLOAT, 0);
  if (!n && chance(&g->rng, 50)) n = make_local(c, WANT_FLOAT);
  if (!n && chance(&g->rng, 10)) n = make_random(c);
  if (n) return n;
  if (chance(&g->rng, 25)) return node_real(g, reals[below(&g->rng, COUNT(reals))]);
  if (chance(&g->rng, 2)) {
    n = node_new(g, E_CONST, (Ty){DT_F64, REAL});
    n->word = chance(&g->rng, 50) ? "inf" : "nan";
    n->num = (Num){.grid = true, .wild = true};
    return n;
  }
  return node_cast(g, types[below(&g->rng, COUNT(types))], node_binary(g, OP_MOD, int_leaf(c), node_int(g, 5)));
}

static Node *float_fun(Ctx *c, int depth) {
  static const struct { const char *word; double mag; bool exact, grid;
  } known[] = {{"sin", 1, false, false}, {"cos", 1, false, false}, {"tanh", 1, false, false}, {"atan", 2, false, false},
      {"erf", 1, false, false}, {"abs", 0, true, true}, {"floor", 0, true, true}, {"ceil", 0, true, true},
      {"round", 0, true, true}, {"trunc", 0, true, true}, {"sign", 0, true, true}};
  Gen *g = c->g;
  Node *a = make_expr(c, chance(&g->rng, 85) ? WANT_FLOAT : WANT_INT, depth - 1);
  uint32_t k = below(&g->rng, COUNT(known));
  if ((known[k].exact && !is_exact(a)) || (!known[k].exact && a->num.wild))
    return a->ty.weak || !dtype_is_float(a->ty.t) ? node_real(g, 1.5) : a;
  bool same = known[k].word == known[5].word || known[k].word == known[10].word;
  Node *n = node_fun(g, known[k].word, same ? ty_arith(a->ty) : ty_real(a->ty), 1, &a);
  DType t = n->ty.t;
  if (!dtype_is_float(t)) return n->num = num_int(a->num.mag, t), n->konst = false, node_cast(g, DT_F64, n);
  double mag = known[k].mag > 0 ? known[k].mag : a->num.mag + 1;
  n->num = known[k].exact ? num_float(mag, 0, true, t)
                          : num_float(mag, a->num.noise + (a->num.mag + 8) * float_step(t) * 4, false, t);
  if (known[k].exact && !a->num.grid && same) n->num = a->num;
  n->num.wild = a->num.wild;
  return num_bad(n->num, t) ? node_default(g, n->ty) : n;
}

static Node *float_minmax(Ctx *c, int depth) {
  static const char *const two[] = {"max", "min", "fmax", "fmin"};
  Gen *g = c->g;
  Node *a = make_expr(c, WANT_FLOAT, depth - 1),
       *n = node_binary(g, OP_MAX, a, make_expr(c, chance(&g->rng, 70) ? WANT_FLOAT : WANT_INT, depth - 1));
  if (n->kind == E_BINARY) n->kind = E_FUN, n->word = two[below(&g->rng, 4)];
  return n;
}

static Node *float_binary(Ctx *c, int depth) {
  static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL};
  Gen *g = c->g;
  Node *a = make_expr(c, WANT_FLOAT, depth - 1),
       *b = make_expr(c, chance(&g->rng, 70) ? WANT_FLOAT : WANT_INT, depth - 1);
  if (chance(&g->rng, 20)) {
    b = make_expr(c, WANT_INT, depth - 1);
    return node_binary(g, OP_DIV, chance(&g->rng, 50) ? a : make_expr(c, WANT_INT, depth - 1),
        chance(&g->rng, 50) ? b : node_int(g, 2));
  }
  if (chance(&g->rng, 10) && is_exact(a) && !a->num.wild) {
    Node *n = node_binary(g, chance(&g->rng, 50) ? OP_IDIV : OP_MOD, a, node_int(g, 1 + (int64_t)below(&g->rng, 3)));
    if (n->kind == E_BINARY && !a->num.grid) return a;
    return n;
  }
  return node_binary(g, ops[below(&g->rng, 3)], a, b);
}

static Node *make_float(Ctx *c, int depth) {
  static const DType types[] = {DT_F64, DT_F64, DT_F32, DT_F32, DT_F16, DT_BF16};
  Gen *g = c->g;
  Node *n = NULL;
  if (depth <= 0) return float_leaf(c);
  switch (below(&g->rng, 18)) {
    case 0: case 1: case 2: case 3: case 4: return float_binary(c, depth);
    case 5:
      n = make_expr(c, WANT_BOOL, depth - 1);
      return node_if(g, n, make_expr(c, WANT_FLOAT, depth - 1), make_expr(c, WANT_FLOAT, depth - 1));
    case 6: return float_fun(c, depth);
    case 7: return float_minmax(c, depth);
    case 8:
      return node_cast(
          g, types[below(&g->rng, COUNT(types))], make_expr(c, chance(&g->rng, 60) ? WANT_FLOAT : WANT_INT, depth - 1));
    case 9: return node_neg(g, make_expr(c, WANT_FLOAT, depth - 1));
    case 10: case 11: case 12: case 13: n = make_reduce(c, WANT_FLOAT, depth); break;
    case 14: n = make_call(c, WANT_FLOAT, depth); break;
    case 15: n = make_subst(c, WANT_FLOAT, depth); break;
    default: n = make_read(c, WANT_FLOAT, depth); break;
  }
  return n ? n : float_leaf(c);
}

Node *make_expr(Ctx *c, Want w, int depth) {
  return w == WANT_INT ? make_int(c, depth) : w == WANT_BOOL ? make_bool(c, depth) : make_float(c, depth);
}

Node *make_typed(Ctx *c, DType t, bool small, int depth) {
  Gen *g = c->g;
  if (t == DT_BOOL) return make_expr(c, WANT_BOOL, depth);
  if (!dtype_is_float(t)) {
    Node *n = make_expr(c, WANT_INT, depth);
    return n->ty.t == t && !n->ty.weak ? n : node_cast(g, t, n);
  }
  Node *n = chance(&g->rng, 60) ? make_expr(c, WANT_FLOAT, depth) : NULL;
  if (n && is_exact(n) && n->num.grid && !n->num.wild && (!small || n->num.mag <= 16)) {
    if (n->ty.t != t || n->ty.weak) n = node_cast(g, t, n);
    if (is_exact(n)) return n;
  }
  return node_cast(g, t, node_binary(g, OP_MOD, make_expr(c, WANT_INT, depth), node_int(g, 7)));
}
