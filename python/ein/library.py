"""Finds and opens libein, and declares the structs and functions of compiler/face/libein.h for ctypes. A process has
one session."""
import collections
import ctypes
import ctypes.util
import glob
import os
import pathlib
import shutil
import sys
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

DTYPES = ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool")


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("dtype", c_int), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Place(Structure):
    _fields_ = [("file", c_char_p), ("line", c_uint32), ("column", c_uint32), ("first", c_uint32), ("end", c_uint32),
                ("note", c_char_p)]


class _Complaint(Structure):
    _fields_ = [("code", c_char_p), ("text", c_char_p), ("is_error", c_int), ("n_places", c_int),
                ("place", POINTER(_Place)),
                ("n_hints", c_int), ("hint", POINTER(c_char_p))]


class _Answer(Structure):
    _fields_ = [("outcome", c_int), ("text", c_void_p), ("length", c_size_t), ("n_complaints", c_int),
                ("complaint", POINTER(_Complaint)), ("message", c_char_p)]


class _File(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("length", c_size_t)]


class _Argument(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("ndim", c_int), ("optional", c_int), ("param", c_int)]


class _Settings(Structure):
    _fields_ = [("size", c_size_t), ("home", c_char_p)]


Argument = collections.namedtuple("Argument", "name dtype ndim optional param")
Place = collections.namedtuple("Place", "file line column first end note")
Complaint = collections.namedtuple("Complaint", "code text is_error places hints")


class Error(Exception):
    """An error in a program or in its arguments. str() is the whole message, with the lines that it refers to;
    `complaints` has the same as data: code, text, places, hints. `code` is the code of the first error, such as E060,
    or empty."""

    def __init__(self, message, complaints=()):
        super().__init__(message)
        self.complaints = tuple(complaints)
        self.code = next((c.code for c in self.complaints if c.is_error), "")

    def _render_traceback_(self):
        """For notebooks: the error is in the program, so the Python traceback is left out."""
        return ["ein.Error: " + line if not k else line for k, line in enumerate(str(self).splitlines())]


class ProgramWarning(UserWarning):
    """A warning about a program that compiles."""


# ---- finding it ------------------------------------------------------------------------------------------------------

def _in_folder(root):
    """Libraries in a build folder or a prefix, each with the folder that has the program ein."""
    root = pathlib.Path(root)
    built = root / "compiler" / "face" / "libein.so"
    if built.exists():
        yield built, root
    for path in sorted(glob.glob(str(root / "lib*" / "libein.so*"))
                       + glob.glob(str(root / "lib*" / "*" / "libein.so*"))):
        yield pathlib.Path(path), root / "bin"


def _places():
    """The places to search, in order: (description, libraries)."""
    said = os.environ.get("EIN_LIBEIN")
    if said and not os.path.isdir(said):
        yield "EIN_LIBEIN", [(pathlib.Path(said), next((home for lib, home in _around(said)), None))]
        return
    if said:
        yield "EIN_LIBEIN", _in_folder(said)
        return
    package = pathlib.Path(__file__).resolve().parent
    origin = package / "origin.txt"  # written by backend.py: the folder that pip installed from
    above = pathlib.Path(origin.read_text(encoding="utf-8").strip()) if origin.exists() else package.parent
    yield "the checkout of this package", _in_folder(above.parent / "build")
    if above.parent.name == "ein":  # PREFIX/share/ein/python
        yield "the prefix of this package", _in_folder(above.parents[2])
    program = shutil.which("ein")
    if program:
        folder = pathlib.Path(program).resolve().parent
        yield "the folder of the program ein", [*_in_folder(folder), *_in_folder(folder.parent)]
    for prefix in dict.fromkeys([sys.prefix, "/usr/local", "/usr"]):
        yield prefix, _in_folder(prefix)
    known = ctypes.util.find_library("ein")
    yield "the system's libraries", [(pathlib.Path(known), None)] if known else []


def _around(path):
    """The same library, found from the folders above it, which also gives the folder of the program."""
    path = pathlib.Path(path).resolve()
    for root in path.parents[1:4]:
        yield from ((lib, home) for lib, home in _in_folder(root) if lib.resolve() == path)


def _open():
    looked = []
    for what, libraries in _places():
        looked.append(what)
        for path, home in libraries:
            try:
                return ctypes.CDLL(str(path)), home, str(path)
            except OSError as e:
                looked[-1] += " (%s: %s)" % (path, e)
    raise ImportError("cannot find the library libein. Build Ein (./bootstrap build) or install it (meson install), or "
                      "set EIN_LIBEIN to the build folder, the prefix or the file libein.so.\nSearched: "
                      + "; ".join(looked))


def _declare(lib):
    words = [POINTER(_File), c_size_t, POINTER(c_char_p), c_size_t]
    for name, result, arguments in [
            ("ein_open", c_void_p, [POINTER(_Settings)]),
            ("ein_version", c_char_p, []),
            ("ein_answer_free", None, [POINTER(_Answer)]),
            ("ein_ask", POINTER(_Answer), [c_void_p, *words]),
            ("ein_einsum", POINTER(_Answer), [c_void_p, c_char_p, POINTER(Tensor), c_size_t, c_int]),
            ("ein_function_open", POINTER(_Answer), [c_void_p, *words, POINTER(c_void_p)]),
            ("ein_function_close", None, [c_void_p]),
            ("ein_function_inputs", POINTER(_Argument), [c_void_p, POINTER(c_int)]),
            ("ein_function_outputs", POINTER(_Argument), [c_void_p, POINTER(c_int)]),
            ("ein_function_steady", c_int, [c_void_p]),
            ("ein_function_call", c_int, [c_void_p, POINTER(Tensor), POINTER(Tensor)]),
            ("ein_function_answer", POINTER(_Answer), [c_void_p]),
            ("ein_function_cancel", None, [c_void_p]),
            ("ein_function_keep", c_void_p, [c_void_p]),
            ("ein_kept_free", None, [c_void_p])]:
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise ImportError("%s belongs to another version of Ein than this package: it has no %s"
                              % (path, name)) from None
        function.restype, function.argtypes = result, arguments


lib, _home, path = _open()
_declare(lib)
version = lib.ein_version().decode()
_session = lib.ein_open(_Settings(ctypes.sizeof(_Settings), os.fsencode(_home)) if _home else None)
if not _session:
    raise ImportError("%s: cannot open a session" % path)


# ---- requests and answers --------------------------------------------------------------------------------------------

def _words(words):
    words = [os.fsencode(w) for w in words]
    return (c_char_p * (len(words) + 1))(*words), len(words)


def _files(files):
    texts = [(os.fsencode(name), text.encode("utf-8")) for name, text in files]
    return (_File * (len(texts) + 1))(*(_File(name, text, len(text)) for name, text in texts)), len(texts)


def _text(b):
    return b.decode("utf-8", "replace") if b else ""


def _complaints(a):
    for c in a.complaint[:a.n_complaints]:
        places = tuple(Place(_text(p.file), p.line, p.column, p.first, p.end, _text(p.note))
                       for p in c.place[:c.n_places])
        yield Complaint(_text(c.code), _text(c.text), bool(c.is_error), places,
                        tuple(_text(h) for h in c.hint[:c.n_hints]))


def message_of(a):
    """What the command would write to standard error, without the prefix `ein: `."""
    lines = (line[5:] if line.startswith("ein: ") else line for line in _text(a.message).splitlines())
    text = "\n".join(lines)
    return text[7:] if text.startswith("error: ") else text


def error_of(a):
    return Error(message_of(a) or "Ein gave no reason", _complaints(a))


def _answered(answer):
    """Returns the text of an answer, or raises its error."""
    try:
        a = answer.contents
        if a.outcome:
            raise error_of(a)
        return ctypes.string_at(a.text, a.length).decode("utf-8", "replace")
    finally:
        lib.ein_answer_free(answer)


def ask(words, files=()):
    """What `ein WORDS...` prints. files: (name, text) pairs that replace files."""
    return _answered(lib.ein_ask(_session, *_files(files), *_words(words)))


def einsum_program(equation, views, dtype):
    """The program for an einsum equation in NumPy's notation over these operands, computed in dtype."""
    tensors = (Tensor * (len(views) + 1))(*(v.tensor for v in views))
    return _answered(lib.ein_einsum(_session, equation.encode("utf-8", "replace"), tensors, len(views),
                                    DTYPES.index(dtype)))


def function_open(words, files):
    """(handle, warnings)"""
    handle = c_void_p()
    answer = lib.ein_function_open(_session, *_files(files), *_words(words), ctypes.byref(handle))
    try:
        if not handle.value:
            raise error_of(answer.contents)
        return handle.value, message_of(answer.contents)
    finally:
        lib.ein_answer_free(answer)


def arguments(handle, which):
    n = c_int()
    a = (lib.ein_function_inputs if which == "inputs" else lib.ein_function_outputs)(handle, ctypes.byref(n))
    return [Argument(_text(x.name), DTYPES[x.dtype], x.ndim, bool(x.optional), bool(x.param)) for x in a[:n.value]]
