/* plan/placing/least.c - a lower bound on a site's memory: however a plan places tensors, in however many panels,
 * and whatever is kept inside kernels. It shows that a limit cannot be kept. The bound is the average over sites, so
 * some site needs it. */
#include "fit.h"

double memory_least(const PlaceGraph *g, int64_t sites) {
  double all = 0;
  for (uint32_t t = 0; t < g->tensors.len; t++)
    if (g->tensors.at[t].node->kind == EIN_INPUT) all += g->tensors.at[t].bytes;
  vec_each(const PartKept, o, g->part->kept) {
    double bytes = dtype_size(o->node->dtype);
    for (uint32_t d = 0; d < o->node->rank; d++) bytes *= (double)o->extent[d];
    all += bytes;
  }
  return all / (double)sites;
}
