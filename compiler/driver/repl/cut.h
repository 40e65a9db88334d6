/* driver/repl/cut.h - splits typed text into statements: where each begins and ends, its kind, and whether the last
 * one continues. The rule about newlines is the language's. Only a prompt also takes a single expression and `A =
 * load("a.npy")`. */
#ifndef EIN_REPL_CUT_H
#define EIN_REPL_CUT_H

#include "base/base.h"

/* NAME: an expression that is a single name */
typedef enum { PIECE_STATEMENT, PIECE_EXPRESSION, PIECE_NAME, PIECE_LOAD } PieceKind;
typedef struct Piece {
  PieceKind kind;
  uint32_t at, end;          /* in the text */
  const char *name;          /* NAME; and LOAD: the name defined */
  const char *source;        /* the text between the quotes */
  uint32_t load, load_end;   /* of others: the position of a `load("a.npy")` inside; load_end 0: none */
} Piece;
typedef struct Cut {
  VEC(Piece) pieces;
  bool open;                 /* the last one is incomplete: a bracket is open, or it ends with an operator */
} Cut;
Cut cut_text(Arena *a, const char *text, size_t n);

#endif
