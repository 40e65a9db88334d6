/* driver/plan_sites.h - ein plan for many sites: how each tensor is cut, where it stays, and what that moves. */
#ifndef EIN_PLAN_SITES_H
#define EIN_PLAN_SITES_H

#include "../base/json.h"
#include "../plan/placing.h"
#include "../plan/plan.h"
#include "../plan/planners.h"
#include "driver.h"

Leave sites_read(Session *s, const Args *a, int64_t *sites); /* -n; 1 where it is not said */
Leave plan_sites(Session *s, Args *a);

typedef struct Rival {       /* another planner, to compare with */
  Planner who;
  const char *why;           /* it is not for this program; NULL: it is */
  PartChoice choice;         /* by the paper's cost; */
  Placing *placing;          /*   by bytes: its cuts, with the best homes */
} Rival;

typedef struct Sites {
  Session *s;
  Job j;
  int64_t sites;
  bool by_bytes;
  Planner who;
  double budget;
  const PartGraph *g;
  const PartVectors *vectors; /* what there is to choose from; by bytes NULL where nobody asks */
  PartChoice choice;
  const PlaceGraph *places;  /* by bytes: */
  const Plan *plan;          /*   a plan's file, and pins, */
  const PartVectors *said;   /*   what pins and a plan's file allow, of those vertices that they name */
  Placing *placing;
  VEC(Rival) against;
} Sites;

/* ---- shared by the two costs -------------------------------------------------------------------------- */
const char *sites_equation(Arena *a, const PartVertex *v);
const char *sites_cut(Arena *a, const PartVertex *v, uint32_t n, const uint32_t *d); /* "h=4 s=2", or "whole" */
void sites_head(const Sites *p, Buf *b);
void put_head(Json *j, const Sites *p, const char *schema, const char *measure);
void put_count(Json *j, const char *key, double x); /* whole, as far as a double holds it */
void put_labels(Json *j, const PartVertex *v, const uint32_t *d);
void put_rivals(Json *j, const Sites *p);

/* ---- by bytes: plan_bytes.c ----------------------------------------------------------------------------- */
Leave bytes_find(Sites *p);
void bytes_text(const Sites *p, Buf *b);
void bytes_json(const Sites *p, Buf *out);

#endif
