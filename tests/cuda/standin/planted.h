/* tests/cuda/standin/planted.h - failures that $EIN_STANDIN injects into the stand-in for the driver (libcuda.c has
 * their words), and the counts of what can fail. */
#ifndef EIN_STANDIN_PLANTED_H
#define EIN_STANDIN_PLANTED_H

typedef enum {
  ALLOCATIONS, LAUNCHES, LOADS, CAPTURES, INSTANCES, GRAPH_LAUNCHES, GRAPH_SETS, COPIES, WANTED, COUNTS
} Count;
extern int counts[COUNTS];
void counted(Count what);                     /* one more */

const char *injected(const char *word);       /* what follows it; NULL: it is not there */
int is_nth(const char *word, int n);          /* "word=N" */
int is_due(const char *word, Count what);     /* the same for what was counted since $EIN_STANDIN changed */

#endif
