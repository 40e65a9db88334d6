/* SPDX-License-Identifier: MIT-0 */
/*
 * Fetches: reads elements at places in data, X[T[s], d], from whichever site has them. In come the indices of
 * each point, computed by a kernel; out go, for each point, the elements at its place along the table's other
 * dimensions. This takes two rounds over the wire. First, a site asks for each distinct place once, for each
 * block that contains part of it and is not its own; then it is answered. Points at places that no site has are
 * left as they are; their readers check first.
 */
#include "ein_sites.h"

#include <stdlib.h>

typedef struct ein_asking {
  ein_ctx *ctx;
  const ein_mesh *mesh;
  const ein_fetch_row *row;
  const ein_wire *wire;
  ein_ground ground;
  const int64_t *point;        /* the indices, on the host; */
  int64_t *brought;            /*   a copy for that, or NULL */
  int64_t *begins;             /* where each of the copied boxes begins */
  int ndim;                    /* of the table */
  size_t element;
  ein_box own, to;             /* this site's block of the table; the box of the result */
  int64_t n_point, n_place;    /* the number of points, and of distinct places; */
  int64_t *place, *first;      /*   each place's indices, and its first point; */
  int64_t *of;                 /*   each point's place */
  int *block;                  /* the sites that are asked, one per block, */
  int n_block;                 /*   in order */
  int64_t *asks, *asked;       /* by site: how many places this site asks it for; how many it asks this site for */
  int64_t *question, *questions; /* the questions sent, by site; the questions received */
  ein_parcel *send, *receive;
  char *answer, *answers;      /* the answers sent; the answers received */
} ein_asking;

/* The intersection of a box of the result and a block of the table, along the dimensions without an index.
 * Every place has it. */
typedef struct ein_slice { int n; int64_t low[EIN_MAX_AXES], extent[EIN_MAX_AXES], count; } ein_slice;

static ein_slice ein_slice_of(const ein_asking *v, const ein_box *to, const ein_box *block) {
  ein_slice x;
  x.n = 0;
  x.count = to->there && block->there;
  for (int d = 0; d < v->ndim; d++) {
    int k = v->row->n_point + x.n;
    if (v->row->index[d] >= 0) continue;
    int64_t low = to->low[k] > block->low[d] ? to->low[k] : block->low[d],
            high = to->high[k] < block->high[d] ? to->high[k] : block->high[d];
    x.low[x.n] = low;
    x.extent[x.n++] = high - low;
    x.count *= high > low ? high - low : 0;
  }
  return x;
}

static int ein_has_place(const ein_asking *v, const ein_box *block, const int64_t *place) {
  for (int d = 0; d < v->ndim; d++) {
    int k = v->row->index[d];
    if (k >= 0 && (place[k] < block->low[d] || place[k] >= block->high[d])) return 0;
  }
  return 1;
}

/* ---- distinct places ---- */

static const int64_t *ein_point_at(const ein_asking *v, int64_t point) {
  const ein_buffer *b = ein_buffer_of(v->ctx, v->row->points);
  const int64_t *shape = v->ctx->shape + b->at, *stride = v->ground.stride + b->at;
  int64_t offset = 0;
  for (int d = v->row->n_point; d-- > 0; point /= shape[d]) offset += point % shape[d] * stride[d];
  return v->point + offset;
}

/* Makes the indices accessible on the host. */
static int ein_points_bring(ein_asking *v) {
  size_t bytes = (size_t)v->ctx->inside->count[v->row->points] * sizeof *v->point;
  v->point = (const int64_t *)v->ground.data[v->row->points];
  if (!v->ground.far || !v->n_point) return 1;
  v->point = v->brought = (int64_t *)malloc(bytes + 1);
  return v->brought && v->ground.far->bring(v->ctx, v->brought, v->ground.data[v->row->points], bytes);
}

/* The distance between one point's indices. An input may have any strides; a kernel's result is dense. */
static int64_t ein_index_step(const ein_asking *v) {
  const ein_buffer *b = ein_buffer_of(v->ctx, v->row->points);
  return b->ndim > v->row->n_point ? v->ground.stride[b->at + v->row->n_point] : 0;
}

static uint64_t ein_place_hash(const int64_t *place, int n) {
  uint64_t h = 0;
  for (int i = 0; i < n; i++) {
    h = (h ^ (uint64_t)place[i]) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

/* Returns the number of a place, adding it if it is new. `met` is a hash table of place numbers, -1 if empty;
 * its size is a power of two. */
static int64_t ein_place_number(ein_asking *v, const int64_t *place, int64_t point, int64_t *met, uint64_t mask) {
  int n = v->row->n_index;
  for (uint64_t h = ein_place_hash(place, n) & mask;; h = (h + 1) & mask) {
    int64_t i = met[h];
    if (i >= 0 && memcmp(v->place + i * n, place, (size_t)n * sizeof *place) == 0) return i;
    if (i >= 0) continue;
    i = met[h] = v->n_place++;
    memcpy(v->place + i * n, place, (size_t)n * sizeof *place);
    v->first[i] = point;
    return i;
  }
}

static int ein_places_find(ein_asking *v) {
  int64_t place[EIN_MAX_AXES], step = ein_index_step(v);
  int n = v->row->n_index;
  uint64_t mask = 1;
  while (mask < 2 * (uint64_t)v->n_point) mask = 2 * mask + 1;
  size_t points = (size_t)v->n_point + 1;
  int64_t *met = (int64_t *)malloc((size_t)(mask + 1) * sizeof *met);
  v->place = (int64_t *)malloc(points * (size_t)n * sizeof *v->place);
  v->first = (int64_t *)malloc(points * sizeof *v->first);
  v->of = (int64_t *)malloc(points * sizeof *v->of);
  int ok = met && v->place && v->first && v->of;
  if (ok) memset(met, -1, (size_t)(mask + 1) * sizeof *met);
  for (int64_t p = 0; ok && p < v->n_point; p++) {
    const int64_t *at = ein_point_at(v, p);
    for (int i = 0; i < n; i++) place[i] = at[i * step];
    v->of[p] = ein_place_number(v, place, p, met, mask);
  }
  free(met);
  return ok;
}

/* ---- who is asked ---- */

/* Among the sites that have the same block, returns the k-th. For k < 0, returns how many there are, or 0 if a
 * site before `site` has the block. */
static int ein_among(const ein_asking *v, const ein_box *block, int site, int k) {
  int n = 0;
  for (int q = 0; q < v->wire->sites; q++) {
    ein_box other = ein_box_of(v->ctx, v->mesh, v->row->table, q);
    if (!ein_box_same(v->ndim, block, &other)) continue;
    if (k < 0 && q < site) return 0;
    if (n++ == k) return q;
  }
  return n;
}

/* For each block that is not its own, a site asks one of the sites that have it; different sites ask different
 * ones. */
static void ein_blocks_find(ein_asking *v) {
  for (int q = 0; q < v->wire->sites; q++) {
    ein_box block = ein_box_of(v->ctx, v->mesh, v->row->table, q);
    int n = block.there && !ein_box_same(v->ndim, &block, &v->own) ? ein_among(v, &block, q, -1) : 0;
    if (n && ein_slice_of(v, &v->to, &block).count) v->block[v->n_block++] = ein_among(v, &block, q, v->wire->site % n);
  }
}

/* ---- questions ---- */

static int64_t ein_questions_of(const ein_asking *v, int site, int64_t *out) {
  ein_box block = ein_box_of(v->ctx, v->mesh, v->row->table, site);
  int64_t n = 0;
  for (int64_t i = 0; i < v->n_place; i++) {
    const int64_t *place = v->place + i * v->row->n_index;
    if (!ein_has_place(v, &block, place)) continue;
    if (out) memcpy(out + n * v->row->n_index, place, (size_t)v->row->n_index * sizeof *place);
    n++;
  }
  return n;
}

static void ein_parcels_lay(
    ein_parcel *list, int sites, char *data, const int64_t *count, const int64_t *each, int *n) {
  *n = 0;
  for (int q = 0; q < sites; q++) {
    if (!count[q] || !each[q]) continue;
    list[*n].peer = q;
    list[*n].data = data;
    list[*n].bytes = (size_t)(count[q] * each[q]);
    data += list[(*n)++].bytes;
  }
}

static int64_t ein_bytes_of(int sites, const int64_t *count, const int64_t *each) {
  int64_t n = 0;
  for (int q = 0; q < sites; q++) n += count[q] * each[q];
  return n;
}

/* One round over the wire. each[q]: bytes per item. there: the data lie where tensors do; otherwise on the host. */
static ein_status ein_round(ein_asking *v, int there, ein_status mine, char *send, const int64_t *n_send,
    const int64_t *send_each, char *receive, const int64_t *n_receive, const int64_t *receive_each) {
  int a, b, sites = v->wire->sites;
  ein_parcels_lay(v->send, sites, send, n_send, send_each, &a);
  ein_parcels_lay(v->receive, sites, receive, n_receive, receive_each, &b);
  if (there) return ein_meet(v->ctx, mine, a, v->send, b, v->receive);
  return mine != EIN_OK ? mine : ein_met(v->ctx, v->wire->exchange(v->wire->user, a, v->send, b, v->receive));
}

/* ---- answers ---- */

/* Returns where the slice at a place begins in this site's block, and the block's steps in `step`. */
static int64_t ein_table_at(const ein_asking *v, const int64_t *place, const ein_slice *x, int64_t *step) {
  const int64_t *stride = v->ground.stride + ein_buffer_of(v->ctx, v->row->table)->at;
  int64_t offset = 0;
  for (int d = 0, s = 0; d < v->ndim; d++) {
    int k = v->row->index[d];
    offset += ((k >= 0 ? place[k] : x->low[s]) - v->own.low[d]) * stride[d];
    if (k < 0) step[s++] = stride[d];
  }
  return offset;
}

static int64_t ein_result_row(const ein_asking *v) {
  int64_t n = 1;
  for (int k = v->row->n_point; k < ein_buffer_of(v->ctx, v->row->to)->ndim; k++) n *= v->to.high[k] - v->to.low[k];
  return n;
}

static int64_t ein_result_at(const ein_asking *v, int64_t point, const ein_slice *x, int64_t *step) {
  const int64_t *stride = v->ground.stride + ein_buffer_of(v->ctx, v->row->to)->at + v->row->n_point;
  int64_t offset = point * ein_result_row(v);
  for (int k = 0; k < x->n; k++)
    offset += (x->low[k] - v->to.low[v->row->n_point + k]) * stride[k], step[k] = stride[k];
  return offset;
}

/* Copies `many` boxes, which begin where `begins` says. */
static void ein_slices_copy(const ein_asking *v, int64_t many, const ein_slice *x, void *to, const int64_t *to_step,
    const void *from, const int64_t *from_step) {
  if (x->count)
    ein_boxes(v->ctx, v->ground.far, v->element, many, v->begins, x->n, x->extent, to, to_step, from, from_step);
}

static void ein_answers_give(const ein_asking *v, const int64_t *each) {
  const int64_t *place = v->questions;
  char *out = v->answer;
  for (int q = 0; q < v->wire->sites; q++) {
    if (!v->asked[q]) continue;
    ein_box to = ein_box_of(v->ctx, v->mesh, v->row->to, q);
    ein_slice x = ein_slice_of(v, &to, &v->own);
    int64_t packed[EIN_MAX_AXES], step[EIN_MAX_AXES];
    ein_row_major(x.n, x.extent, packed);
    for (int64_t i = 0; i < v->asked[q]; i++, place += v->row->n_index) {
      v->begins[2 * i] = i * x.count;
      v->begins[2 * i + 1] = ein_table_at(v, place, &x, step);
    }
    ein_slices_copy(v, v->asked[q], &x, out, packed, v->ground.data[v->row->table], step);
    out += v->asked[q] * each[q];
  }
}

static void ein_answers_take(const ein_asking *v) {
  const char *in = v->answers;
  for (int q = 0; q < v->wire->sites; q++) {
    if (!v->asks[q]) continue;
    ein_box block = ein_box_of(v->ctx, v->mesh, v->row->table, q);
    ein_slice x = ein_slice_of(v, &v->to, &block);
    int64_t packed[EIN_MAX_AXES], step[EIN_MAX_AXES], n = 0;
    ein_row_major(x.n, x.extent, packed);
    for (int64_t i = 0; i < v->n_place; i++) {
      if (!ein_has_place(v, &block, v->place + i * v->row->n_index)) continue;
      v->begins[2 * n] = ein_result_at(v, v->first[i], &x, step);
      v->begins[2 * n + 1] = n * x.count;
      n++;
    }
    ein_slices_copy(v, n, &x, v->ground.data[v->row->to], step, in, packed);
    in += n * x.count * (int64_t)v->element;
  }
}

static void ein_own_take(const ein_asking *v) {
  ein_slice x = ein_slice_of(v, &v->to, &v->own);
  int64_t step[EIN_MAX_AXES], to_step[EIN_MAX_AXES], n = 0;
  for (int64_t i = 0; x.count && i < v->n_place; i++) {
    const int64_t *place = v->place + i * v->row->n_index;
    if (!ein_has_place(v, &v->own, place)) continue;
    v->begins[2 * n + 1] = ein_table_at(v, place, &x, step);
    v->begins[2 * n++] = ein_result_at(v, v->first[i], &x, to_step);
  }
  if (n) ein_slices_copy(v, n, &x, v->ground.data[v->row->to], to_step, v->ground.data[v->row->table], step);
}

/* Copies what a place's first point received to the other points at that place. */
static void ein_points_share(const ein_asking *v) {
  ein_slice x;
  const int64_t one = 1;
  int64_t n = 0, row = ein_result_row(v);
  for (int64_t p = 0; p < v->n_point; p++) {
    int64_t first = v->first[v->of[p]];
    if (first == p) continue;
    v->begins[2 * n] = p * row;
    v->begins[2 * n++ + 1] = first * row;
  }
  x.n = 1;
  x.extent[0] = x.count = row;
  ein_slices_copy(v, n, &x, v->ground.data[v->row->to], &one, v->ground.data[v->row->to], &one);
}

/* ---- the fetch ---- */

static int ein_asking_begin(ein_asking *v) {
  size_t sites = (size_t)v->wire->sites;
  v->n_point = v->to.there;
  for (int d = 0; d < v->row->n_point && v->to.there; d++) v->n_point *= v->to.high[d] - v->to.low[d];
  v->block = (int *)malloc(sites * sizeof *v->block);
  v->asks = (int64_t *)calloc(sites, sizeof *v->asks);
  v->asked = (int64_t *)calloc(sites, sizeof *v->asked);
  v->send = (ein_parcel *)malloc(sites * sizeof *v->send);
  v->receive = (ein_parcel *)malloc(sites * sizeof *v->receive);
  if (!v->block || !v->asks || !v->asked || !v->send || !v->receive || !ein_points_bring(v) || !ein_places_find(v))
    return 0;
  ein_blocks_find(v);
  int64_t all = 0;
  for (int k = 0; k < v->n_block; k++) all += v->asks[v->block[k]] = ein_questions_of(v, v->block[k], NULL);
  v->question = (int64_t *)malloc((size_t)(all * v->row->n_index + 1) * sizeof *v->question);
  int64_t *out = v->question;
  for (int q = 0; q < v->wire->sites && out; q++)
    if (v->asks[q]) out += ein_questions_of(v, q, out) * v->row->n_index;
  return v->question != NULL;
}

/* Allocates memory where tensors lie. */
static char *ein_answers_new(const ein_asking *v, int64_t bytes) {
  return (char *)(v->ground.far ? v->ground.far->take(v->ctx, (size_t)bytes + 1) : malloc((size_t)bytes + 1));
}

/* Allocates room for the origins of as many boxes as the longest list has. */
static int ein_begins_new(ein_asking *v) {
  int64_t most = v->n_point + 1;
  for (int q = 0; q < v->wire->sites; q++) most = v->asked[q] > most ? v->asked[q] : most;
  v->begins = (int64_t *)malloc(2 * (size_t)most * sizeof *v->begins);
  return v->begins != NULL;
}

static void ein_asking_end(ein_asking *v) {
  void *all[] = {v->place, v->first, v->of, v->block, v->asks, v->asked, v->question, v->questions, v->send, v->receive,
      v->brought, v->begins, v->ground.far ? NULL : v->answer, v->ground.far ? NULL : v->answers};
  if (v->ground.far) v->ground.far->drop(v->ctx, v->answer), v->ground.far->drop(v->ctx, v->answers);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* This site's status: its error, or that there was no memory. */
static ein_status ein_asking_status(const ein_asking *v, int ok) {
  if (!ok) ein_error_set(&v->ctx->inside->error, EIN_ERR_MEMORY, "no memory for fetched elements");
  return ein_settle(v->ctx);
}

/* each: room for the bytes of one question by site, asked and received, then for those of one answer. */
static ein_status ein_rounds(ein_asking *v, int64_t *ask_each, int64_t *answer_each) {
  int sites = v->wire->sites, ok = ein_asking_begin(v) && ask_each && answer_each;
  ein_status status = ein_asking_status(v, ok);
  if (status == EIN_OK) status = ein_met(v->ctx, v->wire->counts(v->wire->user, v->asks, v->asked));
  if (status != EIN_OK) return status;
  for (int q = 0; q < sites; q++) ask_each[q] = answer_each[q] = (int64_t)sizeof(int64_t) * v->row->n_index;
  v->questions = (int64_t *)malloc((size_t)ein_bytes_of(sites, v->asked, ask_each) + 1);
  status = ein_round(v, 0, ein_asking_status(v, v->questions != NULL), (char *)v->question, v->asks, ask_each,
      (char *)v->questions, v->asked, answer_each);
  if (status != EIN_OK) return status;
  for (int q = 0; q < sites; q++) {
    ein_box block = ein_box_of(v->ctx, v->mesh, v->row->table, q), to = ein_box_of(v->ctx, v->mesh, v->row->to, q);
    ask_each[q] = v->asks[q] ? ein_slice_of(v, &v->to, &block).count * (int64_t)v->element : 0;
    answer_each[q] = v->asked[q] ? ein_slice_of(v, &to, &v->own).count * (int64_t)v->element : 0;
  }
  v->answer = ein_answers_new(v, ein_bytes_of(sites, v->asked, answer_each));
  v->answers = ein_answers_new(v, ein_bytes_of(sites, v->asks, ask_each));
  ok = v->answer && v->answers && ein_begins_new(v);
  if (ok) ein_answers_give(v, answer_each);
  return ein_round(v, 1, ein_asking_status(v, ok), v->answer, v->asked, answer_each, v->answers, v->asks, ask_each);
}

EIN_API ein_status ein_fetch(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  ein_inside *in = ctx->inside;
  const ein_wire *wire = in->config.wire;
  if (!wire || !wire->counts)
    return ein_error_set(&in->error, EIN_ERR_ARG, "a program for several sites needs a wire");
  ein_asking v;
  memset(&v, 0, sizeof v);
  v.ctx = ctx;
  v.mesh = mesh;
  v.row = &mesh->fetch[k];
  v.wire = wire;
  v.ground = ein_ground_of(ctx);
  v.ndim = ein_buffer_of(ctx, v.row->table)->ndim;
  v.element = ein_dtype_size(ein_buffer_of(ctx, v.row->table)->dtype);
  v.own = ein_box_of(ctx, mesh, v.row->table, wire->site);
  v.to = ein_box_of(ctx, mesh, v.row->to, wire->site);
  int64_t *each = (int64_t *)malloc(2 * (size_t)wire->sites * sizeof *each);
  ein_status status = ein_rounds(&v, each, each ? each + wire->sites : NULL);
  if (status == EIN_OK) {
    ein_own_take(&v);
    ein_answers_take(&v);
    ein_points_share(&v);
  }
  free(each);
  ein_asking_end(&v);
  return ein_state(ctx);
}
