/* driver/repl/line.h - the source of the prompt's lines: a terminal or a pipe, behind one interface. */
#ifndef EIN_REPL_LINE_H
#define EIN_REPL_LINE_H

#include "repl.h"

typedef struct Lines Lines;
bool lines_edited(void);     /* whether lines from a terminal can be edited */
Lines *lines_open(Prompt *p, bool terminal);
/* The next line without its end, of *n bytes, any of which may be NUL; valid until the next call. NULL: there is
 * none. *dropped: the user typed Ctrl-C instead. */
const char *lines_next(Lines *l, const char *prompt, bool *dropped, size_t *n);
void lines_close(Lines *l);

/* edit.c, if there is libedit; NULL: it does not work here. */
void *edit_open(Prompt *p);
const char *edit_next(void *edit, const char *prompt, bool *dropped);
void edit_close(void *edit);

#endif
