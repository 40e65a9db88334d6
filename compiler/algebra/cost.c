/* algebra/cost.c - tuples one by one: where each is, and where it is to be. */
#include "cost.h"

double rel_block(const Relation *r, const int64_t *key) {
  int64_t low[64], high[64];
  double n = 1;
  rel_box(r, key, low, high);
  for (uint32_t d = 0; d < r->rank; d++) n *= high[d] > low[d] ? (double)(high[d] - low[d]) : 0;
  return n;
}

double rel_elements(const Relation *r) {
  int64_t key[REL_KEYS] = {0};
  double n = 0;
  if (rel_keys(r) > (double)ALG_KEYS_TOLD) return -1;
  do n += rel_block(r, key);
  while (rel_next_key(r->n_key, r->frontier, key));
  return n;
}

void alg_places(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, int32_t *at) {
  for (uint32_t a = 0; a < m->n; a++) {
    int8_t on = p->on[a];
    at[a] = -1;
    if (on < 0) continue;
    int64_t sites = placement_count(m, p, on), site = key[on] * sites / r->frontier[on];
    for (uint32_t b = m->n; b-- > a + 1;)
      if (p->on[b] == on) site /= m->size[b];
    at[a] = (int32_t)(site % m->size[a]);
  }
}

/* Sites that are to have the tuple and have not; of parts each for itself. */
static double receivers(const Mesh *m, const Placement *from, const int32_t *is, const int32_t *to) {
  double wanted = 1, there = 1, parts = 1;
  for (uint32_t a = 0; a < m->n; a++) {
    double size = m->size[a];
    bool part = from->on[a] == PLACE_PART;
    parts *= part ? size : 1;
    wanted *= to[a] < 0 ? size : 1;
    if (part) there *= to[a] < 0 ? 1 : 1 / size; /* a part is at one place; of `size` parts one is where a single place wants it */
    else if (is[a] >= 0 && to[a] >= 0) there *= is[a] == to[a];
    else there *= is[a] < 0 && to[a] < 0 ? size : 1;
  }
  return parts * (wanted - there);
}

/* Keys that are equal: a diagonal. What domains and conditions leave compares numbers. */
static bool keys_equal(const Expr *e) {
  for (; e->kind == EX_OP && e->op == OP_AND; e = e->arg[0])
    if (!keys_equal(e->arg[1])) return false;
  return e->kind == EX_OP && e->op == OP_EQ && e->arg[0]->kind == EX_LABEL && e->arg[1]->kind == EX_LABEL;
}

static const Expr *diagonal(const AlgNode *of) {
  return of->kind == ALG_FILTER && keys_equal(of->keep) ? of->keep : NULL;
}

AlgCost alg_move_cost(const Algebra *p, const AlgNode *move) {
  const AlgNode *of = move->operand[0].node;
  const Relation *t = &of->type;
  const Expr *keep = diagonal(of);
  int64_t key[REL_KEYS] = {0};
  int32_t is[MESH_AXES + 1], to[MESH_AXES + 1];
  double size = dtype_size(t->dtype) + (t->places ? 8 : 0);
  AlgCost c = {.known = rel_keys(t) <= (double)ALG_KEYS_TOLD};
  if (!c.known) return c;
  do {
    double n = rel_block(t, key);
    if (n == 0 || (keep && !rel_predicate(keep, t->n_key, key))) continue;
    alg_places(&p->mesh, &of->at, t, key, is);
    alg_places(&p->mesh, &move->at, t, key, to);
    c.bytes += n * size * receivers(&p->mesh, &of->at, is, to);
    c.paper += n;
  } while (rel_next_key(t->n_key, t->frontier, key));
  c.paper = c.bytes > 0 ? c.paper * (double)placement_copies(&p->mesh, &move->at) : 0;
  return c;
}

double alg_times(const AlgRegion *r) {
  double times = 1;
  for (; r->parent; r = r->parent)
    if (r->turns >= 0) times *= (double)r->turns;
  return times;
}

static void region_cost(const Algebra *p, const AlgRegion *r, AlgCost *c) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const AlgNode *n = r->nodes.at[i];
    if (n->kind == ALG_REPEAT) region_cost(p, n->body, c);
    if (n->kind != ALG_MOVE) continue;
    AlgCost one = alg_move_cost(p, n);
    c->known &= one.known;
    c->bytes += one.bytes * alg_times(r);
    c->paper += one.paper * alg_times(r);
  }
}

AlgCost algebra_cost(const Algebra *p) {
  AlgCost c = {.known = true};
  region_cost(p, p->top, &c);
  return c;
}
