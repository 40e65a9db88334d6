/* driver/data/rounding.c - estimates how far an output may be off because of rounding: for outputs that are small
 * because large values cancel, such as a residual, whose own size says nothing. In: a graph and the inputs' values;
 * out: an absolute error. Each tensor has one magnitude and one error. Where an operation's magnitude depends on
 * more than that (a division by something small, an exponential), both are underestimated, never overestimated. */
#include <math.h>

#include "driver/driver.h"
#include "driver/compile/native.h"

typedef struct Error { double most, off; } Error; /* the largest magnitude; its error */

typedef struct Rounding {
  Arena *arena;
  const Eval *e;
  Error *of;                 /* by node */
} Rounding;

static double unit_of(DType t) {
  switch (t) {
  case DT_F64: return 0x1p-53;
  case DT_F32: return 0x1p-24;
  case DT_F16: return 0x1p-11;
  case DT_BF16: return 0x1p-8;
  default: return 0;
  }
}

static Error error_larger(Error a, Error b) { return (Error){fmax(a.most, b.most), fmax(a.off, b.off)}; }

static Error rounded(Error x, DType t) { return (Error){x.most, x.off + unit_of(t) * x.most}; }

/* ---- expressions ----------------------------------------------------------------------------- */

static Error times(Error a, Error b) { return (Error){a.most * b.most, a.most * b.off + b.most * a.off}; }

static Error op_error(const Expr *e, const Error *x) {
  DType t = (DType)e->dtype;
  switch (e->op) {
  case OP_ADD:
  case OP_SUB: return rounded((Error){x[0].most + x[1].most, x[0].off + x[1].off}, t);
  case OP_MUL: return rounded(times(x[0], x[1]), t);
  case OP_DIV: return x[1].most > 0 ? rounded((Error){x[0].most / x[1].most, x[0].off / x[1].most}, t) : (Error){0};
  case OP_POW: return e->arg[1]->kind == EX_INT && e->arg[1]->i == 2 ? rounded(times(x[0], x[0]), t) : (Error){0};
  case OP_SQRT: return rounded((Error){sqrt(x[0].most), sqrt(x[0].off)}, t);
  case OP_NEG:
  case OP_ABS:
  case OP_STOP: return x[0];
  case OP_COS: return rounded((Error){1, fmin(x[0].off, 1)}, t);
  case OP_MOD: return dtype_is_int(t) ? (Error){x[1].most, 0} : (Error){0};
  case OP_IDIV: return dtype_is_int(t) ? (Error){x[0].most, 0} : (Error){0};
  case OP_SIN:
  case OP_TANH:
  /* erf is steepest: 2/sqrt(pi) */
  case OP_ERF: return rounded((Error){fmin(x[0].most, 1), fmin(1.2 * x[0].off, 1)}, t);
  case OP_UNIFORM:
  case OP_NORMAL: return (Error){1, 0}; /* the same function on both sides */
  case OP_CAST: return rounded(x[0], t);
  case OP_MAX:
  case OP_MIN:
  case OP_FMAX:
  case OP_FMIN: return error_larger(x[0], x[1]);
  case OP_SELECT: return error_larger(x[1], x[2]);
  default: return (Error){0};
  }
}

static bool dim_of(void *ctx, Str name, int64_t *out) {
  const Eval *e = ctx;
  for (uint32_t k = 0; k < e->n_dim; k++)
    if (e->dim[k].name == name) return *out = e->dim[k].value, true;
  return false;
}

static Error leaf_error(const Rounding *r, const EinNode *n, const Expr *e) {
  ExprEnv env = {.dim = dim_of, .ctx = (void *)(uintptr_t)r->e};
  Value v;
  if (e->kind == EX_READ) return r->of[n->input[e->i]->id];
  if (e->kind == EX_INT) return (Error){fabs((double)e->i), 0};
  if (e->kind == EX_LABEL && expr_value(n->bound[e->i], &env, &v)) return (Error){fmax(0, (double)v.i - 1), 0};
  if (e->kind == EX_DIM && expr_value(e, &env, &v)) return (Error){fabs((double)v.i), 0};
  if (e->kind == EX_REAL) return (Error){isfinite(e->f) ? fabs(e->f) : 0, 0};
  return (Error){0};
}

/* Arguments first, with an explicit stack: what a user writes may be long. */
static Error expr_error(const Rounding *r, const EinNode *n, const Expr *top) {
  VEC(const Expr *) todo = {0};
  Map done = map_new(r->arena);
  vec_push(r->arena, todo, top);
  while (todo.len) {
    const Expr *e = vec_last(todo);
    Error x[3] = {{0}};
    bool ready = true;
    for (uint32_t k = 0; k < e->n && e->kind == EX_OP; k++) {
      const Error *arg = map_find(&done, e->arg[k]);
      if (arg && k < COUNT(x)) x[k] = *arg;
      if (arg) continue;
      vec_push(r->arena, todo, e->arg[k]);
      ready = false;
    }
    if (!ready) continue;
    Error *made = NEW(r->arena, Error);
    *made = e->kind == EX_OP ? op_error(e, x) : leaf_error(r, n, e);
    if (!isfinite(made->most) || !isfinite(made->off)) *made = (Error){0};
    map_put(&done, e, made);
    (void)vec_pop(todo);
  }
  return *(const Error *)map_find(&done, top);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static double points(const Rounding *r, const EinNode *n) {
  ExprEnv env = {.dim = dim_of, .ctx = (void *)(uintptr_t)r->e};
  double all = 1;
  for (uint32_t k = n->sum->n_out; k < n->sum->n_out + n->sum->n_red; k++) {
    Value v;
    if (expr_value(n->bound[k], &env, &v)) all *= (double)v.i;
  }
  return all;
}

/* For many terms errors and signs are mixed: together they grow with the root of the number. */
static Error vertex_error(const Rounding *r, const EinNode *n) {
  Error x = expr_error(r, n, n->sum->body);
  double root = sqrt(points(r, n));
  switch (n->sum->reducer) {
  case RED_SUM: x = (Error){root * x.most, root * (x.off + unit_of(n->sum->acc) * x.most)}; break;
  case RED_NONE:
  case RED_MAX:
  case RED_MIN:
  case RED_FMAX:
  case RED_FMIN: break;
  default: x = (Error){0};
  }
  return rounded(x, n->dtype);
}

static Error input_error(const Rounding *r, const EinNode *n) {
  Error x = {0};
  for (uint32_t k = 0; k < r->e->n_input; k++) {
    const EvalArray *a = &r->e->input[k].array;
    if (r->e->input[k].name != n->name) continue;
    for (int64_t i = 0; i < a->count; i++) {
      double v = fabs(eval_real(a, i));
      if (isfinite(v)) x.most = fmax(x.most, v);
    }
    return x;
  }
  return n->fallback ? r->of[n->fallback->id] : x;
}

static Error state_error(const Rounding *r, const EinRegion *region, uint32_t k) {
  const EinState *s = &region->states.at[k];
  return error_larger(r->of[s->init->id], r->of[s->next->id]);
}

static void region_errors(Rounding *r, const EinRegion *region);

/* The outermost repeat is walked twice: the second turn begins with the result of the first. */
static void repeat_errors(Rounding *r, const EinRegion *body) {
  for (int turns = body->depth ? 1 : 2; turns > 0; turns--) {
    for (uint32_t k = 0; k < body->states.len; k++) r->of[body->states.at[k].node->id] = state_error(r, body, k);
    region_errors(r, body);
  }
}

static void region_errors(Rounding *r, const EinRegion *region) {
  vec_each_of(const EinNode, n, region->nodes) {
    if (n->kind == EIN_INPUT) r->of[n->id] = input_error(r, n);
    if (n->kind == EIN_VERTEX) r->of[n->id] = vertex_error(r, n);
    if (n->kind == EIN_FINAL) r->of[n->id] = state_error(r, n->repeat->body, n->index);
    if (n->kind == EIN_STACK) r->of[n->id] = r->of[n->repeat->body->stacks.at[n->index].node->id];
    if (n->kind == EIN_REPEAT) repeat_errors(r, n->body); /* GRAPH_DEPTH deep at most */
  }
}

double rounding_floor(Arena *a, const Eval *e, const EinNode *output) {
  const double margin = 8;
  Rounding r = {.arena = a, .e = e, .of = NEW_ARRAY(a, Error, e->graph->n_nodes + 1)};
  region_errors(&r, e->graph->top);
  return margin * r.of[output->id].off;
}
