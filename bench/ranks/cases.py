"""The cases: programs, sizes, and the code of the peers. Inputs equal the defaults of the .ein files, element by
element."""
try:
    import numpy
except ImportError:
    numpy = None  # nobody computes then but ours


def noise(k):
    a = k % 65521
    return (a * a % 65521).astype(numpy.float32) / numpy.float32(65521) - numpy.float32(0.5)


def table(which, *extents):
    """The values of the input whose default has the number `which` after its labels."""
    k = numpy.full([1] * len(extents), which, numpy.int64)
    for axis, (step, n) in enumerate(zip((4099, 7919, 104729), extents)):
        k = k + (step * numpy.arange(n,
                                     dtype=numpy.int64)).reshape([-1 if a == axis else 1 for a in range(len(extents))])
    return noise(k)


def scaled(x, by, extent):
    return x * (numpy.float32(by) / numpy.sqrt(numpy.float32(extent)))


def classifier_inputs(N, D, H, L):
    return {"X": table(1, N, D), "Y": (table(2, N, L) < -0.2).astype(numpy.float32),
            "W1": scaled(table(3, D, H), 12, D), "W2": scaled(table(4, H, L), 4, H)}


def attention_inputs(S, A, H, D):
    return {"X": table(1, S, A), **{f"W{w}": scaled(table(k + 2, A, H, D), 12, A) for k, w in enumerate("QKVO")}}


def chain_inputs(S, K, L):
    return {"A": table(1, S, K), "B": table(2, K, S), "C": table(3, S, K), "D": table(4, K, L), "E": table(5, L, S)}


# ---- JAX: a function of the mesh gives a step, and where its inputs and outputs are --------------------------------


def classifier_jax(x, w1, w2, y, gathered=False):
    """The shardings of the batch, weights and classes. The batch is stored once; `gathered`: all devices first receive
    it."""
    def make(jax, mesh, place):
        jnp = jax.numpy

        def loss(W1, W2, X, Y):
            Z = jax.nn.relu(X @ W1) @ W2
            return jnp.sum(jax.nn.softplus(Z) - Y * Z) / X.shape[0]

        def step(X, Y, W1, W2):
            if gathered:
                X = jax.lax.with_sharding_constraint(X, place())
            g1, g2 = jax.grad(loss, (0, 1))(W1, W2, X, Y)
            return {"W1_next": W1 - 0.1 * g1, "W2_next": W2 - 0.1 * g2}

        return (step, {"X": place(*x), "Y": place(*y), "W1": place(*w1), "W2": place(*w2)},
                {"W1_next": place(*w1), "W2_next": place(*w2)})
    return make


def attention_jax(w, x, wo, heads):
    def make(jax, mesh, place):
        jnp = jax.numpy

        def step(X, WQ, WK, WV, WO):
            if heads:  # all positions come to each head
                X = jax.lax.with_sharding_constraint(X, place())
            Q, K, V = (jnp.einsum("sa,ahd->hsd", X, W) for W in (WQ, WK, WV))
            T = jax.nn.softmax(jnp.einsum("hsd,htd->hst", Q, K) / jnp.sqrt(jnp.float32(WQ.shape[2])), axis=-1)
            return {"Y": jnp.einsum("hsd,ahd->sa", jnp.einsum("hst,htd->hsd", T, V), WO)}

        return step, {"X": place(*x), "WQ": place(*w), "WK": place(*w), "WV": place(*w),
                      "WO": place(*wo)}, {"Y": place(*x)}
    return make


def chain_jax(places, result, kept=None):
    def make(jax, mesh, place):
        def step(A, B, C, D, E):
            DE = D @ E
            if kept:
                DE = jax.lax.with_sharding_constraint(DE, place(*kept))
            return {"Z": A @ B + C @ DE}

        return step, {name: place(*axes) for name, axes in zip("ABCDE", places)}, {"Z": place(*result)}
    return make


P = ("p", "q")  # both axes of a mesh of 2 x 2
ROWS, COLUMNS, GRID, ALL = (P, None), (None, P), ("p", "q"), ()
BATCH, HIDDEN = classifier_jax(ROWS, ALL, ALL, ROWS), classifier_jax(ROWS, COLUMNS, ROWS, ROWS, gathered=True)
MANY_CLASSES = {"the batch": BATCH, "features, classes": classifier_jax(COLUMNS, ROWS, COLUMNS, COLUMNS),
                "the hidden layer": HIDDEN}
FEW_CLASSES = {"the batch": BATCH, "the hidden layer": HIDDEN,
               "both": classifier_jax(("p", None), (None, "q"), ("q", None), ("p", None))}
ATTENTION = {
    "heads": attention_jax((None, P, None), ROWS, (None, P, None), True),
    "positions": attention_jax(ALL, ROWS, ALL, False),
}
CHAIN = {
    "a grid": chain_jax([GRID] * 5, GRID),
    "rows": chain_jax([ROWS] * 5, ROWS),
    "l, then a grid": chain_jax([GRID, GRID, GRID, COLUMNS, ROWS], GRID, kept=GRID),
}


class Case:
    def __init__(self, name, program, sizes, small, inputs, jax, ddp=False):
        self.name, self.program, self.sizes, self.small, self.make, self.jax, self.ddp = name, program, sizes, small, inputs, jax, ddp

    def inputs(self, sizes):
        return self.make(**sizes)


CASES = [
    Case("amazoncat", "classifier", {"N": 32, "D": 149384, "H": 256, "L": 3648}, {"N": 8, "D": 1492, "H": 12, "L": 36},
         classifier_inputs, MANY_CLASSES, ddp=True),
    Case("speech", "classifier", {"N": 2500, "D": 400, "H": 25000, "L": 10}, {"N": 40, "D": 24, "H": 400, "L": 10},
         classifier_inputs, FEW_CLASSES, ddp=True),
    Case("attention", "attention", {"S": 2048, "A": 1024, "H": 16, "D": 64}, {"S": 32, "A": 24, "H": 4, "D": 6},
         attention_inputs, ATTENTION),
    Case("chain", "chain", {"S": 2000, "K": 2000, "L": 2000}, {"S": 40, "K": 40, "L": 40}, chain_inputs, CHAIN),
    Case("skewed chain", "chain", {"S": 2000, "K": 200, "L": 20000}, {"S": 40, "K": 8, "L": 200}, chain_inputs, CHAIN),
]
