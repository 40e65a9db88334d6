#!/usr/bin/env python3
"""Checks pages of `ein plan -n P --format=html`: balanced tags, valid links and marks, pictures with names, no
external resources, boxes that do not overlap, arrows that point down; and, with the same plan as JSON, bytes and
seconds that add up.

page.py PAGE.html [PLAN.json] ...: prints a line for each mistake, and exits with 1 if there are any."""
import html.parser
import json
import math
import re
import sys

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.ids, self.links, self.tags = [], [], [], [], []
        self.words, self.boxes, self.arrows, self.group = [], {}, [], None
        self.cells = []         # by row of the tensors: its numbers

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if len(a) != len(attrs):
            self.wrong.append(f"<{tag}> says something twice")
        if tag not in VOID:
            self.open.append(tag)
        self.tags.append((tag, a))
        self.look(tag, a)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.look(tag, dict(attrs))

    def look(self, tag, a):
        if "id" in a:
            self.ids.append(a["id"])
        if "href" in a:
            self.links.append(a["href"])
        self.links += re.findall(r"url\((#[^)]*)\)", " ".join(v or "" for v in a.values()))
        self.links += ["#" + x for x in a.get("aria-labelledby", "").split()]
        if tag in ("img", "script", "link", "iframe", "object") and ("src" in a or "href" in a):
            self.wrong.append(f"<{tag}> is from elsewhere")
        if tag == "a" and "data-n" in a:
            self.group = a["data-n"]
        if tag == "tr" and "id" in a:
            self.cells.append([])
        if tag == "td" and "data-v" in a:
            self.cells[-1].append(float(a["data-v"]))
        if tag == "rect" and a.get("class") == "box":
            self.boxes[self.group] = [float(a[k]) for k in ("x", "y", "width", "height")]
        if tag == "path" and "data-f" in a:
            self.arrows.append((a["data-f"], a["data-t"], a["class"], a["d"]))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> where {self.open[-1:]} is open, at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.words.append((self.open[-1] if self.open else None, data))


def overlaps(boxes):
    all_boxes = sorted(boxes.items(), key=lambda b: b[1][1])
    for i, (n, (x, y, w, h)) in enumerate(all_boxes):
        for m, (x2, y2, w2, _) in all_boxes[i + 1:]:
            if y2 >= y + h:
                break
            if x < x2 + w2 and x2 < x + w:
                yield f"boxes {n} and {m} overlap"


def sound(text):
    p = Page()
    p.feed(text)
    p.close()
    wrong = p.wrong + [f"<{t}> is never closed" for t in p.open] + list(overlaps(p.boxes))
    if "http" in text:
        wrong.append("there is an address in it")
    wrong += [f"two things are called {i}" for i in set(p.ids) if p.ids.count(i) > 1]
    wrong += [f"{l} leads nowhere" for l in set(p.links) if not l.startswith("#") or l[1:] not in p.ids]
    wrong += [f"<{t}> has no {k}" for t, k in (("th", "scope"), ("svg", "aria-labelledby"), ("svg", "role")) for tag, a in p.tags if tag == t and k not in a]
    for f, t, kind, d in p.arrows:
        (_, y, _, h), (_, y2, _, _) = p.boxes[f], p.boxes[t]
        if "back" not in kind and y2 < y + h:
            wrong.append(f"the arrow from {f} to {t} goes up")
        start = [float(v) for v in re.match(r"M(-?\d+) (-?\d+)", d).groups()]
        if "back" not in kind and abs(start[1] - (y + h)) > 1:
            wrong.append(f"the arrow from {f} to {t} begins at {start}, not at its box")
    for tag, a in p.tags:
        numbers = re.findall(r"-?(?:nan|inf|\d+\.\d{9,}(?!\d*e))", " ".join(a.get(k, "") for k in ("d", "x", "y", "width", "height", "points")))
        if numbers:
            wrong.append(f"<{tag}> has {numbers}")
    return p, wrong


def agree(page, plan):
    """The page and the data are of one plan."""
    text = [w for tag, w in page.words if tag == "title"]
    cells = [re.fullmatch(r"(\S+) from (\S+): .*\((\d+)\)", w) for w in text]
    heat = sum(int(c.group(3)) for c in cells if c)
    if plan["bytes"] and any(cells) and heat != plan["bytes"]:
        yield f"the heat map adds up to {heat}, the plan to {plan['bytes']}"
    rows = [a["id"] for tag, a in page.tags if tag == "tr" and "id" in a]
    if rows != [f"t{i}" for i in range(len(plan["tensors"]))]:
        yield "not a row a tensor"
    if "seconds" in plan and not math.isclose(sum(c[-1] for c in page.cells), plan["seconds"], rel_tol=1e-9):
        yield f"the times add up to {sum(c[-1] for c in page.cells)}, and the plan takes {plan['seconds']}"
    if [c[5] for c in page.cells[:len(plan["vertices"])]] != [v["memory"] for v in plan["vertices"]]:
        yield "the memory of a site is not that of the plan"
    if page.boxes and len(page.boxes) != len(plan["tensors"]):
        yield "not a box a tensor"
    if page.boxes and len(page.arrows) != sum(len(v["reads"]) for v in plan["vertices"]):
        yield "not an arrow a read"


def main(files):
    bad = 0
    for i, file in enumerate(files):
        if file.endswith(".json"):
            continue
        page, wrong = sound(open(file, encoding="utf-8").read())
        if i + 1 < len(files) and files[i + 1].endswith(".json"):
            wrong += agree(page, json.load(open(files[i + 1])))
        for line in wrong:
            print(f"{file}: {line}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
