/* bench/nests/nests.c - what the programs of this folder are compared with: each a plain loop nest on dense arrays, as
 * a competent C programmer writes it first. One nest an equation (maps in one loop), the loops in the best order, sums
 * in a register or a row where that is better; no tiles, no intrinsics. Arguments: inputs, then outputs. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define IN(T, name) const T *restrict name
#define OUT(T, name) T *restrict name
typedef _Float16 half;

/* ---- contractions ---------------------------------------------------------------------------------- */

void matmul_f32(IN(float, A), IN(float, B), OUT(float, C)) {
  enum { N = 512 };
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) C[i * N + j] = 0;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) C[i * N + j] += A[i * N + k] * B[k * N + j];
  }
}

void matmul_f64(IN(double, A), IN(double, B), OUT(double, C)) {
  enum { N = 384 };
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) C[i * N + j] = 0;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) C[i * N + j] += A[i * N + k] * B[k * N + j];
  }
}

void matmul_i32(IN(int32_t, A), IN(int32_t, B), OUT(int32_t, C)) {
  enum { N = 384 };
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) C[i * N + j] = 0;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) C[i * N + j] += A[i * N + k] * B[k * N + j];
  }
}

void matmul_f16(IN(half, A), IN(half, B), OUT(half, C)) {
  enum { N = 384 };
  for (int i = 0; i < N; i++) {
    float row[N] = {0};
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) row[j] += (float)A[i * N + k] * (float)B[k * N + j];
    for (int j = 0; j < N; j++) C[i * N + j] = (half)row[j];
  }
}

void matmul_tn(IN(float, A), IN(float, B), OUT(float, C)) {
  enum { N = 512 };
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) C[i * N + j] = 0;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) C[i * N + j] += A[k * N + i] * B[k * N + j];
  }
}

void matmul_nt(IN(float, A), IN(float, B), OUT(float, C)) {
  enum { N = 512 };
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < N; k++) sum += A[i * N + k] * B[j * N + k];
      C[i * N + j] = sum;
    }
}

void matmul_tt(IN(float, A), IN(float, B), OUT(float, C)) {
  enum { N = 512 };
  for (int j = 0; j < N; j++) {
    float column[N] = {0};
    for (int k = 0; k < N; k++)
      for (int i = 0; i < N; i++) column[i] += A[k * N + i] * B[j * N + k];
    for (int i = 0; i < N; i++) C[i * N + j] = column[i];
  }
}

void matmul_batched(IN(float, X), IN(float, Y), OUT(float, Z)) {
  enum { B = 64, N = 96 };
  for (int b = 0; b < B; b++)
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) Z[(b * N + i) * N + j] = 0;
      for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++) Z[(b * N + i) * N + j] += X[(b * N + i) * N + k] * Y[(b * N + k) * N + j];
    }
}

void matvec(IN(float, A), IN(float, x), OUT(float, y)) {
  enum { N = 4096, M = 2048 };
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int j = 0; j < M; j++) sum += A[i * M + j] * x[j];
    y[i] = sum;
  }
}

void vecmat(IN(float, A), IN(float, x), OUT(float, y)) {
  enum { N = 4096, M = 2048 };
  for (int j = 0; j < M; j++) y[j] = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) y[j] += x[i] * A[i * M + j];
}

void outer(IN(float, x), IN(float, y), OUT(float, Z)) {
  enum { N = 4096 };
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) Z[i * N + j] = x[i] * y[j];
}

void dot(IN(float, x), IN(float, y), OUT(float, d)) {
  enum { N = 4194304 };
  float sum = 0;
  for (int i = 0; i < N; i++) sum += x[i] * y[i];
  *d = sum;
}

void max_plus(IN(float, A), IN(float, B), OUT(float, C)) {
  enum { N = 384 };
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) C[i * N + j] = -INFINITY;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) C[i * N + j] = fmaxf(C[i * N + j], A[i * N + k] + B[k * N + j]);
  }
}

void distance_l2(IN(float, X), IN(float, Y), OUT(float, D)) {
  enum { N = 1024, K = 64 };
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) {
        float d = X[i * K + k] - Y[j * K + k];
        sum += d * d;
      }
      D[i * N + j] = sum;
    }
}

void distance_l1(IN(float, X), IN(float, Y), OUT(float, D)) {
  enum { N = 1024, K = 64 };
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += fabsf(X[i * K + k] - Y[j * K + k]);
      D[i * N + j] = sum;
    }
}

/* The best order of contractions: B with C, then A. */
void chain_product(IN(float, A), IN(float, B), IN(float, C), OUT(float, D)) {
  enum { N = 1024, M = 16 };
  static float T[N * M];
  for (int j = 0; j < N; j++) {
    float row[M] = {0};
    for (int k = 0; k < N; k++)
      for (int l = 0; l < M; l++) row[l] += B[j * N + k] * C[k * M + l];
    for (int l = 0; l < M; l++) T[j * M + l] = row[l];
  }
  for (int i = 0; i < N; i++) {
    float row[M] = {0};
    for (int j = 0; j < N; j++)
      for (int l = 0; l < M; l++) row[l] += A[i * N + j] * T[j * M + l];
    for (int l = 0; l < M; l++) D[i * M + l] = row[l];
  }
}

/* X with C, then B: the first result is a row. */
void mttkrp(IN(float, X), IN(float, B), IN(float, C), OUT(float, M)) {
  enum { N = 128, R = 32 };
  for (int i = 0; i < N; i++) {
    float sum[R] = {0};
    for (int j = 0; j < N; j++) {
      float row[R] = {0};
      for (int k = 0; k < N; k++)
        for (int r = 0; r < R; r++) row[r] += X[(i * N + j) * N + k] * C[k * R + r];
      for (int r = 0; r < R; r++) sum[r] += row[r] * B[j * R + r];
    }
    for (int r = 0; r < R; r++) M[i * R + r] = sum[r];
  }
}

void bilinear(IN(float, x), IN(float, W), IN(float, z), OUT(float, y)) {
  enum { B = 512, N = 256 };
  for (int b = 0; b < B; b++) {
    float row[N] = {0}, sum = 0;
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) row[j] += x[b * N + i] * W[i * N + j];
    for (int j = 0; j < N; j++) sum += row[j] * z[b * N + j];
    y[b] = sum;
  }
}

void bool_product(IN(uint8_t, A), IN(uint8_t, B), OUT(uint8_t, C)) {
  enum { N = 512 };
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < N; k++) C[i * N + k] = 0;
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) C[i * N + k] |= A[i * N + j] & B[j * N + k];
  }
}

/* ---- reductions ------------------------------------------------------------------------------------ */

void row_sum(IN(float, X), OUT(float, s)) {
  enum { N = 4096, M = 2048 };
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int j = 0; j < M; j++) sum += X[i * M + j];
    s[i] = sum;
  }
}

void column_sum(IN(float, X), OUT(float, s)) {
  enum { N = 4096, M = 2048 };
  for (int j = 0; j < M; j++) s[j] = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) s[j] += X[i * M + j];
}

void row_max(IN(float, X), OUT(float, m)) {
  enum { N = 4096, M = 2048 };
  for (int i = 0; i < N; i++) {
    float most = -INFINITY;
    for (int j = 0; j < M; j++) most = X[i * M + j] > most ? X[i * M + j] : most;
    m[i] = most;
  }
}

void row_argmax(IN(float, X), OUT(int64_t, m)) {
  enum { N = 4096, M = 1024 };
  for (int i = 0; i < N; i++) {
    int best = 0;
    for (int j = 1; j < M; j++)
      if (X[i * M + j] > X[i * M + best]) best = j;
    m[i] = best;
  }
}

void softmax(IN(float, X), OUT(float, Y)) {
  enum { N = 4096, M = 1024 };
  for (int i = 0; i < N; i++) {
    const float *x = X + i * M;
    float *y = Y + i * M, most = -INFINITY, sum = 0;
    for (int j = 0; j < M; j++) most = x[j] > most ? x[j] : most;
    for (int j = 0; j < M; j++) {
      y[j] = expf(x[j] - most);
      sum += y[j];
    }
    for (int j = 0; j < M; j++) y[j] /= sum;
  }
}

void layernorm(IN(float, X), IN(float, g), IN(float, b), OUT(float, Y)) {
  enum { N = 4096, M = 1024 };
  for (int i = 0; i < N; i++) {
    const float *x = X + i * M;
    float *y = Y + i * M, sum = 0, squares = 0;
    for (int j = 0; j < M; j++) sum += x[j];
    float mean = sum / M;
    for (int j = 0; j < M; j++) squares += (x[j] - mean) * (x[j] - mean);
    float scale = 1 / sqrtf(squares / M + 1e-5f);
    for (int j = 0; j < M; j++) y[j] = (x[j] - mean) * scale * g[j] + b[j];
  }
}

void logsumexp(IN(float, X), OUT(float, y)) {
  enum { N = 4096, M = 1024 };
  for (int i = 0; i < N; i++) {
    const float *x = X + i * M;
    float most = -INFINITY, sum = 0;
    for (int j = 0; j < M; j++) most = x[j] > most ? x[j] : most;
    for (int j = 0; j < M; j++) sum += expf(x[j] - most);
    y[i] = most + logf(sum);
  }
}

void trace(IN(float, A), OUT(float, t)) {
  enum { B = 8192, N = 64 };
  for (int b = 0; b < B; b++) {
    float sum = 0;
    for (int i = 0; i < N; i++) sum += A[(b * N + i) * N + i];
    t[b] = sum;
  }
}

void histogram(IN(int32_t, bin), IN(double, w), OUT(double, h)) {
  enum { N = 2097152, B = 256 };
  for (int b = 0; b < B; b++) h[b] = 0;
  for (int i = 0; i < N; i++) h[bin[i]] += w[i];
}

void cumulative(IN(float, x), OUT(float, c)) {
  enum { B = 2048, N = 1024 };
  for (int b = 0; b < B; b++) {
    float sum = 0;
    for (int t = 0; t < N; t++) {
      sum += x[b * N + t];
      c[b * N + t] = sum;
    }
  }
}

void column_argmax(IN(float, X), OUT(int64_t, best)) {
  enum { N = 2048, M = 1024 };
  float most[M];
  for (int j = 0; j < M; j++) most[j] = X[j], best[j] = 0;
  for (int i = 1; i < N; i++)
    for (int j = 0; j < M; j++)
      if (X[i * M + j] > most[j]) most[j] = X[i * M + j], best[j] = i;
}

void column_softmax(IN(float, X), OUT(float, Y)) {
  enum { N = 1024, M = 1024 };
  float most[M], sum[M];
  for (int j = 0; j < M; j++) most[j] = X[j], sum[j] = 0;
  for (int i = 1; i < N; i++)
    for (int j = 0; j < M; j++) most[j] = X[i * M + j] > most[j] ? X[i * M + j] : most[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      Y[i * M + j] = expf(X[i * M + j] - most[j]);
      sum[j] += Y[i * M + j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) Y[i * M + j] /= sum[j];
}

void histogram_2d(IN(int32_t, a), IN(int32_t, b), IN(float, w), OUT(float, h)) {
  enum { N = 524288 };
  memset(h, 0, sizeof(float) * 64 * 64);
  for (int i = 0; i < N; i++) h[a[i] * 64 + b[i]] += w[i];
}

void segment_sum(IN(float, X), IN(int32_t, g), OUT(float, Y)) {
  enum { N = 16384, D = 64, G = 512 };
  memset(Y, 0, sizeof(float) * G * D);
  for (int n = 0; n < N; n++)
    for (int d = 0; d < D; d++) Y[g[n] * D + d] += X[n * D + d];
}

void segment_mean(IN(float, X), IN(int32_t, g), OUT(float, Y)) {
  enum { N = 16384, D = 64, G = 512 };
  int count[G] = {0};
  memset(Y, 0, sizeof(float) * G * D);
  for (int n = 0; n < N; n++) {
    count[g[n]]++;
    for (int d = 0; d < D; d++) Y[g[n] * D + d] += X[n * D + d];
  }
  for (int a = 0; a < G; a++)
    for (int d = 0; d < D; d++) Y[a * D + d] /= (float)(count[a] ? count[a] : 1);
}

void global_pool(IN(float, X), OUT(float, Y)) {
  enum { N = 64 * 1024, P = 7 * 7 };
  for (int n = 0; n < N; n++) {
    float sum = 0;
    for (int i = 0; i < P; i++) sum += X[n * P + i];
    Y[n] = sum / P;
  }
}

void embedding_bag(IN(float, E), IN(int32_t, tok), OUT(float, Y)) {
  enum { D = 64, B = 2048, L = 16 };
  for (int b = 0; b < B; b++) {
    float sum[D] = {0};
    for (int l = 0; l < L; l++)
      for (int d = 0; d < D; d++) sum[d] += E[tok[b * L + l] * D + d];
    for (int d = 0; d < D; d++) Y[b * D + d] = sum[d];
  }
}

void csr_product(IN(int32_t, start), IN(int32_t, col), IN(float, w), IN(float, x), OUT(float, y)) {
  enum { N = 16384, L = 32 };
  for (int n = 0; n < N; n++) {
    float sum = 0;
    for (int z = start[n]; z < start[n] + L; z++) sum += w[z] * x[col[z]];
    y[n] = sum;
  }
}

void complex_product(IN(float, A), IN(float, B), OUT(float, C)) {
  enum { N = 192 };
  for (int i = 0; i < N; i++) {
    float row[2 * N] = {0};
    for (int k = 0; k < N; k++) {
      float re = A[2 * (i * N + k)], im = A[2 * (i * N + k) + 1];
      for (int j = 0; j < N; j++) {
        row[2 * j] += re * B[2 * (k * N + j)] - im * B[2 * (k * N + j) + 1];
        row[2 * j + 1] += re * B[2 * (k * N + j) + 1] + im * B[2 * (k * N + j)];
      }
    }
    memcpy(C + 2 * N * i, row, sizeof row);
  }
}

/* ---- maps -------------------------------------------------------------------------------------------- */

void chain(IN(float, x), IN(float, w), IN(float, b), OUT(float, y)) {
  enum { N = 2097152 };
  for (int i = 0; i < N; i++) {
    float a = x[i] * w[i] + b[i], r = a > 0 ? a : 0;
    y[i] = r * r - 0.5f * x[i];
  }
}

void silu(IN(float, x), IN(float, g), OUT(float, y)) {
  enum { N = 2097152 };
  for (int i = 0; i < N; i++) y[i] = x[i] / (1 + expf(-x[i])) * g[i];
}

void gelu(IN(float, x), OUT(float, y)) {
  enum { N = 2097152 };
  for (int i = 0; i < N; i++) y[i] = 2 * x[i] * (1 + erff(4 * x[i] * 0.70710678f));
}

void gelu_tanh(IN(float, x), OUT(float, y)) {
  enum { N = 2097152 };
  for (int i = 0; i < N; i++) {
    float a = 4 * x[i];
    y[i] = 0.5f * a * (1 + tanhf(0.79788456f * (a + 0.044715f * a * a * a)));
  }
}

void rotary(IN(float, X), IN(float, C), IN(float, T), OUT(float, Y)) {
  enum { N = 16384 * 64 };
  for (int i = 0; i < N; i++) {
    float a = X[2 * i], b = X[2 * i + 1];
    Y[2 * i] = a * C[i] - b * T[i];
    Y[2 * i + 1] = b * C[i] + a * T[i];
  }
}

void dequantize(IN(uint8_t, Q), IN(float, s), OUT(float, W)) {
  enum { N = 2048, K = 2048 };
  for (int n = 0; n < N; n++)
    for (int b = 0; b < K / 2; b++) {
      int q = Q[n * K / 2 + b];
      float by = s[n * K / 64 + b / 32];
      W[n * K + 2 * b] = (float)(q % 16 - 8) * by;
      W[n * K + 2 * b + 1] = (float)(q / 16 - 8) * by;
    }
}

void merge_heads(IN(float, X), OUT(float, Y)) {
  enum { H = 16, S = 1024, D = 64 };
  for (int s = 0; s < S; s++)
    for (int h = 0; h < H; h++)
      for (int d = 0; d < D; d++) Y[(s * H + h) * D + d] = X[(h * S + s) * D + d];
}

void windows(IN(float, X), OUT(float, Y)) {
  enum { N = 8, H = 56, W = 56, C = 32 };
  for (int n = 0; n < N; n++)
    for (int h = 0; h < H; h++)
      for (int w = 0; w < W; w++, Y += 9 * C)
        for (int r = 0; r < 3; r++)
          for (int i = 0; i < 3 * C; i++) Y[r * 3 * C + i] = X[((n * (H + 2) + h + r) * (W + 2) + w) * C + i];
}

void transpose(IN(float, X), OUT(float, Y)) {
  enum { N = 2048 };
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) Y[j * N + i] = X[i * N + j];
}

void permute(IN(float, X), OUT(float, Y)) {
  enum { I = 160, J = 192, K = 128 };
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++) Y[(k * I + i) * J + j] = X[(i * J + j) * K + k];
}

void stencil(IN(float, X), OUT(float, Y)) {
  enum { N = 4194304 };
  for (int i = 0; i < N; i++) Y[i] = 0.25f * X[i] + 0.5f * X[i + 1] + 0.25f * X[i + 2];
}

void gather(IN(float, E), IN(int32_t, tok), OUT(float, Y)) {
  enum { D = 256, S = 32768 };
  for (int s = 0; s < S; s++)
    for (int d = 0; d < D; d++) Y[s * D + d] = E[tok[s] * D + d];
}

/* ---- convolutions, attention ------------------------------------------------------------------------- */

void conv_nhwc(IN(float, X), IN(float, F), OUT(float, Y)) {
  enum { N = 2, H = 56, W = 56, C = 32, O = 32 };
  for (int n = 0; n < N; n++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float sum[O] = {0};
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            for (int c = 0; c < C; c++)
              for (int o = 0; o < O; o++)
                sum[o] += X[((n * (H + 2) + y + r) * (W + 2) + x + s) * C + c] * F[((r * 3 + s) * C + c) * O + o];
        for (int o = 0; o < O; o++) Y[((n * H + y) * W + x) * O + o] = sum[o];
      }
}

void conv_nchw(IN(float, X), IN(float, F), OUT(float, Y)) {
  enum { N = 2, H = 56, W = 56, C = 32, O = 32 };
  memset(Y, 0, sizeof(float) * N * O * H * W);
  for (int n = 0; n < N; n++)
    for (int o = 0; o < O; o++)
      for (int c = 0; c < C; c++)
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++) {
            int y0 = r == 0, y1 = r == 2 ? H - 1 : H, x0 = s == 0, x1 = s == 2 ? W - 1 : W;
            float f = F[((o * C + c) * 3 + r) * 3 + s];
            for (int y = y0; y < y1; y++)
              for (int x = x0; x < x1; x++)
                Y[((n * O + o) * H + y) * W + x] += f * X[((n * C + c) * H + y + r - 1) * W + x + s - 1];
          }
}

void conv_depthwise(IN(float, X), IN(float, F), OUT(float, Y)) {
  enum { N = 4, H = 56, W = 56, C = 64 };
  for (int n = 0; n < N; n++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float sum[C] = {0};
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++) {
            int v = y + r - 1, u = x + s - 1;
            if (v < 0 || v >= H || u < 0 || u >= W) continue;
            for (int c = 0; c < C; c++) sum[c] += X[((n * H + v) * W + u) * C + c] * F[(r * 3 + s) * C + c];
          }
        for (int c = 0; c < C; c++) Y[((n * H + y) * W + x) * C + c] = sum[c];
      }
}

void conv_dilated(IN(float, X), IN(float, F), OUT(float, Y)) {
  enum { N = 2, H = 56, W = 56, C = 32, O = 32 };
  for (int n = 0; n < N; n++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float sum[O] = {0};
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++) {
            int v = y + 2 * r - 2, u = x + 2 * s - 2;
            if (v < 0 || v >= H || u < 0 || u >= W) continue;
            for (int c = 0; c < C; c++)
              for (int o = 0; o < O; o++) sum[o] += X[((n * H + v) * W + u) * C + c] * F[((r * 3 + s) * C + c) * O + o];
          }
        for (int o = 0; o < O; o++) Y[((n * H + y) * W + x) * O + o] = sum[o];
      }
}

void causal_scores(IN(float, Q), IN(float, K), OUT(float, P)) {
  enum { H = 8, S = 512, D = 64 };
  for (int h = 0; h < H; h++)
    for (int s = 0; s < S; s++) {
      for (int t = 0; t <= s; t++) {
        float sum = 0;
        for (int d = 0; d < D; d++) sum += Q[(h * S + s) * D + d] * K[(h * S + t) * D + d];
        P[(h * S + s) * S + t] = sum;
      }
      for (int t = s + 1; t < S; t++) P[(h * S + s) * S + t] = 0;
    }
}

void causal_sum(IN(float, P), IN(float, V), OUT(float, O)) {
  enum { H = 8, S = 512, D = 64 };
  for (int h = 0; h < H; h++)
    for (int s = 0; s < S; s++) {
      float row[D] = {0};
      for (int t = 0; t <= s; t++)
        for (int e = 0; e < D; e++) row[e] += P[(h * S + s) * S + t] * V[(h * S + t) * D + e];
      for (int e = 0; e < D; e++) O[(h * S + s) * D + e] = row[e];
    }
}

void causal_attention(IN(float, Q), IN(float, K), IN(float, V), OUT(float, O)) {
  enum { H = 8, S = 512, D = 64 };
  for (int h = 0; h < H; h++)
    for (int s = 0; s < S; s++) {
      float p[S], most = -INFINITY, total = 0, row[D] = {0};
      for (int t = 0; t <= s; t++) {
        float sum = 0;
        for (int d = 0; d < D; d++) sum += Q[(h * S + s) * D + d] * K[(h * S + t) * D + d];
        p[t] = 0.125f * sum;
        most = p[t] > most ? p[t] : most;
      }
      for (int t = 0; t <= s; t++) {
        p[t] = expf(p[t] - most);
        total += p[t];
      }
      for (int t = 0; t <= s; t++)
        for (int e = 0; e < D; e++) row[e] += p[t] * V[(h * S + t) * D + e];
      for (int e = 0; e < D; e++) O[(h * S + s) * D + e] = row[e] / total;
    }
}

/* ---- iterations ---------------------------------------------------------------------------------------- */

void jacobi(IN(float, U0), OUT(float, U)) {
  enum { N = 512, T = 40 };
  static float other[N * N];
  float *now = U, *next = other; /* T is even: the last one is U */
  memcpy(U, U0, sizeof other);
  memcpy(other, U0, sizeof other);
  for (int t = 0; t < T; t++) {
    const float *restrict from = now;
    float *restrict to = next;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        to[i * N + j] =
            0.25f * (from[(i - 1) * N + j] + from[(i + 1) * N + j] + from[i * N + j - 1] + from[i * N + j + 1]);
    next = now;
    now = to;
  }
}

void life(IN(uint8_t, X0), OUT(uint8_t, X)) {
  enum { N = 1024, T = 20 };
  static uint8_t other[N * N];
  uint8_t *now = X, *next = other; /* T is even */
  memcpy(X, X0, sizeof other);
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++) {
      const uint8_t *restrict up = now + (i + N - 1) % N * N, *restrict at = now + i * N,
                              *restrict down = now + (i + 1) % N * N;
      uint8_t *restrict to = next + i * N;
#define LIFE(j, l, r) \
  n = up[l] + up[j] + up[r] + at[l] + at[j] + at[r] + down[l] + down[j] + down[r], to[j] = n == 3 || (n == 4 && at[j])
      int n;
      LIFE(0, N - 1, 1);
      for (int j = 1; j < N - 1; j++) LIFE(j, j - 1, j + 1);
      LIFE(N - 1, N - 2, 0);
    }
    uint8_t *was = now;
    now = next;
    next = was;
  }
}

void blur(IN(float, U0), OUT(float, U)) {
  enum { N = 1024, T = 20 };
  static float other[N * N], none[N];
  float *now = U, *next = other; /* T is even */
  memcpy(U, U0, sizeof other);
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++) {
      const float *restrict up = i ? now + (i - 1) * N : none, *restrict at = now + i * N,
                            *restrict down = i < N - 1 ? now + (i + 1) * N : none;
      float *restrict to = next + i * N;
      to[0] = 0.1f * (up[0] + up[1] + at[0] + at[1] + down[0] + down[1]);
      for (int j = 1; j < N - 1; j++)
        to[j] = 0.1f *
            (up[j - 1] + up[j] + up[j + 1] + at[j - 1] + at[j] + at[j + 1] + down[j - 1] + down[j] + down[j + 1]);
      to[N - 1] = 0.1f * (up[N - 2] + up[N - 1] + at[N - 2] + at[N - 1] + down[N - 2] + down[N - 1]);
    }
    float *was = now;
    now = next;
    next = was;
  }
}

void wave(IN(float, U0), OUT(float, U)) {
  enum { N = 128, T = 20 };
  static float other[N * N * N], before[N * N * N], none[N];
  float *now = U, *next = other, *last = before;
  memcpy(U, U0, sizeof other);
  memcpy(before, U0, sizeof other);
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const float *restrict at = now + (i * N + j) * N, *restrict v = last + (i * N + j) * N;
        const float *restrict a = i ? at - N * N : none, *restrict b = i < N - 1 ? at + N * N : none;
        const float *restrict c = j ? at - N : none, *restrict d = j < N - 1 ? at + N : none;
        float *restrict to = next + (i * N + j) * N;
#define WAVE(k, l, r) to[k] = 2 * at[k] - v[k] + 0.1f * (a[k] + b[k] + c[k] + d[k] + (l) + (r) - 6 * at[k])
        WAVE(0, 0, at[1]);
        for (int k = 1; k < N - 1; k++) WAVE(k, at[k - 1], at[k + 1]);
        WAVE(N - 1, at[N - 2], 0);
      }
    float *was = last;
    last = now;
    now = next;
    next = was;
  }
  if (now != U) memcpy(U, now, sizeof other);
}

void ring(IN(float, U0), OUT(float, U)) {
  enum { N = 128, T = 20 };
  static float other[N * N * N];
  float *now = U, *next = other; /* T is even */
  memcpy(U, U0, sizeof other);
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const float *restrict at = now + (i * N + j) * N;
        const float *restrict a = now + ((i + N - 1) % N * N + j) * N, *restrict b = now + ((i + 1) % N * N + j) * N;
        const float *restrict c = now + (i * N + (j + N - 1) % N) * N, *restrict d = now + (i * N + (j + 1) % N) * N;
        float *restrict to = next + (i * N + j) * N;
#define RING(k, l, r) to[k] = 0.4f * at[k] + 0.1f * (a[k] + b[k] + c[k] + d[k] + at[l] + at[r])
        RING(0, N - 1, 1);
        for (int k = 1; k < N - 1; k++) RING(k, k - 1, k + 1);
        RING(N - 1, N - 2, 0);
      }
    float *was = now;
    now = next;
    next = was;
  }
}

void box(IN(float, X), OUT(float, Y)) {
  enum { N = 160, M = N - 2 };
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++)
      for (int k = 0; k < M; k++) {
        float sum = 0;
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++) sum += X[((i + a) * N + j + b) * N + k + c];
        Y[(i * M + j) * M + k] = sum;
      }
}

void kv_cache(IN(float, x0), IN(float, G), OUT(float, K), OUT(float, x)) {
  enum { T = 512, D = 256 };
  memset(K, 0, sizeof(float) * T * D);
  memcpy(x, x0, sizeof(float) * D);
  for (int t = 0; t < T; t++) {
    float s[T], o[D] = {0};
    for (int u = 0; u < t; u++) {
      s[u] = 0;
      for (int h = 0; h < D; h++) s[u] += K[u * D + h] * x[h];
    }
    for (int u = 0; u < t; u++)
      for (int h = 0; h < D; h++) o[h] += s[u] * K[u * D + h];
    for (int h = 0; h < D; h++) {
      K[t * D + h] = x[h];
      x[h] = 0.1f * G[t * D + h] + 0.01f * o[h];
    }
  }
}
