"""References for the lessons whose comments do not state all of the result."""
import numpy as np

from draw import normal, uniform
from layers import sigmoid, softmax
from references import sample


@sample("02_attention", f32=True, S=19, A=12, H=3, D=5)
def attention(z):
    Q, K, V = (normal(n, z.S, z.A) for n in (1, 2, 3))
    WQ, WK, WV, WO = (0.1 * normal(n, z.A, z.H, z.D) for n in (4, 5, 6, 7))
    Y, spread = 0, []
    for h in range(z.H):
        T = softmax((Q @ WQ[:, h]) @ (K @ WK[:, h]).T / np.sqrt(z.D))
        Y = Y + T @ (V @ WV[:, h]) @ WO[:, h].T
        spread.append(np.exp(-(T * np.log(T)).sum(1)).mean())
    return dict(Y=Y, spread=spread)


@sample("06_loops", N=9, P=7)
def loops(z):
    """The dominant eigenvector; the game of life; shortest paths."""
    stretch, v = np.linalg.eigh([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
    L = np.zeros((z.N, z.N), int)
    L[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for _ in range(4):
        near = sum(np.roll(L, (p, q), (0, 1)) for p in (-1, 0, 1) for q in (-1, 0, 1)) - L
        L = ((near == 3) | (near == 2) & (L == 1)).astype(int)
    i, j = np.ogrid[:z.P, :z.P]
    way = np.where(i == j, 0, np.where((i + 2 * j) % 5 < 2, (5 * i + 3 * j) % 7 + 1.0, np.inf))
    for k in range(z.P):
        way = np.minimum(way, way[:, k:k + 1] + way[k])
    return dict(direction=np.abs(v[:, 2]), stretch=stretch[2], L=L, way=way)


@sample("11_kv_cache", f32=True, T=9, V=13, D=6)
def kv_cache(z):
    """All places are computed anew for each token."""
    E, WQ, WK, WV = normal(39, z.V, z.D), *(normal(n, z.D, z.D) for n in (40, 41, 42))
    d = np.arange(z.D)
    angle = np.arange(z.T)[:, None] * 100.0**(-(d // 2 * 2) / z.D)
    place, said = np.where(d % 2 == 0, np.sin(angle), np.cos(angle)), [0]
    for t in range(z.T):
        x = E[said] + place[:t + 1]
        weight = softmax(x[-1] @ WQ @ (x @ WK).T / np.sqrt(z.D))
        said.append((E @ (weight @ (x @ WV))).argmax())
    return dict(said=said[:-1], last=said[-1], keys=x @ WK, values=x @ WV)


@sample("12_kmeans", N=17, K=4, T=9)
def kmeans(z):
    n = np.arange(z.N)
    X = np.stack([5 * n % 3 + 10.0 * (n % 3), 7 * n % 4 + 8.0 * (n % 3 == 1)], 1)
    c, error, turns = X[::3][:z.K], np.zeros(z.T), 0
    for turns in range(1, z.T + 1):
        far = ((X[:, None] - c)**2).sum(2)
        mine = far.argmin(1)
        centre = np.array([X[mine == k].mean(0) if (mine == k).any() else c[k] for k in range(z.K)])
        error[turns - 1], same, c = far.min(1).sum(), np.allclose(centre, c, 0, 0), centre
        if same:
            break
    return dict(c=c, t=turns, error=error)


@sample("14_training", N=17, D=3, H=6, T=5)
def training(z):
    X = 4 * uniform(1, z.N, z.D) - 2
    y = (X**2).sum(1) < 1.8
    W, v, b, c, error = normal(2, z.D, z.H), 0.3 * normal(3, z.H), np.zeros(z.H), 0, []
    for _ in range(z.T):
        a = np.tanh(X @ W + b)
        s = a @ v + c
        error.append((np.log1p(np.exp(s)) - y * s).mean())
        d = (sigmoid(s) - y) / z.N
        da = np.outer(d, v) * (1 - a * a)
        W, b, v, c = W - 0.5 * X.T @ da, b - 0.5 * da.sum(0), v - 0.5 * a.T @ d, c - 0.5 * d.sum()
    return dict(W=W, b=b, v=v, c=c, error=error)
