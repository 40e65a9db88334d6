/* driver/ranks_run.c - a plan on the ranks that run it. In come the tasks and the compiled object on the first rank, and inputs on each; each
 * runs its site over MPI, and out go whole outputs on the first. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"
#include "site.h"

/* ---- from the first rank to all ----------------------------------------------------------------------------------- */

Leave ranks_prepare(Session *s, Job *j, const Args *a, Library *lib) {
  const Ranks *r = s->ranks;
  Compiler c;
  if (r->rank) return LEAVE_OK;
  if (mesh_sites(&j->tasks->mesh) != r->ranks)
    return fail(s, LEAVE_USAGE, "%s is for %lld sites, and mpirun has started %d processes", j->path, (long long)mesh_sites(&j->tasks->mesh), r->ranks);
  Leave l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  if (!l) l = job_loops(s, j, a);
  c.dense = true;
  return l ? l : library_open(s, j, &c, 1, lib);
}

static Leave program_told(Session *s, Job *j, Library *lib) {
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

/* ---- threads -------------------------------------------------------------------------------------------------------- */

/* The processors of this machine are shared by the ranks on it, unless somebody has said how many each has. */
static Leave threads_each(Session *s, const Args *a, int *threads) {
  const Ranks *r = s->ranks;
  cpu_set_t own;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int mine = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 1, share = (int)(cores / r->beside);
  Leave l = threads_wanted(s, a, threads);
  if (!l && *threads && (long)*threads * r->beside > cores && !r->rank)
    say(s, "%d processes with %d threads each on %ld processors: they will wait for each other", r->beside, *threads, cores);
  if (l || *threads || getenv("OMP_NUM_THREADS")) return l;
  *threads = mine < share ? mine : share < 1 ? 1 : share;
  return l;
}

/* ---- outputs come together -------------------------------------------------------------------------------------------- */

typedef struct Block { int64_t *low, *shape, count; } Block;

static Block block_at(Session *s, const TaskGraph *t, const TaskBuffer *b, int site) {
  uint32_t at[MESH_AXES + 1];
  Block x = {NEW_ARRAY(s->arena, int64_t, b->rank + 1), NEW_ARRAY(s->arena, int64_t, b->rank + 1), 0};
  int64_t *high = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  mesh_place(&t->mesh, site, at);
  x.count = task_box(t, b, at, x.low, high);
  for (uint32_t d = 0; d < b->rank; d++) x.shape[d] = task_has(t, b, at) ? high[d] - x.low[d] : 0;
  return x;
}

/* Of sites that have the same block, the first one gives it. */
static Block *blocks_given(Session *s, const TaskGraph *t, const TaskBuffer *b) {
  int n = s->ranks->ranks;
  Map seen = map_new(s->arena);
  Block *all = NEW_ARRAY(s->arena, Block, n);
  for (int i = 0; i < n; i++) {
    all[i] = block_at(s, t, b, i);
    Buf key = buf_new(s->arena);
    for (uint32_t d = 0; d < b->rank; d++) buf_printf(&key, "%lld %lld ", (long long)all[i].low[d], (long long)all[i].shape[d]);
    if (map_find(&seen, str_from(s->strings, key.s))) all[i].count = 0;
    map_put(&seen, str_from(s->strings, key.s), &all[i]);
  }
  return all;
}

static void block_place(EvalArray *whole, const Block *x, const char *from) {
  size_t e = (size_t)dtype_size(whole->dtype);
  int64_t row = whole->rank ? x->shape[whole->rank - 1] : 1, at[EIN_MAX_AXES] = {0};
  for (int64_t i = 0; i < x->count; i += row) {
    int64_t offset = 0;
    for (uint32_t d = 0; d < whole->rank; d++) offset = offset * whole->shape[d] + x->low[d] + at[d];
    memcpy((char *)whole->data + (size_t)offset * e, from + (size_t)i * e, (size_t)row * e);
    for (uint32_t d = whole->rank - (whole->rank > 0); d-- > 0;) {
      if (++at[d] < x->shape[d]) break;
      at[d] = 0;
    }
  }
}

static void output_gather(Session *s, const TaskGraph *t, uint32_t k, const ein_tensor *mine, EvalArray *whole) {
  const Ranks *r = s->ranks;
  const ein_wire *w = r->door->told(r->world);
  const TaskBuffer *b = &t->buffers.at[t->outputs.at[k].buffer];
  const Block *block = blocks_given(s, t, b);
  Arena *work = arena_new();
  ein_parcel send = {0, mine->data, (size_t)(block[r->rank].count * dtype_size(b->dtype))}, *receive = NEW_ARRAY(work, ein_parcel, r->ranks);
  int n = 0;
  for (int i = 0; r->rank == 0 && i < r->ranks; i++) {
    size_t bytes = (size_t)(block[i].count * dtype_size(b->dtype));
    if (bytes) receive[n++] = (ein_parcel){i, arena_alloc(work, bytes), bytes};
  }
  if (w->exchange(w->user, EIN_OK, send.bytes > 0, &send, n, receive) != EIN_OK)
    exit((int)session_end(s, fail(s, LEAVE_MACHINE, "the processes of MPI do not reach each other")));
  for (int i = 0; i < n; i++) block_place(whole, &block[receive[i].peer], receive[i].data);
  arena_free(work);
}

/* ---- the run ------------------------------------------------------------------------------------------------------------ */

static ein_tensor output_here(Session *s, const TaskGraph *t, uint32_t k) {
  const TaskBuffer *b = &t->buffers.at[t->outputs.at[k].buffer];
  Block x = block_at(s, t, b, s->ranks->rank);
  return (ein_tensor){.data = arena_alloc(s->arena, arena_array_size((size_t)dtype_size(b->dtype), (size_t)x.count + 1)), .device_type = 1,
                      .ndim = (int32_t)b->rank, .dtype = (ein_dtype)b->dtype, .shape = x.shape};
}

/* Gives what this site came to by itself; ran: all of them have run. */
static Leave site_go(Session *s, const Job *j, Library *lib, const ein_tensor *in, const ein_tensor *out, int threads, bool *ran) {
  const Ranks *r = s->ranks;
  void *ctx = NULL;
  ein_status status = site_make(lib->model, r->door->moves(r->world), threads, &ctx);
  Leave l = ranks_agree(s, site_failed(s, lib->model, ctx, r->rank, status));
  if (l) return l;
  status = site_plan(s->arena, lib->model, ctx, j->tasks, r->rank);
  if (status == EIN_OK) status = lib->model->run(ctx, in, out);
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
  l = ranks_agree(s, prepared ? prepared : l);
  if (l) return l;
  l = program_told(s, j, lib);
  const TaskGraph *t = j->tasks;
  uint32_t at[MESH_AXES + 1];
  mesh_place(&t->mesh, r->rank, at);
  ein_tensor *in = NEW_ARRAY(s->arena, ein_tensor, t->inputs.len + 1), *out = NEW_ARRAY(s->arena, ein_tensor, t->outputs.len + 1);
  if (!l) l = site_inputs(s, t, e, at, in);
  if (!l && !r->rank) l = site_outputs_new(s, t, e);
  l = ranks_agree(s, l);
  if (l) return l;
  for (uint32_t k = 0; k < t->outputs.len; k++) out[k] = output_here(s, t, k);
  double before = (double)r->door->moved(r->world).bytes_received;
  l = ranks_agree(s, site_go(s, j, lib, in, out, threads, &ran));
  if (!l && !ran) l = fail(s, LEAVE_MACHINE, "the processes of MPI do not reach each other");
  if (l) return l;
  double bytes = ranks_sum(s, (double)r->door->moved(r->world).bytes_received - before);
  detail(s, "%s: %d sites received %.0f bytes", j->path, r->ranks, bytes);
  for (uint32_t k = 0; k < t->outputs.len; k++) output_gather(s, t, k, &out[k], r->rank ? NULL : site_output(t, e, k));
  return LEAVE_OK;
}
