/* tests/text.h - what holds of the text of every language inside, as unit tests: it comes back equal in all fields;
 * what the checker must report and the reader refuse; any bytes are read or refused in peace.
 *
 *     TEXT_FORM("x.loop", LoopProgram, loop_read, loop_print, loop_equal, loop_check)
 *     ...
 *     LoopProgram *p = text_well(a, full);
 *     OK(p && text_back(p), "it comes back");
 *
 * TEXT_FORM stands once in a file, before what uses it. */
#ifndef EIN_TEST_TEXT_H
#define EIN_TEST_TEXT_H

#include "base/diag.h"
#include "tap.h"

#define UNUSED __attribute__((unused))

/* ---- the language ---------------------------------------------------------------------------------- */

static void *form_read(Arena *a, Strings *t, Source *s, Diags *d);
static void form_print(Buf *out, const void *x);
static bool form_equal(const void *x, const void *y, Buf *why);
static bool form_check(const void *x, Buf *out);
static const char *form_file(void);

#define TEXT_FORM(FILE, TYPE, READ, PRINT, EQUAL, CHECK)                                                    \
  static const char *form_file(void) { return FILE; }                                                       \
  static void *form_read(Arena *a, Strings *t, Source *s, Diags *d) { return READ(a, t, s, d); }            \
  static void form_print(Buf *out, const void *x) { PRINT(out, x); }                                        \
  static bool form_equal(const void *x, const void *y, Buf *why) { return EQUAL(x, y, why); }               \
  static bool form_check(const void *x, Buf *out) { return CHECK(x, out); }

/* ---- reading --------------------------------------------------------------------------------------- */

/* Over a pool of strings and expressions of its own. */
static void *text_read(Arena *a, const char *text, size_t len, Diags *d) {
  return form_read(a, strings_new(a), source_new(a, form_file(), text, len), d);
}

static UNUSED void text_complaints(Arena *a, Diags *d) {
  Buf b = buf_new(a);
  diags_text(d, &b, false);
  tap_text("complaints", b.s);
}

/* NULL where there are complaints, which are shown. */
static UNUSED void *text_well(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  void *x = text_read(a, text, strlen(text), d);
  if (!x || d->errors) text_complaints(a, d);
  return d->errors ? NULL : x;
}

static UNUSED bool text_sound(Arena *a, const void *x) {
  Buf out = buf_new(a);
  bool sound = x && form_check(x, &out);
  if (!sound) tap_text("check", out.s);
  return sound;
}

/* The law: read(print(x)) equals x, either way round, is as sound as x, and prints the same. */
static UNUSED bool text_back(const void *x) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf text = buf_new(a), why = buf_new(a), again = buf_new(a), unsaid = buf_new(a);
  form_print(&text, x);
  void *y = text_read(a, text.s, text.len, d);
  bool ok = y && form_equal(x, y, &why) && form_equal(y, x, &why) && (!form_check(x, &unsaid) || form_check(y, &why));
  if (y) form_print(&again, y);
  ok = ok && strcmp(text.s, again.s) == 0;
  if (!ok) {
    diags_text(d, &why, false);
    tap_text("why", why.s);
    tap_text("text", text.s);
  }
  arena_free(a);
  return ok;
}

/* What the text says: it reads, is sound, prints as it is written, and comes back. NULL: it does not read. */
static UNUSED void *text_holds(Arena *a, const char *text, const char *what) {
  void *x = text_well(a, text);
  Buf out = buf_new(a);
  if (!OK(x, "%s reads", what)) return NULL;
  form_print(&out, x);
  OK_STR(out.s, text, "it prints as it was written");
  OK(text_sound(a, x), "it is sound");
  OK(text_back(x), "its text gives it back");
  return x;
}

/* `text` with the first `from` replaced; NULL where it does not stand in it. */
static UNUSED char *text_replaced(Arena *a, const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  return at ? arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) : NULL;
}

/* ---- what is wrong --------------------------------------------------------------------------------- */

static UNUSED bool text_reports(Arena *a, const void *x, const char *say) {
  Buf out = buf_new(a);
  bool ok = !form_check(x, &out) && out.s && strstr(out.s, say);
  if (!ok) tap_text(say, out.s);
  return ok;
}

typedef struct TextBreak { const char *from, *to, *say; } TextBreak;     /* say: NULL: the reader refuses it already */
typedef struct TextRefused { const char *from, *to, *code, *say; } TextRefused;

/* Each change to a text makes the checker say its line. */
static UNUSED void text_breaks(const char *full, size_t n, const TextBreak *all) {
  for (const TextBreak *b = all; b < all + n; b++) {
    Arena *a = arena_new();
    char *text = text_replaced(a, full, b->from, b->to);
    if (!text) {
      OK(false, "it stands in the text: %s", b->from);
    } else if (b->say) {
      void *x = text_well(a, text);
      OK(x && text_reports(a, x, b->say), "reported: %s", b->say);
    } else {
      OK(!text_read(a, text, strlen(text), diags_new(a)), "refused already: %s", b->to);
    }
    arena_free(a);
  }
}

/* Each change to a text makes the reader's first complaint be this one. */
static UNUSED void text_refusals(const char *full, size_t n, const TextRefused *all) {
  for (const TextRefused *r = all; r < all + n; r++) {
    Arena *a = arena_new();
    char *text = text_replaced(a, full, r->from, r->to);
    Diags *d = diags_new(a);
    void *x = text ? text_read(a, text, strlen(text), d) : NULL;
    bool ok = text && !x && d->all.len && strcmp(diag_info(d->all.at[0]->code)->code, r->code) == 0 &&
              strstr(d->all.at[0]->text, r->say);
    if (!OK(ok, "refused with %s: %s", r->code, r->say)) text_complaints(a, d);
    arena_free(a);
  }
}

/* What hangs on a line that failed is passed over in silence. */
static UNUSED void text_silence(const char *full, const char *from, const char *to) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  char *text = text_replaced(a, full, from, to);
  OK(text && !text_read(a, text, strlen(text), d) && d->errors == 1, "one line fails and one is complained about: %s",
      to);
  arena_free(a);
}

/* ---- any bytes ------------------------------------------------------------------------------------- */

/* Any prefix, and any one byte changed, is read or complained about; more than `least` of them are sound, and come
 * back. */
static UNUSED void text_broken(const char *name, const char *text, uint32_t least) {
  static const char with[] = "\0\n\"%[{(:= 9$@}\\\xff-&/.;";
  size_t len = strlen(text);
  uint32_t tried = 0, well = 0, sound = 0, back = 0;
  for (size_t i = 0; i < len; i++)
    for (size_t k = 0; k <= sizeof with; k++) {
      Arena *a = arena_new();
      char *s = arena_copy(a, text, len + 1);
      if (k < sizeof with) s[i] = with[k];
      Diags *d = diags_new(a);
      void *x = text_read(a, s, k == sizeof with ? i : len, d);
      Buf out = buf_new(a);
      tried++;
      well += (x != NULL) == (d->errors == 0);
      if (x && form_check(x, &out)) sound++, back += text_back(x);
      if (x) form_print(&out, x);
      arena_free(a);
    }
  OK_INT(well, tried, "%s: any one byte changed, and any prefix: read or complained about", name);
  OK(sound > least && sound == back, "%s: and what is sound comes back (%u)", name, sound);
}

#endif
