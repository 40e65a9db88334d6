/* driver/repl/query.h - what is typed at the prompt, as a compilation. The needed statements of a sheet are parsed
 * again, and the program that they form goes down the same column as a file. Everything lies in an arena of the query;
 * what must stay goes into the entries of the sheet. Names whose values are known are elaborated like the others, so
 * that the same proofs hold, and become inputs of the computation. */
#ifndef EIN_REPL_QUERY_H
#define EIN_REPL_QUERY_H

#include "driver/driver.h"
#include "sheet.h"

typedef struct Query {
  Session s;                 /* as home, except memory, names and complaints */
  Session *home;             /* the session that asks */
  const Args *args;
  Sheet *sheet;
  Source *source;            /* what was typed; only it gets warnings */
  AstFile *file;             /* the query's program */
  Texts folders;             /* the folder from which each of its statements sees files */
  Entries needs;             /* the entries in it */
  const char *name;          /* the name of an expression's value */
  bool anew;                 /* compute the value even if it is known */
  Outlines outlines;         /* what stands for operands; WHOLE after query_begin */
  bool patient;              /* a dim or an input without a value is not a complaint */
  const char *lacks;         /* but recorded here; NULL: none is missing */
  Texts wanted, known;       /* outputs to be computed; and those whose values are known */
  Job job;
  Eval eval;                 /* after query_compute */
  double seconds;            /* of the computation, without planning and compiling it */
} Query;

void query_begin(Query *q, Session *home, const Args *args, Sheet *sheet);
void query_end(Query *q);     /* passes captured complaints to home */
void query_said(const Query *q, uint32_t from, Buf *b); /* what was captured, from that message on */
/* A text at a line of a file, as a source with that file's line numbers. */
Source *query_source(Query *q, const char *file, uint32_t line, const char *text, size_t n);
/* Makes the query's program from the names and all that they depend on; and the expression, if not NULL, whose value
 * is then wanted. */
Leave query_program(Query *q, const Texts *names, AstFile *expression);
/* Elaborates it: q->job.graph has one output per name of q->wanted, in that order, then those of q->known. Tensors
 * that fit get outlines. */
Leave query_graph(Query *q);
/* Both. Definitions replace outlines where these are not enough: if there is a complaint, which is then about what
 * was typed, or a gradient, which depends on more than shapes. */
Leave query_elaborate(Query *q, const Texts *names, AstFile *expression, Outlines outlines);
Leave query_lacks(Query *q, const char *fmt, ...) EIN_PRINTF(2, 3); /* about a value that does not exist yet; fails */
/* Reduces the graph to what is wanted, with known values as inputs. After query_graph. */
Leave query_prepare(Query *q);
/* query_compute: values into q->eval.output; after query_prepare. query_keep: from there into the sheet. */
Leave query_compute(Query *q);
void query_keep(Query *q);
/* One of the graph's outputs, before or after the computation. */
const EinOutput *query_output(const Query *q, const char *name);
/* Appends its shape, or its text if a size has no value yet. */
void query_heading(Query *q, Buf *b, const char *name, const EinNode *n);
Leave query_report(Query *q);  /* complaints, without warnings about earlier text */

#endif
