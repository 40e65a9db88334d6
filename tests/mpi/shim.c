/* tests/mpi/shim.c - put between a program and MPI by LD_PRELOAD: counts what really is sent in the moves of a plan, on
 * the communicator of that name, and sees to it that no program is started once MPI is. At the end the first rank
 * writes to $EIN_TEST_COUNT, a line a rank: bytes and messages sent. $EIN_TEST_DELAY is a seed: calls wait up to a
 * thousandth of a second then, by chance, each rank for itself. $EIN_TEST_FAIL is a number: that call of rank 1 to send
 * what is moved fails. */
#include <dlfcn.h>
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long long sent[2]; /* bytes, messages */

static int of_moves(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length;
  PMPI_Comm_get_name(comm, name, &length);
  return strcmp(name, "ein moves") == 0;
}

static void count(int n, MPI_Datatype type, MPI_Comm comm) {
  int size;
  if (!of_moves(comm)) return;
  PMPI_Type_size(type, &size);
  sent[0] += (long long)n * size;
  sent[1]++;
}

/* Half of the calls come at once; the others after up to 1,000 millionths of a second, mostly few. */
static void delay(void) {
  static unsigned long long state;
  static int on = -1;
  const char *seed = on ? getenv("EIN_TEST_DELAY") : NULL;
  if (on < 0) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    on = seed != NULL;
    if (seed) state = (strtoull(seed, NULL, 10) * 64 + (unsigned)rank + 1) * 0x9E3779B97F4A7C15u;
  }
  if (on <= 0) return;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  unsigned most = 1000u >> (state >> 20 & 7);
  if (state >> 40 & 1) usleep((unsigned)(state >> 44) % most);
}

int MPI_Irecv(void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
  delay();
  return PMPI_Irecv(buf, n, type, from, tag, comm, request);
}

int MPI_Waitsome(int n, MPI_Request *request, int *done, int *which, MPI_Status *status) {
  delay();
  return PMPI_Waitsome(n, request, done, which, status);
}

/* Whether this call is the one that fails. */
static int fails(MPI_Comm comm) {
  static int calls;
  int rank = 0;
  const char *which = getenv("EIN_TEST_FAIL");
  if (!which || !of_moves(comm)) return 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == 1 && ++calls == atoi(which);
}

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  if (tag == 0 && fails(comm)) return MPI_ERR_OTHER;
  if (tag == 0) count(n, type, comm); /* a parcel; other messages say how it goes */
  delay();
  return PMPI_Isend(buf, n, type, to, tag, comm, request);
}

int MPI_Send(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (tag == 0) count(n, type, comm);
  return PMPI_Send(buf, n, type, to, tag, comm);
}

/* What is agreed is no payload: two numbers. */
int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  delay();
  if (of_moves(comm) && (n != 1 || type != MPI_2INT)) count(n, type, comm);
  return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Finalize(void) {
  int rank, ranks;
  const char *to = getenv("EIN_TEST_COUNT");
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long long *all = calloc((size_t)ranks, sizeof sent);
  PMPI_Gather(sent, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  FILE *f = rank == 0 && to ? fopen(to, "w") : NULL;
  for (int i = 0; f && i < ranks; i++) fprintf(f, "%lld %lld\n", all[2 * i], all[2 * i + 1]);
  if (f) fclose(f);
  free(all);
  return PMPI_Finalize();
}

/* ---- no other program ---- */

static void refuse(const char *call) {
  int started = 0, ended = 0;
  PMPI_Initialized(&started);
  PMPI_Finalized(&ended);
  if (!started || ended) return;
  fprintf(stderr, "shim: %s after MPI_Init\n", call);
  abort();
}

pid_t fork(void) {
  refuse("fork");
  return ((pid_t(*)(void))dlsym(RTLD_NEXT, "fork"))();
}

typedef int Spawn(
    pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *);

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attr,
    char *const *argv, char *const *env) {
  refuse("posix_spawn");
  return ((Spawn *)dlsym(RTLD_NEXT, "posix_spawn"))(pid, path, files, attr, argv, env);
}
