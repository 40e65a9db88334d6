/* driver/cmd/cmd_explain.c - ein explain, ein help, ein version: print built-in texts. */
#include <string.h>

#include "driver/driver.h"

static void list(Buf *b) {
  for (DiagCode c = 0; c < DIAG_CODES; c++) {
    const DiagInfo *i = diag_info(c);
    buf_printf(b, "%-5s %s\n", i->code, i->title);
  }
}

static const DiagInfo *code_find(const char *word) {
  const DiagInfo *i = diag_info_find(word);
  for (DiagCode c = 0; !i && c < DIAG_CODES; c++)
    if (strcmp(diag_info(c)->slug, word) == 0) i = diag_info(c);
  return i;
}

static Leave code_unknown(Session *s, const char *word) {
  Nearest near = nearest_to(s->arena, word);
  for (DiagCode c = 0; c < DIAG_CODES; c++) {
    nearest_try(&near, diag_info(c)->slug);
    nearest_try(&near, diag_info(c)->code);
  }
  if (near.best)
    return fail(s, LEAVE_USAGE, "there is no complaint %s; did you mean %s?", word, near.best);
  return fail(s, LEAVE_USAGE, "there is no complaint %s; ein explain lists them all", word);
}

Leave cmd_explain(Session *s, Args *a) {
  Buf b = buf_new(s->arena);
  if (!a->operands.len) list(&b);
  for (uint32_t k = 0; k < a->operands.len; k++) {
    const DiagInfo *i = code_find(a->operands.at[k]);
    if (!i) return code_unknown(s, a->operands.at[k]);
    buf_printf(&b, "%s%s %s (%s)\n\n%s\n\n%s", k ? "\n" : "",
               i->kind == DIAG_ERROR ? "error" : "warning", i->code, i->slug, i->title, i->text);
  }
  print(s, &b);
  return LEAVE_OK;
}

Leave cmd_version(Session *s, Args *a) {
  (void)a;
  Buf b = buf_new(s->arena);
  buf_str(&b, "ein " EIN_VERSION "\n");
  print(s, &b);
  return LEAVE_OK;
}

Leave cmd_help(Session *s, Args *a) {
  Buf b = buf_new(s->arena);
  if (!a->operands.len) help_all(&b);
  Nearest near = {0};
  for (uint32_t k = 0; k < a->operands.len; k++) {
    CommandId c = 0;
    near = nearest_to(s->arena, a->operands.at[k]);
    for (; c < COMMANDS && strcmp(commands[c].name, a->operands.at[k]) != 0; c++)
      nearest_try(&near, commands[c].name);
    if (c == COMMANDS && near.best)
      return fail(s, LEAVE_USAGE, "there is no command %s; did you mean %s?", near.wanted,
                  near.best);
    if (c == COMMANDS)
      return fail(s, LEAVE_USAGE, "there is no command %s; ein --help lists them", near.wanted);
    if (k) buf_char(&b, '\n');
    help_command(&b, c);
  }
  print(s, &b);
  return LEAVE_OK;
}
