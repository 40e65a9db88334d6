/* codegen/schedule/cpu/panels/grouped.c - grouped products (task/grouped.h): data choose one of a few matrices for each
 * row. Row by row, each would read a whole matrix for one row of the result, or add to a whole matrix. Instead the rows
 * are sorted by their groups, and each group has panels of its own:
 *
 *     list the rows, those of a group one after the other
 *     for each group e, and each block of lanes, by threads
 *       panels as usual; row z of them is row list[begin + z] of the tensors, of as many as the group has
 *
 * The stage is rewritten for that. In place of the rows' labels it has e, the number of the group; begin, where its rows
 * begin in the list; and z. The label of a row is a read of the list, and the key is e. If rows are reduced, so is z, in
 * the order of the rows: such sums have blocks of a group's rows. */
#include "expr/prove/prove.h"
#include "panels.h"
#include "task/grouped.h"

enum { OF, BEGIN, ROW };     /* new output labels; ROW is reduced if rows are */

typedef struct Regroup {
  Sched *s;
  const Task *was;           /* the kernel, and ours: */
  Task *k;
  Grouped g;
  uint32_t n_out;            /* output labels of our stages; */
  const Expr **to;           /*   by label of the kernel's, and then for the key: what it is there, */
  const Expr *at;            /*   a row's place in the list, */
  uint32_t list;             /*   and the list's buffer */
} Regroup;

static const TaskStage *stage_of(const Regroup *r) { return &r->was->stages.at[0]; }
static bool are_reduced(const Regroup *r) { return r->g.label >= 0; }
static bool is_row(const Regroup *r, uint32_t label) { return number_among(r->g.n_row, r->g.row, label); }

/* ---- our stages -------------------------------------------------------------------------------------------------- */

/* The rows' labels become digits of what the list says. */
static void rows_relabel(Regroup *r, const TaskStage *st, uint32_t slot) {
  Sched *s = r->s;
  const Expr *row = expr_read(s->x, DT_I64, slot, 1, &r->at);
  for (uint32_t k = r->g.n_row; k-- > 0;) {
    const Expr *size = st->bound[r->g.row[k]];
    r->to[r->g.row[k]] = k ? expr_op2(s->x, OP_MOD, row, size) : row;
    if (k) row = expr_op2(s->x, OP_IDIV, row, size);
  }
}

static void labels_number(Regroup *r) {
  Sched *s = r->s;
  const EinSum *sum = stage_of(r)->sum;
  uint32_t n = are_reduced(r) ? BEGIN + 1 : ROW + 1;
  for (uint32_t l = 0; l < sum->n_out + sum->n_red; l++) {
    if (l == sum->n_out) r->n_out = n, n += are_reduced(r);
    if (l != r->g.label && !is_row(r, l)) r->to[l] = expr_label(s->x, n++);
  }
  const Expr *of = expr_label(s->x, OF), *row = expr_label(s->x, are_reduced(r) ? r->n_out : ROW);
  if (are_reduced(r)) r->to[r->g.label] = of;
  r->to[sum->n_out + sum->n_red] = of;
  r->at = ex_add(s, expr_label(s->x, BEGIN), row);
}

static const Expr *key_labelled(void *env, Exprs *x, const Expr *e) {
  const Regroup *r = env;
  const EinSum *sum = stage_of(r)->sum;
  return e == r->g.key ? expr_label(x, sum->n_out + sum->n_red) : e;
}

typedef struct Kept { const Regroup *r; const TaskStage *st; } Kept;

static const Expr *leaf_kept(void *env, Exprs *x, const Expr *e) {
  const Kept *k = env;
  if (e->kind != EX_READ || e->i >= k->st->sum->n_slot || !k->st->slot[e->i].kept) return e;
  return expr_read(x, (DType)e->dtype, e->i, k->r->n_out, exprs_labels(exprs_arena(x), x, k->r->n_out));
}

static void bounds_set(Regroup *r, const TaskStage *st, TaskStage *own, const Expr *rows) {
  Sched *s = r->s;
  uint32_t n = st->sum->n_out + st->sum->n_red, row = are_reduced(r) ? r->n_out : ROW;
  own->bound = NEW_ARRAY(s->arena, const Expr *, n + 4), own->label = NEW_ARRAY(s->arena, Str, n + 4);
  own->bound[OF] = ex_int(s, r->g.groups), own->bound[BEGIN] = ex_int(s, 1);
  if (are_reduced(r)) own->label[OF] = st->label[r->g.label];
  own->bound[row] = rows, own->label[row] = stage_of(r)->label[r->g.row[0]];
  for (uint32_t l = 0; l < n; l++) {
    if (l == r->g.label || is_row(r, l)) continue;
    own->bound[r->to[l]->i] = st->bound[l], own->label[r->to[l]->i] = st->label[l];
  }
}

/* The kernel's stage number i as one of groups; rows: how many the current group has. */
static void stage_add(Regroup *r, uint32_t i, const Expr *rows) {
  Sched *s = r->s;
  const TaskStage *st = &r->was->stages.at[i];
  EinSum *sum = arena_copy(s->arena, st->sum, sizeof *sum);
  uint32_t n = sum->n_out + sum->n_red, slot = sum->n_slot++;
  TaskStage own = *st;
  Kept kept = {r, st};
  own.sum = sum;
  own.slot = NEW_ARRAY(s->arena, TaskSlot, sum->n_slot);
  for (uint32_t k = 0; k < slot; k++) own.slot[k] = st->slot[k];
  own.slot[slot] = (TaskSlot){false, r->list};
  bounds_set(r, st, &own, rows);
  rows_relabel(r, stage_of(r), slot);
  const Expr *body = sum->body;
  if (!i) body = (r->g.key->kind == EX_OP ? expr_map_ops : expr_map)(s->x, body, key_labelled, r);
  sum->body = expr_map(s->x, expr_relabel(s->x, body, i ? n : n + 1, r->to), leaf_kept, &kept);
  sum->where = sum->domain = NULL;
  sum->n_out = r->n_out;
  if (!i && are_reduced(r)) sum->n_red += 1 - r->g.n_row;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, st->n_at + 1);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = expr_relabel(s->x, st->at[k], n, r->to);
  own.at = at;
  vec_push(s->arena, r->k->stages, own);
}

/* The kernel over groups. */
static void regroup(Regroup *r, const Expr *rows) {
  Sched *s = r->s;
  const EinSum *sum = stage_of(r)->sum;
  r->to = NEW_ARRAY(s->arena, const Expr *, sum->n_out + sum->n_red + 2);
  r->k = arena_copy(s->arena, r->was, sizeof *r->k);
  r->k->stages.at = NULL, r->k->stages.len = r->k->stages.cap = 0;
  labels_number(r);
  for (uint32_t i = 0; i < r->was->stages.len; i++) stage_add(r, i, rows);
  r->k->n_outer = r->k->stages.len > 1 ? r->n_out : 0;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* Loops over all rows, in order; e gets their labels. Returns the row's number. */
static const Expr *rows_open(Regroup *r, Env *e) {
  Sched *s = r->s;
  const Expr *row = ex_int(s, 0);
  for (uint32_t k = 0; k < r->g.n_row; k++) {
    uint32_t l = r->g.row[k];
    const Expr *v = for_open(s, e->stage->label[l], "row", ex_int(s, 0), e->stage->bound[l], 1, BIND_SEQ);
    e->label[l] = v;
    row = ex_add(s, ex_mul(s, row, e->stage->bound[l]), v);
  }
  return row;
}

/* The number of the current row's group. That of a tensor is tested as it would be at each of the elements that are
 * read for the row, if there are any. */
static const Expr *key_of(Regroup *r, Env *e) {
  Sched *s = r->s;
  if (are_reduced(r)) return ex_of(e, r->g.key);
  const TaskStage *st = e->stage;
  const Expr *read = body_reads(s, st->sum)[r->g.slot], *some = NULL, *zero = ex_int(s, 0);
  for (uint32_t l = 0; l < st->sum->n_out + st->sum->n_red; l++) {
    if (is_row(r, l)) continue;
    e->label[l] = zero;
    if (st->bound[l]->kind != EX_INT) some = expr_and(s->x, some, expr_op2(s->x, OP_LT, zero, st->bound[l]));
  }
  const Expr *key = ex_of(e, read)->arg[r->g.axis];
  return some ? expr_select(s->x, some, key, zero) : key;
}

/* Opens `if` the row has a group; returns that. */
static const Expr *key_open(Regroup *r, Env *e) {
  Sched *s = r->s;
  if (r->g.when) into(s, &if_add(s, ex_shared(s, ex_of(e, r->g.when)))->body);
  const Expr *key = let_read(s, "group", ex_shared(s, key_of(r, e))), *zero = ex_int(s, 0);
  if (are_reduced(r)) {
    const Expr *high = expr_op2(s->x, OP_LT, key, ex_int(s, r->g.groups));
    into(s, &if_add(s, expr_and(s->x, expr_op2(s->x, OP_LE, zero, key), high))->body);
  }
  return named(s, NULL, "g", key);
}

static const Expr *first_add(Regroup *r, const Expr *at, const Expr *more) {
  Sched *s = r->s;
  uint32_t first = s->grouped->first;
  const Expr *was = let_read(s, "was", place_read(s, first, 1, &at));
  store_add(s, first, 1, &at, ex_add(s, was, more));
  return was;
}

/* Sorts the rows by groups: group g has places first[g] up to first[g + 1] of the list. While rows are counted, and
 * while they are listed, its entries are one and two places further on. */
static void list_make(Regroup *r) {
  Sched *s = r->s;
  const TaskStage *st = stage_of(r);
  Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, st->sum->n_out + st->sum->n_red + 1)};
  const Expr *zero = ex_int(s, 0), *one = ex_int(s, 1), *end = ex_int(s, r->g.groups + 2);
  LoopBody *was = s->body;
  uint32_t v = var_new(s, NULL, "g");
  into(s, &for_add(s, v, zero, end, 1, BIND_SEQ)->body);
  const Expr *at = var_read(s, v);
  store_add(s, s->grouped->first, 1, &at, zero);
  into(s, was);
  rows_open(r, &e);
  first_add(r, ex_add(s, key_open(r, &e), ex_int(s, 2)), one);
  into(s, was);
  into(s, &for_add(s, v = var_new(s, NULL, "g"), one, end, 1, BIND_SEQ)->body);
  const Expr *before = ex_sub(s, var_read(s, v), one);
  first_add(r, var_read(s, v), place_read(s, s->grouped->first, 1, &before));
  into(s, was);
  const Expr *row = rows_open(r, &e);
  at = named(s, NULL, "at", first_add(r, ex_add(s, key_open(r, &e), one), one));
  store_add(s, s->grouped->list, 1, &at, row);
  into(s, was);
}

/* Rows without anything to reduce have the reducer's identity. */
static void others_make(Regroup *r) {
  Sched *s = r->s;
  const TaskStage *st = stage_of(r);
  const EinSum *sum = st->sum;
  const Expr *where = sum->where ? expr_op1(s->x, OP_NOT, sum->where) : NULL;
  if (are_reduced(r) || !r->g.when || (!where && !s->follow.goes_on)) return;
  Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, sum->n_out + sum->n_red + 1)};
  LoopBody *was = s->body;
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < r->g.n_row; k++) walk_add(s, w, st->label[r->g.row[k]], st->bound[r->g.row[k]]);
  const Expr *work = ex_int(s, 1);
  for (uint32_t l = 0; l < sum->n_out; l++)
    if (!is_row(r, l)) work = ex_mul(s, work, st->bound[l]);
  walk_chunks(s, w, work, BIND_SEQ);
  for (uint32_t k = 0; k < r->g.n_row; k++) e.label[r->g.row[k]] = w->index[k];
  const Expr *other = s->follow.goes_on ? expr_op1(s->x, OP_NOT, r->g.when) : expr_and(s->x, sum->domain, where);
  into(s, &if_add(s, ex_shared(s, ex_of(&e, other)))->body);
  for (uint32_t l = 0; l < sum->n_out; l++) {
    if (is_row(r, l)) continue;
    e.label[l] = for_open(s, st->label[l], "i", ex_int(s, 0), st->bound[l], 1, BIND_SEQ);
  }
  result_store(s, st, &e, expr_cast(s->x, sum->dtype, red_identity(s, sum)));
  into(s, was);
}

/* ---- the current group ------------------------------------------------------------------------------------------- */

void grouped_at(Sched *s, Env *e) {
  const SchedGrouped *g = s->grouped;
  const Expr *of = e->label[OF], *next = ex_add(s, of, ex_int(s, 1));
  index_add(s, g->begin, place_read(s, g->first, 1, &of));
  index_add(s, g->rows, ex_sub(s, place_read(s, g->first, 1, &next), var_read(s, g->begin)));
}

bool grouped_is_listed(const Sched *s, const Expr *index) {
  if (!s->grouped) return false;
  ExprNodes reads = expr_nodes(s->arena, index, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e->i != s->grouped->list || index->has & HAS_CALL) return false;
  return true;
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

static void kernel_is(Sched *s, const Task *k) {
  s->task = k;
  s->follow.goes_on = task_is_continued(k), s->follow.from = 0, s->follow.then = 1;
  s->outer = 0;
  stages_new(s);
}

/* What is read by the list is there; what else is, is known of the kernel's own stage. */
static bool *reads_safe(Regroup *r, Env *was) {
  const TaskStage *st = stage_of(r);
  const Expr **read = body_reads(r->s, st->sum);
  bool *safe = NEW_ARRAY(r->s->arena, bool, st->sum->n_slot + 2);
  for (uint32_t k = 0; k < st->sum->n_slot; k++) safe[k] = k == r->g.slot || (read[k] && ex_is_safe(was, read[k]));
  safe[st->sum->n_slot] = true;
  return safe;
}

/* The panels of the rewritten stage; NULL: none, or rows are not in tiles. */
static Panel *panels_of(Regroup *r, Env *e, StagePlan *p) {
  Sched *s = r->s;
  const TaskStage *st = e->stage;
  uint32_t row = are_reduced(r) ? r->n_out : ROW, n = 0;
  double each = r->g.rows / (double)r->g.groups;
  *p = stage_plan(s, st);
  p->size[row] = each < (double)PACK_FEW ? PACK_FEW : (int64_t)each, p->exact[row] = false;
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != BEGIN) p->order[n++] = p->order[k];
  p->n_order = n;
  Panel *t = pack_choose(s, p, e);
  return t && (are_reduced(r) || t->u.tile == ROW) && t->depth.cut_too == NO_LABEL ? t : NULL;
}

static const Expr *const *dims_of(const void *env, TaskSlot slot) { return slot_dims(env, slot); }

/* Whether the kernel is one product with groups, and what continues from it. */
static bool is_grouped(Regroup *r, Env *was) {
  const TaskStage *st = stage_of(r);
  if (r->was->stages.len > 1 && !task_is_continued(r->was)) return false;
  return stage_grouped(r->s->t, st, dims_of, r->s, &r->g) && !(r->g.first && !ex_is_safe(was, st->sum->where));
}

/* Makes the buffers of the list, without places, and the variables of the current group. first: that of where groups
 * begin. */
static SchedGrouped group_new(Regroup *r, uint32_t *first) {
  Sched *s = r->s;
  SchedGrouped g = {.list = NOWHERE, .of = OF, .reduced = are_reduced(r)};
  const Expr *all = ex_int(s, 1), *ends = ex_int(s, r->g.groups + 2);
  for (uint32_t i = 0; i < r->g.n_row; i++) all = ex_mul(s, all, stage_of(r)->bound[r->g.row[i]]);
  all = expr_normal(s->x, all);
  r->list = buffer_shared(s, "list", DT_I64, 1, &all);
  *first = buffer_shared(s, "first", DT_I64, 1, &ends);
  g.begin = var_new(s, NULL, "begin"), g.rows = var_new(s, NULL, "rows");
  regroup(r, var_read(s, g.rows));
  g.row = are_reduced(r) ? r->n_out : ROW;
  return g;
}

bool grouped_make(Sched *s, const Task *k) {
  Regroup r = {.s = s, .was = k};
  Env was = {.s = s, .stage = stage_of(&r)};
  uint32_t buffers = s->t->buffers.len, n_var = s->k->var.len, first;
  kernel_is(s, k);
  if (!is_grouped(&r, &was)) return false;
  SchedGrouped g = group_new(&r, &first);
  kernel_is(s, r.k);
  const TaskStage *st = &r.k->stages.at[0];
  Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, st->sum->n_out + st->sum->n_red + 1)};
  e.safe = reads_safe(&r, &was);
  e.label[BEGIN] = var_read(s, g.begin);
  StagePlan p;
  s->grouped = &g;
  Panel *t = panels_of(&r, &e, &p);
  if (t) {
    g.list = place_of_buffer(s, r.list, true), g.first = place_of_buffer(s, first, true);
    kernel_is(s, k);
    list_make(&r);
    kernel_is(s, r.k);
    how_add(s, NULL, "rows sorted into %lld groups", (long long)r.g.groups);
    pack_make(t, true);
  }
  s->grouped = NULL;
  kernel_is(s, k);
  if (t) others_make(&r);
  else s->t->buffers.len = buffers, s->k->var.len = n_var;
  return t != NULL;
}
