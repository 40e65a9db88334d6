"""Products of square matrices."""
from peers.row import Group, Part, Row

PEERS = {"numpy torch": lambda lib, A, B, out: lib.matmul(A, B, out=out), "jax": lambda jnp, A, B: A @ B}


def square(n, dtype):
    return Row(f"square_{dtype}_{n}", f"""
input A[i:N,k:N], B[k:N,j:N] : {dtype}
output C[i,j] = sum[k] A[i,k] * B[k,j]
""", {"N": n}, PEERS, {"N": 19}, "2 * N**3")


GROUP = Group("gemm", [Part("gemm", 0.92, [square(n, t) for t in ("f32", "f64") for n in (256, 512, 1024, 2048)])])
