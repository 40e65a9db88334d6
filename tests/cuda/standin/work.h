/* tests/cuda/standin/work.h - what the stand-in for the driver has been asked for and has not done yet. */
#ifndef EIN_STANDIN_WORK_H
#define EIN_STANDIN_WORK_H

#include <pthread.h>

#include "order.h"
#include "world.h"

typedef struct Later {
  /* 'k' kernel, 'u' up, 'd' down, 'a' across, 'c' a library's call, 'z' fill, 'g' graph (its kernels have their own
   * parameters), 'e' an event is recorded, 'w' another stream's event is waited for, '-' nothing */
  int what;
  int parameters, size;      /* of a kernel: the number of parameters, and the most bytes of each */
  struct Later *nodes;       /* of a graph */
  int shared;                /* its data belong to the graph */
  StandinLaunch *run;
  void (*call)(void *data);
  unsigned grid[3], block[3], bytes_shared; /* the last: of a block's shared memory */
  char *data;                /* a copy of the parameters */
  void **parameter;
  uint64_t at, from;
  void *host;
  size_t bytes;
  unsigned char byte;
  struct Stream *stream;
  struct Record *record;
  OrderClock known;          /* to the host, when it asked */
  struct Later *next;
} Later;
/* Of an event; they are kept. */
typedef struct Record { int done; struct Stream *stream; OrderClock clock; } Record;
typedef struct Event { Record *last; } Event;

enum { DEVICES = 4 };
typedef struct Device { int retained; } Device;       /* its address is its primary context's handle */
/* A capture collects nodes in `first`. */
typedef struct Stream { int device; Later *first, **last; int capture, spoiled, mode; pthread_t thread; } Stream;
typedef struct Graph { int device; Later *first; } Graph;

#endif
