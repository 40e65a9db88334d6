/* tests/random/make_node.c - nodes of random expressions: each knows its type and between what its values lie, as the
 * language says it. */
#include <math.h>
#include <string.h>

#include "make.h"

Node *node_new(Gen *g, Kind k, Ty t) {
  Node *n = NEW(g->arena, Node);
  n->kind = (uint8_t)k;
  n->ty = t;
  n->acc = -1;
  return n;
}

Node *with_kids(Node *n, uint32_t count, Node *const *kid) {
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

Node *node_real(Gen *g, double f) {
  Node *n = node_new(g, E_REAL, (Ty){DT_F64, REAL});
  n->f = f;
  n->num = (Num){.mag = fabs(f), .grid = floor(f) == f};
  return n;
}

Node *node_truth(Gen *g, bool b) {
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

Node *node_size(Gen *g, Label *l) {
  Node *n = node_label(g, l);
  n->kind = E_SIZE;
  return n;
}

Node *node_extent(Gen *g, Extent *e) {
  Node *n = node_new(g, E_DIM, (Ty){DT_I64, e->define ? INDEX : LITERAL});
  n->ext = e, n->i = e->value, n->konst = true;
  n->num = num_int((double)e->value, DT_I64);
  return n;
}

Node *node_turn(Gen *g, Turn *t) {
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

bool int_fold(Op op, int64_t a, int64_t b, int64_t *out) {
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

bool op_compares(Op op) {
  return op_info[op].rule == RULE_COMPARE;
}

Node *typed_binary(Gen *g, Op op, Node *a, Node *b) {
  Ty t = ty_join(a->ty, b->ty);
  if (op_compares(op)) {
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
  return dtype_is_float(beside->ty.t) && dtype_is_int(a->ty.t) && a->num.mag > 1e15
      ? node_binary(g, OP_MOD, a, node_int(g, 7))
      : a;
}

Node *node_binary(Gen *g, Op op, Node *a, Node *b) {
  a = tame(g, fit(g, a, b), b), b = tame(g, fit(g, b, a), a);
  int64_t folded = 0;
  bool konst = a->konst && b->konst && !op_compares(op) && op != OP_DIV && op_info[op].rule == RULE_SAME;
  if (konst && !int_fold(op, a->i, b->i, &folded)) b = node_int(g, 1), int_fold(op, a->i, 1, &folded);
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

Node *node_neg(Gen *g, Node *a) {
  if (a->ty.t == DT_U8) a = node_cast(g, DT_I64, a);
  Node *n = with_kids(node_new(g, E_NEG, ty_arith(a->ty)), 1, &a);
  n->num = a->num, n->konst = a->konst, n->i = -a->i;
  if (a->konst && a->i > 1000000) return a;
  if (dtype_is_int(n->ty.t)) n->num = num_int(a->num.mag, n->ty.t);
  if (n->ty.t == DT_U8) n->num.mag = 255;
  return n;
}

Node *node_fun(Gen *g, const char *word, Ty t, uint32_t n, Node *const *kid) {
  Node *f = with_kids(node_new(g, E_FUN, t), n, kid);
  f->word = word;
  return f;
}

Node *node_if(Gen *g, Node *c, Node *a, Node *b) {
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

Node *node_else(Gen *g, Node *a, Node *b) {
  Node *n = node_if(g, NULL, a, b);
  if (n->kind != E_IF) return n;
  n->kind = E_ELSE;
  a = n->kid[1];
  n->n = 2, n->kid[0] = a, n->kid[1] = n->kid[2];
  /* only the right side is looked at */
  if (is_lit(a) && b->ty.t != DT_BOOL && !b->ty.weak && !dtype_holds(b->ty.t, a->i)) return b;
  return n;
}
