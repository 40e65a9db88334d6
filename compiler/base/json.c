/* base/json.c - the JSON writer. Indents by two spaces per level, or writes no white space if `compact`; a newline ends
 * the outermost value. `first`: nothing has been written to the open object or array yet. */
#include "json.h"

#include <math.h>
#include <string.h>

#include "utf8.h"

Json json_new(Buf *out) {
  return (Json){.out = out, .first = true};
}

static void new_line(Json *j) {
  if (j->compact) return;
  buf_char(j->out, '\n');
  for (int i = 0; i < j->depth; i++) buf_str(j->out, "  ");
}

static void quoted(Buf *b, const char *s, size_t n) {
  buf_char(b, '"');
  for (size_t i = 0; i < n;) {
    uint32_t c;
    size_t k = utf8_read(s + i, n - i, &c);
    if (!k) {
      buf_str(b, "\xEF\xBF\xBD");
      i++;
      continue;
    }
    if (c == '"' || c == '\\' || (c == '/' && i && s[i - 1] == '<')) /* "</" would end a <script> */
      buf_printf(b, "\\%c", (char)c);
    else if (c == '\n')
      buf_str(b, "\\n");
    else if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029)
      buf_printf(b, "\\u%04x", (unsigned)c);
    else
      buf_add(b, s + i, k);
    i += k;
  }
  buf_char(b, '"');
}

static void item(Json *j, const char *key) {
  if (!j->first) buf_char(j->out, ',');
  if (j->depth) new_line(j);
  j->first = false;
  if (!key) return;
  quoted(j->out, key, strlen(key));
  buf_str(j->out, j->compact ? ":" : ": ");
}

static void item_end(Json *j) {
  if (j->depth) return;
  buf_char(j->out, '\n');
  j->first = true;
}

static void open(Json *j, const char *key, char c) {
  item(j, key);
  buf_char(j->out, c);
  j->depth++;
  j->first = true;
}

void json_object(Json *j, const char *key) {
  open(j, key, '{');
}

void json_array(Json *j, const char *key) {
  open(j, key, '[');
}

void json_end(Json *j, char close) {
  BUG_UNLESS(j->depth > 0 && (close == '}' || close == ']'));
  j->depth--;
  if (!j->first) new_line(j);
  buf_char(j->out, close);
  j->first = false;
  item_end(j);
}

void json_strn(Json *j, const char *key, const char *s, size_t n) {
  item(j, key);
  quoted(j->out, s, n);
  item_end(j);
}

void json_str(Json *j, const char *key, const char *s) {
  if (s)
    json_strn(j, key, s, strlen(s));
  else
    json_null(j, key);
}

static void word(Json *j, const char *key, const char *s) {
  item(j, key);
  buf_str(j->out, s);
  item_end(j);
}

void json_int(Json *j, const char *key, int64_t x) {
  item(j, key);
  buf_printf(j->out, "%lld", (long long)x);
  item_end(j);
}

void json_num(Json *j, const char *key, double x) {
  item(j, key);
  if (!isfinite(x)) buf_char(j->out, '"');
  double_print(j->out, x);
  if (!isfinite(x)) buf_char(j->out, '"');
  item_end(j);
}

void json_bool(Json *j, const char *key, bool x) {
  word(j, key, x ? "true" : "false");
}

void json_null(Json *j, const char *key) {
  word(j, key, "null");
}

bool json_has(Json *j, const char *key, bool is) {
  if (!is) json_null(j, key);
  return is;
}

void json_name(Json *j, const char *key, Str name) {
  if (name) json_strn(j, key, name->s, name->len);
  else json_null(j, key);
}

void json_raw(Json *j, const char *key, const char *s, size_t n) {
  while (n && (s[n - 1] == '\n' || s[n - 1] == ' ')) n--;
  item(j, key);
  buf_add(j->out, s, n);
  item_end(j);
}
