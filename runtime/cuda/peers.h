/* SPDX-License-Identifier: MIT-0 */
/*
 * Parcels that go from device to device, by NVIDIA's NCCL, where each site has it and a device of its own. In comes an
 * exchange whose parcels are on the device, as in ein_far; NCCL sends and receives them in a stream beside the run's.
 * Over the wire goes a byte for each parcel, which says that its sender has asked NCCL for its part: only then does the
 * receiver wait for its device. So a site that fails never leaves another one waiting for NCCL. What a failed run has
 * left under way is aborted before the next run or plan, which all sites begin together.
 *
 * NCCL only copies: parts are combined elsewhere, in the order of sites, so no library's order decides a bit.
 */
#ifndef EIN_CUDA_PEERS_H
#define EIN_CUDA_PEERS_H

#include <sched.h>

#include "libnccl.h"

enum { EIN_PEERS_NEW, EIN_PEERS_OFF, EIN_PEERS_ON };

typedef struct ein_peers {
  ein_libnccl nccl;
  int state;                   /* the same at all sites */
  uint64_t partings;           /* of the context, when `comm` was made */
  void *comm, *stream;         /* NCCL's; its stream */
  void *ready;                 /* an event: what is sent is in its place */
} ein_peers;

static int ein_peers_ok(ein_ctx *ctx, int e, const char *what) {
  if (!e) return 1;
  ein_error_set(&ctx->inside->error, EIN_ERR_IO, "NCCL: %s: %s; EIN_NCCL=off does without", what, ein_libnccl_word(e));
  return 0;
}

/* ---- what the sites tell each other: counts are not part of a move ---- */

/* Tells `mine` to all sites; all[] gets each site's. Returns 0 after a failure. */
static int ein_peers_tell(ein_ctx *ctx, int64_t mine, int64_t *all) {
  const ein_wire *wire = ctx->inside->config.wire;
  int64_t *told = all + wire->sites;
  for (int q = 0; q < wire->sites; q++) told[q] = mine;
  return ein_met(ctx, wire->counts(wire->user, told, all)) == EIN_OK;
}

/* Which of the sites has not told `this`; -1: all have. */
static int ein_peers_other(const ein_ctx *ctx, const int64_t *all, int64_t is) {
  for (int q = 0; q < ctx->inside->config.wire->sites; q++)
    if (all[q] != is) return q;
  return -1;
}

/* ---- creation ---- */

/* Exchanges go over the host, at all sites, because of what that site (-1: each) lacks. */
static int ein_peers_off(ein_cuda *d, ein_peers *p, int site, const char *why, const char *more) {
  char *text = d->gpu.counts->between, who[32] = "";
  if (site >= 0) snprintf(who, sizeof who, "site %d ", site);
  snprintf(text, sizeof d->gpu.counts->between, "moves go over the host: %s%s%s", who, why, more);
  p->state = EIN_PEERS_OFF;
  return 0;
}

/* Whether the program has moves whose data may stay on devices. */
static int ein_peers_wanted(const ein_ctx *ctx) {
  const ein_mesh *mesh = ctx->inside->tables->mesh;
  int wanted = mesh->fetch != NULL;
  for (int k = 0; k < mesh->n_moves; k++) wanted |= !mesh->move[k].fold && !mesh->move[k].best;
  return wanted && ctx->inside->config.wire->counts && ctx->inside->config.wire->sites > 1;
}

/* A number of the device that no other one has; 0, and why: this site does not take part. */
static int64_t ein_peers_mine(ein_cuda *d, ein_peers *p, const char **why) {
  unsigned char uuid[16];
  uint64_t word[2], hash;
  if (!ein_libnccl_open(&p->nccl, why)) return 0;
  *why = "the driver does not tell devices apart";
  if (d->gpu.cu.device_uuid(uuid, d->gpu.device)) return 0;
  memcpy(word, uuid, sizeof word);
  hash = ein_asks_mix(ein_asks_mix(1, word[0]), word[1]);
  *why = NULL;
  return (int64_t)(hash ? hash : 1);
}

/* Whether all sites have NCCL, of the same version, and devices of their own; -1 after a failure. */
static int ein_peers_can(ein_ctx *ctx, ein_cuda *d, ein_peers *p, int64_t *all) {
  const char *why = NULL;
  int version = 0, sites = ctx->inside->config.wire->sites;
  if (!ein_peers_tell(ctx, ein_peers_mine(d, p, &why), all)) return -1;
  if (why) return ein_peers_off(d, p, -1, why, "");
  for (int q = 0; q < sites; q++) {
    if (!all[q]) return ein_peers_off(d, p, q, "cannot use NCCL", "");
    for (int i = 0; i < q; i++)
      if (all[i] == all[q]) return ein_peers_off(d, p, q, "shares its device with another one", "");
  }
  p->nccl.version(&version);
  if (!ein_peers_tell(ctx, version, all)) return -1;
  int other = ein_peers_other(ctx, all, all[0]);
  return other < 0 ? 1 : ein_peers_off(d, p, other, "has another version of NCCL than site 0", "");
}

/* Brings the first site's id to all. */
static int ein_peers_id(ein_ctx *ctx, ein_peers *p, int64_t *all, ein_nccl_id *id) {
  int64_t word[sizeof *id / sizeof(int64_t)];
  int e;
  memset(id, 0, sizeof *id);
  e = ctx->inside->config.wire->site == 0 ? p->nccl.id(id) : 0;
  memcpy(word, id, sizeof word);
  for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
    if (!ein_peers_tell(ctx, word[k], all)) return 0;
    word[k] = all[0];
  }
  memcpy(id, word, sizeof word);
  return ein_peers_tell(ctx, e, all);
}

static int ein_peers_streams(ein_ctx *ctx, ein_cuda *d, ein_peers *p) {
  ein_gpu *g = &d->gpu;
  if (!p->stream && !ein_gpu_ok(ctx, g, g->cu.stream_new(&p->stream, EIN_CU_OWN_STREAM), "a stream")) return 0;
  return p->ready || ein_gpu_ok(ctx, g, g->cu.event_new(&p->ready, EIN_CU_NO_TIMES), "an event");
}

/* After a run that has ended well nothing is under way at any site; what another one has left is not wanted. */
static void ein_peers_drop(ein_peers *p) {
  if (p->comm) p->nccl.abort(p->comm);
  p->comm = NULL;
}

/* all[]: what each site has told last: its error. Where one has any, NCCL is not used. */
static int ein_peers_started(ein_ctx *ctx, ein_cuda *d, ein_peers *p, const int64_t *all) {
  int other = ein_peers_other(ctx, all, 0);
  if (other < 0) return 1;
  ein_peers_drop(p);
  return ein_peers_off(d, p, other, "cannot start NCCL: ", ein_libnccl_word((int)all[other]));
}

/* Before a run or plan, which all sites begin together: makes a communicator if there is none yet, or if a run has
 * failed since. all: room for two numbers for each site. Returns 0 for an error, which ends the run. */
static int ein_peers_begin(ein_ctx *ctx, ein_cuda *d, ein_peers *p, int64_t *all) {
  const ein_wire *wire = ctx->inside->config.wire;
  ein_nccl_id id;
  if (p->state == EIN_PEERS_OFF || (p->state == EIN_PEERS_ON && p->partings == ctx->inside->among.partings)) return 1;
  ein_peers_drop(p);
  p->state = ein_peers_wanted(ctx) ? EIN_PEERS_NEW : EIN_PEERS_OFF;
  if (p->state == EIN_PEERS_OFF) return 1;
  int can = ein_peers_can(ctx, d, p, all);
  if (can <= 0) return can == 0;
  if (!ein_peers_streams(ctx, d, p) || !ein_peers_id(ctx, p, all, &id)) return 0;
  if (!ein_peers_started(ctx, d, p, all)) return 1;
  int e = p->nccl.begin(&p->comm, wire->sites, id, wire->site);
  if (e) p->comm = NULL;
  if (!ein_peers_tell(ctx, e, all)) return 0;
  if (!ein_peers_started(ctx, d, p, all)) return 1;
  p->state = EIN_PEERS_ON, p->partings = ctx->inside->among.partings;
  snprintf(d->gpu.counts->between, sizeof d->gpu.counts->between, "moves go from device to device, by NCCL");
  return 1;
}

/* The device's context is current. */
static void ein_peers_end(ein_gpu *g, ein_peers *p) {
  ein_peers_drop(p);
  if (p->ready) g->cu.event_end(p->ready);
  if (p->stream) g->cu.stream_end(p->stream);
}

/* ---- exchanges ---- */

static void ein_peers_count(ein_ctx *ctx, ein_gpu *g, int n, const ein_parcel *x, int sends) {
  const ein_wire *wire = ctx->inside->config.wire;
  for (int k = 0; k < n; k++) {
    if (x[k].peer == wire->site) continue;
    if (!sends) g->counts->bytes_between += x[k].bytes;
    if (wire->beside) wire->beside(wire->user, x[k].peer, sends ? x[k].bytes : 0, sends ? 0 : x[k].bytes);
  }
}

/* Asks NCCL for an exchange, after what the run has asked of its device so far; over: an event, recorded when it is
 * done here. */
static int ein_peers_ask(ein_ctx *ctx, ein_gpu *g, ein_peers *p, int n_send, const ein_parcel *send, int n_receive,
    const ein_parcel *receive, void **over) {
  static const char *const what = "an exchange between devices";
  int e;
  if (!p->comm) return 0; /* an earlier exchange of this run has failed */
  if (!*over && !ein_gpu_ok(ctx, g, g->cu.event_new(over, EIN_CU_NO_TIMES), "an event")) return 0;
  if (!ein_gpu_waits(ctx, g) || !ein_gpu_ok(ctx, g, g->cu.event_record(p->ready, g->stream), what) ||
      !ein_gpu_ok(ctx, g, g->cu.stream_after(p->stream, p->ready, 0), what))
    return 0;
  e = p->nccl.group_begin();
  for (int k = 0; k < n_send && !e; k++)
    e = p->nccl.send(send[k].data, send[k].bytes, EIN_NCCL_BYTE, send[k].peer, p->comm, p->stream);
  for (int k = 0; k < n_receive && !e; k++)
    e = p->nccl.receive(receive[k].data, receive[k].bytes, EIN_NCCL_BYTE, receive[k].peer, p->comm, p->stream);
  int end = p->nccl.group_end();
  if (!ein_peers_ok(ctx, e ? e : end, what)) return ein_peers_drop(p), 0;
  ein_peers_count(ctx, g, n_send, send, 1);
  ein_peers_count(ctx, g, n_receive, receive, 0);
  return ein_gpu_ok(ctx, g, g->cu.event_record(*over, p->stream), what);
}

/* Waits for it, once all peers have asked for their parts. A peer whose device fails meanwhile never does its part. */
static int ein_peers_await(ein_ctx *ctx, ein_gpu *g, ein_peers *p, void *over) {
  const ein_wire *wire = ctx->inside->config.wire;
  int e, failed = 0;
  if (!p->comm) return 0;
  while ((e = g->cu.event_query(over)) == EIN_CU_NOT_READY) {
    if (p->nccl.error(p->comm, &failed) || failed == EIN_NCCL_UNDER_WAY) failed = 0;
    if (failed || (wire->failed && wire->failed(wire->user))) break;
    sched_yield();
  }
  if (e != EIN_CU_NOT_READY) return ein_gpu_ok(ctx, g, e, "an exchange between devices");
  ein_peers_drop(p);
  if (failed) return ein_peers_ok(ctx, failed, "an exchange between devices");
  return ein_met(ctx, EIN_ERR_IO), 0;
}

#endif
