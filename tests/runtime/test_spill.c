/* Unit tests of cuda/spill.h, on random tables: beside a device whose memory holds marks instead of values, and beside
 * the offline optimum, by brute force. */
#include <stdio.h>

#include "cuda/spill.h"
#include "../harness/chance.h"
#include "../tap.h"

static uint64_t state = 1;
static int die(int n) { /* 0 to n-1 */
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((state >> 33) % (uint64_t)n);
}

/* ---- tables ---- */

enum { ROWS = 40, USES = 400, BUFFERS = 24, GRAIN = EIN_SPILL_ALIGN };
static ein_spill_row row[ROWS];
static ein_spill_use use[USES];
static ein_spill_table table = {0, 0, row, use};
static unsigned char kind[BUFFERS], skip[ROWS];
static int64_t bytes[BUFFERS];
static int buffers, pairs; /* the last 2 * pairs buffers are exchanged, two and two */

static int row_add(int what, int pair) {
  row[table.n_rows] = (ein_spill_row){what, table.n_uses, 0, pair, -1, -1, -1, NULL, NULL, 0};
  return table.n_rows++;
}

static void use_add(int buffer, int how) {
  use[table.n_uses++] = (ein_spill_use){buffer, how};
  row[table.n_rows - 1].n++;
}

static bool used(int buffer) {
  const ein_spill_row *x = &row[table.n_rows - 1];
  for (int k = x->first; k < x->first + x->n; k++)
    if (use[k].buffer == buffer) return true;
  return false;
}

static void step_add(int most) {
  row_add(EIN_SPILL_STEP, -1);
  for (int n = 1 + die(most); n > 0; n--) {
    int b = die(buffers), how = die(3);
    if (kind[b] == EIN_SPILL_INPUT) how = EIN_SPILL_READ;
    if (!used(b)) use_add(b, how);
  }
}

static void list_add(int n, int most, int depth) {
  for (; n > 0 && table.n_rows < ROWS - 8; n--) {
    if (depth && die(4) == 0) {
      int begin = row_add(EIN_SPILL_REPEAT, -1);
      list_add(1 + die(4), most, depth - 1);
      row[begin].pair = row_add(die(3) ? EIN_SPILL_TURN : EIN_SPILL_UNTIL, begin);
      for (int k = 0; k < pairs; k++)
        if (die(2)) use_add(buffers - 1 - 2 * k, buffers - 2 - 2 * k);
      for (int k = 1; k < pairs; k++) /* three or more take turns */
        if (bytes[buffers - 2 * k] == bytes[buffers - 2 * k - 1] && die(2))
          use_add(buffers - 2 * k, buffers - 2 * k - 1);
    } else step_add(most);
  }
}

static void table_make(int n, int rows, int most, int depth) {
  table.n_rows = table.n_uses = 0;
  buffers = n;
  pairs = depth ? n / 4 : 0;
  for (int b = 0; b < n; b++) {
    bool paired = b >= n - 2 * pairs;
    kind[b] = (unsigned char)(paired ? EIN_SPILL_WORK : die(3));
    bytes[b] = die(3) ? (1 + die(6)) * GRAIN - die(GRAIN) : (1 + die(24)) * GRAIN;
    if (paired && ((n - 1 - b) % 2 == 0 || die(2)) && b > n - 2 * pairs) bytes[b] = bytes[b - 1];
  }
  list_add(rows, most, depth);
  memset(skip, 0, sizeof skip);
  for (int r = 0; r < table.n_rows; r++) skip[r] = row[r].kind == EIN_SPILL_STEP && die(12) == 0;
}

/* ---- a device of marks ---- */

enum { MEMORY = 4096 };
typedef struct Value { int64_t mark; } Value;
static int64_t device[MEMORY], home[BUFFERS][32], value[BUFFERS]; /* by grain; value: by buffer, 0: none */
static int64_t marks, fetched, written, ahead, in_all;
static const char *broken;

static int64_t grains(int64_t n) { return ein_spill_round(n) / GRAIN; }

static void act(const ein_spill *s, const ein_spill_action *x) {
  int64_t at = x->at / GRAIN, n = grains(x->bytes), from = x->from / GRAIN;
  (void)s;
  switch (x->kind) {
  case EIN_SPILL_FETCH: memcpy(device + at, home[x->slot], (size_t)n * sizeof *device), fetched += x->bytes; break;
  case EIN_SPILL_WRITE: memcpy(home[x->slot], device + at, (size_t)n * sizeof *device), written += x->bytes; break;
  default:
    if (at >= from) broken = "a move away from 0";
    for (int64_t done = 0, step = from - at; done < n; done += step) {
      if (x->room && x->room / GRAIN > step) step = x->room / GRAIN;
      if (step > n - done) step = n - done;
      int64_t *via = x->room ? device + x->via / GRAIN : device + at + done;
      memcpy(via, device + from + done, (size_t)step * sizeof *device);
      if (x->room) memcpy(device + at + done, via, (size_t)step * sizeof *device);
    }
  }
}

static bool may_begin(const ein_spill *s, int stream, int64_t number) {
  const ein_spill_queue *q = &s->m.queue[stream];
  const ein_spill_action *x = &q->action[q->done % q->room];
  return x->after.row < number && x->after.actions[1 - stream] <= s->m.queue[1 - stream].done;
}

/* What may begin before the row with that number, in any order of the two streams that their actions allow: all of it,
 * or only what must be over, and what that waits for. */
static void act_until(ein_spill *s, int64_t number, const int64_t *must, bool early) {
  for (bool on = true; on && !broken;) {
    int first = die(2);
    on = false;
    for (int k = 0; k < 2 && !on; k++) {
      int stream = (first + k) % 2;
      ein_spill_queue *q = &s->m.queue[stream], *other = &s->m.queue[1 - stream];
      bool needed = q->done < must[stream];
      if (!needed && other->done < must[1 - stream])
        needed = other->action[other->done % other->room].after.actions[stream] > q->done;
      if (q->done == q->asked || !(early || needed) || !may_begin(s, stream, number)) continue;
      act(s, &q->action[q->done % q->room]);
      ahead += !needed, in_all++;
      q->done++, on = true;
    }
  }
  for (int k = 0; k < 2 && !broken; k++)
    if (s->m.queue[k].done < must[k]) broken = "an action has to wait for a row that waits for it";
}

static void row_run(ein_spill *s, int r, bool early) {
  const ein_spill_planned *x = ein_spill_need(s);
  if (x->row != r) {
    broken = "another row is planned";
    return;
  }
  act_until(s, x->number, x->actions, early);
  for (int k = 0; k < row[r].n; k++) {
    int b = use[row[r].first + k].buffer, how = use[row[r].first + k].how;
    int64_t at = x->at[k] / GRAIN, n = grains(bytes[b]);
    if (at < 0 || at + n > s->memory / GRAIN) broken = "a buffer is outside";
    for (int64_t i = 0; i < n && how != EIN_SPILL_WHOLE && value[b]; i++)
      if (device[at + i] != value[b] + i) broken = "a buffer does not have its value";
    if (how == EIN_SPILL_READ) continue;
    value[b] = marks += 1000;
    for (int64_t i = 0; i < n; i++) device[at + i] = value[b] + i;
  }
}

static void list_run(ein_spill *s, int from, int to, bool early) {
  for (int r = from; r < to && !broken; r++) {
    if (skip[r]) continue;
    if (row[r].kind == EIN_SPILL_STEP) {
      row_run(s, r, early);
      continue;
    }
    int turns = die(5), end = row[r].pair;
    ein_spill_repeat(s, r, turns);
    for (int turn = 0; turn < turns && !broken; turn++) {
      list_run(s, r + 1, end, early);
      for (int k = row[end].first; k < row[end].first + row[end].n; k++) {
        int64_t was = value[use[k].buffer];
        value[use[k].buffer] = value[use[k].how], value[use[k].how] = was;
      }
      int stop = row[end].kind == EIN_SPILL_UNTIL && die(4) == 0;
      if (row[end].kind == EIN_SPILL_UNTIL) ein_spill_until(s, end, stop);
      if (stop) break;
    }
    r = end;
  }
}

static void table_run(ein_spill *s, bool early) {
  memset(device, 0x7F, sizeof device);
  memset(home, 0x7F, sizeof home);
  memset(value, 0, sizeof value);
  fetched = written = ahead = in_all = 0;
  ein_spill_reset(s);
  for (int b = 0; b < buffers; b++) {
    if (kind[b] != EIN_SPILL_INPUT) continue;
    value[b] = marks += 1000;
    for (int64_t i = 0; i < grains(bytes[b]); i++) home[b][i] = value[b] + i;
  }
  list_run(s, 0, table.n_rows, early);
  ein_spill_finish(s);
  const int64_t all[] = {s->m.queue[0].asked, s->m.queue[1].asked};
  act_until(s, s->rows, all, true);
  for (int b = 0; b < buffers && !broken; b++)
    for (int64_t i = 0; kind[b] == EIN_SPILL_OUTPUT && value[b] && i < grains(bytes[b]); i++)
      if (home[b][i] != value[b] + i) broken = "an output does not have its value";
  if (!broken && (fetched != s->up || written != s->down)) broken = "other bytes cross the bus than are counted";
}

static void tables_run(int tries) {
  int64_t moved = 0, moves = 0, before = 0, all = 0;
  for (int k = 0; k < tries && !broken; k++) {
    uint64_t seed = state;
    ein_spill s;
    int of;
    table_make(2 + die(BUFFERS - 2), 1 + die(20), 1 + die(5), 3);
    if (!ein_spill_begin(&s, &table, buffers, kind, bytes, skip)) broken = "no memory";
    int64_t least = ein_spill_least(&s, &of);
    s.memory = least + die(3) * die(8) * GRAIN;
    ein_spill_choose(&s);
    for (int run = 0; run < 3 && !broken; run++) table_run(&s, run != 1);
    before += ahead, all += in_all;
    const ein_spill_queue *q = &s.m.queue[EIN_SPILL_IN];
    for (int64_t i = 0; i < q->asked && i < q->room; i++)
      moves++, moved += q->action[i].kind == EIN_SPILL_MOVE;
    ein_spill_end(&s);
    if (broken) printf("# seed %llu\n", (unsigned long long)seed);
  }
  OK(!broken, "each row of %d tables finds its values: %s", tries, broken ? broken : "yes");
  OK(8 * before > all, "copies begin ahead of an earlier row: %lld of %lld", (long long)before, (long long)all);
  OK(moved > moves / 1000, "buffers are moved together: %lld of %lld actions", (long long)moved, (long long)moves);
}

/* ---- the optimum ---- */

/* A buffer is away without a value on the host, away with one, here with one on the host too, or here alone. */
enum { LOST, AWAY, BOTH, HERE, STATES };
enum { FEW = 5, ALL_STATES = 1024 }; /* STATES to the power of FEW */

static int state_of(int all, int b) { return all >> (2 * b) & 3; }
static int state_set(int all, int b, int to) { return (all & ~(3 << (2 * b))) | to << (2 * b); }

/* The bytes to get from one state of all buffers to another between two rows: -1: it cannot be done. */
static int64_t state_cost(int from, int to) {
  int64_t cost = 0;
  for (int b = 0; b < buffers; b++) {
    int x = state_of(from, b), y = state_of(to, b);
    if (x == y || y == LOST) continue;
    if (y == AWAY && x == BOTH) continue;
    if (y == AWAY && x == HERE) cost += bytes[b];
    else if (y == BOTH && x == AWAY) cost += bytes[b];
    else if (y == BOTH && x == HERE) cost += bytes[b];
    else return -1;
  }
  return cost;
}

static int64_t optimum(int64_t memory) {
  static int64_t cost[2][ALL_STATES];
  static bool full[BUFFERS];
  int n = 1 << (2 * buffers), now = 0;
  int64_t best = INT64_MAX;
  memset(full, 0, sizeof full);
  for (int i = 0; i < n; i++) cost[0][i] = INT64_MAX;
  int begin = 0;
  for (int b = 0; b < buffers; b++)
    if (kind[b] == EIN_SPILL_INPUT) begin = state_set(begin, b, AWAY), full[b] = true;
  cost[0][begin] = 0;
  for (int r = 0; r < table.n_rows; r++) {
    if (skip[r]) continue;
    int next = 1 - now;
    for (int i = 0; i < n; i++) cost[next][i] = INT64_MAX;
    for (int to = 0; to < n; to++) { /* the state after the row */
      int64_t taken = 0;
      int before = to;
      bool can = true;
      for (int b = 0; b < buffers; b++)
        if (state_of(to, b) >= BOTH) taken += ein_spill_round(bytes[b]);
      for (int k = row[r].first; k < row[r].first + row[r].n; k++) {
        int b = use[k].buffer, how = use[k].how, x = state_of(to, b);
        can &= how == EIN_SPILL_READ ? x >= BOTH || !full[b] : x == HERE;
        if (how == EIN_SPILL_READ && !full[b] && x < BOTH) taken += ein_spill_round(bytes[b]);
        if (how == EIN_SPILL_WHOLE || (how == EIN_SPILL_PART && !full[b])) before = state_set(before, b, LOST);
      }
      if (!can || taken > memory) continue;
      for (int from = 0; from < n; from++) {
        if (cost[now][from] == INT64_MAX) continue;
        int64_t least = INT64_MAX;
        /* What is written may be on the host, too, before. */
        for (int also = 0; also < 1 << row[r].n; also++) {
          int x = before;
          bool is = true;
          for (int k = 0; k < row[r].n; k++) {
            const ein_spill_use *u = &use[row[r].first + k];
            if (!(also >> k & 1)) continue;
            is &= u->how == EIN_SPILL_PART && full[u->buffer];
            x = state_set(x, u->buffer, BOTH);
          }
          int64_t c = is ? state_cost(from, x) : -1;
          if (c >= 0 && c < least) least = c;
        }
        if (least < INT64_MAX && cost[now][from] + least < cost[next][to]) cost[next][to] = cost[now][from] + least;
      }
    }
    for (int k = row[r].first; k < row[r].first + row[r].n; k++) full[use[k].buffer] |= use[k].how != EIN_SPILL_READ;
    now = next;
  }
  for (int i = 0; i < n; i++) {
    int to = i;
    for (int b = 0; b < buffers; b++) {
      int x = state_of(i, b);
      if (kind[b] != EIN_SPILL_OUTPUT || !full[b]) to = state_set(to, b, LOST);
      else if (x != BOTH) to = state_set(to, b, AWAY);
    }
    int64_t c = cost[now][i] < INT64_MAX ? state_cost(i, to) : -1;
    if (c >= 0 && cost[now][i] + c < best) best = cost[now][i] + c;
  }
  return best;
}

static void tables_compare(int tries) {
  double ours = 0, theirs = 0, worst = 1;
  bool below = false;
  for (int k = 0; k < tries; k++) {
    ein_spill s;
    int of;
    table_make(3 + die(FEW - 2), 5 + die(10), 2, 0);
    if (!ein_spill_begin(&s, &table, buffers, kind, bytes, skip)) break;
    int64_t all = ein_spill_takes(&s), least = ein_spill_least(&s, &of);
    s.memory = least + die((int)((all - least) / GRAIN) + 1) * GRAIN;
    int64_t got = ein_spill_choose(&s), best = optimum(s.memory);
    ein_spill_end(&s);
    below |= got < best;
    ours += (double)got, theirs += (double)best;
    if (best && (double)got > worst * (double)best) worst = (double)got / (double)best;
  }
  printf("# %.0f bytes, %.4f of the optimum; at worst %.3f\n", ours, ours / theirs, worst);
  OK(!below, "no plan is better than the optimum");
  OK(ours <= 1.1 * theirs, "plans are within 1.1 of the optimum: %.4f, at worst %.3f", ours / theirs, worst);
}

int main(int n, char **word) {
  if (n > 1) state = strtoull(word[1], NULL, 10);
  tables_run(TRIES(4000));
  tables_compare(TRIES(200));
  return DONE();
}
