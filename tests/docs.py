#!/usr/bin/env python3
"""Runs the examples in the documentation: README.md and docs/*.md. In these files

    ```ein              with `# expect:` lines must meet them in the evaluator, else must check; without warnings
    ```ein error E110   is refused by `ein check`, with exactly these codes
    ```ein warn W003    is accepted, with exactly these warnings
    ```ein NAME.ein ... any of these; the console blocks that follow in the document can use the file
    ```console          sh runs the lines that begin with `$ `, in one folder per document, which also has samples/ and
                        share/, and in which ./bootstrap is ein; the other lines are the output
    ```prompt           lines that begin with `ein> ` are typed at the prompt, and `...> ` continues them; the others are
                        the answers
    ```console numbers  the same, but numbers and their units may differ: `2.1 ms`
    ```c NAME.c         what follows can use the file, and a later console block must compile it; so libraries are
                        built, linked and run as shown

`cc` compiles C (CC or gcc, if there is no cc). Threads sleep while they wait. Each document has its own cache.

Tables between `<!-- table: NAME -->` and `<!-- end -->` must agree with compiler/expr/ops.def and
compiler/base/diags.def. `--bless` rewrites the tables and the output of console blocks. `-v` prints the name of every
block, `--part=1/4` takes a quarter of the documents; with EIN_SOME_DOCS set, only the quarter that EIN_TURN selects is
checked. EIN is the compiler to use.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EIN = pathlib.Path(os.environ.get("EIN", ROOT / "build" / "ein")).resolve()
FENCE = re.compile(r"^```(.*)$")


# ---- blocks --------------------------------------------------------------------------------------------------------

def blocks(path):
    """(line of the fence, words of its info string, text) of each fenced block."""
    out, start, info, lines = [], None, [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if fence and start is None:
            start, info, lines = number, fence.group(1).split(), []
        elif fence:
            out.append((start, info, "\n".join(lines) + "\n"))
            start = None
        elif start is not None:
            lines.append(line)
    if start is not None:
        raise SystemExit(f"{path}:{start}: this block is never closed")
    return out


def ein(folder, *words):
    done = subprocess.run([str(EIN), *words], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def codes(text, kind):
    return sorted(set(re.findall(kind + r"\[([EW]\d+)\]", text)))


def run_ein(folder, words, text, stem):
    """None, or what is wrong with the block."""
    name = stem + ".ein"
    if words and words[0].endswith(".ein"):
        name, words = words[0], words[1:]
    (folder / name).write_text(text, encoding="utf-8")
    if words[:1] in (["error"], ["warn"]):
        code, said = ein(folder, "check", name)
        wanted, kind = sorted(words[1:]), {"error": "error", "warn": "warning"}[words[0]]
        if codes(said, kind) == wanted and code == (words[0] == "error"):
            return None
        return f"wanted {kind} {' '.join(wanted)}, but exit code {code} and:\n{said}"
    if words:
        return f"`{' '.join(words)}` is no mark of a block"
    expects = re.search(r"^\s*.*# expect(-error)?:", text, re.M)
    code, said = ein(folder, *(["run", "--target=eval", "--expect"] if expects else ["check"]), name)
    return None if code == 0 and not said else f"exit code {code}\n{said}"


def console_env(folder):
    """The machine's own: no cache, no compiler, no colour that the user has chosen."""
    env = {k: v for k, v in os.environ.items() if k != "CC"}
    return dict(env, PATH=f"{folder}/.bin:{os.environ['PATH']}", NO_COLOR="1", XDG_CACHE_HOME=f"{folder}/.cache",
                OMP_WAIT_POLICY="passive")


def run_console(folder, text):
    """The block as it should be."""
    env = console_env(folder)
    out = []
    for command in (line for line in text.splitlines() if line.startswith("$ ")):
        done = subprocess.run(["sh", "-c", command[2:]], cwd=folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
        out += [command, *(line.rstrip() for line in done.stdout.splitlines())]
    return "\n".join(out) + "\n"


NUMBER = re.compile(r"\d\S*(?: +(?:ns|us|ms|s)\b)?")


def run_prompt(folder, text):
    """The block as it should be: what ein answers to the lines behind `ein> `, and to those that go on behind `...> `."""
    turns = []
    for line in text.splitlines():
        if line.startswith("ein> "):
            turns.append([line[5:]])
        elif line.startswith("...> "):
            turns[-1].append(line[5:])
    lines = "".join(json.dumps("\n".join(turn)) + "\n" for turn in turns)
    done = subprocess.run([str(EIN), "repl", "--json"], cwd=folder, env=console_env(folder), input=lines, capture_output=True, text=True, timeout=60)
    out = []
    for turn, line in zip(turns, done.stdout.splitlines()):
        answer = json.loads(line)
        said = answer["text"] + answer.get("error", "")
        if said.startswith(answer.get("error", " ")) and not said.startswith("<prompt>"):
            said = "ein: error: " + said
        out += ["ein> " + "\n...> ".join(turn), *(x.rstrip() for x in said.splitlines())]
    return "\n".join(out) + "\n"


def same(said, text, words):
    """Whether a console block says what it should, or, with the word `numbers`, the same but for those."""
    if words == ["numbers"]:
        said, text = (re.sub(r" +", " ", NUMBER.sub("N", x)).replace("N runs ", "N run ") for x in (said, text))
    elif words:
        return False
    return said == text


def uncompiled(sources):
    """What is wrong with .c blocks that no command has named."""
    return [f"{name} is shown, but no console block that follows compiles it" for name, used in sources.items() if not used]


def check_blocks(path, verbose, bless):
    failed, ran, blessed, sources = 0, 0, [], {}
    with tempfile.TemporaryDirectory(prefix="ein-docs-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "ein.root").touch()
        (folder / ".bin").mkdir()
        (folder / ".bin" / "ein").symlink_to(EIN)
        (folder / "bootstrap").symlink_to(EIN)
        (folder / "samples").symlink_to(ROOT / "samples")
        (folder / "share").symlink_to(ROOT / "share")
        if not shutil.which("cc"):
            (folder / ".bin" / "cc").symlink_to(shutil.which(os.environ.get("CC", "gcc")) or "gcc")
        for line, info, text in blocks(path):
            if info[:1] == ["ein"]:
                wrong = run_ein(folder, info[1:], text, f"block_{line}")
            elif info[:1] in (["console"], ["prompt"]):
                said = run_console(folder, text) if info[0] == "console" else run_prompt(folder, text)
                fits = same(said, text, info[1:])
                wrong = None if fits or bless else "this is said now:\n" + said
                blessed.append((line, text, text if fits else said))
                for name in sources:
                    sources[name] |= any(word == name for word in text.split())
            elif info[:1] == ["c"]:
                wrong = None if len(info) == 2 and info[1].endswith(".c") else "a block of C has a name: ```c NAME.c"
                if not wrong:
                    (folder / info[1]).write_text(text, encoding="utf-8")
                    sources[info[1]] = False
            else:
                continue
            ran += 1
            if verbose or wrong:
                print(f"{path.relative_to(ROOT)}:{line}: {' '.join(info)}: {'FAILED' if wrong else 'ok'}")
            if wrong:
                failed += 1
                print("    " + wrong.rstrip().replace("\n", "\n    "))
    for wrong in uncompiled(sources):
        failed += 1
        print(f"{path.relative_to(ROOT)}: {wrong}")
    if bless:
        lines = path.read_text(encoding="utf-8").split("\n")
        for line, text, said in reversed(blessed):
            lines[line:line + text.count("\n")] = said.splitlines()
        path.write_text("\n".join(lines), encoding="utf-8")
    return failed, ran


# ---- tables --------------------------------------------------------------------------------------------------------

def arguments(call):
    """The arguments of OP(...), split at commas outside of strings and parentheses."""
    out, depth, quoted, at = [""], 0, False, 0
    while at < len(call):
        c = call[at]
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "()":
            depth += 1 if c == "(" else -1
        if c == "," and not quoted and depth == 0:
            out.append("")
        else:
            out[-1] += c
        at += 1
    return [word.strip() for word in out]


def entries(path, word):
    text = (ROOT / path).read_text(encoding="utf-8")
    for m in re.finditer(rf"^{word}\((.*)\)\s*(?:/\*.*\*/)?$", text, re.M):
        yield [a[1:-1] if a.startswith('"') else a for a in arguments(m.group(1))]


def operations():
    """The arguments of OP; a FUNCTION is an OP of reals without a sign."""
    for a in entries("compiler/expr/ops.def", "(?:OP|FUNCTION)"):
        if not a[2].isdigit():
            yield a
        else:
            yield [*a[:2], "NULL", a[2], "RULE_REAL", *a[3:6], "NULL", *a[6:]]


RULES = {
    "RULE_SAME": ("numbers", "their dtype"),
    "RULE_REAL": ("floats; integers as f64", "their dtype"),
    "RULE_COMPARE": ("numbers, or bools", "bool"),
    "RULE_TEST": ("floats; integers as f64", "bool"),
    "RULE_LOGIC": ("bools", "bool"),
    "RULE_RANDOM": ("labels; an integer seed", "f32"),
    "RULE_INDEX": ("one label; an integer seed", "i64"),
}


def table_functions():
    rows = ["| written | takes | gives | error |", "|---|---|---|---|"]
    for _, name, sign, arity, rule, laws, *rest in operations():
        if name == "within" or rule not in RULES or (sign == "NULL" and "LF" not in laws and rule not in ("RULE_RANDOM", "RULE_INDEX")):
            continue
        args = ["a", "b"] if arity == "2" else ["x"]
        if rule == "RULE_RANDOM":
            form = f"{name}[i, j](seed)"
        elif rule == "RULE_INDEX":
            form = f"{name}[h](seed)"
        elif sign == "NULL":
            form = f"{name}({', '.join(args)})"
        else:
            form = f"a {sign} b" if arity == "2" else f"{sign}x" if sign == "-" else f"{sign} x"
        takes, gives = RULES[rule]
        ulp = rest[-1]
        error = "exact" if ulp == "0" else f"{ulp} ULP"
        rows.append(f"| `{form}` | {takes} | {gives} | {error} |")
    return rows


def table_codes():
    text = (ROOT / "compiler/base/diags.def").read_text(encoding="utf-8")
    rows = ["| code | what is wrong |", "|---|---|"]
    for code, meaning in re.findall(r'^DIAG\(([EW]\d+), \w+, "[^"]*", "([^"]*)"', text, re.M):
        meaning = meaning.replace('\\"', '"').replace("|", "\\|")
        rows.append(f"| {code} | {meaning} |")
    return rows


def table_reducers():
    """Of the reducers' table, the first two columns are checked: `name` and identity."""
    known = {}
    for _, name, _, identity, *_ in entries("compiler/expr/ops.def", "REDUCER"):
        if name not in ("map", "monoid"):
            known[name] = {"NULL": "none", "count": "0"}.get("count" if name == "count" else identity, identity)
    return known


TABLES = {"functions": table_functions, "codes": table_codes}


def check_tables(path, bless):
    text, failed = path.read_text(encoding="utf-8"), 0

    def write(m):
        nonlocal failed
        rows = "\n".join(TABLES[m.group(1)]())
        if m.group(2).strip() != rows and not bless:
            failed += 1
            print(f"{path.relative_to(ROOT)}: the table of {m.group(1)} is not what the .def file says: "
                  f"tests/docs.py --bless writes it")
        return f"<!-- table: {m.group(1)} -->\n\n{rows}\n\n<!-- end -->"

    new = re.sub(r"<!-- table: (\w+) -->\n(.*?)<!-- end -->", write, text, flags=re.S)
    if bless and new != text:
        path.write_text(new, encoding="utf-8")
    shown = re.search(r"<!-- reducers -->\n(.*?)<!-- end -->", text, re.S)
    if shown:
        rows = dict(re.findall(r"^\| `(\w+)` \| `?([^`|]*?)`? \|", shown.group(1), re.M))
        for name, identity in table_reducers().items():
            if rows.get(name) != identity:
                failed += 1
                print(f"{path.relative_to(ROOT)}: reducer {name}: identity {identity} in ops.def, {rows.get(name)} here")
    return failed


def part_of(files, part):
    """Part K of N of the documents, `--part=K/N`: the largest first, each to the part that has least to do."""
    k, n = map(int, part.split("/"))
    parts, todo = [[] for _ in range(n)], [0] * n
    weigh = {f: sum(4 if "console" in info else 1 for _, info, _ in blocks(f)) for f in files}
    for path in sorted(files, key=lambda f: -weigh[f]):
        least = todo.index(min(todo))
        parts[least].append(path)
        todo[least] += weigh[path]
    return parts[k - 1]


def main(words):
    verbose, bless = "-v" in words, "--bless" in words
    files = [pathlib.Path(w).resolve() for w in words if not w.startswith("-")]
    files = files or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for part in (w[len("--part="):] for w in words if w.startswith("--part=")):
        k, n = map(int, part.split("/"))
        if "EIN_SOME_DOCS" in os.environ and int(os.environ.get("EIN_TURN", "0")) % n != k - 1:
            print("another part has its turn")
            return 77
        files = part_of(files, part)
    failed = ran = 0
    for path in files:
        failed += check_tables(path, bless)
        wrong, some = check_blocks(path, verbose, bless)
        failed, ran = failed + wrong, ran + some
    print(f"{ran} blocks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if not EIN.exists():
        raise SystemExit(f"{EIN} is not there: build it, or set EIN")
    sys.exit(main(sys.argv[1:]))
