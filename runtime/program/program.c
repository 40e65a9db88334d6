/* SPDX-License-Identifier: MIT-0 */
/*
 * The program that `ein build x.ein -o prog` makes, around a model about which it knows nothing: a command line
 * in, as for `ein run`; files, or outputs as text, out. With several processes, each reads and writes its own
 * blocks, and the first one prints. Exit codes: 0 success, 1 invalid data, 2 invalid command line, 4 failure of
 * the machine.
 */
#include "inside.h"
#include "ein_pages.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* If processes have failed, the first of them reports why. Returns the same code at all. */
static int agreed(const program *p, int code) {
  int who = 0;
  if (!p->reach->wire) return code;
  code = p->reach->agree(p->reach->user, code, &who);
  if (code && who == p->reach->wire->site && *p->unsaid) say(p, p->unsaid);
  if (code) *p->unsaid = '\0';
  return code;
}

/* ---- running ---- */

/* As in OpenMP programs: the first number of OMP_NUM_THREADS. */
static int threads_wanted(const program *p) {
  const char *said = getenv("OMP_NUM_THREADS");
  int64_t n;
  if (p->threads || !said) return p->threads ? p->threads : p->reach->threads;
  return ein_read_i64(said, strcspn(said, ", "), &n) == EIN_OK && n > 0 && n <= 4096 ? (int)n : 0;
}

static void threads_say(const program *p, int each) {
  const ein_reach *r = p->reach;
  if (!is_first(p) || (int64_t)each * r->beside <= r->processors) return;
  fflush(stdout);
  fprintf(stderr, "%s: %d processes with %d thread%s each on %d processor%s: they will wait for each other\n", p->name,
      r->beside, each, each == 1 ? "" : "s", r->processors, r->processors == 1 ? "" : "s");
}

/* The status of a collective call. */
static int settled(const program *p, ein_status status) {
  const char *why = p->ctx ? p->model->last_error(p->ctx) : "out of memory";
  int own = status != EIN_OK && strcmp(why, EIN_ELSEWHERE) != 0;
  int code = agreed(p, own ? fail_status(p, status, "", "", why) : LEAVE_OK);
  return code || status == EIN_OK ? code : fail(p, LEAVE_MACHINE, "the processes cannot reach each other");
}

static int plan(program *p) {
  ein_config config = {0};
  config.size = sizeof config;
  config.threads = threads_wanted(p);
  threads_say(p, config.threads);
  config.wire = p->reach->wire;
  config.device_memory = p->memory;
  int code = settled(p, p->model->create(&config, &p->ctx));
  return code ? code : settled(p, p->model->plan(p->ctx, p->dim));
}

static int memory_for(const program *p, const argument *a, const int64_t *shape, int64_t *count, void **out) {
  ein_error err = {EIN_OK, ""};
  int64_t bytes = 0;
  ein_status status = ein_shape_size(a->about->name, a->about->dtype, a->about->ndim, shape, count, &bytes, &err);
  if (status != EIN_OK) return fail_status(p, status, "", "", err.text);
  *out = calloc(bytes ? (size_t)bytes : 1, 1);
  if (*out) {
    ein_pages_large(*out, (size_t)bytes);
    return LEAVE_OK;
  }
  return fail(p, LEAVE_MACHINE, "no memory for %s, of %lld bytes", a->about->name, (long long)bytes);
}

static int argument_memory(program *p, argument *a, int output, int number) {
  ein_status status = p->model->shape(p->ctx, output, number, a->shape);
  return status != EIN_OK ? fail_status(p, status, "", "", "") : memory_for(p, a, a->shape, &a->count, &a->data);
}

static int read_inputs(program *p) {
  for (int i = 0; i < p->model->n_inputs; i++) {
    argument *a = &p->input[i];
    ein_error err = {EIN_OK, ""};
    int code = a->spec ? argument_memory(p, a, 0, i) : LEAVE_OK;
    if (code) return code;
    ein_status status =
        a->spec ? ein_source_read(a->spec, a->about->dtype, a->about->ndim, a->shape, a->data, &err) : EIN_OK;
    if (status != EIN_OK) return fail_status(p, status, "input ", a->about->name, err.text);
  }
  return LEAVE_OK;
}

static ein_tensor view_of(const argument *a, void *data, const int64_t *shape) {
  ein_tensor v = {0};
  v.data = data;
  v.device_type = 1;
  v.ndim = a->about->ndim;
  v.dtype = a->about->dtype;
  v.shape = shape;
  return v;
}

static ein_tensor *views(program *p, const argument *list, int n, int blocks) {
  ein_tensor *v = memory(p, (size_t)n * sizeof *v);
  for (int i = 0; i < n; i++)
    v[i] = blocks ? view_of(&list[i], list[i].block, list[i].extent) : view_of(&list[i], list[i].data, list[i].shape);
  return v;
}

static int run_alone(program *p) {
  const ein_model *m = p->model;
  int code = read_inputs(p);
  for (int i = 0; i < m->n_outputs && !code; i++) code = argument_memory(p, &p->output[i], 1, i);
  return code ? code
              : settled(p, m->run(p->ctx, views(p, p->input, m->n_inputs, 0), views(p, p->output, m->n_outputs, 0)));
}

/* ---- running with several processes ---- */

/* Allocates memory for this process's block. */
static int block_memory(program *p, argument *a, int output, int number) {
  int64_t count;
  ein_status status = p->model->shape(p->ctx, output, number, a->shape);
  if (status == EIN_OK) status = p->model->block(p->ctx, output, number, p->reach->wire->site, a->low, a->extent);
  return status != EIN_OK ? fail_status(p, status, "", "", "") : memory_for(p, a, a->extent, &count, &a->block);
}

/* The first process verifies files with checksums; the others read their blocks meanwhile. */
static int read_blocks(program *p) {
  int code = LEAVE_OK;
  for (int i = 0; i < p->model->n_inputs && !code; i++) {
    argument *a = &p->input[i];
    ein_error err = {EIN_OK, ""};
    if (!a->spec) continue; /* each process computes its own block of a default */
    code = block_memory(p, a, 0, i);
    if (code) return code;
    ein_status status = is_first(p) ? ein_source_check(a->spec, &err) : EIN_OK;
    if (status == EIN_OK)
      status = ein_source_block(a->spec, a->about->dtype, a->about->ndim, a->shape, a->low, a->extent, a->block, &err);
    if (status != EIN_OK) code = fail_status(p, status, "input ", a->about->name, err.text);
  }
  return code;
}

/* An output that the first process shows, or writes to a device file, is gathered there. */
static int collect(program *p, int number, int wanted) {
  argument *a = &p->output[number];
  int code = agreed(p, wanted && is_first(p) ? argument_memory(p, a, 1, number) : LEAVE_OK);
  if (code || !wanted) return code;
  const ein_tensor block = view_of(a, a->block, a->extent), whole = view_of(a, a->data, a->shape);
  return settled(p, p->model->collect(p->ctx, number, &block, is_first(p) ? &whole : NULL));
}

static int run_among(program *p) {
  const ein_model *m = p->model;
  int code = read_blocks(p);
  for (int i = 0; i < m->n_outputs && !code; i++) code = block_memory(p, &p->output[i], 1, i);
  code = agreed(p, code);
  return code
      ? code
      : settled(p, m->run_blocks(p->ctx, views(p, p->input, m->n_inputs, 1), views(p, p->output, m->n_outputs, 1)));
}

static int run(program *p) {
  int code = plan(p);
  return code ? code : p->reach->wire ? run_among(p) : run_alone(p);
}

/* ---- files ---- */

/* Writes all targets with the same .safetensors file as this one, which is the first of them. */
static int write_together(program *p, const target *first) {
  ein_tensor *view = views(p, p->output, p->model->n_outputs, 0);
  size_t n = 0;
  ein_error err = {EIN_OK, ""};
  for (const target *t = first; t; t = t->next) n++;
  ein_named_tensor *list = memory(p, n * sizeof *list);
  n = 0;
  for (const target *t = first; t; t = t->next) {
    if (strcmp(t->file, first->file) != 0) continue;
    list[n].name = t->key;
    list[n++].tensor = view[t->output - p->output];
  }
  ein_status status = ein_safetensors_write(first->file, n, list, &err);
  return status == EIN_OK ? LEAVE_OK : fail_status(p, status, "output ", first->output->about->name, err.text);
}

static int write_one(program *p, const target *t) {
  const argument *a = t->output;
  ein_error err = {EIN_OK, ""};
  for (const target *x = p->first; x != t && ein_ends_in(t->file, ".safetensors"); x = x->next)
    if (strcmp(x->file, t->file) == 0) return LEAVE_OK; /* written together with that one */
  if (ein_ends_in(t->file, ".safetensors")) return write_together(p, t);
  ein_status status = ein_ends_in(t->file, ".npy")
                          ? ein_npy_write(t->file, a->about->dtype, a->about->ndim, a->shape, a->data, &err)
                          : ein_raw_write(t->file, a->about->dtype, a->about->ndim, a->shape, a->data, &err);
  return status == EIN_OK ? LEAVE_OK : fail_status(p, status, "output ", a->about->name, err.text);
}

/* Checks that no two outputs go to the same place. */
static int files_apart(program *p) {
  for (const target *a = p->first; a; a = a->next)
    for (const target *b = p->first; b != a; b = b->next) {
      struct stat st;
      if (strcmp(a->file, b->file) == 0 && (stat(a->file, &st) != 0 || !S_ISCHR(st.st_mode)) &&
          (!ein_ends_in(a->file, ".safetensors") || strcmp(a->key, b->key) == 0))
        return fail(p, LEAVE_USAGE, "-o: %s and %s would go to the same place, %s", b->output->about->name,
                    a->output->about->name, a->file);
    }
  return LEAVE_OK;
}

/* ---- files written by several processes ---- */

static int is_device(const target *t) {
  struct stat st;
  return stat(t->file, &st) == 0 && S_ISCHR(st.st_mode);
}

/* What all processes are told about a tensor in a file. */
typedef struct share {
  char name[4096]; /* the file's temporary name, */
  char said[256];  /*   and its name in messages */
  uint64_t at;
  int32_t output, file_dtype;
} share;

typedef struct shared_files {
  ein_joint **file;
  size_t n_files;
  share *part;
  int64_t n_parts;
} shared_files;

static int begun(const program *p, const target *t) {
  for (const target *x = p->first; x != t; x = x->next)
    if (strcmp(x->file, t->file) == 0) return 1;
  return 0;
}

/* Begins the file of a target that is the first for that file, with all its tensors. */
static int file_begin(program *p, shared_files *s, const target *t) {
  size_t n = 0;
  ein_error err = {EIN_OK, ""};
  for (const target *x = t; x; x = x->next) n += strcmp(x->file, t->file) == 0;
  ein_named_tensor *list = memory(p, n * sizeof *list);
  uint64_t *at = memory(p, n * sizeof *at);
  n = 0;
  for (const target *x = t; x; x = x->next) {
    if (strcmp(x->file, t->file) != 0) continue;
    list[n].name = x->key;
    list[n++].tensor = view_of(x->output, NULL, x->output->shape);
  }
  ein_status status = ein_joint_begin(t->file, n, list, &s->file[s->n_files], at, &err);
  if (status != EIN_OK) return fail_status(p, status, "output ", t->output->about->name, err.text);
  const char *name = ein_joint_name(s->file[s->n_files++]);
  if (strlen(name) >= sizeof s->part->name) return fail(p, LEAVE_MACHINE, "the name of %s is too long", t->file);
  n = 0;
  for (const target *x = t; x; x = x->next) {
    if (strcmp(x->file, t->file) != 0) continue;
    share *one = &s->part[s->n_parts++];
    strcpy(one->name, name);
    snprintf(one->said, sizeof one->said, "%s", ein_short_name(t->file));
    one->at = at[n++];
    one->output = (int32_t)(x->output - p->output);
    one->file_dtype = (int32_t)ein_joint_dtype(t->file, x->output->about->dtype);
  }
  return LEAVE_OK;
}

static int files_begin(program *p, shared_files *s) {
  size_t n = 0;
  int code = LEAVE_OK;
  for (const target *t = p->first; t; t = t->next) n++;
  s->file = memory(p, n * sizeof *s->file);
  s->part = memory(p, n * sizeof *s->part);
  for (const target *t = p->first; t && !code; t = t->next)
    if (!is_device(t) && !begun(p, t)) code = file_begin(p, s, t);
  return code;
}

/* Broadcasts what the first process has. */
static int tell(program *p, void *bytes, size_t n) {
  const ein_wire *w = p->reach->wire;
  ein_parcel own = {0, bytes, n}, *send = memory(p, (size_t)w->sites * sizeof *send);
  for (int i = 1; i < w->sites; i++) send[i].peer = i, send[i].data = bytes, send[i].bytes = n;
  ein_status status = w->exchange(w->user, w->site || !n ? 0 : w->sites - 1, send + 1, w->site && n, &own);
  if (w->agree(w->user, status) == EIN_OK) return LEAVE_OK;
  return fail(p, LEAVE_MACHINE, "the processes cannot reach each other");
}

/* Whether this process writes its block: the first of those with the same block does. */
static int writes(const program *p, int output) {
  int64_t low[EIN_MAX_AXES], extent[EIN_MAX_AXES];
  const argument *a = &p->output[output];
  const size_t n = (size_t)a->about->ndim * sizeof *low;
  for (int site = 0; site < p->reach->wire->site; site++)
    if (p->model->block(p->ctx, 1, output, site, low, extent) == EIN_OK &&
        (!n || (memcmp(low, a->low, n) == 0 && memcmp(extent, a->extent, n) == 0)))
      return 0;
  return 1;
}

static int part_write(const program *p, const share *s) {
  const argument *a = &p->output[s->output];
  ein_error err = {EIN_OK, ""};
  const ein_block block = {
      a->about->dtype, (ein_dtype)s->file_dtype, a->about->ndim, a->shape, a->low, a->extent, a->block};
  if (!writes(p, s->output)) return LEAVE_OK;
  ein_status status = ein_joint_write(s->name, s->said, s->at, &block, &err);
  return status == EIN_OK ? LEAVE_OK : fail_status(p, status, "output ", a->about->name, err.text);
}

/* Completes all files, or none. */
static int write_among(program *p) {
  shared_files s = {0};
  int code = agreed(p, is_first(p) ? files_begin(p, &s) : LEAVE_OK);
  if (!code) code = tell(p, &s.n_parts, sizeof s.n_parts);
  if (!code && !is_first(p)) s.part = memory(p, (size_t)s.n_parts * sizeof *s.part);
  if (!code) code = tell(p, s.part, (size_t)s.n_parts * sizeof *s.part);
  int mine = code;
  for (int64_t i = 0; i < s.n_parts && !mine; i++) mine = part_write(p, &s.part[i]);
  if (!code) code = agreed(p, mine);
  for (size_t i = 0; i < s.n_files; i++) {
    ein_error err = {EIN_OK, ""};
    ein_status status = ein_joint_end(s.file[i], code ? EIN_ERR_IO : EIN_OK, &err);
    if (!code && status != EIN_OK) code = fail_status(p, status, "", "", err.text);
  }
  return code;
}

/* ---- the program ---- */

static argument *arguments(program *p, const ein_argument *about, const ein_axes *axes, int n) {
  argument *list = memory(p, (size_t)n * sizeof *list);
  for (int i = 0; i < n; i++) {
    list[i].about = &about[i];
    list[i].axes = axes ? &axes[i] : NULL;
  }
  return list;
}

static void print(void *to, const char *text) {
  fputs(text, to);
}

static void show(const argument *a) {
  const ein_shown x = {a->about->name, a->about->dtype, a->about->ndim, a->axes ? a->axes->label : NULL, a->shape,
      a->count, a->data, NULL};
  ein_show(&x, print, stdout);
}

static int leave_alone(program *p) {
  int code = LEAVE_OK;
  for (const target *t = p->first; t && !code; t = t->next) code = write_one(p, t);
  for (int i = 0; i < p->model->n_outputs && !code; i++)
    if (!p->output[i].written) show(&p->output[i]);
  return code;
}

/* By output: bit 0: the first process shows it; bit 1: it writes it to a device file. */
static unsigned char *collected(program *p) {
  unsigned char *how = memory(p, (size_t)p->model->n_outputs);
  for (int i = 0; i < p->model->n_outputs; i++) how[i] = !p->output[i].written;
  for (const target *t = p->first; t; t = t->next)
    if (is_device(t)) how[t->output - p->output] |= 2;
  return how;
}

static int leave_among(program *p) {
  unsigned char *how = collected(p);
  int code = tell(p, how, (size_t)p->model->n_outputs);
  for (int i = 0; i < p->model->n_outputs && !code; i++) code = collect(p, i, how[i]);
  if (!code) code = write_among(p);
  if (!is_first(p)) return code;
  for (const target *t = p->first; t && !code; t = t->next)
    if (is_device(t)) code = write_one(p, t);
  for (int i = 0; i < p->model->n_outputs && !code; i++)
    if (how[i] & 1) show(&p->output[i]);
  return code;
}

static int has_word(char **word, const char *a, const char *b) {
  for (int i = 1; word[i]; i++)
    if (strcmp(word[i], a) == 0 || strcmp(word[i], b) == 0) return 1;
  return 0;
}

static int prepare(program *p, char **word) {
  int code = ein_program_words(p, word);
  if (!code && is_first(p)) code = files_apart(p);
  return code ? code : ein_program_bind(p);
}

static int work(program *p, char **word) {
  int first = is_first(p);
  if (has_word(word, "--help", "-h")) return first ? ein_program_help(p) : LEAVE_OK;
  if (has_word(word, "--version", "--version")) {
    if (first) printf("%s, by ein %s\n", p->model->source, p->version);
    return LEAVE_OK;
  }
  int code = agreed(p, prepare(p, word));
  if (!code) code = run(p);
  return code ? code : p->reach->wire ? agreed(p, leave_among(p)) : leave_alone(p);
}

static void leave_memory(program *p) {
  if (p->ctx) p->model->destroy(p->ctx);
  for (int i = 0; i < p->model->n_inputs; i++) free(p->input[i].data), free(p->input[i].block);
  for (int i = 0; i < p->model->n_outputs; i++) free(p->output[i].data), free(p->output[i].block);
  for (piece *one = p->pieces, *next; one; one = next) {
    next = one->next;
    free(one);
  }
}

int ein_program(const ein_model *model, const char *version, int device, int argc, char **word) {
  const ein_reach alone = {NULL, NULL, NULL, 0, 0, 0, device};
  return ein_program_among(model, version, &alone, argc, word);
}

/* Whether standard output is a pipe whose reader has gone; that is not an error. */
static int reader_left(void) {
  struct pollfd out;
  out.fd = STDOUT_FILENO;
  out.events = POLLOUT;
  out.revents = 0;
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int ein_program_among(const ein_model *model, const char *version, const ein_reach *reach, int argc, char **word) {
  char unsaid[COMPLAINT] = "";
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like a full disk */
#endif
  program p = {.model = model, .version = version, .reach = reach, .unsaid = unsaid, .name = "program"};
  p.last = &p.first;
  const char *slash = argc > 0 && word[0] ? strrchr(word[0], '/') : NULL;
  if (argc > 0 && word[0]) p.name = slash ? slash + 1 : word[0];
  p.input = arguments(&p, p.model->input, p.model->input_axes, p.model->n_inputs);
  p.output = arguments(&p, p.model->output, p.model->output_axes, p.model->n_outputs);
  p.dim = memory(&p, (size_t)p.model->n_dims * sizeof *p.dim);
  p.dim_from = memory(&p, (size_t)p.model->n_dims * sizeof *p.dim_from);
  int code = argc > 0 ? work(&p, word) : LEAVE_USAGE;
  if ((fflush(stdout) != 0 || ferror(stdout)) && !reader_left())
    code = fail(&p, LEAVE_MACHINE, "cannot write to standard output");
  leave_memory(&p);
  return code;
}
