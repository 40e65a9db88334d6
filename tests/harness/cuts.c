/* tests/harness/cuts.c - plans at random: meshes, what their axes cut, homes; counts of all labels. */
#include "cuts.h"

static int8_t axis_chance(Rng *r, uint32_t n, const int64_t *most, uint32_t *count, uint32_t size) {
  for (uint32_t k = 0; k < 4 && n; k++) {
    uint32_t l = below(r, n < INT8_MAX ? n : (uint32_t)INT8_MAX);
    if ((int64_t)count[l] * size > most[l]) continue;
    count[l] *= size;
    return (int8_t)l;
  }
  return PLACE_ALL;
}

static void axes_chance(Arena *a, Rng *r, const Mesh *m, uint32_t n, const int64_t *most, int8_t *on) {
  uint32_t *count = NEW_ARRAY(a, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) count[k] = 1;
  for (uint32_t k = 0; k < MESH_AXES; k++)
    on[k] = k < m->n ? axis_chance(r, n, most, count, m->size[k]) : (int8_t)PLACE_ALL;
}

static Mesh mesh_chance(Rng *r, int64_t sites) {
  Mesh m = mesh_of_primes(sites);
  if (m.n > 1 && chance(r, 50)) { /* two axes become one */
    uint32_t k = below(r, m.n - 1);
    m.size[k] *= m.size[k + 1];
    for (m.n--; ++k < m.n;) m.size[k] = m.size[k + 1];
  }
  return m;
}

Placing *placing_chance(Arena *a, const PlaceGraph *g, int64_t sites, Rng *r) {
  uint32_t n = g->part->vertices.len, tensors = g->tensors.len;
  Placing *x = NEW(a, Placing);
  *x = (Placing){.mesh = mesh_chance(r, sites),
      .label = NEW_ARRAY(a, int8_t *, n + 1),
      .home = NEW_ARRAY(a, Placement, tensors + 1)};
  for (uint32_t i = 0; i < tensors; i++)
    axes_chance(a, r, &x->mesh, g->tensors.at[i].n, g->tensors.at[i].most, x->home[i].on);
  for (uint32_t i = 0; i < n; i++) {
    x->label[i] = NEW_ARRAY(a, int8_t, MESH_AXES);
    axes_chance(a, r, &x->mesh, g->part->vertices.at[i].n_label, g->part->vertices.at[i].most, x->label[i]);
  }
  return x;
}

const uint32_t *const *counts_chance(Arena *a, const PartGraph *g, int64_t calls, Rng *r) {
  const uint32_t **d = NEW_ARRAY(a, const uint32_t *, g->vertices.len + 1);
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    PartVectors v = part_viable(a, &g->vertices.at[i], calls, NULL);
    d[i] = v.at + (size_t)below(r, v.n) * v.n_label;
  }
  return d;
}

EvalArray eval_array_of(const AlgArray *x) {
  return (EvalArray){
      .dtype = x->dtype, .rank = x->rank, .shape = x->shape, .count = x->count, .data = x->data, .has = x->has};
}

AlgArray alg_array_of(const EvalArray *x) {
  return (AlgArray){
      .dtype = x->dtype, .rank = x->rank, .shape = x->shape, .count = x->count, .data = x->data, .has = x->has};
}

/* The graph says it. */
static bool default_find(const Eval *of, EinNode *n, EvalArray *out) {
  EinGraph g = *of->graph;
  EinOutput o = {n->name, n->fallback};
  const char *why;
  Place place;
  if (!n->fallback) return false;
  g.outputs.at = &o, g.outputs.len = 1;
  g.asserts.len = 0;
  Eval e = *of;
  e.graph = &g;
  if (graph_eval(&e, &why, &place) != EVAL_OK) return false;
  *out = e.output[0];
  return true;
}

bool inputs_find(Arena *a, const Eval *e, AlgGiven *out) {
  for (uint32_t i = 0; i < e->graph->inputs.len; i++) {
    EinNode *n = e->graph->inputs.at[i];
    const EvalArray *x = NULL;
    EvalArray *made = NEW(a, EvalArray);
    for (uint32_t k = 0; k < e->n_input; k++)
      if (e->input[k].name == n->name) x = &e->input[k].array;
    if (!x && !default_find(e, n, made)) return false;
    out[i] = (AlgGiven){n->name, alg_array_of(x ? x : made)};
  }
  return true;
}
