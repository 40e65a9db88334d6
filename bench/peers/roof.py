"""The roofline: the least time of a row on a machine that `ein machine -o FILE` measured. Operations run at the rate
of their kind and dtype, with all threads in use; each byte of the arguments is read once, from the nearest memory that
holds them all. The longer of both times is the roof."""
import json

FINE = {"f16": "f32", "bf16": "f32"}  # what halves are computed in


def number(figure):
    return figure["value"] if isinstance(figure, dict) else figure


class Roof:
    def __init__(self, path, threads):
        with open(path, encoding="utf-8") as f:
            self.machine = json.load(f)
        self.core = self.machine["levels"][0]
        site = self.machine["site"]["level"]
        self.all = next(l for l in self.machine["levels"] if l["name"] == site)
        self.threads = threads
        self.level = self.core if threads == 1 else self.all

    def operations(self, dtype, kind):
        """Returns operations per second, or None if unknown."""
        rates = self.level.get("operations_per_second") or self.core.get("operations_per_second", {})
        figure = rates.get(FINE.get(dtype, dtype), {}).get(kind)
        return number(figure) if figure else None

    def bandwidth(self, size):
        found = None
        for memory in self.level.get("memories", []):
            if "read_bytes_per_second" in memory:
                found = number(memory["read_bytes_per_second"])
                if memory.get("bytes", float("inf")) >= size:
                    break
        return found

    def seconds(self, row, dtype, size):
        """Returns the least time of a row with arguments of this many bytes, and which of the two limits it; or None
        if its operations have no rate."""
        rate = self.operations(dtype, row.kind) if row.flops else None
        if row.flops and not rate:
            return None
        compute = row.flops / rate if rate else 0.0
        wide = self.bandwidth(size)
        moves = size / wide if wide else 0.0
        return max(compute, moves), "operations" if compute >= moves else "bytes"
