/* task/inplace.c - states that are changed where they lie. The next value of a state goes to a second buffer, and the
 * two change places after each turn; that is needless where each element's next value hangs on no other element of
 * the state, and dear where only a slice changes, as in a key-value cache:
 *
 *     next K[u, h] = if u == t then new[h] else K[u, h]
 *
 * writes K[t, h] and nothing else. The kernel stays where it is if nobody wants the old value after it; who reads the new
 * value then finds it in the state. If nobody reads the new value in this turn, it goes to the turn's end, where all that
 * it reads must still be as it was. */
#include "inside.h"

typedef struct InPlace {
  TaskGraph *t;
  Task *repeat;
  uint32_t now, next;
} InPlace;

/* ---- who has to do with a buffer ------------------------------------------------------------------- */

/* How many tasks of the list, from `from` on and inside of these, have to do with the buffer. */
static uint32_t touches(const Tasks *list, uint32_t from, uint32_t buffer) {
  uint32_t n = 0;
  for (uint32_t i = from; i < list->len; i++) {
    const Task *k = list->at[i];
    bool here = k->kind != TASK_KERNEL && k->buffer == buffer;
    for (uint32_t j = 0; j < k->stages.len; j++)
      here |= k->stages.at[j].buffer == (int32_t)buffer || stage_reads(&k->stages.at[j], buffer);
    here |= k->stop == (int32_t)buffer || k->turns == (int32_t)buffer;
    for (uint32_t j = 0; j < k->exchange.len; j++) here |= k->exchange.at[j].now == buffer || k->exchange.at[j].next == buffer;
    n += here + touches(&k->body, 0, buffer);
  }
  return n;
}

/* ---- copies ----------------------------------------------------------------------------------------------- */

typedef struct Copies {
  TaskGraph *t;
  uint32_t *to;              /* by buffer: what it is now; itself: no other */
  Task **maker;              /* by buffer: a kernel of this list that makes it; NULL: none does */
  uint32_t *writers, *readers; /* by buffer: in this list and inside of it, how often it is changed, and read */
  bool *fixed;               /* by buffer: a state, or what a copy was put into */
} Copies;

static const TaskStage *copy_find(const Task *k) {
  const TaskStage *s = k->stages.len == 1 ? &k->stages.at[0] : NULL;
  if (!s || s->sum->reducer != RED_NONE || s->sum->domain || s->sum->acc != s->sum->dtype || !stage_is_plain(s)) return NULL;
  const Expr *e = s->sum->body;
  if (e->kind != EX_READ || e->n != s->sum->n_out || s->slot[e->i].kept) return NULL;
  for (uint32_t i = 0; i < e->n; i++)
    if (e->arg[i]->kind != EX_LABEL || e->arg[i]->i != i) return NULL;
  return s;
}

/* A copy may leave out what lies behind its own extents: then there is more in one than the other holds. */
static bool same_shape(const TaskBuffer *a, const TaskBuffer *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dim[k] != b->dim[k]) return false;
  return true;
}

static bool copy_drop(Copies *c, Task *k) {
  const TaskStage *s = copy_find(k);
  if (!s) return false;
  uint32_t from = c->to[s->slot[0].index], to = (uint32_t)s->buffer;
  Task *p = c->maker[from];
  const TaskBuffer *a = &c->t->buffers.at[from], *b = &c->t->buffers.at[to];
  if (!p || p->unless != k->unless || c->fixed[from] || a->space != BUF_WORK || b->space != BUF_WORK || c->maker[to] != k) return false;
  if (!same_shape(a, b) || vec_last(p->stages).buffer != (int32_t)from || c->writers[from] != 1) return false;
  if (c->writers[to] != 1 && c->readers[from] != 1) return false; /* a loop inside changes it, as a state of its own */
  vec_last(p->stages).buffer = (int32_t)to;
  c->to[from] = to;
  c->maker[to] = p;
  c->fixed[to] = true;
  return true;
}

static void rename_all(const Copies *c, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    Task *k = list->at[i];
    if (k->kind != TASK_KERNEL) k->buffer = c->to[k->buffer];
    if (k->stop >= 0) k->stop = (int32_t)c->to[k->stop];
    for (uint32_t j = 0; j < k->stages.len; j++) {
      TaskStage *s = &k->stages.at[j];
      EinSum sum = *s->sum;
      TaskSlot *slot = NEW_ARRAY(c->t->arena, TaskSlot, sum.n_slot + 1);
      bool changed = false;
      for (uint32_t m = 0; m < sum.n_slot; m++) {
        slot[m] = s->slot[m];
        if (!slot[m].kept) slot[m].index = c->to[slot[m].index];
        changed |= slot[m].index != s->slot[m].index;
      }
      if (changed) stage_canonical(c->t, s, &sum, slot, sum.n_slot);
    }
    rename_all(c, &k->body);
  }
}

static void uses_count(const Copies *c, const Task *k) {
  if (k->kind == TASK_ZERO) c->writers[k->buffer]++;
  else if (k->kind != TASK_KERNEL) c->readers[k->buffer]++;
  if (k->turns >= 0) c->writers[k->turns]++;
  if (k->stop >= 0) c->readers[k->stop]++;
  for (uint32_t j = 0; j < k->exchange.len; j++) c->writers[k->exchange.at[j].now]++, c->writers[k->exchange.at[j].next]++;
  for (uint32_t j = 0; j < k->stages.len; j++) {
    const TaskStage *s = &k->stages.at[j];
    if (s->buffer >= 0) c->writers[s->buffer]++;
    for (uint32_t m = 0; m < s->sum->n_slot; m++)
      if (!s->slot[m].kept) c->readers[s->slot[m].index]++;
  }
  for (uint32_t i = 0; i < k->body.len; i++) uses_count(c, k->body.at[i]);
}

/* A kernel that only copies what another one of its turn has made goes: that one makes the copy. */
static void copies_drop(TaskGraph *t, Task *repeat) {
  uint32_t n = t->buffers.len, kept = 0;
  Copies c = {t, NEW_ARRAY(t->arena, uint32_t, n + 1), NEW_ARRAY(t->arena, Task *, n + 1), NEW_ARRAY(t->arena, uint32_t, n + 1),
              NEW_ARRAY(t->arena, uint32_t, n + 1), NEW_ARRAY(t->arena, bool, n + 1)};
  Tasks *list = &repeat->body;
  bool any = false;
  if (repeat->stop >= 0) c.readers[repeat->stop]++;
  for (uint32_t i = 0; i < list->len; i++) uses_count(&c, list->at[i]);
  for (uint32_t b = 0; b < n; b++) c.to[b] = b;
  for (uint32_t i = 0; i < list->len; i++)
    for (uint32_t j = 0; j < list->at[i]->stages.len; j++)
      if (list->at[i]->stages.at[j].buffer >= 0) c.maker[list->at[i]->stages.at[j].buffer] = list->at[i];
  for (uint32_t i = 0; i < repeat->exchange.len; i++) {
    c.fixed[repeat->exchange.at[i].now] = c.fixed[repeat->exchange.at[i].next] = true;
    c.maker[repeat->exchange.at[i].now] = NULL;
  }
  for (uint32_t i = 0; i < list->len; i++) {
    if (copy_drop(&c, list->at[i])) any = true;
    else list->at[kept++] = list->at[i];
  }
  list->len = kept;
  if (!any) return;
  rename_all(&c, list);
  if (repeat->stop >= 0) repeat->stop = (int32_t)c.to[repeat->stop];
}

/* ---- what may be done in place ------------------------------------------------------------------------ */

/* All reads of the state stand at the labels as they are: each element is made of itself. */
static bool reads_itself_only(InPlace *p, const TaskStage *s) {
  uint32_t rank = s->sum->n_out, *label = NEW_ARRAY(p->t->arena, uint32_t, rank + 1);
  if (!stage_reads(s, p->now)) return true;
  if (!stage_reads_at_labels(p->t, s, p->now, rank, NULL, label)) return false;
  for (uint32_t k = 0; k < rank; k++)
    if (label[k] != k) return false;
  return true;
}

/* Whether a task of the list, from `from` on and inside of these, writes what the stage reads. */
static bool changed_by(const Tasks *list, uint32_t from, const TaskStage *s) {
  for (uint32_t i = from; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_ZERO && stage_reads(s, k->buffer)) return true;
    if (k->turns >= 0 && stage_reads(s, (uint32_t)k->turns)) return true;
    for (uint32_t j = 0; j < k->stages.len; j++)
      if (k->stages.at[j].buffer >= 0 && stage_reads(s, (uint32_t)k->stages.at[j].buffer)) return true;
    for (uint32_t j = 0; j < k->exchange.len; j++)
      if (stage_reads(s, k->exchange.at[j].now) || stage_reads(s, k->exchange.at[j].next)) return true;
    if (changed_by(&k->body, 0, s)) return true;
  }
  return false;
}

/* ---- slices --------------------------------------------------------------------------------------------- */

static bool is_state(const InPlace *p, const TaskStage *s, const Expr *e) {
  if (e->kind != EX_READ || s->slot[e->i].index != p->now) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || e->arg[k]->i != k) return false;
  return true;
}

static const Expr *pinned_to(const Expr *e, const Expr *label) {
  const Expr *a = e->arg[0], *b = e->arg[1];
  if (e->op != OP_EQ || a->dtype != DT_I64) return NULL;
  const Expr *to = a == label ? b : b == label ? a : NULL;
  return to && !(to->has & (HAS_LABEL | HAS_READ)) ? to : NULL;
}

/* A conjunct `label == to`, where turns and sizes decide `to`: gives `to`, and what is left of the condition in *rest (NULL: nothing). */
static const Expr *pin_find(Exprs *x, const Expr *cond, const Expr *label, const Expr **rest) {
  *rest = NULL;
  if (cond->kind != EX_OP) return NULL;
  if (cond->op != OP_AND) return pinned_to(cond, label);
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *inside, *to = pin_find(x, cond->arg[k], label, &inside);
    if (!to) continue;
    *rest = k ? expr_and(x, cond->arg[0], inside) : expr_and(x, inside, cond->arg[1]);
    return to;
  }
  return NULL;
}

/* The stage over one label less: label k is `to`. */
static void slice_make(InPlace *p, TaskStage *s, uint32_t k, const Expr *to, const Expr *rest, const Expr *value) {
  Exprs *x = p->t->exprs;
  EinSum sum = *s->sum;
  uint32_t n = sum.n_out;
  const Expr **label = NEW_ARRAY(p->t->arena, const Expr *, n + 1), **bound = NEW_ARRAY(p->t->arena, const Expr *, n + 1);
  Str *name = NEW_ARRAY(p->t->arena, Str, n + 1);
  const Expr **at = NEW_ARRAY(p->t->arena, const Expr *, n + 1);
  for (uint32_t l = 0, m = 0; l < n; l++) {
    label[l] = l == k ? to : expr_label(x, m);
    if (l != k) bound[m] = s->bound[l], name[m++] = s->label[l];
    at[l] = label[l];
  }
  const Expr *low = expr_op2(x, OP_LE, expr_int(x, DT_I64, 0), to), *high = expr_op2(x, OP_LT, to, s->bound[k]);
  sum.domain = expr_and(x, low, high);
  if (rest) sum.domain = expr_and(x, sum.domain, expr_relabel(x, rest, n, label));
  sum.body = expr_relabel(x, value, n, label);
  sum.n_out = n - 1;
  s->bound = bound;
  s->label = name;
  s->at = at;
  stage_canonical(p->t, s, &sum, s->slot, sum.n_slot);
}

/* A conjunct `label == to`, where data decide it too. */
static bool pins_label(const Expr *cond) {
  if (cond->kind != EX_OP || cond->n != 2) return false;
  if (cond->op == OP_AND) return pins_label(cond->arg[0]) || pins_label(cond->arg[1]);
  const Expr *a = cond->arg[0], *b = cond->arg[1];
  if (cond->op != OP_EQ || a->dtype != DT_I64) return false;
  return (a->kind == EX_LABEL && !(b->has & HAS_LABEL)) || (b->kind == EX_LABEL && !(a->has & HAS_LABEL));
}

/* The stage where the condition holds alone, of which loops know. */
static void part_make(InPlace *p, TaskStage *s, const Expr *cond, const Expr *value) {
  EinSum sum = *s->sum;
  sum.domain = cond;
  sum.body = value;
  stage_canonical(p->t, s, &sum, s->slot, sum.n_slot);
}

/* `if u == t and rest then value else state`, and no more than that is written; else the whole state is. */
static void slice_find(InPlace *p, TaskStage *s) {
  const Expr *e = s->sum->body, *rest;
  if (e->kind != EX_OP || e->op != OP_SELECT || s->sum->acc != s->sum->dtype || !is_state(p, s, e->arg[2])) return;
  for (uint32_t k = 0; k < s->sum->n_out; k++) {
    const Expr *to = pin_find(p->t->exprs, e->arg[0], expr_label(p->t->exprs, k), &rest);
    if (!to) continue;
    slice_make(p, s, k, to, rest, e->arg[1]);
    return;
  }
  if (pins_label(e->arg[0])) part_make(p, s, e->arg[0], e->arg[1]);
}

/* ---- one state -------------------------------------------------------------------------------------------- */

static Task *maker_of(InPlace *p, uint32_t *position) {
  Task *k = NULL;
  for (uint32_t i = 0; i < p->repeat->body.len; i++) {
    Task *x = p->repeat->body.at[i];
    if (x->kind != TASK_KERNEL || x->stages.len != 1 || x->stages.at[0].buffer != (int32_t)p->next) continue;
    k = x;
    *position = i;
  }
  return k;
}

/* From task `from` on, what read the buffer for the next value reads the state. */
static void rename(TaskGraph *t, Tasks *list, uint32_t from, uint32_t was, uint32_t now) {
  for (uint32_t i = from; i < list->len; i++) {
    Task *k = list->at[i];
    if (k->kind != TASK_KERNEL && k->buffer == was) k->buffer = now;
    if (k->stop == (int32_t)was) k->stop = (int32_t)now;
    for (uint32_t j = 0; j < k->stages.len; j++) {
      TaskStage *s = &k->stages.at[j];
      if (!stage_reads(s, was)) continue;
      EinSum sum = *s->sum;
      TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, sum.n_slot + 1);
      for (uint32_t m = 0; m < sum.n_slot; m++) {
        slot[m] = s->slot[m];
        if (!slot[m].kept && slot[m].index == was) slot[m].index = now;
      }
      stage_canonical(t, s, &sum, slot, sum.n_slot);
    }
    rename(t, &k->body, 0, was, now);
  }
}

static void to_the_end(Tasks *body, uint32_t position) {
  Task *k = body->at[position];
  for (uint32_t i = position; i + 1 < body->len; i++) body->at[i] = body->at[i + 1];
  vec_last(*body) = k;
}

static bool try_state(InPlace *p) {
  uint32_t position = 0;
  Task *k = maker_of(p, &position);
  Tasks *body = &p->repeat->body;
  if (!k || p->repeat->stop == (int32_t)p->now) return false;
  TaskStage *s = &k->stages.at[0];
  if (s->sum->reducer != RED_NONE || s->sum->domain || !stage_is_plain(s) || !reads_itself_only(p, s)) return false;
  bool old = touches(body, position + 1, p->now) > 0, new = touches(body, position + 1, p->next) > 0;
  bool stopped = p->repeat->stop == (int32_t)p->next;
  if (old && (new || stopped || changed_by(body, position + 1, s))) return false;
  slice_find(p, s); /* a slice if it is one, else every element of itself */
  s->buffer = (int32_t)p->now;
  rename(p->t, body, position + 1, p->next, p->now);
  if (stopped) p->repeat->stop = (int32_t)p->now;
  if (old) to_the_end(body, position);
  return true;
}

static void repeat_change(TaskGraph *t, Task *repeat) {
  InPlace p = {.t = t, .repeat = repeat};
  uint32_t n = 0;
  for (uint32_t i = 0; i < repeat->exchange.len; i++) {
    TaskExchange x = repeat->exchange.at[i];
    p.now = x.now;
    p.next = x.next;
    if (!try_state(&p)) repeat->exchange.at[n++] = x;
  }
  repeat->exchange.len = n;
}

static void list_change(TaskGraph *t, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind != TASK_REPEAT) continue;
    list_change(t, &list->at[i]->body);
    copies_drop(t, list->at[i]);
    repeat_change(t, list->at[i]);
  }
}

void task_in_place(TaskGraph *t) { list_change(t, &t->tasks); }
