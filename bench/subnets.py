#!/usr/bin/env python3
"""Independent subnet training beside data parallelism (docs/papers.md): what they learn, what that moves, how long it takes on a modelled network.

    bench/subnets.py build/ein [--machine samples/machines/r5d_10.json] [--goal 0.75] [--curves]

The task is made up, and it is the samples' own: examples are normal, and a random linear teacher of fixed seed says their classes. There are so many
examples and so many a step in all (SIZES), of which each site has its share, so that data parallelism does the same on any number of sites. Each method
(METHODS) is a sample of samples/papers and the number of steps between exchanges; it is run anew for each number of STEPS, on one site,
for where it is cut changes an answer in its last bits alone. Bytes and seconds are of `ein plan -n SITES --machine`: with `--planner=data`, which cuts
examples, where each site has the whole net, and of subnets the plan that was found best by seconds. A method is at the goal after the first of STEPS from which on it is right so often; its bytes and seconds are of a run of that many.
"""
import argparse
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PAPERS = os.path.join(HERE, "..", "samples", "papers")
SIZES = {"D": 96, "H": 256, "C": 8, "E": 2000}
EXAMPLES, BATCH = 3072, 128  # of all sites together
SITES = (2, 4, 8)
STEPS = (20, 40, 60, 80, 100, 140, 200, 300, 400, 600)
METHODS = (("data parallel", "local_sgd", 1, ["--planner=data"]), ("local SGD, every 10", "local_sgd", 10, ["--planner=data"]), ("subnets, every 10", "subnets", 10, []))


def words_of(sites, every, steps):
    sizes = {"S": sites, "B": BATCH // sites, "M": EXAMPLES // sites, "J": every, "R": steps // every, **SIZES}
    return [w for k, v in sizes.items() for w in ("-D", f"{k}={v}")]


def said(words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def right(ein, name, words):
    """Of new examples, which part the trained net is right for."""
    return float(said([ein, "run", f"{PAPERS}/{name}.ein", *words]).split("=")[1])


def cost(ein, name, sites, words, machine, planner):
    """The bytes that all sites receive, and seconds."""
    plan = json.loads(said([ein, "plan", f"{PAPERS}/{name}.ein", "-n", str(sites), *words, "--machine", machine, *planner, "--format=json"]))
    return plan["bytes"], plan["seconds"]


def percent(x):
    return f"{100 * x:.1f} %"


def megabytes(n):
    return f"{n / 1e6:,.1f} MB"


def milliseconds(s):
    return f"{1e3 * s:,.1f} ms"


def row(options, sites, method):
    """The end, and when the goal was reached for good."""
    title, name, every, planner = method
    curve = [(steps, right(options.ein, name, words_of(sites, every, steps))) for steps in STEPS]
    last = STEPS[-1]
    late = [steps for steps, part in curve if part < options.goal]
    there = [steps for steps, _ in curve if not late or steps > late[-1]]

    def at(steps):
        return cost(options.ein, name, sites, words_of(sites, every, steps), options.machine, planner)
    whole = at(last)
    cells = [str(sites), title, percent(curve[-1][1]), megabytes(whole[0]), milliseconds(whole[1])]
    if there:
        first = at(there[0])
        cells += [str(there[0]), megabytes(first[0]), milliseconds(first[1])]
    else:
        cells += ["never", "", ""]
    return cells, curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ein")
    parser.add_argument("--machine", default=os.path.join(HERE, "..", "samples", "machines", "r5d_10.json"))
    parser.add_argument("--goal", type=float, default=0.75, help="what part of new examples is to be right (default 0.75)")
    parser.add_argument("--curves", action="store_true", help="what is right after each number of steps, too")
    options = parser.parse_args()
    print(f"| sites | method | right after {STEPS[-1]} steps | received | seconds, modelled | steps to {percent(options.goal)} | received | seconds, modelled |")
    print("|---|---|---|---|---|---|---|---|")
    for sites in SITES:
        for method in METHODS:
            cells, curve = row(options, sites, method)
            print("| " + " | ".join(cells) + " |", flush=True)
            if options.curves:
                print("#   " + ", ".join(f"{steps}: {percent(part)}" for steps, part in curve), flush=True)


if __name__ == "__main__":
    main()
