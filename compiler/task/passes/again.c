/* task/passes/again.c - computes large values again instead of storing them. In: tasks after fusion. Out: a value that
 * a kernel of rows stores for other kernels, and that is much larger than all that it is made of, is not stored: each
 * of its readers becomes a kernel of rows that makes the value again, row by row, from what the first kernel made it
 * of. The rows may be others there: a reader that sums over the old rows has the columns as its own.
 *
 * In attention's gradient these are the softmax and the gradient of the scores, S x S each, made of S x D. What has few
 * results a row (its maximum, its sum of exponentials) is stored and read. What is computed again is maps, and products
 * that fuse.c takes for thin. AgainReaders that make the same values again from the
 * same operands, over the same rows, become one kernel.
 *
 * All readers must be able to, or none does. Values are the same wherever they are made: an element's sum has the same
 * points in the same order. On a mesh nothing changes, because plans predict what sites store. */
#include "expr/sum/law.h"
#include "task/inside.h"

enum {
  SMALLER = 2,               /* all that it is made of takes at most one part in so many */
  ROWS_LEAST = 32,           /* fewer rows are not worth a kernel of their own */
  ROW_LEAST = 64,            /* elements of a row: fewer may well be stored */
  ROW_MOST = 16384,          /* elements of a row that a kernel keeps */
  THIN = 256,                /* points of products for each element that is made again, or that it contributes to */
  FEW = 4,                   /* what has at most one part in so many of the value's elements is stored instead */
  WIDE_ROWS = 8,             /* rows that are tensors: enough of them for threads, */
  WIDE_BYTES = 8 << 20,      /*   and each stays in the cache */
  STAGES_MOST = 16,          /* of a kernel */
  OUT_MOST = 60              /* labels of a stage */
};

typedef struct Again {
  TaskGraph *t;
  Tasks *list;
  bool wide;                 /* rows may be tensors */
  Tasks made;                /* kernels of this list that make values again, each from a kernel of one stage */
} Again;

/* A value and how it is made. */
typedef struct AgainValue {
  Again *g;
  Task *maker;
  uint32_t from;             /* the maker's position in its list */
  uint32_t stage, buffer;    /* the maker's stage that makes it; where it was stored */
  bool again[STAGES_MOST];   /* the maker's stages that are computed again, */
  bool row[STAGES_MOST];     /*   and those with few results a row, which are stored */
  VEC(uint32_t) operands;    /* the buffers that these stages read, those of `row` not yet among them */
  bool cheap;                /* making it again is little work on little data */
} AgainValue;

/* A kernel that reads the value, and how it can make it. */
typedef struct AgainReader {
  Task *kernel;
  uint32_t n_outer;          /* as it will be */
  uint32_t order[64];        /* label k there is the maker's label order[k] */
  bool alone;                /* it is one stage, and maps at its labels: */
  uint32_t first[64];        /*   the output labels, the shared ones first */
} AgainReader;
typedef VEC(AgainReader) AgainReaders;

static double size_of(TaskGraph *t, const Expr *e) { return (double)task_size_guess(t, e); }

/* ---- what the value is made of ------------------------------------------------------------------------- */

/* Kept values that are made again must be read at the reader's own labels. */
static bool reads_own(TaskGraph *t, const TaskStage *s, const bool *again) {
  ExprNodes reads = sum_reads(t->arena, s->sum);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (s->slot[e->i].kept && again[s->slot[e->i].index] && !exprs_are_labels(e->n, e->arg)) return false;
  return true;
}

static void operand_add(AgainValue *v, uint32_t buffer) {
  for (uint32_t i = 0; i < v->operands.len; i++)
    if (v->operands.at[i] == buffer) return;
  vec_push(v->g->t->arena, v->operands, buffer);
}

/* Notes what stage k reads. Returns false if it cannot be computed again. */
static bool stage_again(AgainValue *v, uint32_t k) {
  TaskGraph *t = v->g->t;
  const Task *p = v->maker;
  const TaskStage *s = &p->stages.at[k];
  double most = stage_points(t, &p->stages.at[v->stage], 0, p->stages.at[v->stage].sum->n_out) / (double)FEW;
  if (s->sum->n_out > OUT_MOST || stage_may_fail(t, s)) return false;
  for (uint32_t j = 0; j < s->sum->n_slot; j++) {
    uint32_t of = s->slot[j].index;
    const TaskStage *read = &p->stages.at[of];
    if (!s->slot[j].kept) {
      operand_add(v, of);
    } else if (!v->again[of] && stage_points(t, read, 0, read->sum->n_out) <= most) {
      if (read->sum->domain || (read->buffer >= 0 && !stage_is_plain(read))) return false;
      v->row[of] = true;
    } else if (read->sum->n_out == s->sum->n_out) {
      v->again[of] = true;
    } else {
      return false;
    }
  }
  return reads_own(t, s, v->again);
}

/* Whether a product makes the value and nothing else. Kernels of rows may make it themselves. */
static bool is_product(const AgainValue *v) {
  const Task *p = v->maker;
  return p->stages.len == 1 && p->stages.at[0].sum->reducer == RED_SUM && !task_call(p);
}

/* Finds the stages that make the value. Returns false if they cannot do so again. */
static bool value_find(AgainValue *v) {
  TaskGraph *t = v->g->t;
  const Task *p = v->maker;
  double work = 0, bytes = 0;
  v->again[v->stage] = true;
  for (uint32_t k = v->stage + 1; k-- > 0;) {
    const TaskStage *s = &p->stages.at[k];
    if (!v->again[k]) continue;
    if (!stage_again(v, k)) return false;
    if (s->sum->reducer != RED_NONE) work += stage_points(t, s, s->sum->n_out, s->sum->n_out + s->sum->n_red);
  }
  for (uint32_t i = 0; i < v->operands.len; i++) bytes += task_buffer_bytes(t, v->operands.at[i]);
  for (uint32_t k = 0; k < v->stage; k++) {
    const TaskStage *s = &p->stages.at[k];
    if (v->row[k]) bytes += stage_points(t, s, 0, s->sum->n_out) * (double)dtype_size(s->sum->dtype);
  }
  v->cheap = work <= (double)THIN && bytes * (double)SMALLER <= task_buffer_bytes(t, v->buffer);
  bool rows = v->stage + 1 < p->stages.len; /* else what it stores are the rows' results alone */
  for (uint32_t k = 0; k < v->stage; k++) rows |= v->row[k];
  return rows || is_product(v);
}

/* Whether the stage stores a value that can be kept by rows, which later stages of its kernel read too, if there are
 * any. */
static bool is_value(TaskGraph *t, const Task *p, uint32_t k) {
  const TaskStage *s = &p->stages.at[k];
  bool read = false, aside = false;
  if (k >= STAGES_MOST || s->buffer < 0 || t->buffers.at[s->buffer].space != BUF_WORK || !stage_is_plain(s))
    return false;
  if (s->sum->n_out <= p->n_outer || stage_points(t, s, p->n_outer, s->sum->n_out) < (double)ROW_LEAST) return false;
  for (uint32_t i = k + 1; i < p->stages.len; i++) {
    aside |= stage_reads(&p->stages.at[i], (uint32_t)s->buffer);
    read |= stage_reads_stage(&p->stages.at[i], k);
  }
  return (read || k + 1 == p->stages.len) && !aside;
}

/* ---- who reads it ---------------------------------------------------------------------------------------- */

typedef struct Seek { const TaskStage *s; uint32_t buffer, *label; bool any, ok; } Seek;

/* All reads of the buffer must be at the same labels, a different one along each axis. */
static const Expr *leaf_seek(void *env, Exprs *x, const Expr *leaf) {
  Seek *k = env;
  uint64_t seen = 0;
  (void)x;
  if (leaf->kind != EX_READ || k->s->slot[leaf->i].kept || k->s->slot[leaf->i].index != k->buffer) return leaf;
  for (uint32_t d = 0; d < leaf->n && k->ok; d++) {
    const Expr *e = leaf->arg[d];
    k->ok = e->kind == EX_LABEL && e->i < 64 && !(seen >> e->i & 1) && (!k->any || k->label[d] == (uint32_t)e->i);
    if (!k->ok) break;
    seen |= (uint64_t)1 << e->i;
    k->label[d] = (uint32_t)e->i;
  }
  k->any = true;
  return leaf;
}

/* Sets label[k] to the label at which stage s reads axis k of the value. */
static bool labels_find(const AgainValue *v, const TaskStage *s, uint32_t *label) {
  const TaskStage *made = &v->maker->stages.at[v->stage];
  Seek k = {s, v->buffer, label, false, true};
  sum_leaves(v->g->t->exprs, s->sum, leaf_seek, &k);
  if (!k.any) return false;
  for (uint32_t d = 0; k.ok && d < made->sum->n_out; d++) k.ok = s->bound[label[d]] == made->bound[d];
  return k.ok;
}

/* Puts the value's labels into the reader's order: the axes that it reads at its outer labels first. */
static bool order_find(AgainReader *r, uint32_t rank, const uint32_t *label, const uint32_t *outer) {
  uint32_t n = 0;
  for (uint32_t o = 0; o < r->n_outer; o++)
    for (uint32_t d = 0; d < rank; d++)
      if (label[d] == outer[o]) r->order[n++] = d;
  if (n != r->n_outer) return false;
  for (uint32_t d = 0; d < rank; d++) {
    bool taken = false;
    for (uint32_t o = 0; o < r->n_outer; o++) taken |= r->order[o] == d;
    if (!taken) r->order[n++] = d;
  }
  return true;
}

static bool rows_fit(const AgainValue *v, const AgainReader *r) {
  const TaskStage *made = &v->maker->stages.at[v->stage];
  double rows = 1, row = 1;
  for (uint32_t k = 0; k < made->sum->n_out; k++) {
    double n = size_of(v->g->t, made->bound[r->order[k]]);
    if (k < r->n_outer) rows *= n;
    else row *= n;
  }
  return rows >= (double)ROWS_LEAST && row <= (double)ROW_MOST;
}

static bool in_order(const uint32_t *label, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (label[k] != k) return false;
  return true;
}

/* Whether the kernel is one stage, or a reduction that maps at its labels follow. */
static bool is_alone(const Task *k, uint32_t buffer) {
  const TaskStage *s = &k->stages.at[0];
  bool alone = k->stages.len == 1 || k->n_outer == s->sum->n_out;
  for (uint32_t i = 1; i < k->stages.len && alone; i++) {
    const TaskStage *map = &k->stages.at[i];
    alone = map->sum->reducer == RED_NONE && map->sum->n_out == s->sum->n_out && !stage_reads(map, buffer);
  }
  return alone;
}

/* Such a kernel: the labels that it shares with the value become outer labels. */
static bool reader_alone(const AgainValue *v, const TaskStage *s, AgainReader *r) {
  const EinSum *sum = s->sum;
  uint32_t label[64], rank = v->maker->stages.at[v->stage].sum->n_out, n = 0;
  if (sum->reducer == RED_NONE || sum->n_out > OUT_MOST || sum->n_red > 1 || !labels_find(v, s, label)) return false;
  double each = 1;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t l = 0; l < sum->n_out; l++) {
      bool shared = false;
      for (uint32_t d = 0; d < rank; d++) shared |= label[d] == l;
      if (shared != !pass) continue;
      r->first[n++] = l;
      if (shared) r->n_outer++;
      else each *= size_of(v->g->t, s->bound[l]);
    }
  return r->n_outer && r->n_outer < rank && each <= (double)THIN && order_find(r, rank, label, r->first);
}

/* A kernel of rows: they must be among the value's labels. */
static bool reader_rows(const AgainValue *v, const Task *k, AgainReader *r) {
  uint32_t label[64], outer[64], rank = v->maker->stages.at[v->stage].sum->n_out;
  bool any = false;
  if (!k->n_outer || k->n_outer >= rank) return false;
  r->n_outer = k->n_outer;
  for (uint32_t o = 0; o < k->n_outer; o++) outer[o] = o;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    AgainReader one = {.n_outer = k->n_outer};
    if (!stage_reads(&k->stages.at[i], v->buffer)) continue;
    if (!labels_find(v, &k->stages.at[i], label) || !order_find(&one, rank, label, outer)) return false;
    for (uint32_t d = 0; any && d < rank; d++)
      if (one.order[d] != r->order[d]) return false;
    for (uint32_t d = 0; d < rank; d++) r->order[d] = one.order[d];
    any = true;
  }
  return any;
}

static uint32_t stages_again(const AgainValue *v) {
  uint32_t n = 0;
  for (uint32_t k = 0; k <= v->stage; k++) n += v->again[k];
  return n;
}

static bool reader_find(const AgainValue *v, Task *k, AgainReader *r) {
  if (k->kind != TASK_KERNEL || k->unless != v->maker->unless || task_call(k)) return false;
  if (k->stages.len + stages_again(v) > STAGES_MOST || task_writes(v->g->t, k, v->buffer)) return false;
  *r = (AgainReader){.kernel = k, .alone = is_alone(k, v->buffer)};
  if (!(r->alone ? reader_alone(v, &k->stages.at[0], r) : reader_rows(v, k, r)) || !rows_fit(v, r)) return false;
  return !r->alone || k->stages.len == 1 || in_order(r->first, k->stages.at[0].sum->n_out);
}

bool task_kernels_count(const TaskGraph *t, const Tasks *list, uint32_t buffer, uint32_t *n) {
  vec_each_of(const Task, k, *list) {
    int64_t b = buffer;
    if (k->kind == TASK_KERNEL) *n += task_touches(t, k, buffer);
    if (k->kind == TASK_KERNEL) continue;
    if (k->kind != TASK_REPEAT && task_touches(t, k, buffer)) return false;
    if (k->kind != TASK_REPEAT) continue;
    if (k->buffer == buffer || k->stop == b || k->turns == b || task_exchanges(k, buffer)) return false;
    if (!task_kernels_count(t, &k->body, buffer, n)) return false;
  }
  return true;
}

/* Whether no task after the maker, up to that position, changes the operands. */
static bool operands_stay(const AgainValue *v, uint32_t last) {
  const Tasks *list = v->g->list;
  for (uint32_t i = v->from + 1; i <= last; i++)
    for (uint32_t j = 0; j < v->operands.len; j++)
      if (task_writes(v->g->t, list->at[i], v->operands.at[j])) return false;
  return true;
}

/* Finds all kernels but the maker that use the value. Returns false if some task that does cannot make it. */
static bool readers_find(const AgainValue *v, AgainReaders *readers) {
  const Again *g = v->g;
  uint32_t n = 0, last = v->from;
  for (uint32_t i = v->from + 1; i < g->list->len; i++) {
    AgainReader r;
    if (!task_touches(g->t, g->list->at[i], v->buffer)) continue;
    if (!reader_find(v, g->list->at[i], &r) || (r.alone && is_product(v))) return false;
    vec_push(g->t->arena, *readers, r);
    last = i;
  }
  return readers->len && operands_stay(v, last) && task_kernels_count(g->t, &g->t->tasks, v->buffer, &n) &&
      n == readers->len + 1;
}

/* ---- making it there ---------------------------------------------------------------------------------------- */

/* Stores a stage with few results a row. */
static uint32_t row_store(Again *g, TaskStage *s) {
  TaskGraph *t = g->t;
  if (s->buffer >= 0) return (uint32_t)s->buffer;
  uint32_t n = s->sum->n_out;
  TaskBuffer b = {.id = t->buffers.len, .space = BUF_WORK, .name = s->name, .place = s->place, .rank = n};
  b.dtype = s->sum->dtype;
  b.dim = s->bound;
  vec_push(t->arena, t->buffers, b);
  s->buffer = (int32_t)b.id, s->n_at = n, s->at = exprs_labels(t->arena, t->exprs, n);
  return b.id;
}

typedef struct Copied { const bool *permuted; const uint32_t *order; } Copied;

/* Kept values have their labels in the new order; buffers keep theirs. */
static const Expr *leaf_copied(void *env, Exprs *x, const Expr *leaf) {
  const Copied *c = env;
  const Expr *arg[64];
  if (leaf->kind != EX_READ || !c->permuted[leaf->i]) return leaf;
  for (uint32_t d = 0; d < leaf->n; d++) arg[d] = leaf->arg[c->order[d]];
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, arg);
}

/* Stage k of the maker, for a kernel with other outer labels; to[] has the numbers of those before it there. */
static TaskStage stage_copy(const AgainValue *v, const AgainReader *r, uint32_t k, const uint32_t *to) {
  TaskGraph *t = v->g->t;
  Task *p = v->maker;
  TaskStage s = p->stages.at[k];
  EinSum sum = *s.sum;
  TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, sum.n_slot + 1);
  bool *permuted = NEW_ARRAY(t->arena, bool, sum.n_slot + 1);
  for (uint32_t j = 0; j < sum.n_slot; j++) {
    slot[j] = s.slot[j];
    if (!slot[j].kept) continue;
    uint32_t of = slot[j].index;
    permuted[j] = v->again[of];
    if (v->again[of]) slot[j].index = to[of];
    else slot[j] = (TaskSlot){false, row_store(v->g, &p->stages.at[of])};
  }
  Copied c = {permuted, r->order};
  sum_map(t->exprs, &sum, leaf_copied, &c);
  s.buffer = -1, s.n_at = 0, s.at = NULL;
  stage_canonical(t, &s, &sum, slot, sum.n_slot);
  stage_reorder(t, &s, r->order);
  return s;
}

static bool stage_same(const TaskStage *a, const TaskStage *b) {
  if (!sum_same(a->sum, b->sum)) return false;
  for (uint32_t j = 0; j < a->sum->n_slot; j++)
    if (a->slot[j].kept != b->slot[j].kept || a->slot[j].index != b->slot[j].index) return false;
  return exprs_same(a->sum->n_out + a->sum->n_red, a->bound, b->bound);
}

/* The number of the kernel's stage that keeps the same as s; stages.len: it has none. */
static uint32_t stage_find(const Task *k, const TaskStage *s) {
  uint32_t i = 0;
  while (i < k->stages.len && !stage_same(&k->stages.at[i], s)) i++;
  return i;
}

/* Adds the stages that make the value, as far as the kernel lacks them. Returns the value's number there; *shared gets
 * how many products it had. */
static uint32_t value_add(const AgainValue *v, const AgainReader *r, Task *k, uint32_t *shared) {
  uint32_t to[STAGES_MOST] = {0};
  for (uint32_t i = 0; i <= v->stage; i++) {
    if (!v->again[i]) continue;
    TaskStage s = stage_copy(v, r, i, to);
    to[i] = stage_find(k, &s);
    if (to[i] == k->stages.len) vec_push(v->g->t->arena, k->stages, s);
    else *shared += s.sum->reducer != RED_NONE;
  }
  return to[v->stage];
}

/* Adds the reader's stages, for which the value is kept as stage `value`, with its labels in that order. What the
 * kernel keeps already, because the reader and the value are made of the same, it keeps once. */
static void reader_add(const AgainValue *v, const AgainReader *r, Task *k, uint32_t value, const uint32_t *order) {
  TaskGraph *t = v->g->t;
  const Task *old = r->kernel;
  uint32_t *to = NEW_ARRAY(t->arena, uint32_t, old->stages.len + 1);
  for (uint32_t i = 0; i < old->stages.len; i++) {
    TaskStage s = old->stages.at[i];
    if (r->alone) stage_reorder(t, &s, r->first);
    TaskSlot *slot = arena_copy(t->arena, s.slot, s.sum->n_slot * sizeof *slot);
    for (uint32_t j = 0; j < s.sum->n_slot; j++)
      if (slot[j].kept) slot[j].index = to[slot[j].index];
    s.slot = slot;
    stage_read_kept(t, &s, v->buffer, value, order);
    to[i] = s.buffer < 0 ? stage_find(k, &s) : k->stages.len;
    if (to[i] == k->stages.len) vec_push(t->arena, k->stages, s);
  }
}

static Task *kernel_copy(Again *g, const Task *k, bool stages) {
  Task *made = arena_copy(g->t->arena, k, sizeof *made);
  made->stages.at = NULL, made->stages.len = made->stages.cap = 0;
  for (uint32_t i = 0; stages && i < k->stages.len; i++) vec_push(g->t->arena, made->stages, k->stages.at[i]);
  return made;
}

/* The reader, making the value. `base`: a kernel whose stages come first, or NULL. *value gets the value's number. */
static Task *reader_new(
    const AgainValue *v, const AgainReader *r, const Task *base, uint32_t *shared, uint32_t *value) {
  const Task *old = r->kernel;
  Task *k = kernel_copy(v->g, base ? base : old, base != NULL);
  *value = value_add(v, r, k, shared);
  k->n_outer = r->n_outer;
  reader_add(v, r, k, *value, r->order);
  return k;
}

/* ---- readers that share what they make ------------------------------------------------------------------------- */

static bool may_pass_all(const Again *g, const Task *k, uint32_t from, uint32_t to) {
  for (uint32_t i = from + 1; i < to; i++)
    if (!task_may_pass(g->t, k, g->list->at[i])) return false;
  return true;
}

static bool same_rows(const Task *a, const Task *b) {
  if (a->n_outer != b->n_outer || a->unless != b->unless) return false;
  for (uint32_t l = 0; l < a->n_outer; l++)
    if (a->stages.at[0].bound[l] != b->stages.at[0].bound[l]) return false;
  return true;
}

static uint32_t position(const Again *g, const Task *k) {
  uint32_t i = 0;
  while (i < g->list->len && g->list->at[i] != k) i++;
  return i;
}

static void drop(Again *g, uint32_t at) {
  for (uint32_t i = at; i + 1 < g->list->len; i++) g->list->at[i] = g->list->at[i + 1];
  g->list->len--;
}

/* Puts the reader's stages into a kernel that makes the same values, if one of the two can go to the other. */
static bool reader_share(const AgainValue *v, const AgainReader *r, const Task *made) {
  Again *g = v->g;
  uint32_t mine = position(g, r->kernel);
  for (uint32_t i = 0; i < g->made.len; i++) {
    Task *base = g->made.at[i];
    uint32_t at = position(g, base), shared = 0, value;
    uint32_t from = at < mine ? at : mine, to = at < mine ? mine : at;
    if (!same_rows(base, made) || !task_may_pass(g->t, made, base) || !task_may_pass(g->t, base, made)) continue;
    Task *both = reader_new(v, r, base, &shared, &value);
    if (!shared || both->stages.len > STAGES_MOST) continue;
    bool here = may_pass_all(g, made, from, to);
    if (!here && !may_pass_all(g, base, from, to)) continue;
    g->list->at[here ? at : mine] = both;
    g->made.at[i] = both;
    drop(g, here ? mine : at);
    return true;
  }
  return false;
}

/* ---- readers that join a kernel that has the value --------------------------------------------------------------- */

/* A kernel that makes the value, whose label k there is the maker's label order[k]. */
typedef struct Holder { Task *kernel; uint32_t stage; const uint32_t *order; } Holder;

/* Finds how many of the holder's outer labels the reader, a kernel of one stage, has too. Puts them first. */
static uint32_t labels_wide(const AgainValue *v, const Holder *h, const TaskStage *s, uint32_t *first) {
  uint32_t label[64], n = 0;
  if (!labels_find(v, s, label)) return 0;
  while (n < h->kernel->n_outer && label[h->order[n]] < s->sum->n_out) first[n] = label[h->order[n]], n++;
  uint32_t at = n;
  for (uint32_t l = 0; l < s->sum->n_out; l++) {
    bool taken = false;
    for (uint32_t k = 0; k < n; k++) taken |= first[k] == l;
    if (!taken) first[at++] = l;
  }
  return n;
}

/* Whether there are enough rows of n labels, of which each has little. */
static bool wide_fits(const AgainValue *v, const Holder *h, uint32_t n) {
  const TaskStage *s = &h->kernel->stages.at[h->stage];
  return n && stage_points(v->g->t, s, 0, n) >= (double)WIDE_ROWS &&
         stage_points(v->g->t, s, n, s->sum->n_out) * (double)dtype_size(s->sum->dtype) <= (double)WIDE_BYTES;
}

/* Whether the reader can be appended to a kernel that has the value; *here: where that kernel is. */
static bool may_join(const AgainValue *v, const AgainReader *r, const Holder *h, bool *here) {
  const Again *g = v->g;
  const Task *to = h->kernel;
  uint32_t first[64], mine = position(g, r->kernel), at = position(g, to);
  uint32_t from = at < mine ? at : mine, end = at < mine ? mine : at;
  if (!g->wide || !r->alone || to->stages.len + r->kernel->stages.len > STAGES_MOST) return false;
  const TaskStage *s = &r->kernel->stages.at[0];
  if (!wide_fits(v, h, labels_wide(v, h, s, first))) return false;
  if (r->kernel->stages.len > 1 && !in_order(first, s->sum->n_out)) return false;
  if (!task_may_pass(g->t, r->kernel, to) || !task_may_pass(g->t, to, r->kernel)) return false;
  *here = may_pass_all(g, r->kernel, from, end);
  return *here || may_pass_all(g, to, from, end);
}

/* Appends it. They share fewer labels, so that the kernel's rows are tensors: a head of attention, whose scores stay in
 * the cache. */
static bool reader_join(const AgainValue *v, const AgainReader *r, const Holder *h) {
  Again *g = v->g;
  Task *to = h->kernel;
  AgainReader wide = *r;
  uint32_t mine = position(g, r->kernel), at = position(g, to);
  bool here;
  if (!may_join(v, r, h, &here)) return false;
  to->n_outer = labels_wide(v, h, &r->kernel->stages.at[0], wide.first);
  reader_add(v, &wide, to, h->stage, h->order);
  g->list->at[here ? at : mine] = to;
  drop(g, here ? mine : at);
  return true;
}

/* The maker, and labels in their own order. */
static Holder holder_maker(const AgainValue *v) {
  uint32_t *own = NEW_ARRAY(v->g->t->arena, uint32_t, 64);
  for (uint32_t k = 0; k < 64; k++) own[k] = k;
  return (Holder){v->maker, v->stage, own};
}

static bool all_join(const AgainValue *v, const AgainReaders *readers) {
  Holder h = holder_maker(v);
  bool here;
  for (uint32_t i = 0; i < readers->len; i++)
    if (!may_join(v, &readers->at[i], &h, &here)) return false;
  return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

/* Whether all readers, as they would be, have rows that can be taken in blocks. */
static bool all_have_rows(const AgainValue *v, const AgainReaders *readers) {
  for (uint32_t i = 0; i < readers->len; i++) {
    uint32_t shared = 0, value;
    if (!kernel_has_rows(v->g->t, reader_new(v, &readers->at[i], NULL, &shared, &value))) return false;
  }
  return true;
}

/* Makes the value again in a kernel of its own, or in one that makes the same. */
static void reader_alone_make(const AgainValue *v, const AgainReader *r) {
  Again *g = v->g;
  uint32_t shared = 0, value;
  Task *k = reader_new(v, r, NULL, &shared, &value);
  if (reader_share(v, r, k)) return;
  g->list->at[position(g, r->kernel)] = k;
  vec_push(g->t->arena, g->made, k);
}

/* Gives all readers the value. Returns whether it is made again. */
static bool readers_make(const AgainValue *v, const AgainReaders *readers) {
  Again *g = v->g;
  VEC(Holder) holders = {0};
  uint32_t again = 0;
  vec_each(const AgainReader, r, *readers) {
    Holder h = {.order = r->order};
    uint32_t shared = 0;
    if (r->alone) continue;
    h.kernel = reader_new(v, r, NULL, &shared, &h.stage);
    g->list->at[position(g, r->kernel)] = h.kernel;
    vec_push(g->t->arena, holders, h);
    again++;
  }
  vec_push(g->t->arena, holders, holder_maker(v));
  for (uint32_t i = 0; i < readers->len; i++) {
    bool joined = !readers->at[i].alone;
    for (uint32_t k = 0; !joined && k < holders.len; k++)
      joined = reader_join(v, &readers->at[i], &holders.at[k]);
    if (!joined) reader_alone_make(v, &readers->at[i]), again++;
  }
  return again;
}

/* Does without storing the value that a stage makes, if that is worth it. */
static bool value_try(Again *g, uint32_t at, uint32_t stage) {
  Task *p = g->list->at[at];
  AgainValue v = {.g = g, .maker = p, .from = at, .stage = stage, .buffer = (uint32_t)p->stages.at[stage].buffer};
  AgainReaders readers = {0};
  bool stored[STAGES_MOST];
  if (!value_find(&v) || !readers_find(&v, &readers)) return false;
  for (uint32_t k = 0; k < stage; k++) stored[k] = p->stages.at[k].buffer >= 0;
  TaskStage *s = &p->stages.at[stage], was = *s;
  s->buffer = -1, s->n_at = 0;
  bool may = all_have_rows(&v, &readers) && (v.cheap || all_join(&v, &readers));
  bool again = may && readers_make(&v, &readers);
  if (!may) p->stages.at[stage] = was;
  for (uint32_t k = 0; k < stage && !again; k++) /* nobody needs the rows' results */
    if (!stored[k]) p->stages.at[k].buffer = -1, p->stages.at[k].n_at = 0;
  while (may && p->stages.len && vec_last(p->stages).buffer < 0) p->stages.len--; /* only others wanted the value */
  return may;
}

static bool list_again(TaskGraph *t, Tasks *list, bool wide) {
  Again g = {.t = t, .list = list, .wide = wide};
  bool any = false;
  for (uint32_t i = 0; i < list->len; i++) {
    Task *k = list->at[i];
    any |= list_again(t, &k->body, wide);
    for (uint32_t j = 0; k->kind == TASK_KERNEL && (k->n_outer || k->stages.len == 1) && j < k->stages.len; j++)
      if (is_value(t, k, j)) any |= value_try(&g, i, j);
    if (k->kind == TASK_KERNEL && !k->stages.len) drop(&g, i--);
  }
  for (uint32_t i = 0; any && i < list->len; i++)
    if (list->at[i]->kind == TASK_KERNEL) kernel_keep_asked(t, list->at[i]);
  return any;
}

void task_again(TaskGraph *t, bool wide) {
  if (!t->mesh.n && list_again(t, &t->tasks, wide)) task_buffers_drop(t);
}
