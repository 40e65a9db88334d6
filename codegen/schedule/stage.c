/* codegen/schedule/stage.c - the loops of one stage: the outermost split into chunks for threads, the innermost in
 * lanes. A chunk's work depends on sizes alone, so the bits do not depend on the number of threads. */
#include "schedule.h"

enum {
  CHUNK_OPS = 131072,        /* roughly how many scalar operations make a chunk */
  CHUNKS_WANTED = 64         /* loops are joined until they have so many steps */
};

const Expr *named(Sched *s, Str name, const char *otherwise, const Expr *value) {
  if (value->kind == EX_INT || value->kind == EX_LABEL) return value;
  uint32_t v = var_new(s, name, otherwise);
  index_add(s, v, value);
  return var_read(s, v);
}

/* ---- chunks ---------------------------------------------------------------------------------------- */

static const Expr *extents_product(Sched *s, const Walk *w, uint32_t n) {
  const Expr *e = ex_int(s, 1);
  for (uint32_t k = 0; k < n; k++) e = ex_mul(s, e, w->extent[k]);
  return e;
}

void walk_plain(Sched *s, Walk *w, uint32_t from, LoopBind innermost) {
  for (uint32_t k = from; k < w->n; k++) {
    const Expr *lo = w->index[k] = ex_int(s, 0), *hi = w->extent[k];
    bool part = !k && w->bounds;
    if (part) w->bounds(w->env, &lo, &hi);
    if (!part && expr_is_int(w->extent[k], 1)) continue;
    uint32_t v = var_new(s, w->name[k], "i");
    w->index[k] = var_read(s, v);
    LoopBind bind = k + 1 == w->n ? innermost : BIND_SEQ;
    if (bind == BIND_VECTOR) s->outside = s->body, s->inner = v;
    into(s, &for_add(s, v, lo, hi, 1, bind)->body);
  }
}

void walk_count(Sched *s, Walk *w, uint32_t n, const Expr *f) {
  for (uint32_t k = n; k-- > 0;) {
    w->index[k] = ex_int(s, 0);
    if (expr_is_int(w->extent[k], 1)) continue;
    w->index[k] = named(s, w->name[k], "i", k ? expr_op2(s->x, OP_MOD, f, w->extent[k]) : f);
    if (k) f = named(s, NULL, "f", expr_op2(s->x, OP_IDIV, f, w->extent[k]));
  }
}

void walk_chunks(Sched *s, Walk *w, const Expr *work, LoopBind innermost) {
  uint32_t n = 0, most = w->bounds && w->n ? 1 : innermost == BIND_VECTOR && w->n > 1 ? w->n - 1 : w->n;
  for (double values = 1; n < most && values < (double)CHUNKS_WANTED; n++)
    values *= (double)task_size_guess(s->t, w->extent[n]);
  const Expr *all = extents_product(s, w, n), *inner = work;
  for (uint32_t k = n; k < w->n; k++) inner = ex_mul(s, inner, w->extent[k]);
  const Expr *total = ex_mul(s, all, inner);
  int64_t chunk = s->target->chunk ? s->target->chunk : CHUNK_OPS;
  BUG_UNLESS(n || !s->when);
  if (!n || (!s->when && total->kind == EX_INT && total->i < 2 * chunk)) {
    walk_plain(s, w, 0, innermost);
    return;
  }
  const Expr *size = ex_max(s, ex_int(s, 1), expr_op2(s->x, OP_IDIV, ex_int(s, chunk), ex_max(s, inner, ex_int(s, 1))));
  if (n == w->n && innermost == BIND_VECTOR) /* whole lanes */
    size = ex_mul(s, ex_div_up(s, size, ex_int(s, 64)), ex_int(s, 64));
  bool each = expr_is_int(size, 1);
  uint32_t c = var_new(s, each && n == 1 ? w->name[0] : NULL, each ? "i" : "chunk");
  const Expr *turns = ex_div_up(s, all, size);
  if (s->when) turns = expr_select(s->x, s->when, turns, ex_int(s, 0));
  into(s, &for_add(s, c, ex_int(s, 0), turns, 1, BIND_THREAD)->body);
  const Expr *f = var_read(s, c), *first = NULL, *end = NULL;
  if (w->bounds) first = ex_int(s, 0), end = w->extent[0], w->bounds(w->env, &first, &end);
  if (!each) {
    const Expr *lo = ex_mul(s, f, size), *hi = ex_min(s, all, ex_add(s, lo, size));
    uint32_t v = var_new(s, n == 1 ? w->name[0] : NULL, "f");
    LoopBind bind = n == w->n ? innermost : BIND_SEQ;
    into(s,
        &for_add(s, v, first ? ex_max(s, first, lo) : lo, end ? ex_min(s, end, hi) : hi, 1, n == 1 ? bind : BIND_SEQ)
             ->body);
    f = var_read(s, v);
  } else if (first) {
    into(s, &if_add(s, expr_and(s->x, expr_op2(s->x, OP_LE, first, f), expr_op2(s->x, OP_LT, f, end)))->body);
  }
  if (n == 1) w->index[0] = f;
  else walk_count(s, w, n, f);
  walk_plain(s, w, n, innermost);
}

const Expr *walk_number(Sched *s, const Walk *w) {
  const Expr *f = w->index[0];
  for (uint32_t k = 1; k < w->n; k++) f = ex_add(s, ex_mul(s, f, w->extent[k]), w->index[k]);
  return f;
}

void walk_next(Sched *s, const Walk *w, const bool *wanted, const Expr **next) {
  const Expr *f = walk_number(s, w), *all = extents_product(s, w, w->n);
  uint32_t first = 0;
  while (wanted && first < w->n && !wanted[first]) first++;
  if (first == w->n) return;
  f = named(s, NULL, "next", ex_min(s, ex_add(s, f, ex_int(s, 1)), ex_sub(s, all, ex_int(s, 1))));
  for (uint32_t k = w->n; k-- > first;) {
    if (!wanted || wanted[k]) next[k] = named(s, NULL, "next", k ? expr_op2(s->x, OP_MOD, f, w->extent[k]) : f);
    if (k) f = expr_op2(s->x, OP_IDIV, f, w->extent[k]);
  }
}

void walk_add(Sched *s, Walk *w, Str name, const Expr *extent) {
  BUG_UNLESS(w->n < WALK_MOST);
  (void)s;
  w->name[w->n] = name;
  w->extent[w->n++] = extent;
}

/* ---- at a point -------------------------------------------------------------------------------------- */

void value_store(Sched *s, const TaskStage *st, Env *e, const Expr *value) {
  uint32_t number = (uint32_t)(st - s->task->stages.at), place = s->of_stage[number];
  if (place != NOWHERE) {
    uint32_t n = st->sum->n_out - s->outer;
    const Expr *const *kept = kept_at(s, &n, e->label + s->outer);
    store_add(s, place, n, kept, value);
    if (st->buffer >= 0) value = place_read(s, place, n, kept);
  }
  if (st->buffer < 0) return;
  store_add(s, place_of_buffer(s, (uint32_t)st->buffer, true), st->n_at, ex_store_at(e, st), value);
}

/* Whether a stage that continues from argmax or argmin of one label reads the value at the place that was found, which
 * exists. */
static bool is_best(Sched *s, const TaskStage *next) {
  const TaskStage *from = &s->task->stages.at[s->follow.from];
  const EinSum *sum = from->sum;
  const Expr *a = sum->body, *b = next->sum->body;
  uint32_t n = sum->n_out;
  if (!s->best || sum->n_red != 1 || sum->where || sum->domain) return false;
  if (from->bound[n]->kind != EX_INT || from->bound[n]->i < 1) return false;
  if (a->kind != EX_READ || b->kind != EX_READ || a->dtype != b->dtype || a->dtype != sum->acc || a->n != b->n)
    return false;
  TaskSlot x = from->slot[a->i], y = next->slot[b->i];
  if (x.kept || y.kept || x.index != y.index) return false;
  const Expr **label = exprs_labels(s->arena, s->x, n), **to = NEW_ARRAY(s->arena, const Expr *, n + 2);
  for (uint32_t j = 0; j < next->sum->n_slot; j++)
    if (next->slot[j].kept && next->slot[j].index == s->follow.from)
      to[n] = expr_read(s->x, sum->dtype, j, n, label);
  for (uint32_t k = 0; k < a->n; k++)
    if (!to[n] || a->arg[k]->has & HAS_READ || expr_relabel(s->x, a->arg[k], n + 1, to) != b->arg[k]) return false;
  return true;
}

/* Stores the value or, if later stages continue from it, the last one's. */
void result_store(Sched *s, const TaskStage *st, Env *e, const Expr *value) {
  if (!s->follow.goes_on) {
    value_store(s, st, e, value);
    return;
  }
  const TaskStage *from = &s->task->stages.at[s->follow.from];
  s->value[s->follow.from] = value = ex_shared(s, value);
  if (from->buffer >= 0) value_store(s, from, e, value);
  for (uint32_t i = s->follow.then; i < s->task->stages.len; i++) {
    const TaskStage *next = &s->task->stages.at[i];
    Env f = {.s = s, .stage = next, .label = e->label};
    const Expr *own = is_best(s, next) ? s->best : ex_of(&f, next->sum->body);
    s->value[i] = ex_shared(s, expr_cast(s->x, next->sum->dtype, own));
    if (next->buffer >= 0) value_store(s, next, &f, s->value[i]);
  }
}

/* domain: what is still to be tested; NULL: nothing. */
static void point(Sched *s, const StagePlan *p, Env *e, const Expr *domain) {
  const EinSum *sum = p->stage->sum;
  LoopBody *was = s->body;
  if (domain) {
    const Expr *cond = ex_shared(s, ex_of(e, domain));
    into(s, &if_add(s, cond)->body);
  }
  if (sum->reducer == RED_NONE) {
    const Expr *v = expr_cast(s->x, sum->dtype, ex_of(e, sum->body));
    result_store(s, p->stage, e, ex_shared(s, v));
  } else {
    result_store(s, p->stage, e, reduce_point(s, p, e));
  }
  into(s, was);
}

/* A map whose domain bounds its outermost label by turns or data: a slice of a state. */
typedef struct Slice {
  StagePlan *p;
  Env *e;
  const Expr *domain, *rest; /* the rest of it, once the slice is known */
} Slice;

static void slice_bounds(void *env, const Expr **lo, const Expr **hi) {
  Slice *c = env;
  uint32_t l = c->p->order[0];
  bool *bound = NEW_ARRAY(c->e->s->arena, bool, c->p->n_label + 1);
  c->rest = where_narrow(c->e, c->domain, c->p->n_label, l, bound, lo, hi);
  c->rest = where_narrow_data(c->e, c->rest, c->p->n_label, l, bound, lo, hi);
}

/* Makes a label among the first n that is bounded so the outermost; false: there is none. */
static bool slice_find(Sched *s, StagePlan *p, const Expr *domain, uint32_t n) {
  for (uint32_t k = 0; domain && k < n && p->stage->sum->reducer == RED_NONE; k++) {
    uint32_t l = p->order[k];
    if (!where_is_piece(s, p, domain, l)) continue;
    for (; k > 0; k--) p->order[k] = p->order[k - 1];
    p->order[0] = l;
    return true;
  }
  return false;
}

/* Loops over the innermost label within the domain. Returns the rest of the domain. */
static const Expr *last_loop(Sched *s, const StagePlan *p, Env *e, const Expr *domain, LoopBind bind) {
  const TaskStage *st = p->stage;
  uint32_t l = p->order[p->n_order - 1];
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t k = 0; k < st->sum->n_out; k++) bound[k] = k != l;
  const Expr *lo = ex_int(s, 0), *hi = st->bound[l];
  const Expr *rest = where_narrow(e, domain, p->n_label, l, bound, &lo, &hi);
  rest = where_narrow_data(e, rest, p->n_label, l, bound, &lo, &hi);
  e->label[l] = for_open(s, st->label[l], "i", lo, hi, 1, bind);
  return rest;
}

/* Finds a conjunct `label == value` of a domain whose value is known before any of the labels that are walked over;
 * NULL: none. The first conjunct is tested wherever there is a point, so it may be read if there is one. */
static const Expr *point_find(
    const StagePlan *p, Env *e, const Expr *c, bool first, uint32_t *which, const Expr **value) {
  if (c->kind != EX_OP || c->n != 2) return NULL;
  if (c->op == OP_AND) {
    const Expr *found = point_find(p, e, c->arg[0], first, which, value);
    return found ? found : point_find(p, e, c->arg[1], false, which, value);
  }
  for (uint32_t side = 0; side < 2 && c->op == OP_EQ && c->arg[0]->dtype == DT_I64; side++)
    for (uint32_t k = 0; k < p->n_order; k++) {
      const Expr *label = c->arg[side], *to = c->arg[1 - side];
      bool ahead = first || ex_is_safe(e, to);
      for (uint32_t l = 0; l < p->n_order; l++) ahead &= !ex_has_label(to, p->order[l]);
      if (label->kind != EX_LABEL || label->i != p->order[k] || !ahead) continue;
      *which = k, *value = to;
      return c;
    }
  return NULL;
}

/* Labels that a domain limits to one point, by data or turns, need no loop: that point is computed, if it exists.
 * Returns what is still to be tested. */
static const Expr *points_open(Sched *s, StagePlan *p, Env *e, const Expr *domain) {
  const Expr *part, *value;
  for (uint32_t k; domain && (part = point_find(p, e, domain, true, &k, &value));
       domain = where_without(s, domain, part)) {
    uint32_t l = p->order[k], v = place_own(s, NULL, "point", DT_I64, 0, NULL);
    const Expr *some = NULL;
    for (uint32_t o = 0; o < p->n_order; o++)
      if (!p->exact[p->order[o]] || !p->size[p->order[o]])
        some = expr_and(s->x, some, expr_op2(s->x, OP_LT, ex_int(s, 0), p->stage->bound[p->order[o]]));
    if (some && value->has & HAS_READ) into(s, &if_add(s, some)->body);
    let_add(s, v, ex_shared(s, ex_of(e, value)));
    const Expr *at = scalar_read(s, v), *low = expr_op2(s->x, OP_LE, ex_int(s, 0), at);
    into(s, &if_add(s, expr_and(s->x, low, expr_op2(s->x, OP_LT, at, p->stage->bound[l])))->body);
    e->label[l] = at;
    p->n_order--;
    for (; k < p->n_order; k++) p->order[k] = p->order[k + 1];
  }
  return domain;
}

/* ---- a stage ----------------------------------------------------------------------------------------- */

/* Scales the work of tiles, which do many multiply-adds at a time, for comparison with the cost of a second thread:
 * with two threads, products of 64 by 64 by 64 took 1.4 of the time of one (f32; 0.93 in f64), of 48 by 48 by 48 1.4
 * (f64). */
static void work_of_tiles(Sched *s, const TaskStage *st) {
  s->k->work = ex_div_up(s, s->k->work, ex_int(s, 2 * vector_lanes(s, st->sum->acc)));
}

static void how_points(Sched *s, const StagePlan *p) {
  if (p->stage->sum->reducer != RED_NONE) how_add(s, p->stage, "one result after the other");
  else if (p->n_order) how_add(s, p->stage, "along %s", how_label(p->stage, p->order[p->n_order - 1]));
}

/* Whether the domain depends on none of the stage's own labels, such as whether the source of a row's gather exists:
 * it is then tested once, around the whole stage. */
static bool domain_is_around(const Sched *s, const TaskStage *st) {
  if (!st->sum->domain) return false;
  for (uint32_t l = s->outer + s->opened; l < st->sum->n_out; l++)
    if (ex_has_label(st->sum->domain, l)) return false;
  return true;
}

static void stage_within(Sched *s, const TaskStage *st, Env *e) {
  TaskStage *own = &s->task->stages.at[st - s->task->stages.at];
  const EinSum *was = own->sum;
  LoopBody *around = s->body;
  EinSum *sum = arena_copy(s->arena, was, sizeof *sum);
  sum->domain = NULL;
  into(s, &if_add(s, ex_shared(s, ex_of(e, was->domain)))->body);
  own->sum = sum;
  stage_loops(s, st, e, false);
  own->sum = was;
  into(s, around);
}

/* The number of the stage's first labels on which its domain depends by data, if it depends on none of those behind
 * them: expert[n,k] of each row, before the f of `sum[e] X[n,e] * W[expert[n,k],e,f]`. 0: there are none such. */
static uint32_t domain_labels(const Sched *s, const TaskStage *st) {
  const EinSum *sum = st->sum;
  uint32_t first = s->outer + s->opened, end = first;
  if (!sum->domain || !(sum->domain->has & HAS_READ) || !sum->n_red || s->rows.block || s->follow.goes_on) return 0;
  for (uint32_t l = first; l < sum->n_out; l++)
    if (ex_has_label(sum->domain, l)) end = l + 1;
  return end < sum->n_out ? end - first : 0;
}

/* The loops over these labels, and the rest of the stage within each. */
static void stage_opened(Sched *s, const TaskStage *st, Env *e, uint32_t n) {
  Walk *w = NEW(s->arena, Walk);
  uint32_t first = s->outer + s->opened;
  LoopBody *around = s->body;
  for (uint32_t l = first; l < first + n; l++) walk_add(s, w, st->label[l], st->bound[l]);
  walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0; k < n; k++) e->label[first + k] = w->index[k];
  s->opened += n;
  stage_loops(s, st, e, false);
  s->opened -= n;
  into(s, around);
}

/* A reduction from which later stages continue: these are computed at all points, so its domain bounds no loops but
 * says where there is something to reduce. */
static void stage_continued(Sched *s, const TaskStage *st, Env *e, bool threads) {
  TaskStage *own = &s->task->stages.at[st - s->task->stages.at];
  const EinSum *was = own->sum;
  EinSum *sum = arena_copy(s->arena, was, sizeof *sum);
  sum->where = expr_and(s->x, was->domain, was->where);
  sum->domain = NULL;
  own->sum = sum;
  stage_loops(s, st, e, threads);
  own->sum = was;
}

/* Panels, of the sum as it is, or with its predicate within the body. */
static bool panel_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  TaskStage *own = &s->task->stages.at[p->stage - s->task->stages.at];
  const EinSum *was = own->sum, *guarded;
  if (pack_loops(s, p, e, threads)) return true;
  if (!(guarded = pack_guarded(s, p))) return false;
  own->sum = guarded;
  bool made = pack_loops(s, p, e, threads);
  own->sum = was;
  return made;
}

/* Tiles, of the sum with its predicate within the body, or as it is. */
static bool tiles_of_sum(Sched *s, const StagePlan *p, Env *e, bool threads) {
  TaskStage *own = &s->task->stages.at[p->stage - s->task->stages.at];
  const EinSum *was = own->sum, *guarded = tile_guarded(s, p, e);
  if (!guarded) return tile_loops(s, p, e, threads, false);
  own->sum = guarded;
  bool made = tile_loops(s, p, e, threads, false);
  own->sum = was;
  return made || tile_loops(s, p, e, threads, false);
}

void stage_loops(Sched *s, const TaskStage *st, Env *e, bool threads) {
  if (!threads && domain_is_around(s, st)) {
    stage_within(s, st, e);
    return;
  }
  uint32_t n_first = threads ? 0 : domain_labels(s, st);
  if (n_first) {
    stage_opened(s, st, e, n_first);
    return;
  }
  StagePlan p = stage_plan(s, st);
  LoopBody *was = s->body;
  if (s->follow.goes_on && st->sum->domain) {
    if (!pack_loops(s, &p, e, threads)) stage_continued(s, st, e, threads);
    else if (threads) work_of_tiles(s, st);
    into(s, was);
    return;
  }
  bool made = scatter_loops(s, &p, e, threads) || scan_loops(s, &p, e, threads);
  bool tiles = !made && (panel_loops(s, &p, e, threads) || tiles_of_sum(s, &p, e, threads));
  if (tiles && threads) work_of_tiles(s, st);
  if (made || tiles || dot_loops(s, &p, e, threads) || short_loops(s, &p, e, threads) ||
      square_loops(s, &p, e, threads) || stream_loops(s, &p, e, threads) || tile_loops(s, &p, e, threads, true)) {
    into(s, was);
    return;
  }
  Walk *w = NEW(s->arena, Walk);
  uint32_t all = p.n_order;
  const Expr *domain = points_open(s, &p, e, st->sum->domain);
  threads &= p.n_order == all; /* thread loops are never inside a condition */
  /* n: a domain may bound the innermost loop. */
  uint32_t n = p.n_order - (domain && p.n_order > (threads ? 1 : 0));
  Slice slice = {&p, e, domain, domain};
  if (slice_find(s, &p, domain, n)) w->bounds = slice_bounds, w->env = &slice;
  for (uint32_t k = 0; k < n; k++) walk_add(s, w, st->label[p.order[k]], st->bound[p.order[k]]);
  const Expr *work = ex_mul(s, ex_int(s, (int64_t)p.ops), red_points(s, &p));
  for (uint32_t k = n; k < p.n_order; k++) work = ex_mul(s, work, st->bound[p.order[k]]);
  LoopBind innermost = st->sum->reducer == RED_NONE ? BIND_VECTOR : BIND_SEQ;
  LoopBind outer = n < p.n_order ? BIND_SEQ : innermost;
  how_points(s, &p);
  if (threads) walk_chunks(s, w, work, outer);
  else walk_plain(s, w, 0, outer);
  for (uint32_t k = 0; k < n; k++) e->label[p.order[k]] = w->index[k];
  domain = slice.rest;
  point(s, &p, e, n < p.n_order ? last_loop(s, &p, e, domain, innermost) : domain);
  s->outside = NULL;
  into(s, was);
}
