/* codegen/loop/labels.h - the label of each axis of each buffer: as it is declared, else as it is first written or read. */
#ifndef EIN_LOOP_LABELS_H
#define EIN_LOOP_LABELS_H

#include "task/task.h"

/* The labels of an input's or output's axes as a program declares them; NULL where it has none. The first of a name counts. */
typedef struct NamedAxes { Str name; bool input; uint32_t rank; Str *label; } NamedAxes;
typedef VEC(NamedAxes) NamedAxesList;

/* of[buffer][axis]; NULL where none is known. */
typedef struct AxisLabels { Str **of; } AxisLabels;
AxisLabels axis_labels(Arena *a, const TaskGraph *t, const NamedAxesList *declared); /* NULL: nothing is declared */

#endif
