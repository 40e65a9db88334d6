/* driver/compile/resident.h - a program's arguments in a device's memory, where its runs find and leave them: for `ein bench`, whose runs follow each
 * other in one stream and are waited for together. */
#ifndef EIN_RESIDENT_H
#define EIN_RESIDENT_H

#include "driver/compile/native.h"

struct ResidentDriver;
typedef struct Resident {
  struct ResidentDriver *driver;
  void *stream;              /* of the first device; all that is asked of it goes there */
  uint64_t *at;              /* of each of the model's inputs, then of its outputs; or what resident_take gave */
  uint32_t n;
} Resident;

Leave resident_open(Session *s, Resident *r);                                 /* before library_open, with s->resident */
Leave resident_bring(Session *s, Resident *r, const Library *l, const Eval *e); /* behind library_plan: takes memory, and inputs go there */
Leave resident_wait(Session *s, Resident *r);                                 /* for all that was asked so far */
/* For who measures the device: a piece of memory, 1 byte or more, full of bytes of 0x3C; all of these are given back; a piece of so many bytes goes from
 * the host's pinned memory there and back; what the device is called, its memory, how many there are. */
Leave resident_take(Session *s, Resident *r, size_t bytes, uint64_t *at);
void resident_drop(Resident *r);
Leave resident_there_and_back(Session *s, Resident *r, size_t bytes);
Leave resident_about(Session *s, Resident *r, const char **name, int64_t *bytes, int64_t *devices);
void resident_close(Resident *r);                                             /* behind library_close */
/* The views of a run: ein_tensor of each input, or output. */
void resident_views(const Resident *r, const Library *l, ein_tensor *in, ein_tensor *out);

#endif
