/* driver/ranks/run.c - runs a plan on the ranks. In: the tasks and the compiled object on the first rank, and inputs
 * on each; each runs its site over MPI; its blocks go to files, or to the first rank (data.c). */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/compile/nvrtc.h"
#include "driver/profile/profile.h"
#include "driver/progress.h"
#include "expr/word.h"
#include "ranks.h"
#include "site.h"

/* ---- from the first rank to all ---------------------------------------------------------------------------------- */

/* Whether the tasks have a site for each process. A plan that leaves sites idle counts them, and its mesh does not. */
static Leave processes_enough(Session *s, const Job *j, const Args *a) {
  const char *said = arg_last(a, OPT_SITES);
  int64_t in_use = mesh_sites(&j->tasks->mesh), sites = in_use;
  if (in_use == s->ranks->ranks) return LEAVE_OK;
  if (said && int64_read(said, strlen(said), &sites) && sites == s->ranks->ranks)
    return fail(s, LEAVE_USAGE,
        "the plan leaves %lld of %lld sites idle, and no process may be: start %lld processes, with a plan that says "
        "sites %lld", (long long)(sites - in_use), (long long)sites, (long long)in_use, (long long)in_use);
  return fail(s, LEAVE_USAGE, "%s is for %lld sites, and mpirun has started %d processes", j->path, (long long)in_use,
      s->ranks->ranks);
}

Leave ranks_prepare(Session *s, Job *j, const Args *a, Library *lib) {
  const Ranks *r = s->ranks;
  Compiler c;
  if (target_device(s, a) && arg_has(a, OPT_CC))
    return fail(s, LEAVE_USAGE,
        "--cc: of a text for several devices NVRTC compiles the kernels, and the C compiler that is usual what is "
        "around them");
  if (r->rank) return LEAVE_OK;
  Leave l = job_tasks(s, j, a);
  if (!l) l = processes_enough(s, j, a);
  if (!l) l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  if (!l) l = job_loops(s, j, a);
  c.dense = true;
  c.nvrtc = target_device(s, a);
  return l ? l : library_open(s, j, &c, 1, lib);
}

static Leave program_broadcast(Session *s, Job *j, Library *lib) {
  Buf text = buf_new(s->arena);
  const char *tasks = "";
  Bytes object = lib->made.made;
  size_t n = 0;
  if (!s->ranks->rank) {
    task_print(&text, j->tasks);
    tasks = text.s;
    n = text.len;
  }
  ranks_tell(s, &tasks, &n);
  ranks_tell(s, &object.at, &object.len);
  if (!s->ranks->rank) return LEAVE_OK;
  Diags *d = diags_new(s->arena);
  j->tasks = task_read(s->arena, s->strings, source_new(s->arena, "the first rank's tasks", tasks, n), d);
  if (!j->tasks) bug("tasks that the first rank has told cannot be read");
  return library_adopt(s, j, object, lib);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The ranks on a machine share its processors, unless the user set the number for each. */
static Leave threads_each(Session *s, const Args *a, int *threads) {
  const Ranks *r = s->ranks;
  cpu_set_t own;
  const char *said = getenv("OMP_NUM_THREADS");
  int64_t each = 0;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int mine = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 1, share = (int)(cores / r->beside);
  Leave l = threads_wanted(s, a, threads);
  if (l) return l;
  if (!*threads && !said) *threads = mine < share ? mine : share < 1 ? 1 : share;
  if (*threads || !int64_read(said, strspn(said, "0123456789"), &each)) each = *threads;
  if (each * r->beside > cores && !r->rank)
    say(s, "%d processes with %lld thread%s each on %ld processor%s: they will wait for each other", r->beside,
        (long long)each, each == 1 ? "" : "s", cores, cores == 1 ? "" : "s");
  return LEAVE_OK;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* Processes on one machine take its devices in turn. */
static Leave devices_enough(Session *s, const Args *a) {
  const Ranks *r = s->ranks;
  int n = 1;
  if (!target_device(s, a)) return LEAVE_OK;
  Leave l = devices_count(s, &n);
  if (!l && !r->rank && r->beside > n)
    say(s, "%d processes on a machine with %d device%s: they share %s", r->beside, n, n == 1 ? "" : "s",
        n == 1 ? "it" : "them");
  return l;
}

/* Checks that this process runs on a device if the first one does. */
static Leave targets_same(Session *s, const Args *a) {
  static const char *const word[] = {"without --target=cuda", "with --target=cuda"};
  const char *mine = word[target_device(s, a)], *first = mine;
  size_t n = strlen(first) + 1;
  ranks_tell(s, &first, &n);
  if (strcmp(mine, first) == 0) return LEAVE_OK;
  return fail(s, LEAVE_USAGE, "process %d runs %s, and the first process %s: all run on devices, or none",
      s->ranks->rank, mine, first);
}

/* Prints a graph without its places in files, which may lie elsewhere on other machines. */
static void program_print(Session *s, Buf *out, const EinGraph *g) {
  Buf text = buf_new(s->arena);
  graph_print(&text, g);
  places_omit(out, text.s);
}

/* Checks that this process has the program of the first one, with the same sizes. */
static Leave programs_same(Session *s, const Job *j) {
  Buf text = buf_new(s->arena);
  if (j->graph) program_print(s, &text, j->graph);
  const char *first = text.s, *path = j->path;
  size_t n = text.len, length = strlen(path) + 1;
  ranks_tell(s, &first, &n);
  ranks_tell(s, &path, &length);
  if (n == text.len && memcmp(first, text.s, n) == 0) return LEAVE_OK;
  return fail(s, LEAVE_USAGE,
      "process %d has another program than the first process, or other sizes: %s, and the first %s; give all the same",
      s->ranks->rank, j->path, path);
}

/* The most that a run takes on the device of each process. */
static Leave devices_memory(Session *s, const Args *a, Library *lib) {
  double most = 0;
  Leave l = target_device(s, a) ? memory_said(s, a, &most) : LEAVE_OK;
  lib->memory = (uint64_t)most;
  return l;
}

/* Collective. The first process prints what each site has asked of its device. */
static void devices_say(Session *s, const Args *a, const Library *lib) {
  const Ranks *r = s->ranks;
  const char **of = NEW_ARRAY(s->arena, const char *, r->ranks + 1);
  if (!target_device(s, a)) return;
  ranks_gather(s, (const char *)(const void *)&lib->counts, sizeof lib->counts, of);
  for (int i = 0; !r->rank && i < r->ranks; i++) {
    ein_counts counts;
    memcpy(&counts, of[i], sizeof counts);
    counts_say(s, arena_printf(s->arena, "site %d, on its device", i), &counts);
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Returns this site's own result; ran: all sites have run. lib->counts: what it has asked of its device. */
static Leave site_go(
    Session *s, const Job *j, Library *lib, const ein_tensor *in, const ein_tensor *out, int threads, bool *ran) {
  const Ranks *r = s->ranks;
  void *ctx = NULL;
  ProfileSite *profile = s->profile ? profile_site(s->profile, j->tasks, r->rank, r->ranks) : NULL;
  ein_status status = site_make(s, lib, r->door->moves(r->world), threads, profile, &lib->counts, &ctx);
  Leave l = ranks_agree(s, site_failed(s, lib->model, ctx, r->rank, status));
  if (l) return l;
  status = site_plan(s->arena, lib->model, ctx, j->tasks, r->rank);
  if (status == EIN_OK && s->progress && !r->rank) progress_begin(s->progress, j, ctx);
  if (status == EIN_OK) status = profile_run(profile, lib->model, ctx, in, out);
  if (s->progress) progress_end(s->progress);
  *ran = status == EIN_OK;
  l = site_failed(s, lib->model, ctx, r->rank, status);
  lib->model->destroy(ctx);
  return l;
}

Leave ranks_run(Session *s, Leave prepared, Job *j, const Args *a, Library *lib, Eval *e) {
  const Ranks *r = s->ranks;
  int threads;
  bool ran = false;
  Leave l = threads_each(s, a, &threads);
  if (!l) l = devices_enough(s, a);
  l = ranks_agree(s, prepared ? prepared : l);
  if (!l) l = ranks_agree(s, targets_same(s, a));
  if (!l) l = ranks_agree(s, programs_same(s, j));
  if (l) return l;
  l = program_broadcast(s, j, lib);
  const TaskGraph *t = j->tasks;
  ein_tensor *in = NEW_ARRAY(s->arena, ein_tensor, t->inputs.len + 1),
             *out = NEW_ARRAY(s->arena, ein_tensor, t->outputs.len + 1);
  if (!l) l = devices_memory(s, a, lib);
  if (!l) l = ranks_inputs(s, j, e, in);
  if (!l) ranks_outputs(s, j, out);
  l = ranks_agree(s, l);
  if (l) return l;
  ranks_warn(s, j, e, in);
  double before = (double)r->door->moved(r->world).bytes_received;
  l = ranks_agree(s, site_go(s, j, lib, in, out, threads, &ran));
  if (!l && !ran) l = fail(s, LEAVE_MACHINE, "the processes of MPI do not reach each other");
  if (l) return l;
  if (s->profile) profile_meet(s);
  double bytes = ranks_sum(s, (double)r->door->moved(r->world).bytes_received - before);
  detail(s, "%s: %d sites received %.0f bytes", j->path, r->ranks, bytes);
  devices_say(s, a, lib);
  return ranks_leave(s, j, e, out);
}
