/* codegen/emit/cuda_rows.c - emits what a run for a device tells its planner of memory (runtime/cuda/spill.h): a table
 * of its rows, with the buffers that each uses, and in the run a call before each row. In: the tasks, as the run is
 * printed. It is for runs whose kernels are launched by the driver. */
#include "c_inside.h"

static const char *const kind_word[] = {"STEP", "REPEAT", "TURN", "UNTIL"};
static const char *const how_word[] = {"READ", "PART", "WHOLE"};

static bool has_rows(const CPrinter *p) { return p->launch.driver; }

/* k: the task, or the one around it */
static uint32_t row_add(CPrinter *p, EmitRowKind kind, const Task *k, int32_t pair) {
  if (!p->launch.rows) p->launch.rows = NEW(p->arena, EmitRows);
  const TaskGraph *t = p->p->tasks;
  int32_t unless = p->launch.unless >= 0 ? (int32_t)t->inputs.at[p->launch.unless].buffer : -1;
  Str name = k->name;
  if (!name && !task_has_stages(k)) name = t->buffers.at[k->buffer].name;
  EmitRows *rows = p->launch.rows;
  int32_t when = p->launch.when;
  vec_push(p->arena, rows->rows,
      ((EmitRow){.kind = kind, .task = k, .first = rows->uses.len, .pair = pair, .unless = unless, .when = when,
          .from = -1, .size = when < 0 ? NULL : p->sizes.at.at[when], .name = name}));
  return p->launch.rows->rows.len - 1;
}

/* A buffer that is read anywhere is not written as a whole; one that is written anywhere is not only read. */
static void use_add(CPrinter *p, uint32_t buffer, EmitHow how) {
  EmitRow *row = &vec_last(p->launch.rows->rows);
  for (uint32_t i = row->first; i < row->first + row->n; i++) {
    EmitUse *x = &p->launch.rows->uses.at[i];
    if (x->buffer != buffer) continue;
    if (x->how != how) x->how = EMIT_PART;
    return;
  }
  vec_push(p->arena, p->launch.rows->uses, ((EmitUse){buffer, how}));
  row->n++;
}

static void need_print(CPrinter *p, uint32_t row, const char *in) {
  buf_printf(p->out, "%sein_cuda_need(ctx, %u);\n", in, row);
}

/* ---- kernels ------------------------------------------------------------------------------------------ */

/* Whether it stores to each place of its buffer. */
static bool stage_covers(const TaskGraph *t, const TaskStage *s) {
  const TaskBuffer *b = &t->buffers.at[s->buffer];
  if (s->sum->domain || s->n_at != b->rank) return false;
  for (uint32_t d = 0; d < s->n_at; d++) {
    const Expr *e = s->at[d];
    if (e->kind != EX_LABEL || s->bound[e->i] != b->dim[d]) return false;
    for (uint32_t c = 0; c < d; c++)
      if (s->at[c]->i == e->i) return false;
  }
  return true;
}

/* How a kernel uses a buffer to which it stores. */
static EmitHow stored_how(const TaskGraph *t, const Task *k, uint32_t buffer) {
  const TaskBuffer *b = &t->buffers.at[buffer];
  if (b->space == BUF_WORK && b->first == k->step) return EMIT_WHOLE; /* what it held before is not needed */
  vec_each(const TaskStage, s, k->stages) {
    if (stage_reads(s, buffer)) return EMIT_PART;
    if (s->buffer == (int32_t)buffer && stage_covers(t, s)) return EMIT_WHOLE;
  }
  return EMIT_PART;
}

/* Perhaps one place reads it, and another one stores to it. */
static bool is_stored(const LoopKernel *k, uint32_t buffer) {
  vec_each(const LoopPlace, x, k->places)
    if (x->space == SPACE_BUFFER && x->buffer == buffer && x->written) return true;
  return false;
}

void c_need_kernel(CPrinter *p, const Task *k, uint32_t number, const char *in) {
  if (!has_rows(p)) return;
  const LoopKernel *x = p->p->kernels.at[number];
  uint32_t row = row_add(p, EMIT_STEP, k, -1);
  vec_each(const LoopPlace, place, x->places) {
    if (place->space != SPACE_BUFFER) continue;
    use_add(p, place->buffer, is_stored(x, place->buffer) ? stored_how(p->p->tasks, k, place->buffer) : EMIT_READ);
  }
  need_print(p, row, in);
}

/* ---- moves: only on a mesh ------------------------------------------------------------------------------ */

/* What a move stores to is not needed before its first step, but what its first half has stored is needed in the
 * second. Its own memory is the buffer behind all others that has its number. */
void c_need_move(CPrinter *p, const Task *k, bool second, const char *in) {
  if (!has_rows(p)) return;
  const TaskGraph *t = p->p->tasks;
  const TaskBuffer *to = &t->buffers.at[k->buffer];
  uint32_t row = row_add(p, EMIT_STEP, k, -1);
  EmitHow how = !second && to->space == BUF_WORK && to->first == k->step ? EMIT_WHOLE : EMIT_PART;
  use_add(p, k->from, EMIT_READ);
  use_add(p, k->buffer, how);
  if (task_moves_places(k)) use_add(p, k->place_from, EMIT_READ), use_add(p, k->place_to, EMIT_PART);
  use_add(p, t->buffers.len + c_move_number(p, k), second ? EMIT_PART : EMIT_WHOLE);
  need_print(p, row, in);
}

void c_need_fetch(CPrinter *p, const Task *k, const char *in) {
  if (!has_rows(p)) return;
  const TaskStage *s = &k->stages.at[0];
  uint32_t row = row_add(p, EMIT_STEP, k, -1);
  for (uint32_t i = 0; i < s->sum->n_slot; i++)
    if (!s->slot[i].kept) use_add(p, s->slot[i].index, EMIT_READ);
  use_add(p, (uint32_t)s->buffer, stored_how(p->p->tasks, k, (uint32_t)s->buffer));
  need_print(p, row, in);
}

/* ---- other tasks -------------------------------------------------------------------------------------- */

void c_need(CPrinter *p, const Task *k, uint32_t buffer, bool writes, const char *in) {
  if (!has_rows(p)) return;
  uint32_t row = row_add(p, EMIT_STEP, k, -1);
  use_add(p, buffer, writes ? EMIT_WHOLE : EMIT_READ);
  need_print(p, row, in);
}

void c_need_default(CPrinter *p, const Task *k) {
  if (!has_rows(p)) return;
  row_add(p, EMIT_STEP, k, -1);
  EmitRow *row = &vec_last(p->launch.rows->rows);
  row->first = p->p->tasks->inputs.at[k->argument].buffer;
  row->from = (int32_t)k->buffer;
}

int32_t c_repeat_begins(CPrinter *p, const Task *k) {
  return has_rows(p) ? (int32_t)row_add(p, EMIT_REPEAT, k, -1) : -1;
}

void c_turn_ends(CPrinter *p, const Task *k, int32_t begin, const char *in) {
  if (!has_rows(p)) return;
  uint32_t row = row_add(p, k->stop >= 0 ? EMIT_UNTIL : EMIT_TURN, k, begin);
  p->launch.rows->rows.at[begin].pair = (int32_t)row;
  for (uint32_t i = 0; i < k->exchange.len; i++)
    vec_push(p->arena, p->launch.rows->uses, ((EmitUse){k->exchange.at[i].now, k->exchange.at[i].next}));
  p->launch.rows->rows.at[row].n = k->exchange.len;
  if (k->stop >= 0) buf_printf(p->out, "%sein_cuda_until(ctx, %u, stop);\n", in, row);
}

/* ---- the table ---------------------------------------------------------------------------------------- */

static void uses_print(Buf *c, const EmitRows *r, const EmitRow *x) {
  for (uint32_t i = x->first; i < x->first + x->n; i++) {
    const EmitUse *u = &r->uses.at[i];
    if (x->kind == EMIT_STEP) buf_printf(c, "  {%u, EIN_SPILL_%s},\n", u->buffer, how_word[u->how]);
    else buf_printf(c, "  {%u, %u},\n", u->buffer, u->how);
  }
}

const char *c_rows(CPrinter *p) {
  const char *x = p->o->prefix;
  if (!p->launch.rows) return "NULL";
  Buf rows = buf_new(p->arena);
  buf_printf(p->out,
      "/* ---- memory: the buffers that each row of the run uses ------------------------------------- */\n\n"
      "static const ein_spill_use %s_uses[] = {\n",
      x);
  vec_each(const EmitRow, r, p->launch.rows->rows) {
    uses_print(p->out, p->launch.rows, r);
    buf_printf(&rows, "  {EIN_SPILL_%s, %u, %u, %d, %d, %d, %d, %s, %s},\n", kind_word[r->kind], r->first, r->n,
        r->pair, r->unless, r->when, r->from, c_text(p->arena, r->name), c_place_fields(p->arena, r->task->place));
  }
  buf_printf(p->out, "  {0, 0},\n};\nstatic const ein_spill_row %s_rows[] = {\n", x);
  buf_add(p->out, rows.s, rows.len);
  buf_printf(p->out, "};\nstatic const ein_spill_table %s_table = {%u, %u, %s_rows, %s_uses};\n\n", x,
      p->launch.rows->rows.len, p->launch.rows->uses.len, x, x);
  return arena_printf(p->arena, "&%s_table", x);
}
