/* algebra/check/check.c - checks every invariant of a Tra or an Ia that relation.h, algebra.h and
 * docs/languages-inside.md state. Walks the regions in order, so that a node may use only what is defined before it,
 * and tracks which keys each relation has (keys.h). */
#include "check.h"

static void say_where(void *ctx, Buf *out) {
  const Check *c = ctx;
  const AlgNode *n = c->n;
  if (n)
    buf_printf(out, "%s %%%u%s%s", (unsigned)n->kind <= ALG_TURNS ? alg_word(c->g, n) : "node", n->id,
        n->name ? " " : "", n->name ? n->name->s : "");
  else if (!c->c.d)
    buf_str(out, "program");
}

Info *info_of(Check *c, const AlgNode *n) {
  Info *i = map_find(&c->info, n);
  if (!i) map_put(&c->info, n, i = NEW(c->arena, Info));
  return i;
}

/* A scalar must have rank 0, no keys and this dtype, and be at every site. */
static void check_scalar(void *ctx, const char *what, const void *node, DType t) {
  const AlgNode *n = node;
  if (n->type.rank || n->type.n_key || n->type.dtype != t || n->type.places)
    fail((Check *)ctx, "%s is not one %s", what, check_dtype_name(t));
  check_whole(ctx, what, n);
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

static bool is_result(const AlgNode *n) {
  return n->kind == ALG_FINAL || n->kind == ALG_STACK || n->kind == ALG_TURNS;
}

static uint32_t operands_due(const AlgNode *n) {
  return n->kind == ALG_AGGREGATE || n->kind == ALG_MAP || n->kind == ALG_FILTER || n->kind == ALG_MOVE;
}

/* The results of a label's panels must combine, or be laid side by side. */
static void check_panels(Check *c, const AlgNode *n) {
  if (n->kind != ALG_JOIN || !c->g->placed) fail(c, "it is in panels, and is no join of an Ia");
  if (n->kind != ALG_JOIN || !n->sum) return;
  if (n->panels < 2 || n->panels > PANELS_MOST)
    fail(c, "it is in %u panels: from 2 to %d there may be", n->panels, (int)PANELS_MOST);
  if (n->panel >= n->sum->n_out + n->sum->n_red) fail(c, "it is in panels of label %u, which it has not", n->panel);
  if (!sum_panels(n->sum))
    fail(c,
        n->sum->by ? "what a C function makes goes in no panels"
                   : "places of argmax and argmin are looked for in no panels");
}

/* Fields that only other kinds of nodes have must be empty. */
static void check_fields(Check *c, const AlgNode *n) {
  bool map = n->kind == ALG_MAP, join = alg_has_kernel(n), group = n->kind == ALG_AGGREGATE;
  if ((n->sum != NULL) != join) fail(c, "a kernel is what a join or a fetch has, and only those");
  if (!group && (n->n_group || n->reducer != RED_NONE || n->monoid)) fail(c, "it has what only an aggregate has");
  if (!map && (n->n_piece || n->piece || n->rekey)) fail(c, "it has what only a map has");
  if (n->keep && n->kind != ALG_FILTER) fail(c, "it keeps some keys and is no filter");
  if (n->n_fn && !map && n->kind != ALG_JOIN && !group) fail(c, "it has functions of the array");
  if (alg_moves(n) && !c->g->placed) fail(c, "a Tra has no moves");
  if (n->panels) check_panels(c, n);
  else if (n->panel) fail(c, "it has a label of panels, and is in none");
}

static bool check_operands(Check *c, const AlgNode *n) {
  bool well = true;
  if (!alg_has_kernel(n) && n->n_operand != operands_due(n)) {
    fail(c, "it has %u operands", n->n_operand);
    return false;
  }
  for (uint32_t i = 0; n->kind != ALG_JOIN && i < n->n_operand; i++)
    if (n->operand[i].wanted) fail(c, "its operand is wanted, and it is no join");
  for (uint32_t i = 0; i < n->n_operand; i++) {
    const AlgNode *x = n->operand[i].node;
    well = check_operand(&c->r, "operand", x) && info_of(c, x)->well && well;
  }
  return well;
}

static void check_input(Check *c, const AlgNode *n) {
  if (check_level(&c->r)) fail(c, "it stands in a repeat");
  if (!is_name(n->name)) fail(c, "it has no name");
  if (c->inputs >= c->g->inputs.len || c->g->inputs.at[c->inputs] != n)
    fail(c, "it is not in its place in the list of inputs");
  c->inputs++;
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

static bool is_known(void *ctx, const void *node) {
  bool known = (unsigned)((const AlgNode *)node)->kind <= ALG_TURNS;
  if (!known) fail((Check *)ctx, "it has no kind");
  return known;
}

static void put_at(void *ctx, const void *node) {
  ((Check *)ctx)->n = node;
}

static void check_relation(Check *c, const AlgNode *n) {
  Info *i = info_of(c, n);
  bool well = check_form(c, n);
  well = check_placement(c, n) && well;
  well = check_operands(c, n) && well;
  i->keys = n->type.holes ? keys_unknown(&n->type) : keys_all(&n->type);
  i->well = well;
  if (!well) return;
  if (n->kind == ALG_INPUT) check_input(c, n);
  for (uint32_t a = 0; c->g->placed && a < c->g->mesh.n; a++) i->parts |= n->at.on[a] == PLACE_PART;
  if (n->kind == ALG_STATE) check_state(&c->r, n), check_whole(c, "state", n);
  if (is_result(n)) check_result(&c->r, n);
  check_operation(c, n, i);
  if (i->well) check_places(c, n, i);
}

static void check_node(void *ctx, const void *node) {
  Check *c = ctx;
  const AlgNode *n = node;
  check_fields(c, n);
  if (alg_is_tensor(n))
    check_relation(c, n);
  else if (n->body && n->body->turns < -1)
    fail(c, "its number of turns is %lld", (long long)n->body->turns);
}

static uint32_t law_rank(const void *node) {
  return ((const AlgNode *)node)->type.rank;
}

/* The type of a stack: one turn's type with the turns inserted at the axis. */
static void law_stacked(void *ctx, const void *node, StackView of, const Expr *turns) {
  Check *c = ctx;
  const AlgNode *of_turn = of.node.at;
  AlgNode one = *of_turn;
  uint32_t rank = one.type.rank + 1;
  RelDim *dim = NEW_ARRAY(c->arena, RelDim, rank);
  for (uint32_t d = 0; d < rank; d++)
    dim[d] = d == of.axis ? rel_whole(c->g->exprs, turns->i) : of_turn->type.dim[d < of.axis ? d : d - 1];
  one.type.rank = rank;
  one.type.dim = dim;
  info_of(c, &one)->well = info_of(c, of_turn)->well;
  check_same_type(c, "what is stacked, with its turns,", node, &one);
  map_put(&c->info, &one, NULL);
}

static const RegionLaws laws = {.noun = "relation",
    .known = is_known,
    .at = put_at,
    .node = check_node,
    .scalar = check_scalar,
    .same = check_same_type,
    .whole = check_whole,
    .rank = law_rank,
    .stacked = law_stacked};

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void check_mesh(Check *c) {
  const Mesh *m = &c->g->mesh;
  int64_t room = c->g->room;
  if (room < 0 || room > MOVE_ROOM || (room && !c->g->placed)) fail(c, "it has no such room for parts");
  if (!c->g->placed) return;
  int64_t sites = 1;
  bool well = m->n <= MESH_AXES;
  for (uint32_t a = 0; well && a < m->n; a++)
    well = m->size[a] && mul_ok(sites, m->size[a], &sites) && sites <= 1 << 24;
  if (!well) fail(c, "its mesh has no size, or too large a one");
}

static void check_inputs(Check *c) {
  Map names = map_new(c->arena);
  if (c->inputs != c->g->inputs.len) fail(c, "%u inputs stand in it and %u in its list", c->inputs, c->g->inputs.len);
  for (uint32_t i = 0; i < c->g->inputs.len; i++)
    if (is_name(c->g->inputs.at[i]->name)) check_own_name(&c->c, &names, "input", i, c->g->inputs.at[i]->name);
}

static void check_outputs(Check *c) {
  Map names = map_new(c->arena);
  for (uint32_t i = 0; i < c->g->outputs.len; i++) {
    const AlgOutput *o = &c->g->outputs.at[i];
    c->r.line = line_key(LINE_OUTPUT, i);
    c->r.about = o->node;
    bool well = check_ref(&c->r, "an output", o->node);
    if (well) check_whole(c, "an output", o->node);
    for (uint32_t d = 0; d < o->rank; d++)
      if (o->extent[d] < 0) fail(c, "output %u has a negative extent", i);
    if (well && is_name(o->name)) check_output_boxes(c, o);
    check_own_name(&c->c, &names, "output", i, o->name);
  }
}

static void check_asserts(Check *c) {
  for (uint32_t i = 0; i < c->g->asserts.len; i++) {
    const AlgNode *n = c->g->asserts.at[i].node;
    c->r.line = line_key(LINE_ASSERT, i);
    c->r.about = n;
    if (check_ref(&c->r, "an assert", n)) check_scalar(c, "an assert", n, DT_BOOL);
  }
}

static Span line_of(void *ctx) {
  return check_line(&((const Check *)ctx)->r);
}

static bool follows(void *ctx) {
  return check_follows(&((Check *)ctx)->r);
}

static bool check_all(const Algebra *p, Buf *out, Diags *d) {
  Arena *a = arena_new();
  Check c = {.g = p, .arena = a};
  c.c = sum_check_new(out, a, p->exprs, &c, say_where);
  c.c.read = check_read;
  c.c.d = d;
  c.c.line = line_of;
  c.c.follows = follows;
  c.info = map_new(a);
  c.r = region_check_new(&c.c, &algebra_face, &laws, &c, p->n_nodes);
  c.r.lines = p->lines;
  check_monoids(&c.c, &p->monoids);
  check_mesh(&c);
  if (c.c.ok) {
    check_regions(&c.r, p->top);
    check_inputs(&c);
    check_outputs(&c);
    check_asserts(&c);
  }
  arena_free(a);
  return c.c.ok;
}

bool algebra_check(const Algebra *p, Buf *out) {
  return check_all(p, out, NULL);
}

bool algebra_check_text(const Algebra *p, Diags *d) {
  return check_all(p, NULL, d);
}
