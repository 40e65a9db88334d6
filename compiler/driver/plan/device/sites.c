/* driver/plan/device/sites.c - the devices of a plan for several sites, one for each. In: the plan's tasks. Out: of
 * each site what device.c finds for one device, with what moves between sites bring over the bus. */
#include "device.h"

#include <string.h>

#include "ein_run.h"
#include "driver/table.h"

/* ---- a site ------------------------------------------------------------------------------------------------- */

typedef struct SiteDevices { /* while they are found */
  Session *s;
  const Job *j;
  Stagings moves;
  bool *given;               /* by buffer: sites are given all inputs */
  const EmitRows *rows;
  int64_t limit;
} SiteDevices;

int64_t work_layout(Arena *a, const TaskGraph *t, const Stagings *moves, const int64_t *bytes, int64_t *to) {
  const uint32_t n_moves = moves ? moves->len : 0, all = t->buffers.len + n_moves;
  int64_t *size = NEW_ARRAY(a, int64_t, all + 1), *offset = NEW_ARRAY(a, int64_t, all + 1);
  int *first = NEW_ARRAY(a, int, all + 1), *last = NEW_ARRAY(a, int, all + 1), *order = NEW_ARRAY(a, int, all + 1);
  int n = 0, k = 0;
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    if (b->space != BUF_WORK) continue;
    size[n] = bytes[i], first[n] = (int)b->first, last[n++] = (int)b->last;
  }
  for (uint32_t i = 0; i < n_moves; i++) {
    const Task *m = staging_move(moves->at[i]);
    size[n] = bytes[t->buffers.len + i], first[n] = (int)m->step, last[n++] = (int)m->end;
  }
  const int64_t work = ein_layout(n, size, first, last, offset, order);
  for (uint32_t i = 0; to && i < t->buffers.len; i++)
    if (t->buffers.at[i].space == BUF_WORK) to[i] = offset[k++];
  return work;
}

static Leave site_find(const SiteDevices *x, int64_t site, DevicePlan *out) {
  Arena *a = x->s->arena;
  const TaskGraph *t = x->j->tasks;
  uint32_t at[MESH_AXES + 1];
  mesh_place(&t->mesh, site, at);
  const CostDims dims = {task_dim, &(AtSite){t, at}};
  const uint32_t n = t->buffers.len + x->moves.len;
  int64_t *bytes = NEW_ARRAY(a, int64_t, n + 1);
  StagingBus *bus = NEW_ARRAY(a, StagingBus, x->moves.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) bytes[b] = task_bytes(t, &t->buffers.at[b], at);
  for (uint32_t i = 0; i < x->moves.len; i++) {
    bytes[t->buffers.len + i] = staging_at(x->moves.at[i], at);
    bus[i] = staging_bus(a, x->moves.at[i], at);
  }
  const DeviceRun run = {.dims = &dims, .n = n, .bytes = bytes, .given = x->given,
      .work = work_layout(a, t, &x->moves, bytes, NULL), .n_moves = x->moves.len, .move = bus};
  if (run.work < 0) return fail(x->s, LEAVE_PROGRAM, "the work memory does not fit 64 bits");
  *out = (DevicePlan){.rows = x->rows, .limit = x->limit};
  return device_plan_make(x->s, x->j, &run, arena_printf(a, "site %lld: ", (long long)site), out);
}

/* ---- sites with the same plan ----------------------------------------------------------------------------------- */

static bool moves_same(const DevicePlan *a, const DevicePlan *b) {
  if (a->moves.len != b->moves.len || a->stays.len != b->stays.len) return false;
  for (uint32_t i = 0; i < a->moves.len; i++) {
    const DeviceMove *x = &a->moves.at[i], *y = &b->moves.at[i];
    if (x->row != y->row || x->buffer != y->buffer || x->kind != y->kind || x->times != y->times ||
        x->bytes != y->bytes)
      return false;
  }
  for (uint32_t i = 0; i < a->stays.len; i++) {
    const DeviceStay *x = &a->stays.at[i], *y = &b->stays.at[i];
    if (x->buffer != y->buffer || x->from != y->from || x->to != y->to) return false;
  }
  return true;
}

static bool plan_same(const DevicePlan *a, const DevicePlan *b) {
  return a->takes == b->takes && a->whole == b->whole && a->least == b->least && a->binds == b->binds &&
      a->spills == b->spills && a->in == b->in && a->out == b->out && a->moved_in == b->moved_in &&
      a->moved_out == b->moved_out && memcmp(a->bytes, b->bytes, a->n * sizeof *a->bytes) == 0 && moves_same(a, b);
}

static void group_add(Arena *a, DevicePlans *all, const DevicePlan *d, int64_t site) {
  uint32_t i = 0;
  while (i < all->groups.len && !plan_same(all->groups.at[i].plan, d)) i++;
  if (i == all->groups.len)
    vec_push(a, all->groups, ((DeviceGroup){.plan = arena_copy(a, d, sizeof *d)}));
  vec_push(a, all->groups.at[i].sites, site);
}

Leave device_plans_find(Session *s, const Job *j, int64_t limit, DevicePlans *out) {
  const TaskGraph *t = j->tasks;
  const int64_t sites = mesh_sites(&t->mesh);
  *out = (DevicePlans){.job = *j};
  if (sites > DEVICE_SITES)
    return fail(s, LEAVE_USAGE, "--target=cuda: a plan tells what is on %d devices at most, and these are %lld",
        DEVICE_SITES, (long long)sites);
  EmitOptions o = job_emit(s, j, "plan");
  SiteDevices x = {.s = s, .j = j, .moves = stagings_of(s->arena, t), .limit = limit};
  x.rows = emit_cuda_rows(j->loops, &o);
  if (!x.rows) x.rows = NEW(s->arena, EmitRows);
  x.given = NEW_ARRAY(s->arena, bool, t->buffers.len + 1);
  for (uint32_t i = 0; i < t->inputs.len; i++) x.given[t->inputs.at[i].buffer] = true;
  for (int64_t i = 0; i < sites; i++) {
    DevicePlan d;
    Leave l = site_find(&x, i, &d);
    if (l) return l;
    group_add(s->arena, out, &d, i);
  }
  return LEAVE_OK;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* "0, 2-3" */
static const char *sites_words(Arena *a, const DeviceGroup *g) {
  Buf b = buf_new(a);
  for (uint32_t i = 0, to; i < g->sites.len; i = to + 1) {
    for (to = i; to + 1 < g->sites.len && g->sites.at[to + 1] == g->sites.at[to] + 1;) to++;
    buf_printf(&b, "%s%lld", i ? ", " : "", (long long)g->sites.at[i]);
    if (to > i) buf_printf(&b, "-%lld", (long long)g->sites.at[to]);
  }
  return b.s;
}

enum { COL_SITES, COL_MEMORY, COL_LEAST, COL_FOR, COL_IN, COL_OUT, COL_MOVED_IN, COL_MOVED_OUT, COLUMNS };

static TableRow group_row(Arena *a, const DeviceGroup *g) {
  const DevicePlan *d = g->plan;
  TableRow r = {.tail = ""};
  r.cell[COL_SITES] = sites_words(a, g);
  r.cell[COL_MEMORY] = amount(a, d->takes, "B");
  if (d->spills) r.cell[COL_MEMORY] = arena_printf(a, "%s of %s", r.cell[COL_MEMORY], amount(a, d->whole, "B"));
  r.cell[COL_LEAST] = amount(a, d->least, "B");
  r.cell[COL_FOR] = !d->binds ? "" : d->binds->name ? shown(a, d->binds->name->s) : "a step";
  r.cell[COL_IN] = amount(a, d->in, "B");
  r.cell[COL_OUT] = amount(a, d->out, "B");
  r.cell[COL_MOVED_IN] = amount(a, d->moved_in, "B");
  r.cell[COL_MOVED_OUT] = amount(a, d->moved_out, "B");
  return r;
}

/* What the figures leave out. */
static void notes_print(const DevicePlans *x, Buf *b) {
  bool one_turn = false, not_all = false, fetches = false;
  for (uint32_t i = 0; i < x->groups.len; i++) {
    const DevicePlan *d = x->groups.at[i].plan;
    one_turn |= d->one_turn, not_all |= d->not_all, fetches |= d->fetches;
  }
  if (fetches) buf_str(b, "What sites fetch at places that data decide is not counted.\n");
  if (one_turn) buf_str(b, "Where data decide how many turns a repeat makes, one turn is counted.\n");
  if (not_all) buf_printf(b, "There are more steps than %d: the bus has those of the first ones.\n", DEVICE_STEPS);
}

void device_plans_text(const DevicePlans *x, Buf *b) {
  Arena *a = b->arena;
  Table t = {.columns = COLUMNS, .clipped = COL_FOR, .left = 1u << COL_SITES | 1u << COL_FOR};
  vec_push(a, t.rows,
      ((TableRow){.cell = {"device of site", "memory", "at least", "for", "bus in", "bus out", "moved in",
                      "moved out"},
          .tail = ""}));
  for (uint32_t i = 0; i < x->groups.len; i++) vec_push(a, t.rows, group_row(a, &x->groups.at[i]));
  buf_char(b, '\n');
  table_print(b, &t);
  notes_print(x, b);
  vec_each(const DeviceGroup, g, x->groups) {
    if (!g->plan->spills) continue;
    buf_printf(b, "\non the device of site%s %s:", g->sites.len > 1 ? "s" : "", sites_words(a, g));
    device_plan_table(&x->job, g->plan, b);
  }
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

void device_plans_json(const DevicePlans *x, Json *j) {
  json_vec_objects(j, "devices", const DeviceGroup, g, x->groups) {
    json_ints(j, "sites", g->sites.len, g->sites.at);
    json_int(j, "moved_in", g->plan->moved_in);
    json_int(j, "moved_out", g->plan->moved_out);
    json_bool(j, "fetches", g->plan->fetches);
    device_plan_json(g->plan, j);
  }
}
