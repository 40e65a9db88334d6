/* tests/random/emitted.h - random programs by the C that is emitted for them, against graph_eval.
 *
 *   emitted.c         the command: programs go in batches, one C file and one shared object each
 *   emitted_make.c    a program: text, graph, tasks, loops, C; and the shared object of several
 *   emitted_judge.c   one program: its trials, each run by several contexts, and what must be the same
 *   emitted_view.c    arrays as views: dense, transposed, backwards, with gaps
 *   emitted_wrong.c   calls that must be refused */
#ifndef EMITTED_H
#define EMITTED_H

#include "random.h"
#include "../../codegen/loop.h"

typedef struct How {
  const char *runtime;       /* the folder of ein_run.h */
  const char *cc, *flags;    /* words with blanks between; flags: of speed, and sanitizers */
  const char *folder;        /* where files go; removed in the end by who made it */
  int optimise;              /* graph_optimise: 0 never, 1 always, -1 for every second seed */
  int64_t until;             /* in seconds of time(): after that judge_make finds nothing; 0: no end */
} How;

typedef struct Count { uint64_t runs, elements, failed, refused, skipped, symbolic; } Count;

/* ---- emitted_make.c ---- */
typedef struct Subject {     /* a program on its way */
  Arena *arena;
  const Made *made;
  uint64_t seed;
  const char *text, *prefix;
  Front f;
  Program p;
  EinGraph *g, *low;         /* as elaborated; as it went to tasks */
  bool open;                 /* with symbolic sizes */
  bool large;                /* its sizes are no longer those that it was made for */
  bool whole;                /* no floats anywhere: right for any integers */
  Buf c;
  Judgement v;
} Subject;

bool say(Judgement *v, const char *what, const char *detail); /* false */
/* Text and graph. False: v says what is wrong. */
bool subject_read(Subject *s, Arena *a, const Made *m, uint64_t seed);
/* Text, graph, ... , C. False: v says what is wrong. */
bool subject_make(Subject *s, Arena *a, const Made *m, uint64_t seed, const How *how);
/* One C file and one shared object. NULL: why says what the compiler said. It stays open. */
void *library_make(Subject *const *s, uint32_t n, const How *how, Buf *why);
const ein_model *library_model(void *library, const Subject *s);

/* ---- emitted_view.c ---- */
typedef struct View {
  ein_tensor t;
  int64_t shape[EIN_MAX_AXES], stride[EIN_MAX_AXES];
  DType dtype;
  char *memory;
  size_t bytes;              /* exactly what the elements reach over */
  size_t first;              /* where the first element is */
  int64_t count;
} View;

extern const ein_dtype ein_of_dtype[DTYPES];
/* Memory is malloc's, and filled with 0xA5. flat: an axis along which all elements are one; -1: none. */
void view_make(View *v, DType t, uint32_t rank, const int64_t *shape, bool dense, int flat, Rng *r);
void view_drop(View *v);
void view_put(View *v, const EvalArray *x);
EvalArray view_get(const View *v, Arena *a);
bool view_gaps_kept(const View *v, Arena *a); /* the bytes between elements are still 0xA5 */

/* ---- emitted_judge.c, emitted_wrong.c ---- */
bool subject_judge(Subject *s, const ein_model *m, Count *n);
/* Views that fit: from them wrong ones are made. what: the first call that did not end as it must. */
bool wrong_calls(Subject *s, const ein_model *m, const int64_t *dims, View *in, View *out, Rng *r, Count *n);

#endif
