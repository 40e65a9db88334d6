/* front/oracle/ast_eval.h - a second opinion on elaboration: runs small loop-free programs as they are written.
 *
 * In: an Ast. Out: the values of every top-level tensor. It expands no def, makes no graph, and shares no code with
 * elab: it looks up names, searches for extents and joins dtypes by itself, by plain recursion over the tree. It is
 * slow, and refuses what it does not support (`repeat`, `grad`). */
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
  AstFile *const *modules;   /* prelude and used modules, each before what uses it; `use` itself has no effect here */
  uint32_t n_modules;
  const AstFile *file;       /* the program */
  /* -D overrides and sizes bound from files; NULL or false: as in the program. */
  bool (*dim)(void *ctx, Str name, int64_t *out);
  /* Fills wanted->at (which has room for count values) for an input given from outside; NULL or false: the default. */
  bool (*input)(void *ctx, Str name, AstTensor *wanted);
  void *ctx;
  const Exprs *exprs;        /* the pool with the loaded C functions; NULL: there are none */
  VEC(AstTensor *) tensors;  /* the result, in order of definition */
  int64_t max_points;        /* the most work units, about one per evaluated node; 0: 2^26 */
  int64_t work;              /* the result: the units that were spent */
} AstEval;

/* Returns false with *why and *where if the program uses something unsupported, is wrong, lacks a value somewhere, or
 * is too much work, which it may say as soon as a tensor's first points have taken far too much; tensors then holds
 * what came before. The program must have parsed without complaint. */
bool ast_eval(AstEval *e, const char **why, Span *where);

#endif
