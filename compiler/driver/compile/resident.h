/* driver/compile/resident.h - a program's arguments in a device's memory, where its runs find and leave them: for `ein bench`, whose runs follow each
 * other in one stream and are waited for together. */
#ifndef EIN_RESIDENT_H
#define EIN_RESIDENT_H

#include "driver/compile/native.h"

struct ResidentDriver;
typedef struct Resident {
  struct ResidentDriver *driver;
  void *stream;              /* of the first device; all that is asked of it goes there */
  uint64_t *at;              /* of each of the model's inputs, then of its outputs */
  uint32_t n;
} Resident;

Leave resident_open(Session *s, Resident *r);                                 /* before library_open, with s->resident */
Leave resident_bring(Session *s, Resident *r, const Library *l, const Eval *e); /* behind library_plan: takes memory, and inputs go there */
Leave resident_wait(Session *s, Resident *r);                                 /* for all that was asked so far */
void resident_close(Resident *r);                                             /* behind library_close */
/* The views of a run: ein_tensor of each input, or output. */
void resident_views(const Resident *r, const Library *l, ein_tensor *in, ein_tensor *out);

#endif
