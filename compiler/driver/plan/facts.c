/* driver/plan/facts.c - works out the facts of a plan for many sites that reports show. */
#include "facts.h"

#include "driver/table.h"

/* ---- what a site has and does ---------------------------------------------------------------------------- */

static double home_block(const Sites *p, uint32_t tensor) {
  const PlaceTensor *t = &p->places->tensors.at[tensor];
  double n = dtype_size(t->node->dtype);
  for (uint32_t d = 0; d < t->n; d++) {
    uint32_t count = d < INT8_MAX ? placement_count(&p->placing->mesh, &p->placing->home[tensor], (int8_t)d) : 1;
    n *= part_block(t->extent[d], count);
  }
  return n;
}

static void work_find(const PartVertex *v, const uint32_t *d, FactTensor *t) {
  if (v->node->kind != EIN_VERTEX) return;
  SumCount n = sum_count(v->sum, NULL);
  double times = v->times * v->inner, points = times * part_points(v, NULL);
  t->point = times * (double)(n.flops + n.integer);
  t->flops = points * (double)n.flops;
  t->integer = points * (double)n.integer;
  t->busiest = t->point * part_points(v, d);
}

/* ---- tensors ------------------------------------------------------------------------------------------------- */

static void vertex_find(const Sites *p, uint32_t i, FactTensor *t) {
  Arena *a = p->s->arena;
  const PartVertex *v = &p->g->vertices.at[i];
  t->equation = sites_equation(a, v);
  t->state = v->node->kind == EIN_STATE;
  t->cut = t->state && p->asked.by_bytes ? "" : sites_cut(a, v, v->n_label, p->choice.d[i]);
  work_find(v, p->choice.d[i], t);
  if (p->asked.by_bytes) {
    t->received = placing_received(p->places, p->placing, i);
    return;
  }
  PartCost c = part_cost_vertex(p->g, i, p->choice.d);
  t->received = c.join + c.repartition;
  t->brought = c.aggregate;
}

const char *tensor_name(const Sites *p, const PlaceGraph *g, uint32_t i) {
  const PlaceTensor *t = &g->tensors.at[i];
  return t->vertex >= 0 ? p->g->vertices.at[t->vertex].name : t->node->name ? t->node->name->s : "";
}

const char *tensor_called(const Sites *p, Arena *a, uint32_t i) {
  const char *name = tensor_name(p, p->places, i);
  return *name ? shown(a, name) : "an input";
}

static void tensor_find(const Sites *p, const PlaceGraph *g, uint32_t i, FactTensor *t) {
  Arena *a = p->s->arena;
  const PlaceTensor *x = &g->tensors.at[i];
  *t = (FactTensor){.vertex = x->vertex, .cut = "", .home = "", .size = x->bytes, .kept = 1, .param = x->node->param};
  t->name = shown(a, tensor_name(p, g, i));
  t->line = line_text(a, p->j.path, x->node->place);
  if (x->vertex >= 0) vertex_find(p, i, t);
  else t->equation = arena_printf(a, "%s of %s", x->node->param ? "param" : "input", bytes_of(a, x->bytes));
  if (!p->asked.by_bytes) return;
  t->home = home_text(a, p, i);
  t->at_home = home_block(p, i);
  t->brought = placing_brought(g, p->placing, i);
  if (t->vertex >= 0) t->memory = p->fit.peak.by[i];
  if (p->seconds)
    t->seconds = t->vertex >= 0 ? vertex_seconds(p, i) : placing_brought_seconds(g, p->seconds, p->placing, i);
}

/* ---- lifetimes ------------------------------------------------------------------------------------------------ */

/* By region, its first and last step. */
typedef struct Steps { Map first, last; } Steps;

static void *step_as(uint32_t i) {
  return (void *)((uintptr_t)i + 1);
}

static Steps steps_find(Arena *a, const PartGraph *g) {
  Steps x = {map_new(a), map_new(a)};
  for (uint32_t i = 0; i < g->vertices.len; i++)
    for (const EinRegion *r = g->vertices.at[i].node->region; r; r = r->parent) {
      if (!map_find(&x.first, r)) map_put(&x.first, r, step_as(i));
      map_put(&x.last, r, step_as(i));
    }
  return x;
}

/* A turn reads again what the last one read: up to the end of the outermost repeat that does not contain the tensor. */
static uint32_t used_until(const Steps *x, const EinRegion *home, const PartVertex *reader, uint32_t step) {
  const EinRegion *r = reader->node->region;
  if (r == home) return step;
  while (r->parent && r->parent != home) r = r->parent;
  return r->parent ? (uint32_t)((uintptr_t)map_find(&x->last, r) - 1) : step;
}

/* What a stack keeps of it: the ratio of the stack's size to that of a turn. */
static void kept_find(FactTensor *t, const EinNode *n) {
  double bytes = dtype_size(n->dtype);
  if (n->kind != EIN_STACK) return;
  for (uint32_t k = 0; k < n->rank; k++) bytes *= n->dim[k]->kind == EX_INT ? (double)n->dim[k]->i : 1;
  if (t->size > 0 && bytes / t->size > t->kept) t->kept = bytes / t->size;
}

/* A repeat's result is the tensor that was made in it. */
static int32_t tensor_of(const Map *by_node, const EinNode *n) {
  while (n->kind == EIN_FINAL || n->kind == EIN_STACK)
    n = n->kind == EIN_FINAL ? n->repeat->body->states.at[n->index].node : n->repeat->body->stacks.at[n->index].node;
  return (int32_t)(uintptr_t)map_find(by_node, n) - 1;
}

static void outputs_mark(Facts *f) {
  Map by_node = map_new(f->p->s->arena);
  const EinGraph *g = f->p->j.graph;
  for (uint32_t i = 0; i < f->tensors.len; i++) map_put(&by_node, f->g->tensors.at[i].node, step_as(i));
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    int32_t k = tensor_of(&by_node, g->outputs.at[i].node);
    if (k < 0) continue;
    FactTensor *t = &f->tensors.at[k];
    t->output = true;
    kept_find(t, g->outputs.at[i].node);
    t->last = f->steps ? f->steps - 1 : 0;
  }
}

static void stays_find(Facts *f) {
  const PartGraph *part = f->g->part;
  Steps x = steps_find(f->p->s->arena, part);
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    FactTensor *t = &f->tensors.at[i];
    t->last = t->vertex < 0 ? (f->steps ? f->steps - 1 : 0) : i;
    t->first = t->vertex < 0 ? 0 : i;
    if (t->state) t->last = used_until(&x, part->vertices.at[i].node->region->parent, &part->vertices.at[i], i);
  }
  vec_each(const FactRead, r, f->reads) {
    FactTensor *t = &f->tensors.at[r->tensor];
    const PartVertex *reader = &part->vertices.at[r->vertex];
    const PartRead *read = &reader->reads.at[r->read];
    const EinNode *node = read->node;
    uint32_t until = r->back ? t->last : read->call ? used_until(&x, node->region, reader, r->vertex) : r->vertex;
    if (until > t->last) t->last = until;
    kept_find(t, node);
  }
  outputs_mark(f);
  for (uint32_t i = 0; i < f->tensors.len; i++) { /* a stack exists from the first turn on */
    FactTensor *t = &f->tensors.at[i];
    if (t->vertex >= 0 && t->kept > 1)
      t->first = (uint32_t)((uintptr_t)map_find(&x.first, part->vertices.at[i].node->region) - 1);
  }
}

/* ---- everything together ---------------------------------------------------------------------------------------- */

static double read_moved(const Sites *p, const PlaceGraph *g, uint32_t i, uint32_t k) {
  const PartRead *r = &g->part->vertices.at[i].reads.at[k];
  if (p->asked.by_bytes) return placing_read(g, p->placing, i, k);
  return r->from < 0 ? 0 : r->times * part_repartition(r, p->choice.d[i], p->choice.d[r->from]);
}

static void reads_find(Facts *f) {
  const PartGraph *part = f->g->part;
  for (uint32_t i = 0; i < part->vertices.len; i++)
    for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++) {
      FactRead r = {f->g->tensor[i][k], i, k, false, read_moved(f->p, f->g, i, k), 0, 0};
      if (f->p->asked.by_bytes) placing_ways(f->g, f->p->placing, i, k, &r.whole, &r.asked);
      r.back = f->tensors.at[r.tensor].vertex >= 0 && r.tensor >= i;
      vec_push(f->p->s->arena, f->reads, r);
    }
}

const char *facts_way(Arena *a, const Facts *f, const FactRead *r) {
  const char *of = shown(a, f->tensors.at[r->tensor].name);
  if (r->moved <= 0 || r->asked <= 0) return NULL;
  if (r->asked < r->whole)
    return arena_printf(a, "places of %s, %s at most; all of it would be %s", of, facts_moved(a, f, r->asked),
        facts_moved(a, f, r->whole));
  return arena_printf(
      a, "all of %s, %s; places of it could be %s", of, facts_moved(a, f, r->whole), facts_moved(a, f, r->asked));
}

/* By bytes, site by site; where there are only counts, a site has the largest block of every equation. */
static void busiest_find(Facts *f) {
  Arena *a = f->p->s->arena;
  uint32_t n = f->steps;
  double *point = NEW_ARRAY(a, double, n + 1), *most = NEW_ARRAY(a, double, n + 1);
  for (uint32_t i = 0; i < f->tensors.len; i++) f->busiest += f->tensors.at[i].busiest;
  if (!f->p->asked.by_bytes) return;
  for (uint32_t i = 0; i < n; i++) point[i] = f->tensors.at[i].point;
  f->busiest = placing_operations(f->g, f->p->placing, point, most);
  for (uint32_t i = 0; i < n; i++) f->tensors.at[i].busiest = most[i];
}

static void totals_find(Facts *f) {
  double most = -1;
  f->largest = -1;
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const FactTensor *t = &f->tensors.at[i];
    f->flops += t->flops;
    f->integer += t->integer;
    f->moved += t->received + t->brought;
    if (t->vertex < 0 || t->output || t->size * t->kept <= most) continue;
    most = t->size * t->kept;
    f->largest = (int32_t)i;
  }
}

Facts *facts_find(const Sites *p) {
  Arena *a = p->s->arena;
  Facts *f = MAKE(a, Facts, .p = p, .g = p->places ? p->places : place_graph(a, p->g), .steps = p->g->vertices.len);
  for (uint32_t i = 0; i < f->g->tensors.len; i++) {
    FactTensor t;
    tensor_find(p, f->g, i, &t);
    vec_push(a, f->tensors, t);
  }
  reads_find(f);
  stays_find(f);
  totals_find(f);
  busiest_find(f);
  return f;
}

/* ---- amounts ---------------------------------------------------------------------------------------------------- */

const char *count_amount(Arena *a, double x) {
  return x < 9e18 ? amount(a, (int64_t)(x + 0.5), "") : arena_printf(a, "%.3g", x);
}

const char *facts_moved(Arena *a, const Facts *f, double x) {
  return f->p->asked.by_bytes ? bytes_of(a, x) : count_amount(a, x);
}

const char *flops_amount(Arena *a, double flops, double integer) {
  if (integer <= 0) return count_amount(a, flops);
  return arena_printf(a, "%s, and %s operations on integers", count_amount(a, flops), count_amount(a, integer));
}
