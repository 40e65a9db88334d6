/* algebra/rules/make.c - builds the result of a rule, and puts it in place of the pattern's root. */
#include <string.h>

#include "expr/sum/law.h"
#include "inside.h"

/* ---- types ------------------------------------------------------------------------------------------------ */

static bool merges(const Relation *t, const AlgFn *f) {
  uint32_t d = 0;
  for (uint32_t k = 0; k < f->n; k++) {
    uint32_t end = d + f->merge[k];
    int64_t extent;
    while (d + 1 < end && rel_is_whole(&t->dim[d], &extent) && extent == 1) d++;
    for (d++; d < end; d++)
      if (d >= t->rank || !rel_is_whole(&t->dim[d], &extent)) return false;
    d = end;
  }
  return d == t->rank;
}

/* A node of this type, followed by functions; false where they do not apply. */
static bool type_functions(RuleMatch *m, Relation *type, uint32_t n, const AlgFn *fn) {
  for (uint32_t k = 0; k < n; k++) {
    AlgNode of = {.kind = ALG_MAP, .type = *type};
    if (fn[k].kind == FN_MERGE && !merges(type, &fn[k])) return false;
    if (fn[k].kind == FN_PLACE && !type->places) return false;
    *type = alg_transform(m->p, &m->scratch, &of, 1, &fn[k])->type;
  }
  return true;
}

const Str *names_fresh(RuleMatch *m, const Relation *t, uint32_t n, const Str *key) {
  Str *taken = COPY_ARRAY(m->p->arena, Str, t->key, t->n_key, t->n_key + n + 1), *out = taken + t->n_key;
  for (uint32_t k = 0; k < n; k++) out[k] = str_apart(m->p->strings, t->n_key + k, taken, key[k]);
  return out;
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static AlgNode *make_map(RuleMatch *m, const AlgNode *draft, AlgNode *of) {
  AlgNode *x;
  if (draft->n_piece && draft->operand[0].node->type.rank != of->type.rank) return NULL;
  if (draft->n_piece) {
    const Str *key = names_fresh(m, &of->type, draft->n_piece, draft->key);
    x = alg_tile(m->p, &m->scratch, of, draft->n_piece, draft->frontier, key, draft->piece);
  } else {
    x = alg_transform(m->p, &m->scratch, of, 0, NULL);
  }
  x->n_fn = draft->n_fn;
  x->fn = draft->fn;
  x->rekey = draft->rekey;
  if (!type_functions(m, &x->type, x->n_fn, x->fn)) return NULL;
  if (draft->rekey) {
    Relation t = draft->type;
    t.dtype = x->type.dtype, t.places = x->type.places;
    x->type = t;
    RuleValue through = {.sort = SORT_MAP, .node = x};
    if (placement_equal(&m->p->mesh, &of->at, &draft->operand[0].node->at)) x->at = draft->at;
    else if (!place_image(m->p, &through, &of->at, &x->at)) return NULL;
  }
  x->type.holes = of->type.holes || (draft->type.holes && (draft->n_piece || draft->rekey));
  return x;
}

static AlgNode *make_aggregate(RuleMatch *m, const RuleValue *g, const AlgNode *draft, AlgNode *of) {
  AlgNode *x;
  for (uint32_t k = 0; k < g->n; k++)
    if (g->group[k] >= of->type.n_key) return NULL;
  if (draft->reducer == RED_NONE && draft->type.rank != of->type.rank) return NULL;
  if (draft->reducer == RED_NONE) x = alg_concat(m->p, &m->scratch, of, g->n, g->group, draft->type.dim);
  else x = alg_aggregate(m->p, &m->scratch, of, g->n, g->group, draft->reducer, draft->monoid);
  x->n_fn = draft->n_fn;
  x->fn = draft->fn;
  return type_functions(m, &x->type, x->n_fn, x->fn) ? x : NULL;
}

/* Drops operands that the kernel no longer reads; orders the others as it reads them. */
static AlgNode *make_join(RuleMatch *m, const AlgNode *draft, AlgNode *const *operand) {
  Algebra *p = m->p;
  AlgOperand *o = arena_copy(p->arena, draft->operand, (draft->n_operand + 1) * sizeof *o);
  EinSum *s = arena_copy(p->arena, draft->sum, sizeof *s);
  const uint32_t *slot = sum_canonical_slots(p->arena, p->exprs, s, NULL, NULL);
  for (uint32_t k = 0; k < s->n_slot; k++) o[k] = draft->operand[slot[k]], o[k].node = operand[slot[k]];
  s->hash = sum_hash(s);
  AlgNode *x = alg_join(p, &m->scratch, s->n_slot, o, s, draft->label, draft->range, draft->type.n_key,
      draft->type.frontier, draft->type.key, &draft->at);
  x->type.holes = draft->type.holes;
  x->n_fn = draft->n_fn;
  x->fn = draft->fn;
  return alg_join_meets(p, x) && type_functions(m, &x->type, x->n_fn, x->fn) ? x : NULL;
}

/* A fetch of the last operand, the table, which may be anywhere. */
static AlgNode *make_fetch(RuleMatch *m, const AlgNode *draft, AlgNode *const *operand) {
  AlgOperand *o = arena_copy(m->p->arena, draft->operand, (draft->n_operand + 1) * sizeof *o);
  for (uint32_t k = 0; k < draft->n_operand; k++) o[k].node = operand[k];
  AlgNode *x = alg_fetch(m->p, &m->scratch, o, draft->sum->body, draft->sum->n_out, draft->label, draft->range,
      draft->type.n_key, draft->type.frontier, draft->type.key, &draft->at);
  return alg_join_meets(m->p, x) ? x : NULL;
}

/* Below the root, a move that moves nothing is dropped. */
static AlgNode *make_move(RuleMatch *m, const RuleTerm *t, const Placement *to, AlgNode *of) {
  if (t != m->rule->to && placement_equal(&m->p->mesh, to, &of->at)) return of;
  for (uint32_t a = 0; a < m->p->mesh.n; a++) {
    if (to->on[a] == PLACE_PART && of->at.on[a] != PLACE_PART) return NULL;
    if (to->on[a] >= 0 && (uint32_t)to->on[a] >= of->type.n_key) return NULL;
  }
  AlgNode *x = alg_move(m->p, &m->scratch, of, to);
  return t->bcast && !alg_is_broadcast(m->p, x) ? NULL : x;
}

/* Below the root, a filter that keeps everything is dropped. */
static AlgNode *make_filter(RuleMatch *m, const RuleTerm *t, const Expr *keep, AlgNode *of) {
  if (t != m->rule->to && keep == expr_bool(m->p->exprs, true)) return of;
  return alg_filter(m->p, &m->scratch, of, keep);
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* NULL: some function has no value. */
static AlgNode *term_make(RuleMatch *m, const RuleTerm *t);

static bool make_operands(RuleMatch *m, const RuleTerm *t, const AlgNode *draft, AlgNode **out) {
  const RuleTerm *const *arg = t->arg + t->n_attr;
  bool each = arg[0]->each;
  uint32_t n = each ? m->n_each : t->n - t->n_attr;
  if (n != draft->n_operand) return false;
  for (uint32_t k = 0; k < n; k++) {
    m->operand = k;
    m->in_each = each;
    out[k] = term_make(m, arg[each ? 0 : k]);
    m->in_each = false;
    if (!out[k]) return false;
  }
  return true;
}

static AlgNode *made(RuleMatch *m, const RuleTerm *t, const RuleValue *v, AlgNode **of) {
  switch ((int)t->op) {
    case ALG_FILTER: return make_filter(m, t, v[0].keep, of[0]);
    case ALG_MAP: return make_map(m, v[0].node, of[0]);
    case ALG_AGGREGATE: return make_aggregate(m, &v[0], v[1].node, of[0]);
    case ALG_JOIN: return make_join(m, v[0].node, of);
    case ALG_FETCH: return make_fetch(m, v[0].node, of);
    default: return make_move(m, t, &v[0].at, of[0]);
  }
}

static AlgNode *relation_of(RuleMatch *m, const RuleTerm *t) {
  RuleValue v;
  if (t->each) return m->each[(unsigned char)t->letter][m->operand];
  return rule_value(m, t, &v) ? v.node : NULL;
}

static AlgNode *term_make(RuleMatch *m, const RuleTerm *t) {
  RuleValue v[RULE_ARGS];
  AlgNode **of = NEW_ARRAY(m->p->arena, AlgNode *, (t->n > m->n_each ? t->n : m->n_each) + 1);
  if (t->kind == TERM_VAR) return relation_of(m, t);
  for (uint32_t k = 0; k < t->n_attr; k++)
    if (!rule_value(m, t->arg[k], &v[k])) return NULL;
  bool ok = t->op == ALG_JOIN || t->op == ALG_FETCH ? make_operands(m, t, v[0].node, of)
                                                    : (of[0] = term_make(m, t->arg[t->n_attr])) != NULL;
  AlgNode *x = ok ? made(m, t, v, of) : NULL;
  if (!x && !m->why->len) buf_str(m->why, "the result cannot be said");
  if (x && x != of[0]) vec_push(m->p->arena, m->made, x);
  return x;
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

enum { KEYS_COMPARED = 1 << 14 };

static bool boxes_equal(Arena *a, const Relation *x, const Relation *y) {
  bool same = true;
  for (uint32_t d = 0; d < x->rank; d++)
    same = same && x->dim[d].low == y->dim[d].low && x->dim[d].high == y->dim[d].high;
  if (same || rel_keys(x) > (double)KEYS_COMPARED) return same;
  int64_t *key = NEW_ARRAY(a, int64_t, x->n_key + 1), *box = NEW_ARRAY(a, int64_t, 4 * x->rank + 1);
  do {
    rel_box(x, key, box, box + x->rank);
    rel_box(y, key, box + 2 * x->rank, box + 3 * x->rank);
    for (uint32_t d = 0; d < 2 * x->rank; d++)
      if (box[d] != box[2 * x->rank + d]) return false;
  } while (rel_next_key(x->n_key, x->frontier, key));
  return true;
}

static bool type_stays(Arena *a, const Relation *x, const Relation *y) {
  if (x->dtype != y->dtype || x->places != y->places || x->n_key != y->n_key || x->rank != y->rank) return false;
  for (uint32_t k = 0; k < x->n_key; k++)
    if (x->frontier[k] != y->frontier[k]) return false;
  return boxes_equal(a, x, y);
}

/* For a rule that appends something to any relation: the node becomes the result, and a new node takes its old
 * content. */
static bool root_copied(RuleMatch *m, const Rule *rule) {
  AlgNode *at = m->root;
  if (rule->from->kind != TERM_VAR) return true;
  if (at->kind < ALG_JOIN || at->kind > ALG_MOVE) return false;
  AlgNode *x = rule_draft(m, at);
  x->id = m->p->n_nodes++;
  m->var[(unsigned char)rule->from->letter].node = x;
  vec_push(m->p->arena, m->made, x);
  return true;
}

/* The node becomes the last one that was made; the others come before it. */
static void result_put(RuleMatch *m, bool forced) {
  AlgRegion *r = m->root->region;
  AlgNode *at = m->root, *last = m->made.at[m->made.len - 1];
  uint32_t n = m->made.len - 1, i = 0, id = at->id;
  Relation type = forced ? last->type : at->type;
  Str name = at->name;
  Place place = at->place;
  while (r->nodes.at[i] != at) i++;
  for (uint32_t k = 0; k < n; k++) vec_push(m->p->arena, r->nodes, at);
  memmove(r->nodes.at + i + n, r->nodes.at + i, (r->nodes.len - n - i) * sizeof *r->nodes.at);
  for (uint32_t k = 0; k < n; k++) {
    r->nodes.at[i + k] = m->made.at[k];
    m->made.at[k]->region = r;
  }
  *at = *last;
  at->id = id, at->region = r, at->name = name, at->place = place, at->type = type;
}

static void result_taken_back(RuleMatch *m, const AlgNode *was) {
  AlgRegion *r = m->root->region;
  uint32_t n = m->made.len - 1, i = 0;
  while (r->nodes.at[i] != m->root) i++;
  memmove(r->nodes.at + i - n, r->nodes.at + i, (r->nodes.len - i) * sizeof *r->nodes.at);
  r->nodes.len -= n;
  *m->root = *was;
}

static bool result_made(RuleMatch *m) {
  const Rule *rule = m->rule;
  if (!m->p->placed) return buf_str(m->why, "nothing is placed"), false;
  if (!rule_match(m, rule->from, m->root)) return buf_str(m->why, "it does not match"), false;
  for (uint32_t k = 0; k < rule->n_if; k++)
    if (!(m->given && m->given->unasked >> k & 1) && !rule_holds(m, rule->test[k])) return false;
  if (!root_copied(m, rule)) return buf_str(m->why, "it is not computed"), false;
  return term_make(m, rule->to);
}

bool rule_apply(Algebra *p, const Rule *rule, AlgNode *at, const RuleGiven *given, Buf *why) {
  RuleMatch m = {.p = p, .rule = rule, .root = at, .given = given, .why = why};
  bool forced = given && given->unasked;
  AlgNode was = *at;
  uint32_t n_nodes = p->n_nodes;
  bool ok = result_made(&m);
  if (ok && !forced && !type_stays(p->arena, &at->type, &m.made.at[m.made.len - 1]->type))
    ok = false, buf_str(why, "the type would change");
  if (ok) {
    result_put(&m, forced);
    for (uint32_t k = 0; ok && !forced && k < m.made.len; k++)
      ok = alg_fits(p, k + 1 < m.made.len ? m.made.at[k] : at, why);
    if (ok && !forced) ok = algebra_reinfer(p, at, &was.at, why);
    if (!ok) result_taken_back(&m, &was);
  }
  if (!ok) p->n_nodes = n_nodes;
  return ok;
}
