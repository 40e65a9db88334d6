"""Whether the processors are as fast as they were at best in this run. Those of a virtual machine may share a core for a while, with
each other or with strangers; who is timed then is not to be compared with who was not."""
import ctypes
import os
import time

from einlib import shared_make

HERE = os.path.dirname(os.path.abspath(__file__))
CALM = 0.9  # of the best rate so far
LOOKS = 3  # of which the best counts
PAUSE, PATIENCE = 0.02, 1.0  # seconds: between looks, and for all of them at most
TRIES = 4  # samples that are taken for one, at most


class Steady:
    def __init__(self, cc, folder, threads):
        library = shared_make(cc, os.path.join(HERE, "steady.c"), ["-O2", "-march=native", "-pthread"], folder)
        library.steady_seconds.argtypes, library.steady_seconds.restype = [ctypes.c_int], ctypes.c_double
        self.seconds = lambda: min(library.steady_seconds(threads) for _ in range(LOOKS))
        self.best = min(self.seconds() for _ in range(10))
        self.again = 0  # samples that were not counted

    def calm(self):
        now = self.seconds()
        self.best = min(self.best, now)
        return self.best >= CALM * now

    def wait(self):
        until = time.monotonic() + PATIENCE
        while not self.calm() and time.monotonic() < until:
            time.sleep(PAUSE)

    def sample(self, take):
        """What take() gives, while all was calm before and after, or the last of so many that it gave."""
        for left in reversed(range(TRIES)):
            self.wait()
            took = take()
            if not took or self.calm() or not left:
                return took
            self.again += 1
