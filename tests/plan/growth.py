#!/usr/bin/env python3
"""How the time and memory of planning grow with the number of equations, in chains of which each reads the one before.

growth.py EIN [--from 2000] [--to 6000]: prints a line for each chain; exits with 1 if each further equation takes more than so much
memory, or the longer chain more than twice the time that the shorter one's says."""
import argparse
import os
import sys
import tempfile

TIMES = 2.0

CHAINS = {                     # inputs, what an equation is made of, and kB that it may take: 31, 24 and 122 when this was written
    "that share a tensor": ("T0[i:64,j:64], X[i:64,j:64]", "{0}[i,j] * 0.5 + X[i,j]", 45),
    "that share nothing": ("T0[i:64,j:64]", "{0}[i,j] * 0.5 + 1.0", 45),
    "of products of one matrix": ("T0[i:64,j:64], X[i:64,j:64]", "sum[k] {0}[i,k] * X[k,j]", 150),
}


def planned(ein, inputs, body, n):
    """Seconds of processor time, and kB at the peak."""
    with tempfile.NamedTemporaryFile("w", suffix=".ein") as f:
        f.write(f"input {inputs} : f32\n")
        f.writelines(f"{'output ' * (k == n)}T{k}[i,j] = {body.format(f'T{k - 1}')}\n" for k in range(1, n + 1))
        f.flush()
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execv(ein, [ein, "plan", f.name, "-n", "4"])
        _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"ein plan failed for {n} equations")
    return used.ru_utime, used.ru_maxrss


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("--from", type=int, default=2000, dest="few")
    args.add_argument("--to", type=int, default=6000, dest="many")
    args = args.parse_args()
    bad = False
    for what, (*chain, most) in CHAINS.items():
        few, many = planned(args.ein, *chain, args.few), planned(args.ein, *chain, args.many)
        each = (many[1] - few[1]) / (args.many - args.few)
        print(f"{args.few} and {args.many} equations {what}: {few[0]:.2f} and {many[0]:.2f} s, {each:.1f} kB an equation", flush=True)
        bad |= each > most or many[0] > TIMES * few[0] * args.many / args.few
    return bad


if __name__ == "__main__":
    sys.exit(main())
