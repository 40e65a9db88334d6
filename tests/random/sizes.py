#!/usr/bin/env python3
"""Compiles programs at sizes that they were not written for: sizes.py EIN FIRST LAST

Each seed takes a sample or a test program, gives some of its dims other values, small and as large as in practice, and
lets ein write C for some machine, CUDA or a plan for some sites. Nothing is compiled or run. What the sizes forbid may be refused; any other end
fails: a crash, an internal error, a sanitizer's report or more than 90 seconds. A failure prints the command. Exits
with 1 if any fail."""
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ["samples", "tests/run", "bench"]
HOW = [["build", "--emit=c"], ["build"], ["build"], ["build", "--emit=cuda"], ["plan", "-n"]]
MACHINES = ["skylake-avx512 -msse4a", "skylake-avx512", "haswell", "x86-64"]
SECONDS = 90
COMPILER = """#!/bin/sh
# Says what gcc's macros are, and makes an empty file where it should compile.
case " $* " in *" -dM "*) exec gcc "$@" ;; esac
while [ $# -gt 0 ]; do
  [ "$1" != -o ] || : >"$2"
  shift
done
"""


def size(r, was):
    return r.choice([2 * was, r.choice([4, 16, 64]) * was, r.choice([100, 1000]) * was, 2 ** r.randint(0, 14),
                     r.randint(1, 40), r.randint(1, 3000)])


def command(r, ein, files, folder):
    path = r.choice(files)
    words = r.choice(HOW)
    command = [ein, words[0], str(path), *words[1:]]
    if words[0] == "plan":
        command.append(str(r.choice([2, 3, 4, 8, 12])))
    else:
        command += ["-o", os.path.join(folder, "text")]
    if words == ["build"]:
        command += ["--cc", os.path.join(folder, "cc"), f"--flags=-march={r.choice(MACHINES)}"]
    for line in re.findall(r"^dim (.*)$", path.read_text(), re.M):
        for name, was in re.findall(r"(\w+) *= *(\d+)", line):
            if r.random() < 0.7:
                command += ["-D", f"{name}={size(r, int(was))}"]
    return command


def wrong(command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"it has not ended after {SECONDS} s"
    says = done.stderr.decode(errors="replace")
    if done.returncode in (0, 1, 2) and "runtime error" not in says and "Sanitizer" not in says:
        return ""
    return f"exit code {done.returncode}: {says[:400]}"


def main():
    ein, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.ein"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        compiler = Path(folder, "cc")
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        for seed in range(first, last + 1):
            of_seed = command(random.Random(seed), ein, files, folder)
            why = wrong(of_seed)
            if why:
                failed += 1
                print(f"seed {seed}: {' '.join(of_seed)}\n  {why}")
    print(f"{last + 1 - first} programs, {failed} failed")
    return failed > 0


sys.exit(main())
