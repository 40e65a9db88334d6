"""What generators of random programs share: programs that are accepted, and their outputs beside the evaluator's."""
import os
import random
import re
import subprocess
import sys
import tempfile


def written(ein, path, lines, notes=None):
    """Writes the program without the lines that the language refuses, and returns its lines. `notes` gets a line for
    each error."""
    while True:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        said = subprocess.run([ein, "check", path], capture_output=True, text=True, check=False)
        if said.returncode not in (0, 1):
            print(f"check exits with {said.returncode}: {said.stderr}")
            sys.exit(1)
        found = re.findall(r"\.ein:(\d+):\d+: error\[(E\d+)\]", said.stderr)
        refused = {int(n) for n, _ in found}
        if notes is not None:
            for line, code in found:
                notes.setdefault(code, lines[int(line) - 1])
        if not refused:
            return lines
        lines = without(lines, refused)


def without(lines, refused):
    """The program without these lines (from 1); a loop goes if its head, state or next does."""
    out, n = [], 0
    while n < len(lines):
        if lines[n].startswith("repeat"):
            end = n + lines[n:].index("}")
            own = [k for k in range(n, end + 1) if lines[k].startswith(("repeat", "  state", "  next", "}"))]
            if not any(k + 1 in refused for k in own):
                out += [lines[k] for k in range(n, end + 1) if k + 1 not in refused]
            n = end + 1
            continue
        if n + 1 not in refused:
            out.append(lines[n])
        n += 1
    return out


def run(ein, path, target, sizes, folder):
    """Returns the outputs by name, or what was said. The target is eval, c, jit, cuda or a number of sites; words for
    `ein run` may follow a comma: `3,--threads=2`. Sites have -O0, a fifth of the time: optimised kernels are jit's."""
    how, *words = target.split(",")
    if how.isdigit():
        words.append("--flags=-O0")
    how = ["-n", how] if how.isdigit() else [f"--target={how}"]
    if target == "c":
        words = ["--flags=-O1 -DEIN_ONE_VERSION"]
    passed = [w for name, v in sizes.items() for w in ("-D", f"{name}={v}")]
    command = [ein, "run", path, *how, *words, *passed, "-o", f"all={folder}/"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return "takes more than 300 s"
    if done.returncode:
        return f"exit {done.returncode}\n{done.stderr}"
    made = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            made[name[:-4]] = f.read()
    return made


def differs(want, got, unneeded=False):
    """The names of the outputs that differ, or what was said. A program that both refuse is no difference; nor, with
    `unneeded`, one that the evaluator alone refuses, since it computes also what no output needs."""
    if unneeded and isinstance(want, str) and want[:6] == "exit 1" and not isinstance(got, str):
        return []
    if isinstance(want, str) or isinstance(got, str):
        both = isinstance(want, str) and isinstance(got, str) and want[:6] == got[:6] == "exit 1"
        return [] if both else [want if isinstance(want, str) else got]
    return [name for name in want if want[name] != got.get(name)]


def shown(lines, bad):
    """The program with only these outputs; with all if something else is wrong."""
    outs = {f"output {name}" for name in bad}
    every = not any(x.split("[")[0] in outs for x in lines)
    return [x for x in lines if every or not x.startswith("output") or x.split("[")[0] in outs]


def compare(program, sizes, targets, prepared=None, unneeded=False):
    """The whole of a script: SCRIPT EIN FIRST LAST [TARGET...]. `program(seed)` gives lines, `sizes(r)` a list of sizes
    by name for one program. `prepared(r, lines, sizes, path)` may write another text of it with those sizes, and return
    what is left to pass; for `unneeded` see differs. Returns the script's exit code."""
    ein, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    targets = sys.argv[4:] or targets
    looked = wrong = 0
    notes = {}
    for seed in range(first, last):
        r = random.Random(f"sizes {seed}")
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, f"random{seed}.ein")
            lines = written(ein, path, program(seed), notes)
            for k, some in enumerate(sizes(r)):
                used, passed = prepared(ein, r, lines, some, path) if prepared else (path, some)
                want = run(ein, used, "eval", passed, os.path.join(work, f"eval{k}"))
                for j, target in enumerate(targets):
                    bad = differs(want, run(ein, used, target, passed, os.path.join(work, f"{j}of{k}")), unneeded)
                    looked += 1
                    if bad:
                        wrong += 1
                        how = "passed" if passed else "in the text"
                        print(f"seed {seed}, target {target}, {some}, {how}: {', '.join(bad)}")
                        print("\n".join(shown(lines, bad)), flush=True)
    print(f"{looked} runs compared, {wrong} differ; lines were refused for {' '.join(sorted(notes)) or 'nothing'}")
    return wrong != 0 or looked == 0
