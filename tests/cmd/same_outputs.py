#!/usr/bin/env python3
"""same_outputs.py ONE MANY: checks that two folders of .npy files have the same names, shapes and values. Integers and
bools must be equal, and NaNs in the same places. Floats may differ as in `ein verify`, by a fraction of the largest
element of their tensor, because sums may be grouped differently."""
import math
import os
import struct
import sys

PART = {"f8": 1e-8, "f4": 2e-4, "f2": 2e-2, "V2": 8e-2}
CODE = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "b1": "?"}


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    size = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8:8 + size], "little")
    head = eval(data[8 + size:8 + size + length])
    kind = head["descr"][1:]
    n = math.prod(head["shape"])
    if kind == "V2":           # bf16, which is the upper half of an f32
        bits = struct.unpack(f"<{n}H", data[8 + size + length:])
        return kind, head["shape"], struct.unpack(f"<{n}f", struct.pack(f"<{n}I", *(x << 16 for x in bits)))
    return kind, head["shape"], struct.unpack(f"<{n}{CODE[kind]}", data[8 + size + length:]) if kind in CODE else data[8 + size + length:]


def differ(a, b):
    if a[:2] != b[:2]:
        return f"{a[:2]} and {b[:2]}"
    if a[0] not in PART:
        return None if a[2] == b[2] else "other values"
    most = max((abs(x) for x in a[2] if math.isfinite(x)), default=0)
    for i, (x, y) in enumerate(zip(a[2], b[2])):
        if x != y and not (math.isnan(x) and math.isnan(y)) and not abs(x - y) <= PART[a[0]] * most:
            return f"element {i} is {x} and {y}, of values up to {most}"
    return None


one, many = sys.argv[1:]
names = sorted(os.listdir(one))
if names != sorted(os.listdir(many)):
    sys.exit(print(f"outputs {names} and {sorted(os.listdir(many))}") or 1)
wrong = 0
for name in names:
    what = differ(read(os.path.join(one, name)), read(os.path.join(many, name)))
    if what:
        print(f"{name}: {what}")
        wrong = 1
sys.exit(wrong)
