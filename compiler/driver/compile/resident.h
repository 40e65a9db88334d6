/* driver/compile/resident.h - keeps a program's arguments in a device's memory, where its runs read and write them.
 * For `ein bench`, which queues runs on one stream and waits for all of them together. */
#ifndef EIN_RESIDENT_H
#define EIN_RESIDENT_H

#include "driver/compile/native.h"

struct ResidentDriver;
typedef struct Resident {
  struct ResidentDriver *driver;
  void *stream;              /* of the first device; all work goes there */
  uint64_t *at;              /* the model's inputs, then its outputs; or what resident_take returned */
  uint32_t n;
} Resident;

/* before library_open, with s->resident */
Leave resident_open(Session *s, Resident *r);
Leave resident_bring(Session *s, Resident *r, const Library *l, const Eval *e); /* after library_plan: allocates
                                                                                 * memory, and copies the inputs
                                                                                 * there */
Leave resident_wait(Session *s, Resident *r);                                 /* for all work queued so far */
/* For measuring the device. resident_take: allocates a piece of memory, 1 byte or more, filled with bytes 0x3C.
 * resident_drop: frees all of these. resident_there_and_back: copies that many bytes from the host's pinned memory to
 * the device and back. resident_about: the device's name, its memory, the number of devices. */
Leave resident_take(Session *s, Resident *r, size_t bytes, uint64_t *at);
void resident_drop(Resident *r);
Leave resident_there_and_back(Session *s, Resident *r, size_t bytes);
Leave resident_about(Session *s, Resident *r, const char **name, int64_t *bytes, int64_t *devices);
void resident_close(Resident *r);                                             /* after library_close */
/* The views for a run: an ein_tensor for each input, or output. */
void resident_views(const Resident *r, const Library *l, ein_tensor *in, ein_tensor *out);

#endif
