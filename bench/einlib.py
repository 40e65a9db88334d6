"""Shared code of the benchmarks: loads libraries of `ein build --lib` through ctypes, compiles C, allocates arguments,
and measures time. Needs only Python and a C compiler."""
import contextlib
import ctypes
import math
import mmap
import os
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = 0.020  # seconds, at least
DTYPES = ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"]  # as ein_dtype counts them
SIZE = [8, 4, 2, 2, 8, 4, 2, 1, 1, 1]  # bytes of an element
CLOSE = [1e-10, 1e-4, 4e-3, 3e-2, 0, 0, 0, 0, 0, 0]  # results agree, relative to the largest


class Failure(SystemExit):
    """A build or a run failed. If not caught, it ends the program with this message."""


# ---- runtime/ein_tensor.h -------------------------------------------------------------------------

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("alloc", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("parallel", ctypes.c_void_p), ("user", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t)]


class Argument(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int),
                ("optional", ctypes.c_int), ("param", ctypes.c_int)]


class Model(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("name", ctypes.c_char_p), ("source", ctypes.c_char_p),
                ("n_dims", ctypes.c_int), ("n_inputs", ctypes.c_int), ("n_outputs", ctypes.c_int),
                ("dim", ctypes.c_void_p), ("input", ctypes.POINTER(Argument)), ("output", ctypes.POINTER(Argument)),
                ("create", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Config), ctypes.POINTER(ctypes.c_void_p))),
                ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("plan", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))),
                ("workspace", ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)),
                ("shape", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int,
                                           ctypes.POINTER(ctypes.c_int64))),
                ("run", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor),
                                         ctypes.POINTER(Tensor))),
                ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
                ("cancel", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


def int64s(numbers):
    return (ctypes.c_int64 * max(len(numbers), 1))(*numbers)


class Data:
    """An argument's memory, in whole pages from the system (large pages if it has them), and its view. Strides are in
    elements and not negative; without them the order is row-major."""

    def __init__(self, name, dtype, shape, strides=None):
        self.name, self.dtype, self.shape, self.strides = name, dtype, tuple(shape), strides and tuple(strides)
        self.count = math.prod(shape)
        reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if strides else self.count
        self.elements = reach if self.count else 0  # of the memory, those between the view's included
        self.bytes = self.count * SIZE[dtype]
        self.room = self.elements * SIZE[dtype]
        self.memory = mmap.mmap(-1, max(self.room, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # shared memory has small pages alone
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a system without them
                self.memory.madvise(mmap.MADV_HUGEPAGE)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.kept = int64s(self.shape), self.strides and int64s(self.strides)
        self.view = Tensor(self.at, 1, 0, len(self.shape), dtype, *self.kept, 0)

    def another(self):
        """New row-major memory of the same shape and dtype."""
        return Data(self.name, self.dtype, self.shape)


class Ours:
    """A library that ein built: its model, and a context with a plan."""

    def __init__(self, path, name, threads):
        self.library = ctypes.CDLL(path)
        self.model = Model.in_dll(self.library, name + "_model")
        if self.model.version != 1:
            raise Failure(f"{name}: version {self.model.version} of ein_model is not supported here")
        self.context = ctypes.c_void_p()
        self.config = Config(size=ctypes.sizeof(Config), threads=threads)
        self.check(self.model.create(ctypes.byref(self.config), ctypes.byref(self.context)))
        self.check(self.model.plan(self.context, None))

    def check(self, status):
        if status:
            said = self.model.last_error(self.context) if self.context else None
            raise Failure(f"{self.model.name.decode()}: {said.decode() if said else f'status {status}'}")

    def arguments(self, output, strides=None):
        """Allocates each argument. strides: a dict by name."""
        known = self.model.output if output else self.model.input
        for k in range(self.model.n_outputs if output else self.model.n_inputs):
            shape = (ctypes.c_int64 * 64)()
            self.check(self.model.shape(self.context, output, k, shape))
            name = known[k].name.decode()
            yield Data(name, known[k].dtype, list(shape[:known[k].ndim]), (strides or {}).get(name))

    def close(self):
        self.model.destroy(self.context)
        self.context = ctypes.c_void_p()

    def bind(self, inputs, outputs):
        """Returns a function that runs the library, and the arrays of views that it passes."""
        views = [(Tensor * max(len(v), 1))(*[d.view for d in v]) for v in (inputs, outputs)]
        run, context = self.model.run, self.context
        return (lambda: run(context, *views)), views


# ---- building ---------------------------------------------------------------------------------------

def call(words):
    said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if said.returncode:
        raise Failure(f"{' '.join(words)}: exit code {said.returncode}\n{said.stdout}")


def shared_make(cc, source, flags, folder, libraries=()):
    """Links without -Ofast, which would change how the whole process rounds subnormal numbers."""
    name = os.path.splitext(os.path.basename(source))[0]
    path = os.path.join(folder, name)
    call([cc, *flags, "-fPIC", "-c", source, "-o", path + ".o"])
    call([cc, "-shared", path + ".o", "-o", path + ".so", *libraries, "-lm"])
    return ctypes.CDLL(path + ".so")


def support_make(cc, folder):
    """Compiles bench/nests/support.c: fill and differ."""
    support = shared_make(cc, os.path.join(HERE, "nests", "support.c"), ["-O2"], folder)
    support.fill.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64]
    support.fill.restype = None
    support.differ.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64]
    support.differ.restype = ctypes.c_double
    return support


def ours_make(ein, cc, source, folder, threads, words=()):
    """Builds the program in a file; the model has the name of the file. words: further arguments of `ein build`."""
    name = os.path.splitext(os.path.basename(source))[0]
    to = os.path.join(folder, name)
    call([ein, "build", "--lib", source, "-o", to, *words])
    call([cc, "-shared", "-o", to + ".so", "-Wl,--whole-archive", os.path.join(to, f"lib{name}.a"),
          "-Wl,--no-whole-archive", "-fopenmp", "-lm"])
    return Ours(to + ".so", name, threads)


# ---- measuring --------------------------------------------------------------------------------------

def seconds(f, runs, clock=time.perf_counter):
    """The seconds of a run, as the mean of several. A function with the attribute `many` repeats itself, without
    Python in between."""
    many = getattr(f, "many", None)
    start = clock()
    if many:
        many(runs)
    else:
        for _ in range(runs):
            f()
    return (clock() - start) / runs


def runs_find(f, sample=SAMPLE):
    """Finds how many runs make a sample long enough. This also warms up."""
    f()
    t = min(seconds(f, 1), seconds(f, 1))
    return max(1, math.ceil(sample / max(t, 1e-7)))


def duration(t):
    if t >= 1e-3:
        return f"{t * 1e3:.2f} ms"
    return f"{t * 1e6:.1f} us" if t >= 1e-6 else f"{t * 1e9:.1f} ns"
