#!/usr/bin/env python3
"""Tests states of which each turn changes parts: parts.py EIN FIRST LAST [TARGET...]

Each seed gives a repeat whose next value is made by a chain of `if`s that compare labels with one another, with the
turn and with numbers, as eliminations, factorisations and tables do. New values are made of the state at its own place,
on the turn's row and column, at neighbours and mirrored. Some can be changed where they are, in some order of the
parts, and others cannot. Every fourth state has one label more. All values are integers, so each target (c, jit, or a
number of sites) must give the evaluator's outputs to the byte. A failure prints the program. Exits with 1 if any
differ."""
import random
import re
import sys

sys.dont_write_bytecode = True
from against import compare  # noqa: E402

TARGETS = ["jit", "3"]


class Maker:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.n = r.choice([1, 2, 3, 5, 8, 17, 20, 53])
        self.dtype = r.choice(["i64", "i64", "i32", "f64"])

    def side(self):
        """What a label is compared with."""
        r = self.r
        number = str(r.randint(0, self.n))
        return r.choice([*["t"] * 5, "N-1-t", "t+1", "t-1", "i", "j", "N-1-i", number, "p[t]", "2*t"])

    def condition(self):
        r = self.r
        one = [f"{r.choice('ij')} {r.choice(['<', '<=', '>', '>=', '=='])} {self.side()}"
               for _ in range(r.randint(1, 3))]
        if r.random() < 0.1:
            one.append("(i + j) % 2 == t % 2")
        if r.random() < 0.08:
            one.append("i + j == t")
        return f" {r.choice(['and', 'and', 'and', 'and', 'or'])} ".join(one)

    def read(self):
        r = self.r
        at = r.choice(["i,j", "i,t", "t,j", "t,t", "i,j", "i,t", "t,j", "j,i", "j,t", "t,i", "i-1,j", "i,j+1",
                       "i+1,j-1", "0,j", "i,N-1", "N-1,0", "0,0", "N-1-i,j", "p[i],j", "i,t+1"])
        return f"(U[{at}] ?? {r.randint(-3, 3)})"

    def value(self):
        r = self.r
        form = r.choice(["{} + {}", "{} - m[i]", "{} + {} * {}", "{} * 3 - {}", "{} - {} * c[j]", "{}", "{} + A[i,j]",
                         "{} + t"])
        return form.format(*(self.read() for _ in range(form.count("{}"))))

    def chain(self, depth):
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return "U[i,j]" if r.random() < 0.8 else self.value()
        then = self.chain(depth - 1) if r.random() < 0.25 else self.value()
        return f"(if {self.condition()} then {then} else {self.chain(depth - 1)})"

    def program(self):
        r = self.r
        turns = "2" if self.dtype == "f64" else r.choice(["N", "N", "2", "N-1"]) # so floats stay exact
        lines = [f"dim N = {self.n}", f"input A[i:N,j:N] : {self.dtype} = {self.dtype}((3*i + 5*j) % 7 - 3)",
                 f"input p[i:N] : i64 = ({r.choice([1, 3, 7])}*i + {r.randint(0, 3)}) % N",
                 f"repeat t < {turns} {{", f"  state U[i:N,j:N] : {self.dtype} = A[i,j]",
                 f"  m[i:N] = {self.read().replace('j', 'i')} % 11", f"  c[j:N] = {self.read().replace('i', 'j')} % 11",
                 f"  next U[i,j] = {self.dtype}({self.chain(r.randint(1, 3))})"]
        if r.random() < 0.3:
            return [*lines, f"  S[t,i:N] = {self.read().replace('j', 'i')}", "}", "output U, S"]
        return [*lines, "}", "output U"]


def batched(lines, at):
    """The same with another label of U, and of what is read of it, first or last."""
    size = {"U": "b:3", "m": "b:3", "c": "b:3", "S": "b:3"}

    def more(found):
        name, labels = found.groups()
        new = size[name] if ":" in labels else "b"
        return f"{name}[{new},{labels}]" if at == "first" else f"{name}[{labels},{new}]"

    return [re.sub(r"\b([UmcS])\[([^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]", more, line) for line in lines]


def program(seed):
    lines = Maker(seed).program()
    return batched(lines, "first" if seed % 8 == 3 else "last") if seed % 4 == 3 else lines


if __name__ == "__main__":
    sys.exit(compare(program, lambda r: [{}], TARGETS))
