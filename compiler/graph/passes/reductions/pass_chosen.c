/* graph/passes/reductions/pass_chosen.c - a sum over several choices of a matrix, as of the two experts of each token
 * in a mixture of them:
 *
 *     Y[t,f] = sum[k,c] x[t,c,k] * W[g[t,k],c,f]
 *
 * becomes a product of each choice, whose rows the schedule sorts by what they choose (task/grouped.h), and their sum:
 *
 *     H[t,k,f] = sum[c] x[t,c,k] * W[g[t,k],c,f],   Y[t,f] = sum[k] H[t,k,f]
 *
 * Row by row, each would read a whole matrix. */
#include "graph/passes/contract/contract.h"

enum { CHOICES_MOST = 64 };  /* of a row: more would be large as a tensor */

typedef struct Chosen {
  const EinNode *n;
  uint64_t key, choice;      /* the labels that the choice depends on; the reduced ones of them */
} Chosen;

static double points_of(const EinNode *n, uint64_t labels) {
  double points = 1;
  for (uint32_t l = 0; l < n->sum->n_out + n->sum->n_red; l++)
    if (labels >> l & 1) points *= extent_guess(n->bound[l]);
  return points;
}

/* Whether the read is of a matrix that data choose by some reduced labels, and others. */
static bool is_matrix(Chosen *c, const Expr *read) {
  const EinNode *n = c->n;
  uint64_t out = labels_below(n->sum->n_out), other = 0, key = 0;
  double groups = 0;
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k], *size = n->input[read->i]->dim[k];
    if (!(e->has & HAS_READ)) {
      other |= e->labels;
      continue;
    }
    if (key || size->kind != EX_INT) return false;
    key = e->labels, groups = (double)size->i;
  }
  c->key = key, c->choice = key & ~out;
  if (!c->choice || !(key & out) || key & other || points_of(n, c->choice) > (double)CHOICES_MOST) return false;
  return grouped_pays(points_of(n, key), groups, points_of(n, other & out), points_of(n, other & ~out));
}

static bool chosen_find(Arena *scratch, Chosen *c) {
  const EinSum *s = c->n->sum;
  bool adds = s->reducer == RED_SUM || s->reducer == RED_MAX || s->reducer == RED_MIN;
  if (!adds || s->where || s->domain || s->by || s->n_red < 2 || s->n_out + s->n_red > ORDER_LABELS) return false;
  ExprNodes nodes = expr_nodes(scratch, s->body, HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_READ && is_matrix(c, e)) return true;
  return false;
}

/* The product's labels: the result's that choose, the choices', its others, and the reduced ones that are left. */
typedef struct Labels {
  uint32_t n_out;
  uint32_t of[ORDER_LABELS]; /* n's number */
} Labels;

static Labels labels_order(const Chosen *c) {
  const EinSum *s = c->n->sum;
  uint64_t out = labels_below(s->n_out), all = labels_below(s->n_out + s->n_red);
  const uint64_t part[] = {c->key & out, c->choice, out & ~c->key, all & ~out & ~c->choice};
  Labels l = {0};
  uint32_t n = 0;
  for (size_t i = 0; i < COUNT(part); i++) {
    if (i + 1 == COUNT(part)) l.n_out = n;
    for (uint32_t k = 0; k < s->n_out + s->n_red; k++)
      if (part[i] >> k & 1) l.of[n++] = k;
  }
  return l;
}

static EinNode *product_make(Rebuild *b, EinRegion *r, const EinNode *n, const Labels *l) {
  Exprs *p = b->g->exprs;
  EinSum s = *n->sum;
  const Expr *to[ORDER_LABELS] = {0}, *bound[ORDER_LABELS];
  Str label[ORDER_LABELS];
  uint32_t all = s.n_out + s.n_red;
  for (uint32_t k = 0; k < all; k++)
    to[l->of[k]] = expr_label(p, k), bound[k] = n->bound[l->of[k]], label[k] = n->label[l->of[k]];
  s.n_out = l->n_out, s.n_red = all - l->n_out;
  s.body = expr_relabel(p, s.body, all, to);
  s.dtype = s.acc;
  EinNode **input = NEW_ARRAY(b->arena, EinNode *, s.n_slot + 1);
  for (uint32_t i = 0; i < s.n_slot; i++) input[i] = rebuild_to(b, n->input[i]);
  return rebuild_part(b, r, n, &s, bound, label, input);
}

/* Adds the product up over the choices. */
static EinNode *sum_make(Rebuild *b, EinRegion *r, const EinNode *n, const Labels *l, EinNode *product) {
  Exprs *p = b->g->exprs;
  EinSum s = {.n_out = n->sum->n_out, .n_slot = 1, .reducer = n->sum->reducer, .acc = n->sum->acc};
  const Expr *at[ORDER_LABELS], *bound[ORDER_LABELS];
  Str label[ORDER_LABELS];
  for (uint32_t k = 0; k < s.n_out; k++) bound[k] = n->bound[k], label[k] = n->label[k];
  for (uint32_t k = 0; k < l->n_out; k++) {
    uint32_t own = l->of[k] < s.n_out ? l->of[k] : s.n_out + s.n_red++;
    at[k] = expr_label(p, own), bound[own] = n->bound[l->of[k]], label[own] = n->label[l->of[k]];
  }
  s.dtype = n->sum->dtype;
  s.body = expr_read(p, s.acc, 0, l->n_out, at);
  return rebuild_vertex(b, r, n, &s, bound, label, &product);
}

static EinNode *chosen_apart(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Chosen c = {.n = n};
  if (!chosen_find(env, &c)) return rebuild_copy(b, r, n);
  Labels l = labels_order(&c);
  rebuild_note(b, "choices apart", n->place);
  return sum_make(b, r, n, &l, product_make(b, r, n, &l));
}

EinGraph *graph_chosen(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = chosen_apart};
  Rebuild b = {.arena = a, .old = g, .pass = "chosen", .notes = notes};
  Arena *scratch = arena_new();
  EinGraph *made = rebuild(&b, a, g, &rules, scratch);
  arena_free(scratch);
  return made;
}
