"""Ein in Python: tensor equations, compiled, as functions of arrays.

    import ein
    f = ein.compile('''
    input X[n:N, d:D] : f32
    output Y[n,d] = softmax[d](X[n,d])
    dim N, D
    ''')
    y = f(X=x).Y

    z = ein.einsum("ij,jk->ik", a, b)

Arrays of NumPy, PyTorch and JAX, and other objects that expose their memory, are passed without copies. See
docs/python.md.
"""
from .arrays import Array
from .functions import Function, Results, Text, compile, run
from .library import Complaint, Error, Place, ProgramWarning
from .library import version as __version__
from .numpys import einsum

__all__ = ["Array", "Complaint", "Error", "Function", "Place", "ProgramWarning", "Results", "Text", "compile", "einsum",
           "run"]

for _shown in (Array, Error, Function, ProgramWarning, Results, Text):
    _shown.__module__ = "ein"


def load_ipython_extension(shell):
    """%load_ext ein: cells that begin with %%ein."""
    from . import notebook
    notebook.register(shell)
