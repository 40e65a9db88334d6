/* codegen/loop/guard.c - checks loops that were read from text: each index is proved to be in range, or tested at run
 * time.
 *
 * Walks each kernel's statements in order. A loop's variable is expressed as its start plus its step times a counter,
 * and a register that keeps one value as that value; so indices are over counters from 0, whose extents are known. The
 * facts at a statement are the bounds of the loops and the conditions around it. Memory may change between two
 * statements, so a condition that reads memory is not a fact. */
#include "expr/prove/in_range.h"
#include "expr/prove/span.h"
#include "text.h"

typedef struct Index { uint32_t place, axis; const Expr *e; } Index;

typedef struct Guard {
  LoopProgram *p;
  LoopKernel *k;
  Exprs *x;
  Arena *arena;
  Buf *out;
  InRange q;
  const Expr **value;        /* by loop variable: its value in terms of counters */
  const Expr **extent;       /* by loop variable: its counter's extent; NULL: unknown */
  const Expr **let;          /* by place: its single value, or NULL */
  bool *steady;              /* by place: it keeps one value */
  VEC(const Expr *) facts;
  VEC(const Expr *) turns;
  VEC(Index) open;           /* unproved indices of the current expression, in terms of counters */
  uint32_t met, found;       /* indices of the kernel; unproved ones among them */
  const char *first_what;    /* the first of these */
} Guard;

static const Expr *number(const Guard *g, int64_t v) { return expr_int(g->x, DT_I64, v); }

/* ---- counters ------------------------------------------------------------------------------------ */

static const Expr *leaf_counted(void *env, Exprs *x, const Expr *leaf) {
  const Guard *g = env;
  (void)x;
  if (leaf->kind == EX_LABEL) return g->value[leaf->i];
  return leaf->kind == EX_READ && !leaf->n && g->let[leaf->i] ? g->let[leaf->i] : leaf;
}

static const Expr *counted(Guard *g, const Expr *e) { return expr_map(g->x, e, leaf_counted, g); }

/* Whether its value survives any stores in between. */
static bool is_steady(const Guard *g, const Expr *e) {
  if (!(e->has & HAS_READ)) return true;
  if (e->kind == EX_READ) return !e->n && g->steady[e->i];
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_steady(g, e->arg[k])) return false;
  return true;
}

static void fact_add(Guard *g, const Expr *e) {
  if (is_op(e, OP_AND)) {
    fact_add(g, e->arg[0]);
    fact_add(g, e->arg[1]);
  } else if (e->kind != EX_INT && is_steady(g, e))
    vec_push(g->arena, g->facts, e);
}

/* Adds the facts that e is at least `end`, or each argument of a max; or below it, or each argument of a min. */
static void fact_end(Guard *g, const Expr *e, const Expr *end, bool high) {
  if (is_op(end, high ? OP_MIN : OP_MAX)) {
    fact_end(g, e, end->arg[0], high);
    fact_end(g, e, end->arg[1], high);
  } else
    fact_add(g, high ? expr_op2(g->x, OP_LT, e, end) : expr_op2(g->x, OP_LE, end, e));
}

/* Limits the counter's extent by one end of the loop. Prefers a number, which products of counters need. */
static void extent_by(Guard *g, const LoopStmt *s, const Expr *lo, const Expr *end) {
  if (is_op(end, OP_MIN)) {
    extent_by(g, s, lo, end->arg[0]);
    extent_by(g, s, lo, end->arg[1]);
    return;
  }
  const Expr *all = expr_normal(g->x, expr_op2(g->x, OP_SUB, end, lo)), *old = g->extent[s->var], *made = NULL;
  if (all->kind == EX_INT && all->i < INT64_MAX - s->step)
    made = number(g, all->i <= 0 ? 0 : (all->i + s->step - 1) / s->step);
  else if (!(all->has & ~(unsigned)HAS_DIM)) made = s->step == 1 ? all : expr_divide(g->x, all, number(g, s->step));
  if (made && (!old || (made->kind == EX_INT && (old->kind != EX_INT || made->i < old->i)))) g->extent[s->var] = made;
}

static bool range_known(const Guard *g, const Expr *e, Reached *out) {
  const Facts known = {.label = g->extent, .n_label = g->k->var.len, .turn = g->turns.at, .n_turn = g->turns.len};
  return span_by_facts(e, &known, out);
}

/* The largest value that the comparisons around the statement leave: from l < r follows e < e - l + r, which may have a
 * range of numbers even where e has none. */
static int64_t most_by_facts(const Guard *g, const Expr *value) {
  int64_t most = INT64_MAX;
  Reached s;
  for (uint32_t i = g->facts.len; i-- > 0;) {
    const Expr *f = g->facts.at[i];
    bool below = is_op(f, OP_LT);
    if ((!below && !is_op(f, OP_LE)) || f->arg[0]->dtype != DT_I64 || !(f->arg[0]->labels & value->labels)) continue;
    const Expr *past = expr_op2(g->x, OP_ADD, expr_op2(g->x, OP_SUB, value, f->arg[0]), f->arg[1]);
    if (index_may_wrap(&g->q.facts, past) || !range_known(g, expr_normal(g->x, past), &s)) continue;
    if (s.most >= below && s.most - below < most) most = s.most - below;
  }
  return most;
}

/* The extent of an index: one more than the largest number that it can be, if it is never negative. NULL: unknown. */
static const Expr *extent_of_value(const Guard *g, const Expr *value) {
  Reached s;
  bool known = range_known(g, value, &s);
  if (!expr_is_natural(value) && (!known || s.least < 0)) return NULL;
  int64_t most = most_by_facts(g, value);
  if (known && s.most < most) most = s.most;
  return most < INT64_MAX ? number(g, most + 1) : NULL;
}

static void loop_begins(Guard *g, const LoopStmt *s) {
  const Expr *lo = counted(g, s->lo), *hi = counted(g, s->hi), *v = expr_label(g->x, s->var);
  if (s->step == 1 || is_op(lo, OP_MAX) || !is_steady(g, lo)) {
    fact_end(g, v, lo, false);
    extent_by(g, s, number(g, 0), hi);
    if (!g->extent[s->var]) fact_add(g, expr_op2(g->x, OP_LE, number(g, 0), v));
  } else {
    v = expr_op2(g->x, OP_ADD, lo, expr_op2(g->x, OP_MUL, number(g, s->step), v));
    fact_add(g, expr_op2(g->x, OP_LE, number(g, 0), expr_label(g->x, s->var)));
    extent_by(g, s, lo, hi);
    if (!g->extent[s->var]) fact_add(g, expr_op2(g->x, OP_LE, lo, v));
  }
  g->value[s->var] = v;
  fact_end(g, v, hi, true);
}

/* ---- proofs -------------------------------------------------------------------------------------- */

/* The facts about the given labels, and about those that these facts mention. */
static const Expr **facts_for(Guard *g, uint64_t labels, uint32_t *n) {
  bool *taken = NEW_ARRAY(g->arena, bool, g->facts.len + 1), more = true;
  const Expr **hold = NEW_ARRAY(g->arena, const Expr *, g->facts.len + 1);
  for (*n = 0; more;) {
    uint64_t wider = labels;
    more = false;
    for (uint32_t i = g->facts.len; i-- > 0;) {
      const Expr *f = g->facts.at[i];
      if (taken[i] || (f->labels && !(f->labels & labels))) continue;
      taken[i] = more = true;
      hold[(*n)++] = f;
      wider |= f->labels;
    }
    labels = wider;
  }
  return hold;
}

static bool is_proved(Guard *g, const Expr *guard, const Expr *index, const Expr *extent) {
  InRange q = g->q;
  q.facts.hold =
      facts_for(g, index->labels | (extent ? extent->labels : 0) | (guard ? guard->labels : 0), &q.facts.n_hold);
  return in_range_prove(&q, guard, index, extent).verdict == PROVED;
}

static void index_open(Guard *g, uint32_t place, uint32_t axis, const Expr *e) {
  vec_push(g->arena, g->open, ((Index){place, axis, e}));
  if (!g->found++) g->first_what = arena_printf(g->arena, "index %u of %s", axis, g->k->places.at[place].name->s);
}

static bool index_is_open(const Guard *g, uint32_t place, uint32_t axis, const Expr *e) {
  for (uint32_t i = 0; i < g->open.len; i++)
    if (g->open.at[i].place == place && g->open.at[i].axis == axis && g->open.at[i].e == e) return true;
  return false;
}

/* ---- reads --------------------------------------------------------------------------------------- */

/* In terms of counters. An index that is tested already is fine if the test is against this axis' extent. */
static void read_ask(void *ctx, const Expr *read, const Expr *guard) {
  Guard *g = ctx;
  const LoopPlace *x = &g->k->places.at[read->i];
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k];
    g->met++;
    if (is_op(e, OP_WITHIN) && expr_normal(g->x, e->arg[1]) == expr_normal(g->x, x->dim[k])) continue;
    if (!index_is_open(g, (uint32_t)read->i, k, e) && !is_proved(g, guard, e, x->dim[k]))
      index_open(g, (uint32_t)read->i, k, e);
  }
}

static const Expr *within(Guard *g, LoopSite site, const Expr *e, const Expr *extent) {
  uint32_t n = 0;
  while (n < g->p->sites.len && g->p->sites.at[n].text != site.text) n++;
  if (n == g->p->sites.len) vec_push(g->p->arena, g->p->sites, site);
  return expr_op(g->x, OP_WITHIN, 3, (const Expr *[]){e, extent, number(g, n)});
}

static const Expr *index_within(Guard *g, uint32_t place, uint32_t axis, const Expr *e) {
  const LoopPlace *x = &g->k->places.at[place];
  LoopSite site = {.text = strings_printf(g->p->tasks->strings, "index %u of %s, in the loops of %s", axis + 1,
                       x->name->s, g->k->name->s)};
  return within(g, site, e, x->dim[axis]);
}

static const Expr *leaf_looked_at(void *env, Exprs *x, const Expr *leaf) {
  Guard *g = env;
  if (leaf->kind != EX_READ || !leaf->n) return leaf;
  const Expr **at = NEW_ARRAY(g->p->arena, const Expr *, leaf->n);
  for (uint32_t k = 0; k < leaf->n; k++) {
    bool open = index_is_open(g, (uint32_t)leaf->i, k, counted(g, leaf->arg[k]));
    at[k] = open ? index_within(g, (uint32_t)leaf->i, k, leaf->arg[k]) : leaf->arg[k];
  }
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, at);
}

/* The expression with its reads proved, or tested. */
static const Expr *fixed(Guard *g, const Expr *e) {
  if (!e || !(e->has & HAS_READ)) return e;
  g->open.len = 0;
  reads_guarded(g->arena, g->x, counted(g, e), NULL, read_ask, g);
  return g->open.len ? expr_map(g->x, e, leaf_looked_at, g) : e;
}

/* ---- stores -------------------------------------------------------------------------------------- */

static uint32_t register_new(Guard *g) {
  Str name = NULL;
  for (uint32_t n = 0, i = 0; !name; n++) {
    name = strings_printf(g->p->tasks->strings, "outside_%u", n);
    for (i = 0; i < g->k->places.len; i++)
      if (g->k->places.at[i].name == name) name = NULL;
    for (i = 0; name && i < g->k->var.len; i++)
      if (g->k->var.at[i] == name) name = NULL;
  }
  vec_push(g->p->arena, g->k->places,
      ((LoopPlace){.space = SPACE_REGISTER, .name = name, .dtype = DT_I64, .written = true}));
  return g->k->places.len - 1;
}

/* Wraps the statement in `if`; otherwise a register gets `fails`, because an unused value would not be computed. */
static void guard_by(Guard *g, LoopStmt *s, const Expr *cond, const Expr *fails) {
  Arena *a = g->p->arena;
  LoopStmt *was = arena_copy(a, s, sizeof *s), *var = NEW(a, LoopStmt), *store = NEW(a, LoopStmt);
  uint32_t place = register_new(g);
  *var = (LoopStmt){.kind = LOOP_VAR, .place = place};
  *store = (LoopStmt){.kind = LOOP_STORE, .place = place, .value = fails};
  *s = (LoopStmt){.kind = LOOP_IF, .cond = cond};
  vec_push(a, s->body, was);
  vec_push(a, s->other, var);
  vec_push(a, s->other, store);
}

static void store_guarded(Guard *g, LoopStmt *s, const Expr *const *at, uint32_t n) {
  uint32_t place = s->place;
  for (uint32_t k = 0; k < n; k++) {
    if (!index_is_open(g, place, k, counted(g, at[k]))) continue;
    const Expr *dim = g->k->places.at[place].dim[k];
    const Expr *inside = expr_and(g->x, expr_op2(g->x, OP_LE, number(g, 0), at[k]), expr_op2(g->x, OP_LT, at[k], dim));
    guard_by(g, s, inside ? inside : expr_bool(g->x, true), index_within(g, place, k, at[k]));
  }
}

/* The index without its own test, which a store does not need. */
static const Expr *bare(const Expr *e) { return is_op(e, OP_WITHIN) ? e->arg[0] : e; }

static void guard_store(Guard *g, LoopStmt *s) {
  const LoopPlace *x = &g->k->places.at[s->place];
  const Expr **at = NEW_ARRAY(g->p->arena, const Expr *, s->n_at + 1);
  s->value = fixed(g, s->value);
  for (uint32_t k = 0; k < s->n_at; k++) at[k] = fixed(g, bare(s->at[k]));
  s->at = at;
  g->open.len = 0;
  for (uint32_t k = 0; k < s->n_at; k++) {
    const Expr *e = counted(g, at[k]);
    g->met++;
    if (!is_proved(g, NULL, e, x->dim[k])) index_open(g, s->place, k, e);
  }
  if (g->open.len) store_guarded(g, s, at, s->n_at);
}

/* ---- streams: as many elements as are streamed, on either side ------------------------------------ */

/* The unproved part of a stream's bounds, as a condition. */
typedef struct Streamed { Guard *g; const Expr *count, *cond; } Streamed;

static void stream_ask(Streamed *q, const Expr *index, const Expr *extent) {
  Guard *g = q->g;
  g->met++;
  if (is_proved(g, NULL, counted(g, index), counted(g, extent))) return;
  q->cond = expr_and(g->x, q->cond, expr_op2(g->x, OP_LE, number(g, 0), index));
  q->cond = expr_and(g->x, q->cond, expr_op2(g->x, OP_LT, index, extent));
}

/* Treats the last `axes` indices as a single one. */
static void stream_side(Streamed *q, uint32_t place, const Expr *const *at, uint32_t axes) {
  Guard *g = q->g;
  const LoopPlace *x = &g->k->places.at[place];
  const Expr *from = number(g, 0), *all = number(g, 1);
  for (uint32_t k = 0; k < x->rank; k++) {
    if (k + axes < x->rank) {
      stream_ask(q, at[k], x->dim[k]);
      continue;
    }
    from = expr_op2(g->x, OP_ADD, expr_op2(g->x, OP_MUL, from, x->dim[k]), at[k]);
    all = expr_normal(g->x, expr_op2(g->x, OP_MUL, all, x->dim[k]));
  }
  const Expr *past = expr_op2(g->x, OP_ADD, all, number(g, 1));
  stream_ask(q, from, past);
  stream_ask(q, expr_op2(g->x, OP_ADD, from, q->count), past);
}

static void guard_stream(Guard *g, LoopStmt *s) {
  const Expr **at = NEW_ARRAY(g->p->arena, const Expr *, s->n_at + 1),
             **from = NEW_ARRAY(g->p->arena, const Expr *, s->value->n + 1);
  for (uint32_t k = 0; k < s->n_at; k++) at[k] = fixed(g, bare(s->at[k]));
  for (uint32_t k = 0; k < s->value->n; k++) from[k] = fixed(g, bare(s->value->arg[k]));
  s->at = at;
  s->value = expr_read(g->x, (DType)s->value->dtype, s->value->i, s->value->n, from);
  s->hi = fixed(g, s->hi);
  Streamed q = {g, s->hi, NULL};
  stream_side(&q, s->place, at, (uint32_t)s->step);
  stream_side(&q, (uint32_t)s->value->i, from, 1);
  if (!q.cond) return;
  const char *name = g->k->places.at[s->place].name->s;
  if (!g->found++) g->first_what = arena_printf(g->arena, "what is streamed to %s", name);
  LoopSite site = {
      .text = strings_printf(g->p->tasks->strings, "what is streamed to %s, in the loops of %s", name, g->k->name->s)};
  guard_by(g, s, q.cond, within(g, site, s->hi, number(g, 0)));
}

/* ---- statements ---------------------------------------------------------------------------------- */

static void guard_body(Guard *g, LoopBody *body);

/* Proves or tests that the loop does not begin below 0: the printer divides loop variables as C does. */
static void begin_looked_at(Guard *g, LoopStmt *s) {
  const Expr *lo = counted(g, s->lo);
  g->met++;
  if (expr_is_natural(lo) || is_proved(g, NULL, lo, NULL)) return;
  if (!g->found++) g->first_what = arena_printf(g->arena, "where the loop over %s begins", g->k->var.at[s->var]->s);
  LoopSite site = {.text = strings_printf(g->p->tasks->strings, "where the loop over %s begins, in the loops of %s",
                       g->k->var.at[s->var]->s, g->k->name->s)};
  s->lo = within(g, site, s->lo, number(g, INT64_MAX));
  /* Its length is no longer constant. */
  if (s->bind == BIND_SHORT || s->bind == BIND_HELD) s->bind = BIND_VECTOR;
  if (s->bind == BIND_UNROLL) s->bind = BIND_SEQ;
}

static void guard_for(Guard *g, LoopStmt *s) {
  s->lo = fixed(g, s->lo);
  s->hi = fixed(g, s->hi);
  uint32_t before = g->facts.len;
  begin_looked_at(g, s);
  loop_begins(g, s);
  guard_body(g, &s->body);
  bool stores = s->body.len && s->body.at[s->body.len - 1]->kind == LOOP_STORE;
  /* The store that it is held for is now inside a condition. */
  if (s->bind == BIND_HELD && !stores) s->bind = s->hi->i - s->lo->i > LOOP_SHORT ? BIND_VECTOR : BIND_SHORT;
  g->facts.len = before;
}

enum { AFFINE_DEPTH = 8 };

static bool is_affine(const Expr *e, int depth) {
  if (e->kind == EX_INT || e->kind == EX_LABEL) return true;
  if (e->kind != EX_OP || e->n != 2 || !depth) return false;
  bool number = e->arg[0]->kind == EX_INT || e->arg[1]->kind == EX_INT;
  if (e->op != OP_ADD && e->op != OP_SUB && !(e->op == OP_MUL && number)) return false;
  return is_affine(e->arg[0], depth - 1) && is_affine(e->arg[1], depth - 1);
}

/* An index that is a sum of others stands for it, unless only a condition limits it. Of all others the facts are that
 * it is its value, and its extent. */
static void guard_index(Guard *g, LoopStmt *s) {
  s->lo = fixed(g, s->lo);
  begin_looked_at(g, s);
  const Expr *value = counted(g, s->lo), *extent = extent_of_value(g, value);
  Reached range;
  if (is_affine(value, AFFINE_DEPTH) && (!extent || range_known(g, value, &range))) {
    g->value[s->var] = value;
    return;
  }
  LoopStmt once = {
      .kind = LOOP_FOR, .var = s->var, .lo = s->lo, .hi = expr_op2(g->x, OP_ADD, s->lo, number(g, 1)), .step = 1};
  loop_begins(g, &once);
  const Expr *old = g->extent[s->var];
  if (extent && (!old || old->kind != EX_INT || old->i > extent->i)) g->extent[s->var] = extent;
}

static void guard_if(Guard *g, LoopStmt *s) {
  uint32_t before = g->facts.len;
  s->cond = fixed(g, s->cond);
  const Expr *cond = counted(g, s->cond);
  fact_add(g, cond);
  guard_body(g, &s->body);
  g->facts.len = before;
  fact_add(g, expr_op1(g->x, OP_NOT, cond));
  guard_body(g, &s->other);
  g->facts.len = before;
}

enum { LIMIT_DEPTH = 8 };

/* An upper or lower limit of e whose value is steady; NULL: unknown. */
static const Expr *limit_of(const Guard *g, const Expr *e, bool most, int depth) {
  if (is_steady(g, e)) return e;
  if (is_op(e, OP_WITHIN) && !most) return number(g, 0);
  if (is_op(e, OP_WITHIN)) return is_steady(g, e->arg[1]) ? expr_op2(g->x, OP_SUB, e->arg[1], number(g, 1)) : NULL;
  if (!depth || (!is_op(e, OP_MIN) && !is_op(e, OP_MAX))) return NULL;
  const Expr *a = limit_of(g, e->arg[0], most, depth - 1), *b = limit_of(g, e->arg[1], most, depth - 1);
  if (is_op(e, OP_MIN) == most && (!a || !b)) return a ? a : b; /* one suffices */
  return a && b ? expr_op2(g->x, (Op)e->op, a, b) : NULL;
}

/* Records the value of a register that keeps one value, or bounds of it. */
static void guard_let(Guard *g, LoopStmt *s) {
  s->value = fixed(g, s->value);
  const Expr *value = counted(g, s->value);
  g->steady[s->place] = true;
  if (value->dtype != DT_I64) return;
  if (is_steady(g, value)) {
    g->let[s->place] = value;
    return;
  }
  const Expr *most = limit_of(g, value, true, LIMIT_DEPTH), *least = limit_of(g, value, false, LIMIT_DEPTH);
  const Expr *kept = expr_read(g->x, DT_I64, s->place, 0, NULL);
  if (most) fact_add(g, expr_op2(g->x, OP_LE, kept, most));
  if (least) fact_add(g, expr_op2(g->x, OP_LE, least, kept));
}

/* An address depends on its indices, and reads nothing. */
static void guard_lead(Guard *g, LoopStmt *s) {
  const Expr **at = NEW_ARRAY(g->p->arena, const Expr *, s->value->n + 1);
  for (uint32_t k = 0; k < s->value->n; k++) at[k] = fixed(g, s->value->arg[k]);
  s->value = expr_read(g->x, (DType)s->value->dtype, s->value->i, s->value->n, at);
  const Expr *lead = expr_read(g->x, DT_I64, s->place, 0, NULL);
  g->steady[s->place] = true;
  fact_add(g, expr_op2(g->x, OP_LE, number(g, 0), lead));
  fact_add(g, expr_op2(g->x, OP_LE, lead, number(g, 64 / dtype_size((DType)s->value->dtype) - 1))); /* a line's rest */
}

static void guard_fetch(Guard *g, LoopStmt *s) {
  const Expr **at = NEW_ARRAY(g->p->arena, const Expr *, s->n_at + 1);
  for (uint32_t k = 0; k < s->n_at; k++) at[k] = fixed(g, s->at[k]);
  s->at = at;
}

/* A library tests no indices: if some are unproved, the launches in its place are used. Returns whether all are
 * proved. */
static bool guard_product(Guard *g, LoopStmt *s) {
  const LoopPlace *x = &g->k->places.at[s->place];
  uint32_t before = g->facts.len;
  for (uint32_t i = 0; i < s->n_over; i++) {
    LoopStmt loop = {.kind = LOOP_FOR, .var = s->over[i].var, .lo = number(g, 0), .hi = s->over[i].extent, .step = 1};
    loop_begins(g, &loop);
  }
  g->open.len = 0;
  reads_guarded(g->arena, g->x, counted(g, s->value), NULL, read_ask, g);
  for (uint32_t k = 0; k < s->n_at; k++) {
    const Expr *e = counted(g, s->at[k]);
    g->met++;
    if (!is_proved(g, NULL, e, x->dim[k])) index_open(g, s->place, k, e);
  }
  g->facts.len = before;
  return !g->open.len;
}

static void product_leave(Guard *g, LoopBody *body, uint32_t i) {
  LoopBody was = *body, made = {0};
  for (uint32_t k = 0; k < i; k++) vec_push(g->p->arena, made, was.at[k]);
  for (uint32_t k = 0; k < was.at[i]->other.len; k++) vec_push(g->p->arena, made, was.at[i]->other.at[k]);
  for (uint32_t k = i + 1; k < was.len; k++) vec_push(g->p->arena, made, was.at[k]);
  *body = made;
}

/* If the first element is in range, all are: the index and the axis are multiples of the width. */
static void guard_group(Guard *g, LoopStmt *s) {
  if (s->n_at) guard_store(g, s);
  else s->value = fixed(g, s->value);
}

static void guard_body(Guard *g, LoopBody *body) {
  for (uint32_t i = 0; i < body->len; i++) {
    if (body->at[i]->kind == LOOP_PRODUCT && !guard_product(g, body->at[i])) product_leave(g, body, i);
    LoopStmt *s = body->at[i];
    switch (s->kind) {
    case LOOP_PRODUCT:
      guard_body(g, &s->body);
      guard_body(g, &s->other);
      break;
    case LOOP_FOR: guard_for(g, s); break;
    case LOOP_INDEX: guard_index(g, s); break;
    case LOOP_IF: guard_if(g, s); break;
    case LOOP_LET: guard_let(g, s); break;
    case LOOP_LEAD: guard_lead(g, s); break;
    case LOOP_VAR: s->value = fixed(g, s->value); break;
    case LOOP_COPY:
    case LOOP_STORE: guard_store(g, s); break;
    case LOOP_STREAM: guard_stream(g, s); break;
    case LOOP_GROUP: guard_group(g, s); break;
    case LOOP_FETCH: guard_fetch(g, s); break;
    case LOOP_TRANSPOSE:
    case LOOP_MATRIX: /* shared.c checks its range */
    case LOOP_BARRIER:
    case LOOP_COMMIT:
    case LOOP_AWAIT:
    case LOOP_CALL: /* proved with its stage */
    case LOOP_LANES_OF: break;
    }
  }
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static void guard_kernel(Guard *g, LoopKernel *k) {
  uint32_t vars = k->var.len, places = k->places.len;
  g->k = k;
  g->value = NEW_ARRAY(g->arena, const Expr *, vars + 1);
  g->extent = NEW_ARRAY(g->arena, const Expr *, vars + 1);
  g->let = NEW_ARRAY(g->arena, const Expr *, places + 1);
  g->steady = NEW_ARRAY(g->arena, bool, places + 1);
  g->met = g->found = g->facts.len = 0;
  for (uint32_t i = 0; i < vars; i++) g->value[i] = expr_label(g->x, i);
  for (uint32_t i = 0; i < g->p->tasks->checks.len; i++) fact_add(g, g->p->tasks->checks.at[i].cond);
  g->q.facts = (Facts){.label = g->extent, .n_label = vars, .turn = g->turns.at, .n_turn = g->turns.len};
  guard_body(g, &k->body);
  if (g->found)
    buf_printf(g->out, "%s  kernel %s: %u of %u, the first is %s", g->out->len ? "\n" : "", k->name->s, g->found,
        g->met, g->first_what);
}

static void guard_kernels(Guard *g, LoopKernel *k) {
  guard_kernel(g, k);
  if (k->narrow) guard_kernel(g, k->narrow);
}

static void guard_tasks(Guard *g, const Tasks *list) {
  vec_each_of(const Task, t, *list) {
    for (uint32_t k = 0; t->kind == TASK_KERNEL && k < g->p->kernels.len; k++)
      if (g->p->kernels.at[k]->task == t->step) guard_kernels(g, g->p->kernels.at[k]);
    if (t->kind != TASK_REPEAT) continue;
    vec_push(g->arena, g->turns, task_turns(g->p->tasks, t));
    guard_tasks(g, &t->body);
    g->turns.len--;
  }
}

void loop_guard(LoopProgram *p, Buf *out) {
  Arena *a = arena_new();
  Guard g = {.p = p, .x = p->tasks->exprs, .arena = a, .out = out, .q = {.exprs = p->tasks->exprs, .arena = a}};
  guard_tasks(&g, &p->tasks->tasks);
  arena_free(a);
}
