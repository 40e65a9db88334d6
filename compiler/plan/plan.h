/* plan/plan.h - the Plan: only what was decided. It holds the sites and, for each tensor, the labels that are cut. A
 * plan by bytes also says which axis of a mesh cuts them, and where tensors stay.
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
 * A vertex line gives all cuts of a tensor, by their counts or by what each axis of the mesh cuts (`*`: nothing, the
 * axis is idle). The planner decides about tensors without a line. A home line gives for each axis the dimension that
 * it cuts, by its label or its number from 1; an input's dimensions take their names from its first reader. The mesh
 * line comes before lines with axes, and has at most `sites` sites. With `orders by moves`, products of many operands
 * are made in steps that move little on that many sites, not in those that are fastest on one site; their
 * intermediate tensors then have other names. With panels, each site makes its block in turns: so many slices of a
 * label, one after the other.
 *
 * A pin, `T:h=4` on the command line, fixes some labels of a tensor and leaves its others to the planner. */
#ifndef EIN_PLAN_H
#define EIN_PLAN_H

#include "base/diag.h"
#include "partition.h"
#include "place.h"

enum { PLAN_SITES = 2147483647, PLAN_RANK = 127 }; /* upper limits */

typedef struct PlanCut { Str label; uint32_t count; Span span; } PlanCut;

typedef struct PlanAxis {    /* what an axis of the mesh cuts */
  Str label;                 /* NULL: see dimension */
  uint32_t dimension;        /* from 1; 0: nothing */
  Span span;
} PlanAxis;

typedef VEC(PlanAxis) PlanAxes;

typedef struct PlanVertex {
  Str name;                  /* as in PartVertex */
  bool pin;                  /* labels without a cut are free; else they are not cut */
  VEC(PlanCut) cuts;
  bool placed;               /* it has axes and no cuts */
  PlanAxes axes;
  Span span;
} PlanVertex;

typedef struct PlanPanels { Str name; PlanCut of; Span span; } PlanPanels;

typedef struct PlanHome { Str name; PlanAxes axes; Span span; } PlanHome;

typedef struct Plan {
  int64_t sites;
  bool by_moves;             /* contraction orders move little on that many sites (graph_contract_on) */
  bool meshed;               /* the mesh is given */
  Mesh mesh;
  VEC(PlanVertex) vertices;
  VEC(PlanHome) homes;
  VEC(PlanPanels) panels;
  int64_t room;              /* bytes of parts that arrive at once; 0: not stated */
} Plan;

void plan_print(Buf *out, const Plan *p);
/* Returns NULL with complaints (E930: the line and what was expected). */
Plan *plan_read(Arena *a, Strings *t, Source *src, Diags *d);
/* Adds the pin in src, which is `NAME:LABEL=COUNT`, with commas before further cuts. */
bool plan_read_pin(Arena *a, Strings *t, Source *src, Plan *p, Diags *d);
bool plan_equal(const Plan *a, const Plan *b, Buf *why);

Plan *plan_of(Arena *a, Strings *t, const PartGraph *g, int64_t sites, const uint32_t *const *d);

/* The vectors that a planner may choose from, by vertex. Returns NULL with complaints (E931): an unknown name or
 * label, or more blocks than elements or sites. `sites` counts, whatever the plan says. *narrow is set if some tensor
 * has so many labels that only the longest are cut. */
PartVectors *plan_vectors(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, bool *narrow, Diags *d);
/* The same, only for vertices that the plan mentions; the others get no vectors here. */
PartVectors *plan_said(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, Diags *d);

/* Counts by vertex, by label; 0: free; NULL: all free. Fixes more of them at 1, so that no tensor has more than
 * `most` cuts and the cost tables fit. Returns whether it fixed any. */
bool part_narrow(Arena *a, const PartGraph *g, int64_t sites, double most, uint32_t **count);

#endif
