/* codegen/schedule/expr.c - expressions: rewrites a stage's expressions in terms of the kernel's variables and places,
 * and splits them, so that common subexpressions are computed once and only where they are needed. */
#include "expr/prove/in_range.h"
#include "schedule.h"

#include "expr/prove/prove.h"

#include <stdlib.h>

/* ---- a stage's expression in the kernel ---------------------------------------------------------- */

/* What is read: a buffer, or what an earlier stage of the kernel keeps. */
typedef struct ReadOf { Str name, label; bool asked; } ReadOf;

static uint32_t site_new(Sched *s, const TaskStage *stage, ReadOf from, uint32_t dim) {
  LoopSite site = {.place = stage->place, .asked = from.asked};
  const char *of = from.name ? from.name->s : "a tensor without name", *in = stage->name ? stage->name->s : "a result";
  Str label = from.label;
  const char *called = label ? arena_printf(s->arena, " (label %s)", label->s) : "";
  if (site.asked) site.text = strings_printf(s->t->strings, "an index of %s, read for %s", of, in);
  else site.text = strings_printf(s->t->strings, "index %u%s of %s, read for %s", dim + 1, called, of, in);
  for (uint32_t i = s->p->sites.len; i-- > 0 && s->p->sites.len - i < 16;) /* one of the last few? */
    if (s->p->sites.at[i].text == site.text && s->p->sites.at[i].place.line == site.place.line &&
        s->p->sites.at[i].place.column == site.place.column)
      return i;
  vec_push(s->arena, s->p->sites, site);
  return s->p->sites.len - 1;
}

enum { REACH_DEPTH = 8 };    /* how deep indices are examined */

/* The range of a sum of labels, each over its whole extent; false: unknown. */
static bool index_reach(const TaskStage *st, const Expr *e, uint32_t depth, int64_t *lo, int64_t *hi) {
  int64_t a, b, c, d;
  if (e->kind == EX_INT) return *lo = *hi = e->i, true;
  if (e->kind == EX_LABEL) {
    const Expr *n = st->bound[e->i];
    return *lo = 0, *hi = n->kind == EX_INT ? n->i - 1 : 0, n->kind == EX_INT && n->i > 0;
  }
  if (e->kind != EX_OP || e->n != 2 || e->dtype != DT_I64 || !depth) return false;
  if (!index_reach(st, e->arg[0], depth - 1, &a, &b) || !index_reach(st, e->arg[1], depth - 1, &c, &d)) return false;
  if (e->op == OP_IDIV || e->op == OP_MOD) { /* by a constant */
    if (a < 0 || c != d || c < 1) return false;
    return *lo = e->op == OP_IDIV ? a / c : 0, *hi = e->op == OP_IDIV ? b / c : b < c ? b : c - 1, true;
  }
  if (e->op != OP_ADD && e->op != OP_MUL) return false;
  if (e->op == OP_ADD) return add_ok(a, c, lo) && add_ok(b, d, hi);
  return a >= 0 && c >= 0 && mul_ok(a, c, lo) && mul_ok(b, d, hi);
}

/* Whether that can be proved, for symbolic sizes and for turns, where `held` holds (NULL: anywhere). */
static bool index_is_proved(
    const Sched *s, const TaskStage *st, const Expr *held, const Expr *index, const Expr *size) {
  Exprs *x = s->x;
  Facts facts = {.label = st->bound,
      .n_label = st->sum->n_out + st->sum->n_red,
      .turn = s->turns.at,
      .n_turn = s->turns.len,
      .hold = &held,
      .n_hold = held != NULL};
  if (index->dtype != DT_I64 || size->has & HAS_READ || (index->has & HAS_READ && !held)) return false;
  const Expr *low = expr_op2(x, OP_LE, expr_int(x, DT_I64, 0), index), *high = expr_op2(x, OP_LT, index, size);
  const Expr *goal = expr_and(x, low, high); /* NULL: always */
  return !goal || prove(x, &facts, goal).verdict == PROVED;
}

/* Whether an index stays within the axis whatever its labels are, as a label's parts do. */
static bool index_is_safe(const Sched *s, const TaskStage *st, const Expr *index, const Expr *size) {
  int64_t lo, hi;
  if (size->kind != EX_INT || index->has & HAS_TURN) return index_is_proved(s, st, NULL, index, size);
  return index_reach(st, index, REACH_DEPTH, &lo, &hi) && lo >= 0 && hi < size->i;
}

/* Checks that each index is in range whatever a predicate says. For kept values, each index behind the labels that are
 * already bound must be a label with the axis' own extent. */
static bool read_is_safe(const Env *e, const Expr *leaf) {
  TaskSlot slot = e->stage->slot[leaf->i];
  const Expr *const *dim = slot_dims(e->s, slot);
  bool safe = true;
  for (uint32_t k = slot.kept ? e->s->outer : 0; k < leaf->n; k++) {
    const Expr *index = leaf->arg[k];
    bool whole = index->kind == EX_LABEL && e->stage->bound[index->i] == dim[k];
    safe &= whole || (!slot.kept && (index_is_safe(e->s, e->stage, index, dim[k]) ||
                                     (e->held && index_is_proved(e->s, e->stage, e->held, index, dim[k])) ||
                                     (block_is_index(e->s, e->stage, index) && e->s->rows.block_of == dim[k])));
  }
  return safe;
}

void env_hold(Env *e, const Expr *cond) {
  e->held = cond;
  e->safe = NULL;
}

static bool leaf_is_safe(Env *e, uint32_t slot) {
  if (!e->safe) {
    const EinSum *sum = e->stage->sum;
    const Expr *top[] = {sum->body, sum->where, sum->domain},
               **read = NEW_ARRAY(e->s->arena, const Expr *, sum->n_slot + 1);
    e->safe = NEW_ARRAY(e->s->arena, bool, sum->n_slot + 1);
    expr_slot_reads(e->s->arena, COUNT(top), top, read);
    for (uint32_t k = 0; k < sum->n_slot; k++) e->safe[k] = !read[k] || read_is_safe(e, read[k]);
  }
  return e->safe[slot];
}

bool ex_is_multiple(const Expr *e, uint32_t along, int64_t n) {
  if (e->kind == EX_INT) return e->i % n == 0;
  if (e->kind == EX_LABEL) return (uint32_t)e->i == along;
  if (e->kind != EX_OP || e->dtype != DT_I64) return false;
  if (e->op == OP_ADD || e->op == OP_SUB)
    return ex_is_multiple(e->arg[0], along, n) && ex_is_multiple(e->arg[1], along, n);
  if (e->op != OP_MUL || ex_has_label(e, along)) return false;
  return ex_is_multiple(e->arg[0], along, n) || ex_is_multiple(e->arg[1], along, n);
}

bool ex_safe(Env *e) {
  for (uint32_t k = 0; k < e->stage->sum->n_slot; k++)
    if (!leaf_is_safe(e, k)) return false;
  return true;
}

bool ex_is_safe(Env *e, const Expr *of) {
  if (of->kind == EX_READ && !leaf_is_safe(e, (uint32_t)of->i)) return false;
  for (uint32_t k = 0; k < of->n; k++)
    if (of->arg[k]->has & HAS_READ && !ex_is_safe(e, of->arg[k])) return false;
  return true;
}

const Expr *const *kept_at(Sched *s, uint32_t *n, const Expr *const *own) {
  if (!s->rows.row) return own;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, *n + 1);
  at[0] = s->rows.row;
  for (uint32_t k = 0; k < *n; k++) at[k + 1] = own[k];
  ++*n;
  return at;
}

/* The buffer's first axis that belongs to the view's axis. */
static uint32_t axis_of(const Sched *s, uint32_t memory, uint32_t axis) {
  const uint32_t *axes = buffer_axes(s, memory);
  uint32_t at = axes ? 0 : axis;
  for (uint32_t k = 0; axes && k < axis; k++) at += axes[k];
  return at;
}

/* Whether an index is tested when it is computed; all others are proved. */
static bool is_tested(const Sched *s, const Expr *index) { return index_is_data(index) && !grouped_is_listed(s, index); }

static const Expr *tested(Env *e, const Expr *index, const Expr *extent, ReadOf from, uint32_t dim) {
  Sched *s = e->s;
  const Expr *arg[3] = {index, extent, ex_int(s, site_new(s, e->stage, from, dim))};
  return expr_op(s->x, OP_WITHIN, 3, arg);
}

static const Expr *kept_read(Env *e, const Expr *leaf) {
  Sched *s = e->s;
  uint32_t stage = e->stage->slot[leaf->i].index, n = leaf->n - s->outer;
  const TaskStage *from = &s->task->stages.at[stage];
  if (s->value[stage]) return s->value[stage];
  const Expr **own = NEW_ARRAY(s->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    ReadOf source = {from->name, from->label[s->outer + k], false};
    own[k] = leaf->arg[s->outer + k];
    if (is_tested(s, own[k])) own[k] = tested(e, own[k], from->bound[s->outer + k], source, s->outer + k);
  }
  const Expr *const *at = kept_at(s, &n, own);
  return place_read(s, s->of_stage[stage], n, at);
}

const Expr *ex_slot(Env *e, const Expr *leaf) {
  Sched *s = e->s;
  if (leaf->i >= e->stage->sum->n_slot) return e->packed[leaf->i - e->stage->sum->n_slot];
  TaskSlot slot = e->stage->slot[leaf->i];
  if (slot.kept) return kept_read(e, leaf);
  const TaskBuffer *b = buffer_seen(s, slot.index);
  bool safe = leaf_is_safe(e, (uint32_t)leaf->i);
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, leaf->n + 1);
  for (uint32_t k = 0; k < leaf->n; k++) {
    at[k] = leaf->arg[k];
    if (!is_tested(s, at[k])) continue;
    uint32_t axis = axis_of(s, slot.index, k);
    ReadOf from = {b->name, s->labels[b->id][axis], s->t->mesh.n && task_fetched(&s->t->tasks, b->id)};
    at[k] = tested(e, at[k], b->dim[k], from, axis);
  }
  const Expr *read = place_read(s, place_of_buffer(s, slot.index, false), leaf->n, at);
  if (safe) map_put(&s->safe, read, s);
  return read;
}

static const Expr *leaf_of(void *env, Exprs *x, const Expr *leaf) {
  Env *e = env;
  (void)x;
  if (leaf->kind == EX_LABEL) return e->label[leaf->i];
  return leaf->kind == EX_READ ? ex_slot(e, leaf) : leaf;
}

const Expr *ex_of(Env *e, const Expr *of) { return expr_map(e->s->x, of, leaf_of, e); }

bool ex_reads_kept(const TaskStage *st, const Expr *e) {
  if (e->kind == EX_READ && st->slot[e->i].kept) return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->has & HAS_READ && ex_reads_kept(st, e->arg[k])) return true;
  return false;
}

const Expr **ex_store_at(Env *e, const TaskStage *st) {
  const Expr **at = NEW_ARRAY(e->s->arena, const Expr *, st->n_at + 1);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = ex_of(e, st->at[k]);
  return at;
}

/* ---- sharing --------------------------------------------------------------------------------------- */

typedef struct Part {        /* what is known of a subexpression */
  const Expr *e, *made;      /* made: its replacement, once it is rewritten */
  uint32_t strict, lazy;     /* edges to it from what is always computed, and from what may not be */
  double size;               /* of the tree below it, as printed */
  bool inside;               /* its replacement is made in the innermost loop */
} Part;

typedef struct Sharing {
  Sched *s;
  Arena *arena;
  Map parts;
  VEC(Part *) all;
} Sharing;

enum { TREE_MOST = 400 };    /* a larger tree is split at its conditions */

static bool is_lazy(const Expr *e) {
  return e->kind == EX_OP && (op_info[e->op].laws & LAW_LAZY);
}

static Part *part_of(Sharing *h, const Expr *e) {
  Part *p = map_find(&h->parts, e);
  if (p) return p;
  p = NEW(h->arena, Part);
  p->e = e;
  map_put(&h->parts, e, p);
  vec_push(h->arena, h->all, p);
  return p;
}

/* Counts each edge once. A part that is reached strictly is visited strictly, even after a lazy visit. */
static void count_edges(Sharing *h, const Expr *e, bool strict) {
  Part *p = part_of(h, e);
  bool first = strict ? p->strict == 0 : p->strict + p->lazy == 0;
  if (strict) p->strict++;
  else p->lazy++;
  if (!first) return;
  for (uint32_t k = 0; k < e->n; k++) count_edges(h, e->arg[k], strict && (k == 0 || !is_lazy(e)));
  if (e->kind == EX_OP && e->op == OP_WITHIN) count_edges(h, e->arg[0], strict); /* it is printed more than once */
}

/* Whether it deserves a name: it computes or loads something. */
static bool is_work(const Sharing *h, const Expr *e) {
  if (e->kind == EX_READ) return h->s->k->places.at[e->i].space == SPACE_BUFFER || e->n;
  if (e->kind != EX_OP || expr_is_dims(e) || e->op == OP_CAST) return false;
  return e->has & HAS_READ || e->dtype != DT_I64 || (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL);
}

/* Rebuilds e and folds conditions that a label's value decides: i == i. */
static const Expr *op_make(Sched *s, const Expr *e, const Expr *const *arg) {
  bool same = e->n == 2 && arg[0] == arg[1] && !dtype_is_float((DType)arg[0]->dtype) && arg[0]->dtype != DT_BOOL;
  if (same && (e->op == OP_EQ || e->op == OP_LE || e->op == OP_GE)) return expr_bool(s->x, true);
  if (same && (e->op == OP_NE || e->op == OP_LT || e->op == OP_GT)) return expr_bool(s->x, false);
  if (e->op == OP_SELECT && arg[0]->kind == EX_INT) return arg[0]->i ? arg[1] : arg[2];
  if ((e->op == OP_AND || e->op == OP_OR) && arg[0]->kind == EX_INT)
    return (e->op == OP_AND) == (arg[0]->i != 0) ? arg[1] : arg[0];
  return expr_op_like(s->x, e, arg);
}

static const Expr *rebuild(Sharing *h, const Expr *e) {
  Part *p = part_of(h, e);
  if (p->made) return p->made;
  if (!e->n) return e;
  const Expr **arg = NEW_ARRAY(h->arena, const Expr *, e->n);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = rebuild(h, e->arg[k]);
  return p->made = e->kind == EX_READ ? expr_read(h->s->x, (DType)e->dtype, e->i, e->n, arg) : op_make(h->s, e, arg);
}

static int by_id(const void *a, const void *b) {
  uint32_t x = (*(Part *const *)a)->e->id, y = (*(Part *const *)b)->e->id;
  return x < y ? -1 : x > y;
}

/* Adds the let before the innermost loop, rather than at each of its points. */
static void let_before_last(Sched *s, LoopBody *body, uint32_t place, const Expr *value) {
  LoopBody *was = into(s, body);
  LoopStmt *loop = vec_last(*body);
  LoopStmt *let = let_add(s, place, value);
  body->at[body->len - 2] = let;
  body->at[body->len - 1] = loop;
  into(s, was);
}

typedef struct Ahead { Sched *s; LoopBody *around; int64_t label; Map done; } Ahead;

static const Expr *named_ahead(Ahead *a, const Expr *e) {
  if (e->kind == EX_INT || (e->kind == EX_READ && !e->n)) return e;
  uint32_t place = place_own(a->s, NULL, "v", (DType)e->dtype, 0, NULL);
  let_before_last(a->s, a->around, place, e);
  return scalar_read(a->s, place);
}

static const Expr *ahead(Ahead *a, const Expr *e) {
  if ((e->kind != EX_OP && e->kind != EX_READ) || !(e->has & HAS_READ)) return e;
  const Expr *made = map_find(&a->done, e);
  if (made) return made;
  Sched *s = a->s;
  bool asks = e->kind == EX_OP && (e->op == OP_SELECT || e->op == OP_WITHIN);
  if (asks && !ex_has_label(e, a->label)) {
    made = named_ahead(a, e);
  } else {
    const Expr **arg = NEW_ARRAY(s->arena, const Expr *, e->n + 1);
    bool condition = asks && e->op == OP_SELECT && !ex_has_label(e->arg[0], a->label);
    for (uint32_t k = 0; k < e->n; k++) arg[k] = k && is_lazy(e) ? e->arg[k] : ahead(a, e->arg[k]);
    if (condition) arg[0] = named_ahead(a, arg[0]);
    made = e->kind == EX_READ ? expr_read(s->x, (DType)e->dtype, e->i, e->n, arg) : op_make(s, e, arg);
  }
  map_put(&a->done, e, (void *)(uintptr_t)made);
  return made;
}

const Expr *ex_ahead(Sched *s, const Expr *e, LoopBody *around, const Expr *var) {
  if (var->kind != EX_LABEL) return e;
  return ahead(&(Ahead){s, around, var->i, map_new(s->arena)}, e);
}

/* Whether something below it is made in the innermost loop. */
static bool depends_inside(Sharing *h, const Expr *e) {
  for (uint32_t k = 0; k < e->n; k++) {
    const Part *p = map_find(&h->parts, e->arg[k]);
    if ((p && p->inside) || depends_inside(h, e->arg[k])) return true;
  }
  return false;
}

/* Whether all that it reads can be read before the innermost loop, and is the same at each of its points. */
static bool is_steady(const Sched *s, const Expr *e) {
  if (ex_has_label(e, s->inner)) return false;
  if (e->kind == EX_READ && !map_find(&s->safe, e) && !map_find(&s->steady, e)) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_steady(s, e->arg[k])) return false;
  return true;
}

/* Whether it is a function, as log, of such values. C compilers leave those that contain branches in the loop. */
static bool is_steady_function(const Sched *s, const Expr *e) {
  return s->outside && s->body != s->outside && e->kind == EX_OP && op_info[e->op].ulp > 0 && e->has & HAS_READ &&
      is_steady(s, e);
}

static void name_shared(Sharing *h) {
  Sched *s = h->s;
  if (h->all.len) qsort(h->all.at, h->all.len, sizeof h->all.at[0], by_id);
  for (uint32_t k = 0, n = h->all.len; k < n; k++) { /* inner parts are older, so they already have names */
    Part *p = h->all.at[k];
    bool safe = p->e->kind == EX_READ && map_find(&s->safe, p->e);
    bool steady = safe && s->outside && !ex_has_label(p->e, s->inner);
    bool once = p->strict && is_steady_function(s, p->e);
    if (steady || once ? false : safe ? !p->lazy && p->strict < 2 : !p->strict || p->strict + p->lazy < 2) continue;
    if (!is_work(h, p->e)) continue;
    const Expr *value = rebuild(h, p->e);
    uint32_t place = place_own(s, NULL, "v", (DType)p->e->dtype, 0, NULL);
    bool ahead = (safe || once) && s->outside && s->body != s->outside && !ex_has_label(value, s->inner) &&
        !depends_inside(h, p->e);
    p->inside = !ahead;
    if (ahead) let_before_last(s, s->outside, place, value);
    else let_add(s, place, value);
    p->made = scalar_read(s, place);
  }
}

static double tree_size(Sharing *h, const Expr *e) {
  Part *p = part_of(h, e);
  if (p->size > 0) return p->size;
  double n = 1;
  for (uint32_t k = 0; k < e->n; k++) n += tree_size(h, e->arg[k]);
  return p->size = n;
}

static const Expr *cut(Sharing *h, const Expr *e);

/* Turns a condition into a statement: each branch has its own names. */
static const Expr *cut_lazy(Sharing *h, const Expr *e) {
  Sched *s = h->s;
  const Expr *first = cut(h, e->arg[0]);
  bool select = e->op == OP_SELECT;
  uint32_t place = var_own(s, NULL, "v", (DType)e->dtype, 0, NULL, select ? NULL : first);
  const Expr *read = scalar_read(s, place);
  LoopStmt *st = if_add(s, select ? first : e->op == OP_AND ? read : expr_op1(s->x, OP_NOT, read));
  LoopBody *was = into(s, &st->body);
  store_add(s, place, 0, NULL, ex_shared(s, e->arg[1]));
  if (select) {
    into(s, &st->other);
    store_add(s, place, 0, NULL, ex_shared(s, e->arg[2]));
  }
  into(s, was);
  return read;
}

static const Expr *cut(Sharing *h, const Expr *e) {
  if (!e->n || tree_size(h, e) <= (double)TREE_MOST / 4) return e;
  Part *p = part_of(h, e);
  if (p->made) return p->made;
  if (is_lazy(e)) return p->made = cut_lazy(h, e);
  const Expr **arg = NEW_ARRAY(h->arena, const Expr *, e->n);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = cut(h, e->arg[k]);
  return p->made = e->kind == EX_READ ? expr_read(h->s->x, (DType)e->dtype, e->i, e->n, arg) : op_make(h->s, e, arg);
}

const Expr *ex_shared(Sched *s, const Expr *e) {
  Arena *a = arena_new();
  Sharing h = {.s = s, .arena = a, .parts = map_new(a)};
  count_edges(&h, e, true);
  name_shared(&h);
  const Expr *made = rebuild(&h, e);
  h.parts = map_new(a);
  if (tree_size(&h, made) > (double)TREE_MOST) made = cut(&h, made);
  arena_free(a);
  return made;
}

const Expr **body_reads(Sched *s, const EinSum *sum) {
  const Expr **read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  expr_slot_reads(s->arena, 1, &sum->body, read);
  return read;
}
