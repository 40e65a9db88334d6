/* task/check/move.c - invariants of a mesh: which buffers are at which site, and what moves between them. */
#include "check.h"

/* ---- a mesh ------------------------------------------------------------------------------------- */

/* False: nothing that depends on sites can be checked. */
bool check_mesh(Check *c) {
  const TaskGraph *t = c->t;
  int64_t sites = 1;
  bool well = t->mesh.n <= MESH_AXES;
  for (uint32_t a = 0; well && a < t->mesh.n; a++)
    well = t->mesh.size[a] > 0 && mul_ok(sites, t->mesh.size[a], &sites) && sites <= TASK_SITES;
  if (!well) fail(c, "its mesh has no size, or too large a one");
  if (t->room < 0 || t->room > MOVE_ROOM || (t->room && !t->mesh.n)) fail(c, "it has no such room for parts");
  for (uint32_t a = 0; well && a < t->mesh.n; a++) {
    well = a < t->dims.len && !t->dims.at[a].known && t->dims.at[a].name == task_axis(t, a);
    if (!well) fail(c, "dim %u is not the place along axis %u", a, a);
  }
  for (uint32_t i = t->mesh.n; well && t->mesh.n && i < t->dims.len; i++)
    if (!t->dims.at[i].known) well = false, fail(c, "dim %u has no value, though there is a mesh", i);
  return well;
}

/* Fields that only a buffer of a mesh has. */
bool check_site(Check *c, const TaskBuffer *b) {
  bool well = c->t->mesh.n || (!b->low && !b->when);
  if (!well) fail(c, "it says where it is, and there is no mesh");
  for (uint32_t d = 0; b->low && d < b->rank; d++) well &= check_extent(&c->c, "a place", b->low[d]);
  if (!b->when) return well;
  if (b->when->dtype != DT_BOOL || (b->when->has & ~(unsigned)HAS_DIM)) {
    fail(c, "where it is is no bool over the site");
    return false;
  }
  c->c.now++;
  check_walk(&c->c, b->when, WALK_ALL, check_dim_name);
  return well;
}

/* ---- moves ----------------------------------------------------------------------------------------- */

static bool mentions(const Check *c, const Expr *top, uint32_t axis) {
  Str name = task_axis(c->t, axis);
  ExprNodes nodes = expr_nodes(c->arena, top, HAS_DIM);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_DIM && e->name == name) return true;
  return false;
}

/* A box may differ only along the axes that cut it. */
static void check_placement(Check *c, const char *what, const TaskBuffer *b, const Placement *p) {
  for (uint32_t a = 0; a < c->t->mesh.n; a++) {
    bool moves = false;
    for (uint32_t d = 0; d < b->rank; d++) moves |= mentions(c, b->dim[d], a) || mentions(c, b->low[d], a);
    if (p->on[a] < PLACE_SOME || (p->on[a] >= 0 && p->on[a] >= (int64_t)b->rank))
      fail(c, "%s has no placement along axis %u", what, a);
    if (p->on[a] == PLACE_ALL && (moves || mentions(c, b->when, a)))
      fail(c, "%s is not the same along axis %u", what, a);
    if (p->on[a] == PLACE_PART && moves) fail(c, "%s is not parts of one box along axis %u", what, a);
  }
}

static void check_reduction(Check *c, const Task *k, DType t) {
  bool combined = move_combines(c->t, k) != 0;
  for (uint32_t a = 0; a < c->t->mesh.n; a++)
    if (k->to.on[a] == PLACE_PART && k->of.on[a] != PLACE_PART) fail(c, "it makes parts along axis %u", a);
  if (combined != (k->reducer != RED_NONE)) fail(c, "a reducer stands where parts are combined, and only there");
  bool place = reducer_is_arg(k->reducer);
  EinSum s = {.reducer = k->reducer, .monoid = k->monoid, .acc = t, .dtype = place ? DT_I64 : t};
  if ((unsigned)k->reducer < REDUCERS) check_reducer(&c->c, &s);
}

/* Places lie beside the elements, in the same box. */
static void check_places(Check *c, const char *what, uint32_t buffer, const TaskBuffer *b) {
  if (!check_buffer_number(c, what, buffer)) return;
  const TaskBuffer *p = &c->t->buffers.at[buffer];
  bool same = p->dtype == DT_I64 && p->rank == b->rank && p->low && p->when == b->when && p != b;
  for (uint32_t d = 0; same && d < b->rank; d++) same = p->dim[d] == b->dim[d] && p->low[d] == b->low[d];
  if (!same) fail(c, "%%%u has not the places of %%%u", buffer, b->id);
}

/* Boxes that wrap are cut from whole tensors, by their extents; parts are combined element by element. */
static void check_wrap(Check *c, const Task *k, uint32_t rank) {
  for (uint32_t d = 0; d < rank; d++)
    if (k->wrap[d] < 0) fail(c, "dimension %u wraps at %lld", d, (long long)k->wrap[d]);
  if (k->reducer != RED_NONE) fail(c, "it wraps and combines parts");
}

void check_move(Check *c, const Task *k) {
  const TaskBuffer *to = &c->t->buffers.at[k->buffer], *from = &c->t->buffers.at[k->from];
  check_buffer_read(c, k->from, k->step);
  check_buffer_write(c, k->buffer, k->step);
  check_buffer_alive(c, k->from, k->end);
  check_buffer_alive(c, k->buffer, k->end);
  if (k->from == k->buffer || from->dtype != to->dtype || from->rank != to->rank) {
    fail(c, "%%%u and %%%u are not of one tensor", k->from, k->buffer);
    return;
  }
  if (!from->low || !to->low) {
    fail(c, "%%%u or %%%u does not say where it is", k->from, k->buffer);
    return;
  }
  check_placement(c, "what it moves", from, &k->of);
  check_placement(c, "what it makes", to, &k->to);
  check_reduction(c, k, to->dtype);
  if (k->wrap) check_wrap(c, k, to->rank);
  if (task_moves_places(k)) {
    check_places(c, "where places come from", k->place_from, from);
    check_places(c, "where places go", k->place_to, to);
    if (k->place_from < c->t->buffers.len)
      check_buffer_read(c, k->place_from, k->step), check_buffer_alive(c, k->place_from, k->end);
    if (k->place_to < c->t->buffers.len)
      check_buffer_write(c, k->place_to, k->step), check_buffer_alive(c, k->place_to, k->end);
  } else if (k->place_from || k->place_to) {
    fail(c, "it moves places, and is not by argmax or argmin");
  }
  if ((unsigned)k->move >= TASK_MOVES) fail(c, "it has no kind");
  else if (k->move != MOVE_EXCHANGE && k->move != move_kind(c->t, k)) fail(c, "it is no %s", task_move_word(k->move));
}

/* A kernel during a move may touch neither its operand nor its result. */
void check_while(Check *c, const Tasks *list, uint32_t i) {
  const Task *m = list->at[i];
  uint32_t end = m->step;
  c->task = m;
  for (uint32_t j = i + 1; j < list->len && end < m->end; j++) {
    const Task *k = list->at[j];
    if (move_hinders(c->t, m, k))
      fail(c, "it goes on to step %u, and step %u has to do with what it moves", m->end, k->step);
    end = k->kind == TASK_REPEAT ? k->end : k->step;
  }
  if (end != m->end) fail(c, "it goes on to step %u, where no task beside it ends", m->end);
  c->task = NULL;
}

/* ---- fetches --------------------------------------------------------------------------------------- */

/* The next index of a point: read at labels that are the result's first dimensions, followed by the index's number
 * if a point has several. */
static bool is_place(const Check *c, const TaskStage *s, const Expr *e, uint32_t points, uint32_t number) {
  const TaskBuffer *p = &c->t->buffers.at[s->slot[0].index], *to = &c->t->buffers.at[s->buffer];
  if (e->kind != EX_READ || s->slot[e->i].index != p->id || e->n != p->rank || points > to->rank ||
      p->rank - points > 1)
    return false;
  for (uint32_t k = 0; k < points; k++)
    if (e->arg[k]->kind != EX_LABEL || e->arg[k]->i != k || p->dim[k] != to->dim[k]) return false;
  return p->rank == points ? number == 0 : expr_is_int(e->arg[points], number);
}

/* Its only stage reads the table, its last slot, at indices of points, and whole along other dimensions: see
 * fetch.c. */
static bool is_fetch(const Check *c, const TaskStage *s) {
  const EinSum *sum = s->sum;
  bool well = sum->n_slot > 1 && !sum->n_red && sum->reducer == RED_NONE && !sum->where && !sum->domain &&
      sum->body->kind == EX_READ && sum->body->i + 1 == sum->n_slot && sum->dtype == sum->acc && s->buffer >= 0 &&
      (uint32_t)s->buffer < c->t->buffers.len && s->n_at == sum->n_out;
  for (uint32_t i = 0; well && i < sum->n_slot; i++) well = !s->slot[i].kept && s->slot[i].index < c->t->buffers.len;
  if (!well) return false;
  const TaskBuffer *to = &c->t->buffers.at[s->buffer], *p = &c->t->buffers.at[s->slot[0].index];
  const Expr *read = sum->body;
  uint32_t indices = 0, slice = 0;
  if (to->rank != sum->n_out) return false;
  for (uint32_t d = 0; d < read->n; d++) indices += (read->arg[d]->has & HAS_READ) != 0;
  uint32_t points = sum->n_out - (read->n - indices);
  well = indices && to->low && points > 0 && points <= sum->n_out && p->dtype == DT_I64 &&
      (!p->when || p->when == to->when);
  well &= indices == 1 || (p->rank == points + 1 && expr_is_int(p->dim[points], indices));
  for (uint32_t k = 0; well && k < sum->n_out; k++)
    well = s->at[k]->kind == EX_LABEL && s->at[k]->i == k && s->bound[k] == to->dim[k];
  indices = 0;
  for (uint32_t d = 0; well && d < read->n; d++) {
    uint32_t k = points + slice;
    if (read->arg[d]->has & HAS_READ) well = is_place(c, s, read->arg[d], points, indices++);
    else well = read->arg[d] == expr_op2(c->t->exprs, OP_ADD, expr_label(c->t->exprs, k), to->low[k]), slice++;
  }
  return well;
}

void check_fetch(Check *c, const Task *k) {
  bool well = k->stages.len == 1 && is_fetch(c, &k->stages.at[0]);
  if (!well) fail(c, "what it fetches is not one read of its table, at points and whole along other dimensions");
  else if (!c->t->buffers.at[task_table(k)].low && c->t->mesh.n)
    fail(c, "%%%u does not say where it is", task_table(k));
}
