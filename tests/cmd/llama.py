#!/usr/bin/env python3
"""Compares the LLaMA samples with a reference in plain Python: a layer over a prompt, and greedy generation. llama.py
EIN SAMPLES TARGET..., in an empty folder.

The reference follows the papers' formulas, head by head and position by position, in f64, without labels, groups or a
cache. This script writes the weights to files. It tests several sizes: one query per key and value, several, and all
queries on one; heads with other lengths than the model's; one token."""
import math
import os
import random
import struct
import subprocess
import sys

EIN, SAMPLES, TARGETS = sys.argv[1], sys.argv[2], sys.argv[3:]
BOUND = 2e-5   # of the largest number: f32 against f64
MARGIN = 1e-3  # by which the best token wins, at least: else rounding decides
EPS, BASE = 1e-5, 10000.0
failed = []
most_apart = []


def wrong(what):
    failed.append(what)
    print("llama.py:", what)


# ---- files ------------------------------------------------------------------------------------------------------

def size_of(shape):
    return math.prod(shape)


def write(name, shape, values, kind="f4"):
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(name + ".npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{'f' if kind == 'f4' else 'q'}", *values))


def read(name):
    with open(name, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    kind = "q" if b"<i8" in data[:start] else "f"
    return struct.unpack(f"<{(len(data) - start) // struct.calcsize(kind)}{kind}", data[start:])


def rounded(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Weights:
    """Named tensors, flat, as files have them."""

    def __init__(self, seed):
        self.chance, self.of, self.shape = random.Random(seed), {}, {}

    def draw(self, name, shape, scale, shift=0.0):
        flat = [rounded(shift + scale * math.sqrt(12) * (self.chance.random() - 0.5)) for _ in range(size_of(shape))]
        self.of[name], self.shape[name] = flat, shape
        write(name, shape, flat)

    def at(self, name, *index):
        """What is left behind the leading indices, flat."""
        flat, shape = self.of[name], self.shape[name]
        for i in index:
            rest = size_of(shape[1:])
            flat, shape = flat[i * rest:(i + 1) * rest], shape[1:]
        return flat


# ---- the reference ------------------------------------------------------------------------------------------------

def rms_norm(x, gain):
    scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + EPS)
    return [v * scale * g for v, g in zip(x, gain)]


def times(x, w, columns):
    """The row x times a matrix, flat, of so many columns."""
    return [sum(x[i] * w[i * columns + j] for i in range(len(x))) for j in range(columns)]


def rotate(x, position):
    """Rotary positions as LLaMA's checkpoints have them: element i goes with element i + D/2."""
    half = len(x) // 2
    out = list(x)
    for i in range(half):
        angle = position * BASE ** (-2 * i / len(x))
        out[i] = x[i] * math.cos(angle) - x[i + half] * math.sin(angle)
        out[i + half] = x[i + half] * math.cos(angle) + x[i] * math.sin(angle)
    return out


def silu(x):
    return x / (1 + math.exp(-x))


def layer(X, w, z):
    """One layer over the rows X; w gives its weights by name, z sizes."""
    A, G, R, D, F = z["A"], z["G"], z["R"], z["D"], z["F"]
    heads = G * R
    N = [rms_norm(x, w("gain1")) for x in X]
    Q = [times(n, w("WQ"), heads * D) for n in N]
    K = [times(n, w("WK"), G * D) for n in N]
    V = [times(n, w("WV"), G * D) for n in N]
    Y = []
    for s, x in enumerate(X):
        joined = []
        for h in range(heads):
            g = h // R  # so many queries in a row share a key
            q = rotate(Q[s][h * D:(h + 1) * D], s)
            scores = []
            for t in range(s + 1):
                k = rotate(K[t][g * D:(g + 1) * D], t)
                scores.append(sum(a * b for a, b in zip(q, k)) / math.sqrt(D))
            most = max(scores)
            e = [math.exp(v - most) for v in scores]
            joined += [sum(e[t] * V[t][g * D + d] for t in range(s + 1)) / sum(e) for d in range(D)]
        Y.append([a + b for a, b in zip(x, times(joined, w("WO"), A))])
    Z = []
    for y in Y:
        m = rms_norm(y, w("gain2"))
        gate, up = times(m, w("W1"), F), times(m, w("W3"), F)
        Z.append([a + b for a, b in zip(y, times([silu(p) * q for p, q in zip(gate, up)], w("W2"), A))])
    return Z


# ---- against it ------------------------------------------------------------------------------------------------------

def run(sample, sizes, target, words):
    dims = [w for k, v in sizes.items() for w in ("-D", f"{k}={v}")]
    done = subprocess.run([EIN, "run", os.path.join(SAMPLES, sample), f"--target={target}", *dims, *words], capture_output=True, text=True)
    if done.returncode:
        wrong(f"{sample} {sizes}: {done.stderr[:1000]}")
    return done.returncode == 0


def layers(sizes, target, seed):
    B, S, A, G, R, D, F = (sizes[k] for k in "BSAGRDF")
    w = Weights(seed)
    w.draw("X", (B, S, A), 1)
    for name, shape in (("WQ", (A, G, R, D)), ("WK", (A, G, D)), ("WV", (A, G, D)), ("WO", (G, R, D, A)), ("W1", (A, F)), ("W3", (A, F)), ("W2", (F, A))):
        w.draw(name, shape, 1 / math.sqrt(A))
    w.draw("gain1", (A,), 0.2, 1.0)
    w.draw("gain2", (A,), 0.2, 1.0)
    if not run("papers/llama_layer.ein", sizes, target, [f"{n}={n}.npy" for n in w.of] + ["-o", "Z=Z.npy"]):
        return
    got = read("Z.npy")
    want = []
    for b in range(B):
        X = [w.at("X", b, s) for s in range(S)]
        want += [v for row in layer(X, lambda n: w.of[n], sizes) for v in row]
    most = max(abs(v) for v in want)
    apart = max(abs(a - b) for a, b in zip(got, want)) / most
    most_apart.append(apart)
    if len(got) != len(want) or not apart <= BOUND:
        wrong(f"a layer of {sizes}, {target}: {apart:.2g} of the largest number apart")


def greedy(w, z, prompt):
    """The text, each token by the whole model over all before it; and by how much the closest choice was won."""
    text, margin = list(prompt), math.inf
    ones = [1.0] * z["A"]
    while len(text) < z["T"]:
        X = [w.at("E", t) for t in text]
        for k in range(z["L"]):
            X = layer(X, lambda n, k=k: ones if n.startswith("gain") else w.at(n, k), z)
        score = [sum(a * b for a, b in zip(w.at("E", v), X[-1])) for v in range(z["V"])]
        order = sorted(range(z["V"]), key=lambda v: -score[v])
        margin = min(margin, (score[order[0]] - score[order[1]]) / max(abs(v) for v in score))
        text.append(order[0])
    return text, margin


def generates(sizes, target, seed):
    L, P, V, A, G, R, D, F = (sizes[k] for k in "LPVAGRDF")
    w = Weights(seed)
    w.draw("E", (V, A), 1)
    for name, shape in (("WQ", (A, G, R, D)), ("WK", (A, G, D)), ("WV", (A, G, D)), ("WO", (G, R, D, A)), ("W1", (A, F)), ("W3", (A, F)), ("W2", (F, A))):
        w.draw(name, (L,) + shape, 1.2 / math.sqrt(A))
    prompt = [(5 * p + seed) % V for p in range(P)]
    write("prompt", (P,), prompt, "i8")
    if not run("papers/llama_generation.ein", sizes, target, [f"{n}={n}.npy" for n in w.of] + ["prompt=prompt.npy", "-o", "text=text.npy"]):
        return
    want, margin = greedy(w, sizes, prompt)
    if margin < MARGIN:
        wrong(f"generation of {sizes} hangs on {margin:.2g} of a score: another seed, please")
    if list(read("text.npy")) != want:
        wrong(f"generation of {sizes}, {target}: {list(read('text.npy'))} and not {want}")


LAYERS = [dict(B=2, S=5, A=16, G=2, R=2, D=4, F=24), dict(B=1, S=9, A=12, G=3, R=1, D=6, F=10), dict(B=1, S=4, A=8, G=1, R=4, D=2, F=17),
          dict(B=3, S=1, A=6, G=2, R=3, D=8, F=5)]
TEXTS = [dict(L=2, T=10, P=4, V=20, A=16, G=2, R=2, D=4, F=24), dict(L=3, T=7, P=1, V=11, A=8, G=1, R=3, D=6, F=12),
         dict(L=1, T=6, P=6, V=7, A=10, G=3, R=1, D=2, F=9)]

if __name__ == "__main__":
    for target in TARGETS:
        for n, sizes in enumerate(LAYERS):
            layers(sizes, target, 11 + n)
        for n, sizes in enumerate(TEXTS):
            generates(sizes, target, 31 + n)
    print(f"the layer's numbers differ by at most {max(most_apart, default=math.inf):.1e} of the largest")
    sys.exit(1 if failed else 0)
