"""Contractions of several tensors. The peers multiply in the best order, chosen by hand."""
from peers.row import Group, Part, Row, einsum


def matmuls(*products):
    """Products of numbered operands; results get the next numbers, and the last one is the output. Buffers are
    allocated once."""
    def f(lib, *x, out):
        steps, values = [], list(x)
        for k, (a, b) in enumerate(products):
            values.append(out if k == len(products) - 1 else lib.matmul(values[a], values[b]))
            steps.append((values[a], values[b], values[-1]))

        def run():
            for a, b, c in steps:
                lib.matmul(a, b, out=c)
        return run

    def fused(lib, *x):
        values = list(x)
        for a, b in products:
            values.append(values[a] @ values[b])
        return values[-1]

    return {"numpy torch": f, "jax": fused}


def mttkrp_hand(lib, X, B, C, out):
    """First the long axis, by a matrix product, then the short one."""
    i, j, k = X.shape
    T = lib.empty((i * j, C.shape[1]), dtype=X.dtype)

    def run():
        lib.matmul(X.reshape(i * j, k), C, out=T)
        return lib.einsum("ijr,jr->ir", T.reshape(i, j, -1), B)
    return run


def mttkrp_pure(lib, X, B, C):
    return lib.einsum("ijr,jr->ir", lib.einsum("ijk,kr->ijr", X, C), B)


def mttkrp5(lib, X, B, C, D, E):
    """One axis after the other, starting with the last."""
    T = X.reshape(-1, X.shape[-1]) @ E
    for F in (D, C, B):
        T = lib.einsum("njr,jr->nr", T.reshape(-1, *F.shape), F)
    return T


def ttmc(lib, X, B, C, D, E):
    """Each product contracts the last axis and moves the new one behind the first."""
    i = X.shape[0]
    T = X.reshape(i, -1, X.shape[-1]) @ E                      # i, (j k l), e
    for F, n in ((D, X.shape[3]), (C, X.shape[2]), (B, X.shape[1])):
        T = lib.einsum("anr,nb->abr", T.reshape(-1, n, T.shape[-1]), F).reshape(i, -1, F.shape[1] * T.shape[-1])
    return T.reshape(i, B.shape[1], C.shape[1], D.shape[1], E.shape[1])


def tucker(lib, X, U, V, W):
    i, j, k = X.shape
    T = (U.T @ X.reshape(i, j * k)).reshape(U.shape[1], j, k)  # a, j, k
    return lib.matmul(V.T, T @ W)                              # a, b, c


CHAINS = [
    Row("chain_three", """
input A[i:N,j:M], B[j:M,k:N], C[k:N,l:M] : f32
output Z[i,l] = sum[j,k] A[i,j] * B[j,k] * C[k,l]
""", {"N": 256, "M": 2048}, matmuls((0, 1), (3, 2)), {"N": 5, "M": 17}, "4 * N * N * M"),
    Row("chain_four", """
input A[i:P,j:Q], B[j:Q,k:N], C[k:N,l:Q], D[l:Q,m:P] : f32
output Z[i,m] = sum[j,k,l] A[i,j] * B[j,k] * C[k,l] * D[l,m]
""", {"P": 800, "Q": 1200, "N": 100}, matmuls((0, 1), (2, 3), (4, 5)), {"P": 9, "Q": 13, "N": 4},
        "2 * (2 * P * Q * N + P * N * P)"),
    Row("chain_vector", """
input A[i:N,j:N], B[j:N,k:N], x[k:N] : f32
output z[i] = sum[j,k] A[i,j] * B[j,k] * x[k]
""", {"N": 2048}, matmuls((1, 2), (0, 3)), {"N": 23}, "4 * N * N"),
]

OTHERS = [
    Row("mttkrp3", """
input X[i:N,j:N,k:N], B[j:N,r:R], C[k:N,r:R] : f32
output M[i,r] = sum[j,k] X[i,j,k] * B[j,r] * C[k,r]
""", {"N": 256, "R": 24}, {
        "numpy torch": mttkrp_hand, "jax": mttkrp_pure,
        "opt_einsum": einsum("ijk,jr,kr->ir")["opt_einsum"]}, {"N": 9, "R": 5}, "2 * N * N * (N + 1) * R"),
    Row("mttkrp5", """
input X[i:N,j:N,k:N,l:N,m:N], B[j:N,r:R], C[k:N,r:R], D[l:N,r:R], E[m:N,r:R] : f32
output M[i,r] = sum[j,k,l,m] X[i,j,k,l,m] * B[j,r] * C[k,r] * D[l,r] * E[m,r]
""", {"N": 24, "R": 24}, {
        "numpy torch jax": mttkrp5, "opt_einsum": einsum("ijklm,jr,kr,lr,mr->ir")["opt_einsum"]},
        {"N": 4, "R": 3}, "2 * R * (N**5 + N**4 + N**3 + N**2)"),
    Row("ttmc", """
input X[i:N,j:N,k:N,l:N,m:N], B[j:N,b:R], C[k:N,c:R], D[l:N,d:R], E[m:N,e:R] : f32
output T[i,b,c,d,e] = sum[j,k,l,m] X[i,j,k,l,m] * B[j,b] * C[k,c] * D[l,d] * E[m,e]
""", {"N": 24, "R": 12}, {
        "numpy torch jax": ttmc, "opt_einsum": einsum("ijklm,jb,kc,ld,me->ibcde")["opt_einsum"]},
        {"N": 4, "R": 3}, "2 * N * R * (N**4 + N**3 * R + N**2 * R**2 + N * R**3)"),
    Row("tucker", """
input X[i:N,j:N,k:N], U[i:N,a:R], V[j:N,b:R], W[k:N,c:R] : f32
output G[a,b,c] = sum[i,j,k] X[i,j,k] * U[i,a] * V[j,b] * W[k,c]
""", {"N": 256, "R": 32}, {
        "numpy torch jax": tucker, "opt_einsum": einsum("ijk,ia,jb,kc->abc")["opt_einsum"]},
        {"N": 9, "R": 4}, "2 * N * R * (N * N + N * R + R * R)"),
]

BY_HAND = ("numpy", "torch")
GROUP = Group("chains", [Part("matrices", 1.0, CHAINS, BY_HAND), Part("tensors", 1.3, OTHERS, BY_HAND)])
