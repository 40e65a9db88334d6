"""References for samples/science, samples/mpi and the papers' programs that train nothing."""
import numpy as np

from draw import normal, uniform
from layers import llama
from references import sample


@sample("science/heat", N=11, T=9)
def heat(z):
    y = np.sin(np.pi * np.arange(1, z.N + 1) / (z.N + 1))
    u = np.outer(y, y)
    for _ in range(z.T):
        p = np.pad(u, 1)
        u = u + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)
    return dict(u=u)


@sample("science/pagerank", N=13)
def pagerank(z):
    """The fixed point, as the solution of a linear system."""
    i, j = np.ogrid[:z.N, :z.N]
    link = np.where((i != j) & ((i * j + 3 * i + j) % 5 == 1), 1.0, 0.0)
    out = link.sum(1, keepdims=True)
    step = np.where(out > 0, link / np.maximum(out, 1), 1 / z.N).T
    rank = np.linalg.solve(np.eye(z.N) - 0.85 * step, np.full(z.N, 0.15 / z.N))
    return dict(rank=rank, best=rank.argmax())


@sample("science/shortest_paths", N=11, T=4)
def shortest_paths(z):
    edge = np.where(uniform(1, z.N, z.N) < 0.25, 1 + np.floor(9 * uniform(2, z.N, z.N)), np.inf)
    np.fill_diagonal(edge, 0)
    for k in range(z.N):
        edge = np.minimum(edge, edge[:, k:k + 1] + edge[k])
    return dict(way=edge, far=edge[edge < np.inf].max(), reached=(edge < np.inf).sum())


@sample("science/coupled_cluster", O=3, V=5)
def coupled_cluster(z):
    O, V = z.O, z.V
    t, ladder, holes, vovo = normal(1, O, O, V, V), normal(2, V, V, V, V), normal(3, O, O, O, O), normal(4, O, O, V, V)
    quadratic = np.einsum("klcd,ijcd,klab->ijab", vovo, t, t)
    residue = np.einsum("abcd,ijcd->ijab", ladder, t) / 2 + np.einsum("klij,klab->ijab", holes, t) / 2 + quadratic / 4
    after = residue / (np.float32(2) + uniform(5, O, O, V, V).astype(np.float32))  # a sum in f32
    return dict(next_t2=after, energy=(vovo * after).sum() / 4)


@sample("science/cp_decomposition", I=7, J=6, K=5, T=4)
def cp_decomposition(z):
    """Each factor by a least-squares solver, from the equations that define it."""
    R = 2
    X = np.einsum("ir,jr,kr->ijk", normal(1, z.I, R), normal(2, z.J, R), normal(3, z.K, R))
    B, C = normal(4, z.J, R), normal(5, z.K, R)

    def fitted(x, p, q):
        return np.linalg.lstsq(np.einsum("pr,qr->pqr", p, q).reshape(-1, R), x.reshape(len(x), -1).T, rcond=None)[0].T

    off = []
    for _ in range(z.T):
        A = fitted(X, B, C)
        B = fitted(X.transpose(1, 0, 2), A, C)
        C = fitted(X.transpose(2, 0, 1), A, B)
        off.append(((X - np.einsum("ir,jr,kr->ijk", A, B, C))**2).sum() / (X**2).sum())
    return dict(B=B, C=C, off=off)


@sample("nets/state_space", T=13, C=5, N=3)
def state_space(z):
    """By the sum over the past."""
    a = 1 - 0.1 * np.arange(1, z.N + 1) - 0.02 * np.arange(z.C)[:, None]
    b, u = normal(2, z.C, z.N), normal(1, z.T, z.C)
    kernel = np.stack([(b * b * a**l).sum(1) for l in range(z.T)])
    return dict(y=[sum(kernel[t - s] * u[s] for s in range(t + 1)) for t in range(z.T)])


@sample("papers/arrays", N=7, M=5, G=3, S=11)
def arrays(z):
    i, j, s = np.arange(z.N)[:, None], np.arange(z.M), np.arange(z.S)
    A, B, C = (3 * i + 2 * j) % 7.0, (i + j) % 3.0, j[:, None] - np.arange(z.N)
    wide = np.pad(A, 1, constant_values=np.nan)
    region, amount = s * s % z.G, 10.0 + 3 * s
    groups = [amount[region == g] for g in range(z.G)]
    return dict(plus=A + B, times=A @ C, rotated=np.roll(A, 1, 0), row_average=A.mean(1), above_average=(A > A.mean(1, keepdims=True)).sum(1),
                smooth=np.nanmean([wide[p:p + z.N, q:q + z.M] for p in range(3) for q in range(3)], axis=0), sales=[len(g) for g in groups],
                total=[g.sum() for g in groups], largest=[g.max(initial=-np.inf) for g in groups], average=[g.mean() if len(g) else 0 for g in groups])


@sample("papers/matrix_chain", S=14, K=9, L=21, exact=True)
def matrix_chain(z):
    i, k, l, j = np.arange(z.S)[:, None], np.arange(z.K), np.arange(z.L), np.arange(z.S)
    A, B, D = (i + 2 * k) % 5 - 2, (2 * k[:, None] + j) % 3 - 1, (k[:, None] * l) % 7 - 3
    return dict(Z=A @ B + A @ (D @ ((l[:, None] + 3 * j) % 4 - 2)))


@sample("papers/nearest_neighbour", f32=True, N=21, D=7)
def nearest_neighbour(z):
    A = 2 * np.eye(z.D) + 0.3 * normal(3, z.D, z.D)
    off = normal(1, z.N, z.D) - normal(2, z.D)
    dist = np.array([x @ A @ x for x in off])
    return dict(dist=dist, nearest=dist.argmin(), how_near=dist.min())


@sample("papers/product_by_c", I=13, K=9, J=10, exact=True)
def product_by_c(z):
    i, k, j = np.arange(z.I)[:, None], np.arange(z.K), np.arange(z.J)
    return dict(C=((i + 2 * k) % 7 - 3) @ ((3 * k[:, None] + j) % 5 - 2))


def llama_weights(z, first, scale, *lead):
    A, G, R, D, F = z.A, z.G, z.R, z.D, z.F
    shapes = dict(WQ=(A, G, R, D), WK=(A, G, D), WV=(A, G, D), WO=(G, R, D, A), W1=(A, F), W3=(A, F), W2=(F, A))
    return {name: scale * normal(first + n, *lead, *shape) for n, (name, shape) in enumerate(shapes.items())}


@sample("papers/llama_layer", f32=True, B=3, S=7, A=12, G=2, R=3, D=4, F=10)
def llama_layer(z):
    w = llama_weights(z, 2, 0.25)
    w["W3"], w["W2"] = w["W1"], 0.2 * normal(7, z.F, z.A)  # W1 and W3 share a default
    return dict(Z=[llama(x, np.arange(z.S), w) for x in normal(1, z.B, z.S, z.A)])


@sample("papers/llama_generation", f32=True, L=2, T=9, P=3, V=13, A=12, G=2, R=2, D=4, F=10)
def llama_generation(z):
    """Each token by the whole model over all before it."""
    w, E = llama_weights(z, 2, 0.3, z.L), normal(16, z.V, z.A)
    text = [(7 * p + 3) % z.V for p in range(z.P)]
    while len(text) < z.T:
        x = E[text]
        for l in range(z.L):
            x = llama(x, np.arange(len(x)), {n: m[l] for n, m in w.items()})
        text.append((E @ x[-1]).argmax())
    return dict(text=text)
