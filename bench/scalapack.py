#!/usr/bin/env python3
"""Compares matrix products on MPI processes: ein's libraries and ScaLAPACK's pdgemm, timed alternately: scalapack.py
EIN [ROUNDS].

f64, one thread per process. Shapes: square, with a long sum (500 x 500 x 32000), and flat (4000 x 4000 x 500). pdgemm
uses the best of all grids and three block sizes. Each has the layout of blocks that it prefers. Requires mpicc, mpirun
and Debian's libscalapack-openmpi-dev. Prints a line for each shape and number of processes: seconds, as medians of
ROUNDS (9), and the speed-up of ours."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(2048, 2048, 2048), (500, 500, 32000), (4000, 4000, 500)]
PROCESSES = [1, 2, 4, 6, 8, 12, 16]


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(ein, folder, m, n, k):
    with open(os.path.join(folder, "product.ein"), "w", encoding="utf-8") as f:
        f.write(f"input A[i:{m},k:{k}], B[k:{k},j:{n}] : f64\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n")
    counts = ",".join(str(p) for p in PROCESSES if p > 1)
    run([ein, "build", "product.ein", "--lib", "--target=mpi", "-n", counts, "-o", "product"], cwd=folder)
    flags = run(["pkg-config", "--cflags", "--libs", "product/product.pc"], cwd=folder).split()
    run(["mpicc", "-O2", os.path.join(HERE, "scalapack.c"), "-o", "bench", *flags, "-lscalapack-openmpi", "-lm"], cwd=folder)


def blas_of(program):
    """Returns which BLAS pdgemm uses: with the reference BLAS it is many times slower, and a comparison would be
    meaningless."""
    for line in run(["ldd", program]).splitlines():
        if "libblas" in line:
            return os.path.realpath(line.split("=>")[1].split()[0])
    return "?"


def main():
    ein, rounds = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "9"
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_rmaps_base_oversubscribe="1")
    if os.cpu_count() < max(PROCESSES):
        env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    head = "shape              processes    ours    pdgemm   times as fast   its grid, blocks"
    for m, n, k in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            build(ein, folder, m, n, k)
            if head:
                print(f"BLAS: {blas_of(os.path.join(folder, 'bench'))}\n{head}")
                head = None
            for p in PROCESSES[1:]:
                words = ["mpirun", "-n", str(p), "./bench", str(m), str(n), str(k), rounds]
                procs, our, its, ratio, rows, columns, nb, same = run(words, cwd=folder, env=env).split()
                print(f"{m} x {n} x {k:<6} {procs:>6} {float(our):>12.4f} {float(its):>9.4f} {ratio:>12}      {rows} x {columns}, {nb}   {same}", flush=True)


if __name__ == "__main__":
    main()
