/* expr/prove/fm.h - small systems of linear inequalities over the integers, by Fourier-Motzkin elimination. Each row
 * is divided by the gcd of its coefficients, and its constant rounded down. A system is a plain value: copy it with
 * fm_copy. Rows and numbers that do not fit are left out, and `lossy` is set. So `none` is always true of the
 * integers, but its absence does not prove that there is a point. */
#ifndef EIN_FM_H
#define EIN_FM_H

#include "base/base.h"

enum { FM_VARS = 40, FM_ROWS = 64, FM_PAST = 256 };

typedef struct FmRow { /* c[0]*x0 + c[1]*x1 + ... + k >= 0 */
  int64_t k;
  uint32_t tag;        /* a set of bits that its ancestors had */
  int64_t c[FM_VARS];
} FmRow;

typedef struct Fm {
  uint32_t n_var, n;
  bool none;  /* no integer point */
  bool lossy; /* rows were left out */
  bool exact; /* so far each elimination kept exactly the shadow of the integer points */
  bool dark;  /* keep too little rather than too much: what is left surely is a shadow of integer points */
  FmRow row[FM_ROWS];
} Fm;

/* The intermediate rows, for finding a point. */
typedef struct FmPast {
  uint32_t n_row, n_step;
  struct { uint32_t var, from, to; } step[FM_VARS];
  FmRow row[FM_PAST];
} FmPast;

void fm_new(Fm *s, uint32_t n_var);
void fm_copy(Fm *to, const Fm *s);
void fm_row(FmRow *r, uint32_t n_var); /* 0 >= 0 */
void fm_add(Fm *s, const FmRow *r);
void fm_eliminate_all(Fm *s, const bool *gone, FmPast *past); /* gone NULL: every variable */
bool fm_none(const Fm *s); /* no integer point satisfies it (s does not change) */
bool fm_implies(const Fm *s, const FmRow *r);
/* Values of all variables, near zero, from the past of a full elimination. Returns false if none is found. */
bool fm_point(const FmPast *past, uint32_t n_var, int64_t *x);

#endif
