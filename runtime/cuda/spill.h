/* SPDX-License-Identifier: MIT-0 */
/*
 * Plans a run that does not fit a device's memory: which buffers are there when, at which offset, and what is copied
 * between the host and the device. It calls nothing of CUDA's; spilling.h does what it plans.
 *
 * In: a table of the run's rows, in order, with the buffers that each uses; the buffers' sizes; the bytes of memory.
 * The planner walks through the rows ahead of the run. For each row it makes the row's buffers resident and asks for
 * actions (spill_memory.h): fetch a buffer, write one back, move one within the device.
 *
 * If there is not enough memory, the buffer is evicted whose next use is farthest, weighed by the bytes that it costs:
 * one whose value is also on the host costs a fetch, any other one a write too, and one that nobody reads again
 * nothing. A few ways to weigh are tried beforehand on the whole table. Half of them also avoid memory that the last
 * row uses, or that has to be written back first, because a fetch into that begins late, and nothing hides it. Of the
 * ways with few bytes the one is used that takes the least time. Buffers are never split. If no gap is large enough,
 * buffers are moved together, which costs nothing on the bus.
 */
#ifndef EIN_CUDA_SPILL_H
#define EIN_CUDA_SPILL_H

#include "spill_memory.h"

enum { EIN_SPILL_STEP, EIN_SPILL_REPEAT, EIN_SPILL_TURN, EIN_SPILL_UNTIL };
enum { EIN_SPILL_READ, EIN_SPILL_PART, EIN_SPILL_WHOLE };

/* A buffer of a row: it is read; or written, at least in part; or written as a whole, and not read before. At the end
 * of a turn: two buffers (how: the other one) that are exchanged. */
typedef struct ein_spill_use { int buffer, how; } ein_spill_use;

/* A row is a step; or the beginning of a repeat; or the end of one of its turns, UNTIL if only data tells whether
 * there is another one. */
typedef struct ein_spill_row {
  int kind;
  int first, n;                /* its uses; no buffer occurs twice */
  int pair;                    /* of a repeat's beginning, the row of the end, and vice versa */
  int unless, when;            /* it is run only if this input is not given, and only if the size with this number is
                                * not 0; -1: always */
  int from;                    /* if 0 or more: no step, but the input `first` is the buffer `from` for this run */
  const char *name, *file;     /* of its equation */
  int line;
} ein_spill_row;

typedef struct ein_spill_table {
  int n_rows, n_uses;
  const ein_spill_row *row;
  const ein_spill_use *use;
} ein_spill_table;

/* What a buffer is when the run begins and ends. OUTSIDE: its memory is not planned. */
enum { EIN_SPILL_WORK, EIN_SPILL_INPUT, EIN_SPILL_OUTPUT, EIN_SPILL_OUTSIDE };

/* A row that is planned and not run yet: its buffers' offsets, by use, and how many actions must be over. */
enum { EIN_SPILL_AHEAD = 64 };
typedef struct ein_spill_planned { int row; int64_t number, actions[EIN_SPILL_STREAMS], *at; } ein_spill_planned;

enum { EIN_SPILL_WEIGHTS = 12, EIN_SPILL_WAYS = 2 * EIN_SPILL_WEIGHTS };
typedef struct ein_spill_life { int next, live; } ein_spill_life; /* what a slot has of these */

typedef struct ein_spill {
  const ein_spill_table *table;
  int n;                       /* buffers */
  int64_t memory;              /* its bytes */
  ein_spill_memory m;
  const unsigned char *kind;   /* by buffer */
  const int64_t *bytes;        /* by buffer */
  const unsigned char *skip;   /* by row: it is not run */
  int *name;                   /* by buffer: itself, or the buffer that it is in this run */
  int *slot_of;                /* by buffer. Buffers that are exchanged exchange their slots */
  int *parent;                 /* by row: the repeat around it; -1: none */
  ein_spill_life *life;        /* by use, for a turn that has another one behind it; then for the last turn */
  int64_t *turns;              /* by the row of a repeat: how many turns it has left; -1: the run has not told */
  int cursor;                  /* the next row to be planned */
  ein_spill_planned planned[EIN_SPILL_AHEAD];
  int first, n_planned;        /* those not run yet, as a ring */
  int ahead;                   /* plan so many rows ahead of the run; EIN_SPILL_AHEAD at most */
  int64_t rows;                /* planned so far */
  int64_t up, down;            /* bytes fetched and written back so far */
  double began, over;          /* when the last planned row begins, and when it is over */
  double work;                 /* the time of a row, for each byte that it uses */
  double used;                 /* bytes that the rows so far have used */
  int way;                     /* how buffers are chosen */
} ein_spill;

/* ---- what is needed when: from the last row to the first ---- */

/* The buffer that has a buffer's value after the turn. More than two may take turns, by one exchange after another. */
static int ein_spill_other(const ein_spill *s, const ein_spill_row *turn, int buffer) {
  for (int k = turn->first; k < turn->first + turn->n; k++) {
    const ein_spill_use *x = &s->table->use[k];
    if (x->buffer == buffer) buffer = x->how;
    else if (x->how == buffer) buffer = x->buffer;
  }
  return buffer;
}

static void ein_spill_lives_row(ein_spill *s, int r, ein_spill_life *now, int last) {
  const ein_spill_row *row = &s->table->row[r];
  for (int k = row->first; k < row->first + row->n; k++) {
    int b = s->name[s->table->use[k].buffer];
    s->life[(last ? s->table->n_uses : 0) + k] = now[b];
    now[b].next = r;
    now[b].live = s->table->use[k].how != EIN_SPILL_WHOLE;
  }
}

/* What is needed at the end of a turn: what the next turn needs, and what comes behind the repeat. */
static void ein_spill_lives_join(const ein_spill *s, const ein_spill_row *turn, ein_spill_life *now,
    const ein_spill_life *again, const ein_spill_life *behind) {
  for (int b = 0; b < s->n; b++) {
    int x = ein_spill_other(s, turn, b);
    now[b] = behind[x];
    if (!again) continue;
    if (again[x].next >= 0) now[b].next = again[x].next;
    now[b].live |= again[x].live;
  }
}

/* now: what is needed behind the rows from..to-1; then, before them. Returns 0 if there is no memory. */
static int ein_spill_lives(ein_spill *s, int from, int to, ein_spill_life *now, int last) {
  size_t all = (size_t)(s->n + 1) * sizeof *now;
  int ok = 1;
  for (int r = to - 1; r >= from && ok; r--) {
    const ein_spill_row *row = &s->table->row[r];
    if (s->skip[r]) continue;
    if (row->kind == EIN_SPILL_STEP) {
      ein_spill_lives_row(s, r, now, last);
      continue;
    }
    ein_spill_life *behind = (ein_spill_life *)malloc(2 * all), *again = behind + s->n + 1;
    if (!behind) return 0;
    memcpy(behind, now, all);
    ein_spill_lives_join(s, row, now, NULL, behind);
    ok = ein_spill_lives(s, row->pair + 1, r, now, 1);
    for (int turn = 0; turn < 4 && ok; turn++) {
      memcpy(again, now, all);
      ein_spill_lives_join(s, row, now, again, behind);
      ok = ein_spill_lives(s, row->pair + 1, r, now, 0);
      if (turn && memcmp(again, now, all) == 0) break;
    }
    for (int b = 0; b < s->n; b++) { /* there may be no turn */
      if (now[b].next < 0) now[b].next = behind[b].next;
      now[b].live |= behind[b].live;
    }
    free(behind);
    r = row->pair;
  }
  return ok;
}

/* ---- what is evicted ---- */

/* How far the next use of a slot is, in rows. A use behind a repeat is farther than all in it. */
static double ein_spill_far(const ein_spill *s, int e, int u) {
  const ein_spill_row *row = s->table->row;
  double n = s->table->n_rows + 1, out = 0;
  int around = s->parent[e];
  if (u < 0) return 1e9 * n;
  for (; around >= 0 && !(around < u && u < row[around].pair); around = s->parent[around]) out++;
  if (u > e) return u - e + out * 64 * n;
  return around < 0 ? n : row[around].pair - around - (e - u) + out * 64 * n;
}

/* When a piece is free if its slot is evicted. */
static double ein_spill_away(const ein_spill *s, const ein_spill_piece *p) {
  const ein_spill_slot *x = &s->m.slot[p->slot];
  const double out = s->m.time[EIN_SPILL_OUT], write = out > x->stored.time ? out : x->stored.time;
  return x->dirty && write + (double)x->bytes > p->after.time ? write + (double)x->bytes : p->after.time;
}

/* The larger, the better it is to evict the slot. The ways differ in how much a byte on the bus counts beside the
 * distance, in whether bytes freed beyond those wanted count, and in whether the memory of the last row is avoided. */
static double ein_spill_worth(const ein_spill *s, const ein_spill_piece *p, int e, int64_t wanted) {
  const ein_spill_slot *x = &s->m.slot[p->slot];
  double far = ein_spill_far(s, e, x->next), bytes = (double)x->bytes, freed = bytes, cost = 0;
  int by_bytes = s->way / 2 % 3, cubed = s->way / 6 % 2;
  if (x->next >= 0) cost += bytes;
  if (x->dirty && (x->kind != EIN_SPILL_OUTPUT || x->next >= 0)) cost += bytes;
  if (s->m.hasty && ein_spill_away(s, p) > s->began) far *= 1e-9;
  if (cost <= 0 || !x->full) return 1e6 * far;
  if (s->way % 2 && freed > (double)wanted) freed = (double)wanted;
  if (cubed) far *= far * far;
  if (by_bytes == 0) cost = bytes;
  if (by_bytes == 2) cost *= cost / freed;
  return far * freed / cost;
}

static void ein_spill_evict(ein_spill *s, int slot) {
  ein_spill_slot *x = &s->m.slot[slot];
  if (x->dirty) {
    ein_spill_write(&s->m, slot);
    s->down += x->bytes;
    x->dirty = 0;
  }
  ein_spill_leave(&s->m, x);
}

/* Evicts until so many bytes are free; not what the row that is planned now uses. */
static void ein_spill_make_room(ein_spill *s, int e, int64_t bytes) {
  const ein_spill_memory *m = &s->m;
  while (m->free < bytes) {
    int best = -1;
    double most = -1;
    for (int k = 0; k < m->n_pieces; k++) {
      int slot = m->piece[k].slot;
      if (slot < 0 || m->slot[slot].pinned == s->rows) continue;
      double worth = ein_spill_worth(s, &m->piece[k], e, bytes - m->free);
      if (worth > most) most = worth, best = slot;
    }
    ein_spill_evict(s, best);
  }
}

/* ---- rows ---- */

static ein_spill_piece *ein_spill_its_piece(const ein_spill *s, const ein_spill_slot *x) {
  return &s->m.piece[ein_spill_piece_of(&s->m, x->at)];
}

/* Gives the row's buffers memory: first those that are fetched, or all others. */
static void ein_spill_bring(ein_spill *s, const ein_spill_use *use, int n, int fetched) {
  for (int k = 0; k < n; k++) {
    int slot = s->slot_of[s->name[use[k].buffer]];
    ein_spill_slot *x = &s->m.slot[slot];
    if (x->kind == EIN_SPILL_OUTSIDE || x->at >= 0 || fetched != (use[k].how != EIN_SPILL_WHOLE && x->full)) continue;
    ein_spill_place(&s->m, slot, fetched);
    if (!fetched) continue;
    ein_spill_fetch(&s->m, slot);
    s->up += x->bytes;
  }
}

static void ein_spill_use_it(ein_spill *s, const ein_spill_use *use, ein_spill_life after) {
  ein_spill_slot *x = &s->m.slot[s->slot_of[s->name[use->buffer]]];
  if (x->kind == EIN_SPILL_OUTSIDE) return;
  if (use->how != EIN_SPILL_READ) x->full = x->dirty = 1;
  x->next = after.next, x->live = after.live;
}

/* All its buffers have their places. What used their memory before must be over; later, the row. */
static void ein_spill_row_goes(ein_spill *s, const ein_spill_use *use, int n, ein_spill_planned *out) {
  ein_spill_after before = {-1, {0, 0}, s->over}, over = {s->rows, {0, 0}, 0};
  double bytes = 0;
  for (int k = 0; k < n; k++) {
    const ein_spill_slot *x = &s->m.slot[s->slot_of[s->name[use[k].buffer]]];
    if (out) out->at[k] = x->kind == EIN_SPILL_OUTSIDE ? -1 : x->at;
    if (x->kind == EIN_SPILL_OUTSIDE) continue;
    ein_spill_after_join(&before, &ein_spill_its_piece(s, x)->after);
    bytes += (double)x->bytes;
  }
  s->used += bytes;
  s->began = before.time, s->over = over.time = before.time + bytes * s->work;
  for (int k = 0; k < n; k++) {
    ein_spill_slot *x = &s->m.slot[s->slot_of[s->name[use[k].buffer]]];
    if (x->kind == EIN_SPILL_OUTSIDE) continue;
    ein_spill_its_piece(s, x)->after = over;
    if (use[k].how != EIN_SPILL_READ) x->stored = over;
  }
  if (out) memcpy(out->actions, before.actions, sizeof before.actions);
}

/* Plans a step, in the last turn of the repeat around it or not. */
static void ein_spill_step(ein_spill *s, int r, int last, ein_spill_planned *out) {
  const ein_spill_row *row = &s->table->row[r];
  const ein_spill_use *use = s->table->use + row->first;
  const ein_spill_life *life = s->life + (last ? s->table->n_uses : 0) + row->first;
  int64_t wanted = 0;
  for (int k = 0; k < row->n; k++) {
    ein_spill_slot *x = &s->m.slot[s->slot_of[s->name[use[k].buffer]]];
    if (x->kind == EIN_SPILL_OUTSIDE) continue;
    x->pinned = s->rows;
    if (x->at < 0) wanted += ein_spill_round(x->bytes);
  }
  ein_spill_make_room(s, r, wanted);
  ein_spill_bring(s, use, row->n, 1);
  ein_spill_bring(s, use, row->n, 0);
  for (int k = 0; k < row->n; k++) ein_spill_use_it(s, &use[k], life[k]);
  ein_spill_row_goes(s, use, row->n, out);
  for (int k = 0; k < row->n; k++) {
    ein_spill_slot *x = &s->m.slot[s->slot_of[s->name[use[k].buffer]]];
    if (x->kind == EIN_SPILL_OUTSIDE || x->live) continue;
    ein_spill_leave(&s->m, x);
    x->full = x->dirty = 0;
  }
  s->rows++;
}

static void ein_spill_turn(ein_spill *s, int r) {
  const ein_spill_row *row = &s->table->row[r];
  for (int k = row->first; k < row->first + row->n; k++) {
    const ein_spill_use *x = &s->table->use[k];
    int was = s->slot_of[x->buffer];
    s->slot_of[x->buffer] = s->slot_of[x->how];
    s->slot_of[x->how] = was;
  }
}

/* The end of the run: outputs go to the host. */
static void ein_spill_finish(ein_spill *s) {
  for (int k = 0; k < s->n; k++)
    if (s->m.slot[k].kind == EIN_SPILL_OUTPUT && s->m.slot[k].at >= 0 && s->m.slot[k].dirty) ein_spill_evict(s, k);
}

/* ---- the whole table ---- */

/* The bytes at the beginning of the device's memory, which a run needs besides what is planned. */
enum { EIN_SPILL_HEAD = EIN_SPILL_ALIGN };

/* What all that is planned takes together. */
static int64_t ein_spill_takes(const ein_spill *s) {
  int64_t bytes = 0;
  for (int b = 0; b < s->n; b++)
    if (s->kind[b] != EIN_SPILL_OUTSIDE) bytes += ein_spill_round(s->bytes[b]);
  return bytes;
}

/* The least memory with which the table can be run, and the row that needs it; -1: none needs any. */
static int64_t ein_spill_least(const ein_spill *s, int *row) {
  int64_t least = 0;
  *row = -1;
  for (int r = 0; r < s->table->n_rows; r++) {
    const ein_spill_row *x = &s->table->row[r];
    int64_t bytes = 0;
    if (s->skip[r] || x->kind != EIN_SPILL_STEP) continue;
    for (int k = x->first; k < x->first + x->n; k++) {
      int b = s->name[s->table->use[k].buffer];
      if (s->kind[b] != EIN_SPILL_OUTSIDE) bytes += ein_spill_round(s->bytes[b]);
    }
    if (bytes > least) least = bytes, *row = r;
  }
  return least;
}

/* Before the first row. Actions that are not done are forgotten. */
static void ein_spill_reset(ein_spill *s) {
  for (int b = 0; b < s->n; b++) {
    ein_spill_slot *x = &s->m.slot[b];
    memset(x, 0, sizeof *x);
    x->kind = s->kind[b];
    x->bytes = s->bytes[b];
    x->at = x->pinned = x->stored.row = x->home.row = x->next = -1;
    x->full = x->live = x->kind == EIN_SPILL_INPUT;
    s->slot_of[b] = b;
  }
  ein_spill_memory_reset(&s->m, s->memory);
  s->rows = s->up = s->down = 0;
  s->began = s->over = s->used = 0;
  s->cursor = s->first = s->n_planned = 0;
  for (int r = 0; r < s->table->n_rows; r++) s->turns[r] = -1;
}

enum { EIN_SPILL_TURNS = 3 }; /* how many turns a repeat is taken to have when ways are compared */
static void ein_spill_dry(ein_spill *s, int from, int to, int last) {
  for (int r = from; r < to; r++) {
    const ein_spill_row *row = &s->table->row[r];
    if (s->skip[r]) continue;
    if (row->kind == EIN_SPILL_STEP) ein_spill_step(s, r, last, NULL);
    if (row->kind != EIN_SPILL_REPEAT) continue;
    for (int turn = 1; turn <= EIN_SPILL_TURNS; turn++) {
      ein_spill_dry(s, r + 1, row->pair, turn == EIN_SPILL_TURNS && s->table->row[row->pair].kind == EIN_SPILL_TURN);
      ein_spill_turn(s, row->pair);
    }
    r = row->pair;
  }
}

/* The bytes that cross the bus if buffers are chosen in that way. */
static int64_t ein_spill_try(ein_spill *s, int way) {
  s->way = way, s->m.hasty = way >= EIN_SPILL_WEIGHTS, s->m.dry = 1;
  ein_spill_reset(s);
  ein_spill_dry(s, 0, s->table->n_rows, 0);
  ein_spill_finish(s);
  s->m.dry = 0;
  return s->up + s->down;
}

static void ein_spill_end(ein_spill *s) {
  for (int k = 0; k < EIN_SPILL_STREAMS; k++) free(s->m.queue[k].action);
  free(s->m.slot);
  memset(s, 0, sizeof *s);
}

/* Makes names and lives. kind, bytes and skip stay the caller's. Returns 0 if there is no memory. */
static int ein_spill_begin(ein_spill *s, const ein_spill_table *t, int n, const unsigned char *kind,
    const int64_t *bytes, const unsigned char *skip) {
  size_t buffers = (size_t)n + 1, rows = (size_t)t->n_rows + 1, uses = (size_t)t->n_uses + 1, most = 1,
         pieces = 4 * buffers + 8;
  memset(s, 0, sizeof *s);
  s->table = t, s->n = n, s->kind = kind, s->bytes = bytes, s->skip = skip;
  s->ahead = EIN_SPILL_AHEAD;
  for (int r = 0; r < t->n_rows; r++)
    if ((size_t)t->row[r].n > most) most = (size_t)t->row[r].n;
  ein_spill_memory *m = &s->m;
  m->slot = (ein_spill_slot *)calloc(1, buffers * sizeof *m->slot + pieces * sizeof *m->piece +
      (rows + EIN_SPILL_AHEAD * most) * sizeof(int64_t) + (2 * uses + buffers) * sizeof *s->life +
      (2 * buffers + rows) * sizeof(int));
  if (!m->slot) return 0;
  m->piece = (ein_spill_piece *)(void *)(m->slot + buffers);
  m->most_pieces = (int)pieces;
  s->turns = (int64_t *)(void *)(m->piece + pieces);
  for (int k = 0; k < EIN_SPILL_AHEAD; k++) s->planned[k].at = s->turns + rows + (size_t)k * most;
  s->life = (ein_spill_life *)(void *)(s->turns + rows + EIN_SPILL_AHEAD * most);
  ein_spill_life *now = s->life + 2 * uses;
  s->name = (int *)(void *)(now + buffers);
  s->slot_of = s->name + buffers;
  s->parent = s->slot_of + buffers;
  for (int b = 0; b < n; b++) {
    s->name[b] = b;
    now[b].next = -1, now[b].live = kind[b] == EIN_SPILL_OUTPUT;
  }
  for (int r = 0, around = -1; r < t->n_rows; r++) {
    const ein_spill_row *x = &t->row[r];
    if (x->kind == EIN_SPILL_TURN || x->kind == EIN_SPILL_UNTIL) around = s->parent[x->pair];
    s->parent[r] = around;
    if (x->kind == EIN_SPILL_REPEAT) around = r;
    if (x->from >= 0 && !skip[r]) s->name[x->first] = s->name[x->from];
  }
  return ein_spill_lives(s, 0, t->n_rows, now, 0);
}

/* When all rows and copies of the last dry run are over. */
static double ein_spill_time(const ein_spill *s) {
  double time = s->over;
  for (int k = 0; k < EIN_SPILL_STREAMS; k++)
    if (s->m.time[k] > time) time = s->m.time[k];
  return time;
}

/* Finds the best way, for a memory that is large enough. Returns the bytes that cross the bus with it, if repeats have
 * EIN_SPILL_TURNS turns: at most a tenth more than must be, if that takes less time. How long rows take is not known;
 * they are taken to keep the device as busy as the bus, where it matters most that neither waits for the other. */
static int64_t ein_spill_choose(ein_spill *s) {
  int64_t bytes[EIN_SPILL_WAYS], least = INT64_MAX;
  double time[EIN_SPILL_WAYS];
  int best = -1;
  s->work = 0;
  ein_spill_try(s, 0);
  if (s->used > 0) s->work = (double)(s->up > s->down ? s->up : s->down) / s->used;
  for (int way = 0; way < EIN_SPILL_WAYS; way++) {
    bytes[way] = ein_spill_try(s, way);
    time[way] = ein_spill_time(s);
    if (bytes[way] < least) least = bytes[way];
  }
  for (int way = 0; way < EIN_SPILL_WAYS; way++)
    if (bytes[way] <= least + least / 10 && (best < 0 || time[way] < time[best])) best = way;
  s->way = best, s->m.hasty = best >= EIN_SPILL_WEIGHTS;
  ein_spill_reset(s);
  return bytes[best];
}

/* ---- during a run ---- */

static void ein_spill_plan_row(ein_spill *s, int r) {
  ein_spill_planned *x = &s->planned[(s->first + s->n_planned++) % EIN_SPILL_AHEAD];
  int around = s->parent[r];
  x->row = r, x->number = s->rows;
  ein_spill_step(s, r, around >= 0 && s->turns[around] == 1, x);
}

/* Whether the run has told what the cursor has to know at this row. UNTIL: it has to tell at each turn. */
static int ein_spill_may(const ein_spill *s, int r) {
  const ein_spill_row *row = &s->table->row[r];
  return s->skip[r] || (row->kind == EIN_SPILL_REPEAT ? s->turns[r] >= 0 : row->kind != EIN_SPILL_UNTIL);
}

/* The cursor passes one row. */
static void ein_spill_pass(ein_spill *s) {
  int r = s->cursor++;
  const ein_spill_row *row = &s->table->row[r];
  if (s->skip[r]) return;
  switch (row->kind) {
  case EIN_SPILL_STEP:
    if (row->from < 0) ein_spill_plan_row(s, r);
    break;
  case EIN_SPILL_REPEAT:
    if (s->turns[r] <= 0) s->cursor = row->pair + 1, s->turns[r] = -1;
    break;
  default:
    ein_spill_turn(s, r);
    if (--s->turns[row->pair] > 0) s->cursor = row->pair + 1;
    else s->turns[row->pair] = -1; /* it may begin again */
    break;
  }
}

/* Plans as many rows ahead as it may. */
static void ein_spill_walk(ein_spill *s) {
  while (s->cursor < s->table->n_rows && s->n_planned < s->ahead && ein_spill_may(s, s->cursor))
    ein_spill_pass(s);
}

/* What is planned for the row that the run is at, which is the first one not run yet; valid until the next call. */
static const ein_spill_planned *ein_spill_need(ein_spill *s) {
  ein_spill_walk(s);
  const ein_spill_planned *x = &s->planned[s->first];
  s->first = (s->first + 1) % EIN_SPILL_AHEAD, s->n_planned--;
  return x;
}

/* The run is at the beginning of a repeat, and makes so many turns at most. */
static void ein_spill_repeat(ein_spill *s, int r, int64_t turns) {
  ein_spill_walk(s);
  s->turns[r] = turns > 0 ? turns : 0;
}

/* The run is at the end of a turn of a repeat that data may stop. */
static void ein_spill_until(ein_spill *s, int r, int stop) {
  ein_spill_walk(s);
  if (stop) s->turns[s->table->row[r].pair] = 1;
  ein_spill_pass(s);
}

#endif
