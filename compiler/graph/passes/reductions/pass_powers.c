/* graph/passes/reductions/pass_powers.c - writes out reductions over the exponents of powers, and over choices:
 *
 *     Y[i] = sum[k:4] c[k] * X[i]^k        becomes        Y[i] = c[0] + c[1] * X[i] + c[2] * X[i]^2 + c[3] * X[i]^3
 *
 * in the order of k. A power with a known number of factors is a few products; with another number for each term it is
 * a logarithm and an exponential. What else is reduced stays; but a product of matrices that has such powers on one
 * side, each for many results, stays as a whole.
 *
 *     Y[i,j] = sum[p:2] if p == 0 then X[i,j] else X[j,i]        becomes        Y[i,j] = X[i,j] + X[j,i]
 *
 * if nothing else is reduced: no point reads what another one reads, so a loop over them would only ask which it is. */
#include "graph/passes/contract/contract.h"

enum {
  POINTS_MOST = 32,
  CHOICES_MOST = 4,          /* points of choices */
  NODES_MOST = 1200          /* of all terms together */
};

typedef struct Powers {
  Rebuild b;
  Arena *scratch;
  bool some;                 /* a vertex was changed */
} Powers;

typedef struct Draft {       /* the current vertex */
  EinSum sum;
  const Expr **bound;
  Str *label;
} Draft;

static bool may_have(const EinNode *n) {
  const EinSum *s = n->sum;
  const ReducerInfo *r = &reducer_info[s->reducer];
  return s->n_red && !s->by && !s->monoid && !s->domain && s->acc != DT_BOOL && r->combine != OPS && r->identity &&
      s->n_out + s->n_red < ORDER_LABELS && !expr_can_fail(s->body) && !(s->where && expr_can_fail(s->where));
}

/* Whether e is a power of something other than a number, whose exponent is made of the label alone. */
static bool is_power_by(const Expr *e, uint64_t label) {
  if (!is_op(e, OP_POW)) return false;
  const Expr *x = e->arg[0], *n = e->arg[1];
  return n->labels == label && !(n->has & HAS_READ) && !(x->labels & label) && (x->labels || x->has & HAS_READ);
}

/* Whether the body has such a power, with these labels too, and all terms together are not too long. */
static bool has_power(Powers *c, const Expr *body, uint64_t label, uint64_t with, int64_t points) {
  ExprNodes nodes = expr_nodes(c->scratch, body, 0);
  int64_t count = 0;
  bool power = false;
  for (const Expr *e; (e = expr_node(&nodes)); count++) power |= is_power_by(e, label) && !(with & ~e->labels);
  return power && count * points <= NODES_MOST;
}

/* Whether the body chooses between reads by the label alone, which no index has. */
static bool has_choice(Powers *c, const Expr *body, uint64_t label) {
  ExprNodes nodes = expr_nodes(c->scratch, body, HAS_READ);
  bool choice = false;
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (e->kind == EX_READ && e->labels & label) return false;
    bool by = is_op(e, OP_SELECT) && e->arg[0]->labels == label && !(e->arg[0]->has & HAS_READ);
    choice |= by && e->arg[1]->has & HAS_READ && e->arg[2]->has & HAS_READ;
  }
  return choice;
}

/* The next reduced label to write out; the number of labels: there is none. A predicate on this label and on others
 * that are reduced stays as it is, as it may bound their loops. */
static uint32_t exponent_find(Powers *c, const Draft *d) {
  const EinSum *s = &d->sum;
  uint32_t labels = s->n_out + s->n_red;
  for (uint32_t l = s->n_out; l < labels; l++) {
    const Expr *n = d->bound[l];
    uint64_t label = UINT64_C(1) << l, where = s->where ? s->where->labels : 0, out = labels_below(s->n_out);
    bool alone = !(where & label) || !(where & ~out & ~label);
    bool few = n->kind == EX_INT && n->i >= 1 && n->i <= POINTS_MOST;
    if (!alone || !few) continue;
    if (has_power(c, s->body, label, s->n_red > 1 ? out : 0, n->i)) return l;
    if (s->n_red == 1 && n->i <= CHOICES_MOST && has_choice(c, s->body, label)) return l;
  }
  return labels;
}

/* Drops the label, of which one point after the other stands in the body. */
static void write_out(Powers *c, Draft *d, uint32_t l) {
  Exprs *p = c->b.g->exprs;
  EinSum *s = &d->sum;
  const Expr *to[ORDER_LABELS] = {0}, *all = NULL, *identity = reducer_identity(p, s);
  uint32_t labels = s->n_out + s->n_red;
  bool last = s->n_red == 1, within = s->where && (last || s->where->labels >> l & 1);
  for (uint32_t k = l + 1; k < labels; k++) to[k] = expr_label(p, k - 1);
  for (int64_t i = 0; i < d->bound[l]->i; i++) {
    to[l] = expr_int(p, DT_I64, i);
    const Expr *term = expr_relabel(p, s->body, labels, to);
    if (within) term = expr_select(p, expr_relabel(p, s->where, labels, to), term, identity);
    all = all ? expr_op2(p, reducer_info[s->reducer].combine, all, term) : term;
  }
  s->where = within || !s->where ? NULL : expr_relabel(p, s->where, labels, to);
  s->body = all;
  s->n_red--;
  if (last) s->reducer = RED_NONE;
  for (uint32_t k = l; k + 1 < labels; k++) d->bound[k] = d->bound[k + 1], d->label[k] = d->label[k + 1];
}

static EinNode *written_out(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Powers *c = env;
  Draft d = {.sum = *n->sum};
  uint32_t labels = d.sum.n_out + d.sum.n_red, l;
  d.bound = NEW_ARRAY(b->arena, const Expr *, labels + 1);
  d.label = NEW_ARRAY(b->arena, Str, labels + 1);
  for (uint32_t k = 0; k < labels; k++) d.bound[k] = n->bound[k], d.label[k] = n->label[k];
  while (may_have(n) && d.sum.n_red && (l = exponent_find(c, &d)) < d.sum.n_out + d.sum.n_red) {
    write_out(c, &d, l);
    rebuild_note(b, "few points written out", n->place);
    c->some = true;
  }
  if (d.sum.body == n->sum->body) return rebuild_copy(b, r, n);
  EinNode **input = rebuild_inputs(b, n, 0);
  return rebuild_vertex(b, r, n, &d.sum, d.bound, d.label, input);
}

EinGraph *graph_powers(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = written_out};
  Powers c = {.b = {.arena = a, .old = g, .pass = "powers", .notes = notes}, .scratch = arena_new()};
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return c.some ? graph_simplify(a, made, notes) : made;
}
