/* SPDX-License-Identifier: MIT-0 */
/* libein.h - Ein as a library: whatever the command ein does, as calls.
 *
 *     ein_session *s = ein_open(NULL);
 *     ein_file x = {"x.ein", text, strlen(text)};
 *     const char *words[] = {"build", "x.ein", "--emit=c"};
 *     ein_answer *a = ein_ask(s, &x, 1, words, 3);
 *     if (a->outcome == EIN_DONE) puts(a->text);
 *     ein_answer_free(a);
 *     ein_close(s);
 *
 * Nothing here prints, ends the process, changes its signals, environment or streams, or keeps a writable global.
 * Each answer and each function owns its memory. Any number of threads may use a session at the same time.
 *
 * It reads the same environment as the command: EIN_STDLIB, EIN_MACHINE, EIN_JIT, CC, AR, PATH, TMPDIR, and
 * XDG_CACHE_HOME or HOME for the cache of compiled programs. It compiles without warnings as C99 and as C++. */
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

/* All zero, apart from `size`, selects the defaults. New fields are only ever added at the end. */
typedef struct ein_settings {
  size_t size;      /* sizeof(ein_settings) */
  const char *home; /* the folder of the program ein, next to the standard library and the runtime; NULL: where it was
                     * installed */
} ein_settings;

EIN_FACE ein_session *ein_open(const ein_settings *settings); /* NULL: no memory, or size is 0 */
EIN_FACE void ein_close(ein_session *s);                      /* after all calls; answers and functions may outlive
                                                               * it */
EIN_FACE const char *ein_version(void);                       /* "0.1.0" */

/* ---- answers --------------------------------------------------------------------------------- */

/* The command's exit codes. */
typedef enum ein_outcome {
  EIN_DONE = 0,
  EIN_WRONG_PROGRAM, /* the program, or its data, is wrong */
  EIN_WRONG_WORDS,   /* the words, or the arguments of a call, are wrong */
  EIN_WRONG_EIN,     /* a bug in Ein */
  EIN_WRONG_MACHINE  /* missing files, memory or programs */
} ein_outcome;

/* Lines and columns count from 1, columns in code points; bytes from 0, half open. */
typedef struct ein_place {
  const char *file;
  uint32_t line, column, first, end;
  const char *note; /* what is said about this place; "": nothing */
} ein_place;

typedef struct ein_complaint {
  const char *code; /* "E060", as for ein explain; "": none */
  const char *text; /* one line or more */
  int is_error;     /* else it is a warning or a remark */
  int n_places;     /* the first is the mistake's */
  const ein_place *place;
  int n_hints;
  const char *const *hint; /* what to write instead */
} ein_complaint;

typedef struct ein_answer {
  ein_outcome outcome;
  const char *text; /* the command's output, followed by a NUL */
  size_t length;
  int n_complaints;
  const ein_complaint *complaint;
  const char *message; /* all complaints as the command prints them, with lines of the program and carets; "": none */
} ein_answer;

EIN_FACE void ein_answer_free(ein_answer *a);

/* ---- commands -------------------------------------------------------------------------------- */

/* A text that replaces the file of that name in the words: a program, a graph, a plan, a machine. */
typedef struct ein_file {
  const char *name, *text;
  size_t length;
} ein_file;

/* Runs a command line, without the word `ein`; see ein help. Its standard output is the answer's text. Files named in
 * the words are read and written. Some commands:
 *
 *     check x.ein                          complaints
 *     build x.ein --emit=c                 the C; --emit=header, --emit=manifest, --emit=runtime: the files with it
 *     build x.ein --stop=task              one of the inner languages
 *     plan x.ein -n 4 --format=json        a plan
 *     graph x.ein --json, fmt x.ein, explain E060
 *
 * Commands that only make sense for a process are refused: repl, run --np, bench --peers. Never returns NULL. */
EIN_FACE ein_answer *ein_ask(
    ein_session *s, const ein_file *file, size_t n_files, const char *const *word, size_t n_words);

/* ---- functions: a program on the caller's tensors -------------------------------------------------- */

typedef struct ein_function ein_function;

/* The words are those of ein run, without inputs and outputs: {"x.ein", "--target=c", "-D", "N=4"}. On success sets
 * *out, compiled unless the target is eval; otherwise *out is NULL and the answer says why. Always returns an answer.
 * With -n 4, a program with open sizes is planned and compiled by the first call, and again by each call whose sizes
 * differ from the call before. */
EIN_FACE ein_answer *ein_function_open(
    ein_session *s, const ein_file *file, size_t n_files, const char *const *word, size_t n_words, ein_function **out);
EIN_FACE void ein_function_close(ein_function *f);
EIN_FACE const ein_argument *ein_function_inputs(const ein_function *f, int *n);
EIN_FACE const ein_argument *ein_function_outputs(const ein_function *f, int *n);
/* 1: the work of a call depends on sizes alone. 0: data may decide how many turns a loop makes or which points a
 * reduction has, or a C function of the user's is called. */
EIN_FACE int ein_function_steady(const ein_function *f);

/* One view per argument, in order. An optional input may have no data. Open sizes of the program are taken from the
 * inputs. An output without data gets a whole view in C order that is valid until the next call. Not for several
 * threads at a time. After a failure ein_function_answer gives the complaints, until the next call, and the contents
 * of outputs are undefined. */
EIN_FACE ein_outcome ein_function_call(ein_function *f, const ein_tensor *inputs, ein_tensor *outputs);
EIN_FACE const ein_answer *ein_function_answer(const ein_function *f);

/* Called by another thread: the current call, if any, ends soon, and reports that it was interrupted. */
EIN_FACE void ein_function_cancel(ein_function *f);

/* Keeps the views of the last call until ein_kept_free, even after the function is closed. NULL: there was no call,
 * or no memory. */
typedef struct ein_kept ein_kept;
EIN_FACE ein_kept *ein_function_keep(ein_function *f);
EIN_FACE void ein_kept_free(ein_kept *k);

/* ---- NumPy's equations ------------------------------------------------------------------------- */

/* The program of "ij,jk->ik", as in ein help einsum, over operands of these shapes and dtypes: the answer's text. Its
 * inputs are the operands, in order; its only output is the result. Operands and result are converted to `dtype`, as
 * in NumPy, where a sum of products of bool is `or` of `and`. With dtype -1 Ein's rules apply: sums of integers are
 * i64. Uses no data. */
EIN_FACE ein_answer *ein_einsum(ein_session *s, const char *equation, const ein_tensor *operand, size_t n, int dtype);

/* ---- the command itself ---------------------------------------------------------------------- */

/* The main function of the program ein. It assumes that the process is its own: signals, streams, environment. */
EIN_FACE int ein_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
