/* codegen/schedule/finish/once.c - removes loops of one iteration. In: a kernel's statements. Out: the same, where
 * such a loop's body stands in the enclosing block, behind `index v = lo`; if lo is a number or a name, it replaces v.
 * Thread loops stay: each is a function of the kernel. */
#include "finish.h"
#include "loop/walk.h"

typedef struct Once {
  LoopProgram *p;
  Exprs *x;
  const Expr **value;        /* by variable: its replacement; NULL: none */
} Once;

static const Expr *leaf_value(void *env, Exprs *x, const Expr *leaf) {
  const Once *o = env;
  (void)x;
  return leaf->kind == EX_LABEL && o->value[leaf->i] ? o->value[leaf->i] : leaf;
}

static const Expr *with_values(void *env, const Expr *e) {
  const Once *o = env;
  return e->has & HAS_LABEL ? expr_map(o->x, e, leaf_value, env) : e;
}

static bool runs_once(const Once *o, const LoopStmt *s) {
  if (s->kind != LOOP_FOR || s->bind == BIND_THREAD || s->bind == BIND_ROUND) return false;
  int64_t past;
  if (s->lo->kind == EX_INT && s->hi->kind == EX_INT && add_ok(s->lo->i, s->step, &past))
    return s->lo->i < s->hi->i && s->hi->i <= past;
  return s->step == 1 && s->hi == expr_op2(o->x, OP_ADD, s->lo, expr_int(o->x, DT_I64, 1));
}

static void body_put(Once *o, LoopBody *to, const LoopBody *from);

static void loop_put(Once *o, LoopBody *to, LoopStmt *s) {
  bool plain = s->lo->kind == EX_INT || s->lo->kind == EX_LABEL || s->lo->kind == EX_DIM;
  if (plain) {
    o->value[s->var] = s->lo;
  } else {
    LoopStmt *index = MAKE(o->p->arena, LoopStmt, .kind = LOOP_INDEX, .var = s->var, .lo = s->lo);
    vec_push(o->p->arena, *to, index);
  }
  body_put(o, to, &s->body);
}

static void body_put(Once *o, LoopBody *to, const LoopBody *from) {
  vec_each_of(LoopStmt, s, *from) {
    LoopBody body = {0}, other = {0};
    loop_stmt_exprs(s, with_values, o);
    if (runs_once(o, s)) {
      loop_put(o, to, s);
      continue;
    }
    body_put(o, &body, &s->body);
    body_put(o, &other, &s->other);
    s->body = body, s->other = other;
    vec_push(o->p->arena, *to, s);
  }
}

void finish_once(LoopProgram *p, LoopKernel *k) {
  Once o = {p, p->tasks->exprs, NEW_ARRAY(p->arena, const Expr *, k->var.len + 1)};
  LoopBody made = {0};
  body_put(&o, &made, &k->body);
  k->body = made;
}
