#!/usr/bin/env python3
"""Tests products in which data choose one of a few matrices for each row: grouped.py EIN FIRST LAST [OPTION...]

Each seed gives a program: rows of one to three labels, known or not, a key of them, and a product of a row with the
matrix that its key chooses, or the products of the rows that have a key added up, as in the gradient of such a matrix.
Keys are out of range at times, predicates leave rows out, and something may be done with the result. The data are small
integers, so every order of a sum gives the same. `ein verify` must find the same outputs, or the same failure, by eval
and by C. The options are verify's (default --target=jit). A failure prints the program. Exits with 1 if any fail, or if
fewer than half of the programs have groups."""
import sys

from verified import verify_all

SPOIL = [(7, 5, 3), (11, 4, 2), (3, 8, 5)]


def names(labels):
    return ",".join(name for name, _ in labels)


class Program:
    def __init__(self, r):
        self.r = r
        self.groups = r.choice([2, 3, 5, 8])
        self.dtype = r.choice(["f32", "f32", "f64", "i32", "i64", "f16", "u8"])
        self.symbolic = r.random() < 0.3
        rows = self.groups * r.choice([4, 5, 9, 20])
        self.rows = r.choice([
            [("t", rows + r.randint(0, 7))],
            [("t", rows // 2 + r.randint(1, 5)), ("k", r.choice([2, 3]))],
            [("t", r.choice([2, 3])), ("k", rows // 4 + r.randint(1, 4)), ("b", 2)]])
        self.side = r.choice([[("f", r.choice([33, 70, 96, 130]))], [("f", r.choice([8, 11, 17])), ("h", r.choice([7, 12]))]])
        self.deep = r.choice([[("c", r.choice([127, 255, 300]))], [("c", r.choice([16, 19, 24])), ("d", r.choice([8, 12]))]])
        self.lines = ["dim " + ", ".join(f"{n.upper()} = {s}" for n, s in self.rows)] if self.symbolic else []

    def declared(self, labels):
        known = lambda n, s: n.upper() if self.symbolic and (n, s) in self.rows else s
        return ",".join(f"{n}:{known(n, s)}" for n, s in labels)

    def tensor(self, name, labels):
        """Declares a tensor of small integers."""
        a, b, c = self.r.choice(SPOIL)
        value = " + ".join(f"{a + b * k} * {n}" for k, (n, _) in enumerate(labels)) + f" + {c} * {labels[0][0]} * {labels[-1][0]}"
        few = self.dtype in ("f16", "u8")
        self.lines.append(f"input {name}[{self.declared(labels)}] : {self.dtype} = ({value}) % {2 if few else 7}{'' if few else ' - 3'}")
        return f"{name}[{names(labels)}]"

    def key(self):
        spoil = self.r.choice(["", "", "", f" + (if {self.rows[0][0]} == 1 then {self.groups} else 0)",
                               f" - (if {self.rows[-1][0]} == 1 then {self.groups} else 0)"])
        value = " + ".join(f"{3 + k} * {n} * {n}" for k, (n, _) in enumerate(self.rows))
        self.lines.append(f"input g[{self.declared(self.rows)}] : {self.r.choice(['i32', 'i64', 'i16'])} = ({value}) % {self.groups}{spoil}")
        return f"g[{names(self.rows)}]"

    def row(self, r):
        """A tensor with all or some of the rows' labels."""
        some = [x for x in self.rows if r.random() < 0.6] if r.random() < 0.3 else self.rows
        labels = (some or self.rows[:1]) + self.deep
        if r.random() < 0.3:
            r.shuffle(labels)
        return self.tensor("x", labels)

    def chosen(self, r):
        """A product of each row with a matrix that is chosen for it."""
        key, first = self.key(), self.rows[0][0]
        matrix = self.deep + self.side
        if r.random() < 0.3:
            r.shuffle(matrix)
        at = r.randint(0, len(matrix))
        row = self.row(r)
        self.tensor("W", matrix[:at] + [("e", self.groups)] + matrix[at:])
        index = [n for n, _ in matrix]
        index.insert(at, r.choice([key, key, f"({key} + 1) % {self.groups}", f"max({key}, 0)"]))
        where = r.choice(["", "", "", f" where 0 <= {key} and {key} < {self.groups}", f" where {first} % 4 != 1", f" where {key} != 1"])
        reducer = r.choice(["sum", "sum", "sum", "max", "min"])
        body = f"({row} {'*' if reducer == 'sum' else r.choice('+*')} W[{','.join(index)}])"
        value = f"{reducer}[{names(self.deep)}{where}] {body}"
        out = self.rows + self.side
        if r.random() < 0.3:
            r.shuffle(out)
        if reducer != "sum" and where:
            return out, f"({value}) ?? 5"
        last = self.rows[-1][0]
        if len(self.rows) > 1 and not where and r.random() < 0.3: # several choices for each row
            return [x for x in out if x[0] != last], f"{reducer}[{names(self.deep)},{last}] {body}"
        return r.choice([(out, value), (out, value), (out, f"max({value}, 0)"), (out, f"({value}) + {first}"),
                         (out, f"({value}) * {key}"), (out, f"({value}) ?? 3"),
                         ([x for x in out if x[0] != last], f"sum[{last}] ({value})")])

    def added(self, r):
        """The products of the rows of each group, added up."""
        key, first = self.key(), self.rows[0][0]
        row, other = self.row(r), self.tensor("y", self.rows + self.side)
        out = [("e", self.groups)] + self.deep + self.side
        if r.random() < 0.3:
            r.shuffle(out)
        is_key = f"{r.choice([key, key, f'({key} + 1) % {self.groups}', f'{key} + 1'])} == e"
        where = r.choice([is_key, is_key, f"0 <= {key} and {is_key}", f"{is_key} and {first} > 2", f"{first} % 3 != 1 and {is_key}"])
        reducer = r.choice(["sum", "sum", "sum", "max", "min"])
        value = f"{reducer}[{names(self.rows)} where {where}] ({row} {'*' if reducer == 'sum' else r.choice('+*')} {other})"
        if reducer != "sum":
            return out, f"({value}) ?? 7"
        choice = r.randint(0, 3)
        if choice == 0:
            return out, f"{self.tensor('V', out)} - 2 * ({value})"
        return out, [value, f"({value}) + e", f"2 * ({value})"][choice - 1]

    def text(self):
        out, value = self.added(self.r) if self.r.random() < 0.35 else self.chosen(self.r)
        return "\n".join([*self.lines, f"output Z[{self.declared(out)}] = {value}"]) + "\n"


def main():
    n, count, failed = verify_all(lambda r: Program(r).text(), "loop", lambda loops: "rows sorted into" in loops, "with groups")
    return failed > 0 or count["refused"] > 0 or 2 * count["with groups"] < n


sys.exit(main())
