/* expr/region/read.c - reads lines of regions from text: which node has which number, which block is open, and what
 * belongs to a repeat. The languages read the lines of their other nodes themselves. */
#include "text.h"
#include "expr/sum/law.h"

#define fail(r, ...) scan_fail(&(r)->x->c, __VA_ARGS__)

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

RegionReader region_reader(SumReader *x, const RegionMaker *make, void *ctx) {
  RegionReader r = {.x = x, .make = make, .ctx = ctx, .arena = x->arena, .block = NEW(x->arena, TextBlock)};
  r.nodes = r.failed = map_new(x->arena);
  r.lines = lines_new(x->arena, scan_head(&x->c));
  return r;
}

/* ---- references ------------------------------------------------------------------------------------------------ */

TextNode *node_of(RegionReader *r, uint32_t id) {
  TextNode *n = map_find(&r->nodes, id_key(id));
  if (!n && map_find(&r->failed, id_key(id))) r->x->c.quiet = true;
  return n;
}

static TextNode *want_ref(RegionReader *r) {
  uint32_t id;
  const char *at = r->x->c.s;
  if (!scan_want_id(&r->x->c, &id)) return NULL;
  TextNode *n = node_of(r, id);
  if (n) return n;
  r->x->c.s = at;
  fail(r, D_E905, "%%%u is not defined above this line", id);
  return NULL;
}

void *want_node(RegionReader *r) {
  const char *at = r->x->c.s;
  TextNode *n = want_ref(r);
  if (!n || !n->body) return n ? n->node : NULL;
  r->x->c.s = at;
  fail(r, D_E905, "%%%u is a repeat, not a %s", n->id, r->make->noun);
  return NULL;
}

bool want_new_id(RegionReader *r, uint32_t *id) {
  const char *at = r->x->c.s;
  if (!scan_want_id(&r->x->c, id)) return false;
  if (map_find(&r->nodes, id_key(*id))) {
    r->x->c.s = at;
    return fail(r, D_E906, "%%%u is defined already", *id);
  }
  r->defining = *id;
  return true;
}

static TextNode *node_put(RegionReader *r, uint32_t id, void *node) {
  TextNode *n = MAKE(r->arena, TextNode, .id = id, .node = node, .in = r->block);
  map_put(&r->nodes, id_key(id), n);
  lines_put(r->lines, node, scan_head(&r->x->c));
  if (r->ids <= id) r->ids = id + 1;
  return n;
}

void node_made(RegionReader *r, uint32_t id, void *node, bool state) {
  TextNode *n = node_put(r, id, node);
  if (!state) return;
  vec_push(r->arena, r->block->states, n);
  vec_push(r->arena, r->block->next, false);
  n->state = r->block->states.len;
}

/* ---- repeats --------------------------------------------------------------------------------------------------- */

static bool want_turns(RegionReader *r, RepeatHead *h) {
  int64_t n;
  if (!r->make->sized) return want_extent(r->x, &h->turns);
  if (!scan_want_int(&r->x->c, 0, INT64_MAX, "the number of turns", &n)) return false;
  h->turns = expr_int(r->x->exprs, DT_I64, n);
  return true;
}

static bool want_repeat(RegionReader *r, RepeatHead *h) {
  if (!want_new_id(r, &h->id) || !want_alias(r->x, &h->text, &h->turn)) return false;
  if (!scan_want(&r->x->c, '<') || !(h->bound = want_node(r))) return false;
  if (scan_take_word(&r->x->c, "turns") && !want_turns(r, h)) return false;
  if (scan_take_word(&r->x->c, "named") && !scan_want_name(&r->x->c, &h->name)) return false;
  if (r->x->turn.len == REGION_DEPTH) return fail(r, D_E913, "repeats are nested at most %d deep", REGION_DEPTH);
  return scan_place(&r->x->c, &h->place) && scan_want(&r->x->c, '{') && scan_want_end(&r->x->c, NULL);
}

static bool line_repeat(RegionReader *r) {
  RepeatHead h = {0};
  if (!want_repeat(r, &h)) {
    r->give_up = true;
    return false;
  }
  TextNode *n = node_put(r, h.id, r->make->repeat(r->ctx, &h));
  n->body = NEW(r->arena, TextBlock);
  *n->body = (TextBlock){.parent = r->block, .repeat = n};
  r->block = n->body;
  vec_push(r->arena, r->x->turn, h.text);
  return true;
}

static bool fail_next(RegionReader *r, const TextNode *state) {
  Diags *d = r->x->c.d;
  Diag *g = diag_add(d, D_E909, lines_find(r->lines, 1, (const void *const[]){state->node}),
      "state %%%u of this block has no next", state->id);
  diag_hint(d, g, "a line `next %%%u = %%...` says what it becomes with each turn", state->id);
  return false;
}

static bool line_close(RegionReader *r) {
  if (!scan_want_end(&r->x->c, NULL)) return false;
  TextBlock *b = r->block;
  b->closed = true;
  r->block = b->parent;
  r->x->turn.len--;
  r->make->close(r->ctx);
  for (uint32_t i = 0; i < b->states.len; i++)
    if (!b->next.at[i]) return fail_next(r, b->states.at[i]);
  return true;
}

/* Reports something that must come after the block of n. */
static bool fail_open(RegionReader *r, const TextNode *n, const char *what) {
  Diags *d = r->x->c.d;
  if (r->x->c.quiet || r->open_said) return false;
  r->open_said = true;
  Diag *g =
      diag_add(d, D_E909, scan_here(&r->x->c), "%s, and the block of repeat %%%u is still open here", what, n->id);
  diag_at(d, g, lines_find(r->lines, 1, (const void *const[]){n->node}), "it begins here");
  diag_hint(d, g, "a line `}` ends it");
  return false;
}

static TextNode *want_closed(RegionReader *r) {
  const char *at = r->x->c.s;
  TextNode *n = want_ref(r);
  if (!n || (n->body && n->body->closed)) return n;
  r->x->c.s = at;
  if (n->body) return fail_open(r, n, "expected a repeat whose block is closed"), NULL;
  fail(r, D_E909, "expected a repeat whose block is closed");
  return NULL;
}

/* `.2` after a repeat: one of its n states or stacks. */
static bool want_index(RegionReader *r, uint32_t n, const char *what, uint32_t *out) {
  int64_t k;
  if (!scan_want(&r->x->c, '.')) return false;
  if (!n) return fail(r, D_E909, "this repeat has no %s", what);
  if (!scan_want_int(&r->x->c, 0, (int64_t)n - 1, "the number behind the dot", &k)) return false;
  *out = (uint32_t)k;
  return true;
}

TextNode *want_result(RegionReader *r, NodeRole role, uint32_t *index) {
  *index = 0;
  if (!scan_want(&r->x->c, '=')) return NULL;
  TextNode *of = want_closed(r);
  if (!of) return NULL;
  if (role == NODE_FINAL && !want_index(r, of->body->states.len, "states", index)) return NULL;
  if (role == NODE_STACK && of->body->broken) return r->x->c.quiet = true, NULL;
  if (role == NODE_STACK && !want_index(r, of->body->stacks, "stacks", index)) return NULL;
  return of;
}

static bool line_next(RegionReader *r) {
  const char *at = r->x->c.s;
  TextNode *n = want_ref(r);
  if (!n) return false;
  bool own = n->state && n->in == r->block;
  if (!own || r->block->next.at[n->state - 1]) {
    r->x->c.s = at;
    return fail(r, D_E909, own ? "this state has a next already" : "expected a state of this block");
  }
  r->block->next.at[n->state - 1] = true; /* an error has been reported */
  void *next = scan_want(&r->x->c, '=') ? want_node(r) : NULL;
  if (!next || !scan_want_end(&r->x->c, NULL)) return false;
  lines_put(r->lines, line_key(LINE_NEXT, n->id), scan_head(&r->x->c));
  r->make->next(r->ctx, n->state - 1, next);
  return true;
}

static bool read_stack(RegionReader *r) {
  Str name;
  int64_t axis;
  if (!scan_want_name(&r->x->c, &name) || !scan_want(&r->x->c, '=')) return false;
  void *node = want_node(r);
  if (!node || !scan_want_word(&r->x->c, "axis") || !scan_want_int(&r->x->c, 0, SUM_RANK, "an axis", &axis))
    return false;
  if (!scan_want_end(&r->x->c, NULL)) return false;
  r->block->stacks++;
  r->make->stack(r->ctx, name, node, (uint32_t)axis);
  return true;
}

static bool line_stack(RegionReader *r) {
  bool ok = read_stack(r);
  r->block->broken |= !ok;
  return ok;
}

static bool line_until(RegionReader *r) {
  if (r->block->stop) return fail(r, D_E909, "this block has an until already");
  void *n = want_node(r);
  if (!n || !scan_want_end(&r->x->c, NULL)) return false;
  r->block->stop = true;
  lines_put(r->lines, line_key(LINE_UNTIL, r->block->repeat->id), scan_head(&r->x->c));
  r->make->until(r->ctx, n);
  return true;
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

bool line_dim(RegionReader *r, int which) { return (void)which, want_dim(r->x, r->dims); }
bool line_monoid(RegionReader *r, int which) { return (void)which, want_monoid(r->x, r->monoids); }
bool line_extern(RegionReader *r, int which) { return (void)which, want_extern(r->x); }
bool line_check(RegionReader *r, int which) { return (void)which, want_check(r->x, r->checks); }

bool line_assert(RegionReader *r, int which) {
  Str text = NULL;
  Place place = {0};
  void *node = want_node(r);
  (void)which;
  if (!node || (scan_is(&r->x->c, '"') && !scan_want_string(&r->x->c, &text))) return false;
  if (!scan_want_end(&r->x->c, &place)) return false;
  lines_put(r->lines, line_key(LINE_ASSERT, r->asserts++), scan_head(&r->x->c));
  r->make->assert(r->ctx, node, text, place);
  return true;
}

static bool line_ids(RegionReader *r) {
  int64_t n;
  if (!scan_want_int(&r->x->c, 0, READ_IDS, "the number of ids", &n) || !scan_want_end(&r->x->c, NULL)) return false;
  if (r->ids < n) r->ids = (uint32_t)n;
  return true;
}

typedef struct Line {
  const char *word;
  LineWhere where;
  bool (*read)(RegionReader *);
} Line;

static const Line lines[] = {
    {"repeat", ANYWHERE, line_repeat},
    {"next", BLOCK, line_next},
    {"stack", BLOCK, line_stack},
    {"until", BLOCK, line_until},
    {"ids", PROGRAM, line_ids},
};

/* Whether the current line begins with the word, and may occur here. */
static bool take_word(RegionReader *r, const char *word, LineWhere where, bool *here) {
  const char *at = r->x->c.s;
  bool block = r->block->parent != NULL;
  if (!scan_take_word(&r->x->c, word)) return false;
  *here = where == ANYWHERE || (where == BLOCK) == block;
  if (*here) return true;
  r->x->c.s = at;
  if (block)
    fail_open(r, r->block->repeat, arena_printf(r->arena, "`%s` stands outside of repeats only", word));
  else
    fail(r, D_E909, "`%s` stands in a repeat only", word);
  return true;
}

static bool read_line(RegionReader *r) {
  bool block = r->block->parent != NULL, here;
  if (scan_done(&r->x->c) || *r->x->c.s == '#') return true;
  if (block && scan_take(&r->x->c, '}')) return line_close(r);
  for (size_t i = 0; i < COUNT(lines); i++)
    if (take_word(r, lines[i].word, lines[i].where, &here)) return here && lines[i].read(r);
  for (size_t i = 0; i < r->make->n_line; i++)
    if (take_word(r, r->make->line[i].word, r->make->line[i].where, &here))
      return here && r->make->line[i].read(r, r->make->line[i].which);
  return fail(
      r, D_E902, "expected a line that begins with %s, %s or the like", block ? "state, }" : "input", r->make->word);
}

bool region_lines(RegionReader *r, const char *at) {
  bool ok = true;
  while (at && !r->give_up) {
    r->defining = READ_IDS;
    at = scan_line(&r->x->c, at);
    if (read_line(r)) continue;
    ok = false;
    if (r->defining != READ_IDS) map_put(&r->failed, id_key(r->defining), r);
  }
  if (r->block->parent && !r->give_up && !r->open_said)
    ok = fail(r, D_E909, "expected `}` for repeat %%%u", r->block->repeat->id);
  return ok;
}
