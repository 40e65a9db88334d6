/* SPDX-License-Identifier: MIT-0 */
/*
 * Moves between sites. In come a mesh's tables (which boxes of a tensor each site has and needs) and the run's
 * context at one site; out go parcels, one per peer, over the context's wire (ein_tensor.h). Data for another
 * site are packed, and unpacked at their destination; contiguous data in a work buffer are sent and received in
 * place. Packed data, and the flags for parts, are in the plan's workspace, where each move has room from its
 * step to its end: a move that starts at its step may complete at its end, while kernels run. Of a move in
 * several rounds, only the first round starts that early.
 *
 * Parts are combined in the order of sites, so the bits are the same in every run. Parts for which a plan has no
 * room at once are cut into slices, which are sent in rounds: in round r, the sites of group g send slice r - g. So
 * a slice meets its parts in order, each site sends and receives in nearly every round, and holds one slice of each
 * part at a time. In an all-reduce, each site combines its share this way; then the shares go to the other sites.
 * Much that one site has and all need goes the same way: a share to each, and then from each to the others. So
 * nobody sends more than twice what each receives.
 */
#include "ein_sites.h"

/* The smallest slice of a part that does not arrive at once, in bytes: smaller ones would need too many messages. Where
 * those of all groups exceed the room, slices are smaller, down to EIN_LEAST. */
#ifndef EIN_MOVE_SLICE
#define EIN_MOVE_SLICE (1 << 16)
#endif
enum { EIN_LEAST = 1 << 12 };

/* The most slices per group of parts, unless they are larger than EIN_LONG: then all groups send in most rounds. */
enum { EIN_SLICES = 4, EIN_LONG = 1 << 22 };

/* A box of the destination; the source has it at the same places less `shift`. */
typedef struct ein_piece {
  int64_t low[EIN_MAX_AXES], high[EIN_MAX_AXES], shift[EIN_MAX_AXES], count;
} ein_piece;

/* The data exchanged: all that a site needs; or, in an all-reduce, first the share that it combines, then the
 * combined shares; or, in a broadcast by shares, first a share, then the other shares. */
typedef enum ein_half { EIN_MOVE_ALL, EIN_MOVE_TO_SHARES, EIN_MOVE_OF_SHARES } ein_half;

typedef struct ein_moving {
  ein_ctx *ctx;
  const ein_mesh *mesh;
  const ein_move_row *row;
  int ndim, site, sites;
  size_t element, place;       /* bytes of an element, and of its place, which is sent with it; 0: none is */
  ein_box from, to;            /* this site's */
  ein_half half;
  int64_t groups, slices, round; /* groups of parts, or places with shares; slices per part, 1: all in one round; the
                                  * round, from 0 */
  int gave;                    /* once shares were given: the buffer of the one site that gave them, and has all; -1:
                                * there is none */
  unsigned char *near;         /* by site: whether it may be a peer; found when measuring */
  ein_parcel *send, *receive;  /* by peer, without this site; peers without data have none */
  int n_send, n_receive;
  ein_ground ground;
  char *base;                  /* the move's memory; NULL: only measure how much it needs */
  size_t used;
  int packed;                  /* what is sent has already been packed */
  unsigned char *some;         /* for parts: whether an element combined here has a value yet, row-major */
} ein_moving;

/* Whether parts are combined along this axis. */
static int ein_combines(const ein_move_row *r, int a) {
  return r->of[a] == EIN_PART && r->onto[a] != EIN_PART;
}

/* Whether the sites along this axis have a share each: of combined parts, or of what one of them has. */
static int ein_shares_along(const ein_move_row *r, int a) {
  return ein_combines(r, a) || (r->shares && r->of[a] == EIN_SOME && r->onto[a] == EIN_ALL);
}

/* Whether site q may get data from site p: each site has its own copies, and its own parts that stay parts; a
 * share comes from the same group, and not to the site that gave it. */
static int ein_asks(const ein_moving *v, int p, int q) {
  int64_t x[EIN_MAX_AXES], y[EIN_MAX_AXES];
  ein_site_place(v->mesh, p, x);
  ein_site_place(v->mesh, q, y);
  for (int a = 0; a < v->mesh->n; a++) {
    int own = v->row->of[a] == EIN_ALL ||
        ((v->row->of[a] == EIN_PART || v->half == EIN_MOVE_OF_SHARES) && !ein_shares_along(v->row, a));
    if (own && x[a] != y[a]) return 0;
  }
  return v->gave < 0 || !ein_box_of(v->ctx, v->mesh, v->gave, q).there;
}

/* The number of the group of parts that contains p, or of its share: its coordinates along the axes with shares. */
static int64_t ein_group_of(const ein_moving *v, int p) {
  int64_t at[EIN_MAX_AXES], n = 0;
  ein_site_place(v->mesh, p, at);
  for (int a = 0; a < v->mesh->n; a++)
    if (ein_shares_along(v->row, a)) n = n * v->mesh->size[a] + at[a];
  return n;
}

static int64_t ein_groups(const ein_moving *v) {
  int64_t n = 1;
  for (int a = 0; a < v->mesh->n; a++)
    if (ein_shares_along(v->row, a)) n *= v->mesh->size[a];
  return n;
}

/* ---- slices of a box ---- */

/* Returns the dimension along which a box is cut into n slices: the first that is long enough, else the
 * longest; -1: it has no dimension. */
static int ein_cut_along(int ndim, const ein_box *b, int64_t n) {
  int longest = -1;
  for (int d = 0; d < ndim; d++) {
    if (b->high[d] - b->low[d] >= n) return d;
    if (longest < 0 || b->high[d] - b->low[d] > b->high[longest] - b->low[longest]) longest = d;
  }
  return longest;
}

/* Slice i of n, of nearly equal sizes; empty if i is out of range. */
static ein_box ein_slice_at(int ndim, const ein_box *b, int64_t i, int64_t n) {
  ein_box x = *b;
  int d = b->there ? ein_cut_along(ndim, b, n) : -1;
  x.there &= i >= 0 && i < n && (d >= 0 || i == 0);
  if (!x.there || d < 0) return x;
  int64_t length = b->high[d] - b->low[d];
  x.low[d] = b->low[d] + length / n * i + length % n * i / n;
  x.high[d] = b->low[d] + length / n * (i + 1) + length % n * (i + 1) / n;
  x.there = x.low[d] < x.high[d];
  return x;
}

static int64_t ein_box_count(const ein_moving *v, const ein_box *b) {
  int64_t n = 1;
  if (!b->there) return 0;
  for (int d = 0; d < v->ndim; d++) n *= b->high[d] - b->low[d];
  return n;
}

/* The number of elements in the largest of n slices. */
static int64_t ein_slice_most(const ein_moving *v, const ein_box *b, int64_t n) {
  int d = b->there ? ein_cut_along(v->ndim, b, n) : -1;
  int64_t length = d < 0 ? 1 : b->high[d] - b->low[d];
  return ein_box_count(v, b) / length * ((length + n - 1) / n);
}

/* The box that site q has after the move; where there are shares, its own. */
static ein_box ein_wanted(const ein_moving *v, int q) {
  ein_box b = ein_box_of(v->ctx, v->mesh, v->row->to, q);
  return v->half == EIN_MOVE_ALL ? b : ein_slice_at(v->ndim, &b, ein_group_of(v, q), v->groups);
}

/* The box that site p sends to site q in this round; when measuring, in all rounds. */
static ein_box ein_due(const ein_moving *v, int p, int q) {
  ein_box b = ein_wanted(v, v->half == EIN_MOVE_OF_SHARES ? p : q);
  return v->slices == 1 || !v->base ? b : ein_slice_at(v->ndim, &b, v->round - ein_group_of(v, p), v->slices);
}

/* Returns the number of slices per part, the same at all sites. With fewer slices than groups, most sites would
 * be idle in most rounds. */
static int64_t ein_slices(const ein_moving *v) {
  int64_t at_once = v->mesh->room / v->groups, most = 0, slices, many, whole;
  if (v->groups == 1 || !(v->row->fold || v->row->best)) return 1;
  for (int q = 0; q < v->sites; q++) {
    ein_box b = ein_wanted(v, q);
    int64_t n = ein_box_count(v, &b);
    most = n > most ? n : most;
  }
  most *= (int64_t)(v->element + v->place);
  if (most <= at_once) return 1;
  whole = (most * v->groups + v->mesh->room - 1) / v->mesh->room;
  if (at_once < EIN_LEAST) at_once = EIN_LEAST;
  slices = most / (at_once < EIN_MOVE_SLICE ? at_once : EIN_MOVE_SLICE);
  many = most / EIN_LONG;
  if (many < EIN_SLICES * v->groups) many = EIN_SLICES * v->groups;
  if (many < whole) many = whole;
  if (slices > many) slices = many;
  return slices < v->groups ? 1 : slices;
}

/* ---- the intersection of two boxes ---- */

static int64_t ein_floor(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* The range of laps around the end of dimension d in which the boxes intersect: from *first up to, not
 * including, *end. */
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

typedef struct ein_pieces { /* an iterator's state */
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

/* Advances to the next nonempty piece; 0: there is none. */
static int ein_pieces_next(const ein_moving *v, const ein_box *from, const ein_box *to, ein_pieces *s, ein_piece *x) {
  while (s->more) {
    int some = ein_piece_at(v, from, to, s->lap, x), d = v->ndim;
    while (d > 0 && ++s->lap[d - 1] == s->end[d - 1]) s->lap[d - 1] = s->first[d - 1], d--;
    s->more = d > 0;
    if (some) return 1;
  }
  return 0;
}

/* When measuring, the most elements of it in one round. */
static int64_t ein_shared(const ein_moving *v, const ein_box *from, const ein_box *to) {
  ein_pieces s = ein_pieces_begin(v, from, to);
  ein_piece x;
  int64_t n = 0;
  while (ein_pieces_next(v, from, to, &s, &x)) n += x.count;
  if (v->base || v->slices == 1) return n;
  int64_t most = ein_slice_most(v, to, v->slices);
  return n < most ? n : most;
}

/* ---- rows of a piece ---- */

/* Advances over a piece's rows along the last dimension: at[] is the place of the row's first element. Returns
 * 0 after the last row. */
static int ein_row_next(const ein_moving *v, const ein_piece *x, int64_t *at) {
  int d = v->ndim - 1;
  while (d > 0 && ++at[d - 1] == x->high[d - 1]) at[d - 1] = x->low[d - 1], d--;
  return d > 0;
}

static int64_t ein_row_length(const ein_moving *v, const ein_piece *x) {
  return v->ndim ? x->high[v->ndim - 1] - x->low[v->ndim - 1] : 1;
}

/* The address of the element at `at`, less the shift, in a buffer that holds the box `own`. */
static char *ein_element(
    const ein_moving *v, int buffer, size_t element, const ein_box *own, const int64_t *at, const int64_t *shift) {
  const int64_t *stride = v->ground.stride + ein_buffer_of(v->ctx, buffer)->at;
  int64_t offset = 0;
  for (int d = 0; d < v->ndim; d++) offset += (at[d] - (shift ? shift[d] : 0) - own->low[d]) * stride[d];
  return (char *)v->ground.data[buffer] + offset * (int64_t)element;
}

static int64_t ein_step(const ein_moving *v, int buffer) {
  const ein_buffer *b = ein_buffer_of(v->ctx, buffer);
  return v->ndim ? v->ground.stride[b->at + v->ndim - 1] : 1;
}

/* Copies a piece, given the addresses of its first element. */
static void ein_piece_copy(const ein_moving *v, size_t element, const ein_piece *x, char *to, const int64_t *to_step,
    const char *from, const int64_t *from_step) {
  int64_t extent[EIN_MAX_AXES];
  for (int d = 0; d < v->ndim; d++) extent[d] = x->high[d] - x->low[d];
  ein_boxes(v->ctx, v->ground.far, element, 1, NULL, v->ndim, extent, to, to_step, from, from_step);
}

/* The steps in a packed piece. */
static void ein_packed_steps(const ein_moving *v, const ein_piece *x, int64_t *step) {
  int64_t extent[EIN_MAX_AXES];
  for (int d = 0; d < v->ndim; d++) extent[d] = x->high[d] - x->low[d];
  ein_row_major(v->ndim, extent, step);
}

static const int64_t *ein_steps(const ein_moving *v, int buffer) {
  return v->ground.stride + ein_buffer_of(v->ctx, buffer)->at;
}

/* Packs what another site needs of our buffer, piece after piece. Returns the end. */
static char *ein_pack(const ein_moving *v, int buffer, size_t element, const ein_box *to, char *out) {
  ein_pieces s = ein_pieces_begin(v, &v->from, to);
  ein_piece x;
  int64_t step[EIN_MAX_AXES];
  for (; ein_pieces_next(v, &v->from, to, &s, &x); out += (size_t)x.count * element) {
    ein_packed_steps(v, &x, step);
    ein_piece_copy(
        v, element, &x, out, step, ein_element(v, buffer, element, &v->from, x.low, x.shift), ein_steps(v, buffer));
  }
  return out;
}

/* in: the packed data received for the box `due`; NULL: they are this site's own. */
static void ein_unpack(const ein_moving *v, const ein_box *from, const ein_box *due, const char *in) {
  ein_pieces s = ein_pieces_begin(v, from, due);
  ein_piece x;
  int64_t step[EIN_MAX_AXES];
  while (ein_pieces_next(v, from, due, &s, &x)) {
    ein_packed_steps(v, &x, step);
    ein_piece_copy(v, v->element, &x, ein_element(v, v->row->to, v->element, &v->to, x.low, NULL),
        ein_steps(v, v->row->to), in ? in : ein_element(v, v->row->from, v->element, from, x.low, x.shift),
        in ? step : ein_steps(v, v->row->from));
    if (in) in += (size_t)x.count * v->element;
  }
}

/* ---- parts ---- */

/* n elements of parts or of combined results, at a step, and their places. */
typedef struct ein_run_of { char *at; int64_t step, *place, place_step; } ein_run_of;

static ein_run_of ein_run_at(
    const ein_moving *v, int buffer, int places, const ein_box *own, const int64_t *at, const int64_t *shift) {
  ein_run_of r;
  r.at = ein_element(v, buffer, v->element, own, at, shift);
  r.step = ein_step(v, buffer);
  r.place = v->place ? (int64_t *)(void *)ein_element(v, places, v->place, own, at, shift) : NULL;
  r.place_step = v->place ? ein_step(v, places) : 1;
  return r;
}

static void ein_fold_run(
    const ein_moving *v, const ein_run_of *to, const ein_run_of *part, int64_t i, int64_t n, int some) {
  char *at = to->at + i * to->step * (int64_t)v->element;
  const char *in = part->at + i * part->step * (int64_t)v->element;
  int64_t *place = v->place ? to->place + i * to->place_step : NULL,
          *in_place = v->place ? part->place + i * part->place_step : NULL;
  if (!some) {
    memcpy(at, in, (size_t)n * v->element);
    if (v->place) memcpy(place, in_place, (size_t)n * v->place);
  } else if (v->place) {
    v->row->best(at, place, in, in_place, n);
  } else {
    v->row->fold(at, in, n);
  }
}

/* some: whether these n elements have values. What is not dense is done one by one. */
static void ein_fold_row(
    const ein_moving *v, const ein_run_of *to, const ein_run_of *part, unsigned char *some, int64_t n) {
  int dense = to->step == 1 && part->step == 1 && to->place_step == 1 && part->place_step == 1;
  for (int64_t k = 0, run; k < n; k += run) {
    for (run = 1; dense && k + run < n && some[k + run] == some[k]; run++) {}
    ein_fold_run(v, to, part, k, run, some[k]);
    memset(some + k, 1, (size_t)run);
  }
}

static int64_t ein_number_in(const ein_moving *v, const ein_box *b, const int64_t *at) {
  int64_t i = 0;
  for (int d = 0; d < v->ndim; d++) i = i * (b->high[d] - b->low[d]) + at[d] - b->low[d];
  return i;
}

/* Combines site p's part of this round into the result here. In a parcel, places come before elements. NULL:
 * the part is this site's own. */
static void ein_fold(const ein_moving *v, const ein_box *all, int p, const ein_parcel *parcel) {
  ein_box own = ein_box_of(v->ctx, v->mesh, v->row->from, p), due = ein_due(v, p, v->site), *from = &own;
  ein_pieces s = ein_pieces_begin(v, from, &due);
  ein_piece x;
  ein_run_of part = {NULL, 1, NULL, 1};
  if (parcel)
    part.place = (int64_t *)parcel->data,
    part.at = (char *)parcel->data + parcel->bytes / (v->element + v->place) * v->place;
  while (ein_pieces_next(v, from, &due, &s, &x)) {
    int64_t at[EIN_MAX_AXES], n = ein_row_length(v, &x);
    memcpy(at, x.low, sizeof at);
    do {
      ein_run_of to = ein_run_at(v, v->row->to, v->row->place_to, &v->to, at, NULL);
      if (!parcel) part = ein_run_at(v, v->row->from, v->row->place_from, from, at, x.shift);
      ein_fold_row(v, &to, &part, v->some + ein_number_in(v, all, at), n);
      if (parcel) part.at += (size_t)n * v->element, part.place += v->place ? n : 0;
    } while (ein_row_next(v, &x, at));
  }
}

static void ein_places_check(const ein_moving *v, const ein_box *own) {
  ein_piece all;
  int64_t at[EIN_MAX_AXES], i = 0, n;
  int nothing = 0;
  if (!own->there) return;
  memcpy(all.low, own->low, sizeof all.low);
  memcpy(all.high, own->high, sizeof all.high);
  memcpy(at, all.low, sizeof at);
  n = ein_row_length(v, &all);
  do {
    ein_run_of to = ein_run_at(v, v->row->to, v->row->place_to, &v->to, at, NULL);
    for (int64_t k = 0; k < n; k++) nothing |= v->some[i + k] && to.place[k * to.place_step] == INT64_MAX;
    i += n;
  } while (ein_row_next(v, &all, at));
  if (nothing) ein_error_set(&v->ctx->inside->error, EIN_ERR_INDEX, "an argmax or argmin of nothing");
}

/* Combines what has arrived in a round, in the order of groups; in a sliced move, each group sends a different
 * slice. */
static void ein_combine(const ein_moving *v) {
  ein_box all = ein_wanted(v, v->site);
  int64_t own = ein_group_of(v, v->site);
  for (int64_t g = 0; g < v->groups; g++) {
    for (int k = 0; k < v->n_receive; k++)
      if (ein_group_of(v, v->receive[k].peer) == g) ein_fold(v, &all, v->receive[k].peer, &v->receive[k]);
    if (g == own) ein_fold(v, &all, v->site, NULL);
  }
}

/* ---- a move's memory ---- */

static char *ein_room(ein_moving *v, size_t bytes) {
  char *at = v->base ? v->base + v->used : NULL;
  v->used += (bytes + EIN_ALIGN - 1) / EIN_ALIGN * EIN_ALIGN;
  return at;
}

static int ein_combined(const ein_moving *v) {
  return v->row->fold || v->row->best;
}

/* Whether the intersection of the boxes is one piece that is contiguous in `own`, the box of a work buffer;
 * then *x is that piece. */
static int ein_straight(
    const ein_moving *v, int buffer, const ein_box *from, const ein_box *to, const ein_box *own, ein_piece *x) {
  ein_pieces s = ein_pieces_begin(v, from, to);
  ein_piece second;
  int whole = 1;
  if (ein_combined(v) || ein_buffer_of(v->ctx, buffer)->space != 2) return 0;
  if (!ein_pieces_next(v, from, to, &s, x) || ein_pieces_next(v, from, to, &s, &second)) return 0;
  for (int d = v->ndim; d-- > 0;) {
    int64_t n = x->high[d] - x->low[d];
    if (!whole && n != 1) return 0;
    whole &= n == own->high[d] - own->low[d];
  }
  return 1;
}

/* A number that is equal for sites that get the same data according to their placements: their coordinates,
 * with 0 along axes where all get everything. */
static int ein_alike(const ein_moving *v, int q) {
  int64_t at[EIN_MAX_AXES];
  int n = 0;
  ein_site_place(v->mesh, q, at);
  for (int a = 0; a < v->mesh->n; a++) n = n * v->mesh->size[a] + (v->row->onto[a] == EIN_ALL ? 0 : (int)at[a]);
  return n;
}

/* Whether a packed parcel has the data for a site that needs the box `theirs`; -1: there is no parcel. */
static int ein_packed_for(const ein_moving *v, const ein_box *theirs, int parcel) {
  if (parcel < 0) return 0;
  ein_box other = ein_due(v, v->site, v->send[parcel].peer);
  return ein_box_same(v->ndim, theirs, &other);
}

/* ---- the move ---- */

static void ein_send_add(ein_moving *v, int q) {
  ein_box theirs = ein_due(v, v->site, q);
  int64_t n = ein_shared(v, &v->from, &theirs);
  int *alike = &v->ctx->inside->among.alike[ein_alike(v, q)];
  ein_parcel *x = &v->send[v->n_send];
  ein_piece one;
  if (!n) return;
  v->n_send++;
  x->peer = q;
  x->bytes = (size_t)n * (v->element + v->place);
  x->data = NULL;
  if (ein_straight(v, v->row->from, &v->from, &theirs, &v->from, &one)) {
    if (v->base) x->data = ein_element(v, v->row->from, v->element, &v->from, one.low, one.shift);
  } else if (ein_packed_for(v, &theirs, *alike - 1)) {
    x->data = v->send[*alike - 1].data;
  } else {
    char *out = ein_room(v, x->bytes);
    x->data = out;
    *alike = v->n_send;
    if (v->base && v->place && !v->packed) out = ein_pack(v, v->row->place_from, v->place, &theirs, out);
    if (v->base && !v->packed) ein_pack(v, v->row->from, v->element, &theirs, out);
  }
}

static void ein_receive_add(ein_moving *v, int p) {
  ein_box theirs = ein_box_of(v->ctx, v->mesh, v->row->from, p), due = ein_due(v, p, v->site);
  int64_t n = ein_shared(v, &theirs, &due);
  ein_parcel *x = &v->receive[v->n_receive];
  ein_piece one;
  if (!n) return;
  v->n_receive++;
  x->peer = p;
  x->bytes = (size_t)n * (v->element + v->place);
  x->data = NULL;
  if (!ein_straight(v, v->row->to, &theirs, &due, &v->to, &one)) x->data = ein_room(v, x->bytes);
  else if (v->base) x->data = ein_element(v, v->row->to, v->element, &v->to, one.low, NULL);
}

/* Makes a round's parcels, in the order of sites. The flags for parts come first in the move's memory. When measuring,
 * all sites are looked at, and later those that had a parcel then. */
static void ein_parcels_make(ein_moving *v) {
  memset(v->ctx->inside->among.alike, 0, (size_t)v->sites * sizeof(int));
  v->n_send = v->n_receive = 0;
  v->used = 0;
  if (ein_combined(v)) {
    ein_box all = ein_wanted(v, v->site);
    v->some = (unsigned char *)ein_room(v, (size_t)ein_box_count(v, &all));
  }
  for (int p = 0; p < v->sites; p++) {
    int before = v->n_send + v->n_receive;
    if (p == v->site || (v->base && !v->near[p])) continue;
    if (v->from.there && ein_asks(v, v->site, p)) ein_send_add(v, p);
    if (v->to.there && ein_asks(v, p, v->site)) ein_receive_add(v, p);
    v->near[p] |= v->n_send + v->n_receive > before;
  }
}

static void ein_parcels_take(ein_moving *v) {
  ein_piece one;
  if (!v->to.there) return;
  if (ein_combined(v)) {
    ein_combine(v);
    return;
  }
  for (int k = 0; k < v->n_receive; k++) {
    int p = v->receive[k].peer;
    ein_box from = ein_box_of(v->ctx, v->mesh, v->row->from, p), due = ein_due(v, p, v->site);
    if (!ein_straight(v, v->row->to, &from, &due, &v->to, &one))
      ein_unpack(v, &from, &due, (const char *)v->receive[k].data);
  }
  if (v->half != EIN_MOVE_OF_SHARES) ein_unpack(v, &v->from, &v->to, NULL);
}

/* k: the move's number; its row, or that of its second half. */
static ein_moving ein_moving_begin(
    ein_ctx *ctx, const ein_mesh *mesh, int k, const ein_move_row *row, ein_half half, char *base) {
  ein_inside *in = ctx->inside;
  ein_moving v;
  memset(&v, 0, sizeof v);
  v.ctx = ctx;
  v.mesh = mesh;
  v.row = row;
  v.site = in->config.wire->site;
  v.sites = in->config.wire->sites;
  v.ndim = ein_buffer_of(ctx, row->to)->ndim;
  v.element = ein_dtype_size(ein_buffer_of(ctx, row->to)->dtype);
  v.place = row->best ? sizeof(int64_t) : 0;
  v.from = ein_box_of(ctx, mesh, row->from, v.site);
  v.to = ein_box_of(ctx, mesh, row->to, v.site);
  v.half = half;
  v.gave = -1;
  v.groups = ein_groups(&v);
  v.slices = ein_slices(&v);
  v.near = in->among.near + (size_t)k * (size_t)v.sites;
  v.send = in->among.parcel;
  v.receive = in->among.parcel + v.sites;
  v.ground = ein_ground_of(ctx);
  v.base = base;
  return v;
}

/* The move that sends shares to the other sites: values, or their places. */
static ein_move_row ein_shares_row(const ein_move_row *r, int buffer) {
  ein_move_row x = *r;
  x.from = x.to = buffer;
  x.fold = NULL;
  x.best = NULL;
  x.wrap = NULL;
  return x;
}

/* The buffer of the site that gave shares; -1: they were combined. */
static int ein_gave(const ein_move_row *row) {
  return row->fold || row->best ? -1 : row->from;
}

static size_t ein_staged_half(
    ein_ctx *ctx, const ein_mesh *mesh, int k, const ein_move_row *row, ein_half half, int gave) {
  ein_moving v = ein_moving_begin(ctx, mesh, k, row, half, NULL);
  v.gave = gave;
  ein_parcels_make(&v);
  return v.used;
}

EIN_API int64_t ein_staged(ein_ctx *ctx, int k) {
  if (!ctx->inside->config.wire) return 0;
  const ein_mesh *mesh = ctx->inside->tables->mesh;
  const ein_move_row *row = &mesh->move[k];
  size_t sites = (size_t)ctx->inside->config.wire->sites;
  memset(ctx->inside->among.near + (size_t)k * sites, 0, sites);
  size_t most = ein_staged_half(ctx, mesh, k, row, row->shares ? EIN_MOVE_TO_SHARES : EIN_MOVE_ALL, -1);
  for (int places = 0; row->shares && places <= (row->best != NULL); places++) {
    ein_move_row shares = ein_shares_row(row, places ? row->place_to : row->to);
    size_t used = ein_staged_half(ctx, mesh, k, &shares, EIN_MOVE_OF_SHARES, ein_gave(row));
    most = used > most ? used : most;
  }
  return (int64_t)most;
}

/* Completes the first round of a move that has begun, or does a whole round. */
static ein_status ein_move_round(ein_moving *v, int begun) {
  const ein_wire *wire = v->ctx->inside->config.wire;
  v->packed = begun >= 0 && v->round == 0;
  ein_parcels_make(v);
  if (!v->packed) return ein_meet(v->ctx, ein_settle(v->ctx), v->n_send, v->send, v->n_receive, v->receive);
  v->ctx->inside->among.under_way--;
  if (ein_met(v->ctx, wire->finish(wire->user, begun)) == EIN_OK && v->ground.far)
    v->ground.far->back(v->ctx, begun + 1, v->n_send, v->n_receive, v->receive);
  return ein_state(v->ctx);
}

/* Does one half of a move. begun: the move's number, if its first half has begun; -1: it has not. */
static ein_status ein_move_half(ein_ctx *ctx, const ein_mesh *mesh, int k, const ein_move_row *row, ein_half half,
    int gave, char *base, int begun) {
  ein_moving v = ein_moving_begin(ctx, mesh, k, row, half, base);
  v.gave = gave;
  int64_t rounds = v.slices == 1 ? 1 : v.slices + v.groups - 1;
  ein_box all = ein_wanted(&v, v.site);
  for (; v.round < rounds; v.round++) {
    if (ein_move_round(&v, begun) != EIN_OK) return ein_state(ctx);
    if (v.round == 0 && v.some) memset(v.some, 0, (size_t)ein_box_count(&v, &all));
    ein_parcels_take(&v);
  }
  if (v.place) ein_places_check(&v, &all);
  return ein_state(ctx);
}

static char *ein_move_room(const ein_inside *in, int k) {
  const ein_memory *m = &in->memory;
  if (in->among.ground) return in->among.ground->room[k];
  return (char *)(m->workspace ? m->workspace : m->nothing) + in->laid.offset[in->laid.n_work + k];
}

static ein_half ein_first_half(const ein_move_row *row) {
  return row->shares ? EIN_MOVE_TO_SHARES : EIN_MOVE_ALL;
}

static ein_status ein_move_rest(ein_ctx *ctx, const ein_mesh *mesh, int k, int begun) {
  ein_inside *in = ctx->inside;
  const ein_move_row *row = &mesh->move[k];
  char *base = ein_move_room(in, k);
  ein_status status = ein_move_half(ctx, mesh, k, row, ein_first_half(row), -1, base, begun);
  for (int places = 0; row->shares && !in->among.parted && places <= (row->best != NULL); places++) {
    ein_move_row shares = ein_shares_row(row, places ? row->place_to : row->to);
    status = ein_move_half(ctx, mesh, k, &shares, EIN_MOVE_OF_SHARES, ein_gave(row), base, -1);
  }
  return status;
}

EIN_API ein_status ein_move(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  ein_inside *in = ctx->inside;
  if (!in->config.wire)
    return ein_error_set(&in->error, EIN_ERR_ARG, "a program for several sites needs a wire");
  return ein_move_rest(ctx, mesh, k, -1);
}

/* If the wire cannot transfer in the background, the whole move is done here. */
EIN_API ein_status ein_move_start(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  ein_inside *in = ctx->inside;
  const ein_move_row *row = &mesh->move[k];
  const ein_wire *wire = in->config.wire;
  if (!wire || !wire->start) return ein_move(ctx, mesh, k);
  ein_moving v = ein_moving_begin(ctx, mesh, k, row, ein_first_half(row), ein_move_room(in, k));
  ein_parcels_make(&v);
  ein_parcel *send = v.send, *receive = v.receive;
  if (ein_settle(ctx) != EIN_OK) return ein_state(ctx);
  if (v.ground.far) {
    if (!v.ground.far->lend(ctx, k + 1, v.n_send, v.send, v.n_receive, v.receive, &send)) return ein_state(ctx);
    receive = send + v.n_send;
  }
  ein_status status = wire->start(wire->user, k, v.n_send, send, v.n_receive, receive);
  in->among.under_way += status == EIN_OK;
  return ein_met(ctx, status);
}

EIN_API ein_status ein_move_finish(ein_ctx *ctx, const ein_mesh *mesh, int k) {
  const ein_wire *wire = ctx->inside->config.wire;
  return wire && wire->start ? ein_move_rest(ctx, mesh, k, k) : ein_state(ctx);
}

/* ---- blocks, for callers ---- */

EIN_API ein_status ein_argument_block(
    const void *context, const ein_mesh *mesh, int output, int argument, int site, int64_t *low, int64_t *shape) {
  const ein_ctx *ctx = (const ein_ctx *)context;
  int64_t sites = 1;
  if (!ctx || argument < 0 || argument >= (output ? ctx->inside->tables->n_outputs : ctx->inside->tables->n_inputs))
    return EIN_ERR_ARG;
  for (int a = 0; a < mesh->n; a++) sites *= mesh->size[a];
  if (site < 0 || site >= sites) return EIN_ERR_ARG;
  int buffer = output ? ctx->inside->args.output[argument] : ctx->inside->args.input[argument];
  ein_box b = ein_box_of(ctx, mesh, buffer, site);
  for (int d = 0; d < ein_buffer_of(ctx, buffer)->ndim; d++) {
    low[d] = b.there ? b.low[d] : 0;
    shape[d] = b.there ? b.high[d] - b.low[d] : 0;
  }
  return EIN_OK;
}
