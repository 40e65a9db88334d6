/* codegen/emit/c_sites.c - for a LoopProgram on a mesh: tables of its moves (ein_run.h, ein_mesh), a function that
 * returns the box of a tensor that a site has, and a function for each way of combining parts. */
#include "c_inside.h"
#include "c_tables.h"
#include "task/sites/site.h"

/* ---- moves -------------------------------------------------------------------------------------------- */

static void moves_find(CPrinter *p, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind == TASK_MOVE) vec_push(p->arena, p->moves, list->at[i]);
    if (list->at[i]->kind == TASK_FETCH) vec_push(p->arena, p->fetches, list->at[i]);
    moves_find(p, &list->at[i]->body);
  }
}

uint32_t c_move_number(const CPrinter *p, const Task *move) {
  for (uint32_t i = 0; i < p->moves.len; i++)
    if (p->moves.at[i] == move) return i;
  for (uint32_t i = 0; i < p->fetches.len; i++)
    if (p->fetches.at[i] == move) return i;
  bug("a move that is none of the program's");
}

/* ---- how parts are combined ------------------------------------------------------------------------------ */

static const Expr *params_read(void *env, Exprs *x, const Expr *leaf) {
  (void)env;
  return leaf->kind == EX_PARAM ? expr_read(x, (DType)leaf->dtype, leaf->i, 0, NULL) : leaf;
}

static const Expr *combined(Exprs *x, const Task *k, DType t) {
  const Expr *a = expr_read(x, t, 0, 0, NULL), *b = expr_read(x, t, 1, 0, NULL);
  if (k->reducer == RED_MONOID) return expr_map(x, k->monoid->combine, params_read, NULL);
  return expr_op2(x, (Op)reducer_info[k->reducer].combine, a, b);
}

static void operand_add(CPrinter *p, LoopKernel *k, const char *name, DType t) {
  vec_push(p->arena, k->places, ((LoopPlace){.space = SPACE_REGISTER, .name = str_from(p->strings, name), .dtype = t}));
}

/* Registers a and b belong to a kernel that consists of this one expression. */
static void fold_print(CPrinter *p, uint32_t number, const Task *k) {
  DType t = p->p->tasks->buffers.at[k->buffer].dtype;
  const char *in_memory = c_store_type(t), *value = c_value_type(t);
  LoopKernel fold = {0};
  operand_add(p, &fold, "a", t);
  operand_add(p, &fold, "b", t);
  buf_printf(p->out,
             "static void %s_fold_%u(void *to, const void *part, int64_t n) {\n"
             "  %s *const EIN_RESTRICT x = (%s *)to;\n  const %s *const EIN_RESTRICT y = (const %s *)part;\n"
             "  for (int64_t i = 0; i < n; i++) {\n    const %s a = x[i], b = y[i];\n    x[i] = (%s)(",
             p->o->prefix, number, in_memory, in_memory, in_memory, in_memory, value, in_memory);
  c_kernel_begin(p, &fold, NULL);
  c_expr(p, combined(p->p->tasks->exprs, k, t), false);
  p->k = NULL;
  buf_str(p->out, ");\n  }\n}\n");
}

/* For argmax and argmin: NaN beats any number; of equals the earlier position wins. */
static const char *beats(Arena *a, const Task *k, DType t, const char *x, const char *y) {
  const char *sign = k->reducer == RED_ARGMAX ? ">" : "<";
  if (!dtype_is_float(t)) return arena_printf(a, "%s %s %s", x, sign, y);
  return arena_printf(a, "%s == %s && (%s != %s || %s %s %s)", y, y, x, x, x, sign, y);
}

static void best_print(CPrinter *p, uint32_t number, const Task *k) {
  DType t = p->p->tasks->buffers.at[k->buffer].dtype;
  const char *in_memory = c_store_type(t), *value = c_value_type(t);
  buf_printf(p->out,
      "static void %s_best_%u(void *to, int64_t *place, const void *part, const int64_t *part_place, int64_t n) {\n"
      "  %s *const x = (%s *)to;\n  const %s *const y = (const %s *)part;\n"
      "  for (int64_t i = 0; i < n; i++) {\n    const %s a = x[i], b = y[i];\n"
      "    const int better = %s, worse = %s;\n"
      "    if (part_place[i] == INT64_MAX || (place[i] != INT64_MAX && !better && (worse || place[i] <= "
      "part_place[i]))) continue;\n"
      "    x[i] = y[i];\n    place[i] = part_place[i];\n  }\n}\n",
      p->o->prefix, number, in_memory, in_memory, in_memory, in_memory, value, beats(p->arena, k, t, "b", "a"),
      beats(p->arena, k, t, "a", "b"));
}

/* ---- placement --------------------------------------------------------------------------------------------- */

/* Whether the buffer is in a move or passes between the caller and us, and so needs its box. */
static bool moved(const CPrinter *p, uint32_t buffer) {
  if (p->p->tasks->buffers.at[buffer].space != BUF_WORK) return true;
  for (uint32_t i = 0; i < p->moves.len; i++)
    if (p->moves.at[i]->buffer == buffer || p->moves.at[i]->from == buffer) return true;
  for (uint32_t i = 0; i < p->fetches.len; i++)
    if (task_table(p->fetches.at[i]) == buffer || p->fetches.at[i]->stages.at[0].buffer == (int64_t)buffer) return true;
  return false;
}

static void box_print(CPrinter *p, const TaskBuffer *b) {
  Buf *out = p->out;
  buf_printf(out, "  case %u:\n", b->id);
  if (b->when) {
    buf_str(out, "    if (!");
    c_checked(p, out, b->when);
    buf_str(out, ") return 0;\n");
  }
  for (uint32_t d = 0; d < b->rank; d++) {
    buf_printf(out, "    low[%u] = ", d);
    if (b->low) c_checked(p, out, b->low[d]);
    else buf_char(out, '0');
    buf_printf(out, ";\n    high[%u] = low[%u] + ", d, d);
    c_checked(p, out, b->dim[d]);
    buf_str(out, ";\n");
  }
  buf_str(out, "    return 1;\n");
}

static void boxes_print(CPrinter *p) {
  const TaskGraph *t = p->p->tasks;
  buf_printf(p->out, "static int %s_box(ein_plan *p, const int64_t *dim, int buffer, int64_t *low, int64_t *high) {\n"
                     "  (void)p, (void)dim, (void)low, (void)high;\n  switch (buffer) {\n", p->o->prefix);
  for (uint32_t i = 0; i < t->buffers.len; i++)
    if (moved(p, i)) box_print(p, &t->buffers.at[i]);
  buf_str(p->out, "  default: return 0;\n  }\n}\n");
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static void move_tables(CPrinter *p, uint32_t i, const Task *k) {
  const TaskGraph *t = p->p->tasks;
  const char *prefix = p->o->prefix;
  c_ints(p->out, arena_printf(p->arena, "signed char %s_of_%u", prefix, i), t->mesh.n, k->of.on);
  c_ints(p->out, arena_printf(p->arena, "signed char %s_onto_%u", prefix, i), t->mesh.n, k->to.on);
  if (k->wrap)
    c_ints(p->out, arena_printf(p->arena, "int64_t %s_wrap_%u", prefix, i), t->buffers.at[k->buffer].rank, k->wrap);
}

/* The name of what is printed for move i; NULL if it has none. */
static const char *part_name(CPrinter *p, const char *what, uint32_t i, bool has) {
  return c_table(p->arena, p->o->prefix, arena_printf(p->arena, "%s_%u", what, i), has);
}

static void move_row(CPrinter *p, uint32_t i, const Task *k) {
  bool places = task_moves_places(k), folds = k->reducer != RED_NONE && !places;
  buf_printf(p->out, "  {%u, %u, %s_of_%u, %s_onto_%u, %s, %s, %u, %u, %s, %u, %u, %d},\n", k->from, k->buffer,
      p->o->prefix, i, p->o->prefix, i, part_name(p, "fold", i, folds), part_name(p, "best", i, places), k->place_from,
      k->place_to, part_name(p, "wrap", i, k->wrap != NULL), k->step, k->end, move_shares(p->p->tasks, k));
}

/* By dimension of the table: which index of a point it takes. */
static void fetch_table(CPrinter *p, uint32_t i, const Task *k) {
  const Expr *read = k->stages.at[0].sum->body;
  int n = 0;
  buf_printf(p->out, "static const signed char %s_index_%u[] = {", p->o->prefix, i);
  for (uint32_t d = 0; d < read->n; d++)
    buf_printf(p->out, "%s%d", d ? ", " : "", read->arg[d]->has & HAS_READ ? n++ : -1);
  buf_str(p->out, "};\n");
}

static void fetch_row(CPrinter *p, uint32_t i, const Task *k) {
  const TaskStage *s = &k->stages.at[0];
  const Expr *read = s->sum->body;
  uint32_t n = 0;
  for (uint32_t d = 0; d < read->n; d++) n += (read->arg[d]->has & HAS_READ) != 0;
  buf_printf(p->out, "  {%u, %u, %d, %u, %u, %s_index_%u},\n", task_table(k), s->slot[0].index, s->buffer,
      s->sum->n_out - (read->n - n), n, p->o->prefix, i);
}

void c_sites(CPrinter *p) {
  const Mesh *m = &p->p->tasks->mesh;
  Buf *out = p->out;
  if (!m->n) return;
  moves_find(p, &p->p->tasks->tasks);
  buf_str(out, "/* ---- between sites ---------------------------------------------------------------------- */\n\n");
  boxes_print(p);
  for (uint32_t i = 0; i < p->moves.len; i++)
    if (task_moves_places(p->moves.at[i])) best_print(p, i, p->moves.at[i]);
    else if (p->moves.at[i]->reducer != RED_NONE) fold_print(p, i, p->moves.at[i]);
  for (uint32_t i = 0; i < p->moves.len; i++) move_tables(p, i, p->moves.at[i]);
  if (p->moves.len) buf_printf(out, "static const ein_move_row %s_move[] = {\n", p->o->prefix);
  for (uint32_t i = 0; i < p->moves.len; i++) move_row(p, i, p->moves.at[i]);
  if (p->moves.len) buf_str(out, "};\n");
  for (uint32_t i = 0; i < p->fetches.len; i++) fetch_table(p, i, p->fetches.at[i]);
  if (p->fetches.len) buf_printf(out, "static const ein_fetch_row %s_fetch[] = {\n", p->o->prefix);
  for (uint32_t i = 0; i < p->fetches.len; i++) fetch_row(p, i, p->fetches.at[i]);
  if (p->fetches.len) buf_str(out, "};\n");
  c_ints(out, arena_printf(p->arena, "int %s_axes", p->o->prefix), m->n, m->size);
  buf_printf(out, "static const ein_mesh %s_mesh = {%u, %s_axes, %s, %s, %s_box, %u, ein_staged, %lld};\n\n",
      p->o->prefix, m->n, p->o->prefix, c_table(p->arena, p->o->prefix, "move", p->moves.len),
      c_table(p->arena, p->o->prefix, "fetch", p->fetches.len), p->o->prefix, p->moves.len,
      (long long)move_room(p->p->tasks->room));
  buf_printf(out,
      "static ein_status %s_block(const void *ctx, int output, int argument, int site, int64_t *low, int64_t "
      "*shape) {\n"
      "  return ein_argument_block(ctx, &%s_mesh, output, argument, site, low, shape);\n}\n\n",
      p->o->prefix, p->o->prefix);
}
