"""Shared code of the einsum tests: the integer fill, .npy files, running ein, checksums. Standard library only.

Operand t, counted from 0, holds ((7k + 3t) mod 11) - 5 at its row-major element k. An answer's checksums are the
sum of its elements and mix, the sum of (m mod 97 + 1) * out[m] over its row-major elements: integers that any
order of summation must give exactly.
"""
import argparse
import ast
import collections
import concurrent.futures
import csv
import math
import os
import re
import struct
import subprocess
import tempfile

NPY = {"i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "|i1", "u8": "|u1", "bool": "|b1",
       "f64": "<f8", "f32": "<f4", "f16": "<f2"}
FORMATS = {"<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b", "|u1": "B", "|b1": "?", "<f8": "d", "<f4": "f", "<f2": "e"}


def fill(t, shape):
    n = math.prod(shape)
    cycle = [(7 * k + 3 * t) % 11 - 5 for k in range(11)]
    return (cycle * (n // 11 + 1))[:n]


def npy_write(path, dtype, shape, values):
    """Version 1.0, C order."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (NPY[dtype], tuple(shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%d%s" % (len(values), FORMATS[NPY[dtype]]), *values))


def npy_read(path):
    """(descr, shape, values)"""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x93NUMPY":
        raise ValueError("%s is no .npy file" % path)
    wide = data[6] > 1
    size, at = struct.unpack_from("<I" if wide else "<H", data, 8)[0], 12 if wide else 10
    head = ast.literal_eval(data[at:at + size].decode())
    if head["fortran_order"]:
        raise ValueError("%s is in Fortran order" % path)
    n = math.prod(head["shape"])
    body = data[at + size:]
    return head["descr"], tuple(head["shape"]), list(struct.unpack("<%d%s" % (n, FORMATS[head["descr"]]), body))


def checksums(values):
    """(sum, mix), exact; None for what is no integer."""
    if any(v != int(v) for v in values):
        return None
    values = [int(v) for v in values]
    return sum(values), sum((m % 97 + 1) * v for m, v in enumerate(values))


def shapes_of(text):
    """"2x3;-" is [[2, 3], []]."""
    return [[] if s == "-" else [int(n) for n in s.split("x")] for s in text.split(";")]


def brackets(items):
    text = ",".join(items)
    return "[%s]" % text if text else ""


def rows_read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


class Wrong(Exception):
    """What a row did not do as it should."""


class Ein:
    """The command, run in a folder of its own for each row."""

    def __init__(self, path, folder, keep):
        self.path, self.folder, self.keep = os.path.abspath(path), folder, keep
        self.env = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", EIN_TARGET="eval")

    def run(self, args, folder):
        p = subprocess.run([self.path, *args], cwd=folder, env=self.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return p.returncode, p.stdout.decode("utf-8", "replace")

    def good(self, args, folder):
        code, text = self.run(args, folder)
        if code != 0:
            raise Wrong("ein %s: exit code %d: %s" % (args[0], code, short(text)))
        return text

    def refused(self, args, folder, code, pattern):
        """It must exit with `code` and say what `pattern` matches."""
        got, text = self.run(args, folder)
        if got != code:
            raise Wrong("ein %s: exit code %d, not %d: %s" % (args[0], got, code, short(text)))
        if not re.search(pattern, text):
            raise Wrong("ein %s: refused, but the message has no %s: %s" % (args[0], pattern, short(text)))


def short(text, most=300):
    text = " / ".join(line.strip() for line in text.strip().splitlines())
    return text if len(text) <= most else text[:most] + "..."


def program_write(folder, text, name="x.ein"):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)


def compare(path, shape, want, what):
    """The .npy at path must have that shape and those checksums."""
    _, got_shape, values = npy_read(path)
    if list(got_shape) != list(shape):
        raise Wrong("%s: shape %s, not %s" % (what, list(got_shape), list(shape)))
    got = checksums(values)
    if got is None:
        raise Wrong("%s: not integers: %s" % (what, values[:8]))
    if got != want:
        raise Wrong("%s: sum and mix are %d and %d, not %d and %d" % (what, *got, *want))


def run_all(ein, jobs, work):
    """Runs job(folder, done) for each (id, job) of work, `jobs` at a time; one line a failure. The number of
    failures, and what was done in all: each job counts in a Counter of its own."""
    def one(job):
        name, do = job
        done = collections.Counter()
        folder = os.path.join(ein.folder, name)
        os.makedirs(folder, exist_ok=True)
        try:
            do(folder, done)
            why = None
        except Wrong as e:
            why = str(e)
        except (OSError, ValueError, subprocess.TimeoutExpired) as e:
            why = "%s: %s" % (type(e).__name__, e)
        if not ein.keep:
            for file in os.listdir(folder):
                os.remove(os.path.join(folder, file))
            os.rmdir(folder)
        return name, why, done

    failed, all_done = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, why, done in pool.map(one, work):
            all_done += done
            if why:
                failed += 1
                print("%s: %s" % (name, why), flush=True)
    return failed, all_done


def scratch(keep):
    """A context: the folder `keep`, which stays, or a temporary one."""
    if not keep:
        return tempfile.TemporaryDirectory(prefix="ein-rows-")
    os.makedirs(keep, exist_ok=True)

    class Kept:
        def __enter__(self):
            return keep

        def __exit__(self, *_):
            return False
    return Kept()


def arguments(doc, only):
    """A parser of what every script here is told; doc: the script's own text."""
    a = argparse.ArgumentParser(description=doc.partition("\n")[0])
    a.add_argument("--ein", default="build/ein")
    a.add_argument("--only", metavar=only, help="this row alone")
    a.add_argument("--keep", metavar="DIR", help="leave programs and files in DIR")
    a.add_argument("--jobs", type=int, default=2)
    a.add_argument("file", nargs="+")
    return a


def files_run(o, work_of, note=lambda what: ""):
    """Runs work_of(ein, rows) for each file, prints what came of it, each with its note, and returns the exit code."""
    good = True
    with scratch(o.keep) as folder:
        ein = Ein(o.ein, folder, o.keep)
        for path in o.file:
            work = work_of(ein, rows_read(path))
            failed, done = run_all(ein, o.jobs, work)
            print("%s: %d rows, %d right, %d wrong" % (os.path.basename(path), len(work), len(work) - failed, failed))
            for what in sorted(done):
                print("  %5d %s%s" % (done[what], what, note(what)))
            good = good and not failed and bool(work)
    return 0 if good else 1
