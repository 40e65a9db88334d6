/* tests/mpi/wire.c - a wire over MPI, as ein_move.c calls it: started by mpirun on any number of ranks. Built with
 * EIN_MPI_MOST of a few bytes, so that a parcel is many messages. Ranks speak on a communicator with the wire's own
 * tags at the same time, and only some of them have a wire at all. Exit 0: all was right on this rank. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/ein_mpi.h"

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
  return x % 3 == 0 ? 0 : x % 200;
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

static void counts(const ein_wire *w) {
  int64_t send[64], receive[64] = {0};
  for (int q = 0; q < w->sites; q++) send[q] = ((int64_t)w->site << 40) + q;
  check(w->counts(w->user, EIN_OK, send, receive) == EIN_OK, "site %d: no counts", w->site);
  for (int q = 0; q < w->sites; q++)
    check(receive[q] == ((int64_t)q << 40) + w->site, "site %d: a count of site %d is %lld", w->site, q,
        (long long)receive[q]);
  ein_status mine = w->site == w->sites - 1 ? EIN_ERR_INDEX : EIN_OK;
  check(w->counts(w->user, mine, send, receive) == EIN_ERR_INDEX, "site %d: counts though one has failed", w->site);
}

static void rounds(ein_mpi *m) {
  const ein_wire *w = ein_mpi_wire(m);
  ein_traffic want = ein_mpi_counted(m);
  for (int round = 0; round < 50; round++) {
    int fails = round % 7 == 3, who = round % w->sites;
    ein_status mine = fails && (w->site == who || w->site == (who + 1) % w->sites) ? EIN_ERR_ASSERT : EIN_OK;
    Round r = round_new(w, round);
    ein_status got = w->exchange(w->user, mine, r.n_send, r.send, r.n_receive, r.receive);
    check(got == (fails ? EIN_ERR_ASSERT : EIN_OK), "site %d, round %d: status %d", w->site, round, (int)got);
    if (!fails) round_check(w, &r, round), want.bytes_sent += r.out, want.bytes_received += r.in;
    round_end(&r);
  }
  ein_traffic t = ein_mpi_counted(m);
  check(t.bytes_sent == want.bytes_sent && t.bytes_received == want.bytes_received,
      "site %d counts %llu bytes out, %llu in", w->site, (unsigned long long)t.bytes_sent,
      (unsigned long long)t.bytes_received);
  check(w->sites == 1 || t.messages_sent * EIN_MPI_MOST >= t.bytes_sent, "a message of more than %d bytes",
      (int)EIN_MPI_MOST);
}

/* Three at once under way, an exchange meanwhile, and what has begun before one fails: they end in any order, or all
 * together. */
static void halves(ein_mpi *m) {
  const ein_wire *w = ein_mpi_wire(m);
  ein_traffic before = ein_mpi_counted(m);
  uint64_t out = 0;
  for (int lap = 0; lap < 6; lap++) {
    Round r[4];
    for (int k = 0; k < 4; k++) r[k] = round_new(w, lap * 4 + k), out += r[k].out;
    for (int k = 0; k < 3; k++)
      check(w->start(w->user, EIN_OK, k + 5, r[k].n_send, r[k].send, r[k].n_receive, r[k].receive) == EIN_OK,
          "site %d: no start", w->site);
    for (int k = 0; k < 3 * lap; k++) w->look(w->user);
    check(w->exchange(w->user, EIN_OK, r[3].n_send, r[3].send, r[3].n_receive, r[3].receive) == EIN_OK,
        "site %d: no exchange", w->site);
    ein_status mine = w->site == lap % w->sites ? EIN_ERR_ASSERT : EIN_OK;
    check(w->start(w->user, mine, 9, 0, NULL, 0, NULL) == EIN_ERR_ASSERT, "site %d: a start though one has failed",
        w->site);
    if (lap % 2) check(w->finish(w->user, -1) == EIN_OK, "site %d: no end of all", w->site);
    for (int k = 0; lap % 2 == 0 && k < 3; k++)
      check(w->finish(w->user, 5 + (k + lap) % 3) == EIN_OK, "site %d: no end of one", w->site);
    for (int k = 0; k < 4; k++) round_check(w, &r[k], lap * 4 + k), round_end(&r[k]);
  }
  check(ein_mpi_counted(m).bytes_sent - before.bytes_sent == out, "site %d counts other bytes out", w->site);
}

/* Two sites fail with different statuses: all get the first one's. */
static void first_failure(const ein_wire *w) {
  ein_status mine = w->site == w->sites - 1 ? EIN_ERR_INDEX : w->site == 0 ? EIN_ERR_MEMORY : EIN_OK;
  ein_status want = w->sites == 1 ? EIN_ERR_INDEX : EIN_ERR_MEMORY, got = w->exchange(w->user, mine, 0, NULL, 0, NULL);
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
  counts(ein_mpi_wire(all));
  if (rank % 3 != 1) {
    check(ein_mpi_open(half, "some", &some) == EIN_OK, "no wire for some");
    rounds(some);
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
