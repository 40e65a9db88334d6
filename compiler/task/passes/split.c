/* task/passes/split.c - splits reductions with few outputs into chunks for threads. In: kernels, after fusion. Out:
 * a kernel whose first stage is a long reduction to few outputs becomes several, in its place:
 *
 *     P[part,out] = reduce[r, red where p] body        at r = part*CHUNK + r, for r < CHUNK: the whole chunks
 *     P[parts,out] = the same                          at r = parts*CHUNK + r, for r < R % CHUNK: the remainder
 *     Z[out] = reduce[part] P[part,out]                and what followed the old reduction
 *
 * A schedule gives threads chunks of outputs, and here there would be only one or two. The reducers' laws allow the
 * split: all are associative, and chunks stay in order. P has the accumulator's dtype; the result is rounded once,
 * as before.
 *
 * argmax and argmin return a place: P has the place in each chunk, -1 where p holds nowhere in it, and the final
 * extreme is found among the values at these places. If every chunk has a place, and lanes go along an output label, a
 * second stage keeps these values too: else the last kernel would fetch them from all over memory, one by one.
 *
 * CHUNK is a number, and depends on sizes alone, so the bits do not depend on the number of threads. An unknown size
 * may turn out to be 0 or less than a chunk: then there are no whole chunks. */
#include "expr/sum/law.h"
#include "task/inside.h"

enum {
  PART_OPS = 131072,         /* less work is not worth a thread: as in codegen/schedule/stage.c */
  PARTS = 128,               /* the wanted number of parts, times the units of the outputs */
  PARTS_SIDES = 32,          /* for a product of two sides, where the results of parts are larger, */
  PARTS_LEAST = 4,
  UNITS_ENOUGH = 8,          /* outputs with this many units for threads are not few */
  ROW_UNIT = 8,              /* outputs that one thread takes together, if no read steps along an output label, */
  TILE_UNIT = 512,           /* and if one does, far enough for tiles and strips */
  TILE_LEAST = 4,
  POINTS_LEAST = 256,        /* points per value of P, so that the cost of P is negligible; */
  POINTS_SIDES = 1024,       /* for a product of two sides, where a point costs less */
  STEPS_LEAST = 1024,        /* contiguous steps that a part keeps together, */
  STEPS_SIDES = 32,          /* and for a product of two sides, which transposes squares of them */
  ALIGN = 64,                /* alignment of such steps: whole lanes, whole cache lines; */
  ALIGN_SIDES = 16,          /*   whole squares of a panel */
  TRIES = 4096               /* sizes of parts to try for one with little remainder */
};

typedef struct Cut {
  TaskGraph *t;
  const Task *old;
  const TaskStage *stage;    /* its first: the reduction */
  Tasks *list;               /* where the new kernels go */
  uint32_t label;            /* the reduced label that is split, */
  bool near;                 /*   lanes go along it, */
  int64_t align;             /* parts begin at multiples of this, where possible, */
  int64_t chunk;             /*   the steps of a part */
  const Expr *parts;         /* the number of whole parts, */
  const Expr *rest;          /* and the remaining steps; NULL: none */
  const Expr *all;           /* how many parts with those */
  uint32_t p;                /* the buffer P */
  bool values;               /* of argmax and argmin: the values at the places are kept, */
  uint32_t v;                /*   in this buffer */
} Cut;

/* ---- facts ---------------------------------------------------------------------------------------- */

/* Whether only maps at the reduction's labels follow it. */
static bool is_simple(const Task *k) {
  const EinSum *first = k->stages.at[0].sum;
  if (!(reducer_info[first->reducer].laws & LAW_ASSOCIATIVE) || !first->n_red ||
      first->n_out + first->n_red >= SUM_RANK)
    return false;
  for (uint32_t i = 1; i < k->stages.len; i++) {
    const EinSum *s = k->stages.at[i].sum;
    if (s->reducer != RED_NONE || s->n_out != first->n_out || k->n_outer != first->n_out) return false;
  }
  return true;
}

/* Finds the labels along which a read steps to the next element, or to one nearby. */
static void near_find(TaskGraph *t, const TaskStage *s, bool *label) {
  ExprNodes reads = expr_nodes(t->arena, s->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e->n) expr_labels(e->arg[e->n - 1], s->sum->n_out + s->sum->n_red, label);
}

/* Finds the output labels that each point decides, `bin[e] == b`: the points are visited once, whatever the labels'
 * extents. */
static void decided_find(TaskGraph *t, const TaskStage *s, bool *label) {
  VEC(const Expr *) todo = {0};
  if (s->sum->where) vec_push(t->arena, todo, s->sum->where);
  while (todo.len) {
    const Expr *e = vec_pop(todo);
    if (e->kind != EX_OP || (e->op != OP_AND && e->op != OP_EQ)) continue;
    for (uint32_t k = 0; k < 2; k++) {
      const Expr *is = e->arg[k], *to = e->arg[1 - k];
      if (e->op == OP_AND) vec_push(t->arena, todo, is);
      else if (is->kind == EX_LABEL && is->i < s->sum->n_out && !(to->labels & is->labels)) label[is->i] = true;
    }
  }
}

/* Finds the reduced labels that index a read guarded by a condition, `if c[i] then x[i] else 0`. The schedule hoists
 * such a read above its condition if each index is a label as long as the axis, which is better for lanes: such a
 * label stays whole. */
static void guarded_find(TaskGraph *t, const TaskStage *s, bool *label) {
  typedef struct Item { const Expr *e; bool guarded; } Item;
  VEC(Item) todo = {0}, later = {0};
  Map seen = map_new(t->arena);
  vec_push(t->arena, todo, ((Item){s->sum->body, false}));
  while (todo.len || later.len) { /* unconditional reads come first */
    Item i = todo.len ? vec_pop(todo) : vec_pop(later);
    if (!(i.e->has & HAS_READ) || map_find(&seen, i.e)) continue;
    map_put(&seen, i.e, t);
    for (uint32_t k = 0; k < i.e->n; k++) {
      const Expr *arg = i.e->arg[k];
      bool guarded = i.guarded || (k > 0 && i.e->kind == EX_OP && op_info[i.e->op].laws & LAW_LAZY);
      if (i.e->kind == EX_READ && i.guarded && arg->kind == EX_LABEL) label[arg->i] = true;
      if (guarded) vec_push(t->arena, later, ((Item){arg, true}));
      else vec_push(t->arena, todo, ((Item){arg, false}));
    }
  }
}

/* An estimate of the plain operations per point. */
static double ops_of(TaskGraph *t, const EinSum *sum) {
  double n = 1;
  ExprNodes nodes = expr_nodes(t->arena, sum->body, ~(unsigned)HAS_DIM);
  expr_nodes_add(&nodes, sum->where);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (e->kind == EX_READ) n++;
    if (e->kind == EX_OP && e->op == OP_EXTERN) n += (double)extern_cost(e->by);
    else if (e->kind == EX_OP && e->op != OP_CAST) n += op_info[e->op].laws & LAW_EXACT ? 1 : 15;
  }
  return n;
}

static bool is_known(const TaskStage *s, uint32_t label) { return s->bound[label]->kind == EX_INT; }

/* ---- which label, and how large a chunk ------------------------------------------------------------- */

typedef struct Sizes {
  double all;                /* points */
  double reduced;            /* points of one output, */
  double decided;            /* or the number of these outputs, each of which gets some of the points */
  double units;              /* units of the outputs for threads */
  double ops;                /* of a point */
  bool few;                  /* there are few outputs, whatever unknown sizes turn out to be */
  bool known;                /* all sizes have values */
  bool tiles;                /* lanes go along an output label */
  bool sides;                /* a product of two sides: threads get blocks of both */
} Sizes;

static Sizes sizes_of(TaskGraph *t, const TaskStage *s, const bool *near) {
  const EinSum *sum = s->sum;
  bool decided[SUM_RANK] = {false};
  Sizes z = {.all = 1, .reduced = 1, .decided = 1, .units = 1, .ops = ops_of(t, sum), .few = true, .known = true};
  decided_find(t, s, decided);
  for (uint32_t l = 0; l < sum->n_out + sum->n_red; l++) {
    double n = (double)task_size_guess(t, s->bound[l]);
    bool reduced = l >= sum->n_out;
    *(reduced ? &z.reduced : decided[l] ? &z.decided : &z.units) *= n;
    if (!decided[l]) z.all *= n;
    z.tiles |= !reduced && near[l] && n >= (double)TILE_LEAST;
    z.few &= reduced || is_known(s, l);
    z.known &= is_known(s, l);
  }
  z.units /= (double)(z.tiles ? TILE_UNIT : ROW_UNIT);
  if (z.units < 1) z.units = 1;
  return z;
}

/* Enough outputs may still be few blocks of a product of two sides. They are many for a sum that turns out to be
 * short, so its sizes must be known. */
static void sides_count(TaskGraph *t, const TaskStage *s, Sizes *z) {
  if (!z->known || z->decided > 1 || z->units < (double)UNITS_ENOUGH) return;
  double blocks = task_side_blocks(t, s);
  if (blocks <= 0) return;
  z->units = blocks < 1 ? 1 : blocks;
  z->sides = true;
}

/* The score of a label for splitting: into how many parts, and preferably between rows, not across them. */
static double cut_score(const Cut *c, uint32_t label, const bool *near) {
  const TaskStage *s = c->stage;
  double n = (double)task_size_guess(c->t, s->bound[label]);
  if (!is_known(s, label)) n = (double)PARTS / 8; /* there may be none */
  else if (near[label]) n /= (double)STEPS_LEAST;
  return (n < (double)PARTS ? n : (double)PARTS) * (near[label] ? 1 : 2);
}

/* argmax of several labels numbers their points, which stay in order if the first label is split. */
static bool label_find(Cut *c, const bool *near) {
  const EinSum *s = c->stage->sum;
  bool guarded[SUM_RANK] = {false}, found = false;
  guarded_find(c->t, c->stage, guarded);
  for (uint32_t l = s->n_out; l < s->n_out + (red_is_arg(s) ? 1 : s->n_red); l++) {
    if (guarded[l] || (found && cut_score(c, l, near) <= cut_score(c, c->label, near))) continue;
    c->label = l;
    found = true;
  }
  c->near = found && near[c->label];
  return found;
}

/* The steps that a worthwhile part must have. With an unknown size there may be any number of parts, so they are
 * larger. */
static int64_t chunk_least(const Cut *c, const Sizes *z) {
  double size = (double)task_size_guess(c->t, c->stage->bound[c->label]);
  double least = (double)PART_OPS / (z->ops * (z->all / size));
  double few = (double)(z->sides ? POINTS_SIDES : POINTS_LEAST) * z->decided / (z->reduced / size);
  if (!is_known(c->stage, c->label)) few *= 4;
  if (least < few) least = few;
  double steps = z->sides ? (double)STEPS_SIDES : (double)STEPS_LEAST;
  if (c->near && least < steps) least = steps;
  return least > INT32_MAX ? INT32_MAX : least < 1 ? 1 : (int64_t)least;
}

static int64_t whole(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

/* A number of parts close to the wanted one that divides the size; 0: there is none. */
static int64_t parts_even(int64_t size, int64_t want, int64_t align) {
  int64_t best = 0;
  for (int64_t n = want / 2; n <= 2 * want; n++) {
    if (!n || size % n || size / n % align) continue;
    int64_t far = n > want ? n - want : want - n, was = best > want ? best - want : want - best;
    if (!best || far < was) best = n;
  }
  return best;
}

/* Chooses parts without remainder, else those with the smallest. Where squares are not whole, the last overlaps the
 * one before it. */
static int64_t chunk_known(const Cut *c, int64_t size, int64_t want) {
  int64_t align = c->align, best = parts_even(size, want, align), chunk = whole(size / want, align);
  if (!best && align == ALIGN_SIDES) best = parts_even(size, want, 1);
  if (best) return size / best;
  for (int64_t k = 0, n = chunk, least = chunk / 2; k < TRIES && n > least; k++, n -= align)
    if (size % n < size % chunk) chunk = n;
  return chunk;
}

/* Whether argmax or argmin of one label surely has a place in every part, with outputs in lanes. */
static bool has_values(const Cut *c, const Sizes *z) {
  const EinSum *sum = c->stage->sum;
  return red_is_arg(sum) && sum->n_red == 1 && !sum->where && !sum->domain && z->tiles;
}

/* Decides whether it is split, and how. */
static bool is_cut(Cut *c) {
  const TaskStage *s = c->stage;
  bool near[SUM_RANK] = {false};
  near_find(c->t, s, near);
  Sizes z = sizes_of(c->t, s, near);
  sides_count(c->t, s, &z);
  for (uint32_t l = 0; z.tiles && !z.sides && l < SUM_RANK; l++) near[l] = false;
  if (z.units >= (double)UNITS_ENOUGH || z.all < 1 || !label_find(c, near)) return false;
  int64_t least = chunk_least(c, &z);
  c->align = !c->near ? 1 : z.sides ? ALIGN_SIDES : ALIGN;
  if (!is_known(s, c->label)) {
    c->values = false;
    c->chunk = whole(least, least < STEPS_LEAST ? ALIGN : STEPS_LEAST);
    return z.few;
  }
  int64_t size = s->bound[c->label]->i, want = (z.sides ? PARTS_SIDES : PARTS) / (int64_t)z.units;
  if (want > size / least) want = size / least;
  if (want < PARTS_LEAST) return false;
  c->chunk = chunk_known(c, size, want);
  c->values &= has_values(c, &z);
  return true;
}

/* ---- parts of kernels --------------------------------------------------------------------------------- */

static const Expr *times(Exprs *x, const Expr *a, const Expr *b) { return expr_op2(x, OP_MUL, a, b); }
static const Expr *plus(Exprs *x, const Expr *a, const Expr *b) { return expr_op2(x, OP_ADD, a, b); }
static const Expr *number(Exprs *x, int64_t v) { return expr_int(x, DT_I64, v); }

static void chunks_count(Cut *c) {
  Exprs *x = c->t->exprs;
  const Expr *size = c->stage->bound[c->label], *chunk = number(x, c->chunk);
  c->parts = extent_normal(x, expr_op2(x, OP_IDIV, size, chunk));
  c->rest = extent_normal(x, expr_op2(x, OP_MOD, size, chunk));
  if (expr_is_int(c->rest, 0)) c->rest = NULL;
  c->all = c->rest ? extent_normal(x, plus(x, c->parts, number(x, 1))) : c->parts;
}

/* A buffer for a value per part and output. */
static uint32_t parts_new(const Cut *c, const char *behind, DType dtype) {
  TaskGraph *t = c->t;
  const TaskStage *o = c->stage;
  TaskBuffer b = {.id = t->buffers.len, .space = BUF_WORK, .place = o->place};
  b.name = task_name_with(t, o->name, behind);
  const Expr **dim = NEW_ARRAY(t->arena, const Expr *, o->sum->n_out + 1);
  dim[0] = c->all;
  for (uint32_t k = 0; k < o->sum->n_out; k++) dim[k + 1] = o->bound[k];
  b.dtype = dtype;
  b.rank = o->sum->n_out + 1;
  b.dim = dim;
  vec_push(t->arena, t->buffers, b);
  return b.id;
}

/* The place in P: the part, then the labels from `from` on. */
static const Expr **at_part(const Cut *c, const Expr *part, uint32_t from) {
  uint32_t n = c->stage->sum->n_out;
  const Expr **at = NEW_ARRAY(c->t->arena, const Expr *, n + 1);
  at[0] = part;
  for (uint32_t k = 0; k < n; k++) at[k + 1] = expr_label(c->t->exprs, from + k);
  return at;
}

static const Expr *read_part(const Cut *c, DType dtype, uint32_t slot, const Expr *part) {
  return expr_read(c->t->exprs, dtype, slot, c->stage->sum->n_out + 1, at_part(c, part, 0));
}

/* The body at the place that a part found: reduced labels are computed from the place's number. The old output labels
 * begin at `shift`. */
static const Expr *value_at(const Cut *c, const Expr *part, const Expr *place, uint32_t shift) {
  Exprs *x = c->t->exprs;
  const TaskStage *o = c->stage;
  uint32_t n = o->sum->n_out + o->sum->n_red;
  const Expr **to = NEW_ARRAY(c->t->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < o->sum->n_out; k++) to[k] = expr_label(x, k + shift);
  for (uint32_t k = n; k-- > o->sum->n_out;) {
    to[k] =
        k == c->label ? plus(x, times(x, part, number(x, c->chunk)), place) : expr_op2(x, OP_MOD, place, o->bound[k]);
    if (k != c->label) place = expr_op2(x, OP_IDIV, place, o->bound[k]);
  }
  return expr_relabel(x, o->sum->body, n, to);
}

static Task *kernel_new(const Cut *c, const char *behind) {
  Task *k = arena_copy(c->t->arena, c->old, sizeof *k);
  k->name = task_name_with(c->t, k->name, behind);
  k->stages.at = NULL;
  k->stages.len = k->stages.cap = 0;
  vec_push(c->t->arena, *c->list, k);
  return k;
}

static Str part_name(const Cut *c) { return str_of(c->t->strings, "part", 4); }

/* ---- the chunks --------------------------------------------------------------------------------------- */

typedef struct Chunks {      /* the kernel of all whole chunks, or of the remainder */
  const Cut *c;
  Task *kernel;
  const Expr *part;          /* which part: label 0, or one past the last */
  uint32_t shift;            /* where the old output labels begin: 1 or 0 */
  const Expr **to;           /* the old labels here */
} Chunks;

static Chunks chunks_new(const Cut *c, bool rest) {
  Exprs *x = c->t->exprs;
  const EinSum *o = c->stage->sum;
  Chunks h = {.c = c, .shift = rest ? 0 : 1, .kernel = kernel_new(c, rest ? ".rest" : ".part")};
  h.kernel->n_outer = 0;
  h.part = rest ? c->parts : expr_label(x, 0);
  h.to = NEW_ARRAY(c->t->arena, const Expr *, o->n_out + o->n_red + 1);
  for (uint32_t k = 0; k < o->n_out + o->n_red; k++) h.to[k] = expr_label(x, k + h.shift);
  h.to[c->label] = plus(x, times(x, h.part, number(x, c->chunk)), h.to[c->label]);
  return h;
}

/* Adds the reduction over the old output labels, and part where there is one. */
static void chunks_add(Chunks *h, EinSum *sum) {
  const Cut *c = h->c;
  TaskStage s = *c->stage;
  uint32_t n = sum->n_out + sum->n_red;
  const Expr **bound = NEW_ARRAY(c->t->arena, const Expr *, n + 1);
  Str *label = NEW_ARRAY(c->t->arena, Str, n + 1);
  bound[0] = c->parts;
  label[0] = part_name(c);
  for (uint32_t k = 0; k < n; k++) bound[k + h->shift] = s.bound[k], label[k + h->shift] = s.label[k];
  bound[c->label + h->shift] = h->shift ? number(c->t->exprs, c->chunk) : c->rest;
  s.bound = bound;
  s.label = label;
  s.name = task_name_with(c->t, s.name, h->shift ? ".part" : ".rest");
  s.buffer = (int32_t)c->p;
  s.n_at = c->stage->sum->n_out + 1;
  s.at = at_part(c, h->part, h->shift);
  sum->n_out += h->shift;
  stage_canonical(c->t, &s, sum, s.slot, sum->n_slot);
  vec_push(c->t->arena, h->kernel->stages, s);
}

/* Adds the values at the places that the reduction found: a map behind it. */
static void values_add(Chunks *h) {
  const Cut *c = h->c;
  Exprs *x = c->t->exprs;
  TaskStage s = h->kernel->stages.at[0];
  EinSum sum = *s.sum;
  uint32_t slots = c->stage->sum->n_slot;
  TaskSlot *slot = COPY_ARRAY(c->t->arena, TaskSlot, c->stage->slot, slots, slots + 1);
  slot[slots] = (TaskSlot){true, 0};
  const Expr *place = expr_read(x, DT_I64, slots, sum.n_out, exprs_labels(c->t->arena, x, sum.n_out));
  sum.n_red = 0;
  sum.reducer = RED_NONE;
  sum.dtype = sum.acc;
  sum.body = expr_cast(x, sum.acc, value_at(c, h->part, place, h->shift));
  s.name = task_name_with(c->t, c->stage->name, ".value");
  s.buffer = (int32_t)c->v;
  stage_canonical(c->t, &s, &sum, slot, slots + 1);
  vec_push(c->t->arena, h->kernel->stages, s);
  h->kernel->n_outer = sum.n_out;
}

static void chunks_make(const Cut *c, bool rest) {
  Chunks h = chunks_new(c, rest);
  EinSum sum = *c->stage->sum;
  sum_relabel(c->t->exprs, &sum, sum.n_out + sum.n_red, h.to);
  if (!red_is_arg(&sum)) sum.dtype = sum.acc;
  chunks_add(&h, &sum);
  if (c->values) values_add(&h);
}

/* ---- the result ----------------------------------------------------------------------------------------- */

/* A stage at the old output labels, or one that reduces over all parts; slot n_slot is P, the next one the stage
 * before, and the one after that the values. */
static void result_add(const Cut *c, Task *k, TaskStage s, EinSum *sum, bool reduces) {
  const TaskStage *o = c->stage;
  uint32_t n = o->sum->n_out, slots = o->sum->n_slot;
  TaskSlot *slot = COPY_ARRAY(c->t->arena, TaskSlot, o->slot, slots, slots + 3);
  slot[slots] = (TaskSlot){false, c->p};
  slot[slots + 1] = (TaskSlot){true, 0};
  slot[slots + 2] = (TaskSlot){false, c->v};
  sum->n_red = reduces ? 1 : 0;
  const Expr **bound = NEW_ARRAY(c->t->arena, const Expr *, n + 2);
  Str *label = NEW_ARRAY(c->t->arena, Str, n + 2);
  for (uint32_t j = 0; j < n; j++) bound[j] = o->bound[j], label[j] = o->label[j];
  bound[n] = c->all;
  label[n] = part_name(c);
  s.bound = bound;
  s.label = label;
  stage_canonical(c->t, &s, sum, slot, slots + 3);
  vec_push(c->t->arena, k->stages, s);
}

/* Finds the part with the extreme value, then the number of its place among all points. */
static void result_of_places(const Cut *c, Task *k) {
  Exprs *x = c->t->exprs;
  const EinSum *o = c->stage->sum;
  uint32_t slots = o->n_slot;
  TaskStage s = *c->stage;
  EinSum sum = *o;
  const Expr *part = expr_label(x, o->n_out), *place = read_part(c, DT_I64, slots, part), *points = number(x, c->chunk);
  s.buffer = -1;
  s.n_at = 0;
  s.name = task_name_with(c->t, s.name, ".part");
  sum.body = c->values ? read_part(c, o->acc, slots + 2, part) : value_at(c, part, place, 0);
  sum.where = c->values ? NULL : expr_op2(x, OP_LE, number(x, 0), place);
  result_add(c, k, s, &sum, true);
  const Expr *found = expr_read(x, DT_I64, slots + 1, o->n_out, at_part(c, NULL, 0) + 1);
  for (uint32_t l = o->n_out + 1; l < o->n_out + o->n_red; l++) points = times(x, points, c->stage->bound[l]);
  place = plus(x, times(x, found, points), read_part(c, DT_I64, slots, found));
  sum = *o;
  sum.reducer = RED_NONE;
  sum.where = NULL;
  sum.acc = DT_I64;
  sum.body = place;
  if (!c->values) /* it stays nowhere */
    sum.body = expr_select(x, expr_op2(x, OP_LE, number(x, 0), found), place, found);
  result_add(c, k, *c->stage, &sum, false);
  k->n_outer = o->n_out;
}

static void result_make(const Cut *c) {
  const EinSum *o = c->stage->sum;
  Task *k = kernel_new(c, "");
  EinSum sum = *o;
  sum.where = NULL;
  sum.body = read_part(c, o->acc, o->n_slot, expr_label(c->t->exprs, o->n_out));
  if (red_is_arg(o)) result_of_places(c, k);
  else result_add(c, k, *c->stage, &sum, true);
  uint32_t more = k->stages.len - 1;
  for (uint32_t i = 1; i < c->old->stages.len; i++) { /* they read the result by its new number */
    TaskStage s = c->old->stages.at[i];
    TaskSlot *slot = NEW_ARRAY(c->t->arena, TaskSlot, s.sum->n_slot + 1);
    for (uint32_t j = 0; j < s.sum->n_slot; j++)
      slot[j] = (TaskSlot){s.slot[j].kept, s.slot[j].index + (s.slot[j].kept ? more : 0)};
    s.slot = slot;
    vec_push(c->t->arena, k->stages, s);
  }
}

static bool try_split(TaskGraph *t, const Task *k, bool values, Tasks *list) {
  if (k->kind != TASK_KERNEL || task_call(k) || !is_simple(k)) return false;
  Cut c = {.t = t, .old = k, .stage = &k->stages.at[0], .list = list, .values = values};
  if (!is_cut(&c)) return false;
  chunks_count(&c);
  c.p = parts_new(&c, ".part", red_is_arg(c.stage->sum) ? DT_I64 : c.stage->sum->acc);
  if (c.values) c.v = parts_new(&c, ".value", c.stage->sum->acc);
  chunks_make(&c, false);
  if (c.rest) chunks_make(&c, true);
  result_make(&c);
  return true;
}

static void list_split(TaskGraph *t, bool values, Tasks *list) {
  Tasks to = {0};
  vec_each_of(Task, k, *list) {
    list_split(t, values, &k->body);
    if (!try_split(t, k, values, &to)) vec_push(t->arena, to, k);
  }
  *list = to;
}

void task_split(TaskGraph *t, bool values) { list_split(t, values, &t->tasks); }
