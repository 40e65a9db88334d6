/* front/parse/token.c - the table of token.h, for lookup by number. */
#include "token.h"

const char *token_name(int kind) {
  static const char *const name[] = {
    "the end of the file",
#define TOKEN(id, text, facts) text,
    TOKENS(TOKEN)
#undef TOKEN
  };
  return kind >= 0 && kind < TOKEN_KINDS ? name[kind] : "something else";
}

unsigned token_facts(int kind) {
  static const unsigned char of[] = {
    0,
#define TOKEN(id, text, facts) (facts),
    TOKENS(TOKEN)
#undef TOKEN
  };
  return kind >= 0 && kind < TOKEN_KINDS ? of[kind] : 0;
}
