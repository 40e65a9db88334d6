/* plan/network/inside.h - inside of the solver: classes of values, tables over classes, and how one variable goes. */
#ifndef EIN_NETWORK_INSIDE_H
#define EIN_NETWORK_INSIDE_H

#include "network.h"

/* Which values of a variable are told apart; equal ones are one pointer. */
typedef struct Classes {
  uint32_t id, values, n;
  const uint32_t *of;        /* by value: its class, numbered by first occurrence */
  const uint32_t *first;     /* by class: its first value */
} Classes;

/* Costs by class, the last side's running fastest; equal ones are one pointer. The least of them is 0. */
typedef struct Table { uint32_t id; size_t n; const double *at; } Table;

typedef struct Side { uint32_t variable; const Classes *by; size_t stride; } Side;

typedef struct Factor {      /* a cost of several variables */
  uint32_t n;
  Side *side;
  const Table *table;
  bool gone;
} Factor;

typedef struct Variable {
  uint32_t n;                /* values */
  double *own;               /* by value */
  VEC(uint32_t) factors;     /* that have, or had, it as a side; */
  uint32_t live;             /*   those before this one are gone */
  VEC(uint32_t) last;        /* those that it had when it went */
  bool gone;
  double price;              /* additions of its elimination, about; negative: to be found */
} Variable;

struct Network {
  Arena *arena;
  VEC(Variable) variables;
  VEC(Factor) factors;       /* those that were said come first, then those that eliminations made */
  uint32_t said;
  VEC(double *) own_said;    /* by variable: costs as they were said */
  VEC(double) low;           /* by said factor: what was taken off its table, so that its least is 0 */
  double constant;           /* what was taken off all tables */
  Memo classes, tables, done;
  uint32_t first_id;         /* of classes and tables; those before are another network's */
  double budget, work;
  VEC(uint32_t) stale;       /* variables whose price was known, and is to be found anew */
  bool loose;                /* some variable was eliminated in parts */
  const uint32_t *start;     /* a choice that is known; NULL: none */
  double floor;              /* a bound that is known */
};

/* ---- network_keep.c: kept by content ---------------------------------------------------------------- */
const Classes *classes_of(Network *n, uint32_t values, const uint32_t *of); /* any numbering */
const Classes *classes_meet(Network *n, const Classes *a, const Classes *b); /* told apart by either */
const Classes *classes_one(Network *n, uint32_t values);
const Table *table_of(Network *n, size_t len, double *at, double *low);      /* takes off the least: *low; at is copied */

typedef struct Done {        /* an elimination that was done */
  uint32_t n;                /* neighbours, in the order in which its factors have them */
  const Classes **by;
  const Table *table;
  double low;
} Done;
Done *done_find(Network *n, uint32_t len, const uint64_t *key); /* or a new one, whose table is NULL */

/* ---- network_step.c --------------------------------------------------------------------------------- */
#define STEP_NEVER 1e30        /* such a price is too much for any budget */
double step_price(const Network *n, uint32_t x);
/* Takes x out, with the factors given; own costs count if `own`. What it makes is added. */
void step_eliminate(Network *n, uint32_t x, uint32_t len, const uint32_t *factor, bool own);

/* ---- network_tighten.c: of a network from which nothing was taken out ---------------------------------- */
typedef struct Tighten Tighten;
/* left: [x][v], values that are left. */
Tighten *tighten_new(Network *n, Arena *a, bool **left);
#define NETWORK_SHRINK 0.5    /* a share of the values with which a network of its own is made of those that are left */
/* Goes on from where it stopped. Of the values that are left those go that are in no choice below `enough`, and in none with a smaller sum than *best;
 * where one is found, it is that, and `value`. Where both are NULL, none is looked for. Gives a bound from below of all sums, up to `enough`: where no value of a variable is left, that. It
 * stops for a while where few are left. */
double network_tighten(Tighten *t, double budget, double enough, double *best, uint32_t *value, bool **left);
/* The same of m, which has those values of t's network that `to` says, by variable. */
Tighten *tighten_move(const Tighten *t, Network *m, uint32_t **to);

/* ---- network_repeat.c: of a network from which nothing was taken out ----------------------------------- */
/* Variables start..start + len - 1 are like those a period before and after, which are among them; len 0: there are none such, twice. Variables with
 * `hub` costs or more may be all layers', as a table that each of them reads. */
typedef struct Repeat { uint32_t period, start, len, hub; } Repeat;
Repeat repeat_find(Network *n);
/* The variable by which a factor is told of: side 0, or side 1 where that is a hub. */
uint32_t repeat_owner(const Network *n, uint32_t hub, const Factor *f);
/* A period of it in a ring: variable i is start + i, but for whole periods, those after the period are hubs, and of the factors those that such a
 * variable owns, by variable. NULL: there is none. */
Network *repeat_ring(Arena *a, const Network *n, const Repeat *r);

/* ---- network.c ------------------------------------------------------------------------------------------ */
/* What of the sum hangs on one variable. */
double network_around(const Network *n, const uint32_t *value, uint32_t x);
/* One variable after the other gets its best value beside the others', until none has a better one. */
void network_improve(const Network *n, uint32_t *value);
/* The same network with fewer values; these may have other costs, by variable, by value (NULL: the same). to: by variable, the old numbers of those
 * that are left. It may share tables with n. */
Network *network_left(Arena *a, const Network *n, bool **left, double **own, uint32_t **to);

#endif
