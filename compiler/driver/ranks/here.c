/* driver/ranks/here.c - runs emitted C for several sites in this process: a context and a thread for each, and a
 * copying wire between them. In: whole tensors, of which each site sees its block in place; out: whole tensors, each
 * block written in place by the first site that has it. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "driver/keeping.h"
#include "driver/profile/profile.h"
#include "driver/progress.h"
#include "site.h"

/* ---- the wire ---------------------------------------------------------------------------------------------- */

typedef struct Post { const ein_parcel *send; int n; const int64_t *count; } Post; /* what a site provides */

/* What all sites share. Numbers change atomically. */
typedef struct Hub {
  int sites;
  uint64_t count;            /* of sites that are here, and from bit 32 on of those that are gone: that finished their
                              * run, or ended early */
  uint64_t round;
  int failed;                /* the first status reported that is none of success */
  pthread_mutex_t lock;      /* for those who sleep */
  pthread_cond_t met;
  Post *post;
} Hub;

typedef struct Site {
  Hub *hub;
  ein_wire wire;
  const ein_model *model;
  void *ctx;
  const TaskGraph *tasks;
  ein_tensor *in, *out;
  ProfileSite *profile;      /* NULL: nobody asks */
  Progress *progress;        /* of the first, if its progress is shown; else NULL */
  const Job *job;
  ein_status status;
  double bytes;              /* received from other sites, in all */
  ein_counts counts;         /* what it has asked of its device */
} Site;

/* How often a site looks whether the others have come, and lets them run, before it sleeps: to be woken takes long. */
enum { HUB_LOOKS = 500 };
static const uint64_t hub_here = 1, hub_gone = (uint64_t)1 << 32;

static uint64_t hub_round(const Hub *h) { return __atomic_load_n(&h->round, __ATOMIC_ACQUIRE); }

static void hub_fail(Hub *h, ein_status mine) {
  int none = EIN_OK, order = __ATOMIC_RELAXED;
  if (mine != EIN_OK) __atomic_compare_exchange_n(&h->failed, &none, (int)mine, false, order, order);
}

/* Counts a site. The last one that is waited for begins the next round; until then nobody else can change a thing. */
static void hub_count(Hub *h, uint64_t as) {
  uint64_t n = __atomic_add_fetch(&h->count, as, __ATOMIC_ACQ_REL), here = n % hub_gone, gone = n / hub_gone;
  if (!here || here + gone < (uint64_t)h->sites) return;
  __atomic_store_n(&h->count, gone * hub_gone, __ATOMIC_RELAXED);
  pthread_mutex_lock(&h->lock);
  __atomic_store_n(&h->round, h->round + 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&h->met);
  pthread_mutex_unlock(&h->lock);
}

/* Waits for all who are not gone. */
static ein_status hub_meet(Hub *h, ein_status mine) {
  uint64_t round = hub_round(h);
  hub_fail(h, mine);
  hub_count(h, hub_here);
  for (int i = 0; i < HUB_LOOKS && hub_round(h) == round; i++) sched_yield();
  if (hub_round(h) == round) {
    pthread_mutex_lock(&h->lock);
    while (hub_round(h) == round) pthread_cond_wait(&h->met, &h->lock);
    pthread_mutex_unlock(&h->lock);
  }
  return (ein_status)__atomic_load_n(&h->failed, __ATOMIC_RELAXED);
}

/* Sites that end early because of a failure are not waited for. */
static void hub_leave(Hub *h, ein_status mine) {
  hub_fail(h, mine);
  hub_count(h, hub_gone);
}

static const ein_parcel *parcel_for(const Post *p, int peer) {
  for (int i = 0; i < p->n; i++)
    if (p->send[i].peer == peer) return &p->send[i];
  return NULL;
}

static ein_status wire_exchange(
    void *user, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  Site *s = user;
  s->hub->post[s->wire.site] = (Post){.send = send, .n = n_send};
  ein_status status = hub_meet(s->hub, EIN_OK);
  if (status != EIN_OK) return status;
  for (int i = 0; i < n_receive; i++) {
    const ein_parcel *x = parcel_for(&s->hub->post[receive[i].peer], s->wire.site);
    if (!x || x->bytes != receive[i].bytes)
      bug("site %d waits for what site %d does not send", s->wire.site, receive[i].peer);
    memcpy(receive[i].data, x->data, x->bytes);
    s->bytes += receive[i].peer == s->wire.site ? 0 : (double)x->bytes;
  }
  return hub_meet(s->hub, EIN_OK); /* parcels belong to their sender again */
}

static void wire_beside(void *user, int peer, size_t sent, size_t received) {
  (void)peer, (void)sent;
  if (received) ((Site *)user)->bytes += (double)received - 1; /* and a byte in its place */
}

static int wire_failed(void *user) {
  return __atomic_load_n(&((Site *)user)->hub->failed, __ATOMIC_RELAXED) != EIN_OK;
}

static ein_status wire_counts(void *user, const int64_t *send, int64_t *receive) {
  Site *s = user;
  s->hub->post[s->wire.site] = (Post){.count = send};
  ein_status status = hub_meet(s->hub, EIN_OK);
  if (status != EIN_OK) return status;
  for (int q = 0; q < s->hub->sites; q++) receive[q] = s->hub->post[q].count[s->wire.site];
  return hub_meet(s->hub, EIN_OK);
}

static ein_status wire_agree(void *user, ein_status mine) { return hub_meet(((Site *)user)->hub, mine); }

/* ---- a site ------------------------------------------------------------------------------------------------- */

ein_tensor site_block(Arena *a, const TaskGraph *t, uint32_t buffer, const uint32_t *at, const EvalArray *whole) {
  const TaskBuffer *b = &t->buffers.at[buffer];
  int64_t *low = NEW_ARRAY(a, int64_t, b->rank + 1), *shape = NEW_ARRAY(a, int64_t, b->rank + 1),
          *stride = NEW_ARRAY(a, int64_t, b->rank + 1);
  int64_t offset = 0, step = 1, count = task_shape(t, b, at, shape);
  for (uint32_t d = 0; d < b->rank && !task_has(t, b, at); d++) shape[d] = 0;
  for (uint32_t d = b->rank; d-- > 0; step *= whole->shape[d]) {
    low[d] = b->low && count ? task_at(t, b->low[d], at) : 0;
    stride[d] = step;
    offset += low[d] * step;
  }
  return (ein_tensor){.data = whole->data,
      .device_type = 1,
      .ndim = (int32_t)b->rank,
      .dtype = (ein_dtype)b->dtype,
      .shape = shape,
      .strides = stride,
      .byte_offset = (uint64_t)(offset * dtype_size(b->dtype))};
}

static bool is_block_of(const ein_tensor *a, const ein_tensor *b) {
  if (a->byte_offset != b->byte_offset) return false;
  for (int32_t d = 0; d < a->ndim; d++)
    if (a->shape[d] != b->shape[d]) return false;
  return true;
}

/* A block that nobody else writes: in place, but in memory of its own if it is also the block of a site before this
 * one. Sites compute in their outputs, and so must not share them. block, has: of all sites up to this one. */
static ein_tensor site_own(Arena *a, const ein_tensor *block, const bool *has, int64_t site) {
  ein_tensor own = block[site];
  int64_t count = 1, *stride = NEW_ARRAY(a, int64_t, own.ndim + 1), before = 0;
  while (before < site && !(has[before] && is_block_of(&block[before], &own))) before++;
  if (before == site || !has[site]) return own;
  for (int32_t d = own.ndim; d-- > 0; count *= own.shape[d]) stride[d] = count;
  own.data = arena_alloc(a, arena_array_size((size_t)dtype_size((DType)own.dtype), (size_t)count + 1));
  own.strides = stride, own.byte_offset = 0;
  return own;
}

/* The blocks of its inputs, in the order of t->inputs. */
static Leave site_inputs(Session *s, const TaskGraph *t, const Eval *e, const uint32_t *at, ein_tensor *in) {
  for (uint32_t k = 0; k < t->inputs.len; k++) {
    const EvalArray *whole = eval_input_find(e, t->inputs.at[k].name);
    if (!whole)
      return fail(s, LEAVE_USAGE, "input %s is not given, and defaults are not made for several sites yet",
          t->inputs.at[k].name->s);
    in[k] = site_block(s->arena, t, t->inputs.at[k].buffer, at, whole);
  }
  return LEAVE_OK;
}

ein_status site_make(const Session *s, const Library *lib, const ein_wire *wire, int threads, ProfileSite *profile,
    ein_counts *counts, void **ctx) {
  ein_config config = {.size = sizeof config, .threads = threads, .wire = wire, .stop = stop_flag(s),
      .counts = counts, .device_memory = lib->memory};
  if (profile) config.wire = profile_wire(profile, wire), config.watch = &profile->watch;
  if (s->keeping) config.between = keeping_between, config.user = s->keeping;
  return lib->model->create(&config, ctx);
}

ein_status site_plan(Arena *a, const ein_model *m, void *ctx, const TaskGraph *t, int site) {
  uint32_t at[MESH_AXES + 1];
  int64_t *dim = NEW_ARRAY(a, int64_t, t->mesh.n + 1);
  mesh_place(&t->mesh, site, at);
  for (uint32_t i = 0; i < t->mesh.n; i++) dim[i] = at[i];
  return m->plan(ctx, dim);
}

Leave site_failed(Session *s, const ein_model *m, void *ctx, int site, ein_status status) {
  const char *why = ctx ? m->last_error(ctx) : "no memory for a context";
  if (status == EIN_OK || strstr(why, EIN_ELSEWHERE)) return LEAVE_OK;
  if (status == EIN_ERR_CANCEL) return fail(s, LEAVE_PROGRAM, "interrupted");
  if (status == EIN_ERR_PLAN || status == EIN_ERR_ARG) bug("the emitted C, at site %d: %s", site, why);
  return fail(s, status_leave(status), "site %d: %s", site, *why ? why : "the computation failed");
}

static void *site_run(void *site) {
  Site *x = site;
  Arena *a = arena_new();
  x->status = site_plan(a, x->model, x->ctx, x->tasks, x->wire.site);
  if (x->status == EIN_OK && x->progress) progress_begin(x->progress, x->job, x->ctx);
  if (x->status == EIN_OK) x->status = profile_run(x->profile, x->model, x->ctx, x->in, x->out);
  if (x->progress) progress_end(x->progress);
  arena_free(a);
  hub_leave(x->hub, x->status);
  return NULL;
}

/* ---- everything together --------------------------------------------------------------------------------------- */

Leave site_outputs_new(Session *s, const TaskGraph *t, Eval *e, const char *some) {
  e->output = NEW_ARRAY(s->arena, EvalArray, t->outputs.len + 1);
  for (uint32_t k = 0; k < t->outputs.len; k++) {
    if (some && !some[k]) continue;
    const TaskBuffer *b = &t->buffers.at[t->outputs.at[k].buffer];
    EvalArray *x = eval_output_find(e, t->outputs.at[k].name);
    *x =
        (EvalArray){.dtype = b->dtype, .rank = b->rank, .shape = NEW_ARRAY(s->arena, int64_t, b->rank + 1), .count = 1};
    task_whole(t, b, x->shape);
    for (uint32_t d = 0; d < b->rank; d++)
      if (!mul_ok(x->count, x->shape[d], &x->count))
        return fail(s, LEAVE_PROGRAM, "output %s does not fit 64 bits", t->outputs.at[k].name->s);
    if (e->max_bytes && x->count > e->max_bytes / dtype_size(b->dtype))
      return fail(s, LEAVE_MACHINE, "output %s would take %.0f bytes; the limit here is %lld",
          t->outputs.at[k].name->s, (double)x->count * (double)dtype_size(b->dtype), (long long)e->max_bytes);
    x->data = arena_alloc(s->arena, arena_array_size((size_t)dtype_size(b->dtype), (size_t)x->count + 1));
  }
  return LEAVE_OK;
}

/* The first site that failed by itself, not because of another. */
static Leave sites_judge(Session *s, const Site *x, int64_t n) {
  bool some = false;
  for (int i = 0; i < n; i++) {
    Leave l = site_failed(s, x[i].model, x[i].ctx, i, x[i].status);
    if (l) return l;
    some |= x[i].status != EIN_OK;
  }
  return some ? fail(s, LEAVE_MACHINE, "the computation failed") : LEAVE_OK;
}

static Leave sites_go(Session *s, Site *x, int64_t n) {
  pthread_t *thread = NEW_ARRAY(s->arena, pthread_t, n);
  int64_t started = 0;
  while (started < n && pthread_create(&thread[started], NULL, site_run, &x[started]) == 0) started++;
  for (int64_t i = started; i < n; i++) hub_leave(x->hub, EIN_ERR_MEMORY);
  for (int64_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
  return started < n ? fail(s, LEAVE_MACHINE, "this machine gives no more than %lld threads", (long long)started)
                     : sites_judge(s, x, n);
}

static Leave sites_make(
    Session *s, Site *x, Hub *hub, const Library *lib, const Job *j, const Eval *e, int threads) {
  const TaskGraph *t = j->tasks;
  uint32_t at[MESH_AXES + 1];
  Leave l = LEAVE_OK;
  for (int i = 0; i < hub->sites && !l; i++) {
    mesh_place(&t->mesh, i, at);
    x[i] = (Site){.hub = hub, .model = lib->model, .tasks = t, .job = j, .progress = i ? NULL : s->progress};
    x[i].wire = (ein_wire){.user = &x[i],
        .site = i,
        .sites = hub->sites,
        .place = i,
        .exchange = wire_exchange,
        .counts = wire_counts,
        .agree = wire_agree,
        .beside = wire_beside,
        .failed = wire_failed};
    x[i].in = NEW_ARRAY(s->arena, ein_tensor, t->inputs.len + 1);
    x[i].out = NEW_ARRAY(s->arena, ein_tensor, t->outputs.len + 1);
    l = site_inputs(s, t, e, at, x[i].in);
    if (s->profile) x[i].profile = profile_site(s->profile, t, i, hub->sites);
    x[i].status = l ? EIN_OK : site_make(s, lib, &x[i].wire, threads, x[i].profile, &x[i].counts, &x[i].ctx);
    if (!l) l = site_failed(s, lib->model, x[i].ctx, i, x[i].status);
  }
  return l;
}

static void sites_outputs(Session *s, Site *x, int64_t n, const TaskGraph *t, const Eval *e) {
  uint32_t at[MESH_AXES + 1];
  ein_tensor *block = NEW_ARRAY(s->arena, ein_tensor, n);
  bool *has = NEW_ARRAY(s->arena, bool, n);
  for (uint32_t k = 0; k < t->outputs.len; k++)
    for (int64_t i = 0; i < n; i++) {
      mesh_place(&t->mesh, (int)i, at);
      uint32_t buffer = t->outputs.at[k].buffer;
      block[i] = site_block(s->arena, t, buffer, at, eval_output_find(e, t->outputs.at[k].name));
      has[i] = task_has(t, &t->buffers.at[buffer], at);
      x[i].out[k] = site_own(s->arena, block, has, i);
    }
}

static void *const *all_contexts(Session *s, const Site *x, int64_t n) {
  void **all = NEW_ARRAY(s->arena, void *, n + 1);
  for (int64_t i = 0; i < n; i++) all[i] = x[i].ctx;
  return all;
}

Leave sites_run(Session *s, Library *lib, const Job *j, Eval *e, int threads) {
  int64_t n = mesh_sites(&j->tasks->mesh);
  if (n > SITES_HERE)
    return fail(s, LEAVE_USAGE, "%s is for %lld sites, and %d is the most that run in one process", j->path,
        (long long)n, SITES_HERE);
  Hub hub = {.sites = (int)n, .post = NEW_ARRAY(s->arena, Post, n)};
  Site *x = NEW_ARRAY(s->arena, Site, n);
  pthread_mutex_init(&hub.lock, NULL);
  pthread_cond_init(&hub.met, NULL);
  Leave l = site_outputs_new(s, j->tasks, e, NULL);
  if (!l) l = sites_make(s, x, &hub, lib, j, e, threads ? threads : 1);
  if (!l) sites_outputs(s, x, n, j->tasks, e);
  const InterruptRun going = {lib->model->cancel, all_contexts(s, x, n), (int)n};
  if (!l && !interrupt_begin(s, &going)) l = fail(s, LEAVE_PROGRAM, "interrupted");
  if (!l) l = sites_go(s, x, n);
  interrupt_end(s);
  double bytes = 0;
  for (int64_t i = 0; i < n; i++) bytes += x[i].bytes;
  if (!l) detail(s, "%s: %lld sites received %.0f bytes", j->path, (long long)n, bytes);
  for (int64_t i = 0; i < n && !l && lib->device; i++)
    counts_say(s, arena_printf(s->arena, "site %lld, on its device", (long long)i), &x[i].counts);
  for (int64_t i = 0; i < n; i++)
    if (x[i].ctx) lib->model->destroy(x[i].ctx);
  pthread_cond_destroy(&hub.met);
  pthread_mutex_destroy(&hub.lock);
  return l;
}
