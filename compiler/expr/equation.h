/* expr/equation.h - prints expressions and EinSums as a person would write them: with names instead of numbers, and
 * only the necessary parentheses. The text is for people and cannot be read back; what is very long or very deep is
 * abbreviated with dots. */
#ifndef EIN_EXPR_EQUATION_H
#define EIN_EXPR_EQUATION_H

#include "einsum.h"

typedef struct Writer {
  Buf *out;
  size_t most;             /* length of out at which to stop */
  int depth;
  bool tight;              /* inside brackets: no blanks */
  ExprNames names;         /* label and turn may be NULL; read writes the text before the indices */
} Writer;

Writer equation_writer(Buf *out, ExprNames names);
void write_name(Writer *w, Str s, const char *otherwise, int64_t number);
void write_expr(Writer *w, const Expr *e);
void write_list(Writer *w, uint32_t n, const Expr *const *e); /* `[a,b]`; nothing if there are none */
void write_right(Writer *w, const EinSum *s, const Str *label); /* `sum[d] A[i,d] * B[d], where i < 3` */

#endif
