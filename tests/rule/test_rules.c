/* suite: ci */
/* tests/rule/test_rules.c - every rule on random programs: where it applies, both sides hold the same tuples, all of
 * what they are made of is where it is said to be, and users follow; where it does not, nothing has changed. And every
 * condition is needed: without it some program comes out otherwise. */
#include <stdlib.h>

#include "random_term.h"
#include "reveal.h"
#include "tap.h"

enum { WANTED = 250, TRIES = 20000 };

typedef struct Case {
  Arena *arena;
  Algebra *p;
  AlgNode *root, *user;      /* user: something made of it */
  Gen gen;
} Case;

static const char *sound(Case *c, Sites *s) {
  Buf why = buf_new(c->arena);
  for (uint32_t k = 0; k < c->p->top->nodes.len; k++) {
    const AlgNode *n = c->p->top->nodes.at[k];
    if (!alg_fits(c->p, n, &why)) return why.s;
    const char *told = node_told(s, n);
    if (told) return told;
    if (n == c->user) break;
  }
  return algebra_check(c->p, &why) ? NULL : why.s;
}

static void ids_anew(Algebra *p) {
  p->n_nodes = 0;
  for (uint32_t k = 0; k < p->top->nodes.len; k++) p->top->nodes.at[k]->id = p->n_nodes++;
}

static AlgNode *user_of(Gen *g, AlgNode *n) {
  bool parts = alg_in_parts(g->p, n);
  AlgNode *join = !parts && chance(g, 40) ? join_random(g, 1, &n, false, chance(g, 80)) : NULL;
  if (join) return join;
  if (chance(g, parts ? 50 : 20)) return reduced_random(g, n);
  if (parts || chance(g, 30)) return moved(g, n, 60);
  return chance(g, 50) ? alg_filter(g->p, g->p->top, n, keep_random(g, n)) : map_random(g, n);
}

/* What is made of it, in a few steps. */
static AlgNode *users_random(Gen *g, AlgNode *n) {
  for (uint32_t steps = random_below(g, 4); steps-- && n->type.n_key < 5 && n->type.rank < 4;) n = user_of(g, n);
  return n;
}

/* A program in which the pattern stands, with something made of it; root NULL: none came out, or it was not sound. */
static Case case_random(const Rule *rule, uint64_t seed) {
  Case c = {.arena = arena_new()};
  c.p = program_random(c.arena, seed);
  c.gen = (Gen){.p = c.p, .seed = seed * 0x9e3779b97f4a7c15u + 0x1234567, .rule = rule};
  c.gen.tables = strstr(rule->conditions, "blocks");
  c.gen.broken = strstr(rule->conditions, "unbroken");
  c.gen.dtype = seed % 5 ? DT_I64 : DT_I32;
  for (int k = 0; k < 4; k++) random_below(&c.gen, 2);
  c.root = term_random(&c.gen, rule->from);
  if (!c.root) return c;
  c.user = users_random(&c.gen, c.root);
  Sites s = sites_of(c.p);
  ids_anew(c.p);
  if (sound(&c, &s)) c.root = NULL;
  return c;
}

static uint32_t keys_most(const Algebra *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->top->nodes.len; k++)
    if (p->top->nodes.at[k]->type.n_key > n) n = p->top->nodes.at[k]->type.n_key;
  return n;
}

static const char *text_of(Case *c) {
  Buf b = buf_new(c->arena);
  algebra_print(&b, c->p);
  return b.s;
}

/* What both sides come to. */
typedef struct Sides { Bag root[2], user[2]; const char *error; bool parts[2], reveal; AlgArray array[2]; } Sides;

static bool sides_equal(const Case *c, const Sides *x) {
  if (x->error || (x->parts[1] && !x->parts[0])) return false;
  if (x->array[0].data && x->array[1].data && !arrays_equal(&x->array[0], &x->array[1])) return false;
  return bags_equal(&x->root[0], &x->root[1], c->root->type.n_key, c->root->type.rank) &&
         bags_equal(&x->user[0], &x->user[1], c->user->type.n_key, c->user->type.rank);
}

static void side_see(Case *c, Sides *x, int which) {
  Sites s = sites_of(c->p);
  ids_anew(c->p);
  const char *told = sound(c, &s);
  if (told && !x->error) x->error = told;
  if (told) return;
  x->root[which] = bag_of(&s, c->root);
  x->user[which] = bag_of(&s, c->user);
  x->parts[which] = alg_in_parts(c->p, c->root);
  if (x->reveal && !revealed(c->p, c->user, &x->user[which], &x->array[which], &told)) x->error = told;
}

/* A tile of the root's operand, if the root aggregates, and the concat of what is aggregated of its pieces. */
static void pieces_random(Case *c, RuleGiven *given) {
  AlgRegion *aside = NEW(c->arena, AlgRegion);
  AlgNode *of = c->root->operand[0].node;
  if (c->root->kind != ALG_AGGREGATE || !of->type.rank || c->root->type.rank != of->type.rank) return;
  uint32_t n_nodes = c->p->n_nodes, n = c->root->type.n_key, *group = NEW_ARRAY(c->arena, uint32_t, n + 1);
  int64_t *extent = NEW_ARRAY(c->arena, int64_t, of->type.rank + 1), *frontier = NEW(c->arena, int64_t);
  RelDim *piece = arena_copy(c->arena, of->type.dim, of->type.rank * sizeof *piece);
  uint32_t d = random_below(&c->gen, of->type.rank);
  const Str key[] = {strings_printf(c->p->strings, "piece")};
  rel_extents(c->arena, &of->type, extent);
  *frontier = 1 + random_below(&c->gen, 3);
  if (*frontier > 1) piece[d] = rel_cut(c->p->exprs, extent[d], expr_label(c->p->exprs, of->type.n_key), *frontier);
  for (uint32_t k = 0; k < n; k++) group[k] = k;
  AlgNode *tile = alg_tile(c->p, aside, of, 1, frontier, arena_copy(c->arena, key, sizeof key), piece);
  tile->type.holes = *frontier > 1;
  given->pieces = tile;
  AlgNode laid = *c->root;
  given->laid = alg_concat(c->p, aside, &laid, n, group, c->root->type.dim);
  c->p->n_nodes = n_nodes;
}

typedef struct Tally {
  uint32_t applied, revealed, refused, changed, wrong, differs;
  const char *first;
  uint64_t seed;
} Tally;

static void case_try(const Rule *rule, uint64_t seed, unsigned unasked, Tally *t) {
  Case c = case_random(rule, seed);
  if (c.root) {
    if (unasked) c.user = c.root; /* forced: users do not follow */
    Sides x = {.reveal = !unasked && seed % 16 == 0};
    side_see(&c, &x, 0);
    const char *before = text_of(&c);
    uint32_t n_key = c.root->type.n_key, rank = c.root->type.rank;
    Placement to = place_random(&c.gen, 1 + random_below(&c.gen, keys_most(c.p) + 1), 30);
    RuleGiven given = {.to = &to, .unasked = unasked};
    pieces_random(&c, &given);
    Buf why = buf_new(c.arena);
    if (unasked) given.unasked = 0;
    bool asked = rule_apply(c.p, rule, c.root, &given, &why);
    if (unasked) given.unasked = unasked;
    if (asked) t->applied++;
    else t->refused++, t->changed += strcmp(before, text_of(&c)) != 0;
    if (unasked && !asked && rule_apply(c.p, rule, c.root, &given, &why)) {
      bool same_type = n_key == c.root->type.n_key && rank == c.root->type.rank;
      if (same_type) side_see(&c, &x, 1);
      t->differs += !same_type || !sides_equal(&c, &x);
    } else if (!unasked && asked) {
      side_see(&c, &x, 1);
      t->revealed += x.array[0].data && x.array[1].data;
      if (!sides_equal(&c, &x) && !t->wrong++) {
        t->seed = seed;
        t->first = x.error ? strdup(x.error) : "other tuples";
        tap_text("before", before), tap_text("after", text_of(&c));
      }
    }
  }
  arena_free(c.arena);
}

static void rule_test(const Rule *rule, uint32_t wanted) {
  Tally t = {0};
  uint64_t seed = 1;
  for (; seed <= TRIES && t.applied < wanted; seed++) case_try(rule, seed, 0, &t);
  OK(!t.wrong,
      "%s: the same in %u cases, by algebra_eval too in %u (%u refused, %u looked at); else %u, first %s at %u",
      rule->name, t.applied, t.revealed, t.refused, (unsigned)seed, t.wrong, t.first ? t.first : "none",
      (unsigned)t.seed);
  OK(t.applied >= wanted, "%s: so many cases", rule->name);
  OK(!t.changed, "%s: where it is refused nothing changes", rule->name);
}

/* Conditions that say which case of a rule it is. */
static bool chooses(const RuleTerm *test) {
  return !strcmp(test->test->name, "shared") || !strcmp(test->test->name, "apart") ||
      !strcmp(test->test->name, "gathers");
}

static void conditions_test(const Rule *rule) {
  for (uint32_t k = 0; k < rule->n_if; k++) {
    Tally t = {0};
    uint64_t tried = 0;
    if (chooses(rule->test[k])) continue;
    while (tried < TRIES && !t.differs) case_try(rule, ++tried, 1u << k, &t);
    OK(t.differs > 0, "%s: %s is needed: without it case %u differs", rule->name, rule->test[k]->test->name, (unsigned)tried);
  }
}

/* test_rules [CASES [RULE]]: so many of each rule. */
int main(int argc, char **argv) {
  Arena *a = arena_new();
  Rules *rules = alg_rules_new(a);
  for (uint32_t k = 0; k < rules->n; k++) {
    if (argc > 2 && strcmp(argv[2], rules->at[k].name)) continue;
    rule_test(&rules->at[k], argc > 1 ? (uint32_t)atoi(argv[1]) : WANTED);
    conditions_test(&rules->at[k]);
  }
  return DONE();
}
