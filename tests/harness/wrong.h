/* tests/harness/wrong.h - the runtime with a fault, which finds.sh wants to be found: WRONG says which. */
#include "ein_run.h"

#if WRONG == 1 /* wrong answers; of integers there might be indices */
#define ein_max_f64(a, b) ((a) < (b) ? (a) : (b))
#define ein_max_f32(a, b) ((a) < (b) ? (a) : (b))
#define ein_min_f64(a, b) ((a) > (b) ? (a) : (b))
#define ein_min_f32(a, b) ((a) > (b) ? (a) : (b))
#elif WRONG == 2 /* a crash */
#define ein_max_i64(a, b) (__builtin_trap(), (a) + (b))
#else
#error no C that compiles
#endif
