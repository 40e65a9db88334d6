/* tests/cuda/standin/world.h - what the stand-in for the driver shares with the kernels that it has loaded
 * (tests/cuda/emulate.h): the device's memory. */
#ifndef EIN_STANDIN_WORLD_H
#define EIN_STANDIN_WORLD_H

#include <stddef.h>
#include <stdint.h>

/* Which threads have stored and read, since the last barrier or in this launch. */
typedef struct StandinShadow { uint32_t epoch, stored, read; } StandinShadow;
/* data NULL: a free entry */
typedef struct StandinMemory { char *data; size_t bytes; StandinShadow *shadow; int device; } StandinMemory;
enum { STANDIN_PIECES = 64 };
typedef struct StandinWorld {
  StandinMemory memory[STANDIN_PIECES];
  uint32_t launch;           /* the number of launches so far */
} StandinWorld;

/* The stand-in for NVRTC compiles a text for "sm_90" or "compute_90" to this header, followed by that many bytes of a
 * shared object. The object has standin_enter, to be called once, and standin_launch_NAME for each kernel. */
typedef struct StandinImage { char mark[8], arch[24]; uint64_t bytes; } StandinImage;
#define STANDIN_MARK "standin"
typedef void StandinEnter(StandinWorld *w);
/* Called without parameters, it returns their number times STANDIN_MOST plus the size of the last; the others have 8
 * bytes. */
enum { STANDIN_MOST = 4096 };
typedef int StandinLaunch(const unsigned *grid, const unsigned *block, unsigned shared, void **parameter);

/* What the stand-ins for cuBLAS and NCCL need of the driver's: a call when the stream's work is done, with data that is
 * freed afterwards, and the same that also waits until something is ready; whether that many bytes are in the current
 * device's memory; which device is current, -1: none; whether a failure is injected, "word=N" for the N-th; and to
 * say what they read and store while they are called. */
typedef int StandinLater(void *stream, void (*call)(void *data), void *data);
typedef int StandinWhen(void *stream, int (*ready)(void *data), void (*call)(void *data), void *data);
typedef int StandinDevice(void);
typedef int StandinHolds(const void *at, size_t bytes);
typedef int StandinPlanted(const char *word, int n);
typedef void StandinAsked(int n[2]);
typedef void StandinTouches(const void *at, size_t bytes, int store);

#endif
