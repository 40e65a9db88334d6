#!/usr/bin/env python3
"""Compares samples with references in NumPy that share nothing with Ein: beside_numpy.py EIN SAMPLES RANKS ..., in an empty folder.

Each sample runs as it is, in other sizes, on each of these numbers of ranks; states and curves of its loops become outputs too. A value may differ by the
bound of its sample (references.py) times its largest element. With EIN_TURN, a number, one of EVERY runs is made. `--only NAME ...` chooses samples."""
import os
import shutil
import subprocess
import sys
import time

import numpy as np

import lessons  # noqa: F401: they fill SAMPLES
import science  # noqa: F401
import training  # noqa: F401
from references import SAMPLES

EVERY = 7


def apart(ours, theirs):
    """The largest difference, by the largest finite element."""
    theirs = np.asarray(theirs, float)
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, not {theirs.shape}"
    if not theirs.size:
        return 0
    with np.errstate(invalid="ignore"):
        far = np.where(ours == theirs, 0, np.abs(ours - theirs))
    return far.max() / max(1e-300, np.abs(theirs[np.isfinite(theirs)]).max(initial=0))


def wrong(ein, samples, name, ranks):
    """What is wrong with a sample on so many ranks: a list of texts."""
    reference, sizes, bound = SAMPLES[name]
    source, out = os.path.join(samples, name + ".ein"), f"{os.path.basename(name)}_{ranks}"
    want = reference()
    with open(source) as f:
        text = f.read()
    given = [w for line in text.splitlines() if line.startswith("output ") for w in line[7:].split("=")[0].split("[")[0].replace(",", " ").split()]
    with open(out + ".ein", "w") as f:
        f.write(text + "".join(f"output {w}\n" for w in want if w not in given))
    for file in os.listdir(os.path.dirname(source)):
        if file.endswith(".c"):
            shutil.copy(os.path.join(os.path.dirname(source), file), ".")
    words = [w for k, v in sizes.items() for w in ("-D", f"{k}={v}")] + ([f"--np={ranks}"] if ranks > 1 else ["--target=jit"])
    done = subprocess.run([ein, "run", out + ".ein", *words, "-o", f"all={out}/"], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return [done.stderr[:1000]]
    found = []
    for w, theirs in want.items():
        far = apart(np.load(os.path.join(out, w + ".npy")), theirs)
        if isinstance(far, str) or not far <= bound:
            found.append(f"{w} is {far if isinstance(far, str) else f'{far:.2g} apart'}")
    return found


def main(words):
    at = words.index("--only") if "--only" in words else len(words)
    ein, samples, *counts = words[:at]
    turn, failed = os.environ.get("EIN_TURN"), 0
    runs = [(name, int(n)) for name in words[at + 1:] or SAMPLES for n in counts]
    for k, (name, ranks) in enumerate(runs):
        if turn and k % EVERY != int(turn) % EVERY:
            continue
        start = time.perf_counter()
        found = wrong(os.path.abspath(ein), os.path.abspath(samples), name, ranks)
        failed += len(found)
        print(f"{name} on {ranks}: {'; '.join(found) or 'ok'} ({time.perf_counter() - start:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
