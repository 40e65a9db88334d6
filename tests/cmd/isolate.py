#!/usr/bin/env python3
"""Tests ein repl --isolate: whatever ends the computing process, the session continues with its variables. isolate.py
EIN, in an empty folder."""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

EIN = sys.argv[1]
SLOW = "sum[i:9000, j:9000, k:9000] (i * j + k) % 7"  # minutes, by whatever
WITHIN = 60
failed = []


def wrong(what):
    failed.append(what)
    print("isolate.py:", what)


def children(pid):
    """Processes whose parent that is, which are not over."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as f:
                state, parent = f.read().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if name.isdigit() and state != "Z" and int(parent) == pid:
            found.append(int(name))
    return found


def worker_of(pid):
    until = time.time() + WITHIN
    while time.time() < until:
        found = children(pid)
        if found:
            return found[0]
        time.sleep(0.02)
    wrong("no worker computes")
    raise SystemExit(1)


def gone(pid):
    until = time.time() + WITHIN
    while time.time() < until:
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


class Session:
    def __init__(self, *words):
        self.p = subprocess.Popen([EIN, "repl", "--json", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def put(self, text):
        self.p.stdin.write(json.dumps(text) + "\n")
        self.p.stdin.flush()

    def get(self):
        return json.loads(self.p.stdout.readline())

    def ask(self, text):
        self.put(text)
        return self.get()

    def end(self):
        self.p.stdin.close()
        return self.p.wait(timeout=WITHIN)


def lost(session, by, says):
    """A signal ends the computing process; definitions and results remain."""
    session.put(SLOW)
    worker = worker_of(session.p.pid)
    os.kill(worker, by)
    got = session.get()
    if got["ok"] or says not in got["error"]:
        wrong(f"after {by!r} it says {got}")
    got = session.ask("a")
    if not got["ok"] or got["values"][0]["data"] != [0, 2, 4]:
        wrong(f"after {by!r} a is {got}")
    got = session.ask("b[i] + a[2-i]")
    if not got["ok"] or got["values"][0]["data"] != [5, 5, 5]:
        wrong(f"after {by!r} a sum is {got}")


def crashes():
    s = Session("--isolate")
    s.ask("a[i:3] = 2 * i")
    s.ask("b[i] = a[i] + 1")
    s.ask("a")
    lost(s, signal.SIGKILL, "signal 9")
    lost(s, signal.SIGSEGV, "the worker ")  # a sanitizer has a handler, and leaves
    lost(s, signal.SIGABRT, "signal 6")
    s.put(SLOW)
    worker_of(s.p.pid)
    s.p.send_signal(signal.SIGINT)
    got = s.get()
    if got["ok"] or got["error"] != "interrupted":
        wrong(f"after Ctrl-C, as a signal, it says {got}")
    if s.ask("b")["values"][0]["data"] != [1, 3, 5]:
        wrong("after Ctrl-C b is gone")
    s.put(SLOW)
    worker = worker_of(s.p.pid)
    s.p.kill()
    s.p.wait()
    if sys.platform == "linux" and not gone(worker):
        wrong("the worker outlives its session")


def same():
    """What is answered does not hang on who computes."""
    lines = ["dim N = 3", "x[i:N] : f32 = i / 2", "x", "x[i] * x[j]", "x[i+1] ?? 0 - 1", "idx[i:N] = i + 1", "x[idx[i]]", "y[i] = x[i+1]", "sum[i] y[i]",
             "assert all[i] (x[i] < 10)", "assert x[0] > 5", ":sites 2", "sum[i] x[i] * x[j]", ":sites 1", "x[i] > 0.2", "n[i:0] = i", "n", ":plot x[i]",
             "big[i:300, j:300] : i64 = i * j + 1", "sum[i] big[i,j] - big[j,i]", "x = 7", "x * 2", "nonsense", ":undo", "m, v = max[i] x[i], 1"]
    one, other = Session("--isolate"), Session()
    for line in lines:
        a, b = one.ask(line), other.ask(line)
        if a != b:
            wrong(f"{line}: {a} and not {b}")
    if one.end() or other.end():
        wrong("a session does not end well")


def terminal():
    """A person's Ctrl-C reaches both, and stops one."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "dumb", "EIN_HISTORY": ""})
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(EIN, [EIN, "repl", "--isolate"])
    seen = ""

    def until(text):
        nonlocal seen
        end = time.time() + WITHIN
        while text not in seen:
            if not select.select([fd], [], [], max(0, end - time.time()))[0]:
                wrong(f"{text!r} does not come, but {seen!r}")
                raise SystemExit(1)
            seen += os.read(fd, 65536).decode(errors="replace")
        seen = seen.partition(text)[2]

    until("ein> ")
    os.write(fd, b"a = 41\n")
    until("ein> ")
    os.write(fd, SLOW.encode() + b"\n")
    worker_of(pid)
    os.write(fd, b"\x03")
    until("interrupted")
    until("ein> ")
    os.write(fd, b"a + 1\n")
    until("i64 = 42")
    until("ein> ")
    os.write(fd, b":quit\n")
    os.waitpid(pid, 0)


if __name__ == "__main__":
    same()
    crashes()
    terminal()
    sys.exit(1 if failed else 0)
