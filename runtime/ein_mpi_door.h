/* SPDX-License-Identifier: MIT-0 */
/*
 * The processes that a launcher of MPI has started, for a program that is not linked against MPI: ein opens the shared object ein_mpi.so and
 * finds a door in it. No type of MPI is seen.
 */
#ifndef EIN_MPI_DOOR_H
#define EIN_MPI_DOOR_H

#include "ein_tensor.h"

typedef struct ein_mpi_world ein_mpi_world;

typedef struct ein_mpi_door {
  uint32_t version;                              /* of this struct, and of a wire: 3 */
  void (*library)(char *text, size_t room);      /* which MPI it is, and of which level; before start too */
  ein_status (*start)(ein_mpi_world **out);      /* MPI_Init; once in a process, by all of them, as is end */
  void (*end)(ein_mpi_world *w);
  const ein_wire *(*moves)(ein_mpi_world *w);    /* for the moves of a plan, */
  const ein_wire *(*told)(ein_mpi_world *w);     /* and for what else the processes tell each other: two communicators */
  ein_traffic (*moved)(ein_mpi_world *w);        /* over the first */
  /* The code of the first process that has another than 0, for all, and which process that is (-1: none has). */
  int (*agree)(ein_mpi_world *w, int mine, int *who);
} ein_mpi_door;

#endif
