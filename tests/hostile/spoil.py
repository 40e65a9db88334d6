#!/usr/bin/env python3
"""Corrupts texts of the intermediate languages: changes one number, name or sign in each. Ein checks a given text
before it generates C. So each text must be refused, or run without invalid memory accesses, under AddressSanitizer.

spoil.py EIN RUNTIME [--seed N] [--count N] [--stops graph,task,loop] [--sites N] [--keep FOLDER] PROGRAM...

If EIN_TURN is a number, it tests every other text: the odd ones if the number is odd. Exits with 1 and prints a line
for each text that crashes ein, that cc refuses, or whose program accesses invalid memory. The kernels of many texts
are compiled together. --keep saves the texts that failed. With --sites, the texts are of plans for that many sites,
and `ein run` runs all sites in its process."""
import os
import random
import re
import subprocess
import sys
import tempfile

BATCH = 40
FLAGS = ["-O0", "-w", "-fsanitize=address,bounds", "-fno-sanitize-recover=all"]
SIGNS = ["+", "-", "*", "//", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or", "min", "max"]
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//|<=|>=|==|!=|\.\.|[%&$@#]?[A-Za-z_][\w\'~.]*|[%&]\d+|\d+(?:\.\d+)?|\S')
PLACE = re.compile(r' @"(?:\\.|[^"\\])*":\d+:\d+')


def other(word, line, whole, chance):
    """Another token that could stand there, or None."""
    if re.fullmatch(r"\d+", word):
        n = int(word)
        return str(chance.choice([n + 1, max(n - 1, 0), n + 4, 2 * n, 0, 1]))
    if word in SIGNS:
        return chance.choice(SIGNS)
    if re.fullmatch(r"[%&]\d+", word):
        return chance.choice([w for w in whole if w[0] in "%&" and w[1:].isdigit()])
    if re.fullmatch(r"[$@]?[A-Za-z_]\w*", word):
        return chance.choice([w for w in line if re.fullmatch(r"[$@]?[A-Za-z_]\w*", w)])
    return None


def spoil(text, chance):
    """The text with one token changed, and what was."""
    lines = text.split("\n")
    whole = TOKEN.findall(text)
    for _ in range(1000):
        at = chance.randrange(1, len(lines))
        words = list(TOKEN.finditer(lines[at]))
        if len(words) < 4 or words[0].group() in ("note", "how", "output", "input", "dim"):
            continue
        one = chance.choice(words[2:])
        new = other(one.group(), [w.group() for w in words], whole, chance)
        if new is None or new == one.group():
            continue
        was = lines[at].strip()
        lines[at] = lines[at][:one.start()] + new + lines[at][one.end():]
        return "\n".join(lines), f"{was}  =>  {lines[at].strip()}"
    return None, None


class Corpus:
    def __init__(self, ein, runtime, work, sites):
        self.ein, self.runtime, self.work, self.sites = ein, runtime, work, sites
        self.failed = self.refused = self.ran = self.slow = 0
        self.keep = None
        self.objects = []
        self.texts = {}

    def fail(self, what, name, said):
        self.failed += 1
        print(f"{what}: {name}\n{said}")
        path = os.path.join(self.work, name)
        if self.keep and os.path.exists(path):
            os.makedirs(self.keep, exist_ok=True)
            with open(path) as f, open(os.path.join(self.keep, name), "w") as to:
                to.write(f.read())

    def text(self, path, stop):
        """What ein prints of a program, made once: its ending and the text; None: ein prints none."""
        if (path, stop) not in self.texts:
            done = subprocess.run([self.ein, "build", path, *self.sites, "--stop=" + stop, "-o", "-"],
                                  capture_output=True, text=True)
            ending = "graph" if stop in ("graph", "optimised") else stop
            self.texts[path, stop] = (ending, PLACE.sub("", done.stdout)) if done.returncode == 0 else None
        return self.texts[path, stop]

    def spoiled(self, programs, stops, chance):
        """One of their texts, spoiled: the name of the program, the ending, the text, what was changed."""
        for _ in range(1000):
            path = chance.choice(programs)
            made = self.text(path, chance.choice(stops))
            bad, what = spoil(made[1], chance) if made else (None, None)
            if bad is not None:
                return os.path.basename(path), made[0], bad, what
        sys.exit("ein prints no text that can be spoiled")

    def emit(self, name):
        """ein makes C of it, or says why not. Whether there is C."""
        prefix = name.split(".")[0]
        done = subprocess.run(["timeout", "20", self.ein, "build", name, "--emit=c", "--prefix", prefix, "-o",
                               prefix + ".c"],
                              cwd=self.work, capture_output=True, text=True, errors="replace")
        if done.returncode in (1, 2, 4):
            self.refused += 1
        elif done.returncode == 124:
            self.slow += 1
        elif done.returncode != 0:
            self.fail(f"ein ends with {done.returncode}", name, done.stderr[-800:])
        return done.returncode == 0

    def runtime_objects(self):
        """What a program has beside its kernels, compiled once."""
        subprocess.run([sys.executable, os.path.join(self.runtime, "one.py"), self.work], check=True)
        o = os.path.join(self.work, "ein_program.o")
        subprocess.run(["cc", "-c", *FLAGS, "-D_GNU_SOURCE", "-o", o, os.path.join(self.work, "ein_program.c")],
                       check=True)
        self.objects.append(o)

    def compile(self, names):
        """One program of many models, which PICK chooses among; None: cc refuses it."""
        all_c, program = os.path.join(self.work, "all.c"), os.path.join(self.work, "all")
        with open(all_c, "w") as f:
            for n in names:
                f.write(f'#include "{n}.c"\n')
            f.write("#include <stdlib.h>\nstatic const ein_model *const models[] = {")
            f.write(", ".join(f"&{n}_model" for n in names) + "};\n")
            f.write("int ein_program(const ein_model *model, const char *version, int device, int argc, char **word);\nint main(int argc, char **word) {\n"
                    '  return ein_program(models[atoi(getenv("PICK"))], "?", 0, argc, word);\n}\n')
        return subprocess.run(["cc", *FLAGS, "-D_GNU_SOURCE", "-I", self.runtime, "-o", program, all_c, *self.objects,
                               "-lm", "-lpthread"],
                              capture_output=True, text=True), program

    def run(self, names):
        done, program = self.compile([n.split(".")[0] for n in names])
        if done.returncode and len(names) == 1:
            self.fail("cc refuses it", names[0], done.stderr[:1200])
        for half in (names[:len(names) // 2], names[len(names) // 2:]) if done.returncode and len(names) > 1 else ():
            self.run(half)
        if done.returncode:
            return
        for i, name in enumerate(names):
            with open(os.path.join(self.work, name)) as f:
                words = arguments(f.read())
            env = dict(os.environ, PICK=str(i), ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1",
                       EIN_NUM_THREADS="2")
            ran = subprocess.run(["timeout", "10", program, *words], env=env, capture_output=True, text=True,
                                 errors="replace")
            self.judge(name, words, ran)

    def judge(self, name, words, ran):
        if ran.returncode in (0, 1, 2, 4) and "Sanitizer" not in ran.stderr and "runtime error" not in ran.stderr:
            self.ran += 1
        elif ran.returncode == 124:
            self.slow += 1
        else:
            self.fail(f"it ends with {ran.returncode}", name, f"{' '.join(words)}\n{ran.stderr[:2000]}")

    def run_sites(self, name):
        """All sites in one process of ein, whose emitted code alone is looked at, and what it asks of malloc."""
        with open(os.path.join(self.work, name)) as f:
            words = arguments(f.read())
        done = subprocess.run(["timeout", "20", self.ein, "check", name], cwd=self.work, capture_output=True, text=True,
                              errors="replace")
        if done.returncode in (1, 2, 4):
            self.refused += 1
            return
        asan = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True,
                              check=True).stdout.strip()
        env = dict(os.environ, LD_PRELOAD=asan,
                   ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:handle_segv=1:exitcode=99")
        ran = subprocess.run(["timeout", "60", self.ein, "run", name, "--target=c", "--flags=-O0 -w -fsanitize=address",
                              *words],
                             cwd=self.work, env=env, capture_output=True, text=True, errors="replace")
        self.judge(name, words, ran)


def arguments(text):
    """Sizes for open dims, and ones for inputs that have no default."""
    words = []
    for name in re.findall(r"^\s*dim (\w+)$", text, re.M):
        words += ["-D", name + "=5"]
    for line in text.split("\n"):
        node = re.match(r"\s*(?:input|param) %\d+ (\w+)", line)
        task = re.match(r"\s*input (\w+) = %\d+", line)
        if node and " default " not in line:
            words.append(node.group(1) + "=ones")
        elif task and " optional" not in line:
            words.append(task.group(1) + "=ones")
    return words


def main(words):
    options = {"--seed": "1", "--count": "300", "--stops": "graph,optimised,task,loop,loop", "--keep": "",
               "--sites": ""}
    rest = []
    while words:
        word = words.pop(0)
        if word in options:
            options[word] = words.pop(0)
        else:
            rest.append(word)
    ein, runtime, programs = os.path.abspath(rest[0]), os.path.abspath(rest[1]), rest[2:]
    turn = os.environ.get("EIN_TURN")
    with tempfile.TemporaryDirectory() as work:
        c = Corpus(ein, runtime, work, ["-n", options["--sites"]] if options["--sites"] else [])
        c.keep = options["--keep"]
        if not c.sites:
            c.runtime_objects()
        waiting, said = [], {}
        for k in range(int(options["--count"])):
            if turn and k % 2 != int(turn) % 2:
                continue
            chance = random.Random(f"{options['--seed']}, {k}")
            program, ending, bad, what = c.spoiled(programs, options["--stops"].split(","), chance)
            name = f"s{k}.{ending}"
            said[name] = f"{program}: {what}"
            with open(os.path.join(work, name), "w") as f:
                f.write(bad)
            before = c.failed
            if c.sites:
                c.run_sites(name)
            elif c.emit(name):
                waiting.append(name)
            if c.failed > before:
                print(f"  {said[name]}")
            if len(waiting) == BATCH:
                c.run(waiting)
                waiting = []
        if waiting:
            c.run(waiting)
        for name in os.listdir(c.keep) if c.keep and os.path.isdir(c.keep) else []:
            print(name, said.get(name, ""))
    print(f"{options['--count']} spoiled texts: {c.refused} refused, {c.ran} ran, {c.slow} took too long, {c.failed} failed")
    return 1 if c.failed or not c.ran or not c.refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
