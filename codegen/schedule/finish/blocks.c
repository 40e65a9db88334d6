/* codegen/schedule/finish/blocks.c - splits loops over blocks of lanes where a condition turns. In: a kernel's
 * statements. Out: the same, where a loop over v by S, whose body has loops over l < S that compute
 *
 *     select(v + l <= k[i], exp(X[i, v + l] - m), 0)
 *
 * becomes three: over the blocks in which the condition is true everywhere, which test nothing; over the one in which
 * it turns; and over those in which it is false, which compute only what is left. A condition from below turns before
 * the interior. Each element is computed from the same values, in the same order of blocks, so the bits are the same.
 */
#include "expr/prove/prove.h"
#include "finish.h"
#include "loop/copy.h"
#include "turn.h"

enum { BODY_MOST = 12 };     /* statements of a loop that may be there five times */

typedef struct End {
  const Expr *at;            /* NULL: nothing turns there */
  Map beyond;                /* the value of each comparison beyond it */
} End;

typedef struct Blocks {
  LoopProgram *p;
  LoopKernel *k;
  Exprs *x;
  Arena *arena;              /* the pass' own */
  LoopCopy copy;
  LoopStmt *loop;            /* the current loop, */
  uint32_t n;                /*   number of its statements, */
  bool *lane;                /*   by variable: one of its lanes, */
  bool *stored;              /*   by place: it stores or makes it */
  bool *written;             /* by buffer: the kernel stores to it */
  End low, high;
  Map inside;                /* the value of each comparison in the interior */
} Blocks;

/* ---- loops ---------------------------------------------------------------------------------------------- */

static bool is_lanes(const LoopStmt *s, int64_t step) {
  if (s->kind != LOOP_FOR || s->step != 1 || s->polled) return false;
  if (s->bind != BIND_VECTOR && s->bind != BIND_HELD && s->bind != BIND_SHORT) return false;
  return s->lo->kind == EX_INT && !s->lo->i && s->hi->kind == EX_INT && s->hi->i == step;
}

/* Whether these are statements of lanes; notes what they change. */
static bool body_look(Blocks *b, const LoopBody *body, bool inner) {
  for (uint32_t i = 0; i < body->len; i++) {
    const LoopStmt *s = body->at[i];
    b->n++;
    if (!inner && is_lanes(s, b->loop->step)) {
      b->lane[s->var] = true;
      if (!body_look(b, &s->body, true)) return false;
    } else if (s->kind == LOOP_LET || s->kind == LOOP_VAR || s->kind == LOOP_STORE || s->kind == LOOP_LANES_OF) {
      b->stored[s->place] = true;
    } else if (s->kind != LOOP_FETCH) {
      return false;
    }
  }
  return b->n <= BODY_MOST;
}

/* ---- comparisons ---------------------------------------------------------------------------------------- */

/* Whether e is the same in the whole loop, and can be read before it: it consists of names, numbers, registers, and
 * elements of buffers that the kernel does not store to. */
static bool is_fixed(const void *env, const Expr *e) {
  const Blocks *b = env;
  if (e->kind == EX_LABEL) return e->i != (int64_t)b->loop->var && !b->lane[e->i];
  if (e->kind == EX_OP && e->op == OP_WITHIN) return false;
  if (e->kind == EX_READ) {
    const LoopPlace *p = &b->k->places.at[e->i];
    if (b->stored[e->i] || (e->n && (p->space != SPACE_BUFFER || b->written[p->buffer]))) return false;
  }
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_fixed(env, e->arg[k])) return false;
  return true;
}

typedef struct Without { const Blocks *b; bool lanes; } Without;

static const Expr *leaf_without(void *env, Exprs *x, const Expr *leaf) {
  const Without *w = env;
  if (leaf->kind != EX_LABEL) return leaf;
  bool gone = w->lanes ? w->b->lane[leaf->i] : leaf->i == (int64_t)w->b->loop->var;
  return gone ? expr_int(x, DT_I64, 0) : leaf;
}

static const Expr *without(const Blocks *b, const Expr *e, bool lanes) {
  return expr_map(b->x, e, leaf_without, &(Without){b, lanes});
}

typedef struct Lane { const Blocks *b; int64_t var; } Lane;

static const Expr *leaf_lane(void *env, Exprs *x, const Expr *leaf) {
  Lane *l = env;
  (void)x;
  if (leaf->kind == EX_LABEL && l->b->lane[leaf->i]) l->var = leaf->i;
  return leaf;
}

/* Where a comparison of v + l turns: along v alone and along l alone at the same place. */
static bool turn_of(Blocks *b, const Expr *e, Turn *t) {
  LoopStmt *s = b->loop;
  Lane lane = {b, -1};
  expr_map(b->x, e, leaf_lane, &lane);
  const Expr *end = expr_op2(b->x, OP_ADD, s->hi, expr_int(b->x, DT_I64, s->step));
  Along blocks = {b->x, s->var, s->lo, end, is_fixed, b}, lanes = blocks;
  lanes.var = (uint32_t)lane.var;
  Turn other;
  return lane.var >= 0 && turn_find(&blocks, without(b, e, true), true, t) && !t->equal &&
         turn_find(&lanes, without(b, e, false), true, &other) && t->at == other.at && t->below == other.below;
}

static bool end_take(Blocks *b, End *end, const Expr *e, const Turn *t) {
  if (end->at && end->at != t->at) return false;
  end->at = t->at;
  map_put(&end->beyond, e, (void *)(uintptr_t)expr_bool(b->x, false));
  map_put(&b->inside, e, (void *)(uintptr_t)expr_bool(b->x, true));
  return true;
}

/* Finds comparisons that turn in e. sure: e is computed at each turn; else what it reads may not be there. */
static void turns_take(Blocks *b, const Expr *e, bool sure) {
  Turn t;
  if (!(e->has & HAS_LABEL) || map_find(&b->inside, e)) return;
  if (e->kind == EX_OP && e->n == 2 && e->dtype == DT_BOOL && turn_of(b, e, &t) && (sure || !reads_memory(t.at))) {
    end_take(b, t.below ? &b->high : &b->low, e, &t);
    return;
  }
  bool lazy = is_op(e, OP_SELECT) || is_op(e, OP_AND) || is_op(e, OP_OR);
  for (uint32_t k = 0; k < e->n; k++) turns_take(b, e->arg[k], sure && !(lazy && k));
}

static const Expr *turns_find(void *env, const Expr *top) {
  turns_take(env, top, true);
  return top;
}

static bool loop_look(Blocks *b, LoopStmt *s) {
  if (s->kind != LOOP_FOR || s->bind != BIND_SEQ || s->step < 2 || s->polled) return false;
  b->loop = s, b->n = 0;
  b->lane = NEW_ARRAY(b->arena, bool, b->k->var.len + 1);
  b->stored = NEW_ARRAY(b->arena, bool, b->k->places.len + 1);
  if (!body_look(b, &s->body, false)) return false;
  b->low = b->high = (End){NULL, map_new(b->arena)};
  b->high.beyond = map_new(b->arena), b->inside = map_new(b->arena);
  loop_exprs(&s->body, turns_find, b);
  return b->low.at || b->high.at;
}

/* ---- ranges ---------------------------------------------------------------------------------------------- */

/* The register that holds e, which is read once before the loop. */
static const Expr *kept(Blocks *b, LoopBody *to, const Expr *e) {
  if (!(e->has & HAS_READ)) return e;
  LoopPlace own = {.space = SPACE_REGISTER, .name = c_scope_name(&b->copy.names, NULL, "bound"), .dtype = DT_I64,
                   .written = true};
  vec_push(b->p->arena, b->k->places, own);
  LoopStmt *let = NEW(b->p->arena, LoopStmt);
  *let = (LoopStmt){.kind = LOOP_LET, .place = b->k->places.len - 1, .value = e};
  vec_push(b->p->arena, *to, let);
  return expr_read(b->x, DT_I64, b->k->places.len - 1, 0, NULL);
}

/* The first block that begins at or after `at`; or if not `up`, the first that is not whole before it. */
static const Expr *block_of(Blocks *b, LoopBody *to, const Expr *at, bool up) {
  Exprs *x = b->x;
  const LoopStmt *s = b->loop;
  const Expr *step = expr_int(x, DT_I64, s->step), *n = expr_op2(x, OP_SUB, at, s->lo);
  if (up) n = expr_op2(x, OP_ADD, n, expr_int(x, DT_I64, s->step - 1));
  const Expr *first = expr_op2(x, OP_ADD, s->lo, expr_op2(x, OP_MUL, expr_op2(x, OP_IDIV, n, step), step));
  Str name = c_scope_name(&b->copy.names, NULL, "whole");
  vec_push(b->p->arena, b->k->var, name);
  LoopStmt *index = NEW(b->p->arena, LoopStmt);
  *index = (LoopStmt){.kind = LOOP_INDEX, .var = b->k->var.len - 1, .lo = first};
  vec_push(b->p->arena, *to, index);
  return expr_label(x, index->var);
}

typedef struct Ends { const Expr *first, *behind; } Ends; /* the block in which something turns, and the next */

static Ends ends_of(Blocks *b, LoopBody *to, const End *end) {
  const LoopStmt *s = b->loop;
  const Expr *last = expr_op2(b->x, OP_ADD, s->hi, expr_int(b->x, DT_I64, s->step - 1));
  const Expr *at = expr_op2(b->x, OP_MIN, expr_op2(b->x, OP_MAX, end->at, s->lo), expr_normal(b->x, last));
  at = kept(b, to, at);
  const Expr *first = block_of(b, to, at, false);
  return (Ends){first, block_of(b, to, at, true)};
}

static void changes_note(const LoopBody *body, bool *changed) {
  for (uint32_t i = 0; i < body->len; i++) {
    const LoopStmt *s = body->at[i];
    if (s->kind == LOOP_STORE || s->kind == LOOP_LANES_OF) changed[s->place] = true;
    changes_note(&s->body, changed);
  }
}

/* Whether e is the same wherever the loop's body computes it. */
static bool is_unchanged(const Blocks *b, const bool *changed, const Expr *e) {
  if (e->kind == EX_READ) {
    const LoopPlace *p = &b->k->places.at[e->i];
    if (p->space == SPACE_BUFFER ? b->written[p->buffer] : changed[e->i]) return false;
  }
  for (uint32_t k = 0; k < e->n && e->has & HAS_READ; k++)
    if (!is_unchanged(b, changed, e->arg[k])) return false;
  return true;
}

/* Finds names of numbers, and of what is too low to have an exponential. */
static bool named_find(const Blocks *b, const LoopBody *body, const bool *changed, const Expr **is) {
  bool any = false;
  for (uint32_t i = 0; i < body->len; i++) {
    const LoopStmt *s = body->at[i];
    bool number = s->kind == LOOP_LET && (s->value->kind == EX_INT || s->value->kind == EX_REAL);
    bool low = s->kind == LOOP_LET && is_lowest(s->value) && is_unchanged(b, changed, s->value);
    if (number || low) is[s->place] = s->value;
    any |= number | low | named_find(b, &s->body, changed, is);
  }
  return any;
}

/* Replaces these names, and folds what follows. */
static void names_replace(Blocks *b, LoopStmt *s) {
  bool *changed = NEW_ARRAY(b->arena, bool, b->k->places.len + 1);
  Named n = {b->x, NEW_ARRAY(b->arena, const Expr *, b->k->places.len + 1)};
  Map nothing = map_new(b->arena);
  changes_note(&s->body, changed);
  if (!named_find(b, &s->body, changed, n.is)) return;
  loop_exprs(&s->body, with_named, &n);
  loop_exprs(&s->body, with_known, &(Known){b->x, &nothing});
}

/* Notes what is used, from the last statement to the first; a name that nobody uses uses nothing. */
static void uses_note(LoopUses *u, const LoopBody *body) {
  for (uint32_t i = body->len; i-- > 0;) {
    LoopStmt *s = body->at[i];
    uses_note(u, &s->body);
    if (s->kind == LOOP_LET && !u->place[s->place]) continue;
    loop_uses_stmt(u, s);
  }
}

/* Removes prefetches of what is not read. */
static void fetches_drop(Blocks *b, LoopStmt *s) {
  LoopUses u = loop_uses(b->arena, b->k);
  LoopBody left = {0};
  uses_note(&u, &s->body);
  for (uint32_t i = 0; i < s->body.len; i++)
    if (s->body.at[i]->kind != LOOP_FETCH || u.place[s->body.at[i]->place])
      vec_push(b->p->arena, left, s->body.at[i]);
  s->body = left;
}

static void range_put(Blocks *b, LoopBody *to, const Expr *lo, const Expr *hi, const Map *is, bool own) {
  LoopStmt *s = loop_copy(&b->copy, b->loop, own, with_known, &(Known){b->x, is});
  s->lo = lo, s->hi = hi;
  names_replace(b, s);
  fetches_drop(b, s);
  vec_push(b->p->arena, *to, s);
}

/* Adds the blocks below the interior, where it begins, in it, where it ends, and behind it: each may be none, and
 * together they are the loop's, wherever the ends are. */
static void ranges_put(Blocks *b, LoopBody *to) {
  Exprs *x = b->x;
  const Expr *lo = b->loop->lo, *hi = b->loop->hi;
  Map nothing = map_new(b->arena);
  const Expr *from = lo;
  if (b->low.at) {
    Ends e = ends_of(b, to, &b->low);
    range_put(b, to, lo, expr_op2(x, OP_MIN, hi, e.first), &b->low.beyond, true);
    range_put(b, to, e.first, expr_op2(x, OP_MIN, hi, e.behind), &nothing, true);
    from = e.behind;
  }
  if (!b->high.at) {
    range_put(b, to, from, hi, &b->inside, false);
    return;
  }
  Ends e = ends_of(b, to, &b->high);
  range_put(b, to, from, expr_op2(x, OP_MIN, hi, e.first), &b->inside, false);
  const Expr *first = from == lo ? e.first : expr_op2(x, OP_MAX, from, e.first);
  const Expr *behind = from == lo ? e.behind : expr_op2(x, OP_MAX, from, e.behind);
  range_put(b, to, first, expr_op2(x, OP_MIN, hi, behind), &nothing, true);
  range_put(b, to, behind, hi, &b->high.beyond, true);
}

static void body_cut(Blocks *b, LoopBody *body) {
  LoopBody made = {0};
  for (uint32_t i = 0; i < body->len; i++) {
    LoopStmt *s = body->at[i];
    body_cut(b, &s->body);
    body_cut(b, &s->other);
    if (loop_look(b, s)) ranges_put(b, &made);
    else vec_push(b->p->arena, made, s);
  }
  *body = made;
}

void finish_blocks(LoopProgram *p, LoopKernel *k) {
  Arena *a = arena_new();
  Blocks b = {.p = p, .k = k, .x = p->tasks->exprs, .arena = a, .copy = loop_copies(p, k, a)};
  b.written = NEW_ARRAY(a, bool, p->tasks->buffers.len + 1);
  for (uint32_t i = 0; i < k->places.len; i++)
    if (k->places.at[i].space == SPACE_BUFFER && k->places.at[i].written) b.written[k->places.at[i].buffer] = true;
  body_cut(&b, &k->body);
  arena_free(a);
}
