/* tests/cuda/standin/world.h - what the stand-in of the driver and a text that it has loaded (tests/cuda/emulate.h) share: the device's memory. */
#ifndef EIN_STANDIN_WORLD_H
#define EIN_STANDIN_WORLD_H

#include <stddef.h>
#include <stdint.h>

/* Since the last barrier, or in this launch: who stored, who read. */
typedef struct StandinShadow { uint32_t epoch, stored, read; } StandinShadow;
typedef struct StandinMemory { char *data; size_t bytes; StandinShadow *shadow; int device; } StandinMemory; /* data NULL: a free entry */
enum { STANDIN_PIECES = 64 };
typedef struct StandinWorld {
  StandinMemory memory[STANDIN_PIECES];
  uint32_t launch;           /* how many there have been */
} StandinWorld;

/* What the stand-in of NVRTC makes of a text for "sm_90", or "compute_90": behind this, so many bytes of a shared object, which has standin_enter, to be called once, and for each
 * kernel standin_launch_NAME. */
typedef struct StandinImage { char mark[8], arch[24]; uint64_t bytes; } StandinImage;
#define STANDIN_MARK "standin"
typedef void StandinEnter(StandinWorld *w);
/* Without parameters it says how many it wants, times STANDIN_MOST, and how large the last one is; the others have 8 bytes. */
enum { STANDIN_MOST = 4096 };
typedef int StandinLaunch(const unsigned *grid, const unsigned *block, void **parameter);

/* What the look-alike of cuBLAS wants of the driver's: to be called when the stream is waited for, with data that is freed then; whether so many bytes
 * are the current device's; and whether a planted mistake is to happen, "word=N" for the N-th. */
typedef int StandinLater(void *stream, void (*call)(void *data), void *data);
typedef int StandinHolds(const void *at, size_t bytes);
typedef int StandinPlanted(const char *word, int n);

#endif
