/* graph/check_range.c - checks a graph that was read from text: proves that every index that does not depend on data
 * is in range, and that no repeat makes more turns than it states. See expr/prove/in_range.h. */
#include "expr/prove/in_range.h"
#include "inside.h"

typedef struct Check {
  InRange q;
  const EinGraph *g;
  Diags *d;
  const EinNode *n;          /* the current vertex */
  bool ok;
  VEC(const Expr *) turns;   /* of the enclosing repeats: the number of turns, NULL if unknown; */
  VEC(Str) turn;             /* the names of their loop variables */
} Check;

static Diag *complain(Check *c, const EinNode *n, const char *what) {
  c->ok = false;
  return diag_add(c->d, D_E917, lines_find(c->g->lines, 1, (const void *const[]){n}), "%s %%%u%s%s: %s", node_word(n),
      n->id, n->name ? " " : "", n->name ? n->name->s : "", what);
}

static const Expr *extent_of(void *ctx, const Expr *read, uint32_t k) {
  const Check *c = ctx;
  return index_is_data(read->arg[k]) ? NULL : c->n->input[read->i]->dim[k];
}

static const Expr *meaning_of(void *ctx, const Expr *read) {
  const Check *c = ctx;
  const EinNode *n = c->n, *of = n->input[read->i];
  if (of->kind != EIN_VERTEX || of->rank != of->sum->n_out) return NULL;
  return sum_meaning(c->q.arena, c->q.exprs, (SumOf){of->sum, of->bound}, (SumOf){n->sum, n->bound}, read);
}

static void say_open(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  Check *c = ctx;
  const EinNode *n = c->n, *of = n->input[slot];
  ExprNames names = node_names(n);
  Buf b = buf_new(c->q.arena);
  buf_printf(&b, "index %u of %%%u, ", k, of->id);
  expr_print(&b, index, &names);
  buf_printf(&b, ", %s [0, ", why->verdict == REFUTED ? "is not in" : "is not proved to be in");
  expr_print(&b, of->dim[k], &names);
  buf_printf(&b, ")%s", in_range_where(c->q.arena, why, n->sum->n_out + n->sum->n_red, n->label, c->turn.at, index));
  complain(c, n, b.s);
}

static void check_vertex(Check *c, const EinNode *n) {
  c->n = n;
  c->q.facts.turn = c->turns.at;
  c->q.facts.n_turn = c->turns.len;
  in_range_sum(&c->q, n->sum, n->bound);
}

/* The value of a bound, if it is known without running: an expression over dims. */
static const Expr *bound_known(const EinGraph *g, const EinNode *bound) {
  const EinSum *s = bound->kind == EIN_VERTEX ? bound->sum : NULL;
  bool plain = s && s->reducer == RED_NONE && !s->domain && !(s->body->has & ~(unsigned)HAS_DIM);
  return plain ? expr_normal(g->exprs, s->body) : NULL;
}

static void check_region(Check *c, const EinRegion *r) {
  if (r->repeat) {
    const Expr *bound = bound_known(c->g, r->bound);
    if (r->turns && r->turns != bound) complain(c, r->repeat, "it is not proved to make no more turns than it says");
    vec_push(c->q.arena, c->turns, bound);
    vec_push(c->q.arena, c->turn, r->turn);
  }
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_VERTEX) check_vertex(c, n);
    if (n->kind == EIN_REPEAT) check_region(c, n->body);
  }
  if (r->repeat) c->turn.len = --c->turns.len;
}

bool graph_check_ranges(const EinGraph *g, Diags *d) {
  Arena *a = arena_new();
  Check c = {.g = g,
      .d = d,
      .ok = true,
      .q = {.exprs = g->exprs, .arena = a, .extent = extent_of, .meaning = meaning_of, .open = say_open}};
  const Expr **hold = NEW_ARRAY(a, const Expr *, g->checks.len + 1);
  for (uint32_t i = 0; i < g->checks.len; i++) hold[i] = g->checks.at[i].cond;
  c.q.ctx = &c;
  c.q.facts.hold = hold;
  c.q.facts.n_hold = g->checks.len;
  check_region(&c, g->top);
  arena_free(a);
  return c.ok;
}
