/* front/elab/core_reduce.c - from the AST of a reducer to Core: which labels it binds, how far it reaches, whether
 * it can reduce its operand, and in which dtype. Later reduce.c makes a vertex of it. */
#include "elab.h"

#include <string.h>

/* ---- what it wants ---------------------------------------------------------------------------- */

/* The comparison that follows directly, and its length; NULL: something else follows. */
static const char *comparison_behind(Span at, int *n) {
  static const char *const sign[] = {"==", "!=", "<=", ">=", "<", ">", "≠", "≤", "≥"};
  const char *s = at.src->bytes + at.end;
  s += strspn(s, " \t");
  for (size_t i = 0; i < COUNT(sign); i++)
    if (strncmp(s, sign[i], strlen(sign[i])) == 0) return *n = (int)strlen(sign[i]), s;
  return NULL;
}

/* `all[s] x[s] != 3`: a reducer only reaches over products. */
static bool reducer_wants_bool(Elab *x, const Ast *a, const Core *body) {
  int n = 0;
  const char *sign = a->call_form || !a->span.src ? NULL : comparison_behind(a->span, &n),
             *word = reducer_info[a->op].name;
  if (body->type.dtype == DT_BOOL || !sign) return want_bool(x, body, a->op_span, word);
  Diag *d = diag_add(x->diags, D_E080, body->span, "%s wants a condition, and this is %s", word, type_name(body->type));
  diag_at(x->diags, d, a->op_span, "its reach ends before the `%.*s`", n, sign);
  Span head = {a->span.src, a->span.at, body->span.at};
  diag_hint(x->diags, d, "put the comparison in parentheses: `%s(%s %.*s ...)`", source_text(x, head),
      source_text(x, body->span), n, sign);
  x->equation.failed = true;
  return false;
}

static bool reducer_wants(Elab *x, const Ast *a, const Core *body) {
  Reducer r = (Reducer)a->op;
  ReducerTypes types = reducer_info[r].types;
  if (types == REDUCES_TEST) return reducer_wants_bool(x, a, body);
  bool number = body->type.dtype != DT_BOOL || types == REDUCES_SUM || types == REDUCES_MEAN;
  if (number) return true;
  Diag *d = diag_add(x->diags, D_E086, body->span, "%s wants numbers, and this is bool", reducer_info[r].name);
  diag_at(x->diags, d, a->op_span, "wants a number");
  if (r == RED_MAX || r == RED_FMAX) diag_hint(x->diags, d, "the max of conditions is `any`");
  else if (r == RED_MIN || r == RED_FMIN) diag_hint(x->diags, d, "the min of conditions is `all`");
  else diag_hint(x->diags, d, "`i64(%s)` makes a number of it, 1 or 0", source_text(x, body->span));
  return false;
}

/* ---- which labels ------------------------------------------------------------------------------ */

/* sum(e): every label of e that nothing else binds. */
static bool call_form_labels(Elab *x, Scope *s, const Ast *a, const Core *body, LabelSet *out) {
  if (s->frame) {
    Diag *d = diag_add(x->diags, D_E057, a->op_span, "a reducer inside a def must name its labels");
    const char *word = reducer_info[a->op].name, *def = s->frame->def->name.s->s;
    if (s->frame->def->items.len)
      diag_hint(x->diags, d, "write `%s[%s] ...`", word, ast_item_label(&s->frame->def->items.at[0])->s);
    else diag_hint(x->diags, d, "give the def a label, `def %s[k](...)`, and reduce that: `%s[k] ...`", def, word);
    return false;
  }
  for (uint32_t i = 0; i < body->free.n; i++) {
    LabelVar *v = body->free.at[i];
    const LabelVar *outmost = v;
    bool bound = set_has(s->reduced, v);
    for (const Scope *o = s->outside; o; o = o->outside) {
      outmost = label_find(o->labels, v->name);
      bound |= outmost && set_has(o->reduced, outmost);
    }
    if (!bound && !(outmost && outmost->left)) *out = set_union(x, *out, set_one(x, v));
  }
  if (out->n) return true;
  const char *word = reducer_info[a->op].name;
  Diag *d = diag_add(x->diags, D_E058, a->span, "%s(...) has no label left to reduce", word);
  if (!body->free.n) diag_hint(x->diags, d, "there are no labels in it");
  else
    diag_hint(x->diags, d, "%s is on the left or reduced outside already; `%s[%s] ...` reduces over all of it",
        body->free.at[0]->name->s, word, body->free.at[0]->name->s);
  return false;
}

/* The end of the text before `at`, without the operator and spaces. */
static uint32_t reach_end(const Source *src, uint32_t at) {
  while (at && strchr(" \t\r\n*/%", src->bytes[at - 1])) at--;
  return at;
}

/* Is this a reducer's word and brackets, with nothing behind them? */
static bool reach_empty(const Source *src, uint32_t at, uint32_t end) {
  int depth = 0;
  for (; at < end; at++) {
    depth += (src->bytes[at] == '[') - (src->bytes[at] == ']');
    if (src->bytes[at] == ']' && !depth) break;
  }
  return at + 1 >= end;
}

static bool check_reach(Elab *x, Scope *s, const Ast *a, LabelSet labels) {
  for (uint32_t i = 0; s->reach && i < labels.n; i++) {
    if (!set_has(s->reduced, labels.at[i])) continue;
    Diag *d = diag_add(x->diags, D_E059, a->op_span, "this %s binds %s again inside the reach of another reducer",
                       reducer_info[a->op].name, labels.at[i]->name->s);
    diag_at(x->diags, d, *s->reach, "this one's reach takes in the whole product after it");
    Span first = {s->reach->src, s->reach->at, reach_end(s->reach->src, a->span.at)};
    if (reach_empty(first.src, first.at, first.end))
      diag_hint(x->diags, d, "one of the two needs another label than %s", labels.at[i]->name->s);
    else diag_hint(x->diags, d, "put the first in parentheses: `(%s)`", source_text(x, first));
    return false;
  }
  return true;
}

static void warn_label_absent(Elab *x, Scope *s, const Ast *a, const Core *c) {
  if (!c->arg[0]) return;
  for (uint32_t i = 0; i < c->labels.n; i++) {
    const LabelVar *v = c->labels.at[i];
    if (set_has(c->arg[0]->free, v) || (c->arg[1] && set_has(c->arg[1]->free, v)) || s->frame) continue;
    Diag *d = diag_add(x->diags, D_W002, a->op_span, "label %s does not occur in what is reduced", v->name->s);
    diag_hint(x->diags, d, "the %s repeats the same value; leave %s out if that is not meant", reducer_info[a->op].name,
        v->name->s);
  }
}

/* ---- the whole --------------------------------------------------------------------------------- */

static bool reduce_parts(Elab *x, Scope *s, const Ast *a, LabelSet *labels, Core **body, Core **where) {
  Scope in = *s;
  if (!a->call_form) {
    if (!labels_from_items(x, s, &a->items, labels, "a reducer", true) || !check_reach(x, s, a, *labels)) return false;
    for (uint32_t i = 0; i < labels->n; i++) labels->at[i]->used = true, labels->at[i]->reduced = a;
    in.reduced = set_union(x, s->reduced, *labels);
  }
  if (a->where) {
    Scope p = in;
    p.reach = NULL;
    *where = core_from_ast(x, &p, a->where);
    if (!*where || !want_bool(x, *where, (Span){0}, "where")) return false;
  }
  in.reach = a->call_form ? NULL : &a->op_span;
  if (a->a && !(*body = core_from_ast(x, &in, a->a))) return false;
  if (a->call_form && !call_form_labels(x, s, a, *body, labels)) return false;
  return !*body || reducer_wants(x, a, *body);
}

static Core *core_reduce_made(Elab *x, Reducer r, Span span, LabelSet labels, Core *body, Core *where, int acc) {
  Core *arg[2] = {body, where};
  Core *c =
      core_with(x, CORE_REDUCE, span, type_reduced(r, body ? type_arith(body->type) : type_firm(DT_I64), acc), 2, arg);
  c->free = set_minus(x, c->free, labels);
  c->labels = labels;
  c->reducer = r;
  c->acc = acc;
  return c;
}

/* sum:f64 of anything, sum:i32 of integers only: an accumulator must represent its operands exactly. */
static bool accumulator_fits(Elab *x, const Ast *a, const Core *body) {
  DType acc = (DType)a->acc, t = body->type.dtype;
  if (acc == DT_BOOL || (reducer_info[a->op].types == REDUCES_REAL && !dtype_is_float(acc))) {
    Diag *d = diag_add(
        x->diags, D_E088, a->op_span, "%s does not accumulate in %s", reducer_info[a->op].name, dtype_name(acc));
    diag_hint(x->diags, d, "leave `:%s` out", dtype_name(acc));
    return false;
  }
  if (dtype_is_float(acc) || !dtype_is_float(t)) return true;
  Diag *d = diag_add(
      x->diags, D_E089, body->span, "this is %s and does not become %s by itself", dtype_name(t), dtype_name(acc));
  diag_hint(x->diags, d, "convert it: `%s(...)`", dtype_name(acc));
  return false;
}

Core *core_reduce(Elab *x, Scope *s, const Ast *a) {
  Core *body = NULL, *where = NULL;
  LabelSet labels = {0};
  if (!reduce_parts(x, s, a, &labels, &body, &where)) return core_failed(x);
  Reducer r = (Reducer)a->op;
  if (reducer_is_arg(r) && a->items.len > 1) {
    Diag *d = diag_add(x->diags, D_E087, a->op_span, "%s takes one label or one group", reducer_info[r].name);
    Buf b = buf_new(x->arena);
    for (uint32_t i = 0; i < labels.n; i++) buf_printf(&b, "%s%s", i ? " " : "", labels.at[i]->name->s);
    diag_hint(x->diags, d, "write a group: `%s[(%s)] ...` counts row by row", reducer_info[r].name, b.s);
    return core_failed(x);
  }
  if (a->acc >= 0 && !reducer_accumulates(r)) {
    Diag *d = diag_add(x->diags, D_E088, a->op_span, "%s has no accumulator to choose", reducer_info[r].name);
    diag_hint(x->diags, d, "leave `:%s` out, or convert what it reduces", dtype_name((DType)a->acc));
    return core_failed(x);
  }
  if (a->acc >= 0 && !accumulator_fits(x, a, body)) return core_failed(x);
  if (labels.n > GRAPH_LABELS / 2) {
    diag_add(x->diags, D_E095, a->op_span, "more than %d labels in one reducer", GRAPH_LABELS / 2);
    return core_failed(x);
  }
  where = reduce_restrict(x, s, labels, where, a->span);
  Core *c = core_reduce_made(x, r, a->span, labels, body, where, a->acc);
  c->op_span = a->op_span;
  warn_label_absent(x, s, a, c);
  return c;
}
