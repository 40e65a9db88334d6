/* front/elab/domain.c - where an expression has a value, and what must be proved about it (language.md, rules 9 to
 * 11).
 *
 * A lowered expression carries predicates and a list of obligations: an index in range, a reduction over at least
 * one point, a value at all. `??` turns obligations into a condition, a reducer skips points by the predicates, and
 * what remains at the end of an equation must be proved. */
#include "elab.h"

#include <string.h>

/* Whether `one` is among the alternatives of `any`, joined by `or`. */
static bool allows(const Expr *any, const Expr *one) {
  for (; any->kind == EX_OP && any->op == OP_OR; any = any->arg[0])
    if (any->arg[1] == one) return true;
  return any == one;
}

/* Adds nothing that is allowed already: `a ?? a ?? a` has a value where a has one, however long it is. */
const Expr *implies(Elab *x, const Expr *guard, const Expr *cond) {
  if (!guard || !cond) return cond;
  const Expr *or = guard->kind == EX_OP && guard->op == OP_NOT ? guard->arg[0] : expr_op1(x->exprs, OP_NOT, guard);
  return allows(or, cond) ? or : expr_op2(x->exprs, OP_OR, or, cond);
}

static bool is_and(const Expr *e) { return e->kind == EX_OP && e->op == OP_AND; }

static bool says(const Expr *all, const Expr *one) {
  for (; all; all = is_and(all) ? all->arg[0] : NULL)
    if (all == one || (is_and(all) && all->arg[1] == one)) return true;
  return false;
}

/* a and b, in that order; drops parts of b that a states already. */
const Expr *both(Elab *x, const Expr *a, const Expr *b) {
  if (!a || !b) return a ? a : b;
  VEC(const Expr *) parts = {0};
  for (; is_and(b); b = b->arg[0]) vec_push(x->arena, parts, b->arg[1]);
  vec_push(x->arena, parts, b);
  while (parts.len) {
    const Expr *one = vec_pop(parts);
    if (!says(a, one)) a = expr_and(x->exprs, a, one);
  }
  return a;
}

static bool is_true(const Expr *e) { return !e || (e->kind == EX_INT && e->i); }

Obligation *need(Elab *x, Obligation *rest, const Expr *cond, Need n, Span span) {
  if (is_true(cond)) return rest;
  return MAKE(x->arena, Obligation, .next = rest, .cond = cond, .plain = cond, .need = n, .span = span,
      .frame = x->frame);
}

static bool needed_already(const Obligation *list, const Expr *cond) {
  for (; list; list = list->next)
    if (list->cond == cond) return true;
  return false;
}

/* A copy of a, then b, with each condition once. Lists are short. */
Obligation *need_all(Elab *x, Obligation *a, Obligation *b) {
  if (!a) return b;
  if (!b || a == b) return a;
  Obligation *first = NULL, **end = &first;
  for (const Obligation *o = a; o; o = o->next) {
    *end = arena_copy(x->arena, o, sizeof *o);
    end = &(*end)->next;
  }
  for (const Obligation *o = b; o; o = o->next) {
    if (needed_already(a, o->cond)) continue;
    *end = arena_copy(x->arena, o, sizeof *o);
    end = &(*end)->next;
  }
  *end = NULL;
  return first;
}

Obligation *need_guarded(Elab *x, const Expr *guard, Obligation *list) {
  if (is_true(guard)) return list;
  Obligation *first = NULL, **end = &first;
  for (; list; list = list->next) {
    *end = arena_copy(x->arena, list, sizeof *list);
    (*end)->cond = implies(x, guard, list->cond);
    if (list->condition) (*end)->verdict = OPEN_DATA;
    end = &(*end)->next;
  }
  *end = NULL;
  return first;
}

Facts facts_here(Elab *x, const Expr *hold) {
  uint32_t n = x->vertex.out.n + x->vertex.red.n, n_hold = x->hold.len + (hold != NULL);
  const Expr **label = NEW_ARRAY(x->arena, const Expr *, n + 1);
  for (uint32_t i = 0; i < x->vertex.out.n; i++) label[i] = label_root(x->vertex.out.at[i])->extent;
  for (uint32_t i = 0; i < x->vertex.red.n; i++) label[x->vertex.out.n + i] = label_root(x->vertex.red.at[i])->extent;
  const Expr *const *all = x->hold.at;
  if (hold) {
    const Expr **with = COPY_ARRAY(x->arena, const Expr *, x->hold.at, x->hold.len, n_hold);
    with[x->hold.len] = hold;
    all = with;
  }
  return (Facts){
      .label = label, .n_label = n, .turn = x->around.turns.at, .n_turn = x->around.turns.len,
      .hold = all, .n_hold = n_hold};
}

const Expr *domain_of(Elab *x, Ex a) {
  const Expr *d = a.pred;
  if (!a.range) return d;
  Facts f = facts_here(x, NULL);
  for (const Obligation *o = a.range; o; o = o->next)
    if (o->need == NEED_NONEMPTY || prove(x->exprs, &f, o->cond).verdict != PROVED) d = both(x, d, o->cond);
  return d;
}

bool mentions(const Expr *e, uint32_t from, uint32_t to) {
  bool used[GRAPH_LABELS + 1] = {0};
  if (!(e->has & HAS_LABEL) || from >= to) return false;
  expr_labels(e, to, used);
  for (uint32_t i = from; i < to; i++)
    if (used[i]) return true;
  return false;
}

/* ---- complaints ------------------------------------------------------------------------------- */

static const LabelVar *label_at(const Elab *x, uint32_t k) {
  return k < x->vertex.out.n ? x->vertex.out.at[k] : x->vertex.red.at[k - x->vertex.out.n];
}

/* "i = 0, j = 7, N = 3": only what the condition mentions. */
static const char *point_text(Elab *x, const Proof *p, const Expr *cond) {
  Buf b = buf_new(x->arena);
  uint32_t n = x->vertex.out.n + x->vertex.red.n;
  bool *used = NEW_ARRAY(x->arena, bool, n + 1);
  expr_labels(cond, n, used);
  for (uint32_t k = 0; k < n && k < p->label.len; k++)
    if (used[k]) buf_printf(&b, "%s%s = %lld", b.len ? ", " : "", label_at(x, k)->name->s, (long long)p->label.at[k]);
  if (cond->has & HAS_TURN) {
    const Block *blocks[64];
    uint32_t depth = 0;
    for (const Block *k = x->around.block; k && depth < 64; k = k->parent) blocks[depth++] = k;
    for (uint32_t k = 0; k < p->turn.len && k < depth; k++)
      buf_printf(&b, "%s%s = %lld", b.len ? ", " : "", blocks[depth - 1 - k]->turn->name->s, (long long)p->turn.at[k]);
  }
  for (uint32_t k = 0; k < p->dim.len; k++)
    buf_printf(&b, "%s%s = %lld", b.len ? ", " : "", p->dim.at[k].name->s, (long long)p->dim.at[k].value);
  return b.s;
}

static bool dim_at(void *proof, Str name, int64_t *out) {
  const Proof *p = proof;
  for (uint32_t i = 0; i < p->dim.len; i++)
    if (p->dim.at[i].name == name) return *out = p->dim.at[i].value, true;
  return false;
}

static bool index_value(const Expr *e, const Proof *p, int64_t *out) {
  ExprEnv env = {.label = p->label.at, .n_label = p->label.len, .turn = p->turn.at, .n_turn = p->turn.len,
      .dim = dim_at, .ctx = (void *)p};
  Value v;
  if (!e || !expr_value(e, &env, &v)) return false;
  *out = v.i;
  return true;
}

/* An error inside a def of another file is shown at the program's call of it. */
static Span shown_at(Elab *x, const Obligation *o) {
  const Frame *f = o->frame;
  while (f && f->parent) f = f->parent;
  const Source *own = x->program->file->src;
  return f && o->span.src != own && f->call.src == own ? f->call : o->span;
}

static bool is_outside(Span shown, const Obligation *o) { return shown.src != o->span.src; }

static void note_def(Elab *x, Diag *d, const Obligation *o) {
  if (!is_outside(d->spans.at[0].span, o)) {
    diag_called(x, d, o->frame);
    return;
  }
  const char *note = d->spans.at[0].note;
  d->spans.at[0].note = NULL;
  diag_at(x->diags, d, o->span, "%s", note ? note : "in this def");
}

static void note_range(Elab *x, Diag *d, const Obligation *o, const Proof *p) {
  int64_t at, size;
  const char *where = p->verdict == REFUTED ? point_text(x, p, o->cond) : "", *of = o->name ? o->name->s : "it";
  const char *axis =
      o->label ? arena_printf(x->arena, "label %s", o->label->s) : arena_printf(x->arena, "dimension %u", o->axis + 1);
  if (*where) where = arena_printf(x->arena, " at %s", where);
  if (p->verdict != REFUTED)
    diag_note(x->diags, d, "cannot be proved to be %s%s%s", o->low ? "at least 0" : "",
        o->low && o->high ? " and " : "", o->high ? arena_printf(x->arena, "below the size of %s", axis) : "");
  else if (o->extent->kind != EX_INT && o->index->kind == EX_INT && o->index->i < 0)
    diag_note(x->diags, d, "below 0");
  else if (index_value(o->index, p, &at) && index_value(o->extent, p, &size))
    diag_note(x->diags, d, "is %lld%s, %s %s of %s has size %lld", (long long)at, where, p->dim.len ? "where" : "but",
        axis, of, (long long)size);
  else diag_note(x->diags, d, "out of range%s", where);
}

/* `x[-1]`, `x[-i]`, `x[-i - 1]`: in other languages these count from the end. Returns whether it is like that. */
static bool hint_from_end(Elab *x, Diag *d, const Obligation *o) {
  const char *e = source_text(x, o->span), *rest = e + 1 + strspn(e + 1, " ");
  bool whole = o->index->kind == EX_INT, backwards = *e == '-' && !strpbrk(e, "+%/[(");
  int64_t shift = whole ? o->index->i : strpbrk(rest, " -*") ? 0 : -1;
  if (!o->low || !backwards || o->extent->has & HAS_LABEL) return false;
  if (whole && o->extent->kind == EX_INT && o->extent->i + shift < 0) return false;
  const Expr *from = expr_op2(x->exprs, OP_ADD, o->extent, expr_int(x->exprs, DT_I64, shift));
  const char *end = extent_text(x, expr_normal(x->exprs, from));
  diag_hint(x->diags, d, "nothing counts from the end: write `%s%s%s`", end, whole ? "" : " - ", whole ? "" : rest);
  return true;
}

/* `x[i+1] - x[i]`: the bare read makes i go through all of x, at whose end i + 1 is outside. */
static void hint_bare(Elab *x, Diag *d, const Obligation *o) {
  const LabelSet out = x->vertex.out;
  for (uint32_t k = 0; k < out.n && k < 63; k++) {
    const LabelVar *v = label_root(out.at[k]);
    int64_t slope;
    if (o->index->labels != (uint64_t)1 << k || !expr_slope(o->index, k, &slope) || slope != 1) continue;
    const Expr *over = expr_op2(x->exprs, OP_SUB, o->index, expr_label(x->exprs, k)),
               *rest = expr_normal(x->exprs, expr_op2(x->exprs, OP_SUB, o->extent, over));
    vec_each(const ExtentFact, f, v->facts) {
      if (!o->name || strcmp(f->from, o->name->s) != 0 || f->extent != o->extent) continue;
      diag_hint(x->diags, d,
          "or leave the end out: write `%s:%s` on the left, and `%s + 0` for the bare `%s`, which goes through all of "
          "%s",
          v->name->s, extent_text(x, rest), v->name->s, v->name->s, f->from);
      return;
    }
  }
}

static void hint_range(Elab *x, Diag *d, const Obligation *o, Span at, Span read) {
  const char *e = source_text(x, o->span), *size = extent_text(x, o->extent);
  diag_hint(x->diags, d,
      "say what stands there instead: `%s ?"
      "? %s`",
      source_text(x, read), o->dtype == DT_BOOL ? "false" : "0");
  if (o->high && !o->low && !is_outside(at, o)) hint_bare(x, d, o);
  if (x->vertex.red.n && !is_outside(at, o) && !(o->extent->has & HAS_LABEL))
    diag_hint(x->diags, d, "or leave such points out: `where %s%s%s%s`",
        o->low ? arena_printf(x->arena, "%s >= 0", e) : "", o->low && o->high ? " and " : "",
        o->high ? arena_printf(x->arena, "%s < ", e) : "", o->high ? size : "");
}

static void complain_range(Elab *x, const Obligation *o, const Proof *p) {
  Span at = shown_at(x, o), read = is_outside(at, o) ? at : o->read;
  const char *of = o->name ? arena_printf(x->arena, " of %s", o->name->s) : "";
  Diag *d = diag_add(x->diags, D_E110, at, "this index%s can be out of range", of);
  note_range(x, d, o, p);
  if (p->wraps)
    diag_note(x->diags, d,
        "a sum of data can leave 64 bits and wrap around, so a bound on it is none on its parts: bound the data too");
  bool whole = o->index->kind == EX_INT, known = whole && o->extent->kind == EX_INT;
  if (known)
    diag_hint(x->diags, d, o->extent->i ? "indices are from 0 to %lld" : "there is nothing in it",
        (long long)o->extent->i - 1);
  bool end = !is_outside(at, o) && hint_from_end(x, d, o);
  if (!known && !(whole && end)) hint_range(x, d, o, at, read);
  note_def(x, d, o);
}

static void complain_empty(Elab *x, const Obligation *o, const Proof *p) {
  const char *where = p->verdict == REFUTED ? point_text(x, p, o->cond) : "";
  Span at = shown_at(x, o);
  Diag *d = diag_add(
      x->diags, D_E111, at, "this %s can be over nothing, and then has no value", o->name ? o->name->s : "reduction");
  if (*where) diag_note(x->diags, d, "nothing to reduce at %s", where);
  if (is_outside(at, o)) diag_hint(x->diags, d, "say what it is then: `%s ?" "? 0`", source_text(x, at));
  else diag_hint(x->diags, d, "say what it is then: `(%s) ?" "? 0`", source_text(x, o->whole));
  note_def(x, d, o);
}

static void complain_value(Elab *x, const Obligation *o, const Proof *p, const char *what) {
  Diag *d = diag_add(x->diags, D_E112, o->span, "%s does not have a value everywhere", what);
  if (p->verdict == REFUTED) diag_note(x->diags, d, "none at %s", point_text(x, p, o->cond));
  else diag_note(x->diags, d, "a predicate leaves some points out");
  const char *e = source_text(x, o->span), *end = e[0] && e[strlen(e) - 1] == ')' ? "" : ")";
  diag_hint(x->diags, d, "say what stands there instead: `%s%s%s ?" "? 0`", *end ? "(" : "", e, end);
  note_def(x, d, o);
}

static void complain_fits(Elab *x, const Obligation *o, const Proof *p) {
  Diag *d = diag_add(x->diags, D_E082, o->span, "this does not always fit into %s", dtype_name(o->dtype));
  int64_t value;
  if (p->verdict == REFUTED && index_value(o->index, p, &value))
    diag_note(x->diags, d, "is %lld at %s", (long long)value, point_text(x, p, o->cond));
  diag_hint(x->diags, d, "`%s(...)` keeps its low bits; a wider type holds all of it", dtype_name(o->dtype));
}

static void complain(Elab *x, const Obligation *o, const Proof *p, const char *what) {
  x->equation.failed = true;
  if (o->need == NEED_RANGE) complain_range(x, o, p);
  else if (o->need == NEED_NONEMPTY) complain_empty(x, o, p);
  else if (o->need == NEED_FITS) complain_fits(x, o, p);
  else complain_value(x, o, p, what);
}

static const char *check_text(Elab *x, const Obligation *o) {
  switch (o->need) {
  case NEED_RANGE:
    return arena_printf(x->arena, "an index of %s is out of range", o->name ? o->name->s : "a parameter");
  case NEED_NONEMPTY: return "a reduction without identity has nothing to reduce";
  case NEED_FITS: return arena_printf(x->arena, "a value does not fit into %s", dtype_name(o->dtype));
  case NEED_VALUE: break;
  }
  return "not every element has a value";
}

static void add_check(Elab *x, const Obligation *o, const Expr *cond) {
  enum { BACK = 16 }; /* the same condition recurs in the same equation or the next */
  for (uint32_t i = x->graph->checks.len, k = 0; i-- > 0 && k < BACK; k++)
    if (x->graph->checks.at[i].cond == cond) return;
  vec_push(
      x->arena, x->graph->checks, ((DimCheck){cond, str_from(x->strings, check_text(x, o)), place_of(x, o->span)}));
}

static void discharge_one(Elab *x, const Obligation *o, Facts *f, const char *what) {
  Proof p = prove(x->exprs, f, o->cond);
  if (p.verdict == PROVED || (o->gather && p.verdict != REFUTED)) return;
  if (o->asked) {
    if (o->verdict == PROVED) return;
    if (o->verdict == OPEN_DIMS && o->condition) return add_check(x, o, o->condition);
  }
  if (p.verdict == OPEN_DIMS) return add_check(x, o, p.condition);
  complain(x, o, &p, what);
}

void discharge_all(Elab *x, Obligation *list, Facts f, const char *what) {
  for (const Obligation *o = list; o; o = o->next) discharge_one(x, o, &f, what);
}

Obligation *discharge(Elab *x, Obligation *list, Facts f, Obligation **inside) {
  Obligation *left = NULL, **end = &left;
  for (Obligation *o = list; o; o = o->next) {
    if (prove(x->exprs, &f, o->cond).verdict == PROVED) continue;
    uint32_t from = x->vertex.out.n, to = x->vertex.out.n + x->vertex.red.n;
    bool reduced = mentions(o->cond, from, to) && (inside || mentions(o->plain, from, to));
    if (reduced && !inside) {
      discharge_one(x, o, &f, "this");
      continue;
    }
    Obligation ***at = reduced ? &inside : &end;
    **at = arena_copy(x->arena, o, sizeof *o);
    if (!reduced && mentions(o->cond, from, to)) (**at)->cond = o->plain;
    *at = &(**at)->next;
    **at = NULL;
  }
  return left;
}
