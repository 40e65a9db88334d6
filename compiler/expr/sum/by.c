/* expr/sum/by.c - EinSums computed by a C function of blocks. In: an EinSum; out: the parts that the function cannot
 * take, and its type. */
#include "law.h"

int64_t along_label(const Expr *e) {
  int64_t slope, label = 0;
  if (e->kind == EX_LABEL) return e->i;
  if (e->has & (HAS_READ | HAS_CALL | HAS_PARAM)) return -2;
  if (!(e->has & HAS_LABEL)) return -1;
  if (e->labels & (e->labels - 1) || e->labels >> 63) return -2; /* of several */
  while (!(e->labels >> label & 1)) label++;
  return expr_slope(e, label, &slope) && slope == 1 ? label : -2;
}

typedef struct ByWalk { VEC(const Expr *) reads; const char *why; } ByWalk;

/* Walks the reads, and the other parts of a value. */
static void by_walk(Arena *a, const Expr *top, ByWalk *w) {
  ExprNodes nodes = expr_nodes(a, top, 0);
  for (const Expr *e; !w->why && (e = expr_node(&nodes));) {
    if (e->kind == EX_READ) vec_push(a, w->reads, e), expr_node_skip(&nodes);
    if (e->kind == EX_LABEL) w->why = "is not told where its block lies, and a label stands here as a number";
    if (e->kind == EX_TURN) w->why = "is not told which turn it is";
    if (e->kind == EX_DIM)
      w->why = "knows the sizes of its block alone, and a size of the whole stands here as a number";
  }
}

static const char *read_wrong(const Expr *read, bool moved) {
  uint64_t met = 0;
  for (uint32_t k = 0; k < read->n; k++) {
    int64_t label = along_label(read->arg[k]);
    if (read->arg[k]->has & HAS_READ) return "is given tensors at labels, and one is read at data here";
    if (label < -1 || label >= EXTERN_LABELS)
      return "is given tensors at labels, and one is read at an index that is more than a label here";
    if (!moved && read->arg[k]->kind != EX_LABEL)
      return "is given tensors at labels, and one is read at an index that is no label here";
    if (label >= 0 && met >> label & 1)
      return "is given tensors at labels, each along one dimension, and one is read along its diagonal here";
    if (label >= 0) met |= (uint64_t)1 << label;
  }
  return NULL;
}

const char *sum_by_wrong(Arena *a, const EinSum *s, bool moved) {
  ByWalk w = {0};
  if (s->where) return "makes all points, and a predicate takes some out here";
  if (s->domain) return "makes all points, and some have no value here";
  if (reducer_is_arg(s->reducer))
    return "makes values, and argmax and argmin look for places";
  if (s->acc != s->dtype) return "makes values of one dtype, and what is reduced here has another than the result";
  if (s->n_out + s->n_red > EXTERN_LABELS) return "has at most 32 labels";
  if (s->n_slot > EXTERN_ARGS) return "is given at most 8 tensors";
  if (!s->n_slot) return "is given tensors, and none is read here";
  by_walk(a, s->body, &w);
  for (uint32_t k = 0; k < w.reads.len && !w.why; k++) w.why = read_wrong(w.reads.at[k], moved);
  return w.why;
}

void sum_by_type(Arena *a, const EinSum *s, Extern *x) {
  const Expr **read = NEW_ARRAY(a, const Expr *, s->n_slot + 1);
  expr_slot_reads(a, 1, &s->body, read);
  x->block = true;
  x->n = s->n_slot;
  x->n_out = s->n_out, x->n_red = s->n_red;
  x->dtype = s->dtype;
  for (uint32_t k = 0; k < s->n_slot; k++) {
    x->arg[k] = (DType)read[k]->dtype;
    uint32_t rank = 0;
    for (uint32_t d = 0; d < read[k]->n; d++) rank += along_label(read[k]->arg[d]) >= 0;
    x->rank[k] = (uint8_t)rank;
  }
}
