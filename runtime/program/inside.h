/* SPDX-License-Identifier: MIT-0 */
/*
 * What the files of such a program share: the program as it runs, its messages and exit codes. A program may call C
 * functions of any name, so functions here are static, or have names of ours.
 */
#ifndef EIN_PROGRAM_INSIDE_H
#define EIN_PROGRAM_INSIDE_H

#include "data/bytes.h"
#include "data/number.h"
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVE_OK = 0, LEAVE_DATA = 1, LEAVE_USAGE = 2, LEAVE_MACHINE = 4 };

typedef struct argument {
  const ein_argument *about;
  const ein_axes *axes;
  const char *spec; /* an input's source; NULL: none */
  int written;      /* an output is written to a file */
  ein_source_info info;
  int64_t shape[EIN_MAX_AXES];
  int64_t count;
  void *data;
  /* With several processes: this process's block. If the output is shown, `data` is the whole at the first
   * process. */
  int64_t low[EIN_MAX_AXES], extent[EIN_MAX_AXES];
  void *block;
} argument;

/* The destination of an output. */
typedef struct target {
  argument *output;
  const char *file, *key; /* key: its name in a .safetensors file */
  struct target *next;
} target;

typedef struct piece { /* a piece of memory, freed at the end */
  struct piece *next;
  double data[]; /* aligned for everything stored here */
} piece;

typedef struct program {
  const ein_model *model;
  const char *version;
  const ein_reach *reach;
  char *unsaid; /* an error that a process other than the first has met */
  const char *name; /* as it was called */
  argument *input, *output;
  target *first, **last;
  piece *pieces;
  int64_t *dim;
  const char **dim_from; /* by size: where its value comes from; NULL: not known yet */
  const char *params;
  int threads;
  uint64_t memory; /* the most bytes of the device; 0: what is free */
  void *ctx;
} program;

/* words.c: what --help prints; what the command line says; and, from the files that it names, the sizes. They return
 * an exit code. */
int ein_program_help(const program *p);
int ein_program_words(program *p, char **word);
int ein_program_bind(program *p);

/* ---- errors ---- */

enum { COMPLAINT = 2048 };

static int is_first(const program *p) {
  return !p->reach->wire || p->reach->wire->site == 0;
}

static void say(const program *p, const char *text) {
  fflush(stdout);
  fprintf(stderr, "%s: error: %s\n", p->name, text);
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int
fail(const program *p, int code, const char *format, ...) {
  char text[COMPLAINT];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
  if (is_first(p)) say(p, text);
  else memcpy(p->unsaid, text, sizeof text);
  return code;
}

static int leave_of(ein_status status) {
  switch (status) {
  case EIN_OK: return LEAVE_OK;
  case EIN_ERR_IO:
  case EIN_ERR_MEMORY: return LEAVE_MACHINE;
  case EIN_ERR_ARG: return LEAVE_USAGE;
  default: return LEAVE_DATA;
  }
}

static int fail_status(const program *p, ein_status status, const char *what, const char *name,
                       const char *why) {
  return fail(p, leave_of(status), "%s%s%s%s", what, name, *what ? ": " : "", why);
}

/* ---- memory, freed at the end ---- */

static void *memory(program *p, size_t bytes) {
  piece *one = calloc(1, sizeof *one + bytes);
  if (!one) {
    say(p, "out of memory");
    exit(LEAVE_MACHINE);
  }
  one->next = p->pieces;
  p->pieces = one;
  return one->data;
}

#endif
