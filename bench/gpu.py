#!/usr/bin/env python3
"""Runs programs on a CUDA device, and times them against PyTorch.

    bench/gpu.py build/ein [--check [PROGRAM ...]] [--only NAME ...] [--rounds 3] [--json FILE] [--jobs 8]

--check runs every program of tests/run and tests/cuda (or the given ones) with `ein verify --target=cuda`, several at
once, and prints those that differ from the evaluator. Otherwise, for every bench/gpu/NAME.ein, `ein bench
--target=cuda`, with arguments on the device, and a PyTorch function on tensors of the same shapes run alternately. A
sample is as many runs as take 20 ms, with one wait at the end. If PyTorch has no such function, only ein is timed.
Prints a table in Markdown: the medians of all rounds, the rate (of operations, or of bytes that must be read and
written), and PyTorch's time over ours.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

from einlib import duration

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
GIVEN = {"gather_f32": ["tok=const:7"], "histogram_f32": ["bin=const:7"]}

# ---- the programs of the tests ------------------------------------------------------------------------


def check_one(ein, path):
    with open(path, encoding="utf-8", errors="replace") as f:
        head = f.read()
    if re.search("^extern def| extern \"", head, re.M):
        return None
    said = re.search("^# args: (.*)$", head, re.M)
    words = said.group(1).split() if said else []
    try:
        p = subprocess.run([ein, "verify", "--target=cuda", *words, os.path.basename(path)], capture_output=True,
                           text=True, timeout=170,
                           cwd=os.path.dirname(path))
    except subprocess.TimeoutExpired:
        return path, "it takes over 170 seconds"
    if p.returncode:
        return path, "\n".join(x for x in (p.stdout + p.stderr).split("\n")
                               if not re.search("  equal$|  abs ", x))[:1500]
    return path, None


def check(ein, programs, jobs):
    paths = programs or sorted(glob.glob(os.path.join(ROOT, "tests", "run", "*.ein"))
                               + glob.glob(os.path.join(ROOT, "tests", "cuda", "*.ein")))
    begun, right, wrong = time.time(), 0, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda p: check_one(ein, os.path.abspath(p)), paths):
            if done and done[1]:
                wrong.append(done)
            elif done:
                right += 1
    for path, why in wrong:
        print(f"-- {os.path.basename(path)}\n{why}")
    print(f"{right} programs agree, {len(wrong)} do not; {time.time() - begun:.0f} s")
    return 1 if wrong else 0


# ---- beside PyTorch ------------------------------------------------------------------------------------


def peers():
    """For each program: its tensors, the PyTorch function, and what is counted ('flop' or 'byte') and how many."""
    import torch
    import torch.nn.functional as F
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    f32, f64, bf16, f16, i64 = torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64

    def new(*shape, t=f32):
        return torch.randn(*shape, device="cuda", dtype=f32 if t in (f16, bf16) else t).to(t)

    def product(equation, a, b, t=f32):
        sizes = dict(zip(re.sub("[,]", "", equation.split("->")[0]), a + b))
        flops = 2
        for n in sizes.values():
            flops *= n
        return lambda: ((new(*a, t=t), new(*b, t=t)), lambda x, y: torch.einsum(equation, x, y), ("flop", flops))

    def moved(make, f, n, kind="byte"):
        return lambda: (make(), f, (kind, n))

    def attention(h, s, d, t, causal=False):
        def f(q, k, v):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return lambda: (tuple(new(1, h, s, d, t=t) for _ in range(3)), f,
                        ("flop", 4 * h * s * s * d / (2 if causal else 1)))

    def max_plus(a, b):
        c = torch.empty(a.shape[0], b.shape[1], device="cuda")
        for i in range(0, a.shape[0], 16):
            c[i:i + 16] = (a[i:i + 16, :, None] + b[None]).amax(1)
        return c

    n, m, k = 16384, 4096, 33554432
    square, row = 4 * 8192 * 8192, (8192, 8192)
    return {
        "matmul_f32": product("ik,kj->ij", (4096, 4096), (4096, 4096)),
        "matmul_nt_f32": product("ik,jk->ij", (4096, 4096), (4096, 4096)),
        "matmul_tn_f32": product("ki,kj->ij", (4096, 4096), (4096, 4096)),
        "matmul_odd_f32": product("ik,kj->ij", (2999, 2999), (2999, 2999)),
        "matmul_f64": product("ik,kj->ij", (4096, 4096), (4096, 4096), f64),
        "matmul_bf16": product("ik,kj->ij", (8192, 8192), (8192, 8192), bf16),
        "matmul_nt_f16": product("ik,jk->ij", (8192, 8192), (8192, 8192), f16),
        "batched_f32": product("bik,bkj->bij", (64, 512, 512), (64, 512, 512)),
        "skinny_f32": product("ik,kj->ij", (64, 8192), (8192, 8192)),
        "long_sum_f32": product("ki,kj->ij", (262144, 256), (262144, 256)),
        "matvec_f32": moved(lambda: (new(n, n), new(n)), torch.mv, 4 * n * n),
        "tccg_abcd_f32": product("njmi,mknl->lkji", (84, 84, 84, 96), (84, 84, 84, 96)),
        "tccg_triples_f32": product("amji,cbkm->kjicba", (24, 24, 20, 24), (20, 20, 20, 24)),
        "tccg_abcd_f64": product("njmi,mknl->lkji", (72,) * 4, (72,) * 4, f64),
        "max_plus_f32": moved(lambda: (new(4096, 4096), new(4096, 4096)), max_plus, 2 * 4096 ** 3, "flop"),
        "distance_l1_f32": moved(lambda: (new(4096, 512), new(4096, 512)), lambda a, b: torch.cdist(a, b, p=1),
                                 3 * 4096 ** 2 * 512, "flop"),
        "softmax_f32": moved(lambda: (new(n, m),), lambda x: torch.softmax(x, 1), 8 * n * m),
        "softmax_bf16": moved(lambda: (new(n, m, t=bf16),), lambda x: torch.softmax(x, 1, dtype=f32), 6 * n * m),
        "layernorm_f32": moved(lambda: (new(n, m), new(m), new(m)), lambda x, g, b: F.layer_norm(x, (m,), g, b),
                               8 * n * m),
        "gelu_f32": moved(lambda: (new(k),), F.gelu, 8 * k),
        "chain_f32": moved(lambda: (new(8192, 8192), new(8192, 8192), new(8192, 8192), new(8192)),
                           lambda x, y, z, b: torch.relu(x * y + b) - 0.5 * z, 4 * square),
        "row_sum_f32": moved(lambda: (new(*row),), lambda x: x.sum(1), 4 * row[0] * row[1]),
        "column_sum_f32": moved(lambda: (new(*row),), lambda x: x.sum(0), 4 * row[0] * row[1]),
        "dot_f32": moved(lambda: (new(k), new(k)), torch.dot, 8 * k),
        "row_argmax_f32": moved(lambda: (new(n, m),), lambda x: x.argmax(1), 4 * n * m),
        "transpose_f32": moved(lambda: (new(8192, 8192),), lambda x: x.t().contiguous(), 2 * square),
        "permute_f32": moved(lambda: (new(16, 2048, 16, 128),), lambda x: x.permute(0, 2, 1, 3).contiguous(),
                             8 * 16 * 2048 * 16 * 128),
        "permute_ends_f32": moved(lambda: (new(256, 32, 64, 128),), lambda x: x.permute(3, 1, 2, 0).contiguous(),
                                  8 * 256 * 32 * 64 * 128),
        "gather_f32": moved(lambda: (new(32768, 512), torch.full((131072,), 7, device="cuda", dtype=i64)), lambda e,
                            t: e[t], 4 * 131072 * 512),
        "cumulative_f32": moved(lambda: (new(8192, 8192),), lambda x: x.cumsum(1), 2 * square),
        "attention_f32": attention(64, 2048, 64, f32),
        "causal_attention_f32": attention(64, 2048, 64, f32, True),
        "attention_bf16": attention(64, 2048, 128, bf16),
        "conv_nhwc_f32": moved(lambda: (new(32, 64, 58, 58).to(memory_format=torch.channels_last),
                                        new(64, 64, 3, 3).to(memory_format=torch.channels_last)),
                               F.conv2d, 2 * 32 * 56 * 56 * 64 * 64 * 9, "flop"),
        "stencil_f32": moved(lambda: (new(8194, 8194),),
                             lambda x: 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]), 2 * square),
        "histogram_f32": moved(lambda: (torch.full((k // 2,), 7, device="cuda", dtype=i64), new(k // 2)),
                               lambda b, w: torch.zeros(1024, device="cuda").scatter_add_(0, b, w), 6 * k),
    }


def torch_seconds(f, tensors):
    import torch

    def run(n):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(n):
            f(*tensors)
        torch.cuda.synchronize()
        return time.perf_counter() - begun

    run(2)
    once = run(1)
    n = max(1, min(10000, int(0.02 / max(once, 1e-6))))
    return statistics.median(run(n) / n for _ in range(5))


def ours_seconds(ein, name, reps):
    p = subprocess.run([ein, "bench", "--target=cuda", "--format=json", "--reps", str(reps),
                        os.path.join(HERE, "gpu", name + ".ein"),
                        *GIVEN.get(name, [])], capture_output=True, text=True, timeout=300)
    if p.returncode:
        raise RuntimeError((p.stderr.strip() or "failed").split("\n")[0])
    return json.loads(p.stdout)["median"]


def rate(kind, n, seconds):
    return f"{n / seconds * 1e-12:.3g} {'TFLOP/s' if kind == 'flop' else 'TB/s'}"


def bench(ein, only, rounds, out):
    names = [n for n in sorted(os.path.basename(p)[:-4] for p in glob.glob(os.path.join(HERE, "gpu", "*.ein")))
             if not only or n in only]
    try:
        import torch
        known = peers()
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    except ImportError:
        torch, known = None, {}
    print("| program | ours | rate | PyTorch | theirs / ours |\n|---|---|---|---|---|")
    table = {}
    for name in names:
        ours, theirs, count = [], [], None
        try:
            for _ in range(rounds):
                ours.append(ours_seconds(ein, name, 5))
                if name in known:
                    tensors, f, count = known[name]()
                    theirs.append(torch_seconds(f, tensors))
                    del tensors
                    torch.cuda.empty_cache()
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            print(f"| {name} | {str(e)[:200]} | | | |", flush=True)
            continue
        mine = statistics.median(ours)
        row = [name, duration(mine), rate(*count, mine) if count else "", "", ""]
        if theirs:
            row[3:] = [duration(statistics.median(theirs)), f"{statistics.median(theirs) / mine:.2f}"]
        table[name] = {"ours": ours, "theirs": theirs}
        print("| " + " | ".join(row) + " |", flush=True)
    if out:
        with open(out, "w", encoding="utf-8") as f:
            json.dump(table, f)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("ein")
    a.add_argument("--check", nargs="*")
    a.add_argument("--only", nargs="+")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--json")
    a.add_argument("--jobs", type=int, default=8)
    a = a.parse_args()
    ein = os.path.abspath(a.ein)
    if a.check is not None:
        sys.exit(check(ein, a.check, a.jobs))
    bench(ein, a.only, a.rounds, a.json)


main()
