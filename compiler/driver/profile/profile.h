/* driver/profile/profile.h - where the time of a run goes: step by step, beside what was foretold; and as a timeline.
 *
 * A site's run says each of its steps as it begins (ein_watch, runtime/ein_tensor.h), and what it receives comes over a wire that counts. A step lasts until
 * the next one begins. What is counted is there for each step of the text of tasks, twice: a move in two halves begins in the one, and is waited
 * for in the other. Nothing of it costs a run that nobody profiles: its text says no steps. */
#ifndef EIN_PROFILE_H
#define EIN_PROFILE_H

#include "driver/driver.h"

enum { PROFILE_EVENTS = 1 << 16, PROFILE_ALL = 1 << 20, PROFILE_LEAST = 1 << 10 }; /* of timelines: of a site, and of all, at most; but so many */

typedef struct ProfileCount { double times, seconds, received; } ProfileCount; /* numbers that are added over a run; bytes from other sites */

typedef struct ProfileEvent { int64_t step; double begin, end; } ProfileEvent;      /* step: twice its number, + 1 for the second half */
typedef struct ProfileMessage { int64_t exchange, from; double bytes, at; } ProfileMessage; /* in which exchange of the run; when it was there */
typedef struct ProfileSent { int64_t exchange; double at; } ProfileSent;            /* when a site began it */

typedef struct ProfileSite {
  const struct Profile *of;
  int site;
  ein_watch watch;
  ein_wire wire;             /* that counts what goes over `inner` */
  const ein_wire *inner;
  int64_t now;               /* the step that goes on, as in events; -1: none */
  double since, begun, ended; /* seconds on a clock: it began, the run did, it ended */
  int64_t exchanges;
  ProfileCount *count;       /* by step */
  double *from;              /* bytes from each site */
  ProfileEvent *event;       /* where a timeline is wanted; else NULL */
  ProfileMessage *message;
  ProfileSent *sent;
  uint32_t n_events, n_messages, n_sent;
  bool lost;                 /* there were more */
} ProfileSite;

typedef struct Profile {
  Session *s;
  const char *trace;         /* a file for the timeline; NULL: none is wanted */
  bool told;                 /* a table is */
  bool again;                /* what is run once before does not count */
  const TaskGraph *tasks;    /* of the run; NULL: there was none yet */
  uint32_t n_steps;          /* of the arrays */
  uint32_t room;             /* events of a site's timeline at most, and messages */
  int n_sites;
  ProfileSite **site;        /* by number; over MPI a process has its own, until profile_meet */
} Profile;

/* --profile and --trace; LEAVE_USAGE where what runs the program says no steps. NULL in s->profile where neither is said. */
Leave profile_new(Session *s, const Args *a, const Job *j, bool compiled);
/* Before a run's contexts are made: of that site; sites: of how many. Gives what a context's config wants. In the session's arena: not by several threads. */
ProfileSite *profile_site(Profile *p, const TaskGraph *t, int site, int sites);
const ein_wire *profile_wire(ProfileSite *x, const ein_wire *inner);
/* A run, counted from nothing on, by the thread that does it; x NULL: just a run. */
ein_status profile_run(ProfileSite *x, const ein_model *m, void *ctx, const ein_tensor *in, const ein_tensor *out);
/* Over MPI, by all processes after their runs: the first has all sites then. ranks/ranks.h */
void profile_meet(Session *s);

/* ---- tell.c: after a run -------------------------------------------------------------------------------------------- */
/* The table; with the machine of --machine, what its figures foretell too. */
Leave profile_text(const Profile *p, const Args *a, const Job *j, Buf *b);
/* The table on stderr, the timeline into its file, as far as they are wanted. */
Leave profile_say(Session *s, const Args *a, const Job *j);
/* ein plan --analyze: the program of these words is run, and the table is on stdout. */
Leave profile_analyze(Session *s, const Args *a);

/* ---- trace.c ---------------------------------------------------------------------------------------------------------- */
/* As JSON for Perfetto and Chrome: a process a site, an event a step, an arrow a message. */
void profile_trace(const Profile *p, const Job *j, Buf *b);
/* What a step is, in one line: its equation, or which tensor moves. steps: by number (profile_steps); NULL: none of that number. */
typedef struct ProfileStep { const Task *task; uint32_t depth; } ProfileStep;
const ProfileStep *profile_steps(Arena *a, const TaskGraph *t);
const char *profile_step_text(Arena *a, const TaskGraph *t, const Task *k);

#endif
