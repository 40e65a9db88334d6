/* graph/passes/narrow/pass_alike.c - makes points that a label does not tell apart once:
 *
 *     C[s,d:64] = cos(f32(s) * w[d % 32])            C[s,d:32] = cos(f32(s) * w[d])
 *     Y[h,s,d] = X[h,s,d] * C[s,d]                   Y[h,s,d] = X[h,s,d] * C[s,d % 32]
 *
 *     K[h:8,t] = exp(V[h // 2,t])                    K[h:4,t] = exp(V[h,t]), read at h // 2
 *
 * So it makes no difference whether the user named a table for one half of the angles, or computed both. What the
 * vertex makes of the label alone, in integers and conditions, is computed for each of its points: if that repeats,
 * or stays for a number of neighbours, the vertex has as many points as differ. `if d < 32 then d else d - 32` does so
 * just like d % 32. Values are the same to the bit.
 *
 * Only maps may read the vertex, and by whole labels or numbers: a product has better loops over a whole axis. */
#include "graph/passes/passes.h"
#include "graph/passes/rebuild.h"

enum {
  POINTS_LEAST = 16,         /* points that differ, or neighbours that do not: the lanes of a reader */
  EXTENT_MOST = 4096,        /* of the label, and */
  TOLD_MOST = 16             /*   expressions of it, which are computed at each point */
};

/* Readers are at l % by, or l // by; by NULL: none. */
typedef struct Fold { Op op; const Expr *by; uint32_t dim; } Fold;

typedef struct Alike {
  Rebuild b;
  Arena *scratch;
  bool *stays;               /* by old id: something uses it in its shape; */
  Fold *fold;                /*   what became of it */
  bool some;
} Alike;

/* ---- who reads it ------------------------------------------------------------------------------ */

static bool reads_plainly(const EinNode *by, const Expr *read, const EinNode *of) {
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k];
    if (e->kind != EX_INT && !(e->kind == EX_LABEL && by->bound[e->i] == of->dim[k])) return false;
  }
  return true;
}

static void readers_look(Alike *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) readers_look(c, n->body);
    if (n->kind != EIN_VERTEX) continue;
    const EinSum *s = n->sum;
    const Expr *top[] = {s->body, s->where, s->domain}, **read = NEW_ARRAY(c->scratch, const Expr *, s->n_slot + 1);
    bool map = s->reducer == RED_NONE && !s->by;
    expr_slot_reads(c->scratch, COUNT(top), top, read);
    for (uint32_t k = 0; k < s->n_slot; k++)
      if (!map || !reads_plainly(n, read[k], n->input[k])) c->stays[n->input[k]->id] = true;
  }
}

/* ---- which points are alike -------------------------------------------------------------------- */

typedef struct Draft {
  Alike *c;
  const EinNode *n;
  EinSum sum;                /* whose reads are as its inputs are now */
  uint32_t label;
  uint32_t n_told;
  const Expr *told[TOLD_MOST]; /* what the label decides alone */
} Draft;

static bool is_told(const Expr *e, uint32_t label) {
  unsigned other = HAS_DIM | HAS_TURN | HAS_READ | HAS_PARAM | HAS_CALL;
  return e->labels == UINT64_C(1) << label && !(e->has & other) && !e->drawn && !dtype_is_float((DType)e->dtype);
}

/* Finds the largest such expressions; false: there is none, the label itself is used, or there are too many. */
static bool told_find(Draft *d) {
  ExprNodes nodes = expr_nodes(d->c->scratch, d->sum.body, HAS_LABEL);
  d->n_told = 0;
  if (d->sum.where) expr_nodes_add(&nodes, d->sum.where);
  if (d->sum.domain) expr_nodes_add(&nodes, d->sum.domain);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (!is_told(e, d->label)) continue;
    if (e->kind == EX_LABEL || d->n_told == TOLD_MOST) return false;
    d->told[d->n_told++] = e;
    expr_node_skip(&nodes);
  }
  return d->n_told > 0;
}

/* Computes what the label decides, at each of its points; false: one has no value. */
static bool points_value(const Draft *d, int64_t extent, int64_t *value) {
  int64_t at[64] = {0};
  ExprEnv env = {.label = at, .n_label = 64};
  for (int64_t i = 0; i < extent; i++) {
    at[d->label] = i;
    for (uint32_t k = 0; k < d->n_told; k++) {
      Value v;
      if (!expr_value(d->told[k], &env, &v)) return false;
      value[k * extent + i] = v.i;
    }
  }
  return true;
}

static bool are_alike(const Draft *d, int64_t extent, const int64_t *value, Op op, int64_t by) {
  for (uint32_t k = 0; k < d->n_told; k++)
    for (int64_t i = 0; i < extent; i++)
      if (value[k * extent + i] != value[k * extent + (op == OP_MOD ? i % by : i - i % by)]) return false;
  return true;
}

/* How the label may be folded to the fewest points; by NULL: it cannot. */
static Fold label_fold(Draft *d) {
  Fold f = {.dim = d->label};
  const Expr *bound = d->n->bound[d->label];
  int64_t extent = bound->kind == EX_INT ? bound->i : 0;
  if (extent < 2 * POINTS_LEAST || extent > EXTENT_MOST || !told_find(d)) return f;
  int64_t *value = NEW_ARRAY(d->c->scratch, int64_t, d->n_told * extent);
  if (!points_value(d, extent, value)) return f;
  for (int64_t by = POINTS_LEAST; by <= extent / 2 && !f.by; by++) {
    if (extent % by) continue;
    if (are_alike(d, extent, value, OP_MOD, by)) f.op = OP_MOD, f.by = expr_int(d->c->b.old->exprs, DT_I64, by);
  }
  for (int64_t by = extent / 2; by >= POINTS_LEAST && !f.by; by--) {
    if (extent % by) continue;
    if (are_alike(d, extent, value, OP_IDIV, by)) f.op = OP_IDIV, f.by = expr_int(d->c->b.old->exprs, DT_I64, by);
  }
  return f;
}

/* ---- the vertices ------------------------------------------------------------------------------ */

static const Expr *read_folded(void *env, Exprs *p, const Expr *leaf) {
  const Draft *d = env;
  const Fold *f = leaf->kind == EX_READ ? &d->c->fold[d->n->input[leaf->i]->id] : NULL;
  if (!f || !f->by) return leaf;
  const Expr **arg = arena_copy(d->c->b.arena, leaf->arg, leaf->n * sizeof *arg);
  arg[f->dim] = expr_op2(p, f->op, arg[f->dim], f->by);
  return expr_read(p, (DType)leaf->dtype, leaf->i, leaf->n, arg);
}

static EinNode *folded_vertex(Draft *d, EinRegion *r, const Fold *f, EinNode *const *input) {
  Exprs *p = d->c->b.old->exprs;
  const EinNode *n = d->n;
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  const Expr **bound = arena_copy(d->c->b.arena, n->bound, labels * sizeof *bound), *to[64] = {0};
  if (f->op == OP_MOD) bound[f->dim] = f->by;
  else bound[f->dim] = expr_int(p, DT_I64, n->bound[f->dim]->i / f->by->i);
  if (f->op == OP_IDIV) to[f->dim] = expr_op2(p, OP_MUL, expr_label(p, f->dim), f->by);
  if (f->op == OP_IDIV) sum_relabel(p, &d->sum, labels, to);
  EinNode *made = rebuild_part(&d->c->b, r, n, &d->sum, bound, n->label, input);
  made->name = n->name;
  rebuild_note(&d->c->b, "points that are alike made once", n->place);
  d->c->some = true;
  return made;
}

static bool may_fold(const Alike *c, const EinNode *n) {
  const EinSum *s = n->sum;
  return !c->stays[n->id] && n->rank == s->n_out && !s->by && s->n_out + s->n_red < 63;
}

static EinNode *alike(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Draft d = {.c = env, .n = n, .sum = *n->sum};
  bool reads = false;
  Fold f = {0};
  for (uint32_t k = 0; k < n->sum->n_slot; k++) reads |= d.c->fold[n->input[k]->id].by != NULL;
  if (reads) sum_map(b->old->exprs, &d.sum, read_folded, &d);
  for (d.label = 0; may_fold(d.c, n) && !f.by && d.label < n->sum->n_out; d.label++) f = label_fold(&d);
  d.c->fold[n->id] = f;
  if (!reads && !f.by) return rebuild_copy(b, r, n);
  EinNode **input = rebuild_inputs(b, n, 0);
  return f.by ? folded_vertex(&d, r, &f, input) : rebuild_vertex(b, r, n, &d.sum, n->bound, n->label, input);
}

EinGraph *graph_alike(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = alike};
  Alike c = {.b = {.arena = a, .old = g, .pass = "alike", .notes = notes}, .scratch = arena_new(),
      .stays = nodes_shown(a, g), .fold = NEW_ARRAY(a, Fold, g->n_nodes + 1)};
  readers_look(&c, g->top);
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return c.some ? graph_simplify(a, made, notes) : made;
}
