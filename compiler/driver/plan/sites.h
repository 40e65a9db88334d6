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

Leave sites_read(Session *s, const Args *a, int64_t *sites); /* -n; 1 if not given */
/* What --plan says stands for -n. Other options about plans for many sites are refused without it. */
Leave sites_said(Session *s, Args *a, const char *program);
Leave plan_sites(Session *s, Args *a);

typedef struct Rival {       /* another planner to compare with */
  Planner who;
  const char *why;           /* why it cannot handle the program; NULL: it can */
  PartChoice choice;         /* by the paper's cost */
  Placing *placing;          /* by bytes: its cuts, with the best homes */
  const bool *exactly;       /* as in Sites */
} Rival;

typedef struct SitesMemory { /* of a plan, from its tasks */
  double bytes;              /* of the busiest site, at most */
  int32_t at;                /* the tensor at whose task that is, numbered as in places; -1: between tasks */
  double *by;                /* by vertex: the most at its tasks; 0: it has none, because other kernels compute it */
  const char *guessed;       /* NULL; or why there is no task list, and this is the estimate of placing_memory */
} SitesMemory;

/* What is asked for: read from the options before the program is. A copy of Sites may ask for something else. */
typedef struct SitesAsked {
  bool by_bytes;             /* by bytes, seconds or elements of a plan over relations; false: by the EinDecomp
                              * paper's cost */
  bool in_seconds;           /* seconds are minimised */
  bool in_elements;          /* elements as the TRA paper counts moves are minimised */
  Planner who;
  double budget;
  double memory;             /* limit of a site; 0: none */
  const Args *loops;         /* what the command line says of loops and threads */
  const Machine *machine;    /* NULL: none given */
  const Plan *plan;          /* a plan file and pins */
  bool devices;              /* sites are devices: if no plan keeps to the memory, tensors stay on the host */
  bool all_sites;            /* it will run: each site is a process, and has a part */
  bool held;                 /* only checks limits: reports neither other plans nor that nothing fits */
  bool lean;                 /* gradients may save less, so if nothing fits, that is not reported yet */
} SitesAsked;

/* The orders of products. */
typedef struct SitesOrders {
  EinGraph *elaborated;      /* the graph before its passes, to choose others */
  bool by_moves;             /* they move little */
  double fastest;            /* the cost with those that are fastest on one site; 0: not computed */
} SitesOrders;

/* How a plan fits the memory of a site; memory_fit finds it. */
typedef struct SitesFit {
  SitesMemory peak;
  double packed;             /* bytes beside it, for what kernels pack; the limit is for the tensors */
  const Placing *unlimited;  /* the best plan without the limit, if it does not fit; else NULL */
  const char *unfit;         /* why there is no plan, or none that fits, for people; NULL: there is */
  uint32_t binds;            /* if none fits: 1 + the tensor at whose task memory peaks */
} SitesFit;

typedef struct Sites Sites;

/* What reports tell about a plan, once it is found. */
typedef struct SitesReport {
  const struct RunnerUp *second; /* driver/plan/rival.h */
  VEC(struct Why *) whys;    /* driver/plan/why.h */
  const struct Facts *facts; /* driver/plan/facts.h */
  const char *strategy;      /* the name of such a plan (strategy.c); NULL: none, or not needed */
  const Sites *usual;        /* with --deterministic: the plan without it; NULL: without that option, or if part of a
                              * plan was given */
  const struct DevicePlans *devices; /* driver/plan/device/device.h; NULL: its sites are not devices */
  const struct Simulated *simulated; /* algebra/simulate/simulate.h; NULL: not requested */
} SitesReport;

struct Sites {
  Session *s;
  Job j;
  int64_t sites;
  SitesAsked asked;
  /* the program: */
  const KeyGraph *keys;      /* of a program over relations; NULL: of a graph */
  SitesOrders orders;
  const PartGraph *g;
  const PlaceGraph *places;  /* the same, for homes */
  const Lives *lives;
  Seconds *seconds;          /* set, for reports, if a machine was given */
  /* the possible plans: */
  const PartVectors *vectors; /* the possible choices; by bytes NULL if not needed */
  const PartVectors *said;   /* what pins and a plan file allow, for the vertices that they name */
  bool narrow;               /* of some tensors only the longest labels may be cut */
  /* the plan: */
  PartChoice choice;
  Placing *placing;          /* by the EinDecomp paper's cost: its counts realised by axes */
  const bool *exactly;       /* by vertex: false if not exactly. Also by bytes, for another planner's counts; NULL:
                              * all exact */
  SitesFit fit;
  VEC(Rival) against;
  SitesReport report;
};

/* Finds the plan for p->sites, by the options in `a`: of p->j if that is compiled, else of the file that `a` names. */
Leave sites_find(Sites *p, const Args *a);

#define SITES_NARROW "of tensors with many labels, only the longest were looked at; so this says nothing of other plans"

#define SITES_GIVEN "what is given" /* by pins and a plan file: what is proven then is proven with it only */

/* ---- shared by the two costs -------------------------------------------------------------------------- */
const char *gap_of(Arena *a, double share); /* "12.3 %", or "0.0002 %": never zero */
const char *sites_equation(Arena *a, const PartVertex *v);
const char *sites_cut(Arena *a, const PartVertex *v, uint32_t n, const uint32_t *d); /* "h=4 s=2", or "whole" */
void sites_head(const Sites *p, Buf *b);
const char *cost_text(const Sites *p, Arena *a, double x); /* bytes, seconds or elements: the plan's cost */
Leave rivals_read(Sites *p, const Args *a);  /* --against */
void less_cut_print(const Sites *p, Buf *b); /* a line, if some vertices are cut less than their planner wanted */
void against_text(const Sites *p, const Rival *r, Buf *b); /* "12.3 kB, 1.25 times as much", or why not */
void against_print(const Sites *p, Buf *b);                /* a line for each */
void usual_text(const Sites *p, Buf *b);     /* a line, if there is a usual plan to compare with */
void usual_json(const Sites *p, Json *j);    /* "usual", if there is one */
void devices_text(const Sites *p, Buf *b);   /* with --target=cuda, a table */
void devices_json(const Sites *p, Json *j);  /* with --target=cuda, "devices" */
void put_head(Json *j, const Sites *p, const char *schema, const char *measure);
void put_count(Json *j, const char *key, double x); /* as an integer, as far as a double holds it */
void put_labels(Json *j, const PartVertex *v, const uint32_t *d);
void put_read_shape(Json *j, const PartRead *r); /* its extents, the labels of its axes, and where these are made */
void put_rivals(Json *j, const Sites *p);
void put_placing(Json *j, const Sites *p, const Placing *x); /* its bytes, and seconds or elements if those count */

/* ---- a machine, seconds, memory: driver/plan/machine.c ---------------------------------------------------------- */
Leave machine_wanted(Sites *p, const Args *a); /* --machine, --costs=seconds, --memory: before the program */
Leave costs_ready(Sites *p);                   /* for p->places */
const char *seconds_of(Arena *a, double x);    /* "12.3 ms" */
double vertex_seconds(const Sites *p, uint32_t vertex); /* its kernels, its operands, and bringing its result home */
double plan_seconds(const Sites *p);           /* of a run */
const char *seconds_shares(const Sites *p, Arena *a); /* "1.0 us of kernels, 2.0 us for operands, 3.0 us for results" */
void machine_text(const Sites *p, Buf *b);     /* lines of the header */
void machine_json(const Sites *p, Json *j);

/* ---- the memory of a site: driver/plan/memory.c ----------------------------------------------------------------- */
SitesMemory memory_of(const Sites *p, const Placing *x);
/* What its kernels pack beside that, at the busiest site; 0 if there is no task list, or devices run it. */
double memory_packed(const Sites *p, const Placing *x);
Leave memory_fit(Sites *p, const PartVectors *only);  /* a plan that fits p->asked.memory: p->fit */
/* driver/plan/panels.c. panels_fit gives x panels so that it stays within the limit, or comes as close as possible; if
 * limit is 0, such that it takes as little as possible, until that is `enough`. *peak: its memory then. panels_thin
 * reduces them to as few as still fit p->asked.memory. *work: how many equations and panels may still be measured, over
 * all plans. */
void panels_fit(const Sites *p, Placing *x, double limit, double enough, double *work, SitesMemory *peak);
void panels_thin(const Sites *p, Placing *x, double *work, SitesMemory *peak);
bool memory_spills(const Sites *p); /* no plan keeps to it, and sites are devices: these keep tensors on the host */
const char *memory_most(const Sites *p, Arena *a);    /* after the bytes of a site at most: ", of 80.0 GB, at T" */

/* ---- by bytes: driver/plan/bytes.c ----------------------------------------------------------------------------- */
Leave bytes_find(Sites *p);
void bytes_text(const Sites *p, Buf *b);
const char *among_given(const Sites *p); /* before a claim about all plans: "with what is given, ", or "" */
const char *sites_planned(const Sites *p); /* how: whether the search proved that none costs less */
const char *bytes_best(const Sites *p, Arena *a); /* whether another plan is better, or how much better it could be;
                                                   * NULL: unknown */
void bytes_json(const Sites *p, Buf *out);
const char *bytes_of(Arena *a, double x);
const char *home_text(Arena *a, const Sites *p, uint32_t tensor);
const char *tensor_name(const Sites *p, const PlaceGraph *g, uint32_t tensor); /* as in the program; "": it has none */
const char *tensor_called(const Sites *p, Arena *a, uint32_t tensor);          /* the same for people; "an input" */

/* ---- as a program over relations: driver/plan/algebra.c --------------------------------------------------------- */
Leave plan_relations(Session *s, Args *a); /* driver/plan/relations.c: what such a text moves */
Leave algebra_text(const Sites *p, bool ia, bool reread, Buf *out);
Leave task_text(const Sites *p, bool reread, Buf *out);           /* the tasks of each site */
Leave sites_tasks(const Sites *p, bool reread, TaskGraph **out);  /* fails if they cannot be one task list */
bool task_text_try(const Sites *p, bool reread, Buf *out, Buf *why); /* false and why: they cannot be one task list */
Leave algebra_simulation(Sites *p); /* as an Ia, simulated on the machine */
Leave algebra_derivation(const Sites *p, Buf *out); /* in steps, from Table 1 of the TRA paper */

/* ---- certificates, checked without ein: driver/plan/certificate.c
 * ------------------------------------------------------ */
Leave certificate_write(const Sites *p, const Args *a, const char *path);

const char *strategy_find(const Sites *p); /* after facts */

/* ---- simulation: driver/plan/simulate.c
 * -------------------------------------------------------------------------------- */
Leave simulation_find(Sites *p, const Algebra *ia);
void simulation_text(const Sites *p, Buf *b); /* nothing if it was not requested */
void simulation_page(const Sites *p, Buf *b); /* a section */
void simulation_json(const Sites *p, Json *j);

#endif
