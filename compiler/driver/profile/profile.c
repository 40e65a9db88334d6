/* driver/profile/profile.c - collects what a run's sites report about their steps (profile.h). */
#include <string.h>
#include <time.h>

#include "driver/compile/native.h"
#include "driver/ranks/ranks.h"
#include "profile.h"

Leave profile_new(Session *s, const Args *a, const Job *j, bool compiled) {
  const char *trace = arg_last(a, OPT_TRACE), *word = trace ? "--trace" : "--profile";
  s->profile = NULL;
  if (!trace && !arg_has(a, OPT_PROFILE)) return LEAVE_OK;
  if (target_device(s, a))
    return fail(s, LEAVE_USAGE,
        "%s is about steps on the CPU: kernels of a device go on by themselves; its maker's tools show them "
        "(nsys, ncu)",
        word);
  if (!compiled)
    return fail(s, LEAVE_USAGE, "%s is about what is compiled, and %s is computed by the evaluator here: --target=c",
        word, j->path);
  if (trace && ranks_first(s) && !file_writable(s, trace)) return LEAVE_MACHINE;
  s->profile = NEW(s->arena, Profile);
  *s->profile = (Profile){.s = s, .trace = trace, .told = arg_has(a, OPT_PROFILE)};
  return LEAVE_OK;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void step_ends(ProfileSite *x, double now) {
  if (x->now < 0) return;
  x->count[x->now].seconds += now - x->since;
  if (!x->event) return;
  if (x->n_events < x->of->room) x->event[x->n_events++] = (ProfileEvent){x->now, x->since, now};
  else x->lost = true;
}

static void step_begins(void *user, int step, int half) {
  ProfileSite *x = user;
  double now = seconds_now();
  step_ends(x, now);
  x->now = step < 0 || (uint32_t)step >= x->of->n_steps ? -1 : 2 * (int64_t)step + half;
  x->since = now;
  x->ended = now;
  if (x->now >= 0) x->count[x->now].times++;
}

/* ---- bytes received ---------------------------------------------------------------------------------------------- */

static void sent_note(ProfileSite *x) {
  x->exchanges++;
  if (!x->event) return;
  if (x->n_sent < x->of->room) x->sent[x->n_sent++] = (ProfileSent){x->exchanges, seconds_now()};
  else x->lost = true;
}

static void received_note(ProfileSite *x, int n, const ein_parcel *parcel) {
  double now = x->event ? seconds_now() : 0;
  for (int i = 0; i < n; i++) {
    double bytes = (double)parcel[i].bytes;
    if (parcel[i].peer == x->site) continue;
    if (x->now >= 0) x->count[x->now].received += bytes;
    x->from[parcel[i].peer] += bytes;
    if (!x->event) continue;
    if (x->n_messages < x->of->room)
      x->message[x->n_messages++] = (ProfileMessage){x->exchanges, parcel[i].peer, bytes, now};
    else x->lost = true;
  }
}

static ein_status counted_exchange(
    void *user, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ProfileSite *x = user;
  sent_note(x);
  ein_status status = x->inner->exchange(x->inner->user, n_send, send, n_receive, receive);
  if (status == EIN_OK) received_note(x, n_receive, receive);
  return status;
}

static ein_status counted_counts(void *user, const int64_t *send, int64_t *receive) {
  ProfileSite *x = user;
  return x->inner->counts(x->inner->user, send, receive);
}

static ein_status counted_agree(void *user, ein_status mine) {
  ProfileSite *x = user;
  return x->inner->agree(x->inner->user, mine);
}

/* Transfers in progress are counted when they begin; the data arrive later, at the latest when they are waited for. */
static ein_status counted_start(
    void *user, int key, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ProfileSite *x = user;
  sent_note(x);
  ein_status status = x->inner->start(x->inner->user, key, n_send, send, n_receive, receive);
  uint32_t from = x->n_messages;
  if (status == EIN_OK) received_note(x, n_receive, receive);
  if (x->event) x->way[key] = (ProfileWay){from, x->n_messages};
  return status;
}

static ein_status counted_finish(void *user, int key) {
  ProfileSite *x = user;
  ein_status status = x->inner->finish(x->inner->user, key);
  if (!x->event) return status;
  double now = seconds_now();
  for (uint32_t i = x->way[key].from; i < x->way[key].to; i++) x->message[i].at = now;
  return status;
}

static void counted_look(void *user) {
  ProfileSite *x = user;
  x->inner->look(x->inner->user);
}

static const char *counted_why(void *user) {
  ProfileSite *x = user;
  return x->inner->why(x->inner->user);
}

const ein_wire *profile_wire(ProfileSite *x, const ein_wire *inner) {
  x->inner = inner;
  x->wire = (ein_wire){.user = x,
      .site = inner->site,
      .sites = inner->sites,
      .exchange = counted_exchange,
      .counts = counted_counts,
      .agree = counted_agree};
  if (inner->why) x->wire.why = counted_why;
  if (inner->start) x->wire.start = counted_start, x->wire.finish = counted_finish, x->wire.look = counted_look;
  return &x->wire;
}

/* ---- sites ------------------------------------------------------------------------------------------------------- */

static ProfileSite *site_new(Profile *p, int site) {
  Arena *a = p->s->arena;
  ProfileSite *x = NEW(a, ProfileSite);
  *x = (ProfileSite){.of = p, .site = site, .now = -1, .watch = {x, step_begins}};
  x->count = NEW_ARRAY(a, ProfileCount, 2 * (size_t)p->n_steps + 1);
  x->from = NEW_ARRAY(a, double, p->n_sites + 1);
  if (!p->trace) return x;
  x->event = NEW_ARRAY(a, ProfileEvent, p->room);
  x->message = NEW_ARRAY(a, ProfileMessage, p->room);
  x->sent = NEW_ARRAY(a, ProfileSent, p->room);
  x->way = NEW_ARRAY(a, ProfileWay, p->n_steps + 1);
  return x;
}

ProfileSite *profile_site(Profile *p, const TaskGraph *t, int site, int sites) {
  if (p->tasks != t || p->n_sites != sites) {
    p->tasks = t;
    p->n_steps = t->n_steps;
    p->n_sites = sites;
    p->room = PROFILE_ALL / (uint32_t)sites;
    if (p->room > PROFILE_EVENTS) p->room = PROFILE_EVENTS;
    if (p->room < PROFILE_LEAST) p->room = PROFILE_LEAST;
    p->site = NEW_ARRAY(p->s->arena, ProfileSite *, sites + 1);
  }
  return p->site[site] = site_new(p, site);
}

static void counts_begin(ProfileSite *x) {
  memset(x->count, 0, (2 * (size_t)x->of->n_steps + 1) * sizeof *x->count);
  memset(x->from, 0, (size_t)x->of->n_sites * sizeof *x->from);
  x->n_events = x->n_messages = x->n_sent = 0;
  x->lost = false;
  x->exchanges = 0;
  x->now = -1;
  x->begun = x->since = x->ended = seconds_now();
}

ein_status profile_run(ProfileSite *x, const ein_model *m, void *ctx, const ein_tensor *in, const ein_tensor *out) {
  ein_status status = x && x->of->again ? m->run(ctx, in, out) : EIN_OK;
  if (x) counts_begin(x);
  return status == EIN_OK ? m->run(ctx, in, out) : status;
}

/* ---- over MPI: all sites at the first ---------------------------------------------------------------------------- */

/* Machines' clocks differ: each site's begins with its run. */
static void clock_from(ProfileSite *x, double zero) {
  for (uint32_t i = 0; i < x->n_events; i++) x->event[i].begin -= zero, x->event[i].end -= zero;
  for (uint32_t i = 0; i < x->n_messages; i++) x->message[i].at -= zero;
  for (uint32_t i = 0; i < x->n_sent; i++) x->sent[i].at -= zero;
  x->begun -= zero;
  x->ended -= zero;
}

static void site_put(Buf *b, const ProfileSite *x) {
  buf_add(b, (const char *)x, sizeof *x);
  buf_add(b, (const char *)x->count, 2 * (size_t)x->of->n_steps * sizeof *x->count);
  buf_add(b, (const char *)x->from, (size_t)x->of->n_sites * sizeof *x->from);
  if (!x->event) return;
  buf_add(b, (const char *)x->event, x->n_events * sizeof *x->event);
  buf_add(b, (const char *)x->message, x->n_messages * sizeof *x->message);
  buf_add(b, (const char *)x->sent, x->n_sent * sizeof *x->sent);
}

static void taken(const char **at, void *to, size_t bytes) {
  if (bytes) memcpy(to, *at, bytes);
  *at += bytes;
}

static void site_take(Profile *p, int site, const char *at) {
  ProfileSite *x = p->site[site] = site_new(p, site), said;
  taken(&at, &said, sizeof said);
  x->begun = said.begun;
  x->ended = said.ended;
  x->lost = said.lost;
  x->n_events = said.n_events;
  x->n_messages = said.n_messages;
  x->n_sent = said.n_sent;
  taken(&at, x->count, 2 * (size_t)p->n_steps * sizeof *x->count);
  taken(&at, x->from, (size_t)p->n_sites * sizeof *x->from);
  if (!p->trace) return;
  taken(&at, x->event, x->n_events * sizeof *x->event);
  taken(&at, x->message, x->n_messages * sizeof *x->message);
  taken(&at, x->sent, x->n_sent * sizeof *x->sent);
}

void profile_meet(Session *s) {
  Profile *p = s->profile;
  const int mine = s->ranks->rank;
  Buf b = buf_new(s->arena);
  clock_from(p->site[mine], p->site[mine]->begun);
  site_put(&b, p->site[mine]);
  const char **all = NEW_ARRAY(s->arena, const char *, p->n_sites + 1);
  ranks_gather(s, b.s, b.len, all);
  for (int i = 1; !mine && i < p->n_sites; i++) site_take(p, i, all[i]);
}
