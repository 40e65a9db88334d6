#!/usr/bin/env python3
"""Runs the index statements of taco and Tensor Comprehensions through ein.

    statements.py --ein build/ein [--only NAME] [--keep DIR] taco_notation.csv tensor_comprehensions.csv

taco's statements are parsed here. If a sum is implied, Ein must refuse the statement, and accept it with explicit
sums; this script also computes the answers, by the definition. The rows of Tensor Comprehensions are names of
computations, some beyond einsum; COMPUTATIONS has a program for each. Inputs hold the integer fill, so answers without
division or real functions must be exact, and others within 1e-12. An unknown row is a failure.
"""
import functools
import itertools
import math
import os
import re
import sys
import types

from common import Wrong, arguments, brackets, files_run, fill, npy_read, program_write

SIZE = {"i": 3, "j": 4, "k": 2}


class Tensor:
    """Called with indices."""

    def __init__(self, t, shape):
        self.shape, self.values = shape, fill(t, shape)

    def __call__(self, *index):
        at = 0
        for n, i in zip(self.shape, index):
            if not 0 <= i < n:
                raise IndexError("%d of %d" % (i, n))
            at = at * n + i
        return self.values[at]


def close(got, want):
    return got == want or abs(got - want) <= 1e-12 * max(1, abs(want))


def run_and_compare(ein, folder, text, inputs, name, shape, want, file="x.ein"):
    text += "# expect: shape(%s) = [%s]\n" % (name, ", ".join(map(str, shape)))
    program_write(folder, text, file)
    sources = ["%s=fill:t=%d" % (n, t) for t, n in enumerate(inputs)]
    ein.good(["run", file, *sources, "-o", "%s=Z.npy" % name], folder)
    _, got_shape, got = npy_read(os.path.join(folder, "Z.npy"))
    if list(got_shape) != list(shape):
        raise Wrong("shape %s, not %s" % (list(got_shape), list(shape)))
    for m, (a, b) in enumerate(zip(got, want)):
        if not close(a, b):
            raise Wrong("element %d of %s is %r, not %r, in\n%s" % (m, name, a, b, text))
    ein.good(["run", "--expect", "--roundtrip", file, *sources], folder)


# ---- taco's statements ---------------------------------------------------------------------------------------------
# expression: ("read", name, labels) | (operator, left, right) | ("sum", label, expression)

class Statement:
    def __init__(self, text):
        self.word = re.findall(r"\w+|[^\w\s]", text)
        self.tensors = {}
        self.name, self.out = self.word.pop(0), self.labels()
        self.take("=")
        self.body = self.sum()
        if self.word:
            raise ValueError("what is %s?" % self.word[0])

    def take(self, what):
        found = bool(self.word) and self.word[0] == what
        if found:
            self.word.pop(0)
        return found

    def labels(self):
        out = []
        if self.take("("):
            while not self.take(")"):
                out.append(self.word.pop(0))
                self.take(",")
        return out

    def chain(self, operators, part):
        e = part()
        while self.word and self.word[0] in operators:
            e = (self.word.pop(0), e, part())
        return e

    def sum(self):
        return self.chain("+-", self.product)

    def product(self):
        return self.chain("*/", self.factor)

    def factor(self):
        if self.take("("):
            e = self.sum()
            self.take(")")
            return e
        name = self.word.pop(0)
        if name == "sum":
            self.take("(")
            label = self.word.pop(0)
            self.take(",")
            e = self.sum()
            self.take(")")
            return "sum", label, e
        labels = self.labels()
        self.tensors.setdefault(name, labels)
        return "read", name, labels


def free(e):
    if e[0] == "read":
        return set(e[2])
    return free(e[2]) - {e[1]} if e[0] == "sum" else free(e[1]) | free(e[2])


def einsum_of(e, out):
    """The sums that taco's einsum notation implies: around each term, over what is not on the left."""
    if e[0] in ("+", "-"):
        return e[0], einsum_of(e[1], out), einsum_of(e[2], out)
    for label in sorted(free(e) - set(out), reverse=True):
        e = "sum", label, e
    return e


def value(e, tensor, at):
    if e[0] == "read":
        return tensor[e[1]](*(at[c] for c in e[2]))
    if e[0] == "sum":
        return sum(value(e[2], tensor, {**at, e[1]: n}) for n in range(SIZE[e[1]]))
    a, b = value(e[1], tensor, at), value(e[2], tensor, at)
    return {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else 0}[e[0]]


def text_of(e):
    if e[0] == "read":
        return e[1] + brackets(e[2])
    if e[0] == "sum":
        return "(sum[%s] %s)" % (e[1], text_of(e[2]))
    return "(%s %s %s)" % (text_of(e[1]), e[0], text_of(e[2]))


def called(e):
    """The same by the call form, which sums what is left: sum(sum over i and j of x) is sum(x)."""
    while e[0] == "sum" and e[2][0] == "sum":
        e = e[2]
    if e[0] == "sum":
        return "sum(%s)" % text_of(e[2])
    return text_of(e) if e[0] == "read" else "(%s %s %s)" % (called(e[1]), e[0], called(e[2]))


# What taco refuses: the program, and what ein check must say; or why there is no such mistake.
REFUSED = {
    "a(i)=b(i), a has 3, b has 5": ("input b[5] : f64\noutput a[i:3] = b[i]\n", r"error\[E060\]: label i "),
    "a(i)=B(i,j)*c(j), B 5x4, c 3": ("input B[5,4] : f64\ninput c[3] : f64\noutput a[i] = sum[j] B[i,j] * c[j]\n",
                                     r"error\[E060\]: label j "),
    "compile with no expression": ("output a\n", r"error\[E070\]: a "),
    'two tensors named "a" in one statement': ("input a[3] : f64\ninput a[4] : f64\noutput b[i] = a[i] + a[i]\n",
                                               r"error\[E050\]: a "),
    "assemble/compute before compile": (None, "a program is compiled and run as one"),
}


def taco_row(ein, row, folder, done):
    statement = row["statement"]
    if statement in REFUSED:
        text, why = REFUSED[statement]
        if text:
            program_write(folder, text)
            ein.refused(["check", "x.ein"], folder, 1, why)
        done["refused" if text else "not expressible: " + why] += 1
        return
    s = Statement(statement)
    shapes = {n: [SIZE[c] for c in labels] for n, labels in s.tensors.items()}
    tensor = {n: Tensor(t, shape) for t, (n, shape) in enumerate(shapes.items())}
    head = "".join("input %s%s : f64\n" % (n, brackets(map(str, shape))) for n, shape in shapes.items())
    left = "output %s%s = " % (s.name, brackets(s.out))
    e = einsum_of(s.body, s.out)
    shape = [SIZE[c] for c in s.out]
    want = [value(e, tensor, dict(zip(s.out, at))) for at in itertools.product(*map(range, shape))]
    run_and_compare(ein, folder, head + left + text_of(e) + "\n", shapes, s.name, shape, want)
    done["right"] += 1
    if e == s.body:
        return
    program_write(folder, head + left + text_of(s.body) + "\n", "bare.ein")
    ein.refused(["check", "bare.ein"], folder, 1, r"error\[E078\]: labels? %s\b" % min(free(s.body) - set(s.out)))
    run_and_compare(ein, folder, head + left + called(e) + "\n", shapes, s.name, shape, want, "called.ein")
    done["implied sums refused, and right when written"] += 1


# ---- Tensor Comprehensions -----------------------------------------------------------------------------------------

COMPUTATIONS = {}


def computation(name, shapes, shape, program):
    """Decorates the definition: element at(t, *index) of the program's output O, t holding the tensors by name."""
    def add(at):
        COMPUTATIONS[name] = shapes, shape, program, at
        return at
    return add


def softmax_of(x):
    e = [math.exp(v - max(x)) for v in x]
    return [v / sum(e) for v in e]


def normal_of(x, eps):
    mu = sum(x) / len(x)
    return mu, sum((v - mu) ** 2 for v in x) / len(x) + eps


@computation("matmul", {"A": [3, 4], "B": [4, 2]}, [3, 2], "output O[i,j] = sum[k] A[i,k] * B[k,j]")
def _(t, i, j):
    return sum(t.A(i, k) * t.B(k, j) for k in range(4))


@computation("batch_matmul", {"X": [2, 3, 4], "Y": [2, 4, 5]}, [2, 3, 5],
             "output O[b,n,k] = sum[m] X[b,n,m] * Y[b,m,k]")
def _(t, b, n, k):
    return sum(t.X(b, n, m) * t.Y(b, m, k) for m in range(4))


@computation("tmm", {"I": [3, 4], "W": [5, 4]}, [3, 5], "output O[b,y] = sum[x] I[b,x] * W[y,x]")
def _(t, b, y):
    return sum(t.I(b, x) * t.W(y, x) for x in range(4))


@computation("tensordot", {"P": [2, 3, 4, 2, 3], "Q": [2, 4, 5, 2, 3]}, [2, 3, 5, 2, 3],
             "output O[n,c1,c3,h,w] = sum[c2] P[n,c1,c2,h,w] * Q[n,c2,c3,h,w]")
def _(t, n, a, c, h, w):
    return sum(t.P(n, a, b, h, w) * t.Q(n, b, c, h, w) for b in range(4))


@computation("kronecker3", {"X": [2, 2, 3, 2], "U": [2, 2], "V": [2, 3], "W": [3, 2]}, [2, 2, 2, 3],
             "R[m,a,b,f] = sum[c] X[m,a,b,c] * W[f,c]\nS[m,a,e,f] = sum[b] R[m,a,b,f] * V[e,b]\n"
             "output O[m,d,e,f] = sum[a] S[m,a,e,f] * U[d,a]")
def _(t, m, d, e, f):
    return sum(t.X(m, a, b, c) * t.U(d, a) * t.V(e, b) * t.W(f, c) for a in range(2) for b in range(3)
               for c in range(2))


@computation("fcrelu", {"I": [3, 4], "W": [5, 4], "B": [5]}, [3, 5],
             "T[b,n] = sum[m] I[b,m] * W[n,m]\noutput O[b,n] = relu(T[b,n] + B[n])")
def _(t, b, n):
    return max(0, sum(t.I(b, m) * t.W(n, m) for m in range(4)) + t.B(n))


@computation("conv2d", {"I": [2, 3, 7, 9], "W": [4, 3, 3, 2]}, [2, 4, 3, 4],
             "dim SH = 2, SW = 2\noutput O[n,m,h:3,w:4] = sum[c,kh,kw] I[n, c, SH*h + kh, SW*w + kw] * W[m,c,kh,kw]")
def _(t, n, m, h, w):
    return sum(t.I(n, c, 2 * h + a, 2 * w + b) * t.W(m, c, a, b) for c in range(3) for a in range(3) for b in range(2))


@computation("group_conv", {"I": [2, 2, 3, 5, 4], "W": [2, 2, 3, 2, 2]}, [2, 2, 2, 4, 3],
             "output O[n,g,f,h:4,w:3] = sum[c,kh,kw] I[n, g, c, h + kh, w + kw] * W[g,f,c,kh,kw]")
def _(t, n, g, f, h, w):
    return sum(t.I(n, g, c, h + a, w + b) * t.W(g, f, c, a, b) for c in range(3) for a in range(2) for b in range(2))


@computation("lut", {"L": [5, 3], "I": [2, 4]}, [2, 3],
             "K[i,k] = i64(I[i,k] + 5) % 5\noutput O[i,j] = sum[k] L[K[i,k], j]")
def _(t, i, j):
    return sum(t.L((t.I(i, k) + 5) % 5, j) for k in range(4))


@computation("2lut", {"L": [5, 3], "M": [4, 2], "I": [2, 4], "J": [2, 3]}, [2, 3, 2],
             "A[i,k] = i64(I[i,k] + 5) % 5\nP[i,j] = sum[k] L[A[i,k], j]\nQ[i,j] = sum[k] M[i64(J[i,k] + 5) % 4, j]\n"
             "output O[i,j,l] = P[i,j] * Q[i,l]")
def _(t, i, j, l):
    return sum(t.L((t.I(i, k) + 5) % 5, j) for k in range(4)) * sum(t.M((t.J(i, k) + 5) % 4, l) for k in range(3))


@computation("moments", {"I": [3, 7]}, [3, 2],
             "M[n] = mean[k] I[n,k]\nV[n] = (mean[k] I[n,k]^2) - M[n]^2\n"
             "output O[n,s:2] = if s == 0 then M[n] else V[n]")
def _(t, n, s):
    x = [t.I(n, k) for k in range(7)]
    mu, var = normal_of(x, 0)
    return var if s else mu


@computation("softmax", {"I": [3, 5]}, [3, 5], "output O[n,d] = softmax[d](I[n,d])")
def _(t, n, d):
    return softmax_of([t.I(n, k) for k in range(5)])[d]


@computation("layernorm", {"I": [2, 6], "G": [6], "B": [6]}, [2, 6],
             "output O[n,d] = layernorm[d](I[n,d], G[d], B[d], 1e-5)")
def _(t, n, d):
    mu, var = normal_of([t.I(n, k) for k in range(6)], 1e-5)
    return (t.I(n, d) - mu) / math.sqrt(var) * t.G(d) + t.B(d)


@computation("group_norm", {"I": [2, 6, 2, 2], "G": [6], "B": [6]}, [2, 6, 2, 2],
             "S[n,g:3,d,h,w] = I[n, (g d), h, w]\nM[n,g] = mean[d,h,w] S[n,g,d,h,w]\n"
             "V[n,g] = mean[d,h,w] (S[n,g,d,h,w] - M[n,g])^2\n"
             "N[n, (g d), h, w] = (S[n,g,d,h,w] - M[n,g]) * rsqrt(V[n,g] + 1e-5)\n"
             "output O[n,c,h,w] = N[n,c,h,w] * G[c] + B[c]")
def _(t, n, c, h, w):
    g = c // 2
    mu, var = normal_of([t.I(n, 2 * g + d, a, b) for d in range(2) for a in range(2) for b in range(2)], 1e-5)
    return (t.I(n, c, h, w) - mu) / math.sqrt(var) * t.G(c) + t.B(c)


@computation("batchnorm", {"I": [2, 3, 2, 2], "R": [3]}, [2, 3, 2, 2],
             "M[c] = mean[n,h,w] I[n,c,h,w]\nV[c] = mean[n,h,w] (I[n,c,h,w] - M[c])^2\n"
             "output running[c] = 0.9 * R[c] + 0.1 * M[c]\n"
             "output O[n,c,h,w] = (I[n,c,h,w] - M[c]) * rsqrt(V[c] + 1e-5) + running[c]")
def _(t, n, c, h, w):
    mu, var = normal_of([t.I(m, c, a, b) for m in range(2) for a in range(2) for b in range(2)], 1e-5)
    return (t.I(n, c, h, w) - mu) / math.sqrt(var) + 0.9 * t.R(c) + 0.1 * mu


@computation("reduce_codes", {"L": [4, 5], "C": [3, 4]}, [3], "output O[n] = sum[m] L[m, i64(C[n,m] + 5) % 5]")
def _(t, n):
    return sum(t.L(m, (t.C(n, m) + 5) % 5) for m in range(4))


@computation("min_distance", {"S": [9]}, [], "output O = min[n] S[n]")
def _(t):
    return min(t.S.values)


@computation("masked_conv", {"I": [2, 2, 4, 5], "W": [2, 2], "M": [4, 5]}, [2, 2, 3, 4],
             "output O[b,c,h:3,w:4] = sum[kh,kw where M[h + kh, w + kw] > 0] I[b, c, h + kh, w + kw] * W[kh,kw]")
def _(t, b, c, h, w):
    return sum(t.I(b, c, h + a, w + d) * t.W(a, d) for a in range(2) for d in range(2) if t.M(h + a, w + d) > 0)


@computation("transpose", {"A": [3, 4]}, [4, 3], "output O[i,j] = A[j,i]")
def _(t, i, j):
    return t.A(j, i)


@computation("cast/strided", {"I": [4, 6]}, [2, 3], "output O[i:2,j:3] = I[2*i, 2*j] + I[2*i + 1, 5 - 2*j]")
def _(t, i, j):
    return t.I(2 * i, 2 * j) + t.I(2 * i + 1, 5 - 2 * j)


@computation("wavenet1", {"X": [2, 9], "F": [3, 2, 2], "G": [3, 2, 2]}, [3, 9],
             "dim D = 4\ndef causal[x,c,k](u, w) = sum[c,k] u[x = x - D*k] ?? 0 * w\n"
             "P[r,x:9] = causal[x,c,k](X[c,x], F[r,c,k])\nQ[r,x:9] = causal[x,c,k](X[c,x], G[r,c,k])\n"
             "output O[r,x] = tanh(P[r,x]) * sigmoid(Q[r,x])")
def _(t, r, x):
    p, q = (sum(t.X(c, x - 4 * k) * f(r, c, k) for c in range(2) for k in range(2) if x >= 4 * k) for f in (t.F, t.G))
    return math.tanh(p) / (1 + math.exp(-q))


@computation("indexing/perforated", {"I": [2, 2, 7], "X": [4]}, [2, 2, 4],
             "index[i] = i64(X[i] + 5) % 5\noutput O[b,c,i] = sum[k:3] I[b, c, index[i] + k]")
def _(t, b, c, i):
    return sum(t.I(b, c, (t.X(i) + 5) % 5 + k) for k in range(3))


@computation("scalar output", {"I": [7]}, [], "output O = sum(I[i])")
def _(t):
    return sum(t.I.values)


MISTAKES = {
    "shape mismatch": ("dim M = 3, N = 4\ninput A[M,N] : f64\ninput B[M,N] : f64\n"
                       "output O[i,j] = sum[k] A[i,k] * B[k,j]\n",
                       r"error\[E060\]: label k "),
    "undefined variable": ("input A[3] : f64\noutput O[i] = A[i] * C[i]\n", r"error\[E070\]: C "),
    "reduction without operator": ("input A[3,4] : f64\noutput O[i] = A[i,j]\n", r"error\[E078\]: label j "),
}


def computation_row(ein, row, folder, done):
    name = row["name"]
    if name in MISTAKES:
        text, why = MISTAKES[name]
        program_write(folder, text)
        ein.refused(["check", "x.ein"], folder, 1, why)
        done["refused"] += 1
        return
    if name not in COMPUTATIONS:
        raise Wrong("there is no program for it in statements.py")
    shapes, shape, program, at = COMPUTATIONS[name]
    t = types.SimpleNamespace(**{n: Tensor(k, s) for k, (n, s) in enumerate(shapes.items())})
    head = "".join("input %s%s : f64\n" % (n, brackets(map(str, s))) for n, s in shapes.items())
    want = [at(t, *index) for index in itertools.product(*map(range, shape))]
    run_and_compare(ein, folder, head + program + "\n", shapes, "O", shape, want)
    done["right"] += 1


def work_of(ein, rows, only):
    key, do = ("statement", taco_row) if "statement" in rows[0] else ("name", computation_row)
    return [("%d_%s" % (k, re.sub(r"\W", "_", r[key])), functools.partial(do, ein, r))
            for k, r in enumerate(rows, 1) if only in (None, r[key])]


def main():
    o = arguments(__doc__, "NAME").parse_args()
    return files_run(o, functools.partial(work_of, only=o.only))


if __name__ == "__main__":
    sys.exit(main())
