/* face/libein.c - the compiler as a library: words in, an answer out. Each answer has a session of the driver to
 * itself, in an arena that goes with it; our mistakes and lack of memory come back to the guard here. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

struct ein_session {
  char home[4096];
};

/* ---- a session ------------------------------------------------------------------------------- */

ein_session *ein_open(const ein_settings *settings) {
  const char *home = EIN_HOME;
  if (settings && settings->size < sizeof settings->size) return NULL;
  if (settings && settings->size >= sizeof *settings && settings->home) home = settings->home;
  size_t n = strlen(home);
  ein_session *s = n + 2 > sizeof s->home ? NULL : calloc(1, sizeof *s);
  if (!s) return NULL;
  memcpy(s->home, home, n);
  if (n && home[n - 1] != '/') s->home[n] = '/';
  return s;
}

void ein_close(ein_session *s) {
  free(s);
}

const char *ein_version(void) {
  return EIN_VERSION;
}

/* ---- what is heard, as data ------------------------------------------------------------------ */

static ein_place place_of(Arena *a, const DiagSpan *x) {
  ein_place p = {.file = "", .note = x->note ? x->note : ""};
  if (!x->span.src) return p;
  p.file = x->span.src->name;
  p.first = x->span.at;
  p.end = x->span.end;
  source_place(a, x->span.src, x->span.at, &p.line, &p.column);
  return p;
}

static void complaint_of(Arena *a, const Heard *h, ein_complaint *out) {
  *out = (ein_complaint){.code = "", .text = h->text, .is_error = h->error};
  if (!h->diag) return;
  const Diag *d = h->diag;
  ein_place *place = NEW_ARRAY(a, ein_place, d->spans.len + 1);
  for (uint32_t i = 0; i < d->spans.len; i++)
    if (i || d->spans.at[i].span.src) place[out->n_places++] = place_of(a, &d->spans.at[i]);
  out->code = diag_info(d->code)->code;
  out->text = d->text;
  out->place = place;
  out->n_hints = (int)d->hints.len;
  out->hint = d->hints.at;
}

void answer_fill(Session *s, Leave l, ein_answer *out) {
  Guest *g = s->guest;
  ein_complaint *all = NEW_ARRAY(s->arena, ein_complaint, g->heard.len + 1);
  for (uint32_t i = 0; i < g->heard.len; i++) complaint_of(s->arena, &g->heard.at[i], &all[i]);
  *out = (ein_answer){(ein_outcome)l, g->out.s, g->out.len, (int)g->heard.len, all, g->err.s};
}

/* ---- answers --------------------------------------------------------------------------------- */

static ein_complaint no_memory = {.code = "", .text = "out of memory", .is_error = 1};
static ein_answer no_answer = {EIN_WRONG_MACHINE, "", 0, 1, &no_memory, "out of memory"};

void held_fail(Held *h, Went went) {
  h->sole = (ein_complaint){.code = "", .text = h->why, .is_error = 1};
  h->answer = (ein_answer){went == WENT_BUG ? EIN_WRONG_EIN : EIN_WRONG_MACHINE, "", 0, 1, &h->sole, h->why};
}

void ein_answer_free(ein_answer *a) {
  if (!a || a == &no_answer) return;
  Held *h = (Held *)a; /* its first member */
  arena_free(h->arena);
  free(h);
}

/* ---- asking ---------------------------------------------------------------------------------- */

Session *guest_session(Arena *a, const ein_session *s, const ein_file *file, size_t n_files) {
  Guest *g = NEW(a, Guest);
  GuestFile *copy = NEW_ARRAY(a, GuestFile, n_files + 1);
  for (size_t i = 0; i < n_files; i++) {
    const char *text = file[i].length ? arena_copy(a, file[i].text, file[i].length) : "";
    copy[i] = (GuestFile){arena_copy(a, file[i].name, strlen(file[i].name) + 1), text, file[i].length};
  }
  *g = (Guest){.arena = a, .home = arena_copy(a, s->home, strlen(s->home) + 1), .file = copy, .n_files = n_files};
  return session_new(g);
}

const char *const *words_copy(Arena *a, const char *const *word, size_t n) {
  const char **w = NEW_ARRAY(a, const char *, n + 1);
  for (size_t i = 0; i < n; i++) w[i] = arena_copy(a, word[i], strlen(word[i]) + 1);
  return w;
}

typedef struct Asked {
  const ein_session *s;
  const ein_file *file;
  size_t n_files, n_words;
  const char *const *word;
  Held *held;
} Asked;

static void ask(void *env) {
  Asked *q = env;
  Arena *a = arena_new();
  Session *s = guest_session(a, q->s, q->file, q->n_files);
  Leave l = command_do(s, (uint32_t)q->n_words, words_copy(a, q->word, q->n_words));
  answer_fill(s, l, &q->held->answer);
  q->held->arena = a;
}

ein_answer *ein_ask(ein_session *s, const ein_file *file, size_t n_files, const char *const *word, size_t n_words) {
  Held *h = calloc(1, sizeof *h);
  if (!h) return &no_answer;
  Asked q = {s, file, n_files, n_words, word, h};
  Went went = guarded(ask, &q, true, h->why, sizeof h->why);
  if (went) held_fail(h, went);
  return &h->answer;
}

/* ---- NumPy's equations ------------------------------------------------------------------------ */

typedef struct Equation {
  const ein_session *s;
  const char *text;
  const ein_tensor *operand;
  size_t n;
  int dtype;
  Held *held;
} Equation;

static void equation_begin(void *env) {
  Equation *q = env;
  Arena *a = arena_new();
  Session *s = guest_session(a, q->s, NULL, 0);
  Leave l = einsum_program(
      s, arena_copy(a, q->text, strlen(q->text) + 1), (uint32_t)q->n, q->operand, q->dtype, &s->guest->out);
  answer_fill(s, l, &q->held->answer);
  q->held->arena = a;
}

ein_answer *ein_einsum(ein_session *s, const char *equation, const ein_tensor *operand, size_t n, int dtype) {
  Held *h = calloc(1, sizeof *h);
  if (!h) return &no_answer;
  Equation q = {s, equation, operand, n, dtype, h};
  Went went = guarded(equation_begin, &q, true, h->why, sizeof h->why);
  if (went) held_fail(h, went);
  return &h->answer;
}

ein_answer *answer_none(void) {
  return &no_answer;
}

int ein_main(int argc, char **argv) {
  Session *s = session_new(NULL);
  uint32_t n = argc > 0 ? (uint32_t)argc - 1 : 0;
  return (int)session_end(s, command_do(s, n, (const char *const *)argv + (argc > 0)));
}
