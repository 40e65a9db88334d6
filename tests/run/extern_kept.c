#include <math.h>
#include <stdint.h>

/* z[i] = a[i] * b[i] */
void two(int64_t i, double *z, int64_t z_i, const double *a, int64_t a_i, const double *b, int64_t b_i) {
  for (int64_t x = 0; x < i; x++) z[x * z_i] = a[x * a_i] * b[x * b_i];
}

/* z[i] = logsumexp[k] a[i,k] */
void summed(int64_t i, int64_t k, double *z, int64_t z_i, const double *a, int64_t a_i, int64_t a_k) {
  for (int64_t x = 0; x < i; x++) {
    double sum = 0;
    for (int64_t y = 0; y < k; y++) sum += exp(a[x * a_i + y * a_k]);
    z[x * z_i] = log(sum);
  }
}

/* z = most[k] a[k], from -1000 on */
void most(int64_t k, int64_t *z, const int64_t *a, int64_t a_k) {
  *z = -1000;
  for (int64_t y = 0; y < k; y++)
    if (a[y * a_k] > *z) *z = a[y * a_k];
}
