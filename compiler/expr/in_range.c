/* expr/in_range.c - indices proved to be in range, under what guards them. See in_range.h. */
#include "in_range.h"

enum { MOST_VISITS = 1 << 20 }; /* a part under its guards; past that guards are forgotten, which proves less */

bool index_is_data(const Expr *e) {
  if (e->has & HAS_READ) return true;
  if (e->kind != EX_OP) return false;
  if (op_info[e->op].rule == RULE_RANDOM || e->op == OP_PERMUTE || e->op == OP_UNPERMUTE) return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind == EX_OP && index_is_data(e->arg[k])) return true;
  return false;
}

/* ---- numbers that do not fit ----------------------------------------------------------------------- */

/* The prover's integers have no end, those of a program 64 bits: what may wrap proves nothing. Symbolic sizes, and products of
 * them, fit, which is seen to when a run is planned; so what counts are a text's own numbers. */
typedef struct Wraps { const Facts *facts; int fuel; } Wraps;

static int bits_of(int64_t v) {
  int bits = 0;
  for (uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v; u; u >>= 1) bits++;
  return bits;
}

/* So many bits hold it, or what it is made of, if that is more. */
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
  if (e->op == OP_POW) return e->arg[1]->kind == EX_INT && e->arg[1]->i >= 0 && e->arg[1]->i < 64 ? most * (int)e->arg[1]->i : 64;
  return e->op == OP_ADD || e->op == OP_SUB ? most + 1 : e->op == OP_MUL ? all : most;
}

static bool may_wrap(const InRange *q, const Expr *e) {
  return bits_inside(&(Wraps){&q->facts, 4096}, e, 0) > 62;
}

/* The conjuncts that cannot wrap. */
static const Expr *guard_kept(const InRange *q, const Expr *guard) {
  if (!guard || !may_wrap(q, guard)) return guard;
  const Expr *kept = NULL;
  for (; guard->kind == EX_OP && guard->op == OP_AND; guard = guard->arg[0])
    if (!may_wrap(q, guard->arg[1])) kept = expr_and(q->exprs, kept, guard->arg[1]);
  return may_wrap(q, guard) ? kept : expr_and(q->exprs, guard, kept);
}

/* ---- one index ----------------------------------------------------------------------------------- */

Proof in_range_prove(const InRange *q, const Expr *guard, const Expr *index, const Expr *extent) {
  Exprs *p = q->exprs;
  Facts f = q->facts;
  if (may_wrap(q, index)) return (Proof){.verdict = OPEN_DATA};
  guard = guard_kept(q, guard);
  const Expr *goal = expr_and(p, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), index), expr_op2(p, OP_LT, index, extent));
  if (guard) {
    const Expr **hold = NEW_ARRAY(q->arena, const Expr *, f.n_hold + 1);
    hold[0] = guard; /* first: there is no room for more facts than a few */
    for (uint32_t k = 0; k < f.n_hold; k++) hold[k + 1] = f.hold[k];
    f.hold = hold;
    f.n_hold++;
  }
  return goal ? prove(p, &f, goal) : (Proof){.verdict = PROVED};
}

/* ---- all reads of an EinSum ------------------------------------------------------------------------ */

typedef struct Visit { const Expr *e, *guard; } Visit;

typedef struct Reads {
  InRange q;
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
  vec_push(r->q.arena, r->todo, ((Visit){e, guard}));
}

static void check_read(Reads *r, const Expr *e, const Expr *guard) {
  for (uint32_t k = 0; k < e->n; k++) {
    const Expr *extent = r->q.extent(r->q.ctx, e, k);
    if (!extent) continue;
    Proof why = in_range_prove(&r->q, guard, e->arg[k], extent);
    if (why.verdict != PROVED) r->q.open(r->q.ctx, e->i, k, e->arg[k], &why);
  }
}

static void visit_arguments(Reads *r, const Expr *e, const Expr *guard) {
  Exprs *p = r->q.exprs;
  bool lazy = e->kind == EX_OP && (op_info[e->op].laws & LAW_LAZY);
  const Expr *holds = lazy ? e->arg[0] : NULL, *fails = holds ? expr_op1(p, OP_NOT, holds) : NULL;
  for (uint32_t k = 0; k < e->n; k++) {
    const Expr *more = !lazy || !k ? NULL : (e->op == OP_OR || k == 2) ? fails : holds;
    visit(r, e->arg[k], more ? expr_and(p, guard, more) : guard);
  }
}

void in_range_sum(const InRange *q, const EinSum *s, const Expr *const *bound) {
  Reads r = {.q = *q, .met = map_new(q->arena)};
  r.q.facts.label = bound;
  r.q.facts.n_label = s->n_out + s->n_red;
  visit(&r, s->domain, NULL);
  visit(&r, s->where, s->domain);
  visit(&r, s->body, s->where ? expr_and(q->exprs, s->domain, s->where) : s->domain);
  while (r.todo.len) {
    Visit v = vec_pop(r.todo);
    if (v.e->kind == EX_READ) check_read(&r, v.e, v.guard);
    visit_arguments(&r, v.e, v.guard);
  }
}

/* ---- what is said ---------------------------------------------------------------------------------- */

const char *in_range_where(Arena *a, const Proof *p, uint32_t n_label, const Str *label, const Str *turn, const Expr *index) {
  Buf b = buf_new(a);
  bool *used = NEW_ARRAY(a, bool, n_label + 1);
  if (p->verdict != REFUTED) return "";
  expr_labels(index, n_label, used);
  for (uint32_t k = 0; k < n_label && k < p->label.len; k++)
    if (used[k] && label[k]) buf_printf(&b, "%s%s = %lld", b.len ? ", " : " where ", label[k]->s, (long long)p->label.at[k]);
  for (uint32_t k = 0; k < p->turn.len && (index->has & HAS_TURN); k++)
    if (turn[k]) buf_printf(&b, "%s%s = %lld", b.len ? ", " : " where ", turn[k]->s, (long long)p->turn.at[k]);
  for (uint32_t k = 0; k < p->dim.len; k++)
    buf_printf(&b, "%s%s = %lld", b.len ? ", " : " where ", p->dim.at[k].name->s, (long long)p->dim.at[k].value);
  return b.len ? b.s : "";
}
