/* codegen/loop/text.h - what the texts and the checker of Loop share. */
#ifndef EIN_LOOP_TEXT_H
#define EIN_LOOP_TEXT_H

#include "loop.h"

enum { LOOP_NESTING = 1000 }; /* blocks in one another: what the text and the checker allow */

#endif
