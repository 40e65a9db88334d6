/* base/diag.c - collects complaints. render.c renders them. */
#include "diag.h"

#include <string.h>
#include <strings.h>

enum { DIAG_KIND_error = DIAG_ERROR, DIAG_KIND_warning = DIAG_WARNING };
enum { TEXT_MOST = 2000 }; /* bytes of each text of a complaint: names can be megabytes long */

static const DiagInfo infos[] = {
#define DIAG(code, kind, slug, title, text) {#code, (DiagKind)DIAG_KIND_##kind, slug, title, text},
#include "diags.def"
#undef DIAG
};

const DiagInfo *diag_info(DiagCode code) {
  BUG_UNLESS((size_t)code < COUNT(infos));
  return &infos[code];
}

const DiagInfo *diag_info_find(const char *code) {
  for (size_t i = 0; i < COUNT(infos); i++)
    if (strcasecmp(infos[i].code, code) == 0) return &infos[i];
  return NULL;
}

Diags *diags_new(Arena *a) {
  return MAKE(a, Diags, .arena = a, .limit = 50);
}

static bool said_already(const Diags *d, DiagCode code, Span at) {
  if (!at.src) return false; /* complaints without a place are all different */
  for (uint32_t i = d->all.len; i-- > 0;) {
    Span s = d->all.at[i]->spans.at[0].span;
    if (d->all.at[i]->code == code && s.src == at.src && s.at == at.at && s.end == at.end) return true;
  }
  return false;
}

void text_clip(char *s, size_t most) {
  if (strlen(s) <= most) return;
  size_t n = most - 3;
  while (n && ((unsigned char)s[n] & 0xC0) == 0x80) n--;
  memcpy(s + n, "...", 4);
}

static const char *said(Diags *d, const char *fmt, va_list ap) {
  char *s = arena_vprintf(d->arena, fmt, ap);
  text_clip(s, TEXT_MOST);
  return s;
}

Diag *diag_add(Diags *d, DiagCode code, Span at, const char *fmt, ...) {
  Diag *g = MAKE(d->arena, Diag, .code = code, .kind = diag_info(code)->kind);
  vec_push(d->arena, g->spans, ((DiagSpan){at, NULL}));
  if (said_already(d, code, at)) return g;
  uint32_t *count = g->kind == DIAG_ERROR ? &d->errors : &d->warnings;
  if ((*count)++ >= d->limit) return g;
  va_list ap;
  va_start(ap, fmt);
  g->text = said(d, fmt, ap);
  va_end(ap);
  g->order = d->all.len;
  vec_push(d->arena, d->all, g);
  return g;
}

void diag_note(Diags *d, Diag *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  g->spans.at[0].note = said(d, fmt, ap);
  va_end(ap);
}

void diag_at(Diags *d, Diag *g, Span at, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  DiagSpan s = {at, said(d, fmt, ap)};
  va_end(ap);
  vec_push(d->arena, g->spans, s);
}

void diag_hint(Diags *d, Diag *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *s = said(d, fmt, ap);
  va_end(ap);
  vec_push(d->arena, g->hints, s);
}
