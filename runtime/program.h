/* SPDX-License-Identifier: MIT-0 */
/*
 * A program around a model (program.c), for what has `main` and knows how its processes reach each other.
 */
#ifndef EIN_PROGRAM_H
#define EIN_PROGRAM_H

#include "ein_tensor.h"

/* How the sites of a model for several reach each other, a process each. */
typedef struct ein_reach {
  const ein_wire *wire;                   /* NULL: there is one process */
  int (*agree)(void *user, int code, int *who); /* the code of the first process that has another than 0, for all; and which one that is */
  void *user;
  int threads;                            /* of each, where nobody says how many; 0: as many as there are processors */
} ein_reach;

/* A whole tensor, dense. */
typedef struct ein_shown {
  const ein_argument *about;
  const ein_axes *axes;    /* NULL: no labels */
  const int64_t *shape;
  int64_t count;
  const void *data;
} ein_shown;

/* To standard output (show.c). */
void ein_show(const ein_shown *a);

/* What main of such a program is: `version` is that of the ein that made it. Both give an exit code. */
int ein_program(const ein_model *model, const char *version, int argc, char **word);
int ein_program_among(const ein_model *model, const char *version, const ein_reach *reach, int argc, char **word);
/* Over MPI, which it starts and ends (program_mpi.c). */
int ein_program_mpi(const ein_model *model, const char *version, int argc, char **word);

#endif
