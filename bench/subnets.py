#!/usr/bin/env python3
"""Independent subnet training compared with data parallelism (docs/papers.md): accuracy, bytes moved, and time on a
modelled network.

    bench/subnets.py build/ein [--machine samples/machines/r5d_10.json] [--goal 0.75] [--seeds 9] [--curves]

The task is synthetic, as in the samples: examples are normal, and a random linear teacher gives their classes. Each
seed is another task: its teacher, its examples, and those that test. Accuracies and steps are printed with their
spread, the least, median and most over all seeds. EXAMPLES and BATCH, the examples per step, are totals that are
divided among the sites, so data parallelism computes the same on any number of sites. Each method (METHODS) is a sample
of samples/papers and the number of steps between exchanges. It is run anew for each number in STEPS, on one site,
because cuts change only the last bits. Bytes and seconds are from `ein plan -n SITES --machine`, which no seed changes:
with `--planner=data`, which cuts examples, for methods where each site has the whole net; for subnets, with the fastest
plan found. A run reaches the goal at the first number in STEPS from which on its accuracy stays there; the bytes and
seconds are those of a run of the median length. A second table has the filters of residual blocks (IMAGES)."""
import argparse
import json
import math
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PAPERS = os.path.join(HERE, "..", "samples", "papers")
SIZES = {"D": 96, "H": 256, "C": 8, "E": 2000}
EXAMPLES, BATCH = 3072, 128  # totals over all sites
SITES = (2, 4, 8)
STEPS = (20, 40, 60, 80, 100, 140, 200, 300, 400, 600)
METHODS = (("data parallel", "local_sgd", 1, ["--planner=data"]),
           ("local SGD, every 10", "local_sgd", 10, ["--planner=data"]), ("subnets, every 10", "subnets", 10, []))
IMAGES = {"M": 72, "E": 400, "C": 4, "H": 16, "P": 6, "J": 3}
EARLY = 60  # steps, after which subnets are behind
NETS = (("four subnets", 4, 20), ("one subnet that has all filters", 1, 20), ("untrained", 4, 0))  # subnets, rounds


def words_for(sizes):
    return [w for k, v in sizes.items() for w in ("-D", f"{k}={v}")]


def words_of(sites, every, steps):
    return words_for({"S": sites, "B": BATCH // sites, "M": EXAMPLES // sites, "J": every, "R": steps // every,
                      **SIZES})


def task(seed):
    """The inputs that make a task of it."""
    return [f"{name}=randn:seed={10 * seed + k}" for k, name in enumerate(("teacher", "X", "Xtest"), 1)]


def said(words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def right(ein, name, words):
    """The accuracy of the trained net on new examples."""
    answers = said([ein, "run", f"{PAPERS}/{name}.ein", *words]).splitlines()
    return float(next(line.split("=")[1] for line in answers if line.startswith("right ")))


def cost(options, name, sites, words, planner):
    """The bytes that all sites receive, and the seconds."""
    plan = json.loads(said([options.ein, "plan", f"{PAPERS}/{name}.ein", "-n", str(sites), *words,
                            "--machine", options.machine, *planner, "--format=json"]))
    return plan["bytes"], plan["seconds"]


def percent(x):
    return f"{100 * x:.1f} %"


def megabytes(n):
    return f"{n / 1e6:,.1f} MB"


def milliseconds(s):
    return f"{1e3 * s:,.1f} ms"


def spread(values, show):
    """The least, the median and the most."""
    return ", ".join(show(x) for x in (min(values), statistics.median(values), max(values)))


def there(curve, goal):
    """The number of steps from which on the accuracy stays at the goal."""
    late = [steps for steps, part in curve if part < goal]
    return min((steps for steps, _ in curve if not late or steps > late[-1]), default=math.inf)


def row(options, sites, method):
    """A row of the table: the final results, and those at the goal; the bytes and seconds to it; and the accuracies by
    number of steps."""
    title, name, every, planner = method
    curves = [[(steps, right(options.ein, name, words_of(sites, every, steps) + task(seed))) for steps in STEPS]
              for seed in range(1, options.seeds + 1)]

    def at(steps):
        return cost(options, name, sites, words_of(sites, every, steps), planner)

    def shown(moved, seconds):
        return [megabytes(moved), milliseconds(seconds)]
    firsts = [there(curve, options.goal) for curve in curves]
    usual = statistics.median_low(firsts)
    first = at(usual) if usual < math.inf else None
    cells = [str(sites), title, spread([curve[-1][1] for curve in curves], percent), *shown(*at(STEPS[-1])),
             spread(firsts, lambda n: "never" if n == math.inf else f"{n:.0f}")]
    cells += shown(*first) if first else ["", ""]
    return cells, first, curves


def table(title, rows):
    print(f"| {' | '.join(title)} |\n|{'---|' * len(title)}", flush=True)
    for cells in rows:
        print(f"| {' | '.join(cells)} |", flush=True)


def compared(options, firsts, early):
    """The rows; the bytes and seconds to the goal of each method, in the order of SITES; and the median after EARLY
    steps on the most sites."""
    for sites in SITES:
        for method in METHODS:
            cells, first, curves = row(options, sites, method)
            firsts[method[0]].append(first)
            early[method[0]] = percent(statistics.median(dict(curve)[EARLY] for curve in curves))
            yield cells
            for curve in curves if options.curves else []:
                print("#   " + ", ".join(f"{steps}: {percent(part)}" for steps, part in curve), flush=True)


def times(firsts, what, where):
    """By how much less the one takes than data parallelism, from site count to site count."""
    of = sorted(a[where] / b[where] for a, b in zip(firsts["data parallel"], firsts[what]) if a and b)
    return " to ".join(dict.fromkeys(f"{x:.0f}" for x in (of[0], of[-1]))) if of else "no"


def residual(options):
    for title, subnets, rounds in NETS:
        words = words_for({**IMAGES, "S": subnets, "R": rounds})
        parts = [right(options.ein, "residual_subnets", words + task(seed)) for seed in range(1, options.seeds + 1)]
        yield [title, spread(parts, percent)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ein")
    parser.add_argument("--machine", default=os.path.join(HERE, "..", "samples", "machines", "r5d_10.json"))
    parser.add_argument("--goal", type=float, default=0.75, help="the accuracy to reach on new examples (default 0.75)")
    parser.add_argument("--seeds", type=int, default=9, help="how many tasks (default 9)")
    parser.add_argument("--curves", action="store_true", help="also print the accuracies after each number of steps")
    options = parser.parse_args()
    firsts, early = {method[0]: [] for method in METHODS}, {}
    table(["sites", "method", f"right after {STEPS[-1]} steps", "received", "seconds, modelled",
           f"steps to {percent(options.goal)}", "received", "seconds, modelled"], compared(options, firsts, early))
    print()
    for what, title in (("subnets, every 10", "subnets"), ("local SGD, every 10", "runs of local SGD")):
        print(f"up to {percent(options.goal)}, {title} receive {times(firsts, what, 0)} times fewer bytes than data"
              f" parallelism, and take {times(firsts, what, 1)} times less time")
    print(f"after {EARLY} steps on {SITES[-1]} sites the median is {early['subnets, every 10']} with subnets, and"
          f" {early['data parallel']} with data parallelism")
    print()
    table([f"residual blocks, {NETS[0][2] * IMAGES['J']} steps", "right"], residual(options))


if __name__ == "__main__":
    main()
