/* tests/random/emitted.h - random programs by the C that is emitted for them, against graph_eval; by ../harness.
 *
 *   emitted.c         the command, and a program's text
 *   emitted_judge.c   its trials, and what must be the same
 *   emitted_wrong.c   calls that must be refused */
#ifndef EMITTED_H
#define EMITTED_H

#include "random.h"

typedef struct Emitted {
  Made *made;
  bool small;                /* large sizes are none for it */
  bool large;                /* its sizes are no longer those that it was made for */
  bool whole;                /* no floats anywhere: right for any integers */
  Eval low; bool low_known;  /* of the trial at hand: the graph as it went to tasks, where that is asked for */
} Emitted;

/* ---- emitted_judge.c, emitted_wrong.c: for the table of the command ---- */
bool emitted_trials(Judge *j);
void emitted_input(Judge *j, int i, bool planned);
int64_t emitted_integer(Judge *j, const void *of, DType t);
double emitted_real(Judge *j, const void *of);
bool emitted_answer(Judge *j);
double emitted_allowed(Judge *j, int output, const EvalArray *want);
const EvalArray *emitted_other(Judge *j, int output);
bool emitted_after(Judge *j, int context, View *in, View *out);
/* Views that fit: from them wrong ones are made. v: the first call that did not end as it must. */
bool wrong_calls(Judge *j, View *in, View *out);

#endif
