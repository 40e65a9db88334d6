/* graph/read.c - an EinGraph from its text. Every line stands for itself: after a complaint the
 * reader goes on with the next one, and says nothing about lines that hang on one that failed. What
 * is read is a graph that can be walked; whether it is a sound one is for graph_check to say. */
#include <string.h>

#include "scan.h"

enum { NO_ID = READ_IDS };

typedef struct Reader {
  Scan c;
  EinGraph *g;
  EinRegion *region;
  VEC(Str) turn;     /* what the loop variables of the open regions are called */
  Map nodes, failed; /* id + 1 to the node; those whose line failed */
  Map dims;          /* names of dims to themselves */
  uint32_t defining; /* the id that the line at hand defines, or NO_ID */
  uint32_t ids;      /* the value of n_nodes that is due */
  bool give_up;      /* nothing that follows would make sense */
  /* the vertex at hand */
  VEC(Str) text; /* what its labels are called in its expressions */
  VEC(Str) label;
  VEC(const Expr *) bound;
  VEC(uint8_t) merge;
  VEC(EinNode *) input; /* one a read, as they come */
  const char *why;      /* what is wrong with a read */
} Reader;

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

/* ---- references ------------------------------------------------------------------------------ */

static EinNode *node_of(Reader *r, uint32_t id) {
  EinNode *n = map_find(&r->nodes, id_key(id));
  if (!n && map_find(&r->failed, id_key(id))) r->c.quiet = true;
  return n;
}

static bool want_ref(Reader *r, EinNode **out) {
  uint32_t id;
  const char *at = r->c.s;
  if (!scan_want_id(&r->c, &id)) return false;
  *out = node_of(r, id);
  if (*out) return true;
  r->c.s = at;
  return scan_fail(&r->c, D_E905, "%%%u is not defined above this line", id);
}

/* The id of the node that the line defines. */
static bool want_new_id(Reader *r, uint32_t *id) {
  const char *at = r->c.s;
  if (!scan_want_id(&r->c, id)) return false;
  if (map_find(&r->nodes, id_key(*id))) {
    r->c.s = at;
    return scan_fail(&r->c, D_E906, "%%%u is defined already", *id);
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

static bool label_number(void *ctx, Str name, int64_t *out) {
  const Reader *r = ctx;
  for (uint32_t k = 0; k < r->text.len; k++)
    if (r->text.at[k] == name) return *out = k, true;
  return false;
}

static bool turn_depth(void *ctx, Str name, int64_t *out) {
  const Reader *r = ctx;
  for (uint32_t k = r->turn.len; k-- > 0;)
    if (r->turn.at[k] == name) return *out = k, true;
  return false;
}

static bool read_of(void *ctx, int64_t id, uint32_t n, const Expr *const *index, DType *dtype,
                    int64_t *slot) {
  Reader *r = ctx;
  (void)n;
  (void)index;
  EinNode *x = id < READ_IDS ? node_of(r, (uint32_t)id) : NULL;
  if (!x || x->kind == EIN_REPEAT) {
    const char *why =
        x ? "%%%lld is a repeat, not a tensor" : "%%%lld is not defined above this line";
    r->why = arena_printf(r->g->arena, why, (long long)id);
    return false;
  }
  *dtype = x->dtype;
  *slot = r->input.len;
  vec_push(r->g->arena, r->input, x);
  return true;
}

typedef enum { OVER_DIMS, OVER_PARAMS, OVER_ALL } Over;

static bool want_expr(Reader *r, Over over, DType param, const Expr **out) {
  ExprReader x = {.pool = r->g->exprs,
                  .strings = r->g->strings,
                  .s = r->c.s,
                  .end = r->c.end,
                  .ctx = r,
                  .param = param,
                  .depth = over == OVER_DIMS ? READ_EXTENT_NESTING : READ_NESTING};
  if (over == OVER_ALL) {
    x.label = label_number;
    x.turn = turn_depth;
    x.read = read_of;
  }
  r->why = NULL;
  *out = expr_read_text(&x);
  r->c.s = x.s;
  if (!*out && r->why) return scan_fail(&r->c, D_E905, "%s", r->why);
  if (!*out) return scan_fail(&r->c, D_E904, "%s", x.error ? x.error : "wanted an expression here");
  if (over != OVER_PARAMS && ((*out)->has & HAS_PARAM))
    return scan_fail(&r->c, D_E904, "#0 and #1 stand in monoids only");
  return true;
}

static bool want_extent(Reader *r, const Expr **out) {
  if (!want_expr(r, OVER_DIMS, DT_I64, out)) return false;
  return (*out)->dtype == DT_I64 || scan_fail(&r->c, D_E907, "a size is i64");
}

/* ---- shapes and labels ----------------------------------------------------------------------- */

/* `[128, $K] : f32` into bound. */
static bool want_shape(Reader *r, DType *t) {
  const Expr *e;
  r->bound.len = 0;
  if (!scan_want(&r->c, '[')) return false;
  while (!scan_take(&r->c, ']')) {
    if (r->bound.len && !scan_want(&r->c, ',')) return false;
    if (r->bound.len == GRAPH_LABELS)
      return scan_fail(&r->c, D_E913, "a tensor has at most %d dimensions", GRAPH_LABELS);
    if (!want_extent(r, &e)) return false;
    vec_push(r->g->arena, r->bound, e);
  }
  return scan_want(&r->c, ':') && scan_want_dtype(&r->c, t);
}

static bool want_name_in_text(Reader *r, Str *out) {
  const char *at;
  size_t n = scan_word(&r->c, false, &at);
  if (!n) return scan_fail(&r->c, D_E903, "wanted a name here");
  *out = str_of(r->g->strings, at, n);
  return true;
}

/* `s` or `_0="an odd name"`. */
static bool want_alias(Reader *r, Str *text, Str *name) {
  if (!want_name_in_text(r, text)) return false;
  *name = *text;
  return !scan_take(&r->c, '=') || scan_want_string(&r->c, name);
}

static bool want_label(Reader *r) {
  Str text, name;
  int64_t k;
  const Expr *e;
  if (r->label.len == GRAPH_LABELS)
    return scan_fail(&r->c, D_E913, "a vertex has at most %d labels", GRAPH_LABELS);
  if (!want_alias(r, &text, &name)) return false;
  if (label_number(r, text, &k))
    return scan_fail(&r->c, D_E911, "label %s stands here twice", text->s);
  if (!scan_want(&r->c, ':') || !want_extent(r, &e)) return false;
  vec_push(r->g->arena, r->text, text);
  vec_push(r->g->arena, r->label, name);
  vec_push(r->g->arena, r->bound, e);
  return true;
}

/* `[s:128, (h:4 d:64)]` */
static bool want_out_labels(Reader *r) {
  if (!scan_want(&r->c, '[')) return false;
  while (!scan_take(&r->c, ']')) {
    uint32_t before = r->label.len;
    if (r->merge.len && !scan_want(&r->c, ',')) return false;
    bool group = scan_take(&r->c, '(');
    do {
      if (!want_label(r)) return false;
    } while (group && !scan_take(&r->c, ')'));
    vec_push(r->g->arena, r->merge, (uint8_t)(r->label.len - before));
  }
  return true;
}

/* ---- reducers -------------------------------------------------------------------------------- */

static const Monoid *monoid_of(Reader *r, Str name, DType t) {
  for (uint32_t i = 0; i < r->g->monoids.len; i++)
    if (r->g->monoids.at[i]->name == name && r->g->monoids.at[i]->dtype == t)
      return r->g->monoids.at[i];
  return NULL;
}

/* A reducer is a word or a string with `:` behind it; inf:f32 and nan:f32 are numbers. */
static bool reducer_follows(Reader *r) {
  Scan look = r->c;
  const char *at;
  if (scan_is(&look, '"')) return true;
  size_t n = scan_word(&look, true, &at);
  return n && !(n == 3 && (memcmp(at, "inf", 3) == 0 || memcmp(at, "nan", 3) == 0)) &&
         scan_is(&look, ':');
}

static bool want_reducer_name(Reader *r, EinSum *s) {
  Str name;
  bool quoted = scan_is(&r->c, '"');
  const char *at = r->c.s;
  if (!scan_want_name(&r->c, &name) || !scan_want(&r->c, ':') || !scan_want_dtype(&r->c, &s->acc))
    return false;
  if (!quoted && reducer_find(name->s, name->len, &s->reducer) && s->reducer != RED_MONOID)
    return true;
  s->reducer = RED_MONOID;
  s->monoid = monoid_of(r, name, s->acc);
  if (s->monoid) return true;
  r->c.s = at;
  return scan_fail(&r->c, D_E910, "no reducer and no monoid of %s is called %s", dtype_name(s->acc),
                   name->s);
}

/* `sum:f32[a:64, b:3 where p]` */
static bool want_reducer(Reader *r, EinSum *s) {
  if (!want_reducer_name(r, s)) return false;
  if (!scan_take(&r->c, '[')) return s->reducer == RED_NONE || scan_want(&r->c, '[');
  while (!scan_take(&r->c, ']')) {
    if (scan_take_word(&r->c, "where"))
      return want_expr(r, OVER_ALL, DT_I64, &s->where) && scan_want(&r->c, ']');
    if (s->n_red && !scan_want(&r->c, ',')) return false;
    if (!want_label(r)) return false;
    s->n_red++;
  }
  return true;
}

/* ---- lines of nodes -------------------------------------------------------------------------- */

static bool take_name(Reader *r, Str *out) {
  *out = NULL;
  return scan_is(&r->c, '[') || scan_is(&r->c, '=') || scan_want_name(&r->c, out);
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
  if (!want_new_id(r, &id) || !take_name(r, &name) || !want_shape(r, &t)) return false;
  if (scan_take_word(&r->c, "default") && !want_ref(r, &fallback)) return false;
  if (!scan_want_end(&r->c, &place)) return false;
  r->g->n_nodes = id;
  EinNode *n = graph_input(r->g, name, t, r->bound.len, r->bound.at, param);
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
  if (!want_new_id(r, &id) || !take_name(r, &name) || !want_shape(r, &t)) return false;
  if (!scan_want(&r->c, '=') || !want_ref(r, &init) || !scan_want_end(&r->c, &place)) return false;
  EinNode *n = graph_state(r->g, r->region, name, t, r->bound.len, r->bound.at);
  vec_push(r->g->arena, r->region->states, ((EinState){.node = n, .init = init}));
  n->place = place;
  return finish(r, n, name);
}

static bool want_sum(Reader *r, EinSum *s) {
  r->text.len = r->label.len = r->bound.len = r->merge.len = r->input.len = 0;
  if (!want_out_labels(r)) return false;
  s->n_out = r->label.len;
  if (!scan_want(&r->c, ':') || !scan_want_dtype(&r->c, &s->dtype) || !scan_want(&r->c, '='))
    return false;
  s->acc = s->dtype;
  if (reducer_follows(r) && !want_reducer(r, s)) return false;
  if (!want_expr(r, OVER_ALL, DT_I64, &s->body)) return false;
  return !scan_take_word(&r->c, "domain") || want_expr(r, OVER_ALL, DT_I64, &s->domain);
}

static bool line_vertex(Reader *r) {
  uint32_t id;
  Str name;
  EinSum s = {0};
  Place place = {0};
  if (!want_new_id(r, &id) || !take_name(r, &name)) return false;
  if (!want_sum(r, &s) || !scan_want_end(&r->c, &place)) return false;
  EinNode **input = graph_canonical_slots(r->g, &s, r->input.at);
  EinNode *n =
      graph_vertex(r->g, r->region, &s, r->bound.at, r->label.at, r->merge.len, r->merge.at, input);
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
  if (!want_new_id(r, &h->id) || !want_alias(r, &h->text, &h->turn)) return false;
  if (!scan_want(&r->c, '<') || !want_ref(r, &h->bound)) return false;
  if (scan_take_word(&r->c, "turns") && !want_extent(r, &h->turns)) return false;
  if (scan_take_word(&r->c, "named") && !scan_want_name(&r->c, &h->name)) return false;
  if (r->turn.len == GRAPH_DEPTH)
    return scan_fail(&r->c, D_E913, "repeats are nested at most %d deep", GRAPH_DEPTH);
  return scan_place(&r->c, &h->place) && scan_want(&r->c, '{') && scan_want_end(&r->c, NULL);
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
  vec_push(r->g->arena, r->turn, h.text);
  return finish(r, n, h.name);
}

/* A repeat whose block is closed. */
static bool want_closed(Reader *r, EinNode **out) {
  const char *at = r->c.s;
  if (!want_ref(r, out)) return false;
  bool open = false;
  for (const EinRegion *x = r->region; x; x = x->parent) open |= x->repeat == *out;
  if ((*out)->kind == EIN_REPEAT && !open) return true;
  r->c.s = at;
  return scan_fail(&r->c, D_E909, "wanted a repeat whose block is closed");
}

/* `.2` after a repeat: one of its n states or stacks. */
static bool want_index(Reader *r, uint32_t n, const char *what, uint32_t *out) {
  int64_t k;
  if (!scan_want(&r->c, '.')) return false;
  if (!n) return scan_fail(&r->c, D_E909, "this repeat has no %s", what);
  if (!scan_want_int(&r->c, 0, (int64_t)n - 1, "the number behind the dot", &k)) return false;
  *out = (uint32_t)k;
  return true;
}

static bool want_stackable(Reader *r, const EinRegion *body, uint32_t k) {
  const EinStack *s = &body->stacks.at[k];
  if (!body->turns) return scan_fail(&r->c, D_E909, "a repeat without `turns` cannot stack");
  return s->axis <= s->node->rank ||
         scan_fail(&r->c, D_E909, "the stack's axis is beyond its rank");
}

static bool read_result(Reader *r, EinKind kind) {
  uint32_t id, k = 0;
  Str name;
  EinNode *repeat;
  Place place = {0};
  if (!want_new_id(r, &id) || !take_name(r, &name)) return false;
  if (!scan_want(&r->c, '=') || !want_closed(r, &repeat)) return false;
  const EinRegion *body = repeat->body;
  if (kind == EIN_FINAL && !want_index(r, body->states.len, "states", &k)) return false;
  if (kind == EIN_STACK &&
      (!want_index(r, body->stacks.len, "stacks", &k) || !want_stackable(r, body, k)))
    return false;
  if (!scan_want_end(&r->c, &place)) return false;
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
  const char *at = r->c.s;
  if (!want_ref(r, &n)) return false;
  bool own = n->kind == EIN_STATE && n->region == r->region;
  if (!own || r->region->states.at[n->index].next) {
    r->c.s = at;
    return scan_fail(&r->c, D_E909,
                     own ? "this state has a next already" : "wanted a state of this block");
  }
  if (!scan_want(&r->c, '=') || !want_ref(r, &next) || !scan_want_end(&r->c, NULL)) return false;
  r->region->states.at[n->index].next = next;
  return true;
}

static bool line_stack(Reader *r) {
  EinStack s = {0};
  int64_t axis;
  if (!scan_want_name(&r->c, &s.name) || !scan_want(&r->c, '=') || !want_ref(r, &s.node))
    return false;
  if (!scan_want_word(&r->c, "axis") || !scan_want_int(&r->c, 0, GRAPH_LABELS, "an axis", &axis))
    return false;
  if (!scan_want_end(&r->c, NULL)) return false;
  s.axis = (uint32_t)axis;
  vec_push(r->g->arena, r->region->stacks, s);
  return true;
}

static bool line_until(Reader *r) {
  if (r->region->stop) return scan_fail(&r->c, D_E909, "this block has an until already");
  EinNode *n;
  if (!want_ref(r, &n) || !scan_want_end(&r->c, NULL)) return false;
  r->region->stop = n;
  return true;
}

static bool line_close(Reader *r) {
  if (!scan_want_end(&r->c, NULL)) return false;
  const EinRegion *b = r->region;
  r->region = b->parent;
  r->turn.len--;
  for (uint32_t i = 0; i < b->states.len; i++)
    if (!b->states.at[i].next)
      return scan_fail(&r->c, D_E909, "state %%%u of this block has no next",
                       b->states.at[i].node->id);
  return true;
}

/* ---- lines of the program -------------------------------------------------------------------- */

static bool line_dim(Reader *r) {
  EinDim d = {0};
  if (!scan_want_name(&r->c, &d.name)) return false;
  if (map_find(&r->dims, d.name))
    return scan_fail(&r->c, D_E911, "dim %s is declared already", d.name->s);
  d.known = scan_take(&r->c, '=');
  if (d.known && !scan_want_int(&r->c, INT64_MIN, INT64_MAX, "a size", &d.value)) return false;
  if (!scan_want_end(&r->c, NULL)) return false;
  map_put(&r->dims, d.name, r);
  vec_push(r->g->arena, r->g->dims, d);
  return true;
}

static bool line_monoid(Reader *r) {
  Monoid m = {0};
  if (r->g->monoids.len == READ_MONOIDS)
    return scan_fail(&r->c, D_E913, "there are at most %d monoids", READ_MONOIDS);
  if (!scan_want_name(&r->c, &m.name) || !scan_want(&r->c, ':') ||
      !scan_want_dtype(&r->c, &m.dtype))
    return false;
  if (monoid_of(r, m.name, m.dtype))
    return scan_fail(&r->c, D_E911, "monoid %s is declared already", m.name->s);
  if (!scan_want(&r->c, '=') || !want_expr(r, OVER_PARAMS, m.dtype, &m.combine)) return false;
  if (!scan_want_word(&r->c, "identity") || !want_expr(r, OVER_PARAMS, m.dtype, &m.identity))
    return false;
  if (!scan_want_end(&r->c, NULL)) return false;
  graph_monoid(r->g, &m);
  return true;
}

static bool line_output(Reader *r) {
  EinOutput o;
  if (!scan_want_name(&r->c, &o.name) || !scan_want(&r->c, '=') || !want_ref(r, &o.node))
    return false;
  if (!scan_want_end(&r->c, NULL)) return false;
  vec_push(r->g->arena, r->g->outputs, o);
  return true;
}

static bool line_assert(Reader *r) {
  EinAssert x = {0};
  if (!want_ref(r, &x.node)) return false;
  if (scan_is(&r->c, '"') && !scan_want_string(&r->c, &x.text)) return false;
  if (!scan_want_end(&r->c, &x.place)) return false;
  vec_push(r->g->arena, r->g->asserts, x);
  return true;
}

static bool line_check(Reader *r) {
  EinCheck x = {0};
  if (!want_expr(r, OVER_DIMS, DT_I64, &x.cond)) return false;
  if (scan_is(&r->c, '"') && !scan_want_string(&r->c, &x.text)) return false;
  if (!scan_want_end(&r->c, &x.place)) return false;
  vec_push(r->g->arena, r->g->checks, x);
  return true;
}

static bool line_ids(Reader *r) {
  int64_t n;
  if (!scan_want_int(&r->c, 0, READ_IDS, "the number of ids", &n) || !scan_want_end(&r->c, NULL))
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
  if (scan_done(&r->c) || *r->c.s == '#') return true;
  bool block = r->region->parent != NULL;
  if (block && scan_take(&r->c, '}')) return line_close(r);
  for (size_t i = 0; i < COUNT(lines); i++) {
    const char *at = r->c.s;
    if (!scan_take_word(&r->c, lines[i].word)) continue;
    if (lines[i].where == ANYWHERE || (lines[i].where == BLOCK) == block) return lines[i].read(r);
    r->c.s = at;
    return scan_fail(&r->c, D_E909, "`%s` stands %s only", lines[i].word,
                     block ? "outside of repeats" : "in a repeat");
  }
  return scan_fail(&r->c, D_E902, "wanted a line that begins with %s, vertex or the like",
                   block ? "state, }" : "input");
}

/* Sets the cursor to the line at `at`; the start of the next one, or NULL. */
static const char *next_line(Reader *r, const char *at) {
  const char *end = r->c.src->bytes + r->c.src->len;
  const char *nl = memchr(at, '\n', (size_t)(end - at));
  r->c.s = at;
  r->c.end = nl ? nl : end;
  r->c.quiet = false;
  r->defining = NO_ID;
  return nl ? nl + 1 : NULL;
}

static bool read_header(Reader *r) {
  if (scan_take_word(&r->c, "eingraph") && scan_take(&r->c, '1') && scan_done(&r->c)) return true;
  return scan_fail(&r->c, D_E901, "wanted the line `eingraph 1` first");
}

EinGraph *graph_read(Arena *a, Strings *t, Source *src, Diags *d) {
  EinGraph *g = graph_new(a, t, exprs_new(a));
  Reader r = {.c = {.src = src, .strings = t, .d = d}, .g = g, .region = g->top};
  r.nodes = r.failed = r.dims = map_new(a);
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
    ok = scan_fail(&r.c, D_E909, "wanted `}` for repeat %%%u", r.region->repeat->id);
  g->n_nodes = r.ids;
  return ok ? g : NULL;
}
