/* tests/mpi/wire.c - a wire over MPI, as ein_move.c calls it: started by mpirun on any number of ranks. Built with
 * EIN_MPI_MOST of a few bytes, so that a parcel is many messages; and with parcels so long that MPI sends none before
 * it is received (LONG). Ranks speak on a communicator with the wire's own tags at the same time, and only some of them
 * have a wire at all. Exit 0: all was right on this rank. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/ein_mpi.h"

#ifndef LONG
#define LONG 1
#endif

static int wrong;

__attribute__((format(printf, 2, 3))) static void check(int holds, const char *what, ...) {
  va_list ap;
  if (holds) return;
  va_start(ap, what);
  vfprintf(stderr, what, ap);
  fputc('\n', stderr);
  va_end(ap);
  wrong = 1;
}

/* What site p sends to site q in that round: how many bytes, and which. */
static size_t length(int p, int q, int round) {
  unsigned x = (unsigned)(p * 7919 + q * 104729 + round * 1299709);
  x = x * 2654435761u >> 16;
  return x % 3 == 0 ? 0 : x % 200 * LONG;
}

static unsigned char byte(int p, int q, int round, size_t i) {
  return (unsigned char)(p * 31 + q * 17 + round * 5 + (int)i);
}

typedef struct Round { ein_parcel send[64], receive[64]; int n_send, n_receive; uint64_t out, in; } Round;

static void parcel_add(ein_parcel *list, int *n, int peer, size_t bytes) {
  if (bytes) list[(*n)++] = (ein_parcel){peer, calloc(bytes, 1), bytes};
}

static Round round_new(const ein_wire *w, int round) {
  Round r = {.n_send = 0};
  for (int q = 0; q < w->sites; q++) {
    parcel_add(r.send, &r.n_send, q, length(w->site, q, round));
    parcel_add(r.receive, &r.n_receive, q, length(q, w->site, round));
  }
  for (int k = 0; k < r.n_send; k++)
    for (size_t i = 0; i < r.send[k].bytes; i++)
      ((unsigned char *)r.send[k].data)[i] = byte(w->site, r.send[k].peer, round, i);
  for (int k = 0; k < r.n_send; k++) r.out += r.send[k].peer == w->site ? 0 : r.send[k].bytes;
  for (int k = 0; k < r.n_receive; k++) r.in += r.receive[k].peer == w->site ? 0 : r.receive[k].bytes;
  return r;
}

static void round_check(const ein_wire *w, const Round *r, int round) {
  for (int k = 0; k < r->n_receive; k++)
    for (size_t i = 0; i < r->receive[k].bytes; i++)
      if (((unsigned char *)r->receive[k].data)[i] != byte(r->receive[k].peer, w->site, round, i)) {
        check(0, "site %d, round %d: byte %zu from site %d is wrong", w->site, round, i, r->receive[k].peer);
        break;
      }
}

static void round_end(Round *r) {
  for (int k = 0; k < r->n_send; k++) free(r->send[k].data);
  for (int k = 0; k < r->n_receive; k++) free(r->receive[k].data);
}

static void counts(const ein_wire *w, int round) {
  int64_t send[64], receive[64] = {0};
  for (int q = 0; q < w->sites; q++) send[q] = ((int64_t)w->site << 40) + q + round;
  check(w->counts(w->user, send, receive) == EIN_OK, "site %d: no counts", w->site);
  for (int q = 0; q < w->sites; q++)
    check(receive[q] == ((int64_t)q << 40) + w->site + round, "site %d: a count of site %d is %lld", w->site, q,
        (long long)receive[q]);
}

static void rounds(ein_mpi *m) {
  const ein_wire *w = ein_mpi_wire(m);
  ein_traffic want = ein_mpi_counted(m);
  for (int round = 0; round < 50; round++) {
    Round r = round_new(w, round);
    ein_status got = w->exchange(w->user, r.n_send, r.send, r.n_receive, r.receive);
    check(got == EIN_OK, "site %d, round %d: status %d", w->site, round, (int)got);
    round_check(w, &r, round), want.bytes_sent += r.out, want.bytes_received += r.in;
    round_end(&r);
    if (round % 7 == 3) counts(w, round);
    if (round % 5 == 2) check(w->agree(w->user, EIN_OK) == EIN_OK, "site %d: no agreement", w->site);
  }
  ein_traffic t = ein_mpi_counted(m);
  check(t.bytes_sent == want.bytes_sent && t.bytes_received == want.bytes_received,
      "site %d counts %llu bytes out, %llu in", w->site, (unsigned long long)t.bytes_sent,
      (unsigned long long)t.bytes_received);
  check(w->agree(w->user, EIN_OK) == EIN_OK, "site %d: no agreement on rounds", w->site);
  check(w->sites == 1 || t.messages_sent * EIN_MPI_MOST >= t.bytes_sent, "a message of more than %d bytes",
      (int)EIN_MPI_MOST);
}

/* Three at once under way, and an exchange meanwhile: they end in any order. */
static void halves(ein_mpi *m) {
  const ein_wire *w = ein_mpi_wire(m);
  ein_traffic before = ein_mpi_counted(m);
  uint64_t out = 0;
  for (int lap = 0; lap < 6; lap++) {
    Round r[4];
    for (int k = 0; k < 4; k++) r[k] = round_new(w, lap * 4 + k), out += r[k].out;
    for (int k = 0; k < 3; k++)
      check(w->start(w->user, k + 5, r[k].n_send, r[k].send, r[k].n_receive, r[k].receive) == EIN_OK,
          "site %d: no start", w->site);
    for (int k = 0; k < 3 * lap; k++) w->look(w->user);
    check(w->exchange(w->user, r[3].n_send, r[3].send, r[3].n_receive, r[3].receive) == EIN_OK, "site %d: no exchange",
        w->site);
    for (int k = 0; k < 3; k++)
      check(w->finish(w->user, 5 + (k + lap) % 3) == EIN_OK, "site %d: no end of one", w->site);
    for (int k = 0; k < 4; k++) round_check(w, &r[k], lap * 4 + k), round_end(&r[k]);
  }
  check(ein_mpi_counted(m).bytes_sent - before.bytes_sent == out, "site %d counts other bytes out", w->site);
  check(w->agree(w->user, EIN_OK) == EIN_OK, "site %d: no agreement on halves", w->site);
}

/* ---- failures ---- */

enum { STEPS = 12, LAPS = 40 };

/* Like a run: an exchange a step, of which some end two steps later, or counts. Sites fail each at a step of its own;
 * STEPS: not. Returns what this site tells the others, unless it could not go on because of them. */
static ein_status run(const ein_wire *w, int lap, int fails, Round *r) {
  static int64_t some[64], other[64]; /* the wire has them until all agree */
  for (int k = 0; k < STEPS; k++) {
    int round = lap * STEPS + k;
    if (k == fails) return EIN_ERR_ASSERT;
    if (k >= 2 && (round - 2) % 3 == 1 && w->finish(w->user, k - 2) != EIN_OK) return EIN_OK;
    if (k >= 2 && (round - 2) % 3 == 1) round_check(w, &r[k - 2], round - 2);
    Round *x = &r[k];
    if (round % 3 == 0 && w->exchange(w->user, x->n_send, x->send, x->n_receive, x->receive) != EIN_OK) return EIN_OK;
    if (round % 3 == 0) round_check(w, x, round);
    if (round % 3 == 1 && w->start(w->user, k, x->n_send, x->send, x->n_receive, x->receive) != EIN_OK) return EIN_OK;
    if (round % 3 == 2 && w->counts(w->user, some, other) != EIN_OK) return EIN_OK;
    if (round % 5 == 0) w->look(w->user);
  }
  for (int k = STEPS - 2; k < STEPS; k++)
    if ((lap * STEPS + k) % 3 == 1 && w->finish(w->user, k) != EIN_OK) return EIN_OK;
  return EIN_OK;
}

/* Runs in which none, one, some or all sites fail: all learn of it, and the next run finds nothing left of them. */
static void failures(const ein_wire *w) {
  for (int lap = 0; lap < LAPS; lap++) {
    Round r[STEPS];
    int fail_at[64], any = 0;
    for (int q = 0; q < w->sites; q++) {
      unsigned x = (unsigned)(lap * 7919 + q * 104729) * 2654435761u >> 12;
      int some = lap % 4 == 1 ? q == lap % w->sites : lap % 4 == 2 ? x % 3 == 0 : lap % 4 == 3;
      fail_at[q] = some ? (int)(x / 3 % STEPS) : STEPS;
      any |= some;
    }
    for (int k = 0; k < STEPS; k++) r[k] = round_new(w, lap * STEPS + k);
    ein_status got = w->agree(w->user, run(w, lap, fail_at[w->site], r));
    check(got == (any ? EIN_ERR_ASSERT : EIN_OK), "site %d, lap %d: status %d", w->site, lap, (int)got);
    for (int k = 0; k < STEPS; k++) round_end(&r[k]);
  }
}

/* Two sites fail with different statuses: all get the first one's. */
static void first_failure(const ein_wire *w) {
  ein_status mine = w->site == w->sites - 1 ? EIN_ERR_INDEX : w->site == 0 ? EIN_ERR_MEMORY : EIN_OK;
  ein_status want = w->sites == 1 ? EIN_ERR_INDEX : EIN_ERR_MEMORY, got = w->agree(w->user, mine);
  check(got == want, "site %d: status %d, not %d", w->site, (int)got, (int)want);
}

int main(int argc, char **argv) {
  int rank, ranks, caught = -1, said;
  MPI_Comm half;
  MPI_Request any;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 1, -rank, &half); /* in falling order of ranks */
  /* the caller's own: meets no message of the wire */
  MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, &any);
  ein_mpi *all, *some;
  check(ein_mpi_open(MPI_COMM_WORLD, "all", &all) == EIN_OK, "no wire");
  rounds(all);
  halves(all);
  first_failure(ein_mpi_wire(all));
  failures(ein_mpi_wire(all));
  rounds(all);
  if (rank % 3 != 1) {
    check(ein_mpi_open(half, "some", &some) == EIN_OK, "no wire for some");
    rounds(some);
    failures(ein_mpi_wire(some));
    ein_mpi_close(some);
  }
  said = rank;
  int me, others;
  MPI_Comm_rank(half, &me);
  MPI_Comm_size(half, &others);
  MPI_Send(&said, 1, MPI_INT, (me + 1) % others, 0, half);
  MPI_Wait(&any, MPI_STATUS_IGNORE);
  check(caught >= 0 && caught < ranks, "the caller's message has come to be %d", caught);
  ein_mpi_close(all);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return wrong;
}
