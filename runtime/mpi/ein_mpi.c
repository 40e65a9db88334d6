/* SPDX-License-Identifier: MIT-0 */
/*
 * Parcels as MPI messages. In come a site's status and its parcels by peer; out go received parcels, and one
 * status for all. First all sites agree that all can go on, so none waits for a parcel that is never sent; then
 * all messages are started at once.
 */
#include "ein_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of one message, since MPI counts in int; a longer parcel is sent as several, in order. */
#ifndef EIN_MPI_MOST
#define EIN_MPI_MOST ((size_t)1 << 30)
#endif

/* EIN_MPI_WAYS exchanges can be under way at once, and each allocates its memory once; a further exchange
 * completes where it starts. */
enum { EIN_MPI_TAG = 0, EIN_MPI_WAYS = 8 };

/* An exchange, and its messages if it is under way. */
typedef struct ein_way {
  int key;                     /* the caller's; -1: the slot is free */
  int n, failed;               /* failed: MPI's error, met while testing for completion */
  MPI_Request *request;
  int room;                    /* allocated messages: one to each site and one from each, and more if a parcel needs
                                * several */
} ein_way;

struct ein_mpi {
  MPI_Comm comm;
  ein_wire wire;
  ein_traffic traffic;
  ein_way now;                 /* for blocking exchanges */
  ein_way way[EIN_MPI_WAYS];   /* for the others */
  ein_error error;
};

/* ---- MPI's errors ---- */

static ein_status ein_mpi_failed(ein_mpi *m, const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) snprintf(text, sizeof text, "error %d", code);
  return ein_error_set(&m->error, EIN_ERR_IO, "%s: %.400s", call, text);
}

EIN_API int ein_mpi_agree(ein_mpi *m, int mine, int *who) {
  struct { int site, code; } own, first = {INT_MAX, 0};
  own.site = mine ? m->wire.site : INT_MAX;
  own.code = mine;
  int code = MPI_Allreduce(&own, &first, 1, MPI_2INT, MPI_MINLOC, m->comm);
  *who = first.site == INT_MAX ? -1 : first.site;
  if (code == MPI_SUCCESS) return *who < 0 ? 0 : first.code;
  ein_mpi_failed(m, "MPI_Allreduce", code);
  return -1;
}

/* Returns to all sites the status of the first site that has an error. */
static ein_status ein_mpi_status(ein_mpi *m, ein_status mine) {
  int who, code = ein_mpi_agree(m, (int)mine, &who);
  return code < 0 ? EIN_ERR_IO : (ein_status)code;
}

/* ---- parcels ---- */

static size_t ein_mpi_pieces(const ein_mpi *m, int n, const ein_parcel *x) {
  size_t pieces = 0;
  for (int i = 0; i < n; i++)
    if (x[i].peer != m->wire.site) pieces += x[i].bytes / EIN_MPI_MOST + (x[i].bytes % EIN_MPI_MOST != 0);
  return pieces;
}

static int ein_mpi_room(ein_way *way, size_t wanted) {
  if (wanted <= (size_t)way->room) return 1;
  if (wanted > INT_MAX / 2) return 0;
  MPI_Request *more = (MPI_Request *)realloc(way->request, wanted * sizeof *more);
  if (!more) return 0;
  way->request = more;
  way->room = (int)wanted;
  return 1;
}

/* Returns a free slot, the same at all sites; NULL: none is free. */
static ein_way *ein_mpi_way(ein_mpi *m) {
  for (int i = 0; i < EIN_MPI_WAYS; i++)
    if (m->way[i].key < 0) return &m->way[i];
  return NULL;
}

/* Allocates room for one message to each site and one from each in every slot. */
static int ein_mpi_rooms(ein_mpi *m) {
  size_t each = 2 * (size_t)m->wire.sites;
  int some = ein_mpi_room(&m->now, each);
  for (int i = 0; some && i < EIN_MPI_WAYS; i++) some = ein_mpi_room(&m->way[i], each);
  return some;
}

static void ein_mpi_free(ein_mpi *m) {
  for (int i = 0; i < EIN_MPI_WAYS; i++) free(m->way[i].request);
  free(m->now.request);
}

/* Starts a parcel's messages, and counts them. */
static ein_status ein_mpi_parcel(ein_mpi *m, ein_way *way, const ein_parcel *x, int sends) {
  ein_traffic *t = &m->traffic;
  for (size_t at = 0, part; at < x->bytes; at += part) {
    char *from = (char *)x->data + at;
    part = x->bytes - at < EIN_MPI_MOST ? x->bytes - at : EIN_MPI_MOST;
    int code = sends ? MPI_Isend(from, (int)part, MPI_BYTE, x->peer, EIN_MPI_TAG, m->comm, &way->request[way->n])
                     : MPI_Irecv(from, (int)part, MPI_BYTE, x->peer, EIN_MPI_TAG, m->comm, &way->request[way->n]);
    if (code != MPI_SUCCESS) return ein_mpi_failed(m, sends ? "MPI_Isend" : "MPI_Irecv", code);
    way->n++;
    *(sends ? &t->bytes_sent : &t->bytes_received) += part;
    *(sends ? &t->messages_sent : &t->messages_received) += 1;
  }
  return EIN_OK;
}

static void ein_mpi_to_self(
    const ein_mpi *m, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  for (int i = 0; i < n_send; i++)
    for (int k = 0; send[i].peer == m->wire.site && k < n_receive; k++)
      if (receive[k].peer == m->wire.site && send[i].bytes) memcpy(receive[k].data, send[i].data, send[i].bytes);
}

/* Starts all messages. */
static ein_status ein_mpi_begun(ein_mpi *m, ein_way *way, ein_status mine, int n_send, const ein_parcel *send,
    int n_receive, const ein_parcel *receive) {
  if (mine == EIN_OK && !ein_mpi_room(way, ein_mpi_pieces(m, n_send, send) + ein_mpi_pieces(m, n_receive, receive)))
    mine = ein_error_set(&m->error, EIN_ERR_MEMORY, "no memory for the messages of a move");
  ein_status status = ein_mpi_status(m, mine);
  if (status != EIN_OK) return status;
  way->n = 0;
  way->failed = MPI_SUCCESS;
  for (int i = 0; i < n_receive && status == EIN_OK; i++)
    if (receive[i].peer != m->wire.site) status = ein_mpi_parcel(m, way, &receive[i], 0);
  for (int i = 0; i < n_send && status == EIN_OK; i++)
    if (send[i].peer != m->wire.site) status = ein_mpi_parcel(m, way, &send[i], 1);
  if (status == EIN_OK) ein_mpi_to_self(m, n_send, send, n_receive, receive);
  return status; /* if not EIN_OK, MPI is broken, and what was started cannot be waited for */
}

static ein_status ein_mpi_ended(ein_mpi *m, ein_way *way) {
  int code = MPI_Waitall(way->n, way->request, MPI_STATUSES_IGNORE);
  if (code == MPI_SUCCESS) code = way->failed;
  way->key = -1;
  return code == MPI_SUCCESS ? EIN_OK : ein_mpi_failed(m, "MPI_Waitall", code);
}

static ein_status ein_mpi_exchange(
    void *user, ein_status mine, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ein_mpi *m = (ein_mpi *)user;
  ein_status status = ein_mpi_begun(m, &m->now, mine, n_send, send, n_receive, receive);
  return status == EIN_OK ? ein_mpi_ended(m, &m->now) : status;
}

static ein_status ein_mpi_start(void *user, ein_status mine, int key, int n_send, const ein_parcel *send, int n_receive,
    const ein_parcel *receive) {
  ein_mpi *m = (ein_mpi *)user;
  ein_way *way = ein_mpi_way(m);
  if (!way) return ein_mpi_exchange(user, mine, n_send, send, n_receive, receive);
  ein_status status = ein_mpi_begun(m, way, mine, n_send, send, n_receive, receive);
  if (status == EIN_OK) way->key = key;
  return status;
}

static ein_status ein_mpi_finish(void *user, int key) {
  ein_mpi *m = (ein_mpi *)user;
  ein_status status = EIN_OK;
  for (int i = 0; i < EIN_MPI_WAYS; i++) {
    ein_way *way = &m->way[i];
    if (way->key < 0 || (key >= 0 && way->key != key)) continue;
    ein_status one = ein_mpi_ended(m, way);
    if (status == EIN_OK) status = one;
  }
  return status;
}

/* MPI makes progress when it is called. */
static void ein_mpi_look(void *user) {
  ein_mpi *m = (ein_mpi *)user;
  int done;
  for (int i = 0; i < EIN_MPI_WAYS; i++) {
    ein_way *way = &m->way[i];
    if (way->key < 0 || way->failed != MPI_SUCCESS) continue;
    way->failed = MPI_Testall(way->n, way->request, &done, MPI_STATUSES_IGNORE);
  }
}

/* An all-to-all of numbers is not part of a move, and not counted. */
static ein_status ein_mpi_counts(void *user, ein_status mine, const int64_t *send, int64_t *receive) {
  ein_mpi *m = (ein_mpi *)user;
  ein_status status = ein_mpi_status(m, mine);
  if (status != EIN_OK) return status;
  int code = MPI_Alltoall(send, 1, MPI_INT64_T, receive, 1, MPI_INT64_T, m->comm);
  return code == MPI_SUCCESS ? EIN_OK : ein_mpi_failed(m, "MPI_Alltoall", code);
}

/* ---- open and close ---- */

static int ein_mpi_place(ein_mpi *m) {
  MPI_Comm beside;
  int code = MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &beside);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(beside, &m->wire.place);
  return MPI_Comm_free(&beside);
}

static ein_status ein_mpi_begin(ein_mpi *m, const char *name) {
  int code = MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(m->comm, &m->wire.site);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(m->comm, &m->wire.sites);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_name(m->comm, name);
  if (code == MPI_SUCCESS) code = ein_mpi_place(m);
  m->wire.user = m;
  m->wire.exchange = ein_mpi_exchange;
  m->wire.counts = ein_mpi_counts;
  m->wire.start = ein_mpi_start;
  m->wire.finish = ein_mpi_finish;
  m->wire.look = ein_mpi_look;
  return code == MPI_SUCCESS ? EIN_OK : EIN_ERR_IO;
}

/* A site without memory tells the others over the duplicate. */
EIN_API ein_status ein_mpi_open(MPI_Comm comm, const char *name, ein_mpi **out) {
  MPI_Comm own = MPI_COMM_NULL;
  ein_mpi local, *m = (ein_mpi *)calloc(1, sizeof *m);
  *out = NULL;
  if (MPI_Comm_dup(comm, &own) != MPI_SUCCESS) {
    free(m);
    return EIN_ERR_IO;
  }
  memset(&local, 0, sizeof local);
  local.comm = own;
  for (int i = 0; i < EIN_MPI_WAYS; i++) local.way[i].key = -1;
  ein_status status = ein_mpi_begin(&local, name ? name : "ein");
  if (status == EIN_OK && (!m || !ein_mpi_rooms(&local))) status = EIN_ERR_MEMORY;
  status = ein_mpi_status(&local, status);
  if (status != EIN_OK) {
    MPI_Comm_free(&own);
    ein_mpi_free(&local);
    free(m);
    return status;
  }
  *m = local;
  m->wire.user = m;
  *out = m;
  return EIN_OK;
}

EIN_API void ein_mpi_close(ein_mpi *m) {
  if (!m) return;
  MPI_Comm_free(&m->comm);
  ein_mpi_free(m);
  free(m);
}

static void ein_mpi_closed(void *user) {
  ein_mpi_close((ein_mpi *)user);
}

EIN_API ein_status ein_mpi_create(MPI_Comm comm, const char *name, const ein_config *config,
    ein_status (*create)(const ein_config *config, void **ctx), void (*destroy)(void *ctx), void **ctx) {
  ein_mpi *m;
  ein_config own;
  void *made = NULL;
  memset(&own, 0, sizeof own);
  if (ctx) *ctx = NULL;
  ein_status status = ein_mpi_open(comm, name, &m);
  if (status != EIN_OK) return status;
  int makes_sense = ctx && (!config || config->size >= sizeof config->size);
  if (makes_sense && config) memcpy(&own, config, config->size < sizeof own ? config->size : sizeof own);
  own.size = sizeof own;
  own.wire = &m->wire;
  m->wire.close = ein_mpi_closed;
  status = ein_mpi_status(m, makes_sense ? create(&own, &made) : EIN_ERR_ARG);
  if (status == EIN_OK) *ctx = made;
  else if (made) destroy(made);
  else ein_mpi_close(m);
  return status;
}

EIN_API const ein_wire *ein_mpi_wire(const ein_mpi *m) {
  return &m->wire;
}

EIN_API ein_traffic ein_mpi_counted(const ein_mpi *m) {
  return m->traffic;
}

EIN_API const char *ein_mpi_last_error(const ein_mpi *m) {
  return m ? m->error.text : "";
}
