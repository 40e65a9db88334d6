/* tests/harness/harness.h - what the commands that try random programs share. A command (tests/random, tests/kernel)
 * makes programs and knows what is asked of them; that is its table, a `Test`. All else is here.
 *
 *   command.c  the command: words, stretches of programs in children, what is said of a failure
 *   child.c    work in a process of its own, so that a crash is a failure like others; a failing program made small
 *   column.c   a program from its text down to C
 *   library.c  the C of several as one shared object
 *   batch.c    many programs, a batch at a time
 *   views.c    arrays between pages that cannot be touched: dense, transposed, backwards, with gaps
 *   judge.c    one program: its inputs, its runs by three contexts, what must be the same as graph_eval says
 *   chance.c   random numbers
 *   cuts.c     plans at random (cuts.h)
 *
 * A seed makes one program, and all that is done with it. Another one where another compiler built the command, as the
 * generators draw among the arguments of a call. */
#ifndef HARNESS_H
#define HARNESS_H

#include "../../compiler/ein.h"
#include "chance.h"

typedef struct Test Test;
typedef struct Work Work;

/* ---- what is found ------------------------------------------------------------------------------ */
typedef struct Judgement {
  char what[80];             /* "" if all is well; the same for failures of one kind */
  char detail[2000];
} Judgement;
bool say(Judgement *v, const char *what, const char *detail); /* false */

typedef struct Count { uint64_t runs, elements, exact, open, refused, failed, wrong, skipped; } Count;

/* ---- processes: child.c ------------------------------------------------------------------------- */
void *shared_new(size_t bytes);     /* zeros, which children see and write too */
/* work(of) in a child; *v is shared, and afterwards says so if that crashed. */
void child_run(void (*work)(void *), void *of, Judgement *v);

typedef struct Shrink {
  Work *w;
  void *program;
  uint64_t seed;
  Judgement v;               /* of the program as it is */
  int64_t until;             /* in seconds of time() */
  bool smaller;
} Shrink;
bool still(Shrink *s);              /* it fails as before; false: what was done to it is to be taken back */
void shrink(Work *w, void *program, uint64_t seed, Judgement *v);

/* ---- the command -------------------------------------------------------------------------------- */
enum { BAD_MOST = 4096 };

struct Work {                /* what was asked for, and how far it is; shared with the children */
  const Test *test;
  int n_word; char *const *word; /* the command's */
  void *own;                 /* what the test's own options say */
  uint64_t seed, count, batch, turns, shrink_for;
  bool keep_going, no_shrink, text, c;
  const char *runtime;       /* the folder of ein_run.h */
  const char *cc, *flags;    /* words with blanks between; flags: of speed, and sanitizers */
  const char *folder;        /* where files go */
  uint64_t from;             /* all before are done */
  uint64_t at;               /* at hand, and */
  const char *doing;         /*   what is done with it */
  uint64_t programs;
  uint64_t bad[BAD_MOST]; uint32_t n_bad; /* failed before they could be run: left out */
  Judgement v, tried;
  Count n;
  uint64_t tally[16];        /* counts of the test's own */
};

int command(const Test *t, void *own, int argc, char **argv);
bool number_read(const char *s, uint64_t *out);
void doing(Work *w, const char *what, uint64_t seed, unsigned seconds);

/* ---- batch.c: programs by their C ---- */
void batch(Work *w);                /* the next ones; w->v says what fails */
void by_c(Work *w, void *program, uint64_t seed, Judgement *v); /* for Test.judge */

/* ---- a program on its way: column.c, library.c --------------------------------------------------- */
typedef struct Subject {
  Work *w;
  Arena *arena;
  void *program;             /* the test's own */
  uint64_t seed;
  const char *text, *prefix;
  Front f;
  Program p;
  EinGraph *g, *low;         /* as elaborated; as it went to tasks */
  bool optimise;             /* whether all passes come between, or graph_values alone; and */
  const LoopTarget *target;  /*   what it is made for: said by Test.graph */
  Buf c;
  Judgement v;
} Subject;

/* NULL: f->diags says why. */
EinGraph *front_read(Front *f, Program *p, Arena *a, const char *name, const char *text);
void subject_start(Subject *s, Work *w, Arena *a, void *program, uint64_t seed);
bool subject_read(Subject *s, const char *text);
bool subject_rejected(Subject *s);  /* false, and v is what the front said */
/* down to C; false: v says what is wrong */
bool subject_make(Subject *s, Work *w, Arena *a, void *program, uint64_t seed);
/* One C file and one shared object, which stays open. NULL: why says what the compiler said. */
void *library_make(Subject *const *s, uint32_t n, Buf *why);
const ein_model *library_model(void *library, const Subject *s);

/* ---- arrays: views.c ------------------------------------------------------------------------------ */
/* `bytes` at `at`, at an end of what can be touched */
typedef struct Pages { char *base; size_t all; char *at; size_t bytes; } Pages;
void pages_make(Pages *p, size_t bytes, size_t alignment, bool low);
bool pages_kept(const Pages *p);    /* what lies beside is as it was */
void pages_drop(Pages *p);

typedef struct View {
  ein_tensor t;
  int64_t shape[EIN_MAX_AXES], stride[EIN_MAX_AXES];
  DType dtype;
  Pages memory;
  size_t first;              /* where the first element is */
  int64_t count;
} View;

DType dtype_from(ein_dtype t);
/* flat: an axis along which all elements are one; -1: none. */
void view_make(View *v, DType t, uint32_t rank, const int64_t *shape, bool dense, int flat, Rng *r);
void view_put(View *v, const EvalArray *x);
EvalArray view_get(const View *v, Arena *a);
bool view_kept(const View *v, Arena *a); /* bytes that are no elements are as they were */

/* ---- judging: judge.c ------------------------------------------------------------------------------ */
enum { CONTEXTS = 3, DIMS_MOST = 32, BLOCKS_MOST = 64 };

typedef struct Memory { Pages block[BLOCKS_MOST]; Rng rng; } Memory; /* what a context asked for */

typedef struct Trial {
  const char *word;
  uint32_t kind;             /* the test's own */
  int64_t dim[DIMS_MOST];    /* in the model's order, as all here */
  EvalArray *input; int *flat; bool *left_out; /* flat: an axis along which all is equal, or -1 */
  EvalArray *want;           /* eval's */
  EvalStatus status;
  const char *error;
} Trial;

typedef struct Judge {
  Subject *s;
  const ein_model *m;
  Count *n;
  Rng rng;
  void *ctx[CONTEXTS];
  Memory memory;
  Trial *t;
  EvalArray *seen[2];        /* what a run gave, with odd views and with dense ones: those are compiled apart */
} Judge;

bool subject_judge(Subject *s, const ein_model *m, Count *n);
bool trial(Judge *j, Trial *t);     /* for Test.trials */
EvalStatus trial_eval(Judge *j, const EinGraph *g, Eval *e);
/* of: whatever Test.integer and Test.real want to know; flat: percent of inputs that are equal along an axis. */
void input_fill(Judge *j, int i, const void *of, DType t, uint32_t rank, const int64_t *shape, uint32_t flat);
double largest(const EvalArray *x); /* |finite value|; 0: none */

/* ---- a test ------------------------------------------------------------------------------------------ */
struct Test {
  const char *name, *usage;  /* of the command; its own options */
  uint64_t count, batch;     /* if nobody says how many: programs; to a C file */
  int (*option)(void *own, const char *word, const char *value); /* so many words are its own: 0, 1 or 2; may be NULL */
  void *(*make)(Work *w, Arena *a, uint64_t seed);               /* a program */
  const char *(*text)(Work *w, Arena *a, void *program, uint64_t seed); /* NULL: what `graph` leaves in the subject */
  void (*shrink)(Shrink *s); /* tries all there is to try once; NULL: it cannot */
  void (*totals)(const Work *w);                                 /* NULL: those of Count */
  void (*judge)(Work *w, void *program, uint64_t seed, Judgement *v); /* one alone: by_c, and then there are */

  bool (*graph)(Subject *s); /* text, graph, and how it goes on; false: v says what is wrong */
  bool (*trials)(Judge *j);
  void (*input)(Judge *j, int i, bool planned); /* fills it, or says in left_out that it is not given */
  int64_t (*integer)(Judge *j, const void *of, DType t);
  double (*real)(Judge *j, const void *of);
  bool (*answer)(Judge *j);  /* what eval says: status, error, want */
  /* how far a float may be off; below 0: all is right */
  double (*allowed)(Judge *j, int output, const EvalArray *want);
  const EvalArray *(*other)(Judge *j, int output); /* of floats that are not finite: what is right too; may be NULL */
  bool (*after)(Judge *j, int context, View *in, View *out); /* a run; may be NULL */
  bool both;                 /* each context has dense views and odd ones; else the first alone has */
  int64_t eval_bytes; int eval_polls; /* a trial that needs more is left out; 0: no bound */
};

#endif
