/* runtime/texts.h - the runtime's sources, which ein carries and writes next to the code that it emits. Made by
 * one.py. So ein and its runtime always have the same version. */
#ifndef EIN_TEXTS_H
#define EIN_TEXTS_H

#include <stdint.h>

extern const char runtime_ein_run[];     /* ein_run.h, with everything that it includes */
extern const char runtime_ein_tensor[];  /* ein_tensor.h alone: what a library's callers see */
extern const char runtime_ein_program[]; /* ein_program.c, which includes ein_run.h: the program around a model */
extern const char runtime_ein_mpi[];     /* ein_mpi.c, after ein_run.h: a communicator as a wire */
extern const char runtime_ein_program_mpi[]; /* program_mpi.c, after both: the program around a model over MPI */
extern const char runtime_ein_callers[]; /* ein_callers.py: ends each Python module that calls a library over MPI */
extern const uint64_t runtime_is;        /* a hash of these bytes, EIN_RUNTIME_IS in the text */
extern const char runtime_mark[];        /* the same as text; precompiled object files contain it */

#endif
