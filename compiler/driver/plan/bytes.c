/* driver/plan/bytes.c - ein plan for many sites by bytes: the mesh, what its axes cut, where tensors stay
 * (plan/placing/placing.h).
 * docs/schema/ein-placing-1.json says what --format=json writes. */
#include "expr/prove/asked.h"
#include "page/page.h"
#include "rival.h"
#include "sites.h"
#include "why.h"
#include "driver/table.h"

/* ---- plans -------------------------------------------------------------------------------------------------- */

/* Counts are products of axes. */
static const char *not_cut(const Sites *p, const char *name) {
  Arena *a = p->s->arena;
  const Mesh *m = p->places->fixed->mesh;
  if (m)
    return arena_printf(
        a, "%s cannot be cut so along the axes of the plan's mesh, %s", shown(a, name), times_text(a, m, "x"));
  return arena_printf(a,
      "%s cannot be cut so by a mesh of %lld sites: each of its axes cuts one label, and their sizes multiply to that, "
      "so the counts of a tensor multiply to a divisor of %lld; with a line `mesh`, a plan file can leave sites idle",
      shown(a, name), (long long)p->sites, (long long)p->sites);
}

/* The best placing with the planner's vectors: on a mesh with few axes if possible, else on one with many; there
 * *exactly says, by vertex, whether it has the planner's counts. */
static Placing *placing_by(
    Sites *p, Planner who, PartChoice *choice, const PartVectors **cuts, const bool **exactly, const char **why) {
  Session *s = p->s;
  const PartVectors *only = p->said;
  uint32_t which, n = p->g->vertices.len;
  Buf words = buf_new(s->arena);
  if (who != PLANNER_EXACT) {
    if (!part_plan(s->arena, p->g, p->vectors, who, p->asked.budget, choice, &words)) return *why = words.s, NULL;
    PartVectors *its = NEW_ARRAY(s->arena, PartVectors, n + 1);
    for (uint32_t i = 0; i < n; i++) its[i] = (PartVectors){1, p->g->vertices.at[i].n_label, choice->d[i]};
    only = its;
  }
  *cuts = only;
  PlaceGraph places = *p->places;
  places.busy = who != PLANNER_EXACT && placing_is_large(p->places); /* planners that claim no bound get none */
  Placing *x = placing_best(s->arena, &places, p->sites, only, p->asked.budget, &which);
  if (x) return x;
  *why = not_cut(p, p->g->vertices.at[which].name);
  if (who == PLANNER_EXACT || p->places->fixed->mesh) return NULL;
  bool *same = NEW_ARRAY(s->arena, bool, n + 1);
  *exactly = same;
  *why = NULL;
  return placing_realise(s->arena, p->places, p->sites, choice->d, p->asked.budget, same);
}

/* Takes another plan if it costs less, with no more work than the search allows. */
static bool placing_take(Sites *p, Placing *x) {
  const Placing *was = p->placing;
  bool fits = was->allowed <= 0 || placing_work(p->places, x) <= was->allowed * (1 + 1e-12);
  if (!fits || x->cost >= was->cost * (1 - 1e-9)) return false;
  x->bound = was->bound < x->cost ? was->bound : x->cost;
  x->narrow = was->narrow;
  x->allowed = was->allowed;
  x->busy = was->busy;
  p->placing = x;
  return true;
}

/* If the search is far from a proof, tries the other planners' plans too; for a large graph each would take as long
 * again. */
static void others_try(Sites *p) {
  enum { SHARE = 16 };
  Session *s = p->s;
  Sites other = *p;
  bool narrow = false;
  if (p->asked.who != PLANNER_EXACT || p->places->fixed->mesh || p->placing->cost <= 1.01 * p->placing->bound ||
      placing_is_large(p->places))
    return;
  if (!other.vectors)
    other.vectors = plan_vectors(s->arena, p->g, p->sites, p->asked.plan, &narrow, diags_new(s->arena));
  other.asked.budget = p->asked.budget / (double)SHARE;
  for (int k = PLANNER_LINEAR; other.vectors && k < PLANNERS; k++) {
    const PartVectors *cuts;
    const char *why = NULL;
    PartChoice choice;
    Placing *x = placing_by(&other, (Planner)k, &choice, &cuts, &other.exactly, &why);
    if (x) placing_take(p, x);
  }
}

static void choice_of_placing(Sites *p) {
  uint32_t n = p->g->vertices.len;
  const uint32_t **d = NEW_ARRAY(p->s->arena, const uint32_t *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *count = NEW_ARRAY(p->s->arena, uint32_t, p->g->vertices.at[i].n_label + 1);
    placing_counts(p->places, p->placing, i, count);
    d[i] = count;
  }
  p->choice.d = d;
}

/* Finds the runner-up; as long as it is better than the plan, it becomes the plan. */
static Leave rivals_try(Sites *p, const PartVectors *cuts) {
  enum { TIMES = 8 };
  p->report.second = rival_find(p);
  for (uint32_t k = 0; k < TIMES && p->report.second->placing && placing_take(p, p->report.second->placing); k++) {
    Leave l = memory_fit(p, cuts);
    if (l) return l;
    choice_of_placing(p);
    p->report.second = rival_find(p);
  }
  if (!p->report.second->placing || p->report.second->placing->cost >= p->placing->cost * (1 - 1e-9)) return LEAVE_OK;
  RunnerUp *none = NEW(p->s->arena, RunnerUp);
  none->why = "not looked for any longer: each plan that was found so was better than the one before";
  p->report.second = none;
  return LEAVE_OK;
}

Leave bytes_find(Sites *p) {
  const char *why = NULL;
  const PartVectors *cuts;
  Leave l = costs_ready(p);
  if (l) return l;
  p->placing = placing_by(p, p->asked.who, &p->choice, &cuts, &p->exactly, &why);
  if (!p->placing && p->asked.held) return p->fit.unfit = why, LEAVE_PROGRAM;
  if (!p->placing) return fail(p->s, LEAVE_PROGRAM, "%s", why);
  others_try(p);
  l = memory_fit(p, cuts);
  if (l) return l;
  choice_of_placing(p);
  if (!p->asked.held) l = rivals_try(p, cuts);
  vec_each(Rival, r, p->against)
    r->placing = placing_by(p, r->who, &r->choice, &cuts, &r->exactly, &r->why);
  return l;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

const char *bytes_of(Arena *a, double x) {
  return x < 9e18 ? amount(a, (int64_t)(x + 0.5), "B") : arena_printf(a, "%.3g B", x);
}

/* The set of plans that the search covers; by seconds, all on such a mesh. */
static const char *among(const Sites *p) {
  return p->placing->allowed > 0 ? " whose busiest site has at most twice the least work" : "";
}

/* For a large program plans without idle axes are explored better than others. */
static const char *in_use(const Placing *x, const char *less, Arena *a) {
  if (x->busy <= 0 || x->cost < x->busy * (1 - 1e-9)) return "";
  if (x->cost <= x->busy * (1 + 1e-9)) return arena_printf(a, "with every axis in use, no plan %s; ", less);
  return arena_printf(
      a, "with every axis in use, this one is within %s of the best; ", gap_of(a, (x->cost - x->busy) / x->busy));
}

const char *bytes_best(const Sites *p, Arena *a) {
  const Placing *x = p->placing;
  const char *less = p->asked.in_seconds ? "is faster" : p->asked.in_elements ? "costs less" : "moves less";
  const char *once = p->asked.in_seconds && x->panels ? "without panels, " : ""; /* the search knows none */
  if (p->asked.who != PLANNER_EXACT) return NULL; /* its bound is only for these cuts */
  if (x->narrow && !placing_is_proven(x)) return SITES_NARROW;
  if (placing_is_proven(x))
    return arena_printf(a, "%s%sno plan on such a mesh %s%s", among_given(p), once, less, among(p));
  if (x->bound <= 0) return NULL;
  return arena_printf(a,
      "%s%s%sno plan on such a mesh%s %s than %s%s: this one is within %s of the best", among_given(p), once,
      in_use(x, less, a), among(p), p->asked.in_seconds ? "takes less" : less, cost_text(p, a, x->bound),
      p->fit.unlimited ? ", whatever memory it takes" : "", gap_of(a, (x->cost - x->bound) / x->bound));
}

static void head_facts(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  const Facts *f = p->report.facts;
  buf_printf(
      b, "  %-22s%s; at most %s a site\n", "flops", flops_amount(a, f->flops, f->integer), count_amount(a, f->busiest));
  buf_printf(b, "  %-22s", "largest intermediate");
  if (f->largest < 0) buf_str(b, "none\n");
  else {
    const FactTensor *t = &f->tensors.at[f->largest];
    buf_printf(
        b, "%s, %s; at most %s a site\n", t->name, bytes_of(a, t->size * t->kept), bytes_of(a, t->at_home * t->kept));
  }
}

static void rival_print(const Sites *p, const char *head, const RunnerUp *r, Buf *b) {
  Buf words = buf_new(b->arena);
  rival_text(p, r, &words);
  rival_line(head, &words, "; it would move ", b);
}

static void rivals_print(const Sites *p, Buf *b) {
  const RunnerUp *other = p->report.second->other;
  rival_print(p, "runner-up", p->report.second, b);
  if (other)
    rival_print(p, arena_printf(b->arena, "next best for %s", shown(b->arena, p->g->vertices.at[other->vertex].name)),
        other, b);
}

enum { AT_NUMBERS, AT_TURNS, AT_DATA };

/* What gives the places. */
static int read_at(const Facts *f, const FactRead *r) {
  const PartRead *of = &f->g->part->vertices.at[r->vertex].reads.at[r->read];
  unsigned has = 0;
  for (uint32_t d = 0; d < of->rank; d++) has |= of->index[d]->has;
  return has & HAS_READ ? AT_DATA : has & HAS_TURN ? AT_TURNS : AT_NUMBERS;
}

/* A line for each table of which places are read and that moves, those that move most first; of many only a few. */
static void ways_print(const Sites *p, Buf *b) {
  enum { LINES = 3 };
  const Facts *f = p->report.facts;
  bool *said = NEW_ARRAY(b->arena, bool, f->reads.len + 1);
  static const char *const head[] = {"read at numbers", "read at turns", "read at data"};
  int last = -1;
  uint32_t n = 0, lines = 0;
  for (uint32_t i = 0; i < f->reads.len; i++) n += facts_way(b->arena, f, &f->reads.at[i]) != NULL;
  for (; lines < n && lines < LINES; lines++) {
    uint32_t most = UINT32_MAX;
    for (uint32_t i = 0; i < f->reads.len; i++)
      if (!said[i] && facts_way(b->arena, f, &f->reads.at[i]) &&
          (most == UINT32_MAX || f->reads.at[i].moved > f->reads.at[most].moved))
        most = i;
    const FactRead *r = &f->reads.at[most];
    said[most] = true;
    int at = read_at(f, r);
    buf_printf(b, "  %-22s%s receives %s\n", at == last ? "" : head[at], f->tensors.at[r->vertex].name,
        facts_way(b->arena, f, r));
    last = at;
  }
  if (n > lines) buf_printf(b, "  %-22sand %u more\n", "", n - lines);
}

static void head_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  const Placing *x = p->placing;
  sites_head(p, b);
  buf_printf(b, "  %-22s", "mesh");
  for (uint32_t k = 0; k < x->mesh.n; k++) buf_printf(b, "%s%u", k ? " x " : "", x->mesh.size[k]);
  int64_t idle = p->sites - mesh_sites(&x->mesh);
  buf_str(b, x->mesh.n ? "" : "1");
  if (idle) buf_printf(b, ", %lld site%s idle", (long long)idle, idle > 1 ? "s" : "");
  buf_char(b, '\n');
  if (p->report.strategy) buf_printf(b, "  %-22s%s\n", "strategy", p->report.strategy);
  if (p->orders.fastest > 0)
    buf_printf(b, "  %-22sby moves; those that are fastest on one site cost %s\n", "orders of products",
        cost_text(p, b->arena, p->orders.fastest));
  if (p->asked.in_elements)
    buf_printf(
        b, "  %-22s%s elements (%.0f), as the TRA paper counts\n", "moved", count_amount(a, x->elements), x->elements);
  buf_printf(b, "  %-22s%s in all, %s a site on average\n", "received", bytes_of(a, x->bytes),
      bytes_of(a, x->bytes / (double)p->sites));
  less_cut_print(p, b);
  head_facts(p, b);
  ways_print(p, b);
  machine_text(p, b);
  usual_text(p, b);
  const char *best = bytes_best(p, a);
  if (best) buf_printf(b, "  %s\n", best);
  rivals_print(p, b);
  whys_print(p, b);
  against_print(p, b);
}

enum { COL_NAME, COL_EQUATION, COL_CUT, COL_HOME, COL_RECEIVED, COL_BROUGHT, COL_TIME, COL_MEMORY, COL_LINE, COLUMNS };

/* "s=4", "s=4 on 2" with two copies, "everywhere". */
const char *home_text(Arena *a, const Sites *p, uint32_t tensor) {
  const PlaceTensor *t = &p->places->tensors.at[tensor];
  const Placement *home = &p->placing->home[tensor];
  Buf b = buf_new(a);
  for (uint32_t d = 0; d < t->n && d < 127; d++) {
    uint32_t n = placement_count(&p->placing->mesh, home, (int8_t)d);
    if (n > 1) buf_printf(&b, "%s%s=%u", b.len ? " " : "", placing_dimension(a, p->places, tensor, d), n);
  }
  int64_t copies = placement_copies(&p->placing->mesh, home);
  if (!b.len) return "everywhere";
  if (copies > 1) buf_printf(&b, ", %lld times", (long long)copies);
  return b.s;
}

/* "i=4 k=2", "i=4 in 8 panels of k" */
static const char *cut_text(const Sites *p, uint32_t i, Arena *a) {
  const PartVertex *v = &p->g->vertices.at[i];
  const char *cut = sites_cut(a, v, v->n_label, p->choice.d[i]);
  const PlacePanels *x = p->placing->panels ? &p->placing->panels[i] : NULL;
  return x && x->n ? arena_printf(a, "%s in %u panels of %s", cut, x->n, v->label[x->label]->s) : cut;
}

/* Without a machine there is no time. */
static void row_add(const Sites *p, Table *t, TableRow r, Arena *a) {
  for (int c = COL_TIME; !p->seconds && c + 1 < COLUMNS; c++) r.cell[c] = r.cell[c + 1];
  vec_push(a, t->rows, r);
}

static void tensors_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  int columns = COLUMNS - !p->seconds;
  Table t = {.columns = columns, .clipped = COL_EQUATION,
             .left = 1u << COL_NAME | 1u << COL_EQUATION | 1u << COL_CUT | 1u << COL_HOME | 1u << (columns - 1)};
  row_add(p, &t,
      (TableRow){
          .cell = {"tensor", "equation", "cut", "home", "operands", "result", "time", "memory", "line"}, .tail = ""},
      a);
  for (uint32_t i = 0; i < p->places->tensors.len; i++) {
    const FactTensor *x = &p->report.facts->tensors.at[i];
    bool made = x->vertex >= 0;
    row_add(p, &t,
        (TableRow){.cell = {x->name, x->equation, made && !x->state ? cut_text(p, i, a) : "", x->home,
                       made ? bytes_of(a, x->received) : "", bytes_of(a, x->brought), seconds_of(a, x->seconds),
                       made ? bytes_of(a, x->memory) : "", x->line},
            .tail = ""},
        a);
  }
  table_print(b, &t);
}

void bytes_text(const Sites *p, Buf *b) {
  head_print(p, b);
  buf_char(b, '\n');
  tensors_print(p, b);
  devices_text(p, b);
  simulation_text(p, b);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void put_work(Json *j, double flops, double integer, double busiest) {
  json_object(j, "work");
  put_count(j, "flops", flops);
  put_count(j, "integer_operations", integer);
  put_count(j, "site_operations", busiest);
  json_end(j, '}');
}

static void put_busiest(Json *j, const Sites *p) {
  json_object(j, "busiest");
  put_count(j, "operations", placing_work(p->places, p->placing));
  if (json_has(j, "limit", p->placing->allowed > 0)) put_count(j, "limit", p->placing->allowed);
  json_end(j, '}');
}

static Str label_number(void *ctx, int64_t number) {
  return strings_printf(ctx, "l%lld", (long long)number);
}

/* If labels alone do not determine what a block of them reads: the index by dimension. */
static void put_indices(Json *j, const Sites *p, const PartRead *r) {
  ExprNames names = {.ctx = p->s->strings, .label = label_number};
  if (!json_has(j, "indices", r->index)) return;
  json_each(j, "indices", k, r->rank) {
    Buf b = buf_new(p->s->arena);
    if (r->index[k]->has & (HAS_READ | HAS_TURN | HAS_DIM | HAS_PARAM)) json_null(j, NULL);
    else expr_print(&b, r->index[k], &names), json_str(j, NULL, b.s);
  }
}

/* For a read at indices from data: which dimensions form the place, how often it would be requested, and whether it
 * is. */
static void put_asked(Json *j, const Sites *p, uint32_t i, uint32_t k) {
  const PartRead *r = &p->g->vertices.at[i].reads.at[k];
  double whole, asked;
  Asked q;
  if (!json_has(j, "asked", placing_ways(p->places, p->placing, i, k, &whole, &asked))) return;
  asked_of(p->s->arena, p->g->vertices.at[i].n_label, r->rank, r->index, &q);
  json_object(j, "asked");
  json_each(j, "places", d, r->rank) json_bool(j, NULL, q.place[d]);
  json_each(j, "points", l, q.n_label)
    if (q.label[l]) json_int(j, NULL, l);
  put_count(j, "times", r->asked);
  put_count(j, "bytes", asked);
  put_count(j, "whole", whole);
  json_end(j, '}');
}

static void put_reads(Json *j, const Sites *p, uint32_t i) {
  const PartVertex *v = &p->g->vertices.at[i];
  json_each(j, "reads", k, v->reads.len) {
    const PartRead *r = &v->reads.at[k];
    double times;
    placing_wanted(p->places, p->placing, i, k, &times);
    json_object(j, NULL);
    json_int(j, "tensor", p->places->tensor[i][k]);
    put_read_shape(j, r);
    put_indices(j, p, r);
    put_asked(j, p, i, k);
    json_bool(j, "called", r->call);
    put_count(j, "times", placing_again(p->places, p->placing, i, k) ? 0 : times);
    put_count(j, "received", placing_read(p->places, p->placing, i, k));
    if (p->asked.in_elements) put_count(j, "elements", placing_read_elements(p->places, p->placing, i, k));
    json_end(j, '}');
  }
}

static void put_more(Json *j, const RunnerUp *r) {
  if (!json_has(j, "more", r->more > 0)) return;
  json_object(j, "more");
  json_int(j, "tensor", r->tensor);
  json_bool(j, "operands", r->operands);
  put_count(j, "bytes", r->more);
  json_end(j, '}');
}

static void put_runner_up(Json *j, const Sites *p) {
  const RunnerUp *r = p->report.second;
  json_object(j, "runner_up");
  if (r->why) json_str(j, "why", r->why);
  else {
    json_int(j, "vertex", p->g->vertices.at[r->vertex].node->id);
    json_ints(j, "counts", p->g->vertices.at[r->vertex].n_label, r->d);
    put_count(j, "bytes", r->placing->bytes);
    if (p->asked.in_elements) put_count(j, "elements", r->placing->elements);
    put_more(j, r);
  }
  json_end(j, '}');
}

static void put_panels(Json *j, const Placing *x, uint32_t i) {
  if (!x->panels || !x->panels[i].n) return;
  json_object(j, "panels");
  json_int(j, "label", x->panels[i].label);
  json_int(j, "count", x->panels[i].n);
  json_array(j, "apart");
  for (int r = 0; r < 64; r++)
    if (x->panels[i].apart >> r & 1) json_int(j, NULL, r);
  json_end(j, ']');
  json_end(j, '}');
}

static void put_vertex(Json *j, const Sites *p, uint32_t i) {
  const FactTensor *t = &p->report.facts->tensors.at[i];
  const PartVertex *v = &p->g->vertices.at[i];
  json_object(j, NULL);
  json_int(j, "id", v->node->id);
  json_str(j, "name", v->name);
  json_place(j, v->node->place);
  json_str(j, "equation", sites_equation(p->s->arena, v));
  put_count(j, "times", v->times);
  put_labels(j, v, p->choice.d[i]);
  json_ints(j, "axes", p->placing->mesh.n, p->placing->label[i]);
  put_panels(j, p->placing, i);
  put_reads(j, p, i);
  put_count(j, "received", placing_received(p->places, p->placing, i));
  if (p->seconds) {
    const Computing *x = &p->seconds->computing[i];
    put_count(j, "site_points", part_points(v, p->choice.d[i]));
    json_num(j, "point_operations", x->operations);
    json_str(j, "point_rate", arena_printf(p->s->arena, "%s %s", dtype_name(x->dtype), machine_rate_name[x->rate]));
    json_num(j, "kernel_seconds", placing_kernels(p->places, p->seconds, p->placing, i));
    json_num(j, "received_seconds", placing_received_seconds(p->places, p->seconds, p->placing, i));
  }
  put_count(j, "memory", t->memory);
  put_work(j, t->flops, t->integer, t->busiest);
  json_end(j, '}');
}

static void put_tensor(Json *j, const Sites *p, uint32_t i) {
  const FactTensor *x = &p->report.facts->tensors.at[i];
  const PlaceTensor *t = &p->places->tensors.at[i];
  json_object(j, NULL);
  json_str(j, "name", tensor_name(p, p->places, i));
  if (json_has(j, "vertex", t->vertex >= 0)) json_int(j, "vertex", t->node->id);
  put_count(j, "bytes", t->bytes);
  json_str(j, "dtype", dtype_name(t->node->dtype));
  json_ints(j, "extents", t->n, t->extent);
  json_ints(j, "most", t->n, t->most);
  json_int(j, "part", (int64_t)t->part);
  json_ints(j, "home", p->placing->mesh.n, p->placing->home[i].on);
  put_count(j, "block", x->at_home);
  put_count(j, "kept", x->kept);
  json_int(j, "first", x->first);
  json_int(j, "last", x->last);
  put_count(j, "brought", placing_brought(p->places, p->placing, i));
  if (p->asked.in_elements) put_count(j, "brought_elements", placing_brought_elements(p->places, p->placing, i));
  if (p->seconds) json_num(j, "brought_seconds", placing_brought_seconds(p->places, p->seconds, p->placing, i));
  json_end(j, '}');
}

void put_placing(Json *j, const Sites *p, const Placing *x) {
  put_count(j, "bytes", x->bytes);
  if (p->asked.in_seconds) json_num(j, "seconds", x->seconds);
  if (p->asked.in_elements) put_count(j, "elements", x->elements);
}

void bytes_json(const Sites *p, Buf *out) {
  Json j = json_new(out);
  json_object(&j, NULL);
  put_head(&j, p, "ein placing 1", p->asked.in_seconds ? "seconds" : p->asked.in_elements ? "ia" : "bytes");
  json_ints(&j, "mesh", p->placing->mesh.n, p->placing->mesh.size);
  put_count(&j, "bytes", p->placing->bytes);
  if (p->asked.in_elements) put_count(&j, "elements", p->placing->elements);
  machine_json(p, &j);
  usual_json(p, &j);
  simulation_json(p, &j);
  devices_json(p, &j);
  if (p->placing->narrow || p->asked.who != PLANNER_EXACT) json_null(&j, "bound");
  else if (p->asked.in_seconds) json_num(&j, "bound", p->placing->bound);
  else put_count(&j, "bound", p->placing->bound);
  put_work(&j, p->report.facts->flops, p->report.facts->integer, p->report.facts->busiest);
  put_busiest(&j, p);
  if (json_has(&j, "largest_intermediate", p->report.facts->largest >= 0))
    json_int(&j, "largest_intermediate", p->report.facts->largest);
  json_str(&j, "strategy", p->report.strategy);
  put_runner_up(&j, p);
  whys_json(p, &j);
  json_each(&j, "vertices", i, p->g->vertices.len) put_vertex(&j, p, i);
  json_each(&j, "tensors", i, p->places->tensors.len) put_tensor(&j, p, i);
  put_rivals(&j, p);
  json_end(&j, '}');
}
