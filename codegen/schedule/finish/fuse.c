/* codegen/schedule/finish/fuse.c - chooses which products and sums become one operation, `fma`. In: a kernel's
 * statements. Out: the same, where an f32 or f64 sum, or a difference, of a product is the fma of its three operands.
 * Of two products the first is fused, and of a product of three factors the last multiplication, in the expression's
 * order.
 *
 * No compiler makes that choice again: what is not fma here is rounded twice. So the bits of a result depend neither
 * on the compiler nor on its flags; docs/semantics.md says what they do depend on. */
#include "finish.h"
#include "loop/walk.h"

static bool is_wide(const Expr *e) { return e->dtype == DT_F32 || e->dtype == DT_F64; }
static bool is_product(const Expr *e) { return e->kind == EX_OP && e->op == OP_MUL; }

static const Expr *fma_of(Exprs *x, const Expr *a, const Expr *b, const Expr *c) {
  const Expr *arg[] = {a, b, c};
  return expr_op(x, OP_FMA, COUNT(arg), arg);
}

static const Expr *negative(Exprs *x, const Expr *e) {
  if (e->kind == EX_REAL) return expr_real(x, (DType)e->dtype, -e->f);
  return expr_op1(x, OP_NEG, e);
}

static const Expr *fuse_op(void *env, Exprs *x, const Expr *e) {
  (void)env;
  if (e->kind != EX_OP || (e->op != OP_ADD && e->op != OP_SUB) || !is_wide(e)) return e;
  const Expr *a = e->arg[0], *b = e->arg[1];
  bool less = e->op == OP_SUB;
  if (is_product(a)) return fma_of(x, a->arg[0], a->arg[1], less ? negative(x, b) : b);
  if (is_product(b)) return fma_of(x, less ? negative(x, b->arg[0]) : b->arg[0], b->arg[1], a);
  return e;
}

static const Expr *fuse(void *env, const Expr *e) { return expr_map_ops(env, e, fuse_op, NULL); }

void finish_fuse(LoopProgram *p, LoopKernel *k) { loop_exprs(&k->body, fuse, p->tasks->exprs); }
