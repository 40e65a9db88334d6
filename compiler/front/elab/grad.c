/* front/elab/grad.c - `grad(loss, W[d,h])`: adds the equations of a gradient to the graph where it is written, and
 * reads the last one. */
#include "elab.h"

/* ---- the loss -------------------------------------------------------------------------------------- */

static const Symbol *loss_named(Elab *x, const Scope *s, const Ast *a) {
  if (a->kind != AST_NAME || frame_find(s->frame, a->name.s)) return NULL;
  Symbol *y = symbol_find(x, a->name.s, s->frame ? s->frame->order : UINT32_MAX);
  if (y) y->used = true;
  return y && y->kind == SYM_TENSOR ? y : NULL;
}

/* An expression becomes an equation of its own, in the middle of another one. */
static EinNode *loss_made(Elab *x, const Ast *a) {
  ElabEquation outer = x->equation;
  ElabVertex vertex = x->vertex;
  x->equation = (ElabEquation){.name = outer.name, .first_node = outer.first_node, .failed = outer.failed};
  EinNode *n = scalar_made(x, a);
  outer.failed = x->equation.failed;
  x->equation = outer;
  x->vertex = vertex;
  return n;
}

static Core *complain_scalar(Elab *x, const Ast *a, const Symbol *y) {
  Diag *d = diag_add(x->diags, D_E115, a->span, "a gradient is that of a scalar, and %s has %u dimension%s", y->name->s,
      y->node->rank, y->node->rank == 1 ? "" : "s");
  diag_at(x->diags, d, y->span, "defined here");
  diag_hint(x->diags, d, "say which number is meant, by a sum as a rule");
  return core_failed(x);
}

static EinNode *loss_of(Elab *x, const Scope *s, const Ast *a) {
  const Symbol *y = loss_named(x, s, a);
  if (y && y->node && y->node->rank) return complain_scalar(x, a, y), NULL;
  if (y) return y->node ? y->node : (x->equation.failed = true, NULL);
  if (!s->frame) return loss_made(x, a);
  Diag *d = diag_add(x->diags, D_E115, a->span, "inside of a def a gradient is that of a named scalar of the program");
  diag_hint(x->diags, d, "write the `grad` where the def is called");
  return core_failed(x), NULL;
}

/* ---- the tensor ------------------------------------------------------------------------------------ */

static bool is_float(Elab *x, Span at, const EinNode *n, const char *who) {
  if (dtype_is_float(n->dtype)) return true;
  Diag *d = diag_add(x->diags, D_E115, at, "%s is %s, and only floats have a derivative", who, dtype_name(n->dtype));
  if (n->kind == EIN_INPUT) diag_hint(x->diags, d, "declare %s as floats, `: f32`", n->name->s);
  core_failed(x);
  return false;
}

static void complain_trouble(Elab *x, const Ast *a, const GradTrouble *t) {
  Diag *d = diag_add(x->diags, D_E115, a->span, "the gradient cannot be taken: %s", t->why);
  const EinNode *n = t->at;
  if (n->place.file)
    diag_note(x->diags, d, "it stands on the way, in %s (%s:%u)",
        n->name                     ? n->name->s
            : n->kind == EIN_REPEAT ? "a repeat"
                                    : "an equation",
        n->place.file->s, n->place.line);
  if (t->hint) diag_hint(x->diags, d, "%s", t->hint);
  core_failed(x);
}

/* The graph's vertex, as a tensor that is read in place of `grad`. */
static Core *gradient_read(Elab *x, Scope *s, const Ast *a, const Symbol *by, EinNode *made) {
  Symbol g = *by;
  Ast read = *a;
  g.node = made;
  g.name = strings_printf(x->strings, "grad(%s)", by->name->s);
  read.kind = AST_INDEX;
  return core_tensor(x, s, &g, &read);
}

/* `local`: it is a parameter or a local name of a def. */
static Core *complain_by(Elab *x, const Scope *s, const Ast *a, bool local, const Symbol *by) {
  bool known = local || by;
  Diag *d = diag_add(x->diags, known ? D_E115 : D_E070, a->name.span,
      known ? "%s is no tensor of the program" : "%s is not defined", a->name.s->s);
  if (local) diag_hint(x->diags, d, "write the `grad` where the def is called");
  if (!known) diag_unknown(x, d, a->name, s->frame);
  return core_failed(x);
}

Core *core_grad(Elab *x, Scope *s, const Ast *a) {
  bool local = frame_find(s->frame, a->name.s) != NULL;
  Symbol *by = local ? NULL : symbol_find(x, a->name.s, s->frame ? s->frame->order : UINT32_MAX);
  if (!by || by->kind != SYM_TENSOR) return complain_by(x, s, a, local, by);
  by->used = true;
  if (by->node && by->node->rank != a->items.len) {
    Ast read = *a;
    read.span = a->name.span;
    return complain_rank(x, by, &read);
  }
  EinNode *loss = loss_of(x, s, a->a);
  if (!loss || !by->node) return core_failed(x);
  if (!is_float(x, a->a->span, loss, "this") || !is_float(x, a->name.span, by->node, by->name->s)) return NULL;
  if (!x->gradients) x->gradients = gradients_new(x->arena, x->graph, x->front->keep);
  bool none;
  GradTrouble trouble;
  EinNode *made = gradient(x->gradients, x->around.region, loss, by->node, &none, &trouble);
  if (!made) return complain_trouble(x, a, &trouble), NULL;
  if (none) diag_add(x->diags, D_W010, a->span, "the loss does not depend on %s, so this is 0", by->name->s);
  return gradient_read(x, s, a, by, made);
}
