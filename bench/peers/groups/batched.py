"""Batched products, with any order of axes and any strides; and the contractions of tccg.csv."""
import csv
import os

from peers.row import Group, Part, Row, einsum

B64 = {"B": 256, "N": 64}
SMALL = {"B": 5, "N": 9}

BATCHED = Row("batched", """
input X[b:B,i:N,k:N], Y[b:B,k:N,j:N] : f32
output Z[b,i,j] = sum[k] X[b,i,k] * Y[b,k,j]
""", B64, {
    "numpy": lambda np, X, Y, out: np.matmul(X, Y, out=out),
    "torch": lambda torch, X, Y, out: torch.bmm(X, Y, out=out),
    "jax": lambda jnp, X, Y: X @ Y,
    "opt_einsum": einsum("bik,bkj->bij", (0, 1))["opt_einsum"],
}, SMALL, "2 * B * N**3")

TRANSPOSED = Row("batched_transposed", """
input X[b:B,k:N,i:N], Y[b:B,j:N,k:N] : f32
output Z[b,i,j] = sum[k] X[b,k,i] * Y[b,j,k]
""", B64, {
    "numpy": lambda np, X, Y, out: np.matmul(X.transpose(0, 2, 1), Y.transpose(0, 2, 1), out=out),
    "torch": lambda torch, X, Y, out: torch.bmm(X.transpose(1, 2), Y.transpose(1, 2), out=out),
    "jax": lambda jnp, X, Y: X.transpose(0, 2, 1) @ Y.transpose(0, 2, 1),
    "opt_einsum": einsum("bki,bjk->bij", (0, 1))["opt_einsum"],
}, SMALL, "2 * B * N**3")

INSIDE = Row("batch_inside", """
input X[i:N,b:B,k:N], Y[j:N,b:B,k:N] : f32
output Z[i,b,j] = sum[k] X[i,b,k] * Y[j,b,k]
""", B64, einsum("ibk,jbk->ibj", (0, 1)), SMALL, "2 * B * N**3")


def strided(name, strides):
    """Views of larger matrices, like those of slices; JAX has no such views."""
    return Row(name, """
input X[i:N,k:N], Y[k:N,j:N] : f32
output Z[i,j] = sum[k] X[i,k] * Y[k,j]
""", {"N": 768}, {
        "numpy torch": lambda lib, X, Y, out: lib.matmul(X, Y, out=out),
        "opt_einsum": einsum("ik,kj->ij", (0, 1))["opt_einsum"],
    }, {"N": 21}, "2 * N**3", strides={"X": strides, "Y": strides})


def tccg():
    """Each index of the equation has its own size."""
    with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "tccg.csv"), encoding="utf-8") as f:
        for line in csv.DictReader(row for row in f if not row.startswith("#")):
            sizes = {k.upper(): int(v) for k, v in (s.split("=") for s in line["sizes"].split())}
            a, b, c = line["equation"].replace("->", ",").split(",")
            inputs = ", ".join(f"{x}[{','.join(f'{l}:{l.upper()}' for l in labels)}]" for x, labels in (("X", a), ("Y", b)))
            summed = ",".join(sorted(set(a + b) - set(c)))
            yield Row(line["id"], f"input {inputs} : f32\noutput Z[{','.join(c)}] = sum[{summed}] "
                      f"X[{','.join(a)}] * Y[{','.join(b)}]\n", sizes, einsum(line["equation"], (0, 1)),
                      {k: 2 + n % 4 for n, k in enumerate(sizes)}, "2 * " + " * ".join(sizes))


# There are many, so that each gets less time.
GROUP = Group("batched", [Part("batched", 2.5, [
    BATCHED, TRANSPOSED, INSIDE, strided("strided_rows", "(2 * N, 1)"), strided("strided_columns", "(2 * N, 2)"), *tccg()])],
    sample=0.005)
