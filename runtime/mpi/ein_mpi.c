/* SPDX-License-Identifier: MIT-0 */
/*
 * Parcels as MPI messages. In come a site's parcels by peer; out go received parcels. A site waits only for the sites
 * from which it gets something; there is no collective operation in an exchange.
 *
 * A site that fails sends a notice to each other site, and goes to agree. Who waits for messages waits for a notice
 * too, and goes to agree when it comes. There all compare how many messages each has sent to each: what was sent is
 * received, what will never come is cancelled, and so nothing of the failed run is left for the next.
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
enum { EIN_MPI_WAYS = 8 };

/* What a message is, as its tag: part of a parcel, a count, the notice that its sender has failed. */
typedef enum ein_mpi_tag { EIN_MPI_PARCEL, EIN_MPI_COUNT, EIN_MPI_KINDS, EIN_MPI_NOTICE = EIN_MPI_KINDS } ein_mpi_tag;

/* What is received: the message with that number among those of the kind from the peer. */
typedef struct ein_awaited { int peer, tag; int64_t number; } ein_awaited;

/* An exchange, and its messages if it is under way. */
typedef struct ein_way {
  int key;                     /* the caller's; -1: the slot is free */
  int n, left, failed;         /* messages; how many are not known to be complete; MPI's error while testing */
  MPI_Request *request;        /* receives first, and one more, for the notice; */
  ein_awaited *awaited;        /*   what they receive; */
  int *done;                   /*   and those complete now */
  int n_receive;
  int room;                    /* allocated messages: one to each site and one from each, and more if a parcel needs
                                * several */
} ein_way;

struct ein_mpi {
  MPI_Comm comm;
  ein_wire wire;
  ein_traffic traffic;
  ein_way now;                 /* for blocking exchanges */
  ein_way way[EIN_MPI_WAYS];   /* for the others */
  int64_t *sent, *awaited;     /* messages so far, by peer and kind */
  int64_t *told, *heard;       /* when a run has failed, by peer: those sent, by kind, and the notices */
  MPI_Request *notices;        /* to each site */
  MPI_Request notice;          /* from any site */
  int noticed;                 /* it has come */
  int broken;                  /* an exchange has failed because of MPI */
  ein_error error;
};

/* ---- MPI's errors ---- */

/* What is reported then is why it first did in this run. */
static void ein_mpi_break(ein_mpi *m) {
  if (!m->broken) m->error.status = EIN_OK;
  m->broken = 1;
}

static ein_status ein_mpi_failed(ein_mpi *m, const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  ein_mpi_break(m);
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

/* ---- messages ---- */

static size_t ein_mpi_pieces(const ein_mpi *m, int n, const ein_parcel *x) {
  size_t pieces = 0;
  for (int i = 0; i < n; i++)
    if (x[i].peer != m->wire.site) pieces += x[i].bytes / EIN_MPI_MOST + (x[i].bytes % EIN_MPI_MOST != 0);
  return pieces;
}

static int ein_mpi_room(ein_way *way, size_t wanted) {
  if (wanted <= (size_t)way->room) return 1;
  if (wanted > INT_MAX / 2) return 0;
  MPI_Request *request = (MPI_Request *)realloc(way->request, (wanted + 1) * sizeof *request);
  if (request) way->request = request;
  ein_awaited *awaited = (ein_awaited *)realloc(way->awaited, wanted * sizeof *awaited);
  if (awaited) way->awaited = awaited;
  int *done = (int *)realloc(way->done, (wanted + 1) * sizeof *done);
  if (done) way->done = done;
  if (!request || !awaited || !done) return 0;
  way->room = (int)wanted;
  return 1;
}

/* Returns a free slot, the same at all sites; NULL: none is free. */
static ein_way *ein_mpi_way(ein_mpi *m) {
  for (int i = 0; i < EIN_MPI_WAYS; i++)
    if (m->way[i].key < 0) return &m->way[i];
  return NULL;
}

static ein_status ein_mpi_receive(ein_mpi *m, ein_way *way, void *to, size_t bytes, int peer, int tag) {
  int code = MPI_Irecv(to, (int)bytes, MPI_BYTE, peer, tag, m->comm, &way->request[way->n]);
  if (code != MPI_SUCCESS) return ein_mpi_failed(m, "MPI_Irecv", code);
  ein_awaited *x = &way->awaited[way->n];
  x->peer = peer, x->tag = tag, x->number = ++m->awaited[peer * EIN_MPI_KINDS + tag];
  way->n_receive = ++way->n;
  return EIN_OK;
}

static ein_status ein_mpi_send(ein_mpi *m, ein_way *way, const void *from, size_t bytes, int peer, int tag) {
  int code = MPI_Isend(from, (int)bytes, MPI_BYTE, peer, tag, m->comm, &way->request[way->n]);
  if (code != MPI_SUCCESS) return ein_mpi_failed(m, "MPI_Isend", code);
  m->sent[peer * EIN_MPI_KINDS + tag]++;
  way->n++;
  return EIN_OK;
}

/* Starts a parcel's messages, and counts them. */
static ein_status ein_mpi_parcel(ein_mpi *m, ein_way *way, const ein_parcel *x, int sends) {
  ein_traffic *t = &m->traffic;
  for (size_t at = 0, part; at < x->bytes; at += part) {
    char *data = (char *)x->data + at;
    part = x->bytes - at < EIN_MPI_MOST ? x->bytes - at : EIN_MPI_MOST;
    ein_status status = sends ? ein_mpi_send(m, way, data, part, x->peer, EIN_MPI_PARCEL)
                              : ein_mpi_receive(m, way, data, part, x->peer, EIN_MPI_PARCEL);
    if (status != EIN_OK) return status;
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

static void ein_mpi_empty(ein_way *way) {
  way->n = way->n_receive = way->left = 0;
  way->failed = MPI_SUCCESS;
}

/* Whether exchanges still make sense in this run. */
static ein_status ein_mpi_goes(const ein_mpi *m) {
  return m->noticed || m->broken ? EIN_ERR_IO : EIN_OK;
}

/* Starts all messages. */
static ein_status ein_mpi_begun(
    ein_mpi *m, ein_way *way, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ein_status status = ein_mpi_goes(m);
  if (status != EIN_OK) return status;
  ein_mpi_empty(way);
  if (!ein_mpi_room(way, ein_mpi_pieces(m, n_send, send) + ein_mpi_pieces(m, n_receive, receive)))
    return ein_mpi_break(m), ein_error_set(&m->error, EIN_ERR_MEMORY, "no memory for the messages of a move");
  for (int i = 0; i < n_receive && status == EIN_OK; i++)
    if (receive[i].peer != m->wire.site) status = ein_mpi_parcel(m, way, &receive[i], 0);
  for (int i = 0; i < n_send && status == EIN_OK; i++)
    if (send[i].peer != m->wire.site) status = ein_mpi_parcel(m, way, &send[i], 1);
  way->left = way->n;
  if (status == EIN_OK) ein_mpi_to_self(m, n_send, send, n_receive, receive);
  return status;
}

/* Waits for all messages, or for a notice. After a notice the messages stay under way until agree. */
static ein_status ein_mpi_ended(ein_mpi *m, ein_way *way) {
  int code = way->failed, done;
  way->request[way->n] = m->notice;
  while (code == MPI_SUCCESS && way->left > 0 && ein_mpi_goes(m) == EIN_OK) {
    code = MPI_Waitsome(way->n + 1, way->request, &done, way->done, MPI_STATUSES_IGNORE);
    for (int i = 0; i < done && code == MPI_SUCCESS; i++) m->noticed |= way->done[i] == way->n;
    way->left -= done - m->noticed;
  }
  m->notice = way->request[way->n];
  if (code != MPI_SUCCESS) return ein_mpi_failed(m, "MPI_Waitsome", code);
  if (way->left > 0) return EIN_ERR_IO;
  way->key = -1;
  return EIN_OK;
}

static ein_status ein_mpi_exchange(
    void *user, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ein_mpi *m = (ein_mpi *)user;
  ein_status status = ein_mpi_begun(m, &m->now, n_send, send, n_receive, receive);
  return status == EIN_OK ? ein_mpi_ended(m, &m->now) : status;
}

static ein_status ein_mpi_start(
    void *user, int key, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ein_mpi *m = (ein_mpi *)user;
  ein_way *way = ein_mpi_way(m);
  if (!way) return ein_mpi_exchange(user, n_send, send, n_receive, receive);
  ein_status status = ein_mpi_begun(m, way, n_send, send, n_receive, receive);
  if (way->left) way->key = key;
  return status;
}

static ein_status ein_mpi_finish(void *user, int key) {
  ein_mpi *m = (ein_mpi *)user;
  for (int i = 0; i < EIN_MPI_WAYS; i++)
    if (m->way[i].key == key) return ein_mpi_ended(m, &m->way[i]);
  return ein_mpi_goes(m);
}

/* MPI makes progress when it is called. */
static void ein_mpi_look(void *user) {
  ein_mpi *m = (ein_mpi *)user;
  for (int i = 0; i < EIN_MPI_WAYS; i++) {
    ein_way *way = &m->way[i];
    int done = 0;
    if (way->key < 0 || !way->left || way->failed != MPI_SUCCESS) continue;
    way->failed = MPI_Testall(way->n, way->request, &done, MPI_STATUSES_IGNORE);
    if (done) way->left = 0;
  }
}

static int ein_mpi_has_failed(void *user) {
  ein_mpi *m = (ein_mpi *)user;
  int done = 0;
  if (!m->noticed && MPI_Test(&m->notice, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) m->noticed = done;
  return ein_mpi_goes(m) != EIN_OK;
}

static const char *ein_mpi_why(void *user) {
  const ein_mpi *m = (const ein_mpi *)user;
  return m->broken ? m->error.text : "";
}

static void ein_mpi_beside(void *user, int peer, size_t sent, size_t received) {
  ein_traffic *t = &((ein_mpi *)user)->traffic;
  (void)peer;
  t->bytes_sent += sent, t->bytes_received += received;
  t->bytes_sent -= sent > 0, t->bytes_received -= received > 0; /* the byte in its place */
}

/* Counts are not part of a move, and not counted. */
static ein_status ein_mpi_counts(void *user, const int64_t *send, int64_t *receive) {
  ein_mpi *m = (ein_mpi *)user;
  ein_way *way = &m->now;
  ein_status status = ein_mpi_goes(m);
  if (status != EIN_OK) return status;
  ein_mpi_empty(way);
  for (int q = 0; q < m->wire.sites && status == EIN_OK; q++)
    if (q != m->wire.site) status = ein_mpi_receive(m, way, &receive[q], sizeof *receive, q, EIN_MPI_COUNT);
  for (int q = 0; q < m->wire.sites && status == EIN_OK; q++)
    if (q != m->wire.site) status = ein_mpi_send(m, way, &send[q], sizeof *send, q, EIN_MPI_COUNT);
  way->left = way->n;
  receive[m->wire.site] = send[m->wire.site];
  return status == EIN_OK ? ein_mpi_ended(m, way) : status;
}

/* ---- agreement ---- */

static int ein_mpi_await_notice(ein_mpi *m) {
  return MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, EIN_MPI_NOTICE, m->comm, &m->notice);
}

/* Those who wait for this site need not wait any longer. */
static void ein_mpi_give_notice(ein_mpi *m) {
  for (int q = 0; q < m->wire.sites; q++)
    if (q != m->wire.site) MPI_Isend(NULL, 0, MPI_BYTE, q, EIN_MPI_NOTICE, m->comm, &m->notices[q]);
}

/* Cancels what will not come: the messages of a kind from a peer are numbered, and it says how many it has sent. */
static void ein_mpi_cancel(ein_mpi *m, ein_way *way) {
  for (int i = 0; i < way->n_receive && way->left; i++) {
    const ein_awaited *x = &way->awaited[i];
    if (way->request[i] != MPI_REQUEST_NULL && x->number > m->heard[x->peer * (EIN_MPI_KINDS + 1) + x->tag])
      MPI_Cancel(&way->request[i]);
  }
}

/* Receives a message that nobody awaits. Without memory it is cut off, which is all the same. */
static void ein_mpi_drop(ein_mpi *m, int peer, int tag) {
  MPI_Status about;
  int bytes = 0;
  MPI_Probe(peer, tag, m->comm, &about);
  MPI_Get_count(&about, MPI_BYTE, &bytes);
  void *room = malloc((size_t)bytes + 1);
  MPI_Recv(room, room ? bytes : 0, MPI_BYTE, peer, tag, m->comm, MPI_STATUS_IGNORE);
  free(room);
}

static void ein_mpi_take_notices(ein_mpi *m) {
  int n = -m->noticed;
  for (int q = 0; q < m->wire.sites; q++)
    n += q != m->wire.site && m->heard[q * (EIN_MPI_KINDS + 1) + EIN_MPI_NOTICE];
  if (n > 0 && !m->noticed) MPI_Wait(&m->notice, MPI_STATUS_IGNORE), m->noticed = 1, n--;
  for (; n > 0; n--) MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, EIN_MPI_NOTICE, m->comm, MPI_STATUS_IGNORE);
  if (m->noticed) ein_mpi_await_notice(m);
  m->noticed = 0;
}

/* All sites are here, and none sends any more. Ends what is under way. */
static void ein_mpi_clear(ein_mpi *m, int gave_notice) {
  ein_way *way[EIN_MPI_WAYS + 1] = {&m->now};
  int many = EIN_MPI_KINDS + 1;
  for (int i = 0; i < EIN_MPI_WAYS; i++) way[i + 1] = &m->way[i];
  for (int q = 0; q < m->wire.sites; q++) {
    for (int tag = 0; tag < EIN_MPI_KINDS; tag++) m->told[q * many + tag] = m->sent[q * EIN_MPI_KINDS + tag];
    m->told[q * many + EIN_MPI_NOTICE] = gave_notice;
  }
  MPI_Alltoall(m->told, many, MPI_INT64_T, m->heard, many, MPI_INT64_T, m->comm);
  for (int i = 0; i <= EIN_MPI_WAYS; i++) ein_mpi_cancel(m, way[i]);
  for (int q = 0; q < m->wire.sites; q++)
    for (int tag = 0; tag < EIN_MPI_KINDS; tag++) {
      int64_t *awaited = &m->awaited[q * EIN_MPI_KINDS + tag], sent = m->heard[q * many + tag];
      for (; *awaited < sent; ++*awaited) ein_mpi_drop(m, q, tag);
      *awaited = sent;
    }
  for (int i = 0; i <= EIN_MPI_WAYS; i++) {
    if (way[i]->left) MPI_Waitall(way[i]->n, way[i]->request, MPI_STATUSES_IGNORE);
    ein_mpi_empty(way[i]);
    way[i]->key = -1;
  }
  ein_mpi_take_notices(m);
  if (gave_notice) MPI_Waitall(m->wire.sites, m->notices, MPI_STATUSES_IGNORE);
  MPI_Barrier(m->comm); /* the next run's messages must not meet what this one awaited */
}

static ein_status ein_mpi_agreed(void *user, ein_status mine) {
  ein_mpi *m = (ein_mpi *)user;
  if (mine == EIN_OK && m->broken) mine = EIN_ERR_IO;
  if (mine != EIN_OK) ein_mpi_give_notice(m);
  ein_status all = ein_mpi_status(m, mine);
  if (all != EIN_OK) ein_mpi_clear(m, mine != EIN_OK);
  m->broken = 0;
  return all;
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
  m->wire.agree = ein_mpi_agreed;
  m->wire.start = ein_mpi_start;
  m->wire.finish = ein_mpi_finish;
  m->wire.look = ein_mpi_look;
  m->wire.beside = ein_mpi_beside;
  m->wire.failed = ein_mpi_has_failed;
  m->wire.why = ein_mpi_why;
  return code == MPI_SUCCESS ? EIN_OK : EIN_ERR_IO;
}

/* Allocates room for one message to each site and one from each in every slot, and for what is counted. */
static int ein_mpi_rooms(ein_mpi *m) {
  size_t sites = (size_t)m->wire.sites, kinds = EIN_MPI_KINDS;
  int some = ein_mpi_room(&m->now, 2 * sites);
  for (int i = 0; some && i < EIN_MPI_WAYS; i++) some = ein_mpi_room(&m->way[i], 2 * sites);
  m->sent = (int64_t *)calloc(sites * (4 * kinds + 2), sizeof *m->sent);
  m->notices = (MPI_Request *)malloc(sites * sizeof *m->notices);
  if (!some || !m->sent || !m->notices) return 0;
  m->awaited = m->sent + sites * kinds;
  m->told = m->awaited + sites * kinds;
  m->heard = m->told + sites * (kinds + 1);
  for (size_t q = 0; q < sites; q++) m->notices[q] = MPI_REQUEST_NULL;
  return 1;
}

static void ein_way_free(ein_way *way) {
  free(way->request);
  free(way->awaited);
  free(way->done);
}

static void ein_mpi_free(ein_mpi *m) {
  for (int i = 0; i < EIN_MPI_WAYS; i++) ein_way_free(&m->way[i]);
  ein_way_free(&m->now);
  free(m->sent);
  free(m->notices);
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
  ein_mpi_await_notice(m);
  *out = m;
  return EIN_OK;
}

EIN_API void ein_mpi_close(ein_mpi *m) {
  if (!m) return;
  MPI_Send(NULL, 0, MPI_BYTE, m->wire.site, EIN_MPI_NOTICE, m->comm); /* the awaited one */
  MPI_Wait(&m->notice, MPI_STATUS_IGNORE);
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
