/* algebra/algebra.c - builds programs. Derives the type and the placement of each result from its operands. */
#include "algebra.h"

#include "expr/prove/prove.h"
#include "expr/sum/law.h"

Algebra *algebra_new(Arena *a, Strings *t, Exprs *p) {
  Algebra *g = MAKE(a, Algebra, .arena = a, .strings = t, .exprs = p, .top = NEW(a, AlgRegion));
  g->top->turns = -1;
  return g;
}

AlgNode *alg_region_use(const AlgRegion *r, uint32_t i) {
  if (!i--) return r->bound;
  if (i < 2 * r->states.len) return i % 2 ? r->states.at[i / 2].next : r->states.at[i / 2].init;
  i -= 2 * r->states.len;
  return i < r->stacks.len ? r->stacks.at[i].node : i == r->stacks.len ? r->stop : NULL;
}

/* ---- nodes ------------------------------------------------------------------------------------------- */

static AlgNode *node_new(Algebra *p, AlgRegion *r, AlgKind kind, uint32_t n, const AlgOperand *operand) {
  AlgNode *x = MAKE(p->arena, AlgNode, .kind = kind, .id = p->n_nodes++, .region = r, .n_operand = n,
      .operand = NEW_ARRAY(p->arena, AlgOperand, n + 1));
  for (uint32_t i = 0; i < n; i++) {
    x->operand[i] = (AlgOperand){.node = operand[i].node, .wanted = operand[i].wanted};
    if (operand[i].on)
      x->operand[i].on = arena_copy(p->arena, operand[i].on, operand[i].node->type.n_key * sizeof *operand[i].on);
  }
  if (n) x->name = operand[0].node->name, x->place = operand[0].node->place;
  for (uint32_t k = 0; k < MESH_AXES; k++) x->at.on[k] = PLACE_ALL;
  vec_push(p->arena, r->nodes, x);
  return x;
}

static AlgNode *unary_new(Algebra *p, AlgRegion *r, AlgKind kind, AlgNode *of) {
  AlgNode *x = node_new(p, r, kind, 1, &(AlgOperand){.node = of});
  x->type = of->type;
  x->at = of->at;
  return x;
}

AlgNode *alg_input(Algebra *p, Str name, const Relation *type, const Placement *at) {
  AlgNode *x = node_new(p, p->top, ALG_INPUT, 0, NULL);
  x->name = name;
  x->type = *type;
  if (at) x->at = *at;
  vec_push(p->arena, p->inputs, x);
  return x;
}

/* ---- join --------------------------------------------------------------------------------------------- */

/* The axes that cut a key dimension are a prefix of those that cut another. */
static bool leads(const Mesh *m, const Placement *its, int8_t key, const Placement *theirs, int8_t to) {
  bool all = true; /* so far, each of its axes matches one of the other's */
  for (uint32_t a = 0; a < m->n; a++) {
    bool cuts = its->on[a] == key;
    if (theirs->on[a] != to) {
      if (cuts) return false;
      continue;
    }
    if (cuts && !all) return false;
    all = all && cuts;
  }
  return true;
}

static bool meets(const Mesh *m, const AlgOperand *o, const Placement *to) {
  for (uint32_t a = 0; a < m->n; a++) {
    int8_t key = o->node->at.on[a];
    if (key == PLACE_PART) return false;
    if (key < 0) continue;
    if (o->on[key] < 0 || o->on[key] > INT8_MAX || !leads(m, &o->node->at, key, to, (int8_t)o->on[key])) return false;
  }
  return true;
}

bool alg_join_meets(const Algebra *p, const AlgNode *join) {
  for (uint32_t i = 0; i < join->n_operand; i++)
    if (!alg_is_table(join, i) && !meets(&p->mesh, &join->operand[i], &join->at)) return false;
  return true;
}

bool alg_join_place(const Algebra *p, const AlgNode *join, Placement *out) {
  AlgNode x = *join;
  for (uint32_t a = 0; a < MESH_AXES; a++) x.at.on[a] = PLACE_ALL;
  for (uint32_t i = 0; i < join->n_operand; i++)
    for (uint32_t a = 0; !alg_is_table(join, i) && a < p->mesh.n; a++) {
      const AlgOperand *o = &join->operand[i];
      int8_t key = o->node->at.on[a];
      if (key >= 0 && o->on[key] >= 0 && o->on[key] <= INT8_MAX) x.at.on[a] = (int8_t)o->on[key];
    }
  *out = x.at;
  return alg_join_meets(p, &x);
}

static AlgNode *kernel_new(Algebra *p, AlgRegion *r, AlgKind kind, uint32_t n, const AlgOperand *operand,
    const EinSum *sum, const Str *label, const RelDim *range, uint32_t n_key, const int64_t *frontier, const Str *key) {
  Arena *a = p->arena;
  uint32_t labels = sum->n_out + sum->n_red;
  AlgNode *x = node_new(p, r, kind, n, operand);
  x->sum = sum;
  x->label = arena_copy(a, label, labels * sizeof *label);
  x->range = arena_copy(a, range, labels * sizeof *range);
  x->type = (Relation){
      .dtype = sum->acc, .places = reducer_is_arg(sum->reducer), .n_key = n_key, .rank = sum->n_out, .dim = x->range};
  x->type.frontier = arena_copy(a, frontier, n_key * sizeof *frontier);
  x->type.key = arena_copy(a, key, n_key * sizeof *key);
  return x;
}

AlgNode *alg_join(Algebra *p, AlgRegion *r, uint32_t n, const AlgOperand *operand, const EinSum *sum, const Str *label,
    const RelDim *range, uint32_t n_key, const int64_t *frontier, const Str *key, const Placement *at) {
  AlgNode *x = kernel_new(p, r, ALG_JOIN, n, operand, sum, label, range, n_key, frontier, key);
  for (uint32_t i = 0; i < n; i++) x->type.holes |= operand[i].wanted && operand[i].node->type.holes;
  if (at) x->at = *at;
  else if (p->placed && !alg_join_place(p, x, &x->at)) bug("algebra: the operands of %%%u do not meet", x->id);
  return x;
}

AlgNode *alg_fetch(Algebra *p, AlgRegion *r, const AlgOperand *operand, const Expr *read, uint32_t n_label,
    const Str *label, const RelDim *range, uint32_t n_key, const int64_t *frontier, const Str *key,
    const Placement *at) {
  const AlgNode *table = operand[read->i].node;
  DType t = table->type.dtype;
  EinSum *sum = MAKE(p->arena, EinSum, .n_out = n_label, .acc = t, .dtype = t, .body = read);
  const uint32_t *slot = sum_canonical_slots(p->arena, p->exprs, sum, NULL, NULL);
  AlgOperand *o = NEW_ARRAY(p->arena, AlgOperand, sum->n_slot);
  for (uint32_t k = 0; k < sum->n_slot; k++) o[k] = operand[slot[k]];
  o[sum->n_slot - 1].on = NULL;
  sum->hash = sum_hash(sum);
  BUG_UNLESS(p->placed);
  AlgNode *x = kernel_new(p, r, ALG_FETCH, sum->n_slot, o, sum, label, range, n_key, frontier, key);
  x->name = table->name;
  x->place = table->place;
  x->at = *at;
  return x;
}

/* ---- aggregate ------------------------------------------------------------------------------------------ */

/* Keys are reordered, or some are dropped: rewrites the expressions over them. */
static RelDim dim_rekeyed(Algebra *p, RelDim d, uint32_t n, const Expr *const *to) {
  return (RelDim){expr_normal(p->exprs, expr_relabel(p->exprs, d.low, n, to)),
      expr_normal(p->exprs, expr_relabel(p->exprs, d.high, n, to))};
}

static const Expr **group_map(Algebra *p, const AlgNode *of, uint32_t n_group, const uint32_t *group) {
  const Expr **to = NEW_ARRAY(p->arena, const Expr *, of->type.n_key + 1);
  for (uint32_t k = 0; k < of->type.n_key; k++) to[k] = expr_int(p->exprs, DT_I64, 0);
  for (uint32_t k = 0; k < n_group; k++) to[group[k]] = expr_label(p->exprs, k);
  return to;
}

static void group_type(Algebra *p, AlgNode *x, const AlgNode *of, uint32_t n_group, const uint32_t *group) {
  Arena *a = p->arena;
  int64_t *frontier = NEW_ARRAY(a, int64_t, n_group + 1);
  Str *key = NEW_ARRAY(a, Str, n_group + 1);
  for (uint32_t k = 0; k < n_group; k++) frontier[k] = of->type.frontier[group[k]], key[k] = of->type.key[group[k]];
  x->n_group = n_group;
  x->group = arena_copy(a, group, n_group * sizeof *group);
  x->type.n_key = n_group;
  x->type.frontier = frontier;
  x->type.key = key;
}

/* A dropped key leaves parts where an axis cuts it, unless it has only one value: then one place has all of it. */
static void group_place(const Algebra *p, AlgNode *x, const AlgNode *of) {
  for (uint32_t a = 0; p->placed && a < p->mesh.n; a++) {
    int8_t on = of->at.on[a];
    if (on < 0) continue;
    x->at.on[a] = PLACE_PART;
    for (uint32_t k = 0; k < x->n_group; k++)
      if (x->group[k] == (uint32_t)on) x->at.on[a] = (int8_t)k;
  }
}

AlgNode *alg_aggregate(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_group, const uint32_t *group, Reducer reducer,
    const Monoid *monoid) {
  AlgNode *x = unary_new(p, r, ALG_AGGREGATE, of);
  const Expr **to = group_map(p, of, n_group, group);
  RelDim *dim = NEW_ARRAY(p->arena, RelDim, of->type.rank + 1);
  for (uint32_t d = 0; d < of->type.rank; d++) dim[d] = dim_rekeyed(p, of->type.dim[d], of->type.n_key, to);
  x->reducer = reducer;
  x->monoid = monoid;
  group_type(p, x, of, n_group, group);
  x->type.dim = dim;
  group_place(p, x, of);
  return x;
}

AlgNode *alg_concat(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_group, const uint32_t *group, const RelDim *dim) {
  AlgNode *x = unary_new(p, r, ALG_AGGREGATE, of);
  x->reducer = RED_NONE;
  group_type(p, x, of, n_group, group);
  x->type.dim = arena_copy(p->arena, dim, of->type.rank * sizeof *dim);
  group_place(p, x, of);
  return x;
}

/* ---- map, filter ------------------------------------------------------------------------------------------ */

/* Whether a is a block of b, which is not cut. */
static bool is_block_of(Algebra *p, const Relation *t, const RelDim *a, const RelDim *b) {
  Relation one = *t;
  uint32_t key;
  int64_t extent, whole;
  one.rank = 1;
  one.dim = a;
  return rel_is_whole(b, &whole) && rel_is_cut(p->exprs, &one, 0, &key, &extent) && extent == whole;
}

/* The intersection of pieces and blocks, by dimension, over the keys of t. */
static const RelDim *dims_common(Algebra *p, const Relation *t, const RelDim *piece, const RelDim *block) {
  RelDim *dim = NEW_ARRAY(p->arena, RelDim, t->rank + 1);
  for (uint32_t d = 0; d < t->rank; d++) {
    bool same_low = piece[d].low == block[d].low, same_high = piece[d].high == block[d].high;
    if ((same_low && same_high) || is_block_of(p, t, &piece[d], &block[d])) {
      dim[d] = piece[d];
    } else if (is_block_of(p, t, &block[d], &piece[d])) {
      dim[d] = block[d];
    } else {
      dim[d].low =
          same_low ? piece[d].low : expr_normal(p->exprs, expr_op2(p->exprs, OP_MAX, piece[d].low, block[d].low));
      dim[d].high =
          same_high ? piece[d].high : expr_normal(p->exprs, expr_op2(p->exprs, OP_MIN, piece[d].high, block[d].high));
    }
  }
  return dim;
}

AlgNode *alg_tile(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_piece, const int64_t *frontier, const Str *key,
    const RelDim *piece) {
  Arena *a = p->arena;
  AlgNode *x = unary_new(p, r, ALG_MAP, of);
  const Relation *t = &of->type;
  int64_t *f = NEW_ARRAY(a, int64_t, t->n_key + n_piece + 1);
  Str *name = NEW_ARRAY(a, Str, t->n_key + n_piece + 1);
  for (uint32_t k = 0; k < t->n_key; k++) f[k] = t->frontier[k], name[k] = t->key[k];
  for (uint32_t k = 0; k < n_piece; k++) f[t->n_key + k] = frontier[k], name[t->n_key + k] = key[k];
  x->n_piece = n_piece;
  x->frontier = f + t->n_key;
  x->key = name + t->n_key;
  x->piece = arena_copy(a, piece, t->rank * sizeof *piece);
  x->type.n_key += n_piece;
  x->type.frontier = f;
  x->type.key = name;
  x->type.dim = dims_common(p, &x->type, x->piece, t->dim);
  return x;
}

/* A key dimension that an axis cuts must be among the new ones unchanged; the caller finds what is cut along the
 * others. */
static void rekey_place(const Algebra *p, AlgNode *x) {
  for (uint32_t a = 0; p->placed && a < p->mesh.n; a++) {
    int8_t on = x->at.on[a];
    if (on < 0) continue;
    x->at.on[a] = PLACE_PART;
    for (uint32_t k = 0; k < x->type.n_key; k++)
      if (x->rekey[k] == expr_label(p->exprs, on)) x->at.on[a] = (int8_t)k;
  }
}

AlgNode *alg_rekey(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_key, const Expr *const *key,
    const int64_t *frontier, const Str *name, const RelDim *dim) {
  Arena *a = p->arena;
  AlgNode *x = unary_new(p, r, ALG_MAP, of);
  x->rekey = arena_copy(a, key, n_key * sizeof *key);
  x->type.n_key = n_key;
  x->type.frontier = arena_copy(a, frontier, n_key * sizeof *frontier);
  x->type.key = arena_copy(a, name, n_key * sizeof *name);
  x->type.dim = arena_copy(a, dim, of->type.rank * sizeof *dim);
  rekey_place(p, x);
  return x;
}

static RelDim dim_merged(Algebra *p, const RelDim *d, uint32_t n) {
  int64_t extent;
  while (n > 1 && rel_is_whole(&d[0], &extent) && extent == 1) d++, n--;
  RelDim out = d[0];
  for (uint32_t k = 1; k < n; k++) {
    BUG_UNLESS(expr_is_int(d[k].low, 0) && d[k].high->kind == EX_INT);
    out.low = expr_op2(p->exprs, OP_MUL, out.low, d[k].high);
    out.high = expr_op2(p->exprs, OP_MUL, out.high, d[k].high);
  }
  out.low = expr_normal(p->exprs, out.low);
  out.high = expr_normal(p->exprs, out.high);
  return out;
}

static void dim_shift(Algebra *p, Relation *t, const AlgFn *f) {
  RelDim *dim = arena_copy(p->arena, t->dim, t->rank * sizeof *dim);
  const Expr *by = expr_op2(p->exprs, OP_MUL, expr_label(p->exprs, f->key), expr_int(p->exprs, DT_I64, f->by));
  dim[f->n].low = expr_normal(p->exprs, expr_op2(p->exprs, OP_ADD, dim[f->n].low, by));
  dim[f->n].high = expr_normal(p->exprs, expr_op2(p->exprs, OP_ADD, dim[f->n].high, by));
  t->dim = dim;
}

static void fn_apply(Algebra *p, Relation *t, const AlgFn *f) {
  if (f->kind == FN_CAST) t->dtype = f->to;
  if (f->kind == FN_PLACE) t->dtype = DT_I64, t->places = false;
  if (f->kind == FN_SHIFT) dim_shift(p, t, f);
  if (f->kind != FN_MERGE) return;
  RelDim *dim = NEW_ARRAY(p->arena, RelDim, f->n + 1);
  uint32_t from = 0;
  for (uint32_t k = 0; k < f->n; from += f->merge[k++])
    dim[k] = f->merge[k] ? dim_merged(p, t->dim + from, f->merge[k]) : rel_whole(p->exprs, 1);
  t->rank = f->n;
  t->dim = dim;
}

AlgNode *alg_transform(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n, const AlgFn *fn) {
  AlgNode *x = unary_new(p, r, ALG_MAP, of);
  x->n_fn = n;
  x->fn = arena_copy(p->arena, fn, n * sizeof *fn);
  for (uint32_t k = 0; k < n; k++) fn_apply(p, &x->type, &fn[k]);
  return x;
}

AlgNode *alg_filter(Algebra *p, AlgRegion *r, AlgNode *of, const Expr *keep) {
  AlgNode *x = unary_new(p, r, ALG_FILTER, of);
  x->keep = keep;
  x->type.holes = true;
  return x;
}

/* ---- moves ---------------------------------------------------------------------------------------------------- */

AlgNode *alg_move(Algebra *p, AlgRegion *r, AlgNode *of, const Placement *to) {
  AlgNode *x = unary_new(p, r, ALG_MOVE, of);
  BUG_UNLESS(p->placed);
  x->at = *to;
  return x;
}

bool alg_is_broadcast(const Algebra *p, const AlgNode *move) {
  const Placement *from = &move->operand[0].node->at;
  bool some = false;
  for (uint32_t a = 0; a < p->mesh.n; a++) {
    if (move->at.on[a] == from->on[a]) continue;
    if (move->at.on[a] != PLACE_ALL) return false;
    some = true;
  }
  return some;
}

bool alg_holds(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, const uint32_t *at) {
  for (uint32_t a = 0; a < m->n; a++) {
    int8_t on = p->on[a];
    bool first = on >= 0;
    for (uint32_t b = 0; first && b < a; b++) first = p->on[b] != on;
    if (!first) continue; /* all axes of a key dimension at once */
    int64_t site = 0, sites = 1;
    for (uint32_t b = a; b < m->n; b++)
      if (p->on[b] == on) site = site * m->size[b] + at[b], sites *= m->size[b];
    if (key[on] * sites / r->frontier[on] != site) return false;
  }
  return true;
}
