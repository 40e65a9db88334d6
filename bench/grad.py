#!/usr/bin/env python3
"""The cost of gradients relative to the forward computation: forward and backward, or the adjoint alone.

    bench/grad.py build/ein [--only NAME ...] [--rounds 15] [--small]

Each case (CASES) is a program. One library computes its result Y, or its loss; the other computes the gradients with respect to all tensors named, and Y
too if the goal covers both. The upstream gradient is an input DY, as inside a net. Both run alternately, warm, on one thread. CPU time is measured, since
other load disturbs it less than wall-clock time. Reports the median ratio over all rounds; the exit code is 1 if a ratio exceeds its goal. --small uses
tiny sizes, and checks no goals."""
import argparse
import os
import statistics
import sys
import tempfile
import time

from einlib import SAMPLE, duration, ours_make, runs_find, support_make

ATTENTION = "O[h,s,e] = causal[s,t,d](Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(D))"


class Case:
    """text: the program that computes Y, without dims; shape: Y's labels, "" for a loss; by: the tensors to differentiate by; both: includes the forward."""

    def __init__(self, name, goal, sizes, small, text, shape, by, both=True, below=16, dtype="f32"):
        self.name, self.goal, self.sizes, self.small, self.below = name, goal, sizes, small, below
        self.text, self.shape, self.by, self.both, self.dtype = text.strip().replace(": f32", f": {dtype}"), shape, by, both, dtype

    def programs(self, small):
        """Returns the forward program and the gradients' program."""
        sizes = self.small if small else self.sizes
        uses = [line for line in self.text.splitlines() if line.startswith("use ")]
        rest = [line for line in self.text.splitlines() if not line.startswith("use ")]
        head = "\n".join(uses + ["dim " + ", ".join(f"{k} = {v}" for k, v in sizes.items())] + rest) + "\n"
        out = f"output result{self.shape} = Y{self.shape}\n"
        labels = self.shape.strip("[]")
        back = f"input DY[{', '.join(self.declared(label) for label in labels.split(','))}] : {self.dtype}\nloss = sum[{labels}] Y{self.shape} * DY{self.shape}\n" if labels \
            else "loss = Y\n"
        grads = "".join(f"output d{t.split('[')[0]}[{t.split('[')[1]} = grad(loss, {t})\n" for t in self.by)
        return head + out, head + (out if self.both else "") + back + grads

    def declared(self, label):
        """The label with its extent, which is the dim of the same letter."""
        return f"{label}:{label.upper()}"


FFNN = Case("ffnn", 3.0, {"B": 256, "I": 1024, "H": 2048, "O": 256}, {"B": 6, "I": 9, "H": 8, "O": 5}, """
use loss
input X[b:B,i:I] : f32
input C[b:B] : i64
param W1[i:I,h:H], b1[h:H], W2[h:H,o:O], b2[o:O] : f32
A[b,h] = relu(b1[h] + sum[i] X[b,i] * W1[i,h])
Z[b,o] = b2[o] + sum[h] A[b,h] * W2[h,o]
Y = mean[b] cross_entropy[o](Z[b,o], C[b])
""", "", ["W1[i,h]", "b1[h]", "W2[h,o]", "b2[o]"], below=5)

BLOCK = Case("transformer block", 3.3, {"S": 512, "A": 512, "H": 8, "D": 64, "F": 2048}, {"S": 7, "A": 16, "H": 2, "D": 8, "F": 12}, """
use attention
input X[s:S,a:A] : f32
param g1[a:A], c1[a:A], g2[a:A], c2[a:A], WQ[a:A,h:H,d:D], WK[a:A,h:H,d:D], WV[a:A,h:H,d:D], WO[h:H,d:D,a:A], W1[a:A,f:F], W2[f:F,a:A] : f32
N[s,a] = layernorm[a](X[s,a], g1[a], c1[a], 1e-5)
Q[h,s,d] = sum[a] N[s,a] * WQ[a,h,d]
K[h,s,d] = sum[a] N[s,a] * WK[a,h,d]
V[h,s,e] = sum[a] N[s,a] * WV[a,h,e]
""" + ATTENTION + """
R[s,a] = X[s,a] + sum[h,e] O[h,s,e] * WO[h,e,a]
M[s,a] = layernorm[a](R[s,a], g2[a], c2[a], 1e-5)
Y[s,a] = R[s,a] + sum[f] gelu_tanh(sum[a'] M[s,a'] * W1[a',f]) * W2[f,a]
""", "[s,a]", ["X[s,a]", "g1[a]", "c1[a]", "g2[a]", "c2[a]", "WQ[a,h,d]", "WK[a,h,d]", "WV[a,h,d]", "WO[h,d,a]", "W1[a,f]", "W2[f,a]"])

ATTEND, ATTEND_F64 = (Case(name, 4.0, {"S": 1024, "H": 8, "D": 64, "E": 64}, {"S": 9, "H": 2, "D": 8, "E": 8}, """
use attention
input Q[h:H,s:S,d:D], K[h:H,s:S,d:D], V[h:H,s:S,e:E] : f32
""" + ATTENTION.replace("O[", "Y[") + "\n", "[h,s,e]", ["Q[h,s,d]", "K[h,s,d]", "V[h,s,e]"], dtype=dtype)
                      for name, dtype in (("attention", "f32"), ("attention in f64", "f64")))

CONV = Case("convolution, by its input", 1.7, {"N": 4, "I": 56, "J": 56, "C": 64, "O": 64}, {"N": 2, "I": 7, "J": 5, "C": 3, "O": 4}, """
input U[n:N,i:I,j:J,c:C], K[q:3,r:3,c:C,o:O] : f32
Y[n,i:I,j:J,o] = sum[q,r,c] U[n, i+q-1, j+r-1, c] ?? 0 * K[q,r,c,o]
""", "[n,i,j,o]", ["U[n,i,j,c]"], both=False)

EMBED = Case("embedding, by its table", 10.0, {"V": 8192, "A": 512, "N": 4096}, {"V": 11, "A": 5, "N": 9}, """
input E[v:V,a:A] : f32
input C[n:N] : i64
Y[n,a] = E[C[n],a]
""", "[n,a]", ["E[v,a]"], both=False, below=8192)

CASES = [FFNN, BLOCK, ATTEND, ATTEND_F64, CONV, EMBED]


def bound(options, folder, support, name, text, below):
    source = os.path.join(folder, name + ".ein")
    with open(source, "w") as f:
        f.write(text)
    ours = ours_make(os.path.abspath(options.ein), options.cc, source, folder, 1)
    inputs, outputs = list(ours.arguments(0)), list(ours.arguments(1))
    for k, d in enumerate(inputs):
        support.fill(d.at, d.dtype, d.elements, below, k + 1)
    run, views = ours.bind(inputs, outputs)
    ours.check(run())
    return run, (ours, inputs, outputs, views)


def processor_seconds(f, runs):
    start = time.process_time()
    for _ in range(runs):
        f()
    return (time.process_time() - start) / runs


def measured(options, folder, support, case):
    """Returns the medians of the forward's seconds, of the gradients' seconds, and of their ratios."""
    forward, backward = case.programs(options.small)
    below = min(case.below, *(case.small.values())) if options.small else case.below
    f, *keep = bound(options, folder, support, "forward", forward, below)
    b, *kept = bound(options, folder, support, "backward", backward, below)
    runs = [runs_find(x, 2 * SAMPLE) for x in (f, b)]
    rounds = []
    for _ in range(options.rounds):
        rounds.append([processor_seconds(x, n) for x, n in zip((f, b), runs)])
    return [statistics.median(r[k] for r in rounds) for k in (0, 1)] + [statistics.median(r[1] / r[0] for r in rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ein")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    missed = 0
    print("| what | sizes | forward | with gradients, or the adjoint | ratio | goal |\n|---|---|---|---|---|---|")
    for case in CASES:
        if options.only and case.name.split(",")[0] not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            f, b, ratio = measured(options, folder, support_make(options.cc, folder), case)
        sizes = ", ".join(f"{k} {v}" for k, v in (case.small if options.small else case.sizes).items())
        met = ratio <= case.goal
        missed += not met and not options.small
        print(f"| {case.name} | {sizes} | {duration(f)} | {duration(b)} | {ratio:.2f} | {case.goal}{' ✓' if met else ''} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
