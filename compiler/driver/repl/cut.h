/* driver/repl/cut.h - what was typed, cut into statements: where each begins and ends, of what kind it is, and whether the last one
 * goes on. The rule about newlines is the language's; what only a prompt takes is an expression alone and `A = load("a.npy")`. */
#ifndef EIN_REPL_CUT_H
#define EIN_REPL_CUT_H

#include "base/base.h"

typedef enum { PIECE_STATEMENT, PIECE_EXPRESSION, PIECE_NAME, PIECE_LOAD } PieceKind; /* NAME: an expression that is one name */
typedef struct Piece {
  PieceKind kind;
  uint32_t at, end;          /* of the text */
  const char *name;          /* NAME; and LOAD: whose value it is, */
  const char *source;        /*   and what stands between the quotes; */
  uint32_t load, load_end;   /* of the others: where a `load("a.npy")` stands within; load_end 0: nowhere */
} Piece;
typedef struct Cut {
  VEC(Piece) pieces;
  bool open;                 /* the last one is not whole: a bracket is open, or an operator stands last */
} Cut;
Cut cut_text(Arena *a, const char *text, size_t n);

#endif
