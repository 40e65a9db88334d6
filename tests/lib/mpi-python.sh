#!/bin/sh
# suite: ci
# A library over MPI called from Python: its ctypes module, objects that expose their memory, a communicator of mpi4py if installed, else a number.
. "$(dirname "$0")/../cmd/common"
mpi_builds
command -v python3 >/dev/null || exit 77

cat >att.ein <<'END'
dim S = 22, D = 6
input Q[s:S,d:D] : f64
input K[t:S,d:D] : f32
input shift[t:S] : i64 = 2*t
input on[s:S] : bool
output W[s,t] : f64 = if on[s] then (sum[d] Q[s,d]*f64(K[t,d])) + shift[t] else -1
output best[s] : i64 = argmax[t] W[s,t]
output total = sum[s,t] W[s,t]
END
cat >caller.py <<'END'
import array, ctypes, ctypes.util, os, sys
sys.path.insert(0, "lib")
import att

try:
    from mpi4py import MPI
    comm, rank, ranks, end = MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size(), lambda: None
except ImportError: # Open MPI's number of the world is 0
    mpi = ctypes.CDLL(ctypes.util.find_library("mpi"), ctypes.RTLD_GLOBAL)
    mpi.MPI_Init(None, None)
    comm, rank, ranks, end = 0, int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"]), mpi.MPI_Finalize

S, D = 22, 6


def q(i, k):
    return (i * 7 + k * 5) % 11 - 5


def wanted(i, j):
    return sum(q(i, k) * q(j, k + 1) for k in range(D)) + 2 * j if i % 3 else -1


def dense(code, shape, of, low):
    n = 1
    for x in shape:
        n *= x
    a = array.array("B" if code == "?" else code, bytes(max(n, 1) * array.array("B" if code == "?" else code).itemsize))
    if len(shape) == 2:
        values = [of(low[0] + i, low[1] + j) for i in range(shape[0]) for j in range(shape[1])]
    else:
        values = [of(low[0] + i) for i in range(shape[0])] if shape else [of()]
    for i, x in enumerate(values):
        a[i] = x
    return memoryview(a).cast("B").cast(code, shape) if shape and n else memoryview(a).cast("B").cast(code)[:n] if shape else memoryview(a).cast("B").cast(code, ())


def block(ctx, name, code, of):
    low, length = ctx.extent(name, rank)
    return low, dense(code, length, of, low)


def right(low, w):
    return all(w[i, j] == wanted(low[0] + i, low[1] + j) for i in range(w.shape[0]) for j in range(w.shape[1]))


with att.Context(comm, threads=1) as ctx:
    for turn in range(5):
        inputs = {n: block(ctx, n, c, f)[1] for n, c, f in (("Q", "d", q), ("K", "f", lambda j, k: q(j, k + 1)), ("on", "?", lambda i: i % 3 != 0))}
        inputs["Q"] = inputs["Q"].toreadonly()
        places = {n: block(ctx, n, c, f) for n, c, f in (("W", "d", lambda i, j: 7), ("best", "l", lambda i: 0), ("total", "d", lambda: 0))}
        outputs = {n: x for n, (low, x) in places.items()}
        ctx.run(inputs, outputs)
        assert right(places["W"][0], outputs["W"]), "wrong block"
        ctx.again()
        assert right(places["W"][0], outputs["W"]), "wrong block, again"
        if rank == 0:
            whole = {n: dense(c, s, f, (0, 0)) for n, c, s, f in (("W", "d", (S, S), lambda i, j: 7), ("best", "l", (S,), lambda i: 0), ("total", "d", (), lambda: 0))}
            ctx.run_whole({"Q": dense("d", (S, D), q, (0, 0)), "K": dense("f", (S, D), lambda j, k: q(j, k + 1), (0, 0)),
                           "on": dense("?", (S,), lambda i: i % 3 != 0, (0,))}, whole)
            assert right((0, 0), whole["W"]), "wrong whole"
            assert whole["total"][()] == sum(wanted(i, j) for i in range(S) for j in range(S)), "wrong total"
        else:
            ctx.run_whole()
    wrong = dict(inputs, K=dense("d", (1, 1), q, (0, 0))) if rank == 1 else inputs # an error at one process: all get it
    try:
        ctx.run(wrong, outputs)
        raise AssertionError("taken")
    except TypeError as e:
        assert rank == 1 and str(e) == "K: expected elements of f32 (format f of struct), found d", e
    except att.Error as e:
        assert rank != 1 and "another site" in e.text, e.text
    ctx.run(inputs, outputs)
    assert right(places["W"][0], outputs["W"]), "wrong block, after a mistake"
    assert ctx.workspace_bytes > 0
try:
    att.Context(comm).run({"q": None}, {})
except TypeError as e:
    assert str(e) == "there is no argument q; the arguments are Q, K, shift, on", e
end()
print("well")
END
want 0 "$EIN" build att.ein --lib --shared --target=mpi -n 3,4 --flags=-O1 -o lib/
want 0 ranks 3 python3 caller.py
[ "$(grep -o well out | wc -l)" = 3 ] || wrong "not all processes finished: $(cat out err)"
want 1 ranks 2 python3 caller.py
says 'it is built for 3, 4 sites, but runs on 2'
want 0 "$EIN" build att.ein --lib --target=mpi -n 3 --flags=-O1 -o static/
[ ! -e static/att.py ] || wrong "there is a Python module without a shared library"
finish
