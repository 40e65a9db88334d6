/* codegen/schedule/facts.c - the facts a schedule needs about a stage: its labels' sizes, each access' stride along
 * each label, and a point's cost. Nothing here makes a statement. */
#include "schedule.h"

#include <string.h>

/* ---- accesses -------------------------------------------------------------------------------------- */

static Move move_along(uint32_t n, const Expr *const *at, uint32_t label) {
  Move m = MOVE_NONE;
  for (uint32_t k = 0; k < n; k++) {
    int64_t slope;
    if (!ex_has_label(at[k], label)) continue;
    m = k + 1 == n && m == MOVE_NONE && ex_slope(at[k], label, &slope) && slope == 1 ? MOVE_UNIT : MOVE_FAR;
  }
  return m;
}

static bool moves_reduced(const StagePlan *p, uint32_t access) {
  for (uint32_t l = p->stage->sum->n_out; l < p->n_label; l++)
    if (plan_move(p, access, l) != MOVE_NONE) return true;
  return false;
}

static void moves_find(Sched *s, StagePlan *p) {
  const TaskStage *st = p->stage;
  const EinSum *sum = st->sum;
  const Expr **read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  expr_slot_reads(s->arena, 1, &sum->body, read);
  p->ends = NEW_ARRAY(s->arena, bool, sum->n_slot + 1);
  for (uint32_t a = 0; a < sum->n_slot; a++) p->ends[a] = !read[a] && sum->n_red;
  expr_slot_reads(s->arena, 2, (const Expr *const[]){sum->where, sum->domain}, read);
  p->n_access = sum->n_slot + 1;
  p->move = NEW_ARRAY(s->arena, Move, p->n_access * p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) {
    for (uint32_t a = 0; a < sum->n_slot; a++) {
      const Expr *r = read[a];
      if (!r) continue;
      uint32_t skip = st->slot[a].kept ? s->outer : 0;
      p->move[a * p->n_label + l] = move_along(r->n - skip, r->arg + skip, l);
    }
    Move store = st->buffer >= 0 ? move_along(st->n_at, st->at, l)
                 : l + 1 == sum->n_out ? MOVE_UNIT : l < sum->n_out ? MOVE_FAR : MOVE_NONE;
    p->move[sum->n_slot * p->n_label + l] = store;
  }
  for (uint32_t a = 0; a < sum->n_slot; a++) p->ends[a] &= !moves_reduced(p, a);
}

/* The label along which what is stored is contiguous, if maps continue from the stage at its points; -1: none. */
static int64_t stored_along(const Sched *s, const TaskStage *st) {
  if (!s->follow.goes_on || st != s->task->stages.at || !task_is_continued(s->task)) return -1;
  const TaskStage *last = &s->task->stages.at[s->task->stages.len - 1];
  for (uint32_t l = 0; l < last->sum->n_out; l++)
    if (move_along(last->n_at, last->at, l) == MOVE_UNIT) return (int64_t)l;
  return -1;
}

/* ---- costs ----------------------------------------------------------------------------------------- */

static double op_cost(const Expr *e) {
  if (e->kind == EX_READ) return 1;
  if (e->kind != EX_OP || !(e->has & (HAS_LABEL | HAS_READ | HAS_PARAM | HAS_TURN | HAS_CALL))) return 0;
  if (e->op == OP_EXTERN) return (double)extern_cost(e->by);
  if (op_info[e->op].rule == RULE_RANDOM || op_info[e->op].rule == RULE_INDEX) return 40;
  return op_info[e->op].laws & LAW_EXACT ? e->op == OP_CAST ? 0 : 1 : 15;
}

static double ops_of(Map *seen, const Expr *e) {
  if (map_find(seen, e)) return 0;
  map_put(seen, e, (void *)(uintptr_t)e);
  double n = op_cost(e);
  for (uint32_t k = 0; k < e->n; k++) n += ops_of(seen, e->arg[k]);
  return n;
}

double plan_score(const StagePlan *p, uint32_t label) {
  double score = 0;
  uint32_t store = p->n_access - 1;
  bool reduces = p->stage->sum->reducer != RED_NONE;
  for (uint32_t a = 0; a < p->n_access; a++) {
    double weight = a < store && !p->ends[a] ? 1 : reduces ? 0.2 : 2;
    Move m = plan_move(p, a, label);
    score += m == MOVE_UNIT ? weight : m == MOVE_FAR ? -weight : 0;
  }
  return p->size[label] < 4 ? score - 1.5 : p->size[label] < 8 ? score - 0.25 : score;
}

double plan_bytes(const Sched *s, const StagePlan *p, uint32_t read) {
  TaskSlot slot = p->stage->slot[read];
  DType t = slot.kept ? p->stage->sum->acc : buffer_seen(s, slot.index)->dtype;
  double n = dtype_size(t);
  for (uint32_t l = 0; l < p->n_label; l++)
    if (plan_move(p, read, l) != MOVE_NONE) n *= (double)p->size[l];
  return n;
}

double red_score(const StagePlan *p) {
  return p->n_red ? plan_score(p, p->red[p->n_red - 1]) : -10; /* the store does not depend on it */
}

int64_t vector_lanes(const Sched *s, DType t) {
  int64_t size = dtype_is_float(t) && dtype_size(t) < 4 ? 4 : dtype_size(t);
  return s->target->lanes_bytes / size;
}

int64_t tile_vector(const Sched *s, DType t) {
  int64_t one = vector_lanes(s, t), real = one * s->target->vector_bytes / s->target->lanes_bytes;
  return real ? real : one;
}

int64_t tile_vectors(const Sched *s) { return s->target->vector_bytes ? s->target->vectors : s->target->registers; }

/* ---- orders ---------------------------------------------------------------------------------------- */

/* Moves the best label last; the others keep their order, that of the store or of the text. */
static void best_last(const StagePlan *p, uint32_t n, uint32_t *order) {
  if (!n) return;
  uint32_t best = n - 1;
  for (uint32_t k = n - 1; k-- > 0;)
    if (plan_score(p, order[k]) > plan_score(p, order[best])) best = k;
  uint32_t label = order[best];
  memmove(order + best, order + best + 1, (n - 1 - best) * sizeof *order);
  order[n - 1] = label;
}

StagePlan stage_plan(Sched *s, const TaskStage *stage) {
  const EinSum *sum = stage->sum;
  StagePlan p = {.stage = stage, .n_label = sum->n_out + sum->n_red};
  p.size = NEW_ARRAY(s->arena, int64_t, p.n_label + 1);
  p.exact = NEW_ARRAY(s->arena, bool, p.n_label + 1);
  for (uint32_t l = 0; l < p.n_label; l++) {
    if (!(s->rows.block && l + 1 == sum->n_out)) p.size[l] = task_size_guess(s->t, stage->bound[l]);
    p.exact[l] = stage->bound[l]->kind == EX_INT;
    if (s->rows.block && l + 1 == sum->n_out) p.size[l] = s->rows.block;
  }
  moves_find(s, &p);
  p.stored = stored_along(s, stage);
  Map seen = map_new(s->arena);
  p.ops = 1 + ops_of(&seen, sum->body) + (sum->where ? ops_of(&seen, sum->where) : 0);
  if (sum->by && sum->by->cost >= 0) p.ops = (double)sum->by->cost;
  p.order = NEW_ARRAY(s->arena, uint32_t, p.n_label + 1);
  p.red = NEW_ARRAY(s->arena, uint32_t, p.n_label + 1);
  for (uint32_t l = s->outer + s->opened; l < sum->n_out; l++) p.order[p.n_order++] = l;
  for (uint32_t l = sum->n_out; l < p.n_label; l++) p.red[p.n_red++] = l;
  best_last(&p, p.n_order, p.order);
  if (sum->reducer != RED_ARGMAX && sum->reducer != RED_ARGMIN) best_last(&p, p.n_red, p.red);
  return p;
}
