/* front/elab/lower.c - from Core to scalar expressions and vertices.
 *
 * lower() returns the expression of a Core in the current vertex: labels have their values (numbers, or their
 * substitutes), binds become vertices at their first use, implicit conversions become explicit. It also returns the
 * predicates and obligations that determine where the expression has a value. */
#include "elab.h"

#include <string.h>

/* ---- conversions ------------------------------------------------------------------------------ */

Ex ex_convert(Elab *x, Ex a, DType t) {
  a.e = expr_cast(x->exprs, t, a.e);
  a.type = type_firm(t);
  return a;
}

enum { KEEP_INTS = 64 }; /* besides a DType to widen to: integers stay integers, under // and % and ^ */

/* Widens reads inside a reduction to its accumulator's type (rule 8), if that type holds all their values. */
static Ex widened(Elab *x, Ex a, int widen) {
  if (widen < 0 || a.type.weak) return a;
  DType from = a.type.dtype, to = (DType)(widen & ~KEEP_INTS);
  if ((widen & KEEP_INTS) && !dtype_is_float(from)) return a;
  bool same = dtype_is_float(from) == dtype_is_float(to) || (!dtype_is_float(from) && dtype_is_float(to));
  if (!same || (from != DT_BOOL && dtype_size(from) >= dtype_size(to)) || to == DT_BOOL) return a;
  if (from == DT_BOOL) return a; /* the enclosing operation makes it a number */
  return ex_convert(x, a, to);
}

static Ex ex_new(const Expr *e, Type t) { return (Ex){.e = e, .type = t}; }

static Ex carry(Elab *x, Ex to, const Ex *from) {
  to.pred = both(x, to.pred, from->pred);
  to.range = need_all(x, to.range, from->range);
  return to;
}

static Ex carry_guarded(Elab *x, Ex to, const Expr *guard, const Ex *from) {
  to.pred = both(x, to.pred, implies(x, guard, from->pred));
  to.range = need_all(x, to.range, need_guarded(x, guard, from->range));
  return to;
}

/* ---- reads ------------------------------------------------------------------------------------ */

static Ex index_group(Elab *x, const Core *c) {
  Exprs *p = x->exprs;
  const Expr *e = expr_int(p, DT_I64, 0);
  for (uint32_t i = 0; i < c->labels.n; i++) {
    e = expr_op2(p, OP_MUL, e, label_root(c->labels.at[i])->extent);
    e = expr_op2(p, OP_ADD, e, c->labels.at[i]->value);
  }
  return ex_new(e, c->type);
}

/* 0 <= e and e < extent, unless that is trivial. */
static Obligation *need_index(
    Elab *x, Obligation *rest, const Expr *e, const Expr *extent, Span span, Str name, uint32_t axis) {
  Exprs *p = x->exprs;
  if (e->kind == EX_LABEL) {
    const LabelVar *v = e->i < x->vertex.out.n ? x->vertex.out.at[e->i] : x->vertex.red.at[e->i - x->vertex.out.n];
    if (label_root((LabelVar *)v)->extent == extent) return rest;
  }
  const Expr *low = expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), e), *high = expr_op2(p, OP_LT, e, extent);
  Facts f = facts_here(x, NULL);
  bool below = prove(p, &f, low).verdict == PROVED, above = prove(p, &f, high).verdict == PROVED;
  const Expr *cond = below && above ? NULL : below ? high : above ? low : expr_and(p, low, high);
  Obligation *o = need(x, rest, cond, NEED_RANGE, span);
  if (o == rest) return rest;
  o->name = name, o->axis = axis, o->index = e, o->extent = extent, o->low = !below, o->high = !above;
  o->gather = (e->has & HAS_READ) != 0;
  return o;
}

static Ex lower_read(Elab *x, Core *c, int widen) {
  const Expr *few[8], **index = c->n <= 8 ? few : NEW_ARRAY(x->arena, const Expr *, c->n);
  Ex r = ex_new(NULL, c->type);
  Obligation *own = NULL;
  for (uint32_t k = 0; k < c->n; k++) {
    const Core *a = c->arg[k];
    Ex i = a->kind == CORE_GROUP ? index_group(x, a) : ex_convert(x, lower(x, c->arg[k], -1), DT_I64);
    index[k] = i.e;
    r = carry(x, r, &i);
    if (a->kind == CORE_GROUP) continue; /* its parts multiply to the dimension */
    Obligation *rest = own;
    own = need_index(x, own, i.e, c->tensor->dim[k], a->span, c->name, k);
    if (own != rest) own->read = c->span, own->dtype = c->type.dtype;
  }
  r.range = need_all(x, r.range, own);
  r.e = read_node(x, c->tensor, c->n, index);
  return widened(x, r, widen);
}

Ex ex_read_of(Elab *x, EinNode *n, LabelSet labels, int widen, Span span) {
  (void)span;
  const Expr *few[16], **index = labels.n <= 16 ? few : NEW_ARRAY(x->arena, const Expr *, labels.n);
  for (uint32_t k = 0; k < labels.n; k++) index[k] = labels.at[k]->value;
  return widened(x, ex_new(read_node(x, n, labels.n, index), type_firm(n->dtype)), widen);
}

/* ---- binds ------------------------------------------------------------------------------------ */

const Expr *total(Elab *x, const Expr *pred, const Obligation *range) {
  for (; range; range = range->next) pred = both(x, pred, range->cond);
  return pred;
}

/* Lowers a bind independently of its uses, so no enclosing `if` is known to hold. */
static void bind_lower_as(Elab *x, Bind *b) {
  if (b->body->kind == CORE_REDUCE && reduce_is_one_vertex(b->body)) {
    Ex carried;
    b->node = reduce_vertex(x, b->body, b->labels, NULL, 0, -1, b->name, false, &carried);
    b->pred = carried.pred, b->range = carried.range;
    return;
  }
  Frozen f = labels_number(x, b->labels, (LabelSet){0});
  Ex e = lower(x, b->body, -1);
  e = ex_convert(x, e, type_settle(e.type).dtype);
  EinSum s = {.reducer = RED_NONE, .acc = e.type.dtype, .dtype = e.type.dtype, .body = e.e};
  Facts facts = facts_here(x, e.pred);
  b->pred = e.pred;
  b->range = discharge(x, e.range, facts, NULL);
  s.domain = total(x, b->pred, b->range);
  b->node = vertex_new(x, &s, NULL, 0, b->name, b->span);
  labels_restore(x, f);
}

/* A C function computes it; its nodes have this number or larger ones. */
static void bind_by(Elab *x, Bind *b, uint32_t first) {
  uint32_t before = x->diags->all.len;
  if (elab_by(x, b->by, b->node, true, first)) return;
  for (uint32_t i = before; i < x->diags->all.len; i++) diag_called(x, x->diags->all.at[i], b->body->frame);
  x->equation.failed = true;
}

static void bind_lower(Elab *x, Bind *b) {
  const Guard *outer = x->vertex.guard;
  EinRegion *here = x->around.region;
  uint32_t first = x->graph->n_nodes;
  x->vertex.guard = NULL;
  x->around.region = b->region;
  if (b->role == BIND_ABOVE) stated_above(x, b);
  else if (b->role == BIND_ADJOINT) stated_adjoint(x, b);
  else bind_lower_as(x, b);
  if (b->by && b->node && !x->equation.failed) bind_by(x, b, first);
  x->vertex.guard = outer;
  x->around.region = here;
}

/* Marks what is left of `??`, through the binds that it uses. Of the equation's binds each comes after those that it
 * uses itself. */
static void cover(Elab *x, Core *c, bool covered) {
  VEC(Core *) todo = {0};
  c->covered = covered;
  vec_push(x->arena, todo, c);
  while (todo.len) {
    c = vec_pop(todo);
    if (c->kind == CORE_USE) c->bind->covered |= c->covered;
    for (uint32_t k = 0; k < c->n; k++) {
      if (!c->arg[k]) continue;
      c->arg[k]->covered = c->covered || (c->kind == CORE_OR_ELSE && k == 0);
      vec_push(x->arena, todo, c->arg[k]);
    }
  }
}

static void all_cover(Elab *x, Core *body) {
  cover(x, body, false);
  for (uint32_t i = x->equation.binds.len; i-- > 0;) {
    const Bind *b = x->equation.binds.at[i];
    cover(x, b->body, b->covered);
  }
}

/* Lowers binds in order of creation, so that a chain of a thousand local equations does not recurse a thousand deep. */
static void binds_lower(Elab *x) {
  for (uint32_t i = 0; i < x->equation.binds.len; i++) {
    Bind *b = x->equation.binds.at[i];
    if (b->used && !b->in_line && !b->node) bind_lower(x, b);
  }
  stated_rules(x);
}

/* A bind's labels take the values of a use's arguments; a substituted value must be in its label's range. */
static Obligation *use_labels(Elab *x, Core *c, Ex *r, const Expr **value) {
  const Bind *b = c->bind;
  Obligation *own = NULL;
  for (uint32_t k = 0; k < c->n; k++) {
    Ex i = ex_convert(x, lower(x, c->arg[k], -1), DT_I64);
    value[k] = i.e;
    *r = carry(x, *r, &i);
    if (c->arg[k]->kind == CORE_LABEL && label_root(c->arg[k]->label) == label_root(b->labels.at[k])) continue;
    const char *dot = strrchr(b->name->s, '.'); /* def.parameter; else an expression in parentheses */
    Obligation *rest = own;
    own = need_index(x, own, i.e, label_root(b->labels.at[k])->extent, c->arg[k]->span,
        dot ? str_from(x->strings, dot + 1) : NULL, k);
    if (own != rest) own->read = c->span, own->dtype = c->type.dtype, own->label = b->labels.at[k]->name;
  }
  return own;
}

static Ex lower_use(Elab *x, Core *c, int widen) {
  Bind *b = c->bind;
  Ex r = ex_new(NULL, c->type);
  const Expr **value = NEW_ARRAY(x->arena, const Expr *, c->n + 1), **was = NEW_ARRAY(x->arena, const Expr *, c->n + 1);
  Obligation *own = use_labels(x, c, &r, value);
  if (!b->in_line && !b->node) bind_lower(x, b);
  for (uint32_t k = 0; k < c->n; k++) was[k] = b->labels.at[k]->value;
  for (uint32_t k = 0; k < c->n; k++) b->labels.at[k]->value = value[k];
  Ex e;
  if (b->in_line) {
    e = lower(x, b->body, widen);
  } else {
    e = ex_read_of(x, b->node, b->labels, widen, c->span);
    e.pred = at_labels(x, b->pred, b->labels);
    e.range = needs_at_labels(x, b->range, b->labels);
  }
  for (uint32_t k = c->n; k-- > 0;) b->labels.at[k]->value = was[k];
  e.pred = implies(x, total(x, NULL, own), e.pred); /* what it reads exists only where the labels are in range */
  r.e = e.e, r.type = e.type;
  r.range = need_all(x, r.range, own);
  return carry(x, r, &e);
}

/* ---- operations ------------------------------------------------------------------------------- */

static Ex apply(Elab *x, Op op, uint32_t n, Ex *arg) {
  Type types[3] = {{DT_F64, FIRM}}, operand;
  for (uint32_t i = 0; i < n; i++) types[i] = arg[i].type;
  Ex r = ex_new(NULL, type_op(op, n, types, &operand));
  const Expr *e[3];
  for (uint32_t i = 0; i < n; i++) {
    e[i] = ex_convert(x, arg[i], operand.dtype).e;
    if (i && (op == OP_AND || op == OP_OR))
      r = carry_guarded(x, r, op == OP_AND ? e[0] : expr_op1(x->exprs, OP_NOT, e[0]), &arg[i]);
    else r = carry(x, r, &arg[i]);
  }
  r.e = expr_op(x->exprs, op, n, e);
  return r;
}

static Ex lower_select(Elab *x, Core *c, int widen) {
  const Guard *outer = x->vertex.guard;
  Ex p = lower(x, c->arg[0], -1), a, b;
  x->vertex.guard = &(Guard){c->arg[0], false, outer};
  a = lower(x, c->arg[1], widen);
  x->vertex.guard = &(Guard){c->arg[0], true, outer};
  b = lower(x, c->arg[2], widen);
  x->vertex.guard = outer;
  Ex r = ex_new(NULL, type_join(a.type, b.type));
  r = carry(x, r, &p);
  r = carry_guarded(x, r, p.e, &a);
  r = carry_guarded(x, r, expr_op1(x->exprs, OP_NOT, p.e), &b);
  r.e = expr_select(x->exprs, p.e, ex_convert(x, a, r.type.dtype).e, ex_convert(x, b, r.type.dtype).e);
  return r;
}

/* With an extent of 0, or without turns, everything is true. */
static bool nothing_here(const Elab *x) {
  vec_each_of(const Expr, n, x->around.turns)
    if (n && n->kind == EX_INT && n->i <= 0) return true;
  for (uint32_t i = 0; i < x->vertex.out.n; i++)
    if (expr_is_int(label_root(x->vertex.out.at[i])->extent, 0)) return true;
  for (uint32_t i = 0; i < x->vertex.red.n; i++)
    if (expr_is_int(label_root(x->vertex.red.at[i])->extent, 0)) return true;
  return false;
}

/* With sizes from outside of the program it might be true of these only. */
static void warn_always(Elab *x, const Core *c) {
  if (c->in_def || x->diags->errors || nothing_here(x) || (x->dims && x->dims->len)) return;
  Diag *d = diag_add(x->diags, D_W004, c->span, "what stands left of `?" "?` always has a value");
  diag_hint(x->diags, d, "the right side is never used; leave it out");
}

static Ex or_else(Elab *x, const Core *c, Ex a, int widen) {
  const Expr *has = domain_of(x, a);
  Ex b = lower(x, c->arg[1], widen);
  Ex r = ex_new(NULL, type_join(a.type, b.type));
  const Expr *left = ex_convert(x, a, r.type.dtype).e;
  if (!has) {
    warn_always(x, c);
    r.e = left;
    return r;
  }
  r = carry_guarded(x, r, expr_op1(x->exprs, OP_NOT, has), &b);
  r.e = expr_select(x->exprs, has, left, ex_convert(x, b, r.type.dtype).e);
  return r;
}

static bool is_chain(const Core *c) { return (c->kind == CORE_OP && c->n == 2) || c->kind == CORE_OR_ELSE; }

static int widen_under(const Core *c, int widen) {
  if (widen >= 0 && c->kind == CORE_OP && (c->op == OP_IDIV || c->op == OP_MOD || c->op == OP_POW) &&
      dtype_is_float((DType)(widen & ~KEEP_INTS)))
    return widen | KEEP_INTS;
  return c->kind == CORE_OP && op_info[c->op].rule == RULE_COMPARE ? -1 : widen;
}

/* Walks the left spine with a loop. */
static Ex lower_chain(Elab *x, Core *c, int widen) {
  VEC(Core *) spine = {0};
  VEC(int) wide = {0};
  for (; is_chain(c); c = c->arg[0]) {
    vec_push(x->arena, wide, widen);
    widen = widen_under(c, widen);
    vec_push(x->arena, spine, c);
  }
  Ex e = lower(x, c, widen);
  while (spine.len) {
    Core *up = vec_pop(spine);
    widen = vec_pop(wide);
    if (up->kind == CORE_OR_ELSE) {
      e = or_else(x, up, e, widen);
    } else {
      Ex arg[2] = {e, lower(x, up->arg[1], widen_under(up, widen))};
      e = apply(x, up->op, 2, arg);
    }
  }
  return e;
}

static Ex lower_op(Elab *x, Core *c, int widen) {
  Ex arg[3];
  for (uint32_t i = 0; i < c->n; i++) arg[i] = lower(x, c->arg[i], widen_under(c, widen));
  return apply(x, c->op, c->n, arg);
}

/* The predicate, which reads only where its own indices are in range; that they are is a separate obligation. */
const Expr *restriction(Elab *x, Ex p) {
  const Expr *own = NULL, *all = NULL;
  VEC(const Expr *) parts = {0};
  Facts facts = facts_here(x, NULL);
  for (const Obligation *o = p.range; o; o = o->next)
    if (prove(x->exprs, &facts, o->cond).verdict != PROVED) own = both(x, own, o->cond);
  if (!own) return p.e;
  for (; p.e->kind == EX_OP && p.e->op == OP_AND; p.e = p.e->arg[0]) vec_push(x->arena, parts, p.e->arg[1]);
  vec_push(x->arena, parts, p.e);
  while (parts.len) {
    const Expr *one = vec_pop(parts);
    all = both(x, all, one->has & HAS_READ ? implies(x, own, one) : one);
  }
  return all;
}

static Ex lower_restrict(Elab *x, Core *c, int widen) {
  Ex p = lower(x, c->arg[1], -1), e = lower(x, c->arg[0], widen);
  Ex r = ex_new(e.e, e.type);
  r.pred = restriction(x, p);
  r = carry(x, r, &e);
  r.pred = both(x, r.pred, p.pred);
  r.range = need_all(x, r.range, p.range);
  return r;
}

/* A function of the seed and the row-major index of the labels as written. */
static Ex lower_random(Elab *x, Core *c, int widen) {
  Exprs *p = x->exprs;
  Ex seed = ex_convert(x, lower(x, c->arg[0], -1), DT_I64);
  const Expr *at = expr_int(p, DT_I64, 0);
  for (uint32_t i = 0; i < c->labels.n; i++)
    at = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, at, label_root(c->labels.at[i])->extent), c->labels.at[i]->value);
  const Expr *arg[3] = {seed.e, at, NULL};
  bool perm = op_info[c->op].rule == RULE_INDEX;
  if (perm) arg[2] = label_root(c->labels.at[0])->extent;
  Ex r = ex_new(expr_op(p, c->op, perm ? 3 : 2, arg), c->type);
  return widened(x, carry(x, r, &seed), widen);
}

/* Converts arguments directly: an enclosing reduction does not widen them. */
static Ex lower_call(Elab *x, Core *c, int widen) {
  const Expr *arg[EXTERN_ARGS];
  Ex r = ex_new(NULL, c->type);
  for (uint32_t i = 0; i < c->n; i++) {
    Ex a = ex_convert(x, lower(x, c->arg[i], -1), c->external->arg[i]);
    arg[i] = a.e;
    r = carry(x, r, &a);
  }
  r.e = expr_call(x->exprs, c->external, arg);
  return widened(x, r, widen);
}

static Ex lower_kind(Elab *x, Core *c, int widen) {
  switch (c->kind) {
    case CORE_CONST: return ex_new(c->e, c->type);
    case CORE_LABEL: return ex_new(c->label->value, c->type);
    case CORE_SIZE: return ex_new(label_root(c->label)->extent, c->type);
    case CORE_TURN: return ex_new(expr_turn(x->exprs, c->i), c->type);
    case CORE_READ: return lower_read(x, c, widen);
    case CORE_GROUP: return index_group(x, c);
    case CORE_OP: return c->n == 2 ? lower_chain(x, c, widen) : lower_op(x, c, widen);
    case CORE_OR_ELSE: return lower_chain(x, c, widen);
    case CORE_SELECT: return lower_select(x, c, widen);
    case CORE_CAST: {
      Ex a = lower(x, c->arg[0], -1);
      return ex_convert(x, a, c->type.dtype);
    }
    case CORE_REDUCE: return lower_reduce(x, c, widen);
    case CORE_USE: return lower_use(x, c, widen);
    case CORE_RESTRICT: return lower_restrict(x, c, widen);
    case CORE_CALL: return lower_call(x, c, widen);
    case CORE_TUPLE: return widened(x, lower_tuple(x, c), widen);
    case CORE_RANDOM: return lower_random(x, c, widen);
  }
  bug("lower: core kind %d", (int)c->kind);
}

Ex lower(Elab *x, Core *c, int widen) {
  const Frame *around = x->frame;
  if (c->frame) x->frame = c->frame;
  Ex e = lower_kind(x, c, widen);
  x->frame = around;
  return e;
}

/* ---- an equation ------------------------------------------------------------------------------ */

static bool same_labels(LabelSet a, LabelSet b) {
  if (a.n != b.n) return false;
  for (uint32_t i = 0; i < a.n; i++)
    if (!set_has(b, a.at[i])) return false;
  return true;
}

/* A reducer alone, rounded once at the end, needs no second vertex. */
static bool is_reduction(Core *c, LabelSet out, DType t) {
  if (c->kind != CORE_REDUCE || !reduce_is_one_vertex(c) || !same_labels(c->free, out)) return false;
  DType own = c->type.dtype;
  if (own == t) return true;
  bool exact = c->acc >= 0                              ? (DType)c->acc == own
      : c->reducer != RED_SUM && c->reducer != RED_PROD ? false
                                                        : dtype_size(own) >= 4;
  return exact && dtype_is_float(own) && dtype_is_float(t) && dtype_size(t) < dtype_size(own);
}

static Obligation *total_needs(Elab *x, Ex e, Span span) { return need(x, e.range, e.pred, NEED_VALUE, span); }

/* `T[i:9] : i8 = i - 4`: arithmetic on labels and sizes converts to a narrow integer if all values fit. */
static void index_fits(Elab *x, const Expr *e, DType t, Span span) {
  Exprs *p = x->exprs;
  int bits = 8 * dtype_size(t);
  const Expr *low = expr_int(p, DT_I64, t == DT_U8 ? 0 : -(INT64_C(1) << (bits - 1)));
  const Expr *high = expr_int(p, DT_I64, t == DT_U8 ? 255 : (INT64_C(1) << (bits - 1)) - 1);
  Obligation *o = need(x, NULL, expr_and(p, expr_op2(p, OP_LE, low, e), expr_op2(p, OP_LE, e, high)), NEED_FITS, span);
  if (!o) return;
  o->index = e, o->dtype = t;
  discharge_all(x, o, facts_here(x, NULL), dtype_name(t));
}

EinNode *lower_equation(
    Elab *x, Str name, Core *body, LabelSet out, const uint8_t *merge, uint32_t rank, int dtype, Span span) {
  DType t = dtype >= 0 ? (DType)dtype : type_settle(body->type).dtype;
  const char *what = name ? name->s : "this";
  all_cover(x, body);
  binds_lower(x);
  if (is_reduction(body, out, t)) {
    Ex carried;
    EinNode *v = reduce_vertex(x, body, out, merge, rank, (int)t, name, true, &carried);
    v->place = place_of(x, span);
    Frozen f = labels_number(x, out, (LabelSet){0});
    discharge_all(x, total_needs(x, carried, body->span), facts_here(x, NULL), what);
    labels_restore(x, f);
    return v;
  }
  Frozen f = labels_number(x, out, (LabelSet){0});
  Ex e = lower(x, body, -1);
  if (e.type.weak == WEAK_INDEX && dtype_is_int(t) && t != DT_I64) index_fits(x, e.e, t, body->span);
  e = ex_convert(x, e, t);
  discharge_all(x, total_needs(x, e, body->span), facts_here(x, NULL), what);
  EinSum s = {.reducer = RED_NONE, .acc = t, .dtype = t, .body = e.e};
  EinNode *v = vertex_new(x, &s, merge, rank, name, span);
  labels_restore(x, f);
  return v;
}
