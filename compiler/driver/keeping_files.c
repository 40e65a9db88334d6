/* driver/keeping_files.c - checkpoints in their folder (keeping.h). Each is written under a temporary name, synced
 * to disk, and renamed; then the folder is synced. Whenever the run or the machine is killed, the newest checkpoint
 * is complete. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeping.h"
#include "ranks/ranks.h"

enum { KEPT_FILES = 2 };
static const char first_part[] = "turn-", last_part[] = ".safetensors", half_made[] = ".turn";
static const char checksum[] = "ein.checksum";

static const char *kept_path(Arena *a, const char *folder, int64_t turn) {
  return arena_printf(a, "%s/%s%06lld%s", folder, first_part, (long long)turn, last_part);
}

/* The turn in a name with this ending; -1: it is not such a name. */
static int64_t turn_behind(const char *name, const char *ending) {
  size_t n = strlen(name), first = sizeof first_part - 1, last = strlen(ending);
  int64_t turn = -1;
  if (n <= first + last || strncmp(name, first_part, first) != 0 || strcmp(name + n - last, ending) != 0) return -1;
  return name[first] != '-' && name[first] != '+' && int64_read(name + first, n - first - last, &turn) ? turn : -1;
}

/* The largest below `below`; -1: there is none. */
static int64_t newest(Arena *a, const char *folder, int64_t below) {
  Words files = folder_files(a, folder);
  int64_t best = -1;
  for (uint32_t i = 0; i < files.len; i++) {
    int64_t turn = turn_behind(files.at[i], last_part);
    if (turn < below && turn > best) best = turn;
  }
  return best;
}

/* The name of a file that is not complete yet: .ein-, 16 digits, .tmp */
static bool is_leftover(const char *name) {
  size_t n = strlen(name);
  return n == 25 && strncmp(name, ".ein-", 5) == 0 && strspn(name + 5, "0123456789abcdef") == 16 &&
      strcmp(name + 21, ".tmp") == 0;
}

Leave kept_folder(const Keeping *k) {
  Session *s = k->s;
  struct stat st;
  if (mkdir(k->to, 0777) != 0 && errno != EEXIST)
    return fail(s, LEAVE_MACHINE, "--checkpoint: cannot make the folder %s: %s", k->to, strerror(errno));
  if (stat(k->to, &st) != 0 || !S_ISDIR(st.st_mode))
    return fail(s, LEAVE_USAGE, "--checkpoint %s: that is a file, not a folder", k->to);
  if (access(k->to, W_OK | X_OK) != 0)
    return fail(s, LEAVE_MACHINE, "--checkpoint: cannot write to %s: %s", k->to, strerror(errno));
  int64_t there = newest(s->arena, k->to, INT64_MAX);
  if (there >= 0 && !(k->from && file_same(k->from, k->to)))
    return fail(s, LEAVE_USAGE,
        "--checkpoint %s: a run has been kept there up to turn %lld; --resume %s goes on with it, and a new run "
        "wants a folder of its own",
        k->to, (long long)there, k->to);
  Words files = folder_files(s->arena, k->to);
  for (uint32_t i = 0; i < files.len; i++)
    if (is_leftover(files.at[i])) unlink(arena_printf(s->arena, "%s/%s", k->to, files.at[i]));
  return LEAVE_OK;
}

Leave kept_any(const Keeping *k) {
  struct stat st;
  if (stat(k->from, &st) != 0) return fail(k->s, LEAVE_MACHINE, "--resume %s: %s", k->from, strerror(errno));
  if (!S_ISDIR(st.st_mode))
    return fail(
        k->s, LEAVE_USAGE, "--resume %s: that is a file, not the folder that --checkpoint wrote to", k->from);
  if (newest(k->s->arena, k->from, INT64_MAX) >= 0) return LEAVE_OK;
  return fail(k->s, LEAVE_USAGE, "--resume %s: there is no checkpoint in it, which would be called %s000050%s or so",
      k->from, first_part, last_part);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool disk_has(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool ok = fd >= 0 && fsync(fd) == 0;
  int why = errno;
  if (fd >= 0) close(fd);
  errno = why;
  return ok;
}

/* The ending, after the turn, of the names of a process's blocks. */
static const char *blocks_of(Arena *a, int64_t rank, int64_t ranks) {
  return arena_printf(a, ".rank-%lld-of-%lld%s", (long long)rank, (long long)ranks, last_part);
}

static const char *blocks_part(const Keeping *k, Arena *a) {
  return blocks_of(a, k->s->ranks->rank, k->s->ranks->ranks);
}

static const char *blocks_path(Arena *a, const char *folder, int64_t turn, const char *part) {
  return arena_printf(a, "%s/%s%06lld%s", folder, first_part, (long long)turn, part);
}

/* Removes what this process has written for turns before the newest two. */
static void older_gone(const Keeping *k, Arena *a) {
  int64_t turn = INT64_MAX, all;
  for (int i = 0; i < KEPT_FILES && turn >= 0; i++) turn = newest(a, k->to, turn);
  for (all = turn; ranks_first(k->s) && (all = newest(a, k->to, all)) >= 0;) unlink(kept_path(a, k->to, all));
  Words files = folder_files(a, k->to);
  for (uint32_t i = 0; i < files.len; i++) {
    /* who wrote the checkpoint from which this run started */
    const char *others = k->fixed && ranks_first(k->s) ? strstr(files.at[i], ".rank-") : NULL;
    all = others || k->s->ranks ? turn_behind(files.at[i], others ? others : blocks_part(k, a)) : -1;
    if (all >= 0 && all < turn) unlink(arena_printf(a, "%s/%s", k->to, files.at[i]));
  }
}

static ein_named_tensor numbers(const char *name, const int64_t *at, int ndim, const int64_t *n) {
  return (ein_named_tensor){
      name, {.data = (void *)(uintptr_t)at, .device_type = 1, .ndim = ndim, .dtype = EIN_I64, .shape = n}};
}

/* Adds the checksum. Renames the file once it is on disk, then syncs the folder. */
static ein_status file_put_whole(const Keeping *k, Arena *a, KeptTensors *all, const char *path, ein_error *error) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < all->len; i++) sum += kept_sum(&all->at[i]);
  vec_push(a, *all, numbers(checksum, (const int64_t *)&sum, 0, NULL));
  const char *half = arena_printf(a, "%s/%s%s", k->to, half_made, k->s->ranks ? blocks_part(k, a) : last_part);
  ein_status status = ein_safetensors_write(half, all->len, all->at, error);
  if (status != EIN_OK || (disk_has(half) && rename(half, path) == 0 && disk_has(k->to))) return status;
  return ein_error_set(error, EIN_ERR_IO, "the checkpoint %s cannot be written: %s", path, strerror(errno));
}

/* The joint result of all processes, which are all at this point. */
static ein_status agreed(const Keeping *k, ein_status mine, ein_error *error) {
  if (!k->s->ranks) return mine;
  const ein_wire *wire = k->s->ranks->door->moves(k->s->ranks->world);
  ein_status all = wire->agree(wire->user, mine);
  return mine == EIN_OK && all != EIN_OK ? ein_error_set(error, all, EIN_ELSEWHERE) : mine;
}

static const char *low_name(Arena *a, const char *name) { return arena_printf(a, "ein.low.%s", name); }

ein_status kept_write(const Keeping *k, int64_t turn, ein_error *error) {
  static const int64_t two = 2, three = 3, one = 1;
  Arena *a = arena_new();
  KeptTensors blocks = {0}, all = {0}, *to = k->s->ranks ? &blocks : &all;
  for (uint32_t i = 0; i < k->kept.len; i++) vec_push(a, *to, k->kept.at[i]);
  vec_push(a, all, numbers("ein.turn", &turn, 0, NULL));
  vec_push(a, all, numbers("ein.repeat", k->repeat, 1, &two));
  vec_push(a, all, numbers("ein.compiled", &k->compiled, 0, NULL));
  if (k->s->ranks) vec_push(a, all, numbers("ein.plan", k->plan, 1, &three));
  if (k->fixed) vec_push(a, all, numbers("ein.deterministic", &one, 0, NULL));
  for (uint32_t i = 0; k->fixed && k->s->ranks && i < k->kept.len; i++) {
    int64_t *n = NEW(a, int64_t);
    *n = k->kept.at[i].tensor.ndim + 1;
    vec_push(a, blocks, numbers(low_name(a, k->kept.at[i].name), k->low.at[i], 1, n));
  }
  ein_status status =
      k->s->ranks ? file_put_whole(k, a, &blocks, blocks_path(a, k->to, turn, blocks_part(k, a)), error) : EIN_OK;
  status = agreed(k, status, error);
  if (status == EIN_OK) {
    if (ranks_first(k->s)) status = file_put_whole(k, a, &all, kept_path(a, k->to, turn), error);
    status = agreed(k, status, error);
  }
  if (status == EIN_OK) older_gone(k, a);
  arena_free(a);
  return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct Tensor { const char *name; ein_stored at; bool readable; } Tensor;
typedef struct File { Arena *a; const char *path; VEC(Tensor) all; } File;

static ein_status tensor_seen(
    void *user, const char *name, size_t n, const ein_stored *at, const char *other, ein_error *error) {
  File *f = user;
  (void)error;
  vec_push(f->a, f->all, ((Tensor){arena_printf(f->a, "%.*s", (int)n, name), *at, !other}));
  return EIN_OK;
}

static const Tensor *tensor_find(const File *f, const char *name) {
  for (uint32_t i = 0; i < f->all.len; i++)
    if (strcmp(f->all.at[i].name, name) == 0) return &f->all.at[i];
  return NULL;
}

static bool tensor_fits(const Tensor *x, const ein_tensor *want) {
  bool same = x->readable && x->at.dtype == want->dtype && x->at.ndim == want->ndim;
  for (int d = 0; same && d < want->ndim; d++) same = x->at.shape[d] == want->shape[d];
  return same;
}

static const char *shape_text(Arena *a, ein_dtype t, int ndim, const int64_t *shape) {
  Buf b = buf_new(a);
  buf_printf(&b, "%s[", dtype_name((DType)t));
  for (int d = 0; d < ndim; d++) buf_printf(&b, "%s%lld", d ? ", " : "", (long long)shape[d]);
  buf_char(&b, ']');
  return b.s;
}

static ein_status tensor_take(const File *f, const char *name, const ein_tensor *to, ein_error *error) {
  const int64_t low[EIN_MAX_AXES] = {0};
  const Tensor *x = tensor_find(f, name);
  if (!x)
    return ein_error_set(error, EIN_ERR_SHAPE,
        "%s has no %s, which this program's repeat takes from turn to turn: it is of another program, or of "
        "another target",
        f->path, name);
  if (!tensor_fits(x, to))
    return ein_error_set(error, EIN_ERR_SHAPE,
        "%s is of a run with other sizes, or of another program: there %s is %s, here %s", f->path, name,
        x->readable ? shape_text(f->a, x->at.dtype, x->at.ndim, x->at.shape) : "of a type that Ein has not",
        shape_text(f->a, to->dtype, to->ndim, to->shape));
  return ein_stored_block(f->path, &x->at, to->dtype, low, to->shape, to->data, error);
}

/* Compares the file with its checksum, if it has one. */
static ein_status file_unchanged(const File *f, ein_error *error) {
  int64_t want;
  const ein_tensor to = {.data = &want, .dtype = EIN_I64};
  uint64_t sum = 0, one = 0;
  if (!tensor_find(f, checksum)) return EIN_OK;
  ein_status status = tensor_take(f, checksum, &to, error);
  for (uint32_t i = 0; i < f->all.len && status == EIN_OK; i++, sum += one) {
    const Tensor *x = &f->all.at[i];
    one = 0;
    if (x->readable && strcmp(x->name, checksum) != 0)
      status = kept_sum_stored(f->path, x->name, &x->at, &one, error);
  }
  if (status != EIN_OK || sum == (uint64_t)want) return status;
  return ein_error_set(
      error, EIN_ERR_IO, "%s has changed since it was written: its elements do not give its checksum", f->path);
}

/* Lists a file's tensors, and checks that it is as it was written. */
static ein_status file_open(File *f, bool unchanged, ein_error *error) {
  ein_status status = ein_stored_each(f->path, tensor_seen, f, error);
  return status == EIN_OK && unchanged ? file_unchanged(f, error) : status;
}

static const char *processes(Arena *a, int64_t n) {
  return n ? arena_printf(a, "%lld processes", (long long)n) : "one process";
}

/* Requires the same number of processes, and the same plan; without these, a single process. *others: by a different
 * number, which --deterministic allows. */
static ein_status plan_fits(const Keeping *k, const File *f, int64_t plan[3], bool *others, ein_error *error) {
  const int64_t three = 3;
  const ein_tensor to = {.data = plan, .dtype = EIN_I64, .ndim = 1, .shape = &three};
  const bool fixed = tensor_find(f, "ein.deterministic") != NULL;
  ein_status status = tensor_find(f, "ein.plan") ? tensor_take(f, "ein.plan", &to, error) : EIN_OK;
  if (status != EIN_OK) return status;
  if (fixed != k->fixed)
    return ein_error_set(error, EIN_ERR_SHAPE,
        "%s is of a run with%s --deterministic, and this is one with%s it: they have other bits", f->path,
        fixed ? "" : "out", k->fixed ? "" : "out");
  if (memcmp(plan, k->plan, 3 * sizeof *plan) == 0) return EIN_OK;
  *others = fixed;
  if (fixed) return EIN_OK;
  if (plan[0] == k->plan[0])
    return ein_error_set(
        error, EIN_ERR_SHAPE, "%s is of a run by another plan: other options, or another ein, cut it so", f->path);
  return ein_error_set(error, EIN_ERR_SHAPE,
      "%s is of a run by %s, and this is one by %s, which have other blocks; with --deterministic, from the first turn "
      "on, any number can go on",
      f->path, processes(f->a, plan[0]), processes(f->a, k->plan[0]));
}

/* Requires the same target: the evaluator sums in another order than compiled code. Files of earlier versions do not
 * have it. */
static ein_status target_fits(const Keeping *k, const File *f, ein_error *error) {
  int64_t compiled = k->compiled;
  const ein_tensor to = {.data = &compiled, .dtype = EIN_I64};
  ein_status status = tensor_find(f, "ein.compiled") ? tensor_take(f, "ein.compiled", &to, error) : EIN_OK;
  if (status != EIN_OK || compiled == k->compiled) return status;
  return ein_error_set(error, EIN_ERR_SHAPE,
      "%s is of a run %s, and this is one %s: they have other bits", f->path,
      compiled ? "of compiled code" : "with --target=eval", k->compiled ? "of compiled code" : "with --target=eval");
}

static ein_status tensors_take(const Keeping *k, const File *f, ein_error *error) {
  ein_status status = EIN_OK;
  for (uint32_t i = 0; i < k->kept.len && status == EIN_OK; i++)
    status = tensor_take(f, k->kept.at[i].name, &k->kept.at[i].tensor, error);
  return status;
}

static ein_status blocks_take(const Keeping *k, int64_t turn, ein_error *error) {
  File f = {.a = k->s->arena, .path = blocks_path(k->s->arena, k->from, turn, blocks_part(k, k->s->arena))};
  ein_status status = file_open(&f, true, error);
  return status == EIN_OK ? tensors_take(k, &f, error) : status;
}

/* ---- what other processes have written --------------------------------------------------------------------------- */

typedef struct Gathered {    /* a tensor here */
  uint8_t *has;              /* by element of this process's block */
  int64_t whole[EIN_MAX_AXES]; /* as far as blocks go */
} Gathered;

/* Copies from a block in f, which begins at `low`, the part inside this process's. Overlapping blocks have equal
 * elements. */
static ein_status part_take(
    const Keeping *k, const File *f, uint32_t i, const Tensor *x, const int64_t *low, Gathered *g, ein_error *error) {
  const ein_tensor *to = &k->kept.at[i].tensor;
  const int64_t *own = k->low.at[i] + 1, size = dtype_size((DType)to->dtype);
  int64_t from[EIN_MAX_AXES] = {0}, shape[EIN_MAX_AXES] = {0}, at[EIN_MAX_AXES] = {0}, n = k->low.at[i][0];
  for (int d = 0; d < to->ndim; d++) {
    int64_t first = low[d] > own[d] ? low[d] : own[d], end = low[d] + x->at.shape[d], mine = own[d] + to->shape[d];
    if (end > g->whole[d]) g->whole[d] = end;
    from[d] = first - low[d];
    shape[d] = (end < mine ? end : mine) - first;
    n = shape[d] > 0 ? n * shape[d] : 0;
  }
  if (!n) return EIN_OK;
  char *part = arena_alloc(f->a, (size_t)(n * size));
  ein_status status = ein_stored_block(f->path, &x->at, to->dtype, from, shape, part, error);
  for (int64_t e = 0; e < n && status == EIN_OK; e++) {
    int64_t place = 0;
    for (int d = 0; d < to->ndim; d++) place = place * to->shape[d] + low[d] + from[d] + at[d] - own[d];
    char *here = (char *)to->data + place * size;
    if (g->has[place] && memcmp(here, part + e * size, (size_t)size) != 0)
      status = ein_error_set(error, EIN_ERR_SHAPE,
          "%s has another %s than the other processes where their blocks overlap", f->path, k->kept.at[i].name);
    memcpy(here, part + e * size, (size_t)size);
    g->has[place] = 1;
    for (int d = to->ndim; d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return status;
}

/* Copies what the file has of each tensor; blocks: they state where they are. */
static ein_status parts_take(const Keeping *k, const File *f, bool blocks, Gathered *g, ein_error *error) {
  ein_status status = EIN_OK;
  for (uint32_t i = 0; i < k->kept.len && status == EIN_OK; i++) {
    const ein_named_tensor *to = &k->kept.at[i];
    const Tensor *x = tensor_find(f, to->name);
    int64_t low[EIN_MAX_AXES + 1] = {1}, n = to->tensor.ndim + 1;
    if (!x || !x->readable || x->at.dtype != to->tensor.dtype || x->at.ndim != to->tensor.ndim)
      return tensor_take(f, to->name, &to->tensor, error);
    const ein_tensor low_to = {.data = low, .dtype = EIN_I64, .ndim = 1, .shape = &n};
    if (blocks) status = tensor_take(f, low_name(f->a, to->name), &low_to, error);
    if (status == EIN_OK && low[0]) status = part_take(k, f, i, x, low + 1, &g[i], error);
  }
  return status;
}

static ein_status all_there(const Keeping *k, const File *f, const Gathered *g, ein_error *error) {
  for (uint32_t i = 0; i < k->kept.len; i++) {
    const ein_tensor *to = &k->kept.at[i].tensor;
    int64_t n = k->low.at[i][0];
    bool same = true;
    for (int d = 0; d < to->ndim; d++) same &= g[i].whole[d] == k->whole.at[i][d], n *= to->shape[d];
    if (!same)
      return ein_error_set(error, EIN_ERR_SHAPE,
          "%s is of a run with other sizes, or of another program: there %s is %s, here %s", f->path,
          k->kept.at[i].name, shape_text(f->a, to->dtype, to->ndim, g[i].whole),
          shape_text(f->a, to->dtype, to->ndim, k->whole.at[i]));
    if (n && memchr(g[i].has, 0, (size_t)n))
      return ein_error_set(error, EIN_ERR_SHAPE, "%s: its processes lack a part of %s", f->path, k->kept.at[i].name);
  }
  return EIN_OK;
}

/* Whether this process checks the file of process r: each one is checked by one. */
static bool is_mine(const Keeping *k, int64_t r) { return !k->s->ranks || r % k->s->ranks->ranks == k->s->ranks->rank; }

/* Reads files of this many processes; 0: of one, with whole tensors. */
static ein_status others_take(const Keeping *k, const File *f, int64_t ranks, int64_t turn, ein_error *error) {
  Arena *a = arena_new();
  Gathered *g = NEW_ARRAY(a, Gathered, k->kept.len + 1);
  ein_status status = EIN_OK;
  for (uint32_t i = 0; i < k->kept.len; i++) {
    int64_t n = 1;
    for (int d = 0; d < k->kept.at[i].tensor.ndim; d++) n *= k->kept.at[i].tensor.shape[d];
    g[i] = (Gathered){.has = NEW_ARRAY(a, uint8_t, (size_t)n + 1)};
  }
  if (!ranks) status = parts_take(k, f, false, g, error);
  for (int64_t r = 0; r < ranks && status == EIN_OK; r++) {
    File one = {.a = arena_new(), .path = blocks_path(k->s->arena, k->from, turn, blocks_of(k->s->arena, r, ranks))};
    status = file_open(&one, is_mine(k, r), error);
    if (status == EIN_OK) status = parts_take(k, &one, true, g, error);
    arena_free(one.a);
  }
  if (status == EIN_OK) status = all_there(k, f, g, error);
  arena_free(a);
  return status;
}

/* A file of another run ends this one, so it may have been read in part. */
static ein_status file_take(Keeping *k, const File *f, int64_t most, int64_t *turn, ein_error *error) {
  int64_t made = 0, repeat[2] = {0, 0}, two = 2;
  const ein_tensor made_to = {.data = &made, .dtype = EIN_I64},
                   repeat_to = {.data = repeat, .dtype = EIN_I64, .ndim = 1, .shape = &two};
  int64_t plan[3] = {0, 0, 0};
  bool others = false;
  ein_status status = plan_fits(k, f, plan, &others, error);
  if (status == EIN_OK) status = target_fits(k, f, error);
  if (status == EIN_OK && !k->s->ranks && !others) status = tensors_take(k, f, error);
  if (status == EIN_OK) status = tensor_take(f, "ein.turn", &made_to, error);
  if (status == EIN_OK) status = tensor_take(f, "ein.repeat", &repeat_to, error);
  if (status == EIN_OK && memcmp(repeat, k->repeat, sizeof repeat) != 0)
    status = ein_error_set(error, EIN_ERR_SHAPE,
        "%s is of another program: its repeat has other equations than the one of %s", f->path, k->j->path);
  if (status == EIN_OK && (made < 0 || made > most))
    status = ein_error_set(error, EIN_ERR_SHAPE, "%s has made %lld turns, and here there are %lld at most", f->path,
        (long long)made, (long long)most);
  if (status == EIN_OK && others) status = others_take(k, f, plan[0], made, error);
  else if (status == EIN_OK && k->s->ranks) status = blocks_take(k, made, error);
  if (status == EIN_OK) *turn = made;
  return status;
}

static ein_status newest_take(Keeping *k, int64_t most, int64_t *turn, ein_error *error) {
  Session *s = k->s;
  for (int64_t at = newest(s->arena, k->from, INT64_MAX); at >= 0;) {
    File f = {.a = s->arena, .path = kept_path(s->arena, k->from, at)};
    ein_error half = {0};
    ein_status status = file_open(&f, true, &half);
    if (status == EIN_OK) {
      status = file_take(k, &f, most, turn, error);
      if (status == EIN_OK) detail(s, "%s: goes on behind turn %lld, from %s", k->j->path, (long long)*turn, f.path);
      return status;
    }
    at = newest(s->arena, k->from, at);
    if (at < 0) return ein_error_set(error, EIN_ERR_IO, "there is no whole checkpoint in %s: %s", k->from, half.text);
    say(s, "a checkpoint is not whole: %s; the one before it is taken, of turn %lld", half.text, (long long)at);
  }
  return ein_error_set(error, EIN_ERR_IO, "%s has lost its checkpoints", k->from);
}

/* The one before the newest is used if a disk was full, or a file was half copied. */
ein_status kept_read(Keeping *k, int64_t most, int64_t *turn, ein_error *error) {
  return agreed(k, newest_take(k, most, turn, error), error);
}
