/* graph/passes/names.c - names unnamed vertices by what they compute: "sum.A.W", with the tensors that they read. A
 * plan is kept in a file and given to a later version of ein, which may make other vertices, and number them
 * differently.
 *
 * If several vertices have the same name, as after two calls of a def, each gets a number from 1; but the initial
 * and next values of a state are named after it: "w.first", "w.next". */
#include "passes.h"

enum { NAME_MOST = 24, NAME_PARTS = 3 }; /* letters, and tensors, before "etc" */

typedef struct Namer {
  EinGraph *g;
  Map times;                 /* by name: how many vertices and states have it */
  Map state;                 /*   and a state that has */
  Map given;                 /*   and who has it now */
  Map number;                /* and the last number given to one of them */
  Map constant;              /* names of vertices that read nothing, which are not used in other names */
} Namer;

typedef void Visit(Namer *x, EinNode *n);

static void region_walk(Namer *x, const EinRegion *r, Visit *visit) {
  vec_each_of(EinNode, n, r->nodes) {
    visit(x, n);
    if (n->kind == EIN_REPEAT) region_walk(x, n->body, visit);
  }
}

static uint32_t count_of(const Map *m, Str name) {
  return (uint32_t)(uintptr_t)map_find(m, name);
}

static void count(Map *m, Str name) {
  map_put(m, name, (void *)((uintptr_t)count_of(m, name) + 1));
}

static bool is_own(const EinNode *n) { return n->kind == EIN_VERTEX || n->kind == EIN_STATE; }

static void name_count(Namer *x, EinNode *n) {
  if (!n->name || !is_own(n)) return;
  count(&x->times, n->name);
  if (n->kind == EIN_STATE) map_put(&x->state, n->name, n);
}

static bool name_give(Namer *x, EinNode *n, Str name) {
  if (map_find(&x->given, name)) return false;
  map_put(&x->given, name, n);
  n->name = name;
  return true;
}

static void name_numbered(Namer *x, EinNode *n, Str name) {
  Str numbered;
  do {
    count(&x->number, name);
    numbered = strings_printf(x->g->strings, "%s.%u", name->s, count_of(&x->number, name));
  } while (map_find(&x->times, numbered) || !name_give(x, n, numbered));
}

/* ---- one name, several owners ------------------------------------------------------------------------------ */

static bool name_of_state(Namer *x, EinNode *n, const EinNode *state) {
  const EinState *s = &state->region->states.at[state->index];
  const char *role = s->init == n ? "first" : s->next == n ? "next" : NULL;
  return role && name_give(x, n, strings_printf(x->g->strings, "%s.%s", n->name->s, role));
}

static void name_own(Namer *x, EinNode *n) {
  Str name = n->name;
  if (!name || !is_own(n)) return;
  const EinNode *state = map_find(&x->state, name);
  bool alone = count_of(&x->times, name) == 1 || state == n;
  if (alone && name_give(x, n, name)) return;
  if (!state || !name_of_state(x, n, state)) name_numbered(x, n, name);
}

/* ---- none -------------------------------------------------------------------------------------------------- */

static bool read_before(const EinNode *n, uint32_t slot) {
  for (uint32_t k = 0; k < slot; k++)
    if (n->input[k] == n->input[slot]) return true;
  return false;
}

static void name_made(Namer *x, EinNode *n) {
  if (n->name || n->kind != EIN_VERTEX) return;
  const EinSum *s = n->sum;
  Buf b = buf_new(x->g->arena);
  uint32_t parts = 0;
  if (s->reducer == RED_MONOID) buf_str(&b, s->monoid->name->s);
  else if (s->reducer != RED_NONE) buf_str(&b, reducer_info[s->reducer].name);
  for (uint32_t k = 0; k < s->n_slot; k++) {
    const EinNode *of = n->input[k];
    if (!of->name || map_find(&x->constant, of->name) || read_before(n, k)) continue;
    bool room = parts < NAME_PARTS && b.len + of->name->len <= NAME_MOST;
    buf_printf(&b, "%s%s", b.len ? "." : "", room ? of->name->s : "etc");
    if (!room) break;
    parts++;
  }
  bool constant = !b.len;
  if (constant) buf_str(&b, s->n_out ? "labels" : "number");
  Str name = strings_printf(x->g->strings, "%s", b.s);
  if (map_find(&x->times, name) || !name_give(x, n, name)) {
    if (!count_of(&x->number, name)) count(&x->number, name); /* the first has none, and the next is the second */
    name_numbered(x, n, name);
  }
  if (constant) map_put(&x->constant, n->name, n);
}

/* ---- results of a repeat ----------------------------------------------------------------------------------------- */

/* A stack keeps its own name, even where a pass reads another tensor of the block for it, unless a vertex or a state
 * has that name; then it is named after the tensor that it stacks. */
static void name_result(Namer *x, EinNode *n) {
  if (n->kind != EIN_STACK) return;
  const EinStack *s = &n->repeat->body->stacks.at[n->index];
  n->name = s->name && !map_find(&x->given, s->name) ? s->name : s->node->name;
}

void graph_names(EinGraph *g) {
  Arena *a = g->arena;
  Namer x = {.g = g,
      .times = map_new(a),
      .state = map_new(a),
      .given = map_new(a),
      .number = map_new(a),
      .constant = map_new(a)};
  region_walk(&x, g->top, name_count);
  region_walk(&x, g->top, name_own);
  region_walk(&x, g->top, name_made);
  region_walk(&x, g->top, name_result);
}
