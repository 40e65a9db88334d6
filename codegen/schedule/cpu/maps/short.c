/* codegen/schedule/cpu/maps/short.c - maps whose result is contiguous along a label of only a few points, and
 * continues along another one: interleaved results (parts of complex numbers, repeated pixels, bits of a byte). Lanes
 * go along the other label, and the few points are unrolled inside with constant indices: their quotients, remainders
 * and conditions fold away, and the C compiler interleaves the vectors. */
#include "schedule/schedule.h"

enum {
  SHORT_MOST = 8,            /* points */
  LONG_LEAST = 16,           /* points of the other label */
  OPS_MOST = 256             /* scalar operations that are unrolled */
};

/* The label along which the result continues after a run of the short one; NOWHERE: none. */
static uint32_t long_label(const StagePlan *p, uint32_t brief) {
  const TaskStage *st = p->stage;
  const Expr *last = st->at[st->n_at - 1], *row = st->n_at > 1 ? st->at[st->n_at - 2] : NULL;
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    int64_t slope;
    if (l == brief || p->size[l] < LONG_LEAST) continue;
    if (ex_has_label(last, l) && ex_slope(last, l, &slope) && slope == p->size[brief]) return l;
    /* Rows of the last axis are whole. */
    if (last->kind == EX_LABEL && row && row->kind == EX_LABEL && row->i == l) return l;
  }
  return NOWHERE;
}

static uint32_t short_label(const StagePlan *p) {
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    bool few =
        p->exact[l] && p->size[l] >= 2 && p->size[l] <= SHORT_MOST && p->ops * (double)p->size[l] <= (double)OPS_MOST;
    if (few && plan_move(p, p->n_access - 1, l) == MOVE_UNIT) return l;
  }
  return NOWHERE;
}

bool short_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  const TaskStage *st = p->stage;
  if (st->sum->reducer != RED_NONE || st->sum->domain || st->buffer < 0 || !st->n_at) return false;
  uint32_t brief = short_label(p), along = brief == NOWHERE ? NOWHERE : long_label(p, brief);
  if (along == NOWHERE) return false;
  how_add(s, st, "along %s, each %s written out", how_label(st, along), how_label(st, brief));
  Walk *w = NEW(s->arena, Walk);
  uint32_t n = 0, *label = NEW_ARRAY(s->arena, uint32_t, p->n_order);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != brief && p->order[k] != along) label[n++] = p->order[k];
  label[n++] = along;
  for (uint32_t k = 0; k < n; k++) walk_add(s, w, st->label[label[k]], st->bound[label[k]]);
  const Expr *work = ex_int(s, (int64_t)p->ops * p->size[brief]);
  if (threads) walk_chunks(s, w, work, BIND_VECTOR);
  else walk_plain(s, w, 0, BIND_VECTOR);
  for (uint32_t k = 0; k < n; k++) e->label[label[k]] = w->index[k];
  for (int64_t k = 0; k < p->size[brief]; k++) {
    e->label[brief] = ex_int(s, k);
    result_store(s, st, e, ex_shared(s, expr_cast(s->x, st->sum->dtype, ex_of(e, st->sum->body))));
  }
  s->outside = NULL;
  return true;
}
