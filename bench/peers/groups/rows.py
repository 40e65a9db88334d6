"""Operations on each row of a matrix."""
from peers.row import Group, Part, Row

SIZES, SMALL = {"N": 4096, "M": 1024}, {"N": 5, "M": 37}


def softmax_numpy(np, X, out):
    np.subtract(X, X.max(1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(1, keepdims=True), out=out)


def layernorm_numpy(np, X, g, b, out):
    np.subtract(X, X.mean(1, keepdims=True), out=out)
    squares = np.einsum("ij,ij->i", out, out)
    np.multiply(out, 1 / np.sqrt(squares / X.shape[1] + np.float32(1e-5))[:, None], out=out)
    np.multiply(out, g, out=out)
    np.add(out, b, out=out)


def layernorm_jax(jnp, X, g, b):
    u = X - X.mean(1, keepdims=True)
    return u / jnp.sqrt((u * u).mean(1, keepdims=True) + 1e-5) * g + b


def logsumexp_numpy(np, X, out):
    room = np.empty_like(X)

    def run():
        most = X.max(1, keepdims=True)
        np.exp(np.subtract(X, most, out=room), out=room)
        np.add(np.log(room.sum(1)), most[:, 0], out=out)
    return run


def logsumexp_jax(jnp, X):
    import jax
    return jax.nn.logsumexp(X, 1)


def softmax_jax(jnp, X):
    import jax
    return jax.nn.softmax(X, 1)


SOFTMAX = Row("softmax", """
input X[i:N,j:M] : f32
output Y[i,j] = softmax[j](X[i,j])
""", SIZES, {
    "numpy": softmax_numpy, "jax": softmax_jax,
    "torch": lambda torch, X, out: torch.softmax(X, 1, out=out), "compile": lambda torch, X: torch.softmax(X, 1),
    "c": """
void peer(const float *restrict X, float *restrict Y) {
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
}"""}, SMALL)

LAYERNORM = Row("layernorm", """
input X[i:N,j:M], g[j:M], b[j:M] : f32
output Y[i,j] = layernorm[j](X[i,j], g[j], b[j], 0.00001)
""", SIZES, {
    "numpy": layernorm_numpy, "jax": layernorm_jax,
    "torch compile": lambda torch, X, g, b: torch.nn.functional.layer_norm(X, g.shape, g, b, 1e-5),
    "c": """
void peer(const float *restrict X, const float *restrict g, const float *restrict b, float *restrict Y) {
  for (int i = 0; i < N; i++) {
    const float *x = X + i * M;
    float *y = Y + i * M, sum = 0, squares = 0;
    for (int j = 0; j < M; j++) sum += x[j];
    float mean = sum / M;
    for (int j = 0; j < M; j++) squares += (x[j] - mean) * (x[j] - mean);
    float scale = 1 / sqrtf(squares / M + 1e-5f);
    for (int j = 0; j < M; j++) y[j] = (x[j] - mean) * scale * g[j] + b[j];
  }
}"""}, SMALL)

LOGSUMEXP = Row("logsumexp", """
input X[i:N,j:M] : f32
output y[i] = logsumexp[j] X[i,j]
""", SIZES, {
    "numpy": logsumexp_numpy, "jax": logsumexp_jax, "scipy": lambda scipy, X: scipy.special.logsumexp(X, 1),
    "torch": lambda torch, X, out: torch.logsumexp(X, 1, out=out), "compile": lambda torch, X: torch.logsumexp(X, 1),
    "c": """
void peer(const float *restrict X, float *restrict y) {
  for (int i = 0; i < N; i++) {
    const float *x = X + i * M;
    float most = -INFINITY, sum = 0;
    for (int j = 0; j < M; j++) most = x[j] > most ? x[j] : most;
    for (int j = 0; j < M; j++) sum += expf(x[j] - most);
    y[i] = most + logf(sum);
  }
}"""}, SMALL)

GROUP = Group("rows", [Part("rows", 2, [SOFTMAX, LAYERNORM, LOGSUMEXP], ("numpy", "torch", "compile"))])
