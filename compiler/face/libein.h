/* SPDX-License-Identifier: MIT-0 */
/*
 * libein.h - Ein in a program of yours: whatever the command ein does, as calls.
 *
 *     ein_session *s = ein_open(NULL);
 *     ein_file x = {"x.ein", text, strlen(text)};
 *     const char *words[] = {"build", "x.ein", "--emit=c"};
 *     ein_answer *a = ein_ask(s, &x, 1, words, 3);
 *     if (a->outcome == EIN_DONE) puts(a->text);
 *     ein_answer_free(a);
 *     ein_close(s);
 *
 * Nothing here prints, ends the process, changes its signals, its environment or its streams, or keeps a writable global. Each
 * answer and each function owns its memory. Any number of threads may use a session at the same time.
 *
 * What is read of the environment is what the command reads: EIN_STDLIB, EIN_MACHINE, EIN_JIT, CC, AR, PATH, TMPDIR, and
 * XDG_CACHE_HOME or HOME for the cache of compiled programs. C99 and C++ clean.
 */
#ifndef LIBEIN_H
#define LIBEIN_H

#include "ein_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EIN_FACE __attribute__((visibility("default")))
#else
#define EIN_FACE
#endif

/* ---- a session ------------------------------------------------------------------------------- */

typedef struct ein_session ein_session;

/* All zero, apart from `size`, means: the usual. Fields are only ever added at the end. */
typedef struct ein_settings {
  size_t size;      /* sizeof(ein_settings) */
  const char *home; /* the folder of the program ein, beside which the standard library and the runtime lie; NULL: where it was installed */
} ein_settings;

EIN_FACE ein_session *ein_open(const ein_settings *settings); /* NULL: no memory, or settings of no size */
EIN_FACE void ein_close(ein_session *s);                      /* after all calls; answers and functions may outlive it */
EIN_FACE const char *ein_version(void);                       /* "0.1.0" */

/* ---- answers --------------------------------------------------------------------------------- */

/* The command's exit codes. */
typedef enum ein_outcome {
  EIN_DONE = 0,
  EIN_WRONG_PROGRAM, /* the program, or the data that it is given, is wrong */
  EIN_WRONG_WORDS,   /* so are the words, or the arguments of a call */
  EIN_WRONG_EIN,     /* a mistake of ours */
  EIN_WRONG_MACHINE  /* files, memory, programs that are not there */
} ein_outcome;

/* Lines and columns count from 1, columns in code points; bytes from 0, half open. */
typedef struct ein_place {
  const char *file;
  uint32_t line, column, first, end;
  const char *note; /* what is said of this place; "": nothing */
} ein_place;

typedef struct ein_complaint {
  const char *code; /* "E060", which ein explain knows; "": it has none */
  const char *text; /* one line, or some */
  int is_error;     /* else it is a warning, or a remark */
  int n_places;     /* the first is where the mistake is */
  const ein_place *place;
  int n_hints;
  const char *const *hint; /* what could be written instead */
} ein_complaint;

typedef struct ein_answer {
  ein_outcome outcome;
  const char *text; /* what the command prints; NUL behind it */
  size_t length;
  int n_complaints;
  const ein_complaint *complaint;
  const char *message; /* all of them, as the command writes them: with lines of the program and carets under what is meant; "": there are none */
} ein_answer;

EIN_FACE void ein_answer_free(ein_answer *a);

/* ---- commands -------------------------------------------------------------------------------- */

/* A text that stands in for the file of that name, as words name it: a program, a graph, a plan, a machine. */
typedef struct ein_file {
  const char *name, *text;
  size_t length;
} ein_file;

/* A line of the command, without `ein`, as ein help tells. What it would write to standard output is the answer's text; files that
 * words name are read and written. Some that there are:
 *
 *     check x.ein                          complaints
 *     build x.ein --emit=c                 the C; --emit=header, --emit=manifest, --emit=runtime what stands beside it
 *     build x.ein --stop=task              a language inside
 *     plan x.ein -n 4 --format=json        a plan
 *     graph x.ein --json, fmt x.ein, explain E060
 *
 * What makes sense for a process alone is not done: repl, run --np, bench --peers. Never NULL. */
EIN_FACE ein_answer *ein_ask(ein_session *s, const ein_file *file, size_t n_files, const char *const *word, size_t n_words);

/* ---- functions: a program with tensors of yours ------------------------------------------------ */

typedef struct ein_function ein_function;

/* Words are those of ein run, without inputs and outputs: {"x.ein", "--target=c", "-D", "N=4"}. Where *out is not NULL it is ready, and
 * for targets other than eval compiled; else the answer says why. The answer is there in any case. With -n 4 a program that leaves sizes
 * open is planned and compiled by the first call, and by each that has other sizes than the one before. */
EIN_FACE ein_answer *ein_function_open(ein_session *s, const ein_file *file, size_t n_files, const char *const *word, size_t n_words,
                                       ein_function **out);
EIN_FACE void ein_function_close(ein_function *f);
EIN_FACE const ein_argument *ein_function_inputs(const ein_function *f, int *n);
EIN_FACE const ein_argument *ein_function_outputs(const ein_function *f, int *n);

/* One view an argument, in that order. An input that is optional may have no data. Sizes that the program leaves open are those of the
 * inputs. An output without data gets a view, whole and in C order, that holds until the next call. One thread at a time. What goes
 * wrong is told by ein_function_answer, until the next call; outputs then hold anything. */
EIN_FACE ein_outcome ein_function_call(ein_function *f, const ein_tensor *inputs, ein_tensor *outputs);
EIN_FACE const ein_answer *ein_function_answer(const ein_function *f);

/* By another thread: the call that goes on, if one does, ends soon, and says that it was interrupted. */
EIN_FACE void ein_function_cancel(ein_function *f);

/* The views that the last call gave stay until this is freed, whatever becomes of the function. NULL: there was no call, or no memory. */
typedef struct ein_kept ein_kept;
EIN_FACE ein_kept *ein_function_keep(ein_function *f);
EIN_FACE void ein_kept_free(ein_kept *k);

/* ---- NumPy's equations ------------------------------------------------------------------------- */

/* The program of "ij,jk->ik", as ein help einsum tells, over operands of these shapes and dtypes: the answer's text. Its inputs are the
 * operands, in order; its only output is the result. Each operand is made a `dtype` first, and so is the result, as NumPy has it, where a
 * sum of products of bool is one of `and` by `or`; with dtype -1 it is as Ein has it: sums of integers are i64. No data is looked at. */
EIN_FACE ein_answer *ein_einsum(ein_session *s, const char *equation, const ein_tensor *operand, size_t n, int dtype);

/* ---- the command itself ---------------------------------------------------------------------- */

/* What the program ein is. The process is taken to be its own: signals, streams, environment. */
EIN_FACE int ein_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
