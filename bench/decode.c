/* bench/decode.c - a plain read of several arrays by all threads, each of its own part: what memory gives. */
#include <stdint.h>

int64_t read_all(const int64_t *const *at, const int64_t *words, int64_t n, int threads) {
  int64_t sum = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t *p = at[k];
    const int64_t m = words[k];
#pragma omp parallel for reduction(+ : sum) schedule(static) num_threads(threads)
    for (int64_t i = 0; i < m; i++) sum += p[i];
  }
  return sum;
}
