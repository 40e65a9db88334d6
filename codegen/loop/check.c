/* codegen/loop/check.c - checks every invariant of a LoopProgram, as loop.h and docs/languages-inside.md state them.
 * Walks each kernel's statements in order, so that only what exists so far may be used. */
#include <string.h>

#include "expr/prove/prove.h"
#include "expr/sum/law.h"
#include "text.h"

typedef enum { UNMADE, OPEN_LET, OPEN_VAR, GONE } PlaceState;

typedef enum { VAR_NEW, VAR_OPEN, VAR_GONE } VarState;

typedef struct Check {
  SumCheck c;
  const LoopProgram *p;
  Arena *arena;
  const LoopKernel *k;       /* the current one, or NULL */
  Map names;                 /* of the current kernel */
  PlaceState *place;         /* by number */
  VarState *var;             /* by number */
  int64_t *multiple;         /* by variable: a power of two, up to 16, that divides it */
  VEC(uint32_t) scope;       /* places in scope, oldest first, */
  VEC(uint32_t) indices;     /*   and variables that are set by `index` */
  uint32_t nesting;
  bool threads;              /* inside a thread loop */
  bool round;                /* inside a loop whose turns all threads end together */
  Map seen;                  /* by buffer: the place that the current part of the kernel uses */
  Map tasks;                 /* by step + 1: the kernel's depth + 1, */
  Map calls;                 /*   and its task, if a C function computes it */
} Check;

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

static void say_where(void *ctx, Buf *out) {
  const LoopKernel *k = ((const Check *)ctx)->k;
  buf_printf(out, k ? "kernel %s" : "loops", k && k->name ? k->name->s : "?");
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Whether it is a C identifier, not a keyword, and not read as a number in an expression's text. */
static bool is_identifier(Str s) {
  static const char words[] =
      " auto break case char const continue default do double else enum extern float for goto if inline int long "
      "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
      "true false inf nan ";
  char word[24];
  if (!s || !s->len || (s->s[0] >= '0' && s->s[0] <= '9')) return false;
  for (uint32_t i = 0; i < s->len; i++) {
    char x = s->s[i];
    if (!((x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_')) return false;
  }
  if (s->len + 3 > sizeof word) return true;
  word[0] = word[s->len + 1] = ' ';
  memcpy(word + 1, s->s, s->len);
  word[s->len + 2] = 0;
  return !strstr(words, word);
}

static void check_name(Check *c, const char *what, Str s, Map *names) {
  if (!is_identifier(s))
    fail(c, "%s has a name that is none in C: %s", what, s ? s->s : "(none)");
  else if (map_find(names, s))
    fail(c, "two things are called %s", s->s);
  else
    map_put(names, s, c);
}

static const char *name_of(const LoopPlace *x) {
  return x->name ? x->name->s : "?";
}

/* ---- expressions -------------------------------------------------------------------------------- */

/* A part of the kernel is a function, in which pointers do not alias: it sees a buffer that is written in one way. */
static void check_view(Check *c, const LoopPlace *x) {
  if (x->space != SPACE_BUFFER || x->buffer >= c->p->tasks->buffers.len) return;
  const TaskBuffer *b = &c->p->tasks->buffers.at[x->buffer];
  const LoopPlace *other = map_find(&c->seen, b);
  if (other && other != x && (other->written || x->written))
    fail(c, "one part uses two places of buffer %%%u", x->buffer);
  map_put(&c->seen, b, (void *)(uintptr_t)x);
}

static void check_read(Check *c, const Expr *e) {
  if (e->i < 0 || e->i >= c->k->places.len) {
    fail(c, "place %lld is read, of %u", (long long)e->i, c->k->places.len);
    return;
  }
  const LoopPlace *x = &c->k->places.at[e->i];
  PlaceState state = c->place[e->i];
  check_view(c, x);
  if (e->n != x->rank) fail(c, "%s has rank %u and is read with %u indices", name_of(x), x->rank, e->n);
  if (e->dtype != x->dtype)
    fail(c, "%s is %s and is read as %s", name_of(x), check_dtype_name(x->dtype), check_dtype_name((DType)e->dtype));
  for (uint32_t i = 0; i < e->n; i++)
    if (e->arg[i]->dtype != DT_I64) fail(c, "an index of %s is not i64", name_of(x));
  if (x->space != SPACE_BUFFER && state != OPEN_LET && state != OPEN_VAR)
    fail(c, "%s is read where it is not there", name_of(x));
}

static void check_within(Check *c, const Expr *e) {
  const Expr *site = e->arg[2];
  if (site->kind != EX_INT || site->i < 0 || site->i >= c->p->sites.len)
    fail(c, "`within` says what no site says");
}

static void check_loop_part(SumCheck *sc, const Expr *e) {
  Check *c = sc->ctx;
  if (e->kind == EX_LABEL) {
    if (e->i < 0 || e->i >= c->k->var.len)
      fail(c, "loop variable %lld, of %u", (long long)e->i, c->k->var.len);
    else if (c->var[e->i] != VAR_OPEN)
      fail(c, "loop variable %s stands outside of its loop", c->k->var.at[e->i] ? c->k->var.at[e->i]->s : "?");
  } else if (e->kind == EX_READ) {
    check_read(c, e);
  } else if (e->kind == EX_OP && op_info[e->op].laws & LAW_LOOP) {
    if (e->op == OP_WITHIN) check_within(c, e);
  } else {
    check_part(sc, e);
  }
}

/* dtype DTYPES: any. */
static void check_value(Check *c, const char *what, const Expr *e, DType dtype) {
  if (!e) {
    fail(c, "%s is missing", what);
    return;
  }
  if (dtype != DTYPES && e->dtype != dtype)
    fail(c, "%s is %s and not %s", what, check_dtype_name((DType)e->dtype), check_dtype_name(dtype));
  c->c.now++;
  check_walk(&c->c, e, WALK_ALL, check_loop_part);
}

/* ---- places ------------------------------------------------------------------------------------- */

/* Whether the place has the buffer's extents, or products of adjacent ones. */
static bool check_axes(Check *c, const LoopPlace *x, const TaskBuffer *b) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    const Expr *all = NULL;
    for (uint32_t k = x->axes ? x->axes[i] : 1; k-- > 0; at++) {
      if (at >= b->rank) return false;
      all = all ? extent_normal(c->p->tasks->exprs, expr_op2(c->p->tasks->exprs, OP_MUL, all, b->dim[at])) : b->dim[at];
    }
    if (all != x->dim[i]) return false;
  }
  return at == b->rank;
}

static void check_of_buffer(Check *c, const LoopPlace *x, Map *buffers) {
  const TaskGraph *t = c->p->tasks;
  if (x->buffer >= t->buffers.len) {
    fail(c, "%s is buffer %%%u, of %u", name_of(x), x->buffer, t->buffers.len);
    return;
  }
  const TaskBuffer *b = &t->buffers.at[x->buffer];
  if (b->dtype != x->dtype || !check_axes(c, x, b)) fail(c, "%s is not like buffer %%%u", name_of(x), x->buffer);
  if (x->written && b->space == BUF_INPUT) fail(c, "%s is written and an input", name_of(x));
  const LoopPlace *other = map_find(buffers, b);
  /* A buffer may have several views. */
  bool alike = other && !!other->axes == !!x->axes;
  for (uint32_t i = 0; alike && x->axes && i < x->rank; i++) alike = i >= other->rank || x->axes[i] == other->axes[i];
  if (alike) fail(c, "two places are buffer %%%u", x->buffer);
  map_put(buffers, b, (void *)(uintptr_t)x);
}

/* Whether its size is a constant of at most `most` bytes. */
static bool is_small(const LoopPlace *x, int most) {
  int64_t bytes = dtype_size(x->dtype);
  for (uint32_t i = 0; i < x->rank; i++)
    if (!x->dim[i] || x->dim[i]->kind != EX_INT || !mul_ok(bytes, x->dim[i]->i, &bytes)) return false;
  return bytes <= most;
}

static bool check_place(Check *c, const LoopPlace *x, Map *buffers) {
  check_name(c, "a place", x->name, &c->names);
  if ((unsigned)x->space > SPACE_SHARED || (unsigned)x->dtype >= DTYPES || x->rank > SUM_RANK || (x->rank && !x->dim)) {
    fail(c, "%s has no space, no dtype or no shape", name_of(x));
    return false;
  }
  for (uint32_t i = 0; i < x->rank; i++) check_extent(&c->c, "an extent", x->dim[i]);
  bool halves = dtype_is_half(x->dtype);
  if (x->small && (!halves || !x->rank || (x->space != SPACE_SHARED && x->space != SPACE_REGISTER)))
    fail(c, "%s is small, and no array of halves", name_of(x));
  if (x->space == SPACE_BUFFER) {
    check_of_buffer(c, x, buffers);
    return true;
  }
  if (x->buffer) fail(c, "%s is no buffer and has the number of one", name_of(x));
  int most = x->space == SPACE_SHARED ? LOOP_SHARED : LOOP_STACK;
  if (x->space != SPACE_SCRATCH && !is_small(x, most))
    fail(c, "%s is not of a constant size up to %d bytes", name_of(x), most);
  if (x->space == SPACE_SHARED && !x->rank) fail(c, "%s is shared and no array", name_of(x));
  if (x->space == SPACE_REGISTER && x->rank > 1) fail(c, "%s has rank %u and is a register", name_of(x), x->rank);
  return true;
}

/* ---- statements --------------------------------------------------------------------------------- */

static void check_body(Check *c, const LoopBody *body);

static void check_block(Check *c, const LoopBody *body) {
  if (c->nesting == LOOP_NESTING) {
    fail(c, "blocks are nested more than %d deep", LOOP_NESTING);
    return;
  }
  uint32_t before = c->scope.len, named = c->indices.len;
  c->nesting++;
  check_body(c, body);
  c->nesting--;
  while (c->scope.len > before) c->place[vec_pop(c->scope)] = GONE;
  while (c->indices.len > named) c->var[vec_pop(c->indices)] = VAR_GONE;
}

/* How many elements it goes over, as far as that is known; NULL: reported already. */
static const Expr *length_of(Check *c, const LoopStmt *s) {
  Exprs *x = c->p->tasks->exprs;
  if (!s->lo || !s->hi || s->lo->dtype != DT_I64 || s->hi->dtype != DT_I64) return NULL;
  return expr_normal(x, expr_op2(x, OP_SUB, s->hi, s->lo));
}

/* Whether its last statement is a store. */
static bool holds(const Check *c, const LoopStmt *s) {
  const LoopStmt *st = s->body.len ? s->body.at[s->body.len - 1] : NULL;
  return st && st->kind == LOOP_STORE && st->place < c->k->places.len;
}

static void check_bind(Check *c, const LoopStmt *s) {
  const Expr *length = length_of(c, s);
  bool constant = !length || length->kind == EX_INT;
  if ((unsigned)s->bind > BIND_BLOCK || s->axis >= LOOP_AXES) fail(c, "a loop is bound to nothing");
  if (s->bind == BIND_UNROLL && !constant) fail(c, "a loop is unrolled and its length is no constant");
  if (s->bind == BIND_SHORT && (!constant || (length && length->i > LOOP_SHORT)))
    fail(c, "a loop is short and its length is no constant up to %d", LOOP_SHORT);
  if (s->bind != BIND_HELD) return;
  int64_t n = length && constant ? length->i : 0;
  if (n < 2 || n > LOOP_HELD || n & (n - 1) || !holds(c, s))
    fail(c, "a loop is held and is none of a power of two that ends with a store, up to %d", LOOP_HELD);
}

static void check_round(Check *c, const LoopStmt *s) {
  bool plain = s->lo && expr_is_int(s->lo, 0) && s->hi && s->hi->kind == EX_INT && s->step == 1;
  if (c->nesting) fail(c, "a loop inside of a block goes in rounds");
  if (!plain) fail(c, "a loop goes in rounds, and not from 0 to a constant by 1");
  c->round = true;
  check_block(c, &s->body);
  c->round = false;
}

static void check_threads(Check *c, const LoopStmt *s) {
  if (c->nesting > c->round) fail(c, "a loop inside of a block is bound to threads");
  c->threads = true;
  c->seen = map_new(c->arena);
  check_block(c, &s->body);
  c->seen = map_new(c->arena);
  c->threads = false;
}

/* Whether it is a multiple of n, whatever the variables are. */
static bool is_multiple(const Check *c, const Expr *e, int64_t n) {
  if (e->kind == EX_INT) return e->i % n == 0;
  if (e->kind == EX_LABEL) return e->i >= 0 && e->i < c->k->var.len && c->multiple[e->i] && c->multiple[e->i] % n == 0;
  if (is_op(e, OP_WITHIN)) return is_multiple(c, e->arg[0], n); /* it, or 0 */
  if (e->kind != EX_OP || e->dtype != DT_I64 || e->n != 2) return false;
  bool a = is_multiple(c, e->arg[0], n), b = is_multiple(c, e->arg[1], n);
  return e->op == OP_MUL
      ? a || b
      : (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MOD || e->op == OP_MIN || e->op == OP_MAX) && a && b;
}

/* The largest power of two, up to 16, that is known to divide it. */
static int64_t multiple_of(const Check *c, const Expr *e) {
  int64_t n = 16;
  while (n > 1 && !is_multiple(c, e, n)) n /= 2;
  return n;
}

static bool var_open(Check *c, uint32_t var) {
  if (var >= c->k->var.len) {
    fail(c, "a loop has variable %u, of %u", var, c->k->var.len);
    return false;
  }
  if (c->var[var] != VAR_NEW) fail(c, "two loops have the variable %s", c->k->var.at[var] ? c->k->var.at[var]->s : "?");
  c->var[var] = VAR_OPEN;
  return true;
}

static void check_index(Check *c, const LoopStmt *s) {
  check_value(c, "an index", s->lo, DT_I64);
  if (!var_open(c, s->var)) return;
  vec_push(c->arena, c->indices, s->var);
  if (s->lo) c->multiple[s->var] = multiple_of(c, s->lo);
}

static void check_polled(Check *c, const LoopStmt *s) {
  int64_t all;
  bool fits = s->polled >= 0 && mul_ok(s->polled, s->step, &all) && all <= LOOP_POLLED;
  if (!fits) fail(c, "a loop is polled behind %lld turns of %lld", (long long)s->polled, (long long)s->step);
  if (s->polled && s->bind != BIND_SEQ && s->bind != BIND_VECTOR)
    fail(c, "a loop is polled that is neither in order nor over lanes");
}

static void check_for(Check *c, const LoopStmt *s) {
  /* Neither threads nor what follows them see indices and places made before: each part is a function. */
  while (s->bind == BIND_THREAD && c->indices.len) c->var[vec_pop(c->indices)] = VAR_GONE;
  while (s->bind == BIND_THREAD && c->scope.len) c->place[vec_pop(c->scope)] = GONE;
  check_value(c, "where a loop begins", s->lo, DT_I64);
  check_value(c, "where a loop ends", s->hi, DT_I64);
  if (s->step < 1) fail(c, "a loop's step is %lld", (long long)s->step);
  check_bind(c, s);
  check_polled(c, s);
  if (s->beside && s->bind != BIND_GRID) fail(c, "a loop has blocks beside each other, and is over no grid");
  if (!var_open(c, s->var)) return;
  c->multiple[s->var] = 1;
  for (int64_t n = s->lo ? multiple_of(c, s->lo) : 1; n > 1 && c->multiple[s->var] == 1; n /= 2)
    if (s->step % n == 0) c->multiple[s->var] = n;
  if (s->bind == BIND_THREAD && !c->threads)
    check_threads(c, s);
  else if (s->bind == BIND_THREAD)
    fail(c, "a thread loop stands in a thread loop");
  else if (s->bind == BIND_ROUND)
    check_round(c, s);
  else
    check_block(c, &s->body);
  c->var[s->var] = VAR_GONE;
}

static const LoopPlace *place_at(Check *c, const LoopStmt *s) {
  if (s->place < c->k->places.len) {
    check_view(c, &c->k->places.at[s->place]);
    return &c->k->places.at[s->place];
  }
  fail(c, "place %u, of %u", s->place, c->k->places.len);
  return NULL;
}

/* An element of a buffer. */
static void check_lead(Check *c, const LoopStmt *s, const LoopPlace *x) {
  const Expr *v = s->value;
  bool element = v && v->kind == EX_READ && v->i >= 0 && v->i < c->k->places.len && v->n &&
      c->k->places.at[v->i].space == SPACE_BUFFER;
  check_value(c, name_of(x), v, DTYPES);
  if (x->dtype != DT_I64) fail(c, "%s is %s and leads to a line", name_of(x), check_dtype_name(x->dtype));
  if (!element) fail(c, "what %s leads from is no element of a buffer", name_of(x));
}

/* LET, LEAD, VAR */
static void check_made(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  bool keeps = s->kind != LOOP_VAR;
  if (!x) return;
  if (s->kind == LOOP_LEAD) check_lead(c, s, x);
  else if (keeps || s->value) check_value(c, name_of(x), s->value, x->dtype);
  bool across = s->step >= 0 && s->step <= 16 && !(s->step & (s->step - 1));
  if (s->kind == LOOP_LET && !across) fail(c, "%s is taken across %lld", name_of(x), (long long)s->step);
  if (x->space == SPACE_BUFFER) fail(c, "%s is a buffer and does not come to be", name_of(x));
  if (keeps && (x->space != SPACE_REGISTER || x->rank)) fail(c, "%s is no scalar register", name_of(x));
  if (c->place[s->place] != UNMADE) fail(c, "%s comes to be twice", name_of(x));
  c->place[s->place] = keeps ? OPEN_LET : OPEN_VAR;
  vec_push(c->arena, c->scope, s->place);
}

/* Checks that the element and those behind it are contiguous and aligned to `wide` elements, and that rows are a
 * multiple of it. */
static void check_wide_side(Check *c, const LoopPlace *x, uint32_t n, const Expr *const *at, int64_t wide) {
  bool whole = n && n == x->rank && x->dim[n - 1]->kind == EX_INT && x->dim[n - 1]->i % wide == 0;
  if (!whole || !is_multiple(c, at[n - 1], wide))
    fail(c, "%lld neighbours of %s do not begin at a multiple of so many, or do not end with a row", (long long)wide,
        name_of(x));
}

/* The place that e reads; NULL: e is no read of a place. */
static const LoopPlace *place_read_by(const Check *c, const Expr *e) {
  return e && e->kind == EX_READ && e->i >= 0 && e->i < c->k->places.len ? &c->k->places.at[e->i] : NULL;
}

/* verb, what: for messages. */
static void check_indices(Check *c, const LoopStmt *s, const LoopPlace *x, const char *verb, const char *what) {
  if (s->n_at != x->rank || (s->n_at && !s->at))
    fail(c, "%s has rank %u and is %s with %u indices", name_of(x), x->rank, verb, s->n_at);
  else
    for (uint32_t i = 0; i < s->n_at; i++) check_value(c, what, s->at[i], DT_I64);
}

static void check_wide(Check *c, const LoopStmt *s, const LoopPlace *x) {
  const Expr *v = s->value;
  const LoopPlace *from = place_read_by(c, v);
  int64_t bytes = s->wide * dtype_size(x->dtype);
  if (!from || s->n_at != x->rank) {
    fail(c, "what is stored to %s, several neighbours at once, is read from nowhere", name_of(x));
    return;
  }
  bool halves = dtype_is_half(x->dtype), small = x->space == SPACE_BUFFER || x->small,
       from_small = from->space == SPACE_BUFFER || from->small;
  bool alike = from->dtype == x->dtype && (halves ? small && from_small : loop_lies_alike(x->dtype));
  if (!alike || (bytes != 4 && bytes != 8 && bytes != 16))
    fail(c, "%lld neighbours of %s lie otherwise where they are stored, or are not 4, 8 or 16 bytes",
        (long long)s->wide, name_of(x));
  check_wide_side(c, x, s->n_at, s->at, s->wide);
  check_wide_side(c, from, v->n, v->arg, s->wide);
}

static void check_store(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  if (!x) return;
  PlaceState state = c->place[s->place];
  check_value(c, "what is stored", s->value, x->dtype);
  if (s->wide) check_wide(c, s, x);
  check_indices(c, s, x, "stored to", "an index of a store");
  if (x->space == SPACE_BUFFER && !x->written) fail(c, "%s is stored to and not written", name_of(x));
  if (x->space != SPACE_BUFFER && state != OPEN_VAR)
    fail(c, "%s is stored to %s", name_of(x), state == OPEN_LET ? "and keeps one value" : "where it is not there");
}

/* Checks that it goes from a buffer to a shared array. */
static void check_copy(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  const LoopPlace *from = place_read_by(c, s->value);
  if (!x) return;
  check_store(c, s);
  if (x->space != SPACE_SHARED || !from || from->space != SPACE_BUFFER)
    fail(c, "what is copied to %s does not go from a buffer to a shared array", name_of(x));
  if (!s->wide) fail(c, "%s is copied to, and not several neighbours at once", name_of(x));
}

static void check_lanes(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  if (!x) return;
  PlaceState state = c->place[s->place];
  bool array = x->space != SPACE_BUFFER && x->rank == 1 && x->dim[0]->kind == EX_INT && x->dim[0]->i <= LOOP_LANES;
  int64_t unit = LOOP_LANES_UNIT / dtype_size(x->dtype);
  if (!array || x->dim[0]->i % unit)
    fail(c, "%s is no array of %lld elements, or a multiple up to %d", name_of(x), (long long)unit, LOOP_LANES);
  if ((unsigned)s->op >= OPS || !loop_has_lanes(s->op, x->dtype))
    fail(c, "%s is %s, for whose arrays %s has no function", name_of(x), check_dtype_name(x->dtype),
        (unsigned)s->op < OPS ? op_info[s->op].name : "?");
  if (x->space != SPACE_BUFFER && state != OPEN_VAR)
    fail(c, "%s goes through a function where it is not there", name_of(x));
}

static void check_transpose(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  if (!x) return;
  PlaceState state = c->place[s->place];
  bool square = x->space != SPACE_BUFFER && x->rank == 2 && x->dim[0]->kind == EX_INT && x->dim[0] == x->dim[1];
  if (!square || x->dim[0]->i % 8)
    fail(c, "%s is no square array with a multiple of 8 rows, and is transposed", name_of(x));
  if (x->space != SPACE_BUFFER && state != OPEN_VAR) fail(c, "%s is transposed where it is not there", name_of(x));
}

static void check_fetch(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  if (!x) return;
  if (x->space != SPACE_BUFFER) fail(c, "%s is no buffer and is fetched", name_of(x));
  if (s->step && s->step != FETCH_SECOND)
    fail(c, "%s is fetched to another cache than the nearest or the second", name_of(x));
  check_indices(c, s, x, "fetched", "an index of what is fetched");
}

/* Checks that it streams from one of the kernel's own arrays, whose elements are as in the buffer. */
static void check_stream(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  const Expr *v = s->value;
  if (!x) return;
  check_value(c, "how much is streamed", s->hi, DT_I64);
  check_value(c, "what is streamed", v, x->dtype);
  if (x->space != SPACE_BUFFER) fail(c, "%s is no buffer and is streamed to", name_of(x));
  if (x->space == SPACE_BUFFER && !x->written) fail(c, "%s is streamed to and not written", name_of(x));
  if (!x->rank) fail(c, "%s has no rank and is streamed to", name_of(x));
  check_indices(c, s, x, "streamed to", "an index of a stream");
  if (s->step < 1 || s->step > x->rank)
    fail(c, "%s has rank %u and is streamed to over %lld axes", name_of(x), x->rank, (long long)s->step);
  const LoopPlace *from = place_read_by(c, v);
  if (!from || !v->n || from->space == SPACE_BUFFER)
    fail(c, "what is streamed to %s is no array of the kernel's own", name_of(x));
  if (!loop_lies_alike(x->dtype))
    fail(c, "%s is streamed to, and %s lies otherwise in arrays", name_of(x), check_dtype_name(x->dtype));
}

/* Checks that a side is a shared array of rank 1, with strides that matrix units can read. */
static const LoopPlace *check_side(Check *c, const Expr *e, int64_t step, int64_t deep, bool halves) {
  check_value(c, "a side of a matrix", e, DTYPES);
  const LoopPlace *x = place_read_by(c, e);
  if (!x || x->space != SPACE_SHARED || x->rank != 1) {
    fail(c, "a side of a matrix is no shared array of rank 1");
    return NULL;
  }
  bool steps = step > 0 && deep > 0 && (step == 1 || deep == 1 || !halves), wide = !halves || (step * deep) % 8 == 0;
  if (step > LOOP_SHARED || deep > LOOP_SHARED || !steps || !wide)
    fail(c, "elements of %s are %lld and %lld apart, of which one has to be 1 and the other a multiple of 8",
        name_of(x), (long long)step, (long long)deep);
  return x;
}

/* Checks that a side is a whole array of registers, as large as a thread's part of it. */
static const LoopPlace *check_held(Check *c, const LoopStmt *s) {
  const Expr *e = s->value;
  check_value(c, "a side of a matrix", e, DTYPES);
  const LoopPlace *x = place_read_by(c, e);
  bool array = x && (x->space == SPACE_REGISTER || x->space == SPACE_STACK) && x->rank == 1 && e->n == 1 &&
      expr_is_int(e->arg[0], 0) && x->dim[0]->kind == EX_INT &&
      x->dim[0]->i == s->matrix->rows / 8 * (s->matrix->deep / 4);
  if (!array)
    fail(c, "a side of a matrix is held, and is no thread's part of it");
  else if (c->place[e->i] != OPEN_VAR)
    fail(c, "%s is a side of a matrix where it is not there", name_of(x));
  return array ? x : NULL;
}

static void check_matrix(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  const LoopMatrix *m = s->matrix;
  if (!x || !m) {
    fail(c, "a matrix is not said");
    return;
  }
  bool halves = x->dtype == DT_F32,
       sizes = m->rows >= 16 && m->lanes >= 16 && m->deep >= 4 && m->rows <= 256 && m->lanes <= 256 && m->deep <= 256;
  sizes = sizes && m->rows % 16 == 0 && m->lanes % 16 == 0 && m->deep % (halves ? 16 : 4) == 0;
  if (!sizes)
    fail(c, "a matrix of %lld by %lld by %lld is none that there are units for", (long long)m->rows,
        (long long)m->lanes, (long long)m->deep);
  bool registers = (x->space == SPACE_REGISTER || x->space == SPACE_STACK) && x->rank == 1 &&
      x->dim[0]->kind == EX_INT && x->dim[0]->i == m->rows / 8 * (m->lanes / 4);
  if (!registers || (!halves && x->dtype != DT_F64)) fail(c, "%s has not a thread's part of a matrix", name_of(x));
  if (c->place[s->place] != OPEN_VAR) fail(c, "%s takes a matrix where it is not there", name_of(x));
  bool held = loop_is_held(m);
  const LoopPlace *a = held ? check_held(c, s) : check_side(c, s->value, m->row_step, m->row_deep, halves),
                  *b = check_side(c, s->other_side, m->lane_step, m->lane_deep, halves);
  if (!a || !b) return;
  bool types = a->dtype == b->dtype && (halves ? (a->small || held) && b->small : a->dtype == DT_F64 && !held);
  if (!types) fail(c, "%s and %s are no sides of a matrix of %s", name_of(a), name_of(b), check_dtype_name(x->dtype));
}

static bool product_opens(Check *c, const LoopStmt *s) {
  bool well = c->c.ok;
  for (uint32_t i = 0; i < s->n_over; i++) {
    if (!check_extent(&c->c, "where a loop of a product ends", s->over[i].extent)) well = false;
    if (!var_open(c, s->over[i].var)) well = false;
  }
  return well && c->c.ok;
}

/* Its loops are its own; launches after it, and in its place, have others. */
static void check_product(Check *c, const LoopStmt *s) {
  const LoopPlace *x = place_at(c, s);
  LoopProduct of;
  const char *why;
  if (!x) return;
  bool well = product_opens(c, s);
  check_value(c, "what a product sums up", s->value, DTYPES);
  check_indices(c, s, x, "stored to", "an index of a product's result");
  if (x->space == SPACE_BUFFER && !x->written) fail(c, "%s is stored to and not written", name_of(x));
  if (well && c->c.ok && !loop_product(c->p->tasks->exprs, c->k, s, &of, &why))
    fail(c, "%s is no product that a library has: %s", name_of(x), why);
  for (uint32_t i = 0; i < s->n_over && well; i++) c->var[s->over[i].var] = VAR_GONE;
  check_block(c, &s->body);
  check_block(c, &s->other);
}

static bool is_registers(const LoopPlace *x) { return x->space == SPACE_REGISTER && x->rank == 1; }

/* Checks that it goes from a buffer to an array of registers, or back: a power of two of aligned neighbours. */
static void check_group(Check *c, const LoopStmt *s) {
  const Expr *v = s->value;
  const LoopPlace *x = place_at(c, s), *from = place_read_by(c, v);
  if (!x) return;
  bool stores = x->space == SPACE_BUFFER,
       well = from && v->n && (stores ? is_registers(from) : from->space == SPACE_BUFFER && is_registers(x));
  check_value(c, "what is grouped", v, x->dtype);
  for (uint32_t i = 0; i < s->n_at; i++) check_value(c, "an index of what is grouped", s->at[i], DT_I64);
  if (!well || s->n_at != (stores ? x->rank : 0) || (stores && !expr_is_int(v->arg[0], 0))) {
    fail(c,
        "what is grouped goes from a buffer to no array of registers, nor from the first element of such a one to "
        "a buffer");
    return;
  }
  const LoopPlace *buffer = stores ? x : from, *array = stores ? from : x;
  const Expr *last = stores ? s->at[s->n_at - 1] : v->arg[v->n - 1], *dim = buffer->dim[buffer->rank - 1];
  int64_t n = array->dim[0]->i;
  if (n < 2 || n & (n - 1) || n * dtype_size(x->dtype) > LOOP_WIDEST)
    fail(c, "%s is a group and has %lld elements", name_of(array), (long long)n);
  else if (multiple_of(c, dim) % n || multiple_of(c, last) % n)
    fail(c, "%s is grouped and begins perhaps at no multiple of %lld elements", name_of(buffer), (long long)n);
  if (stores && !x->written) fail(c, "%s is stored to and not written", name_of(x));
  if (!stores && c->place[s->place] != OPEN_VAR) fail(c, "%s is stored to where it is not there", name_of(x));
}

/* Checks that fields of other kinds are unset. */
static void check_fields(Check *c, const LoopStmt *s) {
  bool loop = s->kind == LOOP_FOR, cond = s->kind == LOOP_IF, var = loop || s->kind == LOOP_INDEX,
       product = s->kind == LOOP_PRODUCT, call = s->kind == LOOP_CALL;
  bool hi = s->hi && s->kind != LOOP_STREAM,
       step = s->step && s->kind != LOOP_STREAM && s->kind != LOOP_FETCH && s->kind != LOOP_LET &&
      s->kind != LOOP_AWAIT;
  if ((!loop && (s->bind || s->axis || hi || step || s->polled || s->beside)) || (!var && (s->var || s->lo)))
    fail(c, "a statement has what only a loop has");
  if (s->kind != LOOP_LANES_OF && s->op) fail(c, "a statement has an operation of lanes");
  if (!cond && (s->cond || s->maybe || (s->other.len && !product))) fail(c, "a statement has what only an if has");
  if (s->kind != LOOP_STORE && s->kind != LOOP_COPY && s->wide) fail(c, "a statement is wide, and no store");
  if (s->kind != LOOP_MATRIX && (s->matrix || s->other_side)) fail(c, "a statement has what only a matrix has");
  if (!product && !call && s->n_over) fail(c, "a statement has loops that only a product has");
  if (!loop && !cond && !product && s->body.len) fail(c, "a statement has a block");
  if ((var || cond) && (s->place || s->value)) fail(c, "a loop or an if has a place or a value");
  if (s->kind != LOOP_STORE && s->kind != LOOP_COPY && s->kind != LOOP_FETCH && s->kind != LOOP_STREAM &&
      s->kind != LOOP_GROUP && !product && !call && s->n_at)
    fail(c, "a statement has indices and is no store");
}

static void check_body(Check *c, const LoopBody *body) {
  vec_each_of(const LoopStmt, s, *body) {
    check_fields(c, s);
    switch (s->kind) {
    case LOOP_FOR: check_for(c, s); break;
    case LOOP_INDEX: check_index(c, s); break;
    case LOOP_IF:
      check_value(c, "a condition", s->cond, DT_BOOL);
      check_block(c, &s->body);
      check_block(c, &s->other);
      break;
    case LOOP_LET:
    case LOOP_LEAD:
    case LOOP_VAR: check_made(c, s); break;
    case LOOP_STORE: check_store(c, s); break;
    case LOOP_LANES_OF: check_lanes(c, s); break;
    case LOOP_TRANSPOSE: check_transpose(c, s); break;
    case LOOP_FETCH: check_fetch(c, s); break;
    case LOOP_STREAM: check_stream(c, s); break;
    case LOOP_MATRIX: check_matrix(c, s); break;
    case LOOP_PRODUCT: check_product(c, s); break;
    case LOOP_GROUP: check_group(c, s); break;
    case LOOP_COPY: check_copy(c, s); break;
    case LOOP_AWAIT:
      if (s->step < 0 || s->step > LOOP_GROUPS)
        fail(c, "%lld groups of copies are left under way, of %d at most", (long long)s->step, LOOP_GROUPS);
      break;
    case LOOP_COMMIT:
    case LOOP_BARRIER: break;
    case LOOP_CALL:
      fail(c, "a C function is called where the kernel's stage names none, or beside something else");
      break;
    default: fail(c, "a statement is of no kind");
    }
  }
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/* Checks that its task exists and that no other kernel has it. met NULL: a kernel for narrow registers, beside another
 * one. */
static void check_task(Check *c, const LoopKernel *k, Map *met) {
  const void *key = (const void *)((uintptr_t)k->task + 1);
  uintptr_t depth = (uintptr_t)map_find(&c->tasks, key);
  if (!depth)
    fail(c, "there is no kernel in the tasks at step %u", k->task);
  else if (met && map_find(met, key))
    fail(c, "there is another kernel for step %u", k->task);
  if (met) map_put(met, key, c);
  c->c.level = depth ? (uint32_t)depth - 1 : 0;
}

static void check_work(Check *c, const Expr *e) {
  if (!e || e->dtype != DT_I64 || (e->has & ~(unsigned)HAS_DIM)) {
    fail(c, "its work is no i64 over dims alone");
    return;
  }
  c->c.now++;
  check_walk(&c->c, e, WALK_ALL, check_dim_name);
}

/* Checks that a dense version has a use: the kernel has arguments with strides. */
static void check_dense(Check *c, const LoopKernel *k) {
  bool any = !k->dense;
  for (uint32_t i = 0; i < k->places.len; i++)
    any |= loop_is_argument(c->p->tasks, &k->places.at[i]) && k->places.at[i].rank;
  if (!any) fail(c, "there is a version for arguments in row-major order, and no argument with any order");
}

/* Checks that the call of its stage is the whole body. */
static void check_call(Check *c, const LoopKernel *k, const TaskStage *s) {
  const LoopStmt *is = k->body.len == 1 ? k->body.at[0] : NULL, *want = loop_call(c->p, k, s);
  bool same = is && want && is->kind == LOOP_CALL && is->place == want->place && is->value == want->value &&
      is->n_at == want->n_at && is->n_over == want->n_over;
  for (uint32_t i = 0; same && i < is->n_at; i++) same = is->at[i] == want->at[i];
  for (uint32_t i = 0; same && i < is->n_over; i++)
    same = is->over[i].var == want->over[i].var && is->over[i].extent == want->over[i].extent;
  if (!same || k->dense) {
    fail(c, "it is not the call of %s that its stage is", s->sum->by->name->s);
    return;
  }
  check_fields(c, is);
  for (uint32_t i = 0; i < k->places.len; i++)
    if (k->places.at[i].space != SPACE_BUFFER || k->places.at[i].written != (i == is->place))
      fail(c, "%s is not as %s takes it", name_of(&k->places.at[i]), s->sum->by->name->s);
}

static void check_kernel(Check *c, const LoopKernel *k, Map *met) {
  Map buffers = map_new(c->arena);
  bool well = true;
  c->names = map_new(c->arena);
  c->seen = map_new(c->arena);
  c->scope.len = c->indices.len = 0;
  c->place = NEW_ARRAY(c->arena, PlaceState, k->places.len + 1);
  c->var = NEW_ARRAY(c->arena, VarState, k->var.len + 1);
  c->multiple = NEW_ARRAY(c->arena, int64_t, k->var.len + 1);
  check_task(c, k, met);
  check_work(c, k->work);
  for (uint32_t i = 0; i < k->note.len; i++)
    if (!k->note.at[i]) fail(c, "note %u is missing", i), well = false;
  for (uint32_t i = 0; i < k->how.len; i++)
    if (!k->how.at[i]) fail(c, "what was decided, %u, is missing", i), well = false;
  for (uint32_t i = 0; i < k->places.len; i++) well &= check_place(c, &k->places.at[i], &buffers);
  for (uint32_t i = 0; i < k->var.len; i++) check_name(c, "a loop variable", k->var.at[i], &c->names);
  if (well) check_dense(c, k);
  const Task *call = map_find(&c->calls, (void *)((uintptr_t)k->task + 1));
  if (well && call) check_call(c, k, &call->stages.at[0]);
  else if (well) check_body(c, &k->body);
  if (well && c->c.ok) loop_check_device(&c->c, k);
}

static void check_narrow(Check *c, const LoopKernel *wide, Map *names) {
  const LoopKernel *k = wide->narrow;
  if (!k) return;
  if (k->task != wide->task || k->narrow || loop_is_device(wide) || loop_is_device(k))
    fail(c, "the kernel for narrow registers is not for the same task of a processor");
  c->k = NULL;
  check_name(c, "a kernel", k->name, names);
  c->k = k;
  check_kernel(c, k, NULL);
}

/* ---- entry points ------------------------------------------------------------------------------- */

static uint32_t find_kernels(Check *c, const Tasks *list, uint32_t depth) {
  uint32_t n = 0;
  vec_each_of(const Task, k, *list) {
    if (k->kind == TASK_KERNEL) map_put(&c->tasks, (void *)((uintptr_t)k->step + 1), (void *)((uintptr_t)depth + 1));
    if (task_call(k)) map_put(&c->calls, (void *)((uintptr_t)k->step + 1), (void *)(uintptr_t)k);
    n += k->kind == TASK_KERNEL;
    if (k->kind == TASK_REPEAT) n += find_kernels(c, &k->body, depth + 1);
  }
  return n;
}

bool loop_check(const LoopProgram *p, Buf *out) {
  if (!task_check(p->tasks, out)) return false;
  Arena *a = arena_new();
  const TaskGraph *t = p->tasks;
  Check c = {.p = p, .arena = a, .tasks = map_new(a), .calls = map_new(a)};
  Map names = map_new(a), met = map_new(a);
  c.c = sum_check_new(out, a, t->exprs, &c, say_where);
  check_dims(&c.c, &t->dims);
  for (uint32_t i = 0; i < p->sites.len; i++)
    if (!p->sites.at[i].text) fail(&c, "site %u says nothing", i);
  uint32_t kernels = find_kernels(&c, &t->tasks, 0);
  if (kernels != p->kernels.len) fail(&c, "there are %u kernels in the tasks and %u in loops", kernels, p->kernels.len);
  for (uint32_t i = 0; i < p->kernels.len; i++) {
    c.k = NULL;
    check_name(&c, "a kernel", p->kernels.at[i]->name, &names);
    c.k = p->kernels.at[i];
    check_kernel(&c, c.k, &met);
    check_narrow(&c, c.k, &names);
  }
  arena_free(a);
  return c.c.ok;
}
