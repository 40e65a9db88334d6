/* graph/word.c - names, strings and places as the text form has them: a name that could be taken
 * for something else is quoted, and a string shows every byte that is not plain text as an escape.
 */
#include <string.h>

#include "../base/utf8.h"
#include "inside.h"

/* Letters, digits, `_ ' ~` and all of UTF-8 that can be seen; `.` too if dots are allowed. */
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

const char *node_word(const EinNode *n) {
  switch (n->kind) {
  case EIN_INPUT: return n->param ? "param" : "input";
  case EIN_VERTEX: return "vertex";
  case EIN_REPEAT: return "repeat";
  case EIN_STATE: return "state";
  case EIN_FINAL: return "final";
  case EIN_STACK: return "stacked";
  case EIN_TURNS: return "turns";
  }
  return "node";
}

/* ---- names of a node's expressions ----------------------------------------------------------- */

static Str name_of_label(void *ctx, int64_t k) {
  const EinNode *n = ctx;
  if (!n || n->kind != EIN_VERTEX || !n->sum || !n->label) return NULL;
  return k < (int64_t)n->sum->n_out + n->sum->n_red ? n->label[k] : NULL;
}

static Str name_of_turn(void *ctx, int64_t depth) {
  const EinNode *n = ctx;
  for (const EinRegion *r = n ? n->region : NULL; r && r->parent; r = r->parent)
    if (r->depth == depth) return r->turn;
  return NULL;
}

static int64_t number_of_read(void *ctx, int64_t slot) {
  const EinNode *n = ctx;
  if (!n || n->kind != EIN_VERTEX || !n->sum || slot < 0 || slot >= n->sum->n_slot ||
      !n->input[slot])
    return -1;
  return (int64_t)n->input[slot]->id;
}

ExprNames node_names(const EinNode *n) {
  return (ExprNames){.ctx = (void *)(uintptr_t)n,
                     .label = name_of_label,
                     .turn = name_of_turn,
                     .node = number_of_read};
}
