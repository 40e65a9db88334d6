/* codegen/loop/labels.h - the label of each axis of each buffer: as it is declared, else as it is first written or read. */
#ifndef EIN_LOOP_LABELS_H
#define EIN_LOOP_LABELS_H

#include "task/task.h"

/* The labels of an input's or output's axes as a program declares them, and of an input's axes the sizes that stand alone there; NULL where it has none.
 * The first of a name counts. */
typedef struct NamedAxes { Str name; bool input; uint32_t rank; Str *label, *size; } NamedAxes;
typedef VEC(NamedAxes) NamedAxesList;
const NamedAxes *axes_find(const NamedAxesList *all, Str name, bool input, uint32_t rank); /* NULL: none is declared so */

/* of[buffer][axis]; NULL where none is known. */
typedef struct AxisLabels { Str **of; } AxisLabels;
AxisLabels axis_labels(Arena *a, const TaskGraph *t, const NamedAxesList *declared); /* NULL: nothing is declared */

#endif
