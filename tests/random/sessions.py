#!/usr/bin/env python3
"""Tests sessions at the prompt: sessions.py EIN FIRST LAST [WORDS FOR EIN REPL...]

Each seed gives a session that defines sizes, tensors, defs and loops, defines them again, often as something else,
takes definitions back, makes mistakes, and asks for values. Each answer must be that of a new session that is told what
the answer needs and nothing else: no value, shape or order may stay from what was there before. A failure prints the
question, both answers and what the new session was told. Exits with 1 if any differs.
"""
import json
import random
import re
import subprocess
import sys

LINES = 60
WORD = re.compile(r"[A-Za-z_]\w*'*")


class Prompt:
    def __init__(self, ein, words):
        self.process = subprocess.Popen([ein, "repl", "--json", *(words or ["--target=eval"])], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, text):
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            print(f"the session ended with {self.process.wait()} at {text}")
            sys.exit(1)
        return json.loads(line)

    def leave(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Entry:
    """A statement. Of a loop the first name is the counter, which other loops may have, too."""

    def __init__(self, names, text):
        self.names, self.text, self.loop = names, text, text.startswith("repeat")

    def replaces(self, old):
        both = set(self.names) & set(old.names)
        return bool(both - {self.names[0]} if self.loop and old.loop else both)


def with_entry(entries, new):
    at = [i for i, e in enumerate(entries) if new.replaces(e)]
    left = [e for e in entries if not new.replaces(e)]
    place = at[0] if at else len(left)
    return left[:place] + [new] + left[place:]


def needed(entries, words):
    """What these words need, each entry behind those that it uses; None: something needs itself."""
    by = {n: e for e in entries for n in e.names}
    done, open_ = [], []

    def visit(e):
        if e in done:
            return True
        if e in open_:
            return False
        open_.append(e)
        fits = all(visit(by[w]) for w in WORD.findall(e.text) if w in by and w not in e.names)
        done.append(e)
        return fits

    return done if all([visit(by[w]) for w in words if w in by]) else None


class Maker:
    """`kind` has what a name is: "dim", "def", or the sizes of a tensor's axes."""

    def __init__(self, seed):
        self.r, self.n, self.kind = random.Random(seed), 0, {}

    def names(self, *kinds):
        return [n for n, k in self.kind.items() if k in kinds or (list in kinds and isinstance(k, list))]

    def size(self):
        return self.r.choice(self.names("dim") or ["3"])

    def name(self):
        if self.kind and self.r.random() < 0.45:
            return self.r.choice(list(self.kind))
        self.n += 1
        return f"A{self.n}" + self.r.choice(["", "", "'"])

    def read(self, env):
        name = self.r.choice(self.names(list))
        at = [self.r.choice([l for l in env if env[l] == d] or ["0", "1"]) for d in self.kind[name]]
        return name + (f"[{','.join(at)}]" if at else "") + ("" if all(a in env for a in at) else " ?? 1")

    def expr(self, env, depth):
        r, kind = self.r, self.r.random()
        if depth == 0 or kind < 0.4:
            return self.read(env) if self.names(list) and r.random() < 0.75 else r.choice([*env, "2", "7", self.size()])
        if kind < 0.6:
            return f"({self.expr(env, depth - 1)} {r.choice('+-*')} {self.expr(env, depth - 1)})"
        label = next(l for l in "ijkl" if l not in env)
        inner = {**env, label: self.size()}
        what = r.choice(["sum", "max", *self.names("def")])
        return f"({what}[{label}:{inner[label]}](({self.expr(inner, depth - 1)} + {label}) % 1000))"

    def left(self):
        labels = self.r.sample("ij", self.r.choice([0, 1, 1, 2]))
        env = {l: self.size() for l in labels}
        return env, f"[{', '.join(f'{l}:{d}' for l, d in env.items())}]" if env else ""

    def loop(self, name, env, sized):
        self.n += 1
        counter, stack = self.r.choice(["t", f"t{self.n}"]), f"h{self.n}"
        at = f"[{','.join(env)}]" if env else ""
        turns = self.size()
        text = f"repeat {counter} < {turns} {{\n  state {name}{sized} = ({self.expr(env, 1)}) % 100\n"
        text += f"  {stack}[{counter}] = {counter} + 5\n  next {name}{at} = ({self.expr(env, 2)} + {counter}) % 100\n}}"
        return Entry([counter, name, stack], text), {name: list(env.values()), stack: [turns]}

    def statement(self):
        kind, name = self.r.random(), self.name()
        if kind < 0.15:
            size = self.r.choice("NMK")
            return Entry([size], f"dim {size} = {self.r.randint(0, 4)}"), {size: "dim"}
        if kind < 0.22:
            return Entry([name], f"def {name}[j](x) = sum[j] (x % 100)"), {name: "def"}
        env, sized = self.left()
        if kind < 0.4:
            return self.loop(name, env, sized)
        word = self.r.choice(["", "", "output ", "input "])
        dtype = " : i64" if word == "input " else ""
        return Entry([name], f"{word}{name}{sized}{dtype} = {self.expr(env, 2)}"), {name: list(env.values())}

    def question(self):
        if self.names(list) and self.r.random() < 0.6:
            return self.r.choice(self.names(list))
        return self.expr(self.left()[0], 2) + " + 0"


class Session:
    def __init__(self, ein, seed, words):
        self.ein, self.words, self.seed, self.wrong, self.asked = ein, words, seed, 0, 0
        self.m, self.prompt, self.entries, self.before = Maker(seed), Prompt(ein, words), [], []

    def compare(self, text, got, entries, words):
        told = needed(entries, words)
        new, want = Prompt(self.ein, self.words), {"ok": False}
        for e in [x for x in told or [] if x.text != text]:
            new.ask(e.text)
        if told is not None:
            want = new.ask(text)
        new.leave()
        self.asked += 1
        if got["ok"] != want["ok"] or (got["ok"] and got["values"] != want["values"]):
            self.wrong += 1
            print(f"seed {self.seed}: {text}\n  got {got}\n  of a new session {want}")
            print("\n".join(e.text for e in told or []), flush=True)

    def define(self):
        e, kinds = self.m.statement()
        got, then = self.prompt.ask(e.text), with_entry(self.entries, e)
        self.compare(e.text, got, then, e.names)
        if not got["ok"]:
            return
        self.before.append((self.entries, dict(self.m.kind)))
        self.entries = then
        defined = {n for x in then for n in x.names}
        self.m.kind = {**{n: k for n, k in self.m.kind.items() if n in defined}, **kinds}

    def turn(self):
        kind = self.m.r.random()
        if kind < 0.5:
            self.define()
        elif kind < 0.9:
            text = self.m.question()
            self.compare(text, self.prompt.ask(text), self.entries, WORD.findall(text))
        elif kind < 0.96:
            if self.prompt.ask(":undo")["ok"] and self.before:
                self.entries, self.m.kind = self.before.pop()
        else:
            self.prompt.ask(self.m.r.choice(["zz[i]", "x = (", "\"", ":type N", ":vars", "N = N + 1"]))


def main():
    ein, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    asked = wrong = 0
    for seed in range(first, last):
        s = Session(ein, seed, sys.argv[4:])
        for _ in range(LINES):
            s.turn()
        s.prompt.leave()
        asked, wrong = asked + s.asked, wrong + s.wrong
    print(f"{asked} answers compared, {wrong} differ")
    return wrong != 0 or asked == 0


if __name__ == "__main__":
    sys.exit(main())
