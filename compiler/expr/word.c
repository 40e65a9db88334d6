/* expr/word.c - names, strings and places in texts: names that could be taken for something else are quoted, and
 * strings escape every byte that is not plain text. */
#include <string.h>

#include "base/utf8.h"
#include "word.h"

/* Letters, digits, `_ ' ~` and all visible UTF-8; `.` too if dots are allowed. */
static bool word_shape(Str s, bool dots) {
  if (!s || !s->len || (s->s[0] >= '0' && s->s[0] <= '9') || strchr("'~.", s->s[0])) return false;
  for (size_t i = 0; i < s->len;) {
    uint32_t c;
    size_t k = utf8_read(s->s + i, s->len - i, &c);
    bool ascii = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_' || c == '\'' || c == '~' || (c == '.' && dots);
    if (!k || (c < 0x80 ? !ascii : utf8_hides(c))) return false;
    i += k;
  }
  return true;
}

bool word_plain(Str s) {
  return word_shape(s, true);
}

bool word_label(Str s) {
  static const char *const taken[] = {"true", "false", "inf",   "nan",   "and",
                                      "or",   "not",   "where", "domain"};
  if (!word_shape(s, false)) return false;
  for (size_t i = 0; i < COUNT(taken); i++)
    if (strcmp(s->s, taken[i]) == 0) return false;
  DType t;
  Op op;
  return !dtype_find(s->s, s->len, &t) && !op_find(s->s, s->len, &op);
}

static void escaped(Buf *out, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) buf_printf(out, "\\x%02x", (unsigned char)s[i]);
}

void string_print(Buf *out, const char *s, size_t n) {
  buf_char(out, '"');
  for (size_t i = 0; i < n;) {
    uint32_t c = 0;
    size_t k = utf8_read(s + i, n - i, &c);
    if (!k || (utf8_hides(c) && c != '\n' && c != '\t'))
      escaped(out, s + i, k = k ? k : 1);
    else if (c == '\n' || c == '\t')
      buf_str(out, c == '\n' ? "\\n" : "\\t");
    else {
      if (c == '"' || c == '\\') buf_char(out, '\\');
      buf_add(out, s + i, k);
    }
    i += k;
  }
  buf_char(out, '"');
}

void word_print(Buf *out, Str s) {
  if (word_plain(s))
    buf_add(out, s->s, s->len);
  else
    string_print(out, s ? s->s : "", s ? s->len : 0);
}

void place_print(Buf *out, Place p) {
  if (!p.file) return;
  buf_str(out, " @");
  string_print(out, p.file->s, p.file->len);
  buf_printf(out, ":%u:%u", p.line, p.column);
}

void places_omit(Buf *out, const char *text) {
  for (const char *place; (place = strstr(text, " @\"")); text += strspn(text, "\":0123456789")) {
    buf_add(out, text, (size_t)(place - text));
    for (text = place + 3; *text && *text != '"'; text++)
      if (*text == '\\' && text[1]) text++;
  }
  buf_str(out, text);
}
