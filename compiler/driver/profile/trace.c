/* driver/profile/trace.c - a profile as a timeline, in the format of Chrome's traces, which Perfetto reads too: a
 * process per site, a slice per step, and an arrow for each message from its sender to its receiver. */
#include <math.h>

#include "base/json.h"
#include "profile.h"

static double zero_of(const Profile *p) {
  double zero = p->site[0]->begun;
  for (int i = 1; i < p->n_sites; i++) zero = p->site[i]->begun < zero ? p->site[i]->begun : zero;
  return zero;
}

/* Microseconds, the unit of times there, with nanosecond precision. */
static void put_time(Json *j, const char *key, double seconds) {
  json_num(j, key, round(seconds * 1e9) * 1e-3);
}

/* Begins an event of that kind, and leaves it open for more members. */
static void event_begin(Json *j, const char *kind, const char *name, int site, double at) {
  json_object(j, NULL);
  json_str(j, "ph", kind);
  json_str(j, "name", name);
  json_int(j, "pid", site);
  json_int(j, "tid", 0);
  put_time(j, "ts", at);
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

static void slices(
    Json *j, const Profile *p, const char *const *text, const ProfileStep *step, const ProfileSite *x, double zero) {
  for (uint32_t i = 0; i < x->n_events; i++) {
    const ProfileEvent *e = &x->event[i];
    const Task *k = step[e->step / 2].task;
    bool waits = e->step & 1;
    event_begin(j, "X", waits ? arena_printf(p->s->arena, "%s, waited for", text[e->step / 2]) : text[e->step / 2],
        x->site, e->begin - zero);
    put_time(j, "dur", e->end - e->begin);
    json_str(j, "cat", words[k->kind]);
    json_object(j, "args");
    json_int(j, "step", e->step / 2);
    if (k->place.file) json_str(j, "line", arena_printf(p->s->arena, "%s:%u", k->place.file->s, k->place.line));
    json_end(j, '}');
    json_end(j, '}');
  }
}

static void arrows(Json *j, const Profile *p, const ProfileSite *x, double zero) {
  for (uint32_t i = 0; i < x->n_messages; i++) {
    const ProfileMessage *m = &x->message[i];
    const ProfileSite *from = p->site[m->from];
    if (m->exchange > from->n_sent) continue; /* past what was kept there */
    const char *id = arena_printf(p->s->arena, "%d.%u", x->site, i);
    const struct {
      const char *kind;
      int site;
      double at;
    } end[] = {{"s", (int)m->from, from->sent[m->exchange - 1].at}, {"f", x->site, m->at}};
    for (int k = 0; k < 2; k++) {
      event_begin(j, end[k].kind, "message", end[k].site, end[k].at - zero);
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
  double zero = zero_of(p);
  Json j = json_new(b);
  j.compact = true;
  for (uint32_t k = 0; k < p->n_steps; k++)
    text[k] = step[k].task ? profile_step_text(p->s->arena, p->tasks, step[k].task) : "";
  json_object(&j, NULL);
  json_str(&j, "displayTimeUnit", "ms");
  json_object(&j, "otherData");
  json_str(&j, "program", job->path);
  json_end(&j, '}');
  json_array(&j, "traceEvents");
  for (int i = 0; i < p->n_sites; i++) {
    site_named(&j, p, i);
    slices(&j, p, text, step, p->site[i], zero);
    arrows(&j, p, p->site[i], zero);
  }
  json_end(&j, ']');
  json_end(&j, '}');
}
