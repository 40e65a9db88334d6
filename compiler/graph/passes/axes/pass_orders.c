/* graph/passes/axes/pass_orders.c - gives values that nobody sees the order of axes in which maps read them:
 *
 *     T[j,i] = X[i,j]                          T[i,j] = X[i,j]
 *     m[i] = max[j] T[j,i]                     m[i] = max[j] T[i,j]
 *     L[j,i] = T[j,i] - m[i]                   L[i,j] = T[i,j] - m[i]
 *     Y[i,j] = L[j,i]                          Y[i,j] = L[i,j]
 *
 * So T and Y become copies, which later passes read through. It goes from the results back: a map wants the axes of
 * what it reads in the order of its own labels. Reductions read in any order. A value that two maps want in different
 * orders stays, and so does one that is read at a point, along a diagonal, or along two labels at once. So does a sum
 * of products, unless it is only copied, or its points are put where data say: a map of it joins its tiles, whichever
 * way they go. */
#include "permute.h"

enum { RANK_LEAST = 2 };

typedef struct Orders {
  Rebuild b;
  bool *fixed;               /* by id: it cannot change */
  uint32_t **order;          /* by id: the old axis at each new one; NULL: no map has read it, or it is unchanged */
} Orders;

/* The place of each label among the axes that the vertex gets; false: it is no map. */
static bool places_of(const Orders *c, const EinNode *n, uint32_t *place) {
  const uint32_t *order = c->order[n->id];
  if (n->sum->by || n->sum->n_red) return false;
  for (uint32_t k = 0; k < n->sum->n_out; k++) place[order ? order[k] : k] = k;
  return true;
}

/* The only label of an index; n_out: there is none, or several. */
static uint32_t label_of(const EinNode *n, const Expr *index) {
  uint32_t label = n->sum->n_out;
  for (uint32_t l = 0; l < n->sum->n_out; l++) {
    if (!expr_has_label(index, l)) continue;
    if (label < n->sum->n_out) return n->sum->n_out;
    label = l;
  }
  return label;
}

/* The axes of what is read, in the order of the reader's labels; false: they have none. */
static bool order_wanted(const EinNode *n, const Expr *read, const uint32_t *place, uint32_t *order) {
  for (uint32_t k = 0; k < read->n; k++) {
    uint32_t label = label_of(n, read->arg[k]), at = k;
    if (label == n->sum->n_out) return false;
    for (; at > 0 && place[label] <= place[label_of(n, read->arg[order[at - 1]])]; at--) {
      if (label == label_of(n, read->arg[order[at - 1]])) return false;
      order[at] = order[at - 1];
    }
    order[at] = k;
  }
  return true;
}

static bool is_product(const EinNode *n) {
  const EinSum *s = n->kind == EIN_VERTEX ? n->sum : NULL;
  return s && s->n_red && s->n_slot > 1 && !sum_labels_put(s->where, s->n_out);
}

static void read_note(Orders *c, const EinNode *n, const Expr *read, const uint32_t *place) {
  const EinNode *of = n->input[read->i];
  uint32_t *order = NEW_ARRAY(c->b.arena, uint32_t, read->n + 1), **had = &c->order[of->id];
  bool same = order_wanted(n, read, place, order);
  for (uint32_t k = 0; same && *had && k < read->n; k++) same = (*had)[k] == order[k];
  if (!same || (is_product(of) && n->sum->body != read)) c->fixed[of->id] = true;
  *had = order;
}

static bool is_sorted(const uint32_t *order, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (order[k] != k) return false;
  return true;
}

/* Decides the order of the vertex, whose readers are done, and notes what it wants of its operands. */
static void vertex_note(Orders *c, const EinNode *n) {
  const EinSum *s = n->sum;
  uint32_t *place = NEW_ARRAY(c->b.arena, uint32_t, s->n_out + 1), **order = &c->order[n->id];
  if (c->fixed[n->id] || s->by || n->rank != s->n_out || n->rank < RANK_LEAST) *order = NULL;
  if (*order && is_sorted(*order, n->rank)) *order = NULL;
  const Expr **read = permute_reads(c->b.arena, s);
  bool map = places_of(c, n, place);
  for (uint32_t i = 0; i < s->n_slot; i++) {
    if (map) read_note(c, n, read[i], place);
    else if (s->by) c->fixed[n->input[i]->id] = true;
  }
}

static void region_note(Orders *c, const EinRegion *r) {
  for (uint32_t i = r->nodes.len; i-- > 0;) {
    const EinNode *n = r->nodes.at[i];
    if (n->body) region_note(c, n->body);
    if (n->kind == EIN_VERTEX) vertex_note(c, n);
    else c->order[n->id] = NULL;
  }
}

static EinNode *vertex_again(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  return permute_vertex(b, r, n, ((const Orders *)env)->order);
}

EinGraph *graph_orders(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = vertex_again};
  Orders c = {.b = {.arena = a, .pass = "orders", .notes = notes}, .fixed = nodes_shown(a, g)};
  c.order = NEW_ARRAY(a, uint32_t *, g->n_nodes + 1);
  region_note(&c, g->top);
  return rebuild(&c.b, a, g, &rules, &c);
}
