
import ctypes
import os

STATUS = ["ok", "io", "format", "shape", "dtype", "memory", "argument", "range", "index", "assert", "plan", "cancel"]
DTYPES = ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"]
# For each type: the format letters of module struct, and the bytes of an element. Python has no bf16: its bits are an
# integer.
FORMATS = {"f64": ("d", 8), "f32": ("f", 4), "f16": ("e", 2), "bf16": ("H", 2), "i64": ("ilqn", 8), "i32": ("il", 4),
           "i16": ("h", 2), "i8": ("b", 1), "u8": ("B", 1), "bool": ("?", 1)}
AXES = 64


class Error(Exception):
    """A call has failed. `status` is a number; `text` gives the reason at the process that failed."""

    def __init__(self, status, text):
        super().__init__(text or (STATUS[status] if status < len(STATUS) else f"status {status}"))
        self.status, self.text = status, text


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Buffer(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


class _Views:
    """Tensors in the memory of Python objects, which are kept alive until end()."""

    def __init__(self, arguments, given, writable):
        self.tensors, self.held = (_Tensor * (len(arguments) + 1))(), []
        left = set(given) - {name for name, *_ in arguments}
        if left:
            names = ", ".join(name for name, *_ in arguments)
            raise TypeError(f"there is no argument {', '.join(sorted(left))}; the arguments are {names}")
        for k, (name, dtype, ndim, optional) in enumerate(arguments):
            if given.get(name) is not None:
                self.take(self.tensors[k], given[name], name, dtype, writable)
            elif not optional:
                self.end()
                raise TypeError(f"{name} is not given")
            else:
                tensor = self.tensors[k]
                tensor.device_type, tensor.dtype, tensor.ndim = 1, DTYPES.index(dtype), ndim

    def take(self, tensor, thing, name, dtype, writable):
        buffer = _Buffer()
        try:
            ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(thing), ctypes.byref(buffer), 0x1C | writable)
        except BaseException:
            self.end()
            raise
        self.held.append(buffer)
        letters, size = FORMATS[dtype]
        met = (buffer.format or b"B").decode().lstrip("@=<")
        if met not in tuple(letters) or buffer.itemsize != size:
            self.end()
            raise TypeError(f"{name}: expected elements of {dtype} (format {letters[0]} of struct), found {met}")
        shape = [buffer.shape[d] for d in range(buffer.ndim)]
        strides = [buffer.strides[d] for d in range(buffer.ndim)]
        if any(n % size for n in strides):
            self.end()
            raise ValueError(f"{name}: its strides are not multiples of the element size")
        tensor.data, tensor.device_type, tensor.ndim, tensor.dtype = buffer.buf, 1, buffer.ndim, DTYPES.index(dtype)
        tensor.shape = (ctypes.c_int64 * AXES)(*shape)
        tensor.strides = (ctypes.c_int64 * AXES)(*(n // size for n in strides))

    def end(self):
        for buffer in self.held:
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
        self.held = []


def _library():
    lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBRARY))
    p = ctypes.c_void_p
    takes = {"create_mpi_f": [ctypes.c_int, ctypes.c_int, ctypes.POINTER(p)], "plan": [p, p], "run": [p, p, p],
             "run_whole": [p, p, p], "again": [p], "local_extent": [p, ctypes.c_int, ctypes.c_int, ctypes.c_int, p, p],
             "last_error": [p], "workspace_bytes": [p], "destroy": [p]}
    for name, types in takes.items():
        function = getattr(lib, f"{PREFIX}_{name}")
        function.argtypes = types
        results = {"last_error": ctypes.c_char_p, "workspace_bytes": ctypes.c_size_t, "destroy": None}
        function.restype = results.get(name, ctypes.c_int)
    return {name: getattr(lib, f"{PREFIX}_{name}") for name in takes}


class Context:
    """The processes of a communicator, as the sites of a plan. All processes make the same calls in the same order;
    only extent and workspace_bytes may be called by one alone.

    comm: a communicator of mpi4py, or its Fortran number. It is duplicated once. threads: the most threads; 0: the
    default."""

    def __init__(self, comm, threads=0):
        self._c, self._at, self._views = _library(), ctypes.c_void_p(), ()
        number = comm.py2f() if hasattr(comm, "py2f") else int(comm)
        status = self._c["create_mpi_f"](number, threads, ctypes.byref(self._at))
        if status:
            raise Error(status, "")
        try:
            self._check(self._c["plan"](self._at, None))
        except Error:
            self.close()
            raise

    def _check(self, status):
        if status:
            raise Error(status, (self._c["last_error"](self._at) or b"").decode(errors="replace"))

    def _go(self, name, inputs, outputs):
        views = []
        try:
            views.append(_Views(INPUTS, inputs, False))
            views.append(_Views(OUTPUTS, outputs, True))
        except BaseException: # the call tells the other processes, which are in it already
            for view in views:
                view.end()
            self._c[name](self._at, (_Tensor * (len(INPUTS) + 1))(), (_Tensor * (len(OUTPUTS) + 1))())
            raise
        old, self._views = self._views, views
        for view in old:
            view.end()
        self._check(self._c[name](self._at, views[0].tensors, views[1].tensors))

    def run(self, inputs, outputs):
        """Runs. Each process passes its blocks, by name: objects that expose their memory (NumPy arrays, array.array,
        memoryviews), with any strides."""
        self._go("run", inputs, outputs)

    def run_whole(self, inputs=None, outputs=None):
        """Runs with whole tensors, which process 0 passes; the others pass nothing."""
        if inputs is None:
            self._check(self._c["run_whole"](self._at, None, None))
        else:
            self._go("run_whole", inputs, outputs)

    def again(self):
        """Runs again with the arguments of the last run, which are kept alive until the next one."""
        self._check(self._c["again"](self._at))

    def extent(self, name, rank):
        """Returns the block that process `rank` has of an argument: its first index and its length along each axis."""
        for output, side in enumerate((INPUTS, OUTPUTS)):
            for k, (of, _, ndim, _) in enumerate(side):
                if of == name:
                    low, length = (ctypes.c_int64 * AXES)(), (ctypes.c_int64 * AXES)()
                    self._check(self._c["local_extent"](self._at, output, k, rank, low, length))
                    return tuple(low[:ndim]), tuple(length[:ndim])
        raise KeyError(name)

    @property
    def workspace_bytes(self):
        return self._c["workspace_bytes"](self._at)

    def close(self):
        """Collective. Without it, the duplicated communicator exists until MPI ends."""
        self._c["destroy"](self._at)
        self._at = ctypes.c_void_p()
        for view in self._views:
            view.end()
        self._views = ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
