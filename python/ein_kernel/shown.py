"""Values of the prompt as HTML tables. Standard library only."""
import html

MOST, EDGE = 16, 6  # the most rows or columns shown in full; beyond, the number shown at each end


def _number(v):
    if isinstance(v, float):
        return "%.6g" % v
    return "?" if v is None else str(v).lower() if isinstance(v, bool) else str(v)  # inf and nan arrive as text


def _picked(n):
    """Which of n to show, with None where some are left out."""
    return list(range(n)) if n <= MOST else [*range(EDGE), None, *range(n - EDGE, n)]


def _cell(tag, text):
    return "<%s>%s</%s>" % (tag, html.escape(text), tag)


def table(value):
    """A value with one or two axes as a table; None for others, and for values whose data are too large to be sent."""
    shape, data = value["shape"], value.get("data")
    if data is None or not 1 <= len(shape) <= 2 or 0 in shape:
        return None
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    labels = [label or "" for label in value["labels"]]
    sizes = ", ".join("%s%d" % (label and label + ":", n) for label, n in zip(labels, shape))
    heading = "%s[%s] : %s" % (value["name"], sizes, value["dtype"])
    out = "<table><caption>%s</caption><tr>" % html.escape(heading)
    if len(shape) == 2:
        out += _cell("th", "\\".join(labels) if all(labels) else "")
    out += "".join(_cell("th", "…" if c is None else str(c)) for c in _picked(columns)) + "</tr>"
    for r in _picked(rows):
        out += "<tr>" + (_cell("th", "…" if r is None else str(r)) if len(shape) == 2 else "")
        out += "".join(_cell("td", "…" if r is None or c is None else _number(data[r * columns + c]))
                       for c in _picked(columns)) + "</tr>"
    return out + "</table>"


def bundle(answer):
    """The forms in which Jupyter gets an answer with values or a picture, by MIME type."""
    data = {"text/plain": answer["text"].rstrip("\n")}
    tables = [table(v) for v in answer.get("values", ())]
    if tables and all(tables):
        data["text/html"] = "".join(tables)
    if answer.get("svg"):
        data["image/svg+xml"] = answer["svg"]
    return data
