/* graph/check.c - every invariant of an EinGraph, as graph.h and docs/languages-inside.md say them.
 * Walks the regions in order, so that what is defined so far is what may be used; each node and
 * each shared part of an expression is looked at once, and long chains are walked, not descended.
 */
#include <string.h>

#include "inside.h"

typedef struct Check {
  const EinGraph *g;
  Buf *out;
  Arena *arena;
  bool ok;
  const EinNode *n;            /* the node at hand; NULL: the graph as a whole */
  Map nodes;                   /* id + 1 to the node of that id, for those defined so far */
  Map closed, regions;         /* repeats whose block was walked; regions met */
  Map dims, monoids, extents;  /* by name; the graph's own; extents found well */
  VEC(const EinRegion *) open; /* the region at hand and those around it */
  uint32_t inputs;             /* met so far */
  uint32_t *stamp, room, now;  /* by id of an expression: when it was walked */
  VEC(const Expr *) stack;
  ReadTable reads; /* of the vertex at hand, as they come */
  DType param;     /* of the monoid at hand */
} Check;

static void fail(Check *c, const char *fmt, ...) EIN_PRINTF(2, 3);
static void fail(Check *c, const char *fmt, ...) {
  const EinNode *n = c->n;
  c->ok = false;
  if (n)
    buf_printf(c->out, "%s %%%u%s%s: ", node_word(n), n->id, n->name ? " " : "",
               n->name ? n->name->s : "");
  else
    buf_str(c->out, "graph: ");
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(c->out, fmt, ap);
  va_end(ap);
  buf_char(c->out, '\n');
}

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

static const char *type_name(DType t) {
  return (unsigned)t < DTYPES ? dtype_name(t) : "of no dtype";
}

static uint32_t level(const Check *c) {
  return c->open.len - 1;
}

static bool is_name(Str s) {
  return s && s->len;
}

/* ---- extents and shapes ---------------------------------------------------------------------- */

/* Calls visit for each part not yet walked since the last fresh stamp, arguments first, left to
 * right; parts without any of `has` inside are passed by. */
static void walk(Check *c, const Expr *top, unsigned has, void (*visit)(Check *, const Expr *)) {
  c->stack.len = 0;
  vec_push(c->arena, c->stack, top);
  while (c->stack.len) {
    const Expr *e = vec_last(c->stack);
    if (e->id >= c->room) {
      uint32_t room = e->id + e->id / 2 + 64, *stamp = NEW_ARRAY(c->arena, uint32_t, room);
      if (c->room) memcpy(stamp, c->stamp, c->room * sizeof *stamp);
      c->stamp = stamp;
      c->room = room;
    }
    uint32_t before = c->stack.len;
    bool fresh = c->stamp[e->id] != c->now && (e->has & has);
    for (uint32_t i = e->n; fresh && i-- > 0;)
      if ((e->arg[i]->has & has) && (e->arg[i]->id >= c->room || c->stamp[e->arg[i]->id] != c->now))
        vec_push(c->arena, c->stack, e->arg[i]);
    if (c->stack.len > before) continue;
    if (fresh) visit(c, e);
    c->stamp[e->id] = c->now;
    c->stack.len--;
  }
}

static void check_dim_name(Check *c, const Expr *e) {
  if (e->kind != EX_DIM) return;
  const EinDim *d = map_find(&c->dims, e->name);
  if (!d)
    fail(c, "dim %s is not declared", e->name->s);
  else if (d->known)
    fail(c, "dim %s has a value and still stands as a name", e->name->s);
}

static bool check_extent(Check *c, const char *what, const Expr *e) {
  if (e && map_find(&c->extents, e)) return true;
  if (!e)
    fail(c, "%s is missing", what);
  else if (e->dtype != DT_I64)
    fail(c, "%s is not i64", what);
  else if (e->has & ~(unsigned)HAS_DIM)
    fail(c, "%s is not over dims alone", what);
  else if (e->kind == EX_INT && e->i < 0)
    fail(c, "%s is negative", what);
  else if (extent_normal(c->g->exprs, e) != e)
    fail(c, "%s is not in normal form", what);
  else {
    c->now++;
    walk(c, e, HAS_DIM, check_dim_name);
    map_put(&c->extents, e, c);
    return true;
  }
  return false;
}

static void check_shape(Check *c, const EinNode *n) {
  if (n->rank && !n->dim)
    fail(c, "it has no shape");
  else
    for (uint32_t k = 0; k < n->rank; k++) check_extent(c, "an extent", n->dim[k]);
}

static void check_same_shape(Check *c, const char *what, const EinNode *a, const EinNode *b) {
  if (a->dtype != b->dtype)
    fail(c, "%s is %s and not %s", what, type_name(b->dtype), type_name(a->dtype));
  if (a->rank != b->rank) {
    fail(c, "%s has rank %u and not %u", what, b->rank, a->rank);
    return;
  }
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dim[k] != b->dim[k]) fail(c, "%s has another extent in dimension %u", what, k);
}

static void check_scalar(Check *c, const char *what, const EinNode *n, DType t) {
  if (n->rank || n->dtype != t) fail(c, "%s is not one %s", what, type_name(t));
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

static void check_read(Check *c, const Expr *e) {
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
    fail(c, "%%%u is %s and is read as %s", x->id, type_name(x->dtype), type_name((DType)e->dtype));
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->dtype != DT_I64) fail(c, "an index of %%%u is not i64", x->id);
  if (read_slot(&c->reads, x, e) != e->i)
    fail(c, "slot %lld is not in canonical order", (long long)e->i);
}

static void check_part(Check *c, const Expr *e) {
  const EinSum *s = c->n->sum;
  switch ((ExprKind)e->kind) {
  case EX_LABEL:
    if (e->i < 0 || e->i >= (int64_t)s->n_out + s->n_red)
      fail(c, "label number %lld, of %u", (long long)e->i, s->n_out + s->n_red);
    break;
  case EX_TURN:
    if (e->i < 0 || e->i >= level(c))
      fail(c, "loop variable of depth %lld in %u repeats", (long long)e->i, level(c));
    break;
  case EX_PARAM: fail(c, "#%lld stands outside of a monoid", (long long)e->i); break;
  case EX_DIM: check_dim_name(c, e); break;
  case EX_READ: check_read(c, e); break;
  case EX_INT:
  case EX_REAL:
  case EX_OP: break;
  }
}

static void check_domain(Check *c, const EinSum *s) {
  bool used[GRAPH_LABELS] = {false};
  if (s->domain->dtype != DT_BOOL) fail(c, "the domain is not bool");
  expr_labels(s->domain, s->n_out + s->n_red, used);
  for (uint32_t k = s->n_out; k < s->n_out + s->n_red; k++)
    if (used[k]) fail(c, "the domain is over a reduced label, %u", k);
}

static void check_expressions(Check *c, const EinSum *s) {
  enum { ALL = HAS_DIM | HAS_LABEL | HAS_TURN | HAS_READ | HAS_PARAM };
  c->now++;
  c->reads = (ReadTable){.arena = c->arena, .chains = map_new(c->arena)};
  walk(c, s->body, ALL, check_part);
  if (s->where) walk(c, s->where, ALL, check_part);
  if (s->domain) walk(c, s->domain, ALL, check_part);
  if (c->reads.nodes.len < s->n_slot)
    fail(c, "%u slots are never read", s->n_slot - c->reads.nodes.len);
  if (s->body->dtype != s->acc)
    fail(c, "the body is %s and not %s", type_name((DType)s->body->dtype), type_name(s->acc));
  if (s->where && s->where->dtype != DT_BOOL) fail(c, "where is not bool");
  if (s->domain) check_domain(c, s);
}

/* What the reducer asks of the dtype in which it accumulates, or NULL if that is well. */
static const char *acc_wrong(const EinSum *s) {
  bool number = s->acc != DT_BOOL;
  switch (s->reducer) {
  case RED_SUM:
  case RED_PROD:
  case RED_MAX:
  case RED_MIN:
  case RED_FMAX:
  case RED_FMIN:
  case RED_ARGMAX:
  case RED_ARGMIN: return number ? NULL : "numbers";
  case RED_ANY:
  case RED_ALL: return number ? "bools" : NULL;
  case RED_LSE: return dtype_is_float(s->acc) ? NULL : "floats";
  case RED_MONOID: return s->monoid && s->monoid->dtype == s->acc ? NULL : "its monoid's dtype";
  case RED_COUNT:
  case RED_MEAN: return "nothing: it is elaborated away";
  case RED_NONE:
  case REDUCERS: break;
  }
  return NULL;
}

static void check_reducer(Check *c, const EinSum *s) {
  const char *wants = acc_wrong(s), *name = reducer_info[s->reducer].name;
  if (wants) fail(c, "%s is over %s", name, wants);
  if (s->reducer == RED_NONE && s->n_red)
    fail(c, "it reduces %u labels without a reducer", s->n_red);
  if (s->reducer == RED_NONE && s->where) fail(c, "where stands without a reducer");
  if ((s->reducer == RED_MONOID) != (s->monoid != NULL))
    fail(c, "a monoid stands with the reducer monoid, and only there");
  if (s->monoid && !map_find(&c->monoids, s->monoid)) fail(c, "its monoid is not the graph's");
  bool place = s->reducer == RED_ARGMAX || s->reducer == RED_ARGMIN;
  if (place && s->dtype != DT_I64) fail(c, "%s gives i64", name);
  bool rounds = dtype_is_float(s->acc) && dtype_is_float(s->dtype);
  if (!place && s->dtype != s->acc && !rounds)
    fail(c, "%s does not round to %s", type_name(s->acc), type_name(s->dtype));
}

static bool check_labels(Check *c, const EinNode *n, uint32_t labels) {
  bool well = true;
  if (labels && (!n->label || !n->bound)) {
    fail(c, "it has no labels");
    return false;
  }
  for (uint32_t k = 0; k < labels; k++) {
    well &= check_extent(c, "a label's bound", n->bound[k]);
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
  if (s->n_out > GRAPH_LABELS || s->n_red > GRAPH_LABELS - s->n_out) {
    fail(c, "it has %u and %u labels: too many", s->n_out, s->n_red);
    return;
  }
  if (sum_find(c->g, s) != s) fail(c, "its operation is not interned");
  if (n->dtype != s->dtype)
    fail(c, "it is %s and its operation gives %s", type_name(n->dtype), type_name(s->dtype));
  for (uint32_t k = 0; k < s->n_slot; k++) check_operand(c, "input", n->input[k]);
  check_reducer(c, s);
  if (check_labels(c, n, s->n_out + s->n_red)) check_merge(c, n);
  check_expressions(c, s);
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
  if (r->turns) check_extent(c, "the number of turns", r->turns);
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

static void check_dims(Check *c) {
  for (uint32_t i = 0; i < c->g->dims.len; i++) {
    EinDim *d = &c->g->dims.at[i];
    if (!word_label(d->name)) fail(c, "dim %u has a name that is none", i);
    if (!d->name) continue;
    if (map_find(&c->dims, d->name)) fail(c, "dim %s is declared twice", d->name->s);
    if (d->known && d->value < 0) fail(c, "dim %s is negative", d->name->s);
    map_put(&c->dims, d->name, d);
  }
}

static void check_param(Check *c, const Expr *e) {
  check_dim_name(c, e);
  if (e->kind == EX_PARAM && e->dtype != c->param)
    fail(c, "#%lld is not %s", (long long)e->i, type_name(c->param));
}

static void check_monoid(Check *c, const Monoid *m) {
  if (!is_name(m->name) || !m->combine || !m->identity || (unsigned)m->dtype >= DTYPES) {
    fail(c, "a monoid is not filled in");
    return;
  }
  if (m->combine->dtype != m->dtype || m->identity->dtype != m->dtype)
    fail(c, "monoid %s is not all %s", m->name->s, type_name(m->dtype));
  if (m->combine->has & (HAS_LABEL | HAS_TURN | HAS_READ))
    fail(c, "monoid %s is over more than #0 and #1", m->name->s);
  if (m->identity->has & ~(unsigned)HAS_DIM)
    fail(c, "the identity of monoid %s is no constant", m->name->s);
  c->now++;
  c->param = m->dtype;
  walk(c, m->combine, HAS_DIM | HAS_PARAM, check_param);
  walk(c, m->identity, HAS_DIM, check_param);
  if (map_find(&c->monoids, m)) fail(c, "monoid %s is in the list twice", m->name->s);
  map_put(&c->monoids, m, c);
}

static void check_monoids(Check *c) {
  for (uint32_t i = 0; i < c->g->monoids.len; i++) {
    const Monoid *m = c->g->monoids.at[i];
    check_monoid(c, m);
    for (uint32_t j = 0; j < i; j++)
      if (c->g->monoids.at[j]->name == m->name && c->g->monoids.at[j]->dtype == m->dtype)
        fail(c, "two monoids of %s are called %s", type_name(m->dtype), m->name ? m->name->s : "");
  }
}

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
  for (uint32_t i = 0; i < c->g->checks.len; i++) {
    const Expr *e = c->g->checks.at[i].cond;
    if (!e || e->dtype != DT_BOOL || (e->has & ~(unsigned)HAS_DIM)) {
      fail(c, "check %u is not a bool over dims alone", i);
    } else {
      c->now++;
      walk(c, e, HAS_DIM, check_dim_name);
    }
  }
}

bool graph_check(const EinGraph *g, Buf *out) {
  Check c = {.g = g, .out = out, .arena = arena_new(), .ok = true};
  c.nodes = c.closed = c.regions = c.dims = c.monoids = c.extents = map_new(c.arena);
  check_dims(&c);
  check_monoids(&c);
  check_top(&c);
  check_outputs(&c);
  check_tests(&c);
  arena_free(c.arena);
  return c.ok;
}
