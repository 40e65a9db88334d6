/* codegen/schedule/finish/poll.c - long loops that can be ended. In: a kernel's statements. Out: the same, where a loop of which one call
 * of the kernel would go over more than `many` points is `polled`, so that a run which its caller cancels ends soon. It is the outermost
 * one in order, or over lanes, of which a turn is less than that. Thread loops are cut into short calls as a rule, and are looked at between
 * these: what is long are parts of sums over everything, loops that are not shared, and what hangs on sizes that are large. */
#include "finish.h"

static const double many = 1 << 25, apart = 1 << 20; /* points: of a call that is long; between two looks, where a turn has less */
static const double unknown = 256;

/* How many turns, at most; unknown where only a run can tell. */
static double turns(const Expr *lo, const Expr *hi) {
  int64_t n;
  if (lo->kind == EX_INT && hi->kind == EX_INT) return sub_ok(hi->i, lo->i, &n) && n > 0 ? (double)n : 0;
  if (hi->kind != EX_OP) return unknown;
  if (hi->op == OP_ADD && hi->arg[0] == lo && hi->arg[1]->kind == EX_INT) return (double)hi->arg[1]->i;
  if (hi->op != OP_MIN) return unknown;
  double a = turns(lo, hi->arg[0]), b = turns(lo, hi->arg[1]);
  if (a == unknown || b == unknown) return a == unknown ? b : a;
  return a < b ? a : b;
}

static double points_of(const LoopBody *b) {
  double all = 0;
  for (uint32_t i = 0; i < b->len; i++) {
    const LoopStmt *s = b->at[i];
    double body = points_of(&s->body), other = points_of(&s->other);
    if (s->kind == LOOP_FOR) all += turns(s->lo, s->hi) / (double)s->step * (body > 1 ? body : 1);
    else if (s->kind == LOOP_STORE) all++;
    else all += body > other ? body : other;
  }
  return all;
}

static void body_mark(LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    LoopStmt *s = b->at[i];
    double turn = points_of(&s->body), all = s->kind == LOOP_FOR ? turns(s->lo, s->hi) / (double)s->step * turn : 0;
    if ((s->bind == BIND_SEQ || s->bind == BIND_VECTOR) && all > many && turn <= many) {
      for (s->polled = 1; (double)s->polled * turn < apart;) s->polled *= 2;
      continue;
    }
    body_mark(&s->body);
    body_mark(&s->other);
  }
}

void finish_poll(LoopProgram *p, LoopKernel *k) {
  (void)p;
  body_mark(&k->body);
}
