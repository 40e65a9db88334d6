/* codegen/schedule/finish/poll.c - makes long loops cancellable. In: a kernel's statements. Out: the same, where a
 * loop that would go over more than `many` points in one call of the kernel is `polled`, so that a run which its
 * caller cancels ends soon. It is the outermost sequential or vector loop whose turns are shorter than that. Thread
 * loops are normally split into short calls and polled between these; long calls come from parts of sums over
 * everything, loops that are not shared, and large symbolic sizes. */
#include "expr/prove/prove.h"
#include "finish.h"

static const double many = 1 << 25, apart = 1 << 20; /* points: of a long call; between polls, if a turn has fewer */
/* Turns, if only a run can tell: one such loop is not long, two nested ones are. */
static const double unknown = 1 << 24;

typedef struct Poll { Exprs *x; const Expr **index; } Poll; /* by variable: the value of an index */

/* The most turns: loops begin at 0 or later. */
static double turns(const Poll *p, const Expr *lo, const Expr *hi) {
  int64_t n;
  if (hi->kind == EX_INT) {
    if (lo->kind != EX_INT) return hi->i > 0 ? (double)hi->i : 0;
    return sub_ok(hi->i, lo->i, &n) && n > 0 ? (double)n : 0;
  }
  if (hi->kind == EX_LABEL && p->index[hi->i]) return turns(p, lo, p->index[hi->i]);
  if (hi == lo) return 0;
  if (hi->kind != EX_OP || hi->n != 2) return unknown;
  bool more = hi->op == OP_ADD && hi->arg[1]->kind == EX_INT, less = hi->op == OP_SUB && hi->arg[1]->kind == EX_INT;
  if (more || less) {
    double all = turns(p, lo, hi->arg[0]) + (more ? 1.0 : -1.0) * (double)hi->arg[1]->i;
    return all > 0 ? all : 0;
  }
  if (hi->op != OP_MIN) return unknown;
  double a = turns(p, lo, hi->arg[0]), b = turns(p, lo, hi->arg[1]);
  return a < b ? a : b;
}

/* Whether it is the remainder of a loop with a larger step: n % 4 turns. */
static bool is_rest(const Poll *p, const LoopStmt *s, double *out) {
  if (s->lo->kind != EX_OP) return false;
  const Expr *n = expr_normal(p->x, expr_op2(p->x, OP_SUB, s->hi, s->lo));
  bool rest = n->kind == EX_OP && n->op == OP_MOD && n->arg[1]->kind == EX_INT && n->arg[1]->i > 0;
  if (rest) *out = (double)(n->arg[1]->i - 1);
  return rest;
}

static double turns_of(const Poll *p, const LoopStmt *s) {
  double rest;
  return (is_rest(p, s, &rest) ? rest : turns(p, s->lo, s->hi)) / (double)s->step;
}

static double points_of(const Poll *p, const LoopBody *b) {
  double all = 0;
  vec_each_of(const LoopStmt, s, *b) {
    if (s->kind == LOOP_INDEX) p->index[s->var] = s->lo;
    double body = points_of(p, &s->body), other = points_of(p, &s->other);
    if (s->kind == LOOP_FOR) all += turns_of(p, s) * (body > 1 ? body : 1);
    else if (s->kind == LOOP_STORE) all++;
    else all += body > other ? body : other;
  }
  return all;
}

/* Whether it is a thread's share of a loop that is split for threads, which is as short as its points allow. */
static bool is_share(const LoopStmt *around, const LoopStmt *s) {
  return around && around->bind == BIND_THREAD && s->kind == LOOP_FOR && s->lo->kind != EX_INT;
}

static void body_mark(const Poll *p, LoopBody *b, const LoopStmt *around) {
  vec_each_of(LoopStmt, s, *b) {
    if (s->kind == LOOP_INDEX) p->index[s->var] = s->lo;
    double turn = points_of(p, &s->body), all = s->kind == LOOP_FOR && !is_share(around, s) ? turns_of(p, s) * turn : 0;
    if ((s->bind == BIND_SEQ || s->bind == BIND_VECTOR) && all > many && turn <= many) {
      for (s->polled = 1; (double)s->polled * turn < apart;) s->polled *= 2;
      continue;
    }
    body_mark(p, &s->body, s->kind == LOOP_FOR ? s : NULL);
    body_mark(p, &s->other, NULL);
  }
}

void finish_poll(LoopProgram *l, LoopKernel *k) {
  Poll p = {l->tasks->exprs, NEW_ARRAY(l->arena, const Expr *, k->var.len + 1)};
  for (uint32_t i = 0; i < k->var.len; i++) p.index[i] = NULL;
  body_mark(&p, &k->body, NULL);
}
