/* tests/plan/choices.h - all that the axes of a mesh may cut: of vertex k, or, behind the vertices, of the home of a
 * tensor. */
#ifndef CHOICES_H
#define CHOICES_H

#include "plan/placing/placing.h"

static int64_t room_of(const PlaceGraph *g, uint32_t k, int8_t d) {
  uint32_t vertices = g->part->vertices.len;
  return k < vertices ? g->part->vertices.at[k].most[d] : g->tensors.at[k - vertices].most[d];
}

static uint32_t labels_of(const PlaceGraph *g, uint32_t k) {
  uint32_t vertices = g->part->vertices.len;
  return k < vertices ? g->part->vertices.at[k].n_label : g->tensors.at[k - vertices].n;
}

/* The number of calls; 0: some label has not so much room. */
static int64_t calls_of(const PlaceGraph *g, const Mesh *m, uint32_t k, const int8_t *on) {
  int64_t calls = 1;
  for (int8_t d = 0; d < (int8_t)labels_of(g, k); d++) {
    int64_t n = 1;
    for (uint32_t a = 0; a < m->n; a++) n *= on[a] == d ? m->size[a] : 1;
    if (n > room_of(g, k, d)) return 0;
    calls *= n;
  }
  return calls;
}

static bool next_on(const PlaceGraph *g, const Mesh *m, uint32_t k, int8_t *on) {
  for (uint32_t a = 0; a < m->n; a++) {
    if (++on[a] < (int8_t)labels_of(g, k)) return true;
    on[a] = -1;
  }
  return false;
}

/* What a site with the largest block does. */
static double work_of(const PlaceGraph *g, const Mesh *m, uint32_t k, const int8_t *on) {
  const PartVertex *v = &g->part->vertices.at[k];
  double work = v->times * v->point;
  for (int8_t d = 0; d < (int8_t)v->n_label; d++) {
    int64_t n = 1;
    for (uint32_t a = 0; a < m->n; a++) n *= on[a] == d ? m->size[a] : 1;
    work *= (double)((v->extent[d] + n - 1) / n);
  }
  return work;
}

static double least_work(const PlaceGraph *g, const Mesh *m, uint32_t k) {
  int8_t on[MESH_AXES];
  double least = -1;
  for (uint32_t a = 0; a < MESH_AXES; a++) on[a] = -1;
  do {
    double work = calls_of(g, m, k, on) ? work_of(g, m, k, on) : least;
    least = least < 0 || work < least ? work : least;
  } while (next_on(g, m, k, on));
  return least;
}

/* By bytes a plan may have twice as much as the least. */
static double work_most(const PlaceGraph *g, const Mesh *m) {
  double work = 0;
  for (uint32_t i = 0; i < g->part->vertices.len; i++) work += least_work(g, m, i);
  return 2 * work;
}

#endif
