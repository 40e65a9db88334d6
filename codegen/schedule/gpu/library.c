/* codegen/schedule/gpu/library.c - matrix products that a library (cuBLAS) can compute, if the machine has one: sums
 * of products of two reads, and nothing else. The library must be able to treat sides and result as matrices in place,
 * whatever their labels are and however many; nothing is copied for it. A constant factor of the result is passed
 * along. Other maps after the product become a launch of their own, from a result in a work buffer: for long sums that
 * costs less than the library saves. */
#include <string.h>

#include "schedule/gpu/gpu.h"

enum { SIDE = 16, DEEP = 8 };   /* least points along rows and lanes, and of the sum, for a product */
enum { POINTS = 1 << 20 };      /* in all, at least */
enum { CALL = 1 << 26 };        /* per call, if there are several */
enum { BEHIND = 64 };           /* of the sum, if maps are launched after it */

/* ---- what the library computes ------------------------------------------------------------------------- */

static uint32_t number_of(const Library *b, const TaskStage *st) { return (uint32_t)(st - b->s->task->stages.at); }
static bool is_behind(const Library *b) { return number_of(b, b->to) + 1 < b->l->to; }
static bool is_stored(const Library *b, const TaskStage *st) {
  return st->buffer >= 0 || b->s->of_stage[number_of(b, st)] != NOWHERE;
}

/* Whether the stage is the one before it, kept as it is summed, times a constant. */
static bool is_scaled(const Library *b, const TaskStage *st, double *by) {
  const EinSum *sum = st->sum, *first = b->l->first->sum;
  const Expr *e = sum->body;
  if (sum->domain || first->dtype != first->acc || e->kind != EX_OP || e->op != OP_MUL || e->dtype != first->acc)
    return false;
  for (int i = 0; i < 2; i++) {
    const Expr *c = e->arg[i], *read = e->arg[1 - i];
    if (c->kind != EX_REAL || read->kind != EX_READ || !st->slot[read->i].kept ||
        st->slot[read->i].index != number_of(b, b->l->first))
      continue;
    if (!exprs_are_labels(read->n, read->arg)) return false;
    return *by = c->f, true;
  }
  return false;
}

/* Finds the last stage whose result the library computes; later ones are launched. Returns false if that result is
 * both stored and read by later stages. */
static bool result_found(Library *b) {
  const Launch *l = b->l;
  const TaskStage *next = l->first + 1;
  double by = 1;
  b->to = l->first;
  if (l->to - l->from == 2 && !is_stored(b, l->first) && is_scaled(b, next, &by)) b->to = next, b->scale *= by;
  return b->to->buffer < 0 || (!is_behind(b) && b->s->of_stage[number_of(b, b->to)] == NOWHERE);
}

/* Whether it is a float sum of two reads over all points, all of which may be read. */
static bool is_sum_of_two(Library *b) {
  const TaskStage *st = b->l->first;
  const EinSum *sum = st->sum;
  Env e = {.s = b->s, .stage = st};
  if (sum->reducer != RED_SUM || !dtype_is_float(sum->acc)) return false;
  if (sum->where || sum->domain || b->plan.n_red != 1) return false;
  if (b->plan.n_label < PRODUCT_LEAST || b->plan.n_label > PRODUCT_LOOPS) return false;
  return launch_is_one_sum(b->s, b->l) && loop_factors(sum->body, sum->acc, b->read, &b->scale) &&
      ex_is_safe(&e, sum->body);
}

/* ---- assignment of loops ----------------------------------------------------------------------------------- */

static double points_of(const Library *b, uint32_t from) {
  double n = 1;
  for (uint32_t i = from; i < b->n; i++) n *= (double)b->plan.size[b->order[i]];
  return n;
}

/* Batches a call along the longest of the other labels. */
static void order_set(Library *b, uint32_t row, uint32_t lane) {
  const StagePlan *p = &b->plan;
  uint32_t longest = NOWHERE;
  b->n = 0;
  for (uint32_t k = 0; k < p->n_label - 1; k++)
    if (k != row && k != lane && (longest == NOWHERE || p->size[k] > p->size[longest])) longest = k;
  for (uint32_t k = 0; k < p->n_label - 1; k++)
    if (k != row && k != lane && k != longest) b->order[b->n++] = k;
  if (longest != NOWHERE) b->order[b->n++] = longest;
  b->order[b->n++] = row, b->order[b->n++] = lane, b->order[b->n++] = p->red[0];
}

static bool is_large(const Library *b) {
  const StagePlan *p = &b->plan;
  for (uint32_t i = b->n - 3; i < b->n; i++)
    if (p->size[b->order[i]] < (i + 1 < b->n ? SIDE : DEEP)) return false;
  if (points_of(b, 0) < (double)POINTS || (is_behind(b) && p->size[p->red[0]] < BEHIND)) return false;
  return b->n < 5 || points_of(b, b->n - 4) >= (double)CALL;
}

/* Whether any two large labels of the result will do. */
static bool is_any(Library *b) {
  for (uint32_t row = 0; row + 1 < b->plan.n_label; row++)
    for (uint32_t lane = 0; lane + 1 < b->plan.n_label; lane++) {
      order_set(b, row, lane);
      if (row != lane && is_large(b)) return true;
    }
  return false;
}

/* ---- as a statement -------------------------------------------------------------------------------------- */

/* The library's reads and its store, over variables of its own. If later maps read the result, its place is set later.
 */
static LoopStmt *statement(Library *b) {
  Sched *s = b->s;
  const TaskStage *st = b->l->first, *to = b->to;
  DType acc = st->sum->acc;
  Env e = {.s = s, .stage = st, .label = b->label}, f = {.s = s, .stage = to, .label = b->label};
  const Expr *value =
      expr_op2(s->x, OP_MUL, expr_cast(s->x, acc, ex_of(&e, b->read[0])), expr_cast(s->x, acc, ex_of(&e, b->read[1])));
  if (b->scale != 1) value = expr_op2(s->x, OP_MUL, expr_real(s->x, acc, b->scale), value);
  uint32_t n = to->n_at, place = s->of_stage[number_of(b, to)];
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, n + to->sum->n_out + 1);
  if (place == NOWHERE && to->buffer >= 0) {
    for (uint32_t k = 0; k < n; k++) at[k] = ex_of(&f, to->at[k]);
    place = place_of_buffer(s, (uint32_t)to->buffer, true);
  } else {
    memcpy(at, b->label, (n = to->sum->n_out) * sizeof *at);
  }
  LoopStmt *p = library_add(s, place, n, at, value);
  p->over = NEW_ARRAY(s->arena, LoopOver, b->plan.n_label);
  p->n_over = b->plan.n_label;
  return p;
}

static void loops_set(const Library *b, LoopStmt *p) {
  for (uint32_t i = 0; i < b->n; i++)
    p->over[i] = (LoopOver){(uint32_t)b->label[b->order[i]]->i, b->l->first->bound[b->order[i]]};
}

/* Finds loops with the largest matrices that fit; false: there are none. */
static bool loops_found(Library *b, LoopStmt *p) {
  const StagePlan *plan = &b->plan;
  uint32_t best_row = NOWHERE, best_lane = NOWHERE;
  double most = 0;
  LoopProduct of;
  for (uint32_t lane = plan->n_label - 1; lane-- > 0;)
    for (uint32_t row = 0; row + 1 < plan->n_label; row++) {
      double size = (double)plan->size[row] * (double)plan->size[lane];
      if (row == lane || size <= most) continue;
      order_set(b, row, lane);
      loops_set(b, p);
      if (!is_large(b) || !loop_product(b->s->x, b->s->k, p, &of, NULL)) continue;
      most = size, best_row = row, best_lane = lane;
    }
  if (best_row == NOWHERE) return false;
  order_set(b, best_row, best_lane);
  loops_set(b, p);
  return true;
}

/* The statement, not yet added to the kernel; NULL: there is none. */
static LoopStmt *product_made(Library *b) {
  Sched *s = b->s;
  LoopBody *was = s->body, aside = {0};
  const EinSum *sum = b->to->sum;
  into(s, &aside);
  LoopStmt *p = statement(b);
  into(s, was);
  if (p->place != NOWHERE) return loops_found(b, p) ? p : NULL;
  uint32_t trial = p->place = s->k->places.len;
  vec_push(s->arena, s->k->places,
      ((LoopPlace){.space = SPACE_BUFFER,
          .dtype = sum->dtype,
          .rank = sum->n_out,
          .dim = b->to->bound,
          .buffer = NOWHERE,
          .written = true}));
  bool well = loops_found(b, p);
  s->k->places.len = trial;
  if (well)
    p->place =
        place_shared(s, b->l->first->name ? b->l->first->name->s : "product", sum->dtype, sum->n_out, b->to->bound);
  return well ? p : NULL;
}

bool library_product(Sched *s, const Launch *l, Library *b) {
  *b = (Library){.s = s, .l = l, .plan = l->plan};
  if (s->target->apart || !is_sum_of_two(b) || !result_found(b) || !is_any(b)) return false;
  b->label = NEW_ARRAY(s->arena, const Expr *, b->plan.n_label + 1);
  for (uint32_t k = 0; k < b->plan.n_label; k++) b->label[k] = var_read(s, var_new(s, l->first->label[k], "p"));
  b->product = product_made(b);
  if (!b->product) return false;
  vec_push(s->arena, *s->body, b->product);
  into(s, &b->product->other);
  s->ahead = "cuBLAS, else ";
  return true;
}

void library_behind(Library *b) {
  Sched *s = b->s;
  uint32_t number = number_of(b, b->to), was = s->of_stage[number];
  if (!is_behind(b)) return;
  const TaskStage *next = b->to + 1;
  Env e = {.s = s, .stage = next, .label = NEW_ARRAY(s->arena, const Expr *, next->sum->n_out + 1)};
  Launch l = {number + 1, b->l->to, next, stage_plan(s, next), &e};
  into(s, &b->product->body);
  s->of_stage[number] = b->product->place;
  s->ahead = "behind cuBLAS ";
  points_launch(s, &l);
  s->of_stage[number] = was;
}
