/* codegen/schedule_scatter.c - scatters. A reduction over the points where an output label equals something that the points
 * decide, `H[b] = sum[e where bin[e] == b] w[e]`, goes over the points once and puts each where it belongs, instead of
 * asking every point for every output. */
#include "schedule.h"

typedef struct Scatter {
  Sched *s;
  const StagePlan *p;
  Env *e;
  uint32_t b;                /* the output label */
  const Expr *to, *rest;     /* the stage's: what it equals, and what is left of the predicate (NULL: nothing) */
} Scatter;

/* A conjunct `label == to` with reduced labels or reads in `to`, but not the label. */
static bool pin_find(Scatter *c, const Expr *cond, uint32_t label, const Expr **rest) {
  Exprs *x = c->s->x;
  *rest = NULL;
  if (cond->kind != EX_OP) return false;
  if (cond->op == OP_AND) {
    for (uint32_t k = 0; k < 2; k++) {
      const Expr *inside;
      if (!pin_find(c, cond->arg[k], label, &inside)) continue;
      *rest = k ? expr_and(x, cond->arg[0], inside) : expr_and(x, inside, cond->arg[1]);
      return true;
    }
    return false;
  }
  if (cond->op != OP_EQ || cond->arg[0]->dtype != DT_I64) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *is = cond->arg[k], *to = cond->arg[1 - k];
    if (is->kind != EX_LABEL || is->i != label || ex_has_label(to, label)) continue;
    c->to = to;
    return true;
  }
  return false;
}

static bool scatter_find(Scatter *c) {
  const StagePlan *p = c->p;
  const EinSum *sum = p->stage->sum;
  if (!sum->where || sum->domain || !p->n_red || sum->reducer == RED_NONE || sum->reducer == RED_ARGMAX ||
      sum->reducer == RED_ARGMIN)
    return false;
  for (uint32_t k = 0; k < p->n_order; k++) {
    c->b = p->order[k];
    if (p->size[c->b] > 2 && pin_find(c, sum->where, c->b, &c->rest)) return true;
  }
  return false;
}

/* The points: each goes to the sum that it belongs to, if there is one. Float sums of many points have no lanes to go in, but
 * each output gets a part of them only. */
static void points_walk(Scatter *c, uint32_t acc) {
  Sched *s = c->s;
  const StagePlan *p = c->p;
  const EinSum *sum = p->stage->sum;
  LoopBody *was = s->body;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t v = var_new(s, p->stage->label[p->red[k]], "r");
    c->e->label[p->red[k]] = var_read(s, v);
    into(s, &for_add(s, v, ex_int(s, 0), p->stage->bound[p->red[k]], 1, BIND_SEQ)->body);
  }
  uint32_t place = place_own(s, p->stage->label[c->b], "at", DT_I64, 0, NULL);
  c->e->label[c->b] = ex_int(s, 0); /* `to` does not look at it */
  let_add(s, place, ex_shared(s, ex_of(c->e, c->to)));
  const Expr *at = scalar_read(s, place);
  const Expr *inside = expr_and(s->x, expr_op2(s->x, OP_LE, ex_int(s, 0), at), expr_op2(s->x, OP_LT, at, p->stage->bound[c->b]));
  into(s, &if_add(s, inside)->body);
  c->e->label[c->b] = named(s, p->stage->label[c->b], "b", at);
  if (c->rest) into(s, &if_add(s, ex_shared(s, ex_of(c->e, c->rest)))->body);
  const Expr *index = c->e->label[c->b], *value = ex_shared(s, ex_of(c->e, sum->body));
  store_add(s, acc, 1, &index, ex_shared(s, red_combine(s, sum, place_read(s, acc, 1, &index), value)));
  into(s, was);
}

bool scatter_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  Scatter c = {.s = s, .p = p, .e = e};
  if (!scatter_find(&c)) return false;
  const TaskStage *st = p->stage;
  how_add(s, st, "one walk over the points, each put to its %s", how_label(st, c.b));
  Walk *w = NEW(s->arena, Walk);
  const Expr *work = ex_int(s, (int64_t)p->ops);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != c.b) walk_add(s, w, st->label[p->order[k]], st->bound[p->order[k]]);
  for (uint32_t k = 0; k < p->n_red; k++) work = ex_mul(s, work, st->bound[p->red[k]]);
  if (threads && w->n) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0, i = 0; k < p->n_order; k++)
    if (p->order[k] != c.b) e->label[p->order[k]] = w->index[i++];
  uint32_t acc = place_own(s, st->name, "sums", st->sum->acc, 1, &st->bound[c.b]);
  var_add(s, acc, NULL);
  LoopBody *was = s->body;
  for (int pass = 0; pass < 2; pass++) { /* what it begins with, the points, what it comes to */
    uint32_t v = var_new(s, st->label[c.b], "b");
    into(s, &for_add(s, v, ex_int(s, 0), st->bound[c.b], 1, BIND_VECTOR)->body);
    const Expr *at = e->label[c.b] = var_read(s, v);
    if (pass == 0) store_add(s, acc, 1, &at, red_identity(s, st->sum));
    else result_store(s, st, e, expr_cast(s->x, st->sum->dtype, place_read(s, acc, 1, &at)));
    into(s, was);
    if (pass == 0) points_walk(&c, acc);
  }
  return true;
}
