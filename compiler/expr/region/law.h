/* expr/region/law.h - the laws of regions, and their equality: see region.h. */
#ifndef EIN_EXPR_REGION_LAW_H
#define EIN_EXPR_REGION_LAW_H

#include "region.h"
#include "expr/sum/law.h"

/* ---- checks: region/check.c -----------------------------------------------------------------------------------
 * Nodes are walked in order, so that only nodes that are already defined may be used. */

/* The callbacks of a language. The nodes that they get have sound references, except in `node`. */
typedef struct RegionLaws {
  const char *noun;          /* for a node that is not a repeat: "tensor" */
  bool (*known)(void *ctx, const void *node);                      /* its kind exists; false: complained, and the node
                                                                    * is not checked further */
  void (*at)(void *ctx, const void *node);                         /* this node is checked from here on; NULL: the
                                                                    * program as a whole */
  void (*node)(void *ctx, const void *node);                       /* everything that does not concern regions */
  void (*scalar)(void *ctx, const char *what, const void *node, DType t); /* it is one value of this dtype */
  void (*same)(void *ctx, const char *what, const void *a, const void *b); /* b has the type of a */
  void (*whole)(void *ctx, const char *what, const void *node);    /* a region may read it, or pass it on; NULL: any */
  uint32_t (*rank)(const void *node);
  /* its type is that of the stack, with the turns */
  void (*stacked)(void *ctx, const void *node, StackView of, const Expr *turns);
} RegionLaws;

typedef struct RegionCheck {
  SumCheck *c;
  const RegionFace *face;
  const RegionLaws *laws;
  void *ctx;
  uint32_t n_ids;
  const void *n;             /* the current node; NULL: the program as a whole */
  const void *about;         /* or the other node in question, or NULL */
  const void *line;          /* the key in `lines` of the statement in question, tried before the node, or NULL */
  const TextLines *lines;
  Map wrong;                 /* nodes with complaints, or with mistakes that follow from them */
  Map nodes;                 /* id + 1 to the node of that id, for those defined so far */
  Map closed, regions;       /* repeats whose block was walked; regions already visited */
  VEC(const void *) open;    /* the current region and those around it */
} RegionCheck;

RegionCheck region_check_new(SumCheck *c, const RegionFace *face, const RegionLaws *laws, void *ctx, uint32_t n_ids);
/* For a SumCheck's callbacks, whose context has another type. */
Span check_line(const RegionCheck *c);
bool check_follows(RegionCheck *c);
uint32_t check_level(const RegionCheck *c);                             /* repeats around the current node */
bool check_ref(RegionCheck *c, const char *what, const void *node);     /* it is computed before the current node, and
                                                                         * visible there */
bool check_operand(RegionCheck *c, const char *what, const void *node); /* and has a smaller id */
void check_result(RegionCheck *c, const void *node);                    /* FINAL, STACK, TURNS */
void check_state(RegionCheck *c, const void *node);
void check_regions(RegionCheck *c, const void *top);

/* ---- equality: region/same.c ---------------------------------------------------------------------------------- */

typedef struct RegionSame {
  Same *q;
  const RegionFace *face;
  void *ctx;
  Exprs *a, *b;              /* the pools of the two sides */
  bool (*node)(void *ctx, const void *a, const void *b); /* compares their kinds, and everything that does not concern
                                                          * regions */
  void (*at)(void *ctx, const void *a);                  /* this one is compared from here on, or none */
} RegionSame;

bool eq_ref(Same *q, const char *what, NodeView a, NodeView b);
bool eq_region(const RegionSame *q, const void *a, const void *b);

#endif
