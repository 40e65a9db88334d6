/* codegen/schedule/gpu/whole.c - stages that go along the same row one after the other, as in softmax and layernorm:
 * one launch, in which a block computes a row, or some short ones. A thread has every n-th point of the row. A stage's
 * values, and what several stages read, stay in the thread's registers if the row's length is known and there is room;
 * reductions along the row are combined as in rows.c. So memory is read once and written once, and the order of a sum
 * depends on the row's length alone. */
#include "schedule/gpu/gpu.h"

enum { LEAST = 32, USUAL = 256, MOST = 1024 }; /* threads of a row */
enum { SHORT = 8 };                            /* points of the shortest row; rows below LEAST share a warp */
enum { EACH = 16, FEW = 4 };                   /* a thread's points in registers: at most; before threads are added */
/* Of a thread, for all such points; of all threads of a block; of a thread, for everything else. */
enum { REGISTERS = 96, ALL = 65536, OTHER = 32 };

/* The first stage that reads it, its slot, the read, how often it is read, and its place. */
typedef struct RowRead { const TaskStage *stage; TaskSlot slot; const Expr *read; uint32_t times, place; } RowRead;

typedef struct Choice {
  int64_t threads, rows;     /* of a row; rows of a block */
  int64_t each;              /* points of a row in a thread's registers; 0: it loops over them */
} Choice;

typedef struct Rows {
  Sched *s;
  uint32_t from, to;         /* stages */
  uint32_t n_outer, n_row;   /* outer labels, shared by all; labels of the row, which follow them */
  const TaskStage *along;    /* a stage that has the row's labels */
  const Expr *points;        /* of a row */
  Choice choice;
  uint32_t *part, *kept;     /* by stage: what its threads share; its values in registers, or NOWHERE */
  uint32_t **read;           /* by stage and slot: 1 plus the number of the read in `reads`; 0: none */
  VEC(RowRead) reads;
  const Expr **outer;        /* values of the outer labels, */
  const Expr *thread, *base; /*   the thread along the row, and where its row begins in a shared array */
  const Expr *mine;          /*   and the number of the current point among the thread's */
} Rows;

/* ---- whether stages go together --------------------------------------------------------------------------- */

static bool is_sum(const TaskStage *st) { return st->sum->reducer != RED_NONE; }
static uint32_t row_labels(const Rows *r, const TaskStage *st) { return st->sum->n_out + st->sum->n_red - r->n_outer; }
static bool is_between(const Rows *r, TaskSlot slot, uint32_t end) {
  return slot.kept && slot.index >= r->from && slot.index < end;
}

static const Expr **reads_of(Sched *s, const TaskStage *st) {
  const EinSum *sum = st->sum;
  const Expr *top[] = {sum->body, sum->where, sum->domain}, **read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  expr_slot_reads(s->arena, 3, top, read);
  return read;
}

/* Whether it reads at the reader's own point. */
static bool is_own(const Expr *read) {
  return exprs_are_labels(read->n, read->arg);
}

/* Whether neighbours along the row are neighbours in memory, or the same; and kept values of the launch's stages are
 * read in their own thread. */
static bool reads_fit(const Rows *r, const TaskStage *st, uint32_t number) {
  StagePlan p = stage_plan(r->s, st);
  const Expr **read = reads_of(r->s, st);
  uint32_t last = p.n_label - 1;
  bool row = row_labels(r, st) > 0;
  for (uint32_t k = 0; k < st->sum->n_slot; k++) {
    if (is_between(r, st->slot[k], number) ? !is_own(read[k]) : row && plan_move(&p, k, last) == MOVE_FAR) return false;
  }
  return !row || is_sum(st) || st->buffer < 0 || plan_move(&p, p.n_access - 1, last) != MOVE_FAR;
}

static bool same_row(const Rows *r, const TaskStage *st) {
  if (row_labels(r, st) != r->n_row) return false;
  for (uint32_t k = r->n_outer; k < r->n_outer + r->n_row; k++)
    if (st->bound[k] != r->along->bound[k]) return false;
  return true;
}

static bool is_tile(const Rows *r, uint32_t number) {
  const TaskStage *st = &r->s->task->stages.at[number];
  Env e = {.s = r->s, .stage = st};
  Launch l = {number, number + 1, st, stage_plan(r->s, st), &e};
  return tile_fits(r->s, &l);
}

static bool stage_fits(Rows *r, uint32_t number) {
  const TaskStage *st = &r->s->task->stages.at[number];
  uint32_t n = row_labels(r, st);
  if (is_sum(st) ? red_is_arg(st->sum) || st->sum->n_out != r->n_outer || st->sum->domain || !n : st->sum->domain && !n)
    return false;
  if (n && r->along && !same_row(r, st)) return false;
  if (!reads_fit(r, st, number) || (is_sum(st) && is_tile(r, number))) return false;
  if (n && !r->along) r->along = st, r->n_row = n;
  return true;
}

/* Whether each row that a stage reads is one row's own, or that of all. */
static bool rows_are_apart(const Rows *r, const TaskStage *st) {
  StagePlan p = stage_plan(r->s, st);
  for (uint32_t k = 0; row_labels(r, st) && k < st->sum->n_slot; k++) {
    uint32_t far = 0, still = 0;
    for (uint32_t i = 0; i < r->n_outer; i++)
      far += plan_move(&p, k, i) == MOVE_FAR, still += plan_move(&p, k, i) == MOVE_NONE;
    if (plan_move(&p, k, p.n_label - 1) == MOVE_UNIT && far < r->n_outer && still < r->n_outer) return false;
  }
  return true;
}

/* Whether threads along a row are better than one for each: rows are long, or a warp has several that lie one behind
 * the other. */
static bool rows_pay(const Rows *r) {
  StagePlan p = stage_plan(r->s, r->along);
  double size = 1;
  for (uint32_t k = r->n_outer; k < p.n_label; k++) size *= (double)p.size[k];
  for (uint32_t i = r->from; i < r->to && size < (double)LEAST; i++)
    if (!rows_are_apart(r, &r->s->task->stages.at[i])) return false;
  return size >= (double)SHORT;
}

/* Takes as many stages as fit; false if it does not pay: at least two must go along the row, one of them a reduction.
 */
static bool stages_found(Rows *r) {
  uint32_t n = 0, sums = 0, n_stages = r->s->task->stages.len;
  int64_t bytes = 0;
  for (r->to = r->from; r->to < n_stages && stage_fits(r, r->to); r->to++) {
    const TaskStage *st = &r->s->task->stages.at[r->to];
    if (is_sum(st) && (bytes += MOST * 8) > LOOP_SHARED_PLAIN) break;
    n += row_labels(r, st) > 0;
    sums += is_sum(st);
  }
  return n > 1 && sums && rows_pay(r);
}

/* ---- choices ---------------------------------------------------------------------------------------------- */

/* Short rows share a block, if they divide evenly. */
static Choice choose(const Expr *points, const Expr *rows) {
  Choice c = {.threads = USUAL, .rows = 1};
  if (points->kind != EX_INT) return c;
  for (c.threads = LEAST; c.threads < USUAL && c.threads * 2 * FEW <= points->i;) c.threads *= 2;
  if (points->i < LEAST) c.threads = two_power(points->i);
  while (c.threads < MOST && c.threads * EACH < points->i) c.threads *= 2;
  c.each = (points->i + c.threads - 1) / c.threads;
  if (c.each > EACH) c.each = 0;
  while (rows->kind == EX_INT && c.threads * c.rows < USUAL && rows->i % (2 * c.rows) == 0) c.rows *= 2;
  return c;
}

static const Expr *product(Sched *s, const Expr *const *bound, uint32_t from, uint32_t to) {
  const Expr *all = ex_int(s, 1);
  for (uint32_t k = from; k < to; k++) all = ex_mul(s, all, bound[k]);
  return all;
}

static uint32_t points_place(Rows *r, Str name, const char *otherwise, DType t) {
  const Expr *each = ex_int(r->s, r->choice.each);
  return var_own(r->s, name, otherwise, t, 1, &each, NULL);
}

static void read_add(Rows *r, uint32_t number, uint32_t slot, const Expr *read) {
  const TaskStage *st = &r->s->task->stages.at[number];
  Env e = {.s = r->s, .stage = st};
  bool row = false;
  for (uint32_t k = r->n_outer; k < r->n_outer + r->n_row; k++) row |= ex_has_label(read, k);
  for (uint32_t k = 0; k < read->n; k++) row &= !(read->arg[k]->has & HAS_READ);
  if (!row || is_between(r, st->slot[slot], r->to) || !ex_is_safe(&e, read)) return;
  for (uint32_t i = 0; i < r->reads.len; i++) {
    RowRead *x = &r->reads.at[i];
    bool same = x->slot.kept == st->slot[slot].kept && x->slot.index == st->slot[slot].index;
    for (uint32_t k = 0; k < read->n && same; k++) same = x->read->arg[k] == read->arg[k];
    if (!same) continue;
    x->times++;
    r->read[number][slot] = i + 1;
    return;
  }
  vec_push(r->s->arena, r->reads, ((RowRead){st, st->slot[slot], read, 1, NOWHERE}));
  r->read[number][slot] = r->reads.len;
}

/* Finds what several stages read at the same points. */
static void reads_found(Rows *r) {
  for (uint32_t i = r->from; i < r->to; i++) {
    const TaskStage *st = &r->s->task->stages.at[i];
    const Expr **read = reads_of(r->s, st);
    r->read[i] = NEW_ARRAY(r->s->arena, uint32_t, st->sum->n_slot + 1);
    for (uint32_t k = 0; k < st->sum->n_slot && r->choice.each; k++)
      if (read[k]) read_add(r, i, k, read[k]);
  }
}

/* Allocates registers, and work buffers for what later launches read or does not fit. */
static void places_found(Rows *r) {
  Sched *s = r->s;
  int64_t used = 0, most = ALL / (r->choice.threads * r->choice.rows) - OTHER;
  for (uint32_t i = r->from; i < r->to; i++) {
    const TaskStage *st = &s->task->stages.at[i];
    bool vector = !is_sum(st) && row_labels(r, st), here = vector && task_reads_stage(s->task, i, i + 1, r->to);
    bool own = here && r->choice.each;
    r->kept[i] = own ? 0 : NOWHERE;
    used += own ? r->choice.each * (dtype_size(st->sum->dtype) > 4 ? 2 : 1) : 0;
    if (task_reads_stage(s->task, i, r->to, s->task->stages.len) || (here && !own))
      s->of_stage[i] = place_shared(s, st->name ? st->name->s : "kept", st->sum->dtype, st->sum->n_out, st->bound);
  }
  vec_each(RowRead, x, r->reads) {
    used += r->choice.each * (dtype_size((DType)x->read->dtype) > 4 ? 2 : 1);
    if (x->times > 1 && used <= (most < REGISTERS ? most : REGISTERS)) x->place = 0;
  }
}

/* ---- the launch ------------------------------------------------------------------------------------------- */

static void blocks_open(Rows *r, const Expr *rows) {
  Sched *s = r->s;
  const TaskStage *first = &s->task->stages.at[r->from];
  Walk *w = NEW(s->arena, Walk);
  const Expr *zero = ex_int(s, 0), *threads = ex_int(s, r->choice.threads), *row;
  for (uint32_t k = 0; k < r->n_outer; k++) walk_add(s, w, first->label[k], first->bound[k]);
  if (r->choice.rows > 1) rows = ex_int(s, rows->i / r->choice.rows);
  const Expr *block = for_open(s, NULL, "block", zero, rows, 1, BIND_GRID);
  for (uint32_t i = r->from; i < r->to; i++)
    if (is_sum(&s->task->stages.at[i]))
      r->part[i] = place_block(s, "part", s->task->stages.at[i].sum->acc, r->choice.threads * r->choice.rows);
  const Expr *thread = for_open(s, NULL, "thread", zero, threads, 1, BIND_BLOCK);
  r->thread = thread, r->base = zero, row = block;
  if (r->choice.rows > 1) {
    uint32_t y = var_new(s, NULL, "row");
    LoopStmt *loop = for_add(s, y, zero, ex_int(s, r->choice.rows), 1, BIND_BLOCK);
    loop->axis = 1;
    into(s, &loop->body);
    r->base = ex_mul(s, var_read(s, y), threads);
    row = ex_add(s, ex_mul(s, row, ex_int(s, r->choice.rows)), var_read(s, y));
  }
  walk_count(s, w, r->n_outer, row);
  for (uint32_t k = 0; k < r->n_outer; k++) r->outer[k] = w->index[k];
}

static Env env_of(const Rows *r, const TaskStage *st) {
  Env e = {.s = r->s, .stage = st, .label = NEW_ARRAY(r->s->arena, const Expr *, st->sum->n_out + st->sum->n_red + 1)};
  for (uint32_t k = 0; k < r->n_outer; k++) e.label[k] = r->outer[k];
  return e;
}

/* Loops over the thread's points of the row; sets e to the current one. */
static void points_open(Rows *r, Env *e) {
  Sched *s = r->s;
  const Expr *at;
  Walk *w = NEW(s->arena, Walk);
  if (r->choice.each) {
    r->mine = each_open(s, "i", r->choice.each);
    at = named(s, r->n_row == 1 ? r->along->label[r->n_outer] : NULL, "at",
        ex_add(s, r->thread, ex_mul(s, r->mine, ex_int(s, r->choice.threads))));
    if (r->points->i % r->choice.threads) into(s, &if_add(s, expr_op2(s->x, OP_LT, at, r->points))->body);
  } else {
    at = for_open(s, r->n_row == 1 ? r->along->label[r->n_outer] : NULL, "at", r->thread, r->points,
        r->choice.threads, BIND_SEQ);
  }
  if (r->n_row == 1) {
    e->label[r->n_outer] = at;
    return;
  }
  for (uint32_t k = 0; k < r->n_row; k++)
    walk_add(s, w, r->along->label[r->n_outer + k], r->along->bound[r->n_outer + k]);
  walk_count(s, w, r->n_row, at);
  for (uint32_t k = 0; k < r->n_row; k++) e->label[r->n_outer + k] = w->index[k];
}

typedef struct RowEnv { Rows *r; Env *e; uint32_t number; } RowEnv;

static const Expr *leaf_row(void *env, Exprs *x, const Expr *leaf) {
  RowEnv *f = env;
  Rows *r = f->r;
  (void)x;
  if (leaf->kind == EX_LABEL) return f->e->label[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  TaskSlot slot = f->e->stage->slot[leaf->i];
  uint32_t read = r->read[f->number][leaf->i];
  if (read && r->reads.at[read - 1].place != NOWHERE) return place_read(r->s, r->reads.at[read - 1].place, 1, &r->mine);
  if (is_between(r, slot, f->number) && r->kept[slot.index] != NOWHERE)
    return place_read(r->s, r->kept[slot.index], 1, &r->mine);
  return ex_slot(f->e, leaf);
}

static const Expr *row_of(Rows *r, Env *e, uint32_t number, const Expr *of) {
  return ex_shared(r->s, expr_map(r->s->x, of, leaf_row, &(RowEnv){r, e, number}));
}

static void reads_made(Rows *r) {
  vec_each(RowRead, x, r->reads) {
    if (x->place == NOWHERE) continue;
    LoopBody *was = r->s->body;
    Env e = env_of(r, x->stage);
    x->place = points_place(r, NULL, "own", (DType)x->read->dtype);
    points_open(r, &e);
    store_add(r->s, x->place, 1, &r->mine, ex_of(&e, x->read));
    into(r->s, was);
  }
}

/* Computes a map at each point of the row. */
static void vector_made(Rows *r, uint32_t number) {
  Sched *s = r->s;
  const TaskStage *st = &s->task->stages.at[number];
  Env e = env_of(r, st);
  if (r->kept[number] != NOWHERE) r->kept[number] = points_place(r, st->name, "kept", st->sum->dtype);
  LoopBody *was = s->body;
  points_open(r, &e);
  if (st->sum->domain) into(s, &if_add(s, row_of(r, &e, number, st->sum->domain))->body);
  const Expr *value = let_read(s, "v", expr_cast(s->x, st->sum->dtype, row_of(r, &e, number, st->sum->body)));
  if (r->kept[number] != NOWHERE) store_add(s, r->kept[number], 1, &r->mine, value);
  value_store(s, st, &e, value);
  into(s, was);
}

/* Keeps one value for the row, which all of its threads have. */
static void scalar_kept(Rows *r, uint32_t number, Env *e, const Expr *value) {
  Sched *s = r->s;
  const TaskStage *st = &s->task->stages.at[number];
  s->value[number] = let_read(s, st->name ? st->name->s : "v", expr_cast(s->x, st->sum->dtype, value));
  if (st->buffer < 0 && s->of_stage[number] == NOWHERE) return;
  LoopBody *was = into(s, &if_add(s, expr_op2(s->x, OP_EQ, r->thread, ex_int(s, 0)))->body);
  value_store(s, st, e, s->value[number]);
  into(s, was);
}

static void sum_made(Rows *r, uint32_t number) {
  Sched *s = r->s;
  const TaskStage *st = &s->task->stages.at[number];
  Env e = env_of(r, st);
  uint32_t acc = place_own(s, NULL, "acc", st->sum->acc, 0, NULL);
  const Expr *at = ex_add(s, r->base, r->thread);
  var_add(s, acc, red_identity(s, st->sum));
  LoopBody *was = s->body;
  points_open(r, &e);
  if (st->sum->where) into(s, &if_add(s, row_of(r, &e, number, st->sum->where))->body);
  const Expr *value = let_read(s, "v", row_of(r, &e, number, st->sum->body));
  acc_take(s, st->sum, acc, value);
  into(s, was);
  store_add(s, r->part[number], 1, &at, scalar_read(s, acc));
  barrier_add(s);
  rows_tree(s, st->sum, r->part[number], r->base, r->thread, r->choice.threads);
  scalar_kept(r, number, &e, place_read(s, r->part[number], 1, &r->base));
}

static void stage_made(Rows *r, uint32_t number) {
  const TaskStage *st = &r->s->task->stages.at[number];
  Env e = env_of(r, st);
  if (is_sum(st)) sum_made(r, number);
  else if (row_labels(r, st)) vector_made(r, number);
  else scalar_kept(r, number, &e, row_of(r, &e, number, st->sum->body));
}

static void choice_report(const Rows *r) {
  const Choice *c = &r->choice;
  const TaskStage *first = &r->s->task->stages.at[r->from];
  const char *along = how_label(r->along, r->n_outer + r->n_row - 1);
  if (c->each)
    how_add(r->s, first,
        "%u stages in one launch, along %s: %lld threads for each row, %lld a block, each with %lld points of it in "
        "registers",
        r->to - r->from, along, (long long)c->threads, (long long)c->rows, (long long)c->each);
  else
    how_add(r->s, first, "%u stages in one launch, along %s: a block of %lld threads for each row", r->to - r->from,
        along, (long long)c->threads);
}

bool whole_launch(Sched *s, uint32_t from, uint32_t *to) {
  uint32_t n = s->task->stages.len;
  Rows r = {.s = s, .from = from, .n_outer = s->task->n_outer};
  if (!stages_found(&r)) return false;
  const TaskStage *first = &s->task->stages.at[from];
  const Expr *rows = product(s, first->bound, 0, r.n_outer);
  r.points = product(s, r.along->bound, r.n_outer, r.n_outer + r.n_row);
  r.choice = choose(r.points, rows);
  r.part = NEW_ARRAY(s->arena, uint32_t, n + 1), r.kept = NEW_ARRAY(s->arena, uint32_t, n + 1),
  r.read = NEW_ARRAY(s->arena, uint32_t *, n + 1);
  r.outer = NEW_ARRAY(s->arena, const Expr *, r.n_outer + 1);
  if (r.choice.threads * r.choice.rows < LEAST) return false;
  choice_report(&r);
  reads_found(&r);
  places_found(&r);
  LoopBody *was = s->body;
  blocks_open(&r, rows);
  reads_made(&r);
  for (uint32_t i = from; i < r.to; i++) stage_made(&r, i);
  for (uint32_t i = from; i < r.to; i++) s->value[i] = NULL;
  into(s, was);
  return *to = r.to, true;
}
