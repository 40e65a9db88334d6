/* expr/region/region.h - regions, whatever nodes stand in them. What a repeat has (a bound, states, stacks, a stop) and what it gives (finals,
 * stacks, turns) is one text, one set of laws and one equality, for the EinGraph and for programs over relations: each shows its
 * nodes and regions through a face, and adds what is its own. A TaskGraph's repeats are other things: buffers that change places. */
#ifndef EIN_EXPR_REGION_H
#define EIN_EXPR_REGION_H

#include "base/base.h"
#include "expr/einsum.h"

enum { REGION_DEPTH = 200 }; /* repeats in one another, that texts and checkers allow */

typedef enum { NODE_PLAIN, NODE_REPEAT, NODE_STATE, NODE_FINAL, NODE_STACK, NODE_TURNS } NodeRole;

typedef struct NodeView {
  const void *at;            /* NULL: there is none */
  NodeRole role;
  uint32_t id;
  Str name;
  Place place;
  const void *region;        /* it stands in */
  const void *body;          /* REPEAT */
  const void *repeat;        /* STATE, FINAL, STACK, TURNS: whose, */
  uint32_t index;            /*   which */
} NodeView;

typedef struct StateView { NodeView node, init, next; } StateView;
typedef struct StackView { Str name; NodeView node; uint32_t axis; } StackView;

typedef struct RegionView {
  const void *at, *parent, *repeat;
  uint32_t depth, n_node, n_state, n_stack;
  Str turn;
  NodeView bound, stop;
  const Expr *turns;         /* NULL: not known */
} RegionView;

typedef struct RegionFace {
  NodeView (*node)(const void *node); /* NULL too */
  const void *(*operand)(const void *node, uint32_t i); /* what node's value is made of; NULL: of no more */
  RegionView (*region)(Exprs *p, const void *region);
  NodeView (*nth)(const void *region, uint32_t i);
  StateView (*state)(const void *region, uint32_t i);
  StackView (*stack)(const void *region, uint32_t i);
} RegionFace;

/* One more than the largest id, which is what a reader takes for the number of ids if nothing is said. */
uint32_t region_ids(const RegionFace *f, Exprs *p, const void *region);

#endif
