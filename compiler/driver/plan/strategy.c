/* driver/plan/strategy.c - names a plan if it has a usual name: if the equations with most operations are cut as by
 * a rule of thumb, or there is one matrix product, on a grid. */
#include "facts.h"
#include "sites.h"

enum { MOST = 500 };             /* with more equations the rules' cuts are not computed */
static const double HEAVY = 0.01; /* the share of all operations from which an equation decides the name */

static bool is_heavy(const Sites *p, uint32_t i) {
  const FactTensor *t = &p->report.facts->tensors.at[i];
  return t->flops + t->integer >= HEAVY * (p->report.facts->flops + p->report.facts->integer);
}

static bool same_cut(const Sites *p, uint32_t i, const uint32_t *d) {
  for (uint32_t l = 0; l < p->g->vertices.at[i].n_label; l++)
    if (p->choice.d[i][l] != d[l]) return false;
  return true;
}

/* ---- rules of thumb --------------------------------------------------------------------------------------- */

static const struct { Planner who; const char *name; } rules[] = {
    {PLANNER_DATA, "data parallel"},
    {PLANNER_MEGATRON, "tensor parallel, as Megatron"},
    {PLANNER_SEQUENCE, "sequence parallel"},
    {PLANNER_ATTENTION, "parallel over heads"},
};

/* Without params data have no batch of their own. */
static bool has_params(const Sites *p) {
  for (uint32_t t = 0; t < p->places->tensors.len; t++)
    if (p->places->tensors.at[t].vertex < 0 && p->places->tensors.at[t].node->param) return true;
  return false;
}

static bool cuts_roles(const Sites *p, uint32_t i, const bool *role) {
  for (uint32_t l = 0; l < p->g->vertices.at[i].n_label; l++)
    if (p->choice.d[i][l] > 1 && !role[l]) return false;
  return true;
}

/* All heavy equations are cut as the rule cuts them, along its label, and at most half of the others are not. */
static const char *rule_name(const Sites *p, const PartVectors *vectors, uint32_t rule) {
  Arena *a = p->s->arena;
  PartChoice its;
  Buf why = buf_new(a);
  uint32_t equations = 0, others = 0;
  const bool *const *role = plan_roles(a, p->g, rules[rule].who);
  if (!has_params(p) || !part_plan(a, p->g, vectors, rules[rule].who, p->asked.budget, &its, &why)) return NULL;
  for (uint32_t i = 0; i < p->g->vertices.len; i++) {
    if (p->g->vertices.at[i].node->kind != EIN_VERTEX) continue;
    equations++;
    if (is_heavy(p, i) && !cuts_roles(p, i, role[i])) return NULL;
    if (same_cut(p, i, its.d[i])) continue;
    if (is_heavy(p, i)) return NULL;
    others++;
  }
  if (2 * others > equations) return NULL;
  const char *but = others
      ? arena_printf(a, ", but for %u of %u equations, which take next to no operations", others, equations)
      : "";
  return arena_printf(a, "%s: the cuts of the planner %s%s", rules[rule].name, planner_info[rules[rule].who].name, but);
}

/* ---- a product of matrices ---------------------------------------------------------------------------------- */

typedef struct Grid { int64_t rows, columns, summed; } Grid;

static bool has_windows(const PartRead *r) {
  for (uint32_t k = 0; k < r->rank; k++)
    if (r->index && r->index[k]) return true;
  return false;
}

/* Each label that is cut belongs to one operand, or is summed over both. A read of windows does not count. */
static bool grid_find(const Sites *p, uint32_t i, Grid *g) {
  const PartVertex *v = &p->g->vertices.at[i];
  *g = (Grid){1, 1, 1};
  if (v->reads.len != 2 || !v->reads.at[0].call || !v->reads.at[1].call || v->n_label == v->n_out) return false;
  if (has_windows(&v->reads.at[0]) || has_windows(&v->reads.at[1])) return false;
  for (uint32_t l = 0; l < v->n_label; l++) {
    bool one = part_read_has(&v->reads.at[0], l), other = part_read_has(&v->reads.at[1], l);
    if (p->choice.d[i][l] < 2) continue;
    if (l < v->n_out ? one == other : !one || !other) return false;
    *(l >= v->n_out ? &g->summed : one ? &g->rows : &g->columns) *= p->choice.d[i][l];
  }
  return true;
}

static const char *grid_name(const Sites *p) {
  Arena *a = p->s->arena;
  int64_t heavy = -1;
  Grid g;
  for (uint32_t i = 0; i < p->g->vertices.len; i++) {
    if (p->g->vertices.at[i].node->kind != EIN_VERTEX || !is_heavy(p, i)) continue;
    if (heavy >= 0) return NULL;
    heavy = i;
  }
  if (heavy < 0 || !grid_find(p, (uint32_t)heavy, &g)) return NULL;
  long long m = g.rows, n = g.columns, k = g.summed;
  if (m > 1 && n > 1 && k > 1)
    return arena_printf(a, "a product on a grid of %lld x %lld x %lld, the last along what is summed: %s", m, n, k,
        k < m && k < n ? "2.5-D" : "3-D");
  const PlacePanels *x = p->placing->panels ? &p->placing->panels[heavy] : NULL;
  const char *panels = x && x->n ? arena_printf(a, "operands in %u panels", x->n) : "operands in whole panels";
  if (m > 1 && n > 1) return arena_printf(a, "a product on a grid of %lld x %lld, %s: 2-D, as SUMMA", m, n, panels);
  if (k > 1 && m * n > 1)
    return arena_printf(a, "a product on a grid of %lld x %lld, the last along what is summed: 2-D", m * n, k);
  if (k * m * n > 1) return arena_printf(a, "a product along one label%s: 1-D", k > 1 ? " that is summed" : "");
  return NULL;
}

const char *strategy_find(const Sites *p) {
  const Facts *f = p->report.facts;
  bool narrow = false;
  if (!p->asked.by_bytes || p->asked.who != PLANNER_EXACT || p->sites == 1 || f->flops + f->integer <= 0) return NULL;
  if (p->g->vertices.len > MOST) return NULL;
  const PartVectors *vectors = p->vectors;
  if (!vectors)
    vectors = plan_vectors(p->s->arena, p->g, p->sites, p->asked.plan, &narrow, diags_new(p->s->arena));
  const char *name = grid_name(p);
  for (uint32_t k = 0; vectors && !name && k < COUNT(rules); k++) name = rule_name(p, vectors, k);
  return name;
}
