/* graph/check.c - checks every invariant of an EinGraph that graph.h and docs/languages-inside.md state. Walks the
 * regions in order, so that a node may use only what is defined before it. Visits each node and each shared
 * subexpression once, and walks long chains with loops. */
#include "expr/region/law.h"
#include "inside.h"

_Static_assert((int)SUM_LABELS == (int)GRAPH_LABELS && (int)SUM_RANK == (int)GRAPH_OUT, "one bound on labels");
_Static_assert((int)REGION_DEPTH == (int)GRAPH_DEPTH, "one bound on repeats");

typedef struct Check {
  SumCheck c;
  RegionCheck r;
  const EinGraph *g;
  Arena *arena;
  const EinNode *n;            /* the current node; NULL: the graph as a whole */
  uint32_t inputs;             /* met so far */
} Check;

static void say_where(void *ctx, Buf *out) {
  const Check *c = ctx;
  const EinNode *n = c->n;
  if (n)
    buf_printf(out, "%s %%%u%s%s", node_word(n), n->id, n->name ? " " : "",
               n->name ? n->name->s : "");
  else if (!c->c.d)
    buf_str(out, "graph");
}

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

/* ---- extents and shapes ---------------------------------------------------------------------- */

static void check_shape(Check *c, const EinNode *n) {
  if (n->rank && !n->dim)
    fail(c, "it has no shape");
  else
    for (uint32_t k = 0; k < n->rank; k++) check_extent(&c->c, "an extent", n->dim[k]);
}

static void check_same_shape(void *ctx, const char *what, const void *want, const void *have) {
  Check *c = ctx;
  const EinNode *a = want, *b = have;
  if (a->dtype != b->dtype)
    fail(c, "%s is %s and not %s", what, check_dtype_name(b->dtype), check_dtype_name(a->dtype));
  if (a->rank != b->rank) {
    fail(c, "%s has rank %u and not %u", what, b->rank, a->rank);
    return;
  }
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dim[k] != b->dim[k]) fail(c, "%s has another extent in dimension %u", what, k);
}

static void check_scalar(void *ctx, const char *what, const void *node, DType t) {
  const EinNode *n = node;
  if (n->rank || n->dtype != t) fail((Check *)ctx, "%s is not one %s", what, check_dtype_name(t));
}

/* ---- vertices -------------------------------------------------------------------------------- */

static void check_read(void *ctx, const Expr *e) {
  Check *c = ctx;
  const EinNode *n = c->n;
  if (e->i < 0 || e->i >= n->sum->n_slot) {
    fail(c, "slot %lld is read, of %u", (long long)e->i, n->sum->n_slot);
    return;
  }
  EinNode *x = n->input[e->i];
  if (!x) return;
  if (e->n != x->rank)
    fail(c, "%%%u has rank %u and is read with %u indices", x->id, x->rank, e->n);
  if (e->dtype != x->dtype)
    fail(c, "%%%u is %s and is read as %s", x->id, check_dtype_name(x->dtype), check_dtype_name((DType)e->dtype));
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->dtype != DT_I64) fail(c, "an index of %%%u is not i64", x->id);
  check_read_slot(&c->c, x->id, e);
}

static bool check_labels(Check *c, const EinNode *n, uint32_t labels) {
  bool well = true;
  if (labels && (!n->label || !n->bound)) {
    fail(c, "it has no labels");
    return false;
  }
  for (uint32_t k = 0; k < labels; k++) {
    well &= check_extent(&c->c, "a label's bound", n->bound[k]);
    if (!is_name(n->label[k])) fail(c, "label %u has no name", k);
    for (uint32_t j = 0; j < k; j++)
      if (n->label[j] == n->label[k]) fail(c, "labels %u and %u have one name", j, k);
  }
  return well;
}

/* The shape must follow from bounds and merges. */
static void check_merge(Check *c, const EinNode *n) {
  uint32_t l = 0;
  for (uint32_t k = 0; k < n->rank; k++) {
    uint32_t m = n->merge ? n->merge[k] : 0;
    if (!m || m > n->sum->n_out - l) {
      fail(c, "dimension %u merges %u labels", k, m);
      return;
    }
    const Expr *e = n->bound[l];
    for (uint32_t j = 1; j < m; j++) e = expr_op2(c->g->exprs, OP_MUL, e, n->bound[l + j]);
    if (n->dim && n->dim[k] != extent_normal(c->g->exprs, e))
      fail(c, "dimension %u is not as large as its labels", k);
    l += m;
  }
  if (l != n->sum->n_out) fail(c, "%u output labels are in no dimension", n->sum->n_out - l);
}

static void check_vertex(Check *c, const EinNode *n) {
  const EinSum *s = n->sum;
  if (!s || !s->body || (s->n_slot && !n->input) || (unsigned)s->reducer >= REDUCERS ||
      (unsigned)s->acc >= DTYPES) {
    fail(c, "its operation is not filled in");
    return;
  }
  if (s->n_out > GRAPH_OUT || s->n_red > GRAPH_LABELS - s->n_out) {
    fail(c, "it has %u and %u labels: too many", s->n_out, s->n_red);
    return;
  }
  if (sum_find(c->g, s) != s) fail(c, "its operation is not interned");
  if (n->dtype != s->dtype)
    fail(c, "it is %s and its operation gives %s", check_dtype_name(n->dtype), check_dtype_name(s->dtype));
  for (uint32_t k = 0; k < s->n_slot; k++) check_operand(&c->r, "input", n->input[k]);
  check_reducer(&c->c, s);
  if (check_labels(c, n, s->n_out + s->n_red)) check_merge(c, n);
  c->c.labels = s->n_out + s->n_red;
  c->c.level = check_level(&c->r);
  check_expressions(&c->c, s);
  if (!s->by || !c->c.ok) return;
  check_by(&c->c, s, false);
  for (uint32_t k = 0; k < n->rank; k++)
    if (n->merge[k] != 1) fail(c, "it is made by %s, and its labels are merged", s->by->name->s);
}

/* ---- the other kinds of node ----------------------------------------------------------------- */

static void check_input(Check *c, const EinNode *n) {
  if (check_level(&c->r)) fail(c, "it stands in a repeat");
  if (!is_name(n->name)) fail(c, "it has no name");
  if (c->inputs >= c->g->inputs.len || c->g->inputs.at[c->inputs] != n)
    fail(c, "it is not in its place in the list of inputs");
  c->inputs++;
  if (n->fallback && check_operand(&c->r, "the default", n->fallback))
    check_same_shape(c, "the default", n, n->fallback);
}

/* Fields that only other kinds of nodes have must be empty. */
static void check_fields(Check *c, const EinNode *n) {
  if ((n->sum != NULL) != (n->kind == EIN_VERTEX)) fail(c, "an operation is what a vertex has, and only a vertex");
  if ((n->param || n->fallback) && n->kind != EIN_INPUT) fail(c, "only inputs are params and have defaults");
  if (n->kind == EIN_REPEAT) check_scalar(c, "a repeat by itself", n, DT_I64);
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool is_known(void *ctx, const void *node) {
  const EinNode *n = node;
  bool known = (unsigned)n->kind <= EIN_TURNS && (unsigned)n->dtype < DTYPES;
  if (!known) fail((Check *)ctx, "it has no kind or no dtype");
  return known;
}

static void put_at(void *ctx, const void *node) {
  ((Check *)ctx)->n = node;
}

static void check_node(void *ctx, const void *node) {
  Check *c = ctx;
  const EinNode *n = node;
  check_fields(c, n);
  check_shape(c, n);
  if (n->kind == EIN_VERTEX) check_vertex(c, n);
  if (n->kind == EIN_INPUT) check_input(c, n);
  if (n->kind == EIN_STATE) check_state(&c->r, n);
  if (n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS) check_result(&c->r, n);
}

static uint32_t law_rank(const void *node) {
  return ((const EinNode *)node)->rank;
}

static void law_stacked(void *ctx, const void *node, StackView of, const Expr *turns) {
  const EinNode *n = node, *one = of.node.at;
  bool same = n->rank == one->rank + 1 && n->dtype == one->dtype;
  for (uint32_t k = 0; same && k < n->rank; k++)
    same = n->dim[k] == (k == of.axis ? turns : one->dim[k < of.axis ? k : k - 1]);
  if (!same) fail((Check *)ctx, "it is not as large as its turns together");
}

static const RegionLaws laws = {.noun = "tensor",
    .known = is_known,
    .at = put_at,
    .node = check_node,
    .scalar = check_scalar,
    .same = check_same_shape,
    .rank = law_rank,
    .stacked = law_stacked};

/* ---- the graph ------------------------------------------------------------------------------- */

static void check_outputs(Check *c) {
  Map names = map_new(c->arena);
  if (c->inputs != c->g->inputs.len)
    fail(c, "%u inputs stand in it and %u in its list", c->inputs, c->g->inputs.len);
  for (uint32_t i = 0; i < c->g->inputs.len; i++)
    if (is_name(c->g->inputs.at[i]->name)) check_own_name(&c->c, &names, "input", i, c->g->inputs.at[i]->name);
  names = map_new(c->arena);
  for (uint32_t i = 0; i < c->g->outputs.len; i++) {
    const EinOutput *o = &c->g->outputs.at[i];
    c->r.line = line_key(LINE_OUTPUT, i);
    c->r.about = o->node;
    check_ref(&c->r, "an output", o->node);
    check_own_name(&c->c, &names, "output", i, o->name);
  }
}

static void check_tests(Check *c) {
  for (uint32_t i = 0; i < c->g->asserts.len; i++) {
    const EinNode *n = c->g->asserts.at[i].node;
    c->r.line = line_key(LINE_ASSERT, i);
    c->r.about = n;
    if (check_ref(&c->r, "an assert", n)) check_scalar(c, "an assert", n, DT_BOOL);
  }
  c->r.line = c->r.about = NULL;
  check_checks(&c->c, &c->g->checks);
}

static Span line_of(void *ctx) {
  return check_line(&((const Check *)ctx)->r);
}

static bool follows(void *ctx) {
  return check_follows(&((Check *)ctx)->r);
}

static bool check_all(const EinGraph *g, Buf *out, Diags *d) {
  Arena *a = arena_new();
  Check c = {.g = g, .arena = a};
  c.c = sum_check_new(out, a, g->exprs, &c, say_where);
  c.c.read = check_read;
  c.c.d = d;
  c.c.line = line_of;
  c.c.follows = follows;
  c.r = region_check_new(&c.c, &graph_face, &laws, &c, g->n_nodes);
  c.r.lines = g->lines;
  check_dims(&c.c, &g->dims);
  check_monoids(&c.c, &g->monoids);
  check_regions(&c.r, g->top);
  check_outputs(&c);
  check_tests(&c);
  arena_free(a);
  return c.c.ok;
}

bool graph_check(const EinGraph *g, Buf *out) {
  return check_all(g, out, NULL);
}

bool graph_check_text(const EinGraph *g, Diags *d) {
  return check_all(g, NULL, d);
}
