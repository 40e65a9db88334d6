/* tests/random/make_reduce.c - random reducers: labels that stand bare in what they reduce, predicates, accumulators,
 * monoids, and contractions. */
#include <math.h>
#include <string.h>

#include "make.h"

bool has_bare(const Node *e, const Label *l) {
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
  case RED_SUM:
    n->num = num_float(count * b.mag,
        count * b.noise + (b.grid && count * b.mag * float_step(t) <= 1 ? 0 : count * count * b.mag * float_step(t)),
        b.grid, t);
    break;
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
  static const Reducer ints[] = {
      RED_SUM, RED_SUM, RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_FMAX, RED_FMIN, RED_COUNT, RED_ARGMAX, RED_ARGMIN};
  static const Reducer floats[] = {
      RED_SUM, RED_SUM, RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_FMAX, RED_FMIN, RED_MEAN, RED_MEAN, RED_LSE};
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

Node *make_reduce(Ctx *out, Want w, int depth) {
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

Node *make_monoid(Ctx *out, Want w, int depth) {
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
      if ((!label_for(&c, t->dim[d]) || chance(&g->rng, 25)) && n->n_lab < 4 && c.n < 8 &&
          c.points * t->dim[d]->value <= 800)
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
