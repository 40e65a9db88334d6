/* task/passes/inplace.c - updates states in place. The next value of a state goes to a second buffer, and the two
 * are exchanged after each turn. This is unnecessary where each element's next value depends on no other element of
 * the state, and expensive where only a slice changes, as in a key-value cache:
 *
 *     next K[u, h] = if u == t then new[h] else K[u, h]
 *
 * writes K[t, h] and nothing else. The kernel stays where it is if nobody needs the old value after it; readers of
 * the new value then find it in the state. If nobody reads the new value in this turn, the kernel moves to the end
 * of the turn, where its operands must still be unchanged. Slices that depend on what others store are computed before
 * these; where that is impossible, or their operands change by then, they are kept in the second buffer meanwhile, and
 * copied: this exchanges two rows. */
#include "task/inside.h"

#include <string.h>

typedef struct InPlace {
  TaskGraph *t;
  Task *repeat;
  uint32_t now, next;
} InPlace;

/* ---- users of a buffer ----------------------------------------------------------------------------- */

/* Whether a task of the list, from `from` on, or a task inside these, uses the buffer. */
static bool touched(const InPlace *p, const Tasks *list, uint32_t from, uint32_t buffer) {
  for (uint32_t i = from; i < list->len; i++)
    if (task_touches(p->t, list->at[i], buffer)) return true;
  return false;
}

/* ---- copies ----------------------------------------------------------------------------------------------- */

typedef struct Copies {
  TaskGraph *t;
  uint32_t *to;              /* by buffer: its replacement; itself: none */
  Task **maker;              /* by buffer: a kernel of this list that writes it; NULL: none does */
  uint32_t *writers, *readers; /* by buffer: in this list and inside it, the number of writers and of readers */
  bool *fixed;               /* by buffer: a state, or the target of a copy; or an operand of a C function, whose
                              * operands must be distinct */
} Copies;

static bool copy_drop(Copies *c, Task *k) {
  const TaskStage *s = kernel_copies(k);
  if (!s) return false;
  uint32_t from = c->to[s->slot[0].index], to = (uint32_t)s->buffer;
  Task *p = c->maker[from];
  const TaskBuffer *a = &c->t->buffers.at[from], *b = &c->t->buffers.at[to];
  if (!p || p->unless != k->unless || c->fixed[from] || a->space != BUF_WORK || b->space != BUF_WORK ||
      c->maker[to] != k)
    return false;
  if (!buffers_alike(a, b) || vec_last(p->stages).buffer != (int32_t)from || c->writers[from] != 1) return false;
  if (c->writers[to] != 1 && c->readers[from] != 1) return false; /* an inner loop changes it, as a state of its own */
  vec_last(p->stages).buffer = (int32_t)to;
  c->to[from] = to;
  c->maker[to] = p;
  c->fixed[to] = true;
  return true;
}

static void rename_all(const Copies *c, Tasks *list) {
  vec_each_of(Task, k, *list) {
    if (!task_has_stages(k)) k->buffer = c->to[k->buffer];
    if (k->kind == TASK_MOVE) k->from = c->to[k->from];
    if (task_moves_places(k)) k->place_from = c->to[k->place_from], k->place_to = c->to[k->place_to];
    if (k->stop >= 0) k->stop = (int32_t)c->to[k->stop];
    vec_each(TaskStage, s, k->stages) {
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

static void use_count(void *env, uint32_t *buffer, bool write) {
  const Copies *c = env;
  (write ? c->writers : c->readers)[*buffer]++;
}

static void uses_count(Copies *c, Task *k) {
  task_uses(k, use_count, c);
  vec_each(const TaskStage, s, k->stages)
    for (uint32_t m = 0; s->sum->by && m < s->sum->n_slot; m++)
      if (!s->slot[m].kept) c->fixed[s->slot[m].index] = true;
  for (uint32_t i = 0; i < k->body.len; i++) uses_count(c, k->body.at[i]);
}

/* Drops a kernel that only copies what another kernel of its turn made: that one writes the copy directly. */
static void copies_drop(TaskGraph *t, Task *repeat) {
  uint32_t n = t->buffers.len, kept = 0;
  Copies c = {t, NEW_ARRAY(t->arena, uint32_t, n + 1), NEW_ARRAY(t->arena, Task *, n + 1),
      NEW_ARRAY(t->arena, uint32_t, n + 1), NEW_ARRAY(t->arena, uint32_t, n + 1), NEW_ARRAY(t->arena, bool, n + 1)};
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

/* ---- states that may be updated in place -------------------------------------------------------------- */

/* Whether all reads of the state are at the labels themselves: each element is computed from itself. */
static bool reads_itself_only(InPlace *p, const TaskStage *s) {
  uint32_t rank = s->sum->n_out, *label = NEW_ARRAY(p->t->arena, uint32_t, rank + 1);
  if (!stage_reads(s, p->now)) return true;
  if (!stage_reads_at_labels(p->t, s, p->now, rank, NULL, label)) return false;
  for (uint32_t k = 0; k < rank; k++)
    if (label[k] != k) return false;
  return true;
}

/* Whether a task of the list, from `from` on, or a task inside these, writes an operand of the stage. */
static bool changed_by(const InPlace *p, const Tasks *list, uint32_t from, const TaskStage *s) {
  for (uint32_t i = from; i < list->len; i++)
    for (uint32_t k = 0; k < s->sum->n_slot; k++)
      if (!s->slot[k].kept && task_writes(p->t, list->at[i], s->slot[k].index)) return true;
  return false;
}

/* ---- states better not updated in place ----------------------------------------------------------------------- */

static uint32_t touching(const TaskGraph *t, const Tasks *list, uint32_t buffer) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->len; i++) n += task_touches(t, list->at[i], buffer);
  return n;
}

/* Whether it is the state's block with what borders it, from other sites: readers that do not change the block need
 * no copy of it. */
static bool is_brought(InPlace *p, uint32_t buffer) {
  vec_each_of(Task, k, p->repeat->body) {
    if (k->kind == TASK_MOVE && k->buffer == buffer && k->from == p->now && move_brings_neighbours(p->t, k))
      return true;
  }
  return false;
}

/* Whether it reads elements of the state other than the one that it computes, or computes something for. */
static bool reads_others(InPlace *p, const TaskStage *s) {
  bool brought = false;
  for (uint32_t m = 0; m < s->sum->n_slot; m++)
    brought |= !s->slot[m].kept && s->slot[m].index != p->now && is_brought(p, s->slot[m].index);
  return brought || !reads_itself_only(p, s);
}

/* Whether a map reads other elements of the state, and is used only by the next value, element by element: the next
 * value may then compute it on the fly, into the second buffer. In place it would have to be computed as a whole
 * before, and take as much memory. */
static bool is_made_along(InPlace *p, const TaskStage *s, uint32_t buffer) {
  const Tasks *body = &p->repeat->body;
  uint32_t rank = s->sum->n_out, *label = NEW_ARRAY(p->t->arena, uint32_t, rank + 1);
  const TaskBuffer *b = &p->t->buffers.at[buffer];
  if (b->space != BUF_WORK || b->rank != rank || !rank || touching(p->t, body, buffer) != 2 ||
      touching(p->t, &p->t->tasks, buffer) > 1)
    return false;
  if (!stage_reads_at_labels(p->t, s, buffer, rank, NULL, label)) return false;
  for (uint32_t k = 0; k < rank; k++)
    if (label[k] != k) return false;
  vec_each_of(const Task, k, *body) {
    const TaskStage *from = k->kind == TASK_KERNEL && k->stages.len == 1 ? &k->stages.at[0] : NULL;
    if (!from || from->buffer != (int32_t)buffer) continue;
    return from->sum->reducer == RED_NONE && !from->sum->domain && stage_is_plain(from) && reads_others(p, from);
  }
  return false;
}

static bool goes_along(InPlace *p, const TaskStage *s) {
  for (uint32_t m = 0; m < s->sum->n_slot; m++)
    if (!s->slot[m].kept && s->slot[m].index != p->now &&
        (is_made_along(p, s, s->slot[m].index) || is_brought(p, s->slot[m].index)))
      return true;
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

/* From task `from` on, readers of the next value's buffer read the state instead. */
static void rename(TaskGraph *t, Tasks *list, uint32_t from, uint32_t was, uint32_t now) {
  for (uint32_t i = from; i < list->len; i++) {
    Task *k = list->at[i];
    if (!task_has_stages(k) && k->buffer == was) k->buffer = now;
    if (k->kind == TASK_MOVE && k->from == was) k->from = now;
    if (task_moves_places(k) && k->place_from == was) k->place_from = now;
    if (k->stop == (int32_t)was) k->stop = (int32_t)now;
    vec_each(TaskStage, s, k->stages) {
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

/* A kernel like k, with one stage. */
static Task *kernel_like(TaskGraph *t, const Task *k, TaskStage s) {
  Task *made = arena_copy(t->arena, k, sizeof *k);
  memset(&made->stages, 0, sizeof made->stages);
  vec_push(t->arena, made->stages, s);
  return made;
}

/* A copy from one buffer to another of what s stores. */
static TaskStage copy_of(TaskGraph *t, const TaskStage *s, uint32_t from, uint32_t to) {
  TaskStage copy = *s;
  EinSum sum = *s->sum;
  TaskSlot *slot = COPY_ARRAY(t->arena, TaskSlot, s->slot, sum.n_slot, sum.n_slot + 1);
  slot[sum.n_slot] = (TaskSlot){false, from};
  sum.body = expr_read(t->exprs, (DType)sum.dtype, sum.n_slot, s->n_at, s->at);
  copy.buffer = (int32_t)to;
  stage_canonical(t, &copy, &sum, slot, sum.n_slot + 1);
  return copy;
}

/* Whether what decides which slices exist is unchanged when one of them is stored. */
static bool decided_apart(InPlace *p, uint32_t n, const TaskStage *slice) {
  for (uint32_t i = 0; n > 1 && i < n; i++) {
    TaskStage copy = copy_of(p->t, &slice[i], p->next, p->now);
    if (stage_reads(&copy, p->now)) return false;
  }
  return true;
}

/* What becomes of the slices: each is computed where it belongs, or aside, in the next value's buffer, and copied. */
typedef struct Change {
  uint32_t n, n_aside;
  TaskStage there[SLICES_MOST], aside[SLICES_MOST], copy[SLICES_MOST];
} Change;

/* Whether no slice that is left, itself included, reads what this one stores. */
static bool is_free(InPlace *p, uint32_t n, const TaskStage *slice, const bool *left, uint32_t k) {
  for (uint32_t i = 0; i < n; i++)
    if (left[i] && !stage_reads_apart(p->t->arena, p->t->exprs, &slice[k], &slice[i], p->now)) return false;
  return true;
}

/* Orders the slices so that none reads what one before it has stored. What has no place in such an order goes aside,
 * computed before all others, and copied after them; only small parts are worth a copy. there: operands are unchanged
 * when slices are computed where they belong. */
static bool change_choose(
    InPlace *p, uint32_t n, const TaskStage *slice, const bool *small, bool there, Change *c) {
  bool left[SLICES_MOST] = {false};
  *c = (Change){0};
  for (uint32_t i = 0; i < n; i++) left[i] = true;
  for (uint32_t done = 0; done < n; done++) {
    uint32_t k = 0, aside = n;
    while (k < n && !(there && left[k] && is_free(p, n, slice, left, k))) k++;
    for (uint32_t i = n; i-- > 0;)
      if (left[i] && small[i]) aside = i;
    if (k < n) {
      c->there[c->n++] = slice[k];
    } else {
      if (aside == n) return false;
      k = aside;
      c->copy[c->n_aside] = copy_of(p->t, &slice[k], p->next, p->now);
      if (stage_reads(&c->copy[c->n_aside], p->now)) return false;
      c->aside[c->n_aside++] = slice[k];
    }
    left[k] = false;
  }
  return true;
}

/* Puts the slices in place of task `position`; with `last`, what they store at the end of the turn. */
static bool change_make(InPlace *p, uint32_t position, bool last, Change *c) {
  Tasks *body = &p->repeat->body;
  Task *k = body->at[position];
  for (uint32_t i = 0; i < c->n_aside; i++)
    if (last && changed_by(p, body, position + 1, &c->copy[i])) return false;
  rename(p->t, body, position + 1, p->next, p->now);
  take_out(body, position);
  for (uint32_t i = 0; i < c->n_aside; i++) put_at(p->t, body, position++, kernel_like(p->t, k, c->aside[i]));
  if (last) position = body->len;
  for (uint32_t i = 0; i < c->n; i++) {
    c->there[i].buffer = (int32_t)p->now;
    put_at(p->t, body, position++, kernel_like(p->t, k, c->there[i]));
  }
  for (uint32_t i = 0; i < c->n_aside; i++) put_at(p->t, body, position++, kernel_like(p->t, k, c->copy[i]));
  return true;
}

static bool try_state(InPlace *p) {
  uint32_t position = 0;
  Task *k = maker_of(p, &position);
  const Tasks *body = &p->repeat->body;
  if (!k || p->repeat->stop == (int32_t)p->now) return false;
  TaskStage slice[SLICES_MOST], *s = &k->stages.at[0];
  if (s->sum->by || s->sum->domain || !stage_is_plain(s)) return false;
  if (s->sum->reducer != RED_NONE && stage_reads(s, p->now)) return false;
  if (!buffers_alike(&p->t->buffers.at[p->now], &p->t->buffers.at[p->next])) return false;
  bool old = touched(p, body, position + 1, p->now), new = touched(p, body, position + 1, p->next);
  bool stopped = p->repeat->stop == (int32_t)p->next;
  if ((old && (new || stopped)) || goes_along(p, s)) return false;
  bool small[SLICES_MOST] = {false}, there = !(old && changed_by(p, body, position + 1, s));
  uint32_t n = stage_slices(p->t, s, p->now, slice, small);
  if (!decided_apart(p, n, slice)) n = 0;
  if (!n && there && reads_itself_only(p, s)) slice[n++] = *s; /* every element of itself */
  Change c;
  if (!n || !change_choose(p, n, slice, small, there, &c) || !change_make(p, position, old, &c)) return false;
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
