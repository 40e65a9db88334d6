/* base/diag.h - complaints about the user's mistakes.
 *
 * A Source is one file's bytes with a name. Positions are byte offsets; lines are computed only for a complaint. A
 * Diag is one complaint: a code from diags.def, a sentence, one main span, further spans that disagree (each with its
 * own short note), and hints. Diags collects them; only the driver prints. Columns count code points; a tab counts as
 * one. */
#ifndef EIN_DIAG_H
#define EIN_DIAG_H

#include "base.h"

typedef struct Source {
  const char *name;  /* as the user gave it: "attention.ein" */
  const char *bytes; /* NUL after the end; may hold any byte */
  uint32_t len;
  uint32_t id;
  uint32_t before;   /* lines of its file that come before it, and are not in bytes: 0 for a whole file */
  Arena *arena;      /* the one it lives in */
  uint32_t *line; uint32_t n_lines; /* offsets of line starts, computed by source_place on first use */
  uint32_t last_at, last_column;    /* the last position asked of source_place */
} Source;

typedef struct Span { Source *src; uint32_t at, end; } Span; /* half open; src NULL: nowhere */

Source *source_new(Arena *a, const char *name, const char *bytes, size_t len);
/* Reads a regular file of at most 256 MiB. On failure returns NULL and *why (a static or arena text). */
const char *path_real(Arena *a, const char *path); /* like realpath; NULL on failure, with errno */
Source *source_read(Arena *a, const char *path, const char **why);
/* a must live as long as s (s->arena will do): it holds the line table. */
const char *span_text(Arena *a, Span s);
void source_place(Arena *a, Source *s, uint32_t at, uint32_t *line, uint32_t *column); /* from 1, of the file */
uint32_t span_line(Arena *a, Span s);

typedef enum { DIAG_ERROR, DIAG_WARNING } DiagKind;

/* diags.def: DIAG(E060, error, "extents-disagree", "what it means, in one line",
 *                 "a paragraph or two for `ein explain E060`, with an example") */
typedef enum {
#define DIAG(code, kind, slug, short_text, long_text) D_##code,
#include "diags.def"
#undef DIAG
  DIAG_CODES
} DiagCode;

typedef struct DiagInfo { const char *code; DiagKind kind; const char *slug, *title, *text; } DiagInfo;
const DiagInfo *diag_info(DiagCode code);
const DiagInfo *diag_info_find(const char *code); /* "E060", any case; NULL if there is none */

typedef struct DiagSpan { Span span; const char *note; } DiagSpan; /* note may be NULL */
typedef struct Diag {
  DiagCode code;
  DiagKind kind;
  const char *text;          /* one line, lower case, no full stop */
  VEC(DiagSpan) spans;       /* [0] is the main place */
  VEC(const char *) hints;   /* "write `sum[k] (a * b)`" */
  uint32_t order;
} Diag;

typedef struct Diags {
  Arena *arena;
  VEC(Diag *) all;
  uint32_t errors, warnings;
  uint32_t limit;            /* beyond this many errors the rest is counted, not kept (default 50); the same for
                              * warnings */
} Diags;

Diags *diags_new(Arena *a);
/* Adds a complaint; diag_at and diag_hint then add to it. Equal codes at the same span are kept once (the returned
 * Diag may then be a dummy that nobody prints; adding to it is harmless). */
Diag *diag_add(Diags *d, DiagCode code, Span at, const char *fmt, ...) EIN_PRINTF(4, 5);
void diag_note(Diags *d, Diag *g, const char *fmt, ...) EIN_PRINTF(3, 4);          /* note on span 0 */
void diag_at(Diags *d, Diag *g, Span at, const char *fmt, ...) EIN_PRINTF(4, 5);   /* a further span */
void diag_hint(Diags *d, Diag *g, const char *fmt, ...) EIN_PRINTF(3, 4);

/* Cuts s to `most` bytes, the last three of them "...", never within a code point. */
void text_clip(char *s, size_t most);

/* Print the complaints, sorted by source and place. Control characters, bidi marks and invalid UTF-8 in the source
 * are escaped; long lines are cut to a window around the spans. */
void diags_text(Diags *d, Buf *out, bool colour);
Diag **diags_sorted(const Diags *d); /* d->all in that order */
void diags_json(Diags *d, Buf *out);

#endif
