/* graph/eval/eval_size.c - evaluates extents, shapes and buffer sizes: expressions over the given dims. Checks every
 * product for overflow, and every tensor against max_bytes. */
#include <stdlib.h>
#include <string.h>

#include "eval_inside.h"

bool dim_find(const Run *r, Str name, int64_t *out) {
  const EinGraph *g = r->graph;
  for (uint32_t i = 0; i < g->dims.len; i++) {
    if (!g->dims.at[i].known || !str_same(g->dims.at[i].name, name)) continue;
    *out = g->dims.at[i].value;
    return true;
  }
  for (uint32_t i = 0; i < r->eval->n_dim; i++) {
    if (!str_same(r->eval->dim[i].name, name)) continue;
    *out = r->eval->dim[i].value;
    return true;
  }
  return false;
}

bool size_value(Run *r, const Expr *e, Place at, const char *what, Cell *out) {
  if (e->kind == EX_INT) {
    out->i = e->i;
    return true;
  }
  Builder b;
  builder_start(&b, r, NULL, 0, 0);
  Code *c = code_new(&b, e, (DType)e->dtype);
  if (b.failed) return false;
  Frame f = {.reg = b.reg.at};
  code_run(c, &f);
  *out = f.reg[c->result];
  return !f.wrapped || eval_fail(r, EVAL_SHAPE, at, "%s does not fit in 64 bits", what);
}

const char *shape_text(Run *r, uint32_t rank, const int64_t *shape) {
  Buf b = buf_new(r->arena);
  buf_char(&b, '[');
  for (uint32_t d = 0; d < rank; d++) buf_printf(&b, "%s%lld", d ? ", " : "", (long long)shape[d]);
  buf_char(&b, ']');
  return b.s;
}

bool size_count(Run *r, const EinNode *n, EvalArray *a) {
  int64_t bytes = 0, limit = r->eval->max_bytes > 0 ? r->eval->max_bytes : (int64_t)1 << 34;
  bool fits = true, empty = false;
  a->count = 1;
  for (uint32_t d = 0; d < a->rank; d++) {
    empty |= a->shape[d] == 0;
    fits = fits && mul_ok(a->count, a->shape[d], &a->count);
  }
  if (empty) a->count = 0;
  fits = empty || (fits && mul_ok(a->count, (int64_t)cell_size(a->dtype), &bytes));
  if (!fits)
    return eval_fail(r, EVAL_SHAPE, n->place, "%s has shape %s, more elements than 64 bits can count", node_name(r, n),
                     shape_text(r, a->rank, a->shape));
  if (bytes <= limit) return true;
  return eval_fail(r, EVAL_MEMORY, n->place, "%s has shape %s and takes %lld bytes; the limit is %lld", node_name(r, n),
                   shape_text(r, a->rank, a->shape), (long long)bytes, (long long)limit);
}

bool size_of_node(Run *r, const EinNode *n) {
  Held *h = held_of(r, n);
  if (h->sized) return true;
  EvalArray *a = &h->array;
  a->dtype = n->dtype;
  a->rank = n->rank;
  a->shape = NEW_ARRAY(r->arena, int64_t, n->rank + 1);
  for (uint32_t d = 0; d < n->rank; d++) {
    Cell x;
    const char *what = arena_printf(r->arena, "the size of dimension %u of %s", d + 1, node_name(r, n));
    if (!size_value(r, n->dim[d], n->place, what, &x)) return false;
    if (x.i < 0) return eval_fail(r, EVAL_SHAPE, n->place, "%s is %lld, less than 0", what, (long long)x.i);
    a->shape[d] = x.i;
  }
  h->sized = size_count(r, n, a);
  return h->sized;
}

/* Adds bytes to those in use, if the total stays within the limit. */
static bool live_more(Run *r, const EinNode *n, Held *h, int64_t bytes) {
  int64_t most = r->eval->max_live, live;
  if (!add_ok(r->live, bytes, &live) || (most > 0 && live > most))
    return eval_fail(r, EVAL_MEMORY, n->place, "%s takes %lld bytes, with %lld in use; the limit is %lld in all",
                     node_name(r, n), (long long)bytes, (long long)r->live, (long long)most);
  r->live = live;
  h->bytes += bytes;
  return true;
}

bool held_room(Run *r, const EinNode *n, Held *h) {
  size_t count = (size_t)h->array.count + 1, size = cell_size(h->array.dtype);
  if (!h->data) {
    if (!live_more(r, n, h, h->array.count * (int64_t)size)) return false;
    h->data = h->lasting ? arena_alloc(r->eval->arena, count * size) : calloc(count, size);
  }
  h->array.data = h->data;
  h->array.has = NULL;
  return h->data || eval_fail(r, EVAL_MEMORY, n->place, "no memory for %s", node_name(r, n));
}

bool held_mask(Run *r, const EinNode *n, Held *h) {
  if (!h->mask) {
    if (!live_more(r, n, h, h->array.count)) return false;
    h->mask = calloc((size_t)h->array.count + 1, 1);
  }
  return h->mask || eval_fail(r, EVAL_MEMORY, n->place, "no memory for %s", node_name(r, n));
}

bool held_copy(Run *r, const EinNode *n, Held *h, const EvalArray *from) {
  if (!held_room(r, n, h) || (from->has && !held_mask(r, n, h))) return false;
  size_t count = (size_t)h->array.count;
  if (count) memcpy(h->data, from->data, count * cell_size(h->array.dtype));
  if (from->has && count) memcpy(h->mask, from->has, count);
  h->array.has = from->has ? h->mask : NULL;
  return true;
}

void held_drop(Run *r, Held *h) {
  if (!h->lasting) free(h->data);
  free(h->mask);
  r->live -= h->bytes;
  h->bytes = 0;
  h->data = NULL;
  h->mask = NULL;
}
