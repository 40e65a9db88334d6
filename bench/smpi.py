#!/usr/bin/env python3
"""The emitted MPI code of plans on a modelled cluster, beside `ein plan --simulate`: smpi.py EIN [WHAT ...] [--pairs
N]. WHAT: product, chain, classifier, speech, amazon (default: all), or pairs.

SimGrid's SMPI runs an MPI program as many processes inside one, on a network that it simulates. Wants `apt install
libsimgrid-dev`; nothing else in Ein does, and without it this leaves with a message. Of a machine file
(samples/machines) the network is taken: a star, each site with its link out and its link in. With more ranks than the
file has sites the star gets more arms. SMPI's own factors for TCP and its measured host speed are off: what links carry
is the file's.

What is true: the runtime's and the emitted C, its order, its collectives and status messages, and each message's size.
What is modelled: a kernel takes the seconds that the plan gives its equations, so only moves and waiting are judged,
not rates; packing, unpacking and adding of parts take their bytes at the rate of the site's memory. What is not there:
tensors (site.c), and so programs that move by data or repeat are left out, each with a line that says so.

Prints a table in Markdown: seconds that --simulate and that the plan's sum predict, seconds under SMPI, and the ratio
of the first and the last. At the end of each case: is the winner the same? For pairs: of those whose predicted seconds
differ by 20 % or more, how many SMPI orders alike."""
import argparse
import collections
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PAPERS = os.path.join(ROOT, "samples", "papers")
STRATEGIES = ["exact", "sqrt", "data", "megatron", "eindecomp-linear"]
CONFIG = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "smpi/simulate-computation:no",
          "smpi/host-speed:1Gf", "smpi/shared-malloc-blocksize:16777216",
          "smpi/display-timing:no", "smpi/test:0"]
APART = 1.2  # pairs whose predictions differ by less say nothing
CLOSE = 1.01  # a plan that is predicted to be this close to the fastest may be the fastest
CLASSIFIER = {"N": 128, "D": 8192, "H": 8192, "L": 14588}


class LeftOut(Exception):
    pass


def words(sizes):
    return [w for k, v in sizes.items() for w in ("-D", f"{k}={v}")]


def call(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise LeftOut(f"{os.path.basename(command[0])}: {(done.stderr or done.stdout).strip().splitlines()[:1]}")
    return done.stdout


def machine_for(path, ranks, folder):
    """The file with as many sites as there are ranks; its link, and the rate of a site's memory."""
    with open(path, encoding="utf-8") as f:
        m = json.load(f)
    linked = [level for level in m["levels"] if "link" in level]
    if len(linked) != 1 or m["levels"][-1] is not linked[0]:
        sys.exit(f"{path}: only machines of one level with a link are modelled")
    linked[0]["parts"] = max(ranks, linked[0]["parts"])
    site = [level["name"] for level in m["levels"]].index(m["site"]["level"])
    memory = [x for level in m["levels"][:site + 1] for x in level.get("memories", [])][-1]
    out = os.path.join(folder, f"{os.path.basename(path)[:-5]}_{ranks}.json")
    with open(out, "w", encoding="utf-8") as f:
        json.dump(m, f)
    figure = lambda x: x["value"] if isinstance(x, dict) else x
    link = linked[0]["link"]
    return out, figure(link["bytes_per_second"]), figure(link["latency_seconds"]), figure(memory["read_bytes_per_second"])


def platform(folder, ranks, rate, latency):
    """A route has two links, each with half of the latency."""
    with open(os.path.join(folder, "platform.xml"), "w", encoding="utf-8") as f:
        f.write(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="sites" prefix="site" suffix="" radical="0-{ranks - 1}" speed="1Gf" bw="{rate:.17g}Bps" lat="{latency / 2:.17g}s"
           loopback_bw="1e15Bps" loopback_lat="0s"/>
</platform>
""")
    with open(os.path.join(folder, "hosts"), "w", encoding="utf-8") as f:
        f.writelines(f"site{i}\n" for i in range(ranks))


def kernel_seconds(tasks, plan):
    """Seconds of each kernel of a task text, in order. Panels of an equation are kernels of their own, and share its
    seconds."""
    if re.search(r"^ *(repeat|fetch)\b", tasks, re.M):
        raise LeftOut("a repeat or a move by data")
    at = {}
    for v in plan["vertices"]:
        at[v["place"]["line"], v["place"]["column"], v["name"] or ""] = v["kernel_seconds"]
        at.setdefault((v["place"]["line"], v["place"]["column"]), v["kernel_seconds"])
    seconds, stages = [], []
    for line in tasks.splitlines():
        if line.startswith("kernel "):
            seconds.append(0.0)
        stage = (re.match(r' +stage ([^\[ ]*)\[.*@"[^"]*":(\d+):(\d+)$', line)
                 or re.match(r' +stage ([^\[ ]*) :.*@"[^"]*":(\d+):(\d+)$', line))
        if stage:
            place = int(stage[2]), int(stage[3])
            if place not in at:
                raise LeftOut(f"no seconds for the stage {stage[1]}")
            stages.append((len(seconds) - 1, (*place, stage[1])))
    stages = list(dict.fromkeys(stages))  # a kernel that adds its panel to those before has two of one equation
    many = collections.Counter(key for _, key in stages)
    for kernel, key in stages:
        seconds[kernel] += at.get(key, at[key[:2]]) / many[key]
    return seconds


def one_version(text):
    """The kernels of this machine's width: a kernel that has tiles for wide vectors too is there twice."""
    return re.sub(r"^#if EIN_WIDE\n.*?^#endif\n", "", text, flags=re.M | re.S)


def body_with(text, seconds):
    """The emitted C, where each kernel is its seconds: its several loops, of one name, numbered, and of one work,
    follow each other. Loops in rounds take them in the first round."""
    begin = text.index("/* ---- the run ---")
    head, lines, last, left, rounds = text[:begin], one_version(text[begin:]).split("\n"), None, list(seconds), None
    for i, line in enumerate(lines):
        indent = line[:len(line) - len(line.lstrip())]
        if line.lstrip().startswith("for (ctx->round = 0;"):
            rounds = indent
        elif line == f"{rounds}}}":
            rounds = None
        found = re.match(r"( *)if \(ein_(?:parallel\w*|once)\(ctx, (\w+)(?:, .*, ([^,]*))?\)\) return", line)
        if not found:
            last = None if "ein_move" in line or "ctx->bound" in line else last
            continue
        base, number = re.fullmatch(r"(.*?)(?:_(\d+))?", found[2]).groups()
        own = last and last[1] == found[3] and (last[0] == base
                                                or (last[2] and last[2] == base and last[3] < int(number or 0)))
        if not own:
            if not left:
                raise LeftOut("more loops than kernels")
        last = (found[2] if not own else last[0], found[3], base, int(number or 0))
        takes = "0" if own else repr(left.pop(0))
        lines[i] = f"{indent}smp_kernel({takes if rounds is None else f'ctx->round ? 0 : {takes}'});"
    if left:
        raise LeftOut(f"{len(left)} kernels without a loop")
    return head + "\n".join(lines)


def patched(text):
    """The runtime beside a library, without what touches tensors."""
    starts = {
        r"EIN_INLINE void ein_box_copy\([^{]*\{": "double all = 2.0 * (double)element; for (int d = 0; d < n; d++) all *= (double)extent[d]; smp_copied(all); return;",
        r"static void ein_fold\([^{;]*\{":
            "{ ein_box b = ein_due(v, p, v->site); smp_copied(3.0 * (parcel ? (double)parcel->bytes : (double)ein_box_count(v, &b) * (double)v->element)); return; }",
        r"static void ein_places_check\([^{;]*\{": "return;",
        r"if \(v\.round == 0 && v\.some\) (?=memset)": "if (0) ",
    }
    for pattern, what in starts.items():
        text = re.sub(pattern, lambda m, what=what: what if what.startswith("if") else m[0] + " " + what, text, count=1)
    return text


def under_smpi(ein, program, words_of_plan, ranks, machine, plan, tasks, folder):
    rate, latency, memory = machine
    lib, none = os.path.join(folder, "lib"), os.path.join(folder, "mpicc-none")
    shutil.rmtree(lib, ignore_errors=True)
    if not os.path.exists(none):  # only the text is wanted: what compiles it for Open MPI writes nothing
        with open(none, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : >"$2"; shift; done\nexit 0\n')
        os.chmod(none, 0o755)
    call([ein, "build", program, "--lib", "--target=mpi", "-o", lib, *words_of_plan],
         env={**os.environ, "MPICC": "mpicc-none", "PATH": folder + ":" + os.environ["PATH"]})
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(program))[0])
    path = os.path.join(lib, f"{name}_{ranks}.c")
    with open(path, encoding="utf-8") as f:
        text = body_with(f.read(), kernel_seconds(tasks, plan))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    runtime = os.path.join(lib, f"{name}-runtime.h")
    with open(runtime, encoding="utf-8") as f:
        text = patched(f.read())
    with open(runtime, "w", encoding="utf-8") as f:
        f.write(text)
    with open(os.path.join(lib, "plan.h"), "w", encoding="utf-8") as f:
        f.write(f"""#define EIN_SITES
#define MODEL {name}_{ranks}_model
#define MEMORY {memory!r}
#include "{name}_{ranks}.c"
#undef MPI_Isend
#undef MPI_Irecv
#define MPI_Isend(p, n, type, to, tag, comm, r) smp_send(p, n, to, tag, comm, r)
#define MPI_Irecv(p, n, type, from, tag, comm, r) smp_receive(p, n, from, tag, comm, r)
#include "{name}_mpi.c"
ein_status {name}_create(const ein_config *config, {name}_ctx **ctx) {{ (void)config, (void)ctx; return EIN_ERR_ARG; }}
void {name}_destroy({name}_ctx *ctx) {{ (void)ctx; }}
""")
    platform(folder, ranks, rate, latency)
    site = os.path.join(folder, "site")
    call(["smpicc", "-O0", "-w", "-I", lib, os.path.join(HERE, "smpi", "site.c"), "-o", site, "-lm"])
    out = call(["smpirun", "-np", str(ranks), "-platform", os.path.join(folder, "platform.xml"), "-hostfile",
                os.path.join(folder, "hosts"),
                *(f"--cfg={c}" for c in CONFIG), "--log=root.thresh:error", site])
    found = re.search(r"^smpi (\S+) (\S+) (\S+)$", out, re.M)
    if not found:
        raise LeftOut(f"SMPI says nothing: {out[-200:]}")
    return float(found[1]), float(found[3])


def one(ein, program, ranks, machine, sizes, how, folder, done=()):
    """Predicted by --simulate, by the plan's sum, under SMPI, and the plan's text, which tells plans apart: None if it
    is among those done."""
    path, *figures = machine_for(machine, ranks, folder)
    common = ["-n", str(ranks), "--machine", path, *words(sizes), *how]
    plan = json.loads(call([ein, "plan", program, "--simulate", "--format=json", *common]))
    tasks = call([ein, "plan", program, "--format=task", *common])
    if tasks in done:
        return None
    seconds, received = under_smpi(ein, program, common, ranks, figures, plan, tasks, folder)
    if received != plan["simulated"]["received_bytes"]:
        print(f"  {' '.join(how)}: {received:.0f} bytes are received, {plan['simulated']['received_bytes']:.0f} predicted", flush=True)
    return plan["simulated"]["seconds"], plan["seconds"], seconds, tasks


def product_file(folder):
    path = os.path.join(folder, "product.ein")
    with open(path, "w", encoding="utf-8") as f:
        f.write("dim N = 8192\ninput A[i:N,k:N], B[k:N,j:N] : f32\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n")
    return path


def panel_plans(folder):
    """A product on a grid, and on one axis, in panels of each label, by name."""
    out = {}
    for name, axes, homes in ("2-D", "i j", {"C": "i j", "A": "i k", "B": "k j"}), \
            ("1-D", "i", {"C": "i", "A": "i", "B": "j"}):
        for panels in ("", "k=2", "k=8", "k=32", "i=8", "j=8"):
            path = os.path.join(folder, f"{name}{panels}.plan")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"plan 1\nsites 4\nmesh {'2 2' if ' ' in axes else '4'}\nvertex C axes {axes}\n")
                f.writelines(f"home {tensor} {home}\n" for tensor, home in homes.items())
                f.write(f"panels C {panels}\n" if panels else "")
            out[f"{name} {panels or 'at once'}"] = [f"--plan={path}"]
    return out


def cases(folder):
    chain, classifier = os.path.join(PAPERS, "matrix_chain.ein"), os.path.join(PAPERS, "classifier_step.ein")
    at = lambda name: os.path.join(ROOT, "samples", "machines", name)
    all_data = ["exact", "data", "sqrt", "megatron"]
    yield "product", product_file(folder), at("p100_4.json"), (4,), {}, ["exact", "sqrt"]
    for machine in ("p100_4.json", "r5d_10.json", "cluster_16.json"):
        yield "panels", product_file(folder), at(machine), (4,), {"N": 4096}, panel_plans(folder)
    for machine, ranks in (("p100_4.json", (4,)), ("m6in_16.json", (4, 8, 16, 64))):
        yield "chain", chain, at(machine), ranks, {"S": 16000}, ["exact", "sqrt", "eindecomp-linear"]
        yield ("chain", chain, at(machine), ranks, {"S": 16000, "K": 1600, "L": 160000},
               ["exact", "sqrt", "eindecomp-linear"])
    for sizes in ({"D": 8192}, {"D": 597540}, {"D": 597540, "N": 512}):
        yield "classifier", classifier, at("p100_4.json"), (4,), {**CLASSIFIER, **sizes}, all_data
    yield "speech", classifier, at("p3_10.json"), (4, 8, 16, 64), {"N": 10000, "D": 1600, "H": 100000, "L": 10}, all_data
    yield "amazon", classifier, at("p3_10.json"), (4, 8, 16, 64), {"N": 1000, "D": 597540, "H": 1000, "L": 14588}, all_data


def table(ein, case, folder):
    what, program, machine, ranks, sizes, strategies = case
    for p in ranks:
        rows = []
        print(f"\n{what} {sizes} on {p} of {os.path.basename(machine)[:-5]}\n\n"
              f"| plan | --simulate | the plan's sum | SMPI | SMPI / --simulate |\n|---|---|---|---|---|", flush=True)
        for s in strategies:
            try:
                how = strategies[s] if isinstance(strategies, dict) else [f"--planner={s}"]
                predicted, total, seen, _ = one(ein, program, p, machine, sizes, how, folder)
            except LeftOut as e:
                print(f"| {s} | left out: {e} | | | |", flush=True)
                continue
            rows.append((predicted, seen, s))
            print(f"| {s} | {predicted:.4g} s | {total:.4g} s | {seen:.4g} s | {seen / predicted:.3f} |", flush=True)
        if rows:
            first, won = min(rows), min(rows, key=lambda row: row[1])
            fit = won[0] <= CLOSE * first[0]
            print(f"\nfastest: predicted {first[2]}, under SMPI {won[2]}: {'the same' if won is first else 'predicted as close' if fit else 'NOT the same'}", flush=True)
            yield from (seen / predicted for predicted, seen, _ in rows)


def random_program(r, folder, i):
    """A chain of products of matrices, with a sum or a map between."""
    n = r.randint(2, 4)
    sizes = [r.choice([1024, 2048, 4096, 8192, 16384]) for _ in range(n + 1)]
    lines = [f"input M{k}[a{k}:{sizes[k]},a{k + 1}:{sizes[k + 1]}] : f32" for k in range(n)]
    for k in range(1, n):
        left = "M0[a0,a1]" if k == 1 else f"P{k - 1}[a0,a{k}]"
        value = f"sum[a{k}] {left} * M{k}[a{k},a{k + 1}]"
        lines.append(f"{'output ' if k == n - 1 else ''}P{k}[a0,a{k + 1}] = "
                     + (f"max({value}, 0)" if r.random() < 0.5 else value))
    path = os.path.join(folder, f"random{i}.ein")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return path, [(f"P{k}", [f"a{j}" for j in (0, k, k + 1)]) for k in range(1, n)]


def pairs(ein, wanted, seed, folder):
    r, i, agree, of, ratios = random.Random(seed), 0, 0, 0, []
    while of < wanted and i < 20 * wanted:
        program, tensors = random_program(r, folder, i)
        p = r.choice([4, 8, 16])
        machine = os.path.join(ROOT, "samples", "machines",
                               r.choice(["p100_4.json", "m6in_16.json", "r5d_10.json", "cluster_16.json"]))
        i += 1
        ways = [[f"--planner={s}"] for s in ("exact", "sqrt", "data")]
        for name, labels in tensors:
            ways += [["--pin", f"{name}:{label}={p}"] for label in labels]
        seen = {}
        for how in ways:
            try:
                got = one(ein, program, p, machine, {}, how, folder, seen)
            except LeftOut as e:
                print(f"  {' '.join(how)}: left out, {e}", flush=True)
                continue
            if got:
                seen[got[3]] = got[0], got[2], " ".join(how)
        got = sorted(seen.values())
        ratios += [time / predicted for predicted, time, _ in got]
        for k, (slow, slow_seen, slow_how) in enumerate(got):
            for fast, fast_seen, fast_how in got[:k]:
                if slow < APART * fast:
                    continue
                of += 1
                agree += slow_seen > fast_seen
                if slow_seen <= fast_seen:
                    print(f"  random {i - 1} on {p} of {os.path.basename(machine)}: {fast_how} {fast:.4g} s, {fast_seen:.4g} s under SMPI;"
                          f" {slow_how} {slow:.4g} s, {slow_seen:.4g} s", flush=True)
        print(f"  {i} programs, {len(ratios)} plans: {agree} of {of} pairs", flush=True)
    if of:
        print(f"\n"
              f"{agree} of {of} pairs in the same order ({100 * agree / of:.1f} %), of {len(ratios)} plans of {i} programs, seed {seed}")
    return ratios


def spread(ratios):
    if ratios:
        within = sum(abs(x - 1) <= 0.15 for x in ratios)
        print(f"\n"
              f"SMPI / --simulate: median {statistics.median(ratios):.3f}, from {min(ratios):.3f} to {max(ratios):.3f}; {within} of {len(ratios)} within 15 %")


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("ein")
    a.add_argument("what", nargs="*")
    a.add_argument("--pairs", type=int, default=200)
    a.add_argument("--seed", type=int, default=1)
    o = a.parse_args()
    if not shutil.which("smpicc") or not shutil.which("smpirun"):
        sys.exit("bench/smpi.py wants smpicc and smpirun of SimGrid: apt install libsimgrid-dev. Nothing else in Ein does.")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(folder):
            if not o.what or case[0] in o.what:
                ratios += table(os.path.abspath(o.ein), case, folder)
        if not o.what or "pairs" in o.what:
            ratios += pairs(os.path.abspath(o.ein), o.pairs, o.seed, folder)
    spread(ratios)


if __name__ == "__main__":
    main()
