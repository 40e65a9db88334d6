/* driver/repl/turn.h - one turn at the prompt as a compilation: the statements of a sheet that are needed, parsed again and put together
 * as a program, go down the same column as a file. All that it makes lies in an arena of the turn's own; what is to stay goes into
 * the sheet's entries. Names whose values are known are elaborated like the others, so that the same is proved of them, and are
 * inputs of what is then computed. */
#ifndef EIN_REPL_TURN_H
#define EIN_REPL_TURN_H

#include "driver/driver.h"
#include "sheet.h"

typedef struct Turn {
  Session s;                 /* as home, but for memory, names and complaints */
  Session *home;             /* whose turn it is */
  const Args *args;
  Sheet *sheet;
  Source *source;            /* what was typed; warnings are about it alone */
  AstFile *file;             /* the program of the turn, */
  Texts folders;             /*   from which folder each of its statements sees files, and */
  Entries needs;             /*   the entries that it is made of */
  const char *query;         /* what the value of an expression is called */
  bool anew;                 /* what is asked for is wanted even where its value is known */
  bool patient;              /* where a dim or an input has no value yet, that is no complaint, but */
  const char *lacks;         /*   what would be said; NULL: none is without */
  Texts wanted, known;       /* outputs whose values are to be computed; and those whose values are there */
  Job job;
  Eval eval;                 /* after turn_compute */
  double seconds;            /*   that the computation took, compiled or looked up in the cache before */
} Turn;

void turn_begin(Turn *t, Session *home, const Args *args, Sheet *sheet);
void turn_end(Turn *t);     /* complaints that were captured go home */
/* A text at a line of a file, as a source whose lines are that file's. */
Source *turn_source(Turn *t, const char *file, uint32_t line, const char *text, size_t n);
/* The names, and all that they hang on, as the turn's program; and the expression, if it is not NULL, whose value is then asked for. */
Leave turn_program(Turn *t, const Texts *names, AstFile *expression);
/* Elaborates it: t->job.graph has one output a name of t->wanted, in that order, then those of t->known. */
Leave turn_graph(Turn *t);
Leave turn_lacks(Turn *t, const char *fmt, ...) EIN_PRINTF(2, 3); /* of a value that there is not yet; fails */
/* What is wanted alone, with what is known as inputs; and the values of these. After turn_graph. */
Leave turn_prepare(Turn *t);
/* Values into t->eval.output, and from there into the sheet. After turn_prepare. */
Leave turn_compute(Turn *t);
void turn_keep(Turn *t);
/* One of the graph's outputs, before or after it is computed. */
const EinOutput *turn_output(const Turn *t, const char *name);
/* Its shape; false where a size has no value yet, in which case the text of it is in *b. */
bool turn_shape(Turn *t, const EinNode *n, EvalArray *x);
void turn_heading(Turn *t, Buf *b, const char *name, const EinNode *n);
Leave turn_report(Turn *t);  /* complaints, without warnings about what was typed earlier */

#endif
