"""The peers. To add one, write a class with a name, and with `load`, `take`, `bind` and `give` where they differ from
NumPy's; add it to PEERS; and add functions under its name to the rows of groups/."""
import contextlib
import ctypes
import ctypes.util
import glob
import inspect
import io
import logging
import os

from einlib import DTYPES, SIZE, Failure, shared_make

NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16",
         "i8": "int8", "u8": "uint8", "bool": "bool"}


# Variables that make a library assume a lesser processor: each peer should do its best.
HELD_BACK = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA",
             "ATEN_CPU_CAPABILITY", "NPY_DISABLE_CPU_FEATURES")


def environment_set(threads):
    """Sets variables before any peer is imported, because peers read them once. Returns those it removed."""
    dropped = [f"{name}={os.environ.pop(name)}" for name in HELD_BACK if name in os.environ]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "PJRT_NPROC", "NPROC"):
        os.environ[name] = str(threads)
    if threads == 1:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    return dropped


def memory(data):
    return (ctypes.c_char * max(data.room, 1)).from_buffer(data.memory)


class NumPy:
    name = "numpy"

    def __init__(self, work):
        self.work = work  # threads, cc, folder

    def load(self):
        """Returns its version, or raises ImportError. Sets `lib`, which functions of rows receive."""
        import numpy
        self.lib = self.np = numpy
        with contextlib.suppress(ImportError):
            import threadpoolctl
            threadpoolctl.threadpool_limits(self.work.threads)
        return numpy.__version__

    def take(self, data):
        """Returns the memory as an array of this library, without a copy if possible."""
        strides = data.strides and [s * SIZE[data.dtype] for s in data.strides]
        return self.np.ndarray(data.shape, NUMPY[DTYPES[data.dtype]], memory(data), strides=strides)

    def bind(self, f, case):
        """Returns the function to time, without arguments, and the result of its first run. `case` has inputs, outputs
        and the row."""
        inputs, outputs = [self.take(d) for d in case.inputs], [self.take(d) for d in case.outputs]
        more = {}
        if "out" in inspect.signature(f).parameters:
            more["out"] = outputs[0] if len(outputs) == 1 else outputs
        first = f(self.lib, *inputs, **more)
        return (first, first()) if callable(first) else (lambda: f(self.lib, *inputs, **more), first)

    def copy(self, result, data):
        self.np.copyto(self.take(data), self.np.asarray(result), casting="same_kind")

    def give(self, result, case):
        """Copies the result to the case's outputs, unless it is there already."""
        if result is None:
            return
        results = result if isinstance(result, (tuple, list)) else (result,)
        for r, d in zip(results, case.outputs, strict=True):
            if tuple(r.shape) != d.shape:
                raise Failure(f"{self.name} returns {d.name} with the shape {tuple(r.shape)}, not {d.shape}")
            self.copy(r, d)


class SciPy(NumPy):
    name = "scipy"

    def load(self):
        super().load()
        import scipy.spatial.distance
        import scipy.special
        self.lib = scipy
        return scipy.__version__


class OptEinsum(NumPy):
    name = "opt_einsum"

    def load(self):
        super().load()
        import opt_einsum
        self.lib = opt_einsum
        return opt_einsum.__version__


class Torch(NumPy):
    name = "torch"

    def load(self):
        import torch
        self.lib = torch
        torch.set_num_threads(self.work.threads)
        torch.set_grad_enabled(False)
        return torch.__version__

    def take(self, data):
        flat = self.lib.frombuffer(memory(data), dtype=getattr(self.lib, NUMPY[DTYPES[data.dtype]]), count=data.elements)
        return flat.as_strided(data.shape, data.strides) if data.strides else flat.reshape(data.shape)

    def copy(self, result, data):
        self.take(data).copy_(result)


class Compiled(Torch):
    name = "compile"

    def load(self):
        version = super().load()
        logging.getLogger("torch").setLevel(logging.ERROR)
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                self.lib.compile(lambda x: 2 * x + 1)(self.lib.ones(100))
        except Exception as e:  # whatever its compilers say
            raise ImportError(f"torch.compile does not work here: {type(e).__name__}") from e
        return version

    def bind(self, f, case):
        self.lib.compiler.reset()
        inputs = [self.take(d) for d in case.inputs]
        compiled = self.lib.compile(lambda *x: f(self.lib, *x), dynamic=False)
        return lambda: compiled(*inputs), compiled(*inputs)


class Jax(NumPy):
    name = "jax"

    def load(self):
        super().load()
        import jax
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        self.jax, self.lib = jax, jax.numpy
        return jax.__version__

    def bind(self, f, case):
        inputs = [self.lib.asarray(self.take(d)) for d in case.inputs]
        compiled = self.jax.jit(lambda *x: f(self.lib, *x)).lower(*inputs).compile()
        return lambda: self.jax.block_until_ready(compiled(*inputs)), compiled(*inputs)


class Nest:
    """A loop nest in C, compiled by gcc -Ofast."""
    name = "c"

    def __init__(self, work):
        self.work = work

    def load(self):
        return f"{self.work.cc} -Ofast -march=native"

    def bind(self, text, case):
        path = os.path.join(self.work.folder, case.row.name + "_nest.c")
        with open(path, "w") as f:
            f.write(case.row.c())
        nest = shared_make(self.work.cc, path, ["-Ofast", "-march=native"], self.work.folder)
        pointers = [ctypes.c_void_p(d.at) for d in case.inputs + case.outputs]
        nest.peer.restype = None
        return lambda: nest.peer(*pointers), nest.peer(*pointers)

    def give(self, result, case):
        pass


class OpenBlas(Nest):
    """cblas_sgemm, called from C: from NumPy's OpenBLAS, which is usually newer, or from the system's."""
    name = "openblas"
    # symbol, bits of its integers
    SYMBOLS = (("cblas_sgemm", 32), ("scipy_cblas_sgemm64_", 64), ("cblas_sgemm64_", 64), ("scipy_cblas_sgemm", 32))

    def paths(self):
        with contextlib.suppress(ImportError):
            import numpy
            yield from glob.glob(os.path.join(os.path.dirname(numpy.__file__) + ".libs", "*openblas*.so*"))
        found = ctypes.util.find_library("openblas")
        if found:
            yield found

    def load(self):
        for path in self.paths():
            library = ctypes.CDLL(path)
            for symbol, self.bits in self.SYMBOLS:
                if hasattr(library, symbol):
                    self.f = ctypes.cast(getattr(library, symbol), ctypes.c_void_p)
                    return self.configuration(library, symbol)
        raise ImportError("no OpenBLAS found")

    def configuration(self, library, symbol):
        """Returns its version, and the processor type that it detects."""
        names = [symbol.replace("cblas_sgemm", f"openblas_get_{what}") for what in ("config", "corename")]
        if not all(hasattr(library, n) for n in names):
            return "of an unknown version"
        said = [ctypes.CFUNCTYPE(ctypes.c_char_p)((n, library))().decode() for n in names]
        return f"{said[0].split()[1]} ({said[1]})"

    def bind(self, f, case):
        run = f(self, *case.inputs, *case.outputs)
        return run, run()

    def products(self, a, b, c):
        """Products of square matrices in the last two axes, as a function that repeats itself."""
        n, batch = a.shape[-1], a.count // a.shape[-1] ** 2
        integer = ctypes.c_int32 if self.bits == 32 else ctypes.c_int64
        loop = getattr(self.work.calls, f"calls_sgemm{self.bits}")
        loop.restype = None
        words = [self.f, ctypes.c_int64(batch), integer(n)] + [ctypes.c_void_p(d.at) for d in (a, b, c)]
        return Repeating(lambda times: loop(ctypes.c_int64(times), *words))


class Repeating:
    """A function that einlib.seconds repeats without Python in between."""

    def __init__(self, many):
        self.many = many

    def __call__(self):
        self.many(1)


PEERS = (NumPy, SciPy, OptEinsum, Torch, Compiled, Jax, Nest, OpenBlas)
