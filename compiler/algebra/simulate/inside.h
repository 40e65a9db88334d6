/* algebra/simulate/inside.h - internals of the simulator, for this folder: simulate.c is the entry and makes
 * operations from a region's nodes; keys.c finds which blocks there are, cost.c what each node takes, share.c which
 * moves go by shares, move.c who sends what to whom; run.c lets time pass. */
#ifndef EIN_ALGEBRA_SIMULATE_INSIDE_H
#define EIN_ALGEBRA_SIMULATE_INSIDE_H

#include "simulate.h"

typedef struct Keys { uint32_t n; const uint64_t *number; } Keys; /* of a relation; row-major, ascending */

typedef struct NetLevel {
  const MachineLevel *level;
  uint32_t size;             /* sites of a part */
  uint32_t base;             /* links: base + 2*part leads out of the part, the next one into it */
} NetLevel;

/* Levels innermost first; rate by link. */
typedef struct Net {
  uint32_t sites, n, n_link;
  const NetLevel *level;
  const double *rate;
} Net;

typedef struct Group {       /* of a move */
  uint32_t n_member, n_link;
  const uint32_t *member, *link;
  const double *load;        /* bytes, by these links */
  double latency;
  double longer;             /* how many times as long as its bytes alone */
} Group;

/* PARTS: each site of a group gets the parts of its share, and combines them; COMBINED: all get these shares.
 * GIVEN: one site gives each of the others a share, and they exchange these. */
typedef enum { SHARE_NONE, SHARE_PARTS, SHARE_COMBINED, SHARE_GIVEN } Sharing;

typedef struct Way {         /* of a move */
  Sharing sharing;
  uint32_t axes;             /* with shares; bit a: axis a */
  double sites;              /* along these */
  double rounds, longer;     /* exchanges, one after the other, of a panel; as in MoveRounds */
  double groups;             /* of parts that are combined */
} Way;

typedef struct SimTurns {        /* a repeat, with all its turns */
  double seconds, chain, sequence;
  double *busy, *waiting;    /* by site */
  double *carried;           /* by link */
} SimTurns;

typedef struct Cost {        /* of a node, once */
  const Keys *there;         /* the keys that have a tuple somewhere; NULL: all */
  const double *seconds;     /* by site, in its queue; NULL: none */
  uint32_t n_group;          /* MOVE, FETCH */
  const Group *group;
  const int32_t *in;         /* by site: its group; -1: it neither sends nor receives */
  const SimTurns *turns;          /* REPEAT */
} Cost;

typedef struct Sim {
  Arena *arena;              /* dropped at the end */
  const Algebra *program;
  const Seconds *seconds;
  Net net;
  Cost *cost;                /* by node id */
  const AlgTasks *tasks;     /* as in simulate */
  int32_t *of;               /* by node id: the join in whose panels it is done; -1: it is done at once */
  const Cost **panel;        /* by node id: the costs of its panels */
  Way *way;                  /* by node id; of what combines parts, that of the move that brings them */
  const Keys **kept;         /* by node id of a join: the keys that its only reader, a filter, keeps; NULL: all */
  Simulated *out;
  Buf *why;
} Sim;

/* ---- which tuples there are ------------------------------------------------------------------------------ */
uint64_t key_number(uint32_t n, const int64_t *frontier, const int64_t *key);
bool keys_find(Sim *s, const AlgNode *n);        /* for the node's cost; false: too many */
const Keys *keys_filtered(Sim *s, const AlgNode *n, const Keys *of);
bool keys_have(const Keys *k, uint64_t number);  /* NULL: all */
typedef struct Tuples { const Relation *type; const Keys *keys; uint32_t next; int64_t key[REL_KEYS]; } Tuples;
bool tuple_next(Tuples *t);                      /* from next = 0; false after the last */

/* ---- what nodes cost --------------------------------------------------------------------------------------- */
bool cost_find(Sim *s, const AlgNode *n);        /* its operands' costs are known; not for a REPEAT */
void kept_find(Sim *s);                          /* for joins that only one filter reads */
uint32_t sites_at(const Mesh *m, const int32_t *at, uint32_t *out); /* ascending; `at` as in alg_places. Returns how
                                                                     * many */
double element_size(const Relation *t);
RelTables ranges_of(Arena *a, const Relation *t);
void sharing_find(Sim *s);
bool move_find(Sim *s, const AlgNode *n, Cost *c);
void move_panel(Sim *s, const AlgNode *n, uint32_t panel, Cost *c); /* the same for a panel */

/* ---- a run -------------------------------------------------------------------------------------------------- */
typedef struct SimOp {          /* a node, in one turn */
  const AlgNode *node;
  const Cost *cost;
  uint32_t turn, panel, panels, n_of; /* panels 0: it is done at once */
  const uint32_t *of;        /* earlier ops */
} SimOp;

typedef struct Trail { int32_t op, site; } Trail; /* what it waited for last; -1: nothing */

typedef struct Ran {         /* by op and site: [op * sites + site] */
  double *end;
  Trail *from;
  double *busy, *waiting, *carried; /* as in SimTurns */
} Ran;

Ran ops_run(Arena *a, const Net *net, uint32_t n, const SimOp *op);

#endif
