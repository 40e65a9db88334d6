/* plan/machine.h - a machine: what it computes a second, what it moves a second, and how far away things are.
 *
 * A machine is a nest of levels, from the inside out: a core, all cores of a node, a cluster of nodes. Each tells what one of
 * it reaches as a whole: its memories, its rates, and how its parts reach each other. The text is JSON, "ein machine 1",
 * described member by member in docs/machine.md; `ein machine` writes it, people edit it, and machines that are not here are
 * written by hand. A figure that nobody knows is 0 here and missing there: who needs it asks. */
#ifndef EIN_MACHINE_H
#define EIN_MACHINE_H

#include "base/diag.h"
#include "expr/expr.h"

/* A figure: the best that was met, and how far measuring it spread. */
typedef struct Measure {
  double value;              /* positive; 0: not known */
  double median, worst;      /* 0 where it was not measured but said */
} Measure;

typedef struct MachineMemory {
  const char *name;          /* "L2", "memory" */
  int64_t bytes;             /* that one of the level reaches; 0: not known */
  Measure latency;           /* seconds of one read that waits for the one before it */
  Measure read, copy;        /* bytes a second; a copy reads a byte and writes one: two */
  Span span;
} MachineMemory;

typedef enum {
  RATE_MULTIPLY_ADD,         /* sums of products */
  RATE_ADD_MAX,              /* maxima of sums */
  RATES
} MachineRate;
extern const char *const machine_rate_name[RATES];

typedef struct MachineLevel {
  const char *name;          /* "core", "node": differs from the others' */
  int64_t parts;             /* so many of the level before make one; 1 for the first */
  VEC(MachineMemory) memories; /* nearest first */
  Measure rate[DTYPES][RATES]; /* operations a second; a multiplication and an addition are two, and so are an addition and
                                  a maximum */
  Measure link_latency;      /* seconds of the smallest message from one part to another; */
  Measure link;              /*   bytes a second of a part to all others, where all send: 0 where parts share memory */
  Span span;
} MachineLevel;

typedef struct Machine {
  const char *name;          /* for people */
  const char *made;          /* who measured it, and how, for people; NULL: nobody */
  VEC(MachineLevel) levels;  /* from the inside out; at least one */
  uint32_t site;             /* the level that has one process with its own memory */
  int64_t site_bytes;        /* memory of such a one; 0: not known */
  int64_t line_bytes;        /* that come near together; 0: not known */
  Measure run;               /* seconds of a run of next to nothing, */
  Measure kernel;            /*   of a further kernel in it, */
  Measure parallel, wake;    /*   and of one for all threads of a site: where they wait awake, and where they sleep */
  double worth_threads;      /* scalar operations below which one thread is as fast as several; 0: not known */
} Machine;

/* The text, and from it; NULL after complaints (E920, E921). What is read has the form, and may be nonsense still. */
void machine_print(Buf *out, const Machine *m);
Machine *machine_read(Arena *a, Source *src, Diags *d);
/* Whether it makes sense; complaints (E922) name the place where it was read. */
bool machine_check(const Machine *m, Diags *d);
bool machine_equal(const Machine *a, const Machine *b, Buf *why);

/* Of times of a read in arrays of growing size: after which sizes they rise. So many caches, smallest first. */
uint32_t machine_caches_guess(uint32_t n, const int64_t *bytes, const double *seconds, uint32_t most, int64_t *out);

const MachineMemory *machine_memory_find(const MachineLevel *l, const char *name); /* NULL: it has none */

#endif
