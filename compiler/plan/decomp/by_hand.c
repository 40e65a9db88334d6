/* plan/decomp/by_hand.c - plans by rule of thumb, for comparison with the search. To find what a label stands for,
 * the planner follows it through the reads: labels that index the same dimension have the same *kind*. A kind is
 * recognised by its roles: which inputs and params have it, whether it meets itself (an equation has two labels of
 * this kind, such as the positions of a sequence in attention), and whether matrix products are done for each of its
 * points (heads). The order and the names of inputs do not matter. */
#include "planners.h"

typedef struct Kind {
  uint32_t to;               /* union-find: another of its kind; itself: the representative */
  bool data, param;          /* an input that is not a param has it; a param has it */
  bool kept;                 /* a product of computed matrices has it in all operands and in the result */
  bool meets;                /* some equation has two labels of it */
  uint32_t rank, dimension;  /* in the data of highest rank that has it (ties: the first): rank and dimension */
} Kind;

typedef struct Kinds {
  const PartGraph *g;
  uint32_t *first;           /* by vertex: the kind of its first label */
  Map input;                 /* by input node: the kind of its first dimension */
  VEC(Kind) all;
  bool sequence;             /* some rows of the data meet themselves */
  Arena *arena;
} Kinds;

static uint32_t kind_of(Kinds *k, uint32_t x) {
  while (k->all.at[x].to != x) x = k->all.at[x].to = k->all.at[k->all.at[x].to].to;
  return x;
}

static void kind_join(Kinds *k, uint32_t x, uint32_t y) {
  x = kind_of(k, x);
  y = kind_of(k, y);
  if (x == y) return;
  Kind *a = &k->all.at[x], *b = &k->all.at[y];
  a->data |= b->data;
  a->param |= b->param;
  a->kept |= b->kept;
  if (b->rank > a->rank || (b->rank == a->rank && b->dimension < a->dimension))
    a->rank = b->rank, a->dimension = b->dimension;
  b->to = x;
}

static uint32_t kinds_add(Kinds *k, uint32_t n) {
  uint32_t first = k->all.len;
  for (uint32_t i = 0; i < n; i++) vec_push(k->arena, k->all, ((Kind){.to = first + i, .dimension = UINT32_MAX}));
  return first;
}

static uint32_t input_kinds(Kinds *k, const EinNode *n) {
  uint32_t *first = map_find(&k->input, n);
  if (first) return *first;
  first = NEW(k->arena, uint32_t);
  *first = kinds_add(k, n->rank);
  for (uint32_t i = 0; i < n->rank; i++) {
    Kind *x = &k->all.at[*first + i];
    x->data = !n->param;
    x->param = n->param;
    if (!n->param) x->rank = n->rank, x->dimension = i;
  }
  map_put(&k->input, n, first);
  return *first;
}

static void read_join(Kinds *k, uint32_t reader, const PartRead *r) {
  bool input = r->node->kind == EIN_INPUT;
  if (r->from < 0 && !input) return;
  uint32_t first = input ? input_kinds(k, r->node) : k->first[r->from];
  for (uint32_t i = 0; i < r->rank; i++) {
    if (r->label[i] < 0 || (!input && r->made[i] < 0)) continue;
    kind_join(k, k->first[reader] + (uint32_t)r->label[i], first + (input ? i : (uint32_t)r->made[i]));
  }
}

/* Whether an operand has a label of the result that no other operand has, so that it is a side of a matrix product. */
static bool has_own(const PartVertex *v, uint32_t read) {
  for (uint32_t l = 0; l < v->n_out; l++) {
    bool own = part_read_has(&v->reads.at[read], l);
    for (uint32_t i = 0; i < v->reads.len; i++) own &= i == read || !part_read_has(&v->reads.at[i], l);
    if (own) return true;
  }
  return false;
}

/* Marks the labels of the result that all operands have, in a reduction of at least two computed operands, each of
 * which has a label of its own. */
static void kept_mark(Kinds *k, uint32_t vertex) {
  const PartVertex *v = &k->g->vertices.at[vertex];
  bool product = v->reads.len >= 2 && v->n_label > v->n_out;
  for (uint32_t i = 0; product && i < v->reads.len; i++) product = v->reads.at[i].from >= 0 && has_own(v, i);
  for (uint32_t l = 0; product && l < v->n_out; l++) {
    bool all = true;
    for (uint32_t i = 0; i < v->reads.len; i++) all &= part_read_has(&v->reads.at[i], l);
    k->all.at[k->first[vertex] + l].kept |= all;
  }
}

static void meets_mark(Kinds *k, uint32_t vertex) {
  uint32_t n = k->g->vertices.at[vertex].n_label, first = k->first[vertex];
  for (uint32_t l = 0; l < n; l++)
    for (uint32_t m = l + 1; m < n; m++)
      if (kind_of(k, first + l) == kind_of(k, first + m)) k->all.at[kind_of(k, first + l)].meets = true;
}

static bool is_rows(const Kind *x) {
  return x->data && !x->param;
}

static Kinds kinds_find(Arena *a, const PartGraph *g) {
  Kinds k = {.g = g, .first = NEW_ARRAY(a, uint32_t, g->vertices.len + 1), .input = map_new(a), .arena = a};
  for (uint32_t i = 0; i < g->vertices.len; i++) k.first[i] = kinds_add(&k, g->vertices.at[i].n_label);
  for (uint32_t i = 0; i < g->vertices.len; i++) kept_mark(&k, i);
  for (uint32_t i = 0; i < g->vertices.len; i++)
    for (uint32_t j = 0; j < g->vertices.at[i].reads.len; j++) read_join(&k, i, &g->vertices.at[i].reads.at[j]);
  for (uint32_t i = 0; i < g->vertices.len; i++) meets_mark(&k, i);
  for (uint32_t i = 0; i < k.all.len; i++)
    k.sequence |= k.all.at[i].to == i && k.all.at[i].meets && is_rows(&k.all.at[i]);
  return k;
}

/* ---- preferences ----------------------------------------------------------------------------------------- */

enum { LAST = 1000000 };

/* Rows of the data: the batch, whose rows do not meet each other, comes before positions that do. */
static uint32_t rows_preference(const Kind *x) {
  uint32_t at = x->dimension < LAST / 4 ? x->dimension : LAST / 4;
  return !is_rows(x) ? LAST : x->meets ? LAST / 2 + at : at;
}

/* The rank by which labels are cut, smallest first. Ties: labels of the result in order, then reduced labels. Where
 * no rows meet, the sequence is the second dimension of the data. */
static uint32_t preference(Planner who, const Kinds *k, const Kind *x) {
  uint32_t rows = rows_preference(x);
  bool model = x->param && !x->data, head = x->kept && x->param;
  switch (who) {
  case PLANNER_DATA: return rows;
  case PLANNER_SEQUENCE: return rows == LAST ? LAST : (k->sequence ? x->meets : x->dimension == 1) ? 0 : rows + 1;
  case PLANNER_ATTENTION: return head ? 0 : model ? 1 : rows == LAST ? LAST : rows + 2;
  case PLANNER_MEGATRON: return head || model ? 0 : rows == LAST ? LAST : rows + 1;
  default: return LAST;
  }
}

static bool has_role(Planner who, const Kinds *k, const Kind *x) {
  bool model = x->param && !x->data, head = x->kept && x->param;
  switch (who) {
  case PLANNER_DATA: return is_rows(x) && !x->meets;
  case PLANNER_SEQUENCE: return k->sequence && is_rows(x) && x->meets;
  case PLANNER_ATTENTION: return head;
  case PLANNER_MEGATRON: return head || model;
  default: return false;
  }
}

const bool *const *plan_roles(Arena *a, const PartGraph *g, Planner who) {
  Arena *work = arena_new();
  Kinds k = kinds_find(work, g);
  const bool **role = NEW_ARRAY(a, const bool *, g->vertices.len + 1);
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    bool *its = NEW_ARRAY(a, bool, g->vertices.at[i].n_label + 1);
    for (uint32_t l = 0; l < g->vertices.at[i].n_label; l++)
      its[l] = has_role(who, &k, &k.all.at[kind_of(&k, k.first[i] + l)]);
    role[i] = its;
  }
  arena_free(work);
  return role;
}

static bool better_by(const uint32_t *order, uint32_t n, const uint32_t *d, const uint32_t *than) {
  for (uint32_t k = 0; k < n; k++)
    if (d[order[k]] != than[order[k]]) return d[order[k]] > than[order[k]];
  return false;
}

/* Orders labels by preference. Insertion sort, since it is stable. */
static uint32_t *order_find(Kinds *k, uint32_t vertex, Planner who) {
  uint32_t n = k->g->vertices.at[vertex].n_label;
  uint32_t *order = NEW_ARRAY(k->arena, uint32_t, n + 1), *rank = NEW_ARRAY(k->arena, uint32_t, n + 1);
  for (uint32_t l = 0; l < n; l++) {
    uint32_t at = l;
    rank[l] = preference(who, k, &k->all.at[kind_of(k, k->first[vertex] + l)]);
    for (; at > 0 && rank[order[at - 1]] > rank[l]; at--) order[at] = order[at - 1];
    order[at] = l;
  }
  return order;
}

/* Squarer: fewer calls along reduced labels, then a smaller largest count. Ties: the earlier label has the larger
 * count. */
static bool squarer(const PartVertex *v, const uint32_t *d, const uint32_t *than) {
  uint32_t most = 0, most_than = 0;
  double reduced = 1, reduced_than = 1;
  for (uint32_t l = 0; l < v->n_label; l++) {
    if (l >= v->n_out) reduced *= d[l], reduced_than *= than[l];
    if (l < v->n_out && d[l] > most) most = d[l];
    if (l < v->n_out && than[l] > most_than) most_than = than[l];
  }
  if (reduced < reduced_than || reduced > reduced_than) return reduced < reduced_than;
  if (most != most_than) return most < most_than;
  for (uint32_t l = 0; l < v->n_label; l++)
    if (d[l] != than[l]) return d[l] > than[l];
  return false;
}

void plan_by_hand(Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, PartChoice *out) {
  Arena *work = arena_new();
  Kinds k = kinds_find(work, g);
  *out = (PartChoice){.d = NEW_ARRAY(a, const uint32_t *, g->vertices.len + 1)};
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    const PartVertex *v = &g->vertices.at[i];
    const uint32_t *order = order_find(&k, i, who), *best = vectors[i].at;
    for (uint32_t j = 1; j < vectors[i].n; j++) {
      const uint32_t *d = vectors[i].at + (size_t)j * v->n_label;
      if (who == PLANNER_SQRT ? squarer(v, d, best) : better_by(order, v->n_label, d, best)) best = d;
    }
    out->d[i] = best;
  }
  out->cost = part_cost(g, out->d);
  arena_free(work);
}
