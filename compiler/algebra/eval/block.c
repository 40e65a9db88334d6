/* algebra/eval/block.c - arrays of tuples: elements of all dtypes, boxes, cutting, and laying side by side. */
#include "block.h"

#include <string.h>

#include "ein_rt.h"
#include "expr/prove/asked.h"

/* ---- elements ---------------------------------------------------------------------------------------- */

static Value real_value(DType t, double x) {
  return (Value){.dtype = t, .f = x};
}

static Value int_value(DType t, int64_t x) {
  return (Value){.dtype = t, .i = x};
}

Value element_load(const void *data, DType t, int64_t k) {
  switch (t) {
  case DT_F64: return real_value(t, ((const double *)data)[k]);
  case DT_F32: return real_value(t, (double)((const float *)data)[k]);
  case DT_F16: return real_value(t, (double)ein_f16_to_f32(((const uint16_t *)data)[k]));
  case DT_BF16: return real_value(t, (double)ein_bf16_to_f32(((const uint16_t *)data)[k]));
  case DT_I64: return int_value(t, ((const int64_t *)data)[k]);
  case DT_I32: return int_value(t, ((const int32_t *)data)[k]);
  case DT_I16: return int_value(t, ((const int16_t *)data)[k]);
  case DT_I8: return int_value(t, ((const int8_t *)data)[k]);
  case DT_U8: return int_value(t, ((const uint8_t *)data)[k]);
  case DT_BOOL: return int_value(t, ((const uint8_t *)data)[k] != 0);
  case DTYPES: break;
  }
  bug("algebra: no dtype %d", (int)t);
}

void element_store(void *data, DType t, int64_t k, Value v) {
  switch (t) {
  case DT_F64: ((double *)data)[k] = v.f; return;
  case DT_F32: ((float *)data)[k] = (float)v.f; return;
  case DT_F16: ((uint16_t *)data)[k] = ein_f32_to_f16((float)v.f); return;
  case DT_BF16: ((uint16_t *)data)[k] = ein_f32_to_bf16((float)v.f); return;
  case DT_I64: ((int64_t *)data)[k] = v.i; return;
  case DT_I32: ((int32_t *)data)[k] = (int32_t)v.i; return;
  case DT_I16: ((int16_t *)data)[k] = (int16_t)v.i; return;
  case DT_I8: ((int8_t *)data)[k] = (int8_t)v.i; return;
  case DT_U8: ((uint8_t *)data)[k] = (uint8_t)v.i; return;
  case DT_BOOL: ((uint8_t *)data)[k] = v.i != 0; return;
  case DTYPES: break;
  }
  bug("algebra: no dtype %d", (int)t);
}

/* ---- boxes ------------------------------------------------------------------------------------------- */

bool box_count(uint32_t rank, const int64_t *low, const int64_t *high, int64_t most, int64_t *out) {
  int64_t n = 1, size;
  bool fits = true;
  for (uint32_t d = 0; d < rank; d++) {
    if (high[d] <= low[d]) return *out = 0, true;
    fits = fits && sub_ok(high[d], low[d], &size) && mul_ok(n, size, &n) && n <= most;
  }
  *out = n;
  return fits;
}

Block block_make(Arena *a, DType t, bool places, uint32_t rank, const int64_t *low, const int64_t *high) {
  Block b = {.dtype = t, .rank = rank, .low = arena_copy(a, low, rank * sizeof *low)};
  int64_t *to = arena_copy(a, high, rank * sizeof *high);
  for (uint32_t d = 0; d < rank; d++)
    if (to[d] < low[d]) to[d] = low[d];
  b.high = to;
  BUG_UNLESS(box_count(rank, low, high, INT64_MAX, &b.count));
  b.data = arena_alloc(a, arena_array_size((size_t)dtype_size(t), (size_t)b.count));
  if (places) b.place = NEW_ARRAY(a, int64_t, b.count);
  return b;
}

void block_mask(Arena *a, Block *b) {
  if (b->has) return;
  b->has = NEW_ARRAY(a, uint8_t, b->count);
  memset(b->has, HAS_VALUE, (size_t)b->count);
}

bool block_box_is(const Block *b, uint32_t rank, const int64_t *low, const int64_t *high) {
  int64_t n;
  if (b->rank != rank || !box_count(rank, low, high, INT64_MAX, &n) || n != b->count) return false;
  for (uint32_t d = 0; n && d < rank; d++)
    if (b->low[d] != low[d] || b->high[d] != high[d]) return false;
  return true;
}

double block_bytes(const Block *b) {
  return (double)b->count * (dtype_size(b->dtype) + (b->place ? 8 : 0));
}

/* ---- parts of a block ---------------------------------------------------------------------------------- */

/* Walks a box inside a block, one row of the last dimension at a time. */
typedef struct Rows {
  const Block *whole;
  const int64_t *low, *high; /* of the part */
  int64_t *at;               /* where the row begins */
  int64_t row;               /* its elements */
} Rows;

/* False: the box has no elements. */
static bool rows_start(Arena *a, Rows *r, const Block *whole, const int64_t *low, const int64_t *high) {
  int64_t n;
  uint32_t rank = whole->rank;
  *r = (Rows){.whole = whole, .low = low, .high = high, .at = arena_copy(a, low, rank * sizeof *low)};
  r->row = rank ? high[rank - 1] - low[rank - 1] : 1;
  return box_count(rank, low, high, INT64_MAX, &n) && n > 0;
}

static int64_t rows_offset(const Rows *r) {
  int64_t at = 0;
  for (uint32_t d = 0; d < r->whole->rank; d++)
    at = at * (r->whole->high[d] - r->whole->low[d]) + r->at[d] - r->whole->low[d];
  return at;
}

static bool rows_next(Rows *r) {
  for (uint32_t d = r->whole->rank ? r->whole->rank - 1 : 0; d-- > 0;) {
    if (++r->at[d] < r->high[d]) return true;
    r->at[d] = r->low[d];
  }
  return false;
}

static void elements_copy(Block *to, int64_t t, const Block *from, int64_t f, int64_t n) {
  size_t size = (size_t)dtype_size(to->dtype);
  memcpy((char *)to->data + (size_t)t * size, (const char *)from->data + (size_t)f * size, (size_t)n * size);
  if (to->place) memcpy(to->place + t, from->place + f, (size_t)n * sizeof *to->place);
  if (to->has && from->has) memcpy(to->has + t, from->has + f, (size_t)n);
  else if (to->has) memset(to->has + t, HAS_VALUE, (size_t)n);
}

static bool box_within(const Block *b, const int64_t *low, const int64_t *high) {
  for (uint32_t d = 0; d < b->rank; d++)
    if (low[d] < b->low[d] || high[d] > b->high[d]) return false;
  return true;
}

Block block_cut(Arena *a, const Block *b, const int64_t *low, const int64_t *high) {
  Block out = block_make(a, b->dtype, b->place != NULL, b->rank, low, high);
  Rows r;
  int64_t k = 0;
  if (b->has) out.has = NEW_ARRAY(a, uint8_t, out.count);
  if (!rows_start(a, &r, b, out.low, out.high)) return out;
  BUG_UNLESS(box_within(b, out.low, out.high));
  do {
    elements_copy(&out, k, b, rows_offset(&r), r.row);
    k += r.row;
  } while (rows_next(&r));
  return out;
}

bool block_paste(Arena *a, Block *b, const Block *part, uint8_t *there) {
  Rows r;
  int64_t k = 0;
  if (!part->count) return true;
  if (!box_within(b, part->low, part->high)) return false;
  if (part->has) block_mask(a, b);
  rows_start(a, &r, b, part->low, part->high);
  do {
    int64_t at = rows_offset(&r);
    elements_copy(b, at, part, k, r.row);
    for (int64_t i = at; there && i < at + r.row; i++) there[i] = (uint8_t)(there[i] + (there[i] < UINT8_MAX));
    k += r.row;
  } while (rows_next(&r));
  return true;
}

/* By element of a box, its index in b. */
static int64_t place_of(const Block *b, const int64_t *at, const bool *place) {
  int64_t k = 0;
  for (uint32_t d = 0; d < b->rank; d++)
    if (place[d]) k = k * (b->high[d] - b->low[d]) + at[d] - b->low[d];
  return k;
}

/* All elements along the last dimension have the index of the first. */
static bool last_says(const Block *b, const bool *place) { return b->rank && place[b->rank - 1]; }

void block_ask_slices(
    Arena *a, const Block *b, uint8_t *asked, const bool *place, const int64_t *from, const int64_t *to) {
  Rows r;
  bool each = last_says(b, place);
  uint8_t *met = NEW_ARRAY(a, uint8_t, b->count + 1);
  if (!rows_start(a, &r, b, b->low, b->high)) return;
  do {
    int64_t at = rows_offset(&r), first = place_of(b, r.at, place);
    for (int64_t k = 0; k < r.row; k++) met[first + (each ? k : 0)] |= asked[at + k];
  } while (rows_next(&r));
  if (!rows_start(a, &r, b, from, to)) return;
  do {
    int64_t at = rows_offset(&r), first = place_of(b, r.at, place);
    for (int64_t k = 0; k < r.row; k++) asked[at + k] |= met[first + (each ? k : 0)];
  } while (rows_next(&r));
}

double block_asked(
    Arena *a, const Block *b, const uint8_t *asked, const int64_t *low, const int64_t *high, const bool *place) {
  Rows r;
  int64_t places = 1, elements = 0, asks = 0;
  uint32_t indices = 0;
  for (uint32_t d = 0; d < b->rank; d++)
    places *= place[d] && high[d] > low[d] ? high[d] - low[d] : 1, indices += place[d];
  if (!rows_start(a, &r, b, low, high)) return 0;
  uint8_t *met = NEW_ARRAY(a, uint8_t, places);
  do {
    int64_t at = rows_offset(&r), first = 0;
    uint32_t last = b->rank ? b->rank - 1 : 0;
    for (uint32_t d = 0; d < b->rank; d++)
      if (place[d]) first = first * (high[d] - low[d]) + r.at[d] - low[d];
    for (int64_t k = 0; k < r.row; k++) {
      int64_t at_place = first + (b->rank && place[last] ? k : 0);
      if (!asked[at + k]) continue;
      elements++;
      asks += !met[at_place];
      met[at_place] = 1;
    }
  } while (rows_next(&r));
  return (double)elements * dtype_size(b->dtype) + (double)asks * indices * (double)ASKED_INDEX;
}
