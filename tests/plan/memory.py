#!/usr/bin/env python3
"""Checks that the memory of a plan is the peak of its tasks: recomputes the report of `ein plan -n P` from the text of
`--format=task`, buffer by buffer, at every site.

memory.py EIN --sites=2,3,8 FILE...: prints a line for each difference; exits with 1 if there are any, or if nothing
was compared. If EIN_TURN is a number, it selects one file of four."""
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "share"))
from count_tasks import Tasks  # noqa: E402


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
    _, want = Tasks(tasks.stdout).counted
    return memory["measured"] and memory["bytes"] == want or f"{memory['bytes']} bytes, and its tasks have {want}"


def main(ein, sites, *paths):
    compared, wrong = 0, 0
    turn = os.environ.get("EIN_TURN")
    if turn:
        paths = paths[int(turn) % 4::4]
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
