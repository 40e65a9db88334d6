/* codegen/loop/labels.h - the label of each axis of each buffer: as declared, else as first written or read. */
#ifndef EIN_LOOP_LABELS_H
#define EIN_LOOP_LABELS_H

#include "task/task.h"

/* An axis of times * size + plus elements; the size is NULL if there is none. */
typedef struct NamedSize { Str size; int64_t times, plus; } NamedSize;

/* The labels of an input's or output's axes as a program declares them; NULL if there is none. `size`, for inputs of
 * plans with several sizes: on which of these an axis depends, if it depends on one; else NULL. The first entry of a
 * name counts. */
typedef struct NamedAxes { Str name; bool input; uint32_t rank; Str *label; NamedSize *size; } NamedAxes;
typedef VEC(NamedAxes) NamedAxesList;
/* NULL: there is no such declaration */
const NamedAxes *axes_find(const NamedAxesList *all, Str name, bool input, uint32_t rank);

/* of[buffer][axis]; NULL if unknown. */
typedef struct AxisLabels { Str **of; } AxisLabels;
AxisLabels axis_labels(Arena *a, const TaskGraph *t, const NamedAxesList *declared); /* NULL: no declarations */

#endif
