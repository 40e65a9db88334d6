/* tests/algebra/programs.c - every program by relations, on many sites, against graph_eval.
 *
 *     programs [--sites=1,2,3] [--tries=2] [--seed=1] [--every=100] [--part=1/4] [--turns=2] [--optimised] [--steps]
 * [--tell] (FILE [-D NAME=N]...)...
 *
 * Each file is read, with the sizes that stand behind it, given inputs and computed as `ein verify` does. Then, for
 * each number of sites: the plan that `ein plan` finds, and `tries` random ones (what each axis cuts, and homes), each
 * as a Tra, as the Ia of Table 1 and as the Ia of the plan, as what rules make of the first towards the second (and
 * after one of these rules, or with --steps after each), and as tasks; and `tries` Tra of random legal counts
 * (part_viable); and, where there are no more than `every` plans on the mesh of prime factors, all of them. All must give the same answers, integers and bools bit for bit, floats as near as `ein
 * verify` asks; what fails must fail. Where nothing is filtered out, what the Ia's sites received must be what
 * algebra_cost counts. Each must be sound for the checker, too. With
 * --optimised it is the graph after its passes that is planned. Every program is computed in a process of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../compiler/ein.h"
#include "algebra/cost.h"
#include "algebra/rules/derive.h"
#include "driver/driver.h"
#include "driver/compile/native.h"
#include "plan/placing/fit.h"
#include "../harness/cuts.h"
#include "task/sites/from_ia.h"
#include "task/sites/site_eval.h"
#include "../task/sums.h"

enum { SITES_MOST = 32 };
#define BUDGET 1e7

typedef struct Options {
  uint32_t n;
  int64_t sites[SITES_MOST];
  uint32_t tries;
  uint32_t every;            /* where there are no more than so many plans, all of them are tried */
  uint64_t seed;
  bool optimised, steps;     /* steps: all rules of a derivation, not one of them */
  bool tell;                 /* why there are no tasks of a plan */
  unsigned part, parts;      /* of the files only each `parts`-th, from the `part`-th on */
  unsigned turns;            /* where EIN_TURN is a number, of these only each `turns`-th: whose turn it is */
} Options;

typedef struct Tally { uint32_t runs, wrong, failed, bytes, skipped, tasks, no_tasks, every, derived, not_derived; } Tally;

typedef struct Try {         /* one program */
  const Options *o;
  Session *s;
  const char *path;
  char **dims;               /* -D NAME=N -D .. */
  Job job;
  Expects expects;
  Eval eval;
  EvalStatus status;
  AlgGiven *given;
  const EinGraph *graph;     /* that is planned */
  const PartGraph *part;
  PlaceGraph *places;
  const Lives *lives;
  const Rules *rules;
  Rng random;
  double moved;              /* by the program over relations at hand */
  Tally tally;
} Try;

/* ---- answers ------------------------------------------------------------------------------------------ */

static bool masks_same(const EvalArray *a, const EvalArray *b) {
  for (int64_t k = 0; k < a->count; k++)
    if ((!a->has || a->has[k]) != (!b->has || b->has[k])) return false;
  return true;
}

static bool output_same(Try *t, const EinOutput *o, const EvalArray *got, const EvalArray *want, const char **why) {
  Arena *a = t->s->arena;
  bool shape = got->dtype == want->dtype && got->rank == want->rank && got->count == want->count &&
               (!got->rank || memcmp(got->shape, want->shape, got->rank * sizeof *got->shape) == 0);
  if (!shape) return *why = arena_printf(a, "%s has another shape", o->name->s), false;
  if (!masks_same(got, want)) return *why = arena_printf(a, "%s has values elsewhere", o->name->s), false;
  bool real = dtype_is_float(want->dtype);
  double bound = !real ? 0 : t->expects.bound >= 0 ? t->expects.bound : distance_bound(a, t->job.graph, o->node);
  Distance d = distance(got, want, bound, 0, NULL, NULL);
  if (!d.wrong) return true;
  double g = real ? eval_real(got, d.first) : (double)eval_int(got, d.first),
         w = real ? eval_real(want, d.first) : (double)eval_int(want, d.first);
  *why = arena_printf(a, "%s: %lld of %lld wrong, element %lld is %.17g, want %.17g", o->name->s, (long long)d.wrong,
      (long long)want->count, (long long)d.first, g, w);
  return false;
}

static void wrong(Try *t, const char *what, const char *why) {
  t->tally.wrong++;
  printf("WRONG %s: %s: %s\n", t->path, what, why);
  fflush(stdout);
}

/* ---- one run ------------------------------------------------------------------------------------------- */

static bool has_filter(const AlgRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const AlgNode *n = r->nodes.at[i];
    if (n->kind == ALG_FILTER ||
        (n->kind == ALG_REPEAT && (n->body->stop || n->body->turns < 0 || has_filter(n->body))))
      return true;
  }
  return false;
}

/* What fetches bring hangs on data: no more than their cost. *least: the cost without them. */
static bool fetches_check(const Algebra *p, const AlgRegion *r, const AlgRun *run, double *least) {
  bool ok = true;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const AlgNode *n = r->nodes.at[i];
    if (n->kind == ALG_REPEAT) ok = fetches_check(p, n->body, run, least) && ok;
    if (n->kind != ALG_FETCH) continue;
    double most = alg_times(r) * alg_move_cost(p, n).bytes;
    ok = ok && run->moved[n->id] <= most;
    *least -= most - run->moved[n->id];
  }
  return ok;
}

static void bytes_check(Try *t, const Algebra *p, const AlgRun *r, const char *what) {
  double moved = 0;
  AlgCost cost = algebra_cost(p);
  for (uint32_t k = 0; k < p->n_nodes; k++) moved += r->moved[k];
  t->moved = moved;
  if (!cost.known || has_filter(p->top)) return;
  t->tally.bytes++;
  if (!fetches_check(p, p->top, r, &cost.bytes)) wrong(t, what, "a fetch brings more than it can cost");
  if (moved != cost.bytes)
    wrong(t, what, arena_printf(t->s->arena, "%.0f bytes received, and the cost is %.0f", moved, cost.bytes));
}

static void algebra_try(Try *t, const Algebra *p, const char *what) {
  Arena *a = arena_new();
  AlgRun r = {.arena = a, .program = p, .input = t->given, .n_input = t->job.graph->inputs.len};
  const char *why = NULL;
  Place place;
  Buf said = buf_new(a);
  t->tally.runs++;
  if (!algebra_check(p, &said)) wrong(t, what, arena_printf(t->s->arena, "not sound: %s", said.s));
  bool ok = algebra_eval(&r, &why, &place);
  if (ok != (t->status == EVAL_OK))
    wrong(t, what, ok ? "it succeeds, and should not" : arena_printf(t->s->arena, "%s", why));
  else if (!ok) t->tally.failed++;
  for (uint32_t k = 0; ok && t->status == EVAL_OK && k < p->outputs.len; k++) {
    EvalArray got = eval_array_of(&r.output[k]);
    if (output_same(t, &t->job.graph->outputs.at[k], &got, &t->eval.output[k], &why)) continue;
    wrong(t, what, arena_printf(t->s->arena, "%s", why));
    break;
  }
  if (ok && p->placed) bytes_check(t, p, &r, what);
  arena_free(a);
}

/* ---- the same as tasks --------------------------------------------------------------------------------------- */

static bool repeats(const TaskGraph *g) {
  for (uint32_t i = 0; i < g->tasks.len; i++)
    if (g->tasks.at[i]->kind == TASK_REPEAT) return true;
  return false;
}

/* Its bytes are told as of a reduction in two steps. */
static bool reduces_to_all(const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->move == MOVE_ALL_REDUCE || reduces_to_all(&list->at[i]->body)) return true;
  return false;
}

static bool fetches(const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->kind == TASK_FETCH || fetches(&list->at[i]->body)) return true;
  return false;
}

/* What the evaluator met, and what is told before a run: of each site, of the busiest, and that none has less. */
static void tasks_measure(
    Try *t, const Algebra *p, const TaskGraph *g, const SiteRun *r, const char *what, bool exact) {
  AlgCost cost = algebra_cost(p);
  uint32_t at[MESH_AXES + 1];
  bool turns = repeats(g);
  int64_t most = 0, staged = 0;
  for (int64_t s = 0; s < mesh_sites(&g->mesh); s++) {
    mesh_place(&g->mesh, s, at);
    int64_t told = task_peak(g, at, false), all = task_peak(g, at, true);
    most = told > most ? told : most;
    staged = all > staged ? all : staged;
    if (r->peak[s] > told || (!turns && r->peak[s] != told))
      wrong(t, what,
          arena_printf(t->s->arena, "site %lld had %lld bytes, and is told to have %lld", (long long)s,
              (long long)r->peak[s], (long long)told));
  }
  double least = memory_least(t->places, mesh_sites(&g->mesh));
  if (task_peak_most(g) != staged)
    wrong(t, what,
        arena_printf(t->s->arena, "the busiest site has %lld bytes, and is told to have %lld", (long long)staged,
            (long long)task_peak_most(g)));
  if (least > (double)most * (1 + 1e-12))
    wrong(t, what,
        arena_printf(t->s->arena, "none is to have less than %.1f bytes, and this has %lld", least, (long long)most));
  if (!cost.known || has_filter(p->top) || !exact) return;
  if (r->moved != t->moved)
    wrong(t, what, arena_printf(t->s->arena, "tasks: %.0f bytes received, and as relations %.0f", r->moved, t->moved));
  if (fetches(&g->tasks) && r->moved > task_received(g)) wrong(t, what, "tasks: a fetch brings more than is told");
  /* of a fetch the most is told; tasks may know better where places can be, since who computes them may have been
   * joined with who asks */
  bool as_told = fetches(&g->tasks) ? task_received(g) <= cost.bytes : task_received(g) == cost.bytes;
  if (!as_told && !reduces_to_all(&g->tasks))
    wrong(t, what,
        arena_printf(t->s->arena, "tasks: %.0f bytes told, and the cost is %.0f", task_received(g), cost.bytes));
}

static TaskGraph *tasks_reread(Try *t, Arena *a, const TaskGraph *g, const char *what) {
  Buf text = buf_new(a), why = buf_new(a);
  Diags *d = diags_new(a);
  task_print(&text, g);
  if (!task_check(g, &why)) wrong(t, what, arena_printf(t->s->arena, "tasks are not sound: %s", why.s));
  TaskGraph *u = task_read(a, t->s->strings, source_new(a, "the tasks", text.s, text.len), d);
  if (!u) diags_text(d, &why, false);
  if (!u || !task_equal(g, u, &why))
    return wrong(t, what, arena_printf(t->s->arena, "tasks do not read back: %s", why.s)), NULL;
  return u;
}

/* `exact`: a site has one tuple of each relation; of several that lie together less may move than one by one. */
static void tasks_try(Try *t, const Algebra *p, const char *what, bool exact) {
  Arena *a = arena_new();
  Buf said = buf_new(a);
  const char *why = NULL;
  Place place;
  TaskGraph *g = task_from_ia(a, p, &said);
  t->tally.tasks += g != NULL;
  t->tally.no_tasks += g == NULL;
  if (!g && t->o->tell) printf("no tasks %s: %s: %s\n", t->path, what, said.s);
  if (g) g = tasks_reread(t, a, g, what);
  SiteRun r = {.arena = a, .tasks = g, .input = t->given, .n_input = t->job.graph->inputs.len};
  bool ok = g && site_eval(&r, &why, &place);
  if (g && ok != (t->status == EVAL_OK))
    wrong(t, what, ok ? "tasks succeed, and should not" : arena_printf(t->s->arena, "tasks: %s", why));
  for (uint32_t k = 0; ok && t->status == EVAL_OK && k < p->outputs.len; k++) {
    EvalArray got = eval_array_of(&r.output[k]);
    if (!output_same(t, &t->job.graph->outputs.at[k], &got, &t->eval.output[k], &why))
      wrong(t, what, arena_printf(t->s->arena, "tasks: %s", why));
  }
  if (ok && t->status == EVAL_OK) tasks_measure(t, p, g, &r, what, exact);
  arena_free(a);
}

/* ---- plans ------------------------------------------------------------------------------------------------ */

typedef struct Derived { Try *t; Algebra *ia; uint32_t rules, only; } Derived;

/* What a rule leaves computes the same: after each of them, or after one. */
static void rule_applied(void *ctx, const Rule *rule, const AlgNode *at) {
  Derived *x = ctx;
  if (x->rules++ != x->only && !x->t->o->steps) return;
  algebra_try(x->t, x->ia, arena_printf(x->t->s->arena, "after %s, rule %u, at %%%u", rule->name, x->rules, at->id));
}

/* From Table 1 by rules to the plan, or as far towards it as they lead. */
static void derivation_try(Try *t, Algebra *ia, const Algebra *plan, const char *what) {
  Derived x = {.t = t, .ia = ia, .only = below(&t->random, 16)};
  Derivation how = {t->rules, rule_applied, &x};
  bool leads = algebra_derive(ia, plan, &how);
  t->tally.derived += leads;
  t->tally.not_derived += !leads;
  algebra_try(t, ia, what);
}

static void placing_try(Try *t, const Placing *x, int64_t sites, const char *who) {
  Arena *a = t->s->arena;
  Cutting c = cutting_of_placing(a, t->places, x);
  algebra_try(t, tra_from_graph(a, t->graph, &c), arena_printf(a, "tra, %lld sites, %s", (long long)sites, who));
  Algebra *ia = ia_from_graph(a, t->graph, &c), *plain = ia_plain_from_graph(a, t->graph, &c);
  algebra_try(t, ia, arena_printf(a, "ia, %lld sites, %s", (long long)sites, who));
  tasks_try(t, ia, arena_printf(a, "tasks, %lld sites, %s", (long long)sites, who), true);
  if (sites == 1) return;
  algebra_try(t, plain, arena_printf(a, "ia of Table 1, %lld sites, %s", (long long)sites, who));
  tasks_try(t, plain, arena_printf(a, "tasks of Table 1, %lld sites, %s", (long long)sites, who), false);
  derivation_try(t, plain, ia, arena_printf(a, "derived ia, %lld sites, %s", (long long)sites, who));
}

static void plan_try(Try *t, int64_t sites) {
  uint32_t which;
  Plan none = {.sites = sites};
  PartVectors *only = plan_said(t->s->arena, t->part, sites, &none, t->s->diags);
  Placing *x = placing_best(t->s->arena, t->places, sites, only, BUDGET, &which);
  if (x) placing_try(t, x, sites, "planned");
  else t->tally.skipped++;
}

static void random_try(Try *t, int64_t sites) {
  placing_try(t, placing_chance(t->s->arena, t->places, sites, &t->random), sites, "at random");
}

static void counts_try(Try *t, int64_t sites) {
  Arena *a = t->s->arena;
  Cutting c = cutting_of_counts(t->places, counts_chance(a, t->part, sites, &t->random));
  algebra_try(t, tra_from_graph(a, t->graph, &c), arena_printf(a, "tra, %lld calls, at random", (long long)sites));
}

/* ---- every plan of a small program ------------------------------------------------------------------------- */

/* One axis of one vertex or home: the labels or dimensions that it can cut, and none. */
typedef struct Choice { int8_t *on; uint32_t axis, n; const int64_t *most; } Choice;
typedef VEC(Choice) Choices;

static void choices_add(Arena *a, Choices *all, const Mesh *m, int8_t *on, uint32_t n, const int64_t *most) {
  for (uint32_t k = 0; k < m->n; k++) {
    on[k] = PLACE_ALL;
    vec_push(a, *all, ((Choice){on + k, k, n, most}));
  }
}

/* The next label that has room for the axis, with what those before it took; false, and none, after the last. */
static bool choice_next(const Mesh *m, const Choice *c) {
  while (++*c->on < (int)c->n) {
    int64_t room = c->most[*c->on];
    for (uint32_t k = 0; k < c->axis; k++)
      if (c->on[(int)k - (int)c->axis] == *c->on) room /= m->size[k];
    if (room >= m->size[c->axis]) return true;
  }
  *c->on = PLACE_ALL;
  return false;
}

/* The next plan: the last axis goes first. */
static bool choices_next(const Mesh *m, const Choices *all) {
  for (uint32_t i = all->len; i-- > 0;)
    if (choice_next(m, &all->at[i])) return true;
  return false;
}

static void every_try(Try *t, int64_t sites) {
  Arena *a = t->s->arena;
  uint32_t n = t->part->vertices.len, tensors = t->places->tensors.len, plans = 1;
  Placing x = {.mesh = mesh_of_primes(sites),
      .label = NEW_ARRAY(a, int8_t *, n + 1),
      .home = NEW_ARRAY(a, Placement, tensors + 1)};
  Choices all = {0};
  for (uint32_t i = 0; i < n; i++) {
    const PartVertex *v = &t->part->vertices.at[i];
    x.label[i] = NEW_ARRAY(a, int8_t, MESH_AXES);
    if (v->node->kind == EIN_VERTEX) choices_add(a, &all, &x.mesh, x.label[i], v->n_label, v->most);
    else memset(x.label[i], PLACE_ALL, MESH_AXES);
  }
  for (uint32_t i = 0; i < tensors; i++)
    choices_add(a, &all, &x.mesh, x.home[i].on, t->places->tensors.at[i].n, t->places->tensors.at[i].most);
  while (plans <= t->o->every && choices_next(&x.mesh, &all)) plans++;
  if (plans > t->o->every) return;
  for (uint32_t i = 0; i < all.len; i++) *all.at[i].on = PLACE_ALL;
  do placing_try(t, &x, sites, "each");
  while (choices_next(&x.mesh, &all));
  t->tally.every++;
}

/* ---- one program ------------------------------------------------------------------------------------------- */

/* As `ein verify` has it. False: there is nothing to compare with. */
static bool program_read_in(Try *t) {
  Args said = {.command = CMD_VERIFY}, all = {0};
  Words inputs = {0};
  Givens given = {0};
  Session *s = t->s;
  for (char **w = t->dims; w[0] && w[1] && strcmp(w[0], "-D") == 0; w += 2)
    vec_push(s->arena, said.given[OPT_DIM], w[1]);
  if (job_read(s, &t->job, &said, t->path)) return false;
  const AstFile *file = job_file(&t->job);
  all = said;
  if (file && expects_read(s, file, t->path, &t->expects)) return false;
  if (comment_words(s, &t->expects, t->path, &said, &all, &inputs)) return false;
  if (job_dims(s, &t->job, &all) || given_find(s, &t->job, &all, &inputs, &given) || job_graph(s, &t->job, &all))
    return false;
  given_fill(s, &t->job, &given);
  if (run_inputs(s, &t->job, &given, &t->eval)) return false;
  run_eval(s, &t->eval, &t->status);
  return t->status == EVAL_OK || t->status == EVAL_RANGE || t->status == EVAL_ASSERT;
}

static void program_try(Try *t) {
  Buf why = buf_new(t->s->arena);
  t->s->capture = true;
  t->expects.bound = -1;
  bool ok = program_read_in(t);
  if (ok)
    t->given = NEW_ARRAY(t->s->arena, AlgGiven, t->job.graph->inputs.len + 1),
    ok = inputs_find(t->s->arena, &t->eval, t->given);
  if (ok) t->graph = t->o->optimised ? graph_optimise(t->s->arena, t->job.graph, NULL) : t->job.graph;
  if (ok && extern_count(t->graph->exprs)) return; /* nothing here loads C functions: cmd/extern and the runs on many
                                                    * sites do */
  if (!ok || !(t->part = part_from_graph(t->s->arena, t->graph, &why))) {
    printf("skipped %s: %s\n", t->path, why.len ? why.s : t->s->captured.len ? t->s->captured.at[0] : "");
    t->tally.skipped++;
    return;
  }
  t->places = place_graph(t->s->arena, t->part);
  t->lives = lives_find(t->s->arena, t->places);
  for (uint32_t i = 0; i < t->o->n; i++) {
    plan_try(t, t->o->sites[i]);
    every_try(t, t->o->sites[i]);
    for (uint32_t k = 0; k < t->o->tries; k++) random_try(t, t->o->sites[i]), counts_try(t, t->o->sites[i]);
  }
}

/* In a process of its own; from its folder, as paths in comments are meant. Its sizes stand behind it. */
static Tally program_run_in_child(const Options *o, char **words) {
  const char *path = *words;
  Tally none = {.wrong = 1}, got;
  int pipe_to[2], status;
  if (pipe(pipe_to)) return none;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    Try t = {.o = o, .s = session_new(NULL), .path = path, .dims = words + 1, .random = {o->seed}};
    t.rules = alg_rules_new(t.s->arena);
    const char *slash = strrchr(path, '/');
    if (slash && chdir(folder_of(t.s->arena, path)) == 0) t.path = slash + 1;
    program_try(&t);
    fflush(stdout);
    _exit(write(pipe_to[1], &t.tally, sizeof t.tally) == (ssize_t)sizeof t.tally ? 0 : 1);
  }
  close(pipe_to[1]);
  bool told = read(pipe_to[0], &got, sizeof got) == (ssize_t)sizeof got;
  close(pipe_to[0]);
  waitpid(child, &status, 0);
  if (told && status == 0) return got;
  printf("WRONG %s: the process ends with %d\n", path, status);
  return none;
}

/* ---- the command ------------------------------------------------------------------------------------------- */

static void sites_take(Options *o, const char *s) {
  for (o->n = 0; *s && o->n < SITES_MOST;) {
    char *end;
    o->sites[o->n++] = strtoll(s, &end, 10);
    s = *end ? end + 1 : end;
  }
}

/* False: it is a file. */
static bool option_take(Options *o, const char *word) {
  if (strcmp(word, "--tell") == 0) o->tell = true;
  else if (strncmp(word, "--sites=", 8) == 0) sites_take(o, word + 8);
  else if (strncmp(word, "--tries=", 8) == 0) o->tries = (uint32_t)strtoul(word + 8, NULL, 10);
  else if (strncmp(word, "--every=", 8) == 0) o->every = (uint32_t)strtoul(word + 8, NULL, 10);
  else if (strncmp(word, "--seed=", 7) == 0) o->seed = strtoull(word + 7, NULL, 10);
  else if (strcmp(word, "--optimised") == 0) o->optimised = true;
  else if (strcmp(word, "--steps") == 0) o->steps = true;
  else if (strncmp(word, "--turns=", 8) == 0) o->turns = (unsigned)strtoul(word + 8, NULL, 10);
  else if (sscanf(word, "--part=%u/%u", &o->part, &o->parts) != 2) return false;
  return true;
}

/* Is the file at hand, which is the n-th, one of those that are looked at? */
static bool wanted(const Options *o, unsigned n) {
  const char *turn = getenv("EIN_TURN");
  if (o->parts == 0 || o->turns == 0 || n % o->parts != o->part - 1) return false;
  return !turn || !*turn || n / o->parts % o->turns == strtoull(turn, NULL, 10) % o->turns;
}

int main(int argc, char **argv) {
  Options o = {.tries = 1, .seed = 1, .part = 1, .parts = 1, .turns = 1};
  Tally all = {0};
  unsigned files = 0;
  sites_take(&o, "1,2,3,4,5,7,8,16");
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-D") == 0 && ++i) continue;
    if (option_take(&o, argv[i]) || !wanted(&o, files++)) continue;
    Tally t = program_run_in_child(&o, argv + i);
    all.runs += t.runs, all.wrong += t.wrong, all.failed += t.failed, all.bytes += t.bytes, all.skipped += t.skipped;
    all.tasks += t.tasks, all.no_tasks += t.no_tasks, all.every += t.every;
    all.derived += t.derived, all.not_derived += t.not_derived;
  }
  printf("%u as tasks too, %u that cannot be; %u times every plan there is\n", all.tasks, all.no_tasks, all.every);
  printf("%u derived by rules, %u only in part\n", all.derived, all.not_derived);
  printf("%u runs, %u wrong; %u that fail as they should, %u whose bytes were compared with the cost; %u skipped\n",
      all.runs, all.wrong, all.failed, all.bytes, all.skipped);
  return all.wrong || all.runs <= all.skipped ? 1 : 0; /* where nothing is compared, nothing is well */
}
