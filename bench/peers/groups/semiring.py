"""Matrix products in other algebras, against a loop nest in C and PyTorch."""
from peers.row import Group, Part, Row

NEST = """
void peer(const float *restrict A, const float *restrict B, float *restrict C) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) C[i * N + j] = %s;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) {
        float a = A[i * N + k], b = B[k * N + j], c = C[i * N + j], t = %s;
        C[i * N + j] = t %s c ? t : c;
      }
  }
}"""


def blocked(join, gather):
    """Computes blocks of rows that stay in the cache: otherwise PyTorch would write all n^3 terms to memory."""
    def f(torch, A, B, out):
        n, rows = len(A), max(1, 2**18 // len(A))
        combine, reduce, room = getattr(torch, join), getattr(torch, gather), torch.empty(rows, n)

        def run():
            for i in range(0, n, rows):
                a, c = A[i:i + rows], out[i:i + rows]
                t = room[:len(a)]
                combine(a[:, 0, None], B[0], out=c)
                for k in range(1, n):
                    combine(a[:, k, None], B[k], out=t)
                    reduce(c, t, out=c)
        return run
    return f


def product(name, n, body, c, torch, whole):
    """c: the initial value, the combination and the comparison of the loop nest; whole: the reduction of all n^3
    terms, for libraries that fuse loops. Compiled, it takes seconds at the largest size, and was never the best."""
    fused = "compile jax" if n < 2048 else "jax"
    return Row(f"{name}_{n}", f"""
input A[i:N,k:N], B[k:N,j:N] : f32
output C[i,j] = {body}
""", {"N": n}, {"c": NEST % c, "torch": blocked(*torch), fused: whole}, {"N": 17}, "2 * N**3", "add_max")


def rows():
    for n in (512, 1024, 2048):
        yield product("max_plus", n, "max[k] (A[i,k] + B[k,j])", ("-INFINITY", "a + b", ">"), ("add", "maximum"),
                      lambda lib, A, B: lib.amax(A[:, :, None] + B[None], 1))
        yield product("min_plus", n, "min[k] (A[i,k] + B[k,j])", ("INFINITY", "a + b", "<"), ("add", "minimum"),
                      lambda lib, A, B: lib.amin(A[:, :, None] + B[None], 1))
        yield product("max_min", n, "max[k] min(A[i,k], B[k,j])", ("-INFINITY", "a < b ? a : b", ">"), ("minimum", "maximum"),
                      lambda lib, A, B: lib.amax(lib.minimum(A[:, :, None], B[None]), 1))


ROWS = list(rows())
GROUP = Group("semiring", [Part("beside C", 2.2, ROWS, ("c",)), Part("beside PyTorch", 7, ROWS, ("torch", "compile"))])
