/* driver/measure/measure.h - a machine, measured by programs of ours: what `ein machine` is made of. */
#ifndef EIN_MEASURE_H
#define EIN_MEASURE_H

#include "plan/machine.h"
#include "driver/compile/native.h"

/* ---- caches.c: what the system says of its caches ---------------------------------------- */
enum { CACHES_MOST = 4 };
typedef struct CacheHere {
  int64_t bytes, line;       /* line: 0 where it is not said */
  int shared;                /* so many of our processors have it together */
} CacheHere;
/* Of data, nearest first; 0: nothing is said. */
uint32_t caches_here(Session *s, int cores, CacheHere *out);
const char *processor_name(Arena *a);   /* as it calls itself; NULL: not known */

/* ---- measure.c ---------------------------------------------------------------------------------- */
/* Takes a few seconds. `cores`: threads of a site. */
Leave machine_measure(Session *s, const Args *a, Compiler *c, int cores, Machine **out);
void figures_sort(double *x, size_t n);       /* the least first */
double figure_short(Arena *a, double x);      /* with as many digits as one that was measured is worth */

/* ---- device.c: the first device that is here is a site ------------------------------------------------ */
Leave device_measure(Session *s, const Args *a, Machine **out);

#endif
