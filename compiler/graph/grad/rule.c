/* graph/grad/rule.c - a vertex with a stated adjoint. Its contributions to its operands are the stated vertices,
 * with its own adjoint in place of the one that they read; anything between the vertex and its operands is ignored. */
#include <string.h>

#include "inside.h"

typedef struct Instance {    /* the stated vertices, for one adjoint */
  Gradients *all;
  const GradRule *rule;
  EinRegion *to;
  Map copy;                  /* stated vertex -> its copy here */
  Nodes made;                /* originals of copies that state their adjoints themselves */
  struct Instance *next;
} Instance;

void gradient_rule(Gradients *all, const GradRule *rule) {
  map_put(&all->rules, rule->result, arena_copy(all->arena, rule, sizeof *rule));
}

const GradRule *rule_of(const Gradients *all, const EinNode *n) { return map_find(&all->rules, n); }

/* ---- a copy of a rule, for a copy of its vertex --------------------------------------------------------- */

static EinNode *copy_of(const Map *copy, EinNode *n) {
  EinNode *c = map_find(copy, n);
  return c ? c : n;
}

void rule_again(Gradients *all, const GradRule *rule, const Map *copy, NodeCopy *again, void *env) {
  GradRule to = {.result = copy_of(copy, rule->result), .name = rule->name, .n = rule->n};
  to.region = arena_copy(all->arena, to.result->region, sizeof *to.region);
  memset(&to.region->nodes, 0, sizeof to.region->nodes);
  to.by = NEW_ARRAY(all->arena, EinNode *, rule->n + 1);
  to.adjoint = NEW_ARRAY(all->arena, EinNode *, rule->n + 1);
  for (uint32_t i = 0; i < rule->region->nodes.len; i++) again(env, to.region, rule->region->nodes.at[i]);
  to.above = rule->above ? copy_of(copy, rule->above) : NULL;
  for (uint32_t k = 0; k < rule->n; k++) {
    to.by[k] = copy_of(copy, rule->by[k]);
    to.adjoint[k] = rule->adjoint[k] ? copy_of(copy, rule->adjoint[k]) : NULL;
  }
  gradient_rule(all, &to);
}

/* ---- what was stated, in a region ------------------------------------------------------------------------ */

typedef struct Leaf { Instance *in; const EinNode *of; } Leaf;

static const Expr *leaf_here(void *env, Exprs *p, const Expr *e) {
  const Leaf *x = env;
  (void)p;
  return e->kind == EX_READ ? id_read(x->in->all, copy_of(&x->in->copy, x->of->input[e->i]), e->n, e->arg) : e;
}

static EinNode *vertex_here(void *env, EinRegion *to, EinNode *n) {
  Instance *in = env;
  Leaf x = {in, n};
  EinSum s = *n->sum;
  sum_map(in->all->g->exprs, &s, leaf_here, &x);
  EinNode **input = graph_canonical_slots(in->all->g, &s, in->all->by_id.at);
  EinNode *m = graph_vertex(in->all->g, to, graph_sum(in->all->g, &s), n->bound, n->label, n->rank, n->merge, input);
  m->name = n->name;
  m->place = n->place;
  map_put(&in->copy, n, m);
  if (rule_of(in->all, n)) vec_push(in->all->arena, in->made, n);
  return m;
}

static void push_inputs(Arena *a, const EinNode *n, Nodes *todo) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++) vec_push(a, *todo, n->input[k]);
}

/* Finds the stated vertices that it needs: those that it reads, and those that their rules read. */
static void needed_find(Instance *in, EinNode *top, Map *needed) {
  Arena *a = in->all->arena;
  Nodes todo = {0};
  vec_push(a, todo, top);
  while (todo.len) {
    EinNode *n = vec_pop(todo);
    const GradRule *own = rule_of(in->all, n);
    if (n->region != in->rule->region || map_find(needed, n)) continue;
    map_put(needed, n, n);
    push_inputs(a, n, &todo);
    for (uint32_t i = 0; own && i < own->n; i++) vec_push(a, todo, own->by[i]);
    for (uint32_t i = 0; own && i < own->region->nodes.len; i++) push_inputs(a, own->region->nodes.at[i], &todo);
  }
}

static EinNode *stated_here(Instance *in, EinNode *top) {
  Map needed = map_new(in->all->arena);
  uint32_t done = in->made.len;
  needed_find(in, top, &needed);
  vec_each_of(EinNode, n, in->rule->region->nodes)
    if (map_find(&needed, n) && !map_find(&in->copy, n)) vertex_here(in, in->to, n);
  for (; done < in->made.len; done++)
    rule_again(in->all, rule_of(in->all, in->made.at[done]), &in->copy, vertex_here, in);
  return copy_of(&in->copy, top);
}

static Instance *instance_of(Gradients *all, EinRegion *r, const GradRule *rule, EinNode *adjoint) {
  Instance *first = map_find(&all->stated, adjoint), *in = first;
  while (in && (in->rule != rule || in->to != r)) in = in->next;
  if (in) return in;
  in = MAKE(all->arena, Instance, .all = all, .rule = rule, .to = r, .copy = map_new(all->arena), .next = first);
  if (rule->above) map_put(&in->copy, rule->above, adjoint);
  map_put(&all->stated, adjoint, in);
  return in;
}

/* ---- what it says nothing of ----------------------------------------------------------------------------- */

static bool is_by(const GradRule *rule, const EinNode *n) {
  for (uint32_t k = 0; k < rule->n; k++)
    if (rule->by[k] == n) return true;
  return false;
}

/* The nodes that a gradient of n follows: no conditions, indices or predicates. */
static Nodes followed_from(const Gradients *all, EinNode *n) {
  Arena *a = all->arena;
  Nodes out = {0};
  VEC(const Expr *) todo = {0};
  Map met = map_new(a);
  if (n->kind != EIN_VERTEX) return operands_of(all, n);
  vec_push(a, todo, n->sum->body);
  while (todo.len) {
    const Expr *e = vec_pop(todo);
    if (!dtype_is_float((DType)e->dtype) || map_find(&met, e) || (e->kind == EX_OP && e->op == OP_STOP)) continue;
    map_put(&met, e, (void *)(uintptr_t)1);
    if (e->kind == EX_READ) vec_push(a, out, n->input[e->i]);
    for (uint32_t k = 0; e->kind == EX_OP && k < e->n; k++) vec_push(a, todo, e->arg[k]);
  }
  return out;
}

/* An end of what is followed that its body reaches without its parameters; NULL: there is none. */
static const EinNode *past_parameters(Gradients *all, const GradRule *rule, const bool *active) {
  Arena *a = all->arena;
  Map met = map_new(a);
  Nodes todo = followed_from(all, rule->result);
  while (todo.len) {
    EinNode *n = vec_pop(todo);
    if (!active[n->id] || is_by(rule, n) || map_find(&met, n)) continue;
    map_put(&met, n, n);
    Nodes from = followed_from(all, n);
    bool on = false;
    for (uint32_t k = 0; k < from.len; k++) on |= active[from.at[k]->id] || is_by(rule, from.at[k]);
    if (!on) return n;
    for (uint32_t k = 0; k < from.len; k++) vec_push(a, todo, from.at[k]);
  }
  return NULL;
}

bool rule_adjoint(Gradients *all, EinRegion *r, const GradRule *rule, EinNode *adjoint, const bool *active, Shares *out,
    GradTrouble *t) {
  const EinNode *past = past_parameters(all, rule, active);
  if (past) {
    const char *what = past->name ? past->name->s : "a tensor";
    *t = (GradTrouble){.at = rule->result,
        .why = arena_printf(all->arena, "the adjoint that %s states does not mention %s, which is no parameter of it",
            rule->name->s, what)};
    return false;
  }
  Instance *in = instance_of(all, r, rule, adjoint ? adjoint : vertex_constant(all, r, rule->result, 1));
  for (uint32_t k = 0; k < rule->n; k++)
    if (rule->adjoint[k] && active[rule->by[k]->id])
      vec_push(all->arena, *out, ((Share){rule->by[k], stated_here(in, rule->adjoint[k])}));
  return true;
}

/* ---- after all gradients ---------------------------------------------------------------------------------- */

typedef struct Settle { Gradients *all; EinNode *of; } Settle;

static bool is_read_alone(const EinNode *n) {
  if (n->kind != EIN_VERTEX || n->rank != n->sum->n_out) return false;
  const EinSum *s = n->sum;
  bool same = s->reducer == RED_NONE && !s->where && !s->domain && s->body->kind == EX_READ && s->acc == s->dtype &&
      s->body->dtype == (int)s->dtype;
  for (uint32_t k = 0; same && k < s->body->n; k++) same = !(s->body->arg[k]->has & HAS_READ);
  return same;
}

/* The vertex of a rule that n is an unchanged copy of; NULL: none. */
static EinNode *copied(const Gradients *all, const EinNode *n) {
  if (!is_read_alone(n) || n->rank != n->sum->body->n) return NULL;
  EinNode *of = n->input[0];
  bool same = of->region == n->region && of->rank == n->rank && rule_of(all, of);
  for (uint32_t k = 0; same && k < n->rank; k++) {
    const Expr *at = n->sum->body->arg[k];
    same = at->kind == EX_LABEL && at->i == k && of->dim[k] == n->dim[k];
  }
  return same ? of : NULL;
}

/* Whether it is a vertex that nobody wrote as an equation, or a copy of a def's result. */
static bool is_passed(const Gradients *all, const EinNode *n) {
  return is_read_alone(n) && (!n->name || strchr(n->name->s, '.') || copied(all, n));
}

static const Expr *source_of(Settle *x, Exprs *p, const EinNode *n, uint32_t rank, const Expr *const *index) {
  const Expr *read = n->sum->body, **at = NEW_ARRAY(x->all->arena, const Expr *, read->n + 1);
  for (uint32_t k = 0; k < read->n; k++) at[k] = expr_relabel(p, read->arg[k], rank, index);
  return id_read(x->all, n->input[0], read->n, at);
}

/* A read of a vertex that is itself a read becomes a read of the latter's operand. */
static const Expr *leaf_settled(void *env, Exprs *p, const Expr *e) {
  Settle *x = env;
  if (e->kind != EX_READ) return e;
  EinNode *n = x->of->input[e->i];
  e = id_read(x->all, n, e->n, e->arg);
  while (is_passed(x->all, n)) {
    e = source_of(x, p, n, e->n, e->arg);
    n = n->input[0];
  }
  return e;
}

static bool reads_passed(const Gradients *all, const EinNode *n) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++)
    if (is_passed(all, n->input[k])) return true;
  return false;
}

static void vertex_settle(Gradients *all, EinNode *n) {
  Settle x = {all, n};
  EinSum s = *n->sum;
  sum_map(all->g->exprs, &s, leaf_settled, &x);
  EinNode **input = graph_canonical_slots(all->g, &s, all->by_id.at);
  n->sum = graph_sum(all->g, &s);
  n->input = arena_copy(all->g->arena, input, s.n_slot * sizeof *input);
}

/* The program's own tensors that are a def's result are not copies of it: it takes the name of the first, and
 * replaces it. */
static void result_name(Gradients *all, EinNode *n) {
  EinNode *of = n->name && !strchr(n->name->s, '.') ? copied(all, n) : NULL;
  if (!of || of->name != rule_of(all, of)->name) return;
  of->name = n->name, of->place = n->place;
  n->name = NULL;
}

static void settle_end(Gradients *all, EinNode **at) {
  EinNode *of = *at && (*at)->kind == EIN_VERTEX && !(*at)->name ? copied(all, *at) : NULL;
  if (of) *at = of;
}

static void region_settle(Gradients *all, EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    EinNode *n = r->nodes.at[i];
    if (n->kind == EIN_REPEAT) region_settle(all, n->body);
    if (n->kind != EIN_VERTEX) continue;
    if (reads_passed(all, n)) vertex_settle(all, n);
    result_name(all, n);
  }
  for (uint32_t i = 0; i < r->states.len; i++) settle_end(all, &r->states.at[i].next);
  for (uint32_t i = 0; i < r->stacks.len; i++) settle_end(all, &r->stacks.at[i].node);
}

void gradient_rules_settle(Gradients *all) {
  if (!all->rules.len) return;
  region_settle(all, all->g->top);
  for (uint32_t i = 0; i < all->g->outputs.len; i++) settle_end(all, &all->g->outputs.at[i].node);
}
