#!/usr/bin/env python3
"""Compares programs on four processes: ein's MPI libraries with automatic plans, PyTorch's DistributedDataParallel
over gloo, and JAX with manual shardings, timed alternately: venv/bin/python ranks.py EIN [--rounds N] [--only NAME
...] [--small].

f32, one thread per process. The cases are in ranks/cases.py; the best of JAX's shardings counts. Bytes are those that
all processes receive in a step. Ours are counted by `ein run --np 4 -v`, and must equal the plan's; PyTorch's are the
gradient buckets that it reduces; JAX's are the collectives of the compiled program, counted as ring algorithms. All
results must agree with ours. Requires mpicc, mpirun, and the peers to compare: NumPy, PyTorch, JAX; the rows of a
missing peer are left out. --small only checks that everything builds and agrees. Prints a table in Markdown: medians
of seconds, and of the ratios of each round."""
import argparse
import json
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = 4
CLOSE = 2e-3  # so far apart may results be, as a share of a result, or of what a step adds to a parameter: norms, for where a sum is nearly 0 relu may turn round
ROUND = 2.0**-22  # and of the parameter, which is rounded
LONG = 600  # seconds that an answer may take
WARM = 2  # steps after the first one, before the first round
ENV = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_rmaps_base_oversubscribe="1", GLOO_SOCKET_IFNAME="lo", PYTHONDONTWRITEBYTECODE="1")


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, env=ENV, **more)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Peer:
    """A process group; each process waits for commands at a pipe, and the first one answers."""

    def __init__(self, name, words, folder, ranks):
        self.name, self.folder = name, folder
        os.makedirs(folder, exist_ok=True)
        pipes = [os.path.join(folder, f"to.{r}") for r in range(ranks)] + [os.path.join(folder, "from")]
        for path in pipes:
            os.mkfifo(path)
        self.to = [open(path, "r+b", buffering=0) for path in pipes[:-1]]  # both ways, so that opening waits for nobody
        self.answers = open(pipes[-1], "r+b", buffering=0)
        self.log = open(os.path.join(folder, "log"), "w+b")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=ENV,
                                        start_new_session=True)

    def ask(self, what):
        for pipe in self.to:
            pipe.write(what.encode() + b"\n")
        line = b""
        for _ in range(LONG):
            if select.select([self.answers], [], [], 1)[0]:
                line += os.read(self.answers.fileno(), 65536)
                if line.endswith(b"\n"):
                    return json.loads(line)
            elif self.process.poll() is not None:
                break
        self.log.seek(0)
        sys.exit(f"{self.name} does not answer `{what}`\n{self.log.read().decode(errors='replace')[-4000:]}")

    def end(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, how)
                self.process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        for pipe in [*self.to, self.answers, self.log]:
            pipe.close()


def build(ein, folder, case, sizes):
    """Builds our program, and returns the bytes that its processes receive: by the plan, and counted."""
    dims = [word for name, n in sizes.items() for word in ("-D", f"{name}={n}")]
    shutil.copy(os.path.join(HERE, "ranks", case.program + ".ein"), os.path.join(folder, "step.ein"))
    run([ein, "build", "step.ein", "--lib", "--target=mpi", "-n", str(RANKS), *dims, "-o", "step"], cwd=folder)
    flags = run(["pkg-config", "--cflags", "--libs", "step/step.pc"], cwd=folder).split()
    run(["mpicc", "-O2", os.path.join(HERE, "ranks", "ours.c"), "-o", "ours", *flags, "-lm"], cwd=folder)
    planned = json.loads(run([ein, "plan", "step.ein", "-n", str(RANKS), *dims, "--format=json"], cwd=folder))["bytes"]
    counted = int(re.search(r"sites received (\d+) bytes",
                            run([ein, "run", "step.ein", "--np", str(RANKS), "-v", *dims], cwd=folder))[1])
    if counted != planned:
        sys.exit(f"{case.name}: the plan says {planned} bytes, but {counted} were received")
    return counted


def ours_whole(numpy, folder, name, like):
    """Assembles an output from the blocks that the processes wrote."""
    whole = numpy.full(like.shape, numpy.nan, numpy.float32)
    for rank in range(RANKS):
        with open(os.path.join(folder, f"{name}.{rank}.at"), encoding="utf-8") as f:
            at = [[int(x) for x in line.split()] for line in f]
        block = numpy.fromfile(os.path.join(folder, f"{name}.{rank}"), numpy.float32).reshape([n for _, n in at])
        whole[tuple(slice(low, low + n) for low, n in at)] = block
    return whole


def compare(case, inputs, ours, peer):
    """Returns the largest difference between results, relative to the tolerance."""
    import numpy
    worst = 0.0
    for file in sorted(f for f in os.listdir(peer.folder) if f.endswith(".npy")):
        name = file.removesuffix(".npy")
        theirs = numpy.load(os.path.join(peer.folder, file))
        mine = ours_whole(numpy, ours.folder, name, theirs)
        before = inputs.get(name.removesuffix("_next"), numpy.zeros((), numpy.float32))
        apart, changed, kept = (float(numpy.linalg.norm(x.astype(numpy.float64)))
                                for x in (mine - theirs, theirs - before, before))
        share = apart / (CLOSE * changed + ROUND * kept)
        if not share <= 1:
            sys.exit(f"{case.name}: {name} of {peer.name} differs by {share:.3g} times the tolerance")
        worst = max(worst, share)
    return worst


def size_text(n):
    return next(f"{n / u:.3g} {w}" for u, w in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")) if n >= u or u == 1)


def measure(ours, peers, rounds):
    """Returns the seconds of all, by round: each does a warm-up step and a timed step."""
    took = {p.name: [] for p in [ours, *peers]}
    for r in range(rounds):
        order = [ours, *peers]
        for p in order[r % len(order):] + order[:r % len(order)]:
            p.ask("step")
            took[p.name].append(p.ask("step"))
    return took


HEAD = """| case | sizes | ours, s | received | peer, cut along | s | received | times as fast | times the bytes |
|---|---|---|---|---|---|---|---|---|"""


def rows(case, sizes, our_bytes, took, told):
    ours = took["ours"]
    first = [case.name, ", ".join(f"{k} {v}" for k, v in sizes.items()), f"{statistics.median(ours):.3f}",
             size_text(our_bytes)]
    lines = []
    for name, said in told.items():
        ratio = statistics.median(t / o for t, o in zip(took[name], ours))
        lines.append([*(first if not lines else [""] * 4), f"{name}, {said['how']}",
                      f"{statistics.median(took[name]):.3f}", size_text(said["bytes"]), f"{ratio:.2f}",
                      f"{said['bytes'] / our_bytes:.3g}"])
    return ["| " + " | ".join(line) + " |" for line in lines or [first + [""] * 5]]


def note(text):
    print(text, file=sys.stderr, flush=True)


def one(ein, case, there, rounds, small):
    sizes = case.small if small else case.sizes
    made = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            our_bytes = build(ein, folder, case, sizes)
            made.append(Peer("ours",
                             ["mpirun", "-n", str(RANKS), os.path.join(folder, "ours"),
                              os.path.join(folder, "of.ours")], os.path.join(folder, "of.ours"), RANKS))
            for name, ranks in (("torch", RANKS), ("jax", 1)):
                if name in there and (name != "torch" or case.ddp):
                    its = os.path.join(folder, "of." + name)
                    made.append(Peer(name,
                                     [sys.executable, os.path.join(HERE, "ranks", "peer.py"), name, its, case.name,
                                      *(["small"] if small else [])], its, ranks))
            ours, peers = made[0], made[1:]
            ours.ask("first")
            told = {p.name: p.ask("first") for p in peers}
            inputs = case.inputs(sizes) if peers else {}
            for p in peers:
                note(f"{case.name}: {p.name} differs by {compare(case, inputs, ours, p):.2g} of what is allowed; {json.dumps(told[p.name])}")
            del inputs
            for p in made:
                for _ in range(WARM):
                    p.ask("step")
            return rows(case, sizes, our_bytes, measure(ours, peers, rounds), told)
        finally:
            for p in made:
                p.end()


def found(words):
    """Returns the installed peers; reports the others with the reason."""
    there = []
    for name in words:
        asked = subprocess.run([sys.executable, "-c", f"import numpy, {name}; print({name}.__version__)"],
                               capture_output=True, text=True, env=ENV, check=False)
        lines = (asked.stderr if asked.returncode else asked.stdout).split("\n")
        note(f"left out: {name} ({lines[-2]})" if asked.returncode else f"{name} {lines[-2]}")
        there += [] if asked.returncode else [name]
    return there


def main():
    sys.path.insert(0, os.path.join(HERE, "ranks"))
    from cases import CASES
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("ein")
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--only", nargs="+", metavar="NAME", choices=[c.name for c in CASES],
                       default=[c.name for c in CASES])
    words.add_argument("--peers", nargs="*", choices=["torch", "jax"], default=["torch", "jax"])
    words.add_argument("--small", action="store_true", help="only check that everything builds and agrees")
    told = words.parse_args()
    if (os.cpu_count() or 1) < RANKS:
        ENV["OMPI_MCA_mpi_yield_when_idle"] = "1"
    there = found(told.peers)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that started processes are ended
    print(HEAD, flush=True)
    for case in CASES:
        if case.name in told.only:
            print("\n".join(one(os.path.abspath(told.ein), case, there, told.rounds, told.small)), flush=True)


if __name__ == "__main__":
    main()
