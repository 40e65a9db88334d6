/* driver/editors/vim.c - writes syntax/ein.vim, for Vim and Neovim: of the items that match at the same place a
 * keyword wins, else the one defined last. */
#include "editors.h"

static const char special[] = "\\^$.*[]~/";

static const char *const group[SORTS] = {
    [SORT_KEYWORD] = "einKeyword",
    [SORT_REDUCER] = "einReducer",
    [SORT_DTYPE] = "einType",
    [SORT_CONSTANT] = "einConstant",
    [SORT_OPERATOR] = "einOperator",
    [SORT_POINT] = "einPoint",
    [SORT_SLIP] = "einError",
};

static const char head[] =
    "\" Vim syntax of Ein; made by ein --grammar vim\n"
    "if exists('b:current_syntax') | finish | endif\n"
    "let b:current_syntax = 'ein'\n"
    "syn iskeyword @,48-57,_,39\n"
    "\n"
    "syn match einError /\\S/\n";

/* Names begin with neither a digit nor a prime. */
static const char names[] =
    "syn match einName /\\%('\\)\\@!\\K\\k*/\n"
    "syn match einCall /\\%('\\)\\@!\\K\\k*\\ze\\s*\\%(\\[[^][]*\\]\\s*\\)\\?(/\n";

#define REAL "\\d\\+\\%(\\.\\d\\+\\)\\?[eE][+-]\\?\\d\\+"

static const char others[] =
    "syn match einError /\\%(" REAL "\\|\\.\\?\\d\\)\\%(\\k\\|\\.\\)*/\n"
    "syn match einNumber /\\%(" REAL "\\|\\d\\+\\.\\d\\+\\|\\d\\+\\)\\%([.'0-9]\\|\\K\\)\\@!/\n"
    "syn match einError /[\xE2\x80\x9C-\xE2\x80\x9F][^\"\xE2\x80\x9C-\xE2\x80\x9F]*[\"\xE2\x80\x9C-\xE2\x80\x9F]/\n"
    "syn match einString /\"[^\"]*\"\\?/\n"
    "syn match einComment /#.*/ contains=einTodo,@Spell\n"
    "syn keyword einTodo TODO FIXME XXX contained\n";

static const char links[] =
    "\n"
    "hi def link einComment Comment\n"
    "hi def link einTodo Todo\n"
    "hi def link einString String\n"
    "hi def link einNumber Number\n"
    "hi def link einConstant Constant\n"
    "hi def link einKeyword Statement\n"
    "hi def link einReducer Special\n"
    "hi def link einType Type\n"
    "hi def link einCall Function\n"
    "hi def link einOperator Operator\n"
    "hi def link einError Error\n";

static void matches(Buf *b, Sort s, const Words *w, size_t len) {
  Buf m = buf_new(b->arena);
  if (signs_join(&m, w, len, special, "\\|")) buf_printf(b, "syn match %s /%s/\n", group[s], m.s);
}

void grammar_vim(Buf *b, const Spellings *w) {
  Buf primed = buf_new(b->arena);
  buf_str(b, head);
  for (size_t len = 1; len <= SIGN_LONGEST; len++) {
    matches(b, SORT_POINT, &w->sign[SORT_POINT], len);
    matches(b, SORT_OPERATOR, &w->sign[SORT_OPERATOR], len);
    matches(b, SORT_SLIP, &w->sign[SORT_SLIP], len);
  }
  buf_str(b, names);
  matches(b, SORT_REDUCER, &w->sign[SORT_REDUCER], 0);
  matches(b, SORT_CONSTANT, &w->sign[SORT_CONSTANT], 0);
  signs_join(&primed, &w->primed, 0, special, "");
  buf_printf(b, "syn match einError /[%s]'\\+/\n", primed.s);
  buf_str(b, "syn match einKeyword /\\%(");
  words_join(b, &w->before_string, "\\|");
  buf_str(b, "\\)\\ze\\s*\"/\n");
  buf_str(b, others);
  for (Sort s = 0; s < SORTS; s++) {
    if (!w->word[s].len) continue;
    buf_printf(b, "syn keyword %s ", group[s]);
    words_join(b, &w->word[s], " ");
    buf_char(b, '\n');
  }
  buf_str(b, links);
}
