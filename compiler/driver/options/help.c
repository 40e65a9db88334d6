/* driver/options/help.c - prints options.def as text: `ein --help`, `ein help CMD`, the man page. */
#include <string.h>

#include "driver/driver.h"

enum { COLUMN = 26, WIDTH = 96 };

/* Wraps words at WIDTH, and indents each line after the first. */
static void wrapped(Buf *b, const char *text, size_t at) {
  size_t column = at;
  for (const char *w = text; *w;) {
    size_t n = strcspn(w, " ");
    if (column > at && column + 1 + n > WIDTH) {
      buf_printf(b, "\n%*s", (int)at, "");
      column = at;
    } else if (column > at) {
      buf_char(b, ' ');
      column++;
    }
    buf_add(b, w, n);
    column += n;
    w += n + strspn(w + n, " ");
  }
  buf_char(b, '\n');
}

static void two_columns(Buf *b, const char *left, const char *right) {
  size_t n = strlen(left);
  buf_printf(b, "  %s", left);
  if (n + 3 > COLUMN)
    buf_printf(b, "\n%*s", COLUMN, "");
  else
    buf_printf(b, "%*s", (int)(COLUMN - 2 - n), "");
  wrapped(b, right, COLUMN);
}

/* "-D, --dim NAME=N" */
static const char *option_spelled(Arena *a, const OptionInfo *i) {
  const char *letter = i->letter ? arena_printf(a, "-%c, ", i->letter) : "    ";
  if (!i->argument) return arena_printf(a, "%s--%s", letter, i->name);
  return arena_printf(a, "%s--%s %s", letter, i->name, i->argument);
}

static const char *option_meaning(Arena *a, const OptionInfo *i) {
  if (!i->choices) return i->help;
  Buf b = buf_new(a);
  buf_printf(&b, "%s (", i->help);
  for (const char *c = i->choices; *c; c++) *c == '|' ? buf_str(&b, ", ") : buf_char(&b, *c);
  buf_char(&b, ')');
  return b.s;
}

static void option_lines(Buf *b, unsigned in) {
  for (OptionId o = 0; o < OPTIONS; o++) {
    OptionInfo i = option_there(o, in);
    if (i.in & in) two_columns(b, option_spelled(b->arena, &i), option_meaning(b->arena, &i));
  }
}

void help_all(Buf *b) {
  buf_str(
      b, "ein, a compiler for extended Einstein notation\n\nusage: ein COMMAND ...\n\ncommands:\n");
  for (CommandId c = 0; c < COMMANDS; c++) two_columns(b, commands[c].name, commands[c].summary);
  buf_str(b, "\noptions:\n");
  option_lines(b, OPTION_TOP);
  buf_str(b, "\nein help COMMAND describes a command and its options.\n");
}

static void usage_line(Buf *b, CommandId c) {
  const CommandInfo *i = &commands[c];
  buf_printf(b, "ein %s [OPTION ...]%s%s", i->name, *i->operands ? " " : "", i->operands);
}

void help_command(Buf *b, CommandId c) {
  const CommandInfo *i = &commands[c];
  buf_printf(b, "ein %s: %s\n\nusage: ", i->name, i->summary);
  usage_line(b, c);
  buf_str(b, "\n\n");
  if (*i->text) buf_printf(b, "%s\n", i->text);
  buf_str(b, "options:\n");
  option_lines(b, 1u << c);
}

/* ---- the man page --------------------------------------------------------------------------- */

/* Escapes text for roff: no line begins with a control character, `-` is a minus, indented lines are literal. */
static void roff(Buf *b, const char *text) {
  bool start = true, verbatim = false;
  for (const char *c = text; *c; c++) {
    if (start) {
      bool indented = strncmp(c, "    ", 4) == 0;
      if (indented != verbatim) buf_str(b, indented ? ".nf\n" : ".fi\n");
      verbatim = indented;
      if (*c == '\n') {
        buf_str(b, ".PP\n");
        continue;
      }
      if (*c == '.' || *c == '\'') buf_str(b, "\\&");
    }
    if (*c == '-' || *c == '\\')
      buf_str(b, *c == '-' ? "\\-" : "\\e");
    else
      buf_char(b, *c);
    start = *c == '\n';
  }
  if (!start) buf_char(b, '\n');
  if (verbatim) buf_str(b, ".fi\n");
}

static bool for_every_command(OptionId o) {
  unsigned all = (1u << COMMANDS) - 1;
  return (options[o].in & all) == all;
}

static void roff_option(Buf *b, OptionId o, unsigned in) {
  OptionInfo i = option_there(o, in);
  const char *spelled = option_spelled(b->arena, &i);
  buf_str(b, ".TP\n");
  roff(b, spelled + strspn(spelled, " "));
  roff(b, option_meaning(b->arena, &i));
}

/* Options of all commands are printed once, further below. */
static void roff_command(Buf *b, CommandId c) {
  Buf usage = buf_new(b->arena);
  usage_line(&usage, c);
  buf_str(b, ".SS ");
  roff(b, usage.s);
  roff(b, arena_printf(b->arena, "%c%s.", commands[c].summary[0] - 'a' + 'A',
                       commands[c].summary + 1));
  if (*commands[c].text) {
    buf_str(b, ".PP\n");
    roff(b, commands[c].text);
  }
  for (OptionId o = 0; o < OPTIONS; o++)
    if ((options[o].in & 1u << c) && !for_every_command(o)) roff_option(b, o, 1u << c);
}

static const char man_tail[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\nsuccess\n"
    ".TP\n1\nthe program, or the data given to it, is wrong\n"
    ".TP\n2\nthe command line is wrong\n"
    ".TP\n3\na bug in ein\n"
    ".TP\n4\nthe machine failed: a file, memory, or another program\n"
    ".SH ENVIRONMENT\n"
    ".TP\nEIN_STDLIB\nthe folder of the standard library; default: the one beside the program\n"
    ".TP\nEIN_BENCH\nthe folder of the benchmark that compares ein with other libraries; default: the one beside the "
    "program\n"
    ".TP\nEIN_MACHINE\na machine file, for commands that take \\-\\-machine, if that option is not given\n"
    ".TP\nEIN_TARGET\nthe target of ein run, ein einsum and ein repl if \\-\\-target is not given, except for the "
    "processes of an MPI launcher\n"
    ".TP\nEIN_HISTORY\nthe file in which ein repl keeps the lines that you type; empty: none; default "
    "$XDG_STATE_HOME/ein/history or ~/.local/state/ein/history\n"
    ".TP\nEIN_JIT\nif off, ein does not compile with Clang in its own process; the default target is then c\n"
    ".TP\nCC, AR\nthe C compiler, with any arguments that belong to it, and the archiver\n"
    ".TP\nMPICC\nthe compiler wrapper for \\-\\-target=mpi; default mpicc\n"
    ".TP\nCUDA_HOME\nthe folder of the CUDA toolkit: ein looks for NVRTC and cuBLAS on the loader's path, then in "
    "lib64 of this folder, then in /usr/local/cuda/lib64\n"
    ".TP\nEIN_NCCL\nif off, moves between devices go over the host's memory and MPI, instead of by NCCL\n"
    ".TP\nEIN_CUBLAS\nif off, ein's own kernels compute all matrix products on a device, instead of cuBLAS\n"
    ".TP\nEIN_CUDA_GRAPHS\nif off, kernels are launched one by one, and not as CUDA graphs\n"
    ".TP\nNVTX_INJECTION64_PATH\n"
    "a profiler's library, set by the profiler: it is told a range for each step on a device\n"
    ".TP\nTMPDIR\nthe folder for temporary files, if it is an absolute path; default /tmp\n"
    ".TP\nXDG_CACHE_HOME\ncompiled programs are cached here, in a folder ein; default ~/.cache\n"
    ".TP\nOMP_NUM_THREADS, OMP_WAIT_POLICY\n"
    "how many threads compiled code uses, and how they wait; ein run and ein verify set\n"
    "OMP_WAIT_POLICY to passive (threads sleep) unless it is set\n"
    ".TP\nNO_COLOR\nif set and not empty, messages are printed without colour\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "ein run attention.ein \\-D S=4096 Q=q.npy K=k.npy V=v.npy \\-o Y=y.npy\n"
    "ein einsum \"ij,jk\\->ik\" A=a.npy B=b.npy\n"
    "ein build attention.ein \\-o attention\n"
    "ein build attention.ein \\-\\-lib \\-o lib/\n"
    "ein graph attention.ein \\-\\-svg \\-o attention.svg\n"
    ".fi\n";

void help_man(Buf *b) {
  buf_str(b, ".TH EIN 1 \"\" \"ein " EIN_VERSION "\" \"User Commands\"\n"
             ".SH NAME\nein \\- a compiler for extended Einstein notation\n"
             ".SH SYNOPSIS\n.B ein\nCOMMAND ...\n"
             ".SH COMMANDS\n");
  for (CommandId c = 0; c < COMMANDS; c++) roff_command(b, c);
  buf_str(b, ".SH OPTIONS OF EVERY COMMAND\n");
  for (OptionId o = 0; o < OPTIONS; o++)
    if (for_every_command(o)) roff_option(b, o, OPTION_TOP);
  buf_str(b, ".SH OPTIONS WITHOUT A COMMAND\n");
  for (OptionId o = 0; o < OPTIONS; o++)
    if (options[o].in & OPTION_TOP && !for_every_command(o)) roff_option(b, o, OPTION_TOP);
  buf_str(b, man_tail);
}
