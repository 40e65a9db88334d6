/* plan/placing/cost.c - the cost of choices in seconds, by the TRA paper's count of moves, and with a price on
 * memory. */
#include <math.h>

#include "inside.h"
#include "windows.h"

#include "reach.h"

/* ---- prices --------------------------------------------------------------------------------------------- */

static double price_at(const PlaceGraph *g, uint32_t step, Phase k) {
  return g->cost && g->cost->price ? g->cost->price[step * PHASES + (uint32_t)k] : 0;
}

/* Of what a site has at home, over the steps during which it exists. */
static double memory_home(const PlaceGraph *g, const Mesh *m, uint32_t tensor, const Placement *home) {
  double cost = 0;
  if (!g->cost || !g->cost->price) return 0;
  vec_each(const Life, x, g->cost->lives->all) {
    double price = 0;
    if (x->tensor != tensor) continue;
    for (size_t s = (size_t)x->from * PHASES; s < ((size_t)x->to + 1) * PHASES; s++) price += g->cost->price[s];
    if (price > 0) cost += price * x->times * life_bytes(g, x, m, home);
  }
  return cost;
}

/* For an operand as fetched. */
static double price_fetched(const PlaceGraph *g, uint32_t vertex, uint32_t read) {
  if (!g->cost || !g->cost->price) return 0;
  Fetched f = g->cost->lives->fetched[vertex][read];
  double price = 0;
  if (f.from == f.to) return panels_have_read(g->cost->lives, vertex, read) ? 0 : price_at(g, vertex, PHASE_KERNEL);
  for (size_t s = (size_t)f.from * PHASES; s < ((size_t)f.to + 1) * PHASES; s++) price += g->cost->price[s];
  return price;
}

static double weight_of(const PlaceGraph *g) {
  return g->cost && g->cost->memory_only ? 0 : 1;
}

/* ---- pairs ------------------------------------------------------------------------------------------------ */

static PairCost pair_of(
    const PlaceGraph *g, const Mesh *m, const Links *l, const PlaceTensor *t, double turns, double times) {
  return (PairCost){.g = g,
      .mesh = m,
      .links = l,
      .rank = t->n,
      .extent = t->extent,
      .most = t->most,
      .size = dtype_size(t->node->dtype) * turns,
      .part = t->part,
      .turns = turns,
      .times = weight_of(g) * times};
}

PairCost pair_read(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex, uint32_t read) {
  const PartRead *r = &g->part->vertices.at[vertex].reads.at[read];
  const PlaceTensor *t = &g->tensors.at[g->tensor[vertex][read]];
  PairCost c = pair_of(g, m, l, t, turns_in(t, r), r->times);
  if (g->part->vertices.at[vertex].node->kind == EIN_VERTEX) c.price[PHASE_KERNEL] = price_fetched(g, vertex, read);
  c.alone = t->vertex < 0 && g->cost && g->cost->lives && g->cost->lives->n_read[g->tensor[vertex][read]] < 2;
  return c;
}

PairCost pair_made(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex) {
  const PlaceTensor *t = &g->tensors.at[vertex];
  PairCost c = pair_of(g, m, l, t, 1, g->part->vertices.at[vertex].times);
  c.price[PHASE_REDUCE] = price_at(g, vertex, PHASE_REDUCE);
  c.price[PHASE_HOME] = price_at(g, vertex, PHASE_HOME);
  c.sliced = g->cost && g->cost->lives && panels_have_made(g, g->cost->lives, vertex);
  if (c.sliced && g->cost->lives->panels == PANELS_BOTH) c.price[PHASE_REDUCE] += price_at(g, vertex, PHASE_KERNEL);
  return c;
}

void pair_key(const PairCost *c, Buf *key) {
  const double numbers[] = {
      c->size, c->part, c->turns, c->times, c->price[0], c->price[1], c->price[2], c->alone, c->sliced};
  buf_add(key, (const char *)numbers, sizeof numbers);
  buf_add(key, (const char *)c->extent, c->rank * sizeof *c->extent);
  buf_add(key, (const char *)c->most, c->rank * sizeof *c->most);
}

static double block_bytes(const PairCost *c, const Placement *p) {
  double bytes = c->size;
  for (uint32_t d = 0; d < c->rank; d++) {
    int64_t n = placement_count(c->mesh, p, (int8_t)(d < 127 ? d : 127));
    bytes *= (double)(c->extent[d] / n + (c->extent[d] % n > 0));
  }
  return bytes;
}

static double parts_bytes(const PairCost *c, const Placement *from) {
  return c->sliced ? 0 : block_bytes(c, from) * c->part * c->turns / c->size;
}

static double memory_cost(const PairCost *c, const Placement *from, const Placement *between, const Placement *to) {
  double cost = 0;
  bool reduced = !placement_equal(c->mesh, from, between), moved = !placement_equal(c->mesh, between, to);
  if (c->price[PHASE_KERNEL] > 0 && !placement_within(c->mesh, from, to))
    cost += c->price[PHASE_KERNEL] * block_bytes(c, to);
  if (c->price[PHASE_KERNEL] > 0 && c->alone && placement_copies(c->mesh, from) > 1)
    cost += c->price[PHASE_KERNEL] * block_bytes(c, from);
  if (c->price[PHASE_REDUCE] > 0)
    cost += c->price[PHASE_REDUCE] * (reduced ? parts_bytes(c, from) + block_bytes(c, between) : block_bytes(c, from));
  if (c->price[PHASE_HOME] > 0)
    cost += c->price[PHASE_HOME] * (block_bytes(c, between) + (moved ? block_bytes(c, to) : 0));
  return cost;
}

/* As placing_elements does: nothing where every site already has its data. */
double pair_elements(const PairCost *c, const Placement *from, const Placement *to) {
  double elements = c->turns, parts = 1;
  bool first = false;
  Placement between = place_between(c->mesh, c->rank, c->most, from, to);
  for (uint32_t d = 0; d < c->rank; d++) elements *= (double)c->extent[d];
  for (uint32_t a = 0; a < c->mesh->n; a++) {
    parts *= from->on[a] == PLACE_PART ? c->mesh->size[a] : 1;
    first |= between.on[a] == PLACE_FIRST && c->mesh->size[a] > 1;
  }
  double cost = parts > 1 ? elements * parts * (double)placement_copies(c->mesh, &between) : 0;
  if (first || !placement_within(c->mesh, &between, to)) cost += elements * (double)placement_copies(c->mesh, to);
  return c->times * cost;
}

/* Parts may go directly to their destination. */
double pair_elements_least(const PairCost *c, const PlaceCounts *from, const PlaceCounts *to) {
  double elements = c->turns, cost = 0;
  bool has = true;
  for (uint32_t d = 0; d < c->rank; d++) {
    elements *= (double)c->extent[d];
    has = has && fmod(to->count[d], from->count[d]) == 0;
  }
  if (from->parts > 1) cost += elements * from->parts * from->copies;
  return c->times * (cost + (has ? 0 : elements * to->copies));
}

double pair_memory(const PairCost *c, const Placement *from, const Placement *to) {
  if (c->price[0] <= 0 && c->price[1] <= 0 && c->price[2] <= 0) return 0;
  Placement between = reduced_at(c->mesh, from, to);
  return memory_cost(c, from, &between, to);
}

double pair_seconds(const PairCost *c, const Placement *from, const Placement *to) {
  Placement between = reduced_at(c->mesh, from, to);
  double reduced = links_reduce(c->links, c->rank, c->extent, c->size, from, &between);
  return c->times * (reduced + links_move(c->links, c->rank, c->extent, c->size, &between, to));
}

/* ---- one choice ----------------------------------------------------------------------------------------------- */

static void counts_of(const PartVertex *v, const Mesh *m, const int8_t *label, uint32_t *count) {
  for (uint32_t l = 0; l < v->n_label; l++) count[l] = 1;
  for (uint32_t a = 0; a < m->n; a++)
    if (label[a] >= 0) count[label[a]] *= m->size[a];
}

static bool has_parts(const Mesh *m, const Placement *made) {
  bool parts = false;
  for (uint32_t a = 0; a < m->n; a++) parts |= made->on[a] == PLACE_PART;
  return parts;
}

double cut_cost(const PlaceGraph *g, const Mesh *m, uint32_t vertex, const int8_t *label) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  Arena *many = v->n_label > 256 ? arena_new() : NULL;
  uint32_t few[256], *count = many ? NEW_ARRAY(many, uint32_t, v->n_label) : few;
  double cost = 0, price = price_at(g, vertex, PHASE_KERNEL);
  counts_of(v, m, label, count);
  if (g->cost->seconds) cost = weight_of(g) * v->times * seconds_kernels(g->cost->seconds, v, vertex, count);
  if (many) arena_free(many);
  if (price <= 0) return cost;
  Placement made = made_at(v, m, label);
  bool sliced = panels_have_made(g, g->cost->lives, vertex);
  if (sliced && (g->cost->lives->panels == PANELS_BOTH || has_parts(m, &made))) return cost;
  const PlaceTensor *t = &g->tensors.at[vertex];
  double larger = has_parts(m, &made) ? t->part / dtype_size(t->node->dtype) : 1;
  return cost + price * larger * placement_bytes(t, m, &made);
}

/* An input is stored once; if it has more than one copy, all of them are moved. */
static double elements_copied(const PlaceTensor *t, double copies) {
  return t->node->kind == EIN_TURNS || copies <= 1 ? 0 : t->bytes / dtype_size(t->node->dtype) * copies;
}

static double copies_seconds(const PlaceTensor *t, const Mesh *m, const Links *l, const Placement *home) {
  Placement stored = place_stored(m, t->n, t->most, home);
  return links_copies(l, t->n, t->extent, dtype_size(t->node->dtype), &stored, home);
}

double home_cost(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t tensor, const Placement *home) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  double cost = 0, copies = (double)placement_copies(m, home);
  if (t->vertex < 0 && l) cost = weight_of(g) * copies_seconds(t, m, l, home);
  else if (t->vertex < 0 && g->cost->paper) cost = weight_of(g) * elements_copied(t, copies);
  else if (t->vertex < 0) cost = weight_of(g) * t->bytes * (copies - 1);
  return cost + memory_home(g, m, tensor, home);
}

/* ---- costs of a placing ------------------------------------------------------------------------------------------ */

/* The cost of a plan in seconds. */
static PlaceGraph plain(const PlaceGraph *g, PlaceCost *cost, const Seconds *s) {
  PlaceGraph x = *g;
  *cost = (PlaceCost){.seconds = s};
  x.cost = cost;
  return x;
}

double placing_kernels(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t vertex) {
  PlaceCost cost;
  PlaceGraph x = plain(g, &cost, s);
  return g->part->vertices.at[vertex].node->kind == EIN_VERTEX ? cut_cost(&x, &p->mesh, vertex, p->label[vertex]) : 0;
}

double placing_received_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t vertex) {
  PlaceCost cost;
  PlaceGraph x = plain(g, &cost, s);
  Links l = seconds_links(s, &p->mesh, p->room);
  double seconds = panels_seconds(g, s, &l, p, vertex), times;
  for (uint32_t k = 0; k < g->part->vertices.at[vertex].reads.len; k++) {
    PairCost c = pair_read(&x, &p->mesh, &l, vertex, k);
    if (placing_panelled(g, p, vertex, k) >= 0 || placing_again(g, p, vertex, k)) continue;
    if (!reach_is_plain(g, vertex, k)) {
      seconds += c.times * windows_seconds(g, &l, p, vertex, k);
      continue;
    }
    Placement to = placing_wanted(g, p, vertex, k, &times);
    seconds += pair_seconds(&c, &p->home[g->tensor[vertex][k]], &to);
  }
  return seconds;
}

double placing_brought_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t tensor) {
  PlaceCost cost;
  PlaceGraph x = plain(g, &cost, s);
  Links l = seconds_links(s, &p->mesh, p->room);
  if (g->tensors.at[tensor].vertex < 0) return home_cost(&x, &p->mesh, &l, tensor, &p->home[tensor]);
  if (g->part->vertices.at[tensor].node->kind != EIN_VERTEX) return 0;
  PairCost c = pair_made(&x, &p->mesh, &l, tensor);
  Placement between, made = placing_made(g, p, tensor, &between);
  return pair_seconds(&c, &made, &p->home[tensor]);
}

double placing_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p) {
  double seconds = 0;
  for (uint32_t i = 0; i < g->tensors.len; i++) seconds += placing_brought_seconds(g, s, p, i);
  for (uint32_t i = 0; i < g->part->vertices.len; i++)
    seconds += placing_received_seconds(g, s, p, i) + placing_kernels(g, s, p, i);
  return seconds;
}

void placing_count(const PlaceGraph *g, Placing *p) {
  p->cost = p->bytes = placing_bytes(g, p);
  if (g->cost && g->cost->seconds) {
    Placing at_once = *p;
    at_once.panels = NULL;
    p->cost = placing_seconds(g, g->cost->seconds, &at_once);
    p->seconds = placing_seconds(g, g->cost->seconds, p);
  }
  if (g->cost && g->cost->paper) p->cost = p->elements = placing_elements(g, p);
}

/* ---- as the TRA paper counts ----------------------------------------------------------------------------------- */

static PlaceGraph as_paper(const PlaceGraph *g, PlaceCost *cost) {
  PlaceGraph x = *g;
  *cost = (PlaceCost){.paper = true};
  x.cost = cost;
  return x;
}

double placing_read_elements(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k) {
  PlaceCost cost;
  PlaceGraph x = as_paper(g, &cost);
  double times;
  const Placement *home = &p->home[g->tensor[i][k]];
  const int8_t *on = g->part->vertices.at[i].reads.at[k].call ? p->label[i] : p->home[i].on;
  if (placing_again(g, p, i, k)) return 0;
  if (!reach_is_plain(g, i, k)) return reach_elements(g, &p->mesh, i, k, home, on);
  PairCost c = pair_read(&x, &p->mesh, NULL, i, k);
  Placement to = placing_wanted(g, p, i, k, &times);
  return pair_elements(&c, home, &to);
}

double placing_received_elements(const PlaceGraph *g, const Placing *p, uint32_t i) {
  double elements = 0;
  for (uint32_t k = 0; k < g->part->vertices.at[i].reads.len; k++) elements += placing_read_elements(g, p, i, k);
  return elements;
}

double placing_brought_elements(const PlaceGraph *g, const Placing *p, uint32_t tensor) {
  PlaceCost cost;
  PlaceGraph x = as_paper(g, &cost);
  if (g->tensors.at[tensor].vertex < 0) return home_cost(&x, &p->mesh, NULL, tensor, &p->home[tensor]);
  if (g->part->vertices.at[tensor].node->kind != EIN_VERTEX) return 0;
  PairCost c = pair_made(&x, &p->mesh, NULL, tensor);
  Placement made = made_at(&g->part->vertices.at[tensor], &p->mesh, p->label[tensor]);
  return pair_elements(&c, &made, &p->home[tensor]);
}

double placing_elements(const PlaceGraph *g, const Placing *p) {
  double elements = 0;
  for (uint32_t i = 0; i < g->tensors.len; i++) elements += placing_brought_elements(g, p, i);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) elements += placing_received_elements(g, p, i);
  return elements;
}
