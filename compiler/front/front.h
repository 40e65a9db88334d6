/* front/front.h - the front end's doors: from files to a checked EinGraph.
 *
 *   program_read      a file, the prelude and every module it uses, parsed
 *   program_bind      what an input's shape says about the sizes
 *   graph_from_ast    names, labels, extents, dtypes, domains: everything checked, defs expanded */
#ifndef EIN_FRONT_H
#define EIN_FRONT_H

#include "ast.h"
#include "graph/graph.h"

typedef struct Front { /* what one compilation shares; the driver makes it */
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Diags *diags;
  Str unstated;              /* a def whose stated adjoint is left alone; NULL: none */
  const char *stdlib;        /* the folder of prelude.ein and of `use nn` */
} Front;

typedef struct Module { AstFile *file; const char *path; bool prelude; } Module;

typedef struct Program {
  AstFile *file;             /* what the user named */
  VEC(Module) modules;       /* in order of first use, each before what uses it: prelude first; not the file itself */
} Program;

/* Never NULL; complaints are in f->diags. `use` finds modules in the stdlib (use nn) or relative to the using
 * file (use "../blocks.ein"), inside the roots only: the folder of the main file's project root (the nearest
 * folder upwards that holds an `ein.root` file or .git, else the main file's own folder) and the stdlib.
 * Cycles, folders, FIFOs, missing files are complaints with the span of the `use`. */
Program *program_read(Front *f, const char *path);
Program *program_from_text(Front *f, const char *name, const char *bytes, size_t len); /* uses only the stdlib */
/* Of one that is parsed; each of its statements as if it stood in a file of that folder. */
Program *program_from_file(Front *f, AstFile *file, const char *const *folder);

/* The def or monoid of that name in a module of the standard library, for messages; NULL: none has it. */
const AstStmt *module_find(Front *f, Str name, const char **module);

typedef struct DimValue { Str name; int64_t value; Span from; const char *why; } DimValue;
typedef VEC(DimValue) DimValues;

/* An input file's shape: binds each dim that stands alone as a size of that input and has no value yet, in `dims`.
 * false with a complaint where rank or a bound size disagrees. Sizes that are larger expressions are left to graph_from_ast,
 * given the dims. `what` names the file in the message. */
bool program_bind(Front *f, const Program *p, Str input, uint32_t rank, const int64_t *shape, const char *what, DimValues *dims);
/* The same where some of the shape is not known, which is -1 there; nothing is looked at. `what` says where an axis is from. */
void program_bind_some(Front *f, const Program *p, Str input, const int64_t *shape, const char *const *what, DimValues *dims);
/* The sizes of an input, as far as they can be told: -1 where not. */
void program_sizes(Front *f, const Program *p, Str input, const DimValues *dims, int64_t *shape);
/* Where a param or an output lies in a checkpoint; NULL: that is not said. */
const AstStored *program_stored(const Program *p, Str name);
/* The declaration of an input: dtype and rank; false if there is none of that name. */
bool program_input(const Program *p, Str input, DType *t, uint32_t *rank, Span *span);

/* After complaints of the parser: those about what did parse, without what did not and what hangs on that. It makes sense
 * only where program_hangs_together. */
bool program_hangs_together(const Front *f, const Program *p);
void program_rest(Front *f, const Program *p);
/* The graph, or NULL where there were errors. Dims given override values written in the program. */
EinGraph *graph_from_ast(Front *f, const Program *p, const DimValues *dims);

#endif
