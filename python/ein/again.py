"""Repeated calls on NumPy arrays, of functions and of ein.einsum. A call that took less than a tenth of a millisecond
is prepared: the next one with the same options, dtypes, shapes and strides only looks up the arrays' addresses and runs.
For arrays of a few elements, all else that a call does takes far longer than the computation."""
import ctypes
import sys

from . import arrays, views
from .library import Tensor, lib

# Python's other threads wait meanwhile: to let them run would take longer than the call.
_call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(("ein_function_call", lib))
_get, _put, STRIDED, WRITABLE = views._get, views._put, views.STRIDED, views.WRITABLE
# dtypes that Python's numbers may be passed as
NUMBERS = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64}
MOST = 256
TINY = 0.0001  # seconds
_ndarray = None  # NumPy's; None until somebody has imported NumPy


class Prepared:
    """A call whose arrays differ from the last one's in their addresses only. inputs, outputs: (number of the argument,
    view) of each array that is passed, in the order in which they are; made: (number, result) of each other output.
    apart: a call where an output shares memory with an input goes the long way."""

    def __init__(self, f, inputs, outputs, made, apart=False):
        fresh = [(k, views.view("a result", y, writable=True)) for k, y in made]
        for _, v in fresh:
            v.release()
        n = len(f.inputs)
        passed = [(k, v, STRIDED) for k, v in inputs] + [(n + k, v, STRIDED | WRITABLE) for k, v in (*outputs, *fresh)]
        self.kept = [v for _, v, _ in passed]  # they hold the shapes and strides
        self.tensors = (Tensor * (n + len(f.outputs) + 1))()
        for k, v, _ in passed:
            self.tensors[k] = v.tensor
        self.places = [self._place(self.tensors[k], v, how) for k, v, how in passed]
        self.made, self.empty = [(y.shape, y.dtype) for _, y in made], arrays.numpy().empty
        self.inputs = ctypes.addressof(self.tensors)
        self.outputs = self.inputs + n * ctypes.sizeof(Tensor)
        self.buffer = views._Buffer()
        self.at = ctypes.byref(self.buffer)
        self.reaches = [_reach(v) for _, v in (*inputs, *outputs)] if apart else []

    def _place(self, tensor, v, how):
        """Of an array: where its address goes, the bits that this must not have, how it is accessed. Of a number: its
        memory, whether it must be exact, None."""
        if v.kind is not None:
            return tensor, views.SIZES[v.dtype] - 1, how
        cell = NUMBERS[v.dtype]()
        tensor.data = ctypes.addressof(cell)
        self.kept.append(cell)
        return cell, v.dtype == "i64", None

    def run(self, f, passed):
        """The outputs that were not passed, in C order; None if the call needs the long way."""
        made, buffer, at = [self.empty(*m) for m in self.made], self.buffer, self.at
        with f._lock:
            if f._forked or not f._closer.alive:
                return None
            for x, (tensor, odd, how) in zip((*passed, *made), self.places):
                if how is None:
                    if not _holds(tensor, x, odd):
                        return None
                    continue
                try:
                    _get(x, at, how)
                    first = tensor.data = buffer.buf
                except (BufferError, ValueError):  # it is read-only
                    return None
                finally:  # also after Ctrl-C; without a buffer it does nothing
                    _put(at)
                if first & odd:
                    return None
            if self.reaches and self.meet():
                return None
            return None if _call(f._handle, self.inputs, self.outputs) else made

    def meet(self):
        """Whether the output shares memory with an input."""
        *spans, (low, high) = ((p[0].data + a, p[0].data + b) for p, (a, b) in zip(self.places, self.reaches))
        return any(low < b and a < high for a, b in spans)


def _holds(cell, x, exact):
    """Sets it; false if a finite number becomes infinite there, or an integer another one."""
    try:
        cell.value = x
    except OverflowError:
        return False
    y = cell.value
    return y == x or x != x or not (exact or y - y != 0)


def _reach(v):
    """From its first element to its lowest byte, and to the end of its highest one."""
    low, high = v.span()
    return low - v.tensor.data, high - v.tensor.data


def key_of(xs, *how):
    """What calls on such arrays have in common; None where they cannot be prepared."""
    global _ndarray
    if _ndarray is None and "numpy" in sys.modules:
        _ndarray = getattr(sys.modules["numpy"], "ndarray", None)  # none while it is being imported
    key = [*how]
    for x in xs:
        if type(x) is _ndarray:
            key += x.dtype, x.shape, x.strides
        elif type(x) is float or type(x) is int:
            key.append(type(x))
        else:
            return None
    return tuple(key)


def may_prepare(f, seconds, xs, results):
    """Whether a call that has just been made with these arrays, in that time, may be prepared."""
    if not (f.steady and seconds < TINY and arrays.numpy()):
        return False
    return all(type(x) is _ndarray and x.size and x.dtype.kind in "biuf" for x in (*xs, *results))


def keep(there, key, call):
    if len(there) >= MOST:
        there.pop(next(iter(there)), None)
    there[key] = call
