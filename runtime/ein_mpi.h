/* SPDX-License-Identifier: MIT-0 */
/*
 * An ein_wire (ein_tensor.h) over MPI: the processes of a communicator are sites, their ranks the sites' numbers. Calls of MPI 3.1 only, from the
 * thread that runs the context (MPI_THREAD_FUNNELED is enough). The communicator is duplicated once, so no message of the caller's is met;
 * nothing is started, ended or aborted here.
 */
#ifndef EIN_MPI_H
#define EIN_MPI_H

#include <mpi.h>

#include "ein_num.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ein_mpi ein_mpi;

/* Collective, as is ein_mpi_close; all get the same status. `name` is what tools will call the duplicate. */
EIN_API ein_status ein_mpi_open(MPI_Comm comm, const char *name, ein_mpi **out);
EIN_API void ein_mpi_close(ein_mpi *m);
/* A context over the communicator, which closes it as it is destroyed; each process makes its own by `create`, all get the same status. config is
 * the caller's, but for its wire; NULL: the usual. */
EIN_API ein_status ein_mpi_create(MPI_Comm comm, const char *name, const ein_config *config, ein_status (*create)(const ein_config *config, void **ctx),
                                  void (*destroy)(void *ctx), void **ctx);
/* For ein_config; stays until ein_mpi_close. */
EIN_API const ein_wire *ein_mpi_wire(const ein_mpi *m);
/* Of parcels; what tells whether all can go on is not among it. */
EIN_API ein_traffic ein_mpi_counted(const ein_mpi *m);
/* The code of the first site that has another than 0, and which one that is (-1: none has). Collective. -1: MPI refuses. */
EIN_API int ein_mpi_agree(ein_mpi *m, int mine, int *who);
/* What MPI itself refused, with its words; "" if nothing. */
EIN_API const char *ein_mpi_last_error(const ein_mpi *m);

#ifdef __cplusplus
}
#endif

#endif
