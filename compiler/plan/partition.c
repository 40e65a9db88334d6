/* plan/partition.c - the costs of partition vectors exactly as in the paper. Where a count does not divide an
 * extent, all blocks count as the largest. */
#include "partition.h"

double part_block(int64_t extent, uint32_t count) {
  return (double)(extent > 0 ? (extent - 1) / count + 1 : 0);
}

bool part_read_has(const PartRead *r, uint32_t label) {
  for (uint32_t k = 0; k < r->rank; k++)
    if (r->label[k] == (int32_t)label) return true;
  return false;
}

double part_points_of(const PartVertex *v, const double *values) {
  double points = 1;
  for (uint32_t l = 0; l < v->n_label; l++) points *= values[l];
  if (!v->ties) return points;
  if (v->ties->n && points > 0) points = ties_points(v->ties, v->n_label, values);
  return v->kept < points ? v->kept : points;
}

double part_points(const PartVertex *v, const uint32_t *d) {
  double values[GRAPH_LABELS + 1];
  for (uint32_t l = 0; l < v->n_label; l++) values[l] = part_block(v->extent[l], d ? d[l] : 1);
  return part_points_of(v, values);
}

double part_join(const PartVertex *v, const uint32_t *d) {
  double calls = 1, all = 0;
  for (uint32_t l = 0; l < v->n_label; l++) calls *= d[l];
  vec_each(const PartRead, r, v->reads) {
    double n = r->call ? 1 : 0;
    for (uint32_t k = 0; k < r->rank; k++) n *= part_block(r->extent[k], r->label[k] < 0 ? 1 : d[r->label[k]]);
    all += n;
  }
  return calls * all;
}

double part_aggregate(const PartVertex *v, const uint32_t *d) {
  double groups = 1, together = 1, n = 1;
  for (uint32_t l = 0; l < v->n_label; l++) {
    if (l >= v->n_out) together *= d[l];
    else groups *= d[l], n *= part_block(v->extent[l], d[l]);
  }
  return groups * (together - 1) * n;
}

/* In the paper's terms, with n_c, n_p and n_int elements of a reader's block, a maker's block, and their
 * intersection: (n_c/n_int - 1) * n/n_c * (n_c + n_p), and n_p * n/n_c if n_p != n_int. Here n/n_c is the product of
 * the reader's counts, and that times n_c/n_int the product of the larger counts; n_p is n_int where the maker has
 * these counts. The code compares counts, not sizes: where counts do not divide an extent, blocks differ by an
 * element. */
double part_move(uint32_t rank, const int64_t *extent, const uint32_t *reader, const uint32_t *maker) {
  double blocks = 1, finer = 1, n_c = 1, n_p = 1;
  bool whole = true; /* n_p == n_int */
  for (uint32_t k = 0; k < rank; k++) {
    blocks *= reader[k];
    finer *= reader[k] > maker[k] ? reader[k] : maker[k];
    n_c *= part_block(extent[k], reader[k]);
    n_p *= part_block(extent[k], maker[k]);
    whole &= maker[k] >= reader[k];
  }
  return (finer - blocks) * (n_c + n_p) + (whole ? 0 : n_p * blocks);
}

double part_repartition(const PartRead *r, const uint32_t *d, const uint32_t *dz) {
  uint32_t reader[GRAPH_OUT + 1], maker[GRAPH_OUT + 1];
  for (uint32_t k = 0; k < r->rank; k++) {
    reader[k] = r->label[k] < 0 ? 1 : d[r->label[k]];
    maker[k] = r->made[k] < 0 ? 1 : dz[r->made[k]];
  }
  return part_move(r->rank, r->extent, reader, maker);
}

PartCost part_cost_vertex(const PartGraph *g, uint32_t vertex, const uint32_t *const *d) {
  const PartVertex *v = &g->vertices.at[vertex];
  PartCost c = {.join = v->times * part_join(v, d[vertex]), .aggregate = v->times * part_aggregate(v, d[vertex])};
  vec_each(const PartRead, r, v->reads)
    if (r->from >= 0) c.repartition += r->times * part_repartition(r, d[vertex], d[r->from]);
  c.all = c.join + c.aggregate + c.repartition;
  return c;
}

PartCost part_cost(const PartGraph *g, const uint32_t *const *d) {
  PartCost c = {0};
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    PartCost v = part_cost_vertex(g, i, d);
    c.join += v.join;
    c.aggregate += v.aggregate;
    c.repartition += v.repartition;
    c.all += v.all;
  }
  return c;
}
