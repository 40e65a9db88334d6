/* tests/random/make.c - random expressions that are right where they stand: typed, in range or covered, and exact
 * wherever something is decided by them. */
#include <math.h>
#include <string.h>

#include "random.h"

/* ---- nodes ------------------------------------------------------------------------------------ */

Node *node_new(Gen *g, Kind k, Ty t) {
  Node *n = NEW(g->arena, Node);
  n->kind = (uint8_t)k;
  n->ty = t;
  n->acc = -1;
  return n;
}

static Node *with_kids(Node *n, uint32_t count, Node *const *kid) {
  n->n = (uint8_t)count;
  for (uint32_t i = 0; i < count; i++) n->kid[i] = kid[i];
  return n;
}

Node *node_int(Gen *g, int64_t i) {
  Node *n = node_new(g, E_INT, (Ty){DT_I64, LITERAL});
  n->i = i, n->konst = true;
  n->num = num_int(fabs((double)i), DT_I64);
  return n;
}

static Node *node_real(Gen *g, double f) {
  Node *n = node_new(g, E_REAL, (Ty){DT_F64, REAL});
  n->f = f;
  n->num = (Num){.mag = fabs(f), .grid = floor(f) == f};
  return n;
}

static Node *node_truth(Gen *g, bool b) {
  Node *n = node_new(g, E_TRUTH, (Ty){DT_BOOL, HELD});
  n->i = b;
  n->num = num_int(1, DT_BOOL);
  return n;
}

Node *node_label(Gen *g, Label *l) {
  Node *n = node_new(g, E_LABEL, (Ty){DT_I64, INDEX});
  n->lab[n->n_lab++] = l;
  n->num = num_int(8, DT_I64);
  return n;
}

static Node *node_size(Gen *g, Label *l) {
  Node *n = node_label(g, l);
  n->kind = E_SIZE;
  return n;
}

static Node *node_extent(Gen *g, Extent *e) {
  Node *n = node_new(g, E_DIM, (Ty){DT_I64, e->define ? INDEX : LITERAL});
  n->ext = e, n->i = e->value, n->konst = true;
  n->num = num_int((double)e->value, DT_I64);
  return n;
}

static Node *node_turn(Gen *g, Turn *t) {
  Node *n = node_new(g, E_TURN, (Ty){DT_I64, INDEX});
  n->turn = t;
  n->num = num_int(8, DT_I64);
  return n;
}

Node *node_default(Gen *g, Ty t) {
  if (t.t == DT_BOOL) return node_truth(g, below(&g->rng, 2));
  if (t.weak == LITERAL) return node_int(g, below(&g->rng, 3));
  if (t.weak == REAL) return node_real(g, 0.5);
  Node *n = node_cast(g, t.t, node_int(g, below(&g->rng, 3)));
  return n;
}

Node *node_cast(Gen *g, DType t, Node *a) {
  bool from_float = dtype_is_float(a->ty.t);
  if (!is_exact(a) && !dtype_is_float(t)) a = node_int(g, 1), from_float = false;
  Node *n = with_kids(node_new(g, E_CAST, (Ty){t, HELD}), 1, &a);
  n->op = (uint8_t)t;
  if (!dtype_is_float(t)) {
    n->num = num_int(a->num.wild || (from_float && a->num.mag > int_most(t)) ? int_most(t) : a->num.mag, t);
    if (!from_float && a->num.mag >= int_most(t)) n->num.mag = int_most(t);
  } else {
    n->num = num_float(a->num.mag, a->num.noise, a->num.grid, t);
    n->num.wild = a->num.wild;
  }
  return num_bad(n->num, t) ? node_default(g, n->ty) : n;
}

static bool is_lit(const Node *n) {
  return n->konst && n->ty.weak == LITERAL;
}

static Node *fit(Gen *g, Node *a, const Node *beside) {
  if (!is_lit(a) || beside->ty.weak || !dtype_is_int(beside->ty.t) || dtype_holds(beside->ty.t, a->i)) return a;
  return node_int(g, 1 + (int64_t)below(&g->rng, 3));
}

static bool fold(Op op, int64_t a, int64_t b, int64_t *out) {
  double big = op == OP_MUL ? (double)a * (double)b : fabs((double)a) + fabs((double)b);
  if (fabs(big) > 1e12) return false;
  switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: *out = a * b; return true;
    case OP_IDIV: *out = floor_div(a, b); return true;
    case OP_MOD: *out = floor_mod(a, b); return true;
    case OP_MAX: case OP_FMAX: *out = a > b ? a : b; return true;
    case OP_MIN: case OP_FMIN: *out = a < b ? a : b; return true;
    default: *out = 0; return true;
  }
}

static double mag_of(Op op, Num a, Num b) {
  switch (op) {
    case OP_ADD: case OP_SUB: return a.mag + b.mag;
    case OP_MUL: return a.mag * b.mag;
    case OP_IDIV: return a.mag + 1;
    case OP_MOD: return b.mag + 1;
    default: return fmax(a.mag, b.mag);
  }
}

static double noise_of(Op op, Num a, Num b) {
  if (op == OP_MUL) return a.mag * b.noise + b.mag * a.noise + a.noise * b.noise;
  return op == OP_ADD || op == OP_SUB ? a.noise + b.noise : fmax(a.noise, b.noise);
}

static bool compares(Op op) {
  return op_info[op].rule == RULE_COMPARE;
}

static Node *typed_binary(Gen *g, Op op, Node *a, Node *b) {
  Ty t = ty_join(a->ty, b->ty);
  if (compares(op)) {
    if (!is_exact(a) || !is_exact(b)) return node_truth(g, true);
    t = (Ty){DT_BOOL, HELD};
  } else if (op == OP_DIV) {
    t = ty_real(t);
  } else if (op != OP_AND && op != OP_OR) {
    t = ty_arith(t);
  }
  Node *n = with_kids(node_new(g, E_BINARY, t), 2, (Node *[]){a, b});
  n->op = (uint8_t)op;
  return n;
}

/* A divisor is an integer: the sign of a zero is no part of an answer. */
static Num divided(const Node *a, const Node *b, DType t) {
  Num n = num_float(a->num.mag, a->num.noise, false, t);
  n.wild = a->num.wild || !b->konst || b->i == 0;
  return n;
}

/* An integer that may have wrapped, beside a float: a remainder. */
static Node *tame(Gen *g, Node *a, const Node *beside) {
  return dtype_is_float(beside->ty.t) && dtype_is_int(a->ty.t) && a->num.mag > 1e15 ? node_binary(g, OP_MOD, a, node_int(g, 7)) : a;
}

Node *node_binary(Gen *g, Op op, Node *a, Node *b) {
  a = tame(g, fit(g, a, b), b), b = tame(g, fit(g, b, a), a);
  int64_t folded = 0;
  bool konst = a->konst && b->konst && !compares(op) && op != OP_DIV && op_info[op].rule == RULE_SAME;
  if (konst && !fold(op, a->i, b->i, &folded)) b = node_int(g, 1), fold(op, a->i, 1, &folded);
  Node *n = typed_binary(g, op, a, b);
  if (n->kind != E_BINARY) return n;
  n->konst = konst, n->i = folded;
  DType t = n->ty.t;
  if (!dtype_is_float(t)) n->num = num_int(konst ? fabs((double)folded) : mag_of(op, a->num, b->num), t);
  else if (op == OP_DIV) n->num = divided(a, b, t);
  else {
    n->num = num_float(mag_of(op, a->num, b->num), noise_of(op, a->num, b->num), a->num.grid && b->num.grid, t);
    n->num.wild = a->num.wild || b->num.wild;
  }
  return num_bad(n->num, t) ? node_default(g, n->ty) : n;
}

static Node *node_neg(Gen *g, Node *a) {
  if (a->ty.t == DT_U8) a = node_cast(g, DT_I64, a);
  Node *n = with_kids(node_new(g, E_NEG, ty_arith(a->ty)), 1, &a);
  n->num = a->num, n->konst = a->konst, n->i = -a->i;
  if (a->konst && a->i > 1000000) return a;
  if (dtype_is_int(n->ty.t)) n->num = num_int(a->num.mag, n->ty.t);
  if (n->ty.t == DT_U8) n->num.mag = 255;
  return n;
}

static Node *node_fun(Gen *g, const char *word, Ty t, uint32_t n, Node *const *kid) {
  Node *f = with_kids(node_new(g, E_FUN, t), n, kid);
  f->word = word;
  return f;
}

static Node *node_if(Gen *g, Node *c, Node *a, Node *b) {
  a = tame(g, fit(g, a, b), b), b = tame(g, fit(g, b, a), a);
  if (a->ty.weak && b->ty.weak) a = node_cast(g, a->ty.weak == REAL ? DT_F64 : DT_I64, a);
  Node *n = with_kids(node_new(g, E_IF, ty_join(a->ty, b->ty)), 3, (Node *[]){c, a, b});
  n->num = num_either(a->num, b->num);
  if (dtype_is_float(n->ty.t)) {
    Num r = num_float(n->num.mag, n->num.noise, n->num.grid, n->ty.t);
    if (n->num.grid) r.wild = n->num.wild, n->num = r;
  } else n->num = num_int(n->num.mag, n->ty.t);
  return num_bad(n->num, n->ty.t) ? node_default(g, n->ty) : n;
}

static Node *node_else(Gen *g, Node *a, Node *b) {
  Node *n = node_if(g, NULL, a, b);
  if (n->kind != E_IF) return n;
  n->kind = E_ELSE;
  a = n->kid[1];
  n->n = 2, n->kid[0] = a, n->kid[1] = n->kid[2];
  if (is_lit(a) && b->ty.t != DT_BOOL && !b->ty.weak && !dtype_holds(b->ty.t, a->i)) return b; /* only the right side is looked at */
  return n;
}

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

static Label *label_any(Ctx *c) {
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
      if (!index_at(e->kid[0], &a) || !index_at(e->kid[1], &b) || compares((Op)e->op)) return false;
      return fold((Op)e->op, a, b, out);
    case E_FUN:
      if (!index_at(e->kid[0], &a) || (e->n > 1 && !index_at(e->kid[1], &b))) return false;
      if (e->n == 1) return *out = a < 0 ? -a : a, strcmp(e->word, "abs") == 0;
      return fold(strcmp(e->word, "min") == 0 ? OP_MIN : OP_MAX, a, b, out);
    default: return false;
  }
}

typedef struct Range { bool known, any; int64_t low, high; } Range;

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

static Range index_range(Ctx *c, const Node *e) {
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

static Node *index_atom(Ctx *c) {
  Gen *g = c->g;
  Label *l = label_any(c);
  if (g->turns.len && chance(&g->rng, 25)) return node_turn(g, vec_last(g->turns));
  if (l && chance(&g->rng, 85)) return node_label(g, l);
  return node_int(g, below(&g->rng, 4));
}

static Node *index_fun(Gen *g, const char *word, Node *a, Node *b) {
  Node *n = node_binary(g, OP_MAX, a, b);
  if (n->kind != E_BINARY) return n;
  n->kind = E_FUN, n->word = word;
  if (n->konst) fold(strcmp(word, "min") == 0 ? OP_MIN : OP_MAX, a->i, b->i, &n->i);
  return n;
}

/* Affine and quasi-affine, in range or not. */
static Node *index_form(Ctx *c, Extent *e) {
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

static Label *label_for(Ctx *c, const Extent *e) {
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
static Node *read_guard(Ctx *c, const Node *r) {
  Gen *g = c->g;
  Node *all = NULL;
  for (uint32_t k = 0; k < r->n; k++) {
    Node *i = r->kid[k];
    if (i->kind == E_GROUP || i->kind == E_LABEL) continue;
    Node *low = node_binary(g, OP_LE, node_int(g, 0), i), *high = node_binary(g, OP_LT, i, node_extent(g, r->ten->dim[k]));
    if (chance(&g->rng, 30)) low = node_binary(g, OP_GE, i, node_int(g, 0));
    Node *one = node_binary(g, OP_AND, low, high);
    all = all ? node_binary(g, OP_AND, all, one) : one;
  }
  return all ? all : node_truth(g, true);
}

static bool of_class(DType t, Want w) {
  return w == WANT_BOOL ? t == DT_BOOL : w == WANT_FLOAT ? dtype_is_float(t) : dtype_is_int(t);
}

static Tensor *tensor_of(Ctx *c, Want w) {
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

/* ---- reducers ---------------------------------------------------------------------------------- */

static bool has_bare(const Node *e, const Label *l) {
  if (e->kind == E_CALL || e->kind == E_SUBST || e->kind == E_LOCAL) return false;
  if (e->kind == E_GROUP && (e->lab[0] == l || e->lab[1] == l)) return true;
  for (uint32_t i = 0; i < e->n; i++) {
    if (e->kind == E_READ && e->kid[i]->kind == E_LABEL && e->kid[i]->lab[0] == l) return true;
    if (has_bare(e->kid[i], l)) return true;
  }
  return false;
}

/* The labels of a reducer: new ones, or sometimes one that is there already. */
static bool reduce_labels(Ctx *c, Node *n, uint32_t most) {
  Gen *g = c->g;
  uint32_t want = most > 1 && chance(&g->rng, 25) ? 2 : 1;
  while (n->n_lab < want) {
    Label *l = label_any(c);
    if (l && !n->n_lab && chance(&g->rng, l->param ? 60 : 12) && c->points * (l->param ? 5 : l->ext->value) <= 400) {
      n->lab[n->n_lab++] = l;
      n->again = true, l->quiet = false;
      c->points *= l->param ? 5 : l->ext->value ? l->ext->value : 1;
      continue;
    }
    Extent *e = extent_any(g);
    if (c->points * e->value > 400 || c->n >= 8) return n->n_lab > 0;
    n->lab[n->n_lab++] = label_make(c, e);
  }
  return true;
}

static double reduce_count(const Node *n, bool *some) {
  double count = 1;
  *some = !n->where;
  for (uint32_t i = 0; i < n->n_lab; i++) {
    count *= n->lab[i]->param ? 6 : (double)n->lab[i]->ext->value;
    if (n->lab[i]->param || n->lab[i]->ext->value == 0) *some = false;
  }
  return count;
}

static void reduce_int(Node *n, Num b, double count, DType body) {
  Reducer r = (Reducer)n->op;
  DType t = n->ty.t;
  if (r == RED_SUM) n->num = num_int(count * b.mag, t);
  else if (r == RED_ARGMAX || r == RED_ARGMIN || r == RED_COUNT) n->num = num_int(count, t);
  else if (r == RED_PROD) n->num = num_int(pow(fmax(b.mag, 1), count), t);
  else n->num = num_int(int_most(body), t); /* over nothing, the least or greatest */
}

static void reduce_float(Node *n, Num b, double count, bool some) {
  Reducer r = (Reducer)n->op;
  DType t = n->ty.t;
  switch (r) {
    case RED_SUM: n->num = num_float(count * b.mag, count * b.noise + (b.grid && count * b.mag * float_step(t) <= 1 ? 0 : count * count * b.mag * float_step(t)), b.grid, t); break;
    case RED_MEAN: n->num = num_float(b.mag, b.noise + count * b.mag * float_step(t) * 2, false, t); break;
    case RED_PROD: {
      double m = pow(fmax(b.mag, 1), count);
      n->num = num_float(m, count * m * (b.noise + (b.grid ? 0 : float_step(t))), b.grid, t);
      break;
    }
    case RED_LSE: n->num = num_float(b.mag + 4, b.noise + (b.mag + 4) * float_step(t) * 8, false, t); break;
    default: n->num = b; break;
  }
  n->num.wild = b.wild || (!some && (r == RED_MAX || r == RED_MIN || r == RED_FMAX || r == RED_FMIN || r == RED_LSE));
}

static Ty reduced_type(Reducer r, Ty body, int acc) {
  if (r == RED_ARGMAX || r == RED_ARGMIN || r == RED_COUNT) return (Ty){DT_I64, HELD};
  if (r == RED_ANY || r == RED_ALL) return (Ty){DT_BOOL, HELD};
  Ty t = ty_arith(body);
  if (acc >= 0) return (Ty){r == RED_MEAN && !dtype_is_float((DType)acc) ? DT_F64 : (DType)acc, HELD};
  if (r == RED_MEAN || r == RED_LSE) return (Ty){ty_real(t).t, HELD};
  if (r == RED_SUM || r == RED_PROD) return (Ty){dtype_is_float(t.t) ? t.t : DT_I64, HELD};
  return (Ty){t.t, HELD};
}

static Reducer reducer_for(Gen *g, Want w) {
  static const Reducer ints[] = {RED_SUM, RED_SUM, RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_FMAX, RED_FMIN, RED_COUNT, RED_ARGMAX, RED_ARGMIN};
  static const Reducer floats[] = {RED_SUM, RED_SUM, RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_FMAX, RED_FMIN, RED_MEAN, RED_MEAN, RED_LSE};
  if (w == WANT_BOOL) return chance(&g->rng, 50) ? RED_ANY : RED_ALL;
  return w == WANT_INT ? ints[below(&g->rng, COUNT(ints))] : floats[below(&g->rng, COUNT(floats))];
}

static int accumulator(Gen *g, Reducer r, Want w, const Node *body) {
  static const DType ints[] = {DT_I64, DT_I32, DT_I8};
  if ((r != RED_SUM && r != RED_PROD && r != RED_MEAN) || !chance(&g->rng, 12)) return -1;
  if (dtype_is_int(body->ty.t) && w == WANT_FLOAT && body->num.mag > 1e15) return -1;
  if (w == WANT_INT && r != RED_MEAN && dtype_is_int(ty_arith(body->ty).t)) return (int)ints[below(&g->rng, 3)];
  return w == WANT_FLOAT ? (chance(&g->rng, 70) ? DT_F64 : DT_F32) : -1;
}

/* Over nothing such a reduction has no value. */
static Node *covered(Gen *g, Node *n, bool some) {
  bool needs = n->op == RED_MEAN || n->op == RED_ARGMAX || n->op == RED_ARGMIN;
  return needs && (!some || chance(&g->rng, 3)) ? node_else(g, n, node_default(g, n->ty)) : n;
}

static Want body_want(Gen *g, Reducer r, Want w) {
  if (r == RED_MEAN) return chance(&g->rng, 35) ? WANT_INT : WANT_FLOAT;
  if (r == RED_ARGMAX || r == RED_ARGMIN) return chance(&g->rng, 40) ? WANT_FLOAT : WANT_INT;
  if (r == RED_SUM && w == WANT_INT && chance(&g->rng, 12)) return WANT_BOOL;
  return w;
}

/* A body that leaves its range, and the predicate that does not let it. */
static Node *guarded_body(Ctx *c, Want w, Node **where) {
  Tensor *t = tensor_of(c, w);
  bool partial = false;
  Node *r = t ? node_read(c, t, false, &partial) : NULL;
  if (!r || !partial) return r;
  *where = read_guard(c, r);
  return r;
}

/* A read by l that no reducer in between takes. */
static bool reached(const Node *e, const Label *l) {
  for (uint32_t i = 0; i < e->n_lab && (e->kind == E_REDUCE || e->kind == E_MONOID); i++)
    if (e->lab[i] == l) return false;
  if (e->kind == E_CALL || e->kind == E_SUBST || e->kind == E_LOCAL) return false;
  if (e->kind == E_READ || e->kind == E_GROUP) return has_bare(e, l);
  for (uint32_t i = 0; i < e->n; i++)
    if (reached(e->kid[i], l)) return true;
  return false;
}

static bool has_call(const Node *e) {
  if (e->kind == E_REDUCE && e->call) return true;
  for (uint32_t i = 0; i < e->n; i++)
    if (has_call(e->kid[i])) return true;
  return false;
}

static bool sum_can_call(const Ctx *c, const Node *n, const Ctx *outside) {
  if (c->def || n->where || n->op == RED_COUNT || n->grouped || has_call(n->kid[0])) return false;
  for (uint32_t i = 0; i < n->n_lab; i++) {
    for (uint32_t k = 0; k < outside->n; k++)
      if (outside->lab[k] == n->lab[i]) return false;
    if (!reached(n->kid[0], n->lab[i])) return false;
  }
  return true;
}

static Node *reduce_finish(Ctx *in, const Ctx *out, Node *n, Want w, Node *body, Node *where) {
  Gen *g = in->g;
  bool some;
  Reducer r = (Reducer)n->op;
  if (!is_exact(body) && (r == RED_ARGMAX || r == RED_ARGMIN)) body = node_cast(g, DT_I64, node_int(g, 1));
  n->acc = (int8_t)accumulator(g, r, w, body);
  n->n = 0;
  if (r != RED_COUNT) n->kid[n->n++] = body;
  if (where) n->where = true, n->kid[n->n++] = where;
  double count = reduce_count(n, &some);
  n->ty = reduced_type(r, body->ty, n->acc);
  Num b = body->num;
  if (dtype_is_float(n->ty.t) && !dtype_is_float(body->ty.t)) b = num_float(b.mag, 0, true, n->ty.t);
  if (dtype_is_float(n->ty.t)) reduce_float(n, b, count, some);
  else reduce_int(n, b, count, body->ty.t);
  if (num_bad(n->num, n->ty.t) || (r == RED_LSE && !some)) return node_default(g, n->ty);
  n->call = chance(&g->rng, 30) && !in->apart && sum_can_call(in, n, out);
  return covered(g, n, some);
}

static Node *make_reduce(Ctx *out, Want w, int depth) {
  Gen *g = out->g;
  Ctx c = *out;
  c.reduced = true;
  Reducer r = reducer_for(g, w);
  Node *n = node_new(g, E_REDUCE, (Ty){DT_I64, HELD}), *where = NULL, *body = NULL;
  n->op = (uint8_t)r;
  bool one = r == RED_ARGMAX || r == RED_ARGMIN;
  if (!reduce_labels(&c, n, 2)) return NULL;
  n->grouped = n->n_lab > 1 && (one || chance(&g->rng, 25));
  Want bw = body_want(g, r, w);
  if (chance(&g->rng, 25) && r != RED_COUNT) body = guarded_body(&c, bw, &where);
  if (!body) body = make_expr(&c, bw, depth - 1);
  if (!where && chance(&g->rng, r == RED_COUNT ? 70 : 25)) where = make_expr(&c, WANT_BOOL, depth > 1 ? 1 : 0);
  else if (where && chance(&g->rng, 25)) where = node_binary(g, OP_AND, where, make_expr(&c, WANT_BOOL, 0));
  return reduce_finish(&c, out, n, w, body, where);
}

static Node *make_monoid(Ctx *out, Want w, int depth) {
  Gen *g = out->g;
  if (!g->monoids.len) return NULL;
  UserMonoid *m = g->monoids.at[below(&g->rng, g->monoids.len)];
  if ((w == WANT_BOOL) != (m->dtype == DT_BOOL) || w == WANT_FLOAT) return NULL;
  Ctx c = *out;
  c.reduced = true;
  Node *n = node_new(g, E_MONOID, (Ty){m->dtype, HELD});
  n->monoid = m;
  if (!reduce_labels(&c, n, 2)) return NULL;
  n->grouped = n->n_lab > 1 && chance(&g->rng, 30);
  Node *body = make_expr(&c, w, depth - 1);
  if (w == WANT_INT && (body->ty.weak || !m->any_int)) body = node_cast(g, m->any_int ? DT_I32 : DT_I64, body);
  n->ty.t = body->ty.t;
  n->kid[n->n++] = body;
  if (chance(&g->rng, 30)) n->where = true, n->kid[n->n++] = make_expr(&c, WANT_BOOL, 0);
  n->num = num_int(int_most(n->ty.t), n->ty.t);
  return n;
}

/* sum[k] A[i,k] * B[k,j] * ...: up to four reads by bare labels. */
Node *make_contraction(Ctx *out, Want w) {
  Gen *g = out->g;
  Ctx c = *out;
  Node *n = node_new(g, E_REDUCE, (Ty){DT_I64, HELD}), *body = NULL;
  n->op = w == WANT_BOOL ? RED_ANY : chance(&g->rng, 85) ? RED_SUM : RED_MAX;
  for (uint32_t k = 0, operands = 1 + below(&g->rng, 4); k < operands; k++) {
    Tensor *t = tensor_of(&c, w);
    if (!t) break;
    for (uint32_t d = 0; d < t->rank; d++)
      if ((!label_for(&c, t->dim[d]) || chance(&g->rng, 25)) && n->n_lab < 4 && c.n < 8 && c.points * t->dim[d]->value <= 800)
        n->lab[n->n_lab++] = label_make(&c, t->dim[d]);
    bool partial = false;
    Node *r = node_read(&c, t, true, &partial);
    if (partial) r = node_else(g, r, node_default(g, r->ty));
    body = body ? node_binary(g, w == WANT_BOOL ? OP_AND : OP_MUL, body, r) : r;
  }
  if (!body || !n->n_lab) return body;
  Node *where = chance(&g->rng, 20) ? make_expr(&c, WANT_BOOL, 0) : NULL;
  return reduce_finish(&c, out, n, w, body, where);
}

/* ---- calls of defs ----------------------------------------------------------------------------- */

/* Something firm of dtype t in which a read says the size of l. */
static Node *argument_with(Ctx *c, Label *l, DType t) {
  Gen *g = c->g;
  for (int k = 0; k < 8 && g->seen.len; k++) {
    Tensor *x = g->seen.at[below(&g->rng, g->seen.len)];
    if ((x->dtype == DT_BOOL) != (t == DT_BOOL) || (dtype_is_float(x->dtype) && x->num.noise > 0) || (dtype_is_float(t) && (x->num.noise > 0 || x->num.wild || !x->num.grid || x->num.mag > 16))) continue;
    for (uint32_t d = 0; d < x->rank; d++) {
      if (!ext_same(g, x->dim[d], l->ext)) continue;
      bool partial = false;
      Node *r = node_read(c, x, false, &partial);
      if (partial) break;
      r->kid[d] = node_label(g, l);
      return x->dtype == t ? r : node_cast(g, t, r);
    }
  }
  return NULL;
}

static Label *call_label(Ctx *c, const Def *d, uint32_t k, const Node *n) {
  for (int tries = 0; tries < 4; tries++) {
    Label *l = label_any(c);
    if (!l || (!d->free[k] && chance(&c->g->rng, 40) && c->points <= 60)) {
      if (d->free[k]) return NULL;
      l = label_make(c, extent_any(c->g));
    }
    if (l != n->lab[0] || !k) return l->whole = true, l;
  }
  return NULL;
}

/* In a def, a parameter that has the label; else with no labels but those around and this one. */
static Node *argument_labelled(const Ctx *out, Label *l, const Param *p) {
  Ctx c = *out;
  if (!l->param) {
    bool there = false;
    for (uint32_t i = 0; i < c.n; i++) there |= c.lab[i] == l;
    if (!there) c.lab[c.n++] = l;
    return argument_with(&c, l, p->dtype);
  }
  for (uint32_t k = 0; k < c.def->n_param; k++) {
    Param *q = &c.def->param[k];
    if (q->plain || q->label != l || q->dtype != p->dtype) continue;
    Node *n = node_new(c.g, E_LOCAL, (Ty){q->dtype, HELD});
    n->word = q->name;
    return n;
  }
  return NULL;
}

static Node *call_argument(Ctx *c, const Param *p, const Node *call, const Def *d, int depth) {
  Gen *g = c->g;
  if (p->plain) return node_int(g, below(&g->rng, 4));
  for (uint32_t k = 0; k < d->n_label && p->label && p->used; k++)
    if (p->label == d->label[k]) return argument_labelled(c, call->lab[k], p);
  return make_typed(c, p->dtype, true, depth - 1);
}

/* Which of two labels it restricts is said by the labels in it: here, one. */
static Node *call_where(Ctx *out, const Node *n) {
  if (n->n_lab < 2) return make_expr(out, WANT_BOOL, 0);
  Ctx c = *out;
  c.n = 0;
  Node *at_most = node_binary(c.g, OP_LE, node_label(c.g, n->lab[below(&c.g->rng, 2)]), node_int(c.g, below(&c.g->rng, 3)));
  return node_binary(c.g, OP_AND, at_most, make_expr(&c, WANT_BOOL, 0));
}

static Node *make_call(Ctx *out, Want w, int depth) {
  Gen *g = out->g;
  if (!g->defs.len || out->points > 60 || out->no_reads) return NULL;
  Def *d = g->defs.at[below(&g->rng, g->defs.len)];
  if (!of_class(d->e->ty.t, w)) return NULL;
  Ctx c = *out;
  Node *n = node_new(g, E_CALL, d->e->ty);
  n->def = d, n->num = d->e->num;
  for (uint32_t k = 0; k < d->n_label; k++) {
    Label *l = call_label(&c, d, k, n);
    if (!l) return NULL;
    n->lab[n->n_lab++] = l;
  }
  for (uint32_t k = 0; k < d->n_param; k++)
    if (!(n->kid[n->n++] = call_argument(out, &d->param[k], n, d, depth))) return NULL;
  if (d->n_label && !c.def && c.n == out->n && chance(&g->rng, 60)) n->where = true, n->kid[n->n++] = call_where(&c, n);
  bool zero = false;
  for (uint32_t k = 0; k < n->n_lab; k++) zero |= n->lab[k]->param || n->lab[k]->ext->value == 0;
  return n->where || (d->some && zero) ? node_else(g, n, node_default(g, n->ty)) : n;
}

/* ---- inside a def ------------------------------------------------------------------------------ */

static Node *local_index(Ctx *c, Label *j, bool *partial) {
  Gen *g = c->g;
  Node *l = node_label(g, j), *s = node_size(g, j), *one = node_int(g, 1);
  switch (below(&g->rng, 7)) {
    case 0: return node_binary(g, OP_SUB, node_binary(g, OP_SUB, s, one), l);
    case 1: return node_binary(g, OP_MOD, node_binary(g, OP_ADD, l, one), s);
    case 2: return node_binary(g, OP_IDIV, l, node_int(g, 2));
    case 3: return index_fun(g, "min", node_binary(g, OP_ADD, l, one), node_binary(g, OP_SUB, s, one));
    case 4: *partial = true; return node_binary(g, OP_SUB, l, one);
    case 5: *partial = true; return node_binary(g, OP_ADD, l, index_atom(c));
    default: *partial = true; return node_int(g, below(&g->rng, 2));
  }
}

static bool in_scope(const Ctx *c, const Label *l) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->lab[i] == l) return true;
  return false;
}

/* A parameter or local equation, as it stands or substituted. */
static Node *make_local(Ctx *c, Want w) {
  Gen *g = c->g;
  Def *d = c->def;
  if (!d || !(d->n_param + d->n_local)) return NULL;
  uint32_t k = below(&g->rng, d->n_param + d->n_local);
  Param *p = k < d->n_param ? &d->param[k] : &d->local[k - d->n_param];
  if (p->plain ? w != WANT_INT : !of_class(p->dtype, w)) return NULL;
  Ty t = p->plain ? (Ty){DT_I64, LITERAL} : p->value ? (Ty){p->dtype, HELD} : (Ty){p->dtype, HELD};
  Node *n = node_new(g, E_LOCAL, t);
  n->word = p->name;
  n->num = p->value ? p->value->num : dtype_is_float(t.t) ? (Num){.mag = 16, .grid = true} : num_int(p->plain ? 4 : int_most(t.t), t.t);
  if (p->plain) return node_binary(g, OP_ADD, node_cast(g, DT_I64, n), node_int(g, 0));
  if (!p->label || !in_scope(c, p->label) || chance(&g->rng, 50)) return n;
  bool partial = false;
  n->lab[n->n_lab++] = p->label;
  n->kid[n->n++] = local_index(c, p->label, &partial);
  return partial ? node_else(g, n, node_default(g, t)) : n;
}

/* (e)[j = i]: e is an equation of its own. */
static Node *make_subst(Ctx *out, Want w, int depth) {
  Gen *g = out->g;
  if (out->def || out->no_reads) return NULL;
  Ctx c = *out;
  Label *l = label_any(&c);
  if (!l || chance(&g->rng, 40)) l = label_make(&c, extent_any(g));
  l->whole = true;
  DType t = w == WANT_INT ? DT_I64 : w == WANT_BOOL ? DT_BOOL : DT_F64;
  Node *e = argument_with(&c, l, t);
  if (!e) return NULL;
  c.apart = true;
  if (depth > 0 && w != WANT_BOOL && !c.reduced) e = node_binary(g, OP_ADD, e, make_expr(&c, w, depth - 1));
  if (!has_bare(e, l)) return NULL;
  bool partial = false;
  Ctx at = *out;
  Node *i = NULL;
  for (int k = 0; k < 5 && !i; k++) {
    Node *f = index_form(&at, l->ext);
    Range r = index_range(&at, f);
    if (!r.known) continue;
    partial = r.any && (r.low < 0 || r.high >= l->ext->value);
    if (!partial || chance(&g->rng, 40)) i = f;
  }
  if (!i) return NULL;
  Node *n = with_kids(node_new(g, E_SUBST, e->ty), 2, (Node *[]){e, i});
  n->lab[n->n_lab++] = l;
  n->num = e->num;
  if (n->ty.weak) return NULL;
  return partial ? node_else(g, n, node_default(g, n->ty)) : n;
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
  if (n->konst) fold(k % 2 ? OP_MIN : OP_MAX, n->kid[0]->i, n->kid[1]->i, &n->i);
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
    case 5: n = make_expr(c, WANT_BOOL, depth - 1); return node_if(g, n, make_expr(c, WANT_INT, depth - 1), make_expr(c, WANT_INT, depth - 1));
    case 6: return node_neg(g, make_expr(c, WANT_INT, depth - 1));
    case 7: return int_fun(c, depth);
    case 8: return node_cast(g, types[c->reduced ? 0 : below(&g->rng, COUNT(types))], make_expr(c, (Want)below(&g->rng, 3), depth - 1));
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
    case 0: case 1: n = make_expr(c, WANT_BOOL, depth - 1); return node_binary(g, OP_AND, n, make_expr(c, WANT_BOOL, depth - 1));
    case 2: case 3: n = make_expr(c, WANT_BOOL, depth - 1); return node_binary(g, OP_OR, n, make_expr(c, WANT_BOOL, depth - 1));
    case 4: n = make_expr(c, WANT_BOOL, depth - 1); n = with_kids(node_new(g, E_NOT, n->ty), 1, &n); n->num = num_int(1, DT_BOOL); return n;
    case 5: n = make_reduce(c, WANT_BOOL, depth); break;
    case 6: return make_compare(c, WANT_BOOL, depth - 1);
    case 7: return node_cast(g, DT_BOOL, make_expr(c, WANT_INT, depth - 1));
    case 8: n = make_expr(c, WANT_FLOAT, depth - 1); if (is_exact(n)) return n = node_fun(g, chance(&g->rng, 50) ? "isnan" : "isinf", (Ty){DT_BOOL, HELD}, 1, &n), n->num = num_int(1, DT_BOOL), n; n = NULL; break;
    case 9: n = make_monoid(c, WANT_BOOL, depth); break;
    case 10: n = make_call(c, WANT_BOOL, depth); break;
    case 11: n = make_expr(c, WANT_BOOL, depth - 1); return node_if(g, n, make_expr(c, WANT_BOOL, depth - 1), make_expr(c, WANT_BOOL, depth - 1));
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
  static const struct { const char *word; double mag; bool exact, grid; } known[] = {
    {"sin", 1, false, false}, {"cos", 1, false, false}, {"tanh", 1, false, false}, {"atan", 2, false, false}, {"erf", 1, false, false},
    {"abs", 0, true, true}, {"floor", 0, true, true}, {"ceil", 0, true, true}, {"round", 0, true, true}, {"trunc", 0, true, true}, {"sign", 0, true, true}};
  Gen *g = c->g;
  Node *a = make_expr(c, chance(&g->rng, 85) ? WANT_FLOAT : WANT_INT, depth - 1);
  uint32_t k = below(&g->rng, COUNT(known));
  if ((known[k].exact && !is_exact(a)) || (!known[k].exact && a->num.wild)) return a->ty.weak || !dtype_is_float(a->ty.t) ? node_real(g, 1.5) : a;
  bool same = known[k].word == known[5].word || known[k].word == known[10].word;
  Node *n = node_fun(g, known[k].word, same ? ty_arith(a->ty) : ty_real(a->ty), 1, &a);
  DType t = n->ty.t;
  if (!dtype_is_float(t)) return n->num = num_int(a->num.mag, t), n->konst = false, node_cast(g, DT_F64, n);
  double mag = known[k].mag > 0 ? known[k].mag : a->num.mag + 1;
  n->num = known[k].exact ? num_float(mag, 0, true, t) : num_float(mag, a->num.noise + (a->num.mag + 8) * float_step(t) * 4, false, t);
  if (known[k].exact && !a->num.grid && same) n->num = a->num;
  n->num.wild = a->num.wild;
  return num_bad(n->num, t) ? node_default(g, n->ty) : n;
}

static Node *float_minmax(Ctx *c, int depth) {
  static const char *const two[] = {"max", "min", "fmax", "fmin"};
  Gen *g = c->g;
  Node *a = make_expr(c, WANT_FLOAT, depth - 1), *n = node_binary(g, OP_MAX, a, make_expr(c, chance(&g->rng, 70) ? WANT_FLOAT : WANT_INT, depth - 1));
  if (n->kind == E_BINARY) n->kind = E_FUN, n->word = two[below(&g->rng, 4)];
  return n;
}

static Node *float_binary(Ctx *c, int depth) {
  static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL};
  Gen *g = c->g;
  Node *a = make_expr(c, WANT_FLOAT, depth - 1), *b = make_expr(c, chance(&g->rng, 70) ? WANT_FLOAT : WANT_INT, depth - 1);
  if (chance(&g->rng, 20)) {
    b = make_expr(c, WANT_INT, depth - 1);
    return node_binary(g, OP_DIV, chance(&g->rng, 50) ? a : make_expr(c, WANT_INT, depth - 1), chance(&g->rng, 50) ? b : node_int(g, 2));
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
    case 5: n = make_expr(c, WANT_BOOL, depth - 1); return node_if(g, n, make_expr(c, WANT_FLOAT, depth - 1), make_expr(c, WANT_FLOAT, depth - 1));
    case 6: return float_fun(c, depth);
    case 7: return float_minmax(c, depth);
    case 8: return node_cast(g, types[below(&g->rng, COUNT(types))], make_expr(c, chance(&g->rng, 60) ? WANT_FLOAT : WANT_INT, depth - 1));
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
