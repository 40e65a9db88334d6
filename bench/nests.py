#!/usr/bin/env python3
"""Times compiled programs against plain C loop nests.

    bench/nests.py build/ein [--only NAME ...] [--rounds 7] [--threads 1] [--json FILE] [--keep FOLDER]

`ein build --lib` builds every bench/nests/NAME.ein with its default flags. bench/nests/nests.c has a function of the
same name, compiled by `gcc -Ofast -march=native`. Both run on the same data in this process, and their results must
agree. They are timed alternately: a sample is the mean of as many runs as take 20 ms, a round is one sample of each,
and the medians of all rounds are compared. Prints a table in Markdown: the times, theirs over ours, and the rate of
ours. The exit code is 1 if ours is slower anywhere, 2 if results disagree.

On a machine with other load, pin everything to one core: `taskset -c 1 bench/nests.py build/ein`.
"""
import argparse
import ctypes
import glob
import json
import os
import statistics
import sys
import tempfile

from einlib import CLOSE, duration, ours_make, runs_find, seconds, shared_make, support_make

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nests")
BELOW = 16  # integers of inputs, where nothing is said here:
RANGES = {"gather": {"tok": 8192}, "histogram": {"bin": 256}, "histogram_2d": {"a": 64, "b": 64}, "segment_sum": {"g": 512},
          "segment_mean": {"g": 512}, "bool_product": {"A": 2, "B": 2}, "dequantize": {"Q": 256},
          "embedding_bag": {"tok": 8192}, "life": {"X0": 2}, "csr_product": {"start": 524256, "col": 16384}}

# Arithmetic operations, counted as if predicates always held. The other programs are rated by the bytes of their
# arguments.
FLOPS = {
    "matmul_f32": 2 * 512**3, "matmul_f64": 2 * 384**3, "matmul_i32": 2 * 384**3, "matmul_f16": 2 * 384**3,
    "matmul_tn": 2 * 512**3, "matmul_nt": 2 * 512**3, "matmul_tt": 2 * 512**3, "matmul_batched": 2 * 64 * 96**3,
    "max_plus": 2 * 384**3, "distance_l2": 3 * 1024**2 * 64, "distance_l1": 3 * 1024**2 * 64,
    "chain_product": 4 * 1024**2 * 16, "mttkrp": 2 * 128**3 * 32, "bilinear": 2 * 512 * 256**2,
    "conv_nhwc": 2 * 2 * 56**2 * 9 * 32**2, "conv_nchw": 2 * 2 * 56**2 * 9 * 32**2,
    "causal_scores": 8 * 512**2 * 64, "causal_sum": 8 * 512**2 * 64, "causal_attention": 2 * 8 * 512**2 * 64,
    "conv_depthwise": 2 * 4 * 56**2 * 9 * 64, "conv_dilated": 2 * 2 * 56**2 * 9 * 32**2, "complex_product": 8 * 192**3,
    "csr_product": 2 * 16384 * 32, "embedding_bag": 2048 * 16 * 64, "bool_product": 2 * 512**3, "jacobi": 4 * 40 * 512**2, "kv_cache": 2 * 512**2 * 256,
}
MOVED = {"trace": 4 * 8192 * 65}  # bytes, where not all of the arguments is read


# ---- measuring --------------------------------------------------------------------------------------

def measure(name, ours, theirs, support, rounds):
    inputs, outputs, others = (list(ours.arguments(k)) for k in (0, 1, 1))
    for k, d in enumerate(inputs):
        support.fill(d.at, d.dtype, d.count, RANGES.get(name, {}).get(d.name, BELOW), k + 1)
    run, views = ours.bind(inputs, outputs)
    function, pointers = getattr(theirs, name), [ctypes.c_void_p(d.at) for d in inputs + others]
    function.restype = None
    ours.check(ours.model.run(ours.context, *views))
    function(*pointers)
    far = max(support.differ(a.at, b.at, a.dtype, a.count) / max(CLOSE[a.dtype], 1e-300)
              for a, b in zip(outputs, others))
    pair = [run, lambda: function(*pointers)]
    runs = [runs_find(f) for f in pair]
    samples = [[seconds(f, n) for f, n in zip(pair, runs)] for _ in range(rounds)]
    mine, other = (statistics.median(s) for s in zip(*samples))
    moved = MOVED.get(name, sum(d.bytes for d in inputs + outputs))
    rate = (FLOPS[name] / mine / 1e9, "GFLOP/s") if name in FLOPS else (moved / mine / 1e9, "GB/s")
    return {"name": name, "ours": mine, "theirs": other, "ratio": other / mine, "rate": rate[0], "unit": rate[1],
            "agrees": far <= 1, "samples": samples}


def show(r):
    mark = " **slower**" if r["ratio"] < 1 else ""
    mark += "" if r["agrees"] else " **disagrees**"
    print(f"| {r['name']} | {duration(r['ours'])} | {duration(r['theirs'])} | {r['ratio']:.2f}{mark} "
          f"| {r['rate']:.1f} {r['unit']} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times compiled programs against plain C loop nests.")
    parser.add_argument("ein")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="threads of ours; theirs has one")
    parser.add_argument("--cc", default="gcc", help="the C compiler of the loop nests")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--keep", metavar="FOLDER", help="the build folder (default: a temporary one)")
    a = parser.parse_args()
    names = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob(os.path.join(HERE, "*.ein")))
    for n in a.only or []:
        if n not in names:
            parser.error(f"there is no {n}; there are {' '.join(names)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or temporary
        os.makedirs(folder, exist_ok=True)
        support = support_make(a.cc, folder)
        theirs = shared_make(a.cc, os.path.join(HERE, "nests.c"), ["-Ofast", "-march=native"], folder)
        print("| program | ours | theirs | theirs / ours | ours reaches |\n|---|---|---|---|---|", flush=True)
        results = []
        for name in a.only or names:
            ours = ours_make(os.path.abspath(a.ein), a.cc, os.path.join(HERE, name + ".ein"), folder, a.threads)
            results.append(measure(name, ours, theirs, support, a.rounds))
            show(results[-1])
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"format": "ein nests 1", "rounds": a.rounds, "threads": a.threads, "results": results}, f, indent=1)
            f.write("\n")
    if not all(r["agrees"] for r in results):
        return 2
    return 1 if any(r["ratio"] < 1 for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
