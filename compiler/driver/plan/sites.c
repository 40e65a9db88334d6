/* driver/plan/sites.c - ein plan for many sites: reads what is asked for; and with --costs=eindecomp, into how many
 * blocks each label of each tensor is cut, and the elements that this moves, as the EinDecomp paper counts them
 * (plan/partition.h).
 * docs/schema/ein-partition-1.json says what --format=json then writes. */
#include "sites.h"

#include <string.h>

#include "graph/passes/passes.h"
#include "device/device.h"
#include "page/page.h"
#include "why.h"
#include "driver/table.h"

#define BUDGET_USUAL 4e9

/* ---- the request ----------------------------------------------------------------------------------------- */

Leave sites_read(Session *s, const Args *a, int64_t *sites) {
  const char *said = arg_last(a, OPT_SITES);
  *sites = 1;
  if (!said || (int64_read(said, strlen(said), sites) && *sites >= 1 && *sites <= PLAN_SITES)) return LEAVE_OK;
  return fail(s, LEAVE_USAGE, "-n %s: expected a number of sites, from 1 to %d", said, PLAN_SITES);
}

static Leave plan_file(Session *s, const char *path, Plan **out) {
  Source *src = file_read(s, path);
  *out = src ? plan_read(s->arena, s->strings, src, s->diags) : NULL;
  return *out ? LEAVE_OK : src ? session_report(s) : LEAVE_MACHINE;
}

Leave sites_said(Session *s, Args *a, const char *program) {
  static const OptionId about[] = {OPT_PIN, OPT_PLANNER, OPT_COSTS, OPT_BUDGET};
  const char *path = arg_last(a, OPT_PLAN_FILE);
  Plan *plan;
  if (arg_has(a, OPT_SITES) || s->ranks) return LEAVE_OK;
  for (size_t k = 0; k < COUNT(about) && !path; k++)
    if (arg_has(a, about[k]))
      return fail(s, LEAVE_USAGE, "--%s is for plans for many sites; -n says for how many", options[about[k]].name);
  if (!path || language_of(program) >= LANG_TRA) return LEAVE_OK;
  Leave l = plan_file(s, path, &plan);
  if (!l) vec_push(s->arena, a->given[OPT_SITES], arena_printf(s->arena, "%lld", (long long)plan->sites));
  return l;
}

static Leave budget_read(Sites *p, const Args *a) {
  const char *said = arg_last(a, OPT_BUDGET);
  p->asked.budget = BUDGET_USUAL;
  if (!said || (double_read(said, strlen(said), &p->asked.budget) && p->asked.budget >= 1)) return LEAVE_OK;
  return fail(p->s, LEAVE_USAGE, "--plan-budget %s: expected a number of additions, as 1e9", said);
}

static Leave rival_add(Sites *p, const char *name) {
  Session *s = p->s;
  Rival r = {0};
  if (!*name || strcmp(name, "all") == 0)
    return fail(s, LEAVE_USAGE, "--against: expected planners with commas between, as sqrt,data; or all, alone");
  if (!planner_find(name, &r.who)) {
    Nearest near = nearest_to(s->arena, name);
    for (int k = 0; k < PLANNERS; k++) nearest_try(&near, planner_info[k].name);
    if (near.best) return fail(s, LEAVE_USAGE, "--against: there is no planner %s; did you mean %s?", name, near.best);
    return fail(s, LEAVE_USAGE, "--against: there is no planner %s; ein help plan names them", name);
  }
  vec_push(s->arena, p->against, r);
  return LEAVE_OK;
}

Leave rivals_read(Sites *p, const Args *a) {
  const char *at = arg_last(a, OPT_AGAINST);
  if (at && strcmp(at, "all") == 0) {
    for (int k = 0; k < PLANNERS; k++)
      if (k != (int)p->asked.who) rival_add(p, planner_info[k].name);
    return LEAVE_OK;
  }
  const Words names = commas_of(p->s->arena, at);
  for (uint32_t i = 0; i < names.len; i++) {
    Leave l = rival_add(p, names.at[i]);
    if (l) return l;
  }
  return LEAVE_OK;
}

/* A plan's file and pins on the command line together say what is fixed. */
static Leave said_read(Sites *p, const Args *a, Plan **out) {
  Session *s = p->s;
  const char *path = arg_last(a, OPT_PLAN_FILE);
  const Words *files = &a->given[OPT_PLAN_FILE];
  if (files->len > 1) return fail(s, LEAVE_USAGE, "--plan is given twice: %s and %s", files->at[0], files->at[1]);
  *out = NEW(s->arena, Plan);
  (*out)->sites = p->sites;
  if (path) {
    Leave l = plan_file(s, path, out);
    if (l) return l;
    if (!arg_has(a, OPT_SITES) && !p->asked.held) p->sites = (*out)->sites;
    else if (p->sites != (*out)->sites)
      return fail(s, LEAVE_USAGE, "%s is a plan for %lld sites, and %s %lld", path, (long long)(*out)->sites,
                  p->asked.held ? "it is to be one for" : "-n says", (long long)p->sites);
  }
  vec_each_of(const char, pin, a->given[OPT_PIN]) {
    plan_read_pin(s->arena, s->strings, source_new(s->arena, "--pin", pin, strlen(pin)), *out, s->diags);
  }
  return session_report(s);
}

/* For a program over relations that have no placements yet: its keys. */
static Leave keys_wanted(Sites *p) {
  Buf why = buf_new(p->s->arena);
  p->keys = keys_graph(p->s->arena, p->j.relations, &why);
  if (!p->keys) return fail(p->s, LEAVE_PROGRAM, "%s cannot be planned: %s", p->j.path, why.s);
  p->j.graph = p->keys->graph;
  p->g = p->keys->part;
  return LEAVE_OK;
}

static Leave program_compile(Session *s, Job *j, const Args *a) {
  int64_t keep = j->keep;
  Leave l = job_read(s, j, a, a->operands.at[0]);
  j->keep = keep;
  if (!l) l = job_sizes(s, j, a);
  return l ? l : job_graph(s, j, a);
}

/* Bytes and seconds are minimised for the graph as run, after its passes; the papers count the program as written. */
static Leave graph_wanted(Sites *p, const Args *a) {
  Session *s = p->s;
  Buf why = buf_new(s->arena);
  Leave l = p->j.graph ? LEAVE_OK : program_compile(s, &p->j, a);
  if (l) return l;
  p->asked.lean = p->j.program && p->j.lower > 0;
  if (job_unplaced(&p->j)) return keys_wanted(p);
  if (p->j.past)
    return fail(s, LEAVE_USAGE, "%s has no equations any more: a plan for many sites is made of a program or its graph",
        p->j.path);
  bool written = (!p->asked.by_bytes || p->asked.in_elements) && !arg_has(a, OPT_DETERMINISTIC);
  int64_t order = p->orders.by_moves ? p->sites : 1;
  if (!written) l = p->sites > 1 ? job_optimised_on(s, &p->j, a, order) : job_optimised(s, &p->j, a);
  if (l) return l;
  p->orders.elaborated = p->j.graph;
  p->j.graph = written ? graph_stepwise(s->arena, p->j.graph) : graph_bands(s->arena, p->j.best);
  if ((l = job_narrow(s, &p->j, p->j.graph))) return l;
  graph_names(p->j.graph);
  p->g = part_from_graph(s->arena, p->j.graph, &why);
  return p->g ? LEAVE_OK : fail(s, LEAVE_USAGE, "%s; -D gives a dim its value", why.s);
}

/* ---- other orders of products ------------------------------------------------------------------------------ */

/* Whether some products can be added up under one sum. */
static bool sums_open(const Sites *p) {
  PassNotes notes = pass_notes(p->s->arena);
  graph_added(p->s->arena, p->j.best, &notes);
  return pass_count(&notes, "added", NULL) > 0;
}

/* Whether the planner may choose among all plans, and some product's steps have an order, or some sums could be one. */
static bool orders_open(const Sites *p) {
  const Plan *said = p->asked.plan;
  bool free = !said->vertices.len && !said->homes.len && !said->panels.len && !said->room && !said->meshed &&
      !said->by_moves;
  bool exact = p->asked.by_bytes && !p->asked.in_elements && p->asked.who == PLANNER_EXACT;
  return free && exact && !p->keys && p->sites > 1 && p->j.notes &&
         (pass_count(p->j.notes, "contract", "products ordered") > 0 || sums_open(p));
}

/* Makes the graph again, with products in orders that move little; false: they are in these already, or cannot be
 * planned so. */
static bool orders_by_moves(Sites *p, const Args *a) {
  Session *s = p->s;
  Buf why = buf_new(s->arena);
  const EinGraph *was = p->j.graph;
  p->j.graph = p->orders.elaborated;
  p->orders.by_moves = true;
  if (job_optimised_on(s, &p->j, a, p->sites)) return false;
  p->j.graph = graph_bands(s->arena, p->j.best);
  graph_names(p->j.graph);
  if (graph_equal(was, p->j.graph, &why)) return false;
  p->g = part_from_graph(s->arena, p->j.graph, &why);
  return p->g != NULL;
}

static Leave cuts_wanted(Sites *p) {
  Session *s = p->s;
  bool all = !p->asked.by_bytes || p->asked.who != PLANNER_EXACT || p->against.len;
  if (all) p->vectors = plan_vectors(s->arena, p->g, p->sites, p->asked.plan, &p->narrow, s->diags);
  p->said = plan_said(s->arena, p->g, p->sites, p->asked.plan, s->diags);
  return (all && !p->vectors) || !p->said ? session_report(s) : LEAVE_OK;
}

/* By bytes or seconds: tries the orders that are fastest on one site, and takes those that move least if they cost
 * less; for a large graph another search would take as long again. */
static Leave orders_find(Sites *p, const Args *a) {
  Sites other = *p;
  other.against.at = NEW_ARRAY(p->s->arena, Rival, p->against.len + 1);
  other.against.cap = p->against.len + 1;
  if (p->against.len) memcpy(other.against.at, p->against.at, p->against.len * sizeof *p->against.at);
  Leave l = bytes_find(p);
  if (l || !orders_open(p) || placing_is_large(p->places) || !orders_by_moves(&other, a) || cuts_wanted(&other) ||
      bytes_find(&other))
    return l;
  bool fits = p->fit.unfit && !other.fit.unfit,
       less = !p->fit.unfit == !other.fit.unfit && other.placing->cost < p->placing->cost * (1 - 1e-9);
  if (fits || less) {
    other.orders.fastest = p->placing->cost;
    *p = other;
  }
  return LEAVE_OK;
}

/* ---- the plans --------------------------------------------------------------------------------------------- */

/* What actually moves: on a mesh, by bytes. */
static Leave plan_realise(Sites *p) {
  Leave l = costs_ready(p);
  if (l) return l;
  bool *exactly = NEW_ARRAY(p->s->arena, bool, p->g->vertices.len + 1);
  p->exactly = exactly;
  p->placing = placing_realise(p->s->arena, p->places, p->sites, p->choice.d, p->asked.budget, exactly);
  BUG_UNLESS(p->placing);
  return LEAVE_OK;
}

static Leave plans_find(Sites *p) {
  Session *s = p->s;
  Buf why = buf_new(s->arena);
  if (!part_plan(s->arena, p->g, p->vectors, p->asked.who, p->asked.budget, &p->choice, &why))
    return fail(s, LEAVE_PROGRAM, "%s", why.s);
  if (p->narrow) p->choice.bound = 0;
  vec_each(Rival, r, p->against) {
    Buf words = buf_new(s->arena);
    bool able = part_plan(s->arena, p->g, p->vectors, r->who, p->asked.budget, &r->choice, &words);
    r->why = able ? NULL : words.s;
  }
  return plan_realise(p);
}

static bool proven(const PartChoice *c) {
  return c->bound > 0 ? c->bound >= c->cost.all : c->cost.all <= 0;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

const char *cost_text(const Sites *p, Arena *a, double x) {
  if (!p->asked.by_bytes || p->asked.in_elements) return count_amount(a, x);
  return p->asked.in_seconds ? seconds_of(a, x) : bytes_of(a, x);
}

/* The first vertex that its axes cut less than planned; -1: none. */
static int32_t less_cut_first(const Sites *p, const bool *exactly) {
  for (uint32_t i = 0; exactly && i < p->g->vertices.len; i++)
    if (p->g->vertices.at[i].node->kind == EIN_VERTEX && !exactly[i]) return (int32_t)i;
  return -1;
}

void against_text(const Sites *p, const Rival *r, Buf *b) {
  if (p->asked.by_bytes ? !r->placing : r->why != NULL) {
    buf_printf(b, "not here: %s", r->why);
    return;
  }
  double ours = p->asked.by_bytes ? p->placing->cost : p->choice.cost.all,
         its = p->asked.by_bytes ? r->placing->cost : r->choice.cost.all;
  buf_str(b, cost_text(p, b->arena, its));
  if (ours > 0) buf_printf(b, ", %.2f times as %s", its / ours, p->asked.in_seconds ? "long" : "much");
  if (less_cut_first(p, r->exactly) >= 0) buf_str(b, ", with a mesh that cuts some tensors less");
}

void against_print(const Sites *p, Buf *b) {
  vec_each(const Rival, r, p->against) {
    buf_printf(b, "  %-22s", arena_printf(b->arena, "by %s", planner_info[r->who].name));
    against_text(p, r, b);
    buf_char(b, '\n');
  }
}

/* Whether pins or a plan file fix a part of the plan. */
static bool sites_given(const Sites *p) {
  const Plan *x = p->asked.plan;
  return x->meshed || x->vertices.len || x->homes.len || x->panels.len || x->room > 0;
}

const char *among_given(const Sites *p) {
  return sites_given(p) ? "with " SITES_GIVEN ", " : "";
}

const char *sites_planned(const Sites *p) {
  if (p->asked.who != PLANNER_EXACT) return planner_info[p->asked.who].what;
  bool least = p->asked.by_bytes ? placing_is_proven(p->placing) : !p->narrow && proven(&p->choice);
  if (!least) return "the best that was found";
  return sites_given(p) ? "the least cost with " SITES_GIVEN : "the least cost";
}

void sites_head(const Sites *p, Buf *b) {
  buf_printf(b, "%s, on %lld site%s, planned by %s: %s\n", shown(b->arena, p->j.path), (long long)p->sites,
      p->sites > 1 ? "s" : "", planner_info[p->asked.who].name, sites_planned(p));
}

/* "Z k=4", for a vertex that its axes do not cut as planned. */
static void less_cut(const Sites *p, uint32_t i, Buf *b) {
  const PartVertex *v = &p->g->vertices.at[i];
  uint32_t *d = NEW_ARRAY(b->arena, uint32_t, v->n_label + 1);
  placing_counts(p->places, p->placing, i, d);
  buf_printf(b, "%s %s", shown(b->arena, v->name), sites_cut(b->arena, v, v->n_label, d));
}

void less_cut_print(const Sites *p, Buf *b) {
  int32_t first = less_cut_first(p, p->exactly);
  uint32_t others = 0;
  if (first < 0) return;
  for (uint32_t i = (uint32_t)first + 1; i < p->g->vertices.len; i++)
    others += p->g->vertices.at[i].node->kind == EIN_VERTEX && !p->exactly[i];
  buf_printf(b, "  %-22s", "cut less by the mesh");
  less_cut(p, (uint32_t)first, b);
  if (others) buf_printf(b, ", and %u more", others);
  buf_char(b, '\n');
}

/* Prints what the plan moves on a mesh. */
static void realised_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  const Placing *x = p->placing;
  buf_printf(b, "  %-22s%s in all, %s a site on average, on a mesh of %s\n", "received", bytes_of(a, x->bytes),
      bytes_of(a, x->bytes / (double)p->sites), times_text(a, &x->mesh, "x"));
  if (p->seconds) buf_printf(b, "  %-22s%s: %s\n", "time", seconds_of(a, plan_seconds(p)), seconds_shares(p, a));
  less_cut_print(p, b);
}

static void head_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  const PartCost *c = &p->choice.cost;
  sites_head(p, b);
  buf_printf(b, "  %-22s%s elements (%.0f)\n", "moved", count_amount(a, c->all), c->all);
  buf_printf(b, "  %-22s%s\n", "  to kernels", count_amount(a, c->join));
  buf_printf(b, "  %-22s%s\n", "  to be reduced", count_amount(a, c->aggregate));
  buf_printf(b, "  %-22s%s\n", "  to be cut anew", count_amount(a, c->repartition));
  realised_print(p, b);
  usual_text(p, b);
  if (p->narrow) buf_printf(b, "  %s\n", SITES_NARROW);
  else if (proven(&p->choice)) buf_printf(b, "  %sno plan moves less\n", among_given(p));
  else if (p->choice.bound > 0)
    buf_printf(b, "  %sno plan moves less than %s: this one is within %s of the best\n", among_given(p),
               count_amount(a, p->choice.bound), gap_of(a, (c->all - p->choice.bound) / p->choice.bound));
  against_print(p, b);
}

enum { COL_NAME, COL_EQUATION, COL_CUT, COL_CALLS, COL_JOIN, COL_AGG, COL_REPART, COL_LINE, COLUMNS };

const char *sites_cut(Arena *a, const PartVertex *v, uint32_t n, const uint32_t *d) {
  Buf b = buf_new(a);
  for (uint32_t l = 0; l < n; l++)
    if (d[l] > 1) buf_printf(&b, "%s%s=%u", b.len ? " " : "", v->label[l]->s, d[l]);
  return b.len ? shown(a, b.s) : "whole";
}

static int64_t calls_of(const PartVertex *v, const uint32_t *d) {
  int64_t n = 1;
  for (uint32_t l = 0; l < v->n_label; l++) n *= d[l];
  return n;
}

const char *gap_of(Arena *a, double share) {
  return arena_printf(a, share < 5e-4 ? "%.1g %%" : "%.1f %%", 100 * share);
}

const char *sites_equation(Arena *a, const PartVertex *v) {
  Buf b = buf_new(a);
  if (v->node->kind == EIN_STATE) return arena_printf(a, "state %s", shown(a, v->name));
  if (v->equation) return v->equation;
  graph_equation(&b, v->node);
  return b.s;
}

static void vertices_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  Table t = {.columns = COLUMNS,
      .clipped = COL_EQUATION,
      .left = 1u << COL_NAME | 1u << COL_EQUATION | 1u << COL_CUT | 1u << COL_LINE};
  vec_push(a, t.rows,
      ((TableRow){
          .cell = {"tensor", "equation", "cut", "calls", "to kernels", "reduced", "cut anew", "line"}, .tail = ""}));
  for (uint32_t i = 0; i < p->g->vertices.len; i++) {
    const PartVertex *v = &p->g->vertices.at[i];
    PartCost c = part_cost_vertex(p->g, i, p->choice.d);
    TableRow r = {.tail = ""};
    r.cell[COL_NAME] = shown(a, v->name);
    r.cell[COL_EQUATION] = sites_equation(a, v);
    r.cell[COL_CUT] = sites_cut(a, v, v->n_label, p->choice.d[i]);
    r.cell[COL_CALLS] = arena_printf(a, "%lld", (long long)calls_of(v, p->choice.d[i]));
    r.cell[COL_JOIN] = count_amount(a, c.join);
    r.cell[COL_AGG] = count_amount(a, c.aggregate);
    r.cell[COL_REPART] = count_amount(a, c.repartition);
    r.cell[COL_LINE] = line_text(a, p->j.path, v->node->place);
    vec_push(a, t.rows, r);
  }
  table_print(b, &t);
}

static void sites_text(const Sites *p, Buf *b) {
  head_print(p, b);
  buf_char(b, '\n');
  vertices_print(p, b);
  devices_text(p, b);
  simulation_text(p, b);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

void put_count(Json *j, const char *key, double x) {
  if (x < 9007199254740992.0) json_int(j, key, (int64_t)x);
  else json_num(j, key, x);
}

static void put_cost(Json *j, const PartCost *c) {
  json_object(j, "cost");
  put_count(j, "join", c->join);
  put_count(j, "aggregation", c->aggregate);
  put_count(j, "repartition", c->repartition);
  put_count(j, "all", c->all);
  json_end(j, '}');
}

void put_labels(Json *j, const PartVertex *v, const uint32_t *d) {
  json_objects(j, "labels", l, v->n_label) {
    json_str(j, "name", v->label[l]->s);
    json_int(j, "extent", v->extent[l]);
    json_int(j, "count", d[l]);
    json_bool(j, "reduced", l >= v->n_out);
  }
}

void put_read_shape(Json *j, const PartRead *r) {
  json_ints(j, "extents", r->rank, r->extent);
  json_ints(j, "labels", r->rank, r->label);
  json_ints(j, "made", r->rank, r->made);
}

static void put_read(Json *j, const Sites *p, const PartRead *r) {
  Arena *a = p->s->arena;
  json_object(j, NULL);
  json_str(j, "tensor", r->node->name ? r->node->name->s : arena_printf(a, "%%%u", r->node->id));
  if (json_has(j, "from", r->from >= 0)) json_int(j, "from", p->g->vertices.at[r->from].node->id);
  put_read_shape(j, r);
  json_bool(j, "called", r->call);
  put_count(j, "times", r->times);
  json_end(j, '}');
}

static void put_reads(Json *j, const Sites *p, const PartVertex *v) {
  json_each(j, "reads", k, v->reads.len) put_read(j, p, &v->reads.at[k]);
}

static void put_vertex(Json *j, const Sites *p, uint32_t i) {
  const PartVertex *v = &p->g->vertices.at[i];
  PartCost c = part_cost_vertex(p->g, i, p->choice.d);
  json_object(j, NULL);
  json_int(j, "id", v->node->id);
  json_str(j, "name", v->name);
  json_place(j, v->node->place);
  json_str(j, "equation", sites_equation(p->s->arena, v));
  json_int(j, "calls", calls_of(v, p->choice.d[i]));
  put_count(j, "times", v->times);
  put_labels(j, v, p->choice.d[i]);
  put_reads(j, p, v);
  if (v->node->kind == EIN_VERTEX) json_ints(j, "axes", p->placing->mesh.n, p->placing->label[i]);
  if (v->node->kind == EIN_VERTEX) json_bool(j, "exactly", p->exactly[i]);
  json_ints(j, "home", p->placing->mesh.n, p->placing->home[i].on);
  put_count(j, "received", placing_received(p->places, p->placing, i));
  put_count(j, "brought", placing_brought(p->places, p->placing, i));
  put_cost(j, &c);
  json_end(j, '}');
}

void put_rivals(Json *j, const Sites *p) {
  json_vec_objects(j, "against", const Rival, r, p->against) {
    json_str(j, "planner", planner_info[r->who].name);
    if (r->why) json_str(j, "why", r->why);
    else if (p->asked.by_bytes) put_placing(j, p, r->placing);
    else put_cost(j, &r->choice.cost);
  }
}

void put_head(Json *j, const Sites *p, const char *schema, const char *measure) {
  json_str(j, "schema", schema);
  json_str(j, "program", p->j.path);
  json_int(j, "sites", p->sites);
  json_str(j, "measure", measure);
  json_str(j, "planner", planner_info[p->asked.who].name);
  json_object(j, "dims");
  for (uint32_t i = 0; i < p->j.graph->dims.len; i++)
    if (p->j.graph->dims.at[i].known) json_int(j, p->j.graph->dims.at[i].name->s, p->j.graph->dims.at[i].value);
  json_end(j, '}');
}

static void sites_json(const Sites *p, Buf *out) {
  Json j = json_new(out);
  json_object(&j, NULL);
  put_head(&j, p, "ein partition 1", "eindecomp");
  put_cost(&j, &p->choice.cost);
  if (json_has(&j, "bound", p->choice.bound > 0)) put_count(&j, "bound", p->choice.bound);
  json_bool(&j, "proven", proven(&p->choice));
  json_ints(&j, "mesh", p->placing->mesh.n, p->placing->mesh.size);
  put_count(&j, "bytes", p->placing->bytes);
  if (p->seconds) json_str(&j, "machine", p->asked.machine->name), json_num(&j, "seconds", plan_seconds(p));
  usual_json(p, &j);
  simulation_json(p, &j);
  devices_json(p, &j);
  json_each(&j, "vertices", i, p->g->vertices.len) put_vertex(&j, p, i);
  put_rivals(&j, p);
  json_end(&j, '}');
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* Under --roundtrip: the plan's text reads back, and leaves only this choice; by bytes it states all of it. */
static void reread(const Sites *p, const Plan *plan, const Buf *text) {
  Session *s = p->s;
  Buf why = buf_new(s->arena);
  bool narrow;
  Diags *d = diags_new(s->arena);
  Plan *again = plan_read(s->arena, s->strings, source_new(s->arena, "the plan", text->s, text->len), d);
  PartVectors *left = again ? plan_vectors(s->arena, p->g, p->sites, again, &narrow, d) : NULL;
  if (!left) diags_text(d, &why, false);
  bool same = left && plan_equal(plan, again, &why);
  if (same && p->asked.by_bytes) {
    const Placing *x = placing_from_plan(s->arena, p->places, again, d);
    same = x && x->bytes == p->placing->bytes;
    if (!x) diags_text(d, &why, false);
  }
  for (uint32_t i = 0; same && i < p->g->vertices.len; i++)
    same = left[i].n == 1 && memcmp(left[i].at, p->choice.d[i], left[i].n_label * sizeof *left[i].at) == 0;
  if (!same) bug("the plan's text does not read back: %s\n%s", why.s, text->s);
}

static void plan_text_make(const Sites *p, const Args *a, Buf *b) {
  Session *s = p->s;
  Plan *plan = p->asked.by_bytes ? plan_of_placing(s->arena, s->strings, p->places, p->sites, p->placing)
                           : plan_of(s->arena, s->strings, p->g, p->sites, p->choice.d);
  plan->by_moves = p->orders.by_moves;
  if (!p->asked.by_bytes) plan_add_panels(s->arena, s->strings, p->places, p->placing, plan);
  plan_print(b, plan);
  if (arg_has(a, OPT_ROUNDTRIP)) reread(p, plan, b);
}

/* Checks that the format can express all that is requested. */
static Leave format_check(Session *s, const Args *a) {
  const char *format = arg_last(a, OPT_PLAN_FORMAT);
  bool text = !format || strcmp(format, "text") == 0,
       others = text || strcmp(format, "json") == 0 || strcmp(format, "html") == 0;
  if (arg_has(a, OPT_WHY) && (!others || arg_has(a, OPT_DERIVATION)))
    return fail(s, LEAVE_USAGE, "--why is written as text, json or html");
  if (arg_has(a, OPT_DERIVATION) && !text)
    return fail(s, LEAVE_USAGE, "--derivation is written as text, not as %s", format);
  if (!arg_has(a, OPT_AGAINST) || (others && !arg_has(a, OPT_DERIVATION))) return LEAVE_OK;
  return fail(s, LEAVE_USAGE, "--against: text, json and html report other planners, and not %s%s",
              text ? "with --derivation" : "in ", text ? "" : format);
}

static Leave simulate_wanted(const Sites *p, const Args *a) {
  const char *format = arg_last(a, OPT_PLAN_FORMAT);
  if (!arg_has(a, OPT_SIMULATE)) return LEAVE_OK;
  if (!p->asked.machine)
    return fail(
        p->s, LEAVE_USAGE, "--simulate: expected the machine file on whose sites the plan is to run, by --machine");
  bool told = !format || strcmp(format, "text") == 0 || strcmp(format, "json") == 0 || strcmp(format, "html") == 0;
  if (told && !arg_has(a, OPT_DERIVATION)) return LEAVE_OK;
  return fail(p->s, LEAVE_USAGE, "--simulate is written as text, JSON or html; %s has no place for it",
              told ? "--derivation" : arena_printf(p->s->arena, "--format=%s", format));
}

static Leave plan_found(Sites *p, const Args *a) {
  Plan *said = NULL;
  const char *planner = arg_last(a, OPT_PLANNER), *costs = arg_last(a, OPT_COSTS);
  if (planner) BUG_UNLESS(planner_find(planner, &p->asked.who));
  p->asked.by_bytes = !costs || strcmp(costs, "eindecomp") != 0;
  p->asked.in_elements = costs && strcmp(costs, "ia") == 0;
  Leave l = machine_wanted(p, a);
  if (!l) l = simulate_wanted(p, a);
  if (!l) l = budget_read(p, a);
  if (!l) l = rivals_read(p, a);
  if (!l) l = said_read(p, a, &said);
  p->asked.plan = said;
  p->orders.by_moves = !l && said->by_moves;
  if (!l) l = graph_wanted(p, a);
  if (l) return l;
  l = cuts_wanted(p);
  if (!l) l = p->asked.by_bytes ? orders_find(p, a) : plans_find(p);
  if (!l) p->report.facts = facts_find(p);
  return l;
}

/* If no plan keeps a limit of memory, gradients save fewer states of repeats, and plans are searched again. */
Leave sites_find(Sites *p, const Args *a) {
  const Sites asked = *p;
  Leave l = plan_found(p, a);
  while (l && p->fit.unfit && p->asked.lean) {
    int64_t keep = p->j.lower > 2 ? (int64_t)p->j.lower - 1 : 1;
    *p = asked;
    p->j.keep = keep;
    l = p->j.graph ? job_graph(p->s, &p->j, a) : LEAVE_OK;
    if (!l) l = plan_found(p, a);
  }
  return l;
}

static Leave svg_make(const Sites *p, Buf *out) {
  if (picture_svg(p->report.facts, out)) return LEAVE_OK;
  return fail(p->s, LEAVE_USAGE,
      "--format=svg draws %d tensors at most, and there are more; --format=dot writes them for Graphviz", PICTURE_MOST);
}

/* ---- what --deterministic costs --------------------------------------------------------------------------------- */

/* The same plan without it. j: p->j before it was planned. */
static Leave usual_find(Sites *p, const Job *j, const Args *a) {
  static const OptionId others[] = {OPT_DETERMINISTIC, OPT_SIMULATE, OPT_AGAINST, OPT_WHY, OPT_CERTIFICATE};
  if (!arg_has(a, OPT_DETERMINISTIC) || arg_has(a, OPT_PLAN_FILE) || arg_has(a, OPT_PIN) || p->keys) return LEAVE_OK;
  Args one = *a;
  Sites *usual = NEW(p->s->arena, Sites);
  for (size_t i = 0; i < COUNT(others); i++) one.given[others[i]] = (Words){0};
  *usual = (Sites){.s = p->s, .j = *j, .sites = p->sites, .asked.held = true};
  Leave l = sites_find(usual, &one);
  if (!l && !usual->fit.unfit) p->report.usual = usual;
  return l;
}

void usual_text(const Sites *p, Buf *b) {
  const Sites *u = p->report.usual;
  Arena *a = b->arena;
  if (!u) return;
  const Facts *f = u->report.facts;
  buf_printf(b, "  %-22s%s received, %s", "not --deterministic", bytes_of(a, u->placing->bytes),
      flops_amount(a, f->flops, f->integer));
  buf_printf(b, "%s; at most %s a site", f->integer > 0 ? "" : " flops", count_amount(a, f->busiest));
  if (u->seconds) buf_printf(b, "; %s", seconds_of(a, plan_seconds(u)));
  buf_char(b, '\n');
}

void usual_json(const Sites *p, Json *j) {
  const Sites *u = p->report.usual;
  if (!u) return;
  json_object(j, "usual");
  put_count(j, "bytes", u->placing->bytes);
  put_count(j, "flops", u->report.facts->flops);
  put_count(j, "integer_operations", u->report.facts->integer);
  put_count(j, "site_operations", u->report.facts->busiest);
  if (u->seconds) json_num(j, "seconds", plan_seconds(u));
  json_end(j, '}');
}

/* ---- sites that are devices ------------------------------------------------------------------------------------- */

static Leave devices_find(Sites *p, const Args *a) {
  const char *format = arg_last(a, OPT_PLAN_FORMAT);
  if (!p->asked.devices) return LEAVE_OK;
  if (format && strcmp(format, "html") == 0)
    return fail(
        p->s, LEAVE_USAGE, "--format=html has no place for several devices; text and json tell what is on them");
  if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0) return LEAVE_OK;
  DevicePlans *x = NEW(p->s->arena, DevicePlans);
  Job j = p->j;
  Leave l = sites_tasks(p, arg_has(a, OPT_ROUNDTRIP), &j.tasks);
  if (!l) l = job_loops(p->s, &j, a);
  if (!l) l = device_plans_find(p->s, &j, (int64_t)p->asked.memory, x);
  p->report.devices = x;
  return l;
}

void devices_text(const Sites *p, Buf *b) {
  if (p->report.devices) device_plans_text(p->report.devices, b);
}

void devices_json(const Sites *p, Json *j) {
  if (p->report.devices) device_plans_json(p->report.devices, j);
}

Leave plan_sites_say(Session *s, const Job *j, const Args *a, Buf *text, Buf *svg) {
  Sites p = {.s = s, .j = *j};
  Leave l = sites_read(s, a, &p.sites);
  if (!l) l = sites_find(&p, a);
  if (!l) l = usual_find(&p, j, a);
  if (l) return l;
  p.report.strategy = strategy_find(&p);
  p.fit.packed = p.asked.by_bytes ? memory_packed(&p, p.placing) : 0;
  p.asked.by_bytes ? bytes_text(&p, text) : sites_text(&p, text);
  if (svg && !picture_svg(p.report.facts, svg)) svg->len = 0;
  return LEAVE_OK;
}

Leave plan_sites(Session *s, Args *a) {
  Sites p = {.s = s};
  const char *format = arg_last(a, OPT_PLAN_FORMAT), *to = arg_last(a, OPT_OUTPUT);
  Leave l = sites_read(s, a, &p.sites);
  if (!l) l = format_check(s, a);
  if (!l && arg_has(a, OPT_THREADS)) l = fail(s, LEAVE_USAGE, "--threads is for plans of one site");
  if (!l) l = sites_find(&p, a);
  if (!l) l = usual_find(&p, &(Job){0}, a);
  if (l) return l;
  p.report.strategy = strategy_find(&p);
  p.fit.packed = p.asked.by_bytes ? memory_packed(&p, p.placing) : 0;
  l = whys_find(&p, a);
  if (!l) l = devices_find(&p, a);
  if (l) return l;
  Buf out = buf_new(s->arena), cuts = buf_new(s->arena);
  plan_text_make(&p, a, &cuts);
  bool tra = format && strcmp(format, "tra") == 0, ia = format && strcmp(format, "ia") == 0;
  if (arg_has(a, OPT_CERTIFICATE)) l = certificate_write(&p, a, arg_last(a, OPT_CERTIFICATE));
  if (l) return l;
  l = arg_has(a, OPT_SIMULATE) ? algebra_simulation(&p) : LEAVE_OK;
  if (l) return l;
  if (arg_has(a, OPT_DERIVATION)) l = algebra_derivation(&p, &out);
  else if (format && strcmp(format, "task") == 0) l = task_text(&p, arg_has(a, OPT_ROUNDTRIP), &out);
  else if (tra || ia) l = algebra_text(&p, ia, arg_has(a, OPT_ROUNDTRIP), &out);
  else if (format && strcmp(format, "json") == 0) p.asked.by_bytes ? bytes_json(&p, &out) : sites_json(&p, &out);
  else if (format && strcmp(format, "html") == 0) page_html(p.report.facts, &out);
  else if (format && strcmp(format, "dot") == 0) picture_dot(p.report.facts, &out);
  else if (format && strcmp(format, "svg") == 0) l = svg_make(&p, &out);
  else if (!format && to && language_of(to) == LANG_PLAN) out = cuts;
  else p.asked.by_bytes ? bytes_text(&p, &out) : sites_text(&p, &out);
  return l ? l : file_write(s, to ? to : "-", out.s, out.len);
}
