#!/usr/bin/env python3
"""Tests that the package finds libein: installed by pip from the checkout without a network, and in an installation
prefix.

    installed.py ROOT       with EIN_LIBEIN, the build folder"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(os.environ["EIN_LIBEIN"]).resolve()
ASK = "import ein; print(ein.library.path, float(ein.run('output y = 2 + 3', target='eval').y)); print(ein.__file__)"


def said(path, **env):
    """What a Python answers that has this folder alone."""
    bare = {k: v for k, v in os.environ.items() if k not in ("EIN_LIBEIN", "EIN_STDLIB", "EIN")}
    done = subprocess.run([sys.executable, "-c", ASK], env={**bare, "PYTHONPATH": str(path), **env}, cwd="/", capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit("with %s: %s" % (path, done.stderr))
    return done.stdout


def check(text, *wanted):
    for w in wanted:
        if str(w) not in text:
            sys.exit("expected %s, found\n%s" % (w, text))


def by_pip(work):
    """pip has nothing to fetch: what packs is in the folder itself."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        print("left out: pip is not installed")
        return
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--target", work / "pip", ROOT / "python"],
                          env={**os.environ, "PIP_NO_CACHE_DIR": "1"}, capture_output=True, text=True, timeout=200)
    if done.returncode:
        sys.exit("pip: " + done.stderr)
    env = {} if BUILD == ROOT / "build" else {"EIN_LIBEIN": str(BUILD)}
    check(said(work / "pip", **env), BUILD / "compiler/face/libein.so", " 5.0", work / "pip" / "ein")


def in_place(work):
    """pip install -e has a path to this folder, and nothing else."""
    sys.path.insert(0, str(ROOT / "python"))
    import backend
    with zipfile.ZipFile(work / backend.build_editable(work)) as z:
        check(z.read("ein.pth").decode(), ROOT / "python")
        check(z.read("ein-%s.dist-info/METADATA" % backend.version()).decode(), "Version: " + backend.version())
        check(z.read("ein-%s.dist-info/RECORD" % backend.version()).decode(), "ein.pth,sha256=")


def in_prefix(work):
    """PREFIX/share/ein/python with PREFIX/lib/.../libein.so, wherever PREFIX is moved to."""
    prefix, lib = work / "prefix", work / "prefix/lib/here"
    lib.mkdir(parents=True)
    (prefix / "bin").mkdir()
    shutil.copy(next(iter((BUILD / "compiler/face").glob("libein.so"))), lib / "libein.so")
    shutil.copytree(ROOT / "python" / "ein", prefix / "share/ein/python/ein")
    (prefix / "share/ein/stdlib").symlink_to(ROOT / "stdlib")
    check(said(prefix / "share/ein/python"), lib / "libein.so", " 5.0")


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder).resolve()
    in_place(work)
    in_prefix(work)
    by_pip(work)
print("ok")
