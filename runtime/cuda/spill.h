/* SPDX-License-Identifier: MIT-0 */
/*
 * Plans a run that does not fit a device's memory: which buffers are there when, at which offset, and what is copied
 * between the host and the device. It calls nothing of CUDA's; spilling.h does what it plans.
 *
 * In: a table of the run's rows, in order, with the buffers that each uses; the buffers' sizes; the bytes of memory.
 * The planner walks through the rows ahead of the run. For each row it makes the row's buffers resident and appends
 * actions to a queue: fetch a buffer, write one back, move one within the device. Each action says after which row it
 * may begin.
 *
 * If there is not enough memory, the buffer is evicted whose next use is farthest, weighed by the bytes that it costs:
 * one whose value is also on the host costs a fetch, any other one a write too, and one that nobody reads again
 * nothing. A few ways to weigh are tried beforehand on the whole table, and the best one is used. Buffers are never
 * split. If no gap is large enough, buffers are moved together, which costs nothing on the bus.
 */
#ifndef EIN_CUDA_SPILL_H
#define EIN_CUDA_SPILL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* A value and its memory. Buffers that are exchanged exchange their slots. */
typedef struct ein_spill_slot {
  int64_t bytes;
  int64_t at;                  /* its offset on the device; -1: it is not there */
  int64_t wrote, pinned;       /* the last planned rows that write it, that use it; -1: none */
  int next, live;              /* the row of its next use; -1: none; whether its value is needed again */
  int kind, full, dirty;       /* full: it has a value; dirty: only on the device */
} ein_spill_slot;

/* The device's memory in pieces, by offset. after: the last planned row that uses it. slot -1: it is free. */
typedef struct ein_spill_piece { int64_t at, bytes, after; int slot; } ein_spill_piece;

enum { EIN_SPILL_FETCH, EIN_SPILL_WRITE, EIN_SPILL_MOVE };
typedef struct ein_spill_action {
  int kind, slot;
  int64_t at, bytes;           /* on the device */
  int64_t from;                /* of a move, which goes towards 0 */
  int64_t via, room;           /* of a move: free memory to copy through; room 0: none is needed */
  int64_t after;               /* it may begin after that planned row; -1: at once */
} ein_spill_action;

/* A row that is planned and not run yet: its buffers' offsets, by use, and the number of the action behind its own. */
enum { EIN_SPILL_AHEAD = 16 };
typedef struct ein_spill_planned { int row; int64_t number, actions, *at; } ein_spill_planned;

enum { EIN_SPILL_WAYS = 12 };
typedef struct ein_spill_life { int next, live; } ein_spill_life; /* what a slot has of these */

typedef struct ein_spill {
  const ein_spill_table *table;
  int n;                       /* buffers */
  int64_t memory;
  const unsigned char *kind;   /* by buffer */
  const int64_t *bytes;        /* by buffer */
  const unsigned char *skip;   /* by row: it is not run */
  int *name;                   /* by buffer: itself, or the buffer that it is in this run */
  int *slot_of;                /* by buffer */
  ein_spill_slot *slot;
  ein_spill_piece *piece;
  int n_pieces;
  int *parent;                 /* by row: the repeat around it; -1: none */
  ein_spill_life *life;        /* by use, for a turn that has another one behind it; then for the last turn */
  int64_t *turns;              /* by the row of a repeat: how many turns it has left; -1: the run has not told */
  int cursor;                  /* the next row to be planned */
  ein_spill_planned planned[EIN_SPILL_AHEAD];
  int first, n_planned;        /* those not run yet, as a ring */
  int64_t free;                /* bytes of all free pieces */
  int64_t rows;                /* planned so far */
  int64_t up, down;            /* bytes fetched and written back so far */
  int way;                     /* how buffers are chosen */
  int dry;                     /* only counts, without actions */
  int failed;                  /* there was no memory for the queue */
  ein_spill_action none, *action; /* the queue: those from `done` on are not done */
  int64_t done, asked;         /* numbers of actions since the run began */
  int room;
} ein_spill;

enum { EIN_SPILL_ALIGN = 256 };
static int64_t ein_spill_round(int64_t bytes) {
  return (bytes + EIN_SPILL_ALIGN - 1) / EIN_SPILL_ALIGN * EIN_SPILL_ALIGN;
}

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

/* ---- memory ---- */

static void ein_spill_piece_add(ein_spill *s, int k, ein_spill_piece x) {
  memmove(s->piece + k + 1, s->piece + k, (size_t)(s->n_pieces - k) * sizeof x);
  s->piece[k] = x;
  s->n_pieces++;
}

static void ein_spill_piece_end(ein_spill *s, int k) {
  memmove(s->piece + k, s->piece + k + 1, (size_t)(s->n_pieces - k - 1) * sizeof *s->piece);
  s->n_pieces--;
}

static int ein_spill_piece_of(const ein_spill *s, int64_t at) {
  int low = 0, high = s->n_pieces - 1;
  while (low < high) {
    int k = (low + high + 1) / 2;
    if (s->piece[k].at <= at) low = k;
    else high = k - 1;
  }
  return low;
}

/* Joins a free piece with a free one behind it. */
static void ein_spill_piece_join(ein_spill *s, int k) {
  if (k < 0 || k + 1 >= s->n_pieces || s->piece[k].slot >= 0 || s->piece[k + 1].slot >= 0) return;
  s->piece[k].bytes += s->piece[k + 1].bytes;
  if (s->piece[k + 1].after > s->piece[k].after) s->piece[k].after = s->piece[k + 1].after;
  ein_spill_piece_end(s, k + 1);
}

static void ein_spill_leave(ein_spill *s, ein_spill_slot *x) {
  int k = ein_spill_piece_of(s, x->at);
  s->free += s->piece[k].bytes;
  s->piece[k].slot = -1;
  ein_spill_piece_join(s, k);
  ein_spill_piece_join(s, k - 1);
  x->at = -1;
}

static ein_spill_action *ein_spill_ask(ein_spill *s, int kind, int slot, int64_t at, int64_t bytes, int64_t after) {
  int64_t n = s->asked - s->done;
  if (s->dry || s->failed) return &s->none;
  if (n == s->room) { /* the actions' places depend on the room */
    int room = 2 * s->room + 64;
    ein_spill_action *more = (ein_spill_action *)malloc((size_t)room * sizeof *more);
    if (!more) return s->failed = 1, &s->none;
    for (int64_t k = s->done; k < s->asked; k++) more[k % room] = s->action[k % s->room];
    free(s->action);
    s->action = more, s->room = room;
  }
  ein_spill_action *x = &s->action[s->asked++ % s->room];
  memset(x, 0, sizeof *x);
  x->kind = kind, x->slot = slot, x->at = at, x->bytes = bytes, x->after = after;
  return x;
}

/* The smallest gap for so many bytes; -1: none. */
static int ein_spill_gap(const ein_spill *s, int64_t bytes) {
  int best = -1;
  for (int k = 0; k < s->n_pieces; k++)
    if (s->piece[k].slot < 0 && s->piece[k].bytes >= bytes && (best < 0 || s->piece[k].bytes < s->piece[best].bytes))
      best = k;
  return best;
}

/* The free pieces from `first` on, and what lies between, up to the last one needed for so many bytes, such that the
 * fewest bytes have to be moved. */
static int ein_spill_window(const ein_spill *s, int64_t bytes, int *last) {
  int best = -1;
  int64_t least = INT64_MAX;
  for (int k = 0; k < s->n_pieces; k++) {
    int64_t got = 0, moved = 0;
    if (s->piece[k].slot >= 0) continue;
    for (int i = k; i < s->n_pieces && moved < least; i++) {
      if (s->piece[i].slot >= 0) moved += s->piece[i].bytes;
      else got += s->piece[i].bytes;
      if (got < bytes) continue;
      least = moved, best = k, *last = i;
      break;
    }
  }
  return best;
}

/* Moves the buffer behind a free piece to the beginning of that, through the largest other gap if the two places
 * overlap. */
static void ein_spill_shift(ein_spill *s, int k) {
  ein_spill_piece *gap = &s->piece[k], *x = &s->piece[k + 1];
  ein_spill_slot *slot = &s->slot[x->slot];
  int64_t after = gap->after > x->after ? gap->after : x->after;
  ein_spill_action *a = ein_spill_ask(s, EIN_SPILL_MOVE, x->slot, gap->at, slot->bytes, after);
  a->from = x->at;
  int via = -1;
  for (int i = 0; i < s->n_pieces && gap->bytes < slot->bytes; i++)
    if (i != k && s->piece[i].slot < 0 && (via < 0 || s->piece[i].bytes > s->piece[via].bytes)) via = i;
  if (via >= 0 && s->piece[via].bytes > 2 * gap->bytes) {
    a->via = s->piece[via].at, a->room = s->piece[via].bytes;
    if (s->piece[via].after > a->after) a->after = s->piece[via].after;
  }
  ein_spill_piece was = *gap;
  slot->at = was.at;
  gap->bytes = x->bytes, gap->slot = x->slot, gap->after = after;
  x->at = was.at + gap->bytes, x->bytes = was.bytes, x->slot = -1, x->after = after;
  ein_spill_piece_join(s, k + 1);
}

/* Places a slot, for which there are enough bytes. Returns after which row its memory is free. */
static int64_t ein_spill_place(ein_spill *s, int slot) {
  ein_spill_slot *x = &s->slot[slot];
  int64_t bytes = ein_spill_round(x->bytes);
  int k = ein_spill_gap(s, bytes), last = -1;
  if (k < 0) {
    k = ein_spill_window(s, bytes, &last);
    while (s->piece[k].bytes < bytes) ein_spill_shift(s, k), k++;
  }
  ein_spill_piece rest = s->piece[k];
  s->piece[k].bytes = bytes, s->piece[k].slot = slot;
  rest.at += bytes, rest.bytes -= bytes;
  if (rest.bytes) ein_spill_piece_add(s, k + 1, rest);
  x->at = s->piece[k].at;
  s->free -= bytes;
  return s->piece[k].after;
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

/* The larger, the better it is to evict the slot. The ways differ in how much a byte on the bus counts beside the
 * distance, and in whether bytes freed beyond those wanted count. */
static double ein_spill_worth(const ein_spill *s, const ein_spill_slot *x, int e, int64_t wanted) {
  double far = ein_spill_far(s, e, x->next), bytes = (double)x->bytes, freed = bytes, cost = 0;
  int by_bytes = s->way / 2 % 3;
  if (x->next >= 0) cost += bytes;
  if (x->dirty && (x->kind != EIN_SPILL_OUTPUT || x->next >= 0)) cost += bytes;
  if (cost <= 0 || !x->full) return 1e6 * far;
  if (s->way % 2 && freed > (double)wanted) freed = (double)wanted;
  if (s->way / 6) far *= far * far;
  if (by_bytes == 0) cost = bytes;
  if (by_bytes == 2) cost *= cost / freed;
  return far * freed / cost;
}

static void ein_spill_evict(ein_spill *s, int slot) {
  ein_spill_slot *x = &s->slot[slot];
  if (x->dirty) {
    ein_spill_ask(s, EIN_SPILL_WRITE, slot, x->at, x->bytes, x->wrote);
    s->down += x->bytes;
    x->dirty = 0;
  }
  ein_spill_leave(s, x);
}

/* Evicts until so many bytes are free; not what the row that is planned now uses. */
static void ein_spill_make_room(ein_spill *s, int e, int64_t bytes) {
  while (s->free < bytes) {
    int best = -1;
    double most = -1;
    for (int k = 0; k < s->n_pieces; k++) {
      int slot = s->piece[k].slot;
      if (slot < 0 || s->slot[slot].pinned == s->rows) continue;
      double worth = ein_spill_worth(s, &s->slot[slot], e, bytes - s->free);
      if (worth > most) most = worth, best = slot;
    }
    ein_spill_evict(s, best);
  }
}

/* ---- rows ---- */

static void ein_spill_use_it(ein_spill *s, const ein_spill_use *use, ein_spill_life after, int64_t memory_after) {
  int slot = s->slot_of[s->name[use->buffer]];
  ein_spill_slot *x = &s->slot[slot];
  if (memory_after != INT64_MIN && use->how != EIN_SPILL_WHOLE && x->full) {
    ein_spill_ask(s, EIN_SPILL_FETCH, slot, x->at, x->bytes, memory_after);
    s->up += x->bytes;
  }
  if (use->how != EIN_SPILL_READ) x->full = x->dirty = 1, x->wrote = s->rows;
  x->next = after.next, x->live = after.live;
}

/* Plans a step, in the last turn of the repeat around it or not. at: by use, the offset of its buffer. */
static void ein_spill_step(ein_spill *s, int r, int last, int64_t *at) {
  const ein_spill_row *row = &s->table->row[r];
  const ein_spill_use *use = s->table->use + row->first;
  const ein_spill_life *life = s->life + (last ? s->table->n_uses : 0) + row->first;
  int64_t wanted = 0;
  for (int k = 0; k < row->n; k++) {
    ein_spill_slot *x = &s->slot[s->slot_of[s->name[use[k].buffer]]];
    if (x->kind == EIN_SPILL_OUTSIDE) continue;
    x->pinned = s->rows;
    if (x->at < 0) wanted += ein_spill_round(x->bytes);
  }
  ein_spill_make_room(s, r, wanted);
  for (int k = 0; k < row->n; k++) {
    int slot = s->slot_of[s->name[use[k].buffer]];
    if (s->slot[slot].kind == EIN_SPILL_OUTSIDE) continue;
    int64_t after = INT64_MIN; /* it is there already */
    if (s->slot[slot].at < 0) after = ein_spill_place(s, slot);
    ein_spill_use_it(s, &use[k], life[k], after);
  }
  for (int k = 0; k < row->n; k++) {
    ein_spill_slot *x = &s->slot[s->slot_of[s->name[use[k].buffer]]];
    if (at) at[k] = x->kind == EIN_SPILL_OUTSIDE ? -1 : x->at; /* the next ones' places may have moved it */
    if (x->kind != EIN_SPILL_OUTSIDE) s->piece[ein_spill_piece_of(s, x->at)].after = s->rows;
  }
  for (int k = 0; k < row->n; k++) {
    ein_spill_slot *x = &s->slot[s->slot_of[s->name[use[k].buffer]]];
    if (x->kind == EIN_SPILL_OUTSIDE || x->live) continue;
    ein_spill_leave(s, x);
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
    if (s->slot[k].kind == EIN_SPILL_OUTPUT && s->slot[k].at >= 0 && s->slot[k].dirty) ein_spill_evict(s, k);
}

/* ---- the whole table ---- */

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
    ein_spill_slot *x = &s->slot[b];
    memset(x, 0, sizeof *x);
    x->kind = s->kind[b];
    x->bytes = s->bytes[b];
    x->at = x->wrote = x->pinned = x->next = -1;
    x->full = x->live = x->kind == EIN_SPILL_INPUT;
    s->slot_of[b] = b;
  }
  s->piece[0].at = 0, s->piece[0].bytes = s->free = s->memory / EIN_SPILL_ALIGN * EIN_SPILL_ALIGN;
  s->piece[0].slot = -1, s->piece[0].after = -1;
  s->n_pieces = s->free > 0;
  s->rows = s->up = s->down = s->done = s->asked = 0;
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
  s->way = way, s->dry = 1;
  ein_spill_reset(s);
  ein_spill_dry(s, 0, s->table->n_rows, 0);
  ein_spill_finish(s);
  s->dry = 0;
  return s->up + s->down;
}

static void ein_spill_end(ein_spill *s) {
  free(s->action);
  free(s->slot);
  memset(s, 0, sizeof *s);
}

/* Makes names and lives. kind, bytes and skip stay the caller's. Returns 0 if there is no memory. */
static int ein_spill_begin(ein_spill *s, const ein_spill_table *t, int n, const unsigned char *kind,
    const int64_t *bytes, const unsigned char *skip, int64_t memory) {
  size_t buffers = (size_t)n + 1, rows = (size_t)t->n_rows + 1, uses = (size_t)t->n_uses + 1, most = 1;
  memset(s, 0, sizeof *s);
  s->table = t, s->n = n, s->kind = kind, s->bytes = bytes, s->skip = skip, s->memory = memory;
  for (int r = 0; r < t->n_rows; r++)
    if ((size_t)t->row[r].n > most) most = (size_t)t->row[r].n;
  s->slot = (ein_spill_slot *)calloc(1, buffers * sizeof *s->slot + (2 * buffers + 2) * sizeof *s->piece +
      (rows + EIN_SPILL_AHEAD * most) * sizeof(int64_t) + (2 * uses + buffers) * sizeof *s->life +
      (2 * buffers + rows) * sizeof(int));
  if (!s->slot) return 0;
  s->piece = (ein_spill_piece *)(void *)(s->slot + buffers);
  s->turns = (int64_t *)(void *)(s->piece + 2 * buffers + 2);
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

/* Finds the best way, for a memory that is large enough. Returns the bytes that cross the bus with it, if repeats have
 * EIN_SPILL_TURNS turns. */
static int64_t ein_spill_choose(ein_spill *s) {
  int64_t least = INT64_MAX;
  int best = 0;
  for (int way = 0; way < EIN_SPILL_WAYS; way++) {
    int64_t bytes = ein_spill_try(s, way);
    if (bytes < least) least = bytes, best = way;
  }
  s->way = best;
  ein_spill_reset(s);
  return least;
}

/* ---- during a run ---- */

static void ein_spill_plan_row(ein_spill *s, int r) {
  ein_spill_planned *x = &s->planned[(s->first + s->n_planned++) % EIN_SPILL_AHEAD];
  int around = s->parent[r];
  x->row = r, x->number = s->rows;
  ein_spill_step(s, r, around >= 0 && s->turns[around] == 1, x->at);
  x->actions = s->asked;
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
  while (s->cursor < s->table->n_rows && s->n_planned < EIN_SPILL_AHEAD && ein_spill_may(s, s->cursor))
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
