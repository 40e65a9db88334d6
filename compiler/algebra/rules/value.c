/* algebra/rules/value.c - the functions in results of rules, for predicates, groups, reducers and placements. Those
 * for maps and joins are in algebra/rules/map.c and algebra/rules/join.c. */
#include "fns.h"


AlgNode *rule_draft(RuleMatch *m, const AlgNode *of) {
  Arena *a = m->p->arena;
  AlgNode *x = arena_copy(a, of, sizeof *x);
  x->operand = NEW_ARRAY(a, AlgOperand, of->n_operand + 1);
  for (uint32_t k = 0; k < of->n_operand; k++) x->operand[k] = of->operand[k];
  return x;
}

static const Expr *label(RuleMatch *m, int64_t k) {
  return expr_label(m->p->exprs, k);
}

/* ---- predicates -------------------------------------------------------------------------------------------- */

static bool keep_and(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  out->keep = expr_and(m->p->exprs, v[0].keep, v[1].keep);
  if (!out->keep) out->keep = expr_bool(m->p->exprs, true);
  return true;
}

static bool keep_half(const RuleValue *v, uint32_t which, RuleValue *out) {
  const Expr *e = v[0].keep;
  if (e->kind != EX_OP || e->op != OP_AND) return false;
  out->keep = e->arg[which];
  return true;
}

static bool keep_first(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  (void)m;
  return keep_half(v, 0, out);
}

static bool keep_rest(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  (void)m;
  return keep_half(v, 1, out);
}

static bool keep_project(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, v[1].n + 1);
  for (uint32_t k = 0; k < v[1].n; k++) to[k] = label(m, v[1].group[k]);
  out->keep = expr_over(m->p->exprs, v[0].keep, v[1].n, to);
  return out->keep;
}

static bool keep_image(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  uint32_t n = v[1].node->type.n_key;
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < v[1].n; k++) to[v[1].group[k]] = label(m, k);
  out->keep = expr_over(m->p->exprs, v[0].keep, n, to);
  return out->keep;
}

/* Rewrites each key of the result over the map's keys; only the operand's own keys may remain. */
static bool keep_through(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *f = v[1].node;
  uint32_t old = (uint32_t)map_keys(f), all = old + f->n_piece;
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, f->type.n_key + 1),
             **own = NEW_ARRAY(m->p->arena, const Expr *, all + 1);
  for (uint32_t k = 0; k < f->type.n_key; k++) to[k] = f->rekey ? f->rekey[k] : label(m, k);
  for (uint32_t k = 0; k < old; k++) own[k] = label(m, k);
  out->keep = expr_over(m->p->exprs, expr_over(m->p->exprs, v[0].keep, f->type.n_key, to), all, own);
  return out->keep;
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

static bool group_all(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  uint32_t *list = NEW_ARRAY(m->p->arena, uint32_t, v[0].n + 1);
  for (uint32_t k = 0; k < v[0].n; k++) list[k] = k;
  out->n = v[0].n, out->group = list;
  return true;
}

/* Composes groups. */
static bool group_compose(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  uint32_t *list = NEW_ARRAY(m->p->arena, uint32_t, v[0].n + 1);
  for (uint32_t k = 0; k < v[0].n; k++) list[k] = v[1].group[v[0].group[k]];
  out->n = v[0].n, out->group = list, out->node = v[1].node;
  return true;
}

/* The keys that a tile adds after all others stay too. */
static bool group_more(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *f = v[1].node;
  uint32_t *list = NEW_ARRAY(m->p->arena, uint32_t, v[0].n + f->n_piece + 1);
  if (!f->n_piece || f->rekey) return false;
  for (uint32_t k = 0; k < v[0].n; k++) list[k] = v[0].group[k];
  for (uint32_t k = 0; k < f->n_piece; k++) list[v[0].n + k] = v[0].node->type.n_key + k;
  out->n = v[0].n + f->n_piece, out->group = list, out->node = v[0].node;
  return true;
}

/* The group without these keys, which are its last ones. */
static bool group_less(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *f = v[1].node;
  (void)m;
  if (!f->n_piece || f->rekey || v[0].n < f->n_piece) return false;
  uint32_t n = v[0].n - f->n_piece, old = (uint32_t)map_keys(f);
  for (uint32_t k = 0; k < v[0].n; k++)
    if (k < n ? v[0].group[k] >= old : v[0].group[k] != old + k - n) return false;
  out->n = n, out->group = v[0].group, out->node = f->operand[0].node;
  return true;
}

/* ---- reducers ---------------------------------------------------------------------------------------------------- */

bool map_shifts(const AlgNode *map) {
  for (uint32_t k = 0; k < map->n_fn; k++)
    if (map->fn[k].kind == FN_SHIFT) return true;
  return false;
}

AlgNode *with_functions(RuleMatch *m, const AlgNode *of, const AlgNode *map) {
  AlgNode *x = rule_draft(m, of);
  AlgFn *fn = COPY_ARRAY(m->p->arena, AlgFn, of->fn, of->n_fn, of->n_fn + map->n_fn + 1);
  for (uint32_t k = 0; k < map->n_fn; k++) fn[of->n_fn + k] = map->fn[k];
  x->n_fn = of->n_fn + map->n_fn;
  x->fn = fn;
  return x;
}

/* Nothing is merged after a concat: its boxes are those of its operands. */
static bool reducer_then(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  bool merges = false;
  for (uint32_t k = 0; k < v[1].node->n_fn; k++) merges = merges || v[1].node->fn[k].kind == FN_MERGE;
  out->node = with_functions(m, v[0].node, v[1].node);
  return !map_shifts(v[1].node) && (!merges || v[0].node->reducer != RED_NONE);
}

static bool value_bare(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  out->node = rule_draft(m, v[0].node);
  out->node->n_fn = 0;
  return true;
}

static bool value_tail(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *of = v[0].node;
  out->node = NEW(m->p->arena, AlgNode);
  *out->node = (AlgNode){.kind = ALG_MAP, .n_fn = of->n_fn, .fn = of->fn, .at = of->at};
  return of->n_fn;
}

/* A concat of pieces reassembles what the map made of the whole. */
static bool reducer_laid(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  out->node = rule_draft(m, v[0].node);
  out->node->type.dim = v[1].node->type.dim;
  return !v[1].node->n_fn && v[1].node->n_piece && !v[1].node->rekey;
}

/* ---- placements -------------------------------------------------------------------------------------------------- */

static bool at_image(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  return place_image(m->p, &v[1], &v[0].at, &out->at);
}

static bool at_lift(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  return place_lift(m->p, &v[1], &v[0].at, &out->at);
}

static bool at_here(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  (void)m;
  out->at = v[0].node->at;
  return true;
}

static bool at_operand(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgOperand *o = &v[1].node->operand[m->operand];
  operand_place(m->p, o, o->node->type.n_key, &v[0].at, &out->at);
  return placement_whole(&m->p->mesh, &out->at);
}

/* The placement of a join's result if one operand stays where it is. */
static bool at_where(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgOperand *o = &v[1].node->operand[v[0].slot];
  out->at = v[0].node->at;
  for (uint32_t a = 0; a < m->p->mesh.n; a++) {
    int8_t key = out->at.on[a];
    if (key == PLACE_PART || (key >= 0 && (o->on[key] < 0 || o->on[key] > INT8_MAX))) return false;
    if (key >= 0) out->at.on[a] = (int8_t)o->on[key];
  }
  return true;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

const RuleFnInfo rule_fns[] = {
    {"and", "pp", SORT_KEEP, keep_and, "both hold"},
    {"first", "p", SORT_KEEP, keep_first, "the first of two that must hold"},
    {"rest", "p", SORT_KEEP, keep_rest, "the second"},
    {"project", "pg", SORT_KEEP, keep_project, "said over the keys of what is grouped"},
    {"image", "pg", SORT_KEEP, keep_image, "said over a group's keys"},
    {"through", "pf", SORT_KEEP, keep_through, "said over the keys that a map's are made of"},
    {"part", "pj", SORT_KEEP, keep_part, "all that an operand of a join has the keys for, said over these"},
    {"taken", "j*", SORT_KEEP, keep_taken, "all that the operands are filtered by, said over the result's keys"},
    {"all", "g", SORT_GROUP, group_all, "all keys, renumbered"},
    {"compose", "gg", SORT_GROUP, group_compose, "groups of groups"},
    {"more", "gf", SORT_GROUP, group_more, "and the keys that a tile puts in"},
    {"spread", "gf", SORT_GROUP, group_more, "the same"},
    {"less", "gf", SORT_GROUP, group_less, "without these"},
    {"then", "of", SORT_REDUCER, reducer_then, "a map's functions come behind it"},
    {"bare", "o", SORT_REDUCER, value_bare, "without functions"},
    {"laid", "of", SORT_REDUCER, reducer_laid, "the concat that makes the blocks that a tile cuts"},
    {"compose", "ff", SORT_MAP, map_compose, "the second, then the first"},
    {"keys", "f", SORT_MAP, map_keys_of, "a map's tile and rekey"},
    {"functions", "f", SORT_MAP, map_functions, "a map's functions"},
    {"tail", "o", SORT_MAP, value_tail, "the functions behind a reducer"},
    {"tail", "j", SORT_MAP, value_tail, "the functions behind a join"},
    {"below", "fg", SORT_MAP, map_below, "a tile of what is grouped"},
    {"across", "fgR", SORT_MAP, map_across, "of each block what is in the boxes of a tile of what they make up"},
    {"above", "fg", SORT_MAP, map_above, "a tile of the groups"},
    {"then", "jf", SORT_JOIN, join_then, "a join with a map's keys, boxes and functions"},
    {"bare", "j", SORT_JOIN, value_bare, "without functions"},
    {"narrow", "jf", SORT_JOIN, join_narrow, "its kernel in another integer type"},
    {"wanting", "jp", SORT_JOIN, join_wanting,
        "operands that can tell something of what is kept are wanted; each part of it is told by one of them"},
    {"loose", "j*", SORT_JOIN, join_loose, "what was filtered is wanted only if it has holes"},
    {"at", "jx", SORT_JOIN, join_at, "with its result there"},
    {"settled", "j*", SORT_JOIN, join_settled, "with its result where the operands are"},
    {"kept", "j", SORT_GROUP, join_kept, "all keys of a join"},
    {"adding", "j", SORT_REDUCER, join_adding, "a sum, and the join's functions behind it"},
    {"hits", "jgR", SORT_JOIN, join_hits,
        "a join of the blocks that a concat lays together, each giving what it has of what is read, else 0"},
    {"asked", "j", SORT_JOIN, join_asked,
        "what it reads of its second operand, over the labels that say where; where the join is"},
    {"answered", "j", SORT_JOIN, join_answered, "the join that reads it there"},
    {"lift", "xg", SORT_PLACE, at_lift, "the same keys of what is grouped"},
    {"lift", "xf", SORT_PLACE, at_lift, "the same keys of what is mapped"},
    {"image", "xg", SORT_PLACE, at_image, "the same keys of the groups"},
    {"image", "xf", SORT_PLACE, at_image, "the same keys after a map"},
    {"operand", "xj", SORT_PLACE, at_operand, "cut by the keys that this operand has, everywhere along other axes"},
    {"where", "Rj", SORT_PLACE, at_where, "a join's result where this operand is"},
    {"here", "R", SORT_PLACE, at_here, "where it is"},
    {"here", "j", SORT_PLACE, at_here, "where the join is"},
    {NULL, NULL, SORT_TEST, NULL, NULL},
};
