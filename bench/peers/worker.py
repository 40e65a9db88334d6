"""A worker runs a peer, or ours, in a separate process (apart.py). It loads the library, makes the arguments of a row,
runs it for the first time, compares the result with ours, and then takes samples. The parent asks one worker at a
time. They exchange names, shapes and times; our results are passed in files."""
import ctypes
import gc
import math
import mmap
import os

from einlib import CLOSE, DTYPES, Data, ours_make, seconds
from peers.groups import GROUPS
from peers.libraries import Repeating

ROWS = {row.name: row for group in GROUPS for part in group.parts for row in part.rows}
SMALL = ["--flags=-O1 -march=native -DEIN_ONE_VERSION"]  # where only answers count: every kernel once
LONG = 3.0  # seconds: so much, about, is spent on the samples of one program or peer in one row
WARM = 4  # a sample begins with a quarter of its runs, and one at least, which do not count


class Case:
    """A row with its data: the inputs, and the outputs of one peer or ours."""

    def __init__(self, work, row, inputs, outputs):
        self.row, self.inputs, self.outputs = row, inputs, outputs
        for k, d in enumerate(inputs):
            work.support.fill(d.at, d.dtype, d.elements, row.below.get(d.name, 16), k + 1)
            if d.name in row.scale:
                by, plus = row.scale[d.name]
                getattr(work.calls, "scale_" + DTYPES[d.dtype])(
                    ctypes.c_void_p(d.at), ctypes.c_int64(d.elements), ctypes.c_double(by), ctypes.c_double(plus))

    def shapes(self):
        """The shapes, from which other workers make the same arguments."""
        return [[(d.name, d.dtype, d.shape, d.strides) for d in side] for side in (self.inputs, self.outputs)]


def result_paths(work, row, outputs):
    """The files of our results."""
    return [os.path.join(work.folder, f"{row.name}.{k}.result") for k in range(len(outputs))]


def difference(work, path, d):
    """Returns the largest difference between a file and an output, as a multiple of the tolerance."""
    with open(path, "rb") as f:
        ours = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
    at = ctypes.addressof(ctypes.c_char.from_buffer(ours))
    return work.support.differ(at, d.at, d.dtype, d.count) / max(CLOSE[d.dtype], 1e-300)


class Worker:
    """`run` is the timed function, `case` its data, which must stay alive."""

    def __init__(self, work):
        self.work, self.run, self.case = work, None, None
        gc.disable()

    def seconds(self, times):
        return max(seconds(self.run, times, self.work.clock), 1e-9)  # the processor's clock may stand still

    def pace(self, sample):
        """Returns the approximate seconds of a run, and the number of runs in a sample."""
        one = self.seconds(1)
        if one <= LONG:
            one = min(one, self.seconds(1))
        times = math.ceil(sample / one)
        if times > 1:
            one = self.seconds(times)
        return one, max(1, math.ceil(sample / one))

    def sample(self, times):
        """The first runs after a pause are a warm-up: caches are cold, and threads must wake up."""
        self.seconds(math.ceil(times / WARM))
        return self.seconds(times)

    def free(self):
        self.run = self.case = None
        gc.collect()


class PeerWorker(Worker):
    def __init__(self, work, kind):
        super().__init__(work)
        self.peer = kind(work)

    def load(self):
        version = self.peer.load()
        gc.freeze()  # a library has many objects, which stay: `free` need not look at them
        return version

    def bind(self, name, shapes):
        """Returns the difference of the first result from ours, as a multiple of the tolerance."""
        row = ROWS[name].at(self.work.small)
        self.case = Case(self.work, row, *[[Data(*words) for words in side] for side in shapes])
        self.run, first = self.peer.bind(row.peers[self.peer.name], self.case)
        self.peer.give(first, self.case)
        paths = result_paths(self.work, row, self.case.outputs)
        return max(difference(self.work, path, d) for path, d in zip(paths, self.case.outputs))


class OursWorker(Worker):
    def bind(self, name):
        """Returns the shapes of its arguments."""
        row = ROWS[name].at(self.work.small)
        source = os.path.join(self.work.folder, row.name + ".ein")
        with open(source, "w") as f:
            f.write(row.program())
        self.ours = ours_make(self.work.ein, self.work.cc, source, self.work.folder, self.work.threads,
                              SMALL if self.work.small else [])
        self.case = Case(self.work, row, list(self.ours.arguments(0, row.strides)), list(self.ours.arguments(1)))
        self.run = self.first_run()
        for path, d in zip(result_paths(self.work, row, self.case.outputs), self.case.outputs):
            with open(path, "wb") as f:
                f.write(d.memory)
        return self.case.shapes()

    def first_run(self):
        """Returns the timed function, which has run once."""
        row, ours = self.case.row, self.ours
        run, views = ours.bind(self.case.inputs, self.case.outputs)
        ours.check(run())
        if not row.from_c:
            return run
        function = ctypes.cast(getattr(ours.library, row.name + ("_again" if row.again else "_run")), ctypes.c_void_p)
        loop = self.work.calls.calls_again if row.again else self.work.calls.calls_ours
        loop.restype = None
        views = () if row.again else views
        return Repeating(lambda times: loop(ctypes.c_int64(times), function, ours.context, *views))

    def free(self):
        for path in result_paths(self.work, self.case.row, self.case.outputs):
            os.remove(path)
        self.ours.close()
        super().free()
