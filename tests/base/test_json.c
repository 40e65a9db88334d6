/* tests/base/test_json.c - the JSON reader: what RFC 8259 allows is read to the value, what it does not is refused
 * where it stands, and any bytes are read or refused in peace. */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "tap.h"

static JsonValue *read_text(Arena *a, const char *text, size_t n, Diags *d) {
  return json_read(a, source_new(a, "x.json", text, n), d);
}

/* "line:column: complaint", or "" where there is none. */
static const char *complaint(Arena *a, const char *text, size_t n) {
  Diags *d = diags_new(a);
  uint32_t line, column;
  JsonValue *v = read_text(a, text, n, d);
  if (!d->errors) return v ? "" : "nothing";
  if (v || d->errors != 1) return "a value and a complaint";
  Span at = d->all.at[0]->spans.at[0].span;
  source_place(a, at.src, at.at, &line, &column);
  return arena_printf(a, "%u:%u: %s", line, column, d->all.at[0]->text);
}

static void refused(const char *text, const char *want) {
  Arena *a = arena_new();
  OK_STR(complaint(a, text, strlen(text)), want, "%s", text);
  arena_free(a);
}

static void values(void) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  static const char text[] =
      " {\"a\": [1, -2.5e3, 0, 9223372036854775807, 9223372036854775808, -0.0], \"b\": {\"c\": null},\n"
      "\t\"t\\u0065\\\"\\\\\\/\\b\\f\\n\\r\\t\": true, \"f\":false, \"\":\"\\u00e9\\ud83d\\ude00\\u20ac z\"} ";
  JsonValue *v = read_text(a, text, strlen(text), d);
  OK(v && !d->errors && v->kind == JSON_OBJECT && v->members.len == 5, "an object");
  const JsonValue *x = json_member(v, "a");
  OK(x->kind == JSON_ARRAY && x->items.len == 6, "an array");
  OK(x->items.at[0]->whole && x->items.at[0]->integer == 1 && x->items.at[0]->number == 1, "1");
  OK(!x->items.at[1]->whole && x->items.at[1]->number == -2500, "-2.5e3");
  OK(x->items.at[3]->whole && x->items.at[3]->integer == INT64_MAX, "the largest integer");
  OK(!x->items.at[4]->whole && x->items.at[4]->number == 9223372036854775808.0, "one more");
  OK(signbit(x->items.at[5]->number), "-0.0");
  OK(json_member(json_member(v, "b"), "c")->kind == JSON_NULL, "null");
  OK(json_member(v, "te\"\\/\b\f\n\r\t")->kind == JSON_TRUE, "escapes in a name");
  OK(json_member(v, "f")->kind == JSON_FALSE, "false");
  OK_STR(json_member(v, "")->text, "\xC3\xA9\xF0\x9F\x98\x80\xE2\x82\xAC z", "characters by number");
  OK(json_member(v, "g") == NULL && json_member(x, "a") == NULL, "what is not there");
  uint32_t line, column;
  source_place(a, json_member(v, "f")->span.src, json_member(v, "f")->span.at, &line, &column);
  OK(line == 2 && column == 39, "a place");
  arena_free(a);
}

static void mistakes(void) {
  refused("", "1:1: a value is expected, and the file ends");
  refused("{\"a\": 1,}", "1:9: a name in double quotes is expected here");
  refused("[1,]", "1:4: a value is expected here");
  refused("[1 2]", "1:4: `,` or `]` is expected here");
  refused("{\"a\" 1}", "1:6: `:` is expected here");
  refused("{\"a\": 1\n \"b\": 2}", "2:2: `,` or `}` is expected here");
  refused("{\"a\": 1, \"a\": 2}", "1:10: the name a stands twice");
  refused("{\"a\": 1, \"\\u0061\": 2}", "1:10: the name a stands twice");
  refused("{a: 1}", "1:2: a name in double quotes is expected here");
  refused("1 2", "1:3: the end of the file is expected here");
  refused("01", "1:2: the end of the file is expected here");
  refused("1.", "1:3: a digit is expected, and the file ends");
  refused("1.e3", "1:3: a digit is expected here");
  refused("-", "1:2: a digit is expected, and the file ends");
  refused("+1", "1:1: a value is expected here");
  refused("1e999", "1:1: this number is too large");
  refused("NaN", "1:1: a value is expected here");
  refused("nul", "1:1: a value is expected here");
  refused("\"a", "1:3: a string's end is expected, and the file ends");
  refused("\"a\nb\"", "1:3: a string's end is expected here");
  refused("\"\\x\"", "1:3: one of \" \\ / b f n r t u is expected here");
  refused("\"\\u00g0\"", "1:6: a hexadecimal digit is expected here");
  refused("\"\\u0000\"", "1:8: a character is expected here");
  refused("\"\\ud800x\"", "1:8: the second half of a surrogate pair is expected here");
  refused("\"\\ud800\\u0041\"", "1:14: the second half of a surrogate pair is expected here");
  refused("\"\\udc00\"", "1:8: a character is expected here");
  refused("\"\xFF\"", "1:2: UTF-8 is expected here");
  refused("[1] // one", "1:5: the end of the file is expected here");
  Arena *a = arena_new();
  OK_STR(complaint(a, "1\0", 2), "1:2: the end of the file is expected here", "a NUL behind it");
  OK_STR(complaint(a, "\"a\0\"", 4), "1:3: a string's end is expected here", "a NUL in a string");
  Buf deep = buf_new(a);
  for (int i = 0; i < 100; i++) buf_char(&deep, '[');
  for (int i = 0; i < 100; i++) buf_char(&deep, ']');
  OK_STR(complaint(a, deep.s, deep.len), "", "100 deep");
  Buf deeper = buf_new(a);
  for (int i = 0; i < 100000; i++) buf_str(&deeper, "[{\"a\":");
  OK_STR(complaint(a, deeper.s, deeper.len), "1:302: no deeper nesting is expected here", "100,000 deep");
  arena_free(a);
}

/* What is written is read; and with any byte of it spoiled it is read or refused. */
static void written(void) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  Json j = json_new(&b);
  json_object(&j, NULL);
  json_str(&j, "te\"xt", "a\\b\"c\nd\x01 \xC3\xA9</script>");
  json_num(&j, "pi", 3.141592653589793);
  json_array(&j, "list");
  json_int(&j, NULL, INT64_MIN);
  json_bool(&j, NULL, true);
  json_null(&j, NULL);
  json_end(&j, ']');
  json_end(&j, '}');
  Diags *d = diags_new(a);
  JsonValue *v = read_text(a, b.s, b.len, d);
  OK(v && !d->errors, "what is written is read");
  OK_STR(json_member(v, "te\"xt")->text, "a\\b\"c\nd\x01 \xC3\xA9</script>", "a text");
  OK(json_member(v, "pi")->number == 3.141592653589793, "a number");
  OK(json_member(v, "list")->items.at[0]->integer == INT64_MIN, "an integer");
  bool peace = true;
  for (size_t at = 0; at < b.len; at++)
    for (int byte = 0; byte < 256; byte++) {
      Arena *one = arena_new();
      char *copy = arena_copy(one, b.s, b.len + 1);
      copy[at] = (char)byte;
      const char *said = complaint(one, copy, b.len);
      peace = peace && strcmp(said, "nothing") != 0 && strncmp(said, "a value", 8) != 0;
      arena_free(one);
    }
  for (size_t n = 0; n < b.len - 1; n++) peace = peace && *complaint(a, b.s, n);
  OK(peace, "spoiled and cut texts");
  arena_free(a);
}

int main(void) {
  values();
  mistakes();
  written();
  return DONE();
}
