#!/usr/bin/env python3
"""Corrupts a certificate in many ways, one at a time; the checker must refuse each, and name what is wrong.

spoil.py CERTIFICATE: prints a line for each corrupted certificate that is accepted, unchanged, or refused for another
reason, and exits with 1 if there are any. The certificate must be for `product.ein` of tests/cmd/plan-certificate.sh,
on a mesh with different axes, so that the checker can prove its bound."""
import copy
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "share"))
import check_plan  # noqa: E402
import count_tasks  # noqa: E402


def plan(change):
    return lambda c: change(c["plan"])


def vertex(change):
    return lambda c: change(c["plan"]["vertices"][0])


def read(change):
    return lambda c: change(c["plan"]["vertices"][0]["reads"][0])


def tensor(k, change):
    return lambda c: change(c["plan"]["tensors"][k])


def add(key, n):
    return lambda x: x.update({key: x[key] + n})


def swap(key):
    return lambda x: x.update({key: x[key][::-1]})


def put(key, value):
    return lambda x: x.update({key: value})


def in_tasks(pattern, new, count=1):
    return lambda c: c.update(tasks=re.sub(pattern, new, c["tasks"], count=count, flags=re.M))


def moved_too(c):
    """A read that says less, and a sum that fits it."""
    r = next(r for v in c["plan"]["vertices"] for r in v["reads"] if r["received"])
    c["plan"]["bytes"] -= r["received"]
    c["plan"]["bound"] -= r["received"]
    r["received"] = 0


def edge_out(c):
    r = c["plan"]["vertices"][0]["reads"].pop()
    c["plan"]["bytes"] -= r["received"]
    c["plan"]["bound"] = c["plan"]["bytes"]


def less_bytes(c):
    c["plan"]["bytes"] = c["plan"]["bound"] = c["plan"]["bytes"] - 4


def no_room(c):
    for v, e in zip(c["plan"]["vertices"], c["equations"]):
        e["most"] = [n + 1 for n in e["most"]]
        v["labels"][0]["count"] = e["most"][0]


def smaller(c):
    """A buffer that is made smaller, and the memory that fits it."""
    in_tasks(r"^(buffer %\d+ work [^\[]*\[)(\d+)", lambda m: m[1] + str(int(m[2]) // 2))(c)
    c["plan"]["memory"]["bytes"] = count_tasks.Tasks(c["tasks"]).counted[1]


def shorter(c):
    """A buffer that is alive to no step, and the memory that fits it."""
    in_tasks(r"^(buffer %\d+ work .* alive )(\d+)\.\.\d+", r"\1\2..\2", 0)(c)
    c["plan"]["memory"]["bytes"] = count_tasks.Tasks(c["tasks"]).counted[1]


def narrower(c):
    in_tasks(r"^(buffer %\d+ work .*\] : )f32", r"\1i8", 0)(c)
    c["plan"]["memory"]["bytes"] = count_tasks.Tasks(c["tasks"]).counted[1]


def gone(c):
    """A buffer that is not there, and neither are the moves to and from it."""
    number = re.search(r"^buffer %(\d+) work", c["tasks"], re.M)[1]
    in_tasks(rf"^(buffer %{number} work|move .* %{number} at) .*\n", "", 0)(c)
    c["plan"]["memory"]["bytes"] = count_tasks.Tasks(c["tasks"]).counted[1]


def fewer_inputs(c):
    in_tasks(r"^(buffer %\d+ input [^\[]*\[)(\d+)", lambda m: m[1] + str(int(m[2]) // 2))(c)
    c["plan"]["memory"]["bytes"] = count_tasks.Tasks(c["tasks"]).counted[1]


def less_moved(c):
    """A move that the tasks leave out, and the memory that fits it."""
    in_tasks(r"^move .*\n", "")(c)
    c["plan"]["memory"]["bytes"] = count_tasks.Tasks(c["tasks"]).counted[1]


WAYS = { # what the checker must say of it, and how a certificate is spoiled
    "another schema": ("certificate: this file is not a certificate", put("schema", "ein certificate 2")),
    "more bytes": ("bytes: the total", plan(add("bytes", 4))),
    "less bytes": ("bytes: the total", plan(add("bytes", -4))),
    "less bytes, and a bound to fit": ("bytes: the total", less_bytes),
    "another read's bytes": ("bytes: sum.A.B reads A", read(add("received", 4))),
    "a read that moves no number of bytes": ("bytes: sum.A.B reads A: nan", read(put("received", float("nan")))),
    "a read that moves nothing, with its sum": ("bytes: sum.A.B reads B: 0", moved_too),
    "an edge left out": ("bytes: operands of sum.A.B", lambda c: c["plan"]["vertices"][0]["reads"].pop()),
    "an edge left out, with its sum": ("bytes: operands of sum.A.B", edge_out),
    "bytes to bring a tensor home": ("bytes: sum.A.B brought home", tensor(0, add("brought", 4))),
    "a home that is not cut along an axis": (
        "form: a block of sum.A.B", tensor(0, lambda t: t["home"].__setitem__(0, -1))),
    "a home of an input": ("form: a block of B", tensor(-1, lambda t: t.update(home=[-1] * len(t["home"])))),
    "a home in no dimension": ("form: the home of sum.A.B", tensor(0, lambda t: t["home"].__setitem__(0, 9))),
    "the cuts of two axes swapped": ("form: the cut of sum.A.B", vertex(swap("axes"))),
    "a cut left out": ("form: the cut of sum.A.B", vertex(lambda v: v["axes"].__setitem__(0, -1))),
    "a cut and its count left out": (
        "form: the work of the busiest site",
        vertex(lambda v: (v.update(axes=[-1] * len(v["axes"])), [l.update(count=1) for l in v["labels"]]))),
    "a cut of no label": ("form: the cut of sum.A.B", vertex(lambda v: v["axes"].__setitem__(0, 9))),
    "a count": ("form: the cut of sum.A.B", vertex(lambda v: v["labels"][0].update(count=v["labels"][0]["count"] + 1))),
    "the mesh in another order": ("the mesh of the tasks", plan(swap("mesh"))),
    "a mesh with an axis more": ("form: the sites of the mesh", plan(lambda p: p["mesh"].append(2))),
    "a mesh with an axis less": ("form: the sites of the mesh", plan(lambda p: p["mesh"].pop())),
    "more sites": ("form: the sites of the mesh", plan(lambda p: p.update(sites=2 * p["sites"]))),
    "less memory": (
        "memory: bytes at the busiest site", plan(lambda p: add("bytes", -4)(p["memory"]))),
    "more memory": (
        "memory: bytes at the busiest site", plan(lambda p: add("bytes", 4)(p["memory"]))),
    "no tasks": ("form: whether there are tasks", put("tasks", None)),
    "a smaller buffer": ("form: step 1: size of %3", smaller),
    "shorter lives": ("%3 is not alive", shorter),
    "a narrower buffer": ("form: step 1: dtype of %", narrower),
    "a buffer that is not there": ("form: step 1: %3 is not alive", gone),
    "an input that is not all there": ("all blocks of A", fewer_inputs),
    "a move that is not there": ("bytes: what the tasks move", less_moved),
    "a size that runs a program": (
        "form: cannot be read: ValueError",
        in_tasks(r"^(buffer %\d+ work [^\[]*\[)", r"\1__import__('os').getpid() * ")),
    "a higher bound": ("form: a bound above the plan itself", plan(lambda p: p.update(bound=p["bound"] * 1.01))),
    "a label's extent": (
        "form: the extents of sum.A.B", vertex(lambda v: v["labels"][0].update(extent=2 * v["labels"][0]["extent"]))),
    "a tensor's extent": (
        "form: the bytes of sum.A.B", tensor(0, lambda t: t["extents"].__setitem__(0, 2 * t["extents"][0]))),
    "a tensor's bytes": ("form: the bytes of sum.A.B", tensor(0, add("bytes", 4))),
    "a tensor's dtype": ("form: the bytes of sum.A.B", tensor(0, put("dtype", "f64"))),
    "a read of another tensor": ("bytes: sum.A.B reads sum.A.B", read(lambda r: r.update(tensor=0))),
    "a read at other labels": ("form: what sum.A.B reads", read(swap("labels"))),
    "a read at no label": ("bytes: sum.A.B reads A", read(lambda r: r.update(labels=[-1] * len(r["labels"])))),
    "a label that is no longer reduced": (
        "form: the extents of sum.A.B", vertex(lambda v: v["labels"][-1].update(reduced=False))),
    "how often an equation runs": ("form: the work of the busiest site", vertex(add("times", 1))),
    "operations": ("form: the work of the busiest site", lambda c: c["equations"][0].update(operations=1000)),
    "points that an equation has": ("form: the work of the busiest site", lambda c: c["equations"][0].update(kept=1)),
    "an equation's entry": ("form: entries of equations", lambda c: c["equations"].pop()),
    "room that there is not": ("form: the cut of sum.A.B", no_room),
    "the work of the busiest site": (
        "form: the work of the busiest site", plan(lambda p: p["busiest"].update(operations=1))),
    "the limit on work": (
        "bound: the limit on work", plan(lambda p: p["busiest"].update(limit=2 * p["busiest"]["limit"]))),
    "what an equation's operands move": ("bytes: operands of sum.A.B", vertex(add("received", 4))),
    "a tensor's block": ("form: a block of sum.A.B", tensor(0, add("block", 4))),
    "what makes a tensor": ("form: what makes sum.A.B", tensor(0, add("vertex", 1))),
    "tasks of another mesh": (
        "form: the mesh of the tasks", in_tasks(r"^mesh (\d+)", lambda m: f"mesh {2 * int(m[1])}")),
    "an input whose blocks begin elsewhere": (
        "form: all blocks of A",
        in_tasks(r"^(buffer %0 input .* low \[)\((\d+) \*", lambda m: f"{m[1]}({2 * int(m[2])} *")),
    "what two tensors are called": (
        "form: the name of sum.A.B", plan(lambda p: (p["tensors"][0].update(name=p["tensors"][-1]["name"])))),
}


def refused(c):
    """What the checker says is wrong."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump(c, f)
    try:
        return "; ".join(f"{what}: {words}" for right, what, words in check_plan.check(f.name, 3e5) if right is False)
    finally:
        os.unlink(f.name)


def main(path):
    sound = json.load(open(path, encoding="utf-8"))
    bad = []
    if any(ok is not True for ok, _, _ in check_plan.check(path, 3e5)):
        bad.append("it is not sound before")
    for name, (words, way) in WAYS.items():
        c = copy.deepcopy(sound)
        way(c)
        if c == sound:
            bad.append(f"{name}: nothing is spoiled")
        elif words not in (said := refused(c)):
            bad.append(f"{name}: it is not refused for '{words}', but '{said}'")
    print("\n".join(bad) if bad else f"{len(WAYS)} ways to spoil it, each refused and named")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
