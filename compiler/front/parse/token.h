/* front/parse/token.h - the tokens of the language: output of the scanner, input of the parser. A Token is a position
 * in the source and the kind found there. For each kind, the table has its name in messages and the facts that the
 * rule about newlines needs: whether a statement can end with it, and whether one can begin with it. The grammar
 * declares its terminals in this order, and checks that. */
#ifndef EIN_TOKEN_H
#define EIN_TOKEN_H

#include "base/diag.h"

enum { ENDS = 1, BEGINS = 2, WORD = 4, BINARY = 8, HEADS = 16 };
/* ENDS, BEGINS: a statement. HEADS: begins one and occurs nowhere else. WORD: a keyword. BINARY: an operator between
 * two operands that is not also a prefix sign. */

#define TOKENS(TOKEN)                                                                              \
  TOKEN(NEWLINE, "the end of the line", 0)                                                         \
  TOKEN(ID, "a name", ENDS | BEGINS)                                                               \
  TOKEN(INT, "a number", ENDS | BEGINS)                                                            \
  TOKEN(REAL, "a number", ENDS | BEGINS)                                                           \
  TOKEN(STRING, "a \"string\"", ENDS | BEGINS)                                                     \
  TOKEN(CONST, "a constant", ENDS | BEGINS | WORD)                                                 \
  TOKEN(DTYPE, "a dtype", ENDS | BEGINS | WORD)                                                    \
  TOKEN(REDUCER, "a reducer", BEGINS | WORD)                                                       \
  TOKEN(COUNT, "`count`", BEGINS | WORD)                                                           \
  TOKEN(DIM, "`dim`", BEGINS | WORD | HEADS)                                                       \
  TOKEN(INPUT, "`input`", BEGINS | WORD | HEADS)                                                   \
  TOKEN(PARAM, "`param`", BEGINS | WORD | HEADS)                                                   \
  TOKEN(OUTPUT, "`output`", BEGINS | WORD | HEADS)                                                 \
  TOKEN(STATE, "`state`", BEGINS | WORD | HEADS)                                                   \
  TOKEN(NEXT, "`next`", BEGINS | WORD | HEADS)                                                     \
  TOKEN(REPEAT, "`repeat`", BEGINS | WORD | HEADS)                                                 \
  TOKEN(UNTIL, "`until`", WORD)                                                                    \
  TOKEN(DEF, "`def`", BEGINS | WORD | HEADS)                                                       \
  TOKEN(MONOID, "`monoid`", BEGINS | WORD | HEADS)                                                 \
  TOKEN(IDENTITY, "`identity`", WORD)                                                              \
  TOKEN(EXTERN, "`extern`", BEGINS | WORD | HEADS)                                                 \
  TOKEN(ADJOINT, "`adjoint`", WORD)                                                                \
  TOKEN(USE, "`use`", BEGINS | WORD | HEADS)                                                       \
  TOKEN(ASSERT, "`assert`", BEGINS | WORD | HEADS)                                                 \
  TOKEN(FROM, "`from`", 0)                                                                         \
  TOKEN(TO, "`to`", 0)                                                                             \
  TOKEN(WHERE, "`where`", WORD)                                                                    \
  TOKEN(IF, "`if`", BEGINS | WORD)                                                                 \
  TOKEN(THEN, "`then`", WORD)                                                                      \
  TOKEN(ELSE, "`else`", WORD)                                                                      \
  TOKEN(OR, "`or`", WORD | BINARY)                                                                 \
  TOKEN(AND, "`and`", WORD | BINARY)                                                               \
  TOKEN(NOT, "`not`", BEGINS | WORD)                                                               \
  TOKEN(EQ, "`==`", BINARY)                                                                        \
  TOKEN(NE, "`!=`", BINARY)                                                                        \
  TOKEN(LT, "`<`", BINARY)                                                                         \
  TOKEN(LE, "`<=`", BINARY)                                                                        \
  TOKEN(GT, "`>`", BINARY)                                                                         \
  TOKEN(GE, "`>=`", BINARY)                                                                        \
  TOKEN(PLUS, "`+`", BINARY)                                                                       \
  TOKEN(MINUS, "`-`", BEGINS)                                                                      \
  TOKEN(STAR, "`*`", BINARY)                                                                       \
  TOKEN(SLASH, "`/`", BINARY)                                                                      \
  TOKEN(IDIV, "`//`", BINARY)                                                                      \
  TOKEN(PERCENT, "`%`", BINARY)                                                                    \
  TOKEN(CARET, "`^`", BINARY)                                                                      \
  TOKEN(ORELSE, "`\?\?`", BINARY)                                                                  \
  TOKEN(ASSIGN, "`=`", 0)                                                                          \
  TOKEN(COLON, "`:`", 0)                                                                           \
  TOKEN(COMMA, "`,`", 0)                                                                           \
  TOKEN(LP, "`(`", BEGINS)                                                                         \
  TOKEN(RP, "`)`", ENDS | BEGINS)                                                                  \
  TOKEN(LB, "`[`", BEGINS)                                                                         \
  TOKEN(RB, "`]`", ENDS | BEGINS)                                                                  \
  TOKEN(LC, "`{`", 0)                                                                              \
  TOKEN(RC, "`}`", ENDS | BEGINS)                                                                  \
  TOKEN(RESYNC, "", 0)

typedef enum {
  TOK_EOF,
#define TOKEN(id, name, facts) TOK_##id,
  TOKENS(TOKEN)
#undef TOKEN
  TOKEN_KINDS,
  /* found by the scanner, but in no grammar rule */
  TOK_SEMI = TOKEN_KINDS, /* `;` */
  TOK_SLIP,               /* an operator of other languages: `&&`, `+=` */
  TOK_BAD                 /* something already reported */
} TokenKind;

typedef struct Token { uint32_t at, end; int kind; } Token;

const char *token_name(int kind);    /* its name in messages */
unsigned token_facts(int kind);      /* flags of the table; 0 for kinds not in the table */

#endif
