#!/usr/bin/env python3
"""Runs other projects' einsum cases through ein.

    rows.py --ein build/ein [--sample N] [--only ID] [--keep DIR] FILE.csv ...

Each row becomes an .ein program, from norm_equation and norm_shapes: in i64 with the fill as the inputs' default, in
f64 with the fill from the command line; small ones also in f32, i8 and the dtypes of the row. The sum and mix of the
outputs must equal the row's exactly: computed from the .npy files, by the program itself, and for small rows by `ein
run --expect --roundtrip`, which also runs the AST evaluator. `ein einsum` runs every published equation unchanged.
Rows with expect = error must be refused for the reason that ERRORS gives for their class. Columns: see the files'
heads.
"""
import collections
import functools
import math
import os
import re
import sys

from common import (Wrong, arguments, brackets, checksums, compare, files_run, fill, npy_write, program_write,
                    shapes_of)

SMALL = 5000      # multiplications up to which a row runs in every way there is
DTYPES = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"}


# ---- equations -----------------------------------------------------------------------------------------------------

def split(equation):
    """"ab, bc->ac" is [["a","b"], ["b","c"]], ["a","c"]; the output is None without an arrow."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    return [list(t) for t in left.split(",")], list(right) if arrow else None


def implicit(operands):
    """The output that no arrow means: labels that occur once, in the order of their codes."""
    seen = collections.Counter(c for t in operands for c in t)
    return sorted(c for c in seen if seen[c] == 1)


def sizes_of(operands, shapes):
    """The size of each label, and whether all agree."""
    size, agree = {}, True
    for labels, shape in zip(operands, shapes):
        for c, n in zip(labels, shape):
            agree = agree and size.setdefault(c, n) == n
    return size, agree


def reduced(operands, out):
    return [c for c in dict.fromkeys(c for t in operands for c in t) if c not in out]


def sum_text(operands, out, name):
    red = reduced(operands, out)
    product = " * ".join(name(t) + brackets(labels) for t, labels in enumerate(operands))
    return ("sum%s " % brackets(red) if red else "") + product


# ---- programs ------------------------------------------------------------------------------------------------------

def flat(labels, shape):
    """The row-major number of an element."""
    e = ""
    for c, n in zip(labels, shape):
        e = c if not e else "(%s)*%d + %s" % (e, n, c)
    return e or "0"


def input_text(t, shape, dtype, default):
    name = "X%d_%s" % (t, dtype)
    if not default:
        return "input %s%s : %s\n" % (name, brackets(str(n) for n in shape), dtype)
    at = ["x%d" % k for k in range(len(shape))]
    sized = brackets("%s:%d" % (c, n) for c, n in zip(at, shape))
    return "input %s%s : %s = (7*(%s) + %d) %% 11 - 5\n" % (name, sized, dtype, flat(at, shape), 3 * t)


class Form:
    """One way to compute a row: the operands' dtypes, called by `name`."""

    def __init__(self, name, dtypes, default=False):
        self.name, self.dtypes, self.default = name, dtypes, default

    def text(self, operands, out, shapes, out_shape, want):
        b = "".join(input_text(t, shapes[t], d, self.default) for t, d in enumerate(self.dtypes))
        body = sum_text(operands, out, lambda t: "X%d_%s" % (t, self.dtypes[t]))
        z, at = "Z_" + self.name, brackets(out)
        if "bf16" in self.dtypes:   # .npy has no bf16
            return b + "Y%s = %s\noutput %s%s : f32 = Y%s\n" % (at, body, z, at, at)
        b += "output %s%s = %s\n# expect: sum(%s) = %d\n" % (z, at, body, z, want[0])
        if self.name in ("i64", "f64"):
            mix = "((%s) %% 97 + 1) * %s%s" % (flat(out, out_shape), z, at)
            b += "output M_%s = %s%s\n" % (self.name, "sum%s " % at if out else "", mix)
            b += "# expect: M_%s = %d\n" % (self.name, want[1])
        return b

    def sources(self):
        return [] if self.default else ["X%d_%s=fill:t=%d" % (t, d, t) for t, d in enumerate(self.dtypes)]


def forms_of(row, operands, out, size):
    n = len(operands)
    forms = [Form("i64", ["i64"] * n, True), Form("f64", ["f64"] * n)]
    if row["dtype"].startswith("bf16"):
        forms.append(Form("bf16", ["bf16"] * n))
    mixed = [DTYPES.get(d) for d in row["dtype"].split(",")]
    if len(mixed) == n and n > 1 and all(mixed):
        forms.append(Form("mixed", mixed))
    if int(row["mults"]) <= SMALL:
        red = reduced(operands, out)
        if 5 ** n * math.prod(size[c] for c in red) < 2 ** 24:
            forms.append(Form("f32", ["f32"] * n))
        if n <= 2 or red:   # a product of i8 alone is i8, and wraps
            forms.append(Form("i8", ["i8"] * n, True))
    return forms


def norm_check(ein, row, folder, operands, out, shapes, done):
    size, agree = sizes_of(operands, shapes)
    if not agree:
        raise Wrong("the row's own sizes disagree")
    out_shape = [size[c] for c in out]
    want = int(row["chk_sum"]), int(row["chk_mix"])
    forms = forms_of(row, operands, out, size)
    seen = []
    for f in forms:   # forms may share a dtype, and then they share inputs
        seen.append(f.text(operands, out, shapes, out_shape, want))
    lines = dict.fromkeys(line for text in seen for line in text.splitlines())
    program_write(folder, "\n".join(lines) + "\n")
    sources = sorted({s for f in forms for s in f.sources()})
    ein.good(["run", "x.ein", *sources, "-o", "all=."], folder)
    for f in forms:
        compare(os.path.join(folder, "Z_%s.npy" % f.name), out_shape, want, f.name)
        if f.name in ("i64", "f64"):
            compare(os.path.join(folder, "M_%s.npy" % f.name), [], (want[1], want[1]), "mix in " + f.name)
    done["programs"] += 1
    done["dtypes"] += len(forms)
    if int(row["mults"]) <= SMALL:
        ein.good(["run", "--expect", "--roundtrip", "x.ein", *sources], folder)
        done["--expect"] += 1


# ---- as published, through ein einsum ------------------------------------------------------------------------------

def operands_write(folder, shapes, dtype="i64"):
    names = []
    for t, shape in enumerate(shapes):
        names.append("f%d.npy" % t)
        npy_write(os.path.join(folder, names[-1]), dtype, shape, fill(t, shape))
    return names


def einsum(equation, *words):
    """What begins with a dash is no option."""
    return ["einsum", *(["--"] if equation.startswith("-") else []), equation, *words]


def dims_said(size):
    return [w for c, n in size.items() for w in ("-D", "%s=%d" % (c, n))]


def published_check(ein, row, folder, done):
    """From files; and where every size can be said, from generators, which have none of their own."""
    equation, shapes = row["equation"], shapes_of(row["shapes"])
    want = int(row["chk_sum"]), int(row["chk_mix"])
    shape = [] if row["out_shape"] == "-" else [int(n) for n in row["out_shape"].split("x")]
    files = operands_write(folder, shapes)
    ein.good(["einsum", "-o", "Z.npy", *einsum(equation, *files)[1:]], folder)
    compare(os.path.join(folder, "Z.npy"), shape, want, "ein einsum from files")
    done["through ein einsum"] += 1
    size, agree = sizes_of(split(equation)[0], shapes)
    if "..." not in equation and agree:
        fills = ["fill:t=%d" % t for t in range(len(shapes))]
        ein.good(["einsum", *dims_said(size), "--dtype", "f64", "-o", "Y.npy", *einsum(equation, *fills)[1:]], folder)
        compare(os.path.join(folder, "Y.npy"), shape, want, "ein einsum from generators")
        done["with sizes from -D"] += 1


# ---- with names for labels, as einops writes them ------------------------------------------------------------------

def tokens(text):
    return re.findall(r"\([^)]*\)|[^\s()]+", text)


def named(row):
    """The pattern of the row's origin, an ellipsis expanded: [[label]], [label]; None without one."""
    m = re.search(r'"([^"]*->[^"]*)"', row["origin"])
    if not m:
        return None
    left, _, right = m.group(1).partition("->")
    dots = ["dots%d" % k for k in range(9)]
    operands, rest = [], 0
    for text, shape in zip(left.split(","), shapes_of(row["shapes"])):
        labels = tokens(text)
        if "..." in labels:
            k, rest = labels.index("..."), len(shape) - len(labels) + 1
            labels[k:k + 1] = dots[:rest]
        operands.append(labels)
    out = tokens(right)
    if "..." in out:
        k = out.index("...")
        out[k:k + 1] = dots[:rest]
    return operands, out


def good_row(ein, row, folder, done):
    operands, out = split(row["norm_equation"])
    norm_check(ein, row, folder, operands, out, shapes_of(row["norm_shapes"]), done)
    if row.get("equation"):
        published_check(ein, row, folder, done)
    long = named(row)
    if long:
        norm_check(ein, row, folder, *long, shapes_of(row["shapes"]), done)
        done["with long labels"] += 1


# ---- rows that are wrong -------------------------------------------------------------------------------------------

def subscripts(text, pattern):
    """What stands in the brackets: letters are labels; what Ein's scanner should stumble over stays."""
    if pattern:
        return ",".join("(%s)" % t[1:-1].strip() if t[0] == "(" else t for t in tokens(text))
    return re.sub(r"(?<=\w)(?=\w)", ",", text.replace(" ", "").replace("...", ""))


def wrong_program(row):
    """The row's equation, letter by letter as an equation of Ein over inputs of the row's shapes."""
    pattern = "named-axis" in row["origin"]
    left, arrow, right = row["equation"].partition("->")
    texts = [subscripts(t, pattern) for t in left.split(",")]
    labels = [[c for c in re.split(r"[^A-Za-z]+", t) if c] for t in texts]
    if arrow:
        right = subscripts(right, pattern)
    else:
        right = "" if pattern else ",".join(implicit(labels))
    out = [c for c in re.split(r"[^A-Za-z]+", right) if c]
    b = ""
    for t, shape in enumerate(shapes_of(row["shapes"])):
        b += "input X%d%s : f64\n" % (t, brackets(str(n) for n in shape))
    red = reduced(labels, out) if arrow or not pattern else []
    names = " * ".join("X%d%s" % (t, "[%s]" % text if text else "") for t, text in enumerate(texts))
    sum_ = "sum%s " % brackets(red) if red and "anonymous" not in row["error_class"] else ""
    return b + "output Z%s = %s%s\n" % ("[%s]" % right if right else "", sum_, names)


# What Ein does with each class. program: what `ein check` must say about wrong_program(row) - an error's code, and
# what else the message must hold ({label} is a label named by the row) - or why the language has no such mistake.
# einsum: the exit code of `ein einsum` with the row's equation, and what it must say; 0 where NumPy, too, takes it.
Rule = collections.namedtuple("Rule", "program einsum")
ERRORS = {
    "missing_operands": Rule("operands are written by name, so there is no count to get wrong",
                             (2, "but 0 sources are given")),
    "too_many_operands": Rule("as for missing operands", (2, r"has \d operands?, but \d sources are given")),
    "too_few_operands": Rule("as for missing operands", (2, r"has 2 operands, but 1 source is given")),
    "rank_too_small_for_subscripts": Rule(r"error\[E073\]", (1, r"has \d ax[ei]s, but its labels are")),
    "rank_larger_than_subscripts": Rule(r"error\[E073\]", (1, r"has \d ax[ei]s, but its labels are")),
    "bad_ellipsis": Rule(r"error\[E00[12]\]", (2, r"`\.+` is no ellipsis")),
    "bad_character": Rule(r"error\[E0(01|02|04|16)\]", (2, r"a label is one letter, and `[%$&2]` is none")),
    "output_label_not_in_input": Rule(r"error\[E063\].* {label}\b", (2, r"label {label} stands right of -> only")),
    "output_label_repeated": Rule(r"error\[E076\]: label j ", (2, "label j stands twice right of ->")),
    "repeated_label_dims_differ": Rule(r"error\[E060\].*label {label}\b",
                                       (1, r"label {label} is \d+ by .*, but \d+ by")),
    # einops' own
    "singleton_axis_unsupported": Rule(r"error\[E00[16]\]", (2, "a label is one letter, and `\\(` is none")),
    "regroup_unsupported": Rule("Ein has groups", (2, "a label is one letter, and `\\(` is none")),
    "anonymous_axis_unsupported": Rule(r"error\[E110\]", (2, "a label is one letter, and `2` is none")),
    "missing_arrow": Rule(r"error\[E078\]: labels i, j and k ", (0, "Z\\[i:5, j:3, k:2\\]")),
    # 63 are taken, and the row's operand has one axis
    "too_many_axes_over_52": Rule(r"error\[E073\]", (1, "has 1 axis, but its labels are")),
}
LABEL = {"numpy_einsum-0018": "j", "numpy_einsum-0020": "i", "numpy_einsum-0021": "i", "numpy_einsum-0022": "b",
         "einops_einsum-0028": "k"}


def groups_check(ein, row, folder):
    """einops' einsum refuses groups; Ein has them, and the elements stay in their order."""
    left, _, right = row["equation"].partition("->")
    a, z = (subscripts(t, True) for t in (left, right))
    shape, out = ([5, 2], [10]) if "(" in right else ([10], [5, 2])
    at = brackets(str(n) for n in shape)
    program_write(folder,
                  "input X%s : i64\noutput Z[%s] = X[%s]\n" % (at, z.replace("a", "a:5", 1) if "(" in left else z, a))
    ein.good(["run", "x.ein", "X=fill", "-o", "Z.npy"], folder)
    compare(os.path.join(folder, "Z.npy"), out, checksums(fill(0, shape)), "groups")


def wrong_row(ein, row, folder, done):
    kind = row["error_class"]
    rule = ERRORS[kind]
    pattern = rule.program.replace("{label}", LABEL.get(row["id"], ""))
    if kind == "regroup_unsupported":
        groups_check(ein, row, folder)
        done["not a mistake in Ein: " + kind] += 1
    elif not pattern.startswith("error"):
        done["not expressible: " + kind] += 1
    else:
        program_write(folder, wrong_program(row))
        ein.refused(["check", "x.ein"], folder, 1, pattern)
        done["refused: " + kind] += 1
    shapes = shapes_of(row["shapes"]) if row["shapes"] else []
    code, text = rule.einsum
    ein.refused(einsum(row["equation"], *operands_write(folder, shapes)), folder, code,
                text.replace("{label}", LABEL.get(row["id"], "")))


# ---- files ---------------------------------------------------------------------------------------------------------

def kernels_as_rows(rows):
    """Kernels with named sizes ("i=102 j=103"): taco_kernels.csv. Additions have no checksums and are left out."""
    for r in rows:
        if "id" in r or not r.get("chk_sum"):
            continue
        size = {k: int(n) for k, n in (w.split("=") for w in r["sizes"].split())}
        operands, out = split(r["equation"])
        shapes = ";".join("x".join(str(size[c]) for c in t) or "-" for t in operands)
        yield dict(id=r["kernel"], equation=r["equation"], shapes=shapes, dtype="any", expect="ok",
                   norm_equation=r["equation"],
                   norm_shapes=shapes, out_shape="x".join(str(size[c]) for c in out) or "-",
                   mults=str(math.prod(size.values())), chk_sum=r["chk_sum"], chk_mix=r["chk_mix"], origin="")


def sampled(rows, n):
    """n rows of all kinds, small ones, every so many-th."""
    small = [r for r in rows if r["expect"] == "error" or int(r["mults"]) <= SMALL]
    return small if n >= len(small) else [small[k * len(small) // n] for k in range(n)]


def main():
    a = arguments(__doc__, "ID")
    a.add_argument("--sample", type=int, metavar="N", help="N rows a file")
    o = a.parse_args()

    def work_of(ein, rows):
        rows = [r for r in rows if r.get("expect")] or list(kernels_as_rows(rows))
        if o.sample:
            rows = sampled(rows, o.sample)
        return [(r["id"], functools.partial(wrong_row if r["expect"] == "error" else good_row, ein, r))
                for r in rows if o.only in (None, r["id"])]

    def note(what):
        why = ERRORS[what[17:]].program if what.startswith("not expressible") else ""
        return why and " (%s)" % why

    return files_run(o, work_of, note)


if __name__ == "__main__":
    sys.exit(main())
