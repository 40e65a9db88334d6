/* tests/rule/reveal.h - a relation as algebra_eval computes it: a join behind it lays its tuples out in one tensor,
 * keys first, then places. */
#ifndef EIN_TEST_REVEAL_H
#define EIN_TEST_REVEAL_H

#include "algebra/eval/eval.h"
#include "sites.h"

enum { REVEALED = 3000 };    /* elements, at most */

static const Expr *key_is(Exprs *e, const Relation *t, const int64_t *key) {
  const Expr *all = expr_bool(e, true);
  for (uint32_t k = 0; k < t->n_key; k++) {
    const Expr *same = expr_op2(e, OP_EQ, expr_label(e, k), expr_int(e, DT_I64, key[k]));
    all = k ? expr_op2(e, OP_AND, all, same) : same;
  }
  return all;
}

/* Which keys there are; the small evaluator knows. */
static const Expr *key_there(Algebra *p, const AlgNode *n, const Bag *bag) {
  const Expr *any = expr_bool(p->exprs, !n->type.holes);
  for (uint32_t k = 0; n->type.holes && k < bag->n; k++) {
    const Expr *is = key_is(p->exprs, &n->type, bag->at[k].key);
    any = k ? expr_op2(p->exprs, OP_OR, any, is) : is;
  }
  return any;
}

static int64_t high_most(const Relation *t, uint32_t d) {
  int64_t key[S_KEYS] = {0}, most = 0;
  do {
    int64_t high = rel_value(t->dim[d].high, t->n_key, key);
    if (high > most) most = high;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return most;
}

/* Behind the program: everywhere, finished, laid out. Labels of the kernel: keys, then places. NULL: too large. */
static AlgNode *revealing(Algebra *p, AlgNode *n, const Bag *bag) {
  Exprs *e = p->exprs;
  Placement all;
  for (uint32_t a = 0; a < MESH_AXES; a++) all.on[a] = PLACE_ALL;
  uint32_t n_key = n->type.n_key, rank = n->type.rank, group[S_KEYS];
  int32_t on[S_KEYS];
  RelDim range[S_KEYS + S_RANK];
  Str label[S_KEYS + S_RANK];
  const Expr *index[S_RANK], *in = key_there(p, n, bag);
  const AlgNode *by = alg_in_parts(p, n) ? pending_of(n) : NULL;
  double elements = 1;
  n = alg_move(p, p->top, n, &all);
  for (uint32_t k = 0; k < n_key; k++) {
    group[k] = k, on[k] = (int32_t)k;
    range[k] = (RelDim){expr_label(e, k), expr_op2(e, OP_ADD, expr_label(e, k), expr_int(e, DT_I64, 1))};
    elements *= (double)n->type.frontier[k];
  }
  if (by) n = alg_aggregate(p, p->top, n, n_key, group, by->reducer, by->monoid);
  for (uint32_t d = 0; d < rank; d++) {
    index[d] = expr_label(e, n_key + d);
    int64_t extent = high_most(&n->type, d);
    range[n_key + d] = rel_whole(e, extent);
    elements *= (double)extent;
    in = expr_op2(e, OP_AND, in,
        expr_op2(e, OP_AND, expr_op2(e, OP_LE, n->type.dim[d].low, index[d]),
            expr_op2(e, OP_LT, index[d], n->type.dim[d].high)));
  }
  for (uint32_t l = 0; l < n_key + rank; l++) label[l] = strings_printf(p->strings, "_%u", l);
  DType t = n->type.dtype;
  EinSum *s = NEW(p->arena, EinSum);
  *s = (EinSum){.n_out = n_key + rank, .n_slot = 1, .reducer = RED_NONE, .acc = t, .dtype = t};
  s->body = expr_select(e, in, expr_read(e, t, 0, rank, index), expr_int(e, t, -7));
  if (!(s->body->has & HAS_READ) || elements > (double)REVEALED) return NULL;
  AlgOperand operand = {.node = n, .on = on};
  return alg_join(p, p->top, 1, &operand, s, label, range, n_key, n->type.frontier, n->type.key, &all);
}

static AlgArray input_array(Arena *a, const AlgNode *n) {
  AlgArray x = {
      .dtype = n->type.dtype, .rank = n->type.rank, .shape = NEW_ARRAY(a, int64_t, n->type.rank + 1), .count = 1};
  for (uint32_t d = 0; d < x.rank; d++) x.count *= x.shape[d] = high_most(&n->type, d);
  x.data = NEW_ARRAY(a, int64_t, x.count + 1);
  for (int64_t k = 0; k < x.count; k++) {
    int64_t v = wrapped(x.dtype, hash_at(n->name->hash, 1, &k));
    if (x.dtype == DT_I64) ((int64_t *)x.data)[k] = v;
    else ((int32_t *)x.data)[k] = (int32_t)v;
  }
  return x;
}

/* What algebra_eval makes of it. False: it says why; too large: *out has no data and *why is NULL. The program is left
 * as it was. */
static bool revealed(Algebra *p, AlgNode *n, const Bag *bag, AlgArray *out, const char **why) {
  uint32_t nodes = p->top->nodes.len, ids = p->n_nodes;
  AlgNode *x = revealing(p, n, bag);
  bool ok = true;
  *why = NULL;
  *out = (AlgArray){.data = NULL};
  if (x) {
    int64_t *extent = NEW_ARRAY(p->arena, int64_t, x->type.rank + 1);
    for (uint32_t d = 0; d < x->type.rank; d++) extent[d] = high_most(&x->type, d);
    AlgOutput o = {str_from(p->strings, "revealed"), x, x->type.rank, extent};
    AlgGiven *given = NEW_ARRAY(p->arena, AlgGiven, p->inputs.len + 1);
    for (uint32_t k = 0; k < p->inputs.len; k++)
      given[k] = (AlgGiven){p->inputs.at[k]->name, input_array(p->arena, p->inputs.at[k])};
    vec_push(p->arena, p->outputs, o);
    AlgRun run = {.arena = p->arena, .program = p, .input = given, .n_input = p->inputs.len};
    Place place;
    ok = algebra_eval(&run, why, &place);
    if (ok) *out = run.output[0];
    p->outputs.len = 0;
  }
  p->top->nodes.len = nodes;
  p->n_nodes = ids;
  return ok;
}

static bool arrays_equal(const AlgArray *a, const AlgArray *b) {
  if (a->dtype != b->dtype || a->count != b->count || a->rank != b->rank) return false;
  return !memcmp(a->data, b->data, (size_t)a->count * (size_t)dtype_size(a->dtype));
}

#endif
