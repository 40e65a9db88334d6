"""Random contractions of two tensors, like those of physics, chemistry and neural networks: one or several labels of
rows, of columns, of both, and of the sum, in any order. A seed determines the list. The benchmark times them, and
tests spell them in other ways."""
import math
import random
import string
from dataclasses import dataclass


@dataclass
class Contraction:
    """Labels are letters; `left` and `right` are those of the operands, `out` those of the result."""
    left: str
    right: str
    out: str
    extent: dict

    def einsum(self):
        return f"{self.left},{self.right}->{self.out}"

    def summed(self):
        return "".join(x for x in self.extent if x not in self.out)

    def flops(self):
        return 2 * math.prod(self.extent.values())

    def program(self, dtype="f32"):
        def declared(labels):
            return ",".join(f"{x}:{self.extent[x]}" for x in labels)

        def read(labels):
            return ",".join(labels)

        return (f"input A[{declared(self.left)}], B[{declared(self.right)}] : {dtype}\n"
                f"output Y[{read(self.out)}] = sum[{read(self.summed())}] A[{read(self.left)}] * B[{read(self.right)}]\n")

    def replaced(self, what, by):
        return [s.replace(what, by) for s in (self.left, self.right, self.out)]

    def merged(self):
        """Merges pairs of labels that are adjacent wherever either occurs, until there are none."""
        for x in self.extent:
            for y in self.extent:
                spelled = (self.left, self.right, self.out)
                if x != y and all(s.count(x) == s.count(y) == s.count(x + y) for s in spelled):
                    extent = {k: v * self.extent[y] if k == x else v for k, v in self.extent.items() if k != y}
                    return Contraction(*self.replaced(x + y, x), extent).merged()
        return self

    def split(self, rng):
        """Splits random labels whose extents have a divisor into two."""
        c = self
        for x in list(self.extent):
            n = self.extent[x]
            parts = [d for d in range(2, n) if n % d == 0]
            free = [y for y in string.ascii_letters if y not in c.extent]
            if not parts or not free or rng.random() < 0.3:
                continue
            d, extent = rng.choice(parts), {}
            for k, v in c.extent.items():
                extent.update({x: n // d, free[0]: d} if k == x else {k: v})
            c = Contraction(*c.replaced(x, x + free[0]), extent)
        return c


TOTALS = (4, 12, 16, 30, 32, 64, 96, 128, 200, 256, 400, 512, 1000, 1024, 2048)


def extents_of(rng, total):
    """Returns one to three extents with about this product."""
    some = []
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        n = rng.choice((2, 3, 4, 5, 8, 12, 16, 32))
        if total >= 2 * n:
            some.append(n)
            total //= n
    some.append(total)
    rng.shuffle(some)
    return some


def contraction(rng, operations=5e8, elements=3e7):
    """Returns a contraction with at most this many operations, and elements per tensor."""
    total = {g: rng.choice(TOTALS) for g in "mnk"}
    total["b"] = rng.choice((1, 1, 1, 4, 16, 64))
    while 2 * math.prod(total.values()) > operations or max(math.prod(total[g] for g in s) for s in ("mkb", "knb", "mnb")) > elements:
        g = rng.choice([g for g in "mnkb" if total[g] >= 8 or (g == "b" and total[g] > 1)])
        total[g] //= 2
    letters, extent, group = iter(string.ascii_lowercase), {}, {}
    for g, n in total.items():
        group[g] = ""
        for part in extents_of(rng, n) if n > 1 else []:
            x = next(letters)
            extent[x] = part
            group[g] += x

    def spelled(groups):
        some = rng.sample(groups, len(groups))
        labels = [x for g in some for x in group[g]]
        if rng.random() < 0.35:
            rng.shuffle(labels)
        return "".join(labels)

    return Contraction(spelled("mkb"), spelled("knb"), spelled("mnb"), extent)


def contractions(seed, count, **limits):
    rng = random.Random(seed)
    return [contraction(rng, **limits) for _ in range(count)]
