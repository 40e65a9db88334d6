"""Repeated calls of ein.einsum on NumPy arrays. A call that took less than a tenth of a millisecond is prepared: the
next one with the same equation, options, dtypes, shapes and strides only looks up the arrays' addresses and runs. For
arrays of a few elements, all else that a call does takes far longer than the sums."""
import ctypes

from . import arrays, views
from .library import Tensor, lib

# Python's other threads wait meanwhile: to let them run would take longer than the call.
_call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(("ein_function_call", lib))
_get, _put, STRIDED = views._get, views._put, views.STRIDED
_prepared = {}
MOST = 256
TINY = 0.0001  # seconds
_ndarray = None  # NumPy's; None until a call is prepared


class _Prepared:
    """A call whose operands and result differ from the last one's in their addresses only."""

    def __init__(self, f, lent, result):
        np = arrays.numpy()
        self.f, self.views = f, [*lent, views.view("the result", result, writable=True)]
        self.views[-1].release()
        self.empty, self.shape, self.dtype = np.empty, result.shape, result.dtype
        self.tensors = (Tensor * len(self.views))(*(v.tensor for v in self.views))
        self.inputs = ctypes.addressof(self.tensors)
        self.outputs = self.inputs + (len(self.views) - 1) * ctypes.sizeof(Tensor)
        self.places = [(t, views.SIZES[v.dtype] - 1) for t, v in zip(self.tensors, self.views)]
        self.buffer = views._Buffer()
        self.at = ctypes.byref(self.buffer)

    def run(self, operands):
        """The result, in C order; None if it needs the long way."""
        result, f, buffer, at = self.empty(self.shape, self.dtype), self.f, self.buffer, self.at
        with f._lock:
            for x, (tensor, odd) in zip((*operands, result), self.places):
                try:
                    _get(x, at, STRIDED)
                    first = tensor.data = buffer.buf
                finally:  # also after Ctrl-C; without a buffer it does nothing
                    _put(at)
                if first & odd:
                    return None
            return None if _call(f._handle, self.inputs, self.outputs) else result


def key_of(operands, *how):
    """What calls that are prepared together have in common; None where none can be."""
    if type(operands[0]) is not str:
        return None
    key = [operands[0], *how]
    for x in operands[1:]:
        if type(x) is not _ndarray:
            return None
        key += x.dtype, x.shape, x.strides
    return tuple(key)


prepared = _prepared.get


def prepare(f, lent, operands, result, fortran, *how):
    """Called after such a call has given this result, an array of NumPy."""
    global _ndarray
    _ndarray = arrays.numpy().ndarray
    key = key_of(operands, *how)
    if key and f.seconds < TINY and result.size and all(x.size for x in operands[1:]):
        if len(_prepared) >= MOST:
            _prepared.pop(next(iter(_prepared)), None)
        _prepared[key] = _Prepared(f, lent, result), fortran
