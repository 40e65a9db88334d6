/* driver/compile/resident.c - keeps a program's arguments in a device's memory, through the driver. */
#include <string.h>

#include "cuda/libcuda.h"
#include "resident.h"

typedef struct ResidentDriver {
  ein_libcuda cu;
  int device;
  void *host;                /* pinned memory of resident_there_and_back */
  size_t held;
  void *context;             /* its primary context, current from resident_open on; NULL: not retained */
} ResidentDriver;

static Leave asked(Session *s, Resident *r, int e, const char *what) {
  if (!e) return LEAVE_OK;
  return fail(s, LEAVE_MACHINE, "CUDA: %s: %s", what, ein_libcuda_words(&r->driver->cu, e).text);
}

Leave resident_open(Session *s, Resident *r) {
  ein_error error = {0};
  ResidentDriver *d = r->driver = NEW(s->arena, ResidentDriver);
  if (!ein_libcuda_open(&d->cu, &error)) return fail(s, LEAVE_MACHINE, "%s", error.text);
  Leave l = asked(s, r, d->cu.device_get(&d->device, 0), "the device");
  if (!l) l = asked(s, r, d->cu.context_retain(&d->context, d->device), "the device's context");
  if (!l) l = asked(s, r, d->cu.context_push(d->context), "the device's context");
  if (!l) l = asked(s, r, d->cu.stream_new(&r->stream, EIN_CU_OWN_STREAM), "a stream");
  return l;
}

static Leave one_bring(Session *s, Resident *r, const EvalArray *x, const char *name, bool full) {
  ResidentDriver *d = r->driver;
  size_t bytes = (size_t)x->count * (size_t)dtype_size(x->dtype);
  uint64_t *at = &r->at[r->n++];
  *at = 0;
  Leave l =
      asked(s, r, d->cu.memory_take(at, bytes ? bytes : 1), arena_printf(s->arena, "%zu bytes for %s", bytes, name));
  if (!l && full && bytes) l = asked(s, r, d->cu.copy_up(*at, x->data, bytes, r->stream), name);
  return l;
}

static const EvalArray *input_find(const Eval *e, const char *name) {
  for (uint32_t i = 0; i < e->n_input; i++)
    if (strcmp(e->input[i].name->s, name) == 0) return &e->input[i].array;
  return NULL;
}

Leave resident_bring(Session *s, Resident *r, const Library *l, const Eval *e) {
  static const EvalArray none;
  const int n = l->model->n_inputs, m = l->model->n_outputs;
  Leave leave = LEAVE_OK;
  r->at = NEW_ARRAY(s->arena, uint64_t, (size_t)n + (size_t)m + 1);
  for (int k = 0; k < n && !leave; k++) {
    const EvalArray *x = input_find(e, l->model->input[k].name);
    leave = one_bring(s, r, x ? x : &none, l->model->input[k].name, x != NULL);
  }
  for (int k = 0; k < m && !leave; k++) leave = one_bring(s, r, &e->output[k], l->model->output[k].name, false);
  return leave ? leave : resident_wait(s, r);
}

Leave resident_wait(Session *s, Resident *r) {
  return asked(s, r, r->driver->cu.stream_wait(r->stream), "what runs there");
}

static void view_move(ein_tensor *x, uint64_t at) {
  if (!x->data) return; /* its default is computed in the run */
  x->data = (void *)(uintptr_t)at;
  x->device_type = 2;
}

void resident_views(const Resident *r, const Library *l, ein_tensor *in, ein_tensor *out) {
  int n = l->model->n_inputs;
  for (int k = 0; k < n; k++) view_move(&in[k], r->at[k]);
  for (int k = 0; k < l->model->n_outputs; k++) view_move(&out[k], r->at[n + k]);
}

/* ---- for the code that measures it ---- */

void resident_drop(Resident *r) {
  for (uint32_t i = 0; i < r->n; i++)
    if (r->at[i]) r->driver->cu.memory_drop(r->at[i]);
  r->n = 0;
}

enum { TAKEN_MOST = 8 };
Leave resident_take(Session *s, Resident *r, size_t bytes, uint64_t *at) {
  ResidentDriver *d = r->driver;
  if (!r->at) r->at = NEW_ARRAY(s->arena, uint64_t, TAKEN_MOST);
  BUG_UNLESS(r->n < TAKEN_MOST);
  *at = 0;
  Leave l = asked(s, r, d->cu.memory_take(at, bytes + 1), arena_printf(s->arena, "%zu bytes", bytes));
  if (!l) r->at[r->n++] = *at, l = asked(s, r, d->cu.fill(*at, 0x3C, bytes + 1, r->stream), "memory is filled");
  return l;
}

Leave resident_there_and_back(Session *s, Resident *r, size_t bytes) {
  ResidentDriver *d = r->driver;
  Leave l = LEAVE_OK;
  if (d->held < bytes) {
    if (d->host) d->cu.host_drop(d->host);
    d->host = NULL, d->held = 0;
    resident_drop(r);
    l = asked(s, r, d->cu.host_take(&d->host, bytes), "memory of the host");
    if (!l) d->held = bytes, memset(d->host, 0, bytes);
  }
  uint64_t at = r->n ? r->at[0] : 0;
  if (!l && !at) l = resident_take(s, r, bytes, &at);
  if (!l) l = asked(s, r, d->cu.copy_up(at, d->host, bytes, r->stream), "the bus");
  if (!l) l = asked(s, r, d->cu.copy_down(d->host, at, bytes, r->stream), "the bus");
  return l ? l : resident_wait(s, r);
}

Leave resident_about(Session *s, Resident *r, const char **name, int64_t *bytes, int64_t *devices) {
  enum { NAME = 256 };
  ResidentDriver *d = r->driver;
  char *said = NEW_ARRAY(s->arena, char, NAME);
  size_t left = 0, all = 0;
  int n = 0;
  Leave l = asked(s, r, d->cu.device_name(said, NAME, d->device), "the device's name");
  if (!l) l = asked(s, r, d->cu.memory_info(&left, &all), "the device's memory");
  if (!l) l = asked(s, r, d->cu.device_count(&n), "the number of devices");
  *name = said, *bytes = (int64_t)all, *devices = n;
  return l;
}

void resident_close(Resident *r) {
  ResidentDriver *d = r->driver;
  void *own;
  if (!d || !d->context) return;
  resident_drop(r);
  if (d->host) d->cu.host_drop(d->host);
  if (r->stream) d->cu.stream_end(r->stream);
  d->cu.context_pop(&own);
  d->cu.context_release(d->device);
  *r = (Resident){0};
}
