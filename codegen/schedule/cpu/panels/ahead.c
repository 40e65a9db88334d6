/* codegen/schedule/cpu/panels/ahead.c - prefetches what a panel will be filled from. Each row that is copied lies far
 * from the one before, so the hardware prefetcher would miss at the start of each. */
#include "panels.h"

enum {
  LINE = 64,                 /* bytes of a cache line */
  AHEAD = 4096,              /* bytes to keep in flight */
  LONG_LANES = 512           /* bytes: longer runs of lanes need no prefetch; it would cost 1 to 2 % of a product */
};

/* The prefetch distance: so many points along a label. */
typedef struct Ahead { uint32_t label; int64_t points; } Ahead;

/* Sets the distance along the label to AHEAD bytes, at *run bytes a point. Returns false if that is too much of the
 * label; then *run covers all its points, for the next loop out. */
static bool ahead_try(uint32_t label, int64_t size, double *run, Ahead *out) {
  double points = *run < (double)AHEAD ? (double)AHEAD / *run : 1;
  *out = (Ahead){label, (int64_t)points};
  if (out->points * 2 < size) return true;
  *run *= (double)size;
  return false;
}

static bool ahead_near(const Panel *t, const Pack *k, const Side *x, double run, Ahead *out) {
  for (uint32_t i = x->n_near; i-- > 0;)
    if (ex_has_label(k->of, x->near[i]) && ahead_try(x->near[i], pack_near_size(t, x, i), &run, out)) return true;
  return false;
}

/* Whether the label's next point continues the run of this one, because the run is all of the last axis: the hardware
 * prefetcher follows that. */
static bool goes_on(const Panel *t, const Expr *e, uint32_t last, uint32_t next) {
  if (e->kind != EX_READ || e->n < 2 || pack_depth(t, last) < t->p->size[last]) return false;
  const Expr *at = e->arg[e->n - 1], *before = e->arg[e->n - 2];
  return at->kind == EX_LABEL && at->i == last && before->kind == EX_LABEL && before->i == next;
}

/* Prefetches the element at the current point, advanced by the distance. */
static void fetch(Panel *t, const Pack *k, Ahead a) {
  Sched *s = t->s;
  const Expr *was = t->e->label[a.label], *end = ex_sub(s, t->p->stage->bound[a.label], ex_int(s, 1));
  t->e->label[a.label] = ex_min(s, ex_add(s, was, ex_int(s, a.points)), end);
  read_fetch(s, t->p, k->of, t->e);
  t->e->label[a.label] = was;
}

void pack_ahead_along(Panel *t, const Pack *k) {
  Sched *s = t->s;
  const Side *x = &t->u;
  uint32_t last = k->red[k->n_red - 1];
  int64_t one = dtype_size((DType)k->of->dtype);
  double run = (double)(pack_depth(t, last) * one);
  if (k->comes) return;
  Ahead a = {0};
  bool found = false;
  for (uint32_t i = k->n_red - 1; i-- > 0 && !found;) found = ahead_try(k->red[i], pack_depth(t, k->red[i]), &run, &a);
  if (!found) found = ahead_try((uint32_t)x->tile, x->unit * x->units, &run, &a);
  if (!found && !ahead_near(t, k, x, run, &a)) return;
  if (goes_on(t, k->of, last, a.label)) return;
  const Expr *lo, *n = pack_range(t, last, &lo), *was = t->e->label[last];
  uint32_t v = var_new(s, t->p->stage->label[last], "r");
  LoopBody *around = into(s, &for_add(s, v, ex_int(s, 0), n, LINE / one, BIND_SEQ)->body);
  t->e->label[last] = ex_add(s, lo, var_read(s, v));
  fetch(t, k, a);
  t->e->label[last] = was;
  into(s, around);
}

void pack_ahead_across(Panel *t, const Pack *k, const Side *x, const Expr *first, int64_t lanes) {
  Sched *s = t->s;
  int64_t one = dtype_size((DType)k->of->dtype);
  double run = (double)((x->flat == NO_LABEL ? x->unit * x->units : lanes) * one);
  Ahead a = {0};
  bool found = false;
  if (run >= (double)LONG_LANES || k->comes) return;
  for (uint32_t i = k->n_red; i-- > 0 && !found;) found = ahead_try(k->lies[i], pack_depth(t, k->lies[i]), &run, &a);
  if (!found && !ahead_near(t, k, x, run, &a)) return;
  for (int64_t l = 0; l < lanes; l += LINE / one) {
    t->e->label[x->tile] = ex_add(s, first, ex_int(s, l));
    fetch(t, k, a);
  }
}
