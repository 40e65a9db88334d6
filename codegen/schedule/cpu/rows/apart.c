/* codegen/schedule/cpu/rows/apart.c - takes functions that C compilers vectorise poorly, or not at all, out of loops:
 * `lanes f exp`, over as many lanes as registers hold. In: a kernel's statements. A loop over lanes that takes
 * exponentials of floats, or a sine, is split in two, with the call between them: the arguments; their exponentials;
 * what follows from those. A remainder that does not fill the lanes is left as it was. Every lane is the same to the
 * bit. */
#include "schedule/schedule.h"

enum {
  ONE_VECTOR = 16,          /* a vector of floats */
  CALLS_MOST = 2             /* arrays of lanes, which are to stay in registers */
};

typedef struct Apart {
  Sched *s;
  const LoopStmt *loop;
  Map let;                   /* by register that a LET sets in the loop: its value, over what exists before the loop */
  int64_t most;              /* turns, as far as the axes along the loop limit them */
  bool *stored;              /* by place: whether a statement other than the last stores to it */
  uint32_t n;
  const Expr *call[CALLS_MOST], *arg[CALLS_MOST];
} Apart;

static const void *key(uint32_t place) { return (const void *)((uintptr_t)place + 1); }

/* ---- calls ---------------------------------------------------------------------------------------------- */

static const Expr *leaf_value(void *env, Exprs *x, const Expr *leaf) {
  const Apart *a = env;
  (void)x;
  const Expr *value = leaf->kind == EX_READ && !leaf->n ? map_find(&a->let, key((uint32_t)leaf->i)) : NULL;
  return value ? value : leaf;
}

/* Replaces the loop's registers by their values. */
static const Expr *value_of(Apart *a, const Expr *e) { return expr_map(a->s->x, e, leaf_value, a); }

/* Limits the loop's variable to the extent of the axes that it indexes. */
static void most_take(Apart *a, int64_t place, uint32_t n, const Expr *const *at) {
  const LoopPlace *x = &a->s->k->places.at[place];
  for (uint32_t k = 0; k < n; k++)
    if (at[k]->kind == EX_LABEL && at[k]->i == a->loop->var && x->dim[k]->kind == EX_INT && x->dim[k]->i < a->most)
      a->most = x->dim[k]->i;
}

/* Whether it may be computed ahead of the lanes' statements. */
static bool may_lead(Apart *a, const Expr *arg) {
  ExprNodes reads = expr_nodes(a->s->arena, arg, HAS_READ);
  bool well = true;
  for (const Expr *e; (e = expr_next_read(&reads));) {
    most_take(a, e->i, e->n, e->arg);
    well &= !a->stored[e->i];
    for (uint32_t k = 0; k < e->n; k++) well &= !is_op(e->arg[k], OP_WITHIN);
  }
  return well;
}

static void call_note(Apart *a, const Expr *e) {
  const Expr *arg = value_of(a, e->arg[0]);
  for (uint32_t k = 0; k < a->n; k++)
    if (a->call[k] == e) return;
  if (a->n == CALLS_MOST || !may_lead(a, arg)) return;
  a->call[a->n] = e;
  a->arg[a->n++] = arg;
}

/* Whether the call is taken out. Compilers vectorise exponentials themselves; only for the longest vectors is ours
 * better. */
static bool stands_apart(const Sched *s, const Expr *e) {
  return e->kind == EX_OP && loop_has_lanes((Op)e->op, (DType)e->dtype) &&
      (e->op != OP_EXP || tile_vector(s, DT_F32) >= ONE_VECTOR);
}

/* Collects the calls that are made unconditionally. */
static void calls_find(Apart *a, const Expr *top) {
  VEC(const Expr *) todo = {0};
  Map seen = map_new(a->s->arena);
  vec_push(a->s->arena, todo, top);
  while (todo.len) {
    const Expr *e = vec_pop(todo);
    if (e->kind != EX_OP || map_find(&seen, e)) continue;
    map_put(&seen, e, a);
    if (stands_apart(a->s, e)) {
      call_note(a, e);
      continue;
    }
    uint32_t n = op_info[e->op].laws & LAW_LAZY ? 1 : e->n;
    for (uint32_t k = 0; k < n; k++) vec_push(a->s->arena, todo, e->arg[k]);
  }
}

/* Whether the statements can be repeated in another loop; notes their calls. */
static bool loop_look(Apart *a) {
  const LoopBody *b = &a->loop->body;
  for (uint32_t i = 0; i < b->len; i++) {
    if (b->at[i]->kind != LOOP_LET && b->at[i]->kind != LOOP_STORE) return false;
    if (i + 1 < b->len && b->at[i]->kind == LOOP_STORE) a->stored[b->at[i]->place] = true;
  }
  vec_each_of(const LoopStmt, st, *b) {
    calls_find(a, st->value);
    most_take(a, st->place, st->n_at, st->at);
    if (st->kind == LOOP_LET) map_put(&a->let, key(st->place), (void *)(uintptr_t)value_of(a, st->value));
  }
  return a->n > 0;
}

/* ---- the loops -------------------------------------------------------------------------------------------- */

typedef struct Put {
  Apart *a;
  const Expr *index, *lane;  /* the value of the loop's variable; the number of the lane */
  const uint32_t *array;     /* results of the calls; NULL: not there yet */
  Map let, done;             /* the loop's registers; rewritten expressions */
} Put;

static const Expr *put_called(const Put *p, const Expr *e) {
  for (uint32_t k = 0; p->array && k < p->a->n; k++)
    if (e == p->a->call[k]) return place_read(p->a->s, p->array[k], 1, &p->lane);
  return NULL;
}

/* Rewrites e with another index, new registers, and calls read from arrays. Recursion is as deep as shared expressions
 * are nested. */
static const Expr *put(Put *p, const Expr *e) {
  Sched *s = p->a->s;
  if (e->kind == EX_LABEL) return e->i == p->a->loop->var ? p->index : e;
  if (e->kind != EX_OP && e->kind != EX_READ) return e;
  const Expr *made = map_find(&p->done, e);
  if (!made) made = put_called(p, e);
  if (made) return made;
  const Expr **arg = NEW_ARRAY(s->arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = put(p, e->arg[k]);
  if (e->kind == EX_READ) {
    uintptr_t own = e->n ? 0 : (uintptr_t)map_find(&p->let, key((uint32_t)e->i));
    made = expr_read(s->x, (DType)e->dtype, own ? (int64_t)own - 1 : e->i, e->n, arg);
  } else {
    made = expr_op_like(s->x, e, arg);
  }
  map_put(&p->done, e, (void *)(uintptr_t)made);
  return made;
}

static void put_statement(Put *p, const LoopStmt *st) {
  Sched *s = p->a->s;
  const Expr *value = put(p, st->value);
  if (st->kind == LOOP_LET) {
    const LoopPlace *was = &s->k->places.at[st->place];
    uint32_t place = place_own(s, was->name, "v", was->dtype, 0, NULL);
    let_add(s, place, value);
    map_put(&p->let, key(st->place), (void *)((uintptr_t)place + 1));
    return;
  }
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, st->n_at + 1);
  for (uint32_t k = 0; k < st->n_at; k++) at[k] = put(p, st->at[k]);
  store_add(s, st->place, st->n_at, at, value);
}

static Put lanes_open(Apart *a, const Expr *from, const Expr *lanes, const uint32_t *array) {
  Sched *s = a->s;
  const Expr *lane = for_open(s, NULL, "l", ex_int(s, 0), lanes, 1, BIND_VECTOR);
  return (Put){a, ex_add(s, from, lane), lane, array, map_new(s->arena), map_new(s->arena)};
}

/* Splits `lanes` turns of the loop. */
static void lanes_make(Apart *a, const Expr *from, const Expr *lanes) {
  Sched *s = a->s;
  LoopBody *was = s->body;
  uint32_t array[CALLS_MOST];
  for (uint32_t k = 0; k < a->n; k++) {
    array[k] = var_own(s, NULL, "f", (DType)a->call[k]->dtype, 1, &lanes, NULL);
  }
  Put p = lanes_open(a, from, lanes, NULL);
  for (uint32_t k = 0; k < a->n; k++) store_add(s, array[k], 1, &p.lane, put(&p, a->arg[k]));
  into(s, was);
  for (uint32_t k = 0; k < a->n; k++) lanes_add(s, array[k], (Op)a->call[k]->op);
  p = lanes_open(a, from, lanes, array);
  for (uint32_t i = 0; i < a->loop->body.len; i++) put_statement(&p, a->loop->body.at[i]);
  into(s, was);
}

/* How many lanes a loop of so many turns uses at a time; 0: too few turns. turns < 0: unknown. */
static int64_t lanes_of(int64_t turns) {
  int64_t lanes = LOOP_LANES;
  while (turns >= 0 && lanes > ONE_VECTOR && turns % lanes && (turns < lanes || turns % ONE_VECTOR == 0)) lanes /= 2;
  return turns < 0 || turns >= lanes ? lanes : 0;
}

/* Emits the replacement of the loop; false: there is none. */
static bool loop_split(Sched *s, LoopStmt *loop) {
  bool known = loop->lo->kind == EX_INT && loop->hi->kind == EX_INT;
  int64_t turns = known ? loop->hi->i - loop->lo->i : -1, lanes = lanes_of(turns);
  Apart a = {.s = s,
      .loop = loop,
      .most = INT64_MAX,
      .let = map_new(s->arena),
      .stored = NEW_ARRAY(s->arena, bool, s->k->places.len + 1)};
  if (!lanes || loop->step != 1 || !loop_look(&a)) return false;
  while (lanes > a.most) lanes /= 2;
  if (lanes < LANES_LEAST) return false;
  const Expr *width = ex_int(s, lanes), *lo = loop->lo, *hi = loop->hi;
  if (turns == lanes) {
    lanes_make(&a, lo, width);
    return true;
  }
  uint32_t v = var_new(s, s->k->var.at[loop->var], "l");
  LoopBody *was = into(s, &for_add(s, v, lo, ex_sub(s, hi, ex_int(s, lanes - 1)), lanes, BIND_SEQ)->body);
  lanes_make(&a, var_read(s, v), width);
  into(s, was);
  if (known && turns % lanes == 0) return true;
  const Expr *whole = expr_op2(s->x, OP_IDIV, ex_max(s, ex_sub(s, hi, lo), ex_int(s, 0)), width);
  loop->lo = ex_add(s, lo, ex_mul(s, whole, width));
  vec_push(s->arena, *s->body, loop);
  return true;
}

void apart_loops(Sched *s, LoopBody *b) {
  LoopBody made = {0}, *was = into(s, &made);
  vec_each_of(LoopStmt, st, *b) {
    apart_loops(s, &st->body);
    apart_loops(s, &st->other);
    if (st->kind != LOOP_FOR || st->bind != BIND_VECTOR || !loop_split(s, st)) vec_push(s->arena, made, st);
  }
  *b = made;
  into(s, was);
}
