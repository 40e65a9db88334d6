/* expr/sum/check.c - what the checkers of all languages with EinSums share. See sum/law.h. */
#include "law.h"

#include <string.h>

#include "expr/word.h"

SumCheck sum_check_new(Buf *out, Arena *a, Exprs *p, void *ctx, void (*where)(void *ctx, Buf *out)) {
  SumCheck c = {.out = out, .ok = true, .ctx = ctx, .where = where, .arena = a, .exprs = p};
  c.dims = c.monoids = c.extents = map_new(a);
  return c;
}

void check_fail(SumCheck *c, const char *fmt, ...) {
  Buf own = buf_new(c->arena), *out = c->d ? &own : c->out;
  c->ok = false;
  if (c->d && c->follows(c->ctx)) return;
  size_t before = out->len;
  c->where(c->ctx, out);
  if (out->len > before) buf_str(out, ": ");
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(out, fmt, ap);
  va_end(ap);
  if (c->d)
    diag_add(c->d, D_E916, c->line(c->ctx), "%s", own.s);
  else
    buf_char(out, '\n');
}

void check_own_name(SumCheck *c, Map *names, const char *what, uint32_t i, Str name) {
  if (!is_name(name)) check_fail(c, "%s %u has no name", what, i);
  else if (map_find(names, name)) check_fail(c, "two %ss are called %s", what, name->s);
  else map_put(names, name, c);
}

bool is_name(Str s) {
  return s && s->len;
}

const char *check_dtype_name(DType t) {
  return (unsigned)t < DTYPES ? dtype_name(t) : "of no dtype";
}

/* ---- walks and extents -------------------------------------------------------------------------- */

static void check_dim(SumCheck *c, uint32_t number, const Dim *d) {
  if (!word_label(d->name)) check_fail(c, "dim %u has a name that is none", number);
  if (!d->name) return;
  if (map_find(&c->dims, d->name)) check_fail(c, "dim %s is declared twice", d->name->s);
  if (d->known && d->value < 0) check_fail(c, "dim %s is negative", d->name->s);
  map_put(&c->dims, d->name, (void *)(uintptr_t)d);
}

void check_dims(SumCheck *c, const Dims *dims) {
  for (uint32_t i = 0; i < dims->len; i++) check_dim(c, i, &dims->at[i]);
}

static bool walked(const SumCheck *c, const Expr *e) {
  return e->id < c->room && c->stamp[e->id] == c->now;
}

void check_walk(SumCheck *c, const Expr *top, unsigned has, void (*visit)(SumCheck *, const Expr *)) {
  c->stack.len = 0;
  vec_push(c->arena, c->stack, top);
  while (c->stack.len) {
    const Expr *e = vec_last(c->stack);
    if (e->id >= c->room) {
      uint32_t room = e->id + e->id / 2 + 64, *stamp = NEW_ARRAY(c->arena, uint32_t, room);
      if (c->room) memcpy(stamp, c->stamp, c->room * sizeof *stamp);
      c->stamp = stamp;
      c->room = room;
    }
    uint32_t before = c->stack.len;
    bool all = has == WALK_ALL, fresh = !walked(c, e) && (all || (e->has & has));
    for (uint32_t i = e->n; fresh && i-- > 0;)
      if ((all || (e->arg[i]->has & has)) && !walked(c, e->arg[i]))
        vec_push(c->arena, c->stack, e->arg[i]);
    if (c->stack.len > before) continue;
    if (fresh) visit(c, e);
    c->stamp[e->id] = c->now;
    c->stack.len--;
  }
}

/* Only loop variables. */
static void check_op(SumCheck *c, const Expr *e) {
  if (e->kind == EX_OP && op_info[e->op].laws & LAW_LOOP)
    check_fail(c, "`%s` stands outside of loops", op_info[e->op].name);
  if (e->kind == EX_OP && e->op == OP_EXTERN && e->by->block)
    check_fail(c, "%s is a C function of blocks, and stands in an expression", e->by->name->s);
}

void check_dim_name(SumCheck *c, const Expr *e) {
  check_op(c, e);
  if (e->kind != EX_DIM) return;
  const Dim *d = map_find(&c->dims, e->name);
  if (!d)
    check_fail(c, "dim %s is not declared", e->name->s);
  else if (d->known)
    check_fail(c, "dim %s has a value and still stands as a name", e->name->s);
}

bool check_extent(SumCheck *c, const char *what, const Expr *e) {
  if (e && map_find(&c->extents, e)) return true;
  if (!e)
    check_fail(c, "%s is missing", what);
  else if (e->dtype != DT_I64)
    check_fail(c, "%s is not i64", what);
  else if (e->has & ~(unsigned)HAS_DIM)
    check_fail(c, "%s is not over dims alone", what);
  else if (e->kind == EX_INT && e->i < 0)
    check_fail(c, "%s is negative", what);
  else if (extent_normal(c->exprs, e) != e)
    check_fail(c, "%s is not in normal form", what);
  else {
    c->now++;
    check_walk(c, e, WALK_ALL, check_dim_name);
    map_put(&c->extents, e, c);
    return true;
  }
  return false;
}

static void check_condition(SumCheck *c, uint32_t number, const Expr *e) {
  if (!e || e->dtype != DT_BOOL || (e->has & ~(unsigned)HAS_DIM)) {
    check_fail(c, "check %u is not a bool over dims alone", number);
    return;
  }
  c->now++;
  check_walk(c, e, WALK_ALL, check_dim_name);
}

void check_checks(SumCheck *c, const DimChecks *checks) {
  for (uint32_t i = 0; i < checks->len; i++) check_condition(c, i, checks->at[i].cond);
}

/* ---- monoids ------------------------------------------------------------------------------------ */

static void check_param(SumCheck *c, const Expr *e) {
  check_dim_name(c, e);
  if (e->kind == EX_PARAM && e->dtype != c->param)
    check_fail(c, "#%lld is not %s", (long long)e->i, check_dtype_name(c->param));
}

static void check_monoid(SumCheck *c, const Monoid *m) {
  if (!(m->name && m->name->len) || !m->combine || !m->identity || (unsigned)m->dtype >= DTYPES) {
    check_fail(c, "a monoid is not filled in");
    return;
  }
  if (m->combine->dtype != m->dtype || m->identity->dtype != m->dtype)
    check_fail(c, "monoid %s is not all %s", m->name->s, check_dtype_name(m->dtype));
  if (m->combine->has & (HAS_LABEL | HAS_TURN | HAS_READ))
    check_fail(c, "monoid %s is over more than #0 and #1", m->name->s);
  if (m->identity->has & ~(unsigned)HAS_DIM)
    check_fail(c, "the identity of monoid %s is no constant", m->name->s);
  c->now++;
  c->param = m->dtype;
  check_walk(c, m->combine, WALK_ALL, check_param);
  check_walk(c, m->identity, WALK_ALL, check_param);
  if (map_find(&c->monoids, m)) check_fail(c, "monoid %s is in the list twice", m->name->s);
  for (uint32_t i = 0; i < c->monoids.len; i++) {
    const Monoid *x = c->monoids.at[i].key;
    if (x != m && x->name == m->name && x->dtype == m->dtype)
      check_fail(c, "two monoids of %s are called %s", check_dtype_name(m->dtype), m->name->s);
  }
  map_put(&c->monoids, m, c);
}

void check_monoids(SumCheck *c, const Monoids *monoids) {
  for (uint32_t i = 0; i < monoids->len; i++) check_monoid(c, monoids->at[i]);
}

/* ---- EinSums ------------------------------------------------------------------------------------ */

void check_read_slot(SumCheck *c, uint64_t operand, const Expr *read) {
  if (read_slot(&c->reads, operand, read) != read->i)
    check_fail(c, "slot %lld is not in canonical order", (long long)read->i);
}

void check_part(SumCheck *c, const Expr *e) {
  switch ((ExprKind)e->kind) {
  case EX_LABEL:
    if (e->i < 0 || e->i >= c->labels)
      check_fail(c, "label number %lld, of %u", (long long)e->i, c->labels);
    break;
  case EX_TURN:
    if (e->i < 0 || e->i >= c->level)
      check_fail(c, "loop variable of depth %lld in %u repeats", (long long)e->i, c->level);
    break;
  case EX_PARAM: check_fail(c, "#%lld stands outside of a monoid", (long long)e->i); break;
  case EX_DIM: check_dim_name(c, e); break;
  case EX_READ: c->read(c->ctx, e); break;
  case EX_INT:
  case EX_REAL: break;
  case EX_OP: check_op(c, e); break;
  }
}

static void check_domain(SumCheck *c, const EinSum *s) {
  bool used[SUM_LABELS] = {false};
  if (s->domain->dtype != DT_BOOL) check_fail(c, "the domain is not bool");
  expr_labels(s->domain, s->n_out + s->n_red, used);
  for (uint32_t k = s->n_out; k < s->n_out + s->n_red; k++)
    if (used[k]) check_fail(c, "the domain is over a reduced label, %u", k);
}

void check_expressions(SumCheck *c, const EinSum *s) {
  c->now++;
  c->reads = (ReadTable){.arena = c->arena, .chains = map_new(c->arena)};
  check_walk(c, s->body, WALK_ALL, check_part);
  if (s->where) check_walk(c, s->where, WALK_ALL, check_part);
  if (s->domain) check_walk(c, s->domain, WALK_ALL, check_part);
  if (c->reads.from.len < s->n_slot)
    check_fail(c, "%u slots are never read", s->n_slot - c->reads.from.len);
  if (s->body->dtype != s->acc)
    check_fail(c, "the body is %s and not %s", check_dtype_name((DType)s->body->dtype), check_dtype_name(s->acc));
  if (s->where && s->where->dtype != DT_BOOL) check_fail(c, "where is not bool");
  if (s->domain) check_domain(c, s);
}

/* Returns what the reducer requires of its accumulator's dtype; NULL: the dtype fits. */
static const char *acc_wrong(const EinSum *s) {
  bool number = s->acc != DT_BOOL;
  if (s->reducer == RED_NONE) return NULL;
  if (s->reducer == RED_MONOID) return s->monoid && s->monoid->dtype == s->acc ? NULL : "its monoid's dtype";
  switch (reducer_info[s->reducer].types) {
  case REDUCES_SAME:
  case REDUCES_SUM:
  case REDUCES_PLACE: return number ? NULL : "numbers";
  case REDUCES_TEST: return number ? "bools" : NULL;
  case REDUCES_REAL: return dtype_is_float(s->acc) ? NULL : "floats";
  case REDUCES_MEAN:
  case REDUCES_COUNT: return "nothing: it is elaborated away";
  }
  return NULL;
}

void check_by(SumCheck *c, const EinSum *s, bool moved) {
  if (!s->by) return;
  const char *wrong = sum_by_wrong(c->arena, s, moved);
  if (!s->by->block || extern_find(c->exprs, s->by->name) != s->by) {
    check_fail(c, "it is made by what is no C function of blocks");
  } else if (wrong) {
    check_fail(c, "it is made by %s, and a C function %s", s->by->name->s, wrong);
  } else {
    Extern type = *s->by;
    sum_by_type(c->arena, s, &type);
    if (!extern_same_type(&type, s->by))
      check_fail(c, "it is made by %s, which is declared for other labels or tensors", s->by->name->s);
  }
}

void check_reducer(SumCheck *c, const EinSum *s) {
  const char *wants = acc_wrong(s), *name = reducer_info[s->reducer].name;
  if (wants) check_fail(c, "%s is over %s", name, wants);
  if (s->reducer == RED_NONE && s->n_red)
    check_fail(c, "it reduces %u labels without a reducer", s->n_red);
  if (s->reducer == RED_NONE && s->where) check_fail(c, "where stands without a reducer");
  if ((s->reducer == RED_MONOID) != (s->monoid != NULL))
    check_fail(c, "a monoid stands with the reducer monoid, and only there");
  if (s->monoid && !map_find(&c->monoids, s->monoid)) check_fail(c, "its monoid is not the graph's");
  bool place = reducer_is_arg(s->reducer);
  if (place && s->dtype != DT_I64) check_fail(c, "%s gives i64", name);
  bool rounds = dtype_is_float(s->acc) && dtype_is_float(s->dtype);
  if (!place && s->dtype != s->acc && !rounds)
    check_fail(c, "%s does not round to %s", check_dtype_name(s->acc), check_dtype_name(s->dtype));
}
