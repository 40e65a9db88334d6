/* tests/cuda/finds.cu - kernels with a mistake each, by PLANT, which the emulation has to name; 0: one without. */
#ifndef PLANT
#define PLANT 0
#endif

static __global__ void planted(const emulate::Global<const float> X, const emulate::Global<float> y) {
  const int64_t t = threadIdx.x, i = blockIdx.x;
  EIN_SHARED(float, part, 64);
  EIN_SHARED(float, rest, 64);
#if PLANT != 5
  rest[t] = 0.0f;
#endif
#if PLANT == 2
  part[t] = X[i * 64 + t + 1];
#elif PLANT == 3
  part[t + 1] = X[i * 64 + t];
#else
  part[t] = X[i * 64 + t];
#endif
#if PLANT == 4
  if (t < 32) __syncthreads();
#endif
#if PLANT != 1
  __syncthreads();
#endif
  if (t >= 32) part[t] = part[t] + part[t - 32] + rest[t];
  __syncthreads();
#if PLANT == 6
  y[i] = part[63];
#else
  if (t == 0) y[i] = part[62] + part[63];
#endif
}

/* Copies in the background: what a thread copies is read by its neighbour. */
static __global__ void copied(const emulate::Global<const float> X, const emulate::Global<float> y) {
  const int64_t t = threadIdx.x, i = blockIdx.x;
  EIN_SHARED(float, part, 128);
  EIN_COPY(2, part, t * 2, X, i * 64 + t * 2 % 64);
  EIN_COPY_COMMIT();
#if PLANT != 10
  EIN_COPY_AWAIT(PLANT == 11);
#endif
#if PLANT == 12
  part[t] = 0.0f;
#endif
#if PLANT != 13
  __syncthreads();
#endif
  float v = part[t * 2 ^ 2];
#if PLANT != 14
  __syncthreads();
#endif
  EIN_COPY(2, part, t * 2, X, i * 64 + t * 2 % 64 + (PLANT == 15));
#if PLANT == 16
  v += part[t * 2];
#endif
  EIN_COPY_COMMIT();
  if (t == 0) y[i] = v;
}

static emulate::Argument on_device(size_t bytes) {
  void *p = NULL;
  cudaMalloc(&p, bytes);
  memset(p, 0, bytes);
  return emulate::Argument{p, bytes, NULL};
}

int main(void) {
  emulate::Argument X = on_device(3 * 64 * sizeof(float)), y = on_device(3 * sizeof(float));
  if (PLANT < 10) EIN_CALL(planted, 0, 3, 1, 1, 64, 1, 1, X, y);
  if (PLANT == 0 || PLANT >= 10) EIN_CALL(copied, 0, 3, 1, 1, 64, 1, 1, X, y);
  return 0;
}
