/* algebra/text/read.c - reads a Tra or an Ia from its text. Each line is read independently: after a complaint the
 * reader continues with the next line, and does not complain about lines that depend on a failed one. The result can
 * be walked; algebra_check decides whether it is sound. */
#include "read_inside.h"

enum { MOST_SITES = 1 << 24 };

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

bool read_operand(void *ctx, bool kept, int64_t k, DType *dtype, int64_t *slot) {
  AlgReader *r = ctx;
  if (!kept || k >= r->operand.len) {
    r->x.why = kept ? "this join has not so many operands" : "a kernel reads the operands of its join, like &0[i]";
    return false;
  }
  *dtype = r->operand.at[k].node->type.dtype;
  *slot = k;
  return true;
}

bool line_end(AlgReader *r, AlgNode *n) {
  if (!scan_want_end(&r->x.c, &n->place)) return false;
  vec_push(r->g->arena, r->region->nodes, n);
  node_made(&r->b, n->id, n, n->kind == ALG_STATE);
  return true;
}

/* ---- repeats ----------------------------------------------------------------------------------------------------- */

static bool line_state(RegionReader *b, int which) {
  AlgReader *r = b->ctx;
  (void)which;
  AlgState s = {.node = want_typed(r, ALG_STATE)};
  if (!s.node || !scan_want(&r->x.c, '=') || !want_relation(r, &s.init)) return false;
  s.node->repeat = r->region->repeat;
  s.node->index = r->region->states.len;
  if (!line_end(r, s.node)) return false;
  vec_push(r->g->arena, r->region->states, s);
  return true;
}

/* `final`, `stacked` or `turns` */
static bool line_result(RegionReader *b, int role) {
  static const AlgKind kind[] = {[NODE_FINAL] = ALG_FINAL, [NODE_STACK] = ALG_STACK, [NODE_TURNS] = ALG_TURNS};
  AlgReader *r = b->ctx;
  AlgNode *n = want_typed(r, kind[role]);
  if (!n) return false;
  const TextNode *of = want_result(b, (NodeRole)role, &n->index);
  if (!of) return false;
  n->repeat = of->node;
  return line_end(r, n);
}

static void *make_repeat(void *ctx, const RepeatHead *h) {
  AlgReader *r = ctx;
  AlgNode *n = NEW(r->g->arena, AlgNode);
  AlgRegion *b = NEW(r->g->arena, AlgRegion);
  *n = (AlgNode){.kind = ALG_REPEAT, .id = h->id, .region = r->region, .name = h->name, .place = h->place, .body = b};
  for (uint32_t a = 0; a < MESH_AXES; a++) n->at.on[a] = PLACE_ALL;
  *b = (AlgRegion){.parent = r->region, .repeat = n, .depth = r->x.turn.len, .turn = h->turn, .bound = h->bound};
  b->turns = h->turns ? h->turns->i : -1;
  vec_push(r->g->arena, r->region->nodes, n);
  r->region = b;
  return n;
}

static void make_next(void *ctx, uint32_t state, void *node) {
  ((AlgReader *)ctx)->region->states.at[state].next = node;
}

static void make_stack(void *ctx, Str name, void *node, uint32_t axis) {
  AlgReader *r = ctx;
  vec_push(r->g->arena, r->region->stacks, ((AlgStack){name, node, axis}));
}

static void make_until(void *ctx, void *node) {
  ((AlgReader *)ctx)->region->stop = node;
}

static void make_close(void *ctx) {
  AlgReader *r = ctx;
  r->region = r->region->parent;
}

/* ---- lines of the program ---------------------------------------------------------------------------------------- */

static bool line_output(RegionReader *b, int which) {
  AlgReader *r = b->ctx;
  (void)which;
  AlgOutput o = {0};
  VEC(int64_t) extent = {0};
  int64_t n;
  if (!scan_want_name(&r->x.c, &o.name) || !scan_want(&r->x.c, '[')) return false;
  while (!scan_take(&r->x.c, ']')) {
    if (extent.len && !scan_want(&r->x.c, ',')) return false;
    if (extent.len == SUM_RANK) return fail(r, D_E913, "a tensor has at most %d dimensions", SUM_RANK);
    if (!scan_want_int(&r->x.c, 0, INT64_MAX, "an extent", &n)) return false;
    vec_push(r->g->arena, extent, n);
  }
  if (!scan_want(&r->x.c, '=') || !want_relation(r, &o.node) || !scan_want_end(&r->x.c, NULL)) return false;
  o.rank = extent.len;
  o.extent = extent.at;
  lines_put(r->b.lines, line_key(LINE_OUTPUT, r->g->outputs.len), scan_head(&r->x.c));
  vec_push(r->g->arena, r->g->outputs, o);
  return true;
}

static void make_assert(void *ctx, void *node, Str text, Place place) {
  AlgReader *r = ctx;
  vec_push(r->g->arena, r->g->asserts, ((AlgAssert){node, text, place}));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const RegionLine lines[] = {
    {"join", ANYWHERE, line_kernel, ALG_JOIN},
    {"fetch", ANYWHERE, line_kernel, ALG_FETCH},
    {"aggregate", ANYWHERE, line_aggregate, true},
    {"concat", ANYWHERE, line_aggregate, false},
    {"tile", ANYWHERE, line_map, 0},
    {"rekey", ANYWHERE, line_map, 0},
    {"map", ANYWHERE, line_map, 0},
    {"transform", ANYWHERE, line_transform, 0},
    {"filter", ANYWHERE, line_filter, 0},
    {"broadcast", ANYWHERE, line_move, true},
    {"shuffle", ANYWHERE, line_move, false},
    {"final", ANYWHERE, line_result, NODE_FINAL},
    {"stacked", ANYWHERE, line_result, NODE_STACK},
    {"turns", ANYWHERE, line_result, NODE_TURNS},
    {"state", BLOCK, line_state, 0},
    {"input", PROGRAM, line_input, 0},
    {"monoid", PROGRAM, line_monoid, 0},
    {"output", PROGRAM, line_output, 0},
    {"assert", PROGRAM, line_assert, 0},
    {"extern", PROGRAM, line_extern, 0},
};

static const RegionMaker maker = {.noun = "relation",
    .word = "join",
    .sized = true,
    .line = lines,
    .n_line = COUNT(lines),
    .repeat = make_repeat,
    .next = make_next,
    .stack = make_stack,
    .until = make_until,
    .close = make_close,
    .assert = make_assert};

/* `mesh 2 2 2` */
static bool read_mesh(AlgReader *r) {
  Mesh *m = &r->g->mesh;
  int64_t size, sites = 1;
  if (!scan_take_word(&r->x.c, "mesh"))
    return fail(r, D_E901, "expected the line `mesh` behind `ia 1`, with the size of each axis");
  while (!scan_done(&r->x.c)) {
    if (m->n == MESH_AXES) return fail(r, D_E913, "a mesh has at most %d axes", MESH_AXES);
    if (!scan_want_int(&r->x.c, 1, MOST_SITES, "the size of an axis", &size)) return false;
    sites *= size;
    if (sites > MOST_SITES) return fail(r, D_E913, "a mesh has at most %d sites", MOST_SITES);
    m->size[m->n++] = (uint32_t)size;
  }
  return true;
}

/* `room 65536`, or another line */
static bool read_room(AlgReader *r, const char **at) {
  const char *here = *at;
  if (!here) return true;
  *at = scan_line(&r->x.c, here);
  if (!scan_take_word(&r->x.c, "room")) {
    *at = here;
    return true;
  }
  if (!scan_want_int(&r->x.c, 1, MOVE_ROOM, "bytes of parts that arrive at once", &r->g->room)) return false;
  return scan_done(&r->x.c) || fail(r, D_E903, "wanted the end of the line here");
}

static bool read_header(AlgReader *r, const char **at) {
  r->g->placed = scan_take_word(&r->x.c, "ia");
  bool ok = (r->g->placed || scan_take_word(&r->x.c, "tra")) && scan_take(&r->x.c, '1') && scan_done(&r->x.c);
  if (!ok) return fail(r, D_E901, "expected the line `tra 1` or `ia 1` first");
  if (!r->g->placed) return true;
  if (!*at) return fail(r, D_E901, "expected the line `mesh` behind `ia 1`, with the size of each axis");
  *at = scan_line(&r->x.c, *at);
  return read_mesh(r) && read_room(r, at);
}

Algebra *algebra_read(Arena *a, Strings *t, Source *src, Diags *d) {
  Algebra *g = algebra_new(a, t, exprs_new(a));
  AlgReader r = {
      .x = sum_reader(a, g->exprs, (Scan){.src = src, .strings = t, .d = d, .noun = "node"}), .g = g, .region = g->top};
  r.x.ctx = &r;
  r.x.read = read_operand;
  r.x.kept = true;
  r.keys = map_new(a);
  const char *at = scan_line(&r.x.c, src->bytes);
  r.b = region_reader(&r.x, &maker, &r);
  r.b.monoids = &g->monoids;
  g->lines = r.b.lines;
  if (!read_header(&r, &at)) return NULL;
  bool ok = region_lines(&r.b, at);
  g->n_nodes = r.b.ids;
  return ok ? g : NULL;
}
