/* expr/prove/in_range.c - proves that indices are in range, given what guards them. See in_range.h. */
#include "in_range.h"

enum { MOST_VISITS = 1 << 20 }; /* parts visited with their guards; beyond that guards are dropped, which proves less */

bool index_is_data(const Expr *e) {
  if (e->has & HAS_READ) return true;
  if (e->kind != EX_OP) return false;
  if (op_info[e->op].rule == RULE_RANDOM || e->op == OP_EXTERN || e->op == OP_PERMUTE || e->op == OP_UNPERMUTE)
    return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind == EX_OP && index_is_data(e->arg[k])) return true;
  return false;
}

bool expr_is_natural(const Expr *e) {
  switch ((ExprKind)e->kind) {
  case EX_INT: return e->i >= 0;
  case EX_DIM: case EX_LABEL: case EX_TURN: return true;
  case EX_OP: break;
  default: return false;
  }
  if (e->op != OP_ADD && e->op != OP_MUL && e->op != OP_IDIV && e->op != OP_MOD && e->op != OP_MIN && e->op != OP_MAX)
    return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (expr_is_natural(e->arg[k]) == (e->op == OP_MAX)) return e->op == OP_MAX; /* of a maximum, one is enough */
  return e->op != OP_MAX;
}

/* ---- numbers that do not fit ----------------------------------------------------------------------- */

/* The prover's integers are unbounded, a program's have 64 bits: what may wrap proves nothing. Symbolic sizes, and
 * products of them, fit, which is checked when a run is planned; so only a text's own numbers count. */
typedef struct Wraps { const Facts *facts; int fuel; } Wraps;

static int bits_of(int64_t v) {
  int bits = 0;
  for (uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v; u; u >>= 1) bits++;
  return bits;
}

/* The number of bits that holds it and all its operands. */
static int bits_inside(Wraps *w, const Expr *e, int depth) {
  const Facts *f = w->facts;
  int most = 0, all = 0;
  if (--w->fuel < 0 || depth > 200) return 64;
  if (e->kind == EX_INT) return bits_of(e->i);
  if (e->kind == EX_LABEL && (uint64_t)e->i < f->n_label && f->label[e->i] && f->label[e->i]->kind == EX_INT)
    return bits_of(f->label[e->i]->i);
  if (e->kind != EX_OP) return 0;
  for (uint32_t k = 0; k < e->n; k++) {
    int bits = bits_inside(w, e->arg[k], depth + 1);
    most = bits > most ? bits : most;
    all += bits;
  }
  if (most > 62 || e->dtype != DT_I64) return most;
  if (e->op == OP_POW)
    return e->arg[1]->kind == EX_INT && e->arg[1]->i >= 0 && e->arg[1]->i < 64 ? most * (int)e->arg[1]->i : 64;
  return e->op == OP_ADD || e->op == OP_SUB ? most + 1 : e->op == OP_MUL ? all : most;
}

bool index_may_wrap(const Facts *f, const Expr *e) { return bits_inside(&(Wraps){f, 4096}, e, 0) > 62; }

static bool may_wrap(const InRange *q, const Expr *e) { return index_may_wrap(&q->facts, e); }

/* The conjuncts that cannot wrap. */
static const Expr *guard_kept(const InRange *q, const Expr *guard) {
  if (!guard || !may_wrap(q, guard)) return guard;
  const Expr *kept = NULL;
  for (; guard->kind == EX_OP && guard->op == OP_AND; guard = guard->arg[0])
    if (!may_wrap(q, guard->arg[1])) kept = expr_and(q->exprs, kept, guard->arg[1]);
  return may_wrap(q, guard) ? kept : expr_and(q->exprs, guard, kept);
}

/* ---- what a bool tensor says ------------------------------------------------------------------------- */

/* The conjuncts without reads. */
static const Expr *without_reads(Exprs *p, const Expr *e) {
  const Expr *kept = NULL;
  for (; e->kind == EX_OP && e->op == OP_AND; e = e->arg[0])
    if (!(e->arg[1]->has & HAS_READ)) kept = expr_and(p, e->arg[1], kept);
  return e->has & HAS_READ ? kept : expr_and(p, e, kept);
}

const Expr *sum_meaning(Arena *a, Exprs *p, SumOf made, SumOf reader, const Expr *read) {
  const EinSum *m = made.sum, *r = reader.sum;
  const Expr **to = NEW_ARRAY(a, const Expr *, m->n_out + m->n_red + 1);
  if (m->dtype != DT_BOOL || (m->reducer != RED_NONE && m->reducer != RED_ALL) || m->domain || m->n_out != read->n ||
      m->n_red > r->n_red)
    return NULL;
  if ((m->body->has & HAS_TURN) || (m->where && (m->where->has & (HAS_READ | HAS_TURN)))) return NULL;
  for (uint32_t k = 0; k < m->n_out; k++) to[k] = read->arg[k];
  for (uint32_t k = 0; k < m->n_red; k++) {
    if (made.bound[m->n_out + k] != reader.bound[r->n_out + k]) return NULL;
    to[m->n_out + k] = expr_label(p, r->n_out + k);
  }
  const Expr *e = without_reads(p, m->body);
  if (e && m->where) e = expr_op2(p, OP_OR, expr_op1(p, OP_NOT, m->where), e);
  return e ? expr_relabel(p, e, m->n_out + m->n_red, to) : NULL;
}

static const Expr *guard_meant(const InRange *q, const Expr *guard) {
  const Expr *all = guard;
  for (const Expr *e = guard; q->meaning && e;) {
    bool more = e->kind == EX_OP && e->op == OP_AND;
    const Expr *one = more ? e->arg[1] : e;
    if (one->kind == EX_READ) all = expr_and(q->exprs, all, q->meaning(q->ctx, one));
    e = more ? e->arg[0] : NULL;
  }
  return all;
}

/* ---- one index ----------------------------------------------------------------------------------- */

Proof in_range_prove(const InRange *q, const Expr *guard, const Expr *index, const Expr *extent) {
  Exprs *p = q->exprs;
  Facts f = q->facts;
  if (may_wrap(q, index)) return (Proof){.verdict = OPEN_DATA};
  guard = guard_kept(q, guard_meant(q, guard));
  const Expr *goal = expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), index);
  if (extent) goal = expr_and(p, goal, expr_op2(p, OP_LT, index, extent));
  if (guard) {
    const Expr **hold = NEW_ARRAY(q->arena, const Expr *, f.n_hold + 1);
    hold[0] = guard; /* first, since there is room for only a few more facts */
    for (uint32_t k = 0; k < f.n_hold; k++) hold[k + 1] = f.hold[k];
    f.hold = hold;
    f.n_hold++;
  }
  return goal ? prove(p, &f, goal) : (Proof){.verdict = PROVED}; /* NULL stands for true */
}

/* ---- all reads of an EinSum ------------------------------------------------------------------------ */

typedef struct Visit { const Expr *e, *guard; } Visit;

typedef struct Reads {
  Arena *arena;
  Exprs *exprs;
  Map met;                   /* part and guard */
  uint32_t visits;
  VEC(Visit) todo;
} Reads;

static void visit(Reads *r, const Expr *e, const Expr *guard) {
  if (!e || !(e->has & HAS_READ)) return;
  if (r->visits >= MOST_VISITS) guard = NULL;
  const void *key = (const void *)(uintptr_t)((uint64_t)(guard ? guard->id + 1 : 0) << 32 | (e->id + 1));
  if (map_find(&r->met, key)) return;
  map_put(&r->met, key, r);
  r->visits++;
  vec_push(r->arena, r->todo, ((Visit){e, guard}));
}

static void visit_arguments(Reads *r, const Expr *e, const Expr *guard) {
  bool lazy = e->kind == EX_OP && (op_info[e->op].laws & LAW_LAZY);
  const Expr *holds = lazy ? e->arg[0] : NULL, *fails = holds ? expr_op1(r->exprs, OP_NOT, holds) : NULL;
  for (uint32_t k = 0; k < e->n; k++) {
    const Expr *more = !lazy || !k ? NULL : (e->op == OP_OR || k == 2) ? fails : holds;
    visit(r, e->arg[k], more ? expr_and(r->exprs, guard, more) : guard);
  }
}

void reads_guarded(Arena *a, Exprs *p, const Expr *e, const Expr *guard, ReadVisit *read, void *ctx) {
  Reads r = {.arena = a, .exprs = p, .met = map_new(a)};
  visit(&r, e, guard);
  while (r.todo.len) {
    Visit v = vec_pop(r.todo);
    if (v.e->kind == EX_READ) read(ctx, v.e, v.guard);
    visit_arguments(&r, v.e, v.guard);
  }
}

static void check_read(void *ctx, const Expr *e, const Expr *guard) {
  const InRange *q = ctx;
  for (uint32_t k = 0; k < e->n; k++) {
    const Expr *extent = q->extent(q->ctx, e, k);
    if (!extent) continue;
    Proof why = in_range_prove(q, guard, e->arg[k], extent);
    if (why.verdict != PROVED) q->open(q->ctx, e->i, k, e->arg[k], &why);
  }
}

void in_range_sum(const InRange *of, const EinSum *s, const Expr *const *bound) {
  InRange q = *of;
  q.facts.label = bound;
  q.facts.n_label = s->n_out + s->n_red;
  const Expr *there = s->where ? expr_and(q.exprs, s->domain, s->where) : s->domain;
  const Expr *all[] = {s->domain, s->where, s->body}, *guard[] = {NULL, s->domain, there};
  for (size_t i = 0; i < COUNT(all); i++)
    if (all[i]) reads_guarded(q.arena, q.exprs, all[i], guard[i], check_read, &q);
}

/* ---- messages -------------------------------------------------------------------------------------- */

const char *in_range_where(
    Arena *a, const Proof *p, uint32_t n_label, const Str *label, const Str *turn, const Expr *index) {
  Buf b = buf_new(a);
  bool *used = NEW_ARRAY(a, bool, n_label + 1);
  if (p->verdict != REFUTED) return "";
  expr_labels(index, n_label, used);
  for (uint32_t k = 0; k < n_label && k < p->label.len; k++)
    if (used[k] && label[k])
      buf_printf(&b, "%s%s = %lld", b.len ? ", " : " where ", label[k]->s, (long long)p->label.at[k]);
  for (uint32_t k = 0; k < p->turn.len && (index->has & HAS_TURN); k++)
    if (turn[k]) buf_printf(&b, "%s%s = %lld", b.len ? ", " : " where ", turn[k]->s, (long long)p->turn.at[k]);
  for (uint32_t k = 0; k < p->dim.len; k++)
    buf_printf(&b, "%s%s = %lld", b.len ? ", " : " where ", p->dim.at[k].name->s, (long long)p->dim.at[k].value);
  return b.len ? b.s : "";
}
