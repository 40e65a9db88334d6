#!/usr/bin/env python3
"""A plan's memory is its tasks' peak: what `ein plan -n P` reports is worked out anew from the text of `--format=task`, buffer by
buffer, at every site.

memory.py EIN --sites=2,3,8 FILE...: exit 1 and a line a difference; 1 too where nothing was compared."""
import itertools
import json
import re
import subprocess
import sys

SIZE = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
BUFFER = re.compile(r"buffer %\d+ (input|output|work)(?: \d+)?(?: [^\[ ]\S*)? ?\[(.*?)\] : (\w+)(?: low \[.*?\])?(?: when (\(.*?\)))?"
                    r"(?: alive (\d+)\.\.(\d+))?(?: @.*)?$")


def code(text):
    return compile(text.replace("$", ""), "text", "eval")


def buffers(text):
    """(dims, bytes of an element, when, first, last); the caller's have neither step."""
    for line in text.splitlines():
        if line.startswith("buffer "):
            space, dims, dtype, when, first, last = BUFFER.match(line).groups()
            alive = (int(first), int(last)) if space == "work" else None
            yield code(f"[{dims}]"), SIZE[dtype], code(when or "True"), alive


def peak(text):
    mesh = re.search(r"^mesh(.*)$", text, re.M)
    sizes = [int(n) for n in mesh.group(1).split()] if mesh else []
    all_of_them = list(buffers(text))
    most = 0
    for place in itertools.product(*map(range, sizes)):
        at = {f"at{k}": i for k, i in enumerate(place)} | {"min": min, "max": max}
        steps, always = {}, 0
        for dims, size, when, alive in all_of_them:
            for n in eval(dims, at):
                size *= max(n, 0)
            if not eval(when, at):
                continue
            if alive is None:
                always += size
                continue
            steps[alive[0]] = steps.get(alive[0], 0) + size
            steps[alive[1] + 1] = steps.get(alive[1] + 1, 0) - size
        most = max(most, always + max(itertools.accumulate([0] + [steps[s] for s in sorted(steps)])))
    return most


def ran(ein, path, sites, form):
    return subprocess.run([ein, "plan", path, "-n", sites, f"--format={form}"], capture_output=True, text=True)


def check(ein, path, sites):
    """True, or why not; None: there is no such plan."""
    plan, tasks = ran(ein, path, sites, "json"), ran(ein, path, sites, "task")
    if plan.returncode == 2:
        return None
    if plan.returncode:
        return plan.stderr.strip()
    memory = json.loads(plan.stdout)["memory"]
    if tasks.returncode:
        return "it is measured, and has no tasks" if memory["measured"] else None
    want = peak(tasks.stdout)
    return memory["measured"] and memory["bytes"] == want or f"{memory['bytes']} bytes, and its tasks have {want}"


def main(ein, sites, *paths):
    compared, wrong = 0, 0
    for path, n in itertools.product(paths, sites.split("=")[1].split(",")):
        found = check(ein, path, n)
        compared += found is True
        if found not in (True, None):
            wrong += 1
            print(f"{path}, {n} sites: {found}")
    print(f"{compared} plans, {wrong} whose memory is another")
    return wrong > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
