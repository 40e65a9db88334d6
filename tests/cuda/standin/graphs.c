/* tests/cuda/standin/graphs.c - the functions of the stand-in for the driver that capture a stream, and make and
 * launch graphs. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "planted.h"
#include "work.h"

/* First completes the stream's earlier work. */
int cuStreamBeginCapture_v2(void *stream, int mode) {
  HERE;
  if (!is_here(stream) || mode < 0 || mode > 2) return INVALID;
  Stream *s = stream;
  counted(CAPTURES);
  if (s->capture || is_due("capture=", CAPTURES)) return 903;
  stream_done(s);
  s->capture = 1, s->spoiled = 0, s->mode = mode, s->thread = pthread_self();
  return OK;
}

int cuStreamIsCapturing(void *stream, int *status) {
  HERE;
  Stream **x = stream_find(stream);
  return x ? (*status = (*x)->capture ? 1 + (*x)->spoiled : 0, OK) : INVALID;
}

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *n) {
  static __thread void *node[1];
  HERE;
  Stream **x = stream_find(stream);
  if (!x || !(*x)->capture) return INVALID;
  if ((*x)->spoiled) return VOID;
  node[0] = NULL;
  for (Later *k = (*x)->first; k; k = k->next) node[0] = k;
  return *status = 1, *id = 1, *graph = NULL, *last = node, *n = node[0] != NULL, OK;
}

int cuStreamEndCapture(void *stream, void **graph) {
  HERE;
  Stream **x = stream_find(stream);
  if (!x || !(*x)->capture) return INVALID;
  Stream *s = *x;
  Graph *g = calloc(1, sizeof *g);
  if (s->mode == 1 && !pthread_equal(s->thread, pthread_self())) return free(g), 908;
  g->first = s->first, g->device = s->device;
  s->first = NULL, s->last = &s->first, s->capture = 0;
  driver.live++;
  *graph = g;
  return s->spoiled ? (cuGraphDestroy(g), *graph = NULL, VOID) : OK;
}

int cuGraphDestroy(void *graph) {
  HERE;
  Graph *g = graph;
  all_done();
  for (Later *k = g->first, *next; k; k = next) next = k->next, later_free(k);
  driver.live--;
  return free(g), OK;
}

/* An executable graph: a linked list of copies of the graph's nodes, in the same order. */
typedef struct Made { int device; Later *first; Graph *of; } Made;

static Later *nodes_copy(const Later *from) {
  Later *first = NULL, **last = &first;
  for (; from; from = from->next) {
    Later *x = *last = calloc(1, sizeof *x);
    *x = *from, x->next = NULL, x->shared = 1;
    last = &x->next;
    if (x->what != 'k') continue;
    x->shared = 0, x->data = NULL, x->parameter = NULL;
    parameters_set(x, from->parameter);
  }
  return first;
}

int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) {
  HERE;
  NOT_IN_CAPTURE(NULL);
  if (flags) return INVALID;
  counted(INSTANCES);
  if (is_due("graph=", INSTANCES)) return NO_MEMORY;
  Made *m = calloc(1, sizeof *m);
  Graph *g = graph;
  m->device = g->device, m->first = nodes_copy(g->first), m->of = g;
  driver.live++;
  return *made = m, OK;
}

int cuGraphExecKernelNodeSetParams(void *made, void *node, const KernelNode *what) {
  HERE;
  Made *m = made;
  Later *x = m->first;
  StandinLaunch *run;
  counted(GRAPH_SETS);
  if (is_due("graph-set=", GRAPH_SETS)) return NO_MEMORY;
  for (Later *k = m->of->first; k && k != node; k = k->next) x = x->next;
  if (!x || x->what != 'k' || what->shared != x->bytes_shared || what->extra) return INVALID;
  memcpy(&run, &what->function, sizeof run);
  if (run != x->run) return INVALID;
  memcpy(x->grid, what->grid, sizeof x->grid), memcpy(x->block, what->block, sizeof x->block);
  parameters_set(x, what->parameter);
  return OK;
}

int cuGraphLaunch(void *made, void *stream) {
  HERE;
  Made *m = made;
  if (!is_here(stream) || ((Stream *)stream)->capture || ((Stream *)stream)->device != m->device) return INVALID;
  counted(GRAPH_LAUNCHES), mine.kernels++;
  if (is_due("graph-full=", GRAPH_LAUNCHES)) return NO_MEMORY;
  Later *x = later('g', stream);
  if (!is_due("graph-launch=", GRAPH_LAUNCHES)) x->nodes = nodes_copy(m->first);
  return OK;
}

int cuGraphExecDestroy(void *made) {
  HERE;
  Made *m = made;
  all_done();
  for (Later *k = m->first, *next; k; k = next) next = k->next, later_free(k);
  driver.live--;
  return free(m), OK;
}
