/* SPDX-License-Identifier: MIT-0 */
/*
 * Sends lists of requests (asks.h): one by one, or, if a list recurs, as a graph, which the driver launches at
 * once. Graphs are captured in a separate stream, so the caller's is not affected. Turn numbers and changed
 * addresses are set in the graph's kernels before a launch. A list that recurs with the same addresses has its
 * own graph, so buffers that swap have one graph for each arrangement. If the driver has no graphs, or cannot
 * make one of a list, the list is sent one by one.
 */
#ifndef EIN_CUDA_GRAPHS_H
#define EIN_CUDA_GRAPHS_H

static void *ein_ask_at(uint64_t word) { return (void *)(uintptr_t)word; }

/* The name of a request's kernel; NULL if it has none. */
static const char *ein_ask_kernel(const ein_gpu *g, const uint64_t *ask) {
  return ask[0] == EIN_ASK_LAUNCH ? g->code->kernel[ask[EIN_ASK_HEAD]]
      : ask[0] == EIN_ASK_PRODUCT ? (const char *)ein_ask_at(ask[EIN_ASK_HEAD])
                                  : NULL;
}

/* A launch's node; its parameters point into the list. */
static ein_cu_node ein_ask_node(const ein_gpu *g, uint64_t *ask, void **parameter) {
  uint64_t *w = ask + EIN_ASK_HEAD;
  size_t n = (size_t)w[7];
  ein_cu_node x = {.function = g->function[w[0]], .shared = g->code->shared[w[0]], .parameter = parameter};
  for (int k = 0; k < 3; k++) x.grid[k] = (unsigned)w[1 + k], x.block[k] = (unsigned)w[4 + k];
  for (size_t k = 0; k < n + (w[8] != 0); k++) parameter[k] = w + EIN_ASK_GIVEN + k;
  return x;
}

/* Does one request. Returns 0 or the driver's error; *status: cuBLAS's. */
static int ein_ask_do(ein_gpu *g, uint64_t *ask, void *stream, int *status) {
  const uint64_t *w = ask + EIN_ASK_HEAD;
  void *parameter[EIN_CUDA_MOST + 1];
  ein_cu_node x;
  switch (ask[0]) {
  case EIN_ASK_LAUNCH:
    x = ein_ask_node(g, ask, parameter);
    return g->cu.launch(x.function, x.grid[0], x.grid[1], x.grid[2], x.block[0], x.block[1], x.block[2], x.shared,
        stream, parameter, NULL);
  case EIN_ASK_FILL: return g->cu.fill(w[0], (unsigned char)w[2], (size_t)w[1], stream);
  case EIN_ASK_ACROSS: return g->cu.copy_across(w[0], w[1], (size_t)w[2], stream);
  default: return *status = ein_gpu_product(g, w), 0;
  }
}

static const char *ein_ask_what(const ein_gpu *g, const uint64_t *ask) {
  const char *kernel = ein_ask_kernel(g, ask);
  return kernel ? kernel : (const char *)ein_ask_at(ask[ask[1] - 1]);
}

/* Does all requests one by one. */
static int ein_asks_do(ein_ctx *ctx, ein_gpu *g, ein_gpu_list *a) {
  for (size_t k = 0; k < a->len; k += (size_t)a->word[k + 1]) {
    uint64_t *ask = a->word + k;
    const char *was = g->last, *kernel = ein_ask_kernel(g, ask);
    int status = 0, e;
    if (kernel) g->last = kernel;
    e = ein_ask_do(g, ask, g->stream, &status);
    if (ein_gpu_lost(e) && was) g->last = was; /* the error is from earlier kernels */
    if (!ein_gpu_ok(ctx, g, e, ein_ask_what(g, ask)) || !ein_gpu_product_ok(ctx, g, status, ein_ask_what(g, ask)))
      return 0;
    g->counts->launches++;
  }
  return 1;
}

/* ---- graphs ---- */

static void ein_graph_drop(ein_gpu *g, ein_graph *x) {
  if (x->made) g->cu.graph_drop(x->made);
  if (x->graph) g->cu.graph_forget(x->graph);
  free(x->node);
  x->graph = x->made = NULL, x->node = NULL;
}

static void ein_graphs_end(ein_gpu *g) {
  for (int k = 0; k < g->graphs.n; k++) {
    ein_graph_drop(g, &g->graphs.of[k]);
    free(g->graphs.of[k].asks.word);
  }
  if (g->graphs.aside) g->cu.stream_end(g->graphs.aside);
}

/* Submits the list to the capture stream, and keeps the nodes of launches. Returns 0 if the driver refuses
 * something. */
static int ein_graph_fill(ein_gpu *g, ein_graph *x) {
  int at = 0, status = 0;
  for (size_t k = 0; k < x->asks.len; k += (size_t)x->asks.word[k + 1], at++) {
    void *graph = NULL, *const *last = NULL;
    uint64_t id = 0;
    size_t n = 0;
    int how = 0;
    if (ein_ask_do(g, x->asks.word + k, g->graphs.aside, &status) || status) return 0;
    if (x->asks.word[k] != EIN_ASK_LAUNCH) continue;
    if (g->cu.capture_info(g->graphs.aside, &how, &id, &graph, &last, &n) || n != 1) return 0;
    x->node[at] = last[0];
  }
  return 1;
}

static int ein_graph_capture(ein_gpu *g, ein_graph *x) {
  int filled, ended;
  if (!g->graphs.aside && g->cu.stream_new(&g->graphs.aside, EIN_CU_OWN_STREAM)) return g->graphs.aside = NULL, 0;
  if (g->cu.capture_begin(g->graphs.aside, EIN_CU_OF_THREAD)) return 0;
  filled = ein_gpu_products_go(g, g->graphs.aside) && ein_graph_fill(g, x);
  ended = !g->cu.capture_end(g->graphs.aside, &x->graph); /* in any case, to end the stream's capture */
  return filled && ended && !g->cu.graph_make(&x->made, x->graph, 0);
}

/* Makes the graph of a list that recurred. Returns 0 only for an error, which is in the context; it is no error
 * if the driver cannot make the graph. */
static int ein_graph_make(ein_ctx *ctx, ein_gpu *g, ein_graph *x) {
  x->node = (void **)calloc((size_t)x->asks.n, sizeof *x->node);
  int made = x->node && ein_graph_capture(g, x);
  if (made) g->counts->graphs++;
  else x->made = NULL, ein_graph_drop(g, x), x->never = 1;
  return ein_gpu_products_back(ctx, g);
}

/* Sets the parameters of the graph's kernels to those in the list. Returns 0 if the driver refuses. */
static int ein_graph_set(ein_gpu *g, ein_graph *x, const ein_gpu_list *a) {
  int at = 0;
  for (size_t k = 0; k < a->len; k += (size_t)a->word[k + 1], at++) {
    uint64_t *old = x->asks.word + k;
    size_t bytes = (size_t)old[1] * sizeof *old;
    void *parameter[EIN_CUDA_MOST + 1];
    ein_cu_node node;
    if (!memcmp(old, a->word + k, bytes)) continue;
    memcpy(old, a->word + k, bytes);
    node = ein_ask_node(g, old, parameter);
    if (g->cu.graph_set(x->made, x->node[at], &node)) return 0;
  }
  x->asks.same = a->same;
  return 1;
}

/* ---- lookup ---- */

static ein_graph *ein_graphs_find(ein_graphs *all, const ein_gpu_list *a, int turns, int made) {
  for (int k = 0; k < all->n; k++)
    if ((!made || all->of[k].made) && ein_asks_equal(&all->of[k].asks, a, turns)) return &all->of[k];
  return NULL;
}

/* Keeps the list, replacing the least recently used one if all places are taken. Returns NULL if there is no
 * memory. */
static ein_graph *ein_graphs_keep(ein_gpu *g, const ein_gpu_list *a) {
  ein_graphs *all = &g->graphs;
  ein_graph *x = &all->of[0];
  uint64_t *word = (uint64_t *)malloc(a->len * sizeof *word);
  if (!word) return NULL;
  if (all->n < EIN_GRAPHS) x = &all->of[all->n++], memset(x, 0, sizeof *x);
  else
    for (int k = 1; k < all->n; k++)
      if (all->of[k].used < x->used) x = &all->of[k];
  ein_graph_drop(g, x);
  free(x->asks.word);
  memset(x, 0, sizeof *x);
  x->asks = *a;
  x->asks.word = (uint64_t *)memcpy(word, a->word, a->len * sizeof *word);
  x->asks.room = a->len;
  return x;
}

/* Sets *found to the graph to launch; NULL: send the list one by one. Returns 0 for an error. */
static int ein_graphs_pick(ein_ctx *ctx, ein_gpu *g, const ein_gpu_list *a, ein_graph **found) {
  ein_graphs *all = &g->graphs;
  ein_graph *x = ein_graphs_find(all, a, 1, 0), *like;
  *found = NULL;
  if (x && !x->made && !x->never && !ein_graph_make(ctx, g, x)) return 0;
  if (!x) {
    like = ein_graphs_find(all, a, 0, 1);
    if (like) like->used = ++all->now; /* so that it is not the one replaced */
    else like = ein_graphs_find(all, a, 0, 0);
    x = ein_graphs_keep(g, a);
    if (!x) return 1;
    x->used = ++all->now;
    if (!like || like == x) return 1;
    if (like->made) x = like;
    else if (!like->never && !ein_graph_make(ctx, g, x)) return 0;
  }
  x->used = ++all->now;
  if (x->made) *found = x;
  return 1;
}

/* Returns 0 if it was not launched. If the error has destroyed the context or device, it is recorded. */
static int ein_graph_go(ein_ctx *ctx, ein_gpu *g, ein_graph *x, const ein_gpu_list *a) {
  const char *was = g->last;
  int e = !ein_graph_set(g, x, a) ? EIN_CU_MEMORY : g->cu.graph_launch(x->made, g->stream);
  for (size_t k = 0; !e && k < a->len; k += (size_t)a->word[k + 1])
    if (ein_ask_kernel(g, a->word + k)) g->last = ein_ask_kernel(g, a->word + k);
  if (!e) return g->counts->graph_launches++, 1;
  g->last = was;
  if (ein_gpu_lost(e)) return ein_gpu_ok(ctx, g, e, "a graph of launches");
  ein_graph_drop(g, x);
  x->never = 1;
  return 0;
}

/* Sends all requests. */
static int ein_gpu_send(ein_ctx *ctx, ein_gpu *g) {
  ein_gpu_list *a = &g->asks;
  ein_graph *x = NULL;
  int ok = 1, gone = 0;
  if (!a->n) return 1;
  if (a->n > 1 && g->cu.graphs && !g->graphs.off && !g->captured) ok = ein_graphs_pick(ctx, g, a, &x);
  if (ok && x) gone = ein_graph_go(ctx, g, x, a);
  if (ok && !gone) ok = ein_state(ctx) == EIN_OK && ein_asks_do(ctx, g, a);
  ein_asks_empty(a);
  return ok;
}

static EIN_UNUSED void ein_gpu_turned(ein_ctx *ctx, ein_gpu *g, int outer) {
  if ((outer || g->asks.n >= EIN_ASKS_TURN) && ein_state(ctx) == EIN_OK) ein_gpu_send(ctx, g);
}

/* After a failed run: drops requests not sent, and waits until the device is idle. */
static void ein_gpu_end(ein_gpu *g) {
  ein_asks_empty(&g->asks);
  if (!g->captured) g->cu.stream_wait(g->stream);
  g->last = NULL;
}

/* ---- a stream that the caller captures ---- */

static int ein_gpu_captures(const ein_gpu *g) { return g->captured; }

/* Checked when a run begins. */
static int ein_gpu_capture(ein_ctx *ctx, ein_gpu *g) {
  int status = 0;
  g->captured = 0;
  if (!g->lent || !g->cu.graphs) return 1;
  if (!ein_gpu_ok(ctx, g, g->cu.capturing(g->stream, &status), "the caller's stream")) return 0;
  g->captured = status != 0;
  return 1;
}

#endif
