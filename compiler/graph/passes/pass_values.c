/* graph/passes/pass_values.c - guards reads of elements that may have no value. Where data decide whether an element
 * has one (because it was computed with a gathered index), and no condition around the read has tested that already,
 * the read tests it first:
 *
 *   v[j]     select(idx[j] is in range, v[j], table[.., idx[j], ..])
 *
 * whose last part is the read that v could not make: it stops the run, and reports that index. So after this pass
 * reads can fail only by their index. */
#include "rebuild.h"

enum { READS_MOST = 8 };

typedef struct Values {
  Rebuild b;
  Exprs *p;
  const EinNode *n;          /* the current vertex, */
  VEC(EinNode *) input;      /*   its slots and new ones */
  VEC(const Expr *) known;   /* conditions that hold at the walk's position */
  bool changed;
} Values;

/* ---- what is known ---------------------------------------------------------------------------------------- */

static void know(Values *v, const Expr *e) {
  for (; is_op(e, OP_AND); e = e->arg[0]) know(v, e->arg[1]);
  vec_push(v->b.arena, v->known, e);
}

static void know_not(Values *v, const Expr *e) {
  if (is_op(e, OP_NOT)) know(v, e->arg[0]);
}

static bool holds(const Values *v, const Expr *e);

/* Whether e is one of the conjuncts of all. */
static bool is_part(const Expr *all, const Expr *e) {
  for (; is_op(all, OP_AND); all = all->arg[0])
    if (is_part(all->arg[1], e)) return true;
  return all == e;
}

static bool holds_one(const Values *v, const Expr *e) {
  vec_each_of(const Expr, k, v->known) {
    if (k == e) return true;
    if (is_op(k, OP_OR) && is_op(k->arg[0], OP_NOT) && is_part(k->arg[1], e) && holds(v, k->arg[0]->arg[0]))
      return true;
  }
  return false;
}

static bool holds(const Values *v, const Expr *e) {
  for (; is_op(e, OP_AND); e = e->arg[0])
    if (!holds(v, e->arg[1])) return false;
  return holds_one(v, e);
}

/* ---- a vertex's expression where another one reads it ----------------------------------------------------- */

/* One slot for each node, whatever the indices, so that equal reads are one expression. */
static int64_t slot_of(Values *v, EinNode *n) {
  for (uint32_t k = 0; k < v->input.len; k++)
    if (v->input.at[k] == n) return k;
  vec_push(v->b.arena, v->input, n);
  return (int64_t)v->input.len - 1;
}

static const Expr *leaf_own(void *env, Exprs *p, const Expr *leaf) {
  Values *v = env;
  if (leaf->kind != EX_READ) return leaf;
  return expr_read(p, (DType)leaf->dtype, slot_of(v, v->n->input[leaf->i]), leaf->n, leaf->arg);
}

typedef struct Moved {
  Values *v;
  const EinNode *from;
  const Expr **label;        /* the values of its output labels here */
} Moved;

static const Expr *leaf_here(void *env, Exprs *p, const Expr *leaf) {
  Moved *m = env;
  if (leaf->kind == EX_LABEL) return m->label[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  return expr_read(p, (DType)leaf->dtype, slot_of(m->v, m->from->input[leaf->i]), leaf->n, leaf->arg);
}

static const Expr *here(Moved *m, const Expr *e) { return expr_map(m->v->p, e, leaf_here, m); }

/* For merged labels (h d) by quotients and remainders. */
static Moved moved(Values *v, const EinNode *from, const Expr *read) {
  Moved m = {.v = v, .from = from, .label = NEW_ARRAY(v->b.arena, const Expr *, from->sum->n_out + 1)};
  uint32_t l = from->sum->n_out;
  for (uint32_t d = from->rank; d-- > 0;) {
    const Expr *e = read->arg[d];
    for (uint32_t k = from->merge ? from->merge[d] : 1; k-- > 0;) {
      l--;
      m.label[l] = k ? expr_op2(v->p, OP_MOD, e, from->bound[l]) : e;
      e = expr_op2(v->p, OP_IDIV, e, from->bound[l]);
    }
  }
  return m;
}

/* ---- reads ------------------------------------------------------------------------------------------------- */

/* The part of the domain that depends on data; the rest was proved. */
static const Expr *by_data(Values *v, const Expr *domain) {
  const Expr *all = NULL;
  VEC(const Expr *) parts = {0};
  if (!domain) return NULL;
  for (; is_op(domain, OP_AND); domain = domain->arg[0]) vec_push(v->b.arena, parts, domain->arg[1]);
  vec_push(v->b.arena, parts, domain);
  while (parts.len) {
    const Expr *one = vec_pop(parts);
    if (one->has & HAS_READ) all = expr_and(v->p, all, one);
  }
  return all;
}

static bool is_outer(const EinNode *n, const Expr *e) {
  for (uint32_t l = n->sum->n_out; l < n->sum->n_out + n->sum->n_red; l++)
    if (l < 63 ? e->labels >> l & 1 : e->labels >> 63 & 1) return false;
  return true;
}

/* Finds the reads in e whose index is data and the same for all reduced points; the last one is the operand of the
 * outermost index. */
static void gathers_find(Values *v, const EinNode *n, const Expr *e, Map *seen, uint32_t *count, const Expr **found) {
  if (!(e->has & HAS_READ) || map_find(seen, e)) return;
  map_put(seen, e, (void *)(uintptr_t)e);
  for (uint32_t k = 0; k < e->n; k++) gathers_find(v, n, e->arg[k], seen, count, found);
  bool gathers = false;
  for (uint32_t k = 0; e->kind == EX_READ && k < e->n; k++)
    gathers |= (e->arg[k]->has & HAS_READ) && is_outer(n, e->arg[k]);
  if (gathers && *count < READS_MOST) found[(*count)++] = e;
}

/* The test, and the read that replaces the value if it fails; in the terms of the vertex that is read. */
typedef struct Question { const Expr *ask, *none; } Question;

/* The read at place 0 except where data determine the index; asked: the part of cond that says that it is in range. */
static Question failing(Values *v, const EinNode *n, const Expr *read, const Expr *cond) {
  const Expr **at = NEW_ARRAY(v->b.arena, const Expr *, read->n + 1), *zero = expr_int(v->p, DT_I64, 0);
  Question q = {0};
  for (uint32_t k = 0; k < read->n; k++) {
    bool gathered = (read->arg[k]->has & HAS_READ) && is_outer(n, read->arg[k]);
    at[k] = gathered ? read->arg[k] : zero;
    if (!gathered) continue;
    const Expr *low = expr_op2(v->p, OP_LE, zero, at[k]),
               *high = expr_op2(v->p, OP_LT, at[k], n->input[read->i]->dim[k]);
    if (is_part(cond, low)) q.ask = expr_and(v->p, q.ask, low);
    if (is_part(cond, high)) q.ask = expr_and(v->p, q.ask, high);
  }
  q.none = expr_read(v->p, (DType)read->dtype, read->i, read->n, at);
  return q;
}

/* An element that never exists, of some tensor with axes that e reads. */
static const Expr *nowhere(Values *v, const EinNode *n, const Expr *e, const Expr *cond) {
  if (!(e->has & HAS_READ)) return NULL;
  for (uint32_t k = 0; k < e->n; k++) {
    const Expr *found = nowhere(v, n, e->arg[k], cond);
    if (found) return found;
  }
  if (e->kind != EX_READ || !e->n) return NULL;
  const Expr **at = NEW_ARRAY(v->b.arena, const Expr *, e->n), *zero = expr_int(v->p, DT_I64, 0);
  for (uint32_t k = 0; k < e->n; k++) at[k] = zero;
  at[0] = expr_select(v->p, cond, zero, expr_int(v->p, DT_I64, -1));
  return expr_read(v->p, (DType)e->dtype, e->i, e->n, at);
}

/* The conjuncts of cond that no question tests. */
static const Expr *unasked(Values *v, const Expr *cond, uint32_t n, const Question *q) {
  const Expr *rest = NULL;
  for (const Expr *e = cond; e; e = is_op(e, OP_AND) ? e->arg[0] : NULL) {
    const Expr *one = is_op(e, OP_AND) ? e->arg[1] : e;
    bool asked = false;
    for (uint32_t i = 0; i < n; i++) asked |= is_part(q[i].ask, one);
    if (!asked) rest = rest ? expr_op2(v->p, OP_AND, one, rest) : one;
  }
  return rest;
}

static uint32_t questions(Values *v, const EinNode *n, const Expr *cond, Question *q) {
  const Expr *found[READS_MOST];
  uint32_t count = 0, kept = 0;
  Map seen = map_new(v->b.arena);
  gathers_find(v, n, n->sum->body, &seen, &count, found);
  for (uint32_t i = 0; i < count; i++) {
    q[kept] = failing(v, n, found[i], cond);
    kept += q[kept].ask != NULL;
  }
  const Expr *rest = unasked(v, cond, kept, q);
  if (!rest) return kept;
  const Expr *none = nowhere(v, n, rest, rest);
  if (!none) none = nowhere(v, n, n->sum->body, rest);
  if (none && is_outer(n, none)) q[kept++] = (Question){rest, none};
  return kept;
}

static const Expr *read_asked(Values *v, const Expr *read) {
  const EinNode *from = v->input.at[read->i];
  const Expr *cond = from->kind == EIN_VERTEX ? by_data(v, from->sum->domain) : NULL;
  if (!cond) return read;
  Moved m = moved(v, from, read);
  if (holds(v, here(&m, cond))) return read;
  Question q[READS_MOST + 1];
  const Expr *value = read;
  for (uint32_t i = questions(v, from, cond, q); i-- > 0;)
    value = expr_select(v->p, here(&m, q[i].ask), value, expr_cast(v->p, (DType)read->dtype, here(&m, q[i].none)));
  v->changed |= value != read;
  return value;
}

/* ---- the walk ---------------------------------------------------------------------------------------------- */

static const Expr *walk(Values *v, const Expr *e);

/* Walks arguments after the first where the first says that they are evaluated. */
static const Expr *walk_lazy(Values *v, const Expr *e) {
  const Expr *arg[3] = {walk(v, e->arg[0])};
  uint32_t had = v->known.len;
  for (uint32_t k = 1; k < e->n; k++) {
    if (e->op == OP_OR || k == 2) know_not(v, e->arg[0]);
    else know(v, e->arg[0]);
    arg[k] = walk(v, e->arg[k]);
    v->known.len = had;
  }
  return expr_with(v->p, e, arg);
}

static const Expr *walk(Values *v, const Expr *e) {
  if (!e || !(e->has & HAS_READ)) return e;
  if (e->kind == EX_OP && (op_info[e->op].laws & LAW_LAZY)) return walk_lazy(v, e);
  const Expr **arg = NEW_ARRAY(v->b.arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = walk(v, e->arg[k]);
  return e->kind == EX_READ ? read_asked(v, expr_read(v->p, (DType)e->dtype, e->i, e->n, arg))
                            : expr_with(v->p, e, arg);
}

/* Walks a part of the vertex. Later parts may assume that it holds. */
static const Expr *walk_part(Values *v, const Expr *e) {
  if (!e) return NULL;
  e = expr_map(v->p, e, leaf_own, v);
  const Expr *to = walk(v, e);
  know(v, e);
  return to;
}

static bool reads_partial(Values *v, const EinNode *n) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++)
    if (n->input[k]->kind == EIN_VERTEX && by_data(v, n->input[k]->sum->domain)) return true;
  return false;
}

static EinNode *asked(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Values *v = env;
  EinSum s = *n->sum;
  v->p = b->old->exprs;
  if (!reads_partial(v, n)) return rebuild_copy(b, r, n);
  v->n = n;
  v->changed = false;
  v->known.len = v->input.len = 0;
  s.domain = walk_part(v, s.domain);
  s.where = walk_part(v, s.where);
  s.body = walk_part(v, s.body);
  if (!v->changed) return rebuild_copy(b, r, n);
  rebuild_note(b, "reads asked for a value", n->place);
  EinNode **input = NEW_ARRAY(b->arena, EinNode *, v->input.len + 1);
  for (uint32_t k = 0; k < v->input.len; k++) input[k] = rebuild_to(b, v->input.at[k]);
  s.n_slot = v->input.len;
  return rebuild_vertex(b, r, n, &s, n->bound, n->label, input);
}

EinGraph *graph_values(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = asked};
  Values v = {.b = {.arena = a, .pass = "values", .notes = notes}};
  return rebuild(&v.b, a, g, &rules, &v);
}
