/* driver/cmd/cmd_fmt.c - ein fmt: formats programs. */
#include <string.h>

#include "driver/driver.h"

static bool same(const Source *src, const Buf *b) {
  return src->len == b->len && memcmp(src->bytes, b->s, b->len) == 0;
}

static Leave format_check(const Source *src, const Buf *text, Session *s) {
  if (same(src, text)) return LEAVE_OK;
  Buf line = buf_new(s->arena);
  buf_printf(&line, "%s\n", src->name);
  print(s, &line);
  return LEAVE_PROGRAM;
}

static Leave format_one(Session *s, const Args *a, const char *path) {
  const char *to = arg_last(a, OPT_OUTPUT);
  bool in = strcmp(path, "-") == 0;
  Source *src = in ? stdin_read(s) : file_read(s, path);
  if (!src) return LEAVE_MACHINE;
  AstFile *f = parse_file(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l) return l;
  Buf text = buf_new(s->arena);
  fmt_print(&text, f);
  if (arg_has(a, OPT_FMT_CHECK)) return format_check(src, &text, s);
  if (!arg_has(a, OPT_FMT_WRITE)) return file_write(s, to ? to : "-", text.s, text.len);
  if (in || same(src, &text))
    return in ? fail(s, LEAVE_USAGE, "standard input cannot be written in place") : LEAVE_OK;
  return file_write(s, path, text.s, text.len);
}

Leave cmd_fmt(Session *s, Args *a) {
  bool write = arg_has(a, OPT_FMT_WRITE), to = arg_has(a, OPT_OUTPUT);
  if (write + to + arg_has(a, OPT_FMT_CHECK) > 1)
    return fail(s, LEAVE_USAGE, "one of --check, --write and -o at a time");
  if (!a->operands.len) vec_push(s->arena, a->operands, "-");
  if (to && a->operands.len > 1)
    return fail(s, LEAVE_USAGE, "-o takes one program; --write formats several in place");
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < a->operands.len; i++) {
    Leave one = format_one(s, a, a->operands.at[i]);
    if (one > l) l = one;
  }
  return l;
}
