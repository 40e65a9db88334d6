/* SPDX-License-Identifier: MIT-0 */
/*
 * The command line of such a program: --help, the words, and the sizes that follow from the files that they name.
 */
#include "inside.h"

#include <errno.h>
#include <sys/stat.h>

/* ---- help ---- */

static void axis_text(const program *p, const argument *a, int k) {
  const char *label = a->axes && a->axes->label ? a->axes->label[k] : NULL;
  int dim = a->axes && a->axes->dim ? a->axes->dim[k] : -1;
  int64_t times = a->axes && a->axes->times ? a->axes->times[k] : 1,
          plus = a->axes && a->axes->plus ? a->axes->plus[k] : 0;
  printf("%s%s%s", k ? ", " : " [", label ? label : "", label && dim >= 0 ? ":" : "");
  if (dim < 0) {
    printf("%s", label ? "" : "_");
    return;
  }
  if (times != 1) printf("%lld*", (long long)times);
  printf("%s", p->model->dim[dim]);
  if (plus) printf("%+lld", (long long)plus);
}

static void argument_help(const program *p, const argument *a) {
  printf("  %-14s %s", a->about->name, ein_dtype_name(a->about->dtype));
  for (int k = 0; k < a->about->ndim; k++) axis_text(p, a, k);
  printf("%s%s%s\n", a->about->ndim ? "]" : "", a->about->param ? ", a param" : "",
         a->about->optional ? ", may be left out" : "");
}

static const char memory_help[] =
    "      --memory BYTES      take at most that much of the device, such as 24GB or 512MiB (default: what is free);\n"
    "                          tensors for which there is no room are kept on the host\n";

int ein_program_help(const program *p) {
  const ein_model *m = p->model;
  printf("usage: %s [OPTION ...] [NAME=SOURCE ...]\n\nfrom %s, by ein %s\n", p->name, m->source,
         p->version);
  if (m->n_inputs) printf("\ninputs:\n");
  for (int i = 0; i < m->n_inputs; i++) argument_help(p, &p->input[i]);
  if (m->n_outputs) printf("\noutputs:\n");
  for (int i = 0; i < m->n_outputs; i++) argument_help(p, &p->output[i]);
  if (m->n_dims) printf("\nsizes:");
  for (int i = 0; i < m->n_dims; i++) printf(" %s", m->dim[i]);
  printf("%s\noptions:\n"
         "  -D, --dim NAME=N        set the size NAME to N; input files also determine sizes\n"
         "  -o, --output NAME=FILE  write an output to a .npy, .raw or .safetensors file; all=DIR/ writes each\n"
         "                          output to DIR/NAME.npy, all=x.safetensors writes all to one file; outputs\n"
         "                          without a file are printed\n"
         "      --params FILE       read params that are not given from this .safetensors file\n"
         "      --threads N         use at most N threads (default $OMP_NUM_THREADS, or one per processor)\n"
         "%s"
         "  -h, --help              print this help\n"
         "      --version           print the version\n"
         "\n"
         "A SOURCE is a file (a.npy, a.npz:name, a.safetensors:name, a.raw) or a generator: zeros, ones, iota,\n"
         "const:2.5, uniform:seed=7, randn:seed=7, randint:lo=0:hi=9:seed=7, fill:t=3. A number means const.\n",
         m->n_dims ? "\n" : "", p->reach->device ? memory_help : "");
  return LEAVE_OK;
}

/* ---- command line ---- */

/* "X=x.npy": returns the length of the name, and sets what follows the '='; 0 if there is no name. */
static size_t name_length(const char *word, const char **rest) {
  size_t n = strcspn(word, "=/.: ");
  if (word[n] != '=') return 0;
  *rest = word + n + 1;
  return n;
}

static int is_name(const char *name, const char *word, size_t n) {
  return strlen(name) == n && memcmp(name, word, n) == 0;
}

static argument *argument_find(argument *list, int n, const char *word, size_t length) {
  for (int i = 0; i < n; i++)
    if (is_name(list[i].about->name, word, length)) return &list[i];
  return NULL;
}

static char *text_join(program *p, const char *a, size_t n, const char *b, const char *c) {
  char *out = memory(p, n + strlen(b) + strlen(c) + 1);
  memcpy(out, a, n);
  memcpy(out + n, b, strlen(b));
  memcpy(out + n + strlen(b), c, strlen(c));
  return out;
}

static int take_input(program *p, const char *word) {
  const char *spec;
  size_t n = name_length(word, &spec);
  argument *a = n ? argument_find(p->input, p->model->n_inputs, word, n) : NULL;
  if (!n) return fail(p, LEAVE_USAGE, "%s: give an input as NAME=SOURCE; see --help", word);
  if (!a) return fail(p, LEAVE_USAGE, "there is no input %.*s; see --help", (int)n, word);
  if (a->spec && strcmp(a->spec, spec) != 0)
    return fail(p, LEAVE_USAGE, "%s is given twice: %s and %s", a->about->name, a->spec, spec);
  a->spec = spec;
  return LEAVE_OK;
}

static int take_dim(program *p, const char *word) {
  const char *rest;
  size_t n = name_length(word, &rest);
  int64_t value;
  if (!n) return fail(p, LEAVE_USAGE, "-D takes NAME=N, not %s", word);
  if (ein_read_i64(rest, strlen(rest), &value) != EIN_OK || value < 0)
    return fail(p, LEAVE_USAGE, "-D %s: %s is not a size", word, rest);
  for (int i = 0; i < p->model->n_dims; i++)
    if (is_name(p->model->dim[i], word, n)) {
      if (p->dim_from[i] && p->dim[i] != value)
        return fail(p, LEAVE_USAGE, "%s is given twice: %lld and %lld", p->model->dim[i], (long long)p->dim[i],
            (long long)value);
      p->dim[i] = value;
      p->dim_from[i] = "-D";
      return LEAVE_OK;
    }
  return fail(p, LEAVE_USAGE, "there is no open size %.*s; see --help", (int)n, word);
}

static int take_file(program *p, argument *a, const char *path) {
  const char *member = strstr(path, ".safetensors:");
  target *t = memory(p, sizeof *t);
  struct stat st;
  t->output = a;
  t->file = member ? text_join(p, path, (size_t)(member - path) + 12, "", "") : path;
  t->key = member ? member + 13 : a->about->name;
  *p->last = t;
  p->last = &t->next;
  a->written = 1;
  if (stat(t->file, &st) == 0 && S_ISCHR(st.st_mode)) return LEAVE_OK; /* raw elements */
  if (ein_ends_in(t->file, ".npy") || ein_ends_in(t->file, ".raw") || ein_ends_in(t->file, ".bin") ||
      ein_ends_in(t->file, ".safetensors"))
    return LEAVE_OK;
  return fail(p, LEAVE_USAGE, "-o %s: outputs go to .npy, .raw or .safetensors", path);
}

static int take_all(program *p, const char *path) {
  size_t n = strlen(path);
  struct stat st;
  int device = stat(path, &st) == 0 && S_ISCHR(st.st_mode);
  int one = device || ein_ends_in(path, ".safetensors"), code = LEAVE_OK;
  while (n > 1 && path[n - 1] == '/') n--;
  const char *folder = text_join(p, path, n, "", "");
  if (!one && ein_takes_no_all(path))
    return fail(p, LEAVE_USAGE,
        "-o all=%s: all outputs go to a folder, all=%.*s/, or into one file, all=%.*s.safetensors", path,
        (int)n - 4, path, (int)n - 4, path);
  if (!one && mkdir(folder, 0777) != 0 && errno != EEXIST)
    return fail(p, LEAVE_MACHINE, "cannot make the folder %s", folder);
  for (int i = 0; i < p->model->n_outputs && !code; i++) {
    const char *name = p->output[i].about->name;
    const char *file = text_join(p, folder, n, "/", name);
    code = take_file(p, &p->output[i], one ? path : text_join(p, file, strlen(file), ".npy", ""));
  }
  return code;
}

static int take_output(program *p, const char *word) {
  if (!is_first(p)) return LEAVE_OK;
  const char *path = word;
  size_t n = name_length(word, &path);
  argument *a = n ? argument_find(p->output, p->model->n_outputs, word, n) : NULL;
  if (!n && p->model->n_outputs == 1) return take_file(p, &p->output[0], word);
  if (!n) return fail(p, LEAVE_USAGE, "-o %s: which output? say -o NAME=%s", word, word);
  if (a) return take_file(p, a, path);
  if (is_name("all", word, n)) return take_all(p, path);
  return fail(p, LEAVE_USAGE, "there is no output %.*s; see --help", (int)n, word);
}

static int take_threads(program *p, const char *word) {
  int64_t n;
  if (ein_read_i64(word, strlen(word), &n) != EIN_OK || n < 1 || n > 4096)
    return fail(p, LEAVE_USAGE, "--threads %s: expected a number from 1 to 4096", word);
  p->threads = (int)n;
  return LEAVE_OK;
}

static int take_memory(program *p, const char *word) {
  if (!p->reach->device) return fail(p, LEAVE_USAGE, "--memory is for programs whose kernels run on a device");
  if (ein_read_bytes(word, &p->memory) == EIN_OK) return LEAVE_OK;
  return fail(p, LEAVE_USAGE, "--memory %s: expected bytes, such as 24GB or 512MiB", word);
}

static int take_params(program *p, const char *word) {
  if (!ein_ends_in(word, ".safetensors"))
    return fail(p, LEAVE_USAGE, "--params takes a .safetensors file, not %s", word);
  p->params = word;
  return LEAVE_OK;
}

static const struct {
  const char *name;
  char letter;
  int (*take)(program *p, const char *word);
} options[] = {
    {"--dim", 'D', take_dim},
    {"--output", 'o', take_output},
    {"--threads", 0, take_threads},
    {"--params", 0, take_params},
    {"--memory", 0, take_memory},
};
enum { OPTIONS = sizeof options / sizeof *options };

/* Returns the option that a word begins with, and its argument, which may be the next word; -1: none. */
static int option_find(char **word, int *at, const char **rest) {
  const char *w = word[*at];
  for (int i = 0; i < OPTIONS; i++) {
    size_t n = strlen(options[i].name);
    int letter = options[i].letter && w[0] == '-' && w[1] == options[i].letter;
    if (!letter && (strncmp(w, options[i].name, n) != 0 || (w[n] && w[n] != '='))) continue;
    const char *here = letter ? w + 2 : w[n] ? w + n + 1 : "";
    *rest = *here ? here : word[*at + 1];
    if (!*here && *rest) ++*at;
    return i;
  }
  return -1;
}

int ein_program_words(program *p, char **word) {
  int code = LEAVE_OK;
  for (int at = 1; word[at] && !code; at++) {
    const char *w = word[at], *rest = NULL;
    int k = *w == '-' ? option_find(word, &at, &rest) : -1;
    if (*w != '-') code = take_input(p, w);
    else if (k < 0) code = fail(p, LEAVE_USAGE, "there is no option %s; see --help", w);
    else if (!rest) code = fail(p, LEAVE_USAGE, "%s needs an argument; see --help", w);
    else code = options[k].take(p, rest);
  }
  return code;
}

/* ---- sizes ---- */

static int bind_axis(program *p, const argument *a, int k) {
  int dim = a->axes && a->axes->dim ? a->axes->dim[k] : -1;
  if (dim < 0) return LEAVE_OK;
  int64_t times = a->axes->times ? a->axes->times[k] : 1,
          rest = a->info.shape[k] - (a->axes->plus ? a->axes->plus[k] : 0);
  int64_t size = rest / times;
  if (rest % times != 0 || size < 0)
    return fail(p, LEAVE_DATA, "axis %d of %s is %lld long, but input %s wants something else for each %s", k + 1,
                a->spec, (long long)a->info.shape[k], a->about->name, p->model->dim[dim]);
  if (p->dim_from[dim] && p->dim[dim] != size)
    return fail(p, LEAVE_DATA, "%s is %lld by %s, but %lld by axis %d of %s", p->model->dim[dim],
                (long long)p->dim[dim], p->dim_from[dim], (long long)size, k + 1, a->spec);
  p->dim[dim] = size;
  p->dim_from[dim] = a->spec;
  return LEAVE_OK;
}

static int bind_input(program *p, argument *a) {
  ein_error err = {EIN_OK, ""};
  ein_status status = ein_source_probe(a->spec, &a->info, &err);
  int code = LEAVE_OK;
  if (status != EIN_OK) return fail_status(p, status, "input ", a->about->name, err.text);
  if (!a->info.has_shape) return LEAVE_OK;
  if (a->info.ndim != a->about->ndim)
    return fail(p, LEAVE_DATA, "%s has %d axes, but input %s has %d", a->spec, a->info.ndim,
                a->about->name, a->about->ndim);
  for (int k = 0; k < a->info.ndim && !code; k++) code = bind_axis(p, a, k);
  return code;
}

int ein_program_bind(program *p) {
  int code = LEAVE_OK;
  for (int i = 0; i < p->model->n_inputs && !code; i++) {
    argument *a = &p->input[i];
    if (!a->spec && a->about->param && p->params)
      a->spec = text_join(p, p->params, strlen(p->params), ":", a->about->name);
    if (a->spec) code = bind_input(p, a);
    else if (!a->about->optional)
      code = fail(p, LEAVE_USAGE, "input %s is not given, and has no default; see --help", a->about->name);
  }
  for (int i = 0; i < p->model->n_dims && !code; i++)
    if (!p->dim_from[i])
      code = fail(p, LEAVE_USAGE, "no value for size %s: give -D %s=%s, or an input from a file whose shape tells it",
                  p->model->dim[i], p->model->dim[i], p->reach->wire ? "N, one that the program is built for" : "64");
  return code;
}
