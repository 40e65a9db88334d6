"""Tables of distances between two sets of points."""
from peers.row import Group, Part, Row

POINTS = "input X[i:N,k:K], Y[j:M,k:K] : f32\n"
SIZES = ({"N": 1024, "M": 1024, "K": 64}, {"N": 2048, "M": 2048, "K": 256})
SMALL = {"N": 9, "M": 14, "K": 11}
NEST = """
void peer(const float *restrict X, const float *restrict Y, float *restrict D) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      float r = 0;
      for (int k = 0; k < K; k++) {
        float u = X[i * K + k] - Y[j * K + k];
        %s;
      }
      D[i * M + j] = r;
    }
}"""


def cdist(metric):
    """SciPy computes in f64; conversions are not timed."""
    def f(scipy, X, Y):
        x, y = X.astype("f8"), Y.astype("f8")
        table = scipy.spatial.distance.cdist(x, y, metric)
        return lambda: scipy.spatial.distance.cdist(x, y, metric, out=table)
    return f


def l2_numpy(np, X, Y, out):
    """|x|^2 + |y|^2 - 2 x y, the last term by a matrix product."""
    def f():
        np.matmul(X, Y.T, out=out)
        np.multiply(out, -2, out=out)
        np.add(out, np.einsum("ik,ik->i", X, X)[:, None], out=out)
        np.add(out, np.einsum("jk,jk->j", Y, Y), out=out)
    return f


def l2_torch(torch, X, Y, out):
    sums = (X * X).sum(1, keepdim=True) + (Y * Y).sum(1)
    return torch.addmm(sums, X, Y.T, alpha=-2, out=out)


def l2_fused(lib, X, Y):
    return (X * X).sum(1)[:, None] + (Y * Y).sum(1) - 2 * (X @ Y.T)


def rows(name, body, metric, p, statement, reduced):
    for sizes in SIZES:
        yield Row(f"{name}_{sizes['N']}_{sizes['K']}", POINTS + f"output D[i,j] = {body}\n", sizes, {
            "scipy": cdist(metric), "torch": lambda torch, X, Y: torch.cdist(X, Y, p=p), "compile jax": reduced,
            "c": NEST % statement,
        }, SMALL, "3 * N * M * K", "")


def l2_rows():
    for sizes in SIZES:
        yield Row(f"l2sq_{sizes['N']}_{sizes['K']}", POINTS + "output D[i,j] = sum[k] (X[i,k] - Y[j,k])^2\n", sizes, {
            "numpy": l2_numpy, "torch": l2_torch, "compile jax": l2_fused, "scipy": cdist("sqeuclidean"),
            "c": NEST % "r += u * u",
        }, SMALL, "3 * N * M * K", "")


FAR = [*rows("linf", "max[k] abs(X[i,k] - Y[j,k])", "chebyshev", float("inf"), "r = fabsf(u) > r ? fabsf(u) : r",
             lambda lib, X, Y: lib.amax(lib.abs(X[:, None] - Y[None]), 2)),
       *rows("l1", "sum[k] abs(X[i,k] - Y[j,k])", "cityblock", 1.0, "r += fabsf(u)",
             lambda lib, X, Y: lib.sum(lib.abs(X[:, None] - Y[None]), 2))]
GROUP = Group("distances", [Part("beside cdist", 10, FAR, ("scipy", "torch")),
                            Part("squares, beside products of matrices", 1.2, list(l2_rows()), ("numpy", "torch"))])
