#!/usr/bin/env python3
"""Counts what compilers make of the innermost loops of kernels, for processors that need not be here. Nothing is run.

    bench/inner.py build/ein [FILE.ein ...] [--group NAME ...] [--only ROW ...] [--machine NAME ...] [--cc gcc clang]

The programs are files, and rows of bench/peers/groups. Each is compiled to assembly as ein would compile it there; of
each kernel, the loops with most arithmetic inside most other loops are listed. llvm-mca, if it is there, estimates the
cycles of an iteration, and of its arithmetic alone: the least. bench/README.md explains the columns."""
import argparse
import collections
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(HERE, "..", "runtime")
sys.path.insert(0, HERE)
from einlib import Failure  # noqa: E402
from peers.groups import GROUPS  # noqa: E402

# As the driver says it (compiler/driver/compile/compiler.c), without what depends on the machine.
LANGUAGE = ["-std=gnu99", "-fno-math-errno", "-fno-trapping-math", "-O3", "-ffp-contract=off", "-DEIN_ONE_VERSION", "-w"]

# bytes: of a vector. cpu: llvm-mca's name.
Machine = collections.namedtuple("Machine", "arch flags cpu bytes")
MACHINES = {
    "haswell": Machine("x86_64", ["-march=haswell"], "haswell", 32),
    "znver3": Machine("x86_64", ["-march=znver3"], "znver3", 32),
    "skylake-avx512": Machine("x86_64", ["-march=skylake-avx512"], "skylake-avx512", 64),
    "sapphirerapids": Machine("x86_64", ["-march=sapphirerapids"], "sapphirerapids", 64),
    "znver4": Machine("x86_64", ["-march=znver4"], "znver4", 64),
    "znver5": Machine("x86_64", ["-march=znver5"], "znver4", 64),  # llvm-mca 19 has no model of its own
    "neoverse-n1": Machine("aarch64", ["-mcpu=neoverse-n1"], "neoverse-n1", 16),
    "apple-m1": Machine("aarch64", ["-mcpu=apple-m1"], "apple-m1", 16),
}
USUAL = ["haswell", "skylake-avx512", "znver4", "neoverse-n1"]

# ---- instructions -----------------------------------------------------------------------------------

# The first pattern that matches a mnemonic tells its kind; `mov` is a load, a store or a move by its operands.
X86 = [(kind, re.compile(text + r"\Z")) for kind, text in (
    ("fma", r"vfn?m(add|sub|addsub|subadd)\d+p[sdh]"),
    ("gather", r"vp?(gather|scatter)\w+"),
    ("broadcast", r"vp?broadcast\w+|vmovddup"),
    ("mov", r"v?(mov|lddqu)[aunhl]?(p[sd]|dq[au]?\d*|[dqw]|s[sdh]|ntdqa?|ntp[sd])"),
    ("scalar", r"v(?!p)\w+s[sdh]"),
    ("shuffle", r"v?p?(perm|shuf|unpck|punpck|insert|extract|align|pack|pmov|pinsr|pextr|movlhps|movhlps|movs[hl]dup|slldq|srldq)"
                r"\w*|vpermi?t?2?\w+|vpshuf\w+|vpunpck\w+|vpalignr|vcompress\w+|vexpand\w+|vps[lr]ldq"),
    ("mask", r"k[a-z]+"),
    ("arith", r"v\w+(p[sdh]|[bwdq]|dqa?|q\d+)"),
    ("call", r"call[q]?"),
)]
ARM = [(kind, re.compile(text + r"\Z")) for kind, text in (
    ("fma", r"fml[as]|fn?m(add|sub)|fmad|fmsb"),
    ("broadcast", r"ld[1-4]r[wdhb]?|dup"),
    ("mov", r"ldu?[rp]|stu?[rp]|ld1[wdhb]?|st1[wdhb]?|mov|fmov|movi"),
    ("shuffle", r"zip[12]|uzp[12]|trn[12]|ext|tbl|ins|rev\d*|ld[234]|st[234]"),
    ("arith", r"f[a-z]+|s(add|sub|max|min|abd|shl|shr|hr|li)\w*|u(add|sub|max|min|abd|shr)\w*|add|sub|mul|mla|mls|and|orr|eor|cm[a-z]+|neg|abs|bsl|bif|bit|sel"),
    ("call", r"blr?"),
)]
KINDS = ("fma", "arith", "scalar", "load", "store", "stack", "move", "broadcast", "shuffle", "gather", "mask", "call", "other")
BYTES = {"zmm": 64, "ymm": 32, "xmm": 16}
CALLS = ("call", "callq", "bl", "blr")
VECTOR = re.compile(r"%([xyz]mm)\d")


class Instruction:
    def __init__(self, text, line):
        self.text, self.line = text, line
        self.name, _, self.operands = text.partition("\t" if "\t" in text else " ")
        self.operands = self.operands.strip()


def kind_mov(loads, stores):
    return "load" if loads else "store" if stores else "move"


def kind_x86(i, framed):
    """Its kind, and whether it uses a constant place of the stack."""
    memory = re.search(r"\(([^)]*)\)", i.operands)
    stack = bool(memory) and memory[1] in (("%rsp", "%rbp") if framed else ("%rsp",)) and i.name != "lea"
    kind = next((k for k, pattern in X86 if pattern.match(i.name)), "other")
    vector = VECTOR.search(i.operands)
    if kind == "mov":
        last = i.operands.rsplit(",", 1)[-1] if not i.operands.endswith(")") else i.operands
        kind = kind_mov(memory and "(" not in last, memory) if vector else "other"
        if kind == "move" and "{" in i.operands:
            kind = "shuffle"
    return kind if vector or kind in ("mask", "call") else "other", stack


def kind_arm(i, framed):
    memory = re.search(r"\[([^\],]*)([^\]]*)\]", i.operands)
    stack = bool(memory) and memory[1] == "sp" and not re.search(r"[xw]\d", memory[2])
    kind = next((k for k, pattern in ARM if pattern.match(i.name)), "other")
    vector = re.search(r"\b[vz]\d+\.|\bq\d", i.operands)
    floats = re.search(r"\b[sdh]\d+\b", i.operands)
    if kind == "mov":
        kind = kind_mov(i.name.startswith("ld"), i.name.startswith("st")) if vector or floats else "other"
    elif kind in ("fma", "arith") and not vector:
        kind = "scalar" if floats else "other"
    return kind if vector or floats or kind == "call" else "other", stack


def width_of(arch, i):
    """Bytes of its longest vector; 0: it has none, or their length is not known to the compiler."""
    if arch == "aarch64":
        return 16 if re.search(r"\bv\d+\.(16b|8h|4s|2d)|\bq\d", i.operands) else 8 if re.search(r"\bv\d+\.", i.operands) else 0
    return max((BYTES[w] for w in VECTOR.findall(i.operands)), default=0)


# ---- loops ------------------------------------------------------------------------------------------

class Function:
    def __init__(self, name):
        self.name, self.code, self.label = name, [], {}


def functions(assembly, arch):
    """Those of the assembly's kernels."""
    found, f, line, comment = [], None, 0, "//" if arch == "aarch64" else "#"
    own = set(re.findall(r'^\t\.file (\d+) .*text\.c"', assembly.replace(".file\t", ".file "), flags=re.M))
    for text in assembly.splitlines():
        text = text.split(comment)[0].rstrip()
        label = re.match(r"([\w.$]+):\Z", text)
        if label and not label[1].startswith("."):
            f = Function(label[1])
            found.append(f)
        elif label and f:
            f.label[label[1]] = len(f.code)
        elif text.startswith("\t.loc"):
            line = int(text.split()[2]) if text.split()[1] in own else line
        elif f and text.startswith("\t") and not text.startswith("\t."):
            f.code.append(Instruction(text.strip(), line))
    return [f for f in found if "_k_" in f.name and "_any" not in f.name]


def target_of(f, i):
    word = re.split(r"[\s,]+", i.operands)[-1]
    return f.label.get(word) if re.match(r"j|b(\.|\Z|[a-z]{2}\Z)|cbn?z|tbn?z", i.name) else None


class Loop:
    def __init__(self, f, first, end, depth, machine):
        self.f, self.depth, self.code = f, depth, f.code[first:end + 1]
        framed = any(re.fullmatch(r"%rsp,\s*%rbp", i.operands) and i.name.startswith("mov") for i in f.code)
        self.count, self.arithmetic = dict.fromkeys(KINDS, 0), []
        widths = collections.Counter()
        for i in self.code:
            kind, stack = (kind_arm if machine.arch == "aarch64" else kind_x86)(i, framed)
            self.count[kind] += 1
            self.count["stack"] += stack and kind not in ("other", "mask", "call")
            if kind in ("fma", "arith"):
                self.arithmetic.append(i)
                widths[width_of(machine.arch, i)] += 1
        self.width = widths.most_common(1)[0][0] if widths else 0
        self.line = collections.Counter(i.line for i in self.arithmetic or self.code).most_common(1)[0][0]
        self.least = self.cycles = None  # what llvm-mca says

    def work(self):
        return self.count["fma"] + self.count["arith"] + self.count["scalar"]

    def weight(self):
        return self.work() * 4 ** self.depth


def loops_find(f, machine):
    """The innermost loops: a range of instructions that ends with a branch to its first one, and has no other in it."""
    end = {}
    for at, i in enumerate(f.code):
        first = target_of(f, i)
        if first is not None and first <= at:
            end[first] = max(at, end.get(first, 0))
    ranges = list(end.items())
    for a, b in ranges:
        if any(a <= c and d <= b and (a, b) != (c, d) for c, d in ranges):
            continue
        depth = sum(c <= a and b <= d for c, d in ranges)
        yield Loop(f, a, b, depth, machine)


# ---- compiling --------------------------------------------------------------------------------------

def asked(words, **how):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def cross():
    return os.environ.get("CROSS_CC", "aarch64-linux-gnu-gcc")


def compiler(cc, machine):
    """Its words for this machine; None: it is not there, or does not know the machine."""
    here = os.uname().machine
    words = [cc]
    if machine.arch != here:
        words = [cc, f"--target={machine.arch}-linux-gnu"] if "clang" in cc else [cross()] if machine.arch == "aarch64" else []
    if not words or not shutil.which(words[0]):
        return None
    words += machine.flags
    return None if asked([*words, "-fsyntax-only", "-x", "c", "-include", "math.h", "/dev/null"]).returncode else words


def text_make(ein, path, words, folder):
    """The C text that ein makes for this compiler and machine, as `ein run` would; the runtime is that of the tree."""
    name = os.path.splitext(os.path.basename(path))[0]
    flags = [w for w in words if w.startswith("-m")]
    made = asked([ein, "build", path, "--lib", "-o", folder + "/", "--cc=" + " ".join(w for w in words if w not in flags),
                  "--flags=" + " ".join(["-O0", *flags])])
    if made.returncode:
        raise Failure(f"{path}: {made.stderr}")
    text = os.path.join(folder, "text.c")
    with open(os.path.join(folder, name + ".c")) as was, open(text, "w") as to:
        to.write(was.read().replace(f'"{name}-runtime.h"', '"ein_run.h"'))
    return text


def assembly_make(ein, path, words, folder, more):
    text = text_make(ein, path, words, folder)
    made = asked([*words, *LANGUAGE, *more, "-g1", "-I", RUNTIME, "-S", "-o", "-", text])
    if made.returncode:
        raise Failure(f"{path}: {made.stderr}")
    return made.stdout


def summaries(codes, machine, mca):
    """What llvm-mca says of each; None where it does not know an instruction."""
    text = "".join(
        "# LLVM-MCA-BEGIN\n" + "".join(i.text + "\n" for i in code if i.name not in CALLS) + "# LLVM-MCA-END\n"
        for code in codes)
    made = asked([mca, f"-mtriple={machine.arch}-linux-gnu", f"-mcpu={machine.cpu}", "-json", "-iterations=100"], input=text)
    if made.returncode:
        return [None] if len(codes) == 1 else [summaries([code], machine, mca)[0] for code in codes]
    return [r["SummaryView"] for r in json.loads(made.stdout)["CodeRegions"]]


def estimate(loops, machine, mca):
    """Sets the cycles of an iteration, and of its arithmetic alone."""
    whole = summaries([x.code for x in loops], machine, mca)
    least = summaries([x.arithmetic or x.code for x in loops], machine, mca)
    for x, w, l in zip(loops, whole, least):
        x.cycles = w and w["TotalCycles"] / w["Iterations"]
        x.least = l and l["BlockRThroughput"]


# ---- tables -----------------------------------------------------------------------------------------

def matches(name, patterns):
    return not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)


def programs(a, folder):
    """Yields names and paths: the files, and rows if any are asked for."""
    for path in a.files:
        yield os.path.splitext(os.path.basename(path))[0], path
    for group in GROUPS if a.group or a.only else []:
        for row in [row.at(False) for part in group.parts for row in part.rows]:
            if not matches(group.name, a.group) or not matches(row.name, a.only):
                continue
            path = os.path.join(folder, row.name + ".ein")
            with open(path, "w") as f:
                f.write(row.program())
            yield row.name, path


def row_print(program, machine, cc, x):
    c = x.count
    share = f"{x.least / x.cycles:.0%}" if x.cycles and x.least is not None else ""
    number = ("" if v is None else f"{v:.1f}" for v in (x.least, x.cycles))
    cells = [program, x.f.name.split("_k_", 1)[1], x.line, x.depth, machine, cc, x.width, len(x.code),
             *(c[k] or "" for k in KINDS), *number, share]
    print("| " + " | ".join(str(v) for v in cells) + " |", flush=True)


def table_begin():
    heads = ["program", "kernel", "line", "depth", "machine", "compiler", "bytes", "all", *KINDS, "least", "cycles", "share"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")


def mca_find():
    names = [f"llvm-mca-{version}" for version in range(25, 13, -1)] + ["llvm-mca"]
    return next((n for n in names if shutil.which(n)), None)


def options_parse():
    a = argparse.ArgumentParser(description="Counts the instructions of the innermost loops of kernels, for any processor.")
    a.add_argument("ein")
    a.add_argument("files", nargs="*", metavar="FILE.ein")
    a.add_argument("--group", nargs="+", help="rows of these groups of peers.py")
    a.add_argument("--only", nargs="+", help="rows by name")
    a.add_argument("--machine", nargs="+", default=USUAL, choices=sorted(MACHINES))
    a.add_argument("--cc", nargs="+", default=["gcc", "clang-19"])
    a.add_argument("--flags", default="", help="more flags for the compilers")
    a.add_argument("--loops", type=int, default=3, help="so many of a kernel (3)")
    a.add_argument("--all", action="store_true", help="every innermost loop with arithmetic")
    a.add_argument("--text", action="store_true", help="the loops' instructions, too")
    a.add_argument("--mca", default=mca_find(), help="llvm-mca, the newest by default")
    return a.parse_args()


def chosen(assembly, machine, a):
    for f in functions(assembly, machine.arch):
        loops = sorted((x for x in loops_find(f, machine) if x.work()), key=Loop.weight, reverse=True)
        yield from loops if a.all else loops[:a.loops]


def table_make(a, program, path, name, cc, folder):
    machine = MACHINES[name]
    words = compiler(cc, machine)
    if not words:
        print(f"{cc} does not compile for {name}", file=sys.stderr)
        return
    loops = list(chosen(assembly_make(a.ein, path, words, folder, a.flags.split()), machine, a))
    if a.mca:
        estimate(loops, machine, a.mca)
    for x in loops:
        row_print(program, name, cc, x)
        if a.text:
            print("\n".join(i.text for i in x.code))


def main():
    a = options_parse()
    table_begin()
    with tempfile.TemporaryDirectory() as folder:
        for program, path in programs(a, folder):
            for name in a.machine:
                for cc in a.cc:
                    table_make(a, program, path, name, cc, folder)


if __name__ == "__main__":
    main()
