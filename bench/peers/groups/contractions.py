"""Random contractions of two tensors (peers/contractions.py); the slow ones are a separate part."""
from peers.contractions import contractions
from peers.row import Group, Part, Row, einsum

SEED, COUNT, LONG = 16, 24, 5e7     # of operations: about a millisecond, and more


def row(number, c):
    """Labels of the text are letters; their extents are dims with the same letters, capitalised."""
    def declared(labels):
        return ",".join(f"{x}:{x.upper()}" for x in labels)

    def read(labels):
        return ",".join(labels)

    text = (f"input X[{declared(c.left)}], Z[{declared(c.right)}] : f32\n"
            f"output Y[{read(c.out)}] = sum[{read(c.summed())}] X[{read(c.left)}] * Z[{read(c.right)}]\n")
    sizes = {f"{x.upper()}": n for x, n in c.extent.items()}
    peers = einsum(c.einsum())
    return Row(f"random_{number:02}_{c.left}_{c.right}_{c.out}", text, sizes, {"torch": peers["torch"], "numpy": peers["numpy"]},
               {k: min(n, 5) for k, n in sizes.items()}, "2 * " + " * ".join(sizes))


ALL = [(i, c) for i, c in enumerate(contractions(SEED, COUNT))]
GROUP = Group("contractions", [
    Part("short", 1.5, [row(i, c) for i, c in ALL if c.flops() < LONG], ("torch",)),
    Part("long", None, [row(i, c) for i, c in ALL if c.flops() >= LONG], ("torch",))])
