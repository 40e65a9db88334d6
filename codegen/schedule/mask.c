/* codegen/schedule/mask.c - predicates that are not a range of the reduced label (masks that are read, segments of a
 * sequence), in kernels that take rows in blocks. Excluded points get the reducer's identity, so that a stage still
 * goes along its rows in lanes. A predicate that depends only on the row and the point becomes a stage of its own,
 * before all others, and is tested once for all stages that use it. Bounds of the reduced label stay in place, and
 * limit the loops. */
#include "expr/sum/law.h"
#include "schedule.h"

enum { DEEP_ENOUGH = 16 };   /* points of a product that has panels (schedule/cpu/panels/panels.c) */

typedef struct Masks {
  Sched *s;
  const Task *k;
  VEC(TaskStage) made;       /* the stages that compute masks */
} Masks;

/* What a stage becomes. */
typedef struct Masked {
  const Expr *hard;          /* the part of its predicate to test at each point; NULL: none */
  const Expr *range;         /* the rest of it */
  const Expr *domain;
  uint32_t mask;             /* number of its mask; NOWHERE: tested in place */
  VEC(TaskSlot) slot;        /* the stage's, and what the domain reads besides */
} Masked;

static uint64_t operand_of(void *env, uint32_t slot) {
  const TaskSlot *k = (const TaskSlot *)env + slot;
  return (uint64_t)k->kept << 32 | k->index;
}

/* The slots that are read, in the order of their reads. */
static TaskSlot *slots_of(Sched *s, EinSum *sum, TaskSlot *slot) {
  const uint32_t *from = sum_canonical_slots(s->arena, s->x, sum, operand_of, slot);
  TaskSlot *made = NEW_ARRAY(s->arena, TaskSlot, sum->n_slot + 1);
  for (uint32_t k = 0; k < sum->n_slot; k++) made[k] = slot[from[k]];
  return made;
}

/* Whether an identity can replace a point. */
static bool has_identity(Reducer r) {
  return r != RED_NONE && r != RED_ARGMAX && r != RED_ARGMIN && r != RED_MONOID && r != RED_LSE;
}

/* Whether the predicate depends only on the labels that the stages share and the reduced one. */
static bool is_shared(const Masks *m, const EinSum *sum, const Expr *hard) {
  for (uint32_t l = m->k->n_outer; l < sum->n_out; l++)
    if (ex_has_label(hard, l)) return false;
  return true;
}

/* A map over the shared labels and the reduced one. */
static TaskStage mask_stage(Masks *m, const TaskStage *st, const Expr *hard) {
  Sched *s = m->s;
  uint32_t n = m->k->n_outer, red = st->sum->n_out;
  const Expr **to = NEW_ARRAY(s->arena, const Expr *, red + 2), **bound = NEW_ARRAY(s->arena, const Expr *, n + 1);
  Str *label = NEW_ARRAY(s->arena, Str, n + 1);
  for (uint32_t l = 0; l <= n; l++) {
    uint32_t was = l < n ? l : red;
    to[was] = expr_label(s->x, l);
    bound[l] = st->bound[was], label[l] = st->label[was];
  }
  EinSum *sum = NEW(s->arena, EinSum);
  *sum = (EinSum){.n_out = n + 1, .n_slot = st->sum->n_slot, .reducer = RED_NONE, .acc = DT_BOOL, .dtype = DT_BOOL};
  sum->body = expr_relabel(s->x, hard, red + 1, to);
  TaskStage made = {
      .name = str_of(s->t->strings, "mask", 4), .place = st->place, .bound = bound, .label = label, .buffer = -1};
  made.slot = slots_of(s, sum, st->slot);
  made.sum = sum;
  return made;
}

static bool is_same(const TaskStage *a, const TaskStage *b) {
  if (a->sum->body != b->sum->body || a->sum->n_slot != b->sum->n_slot ||
      a->bound[a->sum->n_out - 1] != b->bound[b->sum->n_out - 1])
    return false;
  for (uint32_t k = 0; k < a->sum->n_slot; k++)
    if (a->slot[k].index != b->slot[k].index) return false;
  return true;
}

static uint32_t mask_number(Masks *m, const TaskStage *st, const Expr *hard) {
  TaskStage made = mask_stage(m, st, hard);
  for (uint32_t k = 0; k < m->made.len; k++)
    if (is_same(&m->made.at[k], &made)) return k;
  vec_push(m->s->arena, m->made, made);
  return m->made.len - 1;
}

static bool is_walk(Sched *s, const TaskStage *st) {
  StagePlan p = stage_plan(s, st);
  return where_is_walk(s, &p, st->sum->n_out);
}

/* Whether some label has a single admissible value at a point, given by a read or another label: such a stage scatters
 * points. */
static bool is_pinned(Masks *m, const TaskStage *st, Env *e) {
  const Expr *to, *rest;
  for (uint32_t l = m->k->n_outer; l < st->sum->n_out + st->sum->n_red; l++)
    if (pin_find(e, st->sum->where, l, true, &to, &rest)) return true;
  return false;
}

/* rows: the label that is taken in blocks. */
static Masked masked_find(Masks *m, const TaskStage *st, uint32_t rows) {
  Sched *s = m->s;
  const EinSum *sum = st->sum;
  uint32_t n_label = sum->n_out + sum->n_red;
  Env e = {.s = s, .stage = st};
  Masked made = {.range = sum->where, .domain = sum->domain, .mask = NOWHERE};
  const Expr *hard = NULL, *range, *rest = NULL;
  if (!(sum->where || sum->domain) || !ex_safe(&e)) return made;
  if (sum->domain && st->buffer < 0 && sum->n_out > m->k->n_outer) /* nobody reads the others */
    made.domain = where_split(s, sum->domain, n_label, m->k->n_outer, &rest);
  if (!sum->where || sum->n_red != 1 || !has_identity(sum->reducer)) return made;
  if (comb_is(&e, sum->where, n_label, sum->n_out)) return made; /* its loops visit few points */
  range = where_split(s, sum->where, n_label, sum->n_out, &hard);
  if (!hard) made.range = range;
  bool both = hard && ex_has_label(hard, rows) && ex_has_label(hard, sum->n_out);
  if (!hard) return made;
  /* Tested at each point of each result: how many are less than this one, say. */
  if (ex_reads_kept(st, hard) || !is_shared(m, sum, hard)) {
    if (both && !is_walk(s, st) && !is_pinned(m, st, &e)) made.hard = hard, made.range = range;
    return made;
  }
  /* !both: tested once for all rows, or a loop bound. */
  if (!both && (sum->n_out == m->k->n_outer || is_walk(s, st))) return made;
  made.hard = hard, made.range = range;
  if (both) made.mask = mask_number(m, st, hard);
  return made;
}

/* ---- wanted points ----------------------------------------------------------------------------------------- */

typedef struct Taken { Arena *arena; const Masked *from; Masked *to; uint32_t stage; bool ok; } Taken;

/* The number of an operand among the slots of a stage, which gets it. */
static uint32_t slot_take(Taken *t, TaskSlot operand) {
  Masked *to = t->to;
  for (uint32_t k = 0; k < to->slot.len; k++)
    if (to->slot.at[k].kept == operand.kept && to->slot.at[k].index == operand.index) return k;
  t->ok &= !operand.kept || operand.index < t->stage;
  vec_push(t->arena, to->slot, operand);
  return to->slot.len - 1;
}

static const Expr *leaf_taken(void *env, Exprs *x, const Expr *leaf) {
  Taken *t = env;
  if (leaf->kind != EX_READ) return leaf;
  return expr_read(x, (DType)leaf->dtype, slot_take(t, t->from->slot.at[leaf->i]), leaf->n, leaf->arg);
}

/* The predicate `from` of a stage in the slots of stage i; NULL: it reads what is made after that. */
static const Expr *by_slots_of(Masks *m, const Masked *from, Masked *to, uint32_t i, const Expr *cond) {
  Taken t = {m->s->arena, from, &to[i], i, true};
  const Expr *is = expr_map(m->s->x, cond, leaf_taken, &t);
  return t.ok ? is : NULL;
}

/* Stage j's predicate over the labels of what it reads; NULL: it depends on others too, or an index is not a label. */
static const Expr *over_read(Masks *m, const EinSum *sum, const Expr *cond, const Expr *read) {
  uint32_t n = sum->n_out + sum->n_red;
  const Expr **to = NEW_ARRAY(m->s->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < read->n; k++) {
    if (read->arg[k]->kind != EX_LABEL) return NULL;
    to[read->arg[k]->i] = expr_label(m->s->x, k);
  }
  for (uint32_t l = 0; l < n; l++)
    if (!to[l] && ex_has_label(cond, l)) return NULL;
  return expr_relabel(m->s->x, cond, n, to);
}

/* Where a map reads stage i at most: in its domain, and where its choice takes the branch that reads it. */
static const Expr *map_asks(Masks *m, const TaskStage *st, const Expr *domain, uint32_t i) {
  const Expr *e = st->sum->body;
  while (e->kind == EX_OP && e->op == OP_CAST) e = e->arg[0];
  if (e->kind != EX_OP || e->op != OP_SELECT || e->arg[0]->has & HAS_READ || expr_reads_stage(st, e->arg[2], i))
    return domain;
  return expr_and(m->s->x, domain, e->arg[0]);
}

/* Adds where stage j reads stage i to *where; false: it reads it everywhere, or in different ways. */
static bool asked_by(Masks *m, Masked *to, uint32_t i, uint32_t j, const Expr **where) {
  const TaskStage *st = &m->k->stages.at[j];
  const EinSum *sum = st->sum;
  const Expr *cond = sum->reducer == RED_NONE ? map_asks(m, st, to[j].domain, i) : to[j].range,
             *top[3] = {sum->body, sum->where, sum->domain};
  const Expr **read = NEW_ARRAY(m->s->arena, const Expr *, sum->n_slot + 1);
  expr_slot_reads(m->s->arena, 3, top, read);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    if (!st->slot[a].kept || st->slot[a].index != i) continue;
    const Expr *is = cond && read[a] ? over_read(m, sum, cond, read[a]) : NULL;
    if (is) is = by_slots_of(m, &to[j], to, i, is);
    if (!is || (*where && *where != is) || (sum->where && ex_reads_kept(st, sum->where))) return false;
    *where = is;
  }
  return true;
}

/* Limits stage i's kept values to where later stages read them; not for a reduction too short for panels. */
static void domain_find(Masks *m, Masked *to, uint32_t i) {
  const TaskStage *st = &m->k->stages.at[i];
  const EinSum *sum = st->sum;
  const Expr *where = NULL;
  double points = 1;
  for (uint32_t l = sum->n_out; l < sum->n_out + sum->n_red; l++)
    points *= (double)task_size_guess(m->s->t, st->bound[l]);
  if (st->buffer >= 0 || to[i].domain || sum->n_out == m->k->n_outer || (sum->n_red && points < (double)DEEP_ENOUGH))
    return;
  for (uint32_t j = i + 1; j < m->k->stages.len; j++)
    if (!asked_by(m, to, i, j, &where)) return;
  to[i].domain = where;
}

/* ---- entry points --------------------------------------------------------------------------------------------- */

/* The replacement of the predicate: a read of the mask, by the slot behind the stage's own. */
static const Expr *mask_read(Masks *m, const EinSum *sum) {
  Sched *s = m->s;
  uint32_t n = m->k->n_outer;
  const Expr **at = exprs_labels(s->arena, s->x, n);
  at[n] = expr_label(s->x, sum->n_out);
  return expr_read(s->x, DT_BOOL, sum->n_slot, n + 1, at);
}

/* The stage with its mask. Stages of masks come first, and shift the numbers of all others. */
static TaskStage stage_masked(Masks *m, const TaskStage *st, const Masked *to) {
  Sched *s = m->s;
  TaskStage made = *st;
  EinSum *sum = arena_copy(s->arena, st->sum, sizeof *sum);
  sum->n_slot = to->slot.len;
  TaskSlot *slot = NEW_ARRAY(s->arena, TaskSlot, sum->n_slot + 1);
  for (uint32_t k = 0; k < sum->n_slot; k++)
    slot[k] = (TaskSlot){to->slot.at[k].kept, to->slot.at[k].index + (to->slot.at[k].kept ? m->made.len : 0)};
  if (to->hard) {
    const Expr *holds = to->mask == NOWHERE ? to->hard : mask_read(m, sum);
    sum->body = expr_select(s->x, holds, sum->body, red_identity(s, sum));
    if (to->mask != NOWHERE) slot[sum->n_slot++] = (TaskSlot){true, to->mask};
  }
  sum->where = to->range, sum->domain = to->domain;
  made.slot = slots_of(s, sum, slot);
  made.sum = sum;
  return made;
}

const Task *mask_task(Sched *s, const Task *k, uint32_t rows) {
  Masks m = {.s = s, .k = k};
  Masked *to = NEW_ARRAY(s->arena, Masked, k->stages.len + 1);
  bool any = false;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    const TaskStage *st = &k->stages.at[i];
    to[i] = masked_find(&m, st, rows);
    for (uint32_t a = 0; a < st->sum->n_slot; a++) vec_push(s->arena, to[i].slot, st->slot[a]);
  }
  for (uint32_t i = k->stages.len; i-- > 0;) {
    domain_find(&m, to, i);
    any |= to[i].hard || to[i].domain != k->stages.at[i].sum->domain || to[i].range != k->stages.at[i].sum->where;
  }
  if (!any) return k;
  Task *made = arena_copy(s->arena, k, sizeof *made);
  made->stages.at = NULL, made->stages.len = 0, made->stages.cap = 0;
  for (uint32_t i = 0; i < m.made.len; i++) vec_push(s->arena, made->stages, m.made.at[i]);
  for (uint32_t i = 0; i < k->stages.len; i++)
    vec_push(s->arena, made->stages, stage_masked(&m, &k->stages.at[i], &to[i]));
  return made;
}
