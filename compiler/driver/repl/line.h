/* driver/repl/line.h - where the prompt's lines come from: a terminal or a pipe, behind one interface. */
#ifndef EIN_REPL_LINE_H
#define EIN_REPL_LINE_H

#include "repl.h"

typedef struct Lines Lines;
Lines *lines_open(Prompt *p, bool terminal);
/* The next line without its end, whose memory is good up to the next call; NULL: there is none. */
const char *lines_next(Lines *l, const char *prompt);
void lines_close(Lines *l);

#endif
