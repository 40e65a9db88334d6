/* driver/repl/repl.h - the prompt: reads lines, answers queries, prints results. A session's content is a sheet
 * (sheet.h); a query compiles and computes (query.h); commands are in commands.def; line.h provides the lines. */
#ifndef EIN_REPL_H
#define EIN_REPL_H

#include "cut.h"
#include "query.h"

typedef struct Prompt Prompt;
typedef struct Loading Loading;
struct Prompt {
  Session *s;                /* of the current query: messages are in its memory */
  Args args;                 /* of the command line, with changes by :sites */
  char sites[24];            /* the word of :sites */
  const char *sites_word;    /* points to it */
  Sheet *sheet;
  bool talks;                /* interactive: definitions get an answer too */
  bool over;                 /* :quit */
  Buf *out;                  /* the current query's answer */
  Json *values;              /* and its values, for tools; NULL: none */
  Buf *svg;                  /* and its picture, if it has one; NULL: none is wanted */
  const char *file;          /* the current text's file */
  uint32_t line;             /* its first line there */
  const char *folder;        /* the folder from which it sees files */
  Loading *loading;          /* a program being loaded; NULL: none */
};

/* Takes the statements and expressions of n bytes in order, up to the first that fails; or one command. Refuses a
 * NUL. */
Leave prompt_take(Prompt *p, const char *text, size_t n);
bool prompt_open(const char *text); /* the text is incomplete: it needs more lines */

/* ---- command.c, from commands.def ------------------------------------------------------------- */
typedef Leave PromptLook(Prompt *p, Query *q);
typedef struct PromptCommand {
  const char *name, *operand, *help;
  Leave (*run)(Prompt *p, const char *operand); /* the rest of the line, trimmed */
  PromptLook *look;                             /* or this, with a query of the rest of the line */
} PromptCommand;
extern const PromptCommand prompt_commands[];   /* ends with name NULL */
Leave prompt_command(Prompt *p, const char *line);

/* ---- ask.c: queries ----------------------------------------------------------------------------- */
Leave prompt_pieces(Prompt *p, const char *text, size_t n); /* the same without commands */
/* Begins a query about an expression or a name and makes its graph; *name: what it asks for. OUTLINE_ANY: only its
 * shape is asked for, and nothing can be computed. The query is begun in any case. */
Leave ask_begin(Prompt *p, Query *q, const char *text, bool anew, Outlines outlines, const char **name);
Leave define_load(Prompt *p, const char *name, const char *source); /* load.c */

Leave prompt_output(Prompt *p, const char *name); /* shows it, or says what is still missing */

/* ---- program.c ---------------------------------------------------------------------------------- */
Leave prompt_load(Prompt *p, const char *path);
void loading_output(Prompt *p, const char *name); /* during loading: shown once the whole program is loaded */
void loading_drop(Prompt *p);                     /* the query broke off: discards a program being loaded */

/* ---- complete.c --------------------------------------------------------------------------------- */
/* The completions of the word at the end of a line, in order; *from: where the word begins. */
Texts prompt_completions(Arena *a, Prompt *p, const char *line, size_t *from);

/* The text of a def, a monoid or an extern of the session, the prelude or a module in use; NULL: there is none. */
const char *definition_text(Arena *a, Prompt *p, const char *name);

/* ---- plot.c -------------------------------------------------------------------------------------- */
Leave prompt_plot(Prompt *p, const char *name, const char *const *axis, const EvalArray *x);
/* ---- plot_svg.c: the same as a self-contained picture --------------------------------------------------- */
typedef struct PlotRange { double least, most; } PlotRange; /* least > most: it contains no number */
/* One dimension: the range of each column, and of all. Two dimensions: a number for each shade, NaN for none. */
void plot_line_svg(Buf *b, const char *axis, int64_t n, const PlotRange *column, int64_t columns, PlotRange all);
void plot_shade_svg(Buf *b, const char *const *axis, const int64_t *shape, const double *mean, int64_t rows,
    int64_t columns, PlotRange all);

/* ---- uses.c ------------------------------------------------------------------------------------- */
const char *uses_folder(Arena *a, const char *path);                          /* the folder from which a program there
                                                                               * sees files; follows a link */
const char *use_seen_from(Arena *a, const Entry *e, const char *folder);      /* the text of a `use` with the same
                                                                               * meaning in a program there */

/* ---- save.c -------------------------------------------------------------------------------------- */
Leave prompt_save(Prompt *p, const char *path);

#endif
