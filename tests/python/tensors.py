"""Shared code of the tests of the module ein: tensors of any dtype and strides without other libraries, their expected
values, and reports of skipped tests. Run by meson, with EIN_LIBEIN and PYTHONPATH set."""
import ctypes
import importlib
import os
import random
import struct
import sys
import unittest

import ein
from ein import arrays, views

DTYPES = ein.library.DTYPES


def module(name):
    """An optional one; None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def numbers(dtype, n, seed=0):
    """Values that the dtype holds exactly."""
    r = random.Random(seed)
    if dtype == "bool":
        return [r.random() < 0.5 for _ in range(n)]
    low, high = {"u8": (0, 255), "i8": (-128, 127)}.get(dtype, (-100, 100))
    values = [r.randint(low, high) for _ in range(n)]
    return [v / 2 if dtype in ("f64", "f32", "f16") else float(v) if dtype == "bf16" else v for v in values]


class Strided:
    """A tensor with such strides, in elements, in memory of its own, as DLPack lends it; `values` are its elements in C order."""

    def __init__(self, dtype, shape, strides, values, device=(1, 0), code=None, shift=0):
        self.dtype, self.shape, self.strides, self.device, self.code = dtype, tuple(shape), tuple(strides), device, code
        size = views.SIZES[dtype]
        low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides) if n)
        high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides) if n)
        self.room = ctypes.create_string_buffer((high - low + 2) * size)
        self.first = ctypes.addressof(self.room) - low * size + shift
        for at, v in zip(places(shape, strides), values):
            ctypes.memmove(self.first + at * size, views.pack("test", dtype, [v]), size)
        self.lent = 0

    def tolist(self):
        size = views.SIZES[self.dtype]
        flat = [unpack(self.dtype, ctypes.string_at(self.first + at * size, size)) for at in places(self.shape, self.strides)]
        return arrays._nested(flat, self.shape) if 0 not in self.shape else flat

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **how):
        n = len(self.shape)
        self.axes = (ctypes.c_int64 * (2 * n + 1))(*self.shape, *self.strides)
        code, bits = views.DL_CODES[self.dtype]
        t = views.DLTensor(self.first, *self.device, n, self.code or code, bits, 1, ctypes.cast(self.axes, ctypes.POINTER(ctypes.c_int64)))
        t.strides = ctypes.cast(ctypes.byref(self.axes, 8 * n), ctypes.POINTER(ctypes.c_int64))
        self.managed = views.DLManaged(t)
        return arrays._capsule_new(ctypes.addressof(self.managed), b"dltensor", None)


def unpack(dtype, data):
    if dtype == "bf16":
        return struct.unpack("f", b"\0\0" + data)[0]
    return struct.unpack(views.PACKS[dtype], data)[0]


def places(shape, strides):
    """Where elements lie, in C order."""
    all_places = [0]
    for n, s in zip(shape, strides):
        all_places = [p + i * s for p in all_places for i in range(n)]
    return all_places


def any_strides(r, shape):
    """The axes in some order, with gaps, backwards here and there."""
    order, strides, step = list(range(len(shape))), [0] * len(shape), 1
    r.shuffle(order)
    for k in order:
        strides[k] = step * r.choice((1, 1, -1))
        step *= max(1, shape[k]) * r.choice((1, 1, 2)) + r.choice((0, 0, 1))
    return strides


def flat(x):
    if isinstance(x, list):
        return [v for y in x for v in flat(y)]
    return [x]


def lists(x):
    """A result of any library as nested lists of numbers."""
    x = getattr(x, "tolist", lambda: x)()
    return x


def main():
    skipped = []

    class Result(unittest.TextTestResult):
        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            skipped.append("%s: %s" % (test.id().partition(".")[2], reason))

    done = unittest.main(exit=False, testRunner=unittest.TextTestRunner(resultclass=Result)).result
    for line in skipped:
        print("left out: " + line)
    sys.exit(not done.wasSuccessful())
