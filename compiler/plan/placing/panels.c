/* plan/placing/panels.c - seconds of the operands of a vertex that is done in panels (task/sites/panels.c): what is not
 * hidden behind its kernels.
 *
 * The first panel is waited for. Each further one comes while the kernel on the one before runs, if memory has room for
 * both, and costs what it takes longer than that. What comes in pieces is put together by the site itself. Whether an
 * operand comes in panels is decided as the tasks do: it moves for this vertex alone, as often as that is computed, and
 * has the label along one dimension. */
#include "inside.h"
#include "reach.h"

/* Whether they want the tensor in the same placement. */
static bool wants_too(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k, const Placement *to) {
  double times;
  Placement its = placing_wanted(g, p, i, k, &times);
  return placement_equal(&p->mesh, &its, to);
}

/* Another vertex needs the same. */
static bool is_shared(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t tensor, const Placement *to) {
  for (uint32_t i = 0; i < g->part->vertices.len; i++)
    for (uint32_t k = 0; i != vertex && k < g->part->vertices.at[i].reads.len; k++)
      if (g->tensor[i][k] == tensor && wants_too(g, p, i, k, to)) return true;
  return false;
}

/* The dimension of the tensor along which the read has the label; -1: none, or not that alone. */
static int32_t along(const PartRead *r, const PlaceTensor *t, uint32_t label) {
  int32_t found = -1;
  for (uint32_t d = 0; d < r->rank; d++) {
    if (r->label[d] != (int32_t)label) continue;
    int32_t its = t->vertex < 0 ? (int32_t)d : r->made[d];
    if (found >= 0 || its < 0 || t->extent[its] != r->extent[d]) return -1;
    found = its;
  }
  return found;
}

int32_t panels_along(const PlaceGraph *g, uint32_t vertex, uint32_t read, uint32_t label) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  const PartRead *r = &v->reads.at[read];
  uint32_t tensor = g->tensor[vertex][read];
  const PlaceTensor *t = &g->tensors.at[tensor];
  if (!r->call || !reach_is_plain(g, vertex, read) || r->times < v->times || turns_in(t, r) > 1) return -1;
  int32_t d = along(r, t, label);
  for (uint32_t k = 0; k < v->reads.len; k++)
    if (g->tensor[vertex][k] == tensor && along(&v->reads.at[k], t, label) != d) return -1;
  return d;
}

int32_t placing_panelled(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read) {
  uint32_t tensor = g->tensor[vertex][read];
  double times;
  if (!p->panels || !p->panels[vertex].n) return -1;
  int32_t d = panels_along(g, vertex, read, p->panels[vertex].label);
  if (d < 0) return -1;
  Placement to = placing_wanted(g, p, vertex, read, &times);
  return placement_within(&p->mesh, &p->home[tensor], &to) || is_shared(g, p, vertex, tensor, &to) ? -1 : d;
}

double panels_seconds(const PlaceGraph *g, const Seconds *s, const Links *l, const Placing *p, uint32_t vertex) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  double ahead = 0, apart = 0, copied = 0, times;
  if (!p->panels || !p->panels[vertex].n) return 0;
  const PlacePanels *x = &p->panels[vertex];
  for (uint32_t k = 0; k < v->reads.len; k++) {
    int32_t d = placing_panelled(g, p, vertex, k);
    if (d < 0) continue;
    const PlaceTensor *t = &g->tensors.at[g->tensor[vertex][k]];
    const Placement *home = &p->home[g->tensor[vertex][k]], to = placing_wanted(g, p, vertex, k, &times);
    double size = dtype_size(t->node->dtype);
    *(x->apart >> (k < 63 ? k : 63) & 1 ? &apart : &ahead) += links_panel(l, t->n, t->extent, size, home, &to, d, x->n);
    copied += links_together(l, t->n, t->extent, size, home, &to);
  }
  double kernel = v->times > 0 ? placing_kernels(g, s, p, vertex) / v->times / x->n : 0;
  double more = ahead > kernel ? ahead - kernel : 0;
  return v->times * (ahead + apart + (x->n - 1) * (apart + more) + copied);
}
