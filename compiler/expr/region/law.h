/* expr/region/law.h - the laws of regions, and when two are the same: see region.h. */
#ifndef EIN_EXPR_REGION_LAW_H
#define EIN_EXPR_REGION_LAW_H

#include "region.h"
#include "expr/sum/law.h"

/* ---- checks: region/check.c -----------------------------------------------------------------------------------
 * Nodes are walked in order, so that what is defined so far is what may be used. */

/* What is the language's. Nodes that are given are well as far as references go, but for `node`. */
typedef struct RegionLaws {
  const char *noun;          /* of a node that is no repeat: "tensor" */
  bool (*known)(void *ctx, const void *node);                      /* its kind is one; false: complained, and nothing more is asked of it */
  void (*at)(void *ctx, const void *node);                         /* from here on this one is at hand; NULL: the program as a whole */
  void (*node)(void *ctx, const void *node);                       /* all that is not said of regions */
  void (*scalar)(void *ctx, const char *what, const void *node, DType t); /* it is one value of this dtype */
  void (*same)(void *ctx, const char *what, const void *a, const void *b); /* b is of the type of a */
  void (*whole)(void *ctx, const char *what, const void *node);    /* a region may take it, or hand it on; NULL: any */
  uint32_t (*rank)(const void *node);
  void (*stacked)(void *ctx, const void *node, StackView of, const Expr *turns); /* its type is that, with the turns */
} RegionLaws;

typedef struct RegionCheck {
  SumCheck *c;
  const RegionFace *face;
  const RegionLaws *laws;
  void *ctx;
  uint32_t n_ids;
  const void *n;             /* the node at hand; NULL: the program as a whole, */
  const void *about;         /*   or what it does with this node, or NULL; */
  const void *line;          /*   where the text has what is said, before the node: a key of `lines`, or NULL */
  const TextLines *lines;
  Map wrong;                 /* nodes of which something was said, or follows from what was */
  Map nodes;                 /* id + 1 to the node of that id, for those defined so far */
  Map closed, regions;       /* repeats whose block was walked; regions met */
  VEC(const void *) open;    /* the region at hand and those around it */
} RegionCheck;

RegionCheck region_check_new(SumCheck *c, const RegionFace *face, const RegionLaws *laws, void *ctx, uint32_t n_ids);
/* For the SumCheck, whose own are of another type. */
Span check_line(const RegionCheck *c);
bool check_follows(RegionCheck *c);
uint32_t check_level(const RegionCheck *c);                             /* repeats around what is at hand */
bool check_ref(RegionCheck *c, const char *what, const void *node);     /* is computed before what is at hand, and may be seen from there */
bool check_operand(RegionCheck *c, const char *what, const void *node); /*   with a smaller id */
void check_result(RegionCheck *c, const void *node);                    /* FINAL, STACK, TURNS */
void check_state(RegionCheck *c, const void *node);
void check_regions(RegionCheck *c, const void *top);

/* ---- equality: region/same.c ---------------------------------------------------------------------------------- */

typedef struct RegionSame {
  Same *q;
  const RegionFace *face;
  void *ctx;
  Exprs *a, *b;              /* the pools of either side */
  bool (*node)(void *ctx, const void *a, const void *b); /* their kinds, and what is not said of regions */
  void (*at)(void *ctx, const void *a);                  /* from here on this one is at hand, or none */
} RegionSame;

bool eq_ref(Same *q, const char *what, NodeView a, NodeView b);
bool eq_region(const RegionSame *q, const void *a, const void *b);

#endif
