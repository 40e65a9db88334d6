/* SPDX-License-Identifier: MIT-0 */
/*
 * Shared internals of moves and fetches (ein_move.c, ein_fetch.c): which box of a tensor each site has.
 */
#ifndef EIN_SITES_H
#define EIN_SITES_H

#include "ein_inside.h"

typedef struct ein_box {
  int there;                   /* whether the site has any of it */
  int64_t low[EIN_MAX_AXES], high[EIN_MAX_AXES];
} ein_box;

EIN_INLINE void ein_site_place(const ein_mesh *m, int site, int64_t *at) {
  for (int a = m->n; a-- > 0; site /= m->size[a]) at[a] = site % m->size[a];
}

EIN_INLINE ein_box ein_box_of(const ein_ctx *ctx, const ein_mesh *mesh, int buffer, int site) {
  ein_box b;
  int64_t at[EIN_MAX_AXES];
  ein_error error;
  ein_plan plan;
  error.status = EIN_OK;
  plan.error = &error;
  plan.wrapped = 0;
  ein_site_place(mesh, site, at);
  b.there = mesh->box(&plan, at, buffer, b.low, b.high);
  for (int d = 0; d < ein_buffer_of(ctx, buffer)->ndim; d++) b.there &= b.high[d] > b.low[d];
  return b;
}

EIN_INLINE int ein_box_same(int ndim, const ein_box *a, const ein_box *b) {
  for (int d = 0; d < ndim; d++)
    if (a->low[d] != b->low[d] || a->high[d] != b->high[d]) return 0;
  return a->there && b->there;
}

/* Where this run's moves find tensors. */
EIN_INLINE ein_ground ein_ground_of(const ein_ctx *ctx) {
  ein_ground g;
  if (ctx->inside->among.ground) return *ctx->inside->among.ground;
  g.data = ctx->data;
  g.stride = ctx->stride;
  g.room = NULL;
  g.far = NULL;
  return g;
}

/* Copies n elements, with a step on each side. */
EIN_INLINE void ein_copy_row(size_t e, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) {
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, (size_t)n * e);
    return;
  }
  for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)(i * to_step) * e, from + (size_t)(i * from_step) * e, e);
}

EIN_INLINE void ein_box_copy(size_t element, int n, const int64_t *extent, char *to, const int64_t *to_step,
    const char *from, const int64_t *from_step) {
  int64_t at[EIN_MAX_AXES] = {0};
  int last = n - 1;
  for (;;) {
    int64_t i = 0, k = 0;
    for (int d = 0; d < last; d++) i += at[d] * to_step[d], k += at[d] * from_step[d];
    ein_copy_row(element, to + i * (int64_t)element, n ? to_step[last] : 1, from + k * (int64_t)element,
        n ? from_step[last] : 1, n ? extent[last] : 1);
    int d = last;
    while (d > 0 && ++at[d - 1] == extent[d - 1]) at[d - 1] = 0, d--;
    if (d <= 0) return;
  }
}

/* Copies boxes, like ein_far's function, on the host or the device. Errors are recorded in the context. No
 * extent is 0. */
EIN_INLINE void ein_boxes(ein_ctx *ctx, const ein_far *far, size_t element, int64_t many, const int64_t *at, int n,
    const int64_t *extent, void *to, const int64_t *to_step, const void *from, const int64_t *from_step) {
  if (far) {
    if (many) far->boxes(ctx, element, many, at, n, extent, to, to_step, from, from_step);
    return;
  }
  for (int64_t i = 0; i < many; i++)
    ein_box_copy(element, n, extent, (char *)to + (at ? at[2 * i] : 0) * (int64_t)element, to_step,
                 (const char *)from + (at ? at[2 * i + 1] : 0) * (int64_t)element, from_step);
}

#endif
