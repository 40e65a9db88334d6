"""Matrix products with one side much shorter or longer than the others."""
from peers.row import Group, Part, Row

MATMUL = {"numpy torch": lambda lib, A, B, out: lib.matmul(A, B, out=out), "jax": lambda jnp, A, B: A @ B}
PRODUCT = """
input A[i:M,k:K], B[k:K,j:N] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
"""


def product(name, m, n, k):
    return Row(name, PRODUCT, {"M": m, "N": n, "K": k}, MATMUL, {"M": 13, "N": 11, "K": 7}, "2 * M * N * K")


MATVEC = Row("matvec", """
input A[i:M,k:K], x[k:K] : f32
output y[i] = sum[k] A[i,k] * x[k]
""", {"M": 4096, "K": 4096}, {
    "numpy": lambda np, A, x, out: np.matmul(A, x, out=out),
    "torch": lambda torch, A, x, out: torch.mv(A, x, out=out),
    "jax": lambda jnp, A, x: A @ x,
}, {"M": 13, "K": 37}, "2 * M * K")

GROUP = Group("skinny", [Part("skinny", 1.0, [
    product("tall", 65536, 64, 64), product("outer", 2048, 2048, 4), product("long_sum", 64, 64, 262144), MATVEC])])
