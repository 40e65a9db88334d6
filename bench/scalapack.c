/* A product of matrices of doubles over the processes of MPI: by a library that ein built for it, and by ScaLAPACK's
 * pdgemm, in turn. bench/scalapack.py builds and starts it:
 *
 *     mpirun -n P ./product M N K ROUNDS
 *
 * pdgemm has its matrices block-cyclic on a grid, as its users have; all grids and three sizes of blocks are tried
 * once, and the best goes on. Printed, by the first process: seconds of each, medians, the grid, and how far results
 * are apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product_mpi.h"

void Cblacs_get(int, int, int *);
void Cblacs_gridinit(int *, const char *, int, int);
void Cblacs_gridinfo(int, int *, int *, int *, int *);
void Cblacs_gridexit(int);
int numroc_(const int *n, const int *nb, const int *p, const int *first, const int *procs);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *ir, const int *ic,
    const int *ctx, const int *lld, int *info);
void pdgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
    const int *, const int *, const int *, const double *, const int *, const int *, const int *, const double *,
    double *, const int *, const int *, const int *);

static int rank, procs;

static double value(int which, int64_t i, int64_t j) { return (double)((i * 7 + j * 13 + which * 5) % 11 - 5); }

static void give_up(const char *what) {
  if (!rank) fprintf(stderr, "scalapack: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- ours ------------------------------------------------------------------------------------------------ */

typedef struct Block { int64_t low[2], extent[2]; double *at; } Block;

static Block block_of(const product_ctx *ctx, int output, int argument) {
  Block b = {{0, 0}, {0, 0}, NULL};
  if (product_local_extent(ctx, output, argument, rank, b.low, b.extent) != EIN_OK) give_up("no block");
  b.at = malloc((size_t)(b.extent[0] * b.extent[1] + 1) * sizeof(double));
  if (!b.at) give_up("no memory");
  for (int64_t i = 0; !output && i < b.extent[0]; i++)
    for (int64_t j = 0; j < b.extent[1]; j++) b.at[i * b.extent[1] + j] = value(argument, b.low[0] + i, b.low[1] + j);
  return b;
}

static ein_tensor view(const Block *b) {
  ein_tensor v;
  memset(&v, 0, sizeof v);
  v.data = b->at;
  v.device_type = 1;
  v.ndim = 2;
  v.dtype = EIN_F64;
  v.shape = b->extent;
  return v;
}

/* ---- pdgemm ------------------------------------------------------------------------------------------------ */

typedef struct Cyclic { int desc[9], rows, columns; double *at; } Cyclic;

static Cyclic cyclic_new(int grid, int m, int n, int nb, int which) {
  Cyclic c = {{0}, 0, 0, NULL};
  int pr, pc, r, k, zero = 0, info;
  Cblacs_gridinfo(grid, &pr, &pc, &r, &k);
  c.rows = numroc_(&m, &nb, &r, &zero, &pr);
  c.columns = numroc_(&n, &nb, &k, &zero, &pc);
  int lead = c.rows > 1 ? c.rows : 1;
  descinit_(c.desc, &m, &n, &nb, &nb, &zero, &zero, &grid, &lead, &info);
  c.at = malloc(((size_t)c.rows * (size_t)c.columns + 1) * sizeof(double));
  if (info || !c.at) give_up("no matrix for pdgemm");
  for (int j = 0; which >= 0 && j < c.columns; j++)
    for (int i = 0; i < c.rows; i++) {
      int64_t gi = ((int64_t)(i / nb) * pr + r) * nb + i % nb, gj = ((int64_t)(j / nb) * pc + k) * nb + j % nb;
      c.at[(size_t)j * (size_t)c.rows + (size_t)i] = value(which, gi, gj);
    }
  return c;
}

typedef struct Theirs { int grid, rows, nb; Cyclic a, b, c; } Theirs;

static Theirs theirs_new(int rows, int nb, int m, int n, int k) {
  Theirs t = {0, rows, nb, {{0}, 0, 0, NULL}, {{0}, 0, 0, NULL}, {{0}, 0, 0, NULL}};
  Cblacs_get(-1, 0, &t.grid);
  Cblacs_gridinit(&t.grid, "Row", rows, procs / rows);
  t.a = cyclic_new(t.grid, m, k, nb, 0);
  t.b = cyclic_new(t.grid, k, n, nb, 1);
  t.c = cyclic_new(t.grid, m, n, nb, -1);
  return t;
}

static void theirs_free(Theirs *t) {
  free(t->a.at);
  free(t->b.at);
  free(t->c.at);
  Cblacs_gridexit(t->grid);
}

static double theirs_run(Theirs *t, int m, int n, int k) {
  const double one = 1, zero = 0;
  const int first = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime(), took;
  pdgemm_("N", "N", &m, &n, &k, &one, t->a.at, &first, &first, t->a.desc, t->b.at, &first, &first, t->b.desc, &zero,
      t->c.at, &first, &first, t->c.desc);
  took = MPI_Wtime() - from;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

static Theirs theirs_best(int m, int n, int k) {
  static const int sizes[] = {64, 128, 256};
  Theirs best = {0};
  double least = INFINITY;
  for (int rows = 1; rows <= procs; rows++)
    for (int s = 0; s < 3 && procs % rows == 0; s++) {
      Theirs t = theirs_new(rows, sizes[s], m, n, k);
      double took = theirs_run(&t, m, n, k);
      if (took < least) {
        if (isfinite(least)) theirs_free(&best);
        least = took, best = t;
      } else theirs_free(&t);
    }
  return best;
}

/* ---- both ---------------------------------------------------------------------------------------------------- */

static int earlier(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *x, int n) {
  qsort(x, (size_t)n, sizeof *x, earlier);
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Sums of all elements are the same, for these are whole numbers. */
static double total(const double *at, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += at[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc != 5) give_up("usage: bench M N K ROUNDS");
  int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]), rounds = atoi(argv[4]);
  product_ctx *ctx = NULL;
  if (product_create_mpi(MPI_COMM_WORLD, NULL, &ctx) != EIN_OK || product_plan(ctx, NULL) != EIN_OK)
    give_up(product_last_error(ctx));
  Block a = block_of(ctx, 0, 0), b = block_of(ctx, 0, 1), c = block_of(ctx, 1, 0);
  product_inputs in;
  product_outputs out;
  in.A = view(&a), in.B = view(&b), out.C = view(&c);
  if (product_run(ctx, &in, &out) != EIN_OK) give_up(product_last_error(ctx));
  Theirs t = theirs_best(m, n, k);
  double *ours = malloc((size_t)rounds * sizeof *ours), *their = malloc((size_t)rounds * sizeof *their);
  if (!ours || !their) give_up("no memory");
  for (int r = 0; r < rounds; r++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double from = MPI_Wtime();
    if (product_again(ctx) != EIN_OK) give_up(product_last_error(ctx));
    ours[r] = MPI_Wtime() - from;
    MPI_Allreduce(MPI_IN_PLACE, &ours[r], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    their[r] = theirs_run(&t, m, n, k);
  }
  double sum = total(c.at, c.extent[0] * c.extent[1]), other = total(t.c.at, (int64_t)t.c.rows * t.c.columns);
  double our = median(ours, rounds), its = median(their, rounds);
  if (!rank)
    printf("%d %.6f %.6f %.3f %d %d %d %s\n", procs, our, its, its / our, t.rows, procs / t.rows, t.nb,
        sum == other ? "same" : "DIFFERS");
  product_destroy(ctx);
  MPI_Finalize();
  return sum != other;
}
