/* SPDX-License-Identifier: MIT-0 */
/*
 * Access to the processes that an MPI launcher has started, for a program that is not linked against MPI: ein
 * opens the shared object ein_mpi.so and finds this interface in it. It uses no types of MPI.
 */
#ifndef EIN_MPI_DOOR_H
#define EIN_MPI_DOOR_H

#include "ein_tensor.h"

typedef struct ein_mpi_world ein_mpi_world;

typedef struct ein_mpi_door {
  uint32_t version;                              /* of this struct, and of ein_wire: 4 */
  void (*library)(char *text, size_t room);      /* the MPI library's name and level; works before start */
  ein_status (*start)(ein_mpi_world **out);      /* MPI_Init; collective, once per process, like end */
  void (*end)(ein_mpi_world *w);
  const ein_wire *(*moves)(ein_mpi_world *w);    /* for the moves of a plan */
  const ein_wire *(*told)(ein_mpi_world *w);     /* for all else; on a second communicator */
  ein_traffic (*moved)(ein_mpi_world *w);        /* over the first */
  /* Returns the first nonzero code, for all, and which process has it (-1: none). */
  int (*agree)(ein_mpi_world *w, int mine, int *who);
} ein_mpi_door;

#endif
