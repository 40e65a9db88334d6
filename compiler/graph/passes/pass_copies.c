/* graph/passes/pass_copies.c - removes vertices that copy another tensor (W[i,j] = X[i,j]); their readers read that
 * tensor instead.
 *
 * Outputs, the values that a repeat carries over and asserted values are vertices of their own. So if such a vertex
 * copies an input, a state or a repeat's result, it stays; if it copies a vertex of the same region, that vertex takes
 * its part. Arguments and results of C functions stay as written. A copy with a domain has fewer values than the
 * tensor it copies, so it is removed only if both have the same domain.
 *
 * A vertex that lists the neighbours of each point, P[i,k] = X[i+k-1] ?? 0, is also a copy, and several times as
 * large as the tensor. Its readers read that tensor, under the same condition, and may have loops for windows.
 *
 * So is a view, which has each of its labels in one index, and the last one in the last: G[n,g,d,s] = X[n,8*g+d,s], a
 * slice of rows, or matrices in another order. Its readers read that tensor, wherever they read the view (graph_views).
 * One that goes backwards, Z[t] = X[M-1-t], is a view for running reductions only: other readers have lanes. And such a
 * reduction that only a map reads, backwards, Y[s] = R[M-1-s], is made where the map would be.
 * A view that several reductions read, of which none needs another's result, stays: with it they share a kernel, and
 * read the tensor once. */
#include "contract/contract.h"

enum { GROWTH = 2 };         /* a list of neighbours has at least so many times the elements of the tensor */

typedef struct Copies {
  Rebuild b;
  bool *shown, *given;       /* by old id: something other than an equation uses it; a C function takes or makes it */
  const EinNode **first;     /* by old id of a removed copy: the tensor that replaces it, which stays */
  bool views;                /* views go, not lists of neighbours */
  bool *window;              /* by old id: a list of neighbours, or a view, that goes; */
  bool some;                 /*   there is one; */
  const EinNode **last;      /*   and the last reduction that reads it */
  uint32_t *n_read;          /* by how many slots it is read */
  const EinNode **reversed;  /* of a map: the running reduction that it reverses, and only it reads; */
  bool *made_reversed;       /*   that reduction */
} Copies;

/* ---- copies ---------------------------------------------------------------------------------- */

/* Whether n has the rank, dtype and extents of `of`, and one label for each dimension. */
static bool same_shape(const EinNode *n, const EinNode *of) {
  if (n->rank != of->rank || n->sum->n_out != n->rank || n->dtype != of->dtype) return false;
  for (uint32_t k = 0; k < n->rank; k++)
    if (n->bound[k] != of->dim[k] || (n->merge && n->merge[k] != 1)) return false;
  return true;
}

/* Whether `of`, which n copies, may replace n. */
static bool may_go(const Copies *c, const EinNode *n, const EinNode *of) {
  if (!c->shown[n->id]) return true;
  return !c->given[n->id] && !c->shown[of->id] && of->kind == EIN_VERTEX && of->region == n->region;
}

/* Whether n has no domain, or that of `of`. One that reads data never counts as the same: slots differ by vertex. */
static bool same_domain(const EinNode *n, const EinNode *of) {
  const Expr *d = n->sum->domain;
  return !d || (of->kind == EIN_VERTEX && d == of->sum->domain && !(d->has & HAS_READ));
}

/* The tensor that n copies element by element; NULL if n is not a copy. */
static const EinNode *copied(const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *e = s->body;
  if (s->by || s->reducer != RED_NONE || e->kind != EX_READ || s->n_slot != 1 || !same_shape(n, n->input[e->i]))
    return NULL;
  return exprs_are_labels(e->n, e->arg) && same_domain(n, n->input[e->i]) ? n->input[e->i] : NULL;
}

/* ---- lists of neighbours --------------------------------------------------------------------- */

/* Whether e is a sum of multiples of labels and numbers. */
static bool is_affine(const Expr *e) {
  bool sum = is_op(e, OP_ADD) || is_op(e, OP_SUB) || is_op(e, OP_MUL) || is_op(e, OP_NEG);
  if (e->kind != EX_OP) return e->kind != EX_READ;
  for (uint32_t k = 0; sum && k < e->n; k++) sum = is_affine(e->arg[k]);
  return sum;
}

/* The read of a list of neighbours: all of the body, or what it chooses in range; NULL: it is no such list. */
static const Expr *neighbour(const EinSum *s) {
  const Expr *e = s->body;
  if (is_op(e, OP_SELECT)) {
    bool number = e->arg[2]->kind == EX_INT || e->arg[2]->kind == EX_REAL;
    if (!number || e->arg[0]->has & HAS_READ) return NULL;
    e = e->arg[1];
  }
  bool around = false;
  for (uint32_t k = 0; e->kind == EX_READ && k < e->n; k++) {
    uint64_t labels = e->arg[k]->labels;
    if (!is_affine(e->arg[k])) return NULL;
    around |= (labels & (labels - 1)) != 0;
  }
  return around ? e : NULL;
}

/* Whether n reads a tensor with each label once, and along its last label without a step: forwards, or (*backwards)
 * some label in steps of -1. */
static bool is_view(const EinNode *n, bool *backwards) {
  const Expr *e = n->sum->body;
  uint64_t seen = 0;
  int64_t step;
  *backwards = false;
  if (e->kind != EX_READ || !e->n || !n->sum->n_out) return false;
  for (uint32_t k = 0; k < e->n; k++) {
    uint64_t labels = e->arg[k]->labels;
    if (!is_affine(e->arg[k]) || labels & seen) return false;
    for (uint32_t l = 0; l < n->sum->n_out; l++) {
      if (!(labels >> l & 1)) continue;
      if (!expr_slope(e->arg[k], l, &step) || step < -1 || !step) return false;
      *backwards |= step < 0;
    }
    seen |= labels;
  }
  uint32_t last = n->sum->n_out - 1;
  if (!expr_has_label(e->arg[e->n - 1], last) || !expr_slope(e->arg[e->n - 1], last, &step)) return false;
  return step == 1 || step == -1;
}

/* Whether n is a running reduction of one tensor, which goes along it in steps, in either direction. */
static bool is_running(const EinNode *n) {
  const EinSum *s = n->sum;
  if (s->reducer == RED_NONE || s->by || s->n_slot != 1 || s->n_red != 1 || s->n_out > 60 || !s->where) return false;
  return !(s->where->has & HAS_READ) && s->where->labels >> s->n_out & 1 && s->where->labels & labels_below(s->n_out);
}

static bool is_list(const Copies *c, const EinNode *n) {
  const EinSum *s = n->kind == EIN_VERTEX ? n->sum : NULL;
  bool map = s && !s->by && !s->domain && s->reducer == RED_NONE && s->n_slot == 1 && s->n_out < 63;
  if (!map || n->rank != s->n_out || n->dtype != s->body->dtype || c->shown[n->id]) return false;
  const EinNode *of = n->input[0];
  if (is_partial(of) || c->window[of->id]) return false;
  bool backwards;
  if (c->views) return is_view(n, &backwards);
  if (!neighbour(s)) return false;
  double elements = 1;
  for (uint32_t k = 0; k < of->rank; k++) elements *= extent_guess(of->dim[k]);
  return labels_points(n, labels_below(s->n_out)) >= (double)GROWTH * elements;
}

/* Whether the read is at whole labels, or at points, of n. */
static bool reads_plainly(const EinNode *by, const Expr *read, const EinNode *n) {
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k], *all = n->bound[k];
    bool label = e->kind == EX_LABEL && by->bound[e->i] == all;
    if (!label && !(e->kind == EX_INT && all->kind == EX_INT && e->i >= 0 && e->i < all->i)) return false;
  }
  return true;
}

static void lists_find(Copies *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    c->window[n->id] = is_list(c, n);
    if (n->kind == EIN_REPEAT) lists_find(c, n->body);
  }
}

/* Whether the vertex needs the result of `first`, of its region. */
static bool needs(const Copies *c, const EinNode *n, const EinNode *first) {
  Map seen = map_new(c->b.arena);
  VEC(const EinNode *) todo = {0};
  vec_push(c->b.arena, todo, n);
  while (todo.len) {
    const EinNode *at = todo.at[--todo.len];
    if (at == first) return true;
    if (at->kind != EIN_VERTEX || at->id < first->id || map_find(&seen, at)) continue;
    map_put(&seen, at, (void *)(uintptr_t)at);
    for (uint32_t k = 0; k < at->sum->n_slot; k++) vec_push(c->b.arena, todo, at->input[k]);
  }
  return false;
}

/* Whether the reduction n may read the tensor of view `of`. */
static bool reads_alone(Copies *c, const EinNode *n, const EinNode *of) {
  const EinNode **last = &c->last[of->id];
  bool alone = !*last || n->sum->reducer == RED_NONE || needs(c, n, *last);
  if (n->sum->reducer != RED_NONE) *last = n;
  return alone;
}

/* Lists that are read in another region, or in another way, stay. */
static void lists_stay(Copies *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) lists_stay(c, n->body);
    if (n->kind != EIN_VERTEX) continue;
    const EinSum *s = n->sum;
    const Expr *top[] = {s->body, s->where, s->domain}, **read = NEW_ARRAY(c->b.arena, const Expr *, s->n_slot + 1);
    expr_slot_reads(c->b.arena, COUNT(top), top, read);
    for (uint32_t k = 0; k < s->n_slot; k++) {
      const EinNode *of = n->input[k];
      if (!c->window[of->id]) continue;
      bool backwards = false;
      if (c->views) is_view(of, &backwards);
      bool fits = c->views ? reads_alone(c, n, of) : reads_plainly(n, read[k], of);
      if (backwards && !is_running(n)) fits = false;
      c->window[of->id] = of->region == r && fits;
    }
  }
}

typedef struct At { const Expr *read; } At; /* of a list */

static const Expr *leaf_at(void *env, Exprs *p, const Expr *leaf) {
  const Expr *read = ((const At *)env)->read;
  if (leaf->kind == EX_LABEL) return read->arg[leaf->i];
  return leaf->kind == EX_READ ? expr_read(p, (DType)leaf->dtype, read->i, leaf->n, leaf->arg) : leaf;
}

typedef struct ListReader { const Copies *c; const EinNode *n; } ListReader;

static const Expr *leaf_listed(void *env, Exprs *p, const Expr *leaf) {
  const ListReader *d = env;
  const EinNode *of = leaf->kind == EX_READ ? d->n->input[leaf->i] : NULL;
  return of && d->c->window[of->id] ? expr_map(p, of->sum->body, leaf_at, &(At){leaf}) : leaf;
}

/* The vertex, which reads some lists, with reads of what they list. */
static EinNode *read_listed(Copies *c, EinRegion *r, const EinNode *n) {
  EinSum s = *n->sum;
  EinNode **input = NEW_ARRAY(c->b.arena, EinNode *, s.n_slot + 1);
  for (uint32_t k = 0; k < s.n_slot; k++)
    input[k] = rebuild_to(&c->b, c->window[n->input[k]->id] ? n->input[k]->input[0] : n->input[k]);
  sum_map(c->b.old->exprs, &s, leaf_listed, &(ListReader){c, n});
  return rebuild_vertex(&c->b, r, n, &s, n->bound, n->label, input);
}

/* ---- running reductions reversed ------------------------------------------------------------------- */

/* Whether e is the label k, or counts its extent down. */
static bool is_label_or_back(Exprs *p, const EinNode *n, const Expr *e, uint32_t k, bool *back) {
  const Expr *label = expr_label(p, k), *last = expr_op2(p, OP_SUB, n->bound[k], expr_int(p, DT_I64, 1));
  if (e == label) return true;
  bool reversed = expr_normal(p, e) == expr_normal(p, expr_op2(p, OP_SUB, last, label));
  *back |= reversed;
  return reversed;
}

/* The running reduction R of Y[i,s] = R[i,M-1-s]; NULL: n is something else. */
static const EinNode *reversed_of(Copies *c, const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *e = s->body;
  bool back = false;
  if (s->reducer != RED_NONE || s->by || s->domain || e->kind != EX_READ || s->n_slot != 1) return NULL;
  const EinNode *of = n->input[0];
  if (!same_shape(n, of) || of->kind != EIN_VERTEX || of->region != n->region || c->shown[of->id]) return NULL;
  if (c->n_read[of->id] != 1 || of->sum->domain || !same_shape(of, of) || !is_running(of)) return NULL;
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_label_or_back(c->b.old->exprs, n, e->arg[k], k, &back)) return NULL;
  return back ? of : NULL;
}

static void reversed_find(Copies *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) reversed_find(c, n->body);
    const EinNode *of = n->kind == EIN_VERTEX ? reversed_of(c, n) : NULL;
    if (!of) continue;
    c->reversed[n->id] = of;
    c->made_reversed[of->id] = c->some = true;
  }
}

/* The reduction at the points at which n reads it. */
static EinNode *reversed_made(Copies *c, EinRegion *r, const EinNode *n, const EinNode *of) {
  uint32_t out = n->rank, all = out + of->sum->n_red;
  EinSum s = *of->sum;
  const Expr *bound[64], *to[64];
  Str label[64];
  EinNode *input = rebuild_to(&c->b, c->window[of->input[0]->id] ? of->input[0]->input[0] : of->input[0]);
  for (uint32_t l = 0; l < all; l++) {
    bound[l] = l < out ? n->bound[l] : of->bound[l];
    label[l] = l < out ? n->label[l] : str_apart(c->b.g->strings, l, label, of->label[l]);
    to[l] = l < out ? n->sum->body->arg[l] : expr_label(c->b.g->exprs, l);
  }
  sum_map(c->b.old->exprs, &s, leaf_listed, &(ListReader){c, of});
  sum_relabel(c->b.g->exprs, &s, all, to);
  rebuild_note(&c->b, "running reductions reversed", n->place);
  return rebuild_vertex(&c->b, r, n, &s, bound, label, &input);
}

static bool reads_list(const Copies *c, const EinNode *n) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++)
    if (c->window[n->input[k]->id]) return true;
  return false;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool stays(void *env, const EinNode *n) {
  Copies *c = env;
  if (c->made_reversed[n->id]) return false;
  if (!c->window[n->id]) return true;
  rebuild_note(&c->b, c->views ? "views read through" : "lists of neighbours read through", n->place);
  c->some = true;
  return false;
}

static EinNode *read_through(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Copies *c = env;
  const EinNode *of = c->views ? NULL : copied(n);
  if (c->reversed[n->id]) return reversed_made(c, r, n, c->reversed[n->id]);
  if (reads_list(c, n)) return read_listed(c, r, n);
  if (of && c->first[of->id]) of = c->first[of->id];
  if (!of || !may_go(c, n, of)) return rebuild_copy(b, r, n);
  c->first[n->id] = of;
  EinNode *to = rebuild_to(b, of);
  if (!to->name && to->kind == EIN_VERTEX) to->name = n->name;
  rebuild_note(b, "copies read through", n->place);
  return to;
}

static EinGraph *copies(Arena *a, const EinGraph *g, PassNotes *notes, bool views) {
  static const RebuildRules rules = {.keep = stays, .vertex = read_through};
  Copies c = {.b = {.arena = a, .old = g, .pass = views ? "views" : "copies", .notes = notes},
      .shown = nodes_shown(a, g), .given = nodes_given(a, g), .views = views,
      .first = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1),
      .window = NEW_ARRAY(a, bool, g->n_nodes + 1), .last = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1)};
  c.n_read = nodes_used(a, g);
  c.reversed = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1);
  c.made_reversed = NEW_ARRAY(a, bool, g->n_nodes + 1);
  if (views) reversed_find(&c, g->top);
  lists_find(&c, g->top);
  lists_stay(&c, g->top);
  EinGraph *made = rebuild(&c.b, a, g, &rules, &c);
  return c.some ? graph_simplify(a, made, notes) : made;
}

EinGraph *graph_copies(Arena *a, const EinGraph *g, PassNotes *notes) { return copies(a, g, notes, false); }
EinGraph *graph_views(Arena *a, const EinGraph *g, PassNotes *notes) { return copies(a, g, notes, true); }
