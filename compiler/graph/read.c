/* graph/read.c - reads an EinGraph from its text. Each line is read independently: after a complaint the reader
 * continues with the next line, and does not complain about lines that depend on a failed one. The result can be
 * walked; graph_check decides whether it is sound. */
#include "expr/region/text.h"
#include "inside.h"

typedef struct GraphReader {
  SumReader x;
  EinGraph *g;
  EinRegion *region;
  RegionReader b;
  VEC(uint8_t) merge;   /* of the current vertex; */
  VEC(EinNode *) input; /*   one per read, in order */
} GraphReader;

static bool want_ref(GraphReader *r, EinNode **out) {
  *out = want_node(&r->b);
  return *out != NULL;
}

/* Reads the id of the node that the line defines. */
static bool want_id(GraphReader *r, uint32_t *id) {
  if (!want_new_id(&r->b, id)) return false;
  r->g->n_nodes = *id;
  return true;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool read_of(void *ctx, bool kept, int64_t id, DType *dtype, int64_t *slot) {
  GraphReader *r = ctx;
  TextNode *known = id < READ_IDS ? node_of(&r->b, (uint32_t)id) : NULL;
  EinNode *x = known ? known->node : NULL;
  (void)kept; /* never: a graph has no such reads */
  if (!x || x->kind == EIN_REPEAT) {
    const char *why =
        x ? "%%%lld is a repeat, not a tensor" : "%%%lld is not defined above this line";
    r->x.why = arena_printf(r->g->arena, why, (long long)id);
    return false;
  }
  *dtype = x->dtype;
  *slot = r->input.len;
  vec_push(r->g->arena, r->input, x);
  return true;
}

/* ---- shapes and labels ----------------------------------------------------------------------- */

/* `[s:128, (h:4 d:64)]` */
static bool want_out_labels(GraphReader *r) {
  if (!scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    uint32_t before = r->x.label.len;
    if (r->merge.len && !scan_want(&r->x.c, ',')) return false;
    bool group = scan_take(&r->x.c, '(');
    do {
      if (r->x.label.len == GRAPH_OUT) return scan_fail(&r->x.c, D_E913, "an output has at most %d labels", GRAPH_OUT);
      if (!want_label(&r->x)) return false;
    } while (group && !scan_take(&r->x.c, ')'));
    vec_push(r->g->arena, r->merge, (uint8_t)(r->x.label.len - before));
  }
  return true;
}

/* ---- lines of nodes -------------------------------------------------------------------------- */

static bool take_name(GraphReader *r, Str *out) {
  *out = NULL;
  return scan_is(&r->x.c, '[') || scan_is(&r->x.c, '=') || scan_want_name(&r->x.c, out);
}

static bool finish(GraphReader *r, EinNode *n, Str name) {
  n->name = name;
  node_made(&r->b, n->id, n, n->kind == EIN_STATE);
  return true;
}

static bool line_input(RegionReader *b, int param) {
  GraphReader *r = b->ctx;
  uint32_t id;
  Str name;
  DType t;
  EinNode *fallback = NULL;
  Place place = {0};
  if (!want_id(r, &id) || !take_name(r, &name) || !want_shape(&r->x, &t)) return false;
  if (scan_take_word(&r->x.c, "default") && !want_ref(r, &fallback)) return false;
  if (!scan_want_end(&r->x.c, &place)) return false;
  r->g->n_nodes = id;
  EinNode *n = graph_input(r->g, name, t, r->x.bound.len, r->x.bound.at, param);
  n->fallback = fallback;
  n->place = place;
  return finish(r, n, name);
}

static bool line_state(RegionReader *b, int which) {
  GraphReader *r = b->ctx;
  (void)which;
  uint32_t id;
  Str name;
  DType t;
  EinNode *init;
  Place place = {0};
  if (!want_id(r, &id) || !take_name(r, &name) || !want_shape(&r->x, &t)) return false;
  if (!scan_want(&r->x.c, '=') || !want_ref(r, &init) || !scan_want_end(&r->x.c, &place)) return false;
  EinNode *n = graph_state(r->g, r->region, name, t, r->x.bound.len, r->x.bound.at);
  vec_push(r->g->arena, r->region->states, ((EinState){.node = n, .init = init}));
  n->place = place;
  return finish(r, n, name);
}

static bool want_vertex(GraphReader *r, EinSum *s) {
  sum_read_begin(&r->x);
  r->merge.len = r->input.len = 0;
  return want_out_labels(r) && want_sum(&r->x, s);
}

static bool line_vertex(RegionReader *b, int which) {
  GraphReader *r = b->ctx;
  (void)which;
  uint32_t id;
  Str name;
  EinSum s = {0};
  Place place = {0};
  if (!want_id(r, &id) || !take_name(r, &name)) return false;
  if (!want_vertex(r, &s) || !scan_want_end(&r->x.c, &place)) return false;
  EinNode **input = graph_canonical_slots(r->g, &s, r->input.at);
  EinNode *n =
      graph_vertex(r->g, r->region, &s, r->x.bound.at, r->x.label.at, r->merge.len, r->merge.at, input);
  n->place = place;
  return finish(r, n, name);
}

static bool want_stackable(GraphReader *r, const EinRegion *body, uint32_t k) {
  const EinStack *s = &body->stacks.at[k];
  if (!body->turns) return scan_fail(&r->x.c, D_E909, "a repeat without `turns` cannot stack");
  return s->axis <= s->node->rank || scan_fail(&r->x.c, D_E909, "the stack's axis is beyond its rank");
}

/* `final`, `stacked` or `turns` */
static bool line_result(RegionReader *b, int role) {
  static const EinKind kind[] = {[NODE_FINAL] = EIN_FINAL, [NODE_STACK] = EIN_STACK, [NODE_TURNS] = EIN_TURNS};
  GraphReader *r = b->ctx;
  uint32_t id, k;
  Str name;
  Place place = {0};
  if (!want_id(r, &id) || !take_name(r, &name)) return false;
  const TextNode *of = want_result(b, (NodeRole)role, &k);
  if (!of) return false;
  EinNode *repeat = of->node;
  if (role == NODE_STACK && !want_stackable(r, repeat->body, k)) return false;
  if (!scan_want_end(&r->x.c, &place)) return false;
  EinNode *n = graph_result(r->g, r->region, kind[role], repeat, k);
  n->place = place;
  return finish(r, n, name);
}

/* ---- repeats ---------------------------------------------------------------------------------- */

static void *make_repeat(void *ctx, const RepeatHead *h) {
  GraphReader *r = ctx;
  r->g->n_nodes = h->id;
  EinNode *n = graph_repeat(r->g, r->region, h->turn);
  n->name = h->name;
  n->place = h->place;
  n->body->bound = h->bound;
  n->body->turns = h->turns;
  r->region = n->body;
  return n;
}

static void make_next(void *ctx, uint32_t state, void *node) {
  ((GraphReader *)ctx)->region->states.at[state].next = node;
}

static void make_stack(void *ctx, Str name, void *node, uint32_t axis) {
  GraphReader *r = ctx;
  vec_push(r->g->arena, r->region->stacks, ((EinStack){name, node, axis}));
}

static void make_until(void *ctx, void *node) {
  ((GraphReader *)ctx)->region->stop = node;
}

static void make_close(void *ctx) {
  GraphReader *r = ctx;
  r->region = r->region->parent;
}

/* ---- lines of the program -------------------------------------------------------------------- */

static bool line_output(RegionReader *b, int which) {
  GraphReader *r = b->ctx;
  (void)which;
  EinOutput o;
  if (!scan_want_name(&r->x.c, &o.name) || !scan_want(&r->x.c, '=') || !want_ref(r, &o.node))
    return false;
  if (!scan_want_end(&r->x.c, NULL)) return false;
  lines_put(r->b.lines, line_key(LINE_OUTPUT, r->g->outputs.len), scan_head(&r->x.c));
  vec_push(r->g->arena, r->g->outputs, o);
  return true;
}

static void make_assert(void *ctx, void *node, Str text, Place place) {
  GraphReader *r = ctx;
  vec_push(r->g->arena, r->g->asserts, ((EinAssert){.node = node, .text = text, .place = place}));
}

/* ---- the file -------------------------------------------------------------------------------- */

static const RegionLine lines[] = {
    {"vertex", ANYWHERE, line_vertex, 0},
    {"final", ANYWHERE, line_result, NODE_FINAL},
    {"stacked", ANYWHERE, line_result, NODE_STACK},
    {"turns", ANYWHERE, line_result, NODE_TURNS},
    {"state", BLOCK, line_state, 0},
    {"dim", PROGRAM, line_dim, 0},
    {"monoid", PROGRAM, line_monoid, 0},
    {"extern", PROGRAM, line_extern, 0},
    {"input", PROGRAM, line_input, false},
    {"param", PROGRAM, line_input, true},
    {"output", PROGRAM, line_output, 0},
    {"assert", PROGRAM, line_assert, 0},
    {"check", PROGRAM, line_check, 0},
};

static const RegionMaker maker = {.noun = "tensor",
    .word = "vertex",
    .line = lines,
    .n_line = COUNT(lines),
    .repeat = make_repeat,
    .next = make_next,
    .stack = make_stack,
    .until = make_until,
    .close = make_close,
    .assert = make_assert};

static bool read_header(GraphReader *r) {
  if (scan_take_word(&r->x.c, "eingraph") && scan_take(&r->x.c, '1') && scan_done(&r->x.c)) return true;
  return scan_fail(&r->x.c, D_E901, "expected the line `eingraph 1` first");
}

EinGraph *graph_read(Arena *a, Strings *t, Source *src, Diags *d) {
  EinGraph *g = graph_new(a, t, exprs_new(a));
  GraphReader r = {.x = sum_reader(a, g->exprs, (Scan){.src = src, .strings = t, .d = d, .noun = "node"}),
              .g = g,
              .region = g->top};
  r.x.ctx = &r;
  r.x.read = read_of;
  r.x.most = GRAPH_LABELS;
  const char *at = scan_line(&r.x.c, src->bytes);
  r.b = region_reader(&r.x, &maker, &r);
  r.b.dims = &g->dims, r.b.monoids = &g->monoids, r.b.checks = &g->checks;
  g->lines = r.b.lines;
  if (!read_header(&r)) return NULL;
  bool ok = region_lines(&r.b, at);
  g->n_nodes = r.b.ids;
  return ok ? g : NULL;
}
