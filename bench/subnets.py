#!/usr/bin/env python3
"""Independent subnet training compared with data parallelism (docs/papers.md): accuracy, bytes moved, and time on a
modelled network.

    bench/subnets.py build/ein [--machine samples/machines/r5d_10.json] [--goal 0.75] [--curves]

The task is synthetic, the same as in the samples: examples are normal, and a random linear teacher with a fixed seed
gives their classes. EXAMPLES and BATCH, the examples per step, are totals that are divided among the sites, so data
parallelism computes the same on any number of sites. Each method (METHODS) is a sample of samples/papers and the number
of steps between exchanges. It is run anew for each number in STEPS, on one site, because cuts change only the last
bits. Bytes and seconds are from `ein plan -n SITES --machine`: with `--planner=data`, which cuts examples, for methods
where each site has the whole net; for subnets, with the fastest plan found. A method reaches the goal at the first
number in STEPS from which on its accuracy stays there; its bytes and seconds are those of a run of that length. """
import argparse
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PAPERS = os.path.join(HERE, "..", "samples", "papers")
SIZES = {"D": 96, "H": 256, "C": 8, "E": 2000}
EXAMPLES, BATCH = 3072, 128  # totals over all sites
SITES = (2, 4, 8)
STEPS = (20, 40, 60, 80, 100, 140, 200, 300, 400, 600)
METHODS = (("data parallel", "local_sgd", 1, ["--planner=data"]),
           ("local SGD, every 10", "local_sgd", 10, ["--planner=data"]), ("subnets, every 10", "subnets", 10, []))


def words_of(sites, every, steps):
    sizes = {"S": sites, "B": BATCH // sites, "M": EXAMPLES // sites, "J": every, "R": steps // every, **SIZES}
    return [w for k, v in sizes.items() for w in ("-D", f"{k}={v}")]


def said(words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def right(ein, name, words):
    """The accuracy of the trained net on new examples."""
    return float(said([ein, "run", f"{PAPERS}/{name}.ein", *words]).split("=")[1])


def cost(ein, name, sites, words, machine, planner):
    """The bytes that all sites receive, and the seconds."""
    plan = json.loads(said([ein, "plan", f"{PAPERS}/{name}.ein", "-n", str(sites), *words, "--machine", machine,
                            *planner, "--format=json"]))
    return plan["bytes"], plan["seconds"]


def percent(x):
    return f"{100 * x:.1f} %"


def megabytes(n):
    return f"{n / 1e6:,.1f} MB"


def milliseconds(s):
    return f"{1e3 * s:,.1f} ms"


def row(options, sites, method):
    """A row of the table: the final results, and those at the goal; and the accuracy by number of steps."""
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
    parser.add_argument("--goal", type=float, default=0.75, help="the accuracy to reach on new examples (default 0.75)")
    parser.add_argument("--curves", action="store_true", help="also print the accuracy after each number of steps")
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
