/* driver/plan/machine.c - ein plan for many sites of a machine: seconds, and the reports on them and on memory. */
#include <stdlib.h>
#include <string.h>

#include "front/limits.h"
#include "sites.h"
#include "driver/compile/native.h"

/* ---- the request ------------------------------------------------------------------------------------------ */

/* "24GB", "1.5 GiB", "512Mi", "4096 bytes", "4096". Returns NULL, or what was expected. */
static const char *amount_read(Arena *a, const char *said, double *out) {
  size_t n = strspn(said, "0123456789.");
  const char *unit = said + n + strspn(said + n, " "), *amount = arena_printf(a, "%.*s", (int)n, said);
  double factor;
  if (!double_read(said, n, out)) return unit_wanted(a, UNIT_BYTES, "", amount);
  if (!unit_find(UNIT_BYTES, unit, &factor)) return unit_wanted(a, UNIT_BYTES, unit, amount);
  *out *= factor;
  return *out >= 1 && *out < 1e18 ? NULL : unit_wanted(a, UNIT_BYTES, "", amount);
}

Leave memory_said(Session *s, const Args *a, double *most) {
  const char *said = arg_last(a, OPT_MEMORY), *wanted = said ? amount_read(s->arena, said, most) : NULL;
  return wanted ? fail(s, LEAVE_USAGE, "--memory %s: %s", said, wanted) : LEAVE_OK;
}

Leave machine_wanted(Sites *p, const Args *a) {
  Session *s = p->s;
  const char *path = arg_last(a, OPT_MACHINE), *costs = arg_last(a, OPT_COSTS), *memory = arg_last(a, OPT_MEMORY),
             *env = getenv("EIN_MACHINE");
  bool asked = costs && strcmp(costs, "seconds") == 0;
  if (!path && asked && env && *env) path = env;
  if (memory && !p->asked.by_bytes)
    return fail(s, LEAVE_USAGE, "--memory is for plans on a mesh, by any cost but eindecomp");
  if (asked && !path)
    return fail(s, LEAVE_USAGE, "--costs=seconds: expected a machine file, by --machine or $EIN_MACHINE");
  double most = 0;
  Leave l = memory_said(s, a, &most);
  p->asked.in_seconds = path && (asked || !costs);
  p->asked.devices = target_device(s, a);
  p->asked.loops = a;
  if (!l && path) l = machine_file(s, path, &p->asked.machine);
  if (!l && path && !memory) most = (double)p->asked.machine->site_bytes;
  /* if there is a limit already, the stricter one */
  if (most > 0 && (p->asked.memory <= 0 || most < p->asked.memory)) p->asked.memory = most;
  return l;
}

/* What a plan says of axes and homes; counts, also of states, go to the code that chooses them. */
static const Plan *axes_said(Arena *a, const Plan *p) {
  Plan *x = arena_copy(a, p, sizeof *x);
  x->vertices.at = NULL;
  x->vertices.len = x->vertices.cap = 0;
  for (uint32_t i = 0; i < p->vertices.len; i++)
    if (p->vertices.at[i].placed) vec_push(a, x->vertices, p->vertices.at[i]);
  return x;
}

Leave costs_ready(Sites *p) {
  Session *s = p->s;
  Buf why = buf_new(s->arena);
  PlaceGraph *g = p->keys ? keys_places(s->arena, p->keys) : place_graph(s->arena, p->g);
  p->places = g;
  p->lives = lives_find(s->arena, g);
  g->fixed = plan_fixed(s->arena, g, p->asked.by_bytes ? p->asked.plan : axes_said(s->arena, p->asked.plan), s->diags);
  uint32_t errors = s->diags->errors;
  if (g->fixed) g->panels = plan_panels(s->arena, g, p->asked.plan, s->diags);
  g->room = p->asked.plan->room;
  g->all_sites = p->asked.all_sites;
  if (!g->fixed || s->diags->errors > errors) return session_report(s);
  if (p->asked.in_seconds && g->fixed->mesh && mesh_sites(g->fixed->mesh) != p->sites)
    return fail(s, LEAVE_PROGRAM, "the mesh of the plan leaves sites idle, which plans by seconds do not");
  if (p->asked.machine) {
    p->seconds = seconds_new(s->arena, p->g, p->asked.machine, p->sites, &why);
    if (!p->seconds) return fail(s, LEAVE_PROGRAM, "%s", why.s);
  }
  if (p->asked.in_seconds || p->asked.in_elements) {
    PlaceCost *cost = MAKE(s->arena, PlaceCost, .seconds = p->asked.in_seconds ? p->seconds : NULL,
        .paper = p->asked.in_elements);
    g->cost = cost;
  }
  return LEAVE_OK;
}

/* ---- reports ---------------------------------------------------------------------------------------------------- */

const char *seconds_of(Arena *a, double x) {
  static const struct { double least; const char *unit; } unit[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {0, "ns"}};
  size_t k = 0;
  while (k + 1 < COUNT(unit) && x < 0.99995 * unit[k].least) k++;
  return arena_printf(a, "%.1f %s", x / (k + 1 < COUNT(unit) ? unit[k].least : 1e-9), unit[k].unit);
}

double vertex_seconds(const Sites *p, uint32_t i) {
  return placing_kernels(p->places, p->seconds, p->placing, i) +
      placing_received_seconds(p->places, p->seconds, p->placing, i) +
      placing_brought_seconds(p->places, p->seconds, p->placing, i);
}

typedef struct Shares { double kernels, operands, results; } Shares;

static Shares shares_of(const Sites *p) {
  Shares x = {0};
  for (uint32_t i = 0; i < p->g->vertices.len; i++) {
    x.kernels += placing_kernels(p->places, p->seconds, p->placing, i);
    x.operands += placing_received_seconds(p->places, p->seconds, p->placing, i);
  }
  for (uint32_t i = 0; i < p->places->tensors.len; i++)
    x.results += placing_brought_seconds(p->places, p->seconds, p->placing, i);
  return x;
}

double plan_seconds(const Sites *p) {
  return placing_seconds(p->places, p->seconds, p->placing);
}

const char *seconds_shares(const Sites *p, Arena *a) {
  Shares x = shares_of(p);
  return arena_printf(a, "%s of kernels, %s for operands, %s for results", seconds_of(a, x.kernels),
      seconds_of(a, x.operands), seconds_of(a, x.results));
}

void machine_text(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  if (p->seconds) buf_printf(b, "  %-22s%s: %s\n", "time", seconds_of(a, plan_seconds(p)), seconds_shares(p, a));
  buf_printf(b, "  %-22s%s a site at most%s%s\n", "memory", bytes_of(a, p->fit.peak.bytes), memory_most(p, a),
      memory_spills(p) ? "; devices keep tensors on the host" : "");
  if (p->placing->room)
    buf_printf(b, "  %-22sof what is reduced, at most %s arrive at once\n", "parts",
        bytes_of(a, (double)p->placing->room));
}

void machine_json(const Sites *p, Json *j) {
  int32_t vertex = p->fit.peak.at < 0 ? -1 : p->places->tensors.at[p->fit.peak.at].vertex;
  if (p->seconds) {
    json_str(j, "machine", p->asked.machine->name);
    json_num(j, "seconds", plan_seconds(p));
  }
  json_object(j, "memory");
  put_count(j, "bytes", p->fit.peak.bytes);
  put_count(j, "kernel_bytes", p->fit.packed);
  if (json_has(j, "at", vertex >= 0)) json_int(j, "at", p->g->vertices.at[vertex].node->id);
  if (json_has(j, "limit", p->asked.memory > 0)) put_count(j, "limit", p->asked.memory);
  json_bool(j, "measured", !p->fit.peak.guessed);
  json_end(j, '}');
  if (p->placing->room) json_int(j, "room", p->placing->room);
}
