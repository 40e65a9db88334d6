/* front/front.h - entry points of the front end: from files to a checked EinGraph.
 *
 *   program_read      a file, the prelude and every module that it uses, parsed
 *   program_bind      what an input's shape says about the sizes
 *   graph_from_ast    names, labels, extents, dtypes, domains: everything checked, defs expanded */
#ifndef EIN_FRONT_H
#define EIN_FRONT_H

#include "ast.h"
#include "graph/graph.h"

typedef struct Front { /* shared by one compilation; the driver makes it */
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Diags *diags;
  int64_t keep;              /* the bytes that gradients may save of a repeat's states (graph/grad/grad.h); 0: as many
                              * as by default */
  double lower;              /* out: the most that is saved though less would do; 0: there is none */
  bool unsized;              /* out: how much is saved depends on sizes that have no value */
  Str unstated;              /* a def whose stated adjoint is ignored; NULL: none */
  const char *stdlib;        /* the folder of prelude.ein and of modules like `use nn` */
} Front;

typedef struct Module { AstFile *file; const char *path; bool prelude; } Module;

typedef struct Program {
  AstFile *file;             /* the user's file */
  VEC(Module) modules;       /* in order of first use, each before the modules that use it: prelude first; without the
                              * file itself */
} Program;

/* Never returns NULL; complaints are in f->diags. `use` finds modules in the stdlib (use nn) or relative to the using
 * file (use "../blocks.ein"), but only inside two roots: the folder of the main file's project root (the nearest
 * folder upwards that contains an `ein.root` file or .git, else the main file's own folder) and the stdlib. Cycles,
 * folders, FIFOs and missing files are complaints with the span of the `use`. */
Program *program_read(Front *f, const char *path);
Program *program_from_text(Front *f, const char *name, const char *bytes, size_t len); /* uses only the stdlib */
/* For a parsed file; each of its statements counts as if it were in a file of the given folder. */
Program *program_from_file(Front *f, AstFile *file, const char *const *folder);

/* The def or monoid of that name in a module of the standard library, for messages; NULL: none has it. */
const AstStmt *module_find(Front *f, Str name, const char **module);

typedef struct DimValue { Str name; int64_t value; Span from; const char *why; } DimValue;
typedef VEC(DimValue) DimValues;

/* Uses an input file's shape: binds in `dims` each dim without a value that a size of that input determines: N, or
 * the only such dim of 2*N + 1. Returns false with a complaint if the rank or a known size disagrees. `what` names
 * the file in the message. */
bool program_bind(
    Front *f, const Program *p, Str input, uint32_t rank, const int64_t *shape, const char *what, DimValues *dims);
/* The same if part of the shape is unknown (-1); it checks nothing. `what` says by axis where the size comes from. */
void program_bind_some(
    Front *f, const Program *p, Str input, const int64_t *shape, const char *const *what, DimValues *dims);
/* The sizes of an input as far as they are known; else -1. */
void program_sizes(Front *f, const Program *p, Str input, const DimValues *dims, int64_t *shape);
/* By axis of an input, on which one of the `open` sizes it depends, whatever value that has: times * size + plus. An
 * axis that depends on none, on several or in another way is left alone. dims: values of the others. */
typedef struct InputAxis { Str size; int64_t times, plus; } InputAxis;
void program_axes(Arena *a, const Program *p, Str input, const DimValues *dims, const Str *open, uint32_t n_open,
    InputAxis *out);
/* Where a param or an output lies in a checkpoint; NULL: not given. */
const AstStored *program_stored(const Program *p, Str name);
/* The declaration of an input: dtype and rank. Returns false if there is no input of that name. */
bool program_input(const Program *p, Str input, uint32_t *rank, Span *span);

/* After complaints of the parser: program_rest reports what is wrong with the parts that did parse, ignoring the
 * others and what depends on them. It makes sense only if program_hangs_together. */
bool program_hangs_together(const Front *f, const Program *p);
void program_rest(Front *f, const Program *p);
bool program_asks_gradients(const Program *p); /* whether `grad` occurs in it or in a module */
/* Returns the graph, or NULL if there were errors. The given dims override values in the program. */
EinGraph *graph_from_ast(Front *f, const Program *p, const DimValues *dims);

#endif
