/* driver/editors/words.c - the words and signs of the language, by kind. The scanner is asked about every possible
 * sign, and about the words in tables; so it decides what a word is. */
#include <string.h>

#include "editors.h"
#include "front/parse/scan.h"

static void fault_seen(void *env, Fault f, uint32_t at, uint32_t end) {
  (void)f, (void)at, (void)end;
  *(bool *)env = true;
}

static void comment_seen(void *env, uint32_t at, uint32_t end) {
  (void)at, (void)end;
  *(bool *)env = true;
}

/* The kind of the first token, and where it ends; TOK_BAD if it is none. */
static int first_token(const char *text, size_t *end) {
  bool odd = false;
  Scanner s = {.env = &odd, .fault = fault_seen, .comment = comment_seen};
  scan_start(&s, text, (uint32_t)strlen(text));
  Token t = scan(&s);
  *end = t.end;
  return odd || t.at ? TOK_BAD : t.kind;
}

static int kind_of(const char *text) {
  size_t end;
  int kind = first_token(text, &end);
  return end == strlen(text) ? kind : TOK_BAD;
}

static Sort sort_of(int kind) {
  unsigned facts = token_facts(kind);
  switch (kind) {
  case TOK_EOF:
  case TOK_NEWLINE:
  case TOK_ID:
  case TOK_INT:
  case TOK_REAL:
  case TOK_STRING:
  case TOK_BAD: return SORT_NONE;
  case TOK_CONST: return SORT_CONSTANT;
  case TOK_DTYPE: return SORT_DTYPE;
  case TOK_REDUCER: case TOK_COUNT: return SORT_REDUCER;
  case TOK_SLIP: return SORT_SLIP;
  case TOK_MINUS: case TOK_ASSIGN: return SORT_OPERATOR;
  default: return facts & WORD ? SORT_KEYWORD : facts & BINARY ? SORT_OPERATOR : SORT_POINT;
  }
}

/* A word followed by a letter would be another word. */
static void spelling_add(Arena *a, Spellings *to, const char *text) {
  Sort sort = sort_of(kind_of(text));
  size_t end, n = strlen(text);
  if (sort == SORT_NONE) return;
  const char *own = arena_printf(a, "%s", text);
  first_token(arena_printf(a, "%sx", text), &end);
  if (end > n) vec_push(a, to->word[sort], own);
  else vec_push(a, to->sign[sort], own);
  if (kind_of(arena_printf(a, "%s'", text)) == TOK_BAD && (unsigned char)*text >= 0x80 &&
      (sort == SORT_REDUCER || sort == SORT_CONSTANT))
    vec_push(a, to->primed, own);
}

/* ---- words ------------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
  return (unsigned)(c | 32) - 'a' < 26;
}

static void words_of_tables(Arena *a, Spellings *to) {
  static const char *const constants[] = {"true", "false", "inf", "nan", "pi"};
  for (int k = 1; k < TOKEN_KINDS; k++) {
    const char *name = token_name(k);
    if (*name != '`' || !is_letter(name[1])) continue;
    const char *word = arena_printf(a, "%.*s", (int)strlen(name) - 2, name + 1);
    if (k == TOK_FROM || k == TOK_TO) vec_push(a, to->before_string, word);
    else if (k != TOK_COUNT) spelling_add(a, to, word); /* which is a reducer too */
  }
  for (int r = 0; r < REDUCERS; r++)
    if (sort_of(kind_of(reducer_info[r].name)) == SORT_REDUCER) spelling_add(a, to, reducer_info[r].name);
  for (int t = 0; t < DTYPES; t++) spelling_add(a, to, dtype_name((DType)t));
  for (size_t i = 0; i < COUNT(constants); i++) spelling_add(a, to, constants[i]);
}

/* ---- signs ------------------------------------------------------------------------------------------- */

static void signs_from(Arena *a, Spellings *to, char *text, size_t at, size_t len) {
  static const char used[] = "!$%&()*+,-./:;<=>?@[\\]^`{|}~";
  if (at == len) {
    spelling_add(a, to, text);
    return;
  }
  for (const char *c = used; *c; c++) text[at] = *c, signs_from(a, to, text, at + 1, len);
}

/* Those used in papers: each character up to the mathematical ones. */
static void signs_beyond_ascii(Arena *a, Spellings *to) {
  for (unsigned c = 0xA1; c < 0x3000; c++) {
    char two[] = {(char)(0xC0 | c >> 6), (char)(0x80 | (c & 63)), 0};
    char three[] = {(char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63)), 0};
    spelling_add(a, to, c < 0x800 ? two : three);
  }
}

Spellings spellings_of_language(Arena *a) {
  Spellings to = {0};
  words_of_tables(a, &to);
  for (size_t len = SIGN_LONGEST; len; len--) {
    char text[SIGN_LONGEST + 1] = {0};
    signs_from(a, &to, text, 0, len);
  }
  signs_beyond_ascii(a, &to);
  return to;
}

/* ---- as text ----------------------------------------------------------------------------------------- */

void words_join(Buf *b, const Words *w, const char *between) {
  for (uint32_t i = 0; i < w->len; i++) buf_printf(b, "%s%s", i ? between : "", w->at[i]);
}

bool signs_join(Buf *b, const Words *w, size_t len, const char *special, const char *between) {
  bool any = false;
  for (uint32_t i = 0; i < w->len; i++) {
    if (len && strlen(w->at[i]) != len) continue;
    if (any) buf_str(b, between);
    for (const char *c = w->at[i]; *c; c++) {
      if (strchr(special, *c)) buf_char(b, '\\');
      buf_char(b, *c);
    }
    any = true;
  }
  return any;
}
