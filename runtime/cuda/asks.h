/* SPDX-License-Identifier: MIT-0 */
/*
 * Requests to a device that need not be waited for, as a list of 64-bit words (EIN_DRIVER). A list that recurs
 * is recognised by its words and becomes a graph (graphs.h). A request is its kind, its length in words, and
 * then
 *
 *   a launch    the kernel; blocks along x, y, z; threads along x, y, z; how many parameters; how many words of
 *               ein_device, or 0; the parameters; these words
 *   a fill      the address, how many bytes, the byte, the purpose
 *   across      to, from, how many bytes, the purpose
 *   a product   see by_cublas.h
 */
#ifndef EIN_CUDA_ASKS_H
#define EIN_CUDA_ASKS_H

enum { EIN_CUDA_MOST = 500 };  /* parameters of a kernel, which take at most 4 KB */
enum { EIN_ASK_LAUNCH, EIN_ASK_FILL, EIN_ASK_ACROSS, EIN_ASK_PRODUCT };
enum {
  EIN_ASK_HEAD = 2,            /* words before those that depend on the kind */
  EIN_ASK_GIVEN = 9,           /* of a launch: the kernel's parameters begin this many words after the head */
  EIN_ASKS_MOST = 1024,        /* a list of this length is sent */
  EIN_ASKS_TURN = 16           /* at the end of a turn, a list of this length or more is sent */
};

/* A list of requests. same: a hash of all words but turns; shape: a hash of all words but kernel parameters. */
typedef struct ein_gpu_list { uint64_t *word, same, shape; size_t len, room, last; int n; } ein_gpu_list;

/* A list that has occurred, with its graph if it has recurred. */
typedef struct ein_graph {
  ein_gpu_list asks;
  void *graph, *made;          /* NULL: not made */
  int never;                   /* the driver cannot make one, so do not try again */
  void **node;                 /* by request; NULL if it is not a launch */
  uint64_t used;               /* the time of the last use, in uses */
} ein_graph;

enum { EIN_GRAPHS = 64 };
typedef struct ein_graphs {
  void *aside;                 /* the stream for captures; NULL: not needed yet */
  int off;                     /* the caller wants no graphs */
  uint64_t now;                /* the number of uses so far */
  int n;
  ein_graph of[EIN_GRAPHS];
} ein_graphs;

static uint64_t ein_asks_mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

/* How many words of a request are equal in lists of the same shape or, with `turns`, in lists that differ only
 * in turns. */
static size_t ein_ask_fixed(const uint64_t *ask, int turns) {
  if (ask[0] != EIN_ASK_LAUNCH) return (size_t)ask[1];
  return EIN_ASK_HEAD + EIN_ASK_GIVEN + (turns ? (size_t)ask[EIN_ASK_HEAD + 7] : 0);
}

/* Ends the last request, which is now complete. */
static void ein_asks_close(ein_gpu_list *a) {
  const uint64_t *ask = a->word + a->last;
  size_t shape = ein_ask_fixed(ask, 0), same = ein_ask_fixed(ask, 1);
  for (size_t k = 0; k < same; k++) {
    a->same = ein_asks_mix(a->same, ask[k]);
    if (k < shape) a->shape = ein_asks_mix(a->shape, ask[k]);
  }
  a->n++;
}

/* Whether the lists differ at most in turns or, if `turns` is 0, at most in kernel parameters. */
static int ein_asks_equal(const ein_gpu_list *a, const ein_gpu_list *b, int turns) {
  if (a->len != b->len || a->n != b->n || a->shape != b->shape || (turns && a->same != b->same)) return 0;
  for (size_t k = 0; k < a->len; k += (size_t)a->word[k + 1])
    if (memcmp(a->word + k, b->word + k, ein_ask_fixed(a->word + k, turns) * sizeof *a->word)) return 0;
  return 1;
}

static void ein_asks_empty(ein_gpu_list *a) { a->len = a->last = 0, a->n = 0, a->same = a->shape = 0; }

/* Appends a request, and returns its words after the head, for the caller to fill in; NULL: there is no memory. */
static uint64_t *ein_asks_more(ein_gpu_list *a, uint64_t kind, size_t words) {
  size_t wanted = a->len + EIN_ASK_HEAD + words;
  if (wanted > a->room) {
    size_t room = 2 * wanted + 256;
    uint64_t *more = (uint64_t *)realloc(a->word, room * sizeof *more);
    if (!more) return NULL;
    a->word = more, a->room = room;
  }
  a->last = a->len, a->len = wanted;
  a->word[a->last] = kind, a->word[a->last + 1] = EIN_ASK_HEAD + words;
  return a->word + a->last + EIN_ASK_HEAD;
}

#endif
