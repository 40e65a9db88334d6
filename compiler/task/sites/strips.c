/* task/sites/strips.c - for a mesh: what a site needs beside its own block moves alone, and the block is read in
 * place.
 *
 * A map that reads its neighbours, X[i-1], wants a box that is its own block, shifted: a move would collect all of
 * that in a separate buffer, and nearly all of it is a copy of what the site has. In: tasks before lifetimes. Out:
 * such a move is reduced to the strips outside the block, each a move into its own buffer, and readers choose by
 * their index. There are no more moves than before, and no block is copied.
 *
 * This applies only where nothing changes the block before the last reader, all readers are maps whose indices are
 * labels and sizes, and strips are less than half of the box. A reader may also reduce what such a map computes, each
 * element being read once (the residual of a step), if no strip is at an end of its rows, where it could not read
 * vectors. Any other reduction keeps its box: it reads elements repeatedly, should be fast, and needs everything that
 * it reads in one place. */
#include <string.h>

#include "expr/prove/prove.h"
#include "expr/prove/span.h"
#include "expr/sum/law.h"
#include "task/inside.h"
#include "site.h"

enum { RANK = 64, SITES_MOST = 1 << 14 };

typedef struct Strip { uint32_t d; bool high; uint32_t buffer; } Strip;

typedef struct Strips {
  TaskGraph *t;
  Exprs *x;
  Task *move;
  uint32_t block, box;       /* buffers; */
  const Expr **low;          /* where the box begins, unwrapped so that it lies at the block */
  int64_t lap[RANK];          /* and by how many elements this was shifted */
  uint32_t last;             /* the last reader's number in the move's list */
  bool reduces;              /* some reader is a reduction */
  Strip strip[2 * RANK];
  uint32_t n;
} Strips;

static const Expr *op2(const Strips *s, Op op, const Expr *a, const Expr *b) { return expr_op2(s->x, op, a, b); }
static const Expr *zero(const Strips *s) { return expr_int(s->x, DT_I64, 0); }
static const TaskBuffer *buffer_at(const Strips *s, uint32_t b) { return &s->t->buffers.at[b]; }
static const Expr *end_of(const Strips *s, const TaskBuffer *b, uint32_t d) {
  return op2(s, OP_ADD, b->low[d], b->dim[d]);
}

/* ---- readers ---------------------------------------------------------------------------------------------- */

/* once: each point reads an element of its own, since each label goes along one axis by itself. */
typedef struct Reads { bool any, plain, once; } Reads;

static bool reads_own(const EinSum *sum, const Expr *read) {
  uint32_t n = sum->n_out + sum->n_red;
  uint64_t all = 0;
  for (uint32_t d = 0; d < read->n; d++) {
    uint64_t labels = read->arg[d]->labels;
    if ((labels & (labels - 1)) != 0 || (labels & all) != 0) return false;
    all |= labels;
  }
  return n < 63 && all == ((uint64_t)1 << n) - 1;
}

static Reads reads(Strips *s, const TaskStage *st, const Expr *of) {
  Reads r = {false, true, true};
  ExprNodes nodes = expr_nodes(s->t->arena, of, HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (!stage_read_is(st, e, s->box)) continue;
    r.any = true;
    r.once &= reads_own(st->sum, e);
    for (uint32_t d = 0; d < e->n; d++) r.plain &= !(e->arg[d]->has & (HAS_READ | HAS_CALL)) && !e->arg[d]->drawn;
  }
  return r;
}

/* Whether it is a map whose indices are labels, turns and sizes, or a reduction of such a map's values. */
static bool is_reader(Strips *s, const TaskStage *st) {
  s->reduces |= st->sum->reducer != RED_NONE;
  if (st->sum->by || reads(s, st, st->sum->where).any || reads(s, st, st->sum->domain).any) return false;
  Reads r = reads(s, st, st->sum->body);
  return r.plain && (st->sum->reducer == RED_NONE || r.once);
}

/* Whether only the move and readers after it in its list use the box, and no task stores to the block up to the last of
 * them. */
static bool readers_find(Strips *s, const Tasks *list, uint32_t i) {
  uint32_t n = 1;
  s->last = i;
  for (uint32_t j = i + 1; j < list->len; j++) {
    const Task *k = list->at[j];
    if (!task_touches(s->t, k, s->box)) continue;
    if (k->kind != TASK_KERNEL) return false;
    for (uint32_t m = 0; m < k->stages.len; m++)
      if (stage_reads(&k->stages.at[m], s->box) && !is_reader(s, &k->stages.at[m])) return false;
    s->last = j;
    n++;
  }
  for (uint32_t j = i + 1; j <= s->last; j++)
    if (task_writes(s->t, list->at[j], s->block)) return false;
  return s->last > i && n == tasks_touching(s->t, &s->t->tasks, s->box);
}

/* ---- which strips there are ---------------------------------------------------------------------------------- */

static bool moves_shifted(const Strips *s) {
  const Task *k = s->move;
  const TaskBuffer *from = buffer_at(s, s->block), *to = buffer_at(s, s->box);
  bool same = k->reducer == RED_NONE && k->unless < 0 && !k->before && to->space == BUF_WORK && to->rank > 0 &&
      to->rank <= RANK && from->low && to->low && !from->when && !to->when;
  for (uint32_t a = 0; same && a < s->t->mesh.n; a++)
    same = k->of.on[a] == k->to.on[a] && k->of.on[a] != PLACE_PART && k->of.on[a] != PLACE_SOME;
  return same;
}

static void strip_add(Strips *s, uint32_t d, bool high) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->strip[i].d == d && s->strip[i].high == high) return;
  s->strip[s->n++] = (Strip){d, high, 0};
}

/* A box that wraps is the same a number of laps away: chooses the lap that lies at the block, as the first site has
 * it. */
static void box_unwrap(Strips *s) {
  const TaskBuffer *box = buffer_at(s, s->box);
  int64_t low[RANK], high[RANK], l[RANK], h[RANK];
  uint32_t at[MESH_AXES + 1] = {0};
  task_box(s->t, box, at, low, high);
  task_box(s->t, buffer_at(s, s->block), at, l, h);
  s->low = NEW_ARRAY(s->t->arena, const Expr *, box->rank + 1);
  for (uint32_t d = 0; d < box->rank; d++) {
    int64_t wrap = s->move->wrap ? s->move->wrap[d] : 0;
    s->lap[d] = wrap ? floor_div(low[d] - l[d] + wrap / 2, wrap) * wrap : 0;
    s->low[d] =
        s->lap[d] ? extent_normal(s->x, op2(s, OP_SUB, box->low[d], expr_int(s->x, DT_I64, s->lap[d]))) : box->low[d];
  }
}

/* Counts the elements of one site's box outside its block; notes, by dimension, the sides that have some. Along
 * dimensions before d it has the length of the intersection. */
static int64_t outside(Strips *s, const int64_t *low, const int64_t *high, const int64_t *l, const int64_t *h) {
  int64_t all = 0, shared = 1;
  for (uint32_t d = 0; d < buffer_at(s, s->box)->rank; d++) {
    int64_t below = (high[d] < l[d] ? high[d] : l[d]) - low[d], above = high[d] - (low[d] > h[d] ? low[d] : h[d]),
            rest = shared;
    for (uint32_t e = d + 1; e < buffer_at(s, s->box)->rank; e++) rest *= high[e] - low[e];
    if (below > 0 && rest > 0) strip_add(s, d, false), all += below * rest;
    if (above > 0 && rest > 0) strip_add(s, d, true), all += above * rest;
    int64_t both = (high[d] < h[d] ? high[d] : h[d]) - (low[d] > l[d] ? low[d] : l[d]);
    shared *= both > 0 ? both : 0;
  }
  return all;
}

static bool cuts_rows(const Strips *s) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->strip[i].d + 1 == buffer_at(s, s->box)->rank) return true;
  return false;
}

static bool strips_find(Strips *s) {
  int64_t low[RANK], high[RANK], l[RANK], h[RANK], sites = mesh_sites(&s->t->mesh);
  double all = 0, strips = 0;
  uint32_t at[MESH_AXES + 1];
  if (sites > SITES_MOST) return false;
  box_unwrap(s);
  for (int64_t k = 0; k < sites; k++) {
    mesh_place(&s->t->mesh, k, at);
    int64_t n = task_box(s->t, buffer_at(s, s->box), at, low, high);
    task_box(s->t, buffer_at(s, s->block), at, l, h);
    if (n <= 0) continue;
    for (uint32_t d = 0; d < buffer_at(s, s->box)->rank; d++) low[d] -= s->lap[d], high[d] -= s->lap[d];
    all += (double)n;
    strips += (double)outside(s, low, high, l, h);
  }
  return 2 * strips < all && !(s->reduces && cuts_rows(s));
}

/* ---- buffers and moves ------------------------------------------------------------------------------------------ */

static const Expr *normal(const Strips *s, const Expr *e) { return extent_normal(s->x, e); }

static uint32_t strip_buffer(Strips *s, const Strip *x) {
  const TaskBuffer *box = buffer_at(s, s->box), *block = buffer_at(s, s->block);
  TaskBuffer b = {.id = s->t->buffers.len,
      .space = BUF_WORK,
      .name = box->name,
      .place = box->place,
      .dtype = box->dtype,
      .rank = box->rank};
  b.dim = NEW_ARRAY(s->t->arena, const Expr *, b.rank + 1);
  b.low = NEW_ARRAY(s->t->arena, const Expr *, b.rank + 1);
  for (uint32_t d = 0; d < b.rank; d++) {
    const Expr *low = s->low[d], *end = op2(s, OP_ADD, low, box->dim[d]);
    if (d == x->d && x->high) low = op2(s, OP_MAX, low, end_of(s, block, d));
    else if (d == x->d) end = op2(s, OP_MIN, end, block->low[d]);
    else if (d < x->d && (s->low[d] != block->low[d] || box->dim[d] != block->dim[d])) {
      low = op2(s, OP_MAX, low, block->low[d]);
      end = op2(s, OP_MIN, end, end_of(s, block, d));
    }
    b.low[d] = normal(s, low);
    b.dim[d] = d == x->d || d < x->d ? normal(s, op2(s, OP_MAX, op2(s, OP_SUB, end, b.low[d]), zero(s))) : box->dim[d];
  }
  vec_push(s->t->arena, s->t->buffers, b);
  return b.id;
}

/* Replaces the move by those of its strips. Returns the number of added tasks. */
static uint32_t moves_make(Strips *s, Tasks *list, uint32_t i) {
  Tasks now = {0};
  for (uint32_t j = 0; j < list->len; j++) {
    if (j != i) vec_push(s->t->arena, now, list->at[j]);
    for (uint32_t n = 0; j == i && n < s->n; n++) {
      Task *k = arena_copy(s->t->arena, s->move, sizeof *k);
      s->strip[n].buffer = strip_buffer(s, &s->strip[n]);
      k->buffer = s->strip[n].buffer;
      k->move = MOVE_EXCHANGE;
      vec_push(s->t->arena, now, k);
    }
  }
  *list = now;
  return s->n - 1;
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

typedef struct Rewrite {
  Strips *s;
  const TaskStage *st;
  uint32_t slot;             /* the block's; the strips' come after it */
} Rewrite;

static const Expr *read_at(const Rewrite *r, const Expr *leaf, uint32_t slot, const TaskBuffer *b) {
  const Expr *arg[RANK];
  for (uint32_t d = 0; d < leaf->n; d++) {
    arg[d] = leaf->arg[d];
    if (r->s->low[d] != b->low[d])
      arg[d] = expr_normal(r->s->x, op2(r->s, OP_SUB, op2(r->s, OP_ADD, arg[d], r->s->low[d]), b->low[d]));
  }
  return expr_read(r->s->x, (DType)leaf->dtype, slot, leaf->n, arg);
}

/* Whether an index is never in the strip beside the block: a label and a number, on the other side or inside. */
static bool never_in(const Rewrite *r, const Expr *index, const Expr *dim, bool high) {
  SpanBase b = span_base(index);
  if (b.around || b.of->kind != EX_LABEL) return false;
  const Expr *bound = r->st->bound[b.of->i];
  return high ? b.by <= 0 && (bound == dim || normal(r->s, bound) == normal(r->s, dim)) : b.by >= 0;
}

/* Chooses by its index, from the first dimension on: not below the block, not above it: inside. Most are inside, so
 * that comes first. */
static const Expr *leaf_choose(void *env, Exprs *x, const Expr *leaf) {
  const Rewrite *r = env;
  const Strips *s = r->s;
  const TaskBuffer *block = buffer_at(s, s->block);
  if (leaf->kind != EX_READ || r->st->slot[leaf->i].kept || r->st->slot[leaf->i].index != s->box) return leaf;
  const Expr *in = read_at(r, leaf, r->slot, block), *e = in;
  for (uint32_t d = leaf->n; d-- > 0;)
    for (uint32_t i = 0; i < s->n; i++) {
      if (s->strip[i].d != d || never_in(r, in->arg[d], block->dim[d], s->strip[i].high)) continue;
      const Expr *inside =
          s->strip[i].high ? op2(s, OP_LT, in->arg[d], block->dim[d]) : op2(s, OP_LE, zero(s), in->arg[d]);
      e = expr_select(x, inside, e, read_at(r, leaf, r->slot + 1 + i, buffer_at(s, s->strip[i].buffer)));
    }
  return e;
}

static void stage_rewrite(Strips *s, TaskStage *st) {
  uint32_t n = st->sum->n_slot;
  EinSum sum = *st->sum;
  Rewrite r = {s, st, n};
  TaskSlot *slot = NEW_ARRAY(s->t->arena, TaskSlot, n + s->n + 2);
  if (!stage_reads(st, s->box)) return;
  memcpy(slot, st->slot, n * sizeof *slot);
  slot[n].index = s->block;
  for (uint32_t i = 0; i < s->n; i++) slot[n + 1 + i].index = s->strip[i].buffer;
  sum.body = expr_map(s->x, sum.body, leaf_choose, &r);
  stage_canonical(s->t, st, &sum, slot, n + s->n + 1);
}

/* ---- everything together ----------------------------------------------------------------------------------------- */

static void list_strips(TaskGraph *t, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    Task *k = list->at[i];
    if (k->kind == TASK_REPEAT) list_strips(t, &k->body);
    if (k->kind != TASK_MOVE || task_moves_places(k)) continue;
    Strips *s = MAKE(t->arena, Strips, .t = t, .x = t->exprs, .move = k, .block = k->from, .box = k->buffer);
    if (!moves_shifted(s) || !readers_find(s, list, i) || !strips_find(s) || !s->n) continue;
    uint32_t more = moves_make(s, list, i);
    for (uint32_t j = i; j <= s->last + more; j++)
      for (uint32_t m = 0; m < list->at[j]->stages.len; m++) stage_rewrite(s, &list->at[j]->stages.at[m]);
    i += more;
  }
}

bool move_brings_neighbours(TaskGraph *t, Task *k) {
  Strips *s = MAKE(t->arena, Strips, .t = t, .x = t->exprs, .move = k, .block = k->from, .box = k->buffer);
  return k->kind == TASK_MOVE && !task_moves_places(k) && moves_shifted(s) && strips_find(s);
}

void task_strips(TaskGraph *t) {
  list_strips(t, &t->tasks);
  task_buffers_drop(t);
}
