/* graph/passes/masks/find.c - finds the masks among the factors of a sum, written as people do:
 *
 *     if c == t[i] then 1 else 0      f32(j <= i)      1 - f32(j > i)      2 * (if p then x[j] else 0)
 *
 * in the product itself, or as vertices that it reads, which may compute them from conditions that are vertices too. */
#include "masks.h"

enum {
  DEPTH_MOST = 40,           /* of operations around masks */
  READ_MOST = 4,             /* vertices, one read by the other, whose masks or conditions are written out */
  SYMBOLS_MOST = 64          /* of such a vertex */
};

typedef struct Find {
  Arena *scratch;
  Exprs *p;
  Rules *rules;
  Masked *to;
  VEC(EinNode *) input;
  int read;                  /* vertices that are being written out */
  bool many;                 /* too many factors */
} Find;

/* A choice between two values. */
typedef struct Ways { const Expr *cond, *yes, *no; } Ways;

const Expr *condition_not(Exprs *p, const Expr *e) {
  const Expr *to = expr_opposite(p, e);
  if (to) return to;
  if (is_op(e, OP_NOT)) return e->arg[0];
  if (!is_op(e, OP_OR)) return expr_op1(p, OP_NOT, e);
  return expr_op2(p, OP_AND, condition_not(p, e->arg[0]), condition_not(p, e->arg[1]));
}

/* ---- choices ------------------------------------------------------------------------------------- */

static bool is_literal(const Expr *e) { return e->kind == EX_INT || e->kind == EX_REAL; }
static bool is_zero(const Expr *e) { return is_literal(e) && (e->kind == EX_REAL ? e->f == 0 : e->i == 0); }

static const Expr *number(Find *f, DType t, int v) {
  return dtype_is_float(t) ? expr_real(f->p, t, v) : expr_int(f->p, t, v);
}

/* The operation e with `arg` in place of argument k. */
static const Expr *with_arg(Find *f, const Expr *e, uint32_t k, const Expr *arg) {
  const Expr *all[2] = {e->arg[0], e->n > 1 ? e->arg[1] : NULL};
  uint32_t count = 0;
  all[k] = arg;
  const Expr *made = e->op == OP_CAST ? expr_cast(f->p, (DType)e->dtype, arg) : expr_with(f->p, e, all);
  return rules_apply(f->rules, made, &count);
}

static bool ways_of(Find *f, const Expr *e, Ways *w, int depth) {
  if (e->kind != EX_OP || depth > DEPTH_MOST || e->dtype == DT_BOOL) return false;
  bool cast = e->op == OP_CAST, joins = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  if (e->op == OP_SELECT) return *w = (Ways){e->arg[0], e->arg[1], e->arg[2]}, true;
  if (cast && e->arg[0]->dtype == DT_BOOL)
    return *w = (Ways){e->arg[0], number(f, (DType)e->dtype, 1), number(f, (DType)e->dtype, 0)}, true;
  if (!cast && e->op != OP_NEG && !joins) return false;
  uint32_t k = joins && is_literal(e->arg[0]) ? 1 : 0;
  if ((joins && !is_literal(e->arg[1 - k])) || !ways_of(f, e->arg[k], w, depth + 1)) return false;
  w->yes = with_arg(f, e, k, w->yes);
  w->no = with_arg(f, e, k, w->no);
  return true;
}

/* Whether e is 0 unless the condition holds, and the value then. */
static bool mask_of(Find *f, const Expr *e, const Expr **cond, const Expr **value) {
  Ways w;
  if (!ways_of(f, e, &w, 0) || (!is_zero(w.no) && !is_zero(w.yes))) return false;
  *cond = is_zero(w.no) ? w.cond : condition_not(f->p, w.cond);
  *value = is_zero(w.no) ? w.yes : w.no;
  return true;
}

/* ---- vertices that are masks, or conditions ------------------------------------------------------ */

static bool is_map(const EinNode *n) {
  const EinSum *s = n->sum;
  if (n->kind != EIN_VERTEX || s->by || s->domain || s->reducer != RED_NONE || n->rank != s->n_out) return false;
  for (uint32_t k = 0; n->merge && k < n->rank; k++)
    if (n->merge[k] != 1) return false;
  return true;
}

typedef struct Into { const Expr *const *label; uint32_t slot; } Into;

static const Expr *into_leaf(void *env, Exprs *p, const Expr *e) {
  const Into *to = env;
  if (e->kind == EX_LABEL) return to->label[e->i];
  return e->kind == EX_READ ? expr_read(p, (DType)e->dtype, e->i + to->slot, e->n, e->arg) : e;
}

static const Expr *leaf_written(void *env, Exprs *p, const Expr *read) {
  Find *f = env;
  const Expr *cond, *value;
  int32_t room = SYMBOLS_MOST;
  if (read->kind != EX_READ || f->read == READ_MOST || expr_can_fail(read)) return read;
  const EinNode *n = f->input.at[read->i];
  if (!is_map(n) || !expr_is_short(n->sum->body, &room) || expr_can_fail(n->sum->body)) return read;
  Into to = {read->arg, f->input.len};
  for (uint32_t k = 0; k < n->sum->n_slot; k++) vec_push(f->scratch, f->input, n->input[k]);
  f->read++;
  const Expr *e = expr_map(p, expr_map(p, n->sum->body, into_leaf, &to), leaf_written, f);
  f->read--;
  e = expr_cast(p, n->dtype, e);
  return n->dtype == DT_BOOL || mask_of(f, e, &cond, &value) ? e : read;
}

/* ---- products ------------------------------------------------------------------------------------ */

static void factor_add(Find *f, const Expr *e, bool divides, uint32_t within) {
  if (f->to->n_factor == MASK_FACTORS) f->many = true;
  else f->to->factor[f->to->n_factor++] = (MaskFactor){e, divides, within};
}

/* A conversion is taken apart only around a mask: else it may itself make an infinity. */
static bool is_converted_mask(Find *f, const Expr *e) {
  const Expr *cond, *value;
  int deep = 0;
  if (!is_op(e, OP_CAST) || e->arg[0]->dtype == DT_BOOL) return false;
  if (dtype_is_float((DType)e->dtype) != dtype_is_float((DType)e->arg[0]->dtype)) return false;
  for (e = e->arg[0]; deep < DEPTH_MOST && (is_op(e, OP_MUL) || is_op(e, OP_NEG) || is_op(e, OP_CAST)); deep++) {
    bool second = is_op(e, OP_MUL) && mask_of(f, e->arg[1], &cond, &value);
    if (second || mask_of(f, e, &cond, &value)) return true;
    e = e->arg[0];
  }
  return mask_of(f, e, &cond, &value);
}

/* The product without its masks; within: of the value of so many masks. */
static const Expr *stripped(Find *f, const Expr *e, uint32_t within, int depth) {
  Exprs *p = f->p;
  const Expr *cond, *value;
  bool deep = depth > DEPTH_MOST;
  if (!deep && mask_of(f, e, &cond, &value)) {
    f->to->where = expr_and(p, f->to->where, cond);
    f->to->n_mask++;
    return stripped(f, value, within + 1, depth + 1);
  }
  if (is_op(e, OP_MUL) && !deep) {
    const Expr *a = stripped(f, e->arg[0], within, depth + 1);
    return expr_op2(p, OP_MUL, a, stripped(f, e->arg[1], within, depth + 1));
  }
  if (is_op(e, OP_NEG) && !deep) return expr_op1(p, OP_NEG, stripped(f, e->arg[0], within, depth + 1));
  if (is_op(e, OP_DIV) && !deep) {
    factor_add(f, e->arg[1], true, within);
    return expr_op2(p, OP_DIV, stripped(f, e->arg[0], within, depth + 1), e->arg[1]);
  }
  if (!deep && is_converted_mask(f, e))
    return expr_cast(p, (DType)e->dtype, stripped(f, e->arg[0], within, depth + 1));
  factor_add(f, e, false, within);
  return e;
}

bool masks_find(Arena *scratch, Exprs *p, Rules *rules, const EinNode *n, Masked *to) {
  Find f = {.scratch = scratch, .p = p, .rules = rules, .to = to};
  for (uint32_t k = 0; k < n->sum->n_slot; k++) vec_push(scratch, f.input, n->input[k]);
  *to = (Masked){.sum = *n->sum, .at = *n};
  to->sum.body = expr_map(p, n->sum->body, leaf_written, &f);
  to->body = stripped(&f, to->sum.body, 0, 0);
  to->sum.n_slot = f.input.len;
  to->at.sum = &to->sum;
  to->at.input = f.input.at;
  return to->where && !f.many;
}
