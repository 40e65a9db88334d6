/* tests/cuda/standin/work.h - what the stand-in for the driver has been asked for and has not done yet. */
#ifndef EIN_STANDIN_WORK_H
#define EIN_STANDIN_WORK_H

#include <pthread.h>

#include "order.h"
#include "world.h"

typedef struct Later {
  /* 'k' kernel, 'u' up, 'd' down, 'a' across, 'c' a library's call, 'p' one that waits for other devices, 'z' fill,
   * 'g' graph (its kernels have their own parameters), 'e' an event is recorded, 'w' another stream's event is waited for,
   * '-' nothing */
  int what;
  int parameters, size;      /* of a kernel: the number of parameters, and the most bytes of each */
  struct Later *nodes;       /* of a graph */
  int shared;                /* its data belong to the graph */
  StandinLaunch *run;
  int (*ready)(void *data);  /* whether it can be done; it may be asked again and again */
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

enum { KERNELS = 256 };
enum { NOT_CAPTURED = 900, VOID = 901 }; /* errors of captures */
enum {
  OK,
  INVALID = 1,
  NO_MEMORY = 2,
  NO_DEVICE = 100,
  BAD_CONTEXT = 201,
  NO_IMAGE = 209,
  BAD_HANDLE = 400,
  PTX_VERSION = 222,
  NOT_FOUND = 500,
  ILLEGAL = 700,
  NOT_READY = 600
};

typedef struct Driver {
  StandinWorld world;
  Device device[DEVICES];
  Stream *stream[ORDER_STREAMS];
  OrderMark *mark[STANDIN_PIECES]; /* of each piece of the device's memory */
  int dead, streams, modules, events, live, waits, open[DEVICES];
  const char *locked[256];   /* the host's memory that is locked, which it was not from the beginning */
  uint64_t up, down;
  struct { const void *kernel; int bytes; } allowed[KERNELS]; /* the shared memory that they may ask for */
} Driver;
extern struct Driver driver;
/* This thread's stack of current contexts, as devices; what it has asked for. */
typedef struct Mine { int current[64], depth, kernels, copies; } Mine;
extern __thread struct Mine mine;

/* Calls are serialised. */
int all_lock(void);
void all_unlock(int *locked);
#define ALONE __attribute__((cleanup(all_unlock), unused)) int alone = all_lock()

#define HERE                                   \
  ALONE;                                       \
  if (driver.dead) return driver.dead;         \
  if (mine.depth < 1) return BAD_CONTEXT
/* For calls that no capture allows: in that stream; NULL: in this thread. */
#define NOT_IN_CAPTURE(stream) \
  if (spoils(stream)) return NOT_CAPTURED

size_t in_pages(size_t n);
StandinMemory *memory_of(uint64_t at, size_t bytes); /* of the device's; NULL: it is not all in one piece */

Later *later(int what, void *stream);     /* the last work of the stream from now on */
void later_free(Later *x);
void parameters_set(Later *x, void **parameter); /* copies a kernel's */
Stream **stream_find(const void *stream); /* NULL: there is none */
int stream_number(const Stream *s);
int is_here(const void *stream);          /* whether it belongs to the current context */
int stream_done(Stream *stream);          /* does all it can; returns an error, or that the stream is not ready */
void all_done(void);
int asked(Stream *stream);                /* after a request to a stream */
/* Invalidates captures by a call that no capture allows: in this stream or, if NULL, those that this thread's calls
 * affect. Returns whether there was one. */
int spoils(const void *stream);

#endif
