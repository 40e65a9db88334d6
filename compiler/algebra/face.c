/* algebra/face.c - the interface through which expr/region/region.h sees the nodes and regions of a program over
 * relations. */
#include "algebra/text/text.h"

static NodeRole role_of(const AlgNode *n) {
  switch (n->kind) {
  case ALG_REPEAT: return NODE_REPEAT;
  case ALG_STATE: return NODE_STATE;
  case ALG_FINAL: return NODE_FINAL;
  case ALG_STACK: return NODE_STACK;
  case ALG_TURNS: return NODE_TURNS;
  default: return NODE_PLAIN;
  }
}

static NodeView node_view(const void *node) {
  const AlgNode *n = node;
  if (!n) return (NodeView){0};
  return (NodeView){.at = n,
                    .role = role_of(n),
                    .id = n->id,
                    .name = n->name,
                    .place = n->place,
                    .region = n->region,
                    .body = n->body,
                    .repeat = n->repeat,
                    .index = n->index};
}

static const void *operand_view(const void *node, uint32_t i) {
  const AlgNode *n = node;
  return i < n->n_operand ? n->operand[i].node : NULL;
}

static RegionView region_view(Exprs *p, const void *region) {
  const AlgRegion *r = region;
  return (RegionView){.at = r,
                      .parent = r->parent,
                      .repeat = r->repeat,
                      .depth = r->depth,
                      .n_node = r->nodes.len,
                      .n_state = r->states.len,
                      .n_stack = r->stacks.len,
                      .turn = r->turn,
                      .bound = node_view(r->bound),
                      .stop = node_view(r->stop),
                      .turns = r->turns < 0 ? NULL : expr_int(p, DT_I64, r->turns)};
}

static NodeView nth_view(const void *region, uint32_t i) {
  return node_view(((const AlgRegion *)region)->nodes.at[i]);
}

static StateView state_view(const void *region, uint32_t i) {
  const AlgState *s = &((const AlgRegion *)region)->states.at[i];
  return (StateView){node_view(s->node), node_view(s->init), node_view(s->next)};
}

static StackView stack_view(const void *region, uint32_t i) {
  const AlgStack *s = &((const AlgRegion *)region)->stacks.at[i];
  return (StackView){s->name, node_view(s->node), s->axis};
}

const RegionFace algebra_face = {node_view, operand_view, region_view, nth_view, state_view, stack_view};
