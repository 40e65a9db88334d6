/* expr/region/region.h - regions, independent of their nodes. What a repeat has (a bound, states, stacks, a stop) and
 * its results (finals, stacks, turns) share one text, one set of laws and one equality, for the EinGraph and for
 * programs over relations. Each language shows its nodes and regions through a face, and adds the rest. A TaskGraph's
 * repeats are different: they swap buffers. */
#ifndef EIN_EXPR_REGION_H
#define EIN_EXPR_REGION_H

#include "base/base.h"
#include "expr/einsum.h"

enum { REGION_DEPTH = 200 }; /* the deepest nesting of repeats that texts and checkers allow */

typedef enum { NODE_PLAIN, NODE_REPEAT, NODE_STATE, NODE_FINAL, NODE_STACK, NODE_TURNS } NodeRole;

typedef struct NodeView {
  const void *at;            /* NULL: there is none */
  NodeRole role;
  uint32_t id;
  Str name;
  Place place;
  const void *region;        /* that contains it */
  const void *body;          /* REPEAT */
  const void *repeat;        /* STATE, FINAL, STACK, TURNS: the repeat */
  uint32_t index;            /* its number there */
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
  NodeView (*node)(const void *node); /* accepts NULL */
  const void *(*operand)(const void *node, uint32_t i); /* operand i of the node; NULL: there are no more */
  RegionView (*region)(Exprs *p, const void *region);
  NodeView (*nth)(const void *region, uint32_t i);
  StateView (*state)(const void *region, uint32_t i);
  StackView (*stack)(const void *region, uint32_t i);
} RegionFace;

/* The largest id plus one, which a reader assumes as the number of ids if the text does not give it. */
uint32_t region_ids(const RegionFace *f, Exprs *p, const void *region);

#endif
