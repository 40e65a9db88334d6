"""Checks that the processors are as fast as at their best in this run. Virtual processors may temporarily share a
core, with each other or with other machines; times taken then are not comparable with others."""
import ctypes
import os
import time

from einlib import shared_make

HERE = os.path.dirname(os.path.abspath(__file__))
CALM = 0.9  # of the best rate so far
LOOKS = 3  # the best one counts
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
        """Returns the result of take() if the processors were at full speed before and after; else retries, and
        returns the last result."""
        for left in reversed(range(TRIES)):
            self.wait()
            took = take()
            if not took or self.calm() or not left:
                return took
            self.again += 1
