/* driver/measure/measure.h - measures a machine with our own programs, for `ein machine`. */
#ifndef EIN_MEASURE_H
#define EIN_MEASURE_H

#include "plan/machine.h"
#include "driver/compile/native.h"

/* ---- caches.c: what the system reports about its caches -------------------------------------- */
enum { CACHES_MOST = 4 };
typedef struct CacheHere {
  int64_t bytes, line;       /* line: 0 if not reported */
  int shared;                /* how many of our processors share it */
} CacheHere;
/* Data caches, nearest first. Returns how many; 0: none reported. */
uint32_t caches_here(Session *s, int cores, CacheHere *out);
const char *processor_name(Arena *a);   /* as the system names it; NULL: unknown */

/* ---- measure.c ---------------------------------------------------------------------------------- */
/* Takes a few seconds. `cores`: threads of a site. */
Leave machine_measure(Session *s, const Args *a, Compiler *c, int cores, Machine **out);
void figures_sort(double *x, size_t n);       /* ascending */
double figure_short(Arena *a, double x);      /* with as many digits as a measurement justifies */

/* ---- device.c: the first device of this machine is a site ------------------------------------------------ */
Leave device_measure(Session *s, const Args *a, Machine **out);

#endif
