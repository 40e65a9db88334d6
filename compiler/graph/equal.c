/* graph/equal.c - are two graphs the same in all fields? They may come of different pools and
 * tables, so names are compared as text and expressions by their structure, each shared part once.
 * Scratch (mark, the interning) and what hash an EinSum has are not part of a graph. */
#include <string.h>

#include "inside.h"

typedef struct Pair {
  const Expr *a, *b;
} Pair;

typedef struct Equal {
  Arena *arena;
  Buf *why; /* NULL: nobody asks */
  bool same_pool;
  const Expr **to; /* by id of a's expression: b's, once they are known to be equal */
  uint32_t room;
  VEC(Pair) stack;
  const EinNode *n; /* the node at hand, for the complaint */
} Equal;

static bool differ(Equal *q, const char *fmt, ...) EIN_PRINTF(2, 3);
static bool differ(Equal *q, const char *fmt, ...) {
  if (!q->why) return false;
  if (q->n) buf_printf(q->why, "%s %%%u: ", node_word(q->n), q->n->id);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(q->why, fmt, ap);
  va_end(ap);
  return false;
}

/* ---- small things ---------------------------------------------------------------------------- */

static bool same_str(Str a, Str b) {
  return a == b || (a && b && a->len == b->len && memcmp(a->s, b->s, a->len) == 0);
}

static const char *text(Str s) {
  return s ? s->s : "(none)";
}

static bool eq_str(Equal *q, const char *what, Str a, Str b) {
  return same_str(a, b) || differ(q, "%s is %s and %s", what, text(a), text(b));
}

static bool eq_int(Equal *q, const char *what, int64_t a, int64_t b) {
  return a == b || differ(q, "%s is %lld and %lld", what, (long long)a, (long long)b);
}

static bool eq_place(Equal *q, Place a, Place b) {
  return eq_str(q, "the place's file", a.file, b.file) &&
         eq_int(q, "the place's line", a.line, b.line) &&
         eq_int(q, "the place's column", a.column, b.column);
}

static bool eq_ref(Equal *q, const char *what, const EinNode *a, const EinNode *b) {
  if (!a || !b) return a == b || differ(q, "%s is there in one only", what);
  return eq_int(q, what, a->id, b->id);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static const Expr **partner(Equal *q, const Expr *a) {
  if (a->id >= q->room) {
    uint32_t room = a->id + a->id / 2 + 64;
    const Expr **to = NEW_ARRAY(q->arena, const Expr *, room);
    if (q->room) memcpy(to, q->to, q->room * sizeof to[0]);
    q->to = to;
    q->room = room;
  }
  return &q->to[a->id];
}

static bool same_top(const Expr *a, const Expr *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->op != b->op || a->n != b->n) return false;
  if (a->kind == EX_DIM) return same_str(a->name, b->name);
  if (a->kind == EX_REAL)
    return memcmp(&a->f, &b->f, sizeof a->f) == 0 || (a->f != a->f && b->f != b->f);
  return a->kind == EX_OP || a->i == b->i;
}

static bool same_expr(Equal *q, const Expr *a, const Expr *b) {
  q->stack.len = 0;
  vec_push(q->arena, q->stack, ((Pair){a, b}));
  while (q->stack.len) {
    Pair p = vec_pop(q->stack);
    const Expr **to = partner(q, p.a);
    if (*to == p.b) continue;
    if (*to || !same_top(p.a, p.b)) return false; /* in its pool nothing else is equal to *to */
    *to = p.b;
    for (uint32_t i = 0; i < p.a->n; i++)
      vec_push(q->arena, q->stack, ((Pair){p.a->arg[i], p.b->arg[i]}));
  }
  return true;
}

static bool eq_expr(Equal *q, const char *what, const Expr *a, const Expr *b) {
  if (q->same_pool ? a == b : (!a && !b)) return true;
  if (!q->same_pool && a && b && same_expr(q, a, b)) return true;
  return differ(q, "%s differs", what);
}

static bool eq_exprs(Equal *q, const char *what, uint32_t n, const Expr *const *a,
                     const Expr *const *b) {
  for (uint32_t i = 0; i < n; i++)
    if (!eq_expr(q, what, a[i], b[i])) return false;
  return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool eq_monoid(Equal *q, const Monoid *a, const Monoid *b) {
  if (!a || !b) return a == b || differ(q, "the monoid is there in one only");
  return eq_str(q, "the monoid's name", a->name, b->name) &&
         eq_int(q, "the monoid's dtype", a->dtype, b->dtype) &&
         eq_expr(q, "the monoid's function", a->combine, b->combine) &&
         eq_expr(q, "the monoid's identity", a->identity, b->identity);
}

static bool eq_sum(Equal *q, const EinSum *a, const EinSum *b) {
  return eq_int(q, "the number of output labels", a->n_out, b->n_out) &&
         eq_int(q, "the number of reduced labels", a->n_red, b->n_red) &&
         eq_int(q, "the number of slots", a->n_slot, b->n_slot) &&
         eq_int(q, "the reducer", a->reducer, b->reducer) && eq_monoid(q, a->monoid, b->monoid) &&
         eq_int(q, "the accumulator's dtype", a->acc, b->acc) &&
         eq_int(q, "the result's dtype", a->dtype, b->dtype) &&
         eq_expr(q, "the body", a->body, b->body) && eq_expr(q, "where", a->where, b->where) &&
         eq_expr(q, "the domain", a->domain, b->domain);
}

static bool eq_vertex(Equal *q, const EinNode *a, const EinNode *b) {
  if (!eq_sum(q, a->sum, b->sum)) return false;
  uint32_t labels = a->sum->n_out + a->sum->n_red;
  if (!eq_exprs(q, "a label's bound", labels, a->bound, b->bound)) return false;
  for (uint32_t k = 0; k < labels; k++)
    if (!eq_str(q, "a label's name", a->label[k], b->label[k])) return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (!eq_int(q, "the merge of labels", a->merge[k], b->merge[k])) return false;
  for (uint32_t k = 0; k < a->sum->n_slot; k++)
    if (!eq_ref(q, "an input", a->input[k], b->input[k])) return false;
  return true;
}

static bool eq_region(Equal *q, const EinRegion *a, const EinRegion *b);

static bool eq_node(Equal *q, const EinNode *a, const EinNode *b) {
  q->n = a;
  bool ok =
      eq_int(q, "the id", a->id, b->id) && eq_int(q, "the kind", a->kind, b->kind) &&
      eq_str(q, "the name", a->name, b->name) && eq_place(q, a->place, b->place) &&
      eq_int(q, "the dtype", a->dtype, b->dtype) && eq_int(q, "the rank", a->rank, b->rank) &&
      eq_exprs(q, "the shape", a->rank, a->dim, b->dim) && eq_int(q, "param", a->param, b->param) &&
      eq_ref(q, "the default", a->fallback, b->fallback) &&
      eq_ref(q, "the repeat", a->repeat, b->repeat) && eq_int(q, "the index", a->index, b->index);
  if (ok && a->kind == EIN_VERTEX) ok = eq_vertex(q, a, b);
  if (ok && a->kind == EIN_REPEAT) ok = eq_region(q, a->body, b->body);
  q->n = NULL;
  return ok;
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool eq_blocks(Equal *q, const EinRegion *a, const EinRegion *b) {
  if (!eq_int(q, "the number of states", a->states.len, b->states.len)) return false;
  if (!eq_int(q, "the number of stacks", a->stacks.len, b->stacks.len)) return false;
  for (uint32_t i = 0; i < a->states.len; i++) {
    const EinState *x = &a->states.at[i], *y = &b->states.at[i];
    if (!eq_ref(q, "a state", x->node, y->node) || !eq_ref(q, "a state's init", x->init, y->init) ||
        !eq_ref(q, "a state's next", x->next, y->next))
      return false;
  }
  for (uint32_t i = 0; i < a->stacks.len; i++) {
    const EinStack *x = &a->stacks.at[i], *y = &b->stacks.at[i];
    if (!eq_str(q, "a stack's name", x->name, y->name) || !eq_ref(q, "a stack", x->node, y->node) ||
        !eq_int(q, "a stack's axis", x->axis, y->axis))
      return false;
  }
  return true;
}

static bool eq_region(Equal *q, const EinRegion *a, const EinRegion *b) {
  if (!eq_int(q, "the depth", a->depth, b->depth) ||
      !eq_str(q, "the loop variable", a->turn, b->turn) ||
      !eq_ref(q, "the region's repeat", a->repeat, b->repeat) ||
      !eq_ref(q, "the bound", a->bound, b->bound) ||
      !eq_expr(q, "the number of turns", a->turns, b->turns) ||
      !eq_ref(q, "the stop", a->stop, b->stop) || !eq_blocks(q, a, b) ||
      !eq_int(q, "the number of nodes", a->nodes.len, b->nodes.len))
    return false;
  for (uint32_t i = 0; i < a->nodes.len; i++)
    if (!eq_node(q, a->nodes.at[i], b->nodes.at[i])) return false;
  return true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool eq_heads(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(q, "the number of dims", a->dims.len, b->dims.len)) return false;
  if (!eq_int(q, "the number of monoids", a->monoids.len, b->monoids.len)) return false;
  for (uint32_t i = 0; i < a->dims.len; i++) {
    const EinDim *x = &a->dims.at[i], *y = &b->dims.at[i];
    if (!eq_str(q, "a dim's name", x->name, y->name) ||
        !eq_int(q, "whether a dim is known", x->known, y->known) ||
        (x->known && !eq_int(q, "a dim's value", x->value, y->value)))
      return false;
  }
  for (uint32_t i = 0; i < a->monoids.len; i++)
    if (!eq_monoid(q, a->monoids.at[i], b->monoids.at[i])) return false;
  return true;
}

static bool eq_outputs(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(q, "the number of inputs", a->inputs.len, b->inputs.len)) return false;
  if (!eq_int(q, "the number of outputs", a->outputs.len, b->outputs.len)) return false;
  for (uint32_t i = 0; i < a->inputs.len; i++)
    if (!eq_ref(q, "an input", a->inputs.at[i], b->inputs.at[i])) return false;
  for (uint32_t i = 0; i < a->outputs.len; i++) {
    const EinOutput *x = &a->outputs.at[i], *y = &b->outputs.at[i];
    if (!eq_str(q, "an output's name", x->name, y->name) ||
        !eq_ref(q, "an output", x->node, y->node))
      return false;
  }
  return true;
}

static bool eq_tests(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(q, "the number of asserts", a->asserts.len, b->asserts.len)) return false;
  if (!eq_int(q, "the number of checks", a->checks.len, b->checks.len)) return false;
  for (uint32_t i = 0; i < a->asserts.len; i++) {
    const EinAssert *x = &a->asserts.at[i], *y = &b->asserts.at[i];
    if (!eq_ref(q, "an assert", x->node, y->node) ||
        !eq_str(q, "an assert's text", x->text, y->text) || !eq_place(q, x->place, y->place))
      return false;
  }
  for (uint32_t i = 0; i < a->checks.len; i++) {
    const EinCheck *x = &a->checks.at[i], *y = &b->checks.at[i];
    if (!eq_expr(q, "a check", x->cond, y->cond) ||
        !eq_str(q, "a check's text", x->text, y->text) || !eq_place(q, x->place, y->place))
      return false;
  }
  return true;
}

bool graph_equal(const EinGraph *a, const EinGraph *b, Buf *why) {
  Equal q = {.arena = arena_new(), .why = why, .same_pool = a->exprs == b->exprs};
  bool ok = eq_int(&q, "the number of ids", a->n_nodes, b->n_nodes) && eq_heads(&q, a, b) &&
            eq_region(&q, a->top, b->top) && eq_outputs(&q, a, b) && eq_tests(&q, a, b);
  arena_free(q.arena);
  return ok;
}
