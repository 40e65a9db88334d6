"""The benchmark's data: a Row is a program at one size, with a function for each peer; a Part is a list of rows with
one target; a Group is a list of parts that run together."""
import dataclasses


@dataclasses.dataclass
class Row:
    """name: an identifier, also the name of the library. text: the program without dims, which `sizes` provides.

    peers: maps names of peers, separated by blanks, to a function of the peer and the inputs, as arrays of that peer.
    It returns the output, or a tuple of outputs. If it has a parameter `out`, it gets arrays for the outputs and may
    return None. If it returns a function, everything before was preparation, and that function, without arguments, is
    timed. For C the value is the text of `void peer(inputs, outputs)`, in which the sizes are constants.

    Formulas below are texts over the sizes, because --small runs the same at other sizes."""
    name: str
    text: str
    sizes: dict
    peers: dict
    small: dict = dataclasses.field(default_factory=dict)    # the sizes of --small, where they differ
    flops: str = ""                                          # a formula; without it the row's rate is that of its arguments
    kind: str = "multiply_add"                               # of the operations: what a machine file calls their rate; "": it has none
    strides: dict = dataclasses.field(default_factory=dict)  # input: formula of a tuple, in elements
    below: dict = dataclasses.field(default_factory=dict)    # input of integers: formula of its least number not taken
    scale: dict = dataclasses.field(default_factory=dict)    # input of floats, from -1 to 1: a factor, and what is added
    from_c: bool = False                                     # ours is called by a loop in C, as the peer's must be,
    again: bool = False                                      #   with the views of the first run, unchecked

    def at(self, small):
        """Returns this row at its own or the small sizes, with computed formulas and peers by name."""
        sizes = {**self.sizes, **(self.small if small else {})}

        def value(formula):
            return eval(formula, {"__builtins__": {}}, sizes)  # our own tables

        return dataclasses.replace(
            self, sizes=sizes, flops=value(self.flops) if self.flops else 0,
            strides={k: value(v) for k, v in self.strides.items()}, below={k: value(v) for k, v in self.below.items()},
            peers={name: f for names, f in self.peers.items() for name in names.split()})

    def program(self):
        uses = [line for line in self.text.strip().splitlines() if line.startswith("use ")]
        rest = [line for line in self.text.strip().splitlines() if not line.startswith("use ")]
        dims = "dim " + ", ".join(f"{k} = {v}" for k, v in self.sizes.items())
        return "\n".join(uses + [dims] + rest) + "\n"

    def c(self):
        sizes = "\n".join(f"enum {{ {k} = {v} }};" for k, v in self.sizes.items())
        return f"#include <math.h>\n#include <stdint.h>\n#include <string.h>\n{sizes}\n{self.peers['c']}\n"


@dataclasses.dataclass
class Part:
    """target: the geometric mean of the best peer's time over ours must reach it, and each row half of it; None: only
    shown. against: the peers that count, all if empty; the others are timed and shown."""
    name: str
    target: float | None
    rows: list
    against: tuple = ()


@dataclasses.dataclass
class Group:
    """sample: the least seconds of a sample."""
    name: str
    parts: list
    sample: float = 0.020


def einsum(equation, *order):
    """The peers of a contraction that is one einsum. order: pairs of operands, as from np.einsum_path."""
    path = ["einsum_path", *order] if order else True

    def numpy(np, *x, out):
        return np.einsum(equation, *x, out=out, optimize=path)

    def opt(oe, *x, out):
        ready = oe.contract_expression(equation, *[a.shape for a in x], optimize=list(order) or "optimal")
        return lambda: ready(*x, out=out)

    return {"numpy": numpy, "opt_einsum": opt, "torch": lambda torch, *x: torch.einsum(equation, *x),
            "jax": lambda jnp, *x: jnp.einsum(equation, *x)}
