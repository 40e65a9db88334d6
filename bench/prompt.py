#!/usr/bin/env python3
"""Times the answers of the prompt: prompt.py EIN [SESSIONS]. A turn is timed from the request to the answer of `ein
repl --json`. `first`: the first expression of a session, none of whose kernels is compiled yet; `then`: such an
expression later in the session; `warm`: the same expression again. The headers that Clang parses ahead are already
cached, as after the first session of a build. A session waits a moment before the first expression, as for a person
who types: Clang is opened then. Prints medians."""
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

from time import perf_counter, sleep

ELEMENTWISE, OTHER = "A[i,j] * 2 + 1", "exp(A[i,j]) - 3"
PRODUCT = "sum[k] A[i,k] * A[k,j]"
LAYERNORM = "(A[i,j] - (sum[k:64] A[i,k]) / 64) / sqrt((sum[k:64] (A[i,k] - (sum[q:64] A[i,q]) / 64)^2) / 64 + 0.00001)"
ATTENTION = "sum[t:64] softmax[t](sum[d:64] A[s,d] * A[t,d] / 8) * A[t,e]"
TYPING = 0.2  # seconds
GOALS = {"elementwise first": 60, "product first": 80, "layernorm first": 55, "attention first": 330, "elementwise then": 20, "product then": 30,
         "elementwise warm": 2, "product warm": 2}


def thirty():
    """Equations, each of which reads the previous one: maps, transposed maps, products."""
    yield "E0[i,j] = A[i,j] * 2"
    for n in range(1, 30):
        yield f"E{n}[i,j] = " + [f"E{n - 1}[j,i] * {n + 0.5} + 1", f"0.01 * (sum[k] E{n - 1}[i,k] * E{n - 1}[k,j]) + {n}",
                                 f"exp(-E{n - 1}[i,j]) + A[j,i] * {n}"][n % 3]


class Session:
    def __init__(self, ein, cache):
        env = dict(os.environ, XDG_CACHE_HOME=cache)
        self.p = subprocess.Popen([ein, "repl", "--json", "--target=jit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        for text in ("input A[i:64, j:64] : f32", 'A = load("randn:seed=1")'):
            self.ask(text)
        sleep(TYPING)

    def ask(self, text):
        """Returns milliseconds."""
        begun = perf_counter()
        self.p.stdin.write(json.dumps(text) + "\n")
        self.p.stdin.flush()
        answer = json.loads(self.p.stdout.readline())
        took = perf_counter() - begun
        if not answer["ok"]:
            sys.exit(f"{text}: {answer['error']}")
        return took * 1e3

    def end(self):
        """Ends the session; returns the megabytes that it held."""
        with open(f"/proc/{self.p.pid}/status") as f:
            held = int(next(line for line in f if line.startswith("VmRSS")).split()[1])
        self.p.stdin.close()
        self.p.wait()
        return held / 1024


def measure(ein, sessions, cache):
    took = {}

    def note(name, value):
        took.setdefault(name, []).append(value)

    def cold():
        for path in glob.glob(cache + "/ein/kernel-*"):
            os.unlink(path)
        return Session(ein, cache)

    s = cold()
    s.ask(ELEMENTWISE)
    s.end()
    for _ in range(sessions):
        for name, text in (("elementwise", ELEMENTWISE), ("product", PRODUCT), ("layernorm", LAYERNORM), ("attention", ATTENTION)):
            s = cold()
            note(name + " first", s.ask(text))
            note(name + " warm", s.ask(text))
            s.end()
        s = cold()
        s.ask("A[0,0]")
        note("elementwise then", s.ask(OTHER))
        note("product then", s.ask(PRODUCT))
        s.end()
    for _ in range(max(1, sessions // 4)):
        s = cold()
        for text in thirty():
            s.ask(text)
        note("thirty equations first", s.ask("E29[0,0]"))
        note("memory after it, MB", s.end())
    return took


def main():
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as cache:
        for name, all in measure(os.path.abspath(sys.argv[1]), sessions, cache).items():
            goal = f"  goal {GOALS[name]}" if name in GOALS else ""
            print(f"{name:24} median {statistics.median(all):7.1f}  least {min(all):7.1f}  of {len(all)}{goal}")


main()
