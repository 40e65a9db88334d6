/* graph/passes/wide/pass_wide.c - tensor networks: splits products with more labels or factors than graph_contract
 * takes (order.h) into steps of two factors, in the order that wide.h finds. A product that cannot be split stays as
 * it is.
 *
 * It is split if its reducer distributes over it, without predicate or domain, and each factor may be computed at
 * all points of its labels: all extents are numbers, none is 0, so that all of it is computed anyway; or its reads
 * are in range, label by label. */
#include "expr/sum/law.h"
#include "graph/passes/contract/contract.h"
#include "wide.h"

enum { BUDGET = 400000000, LOOKS = 64 }; /* per graph; subexpressions to visit, per factor */

typedef struct Wide {
  Rebuild b;
  int64_t budget;
} Wide;

typedef struct Network {
  Wide *w;
  Arena *scratch;
  const EinNode *root;
  Op op;
  uint32_t n_label;
  VEC(const Expr *) factor;
  WideProblem problem;
  WideTree tree;
  VEC(EinNode *) slot;       /* the root's, then those made here */
  const Expr **to;           /* by label: its replacement in the vertex under construction; else NULL */
  EinRegion *region;
  uint32_t made;
} Network;

/* ---- selection ------------------------------------------------------------------------------- */

typedef VEC(const Expr *) Factors;

/* From left to right; false: too many, or so few that they need no order. */
static bool factors_find(Network *x) {
  const EinSum *s = x->root->sum;
  Factors stack = {0};
  if (s->domain || s->where || !s->n_red || !product_op(s, &x->op)) return false;
  vec_push(x->scratch, stack, s->body);
  while (stack.len) {
    const Expr *e = vec_pop(stack);
    if (e->kind != EX_OP || e->op != x->op) {
      vec_push(x->scratch, x->factor, e);
      if (x->factor.len > WIDE_OPERANDS) return false;
      continue;
    }
    vec_push(x->scratch, stack, e->arg[1]);
    vec_push(x->scratch, stack, e->arg[0]);
    if (stack.len > WIDE_OPERANDS) return false;
  }
  return x->factor.len > 2 && (x->n_label > ORDER_LABELS || x->factor.len > ORDER_OPERANDS);
}

static bool all_computed(const Network *x) {
  for (uint32_t k = 0; k < x->n_label; k++)
    if (x->root->bound[k]->kind != EX_INT || x->root->bound[k]->i < 1) return false;
  return x->op != OP_AND && x->op != OP_OR;
}

static bool read_total(const Network *x, const Expr *e) {
  const EinNode *n = x->root->input[e->i];
  if (is_partial(n)) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || x->root->bound[e->arg[k]->i] != n->dim[k]) return false;
  return true;
}

static void label_add(Network *x, WideLabels *to, uint32_t label) {
  WideLabel l = {label, 1};
  vec_push(x->scratch, *to, l);
  uint32_t k = to->len - 1;
  for (; k && to->at[k - 1].label > label; k--) to->at[k] = to->at[k - 1];
  to->at[k] = l;
}

/* Finds its labels, in order. False: it is too large, or has too many of them, or may not be computed separately. */
static bool operand_find(Network *x, const Expr *factor, bool total, int64_t *looks, WideLabels *out) {
  Arena *a = arena_new();
  bool ok = true;
  ExprNodes nodes = expr_nodes(a, factor, HAS_LABEL | HAS_READ);
  for (const Expr *e; ok && (e = expr_node(&nodes));) {
    if (e->kind == EX_LABEL) label_add(x, out, (uint32_t)e->i);
    if (e->kind == EX_READ) ok = total || read_total(x, e);
    ok &= --*looks > 0 && out->len <= SUM_RANK / 2;
  }
  arena_free(a);
  return ok;
}

static bool problem_find(Network *x) {
  const EinNode *root = x->root;
  uint32_t n = x->factor.len, labels = x->n_label;
  int64_t looks = (int64_t)LOOKS * n;
  double *size = NEW_ARRAY(x->scratch, double, labels + 1);
  bool *keep = NEW_ARRAY(x->scratch, bool, labels + 1), total = all_computed(x);
  uint32_t *users = NEW_ARRAY(x->scratch, uint32_t, labels + 1);
  WideLabels *operand = NEW_ARRAY(x->scratch, WideLabels, n);
  for (uint32_t l = 0; l < labels; l++) {
    if (expr_is_int(root->bound[l], 0)) return false;
    size[l] = extent_guess(root->bound[l]);
    keep[l] = l < root->sum->n_out;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!operand_find(x, x->factor.at[i], total, &looks, &operand[i])) return false;
    for (uint32_t k = 0; k < operand[i].len; k++) users[operand[i].at[k].label]++;
  }
  x->problem = (WideProblem){n, labels, operand, size, users, keep};
  return true;
}

/* The labels over which a step iterates. */
static uint32_t span_of(const WideTree *t, const WideNode *x) {
  const WideLabels *a = &t->node[x->left].out, *b = &t->node[x->right].out;
  uint32_t n = 0;
  for (uint32_t i = 0, j = 0; i < a->len || j < b->len; n++) {
    bool left = j == b->len || (i < a->len && a->at[i].label <= b->at[j].label);
    bool right = i == a->len || (j < b->len && b->at[j].label <= a->at[i].label);
    i += left;
    j += right;
  }
  return n;
}

/* Whether the languages after this one accept each step as a vertex. */
static bool steps_fit(const Network *x) {
  for (uint32_t i = x->problem.n; i < x->tree.n; i++)
    if (span_of(&x->tree, &x->tree.node[i]) > SUM_RANK / 2) return false;
  return true;
}

/* ---- the vertices ---------------------------------------------------------------------------- */

/* A node of the tree: an expression over the root's labels, and these in the order of its axes. */
typedef struct Part { const Expr *value; uint32_t n; const uint32_t *axis; } Part;

static bool has_label(const WideLabels *x, uint32_t label) {
  uint32_t low = 0, high = x->len;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    if (x->at[mid].label < label) low = mid + 1;
    else high = mid;
  }
  return low < x->len && x->at[low].label == label;
}

/* The larger part's axes, with those of the other in place of its last reduced one; if none is reduced, before the
 * last ones that both have: as in order.h. Reduced labels come last. */
static uint32_t *axes_of(Arena *a, const WideNode *node, const Part *x, const Part *y, uint32_t *n) {
  uint32_t *axis = NEW_ARRAY(a, uint32_t, x->n + y->n + 1), at = UINT32_MAX, stay = 0, len = 0;
  for (uint32_t k = 0; k < x->n; k++)
    if (has_label(&node->out, x->axis[k])) stay++;
    else at = stay;
  if (at == UINT32_MAX) {
    at = stay;
    for (uint32_t k = x->n; k-- > 0 && number_among(y->n, y->axis, x->axis[k]);) at--;
  }
  for (uint32_t k = 0, seen = 0; k <= x->n; k++) {
    bool stays = k < x->n && has_label(&node->out, x->axis[k]);
    if (seen == at && (stays || k == x->n)) {
      for (uint32_t j = 0; j < y->n; j++)
        if (has_label(&node->out, y->axis[j]) && !number_among(x->n, x->axis, y->axis[j])) axis[len++] = y->axis[j];
      at = UINT32_MAX;
    }
    if (stays) axis[len++] = x->axis[k], seen++;
  }
  *n = len;
  for (uint32_t k = 0; k < x->n; k++)
    if (!has_label(&node->out, x->axis[k])) axis[len++] = x->axis[k];
  for (uint32_t k = 0; k < y->n; k++)
    if (!has_label(&node->out, y->axis[k]) && !number_among(len, axis, y->axis[k])) axis[len++] = y->axis[k];
  return axis;
}

/* Makes a vertex over the labels in `order`, the first n_out of which are its output's. last: it replaces the root. */
static EinNode *vertex_make(
    Network *x, const Expr *body, uint32_t n_out, uint32_t n_red, const uint32_t *order, bool last) {
  Wide *w = x->w;
  EinGraph *g = w->b.g;
  const EinNode *root = x->root;
  const Expr **bound = NEW_ARRAY(x->scratch, const Expr *, n_out + n_red + 1);
  Str *label = NEW_ARRAY(x->scratch, Str, n_out + n_red + 1);
  EinSum s = {.n_out = n_out, .n_red = n_red, .acc = root->sum->acc, .dtype = last ? root->sum->dtype : root->sum->acc};
  for (uint32_t k = 0; k < n_out + n_red; k++) {
    x->to[order[k]] = expr_label(g->exprs, k);
    bound[k] = root->bound[order[k]];
    label[k] = root->label[order[k]];
  }
  s.reducer = n_red ? root->sum->reducer : RED_NONE;
  s.body = expr_relabel(g->exprs, body, x->n_label, x->to);
  for (uint32_t k = 0; k < n_out + n_red; k++) x->to[order[k]] = NULL;
  if (last) return rebuild_vertex(&w->b, x->region, root, &s, bound, label, x->slot.at);
  EinNode *made = rebuild_part(&w->b, x->region, root, &s, bound, label, x->slot.at);
  if (root->name) made->name = strings_printf(g->strings, "%s.%u", root->name->s, ++x->made);
  return made;
}

/* Makes the part a separate vertex. */
static Part part_made(Network *x, const Expr *body, uint32_t n_out, uint32_t n_red, const uint32_t *order) {
  Exprs *p = x->w->b.g->exprs;
  EinNode *made = vertex_make(x, body, n_out, n_red, order, false);
  const Expr **index = NEW_ARRAY(x->scratch, const Expr *, n_out + 1);
  for (uint32_t k = 0; k < n_out; k++) index[k] = expr_label(p, order[k]);
  vec_push(x->w->b.arena, x->slot, made);
  return (Part){expr_read(p, made->dtype, x->slot.len - 1, n_out, index), n_out, order};
}

/* An operand's own labels are reduced at once. */
static Part operand_part(Network *x, uint32_t i) {
  const WideLabels *all = &x->problem.operand[i], *out = &x->tree.node[i].out;
  uint32_t *order = NEW_ARRAY(x->scratch, uint32_t, all->len + 1), n = 0;
  for (uint32_t k = 0; k < out->len; k++) order[n++] = out->at[k].label;
  for (uint32_t k = 0; k < all->len; k++)
    if (!has_label(out, all->at[k].label)) order[n++] = all->at[k].label;
  if (out->len == all->len) return (Part){x->factor.at[i], n, order};
  return part_made(x, x->factor.at[i], out->len, n - out->len, order);
}

/* A step that only multiplies, at the points of the step that uses it, is inlined there. */
static bool is_inline(const WideTree *t, const WideNode *x, const WideNode *user) {
  return x->out.len == span_of(t, x) && x->out.len == span_of(t, user);
}

/* The root keeps its output labels, whatever the factors have; labels that no factor has are reduced here. */
static EinNode *last_made(Network *x, const Expr *body, uint32_t n_red, const uint32_t *red) {
  uint32_t n_out = x->root->sum->n_out, n = 0, *order = NEW_ARRAY(x->scratch, uint32_t, x->n_label + 1);
  for (uint32_t l = 0; l < n_out; l++) order[n++] = l;
  for (uint32_t k = 0; k < n_red; k++) order[n++] = red[k];
  for (uint32_t l = n_out; l < x->n_label; l++)
    if (!x->problem.users[l]) order[n++] = l;
  return vertex_make(x, body, n_out, n - n_out, order, true);
}

static EinNode *network_emit(Network *x) {
  const WideTree *t = &x->tree;
  uint32_t n = x->problem.n, *steps = NEW_ARRAY(x->scratch, uint32_t, n), *user = NEW_ARRAY(x->scratch, uint32_t, t->n);
  Part *part = NEW_ARRAY(x->scratch, Part, t->n);
  wide_steps(x->scratch, &x->problem, t, steps);
  for (uint32_t k = 0; k + 1 < n; k++) user[t->node[steps[k]].left] = user[t->node[steps[k]].right] = steps[k];
  for (uint32_t i = 0; i < n; i++) part[i] = operand_part(x, i);
  for (uint32_t k = 0; k + 1 < n; k++) {
    const WideNode *s = &t->node[steps[k]];
    const Part *a = &part[s->left], *b = &part[s->right];
    const Expr *body = expr_op2(x->w->b.g->exprs, x->op, a->value, b->value);
    bool larger = t->node[s->left].points >= t->node[s->right].points;
    uint32_t n_out, space = span_of(t, s), *order = axes_of(x->scratch, s, larger ? a : b, larger ? b : a, &n_out);
    if (steps[k] == t->root) return last_made(x, body, space - n_out, order + n_out);
    if (is_inline(t, s, &t->node[user[steps[k]]])) part[steps[k]] = (Part){body, n_out, order};
    else part[steps[k]] = part_made(x, body, n_out, space - n_out, order);
  }
  bug("a tree without a root");
}

/* ---- the pass -------------------------------------------------------------------------------- */

static EinNode *by_steps(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Wide *w = env;
  EinNode *made = NULL;
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  Network x = {.w = w, .root = n, .n_label = labels, .region = r};
  if (labels <= ORDER_LABELS && n->sum->n_slot <= ORDER_OPERANDS) return rebuild_copy(b, r, n);
  x.scratch = arena_new();
  if (factors_find(&x) && problem_find(&x)) {
    x.tree = wide_best(x.scratch, &x.problem, &w->budget);
    for (uint32_t k = 0; k < n->sum->n_slot; k++) vec_push(b->arena, x.slot, rebuild_to(b, n->input[k]));
    if (steps_fit(&x)) {
      x.to = NEW_ARRAY(x.scratch, const Expr *, labels + 1);
      made = network_emit(&x);
      rebuild_note(b, "networks cut into steps", n->place);
    }
  }
  arena_free(x.scratch);
  return made ? made : rebuild_copy(b, r, n);
}

/* A vertex of the region with more labels than `most`, or NULL. */
static const EinNode *wider_than(const EinRegion *r, uint32_t most) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_VERTEX && n->sum->n_out + n->sum->n_red > most) return n;
    const EinNode *inner = n->kind == EIN_REPEAT ? wider_than(n->body, most) : NULL; /* GRAPH_DEPTH deep at most */
    if (inner) return inner;
  }
  return NULL;
}

const EinNode *graph_too_wide(const EinGraph *g) {
  return wider_than(g->top, SUM_RANK);
}

EinGraph *graph_stepwise(Arena *a, EinGraph *g) {
  return wider_than(g->top, ORDER_LABELS) ? graph_wide(a, g, NULL) : g;
}

EinGraph *graph_wide(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = by_steps};
  Wide w = {.b = {.arena = a, .old = g, .pass = "wide", .notes = notes}, .budget = BUDGET};
  return rebuild(&w.b, a, g, &rules, &w);
}
