/* SPDX-License-Identifier: MIT-0 */
/*
 * A device that is one of several sites: data sent to and received from other sites are on it. A kernel packs
 * what another site needs, and another one unpacks it there. In between it goes from device to device (peers.h) or,
 * where that cannot be, is copied to page-locked host memory, sent over the context's wire and copied to the
 * device: only data that cross the wire cross the bus. Parts to be combined are an exception: they are copied to the
 * host and combined by the processor, as on a machine without devices, and with the same bits.
 */
#ifndef EIN_CUDA_SITES_H
#define EIN_CUDA_SITES_H

#include "peers.h"

/* Host memory for one exchange: the data of its parcels, and the parcels. */
typedef struct ein_cuda_loan {
  char *host;
  void *over;                  /* the event at the end of an exchange between devices */
  size_t held;
  ein_parcel *parcel;          /* room for one to each site, and one from each */
} ein_cuda_loan;

/* A buffer's copy on the host, while its parts are combined there. */
typedef struct ein_cuda_mirror { char *host; size_t held; } ein_cuda_mirror;

typedef struct ein_cuda_sites {
  ein_ground there, here;      /* where moves find tensors: on the device; copies on the host */
  int64_t *stride;             /* by axis, row-major, as all tensors are on the device */
  char **room, **room_here;    /* by move: its memory */
  ein_cuda_mirror *mirror;     /* by buffer; then by move, for its memory */
  void **at_here;              /* by buffer: its copy */
  ein_cuda_loan *lent;         /* by key */
  ein_peers peers;
  int64_t *told;               /* two numbers for each site */
  char *begins;                /* on the device: the origins of listed boxes */
  size_t begun;                /* its bytes */
  int n_mirrors, n_lent;
} ein_cuda_sites;

static ein_cuda_sites *ein_cuda_sites_of(const ein_ctx *ctx) { return ein_cuda_of(ctx)->sites; }

/* ---- memory ---- */

/* Page-locked host memory of at least that size. */
static int ein_cuda_host(ein_ctx *ctx, char **at, size_t *held, size_t wanted) {
  ein_gpu *g = &ein_cuda_of(ctx)->gpu;
  if (*held >= wanted) return 1;
  if (*at) ein_gpu_host_drop(g, *at);
  *held = 0;
  *at = (char *)ein_gpu_host_take(ctx, g, wanted);
  if (*at) *held = wanted;
  return *at != NULL;
}

static void *ein_cuda_take(ein_ctx *ctx, size_t bytes) {
  return ein_gpu_take(ctx, &ein_cuda_of(ctx)->gpu, bytes, "a fetch takes");
}
static void ein_cuda_drop(ein_ctx *ctx, void *at) { ein_gpu_drop(&ein_cuda_of(ctx)->gpu, at); }
static int ein_cuda_bring_some(ein_ctx *ctx, void *host, const void *from, size_t bytes) {
  return !bytes || ein_gpu_down(ctx, &ein_cuda_of(ctx)->gpu, host, from, bytes, "indices come from the device");
}

/* ---- boxes ---- */

static int ein_cuda_begins(ein_ctx *ctx, int64_t many, const int64_t *at) {
  ein_cuda *d = ein_cuda_of(ctx);
  ein_cuda_sites *s = d->sites;
  size_t bytes = 2 * (size_t)many * sizeof *at;
  if (bytes > s->begun && !ein_cuda_piece(ctx, d, &s->begins, &s->begun, bytes, "a fetch takes")) return 0;
  return ein_gpu_up(ctx, &d->gpu, s->begins, at, bytes, "places go to the device");
}

static int ein_cuda_boxes(ein_ctx *ctx, size_t element, int64_t many, const int64_t *at, int n, const int64_t *extent,
    void *to, const int64_t *to_step, const void *from, const int64_t *from_step) {
  ein_cuda *d = ein_cuda_of(ctx);
  ein_boxes_are are;
  memset(&are, 0, sizeof are);
  ein_boxes_merge(&are, n, extent, to_step, from_step);
  are.many = many;
  are.listed = at != NULL;
  if (ein_state(ctx) != EIN_OK || (at && !ein_cuda_begins(ctx, many, at))) return 0;
  if (!at && are.n == 0) return ein_gpu_across(ctx, &d->gpu, to, from, element, "an element is moved");
  if (!at && are.n == 1 && are.to_step[0] == 1 && are.from_step[0] == 1)
    return ein_gpu_across(ctx, &d->gpu, to, from, (size_t)are.count * element, "a tensor is moved");
  return ein_gpu_boxes(ctx, &d->gpu, d->gpu.stream, element, to, from, at ? (void *)d->sites->begins : to, &are);
}

/* ---- parcels ---- */

/* Returns the first parcel with the same data: sites that get the same data share it. */
static int ein_cuda_same(const ein_parcel *x, int k) {
  int i = 0;
  while (x[i].data != x[k].data || x[i].bytes != x[k].bytes) i++;
  return i;
}

/* Returns the total bytes of the parcels' data. to: the corresponding parcels on the host, from `at` on; NULL:
 * only measure. */
static size_t ein_cuda_lay_parcels(int n, const ein_parcel *x, int shared, char *at, ein_parcel *to) {
  size_t used = 0;
  for (int k = 0; k < n; k++) {
    int first = shared ? ein_cuda_same(x, k) : k;
    if (to) to[k] = x[k], to[k].data = first < k ? to[first].data : at + used;
    if (first == k) used = ein_cuda_round(used + x[k].bytes);
  }
  return used;
}

/* A byte for each parcel, which go from device to device. */
static int ein_cuda_lend_bytes(ein_ctx *ctx, ein_cuda_loan *x, int n_send, const ein_parcel *send, int n_receive,
    const ein_parcel *receive) {
  ein_cuda *d = ein_cuda_of(ctx);
  size_t n = (size_t)(n_send + n_receive);
  if (!ein_cuda_host(ctx, &x->host, &x->held, n + 1)) return 0;
  memset(x->host, 1, n);
  for (size_t k = 0; k < n; k++) {
    x->parcel[k].peer = k < (size_t)n_send ? send[k].peer : receive[k - (size_t)n_send].peer;
    x->parcel[k].data = x->host + k, x->parcel[k].bytes = 1;
  }
  return ein_peers_ask(ctx, &d->gpu, &d->sites->peers, n_send, send, n_receive, receive, &x->over);
}

static int ein_cuda_lend(ein_ctx *ctx, int key, int n_send, const ein_parcel *send, int n_receive,
    const ein_parcel *receive, ein_parcel **on_host) {
  ein_cuda *d = ein_cuda_of(ctx);
  ein_cuda_loan *x = &d->sites->lent[key];
  *on_host = x->parcel;
  if (d->sites->peers.state == EIN_PEERS_ON)
    return ein_cuda_lend_bytes(ctx, x, n_send, send, n_receive, receive);
  size_t sent = ein_cuda_lay_parcels(n_send, send, 1, NULL, NULL),
         all = sent + ein_cuda_lay_parcels(n_receive, receive, 0, NULL, NULL);
  if (!ein_cuda_host(ctx, &x->host, &x->held, all + 1)) return 0;
  ein_cuda_lay_parcels(n_send, send, 1, x->host, x->parcel);
  ein_cuda_lay_parcels(n_receive, receive, 0, x->host + sent, x->parcel + n_send);
  for (int k = 0; k < n_send; k++)
    if (ein_cuda_same(send, k) == k &&
        !ein_gpu_down_later(
            ctx, &d->gpu, x->parcel[k].data, send[k].data, send[k].bytes, "a parcel comes from the device"))
      return 0;
  return !n_send || ein_gpu_wait(ctx, &d->gpu, "a parcel comes from the device");
}

/* Copies what was received to the device, and waits, because the next exchange may reuse the host memory. */
static int ein_cuda_back(ein_ctx *ctx, int key, int n_send, int n_receive, const ein_parcel *receive) {
  ein_cuda *d = ein_cuda_of(ctx);
  const ein_parcel *got = d->sites->lent[key].parcel + n_send;
  if (d->sites->peers.state == EIN_PEERS_ON)
    return ein_peers_await(ctx, &d->gpu, &d->sites->peers, d->sites->lent[key].over);
  for (int k = 0; k < n_receive; k++)
    if (!ein_gpu_up_later(ctx, &d->gpu, receive[k].data, got[k].data, receive[k].bytes, "a parcel goes to the device"))
      return 0;
  return !n_receive || ein_gpu_wait(ctx, &d->gpu, "a parcel goes to the device");
}

static const ein_far ein_cuda_far = {
    ein_cuda_boxes, ein_cuda_take, ein_cuda_drop, ein_cuda_bring_some, ein_cuda_lend, ein_cuda_back};

/* ---- creation and destruction ---- */

static void ein_cuda_sites_end(ein_cuda *d) {
  ein_cuda_sites *s = d->sites;
  void *own;
  if (!s) return;
  if (!d->gpu.cu.context_push(d->gpu.context)) {
    ein_peers_end(&d->gpu, &s->peers);
    for (int k = 0; k < s->n_lent; k++)
      if (s->lent[k].over) d->gpu.cu.event_end(s->lent[k].over);
    d->gpu.cu.context_pop(&own);
  }
  for (int k = 0; k < s->n_mirrors; k++) ein_gpu_host_drop(&d->gpu, s->mirror[k].host);
  for (int k = 0; k < s->n_lent; k++) ein_gpu_host_drop(&d->gpu, s->lent[k].host);
  ein_gpu_drop(&d->gpu, s->begins);
  free(s);
  d->sites = NULL;
}

/* Allocates everything in one block, with the most aligned parts first. */
static int ein_cuda_sites_new(ein_ctx *ctx, ein_cuda *d) {
  const ein_inside *in = ctx->inside;
  size_t moves = (size_t)in->tables->mesh->n_moves, buffers = (size_t)in->tables->n_buffers,
         axes = (size_t)in->tables->n_axes, sites = (size_t)in->config.wire->sites;
  size_t n_lent = moves + 1, n_mirrors = buffers + moves;
  if (d->sites) return 1;
  ein_cuda_sites *s = d->sites = (ein_cuda_sites *)calloc(1,
      sizeof *s + n_mirrors * sizeof(ein_cuda_mirror) +
          n_lent * (sizeof(ein_cuda_loan) + 2 * sites * sizeof(ein_parcel)) + (axes + 2 * sites) * sizeof(int64_t) +
          (2 * moves + buffers) * sizeof(void *));
  if (!s) return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory for the buffers of moves"), 0;
  s->n_mirrors = (int)n_mirrors;
  s->n_lent = (int)n_lent;
  s->mirror = (ein_cuda_mirror *)(void *)(s + 1);
  s->lent = (ein_cuda_loan *)(void *)(s->mirror + n_mirrors);
  ein_parcel *parcel = (ein_parcel *)(void *)(s->lent + n_lent);
  for (size_t k = 0; k < n_lent; k++, parcel += 2 * sites) s->lent[k].parcel = parcel;
  s->stride = (int64_t *)(void *)parcel;
  s->told = s->stride + axes;
  s->room = (char **)(void *)(s->told + 2 * sites);
  s->room_here = s->room + moves;
  s->at_here = (void **)(void *)(s->room_here + moves);
  s->there.data = d->at, s->there.room = s->room, s->there.far = &ein_cuda_far;
  s->here.data = s->at_here, s->here.room = s->room_here;
  s->there.stride = s->here.stride = s->stride;
  ctx->inside->among.ground = &s->there;
  return 1;
}

/* Before a run or plan of all sites. */
static int ein_cuda_sites_begin(ein_ctx *ctx, ein_cuda *d) {
  return ein_peers_begin(ctx, d, &d->sites->peers, d->sites->told);
}

/* After the sizes are known and the block is allocated: sets the layout of tensors, and each move's memory. */
static void ein_cuda_sites_lay(ein_ctx *ctx, ein_cuda *d, char *work) {
  const ein_inside *in = ctx->inside;
  for (int b = 0; b < in->tables->n_buffers; b++) {
    const ein_buffer *x = ein_buffer_of(ctx, b);
    ein_row_major(x->ndim, ctx->shape + x->at, d->sites->stride + x->at);
  }
  for (int k = 0; k < in->tables->mesh->n_moves; k++) d->sites->room[k] = work + in->laid.offset[in->laid.n_work + k];
}

/* ---- parts, combined on the host ---- */

static int ein_cuda_here(ein_ctx *ctx, int buffer) {
  ein_cuda_sites *s = ein_cuda_sites_of(ctx);
  if (!ein_cuda_host(ctx, &s->mirror[buffer].host, &s->mirror[buffer].held, ein_cuda_bytes(ctx, buffer) + 1)) return 0;
  s->at_here[buffer] = s->mirror[buffer].host;
  return 1;
}

static int ein_cuda_down(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  return ein_cuda_here(ctx, buffer) &&
      (!bytes ||
          ein_gpu_down(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_sites_of(ctx)->at_here[buffer], ein_cuda_at(ctx, buffer),
              bytes, "parts come from the device"));
}

static int ein_cuda_up(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  return !bytes ||
      ein_gpu_up(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_at(ctx, buffer), ein_cuda_sites_of(ctx)->at_here[buffer], bytes,
          "combined parts go to the device");
}

/* Whether this site's part covers everything combined here, so that the destination's old content is not needed. */
static int ein_cuda_covers(const ein_ctx *ctx, const ein_mesh *mesh, const ein_move_row *row) {
  int site = ctx->inside->config.wire->site;
  ein_box from = ein_box_of(ctx, mesh, row->from, site), to = ein_box_of(ctx, mesh, row->to, site);
  int covers = from.there;
  for (int d = 0; to.there && d < ein_buffer_of(ctx, row->to)->ndim; d++)
    covers &= from.low[d] <= to.low[d] && to.high[d] <= from.high[d];
  return covers || !to.there;
}

/* On failure, the move gets no host memory, and the context has an error. */
static void ein_cuda_parts(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  ein_cuda_sites *s = ein_cuda_sites_of(ctx);
  const ein_move_row *row = &mesh->move[k];
  ein_cuda_mirror *room = &s->mirror[ctx->inside->tables->n_buffers + k];
  const ein_laid *l = &ctx->inside->laid;
  int covers = ein_cuda_covers(ctx, mesh, row);
  if (!ein_cuda_host(ctx, &room->host, &room->held, (size_t)l->bytes[l->n_work + k] + 1) ||
      !ein_cuda_down(ctx, row->from))
    return;
  if (!(covers ? ein_cuda_here : ein_cuda_down)(ctx, row->to)) return;
  if (row->best &&
      !(ein_cuda_down(ctx, row->place_from) && (covers ? ein_cuda_here : ein_cuda_down)(ctx, row->place_to)))
    return;
  s->room_here[k] = room->host;
}

/* ---- functions that a body calls ---- */

/* Reports the kernels' faults where sites synchronize. */
static void ein_cuda_met(ein_ctx *ctx) {
  if (ctx->inside->tables->n_sites) ein_cuda_settle(ctx);
}

/* Whether a move's data lie where they are until it ends: those of a run that spills are evicted and moved, so NCCL
 * must be done with them before the run goes on. */
static int ein_cuda_stays(const ein_cuda *d) {
  return d->sites->peers.state != EIN_PEERS_ON || !ein_spilling_on(d);
}

/* half 0: a whole move; 1: its start; 2: its end. */
static ein_status ein_cuda_half(ein_ctx *ctx, const ein_mesh *mesh, int k, int half) {
  ein_cuda_sites *s = ein_cuda_sites_of(ctx);
  const ein_move_row *row = &mesh->move[k];
  int parts = row->fold || row->best;
  if (half && !parts && !ein_cuda_stays(ein_cuda_of(ctx))) {
    if (half == 2) return ein_state(ctx);
    half = 0;
  }
  if (half < 2) ein_cuda_met(ctx);
  if (parts && half < 2) s->room_here[k] = NULL;
  if (parts && half < 2 && ein_state(ctx) == EIN_OK) ein_cuda_parts(ctx, mesh, k);
  ctx->inside->among.ground = parts && s->room_here[k] ? &s->here : &s->there;
  ein_status status = half == 0 ? ein_move(ctx, mesh, k)
      : half == 1               ? ein_move_start(ctx, mesh, k)
                                : ein_move_finish(ctx, mesh, k);
  ctx->inside->among.ground = &s->there;
  if (!parts || half == 1 || status != EIN_OK) return status;
  if (ein_cuda_up(ctx, row->to) && row->best) ein_cuda_up(ctx, row->place_to);
  return ein_state(ctx);
}

static EIN_UNUSED ein_status ein_cuda_move(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  return ein_cuda_half(ctx, mesh, k, 0);
}
static EIN_UNUSED ein_status ein_cuda_move_start(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  return ein_cuda_half(ctx, mesh, k, 1);
}
static EIN_UNUSED ein_status ein_cuda_move_finish(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  return ein_cuda_half(ctx, mesh, k, 2);
}
static EIN_UNUSED ein_status ein_cuda_fetch(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  ein_cuda_met(ctx);
  return ein_fetch(ctx, mesh, k);
}

#endif
