/* SPDX-License-Identifier: MIT-0 */
/*
 * The shared object that ein opens. It starts and ends MPI, for a process in which nothing else uses MPI. See
 * ein_mpi_door.h.
 */
#include "ein_mpi_door.h"

#include <stdio.h>
#include <stdlib.h>

#include "ein_mpi.h"

struct ein_mpi_world { ein_mpi *moves, *told; };

static void world_library(char *text, size_t room) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0, major = 0, minor = 0;
  MPI_Get_version(&major, &minor);
  MPI_Get_library_version(version, &length);
  for (char *c = version; *c; c++)
    if (*c == '\n' || *c == ',') *c = '\0';
  snprintf(text, room, "%s (MPI %d.%d)", version, major, minor);
}

static ein_status world_start(ein_mpi_world **out) {
  int level;
  *out = NULL;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return EIN_ERR_IO;
  ein_mpi_world *w = (ein_mpi_world *)calloc(1, sizeof *w);
  if (!w) return EIN_ERR_MEMORY;
  ein_status status = ein_mpi_open(MPI_COMM_WORLD, "ein moves", &w->moves);
  if (status == EIN_OK) status = ein_mpi_open(MPI_COMM_WORLD, "ein told", &w->told);
  *out = status == EIN_OK ? w : NULL;
  return status;
}

static void world_end(ein_mpi_world *w) {
  ein_mpi_close(w->moves);
  ein_mpi_close(w->told);
  free(w);
  MPI_Finalize();
}

static const ein_wire *world_moves(ein_mpi_world *w) {
  return ein_mpi_wire(w->moves);
}

static const ein_wire *world_told(ein_mpi_world *w) {
  return ein_mpi_wire(w->told);
}

static ein_traffic world_moved(ein_mpi_world *w) {
  return ein_mpi_counted(w->moves);
}

static int world_agree(ein_mpi_world *w, int mine, int *who) {
  return ein_mpi_agree(w->told, mine, who);
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const ein_mpi_door ein_mpi_door_of_ein;
const ein_mpi_door ein_mpi_door_of_ein = {
    4, world_library, world_start, world_end, world_moves, world_told, world_moved, world_agree};
