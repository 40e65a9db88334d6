/* tests/graph/test_check.c - graph_check finds each broken invariant and names it, and nothing in
 * what is sound: texts that read well and say something wrong, and sound graphs with one field
 * spoiled by hand. */
#include "expr/expr.h"
#include "graph/graph.h"
#include "tap.h"

static EinGraph *read_graph(Arena *a, const char *text) {
  Strings *t = strings_new(a);
  Diags *d = diags_new(a);
  EinGraph *g = graph_read(a, t, source_new(a, "x.eingraph", text, strlen(text)), d);
  Buf b = buf_new(a);
  diags_text(d, &b, false);
  if (!g) tap_text("complaints", b.s);
  return g;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char head[] = "eingraph 1\ndim N\ndim S = 8\n"
                           "monoid plus:f32 = (#0 + #1) identity 0.0:f32\n"
                           "input %0 X[4, $N] : f32\ninput %1 I[3] : i64\n"
                           "vertex %2 n[] : i64 = 5\nvertex %3 z[i:4] : f32 = 1.0:f32\n";

typedef struct Case {
  const char *text, *want;
} Case; /* want NULL: it is sound */

static const Case cases[] = {
    {"", NULL},
    {"vertex %9 [i:4] : bf16 = sum:f32[k:$N where (k < 3)] %0[i, k] domain (i < 2)", NULL},
    {"vertex %9 [i:4] : f32 = plus:f32[] %0[i, 0]", NULL},
    {"vertex %9 [i:4] : f32 = %0[%1[(i % 3)], %1[0]]", NULL},
    {"vertex %9 [(i:4 j:$N)] : f32 = %0[i, j]\noutput Y = %9", NULL},
    /* dims and extents */
    {"dim K = -3", "dim K is negative"},
    {"dim \"a b\"", "dim 2 has a name that is none"},
    {"vertex %9 [i:$M] : f32 = 1.0:f32", "dim M is not declared"},
    {"vertex %9 [] : i64 = $M", "dim M is not declared"},
    {"vertex %9 [i:$S] : f32 = 1.0:f32", "dim S has a value and still stands as a name"},
    {"vertex %9 [i:-1] : f32 = 1.0:f32", "a label's bound is negative"},
    {"input %9 W[-4] : f32", "an extent is negative"},
    /* what is read */
    {"vertex %9 [i:4] : f32 = %0[i]", "%0 has rank 2 and is read with 1 indices"},
    {"vertex %9 [i:4] : f32 = %1[i]", "the body is i64 and not f32"},
    {"vertex %9 [i:4] : f32 = 1.0", "the body is f64 and not f32"},
    {"vertex %9 [i:4] : f32 = %3[i]\nvertex %8 [i:4] : f32 = %9[i]", "input %9 has a larger id"},
    /* reducers */
    {"vertex %9 [] : f32 = map:f32[where true] 1.0:f32", "where stands without a reducer"},
    {"vertex %9 [] : f32 = map:f32[k:3] 1.0:f32", "it reduces 1 labels without a reducer"},
    {"vertex %9 [] : f32 = sum:f32[k:3 where k] 1.0:f32", "where is not bool"},
    {"vertex %9 [i:3] : f32 = 1.0:f32 domain i", "the domain is not bool"},
    {"vertex %9 [] : f32 = sum:f32[k:3] 1.0:f32 domain (k < 2)",
     "domain is over a reduced label, 0"},
    {"vertex %9 [] : bool = sum:bool[k:3] true", "sum is over numbers"},
    {"vertex %9 [] : bool = max:bool[k:3] true", "max is over numbers"},
    {"vertex %9 [] : f32 = any:f32[k:3] 1.0:f32", "any is over bools"},
    {"vertex %9 [] : i64 = all:i64[k:3] k", "all is over bools"},
    {"vertex %9 [] : i64 = logsumexp:i64[k:3] k", "logsumexp is over floats"},
    {"vertex %9 [] : f32 = argmax:f32[k:3] 1.0:f32", "argmax gives i64"},
    {"vertex %9 [] : i64 = argmin:bool[k:3] true", "argmin is over numbers"},
    {"vertex %9 [] : i64 = count:i64[k:3] 1", "count is over nothing"},
    {"vertex %9 [] : f64 = mean:f64[k:3] 1.0", "mean is over nothing"},
    {"vertex %9 [] : i64 = sum:f64[k:3] 1.0", "f64 does not round to i64"},
    {"vertex %9 [] : i32 = sum:i64[k:3] 1", "i64 does not round to i32"},
    /* labels and names */
    {"vertex %9 [i:4, _1=\"i\":4] : f32 = 1.0:f32", "labels 0 and 1 have one name"},
    {"vertex %9 [_0=\"\":4] : f32 = 1.0:f32", "label 0 has no name"},
    {"vertex %9 \"\"[i:4] : f32 = 1.0:f32", "its name is empty"},
    {"input %9 [4] : f32", "it has no name"},
    {"input %9 X[4] : f32", "two inputs are called X"},
    {"output Y = %3\noutput Y = %3", "two outputs are called Y"},
    {"output \"\" = %3", "output 0 has no name"},
    {"monoid bad:f32 = #0 identity 0.0", "monoid bad is not all f32"},
    {"monoid bad:i64 = ($K + #0) identity 0", "dim K is not declared"},
    /* inputs, asserts, checks */
    {"input %9 W[3] : f32 default %3", "the default has another extent in dimension 0"},
    {"input %9 W[4] : f64 default %3", "the default is f32 and not f64"},
    {"assert %3", "an assert is not one bool"},
    {"check 3", "check 0 is not a bool over dims alone"},
    {"check ($Q > 2)", "dim Q is not declared"},
    /* repeats */
    {"repeat %4 t < %2 {\n}\nvertex %9 [] : i64 = 1", NULL},
    {"repeat %4 t < %3 {\n}", "the bound is not one i64"},
    {"repeat %4 _0=\"\" < %2 {\n}", "its loop variable has no name"},
    {"repeat %4 t < %2 turns $Q {\n}", "dim Q is not declared"},
    {"repeat %4 t < %2 {\n vertex %5 [] : bool = true\n until %5\n}\noutput Y = %5",
     "an output %5 stands in a block that is closed"},
    {"repeat %4 t < %2 {\n vertex %5 [] : f32 = 1.0:f32\n}\nvertex %9 [] : f32 = %5[]",
     "input %5 stands in a block that is closed"},
    {"repeat %4 t < %2 {\n until %3\n}", "the stop is not one bool"},
    {"vertex %4 [] : bool = true\nrepeat %5 t < %2 {\n until %4\n}",
     "the stop stands outside of its block"},
    {"repeat %4 t < %2 {\n state %5 W[3] : f32 = %3\n next %5 = %5\n}",
     "its init has another extent in dimension 0"},
    {"repeat %4 t < %2 {\n state %5 W[4] : f32 = %3\n next %5 = %0\n}",
     "its next has rank 2 and not 1"},
    {"repeat %4 t < %2 turns 5 {\n stack L = %3 axis 2\n}",
     "the axis of stack 0 is beyond its rank"},
    {"repeat %4 t < %2 {\n stack L = %3 axis 0\n}", "does not say over how many turns"},
    {"repeat %4 t < %2 turns 5 {\n stack \"\" = %3 axis 0\n}", "stack 0 has no name"},
    {"repeat %9 t < %2 {\n}\nturns %8 = %9", "its repeat %9 has a larger id"},
};

static void check_case(const char *name, EinGraph *g, const char *want) {
  Buf out = buf_new(g->arena);
  bool ok = graph_check(g, &out);
  if (!OK(want ? !ok && strstr(out.s, want) : ok && !out.len, "%s", name)) {
    tap_text("got", out.s);
    tap_text("want", want ? want : "nothing");
  }
}

static void check_texts(void) {
  for (size_t i = 0; i < COUNT(cases); i++) {
    Arena *a = arena_new();
    EinGraph *g = read_graph(a, arena_printf(a, "%s%s\n", head, cases[i].text));
    if (OK(g != NULL, "reads: %s", cases[i].want ? cases[i].want : "a sound one"))
      check_case(cases[i].want ? cases[i].want : "sound", g, cases[i].want);
    arena_free(a);
  }
}

/* ---- spoiled by hand ------------------------------------------------------------------------- */

static const char sound[] = "eingraph 1\ndim N\n"
                            "monoid plus:f32 = (#0 + #1) identity 0.0:f32\n"
                            "input %0 X[4, $N] : f32\nparam %1 B[4] : f32\n"
                            "vertex %2 Z[i:4, j:$N] : f32 = (%0[i, j] + %1[i])\n"
                            "vertex %3 S[i:4] : f32 = sum:f32[j:$N] %2[i, j]\n"
                            "vertex %4 n[] : i64 = 5\n"
                            "repeat %5 t < %4 turns 5 {\n"
                            "  state %6 W[4] : f32 = %1\n"
                            "  vertex %7 V[i:4] : f32 = (%6[i] * f32(@t))\n"
                            "  next %6 = %7\n"
                            "  stack L = %7 axis 0\n"
                            "}\n"
                            "final %8 W = %5.0\nstacked %9 L = %5.0\nturns %10 t = %5\n"
                            "vertex %11 P[i:4] : f32 = plus:f32[j:4] %9[0, j]\n"
                            "output Y = %11\noutput Z = %8\n";

typedef struct Sound {
  EinGraph *g;
  EinNode *n[12];
  EinRegion *body;
  Exprs *p;
} Sound;

static EinSum *own_sum(Sound *s, uint32_t k) { /* a copy that may be changed and is not interned */
  EinSum *e = arena_copy(s->g->arena, s->n[k]->sum, sizeof *e);
  s->n[k]->sum = e;
  return e;
}

static void with_sum(Sound *s, uint32_t k, const EinSum *e) {
  s->n[k]->sum = graph_sum(s->g, e);
}

static void body_of(Sound *s, uint32_t k, const Expr *body) {
  EinSum e = *s->n[k]->sum;
  e.body = body;
  with_sum(s, k, &e);
}

static void not_interned(Sound *s) {
  own_sum(s, 2);
}
static void no_body(Sound *s) {
  own_sum(s, 2)->body = NULL;
}
static void no_sum(Sound *s) {
  s->n[2]->sum = NULL;
}
static void other_sum_dtype(Sound *s) {
  s->n[2]->dtype = DT_F64;
}
static void bad_dtype(Sound *s) {
  s->n[2]->dtype = (DType)77;
}
static void many_labels(Sound *s) {
  own_sum(s, 2)->n_red = GRAPH_LABELS - 1;
}

static void swapped_slots(Sound *s) {
  EinSum e = *s->n[2]->sum;
  const Expr *a = expr_read(s->p, DT_F32, 1, 2, e.body->arg[0]->arg);
  const Expr *b = expr_read(s->p, DT_F32, 0, 1, e.body->arg[1]->arg);
  EinNode *x = s->n[2]->input[0];
  s->n[2]->input[0] = s->n[2]->input[1];
  s->n[2]->input[1] = x;
  body_of(s, 2, expr_op2(s->p, OP_ADD, a, b));
}

static void one_slot_twice(Sound *s) { /* equal reads in two slots */
  const Expr *i[2] = {expr_label(s->p, 0), expr_label(s->p, 1)};
  s->n[2]->input[1] = s->n[2]->input[0];
  body_of(
      s, 2,
      expr_op2(s->p, OP_ADD, expr_read(s->p, DT_F32, 0, 2, i), expr_read(s->p, DT_F32, 1, 2, i)));
}

static void slot_of_two(Sound *s) { /* two index lists in one slot */
  const Expr *i[2] = {expr_label(s->p, 0), expr_label(s->p, 1)}, *j[2] = {i[1], i[0]};
  body_of(
      s, 2,
      expr_op2(s->p, OP_ADD, expr_read(s->p, DT_F32, 0, 2, i), expr_read(s->p, DT_F32, 0, 2, j)));
}

static void idle_slot(Sound *s) {
  body_of(s, 2, s->n[2]->sum->body->arg[0]);
}

static void slot_beyond(Sound *s) {
  body_of(s, 4, expr_read(s->p, DT_I64, 3, 0, NULL));
}

static void label_beyond(Sound *s) {
  body_of(s, 4, expr_label(s->p, 7));
}
static void turn_beyond(Sound *s) {
  body_of(s, 4, expr_turn(s->p, 0));
}
static void param_outside(Sound *s) {
  body_of(s, 4, expr_param(s->p, DT_I64, 1));
}
static void no_input(Sound *s) {
  s->n[2]->input[0] = NULL;
}
static void input_later(Sound *s) {
  s->n[2]->input[1] = s->n[3];
}
static void input_is_repeat(Sound *s) {
  s->n[11]->input[0] = s->n[5];
}
static void merge_zero(Sound *s) {
  s->n[2]->merge[0] = 0;
}
static void merge_many(Sound *s) {
  s->n[2]->merge[1] = 2;
}
static void merge_few(Sound *s) {
  s->n[2]->rank = 1;
}
static void other_shape(Sound *s) {
  s->n[2]->dim[0] = expr_int(s->p, DT_I64, 5);
}
static void no_dim(Sound *s) {
  s->n[3]->dim[0] = NULL;
}
static void no_bound(Sound *s) {
  s->n[3]->bound[1] = NULL;
}
static void no_label(Sound *s) {
  s->n[3]->label[1] = NULL;
}

static void not_normal(Sound *s) {
  const Expr *n = expr_dim(s->p, str_from(s->g->strings, "N"));
  s->n[0]->dim[1] = expr_op2(s->p, OP_SUB, expr_op2(s->p, OP_ADD, n, n), n);
}

static void extent_with_label(Sound *s) {
  s->n[0]->dim[1] = expr_label(s->p, 0);
}
static void extent_f64(Sound *s) {
  s->n[0]->dim[1] = expr_real(s->p, DT_F64, 1);
}
static void foreign_monoid(Sound *s) {
  EinSum e = *s->n[11]->sum;
  e.monoid = arena_copy(s->g->arena, e.monoid, sizeof *e.monoid);
  with_sum(s, 11, &e);
}
static void lost_monoid(Sound *s) {
  EinSum e = *s->n[11]->sum;
  e.monoid = NULL;
  with_sum(s, 11, &e);
}
static void stray_monoid(Sound *s) {
  EinSum e = *s->n[3]->sum;
  e.monoid = s->g->monoids.at[0];
  with_sum(s, 3, &e);
}
static void label_in_monoid(Sound *s) {
  ((Monoid *)(uintptr_t)s->g->monoids.at[0])->combine =
      expr_cast(s->p, DT_F32, expr_label(s->p, 0));
}
static void monoid_twice(Sound *s) {
  Monoid m = *s->g->monoids.at[0];
  m.combine = expr_param(s->p, DT_F32, 0);
  graph_monoid(s->g, &m);
}
static void same_id(Sound *s) {
  s->n[3]->id = 2;
}
static void id_beyond(Sound *s) {
  s->n[11]->id = 50;
}
static void other_region(Sound *s) {
  s->n[3]->region = s->body;
}
static void other_kind(Sound *s) {
  s->n[3]->kind = EIN_REPEAT;
}
static void no_kind(Sound *s) {
  s->n[3]->kind = (EinKind)9;
}
static void param_vertex(Sound *s) {
  s->n[3]->param = true;
}
static void vertex_index(Sound *s) {
  s->n[3]->index = 1;
}
static void vertex_repeat(Sound *s) {
  s->n[3]->repeat = s->n[5];
}
static void no_node(Sound *s) {
  s->g->top->nodes.at[2] = NULL;
}
static void input_unlisted(Sound *s) {
  s->g->inputs.len = 1;
}
static void input_twice(Sound *s) {
  vec_push(s->g->arena, s->g->inputs, s->n[0]);
}
static void input_in_repeat(Sound *s) {
  EinNode *n = graph_input(s->g, str_from(s->g->strings, "D"), DT_F32, 0, NULL, false);
  s->g->top->nodes.len--;
  n->region = s->body;
  vec_push(s->g->arena, s->body->nodes, n);
}
static void state_unlisted(Sound *s) {
  s->body->states.len = 0;
}
static void state_no_node(Sound *s) {
  s->body->states.at[0].node = NULL;
}
static void state_no_init(Sound *s) {
  s->body->states.at[0].init = NULL;
}
static void state_init_inside(Sound *s) {
  s->body->states.at[0].init = s->n[7];
}
static void state_no_next(Sound *s) {
  s->body->states.at[0].next = NULL;
}
static void state_other_repeat(Sound *s) {
  s->n[6]->repeat = NULL;
}
static void no_repeat_bound(Sound *s) {
  s->body->bound = NULL;
}
static void wrong_depth(Sound *s) {
  s->body->depth = 1;
}
static void wrong_parent(Sound *s) {
  s->body->parent = s->body;
}
static void cyclic_region(Sound *s) {
  s->n[5]->body = s->g->top;
}
static void turn_nameless(Sound *s) {
  s->body->turn = NULL;
}
static void final_beyond(Sound *s) {
  s->n[8]->index = 1;
}
static void final_no_repeat(Sound *s) {
  s->n[8]->repeat = s->n[4];
}
static void final_other_dtype(Sound *s) {
  s->n[8]->dtype = DT_F64;
}
static void stack_other_axis(Sound *s) {
  s->body->stacks.at[0].axis = 1;
}
static void turns_index(Sound *s) {
  s->n[10]->index = 2;
}
static void turns_dtype(Sound *s) {
  s->n[10]->dtype = DT_I32;
}
static void output_missing(Sound *s) {
  s->g->outputs.at[0].node = NULL;
}
static void top_is_repeat(Sound *s) {
  s->g->top->turn = s->body->turn;
}
static void check_label(Sound *s) {
  DimCheck x = {.cond = expr_op2(s->p, OP_LT, expr_label(s->p, 0), expr_int(s->p, DT_I64, 3))};
  vec_push(s->g->arena, s->g->checks, x);
}

static const struct {
  const char *name;
  void (*spoil)(Sound *);
  const char *want;
} spoils[] = {
#define S(f, want) \
  { #f, f, want }
    S(not_interned, "vertex %2 Z: its operation is not interned"),
    S(no_body, "vertex %2 Z: its operation is not filled in"),
    S(no_sum, "an operation is what a vertex has"),
    S(other_sum_dtype, "it is f64 and its operation gives f32"),
    S(bad_dtype, "it has no kind or no dtype"),
    S(many_labels, "it has 2 and 4094 labels"),
    S(swapped_slots, "slot 1 is not in canonical order"),
    S(one_slot_twice, "slot 1 is not in canonical order"),
    S(slot_of_two, "slot 0 is not in canonical order"),
    S(idle_slot, "1 slots are never read"),
    S(slot_beyond, "slot 3 is read, of 0"),
    S(label_beyond, "label number 7, of 0"),
    S(turn_beyond, "loop variable of depth 0 in 0 repeats"),
    S(param_outside, "#1 stands outside of a monoid"),
    S(no_input, "input is missing"),
    S(input_later, "input %3 is not defined before"),
    S(input_is_repeat, "input %5 is a repeat"),
    S(merge_zero, "dimension 0 merges 0 labels"),
    S(merge_many, "dimension 1 merges 2 labels"),
    S(merge_few, "1 output labels are in no dimension"),
    S(other_shape, "dimension 0 is not as large as its labels"),
    S(no_dim, "an extent is missing"),
    S(no_bound, "a label's bound is missing"),
    S(no_label, "label 1 has no name"),
    S(not_normal, "an extent is not in normal form"),
    S(extent_with_label, "an extent is not over dims alone"),
    S(extent_f64, "an extent is not i64"),
    S(foreign_monoid, "its monoid is not the graph's"),
    S(lost_monoid, "monoid is over its monoid's dtype"),
    S(stray_monoid, "a monoid stands with the reducer monoid"),
    S(label_in_monoid, "monoid plus is over more than #0 and #1"),
    S(monoid_twice, "two monoids of f32 are called plus"),
    S(same_id, "its id is another node's too"),
    S(id_beyond, "its id is not below 12"),
    S(other_region, "it does not stand where it says"),
    S(other_kind, "a block is what a repeat has"),
    S(no_kind, "it has no kind"),
    S(param_vertex, "only inputs are params"),
    S(vertex_index, "it is of a repeat and has no part in it"),
    S(vertex_repeat, "it is of a repeat and has no part in it"),
    S(no_node, "node 2 of its block is missing"),
    S(input_unlisted, "it is not in its place in the list of inputs"),
    S(input_twice, "2 inputs stand in it and 3 in its list"),
    S(input_in_repeat, "input %12 D: it stands in a repeat"),
    S(state_unlisted, "it is not in its place in the list of states"),
    S(state_no_node, "state 0 is not in its block"),
    S(state_no_init, "its init is missing"),
    S(state_init_inside, "its init %7 is not defined before"),
    S(state_no_next, "its next is missing"),
    S(state_other_repeat, "it is not of the repeat in which it stands"),
    S(no_repeat_bound, "the bound is missing"),
    S(wrong_depth, "its block does not stand in it"),
    S(wrong_parent, "its block does not stand in it"),
    S(cyclic_region, "its block does not stand in it"),
    S(turn_nameless, "its loop variable has no name"),
    S(final_beyond, "%5 has no number 1"),
    S(final_no_repeat, "it is not of a repeat before it"),
    S(final_other_dtype, "the state is f32 and not f64"),
    S(stack_other_axis, "it is not as large as its turns together"),
    S(turns_index, "it has an index"),
    S(turns_dtype, "it is not one i64"),
    S(output_missing, "an output is missing"),
    S(top_is_repeat, "the program itself is no repeat"),
    S(check_label, "check 0 is not a bool over dims alone"),
#undef S
};

static void collect(Sound *s, EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    EinNode *n = r->nodes.at[i];
    s->n[n->id] = n;
    if (n->kind == EIN_REPEAT) collect(s, s->body = n->body);
  }
}

static void check_spoiled(void) {
  for (size_t i = 0; i < COUNT(spoils); i++) {
    Arena *a = arena_new();
    Sound s = {.g = read_graph(a, sound)};
    s.p = s.g->exprs;
    collect(&s, s.g->top);
    if (i == 0) check_case("before it is spoiled", s.g, NULL);
    spoils[i].spoil(&s);
    check_case(spoils[i].name, s.g, spoils[i].want);
    arena_free(a);
  }
}

int main(void) {
  check_texts();
  check_spoiled();
  return DONE();
}
