/* graph/read.c - an EinGraph from its text. Every line stands for itself: after a complaint the
 * reader goes on with the next one, and says nothing about lines that hang on one that failed. What
 * is read is a graph that can be walked; whether it is a sound one is for graph_check to say. */
#include "../expr/sum_read.h"
#include "inside.h"

enum { NO_ID = READ_IDS };

typedef struct Reader {
  SumReader x;
  EinGraph *g;
  EinRegion *region;
  Map nodes, failed; /* id + 1 to the node; those whose line failed */
  uint32_t defining; /* the id that the line at hand defines, or NO_ID */
  uint32_t ids;      /* the value of n_nodes that is due */
  bool give_up;      /* nothing that follows would make sense */
  VEC(uint8_t) merge;   /* of the vertex at hand; */
  VEC(EinNode *) input; /*   one a read, as they come */
} Reader;

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

/* ---- references ------------------------------------------------------------------------------ */

static EinNode *node_of(Reader *r, uint32_t id) {
  EinNode *n = map_find(&r->nodes, id_key(id));
  if (!n && map_find(&r->failed, id_key(id))) r->x.c.quiet = true;
  return n;
}

static bool want_ref(Reader *r, EinNode **out) {
  uint32_t id;
  const char *at = r->x.c.s;
  if (!scan_want_id(&r->x.c, &id)) return false;
  *out = node_of(r, id);
  if (*out) return true;
  r->x.c.s = at;
  return scan_fail(&r->x.c, D_E905, "%%%u is not defined above this line", id);
}

/* The id of the node that the line defines. */
static bool want_new_id(Reader *r, uint32_t *id) {
  const char *at = r->x.c.s;
  if (!scan_want_id(&r->x.c, id)) return false;
  if (map_find(&r->nodes, id_key(*id))) {
    r->x.c.s = at;
    return scan_fail(&r->x.c, D_E906, "%%%u is defined already", *id);
  }
  r->defining = *id;
  r->g->n_nodes = *id;
  return true;
}

static void node_made(Reader *r, EinNode *n) {
  map_put(&r->nodes, id_key(n->id), n);
  if (r->ids <= n->id) r->ids = n->id + 1;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool read_of(void *ctx, bool kept, int64_t id, DType *dtype, int64_t *slot) {
  Reader *r = ctx;
  EinNode *x = id < READ_IDS ? node_of(r, (uint32_t)id) : NULL;
  (void)kept; /* never: there are no such reads in a graph */
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
static bool want_out_labels(Reader *r) {
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

static bool take_name(Reader *r, Str *out) {
  *out = NULL;
  return scan_is(&r->x.c, '[') || scan_is(&r->x.c, '=') || scan_want_name(&r->x.c, out);
}

static bool finish(Reader *r, EinNode *n, Str name) {
  n->name = name;
  node_made(r, n);
  return true;
}

static bool read_input(Reader *r, bool param) {
  uint32_t id;
  Str name;
  DType t;
  EinNode *fallback = NULL;
  Place place = {0};
  if (!want_new_id(r, &id) || !take_name(r, &name) || !want_shape(&r->x, &t)) return false;
  if (scan_take_word(&r->x.c, "default") && !want_ref(r, &fallback)) return false;
  if (!scan_want_end(&r->x.c, &place)) return false;
  r->g->n_nodes = id;
  EinNode *n = graph_input(r->g, name, t, r->x.bound.len, r->x.bound.at, param);
  n->fallback = fallback;
  n->place = place;
  return finish(r, n, name);
}

static bool line_input(Reader *r) {
  return read_input(r, false);
}
static bool line_param(Reader *r) {
  return read_input(r, true);
}

static bool line_state(Reader *r) {
  uint32_t id;
  Str name;
  DType t;
  EinNode *init;
  Place place = {0};
  if (!want_new_id(r, &id) || !take_name(r, &name) || !want_shape(&r->x, &t)) return false;
  if (!scan_want(&r->x.c, '=') || !want_ref(r, &init) || !scan_want_end(&r->x.c, &place)) return false;
  EinNode *n = graph_state(r->g, r->region, name, t, r->x.bound.len, r->x.bound.at);
  vec_push(r->g->arena, r->region->states, ((EinState){.node = n, .init = init}));
  n->place = place;
  return finish(r, n, name);
}

static bool want_vertex(Reader *r, EinSum *s) {
  sum_read_begin(&r->x);
  r->merge.len = r->input.len = 0;
  return want_out_labels(r) && want_sum(&r->x, s);
}

static bool line_vertex(Reader *r) {
  uint32_t id;
  Str name;
  EinSum s = {0};
  Place place = {0};
  if (!want_new_id(r, &id) || !take_name(r, &name)) return false;
  if (!want_vertex(r, &s) || !scan_want_end(&r->x.c, &place)) return false;
  EinNode **input = graph_canonical_slots(r->g, &s, r->input.at);
  EinNode *n =
      graph_vertex(r->g, r->region, &s, r->x.bound.at, r->x.label.at, r->merge.len, r->merge.at, input);
  n->place = place;
  return finish(r, n, name);
}

typedef struct RepeatHead {
  uint32_t id;
  Str text, turn, name;
  EinNode *bound;
  const Expr *turns;
  Place place;
} RepeatHead;

static bool want_repeat(Reader *r, RepeatHead *h) {
  if (!want_new_id(r, &h->id) || !want_alias(&r->x, &h->text, &h->turn)) return false;
  if (!scan_want(&r->x.c, '<') || !want_ref(r, &h->bound)) return false;
  if (scan_take_word(&r->x.c, "turns") && !want_extent(&r->x, &h->turns)) return false;
  if (scan_take_word(&r->x.c, "named") && !scan_want_name(&r->x.c, &h->name)) return false;
  if (r->x.turn.len == GRAPH_DEPTH)
    return scan_fail(&r->x.c, D_E913, "repeats are nested at most %d deep", GRAPH_DEPTH);
  return scan_place(&r->x.c, &h->place) && scan_want(&r->x.c, '{') && scan_want_end(&r->x.c, NULL);
}

static bool line_repeat(Reader *r) {
  RepeatHead h = {0};
  if (!want_repeat(r, &h)) {
    r->give_up = true;
    return false;
  }
  EinNode *n = graph_repeat(r->g, r->region, h.turn);
  n->place = h.place;
  n->body->bound = h.bound;
  n->body->turns = h.turns ? extent_normal(r->g->exprs, h.turns) : NULL;
  r->region = n->body;
  vec_push(r->g->arena, r->x.turn, h.text);
  return finish(r, n, h.name);
}

/* A repeat whose block is closed. */
static bool want_closed(Reader *r, EinNode **out) {
  const char *at = r->x.c.s;
  if (!want_ref(r, out)) return false;
  bool open = false;
  for (const EinRegion *x = r->region; x; x = x->parent) open |= x->repeat == *out;
  if ((*out)->kind == EIN_REPEAT && !open) return true;
  r->x.c.s = at;
  return scan_fail(&r->x.c, D_E909, "wanted a repeat whose block is closed");
}

/* `.2` after a repeat: one of its n states or stacks. */
static bool want_index(Reader *r, uint32_t n, const char *what, uint32_t *out) {
  int64_t k;
  if (!scan_want(&r->x.c, '.')) return false;
  if (!n) return scan_fail(&r->x.c, D_E909, "this repeat has no %s", what);
  if (!scan_want_int(&r->x.c, 0, (int64_t)n - 1, "the number behind the dot", &k)) return false;
  *out = (uint32_t)k;
  return true;
}

static bool want_stackable(Reader *r, const EinRegion *body, uint32_t k) {
  const EinStack *s = &body->stacks.at[k];
  if (!body->turns) return scan_fail(&r->x.c, D_E909, "a repeat without `turns` cannot stack");
  return s->axis <= s->node->rank ||
         scan_fail(&r->x.c, D_E909, "the stack's axis is beyond its rank");
}

static bool read_result(Reader *r, EinKind kind) {
  uint32_t id, k = 0;
  Str name;
  EinNode *repeat;
  Place place = {0};
  if (!want_new_id(r, &id) || !take_name(r, &name)) return false;
  if (!scan_want(&r->x.c, '=') || !want_closed(r, &repeat)) return false;
  const EinRegion *body = repeat->body;
  if (kind == EIN_FINAL && !want_index(r, body->states.len, "states", &k)) return false;
  if (kind == EIN_STACK &&
      (!want_index(r, body->stacks.len, "stacks", &k) || !want_stackable(r, body, k)))
    return false;
  if (!scan_want_end(&r->x.c, &place)) return false;
  EinNode *n = graph_result(r->g, r->region, kind, repeat, k);
  n->place = place;
  return finish(r, n, name);
}

static bool line_final(Reader *r) {
  return read_result(r, EIN_FINAL);
}
static bool line_stacked(Reader *r) {
  return read_result(r, EIN_STACK);
}
static bool line_turns(Reader *r) {
  return read_result(r, EIN_TURNS);
}

/* ---- lines of a block ------------------------------------------------------------------------ */

static bool line_next(Reader *r) {
  EinNode *n, *next;
  const char *at = r->x.c.s;
  if (!want_ref(r, &n)) return false;
  bool own = n->kind == EIN_STATE && n->region == r->region;
  if (!own || r->region->states.at[n->index].next) {
    r->x.c.s = at;
    return scan_fail(&r->x.c, D_E909,
                     own ? "this state has a next already" : "wanted a state of this block");
  }
  if (!scan_want(&r->x.c, '=') || !want_ref(r, &next) || !scan_want_end(&r->x.c, NULL)) return false;
  r->region->states.at[n->index].next = next;
  return true;
}

static bool line_stack(Reader *r) {
  EinStack s = {0};
  int64_t axis;
  if (!scan_want_name(&r->x.c, &s.name) || !scan_want(&r->x.c, '=') || !want_ref(r, &s.node))
    return false;
  if (!scan_want_word(&r->x.c, "axis") || !scan_want_int(&r->x.c, 0, GRAPH_OUT, "an axis", &axis))
    return false;
  if (!scan_want_end(&r->x.c, NULL)) return false;
  s.axis = (uint32_t)axis;
  vec_push(r->g->arena, r->region->stacks, s);
  return true;
}

static bool line_until(Reader *r) {
  if (r->region->stop) return scan_fail(&r->x.c, D_E909, "this block has an until already");
  EinNode *n;
  if (!want_ref(r, &n) || !scan_want_end(&r->x.c, NULL)) return false;
  r->region->stop = n;
  return true;
}

static bool line_close(Reader *r) {
  if (!scan_want_end(&r->x.c, NULL)) return false;
  const EinRegion *b = r->region;
  r->region = b->parent;
  r->x.turn.len--;
  for (uint32_t i = 0; i < b->states.len; i++)
    if (!b->states.at[i].next)
      return scan_fail(&r->x.c, D_E909, "state %%%u of this block has no next",
                       b->states.at[i].node->id);
  return true;
}

/* ---- lines of the program -------------------------------------------------------------------- */

static bool line_dim(Reader *r) {
  EinDim d = {0};
  if (!want_dim(&r->x, &d.name, &d.known, &d.value)) return false;
  vec_push(r->g->arena, r->g->dims, d);
  return true;
}

static bool line_monoid(Reader *r) {
  Monoid m = {0};
  if (!want_monoid(&r->x, &m)) return false;
  vec_push(r->g->arena, r->x.monoids, graph_monoid(r->g, &m));
  return true;
}

static bool line_output(Reader *r) {
  EinOutput o;
  if (!scan_want_name(&r->x.c, &o.name) || !scan_want(&r->x.c, '=') || !want_ref(r, &o.node))
    return false;
  if (!scan_want_end(&r->x.c, NULL)) return false;
  vec_push(r->g->arena, r->g->outputs, o);
  return true;
}

static bool line_assert(Reader *r) {
  EinAssert x = {0};
  if (!want_ref(r, &x.node)) return false;
  if (scan_is(&r->x.c, '"') && !scan_want_string(&r->x.c, &x.text)) return false;
  if (!scan_want_end(&r->x.c, &x.place)) return false;
  vec_push(r->g->arena, r->g->asserts, x);
  return true;
}

static bool line_check(Reader *r) {
  EinCheck x = {0};
  if (!want_check(&r->x, &x.cond, &x.text, &x.place)) return false;
  vec_push(r->g->arena, r->g->checks, x);
  return true;
}

static bool line_ids(Reader *r) {
  int64_t n;
  if (!scan_want_int(&r->x.c, 0, READ_IDS, "the number of ids", &n) || !scan_want_end(&r->x.c, NULL))
    return false;
  if (r->ids < n) r->ids = (uint32_t)n;
  return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

typedef enum { ANYWHERE, PROGRAM, BLOCK } Where;

typedef struct Line {
  const char *word;
  Where where;
  bool (*read)(Reader *);
} Line;

static const Line lines[] = {
    {"vertex", ANYWHERE, line_vertex}, {"repeat", ANYWHERE, line_repeat},
    {"final", ANYWHERE, line_final},   {"stacked", ANYWHERE, line_stacked},
    {"turns", ANYWHERE, line_turns},   {"state", BLOCK, line_state},
    {"next", BLOCK, line_next},        {"stack", BLOCK, line_stack},
    {"until", BLOCK, line_until},      {"dim", PROGRAM, line_dim},
    {"monoid", PROGRAM, line_monoid},  {"ids", PROGRAM, line_ids},
    {"input", PROGRAM, line_input},    {"param", PROGRAM, line_param},
    {"output", PROGRAM, line_output},  {"assert", PROGRAM, line_assert},
    {"check", PROGRAM, line_check},
};

static bool read_line(Reader *r) {
  if (scan_done(&r->x.c) || *r->x.c.s == '#') return true;
  bool block = r->region->parent != NULL;
  if (block && scan_take(&r->x.c, '}')) return line_close(r);
  for (size_t i = 0; i < COUNT(lines); i++) {
    const char *at = r->x.c.s;
    if (!scan_take_word(&r->x.c, lines[i].word)) continue;
    if (lines[i].where == ANYWHERE || (lines[i].where == BLOCK) == block) return lines[i].read(r);
    r->x.c.s = at;
    return scan_fail(&r->x.c, D_E909, "`%s` stands %s only", lines[i].word,
                     block ? "outside of repeats" : "in a repeat");
  }
  return scan_fail(&r->x.c, D_E902, "wanted a line that begins with %s, vertex or the like",
                   block ? "state, }" : "input");
}

static const char *next_line(Reader *r, const char *at) {
  r->defining = NO_ID;
  return scan_line(&r->x.c, at);
}

static bool read_header(Reader *r) {
  if (scan_take_word(&r->x.c, "eingraph") && scan_take(&r->x.c, '1') && scan_done(&r->x.c)) return true;
  return scan_fail(&r->x.c, D_E901, "wanted the line `eingraph 1` first");
}

EinGraph *graph_read(Arena *a, Strings *t, Source *src, Diags *d) {
  EinGraph *g = graph_new(a, t, exprs_new(a));
  Reader r = {.x = sum_reader(a, g->exprs, (Scan){.src = src, .strings = t, .d = d, .noun = "node"}),
              .g = g,
              .region = g->top};
  r.x.ctx = &r;
  r.x.read = read_of;
  r.x.most = GRAPH_LABELS;
  r.nodes = r.failed = map_new(a);
  const char *at = next_line(&r, src->bytes);
  if (!read_header(&r)) return NULL;
  bool ok = true;
  while (at && !r.give_up) {
    at = next_line(&r, at);
    if (read_line(&r)) continue;
    ok = false;
    if (r.defining != NO_ID) map_put(&r.failed, id_key(r.defining), &r);
  }
  if (r.region->parent && !r.give_up)
    ok = scan_fail(&r.x.c, D_E909, "wanted `}` for repeat %%%u", r.region->repeat->id);
  g->n_nodes = r.ids;
  return ok ? g : NULL;
}
