#!/usr/bin/env python3
"""The figures of docs/papers.md and docs/gallery.md that stand in a sentence or a table there, and in no block.

    bench/papers.py build/ein            # called by bench/papers.sh, when it has remade the blocks
    bench/papers.py build/ein --counted  # only what no training has to find

Each line says what a page says, with figures that are taken from a block, counted or predicted by a plan, or found by
runs; the command comes before it. A line that its page does not have begins with `stale:`, and the exit code is 1.
Papers' own figures stand in the lines as they are: nothing here makes them. What is random comes from bench/subnets.py,
with its spread; all else is the same each time."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EIN = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit(__doc__)
LAYER = "samples/papers/llama_layer.ein"
STEP = "samples/papers/classifier_step.ein"
NEAR = "samples/papers/nearest_neighbour.ein"
CHAIN = "samples/papers/matrix_chain.ein"
SUBNETS = "samples/papers/subnets.ein"
stale = 0


def page(name):
    with open(os.path.join(ROOT, "docs", f"{name}.md"), encoding="utf-8") as f:
        return f.read()


PAPERS, GALLERY = page("papers"), page("gallery")


def commands(text):
    """Each command of the blocks, and what it prints."""
    out = {}
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            out[command] = printed
    return out


BLOCKS = commands(PAPERS)


def block(words, pattern):
    """What the pattern finds in the output of the block whose command has these words, and the fewest others."""
    words = words.split()
    among = [c for c in BLOCKS if set(words) <= set(c.split(" | ")[0].split())]
    fewest = min((len(c.split(" | ")[0].split()) for c in among), default=0)
    among = [c for c in among if len(c.split(" | ")[0].split()) == fewest]
    if len(among) != 1:
        sys.exit(f"papers.py: {len(among)} blocks have {' '.join(words)}")
    print(f"$ {among[0]}")
    return re.search(pattern, BLOCKS[among[0]], re.M)[1]


def told(*words):
    """What a command prints."""
    print("$ " + shlex.join({EIN: "ein", sys.executable: "python3"}.get(w, w) for w in words), flush=True)
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def plan(words):
    return told(EIN, "plan", *words.split())


def found(pattern, text):
    return re.search(pattern, text, re.M)[1]


def stands(text, where):
    """The page says so, however its lines are broken."""
    global stale
    here = " ".join(text.split()) in " ".join(where.split())
    stale += not here
    print(f"{'' if here else 'stale: '}{text}", flush=True)


def number(text):
    """`93.4 ms`, `4.1 GB` or `1.6 G` as a number."""
    value, unit = re.match(r"([\d.]+) ?(\w*)", text).groups()
    scale = {"": 1, "B": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    return float(value) * scale[unit if unit in scale else unit[0]]


def gigabytes(n):
    return f"{n / 1e9:.1f} GB"


def digits(n, after):
    """As the TRA paper writes it: 1.12e10."""
    return re.sub(r"e\+0?", "e", f"{n:.{after}e}")


TIME, MOVED = r"^  time +([\d.]+ \w+):", r"^  moved +.*\((\d+)\)"


def by(name):
    return rf"^  by {name} .*?([\d.]+) times"


# ---- EinDecomp -----------------------------------------------------------------------------------------------------

def chains():
    sizes = f"{CHAIN} S=16000"
    skewed = f"{sizes} K=1600"
    times = by("sqrt")
    stands(f"| square, sqrt takes | as long, on GPUs | {block(f'{sizes} -n 4', times)} times as long", PAPERS)
    stands(f"| skewed, sqrt takes | about 2 times as long | {block(f'{skewed} -n 4', times)} times as long |", PAPERS)
    paths = [block(f"{s} -n 16", by("eindecomp-linear")) for s in (sizes, skewed)]
    attention = commands(page("plan"))
    most = max(float(x) for printed in attention.values() for x in re.findall(by("eindecomp-linear"), printed, re.M))
    stands(f"{min(paths)} to {max(paths)} times the least; {most:.2f} times for attention", PAPERS)


def layers():
    costs = [f"{LAYER} B={b} S=4096 --costs=eindecomp" for b in (1, 4, 8)]
    paths = sorted(block(words, by("eindecomp-linear")) for words in costs)
    stands(f"here the search moves {paths[0]} to {paths[-1]} times the least", PAPERS)
    data = [round(100 * float(block(words, by("data"))) - 100) for words in costs[1:]]
    stands(f"which is within {data[0]} % and {data[1]} % of the least", PAPERS)
    slower = max(float(block(f"{LAYER} -n {n} B=8 S=1024", by(name)))
                 for n in (2, 4, 8) for name in ("megatron", "sequence", "data"))
    near = "In seconds, all of them lie within a quarter of each other"
    stands(near if slower <= 1.25 else f"In seconds, they lie within {slower} times", PAPERS)
    with tempfile.TemporaryDirectory() as folder:
        print("# tests/cmd/llama.py")
        test = [sys.executable, os.path.join(ROOT, "tests", "cmd", "llama.py"), EIN, os.path.join(ROOT, "samples")]
        done = subprocess.run([*test, "eval", "jit"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    stands(done.stdout.strip().replace("e-0", "e-"), PAPERS)


def classifier():
    moved = block(f"{STEP} -n 4 N=128 D=597540 --against=data,megatron", r"^  received +([\d.]+ \w+)")
    stands(f"a step moves {moved}, and leaves the {gigabytes(4 * 597540 * 8192)} of the first weights in place", PAPERS)


def paged():
    """LLaMA's first token on 40 GB, with a batch of 16."""
    for model, shape in (("7B", "32 4096 32 128 11008"), ("65B", "80 8192 64 128 22016")):
        for tokens in (512, 1024, 2048, 4096):
            words = [sys.executable, "samples/papers/llama_prefill.py", *shape.split(), str(tokens), "16", "32000"]
            print(f"$ python3 {shlex.join(words[1:])} | ein plan - --target=cuda --memory=40GB")
            program = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
            got = subprocess.run([EIN, "plan", "-", "--target=cuda", "--memory=40GB"], cwd=ROOT, input=program,
                                 stdout=subprocess.PIPE, check=True).stdout.decode()
            held = re.search(r"kept on the host; ([\d.]+ .B) would hold all", got)
            all_of = held[1] if held else found(r"^  device memory +([\d.]+ .B)", got)
            stands(f"| {model} | {tokens} | {all_of} | {found(r'^  least device memory +([0-9.]+ .B)', got)} |"
                   f" {found(r'^  bus +([0-9.]+ .B) in', got)} | {'pages' if held else 'fits'} |", PAPERS)


# ---- TRA -----------------------------------------------------------------------------------------------------------

def counted():
    product = "product.ein -n 10 --costs=ia"
    moved = [int(block(f"{product} I={i}", MOVED)) for i in (40000, 10000, 80000)]
    stands(f"| two general matrices | BMM, CMM, RMM 1.6e10 each | {digits(moved[0], 2)}, a grid of 5 x 2 |", PAPERS)
    stands(f"| a common large dimension | CMM 1.0e9, the others 6.4e10 | {digits(moved[1], 1)}, CMM |", PAPERS)
    stands(f"| two large dimensions | BMM, RMM 8.0e9, CMM 6.4e10 | {digits(moved[2], 1)}, a grid of 5 x 2 |", PAPERS)
    near = [int(block(f"{NEAR} --costs=ia D={d}", MOVED)) for d in (6000, 100000)]
    stands(f"| many points, few features | horizontal 2.9e8 | {digits(near[0], 2)}, the same |", PAPERS)
    stands(f"| few points, many features | vertical 4.8e9 | {digits(near[1], 1)}, on a grid |", PAPERS)
    speech = f"{STEP} --costs=ia D=1600"
    found_it, data = int(block(speech, MOVED)), number(block(speech, r"^  by data +([\d.]+ \w)"))
    stands("| Google speech, 100,000 neurons | data 9.7e8, model 1.0e10 |"
           f" {digits(found_it, 1)}: it cuts neurons", PAPERS)
    stands(f"data parallelism costs {digits(data, 1)} in this count and 9.7e8 in the paper's", PAPERS)
    stands("a third plan is twelve times cheaper" if round(9.7e8 / found_it) == 12 else f"{9.7e8 / found_it}", PAPERS)
    amazon = [digits(int(block(f"{STEP} --costs=ia H={h} D=597540", MOVED)), 1) for h in (1000, 7000)]
    stands(f"model 1.0e7 and 7.0e7 | {amazon[0]} and {amazon[1]}, the model parallel plan |", PAPERS)


def seconds():
    say = lambda words: f"{number(block(words, TIME)):.1f} s"
    for title, paper, i in (("two general matrices", "46.5 s, 40.1 s", 40000),
                            ("a common large dimension", "104.7 s, 30.6 s", 10000),
                            ("two large dimensions", "37.6 s, 82.7 s", 80000)):
        of = [say(f"product.ein I={i} --plan={p}.plan") for p in ("bmm", "cmm")]
        stands(f"| {title} | {paper} | {', '.join(of)} |", PAPERS)
    general = say("product.ein I=40000 --machine samples/machines/r5d_10.json")
    stands(f"For these Ein finds a 2-D plan ({general})", PAPERS)
    for n, d, paper in ((150000, 6000, "4.7 s, 9.3 s"), (1500000, 6000, "39.2 s, 112.7 s"),
                        (6000, 30000, "17.7 s, 4.5 s"), (6000, 100000, "229.4 s, 35.6 s")):
        sizes = f"{NEAR} N={n} D={d} --machine"
        of = [say(f"{sizes} --plan={p}.plan") for p in ("across", "down")]
        stands(f"| {n:,} points of {d:,} | {paper} | {', '.join(of)} | {say(sizes)} |", PAPERS)


def steps():
    data = r"^  by data +([\d.]+ \w+),"
    machine = "--machine samples/machines/p3_10.json"
    for h, paper in ((100000, "1.3 s, 1.6 s"), (150000, "1.8 s, 2.2 s"), (200000, "2.4 s, 2.9 s")):
        words = f"{STEP} -n 10 H={h} D=1600 {machine}"
        stands(f"| {h:,} neurons | {paper}, out of memory | {block(words, data)},"
               f" {number(block(words, TIME)):.2f} s |", PAPERS)
    for h, paper in ((1000, "4.7 s, 0.35 s"), (3000, "13.1 s, 0.44 s")):
        words = f"{STEP} -n 10 H={h} D=597540 {machine}"
        stands(f"| {h:,} neurons | {paper} | {block(words, data)}, {number(block(words, TIME)):.2f} s |", PAPERS)
    words = f"{STEP} -n 10 H=7000 {machine}"
    stands(f"| 7,000 neurons | out of memory, 0.73 s | {block(words + ' --planner=data', TIME)}, in panels;"
           f" {number(block(words, TIME)):.2f} s |", PAPERS)


def memory():
    """Table 8's cells by the formulas that the page gives, in GB; bold where a V100 has less."""
    neurons, examples, features, labels = (1000, 3000, 5000, 7000), 1000, 597540, 14588

    def wanted(plan_name, p, h):
        weights, own = 4 * (features + labels) * h, 4 * examples * features / p
        if plan_name == "TRA-DP":
            return own + (2 + 1 / p) * weights
        return own + 5 / p * weights + 8 * examples * h
    print("# by the formulas of the page")
    for name in ("TRA-DP", "TRA-MP"):
        for p in (2, 5, 10):
            row = [wanted(name, p, h) for h in neurons]
            cells = [f"**{x / 1e9:.1f}**" if x > 16160 * 2**20 else f"{x / 1e9:.1f}" for x in row]
            stands(f"| {name} on {p} | {' | '.join(cells)} |", PAPERS)
    speech = [8 * 10000 * h + 5 / 10 * 4 * (1600 + 10) * h + 4 * 10000 * 1600 / 10 for h in (100000, 150000, 200000)]
    stands("It gives {:.1f}, {:.1f} and {:.1f} GB on ten GPUs".format(*(x / 1e9 for x in speech)), PAPERS)


# ---- independent subnets -------------------------------------------------------------------------------------------

def subnets():
    weights, received = 4 * (1000 * 4000 + 4000 * 200), r"^  received +([\d.]+ \w+)"
    print("# by the formula of 2.1.5")
    stands(f"10 x 2 x 3/4 x {weights / 1e6:.1f} MB are {15 * weights / 1e6:.0f} MB on four sites, and 10 x 2 x 7/8 x"
           f" {weights / 1e6:.1f} MB are {17.5 * weights / 1e6:.0f} MB on eight", PAPERS)
    all_of = [100 * number(block(f"{STEP} -n {p} H=4000 --planner=data", received)) for p in (4, 8)]
    own = [number(block(f"{SUBNETS} -n {p} R=10", received)) for p in (4, 8)]
    more = [f"{all_of[k] / own[k]:.0f} times as much" for k in range(2)]
    stands(f"data parallelism receives {gigabytes(all_of[0])} on four sites, {more[0]}, and"
           f" {gigabytes(all_of[1])} on eight, {more[1]}", PAPERS)
    print("# by the formula of 2.1.6")
    stands(f"are {2 * 3 * 9 * 64 * 256 * 4:,} bytes", PAPERS)


def trained():
    """What is random: each row has its spread over the seeds."""
    printed = told(sys.executable, "bench/subnets.py", EIN)
    for line in printed.splitlines():
        if line.strip("|- "):
            stands(line, PAPERS)
    received = found(r"^\| 4 \| subnets, [^|]*\|[^|]*\| ([^|]*) \|", printed)
    weights = 4 * (96 * 256 + 256 * 8)
    stands(f"{received} where 60 x 2 x 3/4 x {weights:,} bytes are {90 * weights / 1e6:.1f} MB", PAPERS)


# ---- the gallery ---------------------------------------------------------------------------------------------------

def drawn(name):
    """The command of a picture, without the picture."""
    return found(rf"^    ein plan (.*?) --format=svg -o docs/gallery/{name}\.svg$", GALLERY)


def gallery():
    times = found(by("data"), plan(drawn("classifier_step") + " --against=data"))
    stands(f"Data parallelism would move {float(times):.0f} times as much", GALLERY)
    times = found(by("megatron"), plan(drawn("llama_layer") + " --against=megatron"))
    stands(f"Megatron's plan moves {times} times as much", GALLERY)
    heat = [f"{drawn('heat').replace('T=1000', f'T={t}')} --format=json" for t in (1000, 1001)]
    turns = [json.loads(plan(words))["bytes"] for words in heat]
    stands(f"Only their borders move: {turns[1] - turns[0]:,} bytes per turn", GALLERY)
    largest = found(r"^ladder +input of ([0-9.]+ .B)", plan(drawn("coupled_cluster")))
    stands(f"The largest tensor has {largest}", GALLERY)
    cp = plan(drawn("cp_decomposition"))
    stands(f"a tensor of {found(r'^X +input of ([0-9.]+ .B)', cp)} stays in place", GALLERY)
    stands(f"In 30 turns with three factors, {found(r'^  received +([0-9.]+ .B)', cp)} move", GALLERY)
    near = found(r"a grid of (\d x \d)", plan(drawn("nearest_neighbour")))
    stands(f"the plan is a grid of {near}", GALLERY)
    print("# plans of the gallery's tables")
    for words in re.findall(r"\| `ein plan (.*?)` \|", GALLERY):
        print(f"{found(r'^  time +(.*)', plan(words))}", flush=True)


for part in (chains, layers, classifier, paged, counted, seconds, steps, memory, subnets, gallery):
    part()
if "--counted" not in sys.argv:
    trained()
sys.exit(1 if stale else 0)
