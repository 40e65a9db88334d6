/* driver/data/opinion.c - the second opinion: under --expect, small programs without loops are also computed from
 * the AST, which shares nothing with elaboration, and every output must be the same. */
#include <math.h>
#include <string.h>

#include "front/oracle/ast_eval.h"
#include "driver/driver.h"

typedef struct Ask {
  Session *s;
  const Job *j;
  const Eval *e;
} Ask;

static bool dim_of(void *ctx, Str name, int64_t *out) {
  const Ask *k = ctx;
  return job_dim(k->j, name, out);
}

static bool input_of(void *ctx, Str name, AstTensor *wanted) {
  const Ask *k = ctx;
  for (uint32_t i = 0; i < k->e->n_input; i++) {
    const EvalArray *x = &k->e->input[i].array;
    if (k->e->input[i].name != name || x->dtype != wanted->dtype || x->count != wanted->count)
      continue;
    for (int64_t n = 0; n < x->count; n++) {
      wanted->at[n].dtype = x->dtype;
      if (dtype_is_float(x->dtype))
        wanted->at[n].f = eval_real(x, n);
      else
        wanted->at[n].i = eval_int(x, n);
    }
    return true;
  }
  return false;
}

static bool same_shape(const EvalArray *x, const AstTensor *t) {
  if (x->dtype != t->dtype || x->rank != t->rank || x->count != t->count) return false;
  return x->rank == 0 || memcmp(x->shape, t->shape, x->rank * sizeof *x->shape) == 0;
}

static bool same_element(const EvalArray *x, const AstTensor *t, int64_t k, double scale) {
  if (!dtype_is_float(x->dtype)) return eval_int(x, k) == t->at[k].i;
  return element_near(x, k, t->at[k].f, scale);
}

static double scale_of(const AstTensor *t) {
  double most = 0;
  for (int64_t k = 0; k < t->count && dtype_is_float(t->dtype); k++)
    if (isfinite(t->at[k].f)) most = fmax(most, fabs(t->at[k].f));
  return most;
}

static void value_text(Buf *b, Value v) {
  if (dtype_is_float(v.dtype))
    double_print(b, v.f);
  else
    buf_printf(b, "%lld", (long long)v.i);
}

static void type_text(Buf *b, DType t, uint32_t rank, const int64_t *shape) {
  buf_char(b, '[');
  for (uint32_t d = 0; d < rank; d++) buf_printf(b, "%s%lld", d ? ", " : "", (long long)shape[d]);
  buf_printf(b, "] : %s", dtype_name(t));
}

static Leave other_type(Session *s, Str name, const EvalArray *x, const AstTensor *t) {
  Buf b = buf_new(s->arena);
  type_text(&b, x->dtype, x->rank, x->shape);
  buf_str(&b, " by the graph, and ");
  type_text(&b, t->dtype, t->rank, t->shape);
  return fail(s, LEAVE_BUG, "%s is %s by the AST evaluator", name->s, b.s);
}

static Leave compare(Ask *k, Str name, const EvalArray *x, const AstTensor *t) {
  if (!same_shape(x, t)) return other_type(k->s, name, x, t);
  double scale = scale_of(t);
  for (int64_t n = 0; n < x->count; n++) {
    if (same_element(x, t, n, scale)) continue;
    Buf b = buf_new(k->s->arena);
    report_element(&b, x, n);
    buf_str(&b, ", and by the AST evaluator ");
    value_text(&b, t->at[n]);
    return fail(k->s, LEAVE_BUG, "element %lld of %s is %s by the graph", (long long)n, name->s,
                b.s);
  }
  return LEAVE_OK;
}

/* NULL if the evaluator has none of that name. */
static const AstTensor *tensor_find(const AstEval *a, Str name) {
  for (uint32_t i = a->tensors.len; i-- > 0;)
    if (a->tensors.at[i]->name == name) return a->tensors.at[i];
  return NULL;
}

Leave opinion_check(Session *s, const Job *j, const Eval *e) {
  Ask ask = {s, j, e};
  const Program *p = j->program;
  AstFile **modules = NEW_ARRAY(s->arena, AstFile *, p->modules.len + 1);
  for (uint32_t i = 0; i < p->modules.len; i++) modules[i] = p->modules.at[i].file;
  AstEval a = {.arena = s->arena,
               .strings = s->strings,
               .modules = modules,
               .n_modules = p->modules.len,
               .file = p->file,
               .dim = dim_of,
               .input = input_of,
               .ctx = &ask,
               .exprs = e->graph->exprs};
  const char *why = "";
  Span where = {0};
  if (!ast_eval(&a, &why, &where)) {
    detail(s, "no second opinion: %s", why);
    return LEAVE_OK;
  }
  for (uint32_t i = 0; i < e->graph->outputs.len; i++) {
    Str name = e->graph->outputs.at[i].name;
    const AstTensor *t = tensor_find(&a, name);
    Leave l = t ? compare(&ask, name, &e->output[i], t) : LEAVE_OK;
    if (l) return l;
  }
  detail(s, "the second opinion agrees");
  return LEAVE_OK;
}
