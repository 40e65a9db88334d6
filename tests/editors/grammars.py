#!/usr/bin/env python3
"""Checks that the grammars of `ein --grammar EDITOR` split every line of every .ein file into the same tokens as the
scanner.

grammars.py EDITOR EIN TOKENS ROOT: matches TextMate's patterns as editors do; runs vim for Vim's. Node reads
tree-sitter's grammar, and its tokens are matched here as its scanners do: the longest token, and among equals one that
is not a pattern. Exits with 77 if vim or node is missing.

No token crosses a line end, so the test works on lines, each once. It skips lines with bytes that are not UTF-8, with
control characters, or with other kinds of blanks."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

EDITOR, EIN, TOKENS, ROOT = sys.argv[1:]

OF_KIND = {"COMMENT": "comment", "STRING": "string", "INT": "number", "REAL": "number", "ID": "name",
           "CONST": "constant", "DTYPE": "type",
           "REDUCER": "reducer", "COUNT": "reducer", "SLIP": "bad", "BAD": "bad"}
for kind in "DIM INPUT PARAM OUTPUT STATE NEXT REPEAT UNTIL DEF MONOID IDENTITY EXTERN ADJOINT USE ASSERT FROM TO WHERE IF THEN ELSE OR AND NOT".split():
    OF_KIND[kind] = "keyword"
for kind in "EQ NE LT LE GT GE PLUS MINUS STAR SLASH IDIV PERCENT CARET ORELSE ASSIGN".split():
    OF_KIND[kind] = "operator"
for kind in "COLON COMMA LP RP LB RB LC RC SEMI".split():
    OF_KIND[kind] = "point"

# What no file of the tests has, too.
ODD = ["1.5e", "1e+5x", "1e+", "1..5", ".5", "x.5", "5'", "5.a.b", "12abc", "1e5.", "sum'", "π'", "π0", "∑x", "Σx",
       "Σ'", "∞∞", "a//=b", "===", "a!==b", "!a", "?",
       "x' '", "fro \"a\"", "from \"a\"", "from\t\"a\"", "from_ \"a\"", "to x", "“a” b", "“a", "\"open",
       "\"a#b\" # c \"d\"", "f16x f16 f16' f16(", "softmax[i where i < 3](x)",
       "a\\b", "@ $ ~ `", "öde[ä] = sum[ö] x", "a−b ∧ c¬", "x[i]:f32", "-> => := <>", "&&&", "**=", "??=", "x??y",
       "not and or", "notand", "dim1 dim", "inf.x"]


def lines_of_files():
    found = {}
    for path in sorted(glob.glob(ROOT + "/**/*.ein", recursive=True)):
        with open(path, "rb") as f:
            for line in f.read().split(b"\n"):
                found[line] = None
    good = []
    for line in found:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            continue
        if all(c in " \t" or unicodedata.category(c) not in ("Cc", "Cf", "Zs", "Zl", "Zp", "Cn") for c in text):
            good.append(text)
    return good + [line for line in ODD if line not in found]


def spans(text, found):
    """Kinds of single characters: words of one kind that touch are still two, by where they begin."""
    out = [None] * len(text)
    for kind, at, end in found:
        for i in range(at, end):
            out[i] = (kind, at)
    return out


def scanned(lines):
    said = subprocess.run([TOKENS], input="\n".join(lines).encode(), stdout=subprocess.PIPE,
                          check=True).stdout.decode().split("\n")
    for text, row in zip(lines, said):
        place = {}
        for i, c in enumerate(text):
            place[len(text[:i].encode()) if not text.isascii() else i] = i
        place[len(text.encode())] = len(text)
        found = []
        for word in row.split():
            kind, at, end = word.split(":")
            found.append((kind, place[int(at)], place[int(end)]))
        yield found


def patterns_of(characters):
    r"""Python's re lacks \p{L}: the characters that there are, by category."""
    def spelled(match):
        return "".join(re.escape(c) for c in characters if unicodedata.category(c).startswith(match[1]))
    return lambda text: re.compile(re.sub(r"\\p\{(\w+)\}", spelled, text))


# ---- TextMate ----------------------------------------------------------------------------------------

SCOPES = {"comment": "comment", "string": "string", "constant.numeric": "number", "constant.language": "constant",
          "storage.type": "type",
          "support.function.reducer": "reducer", "keyword.control": "keyword", "keyword.operator": "operator",
          "punctuation": "point",
          "entity.name.function": "name", "variable": "name", "invalid": "bad"}


def textmate(text, rules):
    at, found = 0, []
    while at < len(text):
        first = None
        for kind, pattern in rules:
            m = pattern.search(text, at)
            if m and (first is None or m.start() < first[1]):
                first = (kind, m.start(), m.end())
                if m.start() == at:
                    break
        if first is None:
            break
        found.append(first)
        at = first[2]
    return found


def by_textmate(lines, compiled):
    rules = []
    for p in json.loads(grammar())["patterns"]:
        kind = [k for s, k in SCOPES.items() if p["name"].startswith(s)]
        rules.append((kind[0], compiled(p["match"])))
    return [spans(text, textmate(text, rules)) for text in lines]


# ---- Vim ---------------------------------------------------------------------------------------------

GROUPS = {"einComment": "comment", "einTodo": "comment", "einString": "string", "einNumber": "number",
          "einConstant": "constant", "einType": "type", "einReducer": "reducer",
          "einKeyword": "keyword", "einOperator": "operator", "einPoint": "point", "einCall": "name", "einName": "name",
          "einError": "bad"}
ASKED = """
set encoding=utf-8
edit lines
syntax manual
source ein.vim
let out = []
let l = 0
for columns in readfile('columns')
  let l += 1
  let groups = ''
  for c in split(columns)
    let groups .= synIDattr(synID(l, c, 0), 'name') .. ' '
  endfor
  call add(out, groups)
endfor
call writefile(out, 'groups')
qall!
"""


def ends(text, found):
    """The first and the last character of each word; a mark above a letter has no group of its own."""
    for _, at, end in found:
        last = end - 1
        while unicodedata.combining(text[last]):
            last -= 1
        yield from sorted({at, last})  # asked for one place twice vim goes back by many lines


def by_vim(lines, tokens):
    """As spans, but None where vim is not asked: it would take long."""
    asked = [list(ends(text, found)) for text, found in zip(lines, tokens)]
    columns = [" ".join(str(len(text[:i].encode()) + 1) for i in at) for text, at in zip(lines, asked)]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("lines", "\n".join(lines)), ("columns", "\n".join(columns)), ("ein.vim", grammar()),
                           ("ask.vim", ASKED)):
            with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
                f.write(text + "\n")
        subprocess.run(["vim", "-u", "NONE", "-i", "NONE", "-n", "-N", "-es", "--cmd", "set encoding=utf-8", "-S",
                        "ask.vim"], cwd=folder,
                       stdin=subprocess.DEVNULL, timeout=100)
        with open(f"{folder}/groups", encoding="utf-8") as f:
            rows = f.read().split("\n")
    return [dict(zip(at, (GROUPS.get(g) for g in row.split(" ")))) for at, row in zip(asked, rows)]


# ---- tree-sitter -------------------------------------------------------------------------------------

AS_JSON = """
const seq = (...of) => ({seq: of}), choice = (...of) => ({choice: of}), repeat = of => ({repeat: of}), token = of => of, $ = new Proxy({}, {get: (_, name) => ({node: name})});
const plain = x => x instanceof RegExp ? {pattern: x.source} : x;
const deep = x => x instanceof RegExp ? plain(x) : Array.isArray(x) ? x.map(deep) : x && typeof x == 'object' ? Object.fromEntries(Object.entries(x).map(([k, v]) => [k, deep(v)])) : x;
const grammar = g => Object.fromEntries(Object.entries(g.rules).map(([k, f]) => [k, deep(f($))])), module = {};
"""


def words_of_rules(rules, compiled):
    """(kind, its text or pattern) of all words: a rule that is a pattern or a choice of texts, and texts within other
    rules."""
    words = []

    def texts(kind, rule):
        if isinstance(rule, str):
            words.append((kind, rule))
        for part in ("choice", "seq"):
            for r in rule.get(part, []) if isinstance(rule, dict) else []:
                texts(kind, r)

    for name, rule in rules.items():
        kind = "point" if name in ("_item", "round", "square", "curly") else name
        if "pattern" in rule:
            words.append((kind, compiled(rule["pattern"])))
        else:
            texts(kind, rule)
    return words


def by_tree_sitter(lines, compiled):
    with tempfile.NamedTemporaryFile("w", suffix=".js", encoding="utf-8") as f:
        f.write(AS_JSON + grammar() + "console.log(JSON.stringify(module.exports));")
        f.flush()
        rules = json.loads(subprocess.run(["node", f.name], stdout=subprocess.PIPE, check=True, text=True).stdout)
    words = words_of_rules(rules, compiled)
    literal = {}
    for kind, w in words:
        if isinstance(w, str):
            literal[w] = kind
    longest = max(map(len, literal))
    patterns = [(kind, w) for kind, w in words if not isinstance(w, str)]
    out = []
    for text in lines:
        at, found = 0, []
        while at < len(text):
            if text[at] in " \t":
                at += 1
                continue
            best = max(((m.end(), kind) for kind, p in patterns for m in [p.match(text, at)] if m), default=(at, "bad"))
            for n in range(longest, 0, -1):
                if at + n >= best[0] and text[at:at + n] in literal and len(text[at:at + n]) == n:
                    best = (at + n, literal[text[at:at + n]])
                    break
            end = max(best[0], at + 1)
            found.append((best[1], at, end))
            at = end
        out.append(spans(text, found))
    return out


def grammar():
    return subprocess.run([EIN, "--grammar", EDITOR], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def every_word():
    """Each word that stands in the scanner stands in the grammar."""
    with open(ROOT + "/grammar/scan.re", encoding="utf-8") as f:
        words = set(re.findall(r'"([a-z][a-z0-9]*)"', f.read()))
    text = grammar()
    if EDITOR == "tree-sitter":
        text += subprocess.run([EIN, "--grammar", "tree-sitter-queries"], stdout=subprocess.PIPE, check=True,
                               encoding="utf-8").stdout
    return [w for w in sorted(words) if not re.search(rf"\b{w}\b", text)]


def main():
    tool = {"vim": "vim", "tree-sitter": "node"}.get(EDITOR)
    if tool and not shutil.which(tool):
        print(f"no {tool}: not tested")
        sys.exit(77)
    lines = lines_of_files()
    tokens = list(scanned(lines))
    if EDITOR == "tree-sitter":  # what is wrong is for its parser to find; `from` is the queries' business
        kept = [i for i, found in enumerate(tokens) if not any(k in ("SLIP", "BAD", "FROM", "TO") for k, _, _ in found)
                and lines[i].count('"') % 2 == 0]
        lines, tokens = [lines[i] for i in kept], [tokens[i] for i in kept]
    wanted = [spans(text, [(OF_KIND[k], a, e) for k, a, e in found]) for text, found in zip(lines, tokens)]
    compiled = patterns_of(sorted({c for text in lines for c in text}))
    if EDITOR == "vim":
        got = by_vim(lines, tokens)
        wanted = [{i: want[i][0] for i in have} for want, have in zip(wanted, got)]
    else:
        got = (by_textmate if EDITOR == "textmate" else by_tree_sitter)(lines, compiled)
    wrong = [f"{w} is a word, and not in the grammar" for w in every_word()]
    for text, want, have in zip(lines, wanted, got):
        other = [i for i in (have if EDITOR == "vim" else range(len(text))) if text[i] not in " \t"
                 and want[i] != have[i]]
        if other:
            wrong.append(f"{text!r}, column {other[0] + 1}: the scanner says {want[other[0]]}, the grammar {have[other[0]]}")
    print("\n".join(wrong[:20]))
    print(f"{EDITOR}: {len(lines)} lines, {sum(map(len, tokens))} tokens, {len(wrong)} wrong")
    sys.exit(1 if wrong or len(got) != len(lines) else 0)


main()
