/* SPDX-License-Identifier: MIT-0 */
/*
 * An ein_wire (ein_tensor.h) over MPI. The processes of a communicator are the sites; their ranks are the
 * sites' numbers. Uses only MPI 3.1, from the thread that runs the context (MPI_THREAD_FUNNELED suffices). The
 * communicator is duplicated once, so messages cannot be mixed up with the caller's. Nothing is started, ended
 * or aborted here.
 */
#ifndef EIN_MPI_H
#define EIN_MPI_H

#include <mpi.h>

#include "ein_num.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ein_mpi ein_mpi;

/* Collective, like ein_mpi_close; all processes get the same status. `name` is the duplicate's name, for tools. */
EIN_API ein_status ein_mpi_open(MPI_Comm comm, const char *name, ein_mpi **out);
EIN_API void ein_mpi_close(ein_mpi *m);
/* Makes a context over the communicator. The context closes the wire when it is destroyed. Each process makes
 * its own with `create`; all get the same status. config is the caller's, apart from its wire; NULL: the
 * defaults. */
EIN_API ein_status ein_mpi_create(MPI_Comm comm, const char *name, const ein_config *config,
    ein_status (*create)(const ein_config *config, void **ctx), void (*destroy)(void *ctx), void **ctx);
/* For ein_config; valid until ein_mpi_close. */
EIN_API const ein_wire *ein_mpi_wire(const ein_mpi *m);
/* Counts parcels; messages about whether all can go on are not included. */
EIN_API ein_traffic ein_mpi_counted(const ein_mpi *m);
/* Returns the first nonzero code by rank, and its rank in *who (-1: all are 0). Collective. Returns -1 if MPI
 * fails. */
EIN_API int ein_mpi_agree(ein_mpi *m, int mine, int *who);

#ifdef __cplusplus
}
#endif

#endif
