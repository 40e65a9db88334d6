/* driver/plan/device/device.c - a run's memory on a device, before it runs; see device.h. */
#include "device.h"

#include <string.h>

#include "cuda/spill.h"
#include "driver/plan/sites.h"
#include "driver/table.h"

_Static_assert((int)EMIT_STEP == (int)EIN_SPILL_STEP && (int)EMIT_REPEAT == (int)EIN_SPILL_REPEAT &&
        (int)EMIT_TURN == (int)EIN_SPILL_TURN && (int)EMIT_UNTIL == (int)EIN_SPILL_UNTIL,
    "rows have the kinds of the runtime's");
_Static_assert((int)EMIT_READ == (int)EIN_SPILL_READ && (int)EMIT_PART == (int)EIN_SPILL_PART &&
        (int)EMIT_WHOLE == (int)EIN_SPILL_WHOLE,
    "and so have uses");

typedef struct DeviceWalk {
  Arena *arena;
  const Job *j;
  const CostDims *dims;
  const DeviceRun *run;
  ein_spill_table table;
  unsigned char *kind, *skip;
  int64_t *turn;             /* by depth */
  const StagingBus **bus;    /* by row: where a move between sites begins; else NULL */
  uint32_t *seen;            /* by row: 1 + its last move */
  uint32_t *before;          /* by move: 1 + the one before it of the same row */
  uint32_t *stay;            /* by buffer: 1 + its last stay */
  bool *done;                /* by row: its stays are known */
  uint32_t room;
  int64_t steps, told;       /* told: bytes of numbers of turns */
  ein_spill s;
  DevicePlan *out;
} DeviceWalk;

/* ---- the table, as in a run ------------------------------------------------------------------------------ */

static void table_make(DeviceWalk *w, const EmitRows *rows) {
  ein_spill_row *row = NEW_ARRAY(w->arena, ein_spill_row, rows->rows.len + 1);
  ein_spill_use *use = NEW_ARRAY(w->arena, ein_spill_use, rows->uses.len + 1);
  for (uint32_t i = 0; i < rows->rows.len; i++) {
    const EmitRow *x = &rows->rows.at[i];
    row[i] = (ein_spill_row){
        (int)x->kind, (int)x->first, (int)x->n, x->pair, x->unless, x->when, x->from, NULL, NULL, 0};
  }
  for (uint32_t i = 0; i < rows->uses.len; i++)
    use[i] = (ein_spill_use){(int)rows->uses.at[i].buffer, (int)rows->uses.at[i].how};
  w->table = (ein_spill_table){(int)rows->rows.len, (int)rows->uses.len, row, use};
}

/* Whether a run is given that input: a word of the command line names it, or a checkpoint has it, or it must be. */
static bool input_given(Session *s, const Args *a, const TaskArgument *x) {
  Str name;
  const char *rest;
  for (uint32_t i = 1; i < a->operands.len; i++)
    if (word_split(s, a->operands.at[i], &name, &rest) && name == x->name) return true;
  return !x->optional || (x->param && arg_has(a, OPT_PARAMS));
}

/* What crosses the bus in a run that fits: what its rows use of inputs, and all outputs. An input that only a repeat
 * without a turn uses may stay where it is. */
static void bus_count(DeviceWalk *w) {
  bool *used = NEW_ARRAY(w->arena, bool, w->run->n + 1);
  for (int r = 0; r < w->table.n_rows; r++)
    for (int k = w->table.row[r].first; k < w->table.row[r].first + w->table.row[r].n && !w->skip[r]; k++)
      used[w->table.use[k].buffer] = true;
  for (uint32_t b = 0; b < w->j->tasks->buffers.len; b++) {
    if (w->kind[b] == EIN_SPILL_INPUT && used[b]) w->out->in += w->run->bytes[b];
    if (w->kind[b] == EIN_SPILL_OUTPUT) w->out->out += w->run->bytes[b];
  }
}

static unsigned char kind_of(const DeviceWalk *w, uint32_t b) {
  const TaskGraph *t = w->j->tasks;
  TaskSpace space = b < t->buffers.len ? t->buffers.at[b].space : BUF_WORK;
  if (!w->run->bytes[b] || (space == BUF_INPUT && !w->run->given[b])) return EIN_SPILL_OUTSIDE;
  return space == BUF_INPUT ? EIN_SPILL_INPUT : space == BUF_OUTPUT ? EIN_SPILL_OUTPUT : EIN_SPILL_WORK;
}

/* Returns the bytes of arguments that are copied, as a run that fits has them. */
static int64_t kinds_find(DeviceWalk *w) {
  int64_t copies = 0;
  for (uint32_t b = 0; b < w->run->n; b++) {
    w->kind[b] = kind_of(w, b);
    if (w->kind[b] == EIN_SPILL_INPUT || w->kind[b] == EIN_SPILL_OUTPUT)
      copies = ein_spill_round(copies + w->run->bytes[b]);
  }
  for (uint32_t r = 0; r < w->out->rows->rows.len; r++) {
    const EmitRow *x = &w->out->rows->rows.at[r];
    int64_t size = 1;
    if (x->size) cost_size(w->arena, w->dims, x->size, &size);
    w->skip[r] = (x->unless >= 0 && w->run->given[x->unless]) || !size;
  }
  bus_count(w);
  return copies;
}

/* A move that lasts has a second row, where it ends. */
static void moves_find(DeviceWalk *w) {
  uint32_t n = 0;
  Map seen = map_new(w->arena);
  for (uint32_t r = 0; r < w->out->rows->rows.len; r++) {
    const EmitRow *x = &w->out->rows->rows.at[r];
    if (x->kind != EMIT_STEP || x->task->kind != TASK_MOVE || map_find(&seen, x->task)) continue;
    BUG_UNLESS(n < w->run->n_moves);
    map_put(&seen, x->task, (void *)(uintptr_t)x->task);
    w->bus[r] = &w->run->move[n++];
  }
}

/* ---- the run --------------------------------------------------------------------------------------------- */

static int buffer_in(const ein_spill *s, int slot) {
  int b = 0;
  while (b < s->n && s->slot_of[b] != slot) b++;
  return b < s->n ? b : slot;
}

static void move_put(DeviceWalk *w, DeviceMove m) {
  for (uint32_t i = w->seen[m.row]; i; i = w->before[i - 1]) {
    DeviceMove *old = &w->out->moves.at[i - 1];
    if (old->buffer != m.buffer || old->kind != m.kind) continue;
    old->times++, old->bytes += m.bytes;
    return;
  }
  if (w->out->moves.len == w->room) {
    uint32_t *more = COPY_ARRAY(w->arena, uint32_t, w->before, w->room, 2 * w->room + 64);
    w->before = more, w->room = 2 * w->room + 64;
  }
  w->before[w->out->moves.len] = w->seen[m.row];
  vec_push(w->arena, w->out->moves, m);
  w->seen[m.row] = w->out->moves.len;
}

static void move_add(DeviceWalk *w, uint32_t row, const ein_spill_action *x) {
  static const DeviceMoveKind kind[] = {DEVICE_IN, DEVICE_OUT, DEVICE_WITHIN};
  move_put(w, (DeviceMove){row, buffer_in(&w->s, x->slot), kind[x->kind], 1, x->bytes});
}

/* The buffers that are on the device with that row: a stay goes on from one row to the next. */
static void stays_add(DeviceWalk *w, uint32_t row) {
  const ein_spill_row *x = &w->table.row[row];
  if (w->done[row]) return;
  w->done[row] = true;
  for (int b = 0; b < w->s.n; b++) {
    bool here = w->kind[b] != EIN_SPILL_OUTSIDE && w->s.m.slot[w->s.slot_of[b]].at >= 0;
    for (int k = x->first; k < x->first + x->n && !here; k++)
      here = w->table.use[k].buffer == b && w->kind[b] != EIN_SPILL_OUTSIDE;
    if (!here) {
      w->stay[b] = 0;
      continue;
    }
    if (!w->stay[b]) {
      vec_push(w->arena, w->out->stays, ((DeviceStay){(uint32_t)b, row, row}));
      w->stay[b] = w->out->stays.len;
    }
    w->out->stays.at[w->stay[b] - 1].to = row;
  }
}

/* What has been asked for is for this row: the planner is not ahead of it. */
static void actions_take(DeviceWalk *w, uint32_t row) {
  for (int stream = EIN_SPILL_STREAMS - 1; stream >= 0; stream--) {
    ein_spill_queue *q = &w->s.m.queue[stream];
    for (; q->done < q->asked; q->done++) move_add(w, row, &q->action[q->done % q->room]);
  }
}

static int64_t turns_of(DeviceWalk *w, const Task *repeat) {
  const Expr *e = task_turns_within(w->j->tasks, repeat);
  const ExprEnv env = {.turn = w->turn, .n_turn = repeat->depth, .dim = w->dims->dim, .ctx = w->dims->ctx};
  Value v;
  if (e && expr_value(e, &env, &v)) return v.i;
  w->out->one_turn = true;
  return 1;
}

/* Whether a run tells the device, after a repeat, how many turns were made. A number that does not depend on data goes
 * with the launches. */
static bool is_told(const DeviceWalk *w, const Task *repeat) {
  return repeat->turns >= 0 && (repeat->stop >= 0 || !task_turns_within(w->j->tasks, repeat));
}

static void turns_told(DeviceWalk *w, uint32_t row) {
  const Task *repeat = w->out->rows->rows.at[row].task;
  const int64_t bytes = dtype_size(DT_I64);
  if (!is_told(w, repeat)) return;
  w->told += bytes;
  if (w->out->spills) move_put(w, (DeviceMove){row, repeat->turns, DEVICE_IN, 1, bytes});
}

/* What a step moves between sites. */
static void moves_add(DeviceWalk *w, int row) {
  DevicePlan *out = w->out;
  out->fetches |= out->rows->rows.at[row].task->kind == TASK_FETCH;
  if (w->bus[row]) out->moved_in += w->bus[row]->in, out->moved_out += w->bus[row]->out;
}

static bool any_told(const DeviceWalk *w, int from, int to) {
  for (int r = from; r < to; r++) {
    const Task *k = w->out->rows->rows.at[r].task;
    if (w->bus[r] || k->kind == TASK_FETCH || (w->table.row[r].kind == EIN_SPILL_REPEAT && is_told(w, k))) return true;
  }
  return false;
}

/* Counts what is told and moved in a run that fits; one that spills counts it on its way. */
static void rows_told(DeviceWalk *w, int from, int to) {
  for (int r = from; r < to && !w->out->not_all; r++) {
    const EmitRow *x = &w->out->rows->rows.at[r];
    if (w->skip[r]) continue;
    if (x->kind == EMIT_STEP) moves_add(w, r);
    if (x->kind != EMIT_REPEAT) continue;
    if (any_told(w, r + 1, x->pair)) {
      int64_t turns = turns_of(w, x->task), *turn = &w->turn[x->task->depth];
      for (*turn = 0; *turn < turns && !w->out->not_all; ++*turn) {
        rows_told(w, r + 1, x->pair);
        w->out->not_all = ++w->steps >= DEVICE_STEPS;
      }
    }
    turns_told(w, (uint32_t)r);
    r = x->pair;
  }
}

/* The recursion is as deep as the texts allow repeats to be nested. */
static void rows_run(DeviceWalk *w, int from, int to) {
  for (int r = from; r < to && !w->out->not_all; r++) {
    const EmitRow *x = &w->out->rows->rows.at[r];
    if (w->skip[r]) continue;
    if (x->kind == EMIT_STEP && x->from < 0) {
      ein_spill_need(&w->s);
      actions_take(w, (uint32_t)r);
      stays_add(w, (uint32_t)r);
      moves_add(w, r);
      w->out->not_all = ++w->steps >= DEVICE_STEPS;
    }
    if (x->kind != EMIT_REPEAT) continue;
    int64_t turns = turns_of(w, x->task), *turn = &w->turn[x->task->depth];
    ein_spill_repeat(&w->s, r, turns);
    for (*turn = 0; *turn < turns && !w->out->not_all; ++*turn) {
      rows_run(w, r + 1, x->pair);
      if (w->out->rows->rows.at[x->pair].kind == EMIT_UNTIL) ein_spill_until(&w->s, x->pair, 0);
    }
    turns_told(w, (uint32_t)r);
    r = x->pair;
  }
}

static void spilling_run(DeviceWalk *w) {
  DevicePlan *out = w->out;
  int64_t all = EIN_SPILL_HEAD + ein_spill_takes(&w->s);
  out->takes = out->limit < all ? out->limit : all;
  w->s.memory = out->takes - EIN_SPILL_HEAD;
  w->s.ahead = 1;
  ein_spill_choose(&w->s);
  rows_run(w, 0, w->table.n_rows);
  ein_spill_finish(&w->s);
  actions_take(w, out->rows->rows.len);
  out->in = w->s.up + w->told, out->out = w->s.down;
}

/* " (line 4)" */
static const char *line_words(Arena *a, const Job *j, Place at) {
  const char *line = line_text(a, j->path, at);
  return *line ? arena_printf(a, " (%s%s)", strchr(line, ':') ? "" : "line ", line) : "";
}

static Leave too_small(Session *s, const Job *j, const char *at, const DevicePlan *d) {
  const EmitRow *x = d->binds;
  return fail(s, LEAVE_PROGRAM, "%s%lld bytes of the device's memory are too few: a run takes at least %lld, for %s%s",
      at ? at : "", (long long)d->limit, (long long)d->least, x && x->name ? shown(s->arena, x->name->s) : "one step",
      x ? line_words(s->arena, j, x->task->place) : "");
}

static Leave bus_find(Session *s, const Args *a, DevicePlan *out) {
  double most = 0;
  const Machine *m = NULL;
  Leave l = memory_said(s, a, &most);
  out->limit = (int64_t)most;
  if (!l) l = machine_said(s, a, &m);
  if (l || !m) return l;
  if (!out->limit) out->limit = m->site_bytes;
  if (m->site + 1 < m->levels.len && m->levels.at[m->site + 1].link.value > 0) out->bus = &m->levels.at[m->site + 1];
  return LEAVE_OK;
}

Leave device_plan_make(Session *s, const Job *j, const DeviceRun *run, const char *at, DevicePlan *out) {
  const uint32_t n = run->n;
  DeviceWalk w = {.arena = s->arena, .j = j, .dims = run->dims, .run = run, .out = out};
  if (!out->rows) out->rows = NEW(s->arena, EmitRows);
  const uint32_t rows = out->rows->rows.len;
  out->n = n, out->bytes = run->bytes;
  w.kind = NEW_ARRAY(s->arena, unsigned char, n + 1), w.skip = NEW_ARRAY(s->arena, unsigned char, rows + 1);
  w.turn = NEW_ARRAY(s->arena, int64_t, rows + 1), w.seen = NEW_ARRAY(s->arena, uint32_t, rows + 1);
  w.stay = NEW_ARRAY(s->arena, uint32_t, n + 1), w.done = NEW_ARRAY(s->arena, bool, rows + 1);
  w.bus = NEW_ARRAY(s->arena, const StagingBus *, rows + 1);
  table_make(&w, out->rows);
  moves_find(&w);
  out->whole = kinds_find(&w) + ein_spill_round(EIN_SPILL_HEAD + run->work);
  if (!ein_spill_begin(&w.s, &w.table, (int)n, w.kind, run->bytes, w.skip))
    return fail(s, LEAVE_MACHINE, "no memory to plan what is on the device");
  int row;
  Leave l = LEAVE_OK;
  out->least = EIN_SPILL_HEAD + ein_spill_least(&w.s, &row);
  out->binds = row < 0 ? NULL : &out->rows->rows.at[row];
  out->takes = out->whole;
  out->spills = out->limit && out->limit < out->whole;
  if (out->spills && out->limit < out->least) l = too_small(s, j, at, out);
  else if (out->spills) spilling_run(&w);
  else rows_told(&w, 0, w.table.n_rows), out->in += w.told;
  out->in += out->moved_in, out->out += out->moved_out;
  ein_spill_end(&w.s);
  return l;
}

Leave device_plan_find(Session *s, const Job *j, const Args *a, const GraphCost *cost, const CostDims *dims,
    int64_t work, DevicePlan *out) {
  const TaskGraph *t = j->tasks;
  EmitOptions o = job_emit(s, j, "plan");
  *out = (DevicePlan){.rows = emit_cuda_rows(j->loops, &o)};
  Leave l = bus_find(s, a, out);
  if (l) return l;
  bool *given = NEW_ARRAY(s->arena, bool, t->buffers.len + 1);
  for (uint32_t i = 0; i < t->inputs.len; i++) given[t->inputs.at[i].buffer] = input_given(s, a, &t->inputs.at[i]);
  const DeviceRun run = {.dims = dims, .n = t->buffers.len, .bytes = cost->bytes, .given = given, .work = work};
  return device_plan_make(s, j, &run, NULL, out);
}

/* ---- for people -------------------------------------------------------------------------------------------- */

/* The memory of a move is called after what that moves. */
static const char *parcels_of(Arena *a, const DevicePlan *d, uint32_t b) {
  vec_each(const EmitRow, x, d->rows->rows) {
    for (uint32_t k = x->first; k < x->first + x->n && x->kind == EMIT_STEP; k++)
      if (d->rows->uses.at[k].buffer == b && x->name) return arena_printf(a, "parcels of %s", shown(a, x->name->s));
  }
  return "parcels";
}

const char *device_buffer(Arena *a, const Job *j, const DevicePlan *d, uint32_t b) {
  if (b >= j->tasks->buffers.len) return parcels_of(a, d, b);
  Str name = j->tasks->buffers.at[b].name;
  return name ? shown(a, name->s) : arena_printf(a, "%%%u", b);
}

static const char *bus_words(Arena *a, const DevicePlan *d) {
  if (!d->bus) return "";
  double rate = d->bus->link.value;
  return arena_printf(a, "; %s and %s by the link of %s", seconds_of(a, (double)d->in / rate),
      seconds_of(a, (double)d->out / rate), d->bus->name);
}

const char *device_least(Arena *a, const Job *j, const DevicePlan *d) {
  const char *bytes = arena_printf(a, "%s (%lld bytes)", amount(a, d->least, "B"), (long long)d->least);
  if (!d->binds) return bytes;
  return arena_printf(a, "%s, for %s%s", bytes, d->binds->name ? shown(a, d->binds->name->s) : "a step",
      line_words(a, j, d->binds->task->place));
}

void device_plan_text(const Job *j, const DevicePlan *d, Buf *b) {
  Arena *a = b->arena;
  const char *of = d->limit ? arena_printf(a, " of %s", amount(a, d->limit, "B")) : "";
  buf_printf(b, "  %-22s%s%s, %s", "device memory", amount(a, d->takes, "B"), of,
      d->spills ? "with tensors kept on the host" : "with all tensors there");
  if (d->spills) buf_printf(b, "; %s would hold all", amount(a, d->whole, "B"));
  buf_printf(b, "\n  %-22s%s", "least device memory", device_least(a, j, d));
  buf_printf(b, "\n  %-22s%s in, %s out%s\n", "bus", amount(a, d->in, "B"), amount(a, d->out, "B"), bus_words(a, d));
  if (d->one_turn) buf_str(b, "  Where data decide how many turns a repeat makes, the bus has those of one turn.\n");
  if (d->not_all)
    buf_printf(b, "  There are more steps than %d: the bus has those of the first ones.\n", DEVICE_STEPS);
}

static uint32_t step_of(const DevicePlan *d, uint32_t row) { return d->rows->rows.at[row].task->step; }

const char *device_stays(Arena *a, const DevicePlan *d, uint32_t b) {
  Buf out = buf_new(a);
  vec_each(const DeviceStay, x, d->stays) {
    if (x->buffer != b) continue;
    uint32_t from = step_of(d, x->from), to = step_of(d, x->to);
    buf_printf(&out, "%s%u", out.len ? ", " : "", from);
    if (to != from) buf_printf(&out, "-%u", to);
  }
  return out.s;
}

DeviceTotal *device_totals(Arena *a, const DevicePlan *d) {
  DeviceTotal *all = NEW_ARRAY(a, DeviceTotal, d->n + 1);
  vec_each(const DeviceMove, m, d->moves) {
    if (m->kind == DEVICE_WITHIN || m->buffer < 0) continue;
    all[m->buffer].times[m->kind] += m->times;
  }
  return all;
}

enum { DEVICE_NAME, DEVICE_BYTES, DEVICE_COMES, DEVICE_GOES, DEVICE_STEPS_THERE, DEVICE_COLUMNS };

void device_plan_table(const Job *j, const DevicePlan *d, Buf *b) {
  Arena *a = b->arena;
  const DeviceTotal *all = device_totals(a, d);
  Table t = {.columns = DEVICE_COLUMNS, .clipped = DEVICE_STEPS_THERE};
  t.left = 1u << DEVICE_NAME | 1u << DEVICE_STEPS_THERE;
  if (!d->spills) return;
  vec_push(a, t.rows, ((TableRow){.cell = {"tensor", "bytes", "comes", "goes", "on the device at steps"}, .tail = ""}));
  for (uint32_t i = 0; i < d->n; i++) {
    const char *stays = device_stays(a, d, i);
    bool parcels = i >= j->tasks->buffers.len;
    if (!*stays || (parcels && !all[i].times[DEVICE_IN] && !all[i].times[DEVICE_OUT])) continue;
    vec_push(a, t.rows,
        ((TableRow){.cell = {device_buffer(a, j, d, i), amount(a, d->bytes[i], "B"),
                        arena_printf(a, "%lld", (long long)all[i].times[DEVICE_IN]),
                        arena_printf(a, "%lld", (long long)all[i].times[DEVICE_OUT]), stays},
            .tail = ""}));
  }
  buf_char(b, '\n');
  table_print(b, &t);
}

/* ---- for programs ------------------------------------------------------------------------------------------ */

static void move_json(const DevicePlan *d, const DeviceMove *m, Json *j) {
  static const char *const kind[] = {"in", "out", "within"};
  json_object(j, NULL);
  if (json_has(j, "step", m->row < d->rows->rows.len)) json_int(j, "step", step_of(d, m->row));
  json_int(j, "buffer", m->buffer);
  json_str(j, "kind", kind[m->kind]);
  json_int(j, "times", m->times);
  json_int(j, "bytes", m->bytes);
  json_end(j, '}');
}

void device_plan_json(const DevicePlan *d, Json *j) {
  json_object(j, "device");
  if (json_has(j, "limit_bytes", d->limit)) json_int(j, "limit_bytes", d->limit);
  json_bool(j, "spills", d->spills);
  json_int(j, "bytes", d->takes);
  json_int(j, "whole_bytes", d->whole);
  json_int(j, "least_bytes", d->least);
  json_object(j, "least_at");
  json_name(j, "name", d->binds ? d->binds->name : NULL);
  json_place(j, d->binds ? d->binds->task->place : (Place){0});
  json_end(j, '}');
  json_int(j, "bytes_in", d->in);
  json_int(j, "bytes_out", d->out);
  json_bool(j, "one_turn", d->one_turn);
  json_bool(j, "all_steps", !d->not_all);
  if (json_has(j, "seconds_in", d->bus)) json_num(j, "seconds_in", (double)d->in / d->bus->link.value);
  if (json_has(j, "seconds_out", d->bus)) json_num(j, "seconds_out", (double)d->out / d->bus->link.value);
  json_each(j, "moves", i, d->moves.len) move_json(d, &d->moves.at[i], j);
  json_vec_objects(j, "stays", const DeviceStay, x, d->stays) {
    json_int(j, "buffer", x->buffer);
    json_int(j, "first", step_of(d, x->from));
    json_int(j, "last", step_of(d, x->to));
  }
  json_end(j, '}');
}
