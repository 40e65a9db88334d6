/* codegen/schedule/finish/fuse.c - chooses which products and sums become one operation, `fma`. In: a kernel's
 * statements. Out: the same, where an f32 or f64 sum, or a difference, of a product is the fma of its three operands.
 * Of two products the first is fused, and of a product of three factors the last multiplication, in the expression's
 * order. Of a product that is subtracted, a factor is negated that moves along the lanes: compilers have operations
 * that subtract a product of vectors, but gcc would negate a value that the lanes share before it is in a vector.
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

/* lane: the variable of the vector loop around, NO_LANE if there is none. */
typedef struct Fuse { Exprs *x; int64_t lane; } Fuse;
enum { NO_LANE = -1 };

static const Expr *fma_less(const Fuse *f, const Expr *a, const Expr *b, const Expr *c) {
  bool second = f->lane != NO_LANE && expr_has_label(b, f->lane) && !expr_has_label(a, f->lane);
  return second ? fma_of(f->x, a, negative(f->x, b), c) : fma_of(f->x, negative(f->x, a), b, c);
}

static const Expr *fuse_op(void *env, Exprs *x, const Expr *e) {
  if (e->kind != EX_OP || (e->op != OP_ADD && e->op != OP_SUB) || !is_wide(e)) return e;
  const Expr *a = e->arg[0], *b = e->arg[1];
  bool less = e->op == OP_SUB;
  if (is_product(a)) return fma_of(x, a->arg[0], a->arg[1], less ? negative(x, b) : b);
  if (!is_product(b)) return e;
  return less ? fma_less(env, b->arg[0], b->arg[1], a) : fma_of(x, b->arg[0], b->arg[1], a);
}

static const Expr *fuse(void *env, const Expr *e) {
  Fuse *f = env;
  return expr_map_ops(f->x, e, fuse_op, f);
}

static void body_fuse(Fuse *f, LoopBody *b) {
  int64_t around = f->lane;
  vec_each_of(LoopStmt, s, *b) {
    loop_stmt_exprs(s, fuse, f);
    if (s->kind == LOOP_FOR && s->bind == BIND_VECTOR) f->lane = s->var;
    body_fuse(f, &s->body);
    body_fuse(f, &s->other);
    f->lane = around;
  }
}

void finish_fuse(LoopProgram *p, LoopKernel *k) { body_fuse(&(Fuse){p->tasks->exprs, NO_LANE}, &k->body); }
