#!/usr/bin/env python3
"""The resident memory of the processes of a built MPI program, beside the memory of its plan: resident.py EIN [--ranks
2,3,4] [NAME ...]

Of each program below the highest resident memory of every process (VmHWM) is taken at its end, and that of a process of
a C program that only begins and ends MPI is taken off. What is left may be 5 % and 20 MB above the plan's memory, for
the busiest site. Inputs are generated, so that tensors alone are in memory. With --memory F each program is built for F
times the memory that its plan takes otherwise, and its processes must keep to that. Prints a row in Markdown for each;
exits with 1 if a process takes more."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

PROGRAMS = {
    "product, f32": "input A[i:4000,k:200], B[k:200,j:8000] : f32\noutput C[i,j] = sum[k] A[i,k]*B[k,j]\n",
    "product, f64, long": "input A[i:100,k:100000], B[k:100000,j:100] : f64\noutput C[i,j] = sum[k] A[i,k]*B[k,j]\n",
    "product, f16": "input A[i:5000,k:32], B[k:32,j:5000] : f16\noutput C[i,j] = max(0, sum[k] A[i,k]*B[k,j])\n",
    "chain of three": "input A[i:5000,k:100], B[k:100,l:5000], C[l:5000,j:100] : f32\n"
                      "T[i,l] = max(0, sum[k] A[i,k]*B[k,l])\n"
                      "output D[i,j] = sum[l] T[i,l]*C[l,j]\n",
    "attention": "input Q[h:8,s:1024,d:32], K[h:8,t:1024,d:32], V[h:8,t:1024,d:32] : f32\n"
                 "T[h,s,t] = softmax[t](sum[d] Q[h,s,d]*K[h,t,d] / 8)\noutput Y[h,s,d] = sum[t] T[h,s,t]*V[h,t,d]\n"
                 "output Z[h,s,t] = T[h,s,t]\n",
    "softmax of columns": "input X[i:4000,j:4000] : f32\noutput Y[i,j] = softmax[i](X[i,j])\n",
    "heat": "input X[n:4000,m:4000] : f32\nrepeat t < 5 {\n  state U[n:4000,m:4000] : f32 = X[n,m]\n"
            "  next U[n,m] = if n > 0 and n < 3999 then 0.25*U[n-1,m] + 0.5*U[n,m] + 0.25*U[n+1,m] else U[n,m]\n}\n"
            "output Y[n,m] = U[n,m]\n",
    "convolution": "input X[c:2,y:2000,x:2000], W[o:4,c:2,u:3,v:3] : f32\n"
                   "output Z[o,y:1998,x:1998] = sum[c,u,v] X[c,y+u,x+v]*W[o,c,u,v]\n",
    "means": "input X[n:400000,d:32], C[k:16,d:32] : f32\nB[n] = argmin[k] (sum[d] (X[n,d]-C[k,d])*(X[n,d]-C[k,d]))\n"
             "output S[k:16,d] = sum[n where B[n] == k] X[n,d]\noutput N[k:16] = sum[n where B[n] == k] 1.0\n",
    "step of training": "input X[b:64,d:4000], G[b:64,l:500], W[d:4000,h:4000], V[h:4000,l:500] : f32\n"
                        "H[b,h] = max(0, sum[d] X[b,d]*W[d,h])\nP[b,l] = sum[h] H[b,h]*V[h,l]\n"
                        "loss = sum[b,l] (P[b,l] - G[b,l])*(P[b,l] - G[b,l])\n"
                        "output W2[d,h] = W[d,h] - 0.01*grad(loss, W[d,h])\n"
                        "output V2[h,l] = V[h,l] - 0.01*grad(loss, V[h,l])\n",
    "sums so far": "input X[n:10000000] : f64\noutput Y[n:10000000] = sum[m where m <= n] X[m]\n",
    "rows by number": "input E[v:200000,d:64] : f32\ninput T[s:100000] : i64\noutput Y[s,d] = E[T[s],d]\n",
}
GIVEN = {"rows by number": ["T=randint:lo=0:hi=200000:seed=1"]}
WATCH = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void __attribute__((destructor)) tell(void) {
  char line[256], name[4096];
  const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *to = getenv("EIN_TEST_RESIDENT");
  FILE *f = rank && to ? fopen("/proc/self/status", "r") : NULL;
  if (!f) return;
  snprintf(name, sizeof name, "%s.%s", to, rank);
  FILE *out = fopen(name, "w");
  while (out && fgets(line, sizeof line, f))
    if (strncmp(line, "VmHWM:", 6) == 0) fputs(line + 6, out);
  if (out) fclose(out);
  fclose(f);
}
"""
EMPTY = "#include <mpi.h>\nint main(int n, char **a) {\n  MPI_Init(&n, &a);\n  MPI_Barrier(MPI_COMM_WORLD);\n  return MPI_Finalize();\n}\n"


def call(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def resident(folder, ranks, command):
    """Bytes, by rank."""
    to = os.path.join(folder, "resident")
    env = {**os.environ, "EIN_TEST_RESIDENT": to, "OMP_NUM_THREADS": "1"}
    call(["mpirun", "-n", str(ranks), "-x", "EIN_TEST_RESIDENT", "-x", f"LD_PRELOAD={folder}/watch.so", *command],
         env=env)
    return [1024 * int(open(f"{to}.{k}", encoding="utf-8").read().split()[0]) for k in range(ranks)]


def planned(ein, path, ranks, words):
    memory = json.loads(call([ein, "plan", path, "-n", str(ranks), "--format=json", *words]))["memory"]
    return memory["bytes"] + memory["kernel_bytes"]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("names", nargs="*")
    args.add_argument("--ranks", default="2,3,4")
    args.add_argument("--memory", type=float, default=0)
    args = args.parse_intermixed_args()
    ein, over = os.path.abspath(args.ein), 0
    print("| program | processes | plan | above an empty one, most | limit |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        call(["cc", "-shared", "-fPIC", written(folder, "watch.c", WATCH), "-o", f"{folder}/watch.so"])
        call(["mpicc", written(folder, "empty.c", EMPTY), "-o", f"{folder}/empty"])
        for name in args.names or PROGRAMS:
            path = written(folder, "x.ein", PROGRAMS[name])
            for n in map(int, args.ranks.split(",")):
                words = []
                plan = planned(ein, path, n, words)
                if args.memory:
                    words = [f"--memory={int(plan * args.memory)}B"]
                    plan = planned(ein, path, n, words)
                call([ein, "build", path, "--target=mpi", "-n", str(n), "--flags=-O1", "-o", f"{folder}/x", *words])
                asked = [w.split(":")[0].split("[")[0] for line in PROGRAMS[name].splitlines()
                         if line.startswith("input")
                         for w in line[6:].replace("],", "]\n").split("\n")]
                given = GIVEN.get(name, [])
                given = given + [f"{a.strip()}=randn:seed=1" for a in asked
                                 if not any(g.startswith(a.strip() + "=") for g in given)]
                outputs = [line.split("[")[0].split()[1] for line in PROGRAMS[name].splitlines()
                           if line.startswith("output")]
                none = max(resident(folder, n, [f"{folder}/empty"]))
                most = max(resident(folder, n,
                                    [f"{folder}/x", *given,
                                     *(w for o in outputs for w in ("-o", f"{o}={folder}/{o}.npy"))])) - none
                limit = plan * 1.05 + 20e6
                over += most > limit
                print(f"| {name} | {n} | {plan / 1e6:.1f} MB | {most / 1e6:.1f} MB | {limit / 1e6:.1f} MB{'' if most <= limit else ', more'} |", flush=True)
    return over > 0


if __name__ == "__main__":
    sys.exit(main())
