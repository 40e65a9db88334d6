"""ein.einsum: numpy.einsum, computed by Ein. The compiler reads the equations (`ein einsum`); dtypes follow NumPy's
rules."""
import functools
import operator
import os
import re

from . import again, arrays, library, views
from .functions import Function
from .library import Error

KINDS = {"bool": "b", "u8": "u", "i8": "i", "i16": "i", "i32": "i", "i64": "i",
         "f16": "f", "bf16": "f", "f32": "f", "f64": "f"}
BY_SIZE = {"i": {1: "i8", 2: "i16", 4: "i32", 8: "i64"}, "f": {2: "f16", 4: "f32", 8: "f64"}}
NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
         "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool", "bool_": "bool", "double": "f64", "single": "f32",
         "half": "f16", "float": "f64", "int": "i64", "d": "f64", "f": "f32", "e": "f16", "f8": "f64", "f4": "f32",
         "f2": "f16", "q": "i64", "i4": "i32", "i2": "i16", "i1": "i8", "u1": "u8", "?": "bool", "b1": "bool",
         "longlong": "i64", "long": "i64", "int_": "i64", "intp": "i64", "l": "i64", "p": "i64", "i": "i32",
         "intc": "i32", "h": "i16", "short": "i16", "b": "i8", "byte": "i8", "B": "u8", "ubyte": "u8"}
TWICE = {"i8": ("int8", "int64"), "u8": ("uint8", "uint64"), "f16": ("float16", "float128")}  # by Ein, by NumPy
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


# ---- dtypes ----------------------------------------------------------------------------------------------------------

def promoted(a, b):
    """The common dtype of two by NumPy's rules; with bf16, by PyTorch's."""
    if a == b or KINDS[b] == "b":
        return a
    if KINDS[a] == "b":
        return b
    if KINDS[a] == "f" and KINDS[b] == "f":
        return max(a, b, key=views.SIZES.get) if views.SIZES[a] != views.SIZES[b] else "f32"
    if KINDS[b] == "f":
        a, b = b, a
    if KINDS[a] == "f":  # a float that holds all integers of b, if there is one
        return a if a == "bf16" else promoted(a, BY_SIZE["f"][min(8, 2 * views.SIZES[b])])
    if "u8" in (a, b):
        return BY_SIZE["i"][max(2, views.SIZES[a], views.SIZES[b])]
    return max(a, b, key=views.SIZES.get)


def common(dtypes):
    """numpy.result_type. Pairwise promotion in the given order would differ: i8 and u8 give i16, and with f16 that
    gives f32, though f16 holds each."""
    return functools.reduce(promoted, sorted(dtypes, key=lambda d: KINDS[d] != "f"), "bool") if dtypes else "f64"


def may_cast(a, to, casting):
    """numpy.can_cast."""
    if a == to or casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return False
    rank = "buif".index
    if casting == "same_kind" and (rank(KINDS[a]) <= rank(KINDS[to]) or {KINDS[a], KINDS[to]} == {"f"}):
        return not (KINDS[a] == "i" and KINDS[to] == "u")
    return promoted(a, to) == to


def _dtype(said):
    """Ein's name of a dtype that NumPy, PyTorch or Ein names."""
    text = said if isinstance(said, str) else (
        getattr(said, "name", None) or getattr(said, "__name__", None) or str(said).rpartition(".")[2])
    if isinstance(said, str) and text in TWICE:
        raise Error("dtype=%r is %s in Ein and %s in NumPy; write one of these" % (said, *TWICE[text]))
    if not getattr(said, "isnative", True):
        raise Error("dtype=%r is big-endian, and Ein has only the byte order of this machine" % (said,))
    text = text.lstrip("=<|")
    found = text if text in views.SIZES else NAMES.get(text)
    if not found:
        raise Error("Ein has no dtype %s; it has %s" % (said, ", ".join(library.DTYPES)))
    return found


# ---- messages --------------------------------------------------------------------------------------------------------

LETTERS = "".join(map(chr, (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), *range(0x4e00, 0x9fa6))))
OF_NUMPY = 52


def _letters(numbers):
    """A letter for each label that is a number, in the same order: NumPy's letter if it has one, else the next free
    one."""
    beyond = sorted(n for n in numbers if n >= OF_NUMPY)
    if min(numbers, default=0) < 0:
        raise Error("the label %d of a list is negative" % min(numbers))
    most = len(LETTERS) - OF_NUMPY
    if len(beyond) > most:
        raise Error("the label %d is one too many: beyond %d there may be %d" % (beyond[most], OF_NUMPY - 1, most))
    return {n: LETTERS[n] for n in numbers if n < OF_NUMPY} | dict(zip(beyond, LETTERS[OF_NUMPY:]))


def _sublist(axes):
    try:
        return [a if a is Ellipsis else operator.index(a) for a in axes]
    except TypeError:
        raise Error("labels in a list are integers or Ellipsis, not %r" % (axes,)) from None


def _of_numbers(error, letters):
    """The same error, with the numbers that its letters stand for."""
    words = [w for w in re.findall(r"\w+", str(error)) if set(w) <= set(letters.values())]
    meant = ["%s is the label %d" % (c, n) for n, c in sorted(letters.items()) if any(c in w for w in words)]
    return Error("%s\nhere %s" % (error, ", ".join(meant)), error.complaints) if meant else error


def _equation(operands):
    """(equation, tensors, letters that stand for numbers), from `"ij,jk", a, b` or `a, [0, 1], b, [1, 2], [0, 2]`."""
    if not operands:
        raise Error("the equation is missing: ein.einsum(\"ij,jk->ik\", a, b)")
    if isinstance(operands[0], bytes):
        operands = (operands[0].decode("utf-8"), *operands[1:])
    if isinstance(operands[0], str):
        return operands[0], operands[1:], {}
    n = len(operands) // 2
    if not n:
        raise Error("a tensor without its labels: ein.einsum(a, [0, 1], b, [1, 2], [0, 2])")
    lists = [_sublist(axes) for axes in (*operands[1:2 * n:2], *operands[2 * n:])]
    letters = _letters({a for axes in lists for a in axes if a is not Ellipsis})
    terms = ["".join("..." if a is Ellipsis else letters[a] for a in axes) for axes in lists]
    return ",".join(terms[:n]) + "".join("->" + out for out in terms[n:]), operands[0:2 * n:2], letters


@functools.lru_cache(maxsize=256)
def _function(equation, shapes, dtypes, dtype, target, threads):
    described = [views.View(d, s, None, 0, None) for d, s in zip(dtypes, shapes)]
    text = library.einsum_program(equation, described, dtype)
    f = Function(text, "<einsum>.ein", dict(target=target, threads=threads), {})
    f.sized = True
    return f


_prepared = {}  # calls, whether their results are in Fortran order, and functions


def _key(operands, out, *how):
    if not operands or type(operands[0]) is not str:
        return None
    return again.key_of(operands[1:] if out is None else (*operands[1:], out), operands[0], out is None, *how)


def _forked():
    """Another thread may have been calling one."""
    _function.cache_clear()
    _prepared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


# ---- einsum ----------------------------------------------------------------------------------------------------------

def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe", target=None, threads=None):
    """numpy.einsum: "ij,jk->ik", a, b; or a, [0, 1], b, [1, 2], [0, 2]. Ein always searches for the best contraction
    order, so `optimize` is ignored. Each shape is compiled once. The result is always new memory, even where NumPy
    returns a view."""
    try:
        key = _key(operands, out, dtype, order, casting, target, threads)
        found = _prepared.get(key)
    except TypeError:  # an option that is none
        key = found = None
    if found:
        made = found[0].run(found[2], operands[1:] if out is None else (*operands[1:], out))
        if made is not None:
            return _as_numpy(made[0], found[1]) if made else out
    if casting not in CASTINGS:
        raise Error("casting is one of %s, not %r" % (", ".join(CASTINGS), casting))
    if order not in ("K", "C", "A", "F"):
        raise Error("order is one of K, C, A and F, not %r" % (order,))
    equation, tensors, letters = _equation(operands)
    lent, there = [], None
    try:
        for k, x in enumerate(tensors):
            lent.append(views.view("operand %d" % (k + 1), x))
        if out is not None:
            there = views.view("out", out, writable=True)
        wanted = _dtype(dtype) if dtype is not None else common([v.dtype for v in (*lent, *([there] if there else []))])
        f, result, straight = _computed(equation, lent, out, there, wanted, casting, target, threads)
        fortran = out is None and _fortran(order, lent)
        if straight and type(operands[0]) is str and again.may_prepare(f, f.seconds, operands[1:], [result]):
            call = again.Prepared(f, list(enumerate(lent)),
                                  [(0, there)] if there else [], [] if there else [(0, result)],
                                  apart=there is not None)
            again.keep(_prepared, _key(operands, out, dtype, order, casting, target, threads), (call, fortran, f))
        return result if out is not None or type(result).__module__ != "numpy" else _as_numpy(result, fortran)
    except Error as e:
        raise _of_numbers(e, letters) from None
    finally:
        for v in (*lent, *([there] if there else [])):
            v.release()


def _as_numpy(result, fortran):
    return arrays.numpy().asfortranarray(result) if fortran and result.ndim > 1 else result[()]


def _computed(equation, lent, out, there, wanted, casting, target, threads):
    """(the function, its result, whether the function itself wrote that)"""
    for k, v in enumerate(lent):
        if not may_cast(v.dtype, wanted, casting):
            raise Error("operand %d is %s, and cannot become %s by casting=%r" % (k + 1, v.dtype, wanted, casting))
    f = _function(equation, tuple(v.shape for v in lent), tuple(v.dtype for v in lent), wanted, target, threads)
    given = dict(zip(f.inputs, (v.borrowed() for v in lent)))
    name = next(iter(f.outputs))
    if there:
        return f, out, _into(f, given, lent, name, out, there, casting)
    return f, f(given)[name], True


def _fortran(order, lent):
    """Whether NumPy would return the result in Fortran order. Order K follows operands that are in one order only."""
    if order in "CF":
        return order == "F"
    return (bool(lent) and all(v.in_order(fortran=True) for v in lent)
            and (order == "A" or not all(v.in_order() for v in lent)))


def _into(f, given, lent, name, out, there, casting):
    """Computes directly into `out`; if that has another dtype or shares memory with an operand, NumPy copies a
    separate result there. Returns whether it was computed directly."""
    low, high = there.span()
    apart = all(b <= low or high <= a for a, b in (v.span() for v in lent))
    if there.dtype == f.outputs[name].dtype and apart:
        f(given, {name: there.borrowed()})
        return True
    if not may_cast(f.outputs[name].dtype, there.dtype, casting):
        raise Error("the result is %s and out is %s: casting=%r does not allow that"
                    % (f.outputs[name].dtype, there.dtype, casting))
    result = f(given)[name]
    np = arrays.numpy()
    if there.kind == "torch":
        out.copy_(result)
    elif np:
        target = np.asarray(out)
        if target.shape != result.shape:
            raise Error("out has the shape %s, but the result has %s" % (target.shape, result.shape))
        np.copyto(target, result, casting="unsafe")
    else:
        why = "is of another dtype than the result" if apart else "shares memory with an operand"
        raise Error("out %s: this requires NumPy, which is not installed" % why)
    return False
