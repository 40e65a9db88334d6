/* driver/profile/trace.c - a profile as a timeline, in the format of Chrome's traces, which Perfetto reads too: a
 * process per site, a slice per step, and an arrow for each message from its sender to its receiver. */
#include <math.h>

#include "base/json.h"
#include "profile.h"

typedef struct Trace {
  const Profile *p;
  Json j;
  double zero;               /* when the first site began, in seconds */
  double *late;              /* by site: so many nanoseconds its clock is behind */
} Trace;

static double zero_of(const Profile *p) {
  double zero = p->site[0]->begun;
  for (int i = 1; i < p->n_sites; i++) zero = p->site[i]->begun < zero ? p->site[i]->begun : zero;
  return zero;
}

/* A whole number of nanoseconds. */
static double time_at(const Trace *t, int site, double at) { return round((at - t->zero) * 1e9) + t->late[site]; }

/* NULL: past what was kept at the sender. */
static const ProfileSent *sent_of(const Profile *p, const ProfileMessage *m) {
  const ProfileSite *from = p->site[m->from];
  return m->exchange > from->n_sent ? NULL : &from->sent[m->exchange - 1];
}

/* Clocks that begin with their runs differ: a site is put later until no message reaches it before it was sent. Where
 * clocks do not drift, as many rounds as there are sites are enough. */
static void clocks_set(Trace *t) {
  const Profile *p = t->p;
  bool moved = true;
  for (int round = 0; moved && round < p->n_sites; round++) {
    moved = false;
    for (int i = 0; i < p->n_sites; i++)
      for (uint32_t k = 0; k < p->site[i]->n_messages; k++) {
        const ProfileMessage *m = &p->site[i]->message[k];
        const ProfileSent *sent = sent_of(p, m);
        double early = sent ? time_at(t, (int)m->from, sent->at) - time_at(t, i, m->at) : 0;
        if (early > 0) t->late[i] += early, moved = true;
      }
  }
}

/* Microseconds, the unit of times there. */
static void put_time(Json *j, const char *key, double nanoseconds) { json_num(j, key, nanoseconds * 1e-3); }

/* Begins an event of that kind, and leaves it open for more members. */
static void event_begin(Trace *t, const char *kind, const char *name, int site, double at) {
  Json *j = &t->j;
  json_object(j, NULL);
  json_str(j, "ph", kind);
  json_str(j, "name", name);
  json_int(j, "pid", site);
  json_int(j, "tid", 0);
  put_time(j, "ts", time_at(t, site, at));
}

static void site_named(Json *j, const Profile *p, int site) {
  json_object(j, NULL);
  json_str(j, "ph", "M");
  json_str(j, "name", "process_name");
  json_int(j, "pid", site);
  json_object(j, "args");
  json_str(j, "name", p->n_sites > 1 ? arena_printf(p->s->arena, "site %d", site) : "run");
  json_end(j, '}');
  json_end(j, '}');
}

static const char *const words[] = {[TASK_KERNEL] = "kernel",
    [TASK_REPEAT] = "repeat",
    [TASK_ZERO] = "zero",
    [TASK_DEFAULT] = "default",
    [TASK_ASSERT] = "assert",
    [TASK_MOVE] = "move",
    [TASK_FETCH] = "fetch"};

static void slices(Trace *t, const char *const *text, const ProfileStep *step, const ProfileSite *x) {
  Json *j = &t->j;
  for (uint32_t i = 0; i < x->n_events; i++) {
    const ProfileEvent *e = &x->event[i];
    const Task *k = step[e->step / 2].task;
    const char *its = text[e->step / 2];
    bool waits = e->step & 1;
    event_begin(t, "X", waits ? arena_printf(t->p->s->arena, "%s, waited for", its) : its, x->site, e->begin);
    put_time(j, "dur", round((e->end - e->begin) * 1e9));
    json_str(j, "cat", words[k->kind]);
    json_object(j, "args");
    json_int(j, "step", e->step / 2);
    if (k->place.file) json_str(j, "line", arena_printf(t->p->s->arena, "%s:%u", k->place.file->s, k->place.line));
    json_end(j, '}');
    json_end(j, '}');
  }
}

static void arrows(Trace *t, const ProfileSite *x) {
  Json *j = &t->j;
  for (uint32_t i = 0; i < x->n_messages; i++) {
    const ProfileMessage *m = &x->message[i];
    const ProfileSent *sent = sent_of(t->p, m);
    if (!sent) continue;
    const char *id = arena_printf(t->p->s->arena, "%d.%u", x->site, i);
    const struct {
      const char *kind;
      int site;
      double at;
    } end[] = {{"s", (int)m->from, sent->at}, {"f", x->site, m->at}};
    for (int k = 0; k < 2; k++) {
      event_begin(t, end[k].kind, "message", end[k].site, end[k].at);
      json_str(j, "cat", "message");
      json_str(j, "id", id);
      if (k) json_str(j, "bp", "e");
      json_object(j, "args");
      json_num(j, "bytes", m->bytes);
      json_end(j, '}');
      json_end(j, '}');
    }
  }
}

void profile_trace(const Profile *p, const Job *job, Buf *b) {
  const ProfileStep *step = profile_steps(p->s->arena, p->tasks);
  const char **text = NEW_ARRAY(p->s->arena, const char *, p->n_steps + 1);
  Trace t = {.p = p, .j = json_new(b), .zero = zero_of(p), .late = NEW_ARRAY(p->s->arena, double, p->n_sites + 1)};
  for (int i = 0; i < p->n_sites; i++) t.late[i] = 0;
  clocks_set(&t);
  t.j.compact = true;
  for (uint32_t k = 0; k < p->n_steps; k++)
    text[k] = step[k].task ? profile_step_text(p->s->arena, p->tasks, step[k].task) : "";
  json_object(&t.j, NULL);
  json_str(&t.j, "displayTimeUnit", "ms");
  json_object(&t.j, "otherData");
  json_str(&t.j, "program", job->path);
  json_end(&t.j, '}');
  json_array(&t.j, "traceEvents");
  for (int i = 0; i < p->n_sites; i++) {
    site_named(&t.j, p, i);
    slices(&t, text, step, p->site[i]);
    arrows(&t, p->site[i]);
  }
  json_end(&t.j, ']');
  json_end(&t.j, '}');
}
