"""The list of references: sample("science/heat", N=11) puts a function into SAMPLES. It is called with the sizes, z.N, and returns values by name, of
outputs, of stacks and of states at the end. `f32`: the sample computes in f32 and the reference in f64; `exact`: all are integers."""
import types

SAMPLES = {}


def sample(name, f32=False, exact=False, **sizes):
    def add(f):
        SAMPLES[name] = (lambda: f(types.SimpleNamespace(**sizes)), sizes, 0 if exact else 2e-5 if f32 else 1e-10)
        return f
    return add
