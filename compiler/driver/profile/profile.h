/* driver/profile/profile.h - where the time of a run goes: step by step, next to the prediction; and as a timeline.
 *
 * A site's run reports the beginning of each step (ein_watch, runtime/ein_tensor.h), and a counting wire measures
 * what it receives. A step lasts until the next one begins. There are two counters for each step of the task text,
 * because a move may begin in one step and be awaited in another. Runs without a profile pay nothing: their text
 * reports no steps. */
#ifndef EIN_PROFILE_H
#define EIN_PROFILE_H

#include "driver/driver.h"

/* Limits of timelines: events per site, in all, and the least per site. */
enum { PROFILE_EVENTS = 1 << 16, PROFILE_ALL = 1 << 20, PROFILE_LEAST = 1 << 10 };

typedef struct ProfileCount { double times, seconds, received; } ProfileCount; /* summed over a run; bytes from other
                                                                                * sites */

/* step: twice its number, + 1 for the second half */
typedef struct ProfileEvent { int64_t step; double begin, end; } ProfileEvent;
/* In which exchange of the run; when it arrived. */
typedef struct ProfileMessage { int64_t exchange, from; double bytes, at; } ProfileMessage;
typedef struct ProfileWay { uint32_t from, to; } ProfileWay; /* the messages of a transfer in progress: from up to to */
typedef struct ProfileSent { int64_t exchange; double at; } ProfileSent;            /* when a site began it */

typedef struct ProfileSite {
  const struct Profile *of;
  int site;
  ein_watch watch;
  ein_wire wire;             /* counts what goes over `inner` */
  const ein_wire *inner;
  int64_t now;               /* the current step, as in events; -1: none */
  double since, begun, ended; /* seconds of a clock: when the step began, the run began, the run ended */
  int64_t exchanges;
  ProfileCount *count;       /* by step */
  double *from;              /* bytes from each site */
  ProfileEvent *event;       /* if a timeline is wanted; else NULL */
  ProfileMessage *message;
  ProfileSent *sent;
  ProfileWay *way;           /* by move */
  uint32_t n_events, n_messages, n_sent;
  bool lost;                 /* there were more */
} ProfileSite;

typedef struct Profile {
  Session *s;
  const char *trace;         /* file for the timeline; NULL: none */
  bool told;                 /* a table is wanted */
  bool again;                /* the first run does not count */
  const TaskGraph *tasks;    /* of the run; NULL: none yet */
  uint32_t n_steps;          /* length of the arrays */
  uint32_t room;             /* the most events, and messages, of a site's timeline */
  int n_sites;
  ProfileSite **site;        /* by number; under MPI a process has only its own, until profile_meet */
} Profile;

/* --profile and --trace. Returns LEAVE_USAGE if the target reports no steps. Sets s->profile to NULL if neither
 * option is given. */
Leave profile_new(Session *s, const Args *a, const Job *j, bool compiled);
/* Before a run's contexts are made: the profile of that site, of `sites` sites. Returns what a context's config
 * needs. Allocates in the session's arena: not thread-safe. */
ProfileSite *profile_site(Profile *p, const TaskGraph *t, int site, int sites);
const ein_wire *profile_wire(ProfileSite *x, const ein_wire *inner);
/* Runs once, with counters reset, on the calling thread; x NULL: just runs. */
ein_status profile_run(ProfileSite *x, const ein_model *m, void *ctx, const ein_tensor *in, const ein_tensor *out);
/* Under MPI, called by all processes after their runs: the first then has all sites. ranks/ranks.h */
void profile_meet(Session *s);

/* ---- tell.c: after a run
 * ------------------------------------------------------------------------------------------------ */
/* Prints the table on stderr and writes the timeline to its file, as far as they are wanted. */
Leave profile_say(Session *s, const Args *a, const Job *j);
/* ein plan --analyze: runs the program on the command line, and prints the table on stdout. */
Leave profile_analyze(Session *s, const Args *a);

/* ---- trace.c
 * ---------------------------------------------------------------------------------------------------------- */
/* As JSON for Perfetto and Chrome: a process per site, an event per step, an arrow per message. */
void profile_trace(const Profile *p, const Job *j, Buf *b);
/* A step in one line: its equation, or which tensor moves. profile_steps: by number; NULL: there is no such step. */
typedef struct ProfileStep { const Task *task; uint32_t depth; } ProfileStep;
const ProfileStep *profile_steps(Arena *a, const TaskGraph *t);
const char *profile_step_text(Arena *a, const TaskGraph *t, const Task *k);

#endif
