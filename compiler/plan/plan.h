/* plan/plan.h - the Plan: what was decided, and nothing else: the sites, and for each tensor the labels that are cut; by bytes also
 * which axis of a mesh cuts them, and where tensors stay.
 *
 * text: "plan 1", short enough to be typed:
 *
 *     plan 1
 *     sites 16
 *     orders by moves
 *     mesh 2 2 4
 *     vertex T axes h s *
 *     vertex sum.T h=4 s=4
 *     vertex Z
 *     home T h * s
 *     home X 2 * 1
 *     panels Z k=8
 *
 * A tensor that stands there as a vertex has the cuts that are said and no others, by their counts or by what each axis of the mesh
 * cuts (`*`: nothing, the axis is idle); one that does not stand there is left to the planner. A home says by axis the dimension that
 * it cuts, by its label or its number from 1; an input's dimensions are called as its first reader calls them. The mesh stands before
 * what has axes, and has at most the sites. Where orders are by moves, products of many operands are made in steps that move little on so many sites, and
 * not in those that are fastest on one: the tensors between have other names. Panels are turns in which each site makes its block: slices of a label, so many, one after
 * the other.
 * A pin, `T:h=4` on the command line, says some labels of a tensor and leaves its others to the planner too. */
#ifndef EIN_PLAN_H
#define EIN_PLAN_H

#include "base/diag.h"
#include "partition.h"
#include "place.h"

enum { PLAN_SITES = 2147483647, PLAN_RANK = 127 }; /* at most */

typedef struct PlanCut { Str label; uint32_t count; Span span; } PlanCut;

typedef struct PlanAxis {    /* what an axis of the mesh cuts */
  Str label;                 /* NULL: see there */
  uint32_t dimension;        /* from 1; 0: nothing */
  Span span;
} PlanAxis;

typedef VEC(PlanAxis) PlanAxes;

typedef struct PlanVertex {
  Str name;                  /* as PartVertex has it */
  bool pin;                  /* what is not said is free; else it is not cut */
  VEC(PlanCut) cuts;
  bool placed;               /* its axes are said, and no cuts */
  PlanAxes axes;
  Span span;
} PlanVertex;

typedef struct PlanPanels { Str name; PlanCut of; Span span; } PlanPanels;

typedef struct PlanHome { Str name; PlanAxes axes; Span span; } PlanHome;

typedef struct Plan {
  int64_t sites;
  bool by_moves;             /* products in orders that move little on so many sites (graph_contract_on) */
  bool meshed;               /* the mesh is said */
  Mesh mesh;
  VEC(PlanVertex) vertices;
  VEC(PlanHome) homes;
  VEC(PlanPanels) panels;
} Plan;

void plan_print(Buf *out, const Plan *p);
/* NULL with complaints (E930, line and what was wanted). */
Plan *plan_read(Arena *a, Strings *t, Source *src, Diags *d);
/* Adds the pin in src, all of which is `NAME:LABEL=COUNT`, with commas before further cuts. */
bool plan_read_pin(Arena *a, Strings *t, Source *src, Plan *p, Diags *d);
bool plan_equal(const Plan *a, const Plan *b, Buf *why);

Plan *plan_of(Arena *a, Strings *t, const PartGraph *g, int64_t sites, const uint32_t *const *d);

/* What is left for a planner to choose from, by vertex; NULL with complaints (E931): a name or label that is not there, more
 * blocks than elements or sites. sites is what counts, whatever the plan says. narrow: of tensors with many labels, only the longest
 * are cut; elsewhere all ways are there. */
PartVectors *plan_vectors(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, bool *narrow, Diags *d);
/* The same for those vertices alone of which the plan says something; the others have none here. */
PartVectors *plan_said(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, Diags *d);

/* Counts by vertex, by label, 0: free; NULL: all are. Holds more of them at 1, so that no tensor has more than `most` ways to be
 * cut, and tables of costs fit; true: it did. */
bool part_narrow(Arena *a, const PartGraph *g, int64_t sites, double most, uint32_t **count);

#endif
