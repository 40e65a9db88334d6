/* graph/grad/grad.c - walks backwards from the loss. Operands have smaller numbers than their readers, so in
 * decreasing order each vertex has received all contributions before it makes its own. */
#include "inside.h"

typedef struct Made {        /* of one loss, as seen from one region */
  EinRegion *region;
  Map adjoint;               /* node -> vertex; complete once it is here: all readers have contributed */
  Map left;                  /* repeat -> Shares, its contributions to all nodes outside */
  struct Made *next;
} Made;

typedef struct Down {
  Gradients *all;
  Made *made;
  EinNode *loss, *by;
  uint32_t n;                /* numbers of nodes */
  EinNode **node;            /* by number: the nodes on which the loss depends; else NULL */
  bool *depends;               /* on `by`, by floats */
  bool *wanted;              /* it needs an adjoint and has none yet */
  Shares *shares;            /* by number */
} Down;

Gradients *gradients_new(Arena *a, EinGraph *g, int64_t keep) {
  Gradients *all = MAKE(a, Gradients, .arena = a, .g = g, .keep = keep > 0 ? keep : GRADIENT_KEEP);
  all->made = all->saved = all->kept = all->spare = all->rules = all->stated = map_new(a);
  return all;
}

double gradients_lower(const Gradients *all) { return all->lower; }

bool gradients_unsized(const Gradients *all) { return all->unsized; }

static Made *made_of(Gradients *all, EinRegion *r, const EinNode *loss) {
  Made *first = map_find(&all->made, loss), *m = first;
  while (m && m->region != r) m = m->next;
  if (m) return m;
  m = MAKE(all->arena, Made, r, map_new(all->arena), map_new(all->arena), first);
  map_put(&all->made, loss, m);
  return m;
}

/* ---- dependencies -------------------------------------------------------------------------------------- */

static bool is_inside(const EinRegion *r, const EinRegion *of) {
  while (r && r != of) r = r->parent;
  return r != NULL;
}

static void add_outer(Arena *a, const EinRegion *body, EinNode *n, Nodes *out) {
  if (n && !is_inside(n->region, body)) vec_push(a, *out, n);
}

/* Finds what a repeat reads from outside. */
static void repeat_operands(const Gradients *all, const EinRegion *of, const EinRegion *body, Nodes *out) {
  Arena *a = all->arena;
  add_outer(a, body, of->bound, out);
  for (uint32_t i = 0; i < of->states.len; i++)
    add_outer(a, body, of->states.at[i].init, out), add_outer(a, body, of->states.at[i].next, out);
  vec_each_of(EinNode, n, of->nodes) {
    for (uint32_t k = 0; n->kind == EIN_VERTEX && k < n->sum->n_slot; k++) add_outer(a, body, n->input[k], out);
    const GradRule *rule = rule_of(all, n);
    for (uint32_t k = 0; rule && k < rule->n; k++) add_outer(a, body, rule->by[k], out);
    if (n->kind == EIN_REPEAT) repeat_operands(all, n->body, body, out);
  }
}

bool is_result(const EinNode *n) { return n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS; }

Nodes operands_of(const Gradients *all, EinNode *n) {
  Arena *a = all->arena;
  Nodes out = {0};
  const GradRule *rule = rule_of(all, n);
  for (uint32_t k = 0; n->kind == EIN_VERTEX && k < n->sum->n_slot; k++) vec_push(a, out, n->input[k]);
  if (is_result(n)) vec_push(a, out, n->repeat);
  for (uint32_t k = 0; rule && k < rule->n; k++) vec_push(a, out, rule->by[k]);
  if (n->kind == EIN_REPEAT) repeat_operands(all, n->body, n->body, &out);
  return out;
}

static void down_find(Down *d) {
  Arena *a = d->all->arena;
  Nodes todo = {0};
  vec_push(a, todo, d->loss);
  while (todo.len) {
    EinNode *n = vec_pop(todo);
    if (d->node[n->id]) continue;
    d->node[n->id] = n;
    Nodes from = operands_of(d->all, n);
    for (uint32_t k = 0; k < from.len; k++) vec_push(a, todo, from.at[k]);
  }
  for (uint32_t i = 0; i < d->n; i++) {
    EinNode *n = d->node[i];
    if (!n || (!dtype_is_float(n->dtype) && n->kind != EIN_REPEAT)) continue;
    Nodes from = n == d->by ? (Nodes){0} : operands_of(d->all, n);
    d->depends[i] = n == d->by;
    for (uint32_t k = 0; k < from.len; k++) d->depends[i] |= d->depends[from.at[k]->id];
    d->wanted[i] = d->depends[i] && !map_find(&d->made->adjoint, n);
  }
}

/* ---- adjoints ------------------------------------------------------------------------------------------ */

EinNode *vertex_like(Gradients *all, EinRegion *r, const EinNode *n, const Expr *body) {
  Str *label = NEW_ARRAY(all->arena, Str, n->rank + 1);
  for (uint32_t k = 0; k < n->rank; k++) label[k] = strings_printf(all->g->strings, "x%u", k);
  EinSum s = {.n_out = n->rank, .reducer = RED_NONE, .acc = n->dtype, .dtype = n->dtype, .body = body};
  Str name = n->name ? strings_printf(all->g->strings, "grad.%s", n->name->s) : NULL;
  return adjoint_new(
      all, r, &s, n->dim, n->kind == EIN_VERTEX && n->rank == n->sum->n_out ? n->label : label, name, n->place);
}

EinNode *vertex_constant(Gradients *all, EinRegion *r, const EinNode *n, double v) {
  return vertex_like(all, r, n, expr_real(all->g->exprs, n->dtype, v));
}

const Expr *whole_read(Gradients *all, EinNode *n) {
  return id_read(all, n, n->rank, exprs_labels(all->arena, all->g->exprs, n->rank));
}

EinNode *shares_added(Gradients *all, EinRegion *r, const EinNode *n, const Shares *s) {
  const Expr *sum = NULL;
  if (s->len < 2) return s->len ? s->at[0].adjoint : NULL;
  for (uint32_t i = 0; i < s->len; i++) {
    const Expr *one = whole_read(all, s->at[i].adjoint);
    sum = sum ? expr_op2(all->g->exprs, OP_ADD, sum, one) : one;
  }
  return vertex_like(all, r, n, sum);
}

static bool wants_any(const Down *d, const EinNode *m) {
  for (uint32_t k = 0; k < m->sum->n_slot; k++)
    if (d->wanted[m->input[k]->id]) return true;
  const GradRule *rule = rule_of(d->all, m); /* of a parameter, perhaps, that the body does not use */
  for (uint32_t k = 0; rule && k < rule->n; k++)
    if (d->wanted[rule->by[k]->id]) return true;
  return false;
}

static bool repeat_leaves(Down *d, EinNode *m, Shares *out, GradTrouble *t) {
  Arena *a = d->all->arena;
  Shares *known = map_find(&d->made->left, m);
  Results have = {0};
  if (known) return *out = *known, true;
  for (uint32_t i = d->n; i-- > m->id;) {
    EinNode *n = d->node[i], *adjoint = n && is_result(n) && n->repeat == m ? map_find(&d->made->adjoint, n) : NULL;
    if (adjoint) vec_push(a, have, ((Share){n, adjoint}));
  }
  if (!have.len) return true;
  if (!repeat_adjoint(d->all, d->made->region, m, &have, NULL, out, t)) /* perhaps only for the wanted ones */
    return repeat_adjoint(d->all, d->made->region, m, &have, d->wanted, out, t);
  known = arena_copy(a, out, sizeof *known);
  map_put(&d->made->left, m, known);
  return true;
}

/* Passes contributions on to all operands. */
static bool leave(Down *d, EinNode *m, EinNode *adjoint, GradTrouble *t) {
  Shares out = {0};
  if (m == d->by || is_result(m)) return true; /* the repeat contributes for all its results at once */
  if (m->kind == EIN_REPEAT) {
    if (!repeat_leaves(d, m, &out, t)) return false;
  } else if (m->kind != EIN_VERTEX || !wants_any(d, m)) {
    return true;
  } else if (!vertex_adjoint(d->all, d->made->region, m, adjoint, d->wanted, &out, t)) {
    return false;
  }
  for (uint32_t i = 0; i < out.len; i++) vec_push(d->all->arena, d->shares[out.at[i].node->id], out.at[i]);
  return true;
}

EinNode *gradient(Gradients *all, EinRegion *r, EinNode *loss, EinNode *by, bool *none, GradTrouble *t) {
  Down d = {.all = all,
      .made = made_of(all, r, loss),
      .loss = loss,
      .by = by,
      .n = all->g->n_nodes}; /* what gradients save of a repeat is made after it */
  d.node = NEW_ARRAY(all->arena, EinNode *, d.n);
  d.depends = NEW_ARRAY(all->arena, bool, d.n);
  d.wanted = NEW_ARRAY(all->arena, bool, d.n);
  d.shares = NEW_ARRAY(all->arena, Shares, d.n);
  down_find(&d);
  *none = !d.depends[loss->id];
  if (*none) return vertex_constant(all, r, by, 0);
  if (loss == by) return vertex_constant(all, r, by, 1);
  for (uint32_t i = d.n; i-- > by->id;) {
    EinNode *n = d.node[i], *adjoint = NULL;
    if (!d.depends[i]) continue;
    if (n == loss && is_result(n)) adjoint = vertex_constant(all, r, n, 1);
    if (n != loss) adjoint = d.wanted[i] ? shares_added(all, r, n, &d.shares[i]) : map_find(&d.made->adjoint, n);
    if (adjoint) map_put(&d.made->adjoint, n, adjoint);
    if ((adjoint || n == loss || n->kind == EIN_REPEAT) && !leave(&d, n, adjoint, t)) return NULL;
  }
  EinNode *made = map_find(&d.made->adjoint, by);
  return made ? made : vertex_constant(all, r, by, 0);
}
