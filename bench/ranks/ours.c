/* A library that ein built for processes of MPI, run step by step as bench/ranks.py asks for it:
 *
 *     mpirun -n P ./ours FOLDER
 *
 * Each process reads lines from the pipe FOLDER/to.RANK, so that none spins while it is another's turn; the first one
 * answers in FOLDER/from. `first`: a run from the inputs' defaults, after which each process writes its blocks of the
 * outputs, NAME.RANK, and where they lie, NAME.RANK.at. `step`: another one, whose seconds are the answer. Where an
 * input W has an output W_next, that is the next step's W, without a copy: so their blocks must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_mpi.h"

enum { MOST = 16, AXES = 4 };

typedef struct Block { int64_t low[AXES], extent[AXES]; ein_tensor view; size_t bytes; } Block;

static int rank;
static const char *folder;
static step_ctx *ctx;
static ein_tensor in[MOST], out[MOST];

static void give_up(const char *what) {
  fprintf(stderr, "ours, process %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static FILE *file_open(const char *name, const char *mode) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, mode);
  if (!f) give_up(path);
  return f;
}

static FILE *file_of_rank(const char *name, const char *more, const char *mode) {
  char own[512];
  snprintf(own, sizeof own, "%s.%d%s", name, rank, more);
  return file_open(own, mode);
}

static void block_set(Block *b, int output, int argument) {
  const ein_argument *a = output ? &step_model.output[argument] : &step_model.input[argument];
  if (a->ndim > AXES || a->dtype != EIN_F32) give_up("arguments have at most 4 axes, of f32");
  if (step_local_extent(ctx, output, argument, rank, b->low, b->extent) != EIN_OK) give_up(step_last_error(ctx));
  b->bytes = sizeof(float);
  for (int k = 0; k < a->ndim; k++) b->bytes *= (size_t)b->extent[k];
  memset(&b->view, 0, sizeof b->view);
  b->view.device_type = 1, b->view.ndim = a->ndim, b->view.dtype = a->dtype, b->view.shape = b->extent;
}

static void block_fill(Block *b) {
  b->view.data = calloc(1, b->bytes + 64);
  if (!b->view.data) give_up("no memory");
}

/* The input that an output is in the next step; -1: none. */
static int next_of(int output) {
  const char *name = step_model.output[output].name;
  for (int i = 0; i < step_model.n_inputs; i++) {
    size_t n = strlen(step_model.input[i].name);
    if (!strncmp(name, step_model.input[i].name, n) && !strcmp(name + n, "_next")) return i;
  }
  return -1;
}

static int same_place(const Block *a, const Block *b) {
  for (int k = 0; k < a->view.ndim; k++)
    if (a->low[k] != b->low[k] || a->extent[k] != b->extent[k]) return 0;
  return 1;
}

static double run(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime();
  if (step_model.run_blocks(ctx, in, out) != EIN_OK) give_up(step_last_error(ctx));
  double took = MPI_Wtime() - from;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

/* What came out goes in, and what was in makes room. An input that was left out has had no room, and gets it now. */
static void feed(const Block *blocks) {
  for (int o = 0; o < step_model.n_outputs; o++) {
    int i = next_of(o);
    if (i < 0) continue;
    void *old = in[i].data ? in[i].data : calloc(1, blocks[o].bytes + 64);
    if (!old) give_up("no memory");
    in[i].data = out[o].data, out[o].data = old;
  }
}

static void write_block(int output, const Block *b) {
  const char *name = step_model.output[output].name;
  FILE *at = file_of_rank(name, ".at", "w"), *f = file_of_rank(name, "", "wb");
  for (int k = 0; k < b->view.ndim; k++) fprintf(at, "%lld %lld\n", (long long)b->low[k], (long long)b->extent[k]);
  if (fwrite(out[output].data, 1, b->bytes, f) != b->bytes || fclose(f) || fclose(at)) give_up("cannot write a result");
}

static void blocks_begin(Block *blocks) {
  for (int i = 0; i < step_model.n_inputs; i++) {
    block_set(&blocks[MOST + i], 0, i);
    in[i] = blocks[MOST + i].view;
  }
  for (int o = 0; o < step_model.n_outputs; o++) {
    block_set(&blocks[o], 1, o);
    block_fill(&blocks[o]);
    out[o] = blocks[o].view;
    int i = next_of(o);
    if (i >= 0 && !same_place(&blocks[o], &blocks[MOST + i]))
      give_up("a parameter has another block after a step than before");
  }
}

int main(int argc, char **argv) {
  static Block blocks[2 * MOST];
  char line[64];
  int sites;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &sites);
  if (argc != 2) give_up("usage: ours FOLDER");
  folder = argv[1];
  if (step_model.n_inputs > MOST || step_model.n_outputs > MOST) give_up("too many arguments");
  if (step_create_mpi(MPI_COMM_WORLD, NULL, &ctx) != EIN_OK || step_plan(ctx, NULL) != EIN_OK)
    give_up(step_last_error(ctx));
  blocks_begin(blocks);
  FILE *to = file_of_rank("to", "", "r"), *from = rank ? NULL : file_open("from", "w");
  while (fgets(line, sizeof line, to)) {
    double took = run();
    if (!strcmp(line, "first\n"))
      for (int o = 0; o < step_model.n_outputs; o++) write_block(o, &blocks[o]);
    feed(blocks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (from) fprintf(from, "%.9f\n", took), fflush(from);
  }
  step_destroy(ctx);
  MPI_Finalize();
  return 0;
}
