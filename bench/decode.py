#!/usr/bin/env python3
"""How fast a language model generates, greedily and with a cache: a token's step beside a plain read of the bytes of
its weights.

    bench/decode.py build/ein [--threads 1 2] [--rounds 9] [--only NAME ...] [--small]

The model is samples/papers/llama_generation.ein without its second half, in larger sizes; its weights are stored as the
sample has them, or as checkpoints do ("by rows": the axis that is summed lies last), in f32 or bf16. A run makes TOKENS
tokens. In one process, runs and reads alternate, with the same number of threads, warm. Reports the least seconds of
each (processor time, if there is one thread: other load disturbs it less), and their ratio: the share of the memory's
rate. The exit code is 1 if one is below GOAL."""
import argparse
import ctypes
import os
import re
import sys
import tempfile
import time

from einlib import HERE, duration, int64s, ours_make, shared_make, support_make

GOAL = 0.85
TOKENS = 8
SIZES = {"L": 12, "V": 16000, "A": 1024, "G": 8, "R": 2, "D": 64, "F": 2816, "T": TOKENS, "P": 1}
SMALL = {"L": 2, "V": 20, "A": 16, "G": 2, "R": 2, "D": 4, "F": 24, "T": TOKENS, "P": 1}
BY_ROWS = {"WQ": "lgrda", "WK": "lgda", "WV": "lgda", "WO": "lagrd", "W1": "lfa", "W3": "lfa", "W2": "laf"}
CASES = {f"{dtype}{rows}": (dtype, bool(rows)) for dtype in ("f32", "bf16") for rows in ("", ", by rows")}


def program(dtype, rows, sizes):
    """The sample up to the text that it generates, with params that are given, of that dtype, stored as told."""
    with open(os.path.join(HERE, "..", "samples", "papers", "llama_generation.ein")) as f:
        text = f.read().split("# All at once.")[0]
    text = re.sub(r"^dim .*$", "dim " + ", ".join(f"{k} = {v}" for k, v in sizes.items()), text, flags=re.M)
    text = re.sub(r"^(param [^:]*(?:[^ ]:[^ ][^:]*)*\] : )f32.*$", rf"\g<1>{dtype}", text, flags=re.M)
    text = text.replace("state x[a:A] =", "state x[a:A] : f32 =")
    for name, wanted in BY_ROWS.items() if rows else ():
        had = [x.split(":")[0] for x in re.search(rf"^param {name}\[(.*?)\]", text, re.M)[1].split(",")]
        text = re.sub(rf"\b{name}\[(.*?)\]",
                      lambda m: f"{name}[{','.join(m[1].split(',')[had.index(x)] for x in wanted)}]", text)
    return text


def measured(options, folder, support, reader, case, threads):
    path = os.path.join(folder, "generation.ein")
    with open(path, "w") as f:
        f.write(program(*CASES[case], SMALL if options.small else SIZES))
    ours = ours_make(os.path.abspath(options.ein), options.cc, path, folder, threads)
    inputs, outputs = list(ours.arguments(0)), list(ours.arguments(1))
    for k, d in enumerate(inputs):
        support.fill(d.at, d.dtype, d.elements, 2, k + 1)
    run, views = ours.bind(inputs, outputs)
    ours.check(run())
    weights = [d for d in inputs if d.name != "prompt"]
    at = (ctypes.c_void_p * len(weights))(*[d.at for d in weights])
    words = int64s([d.room // 8 for d in weights])
    least, clock = [float("inf")] * 2, time.process_time if threads == 1 else time.perf_counter
    for _ in range(options.rounds):
        for k, f in enumerate((run,
                               lambda: [reader.read_all(at, words, len(weights), threads) for _ in range(TOKENS)])):
            start = clock()
            f()
            least[k] = min(least[k], (clock() - start) / TOKENS)
    del views
    ours.close()
    return sum(d.room for d in weights), *least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ein")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, os.cpu_count()])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    missed = 0
    print("| weights | threads | bytes | a token | a read | share of the memory's rate |\n|---|---|---|---|---|---|")
    for case in options.only:
        for threads in options.threads:
            with tempfile.TemporaryDirectory() as folder:
                reader = shared_make(options.cc, os.path.join(HERE, "decode.c"), ["-O3", "-march=native", "-fopenmp"],
                                     folder, ["-fopenmp"])
                reader.read_all.restype = ctypes.c_int64
                count, token, read = measured(options, folder, support_make(options.cc, folder), reader, case, threads)
            share = read / token
            missed += share < GOAL and not options.small
            met = " ✓" if share >= GOAL else ""
            print(f"| {case} | {threads} | {count / 1e6:.0f} MB | {duration(token)} | {duration(read)} | {share:.2f}{met} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
