/* runtime/texts.h - the runtime as ein carries it: texts that it writes beside what it emits, made by one.py. So ein and its runtime
 * are never of two versions. */
#ifndef EIN_TEXTS_H
#define EIN_TEXTS_H

#include <stdint.h>

extern const char runtime_ein_run[];     /* ein_run.h, with all that it includes */
extern const char runtime_ein_tensor[];  /* ein_tensor.h alone: what a library's callers see */
extern const char runtime_ein_program[]; /* ein_program.c, which includes ein_run.h: what stands around the model of a program */
extern const char runtime_ein_mpi[];     /* ein_mpi.c, behind ein_run.h: a communicator as a wire; it alone includes mpi.h */
extern const char runtime_ein_program_mpi[]; /* program_mpi.c, behind both: what stands around a model over MPI */
extern const char runtime_ein_callers[]; /* ein_callers.py: what each module of Python ends with that calls a library over MPI */
extern const uint64_t runtime_is;        /* a number of these bytes, EIN_RUNTIME_IS in the text */
extern const char runtime_mark[];        /* the same as words, which stand in what was compiled of them beforehand */

#endif
