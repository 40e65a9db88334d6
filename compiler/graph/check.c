/* graph/check.c - every invariant of an EinGraph, as graph.h and docs/languages-inside.md say them.
 * Walks the regions in order, so that what is defined so far is what may be used; each node and
 * each shared part of an expression is looked at once, and long chains are walked, not descended.
 */
#include "inside.h"

_Static_assert((int)SUM_LABELS == (int)GRAPH_LABELS && (int)SUM_RANK == (int)GRAPH_OUT, "one bound on labels");

typedef struct Check {
  SumCheck c;
  const EinGraph *g;
  Arena *arena;
  const EinNode *n;            /* the node at hand; NULL: the graph as a whole */
  Map nodes;                   /* id + 1 to the node of that id, for those defined so far */
  Map closed, regions;         /* repeats whose block was walked; regions met */
  VEC(const EinRegion *) open; /* the region at hand and those around it */
  uint32_t inputs;             /* met so far */
} Check;

static void say_where(void *ctx, Buf *out) {
  const EinNode *n = ((const Check *)ctx)->n;
  if (n)
    buf_printf(out, "%s %%%u%s%s", node_word(n), n->id, n->name ? " " : "",
               n->name ? n->name->s : "");
  else
    buf_str(out, "graph");
}

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

static uint32_t level(const Check *c) {
  return c->open.len - 1;
}

static bool is_name(Str s) {
  return s && s->len;
}

/* ---- extents and shapes ---------------------------------------------------------------------- */

static void check_shape(Check *c, const EinNode *n) {
  if (n->rank && !n->dim)
    fail(c, "it has no shape");
  else
    for (uint32_t k = 0; k < n->rank; k++) check_extent(&c->c, "an extent", n->dim[k]);
}

static void check_same_shape(Check *c, const char *what, const EinNode *a, const EinNode *b) {
  if (a->dtype != b->dtype)
    fail(c, "%s is %s and not %s", what, check_dtype_name(b->dtype), check_dtype_name(a->dtype));
  if (a->rank != b->rank) {
    fail(c, "%s has rank %u and not %u", what, b->rank, a->rank);
    return;
  }
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dim[k] != b->dim[k]) fail(c, "%s has another extent in dimension %u", what, k);
}

static void check_scalar(Check *c, const char *what, const EinNode *n, DType t) {
  if (n->rank || n->dtype != t) fail(c, "%s is not one %s", what, check_dtype_name(t));
}

/* ---- references ------------------------------------------------------------------------------ */

static bool is_visible(const Check *c, const EinNode *x) {
  uint32_t k = region_level(x->region);
  return k < c->open.len && c->open.at[k] == x->region;
}

/* x is a tensor that is computed before what is at hand, and may be seen from there. */
static bool check_ref(Check *c, const char *what, const EinNode *x) {
  if (!x)
    fail(c, "%s is missing", what);
  else if (map_find(&c->nodes, id_key(x->id)) != x)
    fail(c, "%s %%%u is not defined before", what, x->id);
  else if (x->kind == EIN_REPEAT)
    fail(c, "%s %%%u is a repeat, not a tensor", what, x->id);
  else if (!is_visible(c, x))
    fail(c, "%s %%%u stands in a block that is closed", what, x->id);
  else
    return true;
  return false;
}

static bool check_operand(Check *c, const char *what, const EinNode *x) {
  if (!check_ref(c, what, x)) return false;
  if (x->id < c->n->id) return true;
  fail(c, "%s %%%u has a larger id", what, x->id);
  return false;
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

/* The shape is what bounds and merges say. */
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
  for (uint32_t k = 0; k < s->n_slot; k++) check_operand(c, "input", n->input[k]);
  check_reducer(&c->c, s);
  if (check_labels(c, n, s->n_out + s->n_red)) check_merge(c, n);
  c->c.labels = s->n_out + s->n_red;
  c->c.level = level(c);
  check_expressions(&c->c, s);
}

/* ---- the other kinds of node ----------------------------------------------------------------- */

static void check_input(Check *c, const EinNode *n) {
  if (level(c)) fail(c, "it stands in a repeat");
  if (!is_name(n->name)) fail(c, "it has no name");
  if (c->inputs >= c->g->inputs.len || c->g->inputs.at[c->inputs] != n)
    fail(c, "it is not in its place in the list of inputs");
  c->inputs++;
  if (n->fallback && check_operand(c, "the default", n->fallback))
    check_same_shape(c, "the default", n, n->fallback);
}

static void check_state(Check *c, const EinNode *n, const EinRegion *r) {
  if (!r->repeat || n->repeat != r->repeat)
    fail(c, "it is not of the repeat in which it stands");
  else if (n->index >= r->states.len || r->states.at[n->index].node != n)
    fail(c, "it is not in its place in the list of states");
}

static void check_result(Check *c, const EinNode *n) {
  const EinNode *of = n->repeat;
  if (!of || map_find(&c->closed, of) == NULL || !is_visible(c, of)) {
    fail(c, "it is not of a repeat before it");
    return;
  }
  if (of->id > n->id) fail(c, "its repeat %%%u has a larger id", of->id);
  const EinRegion *b = of->body;
  if (n->kind == EIN_TURNS) {
    check_scalar(c, "it", n, DT_I64);
    if (n->index) fail(c, "it has an index");
  } else if (n->index >= (n->kind == EIN_FINAL ? b->states.len : b->stacks.len)) {
    fail(c, "%%%u has no number %u", of->id, n->index);
  } else if (n->kind == EIN_FINAL) {
    if (b->states.at[n->index].node)
      check_same_shape(c, "the state", n, b->states.at[n->index].node);
  } else {
    const EinStack *s = &b->stacks.at[n->index];
    if (!s->node || s->axis > s->node->rank) return; /* said already */
    bool same = n->rank == s->node->rank + 1 && n->dtype == s->node->dtype;
    for (uint32_t k = 0; same && k < n->rank; k++)
      same = n->dim[k] == (k == s->axis ? b->turns : s->node->dim[k < s->axis ? k : k - 1]);
    if (!same) fail(c, "it is not as large as its turns together");
  }
}

/* What only other kinds have. */
static void check_fields(Check *c, const EinNode *n) {
  bool result =
      n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS || n->kind == EIN_STATE;
  if ((n->sum != NULL) != (n->kind == EIN_VERTEX))
    fail(c, "an operation is what a vertex has, and only a vertex");
  if ((n->body != NULL) != (n->kind == EIN_REPEAT))
    fail(c, "a block is what a repeat has, and only a repeat");
  if ((n->param || n->fallback) && n->kind != EIN_INPUT)
    fail(c, "only inputs are params and have defaults");
  if (n->repeat && !result) fail(c, "it is of a repeat and has no part in it");
  if (n->index && !result) fail(c, "it has an index and is not of a repeat");
  if (n->name && !n->name->len) fail(c, "its name is empty");
  if (n->kind == EIN_REPEAT) check_scalar(c, "a repeat by itself", n, DT_I64);
}

/* ---- regions --------------------------------------------------------------------------------- */

static void check_region(Check *c, const EinRegion *r);

static void check_node(Check *c, EinNode *n, const EinRegion *r) {
  c->n = n;
  if ((unsigned)n->kind > EIN_TURNS || (unsigned)n->dtype >= DTYPES) {
    fail(c, "it has no kind or no dtype");
    return;
  }
  if (map_find(&c->nodes, id_key(n->id))) fail(c, "its id is another node's too");
  if (n->id >= c->g->n_nodes) fail(c, "its id is not below %u", c->g->n_nodes);
  if (n->region != r) fail(c, "it does not stand where it says");
  check_fields(c, n);
  check_shape(c, n);
  if (n->kind == EIN_VERTEX) check_vertex(c, n);
  if (n->kind == EIN_INPUT) check_input(c, n);
  if (n->kind == EIN_STATE) check_state(c, n, r);
  if (n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS) check_result(c, n);
  map_put(&c->nodes, id_key(n->id), n);
  if (n->kind == EIN_REPEAT && n->body) {
    check_region(c, n->body);
    map_put(&c->closed, n, c);
  }
}

/* Before a block: what it takes from outside. */
static bool check_block_head(Check *c, const EinRegion *r) {
  const EinNode *n = c->n;
  if (map_find(&c->regions, r) || r->repeat != n || r->parent != vec_last(c->open) ||
      r->depth != level(c)) {
    fail(c, "its block does not stand in it");
    return false;
  }
  if (c->open.len > GRAPH_DEPTH) {
    fail(c, "repeats are nested more than %d deep", GRAPH_DEPTH);
    return false;
  }
  map_put(&c->regions, r, c);
  if (!is_name(r->turn)) fail(c, "its loop variable has no name");
  if (check_operand(c, "the bound", r->bound)) check_scalar(c, "the bound", r->bound, DT_I64);
  if (r->turns) check_extent(&c->c, "the number of turns", r->turns);
  for (uint32_t i = 0; i < r->states.len; i++) {
    const EinState *s = &r->states.at[i];
    if (!s->node || s->node->kind != EIN_STATE || s->node->region != r) {
      fail(c, "state %u is not in its block", i);
      continue;
    }
    c->n = s->node;
    if (check_operand(c, "the init", s->init)) check_same_shape(c, "the init", s->node, s->init);
    c->n = n;
  }
  return true;
}

/* After a block: what it hands on. */
static void check_block_foot(Check *c, const EinRegion *r, uint32_t states) {
  if (states != r->states.len)
    fail(c, "%u states stand in its block and %u in its list", states, r->states.len);
  for (uint32_t i = 0; i < r->states.len; i++) {
    const EinState *s = &r->states.at[i];
    if (check_ref(c, "a state's next", s->next) && s->node)
      check_same_shape(c, "a state's next", s->node, s->next);
  }
  for (uint32_t i = 0; i < r->stacks.len; i++) {
    const EinStack *s = &r->stacks.at[i];
    if (!is_name(s->name)) fail(c, "stack %u has no name", i);
    if (check_ref(c, "what is stacked,", s->node) && s->axis > s->node->rank)
      fail(c, "the axis of stack %u is beyond its rank", i);
    if (!r->turns) fail(c, "it stacks and does not say over how many turns");
  }
  if (!r->stop || !check_ref(c, "the stop", r->stop)) return;
  check_scalar(c, "the stop", r->stop, DT_BOOL);
  if (r->stop->region != r) fail(c, "the stop stands outside of its block");
}

static uint32_t check_nodes(Check *c, const EinRegion *r) {
  uint32_t states = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    EinNode *n = r->nodes.at[i];
    if (n) {
      check_node(c, n, r);
      states += n->kind == EIN_STATE;
    } else {
      c->n = r->repeat;
      fail(c, "node %u of its block is missing", i);
    }
  }
  return states;
}

static void check_region(Check *c, const EinRegion *r) {
  const EinNode *n = c->n;
  if (!check_block_head(c, r)) return;
  vec_push(c->arena, c->open, r);
  uint32_t states = check_nodes(c, r);
  c->n = n;
  check_block_foot(c, r, states);
  c->open.len--;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void check_top(Check *c) {
  const EinRegion *r = c->g->top;
  if (r->parent || r->repeat || r->bound || r->turns || r->stop || r->turn || r->depth ||
      r->states.len || r->stacks.len)
    fail(c, "the program itself is no repeat");
  map_put(&c->regions, r, c);
  vec_push(c->arena, c->open, r);
  check_nodes(c, r);
  c->n = NULL;
}

static void check_outputs(Check *c) {
  Map names = map_new(c->arena);
  if (c->inputs != c->g->inputs.len)
    fail(c, "%u inputs stand in it and %u in its list", c->inputs, c->g->inputs.len);
  for (uint32_t i = 0; i < c->g->inputs.len; i++) {
    Str s = c->g->inputs.at[i]->name;
    if (s && map_find(&names, s)) fail(c, "two inputs are called %s", s->s);
    if (s) map_put(&names, s, c);
  }
  names = map_new(c->arena);
  for (uint32_t i = 0; i < c->g->outputs.len; i++) {
    const EinOutput *o = &c->g->outputs.at[i];
    check_ref(c, "an output", o->node);
    if (!is_name(o->name))
      fail(c, "output %u has no name", i);
    else if (map_find(&names, o->name))
      fail(c, "two outputs are called %s", o->name->s);
    else
      map_put(&names, o->name, c);
  }
}

static void check_tests(Check *c) {
  for (uint32_t i = 0; i < c->g->asserts.len; i++) {
    const EinNode *n = c->g->asserts.at[i].node;
    if (check_ref(c, "an assert", n)) check_scalar(c, "an assert", n, DT_BOOL);
  }
  for (uint32_t i = 0; i < c->g->checks.len; i++)
    check_condition(&c->c, i, c->g->checks.at[i].cond);
}

bool graph_check(const EinGraph *g, Buf *out) {
  Arena *a = arena_new();
  Check c = {.g = g, .arena = a};
  c.c = sum_check_new(out, a, g->exprs, &c, say_where);
  c.c.read = check_read;
  c.nodes = c.closed = c.regions = map_new(a);
  for (uint32_t i = 0; i < g->dims.len; i++)
    check_dim(&c.c, i, g->dims.at[i].name, g->dims.at[i].known, g->dims.at[i].value);
  for (uint32_t i = 0; i < g->monoids.len; i++) check_monoid(&c.c, g->monoids.at[i]);
  check_top(&c);
  check_outputs(&c);
  check_tests(&c);
  arena_free(a);
  return c.c.ok;
}
