"""A convolution, a step of training, and a layer of a language model."""
from peers.row import Group, Part, Row

# ---- 3x3 convolution, channels last -----------------------------------------------------------------------

CONV = {"H": 56, "W": 56, "C": 64, "O": 64}
CONV_SMALL = {"H": 6, "W": 5, "C": 3, "O": 4}


def conv_numpy(border):
    """Nine matrix products."""
    def f(np, X, F, out):
        h, w = out.shape[1:3]
        T = np.empty_like(out)

        def run():
            wide = np.pad(X, ((0, 0), (border, border), (border, border), (0, 0)))
            np.matmul(wide[:, :h, :w], F[0, 0], out=out)
            for tap in range(1, 9):
                r, s = divmod(tap, 3)
                np.add(out, np.matmul(wide[:, r:r + h, s:s + w], F[r, s], out=T), out=out)
        return run
    return f


def conv_torch(border):
    """Channels are the last axis in memory, as in ours."""
    def f(torch, X, F):
        x = X.permute(0, 3, 1, 2)
        w = F.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        return lambda: torch.nn.functional.conv2d(x, w, padding=border).permute(0, 2, 3, 1)
    return f


def conv_jax(border):
    def f(jnp, X, F):
        import jax
        return jax.lax.conv_general_dilated(X, F, (1, 1), [(border, border)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return f


def conv(name, program, border):
    return Row(name, program, CONV, {"numpy": conv_numpy(border), "torch": conv_torch(border), "jax": conv_jax(border)},
               CONV_SMALL, "2 * H * W * C * O * 9")


CONVS = [
    conv("conv_border", """
input X[n:1, y:H, x:W, c:C], F[r:3,s:3,c:C,o:O] : f32
output Y[n,y:H,x:W,o] = sum[r,s,c] X[n, y + r - 1, x + s - 1, c] ?? 0 * F[r,s,c,o]
""", 1),
    conv("conv_inside", """
input X[n:1, y:H+2, x:W+2, c:C], F[r:3,s:3,c:C,o:O] : f32
output Y[n,y:H,x:W,o] = sum[r,s,c] X[n, y + r, x + s, c] * F[r,s,c,o]
""", 0)]

# ---- a step of training: two layers, softmax and cross-entropy, gradient descent ----------------------------


def train_numpy(np, X, C, W1, b1, W2, b2, out):
    batch, rate = np.arange(len(X)), np.float32(0.1)

    def run():
        A = X @ W1
        A += b1
        R = np.maximum(A, 0)
        P = R @ W2
        P += b2
        P -= P.max(1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(1, keepdims=True)
        P[batch, C] -= 1
        P *= rate / np.float32(len(X))
        D = P @ W2.T
        D *= A > 0
        np.subtract(W1, np.matmul(X.T, D, out=out[0]), out=out[0])
        np.subtract(b1, D.sum(0), out=out[1])
        np.subtract(W2, np.matmul(R.T, P, out=out[2]), out=out[2])
        np.subtract(b2, P.sum(0), out=out[3])
    return run


def train_torch(torch, X, C, W1, b1, W2, b2):
    A = torch.addmm(b1, X, W1)
    R = A.relu()
    P = torch.softmax(torch.addmm(b2, R, W2), 1)
    G = (P - torch.nn.functional.one_hot(C, P.shape[1])) * (0.1 / len(X))
    D = (G @ W2.T) * (A > 0)
    return torch.addmm(W1, X.T, D, alpha=-1), b1 - D.sum(0), torch.addmm(W2, R.T, G, alpha=-1), b2 - G.sum(0)


def train_jax(jnp, X, C, W1, b1, W2, b2):
    import jax

    def loss(w):
        scores = jnp.maximum(X @ w[0] + w[1], 0) @ w[2] + w[3]
        return jnp.mean(jax.nn.logsumexp(scores, 1) - scores[jnp.arange(len(C)), C])

    weights = (W1, b1, W2, b2)
    return tuple(w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights)))


TRAIN = Row("train", """
input X[b:B,i:I] : f32
input C[b:B] : i64
param W1[i:I,h:H], b1[h:H], W2[h:H,o:O], b2[o:O] : f32
A[b,h] = b1[h] + sum[i] X[b,i] * W1[i,h]
R[b,h] = relu(A[b,h])
P[b,o] = softmax[o](b2[o] + sum[h] R[b,h] * W2[h,o])
G[b,o] = (P[b,o] - (if C[b] == o then 1 else 0)) * 0.1 / B
D[b,h] = if A[b,h] > 0 then sum[o] G[b,o] * W2[h,o] else 0
output V1[i,h] = W1[i,h] - sum[b] X[b,i] * D[b,h]
output c1[h] = b1[h] - sum[b] D[b,h]
output V2[h,o] = W2[h,o] - sum[b] R[b,h] * G[b,o]
output c2[o] = b2[o] - sum[b] G[b,o]
""", {"B": 256, "I": 1024, "H": 2048, "O": 256}, {
    "numpy": train_numpy, "torch compile": train_torch, "jax": train_jax,
}, {"B": 6, "I": 9, "H": 8, "O": 5}, "2 * B * H * (2 * I + 3 * O)", below={"C": "O"},
    scale={"W1": (0.03, 0), "b1": (0.1, 0), "W2": (0.02, 0), "b2": (0.1, 0)})

# ---- a layer as LLaMA has it: rotary positions on halves, norms by squares, a gated net ---------------------------


def rotated(lib, x, cos, sin):
    """Rotates the two halves of the features of each head by the angle of the place. x: s, h, 2, p."""
    a, b = x[:, :, 0], x[:, :, 1]
    c, s = cos[:, None], sin[:, None]
    return lib.stack([a * c - b * s, b * c + a * s], 2)


def norm(lib, x, g):
    return x * (1 / lib.sqrt((x * x).mean(-1)[:, None] + 1e-5)) * g


def layer(attend, silu):
    def f(lib, X, n1, WQ, WK, WV, WO, n2, W1, W3, W2, cos, sin):
        places, width = X.shape
        heads, half = WQ.shape[1], WQ.shape[3]
        x = norm(lib, X, n1)
        q, k = (rotated(lib, (x @ w.reshape(width, -1)).reshape(places, heads, 2, half), cos, sin) for w in (WQ, WK))
        v = (x @ WV.reshape(width, -1)).reshape(places, heads, 2 * half)
        o = attend(lib, q.reshape(places, heads, -1), k.reshape(places, heads, -1), v)
        y = X + o.reshape(places, -1) @ WO.reshape(-1, width)
        x = norm(lib, y, n2)
        return y + (silu(lib, x @ W1) * (x @ W3)) @ W2
    return f


def attend_numpy(np, q, k, v):
    t = q.transpose(1, 0, 2) @ k.transpose(1, 2, 0)
    t *= np.float32(1 / np.sqrt(q.shape[2]))
    t += np.triu(np.full(t.shape[1:], -np.inf, "f4"), 1)
    t -= t.max(2, keepdims=True)
    np.exp(t, out=t)
    t /= t.sum(2, keepdims=True)
    return (t @ v.transpose(1, 0, 2)).transpose(1, 0, 2)


def attend_torch(torch, q, k, v):
    q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1)


def attend_jax(jnp, q, k, v):
    import jax
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def silu_jax(jnp, x):
    import jax
    return jax.nn.silu(x)


LLAMA = Row("llama", """
input X[s:S,d:D] : f32
param n1[d:D], WQ[d:D,h:H,r:2,p:P], WK[d:D,h:H,r:2,p:P], WV[d:D,h:H,e:2*P], WO[h:H,e:2*P,d:D] : f32
param n2[d:D], W1[d:D,f:F], W3[d:D,f:F], W2[f:F,d:D] : f32
input cs[s:S,p:P], sn[s:S,p:P] : f32
N[s,d] = rmsnorm[d](X[s,d], n1[d], 0.00001)
q[s,h,r,p] = sum[d] N[s,d] * WQ[d,h,r,p]
k[s,h,r,p] = sum[d] N[s,d] * WK[d,h,r,p]
v[s,h,e] = sum[d] N[s,d] * WV[d,h,e]
Q[s,h,r,p] = q[s,h,r,p] * cs[s,p] + (if r == 0 then -q[s,h,1,p] else q[s,h,0,p]) * sn[s,p]
K[s,h,r,p] = k[s,h,r,p] * cs[s,p] + (if r == 0 then -k[s,h,1,p] else k[s,h,0,p]) * sn[s,p]
T[h,s,t:S] = softmax[t where t <= s]((sum[r,p] Q[s,h,r,p] * K[t,h,r,p]) / sqrt(2 * P)) ?? 0
O[s,h,e] = sum[t where t <= s] T[h,s,t] * v[t,h,e]
Y[s,d] = X[s,d] + sum[h,e] O[s,h,e] * WO[h,e,d]
M[s,d] = rmsnorm[d](Y[s,d], n2[d], 0.00001)
G[s,f] = silu(sum[d] M[s,d] * W1[d,f]) * sum[d] M[s,d] * W3[d,f]
output Z[s,d] = Y[s,d] + sum[f] G[s,f] * W2[f,d]
""", {"S": 512, "D": 1024, "H": 16, "P": 32, "F": 2816}, {
    "numpy": layer(attend_numpy, lambda np, x: x / (1 + np.exp(-x))),
    "torch compile": layer(attend_torch, lambda torch, x: torch.nn.functional.silu(x)),
    "jax": layer(attend_jax, silu_jax),
}, {"S": 7, "D": 16, "H": 2, "P": 4, "F": 12}, "2 * S * D * (8 * H * P + 3 * F) + 2 * H * S * (S + 1) * 2 * P",
    scale={"n1": (0.25, 1), "n2": (0.25, 1), **dict.fromkeys(("WQ", "WK", "WV", "WO", "W1", "W3", "W2"), (0.05, 0))})

# ---- a step of training of a block like GPT-2's: norms, causal attention with heads, a gelu between two products ---------------

WEIGHTS = ("g1", "c1", "g2", "c2", "WQ", "WK", "WV", "WO", "W1", "W2")
LABELS = ("a", "a", "a", "a", "a,h,d", "a,h,d", "a,h,d", "h,d,a", "a,f", "f,a")


def block_torch(torch, X, g1, c1, g2, c2, WQ, WK, WV, WO, W1, W2, DY):
    """The loss."""
    f = torch.nn.functional
    s, a = X.shape
    h, d = WQ.shape[1:]
    n = f.layer_norm(X, [a], g1, c1)
    q, k, v = ((n @ w.reshape(a, h * d)).reshape(s, h, d).transpose(0, 1)[None] for w in (WQ, WK, WV))
    o = f.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1).reshape(s, h * d)
    r = X + o @ WO.reshape(h * d, a)
    y = r + f.gelu(f.layer_norm(r, [a], g2, c2) @ W1, approximate="tanh") @ W2
    return (y * DY).sum()


def step_torch(torch, X, *rest):
    *weights, DY = rest
    with torch.enable_grad():
        weights = [w.detach().requires_grad_() for w in weights]
        grads = torch.autograd.grad(block_torch(torch, X, *weights, DY), weights)
    with torch.no_grad():
        return tuple(torch.add(w, g, alpha=-0.01) for w, g in zip(weights, grads))


def step_compiled(torch, X, *rest):
    """What torch.compile takes whole."""
    *weights, DY = rest
    grads = torch.func.grad(lambda w: block_torch(torch, X, *w, DY))(weights)
    return tuple(torch.add(w, g, alpha=-0.01) for w, g in zip(weights, grads))


def step_jax(jnp, X, *rest):
    import jax
    *weights, DY = rest

    def norm(x, g, c):
        m = x.mean(-1, keepdims=True)
        return (x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + c

    def loss(weights):
        g1, c1, g2, c2, WQ, WK, WV, WO, W1, W2 = weights
        n = norm(X, g1, c1)
        q, k, v = (jnp.einsum("sa,ahd->shd", n, w) for w in (WQ, WK, WV))
        r = X + jnp.einsum("shd,hda->sa", jax.nn.dot_product_attention(q, k, v, is_causal=True), WO)
        return ((r + jax.nn.gelu(norm(r, g2, c2) @ W1) @ W2) * DY).sum()

    return tuple(w - 0.01 * g for w, g in zip(weights, jax.grad(loss)(weights)))


GPT = Row("gpt", """
use attention
input X[s:S,a:A] : f32
param g1[a:A], c1[a:A], g2[a:A], c2[a:A], WQ[a:A,h:H,d:D], WK[a:A,h:H,d:D], WV[a:A,h:H,d:D], WO[h:H,d:D,a:A], W1[a:A,f:F], W2[f:F,a:A] : f32
input DY[s:S,a:A] : f32
N[s,a] = layernorm[a](X[s,a], g1[a], c1[a], 1e-5)
Q[h,s,d] = sum[a] N[s,a] * WQ[a,h,d]
K[h,s,d] = sum[a] N[s,a] * WK[a,h,d]
V[h,s,e] = sum[a] N[s,a] * WV[a,h,e]
O[h,s,e] = causal[s,t,d](Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(D))
R[s,a] = X[s,a] + sum[h,e] O[h,s,e] * WO[h,e,a]
M[s,a] = layernorm[a](R[s,a], g2[a], c2[a], 1e-5)
Y[s,a] = R[s,a] + sum[f] gelu_tanh(sum[a'] M[s,a'] * W1[a',f]) * W2[f,a]
loss = sum[s,a] Y[s,a] * DY[s,a]
""" + "".join(f"output new{w}[{x}] = {w}[{x}] - 0.01 * grad(loss, {w}[{x}])\n" for w, x in zip(WEIGHTS, LABELS)),
    {"S": 512, "A": 512, "H": 8, "D": 64, "F": 2048}, {"torch": step_torch, "compile": step_compiled, "jax": step_jax},
    {"S": 7, "A": 16, "H": 2, "D": 8, "F": 12}, "3 * (2 * S * A * (4 * H * D + 2 * F) + 2 * H * S * (S + 1) * D)",
    scale={"g1": (0.25, 1), "g2": (0.25, 1), "DY": (0.1, 0), **dict.fromkeys(("WQ", "WK", "WV", "WO", "W1", "W2"), (0.05, 0))})

TORCH = ("torch", "compile")
GROUP = Group("nets", [Part("convolution", 0.75, CONVS, TORCH), Part("training", 1.0, [TRAIN], TORCH),
                        Part("a block in training", 0.95, [GPT], TORCH), Part("language model", 1.1, [LLAMA], TORCH)])
