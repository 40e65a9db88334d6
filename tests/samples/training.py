"""References for the programs that train, in samples/papers and samples/nets: gradients are written out by hand."""
import numpy as np

from draw import glorot, he, normal, permutation, uniform
from layers import causal, causal_back, conv, cross_entropy, normed, relu, sigmoid
from references import sample


# ---- classifiers -----------------------------------------------------------------------------------------------------

@sample("papers/classifier_step", f32=True, N=10, D=7, H=6, L=9)
def classifier_step(z):
    X, Y = normal(1, z.N, z.D), uniform(2, z.N, z.L) < 0.3
    W1, W2 = 0.3 * normal(3, z.D, z.H), 0.3 * normal(4, z.H, z.L)
    A = relu(X @ W1)
    dZ = sigmoid(A @ W2) - Y
    return dict(W1_next=W1 - 0.1 * X.T @ (dZ @ W2.T * (A > 0)), W2_next=W2 - 0.1 * A.T @ dZ)


class Adam:
    def __init__(self, w):
        self.w, self.m, self.v = w, 0 * w, 0 * w

    def step(self, g, t, rate, b1=0.9, b2=0.99, eps=1e-8, decay=0.01):
        self.m, self.v = b1 * self.m + (1 - b1) * g, b2 * self.v + (1 - b2) * g * g
        first, second = self.m / (1 - b1**(t + 1)), self.v / (1 - b2**(t + 1))
        self.w = self.w - rate * (first / (np.sqrt(second) + eps) + decay * self.w)


@sample("papers/classifier_training", f32=True, N=22, M=9, D=6, H=10, C=5, B=8, T=7)
def classifier_training(z):
    teacher, X, Xtest = normal(1, z.D, z.C), normal(2, z.N, z.D), normal(3, z.M, z.D)
    W, V, curve = Adam(he(4, z.D, z.H)), Adam(glorot(5, z.H, z.C)), []
    for t in range(z.T):
        pick = np.array([permutation(6 + n // z.N, z.N)[n % z.N] for n in range(t * z.B, (t + 1) * z.B)])
        x = X[pick]
        kept = np.where(uniform(1000 + t, z.B, z.H) < 0.1, 0, 1 / 0.9)
        A = relu(x @ W.w)
        loss, dZ = cross_entropy(A * kept @ V.w, (x @ teacher).argmax(1))
        curve.append(loss)
        GV, GW = (A * kept).T @ dZ, x.T @ (dZ @ V.w.T * kept * (A > 0))
        clip = min(1, 1 / np.sqrt((GV**2).sum() + (GW**2).sum()))
        rate = 0.05 * min(1, (t + 1) / 10) * (0.05 + 0.475 * (1 + np.cos(np.pi * t / z.T)))
        W.step(clip * GW, t, rate)
        V.step(clip * GV, t, rate)
    score = relu(Xtest @ W.w) @ V.w
    truth = (Xtest @ teacher).argmax(1)
    best = np.argsort(-score, 1)
    return dict(curve=curve, W=W.w, MV=V.m, VV=V.v, right=(best[:, 0] == truth).mean(), among_two=(best[:, :2] == truth[:, None]).any(1).mean())


@sample("papers/two_hidden_layers", N=14, D=4, H=7, K=5, T=6)
def two_hidden_layers(z):
    X = normal(1, z.N, z.D)
    y = (X**2).sum(1) < 2.5
    A, B, C = 2 * normal(2, z.D, z.H), 2 * normal(3, z.H, z.K), normal(4, z.K)
    a, b, c, error = np.zeros(z.H), np.zeros(z.K), 0.5, []
    for _ in range(z.T):
        first = sigmoid(a + X @ A)
        second = sigmoid(b + first @ B)
        guess = relu(c + second @ C)
        error.append(((guess - y)**2).mean())
        dg = 2 * (guess - y) / z.N * (guess > 0)
        d2 = np.outer(dg, C) * second * (1 - second)
        d1 = d2 @ B.T * first * (1 - first)
        A, B, C = A - X.T @ d1, B - first.T @ d2, C - 0.3 * second.T @ dg
        a, b, c = a - d1.sum(0), b - d2.sum(0), c - 0.3 * dg.sum()
    return dict(A=A, B=B, C=C, a=a, b=b, c=c, error=error)


@sample("papers/factorisation", f32=True, U=11, I=9, K=4, T=8)
def factorisation(z):
    known = uniform(1, z.U, z.I) < 0.6
    truth = uniform(2, z.U, z.K) @ uniform(3, z.I, z.K).T
    P, Q, error = uniform(4, z.U, z.K), uniform(5, z.I, z.K), []
    for _ in range(z.T):
        off = np.where(known, truth - P @ Q.T, 0)
        error.append((off**2).sum())
        P, Q = P - 0.02 * (0.02 * P - 2 * off @ Q), Q - 0.02 * (0.02 * Q - 2 * off.T @ P)
    return dict(P=P, Q=Q, error=error)


@sample("papers/regression", N=31, D=5)
def regression(z):
    """What gradient descent converges to, by the normal equations. The noise is a product in f32."""
    X = normal(1, z.N, z.D)
    y = X @ (2.0 * np.arange(z.D) - 3) + np.float32(0.1) * normal(2, z.N).astype(np.float32)
    w = np.linalg.solve(X.T @ X, X.T @ y)
    return dict(w=w, v=w)


@sample("papers/coordinates", N=7, M=5, K=4, E=19, F=11, R=3, T=6)
def coordinates(z):
    e, f = np.arange(z.E), np.arange(z.F)
    row, col, value = e % z.N, (e // z.N + 2 * (e % z.N)) % z.M, (5 * e) % 7 - 2.0
    A, other = np.zeros((z.N, z.M)), np.zeros((z.N, z.M))
    np.add.at(A, (row, col), value)
    np.add.at(other, (2 * f % z.N, f % z.M), f + 1.0)
    w, miss, costs = np.zeros(z.M), [], []
    for _ in range(z.T):
        off = A @ (w - np.arange(z.M) + 1.5)
        miss.append((off**2).sum())
        w = w - 0.02 * A.T @ off
    P, Q = 0.1 * (np.arange(z.N)[:, None] + np.arange(z.R) + 1), 0.1 * (np.arange(z.M)[:, None] - np.arange(z.R))
    for _ in range(z.T):
        error = value - (P[row] * Q[col]).sum(1)
        costs.append((error**2).sum())
        up, uq = np.zeros_like(P), np.zeros_like(Q)
        np.add.at(up, row, error[:, None] * Q[col])
        np.add.at(uq, col, error[:, None] * P[row])
        P, Q = P + 0.06 * up, Q + 0.06 * uq
    return dict(plus=A + other, times=A @ (np.arange(z.M)[:, None] - np.arange(z.K)), w=w, miss=miss, P=P, Q=Q, costs=costs)


# ---- independent subnets, and local SGD ----------------------------------------------------------------------------------

def batch(X, step, size):
    return X[(step * size + np.arange(size)) % len(X)]


def descend(layers, x, y, rate):
    """A step for a net of relu(normed(x W)) and a linear layer at the end. Returns the new weights."""
    ways = []
    for w in layers[:-1]:
        n, back = normed(x @ w, 0)
        ways.append((x, n > 0, back))
        x = relu(n)
    _, d = cross_entropy(x @ layers[-1], y)
    new = [layers[-1] - rate * x.T @ d]
    d = d @ layers[-1].T
    for w, (x, on, back) in zip(layers[-2::-1], reversed(ways)):
        d = back(d * on)
        new.insert(0, w - rate * x.T @ d)
        d = d @ w.T
    return new


def right(layers, teacher, E, D):
    x = Xtest = normal(5, E, D)
    for w in layers[:-1]:
        x = relu(normed(x @ w, 0)[0])
    return ((x @ layers[-1]).argmax(1) == (Xtest @ teacher).argmax(1)).mean()


def rounds(z, layers, dealt):
    """R rounds: dealt(r, layers, s) is what subnet s trains, and how its result is put into the new layers."""
    teacher, X = normal(1, z.D, z.C), normal(2, z.S, z.M, z.D)
    Y = (X @ teacher).argmax(2)
    for r in range(z.R):
        new = [w.copy() for w in layers]
        for s in range(z.S):
            own, put = dealt(r, layers, s)
            for j in range(z.J):
                own = descend(own, batch(X[s], r * z.J + j, z.B), batch(Y[s], r * z.J + j, z.B), 0.2)
            put(new, own)
        layers = new
    return layers, right(layers, teacher, z.E, z.D)


@sample("papers/local_sgd", f32=True, S=3, M=14, D=5, H=8, C=3, B=8, J=2, R=2, E=9)
def local_sgd(z):
    def dealt(r, layers, s):
        def put(new, own):
            for k, w in enumerate(own):
                new[k] += (w - layers[k]) / z.S
        return layers, put
    (W, V), score = rounds(z, [he(3, z.D, z.H), glorot(4, z.H, z.C)], dealt)
    return dict(W=W, V=V, right=score)


@sample("papers/subnets", f32=True, S=2, M=14, D=5, H=8, C=3, B=8, J=2, R=2, E=9)
def subnets(z):
    def dealt(r, layers, s):
        mine = permutation(100 + r, z.H)[s * (z.H // z.S):(s + 1) * (z.H // z.S)]

        def put(new, own):
            new[0][:, mine], new[1][mine] = own
        return [layers[0][:, mine], layers[1][mine]], put
    (W, V), score = rounds(z, [he(3, z.D, z.H), glorot(4, z.H, z.C)], dealt)
    return dict(W=W, V=V, right=score)


@sample("papers/subnets_deep", f32=True, S=2, M=14, D=5, H=8, G=6, C=3, B=8, J=2, R=2, E=9)
def subnets_deep(z):
    def dealt(r, layers, s):
        k, l = z.H // z.S, z.G // z.S
        mine, next_ = permutation(100 + r, z.H)[s * k:(s + 1) * k], permutation(7000 + r, z.G)[s * l:(s + 1) * l]

        def put(new, own):
            new[0][:, mine], new[1][np.ix_(mine, next_)], new[2][next_] = own
        return [layers[0][:, mine], layers[1][np.ix_(mine, next_)], layers[2][next_]], put
    (W, U, V), score = rounds(z, [he(3, z.D, z.H), he(6, z.H, z.G), glorot(4, z.G, z.C)], dealt)
    return dict(W=W, U=U, V=V, right=score)


def residual(x, blocks, head):
    """Scores of a net of two residual blocks of two convolutions, and the way back to all weights."""
    ways = []
    for f, g in blocks:
        a, conv_f = conv(x, f)
        a, norm_f = normed(a, (0, 1, 2))
        b, conv_g = conv(relu(a), g)
        b, norm_g = normed(b, (0, 1, 2))
        ways.append((conv_f, norm_f, a > 0, conv_g, norm_g))
        x = x + b
    pooled = relu(x).mean((1, 2))

    def back(d):
        out = [pooled.T @ d]
        dx = np.broadcast_to((d @ head.T)[:, None, None] / (x.shape[1] * x.shape[2]), x.shape) * (x > 0)
        for conv_f, norm_f, on, conv_g, norm_g in reversed(ways):
            da, dg = conv_g(norm_g(dx))
            through, df = conv_f(norm_f(da * on))
            dx = dx + through
            out = [df, dg] + out
        return out
    return pooled @ head, back


@sample("papers/residual_subnets", f32=True, S=2, M=7, P=4, C=3, H=4, N=3, B=4, J=2, R=2, E=5)
def residual_subnets(z):
    teacher, X = normal(1, 3, 3, z.C, z.N), normal(2, z.S, z.M, z.P, z.P, z.C)

    def truth(x):
        return relu(conv(x, teacher)[0]).mean((1, 2)).argmax(1)

    weights = [0.3 * normal(3, 3, 3, z.C, z.H), 0.3 * normal(4, 3, 3, z.H, z.C), 0.3 * normal(5, 3, 3, z.C, z.H), 0.3 * normal(6, 3, 3, z.H, z.C)]
    head, k = glorot(7, z.C, z.N), z.H // z.S
    for r in range(z.R):
        new, heads, deal = [w.copy() for w in weights], [], permutation(100 + r, z.H)
        for s in range(z.S):
            mine = deal[s * k:(s + 1) * k]
            at = [(..., mine), (slice(None), slice(None), mine)] * 2
            own = [w[i] for w, i in zip(weights, at)] + [head]
            for j in range(r * z.J, (r + 1) * z.J):
                x = batch(X[s], j, z.B)
                score, back = residual(x, [own[:2], own[2:4]], own[4])
                own = [w - 0.2 * g for w, g in zip(own, back(cross_entropy(score, truth(x))[1]))]
            for w, i, part in zip(new, at, own):
                w[i] = part
            heads.append(own[4])
        weights, head = new, np.mean(heads, 0)
    Xtest = normal(8, z.E, z.P, z.P, z.C)
    score = residual(Xtest, [weights[:2], weights[2:]], head)[0]
    return dict(F1=weights[0], G1=weights[1], F2=weights[2], G2=weights[3], O=head, right=(score.argmax(1) == truth(Xtest)).mean())


# ---- nets ----------------------------------------------------------------------------------------------------------------

@sample("nets/convolutional", f32=True, N=7, P=6, C=3, H=5, T=3)
def convolutional(z):
    n, y, x = np.ogrid[:z.N, :z.P, :z.P]
    way, at = n % 3, 1 + n // 3 % (z.P - 2)
    image = (0.3 * normal(1, z.N, z.P, z.P) + np.where(way == 0, x == at, np.where(way == 1, y == at, (x - y) % z.P == at)))[..., None]
    way = way.ravel()
    F, G, O = 0.4 * normal(2, 3, 3, 1, z.C), 0.3 * normal(3, 3, 3, z.C, z.H), glorot(4, z.H, 3)
    gain, bias, losses = np.ones(z.C), np.zeros(z.C), []
    for _ in range(z.T):
        a, conv_f = conv(image, F)
        u, norm = normed(a, (0, 1, 2))
        b = u * gain + bias
        windows = relu(b).reshape(z.N, z.P // 2, 2, z.P // 2, 2, z.C).transpose(0, 1, 3, 5, 2, 4).reshape(z.N, z.P // 2, z.P // 2, z.C, 4)
        d, conv_g = conv(windows.max(-1), G)
        mean = relu(d).mean((1, 2))
        loss, ds = cross_entropy(mean @ O, way)
        losses.append(loss)

        dd = np.broadcast_to((ds @ O.T)[:, None, None] / d.shape[1] / d.shape[2], d.shape) * (d > 0)
        dp, dG = conv_g(dd)
        first = windows.argmax(-1)[..., None] == np.arange(4)
        db = (dp[..., None] * first).reshape(z.N, z.P // 2, z.P // 2, z.C, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(b.shape) * (b > 0)
        _, dF = conv_f(norm(db * gain))
        F, G, O = F - 0.2 * dF, G - 0.2 * dG, O - 0.2 * mean.T @ ds
        gain, bias = gain - 0.2 * (db * u).sum((0, 1, 2)), bias - 0.2 * db.sum((0, 1, 2))
    return dict(losses=losses, F=F, G=G, O=O, gain=gain, bias=bias)


@sample("nets/gpt_training", B=3, S=6, V=9, A=8, H=2, D=4, F=10, T=3)
def gpt_training(z):
    text = (np.arange(z.B)[:, None] + (np.arange(z.B)[:, None] % 3 + 1) * np.arange(z.S)) % z.V
    shapes = dict(E=(z.V, z.A), P=(z.S, z.A), WQ=(z.A, z.H, z.D), WK=(z.A, z.H, z.D), WV=(z.A, z.H, z.D), WO=(z.H, z.D, z.A), W1=(z.A, z.F), W2=(z.F, z.A))
    w = {name: (0.5 if name in "EP" else 0.3) * normal(k + 1, *shape) for k, (name, shape) in enumerate(shapes.items())}
    error, slope = [], np.sqrt(2 / np.pi)
    for t in range(z.T):
        g, losses = {name: 0 * x for name, x in w.items()}, []
        for row in text:
            X = w["E"][row] + w["P"]
            N, norm1 = normed(X, -1)
            q, k, v = (np.einsum("sa,ahd->shd", N, w[name]) for name in ("WQ", "WK", "WV"))
            o, weights = causal(q, k, v)
            Y = X + np.einsum("shd,hda->sa", o, w["WO"])
            M, norm2 = normed(Y, -1)
            u = M @ w["W1"]
            tanh = np.tanh(slope * (u + 0.044715 * u**3))
            G = u / 2 * (1 + tanh)
            Z, norm3 = normed(Y + G @ w["W2"], -1)
            loss, dscore = cross_entropy(Z[:-1] @ w["E"].T, row[1:])
            losses.append(loss)

            dscore = np.pad(dscore, ((0, 1), (0, 0))) / z.B
            g["E"] += dscore.T @ Z
            dY = norm3(dscore @ w["E"])
            g["W2"] += G.T @ dY
            du = dY @ w["W2"].T * ((1 + tanh) / 2 + u / 2 * (1 - tanh**2) * slope * (1 + 3 * 0.044715 * u**2))
            g["W1"] += M.T @ du
            dY = dY + norm2(du @ w["W1"].T)
            g["WO"] += np.einsum("shd,sa->hda", o, dY)
            dN = 0
            for name, d in zip(("WQ", "WK", "WV"), causal_back(np.einsum("sa,hda->shd", dY, w["WO"]), q, k, v, weights)):
                g[name] += np.einsum("sa,shd->ahd", N, d)
                dN = dN + np.einsum("shd,ahd->sa", d, w[name])
            dX = dY + norm1(dN)
            g["P"] += dX
            np.add.at(g["E"], row, dX)
        error.append(np.mean(losses))
        rate = 0.3 * min(1, (t + 1) / 5) * (0.1 + 0.45 * (1 + np.cos(np.pi * t / z.T)))
        w = {name: x - rate * g[name] for name, x in w.items()}
    return dict(error=error, **w)


@sample("nets/lstm", N=6, T=5, H=3, E=3)
def lstm(z):
    value = 2 * uniform(1, z.N, z.T) - 1
    when = np.floor(z.T * uniform(2, z.N)).astype(int)
    X = np.stack([value, np.arange(z.T) == when[:, None]], 2)
    wanted = value[np.arange(z.N), when]
    W, U, v = 0.6 * normal(3, 2, 4, z.H), 0.4 * normal(4, z.H, 4, z.H), 0.5 * normal(5, z.H)
    b, error = np.zeros((4, z.H)), []
    b[1] = 1
    for _ in range(z.E):
        y = c = np.zeros((z.N, z.H))
        turns = []
        for t in range(z.T):
            gates = b + np.einsum("nx,xgh->ngh", X[:, t], W) + np.einsum("nk,kgh->ngh", y, U)
            s, cand = sigmoid(gates[:, :3]), np.tanh(gates[:, 3])
            kept = s[:, 1] * c + s[:, 0] * cand
            turns.append((y, c, s, cand, kept))
            y, c = s[:, 2] * np.tanh(kept), kept
        off = y @ v - wanted
        error.append((off**2).mean())

        gv = y.T @ (2 * off / z.N)
        dy, dc, gW, gU, gb = np.outer(2 * off / z.N, v), 0, 0 * W, 0 * U, 0 * b
        for t, (y, c, s, cand, kept) in reversed(list(enumerate(turns))):
            dc = dc + dy * s[:, 2] * (1 - np.tanh(kept)**2)
            ds = np.stack([dc * cand, dc * c, dy * np.tanh(kept)], 1) * s * (1 - s)
            d = np.concatenate([ds, (dc * s[:, 0] * (1 - cand**2))[:, None]], 1)
            gW, gU, gb = gW + np.einsum("nx,ngh->xgh", X[:, t], d), gU + np.einsum("nk,ngh->kgh", y, d), gb + d.sum(0)
            dy, dc = np.einsum("ngh,kgh->nk", d, U), dc * s[:, 1]
        W, U, b, v = W - 0.2 * gW, U - 0.2 * gU, b - 0.2 * gb, v - 0.2 * gv
    return dict(W=W, U=U, b=b, v=v, error=error)


@sample("nets/mixture_of_experts", T=12, C=4, F=3, E=3, S=4)
def mixture_of_experts(z):
    X, M = normal(1, z.T, z.C), normal(2, 4, z.C, z.F)
    kind = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    wanted = np.einsum("tc,tcf->tf", X, M[kind])
    G, W, error, busy, every = 0.5 * normal(3, z.C, z.E), 0.5 * normal(4, z.E, z.C, z.F), [], [], np.arange(z.T)
    for _ in range(z.S):
        score = np.exp(X @ G)
        gate = score / score.sum(1, keepdims=True)
        who = gate.argmax(1)
        share, result = gate[every, who], np.einsum("tc,tcf->tf", X, W[who])
        off = share[:, None] * result - wanted
        load = np.bincount(who, minlength=z.E) / z.T
        error.append((off**2).mean())
        busy.append(load)

        d = 2 * off / off.size
        dW = 0 * W
        np.add.at(dW, who, np.einsum("tc,tf->tcf", X, share[:, None] * d))
        dgate = np.tile(0.1 * z.E * load / z.T, (z.T, 1))
        dgate[every, who] += (d * result).sum(1)
        G = G - X.T @ (gate * (dgate - (gate * dgate).sum(1, keepdims=True)))
        W = W - 2 * dW
    return dict(error=error, busy=busy, G=G, W=W)
