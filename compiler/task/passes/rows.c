/* task/passes/rows.c - joins kernels that share rows. In: tasks after fusion, where a kernel of rows has grown stage by
 * stage, each from the last kernel that it reads. Out: a kernel of rows and another one over the same rows are one, if
 * the second reads, at its row, what the first makes, or if both read the same rows of a large buffer. What only they
 * use is then not stored, and what both read is in the cache the second time.
 *
 * The components of a monoid over tuples are of this kind: the means of a few points, and the squared deviations made
 * of these means and the same points. Others are a logsumexp and its gradient, a maximum and its place.
 *
 * Products keep to themselves, because they have loops of their own; so do long columns, windows, running sums, and
 * what changes a state beside other reads of it. On a device, what the bus may take or bring during the other kernel
 * waits for neither. Values are the same wherever they are made. */
#include "task/inside.h"

enum {
  STAGES_MOST = 16,          /* of a kernel */
  FAR = 64,                  /* tasks between two kernels that may be joined */
  ROW_LEAST = 64,            /* elements of a row that is worth reading once, */
  BYTES_LEAST = 1 << 16,     /*   and bytes of the buffer */
  ROW_MOST = 16384,          /* elements of a row that a kernel keeps of a stage, */
  ROW_NEAR = 4096,           /*   and of a row that is made of several */
  ROWS_LEAST = 16,           /* fewer rows are not worth sharing, */
  ROWS_SPLIT = 64,           /* and of fewer, reductions of so many points */
  POINTS_SPLIT = 4096        /*   are split for threads (split.c) */
};

typedef struct Rows { TaskGraph *t; Tasks *list; bool device; } Rows;

/* ---- what may be joined ------------------------------------------------------------------------------ */

static bool may_share(TaskGraph *t, const Task *k) {
  if (k->kind != TASK_KERNEL || task_call(k) || (!k->n_outer && k->stages.len > 1)) return false;
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (stage_is_product(t, &k->stages.at[i]) || k->stages.at[i].sum->n_out > 60) return false;
  return true;
}

/* Whether a kernel of one stage can have n of its labels as rows: a map's last label stays inside. */
static bool may_have_rows(TaskGraph *t, const Task *k, uint32_t n) {
  const TaskStage *s = &k->stages.at[0];
  bool inside = s->sum->reducer != RED_NONE ? s->sum->n_out >= n : s->sum->n_out > n;
  return inside && stage_points(t, s, n, s->sum->n_out) <= (double)ROW_MOST;
}

/* Whether several rows of the kernel may be one row, of the first n labels. */
static bool may_have_long_rows(TaskGraph *t, const Task *k, uint32_t n) {
  vec_each(const TaskStage, s, k->stages)
    if (stage_points(t, s, n, s->sum->n_out) > (double)ROW_NEAR) return false;
  return true;
}

/* Whether a reduction reads what other rows share lines with: at an index of a row's label and others, x[i + j]; or
 * along a column, X[j, i]. */
static bool reads_windows(TaskGraph *t, const TaskStage *s, uint32_t n) {
  ExprNodes reads = expr_nodes(t->arena, s->sum->reducer != RED_NONE ? s->sum->body : NULL, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (!e->n || s->slot[e->i].kept) continue;
    const Expr *last = e->arg[e->n - 1];
    if (last->kind == EX_LABEL && last->i < (int64_t)n && e->labels >> s->sum->n_out) return true;
    for (uint32_t k = 0; k < e->n; k++)
      for (uint32_t l = 0; l < n; l++)
        if (e->arg[k]->kind != EX_LABEL && (e->arg[k]->labels >> l & 1)) return true;
  }
  return false;
}

/* Whether a stage has loops of its own, in which many rows are made at once, or one from another. */
static bool has_own_loops(TaskGraph *t, const Task *k, uint32_t n) {
  vec_each(const TaskStage, s, k->stages)
    if (stage_is_one_walk(s, n) || stage_is_long_column(t, s, n) || reads_windows(t, s, n)) return true;
  return false;
}

/* The number of labels of the rows that both have; 0: they have none. One of them is a kernel of rows already. */
static uint32_t same_rows(TaskGraph *t, const Task *p, const Task *q) {
  const Task *rows = p, *other = q;
  if (p->stages.len == 1 || (q->stages.len > 1 && q->n_outer < p->n_outer)) rows = q, other = p;
  uint32_t n = rows->n_outer;
  if (rows->stages.len < 2 || !n || p->unless != q->unless || p->stages.len + q->stages.len > STAGES_MOST) return 0;
  if (other->stages.len == 1 && !may_have_rows(t, other, n)) return 0;
  if (other->stages.len > 1 && other->n_outer != n && !may_have_long_rows(t, other, n)) return 0;
  if (stage_points(t, &rows->stages.at[0], 0, n) < (double)ROWS_LEAST) return 0;
  if (has_own_loops(t, p, n) || has_own_loops(t, q, n)) return 0;
  for (uint32_t l = 0; l < n; l++)
    if (p->stages.at[0].bound[l] != q->stages.at[0].bound[l]) return 0;
  int32_t a = vec_last(p->stages).buffer, b = vec_last(q->stages).buffer;
  bool same_sites = a >= 0 && b >= 0 && t->buffers.at[a].when == t->buffers.at[b].when;
  return same_sites ? n : 0;
}

/* Whether the stage makes all of its buffer: some change a part of a state. */
static bool is_whole(const TaskGraph *t, const TaskStage *s, const uint32_t *axis) {
  for (uint32_t k = 0; k < s->sum->n_out; k++)
    if (t->buffers.at[s->buffer].dim[axis[k]] != s->bound[k]) return false;
  return true;
}

/* Whether s reads what `from` makes only in the row that both are at; *any: it does read it. */
static bool reads_row(TaskGraph *t, const TaskStage *s, const TaskStage *from, uint32_t n, bool *any) {
  uint32_t axis[64], label[64];
  if (from->buffer < 0 || !stage_reads(s, (uint32_t)from->buffer)) return true;
  if (!stage_axes(from, axis) || !is_whole(t, from, axis) || stage_gathers(t, s, (uint32_t)from->buffer) ||
      !stage_reads_at_labels(t, s, (uint32_t)from->buffer, n, axis, label))
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (label[k] != k) return false;
  return *any = true;
}

/* Whether k reads of the buffer only its own row, the buffer's first axes. */
static bool reads_rows_of(TaskGraph *t, const Task *k, uint32_t buffer, uint32_t n) {
  bool any = false;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    uint32_t label[64];
    if (!stage_reads(&k->stages.at[i], buffer)) continue;
    if (stage_gathers(t, &k->stages.at[i], buffer)) return false;
    if (!stage_reads_at_labels(t, &k->stages.at[i], buffer, n, NULL, label)) return false;
    for (uint32_t l = 0; l < n; l++)
      if (label[l] != l) return false;
    any = true;
  }
  return any;
}

/* Whether two stages over the same points read the buffer in the same place. */
static bool share_reads(TaskGraph *t, const TaskStage *s, const TaskStage *other, uint32_t buffer) {
  ExprNodes reads = expr_nodes(t->arena, s->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    ExprNodes theirs = expr_nodes(t->arena, stage_read_is(s, e, buffer) ? other->sum->body : NULL, HAS_READ);
    for (const Expr *o; (o = expr_next_read(&theirs));)
      if (stage_read_is(other, o, buffer) && o->n == e->n && exprs_same(e->n, e->arg, o->arg)) return true;
  }
  return false;
}

static bool share_points(TaskGraph *t, const Task *p, const TaskStage *s, uint32_t buffer) {
  uint32_t n = s->sum->n_out + s->sum->n_red;
  vec_each(const TaskStage, other, p->stages) {
    bool same = other->sum->n_out + other->sum->n_red == n && !stage_gathers(t, s, buffer);
    for (uint32_t l = 0; same && l < n; l++) same = s->bound[l] == other->bound[l];
    if (same && share_reads(t, s, other, buffer)) return true;
  }
  return false;
}

/* Whether both read the same rows of a large buffer, so that a row is best read by both at once. */
static bool share_rows(TaskGraph *t, const Task *p, const Task *q, uint32_t n) {
  for (uint32_t i = 0; i < q->stages.len; i++)
    for (uint32_t j = 0; j < q->stages.at[i].sum->n_slot; j++) {
      TaskSlot slot = q->stages.at[i].slot[j];
      if (slot.kept || task_buffer_bytes(t, slot.index) < (double)BYTES_LEAST) continue;
      if (share_points(t, p, &q->stages.at[i], slot.index)) return true;
      if (t->buffers.at[slot.index].rank <= n) continue;
      double row = 1;
      for (uint32_t k = n; k < t->buffers.at[slot.index].rank; k++)
        row *= (double)task_size_guess(t, t->buffers.at[slot.index].dim[k]);
      bool both = row >= (double)ROW_LEAST && reads_rows_of(t, p, slot.index, n);
      if (both && reads_rows_of(t, q, slot.index, n)) return true;
    }
  return false;
}

/* Whether k makes a buffer in several stages, or changes one that it reads: what such a kernel reads may be another
 * value after its own row. */
static bool changes_rows(const Task *k) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    for (uint32_t j = 0; j < k->stages.len && k->stages.at[i].buffer >= 0; j++) {
      const TaskStage *s = &k->stages.at[j];
      if (stage_reads(s, (uint32_t)k->stages.at[i].buffer)) return true;
      if (j != i && s->buffer == k->stages.at[i].buffer) return true;
    }
  return false;
}

/* Whether the kernel's reduction may be split for threads, which it is not if it shares rows. */
static bool may_split(TaskGraph *t, const Task *k, uint32_t n) {
  if (stage_points(t, &k->stages.at[0], 0, n) >= (double)ROWS_SPLIT) return false;
  vec_each(const TaskStage, s, k->stages)
    if (stage_points(t, s, s->sum->n_out, s->sum->n_out + s->sum->n_red) >= (double)POINTS_SPLIT) return true;
  return false;
}

/* Whether q, which has n labels of rows in common with p, may go on with p's row: it reads what p makes there alone,
 * and changes nothing that p uses. */
static bool follows_in_rows(TaskGraph *t, const Task *p, const Task *q, uint32_t n) {
  bool any = false;
  if (changes_rows(p)) return false;
  vec_each(const TaskStage, s, q->stages) {
    if (s->buffer >= 0 && task_touches(t, p, (uint32_t)s->buffer)) return false;
    for (uint32_t i = 0; i < p->stages.len; i++)
      if (!reads_row(t, s, &p->stages.at[i], n, &any)) return false;
  }
  return any || (!may_split(t, p, n) && !may_split(t, q, n) && share_rows(t, p, q, n));
}

/* On a device: whether p is better done before q begins. What p makes for the caller goes to the host during q, and
 * what only q needs comes during p. */
static bool overlaps_bus(const TaskGraph *t, const Task *p, const Task *q) {
  for (uint32_t i = 0; i < p->stages.len; i++) {
    int32_t b = p->stages.at[i].buffer;
    if (b >= 0 && t->buffers.at[b].space == BUF_OUTPUT) return true;
  }
  for (uint32_t i = 0; i < q->stages.len; i++)
    for (uint32_t j = 0; j < q->stages.at[i].sum->n_slot; j++) {
      TaskSlot slot = q->stages.at[i].slot[j];
      if (slot.kept || t->buffers.at[slot.index].space != BUF_INPUT) continue;
      if (!task_reads(p, slot.index)) return true;
    }
  return false;
}

/* Whether k may be done on the other side of each task from `from` to before `to`. */
static bool may_pass(const Rows *r, const Task *k, uint32_t from, uint32_t to) {
  for (uint32_t at = from; at < to; at++)
    if (!task_may_pass(r->t, k, r->list->at[at])) return false;
  return true;
}

/* ---- one kernel ---------------------------------------------------------------------------------------- */

/* What q's stage keeps or reads of its own kernel, when `more` stages are before these. */
static TaskStage moved_down(TaskGraph *t, const TaskStage *s, uint32_t more) {
  TaskStage own = *s;
  TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, s->sum->n_slot + 1);
  for (uint32_t j = 0; j < s->sum->n_slot; j++) slot[j] = (TaskSlot){s->slot[j].kept, s->slot[j].index};
  for (uint32_t j = 0; j < s->sum->n_slot; j++)
    if (slot[j].kept) slot[j].index += more;
  own.slot = slot;
  return own;
}

static void read_inside(TaskGraph *t, TaskStage *s, const TaskStage *from, uint32_t number) {
  uint32_t axis[64];
  if (from->buffer >= 0 && stage_axes(from, axis)) stage_read_kept(t, s, (uint32_t)from->buffer, number, axis);
}

/* Whether the kernel alone uses the buffer. */
static bool is_own(const TaskGraph *t, uint32_t buffer) {
  uint32_t n = 0;
  return t->buffers.at[buffer].space == BUF_WORK && task_kernels_count(t, &t->tasks, buffer, &n) && n == 1;
}

static Task *joined(TaskGraph *t, const Task *p, const Task *q, uint32_t n) {
  Task *k = arena_copy(t->arena, q, sizeof *q);
  k->n_outer = n;
  k->stages.at = NULL, k->stages.len = k->stages.cap = 0;
  for (uint32_t i = 0; i < p->stages.len; i++) vec_push(t->arena, k->stages, p->stages.at[i]);
  for (uint32_t i = 0; i < q->stages.len; i++) {
    TaskStage s = moved_down(t, &q->stages.at[i], p->stages.len);
    for (uint32_t j = 0; j < p->stages.len; j++) read_inside(t, &s, &p->stages.at[j], j);
    vec_push(t->arena, k->stages, s);
  }
  return k;
}

static void keep(TaskGraph *t, Task *k) {
  for (uint32_t i = 0; i + 1 < k->stages.len; i++) {
    TaskStage *s = &k->stages.at[i];
    bool inside = s->buffer >= 0 && task_reads_stage(k, i, i + 1, k->stages.len);
    if (inside && is_own(t, (uint32_t)s->buffer)) s->buffer = -1, s->n_at = 0;
  }
  kernel_keep_asked(t, k);
}

static bool join(Rows *r, uint32_t at, uint32_t to) {
  const Task *p = r->list->at[at], *q = r->list->at[to];
  uint32_t n = same_rows(r->t, p, q);
  if (!n || (r->device && overlaps_bus(r->t, p, q)) || !follows_in_rows(r->t, p, q, n)) return false;
  bool up = may_pass(r, q, at + 1, to);
  if (!up && !may_pass(r, p, at + 1, to)) return false;
  r->list->at[up ? at : to] = joined(r->t, p, q, n);
  for (uint32_t i = up ? to : at; i + 1 < r->list->len; i++) r->list->at[i] = r->list->at[i + 1];
  r->list->len--;
  keep(r->t, r->list->at[up ? at : to - 1]);
  return true;
}

/* ---- lists ----------------------------------------------------------------------------------------------- */

/* Joins the kernel with the latest one that it can join; returns whether there was one. */
static bool join_one(Rows *r, uint32_t to) {
  if (!may_share(r->t, r->list->at[to])) return false;
  for (uint32_t at = to; at-- > 0 && to - at <= FAR;)
    if (may_share(r->t, r->list->at[at]) && join(r, at, to)) return true;
  return false;
}

static void list_join(TaskGraph *t, Tasks *list, bool device) {
  Rows r = {t, list, device};
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind == TASK_REPEAT) list_join(t, &list->at[i]->body, device);
    if (join_one(&r, i)) i--;
  }
}

void task_rows(TaskGraph *t, bool device) {
  list_join(t, &t->tasks, device);
  task_buffers_drop(t);
}
