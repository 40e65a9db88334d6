/* plan/network/branch.c - raises the lower bound of a network that is far too large to solve, by cases.
 *
 * The bound by shared costs (tighten.c) mixes choices: where many are equally good but do not go together, as on a mesh
 * whose axes are alike, it stays low. So the values of a variable with many costs are split into a few groups. Each is
 * a case with a bound of its own, and so on, and no choice is below the least case. The question is only whether some
 * choice is below a target that is slightly above the known bound: few values can be in such a choice, and most cases
 * end after a few splits. If all do, the target is a bound, and the next target is higher. The number of cases grows
 * exponentially with the target.
 *
 * The next variable to split has many costs and few values left, and its splits raised bounds most so far. */
#include <math.h>

#include "inside.h"

#define FAST 8.0               /* additions here, in the time of one elsewhere */
#define VISIT 2.0              /* the work of a value for each of its costs, in additions, about; */
#define VARIABLE 100.0         /*   that of a variable; and of a look for a choice, in passes */
#define LOOKED 5.0
#define FIRST 0.02             /* the first target: this share of what is missing above the bound */
#define LEAST 0.002            /*   a smaller share is not tried */
#define CHEAP 0.1              /* after a rise that took less than this share of the budget, the next is larger, */
#define DEAR 0.3               /*   and after one that took more, smaller; */
#define AT_MOST 0.9            /*   none takes more than this share, */
#define AS_BEFORE 6            /*   or than this many times as much as the one before, unless that is little: */
#define LITTLE 0.05            /*   this share of all */
#define BELOW 0.7              /* where the least choice met is hard to prove, no target is nearer to it than that, */
#define ROUGH 0.002            /*   and this share of what was missing at first may stay missing */
#define SLOW 1e-3              /* a pass that gains less of what is missing below the target is the last; */
#define SLOW_FIRST 1e-4        /*   before any split */

enum {
  PASSES = 12, PASSES_FIRST = 100, /* at most */
  PASSES_LEAST = 3,
  GROUPS = 3,
  DEEP = 100,                /* a case with more splits is left open, */
  ROOM = 1 << 26,            /*   or if all cases above it have more numbers together */
  LOOK = 6                   /* choices are looked for after each that many splits */
};

typedef struct Gain { double sum, n; } Gain; /* of splits of a variable: shares of what was missing */

typedef struct Branching {
  double budget, done;
  double target;             /* is there a choice below? */
  double deep;               /* the most splits */
  double open;               /* the least bound of the cases left open */
  Gain *gain, all;           /* by variable */
} Branching;

/* ---- one case ---------------------------------------------------------------------------------------------------- */

static double pass(Branching *x, Tighten *t, const Network *n, bool back) {
  double before = n->work, bound = tighten_pass(t, back, x->target, NULL, NULL);
  x->done += n->work - before;
  for (uint32_t v = 0; v < n->variables.len; v++)
    x->done += VARIABLE + VISIT * n->variables.at[v].n * n->variables.at[v].factors.len;
  return bound;
}

/* Passes until no more is gained. Returns the bound, which is the target if there is no choice below. */
static double settle(Branching *x, Tighten *t, const Network *n, uint32_t most, double slow) {
  double bound = -INFINITY;
  for (uint32_t k = 0; k < most && x->done < x->budget; k++) {
    double before = bound;
    bound = pass(x, t, n, k % 2);
    if (bound >= x->target) return x->target;
    if (k >= PASSES_LEAST && bound - before < slow * (x->target - bound)) break;
  }
  return bound;
}

/* A choice below the target lowers it. */
static void look(Branching *x, Tighten *t, Network *n) {
  Arena *a = arena_new();
  uint32_t *value = NEW_ARRAY(a, uint32_t, n->variables.len + 1);
  double before = n->work;
  tighten_pass(t, false, x->target, &x->target, value);
  x->done += LOOKED * (n->work - before);
  arena_free(a);
}

/* ---- splits ------------------------------------------------------------------------------------------------------ */

static uint32_t left_of(Arena *a, const Tighten *t, const Network *n, uint32_t v, bool **out) {
  uint32_t len = n->variables.at[v].n, left = 0;
  *out = NEW_ARRAY(a, bool, len);
  tighten_left(t, v, *out);
  for (uint32_t j = 0; j < len; j++) left += (*out)[j];
  return left;
}

/* Returns the number of variables if no variable has two values left. */
static uint32_t variable_next(const Branching *x, const Tighten *t, const Network *n) {
  Arena *a = arena_new();
  uint32_t best = n->variables.len;
  double most = -1, usual = x->all.n > 0 ? x->all.sum / x->all.n : 1;
  for (uint32_t v = 0; v < n->variables.len; v++) {
    bool *values;
    uint32_t left = left_of(a, t, n, v, &values);
    if (left < 2) continue;
    double gain = (x->gain[v].sum + usual) / (x->gain[v].n + 1), worth = n->variables.at[v].factors.len * gain / left;
    if (worth > most) most = worth, best = v;
  }
  arena_free(a);
  return best;
}

/* The k-th of some groups of neighbouring values. */
static void keep_group(Tighten *t, const Network *n, uint32_t v, const bool *left, uint32_t all, uint32_t groups,
    uint32_t k) {
  uint32_t seen = 0;
  for (uint32_t j = 0; j < n->variables.at[v].n; j++) {
    if (!left[j]) continue;
    if (seen * groups / all != k) tighten_remove(t, v, j);
    seen++;
  }
}

static void gained(Branching *x, uint32_t v, double share) {
  Gain *both[] = {&x->gain[v], &x->all};
  for (uint32_t i = 0; i < 2; i++) both[i]->sum += share, both[i]->n++;
}

/* If few values are left, they get a network of their own. */
static bool few_left(Arena *a, const Tighten *t, const Network *n, bool **left) {
  double all = 0, some = 0;
  for (uint32_t v = 0; v < n->variables.len; v++) {
    all += n->variables.at[v].n;
    some += left_of(a, t, n, v, &left[v]);
  }
  return some < NETWORK_SHRINK * all;
}

static void cases(Branching *x, Tighten *t, Network *n, double bound, uint32_t depth);

static void cases_few(Branching *x, Tighten *t, Network *n, double bound, uint32_t depth) {
  Arena *a = arena_new();
  uint32_t len = n->variables.len, **to = NEW_ARRAY(a, uint32_t *, len + 1);
  bool **left = NEW_ARRAY(a, bool *, len + 1);
  if (bound < x->target && few_left(a, t, n, left)) {
    n = network_left(a, n, left, NULL, to);
    t = tighten_move(t, n, to);
  }
  cases(x, t, n, bound, depth);
  arena_free(a);
}

/* The cases of a network, of which t has a bound. */
static void cases(Branching *x, Tighten *t, Network *n, double bound, uint32_t depth) {
  if (depth % LOOK == LOOK - 1) look(x, t, n);
  uint32_t v = bound < x->target ? variable_next(x, t, n) : n->variables.len;
  if (v == n->variables.len) look(x, t, n);
  if (bound >= x->target) return;
  if (v == n->variables.len || depth >= x->deep || x->done >= x->budget) {
    x->open = fmin(x->open, bound);
    return;
  }
  Arena *a = arena_new();
  bool *left;
  uint32_t all = left_of(a, t, n, v, &left), groups = all < GROUPS ? all : GROUPS;
  for (uint32_t k = 0; k < groups; k++) {
    Arena *b = arena_new();
    Tighten *u = tighten_copy(t, b);
    keep_group(u, n, v, left, all, groups, k);
    double now = fmax(bound, settle(x, u, n, PASSES, SLOW));
    gained(x, v, fmin(1, (now - bound) / (x->target - bound)));
    cases_few(x, u, n, now, depth + 1);
    arena_free(b);
  }
  arena_free(a);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Returns the target if no choice is below, or the least choice that was met; if cases are left open, their bound. */
static double try_target(Branching *x, Arena *a, const Tighten *root, Network *n, double bound, double target) {
  x->target = target;
  x->open = INFINITY;
  Tighten *t = tighten_copy(root, a);
  cases(x, t, n, fmax(bound, settle(x, t, n, PASSES, SLOW)), 0);
  return fmin(x->target, x->open);
}

static double splits_most(const Network *n) {
  double numbers = 1;
  for (uint32_t v = 0; v < n->variables.len; v++) numbers += n->variables.at[v].n;
  for (uint32_t i = 0; i < n->said; i++)
    for (uint32_t k = 0; k < 2; k++) numbers += n->factors.at[i].side[k].by->n;
  return fmin(DEEP, (double)ROOM / numbers);
}

/* A bound that reaches `enough` is a proof, and worth all work. If a choice below it was met there is none, and what is
 * left to gain soon matters less than what cannot be gained. */
static bool is_rough(double first, double bound, double least, double enough) {
  return least - bound < fmax(ROUGH * (least - first), enough - least);
}

double network_branch(Network *n, double budget, double enough, double *done) {
  Arena *a = arena_new();
  Branching x = {.budget = FAST * budget, .gain = NEW_ARRAY(a, Gain, n->variables.len + 1), .target = enough};
  Tighten *root = tighten_new(n, a, values_all(a, n));
  x.deep = splits_most(n);
  double first = settle(&x, root, n, PASSES_FIRST, SLOW_FIRST), all = x.budget;
  double bound = first, share = FIRST, least = enough, last = 0;
  bool hard = false;           /* a choice below `enough` was met, and no proof that it is the least */
  while (bound < least && x.done < all && share > LEAST && !(hard && is_rough(first, bound, least, enough))) {
    Arena *b = arena_new();
    if (hard) share = fmin(share, BELOW);
    double before = x.done, left = all - before, target = share < 1 ? bound + share * (least - bound) : least;
    x.budget = before + fmin(AT_MOST * left, fmax(AS_BEFORE * last, LITTLE * all));
    double now = try_target(&x, b, root, n, bound, target);
    arena_free(b);
    bound = fmax(bound, now);
    bool failed = now < fmin(target, x.target);
    last = failed ? last : x.done - before;
    least = x.target < target ? x.target : least;
    hard |= failed && least < enough;
    if (failed) share /= 3;
    else if (last < CHEAP * left) share *= 2;
    else if (last > DEAR * left) share *= 0.7;
  }
  *done = x.done / FAST;
  arena_free(a);
  return fmin(bound, enough);
}
