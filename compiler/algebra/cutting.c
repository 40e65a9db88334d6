/* algebra/cutting.c - turns a plan into the form that the lowerings (from_graph.h, from_tra.h) need: counts for
 * vertices, for homes, and for inputs as stored. */
#include "from_graph.h"

Cutting cutting_of_counts(const PlaceGraph *places, const uint32_t *const *d) {
  return (Cutting){.places = places, .d = d};
}

static uint32_t *home_counts(Arena *a, const Mesh *m, const PlaceTensor *t, const Placement *at) {
  uint32_t *count = NEW_ARRAY(a, uint32_t, t->n + 1);
  for (uint32_t k = 0; k < t->n; k++) count[k] = placement_count(m, at, (int8_t)k);
  return count;
}

Cutting cutting_of_placing(Arena *a, const PlaceGraph *places, const Placing *placing) {
  uint32_t vertices = places->part->vertices.len, tensors = places->tensors.len;
  const uint32_t **d = NEW_ARRAY(a, const uint32_t *, vertices + 1),
                 **home = NEW_ARRAY(a, const uint32_t *, tensors + 1),
                 **stored = NEW_ARRAY(a, const uint32_t *, tensors + 1);
  Placement *at = NEW_ARRAY(a, Placement, tensors + 1);
  for (uint32_t i = 0; i < vertices; i++) {
    uint32_t *count = NEW_ARRAY(a, uint32_t, places->part->vertices.at[i].n_label + 1);
    placing_counts(places, placing, i, count);
    d[i] = count;
  }
  for (uint32_t i = 0; i < tensors; i++) {
    const PlaceTensor *t = &places->tensors.at[i];
    home[i] = home_counts(a, &placing->mesh, t, &placing->home[i]);
    at[i] = place_stored(&placing->mesh, t->n, t->most, &placing->home[i]);
    stored[i] = home_counts(a, &placing->mesh, t, &at[i]);
  }
  return (Cutting){places, d, home, stored, placing, at, 0};
}
