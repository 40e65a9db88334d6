/* plan/part_graph.c - EinGraph to PartGraph: which label cuts which dimension of a vertex's operands and result. */
#include "expr/prove/asked.h"
#include "expr/prove/prove.h"
#include "partition.h"
#include "span.h"

typedef struct Builder {
  PartGraph *g;
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Buf *why;
  int32_t *vertex;           /* by node id: its vertex; -1: none */
  bool *needed;              /* by node id: some answer depends on it */
  uint32_t *named;           /* by node id: how often it is read at a number in some dimension */
} Builder;

/* ---- sizes ----------------------------------------------------------------------------------------- */

static bool dim_open(void *met, Str name, int64_t *out) {
  (void)out;
  *(Str *)met = name;
  return false;
}

static bool number(Builder *b, const EinNode *n, const Expr *e, int64_t *out) {
  Value v;
  Str open = NULL;
  bool ok = expr_value(e, &(ExprEnv){.dim = dim_open, .ctx = &open}, &v);
  *out = ok && v.i > 0 ? v.i : 0;
  if (ok || b->why->len) return ok;
  if (open) buf_printf(b->why, "no value for dim %s: a plan for many sites is of one size", open->s);
  else
    buf_printf(b->why, "the size of %s is no number yet", n->name ? n->name->s : arena_printf(b->arena, "%%%u", n->id));
  return false;
}

static bool numbers(Builder *b, const EinNode *n, uint32_t len, const Expr *const *e, const int64_t **out) {
  int64_t *x = NEW_ARRAY(b->arena, int64_t, len + 1);
  *out = x;
  for (uint32_t k = 0; k < len; k++)
    if (!number(b, n, e[k], &x[k])) return false;
  return true;
}

/* How often the values in the region are computed; a number of turns that only data determine counts as one. */
static double times_of(const EinRegion *r) {
  double times = 1;
  for (; r->parent; r = r->parent) {
    Value v;
    if (r->turns && expr_value(r->turns, &(ExprEnv){0}, &v) && v.i >= 0) times *= (double)v.i;
  }
  return times;
}

static bool region_within(const EinRegion *r, const EinRegion *outer) {
  while (r && r != outer) r = r->parent;
  return r;
}

/* ---- indices ---------------------------------------------------------------------------------------- */

typedef struct Furthest { int32_t label; double span; } Furthest; /* of an index: the label that moves it furthest */

/* Finds the label that moves the index furthest. False where the index is not affine in labels, except for terms
 * that depend on neither labels nor data. `scale`: the factor of e. */
static bool furthest(const Expr *e, double scale, const int64_t *extent, Furthest *f) {
  if (!(e->has & (HAS_LABEL | HAS_READ))) return true;
  if (e->kind == EX_LABEL) {
    double span = (scale < 0 ? -scale : scale) * (double)extent[e->i];
    if (span > f->span) *f = (Furthest){(int32_t)e->i, span};
    return true;
  }
  if (e->kind != EX_OP || e->dtype != DT_I64) return false;
  const Expr *a = e->arg[0], *c = e->n > 1 ? e->arg[1] : NULL;
  Furthest once = {-1, 0};
  switch ((Op)e->op) {
  case OP_NEG: return furthest(a, -scale, extent, f);
  case OP_ADD: return furthest(a, scale, extent, f) && furthest(c, scale, extent, f);
  case OP_SUB: return furthest(a, scale, extent, f) && furthest(c, -scale, extent, f);
  case OP_MUL:
    if (a->kind == EX_INT) return furthest(c, scale * (double)a->i, extent, f);
    return c->kind == EX_INT && furthest(a, scale * (double)c->i, extent, f);
  case OP_MAX: case OP_MIN: return furthest(a, scale, extent, f) && furthest(c, scale, extent, f);
  case OP_IDIV: return c->kind == EX_INT && c->i > 0 && furthest(a, scale / (double)c->i, extent, f);
  case OP_MOD: /* around once at most */
    return c->kind == EX_INT && furthest(a, 1, extent, &once) && once.span <= (double)c->i &&
        furthest(a, scale, extent, f);
  default: return false;
  }
}

static int32_t cutting_label(const Expr *index, const int64_t *extent) {
  Furthest f = {-1, 0};
  return furthest(index, 1, extent, &f) ? f.label : -1;
}

/* ---- what cuts a tensor where it is made -------------------------------------------------------------- */

/* A state's dimensions are its labels. A vertex's dimension may merge several labels; the first that is longer than
 * 1 cuts it. */
static void made_by(const PartVertex *v, int32_t *made) {
  const EinNode *n = v->node;
  uint32_t l = 0;
  for (uint32_t k = 0; k < n->rank; k++) {
    uint32_t m = n->kind == EIN_VERTEX ? n->merge[k] : 1, first = l;
    while (first + 1 < l + m && v->extent[first] <= 1) first++;
    made[k] = (int32_t)first;
    l += m;
  }
}

/* Returns the vertex that makes the tensor, and by dimension its labels; or -1, and whole dimensions, where there is
 * none. What leaves a repeat keeps its cuts; a stack's axis is not cut, since its turns come one by one. */
static int32_t maker_of(const Builder *b, const EinNode *n, int32_t *made) {
  if (n->kind == EIN_FINAL) return maker_of(b, n->repeat->body->states.at[n->index].node, made);
  if (n->kind == EIN_STACK) {
    const EinStack *s = &n->repeat->body->stacks.at[n->index];
    int32_t one[GRAPH_OUT + 1], from = maker_of(b, s->node, one);
    for (uint32_t k = 0, j = 0; k < n->rank; k++) made[k] = k == s->axis ? -1 : one[j++];
    return from;
  }
  int32_t from = b->vertex[n->id];
  for (uint32_t k = 0; k < n->rank; k++) made[k] = -1;
  if (from >= 0) made_by(&b->g->vertices.at[from], made);
  return from;
}

static bool read_begin(Builder *b, const EinNode *n, PartRead *r) {
  int32_t *made = NEW_ARRAY(b->arena, int32_t, n->rank + 1);
  *r = (PartRead){.node = n, .rank = n->rank, .made = made, .times = times_of(n->region)};
  r->from = maker_of(b, n, made);
  return numbers(b, n, n->rank, n->dim, &r->extent);
}

/* ---- vertices --------------------------------------------------------------------------------------- */

/* Where a dimension merges labels, all but the one that cuts it stay whole. Empty labels are not cut. */
static const int64_t *mosts(Arena *a, const PartVertex *v) {
  const EinNode *n = v->node;
  int64_t *most = NEW_ARRAY(a, int64_t, v->n_label + 1);
  int32_t made[GRAPH_OUT + 1];
  bool merged = n->kind == EIN_VERTEX && n->rank != v->n_out;
  for (uint32_t l = 0; l < v->n_label; l++) most[l] = v->extent[l] > 1 && !(merged && l < v->n_out) ? v->extent[l] : 1;
  made_by(v, made);
  for (uint32_t k = 0; merged && k < n->rank; k++)
    if (v->extent[made[k]] > 1) most[made[k]] = v->extent[made[k]];
  bool empty = false;
  for (uint32_t l = 0; l < v->n_out; l++) empty |= v->extent[l] == 0;
  for (uint32_t l = 0; empty && l < v->n_label; l++) most[l] = 1;
  return most;
}

static int64_t extent_made(const Builder *b, const PartRead *r, uint32_t k) {
  if (r->from < 0 || r->made[k] < 0) return r->extent[k];
  return b->g->vertices.at[r->from].extent[r->made[k]];
}

/* Whether each dimension is read by one label, which is as long as the dimension now and where it was made; or comes
 * whole. */
static bool is_plain(const Builder *b, const PartVertex *v, const PartRead *r, uint32_t k, const Expr *index) {
  int32_t l = r->label[k];
  if (l < 0) return !(index->has & HAS_LABEL) || (index->has & HAS_READ);
  for (uint32_t j = 0; j < k; j++)
    if (r->label[j] == l) return false;
  return index->kind == EX_LABEL && v->extent[l] == r->extent[k] && extent_made(b, r, k) == r->extent[k] &&
      (r->from < 0 || r->made[k] >= 0);
}

/* Keeps the indices where that is not so. */
static void indices_keep(const Builder *b, const PartVertex *v, PartRead *r, const Expr *const *index) {
  bool plain = true;
  for (uint32_t k = 0; k < r->rank; k++) plain &= is_plain(b, v, r, k, index[k]);
  if (plain) return;
  const Expr **normal = NEW_ARRAY(b->arena, const Expr *, r->rank + 1);
  for (uint32_t k = 0; k < r->rank; k++) normal[k] = span_index(b->exprs, index[k]);
  r->index = normal;
}

/* How often the requested elements change: as often as the innermost of the table and its indices. */
static double times_asked(const EinNode *n, const PartRead *r) {
  const EinRegion *inner = r->node->region;
  Arena *a = arena_new();
  ExprNodes nodes = expr_nodes(a, NULL, 0);
  for (uint32_t k = 0; k < r->rank; k++) expr_nodes_add(&nodes, r->index[k]);
  for (const Expr *e; (e = expr_node(&nodes));) {
    const EinRegion *its = e->kind == EX_READ ? n->input[e->i]->region : e->kind == EX_TURN ? n->region : inner;
    while (e->kind == EX_TURN && (int64_t)its->depth > e->i) its = its->parent;
    if (region_within(its, inner)) inner = its;
  }
  arena_free(a);
  return times_of(inner);
}

/* Whether places of the table are read in a turn that are not all of them, as far as this is known: at data; where a
 * label moves the turn's places, as in a batch of rows; or of what the repeat of that turn makes anew. A table from
 * outside of which each turn reads one place comes once, whole. */
static bool is_asked(const Builder *b, const PartRead *r, uint32_t k, const Expr *index) {
  if (index->kind == EX_INT) return 2 * (int64_t)b->named[r->node->id] < r->extent[k];
  const EinRegion *made = r->node->region;
  bool label = (index->has & HAS_LABEL) != 0, asked = (index->has & HAS_READ) != 0;
  Arena *a = arena_new();
  ExprNodes nodes = expr_nodes(a, index, HAS_TURN);
  for (const Expr *e; !asked && (e = expr_node(&nodes));)
    asked = e->kind == EX_TURN && (label || (made->parent && (int64_t)made->depth >= e->i));
  arena_free(a);
  return asked;
}

/* Finds reads at indices that depend on data or turns, and on few labels. */
static void asked_find(const Builder *b, const EinNode *n, const PartVertex *v, PartRead *r, const Expr *const *index) {
  const Expr **normal = NEW_ARRAY(b->arena, const Expr *, r->rank + 1);
  bool used[GRAPH_LABELS + 1] = {0}, asked = false;
  uint32_t labels = 0;
  Asked q;
  for (uint32_t k = 0; k < r->rank; k++) {
    normal[k] = expr_normal(b->exprs, index[k]);
    expr_labels(normal[k], v->n_label, used);
    asked |= is_asked(b, r, k, normal[k]);
  }
  for (uint32_t l = 0; l < v->n_label; l++) labels += used[l];
  if (!asked || labels > ASKED_MOST || !asked_of(b->arena, v->n_label, r->rank, normal, &q)) return;
  r->index = normal;
  r->asked = times_asked(n, r);
}

static bool vertex_add(Builder *b, const EinNode *n) {
  const EinSum *s = n->sum;
  SumCount count = sum_count(s, NULL);
  PartVertex v = {.node = n,
      .n_label = s->n_out + s->n_red,
      .n_out = s->n_out,
      .label = n->label,
      .times = times_of(n->region),
      .sum = s,
      .inner = 1,
      .point = (double)(count.flops + count.integer)};
  const Expr **read = NEW_ARRAY(b->arena, const Expr *, s->n_slot + 1);
  if (!numbers(b, n, v.n_label, n->bound, &v.extent)) return false;
  v.most = mosts(b->arena, &v);
  const Expr *top[] = {s->body, s->where, s->domain};
  if (s->where || s->domain) {
    Ties *ties = NEW(b->arena, Ties);
    uint32_t *list = NEW_ARRAY(b->arena, uint32_t, s->n_slot + 1);
    for (uint32_t i = 0; i < s->n_slot; i++) list[i] = n->input[i]->id;
    *ties = ties_find(v.n_label, v.extent, list, 2, top + 1);
    v.ties = ties;
    uint32_t budget = BOXES_USUAL;
    int64_t *zero = NEW_ARRAY(b->arena, int64_t, v.n_label + 1);
    v.kept = boxes_points(v.n_label, zero, v.extent, 2, top + 1, &budget);
  }
  expr_slot_reads(b->arena, COUNT(top), top, read);
  for (uint32_t i = 0; i < s->n_slot; i++) {
    PartRead r;
    if (n->input[i]->kind == EIN_TURNS) continue; /* known everywhere */
    if (!read_begin(b, n->input[i], &r)) return false;
    int32_t *label = NEW_ARRAY(b->arena, int32_t, r.rank + 1);
    for (uint32_t k = 0; k < r.rank; k++) label[k] = cutting_label(read[i]->arg[k], v.extent);
    r.label = label;
    r.call = true;
    indices_keep(b, &v, &r, read[i]->arg);
    asked_find(b, n, &v, &r, read[i]->arg);
    vec_push(b->arena, v.reads, r);
  }
  b->vertex[n->id] = (int32_t)b->g->vertices.len;
  vec_push(b->arena, b->g->vertices, v);
  return true;
}

/* Places a tensor where a state lies. */
static bool state_put(Builder *b, PartVertex *v, const EinNode *n) {
  PartRead r;
  if (!read_begin(b, n, &r)) return false;
  int32_t *label = NEW_ARRAY(b->arena, int32_t, r.rank + 1);
  const Expr **index = NEW_ARRAY(b->arena, const Expr *, r.rank + 1);
  for (uint32_t k = 0; k < r.rank; k++) label[k] = (int32_t)k, index[k] = expr_label(b->exprs, k);
  r.label = label;
  indices_keep(b, v, &r, index);
  vec_push(b->arena, v->reads, r);
  return true;
}

static bool state_add(Builder *b, const EinNode *n) {
  PartVertex v = {.node = n, .n_label = n->rank, .n_out = n->rank, .times = times_of(n->region)};
  Str *label = NEW_ARRAY(b->arena, Str, n->rank + 1);
  const EinNode *init = n->region->states.at[n->index].init;
  for (uint32_t k = 0; k < n->rank; k++)
    label[k] = init->kind == EIN_VERTEX && init->rank == init->sum->n_out ? init->label[k]
                                                                          : strings_printf(b->strings, "i%u", k + 1);
  v.label = label;
  if (!numbers(b, n, n->rank, n->dim, &v.extent)) return false;
  v.most = mosts(b->arena, &v);
  if (!state_put(b, &v, init)) return false;
  b->vertex[n->id] = (int32_t)b->g->vertices.len;
  vec_push(b->arena, b->g->vertices, v);
  return true;
}

static bool region_add(Builder *b, const EinRegion *r);

static bool repeat_add(Builder *b, const EinRegion *r) {
  if (!region_add(b, r)) return false;
  vec_each(const EinState, s, r->states)
    if (s->next != s->node && !state_put(b, &b->g->vertices.at[b->vertex[s->node->id]], s->next)) return false;
  return true;
}

static bool region_add(Builder *b, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    bool ok = true;
    if (!b->needed[n->id]) continue;
    if (n->kind == EIN_VERTEX) ok = vertex_add(b, n);
    else if (n->kind == EIN_STATE) ok = state_add(b, n);
    else if (n->kind == EIN_REPEAT) ok = repeat_add(b, n->body);
    if (!ok) return false;
  }
  return true;
}

/* ---- needed nodes ------------------------------------------------------------------------------------ */

typedef VEC(const EinNode *) Todo;

static void need(Builder *b, Todo *todo, const EinNode *n) {
  if (!n || b->needed[n->id]) return;
  b->needed[n->id] = true;
  vec_push(b->arena, *todo, n);
}

/* Counts the reads of a vertex at numbers. */
static void named_count(Builder *b, const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *top[] = {s->body, s->where, s->domain};
  Arena *a = arena_new();
  const Expr **read = NEW_ARRAY(a, const Expr *, s->n_slot + 1);
  expr_slot_reads(a, COUNT(top), top, read);
  for (uint32_t i = 0; i < s->n_slot; i++) {
    bool number = false;
    for (uint32_t k = 0; k < n->input[i]->rank; k++) number |= read[i]->arg[k]->kind == EX_INT;
    b->named[n->input[i]->id] += number;
  }
  arena_free(a);
}

/* A repeat is done whole. Defaults of inputs are skipped: a plan is for runs that get their inputs. */
static void need_operands(Builder *b, Todo *todo, const EinNode *n) {
  for (uint32_t i = 0; n->kind == EIN_VERTEX && i < n->sum->n_slot; i++) need(b, todo, n->input[i]);
  if (n->kind == EIN_VERTEX) named_count(b, n);
  if (n->kind != EIN_REPEAT) {
    need(b, todo, n->repeat);
    return;
  }
  const EinRegion *r = n->body;
  need(b, todo, r->bound);
  need(b, todo, r->stop);
  for (uint32_t i = 0; i < r->states.len; i++) {
    need(b, todo, r->states.at[i].node);
    need(b, todo, r->states.at[i].init);
    need(b, todo, r->states.at[i].next);
  }
  for (uint32_t i = 0; i < r->stacks.len; i++) need(b, todo, r->stacks.at[i].node);
}

static void needs_find(Builder *b, const EinGraph *g) {
  Todo todo = {0};
  for (uint32_t i = 0; i < g->outputs.len; i++) need(b, &todo, g->outputs.at[i].node);
  for (uint32_t i = 0; i < g->asserts.len; i++) need(b, &todo, g->asserts.at[i].node);
  while (todo.len) need_operands(b, &todo, vec_pop(todo));
}

/* Finds what a run returns. */
static bool kept_find(Builder *b, const EinGraph *g) {
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    const EinNode *n = g->outputs.at[i].node;
    int32_t made[GRAPH_OUT + 1];
    PartKept k = {n, maker_of(b, n, made), NULL};
    if (!numbers(b, n, n->rank, n->dim, &k.extent)) return false;
    vec_push(b->arena, b->g->kept, k);
  }
  return true;
}

/* A name that several share goes to the state, if there is one: its first and next values have the same name. */
static void names_give(PartGraph *g) {
  Map states = map_new(g->arena), others = map_new(g->arena);
  vec_each(PartVertex, v, g->vertices) {
    Map *same = v->node->kind == EIN_STATE ? &states : &others;
    if (v->node->name) map_put(same, v->node->name, map_find(same, v->node->name) ? (void *)g : v);
  }
  vec_each(PartVertex, v, g->vertices) {
    const void *owner = v->node->name ? map_find(&states, v->node->name) : NULL;
    if (!owner && v->node->name) owner = map_find(&others, v->node->name);
    v->name = owner == v ? v->node->name->s : arena_printf(g->arena, "%%%u", v->node->id);
  }
}

/* Whether its sizes are numbers; its values may still depend on an open dim. */
static bool is_closed(Builder *b, const PartVertex *v) {
  const EinSum *s = v->node->kind == EIN_VERTEX ? v->node->sum : NULL;
  if (!s || !((s->body->has | (s->where ? s->where->has : 0) | (s->domain ? s->domain->has : 0)) & HAS_DIM))
    return true;
  buf_printf(b->why, "%s is made of a dim that has no value yet", v->name);
  return false;
}

PartGraph *part_from_graph(Arena *a, const EinGraph *g, Buf *why) {
  Builder b = {.g = NEW(a, PartGraph), .arena = a, .strings = g->strings, .exprs = g->exprs, .why = why,
               .vertex = NEW_ARRAY(a, int32_t, g->n_nodes + 1)};
  b.g->arena = a;
  b.needed = NEW_ARRAY(a, bool, g->n_nodes + 1);
  b.named = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
  b.g->needed = b.needed;
  for (uint32_t i = 0; i < g->n_nodes; i++) b.vertex[i] = -1;
  needs_find(&b, g);
  if (!region_add(&b, g->top) || !kept_find(&b, g)) return NULL;
  names_give(b.g);
  for (uint32_t i = 0; i < b.g->vertices.len; i++)
    if (!is_closed(&b, &b.g->vertices.at[i])) return NULL;
  return b.g;
}
