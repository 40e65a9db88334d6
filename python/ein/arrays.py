"""Results: memory of libein as arrays, which keep it alive. A result is a PyTorch tensor or a JAX array if the inputs
are; else a NumPy array if NumPy is installed; else an Array, which supports the buffer protocol and DLPack. Nothing is
copied."""
import ctypes
import functools
import struct
import sys
import weakref

from .library import lib
from .views import DL_CODES, PACKS, SIZES, DLManaged, DLTensor

CTYPES = {"f64": ctypes.c_double, "f32": ctypes.c_float, "f16": ctypes.c_int16, "bf16": ctypes.c_int16,
          "i64": ctypes.c_int64, "i32": ctypes.c_int32, "i16": ctypes.c_int16, "i8": ctypes.c_int8,
          "u8": ctypes.c_uint8, "bool": ctypes.c_bool}


class Owner:
    """Keeps the results of a call until their last array is gone."""

    def __init__(self, kept):
        self._finalizer = weakref.finalize(self, lib.ein_kept_free, kept)
        self._finalizer.atexit = False  # it may still be in use at exit


# ---- without other libraries -----------------------------------------------------------------------------------------

class Array:
    """A tensor in C order. Its memoryview() has the same shape; elements of f16 and bf16 appear there as 16-bit
    integers with the same bits."""

    @property
    def dtype(self):
        return self._ein_dtype

    @property
    def shape(self):
        return self._ein_shape

    @property
    def ndim(self):
        return len(self._ein_shape)

    def __len__(self):
        if not self._ein_shape:
            raise TypeError("a tensor without axes has no length")
        return self._ein_shape[0]

    def tolist(self):
        """The elements, in nested lists."""
        n = 1
        for k in self._ein_shape:
            n *= k
        data = ctypes.string_at(ctypes.addressof(self), n * SIZES[self._ein_dtype])
        if self._ein_dtype == "bf16":
            values = [struct.unpack("f", struct.pack("I", b << 16))[0] for b in struct.unpack("%dH" % n, data)]
        else:
            values = list(struct.unpack("%d%s" % (n, PACKS[self._ein_dtype]), data))
        return _nested(values, self._ein_shape)

    def item(self):
        if self._ein_shape:
            raise TypeError("item() requires a tensor without axes; this one has the shape %s" % (self._ein_shape,))
        return self.tolist()

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def __repr__(self):
        text = repr(self.tolist())
        return "ein.Array(%s, dtype=%s, shape=%s)" % (
            text if len(text) < 200 else text[:200] + "...", self.dtype, self.shape)

    @property
    def __array_interface__(self):
        kinds = {"f": "<f", "i": "<i", "u": "|u", "b": "|b"}
        typestr = "<V2" if self._ein_dtype == "bf16" else kinds[self._ein_dtype[0]] + str(SIZES[self._ein_dtype])
        return {"version": 3, "shape": self._ein_shape, "typestr": typestr.replace("<i1", "|i1"),
                "data": (ctypes.addressof(self), False)}

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, (1, 0)) or copy:
            raise BufferError("its memory is on the CPU, and is exported without a copy")
        return _export(self)


def _nested(values, shape):
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    step = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


@functools.lru_cache(maxsize=1024)
def _class(dtype, shape):
    base = CTYPES[dtype]
    for n in reversed(shape):
        base = base * n
    return type(base)("Array", (Array, base), {"_ein_dtype": dtype, "_ein_shape": shape, "__module__": "ein"})


def array_at(address, dtype, shape, owner):
    a = _class(dtype, tuple(shape)).from_address(address)
    a._ein_owner = owner
    return a


# ---- DLPack export ---------------------------------------------------------------------------------------------------

_NAME = b"dltensor"
_lent = {}  # by address: objects kept alive until their deleter is called
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_capsule_fresh = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _given_back(managed):
    _lent.pop(managed, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _unused(capsule):
    """Frees a capsule that nobody has used: a used one has another name."""
    if _capsule_fresh(capsule, _NAME):
        _lent.pop(_capsule_at(capsule, _NAME), None)


def _export(a):
    shape = (ctypes.c_int64 * max(1, a.ndim))(*a.shape)
    code, bits = DL_CODES[a.dtype]
    managed = DLManaged(DLTensor(ctypes.addressof(a), 1, 0, a.ndim, code, bits, 1,
                                 ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))))
    managed.deleter = ctypes.cast(_given_back, ctypes.c_void_p)
    at = ctypes.addressof(managed)
    _lent[at] = (managed, shape, a)
    return _capsule_new(at, _NAME, ctypes.cast(_unused, ctypes.c_void_p))


# ---- for other libraries ---------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def numpy():
    """The module; None where it is not installed."""
    try:
        import numpy as np
    except ImportError:
        return None
    return np


@functools.lru_cache(maxsize=None)
def _numpy_dtype(dtype):
    np = numpy()
    names = {"f": "float", "i": "int", "u": "uint"}
    if dtype == "bool":
        return np.dtype(bool)
    if dtype == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            return None  # NumPy alone has no such dtype
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(names[dtype[0]] + str(8 * SIZES[dtype]))


def give(a, kind):
    """An Array in the form for callers whose tensors are of this kind: torch, jax, or other."""
    if kind == "torch" and "torch" in sys.modules:
        return sys.modules["torch"].from_dlpack(a)
    if kind == "jax" and "jax" in sys.modules:
        return sys.modules["jax"].numpy.from_dlpack(a)
    np = numpy()
    dtype = _numpy_dtype(a.dtype) if np else None
    if dtype is None:
        return a
    if 0 in a.shape:
        return np.empty(a.shape, dtype)
    return np.ndarray(a.shape, dtype, buffer=a)
