/* graph/passes/narrow/pass_picked.c - makes only those results of a reduction that are picked from it:
 *
 *     Z[e,t,f] = sum[c] x[t,c] * W[e,c,f],   Y[t,f] = Z[g[t],t,f]
 *
 * becomes Y[t,f] = sum[c] x[t,c] * W[g[t],c,f], if nothing else reads Z and there are fewer points than it has. An
 * index that depends on data is tested where Z is read; then it must be tested where what Z reads is read: as an index
 * of an axis as long, at every point. */
#include "expr/prove/in_range.h"
#include "graph/passes/rebuild.h"

enum { LABELS_MOST = 60, FEWER = 2 };

typedef struct Picked {
  Rebuild b;
  const bool *shown;         /* by old id: something other than a vertex uses it, in its shape */
  const uint32_t *uses;      /*   slots that read it; */
  bool *taken;               /*   it is made where it was read */
} Picked;

static double points_of(const EinNode *n) {
  double points = 1;
  for (uint32_t k = 0; k < n->sum->n_out; k++) points *= n->bound[k]->kind == EX_INT ? (double)n->bound[k]->i : 256;
  return points;
}

/* Whether the label is an index of a whole axis in some read that is made for every point. */
static bool is_tested(const EinNode *of, const Expr *e, uint32_t label) {
  bool lazy = e->kind == EX_OP && op_info[e->op].laws & LAW_LAZY;
  for (uint32_t k = 0; k < (lazy ? 1 : e->n); k++) {
    bool index = e->kind == EX_READ && e->arg[k]->kind == EX_LABEL && e->arg[k]->i == label;
    if (index && of->input[e->i]->dim[k] == of->bound[label]) return true;
    if (is_tested(of, e->arg[k], label)) return true;
  }
  return false;
}

/* Whether an index that data decide is tested all the same. */
static bool are_tested(const EinNode *of, const Expr *read) {
  const EinSum *s = of->sum;
  bool points = !s->where;
  for (uint32_t r = s->n_out; r < s->n_out + s->n_red; r++)
    points &= of->bound[r]->kind == EX_INT && of->bound[r]->i > 0;
  for (uint32_t k = 0; k < read->n; k++)
    if (index_is_data(read->arg[k]) && (!points || !is_tested(of, s->body, k))) return false;
  return true;
}

/* The reduction of which n only picks points; NULL: none. */
static const EinNode *picked_of(const Picked *c, const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *e = n->kind == EIN_VERTEX && s->reducer == RED_NONE ? s->body : NULL;
  if (!e || e->kind != EX_READ || s->domain || s->by) return NULL;
  const EinNode *of = n->input[e->i];
  if (of->kind != EIN_VERTEX || of->region != n->region || c->shown[of->id] || c->uses[of->id] != 1) return NULL;
  const EinSum *in = of->sum;
  bool plain = in->n_red && !in->by && !in->domain && of->rank == in->n_out;
  if (!plain || in->dtype != s->acc || s->dtype != s->acc) return NULL;
  if (s->n_out + in->n_red > LABELS_MOST || in->n_out + in->n_red > LABELS_MOST) return NULL;
  if (in->reducer == RED_MONOID || expr_can_fail(in->body) || (in->where && expr_can_fail(in->where))) return NULL;
  if (points_of(n) * (double)FEWER > points_of(of) || !are_tested(of, e)) return NULL;
  return of;
}

/* Slots of `of` come behind those of its reader. */
static const Expr *leaf_behind(void *env, Exprs *x, const Expr *e) {
  const EinNode *n = env;
  return e->kind == EX_READ ? expr_read(x, (DType)e->dtype, e->i + n->sum->n_slot, e->n, e->arg) : e;
}

static const Expr *put_at(const EinNode *n, Exprs *p, const Expr *e, uint32_t labels, const Expr *const *to) {
  return e ? expr_relabel(p, expr_map(p, e, leaf_behind, (void *)(uintptr_t)n), labels, to) : NULL;
}

static EinNode *picked(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  const Picked *c = env;
  const EinNode *of = picked_of(c, n);
  Exprs *p = b->g->exprs;
  if (!of) return rebuild_copy(b, r, n);
  EinSum s = *of->sum;
  const Expr *to[LABELS_MOST], *bound[LABELS_MOST];
  Str label[LABELS_MOST];
  uint32_t n_out = n->sum->n_out, labels = s.n_out + s.n_red;
  for (uint32_t k = 0; k < n_out; k++) bound[k] = n->bound[k], label[k] = n->label[k];
  for (uint32_t k = 0; k < labels; k++) {
    uint32_t own = n_out + k - s.n_out;
    to[k] = k < s.n_out ? n->sum->body->arg[k] : expr_label(p, own);
    if (k < s.n_out) continue;
    bound[own] = of->bound[k];
    label[own] = str_apart(b->old->strings, own, label, of->label[k]);
  }
  s.body = put_at(n, p, s.body, labels, to);
  s.where = put_at(n, p, s.where, labels, to);
  EinNode **input = NEW_ARRAY(b->arena, EinNode *, n->sum->n_slot + s.n_slot + 1);
  for (uint32_t k = 0; k < n->sum->n_slot; k++) input[k] = n->input[k] == of ? NULL : rebuild_to(b, n->input[k]);
  for (uint32_t k = 0; k < s.n_slot; k++) input[n->sum->n_slot + k] = rebuild_to(b, of->input[k]);
  s.n_out = n_out, s.n_slot += n->sum->n_slot;
  rebuild_note(b, "only what is picked is made", n->place);
  return rebuild_vertex(b, r, n, &s, bound, label, input);
}

static void picked_find(Picked *c, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i], *of = picked_of(c, n);
    if (of) c->taken[of->id] = true;
    if (n->kind == EIN_REPEAT) picked_find(c, n->body);
  }
}

static bool not_taken(void *env, const EinNode *n) { return !((const Picked *)env)->taken[n->id]; }

EinGraph *graph_picked(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.keep = not_taken, .vertex = picked};
  Picked c = {.b = {.arena = a, .old = g, .pass = "picked", .notes = notes}, .shown = nodes_shown(a, g),
      .uses = nodes_used(a, g), .taken = NEW_ARRAY(a, bool, g->n_nodes + 1)};
  picked_find(&c, g->top);
  return rebuild(&c.b, a, g, &rules, &c);
}
