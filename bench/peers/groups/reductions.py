"""Sums and maxima of a matrix larger than the caches."""
from peers.row import Group, Part, Row

N, SMALL = {"N": 4096}, {"N": 37}
NEST = "void peer(const float *restrict X, float *restrict y) {\n%s\n}"


def reduction(name, program, axis, nest, sum_or_max="sum"):
    """axis: the reduced axis, or None for both. Numbers are from 0 to 1, because others would cancel."""
    def fused(lib, X):
        return lib.amax(X, axis) if sum_or_max == "max" else lib.sum(X, axis) if axis is not None else lib.sum(X)

    def numpy(np, X, out):
        (np.max if sum_or_max == "max" else np.sum)(X, axis=axis, out=out)

    def torch(torch, X, out):
        if axis is None:
            return X.sum()
        return (torch.amax if sum_or_max == "max" else torch.sum)(X, axis, out=out)

    return Row(name, f"input X[i:N,j:N] : f32\noutput {program}\n", N,
               {"numpy": numpy, "torch": torch, "compile jax": fused, "c": NEST % nest}, SMALL,
               scale={"X": (0.5, 0.5)} if axis is None else {})


GROUP = Group("reductions", [Part("reductions", 0.95, [
    reduction("row_sum", "y[i] = sum[j] X[i,j]", 1, """
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int j = 0; j < N; j++) sum += X[i * N + j];
    y[i] = sum;
  }"""),
    reduction("column_sum", "y[j] = sum[i] X[i,j]", 0, """
  for (int j = 0; j < N; j++) y[j] = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) y[j] += X[i * N + j];"""),
    reduction("total", "y = sum[i,j] X[i,j]", None, """
  float sum = 0;
  for (int i = 0; i < N * N; i++) sum += X[i];
  *y = sum;"""),
    reduction("row_max", "y[i] = max[j] X[i,j]", 1, """
  for (int i = 0; i < N; i++) {
    float most = -INFINITY;
    for (int j = 0; j < N; j++) most = X[i * N + j] > most ? X[i * N + j] : most;
    y[i] = most;
  }""", "max")], ("numpy", "torch", "compile"))])
