"""Combines the runtime into single files. `one.py FOLDER` writes there, from the sources beside this script,

    ein_run.h      the runtime that emitted C includes, with everything that it includes
    ein_program.c  the rest of a standalone program around a model
    ein_apart.c    the runtime to link emitted C against if it is compiled separately, once
    texts.c        the first two, ein_tensor.h, the files for MPI and for Python callers, which ein embeds as
                   texts.h declares them

A file is inserted where it is first included. EIN_RUNTIME_IS is a hash of all these bytes: it detects code
that was compiled with another runtime."""
import hashlib
import os
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"$')
ALL_OF_IT = '#undef EIN_APART\n#define EIN_STATIC\n#define EIN_SITES\n#define EIN_WHOLE\n#define EIN_API\n#include "ein_run.h"\n' # with external symbols
LICENCE = "/* SPDX-License-Identifier: MIT-0 */"
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = ["program/program.c", "program/words.c"] + ["data/" + name for name in (
    "array.c", "bytes.c", "convert.c", "joint.c", "list.c", "npy.c", "npz.c", "number.c", "out.c", "raw.c", "rows.c",
    "safetensors.c", "show.c", "source.c")]


def lines_of(name, seen):
    """The lines of a file, with those of what it includes in their places."""
    seen.append(name)
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        for line in f.read().splitlines():
            found = INCLUDE.match(line)
            if not found:
                if line != LICENCE:
                    yield line
                continue
            beside = os.path.join(os.path.dirname(name), found.group(1))
            other = beside if os.path.exists(os.path.join(HERE, beside)) else found.group(1)
            if other not in seen:
                yield f"/* ---- {other} ---- */"
                yield from lines_of(other, seen)


def text_of(names, seen):
    lines = [LICENCE]
    for name in names:
        lines += lines_of(name, seen)
    return "\n".join(lines) + "\n"


def as_c(name, text):
    """A text as a C array. A line is a literal: a compiler takes that a hundred times faster than numbers."""
    quoted = (line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") for line in text.splitlines())
    return f"const char {name}[] =\n" + "\n".join(f'"{line}\\n"' for line in quoted) + ";\n"


def main(folder):
    run = []
    texts = {"ein_run.h": text_of(["ein_run.h"], run), "ein_tensor.h": text_of(["ein_tensor.h"], []),
             "ein_program.c": ALL_OF_IT + text_of(PROGRAM, list(run))}
    texts["ein_mpi.c"] = text_of(["mpi/ein_mpi.c"], run)
    texts["ein_program_mpi.c"] = text_of(["program/program_mpi.c"], run)
    with open(os.path.join(HERE, "ein_callers.py"), encoding="utf-8") as f:
        texts["ein_callers.py"] = f.read()
    number = hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:16]
    mark = f'const char ein_runtime_is[] = "ein runtime {number}";\n'
    guard = "#define EIN_RUN_H\n" # everything follows the guard: compilers do not reread a file that its guard encloses
    texts["ein_run.h"] = texts["ein_run.h"].replace(guard, guard + f"#define EIN_RUNTIME_IS 0x{number}u\n", 1)
    texts["ein_program.c"] += mark
    carried = "".join(as_c("runtime_" + name.split(".")[0], text) for name, text in texts.items())
    texts["ein_apart.c"] = ALL_OF_IT + mark
    texts["texts.c"] = (f'#include "texts.h"\n{carried}const char runtime_mark[] = "ein runtime {number}";\n'
                        f"const uint64_t runtime_is = 0x{number}u;\n")
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


main(sys.argv[1])
