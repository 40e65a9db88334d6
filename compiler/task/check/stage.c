/* task/check/stage.c - invariants of a kernel's stages: what they read, and where they store. */
#include "expr/prove/prove.h"
#include "check.h"

/* ---- stages ------------------------------------------------------------------------------------- */

static void check_kept(Check *c, const Expr *e, const TaskSlot *slot) {
  if (slot->index >= (uint32_t)(c->stage - c->task->stages.at)) return; /* reported with the slot */
  const TaskStage *of = &c->task->stages.at[slot->index];
  if (e->n != of->sum->n_out)
    fail(c, "&%u has %u labels and is read with %u indices", slot->index, of->sum->n_out, e->n);
  if (e->dtype != of->sum->dtype)
    fail(c, "&%u is %s and is read as %s", slot->index, check_dtype_name(of->sum->dtype),
        check_dtype_name((DType)e->dtype));
  for (uint32_t k = 0; k < c->task->n_outer && k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || e->arg[k]->i != k)
      fail(c, "&%u is not read at the reader's own label %u", slot->index, k);
}

static void check_loaded(Check *c, const Expr *e, const TaskSlot *slot) {
  if (slot->index >= c->t->buffers.len) return; /* reported with the slot */
  const TaskBuffer *b = &c->t->buffers.at[slot->index];
  if (e->n != b->rank) fail(c, "buffer %%%u has rank %u and is read with %u indices", b->id, b->rank, e->n);
  if (e->dtype != b->dtype)
    fail(
        c, "buffer %%%u is %s and is read as %s", b->id, check_dtype_name(b->dtype), check_dtype_name((DType)e->dtype));
}

void check_slot_read(void *ctx, const Expr *e) {
  Check *c = ctx;
  const TaskStage *s = c->stage;
  if (e->i < 0 || e->i >= s->sum->n_slot) {
    fail(c, "slot %lld is read, of %u", (long long)e->i, s->sum->n_slot);
    return;
  }
  const TaskSlot *slot = &s->slot[e->i];
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->dtype != DT_I64) fail(c, "an index of slot %lld is not i64", (long long)e->i);
  if (slot->kept)
    check_kept(c, e, slot);
  else
    check_loaded(c, e, slot);
  check_read_slot(&c->c, task_operand(slot), e);
}

/* The stage reads the buffer only where it stores, or where no point of it does, and no other stage uses it. Without a
 * mesh it must be the last stage, since loops may recompute what others keep of an earlier one. */
static bool is_in_place(const Check *c, const Task *k, const TaskStage *s, uint32_t buffer) {
  bool may = s == &vec_last(k->stages) || c->t->mesh.n;
  bool only = may && s->buffer == (int32_t)buffer && s->sum->reducer == RED_NONE;
  vec_each(const TaskStage, other, k->stages)
    if (other != s) only &= other->buffer != (int32_t)buffer && !(c->t->mesh.n && stage_reads(other, buffer));
  return only && stage_reads_apart(c->arena, c->t->exprs, s, s, buffer);
}

static void check_slots(Check *c, const Task *k, const TaskStage *s) {
  for (uint32_t i = 0; i < s->sum->n_slot; i++) {
    const TaskSlot *slot = &s->slot[i];
    if (!slot->kept) {
      if (check_buffer_number(c, "a slot", slot->index)) check_buffer_read(c, slot->index, k->step);
    } else if (slot->index >= (uint32_t)(s - k->stages.at)) {
      fail(c, "a slot is &%u, no stage before it", slot->index);
    }
  }
}

/* Once all else of the stage is right. */
static void check_in_place(Check *c, const Task *k, const TaskStage *s) {
  for (uint32_t i = 0; i < s->sum->n_slot && c->c.ok; i++) {
    const TaskSlot *slot = &s->slot[i];
    if (!slot->kept && c->held[slot->index].kernel == k->step + 1 && !is_in_place(c, k, s, slot->index))
      fail(c, "buffer %%%u is read and stored to in one kernel", slot->index);
  }
}

static void check_at_part(SumCheck *sc, const Expr *e) {
  Check *c = sc->ctx;
  if (e->kind == EX_READ)
    fail(c, "it reads to find where it is put");
  else
    check_part(sc, e);
}

/* The number of values of an index that is a label or a group of labels, row-major; NULL: it is something else. */
static const Expr *values_of(const Check *c, const TaskStage *s, const Expr *e) {
  if (e->kind == EX_LABEL) return e->i >= 0 && e->i < s->sum->n_out ? s->bound[e->i] : NULL;
  if (e->kind != EX_OP || e->op != OP_ADD) return NULL;
  const Expr *before = e->arg[0], *last = e->arg[1];
  if (before->kind != EX_OP || before->op != OP_MUL || last->kind != EX_LABEL) return NULL;
  const Expr *n = values_of(c, s, before->arg[0]), *m = values_of(c, s, last);
  return n && m && before->arg[1] == m ? expr_op2(c->t->exprs, OP_MUL, n, m) : NULL;
}

/* Labels stay inside the buffer; other indices were proved by the pass that made them. */
static void check_fits(Check *c, const TaskStage *s, uint32_t axis, const TaskBuffer *b) {
  static const Facts none = {0};
  const Expr *values = values_of(c, s, s->at[axis]), *dim = b->dim[axis];
  if (!values || values == dim || expr_normal(c->t->exprs, values) == dim) return;
  if (prove(c->t->exprs, &none, expr_op2(c->t->exprs, OP_LE, values, dim)).verdict != PROVED)
    fail(c, "index %u of where it is put leads out of buffer %%%u", axis, b->id);
}

/* Checks where the result is stored. */
static void check_store(Check *c, const TaskStage *s) {
  if (s->buffer < 0) {
    if (s->buffer != NONE || s->n_at) fail(c, "it is kept, and stored");
    return;
  }
  const TaskBuffer *b = &c->t->buffers.at[s->buffer];
  if (b->dtype != s->sum->dtype)
    fail(c, "it is %s and buffer %%%u %s", check_dtype_name(s->sum->dtype), b->id, check_dtype_name(b->dtype));
  if (s->n_at != b->rank || (s->n_at && !s->at)) {
    fail(c, "buffer %%%u has rank %u and is stored to with %u indices", b->id, b->rank, s->n_at);
    return;
  }
  c->c.labels = s->sum->n_out;
  c->c.now++;
  for (uint32_t i = 0; i < s->n_at; i++) {
    if (!s->at[i] || s->at[i]->dtype != DT_I64) {
      fail(c, "index %u of where it is put is not i64", i);
      continue;
    }
    check_walk(&c->c, s->at[i], WALK_ALL, check_at_part);
    check_fits(c, s, i, b);
  }
}

bool check_filled(Check *c, const TaskStage *s) {
  const EinSum *sum = s->sum;
  bool well = sum && sum->body && (!sum->n_slot || s->slot) && (unsigned)sum->reducer < REDUCERS &&
              (unsigned)sum->acc < DTYPES && (unsigned)sum->dtype < DTYPES;
  if (!well) fail(c, "its operation is not filled in");
  if (!well) return false;
  if (sum->n_out > SUM_RANK || sum->n_red > SUM_RANK - sum->n_out) {
    fail(c, "it has %u and %u labels: too many", sum->n_out, sum->n_red);
    return false;
  }
  if (sum->n_out + sum->n_red && (!s->bound || !s->label)) {
    fail(c, "it has no labels");
    return false;
  }
  return true;
}

/* A call of a C function is a kernel by itself, and its buffer's dimensions are the labels, in order. */
static void check_call(Check *c, const Task *k, const TaskStage *s) {
  if (!c->c.ok) return;
  uint32_t next = 0;
  bool plain = s->buffer >= 0 && k->stages.len == 1 && k->kind == TASK_KERNEL;
  for (uint32_t d = 0; d < s->n_at && plain; d++) {
    int64_t label = along_label(s->at[d]);
    plain = label == -1 || (label == next && label < s->sum->n_out);
    next += label >= 0;
  }
  if (!plain || next != s->sum->n_out)
    fail(c, "it is made by %s, and not stored plainly by a kernel of its own", s->sum->by->name->s);
  for (uint32_t i = 0; i < s->sum->n_slot; i++)
    if (s->slot[i].kept || (int64_t)s->slot[i].index == s->buffer)
      fail(c, "it is made by %s, which reads what it makes", s->sum->by->name->s);
  check_by(&c->c, s->sum, true);
}

void check_stage(Check *c, const Task *k, const TaskStage *s) {
  const EinSum *sum = s->sum;
  uint32_t labels = sum->n_out + sum->n_red;
  if (s->name && !s->name->len) fail(c, "its name is empty");
  for (uint32_t l = 0; l < labels; l++) {
    check_extent(&c->c, "a label's bound", s->bound[l]);
    if (!is_name(s->label[l])) fail(c, "label %u has no name", l);
  }
  if (sum->n_out < k->n_outer) fail(c, "it has %u output labels, and %u are outer ones", sum->n_out, k->n_outer);
  const TaskStage *first = &k->stages.at[0];
  for (uint32_t l = 0; l < k->n_outer && l < sum->n_out && l < first->sum->n_out; l++)
    if (s->bound[l] != first->bound[l]) fail(c, "outer label %u has another bound than in stage 0", l);
  check_slots(c, k, s);
  check_reducer(&c->c, sum);
  c->c.labels = labels;
  c->c.level = c->open.len;
  check_expressions(&c->c, sum);
  check_store(c, s);
  check_in_place(c, k, s);
  if (sum->by) check_call(c, k, s);
}
