/* One site of a plan under SMPI. bench/smpi.py writes plan.h, which has NAME, MODEL and MEMORY and includes the emitted
 * code; in that code every kernel has become smp_kernel(seconds) and every copy between a tensor and a message
 * smp_copied(bytes). No tensor has memory: addresses are reserved, and a message of more than SMALL bytes is sent from
 * and received into one folded block, so its size is true and its content is not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SMALL = 4096, MOST = 1 << 30 };

static double smp_owed;    /* seconds of copies that the site has still to take */
static void *smp_folded;
static double smp_kernels; /* seconds */

static void smp_pay(void) {
  if (smp_owed > 0) smpi_execute_flops(smp_owed * 1e9); /* the platform's hosts do 1e9 a second: nanoseconds */
  smp_owed = 0;
}

static void smp_copied(double bytes);

static int smp_kernel(double seconds) {
  smp_pay();
  smp_kernels += seconds;
  if (seconds > 0) smpi_execute_flops(seconds * 1e9);
  return 0;
}

static int smp_send(const void *p, int n, int to, int tag, MPI_Comm comm, MPI_Request *r) {
  smp_pay();
  return MPI_Isend(n > SMALL ? smp_folded : p, n, MPI_BYTE, to, tag, comm, r);
}

static int smp_receive(void *p, int n, int from, int tag, MPI_Comm comm, MPI_Request *r) {
  return MPI_Irecv(n > SMALL ? smp_folded : p, n, MPI_BYTE, from, tag, comm, r);
}

#include "plan.h"

static void smp_copied(double bytes) {
  smp_owed += bytes / MEMORY;
}

static void *reserve(void *user, size_t bytes, size_t alignment) {
  (void)user, (void)alignment;
  void *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void release(void *user, void *p, size_t bytes) {
  (void)user;
  munmap(p, bytes + 1);
}

static void view(void *ctx, int output, int i, int rank, const ein_argument *a, ein_tensor *v, int64_t *shape) {
  int64_t low[EIN_MAX_AXES];
  size_t bytes = 8;
  MODEL.block(ctx, output, i, rank, low, shape);
  for (int d = 0; d < a->ndim; d++) bytes *= (size_t)shape[d];
  memset(v, 0, sizeof *v);
  v->data = reserve(NULL, bytes, 64);
  v->device_type = 1;
  v->ndim = a->ndim;
  v->dtype = a->dtype;
  v->shape = shape;
}

static int failed(const char *what, ein_status status, void *ctx) {
  if (status != EIN_OK) fprintf(stderr, "%s: status %d, %s\n", what, (int)status, ctx ? MODEL.last_error(ctx) : "");
  return status != EIN_OK;
}

static int run(int rank) {
  void *ctx = NULL;
  ein_config config = {.size = sizeof config, .threads = 1, .alloc = reserve, .release = release};
  ein_mpi *wire;
  if (failed("wire", ein_mpi_open(MPI_COMM_WORLD, "moves", &wire), NULL)) return 1;
  config.wire = ein_mpi_wire(wire);
  if (failed("create", MODEL.create(&config, &ctx), ctx)) return 1;
  int64_t at[EIN_MAX_AXES],
      (*shape)[EIN_MAX_AXES] = calloc((size_t)(MODEL.n_inputs + MODEL.n_outputs + 1), sizeof *shape);
  for (int a = MODEL.n_dims, site = rank; a-- > 0; site /= MODEL.mesh[a]) at[a] = site % MODEL.mesh[a];
  if (failed("plan", MODEL.plan(ctx, at), ctx)) return 1;
  ein_tensor *in = calloc((size_t)MODEL.n_inputs + 1, sizeof *in),
             *out = calloc((size_t)MODEL.n_outputs + 1, sizeof *out);
  for (int i = 0; i < MODEL.n_inputs; i++) view(ctx, 0, i, rank, &MODEL.input[i], &in[i], shape[i]);
  for (int i = 0; i < MODEL.n_outputs; i++) view(ctx, 1, i, rank, &MODEL.output[i], &out[i], shape[MODEL.n_inputs + i]);
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  if (failed("run", MODEL.run(ctx, in, out), ctx)) return 1;
  smp_pay();
  double mine[2] = {MPI_Wtime() - began, smp_kernels}, most[2], received = (double)ein_mpi_counted(wire).bytes_received,
         all;
  MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&received, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("smpi %.9g %.9g %.0f\n", most[0], most[1], all);
  return 0;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  smp_folded = SMPI_SHARED_MALLOC(MOST);
  int code = run(rank);
  MPI_Finalize();
  return code;
}
