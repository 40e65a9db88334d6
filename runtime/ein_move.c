/* SPDX-License-Identifier: MIT-0 */
/*
 * Moves between sites. In come a mesh's tables (which boxes of a tensor each site has, and is to have) and the run's context at one site;
 * out go parcels, a peer each, over the wire that the context was given (ein_tensor.h): what another site is to have of ours is
 * packed, what comes is unpacked where it belongs. Parts are combined in the order of sites, so the bits are the same in every run.
 */
#include "ein_sites.h"

#include <stdlib.h>

/* A box of what is to be had, of which something else has the same places less `shift`. */
typedef struct ein_piece {
  int64_t low[EIN_MAX_AXES], high[EIN_MAX_AXES], shift[EIN_MAX_AXES], count;
} ein_piece;

typedef struct ein_moving {
  ein_ctx *ctx;
  const ein_mesh *mesh;
  const ein_move_row *row;
  int ndim, site, sites;
  size_t element, place;       /* bytes of one, and of its place, which goes with it; 0: none does */
  ein_box from, to;            /* this site's */
  ein_parcel *send, *receive;  /* by peer; a peer with nothing has none */
  int n_send, n_receive, failed;
} ein_moving;

/* Along that axis parts become one. */
static int ein_combines(const ein_move_row *r, int a) {
  return r->of[a] == EIN_PART && r->onto[a] != EIN_PART;
}

/* Whether what site p has may be given to site q: of copies, and of parts that stay parts, each site has its own. */
static int ein_asks(const ein_moving *v, int p, int q) {
  int64_t x[EIN_MAX_AXES], y[EIN_MAX_AXES];
  ein_site_place(v->mesh, p, x);
  ein_site_place(v->mesh, q, y);
  for (int a = 0; a < v->mesh->n; a++) {
    int own = v->row->of[a] == EIN_ALL || (v->row->of[a] == EIN_PART && !ein_combines(v->row, a));
    if (own && x[a] != y[a]) return 0;
  }
  return 1;
}

/* ---- what two boxes share ---- */

static int64_t ein_floor(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Laps around the end of dimension d in which they meet: the first; and behind the last one. */
static void ein_laps(const ein_moving *v, const ein_box *from, const ein_box *to, int d, int64_t *first, int64_t *end) {
  int64_t wrap = v->row->wrap ? v->row->wrap[d] : 0;
  *first = 0, *end = 1;
  if (!wrap) return;
  *first = ein_floor(to->low[d] - from->high[d] + 1, wrap);
  *end = ein_floor(to->high[d] - 1 - from->low[d], wrap) + 1;
}

static int ein_piece_at(const ein_moving *v, const ein_box *from, const ein_box *to, const int64_t *lap, ein_piece *x) {
  x->count = 1;
  for (int d = 0; d < v->ndim; d++) {
    x->shift[d] = v->row->wrap ? lap[d] * v->row->wrap[d] : 0;
    x->low[d] = from->low[d] + x->shift[d] > to->low[d] ? from->low[d] + x->shift[d] : to->low[d];
    x->high[d] = from->high[d] + x->shift[d] < to->high[d] ? from->high[d] + x->shift[d] : to->high[d];
    if (x->low[d] >= x->high[d]) return 0;
    x->count *= x->high[d] - x->low[d];
  }
  return 1;
}

typedef struct ein_pieces { /* the state of going through them */
  int64_t first[EIN_MAX_AXES], end[EIN_MAX_AXES], lap[EIN_MAX_AXES];
  int more;
} ein_pieces;

static ein_pieces ein_pieces_begin(const ein_moving *v, const ein_box *from, const ein_box *to) {
  ein_pieces s;
  s.more = from->there && to->there;
  for (int d = 0; d < v->ndim && s.more; d++) {
    ein_laps(v, from, to, d, &s.first[d], &s.end[d]);
    s.lap[d] = s.first[d];
    s.more = s.first[d] < s.end[d];
  }
  return s;
}

/* The next one that has elements; 0: there is none. */
static int ein_pieces_next(const ein_moving *v, const ein_box *from, const ein_box *to, ein_pieces *s, ein_piece *x) {
  while (s->more) {
    int some = ein_piece_at(v, from, to, s->lap, x), d = v->ndim;
    while (d > 0 && ++s->lap[d - 1] == s->end[d - 1]) s->lap[d - 1] = s->first[d - 1], d--;
    s->more = d > 0;
    if (some) return 1;
  }
  return 0;
}

static int64_t ein_shared(const ein_moving *v, const ein_box *from, const ein_box *to) {
  ein_pieces s = ein_pieces_begin(v, from, to);
  ein_piece x;
  int64_t n = 0;
  while (ein_pieces_next(v, from, to, &s, &x)) n += x.count;
  return n;
}

/* ---- rows of a piece ---- */

/* Goes through a piece's rows along the last dimension: at[] is the place of the first element of one. 0: that was the last. */
static int ein_row_next(const ein_moving *v, const ein_piece *x, int64_t *at) {
  int d = v->ndim - 1;
  while (d > 0 && ++at[d - 1] == x->high[d - 1]) at[d - 1] = x->low[d - 1], d--;
  return d > 0;
}

static int64_t ein_row_length(const ein_moving *v, const ein_piece *x) {
  return v->ndim ? x->high[v->ndim - 1] - x->low[v->ndim - 1] : 1;
}

/* Where the element stands that a buffer's box has at `at`, less the shift. */
static char *ein_element(const ein_moving *v, int buffer, size_t element, const ein_box *own, const int64_t *at, const int64_t *shift) {
  const int64_t *stride = v->ctx->stride + ein_buffer_of(v->ctx, buffer)->at;
  int64_t offset = 0;
  for (int d = 0; d < v->ndim; d++) offset += (at[d] - (shift ? shift[d] : 0) - own->low[d]) * stride[d];
  return (char *)v->ctx->data[buffer] + offset * (int64_t)element;
}

static int64_t ein_step(const ein_moving *v, int buffer) {
  const ein_buffer *b = ein_buffer_of(v->ctx, buffer);
  return v->ndim ? v->ctx->stride[b->at + v->ndim - 1] : 1;
}

/* What another site is to have of a buffer of ours, one piece behind the other. Gives what lies behind them. */
static char *ein_pack(const ein_moving *v, int buffer, size_t element, const ein_box *to, char *out) {
  ein_pieces s = ein_pieces_begin(v, &v->from, to);
  ein_piece x;
  while (ein_pieces_next(v, &v->from, to, &s, &x)) {
    int64_t at[EIN_MAX_AXES], n = ein_row_length(v, &x);
    memcpy(at, x.low, sizeof at);
    do {
      ein_copy_row(element, out, 1, ein_element(v, buffer, element, &v->from, at, x.shift), ein_step(v, buffer), n);
      out += (size_t)n * element;
    } while (ein_row_next(v, &x, at));
  }
  return out;
}

static void ein_unpack(const ein_moving *v, const ein_box *from, const char *in) {
  ein_pieces s = ein_pieces_begin(v, from, &v->to);
  ein_piece x;
  while (ein_pieces_next(v, from, &v->to, &s, &x)) {
    int64_t at[EIN_MAX_AXES], n = ein_row_length(v, &x);
    memcpy(at, x.low, sizeof at);
    do {
      ein_copy_row(v->element, ein_element(v, v->row->to, v->element, &v->to, at, NULL), ein_step(v, v->row->to), in, 1, n);
      in += (size_t)n * v->element;
    } while (ein_row_next(v, &x, at));
  }
}

/* ---- parts ---- */

/* What parts come to, one for each element that this site is to have, row-major; some[i]: there is one. */
typedef struct ein_sums { char *at; int64_t *place; unsigned char *some; } ein_sums;

static void ein_fold_run(const ein_moving *v, const ein_sums *to, int64_t i, const char *part, const int64_t *place, int64_t n) {
  char *at = to->at + (size_t)i * v->element;
  int64_t *to_place = v->place ? to->place + i : NULL;
  if (!to->some[i]) {
    memcpy(at, part, (size_t)n * v->element);
    if (v->place) memcpy(to_place, place, (size_t)n * v->place);
    memset(to->some + i, 1, (size_t)n);
  } else if (v->place) {
    v->row->best(at, to_place, part, place, n);
  } else {
    v->row->fold(at, part, n);
  }
}

static void ein_fold_row(const ein_moving *v, const ein_sums *to, int64_t i, const char *part, const int64_t *place, int64_t n) {
  for (int64_t k = 0, run; k < n; k += run) {
    for (run = 1; k + run < n && to->some[i + k + run] == to->some[i + k]; run++) {}
    ein_fold_run(v, to, i + k, part + (size_t)k * v->element, v->place ? place + k : NULL, run);
  }
}

/* A parcel's places stand before its elements. */
static void ein_fold(const ein_moving *v, const ein_box *from, const ein_parcel *parcel, const ein_sums *to) {
  const int64_t *place = (const int64_t *)parcel->data;
  const char *part = (const char *)parcel->data + parcel->bytes / (v->element + v->place) * v->place;
  ein_pieces s = ein_pieces_begin(v, from, &v->to);
  ein_piece x;
  while (ein_pieces_next(v, from, &v->to, &s, &x)) {
    int64_t at[EIN_MAX_AXES], n = ein_row_length(v, &x);
    memcpy(at, x.low, sizeof at);
    do {
      int64_t i = 0;
      for (int d = 0; d < v->ndim; d++) i = i * (v->to.high[d] - v->to.low[d]) + at[d] - v->to.low[d];
      ein_fold_row(v, to, i, part, place, n);
      part += (size_t)n * v->element;
      if (v->place) place += n;
    } while (ein_row_next(v, &x, at));
  }
}

/* What has come together of that size goes into the buffer. */
static void ein_sums_store(const ein_moving *v, int buffer, size_t element, const char *from, const unsigned char *some) {
  ein_piece all;
  int64_t at[EIN_MAX_AXES], i = 0, n;
  memcpy(all.low, v->to.low, sizeof all.low);
  memcpy(all.high, v->to.high, sizeof all.high);
  memcpy(at, all.low, sizeof at);
  n = ein_row_length(v, &all);
  do {
    char *to = ein_element(v, buffer, element, &v->to, at, NULL);
    int64_t step = ein_step(v, buffer);
    for (int64_t k = 0; k < n; k++)
      if (some[i + k]) memcpy(to + (size_t)(k * step) * element, from + (size_t)(i + k) * element, element);
    i += n;
  } while (ein_row_next(v, &all, at));
}

static void ein_places_check(const ein_moving *v, const ein_sums *s, int64_t count) {
  int nothing = 0;
  for (int64_t i = 0; i < count; i++) nothing |= s->some[i] && s->place[i] == INT64_MAX;
  if (nothing) ein_error_set(&v->ctx->inside->error, EIN_ERR_INDEX, "an argmax or argmin of nothing");
}

/* Of the group of parts that p is in: its number, by its place along the axes that are combined. */
static int64_t ein_group_of(const ein_moving *v, int p) {
  int64_t at[EIN_MAX_AXES], n = 0;
  ein_site_place(v->mesh, p, at);
  for (int a = 0; a < v->mesh->n; a++)
    if (ein_combines(v->row, a)) n = n * v->mesh->size[a] + at[a];
  return n;
}

static int64_t ein_groups(const ein_moving *v) {
  int64_t n = 1;
  for (int a = 0; a < v->mesh->n; a++)
    if (ein_combines(v->row, a)) n *= v->mesh->size[a];
  return n;
}

static int ein_combine(const ein_moving *v) {
  int64_t count = 1, groups = ein_groups(v);
  ein_sums sums;
  for (int d = 0; d < v->ndim; d++) count *= v->to.high[d] - v->to.low[d];
  sums.at = (char *)malloc((size_t)count * v->element + 1);
  sums.place = (int64_t *)malloc((size_t)count * v->place + 1);
  sums.some = (unsigned char *)calloc((size_t)count + 1, 1);
  int ok = sums.at && sums.place && sums.some;
  for (int64_t g = 0; ok && g < groups; g++)
    for (int k = 0; k < v->n_receive; k++) {
      if (ein_group_of(v, v->receive[k].peer) != g) continue;
      ein_box from = ein_box_of(v->ctx, v->mesh, v->row->from, v->receive[k].peer);
      ein_fold(v, &from, &v->receive[k], &sums);
    }
  if (ok) ein_sums_store(v, v->row->to, v->element, sums.at, sums.some);
  if (ok && v->place) ein_sums_store(v, v->row->place_to, v->place, (const char *)sums.place, sums.some), ein_places_check(v, &sums, count);
  free(sums.at);
  free(sums.place);
  free(sums.some);
  return ok;
}

/* ---- the move ---- */

static void ein_parcel_add(ein_moving *v, ein_parcel *list, int *n, int peer, int64_t elements) {
  ein_parcel *x = &list[*n];
  if (!elements) return;
  x->peer = peer;
  x->bytes = (size_t)elements * (v->element + v->place);
  x->data = malloc(x->bytes);
  v->failed |= !x->data;
  (*n)++;
}

/* What goes where, in the order of sites. */
static void ein_parcels_make(ein_moving *v) {
  for (int p = 0; p < v->sites && !v->failed; p++) {
    ein_box theirs;
    if (v->from.there && ein_asks(v, v->site, p)) {
      theirs = ein_box_of(v->ctx, v->mesh, v->row->to, p);
      ein_parcel_add(v, v->send, &v->n_send, p, ein_shared(v, &v->from, &theirs));
    }
    if (v->to.there && ein_asks(v, p, v->site)) {
      theirs = ein_box_of(v->ctx, v->mesh, v->row->from, p);
      ein_parcel_add(v, v->receive, &v->n_receive, p, ein_shared(v, &theirs, &v->to));
    }
  }
  for (int k = 0; k < v->n_send && !v->failed; k++) {
    ein_box to = ein_box_of(v->ctx, v->mesh, v->row->to, v->send[k].peer);
    char *out = (char *)v->send[k].data;
    if (v->place) out = ein_pack(v, v->row->place_from, v->place, &to, out);
    ein_pack(v, v->row->from, v->element, &to, out);
  }
}

static void ein_parcels_take(ein_moving *v) {
  if (v->row->fold || v->row->best) {
    v->failed |= v->to.there && !ein_combine(v);
    return;
  }
  for (int k = 0; k < v->n_receive; k++) {
    ein_box from = ein_box_of(v->ctx, v->mesh, v->row->from, v->receive[k].peer);
    ein_unpack(v, &from, (const char *)v->receive[k].data);
  }
}

static void ein_moving_end(ein_moving *v) {
  for (int k = 0; v->send && k < v->n_send; k++) free(v->send[k].data);
  for (int k = 0; v->receive && k < v->n_receive; k++) free(v->receive[k].data);
  free(v->send);
  free(v->receive);
}

EIN_API ein_status ein_move(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  ein_inside *in = ctx->inside;
  const ein_wire *wire = in->config.wire;
  if (!wire) return ein_error_set(&in->error, EIN_ERR_ARG, "what is for several sites wants a wire between them");
  ein_moving v;
  memset(&v, 0, sizeof v);
  v.ctx = ctx;
  v.mesh = mesh;
  v.row = &mesh->move[k];
  v.site = wire->site;
  v.sites = wire->sites;
  v.ndim = ein_buffer_of(ctx, v.row->to)->ndim;
  v.element = ein_dtype_size(ein_buffer_of(ctx, v.row->to)->dtype);
  v.place = v.row->best ? sizeof(int64_t) : 0;
  v.from = ein_box_of(ctx, mesh, v.row->from, v.site);
  v.to = ein_box_of(ctx, mesh, v.row->to, v.site);
  v.send = (ein_parcel *)calloc((size_t)v.sites, sizeof *v.send);
  v.receive = (ein_parcel *)calloc((size_t)v.sites, sizeof *v.receive);
  v.failed = !v.send || !v.receive;
  if (!v.failed) ein_parcels_make(&v);
  if (v.failed) ein_error_set(&in->error, EIN_ERR_MEMORY, "no memory for what is moved");
  ein_status status = ein_meet(ctx, ein_settle(ctx), v.n_send, v.send, v.n_receive, v.receive);
  if (status == EIN_OK) ein_parcels_take(&v);
  if (status == EIN_OK && v.failed) ein_error_set(&in->error, EIN_ERR_MEMORY, "no memory for what is moved");
  ein_moving_end(&v);
  return ein_state(ctx);
}

/* ---- who has what, for callers ---- */

EIN_API ein_status ein_argument_block(const void *context, const ein_mesh *mesh, int output, int argument, int site, int64_t *low, int64_t *shape) {
  const ein_ctx *ctx = (const ein_ctx *)context;
  int64_t sites = 1;
  if (!ctx || argument < 0 || argument >= (output ? ctx->inside->tables->n_outputs : ctx->inside->tables->n_inputs)) return EIN_ERR_ARG;
  for (int a = 0; a < mesh->n; a++) sites *= mesh->size[a];
  if (site < 0 || site >= sites) return EIN_ERR_ARG;
  int buffer = output ? ctx->inside->output[argument] : ctx->inside->input[argument];
  ein_box b = ein_box_of(ctx, mesh, buffer, site);
  for (int d = 0; d < ein_buffer_of(ctx, buffer)->ndim; d++) {
    low[d] = b.there ? b.low[d] : 0;
    shape[d] = b.there ? b.high[d] - b.low[d] : 0;
  }
  return EIN_OK;
}
