"""Views of other libraries' tensors, without copies, by the buffer protocol or DLPack. Numbers and lists of numbers
are written to new memory. What cannot be viewed is refused, with the reason."""
import ctypes
import functools
import struct
from ctypes import (POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_ssize_t, c_uint8, c_uint16, c_uint32,
                    c_uint64, c_void_p, py_object)

from .library import DTYPES, Error, Tensor

SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u8": 1, "bool": 1}


@functools.lru_cache(maxsize=1024)
def library_of(kind):
    """The library that a type of tensors comes from, also if users derived it: torch, jax, numpy.ma, or the type's
    own."""
    modules = [k.__module__ for k in kind.__mro__]
    roots = [m.partition(".")[0] for m in modules]
    for name in ("torch", "jax", "jaxlib"):
        if name in roots:
            return "jax" if name == "jaxlib" else name
    return "numpy.ma" if any(m.startswith("numpy.ma") for m in modules) else roots[0]


class View:
    """A tensor for libein, and what must stay alive while it is used. kind: the library that its owner comes from, or
    ""; None for numbers."""

    def __init__(self, dtype, shape, strides, data, kept, kind="", release=None):
        self.dtype, self.shape, self.kind = dtype, tuple(shape), kind
        self._kept, self._release = kept, release
        n = len(self.shape)
        self._axes = (c_int64 * (2 * n + 1))(*self.shape, *(strides or ()))
        # an empty tensor may have no address; but NULL means that it is missing
        self._empty = (c_uint8 * 16)() if not data else None
        self.tensor = Tensor(data or ctypes.addressof(self._empty), 1, 0, n, DTYPES.index(dtype),
                             ctypes.cast(self._axes, POINTER(c_int64)))
        if strides:
            self.tensor.strides = ctypes.cast(ctypes.byref(self._axes, 8 * n), POINTER(c_int64))
        self.strides = tuple(strides) if strides else None

    def release(self):
        if self._release:
            self._release()
        self._release = self._kept = None

    def borrowed(self):
        """The same view, without the duty to release it."""
        b = Borrowed.__new__(Borrowed)
        b.__dict__.update(self.__dict__, _release=None)
        return b

    def in_order(self, fortran=False):
        """Whether the elements are contiguous in C or Fortran order. Both may hold: with at most one axis, or without
        elements."""
        step = 1
        axes = list(zip(self.shape, self.strides or self._steps()))
        for n, s in axes if fortran else reversed(axes):
            if n != 1 and s != step:
                return 0 in self.shape
            step *= n
        return True

    def _steps(self):
        """Strides in C order."""
        steps, step = [], 1
        for n in reversed(self.shape):
            steps.insert(0, step)
            step *= n
        return steps

    def span(self):
        """The address of its first byte, and the address after its last one; equal if it has no elements."""
        low = high = self.tensor.data
        if 0 in self.shape:
            return low, low
        size = SIZES[self.dtype]
        for n, s in zip(self.shape, self.strides or self._steps()):
            low, high = low + min(0, (n - 1) * s * size), high + max(0, (n - 1) * s * size)
        return low, high + size


class Borrowed(View):
    pass


def _strides(what, dtype, shape, strides):
    """From bytes to elements."""
    size, out = SIZES[dtype], []
    for k, (n, s) in enumerate(zip(shape, strides)):
        if s % size and n > 1:
            raise Error("%s: the stride of axis %d is %d bytes, which is not a multiple of the %d of %s; pass a copy"
                        % (what, k, s, size, dtype))
        out.append(s // size)
    return out


def _aligned(what, dtype, data, shape):
    if data % SIZES[dtype] and 0 not in shape:
        raise Error("%s: its elements do not begin at a multiple of the %d bytes of %s; pass a copy"
                    % (what, SIZES[dtype], dtype))


# ---- the buffer protocol ---------------------------------------------------------------------------------------------

class _Buffer(Structure):
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t), ("readonly", c_int),
                ("ndim", c_int), ("format", c_char_p), ("shape", POINTER(c_ssize_t)), ("strides", POINTER(c_ssize_t)),
                ("suboffsets", POINTER(c_ssize_t)), ("internal", c_void_p)]


_get = ctypes.PYFUNCTYPE(c_int, py_object, POINTER(_Buffer), c_int)(("PyObject_GetBuffer", ctypes.pythonapi))
_put = ctypes.PYFUNCTYPE(None, POINTER(_Buffer))(("PyBuffer_Release", ctypes.pythonapi))
_has = ctypes.PYFUNCTYPE(c_int, py_object)(("PyObject_CheckBuffer", ctypes.pythonapi))
WRITABLE, STRIDED, FORMATTED = 1, 0x18, 4
FLOATS, SIGNED, UNSIGNED = {8: "f64", 4: "f32", 2: "f16"}, {8: "i64", 4: "i32", 2: "i16", 1: "i8"}, "BHILQN"


def dtype_of_format(what, text, size):
    """The dtype of one element, given in the format of module struct."""
    order, code = (text[0], text[1:]) if text[:1] in "@=<>!" and text else ("@", text)
    if code in ("Zd", "Zf", "Zg", "F", "D"):
        raise Error("%s: its elements are complex, and Ein has no complex numbers yet; .real and .imag are two tensors"
                    % what)
    if len(code) == 1 and code in "def" and size in FLOATS:
        dtype = FLOATS[size]
    elif len(code) == 1 and code in "bhilqn" and size in SIGNED:
        dtype = SIGNED[size]
    elif len(code) == 1 and code in UNSIGNED and size == 1:
        dtype = "u8"
    elif code == "?":
        dtype = "bool"
    elif len(code) == 1 and code in UNSIGNED:
        raise Error("%s: its elements are unsigned integers of %d bits; the only unsigned dtype of Ein is u8"
                    % (what, 8 * size))
    else:
        raise Error("%s: its elements, `%s` of %d bytes, are none of %s" % (what, text, size, ", ".join(DTYPES)))
    if order in ">!" and size > 1:
        raise Error("%s: its elements are big-endian, and Ein needs the byte order of this machine; "
                    ".astype('<...') converts them" % what)
    return dtype


def _by_buffer(what, x, writable):
    b = _Buffer()
    try:
        _get(x, ctypes.byref(b), STRIDED | FORMATTED | (WRITABLE if writable else 0))
    except (BufferError, ValueError, TypeError) as e:
        if writable and _readable(x):
            raise Error("%s: it is read-only, so a result cannot be written to it" % what) from None
        raise Error("%s: its memory cannot be accessed: %s" % (what, e)) from None
    try:
        shape = b.shape[:b.ndim] if b.ndim else []
        dtype = dtype_of_format(what, (b.format or b"B").decode(), b.itemsize)
        _aligned(what, dtype, b.buf or 0, shape)
        # NULL: C order, according to ctypes
        strides = _strides(what, dtype, shape, b.strides[:b.ndim]) if b.strides and b.ndim else None
    except BaseException:
        _put(ctypes.byref(b))
        raise
    return View(dtype, shape, strides, b.buf, x, release=lambda: _put(ctypes.byref(b)))


def _readable(x):
    try:
        memoryview(x).release()
        return True
    except (BufferError, ValueError, TypeError):
        return False


# ---- DLPack ----------------------------------------------------------------------------------------------------------

class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class DLManaged(Structure):
    _fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", c_void_p)]


class _DLVersioned(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", DLTensor)]


DL_DTYPES = {(2, 64): "f64", (2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (0, 64): "i64", (0, 32): "i32",
             (0, 16): "i16", (0, 8): "i8",
             (1, 8): "u8", (6, 8): "bool"}
DL_CODES = {name: code for code, name in DL_DTYPES.items()}
DL_READ_ONLY = 1
_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_is_named = ctypes.PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


def _capsule(what, x):
    try:
        try:
            return x.__dlpack__(max_version=(1, 0))
        except TypeError:  # an older DLPack, without versions
            return x.__dlpack__()
    except (BufferError, RuntimeError, TypeError, ValueError) as e:
        raise Error("%s: its memory cannot be accessed: %s" % (what, e)) from None


def _on_cpu(what, x):
    try:
        device, number = map(int, x.__dlpack_device__())
    except (BufferError, RuntimeError, TypeError, ValueError) as e:  # PyTorch's meta, or tensors that are no memory
        raise Error("%s: its memory cannot be accessed: %s" % (what, e)) from None
    if device not in (1, 3, 11):  # the CPU's; its own, and pinned for CUDA or ROCm
        raise Error("%s: its data are on device %d:%d, but Ein computes on the CPU; copy it with .cpu() or similar"
                    % (what, device, number))


def _by_dlpack(what, x, writable):
    _on_cpu(what, x)
    capsule = _capsule(what, x)
    if _is_named(capsule, b"dltensor_versioned"):
        managed = ctypes.cast(_pointer(capsule, b"dltensor_versioned"), POINTER(_DLVersioned)).contents
        if writable and managed.flags & DL_READ_ONLY:
            raise Error("%s: it is read-only, so a result cannot be written to it" % what)
    else:
        managed = ctypes.cast(_pointer(capsule, b"dltensor"), POINTER(DLManaged)).contents
        if writable and library_of(type(x)) == "jax":
            raise Error("%s: arrays of JAX are immutable, so a result cannot be written to one" % what)
    t = managed.tensor
    dtype = DL_DTYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if t.code == 5:
        raise Error("%s: its elements are complex, and Ein has no complex numbers yet" % what)
    if t.code == 1 and t.lanes == 1 and not dtype:
        raise Error("%s: its elements are unsigned integers of %d bits; the only unsigned dtype of Ein is u8"
                    % (what, t.bits))
    if not dtype:
        raise Error("%s: its elements (DLPack's type %d of %d bits) are none of %s"
                    % (what, t.code, t.bits, ", ".join(DTYPES)))
    shape, data = t.shape[:t.ndim], (t.data or 0) + t.byte_offset
    _aligned(what, dtype, data, shape)
    return View(dtype, shape, t.strides[:t.ndim] if t.strides and t.ndim else None, data, (capsule, x),
                library_of(type(x)))


# ---- numbers and lists -----------------------------------------------------------------------------------------------

PACKS = {"f64": "d", "f32": "f", "f16": "e", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B", "bool": "?"}


def _shape_of(what, x):
    if not isinstance(x, (list, tuple)):
        return ()
    shapes = {_shape_of(what, y) for y in x}
    if len(shapes) > 1:
        raise Error("%s: its lists have different lengths: %s" % (what, " and ".join(map(str, sorted(shapes)))))
    return (len(x), *(shapes.pop() if shapes else ()))


def _flat(x):
    if isinstance(x, (list, tuple)):
        for y in x:
            yield from _flat(y)
    else:
        yield x


def pack(what, dtype, values):
    """Elements as bytes. Refuses numbers that the dtype cannot hold, and finite numbers that would become infinite.
    The "=" makes struct report an overflow of f32."""
    def one(v):
        try:
            if dtype == "bf16":  # the upper half of an f32, rounded to even
                bits = struct.unpack("=I", struct.pack("=f", v))[0]
                half = bits >> 16 | 0x40 if v != v else (bits + 0x7fff + (bits >> 16 & 1)) >> 16
                if half & 0x7fff == 0x7f80 and bits & 0x7fffffff != 0x7f800000:
                    raise OverflowError
                return struct.pack("=H", half)
            if dtype == "bool" and v not in (0, 1):
                raise struct.error
            return struct.pack("=" + PACKS[dtype], v)
        except (struct.error, OverflowError, TypeError):
            raise Error("%s: %r is no %s" % (what, v, dtype)) from None
    return b"".join(map(one, values))


def natural(x):
    """The dtype that numbers have in NumPy."""
    kinds = {bool if isinstance(v, bool) else type(v) for v in _flat(x)}
    if kinds == {bool}:
        return "bool"
    return "i64" if kinds and kinds <= {int, bool} else "f64"


def _by_values(what, x, dtype, ndim):
    shape = _shape_of(what, x)
    dtype = dtype or natural(x)
    if ndim is not None and len(shape) < ndim and 0 in shape:
        shape += (0,) * (ndim - len(shape))
    room = ctypes.create_string_buffer(pack(what, dtype, _flat(x)), None) if 0 not in shape else None
    return View(dtype, shape, None, ctypes.addressof(room) if room else 0, room, None)


# ---- any value -------------------------------------------------------------------------------------------------------

def view(what, x, dtype=None, ndim=None, writable=False):
    """x as a View; messages call it `what`. dtype and ndim: the expected ones, for numbers and lists, which have none
    of their own."""
    if isinstance(x, Borrowed):
        return x
    if isinstance(x, (bool, int, float, list, tuple)) and not writable:
        if not isinstance(x, (list, tuple)) or all(isinstance(v, (bool, int, float)) for v in _flat(x)):
            return _by_values(what, x, dtype, ndim)
        raise Error("%s: pass one tensor or a list of numbers; a list of tensors is not accepted" % what)
    _as_stored(what, x)
    if _numpy_bf16(x):
        v = _by_buffer(what, x.view("int16"), writable)
        v.tensor.dtype, v.dtype = DTYPES.index("bf16"), "bf16"
        return v
    if _has(x):
        if hasattr(x, "_ein_dtype"):
            v = _by_buffer(what, x, writable)
            v.tensor.dtype, v.dtype = DTYPES.index(x._ein_dtype), x._ein_dtype
            return v
        if not (hasattr(x, "__dlpack_device__") and library_of(type(x)) in ("jax", "torch")):
            return _by_buffer(what, x, writable)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _by_dlpack(what, x, writable)
    raise Error("%s: expected a tensor with the buffer protocol or DLPack, a number, or lists of numbers; found a %s"
                % (what, type(x).__qualname__))


def _as_stored(what, x):
    """Refuses tensors whose elements are not what lies in memory; neither protocol tells."""
    library = library_of(type(x))
    if library == "numpy.ma" and getattr(x, "mask", None) is not None and x.mask.any():
        raise Error("%s: some of its elements are masked, which Ein would not see; .filled(0) gives them a value"
                    % what)
    if library == "torch" and x.is_neg():
        raise Error("%s: its memory holds the negated elements (a view of PyTorch's); "
                    ".resolve_neg() makes a tensor that can be read" % what)


def _numpy_bf16(x):
    """ml_dtypes' bfloat16 in NumPy, which neither the buffer protocol nor NumPy's DLPack supports."""
    return type(x).__module__ == "numpy" and getattr(getattr(x, "dtype", None), "name", None) == "bfloat16"
