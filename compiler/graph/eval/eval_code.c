/* graph/eval/eval_code.c - compiles an expression to a register program.
 *
 * Each subexpression has its own register; labels, turns and constants need no instruction. `and`, `or` and `select`
 * jump, so their arguments run only where they are needed. A shared subexpression is still computed once per point:
 * without lazy operations, at its first use; otherwise, if it reads nothing (and so cannot fail), ahead of its uses,
 * and if it reads, as a part that is called and runs only on the first call. Nothing here recurses, so nesting may
 * be arbitrarily deep. */
#include <stdlib.h>

#include "eval_inside.h"

typedef struct Info {
  const Expr *e;
  uint32_t reg, uses;
  uint32_t part;             /* 1 + the number of its part, if it is called; 0: it is not */
  bool done;                 /* nothing to emit any more */
} Info;

typedef struct Step { Info *info; uint32_t stage, jump, jump2; } Step;

typedef struct Making {
  Builder *b;
  Arena *arena;
  Map info;                  /* Expr to Info */
  VEC(Info *) all;
  VEC(Info *) parts;
  VEC(Inst) code;
  VEC(uint32_t) extra;
  VEC(const Extern *) calls;
  VEC(Step) stack;
  bool lazy;
} Making;

void builder_start(Builder *b, Run *r, const EinNode *node, uint32_t n_label, uint32_t n_turn) {
  *b = (Builder){.run = r, .node = node, .n_label = n_label, .n_turn = n_turn};
  for (uint32_t i = 0; i < n_label + n_turn + 2; i++) vec_push(r->arena, b->reg, (Cell){0});
}

uint32_t builder_param(const Builder *b, int64_t k) {
  return b->n_label + b->n_turn + (uint32_t)k;
}

static uint32_t register_new(Builder *b, Cell x) {
  vec_push(b->run->arena, b->reg, x);
  return b->reg.len - 1;
}

/* Returns e's register; a constant's register holds its value from now on. */
static uint32_t register_of(Builder *b, const Expr *e) {
  Cell x = {.i = e->kind == EX_INT ? e->i : 0};
  switch ((ExprKind)e->kind) {
  case EX_LABEL: BUG_UNLESS(e->i >= 0 && e->i < b->n_label); return (uint32_t)e->i;
  case EX_TURN: BUG_UNLESS(e->i >= 0 && e->i < b->n_turn); return b->n_label + (uint32_t)e->i;
  case EX_PARAM: BUG_UNLESS(e->i == 0 || e->i == 1); return builder_param(b, e->i);
  case EX_REAL: x = cell_cast((Cell){.f = e->f}, DT_F64, (DType)e->dtype); break;
  case EX_DIM:
    if (dim_find(b->run, e->name, &x.i)) break;
    b->failed = true;
    eval_fail(b->run, EVAL_MISSING, b->node ? b->node->place : (Place){0}, "no size is given for %s", e->name->s);
    break;
  default: break;
  }
  return register_new(b, x);
}

static bool is_lazy(const Expr *e) {
  return e->kind == EX_OP && (e->op == OP_AND || e->op == OP_OR || e->op == OP_SELECT);
}

static Info *info_of(Making *m, const Expr *e) {
  Info *i = map_find(&m->info, e);
  if (i) return i;
  i = MAKE(m->arena, Info, .e = e, .reg = register_of(m->b, e), .done = e->kind != EX_OP && e->kind != EX_READ);
  map_put(&m->info, e, i);
  vec_push(m->arena, m->all, i);
  m->lazy |= is_lazy(e);
  return i;
}

static uint32_t reg_of(Making *m, const Expr *e) {
  return info_of(m, e)->reg;
}

static uint32_t emit(Making *m, uint32_t op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
  vec_push(m->arena, m->code, ((Inst){op, dst, a, b, c}));
  return m->code.len - 1;
}

/* Emits, between the arguments of a lazy operation, the test whether the next one is computed. */
static void emit_between(Making *m, Step *s) {
  const Expr *e = s->info->e;
  uint32_t dst = s->info->reg, a = reg_of(m, e->arg[0]);
  if (e->op == OP_SELECT && s->stage == 1) {
    s->jump = emit(m, I_JUMP_UNLESS, 0, a, 0, 0);
  } else if (e->op == OP_SELECT) {
    emit(m, I_MOVE, dst, reg_of(m, e->arg[1]), 0, 0);
    s->jump2 = emit(m, I_JUMP, 0, 0, 0, 0);
    m->code.at[s->jump].dst = m->code.len;
  } else {
    emit(m, I_MOVE, dst, a, 0, 0);
    s->jump = emit(m, e->op == OP_AND ? I_JUMP_UNLESS : I_JUMP_IF, 0, a, 0, 0);
  }
}

static void emit_lazy_end(Making *m, const Step *s) {
  const Expr *e = s->info->e;
  emit(m, I_MOVE, s->info->reg, reg_of(m, e->arg[e->n - 1]), 0, 0);
  m->code.at[e->op == OP_SELECT ? s->jump2 : s->jump].dst = m->code.len;
}

static void emit_read(Making *m, const Info *i) {
  const Expr *e = i->e;
  const EinNode *n = m->b->node;
  BUG_UNLESS(n && n->sum && e->i >= 0 && e->i < n->sum->n_slot);
  BUG_UNLESS(n->input[e->i]->rank == e->n && n->input[e->i]->dtype == e->dtype);
  uint32_t extra = m->extra.len;
  for (uint32_t k = 0; k < e->n; k++) {
    uint32_t reg = reg_of(m, e->arg[k]);
    vec_push(m->arena, m->extra, reg);
  }
  emit(m, I_READ + e->dtype, i->reg, (uint32_t)e->i, extra, e->n);
}

/* Whether the result of floats is rounded: not of what passes one of its arguments on, or makes a whole number. */
static bool op_rounds(Op op) {
  return !(op_info[op].laws & LAW_IDEMPOTENT) && op != OP_NEG && op != OP_STOP && op != OP_IDIV && op != OP_MOD;
}

/* Rounds or wraps results of arithmetic to their dtype. */
static void emit_round(Making *m, const Info *i) {
  DType t = (DType)i->e->dtype;
  OpRule rule = op_info[i->e->op].rule;
  if (m->b->run->shake && class_of(t) != CL_I && (rule == RULE_SAME || rule == RULE_REAL) && op_rounds((Op)i->e->op))
    emit(m, I_SHAKE, i->reg, 0, t, 0);
  if (rule != RULE_SAME && rule != RULE_REAL && rule != RULE_INT) return;
  if (dtype_is_half(t)) emit(m, I_NARROW, i->reg, 0, t, 0);
  if (class_of(t) == CL_I && t != DT_I64) emit(m, I_WRAP, i->reg, 0, t, 0);
}

static void emit_call(Making *m, const Info *i) {
  const Expr *e = i->e;
  Builder *b = m->b;
  uint32_t extra = m->extra.len;
  if (!e->by->call && !b->failed) {
    b->failed = true;
    eval_fail(b->run, EVAL_MISSING, b->node ? b->node->place : (Place){0}, "the C function %s has not been loaded",
        e->by->name->s);
  }
  for (uint32_t k = 0; k < e->n; k++) {
    uint32_t reg = reg_of(m, e->arg[k]);
    vec_push(m->arena, m->extra, reg);
  }
  vec_push(m->arena, m->calls, e->by);
  emit(m, I_CALL, i->reg, m->calls.len - 1, extra, 0);
}

static void emit_op(Making *m, const Info *i) {
  const Expr *e = i->e;
  uint32_t arg[3] = {0};
  BUG_UNLESS(e->n >= 1 && e->n <= 3);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = reg_of(m, e->arg[k]);
  DType from = (DType)e->arg[0]->dtype;
  if (e->op == OP_CAST) {
    emit(m, I_CAST, i->reg, arg[0], from, e->dtype);
    return;
  }
  emit(m, CODE(e->op, class_of(from)), i->reg, arg[0], arg[1], arg[2]);
  emit_round(m, i);
}

static void emit_end(Making *m, const Step *s) {
  if (s->info->e->kind == EX_READ) emit_read(m, s->info);
  else if (is_lazy(s->info->e)) emit_lazy_end(m, s);
  else if (s->info->e->op == OP_EXTERN) emit_call(m, s->info);
  else emit_op(m, s->info);
  if (!s->info->part) s->info->done = true;
}

/* Handles an expression that needs no code here: it was computed already, or a call does it. */
static bool emit_short(Making *m, const Info *i) {
  if (i->done) return true;
  if (!i->part) return false;
  emit(m, I_ONCE, i->part - 1, 0, 0, 0);
  return true;
}

static void emit_expr(Making *m, Info *top) {
  if (top->done) return;
  vec_push(m->arena, m->stack, ((Step){.info = top}));
  while (m->stack.len) {
    Step *s = &vec_last(m->stack);
    const Expr *e = s->info->e;
    if (s->stage == e->n) {
      emit_end(m, s);
      m->stack.len--;
      continue;
    }
    if (s->stage && is_lazy(e)) emit_between(m, s);
    Info *arg = info_of(m, e->arg[s->stage++]);
    if (!emit_short(m, arg)) vec_push(m->arena, m->stack, ((Step){.info = arg}));
  }
}

/* Finds all of e's subexpressions and counts their uses. */
static Info *survey(Making *m, const Expr *e) {
  Info *top = info_of(m, e);
  for (uint32_t k = 0; k < m->all.len; k++) {
    const Expr *x = m->all.at[k]->e;
    for (uint32_t i = 0; i < x->n; i++) info_of(m, x->arg[i])->uses++;
  }
  return top;
}

static int by_id(const void *a, const void *b) {
  uint32_t x = (*(Info *const *)a)->e->id, y = (*(Info *const *)b)->e->id;
  return x < y ? -1 : x > y;
}

/* With lazy operations: shared subexpressions that read become parts; the others are computed now, arguments (which
 * are older) first. */
static void emit_shared(Making *m) {
  VEC(Info *) ahead = {0};
  vec_each_of(Info, i, m->all) {
    if (i->uses < 2 || i->done) continue;
    if (i->e->has & HAS_READ) {
      vec_push(m->arena, m->parts, i);
      i->part = m->parts.len;
    } else {
      vec_push(m->arena, ahead, i);
    }
  }
  if (ahead.len) qsort(ahead.at, ahead.len, sizeof ahead.at[0], by_id);
  for (uint32_t k = 0; k < ahead.len; k++) emit_expr(m, ahead.at[k]);
}

static Code *code_finish(Making *m, uint32_t result, const uint32_t *part) {
  Arena *a = m->b->run->arena;
  Code *c = NEW(a, Code);
  uint32_t n = m->parts.len;
  c->at = arena_copy(a, m->code.at, m->code.len * sizeof m->code.at[0]);
  c->extra = arena_copy(a, m->extra.at, m->extra.len * sizeof(uint32_t));
  c->call = arena_copy(a, m->calls.at, m->calls.len * sizeof m->calls.at[0]);
  c->part = arena_copy(a, part, n * sizeof(uint32_t));
  c->shake = &m->b->run->shake;
  c->ran = NEW_ARRAY(a, uint64_t, n + 1);
  c->calls = NEW_ARRAY(a, uint32_t, n + 1);
  c->result = result;
  return c;
}

Code *code_new(Builder *b, const Expr *e, DType want) {
  Arena *a = arena_new();
  Making m = {.b = b, .arena = a, .info = map_new(a)};
  Info *top = survey(&m, e);
  if (m.lazy) emit_shared(&m);
  emit_expr(&m, top);
  uint32_t result = top->reg;
  if (e->dtype != want) {
    result = register_new(b, (Cell){0});
    emit(&m, I_CAST, result, top->reg, e->dtype, want);
  }
  emit(&m, I_END, 0, 0, 0, 0);
  uint32_t *part = NEW_ARRAY(a, uint32_t, m.parts.len + 1);
  for (uint32_t k = 0; k < m.parts.len; k++) {
    part[k] = m.code.len;
    emit_expr(&m, m.parts.at[k]);
    emit(&m, I_RETURN, 0, 0, 0, 0);
  }
  Code *c = code_finish(&m, result, part);
  arena_free(a);
  return c;
}
