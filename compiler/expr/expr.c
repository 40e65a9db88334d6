/* expr/expr.c - the pool: one open-addressed table of expressions, constructors with the little folding that keeps
 * index maps readable, and substitution of leaves. */
#include "expr.h"

#include <math.h>
#include <string.h>

#include "pool.h"

enum { FIRST_ROOM = 256, FEW_ARGS = 8 };

Exprs *exprs_new(Arena *a) {
  Exprs *p = MAKE(a, Exprs, .arena = a, .room = FIRST_ROOM);
  p->slot = NEW_ARRAY(a, const Expr *, p->room);
  return p;
}

Arena *exprs_arena(Exprs *p) {
  return p->arena;
}

/* ---- interning ------------------------------------------------------------------------------- */

typedef struct Key { /* what distinguishes two expressions */
  uint8_t kind, dtype, op, has;
  uint32_t n;
  uint64_t bits; /* i, the bits of f, or the address of name */
  const Expr *const *arg;
} Key;

static uint32_t key_hash(const Key *k) {
  uint64_t head = ((uint64_t)k->n << 32) | ((uint64_t)k->kind << 16) | ((uint64_t)k->dtype << 8) | k->op;
  uint32_t h = hash_mix(hash_mix(0, head), k->bits);
  for (uint32_t i = 0; i < k->n; i++) h = hash_mix(h, k->arg[i]->id);
  return h;
}

static bool is_call(const Expr *e) { return e->kind == EX_OP && e->op == OP_EXTERN; }

static uint64_t payload(const Expr *e) {
  uint64_t bits = 0;
  if (e->kind == EX_DIM)
    bits = (uint64_t)(uintptr_t)e->name;
  else if (is_call(e))
    bits = (uint64_t)(uintptr_t)e->by;
  else
    memcpy(&bits, &e->i, sizeof bits);
  return bits;
}

static bool key_is(const Key *k, const Expr *e) {
  return e->kind == k->kind && e->dtype == k->dtype && e->op == k->op && e->n == k->n &&
         payload(e) == k->bits &&
         (k->n == 0 || memcmp(e->arg, k->arg, k->n * sizeof k->arg[0]) == 0);
}

static void pool_widen(Exprs *p) {
  BUG_UNLESS(p->room <= UINT32_MAX / 4);
  uint32_t room = p->room * 2;
  const Expr **slot = NEW_ARRAY(p->arena, const Expr *, room);
  for (uint32_t i = 0; i < p->room; i++) {
    if (!p->slot[i]) continue;
    uint32_t k = p->slot[i]->hash & (room - 1);
    while (slot[k]) k = (k + 1) & (room - 1);
    slot[k] = p->slot[i];
  }
  p->slot = slot;
  p->room = room;
}

static bool is_drawn(const Key *k) {
  if (k->kind != EX_OP) return false;
  OpRule rule = op_info[k->op].rule;
  return rule == RULE_RANDOM || rule == RULE_INDEX || rule == RULE_EXTERN ||
      (k->op == OP_CAST && dtype_is_float((DType)k->arg[0]->dtype));
}

static const Expr *expr_new(Exprs *p, const Key *k, uint32_t hash) {
  Expr *e = arena_alloc(p->arena, sizeof(Expr) + k->n * sizeof(const Expr *));
  *e = (Expr){.kind = k->kind, .dtype = k->dtype, .op = k->op, .has = k->has};
  e->hash = hash;
  e->id = p->len;
  e->n = k->n & INT32_MAX;
  if (k->kind == EX_DIM)
    e->name = (Str)(uintptr_t)k->bits;
  else if (is_call(e))
    e->by = (const Extern *)(uintptr_t)k->bits;
  else
    memcpy(&e->i, &k->bits, sizeof k->bits);
  if (k->kind == EX_LABEL) e->labels = (uint64_t)1 << (k->bits < 63 ? k->bits : 63);
  for (uint32_t i = 0; i < k->n; i++) {
    e->arg[i] = k->arg[i];
    e->has |= k->arg[i]->has;
    e->labels |= k->arg[i]->labels;
    e->drawn |= k->arg[i]->drawn;
  }
  e->drawn |= is_drawn(k);
  return e;
}

static const Expr *intern(Exprs *p, const Key *k) {
  uint32_t hash = key_hash(k), at = hash & (p->room - 1);
  for (; p->slot[at]; at = (at + 1) & (p->room - 1))
    if (p->slot[at]->hash == hash && key_is(k, p->slot[at])) return p->slot[at];
  const Expr *e = expr_new(p, k, hash);
  p->slot[at] = e;
  if (++p->len > p->room / 2) pool_widen(p);
  return e;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static const Expr *leaf(Exprs *p, ExprKind kind, DType t, int64_t i, unsigned has) {
  return intern(p, &(Key){.kind = (uint8_t)kind, .dtype = (uint8_t)t, .has = (uint8_t)has, .bits = (uint64_t)i});
}

const Expr *expr_int(Exprs *p, DType t, int64_t v) {
  BUG_UNLESS(!dtype_is_float(t));
  return leaf(p, EX_INT, t, value_cast((Value){DT_I64, {.i = v}}, t).i, 0);
}

/* All NaNs are one expression, since their bits are not part of an answer. */
const Expr *expr_real(Exprs *p, DType t, double v) {
  BUG_UNLESS(dtype_is_float(t));
  v = isnan(v) ? (double)NAN : real_round(t, v);
  int64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return leaf(p, EX_REAL, t, bits, 0);
}

const Expr *expr_bool(Exprs *p, bool v) {
  return leaf(p, EX_INT, DT_BOOL, v, 0);
}

const Expr *expr_dim(Exprs *p, Str name) {
  return leaf(p, EX_DIM, DT_I64, (int64_t)(uintptr_t)name, HAS_DIM);
}

const Expr *expr_label(Exprs *p, int64_t number) {
  BUG_UNLESS(number >= 0);
  return leaf(p, EX_LABEL, DT_I64, number, HAS_LABEL);
}

const Expr *expr_turn(Exprs *p, int64_t depth) {
  BUG_UNLESS(depth >= 0);
  return leaf(p, EX_TURN, DT_I64, depth, HAS_TURN);
}

const Expr *expr_param(Exprs *p, DType t, int64_t k) {
  BUG_UNLESS(k >= 0 && k < EXPR_PARAMS);
  return leaf(p, EX_PARAM, t, k, HAS_PARAM);
}

const Expr *expr_read(Exprs *p, DType t, int64_t slot, uint32_t n, const Expr *const *index) {
  for (uint32_t i = 0; i < n; i++) BUG_UNLESS(index[i]->dtype == DT_I64);
  return intern(p, &(Key){.kind = EX_READ, .dtype = (uint8_t)t, .has = HAS_READ, .n = n,
                          .bits = (uint64_t)slot, .arg = index});
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool is_index(const Expr *e) {
  return e->dtype == DT_I64 || e->dtype == DT_BOOL;
}

bool expr_is_int(const Expr *e, int64_t v) {
  return e->kind == EX_INT && e->dtype != DT_BOOL && e->i == v;
}

static bool is_bool(const Expr *e, bool v) {
  return e->kind == EX_INT && e->dtype == DT_BOOL && e->i == v;
}

/* Folds an operation whose arguments are all i64 or bool literals, if it is defined on them. */
static const Expr *fold_literals(Exprs *p, Op op, DType t, uint32_t n, const Expr *const *arg) {
  Value v[3];
  OpRule rule = op_info[op].rule;
  if (op_info[op].laws & LAW_LOOP) return NULL;
  if (rule != RULE_SAME && rule != RULE_COMPARE && rule != RULE_LOGIC && rule != RULE_INT) return NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (arg[i]->kind != EX_INT || !is_index(arg[i])) return NULL;
    v[i] = (Value){(DType)arg[i]->dtype, {.i = arg[i]->i}};
  }
  return expr_int(p, t, op_value(op, t, n, v).i);
}

/* Whether a factor may be dropped: it reads nothing, so an index that it is in is no data, and nobody tests it. */
static bool may_go(const Expr *e) { return !(e->has & (HAS_READ | HAS_CALL)); }

/* x+0, x-0, x*1, x*0, x//1, x%1, and choices by a literal bool; NULL where nothing can be dropped. */
static const Expr *fold_unit(Exprs *p, Op op, uint32_t n, const Expr *const *arg) {
  const Expr *a = arg[0], *b = n > 1 ? arg[1] : NULL;
  if (op == OP_SELECT && a->kind == EX_INT && is_index(b)) return arg[a->i ? 1 : 2];
  if (!b || !is_index(a) || !is_index(b)) return NULL;
  switch (op) {
  case OP_ADD: return expr_is_int(b, 0) ? a : expr_is_int(a, 0) ? b : NULL;
  case OP_SUB: return expr_is_int(b, 0) ? a : NULL;
  case OP_MUL:
    if ((expr_is_int(a, 0) && may_go(b)) || expr_is_int(b, 1)) return a;
    return (expr_is_int(b, 0) && may_go(a)) || expr_is_int(a, 1) ? b : NULL;
  case OP_IDIV: return expr_is_int(b, 1) ? a : NULL;
  case OP_MOD: return expr_is_int(b, 1) && may_go(a) ? expr_int(p, DT_I64, 0) : NULL;
  case OP_AND:
    if (is_bool(a, false) || is_bool(b, true)) return a;
    return is_bool(a, true) || is_bool(b, false) ? b : NULL;
  case OP_OR:
    if (is_bool(a, true) || is_bool(b, false)) return a;
    return is_bool(a, false) || is_bool(b, true) ? b : NULL;
  default: return NULL;
  }
}

const Expr *expr_op(Exprs *p, Op op, uint32_t n, const Expr *const *arg) {
  DType t;
  if (!op_result(op, n, arg, &t)) bug("expr_op: %s does not take such arguments", op < OPS ? op_info[op].name : "?");
  const Expr *e = fold_literals(p, op, t, n, arg);
  if (!e) e = fold_unit(p, op, n, arg);
  if (e) return e;
  return intern(p, &(Key){.kind = EX_OP, .dtype = (uint8_t)t, .op = (uint8_t)op, .n = n, .arg = arg});
}

const Expr *expr_op1(Exprs *p, Op op, const Expr *a) {
  return expr_op(p, op, 1, &a);
}

const Expr *expr_op2(Exprs *p, Op op, const Expr *a, const Expr *b) {
  return expr_op(p, op, 2, (const Expr *const[]){a, b});
}

const Expr *expr_select(Exprs *p, const Expr *c, const Expr *a, const Expr *b) {
  return expr_op(p, OP_SELECT, 3, (const Expr *const[]){c, a, b});
}

const Expr *expr_cast(Exprs *p, DType t, const Expr *a) {
  if (a->dtype == t) return a;
  if (a->kind == EX_INT || a->kind == EX_REAL) {
    Value v = {(DType)a->dtype, {.i = a->i}};
    if (a->kind == EX_REAL) v.f = a->f;
    v = value_cast(v, t);
    return dtype_is_float(t) ? expr_real(p, t, v.f) : expr_int(p, t, v.i);
  }
  return intern(p, &(Key){.kind = EX_OP, .dtype = (uint8_t)t, .op = OP_CAST, .n = 1, .arg = &a});
}

const Expr *expr_call(Exprs *p, const Extern *x, const Expr *const *arg) {
  for (uint32_t k = 0; k < x->n; k++) BUG_UNLESS(arg[k]->dtype == x->arg[k]);
  return intern(p, &(Key){.kind = EX_OP, .dtype = (uint8_t)x->dtype, .op = OP_EXTERN, .has = HAS_CALL, .n = x->n,
                          .bits = (uint64_t)(uintptr_t)x, .arg = arg});
}

const Expr *expr_op_like(Exprs *p, const Expr *e, const Expr *const *arg) {
  if (e->op == OP_CAST) return expr_cast(p, (DType)e->dtype, arg[0]);
  return e->op == OP_EXTERN ? expr_call(p, e->by, arg) : expr_op(p, (Op)e->op, e->n, arg);
}

const Expr *expr_and(Exprs *p, const Expr *a, const Expr *b) {
  if (!a || !b) return a ? a : b;
  const Expr *e = expr_op2(p, OP_AND, a, b);
  return is_bool(e, true) ? NULL : e;
}

const Expr *expr_with(Exprs *p, const Expr *e, const Expr *const *arg) {
  if (e->n == 0 || memcmp(e->arg, arg, e->n * sizeof arg[0]) == 0) return e;
  if (e->kind == EX_READ) return expr_read(p, (DType)e->dtype, e->i, e->n, arg);
  return expr_op_like(p, e, arg);
}

/* ---- walks ----------------------------------------------------------------------------------- */

ExprNodes expr_nodes(Arena *a, const Expr *top, unsigned has) {
  ExprNodes w = {.arena = a, .has = has, .seen = map_new(a)};
  expr_nodes_add(&w, top);
  return w;
}

void expr_nodes_add(ExprNodes *w, const Expr *top) {
  if (top) vec_push(w->arena, w->todo, top);
}

const Expr *expr_node(ExprNodes *w) {
  for (uint32_t k = 0; w->at && k < w->at->n; k++) vec_push(w->arena, w->todo, w->at->arg[k]);
  w->at = NULL;
  while (w->todo.len && !w->at) {
    const Expr *e = vec_pop(w->todo);
    if ((w->has && !(e->has & w->has)) || map_find(&w->seen, e)) continue;
    map_put(&w->seen, e, w);
    w->at = e;
  }
  return w->at;
}

const Expr *expr_next_read(ExprNodes *w) {
  const Expr *e = expr_node(w);
  while (e && e->kind != EX_READ) e = expr_node(w);
  return e;
}

Walk *walk_take(Exprs *p) {
  Walk *w = p->walks;
  if (w)
    p->walks = w->next;
  else
    w = NEW(p->arena, Walk);
  if (++w->now == 0) { /* stamps have wrapped around */
    memset(w->seen, 0, w->room * sizeof w->seen[0]);
    w->now = 1;
  }
  w->stack.len = 0;
  return w;
}

void walk_give(Exprs *p, Walk *w) {
  w->next = p->walks;
  p->walks = w;
}

const Expr *walk_find(const Walk *w, const Expr *e) {
  return e->id < w->room && w->seen[e->id].stamp == w->now ? w->seen[e->id].to : NULL;
}

void walk_put(Exprs *p, Walk *w, const Expr *e, const Expr *to) {
  if (e->id >= w->room) {
    uint32_t room = p->len + p->len / 2 + 64;
    struct Seen *seen = NEW_ARRAY(p->arena, struct Seen, room);
    if (w->room) memcpy(seen, w->seen, w->room * sizeof seen[0]);
    w->seen = seen;
    w->room = room;
  }
  w->seen[e->id] = (struct Seen){w->now, to};
}

/* Pushes the arguments of e that have no result yet, the first on top. Returns false if there is none. Considers
 * only arguments that contain a bit of `has`. */
static bool walk_args(Exprs *p, Walk *w, const Expr *e, unsigned has) {
  bool any = false;
  for (uint32_t i = e->n; i-- > 0;) {
    if (!(e->arg[i]->has & has) || walk_find(w, e->arg[i])) continue;
    vec_push(p->arena, w->stack, e->arg[i]);
    any = true;
  }
  return any;
}

/* e with its arguments replaced by their results (unvisited arguments stay). */
static const Expr *with_results(Exprs *p, const Walk *w, const Expr *e) {
  const Expr *few[FEW_ARGS], **arg = e->n <= FEW_ARGS ? few : NEW_ARRAY(p->arena, const Expr *, e->n);
  for (uint32_t i = 0; i < e->n; i++) {
    const Expr *to = walk_find(w, e->arg[i]);
    arg[i] = to ? to : e->arg[i];
  }
  return expr_with(p, e, arg);
}

enum { HAS_ANY = HAS_DIM | HAS_LABEL | HAS_TURN | HAS_READ | HAS_PARAM };

static const Expr *map_has(Exprs *p, const Expr *e, unsigned has, bool ops, ExprLeaf *f, void *env) {
  if (!(e->has & has)) return e;
  if (e->n == 0) return ops ? e : f(env, p, e);
  Walk *w = walk_take(p);
  vec_push(p->arena, w->stack, e);
  while (w->stack.len) {
    const Expr *x = vec_last(w->stack), *to;
    if (walk_find(w, x)) {
      w->stack.len--;
    } else if (!walk_args(p, w, x, has)) {
      to = with_results(p, w, x);
      if ((x->kind == EX_OP) == ops) to = f(env, p, to);
      BUG_UNLESS(to);
      walk_put(p, w, x, to);
      w->stack.len--;
    }
  }
  const Expr *to = walk_find(w, e);
  walk_give(p, w);
  return to;
}

const Expr *expr_map(Exprs *p, const Expr *e, ExprLeaf *f, void *env) {
  return map_has(p, e, HAS_ANY, false, f, env);
}

const Expr *expr_map_ops(Exprs *p, const Expr *e, ExprLeaf *f, void *env) {
  return map_has(p, e, HAS_ANY, true, f, env);
}

typedef struct Relabel {
  uint32_t n;
  const Expr *const *to;
} Relabel;

static const Expr *relabel_leaf(void *env, Exprs *p, const Expr *e) {
  (void)p;
  const Relabel *r = env;
  if (e->kind != EX_LABEL || e->i >= (int64_t)r->n || !r->to[e->i]) return e;
  return r->to[e->i];
}

const Expr *expr_relabel(Exprs *p, const Expr *e, uint32_t n, const Expr *const *to) {
  Relabel r = {n, to};
  return map_has(p, e, HAS_LABEL, false, relabel_leaf, &r);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Handles labels from 63 on, which a mask cannot distinguish. */
static void labels_many(const Expr *top, uint32_t n, bool *used) {
  Arena *a = arena_new();
  ExprNodes nodes = expr_nodes(a, top, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_LABEL && e->i < (int64_t)n) used[e->i] = true;
  arena_free(a);
}

void expr_labels(const Expr *e, uint32_t n, bool *used) {
  for (uint32_t k = 0; k < n && k < 63; k++) used[k] |= (e->labels >> k & 1) != 0;
  if (n > 63 && e->labels >> 63) labels_many(e, n, used);
}

void expr_slot_reads(Arena *a, uint32_t n, const Expr *const *top, const Expr **read) {
  ExprNodes nodes = expr_nodes(a, NULL, HAS_READ);
  for (uint32_t k = 0; k < n; k++) expr_nodes_add(&nodes, top[k]);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_READ) read[e->i] = e;
}

/* ---- slopes --------------------------------------------------------------------------------------- */

bool expr_has_label(const Expr *e, int64_t label) {
  if (!(e->labels >> (label < 63 ? label : 63) & 1)) return false;
  if (label < 63 || e->kind == EX_LABEL) return e->kind != EX_LABEL || e->i == label;
  for (uint32_t k = 0; k < e->n; k++)
    if (expr_has_label(e->arg[k], label)) return true;
  return false;
}

bool exprs_same(uint32_t n, const Expr *const *a, const Expr *const *b) {
  for (uint32_t k = 0; k < n; k++)
    if (a[k] != b[k]) return false;
  return true;
}

const Expr **exprs_labels(Arena *a, Exprs *p, uint32_t n) {
  const Expr **label = NEW_ARRAY(a, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) label[k] = expr_label(p, k);
  return label;
}

const Expr **exprs_ints(Arena *a, Exprs *p, uint32_t n, const int64_t *of) {
  const Expr **number = NEW_ARRAY(a, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) number[k] = expr_int(p, DT_I64, of[k]);
  return number;
}

bool exprs_are_labels(uint32_t n, const Expr *const *e) {
  for (uint32_t k = 0; k < n; k++)
    if (e[k]->kind != EX_LABEL || e[k]->i != k) return false;
  return true;
}

bool expr_is_short(const Expr *e, int32_t *room) {
  if (--*room < 0) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!expr_is_short(e->arg[k], room)) return false;
  return true;
}

bool expr_slope(const Expr *e, int64_t label, int64_t *slope) {
  int64_t a, b;
  *slope = 0;
  if (!expr_has_label(e, label)) return true;
  if (e->kind == EX_LABEL) return *slope = 1, true;
  if (e->kind != EX_OP || e->dtype != DT_I64) return false;
  switch ((Op)e->op) {
  case OP_NEG: return expr_slope(e->arg[0], label, &a) && sub_ok(0, a, slope);
  case OP_ADD: return expr_slope(e->arg[0], label, &a) && expr_slope(e->arg[1], label, &b) && add_ok(a, b, slope);
  case OP_SUB: return expr_slope(e->arg[0], label, &a) && expr_slope(e->arg[1], label, &b) && sub_ok(a, b, slope);
  case OP_MUL:
    if (e->arg[1]->kind == EX_INT) return expr_slope(e->arg[0], label, &a) && mul_ok(a, e->arg[1]->i, slope);
    if (e->arg[0]->kind == EX_INT) return expr_slope(e->arg[1], label, &a) && mul_ok(a, e->arg[0]->i, slope);
    return false;
  default: return false;
  }
}
