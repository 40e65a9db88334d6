/* tests/cuda/standin/libnccl.c - a stand-in for NCCL, for devices of the stand-in for the driver in one process or in
 * several on this machine. A message is a file in a folder that the communicator's id names. An exchange is done when
 * all that it receives has come and all that it sends has been taken: so one that a peer does not ask for never ends,
 * as on a device. Two sites on one device are refused.
 *
 * $EIN_STANDIN: nccl-begin=N, nccl-group=N: the N-th communicator of this process is not made, its N-th exchange is
 * refused; nccl-id=1: no id is made; nccl-lost=N: its N-th exchange never ends, and NCCL says that a peer is gone;
 * nccl-version=20000: it is that version. $EIN_STANDIN_NCCL: a file to which a line is appended at exit: how many
 * exchanges there were, of how many bytes received, and how many communicators were made and are left. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

enum { NONE = 99, OK = 0, CUDA = 1, SYSTEM = 2, USAGE = 5, GONE = 6, SITES = 64, OPS = 256, PATHS = 400 };

typedef struct Id { char folder[128]; } Id;
typedef struct Comm { char folder[128]; int site, sites, aborted, lost, sent[SITES], received[SITES]; } Comm;
typedef struct Op { int sends, peer, number; char *at; size_t bytes; } Op;
typedef struct Group { Comm *comm; void *stream; int n, posted, taken; Op op[OPS]; } Group;

static struct { pthread_mutex_t all; int begun, groups, live; unsigned long long bytes; } my = {
    .all = PTHREAD_MUTEX_INITIALIZER};
static __thread Group *open_group;

int ncclGetVersion(int *version);
int ncclGetUniqueId(Id *id);
int ncclCommInitRank(void **comm, int sites, Id id, int site);
int ncclCommAbort(void *comm);
int ncclCommGetAsyncError(void *comm, int *error);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclSend(const void *from, size_t n, int type, int peer, void *comm, void *stream);
int ncclRecv(void *to, size_t n, int type, int peer, void *comm, void *stream);

/* A function of the stand-in for the driver, which is loaded by now. */
static void *of_driver(const char *name) {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *at = driver ? dlsym(driver, name) : NULL;
  if (!at) abort();
  dlclose(driver);
  return at;
}
#define OF_DRIVER(type, name) \
  type *name;                 \
  void *name##_at = of_driver("standin_" #name); \
  memcpy(&name, &name##_at, sizeof name)

static int is_planted(const char *word, int n) {
  OF_DRIVER(StandinPlanted, planted);
  return planted(word, n);
}

static int count(int *n) {
  pthread_mutex_lock(&my.all);
  int now = ++*n;
  pthread_mutex_unlock(&my.all);
  return now;
}

static void report(void) __attribute__((destructor));
static void report(void) {
  const char *path = getenv("EIN_STANDIN_NCCL");
  FILE *f = path && my.begun ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, "%d exchanges, %llu bytes received; of %d communicators, %d are left\n", my.groups, my.bytes, my.begun,
      my.live);
  fclose(f);
}

/* ---- communicators --------------------------------------------------------------------------------------- */

int ncclGetVersion(int *version) {
  *version = is_planted("nccl-version=", 20000) ? 20000 : 22809;
  return OK;
}

int ncclGetUniqueId(Id *id) {
  const char *home = getenv("TMPDIR");
  memset(id, 0, sizeof *id);
  if (is_planted("nccl-id=", 1)) return SYSTEM;
  snprintf(id->folder, sizeof id->folder, "%s/standin-nccl-XXXXXX", home ? home : "/tmp");
  return mkdtemp(id->folder) ? OK : SYSTEM;
}

static void site_path(char *path, const char *folder, const char *what, int site) {
  snprintf(path, PATHS, "%s/%s-%d", folder, what, site);
}

static int site_tells(const Comm *c, const char *what, int value) {
  char path[PATHS];
  site_path(path, c->folder, what, c->site);
  FILE *f = fopen(path, "w");
  if (!f) return SYSTEM;
  fprintf(f, "%d.", value);
  return fclose(f) ? SYSTEM : OK;
}

/* Returns what it has told; -1: nothing yet. */
static int site_told(const Comm *c, const char *what, int site) {
  char path[PATHS], dot = 0;
  int value = -1;
  site_path(path, c->folder, what, site);
  FILE *f = fopen(path, "r");
  if (!f) return -1;
  if (fscanf(f, "%d%c", &value, &dot) != 2) value = -1;
  fclose(f);
  return value;
}

static void moment(void) { nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL); }

/* Waits until all sites are here. */
int ncclCommInitRank(void **comm, int sites, Id id, int site) {
  OF_DRIVER(StandinDevice, device);
  int mine = device();
  if (mine < 0 || sites > SITES) return CUDA;
  Comm *c = calloc(1, sizeof *c);
  if (is_planted("nccl-begin=", count(&my.begun))) mine = NONE; /* the others learn of it */
  memcpy(c->folder, id.folder, sizeof c->folder);
  c->site = site, c->sites = sites;
  int e = site_tells(c, "device", mine);
  for (int q = 0, other; q < sites && !e; q++) {
    for (int k = 0; (other = site_told(c, "device", q)) < 0 && k < 100000; k++) moment();
    if (other < 0) e = SYSTEM;
    if (other == NONE) e = SYSTEM;
    if (q != site && other == mine && !e) e = USAGE;
  }
  count(&my.live);
  if (e) return ncclCommAbort(c), e;
  return *comm = c, OK;
}

/* What is under way ends. The last site removes the folder. */
int ncclCommAbort(void *comm) {
  Comm *c = comm;
  char path[PATHS];
  pthread_mutex_lock(&my.all);
  c->aborted = 1; /* groups may still know it: it is never freed */
  my.live--;
  site_tells(c, "gone", 1);
  int gone = 0;
  for (int q = 0; q < c->sites; q++) gone += site_told(c, "gone", q) == 1;
  DIR *folder = gone == c->sites ? opendir(c->folder) : NULL;
  for (struct dirent *x; folder && (x = readdir(folder));)
    if (snprintf(path, sizeof path, "%s/%s", c->folder, x->d_name) < PATHS) unlink(path);
  if (folder) closedir(folder), rmdir(c->folder);
  pthread_mutex_unlock(&my.all);
  return OK;
}

int ncclCommGetAsyncError(void *comm, int *error) { return *error = ((Comm *)comm)->lost ? GONE : OK, OK; }

/* ---- exchanges -------------------------------------------------------------------------------------------- */

static void message_path(char *path, const Comm *c, const Op *x) {
  int from = x->sends ? c->site : x->peer, to = x->sends ? x->peer : c->site;
  snprintf(path, PATHS, "%s/%d-to-%d-%d", c->folder, from, to, x->number);
}

static void message_post(const Comm *c, const Op *x) {
  char path[PATHS], whole[PATHS + 4];
  message_path(path, c, x);
  snprintf(whole, sizeof whole, "%s.new", path);
  FILE *f = fopen(whole, "wb");
  if (!f || fwrite(x->at, 1, x->bytes, f) != x->bytes || fclose(f) || rename(whole, path)) abort();
}

static int message_is(const Comm *c, const Op *x) {
  char path[PATHS];
  struct stat about;
  message_path(path, c, x);
  if (stat(path, &about)) return 0;
  if ((size_t)about.st_size == x->bytes) return 1;
  fprintf(stderr, "stand-in: a message of NCCL's has %lld bytes, and %zu are expected\n", (long long)about.st_size,
      x->bytes);
  _exit(98);
}

static void message_take(const Comm *c, const Op *x) {
  char path[PATHS];
  message_path(path, c, x);
  int f = open(path, O_RDONLY);
  for (size_t at = 0; at < x->bytes;) {
    ssize_t n = read(f, x->at + at, x->bytes - at);
    if (n <= 0) abort();
    at += (size_t)n;
  }
  close(f);
  unlink(path);
}

static int group_ready(void *data) {
  Group *g = data;
  const Comm *c = g->comm;
  if (c->aborted) return 1;
  if (c->lost) return 0;
  for (int k = 0; k < g->n && !g->posted; k++)
    if (g->op[k].sends) message_post(c, &g->op[k]);
  g->posted = 1;
  for (int k = 0; k < g->n && !g->taken; k++)
    if (!g->op[k].sends && !message_is(c, &g->op[k])) return 0;
  for (int k = 0; k < g->n && !g->taken; k++)
    if (!g->op[k].sends) message_take(c, &g->op[k]);
  g->taken = 1;
  for (int k = 0; k < g->n; k++)
    if (g->op[k].sends && message_is(c, &g->op[k])) return 0;
  return 1;
}

static void group_done(void *data) {
  OF_DRIVER(StandinTouches, touches);
  const Group *g = data;
  for (int k = 0; k < g->n && !g->comm->aborted; k++) touches(g->op[k].at, g->op[k].bytes, !g->op[k].sends);
}

int ncclGroupStart(void) {
  if (open_group) return USAGE;
  open_group = calloc(1, sizeof *open_group);
  return OK;
}

static int group_add(Op x, void *comm, void *stream) {
  OF_DRIVER(StandinHolds, holds);
  Group *g = open_group;
  Comm *c = comm;
  if (!g || g->n == OPS || (g->comm && (g->comm != c || g->stream != stream)) || c->aborted) return USAGE;
  if (x.peer < 0 || x.peer >= c->sites || (x.bytes && !holds(x.at, x.bytes))) return USAGE;
  g->comm = c, g->stream = stream;
  x.number = x.sends ? c->sent[x.peer]++ : c->received[x.peer]++;
  g->op[g->n++] = x;
  return OK;
}

int ncclSend(const void *from, size_t n, int type, int peer, void *comm, void *stream) {
  if (type != 0) return USAGE;
  return group_add((Op){.sends = 1, .peer = peer, .at = (char *)(uintptr_t)from, .bytes = n}, comm, stream);
}

int ncclRecv(void *to, size_t n, int type, int peer, void *comm, void *stream) {
  if (type != 0) return USAGE;
  return group_add((Op){.peer = peer, .at = to, .bytes = n}, comm, stream);
}

int ncclGroupEnd(void) {
  OF_DRIVER(StandinWhen, when);
  Group *g = open_group;
  open_group = NULL;
  if (!g || !g->n) return free(g), g ? OK : USAGE;
  int number = count(&my.groups);
  if (is_planted("nccl-group=", number)) return free(g), SYSTEM;
  if (is_planted("nccl-lost=", number)) g->comm->lost = 1;
  pthread_mutex_lock(&my.all);
  for (int k = 0; k < g->n; k++) my.bytes += g->op[k].sends || g->op[k].peer == g->comm->site ? 0 : g->op[k].bytes;
  pthread_mutex_unlock(&my.all);
  return when(g->stream, group_ready, group_done, g) ? CUDA : OK;
}
