/* task/passes/stage.c - takes stages apart and together: renumbers reads, reorders labels, inlines maps where they
 * are read. Every change ends with slots in their normal order (expr/sum/law.h). */
#include "expr/sum/law.h"
#include "task/inside.h"
#include "task/text/text.h"

void stage_canonical(TaskGraph *t, TaskStage *s, EinSum *sum, const TaskSlot *slot, uint32_t n_slot) {
  sum->n_slot = n_slot;
  s->slot = task_canonical_slots(t->arena, t->exprs, sum, slot);
  sum->hash = sum_hash(sum);
  s->sum = arena_copy(t->arena, sum, sizeof *sum);
}

/* ---- labels --------------------------------------------------------------------------------------- */

void stage_reorder(TaskGraph *t, TaskStage *s, const uint32_t *order) {
  Exprs *x = t->exprs;
  EinSum sum = *s->sum;
  uint32_t n = sum.n_out + sum.n_red;
  const Expr **to = NEW_ARRAY(t->arena, const Expr *, n + 1), **bound = NEW_ARRAY(t->arena, const Expr *, n + 1);
  Str *label = NEW_ARRAY(t->arena, Str, n + 1);
  bool same = true;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t was = k < sum.n_out ? order[k] : k;
    to[was] = expr_label(x, k);
    bound[k] = s->bound[was];
    label[k] = s->label[was];
    same &= was == k;
  }
  if (same) return;
  sum_relabel(x, &sum, n, to);
  const Expr **at = NEW_ARRAY(t->arena, const Expr *, s->n_at + 1);
  for (uint32_t k = 0; k < s->n_at; k++) at[k] = expr_relabel(x, s->at[k], n, to);
  s->bound = bound;
  s->label = label;
  s->at = at;
  stage_canonical(t, s, &sum, s->slot, sum.n_slot);
}

bool stage_is_plain(const TaskStage *s) {
  return s->buffer >= 0 && s->n_at == s->sum->n_out && exprs_are_labels(s->n_at, s->at);
}

bool stage_axes(const TaskStage *s, uint32_t *axis) {
  if (s->buffer < 0 || s->n_at != s->sum->n_out || s->n_at > 63) return false;
  uint64_t seen = 0;
  for (uint32_t k = 0; k < s->n_at; k++) {
    const Expr *e = s->at[k];
    if (e->kind != EX_LABEL || seen >> e->i & 1) return false;
    seen |= (uint64_t)1 << e->i;
    axis[e->i] = k;
  }
  return true;
}

Str task_name_with(TaskGraph *t, Str name, const char *behind) {
  return name ? strings_printf(t->strings, "%s%s", name->s, behind) : NULL;
}

bool stage_read_is(const TaskStage *s, const Expr *e, uint32_t buffer) {
  return e->kind == EX_READ && !s->slot[e->i].kept && s->slot[e->i].index == buffer;
}

double stage_points(const TaskGraph *t, const TaskStage *s, uint32_t from, uint32_t to) {
  double n = 1;
  for (uint32_t k = from; k < to; k++) n *= (double)task_size_guess(t, s->bound[k]);
  return n;
}

bool stage_reads(const TaskStage *s, uint32_t buffer) {
  for (uint32_t j = 0; j < s->sum->n_slot; j++)
    if (!s->slot[j].kept && s->slot[j].index == buffer) return true;
  return false;
}

bool task_reads(const Task *k, uint32_t buffer) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (stage_reads(&k->stages.at[i], buffer)) return true;
  return false;
}

bool stage_reads_stage(const TaskStage *s, uint32_t stage) {
  for (uint32_t j = 0; j < s->sum->n_slot; j++)
    if (s->slot[j].kept && s->slot[j].index == stage) return true;
  return false;
}

bool expr_reads_stage(const TaskStage *s, const Expr *e, uint32_t stage) {
  if (e->kind == EX_READ && s->slot[e->i].kept && s->slot[e->i].index == stage) return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->has & HAS_READ && expr_reads_stage(s, e->arg[k], stage)) return true;
  return false;
}

bool task_reads_stage(const Task *k, uint32_t stage, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (stage_reads_stage(&k->stages.at[i], stage)) return true;
  return false;
}

/* ---- reads ----------------------------------------------------------------------------------------- */

bool stage_reads_at_labels(
    TaskGraph *t, const TaskStage *s, uint32_t buffer, uint32_t rank, const uint32_t *axis, uint32_t *label) {
  ExprNodes reads = sum_reads(t->arena, s->sum);
  bool any = false;
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (!stage_read_is(s, e, buffer)) continue;
    for (uint32_t d = 0; d < rank; d++) {
      const Expr *at = e->arg[axis ? axis[d] : d];
      if (at->kind != EX_LABEL || at->i >= s->sum->n_out || (any && label[d] != (uint32_t)at->i)) return false;
      if (number_among(d, label, at->i)) return false;
      label[d] = (uint32_t)at->i;
    }
    any = true;
  }
  return any;
}

bool stage_reach(const TaskStage *s, const Expr *e, StageReach *out) {
  StageReach a, b;
  if (e->kind == EX_INT) return *out = (StageReach){e->i, e->i}, true;
  if (e->kind == EX_LABEL) return *out = (StageReach){0, s->bound[e->i]->i - 1}, s->bound[e->i]->kind == EX_INT;
  if (e->kind != EX_OP || (e->op != OP_ADD && e->op != OP_SUB) || e->dtype != DT_I64) return false;
  if (!stage_reach(s, e->arg[0], &a) || !stage_reach(s, e->arg[1], &b)) return false;
  if (e->op == OP_SUB) b = (StageReach){-b.high, -b.low};
  return add_ok(a.low, b.low, &out->low) && add_ok(a.high, b.high, &out->high);
}

typedef struct Permuted { uint32_t slot; const uint32_t *axis; } Permuted;

static const Expr *leaf_permuted(void *env, Exprs *x, const Expr *leaf) {
  const Permuted *k = env;
  const Expr *arg[64];
  if (leaf->kind != EX_READ || leaf->i != k->slot) return leaf;
  for (uint32_t d = 0; d < leaf->n; d++) arg[d] = leaf->arg[k->axis[d]];
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, arg);
}

static void slot_read_kept(TaskGraph *t, TaskStage *s, uint32_t slot, uint32_t stage, const uint32_t *axis) {
  Permuted k = {slot, axis};
  EinSum sum = *s->sum;
  TaskSlot *slots = arena_copy(t->arena, s->slot, sum.n_slot * sizeof *slots);
  slots[slot] = (TaskSlot){true, stage};
  sum_map(t->exprs, &sum, leaf_permuted, &k);
  stage_canonical(t, s, &sum, slots, sum.n_slot);
}

bool stage_read_kept(TaskGraph *t, TaskStage *s, uint32_t buffer, uint32_t stage, const uint32_t *axis) {
  bool any = false;
  for (uint32_t j = 0; j < s->sum->n_slot; j++) {
    if (s->slot[j].kept || s->slot[j].index != buffer) continue;
    slot_read_kept(t, s, j, stage, axis);
    any = true;
    j = UINT32_MAX; /* the slots have been renumbered */
  }
  return any;
}

static bool has_read_of(const TaskStage *s, const Expr *e, uint32_t buffer) {
  if (!(e->has & HAS_READ)) return false;
  if (stage_read_is(s, e, buffer)) return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (has_read_of(s, e->arg[k], buffer)) return true;
  return false;
}

bool expr_by_chance(const Expr *e) {
  if (e->kind == EX_OP &&
      (op_info[e->op].rule == RULE_RANDOM || e->op == OP_EXTERN || e->op == OP_PERMUTE || e->op == OP_UNPERMUTE))
    return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (expr_by_chance(e->arg[k])) return true;
  return false;
}

bool stage_gathers(TaskGraph *t, const TaskStage *s, uint32_t buffer) {
  ExprNodes reads = sum_reads(t->arena, s->sum);
  for (const Expr *e; (e = expr_next_read(&reads));)
    for (uint32_t k = 0; k < e->n; k++)
      if (stage_read_is(s, e, buffer) ? e->arg[k]->has & HAS_READ || expr_by_chance(e->arg[k])
                                      : has_read_of(s, e->arg[k], buffer))
        return true;
  return false;
}

bool stage_may_fail(TaskGraph *t, const TaskStage *s) {
  ExprNodes reads = sum_reads(t->arena, s->sum);
  const Expr *where = s->sum->where, *domain = s->sum->domain;
  if (s->sum->by || (s->sum->body->has | (where ? where->has : 0) | (domain ? domain->has : 0)) & HAS_CALL) return true;
  for (const Expr *e; (e = expr_next_read(&reads));)
    for (uint32_t k = 0; k < e->n; k++)
      if (e->arg[k]->has & (HAS_READ | HAS_CALL) || expr_by_chance(e->arg[k])) return true;
  return false;
}

/* ---- maps computed where they are read ---------------------------------------------------------------- */

typedef struct Inline {
  const TaskStage *s;
  uint32_t buffer;
  const Expr *value;         /* of the stage that stores it, in its own dtype */
  const Expr *const *index;  /* of the current read */
} Inline;

static const Expr *leaf_of_value(void *env, Exprs *x, const Expr *leaf) {
  const Inline *k = env;
  if (leaf->kind == EX_LABEL) return k->index[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  return expr_read(x, (DType)leaf->dtype, k->s->sum->n_slot + leaf->i, leaf->n, leaf->arg);
}

static const Expr *leaf_inline(void *env, Exprs *x, const Expr *leaf) {
  Inline k = *(Inline *)env;
  if (leaf->kind != EX_READ || k.s->slot[leaf->i].kept || k.s->slot[leaf->i].index != k.buffer) return leaf;
  k.index = leaf->arg;
  return expr_map(x, k.value, leaf_of_value, &k);
}

void stage_inline(TaskGraph *t, TaskStage *s, uint32_t buffer, const TaskStage *from) {
  Exprs *x = t->exprs;
  EinSum sum = *s->sum;
  Inline k = {.s = s, .buffer = buffer, .value = expr_cast(x, from->sum->dtype, from->sum->body)};
  uint32_t n = sum.n_slot, m = from->sum->n_slot;
  TaskSlot *slot = COPY_ARRAY(t->arena, TaskSlot, s->slot, n, n + m + 1);
  for (uint32_t i = 0; i < m; i++) slot[n + i] = from->slot[i];
  sum_map(x, &sum, leaf_inline, &k);
  stage_canonical(t, s, &sum, slot, n + m);
}

/* ---- copies ----------------------------------------------------------------------------------------- */

const TaskStage *kernel_copies(const Task *k) {
  const TaskStage *s = k->kind == TASK_KERNEL && k->stages.len == 1 ? &k->stages.at[0] : NULL;
  if (!s || s->sum->reducer != RED_NONE || s->sum->domain || s->sum->acc != s->sum->dtype || !stage_is_plain(s))
    return NULL;
  const Expr *e = s->sum->body;
  bool copies = e->kind == EX_READ && e->n == s->sum->n_out && !s->slot[e->i].kept && exprs_are_labels(e->n, e->arg);
  return copies ? s : NULL;
}

bool buffers_alike(const TaskBuffer *a, const TaskBuffer *b) {
  if (a->rank != b->rank || a->when != b->when || !a->low != !b->low) return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dim[k] != b->dim[k] || (a->low && a->low[k] != b->low[k])) return false;
  return true;
}

/* ---- running reductions ---------------------------------------------------------------------------- */

typedef struct Along {
  int64_t label, red;
  int side, way;             /* which bound of the reduced label moves with the label, and in which direction; 0:
                              * none so far */
} Along;

/* Takes a comparison a <= b, or a < b, that has the label: a bound of the reduced one. */
static bool moves_bound(Along *c, const Expr *a, const Expr *b) {
  int64_t x, y, of_a, of_b;
  if (!expr_slope(a, c->red, &x) || !expr_slope(b, c->red, &y) || (x - y != 1 && x - y != -1)) return false;
  if (!expr_slope(a, c->label, &of_a) || !expr_slope(b, c->label, &of_b) || of_a == of_b) return false;
  int side = (int)(x - y), way = of_a > of_b ? 1 : -1;
  if (c->side && (c->side != side || c->way != way)) return false;
  c->side = side, c->way = way;
  return true;
}

static bool moves_bounds(Along *c, const Expr *where) {
  if (!expr_has_label(where, c->label)) return true;
  if (where->kind != EX_OP || where->n != 2) return false;
  const Expr *a = where->arg[0], *b = where->arg[1];
  if (where->op == OP_AND) return moves_bounds(c, a) && moves_bounds(c, b);
  if (a->dtype != DT_I64 || (where->has & HAS_READ)) return false;
  if (where->op == OP_LT || where->op == OP_LE) return moves_bound(c, a, b);
  return (where->op == OP_GT || where->op == OP_GE) && moves_bound(c, b, a);
}

bool stage_runs(const TaskStage *s, uint32_t n) {
  const EinSum *sum = s->sum;
  if (sum->reducer == RED_NONE || sum->n_red != 1 || !sum->where) return false;
  for (uint32_t l = 0; l < n && l < sum->n_out; l++) {
    Along c = {l, sum->n_out, 0, 0};
    if (!expr_has_label(sum->body, l) && moves_bounds(&c, sum->where) && c.side) return true;
  }
  return false;
}

void task_stages_each(TaskGraph *t, const Tasks *list, void (*f)(TaskGraph *t, TaskStage *s)) {
  vec_each_of(Task, k, *list) {
    task_stages_each(t, &k->body, f);
    for (uint32_t m = 0; k->kind == TASK_KERNEL && m < k->stages.len; m++) f(t, &k->stages.at[m]);
  }
}
