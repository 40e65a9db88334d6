/* task/passes/fuse.c - decides which operations share a kernel. Within one list of tasks, in order:
 *
 *   a map that only one kernel reads is inlined there, unless it would be recomputed too often;
 *   a map after a reduction, at the reduction's own labels, becomes a second stage: bias, scale, activation;
 *   operations over the same rows (softmax, layernorm) become stages that share the rows' labels.
 *
 * The order of reads and writes is kept: a kernel moves down to the one that it joins, past tasks that do not use
 * its result. */
#include "task/grouped.h"
#include "task/inside.h"

enum {
  INLINE_NODES = 300,        /* an inlined expression may not grow larger than this, */
  INLINE_SYMBOLS = 4000,     /* nor longer, written out: what several branches of an `if` need is printed in each */
  LIGHT = 6,                 /* this many plain operations are cheaper than a tensor in memory */
  AGAIN_MOST = 4,            /* and may be repeated this many times */
  ROW_MOST = 16384,          /* elements of a row that a kernel keeps */
  ROWS_LEAST = 16,           /* fewer rows are not worth sharing */
  COLUMN_MOST = 8192,        /* elements of a row that is a column of what it reads: more of them cannot be taken with
                              * those of other rows (schedule/cpu/rows/block.c) */
  SHORT_ROW = 8,             /* results that are not worth lanes, */
  LONG_SUM = 64,             /*   where a sum of so many points is made for each */
  BLOCK_LEAST = 32,          /* rows for which a product can be made block by block, */
  THIN = 256,                /* if an element of it has at most this many points, or contributes to as many */
  COPIED_LESS = 2,           /* how many times fewer elements are copied for a block of it than it has, */
  LARGE_BYTES = 1 << 25,     /*   unless it leaves the caches: then as many */
  STAGES_MOST = 16
};

typedef struct BufferUse {      /* of a buffer */
  Task *maker;               /* the only kernel that writes it; NULL: none, or several tasks */
  uint32_t makers, readers;  /* tasks */
  bool pinned;               /* a task other than a kernel uses it */
  uint32_t last_reader;      /* scratch: 1 + the number of the last counted task */
} BufferUse;

typedef struct Fuse {
  TaskGraph *t;
  BufferUse *of;                /* by buffer */
  uint32_t task;             /* scratch: the number of tasks counted so far */
  Tasks *list;
  uint32_t *position;        /* by step: a task's position in its list; here step is the task's number */
} Fuse;

/* ---- facts ------------------------------------------------------------------------------------------ */

static void use_pin(void *env, uint32_t *buffer, bool write) {
  Fuse *f = env;
  (void)write;
  f->of[*buffer].pinned = true;
}

static void fact_kernel(Fuse *f, Task *k) {
  f->task++;
  vec_each(const TaskStage, s, k->stages) {
    for (uint32_t j = 0; j < s->sum->n_slot; j++) {
      if (s->slot[j].kept) continue;
      BufferUse *b = &f->of[s->slot[j].index];
      if (b->last_reader != f->task) b->readers++;
      b->last_reader = f->task;
    }
    if (s->buffer < 0) continue;
    BufferUse *b = &f->of[s->buffer];
    b->maker = b->makers++ ? NULL : k;
  }
}

static void facts_list(Fuse *f, const Tasks *list) {
  vec_each_of(Task, k, *list) {
    if (k->kind == TASK_KERNEL) fact_kernel(f, k);
    else task_uses(k, use_pin, f);
    facts_list(f, &k->body);
  }
}

/* On a mesh: whether both kernels run at the same sites. */
static bool same_sites(const Fuse *f, const Task *p, const Task *q) {
  int32_t a = vec_last(p->stages).buffer, b = vec_last(q->stages).buffer;
  return a >= 0 && b >= 0 && f->t->buffers.at[a].when == f->t->buffers.at[b].when;
}

/* Whether a repeat changes what p reads: a state may begin in the buffer of its first value. */
static bool is_changed(const Fuse *f, const Task *p, const Task *repeat) {
  vec_each(const TaskStage, s, p->stages) {
    for (uint32_t j = 0; j < s->sum->n_slot; j++)
      if (!s->slot[j].kept && task_writes(f->t, repeat, s->slot[j].index)) return true;
  }
  return false;
}

/* A state that is updated in place has several makers, or is exchanged by its repeat, and its readers must not move
 * past one of them: p may run where q is if nothing from p to q, q included, changes what p reads. */
static bool may_follow(const Fuse *f, const Task *p, const Task *q) {
  uint32_t from = f->position[p->step], to = f->position[q->step];
  bool careful = false, exchanged = false;
  vec_each(const TaskStage, s, p->stages) {
    for (uint32_t j = 0; j < s->sum->n_slot; j++) {
      if (s->slot[j].kept) continue;
      const BufferUse *b = &f->of[s->slot[j].index];
      careful |= b->makers > 1;
      exchanged |= b->makers && b->pinned;
    }
  }
  if (!careful && !exchanged) return true;
  if (to - from > 64) return false;
  for (uint32_t i = from + 1; i <= to; i++) {
    const Task *k = f->list->at[i];
    if (k->kind == TASK_REPEAT && is_changed(f, p, k)) return false;
    for (uint32_t j = 0; careful && j < k->stages.len; j++) {
      int32_t b = k->stages.at[j].buffer;
      if (b >= 0 && f->of[b].makers > 1) return false;
    }
  }
  return true;
}

static bool changes(const Fuse *f, const Task *k) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].buffer >= 0 && f->of[k->stages.at[i].buffer].makers > 1) return true;
  return false;
}

/* ---- sizes and costs --------------------------------------------------------------------------------- */

static double size_of(TaskGraph *t, const Expr *e) { return (double)task_size_guess(t, e); }

static double all_points(TaskGraph *t, const TaskStage *s) {
  return stage_points(t, s, 0, s->sum->n_out + s->sum->n_red);
}

typedef struct Cost { uint32_t nodes, ops; bool heavy; } Cost;

bool op_is_heavy(Op op) {
  const OpInfo *o = &op_info[op];
  return !(o->laws & LAW_EXACT) || o->rule == RULE_RANDOM || o->rule == RULE_INDEX || op == OP_DIV || op == OP_SQRT ||
      op == OP_IDIV || op == OP_MOD;
}

static void cost_add(Map *seen, const Expr *e, Cost *c) {
  if (c->nodes > INLINE_NODES || map_find(seen, e)) return;
  map_put(seen, e, (void *)(uintptr_t)e);
  c->nodes++;
  for (uint32_t k = 0; k < e->n; k++) cost_add(seen, e->arg[k], c);
  if (e->kind != EX_OP || !(e->has & ~(unsigned)HAS_DIM)) return;
  c->ops++;
  c->heavy |= op_is_heavy(e->op);
}

static Cost cost_of(const TaskStage *s) {
  Cost c = {0};
  Arena *a = arena_new();
  Map seen = map_new(a);
  cost_add(&seen, s->sum->body, &c);
  if (s->sum->where) cost_add(&seen, s->sum->where, &c);
  arena_free(a);
  return c;
}

/* How long an expression is, written out with `each` symbols more in place of each read of a buffer of s. */
typedef struct Symbols { Map seen; const TaskStage *s; uint32_t buffer, each; } Symbols;

static uint32_t symbols_of(Symbols *w, const Expr *e) {
  uint32_t n = (uint32_t)(uintptr_t)map_find(&w->seen, e);
  if (n) return n;
  n = 1 + (w->each && stage_read_is(w->s, e, w->buffer) ? w->each : 0);
  for (uint32_t k = 0; k < e->n; k++) n += symbols_of(w, e->arg[k]);
  if (n > INLINE_SYMBOLS) n = INLINE_SYMBOLS + 1;
  map_put(&w->seen, e, (void *)(uintptr_t)n);
  return n;
}

static bool becomes_long(const TaskStage *from, const TaskStage *s, uint32_t buffer) {
  Arena *a = arena_new();
  Symbols w = {.seen = map_new(a), .s = from, .buffer = buffer};
  w.each = symbols_of(&w, from->sum->body);
  w.seen = map_new(a), w.s = s;
  uint32_t n = symbols_of(&w, s->sum->body);
  if (s->sum->where) n += symbols_of(&w, s->sum->where);
  arena_free(a);
  return n > INLINE_SYMBOLS;
}

/* ---- maps into their readers ---------------------------------------------------------------------------- */

/* A copy reads all elements of a map with a domain, including undefined ones, which must not be computed. */
static bool is_copy(const TaskStage *s) {
  const Expr *e = s->sum->body;
  if (e->kind == EX_OP && e->op == OP_CAST) e = e->arg[0];
  return e->kind == EX_READ && s->sum->reducer == RED_NONE && !s->sum->domain;
}

static bool may_inline(Fuse *f, const Task *p, const Task *q, uint32_t buffer) {
  const BufferUse *b = &f->of[buffer];
  const TaskStage *from = &p->stages.at[0], *s = &q->stages.at[0];
  if (p == q || p->stages.len != 1 || q->stages.len != 1 || p->unless != q->unless || !same_sites(f, p, q))
    return false;
  if (task_call(p) || task_call(q)) return false;
  if (b->pinned || b->makers != 1 || b->readers != 1 || f->t->buffers.at[buffer].space != BUF_WORK) return false;
  if (from->sum->reducer != RED_NONE || !stage_is_plain(from) || (from->sum->domain && is_copy(s))) return false;
  if (stage_gathers(f->t, s, buffer) || !may_follow(f, p, q)) return false;
  Cost c = cost_of(from), d = cost_of(s);
  if (c.nodes + d.nodes > INLINE_NODES || becomes_long(from, s, buffer)) return false;
  if (!from->sum->n_slot && !c.heavy && c.ops <= LIGHT) return true; /* nothing is read at all */
  double again = all_points(f->t, s) / all_points(f->t, from);
  return c.heavy || c.ops > LIGHT ? again < 1.01 : again <= (double)AGAIN_MOST;
}

static void inline_into(Fuse *f, Task *q) {
  for (bool more = true; more;) {
    more = false;
    const TaskStage *s = &q->stages.at[0];
    for (uint32_t j = 0; j < s->sum->n_slot && !more; j++) {
      uint32_t buffer = s->slot[j].index;
      Task *p = s->slot[j].kept ? NULL : f->of[buffer].maker;
      if (!p || p->kind != TASK_KERNEL || f->position[p->step] == UINT32_MAX || !may_inline(f, p, q, buffer)) continue;
      const TaskStage *from = &p->stages.at[0];
      for (uint32_t i = 0; i < from->sum->n_slot; i++) { /* read here now; or it was read here already */
        bool before = false;
        for (uint32_t k = 0; k < i; k++) before |= from->slot[k].index == from->slot[i].index;
        if (!before && stage_reads(s, from->slot[i].index)) f->of[from->slot[i].index].readers--;
      }
      stage_inline(f->t, &q->stages.at[0], buffer, from);
      f->of[buffer] = (BufferUse){0};
      f->position[p->step] = UINT32_MAX;
      more = true;
    }
  }
}

/* ---- groups ------------------------------------------------------------------------------------------------ */

bool stage_is_product(TaskGraph *t, const TaskStage *s) {
  uint64_t of[64] = {0}, out = s->sum->n_out >= 63 ? ~(uint64_t)0 : ((uint64_t)1 << s->sum->n_out) - 1;
  Grouped grouped;
  if (s->sum->reducer == RED_NONE) return false;
  if (stage_grouped(t, s, NULL, NULL, &grouped)) return true;
  if (s->sum->n_slot > 64) return true;
  ExprNodes nodes = expr_nodes(t->arena, s->sum->body, 0);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_READ) of[e->i] |= e->labels & out;
  for (uint32_t a = 0; a < s->sum->n_slot; a++)
    for (uint32_t b = 0; b < a; b++)
      if ((of[a] & ~of[b]) && (of[b] & ~of[a])) return true;
  return false;
}

/* Finds the labels of q's only stage that match the first labels of p's result, which q reads; returns how many, at
 * most. */
static uint32_t shared_labels(Fuse *f, const Task *p, const Task *q, uint32_t *label) {
  const TaskStage *s = &q->stages.at[0];
  uint32_t n = UINT32_MAX, got[64], axis[64];
  vec_each(const TaskStage, from, p->stages) {
    if (from->buffer < 0 || !stage_reads(s, (uint32_t)from->buffer)) continue;
    if (!stage_axes(from, axis)) return 0;
    uint32_t most = from->sum->n_out < n ? from->sum->n_out : n;
    while (most && !stage_reads_at_labels(f->t, s, (uint32_t)from->buffer, most, axis, got)) most--;
    for (uint32_t k = 0; k < most; k++) {
      if (n != UINT32_MAX && label[k] != got[k]) most = k;
      else label[k] = got[k];
    }
    for (uint32_t k = 0; k < most; k++)
      if (s->bound[label[k]] != from->bound[k]) most = k;
    n = most;
  }
  return n == UINT32_MAX ? 0 : n;
}

/* Whether no task between them uses p's result, so that p may move to q. */
static bool may_move(Fuse *f, const Task *p, const Task *q) {
  uint32_t from = f->position[p->step], to = f->position[q->step];
  if (to - from > 64) return false;
  for (uint32_t i = from + 1; i < to; i++) {
    const Task *k = f->list->at[i];
    if (f->position[k->step] == UINT32_MAX) continue;
    for (uint32_t j = 0; j < p->stages.len; j++) {
      int32_t b = p->stages.at[j].buffer;
      if (b < 0) continue;
      if (f->of[b].pinned) return false;
      if (k->kind != TASK_KERNEL) {
        if (k->kind == TASK_REPEAT && f->of[b].readers > 1) return false;
        continue;
      }
      for (uint32_t m = 0; m < k->stages.len; m++)
        if (stage_reads(&k->stages.at[m], (uint32_t)b)) return false;
    }
  }
  return true;
}

static void order_first(const TaskStage *s, uint32_t n, const uint32_t *label, uint32_t *order) {
  uint32_t at = 0;
  for (; at < n; at++) order[at] = label[at];
  for (uint32_t k = 0; k < s->sum->n_out; k++) {
    bool taken = false;
    for (uint32_t j = 0; j < n; j++) taken |= label[j] == k;
    if (!taken) order[at++] = k;
  }
}

/* q's only stage, with the n labels first. */
static TaskStage ordered(Fuse *f, const Task *q, uint32_t n, const uint32_t *label) {
  TaskStage own = q->stages.at[0];
  uint32_t *order = NEW_ARRAY(f->t->arena, uint32_t, own.sum->n_out + 1);
  order_first(&own, n, label, order);
  stage_reorder(f->t, &own, order);
  return own;
}

/* Puts p's stages before q's, in q. */
static void join(Fuse *f, Task *p, Task *q, uint32_t n, const uint32_t *label) {
  TaskStage own = ordered(f, q, n, label);
  for (uint32_t j = 0; j < own.sum->n_slot; j++) { /* if both read it, it has one reader less */
    bool both = false, before = false;
    for (uint32_t i = 0; i < p->stages.len; i++)
      both |= !own.slot[j].kept && stage_reads(&p->stages.at[i], own.slot[j].index);
    for (uint32_t i = 0; i < j; i++) before |= own.slot[i].index == own.slot[j].index;
    if (both && !before) f->of[own.slot[j].index].readers--;
  }
  for (uint32_t i = 0; i < p->stages.len; i++)
    if (p->stages.at[i].buffer >= 0) f->of[p->stages.at[i].buffer].maker = q;
  q->stages = p->stages;
  vec_push(f->t->arena, q->stages, own);
  q->n_outer = n;
  f->position[p->step] = UINT32_MAX;
}

static bool is_epilogue(const Task *p, const Task *q, uint32_t n) {
  const TaskStage *a = &p->stages.at[0], *b = &q->stages.at[0];
  return p->stages.len == 1 && a->sum->reducer != RED_NONE && b->sum->reducer == RED_NONE && !b->sum->domain &&
         !a->sum->domain && n == a->sum->n_out && n == b->sum->n_out && n > 0;
}

static bool has_epilogue(const Task *k) {
  for (uint32_t i = 1; i < k->stages.len; i++)
    if (k->stages.at[i].sum->reducer != RED_NONE) return false;
  return k->stages.at[0].sum->reducer != RED_NONE && k->stages.len > 1 && k->n_outer == k->stages.at[0].sum->n_out &&
      k->n_outer == vec_last(k->stages).sum->n_out;
}

/* Of the first n labels, those that all reads shared by the rows lack; all, if there is no such read: it lacks some of
 * them, and depends on a label of its own and a reduced one. */
static uint64_t lacking(Fuse *f, const TaskStage *s, uint32_t n) {
  uint64_t outer = ((uint64_t)1 << n) - 1, out = ((uint64_t)1 << s->sum->n_out) - 1, lacks = ~(uint64_t)0;
  ExprNodes reads = expr_nodes(f->t->arena, s->sum->reducer != RED_NONE ? s->sum->body : NULL, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e->labels & ~out && e->labels & out & ~outer && outer & ~e->labels) lacks &= outer & ~e->labels;
  return lacks;
}

/* Whether a read goes with the rows, and not with the labels between them and the last. */
static bool is_copied(Fuse *f, const EinSum *sum, uint64_t rows, uint64_t between) {
  ExprNodes reads = expr_nodes(f->t->arena, sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e->labels & rows && !(e->labels & between)) return true;
  return false;
}

/* Whether rows spare more than they cost. A block of them makes the product once for each point of the labels between
 * the rows' and the last, and copies its rows each time: as many elements as the product has points, for as many as its
 * last label has. Apart, the product copies them once, but goes through memory. */
static bool is_spared(Fuse *f, const TaskStage *s, uint32_t n) {
  const EinSum *sum = s->sum;
  uint64_t rows = ((uint64_t)1 << n) - 1, within = ((uint64_t)1 << (sum->n_out - 1)) - 1;
  if (n + 1 >= sum->n_out || stage_points(f->t, s, n, sum->n_out - 1) < 2) return true;
  double bytes = stage_points(f->t, s, 0, sum->n_out) * (double)dtype_size(sum->dtype);
  double less = bytes > (double)LARGE_BYTES ? 1 : (double)COPIED_LESS;
  double points = stage_points(f->t, s, sum->n_out, sum->n_out + sum->n_red);
  return !is_copied(f, sum, rows, within & ~rows) || points * less <= stage_points(f->t, s, sum->n_out - 1, sum->n_out);
}

/* A matrix product may join its rows, a block of them at a time, if little work is done for each element that then
 * need not go through memory: attention scores, and what uses them. n labels are shared. */
static bool is_thin(Fuse *f, const TaskStage *s, uint32_t n, bool makes) {
  const EinSum *sum = s->sum;
  double each = makes ? stage_points(f->t, s, sum->n_out, sum->n_out + sum->n_red)
                      : stage_points(f->t, s, n, sum->n_out);
  return n && sum->n_out + sum->n_red <= 60 && each <= (double)THIN && lacking(f, s, n) != ~(uint64_t)0 &&
      (!makes || is_spared(f, s, n));
}

/* Whether some label indexes the rows of every product in p and s, so that it can be blocked. */
static bool have_rows(Fuse *f, const Task *p, const TaskStage *s, uint32_t n) {
  uint64_t lacks = lacking(f, s, n);
  for (uint32_t i = 0; i < p->stages.len; i++) lacks &= lacking(f, &p->stages.at[i], n);
  if (lacks == ~(uint64_t)0) return true;
  for (uint32_t l = 0; l < n; l++)
    if (lacks >> l & 1 && size_of(f->t, s->bound[l]) >= (double)BLOCK_LEAST) return true;
  return false;
}

/* A single pass over the points then puts each where it belongs, or walks over the runs; a row by itself would visit
 * all points. */
bool stage_is_one_walk(const TaskStage *s, uint32_t n) {
  return s->sum->reducer != RED_NONE && (sum_labels_put(s->sum->where, n) || stage_runs(s, n));
}

/* Whether whole rows are put where they belong. They are added where the result lies, so what continues from them is
 * another kernel. Only where a state is updated, and few of its rows get anything, others need not be touched
 * (codegen/schedule/cpu/sums/scatter.c). */
static bool is_put_in_place(Fuse *f, const TaskStage *s, const TaskStage *next) {
  uint64_t put = s->sum->n_out < 63 && s->sum->reducer != RED_NONE ? sum_labels_put(s->sum->where, s->sum->n_out) : 0;
  const Expr *row = s->n_at ? s->at[s->n_at - 1] : NULL;
  if (!put || row->kind != EX_LABEL || put >> row->i & 1) return false;
  double rows = 1, points = stage_points(f->t, s, s->sum->n_out, s->sum->n_out + s->sum->n_red);
  bool updates = next->buffer >= 0 && stage_reads(next, (uint32_t)next->buffer);
  for (uint32_t l = 0; l < s->sum->n_out + s->sum->n_red; l++) {
    updates &= s->bound[l]->kind == EX_INT;
    if (put >> l & 1) rows *= size_of(f->t, s->bound[l]);
  }
  return !updates || points * (double)PUT_FEW > rows || rows * dtype_size(DT_I32) > (double)PUT_ROWS;
}

/* Whether a product of long sums has results that are contiguous along a short label only, as a convolution's weights
 * are: its lanes then go along another label, which they cannot in a kernel that continues with a map. */
static bool is_short_row(Fuse *f, const TaskStage *s) {
  const Expr *row = s->n_at ? s->at[s->n_at - 1] : NULL;
  const Expr *short_of = row && row->kind == EX_LABEL ? s->bound[row->i] : NULL;
  if (!short_of || short_of->kind != EX_INT || short_of->i >= SHORT_ROW) return false;
  bool longer = false;
  for (uint32_t l = 0; l < s->sum->n_out; l++) longer |= size_of(f->t, s->bound[l]) >= (double)BLOCK_LEAST;
  double points = stage_points(f->t, s, s->sum->n_out, s->sum->n_out + s->sum->n_red);
  return longer && points >= (double)LONG_SUM && stage_is_product(f->t, s);
}

typedef struct Columns {
  uint32_t n;                /* of the rows' labels */
  const TaskStage *of;
  bool any, other;
} Columns;

/* Notes reads along a row that are contiguous along the rows' labels instead; and others. */
static void columns_note(TaskGraph *t, const Expr *of, Columns *c) {
  ExprNodes reads = expr_nodes(t->arena, of, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (!e->n || c->n > 62 || !(e->labels >> c->n)) continue;
    const Expr *last = e->arg[e->n - 1];
    bool column = last->kind == EX_LABEL && last->i < (int64_t)c->n;
    c->any |= column;
    c->other |= !column && !c->of->slot[e->i].kept;
  }
}

bool stage_is_long_column(TaskGraph *t, const TaskStage *s, uint32_t n) {
  Columns c = {.n = n, .of = s};
  columns_note(t, s->sum->body, &c);
  return c.any && stage_points(t, s, n, s->sum->n_out + s->sum->n_red) > (double)COLUMN_MOST;
}

/* Notes what one more stage reads; chosen: data that lie along the rows' labels choose some stage's points. */
static void columns_look(TaskGraph *t, const TaskStage *s, Columns *c, bool *chosen) {
  c->of = s;
  c->any = false;
  columns_note(t, s->sum->where, c);
  *chosen |= c->any;
  columns_note(t, s->sum->body, c);
}

/* Whether rows are columns of data that choose their points, beside data along the rows: these cannot be taken with
 * those of other rows, and one by one they would go through memory with a stride. */
static bool are_chosen_columns(TaskGraph *t, const Task *p, const TaskStage *s, uint32_t n) {
  Columns c = {.n = n};
  bool chosen = false;
  vec_each(const TaskStage, from, p->stages) columns_look(t, from, &c, &chosen);
  columns_look(t, s, &c, &chosen);
  return chosen && c.other;
}

/* Whether rows are worth sharing: there are enough of them, and each keeps little. rows: p shares some already. */
static bool are_rows(Fuse *f, const Task *p, const TaskStage *s, uint32_t n, bool rows) {
  if (!n || stage_points(f->t, &p->stages.at[0], 0, n) < (double)ROWS_LEAST) return false;
  if (stage_is_one_walk(s, n) || stage_is_long_column(f->t, s, n)) return false;
  for (uint32_t i = 0; i < p->stages.len; i++)
    if (stage_is_one_walk(&p->stages.at[i], n) || stage_is_long_column(f->t, &p->stages.at[i], n)) return false;
  if (are_chosen_columns(f->t, p, s, n)) return false;
  if (stage_is_product(f->t, s) && !(rows && is_thin(f, s, n, false))) return false;
  if (!rows && stage_is_product(f->t, &p->stages.at[0]) && !is_thin(f, &p->stages.at[0], n, true)) return false;
  if (!have_rows(f, p, s, n)) return false;
  vec_each(const TaskStage, from, p->stages)
    if (stage_points(f->t, from, n, from->sum->n_out) > (double)ROW_MOST) return false;
  return true;
}

/* A map's last label stays inside, as the loop's own, unless it has one point for each row of a longer result. */
static uint32_t rows_of(const Task *p, const Task *q, uint32_t n) {
  if (p->stages.len > 1) return n >= p->n_outer ? p->n_outer : 0;
  const TaskStage *a = &p->stages.at[0], *b = &q->stages.at[0];
  bool inside = b->sum->reducer == RED_NONE && n == b->sum->n_out && n == a->sum->n_out;
  if (inside || (a->sum->reducer == RED_NONE && n == a->sum->n_out)) return n ? n - 1 : 0;
  return n;
}

/* Whether the product takes at least twice the memory of its operands. */
static bool is_grown(Fuse *f, const TaskStage *s) {
  double from = 0;
  for (uint32_t j = 0; j < s->sum->n_slot; j++) from += task_buffer_bytes(f->t, s->slot[j].index);
  return 2 * from <= stage_points(f->t, s, 0, s->sum->n_out) * (double)dtype_size(s->sum->dtype);
}

/* A product with a map after it (scaled scores) joins its rows as one without would. A product of it (values by the
 * sigmoids of scores) may be one of the rows, if that saves a large tensor. */
static bool join_scaled(Fuse *f, Task *p, Task *q, uint32_t n, const uint32_t *label) {
  const TaskStage *s = &p->stages.at[0];
  if (n >= s->sum->n_out) n = s->sum->n_out - 1;
  if (!stage_is_product(f->t, s) || !is_thin(f, s, n, true)) return false;
  TaskStage own = ordered(f, q, n, label);
  if (stage_is_product(f->t, &own) && (!is_thin(f, &own, n, false) || !is_grown(f, s))) return false;
  if (!are_rows(f, p, &own, n, true)) return false;
  join(f, p, q, n, label);
  return true;
}

static bool try_join(Fuse *f, Task *p, Task *q) {
  uint32_t label[64];
  if (p == q || p->unless != q->unless || q->stages.len != 1 || p->stages.len >= STAGES_MOST || !same_sites(f, p, q))
    return false;
  if (task_call(p) || task_call(q) || !may_follow(f, p, q) || changes(f, p)) return false;
  uint32_t n = shared_labels(f, p, q, label);
  if (!n || !may_move(f, p, q)) return false;
  bool scaled = has_epilogue(p); /* the map takes no part in whether rows are shared */
  if (scaled && stage_is_product(f->t, &p->stages.at[0])) return join_scaled(f, p, q, n, label);
  const TaskStage *s = &p->stages.at[0];
  if (p->stages.len == 1 && (is_put_in_place(f, s, &q->stages.at[0]) || is_short_row(f, s))) return false;
  if (is_epilogue(p, q, n) && f->of[p->stages.at[0].buffer].readers == 1) {
    join(f, p, q, n, label);
    return true;
  }
  n = rows_of(p, q, n);
  TaskStage own = ordered(f, q, n, label);
  if (!are_rows(f, p, &own, n, !scaled && p->stages.len > 1 && p->n_outer > 0)) return false;
  join(f, p, q, n, label);
  return true;
}

static void join_into(Fuse *f, Task *q) {
  const TaskStage *s = &q->stages.at[0];
  Task *latest = NULL; /* the last one is the one that can move here */
  for (uint32_t j = 0; j < s->sum->n_slot; j++) {
    Task *p = s->slot[j].kept ? NULL : f->of[s->slot[j].index].maker;
    if (!p || p == q || f->position[p->step] == UINT32_MAX || f->t->buffers.at[s->slot[j].index].space != BUF_WORK)
      continue;
    if (f->list->at[f->position[p->step]] != p) continue; /* of another list */
    if (!latest || f->position[p->step] > f->position[latest->step]) latest = p;
  }
  if (latest) try_join(f, latest, q);
}

/* Whether j reads what the stage keeps; *others: not only at its first labels. */
static bool keeps_for(Fuse *f, const TaskStage *j, uint32_t stage, bool *others) {
  ExprNodes reads = expr_nodes(f->t->arena, j->sum->body, HAS_READ);
  bool some = false;
  expr_nodes_add(&reads, j->sum->where);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (!j->slot[e->i].kept || j->slot[e->i].index != stage) continue;
    some = true;
    *others |= !exprs_are_labels(e->n, e->arg);
  }
  return some;
}

/* A kept stage is computed only where it is read, if that is a single domain: the scores that a mask lets through. */
static void keep_domain(Fuse *f, Task *k, uint32_t number) {
  TaskStage *s = &k->stages.at[number];
  const Expr *domain = NULL;
  if (s->buffer >= 0 || s->sum->domain) return;
  for (uint32_t j = number + 1; j < k->stages.len; j++) {
    const EinSum *by = k->stages.at[j].sum;
    bool others = false;
    if (!keeps_for(f, &k->stages.at[j], number, &others)) continue;
    if (others || !by->domain || by->domain->has & HAS_READ || by->n_out != s->sum->n_out) return;
    if (domain && by->domain != domain) return;
    domain = by->domain;
  }
  if (!domain) return;
  EinSum sum = *s->sum;
  sum.domain = domain;
  stage_canonical(f->t, s, &sum, s->slot, sum.n_slot);
}

/* ---- requested outputs of a sum ------------------------------------------------------------------------------ */

typedef struct Admitted {
  Fuse *f;
  const TaskStage *st;       /* who reads, and */
  uint32_t stage;            /*   what, */
  const Expr *asks;          /* this must hold wherever it is read: */
  VEC(const Expr *) known;   /* conditions around the current read */
} Admitted;

static bool is_known(const Admitted *a, const Expr *e) {
  for (uint32_t i = 0; i < a->known.len; i++)
    if (a->known.at[i] == e) return true;
  return false;
}

static void know(Admitted *a, const Expr *e) {
  for (; e && e->kind == EX_OP && e->op == OP_AND; e = e->arg[0]) vec_push(a->f->t->arena, a->known, e->arg[1]);
  if (e) vec_push(a->f->t->arena, a->known, e);
}

/* Whether what must hold does so around this read, over its indices. */
static bool asks_part(const Admitted *a, const Expr *read) {
  const Expr *e = expr_relabel(a->f->t->exprs, a->asks, read->n, read->arg);
  for (; e->kind == EX_OP && e->op == OP_AND; e = e->arg[0])
    if (!is_known(a, e->arg[1])) return false;
  return is_known(a, e);
}

/* Whether `asks` holds for every read of the stage in e. */
static bool is_asked_so(Admitted *a, const Expr *e) {
  if (!e || !(e->has & HAS_READ)) return true;
  if (e->kind == EX_READ && a->st->slot[e->i].kept && a->st->slot[e->i].index == a->stage) return asks_part(a, e);
  uint32_t had = a->known.len;
  bool chosen = e->kind == EX_OP && (e->op == OP_SELECT || e->op == OP_AND);
  for (uint32_t k = 0; k < e->n; k++) {
    if (chosen && k == 1) know(a, e->arg[0]);
    bool so = is_asked_so(a, e->arg[k]);
    a->known.len = had;
    if (!so) return false;
  }
  return true;
}

static bool stage_asks_so(Admitted *a) {
  const EinSum *sum = a->st->sum;
  a->known.len = 0;
  bool so = is_asked_so(a, sum->domain);
  know(a, sum->domain);
  so = so && is_asked_so(a, sum->where);
  know(a, sum->where);
  return so && is_asked_so(a, sum->body);
}

/* Splits a predicate into conjuncts over output labels alone and the others, in order. */
static void predicate_part(Fuse *f, const EinSum *sum, const Expr **outer, const Expr **rest) {
  Exprs *x = f->t->exprs;
  VEC(const Expr *) part = {0};
  const Expr *e = sum->where;
  for (; e->kind == EX_OP && e->op == OP_AND; e = e->arg[0]) vec_push(f->t->arena, part, e->arg[1]);
  vec_push(f->t->arena, part, e);
  while (part.len) {
    e = vec_pop(part);
    if ((e->has & HAS_READ) || e->labels >> sum->n_out) *rest = expr_and(x, *rest, e);
    else *outer = expr_and(x, *outer, e);
  }
}

/* A predicate may decide which outputs have anything to sum: `sum[e where t <= s] G[s,e] * V[t,e]`. If nobody reads
 * other outputs, it becomes the stage's domain, and the sum has no condition on its points. The gradient of masked
 * scores is of this kind. */
static void keep_admitted(Fuse *f, Task *k, uint32_t number) {
  TaskStage *s = &k->stages.at[number];
  const Expr *outer = NULL, *rest = NULL;
  if (s->buffer >= 0 || s->sum->domain || !s->sum->where || s->sum->n_out + s->sum->n_red > 62) return;
  predicate_part(f, s->sum, &outer, &rest);
  if (!outer) return;
  for (uint32_t j = number + 1; j < k->stages.len; j++) {
    Admitted a = {.f = f, .st = &k->stages.at[j], .stage = number, .asks = outer};
    if (!stage_asks_so(&a)) return;
  }
  EinSum sum = *s->sum;
  sum.domain = outer;
  sum.where = rest;
  stage_canonical(f->t, s, &sum, s->slot, sum.n_slot);
}

static const Expr *leaf_chosen(void *env, Exprs *x, const Expr *e) {
  const Expr *holds = env;
  (void)x;
  return e->kind == EX_OP && e->op == OP_SELECT && e->arg[0] == holds ? e->arg[1] : e;
}

/* The same for a map that has a value of interest only where a condition holds, if nobody reads it elsewhere. */
static void keep_chosen(Fuse *f, Task *k, uint32_t number) {
  TaskStage *s = &k->stages.at[number];
  const Expr *body = s->sum->body, *holds = body->kind == EX_OP && body->op == OP_SELECT ? body->arg[0] : NULL;
  if (!holds || s->buffer >= 0 || s->sum->reducer != RED_NONE || s->sum->domain || (holds->has & HAS_READ)) return;
  if (task_is_continued(k)) return;
  for (uint32_t j = number + 1; j < k->stages.len; j++) {
    Admitted a = {.f = f, .st = &k->stages.at[j], .stage = number, .asks = holds};
    if (!stage_asks_so(&a)) return;
  }
  EinSum sum = *s->sum;
  sum.domain = holds;
  sum.body = expr_map_ops(f->t->exprs, body, leaf_chosen, (void *)(uintptr_t)holds);
  stage_canonical(f->t, s, &sum, s->slot, sum.n_slot);
}

static void keep_asked(Fuse *f, Task *k) {
  for (uint32_t i = k->stages.len; i-- > 0;) {
    keep_domain(f, k, i);
    keep_admitted(f, k, i);
    keep_chosen(f, k, i);
  }
}

void kernel_keep_asked(TaskGraph *t, Task *k) {
  Fuse f = {.t = t};
  keep_asked(&f, k);
}

bool kernel_has_rows(TaskGraph *t, const Task *k) {
  Fuse f = {.t = t};
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (stage_is_one_walk(&k->stages.at[i], k->n_outer)) return false;
  return have_rows(&f, k, &vec_last(k->stages), k->n_outer);
}

/* Later stages read the results of earlier ones inside the kernel; a result that nobody else reads needs no buffer. */
static void keep_inside(Fuse *f, Task *k) {
  for (uint32_t i = 0; i + 1 < k->stages.len; i++) {
    TaskStage *s = &k->stages.at[i];
    uint32_t buffer = (uint32_t)s->buffer, axis[64];
    if (!stage_axes(s, axis)) continue;
    bool here = false;
    for (uint32_t j = i + 1; j < k->stages.len; j++) here |= stage_read_kept(f->t, &k->stages.at[j], buffer, i, axis);
    if (!here || f->of[buffer].pinned || f->of[buffer].readers != 1 || f->t->buffers.at[buffer].space != BUF_WORK)
      continue;
    s->buffer = -1;
    s->n_at = 0;
  }
  keep_asked(f, k);
}

/* ---- lists --------------------------------------------------------------------------------------------------- */

static void list_fuse(Fuse *f, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->kind == TASK_REPEAT) list_fuse(f, &list->at[i]->body);
  f->list = list;
  for (uint32_t i = 0; i < list->len; i++) f->position[list->at[i]->step] = i;
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->kind == TASK_KERNEL) inline_into(f, list->at[i]);
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->kind == TASK_KERNEL && f->position[list->at[i]->step] != UINT32_MAX) join_into(f, list->at[i]);
  uint32_t n = 0;
  vec_each_of(Task, k, *list) {
    bool stays = f->position[k->step] != UINT32_MAX;
    f->position[k->step] = UINT32_MAX; /* other lists must not see it */
    if (!stays) continue;
    if (k->kind == TASK_KERNEL) keep_inside(f, k);
    list->at[n++] = k;
  }
  list->len = n;
}

static uint32_t number(Tasks *list, uint32_t n) {
  for (uint32_t i = 0; i < list->len; i++) {
    list->at[i]->step = n++;
    n = number(&list->at[i]->body, n);
  }
  return n;
}

static void use_rename(void *env, uint32_t *buffer, bool write) {
  const uint32_t *to = env;
  (void)write;
  *buffer = to[*buffer];
}

void task_buffers_rename(TaskGraph *t, Tasks *list, uint32_t *to) {
  vec_each_of(Task, k, *list) {
    vec_each(TaskStage, s, k->stages) /* slots may be shared with a graph's node */
      s->slot = arena_copy(t->arena, s->slot, s->sum->n_slot * sizeof *s->slot);
    task_uses(k, use_rename, to);
    task_buffers_rename(t, &k->body, to);
  }
}

void task_buffers_drop(TaskGraph *t) {
  bool *used = NEW_ARRAY(t->arena, bool, t->buffers.len + 1);
  uint32_t *to = NEW_ARRAY(t->arena, uint32_t, t->buffers.len + 1), n = 0;
  task_buffers_used(&t->tasks, used);
  for (uint32_t b = 0; b < t->buffers.len; b++) {
    if (!used[b] && t->buffers.at[b].space == BUF_WORK) continue;
    to[b] = n;
    t->buffers.at[n] = t->buffers.at[b];
    t->buffers.at[n].id = n;
    n++;
  }
  t->buffers.len = n;
  task_buffers_rename(t, &t->tasks, to);
  for (uint32_t i = 0; i < t->inputs.len; i++) t->inputs.at[i].buffer = to[t->inputs.at[i].buffer];
  for (uint32_t i = 0; i < t->outputs.len; i++) t->outputs.at[i].buffer = to[t->outputs.at[i].buffer];
}

void task_fuse(TaskGraph *t) {
  Fuse f = {.t = t, .of = NEW_ARRAY(t->arena, BufferUse, t->buffers.len + 1)};
  uint32_t n = number(&t->tasks, 0);
  f.position = NEW_ARRAY(t->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i <= n; i++) f.position[i] = UINT32_MAX;
  facts_list(&f, &t->tasks);
  list_fuse(&f, &t->tasks);
  task_buffers_drop(t);
}
