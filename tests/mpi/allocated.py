#!/usr/bin/env python3
"""What processes allocate, beside the memory of the plan: allocated.py EIN [--ranks 2,4] [--memory F] [NAME ...]

Builds each program of resident.py as a library, and runs it in a C program whose allocator counts. The inputs, the
outputs and the most that a context has allocated at once are the plan's memory, for tensors and for what kernels pack,
and what the context itself takes: 8 kB at most. With --memory F each is built for F times the memory that its plan
takes otherwise. Prints a row in Markdown for each; exits with 1 if one takes more or less."""
import argparse
import os
import subprocess
import sys
import tempfile

from resident import PROGRAMS, call, planned, written

CONTEXT = 8000


def fits(ein, path, ranks, words):
    return subprocess.run([ein, "plan", path, "-n", str(ranks), *words], capture_output=True).returncode == 0


def allocated(ein, folder, path, ranks, words):
    lib = os.path.join(folder, "lib")
    call(["rm", "-rf", lib])
    call([ein, "build", path, "--lib", "--target=mpi", "-n", str(ranks), "--flags=-O0", "-o", lib, *words])
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocated.c")
    call(["mpicc", "-O0", f"-I{lib}", here, f"{lib}/libx.a", "-fopenmp", "-lm", "-o", f"{folder}/prog"])
    return max(map(int, call(["mpirun", "-n", str(ranks), f"{folder}/prog"]).split()))


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("names", nargs="*")
    args.add_argument("--ranks", default="2,4")
    args.add_argument("--memory", type=float, default=0)
    args = args.parse_intermixed_args()
    ein, wrong, counted = os.path.abspath(args.ein), 0, 0
    print("| program | processes | plan | allocated | more |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or PROGRAMS:
            path = written(folder, "x.ein", PROGRAMS[name])
            for n in map(int, args.ranks.split(",")):
                words, plan = [], planned(ein, path, n, [])
                if args.memory:
                    limit = int(plan * args.memory)
                    words = [f"--memory={limit}B"]
                    if not fits(ein, path, n, words):
                        continue
                    plan = planned(ein, path, n, words)
                most = allocated(ein, folder, path, n, words)
                right = 0 <= most - plan <= CONTEXT
                wrong += not right
                counted += 1
                print(f"| {name} | {n} | {plan:.0f} | {most} | {most - plan:.0f}{'' if right else ', WRONG'} |", flush=True)
    return wrong > 0 or not counted


if __name__ == "__main__":
    sys.exit(main())
