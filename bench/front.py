#!/usr/bin/env python3
"""Times the front end and the evaluator, for docs/performance.md.

    bench/front.py build/ein [--runs 7] [--eval-only | --front-only]

Generates programs in a temporary folder, runs `ein check` and `ein build --stop=graph` on each, and prints the medians
of wall-clock time and CPU time, the largest peak of memory, and the targets. Then it runs `ein run` on three programs
at two sizes each; the time per point is the difference of the median CPU times over the difference of the points.
The exit code is 1 if a target is missed.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def mixed(n):
    """n equations: contractions, defs, predicates, shifted reads, conditions; each reads the previous one."""
    lines = [
        "dim N = 8, M = 6",
        "input X[i:N, j:M] : f32 = 0.1 * normal[i,j](1)",
        "input W[j:M, k:N] : f32 = 0.1 * normal[j,k](2)",
        "def act(x) = x / (1 + exp(-x))",
        "def norm[j](x) { m = mean[j] x;  v = mean[j] (x - m)^2;  (x - m) * rsqrt(v + 1e-5) }",
        "A0[i,j] = X[i,j]",
    ]
    bodies = [
        "sum[k:N, t:M] A{0}[i,t] * W[t,k] * W[j,k]",
        "act(A{0}[i,j]) + X[i,j]",
        "norm[j](A{0}[i,j])",
        "sum[t where t <= i] A{0}[t,j]",
        "A{0}[i-1,j] ?? 0 + A{0}[i,j]",
        "if j < M - 1 then A{0}[i,j+1] else max(A{0}[i,j], 0)",
        "softmax[j where j <= i](A{0}[i,j]) ?? 0",
        "0.5 * A{0}[i,j] + A{1}[i,j]",
    ]
    for k in range(n):
        lines.append(f"A{k + 1}[i:N, j:M] = " + bodies[k % len(bodies)].format(k, k // 2))
    lines.append(f"output Y[i,j] = A{n}[i,j]")
    return "\n".join(lines) + "\n"


def expanded(n):
    """One def with a body of six equations, expanded n times."""
    lines = [
        "input X[i:8, j:6] : f32 = 0.1 * normal[i,j](1)",
        "input G[j:6] : f32 = 1",
        "def block[j](x, g) {",
        "  m = mean[j] x",
        "  c = x - m",
        "  v = mean[j] c^2",
        "  n = c * rsqrt(v + 1e-5) * g",
        "  p = softmax[j](n)",
        "  x + p * (sum[j] n * p)",
        "}",
        "A0[i,j] = X[i,j]",
    ]
    lines += [f"A{k + 1}[i,j] = block[j](A{k}[i,j], G[j])" for k in range(n)]
    lines.append(f"output Y[i,j] = A{n}[i,j]")
    return "\n".join(lines) + "\n"


EVALUATED = [
    # name, program, sizes, points(size)
    ("matmul", "dim N\nA[i:N, k:N] : f32 = i - k\nB[k:N, j:N] : f32 = k + j\n"
     "output C[i,j] = sum[k] A[i,k] * B[k,j]\n", (64, 256), lambda n: n ** 3),
    ("softmax", "dim N\nX[i:N, j:N] : f32 = 0.001 * i * j\noutput Y[i,j] = softmax[j](X[i,j])\n",
     (128, 1024), lambda n: n ** 2),
    ("conv2d 3x3", "dim N\nX[x:N, y:N] : f32 = x - y\nF[r:3, s:3] : f32 = r - s\n"
     "output Y[x:N, y:N] = sum[r,s] X[x+r-1, y+s-1] ?? 0 * F[r,s]\n", (64, 512), lambda n: 9 * n ** 2),
]


def run(words):
    """Returns wall-clock seconds, CPU seconds, and the peak of memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {child.returncode}\n{said.decode(errors='replace')}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def median(words, runs):
    clock, cpu, memory = zip(*(run(words) for _ in range(runs)))
    return statistics.median(clock), statistics.median(cpu), max(memory)


def front(ein, folder, runs):
    programs = [
        # name, text, targets: seconds, megabytes
        ("10,000 equations", mixed(10_000), 0.5, 200),
        ("100,000 equations", mixed(100_000), 5.0, 2000),
        ("a def expanded 1,000 times", expanded(1000), 0.5, 200),
    ]
    missed = False
    print("| program | command | clock | processor | peak memory | target |\n|---|---|---|---|---|---|")
    for name, text, seconds, megabytes in programs:
        path = os.path.join(folder, "p.ein")
        with open(path, "w") as f:
            f.write(text)
        for words in (["check"], ["build", "--stop=graph", "-o", os.devnull]):
            t, cpu, m = median([ein] + words + [path], runs)
            late = t > seconds or m > megabytes
            missed |= late
            shown = " ".join(w for w in words if w not in ("-o", os.devnull))
            print(f"| {name} | `ein {shown}` | {t:.2f} s | {cpu:.2f} s | {m:.0f} MB | {seconds:g} s, {megabytes} MB"
                  f"{' **missed**' if late else ''} |", flush=True)
    return missed


def evaluated(ein, folder, runs):
    print("\n| program | sizes N | medians | a point |\n|---|---|---|---|")
    for name, text, sizes, points in EVALUATED:
        path = os.path.join(folder, "e.ein")
        with open(path, "w") as f:
            f.write(text)
        t = [median([ein, "run", path, "-D", f"N={n}", "-o", os.devnull], runs)[1] for n in sizes]
        ns = (t[1] - t[0]) / (points(sizes[1]) - points(sizes[0])) * 1e9
        print(f"| {name} | {sizes[0]}, {sizes[1]} | {t[0]:.3f} s, {t[1]:.3f} s | {ns:.1f} ns |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times the front end and the evaluator.")
    parser.add_argument("ein")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--front-only", action="store_true")
    parser.add_argument("--eval-only", action="store_true")
    a = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        if not a.eval_only:
            missed = front(a.ein, folder, a.runs)
        if not a.front_only:
            evaluated(a.ein, folder, a.runs)
    return 1 if missed else 0


sys.exit(main())
