/* algebra/rules/place.c - placements through operations: where a key dimension goes, and which placements exist on
 * the other side. */
#include "inside.h"

int64_t map_keys(const AlgNode *map) {
  return map->operand[0].node->type.n_key;
}

int32_t group_place_of(const RuleValue *group, int64_t key) {
  for (uint32_t k = 0; k < group->n; k++)
    if (group->group[k] == (uint64_t)key) return (int32_t)k;
  return -1;
}

static int32_t map_place_of(const Algebra *p, const AlgNode *map, int64_t key) {
  const Relation *of = &map->operand[0].node->type;
  if (!map->rekey) return (int32_t)key;
  for (uint32_t k = 0; k < map->type.n_key; k++)
    if (map->rekey[k] == expr_label(p->exprs, key) && map->type.frontier[k] == of->frontier[key]) return (int32_t)k;
  return -1;
}

static int32_t image_of(const Algebra *p, const RuleValue *through, int8_t key) {
  if (through->sort == SORT_GROUP) return group_place_of(through, key);
  return map_place_of(p, through->node, key);
}

bool place_image(const Algebra *p, const RuleValue *through, const Placement *from, Placement *to) {
  *to = *from;
  for (uint32_t a = 0; a < p->mesh.n; a++) {
    int32_t key = from->on[a] < 0 ? from->on[a] : image_of(p, through, from->on[a]);
    if (from->on[a] >= 0 && (key < 0 || key > INT8_MAX)) return false;
    to->on[a] = (int8_t)key;
  }
  return true;
}

static int64_t lift_of(const Algebra *p, const RuleValue *through, int8_t key) {
  if (through->sort == SORT_GROUP) return (uint32_t)key < through->n ? (int64_t)through->group[key] : -1;
  const AlgNode *map = through->node;
  if ((uint32_t)key >= map->type.n_key) return -1;
  if (!map->rekey) return key < map_keys(map) ? key : -1;
  for (int64_t k = 0; k < map_keys(map); k++)
    if (map->rekey[key] == expr_label(p->exprs, k)) return map_place_of(p, map, k) == key ? k : -1;
  return -1;
}

bool place_lift(const Algebra *p, const RuleValue *through, const Placement *from, Placement *to) {
  *to = *from;
  for (uint32_t a = 0; a < p->mesh.n; a++) {
    int64_t key = from->on[a] < 0 ? from->on[a] : lift_of(p, through, from->on[a]);
    if (from->on[a] >= 0 && (key < 0 || key > INT8_MAX)) return false;
    to->on[a] = (int8_t)key;
  }
  return true;
}

void operand_place(const Algebra *p, const AlgOperand *o, uint32_t n_key, const Placement *of, Placement *out) {
  *out = *of;
  for (uint32_t a = 0; a < p->mesh.n; a++) {
    if (of->on[a] < 0) continue;
    out->on[a] = PLACE_ALL;
    for (uint32_t k = n_key; k-- > 0;)
      if (o->on[k] == of->on[a] && k <= INT8_MAX) out->on[a] = (int8_t)k;
  }
}

const Expr *expr_over(Exprs *p, const Expr *e, uint32_t n, const Expr *const *to) {
  bool *used = NEW_ARRAY(exprs_arena(p), bool, n + 1);
  const Expr **all = NEW_ARRAY(exprs_arena(p), const Expr *, n + 1);
  if (!e) return NULL;
  expr_labels(e, n, used);
  for (uint32_t k = 0; k < n; k++) {
    if (used[k] && !to[k]) return NULL;
    all[k] = to[k] ? to[k] : expr_label(p, k);
  }
  return expr_relabel(p, e, n, all);
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

bool alg_in_parts(const Algebra *p, const AlgNode *n) {
  for (; placement_whole(&p->mesh, &n->at); n = n->operand[0].node)
    if (n->kind != ALG_MOVE && n->kind != ALG_FILTER && n->kind != ALG_MAP) return false;
  return true;
}
