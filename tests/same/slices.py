#!/usr/bin/env python3
"""slices.py EIN [--seed N] [--count N] [--print]: random loops whose states change in a few slices. The new values
read any element of any state: at turns, at indices from data, reversed, in sums. Conditions pin one or several labels,
overlap, and may also read the states. The C must agree with eval. All values are integers. A failure prints the
program."""
import random
import sys

import verified


class Loop:
    def __init__(self, r, number):
        self.r = r
        self.number = number
        self.turns = r.choice([1, 3, 6, 7])
        self.states = [(name, r.choice([["s"], ["s", "c"], ["s", "c"], ["c", "s"]]))
                       for name in [f"v{number}", f"w{number}", f"y{number}"][: r.randrange(1, 4)]]

    def k(self, i):
        return f"k{self.number}[{i}]"

    def place(self):
        """An index of s: any number."""
        return self.r.choice(["i", "i", "i", "N - 1 - i", "i + 1", "i - 1", self.k("i"), self.k("i"), "2 * i", "i // 2",
                              str(self.r.randrange(3)), f"at{self.number}"])

    def inside(self):
        """The same, where it is known to be an index."""
        return self.r.choice(["i % N", "N - 1 - i % N", self.k("i") + " % N", "(i + 1) % N", "0", "N - 1",
                              "(i * 3 + 1) % N"])

    def read(self, labels, own):
        """An element of a state."""
        r = self.r
        name, axes = r.choice(self.states) if r.randrange(3) else own
        index = []
        for a in axes:
            here = a in labels and r.randrange(2)
            if a == "s":
                index.append("s" if here else "N - 1 - s" if "s" in labels and r.randrange(3) == 0 else self.inside())
            else:
                index.append("c" if here else "2 - c" if "c" in labels and r.randrange(2) else str(r.randrange(3)))
        return f"{name}[{','.join(index)}]"

    def value(self, labels, own):
        r = self.r
        kind = r.randrange(7)
        if kind == 0:
            return f"x[{'s' if 's' in labels else self.inside()}] + i"
        if kind == 1:
            name, axes = r.choice(self.states)
            index = ",".join("z" if a == "s" else str(r.randrange(3)) for a in axes)
            return f"(sum[z:N] {name}[{index}]) % 1000"
        if kind == 2:
            return f"({self.read(labels, own)} + {self.read(labels, own)}) % 1000"
        if kind == 3:
            return f"{self.read(labels, own)} - i"
        if kind == 4:
            return f"{own[0]}[{','.join(own[1])}] + {r.randrange(1, 90)}"
        return self.read(labels, own)

    def pin(self, axes, own):
        r = self.r
        c = f"s == {self.place()}" if r.randrange(4) or "c" not in axes else f"c == {r.randrange(3)}"
        more = r.randrange(9)
        if more == 0:
            c = f"{c} and {self.read(axes, own)} % 2 == 0"
        elif more == 1 and "c" in axes:
            c = f"{c} and c < 2"
        elif more == 2:
            c = f"i > 0 and {c}"
        elif more == 3:
            c = f"{c} and {own[0]}[{','.join(own[1])}] < 150"
        elif more == 4:
            c = f"({c} or s == {self.place()})"
        return c

    def next(self, name, axes):
        r = self.r
        here = f"{name}[{','.join(axes)}]"
        text = here
        for _ in range(r.choice([1, 1, 2, 3])):
            c, v = self.pin(axes, (name, axes)), self.value(axes, (name, axes))
            text = f"if {c} then {v} else {text}" if r.randrange(4) or text != here else f"if not ({c}) then {text} else {v}"
        if r.randrange(4) == 0:  # what is added, not what is put
            text = f"{here} {r.choice('+-')} (if {self.pin(axes, (name, axes))} then {self.value(axes, (name, axes))} else 0)"
            if r.randrange(2):
                text = f"{text} + (if not ({self.pin(axes, (name, axes))}) then 0 else {self.value(axes, (name, axes))})"
            if r.randrange(3) == 0:
                text = f"({text}) * (if {self.pin(axes, (name, axes))} then 3 else 1)"
        return f"  next {here} = {text}"

    def text(self):
        """Its lines, and what it puts out."""
        r, at = self.r, f"at{self.number}"
        lines = [f"input {self.k(f't:{self.turns}')} : i64 = 3 * t % (N + 2) - 1", f"repeat i < {self.turns} {{",
                 f"  state {at} : i64 = 0"]
        for name, axes in self.states:
            size = ",".join(f"{a}:{'N' if a == 's' else 3}" for a in axes)
            lines.append(f"  state {name}[{size}] : i64 = 100 * s" + (" + c" if "c" in axes else ""))
        moves = [self.next(name, axes) for name, axes in self.states]
        if r.randrange(3) == 0:
            name, axes = self.states[0]
            lines.append(f"  m{self.number} = max[z:N] {name}[{','.join('z' if a == 's' else '0' for a in axes)}]")
            moves.append(f"  next {at} = ({at} + m{self.number}) % N")
        else:
            moves.append(f"  next {at} = ({at} + 2) % N")
        r.shuffle(moves)
        return lines + moves + ["}"], [name for name, _ in self.states]


def program(seed, loops):
    r = random.Random(seed)
    lines, out = [f"dim N = {r.choice([1, 2, 5, 6])}", "input x[s:N] : i64 = 5 * s - s * s"], []
    for number in range(loops):
        body, names = Loop(r, number).text()
        lines += body
        out += names
    return "\n".join(lines + [f"output {', '.join(out)}"]) + "\n"


sys.exit(verified.main(__doc__, program, 3, 16, "loops"))
