#!/usr/bin/env python3
"""Compares ein.einsum with numpy.einsum on random calls: texts and lists of labels with repeated labels, ellipses,
extents of 0 and 1, spaces, no arrow, letters of any script, or a mistake; tensors of any dtype and layout; every
option. Both give the same shape, dtype, type and numbers, or both refuse, or Ein names what it does not have. Sums are
exact in every dtype.

    beside.py [SEED CALLS TARGET]"""
import collections
import random
import re
import sys
import traceback

import ein
from ein import numpys
from tensors import module

np = module("numpy")
DTYPES = ("f8", "f4", "f2", "int64", "i4", "i2", "i1", "u1", "?")
FOREIGN = ("c8", "c16", "u2", "u4", "u8", ">f4", ">i8")
LACKS = "complex|unsigned integers|big-endian|has no dtype"
ASCII = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SCRIPTS = ASCII + "αβγδλμωДЖяßéπ中"
POINTS = 1500  # the most products of a call


# ---- random calls ----------------------------------------------------------------------------------------------------

def room(r, shape, dtype):
    """A place for a result, of some layout."""
    wide = np.zeros([2 * n for n in shape], dtype)
    return r.choice((np.zeros(shape, dtype), np.zeros(shape[::-1], dtype).T, wide[tuple(slice(0, 2 * n, 2) for n in shape)],
                     wide[tuple(slice(n) for n in shape)][..., ::-1]))


def laid(r, x):
    """The same elements, or as many equal ones, in memory of another layout."""
    how = r.choice(("c", "c", "c", "frozen", "fortran", "reversed", "step", "inside", "permuted", "broadcast"))
    if how == "fortran":
        x = np.asfortranarray(x)
    elif how == "reversed" and x.ndim:
        x = np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    elif how in ("step", "inside") and x.ndim:
        room = np.ones([2 * n + 1 for n in x.shape], x.dtype)
        there = room[tuple(slice(1, 2 * n, 2) if how == "step" else slice(1, n + 1) for n in x.shape)]
        there[...] = x
        x = there
    elif how == "permuted" and x.ndim:
        axes = r.sample(range(x.ndim), x.ndim)
        x = np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))
    elif how == "broadcast" and x.ndim and x.shape[0]:
        x = np.broadcast_to(x[:1], x.shape)
    elif how == "frozen":
        x = x.view()
        x.flags.writeable = False
    return x


class Call:
    """Terms are lists of numbers and Ellipsis; `out` is one too, or None where there is no arrow."""

    def __init__(self, seed):
        self.seed, self.r = seed, random.Random(seed)
        r, labels = self.r, self.r.randint(1, 6)
        self.size = [r.choice((1, 2, 2, 3, 3, 4)) if r.random() > 0.03 else 0 for _ in range(labels)]
        self.dots = [r.choice((1, 2, 3)) for _ in range(r.choice((0, 1, 1, 2)))]
        self.terms, shapes = [], []
        for _ in range(r.choice((1, 1, 2, 2, 2, 3, 3, 4))):
            term, shape = self.term()
            self.terms.append(term)
            shapes.append(shape)
        self.out = self.result() if r.random() < 0.75 else None
        self.how = self.options()
        self.tensors = self.filled(shapes)
        self.spell(labels)

    def products(self):
        n = 1
        for k in (*self.size, *self.dots):
            n *= max(1, k)
        return n

    def term(self):
        r = self.r
        term = [r.randrange(len(self.size)) for _ in range(r.choice((0, 1, 1, 2, 2, 2, 3, 4)))]
        if r.random() < 0.6:
            term = list(dict.fromkeys(term))
        stretched = 0.5 if r.random() < 0.15 else 0
        shape = [1 if r.random() < stretched else self.size[k] for k in term]
        if r.random() < 0.3:
            at, rank = r.randint(0, len(term)), r.randint(0, len(self.dots))
            shape[at:at] = [1 if r.random() < 0.2 else n for n in self.dots[len(self.dots) - rank:]]
            term.insert(at, ...)
        return term, shape

    def result(self):
        r, there = self.r, list(dict.fromkeys(a for t in self.terms for a in t if a is not ...))
        out = r.sample(there, r.randint(0, len(there)))
        if r.random() < (0.97 if any(... in t for t in self.terms) else 0.05):
            out.insert(r.randint(0, len(out)), ...)
        if r.random() < 0.03:
            out.append(r.randrange(len(self.size)))  # perhaps a second time, perhaps one that no operand has
        return out

    def options(self):
        r, how = self.r, {}
        if r.random() < 0.3:
            how["order"] = r.choice("CFAK")
        if r.random() < 0.25:
            how["dtype"] = r.choice((*DTYPES, "c16", "float16", "float", "<i4", ">i4", np.dtype("f4"), np.dtype(">f4"),
                                     np.float64, np.int32, float, int, bool, None))
        if r.random() < (0.9 if "dtype" in how else 0.2):
            how["casting"] = r.choice(("unsafe", "unsafe", *numpys.CASTINGS))
        if r.random() < 0.3:
            how["optimize"] = r.choice((False, True, "greedy", "optimal"))
        return how

    def filled(self, shapes):
        r = self.r
        few = [r.choice(DTYPES) for _ in range(r.choice((1, 1, 2)))]
        dtypes = [r.choice(few) if r.random() > 0.02 else r.choice(FOREIGN) for _ in shapes]
        kinds = [np.dtype(d) for d in (*dtypes, self.how.get("dtype"))]
        most = 1 if np.float16 in kinds else 8
        least = 0 if any(d.kind in "ub" for d in kinds) else -most
        made = [np.random.RandomState(r.randrange(1 << 30)).randint(least, most + 1, s) for s in shapes]
        return [laid(r, np.asarray(x).astype(d)) for x, d in zip(made, dtypes)]

    # ---- as both spell it ----

    def spell(self, labels):
        """The letters of both have the same order, which is that of results without an arrow."""
        r = self.r
        self.letters = [sorted(r.sample(a, labels)) for a in (ASCII, r.choice((ASCII, SCRIPTS)))]
        self.numbers = sorted(r.sample(range(r.choice((labels, 52))), labels))
        self.lists = r.random() < 0.25
        slips = ("", ",", ".", "-", ">", "->", "...", "a", "1", "_", "(")
        self.slip = None if r.random() > 0.06 else (r.random(), r.choice(slips), r.randint(0, 1))
        if self.slip:
            self.lists, self.letters[1] = False, self.letters[0]
        self.spaces = 0 if self.slip else r.choice((0, 0, 0.2))

    def text(self, letters, spaces=0):
        space = lambda: " " * (self.r.random() < spaces)
        word = lambda t: "".join(space() + ("..." if a is ... else letters[a]) for a in t) + space()
        text = ",".join(map(word, self.terms)) + ("" if self.out is None else "->" + word(self.out))
        if self.slip:
            at, put, gone = self.slip
            at = int(at * (len(text) + 1))
            text = text[:at] + put + text[at + gone:]
        return text

    def by_lists(self, *more):
        said = [[a if a is ... else self.numbers[a] for a in t] for t in self.terms]
        return [w for pair in zip(self.tensors, said) for w in pair] + [*more] + (
            [] if self.out is None else [[a if a is ... else self.numbers[a] for a in self.out]])

    def by_numpy(self):
        """With a factor of 1 beside a single tensor, because NumPy ignores dtype and casting where it returns a
        view."""
        one = [] if len(self.tensors) > 1 else [np.ones((), self.tensors[0].dtype)]
        if self.lists:
            return self.by_lists(*one, *([[]] if one else []))
        head, arrow, tail = self.text(self.letters[0]).partition("->")
        return [head + ("," if one else "") + arrow + tail, *self.tensors, *one]

    def by_ein(self):
        return self.by_lists() if self.lists else [self.text(self.letters[1], self.spaces), *self.tensors]

    def room(self, like):
        """A tensor for out=, which may be the wrong one, or None."""
        r, shape = self.r, like.shape
        if r.random() > 0.25:
            return None
        if r.random() < 0.1:
            shape = r.choice(((*shape, 2), shape[1:], shape[::-1]))
        dtype, said = np.dtype(like.dtype if r.random() < 0.6 else r.choice(DTYPES)), self.how.get("dtype")
        if said is not None and not np.can_cast(dtype, said, self.how.get("casting", "safe")):
            return None  # NumPy would read it too
        return laid(r, np.zeros(shape, dtype))

    def __str__(self):
        words = [*map(shown, self.by_ein()), *("%s=%s" % (k, shown(v)) for k, v in self.how.items())]
        return "%d: einsum(%s)" % (self.seed, ", ".join(words))


def shown(x):
    if isinstance(x, np.ndarray):
        return "%s%s%s" % (x.dtype, x.shape, "" if x.flags.c_contiguous else x.strides)
    return repr(x)


# ---- comparing -------------------------------------------------------------------------------------------------------

def outcome(work):
    try:
        return work(), None
    except (ein.Error, ValueError, TypeError) as e:
        return None, e


def lacks(call, why):
    """Whether Ein refuses what it has not, and says so."""
    dtypes = [x.dtype for x in call.tensors] + [np.dtype(call.how.get("dtype"))]
    foreign = any(d.kind == "c" or d.kind == "u" and d.itemsize > 1 or not d.isnative for d in dtypes)
    return foreign and re.search(LACKS, str(why))


def difference(call, target):
    """(what was compared, None or how the two differ)"""
    how = {k: v for k, v in call.how.items() if k != "optimize"}  # NumPy's own contractions know fewer equations
    want, refused = outcome(lambda: np.einsum(*call.by_numpy(), **how))
    room = call.room(want) if not refused else None
    if room is not None:
        call.how["out"], theirs = room, room.copy() if room.flags.writeable else room
        want, refused = outcome(lambda: np.einsum(*call.by_numpy(), **how, out=theirs))
    got, why = outcome(lambda: ein.einsum(*call.by_ein(), **call.how, target=target))
    if why and not isinstance(why, ein.Error):
        return "failed", "".join(traceback.format_exception(why))
    if why and (refused or lacks(call, why)):
        return "refused", None
    if why or refused:
        return "refused by one", "NumPy: %r\nEin: %r" % (refused or want, why or got)
    if room is not None and got is not room:
        return "out", "out= is not what is returned"
    if room is None and (type(got), got.dtype) != (np.ndarray if np.ndim(want) else type(want), want.dtype):
        return "type", "%s of %s; NumPy: %s of %s" % (type(got), got.dtype, type(want), want.dtype)
    flag = {"F": "F_CONTIGUOUS", "C": "C_CONTIGUOUS"}.get(how.get("order"))
    if room is None and flag and not got.flags[flag]:
        return "order", "not in order %s" % how["order"]
    return "the same", None if got.shape == want.shape and np.array_equal(got, want) else "%r\nNumPy: %r" % (got, want)


def compare(seed, calls, target):
    """(how often each was compared, failures)"""
    done, failures = collections.Counter(), []
    while sum(done.values()) < calls:
        call, seed = Call(seed), seed + 1
        if call.products() <= POINTS:
            kind, why = difference(call, target)
            done[kind] += 1
            if why:
                failures.append("%s\n%s" % (call, why))
    return done, failures


def main():
    seed, calls, target = (*sys.argv[1:4], *("0", "500", "eval")[len(sys.argv[1:4]):])
    done, failures = compare(int(seed), int(calls), target)
    print("\n".join([*failures, str(dict(done))]))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
