/* graph/face.c - the interface through which expr/region/region.h sees the nodes and regions of an EinGraph. */
#include "inside.h"

static NodeRole role_of(const EinNode *n) {
  switch (n->kind) {
  case EIN_REPEAT: return NODE_REPEAT;
  case EIN_STATE: return NODE_STATE;
  case EIN_FINAL: return NODE_FINAL;
  case EIN_STACK: return NODE_STACK;
  case EIN_TURNS: return NODE_TURNS;
  default: return NODE_PLAIN;
  }
}

static NodeView node_view(const void *node) {
  const EinNode *n = node;
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
  const EinNode *n = node;
  if (n->kind == EIN_INPUT) return i ? NULL : n->fallback;
  return n->sum && n->input && i < n->sum->n_slot ? n->input[i] : NULL;
}

static RegionView region_view(Exprs *p, const void *region) {
  const EinRegion *r = region;
  (void)p;
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
                      .turns = r->turns};
}

static NodeView nth_view(const void *region, uint32_t i) {
  return node_view(((const EinRegion *)region)->nodes.at[i]);
}

static StateView state_view(const void *region, uint32_t i) {
  const EinState *s = &((const EinRegion *)region)->states.at[i];
  return (StateView){node_view(s->node), node_view(s->init), node_view(s->next)};
}

static StackView stack_view(const void *region, uint32_t i) {
  const EinStack *s = &((const EinRegion *)region)->stacks.at[i];
  return (StackView){s->name, node_view(s->node), s->axis};
}

const RegionFace graph_face = {node_view, operand_view, region_view, nth_view, state_view, stack_view};
