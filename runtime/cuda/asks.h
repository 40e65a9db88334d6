/* SPDX-License-Identifier: MIT-0 */
/*
 * What is asked of a device and not waited for, as a list of words of 64 bits (EIN_DRIVER): a list that comes again is known by its words, and is a
 * graph then (graphs.h). An ask is its kind, how many words it has in all, and behind these two
 *   a launch    the kernel; blocks along x, y, z; threads; how many parameters; how many words of ein_device behind them, or 0; these
 *   a zero      where, how many bytes, what for
 *   across      to, from, how many bytes, what for
 *   a product   that of by_cublas.h
 */
#ifndef EIN_CUDA_ASKS_H
#define EIN_CUDA_ASKS_H

enum { EIN_CUDA_MOST = 500 };  /* parameters of a kernel: what they take is 4 KB at most */
enum { EIN_ASK_LAUNCH, EIN_ASK_ZERO, EIN_ASK_ACROSS, EIN_ASK_PRODUCT };
enum {
  EIN_ASK_HEAD = 2,            /* words ahead of those of its kind */
  EIN_ASK_GIVEN = 9,           /* of a launch: what the kernel is given begins there, behind the head */
  EIN_ASKS_MOST = 1024,        /* then a list is sent */
  EIN_ASKS_TURN = 16           /* a turn ends with so many, or more: it is sent */
};

/* same: of all words but turns; shape: of all but what kernels are given. */
typedef struct ein_gpu_list { uint64_t *word, same, shape; size_t len, room, last; int n; } ein_gpu_list;

/* A list that came: as a graph, where it came again. */
typedef struct ein_graph {
  ein_gpu_list asks;
  void *graph, *made;          /* NULL: there is none; */
  int never;                   /*   the driver had none of it, so there will be none */
  void **node;                 /* of each ask; NULL where it is no launch */
  uint64_t used;               /* when it was used last */
} ein_graph;

enum { EIN_GRAPHS = 64 };
typedef struct ein_graphs {
  void *aside;                 /* a stream to capture in; NULL: none was wanted yet */
  int off;                     /* no graphs: the caller wants none */
  uint64_t now;                /* how often one was used */
  int n;
  ein_graph of[EIN_GRAPHS];
} ein_graphs;

static uint64_t ein_asks_mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

/* How many words of an ask are as in another one of the same shape; `turns`: or of the same list but for its turns. */
static size_t ein_ask_fixed(const uint64_t *ask, int turns) {
  if (ask[0] != EIN_ASK_LAUNCH) return (size_t)ask[1];
  return EIN_ASK_HEAD + EIN_ASK_GIVEN + (turns ? (size_t)ask[EIN_ASK_HEAD + 7] : 0);
}

/* The last one is complete. */
static void ein_asks_close(ein_gpu_list *a) {
  const uint64_t *ask = a->word + a->last;
  size_t shape = ein_ask_fixed(ask, 0), same = ein_ask_fixed(ask, 1);
  for (size_t k = 0; k < same; k++) {
    a->same = ein_asks_mix(a->same, ask[k]);
    if (k < shape) a->shape = ein_asks_mix(a->shape, ask[k]);
  }
  a->n++;
}

/* Whether they are one list but for turns; or, turns 0, but for all that kernels are given. */
static int ein_asks_equal(const ein_gpu_list *a, const ein_gpu_list *b, int turns) {
  if (a->len != b->len || a->n != b->n || a->shape != b->shape || (turns && a->same != b->same)) return 0;
  for (size_t k = 0; k < a->len; k += (size_t)a->word[k + 1])
    if (memcmp(a->word + k, b->word + k, ein_ask_fixed(a->word + k, turns) * sizeof *a->word)) return 0;
  return 1;
}

static void ein_asks_empty(ein_gpu_list *a) { a->len = a->last = 0, a->n = 0, a->same = a->shape = 0; }

/* Room for one more, whose words behind the head are the caller's to fill in; NULL: there is no memory. */
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
