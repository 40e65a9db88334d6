"""Products so small that the cost of a call matters: a loop in C calls both ours and OpenBLAS."""
from peers.row import Group, Part, Row

PEERS = {"openblas": lambda blas, A, B, C: blas.products(A, B, C)}


def square(n, name=None, again=False):
    return Row(name or f"tiny_{n}", """
input A[i:N,k:N], B[k:N,j:N] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
""", {"N": n}, PEERS, flops="2 * N**3", from_c=True, again=again)


def batch(count):
    return Row(f"batch4_{count}", """
input A[b:P,i:4,k:4], B[b:P,k:4,j:4] : f32
output C[b,i,j] = sum[k] A[b,i,k] * B[b,k,j]
""", {"P": count}, PEERS, {"P": 3}, "2 * P * 64", from_c=True)


GROUP = Group("tiny", [
    Part("8", 1.2, [square(8)]),
    Part("16", 1.0, [square(16)]),
    Part("32 and 64", 0.95, [square(32), square(64)]),
    Part("odd sizes", 1.0, [square(n) for n in (5, 7, 12, 13, 24, 31, 50)]),
    Part("many of 4", 2, [batch(64), batch(4096)]),
    Part("the call alone", None, [square(1, "call")]),
    Part("the call unchecked", None, [square(1, "call_again", again=True)])])
