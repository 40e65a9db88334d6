"""Parts of nets, forward, and backward by the formulas of textbooks. What has a way back returns it as a function from the result's adjoint."""
import numpy as np


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normed(x, axes, eps=1e-5):
    """x less its mean over these axes, by its deviation over them."""
    u = x - x.mean(axes, keepdims=True)
    s = 1 / np.sqrt((u * u).mean(axes, keepdims=True) + eps)
    y = u * s
    return y, lambda dy: s * (dy - dy.mean(axes, keepdims=True) - y * (dy * y).mean(axes, keepdims=True))


def rms_normed(x, eps=1e-5):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def cross_entropy(z, which):
    """The mean of -log softmax(z) at the class of each row; and its adjoint."""
    p, n = softmax(z), np.arange(len(z))
    dz = p.copy()
    dz[n, which] -= 1
    return -np.log(p[n, which]).mean(), dz / len(z)


def patches(x):
    """x[n,y,x,c] as [n,y,x,3,3,c]: what each place of a convolution of 3 by 3 sees, and zeros beyond the edge."""
    h, w = x.shape[1:3]
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.stack([np.stack([wide[:, q:q + h, r:r + w] for r in range(3)], 3) for q in range(3)], 3)


def conv(x, f):
    """A convolution with f[3,3,c,k]; its way back gives the adjoints of x and of f."""
    p = patches(x)

    def back(dy):
        dp = np.einsum("nyxk,qrck->nyxqrc", dy, f)
        wide = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, x.shape[3]))
        for q in range(3):
            for r in range(3):
                wide[:, q:q + x.shape[1], r:r + x.shape[2]] += dp[:, :, :, q, r]
        return wide[:, 1:-1, 1:-1], np.einsum("nyxk,nyxqrc->qrck", dy, p)
    return np.einsum("nyxqrc,qrck->nyxk", p, f), back


def rotated(x, places, base=10000.0):
    """Rotary places: element i of the last axis goes with element i + D/2; places are those of the first axis."""
    half = x.shape[-1] // 2
    angle = np.multiply.outer(places, base ** (-np.arange(half) / half)).reshape([len(places)] + [1] * (x.ndim - 2) + [half])
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


def causal(q, k, v):
    """Attention of q[s,h,d] to the places up to its own of k[s,h,d] and v[s,h,e]; the weights [h,s,t], too."""
    score = np.einsum("shd,thd->hst", q, k) / np.sqrt(q.shape[-1])
    w = softmax(np.where(np.tri(len(q), dtype=bool), score, -np.inf))
    return np.einsum("hst,the->she", w, v), w


def causal_back(do, q, k, v, w):
    dw = np.einsum("she,the->hst", do, v)
    ds = w * (dw - (dw * w).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return np.einsum("hst,thd->shd", ds, k), np.einsum("hst,shd->thd", ds, q), np.einsum("hst,she->the", w, do)


def llama(x, places, w):
    """A layer over x[s,a]: w has WQ[a,g,r,d], WK and WV[a,g,d], WO[g,r,d,a], W1 and W3[a,f], W2[f,a]."""
    n, r = rms_normed(x), w["WQ"].shape[2]
    q = rotated(np.einsum("sa,agrd->sgrd", n, w["WQ"]), places)
    k = rotated(np.einsum("sa,agd->sgd", n, w["WK"]), places)
    v = np.einsum("sa,agd->sgd", n, w["WV"])
    heads = q.reshape(len(x), -1, q.shape[-1])
    o, _ = causal(heads, np.repeat(k, r, 1), np.repeat(v, r, 1))
    y = x + np.einsum("sgrd,grda->sa", o.reshape(q.shape), w["WO"])
    m = rms_normed(y)
    gate = m @ w["W1"]
    return y + (gate * sigmoid(gate) * (m @ w["W3"])) @ w["W2"]
