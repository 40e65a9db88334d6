/* driver/repl/repl.h - the prompt: lines in, turns taken, answers out. What a session holds is a sheet (sheet.h); a turn compiles and
 * computes (turn.h); a command is a line of commands.def; where lines come from is line.h. */
#ifndef EIN_REPL_H
#define EIN_REPL_H

#include "cut.h"
#include "turn.h"

typedef struct Prompt Prompt;
typedef struct Loading Loading;
struct Prompt {
  Session *s;                /* of the turn at hand: messages lie in its memory */
  Args args;                 /* of the command line; and what :sites has said, */
  char sites[24];            /*   as a word, */
  const char *sites_word;    /*   which this points to */
  Sheet *sheet;
  bool talks;                /* somebody reads along: definitions are answered too */
  bool over;                 /* :quit */
  Buf *out;                  /* what the turn at hand answers, */
  Json *values;              /*   and the values in it, for tools; NULL: there are none */
  Buf *svg;                  /*   and its picture, if it has one; NULL: none is wanted */
  const char *file;          /* where the text at hand stands, */
  uint32_t line;             /*   from this line on, */
  const char *folder;        /*   and from where it sees files */
  Loading *loading;          /* a program that is being taken; NULL: none is */
};

/* Statements and expressions of n bytes, one after the other, up to the first that fails; or one command. A NUL among them is refused. */
Leave prompt_take(Prompt *p, const char *text, size_t n);
bool prompt_open(const char *text); /* the text is not whole: more lines belong to it */

void prompt_show(Prompt *p, const char *name, const char *const *axis, const EvalArray *x); /* name "": an expression's */

/* ---- command.c, from commands.def ------------------------------------------------------------- */
typedef struct PromptCommand {
  const char *name, *operand, *help;
  Leave (*run)(Prompt *p, const char *operand); /* the rest of the line, without blanks around it */
} PromptCommand;
extern const PromptCommand prompt_commands[];   /* name NULL at the end */
Leave prompt_command(Prompt *p, const char *line);

/* ---- ask.c: turns ------------------------------------------------------------------------------ */
Leave prompt_pieces(Prompt *p, const char *text, size_t n); /* the same without commands */
/* A turn about an expression or a name, as far as its graph; *name: of what it asks for. It is begun in any case. */
Leave ask_begin(Prompt *p, Turn *t, const char *text, bool anew, const char **name);
Leave define_load(Prompt *p, const char *name, const char *source); /* load.c */

Leave prompt_output(Prompt *p, const char *name); /* shown, or it is told for want of what it cannot be yet */

/* ---- program.c ---------------------------------------------------------------------------------- */
Leave prompt_load(Prompt *p, const char *path);
void loading_output(Prompt *p, const char *name); /* while a program is being taken: shown once all of it is */
void loading_drop(Prompt *p);                     /* the turn broke off: if a program was being taken, none of it is */

/* ---- complete.c --------------------------------------------------------------------------------- */
/* What the word at the end of a line can become, which begins at *from; in order. */
Texts prompt_completions(Arena *a, Prompt *p, const char *line, size_t *from);

/* ---- plot.c -------------------------------------------------------------------------------------- */
Leave prompt_plot(Prompt *p, const char *name, const char *const *axis, const EvalArray *x);
/* ---- plot_svg.c: the same as a picture that needs nothing else ------------------------------------ */
typedef struct PlotRange { double least, most; } PlotRange; /* least > most: there is no number in it */
/* Of one dimension: the range of each column, and of all. Of two: a number a shade, NaN where there is none. */
void plot_line_svg(Buf *b, const char *axis, int64_t n, const PlotRange *column, int64_t columns, PlotRange all);
void plot_shade_svg(Buf *b, const char *const *axis, const int64_t *shape, const double *mean, int64_t rows, int64_t columns, PlotRange all);

/* ---- uses.c ------------------------------------------------------------------------------------- */
const char *uses_folder(Arena *a, const char *path);                          /* from which a program there sees files; a link is followed */
const char *use_seen_from(Arena *a, const Entry *e, const char *folder);      /* the text of a `use` that means the same in a program there */

/* ---- save.c -------------------------------------------------------------------------------------- */
Leave prompt_save(Prompt *p, const char *path);

#endif
