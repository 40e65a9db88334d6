/* tests/cuda/standin/planted.c - see planted.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planted.h"

int counts[COUNTS];
static int base[COUNTS];     /* when $EIN_STANDIN last changed */
static char last[256];       /* what it was then */

const char *injected(const char *word) {
  const char *all = getenv("EIN_STANDIN");
  if (!all) all = "";
  if (strcmp(all, last) != 0) {
    snprintf(last, sizeof last, "%s", all);
    memcpy(base, counts, sizeof base);
  }
  for (const char *at = all; (at = strstr(at, word)) != NULL; at++)
    if (at == all || at[-1] == ',') return at + strlen(word);
  return NULL;
}

void counted(Count what) {
  injected("");              /* the variable may have changed since */
  counts[what]++;
}

int is_nth(const char *word, int n) {
  const char *at = injected(word);
  return at && atoi(at) == n;
}

int is_due(const char *word, Count what) {
  const char *at = injected(word);
  return at && atoi(at) == counts[what] - base[what];
}
