/* tests/graph/test_passes.c - what is done to a graph: sound afterwards, the same answers, and for chosen programs just
 * what was meant to happen. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "../../compiler/ein.h"
#include "graph/passes/contract/order.h"
#include "graph/passes/passes.h"
#include "tap.h"

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct Trial {
  Arena *arena;
  Front f;
  const char *name;
  EinGraph *g, *made;
  PassNotes notes;
  Buf why;
} Trial;

static Trial trial(const char *name) {
  Trial t = {.arena = arena_new(), .name = name};
  t.f = (Front){.arena = t.arena, .strings = strings_new(t.arena), .exprs = exprs_new(t.arena),
                .diags = diags_new(t.arena), .stdlib = "stdlib"};
  t.notes = pass_notes(t.arena);
  t.why = buf_new(t.arena);
  return t;
}

static bool elaborate(Trial *t, const Program *p) {
  DimValues none = {0};
  t->g = t->f.diags->errors ? NULL : graph_from_ast(&t->f, p, &none);
  return t->g && !t->f.diags->errors;
}

/* After each pass: sound, and its text reads back to it. */
static void after(void *ctx, const char *pass, const EinGraph *g) {
  Trial *t = ctx;
  Buf text = buf_new(t->arena);
  if (t->why.len) return;
  if (!graph_check(g, &t->why)) {
    buf_printf(&t->why, "(graph_check after %s)\n", pass);
    graph_print(&t->why, g);
    return;
  }
  graph_print(&text, g);
  Diags *d = diags_new(t->arena);
  const EinGraph *again = graph_read(t->arena, t->f.strings, source_new(t->arena, pass, text.s, text.len), d);
  if (!again || d->errors) diags_text(d, &t->why, false);
  else graph_equal(g, again, &t->why);
  if (t->why.len) buf_printf(&t->why, "(the text after %s)\n", pass);
}

static void optimise(Trial *t) {
  t->made = graph_optimise(t->arena, t->g, &(Optimise){.notes = &t->notes, .after = after, .ctx = t});
}

/* ---- data ------------------------------------------------------------------------------------ */

static bool four(void *ctx, Str name, int64_t *out) {
  (void)ctx, (void)name;
  *out = 4;
  return true;
}

static void fill(EvalArray *a, uint32_t seed) {
  for (int64_t k = 0; k < a->count; k++) {
    seed = seed * 1664525u + 1013904223u;
    int n = (int)(seed >> 24) % 4;
    double x = ((int)(seed >> 24) - 128) / 32.0;
    switch (a->dtype) {
    case DT_F64: ((double *)a->data)[k] = x; break;
    case DT_F32: ((float *)a->data)[k] = (float)x; break;
    case DT_F16: ((uint16_t *)a->data)[k] = ein_f32_to_f16((float)x); break;
    case DT_BF16: ((uint16_t *)a->data)[k] = ein_f32_to_bf16((float)x); break;
    case DT_I64: ((int64_t *)a->data)[k] = n; break;
    case DT_I32: ((int32_t *)a->data)[k] = n; break;
    case DT_I16: ((int16_t *)a->data)[k] = (int16_t)n; break;
    default: ((uint8_t *)a->data)[k] = (uint8_t)(n % (a->dtype == DT_BOOL ? 2 : 4)); break;
    }
  }
}

static EvalStatus compute(const Trial *t, const EinGraph *g, Eval *e, const char **error) {
  EvalInput *in = NEW_ARRAY(t->arena, EvalInput, g->inputs.len + 1);
  EvalDim *dim = NEW_ARRAY(t->arena, EvalDim, g->dims.len + 1);
  ExprEnv env = {.dim = four};
  Place place;
  *e = (Eval){.arena = t->arena, .graph = g, .dim = dim, .input = in, .max_bytes = 1 << 26};
  for (uint32_t i = 0; i < g->dims.len; i++)
    if (!g->dims.at[i].known) dim[e->n_dim++] = (EvalDim){g->dims.at[i].name, 4};
  for (uint32_t i = 0; i < g->inputs.len; i++) {
    const EinNode *n = g->inputs.at[i];
    if (n->fallback) continue;
    EvalArray a = {.dtype = n->dtype, .rank = n->rank, .count = 1, .shape = NEW_ARRAY(t->arena, int64_t, n->rank + 1)};
    for (uint32_t k = 0; k < n->rank; k++) {
      Value v = {0};
      expr_value(n->dim[k], &env, &v);
      a.shape[k] = v.i;
      a.count *= v.i;
    }
    a.data = arena_alloc(t->arena, (size_t)a.count * 8 + 8);
    fill(&a, i + 1);
    in[e->n_input++] = (EvalInput){n->name, a};
  }
  return graph_eval(e, error, &place);
}

static double bound_of(DType t) {
  return t == DT_F64 ? 1e-9 : t == DT_F32 ? 2e-5 : 2e-2;
}

static bool same_array(Trial *t, const EvalArray *a, const EvalArray *b, const char *name) {
  double most = 1;
  bool real = dtype_is_float(a->dtype);
  if (a->dtype != b->dtype || a->rank != b->rank || a->count != b->count) {
    buf_printf(&t->why, "%s has another shape\n", name);
    return false;
  }
  for (int64_t k = 0; k < a->count && real; k++)
    if (isfinite(eval_real(a, k))) most = fmax(most, fabs(eval_real(a, k)));
  for (int64_t k = 0; k < a->count; k++) {
    bool has = !a->has || a->has[k], too = !b->has || b->has[k];
    double x = real ? eval_real(a, k) : 0, y = real ? eval_real(b, k) : 0;
    bool same = real ? x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= most * bound_of(a->dtype)
                     : eval_int(a, k) == eval_int(b, k);
    if (has == too && (!has || same)) continue;
    buf_printf(&t->why, "%s, element %lld: %.17g (%lld) and %.17g (%lld)\n", name, (long long)k, x,
               (long long)(real ? 0 : eval_int(a, k)), y, (long long)(real ? 0 : eval_int(b, k)));
    return false;
  }
  return true;
}

/* What eval goes over, a turn of a loop counted once; sizes without value count as 1. */
static double points_of(const EinRegion *r) {
  double all = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i];
    double points = n->kind == EIN_VERTEX ? 1 : 0;
    for (uint32_t l = 0; points > 0 && l < n->sum->n_out + n->sum->n_red; l++)
      if (n->bound[l]->kind == EX_INT) points *= (double)n->bound[l]->i;
    all += points + (n->body ? points_of(n->body) : 0);
  }
  return all;
}

/* 1: the same answers; 0: the old one has none, or the sizes are there for what is left alone; -1: different, and
 * t->why says how. */
static int same_answers(Trial *t) {
  Eval a, b;
  const char *error = "", *error2 = "";
  if (points_of(t->g->top) > TRIES(1e7)) return 0;
  EvalStatus before = compute(t, t->g, &a, &error), then = compute(t, t->made, &b, &error2);
  if (before != EVAL_OK) {
    if (then == before || before == EVAL_RANGE || before == EVAL_MEMORY) return 0;
    buf_printf(&t->why, "status %d (%s), then %d (%s)\n", before, error, then, error2);
    return -1;
  }
  if (then != EVAL_OK) {
    buf_printf(&t->why, "now it fails: %s\n", error2);
    return -1;
  }
  for (uint32_t i = 0; i < t->g->outputs.len; i++)
    if (!same_array(t, &a.output[i], &b.output[i], t->g->outputs.at[i].name->s)) return -1;
  return 1;
}

/* ---- every program there is ------------------------------------------------------------------ */

typedef struct Totals { uint32_t programs, computed, vertices, left, shapes; } Totals;

static uint32_t count_vertices(const EinRegion *r) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    n += r->nodes.at[i]->kind == EIN_VERTEX;
    if (r->nodes.at[i]->kind == EIN_REPEAT) n += count_vertices(r->nodes.at[i]->body);
  }
  return n;
}

/* Lines of tests/shape, told of what is left in the end:
 *   # shape: vertices N                 so many
 *   # shape: done PASS: WHAT: N         the notes say so
 *   # shape: has TEXT                   the graph's text has this in it; hasnt: it has not */
static bool shape_line(Trial *t, const char *line, const char *text) {
  char *copy = arena_printf(t->arena, "%s", line), *word = strtok(copy, " "), *rest = strtok(NULL, "");
  if (strcmp(word, "has") == 0) return strstr(text, rest) != NULL;
  if (strcmp(word, "hasnt") == 0) return strstr(text, rest) == NULL;
  if (strcmp(word, "vertices") == 0) return count_vertices(t->made->top) == (uint32_t)atoi(rest);
  if (strcmp(word, "done") != 0) return false;
  char *pass = strtok(rest, ":"), *what = strtok(NULL, ":"), *n = strtok(NULL, "");
  return pass && what && n && pass_count(&t->notes, pass, what + 1) == (uint32_t)atoi(n);
}

static void shape(Trial *t, const char *path, Totals *sum) {
  FILE *f = fopen(path, "rb");
  char *bytes = arena_alloc(t->arena, 65536), *s = bytes;
  if (!f) return;
  bytes[fread(bytes, 1, 65535, f)] = 0;
  fclose(f);
  Buf text = buf_new(t->arena);
  graph_print(&text, t->made);
  while (s && (s = strstr(s, "# shape: ")) != NULL) {
    s += strlen("# shape: ");
    char *line = arena_printf(t->arena, "%.*s", (int)strcspn(s, "\n"), s);
    sum->shapes++;
    if (shape_line(t, line, text.s)) continue;
    OK(false, "%s: %s", path, line);
    tap_text("the graph", text.s);
    for (uint32_t i = 0; i < t->notes.all.len; i++)
      printf("# %s: %s: %u\n", t->notes.all.at[i].pass, t->notes.all.at[i].what, t->notes.all.at[i].count);
  }
}

static void try_file(const char *path, Totals *sum) {
  Trial t = trial(path);
  if (elaborate(&t, program_read(&t.f, path))) {
    optimise(&t);
    shape(&t, path, sum);
    int same = t.why.len ? -1 : same_answers(&t);
    sum->programs++;
    sum->computed += same == 1;
    sum->vertices += count_vertices(t.g->top);
    sum->left += count_vertices(t.made->top);
    if (same < 0) {
      OK(false, "%s", path);
      tap_text("why", t.why.s);
      Buf text = buf_new(t.arena);
      graph_print(&text, t.g);
      buf_str(&text, "--- then\n");
      graph_print(&text, t.made);
      tap_text("graphs", text.s);
    }
  } else if (strstr(path, "shape")) {
    Buf b = buf_new(t.arena);
    diags_text(t.f.diags, &b, false);
    OK(false, "%s is a program", path);
    tap_text("complaints", b.s);
  }
  arena_free(t.arena);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static void try_folder(const char *folder, Totals *sum) {
  struct dirent **all;
  int n = scandir(folder, &all, NULL, by_name);
  for (int i = 0; i < n; i++) {
    size_t len = strlen(all[i]->d_name);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, all[i]->d_name);
    if (len > 4 && strcmp(all[i]->d_name + len - 4, ".ein") == 0) try_file(path, sum);
    free(all[i]);
  }
  if (n >= 0) free(all);
}

static void try_all(void) {
  static const char *const folders[] = {"tests/run", "tests/graph", "tests/shape", "samples", "stdlib/examples"};
  Totals sum = {0};
  for (size_t i = 0; i < COUNT(folders); i++) try_folder(folders[i], &sum);
  OK(sum.programs > 200 && sum.computed * 10 > sum.programs * 8,
     "all programs: %u optimised, %u computed before and after, %u vertices became %u", sum.programs, sum.computed,
     sum.vertices, sum.left);
  OK(sum.shapes > 80, "%u lines about shapes hold, but for those above", sum.shapes);
}

/* ---- orders of contraction ------------------------------------------------------------------- */

static uint32_t dice(uint32_t n) {
  static uint64_t seed = 1;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

/* The fewest operations of any tree over what is left, tried out one pair after the other. */
static double brute(const OrderProblem *p, uint64_t *left, uint32_t n, double so_far, double best) {
  if (n == 1) return so_far < best ? so_far : best;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n; j++) {
      uint64_t next[ORDER_OPERANDS], others = 0, space = left[i] | left[j];
      uint32_t m = 0;
      for (uint32_t k = 0; k < n; k++)
        if (k != i && k != j) others |= next[m++] = left[k];
      if (n == 2) space |= p->last;
      next[m++] = n == 2 ? p->out : space & (others | p->keep);
      double ops = order_points(p, space) * (next[m - 1] == space ? 1 : 2);
      best = brute(p, next, m, so_far + ops, best);
    }
  return best;
}

static double brute_best(const OrderProblem *p) {
  uint64_t left[ORDER_OPERANDS];
  double ops = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    uint64_t others = p->keep;
    for (uint32_t k = 0; k < p->n; k++)
      if (k != i) others |= p->operand[k];
    left[i] = p->operand[i] & others;
    if (left[i] != p->operand[i]) ops += order_points(p, p->operand[i]);
  }
  return brute(p, left, p->n, ops, (double)INFINITY);
}

static OrderProblem random_problem(uint32_t n, uint32_t labels) {
  OrderProblem p = {.n = n};
  uint64_t all = 0;
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 1 + dice(3); k > 0; k--) p.operand[i] |= (uint64_t)1 << dice(labels);
    all |= p.operand[i];
  }
  for (uint32_t k = 0; k < labels; k++) {
    p.size[k] = 1 + dice(20);
    if (dice(3) == 0) p.out |= ((uint64_t)1 << k) & all;
  }
  p.keep = p.out | (all & ((uint64_t)1 << dice(labels)) & (dice(4) ? 0 : UINT64_MAX));
  p.last = p.keep;
  return p;
}

static void try_orders(void) {
  uint32_t wrong = 0, far = 0;
  for (uint32_t i = 0; i < 400; i++) {
    OrderProblem p = random_problem(2 + i % 6, 3 + dice(5));
    OrderTree t, greedy;
    int64_t much = 1 << 30, none = 0;
    order_best(&p, &much, &t);
    order_best(&p, &none, &greedy);
    double best = brute_best(&p);
    wrong += fabs(t.ops - best) > 1e-9 * best || greedy.ops < best * (1 - 1e-9); /* greedy from 7 on */
    far += greedy.ops > 2 * best;
  }
  OK_INT(wrong, 0, "400 products of 2 to 7 operands: as few operations as in the best of all trees");
  OK(far < 40, "greedy orders are within twice of that, but for %u", far);
}

/* Each label of a node once among its axes. */
static bool axes_are_sound(const OrderNode *x) {
  uint64_t met = 0;
  for (uint32_t k = 0; met != x->labels; k++) {
    uint64_t bit = (uint64_t)1 << x->axis[k];
    if (k == ORDER_LABELS || !(x->labels & bit) || met & bit) return false;
    met |= bit;
  }
  return true;
}

static void try_weights(void) {
  uint32_t wrong = 0, dearer = 0, other = 0;
  for (uint32_t i = 0; i < 400; i++) {
    OrderProblem p = random_problem(2 + i % 8, 3 + dice(8));
    OrderTree t, plain;
    int64_t much = i % 3 ? 1 << 30 : 0;
    for (uint32_t k = 0; k < p.n; k++)
      for (uint32_t l = 0, n = 0; l < ORDER_LABELS; l++)
        if (p.operand[k] >> l & 1) p.axis[k][n++] = (uint8_t)l;
    order_best(&p, &much, &plain);
    p.store = p.copy = 8;
    order_best(&p, &much, &t);
    for (uint32_t k = 0; k < t.n; k++) wrong += !axes_are_sound(&t.node[k]);
    wrong += t.cost < t.ops || fabs(plain.cost - plain.ops) > 1e-9 * plain.ops;
    dearer += i % 3 && t.ops < plain.ops * (1 - 1e-9);
    other += t.ops > plain.ops;
  }
  OK_INT(wrong, 0, "400 products with weights: axes are their labels, and memory adds to the cost");
  OK_INT(dearer, 0, "no order that minds memory takes fewer operations than the one that does not");
  OK(other > 20, "%u take more", other);
}

/* Matrix chains have an order of their own, found by the textbook's O(n^3). */
static double chain_best(const double *size, uint32_t n) {
  double best[ORDER_OPERANDS][ORDER_OPERANDS] = {{0}};
  for (uint32_t len = 2; len <= n; len++)
    for (uint32_t i = 0; i + len <= n; i++) {
      uint32_t j = i + len - 1;
      best[i][j] = (double)INFINITY;
      for (uint32_t k = i; k < j; k++)
        best[i][j] = fmin(best[i][j], best[i][k] + best[k + 1][j] + 2 * size[i] * size[k + 1] * size[j + 1]);
    }
  return best[0][n - 1];
}

static void try_chains(void) {
  uint32_t wrong = 0, far = 0;
  for (uint32_t i = 0; i < 40; i++) {
    uint32_t n = i < 30 ? 10 : 40;
    OrderProblem p = {.n = n, .out = 1 | (uint64_t)1 << n};
    OrderTree t;
    int64_t budget = 1 << 30;
    for (uint32_t k = 0; k <= n; k++) p.size[k] = 2 + dice(60);
    for (uint32_t k = 0; k < n; k++) p.operand[k] = (uint64_t)3 << k;
    p.keep = p.last = p.out;
    order_best(&p, &budget, &t);
    double best = chain_best(p.size, n);
    if (i < 30) wrong += fabs(t.ops - best) > 1e-9 * best;
    else far += t.ops > best * 1.1 || t.ops < best * (1 - 1e-9);
  }
  OK_INT(wrong, 0, "chains of 10 matrices: the best order");
  OK_INT(far, 0, "chains of 40: greedily and mended, at most a tenth more");
}

/* ---- time ------------------------------------------------------------------------------------ */

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Many vertices of a kind, each reading some before it. */
static const char *many(Arena *a, uint32_t n, int kind) {
  Buf b = buf_new(a);
  buf_str(&b, "input X0[i:8,j:8] : f64\n");
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t k = i - 1 - dice(i < 10 ? i : 10);
    switch (kind) {
    case 0: buf_printf(&b, "X%u[i,j] = X%u[i,j] * 1.0 + X%u[j,i]\n", i, i - 1, k); break;
    case 1: buf_printf(&b, "X%u[i,j] = sum[k,l] X%u[i,k] * X%u[k,l] * X%u[l,j] * 0.5\n", i, i - 1, k, k); break;
    case 2:
      buf_printf(&b, "X%u[i:8,j:8] = sum[k where k <= i + %u] (if k + 1 < 8 then X%u[i,k+1] else X%u[k,j])\n", i, i % 9,
                 i - 1, k);
      break;
    default: buf_printf(&b, "X%u[i:8,j] = sum[k,l where k == i] X%u[k,l] * X%u[l,j]\n", i, i - 1, k); break;
    }
  }
  buf_printf(&b, "output Z[i,j] = X%u[i,j]\n", n);
  return b.s;
}

static void try_time(const char *what, uint32_t n, int kind) {
  Trial t = trial(what);
  const char *text = many(t.arena, n, kind);
  if (!elaborate(&t, program_from_text(&t.f, what, text, strlen(text)))) {
    OK(false, "%s is a program", what);
    return;
  }
  const EinGraph *now = t.g;
  double all = seconds_now();
  Buf said = buf_new(t.arena);
  for (uint32_t i = 0; i < GRAPH_PASSES; i++) {
    double from = seconds_now();
    now = pass_info[i].run(t.arena, now, &t.notes);
    buf_printf(&said, " %s %.3f", pass_info[i].name, seconds_now() - from);
  }
  all = seconds_now() - all;
  OK(all < 30, "%u vertices, %s: seconds%s; %u left", n, what, said.s, count_vertices(now->top));
  OK(graph_check(now, &t.why), "and sound");
  arena_free(t.arena);
}

int main(void) {
  try_all();
  try_orders();
  try_weights();
  try_chains();
  try_time("sums of maps", TRIES(10000), 0);
  try_time("chains of products", TRIES(10000), 1);
  try_time("conditions", TRIES(10000), 2);
  try_time("pinned labels", TRIES(10000), 3);
  return DONE();
}
