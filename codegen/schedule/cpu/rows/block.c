/* codegen/schedule/cpu/rows/block.c - kernels whose stages share rows, some of which multiply the rows by operands
 * that all rows share (attention: the keys, the values). Rows are then taken in blocks: each stage goes over a block,
 * and kept values are kept for the block, rows innermost. So a stage that multiplies has tiles, and one that goes
 * along a row has its lanes across rows. Rewrites a kernel to one whose rows' label is split in two. */
#include "schedule/schedule.h"

enum {
  BLOCK_MOST = 128,          /* rows */
  BLOCK_LEAST = 32,
  BLOCK_BYTES = 1 << 20,     /* roughly how much may be kept */
  BLOCKS_WANTED = 8,
  WINDOW_LANES = 16,         /* elements of a window that fill lanes */
  ROW_ENOUGH = 16,           /* uses of an operand within a row that make other rows unnecessary */
  WORTH = 8                  /* at most how many times the work of stages that want blocks the others may do */
};

/* ---- choice of the label ----------------------------------------------------------------------------- */

typedef struct Look {
  Sched *s;
  const TaskStage *st;
  uint32_t n_outer;
  uint64_t outer;            /* labels that all such reads lack */
  bool shares, alone;        /* the stage has a read that rows share; one that a row reuses enough by itself, */
  bool by_data;              /*   or that is anywhere for each row */
  double wanted, others;     /* points of stages that want blocks, and of those that do not need them; */
  double against;            /*   of those that blocks make slower: lanes across rows would gather */
} Look;

static bool has_some(const Expr *e, uint32_t from, uint32_t to) {
  for (uint32_t l = from; l < to; l++)
    if (ex_has_label(e, l)) return true;
  return false;
}

/* Whether the row uses the read again along another label of its own. */
static bool used_in_row(const Look *k, const Expr *read) {
  for (uint32_t l = k->n_outer; l < k->st->sum->n_out; l++)
    if (!ex_has_label(read, l) && task_size_guess(k->s->t, k->st->bound[l]) >= ROW_ENOUGH) return true;
  return false;
}

/* Whether rows read at indices from data, so that neighbouring rows read anywhere. */
static bool is_by_data(const Expr *read, uint32_t n_outer) {
  for (uint32_t k = 0; k < read->n; k++)
    if ((read->arg[k]->has & HAS_READ) && has_some(read->arg[k], 0, n_outer)) return true;
  return false;
}

/* Notes a read that several rows share and that goes along what is reduced. */
static void read_look(Look *k, const Expr *read) {
  const EinSum *sum = k->st->sum;
  if (k->st->slot[read->i].kept || !has_some(read, sum->n_out, sum->n_out + sum->n_red)) return;
  uint64_t lacks = 0;
  for (uint32_t l = 0; l < k->n_outer; l++)
    if (!ex_has_label(read, l)) lacks |= (uint64_t)1 << l;
  k->by_data |= is_by_data(read, k->n_outer);
  if (!lacks || !has_some(read, k->n_outer, sum->n_out)) return;
  k->outer &= lacks;
  if (used_in_row(k, read)) k->alone = true;
  else k->shares = true;
}

static void stage_look(Look *k, const TaskStage *st) {
  double points = 1;
  k->st = st;
  k->shares = k->alone = k->by_data = false;
  ExprNodes reads = expr_nodes(k->s->arena, st->sum->reducer != RED_NONE ? st->sum->body : NULL, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) read_look(k, e);
  for (uint32_t l = k->n_outer; l < st->sum->n_out + st->sum->n_red; l++)
    points *= (double)task_size_guess(k->s->t, st->bound[l]);
  if (k->shares) k->wanted += points;
  else if (k->alone || k->by_data) k->others += points;
  if (k->by_data && !k->shares) k->against += points;
}

/* The outer label of the rows; NOWHERE if most of the work is in products that have enough tiles within each row. */
static uint32_t rows_label(Sched *s, const Task *k) {
  Look look = {.s = s, .n_outer = k->n_outer, .outer = ~(uint64_t)0};
  uint32_t best = NOWHERE;
  if (k->n_outer > 60) return NOWHERE;
  for (uint32_t i = 0; i < k->stages.len; i++) stage_look(&look, &k->stages.at[i]);
  if (look.wanted * (double)WORTH <= look.others || look.wanted <= look.against) return NOWHERE;
  for (uint32_t l = 0; l < k->n_outer; l++) {
    int64_t size = task_size_guess(s->t, k->stages.at[0].bound[l]);
    if (!(look.outer >> l & 1) || size < BLOCK_LEAST / 2) continue;
    if (best == NOWHERE || size > task_size_guess(s->t, k->stages.at[0].bound[best])) best = l;
  }
  return best;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

/* Rows each of which is a column of what is read, or a short window of it that moves with the row: in a block of them,
 * reads go along lines of memory. Masks of outer labels: those along which a read does so, and those of other reads. */
typedef struct Columns { Sched *s; const TaskStage *st; uint32_t n_outer; uint64_t good, bad; } Columns;

/* Whether the index moves within the row, over so many elements that they fill lanes. */
static bool goes_along_row(const Columns *c, const Expr *index) {
  int64_t n = 1;
  bool along = false;
  for (uint32_t l = c->n_outer; l < c->st->sum->n_out + c->st->sum->n_red; l++) {
    if (!ex_has_label(index, l)) continue;
    along = true;
    if (!mul_ok(n, task_size_guess(c->s->t, c->st->bound[l]), &n)) return true;
  }
  return along && n >= WINDOW_LANES;
}

static void column_look(Columns *c, const Expr *read) {
  int64_t slope;
  if (!read->n || c->st->slot[read->i].kept || !has_some(read, c->n_outer, c->st->sum->n_out + c->st->sum->n_red))
    return;
  const Expr *last = read->arg[read->n - 1];
  for (uint32_t l = 0; l < c->n_outer; l++) {
    if (!ex_has_label(read, l)) continue;
    bool here = ex_has_label(last, l) && ex_slope(last, l, &slope) && slope == 1 && !goes_along_row(c, last);
    *(here ? &c->good : &c->bad) |= (uint64_t)1 << l;
  }
}

static uint32_t column_label(Sched *s, const Task *k) {
  Columns c = {.s = s, .n_outer = k->n_outer};
  double kept = 4;
  uint32_t best = NOWHERE;
  if (k->n_outer > 60) return NOWHERE;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    c.st = &k->stages.at[i];
    double n = 4;
    for (uint32_t l = k->n_outer; l < c.st->sum->n_out; l++) n *= (double)task_size_guess(s->t, c.st->bound[l]);
    if (n > kept) kept = n;
    ExprNodes reads = expr_nodes(s->arena, c.st->sum->body, HAS_READ);
    expr_nodes_add(&reads, c.st->sum->where);
    for (const Expr *e; (e = expr_next_read(&reads));) column_look(&c, e);
  }
  if (kept * (double)BLOCK_LEAST > (double)BLOCK_BYTES) return NOWHERE;
  for (uint32_t l = 0; l < k->n_outer; l++)
    if ((c.good & ~c.bad) >> l & 1 && task_size_guess(s->t, k->stages.at[0].bound[l]) >= BLOCK_LEAST) best = l;
  return best;
}

static int64_t block_rows(Sched *s, const Task *k, uint32_t label) {
  double kept = 0, others = 1;
  vec_each(const TaskStage, st, k->stages) {
    double n = 4;
    for (uint32_t l = k->n_outer; l < st->sum->n_out; l++) n *= (double)task_size_guess(s->t, st->bound[l]);
    if (n > kept) kept = n;
  }
  for (uint32_t l = 0; l < k->n_outer; l++)
    if (l != label) others *= (double)task_size_guess(s->t, k->stages.at[0].bound[l]);
  int64_t size = task_size_guess(s->t, k->stages.at[0].bound[label]), n = BLOCK_MOST;
  while (n > BLOCK_LEAST &&
      (kept * (double)n > (double)BLOCK_BYTES || others * (double)size / (double)n < (double)BLOCKS_WANTED))
    n /= 2;
  return k->stages.at[0].bound[label]->kind == EX_INT && size < n ? size : n;
}

/* ---- operands that lie along their rows ------------------------------------------------------------------ */

/* Whether the read goes along its own row, so that the next row's element is elsewhere, and is needed for many results
 * of the row. */
static bool lies_along_row(Sched *s, const TaskStage *st, uint32_t n_outer, uint32_t label, const Expr *read) {
  const EinSum *sum = st->sum;
  double uses = 1;
  if (!read->n || ex_has_label(read->arg[read->n - 1], label)) return false;
  for (uint32_t k = 0; k < read->n; k++)
    if (read->arg[k]->has & HAS_READ) return false;
  for (uint32_t l = n_outer; l < sum->n_out; l++)
    if (!ex_has_label(read, l)) uses *= (double)task_size_guess(s->t, st->bound[l]);
  return uses >= (double)ROW_ENOUGH && has_some(read, sum->n_out, sum->n_out + sum->n_red);
}

/* The slot of a reduction of what a block keeps, with an operand that lies along its rows; NOWHERE: there is none. The
 * kept rows are innermost, so lanes across rows would gather the operand, and lanes along it what is kept. */
static uint32_t slot_along_row(Sched *s, const TaskStage *st, uint32_t n_outer, uint32_t label) {
  const EinSum *sum = st->sum;
  const Expr *top[] = {sum->body}, **read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  uint32_t found = NOWHERE;
  bool keeps = false;
  if (sum->reducer == RED_NONE || sum->where || sum->domain) return NOWHERE;
  expr_slot_reads(s->arena, COUNT(top), top, read);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    if (st->slot[a].kept) {
      keeps |= has_some(read[a], n_outer, sum->n_out) && has_some(read[a], sum->n_out, sum->n_out + sum->n_red);
      continue;
    }
    if (!ex_has_label(read[a], label)) return NOWHERE; /* a product, which has panels */
    if (found == NOWHERE && lies_along_row(s, st, n_outer, label, read[a])) found = a;
  }
  return keeps ? found : NOWHERE;
}

typedef struct Transposed { const Expr *was, *is; } Transposed;

static const Expr *leaf_transposed(void *env, Exprs *x, const Expr *leaf) {
  const Transposed *t = env;
  (void)x;
  return leaf == t->was ? t->is : leaf;
}

/* A map that keeps what the slot reads, over the labels of rows and those of the read. Has the slot read it: `number`
 * is that of the map. */
static TaskStage transposed_stage(Sched *s, TaskStage *st, uint32_t n_outer, uint32_t slot, uint32_t number) {
  EinSum *sum = NEW(s->arena, EinSum), *own = NEW(s->arena, EinSum);
  uint32_t n = st->sum->n_out + st->sum->n_red, count = 0;
  const Expr *top[] = {st->sum->body}, **read = NEW_ARRAY(s->arena, const Expr *, st->sum->n_slot + 1),
             **to = NEW_ARRAY(s->arena, const Expr *, n + 1), **at = NEW_ARRAY(s->arena, const Expr *, n + 1),
             **bound = NEW_ARRAY(s->arena, const Expr *, n + 1);
  Str *label = NEW_ARRAY(s->arena, Str, n + 1);
  expr_slot_reads(s->arena, COUNT(top), top, read);
  const Expr *was = read[slot];
  for (uint32_t l = 0; l < n; l++) {
    if (l >= n_outer && !ex_has_label(was, l)) continue;
    at[count] = expr_label(s->x, l), to[l] = expr_label(s->x, count);
    bound[count] = st->bound[l], label[count++] = st->label[l];
  }
  DType t = (DType)was->dtype;
  const Expr **index = NEW_ARRAY(s->arena, const Expr *, was->n + 1);
  for (uint32_t k = 0; k < was->n; k++) index[k] = expr_relabel(s->x, was->arg[k], n, to);
  *sum = (EinSum){.n_out = count, .n_slot = 1, .reducer = RED_NONE, .acc = t, .dtype = t};
  sum->body = expr_read(s->x, t, 0, was->n, index);
  TaskStage made = {.name = buffer_seen(s, st->slot[slot].index)->name, .place = st->place, .bound = bound,
      .label = label, .buffer = -1, .sum = sum};
  made.slot = NEW(s->arena, TaskSlot);
  *made.slot = st->slot[slot];
  TaskSlot *slots = arena_copy(s->arena, st->slot, st->sum->n_slot * sizeof *slots);
  slots[slot] = (TaskSlot){true, number};
  *own = *st->sum;
  own->body = expr_map(s->x, own->body, leaf_transposed, &(Transposed){was, expr_read(s->x, t, slot, count, at)});
  st->slot = slots, st->sum = own;
  return made;
}

/* The kernel, where such operands are first kept as rows of the block, transposed. */
static const Task *transposed_task(Sched *s, const Task *k, uint32_t label) {
  Task *made = NEW(s->arena, Task);
  uint32_t *to = NEW_ARRAY(s->arena, uint32_t, k->stages.len + 1), slot;
  *made = *k;
  made->stages.at = NULL, made->stages.len = 0, made->stages.cap = 0;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    TaskStage st = k->stages.at[i];
    TaskSlot *slots = NEW_ARRAY(s->arena, TaskSlot, st.sum->n_slot + 1);
    for (uint32_t a = 0; a < st.sum->n_slot; a++)
      slots[a] = (TaskSlot){st.slot[a].kept, st.slot[a].kept ? to[st.slot[a].index] : st.slot[a].index};
    st.slot = slots;
    while ((slot = slot_along_row(s, &st, k->n_outer, label)) != NOWHERE) {
      TaskStage transposed = transposed_stage(s, &st, k->n_outer, slot, made->stages.len);
      vec_push(s->arena, made->stages, transposed);
    }
    to[i] = made->stages.len;
    vec_push(s->arena, made->stages, st);
  }
  return made;
}

/* ---- splitting the label ------------------------------------------------------------------------------- */

typedef struct Cut {
  Sched *s;
  const TaskStage *st;
  uint32_t n_outer, label;
  const Expr **to;           /* the old labels, in terms of the new ones */
  const Expr *block, *row;   /* the two new labels */
} Cut;

static const Expr *leaf_cut(void *env, Exprs *x, const Expr *leaf) {
  Cut *c = env;
  if (leaf->kind == EX_LABEL) return c->to[leaf->i];
  if (leaf->kind != EX_READ || !c->st->slot[leaf->i].kept) return leaf;
  /* arg: in the new order of the stages' labels. */
  const Expr **arg = NEW_ARRAY(c->s->arena, const Expr *, leaf->n + 2);
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (k != c->label) arg[n++] = leaf->arg[k];
  arg[n++] = c->block;
  for (uint32_t k = c->n_outer; k < leaf->n; k++) arg[n++] = leaf->arg[k];
  arg[n++] = c->row;
  return expr_read(x, (DType)leaf->dtype, leaf->i, n, arg);
}

static const Expr *cut_expr(Cut *c, const Expr *e) { return e ? expr_map(c->s->x, e, leaf_cut, c) : NULL; }

static void labels_cut(Cut *c, TaskStage *made, int64_t rows) {
  Sched *s = c->s;
  const TaskStage *st = c->st;
  uint32_t n_out = st->sum->n_out, n = n_out + st->sum->n_red, at = 0;
  const Expr **bound = NEW_ARRAY(s->arena, const Expr *, n + 2);
  Str *label = NEW_ARRAY(s->arena, Str, n + 2);
  c->to = NEW_ARRAY(s->arena, const Expr *, n + 1);
  for (uint32_t l = 0; l < n; l++) {
    if (l == c->label) continue;
    if (l == c->n_outer || (l > c->n_outer && at == c->n_outer - 1)) at++; /* the block's own */
    if (l == n_out) at++;                                                  /* the row's */
    bound[at] = st->bound[l], label[at] = st->label[l];
    c->to[l] = expr_label(s->x, at++);
  }
  uint32_t block = c->n_outer - 1, row = n_out;
  c->block = expr_label(s->x, block), c->row = expr_label(s->x, row);
  c->to[c->label] = ex_add(s, ex_mul(s, c->block, ex_int(s, rows)), c->row);
  bound[block] = ex_div_up(s, st->bound[c->label], ex_int(s, rows)), label[block] = NULL;
  bound[row] = ex_int(s, rows), label[row] = st->label[c->label];
  made->bound = bound, made->label = label;
}

static TaskStage stage_cut(Sched *s, const Task *k, const TaskStage *st, uint32_t label, int64_t rows) {
  Cut c = {.s = s, .st = st, .n_outer = k->n_outer, .label = label};
  TaskStage made = *st;
  EinSum *sum = arena_copy(s->arena, st->sum, sizeof *sum);
  labels_cut(&c, &made, rows);
  sum->n_out++;
  sum->body = cut_expr(&c, sum->body);
  sum->where = cut_expr(&c, sum->where);
  sum->domain = cut_expr(&c, sum->domain);
  made.sum = sum;
  made.at = NEW_ARRAY(s->arena, const Expr *, st->n_at + 1);
  for (uint32_t i = 0; i < st->n_at; i++) made.at[i] = cut_expr(&c, st->at[i]);
  return made;
}

/* ---- entry points ------------------------------------------------------------------------------------------- */

const Task *block_task(Sched *s, const Task *k) {
  uint32_t label = rows_label(s, k);
  if (label == NOWHERE) label = column_label(s, k);
  if (label == NOWHERE) return k;
  int64_t rows = block_rows(s, k, label);
  k = transposed_task(s, mask_task(s, k, label), label);
  Task *made = arena_copy(s->arena, k, sizeof *made);
  made->stages.at = NULL, made->stages.len = 0, made->stages.cap = 0;
  for (uint32_t i = 0; i < k->stages.len; i++)
    vec_push(s->arena, made->stages, stage_cut(s, k, &k->stages.at[i], label, rows));
  s->of_stage = NEW_ARRAY(s->arena, uint32_t, made->stages.len + 1);
  s->value = NEW_ARRAY(s->arena, const Expr *, made->stages.len + 1);
  for (uint32_t i = 0; i < made->stages.len; i++) s->of_stage[i] = NOWHERE;
  s->rows.block = rows;
  s->rows.block_of = k->stages.at[0].bound[label];
  return made;
}

bool block_is_index(const Sched *s, const TaskStage *st, const Expr *index) {
  if (!s->rows.block) return false;
  const Expr *block = expr_label(s->x, s->outer - 1), *row = expr_label(s->x, st->sum->n_out - 1);
  return index == expr_op2(s->x, OP_ADD, expr_op2(s->x, OP_MUL, block, expr_int(s->x, DT_I64, s->rows.block)), row);
}

/* Bounds the rows of the last block, which may have fewer. `block`: its number. */
void block_bound(Sched *s, const Expr *block) {
  if (s->rows.block_of->kind == EX_INT && s->rows.block_of->i % s->rows.block == 0) return;
  const Expr *rows = ex_int(s, s->rows.block), *left = ex_sub(s, s->rows.block_of, ex_mul(s, block, rows));
  const Expr *n = named(s, NULL, "rows", ex_min(s, rows, left));
  vec_each(TaskStage, st, s->task->stages) {
    st->bound[st->sum->n_out - 1] = n;
  }
}
