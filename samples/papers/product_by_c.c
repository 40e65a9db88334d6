#include <stdint.h>

/* z[i,j] = sum[k] a[i,k] * b[k,j], row by row, so that the innermost loop runs along rows of b and z. */
void block_product(int64_t i, int64_t j, int64_t k, double *z, int64_t z_i, int64_t z_j, const double *a, int64_t a_i,
    int64_t a_k, const double *b, int64_t b_k, int64_t b_j) {
  for (int64_t x = 0; x < i; x++) {
    for (int64_t y = 0; y < j; y++) z[x * z_i + y * z_j] = 0;
    for (int64_t s = 0; s < k; s++)
      for (int64_t y = 0; y < j; y++) z[x * z_i + y * z_j] += a[x * a_i + s * a_k] * b[s * b_k + y * b_j];
  }
}
