/* SPDX-License-Identifier: MIT-0 */
/*
 * A program around a model (program.c), for code that defines `main` and knows how its processes reach each
 * other.
 */
#ifndef EIN_PROGRAM_H
#define EIN_PROGRAM_H

#include "ein_tensor.h"

/* How the sites of a model reach each other; each site is a process. */
typedef struct ein_reach {
  const ein_wire *wire;                   /* NULL: there is one process */
  int (*agree)(void *user, int code, int *who); /* collective: the first nonzero code, and who has it */
  void *user;
  int threads;                            /* per process, unless the user says; 0: one per processor */
  int beside, processors;                 /* processes on this machine, and what they share; 0: this is the only one */
  int device;                             /* the model's kernels run on a device, whose memory may be limited */
} ein_reach;

/* The body of such a program's main: `version` is that of the ein that made it; device: its kernels run on a device.
 * Both return an exit code. */
int ein_program(const ein_model *model, const char *version, int device, int argc, char **word);
int ein_program_among(const ein_model *model, const char *version, const ein_reach *reach, int argc, char **word);
/* The same over MPI, which it starts and ends (program_mpi.c). */
int ein_program_mpi(const ein_model *model, const char *version, int device, int argc, char **word);

#endif
