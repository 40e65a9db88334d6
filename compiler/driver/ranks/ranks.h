/* driver/ranks/ranks.h - this process as one of several that mpirun or srun has started: each is a site of a plan. ein is not linked against MPI; what is
 * said to it goes through a door in a shared object beside the runtime (runtime/ein_mpi_door.h).
 *
 * All processes read the program and its inputs. The first one plans and compiles, before MPI is started: nothing is forked after that. It alone
 * speaks, unless something fails elsewhere. */
#ifndef EIN_DRIVER_RANKS_H
#define EIN_DRIVER_RANKS_H

#include "ein_mpi_door.h"
#include "driver/compile/native.h"

typedef struct Ranks {
  int rank, ranks, beside;     /* as the launcher says; how many are on this machine */
  const ein_mpi_door *door;    /* NULL: MPI has not been started */
  ein_mpi_world *world;
  bool parted;                 /* all know that one has failed: what it came to is agreed */
} Ranks;

/* ---- ranks.c ------------------------------------------------------------------------------------------------ */
/* Into s->ranks: NULL where this process is alone. The words on all ranks but the first are kept back. */
void ranks_find(Session *s);
/* --np: becomes mpirun, which starts this program so often. Comes back only with a complaint, or where one process is wanted. */
Leave ranks_launch(Session *s, const Args *a);
/* Starts MPI if that has not been done. Gives what the first rank came to that failed, which then says why; LEAVE_OK: none has. */
Leave ranks_agree(Session *s, Leave mine);
/* Which MPI there is; NULL, and why: none. */
const ein_mpi_door *ranks_door(Session *s, const char **why);
/* An agreement that others may follow, whatever it came to. */
Leave ranks_settle(Session *s, Leave mine);
/* Whether it is so on any; after an agreement, which is done with then. */
bool ranks_any(Session *s, bool here);
/* The last agreement, and the end of MPI. */
Leave ranks_end(Session *s, Leave mine);
/* What the first rank has, on all of them. */
void ranks_tell(Session *s, const char **bytes, size_t *len);
/* What each rank has, on the first one, by rank. */
void ranks_gather(Session *s, const char *bytes, size_t len, const char **out);
/* On the first rank, of all; elsewhere 0. */
double ranks_sum(Session *s, double mine);

/* The one that speaks, plans, and has the outputs. */
static inline bool ranks_first(const Session *s) {
  return !s->ranks || !s->ranks->rank;
}

/* ---- run.c -------------------------------------------------------------------------------------------- */
/* How the plan in j->tasks comes to every rank: the first one compiles it. Elsewhere nothing is done. */
Leave ranks_prepare(Session *s, Job *j, const Args *a, Library *lib);
/* From what j says that inputs are read from, or e->input, into files, and into e->output on the first: what is wanted there. prepared: what this rank has come to so far. */
Leave ranks_run(Session *s, Leave prepared, Job *j, const Args *a, Library *lib, Eval *e);

/* ---- data.c ------------------------------------------------------------------------------------------- */
/* This rank's blocks of j->tasks's inputs and outputs: read from sources, or cut from e->input; room for outputs. */
Leave ranks_inputs(Session *s, const Job *j, const Eval *e, ein_tensor *in);
void ranks_outputs(Session *s, const Job *j, ein_tensor *out);
/* By all together. Of numbers that an input does not hold the first one warns; */
void ranks_warn(Session *s, const Job *j, const Eval *e, const ein_tensor *in);
/* and blocks of outputs go to files, each written by all, or else come to e->output on the first. */
Leave ranks_leave(Session *s, const Job *j, Eval *e, const ein_tensor *out);

#endif
