/* driver/ranks/ranks.h - this process as one of several that mpirun or srun started; each is a site of a plan. ein is
 * not linked against MPI; it calls MPI through a shared object next to the runtime (runtime/mpi/ein_mpi_door.h).
 *
 * All processes read the program and its inputs. The first one plans and compiles, before MPI starts, because nothing
 * may fork after that. Only the first prints, unless something fails elsewhere. */
#ifndef EIN_DRIVER_RANKS_H
#define EIN_DRIVER_RANKS_H

#include "mpi/ein_mpi_door.h"
#include "driver/compile/native.h"

typedef struct Ranks {
  int rank, ranks, beside;     /* as the launcher says; beside: how many are on this machine */
  const ein_mpi_door *door;    /* NULL: MPI has not started */
  ein_mpi_world *world;
  bool parted;                 /* all know that one has failed, and agree on the result */
} Ranks;

/* ---- ranks.c ------------------------------------------------------------------------------------------------ */
/* Sets s->ranks; NULL if this process is alone. Messages of all ranks but the first are kept back. */
void ranks_find(Session *s);
/* Whether there is an MPI to start, before anything else is done. */
Leave ranks_ready(Session *s);
/* --np: becomes mpirun, which starts this program that often. Returns only with a complaint, or if one process is
 * wanted. */
Leave ranks_launch(Session *s, const Args *a);
/* Starts MPI if necessary. Returns the result of the first rank that failed, which then says why; LEAVE_OK: none
 * has. */
Leave ranks_agree(Session *s, Leave mine);
/* The MPI of this machine; NULL, and why: none. */
const ein_mpi_door *ranks_door(Session *s, const char **why);
/* An agreement that others may follow, whatever its result. */
Leave ranks_settle(Session *s, Leave mine);
/* Whether it is true on any rank; after an agreement, which it completes. */
bool ranks_any(Session *s, bool here);
/* The last agreement, and the end of MPI. */
Leave ranks_end(Session *s, Leave mine);
/* Broadcasts the first rank's bytes to all. */
void ranks_tell(Session *s, const char **bytes, size_t *len);
/* Gathers each rank's bytes on the first one, by rank. */
void ranks_gather(Session *s, const char *bytes, size_t len, const char **out);
/* The sum over all, on the first rank; elsewhere 0. */
double ranks_sum(Session *s, double mine);

/* The rank that prints, plans, and has the outputs. */
static inline bool ranks_first(const Session *s) {
  return !s->ranks || !s->ranks->rank;
}

/* ---- run.c -------------------------------------------------------------------------------------------- */
/* Gives every rank the plan in j->tasks, compiled by the first one. Elsewhere does nothing. */
Leave ranks_prepare(Session *s, Job *j, const Args *a, Library *lib);
/* Runs from j's input files, or e->input, to output files, and to e->output on the first rank: the outputs wanted
 * there. prepared: this rank's result so far. */
Leave ranks_run(Session *s, Leave prepared, Job *j, const Args *a, Library *lib, Eval *e);

/* ---- data.c ------------------------------------------------------------------------------------------- */
/* This rank's blocks of j->tasks's inputs and outputs: read from sources, or cut from e->input; allocates outputs. */
Leave ranks_inputs(Session *s, const Job *j, const Eval *e, ein_tensor *in);
void ranks_outputs(Session *s, const Job *j, ein_tensor *out);
/* Collective. The first rank warns about numbers that an input's dtype does not hold exactly. */
void ranks_warn(Session *s, const Job *j, const Eval *e, const ein_tensor *in);
/* Collective. Writes blocks of outputs to files, or gathers them in e->output on the first rank. */
Leave ranks_leave(Session *s, const Job *j, Eval *e, const ein_tensor *out);

#endif
