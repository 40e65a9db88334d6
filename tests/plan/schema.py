#!/usr/bin/env python3
"""Checks JSON against a JSON Schema (draft 2020-12; only the keywords that docs/schema/*.json use; others are errors).

schema.py SCHEMA FILE...: prints a line for each difference, and exits with 1 if there are any."""
import json
import sys

IS = {
    "null": lambda x: x is None,
    "boolean": lambda x: isinstance(x, bool),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool) or isinstance(x, float) and x.is_integer(),
    "number": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "string": lambda x: isinstance(x, str),
    "array": lambda x: isinstance(x, list),
    "object": lambda x: isinstance(x, dict),
}
WORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf", "minimum", "maximum", "items", "maxItems", "properties",
         "required", "additionalProperties"}


class Checker:
    def __init__(self, schema):
        self.root = schema

    def look_up(self, ref):
        at = self.root
        assert ref.startswith("#/"), ref
        for word in ref[2:].split("/"):
            at = at[word]
        return at

    def wrong(self, x, s, at):
        """The differences, a line each."""
        if set(s) - WORDS:
            raise SystemExit(f"{at}: keywords that this checker does not know: {sorted(set(s) - WORDS)}")
        out = self.wrong(x, self.look_up(s["$ref"]), at) if "$ref" in s else []
        if "type" in s and not IS[s["type"]](x):
            return out + [f"{at}: {x!r:.60} is no {s['type']}"]
        if "const" in s and x != s["const"]:
            out.append(f"{at}: {x!r:.60} is not {s['const']!r}")
        if "enum" in s and x not in s["enum"]:
            out.append(f"{at}: {x!r:.60} is none of {s['enum']}")
        if "minimum" in s and IS["number"](x) and x < s["minimum"]:
            out.append(f"{at}: {x} is below {s['minimum']}")
        if "maximum" in s and IS["number"](x) and x > s["maximum"]:
            out.append(f"{at}: {x} is above {s['maximum']}")
        if "anyOf" in s:
            ways = [self.wrong(x, way, at) for way in s["anyOf"]]
            if all(ways):
                out += min(ways, key=len)
        if isinstance(x, list):
            out += self.wrong_list(x, s, at)
        if isinstance(x, dict):
            out += self.wrong_object(x, s, at)
        return out

    def wrong_list(self, x, s, at):
        out = [f"{at}: {len(x)} items"] if len(x) > s.get("maxItems", len(x)) else []
        for i, item in enumerate(x):
            out += self.wrong(item, s.get("items", {}), f"{at}[{i}]")
        return out

    def wrong_object(self, x, s, at):
        known = s.get("properties", {})
        out = [f"{at}: {name} is missing" for name in s.get("required", []) if name not in x]
        for name, value in x.items():
            rest = s.get("additionalProperties", {})
            if name in known:
                out += self.wrong(value, known[name], f"{at}.{name}")
            elif rest is False:
                out.append(f"{at}: {name} is not in the schema")
            else:
                out += self.wrong(value, rest, f"{at}.{name}")
        return out


def main(schema, *files):
    checker = Checker(json.load(open(schema)))
    bad = 0
    for file in files:
        for line in checker.wrong(json.load(open(file)), checker.root, file):
            print(line)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
