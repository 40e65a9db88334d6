#!/usr/bin/env python3
"""Tests a long session of the prompt: turns.py EIN N evaluates N expressions in one session: new ones, which are
compiled, repeated ones, and wrong ones. The memory of the process and the time of a turn must not grow; otherwise it
prints a line and exits with 1. The first fifth of the turns is a warm-up."""
import json
import os
import subprocess
import sys

EIN, N = sys.argv[1], int(sys.argv[2])
TICK = os.sysconf("SC_CLK_TCK")


class Session:
    def __init__(self):
        self.p = subprocess.Popen([EIN, "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, text):
        self.p.stdin.write(json.dumps(text) + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())

    def kilobytes(self):
        with open(f"/proc/{self.p.pid}/status") as f:
            return int(next(line for line in f if line.startswith("VmRSS")).split()[1])

    def seconds(self):
        """Of the processor: whoever else is at work does not count."""
        with open(f"/proc/{self.p.pid}/stat") as f:
            words = f.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / TICK


def expression(k):
    """One of ten is new, one is wrong, the others were asked before."""
    if k % 10 == 0:
        return f"sum[i] A[i,j] * {k + 0.5}"
    if k % 10 == 1:
        return f"A[i,j] + nothing{k}"
    return ["A[i,j] * 2", "sum[i] exp(A[i,j])", "sum[j] A[i,j] * A[k,j]", "max[j] A[i,j]", "softmax[j](A[i,j])",
            "A[j,i] - A[i,j]", "B[i]", "sum[i] B[i]"][k % 10 - 2]


def main():
    s = Session()
    for text in ("A[i:9, j:9] : f32 = i - 0.1 * j", "B[i] = sum[j] A[i,j]"):
        assert s.ask(text)["ok"], text
    marks = []
    for k in range(N):
        answer = s.ask(expression(k))
        if answer["ok"] != (k % 10 != 1):
            sys.exit(f"turn {k}: {answer}")
        if (k + 1) % (N // 5) == 0:
            marks.append((s.kilobytes(), s.seconds()))
    s.p.stdin.close()
    if s.p.wait():
        sys.exit(f"the session ended with {s.p.returncode}")
    kb = [m[0] for m in marks]
    cost = [b[1] - a[1] for a, b in zip(marks, marks[1:])]
    told = f"KB after each fifth of {N} turns: {kb}; seconds of a fifth, from the second on: {[round(c, 2) for c in cost]}"
    print(told)
    if kb[-1] * 100 > kb[0] * MOST:
        sys.exit("memory grows: " + told)
    if cost[-1] > 1.5 * cost[0] + 0.1:
        sys.exit("turns get slower: " + told)


MOST = 101  # percent
main()
