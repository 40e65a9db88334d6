/* tests/graph/test_graph.c - building an EinGraph, and its text: graphs by hand, from text and at
 * random go through print and read and come back equal in all fields; malformed texts are refused
 * with their complaint; equations read as a person would write them. */
#include <stdlib.h>
#include <time.h>

#include "graph/graph.h"
#include "text.h"

TEXT_FORM("x.eingraph", EinGraph, graph_read, graph_print, graph_equal, graph_check)

/* ---- a text with everything in it ------------------------------------------------------------ */

static const char full[] =
    "eingraph 1\n"
    "dim S = 128\n"
    "dim K\n"
    "dim Ω\n"
    "monoid lse:f64 = (#0 + log1p(exp((#1 - #0)))) identity -inf\n"
    "monoid \"sum\":f32 = (#0 + #1) identity 0.0:f32\n"
    "ids 40\n"
    "vertex %0 X.default[i:128, j:$K] : f32 = f32((i + j)) @\"a.ein\":5:20\n"
    "input %1 X[128, $K] : f32 default %0 @\"dir/a \\\"b\\\".ein\":5:7\n"
    "param %2 W[4, ($K * $Ω)] : bf16\n"
    "vertex %3 ν.m~1[s:128, s':$K] : f64 = sum:f64[a:64 where (a <= s)] "
    "(f64(%1[s, s']) * f64(%1[a, s'])) domain (s < s') @\"a.ein\":12:1\n"
    "vertex %4 n[] : i64 = 3\n"
    "vertex %5 [i:4, (h:2 _2=\"weird name\":$K), (d:1 e:1)] : bf16 = map:f32 "
    "(%1[i, _2] * inf:f32)\n"
    "vertex %6 l[i:4] : f64 = lse:f64[j:4] f64(%2[i, j])\n"
    "vertex %7 [] : f32 = \"sum\":f32[where (1 < $K)] nan:f32\n"
    "vertex %8 m[i:4] : i64 = argmax:bf16[j:4] %2[i, j]\n"
    "vertex %9 \"a b\\n\\x00\"[i:4] : f32 = %1[%8[i], 0]\n"
    "vertex %13 W0[i:4, j:4] : f32 = 1.0:f32\n"
    "repeat %20 t < %4 turns 3 named loop @\"f\":1:1 {\n"
    "  state %21 W[4, 4] : f32 = %13 @\"f\":2:2\n"
    "  state %22 [] : f32 = %7\n"
    "  vertex %23 [i:4, j:4] : f32 = (%21[i, j] + (%21[j, i] * f32(@t)))\n"
    "  repeat %24 _1=\"t\" < %4 {\n"
    "    state %25 X[4, 4] : f32 = %21\n"
    "    vertex %26 [i:4, j:4] : f32 = (%25[i, j] * f32((@t + @_1)))\n"
    "    next %25 = %26\n"
    "  }\n"
    "  final %27 X = %24.0\n"
    "  vertex %28 stop[] : bool = any:bool[i:4] (%27[i, i] > 1.0:f32)\n"
    "  next %21 = %27\n"
    "  next %22 = %22\n"
    "  stack L = %23 axis 1\n"
    "  stack \"M N\" = %28 axis 0\n"
    "  until %28\n"
    "}\n"
    "final %30 W = %20.0 @\"f\":9:1\n"
    "final %31 = %20.1\n"
    "stacked %32 L = %20.0\n"
    "stacked %33 \"M N\" = %20.1\n"
    "turns %34 t = %20\n"
    "vertex %35 ok[] : bool = (%34[] < 3)\n"
    "output Y = %30\n"
    "output \"odd name\" = %32\n"
    "assert %35 \"it \\\\ holds\" @\"f\":3:4\n"
    "assert %35\n"
    "check (3 <= $K) \"K is \\x1b[1mlarge\" @\"f\":4:5\n"
    "check true\n";

static void check_full(void) {
  Arena *a = arena_new();
  EinGraph *g = text_holds(a, full, "a text with everything in it");
  if (!g) return;
  OK_INT(g->n_nodes, 40, "with its number of ids");
  OK(g->inputs.at[1]->param && !g->inputs.at[0]->param, "the second input is a param");
  OK_INT(g->outputs.at[1].node->rank, 3, "the stack's rank");
  OK(expr_is_int(g->outputs.at[1].node->dim[1], 3), "turns are at the stack's axis");
  arena_free(a);
}

/* ---- malformed texts ------------------------------------------------------------------------- */

static const struct {
  DiagCode code;
  const char *text, *want;
} malformed[] = {
    {D_E901, "", "expected the line `eingraph 1` first"},
    {D_E901, "eingraph 2\n", "expected the line `eingraph 1` first"},
    {D_E901, "vertex %0 [] : f32 = 1.0:f32\n", "expected the line"},
    {D_E902, "foo\n", "expected a line that begins with input"},
    {D_E902, "inputs %0 X[] : f32\n", "expected a line that begins with"},
    {D_E902, "}\n", "expected a line that begins with"},
    {D_E902, "\xff\xfe\n", "expected a line that begins with"},
    {D_E903, "input X[4] : f32\n", "expected a node here, like %7"},
    {D_E903, "input %X[4] : f32\n", "expected the node's number here"},
    {D_E903, "input %0 X\n", "expected `[` here"},
    {D_E903, "input %0 X[4 5] : f32\n", "expected `,` here"},
    {D_E903, "input %0 X[4] f32\n", "expected `:` here"},
    {D_E903, "input %0 X[4] : f32 5\n", "expected the end of the line here"},
    {D_E903, "vertex %0 [i:4] : i64\n", "expected `=` here"},
    {D_E903, "vertex %0 [4] : i64 = 1\n", "expected a name here"},
    {D_E903, "vertex %0 [(i:4, j:3)] : i64 = 1\n", "expected a name here"},
    {D_E903, "vertex %0 [] : i64 = sum:i64 1\n", "expected `[` here"},
    {D_E903, "vertex %0 [] : i64 = sum:i64[i:4 j:3] 1\n", "expected `,` here"},
    {D_E903, "vertex %0 [] : i64 = 1 2\n", "expected the end of the line here"},
    {D_E903, "vertex %0 [] : i64 = 1 @f:1:2\n", "expected a string in quotes here"},
    {D_E903, "vertex %0 [] : i64 = 1 @\"f\":1\n", "expected `:` here"},
    {D_E903, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0\n}\n", "expected `{` here"},
    {D_E903, "dim\n", "expected a name here"},
    {D_E903, "dim N = x\n", "expected a size here"},
    {D_E903, "monoid m:f32 = #0\n", "expected `identity` here"},
    {D_E904, "vertex %0 [] : i64 = (1 + \n", "an expression is missing"},
    {D_E904, "vertex %0 [] : i64 = (1 + 2.0)\n", "the operation does not take such arguments"},
    {D_E904, "vertex %0 [] : i64 = j\n", "no such label"},
    {D_E904, "vertex %0 [] : i64 = @t\n", "no such loop variable"},
    {D_E904, "vertex %0 [] : i64 = #0\n", "#0 and #1 stand in monoids only"},
    {D_E904, "vertex %0 [i:4] : i64 = sum:i64[j:i] 1\n", "no such label"},
    {D_E905, "output Y = %3\n", "%3 is not defined above this line"},
    {D_E905, "vertex %0 [] : i64 = %0[]\n", "%0 is not defined above this line"},
    {D_E905, "vertex %0 [] : i64 = (1 + %99999999999[])\n", "is not defined above this line"},
    {D_E905, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\n}\nvertex %2 [] : i64 = %1[]\n",
     "%1 is a repeat, not a tensor"},
    {D_E906, "vertex %0 [] : i64 = 1\nvertex %0 [] : i64 = 1\n", "%0 is defined already"},
    {D_E907, "input %0 X[4] : f31\n", "expected a dtype here"},
    {D_E907, "vertex %0 [i:4.5] : i64 = 1\n", "a size is i64"},
    {D_E907, "vertex %0 [i:true] : i64 = 1\n", "a size is i64"},
    {D_E908, "vertex %16777216 [] : i64 = 1\n", "a node's number is from 0 to 16777215"},
    {D_E908, "dim N = 99999999999999999999\n", "a size is from"},
    {D_E908, "vertex %0 [] : i64 = 1 @\"f\":1:9999999999\n", "a column is from"},
    {D_E909, "state %0 [] : i64 = %0\n", "`state` stands in a repeat only"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\ninput %2 X[4] : f32\n}\n",
     "`input` stands outside of repeats only"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\n", "expected `}` for repeat %1"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\nstate %2 [] : i64 = %0\n}\n",
     "state %2 of this block has no next"},
    {D_E909,
     "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\nstate %2 [] : i64 = %0\nnext %2 = %0\n"
     "next %2 = %0\n}\n",
     "this state has a next already"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\nnext %0 = %0\n}\n",
     "expected a state of this block"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\nuntil %0\nuntil %0\n}\n",
     "this block has an until already"},
    {D_E909, "vertex %0 n[] : i64 = 1\nfinal %1 = %0.0\n", "expected a repeat whose block is closed"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\nturns %2 = %1\n}\n",
     "expected a repeat whose block is closed"},
    {D_E909, "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\n}\nfinal %2 = %1.0\n",
     "this repeat has no states"},
    {D_E909,
     "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 {\nstack L = %0 axis 0\n}\nstacked %2 = %1.0\n",
     "a repeat without `turns` cannot stack"},
    {D_E909,
     "vertex %0 n[] : i64 = 1\nrepeat %1 t < %0 turns 4 {\nstack L = %0 axis 1\n}\n"
     "stacked %2 = %1.0\n",
     "the stack's axis is beyond its rank"},
    {D_E910, "vertex %0 [] : i64 = foo:i64[j:3] j\n",
     "no reducer and no monoid of i64 is called foo"},
    {D_E910, "vertex %0 [] : i64 = \"sum\":i64[j:3] j\n", "no reducer and no monoid of i64"},
    {D_E911, "vertex %0 [i:4, i:4] : i64 = 1\n", "label i stands here twice"},
    {D_E911, "dim N\ndim N\n", "dim N is declared already"},
    {D_E911, "monoid m:i64 = #0 identity 0\nmonoid m:i64 = #1 identity 0\n", "declared already"},
    {D_E912, "output \"Y = %0\n", "the string has no closing quote"},
    {D_E912, "output \"\\q\" = %0\n", "expected \\\" \\\\ \\n \\t or \\x and two digits"},
    {D_E912, "output \"\\x4\" = %0\n", "two digits"},
};

static void check_malformed(void) {
  for (size_t i = 0; i < COUNT(malformed); i++) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    bool header = malformed[i].code != D_E901;
    const char *text = arena_printf(a, "%s%s", header ? "eingraph 1\n" : "", malformed[i].text);
    EinGraph *g = text_read(a, text, strlen(text), d);
    bool found = false;
    for (uint32_t k = 0; k < d->all.len; k++)
      found |= d->all.at[k]->code == malformed[i].code &&
               strstr(d->all.at[k]->text, malformed[i].want) != NULL;
    if (!OK(!g && found, "refused: %s", malformed[i].want)) tap_text("text", text), text_complaints(a, d);
    OK_INT(d->errors, 1, "with one complaint");
    arena_free(a);
  }
}

static void check_limits(void) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf b = buf_new(a);
  buf_str(&b, "eingraph 1\nvertex %0 [");
  for (int i = 0; i < 256; i++) buf_printf(&b, "%sl%d:1", i ? ", " : "", i);
  buf_str(&b, "] : i64 = 1\nvertex %1 [] : i64 = 1\n");
  for (int i = 0; i <= GRAPH_DEPTH; i++) buf_printf(&b, "repeat %%%d t < %%1 {\n", i + 2);
  OK(!text_read(a, b.s, b.len, d) && d->errors == 2, "too many labels, too deep repeats");
  OK(d->errors == 2 && d->all.at[0]->code == D_E913 && d->all.at[1]->code == D_E913,
     "both by name");
  /* what hangs on a line that failed is not complained about */
  static const char hang[] = "eingraph 1\ninput %0 X[4 : f32\nvertex %1 [i:4] : f32 = %0[i]\n"
                             "output Y = %1\noutput Z = %9\n";
  d = diags_new(a);
  OK(!text_read(a, hang, sizeof hang - 1, d), "a line fails");
  OK_INT(d->errors, 2, "lines that depend on a failed one are passed over");
  arena_free(a);
}

/* ---- building -------------------------------------------------------------------------------- */

typedef struct Made {
  Arena *a;
  EinGraph *g;
  Exprs *p;
  EinNode *x, *v;
} Made;

static Made make(void) {
  Made m = {.a = arena_new()};
  m.p = exprs_new(m.a);
  m.g = graph_new(m.a, strings_new(m.a), m.p);
  Str n = str_from(m.g->strings, "N");
  vec_push(m.a, m.g->dims, ((Dim){.name = n}));
  const Expr *dim[2] = {expr_int(m.p, DT_I64, 4), expr_dim(m.p, n)};
  m.x = graph_input(m.g, str_from(m.g->strings, "X"), DT_F32, 2, dim, false);
  m.v = graph_input(m.g, str_from(m.g->strings, "V"), DT_I64, 1, dim, true);
  return m;
}

static const Expr *read2(Made *m, int64_t slot, const Expr *i, const Expr *j) {
  const Expr *index[2] = {i, j};
  return expr_read(m->p, DT_F32, slot, 2, index);
}

static void check_building(void) {
  Made m = make();
  const Expr *i = expr_label(m.p, 0), *j = expr_label(m.p, 1);
  /* three reads of one slot, one of them twice, an unused slot, and a gather */
  const Expr *at = expr_read(m.p, DT_I64, 2, 1, &i), *zero = expr_int(m.p, DT_I64, 0);
  const Expr *body = expr_op2(m.p, OP_ADD, read2(&m, 3, at, j), read2(&m, 3, zero, i));
  body = expr_op2(m.p, OP_MUL, body, read2(&m, 0, zero, i));
  EinSum s = {
      .n_out = 1, .n_red = 1, .n_slot = 4, .reducer = RED_SUM, .acc = DT_F32, .dtype = DT_F32};
  s.body = body;
  s.where = expr_op2(m.p, OP_LT, expr_read(m.p, DT_I64, 2, 1, &i), j);
  EinNode *draft[4] = {m.x, m.v, m.v, m.x};
  EinNode **input = graph_canonical_slots(m.g, &s, draft);
  OK_INT(s.n_slot, 3, "canonical slots: one a read");
  OK(input[0] == m.v && input[1] == m.x && input[2] == m.x, "inner reads first, left to right");
  const Expr *first = s.body->arg[0];
  OK(first->arg[1] == s.body->arg[1], "equal reads of one node are one");
  OK(first->arg[0]->arg[0] == s.where->arg[0], "in where too");
  EinSum again = s;
  graph_canonical_slots(m.g, &again, input);
  OK(again.body == s.body && again.where == s.where && again.n_slot == 3, "canonical slots stay as they are");
  OK(graph_sum(m.g, &s) == graph_sum(m.g, &again), "equal operations are one pointer");
  again.dtype = DT_BF16;
  OK(graph_sum(m.g, &s) != graph_sum(m.g, &again), "others are not");

  const Expr *bound[2] = {expr_int(m.p, DT_I64, 4), m.x->dim[1]};
  Str name[2] = {str_from(m.g->strings, "i"), str_from(m.g->strings, "j")};
  EinNode *z = graph_vertex(m.g, m.g->top, &s, bound, name, 0, NULL, input);
  OK(z->rank == 1 && z->dim[0] == bound[0] && z->merge[0] == 1, "a vertex has its shape");
  OK_INT(z->id, 2, "a vertex has the next id");
  EinSum pair = {.n_out = 2, .acc = DT_I64, .dtype = DT_I64, .body = i};
  uint8_t two = 2;
  EinNode *y = graph_vertex(m.g, m.g->top, &pair, bound, name, 1, &two, NULL);
  OK(y->rank == 1 && y->dim[0] == expr_op2(m.p, OP_MUL, bound[0], bound[1]), "merged labels");
  Monoid plus = {str_from(m.g->strings, "plus"), DT_I64, expr_param(m.p, DT_I64, 0),
                 expr_int(m.p, DT_I64, 0)};
  OK(graph_monoid(m.g, &plus) == graph_monoid(m.g, &plus), "equal monoids are one pointer");
  OK(graph_monoid(m.g, &plus) != &plus && m.g->monoids.len == 1, "of the graph's own");
  OK(text_sound(m.a, m.g) && text_back(m.g), "the whole is sound and comes back");
  arena_free(m.a);
}

/* ---- equality -------------------------------------------------------------------------------- */

static const struct {
  const char *from, *to, *why;
} changes[] = {
    {"dim N", "dim M", "a dim's name is N and M"},
    {"dim N", "dim N = 3", "whether a dim is known"},
    {"i:4", "i:5", "the shape differs"},
    {"(#0 + #1)", "(#0 * #1)", "the monoid's function differs"},
    {"input %0", "param %0", "param is 0 and 1"},
    {" X[", " Y[", "the name is X and Y"},
    {"@\"f\":1:2", "@\"g\":1:2", "the place's file is f and g"},
    {"@\"f\":1:2", "@\"f\":1:3", "the place's column"},
    {"@\"f\":1:2", "", "the place's file is f and (none)"},
    {"sum:f32", "sum:f64", "the accumulator's dtype"},
    {"sum:f32", "prod:f32", "the reducer"},
    {"j:4 where (j < i)", "j:4", "where differs"},
    {"j:4", "j:5", "a label's bound differs"},
    {"1.5", "1.25", "the body differs"},
    {"domain (i < 3)", "", "the domain differs"},
    {"state %4 W", "state %4 V", "the name is W and V"},
    {"next %4 = %5", "next %4 = %1", "a state's next is 5 and 1"},
    {"axis 1", "axis 0", "a stack's axis"},
    {"until %6", "", "the stop is there in one only"},
    {"t < %2", "u < %2", "the loop variable is t and u"},
    {"output Y", "output Z", "an output's name is Y and Z"},
    {"\"ok\"", "\"oh\"", "an assert's text is ok and oh"},
    {"(2 < $N)", "(3 < $N)", "a check differs"},
    {"%9", "%11", "the number of ids"},
};

static void check_equality(void) {
  Arena *a = arena_new();
  const char *text =
      "eingraph 1\ndim N\nmonoid m:f32 = (#0 + #1) identity 0.0:f32\n"
      "input %0 X[4, $N] : f32\n"
      "vertex %1 [i:4] : f32 = sum:f32[j:4 where (j < i)] (%0[i, j] * 1.5:f32) "
      "domain (i < 3) @\"f\":1:2\nvertex %2 n[] : i64 = 2\n"
      "repeat %3 t < %2 turns 2 {\n state %4 W[4] : f32 = %1\n"
      " vertex %5 [k:4] : f32 = %4[k]\n vertex %6 [] : bool = true\n"
      " next %4 = %5\n stack L = %5 axis 1\n until %6\n}\n"
      "vertex %9 [] : bool = true\noutput Y = %9\nassert %9 \"ok\"\ncheck (2 < $N)\n";
  EinGraph *g = text_well(a, text);
  OK(text_sound(a, g) && graph_equal(g, g, NULL) && text_back(g), "a graph is equal to itself");
  for (size_t i = 0; i < COUNT(changes); i++) {
    Buf b = buf_new(a), why = buf_new(a);
    const char *from = changes[i].from, *at = text, *hit;
    for (; (hit = strstr(at, from)); at = hit + strlen(from)) {
      buf_add(&b, at, (size_t)(hit - at));
      buf_str(&b, changes[i].to);
    }
    buf_str(&b, at);
    Diags *d = diags_new(a);
    EinGraph *h = text_read(a, b.s, b.len, d);
    bool differs = h && !graph_equal(g, h, &why) && !graph_equal(g, h, NULL);
    if (!OK(differs && strstr(why.s, changes[i].why), "differs: %s", changes[i].why))
      tap_text("why", why.s);
  }
  arena_free(a);
}

/* ---- equations, pictures, data --------------------------------------------------------------- */

static const struct {
  const char *line, *want;
} equations[] = {
    {"[h:2, s:4, s':4] : f32 = sum:f32[d:4] (%0[s, d] * %1[s', d])",
     "Z[h,s,s'] = sum[d] Q[s,d] * K[s',d]"},
    {"[i:4] : f32 = ((%0[i, 0] + %0[i, 1]) * %1[i, 0])", "Z[i] = (Q[i,0] + Q[i,1]) * K[i,0]"},
    {"[i:4] : f32 = (%0[i, 0] - (%0[i, 1] - %1[i, 0]))", "Z[i] = Q[i,0] - (Q[i,1] - K[i,0])"},
    {"[i:4] : f32 = ((%0[i, 0] - %0[i, 1]) - %1[i, 0])", "Z[i] = Q[i,0] - Q[i,1] - K[i,0]"},
    {"[i:4] : f32 = neg((%0[i, 0] ^ 2.0:f32))", "Z[i] = -Q[i,0]^2.0"},
    {"[i:4] : f32 = (neg(%0[i, 0]) ^ 2.0:f32)", "Z[i] = (-Q[i,0])^2.0"},
    {"[i:4] : f32 = sum:f32[j:4] (%0[i, j] + %1[i, j])", "Z[i] = sum[j] (Q[i,j] + K[i,j])"},
    {"[i:4] : f32 = %0[((2 * i) + -1), ((i // 2) % 3)]", "Z[i] = Q[2*i-1,i//2 % 3]"},
    {"[i:4] : f32 = select(((i < 2) and (not((i == 0)) or false)), exp(%0[i, i]), -1.5:f32)",
     "Z[i] = if i < 2 and not i == 0 then exp(Q[i,i]) else -1.5"},
    {"[i:4] : f64 = max:f64[j:4 where (j <= i)] f64(max(%0[i, j], 0.0:f32)) domain (i < $N)",
     "Z[i] = max[j where j <= i] f64(max(Q[i,j], 0.0)), where i < N"},
    {"[(i:4 j:2)] : f32 = sum:f64[k:4] f64(%0[i, k])", "Z[(i j)] = sum:f64[k] f64(Q[i,k])"},
    {"[] : bool = any:bool[i:4, j:4] (%0[i, j] > 0.0:f32)", "Z = any[i,j] (Q[i,j] > 0.0)"},
    {"[i:4] : i64 = argmax:f32[j:4] %0[i, j]", "Z[i] = argmax[j] Q[i,j]"},
    {"[i:4] : bf16 = sum:f32[j:4] %0[i, j]", "Z[i] = sum[j] Q[i,j]"},
    {"[i:4] : f32 = m:f32[j:4] (%0[i, j] * 2.0:f32)", "Z[i] = m[j](Q[i,j] * 2.0)"},
};

static void check_equations(void) {
  for (size_t i = 0; i < COUNT(equations); i++) {
    Arena *a = arena_new();
    Buf b = buf_new(a);
    EinGraph *g = text_well(
        a, arena_printf(a,
                        "eingraph 1\ndim N\nmonoid m:f32 = #0 identity 0.0:f32\n"
                        "input %%0 Q[4, 4] : f32\ninput %%1 K[4, 4] : f32\nvertex %%2 Z%s\n",
                        equations[i].line));
    if (g) graph_equation(&b, g->top->nodes.at[2]);
    OK_STR(b.s, equations[i].want, "equation");
    arena_free(a);
  }
}

static void check_pictures(void) {
  Arena *a = arena_new();
  EinGraph *g = text_well(a, "eingraph 1\ninput %0 X[4] : f32\nvertex %1 n[] : i64 = 2\n"
                             "repeat %2 t < %1 {\n state %3 \"a\\\"b\"[4] : f32 = %0\n"
                             " vertex %4 [i:4] : f32 = %3[(3 - i)]\n next %3 = %4\n}\n"
                             "final %5 W = %2.0\noutput Y = %5\n");
  Buf dot = buf_new(a), json = buf_new(a);
  graph_dot(&dot, g);
  OK(strstr(dot.s, "subgraph cluster_2 {"), "a repeat is a cluster");
  OK(strstr(dot.s, "n3 -> n4 [label=\"(3 - i)\"]"), "an operand is an arrow with its indices");
  OK(strstr(dot.s, "n4 -> n3 [label=\"next\", style=dashed"), "next is dashed");
  OK(strstr(dot.s, "a\\\"b[4]"), "quotes are escaped");
  graph_json(&json, g);
  int depth = 0;
  for (size_t i = 0; i < json.len; i++)
    depth += (json.s[i] == '{' || json.s[i] == '[') - (json.s[i] == '}' || json.s[i] == ']');
  OK_INT(depth, 0, "JSON is closed");
  OK(strstr(json.s, "\"body\": \"%3[(3 - i)]\"") && strstr(json.s, "\"next\": 4"), "the JSON has each field");
  arena_free(a);
}

/* ---- scale ----------------------------------------------------------------------------------- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_scale(void) {
  enum { N = 100000 };
  Arena *a = arena_new();
  Buf b = buf_new(a), text = buf_new(a), out = buf_new(a), why = buf_new(a);
  buf_str(&b, "eingraph 1\ndim N\ninput %0 X[4, $N] : f32\n");
  for (int i = 1; i <= N; i++)
    buf_printf(&b,
               "vertex %%%d V%d[i:4, j:$N] : f32 = sum:f32[k:4 where (k <= i)] "
               "(%%%d[i, j] * %%%d[k, ((j + %d) %% $N)]) @\"chain.ein\":%d:1\n",
               i, i, i - 1, i / 2, i, i);
  double t0 = seconds();
  EinGraph *g = text_well(a, b.s);
  double t1 = seconds();
  bool sound = graph_check(g, &out);
  double t2 = seconds();
  graph_print(&text, g);
  double t3 = seconds();
  EinGraph *h = text_read(a, text.s, text.len, diags_new(a));
  double t4 = seconds();
  bool equal = h && graph_equal(g, h, &why);
  double t5 = seconds();
  printf("# %d vertices: read %.3f, check %.3f, print %.3f, equal %.3f s\n", N, t1 - t0, t2 - t1,
         t3 - t2, t5 - t4);
  OK(sound && equal, "a chain of a hundred thousand vertices is sound and comes back");
  OK(t2 - t1 + (t3 - t2) < 10, "in no time");
  arena_free(a);
}

int main(void) {
  check_full();
  check_building();
  check_malformed();
  check_limits();
  check_equality();
  check_equations();
  check_pictures();
  text_broken("a small text",
              "eingraph 1\ndim K\ninput %0 X[4, $K] : f32 @\"f\":1:2\n"
              "vertex %1 [(a:4 b:$K)] : f32 = sum:f32[j:4 where (j < a)] (%0[a, b] * 1.5:f32) domain true\n"
              "repeat %2 t < %1 {\n  state %3 [] : f32 = %1\n  next %3 = %1\n}\nfinal %4 = %2.0\noutput Y = %4\n", 10);
  check_scale();
  return DONE();
}
