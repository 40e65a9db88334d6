/* codegen/schedule/cpu/maps/stream.c - results that bypass the cache. A kernel that touches more memory than the cache
 * holds leaves nothing of its result there, so lines need neither be read before they are written nor kept. Rows that
 * start at a cache line are made line by line, in registers, while earlier lines are being written; others in longer
 * pieces, in a short array that is then streamed. */
#include "schedule/schedule.h"

/* Thresholds in sixteenths of the last-level cache. Measured with 32 MB, on one core: streamed transposes of 16 MB to
 * 16 MB take about 0.7 of the time, and copies too; followed by a sum of the result, which would find some of it in
 * the cache, 0.9 and 1.05; with 14 MB 1.1 and 1.2. Results that are only written gain from 32 MB on. If the program
 * itself continues from the result, there is no gain below 64 MB: a copy and a sum then take 0.86. */
enum {
  CACHE = 32 << 20,          /* bytes, if unspecified */
  STREAM_REACH = 15,         /* everything that the kernel touches, if nothing in the program reads the result, */
  STREAM_LEAST = 4,          /*   and the result itself */
  STREAM_READ = 32           /* the result alone, if something does */
};

enum {
  LINE = 64,                 /* bytes */
  PIECE = 1024,              /* elements of a row that are made before they are streamed, at most */
  PIECE_BYTES = 256,         /* least bytes of a piece: with fewer, most lines would be written in halves */
  SHORT_BYTES = 1024         /* known rows of at most so many bytes have code of their own where they begin at a line */
};

/* ---- when it applies ---------------------------------------------------------------------------------- */

static const Expr *bytes_of(Sched *s, uint32_t buffer) {
  const TaskBuffer *b = buffer_seen(s, buffer);
  const Expr *e = ex_int(s, 1);
  for (uint32_t k = 0; k < b->rank; k++) e = ex_mul(s, e, b->dim[k]);
  return ex_mul(s, e, ex_int(s, dtype_size(b->dtype)));
}

static bool tasks_read(const Tasks *list, uint32_t buffer) {
  for (uint32_t i = 0; i < list->len; i++)
    if (task_reads(list->at[i], buffer) || tasks_read(&list->at[i]->body, buffer)) return true;
  return false;
}

/* Bytes of all buffers that the kernel reads or writes. */
static const Expr *reach_of(Sched *s) {
  const Expr *all = ex_int(s, 0);
  Map met = map_new(s->arena);
  vec_each(const TaskStage, st, s->task->stages) {
    for (uint32_t a = 0; a <= st->sum->n_slot; a++) {
      bool store = a == st->sum->n_slot;
      if (store ? st->buffer < 0 : st->slot[a].kept) continue;
      uint32_t b = store ? (uint32_t)st->buffer : st->slot[a].index;
      const TaskBuffer *whole = &s->t->buffers.at[buffer_seen(s, b)->id];
      if (map_find(&met, whole)) continue;
      map_put(&met, whole, s);
      all = ex_add(s, all, bytes_of(s, b));
    }
  }
  return all;
}

int64_t stream_cache(const Sched *s) { return s->target->cache_bytes ? s->target->cache_bytes : CACHE; }

static const Expr *at_least(Sched *s, const Expr *bytes, int64_t sixteenths) {
  int64_t least = stream_cache(s) / 16 * sixteenths;
  if (bytes->kind == EX_INT) return expr_bool(s->x, bytes->i >= least);
  return expr_op2(s->x, OP_LE, ex_int(s, least), bytes);
}

const Expr *stream_if(Sched *s, const TaskStage *st) {
  if (st->buffer < 0 || s->when) return NULL; /* a version for small sizes, or a product */
  const TaskBuffer *b = buffer_seen(s, (uint32_t)st->buffer);
  if (!b->rank || !loop_lies_alike(b->dtype) || b->dtype != st->sum->dtype) return NULL;
  bool read = b->space != BUF_OUTPUT || tasks_read(&s->t->tasks, b->id);
  const Expr *when = at_least(s, bytes_of(s, b->id), read ? STREAM_READ : STREAM_LEAST);
  if (!read) when = expr_op2(s->x, OP_AND, when, at_least(s, reach_of(s), STREAM_REACH));
  return when->kind == EX_INT && !when->i ? NULL : when;
}

bool stream_rows(const StagePlan *p, uint32_t label) {
  int64_t bytes = p->size[label] * dtype_size(p->stage->sum->dtype);
  return plan_move(p, p->n_access - 1, label) == MOVE_UNIT && bytes >= PIECE_BYTES;
}

/* ---- maps by pieces of rows ------------------------------------------------------------------------------- */

LoopBody *stream_when(Sched *s, const Expr *when, LoopBody **other) {
  *other = NULL;
  if (when->kind == EX_INT) return s->body;
  LoopStmt *both = if_add(s, when);
  *other = &both->other;
  return &both->body;
}

void stream_from(Sched *s, const TaskStage *st, Env *e, const Expr *from, const Expr *count, uint32_t axes) {
  stream_add(s, place_of_buffer(s, (uint32_t)st->buffer, true), st->n_at, ex_store_at(e, st), from, count, axes);
}

const Expr *stream_lead(Sched *s, const TaskStage *st, Env *e) {
  const Expr **at = ex_store_at(e, st);
  uint32_t lead = place_own(s, NULL, "lead", DT_I64, 0, NULL);
  lead_add(s, lead, place_read(s, place_of_buffer(s, (uint32_t)st->buffer, true), st->n_at, at));
  return scalar_read(s, lead);
}

/* The distance from the element at lo to the next cache line. */
static const Expr *lead_of(Sched *s, const StreamRow *r, const Expr *lo) {
  r->e->label[r->label] = lo;
  return stream_lead(s, r->stage, r->e);
}

static void lines(Sched *s, const StreamRow *r, const Expr *lo, const Expr *count) {
  const Expr *lanes = ex_int(s, LINE / dtype_size(r->stage->sum->dtype)), *end = ex_add(s, lo, count);
  uint32_t v = var_new(s, r->stage->label[r->label], "l");
  s->outside = s->body;
  LoopBody *was = into(s, &for_add(s, v, lo, ex_sub(s, end, ex_sub(s, lanes, ex_int(s, 1))), lanes->i, BIND_SEQ)->body);
  r->make(r->env, var_read(s, v), lanes, lanes);
  s->outside = NULL;
  into(s, was);
  if (count->kind == EX_INT && count->i % lanes->i == 0) return;
  const Expr *rest = named(s, NULL, "rest", expr_op2(s->x, OP_MOD, count, lanes));
  r->make(r->env, ex_sub(s, end, rest), rest, NULL);
}

static void pieces(Sched *s, const StreamRow *r, const Expr *lo, const Expr *count, const Expr *most) {
  if (most) {
    r->make(r->env, lo, count, most);
    return;
  }
  const Expr *end = ex_add(s, lo, count);
  const Expr *v = for_open(s, NULL, "piece", lo, end, PIECE, BIND_SEQ);
  most = ex_int(s, PIECE);
  r->make(r->env, v, named(s, NULL, "n", ex_min(s, most, ex_sub(s, end, v))), most);
}

/* Whether an operation selects between reads by position: a loop over a piece is split at borders
 * (finish/border.c), one over a line would test at each element. */
static bool asks_where(Sched *s, const Expr *of) {
  ExprNodes nodes = expr_nodes(s->arena, of, HAS_READ | HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));)
    if ((is_op(e, OP_SELECT) && e->has & HAS_READ && !(e->arg[0]->has & HAS_READ)) ||
        (is_op(e, OP_MOD) && e->has & HAS_LABEL))
      return true;
  return false;
}

/* A row that begins within a line: what lies before the next one is computed alone, or the row in pieces if it is
 * hardly longer than that. */
static void row_within(
    Sched *s, const StreamRow *r, const Expr *lo, const Expr *count, const Expr *lead, const Expr *most) {
  if (count->kind == EX_INT && count->i * dtype_size(r->stage->sum->dtype) <= PIECE_BYTES) {
    pieces(s, r, lo, count, most);
    return;
  }
  const Expr *head = named(s, NULL, "head", ex_min(s, lead, count));
  r->make(r->env, lo, head, NULL);
  lines(s, r, ex_add(s, lo, head), ex_sub(s, count, head));
}

void stream_row(Sched *s, const StreamRow *r, const Expr *lo, const Expr *count, const Expr *most) {
  most = most && most->i <= PIECE ? most : NULL;
  if (asks_where(s, r->stage->sum->body)) {
    pieces(s, r, lo, count, most);
    return;
  }
  const Expr *lead = lead_of(s, r, lo);
  LoopBody *was = s->body;
  if (count->kind == EX_INT && count->i * dtype_size(r->stage->sum->dtype) <= SHORT_BYTES) {
    LoopStmt *both = if_add(s, expr_op2(s->x, OP_EQ, lead, ex_int(s, 0)));
    into(s, &both->body);
    lines(s, r, lo, count);
    into(s, &both->other);
  }
  row_within(s, r, lo, count, lead, most);
  into(s, was);
}

typedef struct Piece { Sched *s; const StagePlan *p; Env *e; uint32_t label; } Piece;

static void piece_make(void *env, const Expr *lo, const Expr *count, const Expr *most) {
  const Piece *q = env;
  Sched *s = q->s;
  const TaskStage *st = q->p->stage;
  LoopBody *was = s->body, *outside = s->outside;
  uint32_t v = var_new(s, st->label[q->label], "l"), line = NOWHERE;
  const Expr *lane = var_read(s, v), *zero = ex_int(s, 0);
  if (most) {
    line = var_own(s, NULL, "line", st->sum->dtype, 1, &most, NULL);
  }
  if (!outside) s->outside = s->body;
  s->inner = v;
  into(s, &for_add(s, v, zero, count, 1, BIND_VECTOR)->body);
  q->e->label[q->label] = ex_add(s, lo, lane);
  const Expr *value = ex_shared(s, expr_cast(s->x, st->sum->dtype, ex_of(q->e, st->sum->body)));
  if (most) store_add(s, line, 1, &lane, value);
  else result_store(s, st, q->e, value);
  s->outside = outside;
  into(s, was);
  q->e->label[q->label] = lo;
  if (most) stream_from(s, st, q->e, place_read(s, line, 1, &zero), count, 1);
}

static void piece(
    Sched *s, const StagePlan *p, Env *e, const Expr *lo, const Expr *count, const Expr *most, const Expr *when) {
  LoopBody *was = s->body, *other, *here = stream_when(s, when, &other);
  Piece q = {s, p, e, p->order[p->n_order - 1]};
  into(s, here);
  stream_row(s, &(StreamRow){p->stage, e, q.label, piece_make, &q}, lo, count, most);
  if (other) {
    into(s, other);
    piece_make(&q, lo, count, NULL);
  }
  into(s, was);
}

static bool has_all_labels(const StagePlan *p, const Expr *read) {
  for (uint32_t k = 0; k < p->n_order; k++)
    if (plan_move(p, (uint32_t)read->i, p->order[k]) == MOVE_NONE) return false;
  return true;
}

/* The one read that has all labels of the result, each alone in an axis; NULL: there is none, or several. */
static const Expr *read_whole(Sched *s, const StagePlan *p) {
  ExprNodes reads = expr_nodes(s->arena, p->stage->sum->body, HAS_READ);
  const Expr *whole = NULL;
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (!has_all_labels(p, e)) continue;
    if (whole) return NULL;
    whole = e;
  }
  return whole;
}

static uint32_t axis_of(const Expr *read, uint32_t label) {
  uint32_t axis = 0;
  for (uint32_t k = 0; k < read->n; k++)
    if (ex_has_label(read->arg[k], label)) axis = k;
  return axis;
}

void stream_order(Sched *s, const StagePlan *p, uint32_t n, uint32_t *label) {
  const Expr *read = read_whole(s, p);
  if (!read) return;
  for (uint32_t k = 1; k < n; k++)
    for (uint32_t i = k; i > 0 && axis_of(read, label[i - 1]) > axis_of(read, label[i]); i--) {
      uint32_t t = label[i];
      label[i] = label[i - 1], label[i - 1] = t;
    }
}

bool stream_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  const TaskStage *st = p->stage;
  if (st->sum->reducer != RED_NONE || st->sum->domain || !p->n_order || !threads) return false;
  uint32_t last = p->order[p->n_order - 1], n = p->n_order - 1, *label = NEW_ARRAY(s->arena, uint32_t, p->n_order);
  const Expr *when = stream_if(s, st), *extent = st->bound[last];
  if (!when || !stream_rows(p, last)) return false;
  for (uint32_t k = 0; k < n; k++) label[k] = p->order[k];
  stream_order(s, p, n, label);
  bool whole = p->exact[last] && p->size[last] <= PIECE;
  int64_t most = whole ? p->size[last] : PIECE;
  how_add(s, st, "pieces of rows along %s, which go past the cache", how_label(st, last));
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < n; k++) walk_add(s, w, st->label[label[k]], st->bound[label[k]]);
  if (!whole) walk_add(s, w, NULL, ex_div_up(s, extent, ex_int(s, PIECE)));
  walk_chunks(s, w, ex_mul(s, ex_int(s, (int64_t)p->ops), ex_min(s, extent, ex_int(s, most))), BIND_SEQ);
  for (uint32_t k = 0; k < n; k++) e->label[label[k]] = w->index[k];
  const Expr *lo = whole ? ex_int(s, 0) : named(s, st->label[last], "i", ex_mul(s, w->index[n], ex_int(s, PIECE)));
  const Expr *count = whole ? extent : named(s, NULL, "n", ex_min(s, ex_int(s, PIECE), ex_sub(s, extent, lo)));
  piece(s, p, e, lo, count, ex_int(s, most), when);
  return true;
}
