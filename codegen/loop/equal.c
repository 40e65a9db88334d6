/* codegen/loop/equal.c - compares two LoopPrograms field by field. They may use different pools and tables. */
#include "expr/sum/law.h"
#include "loop.h"

typedef struct Equal {
  Same q;
  const LoopKernel *k;       /* the current one, for the complaint */
} Equal;

static void say_where(void *ctx, Buf *out) {
  const LoopKernel *k = ((const Equal *)ctx)->k;
  if (k) buf_printf(out, "kernel %s: ", k->name ? k->name->s : "?");
}

static bool eq_body(Same *q, const LoopBody *a, const LoopBody *b);

static bool eq_matrix(Same *q, const LoopMatrix *a, const LoopMatrix *b) {
  if (!a || !b) return eq_int(q, "whether it is a matrix", !a, !b);
  return eq_int(q, "a matrix' rows", a->rows, b->rows) && eq_int(q, "a matrix' lanes", a->lanes, b->lanes) &&
      eq_int(q, "a matrix' depth", a->deep, b->deep) && eq_int(q, "a step", a->row_step, b->row_step) &&
      eq_int(q, "a step", a->row_deep, b->row_deep) && eq_int(q, "a step", a->lane_step, b->lane_step) &&
      eq_int(q, "a step", a->lane_deep, b->lane_deep);
}

static bool eq_over(Same *q, const LoopStmt *a, const LoopStmt *b) {
  if (!eq_int(q, "the number of a product's loops", a->n_over, b->n_over)) return false;
  for (uint32_t i = 0; i < a->n_over; i++)
    if (!eq_int(q, "a product's loop variable", a->over[i].var, b->over[i].var) ||
        !eq_expr(q, "where a product's loop ends", a->over[i].extent, b->over[i].extent))
      return false;
  return true;
}

static bool eq_stmt(Same *q, const LoopStmt *a, const LoopStmt *b) {
  return eq_int(q, "the kind", a->kind, b->kind) && eq_int(q, "the binding", a->bind, b->bind) &&
      eq_int(q, "the axis of a grid or a block", a->axis, b->axis) && eq_int(q, "the loop variable", a->var, b->var) &&
      eq_expr(q, "where a loop begins", a->lo, b->lo) && eq_expr(q, "where a loop ends", a->hi, b->hi) &&
      eq_int(q, "a loop's step", a->step, b->step) &&
      eq_int(q, "how many blocks are beside each other", a->beside, b->beside) &&
      eq_int(q, "how wide a store is", a->wide, b->wide) &&
      eq_int(q, "how often a loop is polled", a->polled, b->polled) && eq_expr(q, "a condition", a->cond, b->cond) &&
      eq_int(q, "how likely a condition is", a->maybe, b->maybe) &&
      eq_int(q, "a statement's place", a->place, b->place) && eq_int(q, "an operation of lanes", a->op, b->op) &&
      eq_int(q, "a store's indices", a->n_at, b->n_at) && eq_exprs(q, "an index of a store", a->n_at, a->at, b->at) &&
      eq_matrix(q, a->matrix, b->matrix) && eq_expr(q, "a matrix' other side", a->other_side, b->other_side) &&
      eq_over(q, a, b) && eq_expr(q, "a value", a->value, b->value) && eq_body(q, &a->body, &b->body) &&
      eq_body(q, &a->other, &b->other);
}

static bool eq_body(Same *q, const LoopBody *a, const LoopBody *b) {
  if (!eq_int(q, "the number of statements", a->len, b->len)) return false;
  for (uint32_t i = 0; i < a->len; i++)
    if (!eq_stmt(q, a->at[i], b->at[i])) return false;
  return true;
}

static bool eq_axes(Same *q, const LoopPlace *a, const LoopPlace *b) {
  for (uint32_t k = 0; k < a->rank && (a->axes || b->axes); k++)
    if (!eq_int(q, "the axes of a place", a->axes ? a->axes[k] : 0, b->axes ? b->axes[k] : 0)) return false;
  return true;
}

static bool eq_loop_place(Same *q, const LoopPlace *a, const LoopPlace *b) {
  return eq_int(q, "a place's space", a->space, b->space) && eq_str(q, "a place's name", a->name, b->name) &&
      eq_int(q, "a place's dtype", a->dtype, b->dtype) && eq_int(q, "a place's rank", a->rank, b->rank) &&
      eq_exprs(q, "a place's shape", a->rank, a->dim, b->dim) && eq_int(q, "a place's buffer", a->buffer, b->buffer) &&
      eq_axes(q, a, b) && eq_int(q, "whether halves are small", a->small, b->small) &&
      eq_int(q, "whether a place is written", a->written, b->written);
}

static bool eq_heads(Same *q, const LoopKernel *a, const LoopKernel *b) {
  if (!eq_int(q, "the number of notes", a->note.len, b->note.len) ||
      !eq_int(q, "the number of decisions", a->how.len, b->how.len) ||
      !eq_int(q, "the number of loop variables", a->var.len, b->var.len) ||
      !eq_int(q, "the number of places", a->places.len, b->places.len))
    return false;
  for (uint32_t i = 0; i < a->note.len; i++)
    if (!eq_str(q, "a note", a->note.at[i], b->note.at[i])) return false;
  for (uint32_t i = 0; i < a->how.len; i++)
    if (!eq_str(q, "a decision", a->how.at[i], b->how.at[i])) return false;
  for (uint32_t i = 0; i < a->var.len; i++)
    if (!eq_str(q, "a loop variable's name", a->var.at[i], b->var.at[i])) return false;
  for (uint32_t i = 0; i < a->places.len; i++)
    if (!eq_loop_place(q, &a->places.at[i], &b->places.at[i])) return false;
  return true;
}

static bool eq_kernel(Equal *e, const LoopKernel *a, const LoopKernel *b) {
  Same *q = &e->q;
  e->k = a;
  bool ok = eq_str(q, "the name", a->name, b->name) && eq_place(q, a->from, b->from) &&
            eq_int(q, "the task", a->task, b->task) && eq_expr(q, "the work", a->work, b->work) &&
            eq_int(q, "whether there is a dense version", a->dense, b->dense) && eq_heads(q, a, b) &&
            eq_body(q, &a->body, &b->body) &&
            eq_int(q, "whether there is one for narrow registers", !a->narrow, !b->narrow);
  e->k = NULL;
  return ok && (!a->narrow || eq_kernel(e, a->narrow, b->narrow));
}

bool loop_equal(const LoopProgram *a, const LoopProgram *b, Buf *why) {
  if (!task_equal(a->tasks, b->tasks, why)) return false;
  Equal e = {.q = {.arena = arena_new(), .why = why, .same_pool = a->tasks->exprs == b->tasks->exprs}};
  e.q.ctx = &e;
  e.q.where = say_where;
  bool ok = eq_int(&e.q, "the number of kernels", a->kernels.len, b->kernels.len) &&
            eq_int(&e.q, "the number of sites", a->sites.len, b->sites.len);
  for (uint32_t i = 0; ok && i < a->sites.len; i++)
    ok = eq_str(&e.q, "a site's text", a->sites.at[i].text, b->sites.at[i].text) &&
         eq_int(&e.q, "whether a site was asked for", a->sites.at[i].asked, b->sites.at[i].asked) &&
         eq_place(&e.q, a->sites.at[i].place, b->sites.at[i].place);
  for (uint32_t i = 0; ok && i < a->kernels.len; i++) ok = eq_kernel(&e, a->kernels.at[i], b->kernels.at[i]);
  arena_free(e.q.arena);
  return ok;
}
