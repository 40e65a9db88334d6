/* driver/ranks/ranks.c - processes that a launcher has started together: who this one is, from the launcher's
 * variables; the entry point to MPI; and how all of them agree on one end. See ranks.h. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks.h"

/* ---- identity ----------------------------------------------------------------------------------------------- */

/* Slurm's rank is also set in a script that srun has not started; its step's size is not. */
static const struct { const char *rank, *ranks, *beside; } launchers[] = {
  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
  {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
  {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
  {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"}};

/* The number at the start of a variable: Slurm has 4(x2). */
static bool variable(const char *name, int *out) {
  const char *said = getenv(name);
  int64_t n;
  if (!said || !int64_read(said, strspn(said, "0123456789"), &n) || n < 0 || n > INT32_MAX) return false;
  *out = (int)n;
  return true;
}

void ranks_find(Session *s) {
  Ranks r = {0};
  for (size_t i = 0; i < COUNT(launchers); i++) {
    if (!variable(launchers[i].rank, &r.rank) || !variable(launchers[i].ranks, &r.ranks)) continue;
    if (r.ranks < 2 || r.rank >= r.ranks) return;
    if (!variable(launchers[i].beside, &r.beside) || r.beside < 1) r.beside = r.ranks;
    s->ranks = NEW(s->arena, Ranks);
    *s->ranks = r;
    s->silent = r.rank > 0;
    return;
  }
}

/* ---- becoming mpirun ------------------------------------------------------------------------------------------ */

static Words launch_words(Session *s, const char *mpirun, const char *self, const char *n) {
  Words w = {0};
  const char *const first[] = {mpirun, "-n", n, self};
  for (size_t i = 0; i < COUNT(first); i++) vec_push(s->arena, w, first[i]);
  for (const char *const *v = s->words; *v; v++) {
    if (strcmp(*v, "--np") == 0 && v[1]) v++;
    else if (strncmp(*v, "--np=", 5) != 0) vec_push(s->arena, w, *v);
  }
  vec_push(s->arena, w, NULL);
  return w;
}

/* Copies its input to the end; once the reader has gone, discards it. */
static void relay_run(int from) {
  char part[1 << 16];
  bool reader = true;
  signal(SIGINT, SIG_IGN); /* mpirun says when it is over */
  signal(SIGTERM, SIG_IGN);
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    for (ssize_t at = 0, k; reader && at < n; at += k > 0 ? k : 0) {
      k = write(STDOUT_FILENO, part + at, (size_t)(n - at));
      reader = k >= 0 || errno == EINTR;
    }
  _exit(0);
}

/* Open MPI's mpirun aborts, or crashes, when the reader of its output leaves. So a process between it and a pipe
 * keeps reading. It is no child of mpirun, which would wait for it. */
static void relay_start(void) {
  struct stat st;
  int pair[2];
  if (fstat(STDOUT_FILENO, &st) || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) || pipe(pair)) return;
  pid_t child = fork();
  if (child == 0) {
    close(pair[1]);
    if (fork() == 0) relay_run(pair[0]);
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0), dup2(pair[1], STDOUT_FILENO);
  close(pair[0]);
  close(pair[1]);
}

/* Processes may be started on other machines, of which a batch system or the user's setting tells mpirun. */
static bool hosts_elsewhere(void) {
  static const char *const told[] = {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "LSB_MCPU_HOSTS", "PE_HOSTFILE",
      "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE"};
  for (size_t i = 0; i < COUNT(told); i++)
    if (getenv(told[i])) return true;
  return false;
}

enum { PROCESS_BYTES = 16 << 20 }; /* what a process of MPI takes at least, before it has any tensor */

static Leave processes_fit(Session *s, int64_t n) {
  int64_t most = memory_free() / PROCESS_BYTES;
  if (most <= 0 || n <= most || hosts_elsewhere()) return LEAVE_OK;
  return fail(s, LEAVE_MACHINE,
      "--np %lld: the memory of this machine is enough for %lld processes at most; ein plan -n %lld plans for as many, "
      "and in a batch job they run on all its machines", (long long)n, (long long)most, (long long)n);
}

Leave ranks_launch(Session *s, const Args *a) {
  const char *said = arg_last(a, OPT_NP), *mpirun = program_on_path(s->arena, "mpirun");
  char self[4096];
  int64_t n;
  ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
  if (!int64_read(said, strlen(said), &n) || n < 1 || n > INT32_MAX)
    return fail(s, LEAVE_USAGE, "--np %s: expected a number of processes", said);
  if (s->ranks) return fail(s, LEAVE_USAGE, "--np starts mpirun, which has started this already: leave it out");
  if (n == 1) return LEAVE_OK;
  Leave l = processes_fit(s, n);
  if (l) return l;
  if (!mpirun) mpirun = program_on_path(s->arena, "mpiexec");
  if (!mpirun)
    return fail(s, LEAVE_MACHINE, "--np: there is no mpirun: install an MPI (Debian: openmpi-bin, libopenmpi-dev); "
                                  "-n %s --target=c runs the plan in one process", said);
  if (len <= 0) return fail(s, LEAVE_MACHINE, "--np: it is not known where ein lies");
  self[len] = '\0';
  /* more than cores: allowed, and who waits lets others work. Open MPI's words, which others pass over */
  if (n > sysconf(_SC_NPROCESSORS_ONLN)) {
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  }
  Words w = launch_words(s, mpirun, self, said);
  relay_start();
  execv(mpirun, (char *const *)(void *)w.at);
  return fail(s, LEAVE_MACHINE, "%s cannot be started", mpirun);
}

/* ---- MPI -------------------------------------------------------------------------------------------------------- */

const ein_mpi_door *ranks_door(Session *s, const char **why) {
  const char *at = plugin_find(s, "runtime/", "ein_mpi.so");
  *why = "there is no ein_mpi.so beside this ein, which was built without MPI or copied without it";
  if (!at) return NULL;
  void *so = dlopen(at, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE); /* parts of some MPIs look for others globally */
  const ein_mpi_door *door = so ? dlsym(so, "ein_mpi_door_of_ein") : NULL;
  if (door && door->version == 4) return door;
  *why = so ? "ein_mpi.so is of another ein" : dlerror();
  return NULL;
}

static void unsaid_say(Session *s) {
  s->silent = false;
  for (uint32_t i = 0; i < s->unsaid.len; i++) fputs(s->unsaid.at[i], stderr);
  s->unsaid.len = 0;
  s->silent = true;
}

enum { FIRST_SPEAKS = 2 };    /* seconds: then the launcher has ended this process, or it has met this alone */

/* The end where MPI is not there to agree on one: the first process speaks, for all if it has met the same. */
static Leave end_unmet(Session *s, Leave l) {
  if (s->ranks->rank) sleep(FIRST_SPEAKS), unsaid_say(s);
  return l;
}

Leave ranks_ready(Session *s) {
  const char *why;
  if (ranks_door(s, &why)) return LEAVE_OK;
  return end_unmet(s, fail(s, LEAVE_MACHINE, "a launcher has started %d processes, but %s", s->ranks->ranks, why));
}

static Leave ranks_start(Session *s) {
  Ranks *r = s->ranks;
  const char *why;
  char library[128];
  const ein_mpi_door *door = ranks_door(s, &why);
  if (!door) return fail(s, LEAVE_MACHINE, "a launcher has started %d processes, but %s", r->ranks, why);
  if (door->start(&r->world) != EIN_OK) return fail(s, LEAVE_MACHINE, "MPI cannot be started");
  r->door = door;
  int met = door->told(r->world)->sites;
  if (met == r->ranks) return LEAVE_OK;
  door->library(library, sizeof library);
  return fail(s, LEAVE_MACHINE,
      "a launcher has started %d processes, of which %s knows %d: the launcher is another MPI's", r->ranks, library,
      met);
}

Leave ranks_agree(Session *s, Leave mine) {
  Ranks *r = s->ranks;
  int who;
  if (r->parted) return mine;
  if (!r->door) {
    Leave l = ranks_start(s);
    if (l && !r->door) exit((int)session_end(s, end_unmet(s, l))); /* the launcher ends the others */
    if (l && !mine) mine = l;
  }
  int all = r->door->agree(r->world, (int)mine, &who);
  if (all < 0) exit((int)session_end(s, fail(s, LEAVE_MACHINE, "MPI has failed")));
  r->parted = all != 0;
  if (all && who == r->rank && r->rank) unsaid_say(s);
  return (Leave)all;
}

Leave ranks_settle(Session *s, Leave mine) {
  Leave l = ranks_agree(s, mine);
  s->ranks->parted = false;
  s->unsaid.len = 0;
  return l;
}

bool ranks_any(Session *s, bool here) {
  s->ranks->parted = false;
  s->unsaid.len = 0;
  return ranks_settle(s, here ? LEAVE_PROGRAM : LEAVE_OK) != LEAVE_OK;
}

Leave ranks_end(Session *s, Leave mine) {
  Leave l = ranks_agree(s, mine);
  s->ranks->door->end(s->ranks->world);
  s->ranks = NULL;
  return l;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static void exchanged(Session *s, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  const ein_wire *w = s->ranks->door->told(s->ranks->world);
  if (w->exchange(w->user, n_send, send, n_receive, receive) != EIN_OK)
    exit((int)session_end(s, fail(s, LEAVE_MACHINE, "the processes of MPI do not reach each other")));
}

static void from_first(Session *s, void *bytes, size_t len) {
  const Ranks *r = s->ranks;
  ein_parcel mine = {0, bytes, len}, *send = NEW_ARRAY(s->arena, ein_parcel, r->ranks);
  for (int i = 1; i < r->ranks; i++) send[i] = (ein_parcel){i, bytes, len};
  exchanged(s, r->rank ? 0 : r->ranks - 1, send + 1, r->rank ? 1 : 0, &mine);
}

void ranks_tell(Session *s, const char **bytes, size_t *len) {
  uint64_t n = *len;
  from_first(s, &n, sizeof n);
  char *room = s->ranks->rank ? arena_alloc(s->arena, (size_t)n + 1) : (char *)(uintptr_t)*bytes;
  if (s->ranks->rank) room[n] = '\0';
  if (n) from_first(s, room, (size_t)n);
  *bytes = room;
  *len = (size_t)n;
}

/* Sends a parcel of each rank to the first, where `of` says how many bytes each has. */
static void to_first(Session *s, const void *bytes, size_t len, const uint64_t *of, const char **out) {
  const Ranks *r = s->ranks;
  ein_parcel own = {0, (void *)(uintptr_t)bytes, len}, *receive = NEW_ARRAY(s->arena, ein_parcel, r->ranks);
  for (int i = 0; !r->rank && i < r->ranks; i++) {
    char *room = arena_alloc(s->arena, (size_t)of[i] + 1);
    receive[i] = (ein_parcel){i, room, (size_t)of[i]};
    out[i] = room;
  }
  exchanged(s, 1, &own, r->rank ? 0 : r->ranks, receive);
}

void ranks_gather(Session *s, const char *bytes, size_t len, const char **out) {
  const Ranks *r = s->ranks;
  uint64_t mine = len, *of = NEW_ARRAY(s->arena, uint64_t, r->ranks);
  for (int i = 0; i < r->ranks; i++) of[i] = sizeof mine;
  to_first(s, &mine, sizeof mine, of, out);
  for (int i = 0; !r->rank && i < r->ranks; i++) memcpy(&of[i], out[i], sizeof of[i]);
  to_first(s, bytes, len, of, out);
}

double ranks_sum(Session *s, double mine) {
  const Ranks *r = s->ranks;
  double sum = 0, *of = NEW_ARRAY(s->arena, double, r->ranks);
  ein_parcel own = {0, &mine, sizeof mine}, *receive = NEW_ARRAY(s->arena, ein_parcel, r->ranks);
  for (int i = 0; i < r->ranks; i++) receive[i] = (ein_parcel){i, &of[i], sizeof of[i]};
  exchanged(s, 1, &own, r->rank ? 0 : r->ranks, receive);
  for (int i = 0; i < r->ranks; i++) sum += of[i];
  return sum;
}
