#!/usr/bin/env python3
"""Times compiled programs against other libraries: NumPy, SciPy, opt_einsum, PyTorch (eager and compiled), JAX,
OpenBLAS, and plain C.

    bench/peers.py build/ein [--group NAME ...] [--only ROW ...] [--peers NAME ...] [--threads 1] [--rounds 7] [--json FILE]
                   [--machine FILE] [--processor] [--markdown] [--list] [--small]

A row (bench/peers/groups) is a program, which `ein build --lib` builds, and a function for each peer. Ours and each
peer run in separate processes, which are stopped while another one is timed. Results must agree before anything is
timed. Then ours and all peers are timed alternately: a sample is the mean of as many runs as take 20 ms (or as the
group says), after a quarter as many warm-up runs; a round is one sample of each; the medians of all rounds are
compared. Slow peers get fewer rounds. A peer that is not installed is left out; failures and crashes in a row are
reported. --only takes shell patterns, such as `square_*`. --small makes all sizes tiny and only checks results.
--machine, with a file from `ein machine -o FILE`, also prints the fraction of the roofline (bench/peers/roof.py), by
operations or by bytes.

Prints, for each row, the best peer's time over ours; and for each part of a group the geometric mean of that, the
least, and whether the target is met: the mean must reach it, and each row half of it. The exit code is 1 if a target is
missed, 2 if a program does not build or a result disagrees.

On a machine with other load, pin everything to one core: `taskset -c 1 bench/peers.py build/ein`. With much of it, add
--processor: then the processor's time counts, of one thread, and no sample is repeated.
"""
import argparse
import faulthandler
import fnmatch
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

from einlib import DTYPES, SIZE, duration, shared_make, support_make
from peers.apart import Apart, Trouble
from peers.groups import GROUPS
from peers.libraries import PEERS, environment_set
from peers.roof import Roof
from peers.steady import Steady
from peers.worker import LONG, WARM, OursWorker, PeerWorker

HERE = os.path.dirname(os.path.abspath(__file__))


class Work:
    """Shared by all rows: the options, a folder, helpers in C, and the workers of ours and of the installed peers."""

    def __init__(self, options, folder):
        self.ein, self.cc = os.path.abspath(options.ein), options.cc
        self.threads, self.rounds, self.small = options.threads, options.rounds, options.small
        self.roof = Roof(options.machine, options.threads) if options.machine else None
        self.folder = folder
        self.support = support_make(self.cc, folder)
        self.calls = shared_make(self.cc, os.path.join(HERE, "peers", "calls.c"), ["-O2"], folder)
        self.clock = time.process_time if options.processor else time.perf_counter
        self.steady = None if options.small or options.processor else Steady(self.cc, folder, options.threads)
        said = subprocess.run([self.ein, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        self.versions, self.left_out = {"ein": said.stdout.split()[-1]}, {}
        self.ours, self.peers = Apart(lambda: OursWorker(self)), {}

    def peers_load(self, names):
        """Loads all peers at once, before anything is timed."""
        self.peers = {kind.name: Apart(lambda kind=kind: PeerWorker(self, kind), "load") for kind in PEERS if kind.name in names}
        for worker in self.peers.values():
            worker.tell("load")
        for name, worker in list(self.peers.items()):
            try:
                self.versions[name] = worker.answer()
            except Trouble as e:
                self.left_out[name] = (str(e) or e.kind).splitlines()[0]
                self.peers.pop(name).end()


# ---- one row ------------------------------------------------------------------------------------------

def peers_bind(work, row, shapes, notes):
    """Returns the workers of the peers that have the row and agree with ours, ready to be timed."""
    bound = {}
    for name in row.peers:
        if name not in work.peers:
            continue
        try:
            far = work.peers[name].ask("bind", row.name, shapes)
        except Trouble as e:
            fails_note(notes, name, e)
            continue
        if far > 1:
            notes.append(f"**disagrees** with {name}, {far:.3g} times what is allowed")
        else:
            bound[name] = work.peers[name]
    return bound


def fails_note(notes, name, e):
    notes.append(" ".join(f"{name} fails: {e.kind} {e}".split())[:200])


class Turns:
    """A worker's samples of a row, up to a maximum number. A worker that has failed takes no more."""

    def __init__(self, name, worker, notes):
        self.name, self.worker, self.notes = name, worker, notes
        self.samples, self.left, self.times = [], 0, 1

    def ask(self, *words):
        try:
            return self.worker.ask(*words)
        except Trouble as e:
            fails_note(self.notes, self.name, e)
            self.samples, self.left = [], 0
            return None

    def pace(self, sample, rounds):
        found = self.ask("pace", sample)
        if found:
            one, self.times = found
            self.samples = [one] if one > LONG else []
            runs = self.times + math.ceil(self.times / WARM)
            self.left = 0 if one > LONG else max(1, min(rounds, int(LONG / (one * runs))))

    def take(self, steady):
        if self.left:
            self.left -= 1
            took = steady.sample(self.sample) if steady else self.sample()
            self.samples += [took] if took else []

    def sample(self):
        return self.ask("sample", self.times)


def samples_take(work, workers, sample, notes):
    """Returns lists of seconds by name. In each round each worker takes a sample, unless its time is used up."""
    turns = [Turns(name, worker, notes) for name, worker in workers.items()]
    for one in turns:
        one.pace(sample, work.rounds)
    for _ in range(work.rounds):
        for one in turns:
            one.take(work.steady)
    return {one.name: one.samples for one in turns if one.samples}


def row_free(work, row):
    for worker in [work.ours] + [work.peers[name] for name in row.peers if name in work.peers]:
        try:
            worker.ask("free")
        except Trouble:
            pass  # it begins anew with the next row


def measure(work, row, sample):
    """Returns a dict; `ours` is None if there is no library."""
    notes, result = [], {"row": row.name, "sizes": row.sizes, "ours": None, "peers": {}, "rate": "", "samples": {}}
    try:
        shapes = work.ours.ask("bind", row.name)
    except Trouble as e:
        print(f"{row.name}: {e}", file=sys.stderr)
        return {**result, "notes": ["**does not build or run**"], "broken": True}
    bound = peers_bind(work, row, shapes, notes)
    samples = samples_take(work, {"ours": work.ours, **bound}, sample, notes)
    row_free(work, row)
    medians = {name: statistics.median(s) for name, s in samples.items()}
    result.update(ours=medians.pop("ours", None), samples=samples, peers=medians, notes=notes)
    result["broken"] = result["ours"] is None or any("disagrees" in n for n in notes)
    if result["ours"]:
        reached_add(work, row, shapes, result)
    return result


def reached_add(work, row, shapes, result):
    moved = sum(math.prod(shape) * SIZE[dtype] for side in shapes for _, dtype, shape, _ in side)
    result["rate"] = rate(row, moved, result["ours"])
    roof = work.roof and work.roof.seconds(row, DTYPES[shapes[1][0][1]], moved)
    if roof:
        result["roof"] = {"seconds": roof[0], "by": roof[1], "reached": roof[0] / result["ours"]}


def rate(row, moved, t):
    return f"{row.flops / t / 1e9:.1f} GFLOP/s" if row.flops else f"{moved / t / 1e9:.1f} GB/s"


# ---- output ----------------------------------------------------------------------------------------

class Table:
    HEAD = ("row", "ours", "ours reaches", "of the roof", "best peer", "its time", "theirs / ours", "all others")
    WIDTH = (24, 10, 15, 14, 10, 10, 13, 0)

    def __init__(self, markdown):
        self.markdown = markdown

    def line(self, cells):
        if self.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
        else:
            print("  ".join(c.ljust(w) for c, w in zip(cells, self.WIDTH)).rstrip().replace("**", ""), flush=True)

    def part_begin(self, title, target):
        aim = f"target {target:g}" if target is not None else "no target"
        print(f"\n{'### ' if self.markdown else ''}{title}, {aim}\n")
        self.line(self.HEAD)
        if self.markdown:
            self.line(["---"] * len(self.HEAD))

    def row(self, r, part):
        best = best_of(r, part)
        others = [f"{n} {duration(t)}" for n, t in sorted(r["peers"].items(), key=lambda p: p[1]) if n != best] + r["notes"]
        roof = r.get("roof")
        cells = [r["row"], duration(r["ours"]) if r["ours"] else "", r["rate"]]
        cells.append(f"{roof['reached']:.0%} {roof['by']}" if roof else "")
        cells += [best, duration(r["peers"][best]), f"{r['peers'][best] / r['ours']:.2f}"] if best else ["", "", ""]
        self.line(cells + [", ".join(others)])

    def part_end(self, p):
        if p["mean"] is None:
            said = "nothing to compare with"
        else:
            said = f"geometric mean {p['mean']:.2f}, least {p['least']:.2f}"
            if p["met"] is not None:
                said += ": target met" if p["met"] else ": target **missed**"
        print("\n" + (said if self.markdown else said.replace("**", "")), flush=True)


def best_of(r, part):
    """Returns the fastest peer that counts, or None."""
    counted = [n for n in r["peers"] if not part.against or n in part.against]
    return min(counted, key=r["peers"].get, default=None) if r["ours"] else None


def summary(group, part, results, small):
    ratios = [r["peers"][best_of(r, part)] / r["ours"] for r in results if best_of(r, part)]
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
    least = min(ratios, default=None)
    met = None
    if ratios and part.target is not None and not small:
        met = mean >= part.target and least >= part.target / 2
    return {"group": group.name, "part": part.name, "target": part.target, "against": list(part.against),
            "mean": mean, "least": least, "met": met, "rows": [r["row"] for r in results]}


# ---- the whole run ------------------------------------------------------------------------------------

def chosen(parser, options):
    """Yields the groups, with the chosen rows."""
    for name in options.group or []:
        if name not in [g.name for g in GROUPS]:
            parser.error(f"there is no group {name}; there are {' '.join(g.name for g in GROUPS)}")
    wanted = options.only or ["*"]
    for group in GROUPS:
        if options.group and group.name not in options.group:
            continue
        parts = [(p, [r for r in p.rows if any(fnmatch.fnmatchcase(r.name, w) for w in wanted)]) for p in group.parts]
        if any(rows for _, rows in parts):
            yield group, [(p, rows) for p, rows in parts if rows]


def listing(groups):
    for group, parts in groups:
        for part, rows in parts:
            print(f"{group.name}: {part.name}" + (f", target {part.target:g}" if part.target is not None else ""))
            for row in rows:
                print(f"  {row.name}  {' '.join(sorted(' '.join(row.peers).split()))}")


def run(work, groups, table):
    results, parts_done = {}, []
    for group, parts in groups:
        for part, rows in parts:
            table.part_begin(f"{group.name}: {part.name}" if part.name != group.name else group.name, part.target)
            for row in rows:
                if row.name not in results:
                    results[row.name] = measure(work, row.at(work.small), 0.0005 if work.small else group.sample)
                table.row(results[row.name], part)
            parts_done.append(summary(group, part, [results[r.name] for r in rows], work.small))
            table.part_end(parts_done[-1])
    return list(results.values()), parts_done


def peers_wanted(parser, options, groups):
    known = [k.name for k in PEERS]
    for name in options.peers or []:
        if name not in known:
            parser.error(f"there is no peer {name}; there are {' '.join(known)}")
    used = {n for _, parts in groups for _, rows in parts for r in rows for names in r.peers for n in names.split()}
    return used & set(options.peers or known)


def options_parse():
    parser = argparse.ArgumentParser(description="Times compiled programs against other libraries.")
    parser.add_argument("ein")
    parser.add_argument("--group", action="extend", nargs="+", metavar="NAME")
    parser.add_argument("--only", action="extend", nargs="+", metavar="ROW")
    parser.add_argument("--peers", action="extend", nargs="+", metavar="NAME")
    parser.add_argument("--threads", type=int, default=1, help="threads of ours and of each peer")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cc", default="gcc", help="the C compiler for plain C")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--machine", metavar="FILE", help="a machine file; prints the fraction of its roofline")
    parser.add_argument("--processor", action="store_true", help="measure the processor's time, of one thread")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    parser.add_argument("--list", action="store_true", help="only list the rows and their peers")
    parser.add_argument("--small", action="store_true", help="tiny sizes: only check results")
    parser.add_argument("--keep", metavar="FOLDER", help="the build folder (default: a temporary one)")
    options = parser.parse_args()
    if options.processor and options.threads != 1:
        parser.error("--processor is for one thread: threads that wait for others use the processor, too")
    groups = list(chosen(parser, options))
    if not groups:
        parser.error("there is no such row; --list prints all rows")
    return options, groups, peers_wanted(parser, options, groups)


def run_all(options, groups, names, folder, dropped):
    """Returns the results for the JSON file."""
    os.makedirs(folder, exist_ok=True)
    work = Work(options, folder)
    try:
        work.peers_load(names)
        print(f"{options.threads} thread{'s' if options.threads > 1 else ''}{', processor time' * options.processor}; "
              + ", ".join(f"{n} {v}" for n, v in work.versions.items()))
        for name, why in work.left_out.items():
            print(f"left out: {name} ({why})")
        if dropped:
            print(f"ignored from the environment: {' '.join(dropped)}")
        results, parts = run(work, groups, Table(options.markdown))
        again = work.steady.again if work.steady else 0
        if again:
            print(f"\n{again} samples were taken again, as the processors were slower than before")
    finally:
        Apart.end_all()
    return {"format": "ein peers 1", "threads": options.threads, "rounds": options.rounds, "small": options.small,
            "versions": work.versions, "left_out": work.left_out, "dropped": dropped, "again": again, "parts": parts, "rows": results}


def main():
    options, groups, names = options_parse()
    if options.list:
        listing(groups)
        return 0
    faulthandler.enable()
    dropped = environment_set(options.threads)
    with tempfile.TemporaryDirectory() as temporary:
        said = run_all(options, groups, names, os.path.abspath(options.keep or temporary), dropped)
    if options.json:
        with open(options.json, "w") as f:
            json.dump(said, f, indent=1)
            f.write("\n")
    if any(r["broken"] for r in said["rows"]):
        return 2
    return 1 if any(p["met"] is False for p in said["parts"]) else 0


if __name__ == "__main__":
    sys.exit(main())
