/* tests/expr/test_prove.c - normal forms, and the prover against counting through small boxes: what is PROVED is
 * true, a REFUTED point refutes, a condition implies the goal. */
#include <stdlib.h>
#include <time.h>

#include "expr/prove/prove.h"
#include "../tap.h"
#include "gen.h"

static Arena *A;
static Strings *T;
static Exprs *P;

static bool label_of(void *ctx, Str name, int64_t *k) {
  (void)ctx;
  const char *at = strchr("ijklrst", name->s[0]);
  *k = at ? at - "ijklrst" : 0;
  return at && name->len == 1;
}

static bool turn_of(void *ctx, Str name, int64_t *k) {
  (void)ctx;
  *k = 0;
  return name->s[0] == 't';
}

static bool read_of(void *ctx, int64_t node, uint32_t n, const Expr *const *index, DType *t, int64_t *slot) {
  (void)ctx, (void)n, (void)index;
  *t = (DType[]){DT_I64, DT_I32, DT_U8, DT_F32, DT_BOOL}[node % 5];
  *slot = node;
  return true;
}

static const Expr *rd(const char *s) {
  ExprReader r = {
      .pool = P, .strings = T, .s = s, .end = s + strlen(s), .label = label_of, .turn = turn_of, .read = read_of};
  const Expr *e = expr_read_text(&r);
  if (!e || r.s != r.end) printf("# cannot read '%s': %s\n", s, r.error ? r.error : "text is left"), exit(1);
  return e;
}

static Str letter(void *ctx, int64_t k) {
  (void)ctx;
  return str_of(T, &"ijklrst"[k], 1);
}

static const char *pr(const Expr *e) {
  Buf b = buf_new(A);
  ExprNames names = {.label = letter};
  if (e) expr_print(&b, e, &names);
  return b.s;
}

static void pool_new(Gen *g) {
  arena_free(A);
  A = arena_new();
  g->t = T = strings_new(A);
  g->p = P = exprs_new(A);
}

/* ---- normal forms ---------------------------------------------------------------------------- */

static void test_normal(void) {
  static const char *const form[][2] = {{"(j + i)", "(i + j)"}, {"(i - i)", "0"}, {"((i + 1) + (i - 1))", "(2 * i)"},
      {"(i * (j + 1))", "((i * j) + i)"}, {"((i + 1) * (i - 1))", "((i * i) - 1)"}, {"neg((i - $N))", "($N - i)"},
      {"((i + j) ^ 2)", "((((2 * (i * j)) + (i * i)) + (j * j)))"}, {"((2 * $N) // 2)", "$N"},
      {"(((2 * $N) + 1) // 2)", "$N"}, {"(((2 * $N) + 1) % 2)", "1"},
      {"((($N - 3) // 2) + 1)", "((($N + 1) // 2) - 1)"}, {"(((3 * i) + 4) % 3)", "1"},
      {"((i + 5) % 3)", "((i + 2) % 3)"}, {"(i // $N)", "(i // $N)"}, {"max((j + i), 2)", "max((i + j), 2)"},
      {"%0[(j + i)]", "%0[(i + j)]"}, {"((2 * %0[]) // 2)", "((2 * %0[]) // 2)"}, {"(3 - i)", "((-1 * i) + 3)"},
      {"(0 - i)", "(-1 * i)"}, {"((j + i) < (1 + 2))", "((i + j) < 3)"},
      {"(sqrt(f64((j + i))) + 1.0)", "(sqrt(f64((i + j))) + 1.0)"}};
  for (size_t k = 0; k < COUNT(form); k++) {
    const Expr *e = expr_normal(P, rd(form[k][0]));
    if (k != 6) OK_STR(pr(e), form[k][1], "normal form of %s", form[k][0]);
    OK(expr_normal(P, e) == e, "a normal form is its own normal form");
  }
  const Expr *big = rd("((i * 4611686018427387904) * 4)");
  OK(expr_normal(P, big) == big, "what wraps is left as it is");
  OK_STR(pr(expr_divide(P, rd("($H * ($D * $E))"), rd("($E * $D)"))), "$H", "divides");
  OK_STR(pr(expr_divide(P, rd("((2 * ($H * $D)) + (4 * $D))"), rd("(2 * $D)"))), "($H + 2)", "divides a sum");
  OK(!expr_divide(P, rd("(($H * $D) + 1)"), rd("$D")) && !expr_divide(P, rd("3"), rd("2")) &&
          !expr_divide(P, rd("3"), rd("0")),
      "does not divide");
  OK(expr_divide(P, rd("($H + 1)"), rd("(1 + $H)")) == rd("1") && expr_divide(P, rd("0"), rd("$D")) == rd("0"),
      "1 and 0");
}

static const Expr *random_poly(Gen *g, int depth) {
  static const char *const leaf[] = {"i", "j", "$N", "$M", "1", "2", "-3", "%0[i]", "(i // 3)"};
  if (depth == 0) return rd(leaf[gen_int(g, 0, (int64_t)COUNT(leaf) - 1)]);
  const Expr *a = random_poly(g, depth - 1), *b = random_poly(g, depth - 1 - (depth > 1 && gen_int(g, 0, 1)));
  switch (gen_int(g, 0, 3)) {
  case 0: return expr_op2(P, OP_ADD, a, b);
  case 1: return expr_op2(P, OP_SUB, a, b);
  case 2: return expr_op2(P, OP_MUL, a, b);
  default: return expr_op1(P, OP_NEG, a);
  }
}

static void test_normal_laws(void) {
  Gen g = {.state = 3, .p = P, .t = T};
  int wrong = 0;
  for (int k = 0; k < TRIES(3000); k++) {
    const Expr *a = random_poly(&g, 3), *b = random_poly(&g, 3), *c = random_poly(&g, 2);
    const Expr *l = expr_op2(P, OP_MUL, expr_op2(P, OP_ADD, a, b), c);
    const Expr *r = expr_op2(P, OP_ADD, expr_op2(P, OP_MUL, c, b), expr_op2(P, OP_MUL, a, c));
    wrong += expr_normal(P, l) != expr_normal(P, r);
    const Expr *n = expr_normal(P, l);
    wrong += expr_normal(P, n) != n;
    const Expr *d = rd("(2 * ($N * i))"), *q = expr_divide(P, expr_op2(P, OP_MUL, a, d), d);
    wrong += q != expr_normal(P, a);
  }
  OK_INT(wrong, 0, "polynomials: (a+b)*c is c*b+a*c, and a*d/d is a");
  const Expr *deep = rd("i"), *product = rd("i"), *mixed = rd("j");
  for (int k = 0; k < TRIES(100000); k++) {
    deep = expr_op2(P, OP_ADD, deep, k % 2 ? rd("j") : expr_read(P, DT_I64, k, 0, NULL));
    product = expr_op2(P, OP_MUL, product, k % 2 ? rd("j") : expr_read(P, DT_I64, k, 0, NULL));
    mixed = expr_op2(P, k % 2 ? OP_MUL : OP_ADD, mixed, rd(k % 3 ? "i" : "$N"));
  }
  const Expr *n = expr_normal(P, deep);
  OK(n != deep && expr_normal(P, n) == n, "a hundred thousand terms");
  OK(expr_normal(P, product) && expr_normal(P, mixed), "a hundred thousand factors");
  const Expr *shared = rd("i");
  for (int k = 0; k < 40; k++) shared = expr_op2(P, OP_ADD, shared, shared);
  OK_STR(pr(expr_normal(P, shared)), "(1099511627776 * i)", "shared parts once");
}

/* ---- given problems -------------------------------------------------------------------------- */

/* labels: "i:$N j:3"; facts joined by ';' */
static Facts facts_of(const char *labels, const char *hold, const char *turn) {
  const Expr **extent = NEW_ARRAY(A, const Expr *, 7), **h = NEW_ARRAY(A, const Expr *, 16),
             **t = NEW_ARRAY(A, const Expr *, 1);
  Facts f = {.label = extent, .hold = h, .turn = t, .n_turn = turn ? 1 : 0};
  if (turn && *turn) t[0] = rd(turn);
  char *copy = arena_printf(A, "%s", labels), *save = NULL;
  for (char *p = strtok_r(copy, ";", &save); p; p = strtok_r(NULL, ";", &save)) {
    int64_t k = strchr("ijklrst", p[0]) - "ijklrst";
    extent[k] = rd(p + 2);
    if (k + 1 > f.n_label) f.n_label = (uint32_t)k + 1;
  }
  copy = arena_printf(A, "%s", hold);
  for (char *p = strtok_r(copy, ";", &save); p; p = strtok_r(NULL, ";", &save)) h[f.n_hold++] = rd(p);
  return f;
}

static const char *const verdict_name[] = {"proved", "refuted", "open on dims", "open on data"};

static void is(const char *labels, const char *hold, const char *goal, Verdict want, const char *condition) {
  Facts f = facts_of(labels, hold, "");
  Proof r = prove(P, &f, rd(goal));
  bool ok = r.verdict == want && (!condition || strcmp(pr(r.condition), condition) == 0) &&
            (r.condition != NULL) == (want == OPEN_DIMS);
  OK(ok, "%s | %s |- %s: %s", labels, hold, goal, verdict_name[want]);
  if (!ok) printf("#   got %s, %s\n", verdict_name[r.verdict], pr(r.condition));
}

static void test_given(void) {
  is("i:8", "", "((0 <= i) and (i < 8))", PROVED, NULL);
  is("i:8", "", "(i < 7)", REFUTED, NULL);
  is("i:$N", "", "((0 <= i) and (i < $N))", PROVED, NULL);
  is("i:($N - 2)", "", "((i + 2) < $N)", PROVED, NULL);
  is("i:($N - 2)", "", "((i + 3) < $N)", REFUTED, NULL);
  is("i:$N", "", "(i < $M)", OPEN_DIMS, "($N <= $M)");
  is("i:$N;j:$K", "", "(i < $M)", OPEN_DIMS, "($N <= $M)");
  is("i:$N", "", "((i + 5) < $M)", OPEN_DIMS, "((($N + 5) <= $M) or ($N <= 0))");
  is("i:$N", "", "((i + 1) < $N)", REFUTED, NULL);
  is("i:0", "", "(i < -5)", PROVED, NULL);
  is("i:($N - $N)", "", "(i < -5)", PROVED, NULL);
  is("i:$N", "", "(2 <= $N)", OPEN_DIMS, "(2 <= $N)");
  is("i:$W;r:3", "((0 <= ((i + r) - 1)) and (((i + r) - 1) < $W))", "((0 <= ((i + r) - 1)) and (((i + r) - 1) < $W))",
      PROVED, NULL);
  is("i:$W;r:$R", "((0 <= ((i + r) - ($R // 2))) and (((i + r) - ($R // 2)) < $W))",
     "((0 <= ((i - ($R // 2)) + r)) and ((r + (i - ($R // 2))) < $W))", PROVED, NULL);
  is("i:$W;r:3", "", "(0 <= ((i + r) - 1))", REFUTED, NULL);
  is("i:((($N - 3) // 2) + 1);r:3", "", "(((2 * i) + r) < $N)", PROVED, NULL);
  is("i:((($N - $K) // 2) + 1);r:$K", "", "(((2 * i) + r) < $N)", PROVED, NULL);
  is("i:((($N - 3) // 2) + 1);r:4", "", "(((2 * i) + r) < $N)", OPEN_DIMS, NULL);
  is("i:((10 - 3) // 2);r:3", "", "(((2 * i) + r) < 10)", PROVED, NULL);
  is("s:$S;t:$S", "(t <= s)", "((0 <= (s - t)) and ((s - t) < $S))", PROVED, NULL);
  is("s:$S;t:$S", "", "(0 <= (s - t))", OPEN_DIMS, "($S <= 1)");
  is("i:$H;j:$D", "", "(((i * $D) + j) < ($H * $D))", PROVED, NULL);
  is("i:$H;j:$D;k:$E", "", "(((((i * $D) + j) * $E) + k) < ($H * ($D * $E)))", PROVED, NULL);
  is("i:$H;j:$D", "", "(0 <= ((i * $D) + j))", PROVED, NULL);
  is("i:($H * $D)", "", "((i // $D) < $H)", PROVED, NULL);
  is("i:($H * $D)", "", "((0 <= (i % $D)) and ((i % $D) < $D))", PROVED, NULL);
  is("i:(($H * $D) * $E)", "", "((((i // $E) % $D) < $D) and (0 <= ((i // $E) % $D)))", PROVED, NULL);
  is("i:($N // $K);r:$K", "", "(((i * $K) + r) < $N)", PROVED, NULL);
  is("s:(($G * $G) + 1)", "(s != 0)", "((((s - 1) // $G) < $G) and (0 <= ((s - 1) // $G)))", PROVED, NULL);
  is("s:(($G * $G) + 1)", "(s != 0)", "(((s - 1) % $G) < $G)", PROVED, NULL);
  is("s:(($G * $G) + 2)", "(s != 0)", "(((s - 1) // $G) < $G)", OPEN_DATA, NULL);
  is("j:(($N * $D) + $I)", "(j < ($N * $D))", "(((j // $D) < $N) and ((j % $D) < $D))", PROVED, NULL);
  is("j:(($N * $D) + $I)", "(j < ($N * $D))", "((j // $N) < $N)", OPEN_DIMS, NULL);
  is("s:$S", "(1 <= $W)", "((s // $W) < ((($S + $W) - 1) // $W))", PROVED, NULL);
  is("i:($N // 4);r:4", "", "(((i * 4) + r) < $N)", PROVED, NULL);
  is("i:($N * $N)", "", "((i + 1) < ($N * $N))", REFUTED, NULL);
  is("i:(4 * $N)", "", "(((i // 4) < $N) and ((i % 4) < 4))", PROVED, NULL);
  is("i:12", "", "(((i // 4) < 3) and (0 <= (i % 4)))", PROVED, NULL);
  is("i:13", "", "((i // 4) < 3)", REFUTED, NULL);
  is("i:$N", "((0 <= %0[i]) and (%0[i] < $V))", "((0 <= %0[i]) and (%0[i] < $V))", PROVED, NULL);
  is("i:$N", "(%0[i] < $V)", "((%0[i] + 1) < ($V + 1))", PROVED, NULL);
  is("i:$N", "", "(%0[i] < $V)", OPEN_DATA, NULL);
  is("i:$N", "((0:i32 <= %1[i]) and (i64(%1[i]) < $V))", "((0 <= i64(%1[i])) and (i64(%1[i]) < $V))", PROVED, NULL);
  is("i:$N", "", "((0 <= i64(%2[i])) and (i64(%2[i]) < 256))", PROVED, NULL);
  is("i:$N", "(%0[i] < $M)", "(%0[i] < $V)", OPEN_DIMS, NULL);
  is("i:9", "(0.0:f32 < %3[i])", "(i < 8)", OPEN_DATA, NULL);
  is("i:9", "(0.0:f32 < %3[i])", "(%3[i] > 0.0:f32)", PROVED, NULL);
  is("i:9", "%4[i]", "(%4[i] and (i < 9))", PROVED, NULL);
  is("i:9", "(i != 8)", "(i < 8)", PROVED, NULL);
  is("i:9", "((i < 3) or (i > 6))", "(i != 5)", PROVED, NULL);
  is("i:9", "not(((i >= 3) and (i <= 6)))", "(i != 7)", REFUTED, NULL);
  is("i:9", "select((i < 3), (i < 2), (i > 5))", "((i < 2) or (i > 5))", PROVED, NULL);
  is("i:$N", "", "((0 <= max((i - 1), 0)) and (max((i - 1), 0) < $N))", PROVED, NULL);
  is("i:$N;r:3", "", "((0 <= min(max(((i + r) - 1), 0), ($N - 1))) and (min(max(((i + r) - 1), 0), ($N - 1)) < $N))",
      PROVED, NULL);
  is("i:$N", "", "(abs((i - ($N - 1))) < $N)", PROVED, NULL);
  is("i:$N", "", "(select((i == 0), 0, (i - 1)) < $N)", PROVED, NULL);
  is("i:$N;j:$N", "", "((i + j) < ((2 * $N) - 1))", PROVED, NULL);
  is("i:$N;j:$N", "", "(((i + j) % $N) < $N)", PROVED, NULL);
  is("i:10;j:10", "((2 * i) == ((2 * j) + 1))", "(i < 0)", PROVED, NULL);
  is("i:10;j:10", "(((3 * i) + (5 * j)) == 7)", "(i < 0)", PROVED, NULL);
  is("i:10;j:10", "(((3 * i) + (5 * j)) == 8)", "(i == 1)", PROVED, NULL);
  is("i:100;j:100", "", "((i * j) <= 9801)", PROVED, NULL);
  is("i:100;j:100", "", "((i * j) < 9801)", REFUTED, NULL);
  is("i:8", "", "((i ^ 2) <= 49)", PROVED, NULL);
  is("", "", "(1 < 0)", REFUTED, NULL);
  is("i:$N", "", "false", REFUTED, NULL);
  is("", "", "($N <= $M)", OPEN_DIMS, "($N <= $M)");
  is("", "($N <= $M)", "($N <= ($M + 1))", PROVED, NULL);
  is("i:$N", "($N <= $M)", "(i < $M)", PROVED, NULL);
  is("i:$N", "", "((i * 4611686018427387904) < 5)", OPEN_DATA, NULL);
  is("i:3", "", "((i + i) < 5)", PROVED, NULL);
  Facts turns = facts_of("i:4", "", "$T");
  OK(prove(P, &turns, rd("((0 <= @t) and (@t < $T))")).verdict == PROVED, "turns");
  OK(prove(P, &turns, rd("((@t + i) < ($T + 3))")).verdict == PROVED, "turns and labels");
  OK(prove(P, &turns, rd("(@t < $M)")).verdict == OPEN_DIMS, "turns and dims");
  turns = facts_of("i:4", "", "");
  OK(prove(P, &turns, rd("(0 <= @t)")).verdict == PROVED && prove(P, &turns, rd("(@t < 7)")).verdict == REFUTED,
      "no bound for turns");
  const Expr *chain = rd("(i < 8)");
  for (int k = 0; k < 20000; k++)
    chain = expr_op2(P, OP_AND, chain, expr_op2(P, OP_LT, rd("i"), expr_int(P, DT_I64, 8 + k % 50)));
  Facts f = facts_of("i:8", "", NULL);
  OK(prove(P, &f, chain).verdict == PROVED, "many parts");
  f.hold = &chain, f.n_hold = 1;
  OK(prove(P, &f, rd("(i < 9)")).verdict == PROVED, "many facts");
}

/* ---- random problems, judged by counting ------------------------------------------------------ */

enum { DIMS = 2, MOST_DIM = 4 };
typedef struct World { int64_t dim[DIMS], label[3], data[8]; } World;
static bool with_reads;

static bool world_dim(void *ctx, Str name, int64_t *out) {
  *out = ((World *)ctx)->dim[name->s[0] == 'M'];
  return true;
}

static int64_t at_world(World *w, const Expr *e);

/* %0[x] is data[x], going round. */
static const Expr *read_world(void *ctx, Exprs *p, const Expr *e) {
  if (e->kind != EX_READ) return e;
  return expr_int(p, DT_I64, ((World *)ctx)->data[at_world(ctx, e->arg[0]) & 7]);
}

static int64_t at_world(World *w, const Expr *e) {
  if (e->has & HAS_READ) e = expr_map(P, e, read_world, w);
  ExprEnv env = {.label = w->label, .n_label = 3, .dim = world_dim, .ctx = w};
  Value v;
  if (!expr_value(e, &env, &v)) printf("# no value: %s\n", pr(e)), exit(1);
  return v.i;
}

static const Expr *num(int64_t k) {
  return expr_int(P, DT_I64, k);
}

static const Expr *dim(Gen *g, bool dims) {
  return dims ? rd(gen_int(g, 0, 1) ? "$N" : "$M") : num(gen_int(g, 0, 6));
}

static const Expr *random_extent(Gen *g, bool dims) {
  const Expr *d = dim(g, dims);
  switch (gen_int(g, 0, 7)) {
  case 0: return expr_op2(P, OP_SUB, d, num(gen_int(g, 0, 3)));
  case 1:
    return expr_op2(P, OP_ADD, expr_op2(P, OP_IDIV, expr_op2(P, OP_SUB, d, num(gen_int(g, 0, 3))), num(2)), num(1));
  case 2: return expr_op2(P, OP_MUL, d, dims ? dim(g, dims) : num(1));
  case 3: return num(gen_int(g, 0, 4));
  default: return d;
  }
}

static const Expr *random_index(Gen *g, bool dims, int depth) {
  const Expr *a, *b;
  if (depth == 0 && with_reads && gen_int(g, 0, 3) == 0) {
    a = expr_label(P, gen_int(g, 0, 2));
    return expr_read(P, DT_I64, 0, 1, &a);
  }
  if (depth == 0)
    return gen_int(g, 0, 3) ? expr_label(P, gen_int(g, 0, 2))
        : gen_int(g, 0, 1)  ? dim(g, dims)
                            : num(gen_int(g, -3, 5));
  a = random_index(g, dims, depth - 1), b = random_index(g, dims, depth - 1 - (depth > 1 && gen_int(g, 0, 1)));
  switch (gen_int(g, 0, 15)) {
  case 0: case 1: case 2: case 3: return expr_op2(P, OP_ADD, a, b);
  case 4: case 5: case 6: return expr_op2(P, OP_SUB, a, b);
  case 7: case 8: return expr_op2(P, OP_MUL, a, num(gen_int(g, -2, 3)));
  case 9: return expr_op2(P, OP_IDIV, a, num(gen_int(g, 1, 4)));
  case 10: return expr_op2(P, OP_MOD, a, num(gen_int(g, 1, 4)));
  case 11: return expr_op2(P, gen_int(g, 0, 1) ? OP_MAX : OP_MIN, a, b);
  case 12: return expr_op2(P, OP_MUL, a, dim(g, dims));
  case 13: b = dim(g, dims); return expr_op2(P, gen_int(g, 0, 1) ? OP_IDIV : OP_MOD, a, b);
  case 14: return expr_op1(P, OP_ABS, a);
  default: return a;
  }
}

static const Expr *random_bool(Gen *g, bool dims, int depth) {
  if (depth > 0) {
    const Expr *a = random_bool(g, dims, depth - 1), *b = random_bool(g, dims, depth - 1);
    switch (gen_int(g, 0, 5)) {
    case 0: case 1: return expr_op2(P, OP_AND, a, b);
    case 2: return expr_op2(P, OP_OR, a, b);
    case 3: return expr_op1(P, OP_NOT, a);
    default: return a;
    }
  }
  static const Op op[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_LT, OP_LE, OP_EQ, OP_NE};
  int deep = (int)gen_int(g, 0, 2);
  const Expr *a = random_index(g, dims, deep),
             *b = gen_int(g, 0, 1) ? random_index(g, dims, 0) : num(gen_int(g, -1, 6));
  int64_t k = gen_int(g, 0, 7);
  return expr_op2(P, op[k], a, b);
}

typedef struct Count { int wrong, n[4], tight, loose; } Count;

/* Steps w->label through all points of the extents; false at the end. Starts where label[0] is -1. */
static bool next_point(World *w, const Facts *f) {
  if (w->label[0] < 0) {
    memset(w->label, 0, sizeof w->label);
    for (int k = 0; k < 3; k++)
      if (at_world(w, f->label[k]) <= 0) return false;
    return true;
  }
  for (int k = 2; k >= 0; k--) {
    if (++w->label[k] < at_world(w, f->label[k])) return true;
    w->label[k] = 0;
  }
  return false;
}

static bool facts_hold(World *w, const Facts *f) {
  for (uint32_t i = 0; i < f->n_hold; i++)
    if (!at_world(w, f->hold[i])) return false;
  return true;
}

/* Does the goal hold at all points of these sizes, and is there a point? */
static bool goal_holds(World *w, const Facts *f, const Expr *goal, bool *any) {
  bool all = true;
  *any = false;
  for (w->label[0] = -1; all && next_point(w, f);) {
    if (!facts_hold(w, f)) continue;
    *any = true;
    all = at_world(w, goal) != 0;
  }
  return all;
}

static void tell(const Facts *f, const Expr *goal, const Proof *r, const World *w) {
  printf("# %s |- %s\n", verdict_name[r->verdict], pr(goal));
  for (uint32_t k = 0; k < f->n_label; k++) printf("#   label %u < %s\n", k, pr(f->label[k]));
  for (uint32_t k = 0; k < f->n_hold; k++) printf("#   fact %s\n", pr(f->hold[k]));
  printf("#   condition %s, at N=%d M=%d\n", pr(r->condition), (int)w->dim[0], (int)w->dim[1]);
}

static bool point_is_right(const Facts *f, const Expr *goal, const Proof *r) {
  World w = {.dim = {1, 1}};
  for (uint32_t i = 0; i < r->dim.len; i++) w.dim[r->dim.at[i].name->s[0] == 'M'] = r->dim.at[i].value;
  for (uint32_t i = 0; i < r->label.len && i < 3; i++) w.label[i] = r->label.at[i];
  for (uint32_t i = 0; i < 3; i++)
    if (w.label[i] < 0 || w.label[i] >= at_world(&w, f->label[i])) return false;
  return facts_hold(&w, f) && !at_world(&w, goal);
}

static void judge(Count *c, const Facts *f, const Expr *goal, bool dims, Gen *g) {
  Proof r = prove(P, f, goal);
  World w;
  for (int k = 0; k < 8; k++) w.data[k] = gen_int(g, -2, 6);
  bool wrong = r.verdict == REFUTED && !point_is_right(f, goal, &r), any, needed = true;
  for (w.dim[0] = 0; !wrong && w.dim[0] <= (dims ? MOST_DIM : 0); w.dim[0]++)
    for (w.dim[1] = 0; !wrong && w.dim[1] <= (dims ? MOST_DIM : 0); w.dim[1]++) {
      bool holds = goal_holds(&w, f, goal, &any);
      if (r.verdict == PROVED) wrong = !holds;
      if (r.verdict == REFUTED && !with_reads) wrong = any && holds;
      if (r.verdict == OPEN_DIMS) {
        bool says = at_world(&w, r.condition) != 0;
        wrong = (says && !holds) || (r.condition->has & ~HAS_DIM);
        needed = needed && (says || !holds);
      }
      if (wrong) tell(f, goal, &r, &w);
    }
  if (!dims && !with_reads && (r.verdict == OPEN_DATA || r.verdict == OPEN_DIMS))
    wrong = true, w.dim[0] = 0, tell(f, goal, &r, &w);
  c->wrong += wrong;
  c->n[r.verdict]++;
  if (r.verdict == OPEN_DIMS) c->tight += needed, c->loose += !needed;
}

static void random_problem(Gen *g, bool dims, const Expr **extent, const Expr **hold, Facts *f) {
  for (int k = 0; k < 3; k++) extent[k] = random_extent(g, dims);
  *f = (Facts){.label = extent, .n_label = 3, .hold = hold, .n_hold = (uint32_t)gen_int(g, 0, 2)};
  for (uint32_t k = 0; k < f->n_hold; k++) hold[k] = random_bool(g, dims, (int)gen_int(g, 0, 1));
}

static void test_random(bool dims, bool reads, uint64_t seed, int n) {
  with_reads = reads;
  Gen g = {.state = seed, .p = P, .t = T};
  Count c = {0};
  for (int k = 0; k < n && c.wrong < 5; k++) {
    const Expr *extent[3], *hold[2];
    Facts f;
    if (k % 5000 == 4999) pool_new(&g);
    random_problem(&g, dims, extent, hold, &f);
    judge(&c, &f, random_bool(&g, dims, (int)gen_int(&g, 0, 2)), dims, &g);
  }
  with_reads = false;
  OK_INT(c.wrong, 0, "%d problems %s dims%s", n, dims ? "with" : "without", reads ? " and with reads" : "");
  printf("# proved %d, refuted %d, open on dims %d (%d conditions exact), open on data %d\n", c.n[PROVED], c.n[REFUTED],
         c.n[OPEN_DIMS], c.tight, c.n[OPEN_DATA]);
}

/* ---- non-emptiness ---------------------------------------------------------------------------- */

static bool mentions(const Expr *e, const bool *inner) {
  bool used[3] = {false};
  expr_labels(e, 3, used);
  return (used[0] && inner[0]) || (used[1] && inner[1]) || (used[2] && inner[2]);
}

/* Labels are 0..2; inner ones come last here, so that counting is two loops. */
static bool never_empty(World *w, const Facts *f, const bool *inner, const Expr *where, bool *any) {
  const Expr *extent[3];
  Facts out = *f, in = *f;
  const Expr *out_extent[3], *hold[2];
  *any = false;
  out.label = out_extent, in.label = extent, out.hold = hold, out.n_hold = 0;
  for (int k = 0; k < 3; k++) out_extent[k] = inner[k] ? num(1) : f->label[k];
  for (uint32_t k = 0; k < f->n_hold; k++)
    if (!mentions(f->hold[k], inner)) hold[out.n_hold++] = f->hold[k];
  for (w->label[0] = -1; next_point(w, &out);) {
    if (!facts_hold(w, &out)) continue;
    *any = true;
    World v = *w;
    bool some = false;
    for (int k = 0; k < 3; k++) extent[k] = inner[k] ? f->label[k] : num(1);
    for (v.label[0] = -1; !some && next_point(&v, &in);) {
      World both = v;
      for (int k = 0; k < 3; k++)
        if (!inner[k]) both.label[k] = w->label[k];
      some = !where || at_world(&both, where) != 0;
    }
    if (!some) return false;
  }
  return true;
}

static void test_random_nonempty(bool dims, uint64_t seed, int n) {
  Gen g = {.state = seed, .p = P, .t = T};
  Count c = {0};
  for (int k = 0; k < n && c.wrong < 5; k++) {
    const Expr *extent[3], *hold[2];
    Facts f;
    if (k % 5000 == 4999) pool_new(&g);
    random_problem(&g, dims, extent, hold, &f);
    bool inner[3] = {gen_int(&g, 0, 1), gen_int(&g, 0, 1), true}, any, wrong = false;
    const Expr *where = gen_int(&g, 0, 3) ? random_bool(&g, dims, (int)gen_int(&g, 0, 1)) : NULL;
    Proof r = prove_nonempty(P, &f, inner, where);
    World w;
    for (w.dim[0] = 0; !wrong && w.dim[0] <= (dims ? MOST_DIM : 0); w.dim[0]++)
      for (w.dim[1] = 0; !wrong && w.dim[1] <= (dims ? MOST_DIM : 0); w.dim[1]++) {
        bool holds = never_empty(&w, &f, inner, where, &any);
        wrong = (r.verdict == PROVED && !holds) || (r.verdict == REFUTED && any && holds) ||
                (r.verdict == OPEN_DIMS && at_world(&w, r.condition) && !holds);
        if (wrong)
          tell(&f, where ? where : expr_bool(P, true), &r, &w),
              printf("# inner %d %d %d\n", inner[0], inner[1], inner[2]);
      }
    c.wrong += wrong || (!dims && r.verdict == OPEN_DIMS);
    c.n[r.verdict]++;
    if (!dims && r.verdict == OPEN_DATA) c.loose++;
  }
  OK_INT(c.wrong, 0, "%d non-emptiness problems %s dims", n, dims ? "with" : "without");
  printf("# proved %d, refuted %d, open on dims %d, open on data %d\n", c.n[PROVED], c.n[REFUTED], c.n[OPEN_DIMS],
      c.n[OPEN_DATA]);
}

static void some(const char *labels, const char *hold, const char *inner_names, const char *where, Verdict want,
    const char *condition) {
  Facts f = facts_of(labels, hold, "");
  bool inner[7] = {false};
  for (const char *p = inner_names; *p; p++) inner[strchr("ijklrst", *p) - "ijklrst"] = true;
  Proof r = prove_nonempty(P, &f, inner, *where ? rd(where) : NULL);
  bool ok = r.verdict == want && (!condition || strcmp(pr(r.condition), condition) == 0);
  OK(ok, "some %s of %s where %s: %s", inner_names, labels, where, verdict_name[want]);
  if (!ok) printf("#   got %s, %s\n", verdict_name[r.verdict], pr(r.condition));
}

static void test_nonempty(void) {
  some("i:8", "", "i", "", PROVED, NULL);
  some("i:0", "", "i", "", REFUTED, NULL);
  some("i:$N", "", "i", "", OPEN_DIMS, "(1 <= $N)");
  some("i:$N;j:$N", "", "j", "", PROVED, NULL);
  some("i:$N;j:$M", "", "j", "", OPEN_DIMS, NULL);
  some("s:$S;t:$S", "", "t", "(t <= s)", PROVED, NULL);
  some("s:$S;t:$S", "", "t", "(t < s)", REFUTED, NULL);
  some("i:8;j:8", "", "j", "(j == (i + 1))", REFUTED, NULL);
  some("i:8;j:8", "", "j", "((2 * j) == i)", REFUTED, NULL);
  some("i:8;j:8", "", "j", "((2 * j) <= i)", PROVED, NULL);
  some("i:8;j:8", "", "j", "((j // 2) == (i // 2))", PROVED, NULL);
  some("i:$N", "($N >= 1)", "i", "", PROVED, NULL);
  some("i:$N", "", "i", "(%0[i] < 3)", OPEN_DATA, NULL);
  some("i:9;j:9", "", "j", "((j < i) or (j > i))", PROVED, NULL);
  some("i:($H * $D);j:$D", "", "j", "", PROVED, NULL);
}

/* ---- sums that wrap around --------------------------------------------------------------------- */

/* Of two integers that may be anything, labels below 6 and 3, and numbers. */
static const Expr *random_data(Gen *g, int depth) {
  static const Op two[] = {OP_ADD, OP_ADD, OP_ADD, OP_SUB, OP_SUB, OP_MIN, OP_MAX};
  const Expr *a;
  switch (gen_int(g, 0, depth > 0 ? 10 : 3)) {
  case 0: return expr_label(P, gen_int(g, 0, 1));
  case 1: return num(gen_int(g, -6, 6));
  case 2: case 3: return expr_param(P, DT_I64, gen_int(g, 0, 1));
  case 4: return expr_op2(P, OP_MUL, num(gen_int(g, -3, 4)), random_data(g, depth - 1));
  case 5: return expr_op2(P, gen_int(g, 0, 1) ? OP_IDIV : OP_MOD, random_data(g, depth - 1), num(gen_int(g, 1, 5)));
  case 6: return expr_op1(P, gen_int(g, 0, 1) ? OP_ABS : OP_NEG, random_data(g, depth - 1));
  case 7: return expr_op2(P, OP_MUL, random_data(g, depth - 2), random_data(g, depth - 2));
  default:
    a = random_data(g, depth - 1);
    return expr_op2(P, two[gen_int(g, 0, COUNT(two) - 1)], a, random_data(g, depth - 1));
  }
}

static const Expr *random_said(Gen *g, int depth) {
  static const Op compare[] = {OP_LT, OP_LE, OP_GE, OP_GT, OP_LE, OP_GE, OP_EQ};
  if (depth > 0 && gen_int(g, 0, 3) == 0) return expr_op2(P, OP_OR, random_said(g, 0), random_said(g, 0));
  Op op = compare[gen_int(g, 0, COUNT(compare) - 1)];
  return expr_op2(P, op, random_data(g, 2), gen_int(g, 0, 1) ? num(gen_int(g, -2, 6)) : random_data(g, 1));
}

typedef struct Said { const Facts *f; const Expr *goal; int64_t label[2]; Value data[2]; } Said;

static bool is_true(const Said *s, const Expr *e) {
  Value v = {0};
  ExprEnv env = {.label = s->label, .n_label = 2, .param = s->data, .n_param = 2};
  return expr_value(e, &env, &v) && v.i;
}

static bool is_true_everywhere(Said *s) {
  static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN + 4, -((int64_t)1 << 62), INT64_MIN / 3, -6, -2,
      -1, 0, 1, 2, 3, 5, INT64_MAX / 3 + 1, (int64_t)1 << 62, INT64_MAX - 4, INT64_MAX - 1, INT64_MAX};
  for (size_t a = 0; a < COUNT(ends); a++)
    for (size_t b = 0; b < COUNT(ends); b++)
      for (int64_t at = 0; at < 18; at++) {
        s->label[0] = at / 3, s->label[1] = at % 3;
        s->data[0] = (Value){DT_I64, {.i = ends[a]}}, s->data[1] = (Value){DT_I64, {.i = ends[b]}};
        bool holds = true;
        for (uint32_t k = 0; k < s->f->n_hold; k++) holds = holds && is_true(s, s->f->hold[k]);
        if (holds && !is_true(s, s->goal)) return false;
      }
  return true;
}

static void test_random_wraps(uint64_t seed, int n) {
  Gen g = {.state = seed};
  int proved = 0, wrong = 0;
  for (int k = 0; k < n; k++) {
    if (k % 256 == 0) pool_new(&g);
    const Expr *extent[2] = {num(6), num(3)}, *hold[4];
    Facts f = {.label = extent, .n_label = 2, .hold = hold, .n_hold = (uint32_t)gen_int(&g, 1, 4)};
    for (uint32_t i = 0; i < f.n_hold; i++) hold[i] = random_said(&g, 1);
    Said s = {.f = &f,
        .goal = gen_int(&g, 0, 1) ? random_said(&g, 1) : expr_op2(P, OP_LT, expr_label(P, 0), num(gen_int(&g, 1, 5)))};
    if (prove(P, &f, s.goal).verdict != PROVED) continue;
    proved++;
    if (is_true_everywhere(&s)) continue;
    if (!wrong++) {
      printf("# not so: %s\n", pr(s.goal));
      for (uint32_t i = 0; i < f.n_hold; i++) printf("#   %s\n", pr(hold[i]));
      printf("#   at i = %lld, j = %lld, #0 = %lld, #1 = %lld\n", (long long)s.label[0], (long long)s.label[1],
          (long long)s.data[0].i, (long long)s.data[1].i);
    }
  }
  OK(wrong == 0 && proved > n / 20, "what is proved of sums that may wrap is so: %d of %d, wrong %d", proved, n, wrong);
}

static void test_wraps(void) {
  is("i:9", "(%0[] >= 0);((%0[] + i) < 4)", "(i < 4)", OPEN_DATA, NULL);
  is("i:9", "(%0[] >= 0);((%0[] + i) < 4);(%0[] < 1000)", "(i < 4)", PROVED, NULL);
  is("i:9", "(i64(%1[]) >= 0);((i64(%1[]) + i) < 4)", "(i < 4)", PROVED, NULL); /* i32 */
  is("i:9", "(%0[] < 4);((%0[] - i) >= 0)", "(i < 4)", OPEN_DATA, NULL);
  is("i:9", "(%0[] <= 3);(i <= %0[])", "((i + 1) <= 4)", PROVED, NULL);
  is("i:9", "(neg(%0[]) <= 0)", "(%0[] >= 0)", OPEN_DATA, NULL);
  is("i:9", "(abs(%0[]) < 4)", "(%0[] > -4)", OPEN_DATA, NULL);
  is("i:9", "(%0[] >= 0)", "(min((%0[] + 1), 3) >= 0)", OPEN_DATA, NULL);
  is("i:9", "((%0[] + i) >= 0);((%0[] + i) < 4)", "((i + %0[]) < 4)", PROVED, NULL);
  /* between two bounds it is small */
  is("i:9", "((%0[] + i) >= 0);((%0[] + i) < 4)", "((%0[] + 9) > 0)", PROVED, NULL);
  is("i:9", "((%0[] + %5[]) >= 0);((%0[] + %5[]) < 4)", "(((7 - %5[]) - %0[]) > 3)", PROVED, NULL);
  is("i:9", "((%0[] + %5[]) >= 0)", "(((%0[] + %5[]) + 1) > 0)", OPEN_DATA, NULL);
}

/* ---- time ------------------------------------------------------------------------------------ */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void clock_one(const char *name, const char *labels, const char *hold, const char *goal, int n) {
  Facts f = facts_of(labels, hold, "");
  const Expr *g = rd(goal);
  double from = seconds();
  for (int k = 0; k < n; k++) prove(P, &f, g);
  printf("# %s: %.2f us\n", name, 1e6 * (seconds() - from) / n);
}

int main(int argc, char **argv) {
  A = arena_new();
  T = strings_new(A);
  P = exprs_new(A);
  int n = argc > 1 ? atoi(argv[1]) : TRIES(4000);
  test_normal();
  test_normal_laws();
  test_given();
  test_nonempty();
  test_wraps();
  uint64_t seed = argc > 2 ? (uint64_t)atoi(argv[2]) : 0;
  test_random(false, false, seed + 11, n);
  test_random(true, false, seed + 12, n);
  test_random(true, true, seed + 15, n);
  test_random_nonempty(false, seed + 13, n);
  test_random_nonempty(true, seed + 14, n / 2);
  test_random_wraps(seed + 16, n);
  clock_one("fast", "i:$N", "", "((0 <= i) and (i < $N))", 100000);
  clock_one("affine", "i:($N - 2);r:3", "", "((i + r) < $N)", 10000);
  clock_one("pooling", "i:((($N - 3) // 2) + 1);r:3", "", "(((2 * i) + r) < $N)", 10000);
  clock_one("group", "i:$H;j:$D", "", "(((i * $D) + j) < ($H * $D))", 10000);
  clock_one("open", "i:$N", "", "(i < $M)", 10000);
  clock_one("refuted", "i:$N", "", "((i + 1) < $N)", 10000);
  arena_free(A);
  return DONE();
}
