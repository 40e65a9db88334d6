/* SPDX-License-Identifier: MIT-0 */
/*
 * Scatters whole tensors at site 0 to blocks at each site, and gathers them. In come views and a plan's model,
 * which says who has what; out go parcels over the wire. A block that several sites have is packed once, and is
 * returned by the first of them.
 */
#include "ein_inside.h"
#include "ein_pages.h"
#include "ein_whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EIN_WHOLE_ALIGN = 64 };

typedef struct ein_whole {
  const ein_whole_made *made;
  const ein_model *model;      /* the plan that fits; NULL: none does */
  const ein_whole_default *defaults; /* its defaults; set with the model */
  void *ctx;                   /* its context */
  ein_config config;           /* without a wire or borrowed memory; */
  ein_config lent;             /*   with both, for plans */
  ein_wire given, wire;        /* equal but for who closes them */
  int planned;
  char *memory;                /* for this site's blocks; NULL: not allocated yet */
  void **fallback;             /* by default: this site's block, once it has been computed; */
  int64_t *extent;             /*   that block's extents, by axis of each */
  ein_tensor *input;           /* as given, or computed */
  int64_t *lies;               /* shapes and strides of the given ones */
  void **nobody;               /* by input: memory for one that no default computes and nothing reads */
  int64_t *told, *heard;       /* by site: a number to it, and one from it */
  unsigned char *left_out;     /* by input: omitted at site 0 */
  unsigned char *wanted;       /*   read by a plan, or by a default that is computed */
  int dependent;               /* a default of the last run_blocks is computed again in each run */
  ein_error error;
} ein_whole;

/* ---- creation ---- */

static void ein_whole_free(ein_whole *h) {
  for (int i = 0; h->fallback && i < h->made->n_defaults; i++) free(h->fallback[i]);
  for (int k = 0; h->nobody && k < h->made->plans[0]->n_inputs; k++) free(h->nobody[k]);
  free(h->fallback);
  free(h->nobody);
  free(h->lies);
  free(h->wanted);
  free(h->extent);
  free(h->input);
  free(h->left_out);
  free(h->told);
  free(h->memory);
  free(h);
}

/* Returns NULL if there is no memory. */
static ein_whole *ein_whole_new(const ein_whole_made *made, int sites) {
  ein_whole *h = (ein_whole *)calloc(1, sizeof *h);
  size_t inputs = (size_t)made->plans[0]->n_inputs + 1;
  if (!h) return NULL;
  h->made = made;
  h->fallback = (void **)calloc((size_t)made->n_defaults + 1, sizeof *h->fallback);
  h->extent = (int64_t *)calloc((size_t)made->n_defaults * EIN_MAX_AXES + 1, sizeof *h->extent);
  h->input = (ein_tensor *)calloc(inputs, sizeof *h->input);
  h->lies = (int64_t *)calloc(inputs * 2 * EIN_MAX_AXES, sizeof *h->lies);
  h->nobody = (void **)calloc(inputs, sizeof *h->nobody);
  h->left_out = (unsigned char *)calloc(inputs, 1);
  h->wanted = (unsigned char *)calloc(inputs, 1);
  h->told = (int64_t *)calloc((size_t)sites * 2, sizeof *h->told);
  h->heard = h->told ? h->told + sites : NULL;
  if (h->fallback && h->extent && h->input && h->lies && h->nobody && h->left_out && h->wanted && h->told) return h;
  ein_whole_free(h);
  return NULL;
}

/* The number of the plan that fits; -1: none does, or the sizes must decide. */
static int ein_whole_fits(const ein_whole *h, const int64_t *dims) {
  const ein_whole_made *made = h->made;
  const int n = made->n_dims;
  for (int i = 0; i < made->n_plans && (!n || dims); i++) {
    int same = 0;
    while (same < n && made->dims[(size_t)i * (size_t)n + (size_t)same] == dims[same]) same++;
    if (made->plans[i]->sites == h->wire.sites && same == n) return i;
  }
  return -1;
}

static void ein_whole_take(ein_whole *h, int plan) {
  h->model = h->made->plans[plan];
  h->defaults = h->made->defaults + (size_t)plan * (size_t)h->made->n_defaults;
}

EIN_API ein_status ein_whole_create(const ein_whole_made *made, const ein_config *config, void **ctx) {
  ein_config own;
  if (!ctx) return EIN_ERR_ARG;
  *ctx = NULL;
  memset(&own, 0, sizeof own);
  if (!config || config->size < sizeof config->size) return EIN_ERR_ARG;
  memcpy(&own, config, config->size < sizeof own ? config->size : sizeof own);
  if (!own.wire || own.wire->site < 0 || own.wire->site >= own.wire->sites) return EIN_ERR_ARG;
  ein_whole *h = ein_whole_new(made, own.wire->sites);
  if (!h) return EIN_ERR_MEMORY;
  h->config = own;
  h->config.wire = NULL;
  h->config.workspace = NULL;
  h->config.size = sizeof own;
  h->given = h->wire = *own.wire;
  h->wire.close = NULL;
  own.size = sizeof own;
  own.wire = &h->wire;
  h->lent = own;
  int fits = ein_whole_fits(h, NULL);
  if (fits >= 0) ein_whole_take(h, fits);
  ein_status status = h->model ? h->model->create(&own, &h->ctx) : EIN_OK;
  if (status == EIN_OK) *ctx = h;
  else ein_whole_free(h);
  return status;
}

EIN_API void ein_whole_destroy(void *ctx) {
  ein_whole *h = (ein_whole *)ctx;
  if (!h) return;
  if (h->ctx) h->model->destroy(h->ctx);
  if (h->given.close) h->given.close(h->given.user);
  ein_whole_free(h);
}

/* ---- planning ---- */

static void ein_whole_clear(ein_whole *h) {
  h->error.status = EIN_OK;
  h->error.text[0] = '\0';
}

typedef struct ein_whole_text { char s[320]; int n; } ein_whole_text;

static void ein_whole_say(ein_whole_text *t, const char *before, const char *what, long long n) {
  if (t->n < (int)sizeof t->s) t->n += snprintf(t->s + t->n, sizeof t->s - (size_t)t->n, "%s%s%lld", before, what, n);
}

static void ein_whole_say_sizes(const ein_whole *h, const int64_t *dims, ein_whole_text *t) {
  char what[64];
  for (int k = 0; k < h->made->n_dims; k++) {
    snprintf(what, sizeof what, "%.50s = ", h->made->dim[k]);
    ein_whole_say(t, k ? ", " : " with ", what, (long long)dims[k]);
  }
}

static ein_status ein_whole_none(ein_whole *h, const int64_t *dims) {
  ein_whole_text built = {"", 0}, here = {"", 0};
  for (int i = 0; i < h->made->n_plans; i++) {
    const int before = built.n;
    ein_whole_say(&built, i ? h->made->n_dims ? "; " : ", " : "", "", h->made->plans[i]->sites);
    ein_whole_say_sizes(h, h->made->dims + (size_t)i * (size_t)h->made->n_dims, &built);
    if (built.n + 16 < (int)sizeof built.s) continue; /* an error's message is short */
    snprintf(built.s + before, sizeof built.s - (size_t)before, "; and %d more", h->made->n_plans - i);
    break;
  }
  ein_whole_say(&here, "", "", h->wire.sites);
  ein_whole_say_sizes(h, dims, &here);
  if (h->made->n_dims)
    return ein_error_set(&h->error, EIN_ERR_ARG, "it is built for these sites: %s; but runs on %s", built.s, here.s);
  return ein_error_set(&h->error, EIN_ERR_ARG, "it is built for %s sites, but runs on %s", built.s, here.s);
}

/* Of the program and these sizes. */
static int64_t ein_whole_mark(const ein_whole *h, const int64_t *dims) {
  uint64_t mark = (uint64_t)h->made->mark;
  for (int k = 0; k < h->made->n_dims; k++) mark = (mark ^ (uint64_t)(dims ? dims[k] : -1)) * 0x9E3779B97F4A7C15u;
  return (int64_t)mark;
}

/* Before all else, since other plans exchange other things. */
static ein_status ein_whole_same(ein_whole *h, const int64_t *dims) {
  const int sites = h->wire.sites;
  if (!h->made->mark || !h->wire.counts) return EIN_OK;
  for (int i = 0; i < sites; i++) h->told[i] = ein_whole_mark(h, dims);
  ein_status status = h->wire.counts(h->wire.user, h->told, h->heard);
  if (status != EIN_OK) {
    h->wire.agree(h->wire.user, status);
    return ein_error_set(&h->error, status, "an exchange between sites failed");
  }
  for (int i = 1; i < sites; i++)
    if (h->heard[i] != h->heard[0])
      return ein_error_set(
          &h->error, EIN_ERR_ARG, "site %d has another program than site 0, or other sizes: give all the same", i);
  return EIN_OK;
}

/* Among plans that differ by sizes, selects the one for these sizes, with a context of its own. Only this site
 * knows of an error. */
static ein_status ein_whole_choose(ein_whole *h, const int64_t *dims) {
  if (!dims) return ein_error_set(&h->error, EIN_ERR_ARG, "the sizes are NULL");
  int fits = ein_whole_fits(h, dims);
  if (fits < 0) return ein_whole_none(h, dims);
  const ein_model *found = h->made->plans[fits];
  if (h->model == found) return EIN_OK;
  if (h->ctx) h->model->destroy(h->ctx);
  h->ctx = NULL;
  h->model = NULL;
  ein_status status = found->create(&h->lent, &h->ctx);
  if (status != EIN_OK) return ein_error_set(&h->error, status, "no context for these sizes");
  ein_whole_take(h, fits);
  return EIN_OK;
}

static ein_status ein_whole_chosen(ein_whole *h, const int64_t *dims) {
  ein_status mine = ein_whole_choose(h, dims), status = h->wire.agree(h->wire.user, mine);
  return status == EIN_OK ? EIN_OK : ein_error_set(&h->error, status, EIN_ELSEWHERE);
}

EIN_API ein_status ein_whole_plan(void *ctx, const int64_t *dims) {
  ein_whole *h = (ein_whole *)ctx;
  int64_t at[EIN_MAX_AXES];
  if (!h) return EIN_ERR_ARG;
  ein_whole_clear(h);
  h->planned = 0;
  free(h->memory);
  h->memory = NULL;
  h->dependent = 0;
  for (int i = 0; i < h->made->n_defaults; i++) free(h->fallback[i]), h->fallback[i] = NULL;
  for (int k = 0; k < h->made->plans[0]->n_inputs; k++) free(h->nobody[k]), h->nobody[k] = NULL;
  if (ein_whole_same(h, dims) != EIN_OK) return h->error.status;
  if (h->made->n_dims && ein_whole_chosen(h, dims) != EIN_OK) return h->error.status;
  if (!h->model) return ein_whole_none(h, dims);
  for (int a = h->model->n_dims, site = h->wire.site; a-- > 0; site /= h->model->mesh[a])
    at[a] = site % h->model->mesh[a];
  ein_status status = h->model->plan(h->ctx, at);
  h->planned = status == EIN_OK;
  return status;
}

EIN_API size_t ein_whole_workspace(const void *ctx) {
  const ein_whole *h = (const ein_whole *)ctx;
  return h && h->model ? h->model->workspace(h->ctx) : 0;
}

EIN_API ein_status ein_whole_shape(const void *ctx, int output, int argument, int64_t *shape) {
  const ein_whole *h = (const ein_whole *)ctx;
  const ein_model *m = !h ? NULL : h->made->n_dims ? h->model : h->made->plans[0];
  if (h && !m) return EIN_ERR_PLAN;
  if (!m || argument < 0 || argument >= (output ? m->n_outputs : m->n_inputs)) return EIN_ERR_ARG;
  int n = (output ? m->output : m->input)[argument].ndim;
  if (n) memcpy(shape, (output ? m->output_axes : m->input_axes)[argument].whole, (size_t)n * sizeof *shape);
  return EIN_OK;
}

EIN_API ein_status ein_whole_block(const void *ctx, int output, int argument, int site, int64_t *low, int64_t *shape) {
  const ein_whole *h = (const ein_whole *)ctx;
  return h && h->model ? h->model->block(h->ctx, output, argument, site, low, shape) : EIN_ERR_ARG;
}

EIN_API const char *ein_whole_last_error(const void *ctx) {
  const ein_whole *h = (const ein_whole *)ctx;
  if (!h) return "there is no context";
  return h->error.status != EIN_OK || !h->model ? h->error.text : h->model->last_error(h->ctx);
}

EIN_API void ein_whole_cancel(void *ctx) {
  ein_whole *h = (ein_whole *)ctx;
  if (h && h->model) h->model->cancel(h->ctx);
}

/* ---- an argument's blocks ---- */

typedef struct ein_parts {
  const ein_argument *about;
  const int64_t *whole;
  int sites;
  size_t each;                 /* bytes per element */
  int64_t *low, *shape;        /* of all sites, concatenated */
  size_t *bytes;               /* of each site's block */
  int *same;                   /* the first site with the same block */
  ein_parcel *parcel;
} ein_parts;

static int ein_parts_same(const ein_parts *x, int a, int b) {
  size_t n = (size_t)x->about->ndim, bytes = n * sizeof *x->low;
  return !n ||
      (!memcmp(x->low + (size_t)a * n, x->low + (size_t)b * n, bytes) &&
          !memcmp(x->shape + (size_t)a * n, x->shape + (size_t)b * n, bytes));
}

static void ein_parts_free(ein_parts *x) {
  free(x->low);
  free(x->bytes);
  free(x->same);
  free(x->parcel);
}

/* Returns 0 if there is no memory. */
static int ein_parts_find(const ein_whole *h, int output, int number, ein_parts *x) {
  const ein_model *m = h->model;
  memset(x, 0, sizeof *x);
  x->about = &(output ? m->output : m->input)[number];
  x->whole = (output ? m->output_axes : m->input_axes)[number].whole;
  x->sites = h->wire.sites;
  x->each = ein_dtype_size(x->about->dtype);
  size_t n = (size_t)x->about->ndim, sites = (size_t)x->sites;
  x->low = (int64_t *)malloc((2 * n * sites + 1) * sizeof *x->low);
  x->bytes = (size_t *)malloc(sites * sizeof *x->bytes);
  x->same = (int *)malloc(sites * sizeof *x->same);
  x->parcel = (ein_parcel *)malloc(sites * sizeof *x->parcel);
  if (!x->low || !x->bytes || !x->same || !x->parcel) return 0;
  x->shape = x->low + n * sites;
  for (int q = 0; q < x->sites; q++) {
    int64_t *shape = x->shape + (size_t)q * n;
    int there = m->block(h->ctx, output, number, q, x->low + (size_t)q * n, shape) == EIN_OK;
    x->bytes[q] = there ? x->each : 0;
    for (size_t d = 0; d < n; d++) x->bytes[q] *= (size_t)shape[d];
    x->same[q] = 0;
    while (x->same[q] < q && (x->bytes[x->same[q]] != x->bytes[q] || !ein_parts_same(x, x->same[q], q))) x->same[q]++;
  }
  return 1;
}

/* ---- copies between a whole tensor and a dense block ---- */

static void ein_whole_row(size_t e, char *block, char *whole, int64_t step, int64_t n, int out) {
  if (step == 1) {
    memcpy(out ? whole : block, out ? block : whole, (size_t)n * e);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    char *at = whole + i * step * (int64_t)e, *own = block + (size_t)i * e;
    memcpy(out ? at : own, out ? own : at, e);
  }
}

/* out: from the block into the tensor. */
static void ein_whole_copy(const ein_parts *x, const ein_tensor *view, int site, char *block, int out) {
  int n = x->about->ndim;
  const int64_t *low = x->low + site * n, *shape = x->shape + site * n;
  int64_t stride[EIN_MAX_AXES], at[EIN_MAX_AXES] = {0}, step = 1, offset = 0;
  if (!x->bytes[site]) return;
  for (int d = n; d-- > 0; step *= x->whole[d]) {
    stride[d] = view->strides ? view->strides[d] : step;
    offset += low[d] * stride[d];
  }
  char *whole = (char *)view->data + view->byte_offset;
  int64_t row = n ? shape[n - 1] : 1;
  size_t done = 0;
  while (done < x->bytes[site]) {
    ein_whole_row(x->each, block + done, whole + offset * (int64_t)x->each, n ? stride[n - 1] : 1, row, out);
    done += (size_t)row * x->each;
    for (int d = n - 2; d >= 0; d--) { /* advance to the next row */
      offset += stride[d];
      if (++at[d] < shape[d]) break;
      offset -= stride[d] * shape[d];
      at[d] = 0;
    }
  }
}

/* ---- omitted inputs ---- */

static ein_status ein_default_failed(ein_whole *h, const ein_whole_default *d, ein_status status, const char *why) {
  return ein_error_set(
      &h->error, status, "the default of %.90s: %.300s", h->model->input[d->input].name, *why ? why : "no memory");
}

/* Computes the default into `to`, which has its output's shape. */
static ein_status ein_default_run(
    ein_whole *h, const ein_whole_default *d, const int64_t *sizes, const ein_tensor *from, const ein_tensor *to) {
  void *ctx = NULL;
  ein_status status = d->model->create(&h->config, &ctx);
  if (status == EIN_OK) status = d->model->plan(ctx, sizes);
  if (status == EIN_OK) status = d->model->run(ctx, from, to);
  if (status != EIN_OK) ein_default_failed(h, d, status, ctx ? d->model->last_error(ctx) : "");
  d->model->destroy(ctx);
  return status;
}

/* Computes the whole tensor and copies this site's block into view. */
static ein_status ein_default_cut(ein_whole *h, const ein_whole_default *d, ein_tensor *view) {
  ein_parts x;
  size_t bytes = ein_dtype_size(view->dtype);
  int found = ein_parts_find(h, 0, d->input, &x);
  for (int k = 0; k < view->ndim; k++) bytes *= (size_t)x.whole[k];
  ein_tensor all = *view;
  all.shape = x.whole;
  all.data = found ? malloc(bytes + 1) : NULL;
  ein_status status = all.data ? ein_default_run(h, d, NULL, NULL, &all) : ein_default_failed(h, d, EIN_ERR_MEMORY, "");
  if (status == EIN_OK) ein_whole_copy(&x, &all, h->wire.site, (char *)view->data, 0);
  free(all.data);
  ein_parts_free(&x);
  return status;
}

/* Describes this site's block of an input, without data yet: its view, where it begins, and its shape. Returns
 * its bytes. */
static size_t ein_block_view(const ein_whole *h, int input, int64_t *low, int64_t *shape, ein_tensor *view) {
  const ein_argument *a = &h->model->input[input];
  size_t bytes = ein_dtype_size(a->dtype);
  memset(view, 0, sizeof *view);
  view->device_type = 1;
  view->ndim = a->ndim;
  view->dtype = a->dtype;
  view->shape = shape;
  h->model->block(h->ctx, 0, input, h->wire.site, low, shape);
  for (int k = 0; k < a->ndim; k++) bytes *= (size_t)shape[k];
  return bytes;
}

/* Describes this site's block of an omitted input, dense, and allocates it. made: a previous run has computed
 * it. */
static ein_status ein_default_room(ein_whole *h, int i, int64_t *low, ein_tensor *view, int *made) {
  size_t bytes = ein_block_view(h, h->defaults[i].input, low, h->extent + (size_t)i * EIN_MAX_AXES, view);
  *made = h->fallback[i] || !bytes;
  if (!*made) h->fallback[i] = malloc(bytes);
  view->data = h->fallback[i];
  return bytes && !view->data ? ein_default_failed(h, &h->defaults[i], EIN_ERR_MEMORY, "") : EIN_OK;
}

/* Computes a default that depends on no other input. */
static ein_status ein_default_make(ein_whole *h, int i, ein_tensor *view) {
  const ein_whole_default *d = &h->defaults[i];
  int64_t sizes[2 * EIN_MAX_AXES];
  int made;
  ein_status status = ein_default_room(h, i, sizes, view, &made);
  if (status != EIN_OK || made) return status;
  for (int k = 0; k < view->ndim; k++) sizes[view->ndim + k] = view->shape[k];
  status = d->by_block ? ein_default_run(h, d, sizes, NULL, view) : ein_default_cut(h, d, view);
  if (status != EIN_OK) free(view->data), h->fallback[i] = NULL;
  return status;
}

static const ein_whole_default *ein_default_of(const ein_whole *h, int input) {
  for (int i = 0; i < h->made->n_defaults; i++)
    if (h->defaults[i].input == input) return &h->defaults[i];
  return NULL;
}

/* Whether the input can be omitted. */
static int ein_whole_may_lack(const ein_whole *h, int input) {
  return input >= h->made->n_read || ein_default_of(h, input) != NULL;
}

/* ---- checks of a site's arguments ---- */

/* what: "input"; wanted: the expected shape. */
static ein_status ein_view_look(
    ein_whole *h, const char *what, const ein_argument *a, const ein_tensor *v, const int64_t *wanted) {
  int empty = 0;
  for (int d = 0; d < a->ndim; d++) empty |= wanted[d] == 0;
  if (!v->data && !empty) return ein_error_set(&h->error, EIN_ERR_ARG, "%s %.90s: its data is NULL", what, a->name);
  if (v->device_type != 1)
    return ein_error_set(&h->error, EIN_ERR_ARG, "%s %.90s: it is not on the CPU", what, a->name);
  if (v->dtype != a->dtype)
    return ein_error_set(&h->error, EIN_ERR_DTYPE, "%s %.90s: its dtype is %s, but %s is expected", what, a->name,
        ein_dtype_name(v->dtype), ein_dtype_name(a->dtype));
  if (v->ndim != a->ndim)
    return ein_error_set(&h->error, EIN_ERR_SHAPE, "%s %.90s: it has %d axes, but %d are expected", what, a->name,
        (int)v->ndim, a->ndim);
  for (int d = 0; d < a->ndim; d++)
    if (v->shape[d] != wanted[d])
      return ein_error_set(&h->error, EIN_ERR_SHAPE, "%s %.90s: axis %d has the extent %lld, but %lld is expected",
          what, a->name, d + 1, (long long)v->shape[d], (long long)wanted[d]);
  return EIN_OK;
}

static ein_status ein_whole_look(ein_whole *h, const ein_tensor *list, int output) {
  const ein_model *m = h->model;
  int n = output ? m->n_outputs : m->n_inputs;
  ein_status status = EIN_OK;
  if (n && !list) return ein_error_set(&h->error, EIN_ERR_ARG, "site 0 passes no %s", output ? "outputs" : "inputs");
  for (int i = 0; i < n && status == EIN_OK; i++) {
    if (!list[i].data && !output && ein_whole_may_lack(h, i)) continue;
    status = ein_view_look(h, output ? "output" : "input", &(output ? m->output : m->input)[i], &list[i],
        (output ? m->output_axes : m->input_axes)[i].whole);
  }
  return status;
}

/* ---- scatter and gather ---- */

static ein_status ein_whole_agree(ein_whole *h, ein_status mine) {
  ein_status status = h->wire.agree(h->wire.user, mine);
  if (status != EIN_OK) ein_error_set(&h->error, status, EIN_ELSEWHERE);
  return status;
}

/* An exchange whose status is the same at all sites. They agree once more after it: who went on, and failed in the
 * next call, would disturb those that still wait. */
static ein_status ein_whole_meet(
    ein_whole *h, ein_status mine, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  ein_status status = ein_whole_agree(h, mine);
  if (status != EIN_OK) return status;
  mine = h->wire.exchange(h->wire.user, n_send, send, n_receive, receive);
  status = ein_whole_agree(h, EIN_OK);
  return status != EIN_OK || mine == EIN_OK ? status : ein_error_set(&h->error, mine, EIN_ELSEWHERE);
}

static ein_status ein_whole_memory(ein_whole *h, int found, const char *room) {
  return found && room ? EIN_OK
                       : ein_error_set(&h->error, EIN_ERR_MEMORY, "no memory to bring tensors to the sites and back");
}

/* Bytes of the distinct blocks of the sites before `site`: where its packed block begins. */
static size_t ein_whole_staged(const ein_parts *x, int site) {
  size_t sum = 0;
  for (int q = 0; q < site; q++) sum += x->same[q] == q ? x->bytes[q] : 0;
  return sum;
}

static ein_status ein_whole_scatter(ein_whole *h, int number, const ein_tensor *view, const ein_tensor *block) {
  ein_parts x;
  int found = ein_parts_find(h, 0, number, &x), n = 0;
  char *room = found && h->wire.site == 0 ? (char *)malloc(ein_whole_staged(&x, x.sites) + 1) : NULL;
  ein_status mine = ein_whole_memory(h, found, h->wire.site == 0 ? room : "");
  for (int q = 0; mine == EIN_OK && h->wire.site == 0 && q < x.sites; q++) {
    char *at = room + ein_whole_staged(&x, x.same[q]);
    if (x.same[q] == q) ein_whole_copy(&x, view, q, at, 0);
    ein_parcel one = {q, at, x.bytes[q]};
    if (one.bytes) x.parcel[n++] = one;
  }
  ein_parcel own = {0, block->data, mine == EIN_OK ? x.bytes[h->wire.site] : 0};
  ein_status status = ein_whole_meet(h, mine, n, x.parcel, own.bytes > 0, &own);
  free(room);
  ein_parts_free(&x);
  return status;
}

static ein_status ein_whole_gather(
    ein_whole *h, int output, int number, const ein_tensor *view, const ein_tensor *block) {
  ein_parts x;
  int found = ein_parts_find(h, output, number, &x), site = h->wire.site, n = 0;
  char *room = found && site == 0 ? (char *)malloc(ein_whole_staged(&x, x.sites) + 1) : NULL;
  ein_status mine = ein_whole_memory(h, found, site == 0 ? room : "");
  for (int q = 0; mine == EIN_OK && site == 0 && q < x.sites; q++) {
    ein_parcel one = {q, room + ein_whole_staged(&x, q), x.bytes[q]};
    if (one.bytes && x.same[q] == q) x.parcel[n++] = one;
  }
  ein_parcel own = {0, block->data, mine == EIN_OK && x.same[site] == site ? x.bytes[site] : 0};
  ein_status status = ein_whole_meet(h, mine, own.bytes > 0, &own, n, x.parcel);
  for (int i = 0; status == EIN_OK && i < n; i++)
    ein_whole_copy(&x, view, x.parcel[i].peer, (char *)x.parcel[i].data, 1);
  free(room);
  ein_parts_free(&x);
  return status;
}

/* ---- running ---- */

/* Views of this site's blocks, in memory that begins at base; NULL: only their size is computed. */
typedef struct ein_blocks {
  ein_tensor *view;            /* inputs, then outputs */
  int64_t *shape;
} ein_blocks;

static size_t ein_blocks_lay(const ein_whole *h, const ein_blocks *b, char *base) {
  const ein_model *m = h->model;
  int64_t low[EIN_MAX_AXES];
  size_t used = 0, axes = 0;
  for (int i = 0; i < m->n_inputs + m->n_outputs; i++) {
    int output = i >= m->n_inputs, k = output ? i - m->n_inputs : i;
    const ein_argument *a = &(output ? m->output : m->input)[k];
    ein_tensor *v = &b->view[i];
    int64_t *shape = b->shape + axes;
    size_t bytes = m->block(h->ctx, output, k, h->wire.site, low, shape) == EIN_OK ? ein_dtype_size(a->dtype) : 0;
    for (int d = 0; d < a->ndim; d++) bytes *= (size_t)shape[d];
    memset(v, 0, sizeof *v);
    v->data = base ? base + used : NULL;
    v->device_type = 1;
    v->ndim = a->ndim;
    v->dtype = a->dtype;
    v->shape = shape;
    axes += (size_t)a->ndim;
    used += (bytes + EIN_WHOLE_ALIGN - 1) / EIN_WHOLE_ALIGN * EIN_WHOLE_ALIGN;
  }
  return used;
}

/* Returns 0 if there is no memory. The blocks' memory is kept. */
static int ein_blocks_make(ein_whole *h, ein_blocks *b) {
  const ein_model *m = h->model;
  size_t n = (size_t)(m->n_inputs + m->n_outputs), axes = 0;
  for (int i = 0; i < m->n_inputs; i++) axes += (size_t)m->input[i].ndim;
  for (int i = 0; i < m->n_outputs; i++) axes += (size_t)m->output[i].ndim;
  b->view = (ein_tensor *)malloc((n + 1) * sizeof *b->view);
  b->shape = (int64_t *)malloc((axes + 1) * sizeof *b->shape);
  if (!b->view || !b->shape) return 0;
  if (!h->memory) {
    size_t bytes = ein_blocks_lay(h, b, NULL) + 1;
    h->memory = (char *)malloc(bytes);
    ein_pages_large(h->memory, bytes);
  }
  if (h->memory) ein_blocks_lay(h, b, h->memory);
  return h->memory != NULL;
}

/* Tells all sites which inputs site 0 omits; mine: this site's status so far. */
static ein_status ein_whole_tell(ein_whole *h, ein_status mine, const ein_tensor *inputs) {
  size_t n = (size_t)h->model->n_inputs;
  int sites = h->wire.sites, first = h->wire.site == 0;
  ein_parcel *send = (ein_parcel *)malloc((size_t)sites * sizeof *send), own = {0, h->left_out, n};
  for (size_t k = 0; first && k < n; k++) h->left_out[k] = inputs && !inputs[k].data && ein_whole_may_lack(h, (int)k);
  for (int q = 1; send && q < sites; q++) send[q].peer = q, send[q].data = h->left_out, send[q].bytes = n;
  if (mine == EIN_OK) mine = ein_whole_memory(h, send != NULL, "");
  ein_status status = ein_whole_meet(
      h, mine, mine == EIN_OK && first ? sites - 1 : 0, send ? send + 1 : NULL, mine == EIN_OK && !first, &own);
  free(send);
  return status;
}

/* ---- defaults that depend on inputs ---- */

/* Finds the inputs that plans and computed defaults read. dependent: one of these defaults depends on inputs. */
static void ein_whole_want(ein_whole *h) {
  h->dependent = 0;
  for (int k = 0; k < h->model->n_inputs; k++) h->wanted[k] = k < h->made->n_read;
  for (int i = h->made->n_defaults; i-- > 0;) {
    const ein_whole_default *d = &h->defaults[i];
    int made = h->left_out[d->input] && h->wanted[d->input];
    for (int k = 0; made && k < d->n_from; k++) h->wanted[d->from[k]] = 1;
    h->dependent |= made && d->n_from > 0;
  }
}

/* Copies the block to dense memory, *room, which must be freed. */
static ein_status ein_block_dense(ein_whole *h, int input, ein_tensor *view, void **room) {
  const int64_t zero[EIN_MAX_AXES] = {0};
  size_t bytes = ein_dtype_size(view->dtype);
  int one = 0;
  for (int d = 0; d < view->ndim; d++) bytes *= (size_t)view->shape[d];
  ein_parts own = {&h->model->input[input], view->shape, 1, ein_dtype_size(view->dtype), (int64_t *)zero,
      (int64_t *)view->shape, &bytes, &one, NULL};
  *room = malloc(bytes + 1);
  if (!*room) return ein_whole_memory(h, 0, NULL);
  ein_whole_copy(&own, view, 0, (char *)*room, 0);
  view->data = *room;
  view->byte_offset = 0;
  view->strides = NULL;
  return EIN_OK;
}

/* Checks this site's block of an input that a default depends on. */
static ein_status ein_default_look(ein_whole *h, const ein_whole_default *d, int input, const ein_tensor *view) {
  int64_t low[EIN_MAX_AXES], shape[EIN_MAX_AXES];
  ein_tensor block;
  size_t bytes = ein_block_view(h, input, low, shape, &block);
  const ein_argument *a = &h->model->input[input];
  if (h->left_out[input] && !ein_default_of(h, input))
    return ein_error_set(&h->error, EIN_ERR_ARG, "input %.90s is not given, and the default of %.90s depends on it",
        a->name, h->model->input[d->input].name);
  if (!view->data && input >= h->made->n_read && h->wire.site > 0) return EIN_OK; /* site 0 has it */
  return a->ndim || bytes ? ein_view_look(h, "input", a, view, shape) : EIN_OK;
}

/* Gathers an input at site 0, in memory of its own. */
static ein_status ein_default_gather(
    ein_whole *h, const ein_whole_default *d, int input, const ein_tensor *view, ein_tensor *whole) {
  ein_tensor block = *view;
  void *room = NULL;
  ein_status mine = ein_default_look(h, d, input, view);
  size_t bytes = ein_dtype_size(h->model->input[input].dtype);
  if (mine == EIN_OK && view->data) mine = ein_block_dense(h, input, &block, &room);
  memset(whole, 0, sizeof *whole);
  whole->device_type = 1;
  whole->ndim = h->model->input[input].ndim;
  whole->dtype = h->model->input[input].dtype;
  whole->shape = h->model->input_axes[input].whole;
  for (int k = 0; k < whole->ndim; k++) bytes *= (size_t)whole->shape[k];
  if (mine == EIN_OK && h->wire.site == 0) {
    whole->data = malloc(bytes + 1);
    mine = ein_whole_memory(h, 1, (const char *)whole->data);
  }
  ein_status status = ein_whole_agree(h, mine);
  if (status == EIN_OK) status = ein_whole_gather(h, 0, input, whole, &block);
  free(room);
  return status;
}

/* Site 0 gathers the inputs, computes the whole default, and sends each site its block. */
static ein_status ein_default_from_inputs(ein_whole *h, int i, ein_tensor *input) {
  const ein_whole_default *d = &h->defaults[i];
  int64_t low[EIN_MAX_AXES];
  int made, n = 0;
  ein_tensor *view = &input[d->input], all, *from = (ein_tensor *)calloc((size_t)d->n_from, sizeof *from);
  ein_status mine = from ? ein_default_room(h, i, low, view, &made) : ein_default_failed(h, d, EIN_ERR_MEMORY, "");
  ein_status status = ein_whole_agree(h, mine);
  for (; status == EIN_OK && n < d->n_from; n++)
    status = ein_default_gather(h, d, d->from[n], &input[d->from[n]], &from[n]);
  all = *view;
  all.data = NULL;
  all.shape = h->model->input_axes[d->input].whole;
  if (status == EIN_OK && h->wire.site == 0) {
    size_t bytes = ein_dtype_size(all.dtype);
    for (int k = 0; k < all.ndim; k++) bytes *= (size_t)all.shape[k];
    all.data = malloc(bytes + 1);
    mine = all.data ? ein_default_run(h, d, NULL, from, &all) : ein_default_failed(h, d, EIN_ERR_MEMORY, "");
  }
  if (status == EIN_OK) status = ein_whole_agree(h, mine);
  if (status == EIN_OK) status = ein_whole_scatter(h, d->input, &all, view);
  for (int k = 0; k < n; k++) free(from[k].data);
  free(from);
  free(all.data);
  return status;
}

/* Provides memory for an input that no plan and no default reads. */
static ein_status ein_whole_idle(ein_whole *h, int input, ein_tensor *view) {
  int64_t low[EIN_MAX_AXES];
  size_t bytes = ein_block_view(h, input, low, h->lies + (size_t)input * 2 * EIN_MAX_AXES, view);
  if (bytes && !h->nobody[input]) h->nobody[input] = calloc(bytes, 1);
  view->data = h->nobody[input];
  return ein_whole_memory(h, 1, view->data || !bytes ? "" : NULL);
}

/* Fills in the omitted inputs. Collective. */
static ein_status ein_whole_fill(ein_whole *h, ein_tensor *input) {
  ein_status mine = EIN_OK, status = EIN_OK;
  for (int i = 0; i < h->made->n_defaults && status == EIN_OK; i++) {
    const ein_whole_default *d = &h->defaults[i];
    if (!h->left_out[d->input] || !h->wanted[d->input]) continue;
    if (d->n_from) status = ein_whole_agree(h, mine);
    if (d->n_from && status == EIN_OK) status = ein_default_from_inputs(h, i, input);
    else if (mine == EIN_OK) mine = ein_default_make(h, i, &input[d->input]);
  }
  for (int k = h->made->n_read; k < h->model->n_inputs && mine == EIN_OK; k++)
    if (!h->wanted[k] || (h->left_out[k] && !ein_default_of(h, k))) mine = ein_whole_idle(h, k, &input[k]);
  return status == EIN_OK ? ein_whole_agree(h, mine) : status;
}

static ein_status ein_whole_go(ein_whole *h, const ein_blocks *b, const ein_tensor *inputs, const ein_tensor *outputs) {
  const ein_model *m = h->model;
  ein_status status = EIN_OK;
  if (h->made->n_defaults) status = ein_whole_tell(h, EIN_OK, inputs);
  for (int k = 0; k < m->n_inputs && status == EIN_OK; k++)
    if (!h->left_out[k]) status = ein_whole_scatter(h, k, inputs ? &inputs[k] : NULL, &b->view[k]);
  if (h->made->n_defaults && status == EIN_OK) ein_whole_want(h), status = ein_whole_fill(h, b->view);
  h->dependent = 0; /* `again` uses the blocks computed here */
  if (status == EIN_OK) status = m->run(h->ctx, b->view, b->view + m->n_inputs);
  for (int k = 0; k < m->n_outputs && status == EIN_OK; k++)
    status = ein_whole_gather(h, 1, k, outputs ? &outputs[k] : NULL, &b->view[m->n_inputs + k]);
  return status;
}

EIN_API ein_status ein_whole_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  ein_whole *h = (ein_whole *)ctx;
  ein_blocks b = {NULL, NULL};
  ein_status mine = EIN_OK;
  if (!h) return EIN_ERR_ARG;
  ein_whole_clear(h);
  /* at all sites, since planning is collective */
  if (!h->planned) return ein_error_set(&h->error, EIN_ERR_PLAN, "call plan before run");
  if (h->wire.site == 0) mine = ein_whole_look(h, inputs, 0);
  if (h->wire.site == 0 && mine == EIN_OK) mine = ein_whole_look(h, outputs, 1);
  if (mine == EIN_OK) mine = ein_whole_memory(h, ein_blocks_make(h, &b), "");
  ein_status status = ein_whole_agree(h, mine);
  if (status == EIN_OK) status = ein_whole_go(h, &b, inputs, outputs);
  free(b.view);
  free(b.shape);
  return status;
}

/* Keeps the view, with a copy of its shape and strides. */
static void ein_whole_keep(ein_whole *h, int input, const ein_tensor *given) {
  const size_t n = given->ndim > 0 && given->ndim <= EIN_MAX_AXES ? (size_t)given->ndim : 0;
  int64_t *lies = h->lies + (size_t)input * 2 * EIN_MAX_AXES;
  ein_tensor *view = &h->input[input];
  *view = *given;
  if (n && view->shape) view->shape = (const int64_t *)memcpy(lies, given->shape, n * sizeof *lies);
  if (n && view->strides)
    view->strides = (const int64_t *)memcpy(lies + EIN_MAX_AXES, given->strides, n * sizeof *lies);
}

EIN_API ein_status ein_whole_run_blocks(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  ein_whole *h = (ein_whole *)ctx;
  if (!h) return EIN_ERR_ARG;
  ein_whole_clear(h);
  if (!h->planned) return ein_error_set(&h->error, EIN_ERR_PLAN, "call plan before run");
  if (!h->made->n_defaults) return h->model->run(h->ctx, inputs, outputs);
  ein_status status =
      ein_whole_tell(h, inputs ? EIN_OK : ein_error_set(&h->error, EIN_ERR_ARG, "the inputs are NULL"), inputs);
  for (int k = 0; k < h->model->n_inputs && status == EIN_OK; k++) ein_whole_keep(h, k, &inputs[k]);
  if (status == EIN_OK) ein_whole_want(h), status = ein_whole_fill(h, h->input);
  return status == EIN_OK ? h->model->run(h->ctx, h->input, outputs) : status;
}

EIN_API ein_status ein_whole_again(void *ctx) {
  ein_whole *h = (ein_whole *)ctx;
  if (!h) return EIN_ERR_ARG;
  ein_whole_clear(h);
  if (!h->planned) return ein_error_set(&h->error, EIN_ERR_PLAN, "call plan before run");
  ein_status status = h->dependent ? ein_whole_fill(h, h->input) : EIN_OK;
  return status == EIN_OK ? ein_again(h->ctx) : status;
}

EIN_API ein_status ein_whole_collect(void *ctx, int output, const ein_tensor *block, const ein_tensor *whole) {
  ein_whole *h = (ein_whole *)ctx;
  if (!h) return EIN_ERR_ARG;
  ein_whole_clear(h);
  if (!h->planned) return ein_error_set(&h->error, EIN_ERR_PLAN, "call plan before run");
  return ein_whole_gather(h, 1, output, whole, block);
}
