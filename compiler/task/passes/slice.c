/* task/passes/slice.c - finds which slices of a state its next value changes. An `if` between new values and the
 * state itself,
 *
 *     next K[u, h] = if u == t then new[h] else if u == place[t] then K[t, h] else K[u, h]
 *
 * changes the state only where the conditions hold, and these pin a label, or bound it. Each value then gets a stage
 * that stores only there: over one label less where turns and sizes pin one (u == t), also relative to other labels
 * (i + j == t, a diagonal), else with a domain, which loops use as bounds. */
#include "expr/prove/prove.h"
#include "task/inside.h"

#include <string.h>

typedef VEC(const Expr *) Conjuncts;

typedef struct Slices {
  TaskGraph *t;
  const TaskStage *s;
  uint32_t state;
  uint32_t n;
  TaskStage *out;
  int32_t steps;             /* conditions that may still be examined */
  bool *small;               /* by slice: it is a small part of the state */
  bool ok;                   /* each is a part of the state only */
} Slices;

static bool is_state(const Slices *c, const Expr *e) {
  return e->kind == EX_READ && c->s->slot[e->i].index == c->state && exprs_are_labels(e->n, e->arg);
}

/* ---- labels that turns and sizes pin -------------------------------------------------------------- */

/* Returns the label in `e`, which is the label itself or, in a block of a mesh, the label plus the block's start
 * (*low, else NULL). NULL: it is something else. */
static const Expr *label_alone(const Expr *e, const Expr **low) {
  *low = NULL;
  if (e->kind == EX_LABEL) return e;
  for (uint32_t k = 0; k < e->n && e->kind == EX_OP && e->op == OP_ADD; k++) {
    *low = e->arg[1 - k];
    if (e->arg[k]->kind == EX_LABEL && !((*low)->has & (HAS_LABEL | HAS_READ))) return e->arg[k];
  }
  return NULL;
}

/* What an equation says that the label is. n: if it may depend on the n labels; 0: if it may depend on none. */
static const Expr *pinned_to(Exprs *x, const Expr *e, const Expr *label, uint32_t n) {
  const Expr *low;
  if (e->op != OP_EQ || e->arg[0]->dtype != DT_I64) return NULL;
  if (n) return expr_solve(x, e->arg[0], e->arg[1], (uint32_t)label->i, n);
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *to = e->arg[1 - k];
    if (label_alone(e->arg[k], &low) != label || to->has & (HAS_LABEL | HAS_READ)) continue;
    return low ? expr_normal(x, expr_op2(x, OP_SUB, to, low)) : to;
  }
  return NULL;
}

/* Finds a conjunct `label == to`, where turns and sizes decide `to`, and other ones of n labels. Returns `to`, and the
 * rest of the condition in *rest (NULL: nothing). */
static const Expr *pin_find(Exprs *x, const Expr *cond, const Expr *label, uint32_t n, const Expr **rest) {
  *rest = NULL;
  if (cond->kind != EX_OP) return NULL;
  if (cond->op != OP_AND) return pinned_to(x, cond, label, n);
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *inside, *to = pin_find(x, cond->arg[k], label, n, &inside);
    if (!to) continue;
    *rest = k ? expr_and(x, cond->arg[0], inside) : expr_and(x, inside, cond->arg[1]);
    return to;
  }
  return NULL;
}

/* Replaces the stage by one without label k, which is `to`, of the other labels. */
static void slice_at(Slices *c, TaskStage *s, uint32_t k, const Expr *to, const Expr *rest, const Expr *value) {
  Exprs *x = c->t->exprs;
  EinSum sum = *s->sum;
  uint32_t n = sum.n_out;
  const Expr **label = NEW_ARRAY(c->t->arena, const Expr *, n + 1),
             **bound = NEW_ARRAY(c->t->arena, const Expr *, n + 1);
  Str *name = NEW_ARRAY(c->t->arena, Str, n + 1);
  const Expr **at = NEW_ARRAY(c->t->arena, const Expr *, n + 1);
  for (uint32_t l = 0, m = 0; l < n; l++) {
    label[l] = expr_label(x, m);
    if (l != k) bound[m] = s->bound[l], name[m++] = s->label[l];
  }
  label[k] = to = expr_relabel(x, to, n, label);
  memcpy(at, label, n * sizeof *at);
  const Expr *low = expr_op2(x, OP_LE, expr_int(x, DT_I64, 0), to), *high = expr_op2(x, OP_LT, to, s->bound[k]);
  sum.domain = expr_and(x, low, high);
  if (rest) sum.domain = expr_and(x, sum.domain, expr_relabel(x, rest, n, label));
  sum.body = expr_relabel(x, value, n, label);
  sum.n_out = n - 1;
  s->bound = bound;
  s->label = name;
  s->at = at;
  stage_canonical(c->t, s, &sum, s->slot, sum.n_slot);
}

/* ---- labels that data pin ------------------------------------------------------------------------- */

/* Whether some conjunct is `label == to` without labels in `to`. */
static bool pins_label(const Expr *c) {
  if (c->kind != EX_OP || c->n != 2) return false;
  if (c->op == OP_AND) return pins_label(c->arg[0]) || pins_label(c->arg[1]);
  const Expr *a = c->arg[0], *b = c->arg[1], *low;
  if (c->op != OP_EQ || a->dtype != DT_I64) return false;
  return (label_alone(a, &low) && !(b->has & HAS_LABEL)) || (label_alone(b, &low) && !(a->has & HAS_LABEL));
}

/* A label's bounds according to the conjuncts. `goes`: they depend on turns or data, so the distance is unknown;
 * else an estimate. */
typedef struct Ends { bool low, high, goes; int64_t from, to; } Ends;

/* Takes a < b, or a <= b, if one side is a label alone, and the other depends on turns, sizes and data. */
static void bound_take(const Slices *c, const Expr *a, const Expr *b, Ends *all) {
  const Expr *first, *label = label_alone(a, &first);
  bool upper = label && !(b->has & HAS_LABEL);
  if (!upper) label = label_alone(b, &first);
  const Expr *end = upper ? b : a;
  if (!label || end->has & HAS_LABEL) return;
  Ends *e = &all[label->i];
  e->goes |= (end->has & (HAS_TURN | HAS_READ)) != 0;
  int64_t about = end->has & (HAS_TURN | HAS_READ) ? 0 : task_size_guess(c->t, end);
  if (upper) e->to = !e->high || about < e->to ? about : e->to, e->high = true;
  else e->from = !e->low || about > e->from ? about : e->from, e->low = true;
}

static void ends_find(const Slices *c, const Expr *cond, Ends *all) {
  if (cond->kind != EX_OP || cond->n != 2) return;
  const Expr *a = cond->arg[0], *b = cond->arg[1];
  if (cond->op == OP_AND) ends_find(c, a, all), ends_find(c, b, all);
  if (a->dtype != DT_I64) return;
  if (cond->op == OP_LT || cond->op == OP_LE) bound_take(c, a, b, all);
  if (cond->op == OP_GT || cond->op == OP_GE) bound_take(c, b, a, all);
}

/* Whether it is a part of the state: turns or data bound some label on one side. A small one has a label that is
 * bounded on both sides, to clearly less than its extent: a state without its border is no part of it. */
static bool is_part(const Slices *c, const Expr *cond, bool *is_small) {
  uint32_t n = c->s->sum->n_out;
  Ends *all = NEW_ARRAY(c->t->arena, Ends, n + 1);
  bool some = false, small = pins_label(cond);
  ends_find(c, cond, all);
  for (uint32_t k = 0; k < n; k++) {
    some |= (all[k].low || all[k].high) && all[k].goes;
    small |= all[k].low && all[k].high &&
             (all[k].goes || 2 * (all[k].to - all[k].from) <= task_size_guess(c->t, c->s->bound[k]));
  }
  *is_small = small;
  return some || small;
}

/* Restricts the stage to where the condition holds, which loops use as bounds. */
static void slice_where(Slices *c, TaskStage *s, const Expr *cond, const Expr *value) {
  EinSum sum = *s->sum;
  sum.domain = cond;
  sum.body = value;
  stage_canonical(c->t, s, &sum, s->slot, sum.n_slot);
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static void conjuncts_add(Slices *c, Conjuncts *all, const Expr *cond) {
  if (cond->kind != EX_OP || cond->op != OP_AND) {
    vec_push(c->t->arena, *all, cond);
    return;
  }
  for (uint32_t k = 0; k < cond->n; k++) conjuncts_add(c, all, cond->arg[k]);
}

/* The condition without what follows from the rest of it, as j != t does from j > t: loops make no bounds of that. */
static const Expr *tidied(Slices *c, const Expr *cond) {
  Conjuncts all = {0}, left = {0};
  conjuncts_add(c, &all, cond);
  for (uint32_t i = 0; i < all.len; i++) {
    Conjuncts others = {0};
    vec_each(const Expr *, e, left) vec_push(c->t->arena, others, *e);
    for (uint32_t k = i + 1; k < all.len; k++) vec_push(c->t->arena, others, all.at[k]);
    Facts facts = {.label = c->s->bound, .n_label = c->s->sum->n_out, .hold = others.at, .n_hold = others.len};
    bool open = !others.len || (all.at[i]->has & HAS_READ);
    if (open || prove(c->t->exprs, &facts, all.at[i]).verdict != PROVED) vec_push(c->t->arena, left, all.at[i]);
  }
  const Expr *made = NULL;
  vec_each(const Expr *, e, left) made = expr_and(c->t->exprs, made, *e);
  return made;
}

static void slice_add(Slices *c, const Expr *cond, const Expr *value) {
  Exprs *x = c->t->exprs;
  if (!cond || c->n == SLICES_MOST) {
    c->ok = false;
    return;
  }
  cond = tidied(c, cond);
  c->small[c->n] = true;
  TaskStage *s = &c->out[c->n++];
  *s = *c->s;
  uint32_t n = s->sum->n_out;
  for (uint32_t k = 0; k < 2 * n; k++) { /* last those that depend on other labels */
    const Expr *rest, *to = pin_find(x, cond, expr_label(x, k % n), k < n ? 0 : n, &rest);
    if (!to) continue;
    slice_at(c, s, k % n, to, rest, value);
    return;
  }
  c->ok &= is_part(c, cond, &c->small[c->n - 1]);
  slice_where(c, s, cond, value);
}

static const Expr *opposite(Exprs *x, const Expr *c) {
  if (c->kind == EX_OP && c->op == OP_OR) return expr_and(x, opposite(x, c->arg[0]), opposite(x, c->arg[1]));
  if (c->kind != EX_OP || op_info[c->op].rule != RULE_COMPARE || c->arg[0]->dtype != DT_I64)
    return expr_op1(x, OP_NOT, c);
  return expr_op2(x, op_contrary((Op)c->op), c->arg[0], c->arg[1]);
}

static void slices_of(Slices *c, const Expr *cond, const Expr *e);

/* The value is e where `cond` and `asked` hold; of alternatives only the first that holds is used. */
static void slices_if(Slices *c, const Expr *cond, const Expr *asked, const Expr *e) {
  Exprs *x = c->t->exprs;
  c->ok &= c->steps-- > 0;
  if (!c->ok) return;
  if (asked->kind != EX_OP || asked->op != OP_OR) {
    slices_of(c, expr_and(x, cond, asked), e);
    return;
  }
  slices_if(c, cond, asked->arg[0], e);
  slices_if(c, expr_and(x, cond, opposite(x, asked->arg[0])), asked->arg[1], e);
}

static bool is_number(const Expr *e, int64_t v) {
  return (e->kind == EX_INT && e->i == v) || (e->kind == EX_REAL && e->f == (double)v);
}

/* v + (if c then a else 0) is if c then v + a else v; likewise for differences and products. NULL: e has no such
 * form. */
static const Expr *choice_found(Exprs *x, const Expr *e) {
  if (e->kind != EX_OP || (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL)) return NULL;
  for (uint32_t k = e->op == OP_SUB; k < 2; k++) {
    const Expr *v = e->arg[1 - k], *of = e->arg[k];
    if (of->kind != EX_OP || of->op != OP_SELECT) continue;
    for (uint32_t side = 1; side <= 2; side++) {
      if (!is_number(of->arg[side], e->op == OP_MUL)) continue;
      const Expr *more = of->arg[3 - side],
                 *made = k ? expr_op2(x, (Op)e->op, v, more) : expr_op2(x, (Op)e->op, more, v);
      return side == 2 ? expr_select(x, of->arg[0], made, v) : expr_select(x, of->arg[0], v, made);
    }
  }
  return NULL;
}

/* The value is e where `cond` holds (NULL: everywhere). */
static void slices_of(Slices *c, const Expr *cond, const Expr *e) {
  if (!c->ok || is_state(c, e)) return;
  const Expr *choice = choice_found(c->t->exprs, e);
  if (choice) e = choice;
  if (e->kind != EX_OP || e->op != OP_SELECT) {
    slice_add(c, cond, e);
    return;
  }
  slices_if(c, cond, e->arg[0], e->arg[1]);
  slices_of(c, expr_and(c->t->exprs, cond, opposite(c->t->exprs, e->arg[0])), e->arg[2]);
}

uint32_t stage_slices(TaskGraph *t, const TaskStage *s, uint32_t state, TaskStage *out, bool *small) {
  Slices c = {.t = t, .s = s, .state = state, .out = out, .small = small, .steps = 32};
  c.ok = s->sum->acc == s->sum->dtype;
  slices_of(&c, NULL, s->sum->body);
  return c.ok ? c.n : 0;
}
