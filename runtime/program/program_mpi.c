/* SPDX-License-Identifier: MIT-0 */
/*
 * Runs the processes that an MPI launcher has started, each as a site of a plan. The model combines all plans
 * (ein_whole.c).
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "mpi/ein_mpi.h"
#include "program.h"

/* The processes on a machine share its processors; but a launcher may have assigned some to each. */
static void share_processors(ein_reach *r) {
  MPI_Comm here;
  cpu_set_t own;
  int mine = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 1;
  r->threads = 1;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS) return;
  MPI_Comm_size(here, &r->beside);
  MPI_Comm_free(&here);
  r->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
  int share = r->processors / r->beside;
  r->threads = mine < share ? mine : share < 1 ? 1 : share;
}

static int agree(void *user, int code, int *who) {
  return ein_mpi_agree((ein_mpi *)user, code, who);
}

int ein_program_mpi(const ein_model *model, const char *version, int device, int argc, char **word) {
  enum { LEAVE_MACHINE = 4 };
  ein_mpi *mpi;
  int level;
  if (MPI_Init_thread(&argc, &word, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
      ein_mpi_open(MPI_COMM_WORLD, "ein moves", &mpi) != EIN_OK) {
    fprintf(stderr, "%s: error: MPI cannot be started\n", argc ? word[0] : "program");
    return LEAVE_MACHINE;
  }
  signal(SIGPIPE, SIG_IGN); /* launchers abort all processes if one is killed by it */
  ein_reach reach = {ein_mpi_wire(mpi), agree, mpi, 1, 0, 0, device};
  share_processors(&reach);
  int code = ein_program_among(model, version, &reach, argc, word);
  ein_mpi_close(mpi);
  MPI_Finalize();
  return code;
}
