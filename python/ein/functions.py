"""A program as a function of tensors: compiled once, called with arrays of NumPy, PyTorch, JAX, or other objects that
expose their memory."""
import collections.abc
import difflib
import math
import os
import threading
import time
import warnings
import weakref


from . import again, arrays, library, views
from .calls import interruptible
from .library import DTYPES, Error, Tensor, lib

LANGUAGES = (".ein", ".graph", ".tra", ".ia", ".task", ".loop")


class Text(str):
    """A text that Ein writes about a program. A notebook displays SVG and HTML as such."""

    def _repr_svg_(self):
        return str(self) if self.startswith("<svg") else None

    def _repr_html_(self):
        return str(self) if self.startswith("<!DOCTYPE html") else None

    def _repr_pretty_(self, p, cycle):
        p.text(str(self))


class Results(collections.abc.Mapping):
    """Outputs by name, in the order of the program: r["Y"], r.Y, and, in order, `Y, Z = r.values()`."""

    def __init__(self, outputs):
        self._outputs = outputs

    def __getitem__(self, name):
        try:
            return self._outputs[name]
        except KeyError:
            raise KeyError("%s; there are %s" % (name, ", ".join(self._outputs))) from None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._outputs[name]
        except KeyError:
            raise AttributeError("there is no output %s; there are %s" % (name, ", ".join(self._outputs))) from None

    def __iter__(self):
        return iter(self._outputs)

    def __len__(self):
        return len(self._outputs)

    def __dir__(self):
        return [*super().__dir__(), *self._outputs]

    def __repr__(self):
        return "\n".join("%s = %r" % item for item in self._outputs.items())


def _source(program, name):
    """(its name, texts that replace files)"""
    if isinstance(program, os.PathLike):
        return os.fspath(program), ()
    if not isinstance(program, str):
        raise TypeError("a program is a text or a path, not a %s" % type(program).__qualname__)
    if "\n" not in program and program.endswith(LANGUAGES):
        return program, ()
    return name, ((name, program),)


def _sizes(dims):
    for name, n in dims.items():
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError("the size %s must be an integer, not %r" % (name, n))
        yield from ("-D", "%s=%d" % (name, n))


def _options(**said):
    for name, value in said.items():
        if isinstance(value, bool):
            if value:
                yield "--%s" % name
        elif value is not None:
            yield "--%s=%s" % (name, os.fspath(value) if isinstance(value, os.PathLike) else value)


SHORT = 0.001  # seconds in which nobody waits for Ctrl-C


class Function:
    """A compiled program, from ein.compile. `inputs` and `outputs` map names to dtype, ndim, optional (it has a
    default) and param."""

    def __init__(self, program, name, options, dims):
        self._made = program, name, options, dims
        self._name, self._files = _source(program, name)
        self._dims = dict(dims)
        words = [self._name, *_sizes(self._dims), *_options(**options)]
        self._handle, said = library.function_open(words, self._files)
        self._lock, self._forked = threading.Lock(), False
        self.steady = bool(lib.ein_function_steady(self._handle))  # calls with the same shapes take about as long
        # whether all calls have the same shapes; and how long one takes, if they have
        self.sized, self.seconds = False, math.inf
        self._prepared = {}
        self._closer = weakref.finalize(self, lib.ein_function_close, self._handle)
        self._closer.atexit = False
        self.inputs = {a.name: a for a in library.arguments(self._handle, "inputs")}
        self.outputs = {a.name: a for a in library.arguments(self._handle, "outputs")}
        _functions.add(self)
        if said:
            warnings.warn(said, library.ProgramWarning, stacklevel=3)

    def __reduce__(self):
        """A copy, or one in another process, is compiled there."""
        return Function, self._made

    def __repr__(self):
        def side(arguments):
            return ", ".join("%s: %s%s" % (a.name, a.dtype, "[%s]" % ", ".join("_" * a.ndim) if a.ndim else "")
                             for a in arguments.values())
        return "<ein function %s (%s) -> (%s)>" % (self._name, side(self.inputs), side(self.outputs))

    def close(self):
        """Releases its resources, once no call is running; results stay valid. An unused function closes itself."""
        with self._lock:
            self._closer()

    # ---- calling ----

    def __call__(self, inputs=None, out=None, /, **named):
        """f(X=x), or f({"x'": x}) for names that are not Python identifiers; f(..., {"Y": y}) writes output Y to y.
        Returns Results."""
        key = self._key(inputs, named, out)
        call = key and self._prepared.get(key)
        if call:
            made = call.run(self, (*(inputs or {}).values(), *named.values(), *(out or {}).values()))
            if made is not None:
                made = iter(made)
                return Results({name: out[name] if out and name in out else next(made) for name in self.outputs})
        self._by_name(inputs, "pass inputs by name, as in f(%s=x)" % next(iter(self.inputs), "x"))
        self._by_name(out, "pass arrays for outputs by name, as in f(..., {%r: y})" % next(iter(self.outputs), "Y"))
        given = {**(inputs or {}), **named}
        self._known(given, self.inputs, "input")
        self._known(out or {}, self.outputs, "output")
        lent = []
        try:
            results, seconds = self._called(given, out or {}, lent)
            if key and len(given) == len(inputs or {}) + len(named):
                self._prepare(key, seconds, given, out or {}, lent, results)
            return results
        finally:
            for v in lent:
                v.release()

    @staticmethod
    def _key(inputs, named, out):
        """What a prepared call must have in common with this one."""
        if not (inputs is None or type(inputs) is dict) or not (out is None or type(out) is dict):
            return None
        try:
            if inputs is None and out is None:
                return again.key_of(named.values(), None, *named)
            return again.key_of((*(inputs or {}).values(), *named.values(), *(out or {}).values()),
                                None, *(inputs or {}), *named, None, *(out or {}))
        except TypeError:  # a name that is none
            return None

    def _prepare(self, key, seconds, given, out, lent, results):
        xs = [x for x in given.values() if type(x) not in (float, int)]
        numbers = all(v.kind is not None or v.dtype in again.NUMBERS for v in lent)
        if not numbers or not again.may_prepare(self, seconds, [*xs, *out.values()], results.values()):
            return
        numbers = {name: k for k, name in enumerate(self.inputs)}, {name: k for k, name in enumerate(self.outputs)}
        by_number = dict(zip(sorted(numbers[0][name] for name in given), lent))
        written = dict(zip(sorted(numbers[1][name] for name in out), lent[len(given):]))
        again.keep(self._prepared, key, again.Prepared(
            self, [(numbers[0][name], by_number[numbers[0][name]]) for name in given],
            [(numbers[1][name], written[numbers[1][name]]) for name in out],
            [(k, results[name]) for name, k in numbers[1].items() if name not in out]))

    def _by_name(self, x, how):
        if not (x is None or isinstance(x, collections.abc.Mapping)):
            raise TypeError("%s; this is %s %s"
                            % (how, "an" if type(x).__name__[0] in "aeiou" else "a", type(x).__name__))

    def _known(self, given, there, what):
        for name in given:
            if name not in there:
                near = difflib.get_close_matches(name, there, 1)
                raise Error("there is no %s %s%s; there %s"
                            % (what, name, "; did you mean %s?" % near[0] if near else "",
                               "are " + ", ".join(there) if there else "is none"))

    def _called(self, given, out, lent):
        tensors = (Tensor * (len(self.inputs) + 1))()
        for k, (name, a) in enumerate(self.inputs.items()):
            if given.get(name) is None:
                if not a.optional:
                    raise Error("input %s is not given, and has no default" % name)
                continue
            lent.append(views.view("input " + name, given[name], a.dtype, a.ndim))
            tensors[k] = lent[-1].tensor
        kinds = {v.kind for v in lent} - {None}
        kind = kinds.pop() if len(kinds) == 1 else ""
        results = (Tensor * (len(self.outputs) + 1))()
        for k, name in enumerate(self.outputs):
            if name in out:
                lent.append(views.view("output " + name, out[name], writable=True))
                results[k] = lent[-1].tensor
        kept, seconds = self._run(tensors, results, all(name in out for name in self.outputs))
        return Results({name: out[name] if name in out else self._given(results[k], kept, kind)
                        for k, name in enumerate(self.outputs)}), seconds

    def _run(self, tensors, results, nothing_new):
        with self._lock:
            if self._forked:
                raise Error("another thread was calling this function when this process was forked; compile it again")
            if not self._closer.alive:
                raise Error("this function is closed")
            outcome, seconds = self._timed(tensors, results)
            if outcome:
                raise library.error_of(lib.ein_function_answer(self._handle).contents)
            return None if nothing_new else arrays.Owner(lib.ein_function_keep(self._handle)), seconds

    def _timed(self, tensors, results):
        """(the outcome, how long the call itself took). Short calls are made directly: another thread would take many
        times as long to begin."""
        def work():
            begun = time.perf_counter()
            outcome = lib.ein_function_call(self._handle, tensors, results)
            return outcome, time.perf_counter() - begun
        if self.seconds < SHORT:
            outcome, seconds = work()
        else:
            outcome, seconds = interruptible(work, lambda: lib.ein_function_cancel(self._handle))
        if self.steady and self.sized and not outcome:
            self.seconds = min(self.seconds, seconds)
        return outcome, seconds

    @staticmethod
    def _given(t, kept, kind):
        address = (t.data or 0) + t.byte_offset
        return arrays.give(arrays.array_at(address, DTYPES[t.dtype], t.shape[:t.ndim], kept), kind)

    # ---- queries ----

    def _ask(self, command, words, dims):
        return Text(library.ask([command, self._name, *_sizes({**self._dims, **dims}), *words], self._files))

    def plan(self, sites=None, format="text", *, machine=None, memory=None, planner=None, deterministic=False, **dims):
        """What a run does or, for many sites, how the program is split over them, as `ein plan` prints it. format:
        text, json, html, svg, dot, tra, ia, task."""
        return self._ask("plan", _options(sites=sites, format=format, machine=machine, memory=memory, planner=planner,
                                          deterministic=deterministic), dims)

    def graph(self, format="text", **dims):
        """The EinGraph, as text, svg, dot or json."""
        return self._ask("graph", ["--" + format], dims)

    def source(self, kind="c", **dims):
        """The emitted c, header, manifest or cuda; or an intermediate language: graph, optimised, task, loop."""
        inside = kind in ("graph", "optimised", "task", "loop")
        return self._ask("build", ["--%s=%s" % ("stop" if inside else "emit", kind),
                                   *([] if inside else ["--output=-"])], dims)


_functions = weakref.WeakSet()


def _forked():
    """A child process has only the thread that forked: no call of another thread will end, so what it holds is lost."""
    for f in list(_functions):
        if f._lock.locked():
            f._forked, f._lock = True, threading.Lock()
            f._closer.detach()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def compile(program, /, *, name="program.ein", target=None, threads=None, sites=None, machine=None, memory=None,
            plan=None, planner=None, costs=None, flags=None, deterministic=False, sizes=None, **dims):
    """Compiles a program, given as its text or as the path of a file, and returns a Function. Pass sizes that the
    program leaves open as N=4096 or, if an option has the same name, as sizes={"name": 8}; sizes that are axes of
    inputs may be left out. Options are those of `ein run`: target (auto, jit, c, eval), threads, sites (runs a plan
    for that many sites in this process), deterministic (the same bits for any number of sites)."""
    options = dict(target=target, threads=threads, sites=sites, machine=machine, memory=memory, plan=plan,
                   planner=planner, costs=costs, flags=flags, deterministic=deterministic)
    return Function(program, name, options, {**(sizes or {}), **dims})


def run(program, inputs=None, /, *, sizes=None, name="program.ein", target=None, threads=None, sites=None,
        deterministic=False, **named):
    """Compiles and calls in one step: run(text, X=x, sizes={"N": 4}). Returns Results."""
    f = Function(program, name, dict(target=target, threads=threads, sites=sites, deterministic=deterministic),
                 sizes or {})
    return f(inputs, **named)
