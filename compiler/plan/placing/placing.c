/* plan/placing/placing.c - the graph as planners see it, what a choice of axes means, and how many bytes it moves. */
#include "inside.h"
#include "reach.h"

/* ---- the graph ------------------------------------------------------------------------------------------ */

static uint32_t input_tensor(Arena *a, PlaceGraph *g, Map *seen, const PartRead *r) {
  uint32_t *k = map_find(seen, r->node);
  if (k) return *k;
  PlaceTensor t = {
      .node = r->node, .vertex = -1, .n = r->rank, .extent = r->extent, .bytes = dtype_size(r->node->dtype)};
  int64_t *most = NEW_ARRAY(a, int64_t, r->rank + 1);
  for (uint32_t d = 0; d < r->rank; d++) {
    most[d] = r->extent[d] > 1 ? r->extent[d] : 1;
    t.bytes *= (double)r->extent[d];
  }
  for (uint32_t d = 0; t.bytes <= 0 && d < r->rank; d++) most[d] = 1;
  t.most = most;
  k = NEW(a, uint32_t);
  *k = g->tensors.len;
  vec_push(a, g->tensors, t);
  map_put(seen, r->node, k);
  return *k;
}

static double part_size(const EinNode *n) {
  if (n->kind != EIN_VERTEX || !n->sum) return dtype_size(n->dtype);
  return dtype_size(n->sum->acc) + (reducer_is_arg(n->sum->reducer) ? 8 : 0);
}

PlaceGraph *place_graph(Arena *a, const PartGraph *read) {
  PlaceGraph *g = NEW(a, PlaceGraph);
  Map seen = map_new(a);
  const PartGraph *part = g->part = reads_once(a, read);
  g->tensor = NEW_ARRAY(a, const uint32_t *, part->vertices.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    PlaceTensor t = {v->node, (int32_t)i, v->n_out, v->extent, v->most, dtype_size(v->node->dtype), part_size(v->node)};
    for (uint32_t l = 0; l < v->n_out; l++) t.bytes *= (double)v->extent[l];
    vec_push(a, g->tensors, t);
  }
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    uint32_t *tensor = NEW_ARRAY(a, uint32_t, v->reads.len + 1);
    for (uint32_t k = 0; k < v->reads.len; k++) {
      const PartRead *r = &v->reads.at[k];
      tensor[k] = r->from >= 0 ? (uint32_t)r->from : input_tensor(a, g, &seen, r);
    }
    g->tensor[i] = tensor;
  }
  alikes_find(a, g);
  return g;
}

/* ---- placements of a choice ----------------------------------------------------------------------------- */

/* The placement in which the vertex's kernels produce it. */
Placement made_at(const PartVertex *v, const Mesh *m, const int8_t *label) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < m->n; a++)
    p.on[a] = label[a] < 0 ? PLACE_ALL : label[a] < (int)v->n_out ? label[a] : PLACE_PART;
  return p;
}

/* The placement in which the vertex's kernels want it, in the maker's labels; for a state, its dimensions are its
 * labels. */
Placement wanted_at(const PartRead *r, const Mesh *m, const int8_t *label) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < m->n; a++) {
    p.on[a] = PLACE_ALL;
    for (uint32_t k = r->rank; k-- > 0;) {
      int32_t d = r->from < 0 ? (int32_t)k : r->made[k];
      if (label[a] >= 0 && r->label[k] == label[a] && d >= 0) p.on[a] = (int8_t)d;
    }
  }
  return p;
}

/* If it is in parts, it is reduced to its destination. */
Placement reduced_at(const Mesh *m, const Placement *made, const Placement *home) {
  Placement p = *made;
  for (uint32_t a = 0; a < m->n; a++)
    if (made->on[a] == PLACE_PART) p.on[a] = home->on[a];
  return p;
}

double stored_copies(const PlaceTensor *t, const Mesh *m, const Placement *home) {
  if (t->node->kind == EIN_TURNS) return 0; /* they are a state's first value, and known everywhere */
  return t->bytes * (double)(placement_copies(m, home) - 1);
}

/* ---- moves --------------------------------------------------------------------------------------------------- */

static double moved(const PlaceTensor *t, const Mesh *m, const Placement *from, const Placement *to) {
  if (placement_equal(m, from, to)) return 0;
  if (mesh_sites(m) > PLACING_LOOKED) return t->bytes * place_share(m, from, to);
  return dtype_size(t->node->dtype) * place_move(m, t->n, t->extent, from, to);
}

static double reduced(const PlaceTensor *t, const Mesh *m, const Placement *made, const Placement *between) {
  if (mesh_sites(m) <= PLACING_LOOKED) return t->part * place_reduce(m, t->n, t->extent, made, between);
  return t->part * t->bytes / dtype_size(t->node->dtype) * place_reduce_share(m, made, between);
}

Placement placing_between(const PlaceGraph *g, const Placing *p, uint32_t i) {
  const PlaceTensor *t = &g->tensors.at[i];
  Placement made = made_at(&g->part->vertices.at[i], &p->mesh, p->label[i]);
  return place_between(&p->mesh, t->n, t->most, &made, &p->home[i]);
}

double placing_brought(const PlaceGraph *g, const Placing *p, uint32_t i) {
  const PlaceTensor *t = &g->tensors.at[i];
  if (t->vertex < 0) return stored_copies(t, &p->mesh, &p->home[i]);
  const PartVertex *v = &g->part->vertices.at[i];
  if (v->node->kind == EIN_STATE) return 0; /* it is put there */
  Placement made = made_at(v, &p->mesh, p->label[i]), between = placing_between(g, p, i);
  return v->times * (reduced(t, &p->mesh, &made, &between) + moved(t, &p->mesh, &between, &p->home[i]));
}

/* A stack has what its maker made in each turn: that many times as much. */
double turns_in(const PlaceTensor *t, const PartRead *r) {
  double bytes = dtype_size(t->node->dtype);
  for (uint32_t k = 0; k < r->rank; k++) bytes *= (double)r->extent[k];
  return t->bytes > 0 ? bytes / t->bytes : 0;
}

Placement placing_wanted(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k, double *times) {
  const PartRead *r = &g->part->vertices.at[i].reads.at[k];
  *times = r->times * turns_in(&g->tensors.at[g->tensor[i][k]], r);
  return wanted_at(r, &p->mesh, r->call ? p->label[i] : p->home[i].on);
}

Placement placing_made(const PlaceGraph *g, const Placing *p, uint32_t i, Placement *between) {
  Placement made = made_at(&g->part->vertices.at[i], &p->mesh, p->label[i]);
  *between = reduced_at(&p->mesh, &made, &p->home[i]);
  return made;
}

double placing_read(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k) {
  double times;
  uint32_t t = g->tensor[i][k];
  Placement to = placing_wanted(g, p, i, k, &times);
  if (placing_again(g, p, i, k)) return 0;
  if (!reach_is_plain(g, i, k))
    return reach_bytes(
        g, &p->mesh, i, k, &p->home[t], g->part->vertices.at[i].reads.at[k].call ? p->label[i] : p->home[i].on);
  return times * moved(&g->tensors.at[t], &p->mesh, &p->home[t], &to);
}

bool placing_ways(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k, double *whole, double *asked) {
  /* the paper knows of no requests */
  if (g->part->vertices.at[i].reads.at[k].asked <= 0 || (g->cost && g->cost->paper)) return false;
  reach_ways(g, &p->mesh, i, k, &p->home[g->tensor[i][k]], p->label[i], whole, asked);
  return true;
}

bool placing_fetches(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k) {
  double whole, asked;
  return placing_ways(g, p, i, k, &whole, &asked) && asked < whole;
}

double placing_received(const PlaceGraph *g, const Placing *p, uint32_t i) {
  double bytes = 0;
  for (uint32_t k = 0; k < g->part->vertices.at[i].reads.len; k++) bytes += placing_read(g, p, i, k);
  return bytes;
}

double placing_bytes(const PlaceGraph *g, const Placing *p) {
  double bytes = 0;
  for (uint32_t i = 0; i < g->tensors.len; i++) bytes += placing_brought(g, p, i);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) bytes += placing_received(g, p, i);
  return bytes;
}

const char *placing_dimension(Arena *a, const PlaceGraph *g, uint32_t tensor, uint32_t d) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  if (t->vertex >= 0) return g->part->vertices.at[t->vertex].label[d]->s;
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    for (uint32_t k = 0; k < v->reads.len; k++)
      if (g->tensor[i][k] == tensor && v->reads.at[k].label[d] >= 0) return v->label[v->reads.at[k].label[d]]->s;
  }
  return arena_printf(a, "%u", d + 1);
}

void placing_counts(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t *d) {
  for (uint32_t l = 0; l < g->part->vertices.at[vertex].n_label; l++) d[l] = 1;
  for (uint32_t a = 0; a < p->mesh.n; a++)
    if (p->label[vertex][a] >= 0) d[p->label[vertex][a]] *= p->mesh.size[a];
}

bool placing_is_proven(const Placing *p) {
  return p->cost <= p->bound * (1 + 1e-9);
}
