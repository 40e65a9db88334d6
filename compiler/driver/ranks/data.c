/* driver/ranks/data.c - what ranks read and write. In: a plan, sources and targets; each rank has the blocks that
 * the plan gives it, and reads and writes no others, also of the tensors in which a program stores an output. Outputs
 * that are printed, examined or written to a device are gathered on the first rank. */
#include <stdlib.h>
#include <string.h>

#include "driver/data/checkpoint.h"
#include "ranks.h"
#include "site.h"

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

typedef struct Block { int64_t *low, *shape, count; } Block;

static Block block_at(Session *s, const TaskGraph *t, const TaskBuffer *b, int site) {
  uint32_t at[MESH_AXES + 1];
  Block x = {NEW_ARRAY(s->arena, int64_t, b->rank + 1), NEW_ARRAY(s->arena, int64_t, b->rank + 1), 0};
  int64_t *high = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  mesh_place(&t->mesh, site, at);
  x.count = task_box(t, b, at, x.low, high);
  for (uint32_t d = 0; d < b->rank; d++) x.shape[d] = task_has(t, b, at) ? high[d] - x.low[d] : 0;
  return x;
}

/* If several sites have the same block, only the first one provides it. */
static Block *blocks_given(Session *s, const TaskGraph *t, const TaskBuffer *b) {
  int n = s->ranks->ranks;
  Map seen = map_new(s->arena);
  Block *all = NEW_ARRAY(s->arena, Block, n);
  for (int i = 0; i < n; i++) {
    all[i] = block_at(s, t, b, i);
    Buf key = buf_new(s->arena);
    for (uint32_t d = 0; d < b->rank; d++)
      buf_printf(&key, "%lld %lld ", (long long)all[i].low[d], (long long)all[i].shape[d]);
    if (map_find(&seen, str_from(s->strings, key.s))) all[i].count = 0;
    map_put(&seen, str_from(s->strings, key.s), &all[i]);
  }
  return all;
}

static const TaskBuffer *output_buffer(const TaskGraph *t, uint32_t k) {
  return &t->buffers.at[t->outputs.at[k].buffer];
}

/* Dense memory for the block. */
static ein_tensor block_here(Session *s, const TaskBuffer *b, const Block *x) {
  return (ein_tensor){
      .data = arena_alloc(s->arena, arena_array_size((size_t)dtype_size(b->dtype), (size_t)x->count + 1)),
      .device_type = 1,
      .ndim = (int32_t)b->rank,
      .dtype = (ein_dtype)b->dtype,
      .shape = x->shape};
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static Leave input_here(
    Session *s, const TaskGraph *t, uint32_t k, const Given *g, const EvalArray *whole, ein_tensor *out) {
  const TaskBuffer *b = &t->buffers.at[t->inputs.at[k].buffer];
  ein_error err = {0};
  Block x = block_at(s, t, b, s->ranks->rank);
  *out = block_here(s, b, &x);
  ein_status st = ranks_first(s) ? given_sound(g, whole->shape, &err) : EIN_OK;
  if (st == EIN_OK) st = given_block(g, b->dtype, b->rank, whole->shape, x.low, x.shape, out->data, &err);
  if (st != EIN_OK) return fail(s, status_leave(st), "input %s: %s", t->inputs.at[k].name->s, err.text);
  detail(s, "%s is read from %s", t->inputs.at[k].name->s, g->spec);
  return LEAVE_OK;
}

/* For a missing input: the block of its default, if that is one equation; else a block cut out of all of it. */
static Leave default_here(Session *s, const Job *j, uint32_t k, const Eval *e, ein_tensor *out) {
  const TaskGraph *t = j->tasks;
  const TaskBuffer *b = &t->buffers.at[t->inputs.at[k].buffer];
  const EinNode *n = graph_input_find(j->graph, t->inputs.at[k].name);
  uint32_t at[MESH_AXES + 1];
  bool whole = false;
  Block own = block_at(s, t, b, s->ranks->rank);
  if (j->past || !n || !n->fallback)
    return fail(
        s, LEAVE_USAGE, "input %s is not given, and texts for several sites have no defaults", t->inputs.at[k].name->s);
  *out = block_here(s, b, &own);
  if (!own.count) return LEAVE_OK;
  EvalArray x = {.data = out->data};
  Leave l = default_block(s, j, e, n, own.low, own.shape, &x, &whole);
  mesh_place(&t->mesh, s->ranks->rank, at);
  if (!l && whole) *out = site_block(s->arena, t, t->inputs.at[k].buffer, at, &x);
  return l;
}

/* It is better to refuse than to be killed. */
static Leave blocks_fit(Session *s, const TaskGraph *t, const Eval *e) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < t->inputs.len + t->outputs.len; k++) {
    const TaskBuffer *b =
        k < t->inputs.len ? &t->buffers.at[t->inputs.at[k].buffer] : output_buffer(t, k - t->inputs.len);
    sum += block_at(s, t, b, s->ranks->rank).count * dtype_size(b->dtype);
  }
  if (!e->max_live || sum <= e->max_live / s->ranks->beside) return LEAVE_OK;
  return fail(s, LEAVE_MACHINE,
      "each of %d processes on this machine would take %lld bytes for inputs and outputs; the limit here is %lld, "
      "their share "
      "of three quarters of the memory",
      s->ranks->beside, (long long)sum, (long long)(e->max_live / s->ranks->beside));
}

Leave ranks_inputs(Session *s, const Job *j, const Eval *e, ein_tensor *in) {
  const TaskGraph *t = j->tasks;
  Leave l = blocks_fit(s, t, e);
  for (uint32_t k = 0; k < t->inputs.len && !l; k++) {
    const Given *g = given_of(j->given, t->inputs.at[k].name);
    if (g) l = input_here(s, t, k, g, eval_input_find(e, g->name), &in[k]);
    else l = default_here(s, j, k, e, &in[k]);
  }
  return l;
}

void ranks_warn(Session *s, const Job *j, const Eval *e, const ein_tensor *in) {
  const TaskGraph *t = j->tasks;
  for (uint32_t k = 0; k < t->inputs.len; k++) {
    Str name = t->inputs.at[k].name;
    const Given *g = given_of(j->given, name);
    const EinNode *n = graph_input_find(e->graph, name);
    if (!g || !n) continue;
    const EvalArray *x = eval_input_find(e, name);
    Block own = block_at(s, t, &t->buffers.at[t->inputs.at[k].buffer], s->ranks->rank);
    const EvalArray block = {
        .dtype = x->dtype, .rank = x->rank, .shape = own.shape, .count = own.count, .data = in[k].data};
    /* blocks may overlap, so their counts are not reported */
    double some = ranks_sum(s, given_rounded(e, n, g, x, own.low, &block) != 0);
    if (some > 0) given_warn(s, n, g, x, -1);
  }
}

/* ---- gathered outputs -------------------------------------------------------------------------------------------- */

void ranks_outputs(Session *s, const Job *j, ein_tensor *out) {
  const TaskGraph *t = j->tasks;
  for (uint32_t k = 0; k < t->outputs.len; k++) {
    Block x = block_at(s, t, output_buffer(t, k), s->ranks->rank);
    out[k] = block_here(s, output_buffer(t, k), &x);
  }
}

static void block_place(EvalArray *whole, const Block *x, const char *from) {
  size_t e = (size_t)dtype_size(whole->dtype);
  int64_t row = whole->rank ? x->shape[whole->rank - 1] : 1, at[EIN_MAX_AXES] = {0};
  for (int64_t i = 0; i < x->count; i += row) {
    int64_t offset = 0;
    for (uint32_t d = 0; d < whole->rank; d++) offset = offset * whole->shape[d] + x->low[d] + at[d];
    memcpy((char *)whole->data + (size_t)offset * e, from + (size_t)i * e, (size_t)row * e);
    for (uint32_t d = whole->rank - (whole->rank > 0); d-- > 0;) {
      if (++at[d] < x->shape[d]) break;
      at[d] = 0;
    }
  }
}

static void output_gather(Session *s, const TaskGraph *t, uint32_t k, const ein_tensor *mine, EvalArray *whole) {
  const Ranks *r = s->ranks;
  const ein_wire *w = r->door->told(r->world);
  const TaskBuffer *b = &t->buffers.at[t->outputs.at[k].buffer];
  const Block *block = blocks_given(s, t, b);
  Arena *work = arena_new();
  ein_parcel send = {0, mine->data, (size_t)(block[r->rank].count * dtype_size(b->dtype))},
             *receive = NEW_ARRAY(work, ein_parcel, r->ranks);
  int n = 0;
  for (int i = 0; r->rank == 0 && i < r->ranks; i++) {
    size_t bytes = (size_t)(block[i].count * dtype_size(b->dtype));
    if (bytes) receive[n++] = (ein_parcel){i, arena_alloc(work, bytes), bytes};
  }
  if (w->exchange(w->user, send.bytes > 0, &send, n, receive) != EIN_OK)
    exit((int)session_end(s, fail(s, LEAVE_MACHINE, "the processes of MPI do not reach each other")));
  for (int i = 0; i < n; i++) block_place(whole, &block[receive[i].peer], receive[i].data);
  arena_free(work);
}

/* Whether the first rank needs all of it: nobody writes it to a file, or it goes to a device. */
static bool comes_together(const Targets *to, Str name) {
  bool some = false, device = false;
  for (uint32_t i = 0; to && i < to->len; i++)
    if (to->at[i].name == name) some = true, device |= file_is_device(to->at[i].path);
  return !some || device;
}

static Leave come_together(Session *s, const Job *j, Eval *e, const ein_tensor *out) {
  const TaskGraph *t = j->tasks;
  char *told = NEW_ARRAY(s->arena, char, t->outputs.len + 1);
  size_t n = t->outputs.len;
  Leave l = LEAVE_OK;
  for (uint32_t k = 0; k < n && ranks_first(s); k++) told[k] = comes_together(j->targets, t->outputs.at[k].name);
  const char *all = told;
  ranks_tell(s, &all, &n);
  if (ranks_first(s)) l = site_outputs_new(s, t, e, all);
  l = ranks_agree(s, l);
  for (uint32_t k = 0; k < n && !l; k++)
    if (all[k])
      output_gather(s, t, k, &out[k], ranks_first(s) ? eval_output_find(e, t->outputs.at[k].name) : NULL);
  return l;
}

/* ---- shared files ------------------------------------------------------------------------------------------------ */

enum { NAME_ROOM = 4096, SAID_ROOM = 256 };

/* What all ranks are told of a tensor in a file. */
typedef struct Share {
  char name[NAME_ROOM];      /* of the file under construction, */
  char said[SAID_ROOM];      /* and as it is called */
  uint64_t at;               /* where its elements begin */
  uint32_t output;
  int32_t file_dtype;
  int64_t number;            /* among the tensors in which the program stores the output; -1: it is one */
} Share;

typedef struct SharedFiles {
  VEC(ein_joint *) file;
  VEC(Share) share;
} SharedFiles;

static uint32_t task_output(const TaskGraph *t, Str name) {
  for (uint32_t k = 0; k < t->outputs.len; k++)
    if (t->outputs.at[k].name == name) return k;
  bug("an output that the tasks have not");
}

static void target_tensors(Session *s, const TaskGraph *t, const Target *x, NamedTensors *out) {
  const TaskBuffer *b = output_buffer(t, task_output(t, x->name));
  int64_t *shape = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  const ein_tensor one = {.device_type = 1, .ndim = (int32_t)b->rank, .dtype = (ein_dtype)b->dtype, .shape = shape};
  task_whole(t, b, shape);
  if (x->stored) stored_tensors(s, x->stored, b->dtype, b->rank, shape, out);
  else vec_push(s->arena, *out, ((ein_named_tensor){x->key, one}));
}

/* What the file holds of one target: its tensors i and following, of n. */
static void shares_add(Session *s, const TaskGraph *t, const Target *x, Share one, const NamedTensors *list,
    const uint64_t *at, uint32_t i, uint32_t n, SharedFiles *all) {
  one.output = task_output(t, x->name);
  for (uint32_t k = i; k < n; k++) {
    one.at = at[k];
    one.file_dtype = (int32_t)ein_joint_dtype(x->path, list->at[k].tensor.dtype);
    one.number = x->stored ? (int64_t)(k - i) : -1;
    vec_push(s->arena, all->share, one);
  }
}

/* Begins the file of target k, its first target, with all other targets of that file. */
static Leave file_begin(Session *s, const TaskGraph *t, const Targets *to, uint32_t k, SharedFiles *all) {
  const char *path = to->at[k].path;
  NamedTensors list = {0};
  uint32_t *end = NEW_ARRAY(s->arena, uint32_t, to->len);
  ein_error err = {0};
  ein_joint *file;
  for (uint32_t i = k; i < to->len; end[i++] = list.len)
    if (strcmp(to->at[i].path, path) == 0) target_tensors(s, t, &to->at[i], &list);
  uint64_t *at = NEW_ARRAY(s->arena, uint64_t, list.len + 1);
  ein_status st = ein_joint_begin(path, list.len, list.at, &file, at, &err);
  if (st != EIN_OK) return fail(s, status_leave(st), "output %s: %s", to->at[k].name->s, err.text);
  vec_push(s->arena, all->file, file);
  if (strlen(ein_joint_name(file)) >= NAME_ROOM)
    return fail(s, LEAVE_MACHINE, "output %s: its file has too long a name", to->at[k].name->s);
  Share one = {0};
  strcpy(one.name, ein_joint_name(file));
  snprintf(one.said, sizeof one.said, "%s", path);
  for (uint32_t i = k; i < to->len; i++)
    shares_add(s, t, &to->at[i], one, &list, at, i > k ? end[i - 1] : 0, end[i], all);
  return LEAVE_OK;
}

static Leave files_begin(Session *s, const Job *j, SharedFiles *all) {
  const Targets *to = j->targets;
  Leave l = LEAVE_OK;
  for (uint32_t k = 0; to && k < to->len && !l; k++) {
    bool begun = file_is_device(to->at[k].path);
    for (uint32_t i = 0; i < k; i++) begun |= strcmp(to->at[i].path, to->at[k].path) == 0;
    if (!begun) l = file_begin(s, j->tasks, to, k, all);
  }
  return l;
}

static Leave share_write(Session *s, const Job *j, const Share *x, const ein_tensor *out) {
  const TaskGraph *t = j->tasks;
  const TaskBuffer *b = output_buffer(t, x->output);
  const Block *own = &blocks_given(s, t, b)[s->ranks->rank];
  int64_t *whole = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  ein_error err = {0};
  if (!own->count) return LEAVE_OK;
  task_whole(t, b, whole);
  ein_block block = {
      (ein_dtype)b->dtype, (ein_dtype)x->file_dtype, (int)b->rank, whole, own->low, own->shape, out[x->output].data};
  const AstStored *how = x->number < 0 ? NULL : program_stored(j->program, t->outputs.at[x->output].name);
  if (how && !stored_block(s, how, &block, x->number, &block)) return LEAVE_OK;
  ein_status st = ein_joint_write(x->name, x->said, x->at, &block, &err);
  return st == EIN_OK ? LEAVE_OK
                      : fail(s, status_leave(st), "output %s: %s", t->outputs.at[x->output].name->s, err.text);
}

/* Either all files exist afterwards, or none. */
static Leave files_end(Session *s, const TaskGraph *t, const SharedFiles *all, Leave l) {
  for (uint32_t i = 0; i < all->file.len; i++) {
    ein_error err = {0};
    ein_status st = ein_joint_end(all->file.at[i], l ? EIN_ERR_IO : EIN_OK, &err);
    if (!l && st != EIN_OK) l = fail(s, status_leave(st), "%s", err.text);
  }
  vec_each(const Share, x, all->share)
    if (!l && x->number <= 0) detail(s, "%s is written to %s", t->outputs.at[x->output].name->s, x->said);
  return l;
}

static Leave files_write(Session *s, const Job *j, const ein_tensor *out) {
  SharedFiles all = {0};
  Leave l = ranks_agree(s, ranks_first(s) ? files_begin(s, j, &all) : LEAVE_OK);
  if (!l) {
    const char *bytes = (const char *)all.share.at;
    size_t n = all.share.len * sizeof *all.share.at;
    ranks_tell(s, &bytes, &n);
    for (size_t i = 0; i < n / sizeof(Share) && !l; i++) {
      Share x;
      memcpy(&x, bytes + i * sizeof x, sizeof x);
      l = share_write(s, j, &x, out);
    }
    l = ranks_agree(s, l);
  }
  return files_end(s, j->tasks, &all, l);
}

Leave ranks_leave(Session *s, const Job *j, Eval *e, const ein_tensor *out) {
  Leave l = come_together(s, j, e, out);
  return l ? l : files_write(s, j, out);
}
