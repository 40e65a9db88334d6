/* tests/rule/test_rewrite.c - rules in whole programs: chains of them, what users do then, what is refused in a repeat,
 * and what is swept. */
#include <stdlib.h>

#include "algebra/eval/eval.h"
#include "algebra/rules/rules.h"
#include "tap.h"

static Arena *a;
static Rules *rules;

static Algebra *read_well(const char *text) {
  Diags *d = diags_new(a);
  Algebra *p = algebra_read(a, strings_new(a), source_new(a, "x.ia", text, strlen(text)), d);
  Buf b = buf_new(a);
  diags_text(d, &b, false);
  if (!OK(p && !d->errors && algebra_check(p, &b), "it reads, and is sound")) tap_text("complaints", b.s), exit(1);
  return p;
}

static const char *text_of(const Algebra *p) {
  Buf b = buf_new(a);
  algebra_print(&b, p);
  return b.s;
}

static AlgNode *find_in(AlgRegion *r, uint32_t id) {
  for (uint32_t k = 0; k < r->nodes.len; k++) {
    AlgNode *n = r->nodes.at[k], *in = n->kind == ALG_REPEAT ? find_in(n->body, id) : NULL;
    if (n->id == id) return n;
    if (in) return in;
  }
  return NULL;
}

static bool apply(Algebra *p, uint32_t id, const char *name, const Placement *to, Buf *why) {
  RuleGiven given = {.to = to};
  *why = buf_new(a);
  return rule_apply(p, rule_find(rules, name), find_in(p->top, id), &given, why);
}

static void applies(Algebra *p, uint32_t id, const char *name, const Placement *to) {
  Buf why;
  if (!OK(apply(p, id, name, to, &why), "%s at %%%u", name, id)) tap_text("why", why.s), tap_text("text", text_of(p));
  algebra_sweep(p, true);
  if (!OK(algebra_check(p, &why), "the result is sound"))
    tap_text("check", why.s), tap_text("text", text_of(p));
}

static void refused(Algebra *p, uint32_t id, const char *name, const Placement *to, const char *wanted) {
  Buf why;
  const char *before = text_of(p);
  OK(!apply(p, id, name, to, &why), "%s is refused at %%%u", name, id);
  OK_STR(why.s, wanted, "the message says why");
  OK_STR(text_of(p), before, "nothing has changed");
}

static Placement on(int x, int y) {
  Placement p;
  for (uint32_t k = 0; k < MESH_AXES; k++) p.on[k] = PLACE_ALL;
  p.on[0] = (int8_t)x, p.on[1] = (int8_t)y;
  return p;
}

/* Inputs count on from 1; the first output's sum, weighted, and the bytes that moved. */
static int64_t answer(const Algebra *p, double *bytes) {
  AlgGiven given[4];
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    AlgArray x = {
        .dtype = DT_I64, .rank = 2, .shape = NEW_ARRAY(a, int64_t, 2), .count = 64, .data = NEW_ARRAY(a, int64_t, 64)};
    x.shape[0] = x.shape[1] = 8;
    for (int64_t i = 0; i < 64; i++) ((int64_t *)x.data)[i] = (i + 1) * (i + 7 * k) % 101;
    given[k] = (AlgGiven){p->inputs.at[k]->name, x};
  }
  AlgRun run = {.arena = a, .program = p, .input = given, .n_input = p->inputs.len};
  const char *why = NULL;
  Place place;
  if (!OK(algebra_eval(&run, &why, &place), "it runs")) return tap_text("why", why), 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < run.output[0].count; i++) sum += ((int64_t *)run.output[0].data)[i] * (i + 1);
  *bytes = 0;
  for (uint32_t k = 0; k < p->n_nodes; k++) *bytes += run.moved[k];
  return sum;
}

/* ---- a product of matrices: from Table 1's plan to each of the three that people know -----------------------------
 */

static const char table_1[] =
    "ia 1\n"
    "mesh 4\n"
    "input %0 A {i:4, k:4} [8/i, 8/k] : i64 at 0\n"
    "input %1 B {k:4, j:4} [8/k, 8/j] : i64 at 1\n"
    "broadcast %2 {i:4, k:4} [8/i, 8/k] : i64 at * of %0\n"
    "join %3 {i:4, k:4, j:4} [i:8/i, j:8/j; k:8/k] : i64 at 2 of %2{i, k}, %1{k, j} = sum:i64 (&0[i, k] * &1[k, j])\n"
    "shuffle %4 {i:4, k:4, j:4} [8/i, 8/j] : i64 at 0 of %3\n"
    "aggregate %5 C {i:4, j:4} [8/i, 8/j] : i64 at 0 of %4 by {i, j} sum\n"
    "output C [8, 8] = %5\n";

static void test_product(void) {
  double bytes[4];
  Placement k = on(1, PLACE_ALL);
  int64_t want = answer(read_well(table_1), &bytes[0]);
  Algebra *bmm = read_well(table_1);
  applies(bmm, 5, "R2-4", NULL);
  OK(answer(bmm, &bytes[1]) == want, "BMM has the same answer");
  Algebra *cmm = read_well(table_1);
  applies(cmm, 5, "R2-5", NULL);
  applies(cmm, 3, "R2-6 cmm", &k);
  applies(cmm, 3, "R2-1", NULL);
  OK(answer(cmm, &bytes[2]) == want, "CMM has the same answer");
  /* A is broadcast: 64 elements to 3 sites each lacking 48; B stays. Table 1 also shuffles 4 partial products of 64, of
   * which a site has a quarter */
  OK_INT((int64_t)bytes[1], 8 * 4 * 48, "BMM moves A alone");
  OK_INT((int64_t)bytes[0], 8 * (4 * 48 + 4 * 48), "Table 1's plan moves the products too");
  OK_INT(
      (int64_t)bytes[2], 8 * (48 + 48 + 4 * 48), "CMM moves A and B to where k is, and parts to where they are added");
}

static void test_grid(void) {
  Algebra *p = read_well(
      "ia 1\n"
      "mesh 2 2\n"
      "input %0 A {i:2, k:2} [8/i, 8/k] : i64 at 0 1\n"
      "input %1 B {k:2, j:2} [8/k, 8/j] : i64 at 0 1\n"
      "shuffle %2 {i:2, k:2} [8/i, 8/k] : i64 at 1 * of %0\n"
      "broadcast %3 {k:2, j:2} [8/k, 8/j] : i64 at 0 * of %1\n"
      "join %4 {i:2, k:2, j:2} [i:8/i, j:8/j; k:8/k] : i64 at 1 * of %2{i, k}, %3{k, j} = sum:i64 (&0[i, k] * "
      "&1[k, j])\n"
      "aggregate %5 {i:2, j:2} [8/i, 8/j] : i64 at + * of %4 by {i, j} sum\n"
      "shuffle %6 {i:2, j:2} [8/i, 8/j] : i64 at 0 1 of %5\n"
      "aggregate %7 C {i:2, j:2} [8/i, 8/j] : i64 at 0 1 of %6 by {i, j} sum\n"
      "output C [8, 8] = %7\n");
  double bytes[2];
  int64_t want = answer(p, &bytes[0]);
  Placement ij = on(0, 1);
  applies(p, 5, "group by join", &ij);
  OK(answer(p, &bytes[1]) == want, "on a grid the answer is the same");
  applies(p, 4, "R2-1", NULL); /* both operands are moved twice now */
  applies(p, 4, "R2-1", NULL);
  applies(p, 6, "R2-5 local", NULL);
  OK(answer(p, &bytes[1]) == want, "moves are merged, and a finished sum is not aggregated again");
  OK_INT(p->n_nodes, 6, "two inputs, two moves, a join and an aggregation are left");
  OK_INT((int64_t)bytes[1], 8 * 4 * (16 + 16), "each site gets a block of each");
}

/* ---- a filter of a join -------------------------------------------------------------------------------------------
 */

static const char diagonal[] =
    "ia 1\n"
    "mesh 2\n"
    "input %0 X {i:2, j:2} [8/i, 8/j] : i64 at 0\n"
    "input %1 Y {i:2, j:2} [8/i, 8/j] : i64 at 1\n"
    "shuffle %2 {i:2, j:2} [8/i, 8/j] : i64 at 0 of %1\n"
    "join %3 {i:2, j:2} [a:8/i, b:8/j] : i64 at 0 of %0{i, j}, %2{i, j} = (&0[a, b] + &1[a, b])\n"
    "filter %4 {i:2, j:2} [8/i, 8/j] : i64 holes at 0 of %3 keep (i == j)\n"
    "rekey %5 {i:2} [8/i, 8/i] : i64 at 0 of %4 to [i]\n"
    "join %6 D {i:2} [a:8/i] : i64 at 0 of %5{i} = &0[a, a]\n"
    "output D [8] = %6\n";

static void test_diagonal(void) {
  double bytes[3];
  Algebra *p = read_well(diagonal);
  int64_t want = answer(p, &bytes[0]);
  applies(p, 4, "R1-6", NULL);
  const AlgNode *join = find_in(p->top, 5);
  OK(join->kind == ALG_JOIN && join->operand[0].wanted && join->operand[1].wanted && join->type.holes,
      "both operands are filtered, and wanted");
  applies(p, 4, "R2-2 back", NULL);
  OK(answer(p, &bytes[1]) == want, "diag(X + Y) by blocks of the diagonal alone");
  OK_INT((int64_t)bytes[0], 8 * 2 * 16, "two blocks moved, off the diagonal");
  OK_INT((int64_t)bytes[1], 0, "that are not wanted");
  applies(p, 4, "R2-2", NULL);
  applies(p, 5, "R1-6 back", NULL);
  OK(answer(p, &bytes[2]) == want && bytes[2] == bytes[0], "and back");
  join = find_in(p->top, 3);
  OK(join->kind == ALG_JOIN && !join->operand[0].wanted && !join->operand[1].wanted && !join->type.holes,
      "where none is wanted any more");
  refused(p, 3, "R1-6 back", NULL, "taken(j, R...) has no value");
}

/* Of three parts of a filter the first is told by both operands, the others by one; the kernel reads all that is there
 * but in %6. */
static void test_parts(void) {
  Algebra *p = read_well(
      "ia 1\n"
      "mesh 2\n"
      "input %0 X {i:2, j:4} [8/i, 8/j] : i64 at 0\n"
      "input %1 Y {k:4, i:2} [8/k, 8/i] : i64 at 1\n"
      "join %2 {i:2, j:4, k:4} [a:8/i, b:8/j, c:8/k] : i64 at 0 of %0{i, j}, %1{k, i} = (&0[a, b] * &1[c, a])\n"
      "filter %3 {i:2, j:4, k:4} [8/i, 8/j, 8/k] : i64 holes at 0 of %2 keep ((i < 1) and ((k < 2) and (i <= j)))\n"
      "filter %4 {i:2, j:4, k:4} [8/i, 8/j, 8/k] : i64 holes at 0 of %2 keep ((i < 1) and (j == k))\n"
      "filter %5 {i:2, j:4} [8/i, 8/j] : i64 holes at 0 of %0 keep (i < 1)\n"
      "join %6 {i:2, j:4} [a:8/i, b:8/j] : i64 at 0 of %5{i, j} = select((a < 4), &0[a, b], 0)\n"
      "filter %7 {i:2, j:4} [8/i, 8/j] : i64 holes at 0 of %6 keep (j < 2)\n"
      "join %8 {i:2, j:4} [a:8/i, b:8/j] : i64 holes at 0 of %5{i, j} wanted, %1{j, i} = (&0[a, b] + &1[b, (a + 0)])\n"
      "join %9 {i:2, j:4} [a:8/i, b:8/j] : i64 holes at 0 of %5{i, j} wanted, %1{j, i} = (&0[a, b] + &1[b, "
      "min(a, 7)])\n"
      "output X [8, 8] = %0\n");
  refused(p, 4, "R1-6", NULL, "wanting(j, p) has no value"); /* no operand has both j and k */
  refused(p, 7, "R1-6", NULL, "unbroken(j, p) does not hold");
  refused(p, 6, "R1-6 back", NULL, "wanted(j, R...) does not hold");
  refused(p, 9, "R1-6 back", NULL, "readable(j, R...) does not hold"); /* no label, though it is inside */
  Buf why;
  OK(apply(p, 3, "R1-6", NULL, &why), "a filter in parts");
  const AlgNode *join = find_in(p->top, 3);
  Buf text = buf_new(a);
  for (uint32_t i = 0; i < 2; i++) alg_equation(&text, join->operand[i].node), buf_char(&text, '\n');
  const char *first = strstr(text.s, " where "), *second = first ? strstr(first + 1, " where ") : NULL;
  OK(first && !strncmp(first, " where i < 1 and i <= j\n", 24), "the first operand tells what it has keys for");
  OK(second && !strncmp(second, " where i < 1 and k < 2\n", 23), "the second operand tells what it has keys for");
  if (!first || !second) tap_text("text", text.s);
}

/* ---- users
 * ------------------------------------------------------------------------------------------------------------ */

static const char loop[] =
    "ia 1\n"
    "mesh 2\n"
    "input %0 X {i:2, j:2} [8/i, 8/j] : i64 at 0\n"
    "join %1 n {} [] : i64 at * = 3\n"
    "repeat %2 t < %1 turns 3 {\n"
    "  state %3 W {i:2, j:2} [8/i, 8/j] : i64 at 0 = %0\n"
    "  shuffle %4 {i:2, j:2} [8/i, 8/j] : i64 at 1 of %3\n"
    "  shuffle %5 {i:2, j:2} [8/i, 8/j] : i64 at 0 of %4\n"
    "  join %6 W {i:2, j:2} [x:8/i, y:8/j] : i64 at 0 of %5{i, j} = (&0[x, y] + x)\n"
    "  next %3 = %6\n"
    "}\n"
    "final %7 W {i:2, j:2} [8/i, 8/j] : i64 at 0 = %2.0\n"
    "join %8 {i:2, j:2} [; x:8/i, y:8/j] : i64 at 0 of %7{i, j} = sum:i64 &0[x, y]\n"
    "aggregate %9 {} [] : i64 at + of %8 by {} sum\n"
    "broadcast %10 {} [] : i64 at * of %9\n"
    "aggregate %11 S {} [] : i64 at * of %10 by {} sum\n"
    "output S [] = %11\n";

static void test_users(void) {
  Placement all = on(PLACE_ALL, PLACE_ALL), j = on(1, PLACE_ALL);
  Algebra *p = read_well("ia 1\n"
                         "mesh 2\n"
                         "input %0 X {i:2, j:2} [8/i, 8/j] : i64 at 0\n"
                         "broadcast %1 {i:2, j:2} [8/i, 8/j] : i64 at * of %0\n"
                         "filter %2 {i:2, j:2} [8/i, 8/j] : i64 holes at * of %1 keep (i != 5)\n"
                         "filter %3 {i:2, j:2} [8/i, 8/j] : i64 holes at * of %2 keep (j != 5)\n"
                         "transform %4 {i:2, j:2} [8/i, 8/j] : i32 holes at * of %2 cast i32\n"
                         "join %5 C {i:2, j:2} [x:8/i, y:8/j] : i64 at * of %3{i, j} = (&0[x, y] + y)\n"
                         "join %6 D {i:2, j:2} [x:8/i, y:8/j] : i64 at * of %4{i, j} = i64(&0[x, y])\n"
                         "output C [8, 8] = %5\n"
                         "output D [8, 8] = %6\n") ;
  refused(p, 1, "R2-1", NULL, "it does not match");
  refused(p, 2, "R1-1", NULL, "it does not match");
  refused(p, 0, "move insert", &j, "it is not computed");
  refused(p, 3, "move insert", NULL, "d is not given");
  applies(p, 3, "R1-1", NULL);
  OK(find_in(p->top, 2)->kind == ALG_FILTER && find_in(p->top, 2)->operand[0].node->id == 1,
      "the filter that another reads is as it was");
  applies(p, 1, "move drop", NULL);
  OK(find_in(p->top, 1)->kind == ALG_FILTER && find_in(p->top, 1)->at.on[0] == 0,
      "without the broadcast its users are where the input is");
  double bytes;
  OK(answer(p, &bytes) != 0 && bytes == 0, "nothing moves");
  Algebra *two =
      read_well("ia 1\n"
                "mesh 2\n"
                "input %0 X {i:2, j:2} [8/i, 8/j] : i64 at 0\n"
                "input %1 Y {i:2, j:2} [8/i, 8/j] : i64 at 1\n"
                "shuffle %2 {i:2, j:2} [8/i, 8/j] : i64 at 1 of %0\n"
                "join %3 C {i:2, j:2} [x:8/i, y:8/j] : i64 at 1 of %2{i, j}, %1{i, j} = (&0[x, y] + &1[x, y])\n"
                "output C [8, 8] = %3\n");
  refused(two, 2, "move drop", NULL, "%3 would be nowhere");
  applies(two, 3, "R2-6 bmm right", NULL);
  Algebra *q = read_well(loop);
  int64_t want = answer(q, &bytes);
  refused(q, 6, "R2-6", &all, "a state would wander");
  refused(q, 7, "R2-6", &all, "it does not match");
  refused(q, 9, "R1-4 back", NULL, "tail(o) has no value");
  applies(q, 6, "R2-6", &(Placement){.on = {0}});
  applies(q, 5, "R2-1", NULL);
  OK(find_in(q->top, 4)->kind == ALG_JOIN, "a move there and back is none");
  OK(answer(q, &bytes) == want, "the repeat comes to the same");
  refused(q, 7, "R2-4 back", &(Placement){.on = {0}}, "within(d, g) does not hold");
  applies(q, 7, "R2-4 back", &all); /* all of it at each site: the aggregation is finished, and what follows has
                                     * nothing to do */
  OK(find_in(q->top, 8)->at.on[0] == PLACE_ALL, "users have followed");
  OK(answer(q, &bytes) == want, "both give the same answer");
}

/* A[s,d] = E[t[s], d] of rows that the first column of t says, with as many sites as blocks. */
static const char gather[] = "ia 1\n"
                             "mesh 4\n"
                             "input %0 t {s:4} [8/s, 8] : i64 at 0\n"
                             "input %1 E {v:4} [8/v, 8] : i64 at 0\n"
                             "broadcast %2 {v:4} [8/v, 8] : i64 at * of %1\n"
                             "concat %3 {} [8, 8] : i64 at * of %2 by {}\n"
                             "join %4 A {s:4} [s:8/s, d:8] : i64 at 0 of %0{s}, %3{} = &1[(&0[s, 0] % 8), d]\n"
                             "output A [8, 8] = %4\n";

static void test_gather(void) {
  double whole, asked;
  Algebra *p = read_well(gather);
  int64_t want = answer(p, &whole);
  refused(p, 3, "gather by request", NULL, "it does not match");
  applies(p, 4, "gather by request", NULL);
  OK(strstr(text_of(p), "fetch %2 E {s:4} [s:8/s, d:8] : i64 at 0 of %0{s}, %1 = &1[(&0[s, 0] % 8), d]\n"),
      "its places are asked for");
  Algebra *again = read_well(text_of(p));
  Buf why = buf_new(a);
  OK(algebra_equal(p, again, &why), "what comes out is read as it is printed: %s", why.s);
  OK(answer(p, &asked) == want, "the answer is the same");
  OK_INT((int64_t)whole, 8 * 4 * 48, "all of it comes to each site");
  /* t says 0 0, 6 7, 6 0, 5 5: none to the first site, which has row 0, two to the second and the third, to the last
   * one, once */
  OK_INT((int64_t)asked, 5 * (8 + 8 * 8), "five rows come, and as many requests");
}

static void test_sweep(void) {
  Algebra *p = read_well(loop);
  uint32_t n = p->n_nodes;
  algebra_sweep(p, true);
  OK_INT(p->n_nodes, n, "all of it is read");
  p->outputs.at[0].node = find_in(p->top, 0);
  p->outputs.at[0].rank = 2;
  p->outputs.at[0].extent = (int64_t[]){8, 8};
  algebra_sweep(p, true);
  OK_INT(p->n_nodes, 1, "of a repeat that nobody reads nothing is left");
  Buf why = buf_new(a);
  OK(algebra_check(p, &why), "the result of all rules is sound");
}

int main(void) {
  a = arena_new();
  rules = alg_rules_new(a);
  test_product();
  test_grid();
  test_diagonal();
  test_parts();
  test_users();
  test_gather();
  test_sweep();
  return DONE();
}
