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
/* z = max[k] a[k], if it is called for one block of k alone */
void largest_f64(int64_t i, int64_t k, double *z, int64_t z_i, const double *a, int64_t a_i, int64_t a_k) {
  for (int64_t x = 0; x < i; x++) {
    z[x * z_i] = -__builtin_inf();
    for (int64_t s = 0; s < k; s++)
      if (a[x * a_i + s * a_k] > z[x * z_i]) z[x * z_i] = a[x * a_i + s * a_k];
  }
}

static float of_bits(uint32_t u) {
  float x;
  __builtin_memcpy(&x, &u, sizeof x);
  return x;
}

static float of_bf16(uint16_t h) { return of_bits((uint32_t)h << 16); }

/* Of normal numbers and 0. */
static float of_f16(uint16_t h) {
  uint32_t e = h >> 10 & 31, sign = (uint32_t)(h & 0x8000) << 16;
  return e ? of_bits(sign | (e + 112) << 23 | (uint32_t)(h & 1023) << 13) : of_bits(sign);
}

/* z[i] = max[k] a[i,k] */
void largest_f16(int64_t i, int64_t k, uint16_t *z, int64_t z_i, const uint16_t *a, int64_t a_i, int64_t a_k) {
  for (int64_t x = 0; x < i; x++) {
    z[x * z_i] = 0xfc00;
    for (int64_t s = 0; s < k; s++)
      if (s == 0 || of_f16(a[x * a_i + s * a_k]) > of_f16(z[x * z_i])) z[x * z_i] = a[x * a_i + s * a_k];
  }
}

/* z[i,j] = sum[k] a[i,k] * b[j,k] */
void product_half(int64_t i, int64_t j, int64_t k, float *z, int64_t z_i, int64_t z_j, const uint16_t *a, int64_t a_i,
    int64_t a_k, const uint16_t *b, int64_t b_j, int64_t b_k) {
  for (int64_t x = 0; x < i; x++)
    for (int64_t y = 0; y < j; y++) {
      float sum = 0;
      for (int64_t s = 0; s < k; s++) sum += of_f16(a[x * a_i + s * a_k]) * of_bf16(b[y * b_j + s * b_k]);
      z[x * z_i + y * z_j] = sum;
    }
}

/* z[i,k] = -a[i,k] */
void minus(int64_t i, int64_t k, uint16_t *z, int64_t z_i, int64_t z_k, const uint16_t *a, int64_t a_i, int64_t a_k) {
  for (int64_t x = 0; x < i; x++)
    for (int64_t y = 0; y < k; y++) z[x * z_i + y * z_k] = a[x * a_i + y * a_k] ^ 0x8000;
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
