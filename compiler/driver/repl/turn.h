/* driver/repl/turn.h - one turn at the prompt as a compilation. The needed statements of a sheet are parsed again,
 * and the program that they form goes down the same column as a file. Everything lies in an arena of the turn; what
 * must stay goes into the sheet's entries. Names whose values are known are elaborated like the others, so that the
 * same proofs hold, and become inputs of the computation. */
#ifndef EIN_REPL_TURN_H
#define EIN_REPL_TURN_H

#include "driver/driver.h"
#include "sheet.h"

typedef struct Turn {
  Session s;                 /* as home, except memory, names and complaints */
  Session *home;             /* the session whose turn it is */
  const Args *args;
  Sheet *sheet;
  Source *source;            /* what was typed; only it gets warnings */
  AstFile *file;             /* the turn's program */
  Texts folders;             /* the folder from which each of its statements sees files */
  Entries needs;             /* the entries in it */
  const char *query;         /* the name of an expression's value */
  bool anew;                 /* compute the value even if it is known */
  Outlines outlines;         /* what stands for operands; WHOLE after turn_begin */
  bool patient;              /* a dim or an input without a value is not a complaint */
  const char *lacks;         /* but recorded here; NULL: none is missing */
  Texts wanted, known;       /* outputs to be computed; and those whose values are known */
  Job job;
  Eval eval;                 /* after turn_compute */
  double seconds;            /* of the computation, without planning and compiling it */
} Turn;

void turn_begin(Turn *t, Session *home, const Args *args, Sheet *sheet);
void turn_end(Turn *t);     /* passes captured complaints to home */
/* A text at a line of a file, as a source with that file's line numbers. */
Source *turn_source(Turn *t, const char *file, uint32_t line, const char *text, size_t n);
/* Makes the turn's program from the names and all that they depend on; and the expression, if not NULL, whose value
 * is then wanted. */
Leave turn_program(Turn *t, const Texts *names, AstFile *expression);
/* Elaborates it: t->job.graph has one output per name of t->wanted, in that order, then those of t->known. Tensors
 * that fit get outlines. */
Leave turn_graph(Turn *t);
/* Both. Definitions replace outlines where these are not enough: if there is a complaint, which is then about what
 * was typed, or a gradient, which depends on more than shapes. */
Leave turn_elaborate(Turn *t, const Texts *names, AstFile *expression, Outlines outlines);
Leave turn_lacks(Turn *t, const char *fmt, ...) EIN_PRINTF(2, 3); /* about a value that does not exist yet; fails */
/* Reduces the graph to what is wanted, with known values as inputs. After turn_graph. */
Leave turn_prepare(Turn *t);
/* turn_compute: values into t->eval.output; after turn_prepare. turn_keep: from there into the sheet. */
Leave turn_compute(Turn *t);
void turn_keep(Turn *t);
/* One of the graph's outputs, before or after the computation. */
const EinOutput *turn_output(const Turn *t, const char *name);
/* Its shape. Returns false if a size has no value yet; turn_heading then appends its text to *b. */
bool turn_shape(Turn *t, const EinNode *n, EvalArray *x);
void turn_heading(Turn *t, Buf *b, const char *name, const EinNode *n);
Leave turn_report(Turn *t);  /* complaints, without warnings about earlier text */

#endif
