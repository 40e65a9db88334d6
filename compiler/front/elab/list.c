/* front/elab/list.c - lists of values on a right side: `w[k] = [1, 2, 1]`, `R[i,j] = [[a, b], [c, d]]`.
 *
 * A list goes along one label of the left, and says how large it is. It becomes selections by that label, nested as a
 * balanced tree, so that a list of n elements takes log n comparisons. */
#include "elab.h"

enum { LIST_MOST = 1024 }; /* each value becomes code */

static uint32_t values_of(const Ast *a) {
  uint32_t n = a->kind != AST_LIST;
  for (uint32_t i = 0; a->kind == AST_LIST && i < a->args.len; i++) n += values_of(a->args.at[i]);
  return n;
}

static bool complain_long(Elab *x, const Ast *a) {
  uint32_t n = values_of(a);
  if (n <= LIST_MOST) return false;
  Diag *d = diag_add(x->diags, D_E095, a->span, "a list of %u values; the most are %d", n, LIST_MOST);
  diag_hint(x->diags, d, "so many are data: `input w[k:%u]`, and a file for it", a->args.len);
  return x->equation.failed = true;
}

static Core *complain_place(Elab *x, const Ast *a) {
  Span left = a->op_span;
  if (!left.src || left.at == left.end) { /* the prompt gives an expression a name without a position */
    Diag *d = diag_add(x->diags, D_E025, a->span, "a list is the whole right side of an equation, not part of one");
    const char *list = a->span.end - a->span.at <= 40 ? source_text(x, a->span) : "[...]";
    diag_hint(x->diags, d, "give it a name, `w[k] = %s`, and read `w[k]`", list);
    return core_failed(x);
  }
  Diag *d = diag_add(x->diags, D_E025, a->span, "there is no label along which this list goes");
  diag_note(x->diags, d, "a list of %u", a->args.len);
  diag_at(x->diags, d, left, "the labels stand here");
  diag_hint(x->diags, d, "each level of lists takes a label of the left, from the first: `w[k] = [1, 2, 1]`, "
      "`A[i,j] = [[1, 2], [3, 4]]`, `input w[k:3] = [1, 2, 1]`");
  return core_failed(x);
}

static bool complain_mixed(Elab *x, const Ast *a) {
  const Ast *first = a->args.at[0];
  for (uint32_t i = 1; i < a->args.len; i++) {
    const Ast *e = a->args.at[i];
    if ((e->kind == AST_LIST) == (first->kind == AST_LIST)) continue;
    Diag *d = diag_add(x->diags, D_E025, e->span, "the elements of a list are all lists, or none of them is");
    diag_note(x->diags, d, e->kind == AST_LIST ? "a list" : "no list");
    diag_at(x->diags, d, first->span, first->kind == AST_LIST ? "a list" : "no list");
    return x->equation.failed = true;
  }
  return false;
}

/* The elements from `from` up to `to`, chosen by the label. */
static Core *chosen(Elab *x, const Ast *a, LabelVar *label, Core **element, uint32_t from, uint32_t to) {
  if (to - from == 1) return element[from];
  uint32_t middle = from + (to - from) / 2;
  Core *below = chosen(x, a, label, element, from, middle), *above = chosen(x, a, label, element, middle, to);
  Core *bound = core_const(x, expr_int(x->exprs, DT_I64, middle), (Type){DT_I64, WEAK_LITERAL}, a->span);
  if (!below || !above) return core_failed(x);
  Core *is_below = core_op(x, OP_LT, a->span, 2, (Core *[]){core_label(x, label, a->span), bound});
  return is_below ? core_chosen(x, a->span, "elements", (Core *[]){is_below, below, above}) : core_failed(x);
}

Core *core_list(Elab *x, Scope *s, const Ast *a) {
  if (!a->name.s) return complain_place(x, a);
  if (complain_mixed(x, a) || complain_long(x, a)) return core_failed(x);
  Core *along = core_from_ast(x, s, &(Ast){.kind = AST_NAME, .span = a->name.span, .name = a->name});
  if (!along || along->kind != CORE_LABEL) return core_failed(x); /* the left has a complaint */
  label_fact(x, along->label, expr_int(x->exprs, DT_I64, a->args.len), a->span, "the list");
  Scope in = *s;
  in.reach = NULL;
  bool ok = true;
  Core **element = NEW_ARRAY(x->arena, Core *, a->args.len);
  for (uint32_t i = 0; i < a->args.len && (ok || a->args.at[i]->kind != AST_LIST); i++)
    ok &= (element[i] = core_from_ast(x, &in, a->args.at[i])) != NULL;
  return ok ? chosen(x, a, along->label, element, 0, a->args.len) : core_failed(x);
}
