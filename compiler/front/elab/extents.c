/* front/elab/extents.c - determines the extent of each label of an equation (docs/language.md, rules 2 and 5).
 *
 * In: facts ("k is 64, from Q") and groups ("h and d make 512, from X"), gathered while Core was made. Out: one
 * extent per label, or a complaint that shows every place that disagrees. */
#include "elab.h"

#include <string.h>

LabelVar *label_root(LabelVar *v) {
  while (v->same) {
    if (v->same->same) v->same = v->same->same;
    v = v->same;
  }
  return v;
}

LabelVar *label_new(Elab *x, Str name, Span span) {
  LabelVar *v = MAKE(x->arena, LabelVar, .name = name, .span = span, .frame = x->frame);
  vec_push(x->arena, x->equation.vars, v);
  return v;
}

/* Links a label at the argument's use to the argument's own label. */
static LabelVar *label_link(Elab *x, Labels *l, LabelVar *there, Span span) {
  LabelVar *here = map_find(&l->link, there);
  if (here) return here;
  here = label_new(x, there->name, span);
  here->level = l;
  map_put(&l->link, there, here);
  vec_push(x->arena, l->fresh, here);
  vec_push(x->arena, l->origin, there);
  return here;
}

LabelVar *label_here(Elab *x, Labels *l, LabelVar *v) {
  Labels *level = l->outer ? l : l->level;
  if (!level || v->level == level) return v;
  return label_link(x, level, label_here(x, level->outer, v), v->span);
}

LabelVar *label_find(Labels *l, Str name) {
  if (!l->outer) return map_find(&l->map, name);
  LabelVar *there = label_find(l->outer, name);
  return there ? map_find(&l->link, there) : NULL;
}

bool label_known(const Labels *l, Str name) {
  while (l->outer) l = l->outer;
  return map_find(&l->map, name) != NULL;
}

LabelVar *label_get(Elab *x, Labels *l, Str name, Span span) {
  if (l->outer) return label_link(x, l, label_get(x, l->outer, name, span), span);
  LabelVar *v = map_find(&l->map, name);
  if (!v) {
    v = label_new(x, name, span);
    v->level = l->level;
    map_put(&l->map, name, v);
  }
  return v;
}

void label_unify(LabelVar *a, LabelVar *b, Arena *arena) {
  a = label_root(a), b = label_root(b);
  if (a == b) return;
  for (uint32_t i = 0; i < b->facts.len; i++) vec_push(arena, a->facts, b->facts.at[i]);
  a->used |= b->used;
  if (!a->reduced) a->reduced = b->reduced;
  a->listed |= b->listed;
  b->same = a;
}

void label_fact(Elab *x, LabelVar *v, const Expr *extent, Span span, const char *from) {
  enum { SHOWN = 16, KEPT = 64 }; /* if one equation uses a label a thousand times, some places are enough */
  v = label_root(v);
  if (v->facts.len >= KEPT || (v->facts.len >= SHOWN && v->facts.at[0].extent == extent)) return;
  for (uint32_t i = 0; i < v->facts.len; i++)
    if (v->facts.at[i].extent == extent && v->facts.at[i].span.at == span.at && v->facts.at[i].span.src == span.src)
      return;
  vec_push(x->arena, v->facts, ((ExtentFact){extent, span, from}));
}

void group_fact(Elab *x, LabelSet parts, const Expr *total, Span span, const char *from) {
  vec_push(x->arena, x->equation.groups, ((GroupFact){parts.at, parts.n, total, span, from, false}));
}

/* ---- small sets of labels --------------------------------------------------------------------- */

LabelSet set_one(Elab *x, LabelVar *v) {
  LabelSet s = {NEW_ARRAY(x->arena, LabelVar *, 1), 1};
  s.at[0] = v;
  return s;
}

bool set_has(LabelSet s, const LabelVar *v) {
  for (uint32_t i = 0; i < s.n; i++)
    if (s.at[i] == v) return true;
  return false;
}

LabelSet set_union(Elab *x, LabelSet a, LabelSet b) {
  if (!b.n || a.at == b.at) return a;
  if (!a.n) return b;
  uint32_t stamp = ++x->stamp, n = a.n;
  for (uint32_t i = 0; i < a.n; i++) a.at[i]->seen = stamp;
  for (uint32_t i = 0; i < b.n; i++) n += b.at[i]->seen != stamp;
  if (n == a.n) return a;
  LabelSet s = {NEW_ARRAY(x->arena, LabelVar *, n), a.n};
  for (uint32_t i = 0; i < a.n; i++) s.at[i] = a.at[i];
  for (uint32_t i = 0; i < b.n; i++)
    if (b.at[i]->seen != stamp) s.at[s.n++] = b.at[i];
  return s;
}

LabelSet set_joined(Elab *x, LabelSet a, LabelSet b) {
  LabelSet all = {NEW_ARRAY(x->arena, LabelVar *, a.n + b.n + 1), a.n + b.n};
  for (uint32_t i = 0; i < all.n; i++) all.at[i] = i < a.n ? a.at[i] : b.at[i - a.n];
  return all;
}

LabelSet set_minus(Elab *x, LabelSet a, LabelSet b) {
  if (!a.n || !b.n) return a;
  uint32_t stamp = ++x->stamp;
  for (uint32_t i = 0; i < b.n; i++) b.at[i]->seen = stamp;
  LabelSet s = {NEW_ARRAY(x->arena, LabelVar *, a.n), 0};
  for (uint32_t i = 0; i < a.n; i++)
    if (a.at[i]->seen != stamp) s.at[s.n++] = a.at[i];
  return s.n == a.n ? a : s;
}

/* ---- solving ---------------------------------------------------------------------------------- */

const char *extent_text(Elab *x, const Expr *e) {
  Buf b = buf_new(x->arena);
  static const ExprNames none = {0};
  if (e->kind == EX_OP && e->n == 2) { /* without the outermost parentheses */
    Buf t = buf_new(x->arena);
    expr_print(&t, e, &none);
    size_t skip = t.s[0] == '(';
    buf_add(&b, t.s + skip, t.len - 2 * skip);
  } else {
    expr_print(&b, e, &none);
  }
  Buf c = buf_new(x->arena); /* dims are `$N` in texts, N to a user */
  for (size_t i = 0; i < b.len; i++)
    if (b.s[i] != '$') buf_char(&c, b.s[i]);
  return c.s;
}

static bool extents_agree(Elab *x, const Expr *a, const Expr *b) {
  if (a == b) return true;
  if (a->kind == EX_INT && b->kind == EX_INT) return false;
  Facts f = {.hold = x->hold.at, .n_hold = x->hold.len};
  return prove(x->exprs, &f, expr_op2(x->exprs, OP_EQ, a, b)).verdict == PROVED;
}

/* For all values of the dims. */
static bool extents_differ(Elab *x, const Expr *a, const Expr *b) {
  Facts f = {.hold = x->hold.at, .n_hold = x->hold.len};
  return prove(x->exprs, &f, expr_op2(x->exprs, OP_NE, a, b)).verdict == PROVED;
}

/* For all values of the dims. */
static bool extent_is_below(Elab *x, const Expr *a, const Expr *b) {
  Facts f = {.hold = x->hold.at, .n_hold = x->hold.len};
  return prove(x->exprs, &f, expr_op2(x->exprs, OP_LE, a, b)).verdict == PROVED;
}

static bool is_said(const ExtentFact *f) { return !strcmp(f->from, "its size"); } /* label:size */

static bool is_listed(const ExtentFact *f) { return !strcmp(f->from, "the list"); } /* [a, b, c] */

/* "4 in A", "said to be 4" */
static const char *fact_short(Elab *x, const ExtentFact *f) {
  const char *e = extent_text(x, f->extent);
  return is_said(f) ? arena_printf(x->arena, "said to be %s", e) : arena_printf(x->arena, "%s in %s", e, f->from);
}

/* "4, from A (line 3)" */
static const char *fact_note(Elab *x, const ExtentFact *f) {
  if (is_said(f)) return fact_short(x, f);
  const Symbol *y = symbol_find(x, str_from(x->strings, f->from), UINT32_MAX);
  const char *e = extent_text(x, f->extent);
  if (!y || y->kind != SYM_TENSOR || y->span.src != f->span.src)
    return arena_printf(x->arena, "%s, from %s", e, f->from);
  return arena_printf(x->arena, "%s, from %s (line %u)", e, f->from, span_line(x->arena, y->span));
}

/* A size is said for the label, and a read goes through more or less: false, and no hint, if that is not so. */
static bool hint_beside_size(Elab *x, Diag *d, const LabelVar *v, const ExtentFact *a, const ExtentFact *b) {
  const ExtentFact *said = is_said(a) ? a : b, *read = is_said(a) ? b : a;
  if (!is_said(said) || is_said(read)) return false;
  if (extent_is_below(x, read->extent, said->extent)) {
    diag_hint(x->diags, d,
        "a bare label goes through a whole dimension; write `%s + 0` under an `if` or a `where`, or `x[%s + 0] ?"
        "? 0`",
        v->name->s, v->name->s);
    return true;
  }
  if (!extent_is_below(x, said->extent, read->extent)) return false;
  diag_hint(x->diags, d,
      "a bare label goes through a whole dimension; a part of one is read by an expression: `%s + 0`", v->name->s);
  return true;
}

/* "b is 4 in A but 5 in B": the first fact that differs names the second; every fact is marked. */
static void complain_disagree(Elab *x, LabelVar *v, const ExtentFact *other) {
  const ExtentFact *first = &v->facts.at[0];
  Diag *d = diag_add(x->diags, D_E060, other->span, "label %s is %s but %s%s", v->name->s, fact_short(x, first),
                     is_said(first) && !is_said(other) ? "is " : "", fact_short(x, other));
  diag_note(x->diags, d, "%s", fact_note(x, other));
  for (uint32_t i = 0; i < v->facts.len; i++)
    if (&v->facts.at[i] != other) diag_at(x->diags, d, v->facts.at[i].span, "%s", fact_note(x, &v->facts.at[i]));
  if (is_listed(first) || is_listed(other)) return;
  if (!hint_beside_size(x, d, v, first, other) && !extents_differ(x, first->extent, other->extent))
    diag_hint(x->diags, d, "if they are always equal, say so: `assert %s == %s, \"...\"`",
        extent_text(x, first->extent), extent_text(x, other->extent));
}

static bool label_solve(Elab *x, LabelVar *v) {
  if (!v->facts.len) return true;
  v->extent = v->facts.at[0].extent;
  for (uint32_t i = 1; i < v->facts.len; i++)
    if (!extents_agree(x, v->extent, v->facts.at[i].extent)) {
      complain_disagree(x, v, &v->facts.at[i]);
      v->failed = true;
      return false;
    }
  return true;
}

static void mark_parts(Elab *x, Diag *d, const GroupFact *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    const LabelVar *v = label_root(g->part[i]);
    for (uint32_t k = 0; k < v->facts.len && k < 2; k++)
      diag_at(x->diags, d, v->facts.at[k].span, "%s is %s", v->name->s, extent_text(x, v->facts.at[k].extent));
  }
}

static void complain_divide(Elab *x, const GroupFact *g, const Expr *known) {
  Diag *d = diag_add(x->diags, D_E062, g->span,
                     "the group does not divide: this dimension of %s is %s, which is not a multiple of %s", g->from,
                     extent_text(x, g->total), extent_text(x, known));
  mark_parts(x, d, g);
  diag_hint(x->diags, d, "the labels of a group multiply to the dimension that they split");
}

/* A group with one unknown part: the part is total / (the others). Returns 1 if it learned something, -1 on error. */
static int group_solve(Elab *x, GroupFact *g) {
  Exprs *p = x->exprs;
  const Expr *known = expr_int(p, DT_I64, 1);
  LabelVar *open = NULL;
  for (uint32_t i = 0; i < g->n; i++) {
    LabelVar *v = label_root(g->part[i]);
    if (v->extent) known = expr_op2(p, OP_MUL, known, v->extent);
    else if (open) return 0;
    else open = v;
  }
  known = expr_normal(p, known);
  if (!open) return 0;
  const Expr *q = expr_divide(p, g->total, known);
  if (!q) {
    if ((g->total->kind == EX_INT && known->kind == EX_INT) || expr_is_int(known, 0))
      return complain_divide(x, g, known), -1;
    const Expr *mod = expr_op2(p, OP_MOD, g->total, known);
    const char *text = arena_printf(x->arena, "%s does not divide %s", extent_text(x, known), extent_text(x, g->total));
    vec_push(x->arena, x->graph->checks,
        ((DimCheck){
            expr_op2(p, OP_EQ, mod, expr_int(p, DT_I64, 0)), str_from(x->strings, text), place_of(x, g->span)}));
    q = expr_op2(p, OP_IDIV, g->total, known);
    g->divided = true;
  }
  const char *from = arena_printf(x->arena, "the group in %s", g->from);
  vec_push(x->arena, open->facts, ((ExtentFact){expr_normal(p, q), g->span, from}));
  open->extent = open->facts.at[0].extent;
  return 1;
}

static bool group_check(Elab *x, const GroupFact *g) {
  if (g->divided) return true; /* tested when sizes are bound */
  Exprs *p = x->exprs;
  const Expr *all = expr_int(p, DT_I64, 1);
  for (uint32_t i = 0; i < g->n; i++) {
    const LabelVar *v = label_root(g->part[i]);
    if (!v->extent) return true; /* reported as a label without an extent */
    all = expr_op2(p, OP_MUL, all, v->extent);
  }
  all = expr_normal(p, all);
  if (extents_agree(x, all, g->total)) return true;
  Diag *d = diag_add(x->diags, D_E061, g->span, "the group makes %s but this dimension of %s is %s",
      extent_text(x, all), g->from, extent_text(x, g->total));
  mark_parts(x, d, g);
  return false;
}

static bool groups_solve(Elab *x) {
  bool ok = true;
  for (bool more = true; more && ok;) {
    more = false;
    for (uint32_t i = 0; i < x->equation.groups.len && ok; i++) {
      int r = group_solve(x, &x->equation.groups.at[i]);
      more |= r > 0;
      ok &= r >= 0;
    }
  }
  for (uint32_t i = 0; i < x->equation.groups.len && ok; i++) ok &= group_check(x, &x->equation.groups.at[i]);
  return ok;
}

static GroupFact *group_with(Elab *x, const LabelVar *v) {
  for (uint32_t i = 0; i < x->equation.groups.len; i++)
    for (uint32_t k = 0; k < x->equation.groups.at[i].n; k++)
      if (label_root(x->equation.groups.at[i].part[k]) == v) return &x->equation.groups.at[i];
  return NULL;
}

void label_sized_outside(Elab *x, LabelVar *outside, LabelVar *v) {
  if (!label_root(v)->facts.len && !group_with(x, label_root(v))) label_unify(outside, v, x->arena);
}

/* The equation's own label, if this is the one of an argument in it. */
static const LabelVar *label_outmost(const LabelVar *v) {
  for (uint32_t i = 0; v->level; i = 0) {
    while (i < v->level->fresh.len && v->level->fresh.at[i] != v) i++;
    if (i == v->level->fresh.len) break;
    v = v->level->origin.at[i];
  }
  return v;
}

static void extent_missing(Elab *x, LabelVar *v) {
  const char *name = v->name->s;
  const Symbol *y = symbol_find(x, v->name, UINT32_MAX);
  GroupFact *g = group_with(x, v);
  Diag *d = diag_add(x->diags, D_E063, v->span, "nothing says how large label %s is", name);
  if (y && y->kind == SYM_TENSOR && !v->left && !v->reduced) {
    diag_at(x->diags, d, y->span, "a tensor");
    diag_hint(x->diags, d, "`size` is of a label, not of a tensor");
  } else {
    const LabelVar *own = label_outmost(v);
    const char *where = own->left ? "on the left" : own->reduced ? "in the reducer" : "where it is bound";
    const char *size = own->frame ? NULL : size_elsewhere(x, v->name);
    const char *such = size ? arena_printf(x->arena, "; elsewhere it is `%s:%s`", name, size) : "";
    diag_hint(x->diags, d, "give it %s: `%s:SIZE`%s", where, name, such);
    if (g) diag_at(x->diags, d, g->span, "all sizes but one must be known");
    else
      diag_hint(x->diags, d, "only a bare use such as `X[%s]` defines an extent; an index such as `X[2*%s]` does not",
          name, name);
  }
  for (uint32_t k = 0; g && k < g->n; k++) label_root(g->part[k])->failed = true;
  diag_called(x, d, v->frame);
}

bool extents_solve(Elab *x) {
  bool ok = true;
  for (uint32_t i = 0; i < x->equation.vars.len; i++)
    if (!x->equation.vars.at[i]->same) ok &= label_solve(x, x->equation.vars.at[i]);
  if (ok) ok = groups_solve(x);
  for (uint32_t i = 0, n = ok ? x->equation.vars.len : 0; i < n; i++) {
    LabelVar *v = label_root(x->equation.vars.at[i]);
    if (!v->extent && !v->failed && (v->used || v->left)) v->failed = true, ok = false, extent_missing(x, v);
  }
  return ok;
}
