/* driver/editors/textmate.c - writes a TextMate grammar, which VS Code, Sublime Text, JetBrains' editors and others
 * take: of the patterns that match at the same place the first one wins. Regular expressions are Oniguruma's. */
#include "base/json.h"
#include "editors.h"

#define BEGINS_NAME "\\p{L}\\p{Nl}_"
#define IN_NAME     BEGINS_NAME "\\p{Nd}\\p{Mn}\\p{Mc}"
#define NAME        "[" BEGINS_NAME "][" IN_NAME "]*'*"
#define REAL        "[0-9]+(?:\\.[0-9]+)?[eE][+-]?[0-9]+"

static const char special[] = "\\^$.|?*+()[]{}/-";

static const char *const scope[SORTS] = {
    [SORT_KEYWORD] = "keyword.control.ein",
    [SORT_REDUCER] = "support.function.reducer.ein",
    [SORT_DTYPE] = "storage.type.ein",
    [SORT_CONSTANT] = "constant.language.ein",
    [SORT_OPERATOR] = "keyword.operator.ein",
    [SORT_POINT] = "punctuation.ein",
    [SORT_SLIP] = "invalid.illegal.ein",
};

static void rule(Json *j, const char *name, const char *match) {
  json_object(j, NULL);
  json_str(j, "name", name);
  json_str(j, "match", match);
  json_end(j, '}');
}

static void numbers(Json *j) {
  rule(j, "constant.numeric.ein", "(?:" REAL "|[0-9]+\\.[0-9]+|[0-9]+)(?![.'0-9" BEGINS_NAME "])");
  rule(j, "invalid.illegal.number.ein", "(?:" REAL "|\\.?[0-9])[" IN_NAME "'.]*");
}

static void words(Arena *a, Json *j, const Spellings *w) {
  Buf before = buf_new(a), primed = buf_new(a);
  words_join(&before, &w->before_string, "|");
  rule(j, scope[SORT_KEYWORD], arena_printf(a, "(?:%s)(?=[ \\t]*\")", before.s));
  signs_join(&primed, &w->primed, 0, special, "");
  rule(j, "invalid.illegal.ein", arena_printf(a, "[%s]'+", primed.s));
  for (Sort s = 0; s < SORTS; s++) {
    Buf b = buf_new(a), signs = buf_new(a);
    words_join(&b, &w->word[s], "|");
    if (b.len) rule(j, scope[s], arena_printf(a, "(?:%s)(?![" IN_NAME "'])", b.s));
    if ((s == SORT_REDUCER || s == SORT_CONSTANT) && signs_join(&signs, &w->sign[s], 0, special, "|"))
      rule(j, scope[s], signs.s);
  }
  rule(j, "entity.name.function.ein", NAME "(?=[ \\t]*(?:\\[[^\\[\\]]*\\][ \\t]*)?\\()");
  rule(j, "variable.other.ein", NAME);
}

static void signs(Arena *a, Json *j, const Spellings *w) {
  static const Sort sort[] = {SORT_SLIP, SORT_OPERATOR, SORT_POINT};
  for (size_t len = SIGN_LONGEST; len; len--)
    for (size_t i = 0; i < COUNT(sort); i++) {
      Buf b = buf_new(a);
      if (signs_join(&b, &w->sign[sort[i]], len, special, "|")) rule(j, scope[sort[i]], b.s);
    }
}

void grammar_textmate(Buf *b, const Spellings *w) {
  Json j = json_new(b);
  json_object(&j, NULL);
  json_str(&j, "name", "Ein");
  json_str(&j, "scopeName", "source.ein");
  json_str(&j, "comment", "made by ein --grammar textmate");
  json_array(&j, "fileTypes");
  json_str(&j, NULL, "ein");
  json_end(&j, ']');
  json_array(&j, "patterns");
  rule(&j, "comment.line.number-sign.ein", "#.*");
  rule(&j, "string.quoted.double.ein", "\"[^\"\\n]*\"?");
  rule(&j, "invalid.illegal.ein",
      "[\xE2\x80\x9C-\xE2\x80\x9F][^\"\xE2\x80\x9C-\xE2\x80\x9F\\n]*[\"\xE2\x80\x9C-\xE2\x80\x9F]");
  numbers(&j);
  words(b->arena, &j, w);
  signs(b->arena, &j, w);
  rule(&j, "invalid.illegal.ein", "\\S");
  json_end(&j, ']');
  json_end(&j, '}');
}
