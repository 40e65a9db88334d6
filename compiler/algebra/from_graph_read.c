/* algebra/from_graph_read.c - what a vertex reads: cuts each operand as its labels are cut, or requests places of
 * it, and builds the kernel over them. */
#include "door.h"

#include <string.h>

#include "expr/prove/prove.h"
#include "expr/sum/law.h"
#include "plan/span.h"
#include "window.h"

Vertex door_vertex(const Door *x, const EinNode *n) {
  const PartVertex *part = &x->places->part->vertices.at[x->tensor[n->id]];
  Arena *a = x->arena;
  Vertex v = {.node = n, .sum = n->sum, .n_label = part->n_label, .d = x->cut->d[x->tensor[n->id]]};
  v.frontier = NEW_ARRAY(a, int64_t, v.n_label + 1);
  v.key = NEW_ARRAY(a, Str, v.n_label + 1);
  v.key_of = NEW_ARRAY(a, int32_t, v.n_label + 1);
  v.range = NEW_ARRAY(a, RelDim, v.n_label + 1);
  for (uint32_t l = 0; l < v.n_label; l++) {
    v.range[l] = rel_cut(x->exprs, part->extent[l], expr_label(x->exprs, v.n_key), v.d[l]);
    v.key_of[l] = v.d[l] > 1 ? (int32_t)v.n_key : -1;
    if (v.d[l] > 1) v.frontier[v.n_key] = v.d[l], v.key[v.n_key++] = n->label[l];
  }
  const Expr *top[] = {v.sum->body, v.sum->where, v.sum->domain};
  v.read = NEW_ARRAY(a, const Expr *, v.sum->n_slot + 1);
  expr_slot_reads(a, COUNT(top), top, v.read);
  for (uint32_t k = 0; x->placing && k < x->placing->mesh.n; k++) {
    int8_t l = x->placing->label[x->tensor[n->id]][k];
    v.at.on[k] = l >= 0 && v.key_of[l] >= 0 ? (int8_t)v.key_of[l] : PLACE_ALL;
  }
  return v;
}

/* It also has no label without a place, of which nothing can be said. */
static bool moves_with_cuts(const Vertex *v, const Expr *index) {
  bool used[GRAPH_LABELS + 1] = {0}, some = false, none = false;
  int64_t extent;
  expr_labels(index, v->n_label, used);
  for (uint32_t l = 0; l < v->n_label; l++) {
    some |= used[l] && v->d[l] > 1;
    none |= used[l] && rel_is_whole(&v->range[l], &extent) && extent == 0;
  }
  return some && !none;
}

/* The index of an unrolled dimension, where blocks of labels wrap around its end. `laps`: the number of laps. */
static const Expr *unrolled(
    const Door *x, const Vertex *v, const Expr *index, PartWide wide, int64_t extent, int64_t *laps) {
  SpanWrap w;
  const PartVertex *part = &x->places->part->vertices.at[x->tensor[v->node->id]];
  *laps = 1;
  if (!moves_with_cuts(v, index) ||
      !span_wrap(span_index(x->exprs, index), v->n_label, part->extent, v->d, extent, wide, &w))
    return index;
  *laps = w.laps;
  return expr_normal(x->exprs, expr_op2(x->exprs, OP_ADD, w.of, expr_int(x->exprs, DT_I64, w.add)));
}

/* What a block of labels reads of one dimension; perhaps more, where conditions guard the rest. */
static RelDim reach(const Door *x, const Vertex *v, const Expr *index, PartWide wide, int64_t extent) {
  RelDim w, whole = rel_whole(x->exprs, extent);
  if (index->kind == EX_LABEL && !wide.below && !wide.above && v->d[index->i] > 1 &&
      v->range[index->i].high ==
          rel_cut(x->exprs, extent, expr_label(x->exprs, v->key_of[index->i]), v->d[index->i]).high)
    return v->range[index->i];
  if (!moves_with_cuts(v, index) || !window_of(x->exprs, index, v->range, &w)) return whole;
  w.low = expr_normal(x->exprs, expr_op2(x->exprs, OP_SUB, w.low, expr_int(x->exprs, DT_I64, wide.below)));
  w.high = expr_normal(x->exprs, expr_op2(x->exprs, OP_ADD, w.high, expr_int(x->exprs, DT_I64, wide.above)));
  if (!((w.low->has | w.high->has) & HAS_LABEL)) return whole; /* X[j - j]: all blocks want the same */
  int64_t first[REL_KEYS] = {0}, last[REL_KEYS] = {0}, low[2], high[2];
  for (uint32_t k = 0; k < v->n_key; k++) last[k] = v->frontier[k] - 1;
  rel_ranges(1, &w, v->n_key, first, &low[0], &high[0]);
  rel_ranges(1, &w, v->n_key, last, &low[1], &high[1]);
  bool rising = low[0] >= 0 && high[1] <= extent && low[0] <= low[1] && high[0] <= high[1] && v->n_key == 1;
  if (rising) return w; /* inside the tensor at both ends */
  w.low = expr_op2(x->exprs, OP_MAX, w.low, whole.low);
  w.high = expr_op2(x->exprs, OP_MAX, expr_op2(x->exprs, OP_MIN, w.high, whole.high), w.low);
  return w;
}

/* The slot's number among the vertex's reads, of which turns are none. */
static uint32_t read_of(const Vertex *v, uint32_t slot) {
  uint32_t read = 0;
  for (uint32_t s = 0; s < slot; s++) read += v->node->input[s]->kind != EIN_TURNS;
  return read;
}

/* The earlier slot whose operand this one shares; -1: none. */
static int32_t shares(const Door *x, const Vertex *v, uint32_t slot) {
  if (!x->p->placed || x->plain || v->node->input[slot]->kind == EIN_TURNS) return -1;
  const PartVertex *part = &x->places->part->vertices.at[x->tensor[v->node->id]];
  uint32_t again = part->reads.at[read_of(v, slot)].again, s = 0;
  while (again && (v->node->input[s]->kind == EIN_TURNS || read_of(v, s) + 1 != again)) s++;
  return again ? (int32_t)s : -1;
}

/* The index by which a slot's operand is cut along a dimension, and what it brings besides. */
static const Expr *index_cut(const Door *x, const Vertex *v, uint32_t slot, uint32_t k, PartWide *wide) {
  const PartVertex *part = &x->places->part->vertices.at[x->tensor[v->node->id]];
  *wide = (PartWide){0, 0};
  if (!x->p->placed || x->plain || v->node->input[slot]->kind == EIN_TURNS) return v->read[slot]->arg[k];
  const PartRead *r = &part->reads.at[read_of(v, slot)];
  if (!r->wide) return v->read[slot]->arg[k];
  *wide = r->wide[k];
  return r->index[k];
}

int64_t door_extent(const RelDim *d, const Relation *t) {
  int64_t last[REL_KEYS];
  for (uint32_t k = 0; k < t->n_key; k++) last[k] = t->frontier[k] - 1;
  return rel_value(d->high, t->n_key, last);
}

Cuts door_cuts(Door *x, const Vertex *v, uint32_t slot, const Relation *home, int32_t *which) {
  Arena *a = x->arena;
  RelDim *dim = NEW_ARRAY(a, RelDim, home->rank + 1);
  CutWrap *wrap = NEW_ARRAY(a, CutWrap, home->rank + 1);
  bool used[REL_KEYS] = {0}, wraps = false;
  for (uint32_t k = 0; k < home->rank; k++) {
    int64_t extent = door_extent(&home->dim[k], home), laps;
    PartWide wide;
    const Expr *index = index_cut(x, v, slot, k, &wide);
    index = unrolled(x, v, index, wide, extent, &laps);
    dim[k] = reach(x, v, index, wide, extent * laps);
    if (laps > 1) wrap[k] = (CutWrap){extent, laps}, wraps = true;
    expr_labels(dim[k].low, v->n_key, used);
    expr_labels(dim[k].high, v->n_key, used);
  }
  int64_t *frontier = NEW_ARRAY(a, int64_t, v->n_key + 1);
  Str *key = NEW_ARRAY(a, Str, v->n_key + 1);
  const Expr **to = NEW_ARRAY(a, const Expr *, v->n_key + 1);
  Cuts want = {0, frontier, key, dim, wraps ? wrap : NULL};
  for (uint32_t k = 0; k < v->n_key; k++) {
    if (!used[k]) continue;
    to[k] = expr_label(x->exprs, want.n_key);
    which[want.n_key] = (int32_t)k;
    frontier[want.n_key] = v->frontier[k];
    key[want.n_key++] = v->key[k];
  }
  for (uint32_t k = 0; k < home->rank; k++) {
    dim[k].low = expr_normal(x->exprs, expr_relabel(x->exprs, dim[k].low, v->n_key, to));
    dim[k].high = expr_normal(x->exprs, expr_relabel(x->exprs, dim[k].high, v->n_key, to));
  }
  return want;
}

/* The operand with those of the vertex's keys that cut it. */
static AlgOperand operand_make(Door *x, const Vertex *v, uint32_t slot) {
  AlgNode *home = x->is[v->node->input[slot]->id];
  int32_t *which = NEW_ARRAY(x->arena, int32_t, v->n_key + 1), *on = NEW_ARRAY(x->arena, int32_t, v->n_key + 1);
  Cuts want = door_cuts(x, v, slot, &home->type, which);
  const int32_t *as;
  Placement goal = v->at;
  for (uint32_t k = 0; k < x->p->mesh.n; k++) {
    int8_t cut = goal.on[k];
    goal.on[k] = PLACE_ALL;
    for (uint32_t j = 0; cut >= 0 && j < want.n_key; j++)
      if (which[j] == cut) goal.on[k] = (int8_t)j;
  }
  /* before a repeat, if it is made before it */
  AlgNode *y = recut(x->p, home->region, home, &want, x->plain ? NULL : &goal, &as);
  for (uint32_t k = 0; k < y->type.n_key; k++) on[k] = which[as[k]];
  return (AlgOperand){.node = y, .on = on};
}

/* ---- the kernel ------------------------------------------------------------------------------------------------ */

typedef struct Unrolled { const Door *x; const Vertex *v; const bool *asked; } Unrolled;

/* Where an index lies in a dimension that is unrolled for the index `of`, which lies at e. */
static const Expr *index_after(Exprs *p, const Expr *e, const Expr *of, const Expr *index, PartWide wide) {
  SpanBase x = span_base(span_index(p, of)), y = span_base(span_index(p, index));
  int64_t by = floor_mod(y.by - x.by + wide.below, x.around) - wide.below;
  return expr_normal(p, expr_op2(p, OP_ADD, e, expr_int(p, DT_I64, by)));
}

static const Expr *leaf_unrolled(void *env, Exprs *p, const Expr *leaf) {
  const Unrolled *u = env;
  int64_t laps;
  if (leaf->kind != EX_READ || u->asked[leaf->i]) return leaf;
  const Relation *home = &u->x->is[u->v->node->input[leaf->i]->id]->type;
  const Expr **index = NEW_ARRAY(u->x->arena, const Expr *, leaf->n + 1);
  int32_t shared = shares(u->x, u->v, (uint32_t)leaf->i);
  for (uint32_t k = 0; k < leaf->n; k++) {
    PartWide wide;
    const Expr *of = index_cut(u->x, u->v, shared < 0 ? (uint32_t)leaf->i : (uint32_t)shared, k, &wide);
    const Expr *e = unrolled(u->x, u->v, of, wide, door_extent(&home->dim[k], home), &laps);
    index[k] = laps > 1 ? index_after(p, e, of, leaf->arg[k], wide) : leaf->arg[k];
  }
  return expr_read(p, (DType)leaf->dtype, leaf->i, leaf->n, index);
}

/* The vertex's kernel. It reads an unrolled copy of dimensions that wrap, except in tables whose places are
 * requested. */
static EinSum *kernel_of(const Door *x, const Vertex *v, const bool *asked) {
  EinSum *s = arena_copy(x->arena, v->sum, sizeof *s);
  Unrolled u = {x, v, asked};
  sum_map(x->exprs, s, leaf_unrolled, &u);
  return s;
}

/* ---- requests at indices from data -------------------------------------------------------------------------- */

/* Fetched reads: by slot, the replacement; NULL: the read stays as it is. */
typedef struct Instead { const Expr **read; } Instead;

static const Expr *leaf_instead(void *env, Exprs *p, const Expr *leaf) {
  const Instead *x = env;
  (void)p;
  return leaf->kind == EX_READ && x->read[leaf->i] ? x->read[leaf->i] : leaf;
}

/* Whether the plan requests its places. */
static bool is_asked(const Door *x, const Vertex *v, uint32_t slot) {
  if (!x->p->placed || x->plain || v->node->input[slot]->kind == EIN_TURNS) return false;
  return placing_fetches(x->places, x->placing, (uint32_t)x->tensor[v->node->id], read_of(v, slot));
}

/* The operand of an earlier equation that is cut alike, by this one's keys; false: there is none. */
static bool operand_again(const Door *x, const Vertex *v, uint32_t slot, AlgOperand *out) {
  uint32_t vertex = (uint32_t)x->tensor[v->node->id];
  if (!x->p->placed || x->plain || v->node->input[slot]->kind == EIN_TURNS) return false;
  const PlaceAlike *of = placing_again(x->places, x->placing, vertex, read_of(v, slot));
  if (!of || !x->operand[of->vertex]) return false;
  AlgOperand o = x->operand[of->vertex][of->read];
  Vertex w = door_vertex(x, x->places->part->vertices.at[of->vertex].node);
  int32_t *on = NEW_ARRAY(x->arena, int32_t, o.node->type.n_key + 1);
  for (uint32_t k = 0; k < o.node->type.n_key; k++)
    for (uint32_t l = 0; l < v->n_label; l++)
      if (of->label[l] >= 0 && w.key_of[of->label[l]] == o.on[k]) on[k] = v->key_of[l];
  *out = (AlgOperand){.node = o.node, .on = on};
  return true;
}

/* Keeps it for later equations. */
static void operand_keep(Door *x, const Vertex *v, uint32_t slot, AlgOperand o) {
  uint32_t vertex = (uint32_t)x->tensor[v->node->id];
  if (v->node->input[slot]->kind == EIN_TURNS) return;
  if (!x->operand[vertex])
    x->operand[vertex] = NEW_ARRAY(x->arena, AlgOperand, x->places->part->vertices.at[vertex].reads.len + 1);
  x->operand[vertex][read_of(v, slot)] = o;
}

/* The region of what is read at the current indices: the innermost of the indices' operands. */
static AlgRegion *region_asked(const Door *x, AlgRegion *r, const AlgOperand *operand, const Expr *read) {
  AlgRegion *in = operand[read->i].node->region;
  ExprNodes nodes = expr_nodes(x->arena, NULL, 0);
  for (uint32_t k = 0; k < read->n; k++) expr_nodes_add(&nodes, read->arg[k]);
  for (const Expr *e; (e = expr_node(&nodes));) {
    AlgRegion *its = e->kind == EX_TURN ? r : e->kind == EX_READ ? operand[e->i].node->region : in;
    while (e->kind == EX_TURN && (int64_t)its->depth > e->i) its = its->parent;
    for (const AlgRegion *up = its; up; up = up->parent)
      if (up == in) in = its;
  }
  return in;
}

typedef struct Asking {      /* the labels and keys of the fetch, among the vertex's */
  uint32_t n_label, n_key;
  const Expr **label, **key; /* by label or key of the vertex: its expression in the fetch; NULL: not there */
  Str *label_name, *key_name;
  RelDim *range;
  int64_t *frontier;
  int32_t *on;               /* by key: the vertex's */
  const Expr **at;           /* by label: the vertex's */
} Asking;

static Asking asking_of(const Door *x, const Vertex *v, const Expr *read) {
  Arena *a = x->arena;
  uint32_t n = v->n_label + 1;
  bool *used = NEW_ARRAY(a, bool, n);
  Asking q = {.label = NEW_ARRAY(a, const Expr *, n),
      .key = NEW_ARRAY(a, const Expr *, n),
      .at = NEW_ARRAY(a, const Expr *, n)};
  q.label_name = NEW_ARRAY(a, Str, n), q.key_name = NEW_ARRAY(a, Str, n), q.frontier = NEW_ARRAY(a, int64_t, n);
  q.range = NEW_ARRAY(a, RelDim, n), q.on = NEW_ARRAY(a, int32_t, n);
  for (uint32_t k = 0; k < read->n; k++) expr_labels(read->arg[k], v->n_label, used);
  for (uint32_t l = 0; l < v->n_label; l++) {
    int32_t key = v->key_of[l];
    if (!used[l]) continue;
    q.label[l] = expr_label(x->exprs, q.n_label);
    q.at[q.n_label] = expr_label(x->exprs, l);
    q.range[q.n_label] = v->range[l];
    q.label_name[q.n_label++] = v->node->label[l];
    if (key < 0) continue;
    q.key[key] = expr_label(x->exprs, q.n_key);
    q.key_name[q.n_key] = v->key[key];
    q.on[q.n_key] = key;
    q.frontier[q.n_key++] = v->frontier[key];
  }
  for (uint32_t l = 0; l < q.n_label; l++) {
    q.range[l].low = expr_normal(x->exprs, expr_relabel(x->exprs, q.range[l].low, v->n_key, q.key));
    q.range[l].high = expr_normal(x->exprs, expr_relabel(x->exprs, q.range[l].high, v->n_key, q.key));
  }
  return q;
}

/* The operand's keys as keys of the fetch. */
static AlgOperand operand_asking(const Door *x, const Asking *q, const AlgOperand *o) {
  int32_t *on = NEW_ARRAY(x->arena, int32_t, o->node->type.n_key + 1);
  for (uint32_t k = 0; k < o->node->type.n_key; k++) on[k] = o->on[k] < 0 ? -1 : (int32_t)q->key[o->on[k]]->i;
  return (AlgOperand){.node = o->node, .on = on};
}

/* Fetches the places that the vertex reads, from wherever they are, by its labels. The slots in its indices come
 * first. */
static void operand_fetch(
    Door *x, const Vertex *v, AlgRegion *r, uint32_t slot, const Expr *was, AlgOperand *operand, Instead *instead) {
  const Expr **arg = NEW_ARRAY(x->arena, const Expr *, was->n + 1);
  AlgNode *table = x->is[v->node->input[slot]->id];
  operand[slot] = (AlgOperand){.node = table};
  for (uint32_t k = 0; k < was->n; k++)
    arg[k] = expr_normal(x->exprs, expr_map(x->exprs, was->arg[k], leaf_instead, instead));
  const Expr *read = expr_read(x->exprs, (DType)was->dtype, slot, was->n, arg);
  Asking q = asking_of(x, v, read);
  AlgRegion *in = region_asked(x, r, operand, read);
  for (uint32_t k = 0; k < was->n; k++) arg[k] = expr_relabel(x->exprs, arg[k], v->n_label, q.label);
  read = expr_read(x->exprs, (DType)was->dtype, slot, was->n, arg);
  AlgOperand *of = NEW_ARRAY(x->arena, AlgOperand, slot + 1);
  const Expr **stands = NEW_ARRAY(x->arena, const Expr *, slot + 1);
  expr_slot_reads(x->arena, 1, &read, stands);
  for (uint32_t s = 0; s < slot; s++)
    if (stands[s]) of[s] = operand_asking(x, &q, &operand[s]);
  of[slot].node = table;
  Placement at = v->at;
  for (uint32_t a = 0; a < x->p->mesh.n; a++)
    at.on[a] = at.on[a] >= 0 && q.key[at.on[a]] ? (int8_t)q.key[at.on[a]]->i : PLACE_ALL;
  AlgNode *y = alg_fetch(x->p, in, of, read, q.n_label, q.label_name, q.range, q.n_key, q.frontier, q.key_name, &at);
  operand[slot] = (AlgOperand){.node = y, .on = q.on};
  instead->read[slot] = expr_read(x->exprs, (DType)was->dtype, slot, q.n_label, q.at);
}

/* The first slot with the same operand. Of two spellings of a window, both are then read at the same places. */
static uint64_t operand_first(void *ctx, uint32_t slot) {
  const AlgOperand *operand = ctx, *b = &operand[slot];
  for (uint32_t k = 0; k < slot; k++) {
    const AlgOperand *a = &operand[k];
    if (a->node != b->node || !a->on || !b->on) continue;
    if (memcmp(a->on, b->on, a->node->type.n_key * sizeof *a->on) == 0) return k;
  }
  return slot;
}

/* The kernel with the replaced reads; *n operands remain. */
static const EinSum *sum_instead(Door *x, EinSum *s, Instead *instead, uint32_t *n, AlgOperand *operand) {
  sum_map(x->exprs, s, leaf_instead, instead);
  const uint32_t *from = sum_canonical_slots(x->arena, x->exprs, s, operand_first, operand);
  AlgOperand *was = arena_copy(x->arena, operand, *n * sizeof *was);
  *n = s->n_slot;
  for (uint32_t k = 0; k < *n; k++) operand[k] = was[from[k]];
  s->hash = sum_hash(s);
  return s;
}

const EinSum *door_operands(Door *x, const Vertex *v, AlgRegion *r, uint32_t *n, AlgOperand *operand) {
  uint32_t n_slot = *n = v->sum->n_slot;
  const Expr **read = NEW_ARRAY(x->arena, const Expr *, n_slot + 1);
  Instead instead = {NEW_ARRAY(x->arena, const Expr *, n_slot + 1)};
  bool *asked = NEW_ARRAY(x->arena, bool, n_slot + 1);
  for (uint32_t s = 0; s < n_slot; s++) asked[s] = is_asked(x, v, s);
  EinSum *sum = kernel_of(x, v, asked);
  const Expr *top[] = {sum->body, sum->where, sum->domain};
  expr_slot_reads(x->arena, COUNT(top), top, read);
  for (uint32_t s = 0; s < n_slot; s++) {
    if (asked[s]) operand_fetch(x, v, r, s, read[s], operand, &instead);
    else if (shares(x, v, s) >= 0) operand[s] = operand[shares(x, v, s)];
    else if (!operand_again(x, v, s, &operand[s])) operand[s] = operand_make(x, v, s);
    operand_keep(x, v, s, operand[s]);
  }
  return sum_instead(x, sum, &instead, n, operand);
}
