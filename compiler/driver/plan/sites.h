/* driver/plan/sites.h - ein plan for many sites: how each tensor is cut, where it stays, and what that moves. */
#ifndef EIN_PLAN_SITES_H
#define EIN_PLAN_SITES_H

#include "algebra/from_tra.h"
#include "base/json.h"
#include "plan/placing/placing.h"
#include "plan/placing/memory.h"
#include "plan/placing/as_plan.h"
#include "plan/decomp/planners.h"
#include "driver/driver.h"

Leave sites_read(Session *s, const Args *a, int64_t *sites); /* -n; 1 where it is not said */
Leave plan_sites(Session *s, Args *a);

typedef struct Rival {       /* another planner, to compare with */
  Planner who;
  const char *why;           /* it is not for this program; NULL: it is */
  PartChoice choice;         /* by the paper's cost; */
  Placing *placing;          /*   by bytes: its cuts, with the best homes; */
  const bool *exactly;       /*   as Sites has it */
} Rival;

typedef struct SitesMemory { /* of a plan, as its tasks have it */
  double bytes;              /* that the busiest site has at most, */
  int32_t at;                /*   and the tensor at whose task: its number among the places'; -1: between tasks */
  double *by;                /* by vertex: the most at its tasks; 0: it has none, for kernels of others make it as they go */
  const char *guessed;       /* NULL; or why there is no list of tasks, and this is as placing_memory has it */
} SitesMemory;

typedef struct Sites Sites;
struct Sites {
  Session *s;
  Job j;
  int64_t sites;
  bool by_bytes;             /* by bytes, seconds or elements of a plan over relations: not by the EinDecomp paper's cost */
  Planner who;
  double budget;
  const KeyGraph *keys;      /* of a program over relations; NULL: of a graph */
  EinGraph *elaborated;      /* before its passes */
  bool by_moves;             /* products are in orders that move little, */
  double fastest;            /*   for those that are fastest on one site cost so much; 0: nobody looked */
  const PartGraph *g;
  const PartVectors *vectors; /* what there is to choose from; by bytes NULL where nobody asks */
  bool narrow;               /* of some, only the longest labels may be cut */
  PartChoice choice;
  const PlaceGraph *places;  /* by bytes: */
  const Plan *plan;          /*   a plan's file, and pins, */
  const PartVectors *said;   /*   what pins and a plan's file allow, of those vertices that they name */
  Placing *placing;          /*   by the EinDecomp paper's cost its counts as axes have them, */
  const bool *exactly;       /*   which some do not quite: by vertex. So too by bytes, of another planner's counts; NULL: all do */
  Machine *machine;          /*   NULL: none was said */
  bool in_seconds;           /*   that is what is least, */
  bool in_elements;          /*   or elements as the TRA paper counts moves; */
  Seconds *seconds;          /*   and else is told where a machine was said */
  double memory;             /*   of a site, at most; 0: nobody says */
  const char *unfit;         /*   why there is no plan, or none that fits it, for people; NULL: there is */
  uint32_t binds;            /*   the tensor at whose task that has most where none fits, + 1 */
  bool held;                 /* it is only looked whether it keeps to limits: nothing is told of other plans, nor that nothing fits */
  const Lives *lives;
  SitesMemory peak;
  const Placing *unlimited;  /* what would be best without the limit, if it does not fit; else NULL */
  VEC(Rival) against;
  const struct RunnerUp *second; /*   driver/plan/rival.h */
  VEC(struct Why *) whys;    /* driver/plan/why.h */
  const struct Facts *facts; /* driver/plan/facts.h */
  const char *strategy;      /* what such a plan is called (strategy.c); NULL: it has no name, or nobody asks */
  const Sites *usual; /* under --deterministic: the plan without it; NULL: without that, or some of a plan was said */
  const struct Simulated *simulated; /* algebra/simulate/simulate.h; NULL: nobody asks */
};

/* The plan for p->sites, of p->j where that is compiled, else of the file that `a` names; by the options in `a`. */
Leave sites_find(Sites *p, const Args *a);

#define SITES_NARROW "of tensors with many labels, only the longest were looked at; so this says nothing of other plans"

/* ---- shared by the two costs -------------------------------------------------------------------------- */
const char *gap_of(Arena *a, double share); /* "12.3 %", or "0.0002 %": never none */
const char *sites_equation(Arena *a, const PartVertex *v);
const char *sites_cut(Arena *a, const PartVertex *v, uint32_t n, const uint32_t *d); /* "h=4 s=2", or "whole" */
void sites_head(const Sites *p, Buf *b);
const char *cost_text(const Sites *p, Arena *a, double x); /* bytes, seconds or elements: what the plan is to have least of */
Leave rivals_read(Sites *p, const Args *a);  /* --against */
void less_cut_print(const Sites *p, Buf *b); /* a line, if some vertices are not cut as their planner has it */
void against_text(const Sites *p, const Rival *r, Buf *b); /* "12.3 kB, 1.25 times as much", or why not */
void against_print(const Sites *p, Buf *b);                /* a line each */
void usual_text(const Sites *p, Buf *b);     /* a line, if there is one to compare with */
void usual_json(const Sites *p, Json *j);    /* "usual", if there is one */
void put_head(Json *j, const Sites *p, const char *schema, const char *measure);
void put_count(Json *j, const char *key, double x); /* whole, as far as a double holds it */
void put_labels(Json *j, const PartVertex *v, const uint32_t *d);
void put_numbers(Json *j, const char *key, uint32_t n, const int32_t *x);
void put_mesh(Json *j, const Mesh *m);
void put_axes(Json *j, const char *key, uint32_t n, const int8_t *on);
void put_rivals(Json *j, const Sites *p);
void put_placing(Json *j, const Sites *p, const Placing *x); /* its bytes, and seconds or elements if those count */

/* ---- a machine, seconds, memory: driver/plan/machine.c ---------------------------------------------------------- */
Leave machine_wanted(Sites *p, const Args *a); /* --machine, --costs=seconds, --memory: before the program */
Leave costs_ready(Sites *p);                   /* for p->places */
const char *seconds_of(Arena *a, double x);    /* "12.3 ms" */
double vertex_seconds(const Sites *p, uint32_t vertex); /* its kernels, its operands, its result brought home */
double plan_seconds(const Sites *p);           /* of a run */
const char *seconds_shares(const Sites *p, Arena *a); /* "1.0 us of kernels, 2.0 us for operands, 3.0 us for results" */
void machine_text(const Sites *p, Buf *b);     /* lines of the head */
void machine_json(const Sites *p, Json *j);

/* ---- the memory of a site: driver/plan/memory.c ----------------------------------------------------------------- */
SitesMemory memory_of(const Sites *p, const Placing *x);
Leave memory_fit(Sites *p, const PartVectors *only);  /* a plan that fits p->memory, and its peak */
/* driver/plan/panels.c: gives x panels with which it takes no more than the limit, or as little as that goes, and *peak what it takes then. thin: as few
 * as keep p->memory, which these do. *work: how many equations and panels, of all plans that are measured for it, are left. */
void panels_fit(const Sites *p, Placing *x, double limit, double *work, SitesMemory *peak);
void panels_thin(const Sites *p, Placing *x, double *work, SitesMemory *peak);
const char *memory_most(const Sites *p, Arena *a);    /* behind the bytes of a site at most: ", of 80.0 GB, at T" */

/* ---- by bytes: driver/plan/bytes.c ----------------------------------------------------------------------------- */
Leave bytes_find(Sites *p);
void bytes_text(const Sites *p, Buf *b);
const char *sites_planned(const Sites *p); /* how: of the search, whether it is proven that none costs less */
const char *bytes_best(const Sites *p, Arena *a); /* whether another plan is better, or how much it could be; NULL: nobody knows */
void bytes_json(const Sites *p, Buf *out);
const char *bytes_of(Arena *a, double x);
const char *dimension_name(Arena *a, const Sites *p, uint32_t tensor, uint32_t d);
const char *home_text(Arena *a, const Sites *p, uint32_t tensor);

/* ---- as a program over relations: driver/plan/algebra.c --------------------------------------------------------- */
Leave plan_relations(Session *s, Args *a); /* driver/plan/relations.c: what such a text moves */
Leave algebra_text(const Sites *p, bool ia, bool reread, Buf *out);
Leave sites_tasks(const Sites *p, bool reread, TaskGraph **out);
Leave task_text(const Sites *p, bool reread, Buf *out);           /* what each site does */
bool task_text_try(const Sites *p, bool reread, Buf *out, Buf *why); /* false: it cannot be one list of tasks, and why */
Leave algebra_simulation(Sites *p); /* as an Ia, run on the machine */
Leave algebra_derivation(const Sites *p, Buf *out); /* by steps, from Table 1 of the TRA paper */

/* ---- to be checked without ein: driver/plan/certificate.c --------------------------------------------------------- */
Leave certificate_write(const Sites *p, const Args *a, const char *path);

const char *strategy_find(const Sites *p); /* after facts */

/* ---- simulated: driver/plan/simulate.c --------------------------------------------------------------------------- */
Leave simulation_find(Sites *p, const Algebra *ia);
void simulation_text(const Sites *p, Buf *b); /* nothing where it was not asked for */
void simulation_page(const Sites *p, Buf *b); /* a section */
void simulation_json(const Sites *p, Json *j);

#endif
