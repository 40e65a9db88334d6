/* expr/equation.h - expressions and EinSums as a person would write them: names in the place of numbers, and no more
 * parentheses than the language asks for. For people: it is not read back, and what is very long or very deep is cut
 * short with dots. */
#ifndef EIN_EXPR_EQUATION_H
#define EIN_EXPR_EQUATION_H

#include "einsum.h"

typedef struct Writer {
  Buf *out;
  size_t most;             /* length of out at which to stop */
  int depth;
  bool tight;              /* inside of brackets: no blanks */
  ExprNames names;         /* label and turn may be NULL; read writes what stands before the indices */
} Writer;

Writer equation_writer(Buf *out, ExprNames names);
void write_name(Writer *w, Str s, const char *otherwise, int64_t number);
void write_expr(Writer *w, const Expr *e);
void write_list(Writer *w, uint32_t n, const Expr *const *e); /* `[a,b]`; nothing if there are none */
void write_right(Writer *w, const EinSum *s, const Str *label); /* `sum[d] A[i,d] * B[d], where i < 3` */

#endif
