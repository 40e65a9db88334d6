/* plan/machine.h - a machine: what it computes per second, what it moves per second, and how far apart its parts are.
 *
 * A machine is a nest of levels, from the inside out: a core, all cores of a node, a cluster of nodes. Each level
 * describes one unit of it as a whole: its memories, its rates, and how its parts reach each other. The text is JSON,
 * "ein machine 1", which docs/machine.md describes member by member. `ein machine` writes it, people edit it, and
 * machines that are not here are written by hand. An unknown figure is 0 here and absent from the text; code that
 * needs it must check. */
#ifndef EIN_MACHINE_H
#define EIN_MACHINE_H

#include "base/diag.h"
#include "expr/expr.h"

/* A figure: the best measurement, and how far the measurements spread. */
typedef struct Measure {
  double value;              /* positive; 0: not known */
  double median, worst;      /* 0 if it was stated and not measured */
} Measure;

typedef struct MachineMemory {
  const char *name;          /* "L2", "memory" */
  int64_t bytes;             /* that one unit of the level reaches; 0: not known */
  Measure latency;           /* seconds of one read that depends on the read before */
  Measure read, copy;        /* bytes per second; a copy counts both the read and the write */
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
  int64_t parts;             /* units of the previous level in one of this level; 1 for the first */
  VEC(MachineMemory) memories; /* nearest first */
  Measure rate[DTYPES][RATES]; /* operations per second; a multiplication and an addition count as two, and so do an
                                * addition and a maximum */
  Measure link_latency;      /* seconds of the smallest message from one part to another */
  Measure link;              /* bytes per second from a part to all others, if all send; 0 if parts share memory */
  Span span;
} MachineLevel;

typedef struct Machine {
  const char *name;          /* for people */
  const char *made;          /* who measured it, and how, for people; NULL: not measured */
  VEC(MachineLevel) levels;  /* from the inside out; at least one */
  uint32_t site;             /* the level that is one process with its own memory */
  int64_t site_bytes;        /* memory of a site; 0: not known */
  int64_t line_bytes;        /* a cache line; 0: not known */
  Measure run;               /* seconds of a run that does next to nothing */
  Measure kernel;            /* seconds of one more kernel in it */
  Measure parallel, wake;    /* seconds of a kernel on all threads of a site: threads that spin, threads that sleep */
  double worth_threads;      /* below this many scalar operations one thread is as fast as several; 0: not known */
} Machine;

/* Prints and reads the text. machine_read returns NULL after complaints (E920, E921). It checks only the form: call
 * machine_check for the meaning. */
void machine_print(Buf *out, const Machine *m);
Machine *machine_read(Arena *a, Source *src, Diags *d);
/* Reports whether the figures make sense. Complaints (E922) point to the place where the figure was read. */
bool machine_check(const Machine *m, Diags *d);
bool machine_equal(const Machine *a, const Machine *b, Buf *why);

/* Guesses cache sizes from the time of a read in arrays of growing size: the sizes after which the time rises,
 * smallest first. Returns how many. */
uint32_t machine_caches_guess(uint32_t n, const int64_t *bytes, const double *seconds, uint32_t most, int64_t *out);

const MachineMemory *machine_memory_find(const MachineLevel *l, const char *name); /* NULL: none has that name */

#endif
