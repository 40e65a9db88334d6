"""Computations that users spell in several ways. spellings.py times the spellings of a family, and compares them."""
from dataclasses import dataclass, field

ATTEND = "input Q[h:H,s:S,d:D], K[h:H,t:S,d:D], V[h:H,t:S,e:D] : f32\n"
FEW = {"Q": 3, "K": 3}
HEADS = "dim H = 4, S = 512, D = 64\n" + ATTEND


@dataclass
class Family:
    """head: what all spellings begin with; each of them makes the output Y. below: inputs are integers below this, by
    name; the others below 16. another: spellings that are another formula, and why: the language's law forbids to make
    them from the others, and they take longer for it. Their answers agree where all is finite. What differs only by the
    order of products and sums is no other formula, nor is what Ein makes as fast by looking at the data first."""
    name: str
    head: str
    spellings: dict
    below: dict = field(default_factory=dict)
    another: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.another.keys() - self.spellings.keys():
            raise ValueError(f"{self.name} has no such spellings: {self.another.keys() - self.spellings.keys()}")

    def programs(self, dtype="f32"):
        """Programs, by what tells them apart."""
        return {what: (self.head + text).replace(": f32", f": {dtype}").replace("f32(", f"{dtype}(") for what, text in self.spellings.items()}


ZERO_TIMES = "an infinity or a NaN times a zero of the mask is NaN, so all of the factor is looked at"
GREAT_MASK = "-1e30 is a number: a row of nothing else keeps its scores, and a greater score stays"
ZERO_WEIGHT = "an infinity or a NaN at a corner, times 0, is NaN: nine points and not five"
TWO_LOGARITHMS = "two logarithms, each rounded, and not one"
DIVIDED_LAST = "each result is divided and rounded, and not each row"
EACH_DIVIDED = "each result is divided, and not each row: a division takes as long as several products"
ROW_DIVIDED = "each row is divided once, and each result is rounded once more"
HORNER = "at an infinity, powers of other signs are NaN when added, and Horner's rule gives an infinity"
ONE_SIDE = "only with exact numbers is it the same for i, j as for j, i, so both halves are made"
SMALL_TAIL = "erfc has all digits of what is left far below 0, where 1 + erf has none, and is no function of vectors"
ONE_PASS = "it loses digits if the mean is large beside the deviation, and reads the tensor once"


def tap(a, b):
    read = f"X[n,c,y{a:+d},x{b:+d}]"
    return f"({read} ?? 0)" if a or b else read


def convolution(name, n, c, o, size, r):
    """By `where`, a weight beyond the border does not count, even if it is infinite or NaN; in the others it is times 0. So a kernel
    asks whether all are finite."""
    pad = r // 2
    taps = " + ".join(f"sum[c] {tap(a - pad, b - pad)} * F[o,c,{a},{b}]" for a in range(r) for b in range(r))
    return Family(name, f"dim H = {size}\ninput X[n:{n},c:{c},y:H,x:H], F[o:{o},c:{c},r:{r},q:{r}] : f32\n", {
        "?? 0": f"output Y[n,o,y:H,x:H] = sum[c,r,q] X[n,c,y+r-{pad},x+q-{pad}] ?? 0 * F[o,c,r,q]",
        "the sum in another order": f"output Y[n,o,y:H,x:H] = sum[r,q,c] F[o,c,r,q] * X[n,c,y+r-{pad},x+q-{pad}] ?? 0",
        "where": f"output Y[n,o,y:H,x:H] = sum[c,r,q where 0 <= y+r-{pad} and y+r-{pad} < H and 0 <= x+q-{pad} and x+q-{pad} < H] X[n,c,y+r-{pad},x+q-{pad}] * F[o,c,r,q]",
        "if": f"output Y[n,o,y:H,x:H] = sum[c,r,q] (if 0 <= y+r-{pad} and y+r-{pad} < H and 0 <= x+q-{pad} and x+q-{pad} < H then X[n,c,y+r-{pad},x+q-{pad}] else 0) * F[o,c,r,q]",
        "padded first": f"P[n,c,y:H+{2 * pad},x:H+{2 * pad}] = X[n,c,y-{pad},x-{pad}] ?? 0\noutput Y[n,o,y:H,x:H] = sum[c,r,q] P[n,c,y+r,x+q] * F[o,c,r,q]",
        "by rows of the filter": "output Y[n,o,y:H,x:H] = " + " + ".join(f"sum[c,q] (X[n,c,y+{a}-{pad},x+q-{pad}] ?? 0) * F[o,c,{a},q]" for a in range(r)),
        "tap by tap": f"output Y[n,o,y:H,x:H] = {taps}",
        "windows first": f"P[n,c,y:H,x:H,r:{r},q:{r}] = X[n,c,y+r-{pad},x+q-{pad}] ?? 0\noutput Y[n,o,y,x] = sum[c,r,q] P[n,c,y,x,r,q] * F[o,c,r,q]",
    })


MASKS = {
    "where": "O[h,s,e] = sum[t] softmax[t where t <= s](sum[d] Q[h,s,d] * K[h,t,d] / 8) * V[h,t,e]\n",
    "if, -inf": "A[h,s,t] = if t <= s then sum[d] Q[h,s,d] * K[h,t,d] / 8 else -inf\nO[h,s,e] = sum[t] softmax[t](A[h,s,t]) * V[h,t,e]\n",
    "plus if, -inf": "A[h,s,t] = sum[d] Q[h,s,d] * K[h,t,d] / 8 + (if t <= s then 0 else -inf)\nO[h,s,e] = sum[t] softmax[t](A[h,s,t]) * V[h,t,e]\n",
    "plus a mask made of labels": "M[s:S,t:S] : f32 = if t <= s then 0 else -inf\nA[h,s,t] = M[s,t] + sum[d] Q[h,s,d] * K[h,t,d] / 8\nO[h,s,e] = sum[t] softmax[t](A[h,s,t]) * V[h,t,e]\n",
    "plus -1e30": "A[h,s,t] = sum[d] Q[h,s,d] * K[h,t,d] / 8 + (if t <= s then 0 else -1e30)\nO[h,s,e] = sum[t] softmax[t](A[h,s,t]) * V[h,t,e]\n",
}
BIAS = {
    "inside": "O[h,s,e] = sum[t] softmax[t](sum[d] Q[h,s,d] * K[h,t,d] / 8 + M[s,t]) * V[h,t,e]\n",
    "named": "A[h,s,t] = M[s,t] + sum[d] Q[h,s,d] * K[h,t,d] / 8\nP[h,s,t] = softmax[t](A[h,s,t])\nO[h,s,e] = sum[t] P[h,s,t] * V[h,t,e]\n",
    "scaled query": "A[h,s,t] = (sum[d] (Q[h,s,d] / 8) * K[h,t,d]) + M[s,t]\nO[h,s,e] = sum[t] softmax[t](A[h,s,t]) * V[h,t,e]\n",
    "by hand": "A[h,s,t] = M[s,t] + sum[d] Q[h,s,d] * K[h,t,d] / 8\nm[h,s] = max[t] A[h,s,t]\nE[h,s,t] = exp(A[h,s,t] - m[h,s])\nO[h,s,e] = (sum[t] E[h,s,t] * V[h,t,e]) / sum[t] E[h,s,t]\n",
}


def out(spellings, end):
    return {what: text + end for what, text in spellings.items()}


FAMILIES = [
    convolution("small convolution", 8, 3, 8, 32, 3),
    convolution("small convolution of one channel", 4, 1, 6, 28, 5),
    convolution("convolution", 2, 32, 32, 56, 3),
    Family("causal attention", HEADS, out(MASKS, "output Y[h,s,e] = O[h,s,e]"), below=FEW, another={"plus -1e30": GREAT_MASK}),
    Family("attention with a mask or bias", HEADS + "input M[s:S,t:S] : f32\n", out(BIAS, "output Y[h,s,e] = O[h,s,e]"), below=FEW),
    Family("grouped queries", "dim G = 2, R = 4, S = 256, D = 64\ninput Q[h:G*R,s:S,d:D], K[g:G,t:S,d:D], V[g:G,t:S,e:D] : f32\n", {
        "groups": "output Y[(g r),s,e] = sum[t] softmax[t](sum[d] Q[(g r:R),s,d] * K[g,t,d] / 8) * V[g,t,e]",
        "quotients": "output Y[h:G*R,s,e] = sum[t] softmax[t](sum[d] Q[h,s,d] * K[h//R,t,d] / 8) * V[h//R,t,e]",
        "repeated first": "KR[h:G*R,t,d] = K[h//R,t,d]\nVR[h:G*R,t,e] = V[h//R,t,e]\noutput Y[h,s,e] = sum[t] softmax[t](sum[d] Q[h,s,d] * KR[h,t,d] / 8) * VR[h,t,e]",
        "repeated by groups": "KR[(g r:R),t,d] = K[g,t,d]\nVR[(g r:R),t,e] = V[g,t,e]\noutput Y[h,s,e] = sum[t] softmax[t](sum[d] Q[h,s,d] * KR[h,t,d] / 8) * VR[h,t,e]",
    }, below=FEW),
    Family("stencil of three points", "dim N = 1000000\ninput X[i:N+2] : f32\n", {
        "offsets": "output Y[i:N] = 0.25 * X[i+0] + 0.5 * X[i+1] + 0.25 * X[i+2]",
        "sum and if": "output Y[i:N] = sum[m:3] (if m == 1 then 0.5 else 0.25) * X[i+m]",
        "sum and weights": "w[m:3] : f32 = if m == 1 then 0.5 else 0.25\noutput Y[i:N] = sum[m] w[m] * X[i+m]",
        "powers": "output Y[i:N] = sum[m:3] 0.5 ^ (1 + abs(m - 1)) * X[i+m]",
        "two sums": "output Y[i:N] = 0.25 * (sum[m:2] X[i+m]) + 0.25 * (sum[m:2] X[i+m+1])",
        "where": "output Y[i:N] = sum[m:3] (0.25 * X[i+m]) + sum[m:3 where m == 1] 0.25 * X[i+m]",
    }),
    Family("stencil of five points", "dim N = 1000\ninput X[i:N,j:N] : f32\n", {
        "offsets": "output Y[i:N-2,j:N-2] = 0.5 * X[i+1,j+1] + 0.125 * (X[i+0,j+1] + X[i+2,j+1] + X[i+1,j+0] + X[i+1,j+2])",
        "sum and where": "output Y[i:N-2,j:N-2] = sum[a:3,b:3 where abs(a-1) + abs(b-1) <= 1] (if a == 1 and b == 1 then 0.5 else 0.125) * X[i+a,j+b]",
        "sum and if": "output Y[i:N-2,j:N-2] = sum[a:3,b:3] (if a == 1 and b == 1 then 0.5 else if a == 1 or b == 1 then 0.125 else 0) * X[i+a,j+b]",
        "weights": "w[a:3,b:3] : f32 = if a == 1 and b == 1 then 0.5 else if a == 1 or b == 1 then 0.125 else 0\noutput Y[i:N-2,j:N-2] = sum[a,b] w[a,b] * X[i+a,j+b]",
        "two crosses": "output Y[i:N-2,j:N-2] = 0.25 * X[i+1,j+1] + 0.125 * (sum[a:3] X[i+a,j+1]) + 0.125 * sum[b:3] X[i+1,j+b]",
    }, another={"sum and if": ZERO_WEIGHT, "weights": ZERO_WEIGHT}),
    Family("stencil of five points with a border", "dim N = 1000\ninput X[i:N,j:N] : f32\n", {
        "offsets": "output Y[i:N,j:N] = 0.5 * X[i,j] + 0.125 * (X[i-1,j] ?? 0 + X[i+1,j] ?? 0 + X[i,j-1] ?? 0 + X[i,j+1] ?? 0)",
        "sum and if": "output Y[i:N,j:N] = sum[a:3,b:3] (if a == 1 and b == 1 then 0.5 else if a == 1 or b == 1 then 0.125 else 0) * (X[i+a-1,j+b-1] ?? 0)",
        "sum and where": "output Y[i:N,j:N] = sum[a:3,b:3 where abs(a-1) + abs(b-1) <= 1] (if a == 1 and b == 1 then 0.5 else 0.125) * (X[i+a-1,j+b-1] ?? 0)",
        "two crosses": "output Y[i:N,j:N] = 0.25 * X[i,j] + 0.125 * (sum[a:3] X[i+a-1,j] ?? 0) + 0.125 * sum[b:3] X[i,j+b-1] ?? 0",
        "padded first": "P[i:N+2,j:N+2] = X[i-1,j-1] ?? 0\noutput Y[i:N,j:N] = 0.5 * P[i+1,j+1] + 0.125 * (P[i+0,j+1] + P[i+2,j+1] + P[i+1,j+0] + P[i+1,j+2])",
        "if": "output Y[i:N,j:N] = 0.5 * X[i,j] + 0.125 * ((if i > 0 then X[i-1,j] else 0) + (if i + 1 < N then X[i+1,j] else 0) + (if j > 0 then X[i,j-1] else 0) + (if j + 1 < N then X[i,j+1] else 0))",
    }, another={"sum and if": ZERO_WEIGHT}),
    Family("box of nine points", "dim N = 1000\ninput X[i:N,j:N] : f32\n", {
        "sum": "output Y[i:N-2,j:N-2] = sum[a:3,b:3] X[i+a,j+b]",
        "rows, then columns": "R[i:N,j:N-2] = sum[b:3] X[i,j+b]\noutput Y[i:N-2,j:N-2] = sum[a:3] R[i+a,j]",
        "columns, then rows": "R[i:N-2,j:N] = sum[a:3] X[i+a,j]\noutput Y[i:N-2,j:N-2] = sum[b:3] R[i,j+b]",
        "offsets": "output Y[i:N-2,j:N-2] = " + " + ".join(f"X[i+{a},j+{b}]" for a in range(3) for b in range(3)),
        "a sum in a sum": "output Y[i:N-2,j:N-2] = sum[a:3] sum[b:3] X[i+a,j+b]",
        "mean": "output Y[i:N-2,j:N-2] = 9 * mean[a:3,b:3] X[i+a,j+b]",
    }),
    Family("softmax", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "softmax": "output Y[i,j] = softmax[j](X[i,j])",
        "by hand": "m[i] = max[j] X[i,j]\ne[i,j] = exp(X[i,j] - m[i])\noutput Y[i,j] = e[i,j] / sum[k] e[i,k]",
        "in one line": "output Y[i,j] = exp(X[i,j] - max[k] X[i,k]) / sum[k] exp(X[i,k] - max[l] X[i,l])",
        "by the inverse": "m[i] = max[j] X[i,j]\nz[i] = 1 / sum[j] exp(X[i,j] - m[i])\noutput Y[i,j] = exp(X[i,j] - m[i]) * z[i]",
        "by logsumexp": "output Y[i,j] = exp(X[i,j] - logsumexp[k] X[i,k])",
        "by logsoftmax": "output Y[i,j] = exp(logsoftmax[j](X[i,j]))",
        "without max": "e[i,j] = exp(X[i,j])\noutput Y[i,j] = e[i,j] / sum[k] e[i,k]",
    }),
    Family("softmax of columns", "dim N = 768, M = 1024\ninput X[i:N,j:M] : f32\n", {
        "softmax": "output Y[i,j] = softmax[i](X[i,j])",
        "by hand": "m[j] = max[i] X[i,j]\ne[i,j] = exp(X[i,j] - m[j])\nz[j] = sum[i] e[i,j]\noutput Y[i,j] = e[i,j] / z[j]",
        "in one line": "output Y[i,j] = exp(X[i,j] - max[k] X[k,j]) / sum[k] exp(X[k,j] - max[l] X[l,j])",
        "by logsumexp": "output Y[i,j] = exp(X[i,j] - logsumexp[k] X[k,j])",
        "without max": "e[i,j] = exp(X[i,j])\noutput Y[i,j] = e[i,j] / sum[k] e[k,j]",
    }),
    Family("logsumexp", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "logsumexp": "output Y[i] = logsumexp[j] X[i,j]",
        "by hand": "m[i] = max[j] X[i,j]\noutput Y[i] = m[i] + log(sum[j] exp(X[i,j] - m[i]))",
        "in one line": "output Y[i] = (max[j] X[i,j]) + log(sum[j] exp(X[i,j] - max[k] X[i,k]))",
        "without max": "output Y[i] = log(sum[j] exp(X[i,j]))",
        "from logsoftmax": "L[i,j] = logsoftmax[j](X[i,j])\noutput Y[i] = X[i,0] - L[i,0]",
    }),
    Family("cross entropy", "use loss\ndim N = 1024, M = 768\ninput X[i:N,j:M] : f32\ninput c[i:N] : i64\n", {
        "loss": "output Y[i] = cross_entropy[j](X[i,j], c[i])",
        "gather": "L[i,j] = logsoftmax[j](X[i,j])\noutput Y[i] = -L[i,c[i]]",
        "where": "L[i,j] = logsoftmax[j](X[i,j])\noutput Y[i] = -sum[j where j == c[i]] L[i,j]",
        "one-hot": "h[i,j:M] : f32 = if j == c[i] then 1 else 0\noutput Y[i] = -sum[j] h[i,j] * logsoftmax[j](X[i,j])",
        "by logsumexp": "output Y[i] = (logsumexp[j] X[i,j]) - X[i,c[i]]",
        "log of softmax": "P[i,j] = softmax[j](X[i,j])\noutput Y[i] = -log(P[i,c[i]])",
    }, below={"c": 768}),
    Family("variance", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "variance": "output Y[i] = variance[j](X[i,j])",
        "two passes": "m[i] = mean[j] X[i,j]\noutput Y[i] = mean[j] (X[i,j] - m[i])^2",
        "sums": "m[i] = (sum[j] X[i,j]) / M\nd[i,j] = X[i,j] - m[i]\noutput Y[i] = (sum[j] d[i,j] * d[i,j]) / M",
        "one pass": "output Y[i] = (mean[j] X[i,j]^2) - (mean[j] X[i,j])^2",
        "one pass, sums": "s[i] = sum[j] X[i,j]\nq[i] = sum[j] X[i,j] * X[i,j]\noutput Y[i] = (q[i] - s[i] * s[i] / M) / M",
        "moments": "use stats\nm[i], v[i] = moments[j](X[i,j])\noutput Y[i] = v[i] + 0 * m[i]",
    }),
    Family("variance of columns", "dim N = 768, M = 1024\ninput X[i:N,j:M] : f32\n", {
        "variance": "output Y[j] = variance[i](X[i,j])",
        "two passes": "m[j] = mean[i] X[i,j]\noutput Y[j] = mean[i] (X[i,j] - m[j])^2",
        "sums": "m[j] = (sum[i] X[i,j]) / N\nd[i,j] = X[i,j] - m[j]\noutput Y[j] = (sum[i] d[i,j] * d[i,j]) / N",
        "one pass": "output Y[j] = (mean[i] X[i,j]^2) - (mean[i] X[i,j])^2",
    }, another={"one pass": ONE_PASS}),
    Family("layer norm", "dim N = 1024, M = 768\ninput X[i:N,j:M], g[j:M], b[j:M] : f32\n", {
        "layernorm": "output Y[i,j] = layernorm[j](X[i,j], g[j], b[j], 0.00001)",
        "by hand": "m[i] = mean[j] X[i,j]\nv[i] = mean[j] (X[i,j] - m[i])^2\noutput Y[i,j] = (X[i,j] - m[i]) / sqrt(v[i] + 0.00001) * g[j] + b[j]",
        "variance": "output Y[i,j] = (X[i,j] - mean[k] X[i,k]) * rsqrt(variance[k](X[i,k]) + 0.00001) * g[j] + b[j]",
        "sums": "m[i] = (sum[j] X[i,j]) / M\nc[i,j] = X[i,j] - m[i]\nv[i] = (sum[j] c[i,j] * c[i,j]) / M\ns[i] = 1 / sqrt(v[i] + 0.00001)\noutput Y[i,j] = g[j] * (c[i,j] * s[i]) + b[j]",
        "one pass": "m[i] = mean[j] X[i,j]\nq[i] = mean[j] X[i,j]^2\noutput Y[i,j] = (X[i,j] - m[i]) * rsqrt(q[i] - m[i]^2 + 0.00001) * g[j] + b[j]",
    }),
    Family("RMS norm", "dim N = 1024, M = 768\ninput X[i:N,j:M], g[j:M] : f32\n", {
        "rmsnorm": "output Y[i,j] = rmsnorm[j](X[i,j], g[j], 0.00001)",
        "division": "output Y[i,j] = X[i,j] / sqrt((mean[k] X[i,k]^2) + 0.00001) * g[j]",
        "a named norm": "r[i] = 1 / sqrt((sum[j] X[i,j] * X[i,j]) / M + 0.00001)\noutput Y[i,j] = g[j] * (X[i,j] * r[i])",
        "a power": "q[i] = mean[j] X[i,j]^2\noutput Y[i,j] = X[i,j] * (q[i] + 0.00001)^(-0.5) * g[j]",
        "squares named": "q[i,j] = X[i,j]^2\nr[i] = mean[j] q[i,j]\nn[i,j] = X[i,j] * rsqrt(r[i] + 0.00001)\noutput Y[i,j] = n[i,j] * g[j]",
        "scaled to the length": "l[i] = sqrt(sum[j] X[i,j]^2 + 0.00768)\noutput Y[i,j] = X[i,j] * g[j] * (27.7128129211 / l[i])",
    }, another={"division": EACH_DIVIDED}),
    Family("batched outer products", "input U[b:64,i:96], V[b:64,j:96] : f32\n", {
        "product": "output Y[b,i,j] = U[b,i] * V[b,j]",
        "factors swapped": "output Y[b,i,j] = V[b,j] * U[b,i]",
        "a sum of one": "A[b,i,k:1] = U[b,i]\nB[b,k:1,j] = V[b,j]\noutput Y[b,i,j] = sum[k] A[b,i,k] * B[b,k,j]",
        "by an identity": "output Y[b,i,j] = sum[b':64 where b' == b] U[b',i] * V[b,j]",
        "transposed first": "T[b,j,i] = V[b,j] * U[b,i]\noutput Y[b,i,j] = T[b,j,i]",
    }),
    Family("a sum of outer products", "input U[b:256,i:192], V[b:256,j:160] : f32\n", {
        "sum": "output Y[i,j] = sum[b] U[b,i] * V[b,j]",
        "named": "O[b,i,j] = U[b,i] * V[b,j]\noutput Y[i,j] = sum[b] O[b,i,j]",
        "split": "output Y[i,j] = sum[p,q] U[(p q:16),i] * V[(p q:16),j]",
        "factors swapped, split": "output Y[i,j] = sum[q,p] V[(p:8 q),j] * U[(p:8 q),i]",
        "transposed first": "T[i,b] = U[b,i]\noutput Y[i,j] = sum[b] T[i,b] * V[b,j]",
        "mean": "output Y[i,j] = 256 * mean[b] U[b,i] * V[b,j]",
    }),
    Family("gather", "dim V = 1000, S = 512, D = 256\ninput E[v:V,d:D] : f32\ninput t[s:S] : i64\n", {
        "index": "output Y[s,d] = E[t[s],d]",
        "one-hot": "h[s,v:V] : f32 = if v == t[s] then 1 else 0\noutput Y[s,d] = sum[v] h[s,v] * E[v,d]",
        "where": "output Y[s,d] = sum[v where v == t[s]] E[v,d]",
        "if": "output Y[s,d] = sum[v] if v == t[s] then E[v,d] else 0",
        "onehot": "use nn\noutput Y[s,d] = sum[v] onehot[v](t[s]) * E[v,d]",
        "embedding": "use nn\noutput Y[s,d] = embedding[v](E[v,d], t[s])",
        "bools": "h[s,v:V] = t[s] == v\noutput Y[s,d] = sum[v] (if h[s,v] then 1 else 0) * E[v,d]",
    }, below={"t": 1000}, another={"one-hot": ZERO_TIMES, "onehot": ZERO_TIMES, "bools": ZERO_TIMES}),
    Family("segment sums", "dim N = 4096, B = 64, D = 64\ninput X[n:N,d:D] : f32\ninput k[n:N] : i64\n", {
        "where": "output Y[b:B,d] = sum[n where k[n] == b] X[n,d]",
        "one-hot": "h[n,b:B] : f32 = if b == k[n] then 1 else 0\noutput Y[b,d] = sum[n] h[n,b] * X[n,d]",
        "if": "output Y[b:B,d] = sum[n] if k[n] == b then X[n,d] else 0",
        "a factor": "output Y[b:B,d] = sum[n] (if k[n] == b then 1 else 0) * X[n,d]",
    }, below={"k": 64}, another={"one-hot": ZERO_TIMES, "a factor": ZERO_TIMES}),
    Family("cumulative sum", "dim N = 512, M = 1024\ninput X[i:N,t:M] : f32\n", {
        "where": "output Y[i,s:M] = sum[t where t <= s] X[i,t]",
        "if": "output Y[i,s:M] = sum[t] if t <= s then X[i,t] else 0",
        "distance": "output Y[i,s:M] = sum[k:M] X[i,s-k] ?? 0",
        "a triangle": "L[s:M,t:M] : f32 = if t <= s then 1 else 0\noutput Y[i,s] = sum[t] L[s,t] * X[i,t]",
        "a triangle inside": "output Y[i,s:M] = sum[t] (if t <= s then 1 else 0) * X[i,t]",
        "backwards": "Z[i,t:M] = X[i,M-1-t]\nR[i,s:M] = sum[t where t >= s] Z[i,t]\noutput Y[i,s:M] = R[i,M-1-s]",
    }),
    Family("sum of a band", "dim N = 2048, D = 64\ninput X[j:N,d:D] : f32\n", {
        "where": "output Y[i:N,d] = sum[j where abs(i - j) <= 8] X[j,d]",
        "if": "output Y[i:N,d] = sum[j] if abs(i - j) <= 8 then X[j,d] else 0",
        "offsets": "output Y[i:N,d] = sum[k:17] X[i+k-8,d] ?? 0",
        "a mask": "M[i:N,j:N] : f32 = if abs(i - j) <= 8 then 1 else 0\noutput Y[i,d] = sum[j] M[i,j] * X[j,d]",
        "a factor": "output Y[i:N,d] = sum[j] f32(abs(i - j) <= 8) * X[j,d]",
        "two triangles": "L[i:N,j:N] : f32 = if j >= i - 8 then 1 else 0\nU[i:N,j:N] : f32 = if j <= i + 8 then 1 else 0\noutput Y[i,d] = sum[j] L[i,j] * U[i,j] * X[j,d]",
    }, another={"a mask": ZERO_TIMES, "a factor": ZERO_TIMES, "two triangles": ZERO_TIMES}),
    Family("running maximum", "dim N = 512, M = 1024\ninput X[i:N,t:M] : f32\n", {
        "where": "output Y[i,s:M] = max[t where t <= s] X[i,t]",
        "if": "output Y[i,s:M] = max[t] if t <= s then X[i,t] else -inf",
        "distance": "output Y[i,s:M] = max[k:M] X[i,s-k] ?? -inf",
        "negated": "output Y[i,s:M] = -min[t where t <= s] -X[i,t]",
    }),
    Family("transposed product", "input A[i:192,k:256], B[k:256,j:320] : f32\n", {
        "sum": "output Y[j,i] = sum[k] A[i,k] * B[k,j]",
        "factors swapped": "output Y[j,i] = sum[k] B[k,j] * A[i,k]",
        "transposed after": "C[i,j] = sum[k] A[i,k] * B[k,j]\noutput Y[j,i] = C[i,j]",
        "transposed before": "P[k,i] = A[i,k]\nR[j,k] = B[k,j]\noutput Y[j,i] = sum[k] R[j,k] * P[k,i]",
        "through groups": "C[(i j)] = sum[k] A[i,k] * B[k,j]\noutput Y[j,i:192] = C[(i j:320)]",
    }),
    Family("sums of groups", "dim N = 1000\ninput X[n:N,k:512] : f32\n", {
        "group": "output Y[n,a:16] = sum[b] X[n,(a b)]",
        "index": "output Y[n,a:16] = sum[b:32] X[n,32*a+b]",
        "where": "output Y[n,a:16] = sum[k where k // 32 == a] X[n,k]",
        "three labels": "output Y[n,a:16] = sum[b,c] X[n,(a b:4 c:8)]",
        "split first": "Z[n,a:16,b:32] = X[n,(a b)]\noutput Y[n,a] = sum[b] Z[n,a,b]",
        "in two": "Z[n,a:16,b:4] = sum[c] X[n,(a b c)]\noutput Y[n,a] = sum[b] Z[n,a,b]",
        "if": "output Y[n,a:16] = sum[k] if k // 32 == a then X[n,k] else 0",
    }),
    Family("pairs pooled", "dim N = 1000\ninput X[n:N,k:512] : f32\n", {
        "group": "output Y[n,m] = max[p] X[n,(m p:2)]",
        "index": "output Y[n,m:256] = max[p:2] X[n,2*m+p]",
        "two reads": "output Y[n,m:256] = max(X[n,2*m], X[n,2*m+1])",
        "where": "output Y[n,m:256] = max[k where k // 2 == m] X[n,k]",
        "if": "output Y[n,m:256] = if X[n,2*m] < X[n,2*m+1] then X[n,2*m+1] else X[n,2*m]",
    }),
    Family("pool of squares", "dim N = 16\ninput X[n:N,y:64,x:64,c:16] : f32\n", {
        "groups": "output Y[n,y,x,c] = max[p,q] X[n,(y p:2),(x q:2),c]",
        "index": "output Y[n,y:32,x:32,c] = max[p:2,q:2] X[n,2*y+p,2*x+q,c]",
        "rows, then columns": "R[n,y:64,x:32,c] = max[q:2] X[n,y,2*x+q,c]\noutput Y[n,y:32,x,c] = max[p:2] R[n,2*y+p,x,c]",
        "four reads": "output Y[n,y:32,x:32,c] = max(max(X[n,2*y,2*x,c], X[n,2*y,2*x+1,c]), max(X[n,2*y+1,2*x,c], X[n,2*y+1,2*x+1,c]))",
        "maxpool2d": "use nn\noutput Y[n,y:32,x:32,c] = maxpool2d[y,x,q:2,r:2](X[n,y,x,c], 2, 0)",
    }),
    Family("masked sum", "dim N = 1024, M = 768\ninput X[i:N,j:M], W[i:N,j:M] : f32\n", {
        "where": "output Y[i] = sum[j where W[i,j] > 7] X[i,j]",
        "if": "output Y[i] = sum[j] if W[i,j] > 7 then X[i,j] else 0",
        "a factor": "output Y[i] = sum[j] X[i,j] * (if W[i,j] > 7 then 1 else 0)",
        "a mask": "m[i,j] = if W[i,j] > 7 then 1 else 0\noutput Y[i] = sum[j] m[i,j] * X[i,j]",
        "a mask of bools": "m[i,j] = W[i,j] > 7\noutput Y[i] = sum[j where m[i,j]] X[i,j]",
    }),
    Family("sum beyond a border", "dim N = 1000\ninput X[i:N,j:N] : f32\n", {
        "??": "output Y[i:N,j:N] = X[i,j] - X[i-1,j] ?? 0",
        "if": "output Y[i:N,j:N] = X[i,j] - (if i > 0 then X[i-1,j] else 0)",
        "if around": "output Y[i:N,j:N] = if i > 0 then X[i,j] - X[i-1,j] else X[i,j]",
        "?? around": "output Y[i:N,j:N] = (X[i,j] - X[i-1,j]) ?? X[i,j]",
        "where": "output Y[i:N,j:N] = X[i,j] - sum[k:N where k == i - 1] X[k,j]",
        "shifted first": "P[i:N,j:N] = X[i-1,j] ?? 0\noutput Y[i,j] = X[i,j] - P[i,j]",
    }),
    Family("maximum of rows", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "max": "output Y[i] = max[j] X[i,j]",
        "argmax and gather": "output Y[i] = X[i, argmax[j] X[i,j]]",
        "argmax named": "a[i] = argmax[j] X[i,j]\noutput Y[i] = X[i,a[i]]",
        "argmax, where": "a[i] = argmax[j] X[i,j]\noutput Y[i] = sum[j where j == a[i]] X[i,j]",
        "min": "output Y[i] = -min[j] -X[i,j]",
        "halves": "output Y[i] = max(max[j:384] X[i,j+0], max[j:384] X[i,j+384])",
        "groups": "output Y[i] = max[a,b] X[i,(a b:16)]",
    }),
    Family("index of the maximum", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "argmax": "output Y[i] = argmax[j] X[i,j]",
        "min of equals": "m[i] = max[j] X[i,j]\noutput Y[i] = min[j where X[i,j] == m[i]] j",
        "negated": "output Y[i] = argmin[j] -X[i,j]",
    }),
    Family("a chain", "input A[i:256,j:64], B[j:64,k:512], C[k:512,l:32], D[l:32,m:256] : f32\n", {
        "one sum": "output Y[i,m] = sum[j,k,l] A[i,j] * B[j,k] * C[k,l] * D[l,m]",
        "another order": "output Y[i,m] = sum[l,j,k] D[l,m] * B[j,k] * A[i,j] * C[k,l]",
        "from the left": "P[i,k] = sum[j] A[i,j] * B[j,k]\nR[i,l] = sum[k] P[i,k] * C[k,l]\noutput Y[i,m] = sum[l] R[i,l] * D[l,m]",
        "from the right": "P[k,m] = sum[l] C[k,l] * D[l,m]\nR[j,m] = sum[k] B[j,k] * P[k,m]\noutput Y[i,m] = sum[j] A[i,j] * R[j,m]",
        "the middle first": "P[j,l] = sum[k] B[j,k] * C[k,l]\noutput Y[i,m] = sum[l] (sum[j] A[i,j] * P[j,l]) * D[l,m]",
        "nested": "output Y[i,m] = sum[l] (sum[k] (sum[j] A[i,j] * B[j,k]) * C[k,l]) * D[l,m]",
    }),
    Family("a chain and a vector", "input A[i:600,j:500], B[j:500,k:700], x[k:700] : f32\n", {
        "one sum": "output Y[i] = sum[j,k] A[i,j] * B[j,k] * x[k]",
        "vector first": "v[j] = sum[k] B[j,k] * x[k]\noutput Y[i] = sum[j] A[i,j] * v[j]",
        "matrix first": "C[i,k] = sum[j] A[i,j] * B[j,k]\noutput Y[i] = sum[k] C[i,k] * x[k]",
        "scaled columns": "S[j,k] = B[j,k] * x[k]\nC[i,k] = sum[j] A[i,j] * S[j,k]\noutput Y[i] = sum[k] C[i,k]",
        "factors in another order": "output Y[i] = sum[k,j] x[k] * A[i,j] * B[j,k]",
    }),
    Family("bilinear form", "input X[b:64,i:96], W[i:96,j:80,o:32], Z[b:64,j:80] : f32\n", {
        "one sum": "output Y[b,o] = sum[i,j] X[b,i] * W[i,j,o] * Z[b,j]",
        "factors reversed": "output Y[b,o] = sum[j,i] Z[b,j] * W[i,j,o] * X[b,i]",
        "left first": "P[b,j,o] = sum[i] X[b,i] * W[i,j,o]\noutput Y[b,o] = sum[j] P[b,j,o] * Z[b,j]",
        "outer product first": "P[b,i,j] = X[b,i] * Z[b,j]\noutput Y[b,o] = sum[i,j] P[b,i,j] * W[i,j,o]",
        "nested": "output Y[b,o] = sum[j] Z[b,j] * sum[i] X[b,i] * W[i,j,o]",
    }),
    Family("trace of a product", "input A[i:512,j:512], B[j:512,i:512] : f32\n", {
        "sum": "output Y = sum[i,j] A[i,j] * B[j,i]",
        "diagonal": "C[i,k:512] = sum[j] A[i,j] * B[j,k]\noutput Y = sum[i] C[i,i]",
        "where": "C[i,k:512] = sum[j] A[i,j] * B[j,k]\noutput Y = sum[i,k where i == k] C[i,k]",
        "transposed": "T[i,j] = B[j,i]\noutput Y = sum[i,j] A[i,j] * T[i,j]",
    }),
    Family("covariance", "dim N = 1024, M = 192\ninput X[n:N,i:M] : f32\n", {
        "stats": "use stats\noutput Y[i,j:M] = covariance[n](X[n,i], X[n,j])",
        "centred": "m[i] = mean[n] X[n,i]\nC[n,i] = X[n,i] - m[i]\noutput Y[i,j] = (sum[n] C[n,i] * C[n,j]) / N",
        "inside": "m[i] = mean[n] X[n,i]\noutput Y[i,j:M] = mean[n] (X[n,i] - m[i]) * (X[n,j] - m[j])",
        "moments": "m[i] = mean[n] X[n,i]\noutput Y[i,j:M] = (mean[n] X[n,i] * X[n,j]) - m[i] * m[j]",
        "one side centred": "m[i] = mean[n] X[n,i]\noutput Y[i,j:M] = mean[n] (X[n,i] - m[i]) * X[n,j]",
    }, another={"one side centred": ONE_SIDE}),
    Family("normalised rows", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "division": "output Y[i,j] = X[i,j] / sum[k] X[i,k]",
        "named": "s[i] = sum[j] X[i,j]\noutput Y[i,j] = X[i,j] / s[i]",
        "inverse": "s[i] = 1 / sum[j] X[i,j]\noutput Y[i,j] = X[i,j] * s[i]",
        "mean": "m[i] = mean[j] X[i,j]\noutput Y[i,j] = X[i,j] / (m[i] * M)",
        "by ones": "o[j:M] : f32 = 1\ns[i] = sum[j] X[i,j] * o[j]\noutput Y[i,j] = X[i,j] / s[i]",
    }, another={"inverse": ROW_DIVIDED}),
    Family("mean of pixels", "input X[n:16,c:64,y:32,x:32] : f32\n", {
        "mean": "output Y[n,c] = mean[y,x] X[n,c,y,x]",
        "mean of means": "output Y[n,c] = mean[y] mean[x] X[n,c,y,x]",
        "other mean of means": "output Y[n,c] = mean[x] mean[y] X[n,c,y,x]",
        "sum": "output Y[n,c] = (sum[y,x] X[n,c,y,x]) / 1024",
        "sum, labels swapped": "output Y[n,c] = (sum[x,y] X[n,c,y,x]) / 1024",
        "scaled before": "output Y[n,c] = sum[y,x] X[n,c,y,x] * 0.0009765625",
        "flat": "F[n,c,(y x)] = X[n,c,y,x]\noutput Y[n,c] = mean[p] F[n,c,p]",
    }),
    Family("gated layer", "input X[b:128,a:256], W[a:256,f:512], V[a:256,f:512] : f32\n", {
        "swiglu": "use nn\noutput Y[b,f] = swiglu[a](X[b,a], W[a,f], V[a,f])",
        "named": "G[b,f] = sum[a] X[b,a] * W[a,f]\nU[b,f] = sum[a] X[b,a] * V[a,f]\noutput Y[b,f] = silu(G[b,f]) * U[b,f]",
        "sigmoid": "G[b,f] = sum[a] X[b,a] * W[a,f]\noutput Y[b,f] = G[b,f] * sigmoid(G[b,f]) * sum[a] X[b,a] * V[a,f]",
        "exp": "G[b,f] = sum[a] X[b,a] * W[a,f]\noutput Y[b,f] = G[b,f] / (1 + exp(-G[b,f])) * sum[a] X[b,a] * V[a,f]",
        "one product": "T[a,p:2,f] = if p == 0 then W[a,f] else V[a,f]\nR[b,p,f] = sum[a] X[b,a] * T[a,p,f]\noutput Y[b,f] = silu(R[b,0,f]) * R[b,1,f]",
    }),
    Family("product with a bias", "input X[b:256,a:256], W[a:256,f:256], c[f:256] : f32\n", {
        "linear": "use nn\noutput Y[b,f] = linear[a](X[b,a], W[a,f], c[f])",
        "after": "P[b,f] = sum[a] X[b,a] * W[a,f]\noutput Y[b,f] = P[b,f] + c[f]",
        "a further row": "A[b,a:257] = X[b,a+0] ?? 1\nU[a:257,f] = W[a+0,f] ?? c[f]\noutput Y[b,f] = sum[a] A[b,a] * U[a,f]",
        "transposed weight": "T[f,a] = W[a,f]\noutput Y[b,f] = c[f] + sum[a] T[f,a] * X[b,a]",
        "relu of it, by if": "P[b,f] = c[f] + sum[a] X[b,a] * W[a,f]\noutput Y[b,f] = if P[b,f] > -1e30 then P[b,f] else -1e30",
    }),
    Family("distances", "input A[i:256,d:64], B[j:256,d:64] : f32\n", {
        "squares": "output Y[i,j] = sum[d] (A[i,d] - B[j,d])^2",
        "a difference named": "D[i,j,d] = A[i,d] - B[j,d]\noutput Y[i,j] = sum[d] D[i,j,d] * D[i,j,d]",
        "difference swapped": "output Y[i,j] = sum[d] (B[j,d] - A[i,d])^2",
        "l2sq": "use distance\noutput Y[i,j] = l2sq[d](A[i,d], B[j,d])",
    }),
    Family("relu", "input X[i:1000,j:1000] : f32\n", {
        "relu": "output Y[i,j] = relu(X[i,j] - 7)",
        "max": "output Y[i,j] = max(X[i,j] - 7, 0)",
        "if": "output Y[i,j] = if X[i,j] > 7 then X[i,j] - 7 else 0",
        "a factor": "output Y[i,j] = (X[i,j] - 7) * (if X[i,j] > 7 then 1 else 0)",
        "named": "Z[i,j] = X[i,j] - 7\nm[i,j] = Z[i,j] > 0\noutput Y[i,j] = if m[i,j] then Z[i,j] else 0",
        "abs": "Z[i,j] = X[i,j] - 7\noutput Y[i,j] = (Z[i,j] + abs(Z[i,j])) / 2",
    }),
    Family("counted", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "count": "output Y[i] = count[j where X[i,j] > 7]",
        "sum of if": "output Y[i] = sum[j] if X[i,j] > 7 then 1 else 0",
        "sum of bools": "output Y[i] = sum[j] i64(X[i,j] > 7)",
        "a mask": "m[i,j] = X[i,j] > 7\noutput Y[i] = count[j where m[i,j]]",
    }),
    Family("permuted", "input X[a:64,b:96,c:128] : f32\n", {
        "at once": "output Y[c,a,b] = X[a,b,c]",
        "in two": "Z[a,c,b] = X[a,b,c]\noutput Y[c,a,b] = Z[a,c,b]",
        "as a matrix": "F[(a b),c] = X[a,b,c]\nT[c,p] = F[p,c]\noutput Y[c,a:64,b] = T[c,(a b)]",
        "by index": "output Y[c:128,a:64,b:96] = X[a+0,b+0,c+0]",
    }),
    Family("pooled by reshaping", "dim N = 16\ninput X[n:N,y:64,x:64,c:16] : f32\n", {
        "groups": "output Y[n,y,x,c] = mean[p,q] X[n,(y p:2),(x q:2),c]",
        "windows named": "P[n,y:32,p:2,x:32,q:2,c] = X[n,2*y+p,2*x+q,c]\noutput Y[n,y,x,c] = mean[p,q] P[n,y,p,x,q,c]",
        "windows as one label": "P[n,y:32,x:32,(p q),c] = X[n,(y p:2),(x q:2),c]\noutput Y[n,y,x,c] = mean[k] P[n,y,x,k,c]",
        "flat rows": "F[n,(y x),c] = X[n,y,x,c]\noutput Y[n,y:32,x:32,c] = mean[p:2,q:2] F[n,64*(2*y+p)+2*x+q,c]",
        "channels first": "T[n,c,y,x] = X[n,y,x,c]\nM[n,c,y,x] = mean[p,q] T[n,c,(y p:2),(x q:2)]\noutput Y[n,y,x,c] = M[n,c,y,x]",
    }),
    Family("attention, keys transposed", HEADS, {
        "as they are": "output Y[h,s,e] = sum[t] softmax[t](sum[d] Q[h,s,d] * K[h,t,d] / 8) * V[h,t,e]",
        "keys transposed": "T[h,d,t] = K[h,t,d]\noutput Y[h,s,e] = sum[t] softmax[t](sum[d] Q[h,s,d] * T[h,d,t] / 8) * V[h,t,e]",
        "scores named": "T[h,d,t] = K[h,t,d]\nA[h,s,t] = (sum[d] Q[h,s,d] * T[h,d,t]) * 0.125\nP[h,s,t] = softmax[t](A[h,s,t])\noutput Y[h,s,e] = sum[t] P[h,s,t] * V[h,t,e]",
        "divided last": "A[h,s,t] = sum[d] Q[h,s,d] * K[h,t,d] / 8\nE[h,s,t] = exp(A[h,s,t] - max[t'] A[h,s,t'])\nz[h,s] = sum[t] E[h,s,t]\noutput Y[h,s,e] = (sum[t] E[h,s,t] * V[h,t,e]) / z[h,s]",
    }, below=FEW),
    Family("cosine similarity", "input A[i:256,d:64], B[j:256,d:64] : f32\n", {
        "normalised after": "a[i] = sqrt(1 + sum[d] A[i,d]^2)\nb[j] = sqrt(1 + sum[d] B[j,d]^2)\noutput Y[i,j] = (sum[d] A[i,d] * B[j,d]) / (a[i] * b[j])",
        "normalised before": "P[i,d] = A[i,d] / sqrt(1 + sum[d'] A[i,d']^2)\nQ[j,d] = B[j,d] / sqrt(1 + sum[d'] B[j,d']^2)\noutput Y[i,j] = sum[d] P[i,d] * Q[j,d]",
        "in one line": "output Y[i,j] = (sum[d] A[i,d] * B[j,d]) / sqrt(1 + sum[d] A[i,d]^2) / sqrt(1 + sum[d] B[j,d]^2)",
        "by inverses": "a[i] = rsqrt(1 + sum[d] A[i,d]^2)\nb[j] = rsqrt(1 + sum[d] B[j,d]^2)\noutput Y[i,j] = sum[d] (a[i] * A[i,d]) * (B[j,d] * b[j])",
    }, another={"normalised after": DIVIDED_LAST, "in one line": DIVIDED_LAST}),
    Family("distances, expanded", "input A[i:256,d:64], B[j:256,d:64] : f32\n", {
        "products": "output Y[i,j] = (sum[d] A[i,d]^2) + (sum[d] B[j,d]^2) - 2 * sum[d] A[i,d] * B[j,d]",
        "norms named": "a[i] = sum[d] A[i,d] * A[i,d]\nb[j] = sum[d] B[j,d] * B[j,d]\nC[i,j] = sum[d] A[i,d] * B[j,d]\noutput Y[i,j] = a[i] - 2 * C[i,j] + b[j]",
        "scaled before": "b[j] = sum[d] B[j,d]^2\nP[i,d] = -2 * A[i,d]\noutput Y[i,j] = (sum[d] P[i,d] * B[j,d]) + b[j] + sum[d] A[i,d]^2",
        "differences": "output Y[i,j] = sum[d] (A[i,d] - B[j,d])^2",
    }),
    Family("flattened, then a layer", "input X[n:64,c:16,y:14,x:14], W[p:3136,o:10], b[o:10] : f32\n", {
        "flat": "F[n,(c y x)] = X[n,c,y,x]\noutput Y[n,o] = b[o] + sum[p] F[n,p] * W[p,o]",
        "by number": "output Y[n,o] = b[o] + sum[c,y,x] X[n,c,y,x] * W[196*c+14*y+x,o]",
        "by groups": "output Y[n,o] = b[o] + sum[c,y,x] X[n,c,y,x] * W[(c y x),o]",
        "weights transposed": "T[o,p] = W[p,o]\nF[n,(c y x)] = X[n,c,y,x]\noutput Y[n,o] = b[o] + sum[p] T[o,p] * F[n,p]",
    }),
    Family("a halved label, gated", "input X[b:128,g:1024] : f32\n", {
        "slices": "output Y[b,f:512] = X[b,f+0] * sigmoid(X[b,f+512])",
        "parts": "R[b,p:2,f:512] = X[b,512*p+f]\noutput Y[b,f] = R[b,0,f] * sigmoid(R[b,1,f])",
        "halves named": "A[b,f:512] = X[b,f+0]\nG[b,f:512] = sigmoid(X[b,f+512])\noutput Y[b,f] = A[b,f] * G[b,f]",
        "by if": "G[b,g] = if g < 512 then X[b,g] else sigmoid(X[b,g])\noutput Y[b,f:512] = G[b,f+0] * G[b,f+512]",
    }),
    Family("group norm", "dim N = 8, C = 64, S = 256\ninput X[n:N,c:C,s:S] : f32\n", {
        "groups": "m[n,g:8] = mean[d,s] X[n,(g d),s]\nv[n,g:8] = mean[d,s] (X[n,(g d),s] - m[n,g])^2\noutput Y[n,(g d:8),s] = (X[n,(g d),s] - m[n,g]) * rsqrt(v[n,g] + 0.00001)",
        "reshaped": "G[n,g:8,d:8,s] = X[n,8*g+d,s]\nm[n,g] = mean[d,s] G[n,g,d,s]\nv[n,g] = mean[d,s] (G[n,g,d,s] - m[n,g])^2\nZ[n,g,d,s] = (G[n,g,d,s] - m[n,g]) / sqrt(v[n,g] + 0.00001)\noutput Y[n,c:C,s] = Z[n,c//8,c%8,s]",
        "reshaped, by the inverse": "G[n,g:8,d:8,s] = X[n,8*g+d,s]\nm[n,g] = mean[d,s] G[n,g,d,s]\nv[n,g] = mean[d,s] (G[n,g,d,s] - m[n,g])^2\nZ[n,g,d,s] = (G[n,g,d,s] - m[n,g]) * rsqrt(v[n,g] + 0.00001)\noutput Y[n,c:C,s] = Z[n,c//8,c%8,s]",
        "groups, divided": "m[n,g:8] = mean[d,s] X[n,(g d),s]\nv[n,g:8] = mean[d,s] (X[n,(g d),s] - m[n,g])^2\noutput Y[n,(g d:8),s] = (X[n,(g d),s] - m[n,g]) / sqrt(v[n,g] + 0.00001)",
        "quotients": "m[n,g:8] = mean[d:8,s] X[n,8*g+d,s]\nv[n,g:8] = mean[d:8,s] (X[n,8*g+d,s] - m[n,g])^2\noutput Y[n,c,s] = (X[n,c,s] - m[n,c//8]) * rsqrt(v[n,c//8] + 0.00001)",
        "one row a group": "F[n,g:8,(d s)] = X[n,(g d),s]\nm[n,g] = mean[p] F[n,g,p]\nv[n,g] = mean[p] (F[n,g,p] - m[n,g])^2\noutput Y[n,(g d:8),s] = (X[n,(g d),s] - m[n,g]) * rsqrt(v[n,g] + 0.00001)",
    }),
    Family("rotary embedding", "dim H = 8, S = 256, D = 64\ninput X[h:H,s:S,d:D] : f32\n", {
        "halves": "output Y[h,s,d] = X[h,s,d] * cos(f32(s) * 10000 ^ (-f32(d % 32) / 32)) + (if d < 32 then -X[h,s,(d+32) % 64] else X[h,s,(d+32) % 64]) * sin(f32(s) * 10000 ^ (-f32(d % 32) / 32))",
        "tables": "A[s:S,k:32] = f32(s) * 10000 ^ (-f32(k) / 32)\nC[s,k] = cos(A[s,k])\nN[s,k] = sin(A[s,k])\noutput Y[h,s,(p:2 k)] = if p == 0 then X[h,s,k+0] * C[s,k] - X[h,s,k+32] * N[s,k] else X[h,s,k+32] * C[s,k] + X[h,s,k+0] * N[s,k]",
        "a def": "use attention\noutput Y[h,s,d] = rope_half[d](X[h,s,d], s, 10000)",
        "complex": "R[h,s,k:32] = X[h,s,k+0]\nI[h,s,k:32] = X[h,s,k+32]\nA[s:S,k:32] = f32(s) * exp(-9.210340371976184 * f32(k) / 32)\noutput Y[h,s,d:D] = if d < 32 then R[h,s,d % 32] * cos(A[s,d % 32]) - I[h,s,d % 32] * sin(A[s,d % 32]) else I[h,s,d % 32] * cos(A[s,d % 32]) + R[h,s,d % 32] * sin(A[s,d % 32])",
    }),
    Family("causal convolution", "dim N = 8, T = 1024, C = 32\ninput X[n:N,t:T,c:C], F[k:4,c:C] : f32\n", {
        "?? 0": "output Y[n,t:T,c] = sum[k] X[n,t-k,c] ?? 0 * F[k,c]",
        "where": "output Y[n,t:T,c] = sum[k where k <= t] X[n,t-k,c] * F[k,c]",
        "padded first": "P[n,t:T+3,c] = X[n,t-3,c] ?? 0\noutput Y[n,t:T,c] = sum[k] P[n,t+3-k,c] * F[k,c]",
        "tap by tap": "output Y[n,t:T,c] = X[n,t,c] * F[0,c] + X[n,t-1,c] ?? 0 * F[1,c] + X[n,t-2,c] ?? 0 * F[2,c] + X[n,t-3,c] ?? 0 * F[3,c]",
    }),
    Family("dilated convolution", "dim N = 4, C = 16, O = 16, W = 256\ninput X[n:N,c:C,x:W], F[o:O,c:C,r:3] : f32\n", {
        "?? 0": "output Y[n,o,x:W] = sum[c,r] X[n,c,x+4*r-4] ?? 0 * F[o,c,r]",
        "where": "output Y[n,o,x:W] = sum[c,r where 0 <= x+4*r-4 and x+4*r-4 < W] X[n,c,x+4*r-4] * F[o,c,r]",
        "padded first": "P[n,c,x:W+8] = X[n,c,x-4] ?? 0\noutput Y[n,o,x:W] = sum[c,r] P[n,c,x+4*r] * F[o,c,r]",
        "phases": "P[n,c,x:W+8] = X[n,c,x-4] ?? 0\nQ[n,c,a:66,b:4] = P[n,c,(a b)]\noutput Y[n,o,(a:64 b)] = sum[c,r] Q[n,c,a+r,b] * F[o,c,r]",
    }),
    Family("strided convolution", "dim N = 8, C = 16, O = 16, W = 256\ninput X[n:N,c:C,x:W], F[o:O,c:C,r:4] : f32\n", {
        "index": "output Y[n,o,x:64] = sum[c,r] X[n,c,4*x+r] * F[o,c,r]",
        "groups": "output Y[n,o,x] = sum[c,r] X[n,c,(x r)] * F[o,c,r]",
        "patches": "P[n,x:64,(c r:4)] = X[n,c,4*x+r]\nG[o,(c r)] = F[o,c,r]\noutput Y[n,o,x] = sum[p] P[n,x,p] * G[o,p]",
        "patches named": "P[n,x:64,c,r:4] = X[n,c,4*x+r]\noutput Y[n,o,x] = sum[c,r] P[n,x,c,r] * F[o,c,r]",
        "where": "output Y[n,o,x:64] = sum[c,r,z where z == 4*x+r] X[n,c,z] * F[o,c,r]",
    }),
    Family("divergence of distributions", "dim N = 1024, M = 256\ninput P[i:N,j:M], Q[i:N,j:M] : f32\n", {
        "quotient": "output Y[i] = sum[j] (P[i,j] + 1) * log((P[i,j] + 1) / (Q[i,j] + 1))",
        "difference": "output Y[i] = sum[j] (P[i,j] + 1) * (log(P[i,j] + 1) - log(Q[i,j] + 1))",
        "entropies": "output Y[i] = (sum[j] (P[i,j] + 1) * log(P[i,j] + 1)) - sum[j] (P[i,j] + 1) * log(Q[i,j] + 1)",
        "kl": "use loss\np[i,j] = P[i,j] + 1\nq[i,j] = Q[i,j] + 1\noutput Y[i] = kl[j](p[i,j], q[i,j])",
    }, another={"difference": TWO_LOGARITHMS, "entropies": TWO_LOGARITHMS}),
    Family("gram matrix", "dim N = 512, M = 192\ninput X[n:N,i:M] : f32\n", {
        "both halves": "output Y[i,j:M] = sum[n] X[n,i] * X[n,j]",
        "transposed": "T[i,n] = X[n,i]\noutput Y[i,j:M] = sum[n] T[i,n] * T[j,n]",
        "mirrored": "U[i,j:M] = sum[n where i <= j] X[n,i] * X[n,j]\noutput Y[i,j:M] = if i <= j then U[i,j] else U[j,i]",
        "gram": "use linalg\noutput Y[i,j:M] = gram[n,i,j](X[n,i])",
    }),
    Family("triangle of a product", "dim N = 512, M = 256\ninput X[n:N,i:M], Z[n:N,j:M] : f32\n", {
        "where": "output Y[i,j] = sum[n where i <= j] X[n,i] * Z[n,j]",
        "if": "output Y[i,j] = if i <= j then sum[n] X[n,i] * Z[n,j] else 0",
        "if inside": "output Y[i,j] = sum[n] if i <= j then X[n,i] * Z[n,j] else 0",
        "all of it first": "P[i,j] = sum[n] X[n,i] * Z[n,j]\noutput Y[i,j] = if i <= j then P[i,j] else 0",
        "transposed": "T[j,i] = sum[n where j >= i] Z[n,j] * X[n,i]\noutput Y[i,j] = T[j,i]",
    }),
    Family("power series of several results", "input X[i:4096], C[k:8,o:64] : f32\n", {
        "sum": "output Y[i,o] = sum[k] C[k,o] * X[i] ^ k",
        "factors swapped": "output Y[i,o] = sum[k] X[i] ^ k * C[k,o]",
        "squares": "output Y[i,o] = (sum[k:4] C[2*k,o] * (X[i] * X[i]) ^ k) + X[i] * sum[k:4] C[2*k+1,o] * (X[i] * X[i]) ^ k",
    }, below={"X": 2}),
    # A power is rounded once, and a product of products several times.
    Family("polynomial", "input X[i:1000000] : f32\n", {
        "powers": "output Y[i] = 1 + 0.5 * X[i] + 0.25 * X[i]^2 + 0.125 * X[i]^3 + 0.0625 * X[i]^4",
        "horner": "output Y[i] = 1 + X[i] * (0.5 + X[i] * (0.25 + X[i] * (0.125 + X[i] * 0.0625)))",
        "sum": "output Y[i] = sum[k:5] 0.5 ^ k * X[i] ^ k",
        "coefficients": "c[k:5] : f32 = 0.5 ^ k\noutput Y[i] = sum[k] c[k] * X[i] ^ k",
    }, another={"horner": HORNER}),
    Family("second differences", "dim N = 1000\ninput X[i:N,j:N] : f32\n", {
        "one step": "output Y[i,j:N-2] = X[i,j+2] - 2 * X[i,j+1] + X[i,j+0]",
        "two steps": "D[i,j:N-1] = X[i,j+1] - X[i,j+0]\noutput Y[i,j:N-2] = D[i,j+1] - D[i,j+0]",
        "sum": "output Y[i,j:N-2] = sum[k:3] (if k == 1 then -2 else 1) * X[i,j+k]",
    }),
    Family("moments of rows", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "moments": "use stats\nm[i], v[i] = moments[j](X[i,j])\noutput Y[i] = v[i] + m[i]",
        "by hand": "m[i] = mean[j] X[i,j]\nv[i] = mean[j] (X[i,j] - m[i])^2\noutput Y[i] = v[i] + m[i]",
        "powers": "output Y[i] = (mean[j] X[i,j]) + (mean[j] X[i,j]^2) - (mean[j] X[i,j])^2",
    }),
    Family("distances by absolute values", "input A[i:256,d:64], B[j:256,d:64] : f32\n", {
        "abs": "output Y[i,j] = sum[d] abs(A[i,d] - B[j,d])",
        "greater minus less": "output Y[i,j] = sum[d] (max(A[i,d], B[j,d]) - min(A[i,d], B[j,d]))",
        "if": "output Y[i,j] = sum[d] if A[i,d] > B[j,d] then A[i,d] - B[j,d] else B[j,d] - A[i,d]",
        "a difference named": "D[i,j,d] = A[i,d] - B[j,d]\noutput Y[i,j] = sum[d] abs(D[i,j,d])",
        "max of two": "output Y[i,j] = sum[d] max(A[i,d] - B[j,d], B[j,d] - A[i,d])",
        "l1": "use distance\noutput Y[i,j] = l1[d](A[i,d], B[j,d])",
    }),
    Family("log softmax", "dim N = 2048, M = 1024\ninput X[i:N,j:M] : f32\n", {
        "logsoftmax": "output Y[i,j] = logsoftmax[j](X[i,j])",
        "logsumexp": "output Y[i,j] = X[i,j] - logsumexp[k] X[i,k]",
        "by hand": "m[i] = max[j] X[i,j]\ns[i] = sum[j] exp(X[i,j] - m[i])\noutput Y[i,j] = X[i,j] - m[i] - log(s[i])",
        "centred": "m[i] = max[j] X[i,j]\nc[i,j] = X[i,j] - m[i]\noutput Y[i,j] = c[i,j] - log(sum[k] exp(c[i,k]))",
        "transposed": "T[j,i] = X[i,j]\nL[j,i] = T[j,i] - logsumexp[j'] T[j',i]\noutput Y[i,j] = L[j,i]",
    }),
    Family("softmax of squares", "dim N = 512\ninput X[n:N,y:32,x:32] : f32\n", {
        "two labels": "output Y[n,y,x] = softmax[y,x](X[n,y,x])",
        "flat": "F[n,(y x)] = X[n,y,x]\nS[n,p] = softmax[p](F[n,p])\noutput Y[n,y:32,x:32] = S[n,(y x)]",
        "max of maxima": "r[n,y] = max[x] X[n,y,x]\nm[n] = max[y] r[n,y]\ne[n,y,x] = exp(X[n,y,x] - m[n])\nz[n] = sum[y] sum[x] e[n,y,x]\noutput Y[n,y,x] = e[n,y,x] / z[n]",
        "labels swapped": "m[n] = max[x,y] X[n,y,x]\ne[n,y,x] = exp(X[n,y,x] - m[n])\noutput Y[n,y,x] = e[n,y,x] / sum[x',y'] e[n,y',x']",
    }),
    Family("batch norm", "dim N = 32, C = 32, H = 32\ninput X[n:N,c:C,y:H,x:H], g[c:C], b[c:C] : f32\n", {
        "three labels": "m[c] = mean[n,y,x] X[n,c,y,x]\nv[c] = mean[n,y,x] (X[n,c,y,x] - m[c])^2\noutput Y[n,c,y,x] = (X[n,c,y,x] - m[c]) * rsqrt(v[c] + 0.00001) * g[c] + b[c]",
        "variance": "m[c] = mean[n,y,x] X[n,c,y,x]\nv[c] = variance[n,y,x](X[n,c,y,x])\noutput Y[n,c,y,x] = g[c] * (X[n,c,y,x] - m[c]) * rsqrt(v[c] + 0.00001) + b[c]",
        "scale and shift": "m[c] = mean[n,y,x] X[n,c,y,x]\nv[c] = mean[n,y,x] (X[n,c,y,x] - m[c])^2\ns[c] = g[c] * rsqrt(v[c] + 0.00001)\nt[c] = b[c] - m[c] * s[c]\noutput Y[n,c,y,x] = X[n,c,y,x] * s[c] + t[c]",
        "flat": "F[n,c,(y x)] = X[n,c,y,x]\nm[c] = mean[n,p] F[n,c,p]\nv[c] = mean[n,p] (F[n,c,p] - m[c])^2\noutput Y[n,c,y,x:H] = (X[n,c,y,x] - m[c]) * rsqrt(v[c] + 0.00001) * g[c] + b[c]",
        "channels first": "T[c,n,y,x] = X[n,c,y,x]\nm[c] = mean[n,y,x] T[c,n,y,x]\nv[c] = mean[n,y,x] (T[c,n,y,x] - m[c])^2\nZ[c,n,y,x] = (T[c,n,y,x] - m[c]) * rsqrt(v[c] + 0.00001) * g[c] + b[c]\noutput Y[n,c,y,x] = Z[c,n,y,x]",
        "means of means": "m[c] = mean[n] mean[y] mean[x] X[n,c,y,x]\nd[n,c,y,x] = X[n,c,y,x] - m[c]\nv[c] = mean[n] mean[y,x] d[n,c,y,x] * d[n,c,y,x]\noutput Y[n,c,y,x] = d[n,c,y,x] * rsqrt(v[c] + 0.00001) * g[c] + b[c]",
    }),
    Family("batch norm of channels last", "dim N = 32768, C = 32\ninput X[n:N,c:C] : f32\n", {
        "mean and variance": "m[c] = mean[n] X[n,c]\nv[c] = mean[n] (X[n,c] - m[c])^2\noutput Y[n,c] = (X[n,c] - m[c]) * rsqrt(v[c] + 0.00001)",
        "variance": "output Y[n,c] = (X[n,c] - mean[n'] X[n',c]) * rsqrt(variance[n'](X[n',c]) + 0.00001)",
        "scale and shift": "m[c] = mean[n] X[n,c]\nv[c] = variance[n](X[n,c])\ns[c] = rsqrt(v[c] + 0.00001)\nt[c] = -m[c] * s[c]\noutput Y[n,c] = X[n,c] * s[c] + t[c]",
        "transposed": "T[c,n] = X[n,c]\nm[c] = mean[n] T[c,n]\nv[c] = mean[n] (T[c,n] - m[c])^2\noutput Y[n,c] = (T[c,n] - m[c]) * rsqrt(v[c] + 0.00001)",
        "in groups of rows": "G[a:256,b:128,c] = X[128*a+b,c]\nm[c] = mean[a,b] G[a,b,c]\nv[c] = mean[a,b] (G[a,b,c] - m[c])^2\noutput Y[(a b),c] = (G[a,b,c] - m[c]) * rsqrt(v[c] + 0.00001)",
    }),
    Family("outer sums", "input U[i:1024], V[j:1024], W[i:1024,j:1024] : f32\n", {
        "sum": "output Y[i,j] = U[i] + V[j] + W[i,j]",
        "other order": "output Y[i,j] = W[i,j] + V[j] + U[i]",
        "named": "O[i,j] = U[i] + V[j]\noutput Y[i,j] = O[i,j] + W[i,j]",
        "a product with ones": "A[i,p:2] = if p == 0 then U[i] else 1\nB[p:2,j] = if p == 0 then 1 else V[j]\noutput Y[i,j] = W[i,j] + sum[p] A[i,p] * B[p,j]",
        "transposed": "O[j,i] = V[j] + U[i]\noutput Y[i,j] = W[i,j] + O[j,i]",
    }),
    Family("banded matrix times a vector", "dim N = 2048\ninput A[i:N,j:N], x[j:N] : f32\n", {
        "where": "output Y[i] = sum[j where abs(i - j) <= 16] A[i,j] * x[j]",
        "if": "output Y[i] = sum[j] if abs(i - j) <= 16 then A[i,j] * x[j] else 0",
        "two sides": "output Y[i] = sum[j where i <= j + 16 and j <= i + 16] x[j] * A[i,j]",
        "offsets": "output Y[i:N] = sum[k:33] (A[i,i+k-16] * x[i+k-16]) ?? 0",
        "a predicate negated": "output Y[j:N] = sum[i where not (abs(i - j) > 16)] A[j,i] * x[i]",
    }),
    Family("banded product", "dim N = 512\ninput A[i:N,k:N], B[k:N,j:N] : f32\n", {
        "where": "output Y[i,j] = sum[k where abs(i - k) <= 32] A[i,k] * B[k,j]",
        "if": "output Y[i,j] = sum[k] if abs(i - k) <= 32 then A[i,k] * B[k,j] else 0",
        "band of A, by if": "S[i,k] = if abs(i - k) <= 32 then A[i,k] else 0\noutput Y[i,j] = sum[k] S[i,k] * B[k,j]",
        "offsets": "output Y[i:N,j] = sum[d:65] (A[i,i+d-32] * B[i+d-32,j]) ?? 0",
        "two sums": "output Y[i,j] = (sum[k where k <= i and i - k <= 32] A[i,k] * B[k,j]) + sum[k where k > i and k - i <= 32] A[i,k] * B[k,j]",
    }),
    Family("product with a triangle", "dim N = 384\ninput A[i:N,k:N], B[k:N,j:N] : f32\n", {
        "where": "output Y[i,j] = sum[k where k <= i] A[i,k] * B[k,j]",
        "if": "output Y[i,j] = sum[k] if k <= i then A[i,k] * B[k,j] else 0",
        "transposed": "T[j,i] = sum[k where i >= k] B[k,j] * A[i,k]\noutput Y[i,j] = T[j,i]",
        "prefix": "output Y[i,j] = sum[d:N] (A[i,i-d] * B[i-d,j]) ?? 0",
        "triangle named": "L[i,k] = if k <= i then A[i,k] else 0\noutput Y[i,j] = sum[k] L[i,k] * B[k,j]",
    }),
    Family("moving average", "dim N = 1024, M = 1024\ninput X[i:N,t:M] : f32\n", {
        "window": "output Y[i,t:M-15] = mean[k:16] X[i,t+k]",
        "sum": "output Y[i,t:M-15] = (sum[k:16] X[i,t+k]) / 16",
        "where": "output Y[i,t:M-15] = 0.0625 * sum[s where t <= s and s < t + 16] X[i,s]",
        "weights": "w[k:16] : f32 = 0.0625\noutput Y[i,t:M-15] = sum[k] w[k] * X[i,t+k]",
        "in two": "A[i,t:M-3] = sum[k:4] X[i,t+k]\noutput Y[i,t:M-15] = (sum[k:4] A[i,t+4*k]) / 16",
        "windows named": "P[i,t:M-15,k:16] = X[i,t+k]\noutput Y[i,t] = mean[k] P[i,t,k]",
    }),
    Family("moving average of columns", "dim N = 1024, M = 512\ninput X[t:N,i:M] : f32\n", {
        "window": "output Y[t:N-15,i] = mean[k:16] X[t+k,i]",
        "sum": "output Y[t:N-15,i] = (sum[k:16] X[t+k,i]) / 16",
        "where": "output Y[t:N-15,i] = 0.0625 * sum[s where t <= s and s < t + 16] X[s,i]",
        "weights": "w[k:16] : f32 = 0.0625\noutput Y[t:N-15,i] = sum[k] w[k] * X[t+k,i]",
        "windows named": "P[t:N-15,k:16,i] = X[t+k,i]\noutput Y[t,i] = mean[k] P[t,k,i]",
    }),
    Family("Kronecker product", "input A[a:32,c:32], B[b:32,d:32] : f32\n", {
        "groups": "output Y[(a b),(c d)] = A[a,c] * B[b,d]",
        "quotients": "output Y[i:1024,j:1024] = A[i//32,j//32] * B[i%32,j%32]",
        "four labels": "K[a,b,c,d] = A[a,c] * B[b,d]\noutput Y[(a b),(c d)] = K[a,b,c,d]",
        "permuted": "K[a,c,b,d] = A[a,c] * B[b,d]\noutput Y[(a b),(c d)] = K[a,c,b,d]",
        "rows, then columns": "R[(a b),c,d] = A[a,c] * B[b,d]\noutput Y[i,(c d)] = R[i,c,d]",
        "where": "output Y[i:1024,j:1024] = sum[a,c where a == i//32 and c == j//32] A[a,c] * B[i%32,j%32]",
    }),
    Family("masked mean", "dim N = 1024, M = 1024\ninput X[i:N,j:M] : f32\ninput k[i:N,j:M] : i64\n", {
        "mean where": "output Y[i] = (mean[j where k[i,j] > 3] X[i,j]) ?? 0",
        "sum over count": "output Y[i] = (sum[j where k[i,j] > 3] X[i,j]) / f32(count[j where k[i,j] > 3])",
        "sum of if": "output Y[i] = (sum[j] if k[i,j] > 3 then X[i,j] else 0) / f32(sum[j] (if k[i,j] > 3 then 1 else 0))",
        "bools named": "m[i,j] = k[i,j] > 3\noutput Y[i] = (sum[j where m[i,j]] X[i,j]) / f32(count[j where m[i,j]])",
        "weights": "w[i,j] : f32 = if k[i,j] > 3 then 1 else 0\noutput Y[i] = (sum[j] w[i,j] * X[i,j]) / sum[j] w[i,j]",
    }),
    Family("any and all", "dim N = 1024, M = 1024\ninput X[i:N,j:M] : f32\n", {
        "any": "output Y[i] = any[j] (X[i,j] > 14)",
        "count": "output Y[i] = (count[j where X[i,j] > 14]) > 0",
        "max": "output Y[i] = (max[j] X[i,j]) > 14",
        "not all": "output Y[i] = not all[j] (X[i,j] <= 14)",
        "bools named": "b[i,j] = X[i,j] > 14\noutput Y[i] = any[j] b[i,j]",
    }),
    Family("maximum over two labels", "input X[a:64,b:256,c:64] : f32\n", {
        "two labels": "output Y[b] = max[a,c] X[a,b,c]",
        "labels swapped": "output Y[b] = max[c,a] X[a,b,c]",
        "rows first": "r[a,b] = max[c] X[a,b,c]\noutput Y[b] = max[a] r[a,b]",
        "columns first": "r[b,c] = max[a] X[a,b,c]\noutput Y[b] = max[c] r[b,c]",
        "flat": "F[b,(a c)] = X[a,b,c]\noutput Y[b] = max[p] F[b,p]",
    }),
    Family("running sums of columns", "dim N = 1024, M = 512\ninput X[t:N,i:M] : f32\n", {
        "where": "output Y[s:N,i] = sum[t where t <= s] X[t,i]",
        "if": "output Y[s:N,i] = sum[t] if t <= s then X[t,i] else 0",
        "transposed": "T[i,t] = X[t,i]\nR[i,s:N] = sum[t where t <= s] T[i,t]\noutput Y[s,i] = R[i,s]",
        "a triangle": "L[s:N,t:N] : f32 = if t <= s then 1 else 0\noutput Y[s,i] = sum[t] L[s,t] * X[t,i]",
        "distance": "output Y[s:N,i] = sum[k:N] X[s-k,i] ?? 0",
    }),
    Family("running sums without the last", "dim N = 512, M = 1024\ninput X[i:N,t:M] : f32\n", {
        "where": "output Y[i,s:M] = sum[t where t < s] X[i,t]",
        "if": "output Y[i,s:M] = sum[t] if t < s then X[i,t] else 0",
        "shifted": "R[i,s:M] = sum[t where t <= s] X[i,t]\noutput Y[i,s:M] = R[i,s-1] ?? 0",
        "shifted before": "Z[i,t:M] = X[i,t-1] ?? 0\noutput Y[i,s:M] = sum[t where t <= s] Z[i,t]",
        "a triangle": "L[s:M,t:M] : f32 = if t < s then 1 else 0\noutput Y[i,s] = sum[t] L[s,t] * X[i,t]",
    }),
    Family("running maximum of columns", "dim N = 1024, M = 512\ninput X[t:N,i:M] : f32\n", {
        "where": "output Y[s:N,i] = max[t where t <= s] X[t,i]",
        "if": "output Y[s:N,i] = max[t] if t <= s then X[t,i] else -inf",
        "transposed": "T[i,t] = X[t,i]\nR[i,s:N] = max[t where t <= s] T[i,t]\noutput Y[s,i] = R[i,s]",
        "distance": "output Y[s:N,i] = max[k:N] X[s-k,i] ?? -inf",
    }),
    Family("index of the maximum of columns", "dim N = 1024, M = 768\ninput X[i:N,j:M] : f32\n", {
        "argmax": "output Y[j] = argmax[i] X[i,j]",
        "transposed": "T[j,i] = X[i,j]\noutput Y[j] = argmax[i] T[j,i]",
        "min of equals": "m[j] = max[i] X[i,j]\noutput Y[j] = min[i where X[i,j] == m[j]] i",
        "negated": "output Y[j] = argmin[i] -X[i,j]",
    }),
    Family("nearest of several", "input A[i:512,d:64], B[j:256,d:64] : f32\n", {
        "argmin": "output Y[i] = argmin[j] (sum[d] (A[i,d] - B[j,d])^2)",
        "named": "D[i,j] = sum[d] (A[i,d] - B[j,d])^2\noutput Y[i] = argmin[j] D[i,j]",
        "negated": "D[i,j] = -sum[d] (A[i,d] - B[j,d])^2\noutput Y[i] = argmax[j] D[i,j]",
        "transposed": "D[j,i] = sum[d] (A[i,d] - B[j,d])^2\noutput Y[i] = argmin[j] D[j,i]",
    }),
    Family("rows permuted by data", "dim N = 2048, M = 512\ninput X[i:N,j:M] : f32\ninput p[i:N] : i64\n", {
        "index": "output Y[i,j] = X[p[i],j]",
        "where": "output Y[i,j] = sum[k where k == p[i]] X[k,j]",
        "if": "output Y[i,j] = sum[k:N] if k == p[i] then X[k,j] else 0",
        "max": "output Y[i,j] = max[k where p[i] == k] X[k,j]",
        "transposed": "T[j,i] = X[i,j]\nG[j,i] = T[j,p[i]]\noutput Y[i,j] = G[j,i]",
    }, below={"p": 2048}),
    Family("symmetrised", "dim N = 1536\ninput X[i:N,j:N] : f32\n", {
        "sum": "output Y[i,j] = (X[i,j] + X[j,i]) / 2",
        "named": "T[i,j] = X[j,i]\noutput Y[i,j] = 0.5 * (T[i,j] + X[i,j])",
        "halves": "H[i,j] = 0.5 * X[i,j]\noutput Y[i,j] = H[i,j] + H[j,i]",
        "by if": "output Y[i,j] = if i <= j then 0.5 * (X[i,j] + X[j,i]) else 0.5 * (X[j,i] + X[i,j])",
        "mean": "output Y[i,j] = mean[p:2] if p == 0 then X[i,j] else X[j,i]",
    }),
    Family("depthwise convolution", "dim H = 64\ninput X[n:8,c:32,y:H,x:H], F[c:32,r:3,q:3] : f32\n", {
        "?? 0": "output Y[n,c,y:H,x:H] = sum[r,q] X[n,c,y+r-1,x+q-1] ?? 0 * F[c,r,q]",
        "where": "output Y[n,c,y:H,x:H] = sum[r,q where 0 <= y+r-1 and y+r-1 < H and 0 <= x+q-1 and x+q-1 < H] X[n,c,y+r-1,x+q-1] * F[c,r,q]",
        "padded first": "P[n,c,y:H+2,x:H+2] = X[n,c,y-1,x-1] ?? 0\noutput Y[n,c,y:H,x:H] = sum[r,q] P[n,c,y+r,x+q] * F[c,r,q]",
        "by rows": "output Y[n,c,y:H,x:H] = (sum[q] X[n,c,y-1,x+q-1] ?? 0 * F[c,0,q]) + (sum[q] X[n,c,y+0,x+q-1] ?? 0 * F[c,1,q]) + (sum[q] X[n,c,y+1,x+q-1] ?? 0 * F[c,2,q])",
        "where the input is": "output Y[n,c,y:H,x:H] = sum[u:H,v:H where abs(u - y) <= 1 and abs(v - x) <= 1] X[n,c,u,v] * F[c,u-y+1,v-x+1]",
    }),
    Family("pool of nine with a border", "dim H = 64\ninput X[n:8,c:32,y:H,x:H] : f32\n", {
        "?? -inf": "output Y[n,c,y:H,x:H] = max[r:3,q:3] X[n,c,y+r-1,x+q-1] ?? -inf",
        "where": "output Y[n,c,y:H,x:H] = max[r:3,q:3 where 0 <= y+r-1 and y+r-1 < H and 0 <= x+q-1 and x+q-1 < H] X[n,c,y+r-1,x+q-1]",
        "rows, then columns": "R[n,c,y:H,x:H] = max[q:3] X[n,c,y,x+q-1] ?? -inf\noutput Y[n,c,y:H,x:H] = max[r:3] R[n,c,y+r-1,x] ?? -inf",
        "columns, then rows": "R[n,c,y:H,x:H] = max[r:3] X[n,c,y+r-1,x] ?? -inf\noutput Y[n,c,y:H,x:H] = max[q:3] R[n,c,y,x+q-1] ?? -inf",
        "padded first": "P[n,c,y:H+2,x:H+2] = X[n,c,y-1,x-1] ?? -inf\noutput Y[n,c,y:H,x:H] = max[r:3,q:3] P[n,c,y+r,x+q]",
        "where the input is": "output Y[n,c,y:H,x:H] = max[u:H,v:H where abs(u - y) <= 1 and abs(v - x) <= 1] X[n,c,u,v]",
    }),
    Family("complex numbers multiplied", "dim N = 1024\ninput A[i:N,j:512,p:2], B[i:N,j:512,p:2] : f32\n", {
        "if": "output Y[i,j,p:2] = if p == 0 then A[i,j,0] * B[i,j,0] - A[i,j,1] * B[i,j,1] else A[i,j,0] * B[i,j,1] + A[i,j,1] * B[i,j,0]",
        "parts named": "R[i,j] = A[i,j,0] * B[i,j,0] - A[i,j,1] * B[i,j,1]\nI[i,j] = A[i,j,0] * B[i,j,1] + A[i,j,1] * B[i,j,0]\noutput Y[i,j,p:2] = if p == 0 then R[i,j] else I[i,j]",
        "a sum": "output Y[i,j,p:2] = sum[q:2,r:2 where (q + r) % 2 == p] (if q + r == 2 then -1 else 1) * A[i,j,q] * B[i,j,r]",
        "signs": "output Y[i,j,p:2] = A[i,j,0] * B[i,j,p] + (if p == 0 then -1 else 1) * A[i,j,1] * B[i,j,1-p]",
    }),
    Family("softmax of lengths", "dim N = 1024, M = 1024\ninput X[i:N,j:M] : f32\ninput k[i:N] : i64\n", {
        "where": "output Y[i,j] = softmax[j where j <= k[i]](X[i,j]) ?? 0",
        "if": "Z[i,j] = if j <= k[i] then X[i,j] else -inf\noutput Y[i,j] = softmax[j](Z[i,j])",
        "added": "output Y[i,j] = softmax[j](X[i,j] + (if j <= k[i] then 0 else -inf))",
        "by hand": "m[i] = max[j where j <= k[i]] X[i,j]\ne[i,j] = if j <= k[i] then exp(X[i,j] - m[i]) else 0\noutput Y[i,j] = e[i,j] / sum[k'] e[i,k']",
    }, below={"k": 1024}),
    Family("tokens by expert", "dim T = 512, C = 128, F = 192, E = 8\ninput x[t:T,c:C], W[e:E,c:C,f:F] : f32\ninput g[t:T] : i64\n", {
        "chosen": "output Y[t,f] = sum[c] x[t,c] * W[g[t],c,f]",
        "where": "output Y[t,f] = sum[e,c where g[t] == e] W[e,c,f] * x[t,c]",
        "if": "output Y[t,f] = sum[e,c] if e == g[t] then x[t,c] * W[e,c,f] else 0",
        "expert by expert": "Z[e,t,f] = sum[c] x[t,c] * W[e,c,f]\noutput Y[t,f] = Z[g[t],t,f]",
        "chosen first": "V[t,c,f] = W[g[t],c,f]\noutput Y[t,f] = sum[c] x[t,c] * V[t,c,f]",
    }, below={"g": 8}),
    Family("convolution, bias and relu", "dim N = 2, C = 32, S = 32\ninput X[n:N,c:C,y:S,x:S], F[o:C,c:C,r:3,q:3], b[o:C] : f32\n", {
        "in one": "output Y[n,o,y:S,x:S] = relu(b[o] + sum[c,r,q] X[n,c,y+r-1,x+q-1] ?? 0 * F[o,c,r,q])",
        "bias behind": "output Y[n,o,y:S,x:S] = relu((sum[c,r,q] X[n,c,y+r-1,x+q-1] ?? 0 * F[o,c,r,q]) + b[o])",
        "where": "output Y[n,o,y:S,x:S] = relu(b[o] + sum[c,r,q where 0 <= y+r-1 and y+r-1 < S and 0 <= x+q-1 and x+q-1 < S] X[n,c,y+r-1,x+q-1] * F[o,c,r,q])",
        "named": "Z[n,o,y:S,x:S] = sum[c,r,q] X[n,c,y+r-1,x+q-1] ?? 0 * F[o,c,r,q]\noutput Y[n,o,y,x] = relu(Z[n,o,y,x] + b[o])",
        "named, channels last": "Z[n,y:S,x:S,o] = sum[c,r,q] X[n,c,y+r-1,x+q-1] ?? 0 * F[o,c,r,q]\noutput Y[n,o,y,x] = relu(Z[n,y,x,o] + b[o])",
        "max": "output Y[n,o,y:S,x:S] = max(0, b[o] + sum[r,q,c] F[o,c,r,q] * X[n,c,y+r-1,x+q-1] ?? 0)",
    }),
    Family("update by rows", "dim V = 20000, D = 128, B = 1024\ninput W[v:V,d:D], G[b:B,d:D] : f32\ninput k[b:B] : i64\n", {
        "within": "output Y[v,d] = W[v,d] - 0.5 * sum[b where k[b] == v] G[b,d]",
        "named": "S[v:V,d] = sum[b where k[b] == v] G[b,d]\noutput Y[v,d] = W[v,d] - 0.5 * S[v,d]",
        "named, transposed": "S[d,v:V] = sum[b where k[b] == v] G[b,d]\noutput Y[v,d] = W[v,d] - 0.5 * S[d,v]",
        "scaled before": "output Y[v,d] = W[v,d] - sum[b where v == k[b]] 0.5 * G[b,d]",
        "if": "output Y[v,d] = W[v,d] - 0.5 * sum[b] (if k[b] == v then G[b,d] else 0)",
        "gradient": "loss = sum[b,d] W[k[b],d] * G[b,d]\noutput Y[v,d] = W[v,d] - 0.5 * grad(loss, W[v,d])",
    }, {"k": 20000}),
    Family("products of groups", "dim N = 300, Z = 4000, C = 48, F = 64\ninput A[z:Z,f:F], B[z:Z,c:C,f:F] : f32\ninput k[z:Z] : i64\n", {
        "where": "output S[n:N,c] = sum[z,f where k[z] == n] A[z,f] * B[z,c,f]",
        "if": "output S[n:N,c] = sum[f,z] if n == k[z] then A[z,f] * B[z,c,f] else 0",
        "point by point": "T[z,c] = sum[f] A[z,f] * B[z,c,f]\noutput S[n:N,c] = sum[z where k[z] == n] T[z,c]",
        "by terms": "T[n:N,c,f] = sum[z where k[z] == n] A[z,f] * B[z,c,f]\noutput S[n,c] = sum[f] T[n,c,f]",
    }, below={"k": 300}),
    Family("weighted by softmax", "dim N = 512, T = 256, D = 32\ninput S[n:N,t:T], V[n:N,t:T,d:D] : f32\n", {
        "softmax": "output Y[n,d] = sum[t] softmax[t](S[n,t]) * V[n,t,d]",
        "named": "W[n,t] = softmax[t](S[n,t])\noutput Y[n,d] = sum[t] V[n,t,d] * W[n,t]",
        "divided last": "m[n] = max[t] S[n,t]\ne[n,t] = exp(S[n,t] - m[n])\noutput Y[n,d] = (sum[t] e[n,t] * V[n,t,d]) / sum[t] e[n,t]",
        "logsumexp": "output Y[n,d] = sum[t] exp(S[n,t] - logsumexp[u] S[n,u]) * V[n,t,d]",
    }),
    Family("rolled", "dim N = 1536\ninput X[i:N,j:N] : f32\n", {
        "remainder": "output Y[i,j:N] = X[i,(j+100) % N]",
        "if": "output Y[i,j:N] = if j < N - 100 then X[i,j+100] else X[i,j+100-N]",
        "??": "output Y[i,j:N] = X[i,j+100] ?? X[i,j+100-N]",
        "where": "output Y[i,j:N] = sum[k where k == (j + 100) % N] X[i,k]",
    }),
    Family("total variation", "dim N = 1024\ninput X[i:N,j:N] : f32\n", {
        "two sums": "output Y = (sum[i:N-1,j] abs(X[i+1,j] - X[i+0,j])) + sum[k,l:N-1] abs(X[k,l+1] - X[k,l+0])",
        "one sum": "output Y = sum[i:N,j:N] ((abs(X[i+1,j] - X[i,j]) ?? 0) + (abs(X[i,j+1] - X[i,j]) ?? 0))",
        "named": "D[i:N-1,j:N] = X[i+1,j] - X[i+0,j]\nE[i:N,j:N-1] = X[i,j+1] - X[i,j+0]\noutput Y = (sum[i,j] abs(D[i,j])) + sum[k,l] abs(E[k,l])",
        "where": "output Y = (sum[i,j where i + 1 < N] abs(X[i+1,j] - X[i,j])) + sum[k,l where l + 1 < N] abs(X[k,l+1] - X[k,l])",
    }),
    Family("three factors of one label", "input A[i:64,r:32], B[j:96,r:32], C[k:128,r:32] : f32\n", {
        "sum": "output Y[i,j,k] = sum[r] A[i,r] * B[j,r] * C[k,r]",
        "factors in another order": "output Y[i,j,k] = sum[r] C[k,r] * A[i,r] * B[j,r]",
        "two first": "P[i,j,r] = A[i,r] * B[j,r]\noutput Y[i,j,k] = sum[r] P[i,j,r] * C[k,r]",
        "other two first": "P[j,k,r] = B[j,r] * C[k,r]\noutput Y[i,j,k] = sum[r] A[i,r] * P[j,k,r]",
        "transposed first": "T[r,k] = C[k,r]\nU[r,i] = A[i,r]\noutput Y[i,j,k] = sum[r] U[r,i] * B[j,r] * T[r,k]",
        "a diagonal matrix": "D[i,r,q:32] = if r == q then A[i,r] else 0\nP[i,r,k] = sum[q] D[i,r,q] * C[k,q]\noutput Y[i,j,k] = sum[r] B[j,r] * P[i,r,k]",
    }, another={"a diagonal matrix": ZERO_TIMES}),
    Family("block diagonal product", "input W[g:16,a:48,b:48], X[k:768,n:256] : f32\n", {
        "groups": "output Y[(g a),n] = sum[b] W[g,a,b] * X[(g b),n]",
        "index": "Z[g,a,n] = sum[b] W[g,a,b] * X[48*g+b,n]\noutput Y[(g a),n] = Z[g,a,n]",
        "reshaped": "G[g:16,b:48,n] = X[48*g+b,n]\nZ[g,a,n] = sum[b] W[g,a,b] * G[g,b,n]\noutput Y[(g a),n] = Z[g,a,n]",
        "quotients": "output Y[i:768,n] = sum[b] W[i//48,i%48,b] * X[48*(i//48)+b,n]",
    }),
    Family("gelu", "dim N = 1024\ninput X[i:N,j:N] : f32\n", {
        "gelu": "output Y[i,j] = gelu(X[i,j] / 4)",
        "by hand": "output Y[i,j] = 0.5 * (X[i,j] / 4) * (1 + erf(X[i,j] / 4 / sqrt(2)))",
        "erfc": "Z[i,j] = X[i,j] / 4\noutput Y[i,j] = Z[i,j] * 0.5 * erfc(-Z[i,j] * 0.70710678118654752)",
        "named": "Z[i,j] = X[i,j] * 0.25\ne[i,j] = erf(Z[i,j] * 0.70710678118654752)\noutput Y[i,j] = 0.5 * Z[i,j] * (1 + e[i,j])",
    }, another={"erfc": SMALL_TAIL}),
    Family("transposed result of a batch", "input A[b:32,i:64,k:96], B[b:32,k:96,j:80] : f32\n", {
        "i before b": "output Y[i,b,j] = sum[k] A[b,i,k] * B[b,k,j]",
        "after": "C[b,i,j] = sum[k] A[b,i,k] * B[b,k,j]\noutput Y[i,b,j] = C[b,i,j]",
        "before": "T[i,b,k] = A[b,i,k]\noutput Y[i,b,j] = sum[k] T[i,b,k] * B[b,k,j]",
        "the other before": "U[k,b,j] = B[b,k,j]\noutput Y[i,b,j] = sum[k] U[k,b,j] * A[b,i,k]",
    }),
    Family("last label first", "input A[b:32,i:64,k:96], B[b:32,k:96,j:80] : f32\n", {
        "at once": "output Y[j,i,b] = sum[k] A[b,i,k] * B[b,k,j]",
        "after": "C[b,i,j] = sum[k] A[b,i,k] * B[b,k,j]\noutput Y[j,i,b] = C[b,i,j]",
        "in two": "C[b,j,i] = sum[k] B[b,k,j] * A[b,i,k]\nD[b,i,j] = C[b,j,i]\noutput Y[j,i,b] = D[b,i,j]",
        "before": "T[k,b,i] = A[b,i,k]\nU[k,b,j] = B[b,k,j]\noutput Y[j,i,b] = sum[k] T[k,b,i] * U[k,b,j]",
    }),
    Family("sum of products of three", "dim N = 2048, M = 512\ninput A[i:N,j:M], B[i:N,j:M], w[j:M] : f32\n", {
        "one sum": "output Y[i] = sum[j] A[i,j] * w[j] * B[i,j]",
        "scaled": "S[i,j] = A[i,j] * w[j]\noutput Y[i] = sum[j] S[i,j] * B[i,j]",
        "a diagonal": "W[j,k:M] = if j == k then w[j] else 0\nS[i,k] = sum[j] A[i,j] * W[j,k]\noutput Y[i] = sum[k] S[i,k] * B[i,k]",
        "products": "P[i,j] = A[i,j] * B[i,j]\noutput Y[i] = sum[j] P[i,j] * w[j]",
    }, another={"a diagonal": ZERO_TIMES}),
]
