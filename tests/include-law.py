#!/usr/bin/env python3
"""Checks which folders include which (compiler/ein.h), and that the build lists every source file.

include-law.py ROOT: exits with 1 and prints "file:line: why" for each violation. The table below has the rules.
"""
import os
import re
import sys

# Room -> what its headers and sources may include of ours. Its own folder always; a folder inside of it is a room of its own where it
# stands here. A word that names a file rather than a folder is that file alone. Arrows go one way: no two rooms see each other.
TOOLS = ["compiler/base/", "compiler/expr/"]
LAW = {
    "compiler/base/": ["runtime/ein_pages.h"],
    "compiler/expr/": ["compiler/base/"],
    "compiler/front/": TOOLS,
    "compiler/front/parse/": TOOLS + ["compiler/front/*"],
    "compiler/front/elab/": TOOLS + ["compiler/front/*"],
    "compiler/front/oracle/": TOOLS + ["compiler/front/ast.h"],
    "compiler/graph/": TOOLS,
    "compiler/graph/passes/": TOOLS + ["compiler/graph/*"],
    "compiler/graph/eval/": TOOLS + ["compiler/graph/*"],
    "compiler/graph/grad/": TOOLS + ["compiler/graph/graph.h"],
    "compiler/plan/": TOOLS + ["compiler/graph/graph.h"],
    "compiler/plan/network/": ["compiler/base/"],
    "compiler/plan/decomp/": TOOLS + ["compiler/plan/*", "compiler/plan/network/network.h"],
    "compiler/plan/placing/": TOOLS + ["compiler/plan/*", "compiler/plan/network/network.h"],
    "compiler/algebra/": TOOLS + ["compiler/plan/place.h"],
    "compiler/algebra/rules/": TOOLS + ["compiler/algebra/*"],
    "compiler/algebra/eval/": TOOLS + ["compiler/algebra/*"],
    "compiler/algebra/simulate/": TOOLS + ["compiler/algebra/*", "compiler/plan/seconds.h"],
    "compiler/task/": TOOLS + ["compiler/plan/place.h"],
    "compiler/driver/": ["compiler/", "codegen/", "runtime/ein_rt.h"],
    "compiler/face/": ["compiler/driver/", "compiler/base/", "runtime/ein_tensor.h"],
    "compiler/ein.h": ["compiler/", "codegen/"],
    "codegen/loop/": TOOLS + ["compiler/task/task.h"],
    "codegen/schedule/": TOOLS + ["codegen/loop/", "codegen/schedule/finish/finish.h"],
    "codegen/schedule/cpu/maps/": TOOLS + ["codegen/schedule/*"],
    "codegen/schedule/cpu/panels/": TOOLS + ["codegen/schedule/*"],
    "codegen/schedule/cpu/rows/": TOOLS + ["codegen/schedule/*"],
    "codegen/schedule/cpu/sums/": TOOLS + ["codegen/schedule/*"],
    "codegen/schedule/gpu/": TOOLS + ["codegen/schedule/*"],
    "codegen/schedule/finish/": TOOLS + ["codegen/loop/copy.h", "codegen/loop/loop.h", "codegen/loop/names.h", "codegen/loop/walk.h"],
    "codegen/emit/": TOOLS + ["codegen/loop/", "compiler/task/cost.h", "compiler/task/sites/site.h"],
    "codegen/jit/": ["compiler/base/", "codegen/"],
    "grammar/": TOOLS + ["compiler/front/*", "compiler/front/parse/"],
    "runtime/": [],
    "tests/": ["compiler/", "codegen/", "runtime/", "grammar/"],
}

# Passes: each joins two languages, and so includes one header more than its room may. Regular
# expressions over the including file.
PASSES = [
    # front's door out is an EinGraph
    (r"compiler/front/.*", "compiler/graph/graph.h"),
    # which has derivatives where a program writes `grad`
    (r"compiler/front/elab/.*", "compiler/graph/grad/grad.h"),
    # the small programs' second opinion gives back the evaluator's arrays
    (r"compiler/front/oracle/ast_eval\.[ch]", "compiler/graph/eval/eval.h"),
    (r"compiler/front/oracle/ast_eval\.[ch]", "runtime/ein_rt.h"),
    # the slow truth uses the runtime's dtypes, conversions and random numbers
    (r"compiler/graph/eval/.*\.[ch]", "runtime/ein_rt.h"),
    # relations on small data: the runtime's half precision and random numbers
    (r"compiler/algebra/eval/(block|formula)\.c", "runtime/ein_rt.h"),
    # relations from graph and plan; tasks from relations
    (r"compiler/algebra/from_graph\.[ch]", "compiler/graph/graph.h"),
    (r"compiler/algebra/from_graph\.[ch]", "compiler/plan/placing/placing.h"),
    (r"compiler/algebra/from_graph_read\.[ch]", "compiler/plan/span.h"),
    (r"compiler/task/sites/(from_ia|ia_box|ia_chain|ia_door|site_eval)\.[ch]", "compiler/algebra/algebra.h"),
    # the evaluator of a mesh's tasks has the kernels and arrays of that of relations
    (r"compiler/task/sites/site_eval\.[ch]", "compiler/algebra/eval/eval.h"),
    (r"compiler/task/sites/site_eval\.[ch]", "compiler/algebra/eval/kernel.h"),
    # what `ein plan` says of memory is what the runtime's own layout finds
    (r"compiler/driver/(cmd/cmd_plan|plan/device/sites)\.c", "runtime/ein_run.h"),
    # and what it says of a device's is what the runtime's own planner does
    (r"compiler/driver/plan/device/device\.c", "runtime/cuda/spill.h"),
    # where compiled code stands while it runs
    (r"compiler/driver/(keeping|progress)\.c", "runtime/ein_run.h"),
    # to MPI by a door without its types
    (r"compiler/driver/ranks/ranks\.h", "runtime/mpi/ein_mpi_door.h"),
    # what is emitted has the runtime beside it, which ein carries as text
    (r"compiler/driver/(column|cmd/cmd_build|compile/(build_sites|jit|native|nvrtc|runtime_apart))\.c", "runtime/texts.h"),
    # the driver asks which device is here as what is emitted does
    (r"compiler/driver/compile/(nvrtc|resident)\.c", "runtime/cuda/libcuda.h"),
    (r"compiler/driver/compile/nvrtc\.c", "runtime/cuda/libcublas.h"),
    # a program whose kernels were loaded is put together for the runtime
    (r"codegen/jit/model\.h", "runtime/ein_inside.h"),
    # a schedule for what fusion leaves alone because of it
    (r"codegen/schedule/cpu/panels/grouped\.c", "compiler/task/grouped.h"),
    # for one site, tasks from the graph itself
    (r"compiler/task/from_graph\.[ch]", "compiler/graph/graph.h"),
]

# System headers that only some files may see.
SYSTEM = [
    (r"(llvm-c|llvm|clang|clang-c)/", r"codegen/jit/"),
    (r"mpi\.h$", r"runtime/mpi/|runtime/program/program_mpi\.c|tests/mpi/"),
    (r"(cuda|nvrtc|cublas)[A-Za-z_0-9]*\.h$", r"runtime/[^/]*cuda[^/]*$"),
    (r"omp\.h$", r"runtime/"),
]

GENERATED = {"ein.h", "ein_tokens.h", "tokens.h"}  # by Lemon, beside the scanner
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
KINDS = (".c", ".h", ".def", ".y", ".re", ".cpp", ".cu")
SEARCH = ["compiler", "codegen", "runtime", "tests"]  # as the build's include_directories


def room_of(path):
    best = ""
    for room in LAW:
        if path.startswith(room) and len(room) > len(best):
            best = room
    return best


def resolve(root, path, name):
    for folder in [os.path.dirname(path)] + SEARCH:
        full = os.path.normpath(os.path.join(folder, name))
        if os.path.exists(os.path.join(root, full)):
            return full
    return None


def may_see(may, target):
    """`folder/*` is what lies in that folder itself; `folder/` also what lies deeper."""
    return os.path.dirname(target) == may[:-2] if may.endswith("/*") else target.startswith(may)


def allowed(path, target):
    room = room_of(path)
    if room_of(target) == room:
        return True
    if any(may_see(may, target) for may in LAW[room]):
        return True
    return any(target == to and re.fullmatch(who, path) for who, to in PASSES)


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        text = f.read()
    for m in INCLUDE.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        quote, name = m.groups()
        if quote == "<":
            for what, who in SYSTEM:
                if re.match(what, name) and not re.match(who, path):
                    yield f"{path}:{line}: <{name}> belongs in {who} only"
            continue
        target = resolve(root, path, name)
        if target is None:
            if not (name in GENERATED and path.startswith("grammar/")):
                yield f'{path}:{line}: "{name}" is not a file of ours'
        elif not allowed(path, target):
            yield f"{path}:{line}: {room_of(path)} must not see {target}"


def check_listed(root, folder):
    """Every .c below a folder is in its meson.build."""
    listed = os.path.join(root, folder, "meson.build")
    if not os.path.exists(listed):
        return
    with open(listed, encoding="utf-8") as f:
        names = set(re.findall(r"'([^']+\.c)'", f.read()))
    for where, _, files in os.walk(os.path.join(root, folder)):
        for name in sorted(files):
            path = os.path.relpath(os.path.join(where, name), os.path.join(root, folder))
            if name.endswith(".c") and path not in names:
                yield f"{folder}/meson.build: {path} is not listed"


def circles(root):
    """Rooms that see each other, by what their files include."""
    arrows = {}
    for top in ("compiler", "codegen"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for path in (os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith((".c", ".h"))):
                with open(os.path.join(root, path), encoding="utf-8") as f:
                    seen = (resolve(root, path, name) for quote, name in INCLUDE.findall(f.read()) if quote == '"')
                    for to in filter(None, seen):
                        arrows.setdefault(room_of(path), {}).setdefault(room_of(to), (path, to))
    for room, there in arrows.items():
        for other in there:
            if room < other and room in arrows.get(other, {}):
                yield f"{room} and {other} see each other: {there[other]}, {arrows[other][room]}"


def check(root):
    for top in ("compiler", "codegen", "grammar", "runtime", "tests"):
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith(KINDS) and room_of(path):
                    yield from check_file(root, path)
    for folder in ("compiler", "codegen", "runtime"):
        yield from check_listed(root, folder)
    yield from circles(root)


def main():
    wrong = list(check(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(wrong) if wrong else "every include keeps the law")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
