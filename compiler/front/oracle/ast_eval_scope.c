/* front/oracle/ast_eval_scope.c - names, labels and extents for the AST evaluator.
 *
 * One walk over the tree as written answers two questions about a label: is it free here, and what do bare uses say
 * about its extent (rule 2). It follows parameters and local equations to their definitions. */
#include "ast_eval_scope.h"

enum { DEPTH = 2000 };

void ast_fail(AstRun *r, Span at, const char *fmt, ...) {
  if (r->why) return;
  va_list ap;
  va_start(ap, fmt);
  r->why = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  r->where = at;
}

bool ast_enter(AstRun *r, const Ast *e) {
  if (r->why) return false;
  if (++r->work > r->limit) ast_fail(r, e->span, "too much work for the AST evaluator");
  if (r->depth >= DEPTH) ast_fail(r, e->span, "nested too deep for the AST evaluator");
  if (r->why) return false;
  r->depth++;
  return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

AstScope *ast_scope_new(AstRun *r, AstScope *up) {
  return MAKE(r->arena, AstScope, .up = up, .before = up ? up->before : r->age, .preds = up ? up->preds : NULL,
      .names = map_new(r->arena), .inner = map_new(r->arena), .checks = map_new(r->arena), .moves = map_new(r->arena));
}

void ast_scope_put(AstRun *r, AstScope *s, Str name, AstKnown k) {
  map_put(&s->names, name, arena_copy(r->arena, &k, sizeof k));
}

/* The innermost region edge around s. */
static AstScope *region(AstScope *s) {
  while (s && !s->edge) s = s->up ? s->up : s->site;
  return s;
}

/* The edge's own identity for a label of the outer region. */
static AstLabel *edge_label(AstRun *r, AstScope *edge, AstLabel *outer) {
  for (uint32_t i = 0; i < edge->labels.len; i++)
    if (edge->labels.at[i]->outer == outer) return edge->labels.at[i];
  AstLabel *l = MAKE(r->arena, AstLabel, .name = outer->name, .outer = outer, .region = edge, .home = edge->edge,
      .scope = edge, .written = -1, .extent = -1);
  vec_push(r->arena, edge->labels, l);
  return l;
}

AstLabel *ast_label_behind(AstRun *r, AstScope *edge, AstLabel *l) {
  AstScope *outside = region(edge->up);
  while (l && l->region != outside) l = l->outer;
  return l ? edge_label(r, edge, l) : NULL;
}

AstLabel *ast_label_here(AstRun *r, AstScope *s, AstLabel *l) {
  AstScope *edge = region(s);
  if (!edge || edge == l->region) return l;
  return edge_label(r, edge, ast_label_here(r, edge->up, l));
}

bool ast_label_within(const AstLabel *l, const AstLabel *outer) {
  while (l && l != outer) l = l->outer;
  return l != NULL;
}

AstKnown *ast_scope_find(AstRun *r, AstScope *s, Str name) {
  for (; s; s = s->up) {
    AstKnown *k = map_find(&s->names, name);
    if (k) return k;
    if (!s->edge) continue;
    k = ast_scope_find(r, s->up, name);
    if (!k || !k->label) return k;
    ast_scope_put(r, s, name, (AstKnown){.label = edge_label(r, s, k->label), .param = k->param});
    return map_find(&s->names, name);
  }
  return NULL;
}

AstGlobal *ast_global_find(const AstRun *r, const AstScope *s, Str name) {
  AstGlobal *g = map_find(&r->globals, name);
  return g && g->age < s->before ? g : NULL;
}

/* A bare name in brackets that means a number, and so cannot be a label (rule 4). */
static bool means_number(const AstRun *r, const AstScope *s, Str name) {
  const AstGlobal *g = ast_global_find(r, s, name);
  return g && !g->def && !g->monoid && !g->external && (!g->tensor || g->tensor->rank == 0);
}

bool ast_item_name(const AstItem *it, AstName *out) {
  bool bare = it->kind == ITEM_EXPR && it->e->kind == AST_NAME;
  *out = bare ? it->e->name : it->name;
  return bare || it->kind == ITEM_SIZED;
}

/* ---- scopes of reducers ---------------------------------------------------------------------- */

AstLabel *ast_label_new(AstRun *r, AstScope *s, AstName name, const Ast *home,
                        AstScope *home_scope) {
  AstLabel *l = MAKE(r->arena, AstLabel, .name = name.s, .region = region(s), .home = home, .scope = home_scope,
      .written = -1, .extent = -1);
  if (!name.s) return l;
  if (means_number(r, s, name.s))
    ast_fail(r, name.span, "%s cannot be a label: it has another meaning", name.s->s);
  if (map_find(&s->names, name.s)) ast_fail(r, name.span, "label %s is bound twice", name.s->s);
  ast_scope_put(r, s, name.s, (AstKnown){.label = l});
  return l;
}

static void reduce_item(AstRun *r, AstScope *s, AstScope *c, const AstItem *it, const Ast *e) {
  AstName name;
  if (it->kind == ITEM_GROUP) {
    for (uint32_t i = 0; i < it->part.len; i++) reduce_item(r, s, c, &it->part.at[i], e);
    return;
  }
  if (!ast_item_name(it, &name)) {
    ast_fail(r, it->span, "a reducer runs over labels");
    return;
  }
  AstKnown *k = ast_scope_find(r, s, name.s);
  if (k && k->closure) ast_fail(r, name.span, "%s cannot be a label: it is a parameter", name.s->s);
  AstLabel *l = k && k->param ? k->label : ast_label_new(r, c, name, e, s);
  for (uint32_t i = 0; i < c->labels.len; i++)
    if (c->labels.at[i] == l) ast_fail(r, name.span, "label %s is bound twice", name.s->s);
  vec_push(r->arena, c->labels, l);
}

/* For `(a)[i = e]`: where i is no label outside, the brackets bind it for a. */
AstScope *ast_scope_of_subst(AstRun *r, AstScope *s, const Ast *e) {
  AstScope *c = map_find(&s->inner, e);
  if (c) return c;
  c = ast_scope_new(r, s);
  map_put(&s->inner, e, c);
  vec_each(const AstItem, it, e->items) {
    if (it->kind == ITEM_BIND && !ast_scope_find(r, s, it->name.s))
      ast_label_new(r, c, it->name, e->a, c);
  }
  return c;
}

/* `sum(e)`: finds names in e that can only be labels. s: the scope of e's part; c: where they are added. */
static void loose(AstRun *r, const Ast *e, AstScope *s, AstScope *c, const Ast *node);

static void loose_name(AstRun *r, AstName n, AstScope *s, AstScope *c, const Ast *node) {
  if (ast_scope_find(r, s, n.s) || means_number(r, s, n.s) || map_find(&c->names, n.s)) return;
  AstLabel *l = ast_label_new(r, c, n, node, c->up);
  vec_push(r->arena, c->labels, l);
}

static void loose_items(AstRun *r, const AstItems *items, AstScope *s, AstScope *c,
                        const Ast *node) {
  vec_each(const AstItem, it, *items) {
    if (it->kind == ITEM_SIZED)
      loose_name(r, it->name, s, c, node);
    else if (it->kind == ITEM_GROUP)
      loose_items(r, &it->part, s, c, node);
    else
      loose(r, it->e, s, c, node);
  }
}

static bool is_monoid(AstRun *r, AstScope *s, const Ast *e) {
  if (e->kind != AST_CALL || !e->bracketed) return false;
  const AstGlobal *g = ast_global_find(r, s, e->name.s);
  return g && g->monoid;
}

static void loose(AstRun *r, const Ast *e, AstScope *s, AstScope *c, const Ast *node) {
  if (!e || !ast_enter(r, e)) return;
  if ((e->kind == AST_REDUCE && !e->call_form) || is_monoid(r, s, e))
    s = ast_scope_of_reduce(r, s, e);
  else if (e->kind == AST_NAME)
    loose_name(r, e->name, s, c, node);
  else if (e->kind != AST_REDUCE)
    loose_items(r, &e->items, s, c, node);
  if (e->kind != AST_REDUCE || !e->call_form) {
    if (e->kind == AST_SUBST) s = ast_scope_of_subst(r, s, e);
    loose(r, e->where, s, c, node);
    loose(r, e->a, s, c, node);
    loose(r, e->b, s, c, node);
    loose(r, e->c, s, c, node);
    for (uint32_t i = 0; i < e->args.len; i++) loose(r, e->args.at[i], s, c, node);
  }
  r->depth--;
}

/* Candidates that the expression itself binds (`norm[j](x[i,j])` has no j) stay known, but are not iterated over. */
static void reduce_all(AstRun *r, AstScope *s, AstScope *c, const Ast *e) {
  loose(r, e->a, s, c, e);
  AstLabels all = c->labels;
  c->labels = (AstLabels){0};
  for (uint32_t i = 0; i < all.len; i++) {
    int64_t extent;
    if (ast_label_free(r, all.at[i], e->a, c, &extent)) vec_push(r->arena, c->labels, all.at[i]);
  }
}

AstScope *ast_scope_of_reduce(AstRun *r, AstScope *s, const Ast *e) {
  AstScope *c = map_find(&s->inner, e);
  if (c) return c;
  c = ast_scope_new(r, s);
  map_put(&s->inner, e, c);
  for (uint32_t i = 0; i < e->items.len; i++) reduce_item(r, s, c, &e->items.at[i], e);
  if (e->kind == AST_REDUCE && e->call_form) reduce_all(r, s, c, e);
  return c;
}

/* ---- scopes of calls ------------------------------------------------------------------------- */

static AstLabel *call_label(AstRun *r, AstScope *s, AstScope *c, const AstItem *it, const Ast *e) {
  AstName name;
  if (!ast_item_name(it, &name)) {
    ast_fail(r, it->span, "a def's label argument is a label, or label:size");
    return NULL;
  }
  AstKnown *k = ast_scope_find(r, s, name.s);
  if (k && k->closure) ast_fail(r, name.span, "%s cannot be a label: it is a parameter", name.s->s);
  return k && k->label ? k->label : ast_label_new(r, c, name, e, s);
}

static AstClosure *closure_new(AstRun *r, const Ast *e, AstScope *s, bool argument, int8_t dtype) {
  return MAKE(r->arena, AstClosure, .e = e, .scope = s, .argument = argument, .dtype = dtype);
}

static void call_argument(AstRun *r, AstScope *c, Str name, const Ast *e) {
  AstScope *edge = ast_scope_new(r, c);
  edge->edge = e;
  ast_scope_put(r, c->body, name, (AstKnown){.closure = closure_new(r, e, edge, true, -1)});
}

/* The predicate restricts the label arguments that it mentions, or all of them. */
static void call_pred(AstRun *r, AstScope *c, const Ast *p) {
  AstPred *q = MAKE(r->arena, AstPred, .next = c->preds, .p = p, .scope = c);
  c->body->preds = q; /* first: asking for a label's extent looks into the body, and the scopes made there inherit it */
  for (uint32_t i = 0; i < c->labels.len; i++) {
    int64_t extent;
    if (ast_label_free(r, c->labels.at[i], p, c, &extent))
      vec_push(r->arena, q->labels, c->labels.at[i]);
  }
  if (!q->labels.len) q->labels = c->labels;
}

static void call_locals(AstRun *r, AstScope *d, const AstStmt *def) {
  vec_each_of(const AstStmt, eq, def->body) {
    if (eq->bracketed) ast_fail(r, eq->span, "a def's local equation with labels on its left");
    if (map_find(&d->names, eq->name.s))
      ast_fail(r, eq->name.span, "%s is defined twice", eq->name.s->s);
    ast_scope_put(r, d, eq->name.s,
                  (AstKnown){.closure = closure_new(r, eq->e, d, false, eq->dtype)});
  }
}

AstScope *ast_scope_of_call(AstRun *r, AstScope *s, const Ast *e, const AstGlobal *g) {
  AstScope *c = map_find(&s->inner, e);
  const AstStmt *def = g->def;
  if (c) return c;
  c = ast_scope_new(r, s);
  map_put(&s->inner, e, c);
  AstScope *d = c->body = ast_scope_new(r, NULL);
  d->site = c;
  d->before = g->age;
  d->preds = s->preds;
  if (ast_results(def) != (e->result ? e->results : 1)) {
    ast_fail(r, e->span, "%s gives %u results", def->name.s->s, ast_results(def));
    return c;
  }
  if (!ast_labels_fit(def, e) || e->args.len != def->params.len) {
    ast_fail(r, e->span, "%s takes %u labels and %u arguments", def->name.s->s, def->items.len,
             def->params.len);
    return c;
  }
  AstOfGroups groups = ast_of_groups(r->arena, r->e->strings, def, e);
  if (groups.wrong.s) ast_fail(r, groups.wrong.span, "a substitution for a group");
  c->def = def = groups.def;
  c->call = groups.call;
  for (uint32_t i = 0; i < c->call->items.len; i++) {
    AstName name;
    AstLabel *l = call_label(r, s, c, &c->call->items.at[i], e);
    if (!ast_item_name(&def->items.at[i], &name))
      ast_fail(r, def->span, "a def's labels are bare names");
    if (r->why) return c;
    vec_push(r->arena, c->labels, l);
    ast_scope_put(r, d, name.s, (AstKnown){.label = l, .param = true});
  }
  for (uint32_t i = 0; i < e->args.len; i++)
    call_argument(r, c, def->params.at[i].s, e->args.at[i]);
  call_locals(r, d, def);
  if (e->where) call_pred(r, c, e->where);
  return c;
}

/* ---- the walk -------------------------------------------------------------------------------- */

typedef struct Walk {
  AstRun *r;
  AstLabel *target;
  int64_t extent;
  bool free;
  Map seen; /* closures walked; those under a reducer over the target separately */
} Walk;

static int64_t extent_of(AstRun *r, AstLabel *l);
static void walk(Walk *w, const Ast *e, AstScope *s, bool bound);

static void meets(Walk *w, int64_t extent, Span at) {
  if (extent < 0 || w->extent == extent) return;
  if (w->extent >= 0)
    ast_fail(w->r, at, "label %s is %lld here but %lld elsewhere", w->target->name->s,
             (long long)extent, (long long)w->extent);
  w->extent = extent;
}

static bool is_target(const Walk *w, const AstLabel *l) {
  return l && ast_label_within(w->target, l);
}

static void walk_label(Walk *w, AstName name, AstScope *s, bool bound, int64_t extent) {
  AstKnown *k = ast_scope_find(w->r, s, name.s);
  if (!k || !is_target(w, k->label)) return;
  if (!bound) w->free = true;
  meets(w, extent, name.span);
}

static void walk_group(Walk *w, const AstItem *it, AstScope *s, bool bound, int64_t extent) {
  bool here = false;
  int64_t others = 1;
  for (uint32_t i = 0; i < it->part.len; i++) {
    AstName name;
    const AstItem *p = &it->part.at[i];
    if (p->kind == ITEM_SIZED) walk_label(w, p->name, s, bound, ast_size_value(w->r, p->e, s));
    if (!ast_item_name(p, &name)) continue;
    walk_label(w, name, s, bound, -1);
    AstKnown *k = ast_scope_find(w->r, s, name.s);
    if (!k || !k->label) continue;
    if (!here && is_target(w, k->label)) {
      here = true;
      continue;
    }
    int64_t n = extent_of(w->r, k->label);
    if (n < 0 || others < 0 || !mul_ok(others, n, &others)) others = -1;
  }
  if (!here || extent < 0 || others <= 0) return;
  if (extent % others)
    ast_fail(w->r, it->span, "%lld does not divide by %lld", (long long)extent, (long long)others);
  meets(w, extent / others, it->span);
}

static void walk_item(Walk *w, const AstItem *it, AstScope *s, bool bound, int64_t extent) {
  AstName name;
  if (it->kind == ITEM_GROUP) {
    walk_group(w, it, s, bound, extent);
  } else if (ast_item_name(it, &name)) {
    AstKnown *k = ast_scope_find(w->r, s, name.s);
    if (k && k->closure) walk(w, it->e, s, bound);
    walk_label(w, name, s, bound, extent);
    if (it->kind == ITEM_SIZED && k && is_target(w, k->label))
      meets(w, ast_size_value(w->r, it->e, s), it->span);
  } else {
    walk(w, it->e, s, bound);
  }
}

static void walk_items(Walk *w, const AstItems *items, AstScope *s, bool bound) {
  for (uint32_t i = 0; i < items->len; i++) walk_item(w, &items->at[i], s, bound, -1);
}

static void walk_closure(Walk *w, const AstClosure *c, bool bound) {
  const char *key = (const char *)c + bound;
  if (!c->e || map_find(&w->seen, key)) return;
  map_put(&w->seen, key, w);
  AstLabel *target = w->target;
  if (c->argument) w->target = ast_label_behind(w->r, c->scope, target);
  if (w->target) walk(w, c->e, c->scope, bound);
  w->target = target;
}

/* The items of a substitution; true if they give the target another value. */
static bool walk_substitution(Walk *w, const Ast *e, AstScope *s, bool bound) {
  bool replaced = false;
  vec_each(const AstItem, it, e->items) {
    if (it->kind != ITEM_BIND) continue;
    AstKnown *k = ast_scope_find(w->r, s, it->name.s);
    if (k && is_target(w, k->label)) replaced = true;
    walk(w, it->e, s, bound);
  }
  return replaced;
}

static void walk_index(Walk *w, const Ast *e, AstScope *s, bool bound) {
  AstKnown *k = ast_scope_find(w->r, s, e->name.s);
  AstGlobal *g = ast_global_find(w->r, s, e->name.s);
  if (k && k->closure) {
    if (!walk_substitution(w, e, s, bound)) walk_closure(w, k->closure, bound);
    return;
  }
  bool fits = g && g->tensor && g->tensor->rank == e->items.len;
  for (uint32_t i = 0; i < e->items.len; i++)
    walk_item(w, &e->items.at[i], s, bound, fits ? g->tensor->shape[i] : -1);
}

static void walk_reduce(Walk *w, const Ast *e, AstScope *s, bool bound) {
  AstScope *c = ast_scope_of_reduce(w->r, s, e);
  for (uint32_t i = 0; i < c->labels.len; i++)
    if (is_target(w, c->labels.at[i])) bound = true;
  vec_each(const AstItem, it, e->items) {
    if (it->kind == ITEM_GROUP)
      walk_items(w, &it->part, c, bound);
    else
      walk_item(w, it, c, bound, -1);
  }
  walk(w, e->where, c, bound);
  walk(w, e->a, c, bound);
  for (uint32_t i = 0; i < e->args.len; i++) walk(w, e->args.at[i], c, bound);
}

static void walk_call(Walk *w, const Ast *e, AstScope *s, bool bound) {
  AstGlobal *g = ast_global_find(w->r, s, e->name.s);
  if (is_monoid(w->r, s, e)) {
    walk_reduce(w, e, s, bound);
  } else if (g && g->def) {
    AstScope *c = ast_scope_of_call(w->r, s, e, g);
    if (w->r->why) return;
    for (uint32_t i = 0; i < c->call->items.len; i++) walk_item(w, &c->call->items.at[i], c, true, -1);
    walk(w, e->where, c, bound);
    for (uint32_t i = 0; i < c->def->body.len; i++) walk(w, c->def->body.at[i]->e, c->body, true);
    walk(w, ast_result(c->def, e), c->body, bound);
  } else {
    walk_items(w, &e->items, s, bound);
    for (uint32_t i = 0; i < e->args.len; i++) walk(w, e->args.at[i], s, bound);
  }
}

static void walk(Walk *w, const Ast *e, AstScope *s, bool bound) {
  AstKnown *k;
  if (!e || !ast_enter(w->r, e)) return;
  switch (e->kind) {
  case AST_NAME:
    k = ast_scope_find(w->r, s, e->name.s);
    if (k && k->closure)
      walk_closure(w, k->closure, bound);
    else
      walk_label(w, e->name, s, bound, -1);
    break;
  case AST_INDEX: walk_index(w, e, s, bound); break;
  case AST_SUBST:
    if (!walk_substitution(w, e, s, bound)) walk(w, e->a, ast_scope_of_subst(w->r, s, e), bound);
    break;
  case AST_REDUCE: walk_reduce(w, e, s, bound); break;
  case AST_CALL: walk_call(w, e, s, bound); break;
  case AST_SIZE: break;
  case AST_LIST:
    walk_label(w, e->name, s, bound, e->args.len);
    for (uint32_t i = 0; i < e->args.len; i++) walk(w, e->args.at[i], s, bound);
    break;
  default:
    walk(w, e->a, s, bound);
    walk(w, e->b, s, bound);
    walk(w, e->c, s, bound);
  }
  w->r->depth--;
}

bool ast_label_free(AstRun *r, AstLabel *l, const Ast *e, AstScope *s, int64_t *extent) {
  Walk w = {.r = r, .target = l, .extent = -1, .seen = map_new(r->arena)};
  walk(&w, e, s, false);
  *extent = w.extent;
  return w.free;
}

/* An argument that does not determine its own label's extent takes the call's. */
static int64_t extent_of(AstRun *r, AstLabel *l) {
  if (l->extent >= 0) return l->extent;
  if (l->busy) return -1;
  l->busy = true;
  Walk w = {.r = r, .target = l, .extent = l->written, .seen = map_new(r->arena)};
  walk(&w, l->home, l->scope, false);
  if (w.extent < 0 && l->outer) w.extent = extent_of(r, l->outer);
  l->busy = false;
  return l->extent = w.extent;
}

int64_t ast_label_size(AstRun *r, AstLabel *l, Span at) {
  int64_t n = extent_of(r, l);
  if (n < 0) ast_fail(r, at, "nothing says how far label %s goes", l->name ? l->name->s : "?");
  return n < 0 ? 0 : n;
}
