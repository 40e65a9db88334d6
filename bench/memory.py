#!/usr/bin/env python3
"""The peak resident memory of a training step, or of a layer over a prompt, compared with PyTorch: venv/bin/python bench/memory.py build/ein [--only NAME ...]

Each runs in a separate process on one thread: a library from `ein build --lib`, and PyTorch, eager and compiled. A process first runs a tiny program
(PyTorch: the measured one, so that it is compiled), frees its memory, and resets its peak (/proc/self/clear_refs, Linux only). Then it allocates its
arguments and runs three steps. Reports the peak less the resident memory before. A training step computes new weights: ours in other memory; PyTorch's in
place, with gradients that it frees after each step. So both hold the arguments, two copies of the weights, and a step's intermediate values."""
import argparse
import ctypes
import gc
import os
import subprocess
import sys
import tempfile

from einlib import Failure, Ours, ours_make, support_make
from peers.groups.nets import GPT, LLAMA, TRAIN, WEIGHTS, block_torch

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, RATE = 3, 0.01
KINDS = ("ours", "torch", "compile")


# ---- the programs --------------------------------------------------------------------------------------------------------------

def shapes_of(row_or_sizes, text):
    """The name and shape of each input and param, in order, and whether it is an integer."""
    out = []
    for line in text.splitlines():
        if not line.startswith(("input ", "param ")):
            continue
        names, dtype = line.split(" ", 1)[1].rsplit(" : ", 1)
        for one in names.replace("],", "]\n").split("\n"):
            name, axes = one.strip().rstrip("]").split("[")
            out.append((name, [eval(a.split(":")[-1], {"__builtins__": {}}, row_or_sizes) for a in axes.split(",")], dtype.startswith("i")))
    return out


def ffnn_torch(torch):
    def f(X, C, W1, b1, W2, b2):
        return torch.nn.functional.cross_entropy(torch.relu(torch.addmm(b1, X, W1)) @ W2 + b2, C)
    return f, ("W1", "b1", "W2", "b2")


def gpt_torch(torch):
    return (lambda *inputs: block_torch(torch, *inputs)), WEIGHTS


def llama_torch(torch):
    f = LLAMA.peers["torch compile"]
    return (lambda *inputs: f(torch, *inputs)), ()


CASES = {
    "FFNN step": (TRAIN.at(False).program(), TRAIN.sizes, ffnn_torch),
    "GPT block step": (GPT.at(False).program(), GPT.sizes, gpt_torch),
    "LLaMA prefill": (LLAMA.at(False).program(), LLAMA.sizes, llama_torch),
}


# ---- in a separate process --------------------------------------------------------------------------------------------------

def status(word):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(word + ":"))


def settle():
    """Frees unused memory and resets the peak. Returns the resident bytes."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
    return status("VmRSS")


def ours_steps(ours, support):
    inputs, outputs = list(ours.arguments(0)), list(ours.arguments(1))
    for k, d in enumerate(inputs):
        support.fill(d.at, d.dtype, d.elements, 5, k + 1)
    run, views = ours.bind(inputs, outputs)
    for _ in range(STEPS):
        ours.check(run())
    return views


def ours_peak(text, ein):
    with tempfile.TemporaryDirectory() as folder:
        support = support_make(os.environ.get("CC", "cc"), folder)
        tiny, path = os.path.join(folder, "tiny.ein"), os.path.join(folder, "step.ein")
        for where, what in ((tiny, "input x[i:9] : f32\noutput y[i] = 2 * x[i]\n"), (path, text)):
            with open(where, "w") as f:
                f.write(what)
        ours_steps(ours_make(ein, os.environ.get("CC", "cc"), tiny, folder, 1), support)
        words = [sys.executable, "-c", "import sys; from einlib import ours_make; ours_make(*sys.argv[1:5], 1)"]
        subprocess.run([*words, ein, os.environ.get("CC", "cc"), path, folder], check=True, cwd=HERE)
        before = settle()
        keep = ours_steps(Ours(os.path.join(folder, "step.so"), "step", 1), support)
        peak = status("VmHWM") - before
        del keep
        return peak


def torch_steps(torch, f, learnt, shapes):
    torch.manual_seed(1)
    args = {n: torch.randint(0, 5, s) if whole else torch.randn(s).mul_(0.05) for n, s, whole in shapes}
    for n in learnt:
        args[n].requires_grad_()
    for _ in range(STEPS):
        if not learnt:
            with torch.no_grad():
                f(*args.values())
            continue
        f(*args.values()).backward()
        with torch.no_grad():
            for n in learnt:
                args[n].sub_(args[n].grad, alpha=RATE)
                args[n].grad = None


def torch_peak(text, sizes, make, compiled):
    import torch
    torch.set_num_threads(1)
    f, learnt = make(torch)
    if compiled:
        f = torch.compile(f, dynamic=False)
    shapes = shapes_of(sizes, text)
    torch_steps(torch, f, learnt, shapes)
    before = settle()
    torch_steps(torch, f, learnt, shapes)
    return status("VmHWM") - before


def child(kind, case, ein):
    text, sizes, make = CASES[case]
    print(ours_peak(text, ein) if kind == "ours" else torch_peak(text, sizes, make, kind == "compile"))


def asked(kind, case, ein):
    done = subprocess.run([sys.executable, os.path.abspath(__file__), ein, "--child", kind, case], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", CUDA_VISIBLE_DEVICES=""))
    if done.returncode and kind == "ours":
        raise Failure(done.stderr)
    return f"{int(done.stdout.split()[-1]) / 1e6:.1f} MB" if not done.returncode else "fails: " + done.stderr.strip().splitlines()[-1][:100]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ein")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    ein = os.path.abspath(options.ein)
    if options.child:
        return child(*options.child, ein)
    print("| what | sizes | ours | PyTorch | PyTorch, compiled |\n|---|---|---|---|---|")
    for case, (_, sizes, _) in CASES.items():
        if not options.only or case in options.only:
            cells = [asked(kind, case, ein) for kind in KINDS]
            print(f"| {case} | {', '.join(f'{k} {v}' for k, v in sizes.items())} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
