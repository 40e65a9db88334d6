#!/usr/bin/env python3
"""How little memory products need: lean.py EIN [--sites 2,3,4,6,8,12,16] [--dtypes f32,f64] [--most 1.25] [--run] [--after TEXT]
[--of SOURCE] [SHAPE...]

SHAPE: IxKxJ, of C[i,j] = sum[k] A[i,k] * B[k,j]; 10 shapes if none is given. For each, prints a row in Markdown: the least memory that
`ein plan --memory` finds for a site, over its part of A, B and C; and exits with 1 if some is more than --most. Each least is planned for again,
and must be taken. --after 'max(0, {} + c[j])': so each sum is used. With --run (and integers) it is also run under that limit, its sites in one
process, and must give what one site does of inputs of that source (iota)."""
import argparse
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

SHAPES = ["4096x4096x4096", "500x32000x500", "4000x500x4000", "512x512x512", "65536x256x256", "256x256x65536", "1009x757x1327", "8192x8192x16",
          "8192x16x8192", "16x65536x64"]
SIZE = {"f32": 4, "f64": 8, "i64": 8, "i32": 4, "f16": 2}
LEAST = re.compile(r"the least that was found is [^(]*\((\d+) bytes\)")


def program(folder, shape, dtype, after):
    i, k, j = (int(n) for n in shape.split("x"))
    path = os.path.join(folder, "product.ein")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"input A[i:{i}, k:{k}] : {dtype}\ninput B[k:{k}, j:{j}] : {dtype}\n")
        f.write(f"input c[j:{j}] : {dtype} = {dtype}(j % 3)\n" * ("c[" in after))
        f.write("output C[i,j] = " + after.replace("{}", "(sum[k] A[i,k] * B[k,j])") + "\n")
    return path, (i * k + k * j + i * j) * SIZE[dtype]


def least(ein, path, sites):
    """What a refusal names; then the plan under that limit must be had, and keep it."""
    refused = subprocess.run([ein, "plan", path, "-n", str(sites), "--memory=1B"], capture_output=True, text=True)
    bytes_ = int(LEAST.search(refused.stderr).group(1))
    taken = subprocess.run([ein, "plan", path, "-n", str(sites), f"--memory={bytes_}B", "--format=json"], capture_output=True, text=True)
    if taken.returncode or json.loads(taken.stdout)["memory"]["bytes"] > bytes_:
        sys.exit(f"{path} on {sites} sites: {bytes_} bytes are named, and not kept: {taken.stderr}")
    return bytes_


def runs(ein, folder, path, sites, limit, source):
    given = [ein, "run", path, f"A={source}", f"B={source}"]
    one, many = os.path.join(folder, "one.npy"), os.path.join(folder, "many.npy")
    for words in [["-o", f"C={one}"], ["-n", str(sites), f"--memory={limit}B", "-o", f"C={many}"]]:
        done = subprocess.run(given + words, capture_output=True, text=True)
        if done.returncode:
            return sys.exit(f"{path} on {sites} sites: {done.stderr}")
    return filecmp.cmp(one, many, shallow=False)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("shapes", nargs="*")
    args.add_argument("--sites", default="2,3,4,6,8,12,16")
    args.add_argument("--dtypes", default="f32,f64")
    args.add_argument("--most", type=float, default=1.25)
    args.add_argument("--run", action="store_true")
    args.add_argument("--after", default="{}")
    args.add_argument("--of", default="iota")
    args = args.parse_intermixed_args()
    sites = [int(n) for n in args.sites.split(",")]
    over = 0
    print("| i x k x j | | " + " | ".join(f"{n} sites" for n in sites) + " |\n|---|---|" + "---|" * len(sites))
    with tempfile.TemporaryDirectory() as folder:
        for shape in args.shapes or SHAPES:
            for dtype in args.dtypes.split(","):
                path, all_ = program(folder, shape, dtype, args.after)
                cells = []
                for n in sites:
                    bytes_ = least(args.ein, path, n)
                    if args.run and not runs(args.ein, folder, path, n, bytes_, args.of):
                        sys.exit(f"{shape}, {dtype}, on {n} sites: another product")
                    cells.append(bytes_ * n / all_)
                over += sum(x > args.most for x in cells)
                print(f"| {shape.replace('x', ' x ')} | {dtype} | " + " | ".join(f"{x:.2f}" for x in cells) + " |", flush=True)
    return over > 0


if __name__ == "__main__":
    sys.exit(main())
