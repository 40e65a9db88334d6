/* plan/network/inside.h - internals of the solver: classes of values, tables over classes, and the elimination of a
 * variable. */
#ifndef EIN_NETWORK_INSIDE_H
#define EIN_NETWORK_INSIDE_H

#include "network.h"

/* Which values of a variable are distinguished. Equal Classes are one pointer. */
typedef struct Classes {
  uint32_t id, values, n;
  const uint32_t *of;        /* by value: its class, numbered by first occurrence */
  const uint32_t *first;     /* by class: its first value */
} Classes;

/* Costs by class, the last side's fastest. Equal Tables are one pointer. The smallest entry is 0. */
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
  VEC(uint32_t) factors;     /* that have, or had, it as a side */
  uint32_t live;             /* factors before this one are gone */
  VEC(uint32_t) last;        /* the factors that it had when it was eliminated */
  bool gone;
  double price;              /* additions of its elimination, about; negative: not computed */
} Variable;

struct Network {
  Arena *arena;
  VEC(Variable) variables;
  VEC(Factor) factors;       /* given ones first, then those that eliminations made */
  uint32_t said;
  VEC(double *) own_said;    /* by variable: costs as given */
  VEC(double) low;           /* by given factor: what was subtracted from its table, so that the minimum is 0 */
  double constant;           /* the sum subtracted from all tables */
  Memo classes, tables, done;
  uint32_t first_id;         /* the first class or table of this network; earlier ids belong to another network */
  double budget, work;
  VEC(uint32_t) stale;       /* variables whose price must be computed again */
  uint32_t *place;           /* by variable, while a price is computed: 1 + its place among the neighbours; else 0 */
  bool loose;                /* some variable was eliminated in parts */
  const uint32_t *start;     /* a known choice; NULL: none */
  double floor;              /* a known lower bound */
};

/* ---- network_keep.c: interned by content --------------------------------------------------------------- */
const Classes *classes_of(Network *n, uint32_t values, const uint32_t *of); /* any numbering */
const Classes *classes_meet(Network *n, const Classes *a, const Classes *b); /* distinguished by either */
const Classes *classes_one(Network *n, uint32_t values);
const Table *table_of(Network *n, size_t len, double *at, double *low);      /* subtracts the minimum, *low; copies
                                                                              * at */

typedef struct Done {        /* a completed elimination */
  const Classes **by;        /* by neighbour, in the order in which its factors have them */
  const Table *table;
  double low;
} Done;
Done *done_find(Network *n, uint32_t len, const uint64_t *key); /* or a new one, whose table is NULL */

/* ---- network_step.c --------------------------------------------------------------------------------- */
#define STEP_NEVER 1e30        /* too expensive for any budget */
double step_price(const Network *n, uint32_t x);
/* Eliminates x with the given factors, and its own costs if `own`. Adds the resulting factor. */
void step_eliminate(Network *n, uint32_t x, uint32_t len, const uint32_t *factor, bool own);

/* ---- pull.c ------------------------------------------------------------------------------------------- */
/* For each class of one side of a cost of two variables: the least of its entries, each less what `other` has for the
 * class of the other side. An infinite `other`: that class is out. */
void factor_pull(const Factor *f, uint32_t side, const double *other, double *out);

/* ---- network_tighten.c: of a network before any elimination -------------------------------------------- */
typedef struct Tighten Tighten;
bool **values_all(Arena *a, const Network *n); /* [x][v]: each value remains */
/* left: the values that remain. */
Tighten *tighten_new(Network *n, Arena *a, bool **left);
#define NETWORK_SHRINK 0.5    /* if this share of the values or less remains, they get a network of their own */
/* Continues where it stopped. Removes values that are in no choice below `enough` and in none with a smaller sum than
 * *best; a better choice replaces *best and `value`. If both are NULL, it looks for no choice. Returns a lower bound
 * of all sums, at most `enough`; that is also the result if a variable has no value left. It pauses when few values
 * remain. */
double network_tighten(Tighten *t, double budget, double enough, double *best, uint32_t *value, bool **left);
/* The same for m, which has only those values of t's network that `to` gives, by variable. */
Tighten *tighten_move(const Tighten *t, Network *m, uint32_t **to);

/* One pass, there or back, which removes values that are in no choice below `enough`, and in none below *best. Looks
 * for a choice if `value` is not NULL. Returns the lower bound; INFINITY: there is no such choice. */
double tighten_pass(Tighten *t, bool back, double enough, double *best, uint32_t *value);
Tighten *tighten_copy(const Tighten *t, Arena *a);
void tighten_remove(Tighten *t, uint32_t x, uint32_t value);
void tighten_left(const Tighten *t, uint32_t x, bool *left); /* by value */

/* ---- network_repeat.c: of a network before any elimination --------------------------------------------- */
/* Variables start..start + len - 1 are like those a period before and after; both must be within the network. len 0:
 * there is no such repetition. Variables with `hub` costs or more may belong to all layers, such as a table that each
 * layer reads. */
typedef struct Repeat { uint32_t period, start, len, hub; } Repeat;
Repeat repeat_find(Network *n);
/* The variable to which a factor belongs: side 0, or side 1 if side 0 is a hub. */
uint32_t repeat_owner(const Network *n, uint32_t hub, const Factor *f);
/* One period as a ring: variable i is start + i, modulo whole periods, and hubs follow. It has the factors that a
 * variable of the period owns. NULL: there is none. */
Network *repeat_ring(Arena *a, const Network *n, const Repeat *r);

/* ---- limits -------------------------------------------------------------------------------------------- */
/* The weight of a value, the sum of a choice's, and whether a sum is within the limit. l NULL: there is no limit. */
static inline double limit_weight(const NetworkLimit *l, uint32_t x, uint32_t v) {
  return l && l->weight[x] ? l->weight[x][v] : 0;
}
static inline bool limit_holds(const NetworkLimit *l, double weight) {
  return !l || weight <= l->most * (1 + 1e-12);
}
double limit_sum(const Network *n, const NetworkLimit *l, const uint32_t *value); /* limit.c */

/* ---- by lot --------------------------------------------------------------------------------------------- */
/* A number in [0, 1); one below n; the numbers in another order. */
double lot_draw(uint64_t *random);
uint32_t lot_below(uint64_t *random, uint32_t n);
void lot_shuffle(uint64_t *random, uint32_t len, uint32_t *at);

/* ---- network.c ------------------------------------------------------------------------------------------ */
/* The part of the sum that depends on x. */
double network_around(const Network *n, const uint32_t *value, uint32_t x);
/* Gives each variable in turn its best value beside the others', until none improves. */
void network_improve(const Network *n, uint32_t *value);
/* The same network with fewer values, which may have other costs, by variable, by value (NULL: the same). to: by
 * variable, the old numbers of the remaining values. It may share tables with n. */
Network *network_left(Arena *a, const Network *n, bool **left, double **own, uint32_t **to);

/* Some variables, in the order of x, with the costs among them, and these own costs. It shares tables with n. */
Network *network_part(Arena *a, const Network *n, uint32_t len, const uint32_t *x, double *const *own);
/* The other variable of x's i-th cost. */
uint32_t variable_beside(const Network *n, uint32_t x, uint32_t i);

#endif
