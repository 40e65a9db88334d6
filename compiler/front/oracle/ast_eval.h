/* front/oracle/ast_eval.h - a second opinion on elaboration: small loop-free programs run as they are written.
 *
 * In comes an Ast, out come the values of every top-level tensor. No def is expanded, no graph is made, and no
 * code is shared with elab: names are looked up, extents searched for and dtypes joined again here, by plain
 * recursion over the tree. It is slow, and refuses what it does not do (`repeat`, `grad`). */
#ifndef EIN_AST_EVAL_H
#define EIN_AST_EVAL_H

#include "front/ast.h"

typedef struct AstTensor {
  Str name;
  DType dtype;
  uint32_t rank;
  int64_t *shape;
  Value *at;                 /* count values of the dtype, row-major */
  int64_t count;
  bool output, input;
} AstTensor;

typedef struct AstEval {
  Arena *arena;
  Strings *strings;
  AstFile *const *modules;   /* prelude and used modules, each before what uses it; `use` itself does nothing here */
  uint32_t n_modules;
  const AstFile *file;       /* the program */
  /* -D overrides and sizes bound from files; NULL or false: as the program says. */
  bool (*dim)(void *ctx, Str name, int64_t *out);
  /* Fills wanted->at (room for count values is there) for an input given from outside; NULL or false: the default. */
  bool (*input)(void *ctx, Str name, AstTensor *wanted);
  void *ctx;
  const Exprs *exprs;        /* the pool in which C functions have been loaded; NULL: there are none */
  VEC(AstTensor *) tensors;  /* the result, in order of definition */
  int64_t max_points;        /* work units, about one a node evaluated, at most; 0: 2^26 */
} AstEval;

/* False with *why and *where where the program uses what this does not do, is wrong, has no value somewhere, or
 * is too much work; tensors then holds what came before. The program must have parsed without complaint. */
bool ast_eval(AstEval *e, const char **why, Span *where);

#endif
