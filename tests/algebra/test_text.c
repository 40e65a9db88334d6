/* tests/algebra/test_text.c - the text of Tra and Ia: it comes back equal in all fields, whatever is called however;
 * programs that builders made come back too; malformed texts are refused with their complaint, and any bytes are read
 * or refused in peace. */
#include <stdlib.h>

#include "algebra/algebra.h"
#include "text.h"

TEXT_FORM("x.tra", Algebra, algebra_read, algebra_print, algebra_equal, algebra_check)

/* ---- texts with everything in them ---------------------------------------------------------------------------- */

static const char tra[] =
    "tra 1\n"
    "monoid lse:f64 = (#0 + log1p(exp((#1 - #0)))) identity -inf\n"
    "monoid \"sum\":f32 = (#0 + #1) identity 0.0:f32\n"
    "ids 40\n"
    "input %0 Q {s:4, _1=\"odd key\":2} [130/s, 64/_1] : f32 @\"a.ein\":5:7\n"
    "input %1 \"odd name\" {_0=\"true\":2, _1_=\"f32\":1, _1:2} [(_0 * 5)..((_0 * 5) + 7), 8, 0..(_1 + 6)] : i64 "
    "@\"dir/a \\\"b\\\".ein\":5:7\n"
    "join %2 QH {s:4, h:2, a:2} [s:130/s, _1=\"h h\":4/h, d:16; a:64/a] : f32 of %0{s, a} wanted = sum:f32[where (_1 "
    "<= s)] (&0[s, a] * f32(d)) domain (d < 7)\n"
    "join %3 n {} [] : i64 = 3\n"
    "join %5 {s:4, a:2} [s:130/s; a:64/a] : f32 places of %0{s, a}, %0{s, a} = argmin:f32[where (s < 100)] (&0[s, a] "
    "+ &1[s, 0])\n"
    "join %6 {k:2} [i:7/k, j:2] to [14/k] : f16 of %1{k, -, k} = map:i64 &0[i, 0, j] then cast f16, merge [2]\n"
    "join %7 {} [i:4; j:3] : f32 = \"sum\":f32 f32((i * j)) gives bf16\n"
    "aggregate %8 {_0=\"odd key\":2, s:4} [130/s, 64/_0] : f32 of %0 by {_1, s} \"sum\":f32\n"
    "aggregate %9 {} [130] : f32 places of %5 by {} argmin\n"
    "concat %10 {_0=\"odd key\":2} [130, 64/_0] : f32 of %0 by {_1}\n"
    "tile %11 {s:4, _1=\"odd key\":2, _2=\"s s\":3} [130/s, 64/_1] : f32 holes of %0 into {_2=\"s s\":3} [130/_2, 64]\n"
    "rekey %12 {i:2, j:4} [130/j, (i * 2)..64] : f32 of %0 to [_1, s]\n"
    "rekey %13 {} [7] : i64 of %1 to []\n"
    "transform %14 {s:4, a:2} [130/s] : i64 of %5 place\n"
    "transform %15 {s:4} [8320] : f64 of %10 merge [2, 0], cast f64\n"
    "transform %18 {s:4, _1=\"odd key\":2} [((130 * _1) + s)..((130 * _1) + 130), 256/s] : f32 of %0 shift 0 by 130 "
    "_1, shift 1 by 64 s\n"
    "map %16 {s:4} [1] : i64 of %5 into {t:2} [12] to [(s + t)] then place, merge [1]\n"
    "filter %17 {i:2, _1=\"s\\x00\":4} [130/_1, 64] : f32 holes of %12 keep ((i <= _1) and (0 <= i))\n"
    "repeat %20 t < %3 turns 3 named loop @\"f\":1:1 {\n"
    "  state %21 W {i:2} [4/i] : f32 = %7 @\"f\":2:2\n"
    "  join %22 {i:2} [a:4/i] : f32 of %21{i} = (&0[a] * f32(@t))\n"
    "  repeat %24 _1=\"t\" < %3 {\n"
    "    state %25 X {} [] : i64 = %3\n"
    "    join %26 {} [] : i64 of %25{} = ((&0[] + @t) + @_1)\n"
    "    next %25 = %26\n"
    "  }\n"
    "  final %27 X {} [] : i64 = %24.0\n"
    "  join %28 stop {} [] : bool of %27{} = (&0[] > 3)\n"
    "  next %21 = %22\n"
    "  stack L = %22 axis 1\n"
    "  stack \"M N\" = %28 axis 0\n"
    "  until %28\n"
    "}\n"
    "final %30 W {i:2} [4/i] : f32 = %20.0 @\"f\":9:1\n"
    "stacked %31 L {i:2} [4/i, 3] : f32 = %20.0\n"
    "stacked %32 \"M N\" {} [3] : bool = %20.1\n"
    "turns %33 t {} [] : i64 = %20\n"
    "output Y [4] = %30\n"
    "output \"odd name\" [4, 3] = %31\n"
    "output n [] = %33\n"
    "assert %28 \"it \\\\ holds\" @\"f\":3:4\n"
    "assert %28\n";

static const char ia[] =
    "ia 1\n"
    "mesh 2 3\n"
    "input %0 A {i:2, k:3} [8/i, 9/k] : f32 at 0 1\n"
    "join %1 {i:2, k:3} [i:8/i, (k)..9] : f32 at 0 1 = 0.0:f32\n";

static const char ia_well[] =
    "ia 1\n"
    "mesh 2 3\n"
    "input %0 A {i:2, k:3} [8/i, 9/k] : f32 at 0 1\n"
    "join %1 {i:2, k:3} [i:8/i; k:9/k] to [8/i] : f16 at 0 1 of %0{i, k} = sum:f32 &0[i, k] then cast f16\n"
    "aggregate %2 {i:2} [8/i] : f64 at 0 + of %1 by {i} sum then cast f64\n"
    "broadcast %3 {i:2} [8/i] : f64 at * + of %2\n"
    "shuffle %4 {i:2} [8/i] : f64 at * 0 of %2\n"
    "shuffle %5 {i:2} [8/i] : f64 at * 0 of %4\n"
    "map %6 {i:2, t:2} [8/i] : f16 at * 0 of %4 into {t:2} [8/t] then cast f16\n"
    "join %7 T {i:2} [i:8/i] : i64 at 0 * panels i:2 = i\n"
    "fetch %8 {i:2} [i:8/i, k:9] : f32 at 0 * of %7{i}, %0 = &1[&0[i], k]\n"
    "fetch %9 {} [k:9] : f32 at * * of %0 = &0[2, k]\n"
    "output A [8] = %6\n";

static void check_full(void) {
  Arena *a = arena_new();
  Algebra *p = text_well(a, tra), *q = text_well(a, ia_well);
  Buf text = buf_new(a), more = buf_new(a);
  if (!p || !q) return;
  algebra_print(&text, p);
  OK_STR(text.s, tra, "a Tra with everything in it prints as it was");
  OK(text_back(p), "its text gives it back");
  OK_INT(p->n_nodes, 40, "with its number of ids");
  algebra_print(&more, q);
  OK(text_back(q), "an Ia comes back");
  OK(strstr(more.s, "then cast f64") && strstr(more.s, "mesh 2 3\n"), "with its mesh and its functions");
  OK(strstr(more.s, "join %1 {i:2, k:3} [i:8/i; k:9/k] : f16") != NULL, "a box that is the labels' is not said twice");
  OK(strstr(more.s, "fetch %8 {i:2} [i:8/i, k:9] : f32 at 0 * of %7{i}, %0 = &1[&0[i], k]\n") != NULL,
      "a fetch's table stands last, without keys");
  OK(strstr(more.s, "at 0 * panels i:2 = i\n") != NULL, "panels stand behind the placement");
  OK(!algebra_equal(p, q, NULL), "the two are not equal");
  Diags *d = diags_new(a);
  OK(!text_read(a, ia, sizeof ia - 1, d), "a label without a name is refused");
  arena_free(a);
}

static void check_equations(void) {
  static const char want[] = "input Q{s,odd key}\n"
                             "join QH[s,h h,d] = sum[a where h h <= s] Q[s,a] * f32(d), where d < 7, where there is Q\n"
                             "aggregate %8 = sum of Q by odd key,s\n"
                             "concat %10 = Q by odd key\n"
                             "tile %11 = Q into s s\n"
                             "rekey %12 = Q to [odd key,s]\n"
                             "transform %15 = %10 then merge, f64\n";
  Arena *a = arena_new();
  Algebra *p = text_well(a, tra);
  Buf b = buf_new(a);
  for (uint32_t i = 0; p && i < p->top->nodes.len; i++) {
    const AlgNode *n = p->top->nodes.at[i];
    static const uint32_t some[] = {0, 2, 8, 10, 11, 12, 15};
    for (size_t k = 0; k < COUNT(some); k++)
      if (n->id == some[k]) alg_equation(&b, n), buf_char(&b, '\n');
    Buf other = buf_new(a);
    alg_equation(&other, n);
  }
  OK_STR(b.s, want, "operations as equations");
  arena_free(a);
}

/* ---- programs that builders made --------------------------------------------------------------------------------- */

typedef struct Made { Arena *a; Algebra *g; Exprs *p; Strings *t; } Made;

static Relation type_of(Made *m, uint32_t n_key, const int64_t *frontier, const char *const *key, uint32_t rank,
    const int64_t *extent, DType t) {
  Relation r = {.dtype = t, .n_key = n_key, .rank = rank};
  int64_t *f = NEW_ARRAY(m->a, int64_t, n_key + 1);
  Str *name = NEW_ARRAY(m->a, Str, n_key + 1);
  RelDim *dim = NEW_ARRAY(m->a, RelDim, rank + 1);
  for (uint32_t k = 0; k < n_key; k++) f[k] = frontier[k], name[k] = str_from(m->t, key[k]);
  for (uint32_t d = 0; d < rank; d++)
    dim[d] = d < n_key ? rel_cut(m->p, extent[d], expr_label(m->p, d), frontier[d]) : rel_whole(m->p, extent[d]);
  r.frontier = f;
  r.key = name;
  r.dim = dim;
  return r;
}

/* X[i,k] summed over k on a mesh of two axes, by parts; then cut anew, of other names and dtype. */
static Algebra *made_program(Made *m) {
  static const char *const key[] = {"i", "k"};
  const Expr *label[2] = {expr_label(m->p, 0), expr_label(m->p, 1)};
  Relation x = type_of(m, 2, (int64_t[]){3, 2}, key, 2, (int64_t[]){10, 7}, DT_F16);
  m->g->placed = true;
  m->g->mesh = (Mesh){.n = 2, .size = {3, 2}};
  AlgNode *in = alg_input(m->g, str_from(m->t, "X"), &x, &(Placement){{0, 1}});
  EinSum *s = NEW(m->a, EinSum);
  *s = (EinSum){.n_out = 1, .n_red = 1, .n_slot = 1, .reducer = RED_SUM, .acc = DT_F32, .dtype = DT_F16};
  s->body = expr_cast(m->p, DT_F32, expr_read(m->p, DT_F16, 0, 2, label));
  Str name[2] = {str_from(m->t, "i"), str_from(m->t, "k")};
  AlgNode *n = alg_join(m->g, m->g->top, 1, &(AlgOperand){.node = in, .on = (int32_t[]){0, 1}}, s, name, x.dim, 2,
      x.frontier, x.key, NULL);
  n = alg_aggregate(m->g, m->g->top, n, 1, (uint32_t[]){0}, RED_SUM, NULL);
  Str t = str_from(m->t, "t");
  RelDim piece = rel_cut(m->p, 10, expr_label(m->p, 1), 4);
  n = alg_tile(m->g, m->g->top, n, 1, (int64_t[]){4}, &t, &piece);
  n->type.holes = true;
  n = alg_move(m->g, m->g->top, n, &(Placement){{PLACE_ALL, 1}});
  n = alg_aggregate(m->g, m->g->top, n, 2, (uint32_t[]){0, 1}, RED_SUM, NULL);
  piece = rel_cut(m->p, 10, expr_label(m->p, 0), 4);
  n = alg_concat(m->g, m->g->top, n, 1, (uint32_t[]){1}, &piece);
  n->type.holes = false;
  n = alg_transform(m->g, m->g->top, n, 1, (AlgFn[]){{.kind = FN_CAST, .to = DT_F16}});
  n = alg_rekey(m->g, m->g->top, n, 2,
      (const Expr *[]){expr_op2(m->p, OP_IDIV, label[0], expr_int(m->p, DT_I64, 2)),
          expr_op2(m->p, OP_MOD, label[0], expr_int(m->p, DT_I64, 2))},
      (int64_t[]){2, 2}, name,
      &(RelDim){expr_op2(m->p, OP_IDIV,
                    expr_op2(m->p, OP_MUL,
                        expr_op2(m->p, OP_ADD, expr_op2(m->p, OP_MUL, label[0], expr_int(m->p, DT_I64, 2)), label[1]),
                        expr_int(m->p, DT_I64, 10)),
                    expr_int(m->p, DT_I64, 4)),
          expr_op2(m->p, OP_IDIV,
              expr_op2(m->p, OP_MUL,
                  expr_op2(m->p, OP_ADD,
                      expr_op2(m->p, OP_ADD, expr_op2(m->p, OP_MUL, label[0], expr_int(m->p, DT_I64, 2)), label[1]),
                      expr_int(m->p, DT_I64, 1)),
                  expr_int(m->p, DT_I64, 10)),
              expr_int(m->p, DT_I64, 4))});
  n->at.on[1] = 0; /* key t of 4 over 2 sites is i of 2 over 2 */
  vec_push(m->a, m->g->outputs,
      ((AlgOutput){str_from(m->t, "Y"), n, 1, arena_copy(m->a, (int64_t[]){10}, sizeof(int64_t))}));
  return m->g;
}

static void check_built(void) {
  Arena *a = arena_new();
  Made m = {.a = a, .p = exprs_new(a), .t = strings_new(a)};
  m.g = algebra_new(a, m.t, m.p);
  Algebra *p = made_program(&m);
  OK(text_sound(a, p), "what builders made is sound");
  OK(text_back(p), "its text gives it back");
  Buf text = buf_new(a);
  algebra_print(&text, p);
  OK(strstr(text.s, "= sum:f32 f32(&0[i, k]) gives f16") != NULL, "with what its kernel would have given");
  arena_free(a);
}

/* ---- equality
 * ---------------------------------------------------------------------------------------------------------- */

static const struct { const char *old, *new, *want; } others[] = {
    {"input %0 A {i:2", "input %0 B {i:2", "input %0: the name is A and B"},
    {"mesh 2 3", "mesh 3 2", "the size of an axis is 2 and 3"},
    {"8/i, 9/k] : f32 at 0 1\n", "8/i, 9/k] : f32 at 1 0\n", "input %0: the placement is 0 and 1"},
    {"9/k", "10/k", "the box differs"},
    {": f64 at 0 + of %1 by {i} sum", ": f64 at 0 + of %1 by {i} prod", "the reducer is"},
    {"cast f16\naggregate", "cast bf16\naggregate", "what is cast to is"},
    {"of %0{i, k}", "of %0{k, i}", "an operand's key is 0 and 1"},
    {"of %0{i, k}", "of %0{i, k} wanted", "whether an operand is wanted is 0 and 1"},
    {"sum:f32 &0[i, k]", "sum:f32 &0[k, k]", "the body differs"},
    {"into {t:2} [8/t]", "into {t:2} [7/t]", "a piece differs"},
    {"output A [8]", "output A [9]", "an output's extent is 8 and 9"},
    {"at * 0 of %4\nmap", "at * 0 of %3\nmap", "an operand is 4 and 3"},
};

static void check_others(void) {
  for (size_t i = 0; i < COUNT(others); i++) {
    Arena *a = arena_new();
    Algebra *p = text_well(a, ia_well);
    const char *at = strstr(ia_well, others[i].old);
    if (!OK(p && at, "number %zu is there", i)) continue;
    const char *text =
        arena_printf(a, "%.*s%s%s", (int)(at - ia_well), ia_well, others[i].new, at + strlen(others[i].old));
    Algebra *q = text_well(a, text);
    Buf why = buf_new(a);
    if (!OK(q && !algebra_equal(p, q, &why) && strstr(why.s, others[i].want), "%s", others[i].want))
      tap_text("why", why.s);
    arena_free(a);
  }
}

/* ---- malformed texts
 * ----------------------------------------------------------------------------------------------------- */

static const char head[] = "tra 1\ninput %0 X {i:4, j:2} [8/i, 6/j] : f32\n";

static const struct { DiagCode code; const char *text, *want;
} malformed[] = {
    {D_E901, "", "expected the line `tra 1` or `ia 1` first"},
    {D_E901, "tra 2\n", "expected the line `tra 1` or `ia 1` first"},
    {D_E901, "ia 1", "expected the line `mesh` behind `ia 1`"},
    {D_E901, "ia 1\ninput %0 X {} [] : f32\n", "expected the line `mesh` behind `ia 1`"},
    {D_E908, "ia 1\nmesh 0\n", "the size of an axis is from 1"},
    {D_E913, "ia 1\nmesh 4096 4097\n", "a mesh has at most 16777216 sites"},
    {D_E903, "ia 1\nmesh 2\ninput %0 X {i:2} [4/i] : f32\n", "expected `at` here"},
    {D_E903, "ia 1\nmesh 2\ninput %0 X {i:2} [4/i] : f32 at x\n", "expected a key dimension, `*` or `+` here"},
    {D_E908, "ia 1\nmesh 2\ninput %0 X {i:2} [4/i] : f32 at 128\n", "a key dimension is from 0 to 127"},
    {D_E915, "ia 1\nmesh 2\ninput %0 X {i:2} [4/i] : f32 at 0\nshuffle %1 {i:2} [4/i] : f32 at * of %0\n",
        "this is a broadcast"},
    {D_E915, "ia 1\nmesh 2\ninput %0 X {i:2} [4/i] : f32 at 0\nbroadcast %1 {i:2} [4/i] : f32 at 0 of %0\n",
        "this is a shuffle"},
    {D_E915, "fetch %1 {} [] : f32 of %0 = &0[1, 1]", "no moves in a Tra"},
    {D_E902, "vertex %9 [] : f32 = 1\n", "expected a line that begins with input, join or the like"},
    {D_E902, "\xff\xfe\n", "expected a line that begins with"},
    {D_E903, "input %9 Z [4] : f32\n", "expected `{` here"},
    {D_E903, "input %9 Z {i:4} : f32\n", "expected `[` here"},
    {D_E903, "input %9 Z {i:4} [8/i] f32\n", "expected `:` here"},
    {D_E903, "input %9 Z {i:4, 5:2} [8/i] : f32\n", "expected a name here"},
    {D_E903, "input %9 Z {i:4} [8/i] : f32 at 0\n", "expected the end of the line here"},
    {D_E908, "input %9 Z {i:0} [8/i] : f32\n", "a frontier is from 1 to"},
    {D_E908, "input %9 Z {i:4} [-8] : f32\n", "an extent is at least 0"},
    {D_E911, "input %9 Z {i:4, i:2} [8/i] : f32\n", "key i stands here twice"},
    {D_E914, "input %9 Z {i:4} [8/j] : f32\n", "expected the name of a key here"},
    {D_E904, "input %9 Z {i:4} [j..8] : f32\n", "no such label"},
    {D_E904, "input %9 Z {i:4} [i..&0[i]] : f32\n", "an expression is missing"},
    {D_E903, "input %9 Z {i:4} [i.8] : f32\n", "expected `.` here"},
    {D_E907, "input %9 Z {i:4} [8/i] : f31\n", "expected a dtype here"},
    {D_E914, "join %9 {i:4} [a:8/i] : f32 of %0{i} = &0[a, 0]\n",
        "expected a key for each of the 2 that %0 has: j is next"},
    {D_E914, "join %9 {i:4} [a:8/i] : f32 of %0{i, k} = &0[a, 0]\n", "expected the name of a key here"},
    {D_E914, "join %9 {i:4} [a:8/i] : f32 of %0{i -} = &0[a, 0]\n",
        "expected a key for each of the 2 that %0 has: j is next"},
    {D_E914, "join %9 {i:4} [a:8/i] : f32 of %0{i, -, -} = &0[a, 0]\n", "expected `}` here: %0 has 2 keys"},
    {D_E903, "join %9 {i:4} [a:8/i] : f32 of %0{i, -} want = &0[a, 0]\n", "expected `=` here"},
    {D_E905, "join %9 {i:4} [a:8/i] : f32 of %0{i, -} = &1[a, 0]\n", "this join has not so many operands"},
    {D_E905, "join %9 {i:4} [a:8/i] : f32 of %0{i, -} = %0[a, 0]\n", "a kernel reads the operands of its join"},
    {D_E905, "join %9 {i:4} [a:8/i] : f32 of %9{i} = &0[a]\n", "%9 is not defined above this line"},
    {D_E911, "join %9 {i:4} [a:8/i, a:3] : f32 = 1.0:f32\n", "label a stands here twice"},
    {D_E910, "join %9 {i:4} [a:8/i; b:3] : f32 = foo:f32 1.0:f32\n", "no reducer and no monoid of f32 is called foo"},
    {D_E903, "join %9 {i:4} [a:8/i; b:3] : f32 = sum:f32[b:3] 1.0:f32\n", "expected `where` here"},
    {D_E904, "join %9 {i:4} [a:8/i] : f32 = f32(i)\n", "no such label"},
    {D_E910, "aggregate %9 {i:4} [8/i, 6] : f32 of %0 by {i} foo\n", "foo is no reducer; give a monoid's dtype"},
    {D_E910, "aggregate %9 {i:4} [8/i, 6] : f32 of %0 by {i} foo:f32\n", "no monoid of f32 is called foo"},
    {D_E914, "aggregate %9 {i:4} [8/i, 6] : f32 of %0 by {k} sum\n", "expected the name of a key here"},
    {D_E903, "aggregate %9 {i:4} [8/i, 6] : f32 of %0 {i} sum\n", "expected `by` here"},
    {D_E914, "tile %9 {i:4, j:2, t:2} [8/i, 6/j] : f32 of %0 into {t:2} [8/t]\n",
        "the pieces have 1 dimensions, the arrays 2"},
    {D_E911, "tile %9 {i:4, j:2, t:2} [8/i, 6/j] : f32 of %0 into {j:2} [8, 6]\n", "key j stands here twice"},
    {D_E914, "rekey %9 {i:4} [8/i, 6] : f32 of %0 to [i, j]\n", "expected `]` here: the result has 1 keys"},
    {D_E904, "rekey %9 {i:4} [8/i, 6] : f32 of %0 to [@t]\n", "no such loop variable"},
    {D_E903, "transform %9 {i:4, j:2} [8/i, 6/j] : f32 of %0\n", "expected `cast`, `place`, `merge` or `shift` here"},
    {D_E914, "transform %9 {i:4, j:2} [8/i, 6/j] : f32 of %0 shift 0 by 8 k\n", "expected the name of a key here"},
    {D_E908, "transform %9 {i:4, j:2} [8/i, 6/j] : f32 of %0 shift 0 by 0 i\n", "how far is from 1"},
    {D_E908, "transform %9 {i:4, j:2} [8/i, 6/j] : f32 of %0 merge [256]\n", "a number of dimensions is from 0 to 255"},
    {D_E903, "filter %9 {i:4, j:2} [8/i, 6/j] : f32 of %0\n", "expected `keep` here"},
    {D_E915, "shuffle %9 {i:4, j:2} [8/i, 6/j] : f32 of %0\n", "there are no moves in a Tra"},
    {D_E906, "input %0 Z {i:4} [8/i] : f32\n", "%0 is defined already"},
    {D_E909, "state %9 {} [] : i64 = %0\n", "`state` stands in a repeat only"},
    {D_E909, "repeat %9 t < %0 {\n", "expected `}` for repeat %9"},
    {D_E909, "repeat %9 t < %0 {\nstate %10 {} [] : f32 = %0\n}\n", "state %10 of this block has no next"},
    {D_E909, "repeat %9 t < %0 {\n}\nfinal %10 {} [] : f32 = %9.0\n", "this repeat has no states"},
    {D_E905, "repeat %9 t < %0 {\n}\ntransform %10 {} [] : f32 of %9 cast f32\n", "%9 is a repeat, not a relation"},
    {D_E903, "output Y = %0\n", "expected `[` here"},
    {D_E908, "output Y [-1] = %0\n", "an extent is from 0"},
};

static void check_malformed(void) {
  for (size_t i = 0; i < COUNT(malformed); i++) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    bool whole = malformed[i].code == D_E901 || strncmp(malformed[i].text, "ia", 2) == 0;
    const char *text = arena_printf(a, "%s%s", whole ? "" : head, malformed[i].text);
    Algebra *p = text_read(a, text, strlen(text), d);
    bool found = false;
    for (uint32_t k = 0; k < d->all.len; k++)
      found |= d->all.at[k]->code == malformed[i].code && strstr(d->all.at[k]->text, malformed[i].want) != NULL;
    if (!OK(!p && found && d->errors == 1, "refused: %s", malformed[i].want))
      tap_text("text", text), text_complaints(a, d);
    arena_free(a);
  }
}

/* What hangs on a line that failed is not complained about. */
static void check_hanging(void) {
  static const char text[] =
      "tra 1\ninput %0 X {i:4 [8/i] : f32\njoin %1 {i:4} [a:8/i] : f32 of %0{i} = &0[a]\noutput Y [8] = %1\n"
      "output Z [8] = %9\n";
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  OK(!text_read(a, text, sizeof text - 1, d), "a line fails");
  OK_INT(d->errors, 2, "lines that depend on a failed one are passed over");
  arena_free(a);
}

static void check_limits(void) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf b = buf_new(a);
  buf_str(&b, "tra 1\njoin %0 n {} [] : i64 = 3\ninput %1 X {");
  for (int i = 0; i <= REL_KEYS; i++) buf_printf(&b, "%sk%d:1", i ? ", " : "", i);
  buf_str(&b, "} [] : f32\njoin %2 {} [");
  for (int i = 0; i < 256; i++) buf_printf(&b, "%sl%d:1", i ? ", " : "", i);
  buf_str(&b, "] : i64 = 1\n");
  for (int i = 0; i < 201; i++) buf_printf(&b, "repeat %%%d t < %%0 {\n", i + 3);
  OK(!text_read(a, b.s, b.len, d) && d->errors == 3, "too many keys, too many labels, too deep repeats");
  for (uint32_t k = 0; k < d->all.len; k++) OK_INT(d->all.at[k]->code, D_E913, "each by name");
  arena_free(a);
}

int main(void) {
  check_full();
  check_equations();
  check_built();
  check_others();
  check_malformed();
  check_hanging();
  check_limits();
  text_broken("ia", "ia 1\nmesh 2\ninput %0 A {k:4} [8, 8/k] : f32 at 0\n"
                     "join %2 {k:4} [i:8; k:8/k] : f32 at 0 of %0{k} = sum:f32[where (k < i)] &0[i, k]\n"
                     "aggregate %3 {} [8] : f32 at + of %2 by {} sum\nbroadcast %5 {} [8] : f32 at * of %3\n"
                     "aggregate %6 Y {} [8] : f32 at * of %5 by {} sum @\"f\":1:2\noutput Y [8] = %6\n", 10);
  text_broken("tra",
      "tra 1\ninput %0 X {i:2} [12/i] : f32\n"
      "tile %1 {i:2, t:3} [max((t * 4), (i * 6))..min(((t * 4) + 4), ((i * 6) + 6))] : f32 holes of %0 into {t:3} "
      "[12/t]\n"
      "concat %2 {t:3} [12/t] : f32 of %1 by {t}\nrekey %3 {a:3} [12/a] : f32 of %2 to [t]\n"
      "filter %4 {a:3} [12/a] : f32 of %3 keep (a < 3)\ntransform %5 {a:3} [12/a] : f16 of %4 cast f16, merge [1]\n"
      "join %6 n {} [] : i64 = 3\nrepeat %7 t < %6 turns 3 {\n  state %8 {a:3} [12/a] : f16 = %5\n  next %8 = %8\n"
      "  stack L = %8 axis 0\n}\nstacked %9 L {a:3} [3, 12/a] : f16 = %7.0\noutput L [3, 12] = %9\n",
      10);
  return DONE();
}
