/* task/passes/inplace.c - states that are changed where they lie. The next value of a state goes to a second buffer, and the
 * two change places after each turn; that is needless where each element's next value hangs on no other element of
 * the state, and dear where only a slice changes, as in a key-value cache:
 *
 *     next K[u, h] = if u == t then new[h] else K[u, h]
 *
 * writes K[t, h] and nothing else. The kernel stays where it is if nobody wants the old value after it; who reads the new
 * value then finds it in the state. If nobody reads the new value in this turn, it goes to the turn's end, where all that
 * it reads must still be as it was. Slices that are made of other elements of the state, or of what is changed by then, are kept in
 * the second buffer meanwhile, and copied: two rows change places so. */
#include "task/inside.h"

#include <string.h>

typedef struct InPlace {
  TaskGraph *t;
  Task *repeat;
  uint32_t now, next;
} InPlace;

/* ---- who has to do with a buffer ------------------------------------------------------------------- */

/* Whether a task of the list, from `from` on and inside of these, has to do with the buffer. */
static bool touched(const InPlace *p, const Tasks *list, uint32_t from, uint32_t buffer) {
  for (uint32_t i = from; i < list->len; i++)
    if (task_touches(p->t, list->at[i], buffer)) return true;
  return false;
}

/* ---- copies ----------------------------------------------------------------------------------------------- */

typedef struct Copies {
  TaskGraph *t;
  uint32_t *to;              /* by buffer: what it is now; itself: no other */
  Task **maker;              /* by buffer: a kernel of this list that makes it; NULL: none does */
  uint32_t *writers, *readers; /* by buffer: in this list and inside of it, how often it is changed, and read */
  bool *fixed;               /* by buffer: a state, or what a copy was put into; or a C function is given it, which keeps what it is given apart */
} Copies;

static bool copy_drop(Copies *c, Task *k) {
  const TaskStage *s = kernel_copies(k);
  if (!s) return false;
  uint32_t from = c->to[s->slot[0].index], to = (uint32_t)s->buffer;
  Task *p = c->maker[from];
  const TaskBuffer *a = &c->t->buffers.at[from], *b = &c->t->buffers.at[to];
  if (!p || p->unless != k->unless || c->fixed[from] || a->space != BUF_WORK || b->space != BUF_WORK || c->maker[to] != k) return false;
  if (!buffers_alike(a, b) || vec_last(p->stages).buffer != (int32_t)from || c->writers[from] != 1) return false;
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
    if (!task_has_stages(k)) k->buffer = c->to[k->buffer];
    if (k->kind == TASK_MOVE) k->from = c->to[k->from];
    if (task_moves_places(k)) k->place_from = c->to[k->place_from], k->place_to = c->to[k->place_to];
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
  if (k->kind == TASK_ZERO || k->kind == TASK_MOVE) c->writers[k->buffer]++;
  else if (!task_has_stages(k)) c->readers[k->buffer]++;
  if (k->kind == TASK_MOVE) c->readers[k->from]++;
  if (task_moves_places(k)) c->readers[k->place_from]++, c->writers[k->place_to]++;
  if (k->turns >= 0) c->writers[k->turns]++;
  if (k->stop >= 0) c->readers[k->stop]++;
  for (uint32_t j = 0; j < k->exchange.len; j++) c->writers[k->exchange.at[j].now]++, c->writers[k->exchange.at[j].next]++;
  for (uint32_t j = 0; j < k->stages.len; j++) {
    const TaskStage *s = &k->stages.at[j];
    if (s->buffer >= 0) c->writers[s->buffer]++;
    for (uint32_t m = 0; m < s->sum->n_slot; m++) {
      if (s->slot[m].kept) continue;
      c->readers[s->slot[m].index]++;
      c->fixed[s->slot[m].index] |= s->sum->by != NULL;
    }
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
static bool changed_by(const InPlace *p, const Tasks *list, uint32_t from, const TaskStage *s) {
  for (uint32_t i = from; i < list->len; i++)
    for (uint32_t k = 0; k < s->sum->n_slot; k++)
      if (!s->slot[k].kept && task_writes(p->t, list->at[i], s->slot[k].index)) return true;
  return false;
}

/* ---- what had better not be ----------------------------------------------------------------------------------- */

static uint32_t touching(const TaskGraph *t, const Tasks *list, uint32_t buffer) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->len; i++) n += task_touches(t, list->at[i], buffer);
  return n;
}

/* It is the state's block and what lies beside it, of other sites: readers that do not change the block need no copy of it. */
static bool is_brought(InPlace *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->repeat->body.len; i++) {
    Task *k = p->repeat->body.at[i];
    if (k->kind == TASK_MOVE && k->buffer == buffer && k->from == p->now && move_brings_neighbours(p->t, k)) return true;
  }
  return false;
}

/* Other elements of the state than the one that it makes, or makes something for. */
static bool reads_others(InPlace *p, const TaskStage *s) {
  bool brought = false;
  for (uint32_t m = 0; m < s->sum->n_slot; m++) brought |= !s->slot[m].kept && s->slot[m].index != p->now && is_brought(p, s->slot[m].index);
  return brought || !reads_itself_only(p, s);
}

/* A map that looks at other elements of the state, and is made for the next value alone, element by element: that may compute it as it goes, into the second
 * buffer. In place it would have to be there as a whole before, and takes as much memory. */
static bool is_made_along(InPlace *p, const TaskStage *s, uint32_t buffer) {
  const Tasks *body = &p->repeat->body;
  uint32_t rank = s->sum->n_out, *label = NEW_ARRAY(p->t->arena, uint32_t, rank + 1);
  const TaskBuffer *b = &p->t->buffers.at[buffer];
  if (b->space != BUF_WORK || b->rank != rank || !rank || touching(p->t, body, buffer) != 2 || touching(p->t, &p->t->tasks, buffer) > 1) return false;
  if (!stage_reads_at_labels(p->t, s, buffer, rank, NULL, label)) return false;
  for (uint32_t k = 0; k < rank; k++)
    if (label[k] != k) return false;
  for (uint32_t i = 0; i < body->len; i++) {
    const Task *k = body->at[i];
    const TaskStage *from = k->kind == TASK_KERNEL && k->stages.len == 1 ? &k->stages.at[0] : NULL;
    if (!from || from->buffer != (int32_t)buffer) continue;
    return from->sum->reducer == RED_NONE && !from->sum->domain && stage_is_plain(from) && reads_others(p, from);
  }
  return false;
}

static bool goes_along(InPlace *p, const TaskStage *s) {
  for (uint32_t m = 0; m < s->sum->n_slot; m++)
    if (!s->slot[m].kept && s->slot[m].index != p->now && (is_made_along(p, s, s->slot[m].index) || is_brought(p, s->slot[m].index))) return true;
  return false;
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
    if (!task_has_stages(k) && k->buffer == was) k->buffer = now;
    if (k->kind == TASK_MOVE && k->from == was) k->from = now;
    if (task_moves_places(k) && k->place_from == was) k->place_from = now;
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

static void put_at(TaskGraph *t, Tasks *list, uint32_t position, Task *k) {
  vec_push(t->arena, *list, k);
  for (uint32_t i = list->len - 1; i > position; i--) list->at[i] = list->at[i - 1];
  list->at[position] = k;
}

static void take_out(Tasks *list, uint32_t position) {
  for (uint32_t i = position; i + 1 < list->len; i++) list->at[i] = list->at[i + 1];
  list->len--;
}

/* A kernel like k, of one stage. */
static Task *kernel_like(TaskGraph *t, const Task *k, TaskStage s) {
  Task *made = arena_copy(t->arena, k, sizeof *k);
  memset(&made->stages, 0, sizeof made->stages);
  vec_push(t->arena, made->stages, s);
  return made;
}

/* What s stores, copied from one buffer to another. */
static TaskStage copy_of(TaskGraph *t, const TaskStage *s, uint32_t from, uint32_t to) {
  TaskStage copy = *s;
  EinSum sum = *s->sum;
  TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, sum.n_slot + 1);
  for (uint32_t m = 0; m < sum.n_slot; m++) slot[m] = s->slot[m];
  slot[sum.n_slot] = (TaskSlot){false, from};
  sum.body = expr_read(t->exprs, (DType)sum.dtype, sum.n_slot, s->n_at, s->at);
  copy.buffer = (int32_t)to;
  stage_canonical(t, &copy, &sum, slot, sum.n_slot + 1);
  return copy;
}

/* What decides which slices there are is still as it was when one of them is stored. */
static bool decided_apart(InPlace *p, uint32_t n, const TaskStage *slice) {
  for (uint32_t i = 0; n > 1 && i < n; i++) {
    TaskStage copy = copy_of(p->t, &slice[i], p->next, p->now);
    if (stage_reads(&copy, p->now)) return false;
  }
  return true;
}

/* Slices are made where they belong. */
static void change_there(InPlace *p, uint32_t position, bool last, uint32_t n, TaskStage *slice) {
  Tasks *body = &p->repeat->body;
  Task *k = body->at[position];
  rename(p->t, body, position + 1, p->next, p->now);
  take_out(body, position);
  if (last) position = body->len;
  for (uint32_t i = 0; i < n; i++) {
    slice[i].buffer = (int32_t)p->now;
    put_at(p->t, body, position + i, kernel_like(p->t, k, slice[i]));
  }
}

/* Slices go to the buffer for the next value, and from there to where they belong: they may be made of what is there. */
static bool change_by_copies(InPlace *p, uint32_t position, bool last, uint32_t n, const TaskStage *slice) {
  Tasks *body = &p->repeat->body;
  Task *k = body->at[position];
  TaskStage copy[SLICES_MOST];
  for (uint32_t i = 0; i < n; i++) {
    copy[i] = copy_of(p->t, &slice[i], p->next, p->now);
    if (stage_reads(&copy[i], p->now) || (last && changed_by(p, body, position + 1, &copy[i]))) return false;
  }
  rename(p->t, body, position + 1, p->next, p->now);
  take_out(body, position);
  for (uint32_t i = 0; i < n; i++) put_at(p->t, body, position + i, kernel_like(p->t, k, slice[i]));
  uint32_t to = last ? body->len : position + n;
  for (uint32_t i = 0; i < n; i++) put_at(p->t, body, to + i, kernel_like(p->t, k, copy[i]));
  return true;
}

static bool try_state(InPlace *p) {
  uint32_t position = 0;
  Task *k = maker_of(p, &position);
  const Tasks *body = &p->repeat->body;
  if (!k || p->repeat->stop == (int32_t)p->now) return false;
  TaskStage slice[SLICES_MOST], *s = &k->stages.at[0];
  if (s->sum->by || s->sum->reducer != RED_NONE || s->sum->domain || !stage_is_plain(s)) return false;
  if (!buffers_alike(&p->t->buffers.at[p->now], &p->t->buffers.at[p->next])) return false;
  bool old = touched(p, body, position + 1, p->now), new = touched(p, body, position + 1, p->next);
  bool stopped = p->repeat->stop == (int32_t)p->next;
  if ((old && (new || stopped)) || goes_along(p, s)) return false;
  uint32_t n = stage_slices(p->t, s, p->now, slice);
  if (!decided_apart(p, n, slice)) n = 0;
  if (reads_itself_only(p, s) && !(old && changed_by(p, body, position + 1, s))) {
    if (!n) slice[n++] = *s; /* every element of itself */
    change_there(p, position, old, n, slice);
  } else if (!n || !change_by_copies(p, position, old, n, slice)) {
    return false;
  }
  if (stopped) p->repeat->stop = (int32_t)p->now;
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
