#!/usr/bin/env python3
"""Times compiled programs against plain C loop nests.

    bench/nests.py build/ein [--only NAME ...] [--rounds 7] [--threads 1] [--json FILE] [--keep FOLDER]

Every bench/nests/NAME.ein is built by `ein build --lib` with its usual flags; bench/nests/nests.c has a function of the
same name, which `gcc -Ofast -march=native` compiles. Both are loaded here and run on the same data; their results must
agree. Then they are timed in turn: a sample is the mean of as many runs as take 20 ms, a round is one sample of each,
and the medians of all rounds are compared. Printed is a table in Markdown: the times, theirs over ours, and what ours
reaches of the machine. The exit code is 1 if ours is slower anywhere, 2 if results disagree.

On a machine with other work, keep the whole to one core: `taskset -c 1 bench/nests.py build/ein`.
"""
import argparse
import ctypes
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nests")
SAMPLE = 0.020  # seconds, at least
SIZE = [8, 4, 2, 2, 8, 4, 2, 1, 1, 1]  # bytes of an element, by ein_dtype
CLOSE = [1e-10, 1e-4, 4e-3, 3e-2, 0, 0, 0, 0, 0, 0]  # results agree, relative to the largest
BELOW = 16  # integers of inputs, where nothing is said here:
RANGES = {"gather": {"tok": 8192}, "histogram": {"bin": 256}}

# Operations on numbers of theirs, predicates counted as if they held; the others are told by the bytes of their arguments.
FLOPS = {
    "matmul_f32": 2 * 512**3, "matmul_f64": 2 * 384**3, "matmul_i32": 2 * 384**3, "matmul_f16": 2 * 384**3,
    "matmul_tn": 2 * 512**3, "matmul_nt": 2 * 512**3, "matmul_tt": 2 * 512**3, "matmul_batched": 2 * 64 * 96**3,
    "max_plus": 2 * 384**3, "distance_l2": 3 * 1024**2 * 64, "distance_l1": 3 * 1024**2 * 64,
    "chain_product": 4 * 1024**2 * 16, "mttkrp": 2 * 128**3 * 32, "bilinear": 2 * 512 * 256**2,
    "conv_nhwc": 2 * 2 * 56**2 * 9 * 32**2, "conv_nchw": 2 * 2 * 56**2 * 9 * 32**2,
    "causal_scores": 8 * 512**2 * 64, "causal_sum": 8 * 512**2 * 64, "causal_attention": 2 * 8 * 512**2 * 64,
    "jacobi": 4 * 40 * 512**2, "kv_cache": 2 * 512**2 * 256,
}
MOVED = {"trace": 4 * 8192 * 65}  # bytes, where not all of the arguments is read


# ---- runtime/ein_tensor.h -------------------------------------------------------------------------

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("alloc", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("parallel", ctypes.c_void_p), ("user", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t)]


class Argument(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int),
                ("optional", ctypes.c_int), ("param", ctypes.c_int)]


class Model(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("name", ctypes.c_char_p), ("source", ctypes.c_char_p),
                ("n_dims", ctypes.c_int), ("n_inputs", ctypes.c_int), ("n_outputs", ctypes.c_int),
                ("dim", ctypes.c_void_p), ("input", ctypes.POINTER(Argument)), ("output", ctypes.POINTER(Argument)),
                ("create", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Config), ctypes.POINTER(ctypes.c_void_p))),
                ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("plan", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))),
                ("workspace", ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)),
                ("shape", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int,
                                           ctypes.POINTER(ctypes.c_int64))),
                ("run", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor),
                                         ctypes.POINTER(Tensor))),
                ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
                ("cancel", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class Data:
    """An argument's memory, 64-byte aligned, and its view."""

    def __init__(self, argument, shape):
        self.name, self.dtype = argument.name.decode(), argument.dtype
        self.count = math.prod(shape)
        self.bytes = self.count * SIZE[self.dtype]
        self.memory = ctypes.create_string_buffer(self.bytes + 64)
        self.at = (ctypes.addressof(self.memory) + 63) // 64 * 64
        self.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.view = Tensor(self.at, 1, 0, len(shape), self.dtype, self.shape, None, 0)


class Ours:
    """A library that ein built: its model, and a context that is planned."""

    def __init__(self, path, name, threads):
        self.library = ctypes.CDLL(path)
        self.model = Model.in_dll(self.library, name + "_model")
        if self.model.version != 1:
            sys.exit(f"{name}: version {self.model.version} of ein_model is not known here")
        self.context = ctypes.c_void_p()
        self.config = Config(size=ctypes.sizeof(Config), threads=threads)
        self.check(self.model.create(ctypes.byref(self.config), ctypes.byref(self.context)))
        self.check(self.model.plan(self.context, None))

    def check(self, status):
        if status:
            sys.exit(f"{self.model.name.decode()}: {self.model.last_error(self.context).decode()}")

    def arguments(self, output):
        known = self.model.output if output else self.model.input
        for k in range(self.model.n_outputs if output else self.model.n_inputs):
            shape = (ctypes.c_int64 * 64)()
            self.check(self.model.shape(self.context, output, k, shape))
            yield Data(known[k], list(shape[:known[k].ndim]))


# ---- building ---------------------------------------------------------------------------------------

def call(words):
    said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if said.returncode:
        sys.exit(f"{' '.join(words)}: exit code {said.returncode}\n{said.stdout}")


def shared_make(cc, source, flags, folder):
    """Linked without -Ofast, which would change how the whole process rounds the tiniest numbers."""
    name = os.path.splitext(os.path.basename(source))[0]
    path = os.path.join(folder, name)
    call([cc, *flags, "-fPIC", "-c", source, "-o", path + ".o"])
    call([cc, "-shared", path + ".o", "-o", path + ".so", "-lm"])
    return ctypes.CDLL(path + ".so")


def ours_make(ein, cc, name, folder, threads):
    to = os.path.join(folder, name)
    call([ein, "build", "--lib", os.path.join(HERE, name + ".ein"), "-o", to])
    call([cc, "-shared", "-o", to + ".so", "-Wl,--whole-archive", os.path.join(to, f"lib{name}.a"),
          "-Wl,--no-whole-archive", "-fopenmp", "-lm"])
    return Ours(to + ".so", name, threads)


# ---- measuring --------------------------------------------------------------------------------------

def seconds(f, runs):
    start = time.perf_counter()
    for _ in range(runs):
        f()
    return (time.perf_counter() - start) / runs


def runs_find(f):
    """So many runs that a sample is long enough; finding that out warms up."""
    f()
    t = min(seconds(f, 1), seconds(f, 1))
    return max(1, math.ceil(SAMPLE / max(t, 1e-7)))


def measure(name, ours, theirs, support, rounds):
    inputs, outputs, others = (list(ours.arguments(k)) for k in (0, 1, 1))
    for k, d in enumerate(inputs):
        support.fill(d.at, d.dtype, d.count, RANGES.get(name, {}).get(d.name, BELOW), k + 1)
    views = [(Tensor * max(len(v), 1))(*[d.view for d in v]) for v in (inputs, outputs)]
    function, pointers = getattr(theirs, name), [ctypes.c_void_p(d.at) for d in inputs + others]
    function.restype = None
    ours.check(ours.model.run(ours.context, *views))
    function(*pointers)
    far = max(support.differ(a.at, b.at, a.dtype, a.count) / max(CLOSE[a.dtype], 1e-300)
              for a, b in zip(outputs, others))
    pair = [lambda: ours.model.run(ours.context, *views), lambda: function(*pointers)]
    runs = [runs_find(f) for f in pair]
    samples = [[seconds(f, n) for f, n in zip(pair, runs)] for _ in range(rounds)]
    mine, other = (statistics.median(s) for s in zip(*samples))
    moved = MOVED.get(name, sum(d.bytes for d in inputs + outputs))
    rate = (FLOPS[name] / mine / 1e9, "GFLOP/s") if name in FLOPS else (moved / mine / 1e9, "GB/s")
    return {"name": name, "ours": mine, "theirs": other, "ratio": other / mine, "rate": rate[0], "unit": rate[1],
            "agrees": far <= 1, "samples": samples}


def duration(t):
    return f"{t * 1e3:.2f} ms" if t >= 1e-3 else f"{t * 1e6:.1f} us"


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
    parser.add_argument("--threads", type=int, default=1, help="of ours; theirs has one")
    parser.add_argument("--cc", default="gcc", help="the compiler of theirs")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--keep", metavar="FOLDER", help="where everything is built (default: a temporary one)")
    a = parser.parse_args()
    names = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob(os.path.join(HERE, "*.ein")))
    for n in a.only or []:
        if n not in names:
            parser.error(f"there is no {n}; there are {' '.join(names)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or temporary
        os.makedirs(folder, exist_ok=True)
        support = shared_make(a.cc, os.path.join(HERE, "support.c"), ["-O2"], folder)
        support.fill.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64]
        support.differ.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64]
        support.differ.restype = ctypes.c_double
        theirs = shared_make(a.cc, os.path.join(HERE, "nests.c"), ["-Ofast", "-march=native"], folder)
        print("| program | ours | theirs | theirs / ours | ours reaches |\n|---|---|---|---|---|", flush=True)
        results = []
        for name in a.only or names:
            ours = ours_make(os.path.abspath(a.ein), a.cc, name, folder, a.threads)
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
