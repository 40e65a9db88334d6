#!/usr/bin/env python3
"""Tests the module ein: views of other libraries' memory, lifetimes of results, threads, Ctrl-C, messages. Needs only
the standard library. Tests that need NumPy, PyTorch or JAX are reported as skipped if these are missing."""
import array
import copy
import ctypes
import doctest
import gc
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import beside
import ein
from ein.notebook import cell
from tensors import DTYPES, Strided, any_strides, flat, lists, main, module, numbers

np, torch, jax = module("numpy"), module("torch"), module("jax")
SUM = "dim N\ninput A[i:N] : f32\noutput B[i] = A[i] + 1\noutput s = sum[i] A[i]\n"
LONG = "dim N = 4\ninput k : i64 = 2000000000\nrepeat t < k {\n  state a[i:N] : i64 = i\n  next a[i] = a[i] * 3 + sum[j:N] a[j]\n}\noutput y[i] = a[i]\n"


def resident():
    """KiB of this process."""
    with open("/proc/self/statm") as s:
        return int(s.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def transposed(shape, dtype):
    """A program that reverses the order of axes."""
    labels = ["a%d" % k for k in range(len(shape))]
    side = lambda names: "[%s]" % ",".join(names) if names else ""
    return "input X%s : %s\noutput Y%s = X%s\n" % (side(["%s:%d" % p for p in zip(labels, shape)]), dtype,
                                                   side(labels[::-1]), side(labels))


def transposed_lists(values, shape):
    """Its truth: elements in C order of the reversed axes."""
    places = [0]
    step = [1] * (len(shape) + 1)
    for k in range(len(shape) - 1, -1, -1):
        step[k] = step[k + 1] * shape[k]
    for k in range(len(shape) - 1, -1, -1):
        places = [p + i * step[k + 1] for p in places for i in range(shape[k])]
    return [values[p] for p in places]


class Views(unittest.TestCase):
    def one(self, r, target):
        dtype = r.choice(DTYPES)
        shape = [r.choice((0, 1, 2, 3, 4, 5)) if r.random() < 0.3 else r.choice((2, 3, 4))
                 for _ in range(r.randint(0, 4))]
        n = 1
        for k in shape:
            n *= k
        values = numbers(dtype, n, r.random())
        x = Strided(dtype, shape, any_strides(r, shape), values)
        y = ein.compile(transposed(shape, dtype), target=target)(X=x).Y
        self.assertEqual(tuple(y.shape), tuple(shape[::-1]))
        got = [y.item()] if not shape else flat(lists(y))
        self.assertEqual(got, transposed_lists(values, shape), "%s %s %s" % (dtype, shape, x.strides))
        out = Strided(dtype, shape[::-1], any_strides(r, shape[::-1]), values[:0])
        ein.compile(transposed(shape, dtype), target=target)({"X": x}, {"Y": out})
        self.assertEqual(flat(out.tolist()) if shape else [out.tolist()], transposed_lists(values, shape))

    def test_strides(self):
        for seed in range(60):
            with self.subTest(seed=seed):
                self.one(random.Random(seed), "eval")

    def test_strides_compiled(self):
        for seed in range(100, 106):
            with self.subTest(seed=seed):
                self.one(random.Random(seed), None)

    def test_buffers(self):
        for code, dtype in (("d", "f64"), ("f", "f32"), ("q", "i64"), ("l", "i64"), ("i", "i32"), ("h", "i16"),
                            ("b", "i8"), ("B", "u8")):
            x = array.array(code, [1, 2, 3, 4, 5, 6])
            f = ein.compile("dim N\ninput X[i:N] : %s\noutput Y[i] = X[i]\n" % dtype, target="eval")
            for view, want in ((x, [1, 2, 3, 4, 5, 6]), (memoryview(x)[::2], [1, 3, 5]),
                               (memoryview(x)[::-1], [6, 5, 4, 3, 2, 1]), (memoryview(x)[3:], [4, 5, 6])):
                self.assertEqual(lists(f(X=view).Y), want)
        grid = memoryview(array.array("f", range(6))).cast("B").cast("f", (2, 3))
        self.assertEqual(lists(ein.run("dim M, N\ninput X[i:M,j:N] : f32\noutput Y[j,i] = X[i,j]\n", X=grid,
                                       target="eval").Y), [[0, 3], [1, 4], [2, 5]])

    def test_read_only(self):
        f = ein.compile("input X[i:3] : u8\noutput Y[i] = X[i]\n", target="eval")
        self.assertEqual(lists(f(X=b"\1\2\3").Y), [1, 2, 3])
        self.refused("output Y: it is read-only", f, {"X": b"\1\2\3"}, {"Y": b"\0\0\0"})

    def refused(self, why, f, *words, **named):
        with self.assertRaises(ein.Error) as e:
            f(*words, **named)
        self.assertIn(why, str(e.exception))

    def test_refused(self):
        f = ein.compile("dim N\ninput X[i:N] : f32\noutput Y[i] = X[i]\n", target="eval")
        self.refused("input X: expected f32, found f64", f, X=array.array("d", [1]))
        self.refused("input X: expected 1 axes, found 0", f, X=1)
        self.refused("unsigned integers of 32 bits", f, X=array.array("I", [1]))
        self.refused("big-endian", f, X=(ctypes.c_float.__ctype_be__ * 3)())
        self.refused("begin at a multiple of the 4 bytes", f, X=(ctypes.c_float * 2).from_buffer(bytearray(16), 1))
        self.refused("complex", f, X=Strided("f32", [2], [1], [], code=5))
        self.refused("device 2:1", f, X=Strided("f32", [2], [1], [], device=(2, 1)))
        self.refused("begin at a multiple", f, X=Strided("f32", [2], [1], [], shift=2))
        self.refused("input X: expected a tensor", f, X=object())
        self.refused("found a dict", f, X={})
        self.refused("input X is not given", f)
        self.refused("there is no input Xs; did you mean X?", f, Xs=[1])
        self.refused("there is no output Z", f, {"X": [1.0]}, {"Z": (ctypes.c_float * 1)()})
        self.refused("a list of tensors is not", f, X=[array.array("f", [1])])
        self.refused("different lengths", f, X=[[1, 2], [3]])
        self.refused("a list of tensors is not", f, X=["a"])

    def test_numbers(self):
        for dtype in DTYPES:
            f = ein.compile("dim N\ninput X[i:N] : %s\noutput Y[i] = X[i]\n" % dtype, target="eval")
            values = numbers(dtype, 7)
            self.assertEqual(lists(f(X=values).Y), values)
            self.assertEqual(lists(f(X=[]).Y), [])
        self.refused("300 is no i8", ein.compile("input X : i8\noutput Y = X\n", target="eval"), X=300)
        self.refused("1.5 is no i64", ein.compile("input X : i64\noutput Y = X\n", target="eval"), X=1.5)
        bf = ein.compile("input X : bf16\noutput Y : f32 = X\n", target="eval")
        for x, want in ((1.00390625, 1.0), (1.01171875, 1.015625), (-3.0, -3.0)):  # ties to even
            self.assertEqual(float(bf(X=x).Y), want)

    def test_too_large(self):
        """What is finite stays so, or is refused; what is not stays as it is."""
        inf, most = float("inf"), {"f32": 3.4028234663852886e38, "f16": 65504.0, "bf16": 3.3895313892515355e38}
        for dtype, x in most.items():
            f = ein.compile("input X[i:2] : %s\noutput Y[i] : f64 = X[i]\n" % dtype, target="eval")
            self.assertEqual(lists(f(X=[x, -x]).Y), [x, -x])
            self.assertEqual(lists(f(X=[inf, -inf]).Y), [inf, -inf])
            self.assertTrue(all(y != y for y in lists(f(X=[inf - inf, inf - inf]).Y)))
            for large in (1e300, -1e300, x * 1.002, 10**400):
                self.refused("input X: %r is no %s" % (large, dtype), f, X=[0, large])
            self.refused("input s: 1e+300 is no " + dtype,
                         ein.compile("input s : %s\noutput y = s\n" % dtype, target="eval"), s=1e300)

    def test_outputs(self):
        for target in ("eval", None):
            f = ein.compile(SUM, target=target)
            room, x = (ctypes.c_float * 3)(), array.array("f", [1, 2, 3])
            r = f({"A": x}, {"B": room})
            self.assertIs(r.B, room)
            self.assertEqual(list(room), [2, 3, 4])
            self.assertEqual(float(r.s), 6)
            self.refused("output B", f, {"A": x}, {"B": (ctypes.c_float * 4)()})
            self.refused("output B", f, {"A": x}, {"B": (ctypes.c_double * 3)()})

    def test_begins_anywhere(self):
        """Transposes that bypass the cache, to memory that begins anywhere in a line; nothing beside it is written."""
        data = os.urandom(2048 * 2048 * 4)
        for code, dtype, rows, lanes in (("i", "i32", 2007, 2032), ("q", "i64", 1403, 1448), ("h", "i16", 2801, 2848),
                                         ("b", "i8", 4001, 4032)):
            size, n = array.array(code).itemsize, rows * lanes
            x = memoryview(data)[:n * size].cast(code, (lanes, rows))
            for text in (f"input X[j:{lanes},i:{rows}] : {dtype}\n", f"dim N, M\ninput X[j:N,i:M] : {dtype}\n"):
                f = ein.compile(text + "output Y[i,j] = X[j,i]\n")
                want = None
                for at in (0, size, 16, 64 - size):
                    room = bytearray(n * size + 192)
                    begin = -ctypes.addressof(ctypes.c_char.from_buffer(room)) % 64 + at
                    end = begin + n * size
                    f({"X": x}, {"Y": memoryview(room)[begin:end].cast(code, (rows, lanes))})
                    want = want or room[begin:end]
                    self.assertTrue(room[begin:end] == want, (dtype, at))
                    self.assertFalse(any(room[:begin]) or any(room[end:]))
                flat, given = memoryview(want).cast(code), memoryview(x).cast("B").cast(code)
                for i in range(0, rows, 97):
                    self.assertEqual(flat[i * lanes:(i + 1) * lanes].tolist(), given[i::rows].tolist(), (dtype, i))

    def test_overlap(self):
        """Outputs whose elements share memory are refused, by whatever runs; others with such extents are not."""
        for target in ("eval", None):
            f = ein.compile("dim N, M\ninput X[i:N,j:M] : i32\noutput Y[i,j] = X[i,j]\n", target=target)
            for shape, strides, apart in (
                    ((2, 3), (0, 1), False), ((2, 3), (2, 1), False), ((2, 3), (1, 1), False), ((3, 2), (1, -2), False),
                    ((2, 3), (-3, 1), True), ((2, 3), (1, 2), True), ((1, 3), (0, 1), True), ((2, 1), (1, 0), True),
                    ((2, 2), (3, 3), False), ((2, 0), (0, 0), True)):
                x = [[10 * i + j for j in range(shape[1])] for i in range(shape[0])]
                room = Strided("i32", shape, strides, [])
                if apart:
                    f({"X": x}, {"Y": room})
                    self.assertEqual(room.tolist(), x if shape[1] else [])
                else:
                    with self.assertRaisesRegex(ein.Error, "output Y: its elements overlap", msg=(shape, strides)):
                        f({"X": x}, {"Y": room})


class Results(unittest.TestCase):
    def test_mapping(self):
        r = ein.run(SUM, A=[1.0, 2.0], target="eval")
        self.assertEqual(list(r), ["B", "s"])
        self.assertEqual(len(r), 2)
        b, s = r.values()
        self.assertEqual((lists(b), float(s), float(r["s"])), ([2, 3], 3, 3))
        self.assertIn("s = ", repr(r))
        with self.assertRaisesRegex(AttributeError, "there is no output Q; there are B, s"):
            r.Q
        with self.assertRaises(KeyError):
            r["Q"]
        primed = ein.run("input x' : f64\noutput y' = x' + 1\n", {"x'": 2.0}, target="eval")
        self.assertEqual(float(primed["y'"]), 3)

    def test_outlive(self):
        """A result stays as it is when the function is called again, and when it is gone."""
        for target in ("eval", None):
            f = ein.compile(SUM, target=target)
            first = f(A=[1.0, 2.0]).B
            for k in range(50):
                f(A=[float(k)] * 50)
            f.close()
            with self.assertRaisesRegex(ein.Error, "closed"):
                f(A=[1.0])
            del f
            gc.collect()
            self.assertEqual(lists(first), [2, 3])
            view = memoryview(first)
            del first
            gc.collect()
            self.assertEqual((view.cast("B").cast("f").tolist(), view.shape, view.readonly), ([2, 3], (2,), False))

    def test_memory(self):
        """Thousands of calls and compilations leave no more behind than some do."""
        f, x = ein.compile(SUM, target="eval"), array.array("f", range(2000))

        def some(n):
            for k in range(n):
                f(A=x)
            for k in range(n // 20):
                ein.compile(SUM.replace("1", str(k)), target="eval")(A=x)

        some(400)
        before = resident()
        some(2000)
        self.assertLess(resident(), before + before // 50 + 1500)

    def test_shapes_of_arrays(self):
        for dtype in DTYPES:
            text = "dim N\ninput X[i:N, j:3] : %s\noutput Y[i,j] = X[i,j]\noutput z = X[0,1]\noutput e[k:0] = X[0,1]\n" % dtype
            if dtype != "bf16":
                self.assertEqual(lists(ein.run(text, X=[numbers(dtype, 3)] * 2, target="eval").z), numbers(dtype, 3)[1])
            a = _bare(ein.compile(text, target="eval"), [numbers(dtype, 3), numbers(dtype, 3, 1)])
            self.assertEqual((a["Y"].shape, a["Y"].ndim, len(a["Y"]), a["Y"].dtype, a["z"].shape, a["e"].shape),
                             ((2, 3), 2, 2, dtype, (), (0,)))
            self.assertEqual((a["Y"].tolist(), a["e"].tolist()), ([numbers(dtype, 3), numbers(dtype, 3, 1)], []))
            self.assertEqual((a["z"].item(), memoryview(a["Y"]).shape, memoryview(a["z"]).shape),
                             (numbers(dtype, 3)[1], (2, 3), ()))

    def test_lent(self):
        """A result by DLPack, without a copy; what was lent is given back, used or not."""
        from ein import arrays
        for dtype in DTYPES:
            f = ein.compile("dim N\ninput X[i:N] : %s\noutput Y[i] = X[i]\n" % dtype, target="eval")
            y = _bare(f, numbers(dtype, 5))["Y"]

            class Lender:
                __dlpack__, __dlpack_device__ = y.__dlpack__, y.__dlpack_device__
            self.assertEqual(_bare(f, Lender())["Y"].tolist(), numbers(dtype, 5))
            self.assertEqual(_bare(f, y)["Y"].tolist(), numbers(dtype, 5))
            del Lender, y
            gc.collect()
            self.assertEqual(arrays._lent, {})


def _bare(f, x):
    """Its results as they are without NumPy."""
    from ein import arrays
    was, arrays.give = arrays.give, lambda a, kind: a
    try:
        return f(X=x)
    finally:
        arrays.give = was


class Programs(unittest.TestCase):
    def test_errors(self):
        with self.assertRaises(ein.Error) as e:
            ein.compile("input A[i:4] : f32\ninput B[i:5] : f32\noutput C[i] = A[i] + B[i]\n", name="bad.ein")
        said = str(e.exception)
        self.assertTrue(said.startswith("bad.ein:3:"), said)
        self.assertIn("error[E060]", said)
        self.assertIn("    3 | output C[i] = A[i] + B[i]\n", said)
        self.assertEqual((e.exception.code, e.exception.complaints[0].places[0].line), ("E060", 3))
        with self.assertRaisesRegex(ein.Error, "cannot read|no such|No such"):
            ein.compile("nowhere.ein")
        with self.assertRaisesRegex(ein.Error, "target"):
            ein.compile(SUM, target="abacus")
        with self.assertRaisesRegex(TypeError, "a text or a path"):
            ein.compile(3)
        with self.assertRaisesRegex(TypeError, "the size N must be an integer"):
            ein.compile(SUM, N="many")
        f = ein.compile("dim M\ninput A[i:4] : f32\noutput B[i,j:M] = A[i]\n", target=None)
        with self.assertRaisesRegex(ein.Error, "no value for dim M"):
            f(A=[1.0] * 4)
        rows = "dim N\ninput ptr[i:N+1] : i64\noutput n[i:N] = ptr[i+1] - ptr[i+0]\n"
        for how in ({}, {"target": "eval"}, {"sites": 2}):
            h = ein.compile(rows, **how)
            self.assertEqual([lists(h(ptr=[0, 2, 5]).n), lists(h(ptr=[0, 1, 1, 4]).n)], [[2, 3], [1, 0, 3]])
        g = ein.compile("input A[i:4] : f32\noutput B[i] = A[i]\n", target=None)
        with self.assertRaisesRegex(ein.Error, "input A"):
            g(A=[1.0] * 3)
        with self.assertRaisesRegex(TypeError, r"pass inputs by name, as in f\(A=x\); this is a list"):
            g([1.0] * 4)
        with self.assertRaisesRegex(TypeError, r"as in f\(..., \{'B': y\}\); this is an array"):
            g({"A": [1.0] * 4}, array.array("f", [0] * 4))

    def test_sizes(self):
        f = ein.compile("dim M\ninput A[i:2] : f32\noutput B[i,j:M] = A[i]\n", M=3, target="eval")
        self.assertEqual(lists(f(A=[1.0, 2.0]).B), [[1, 1, 1], [2, 2, 2]])
        self.assertEqual(lists(ein.run("dim name\ninput A[i:2] : f32\noutput B[i,j:name] = A[i]\n", A=[1.0, 2.0],
                                       sizes={"name": 1}, target="eval").B), [[1], [2]])

    def test_warned(self):
        with self.assertWarnsRegex(ein.ProgramWarning, r"warning\[W"):
            ein.compile("input A[i:2] : f32\nB[i] = A[i]\noutput C[i] = A[i]\n", target="eval")

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.ein"
            path.write_text(SUM)
            for p in (path, str(path)):
                self.assertEqual(float(ein.run(p, A=[1.0, 2.0], target="eval").s), 3)

    def test_asked(self):
        f = ein.compile("dim N = 64\ninput A[i:N, k:N] : f32\ninput B[k:N, j:N] : f32\n"
                        "output C[i,j] = sum[k] A[i,k] * B[k,j]\n", target="eval")
        self.assertIn("4 sites", f.plan(sites=4))
        self.assertIn("<svg", f.plan(sites=4, format="svg")._repr_svg_())
        self.assertIn('"schema"', f.plan(format="json"))
        self.assertIsNone(f.plan()._repr_svg_())
        self.assertTrue(f.graph("svg")._repr_svg_().startswith("<svg"))
        self.assertIn("eingraph 1", f.graph())
        self.assertIn("_run(", f.source())
        self.assertIn("loop 1", f.source("loop"))
        with self.assertRaisesRegex(ein.Error, "abc"):
            f.plan(format="abc")
        self.assertEqual((f.inputs["A"].dtype, f.inputs["A"].ndim, list(f.outputs)), ("f32", 2, ["C"]))
        self.assertEqual(repr(f), "<ein function program.ein (A: f32[_, _], B: f32[_, _]) -> (C: f32[_, _])>")

    def test_sites(self):
        text = "input A[i:4, k:6] : f64\ninput B[k:6, j:4] : f64\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n"
        a = [[float(i - k) for k in range(6)] for i in range(4)]
        b = [[float(k * j) for j in range(4)] for k in range(6)]
        want = ein.run(text, A=a, B=b, target="eval").C
        self.assertEqual(lists(ein.run(text, A=a, B=b, sites=4).C), lists(want))

    def test_deterministic(self):
        """Any number of sites has the same bits then, and without it others."""
        text = "dim N = 999\noutput s[j:3] : f32 = sum[i:N] (uniform[i,j](1) - 0.5) * 10.0^(f32((i*7) % 13) - 6)\n"
        one, four = (lists(ein.run(text, sites=n, deterministic=True).s) for n in (None, 4))
        self.assertEqual(one, four)
        self.assertEqual(one, lists(ein.compile(text, deterministic=True, sites=3)().s))
        self.assertIn("on 4 sites", str(ein.compile(text).plan(sites=4, deterministic=True)))
        with self.assertRaises(ein.Error):
            ein.compile(text, deterministic=True, target="eval")

    def test_sites_of_other_sizes(self):
        """An input that is smaller or larger than the program says is refused, not read beyond its end."""
        text = "dim N\ninput X[i:N, j:2 * N] : f64\noutput Y[i] = sum[j] X[i,j]\n"
        for target, sizes in (("eval", {"N": 2}), (None, {"N": 2}), (None, {})):
            f = ein.compile(text, sites=2, target=target, sizes=sizes)
            self.assertEqual(lists(f(X=[[1.0] * 4] * 2).Y), [4, 4])
            for n in (1, 3, 5):
                self.refused("input X: its axis 1 has %d elements, expected 4" % n, f, X=[[1.0] * n] * 2)
            if sizes:
                self.refused("input X: its axis 0 has 3 elements, expected 2", f, X=[[1.0] * 4] * 3)

    def refused(self, why, f, **named):
        with self.assertRaises(ein.Error) as e:
            f(**named)
        self.assertIn(why, str(e.exception))

    def test_sites_sized_by_inputs(self):
        """A plan is for sizes that are numbers: it is made when they are there, and again for others."""
        text = "dim N, M\ninput X[i:N, j:2] : f64\noutput Y[i] = sum[j] X[i,j]\noutput z[i:M] = X[0,0]\n"
        for target in ("eval", None):
            f = ein.compile(text, sites=4, target=target, M=2)
            self.assertEqual((f.inputs["X"].ndim, list(f.outputs)), (2, ["Y", "z"]))
            for n in (6, 6, 8, 1, 6):
                r = f(X=[[float(k), 2] for k in range(n)])
                self.assertEqual((lists(r.Y), lists(r.z)), ([k + 2 for k in range(n)], [0, 0]))
            kept = r.Y
            with self.assertRaisesRegex(ein.Error, "input X: expected 2 axes"):
                f(X=[1.0])
            self.assertEqual((lists(f(X=[[1.0, 1.0]] * 9).Y), lists(kept)), ([2] * 9, [2, 3, 4, 5, 6, 7]))
        f = ein.compile(text, sites=4)
        for again in range(2):
            with self.assertRaisesRegex(ein.Error, "no value for dim M"):
                f(X=[[1.0, 2.0]])
        with self.assertRaisesRegex(ein.Error, "input B: its axis 0 has 5 elements, and N is 4"):
            ein.run("dim N\ninput A[i:N] : f32\ninput B[i:N] : f32\noutput C[i] = A[i] + B[i]\n", A=[1.0] * 4,
                    B=[1.0] * 5, sites=2)
        self.assertEqual(lists(ein.run("dim N\ninput A[i:N] : f32 = 1\ninput B[i:N] : f32\noutput C[i] = A[i] + B[i]\n",
                                       B=[1.0, 2.0], sites=2).C), [2, 3])
        self.assertEqual(lists(ein.run(SUM, A=[1.0, 2.0], sites=1).B), [2, 3])

    def test_sites_thousand_sizes(self):
        """Plans of sizes that are gone leave nothing behind."""
        f = ein.compile("dim N\ninput A[i:N] : f32\noutput s = sum[i] A[i]\n", sites=2, target="eval")
        x = array.array("f", [1.0]) * 2000

        def some(sizes):
            for n in sizes:
                self.assertEqual(float(f(A=memoryview(x)[:n]).s), n)
        some(range(2, 400))
        before = resident()
        some(range(400, 2000))
        self.assertLess(resident(), before + before // 50 + 1500)


class Cells(unittest.TestCase):
    """%%ein, as a shell calls it; kernel.py does so in IPython."""

    def setUp(self):
        self.user_ns = {"X": [[1.0, 3.0], [2.0, 2.0]], "N": 3}
        self.push = self.user_ns.update

    def test_documented(self):
        """The cell of docs/python.md."""
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
        line, _, program = re.search(r"^    %%ein (.*?\n)((?:    .*\n)+)", text, re.M).group(0).partition("\n")
        self.user_ns["X"] = [[1.0, 3.0], [2.0, 2.0], [1.0, 0.0]]
        cell(self, line.split(None, 1)[1], re.sub("^    ", "", program, flags=re.M))
        self.assertEqual((lists(self.user_ns["Y"]), lists(self.user_ns["z"])), ([4, 4, 1], [0, 1, 2]))

    def test_sizes(self):
        for line in ("-D M=3", "-D M=N", "-D M=N --function f"):
            cell(self, line + " --target eval", "dim M\noutput z[i:M] = i\n")
            self.assertEqual(lists(self.user_ns.pop("z", [0, 1, 2])), [0, 1, 2])
        self.assertEqual(lists(self.user_ns["f"]().z), [0, 1, 2])
        for line, why in (("-D M=Q", "%%ein: -D M=Q: Q is neither a variable of the notebook"),
                          ("-D M", "%%ein: -D M: M is neither a variable"), ("-D M=--3", "--3 is neither")):
            with self.assertRaisesRegex(ein.Error, why):
                cell(self, line, "dim M\noutput z[i:M] = i\n")


class Threads(unittest.TestCase):
    def test_one_function(self):
        for target in ("eval", None):
            f, wrong = ein.compile(SUM, target=target), []

            def many(n):
                for k in range(100):
                    got = lists(f(A=[float(k)] * n).B)
                    if got != [k + 1.0] * n:
                        wrong.append((n, k, got))
            threads = [threading.Thread(target=many, args=(n,)) for n in (1, 5, 17, 64, 2, 33, 100)]
            for t in threads:
                t.start()
            many(3)
            for t in threads:
                t.join()
            self.assertEqual(wrong, [])

    def test_closed_meanwhile(self):
        """Closing waits for a call of another thread."""
        f, got = ein.compile("input n : i64\nrepeat t < n {\n  state a : i64 = 0\n  next a = a + 1\n}\noutput y = a\n",
                             target="eval"), []
        t = threading.Thread(target=lambda: got.append(int(f(n=300000).y)))
        t.start()
        while not f._lock.locked() and t.is_alive():
            pass
        f.close()
        t.join()
        self.assertEqual(got, [300000])
        f.close()

    def test_forked(self):
        f = ein.compile(SUM, target="eval")
        f(A=[1.0])
        child = os.fork()
        if not child:
            os._exit(0 if lists(f(A=[1.0]).B) == [2.0] else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_forked_meanwhile(self):
        """In a child, a function that another thread was calling is refused; others, and einsum, work."""
        script = ("import ein, os, sys, threading\n"
                  "f = ein.compile(%r, target='eval')\n"
                  "ein.einsum('i,i->', [1, 2], [3, 4], target='eval')\n"
                  "e = ein.numpys._function('i,i->', ((2,), (2,)), ('i64', 'i64'), 'i64', 'eval', None)\n"
                  "t = threading.Thread(target=f, daemon=True); t.start()\n"
                  "while not f._lock.locked(): pass\n"
                  "e._lock.acquire()\n"  # as if called
                  "if not os.fork():\n"
                  "    try: f(k=1)\n"
                  "    except ein.Error as why: print(why)\n"
                  "    print(ein.einsum('i,i->', [1, 2], [3, 4], target='eval'))\n"
                  "    print(ein.compile('output y = 5', target='eval')().y, flush=True)\n"
                  "    os._exit(0)\n"
                  "os.wait(); os._exit(0)\n" % LONG)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertIn("when this process was forked", done.stdout, done.stderr)
        self.assertEqual([re.findall(r"\d+", said)[0] for said in done.stdout.splitlines()[-2:]], ["11", "5"])

    def test_copies(self):
        """Copied, or sent to another process, a function is compiled there; it needs nothing of the first."""
        f = ein.compile("dim N, M\ninput A[i:N] : f32\noutput B[i,j:M] = A[i] + j\n", target="eval", M=2)
        for made in (copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))):
            g = made(f)
            g.close()
            g = made(f)
            self.assertEqual(repr(g), repr(f))
            self.assertEqual(lists(f(A=[1.0]).B), [[1.0, 2.0]])
            f.close()
            f = g
            self.assertEqual(lists(f(A=[1.0]).B), [[1.0, 2.0]])
        r = pickle.loads(pickle.dumps(ein.Error("why")))
        self.assertEqual((type(r), str(r)), (ein.Error, "why"))

    def test_ctrl_c(self):
        """A call that takes minutes ends, whatever runs it; a second Ctrl-C at once does no harm; and the function is
        as good as before."""
        script = ("import ein, os, signal, threading, time, sys\n"
                  "f = ein.compile(%r, target=sys.argv[1] or None)\n"
                  "def press():\n"
                  "    for wait in (0.4, 0.01):\n"
                  "        time.sleep(wait); os.kill(os.getpid(), signal.SIGINT)\n"
                  "for turn in range(2):\n"
                  "    threading.Thread(target=press).start()\n"
                  "    begun = time.monotonic()\n"
                  "    try:\n"
                  "        try: f(); print('it ended')\n"
                  "        except KeyboardInterrupt: time.sleep(0.2)\n"
                  "    except KeyboardInterrupt: pass\n"
                  "    print('soon' if time.monotonic() - begun < 5 else 'late')\n"
                  "print(list(f(k=1).y))\n" % LONG)
        for target in ("eval", ""):
            done = subprocess.run([sys.executable, "-c", script, target], capture_output=True, text=True, timeout=100)
            self.assertEqual(done.stdout.split("\n")[:2], ["soon", "soon"], done.stdout + done.stderr)
            self.assertIn("6", done.stdout)

    def test_ctrl_c_in_long_rows(self):
        """Sizes are open, and a thread's share is a thousand rows of millions of points: half a minute's work."""
        script = ("import array, ein, os, signal, threading, time\n"
                  "f = ein.compile('dim N\\ninput x[i:N] : f64\\noutput y[i] = sum[j] sin(x[i] * x[j])\\n')\n"
                  "f(x=array.array('d', [1.0] * 8))\n"
                  "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                  "begun = time.monotonic()\n"
                  "try: f(x=array.array('d', [0.5]) * 8000000); print('it ended')\n"
                  "except KeyboardInterrupt: print('soon' if time.monotonic() - begun < 8 else 'late')\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.stdout, "soon\n", done.stderr)

    def test_ctrl_c_at_any_moment(self):
        """One every few hundred microseconds: none is lost between Python and the call, and none leaves a call behind
        that goes on."""
        script = ("import contextlib, ein, os, random, signal, threading, time, sys\n"
                  "f, go = ein.compile(%r, target=sys.argv[1] or None), False\n"
                  "def pressed(number, frame):\n"
                  "    if go: raise KeyboardInterrupt\n"
                  "signal.signal(signal.SIGINT, pressed)\n"
                  "def press():\n"
                  "    while go:\n"
                  "        time.sleep(random.random() * 0.0004); os.kill(os.getpid(), signal.SIGINT)\n"
                  "random.seed(1)\n"
                  "for turn in range(150):\n"
                  "    thread, caught = threading.Thread(target=press), [contextlib.suppress(KeyboardInterrupt) for k in range(4)]\n"
                  "    with caught[0], caught[1], caught[2], caught[3]:\n"
                  "        go = True\n"
                  "        thread.start()\n"
                  "        try: f(); print('it ended')\n"
                  "        finally: go = False\n"
                  "    go = False\n"
                  "    thread.join()\n"
                  "print([int(v) for v in f(k=1).y])\n" % LONG)
        for target in ("eval", ""):
            done = subprocess.run([sys.executable, "-c", script, target], capture_output=True, text=True, timeout=300)
            self.assertEqual((done.stdout, done.returncode), ("[6, 9, 12, 15]\n", 0), done.stderr)


class Library(unittest.TestCase):
    def ask(self, **env):
        return subprocess.run([sys.executable, "-c",
                               "import ein; print(ein.__version__, ein.run('output y = 2 + 3', target='eval').y)"],
                              env={**os.environ, **env}, capture_output=True, text=True, timeout=60)

    def test_found(self):
        build = os.environ["EIN_LIBEIN"]
        for said in (build, build + "/compiler/face/libein.so"):
            done = self.ask(EIN_LIBEIN=said)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("5", done.stdout)

    def test_not_found(self):
        done = self.ask(EIN_LIBEIN="/nowhere")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ImportError: cannot find the library libein. Build Ein", done.stderr)
        self.assertIn("EIN_LIBEIN (/nowhere: ", done.stderr)


class Documentation(unittest.TestCase):
    maxDiff = None

    def test_shown(self):
        """Blocks of docs/python.md, as typed and answered; without NumPy results are written in its way too."""
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
        shown = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S))
        self.assertGreater(shown.count(">>>"), 10)
        test = doctest.DocTestParser().get_doctest(shown, {}, "docs/python.md", None, None)
        said = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        self.assertEqual("".join(said), "")


@unittest.skipUnless(np, "NumPy is not installed")
class NumPy(unittest.TestCase):
    def test_kinds(self):
        f = ein.compile("dim N, M\ninput X[i:N, j:M] : f32\noutput Y[j,i] = X[i,j]\noutput s = sum[i,j] X[i,j]\n",
                        target="eval")
        x = np.arange(24, dtype="f4").reshape(4, 6)
        for v in (x, x.T, x[::2, ::-1], x[1:, 2:4], np.asfortranarray(x), x[:, :0],
                  np.broadcast_to(np.float32(3), (2, 3))):
            y = f(X=v)
            self.assertTrue(type(y.Y) is np.ndarray and y.Y.dtype == np.float32 and y.Y.flags.writeable
                            and y.Y.flags.c_contiguous)
            np.testing.assert_array_equal(y.Y, v.T)
            self.assertEqual(y.s, v.sum())
        frozen = x.copy()
        frozen.flags.writeable = False
        np.testing.assert_array_equal(f(X=frozen).Y, x.T)

    def test_no_copy(self):
        x = np.zeros((3, 5), "f4")
        v = ein.views.view("x", x[:, ::-2])
        self.assertEqual((v.tensor.data, v.strides), (x.ctypes.data + 16, (5, -2)))
        y = ein.run("input X[i:3] : f32\noutput Y[i] = X[i]\n", X=np.ones(3, "f4"), target="eval").Y
        self.assertIsInstance(y.base, ein.Array)

    def test_refused(self):
        f = ein.compile("dim N\ninput X[i:N] : f32\noutput Y[i] = X[i]\n", target="eval")
        packed = np.zeros(3, dtype=[("a", "u1"), ("b", "f4")])
        for x, why in ((np.zeros(3, ">f4"), "big-endian"), (np.zeros(3, "c8"), "complex"),
                       (np.zeros(3, "u4"), "unsigned integers of 32"),
                       (packed["b"], "multiple of the 4"), (np.zeros(3, object), "none of"),
                       (np.zeros(3, "f8"), "expected f32, found f64"),
                       (np.zeros(3, "datetime64[s]"), "cannot be accessed"), (np.zeros(3, "g"), "none of"),
                       (np.ma.array(np.zeros(3, "f4"), mask=[0, 1, 0]), "masked")):
            with self.assertRaises(ein.Error) as e:
                f(X=x)
            self.assertIn(why, str(e.exception))
        self.assertEqual(f(X=np.ma.array(np.zeros(3, "f4"), mask=[0, 0, 0])).Y.shape, (3,))
        even = np.zeros(12, "u1")[4:].view("f4")
        self.assertEqual(f(X=even).Y.shape, (2,))

    def test_dtypes(self):
        for dtype in DTYPES:
            if dtype == "bf16":
                continue
            f = ein.compile("dim N\ninput X[i:N] : %s\noutput Y[i] = X[i]\noutput z = X[0]\n" % dtype, target="eval")
            x = np.array(numbers(dtype, 9)).astype({"f": "f", "i": "i", "u": "u", "b": "?"}[dtype[0]]
                                                   + ("" if dtype == "bool" else str(ein.views.SIZES[dtype])))
            r = f(X=x)
            self.assertEqual((r.Y.dtype, r.z.shape), (x.dtype, ()))
            np.testing.assert_array_equal(r.Y, x)

    def test_out(self):
        f = ein.compile("dim N\ninput X[i:N, j:3] : f64\noutput Y[i,j] = 2 * X[i,j]\n")
        x, room = np.arange(12.0).reshape(4, 3), np.full((3, 8), -1.0)
        f({"X": x}, {"Y": room[:, ::2].T})
        np.testing.assert_array_equal(room[:, ::2].T, 2 * x)
        np.testing.assert_array_equal(room[:, 1::2], -1)

    def test_again(self):
        """Prepared calls: other arrays, layouts and shapes each time, passed in all ways."""
        f = ein.compile("dim N, M\ninput X[i:N, j:M] : f64\ninput s : f64 = 2\ninput k[j:M] : i32\n"
                        "output Y[j,i] = s * X[i,j] + k[j]\noutput t = sum[i,j] X[i,j]\n")
        hits, r = 0, random.Random(3)
        for turn in range(600):
            shape, values = r.choice(((2, 3), (3, 2))), np.random.RandomState(turn)
            given = {"X": beside.laid(r, values.randint(-9, 9, shape).astype("f8")),
                     "k": values.randint(-9, 9, shape[1]).astype("i4")}
            if r.random() < 0.5:
                given["s"] = r.choice((np.array(3.0), 3.0, -4))
            if r.random() < 0.5:
                given = dict(reversed(given.items()))
            out = r.choice((None, {"Y": beside.room(r, shape[::-1], "f8")},
                            {"t": np.zeros(()), "Y": np.zeros(shape[::-1])}))
            words = (None, given) if r.random() < 0.5 else (given, {})
            hits += f._prepared.get(f._key(*words, out)) is not None
            y = f(words[0], out, **words[1]) if r.random() < 0.5 or out else f(*words[:1], **words[1])
            want = given.get("s", 2) * given["X"].T + given["k"][:, None]
            self.assertEqual((list(y), type(y.Y), type(y.t), y.Y.dtype, y.t.shape),
                             (["Y", "t"], np.ndarray, np.ndarray, np.float64, ()))
            np.testing.assert_array_equal(y.Y, want)
            self.assertEqual(y.t, given["X"].sum())
            self.assertTrue(all(y[name] is out[name] for name in out or {}))
        print("calls that were prepared: %d of 600" % hits)
        self.assertGreater(hits, 50)
        g = ein.compile("input s : f32\ninput n : i64\noutput y : f64 = s * 2 + f64(n)\n")
        for s, n, want in ((1.5, 3, 6.0), (2.5, 4, 9.0), (0.1, 0, 2 * float(np.float32(0.1))),
                           (float("inf"), 1, float("inf")), (3.0, 2**53, 2.0**53 + 6)):
            self.assertEqual(float(g(s=s, n=n).y), want)
        self.assertEqual(len(g._prepared), 1)
        self.assertNotEqual(float(g(s=float("nan"), n=1).y), want)
        for s, n, why in ((1e300, 1, "input s: 1e\\+300 is no f32"), (1.0, 2**63, "input n"), (1.0, True, None),
                          (1, 1, None)):
            if why:
                self.assertRaisesRegex(ein.Error, why, g, s=s, n=n)
            else:
                self.assertEqual(float(g(s=s, n=n).y), 3)
        frozen = np.zeros(shape[::-1])
        frozen.flags.writeable = False
        with self.assertRaisesRegex(ein.Error, "output Y: it is read-only"):
            f(given, {"Y": frozen})
        f.close()
        with self.assertRaisesRegex(ein.Error, "closed"):
            f(**given)

    def test_steady(self):
        """Calls whose work depends on data are never prepared: they may take long."""
        for text, steady in (("output y = sum[i] x[i] * n", True), ("output y = sum[i where i < n] x[i]", False),
                             ("output y = x[n]", True),
                             ("repeat t < 3 {\n state a : f64 = 0\n next a = a + 1\n}\noutput y = a + x[n]", True),
                             ("repeat t < n {\n state a : f64 = 0\n next a = a + 1\n}\noutput y = a + x[n]", False),
                             ("repeat t < 3 until a > x[n] {\n state a : f64 = 0\n next a = a + 1\n}\noutput y = a",
                              False),
                             ("output y = sum[i] if x[i] > 0 then x[i] else n", True)):
            f = ein.compile("input x[i:3] : f64\ninput n : i64 = 1\n" + text + "\n", target="eval")
            self.assertEqual(f.steady, steady, text)
            for _ in range(5):
                f(x=np.ones(3), n=np.array(2))
            self.assertLessEqual(len(f._prepared), steady, text)

    @unittest.skipUnless(module("ml_dtypes"), "ml_dtypes is not installed")
    def test_bf16(self):
        bf = module("ml_dtypes").bfloat16
        x = np.arange(12).astype(bf).reshape(3, 4)
        y = ein.run("dim N, M\ninput X[i:N,j:M] : bf16\noutput Y[j,i] = X[i,j]\n", X=x[:, ::-1], target="eval").Y
        self.assertEqual(y.dtype, bf)
        np.testing.assert_array_equal(y.astype("f4"), x[:, ::-1].T.astype("f4"))


@unittest.skipUnless(torch, "PyTorch is not installed")
class PyTorch(unittest.TestCase):
    def test_views(self):
        for name, dtype in (("float64", "f64"), ("float32", "f32"), ("float16", "f16"), ("bfloat16", "bf16"),
                            ("int64", "i64"), ("int32", "i32"),
                            ("int16", "i16"), ("int8", "i8"), ("uint8", "u8"), ("bool", "bool")):
            f = ein.compile("dim N, M\ninput X[i:N,j:M] : %s\noutput Y[j,i] = X[i,j]\n" % dtype, target="eval")
            x = torch.tensor(numbers(dtype, 12)).to(getattr(torch, name)).reshape(3, 4)
            for v in (x, x.T, x[:, 1:3], x[::2], x[:, :0], x[0].expand(5, 4)):
                y = f(X=v).Y
                self.assertIs(type(y), torch.Tensor)
                self.assertEqual(y.dtype, x.dtype)
                self.assertTrue(torch.equal(y, v.T))
            out = torch.zeros(4, 3, dtype=x.dtype)
            f({"X": x}, {"Y": out})
            self.assertTrue(torch.equal(out, x.T))

    def test_results(self):
        y = ein.run("input X[i:3] : f32\ninput s : f32\noutput Y[i] = s * X[i]\n", X=torch.ones(3), s=2,
                    target="eval").Y
        gc.collect()
        self.assertTrue(torch.equal(y + 1, torch.full((3,), 3.0)))
        with self.assertRaisesRegex(ein.Error, "grad"):
            ein.run("input X[i:3] : f32\noutput Y[i] = X[i]\n", X=torch.ones(3, requires_grad=True), target="eval")
        self.assertTrue(torch.equal(ein.einsum("ij,jk", torch.ones(2, 3), torch.ones(3, 4)), torch.full((2, 4), 3.0)))
        negated = torch.conj(torch.tensor([1 + 2j, 3 + 4j])).imag  # its memory has 2 and 4
        with self.assertRaisesRegex(ein.Error, "resolve_neg"):
            ein.run("input X[i:2] : f32\noutput Y[i] = X[i]\n", X=negated, target="eval")
        self.assertEqual(ein.run("input X[i:2] : f32\noutput Y[i] = X[i]\n", X=negated.resolve_neg(),
                                 target="eval").Y.tolist(), [-2, -4])


    def test_derived(self):
        """What a user derives from Tensor counts as one."""
        class Mine(torch.Tensor):
            pass
        f = ein.compile("dim N\ninput X[i:N] : f32\noutput Y[i] = 2 * X[i]\n", target="eval")
        y = f(X=torch.ones(2).as_subclass(Mine)).Y
        self.assertIsInstance(y, torch.Tensor)
        negated = torch.conj(torch.tensor([1 + 2j, 3 + 4j])).imag.as_subclass(Mine)
        with self.assertRaisesRegex(ein.Error, "resolve_neg"):
            f(X=negated)

    def test_refused(self):
        """Whatever PyTorch does not lend is an error of Ein, with the reason."""
        f = ein.compile("dim N, M\ninput X[i:N,j:M] : f32\noutput Y[i,j] = X[i,j]\n", target="eval")
        x = torch.ones(2, 3)
        for name, bits in (("uint16", 16), ("uint32", 32), ("uint64", 64)):
            with self.assertRaisesRegex(ein.Error, "unsigned integers of %d bits" % bits):
                f(X=x.to(getattr(torch, name)))
        for v, why in ((x.to("meta"), "meta"), (x.to_sparse(), "layout"), (x.to(torch.complex64), "complex"),
                       (x.to(torch.float8_e5m2), "none of"), (torch.nn.Parameter(x), "detach"),
                       (x.to(torch.complex64).conj(), "conjugate")):
            with self.assertRaisesRegex(ein.Error, why):
                f(X=v)
            with self.assertRaisesRegex(ein.Error, why):
                ein.einsum("ij->", v, target="eval")
        with self.assertRaisesRegex(ein.Error, "detach"):
            f({"X": x}, {"Y": torch.ones(2, 3, requires_grad=True)})
        with self.assertRaisesRegex(ein.Error, "overlap"):
            f({"X": x}, {"Y": torch.zeros(1).expand(2, 3)})


@unittest.skipUnless(jax, "JAX is not installed")
class JAX(unittest.TestCase):
    def test_views(self):
        for name, dtype in (("float32", "f32"), ("float16", "f16"), ("bfloat16", "bf16"), ("int32", "i32"),
                            ("int8", "i8"), ("uint8", "u8"), ("bool", "bool")):
            x = jax.numpy.array(numbers(dtype, 12)).astype(name).reshape(3, 4)
            y = ein.run("dim N, M\ninput X[i:N,j:M] : %s\noutput Y[j,i] = X[i,j]\n" % dtype, X=x, target="eval").Y
            self.assertTrue(isinstance(y, jax.Array) and y.dtype == x.dtype)
            self.assertTrue(bool((y == x.T).all()))

    def test_out(self):
        with self.assertRaisesRegex(ein.Error, "read-only|immutable"):
            copied = ein.compile("input X[i:3] : f32\noutput Y[i] = X[i]\n", target="eval")
            copied({"X": [1.0] * 3}, {"Y": jax.numpy.zeros(3)})


if __name__ == "__main__":
    main()
