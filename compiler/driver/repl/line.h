/* driver/repl/line.h - where the prompt's lines come from: a terminal or a pipe, behind one interface. */
#ifndef EIN_REPL_LINE_H
#define EIN_REPL_LINE_H

#include "repl.h"

typedef struct Lines Lines;
bool lines_edited(void);     /* where they are from a terminal */
Lines *lines_open(Prompt *p, bool terminal);
/* The next line without its end, of *n bytes, any of which may be NUL; its memory is good up to the next call. NULL: there is none.
 * *dropped: Ctrl-C was typed instead. */
const char *lines_next(Lines *l, const char *prompt, bool *dropped, size_t *n);
void lines_close(Lines *l);

/* edit.c, where there is libedit; NULL: it does not work here. */
void *edit_open(Prompt *p);
const char *edit_next(void *edit, const char *prompt, bool *dropped);
void edit_close(void *edit);

#endif
