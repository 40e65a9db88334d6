/* codegen/schedule_stage.c - the loops of one stage: the outermost cut into chunks for threads, the innermost in
 * lanes. What a chunk computes depends on sizes alone, so the bits do not depend on the threads. */
#include "schedule.h"

enum {
  CHUNK_OPS = 131072,        /* about so many scalar operations make a chunk */
  CHUNKS_WANTED = 64         /* loops are taken together until they have so many steps */
};

const Expr *named(Sched *s, Str name, const char *otherwise, const Expr *value) {
  if (value->kind == EX_INT || value->kind == EX_LABEL) return value;
  uint32_t v = var_new(s, name, otherwise);
  into(s, &for_add(s, v, value, ex_add(s, value, ex_int(s, 1)), 1, BIND_SEQ)->body);
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
    w->index[k] = ex_int(s, 0);
    if (expr_is_int(w->extent[k], 1)) continue;
    uint32_t v = var_new(s, w->name[k], "i");
    w->index[k] = var_read(s, v);
    LoopBind bind = k + 1 == w->n ? innermost : BIND_SEQ;
    if (bind == BIND_VECTOR) s->outside = s->body, s->inner = v;
    into(s, &for_add(s, v, ex_int(s, 0), w->extent[k], 1, bind)->body);
  }
}

/* f counts through the first n of them, the last fastest. */
static void walk_count(Sched *s, Walk *w, uint32_t n, const Expr *f) {
  for (uint32_t k = n; k-- > 0;) {
    w->index[k] = ex_int(s, 0);
    if (expr_is_int(w->extent[k], 1)) continue;
    w->index[k] = named(s, w->name[k], "i", k ? expr_op2(s->x, OP_MOD, f, w->extent[k]) : f);
    if (k) f = named(s, NULL, "f", expr_op2(s->x, OP_IDIV, f, w->extent[k]));
  }
}

void walk_chunks(Sched *s, Walk *w, const Expr *work, LoopBind innermost) {
  uint32_t n = 0, most = innermost == BIND_VECTOR && w->n > 1 ? w->n - 1 : w->n;
  for (double values = 1; n < most && values < (double)CHUNKS_WANTED; n++) values *= (double)task_size_guess(s->t, w->extent[n]);
  const Expr *all = extents_product(s, w, n), *inner = work;
  for (uint32_t k = n; k < w->n; k++) inner = ex_mul(s, inner, w->extent[k]);
  const Expr *total = ex_mul(s, all, inner);
  int64_t chunk = s->target->chunk ? s->target->chunk : CHUNK_OPS;
  if (!n || (total->kind == EX_INT && total->i < 2 * chunk)) {
    walk_plain(s, w, 0, innermost);
    return;
  }
  const Expr *size = ex_max(s, ex_int(s, 1), expr_op2(s->x, OP_IDIV, ex_int(s, chunk), ex_max(s, inner, ex_int(s, 1))));
  if (n == w->n && innermost == BIND_VECTOR) /* whole lanes */
    size = ex_mul(s, ex_div_up(s, size, ex_int(s, 64)), ex_int(s, 64));
  bool each = expr_is_int(size, 1);
  uint32_t c = var_new(s, each && n == 1 ? w->name[0] : NULL, each ? "i" : "chunk");
  into(s, &for_add(s, c, ex_int(s, 0), ex_div_up(s, all, size), 1, BIND_THREAD)->body);
  const Expr *f = var_read(s, c);
  if (!each) {
    const Expr *lo = ex_mul(s, f, size);
    uint32_t v = var_new(s, n == 1 ? w->name[0] : NULL, "f");
    LoopBind bind = n == w->n ? innermost : BIND_SEQ;
    into(s, &for_add(s, v, lo, ex_min(s, all, ex_add(s, lo, size)), 1, n == 1 ? bind : BIND_SEQ)->body);
    f = var_read(s, v);
  }
  if (n == 1) w->index[0] = f;
  else walk_count(s, w, n, f);
  walk_plain(s, w, n, innermost);
}

void walk_add(Sched *s, Walk *w, Str name, const Expr *extent) {
  BUG_UNLESS(w->n < WALK_MOST);
  (void)s;
  w->name[w->n] = name;
  w->extent[w->n++] = extent;
}

/* ---- at a point -------------------------------------------------------------------------------------- */

static void value_store(Sched *s, const TaskStage *st, Env *e, const Expr *value) {
  uint32_t number = (uint32_t)(st - s->task->stages.at), place = s->of_stage[number];
  if (place != NOWHERE) {
    uint32_t n = st->sum->n_out - s->outer;
    const Expr *const *kept = kept_at(s, &n, e->label + s->outer);
    store_add(s, place, n, kept, value);
    if (st->buffer >= 0) value = place_read(s, place, n, kept);
  }
  if (st->buffer < 0) return;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, st->n_at + 1);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = ex_of(e, st->at[k]);
  store_add(s, place_of_buffer(s, (uint32_t)st->buffer, true), st->n_at, at, value);
}

/* Where the stages go on from the first one's value, that is not stored, but the last one's. */
void result_store(Sched *s, const TaskStage *st, Env *e, const Expr *value) {
  if (!s->goes_on) {
    value_store(s, st, e, value);
    return;
  }
  s->value[0] = value;
  for (uint32_t i = 1; i < s->task->stages.len; i++) {
    const TaskStage *next = &s->task->stages.at[i];
    Env f = {.s = s, .stage = next, .label = e->label};
    s->value[i] = ex_shared(s, expr_cast(s->x, next->sum->dtype, ex_of(&f, next->sum->body)));
    if (next->buffer >= 0) value_store(s, next, &f, s->value[i]);
  }
}

/* domain: what is still to be asked; NULL: nothing. */
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

/* The innermost label, as far as the domain lets it go; gives what is left of the domain. */
static const Expr *last_loop(Sched *s, const StagePlan *p, Env *e, LoopBind bind) {
  const TaskStage *st = p->stage;
  uint32_t l = p->order[p->n_order - 1];
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t k = 0; k < st->sum->n_out; k++) bound[k] = k != l;
  const Expr *lo = ex_int(s, 0), *hi = st->bound[l];
  const Expr *rest = where_narrow(e, st->sum->domain, p->n_label, l, bound, &lo, &hi);
  uint32_t v = var_new(s, st->label[l], "i");
  e->label[l] = var_read(s, v);
  into(s, &for_add(s, v, lo, hi, 1, bind)->body);
  return rest;
}

/* ---- transposes --------------------------------------------------------------------------------------- */

enum {
  SQUARE = 16,               /* elements along each side of a square, */
  SQUARES = 64,              /*   and of a square of squares */
  LINE = 64                  /* bytes */
};

/* A label along which something steps to the next element that goes far along the innermost one; NOWHERE if none. */
static uint32_t crossing(const StagePlan *p) {
  uint32_t last = p->order[p->n_order - 1];
  for (uint32_t k = p->n_order - 1; k-- > 0;)
    for (uint32_t a = 0; a < p->n_access; a++)
      if (plan_move(p, a, last) == MOVE_FAR && plan_move(p, a, p->order[k]) == MOVE_UNIT && p->size[p->order[k]] >= 8 &&
          p->size[last] >= 8)
        return p->order[k];
  return NOWHERE;
}

/* The rows of a whole square are written out: what machines fetch ahead of a load, they find out by its place in the code, and
 * rows lie far from each other. */
static LoopBind rows_bind(const Expr *const *count) {
  return count[0]->kind == EX_INT && count[1]->kind == EX_INT ? BIND_UNROLL : BIND_SEQ;
}

/* One side of a square as a loop; gives how far into the square it is. */
static const Expr *side_loop(Sched *s, const TaskStage *st, Env *e, uint32_t label, const Expr *lo, const Expr *count, LoopBind bind) {
  uint32_t v = var_new(s, st->label[label], "i");
  into(s, &for_add(s, v, ex_int(s, 0), count, 1, bind)->body);
  e->label[label] = ex_add(s, lo, var_read(s, v));
  return var_read(s, v);
}

/* What is left of a side from lo on, a square's side at most. */
static const Expr *side_count(Sched *s, const Expr *size, const Expr *lo) {
  if (size->kind == EX_INT && size->i % SQUARE == 0) return ex_int(s, SQUARE);
  return named(s, NULL, "n", ex_min(s, ex_int(s, SQUARE), ex_sub(s, size, lo)));
}

enum { TURNED_MOST = 4 };

/* The reads that step to the next element along one side of the squares and far along the other: they are fetched along
 * the one and looked at along the other. */
typedef struct Turned {
  uint32_t n, slot[TURNED_MOST], place[TURNED_MOST];
  const Expr *of[TURNED_MOST];
  uint32_t n_slot;           /* the stage's own */
} Turned;

static const Expr *leaf_turned(void *env, Exprs *x, const Expr *leaf) {
  Turned *t = env;
  if (leaf->kind != EX_READ) return leaf;
  for (uint32_t k = 0; k < t->n; k++)
    if (t->slot[k] == (uint32_t)leaf->i) {
      t->of[k] = leaf;
      return expr_read(x, (DType)leaf->dtype, t->n_slot + k, 0, NULL);
    }
  return leaf;
}

/* false: there are too many, or one may not be done without being asked for. */
static bool turned_find(const StagePlan *p, Env *e, uint32_t lanes, uint32_t other, Turned *t) {
  *t = (Turned){.n_slot = p->stage->sum->n_slot};
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    if (plan_move(p, a, other) != MOVE_UNIT || plan_move(p, a, lanes) != MOVE_FAR) continue;
    if (t->n == TURNED_MOST) return false;
    t->slot[t->n++] = a;
  }
  return t->n > 0 && ex_safe(e);
}

/* One square of each such read: [lanes, other] as it is fetched, and then turned. */
static void turned_fetch(Sched *s, const TaskStage *st, Env *e, Turned *t, uint32_t lanes, uint32_t other, const Expr *const *lo,
                         const Expr *const *count) {
  const Expr *dim[2] = {ex_int(s, SQUARE), ex_int(s, SQUARE)}, *at[2];
  for (uint32_t k = 0; k < t->n; k++) {
    t->place[k] = place_own(s, NULL, "square", (DType)t->of[k]->dtype, 2, dim);
    var_add(s, t->place[k], NULL);
    LoopBody *was = s->body;
    at[0] = side_loop(s, st, e, lanes, lo[0], count[0], rows_bind(count));
    at[1] = side_loop(s, st, e, other, lo[1], count[1], BIND_VECTOR);
    store_add(s, t->place[k], 2, at, ex_shared(s, ex_of(e, t->of[k])));
    into(s, was);
    turn_add(s, t->place[k]);
  }
}

enum { LANES, OTHER };       /* the sides of a square: the result steps to the next element along LANES */

/* A map in squares over the label along which the result steps to the next element and the one that crosses it. */
typedef struct Squares {
  Sched *s;
  const StagePlan *p;
  Env *e;
  uint32_t side_of[2];       /* their labels */
  int out;                   /* the one that is walked outside of the other */
  Turned t;
  const Expr *body;          /* the stage's, that looks at what is turned */
  const Expr *when;          /* the result is streamed: see stream_if */
  int64_t side;              /* of the squares of squares that are walked one after the other; SQUARE: there are none */
  uint32_t n, *label;        /* the labels around the squares */
  const Expr *lo[2], *count[2]; /* of the square at hand */
} Squares;

static bool squares_find(Squares *q) {
  const StagePlan *p = q->p;
  const EinSum *sum = p->stage->sum;
  uint32_t cross = sum->reducer == RED_NONE && !sum->domain && p->n_order > 1 ? crossing(p) : NOWHERE;
  if (cross == NOWHERE) return false;
  q->out = plan_move(p, p->n_access - 1, cross) == MOVE_UNIT ? LANES : OTHER;
  q->side_of[q->out] = cross, q->side_of[!q->out] = p->order[p->n_order - 1];
  if (!turned_find(p, q->e, q->side_of[LANES], q->side_of[OTHER], &q->t)) return false;
  q->body = expr_map(q->s->x, sum->body, leaf_turned, &q->t);
  q->label = NEW_ARRAY(q->s->arena, uint32_t, p->n_order);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != q->side_of[LANES] && p->order[k] != q->side_of[OTHER]) q->label[q->n++] = p->order[k];
  return true;
}

/* The condition, and that rows of the result are whole squares: else most of what is written of one is no whole line. */
static const Expr *whole_squares(Sched *s, const TaskStage *st, const Expr *when) {
  const TaskBuffer *b = &s->t->buffers.at[st->buffer];
  const Expr *rest = expr_op2(s->x, OP_MOD, b->dim[b->rank - 1], ex_int(s, SQUARE));
  if (rest->kind == EX_INT) return rest->i ? expr_bool(s->x, false) : when;
  return expr_op2(s->x, OP_AND, when, expr_op2(s->x, OP_EQ, rest, ex_int(s, 0)));
}

/* Rows of a square are streamed where they are whole lines. Then squares of squares are walked, so that what is read comes in
 * some lines next to each other; reads that lie as the result does want long rows instead. */
static void squares_stream(Squares *q, bool threads) {
  const StagePlan *p = q->p;
  const Expr *when = threads && plan_move(p, p->n_access - 1, q->side_of[LANES]) == MOVE_UNIT ? stream_if(q->s, p->stage) : NULL;
  q->side = SQUARE;
  if (!when || SQUARE * dtype_size(p->stage->sum->dtype) < LINE) return;
  when = whole_squares(q->s, p->stage, when);
  if (when->kind == EX_INT && !when->i) return;
  q->when = when;
  if (q->t.n + 1 == p->n_access) q->side = SQUARES;
  stream_order(q->s, p, q->n, q->label);
}

/* Over what lies around the squares, or the squares of squares; lo: where these begin. */
static void squares_walk(Squares *q, bool threads) {
  Sched *s = q->s;
  const StagePlan *p = q->p;
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < q->n; k++) walk_add(s, w, p->stage->label[q->label[k]], p->stage->bound[q->label[k]]);
  walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[q->side_of[q->out]], ex_int(s, q->side)));
  walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[q->side_of[!q->out]], ex_int(s, q->side)));
  if (threads) walk_chunks(s, w, ex_int(s, (int64_t)p->ops * q->side * q->side), BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0; k < q->n; k++) q->e->label[q->label[k]] = w->index[k];
  q->lo[q->out] = ex_mul(s, w->index[q->n], ex_int(s, q->side));
  q->lo[!q->out] = ex_mul(s, w->index[q->n + 1], ex_int(s, q->side));
}

/* Inside of a square of squares, along one side. */
static void squares_side(Squares *q, int side) {
  Sched *s = q->s;
  const Expr *size = q->p->stage->bound[q->side_of[side]], *lo = q->lo[side];
  uint32_t v = var_new(s, q->p->stage->label[q->side_of[side]], "i");
  into(s, &for_add(s, v, lo, ex_min(s, size, ex_add(s, lo, ex_int(s, q->side))), SQUARE, BIND_SEQ)->body);
  q->lo[side] = var_read(s, v);
}

/* One row of a square, at e's point of `other`: into an array or, line being NOWHERE, where it belongs. */
static void square_values(Squares *q, const Expr *row, uint32_t line) {
  Sched *s = q->s;
  const TaskStage *st = q->p->stage;
  const Expr *at[2] = {row, NULL}, *packed[TURNED_MOST];
  LoopBody *was = s->body;
  at[1] = side_loop(s, st, q->e, q->side_of[LANES], q->lo[LANES], q->count[LANES], BIND_VECTOR);
  for (uint32_t k = 0; k < q->t.n; k++) packed[k] = place_read(s, q->t.place[k], 2, at);
  q->e->packed = packed;
  const Expr *value = ex_shared(s, expr_cast(s->x, st->sum->dtype, ex_of(q->e, q->body)));
  q->e->packed = NULL;
  if (line == NOWHERE) result_store(s, st, q->e, value);
  else store_add(s, line, 1, &at[1], value);
  into(s, was);
}

/* Streamed from where it lies, if nothing is computed; else by way of an array. */
static void square_stream(Squares *q, const Expr *row) {
  Sched *s = q->s;
  const Expr *at[2] = {row, ex_int(s, 0)}, *dim = ex_int(s, SQUARE), *from;
  bool alone = q->body->kind == EX_READ && q->body->dtype == q->p->stage->sum->dtype;
  if (alone) {
    from = place_read(s, q->t.place[0], 2, at);
  } else {
    uint32_t line = place_own(s, NULL, "line", q->p->stage->sum->dtype, 1, &dim);
    var_add(s, line, NULL);
    square_values(q, row, line);
    from = place_read(s, line, 1, &at[1]);
  }
  q->e->label[q->side_of[LANES]] = q->lo[LANES];
  stream_from(s, q->p->stage, q->e, from, q->count[LANES], 1);
}

static bool square_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  const TaskStage *st = p->stage;
  Squares q = {.s = s, .p = p, .e = e};
  if (!squares_find(&q)) return false;
  squares_stream(&q, threads);
  how_add(s, st, "squares of %s and %s, turned%s", how_label(st, q.side_of[OTHER]), how_label(st, q.side_of[LANES]),
          q.when ? ", the result past the cache" : "");
  squares_walk(&q, threads);
  if (q.side != SQUARE) squares_side(&q, OTHER), squares_side(&q, LANES);
  const int order[2] = {q.out, !q.out};
  for (int k = 0; k < 2; k++) q.lo[order[k]] = named(s, st->label[q.side_of[order[k]]], "i", q.lo[order[k]]);
  for (int k = 0; k < 2; k++) q.count[order[k]] = side_count(s, st->bound[q.side_of[order[k]]], q.lo[order[k]]);
  turned_fetch(s, st, e, &q.t, q.side_of[LANES], q.side_of[OTHER], q.lo, q.count);
  const Expr *row = side_loop(s, st, e, q.side_of[OTHER], q.lo[OTHER], q.count[OTHER], rows_bind(q.count));
  LoopBody *plain = s->body;
  if (q.when) {
    into(s, stream_when(s, q.when, &plain));
    square_stream(&q, row);
    if (plain) into(s, plain);
  }
  if (plain) square_values(&q, row, NOWHERE);
  return true;
}

/* ---- a stage ----------------------------------------------------------------------------------------- */

static void how_points(Sched *s, const StagePlan *p) {
  if (p->stage->sum->reducer != RED_NONE) how_add(s, p->stage, "one result after the other");
  else if (p->n_order) how_add(s, p->stage, "along %s", how_label(p->stage, p->order[p->n_order - 1]));
}

void stage_loops(Sched *s, const TaskStage *st, Env *e, bool threads) {
  StagePlan p = stage_plan(s, st);
  LoopBody *was = s->body;
  if (scatter_loops(s, &p, e, threads) || scan_loops(s, &p, e, threads) || pack_loops(s, &p, e, threads) || tile_loops(s, &p, e, threads) ||
      dot_loops(s, &p, e, threads) || square_loops(s, &p, e, threads) || stream_loops(s, &p, e, threads)) {
    into(s, was);
    return;
  }
  Walk *w = NEW(s->arena, Walk);
  uint32_t n = p.n_order - (st->sum->domain && p.n_order > (threads ? 1 : 0)); /* a domain may bound the innermost loop */
  for (uint32_t k = 0; k < n; k++) walk_add(s, w, st->label[p.order[k]], st->bound[p.order[k]]);
  const Expr *work = ex_int(s, (int64_t)p.ops);
  for (uint32_t k = 0; k < p.n_red; k++) work = ex_mul(s, work, st->bound[p.red[k]]);
  for (uint32_t k = n; k < p.n_order; k++) work = ex_mul(s, work, st->bound[p.order[k]]);
  LoopBind innermost = st->sum->reducer == RED_NONE ? BIND_VECTOR : BIND_SEQ;
  LoopBind outer = n < p.n_order ? BIND_SEQ : innermost;
  how_points(s, &p);
  if (threads) walk_chunks(s, w, work, outer);
  else walk_plain(s, w, 0, outer);
  for (uint32_t k = 0; k < n; k++) e->label[p.order[k]] = w->index[k];
  point(s, &p, e, n < p.n_order ? last_loop(s, &p, e, innermost) : st->sum->domain);
  s->outside = NULL;
  into(s, was);
}
