/* task/passes/cheap.c - makes elementwise values again in the products that read them, instead of storing them. In:
 * tasks after fusion. Out: a map that only products read, at their labels, is not stored: each product makes it as it
 * copies that side into panels, from what is stored anyway.
 *
 * In training, the result of gelu lies beside its input, because both its own product and the weights' gradient read
 * it, and the input is needed for the slope. Rows that layernorm has normalised lie beside the centred ones.
 *
 * A side is copied about once, so a value is made once for each reader, instead of once in all. That must take at most
 * 1/16 of the time of the products. In bytes times tasks, the operands that have to stay for longer must take less than
 * the value did. Values are the same wherever they are made. On a mesh nothing changes, because plans predict what
 * sites store. */
#include "task/inside.h"

enum {
  BYTES_LEAST = 1 << 18,     /* of a value: less stays in the cache */
  POINTS_LEAST = 1 << 22,    /* of a product: it has panels */
  HEAVY = 64,                /* plain operations that a division, a root or an exponential takes */
  PART = 16                  /* the work of the products is at least so many times that of the values made again */
};

typedef struct Cheap {       /* a map, and who reads it */
  TaskGraph *t;
  Tasks *list;
  uint32_t from, stage;      /* the maker's position, and its stage that makes it */
  uint32_t buffer;           /* where it is stored */
  TaskStage made;            /* the stage, which reads only buffers */
  VEC(uint32_t) readers;     /* positions */
} Cheap;

static double points(TaskGraph *t, const TaskStage *s) {
  double n = 1;
  for (uint32_t k = 0; k < s->sum->n_out + s->sum->n_red; k++) n *= (double)task_size_guess(t, s->bound[k]);
  return n;
}

static double elements(const Cheap *c) {
  return task_buffer_bytes(c->t, c->buffer) / (double)dtype_size(c->t->buffers.at[c->buffer].dtype);
}

/* ---- the map ----------------------------------------------------------------------------------------------- */

/* Adds up the operations of e, each once. */
static double work_add(Map *seen, const Expr *e) {
  double n = 0;
  if (map_find(seen, e)) return 0;
  map_put(seen, e, (void *)(uintptr_t)e);
  for (uint32_t k = 0; k < e->n; k++) n += work_add(seen, e->arg[k]);
  if (e->kind == EX_OP && (e->has & ~(unsigned)HAS_DIM)) n += op_is_heavy(e->op) ? HEAVY : 1;
  return n;
}

static double work_of(const Cheap *c) {
  Map seen = map_new(c->t->arena);
  return work_add(&seen, c->made.sum->body);
}

/* Whether the stage is such a map. What it reads of its kernel must be stored. */
static bool map_find_made(Cheap *c, const Task *k) {
  TaskGraph *t = c->t;
  const TaskStage *s = &k->stages.at[c->stage];
  if (s->buffer < 0 || s->sum->reducer != RED_NONE || s->sum->domain || !s->sum->n_slot) return false;
  if (!stage_is_plain(s) || t->buffers.at[s->buffer].space != BUF_WORK) return false;
  if (stage_may_fail(t, s) || task_call(k)) return false;
  c->buffer = (uint32_t)s->buffer;
  if (task_buffer_bytes(t, c->buffer) < (double)BYTES_LEAST) return false;
  TaskSlot *slot = arena_copy(t->arena, s->slot, s->sum->n_slot * sizeof *slot);
  for (uint32_t j = 0; j < s->sum->n_slot; j++) {
    if (!slot[j].kept) continue;
    const TaskStage *of = &k->stages.at[slot[j].index];
    if (of->buffer < 0 || !stage_is_plain(of) || of->sum->domain) return false;
    slot[j] = (TaskSlot){false, (uint32_t)of->buffer};
  }
  c->made = *s;
  c->made.slot = slot;
  return true;
}

/* ---- its readers ------------------------------------------------------------------------------------------- */

/* Whether the kernel begins with a product of the value and another tensor that has panels, and reads it nowhere
 * else. */
static bool is_reader(const Cheap *c, const Task *k) {
  TaskGraph *t = c->t;
  if (k->kind != TASK_KERNEL || k->unless != c->list->at[c->from]->unless || task_call(k)) return false;
  if (task_writes(t, k, c->buffer)) return false;
  for (uint32_t i = 1; i < k->stages.len; i++)
    if (k->stages.at[i].sum->reducer != RED_NONE || stage_reads(&k->stages.at[i], c->buffer)) return false;
  const TaskStage *s = &k->stages.at[0];
  const Expr *body = s->sum->body;
  if (s->sum->reducer != RED_SUM || s->sum->where || s->sum->domain || s->sum->n_slot != 2) return false;
  if (body->kind != EX_OP || body->op != OP_MUL || points(t, s) < (double)POINTS_LEAST) return false;
  bool left = stage_read_is(s, body->arg[0], c->buffer), right = stage_read_is(s, body->arg[1], c->buffer);
  return left != right && body->arg[left]->kind == EX_READ && task_side_blocks(t, s) > 0;
}

static bool readers_find(Cheap *c) {
  uint32_t n = 0;
  double work = 0;
  for (uint32_t i = c->from + 1; i < c->list->len; i++) {
    const Task *k = c->list->at[i];
    if (!task_touches(c->t, k, c->buffer)) continue;
    if (!is_reader(c, k)) return false;
    work += points(c->t, &k->stages.at[0]) / elements(c);
    vec_push(c->t->arena, c->readers, i);
  }
  if (!c->readers.len || !task_kernels_count(c->t, &c->t->tasks, c->buffer, &n)) return false;
  if (n != c->readers.len + 1) return false;
  return (double)(c->readers.len - 1) * work_of(c) * (double)PART <= 2 * work;
}

/* Whether nothing changes the operands, and what is saved is more than what they take for longer. */
static bool operands_stay(const Cheap *c) {
  uint32_t last = vec_last(c->readers);
  double saved = task_buffer_bytes(c->t, c->buffer) * (double)(last - c->from + 1);
  for (uint32_t j = 0; j < c->made.sum->n_slot; j++) {
    uint32_t b = c->made.slot[j].index, to = c->from;
    for (uint32_t i = c->from + 1; i < c->list->len; i++) {
      if (i <= last && task_writes(c->t, c->list->at[i], b)) return false;
      if (task_touches(c->t, c->list->at[i], b)) to = i;
    }
    if (c->t->buffers.at[b].space == BUF_WORK && to < last) saved -= task_buffer_bytes(c->t, b) * (double)(last - to);
  }
  return saved > 0;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static bool map_try(TaskGraph *t, Tasks *list, uint32_t from, uint32_t stage) {
  Cheap c = {.t = t, .list = list, .from = from, .stage = stage};
  Task *k = list->at[from];
  if (!map_find_made(&c, k) || !readers_find(&c) || !operands_stay(&c)) return false;
  for (uint32_t i = 0; i < c.readers.len; i++)
    stage_inline(t, &list->at[c.readers.at[i]]->stages.at[0], c.buffer, &c.made);
  k->stages.at[stage].buffer = -1, k->stages.at[stage].n_at = 0;
  while (k->stages.len && vec_last(k->stages).buffer < 0) k->stages.len--;
  return true;
}

static bool list_cheap(TaskGraph *t, Tasks *list) {
  bool any = false;
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->len; i++) {
    Task *k = list->at[i];
    any |= list_cheap(t, &k->body);
    for (uint32_t j = k->kind == TASK_KERNEL ? k->stages.len : 0; j-- > 0;) any |= map_try(t, list, i, j);
  }
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->kind != TASK_KERNEL || list->at[i]->stages.len) list->at[n++] = list->at[i];
  list->len = n;
  return any;
}

void task_cheap(TaskGraph *t) {
  if (!t->mesh.n && list_cheap(t, &t->tasks)) task_buffers_drop(t);
}
