/* graph/passes/reductions/pass_chosen.c - sums over more than the points that data choose. A sum over several choices of
 * a matrix, as of the two experts of each token in a mixture of them:
 *
 *     Y[t,f] = sum[k,c] x[t,c,k] * W[g[t,k],c,f]
 *
 * becomes a product of each choice, whose rows the schedule sorts by what they choose (task/grouped.h), and their sum:
 *
 *     H[t,k,f] = sum[c] x[t,c,k] * W[g[t,k],c,f],   Y[t,f] = sum[k] H[t,k,f]
 *
 * Row by row, each would read a whole matrix. And where data choose the result that a point goes to, as in the gradient
 * of messages along edges, what is summed for each point is summed first:
 *
 *     D[n,c] = sum[z,f where from[z] == n] y[z,f] * W[rel[z],c,f]
 *     T[z,c] = sum[f] y[z,f] * W[rel[z],c,f],   D[n,c] = sum[z where from[z] == n] T[z,c]
 *
 * A point then goes to its result once. T has values only for points that go somewhere, if making others could fail. */
#include "expr/prove/in_range.h"
#include "graph/passes/contract/contract.h"

enum {
  CHOICES_MOST = 64,         /* of a row: more would be large as a tensor */
  TERMS_LEAST = 8,           /* of a point: with fewer, the tensor of points costs as much as it spares */
  GROWS_MOST = 4,            /* it has at most so many times the elements of the largest operand */
  CONJUNCTS_MOST = 32
};

typedef struct Chosen {
  const EinNode *n;
  Arena *scratch;
  Exprs *p;
  uint32_t n_out, n_all;     /* the first step's labels: those of its result, and all; */
  uint32_t of[ORDER_LABELS]; /*   n's numbers of them */
  const Expr *domain;        /* where it has a value, by n's labels; NULL: everywhere */
} Chosen;

static double points_of(const EinNode *n, uint64_t labels) {
  double points = 1;
  for (uint32_t l = 0; l < n->sum->n_out + n->sum->n_red; l++)
    if (labels >> l & 1) points *= extent_guess(n->bound[l]);
  return points;
}

static uint64_t out_of(const EinNode *n) { return labels_below(n->sum->n_out); }
static uint64_t red_of(const EinNode *n) { return labels_below(n->sum->n_out + n->sum->n_red) & ~out_of(n); }

static void labels_add(Chosen *c, uint64_t labels) {
  for (uint32_t k = 0; k < c->n->sum->n_out + c->n->sum->n_red; k++)
    if (labels >> k & 1) c->of[c->n_all++] = k;
}

/* ---- a matrix is chosen ------------------------------------------------------------------------------------------ */

/* Whether the read is of a matrix that data choose by some reduced labels, and others; *key: all of these. */
static bool is_matrix(const EinNode *n, const Expr *read, uint64_t *key) {
  uint64_t other = 0;
  double groups = 0;
  *key = 0;
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k], *size = n->input[read->i]->dim[k];
    if (!(e->has & HAS_READ)) {
      other |= e->labels;
      continue;
    }
    if (*key || size->kind != EX_INT) return false;
    *key = e->labels, groups = (double)size->i;
  }
  uint64_t choice = *key & red_of(n);
  if (!choice || !(*key & out_of(n)) || *key & other || points_of(n, choice) > (double)CHOICES_MOST) return false;
  return grouped_pays(
      points_of(n, *key), groups, points_of(n, other & out_of(n)), points_of(n, other & red_of(n)));
}

static bool matrix_find(Chosen *c) {
  const EinNode *n = c->n;
  uint64_t key;
  if (n->sum->where) return false;
  ExprNodes reads = expr_nodes(c->scratch, n->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));) {
    if (!is_matrix(n, e, &key)) continue;
    labels_add(c, key & out_of(n));
    labels_add(c, key & red_of(n));
    labels_add(c, out_of(n) & ~key);
    c->n_out = c->n_all;
    labels_add(c, red_of(n) & ~key);
    return true;
  }
  return false;
}

/* ---- a result is chosen ------------------------------------------------------------------------------------------ */

/* The condition that the result that this conjunct chooses exists; NULL: it chooses none. */
static const Expr *exists(const Chosen *c, const Expr *e) {
  Exprs *p = c->p;
  const EinNode *n = c->n;
  for (uint32_t k = 0; is_op(e, OP_EQ) && e->arg[0]->dtype == DT_I64 && k < 2; k++) {
    const Expr *label = e->arg[k], *key = e->arg[1 - k];
    if (label->kind != EX_LABEL || label->i >= n->sum->n_out || !(key->has & HAS_READ) || key->labels & out_of(n))
      continue;
    return expr_op2(p, OP_AND, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), key),
        expr_op2(p, OP_LT, key, n->bound[label->i]));
  }
  return NULL;
}

/* What the predicate says of the points that go somewhere. Returns false if data choose no result. */
static bool predicate_look(Chosen *c) {
  const Expr *part[CONJUNCTS_MOST];
  uint32_t parts;
  bool puts = false;
  if (!c->n->sum->where || !op_parts(c->scratch, c->n->sum->where, OP_AND, CONJUNCTS_MOST, part, &parts)) return false;
  for (uint32_t i = 0; i < parts; i++) {
    const Expr *some = exists(c, part[i]);
    puts |= some != NULL;
    if (!some && !(part[i]->labels & out_of(c->n))) some = part[i];
    c->domain = expr_and(c->p, c->domain, some);
  }
  return puts;
}

static bool is_large(const Chosen *c, uint64_t labels) {
  double most = 0;
  for (uint32_t i = 0; i < c->n->sum->n_slot; i++) {
    double elements = 1;
    for (uint32_t k = 0; k < c->n->input[i]->rank; k++) elements *= extent_guess(c->n->input[i]->dim[k]);
    if (elements > most) most = elements;
  }
  return points_of(c->n, labels) > (double)GROWS_MOST * most;
}

typedef struct Range { const EinNode *n; bool open; } Range;

static const Expr *extent_read(void *ctx, const Expr *read, uint32_t k) {
  return index_is_data(read->arg[k]) ? NULL : ((const Range *)ctx)->n->input[read->i]->dim[k];
}

static void is_open(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  (void)slot, (void)k, (void)index, (void)why;
  ((Range *)ctx)->open = true;
}

/* Whether the body can be computed for all points, or only where the domain holds. */
static bool is_total(const Chosen *c, const Expr *domain) {
  const EinNode *n = c->n;
  uint32_t depth = n->region->depth;
  const Expr **turn = NEW_ARRAY(c->scratch, const Expr *, depth + 2);
  for (const EinRegion *r = n->region; r->repeat; r = r->parent) turn[r->depth] = r->turns;
  Range r = {n, false};
  EinSum s = *n->sum;
  s.where = domain;
  InRange q = {.exprs = c->p, .arena = c->scratch, .facts = {.turn = turn, .n_turn = n->region->repeat ? depth + 1 : 0},
      .ctx = &r, .extent = extent_read, .open = is_open};
  in_range_sum(&q, &s, n->bound);
  return !r.open;
}

static bool result_find(Chosen *c) {
  const EinNode *n = c->n;
  const EinSum *s = n->sum;
  if (!predicate_look(c)) return false;
  uint64_t points = s->where->labels & red_of(n), terms = red_of(n) & ~points, kept = s->body->labels & out_of(n);
  if (!points || points_of(n, terms) < (double)TERMS_LEAST || is_large(c, points | kept)) return false;
  if (s->body->labels & s->where->labels & out_of(n)) return false;
  if (!expr_can_fail(s->body) && is_total(c, NULL)) c->domain = NULL;
  else if (!is_total(c, c->domain)) return false;
  for (uint32_t l = 0; c->domain && l < s->n_out; l++)
    if (n->bound[l]->kind != EX_INT || n->bound[l]->i < 1) return false; /* there may be no result, and nothing fails */
  labels_add(c, points);
  labels_add(c, kept);
  c->n_out = c->n_all;
  labels_add(c, terms);
  return true;
}

/* ---- the two steps ----------------------------------------------------------------------------------------------- */

static EinNode *first_make(Rebuild *b, EinRegion *r, const Chosen *c) {
  const EinNode *n = c->n;
  EinSum s = *n->sum;
  const Expr *to[ORDER_LABELS] = {0}, *bound[ORDER_LABELS];
  Str label[ORDER_LABELS];
  uint32_t all = s.n_out + s.n_red;
  for (uint32_t k = 0; k < c->n_all; k++)
    to[c->of[k]] = expr_label(c->p, k), bound[k] = n->bound[c->of[k]], label[k] = n->label[c->of[k]];
  s.n_out = c->n_out, s.n_red = c->n_all - c->n_out;
  s.body = expr_relabel(c->p, s.body, all, to);
  s.where = NULL;
  s.domain = c->domain ? expr_relabel(c->p, c->domain, all, to) : NULL;
  s.dtype = s.acc;
  return rebuild_part(b, r, n, &s, bound, label, rebuild_inputs(b, n, 0));
}

/* Adds the first step's result up over what is left. */
static EinNode *second_make(Rebuild *b, EinRegion *r, const Chosen *c, EinNode *first) {
  const EinNode *n = c->n;
  EinSum s = *n->sum;
  const Expr *to[ORDER_LABELS] = {0}, *at[ORDER_LABELS], *bound[ORDER_LABELS];
  Str label[ORDER_LABELS];
  uint32_t all = s.n_out + s.n_red, next = s.n_out;
  for (uint32_t k = 0; k < s.n_out; k++) bound[k] = n->bound[k], label[k] = n->label[k];
  for (uint32_t k = 0; k < c->n_out; k++) {
    uint32_t own = c->of[k] < s.n_out ? c->of[k] : next++;
    to[c->of[k]] = at[k] = expr_label(c->p, own);
    bound[own] = n->bound[c->of[k]], label[own] = n->label[c->of[k]];
  }
  EinNode **input = rebuild_inputs(b, n, 1);
  input[s.n_slot] = first;
  s.n_red = next - s.n_out;
  s.body = expr_read(c->p, s.acc, s.n_slot++, c->n_out, at);
  s.where = s.where ? expr_relabel(c->p, s.where, all, to) : NULL;
  return rebuild_vertex(b, r, n, &s, bound, label, input);
}

static EinNode *chosen_apart(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  const EinSum *s = n->sum;
  Chosen c = {.n = n, .scratch = env, .p = b->g->exprs};
  bool adds = s->reducer == RED_SUM || s->reducer == RED_MAX || s->reducer == RED_MIN;
  if (!adds || s->domain || s->by || s->n_red < 2 || s->n_out + s->n_red > ORDER_LABELS) return rebuild_copy(b, r, n);
  if (!matrix_find(&c) && !result_find(&c)) return rebuild_copy(b, r, n);
  rebuild_note(b, "choices apart", n->place);
  return second_make(b, r, &c, first_make(b, r, &c));
}

EinGraph *graph_chosen(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = chosen_apart};
  Rebuild b = {.arena = a, .old = g, .pass = "chosen", .notes = notes};
  Arena *scratch = arena_new();
  return rebuild_free(&b, a, g, &rules, scratch, scratch);
}
