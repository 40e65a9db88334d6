/* tests/graph/test_random.c - random graphs, with names as odd as names can be, through check,
 * print and read: sound, equal in all fields, and the same text again. */
#include <math.h>

#include "graph/graph.h"
#include "tap.h"

typedef struct Gen {
  uint64_t seed;
  Arena *a;
  EinGraph *g;
  Exprs *p;
  EinRegion *region;
  uint32_t level;
  VEC(EinNode *) seen; /* tensors that may be read */
  uint32_t labels;     /* of the vertex at hand; and its reads, each in a slot of its own */
  VEC(EinNode *) read;
} Gen;

static uint32_t below(Gen *r, uint32_t n) {
  r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(r->seed >> 33) % n;
}

static Str name(Gen *r, bool label) {
  static const char *const names[] = {
      "i",  "s'",     "α",  "softmax.m", "x~1",  "a b",      "max",   "true", "\"\\", "inf",
      "_0", "_1",     "_2", "f32",       "n'\n", "\xff\x01", "where", "sum",  "1st",  "Σ",
      "-",  "vertex", "}",  "%3",        "and",  "nan",      "'",     ".x"};
  const char *s = names[below(r, COUNT(names))];
  if (label) return strings_printf(r->g->strings, "%s%u", s, below(r, 40));
  return below(r, 4) ? str_from(r->g->strings, s) : NULL;
}

static Place place(Gen *r) {
  Place p = {0};
  if (below(r, 2))
    p = (Place){str_from(r->g->strings, "dir \"x\"/ä.ein"), below(r, 99), below(r, 99)};
  return p;
}

static DType dtype(Gen *r) {
  return (DType)below(r, DTYPES);
}

static const Expr *dim(Gen *r) {
  const Expr *n = expr_dim(r->p, str_from(r->g->strings, below(r, 2) ? "N" : "Ω"));
  switch (below(r, 4)) {
  case 0: return n;
  case 1: return expr_op2(r->p, OP_ADD, expr_op2(r->p, OP_MUL, n, n), expr_int(r->p, DT_I64, 3));
  default: return expr_int(r->p, DT_I64, below(r, 9));
  }
}

/* ---- expressions ----------------------------------------------------------------------------- */

static const Expr *expr(Gen *r, DType t, int depth);

static const Expr *literal(Gen *r, DType t) {
  static const double reals[] = {0.0, -0.0, 1.5, -2.25, 1e-30, 3e38, INFINITY, -INFINITY, NAN, 0.1};
  if (dtype_is_float(t)) return expr_real(r->p, t, reals[below(r, COUNT(reals))]);
  return expr_int(r->p, t,
                  below(r, 3) ? (int64_t)below(r, 7) - 3 : INT64_MIN + (int64_t)below(r, 3));
}

static const Expr *leaf(Gen *r, DType t) {
  if (t != DT_I64) return literal(r, t);
  switch (below(r, 5)) {
  case 0: return dim(r);
  case 1: return r->level ? expr_turn(r->p, below(r, r->level)) : literal(r, t);
  case 2:
  case 3: return r->labels ? expr_label(r->p, below(r, r->labels)) : literal(r, t);
  default: return literal(r, t);
  }
}

static const Expr *read(Gen *r, DType t, int depth) {
  const Expr *index[8];
  EinNode *n = NULL;
  for (int i = 0; i < 20 && !n; i++) {
    EinNode *x = r->seen.len ? r->seen.at[below(r, r->seen.len)] : NULL;
    if (x && x->dtype == t && x->rank <= COUNT(index)) n = x;
  }
  if (!n) return leaf(r, t);
  for (uint32_t k = 0; k < n->rank; k++) index[k] = expr(r, DT_I64, depth - 2);
  vec_push(r->a, r->read, n);
  return expr_read(r->p, t, r->read.len - 1, n->rank, index);
}

/* Some operation that gives t, or NULL. */
static const Expr *operation(Gen *r, DType t, int depth) {
  Op op = (Op)below(r, OPS);
  if (op_info[op].laws & LAW_LOOP) return NULL; /* of the loops alone */
  OpRule rule = op_info[op].rule;
  DType in = rule == RULE_COMPARE || rule == RULE_TEST ? dtype(r)
             : rule == RULE_LOGIC                      ? DT_BOOL
                                                       : t,
        out;
  if (rule == RULE_CAST) return expr_cast(r->p, t, expr(r, dtype(r), depth - 1));
  const Expr *arg[3];
  for (int i = 0; i < op_info[op].arity; i++) {
    DType own = rule == RULE_SELECT && i == 0 ? DT_BOOL : rule == RULE_RANDOM ? DT_I64 : in;
    arg[i] = expr(r, own, depth - 1);
  }
  if (!op_result(op, (uint32_t)op_info[op].arity, arg, &out) || out != t) return NULL;
  return expr_op(r->p, op, (uint32_t)op_info[op].arity, arg);
}

static const Expr *expr(Gen *r, DType t, int depth) {
  const Expr *e = NULL;
  uint32_t what = depth <= 0 ? 0 : below(r, 6);
  if (what >= 3) e = operation(r, t, depth);
  if (what == 2 || what == 1) e = read(r, t, depth);
  return e ? e : leaf(r, t);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void reducer(Gen *r, EinSum *s) {
  static const Reducer any[] = {RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_FMAX, RED_FMIN};
  s->reducer = any[below(r, COUNT(any))];
  if (s->acc == DT_BOOL) s->reducer = below(r, 2) ? RED_ANY : RED_ALL;
  if (dtype_is_float(s->acc) && !below(r, 5)) s->reducer = RED_LSE;
  if (s->acc != DT_BOOL && !below(r, 5)) s->reducer = RED_ARGMAX, s->dtype = DT_I64;
  if (s->acc == DT_F32 && s->dtype != DT_I64 && !below(r, 3))
    s->reducer = RED_MONOID, s->monoid = r->g->monoids.at[0];
}

static EinNode *vertex(Gen *r, const EinNode *like) {
  EinSum s = {.acc = like ? like->dtype : dtype(r)};
  const Expr *bound[12];
  Str label[12];
  uint8_t merge[12];
  uint32_t rank = like ? like->rank : below(r, 4);
  s.dtype = s.acc;
  if (!like && dtype_is_float(s.acc) && !below(r, 4)) s.dtype = DT_BF16;
  for (uint32_t k = 0; k < rank; k++) {
    merge[k] = like ? 1 : (uint8_t)(1 + below(r, 2));
    for (uint32_t j = 0; j < merge[k]; j++) bound[s.n_out++] = like ? like->dim[k] : dim(r);
  }
  if (!like && below(r, 2)) {
    s.n_red = below(r, 3);
    reducer(r, &s);
  }
  r->labels = s.n_out + s.n_red;
  for (uint32_t k = 0; k < r->labels; k++) {
    if (k >= s.n_out) bound[k] = dim(r);
    label[k] = name(r, true);
    for (uint32_t j = 0; j < k; j++)
      if (label[j] == label[k]) label[k] = strings_printf(r->g->strings, "%s %u", label[k]->s, k);
  }
  r->read.len = 0;
  s.body = expr(r, s.acc, 5);
  if (s.reducer != RED_NONE && below(r, 2)) s.where = expr(r, DT_BOOL, 4);
  r->labels = s.n_out;
  if (!below(r, 3)) s.domain = expr(r, DT_BOOL, 4);
  EinNode **input = graph_canonical_slots(r->g, &s, r->read.at);
  EinNode *n = graph_vertex(r->g, r->region, &s, bound, label, rank, merge, input);
  n->name = name(r, false);
  n->place = place(r);
  vec_push(r->a, r->seen, n);
  r->labels = 0;
  return n;
}

static void nodes(Gen *r, uint32_t n);

static void results(Gen *r, EinNode *n) {
  for (uint32_t i = 0; i < n->body->states.len; i++)
    vec_push(r->a, r->seen, graph_result(r->g, r->region, EIN_FINAL, n, i));
  for (uint32_t i = 0; i < n->body->stacks.len; i++)
    vec_push(r->a, r->seen, graph_result(r->g, r->region, EIN_STACK, n, i));
  vec_push(r->a, r->seen, graph_result(r->g, r->region, EIN_TURNS, n, 0));
  if (below(r, 2)) vec_last(r->seen)->name = name(r, false);
}

static void repeat(Gen *r) {
  EinNode *bound = NULL;
  for (uint32_t i = 0; i < r->seen.len; i++)
    if (r->seen.at[i]->dtype == DT_I64 && !r->seen.at[i]->rank) bound = r->seen.at[i];
  if (!bound || r->level == 3) return;
  EinNode *n =
      graph_repeat(r->g, r->region, below(r, 2) ? name(r, true) : str_from(r->g->strings, "t"));
  uint32_t seen = r->seen.len;
  EinRegion *out = r->region, *b = n->body;
  n->name = name(r, false);
  n->place = place(r);
  b->bound = bound;
  if (below(r, 2)) b->turns = dim(r);
  r->region = b;
  r->level++;
  for (uint32_t i = below(r, 3); i > 0; i--) {
    EinNode *init = r->seen.at[below(r, seen)];
    EinNode *state = graph_state(r->g, b, name(r, false), init->dtype, init->rank, init->dim);
    vec_push(r->a, b->states, ((EinState){.node = state, .init = init}));
    vec_push(r->a, r->seen, state);
  }
  nodes(r, 1 + below(r, 4));
  for (uint32_t i = 0; i < b->states.len; i++)
    b->states.at[i].next = below(r, 3) ? vertex(r, b->states.at[i].node) : b->states.at[i].node;
  if (b->turns && below(r, 2)) {
    EinNode *x = vec_last(r->seen);
    vec_push(r->a, b->stacks,
             ((EinStack){str_from(r->g->strings, "L 1"), x, below(r, x->rank + 1)}));
  }
  EinNode stop = {.dtype = DT_BOOL};
  if (below(r, 2)) b->stop = vertex(r, &stop);
  r->region = out;
  r->level--;
  r->seen.len = seen;
  results(r, n);
}

static void nodes(Gen *r, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (below(r, 4))
      vertex(r, NULL);
    else
      repeat(r);
  }
}

static EinGraph *generate(Arena *a, uint64_t seed) {
  Gen r = {.seed = seed * 77 + 5, .a = a, .p = exprs_new(a)};
  EinGraph *g = r.g = graph_new(a, strings_new(a), r.p);
  vec_push(a, g->dims, ((Dim){.name = str_from(g->strings, "N")}));
  vec_push(a, g->dims, ((Dim){.name = str_from(g->strings, "Ω")}));
  vec_push(a, g->dims, ((Dim){str_from(g->strings, "K"), true, 7}));
  Monoid m = {str_from(g->strings, below(&r, 2) ? "sum" : "lse"), DT_F32,
              expr_param(r.p, DT_F32, 1), expr_real(r.p, DT_F32, -INFINITY)};
  graph_monoid(g, &m);
  r.region = g->top;
  for (uint32_t i = 0; i < 4; i++) {
    const Expr *d[2] = {dim(&r), dim(&r)};
    Str s = strings_printf(g->strings, i == 2 ? "in put %u" : "X%u", i);
    EinNode *n = graph_input(g, s, i ? dtype(&r) : DT_I64, i ? below(&r, 3) : 0, d, below(&r, 2));
    if (i && !below(&r, 3)) { /* its default stands before it */
      g->top->nodes.len--;
      g->inputs.len--;
      g->n_nodes--;
      EinNode *f = vertex(&r, n);
      n = graph_input(g, s, f->dtype, f->rank, f->dim, false);
      n->fallback = f;
    }
    n->place = place(&r);
    vec_push(a, r.seen, n);
  }
  nodes(&r, 3 + below(&r, 8));
  for (uint32_t i = 0; i < 2; i++) {
    Str s = strings_printf(g->strings, "out %u", i);
    vec_push(a, g->outputs, ((EinOutput){s, r.seen.at[below(&r, r.seen.len)]}));
  }
  EinNode ok = {.dtype = DT_BOOL};
  vec_push(a, g->asserts, ((EinAssert){vertex(&r, &ok), name(&r, false), place(&r)}));
  DimCheck c = {expr_op2(r.p, OP_LE, dim(&r), dim(&r)), name(&r, false), place(&r)};
  vec_push(a, g->checks, c);
  g->n_nodes += below(&r, 2);
  return g;
}

static bool holds(Arena *a, uint64_t seed) {
  EinGraph *g = generate(a, seed);
  Buf text = buf_new(a), out = buf_new(a), again = buf_new(a), pictures = buf_new(a);
  bool sound = graph_check(g, &out);
  graph_print(&text, g);
  Diags *d = diags_new(a);
  Strings *t = below(&(Gen){.seed = seed}, 2) ? g->strings : strings_new(a);
  EinGraph *h = graph_read(a, t, source_new(a, "x.eingraph", text.s, text.len), d);
  if (h) graph_print(&again, h);
  graph_dot(&pictures, g);
  graph_json(&pictures, g);
  bool ok =
      sound && h && graph_equal(g, h, &out) && graph_check(h, &out) && strcmp(text.s, again.s) == 0;
  if (ok) return true;
  diags_text(d, &out, false);
  tap_text("why", out.s);
  tap_text("text", text.s);
  return false;
}

int main(void) {
  uint32_t ok = 0, n = 0;
  for (uint64_t seed = 0; seed < 1500 && ok == n; seed++, n++) {
    Arena *a = arena_new();
    ok += holds(a, seed);
    arena_free(a);
  }
  OK(ok == n, "%u random graphs are sound and come back", n);
  return DONE();
}
