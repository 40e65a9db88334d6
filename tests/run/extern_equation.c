#include <stdint.h>

/* z[i,j] = sum[k] a[i,k] * b[k,j] */
void product(int64_t i, int64_t j, int64_t k, double *z, int64_t z_i, int64_t z_j, const double *a, int64_t a_i,
    int64_t a_k, const double *b, int64_t b_k, int64_t b_j) {
  for (int64_t x = 0; x < i; x++)
    for (int64_t y = 0; y < j; y++) {
      double sum = 0;
      for (int64_t s = 0; s < k; s++) sum += a[x * a_i + s * a_k] * b[s * b_k + y * b_j];
      z[x * z_i + y * z_j] = sum;
    }
}

/* z[i] = max[k] a[i,k] */
void largest(int64_t i, int64_t k, int32_t *z, int64_t z_i, const int32_t *a, int64_t a_i, int64_t a_k) {
  for (int64_t x = 0; x < i; x++) {
    z[x * z_i] = INT32_MIN;
    for (int64_t s = 0; s < k; s++)
      if (a[x * a_i + s * a_k] > z[x * z_i]) z[x * z_i] = a[x * a_i + s * a_k];
  }
}

/* z[i] = a * b[i] + c[i] */
void axpy(int64_t i, float *z, int64_t z_i, const float *a, const float *b, int64_t b_i, const float *c, int64_t c_i) {
  for (int64_t x = 0; x < i; x++) z[x * z_i] = a[0] * b[x * b_i] + c[x * c_i];
}

/* z = any[i] a[i] */
void some(int64_t i, _Bool *z, const _Bool *a, int64_t a_i) {
  *z = 0;
  for (int64_t x = 0; x < i; x++) *z |= a[x * a_i];
}
/* z[i,j] = sum[k] a[i,k] * b[j,k] */
void product_t(int64_t i, int64_t j, int64_t k, double *z, int64_t z_i, int64_t z_j, const double *a, int64_t a_i,
    int64_t a_k, const double *b, int64_t b_j, int64_t b_k) {
  for (int64_t x = 0; x < i; x++)
    for (int64_t y = 0; y < j; y++) {
      double sum = 0;
      for (int64_t s = 0; s < k; s++) sum += a[x * a_i + s * a_k] * b[y * b_j + s * b_k];
      z[x * z_i + y * z_j] = sum;
    }
}

/* z[i] = a * b[i] + b[i] */
void axpy2(int64_t i, float *z, int64_t z_i, const float *a, const float *b, int64_t b_i) {
  for (int64_t x = 0; x < i; x++) z[x * z_i] = a[0] * b[x * b_i] + b[x * b_i];
}
