"""Arrays written in another order than they are read."""
from peers.row import Group, Part, Row

LETTERS = "ijkl"


def permutation(name, order, lengths):
    """order: the axes of the input, in the order of the output. The loop nest follows the order of the input."""
    rank = len(order)
    labels, moved = LETTERS[:rank], "".join(LETTERS[axis] for axis in order)
    loops = "\n".join(f"{'  ' * (k + 1)}for (int {l} = 0; {l} < {l.upper()}; {l}++)" for k, l in enumerate(labels))

    def place(axes):
        text = axes[0]
        for l in axes[1:]:
            text = f"({text}) * {l.upper()} + {l}"
        return text

    return Row(name, f"""
input X[{','.join(f'{l}:{l.upper()}' for l in labels)}] : f32
output Y[{','.join(moved)}] = X[{','.join(labels)}]
""", dict(zip(labels.upper(), lengths)), {
        "numpy": lambda np, X, out: np.copyto(out, X.transpose(order)),
        "torch": lambda torch, X, out: out.copy_(X.permute(order)),
        "compile": lambda torch, X: X.permute(order).contiguous(),
        "jax": lambda jnp, X: X.transpose(order),
        "c": f"""
void peer(const float *restrict X, float *restrict Y) {{
{loops}
{'  ' * (rank + 1)}Y[{place(moved)}] = X[{place(labels)}];
}}""",
    }, dict(zip(labels.upper(), (5, 3, 7, 4))))


ADD = Row("add_transposed", """
input A[i:N,j:N], B[j:N,i:N] : f32
output C[i,j] = A[i,j] + B[j,i]
""", {"N": 2048}, {
    "numpy": lambda np, A, B, out: np.add(A, B.T, out=out),
    "torch": lambda torch, A, B, out: torch.add(A, B.T, out=out),
    "compile jax": lambda lib, A, B: A + B.T,
    "c": """
void peer(const float *restrict A, const float *restrict B, float *restrict C) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) C[i * N + j] = A[i * N + j] + B[j * N + i];
}"""}, {"N": 19})

GROUP = Group("moves", [Part("moves", 4, [
    ADD,
    permutation("rank2_10", (1, 0), (2048, 2048)),
    permutation("rank3_210", (2, 1, 0), (160, 192, 128)),
    permutation("rank3_021", (0, 2, 1), (16, 512, 512)),
    permutation("rank3_102", (1, 0, 2), (256, 256, 64)),
    permutation("rank4_0213", (0, 2, 1, 3), (8, 512, 16, 64)),
    permutation("rank4_0312", (0, 3, 1, 2), (8, 64, 64, 128)),
    permutation("rank4_3210", (3, 2, 1, 0), (64, 48, 32, 40))], ("numpy", "torch", "compile"))])
