/* front/elab/loops.c - turns a repeat block into a region: states, nexts, stacks, the bound and the stop.
 *
 * Initial values and the bound are computed before it, outside; body names are local; afterwards a state's name
 * means its last value, a stack's name the stack, the loop variable's name the number of turns made. */
#include "elab.h"

static Core *scalar_core(Elab *x, const Ast *a) {
  Labels none = {.map = map_new(x->arena)};
  Scope s = {.labels = &none};
  Core *c = core_from_ast(x, &s, a);
  if (!c || x->equation.failed) return NULL;
  return core_closed(x, c, a, (LabelSet){0}, NULL) && extents_solve(x) ? c : NULL;
}

/* ---- the bound -------------------------------------------------------------------------------- */

static EinNode *loop_bound(Elab *x, const AstStmt *s, const Expr **turns) {
  equation_begin(x, s->name.s);
  Core *c = scalar_core(x, s->e);
  if (!c) return NULL;
  if (!want_integer(x, c, "a loop's bound")) return NULL;
  if (c->kind == CORE_CONST) {
    *turns = expr_normal(x->exprs, c->e);
    if ((*turns)->kind == EX_INT && (*turns)->i < 0) {
      diag_add(x->diags, D_E065, c->span, "a loop cannot make %lld turns", (long long)(*turns)->i);
      return NULL;
    }
  }
  EinNode *n = lower_equation(x, NULL, c, (LabelSet){0}, NULL, 0, DT_I64, c->span);
  return x->equation.failed ? NULL : n;
}

/* ---- states ----------------------------------------------------------------------------------- */

typedef VEC(EinNode *) Inits;

static void states_init(Elab *x, const AstStmt *s, Inits *inits) {
  vec_each_of(const AstStmt, b, s->body) {
    if (b->kind != STMT_STATE) continue;
    equation_begin(x, b->name.s);
    Left l;
    bool ok = left_from_items(x, &b->items, &l, false);
    l.typed = b->dtype_span;
    EinNode *n = ok ? elab_body(x, b->name.s, &l, b->e, b->dtype, b->name.span) : NULL;
    vec_push(x->arena, *inits, n);
  }
}

static void elab_state(Elab *x, const AstStmt *s, EinNode *init) {
  Symbol *y = symbol_add(x, SYM_TENSOR, s->name);
  y->block = x->around.block;
  y->stmt = s;
  y->axes = &s->items;
  y->quiet = true;
  y->state = -1;
  vec_push(x->arena, x->around.block->states, y);
  if (!init) return;
  EinRegion *r = x->around.block->region;
  y->state = (int32_t)r->states.len;
  vec_push(x->arena, r->states, ((EinState){.init = init}));
  y->node = graph_state(x->graph, r, s->name.s, init->dtype, init->rank, init->dim);
  y->node->place = place_of(x, s->name.span);
  r->states.at[y->state].node = y->node;
}

/* Defines the name after the block in spite of an error. */
static void state_pretend(Elab *x, const Symbol *y, AstName name) {
  if (y && map_find(&x->around.syms->map, name.s) != y) return;
  for (uint32_t i = 0; i < x->around.block->states.len; i++)
    if (x->around.block->states.at[i]->name == name.s) return;
  Symbol *p = MAKE(x->arena, Symbol, .kind = SYM_TENSOR, .name = name.s, .span = name.span, .state = -1);
  vec_push(x->arena, x->around.block->states, p);
}

/* The block's own state of that name, if it comes later. */
static const AstStmt *state_below(const Elab *x, const AstStmt *next) {
  const AstStmt *in = x->around.block->stmt;
  vec_each_of(const AstStmt, b, in->body)
    if (b->kind == STMT_STATE && b->name.s == next->name.s && b->span.at > next->span.at) return b;
  return NULL;
}

static Symbol *next_above(Elab *x, const AstStmt *s, const AstStmt *state) {
  Diag *d = diag_add(x->diags, D_E103, s->name.span, "`next %s` stands above its state", s->name.s->s);
  diag_at(x->diags, d, state->name.span, "declared here");
  diag_hint(x->diags, d, "a state must be declared above its next: move `state %s` up", s->name.s->s);
  return NULL;
}

static Symbol *next_of(Elab *x, const AstStmt *s) {
  Symbol *y = symbol_find(x, s->name.s, UINT32_MAX);
  Diag *d;
  if (y && y == map_find(&x->lost, s->name.s)) return NULL;
  const AstStmt *below = state_below(x, s);
  if (below && !(y && y->block == x->around.block)) return next_above(x, s, below);
  if (!y || !y->block) {
    d = diag_add(x->diags, D_E103, s->name.span, "%s is not a state", s->name.s->s);
    if (y) diag_at(x->diags, d, y->span, "defined here");
    Span left = {
        s->span.src, s->name.span.at, s->items.len ? s->items.at[s->items.len - 1].span.end + 1 : s->name.span.end};
    diag_hint(x->diags, d, "declare it in this block, with its first value: `state %s = ...`", source_text(x, left));
    state_pretend(x, y, s->name);
    return NULL;
  }
  if (y->block == x->around.block) return y;
  d = diag_add(x->diags, D_E104, s->name.span, "state %s belongs to an outer block", s->name.s->s);
  diag_at(x->diags, d, y->span, "declared here");
  diag_hint(x->diags, d, "its `next` stands in its own block; give the inner block a state of its own");
  return NULL;
}

static bool next_left(Elab *x, const AstStmt *s, const Symbol *y, Left *l) {
  uint32_t before = x->diags->errors;
  if (!left_from_items(x, &s->items, l, false)) {
    if (x->diags->errors == before + 1) hint_element(x, vec_last(x->diags->all), s, y, &l->labels);
    return false;
  }
  if (s->items.len != y->node->rank) {
    Diag *d = diag_add(x->diags, D_E073, s->name.span, "%s has %u dimension%s but next gives %u", y->name->s,
        y->node->rank, y->node->rank == 1 ? "" : "s", s->items.len);
    diag_at(x->diags, d, y->span, "declared here");
    diag_hint(x->diags, d, "write `next %s = ...`", y->node->rank ? shape_form(x, y) : y->name->s);
    return false;
  }
  for (uint32_t k = 0, at = 0; k < l->rank; at += l->merge[k++]) {
    if (l->merge[k] == 1) {
      label_fact(x, l->out.at[at], y->node->dim[k], s->items.at[k].span, y->name->s);
      continue;
    }
    LabelSet parts = {l->out.at + at, l->merge[k]};
    group_fact(x, parts, y->node->dim[k], s->items.at[k].span, y->name->s);
  }
  return true;
}

static void next_made(Elab *x, const AstStmt *s) {
  equation_begin(x, s->name.s);
  Symbol *y = next_of(x, s);
  if (!y || !y->node || y->state < 0) return;
  EinState *state = &x->around.block->region->states.at[y->state];
  if (state->next) {
    Diag *d = diag_add(x->diags, D_E050, s->name.span, "next %s is given twice", s->name.s->s);
    diag_at(x->diags, d, y->next, "first given here");
    return;
  }
  y->next = s->name.span;
  if (s->dtype >= 0 && (DType)s->dtype != y->node->dtype) {
    Diag *d = diag_add(x->diags, D_E089, s->dtype_span, "state %s is %s", y->name->s, dtype_name(y->node->dtype));
    diag_at(x->diags, d, y->span, "declared here");
    return;
  }
  Left l;
  bool ok = next_left(x, s, y, &l);
  l.typed = y->span, l.state = y->name;
  if (ok) state->next = elab_body(x, s->name.s, &l, s->e, (int)y->node->dtype, s->name.span);
  if (state->next) state->next = elab_by(x, s, state->next, false, x->equation.first_node);
  if (!state->next) y->state = -1;
}

static void elab_next(Elab *x, const AstStmt *s) {
  uint32_t before = x->diags->errors;
  Symbol *y = elab_spoiled(x, s) ? symbol_find(x, s->name.s, UINT32_MAX) : NULL;
  if (y) y->state = -1; /* an error in its next has been reported */
  else next_made(x, s);
  elab_done(x, s, before);
}

/* ---- the block -------------------------------------------------------------------------------- */

static void block_stmt(Elab *x, const AstStmt *s, const Inits *inits, uint32_t *n_state) {
  switch (s->kind) {
    case STMT_STATE: elab_state(x, s, inits->at[(*n_state)++]); return;
    case STMT_NEXT: elab_next(x, s); return;
    case STMT_EQUATION: elab_equation(x, s); return;
    case STMT_REPEAT: elab_repeat(x, s); return;
    default: bug("a statement of kind %d in a repeat", (int)s->kind); /* the grammar has none */
  }
}

static void block_stop(Elab *x, const AstStmt *s) {
  equation_begin(x, s->name.s);
  Core *c = scalar_core(x, s->until);
  if (!c) return;
  if (!want_bool(x, c, (Span){0}, "until")) return;
  x->around.block->region->stop = lower_equation(x, NULL, c, (LabelSet){0}, NULL, 0, DT_BOOL, c->span);
}

static void block_complete(Elab *x, const Block *b) {
  vec_each_of(const Symbol, y, b->states) {
    if (y->state < 0 || b->region->states.at[y->state].next) continue;
    Diag *d = diag_add(x->diags, D_E106, y->span, "state %s has no next", y->name->s);
    diag_hint(x->diags, d, "`next %s[...] = ...` says what it becomes; what does not change is no state", y->name->s);
  }
  if (!b->stacks.len || b->region->turns) return;
  Diag *d = diag_add(x->diags, D_E107, b->stacks.at[0]->span, "%s stacks over turns, so the bound must be a size",
      b->stacks.at[0]->name->s);
  diag_at(x->diags, d, b->turn->span, "its bound is known only when it runs");
  diag_hint(x->diags, d, "use a dim as bound, and `until` to stop before");
}

/* Defines what is visible after the block. */
static void block_results(Elab *x, Block *b) {
  vec_each_of(const Symbol, in, b->states) {
    Symbol *y = symbol_add(x, SYM_TENSOR, (AstName){in->name, in->span});
    y->quiet = true;
    y->axes = in->axes;
    if (in->state < 0) continue;
    y->node = graph_result(x->graph, x->around.region, EIN_FINAL, b->repeat, (uint32_t)in->state);
    y->node->name = in->name;
    y->node->place = place_of(x, in->span);
  }
  for (uint32_t i = 0, k = 0; i < b->stacks.len; i++) {
    Symbol *y = symbol_add(x, SYM_TENSOR, (AstName){b->stacks.at[i]->name, b->stacks.at[i]->span});
    if (!b->stack_nodes.at[i] || !b->region->turns) continue;
    y->node = graph_result(x->graph, x->around.region, EIN_STACK, b->repeat, k++);
    y->node->name = y->name;
    y->node->place = place_of(x, y->span);
  }
  Symbol *t = symbol_add(x, SYM_TURN, (AstName){b->turn->name, b->turn->span}); /* may take an earlier loop's name */
  t->kind = SYM_TENSOR;
  t->quiet = t->turns = true;
  t->node = graph_result(x->graph, x->around.region, EIN_TURNS, b->repeat, 0);
  t->node->name = t->name;
  t->node->place = place_of(x, t->span);
}

static void block_enter(Elab *x, const AstStmt *s, Block *b, const Expr *turns) {
  b->syms = (SymTable){.map = map_new(x->arena), .parent = x->around.syms};
  x->around.syms = &b->syms;
  x->around.block = b;
  x->around.region = b->region;
  vec_push(x->arena, x->around.turns, turns);
  b->turn = symbol_add(x, SYM_TURN, s->name);
  b->turn->depth = b->region->depth;
}

static void block_leave(Elab *x, Block *b) {
  x->around.block = b->parent;
  x->around.syms = b->syms.parent;
  x->around.region = b->region->parent;
  (void)vec_pop(x->around.turns);
  if (!x->diags->errors) warn_unused(x, &b->syms);
}

void elab_repeat(Elab *x, const AstStmt *s) {
  const Expr *turns = NULL;
  Inits inits = {0};
  if (x->around.turns.len >= GRAPH_DEPTH / 2) {
    diag_add(x->diags, D_E090, s->name.span, "repeat blocks are nested too deeply");
    return;
  }
  EinNode *bound = loop_bound(x, s, &turns);
  states_init(x, s, &inits);
  Block *b = MAKE(x->arena, Block, .stmt = s, .parent = x->around.block,
      .repeat = graph_repeat(x->graph, x->around.region, s->name.s));
  b->repeat->place = place_of(x, s->name.span);
  b->region = b->repeat->body;
  b->region->bound = bound;
  b->region->turns = turns;
  block_enter(x, s, b, turns);
  uint32_t n_state = 0;
  for (uint32_t i = 0; i < s->body.len; i++) block_stmt(x, s->body.at[i], &inits, &n_state);
  if (s->until) block_stop(x, s);
  if (!x->diags->errors) block_complete(x, b);
  block_leave(x, b);
  block_results(x, b);
}
