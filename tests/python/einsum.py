#!/usr/bin/env python3
"""Tests ein.einsum on the corpora of tests/einsum: each published equation with integers, whose sums are exact, and
each mistake; equations as lists; dtypes, casting and out=, compared with NumPy if it is installed."""
import array
import ctypes
import itertools
import os
import pathlib
import random
import re
import sys
import threading
import unittest

import beside
import ein
from tensors import Strided, flat, lists, main, module
from ein import again, numpys, views

EINSUM = pathlib.Path(__file__).resolve().parent.parent / "einsum"
sys.path.append(str(EINSUM))
import common  # noqa: E402
import rows as corpus  # noqa: E402

np = module("numpy")
FILES = ("numpy_einsum.csv", "einops_einsum.csv", "onnx_einsum.csv", "taco_kernels.csv")
LARGE = 200000  # multiplications: what has more is compiled


def rows_of(name):
    rows = common.rows_read(EINSUM / name)
    return [r for r in rows if r.get("expect")] or list(corpus.kernels_as_rows(rows))


def tensor(code, shape, values):
    """In memory of ctypes, in C order."""
    kind = {"q": ctypes.c_int64, "d": ctypes.c_double, "f": ctypes.c_float, "b": ctypes.c_int8,
            "?": ctypes.c_bool}[code]
    room = array.array("b" if code == "?" else code, values)
    whole = kind
    for n in reversed(shape):
        whole = whole * n
    return whole.from_buffer(room) if values else whole()


def filled(row, code="q"):
    return [tensor(code, s, corpus.fill(t, s)) for t,
            s in enumerate(corpus.shapes_of(row["shapes"]))] if row["shapes"] else []


class Corpora(unittest.TestCase):
    def good(self, row):
        target = "eval" if int(row["mults"]) <= LARGE else None
        got = ein.einsum(row["equation"], *filled(row), target=target)
        shape = () if row["out_shape"] == "-" else tuple(int(n) for n in row["out_shape"].split("x"))
        self.assertEqual(tuple(got.shape), shape)
        values = [int(got)] if not shape else flat(lists(got))
        self.assertEqual(corpus.checksums(values), (int(row["chk_sum"]), int(row["chk_mix"])))

    def wrong(self, row):
        code, pattern = corpus.ERRORS[row["error_class"]].einsum
        pattern = pattern.replace("{label}", corpus.LABEL.get(row["id"], "")).replace("source", "tensor")
        if not code:
            return self.assertEqual(tuple(ein.einsum(row["equation"], *filled(row), target="eval").shape),
                                    tuple(int(n) for n in re.findall(r":(\d+)", pattern)))
        with self.assertRaises(ein.Error) as e:
            ein.einsum(row["equation"], *filled(row), target="eval")
        self.assertRegex(str(e.exception), pattern)

    def test_rows(self):
        for name in FILES:
            rows = rows_of(name)
            for row in rows:
                with self.subTest(row=row["id"]):
                    (self.wrong if row["expect"] == "error" else self.good)(row)
            print("%s: %d rows" % (name, len(rows)), flush=True)


class Spellings(unittest.TestCase):
    a, b = [[1, 2, 3], [4, 5, 6]], [[1, 0], [0, 1], [2, 2]]

    def same(self, *operands, **how):
        self.assertEqual(lists(ein.einsum(*operands, target="eval", **how)), [[7, 8], [16, 17]])

    def test_equations(self):
        for equation in ("ij,jk->ik", "ij,jk", " ij , jk -> ik ", b"ij,jk", "...j,jk->...k", "αβ,βγ->αγ"):
            self.same(equation, self.a, self.b)

    def test_lists(self):
        self.same(self.a, [0, 1], self.b, [1, 2], [0, 2])
        self.same(self.a, [0, 1], self.b, [1, 2])
        self.same(self.a, [30, 7], self.b, (7, 31), (30, 31))
        self.same(self.a, [Ellipsis, 1], self.b, [1, 2], [..., 2])
        self.same(self.a, [100, 60], self.b, [60, 101])
        self.assertEqual(lists(ein.einsum(self.a, [27, 26], target="eval")), [[1, 4], [2, 5], [3, 6]])  # 26 comes first
        self.same(self.a, [10**7, 40000], self.b, [40000, 10**30], [10**7, 10**30])
        many = [n * 1000 for n in range(52, 60)]  # in the order of numbers
        self.assertEqual(ein.einsum([[[[[[[[1, 2]]]]]]]], many[::-1], target="eval").shape, (2, *[1] * 7))
        self.assertEqual(len({numpys.LETTERS[n] for n in range(numpys.OF_NUMPY)}), 52)
        for wrong, why in (((self.a, [0, 10**7], self.a, [10**7, 40000]),
                            "label 丁 is 3 .*\nhere 丁 is the label 10000000$"),
                           ((self.a, [3, 7], [3, 8]),
                            "label I stands right of -> only\n"
                            "here D is the label 3, H is the label 7, I is the label 8$"),
                           ((self.a,), "without its labels"), ((), "the equation is missing"),
                           ((self.a, [0, "x"]), "integers or Ellipsis"),
                           ((self.a, [-1, 0]), "negative")):
            with self.assertRaisesRegex(ein.Error, why):
                ein.einsum(*wrong)
        with self.assertRaisesRegex(ein.Error,
                                    "the label %d is one too many: beyond 51 there may be 20902" % (52 + 20902)):
            ein.einsum(self.a, range(52 + 20903))

    def test_options(self):
        for optimize in (False, True, "greedy", ["einsum_path", (0, 1)]):
            self.same("ij,jk", self.a, self.b, optimize=optimize)
        for order in "KCAF":
            self.same("ij,jk", self.a, self.b, order=order)
        for dtype in ("f64", "float32", "i4", "int64", "f8"):
            self.same("ij,jk", self.a, self.b, dtype=dtype, casting="unsafe")
        for how, why in ((dict(casting="quick"), "casting is one of"), (dict(order="X"), "order is one of"),
                         (dict(dtype="c8"), "Ein has no dtype c8"),
                         (dict(dtype="int8"), "operand 1 is i64, and cannot become i8 by casting='safe'"),
                         (dict(dtype="i8"), "'i8' is int8 in Ein and int64 in NumPy"), (dict(dtype="u8"), "uint64"),
                         (dict(dtype="f16"), "float128")):
            with self.assertRaisesRegex(ein.Error, why):
                ein.einsum("ij,jk", self.a, self.b, **how)
        with self.assertRaises(TypeError):
            ein.einsum("ij,jk", self.a, self.b, colour=1)

    def test_common(self):
        """A common dtype is that of all operands at once: f16 holds i8 and u8, their own common i16 does not fit in
        it."""
        one = {d: Strided(d, [1], [1], [1]) for d in ("i8", "u8", "f16")}
        for names in itertools.permutations(one):
            self.assertEqual(str(ein.einsum("i,i,i->", *(one[n] for n in names), target="eval").dtype),
                             "float16" if np else "f16", names)
        for names, want in (("i8 u8 f16", "f16"), ("u8 bf16 i8", "bf16"), ("f16 i8 bf16", "f32"), ("i8 u8", "i16"),
                            ("f32 i64 u8", "f64"), ("", "f64")):
            self.assertEqual(numpys.common(names.split()), want)

    def test_logic(self):
        x, y = tensor("?", [2, 2], [1, 0, 1, 1]), tensor("?", [2, 2], [1, 1, 0, 1])
        self.assertEqual(lists(ein.einsum("ij,jk->ik", x, y, target="eval")), [[True, True], [True, True]])
        self.assertEqual(lists(ein.einsum("ij,ij->ij", x, y, target="eval")), [[True, False], [False, True]])
        self.assertEqual(lists(ein.einsum("ij->i", x, target="eval")), [True, True])

    def test_wraps(self):
        x = tensor("b", [3], [100, 100, 100])
        self.assertEqual(int(ein.einsum("i->", x, target="eval")), 300 - 256)
        self.assertEqual(int(ein.einsum("i,i->", x, x, target="eval")), (30000 + 128) % 256 - 128)
        self.assertEqual(int(ein.einsum("i->", x, dtype="int32", target="eval")), 300)

    def test_out(self):
        room = ((ctypes.c_int64 * 2) * 2)()
        self.assertIs(ein.einsum("ij,jk", self.a, self.b, out=room, target="eval"), room)
        self.assertEqual([list(r) for r in room], [[7, 8], [16, 17]])
        with self.assertRaisesRegex(ein.Error, "the result is i64 and out is i8"):
            ein.einsum("ij,jk", self.a, self.b, out=((ctypes.c_int8 * 2) * 2)(), target="eval")
        with self.assertRaisesRegex(ein.Error, "read-only"):
            ein.einsum("i", [1, 2], out=bytes(16), target="eval")

    def test_kept(self):
        """The same equation on the same shapes is compiled once."""
        numpys._function.cache_clear()
        for k in range(5):
            ein.einsum("ij,jk", self.a, self.b, target="eval")
        self.assertEqual(numpys._function.cache_info().misses, 1)


@unittest.skipUnless(np, "NumPy is not installed")
class NumPy(unittest.TestCase):
    names = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1",
             "bool": "?"}

    def test_dtypes(self):
        for a, x in self.names.items():
            for b, y in self.names.items():
                self.assertEqual(np.dtype(self.names[numpys.promoted(a, b)]), np.result_type(x, y), (a, b))
                for casting in numpys.CASTINGS:
                    self.assertEqual(numpys.may_cast(a, b, casting), np.can_cast(x, y, casting), (a, b, casting))

        for three in itertools.product(self.names, repeat=3):
            self.assertEqual(np.dtype(self.names[numpys.common(three)]), np.result_type(*map(self.names.get, three)),
                             three)
        self.assertEqual(ein.einsum(",,->", np.int8(1), np.uint8(1), np.float16(1), target="eval").dtype, np.float16)

    def test_same(self):
        """Any dtypes, layouts and equations: the same shape, dtype, type and numbers."""
        r = random.Random(3)
        equations = ("ij,jk->ik", "ij,jk", "ii->i", "ii", "ij->ji", "i,i", "i,j->ij", "ij,ij->", "...ij,...jk->...ik",
                     "ij,jk,kl->il", "ba", "i->", ",i", "i...->...", "ij,j")
        for turn in range(len(equations) * 6):
            equation, size = equations[turn % len(equations)], {c: r.choice((1, 2, 3, 5)) for c in "abijkl"}
            operands = []
            for term in equation.partition("->")[0].split(","):
                shape = [2] * ("..." in term) + [size[c] for c in term.replace("...", "")]
                x = np.array(np.random.RandomState(turn).randint(-3, 4, shape))
                x = x.astype(r.choice(list(self.names.values())))
                if x.ndim and r.random() < 0.3:
                    x = np.asfortranarray(x)
                elif x.ndim and r.random() < 0.3:
                    x = x[..., ::-1]
                operands.append(x)
            how = {}
            if int(np.__version__.partition(".")[0]) < 2:  # which looked at values
                how["dtype"] = np.result_type(*(x.dtype for x in operands))
            want, got = np.einsum(equation, *operands, **how), ein.einsum(equation, *operands, target="eval")
            self.assertEqual((type(got), got.dtype, got.shape),
                             (type(want) if want.ndim == 0 else np.ndarray, want.dtype, want.shape), equation)
            np.testing.assert_array_equal(got, want, "%s %s" % (equation, [x.dtype for x in operands]))

    def test_out(self):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        for room in (np.zeros((2, 4)), np.zeros((4, 2)).T, np.zeros((2, 8))[:, ::2], np.zeros((2, 4), order="F")):
            self.assertIs(ein.einsum("ij,jk", a, b, out=room, target="eval"), room)
            np.testing.assert_array_equal(room, a @ b)
        square = np.arange(9.0).reshape(3, 3)
        want = square @ square
        ein.einsum("ij,jk", square, square, out=square)
        np.testing.assert_array_equal(square, want)
        wide = np.zeros((2, 4))
        ein.einsum("ij,jk", a.astype("f4"), b.astype("f4"), out=wide, target="eval")
        np.testing.assert_array_equal(wide, a @ b)
        with self.assertRaisesRegex(ein.Error, "shape|axis"):
            ein.einsum("ij,jk", a, b, out=np.zeros((4, 2)), target="eval")
        self.assertTrue(ein.einsum("ij,jk", a, b, order="F", target="eval").flags.f_contiguous)

    def test_out_counts(self):
        """Without dtype=, the dtype of out is one of those whose common one sums are computed in."""
        x = np.full(3, 100, "u1")
        for dtype in ("i2", "i4", "i8", "f4", "f8"):
            self.assertEqual(ein.einsum("i,i->", x, x, out=np.zeros((), dtype), target="eval"), 30000, dtype)
        self.assertEqual(ein.einsum("i->", np.ones(3, "?"), out=np.zeros((), "f2"), target="eval"), 3)
        self.assertEqual(ein.einsum("i->", x, dtype="u1", out=np.zeros((), "i4"), target="eval"), 300 - 256)

    def test_names(self):
        """A dtype has the meaning that NumPy gives it, or is refused."""
        x = np.ones(2, "?")
        for name in (*"?bBhilqpefd", "int8", "uint8", "int_", "longlong", "|i1", "<f4", "float",
                     int, np.longlong, np.dtype("f2"), np.half):
            self.assertEqual(ein.einsum("i->i", x, dtype=name, target="eval").dtype, np.dtype(name), name)
        for name in ("i8", "u8", "f16", ">f4", np.dtype(">f4"), "c16", "u2", "g"):
            with self.assertRaisesRegex(ein.Error, "in NumPy|big-endian|no dtype", msg=name):
                ein.einsum("i->i", x, dtype=name, target="eval")

    @unittest.skipUnless(np and int(np.__version__.partition(".")[0]) >= 2, "in NumPy 1, dtypes depend on values")
    def test_random(self):
        """Random calls; most are compared, and few are only refused by both."""
        first = 1000 * int(os.environ.get("EIN_TURN", "0")) % 10**9
        for seed, calls, target in ((first, 500, "eval"), (first + 2000, 30, None)):
            done, failures = beside.compare(seed, calls, target)
            self.assertEqual("\n".join(failures), "")
            self.assertGreater(done["the same"], calls * 0.45)

    def test_again(self):
        """Prepared calls, on other arrays each time: other values, addresses, layouts, shapes and dtypes in turn."""
        numpys._prepared.clear()
        hits, r = [0, 0], random.Random(5)
        for turn in range(1000):
            equation = r.choice(("ij,jk->ik", "ij,kj", "ij,ji->", "ij->ji", "i...,i...->..."))
            shape, dtype, values = r.choice(((2, 2), (3, 3))), r.choice(("f8", "i4")), np.random.RandomState(turn)
            terms = equation.partition("->")[0].split(",")
            xs = [beside.laid(r, values.randint(-9, 9, shape).astype(dtype)) for _ in terms]
            want, out = np.einsum(equation, *xs).copy(), None  # not a view of what is written to
            if turn % 2 and np.ndim(want):  # sometimes one that is an operand
                mine = turn % 5 == 0 and want.shape == xs[0].shape and xs[0].flags.writeable and 0 not in xs[0].strides
                out = xs[0] if mine else beside.room(r, want.shape, want.dtype)
            prepared = bool(numpys._prepared.get(numpys._key((equation, *xs), out, None, "K", "safe", "eval", None)))
            hits[out is not None] += prepared
            got = ein.einsum(equation, *xs, target="eval", out=out)
            kind = np.ndarray if np.ndim(want) else type(want)
            self.assertEqual((type(got), got.dtype, got.shape), (kind, want.dtype, want.shape))
            np.testing.assert_array_equal(got, want)
            if out is not None:
                self.assertIs(got, out)
            elif np.ndim(want):
                self.assertFalse(any(np.shares_memory(got, x) for x in xs))
        print("calls that were prepared: %d, and with out %d, of 1000" % tuple(hits))
        self.assertGreater(hits[0], 100)
        self.assertGreater(hits[1], 30)
        x = np.ones((2, 2))
        for _ in range(3):
            ein.einsum("ij->ji", x, target="eval", out=np.zeros((2, 2)))
        frozen = np.zeros((2, 2))
        frozen.flags.writeable = False
        with self.assertRaisesRegex(ein.Error, "read-only"):
            ein.einsum("ij->ji", x, target="eval", out=frozen)
        odd = np.zeros(33, "u1")[1:].view("f8").reshape(2, 2)  # the same strides, not aligned
        for x in (np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2))):
            ein.einsum("ij->ji", x, target="eval")
        with self.assertRaisesRegex(ein.Error, "pass a copy"):
            ein.einsum("ij->ji", odd, target="eval")
        with self.assertRaisesRegex(ein.Error, "order is one of"):
            ein.einsum("ij->ji", x, order=["K"], target="eval")

    def test_again_threads(self):
        wrong = []

        def many(k):
            for n in range(100):
                x = np.full((3, 3), 10 * k + n)
                if not np.array_equal(ein.einsum("ij,jk->ik", x, x, target="eval"), x @ x):
                    wrong.append((k, n))
        threads = [threading.Thread(target=many, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])
        self.assertGreater(sum(f.seconds < again.TINY for _, _, f in numpys._prepared.values()), 0)

    def test_order(self):
        """The result lies as NumPy's does."""
        c, d, v, w, far = np.ones((3, 4)), np.ones((4, 5)), np.ones(3), np.ones(4), np.asfortranarray
        for order, (equation, *operands) in itertools.product("KACF", (
                ("ij,jk->ik", c, d), ("ij,jk->ik", far(c), far(d)), ("ij,jk->ik", c, far(d)), ("ij,jk->ik", far(c), d),
                ("i,j->ij", v, w), ("i,ij->ij", v, c),
                ("i,ij->ij", v, far(c)), ("ij,->ij", far(c), np.float64(2)), ("ij,->ij", c, np.float64(2)),
                ("i,ij->ij", v, np.ones((6, 4))[::2]),
                ("ij,jk->ik", np.ones((1, 4)), far(d)), ("ij,jk->ijk", far(c), far(d)),
                ("ij,jk->ik", c[:, :0], d[:0]))):
            want = np.einsum(equation, *operands, order=order)
            got = ein.einsum(equation, *operands, order=order, target="eval")
            lie = lambda x: (x.flags.c_contiguous, x.flags.f_contiguous)
            self.assertEqual(lie(got), lie(want), (equation, order, *map(lie, operands)))
            np.testing.assert_array_equal(got, want)


if __name__ == "__main__":
    main()
