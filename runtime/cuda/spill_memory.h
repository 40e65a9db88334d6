/* SPDX-License-Identifier: MIT-0 */
/*
 * A device's memory in pieces, for spill.h: where buffers lie in it, and what is copied to, from and within it.
 *
 * In: slots (values with their bytes) that shall be there, and that shall leave. Out: their offsets, and actions in two
 * streams. Actions of a stream are done one after the other; the streams are independent of each other and of the rows
 * of the run. So each piece of memory knows what must be over before it may be changed, and each action and each row
 * says what it must wait for. This file does not know what a row is, or why a slot comes or leaves.
 *
 * There is a simulated time, to compare plans. Its unit is a byte on the bus.
 */
#ifndef EIN_CUDA_SPILL_MEMORY_H
#define EIN_CUDA_SPILL_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* To the device and within it; to the host. */
enum { EIN_SPILL_IN, EIN_SPILL_OUT, EIN_SPILL_STREAMS };

/* What must be over: all rows up to this one (-1: none), and so many actions of each stream; and when that is so. */
typedef struct ein_spill_after { int64_t row, actions[EIN_SPILL_STREAMS]; double time; } ein_spill_after;

/* A value and its memory. */
typedef struct ein_spill_slot {
  int64_t bytes;
  int64_t at;                  /* its offset on the device; -1: it is not there */
  int64_t pinned;              /* the last planned row that uses it; -1: none */
  ein_spill_after stored;      /* what must be over before it may be read: the row that wrote it, moves */
  ein_spill_after home;        /* and, on the host */
  int next, live;              /* the row of its next use; -1: none; whether its value is needed again */
  int kind, full, dirty;       /* full: it has a value; dirty: only on the device */
} ein_spill_slot;

/* By offset. slot -1: it is free, and may be changed when `after` is over. */
typedef struct ein_spill_piece { int64_t at, bytes; ein_spill_after after; int slot; } ein_spill_piece;

enum { EIN_SPILL_FETCH, EIN_SPILL_WRITE, EIN_SPILL_MOVE };
typedef struct ein_spill_action {
  int kind, slot;
  int64_t at, bytes;           /* on the device */
  int64_t from;                /* of a move, which goes towards 0 */
  int64_t via, room;           /* of a move: free memory to copy through; room 0: none is needed */
  ein_spill_after after;       /* it may begin then; of its own stream, nothing */
} ein_spill_action;

/* The actions of a stream: those from `done` on are not done. Numbers count from the beginning of the run. */
typedef struct ein_spill_queue { ein_spill_action *action; int64_t done, asked; int room; } ein_spill_queue;

typedef struct ein_spill_memory {
  ein_spill_slot *slot;
  ein_spill_piece *piece;
  int n_pieces, most_pieces;   /* free ones that are free at different times stay apart, if there are not too many */
  int64_t free;                /* bytes of all free pieces */
  int hasty;                   /* what is fetched gets the memory that is free first, even if a gap fits better */
  ein_spill_queue queue[EIN_SPILL_STREAMS];
  double time[EIN_SPILL_STREAMS]; /* when the stream's actions are over */
  ein_spill_action none;
  int dry;                     /* only counts, without actions */
  int failed;                  /* there was no memory for a queue */
} ein_spill_memory;

enum { EIN_SPILL_ALIGN = 256 };
static int64_t ein_spill_round(int64_t bytes) {
  return (bytes + EIN_SPILL_ALIGN - 1) / EIN_SPILL_ALIGN * EIN_SPILL_ALIGN;
}

static void ein_spill_after_join(ein_spill_after *to, const ein_spill_after *x) {
  if (x->row > to->row) to->row = x->row;
  if (x->time > to->time) to->time = x->time;
  for (int k = 0; k < EIN_SPILL_STREAMS; k++)
    if (x->actions[k] > to->actions[k]) to->actions[k] = x->actions[k];
}

/* ---- pieces ---- */

static void ein_spill_piece_add(ein_spill_memory *m, int k, ein_spill_piece x) {
  memmove(m->piece + k + 1, m->piece + k, (size_t)(m->n_pieces - k) * sizeof x);
  m->piece[k] = x;
  m->n_pieces++;
}

static void ein_spill_piece_end(ein_spill_memory *m, int k) {
  memmove(m->piece + k, m->piece + k + 1, (size_t)(m->n_pieces - k - 1) * sizeof *m->piece);
  m->n_pieces--;
}

static int ein_spill_piece_of(const ein_spill_memory *m, int64_t at) {
  int low = 0, high = m->n_pieces - 1;
  while (low < high) {
    int k = (low + high + 1) / 2;
    if (m->piece[k].at <= at) low = k;
    else high = k - 1;
  }
  return low;
}

static int ein_spill_after_same(const ein_spill_after *a, const ein_spill_after *b) {
  return a->row == b->row && memcmp(a->actions, b->actions, sizeof a->actions) == 0; /* and so at the same time */
}

/* Joins a free piece with a free one behind it, if they are free at the same time. */
static int ein_spill_piece_join(ein_spill_memory *m, int k, int always) {
  if (k < 0 || k + 1 >= m->n_pieces || m->piece[k].slot >= 0 || m->piece[k + 1].slot >= 0) return 0;
  if (!always && !ein_spill_after_same(&m->piece[k].after, &m->piece[k + 1].after)) return 0;
  m->piece[k].bytes += m->piece[k + 1].bytes;
  ein_spill_after_join(&m->piece[k].after, &m->piece[k + 1].after);
  ein_spill_piece_end(m, k + 1);
  return 1;
}

static void ein_spill_pieces_join(ein_spill_memory *m) {
  for (int k = 0; k < m->n_pieces;)
    if (!ein_spill_piece_join(m, k, 1)) k++;
}

static void ein_spill_leave(ein_spill_memory *m, ein_spill_slot *x) {
  int k = ein_spill_piece_of(m, x->at);
  m->free += m->piece[k].bytes;
  m->piece[k].slot = -1;
  ein_spill_piece_join(m, k, 0);
  ein_spill_piece_join(m, k - 1, 0);
  x->at = -1;
}

/* All of it is free, and there are no actions. */
static void ein_spill_memory_reset(ein_spill_memory *m, int64_t bytes) {
  const ein_spill_piece all = {0, bytes / EIN_SPILL_ALIGN * EIN_SPILL_ALIGN, {-1, {0, 0}, 0}, -1};
  m->piece[0] = all;
  m->free = all.bytes;
  m->n_pieces = all.bytes > 0;
  for (int k = 0; k < EIN_SPILL_STREAMS; k++) m->queue[k].done = m->queue[k].asked = 0, m->time[k] = 0;
}

/* ---- actions ---- */

static int ein_spill_stream(int kind) { return kind == EIN_SPILL_WRITE ? EIN_SPILL_OUT : EIN_SPILL_IN; }

static ein_spill_action *ein_spill_more(ein_spill_memory *m, ein_spill_queue *q) {
  if (m->dry || m->failed) return &m->none;
  if (q->asked - q->done == q->room) { /* the actions' places depend on the room */
    int room = 2 * q->room + 64;
    ein_spill_action *more = (ein_spill_action *)malloc((size_t)room * sizeof *more);
    if (!more) return m->failed = 1, &m->none;
    for (int64_t k = q->done; k < q->asked; k++) more[k % room] = q->action[k % q->room];
    free(q->action);
    q->action = more, q->room = room;
  }
  return &q->action[q->asked % q->room];
}

enum { EIN_SPILL_MOVES = 16 }; /* copies on the device are so many times as fast, at least */
static ein_spill_action *ein_spill_ask(ein_spill_memory *m, int kind, int slot, int64_t at, ein_spill_after after) {
  const int stream = ein_spill_stream(kind);
  ein_spill_queue *q = &m->queue[stream];
  ein_spill_action *x = ein_spill_more(m, q);
  q->asked++;
  memset(x, 0, sizeof *x);
  x->kind = kind, x->slot = slot, x->at = at, x->bytes = m->slot[slot].bytes, x->after = after;
  if (after.time > m->time[stream]) m->time[stream] = after.time;
  m->time[stream] += (double)x->bytes / (kind == EIN_SPILL_MOVE ? EIN_SPILL_MOVES : 1);
  return x;
}

/* What waits for the last action to the device has waited for everything that this one waits for. */
static ein_spill_after ein_spill_after_in(const ein_spill_memory *m) {
  const ein_spill_after x = {-1, {m->queue[EIN_SPILL_IN].asked, 0}, m->time[EIN_SPILL_IN]};
  return x;
}

/* The slot's value comes from the host to its piece. */
static void ein_spill_fetch(ein_spill_memory *m, int slot) {
  ein_spill_slot *x = &m->slot[slot];
  ein_spill_piece *p = &m->piece[ein_spill_piece_of(m, x->at)];
  ein_spill_after_join(&p->after, &x->home);
  ein_spill_ask(m, EIN_SPILL_FETCH, slot, x->at, p->after);
  p->after = ein_spill_after_in(m);
}

/* And goes there. */
static void ein_spill_write(ein_spill_memory *m, int slot) {
  ein_spill_slot *x = &m->slot[slot];
  ein_spill_piece *p = &m->piece[ein_spill_piece_of(m, x->at)];
  ein_spill_ask(m, EIN_SPILL_WRITE, slot, x->at, x->stored);
  const ein_spill_after home = {-1, {0, m->queue[EIN_SPILL_OUT].asked}, m->time[EIN_SPILL_OUT]};
  x->home = home;
  ein_spill_after_join(&p->after, &home);
}

/* ---- places ---- */

/* Free pieces side by side, as many as make enough bytes; among how many free bytes they lie. first -1: none. */
typedef struct ein_spill_gap { int first, last; int64_t bytes, among; ein_spill_after after; } ein_spill_gap;

static ein_spill_gap ein_spill_gap_at(const ein_spill_memory *m, int k, int64_t bytes, int64_t among) {
  ein_spill_gap x = {-1, k, 0, among, m->piece[k].after};
  for (int i = k; i < m->n_pieces && m->piece[i].slot < 0 && x.first < 0; i++) {
    x.bytes += m->piece[i].bytes, x.last = i;
    ein_spill_after_join(&x.after, &m->piece[i].after);
    if (x.bytes >= bytes) x.first = k;
  }
  return x;
}

/* Whether x is the better gap. For what is fetched that is the one whose memory is in use the shortest, for all else
 * the one that is in use the longest; of those, the one with the least beside it. */
static int ein_spill_better(const ein_spill_memory *m, const ein_spill_gap *x, const ein_spill_gap *y, int fetched) {
  if (y->first < 0) return x->first >= 0;
  if (x->first < 0) return 0;
  if (m->hasty && x->after.time != y->after.time) return fetched == (x->after.time < y->after.time);
  return x->among < y->among;
}

/* The bytes of the free pieces side by side from this one on. */
static int64_t ein_spill_run(const ein_spill_memory *m, int k) {
  int64_t bytes = 0;
  for (; k < m->n_pieces && m->piece[k].slot < 0; k++) bytes += m->piece[k].bytes;
  return bytes;
}

static ein_spill_gap ein_spill_gap_find(const ein_spill_memory *m, int64_t bytes, int fetched) {
  ein_spill_gap best = {-1, -1, 0, 0, {-1, {0, 0}, 0}};
  int64_t among = 0;
  for (int k = 0; k < m->n_pieces; k++) {
    if (m->piece[k].slot >= 0) continue;
    if (!k || m->piece[k - 1].slot >= 0) among = ein_spill_run(m, k);
    const ein_spill_gap x = ein_spill_gap_at(m, k, bytes, among);
    if (ein_spill_better(m, &x, &best, fetched)) best = x;
  }
  return best;
}

/* The free pieces from `first` on, and what lies between, up to the last one needed for so many bytes, such that the
 * fewest bytes have to be moved. */
static int ein_spill_window(const ein_spill_memory *m, int64_t bytes, int *last) {
  int best = -1;
  int64_t least = INT64_MAX;
  for (int k = 0; k < m->n_pieces; k++) {
    int64_t got = 0, moved = 0;
    if (m->piece[k].slot >= 0) continue;
    for (int i = k; i < m->n_pieces && moved < least; i++) {
      if (m->piece[i].slot >= 0) moved += m->piece[i].bytes;
      else got += m->piece[i].bytes;
      if (got < bytes) continue;
      least = moved, best = k, *last = i;
      break;
    }
  }
  return best;
}

/* Moves the buffer behind a free piece to the beginning of that, through the largest other gap if the two places
 * overlap. */
static void ein_spill_shift(ein_spill_memory *m, int k) {
  ein_spill_piece *gap = &m->piece[k], *x = &m->piece[k + 1];
  ein_spill_slot *slot = &m->slot[x->slot];
  ein_spill_after after = gap->after;
  int via = -1;
  ein_spill_after_join(&after, &x->after);
  for (int i = 0; i < m->n_pieces && gap->bytes < slot->bytes; i++)
    if (i != k && m->piece[i].slot < 0 && (via < 0 || m->piece[i].bytes > m->piece[via].bytes)) via = i;
  if (via >= 0 && m->piece[via].bytes <= 2 * gap->bytes) via = -1;
  if (via >= 0) ein_spill_after_join(&after, &m->piece[via].after);
  ein_spill_action *a = ein_spill_ask(m, EIN_SPILL_MOVE, x->slot, gap->at, after);
  a->from = x->at;
  if (via >= 0) a->via = m->piece[via].at, a->room = m->piece[via].bytes;
  after = ein_spill_after_in(m);
  slot->stored = after;
  if (via >= 0) m->piece[via].after = after;
  ein_spill_piece was = *gap;
  slot->at = was.at;
  gap->bytes = x->bytes, gap->slot = x->slot, gap->after = after;
  x->at = was.at + gap->bytes, x->bytes = was.bytes, x->slot = -1, x->after = after;
  ein_spill_piece_join(m, k + 1, 1);
}

/* Moves buffers together, until there is a gap for so many bytes. */
static ein_spill_gap ein_spill_gap_make(ein_spill_memory *m, int64_t bytes) {
  int last = -1;
  ein_spill_pieces_join(m);
  int k = ein_spill_window(m, bytes, &last);
  while (m->piece[k].bytes < bytes) ein_spill_shift(m, k), k++;
  return ein_spill_gap_at(m, k, bytes, 0);
}

/* Places a slot, for which there are enough bytes. fetched: a copy from the host follows. */
static void ein_spill_place(ein_spill_memory *m, int slot, int fetched) {
  ein_spill_slot *x = &m->slot[slot];
  int64_t bytes = ein_spill_round(x->bytes);
  if (m->n_pieces + 1 >= m->most_pieces) ein_spill_pieces_join(m);
  ein_spill_gap gap = ein_spill_gap_find(m, bytes, fetched);
  if (gap.first < 0) gap = ein_spill_gap_make(m, bytes);
  for (int n = gap.last - gap.first; n > 0; n--) {
    m->piece[gap.first + 1].bytes += m->piece[gap.first].bytes, m->piece[gap.first + 1].at = m->piece[gap.first].at;
    ein_spill_piece_end(m, gap.first);
  }
  ein_spill_piece rest = m->piece[gap.first], *own = &m->piece[gap.first];
  own->bytes = bytes, own->slot = slot, own->after = gap.after;
  rest.at += bytes, rest.bytes -= bytes;
  x->at = own->at;
  if (rest.bytes) ein_spill_piece_add(m, gap.first + 1, rest);
  m->free -= bytes;
}

#endif
